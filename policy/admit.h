/* SPDX-License-Identifier: ISC */
#ifndef COFFERDAM_POLICY_ADMIT_H
#define COFFERDAM_POLICY_ADMIT_H

#include <stddef.h>

#include "../ipc/frame.h"
#include "report.h"

/*
 * May this container start beside the other managed ones?  Pure.
 *
 * The lines come from
 *   docker container ls --all --no-trunc --filter label=dev.cofferdam.state
 *     --format '{{json .}}'
 * in full: one JSON object a line with ID and Labels among others.  `Labels` is
 * docker's comma-joined "k=v,k=v", which label values can forge: the format is
 * therefore ADMIT_FORMAT below, which prints each label that matters as a JSON
 * string of its own.
 */

/* For the executor's command table (executor/docker.c holds its own copy, and
 * a test compares them): a JSON array a line. */
#define ADMIT_FORMAT \
	"[{{json .ID}},{{json (.Label \"dev.cofferdam.state\")}}," \
	"{{json (.Label \"dev.cofferdam.run\")}},{{json (.Label \"dev.cofferdam.mode\")}}," \
	"{{json (.Label \"dev.cofferdam.roots\")}},{{json .Mounts}}]"

/* Judges one line (without its newline).  Ours (the nonce of plan) is skipped,
 * but counted in *seen. */
struct admit {
	const struct launch *plan;
	uint32_t containers; /* managed containers seen, ours included */
	uint32_t ours; /* lines with our nonce: exactly 1 at the end */
};
void admit_init(struct admit *admit, const struct launch *plan);
void admit_line(struct admit *admit, const char *line, size_t len, struct report *report);
/* The rules over all lines: ours was seen once, limits.live holds. */
void admit_end(const struct admit *admit, struct report *report);

#endif

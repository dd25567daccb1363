/* SPDX-License-Identifier: ISC */
#ifndef COFFERDAM_POLICY_ADMIT_H
#define COFFERDAM_POLICY_ADMIT_H

#include <stddef.h>
#include <stdint.h>

#include "../ipc/frame_policy.h"
#include "report.h"

/*
 * May this container start beside the other managed ones?  Pure.
 *
 * The lines come from
 *   docker container ls --all --no-trunc --filter label=dev.cofferdam.state
 *     --format ADMIT_FORMAT
 * one a container, in any state from created to dead.  docker's own `Labels` is
 * a comma-joined "k=v,k=v", which label values can forge: the format therefore
 * prints each label that matters as a JSON string of its own, so that no value
 * can end its field or its line.
 *
 * A root is the canonical path that its launcher resolved, so two roots are
 * compared as texts, by component.  The same directory reached by another path
 * (a bind alias, a rename between two launches) is not seen here; the label has
 * no (dev, ino), and this program can examine nothing.
 *
 * The label is cross-checked with docker's own .Mounts: comma-joined sources of
 * the bind mounts (and names of volumes), in no certain order, whole only with
 * --no-trunc; --tmpfs is not among them.  No root has a comma in its path.
 */

/* For the executor's command table (executor/docker.c holds its own copy, and
 * a test compares them): a JSON array a line. */
#define ADMIT_FORMAT \
	"[{{json .ID}},{{json (.Label \"dev.cofferdam.state\")}}," \
	"{{json (.Label \"dev.cofferdam.run\")}},{{json (.Label \"dev.cofferdam.mode\")}}," \
	"{{json (.Label \"dev.cofferdam.roots\")}},{{json .Mounts}}]"

struct admit {
	const struct launch *plan;
	uint32_t containers; /* lines seen, ours included */
	uint32_t live; /* containers of our own state directory, ours included */
	uint32_t ours; /* lines with our nonce and state id: exactly 1 at the end */
};

/* plan must outlive admit. */
void admit_init(struct admit *admit, const struct launch *plan);
/*
 * Judges one line (without its newline); uses the JSON pool while it runs.
 * Adds, for each pair of a root of ours and one of another container:
 * mount.in_use when they are the same and neither both read-only nor both of a
 * session, managed.overlap when one lies inside the other.  managed.unknown
 * for a line that cannot be understood wholly.  Ours is counted, not judged.
 */
void admit_line(struct admit *admit, const char *line, size_t len, struct report *report);
/* The rules over all lines: ours was seen once (managed.unknown), limits.live
 * holds (live.limit). */
void admit_end(const struct admit *admit, struct report *report);

#endif

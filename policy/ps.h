/* SPDX-License-Identifier: ISC */
#ifndef COFFERDAM_POLICY_PS_H
#define COFFERDAM_POLICY_PS_H

#include <stdbool.h>
#include <stddef.h>

#include "text.h"

/*
 * The managed containers, shown.  Pure.  The lines come from
 *   docker container ls --all --no-trunc --filter label=dev.cofferdam.state
 *     --format PS_FORMAT
 * one a container.  Nothing here decides anything: a value that no launcher of
 * ours would write is shown all the same, escaped and cut.
 */

/* A JSON array a line, as in ADMIT_FORMAT (policy/admit.h). */
#define PS_FORMAT \
	"[{{json .ID}},{{json (.Label \"dev.cofferdam.state\")}}," \
	"{{json (.Label \"dev.cofferdam.run\")}},{{json (.Label \"dev.cofferdam.mode\")}}," \
	"{{json (.Label \"dev.cofferdam.session\")}}," \
	"{{json (.Label \"dev.cofferdam.revision\")}},{{json .State}},{{json .Names}}," \
	"{{json .CreatedAt}}]"

/* Room for this many claims, each a nonce and a newline, after the state
 * directory's id. */
#define PS_CLAIMS_MAX 16384
#define PS_HELD_MAX ((size_t)33 * (1 + PS_CLAIMS_MAX))

/* Who holds what: the id of one state directory, and the nonce of each of its
 * claims that some process holds. */
struct ps {
	const char *held; /* lines of 32 hex digits, the id first; NULL: not known */
	size_t len;
};

/* text must outlive ps; NULL when nobody said.  False: it is not such lines. */
__attribute__((warn_unused_result)) bool ps_init(struct ps *ps, const char *text, size_t len);

/* The table's head. */
void ps_head(struct text *out);

/*
 * One line of docker's (without its newline) as one of ours: a row of the
 * table, or a JSON object.  Uses the JSON pool while it runs.  owner is
 *   alive     a process holds the run's claim
 *   orphaned  it is of this state directory, and none does
 *   other     it is of another state directory, which alone would know
 *   unknown   nobody said which claims are held
 * False, and nothing written, when the line is not what was asked for.
 */
__attribute__((warn_unused_result)) bool ps_line(const struct ps *ps, const char *line, size_t len,
                                                 bool json, struct text *out);

#endif

/* SPDX-License-Identifier: ISC */
#ifndef COFFERDAM_POLICY_RECORD_H
#define COFFERDAM_POLICY_RECORD_H

#include <stdint.h>
#include <time.h>

#include "decide.h"
#include "report.h"
#include "text.h"

/* The decision record: one line of JSON, schema_version 1 (design section 6),
 * ASCII only.  Pure; the caller gives the time. */

#define SHA256_BYTES 32

struct record_input {
	struct timespec now; /* CLOCK_REALTIME */
	uint64_t seq; /* within the process, from 1 */
	const uint8_t *config_sha256; /* SHA256_BYTES, NULL when not known */
	const uint8_t *turn_sha256;
	const uint8_t *argv_sha256; /* of the words, each with a NUL after it */
	const char *confinement; /* "full", "no-landlock" … */
	bool all; /* list every finding (check), not only the first */
};

/* Appends the record and a newline. */
void record_decision(const struct record_input *input, const struct decision *decision,
                     const struct report *report, struct text *out);

/* RFC 3339 UTC with microseconds: 2026-01-02T03:04:05.000006Z. */
void record_time(struct timespec when, struct text *out);

void record_schema(struct text *out);

#endif

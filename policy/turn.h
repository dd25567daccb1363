/* SPDX-License-Identifier: ISC */
#ifndef COFFERDAM_POLICY_TURN_H
#define COFFERDAM_POLICY_TURN_H

#include <stdbool.h>
#include <stddef.h>

#include "json.h"
#include "report.h"

/*
 * The turn: the untrusted request.  Pure.  What the worker reads is the
 * canonical re-serialisation, keys in the order of the design: text, speaker
 * {id, name}, model, prompt, timeZone, tools [{name, description,
 * parameters}], reset (only if given), mcp [{server, tools}].
 */

#define TURN_TEXT_UNITS 32000
#define TURN_SPEAKER_UNITS 256

/*
 * Checks the document and, when the report stays empty, appends the canonical
 * turn to out.  Unknown keys (at the top, in speaker, in tools, in mcp items)
 * are dropped; their pointers are appended to dropped, each followed by a
 * newline, escaped (printable ASCII).  dropped may be NULL.
 */
void turn_write(const struct json *doc, struct text *out, struct text *dropped,
                struct report *report);

void turn_schema(struct text *out);

/* The names of tools and servers: [a-z][a-z0-9_]{0,47} (of a JSON string). */
bool turn_name(const struct json *doc, uint32_t string);

#endif

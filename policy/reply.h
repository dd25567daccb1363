/* SPDX-License-Identifier: ISC */
#ifndef COFFERDAM_POLICY_REPLY_H
#define COFFERDAM_POLICY_REPLY_H

#include "json.h"
#include "report.h"

/* The worker's reply.  Pure.  The caller has repaired the bytes
 * (utf8_repair) and parsed them with lone surrogates allowed. */

#define REPLY_TEXT_UNITS 100000

/* When the report stays empty, appends {"ok":…,"text":…} without a newline. */
void reply_write(const struct json *doc, struct text *out, struct report *report);

#endif

/* SPDX-License-Identifier: ISC */
#ifndef COFFERDAM_POLICY_MODEL_INPUT_H
#define COFFERDAM_POLICY_MODEL_INPUT_H

#include "json.h"
#include "report.h"

/* The projection {messages, tools?} of an OpenAI-style chat request (design
 * section 6).  Pure; one pass, no recursion.  When the report stays empty the
 * canonical text is appended to out without a newline. */
void model_input_write(const struct json *doc, struct text *out, struct report *report);

#endif

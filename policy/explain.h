/* SPDX-License-Identifier: ISC */
#ifndef COFFERDAM_POLICY_EXPLAIN_H
#define COFFERDAM_POLICY_EXPLAIN_H

#include <stdbool.h>

#include "text.h"

/* The reasons of both programs, for people and for scripts.  Pure. */

/* Appends every row whose code or reason is `what` (all rows for NULL): two
 * lines a row, or with json one JSON object a line.  False when none is. */
__attribute__((warn_unused_result)) bool explain(const char *what, bool json, struct text *out);

#endif

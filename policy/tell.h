/* SPDX-License-Identifier: ISC */
#ifndef COFFERDAM_POLICY_TELL_H
#define COFFERDAM_POLICY_TELL_H

#include <stdbool.h>

#include "report.h"

/* What goes to standard error: one line a finding, one write(2) a line.  A line
 * that cannot be written is lost; the exit status says the same. */

#define TELL_USAGE_STATUS 64

/* The first finding, as a line for people or as JSON.  Its exit status. */
int tell_refusal(const struct report *report, bool json);
/* Every finding. */
void tell_all(const struct report *report, bool json);
/* A refusal of one reason, outside any report; what (or NULL): plain words of
 * ours.  Its exit status. */
int tell_reason(enum reason reason, const char *what, bool json);
/* A command line that is not understood.  TELL_USAGE_STATUS. */
int tell_usage(const char *complaint, const char *word);

#endif

/* SPDX-License-Identifier: ISC */
#ifndef COFFERDAM_EXECUTOR_SAY_H
#define COFFERDAM_EXECUTOR_SAY_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include "reason.h"

/*
 * What the caller is told on standard error.  Pure: lines are gathered here
 * and written once, after the cleanup, so that a reader that has stopped
 * reading cannot hold up a removal.  Nothing of a child's gets past say_escape:
 * every byte outside printable ASCII becomes \xNN.
 */

#define SAY_CHILD 4096 /* bytes of a child's standard error that are shown */
#define SAY_MAX (8 * SAY_CHILD)
#define SAY_WORD 32 /* bytes of a code or a reason, with the NUL */

/* One row of executor/reason.h. */
struct say_row {
	const char *code;
	const char *reason;
	const char *sentence;
	const char *hint;
	int status;
};
const struct say_row *say_row(enum executor_reason why);

/* The printable form of bytes, as a C string of less than cap bytes: newlines
 * become `newline`, those at the end are dropped.  Returns its length. */
size_t say_escape(char *to, size_t cap, const char *bytes, size_t len, char newline);

/* A JSON string of printable text, as a C string of less than cap bytes. */
void say_quote(char *to, size_t cap, const char *text);

/* One line: a reason and its detail ("" for none), which is printable. */
void say_reason(enum executor_reason why, const char *detail, bool json);

/* The same with a detail of any bytes. */
__attribute__((format(printf, 3, 0))) void say_about(enum executor_reason why, bool json,
                                                     const char *format, va_list words);

/* The lines of a policy process that refused, escaped.  code and reason get
 * its words for them (each of SAY_WORD bytes).  False, and nothing is said, when
 * the first line does not have both. */
__attribute__((warn_unused_result)) bool say_refusal(const char *bytes, size_t len, char *code,
                                                     char *reason);

/* A policy process may refuse with this exit status. */
bool say_refuses(int status);

/* True iff no byte is a control character, newlines aside: what a policy process
 * wrote does not steer the terminal that it goes to. */
bool say_plain(const char *bytes, size_t len);

/* The graver of two exit statuses (0: none yet), of equals the first. */
int say_graver(int status, int later);

/* Everything said so far; and forgetting it, once it was written. */
const char *say_text(size_t *len);
void say_clear(void);

#endif

/* SPDX-License-Identifier: ISC */
#ifndef COFFERDAM_TESTS_UNIT_NOTES_H
#define COFFERDAM_TESTS_UNIT_NOTES_H

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the functions that stand in for others' were called with, in order: a line
 * each, or so.  A test that forks lets notes point to memory that is shared. */

struct notes {
	size_t len;
	char text[32768];
};
static struct notes own_notes, *notes = &own_notes;

__attribute__((format(printf, 1, 2))) static void note(const char *format, ...)
{
	const size_t left = sizeof(notes->text) - notes->len;
	const int saved = errno;
	va_list words;
	int len;

	va_start(words, format);
	len = vsnprintf(notes->text + notes->len, left, format, words);
	va_end(words);
	errno = saved;
	if (len < 0 || (size_t)len >= left)
		abort(); /* somebody calls and calls */
	notes->len += (size_t)len;
}

static void notes_begin(void)
{
	memset(notes, 0, sizeof(*notes));
}

/* That was all, and in this order. */
static void notes_are(const char *name, const char *expected)
{
	if (strcmp(notes->text, expected) != 0)
		fail_msg("%s: noted:\n%s-- instead of:\n%s", name, notes->text, expected);
	notes_begin();
}

#endif

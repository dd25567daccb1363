/* SPDX-License-Identifier: ISC */
#ifndef COFFERDAM_TESTS_UNIT_VERDICTS_H
#define COFFERDAM_TESTS_UNIT_VERDICTS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../../policy/json.h"
#include "../../policy/report.h"
#include "../../policy/text.h"

/*
 * What the tests of the modules that read a document share: the last document's
 * findings and what was written of it, and a table of documents with one finding
 * each.  A test file is one program, so these are its own.
 */

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct report report;
static char out_buffer[1048576];
static struct text out;

/* Parses a document that is JSON, and hands it to its reader. */
static inline void read_document(const char *text, size_t bytes_max, bool lone_surrogates,
                                 void (*read)(const struct json *doc))
{
	const struct json_limits limits = {bytes_max, 65536, lone_surrogates};
	struct json_error error;
	struct json doc;

	text_init(&out, out_buffer, sizeof(out_buffer));
	assert_true(json_parse(&doc, text, strlen(text), &limits, &error));
	read(&doc);
	json_drop(&doc);
}

static inline void assert_written(const char *expected)
{
	assert_int_equal(report.count, 0);
	assert_int_equal(out.len, strlen(expected));
	assert_memory_equal(out.at, expected, strlen(expected));
}

/* One document, one finding; no reason: accepted. */
struct verdict {
	const char *text;
	enum reason reason;
	const char *pointer;
};

/* Of a document that is refused nothing is written. */
static inline void check_verdict(const struct verdict *verdict, void (*run)(const char *text))
{
	run(verdict->text);
	if (report.count != (verdict->reason != REASON_NONE))
		fail_msg("%s: %u findings, last %s", verdict->text, report.count,
		         report.count > 1 ? reason_name(report.at[1].reason) : "-");
	if (report.count == 0)
		return;
	if (report.at[0].reason != verdict->reason)
		fail_msg("%s: %s", verdict->text, reason_name(report.at[0].reason));
	if (strcmp(report.at[0].pointer, verdict->pointer) != 0)
		fail_msg("%s: at %s", verdict->text, report.at[0].pointer);
	assert_int_equal(out.len, 0);
}

#endif

/* SPDX-License-Identifier: ISC */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../../executor/say.h"

__attribute__((format(printf, 3, 4))) static const char *about(enum executor_reason why, bool json,
                                                               const char *format, ...)
{
	va_list words;
	size_t len;

	say_clear();
	va_start(words, format);
	say_about(why, json, format, words);
	va_end(words);
	return say_text(&len);
}

static void says_a_detail_of_any_bytes(void **state)
{
	(void)state;
	assert_string_equal(about(WHY_GATE, false, "%s %d", "\x1b[31m\xff\n", 7),
	                    "cofferdam: SANDBOX_PROTOCOL gate.refused: the frozen argv is not one "
	                    "that isolates: \\x1b[31m\\xff  7; report it: policy and executor "
	                    "disagree\n");
	assert_string_equal(about(WHY_GATE, true, "a\"b\n"),
	                    "{\"code\":\"SANDBOX_PROTOCOL\",\"reason\":\"gate.refused\","
	                    "\"detail\":\"a\\\"b\",\"sentence\":\"the frozen argv is not one that "
	                    "isolates\",\"hint\":\"report it: policy and executor disagree\"}\n");
}

static void gathers_until_cleared(void **state)
{
	size_t one, two, none;

	(void)state;
	say_clear();
	say_reason(WHY_GATE, "", false);
	say_text(&one);
	say_reason(WHY_GATE, "", false);
	say_text(&two);
	assert_true(one > 0);
	assert_int_equal(two, 2 * one);
	say_clear();
	assert_string_equal(say_text(&none), "");
	assert_int_equal(none, 0);
}

/* 80, 70, 124, 128+n, then the first that happened. */
static void the_gravest_wins(void **state)
{
	static const struct {
		int status, later, graver;
	} rows[] = {
		{0, 1, 1},	{0, 80, 80},	{1, 69, 1},	{69, 1, 69},	{77, 143, 143},
		{143, 77, 143},	{143, 130, 143},	{143, 124, 124},	{124, 143, 124},
		{124, 70, 70},	{70, 124, 70},	{70, 80, 80},	{80, 70, 80},	{80, 143, 80},
		{80, 80, 80},	{1, 70, 70},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(say_graver(rows[i].status, rows[i].later), rows[i].graver);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(says_a_detail_of_any_bytes),
		cmocka_unit_test(gathers_until_cleared),
		cmocka_unit_test(the_gravest_wins),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

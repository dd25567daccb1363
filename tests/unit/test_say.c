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

/* A refusal is only one with a code and a reason at its front. */
static void takes_refusals_with_a_code_and_a_reason(void **state)
{
	static const struct {
		const char *text, *code, *reason; /* NULL: none is taken */
	} row[] = {
		{"cofferdam: SANDBOX_TURN turn.text: x\n", "SANDBOX_TURN", "turn.text"},
		{"{\"code\":\"SANDBOX_TURN\",\"reason\":\"turn.text\"}\n", "SANDBOX_TURN", "turn.text"},
		{"", NULL, NULL},
		{"\n", NULL, NULL},
		{"cofferdam: SANDBOX_TURN", NULL, NULL},
		{"cofferdam: sandbox_turn turn.text: x\n", NULL, NULL},
		{"cofferdam-policy: SANDBOX_PROTOCOL confine.syscall: x\n", NULL, NULL},
		{"x\ncofferdam: SANDBOX_TURN turn.text: x\n", NULL, NULL},
		{"\x1b[2Jcofferdam: SANDBOX_TURN turn.text: x\n", NULL, NULL},
		{"{\"code\":\"SANDBOX_TURN\"}\n", NULL, NULL},
	};
	char code[SAY_WORD], reason[SAY_WORD];
	size_t len;

	(void)state;
	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		say_clear();
		assert_int_equal(say_refusal(row[i].text, strlen(row[i].text), code, reason),
		                 row[i].code != NULL);
		say_text(&len);
		assert_int_equal(len > 0, row[i].code != NULL);
		if (row[i].code == NULL)
			continue;
		assert_string_equal(code, row[i].code);
		assert_string_equal(reason, row[i].reason);
	}
	say_clear();
}

static void refuses_with_eight_statuses(void **state)
{
	unsigned count = 0;

	(void)state;
	for (int status = -1; status < 256; status++)
		count += say_refuses(status);
	assert_int_equal(count, 8);
	assert_false(say_refuses(-1) || say_refuses(0) || say_refuses(80) || say_refuses(124));
}

static void plain_is_without_controls(void **state)
{
	char byte;

	(void)state;
	for (int i = 0; i < 256; i++) {
		byte = (char)i;
		assert_int_equal(say_plain(&byte, 1), i >= ' ' || i == '\n');
	}
	assert_true(say_plain("", 0));
	assert_true(say_plain("a\nb\n", 4));
	assert_false(say_plain("abc\x1b", 4));
	assert_false(say_plain("a\0b", 3));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(says_a_detail_of_any_bytes),
		cmocka_unit_test(gathers_until_cleared),
		cmocka_unit_test(the_gravest_wins),
		cmocka_unit_test(takes_refusals_with_a_code_and_a_reason),
		cmocka_unit_test(refuses_with_eight_statuses),
		cmocka_unit_test(plain_is_without_controls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: ISC */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
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

static void rows_are_of_the_table(void **state)
{
	static const enum executor_reason none[] = {WHY_NONE, WHY_COUNT, WHY_COUNT + 1,
	                                            WHY_COUNT + 1000};

	(void)state;
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		assert_ptr_equal(say_row(none[i]), say_row(WHY_NONE));
		assert_string_equal(say_row(none[i])->code, "");
		assert_string_equal(say_row(none[i])->reason, "");
		assert_string_equal(say_row(none[i])->sentence, "");
		assert_string_equal(say_row(none[i])->hint, "");
		assert_int_equal(say_row(none[i])->status, 0);
	}
	assert_string_equal(say_row(WHY_NONE + 1)->code, "USAGE");
	assert_int_equal(say_row(WHY_NONE + 1)->status, 64);
	assert_string_equal(say_row(WHY_COUNT - 1)->code, "REVOKE_INCOMPLETE");
	assert_int_equal(say_row(WHY_COUNT - 1)->status, 80);
}

static void every_byte_is_escaped(void **state)
{
	char byte[2] = {0, 'x'}, expected[10], to[10];

	(void)state;
	for (int i = 0; i < 256; i++) {
		byte[0] = (char)i;
		snprintf(expected, sizeof(expected),
		         i == '\n' ? "Nx" : i >= 0x20 && i < 0x7f ? "%cx" : "\\x%02xx", i);
		assert_int_equal(say_escape(to, 10, byte, 2, 'N'), strlen(expected));
		assert_string_equal(to, expected);
	}
}

/* Those at the end only, and no byte before the first is looked at. */
static void newlines_at_the_end_are_dropped(void **state)
{
	static const struct {
		const char *bytes; /* behind a newline */
		const char *shown;
	} rows[] = {
		{"", ""}, {"\n", ""}, {"\n\n", ""}, {"a", "a"}, {"a\n", "a"},
		{"\na\n\n", "Na"}, {"a\nb\n", "aNb"}, {"a\n ", "aN "},
	};
	char text[8] = "\n", to[32];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		strcpy(text + 1, rows[i].bytes);
		assert_int_equal(say_escape(to, sizeof(to), text + 1, strlen(text + 1), 'N'),
		                 strlen(rows[i].shown));
		assert_string_equal(to, rows[i].shown);
	}
}

#define ROOM 24

/* A byte is shown while the longest form of one would fit, with the NUL. */
static void escapes_as_much_as_fits(void **state)
{
	static const char *const forms[] = {"a", "N", "\\x01"};
	static const char bytes[] = "\001a\nb\001\001c\001d\n\001.";
	char to[ROOM], expected[ROOM];
	size_t n;

	(void)state;
	for (size_t cap = 1; cap < ROOM; cap++) {
		memset(to, '#', sizeof(to));
		memset(expected, '#', sizeof(expected));
		n = 0;
		for (const char *at = bytes; n + sizeof("\\x01") <= cap; at++) {
			const char *form = forms[*at == 1 ? 2 : *at == '\n'];

			memcpy(expected + n, form, strlen(form));
			expected[n] = *at > ' ' ? *at : form[0];
			n += strlen(form);
		}
		expected[n] = '\0';
		assert_int_equal(say_escape(to, cap, bytes, sizeof(bytes) - 1, 'N'), n);
		assert_memory_equal(to, expected, sizeof(to));
	}
}

/* The same; a quote is never parted from its backslash. */
static void quotes_as_much_as_fits(void **state)
{
	static const struct {
		size_t cap;
		const char *text, *quoted;
	} rows[] = {
		{3, "", "\"\""}, {5, "a", "\"\""}, {6, "a", "\"a\""}, {6, "ab", "\"a\""},
		{7, "ab", "\"ab\""}, {6, "\"", "\"\\\"\""}, {5, "\"", "\"\""},
		{6, "\\x", "\"\\\\\""}, {7, "\\x", "\"\\\\\""}, {8, "\\x", "\"\\\\x\""},
		{9, "a\"\"", "\"a\\\"\\\"\""}, {8, "a\"\"", "\"a\\\"\""},
		{20, "a\"b\\c\0d", "\"a\\\"b\\\\c\""},
	};
	char to[ROOM], expected[ROOM];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		memset(to, '#', sizeof(to));
		memset(expected, '#', sizeof(expected));
		strcpy(expected, rows[i].quoted);
		say_quote(to, rows[i].cap, rows[i].text);
		assert_memory_equal(to, expected, sizeof(to));
	}
}

#define GATE_TEXT "cofferdam: SANDBOX_PROTOCOL gate.refused: the frozen argv is not one that isolates"
#define GATE_HINT "; report it: policy and executor disagree\n"

static void a_detail_stands_behind_a_colon(void **state)
{
	static const struct {
		const char *detail, *said;
	} rows[] = {
		{"\0x", GATE_TEXT GATE_HINT},
		{"x", GATE_TEXT ": x" GATE_HINT},
		{"xy", GATE_TEXT ": xy" GATE_HINT},
	};
	size_t len;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		say_clear();
		say_reason(WHY_GATE, rows[i].detail, false);
		assert_string_equal(say_text(&len), rows[i].said);
		assert_int_equal(len, strlen(rows[i].said));
	}
	say_clear();
}

/* The longest detail there is, each of its bytes two in JSON. */
static void the_longest_detail_is_whole(void **state)
{
	static const char before[] = "{\"code\":\"SANDBOX_PROTOCOL\",\"reason\":\"gate.refused\","
	                             "\"detail\":\"";
	static const char after[] = "\",\"sentence\":\"the frozen argv is not one that isolates\","
	                            "\"hint\":\"report it: policy and executor disagree\"}\n";
	static char detail[2 * SAY_CHILD], expected[4 * SAY_CHILD];
	char *at = expected;

	(void)state;
	memset(detail, '"', sizeof(detail) - 1);
	at = stpcpy(at, before);
	for (size_t i = 0; i < SAY_CHILD - 4; i++)
		at = stpcpy(at, "\\\"");
	stpcpy(at, after);
	assert_string_equal(about(WHY_GATE, true, "%s", detail), expected);
}

/* Nothing is said beyond the room for it, and what was said stays. */
static void what_is_said_has_an_end(void **state)
{
	static char detail[SAY_CHILD - 3], first[SAY_MAX];
	char code[SAY_WORD], reason[SAY_WORD];
	const char *text;
	size_t len;

	(void)state;
	memset(detail, 'x', sizeof(detail) - 1);
	say_clear();
	for (int i = 0; i < 9; i++)
		say_reason(WHY_GATE, detail, i % 2 == 0);
	text = say_text(&len);
	assert_int_equal(len, SAY_MAX - 1);
	assert_int_equal(text[SAY_MAX - 1], '\0');
	strcpy(first, text);
	say_reason(WHY_GATE, detail, false);
	say_reason(WHY_GATE, detail, true);
	assert_true(say_refusal("cofferdam: A b: x", 17, code, reason));
	assert_string_equal(say_text(&len), first);
	assert_int_equal(len, SAY_MAX - 1);
	say_clear();
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
static unsigned rank(int status)
{
	static const int gravest[] = {80, 70, 124};
	unsigned rank = 0;

	while (rank < 3 && status != gravest[rank])
		rank++;
	return rank < 3 || status > 128 ? rank : 4;
}

static void the_gravest_wins(void **state)
{
	static const struct {
		int status, later, graver;
	} rows[] = {
		{0, 1, 1},	{0, 80, 80},	{1, 69, 1},	{69, 1, 69},	{77, 143, 143},
		{143, 77, 143},	{143, 130, 143},	{143, 124, 124},	{124, 143, 124},
		{124, 70, 70},	{70, 124, 70},	{70, 80, 80},	{80, 70, 80},	{80, 143, 80},
		{80, 80, 80},	{1, 70, 70},	{1, 128, 1},	{1, 129, 129},	{0, 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(say_graver(rows[i].status, rows[i].later), rows[i].graver);
	for (int status = 1; status < 256; status++)
		for (int later = 1; later < 256; later++)
			assert_int_equal(say_graver(status, later),
			                 rank(later) < rank(status) ? later : status);
}

#define WORD_31 "ABCDEFGHIJKLMNOPQRSTUVWXYZ_ABCD"
#define REASON_31 "bcdefghijklmnopqrstuvwxyz012345"

/* A refusal is only one with a code and a reason at its front; it is shown whole. */
static void takes_refusals_with_a_code_and_a_reason(void **state)
{
	static const struct {
		const char *text, *code, *reason; /* NULL: none is taken */
		const char *said;
	} row[] = {
		{"cofferdam: SANDBOX_TURN turn.text: x\n", "SANDBOX_TURN", "turn.text",
		 "cofferdam: SANDBOX_TURN turn.text: x\n"},
		{"{\"code\":\"SANDBOX_TURN\",\"reason\":\"turn.text\"}\n", "SANDBOX_TURN", "turn.text",
		 "{\"code\":\"SANDBOX_TURN\",\"reason\":\"turn.text\"}\n"},
		{"cofferdam: SANDBOX_TURN turn.text\nmore\x1b\n\n", "SANDBOX_TURN", "turn.text",
		 "cofferdam: SANDBOX_TURN turn.text\nmore\\x1b\n"},
		{"cofferdam: A b", "A", "b", "cofferdam: A b\n"},
		{"{\"code\":\"A\",\"reason\":\"b\"", "A", "b", "{\"code\":\"A\",\"reason\":\"b\"\n"},
		{"cofferdam: Z_ a.", "Z_", "a.", "cofferdam: Z_ a.\n"},
		{"cofferdam: " WORD_31 " a" REASON_31, NULL, NULL, NULL},
		{"cofferdam: " WORD_31 " " REASON_31, WORD_31, REASON_31,
		 "cofferdam: " WORD_31 " " REASON_31 "\n"},
		{"cofferdam: A 6789_.a", "A", "6789_.a", "cofferdam: A 6789_.a\n"},
		{"cofferdam: E" WORD_31 " b", NULL, NULL, NULL},
		{"cofferdam: E" WORD_31 WORD_31 " b", NULL, NULL, NULL},
		{"", NULL, NULL, NULL},
		{"\n", NULL, NULL, NULL},
		{"cofferdam: SANDBOX_TURN", NULL, NULL, NULL},
		{"cofferdam: SANDBOX_TURN ", NULL, NULL, NULL},
		{"cofferdam: SANDBOX_TURN :", NULL, NULL, NULL},
		{"cofferdam:  turn.text", NULL, NULL, NULL},
		{"cofferdam: sandbox_turn turn.text: x\n", NULL, NULL, NULL},
		{"cofferdam-policy: SANDBOX_PROTOCOL confine.syscall: x\n", NULL, NULL, NULL},
		{"x\ncofferdam: SANDBOX_TURN turn.text: x\n", NULL, NULL, NULL},
		{"\x1b[2Jcofferdam: SANDBOX_TURN turn.text: x\n", NULL, NULL, NULL},
		{"{\"code\":\"SANDBOX_TURN\"}\n", NULL, NULL, NULL},
		{"{\"code\":\"\",\"reason\":\"turn.text\"}\n", NULL, NULL, NULL},
	};
	struct {
		char text[SAY_WORD], behind;
	} code, reason;
	size_t len;

	(void)state;
	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		say_clear();
		memset(&code, '#', sizeof(code));
		memset(&reason, '#', sizeof(reason));
		assert_int_equal(say_refusal(row[i].text, strlen(row[i].text), code.text,
		                             reason.text),
		                 row[i].code != NULL);
		assert_int_equal(code.behind, '#');
		assert_int_equal(reason.behind, '#');
		assert_string_equal(say_text(&len), row[i].code != NULL ? row[i].said : "");
		if (row[i].code == NULL)
			continue;
		assert_string_equal(code.text, row[i].code);
		assert_string_equal(reason.text, row[i].reason);
	}
	say_clear();
}

/* As much as a child may write, each byte four. */
static void the_longest_refusal_is_shown(void **state)
{
	static const char head[] = "cofferdam: A b";
	static char text[SAY_CHILD], expected[4 * SAY_CHILD + 1];
	char code[SAY_WORD], reason[SAY_WORD], *at = expected;
	size_t len;

	(void)state;
	memset(text, 1, sizeof(text));
	memcpy(text, head, strlen(head));
	at = stpcpy(at, head);
	for (size_t i = strlen(head); i < sizeof(text); i++)
		at = stpcpy(at, "\\x01");
	stpcpy(at, "\n");
	say_clear();
	assert_true(say_refusal(text, sizeof(text), code, reason));
	assert_string_equal(say_text(&len), expected);
	say_clear();
}

static void refuses_with_eight_statuses(void **state)
{
	static const int statuses[] = {65, 66, 69, 70, 75, 76, 77, 78, 1000};
	size_t next = 0;

	(void)state;
	for (int status = -1; status < 512; status++) {
		assert_int_equal(say_refuses(status), status == statuses[next]);
		next += status == statuses[next];
	}
	assert_int_equal(next, 8);
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
		cmocka_unit_test(rows_are_of_the_table),
		cmocka_unit_test(every_byte_is_escaped),
		cmocka_unit_test(newlines_at_the_end_are_dropped),
		cmocka_unit_test(escapes_as_much_as_fits),
		cmocka_unit_test(quotes_as_much_as_fits),
		cmocka_unit_test(a_detail_stands_behind_a_colon),
		cmocka_unit_test(the_longest_detail_is_whole),
		cmocka_unit_test(what_is_said_has_an_end),
		cmocka_unit_test(gathers_until_cleared),
		cmocka_unit_test(the_gravest_wins),
		cmocka_unit_test(takes_refusals_with_a_code_and_a_reason),
		cmocka_unit_test(the_longest_refusal_is_shown),
		cmocka_unit_test(refuses_with_eight_statuses),
		cmocka_unit_test(plain_is_without_controls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

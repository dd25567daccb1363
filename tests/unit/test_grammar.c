/* SPDX-License-Identifier: ISC */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../../policy/grammar.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* One letter an event, in the order of the enum. */
static const char letters[] = "<>ksp.!";

/* The events of a text as letters; each must lie behind the one before it. */
static struct lexeme events(const char *text, bool lone_surrogates, char *out)
{
	struct grammar grammar;
	struct lexeme lexeme;
	size_t behind = 0;

	memset(&grammar, 1, sizeof(grammar)); /* init sets all that is read */
	grammar_init(&grammar, text, strlen(text), lone_surrogates);
	do {
		lexeme = grammar_next(&grammar);
		assert_true(lexeme.start >= behind && lexeme.end >= lexeme.start);
		assert_true(lexeme.end <= strlen(text));
		assert_int_equal(lexeme.reason == REASON_NONE, lexeme.event != GRAMMAR_ERROR);
		if (lexeme.event < GRAMMAR_END)
			assert_true(lexeme.end > lexeme.start);
		behind = lexeme.end;
		*out++ = letters[lexeme.event];
	} while (lexeme.event < GRAMMAR_END);
	*out = '\0';
	return lexeme;
}

static void test_events(void **state)
{
	static const struct {
		const char *text;
		const char *events;
	} rows[] = {
	        {"1", "p."},
	        {" true ", "p."},
	        {"\"a\"", "s."},
	        {"[]", "<>."},
	        {"{}", "<>."},
	        {"[1,\"a\",null]", "<psp>."},
	        {"{\"a\":1,\"b\":\"c\"}", "<kpks>."},
	        {"{\"a\":[{},[]]}", "<k<<><>>>."},
	        {"[{\"a\":{\"b\":false}}]", "<<k<kp>>>."},
	        {"", "!"},
	        {"[1,]", "<p!"},
	        {"[1}", "<p!"},
	        {"{\"a\" 1}", "<k!"},
	        {"{1:2}", "<!"},
	        {"[] []", "<>!"},
	        {"[[]", "<<>!"},
	        {"[0,1,2,3,4,5,6,7,8,9,-1]", "<ppppppppppp>."},
	        {"[\"\\ud800\"]", "<!"},
	};
	char seen[32];

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		(void)events(rows[i].text, false, seen);
		assert_string_equal(seen, rows[i].events);
	}
	(void)events("[\"\\ud800\"]", true, seen);
	assert_string_equal(seen, "<s>.");
}

static void test_spans(void **state)
{
	static const struct {
		enum grammar_event event;
		size_t start, end;
	} rows[] = {
	        {GRAMMAR_OPEN, 1, 2},        {GRAMMAR_KEY, 3, 6},    {GRAMMAR_OPEN, 8, 9},
	        {GRAMMAR_PRIMITIVE, 9, 13},  {GRAMMAR_STRING, 15, 18}, {GRAMMAR_CLOSE, 18, 19},
	        {GRAMMAR_CLOSE, 20, 21},     {GRAMMAR_END, 22, 22},
	};
	static const char text[] = " { \"a\": [-1e2, \"b\"] } ";
	struct grammar grammar;

	(void)state;
	grammar_init(&grammar, text, sizeof(text) - 1, false);
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct lexeme lexeme = grammar_next(&grammar);

		assert_int_equal(lexeme.event, rows[i].event);
		assert_int_equal(lexeme.start, rows[i].start);
		assert_int_equal(lexeme.end, rows[i].end);
		assert_int_equal(lexeme.reason, REASON_NONE);
	}
}

static void test_errors(void **state)
{
	static const struct {
		const char *text;
		enum reason reason;
		size_t at;
	} rows[] = {
	        {"", REASON_JSON_EMPTY, 0},
	        {"  ", REASON_JSON_EMPTY, 2},
	        {"}", REASON_JSON_SYNTAX, 0},
	        {"[", REASON_JSON_TRUNCATED, 1},
	        {"[ ", REASON_JSON_TRUNCATED, 2},
	        {"[1,]", REASON_JSON_SYNTAX, 3},
	        {"[+1]", REASON_JSON_NUMBER, 1},
	        {"{+:1}", REASON_JSON_SYNTAX, 1}, /* no value is due here */
	        {"[1 .5]", REASON_JSON_SYNTAX, 3},
	        {"{}+", REASON_JSON_TRAILING, 2},
	        {"{}\x01", REASON_JSON_CONTROL, 2},
	        {"{}\xff", REASON_JSON_UTF8, 2},
	};
	char seen[32];

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct lexeme lexeme = events(rows[i].text, false, seen);

		assert_int_equal(lexeme.event, GRAMMAR_ERROR);
		assert_int_equal(lexeme.reason, rows[i].reason);
		assert_int_equal(lexeme.start, rows[i].at);
	}
}

/* What stands behind the text's end is not read, whatever it is. */
static void test_end(void **state)
{
	static const char *const behind[] = {"]", "+", ".", " ", ",", "1", "\"", "\x01"};
	struct grammar grammar;
	struct lexeme lexeme;
	char text[8];

	(void)state;
	for (size_t i = 0; i < COUNT(behind); i++) {
		strcpy(text, "[1,");
		for (size_t len = 2; len <= 3; len++) {
			text[len] = behind[i][0];
			text[len + 1] = '\0';
			grammar_init(&grammar, text, len, false);
			do
				lexeme = grammar_next(&grammar);
			while (lexeme.event < GRAMMAR_END);
			assert_int_equal(lexeme.event, GRAMMAR_ERROR);
			assert_int_equal(lexeme.reason, REASON_JSON_TRUNCATED);
			assert_int_equal(lexeme.start, len);
			text[2] = ',';
		}
	}
}

static void test_depth(void **state)
{
	char text[2 * JSON_DEPTH_MAX + 3];
	char seen[2 * JSON_DEPTH_MAX + 4];
	struct lexeme lexeme;

	(void)state;
	memset(text, '[', JSON_DEPTH_MAX);
	memset(text + JSON_DEPTH_MAX, ']', JSON_DEPTH_MAX);
	text[2 * JSON_DEPTH_MAX] = '\0';
	assert_int_equal(events(text, false, seen).event, GRAMMAR_END);
	memset(text, '[', JSON_DEPTH_MAX + 1);
	text[JSON_DEPTH_MAX + 1] = '\0';
	lexeme = events(text, false, seen);
	assert_int_equal(lexeme.reason, REASON_JSON_TOO_DEEP);
	assert_int_equal(lexeme.start, JSON_DEPTH_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_events),
	        cmocka_unit_test(test_spans),
	        cmocka_unit_test(test_errors),
	        cmocka_unit_test(test_end),
	        cmocka_unit_test(test_depth),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

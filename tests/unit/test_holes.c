/* SPDX-License-Identifier: ISC */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../../executor/holes.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))
#define CPUS 1000000000U

static struct hole on(const char *word)
{
	return (struct hole){word, 0, true};
}

static struct span of(const char *text)
{
	return (struct span){text, strlen(text)};
}

static void texts_are_taken_byte_by_byte(void **state)
{
	static const struct {
		const char *word, *want;
		bool ok, end;
	} rows[] = {
		{"abc", "abc", true, true},  {"abcd", "abc", true, false}, {"", "", true, true},
		{"a", "", true, false},      {"ab", "abc", false, false},  {"abd", "abc", false, false},
		{"xbc", "abc", false, false}, {"", "a", false, false},
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct hole hole = on(rows[i].word);

		holes_text(&hole, rows[i].want);
		assert_int_equal(hole.ok, rows[i].ok);
		assert_int_equal(holes_end(&hole), rows[i].end);
		if (hole.ok)
			assert_int_equal(hole.at, strlen(rows[i].want));
	}
}

/* Each would take the word's one byte, and finds a hole that is no longer ok. */
static void nothing_is_taken_after_a_fault(void **state)
{
	struct hole hole = {"1", 0, false};

	(void)state;
	holes_byte(&hole, '1');
	holes_text(&hole, "1");
	holes_of(&hole, DIGITS, "", 0, 9);
	assert_int_equal(holes_number(&hole, 0, 9), 0);
	holes_nano(&hole, 0, CPUS);
	assert_int_equal(holes_plain(&hole, "", "").len, 0);
	assert_int_equal(holes_path(&hole, 9).len, 0);
	holes_json(&hole, of("1"));
	assert_false(hole.ok);
	assert_int_equal(hole.at, 0);
	hole.at = 1;
	assert_false(holes_end(&hole));
	hole = (struct hole){".5", 0, false}; /* nor a point where a number failed */
	holes_nano(&hole, 0, CPUS);
	assert_false(hole.ok);
}

static void bytes_of_a_set(void **state)
{
	static const struct {
		const char *word, *first, *other;
		size_t least, most;
		bool ok;
		size_t at;
	} rows[] = {
		{"abc1", "abc", "", 3, 3, true, 3}, {"abc", "abc", "", 3, 3, true, 3},
		{"abc", "abc", "", 4, 9, false, 0}, {"abc", "abc", "", 0, 2, false, 0},
		{"a1b", "ab", "1", 3, 3, true, 3},  {"a11", "a", "1", 0, 9, true, 3},
		{"1a", "a", "1", 0, 9, true, 0},    {"1a", "a", "1", 1, 9, false, 0},
		{"", "a", "b", 0, 0, true, 0},      {"", "a", "b", 1, 9, false, 0},
		{"a", "", "a", 0, 9, true, 0},
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct hole hole = on(rows[i].word);

		holes_of(&hole, rows[i].first, rows[i].other, rows[i].least, rows[i].most);
		assert_int_equal(hole.ok, rows[i].ok);
		if (hole.ok)
			assert_int_equal(hole.at, rows[i].at);
	}
}

static void numbers(void **state)
{
	static const struct {
		const char *word;
		uint64_t least, most;
		bool ok;
		uint64_t value;
		size_t at;
	} rows[] = {
		{"0", 0, 0, true, 0, 1},
		{"0", 1, 9, false, 0, 0},
		{"5", 5, 9, true, 5, 1},
		{"4", 5, 9, false, 0, 0},
		{"9", 0, 9, true, 9, 1},
		{"10", 0, 9, false, 0, 0},
		{"1234567890", 0, UINT64_MAX, true, 1234567890, 10},
		{"12x", 0, 99, true, 12, 2},
		{"7", 0, 9, true, 7, 1},
		{"07", 0, 9, false, 0, 0},
		{"00", 0, 9, false, 0, 0},
		{"", 0, 9, false, 0, 0},
		{"x", 0, 9, false, 0, 0},
		{"-1", 0, 9, false, 0, 0},
		{"+1", 0, 9, false, 0, 0},
		{"9999999999999999999", 0, UINT64_MAX, true, 9999999999999999999U, 19},
		{"18446744073709551617", 0, UINT64_MAX, true, 1844674407370955161U, 19},
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct hole hole = on(rows[i].word);
		uint64_t value = holes_number(&hole, rows[i].least, rows[i].most);

		assert_int_equal(hole.ok, rows[i].ok);
		if (hole.ok) {
			assert_true(value == rows[i].value);
			assert_int_equal(hole.at, rows[i].at);
		}
	}
}

static bool nano(const char *word, uint64_t least, uint64_t most)
{
	struct hole hole = on(word);

	holes_nano(&hole, least, most);
	return holes_end(&hole);
}

static void cpus_are_exact_fractions(void **state)
{
	static const struct {
		const char *word;
		uint64_t value;
	} rows[] = {
		{"0", 0},
		{"1", CPUS},
		{"64", 64ULL * CPUS},
		{"1.5", 1500000000},
		{"0.1", 100000000},
		{"0.000000001", 1},
		{"0.01", 10000000},
		{"2.123456789", 2123456789},
		{"10.000000009", 10000000009},
		{"0.999999999", 999999999},
	};
	static const char *const bad[] = {
		"",    "1.",     "1.0",        "1.50", ".5",   "01.5",  "1.a", "1.5a", "1.-5",
		"1.5.", "1.5.1", "0.1234567891", "-1",   "1,5", "1.000000000", "1./", "1.:", "1.5 ",
		"36028797018963968", /* 2^55: 10^9 times as much is 0 in 64 bits */
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		const uint64_t value = rows[i].value;

		assert_true(nano(rows[i].word, value, value));
		assert_true(nano(rows[i].word, 0, 99ULL * CPUS));
		assert_false(nano(rows[i].word, value + 1, 99ULL * CPUS));
		if (value > 0)
			assert_false(nano(rows[i].word, 0, value - 1));
	}
	for (size_t i = 0; i < COUNT_OF(bad); i++)
		assert_false(nano(bad[i], 0, 99ULL * CPUS));
}

static void plain_text_is_utf8(void **state)
{
	static const struct {
		const char *word, *controls, *stop;
		bool ok;
		size_t len;
	} rows[] = {
		{"abc", "", "", true, 3},
		{"", "", "", true, 0},
		{"a,b", "", ",;", true, 1},
		{"a;b", "", ",;", true, 1},
		{",b", "", ",", true, 0},
		{"a\tb\nc", "\t\n", "", true, 5},
		{"a\tb", "\n", "", false, 0},
		{" ~", "", "", true, 2},
		{"\x1f", "", "", false, 0},
		{"\x7f", "\x7f", "", false, 0},
		{"\x01", "", "", false, 0},
		{"a\xc3\xa9z", "", "", true, 4},
		/* The first and the last code point of each width, and what lies beside them. */
		{"\xc2\x80", "", "", true, 2},
		{"\xdf\xbf", "", "", true, 2},
		{"\xc0\x80", "", "", false, 0},
		{"\xc1\xbf", "", "", false, 0},
		{"\xe0\xa0\x80", "", "", true, 3},
		{"\xe0\x9f\xbf", "", "", false, 0},
		{"\xed\x9f\xbf", "", "", true, 3},
		{"\xed\xa0\x80", "", "", false, 0},
		{"\xed\xbf\xbf", "", "", false, 0},
		{"\xee\x80\x80", "", "", true, 3},
		{"\xef\xbf\xbf", "", "", true, 3},
		{"\xf0\x90\x80\x80", "", "", true, 4},
		{"\xf0\x8f\xbf\xbf", "", "", false, 0},
		{"\xf3\xbf\xbf\xbf", "", "", true, 4},
		{"\xf4\x8f\xbf\xbf", "", "", true, 4},
		{"\xf4\x90\x80\x80", "", "", false, 0},
		{"\xf7\xbf\xbf\xbf", "", "", false, 0},
		/* An F8 or FC that was read as F0 would stand for one that is allowed. */
		{"\xf8\x90\x80\x80", "", "", false, 0},
		{"\xfc\x90\x80\x80", "", "", false, 0},
		{"\xff\x90\x80\x80", "", "", false, 0},
		/* Continuation bytes: alone, missing, and not quite one. */
		{"\x80", "", "", false, 0},
		{"\xbf\xbf", "", "", false, 0},
		{"\x90\x80", "", "", false, 0},
		{"\xc2", "", "", false, 0},
		{"\xc2\x7f", "", "", false, 0},
		{"\xc2\xc0", "", "", false, 0},
		{"\xc2\x40", "", "", false, 0},
		{"\xe1\x80", "", "", false, 0},
		{"\xe1\x41\x80", "", "", false, 0},
		{"\xf1\x80\x80", "", "", false, 0},
		{"\xf1\x80\x80" "a", "", "", false, 0},
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct hole hole = on(rows[i].word);
		struct span span = holes_plain(&hole, rows[i].controls, rows[i].stop);

		assert_int_equal(hole.ok, rows[i].ok);
		if (hole.ok) {
			assert_ptr_equal(span.at, rows[i].word);
			assert_int_equal(span.len, rows[i].len);
			assert_int_equal(hole.at, rows[i].len);
		}
	}
}

static void paths_end_where_csv_would(void **state)
{
	static const struct {
		const char *word;
		size_t max;
		bool ok;
		size_t len;
	} rows[] = {
		{"/a", 2, true, 2},    {"/a", 1, false, 0},   {"/a,b", 9, true, 2},
		{"/a\"b", 9, true, 2}, {"/a b", 9, true, 4},  {"/a\tb", 9, false, 0},
		{"/a\nb", 9, false, 0}, {"a", 9, false, 0},   {"/", 9, false, 0},
		{"/a/../b", 9, false, 0}, {"", 9, false, 0},
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct hole hole = on(rows[i].word);
		struct span path = holes_path(&hole, rows[i].max);

		assert_int_equal(hole.ok, rows[i].ok);
		assert_int_equal(path.len, rows[i].len);
	}
}

/* What follows a hole is taken from where it ended. */
static void holes_follow_each_other(void **state)
{
	static const char word[] = "x=12:a1,1.5/b,\"\\u00e9";
	struct hole hole = on(word);
	struct span path;

	(void)state;
	holes_text(&hole, "x=");
	assert_int_equal(holes_number(&hole, 12, 12), 12);
	holes_byte(&hole, ':');
	holes_of(&hole, LETTERS, DIGITS, 2, 2);
	holes_byte(&hole, ',');
	holes_nano(&hole, 1500000000, 1500000000);
	path = holes_path(&hole, 2);
	assert_ptr_equal(path.at, strchr(word, '/'));
	assert_int_equal(path.len, 2);
	holes_text(&hole, ",\"");
	holes_json(&hole, of("\xc3\xa9"));
	assert_true(holes_end(&hole));
}

static void json_is_ascii(void **state)
{
	static const struct {
		const char *text, *word;
		bool end;
	} rows[] = {
		{"", "", true},
		{"a", "a", true},
		{" ~", " ~", true},
		{"\"", "\\\"", true},
		{"\\", "\\\\", true},
		{"/", "/", true},
		{"\n", "\\u000a", true},
		{"\x1f", "\\u001f", true},
		{"\x7f", "\\u007f", true},
		{"\xc2\x80", "\\u0080", true},
		{"a\xc3\xa9z", "a\\u00e9z", true},
		{"\xef\xbf\xbf", "\\uffff", true},
		{"\xf0\x90\x80\x80", "\\ud800\\udc00", true},
		{"\xf0\x9f\x98\x80", "\\ud83d\\ude00", true},
		{"\xf4\x8f\xbf\xbf", "\\udbff\\udfff", true},
		{"a", "b", false},
		{"a", "aa", false},
		{"aa", "a", false},
		{"\"", "\"", false},
		{"\n", "\\n", false},
		{"\n", "\\u000A", false},
		{"\n", "\n", false},
		{"\xc3\xa9", "\xc3\xa9", false},
		{"\xf0\x90\x80\x80", "\\ud800", false},
		{"\x80", "\\u0080", false},
		{"\xc3", "\\u00c3", false},
	};

	struct hole hole;

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		hole = on(rows[i].word);
		holes_json(&hole, of(rows[i].text));
		assert_int_equal(holes_end(&hole), rows[i].end);
	}
	hole = on("\\u0000");
	holes_json(&hole, (struct span){"", 1}); /* NUL is a code point */
	assert_true(holes_end(&hole));
}

static void spans_have_no_end_but_their_length(void **state)
{
	(void)state;
	assert_true(holes_is(of("abc"), "abc"));
	assert_true(holes_is((struct span){"abc", 2}, "ab"));
	assert_true(holes_is(of(""), ""));
	assert_false(holes_is((struct span){"abc", 2}, "abc"));
	assert_false(holes_is(of("abc"), "ab"));
	assert_false(holes_is(of("abd"), "abc"));
}

static void canonical_paths(void **state)
{
	static const struct {
		const char *path;
		size_t len;
		bool is;
	} rows[] = {
		{"/a", 2, true},       {"/a/", 2, true},      {"/a.b/c", 6, true},
		{"/...", 4, true},     {"/..a", 4, true},     {"/.a", 3, true},
		{"/a.", 3, true},      {"/.a/b", 5, true},    {"/ab/c", 5, true},
		{"/a/.../b", 8, true}, {"", 0, false},        {"/", 1, false},
		{"/a", 1, false},      {"a", 1, false},       {"a/b", 3, false},
		{"//", 2, false},      {"/a/", 3, false},     {"/a//b", 5, false},
		{"//a", 3, false},     {"/.", 2, false},      {"/..", 3, false},
		{"/a/.", 4, false},    {"/a/..", 5, false},   {"/./a", 4, false},
		{"/../a", 5, false},   {"/abc/../d", 9, false},
		{"/a", 0, false},      {"ab", 2, false},
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++)
		assert_int_equal(holes_canonical((struct span){rows[i].path, rows[i].len}),
		                 rows[i].is);
}

static void paths_within_paths(void **state)
{
	static const struct {
		struct span outer, inner;
		bool below, overlap;
	} rows[] = {
		{{"/a", 2}, {"/a", 2}, true, true},
		{{"/a", 2}, {"/ab", 2}, true, true},
		{{"/a", 2}, {"/a/b", 4}, true, true},
		{{"/a/b", 4}, {"/a", 2}, false, true},
		{{"/a/b", 4}, {"/a/b/c", 2}, false, true},
		{{"/a", 2}, {"/ab", 3}, false, false},
		{{"/ab", 3}, {"/a", 2}, false, false},
		{{"/a", 2}, {"/b", 2}, false, false},
		{{"/a", 2}, {"/b/a", 4}, false, false},
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		assert_int_equal(holes_below(rows[i].outer, rows[i].inner), rows[i].below);
		assert_int_equal(holes_overlap(rows[i].outer, rows[i].inner), rows[i].overlap);
		assert_int_equal(holes_overlap(rows[i].inner, rows[i].outer), rows[i].overlap);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_are_taken_byte_by_byte),
		cmocka_unit_test(nothing_is_taken_after_a_fault),
		cmocka_unit_test(bytes_of_a_set),
		cmocka_unit_test(numbers),
		cmocka_unit_test(cpus_are_exact_fractions),
		cmocka_unit_test(plain_text_is_utf8),
		cmocka_unit_test(paths_end_where_csv_would),
		cmocka_unit_test(holes_follow_each_other),
		cmocka_unit_test(json_is_ascii),
		cmocka_unit_test(spans_have_no_end_but_their_length),
		cmocka_unit_test(canonical_paths),
		cmocka_unit_test(paths_within_paths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: ISC */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../../formal/spec.h"
#include "../../policy/lexeme.h"
#include "guarded.h"

#define T(literal) (literal), sizeof(literal) - 1
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct row {
	const char *text;
	size_t len;
	size_t start;
	size_t at;
	enum reason reason;
};

static struct scan string(const char *text, size_t len, size_t at)
{
	return lexeme_string(text, len, at, false);
}

static struct scan lone(const char *text, size_t len, size_t at)
{
	return lexeme_string(text, len, at, true);
}

static void test_string(void **state)
{
	static const struct row rows[] = {
	        {T("\"\""), 0, 2, REASON_NONE},
	        {T("xx\"ab\"cd"), 2, 6, REASON_NONE}, /* what follows is not its business */
	        {T("\"a\\\"b\",\""), 0, 6, REASON_NONE},
	        {T("\"\\ud83d\\ude00\""), 0, 14, REASON_NONE},
	        {T("\"\\ud83d\""), 0, 1, REASON_JSON_SURROGATE},
	        {T("\"\x01\""), 0, 1, REASON_JSON_CONTROL},
	        {T("\"\xff\""), 0, 1, REASON_JSON_UTF8},
	        {T("\"\\q\""), 0, 2, REASON_JSON_ESCAPE},
	        {T("\""), 0, 1, REASON_JSON_TRUNCATED},
	        {T("\"abc"), 0, 4, REASON_JSON_TRUNCATED},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct scan scan = string(rows[i].text, rows[i].len, rows[i].start);

		assert_int_equal(scan.at, rows[i].at);
		assert_int_equal(scan.reason, rows[i].reason);
	}
}

static void test_number_and_literal(void **state)
{
	static const struct row numbers[] = {
	        {T("0"), 0, 1, REASON_NONE},
	        {T("x-12.50e+3,"), 1, 10, REASON_NONE},
	        {T("1 2"), 0, 1, REASON_NONE},
	        {T("1\"a\""), 0, 1, REASON_NONE},
	        {T("12a"), 0, 2, REASON_JSON_NUMBER},
	        {T("01"), 0, 1, REASON_JSON_NUMBER},
	        {T("-"), 0, 1, REASON_JSON_TRUNCATED},
	        {T("-\xff"), 0, 1, REASON_JSON_UTF8},
	        {T("-\xed\xa0\x80"), 0, 1, REASON_JSON_UTF8}, /* a surrogate */
	        {T("+1"), 0, 0, REASON_JSON_NUMBER},
	        {T(".5"), 0, 0, REASON_JSON_NUMBER},
	        {T("e5"), 0, 0, REASON_JSON_NUMBER},
	        {T("x5"), 0, 0, REASON_JSON_NUMBER},
	};
	static const struct row literals[] = {
	        {T("true"), 0, 4, REASON_NONE},
	        {T("false]"), 0, 5, REASON_NONE},
	        {T("xnull}"), 1, 5, REASON_NONE},
	        {T("truth"), 0, 3, REASON_JSON_SYNTAX},
	        {T("nullx"), 0, 4, REASON_JSON_SYNTAX},
	        {T("fals"), 0, 4, REASON_JSON_TRUNCATED},
	        {T("n\0ll"), 0, 1, REASON_JSON_CONTROL},
	        /* what stands behind the text is not read */
	        {"true", 0, 0, 0, REASON_JSON_TRUNCATED},
	        {"xfalse", 1, 1, 1, REASON_JSON_TRUNCATED},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(numbers); i++) {
		struct scan scan = lexeme_number(numbers[i].text, numbers[i].len, numbers[i].start);

		assert_int_equal(scan.at, numbers[i].at);
		assert_int_equal(scan.reason, numbers[i].reason);
	}
	for (size_t i = 0; i < COUNT(literals); i++) {
		struct scan scan =
		        lexeme_literal(literals[i].text, literals[i].len, literals[i].start);

		assert_int_equal(scan.at, literals[i].at);
		assert_int_equal(scan.reason, literals[i].reason);
	}
}

static void test_blanks(void **state)
{
	(void)state;
	for (unsigned byte = 0; byte < 256; byte++) {
		char text[3] = {' ', (char)byte, 'x'};
		bool blank = byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r';

		assert_int_equal(lexeme_blanks(text, 3, 1), blank ? 2 : 1);
	}
	assert_int_equal(lexeme_blanks(" \t\r\n", 4, 0), 4);
	assert_int_equal(lexeme_blanks(" \t\r\n", 2, 0), 2);
	assert_int_equal(lexeme_blanks(" ", 0, 0), 0);
}

static void test_point(void **state)
{
	static const struct {
		const char *text;
		size_t len;
		size_t next;
		uint32_t point;
	} rows[] = {
	        {T("a"), 1, 'a'},
	        {T("\\n"), 2, '\n'},
	        {T("\\/x"), 2, '/'},
	        {T("\\u0041x"), 6, 'A'},
	        {T("\\uFfFf"), 6, 0xffff},
	        {T("\xf0\x9f\x98\x80"), 4, 0x1f600},
	        {T("\\ud83d\\uDE00"), 12, 0x1f600},
	        {T("\\udbff\\udfff"), 12, 0x10ffff},
	        {T("\\ud800\\udc00"), 12, 0x10000},
	        {T("\\ud83dx"), 6, 0xd83d},
	        {T("\\ud83d\\ud83d"), 6, 0xd83d},
	        {T("\\ud83d\\n"), 6, 0xd83d},
	        {T("\\ude00\\ud83d"), 6, 0xde00},
	        {T("\\u0041\\ude00"), 6, 'A'},
	        {T("\\ud83d\\ue000"), 6, 0xd83d},
	        /* bodies that no string has */
	        {T("\\"), 1, 0xfffd},
	        {T("\\q"), 1, 0xfffd},
	        {T("\\u004"), 1, 0xfffd},
	        {T("\\ud83d\\ude0"), 6, 0xd83d},
	        {T("\\ud83d\\udexy"), 6, 0xd83d},
	        {T("\\ud83d/ude00"), 6, 0xd83d},
	        {T("\\u00g1z"), 1, 0xfffd},
	        {T("\xff"), 1, 0xfffd},
	        {T("\x80"), 1, 0xfffd},
	        {T("\xf0\x9f\x98"), 1, 0xfffd},
	        {T("\xed\xa0\x80"), 1, 0xfffd},
	        {T("\n"), 1, '\n'},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		uint32_t point = 0;

		assert_int_equal(lexeme_point(rows[i].text, rows[i].len, 0, &point), rows[i].next);
		assert_int_equal(point, rows[i].point);
	}
}

/* What stands behind a text neither matters nor is read: each beginning of
 * these, where it stands and at the end of a page. */
static void test_end_of_text(void **state)
{
	static const struct {
		struct scan (*of)(const char *text, size_t len, size_t at);
		const char *text;
	} rows[] = {
	        {string, "\"ab\\nc\\u00e9\\ud83d\\ude00\xc3\xa9\xf0\x9f\x98\x80\""},
	        {string, "\"\\ud83d\\ud83d\""},
	        {lone, "\"\\ud83d\\ude00\""},
	        {lexeme_number, "-102.5e+307,"},
	        {lexeme_number, "-\xc3\xa9"},
	        {lexeme_literal, "true,"},
	        {lexeme_literal, "false\xc3\xa9"},
	        {lexeme_literal, "nullx"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		for (size_t len = 0; len <= strlen(rows[i].text); len++) {
			struct scan here = rows[i].of(rows[i].text, len, 0);
			struct scan alone = rows[i].of(guarded(rows[i].text, len), len, 0);

			assert_int_equal(here.at, alone.at);
			assert_int_equal(here.reason, alone.reason);
			assert_true(here.at <= len);
		}
	}
}

/* What each of these becomes when any one or two bytes are others is what the
 * specification says, which works in another way. */
static size_t near(const char *specimen, struct scan (*of)(const char *, size_t, size_t),
                   struct spec_scan (*spec)(const char *, size_t))
{
	static const char letters[] = "\"\\/unabcdefABCDFGZz0189:@+-.,{g\x1f \x7f\x80\xc3\xa9\xed\xf0";
	const size_t len = strlen(specimen);
	size_t cases = 0;
	char text[64];

	for (size_t i = 0; i < len; i++) {
		for (size_t j = i; j < len; j++) {
			for (size_t k = 0; k < sizeof(letters) * sizeof(letters); k++, cases++) {
				struct scan scan;
				struct spec_scan right;

				memcpy(text, specimen, len);
				text[i] = letters[k / sizeof(letters)];
				text[j] = letters[k % sizeof(letters)];
				scan = of(text, len, 0);
				right = spec(text, len);
				assert_int_equal(scan.at, right.at);
				assert_int_equal(scan.reason, right.why);
			}
		}
	}
	return cases;
}

static struct spec_scan spec_string(const char *text, size_t len)
{
	return text[0] == '"' ? spec_scan_string(text, len, false) : (struct spec_scan){0, 0};
}

static struct spec_scan spec_lone(const char *text, size_t len)
{
	return text[0] == '"' ? spec_scan_string(text, len, true) : (struct spec_scan){0, 0};
}

static struct scan quoted(const char *text, size_t len, size_t at)
{
	return text[at] == '"' ? string(text, len, at) : (struct scan){0, 0};
}

static struct scan quoted_lone(const char *text, size_t len, size_t at)
{
	return text[at] == '"' ? lone(text, len, at) : (struct scan){0, 0};
}

static void test_as_specified(void **state)
{
	static const char *const strings[] = {"\"a\\b\\u00e9\"", "\"\\ud83d\\ude00\"", "\"\\uDFFFx\"",
	                                      "\"\xc3\xa9\xf0\x9f\x98\x80\\/\"", "\"\\udb"};
	static const char *const numbers[] = {"-0.5e+1 ", "10E-27]", "1.25", "-9876z", "0e0,", "1e+"};
	static const char *const literals[] = {"null,", "true", "false}"};
	size_t cases = 0;

	(void)state;
	for (size_t i = 0; i < COUNT(strings); i++) {
		cases += near(strings[i], quoted, spec_string);
		cases += near(strings[i], quoted_lone, spec_lone);
	}
	for (size_t i = 0; i < COUNT(numbers); i++)
		cases += near(numbers[i], lexeme_number, spec_scan_number);
	for (size_t i = 0; i < COUNT(literals); i++)
		cases += near(literals[i], lexeme_literal, spec_scan_literal);
	print_message("%zu texts\n", cases);
}

static void test_end_of_body(void **state)
{
	static const char *const rows[] = {"\\n", "\\/", "\\u00e9", "\\ud83d\\ude00", "\xf0\x9f\x98\x80"};

	char text[3 + 16] = "xyz";

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		for (size_t len = 1; len <= strlen(rows[i]); len++) {
			uint32_t here = 0, alone = 0;

			assert_int_equal(lexeme_point(rows[i], len, 0, &here),
			                 lexeme_point(guarded(rows[i], len), len, 0, &alone));
			assert_int_equal(here, alone);
			/* elsewhere than at the beginning */
			memcpy(text + 3, rows[i], len);
			assert_int_equal(lexeme_point(guarded(text, 3 + len), 3 + len, 3, &alone),
			                 3 + lexeme_point(rows[i], len, 0, &here));
			assert_int_equal(here, alone);
		}
	}
}

/* Whatever the bytes: it moves on, stays inside, and gives a code point. */
static void test_point_is_total(void **state)
{
	static const char letters[] = "\\u0d8Fn\"\xc3\xa9\xf0\x9f\x98\x80 x";
	size_t cases = 0;

	(void)state;
	assert_int_equal(strlen(letters), 16);
	for (uint32_t n = 0; n < 1 << 20; n++, cases++) {
		char text[5];
		size_t at = 0;

		for (unsigned i = 0; i < sizeof(text); i++)
			text[i] = letters[n >> (4 * i) & 15];
		while (at < sizeof(text)) {
			uint32_t point = UINT32_MAX;
			size_t next = lexeme_point(text, sizeof(text), at, &point);

			assert_true(next > at && next <= sizeof(text));
			assert_true(point <= 0x10ffff);
			at = next;
		}
	}
	print_message("%zu bodies\n", cases);
}

static bool stands_for_itself(unsigned byte)
{
	return byte >= 0x20 && byte < 0x80 && byte != '"' && byte != '\\';
}

/* Every byte, alone and after another that is not plain, at every place of
 * texts on both sides of the eight bytes that are looked at together. */
static void test_plain(void **state)
{
	char text[20];

	(void)state;
	for (size_t place = 0; place < sizeof(text); place++) {
		for (unsigned byte = 0; byte < 256; byte++) {
			size_t end = stands_for_itself(byte) ? sizeof(text) : place;

			memset(text, 'a', sizeof(text));
			text[place] = (char)byte;
			for (size_t at = 0; at <= place; at++)
				assert_int_equal(lexeme_plain(text, sizeof(text), at), end);
			assert_int_equal(lexeme_plain(text, place, 0), place);
			if (place + 1 < sizeof(text))
				text[place + 1] = '"';
			end = stands_for_itself(byte) ? place + 1 : place;
			assert_int_equal(lexeme_plain(text, sizeof(text), 0), end);
		}
	}
	assert_int_equal(lexeme_plain(text, sizeof(text), sizeof(text)), sizeof(text));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_string),
	        cmocka_unit_test(test_number_and_literal),
	        cmocka_unit_test(test_blanks),
	        cmocka_unit_test(test_plain),
	        cmocka_unit_test(test_point),
	        cmocka_unit_test(test_point_is_total),
	        cmocka_unit_test(test_end_of_text),
	        cmocka_unit_test(test_as_specified),
	        cmocka_unit_test(test_end_of_body),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: ISC */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "../../policy/text.h"

#define T(literal) (literal), sizeof(literal) - 1
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static char buffer[256];
static struct text text;

static void fresh(size_t cap)
{
	assert_true(cap <= sizeof(buffer));
	memset(buffer, '#', sizeof(buffer));
	text_init(&text, buffer, cap);
}

static void expect(const char *bytes, size_t len)
{
	assert_false(text.full);
	if (text.len != len || memcmp(text.at, bytes, len) != 0)
		print_error("got %.*s, expected %s\n", (int)text.len, text.at, bytes);
	assert_int_equal(text.len, len);
	assert_memory_equal(text.at, bytes, len);
	assert_int_equal(buffer[len], '#'); /* nothing behind it was touched */
}

/* A put that does not fit leaves the text as it was, and so do all later ones. */
static void expect_full(size_t len)
{
	assert_true(text.full);
	assert_int_equal(text.len, len);
	text_bytes(&text, "", 0);
	text_string(&text, "x");
	text_u64(&text, 1);
	text_nano(&text, 1);
	text_hex(&text, (const uint8_t *)"x", 1);
	text_escaped(&text, "x", 1);
	text_json(&text, "", 0);
	text_unit(&text, 1);
	assert_null(text_keep(&text, "", 0));
	assert_true(text.full);
	assert_int_equal(text.len, len);
	for (size_t i = text.cap; i < sizeof(buffer); i++)
		assert_int_equal(buffer[i], '#');
}

static void test_bytes(void **state)
{
	(void)state;
	fresh(5);
	text_bytes(&text, "ab\0", 3);
	text_bytes(&text, NULL, 0);
	text_string(&text, "");
	text_string(&text, "cd");
	expect(T("ab\0cd"));
	text_string(&text, "");
	assert_false(text.full);
	text_string(&text, "e");
	expect_full(5);

	fresh(4);
	text_string(&text, "abc");
	text_string(&text, "de");
	expect_full(3);

	text_init(&text, NULL, 0);
	text_bytes(&text, "", 0);
	assert_false(text.full);
	text_bytes(&text, "a", 1);
	assert_true(text.full);

	fresh(8);
	text_string(&text, "ab");
	text_bytes(&text, "x", SIZE_MAX); /* no sum can overflow */
	expect_full(2);
}

static void test_u64(void **state)
{
	static const struct {
		uint64_t value;
		const char *digits;
	} rows[] = {
	        {0, "0"},
	        {1, "1"},
	        {9, "9"},
	        {10, "10"},
	        {99, "99"},
	        {100, "100"},
	        {4294967295U, "4294967295"},
	        {9223372036854775808U, "9223372036854775808"},
	        {9999999999999999999U, "9999999999999999999"},
	        {10000000000000000000U, "10000000000000000000"},
	        {UINT64_MAX, "18446744073709551615"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		size_t len = strlen(rows[i].digits);

		fresh(len);
		text_u64(&text, rows[i].value);
		expect(rows[i].digits, len);
		fresh(len - 1);
		text_u64(&text, rows[i].value);
		expect_full(0);
	}
}

static void test_nano(void **state)
{
	static const struct {
		uint64_t nano;
		const char *digits;
	} rows[] = {
	        {0, "0"},
	        {1, "0.000000001"},
	        {10, "0.00000001"},
	        {10000000, "0.01"},
	        {123456789, "0.123456789"},
	        {500000000, "0.5"},
	        {999999999, "0.999999999"},
	        {1000000000, "1"},
	        {1000000001, "1.000000001"},
	        {1500000000, "1.5"},
	        {2050000000, "2.05"},
	        {10000000000, "10"},
	        {1024000000000, "1024"},
	        {UINT64_MAX, "18446744073.709551615"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		size_t len = strlen(rows[i].digits);

		fresh(len);
		text_nano(&text, rows[i].nano);
		expect(rows[i].digits, len);
		fresh(len - 1);
		text_nano(&text, rows[i].nano);
		expect_full(0);
	}
}

static void test_hex(void **state)
{
	static const uint8_t bytes[] = {0x00, 0x09, 0x0a, 0x7f, 0x80, 0xfe, 0xff};

	(void)state;
	fresh(14);
	text_hex(&text, bytes, sizeof(bytes));
	expect(T("00090a7f80feff"));
	fresh(13);
	text_hex(&text, bytes, sizeof(bytes));
	expect_full(0);
	fresh(4);
	text_hex(&text, bytes, 0);
	expect(T(""));
	fresh(18);
	text_unit(&text, 0);
	text_unit(&text, 0x0aF9);
	text_unit(&text, 0xffff);
	expect(T("\\u0000\\u0af9\\uffff"));
	fresh(5);
	text_unit(&text, 1);
	expect_full(0);
}

/* All 256 bytes, each by the rule, written out here once more. */
static void test_escaped_every_byte(void **state)
{
	(void)state;
	for (unsigned byte = 0; byte < 256; byte++) {
		char one = (char)byte;
		char expected[8];

		if (byte == '\\')
			strcpy(expected, "\\\\");
		else if (byte >= ' ' && byte <= '~')
			(void)snprintf(expected, sizeof(expected), "%c", byte);
		else
			(void)snprintf(expected, sizeof(expected), "\\x%02x", byte);
		fresh(8);
		text_escaped(&text, &one, 1);
		expect(expected, strlen(expected));
		fresh(strlen(expected) - 1);
		text_escaped(&text, &one, 1);
		expect_full(0);
	}
}

static void test_escaped(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
		const char *escaped;
	} rows[] = {
	        {T(""), ""},
	        {T("plain text, \"quotes\" 'too' ~"), "plain text, \"quotes\" 'too' ~"},
	        {T("a\nb"), "a\\x0ab"},
	        {T("a\r\n\tb"), "a\\x0d\\x0a\\x09b"},
	        {T("\\x0a"), "\\\\x0a"}, /* what looks like an escape is none */
	        {T("\\\n"), "\\\\\\x0a"},
	        {T("a\0b"), "a\\x00b"},
	        {T("\x1b[31m"), "\\x1b[31m"},
	        {T("\xc3\xa9"), "\\xc3\\xa9"},
	        {T("\xe2\x80\xae"), "\\xe2\\x80\\xae"}, /* right-to-left override */
	        {T("\xe2\x80\xa8"), "\\xe2\\x80\\xa8"}, /* line separator */
	        {T("\xff\xfe\x7f"), "\\xff\\xfe\\x7f"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		fresh(100);
		text_escaped(&text, rows[i].bytes, rows[i].len);
		expect(rows[i].escaped, strlen(rows[i].escaped));
	}
}

static void test_json_every_byte(void **state)
{
	(void)state;
	for (unsigned byte = 0; byte < 256; byte++) {
		char one = (char)byte;
		char expected[16];

		if (byte == '"' || byte == '\\')
			(void)snprintf(expected, sizeof(expected), "\"\\%c\"", byte);
		else if (byte >= ' ' && byte <= '~')
			(void)snprintf(expected, sizeof(expected), "\"%c\"", byte);
		else if (byte < 0x80)
			(void)snprintf(expected, sizeof(expected), "\"\\u%04x\"", byte);
		else
			strcpy(expected, "\"\\ufffd\""); /* alone, no byte above is UTF-8 */
		fresh(16);
		text_json(&text, &one, 1);
		expect(expected, strlen(expected));
		fresh(strlen(expected) - 1);
		text_json(&text, &one, 1);
		expect_full(0);
	}
}

#define R "\\ufffd"

static void test_json(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
		const char *json; /* without its quotes */
	} rows[] = {
	        {T(""), ""},
	        {T("abc /'~"), "abc /'~"},
	        {T("a\"b\\c"), "a\\\"b\\\\c"},
	        {T("\\u0041"), "\\\\u0041"},
	        {T("a\nb\r\t\b\f"), "a\\u000ab\\u000d\\u0009\\u0008\\u000c"},
	        {T("\",\"decision\":\"allow"), "\\\",\\\"decision\\\":\\\"allow"},
	        {T("\0\x01\x1f\x7f"), "\\u0000\\u0001\\u001f\\u007f"},
	        /* bidirectional controls, separators, invisible characters */
	        {T("\xe2\x80\xaa\xe2\x80\xae\xe2\x81\xa6\xe2\x81\xa9"),
	         "\\u202a\\u202e\\u2066\\u2069"},
	        {T("\xe2\x80\x8e\xe2\x80\x8f\xd8\x9c"), "\\u200e\\u200f\\u061c"},
	        {T("\xe2\x80\xa8\xe2\x80\xa9"), "\\u2028\\u2029"},
	        {T("\xc2\x85\xc2\xa0\xef\xbb\xbf"), "\\u0085\\u00a0\\ufeff"},
	        {T("\xc2\x80\xc2\x9b"), "\\u0080\\u009b"}, /* C1: a terminal's CSI */
	        {T("\xc3\xa9\xe2\x82\xac\xef\xbf\xbf"), "\\u00e9\\u20ac\\uffff"},
	        {T("\xf0\x90\x80\x80\xf0\x9f\x98\x80\xf4\x8f\xbf\xbf"),
	         "\\ud800\\udc00\\ud83d\\ude00\\udbff\\udfff"},
	        /* lone surrogates in generalised UTF-8 keep their number */
	        {T("\xed\xa0\x80"), "\\ud800"},
	        {T("\xed\xbf\xbfx"), "\\udfffx"},
	        {T("\xed\xa0\xbd\xed\xb8\x80"), "\\ud83d\\ude00"},
	        /* what is no UTF-8: a mark a byte */
	        {T("\xc0\x80"), R R},
	        {T("\xc1\xbf"), R R},
	        {T("\xc0\xaf"), R R},
	        {T("\xe0\x80\x8a"), R R R}, /* an overlong line feed */
	        {T("\xc0\x8a"), R R},
	        {T("\xf0\x80\x80\x8a"), R R R R},
	        {T("\xf4\x90\x80\x80"), R R R R},
	        {T("\xf5\x80\x80\x80"), R R R R},
	        {T("\xff\xfe"), R R},
	        {T("\xc3"), R},
	        {T("a\xe2\x82"), "a" R R},
	        {"a\xc3\xa9", 2, "a" R}, /* what stands behind the text is not read */
	        {T("\xe2\x82" "b"), R R "b"},
	        {T("\xf0\x9f\x98"), R R R},
	        {T("\xf0\x9f\x98\""), R R R "\\\""},
	        {T("\xc3\n"), R "\\u000a"}, /* a line feed is not swallowed */
	};
	char expected[128];

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		int len = snprintf(expected, sizeof(expected), "\"%s\"", rows[i].json);

		fresh((size_t)len);
		text_json(&text, rows[i].bytes, rows[i].len);
		expect(expected, (size_t)len);
		fresh((size_t)len - 1);
		text_json(&text, rows[i].bytes, rows[i].len);
		expect_full(0);
	}
}

static bool printable_only(void)
{
	for (size_t i = 0; i < text.len; i++) {
		if (text.at[i] < ' ' || text.at[i] > '~')
			return false;
	}
	return true;
}

/* Whatever three bytes come, neither form writes anything but printable ASCII,
 * and the JSON string ends only at its end. */
static void test_no_forgery(void **state)
{
	static const unsigned char edges[] = {0x00, 0x09, 0x0a, 0x0d, 0x1b, '"',  '\\', 'u',
	                                      0x7f, 0x80, 0x9b, 0xc2, 0xe2, 0xed, 0xf0, 0xff};
	size_t cases = 0;

	(void)state;
	for (unsigned n = 0; n < 65536; n++, cases++) {
		char bytes[4];
		bool closed = false;

		for (unsigned i = 0; i < 4; i++)
			bytes[i] = (char)edges[n >> (4 * i) & 15];
		fresh(64);
		text_escaped(&text, bytes, 4);
		assert_false(text.full);
		assert_true(printable_only());
		fresh(64);
		text_json(&text, bytes, 4);
		assert_false(text.full);
		assert_true(printable_only());
		for (size_t i = 1; i < text.len; i++) {
			assert_false(closed);
			closed = text.at[i] == '"';
			i += text.at[i] == '\\';
		}
		assert_true(closed);
	}
	print_message("%zu sequences of four bytes\n", cases);
}

static void test_keep(void **state)
{
	const char *first;
	const char *second;

	(void)state;
	fresh(8);
	first = text_keep(&text, "abcd", 3);
	second = text_keep(&text, "", 0);
	assert_string_equal(first, "abc");
	assert_string_equal(second, "");
	assert_ptr_equal(first, buffer);
	assert_ptr_equal(second, buffer + 4);
	assert_int_equal(text.len, 5);
	assert_string_equal(text_keep(&text, "xy", 2), "xy"); /* fits exactly */
	assert_int_equal(text.len, 8);
	assert_false(text.full);
	assert_null(text_keep(&text, "", 0));
	expect_full(8);
	assert_string_equal(first, "abc");

	fresh(3);
	assert_null(text_keep(&text, "abc", 3)); /* no room for the NUL */
	expect_full(0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_bytes),
	        cmocka_unit_test(test_u64),
	        cmocka_unit_test(test_nano),
	        cmocka_unit_test(test_hex),
	        cmocka_unit_test(test_escaped_every_byte),
	        cmocka_unit_test(test_escaped),
	        cmocka_unit_test(test_json_every_byte),
	        cmocka_unit_test(test_json),
	        cmocka_unit_test(test_no_forgery),
	        cmocka_unit_test(test_keep),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

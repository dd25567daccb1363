/* SPDX-License-Identifier: ISC */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../../policy/utf8.h"

#define T(literal) (literal), sizeof(literal) - 1
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- an independent specification ---- */

/* By arithmetic on bit patterns, where the code under test has ranges of bytes:
 * the sequence's length, 0 if ill-formed. */
static unsigned spec_decode(const unsigned char *bytes, size_t len, bool surrogates,
                            uint32_t *point)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	unsigned width = bytes[0] < 0x80            ? 1
	                 : (bytes[0] & 0xe0) == 0xc0 ? 2
	                 : (bytes[0] & 0xf0) == 0xe0 ? 3
	                 : (bytes[0] & 0xf8) == 0xf0 ? 4
	                                             : 0;
	uint32_t value;

	if (width == 0 || width > len)
		return 0;
	value = width == 1 ? bytes[0] : bytes[0] & (0x7fU >> width);
	for (unsigned i = 1; i < width; i++) {
		if (bytes[i] >> 6 != 2)
			return 0;
		value = value * 64 + bytes[i] % 64;
	}
	if (value < least[width] || value > 0x10ffff)
		return 0;
	if (!surrogates && value / 0x800 == 0x1b)
		return 0;
	*point = value;
	return width;
}

static size_t spec_span(const unsigned char *bytes, size_t len)
{
	size_t at = 0;

	while (at < len) {
		uint32_t point;
		unsigned width = spec_decode(bytes + at, len - at, false, &point);

		if (width == 0)
			return at;
		at += width;
	}
	return len;
}

/* The Encoding Standard's "UTF-8 decoder", step by step, and its "decode" with
 * the mark taken off before. */
static size_t spec_repair(const unsigned char *bytes, size_t len, char *to)
{
	unsigned needed = 0, seen = 0, lower = 0x80, upper = 0xbf;
	char pending[4];
	size_t out = 0;
	size_t at = len >= 3 && bytes[0] == 0xef && bytes[1] == 0xbb && bytes[2] == 0xbf ? 3 : 0;

	for (; at < len; at++) {
		unsigned char byte = bytes[at];

		if (needed > 0 && (byte < lower || byte > upper)) {
			memcpy(to + out, "\xef\xbf\xbd", 3);
			out += 3;
			needed = 0;
			at--; /* the byte is looked at again */
			lower = 0x80;
			upper = 0xbf;
			continue;
		}
		if (needed > 0) {
			pending[seen++] = (char)byte;
			lower = 0x80;
			upper = 0xbf;
			if (seen == needed + 1) {
				memcpy(to + out, pending, seen);
				out += seen;
				needed = 0;
			}
			continue;
		}
		if (byte < 0x80) {
			to[out++] = (char)byte;
			continue;
		}
		if (byte < 0xc2 || byte > 0xf4) {
			memcpy(to + out, "\xef\xbf\xbd", 3);
			out += 3;
			continue;
		}
		needed = byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3;
		lower = byte == 0xe0 ? 0xa0 : byte == 0xf0 ? 0x90 : 0x80;
		upper = byte == 0xed ? 0x9f : byte == 0xf4 ? 0x8f : 0xbf;
		pending[0] = (char)byte;
		seen = 1;
	}
	if (needed > 0) {
		memcpy(to + out, "\xef\xbf\xbd", 3);
		out += 3;
	}
	return out;
}

/* ---- comparison ---- */

#define LONGEST 8

static void compare(const unsigned char *sequence, size_t len)
{
	const char *bytes = (const char *)sequence;
	char mine[3 * LONGEST], theirs[3 * LONGEST];
	size_t size;
	bool same = utf8_span(bytes, len) == spec_span(sequence, len);

	for (unsigned surrogates = 0; surrogates < 2 && len > 0; surrogates++) {
		uint32_t a = 0x12345678, b = 0x12345678;
		unsigned width = utf8_decode(bytes, len, surrogates, &a);

		same = same && width == spec_decode(sequence, len, surrogates, &b) && a == b;
	}
	size = utf8_repair(bytes, len, mine, 3 * len);
	same = same && size == spec_repair(sequence, len, theirs) &&
	       memcmp(mine, theirs, size) == 0;
	if (!same) {
		for (size_t i = 0; i < len; i++)
			print_error("%02x ", sequence[i]);
		print_error("\n");
		fail();
	}
}

static void test_all_short_sequences(void **state)
{
	size_t cases = 0;

	(void)state;
	for (unsigned len = 0; len <= 3; len++) {
		for (uint32_t n = 0; n < (uint32_t)1 << (8 * len); n++, cases++) {
			unsigned char bytes[3] = {n & 255, n >> 8 & 255, n >> 16 & 255};

			compare(bytes, len);
		}
	}
	print_message("%zu sequences of up to three bytes\n", cases);
}

/* Longer ones over the bytes at which anything changes. */
static void test_edge_sequences(void **state)
{
	static const unsigned char edges[] = {0x00, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf,
	                                      0xc1, 0xc2, 0xe0, 0xed, 0xef, 0xf0, 0xf4, 0xf5};
	size_t cases = 0;

	(void)state;
	for (unsigned len = 4; len <= 5; len++) {
		for (uint32_t n = 0; n < (uint32_t)1 << (4 * len); n++, cases++) {
			unsigned char bytes[5];

			for (unsigned i = 0; i < len; i++)
				bytes[i] = edges[n >> (4 * i) & 15];
			compare(bytes, len);
		}
	}
	print_message("%zu sequences of four and five edge bytes\n", cases);
}

static void test_every_code_point(void **state)
{
	size_t cases = 0;

	(void)state;
	for (uint32_t point = 0; point <= 0x10ffff; point++, cases++) {
		char bytes[4];
		uint32_t back = 0x12345678;
		unsigned width = utf8_encode(point, bytes);
		bool surrogate = point >= 0xd800 && point <= 0xdfff;

		assert_int_equal(width, 1 + (point > 0x7f) + (point > 0x7ff) + (point > 0xffff));
		assert_int_equal(utf8_decode(bytes, width, true, &back), width);
		assert_int_equal(back, point);
		assert_int_equal(utf8_decode(bytes, width - 1, true, &back), 0);
		assert_int_equal(utf8_decode(bytes, width, false, &back), surrogate ? 0 : width);
		assert_int_equal(utf8_valid(bytes, width), !surrogate);
	}
	print_message("%zu code points\n", cases);
}

static void test_encode_limits(void **state)
{
	char bytes[4] = "abcd";

	(void)state;
	assert_int_equal(utf8_encode(0x110000, bytes), 0);
	assert_int_equal(utf8_encode(UINT32_MAX, bytes), 0);
	assert_memory_equal(bytes, "abcd", 4);
	assert_int_equal(utf8_encode(0x10ffff, bytes), 4);
	assert_memory_equal(bytes, "\xf4\x8f\xbf\xbf", 4);
	assert_int_equal(utf8_encode(0xd800, bytes), 3);
	assert_memory_equal(bytes, "\xed\xa0\x80", 3);
	assert_int_equal(utf8_encode(0, bytes), 1);
	assert_int_equal(bytes[0], 0);
}

static void test_decode_untouched(void **state)
{
	uint32_t point = 7;

	(void)state;
	assert_int_equal(utf8_decode("a", 0, false, &point), 0);
	assert_int_equal(utf8_decode("\xed\xa0\x80", 3, false, &point), 0);
	assert_int_equal(utf8_decode("\xff", 1, true, &point), 0);
	assert_int_equal(point, 7);
}

static void test_span(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
		size_t span;
	} rows[] = {
	        {T(""), 0},
	        {T("abc"), 3},
	        {T("a\0b"), 3},
	        {T("a\xff"), 1},
	        {T("\xc3\xa9\xc3"), 2},
	        {T("\xf0\x9f\x98\x80\xf0\x9f\x98"), 4},
	        {T("\xef\xbb\xbf"), 3},
	        {T("ab\xed\xa0\x80"), 2},
	        {T("\xc0\x80"), 0},
	        {T("abc\x80xyz"), 3},
	        {"a\xc3\xa9", 2, 1}, /* what stands behind the text is not read */
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_int_equal(utf8_span(rows[i].bytes, rows[i].len), rows[i].span);
		assert_int_equal(utf8_valid(rows[i].bytes, rows[i].len),
		                 rows[i].span == rows[i].len);
	}
}

#define M "\xef\xbf\xbd" /* the mark, U+FFFD */

static void test_repair(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
		const char *repaired;
		size_t size;
	} rows[] = {
	        {T(""), T("")},
	        {T("abc"), T("abc")},
	        {T("a\0b"), T("a\0b")},
	        {T("\xc3\xa9\xe2\x82\xac"), T("\xc3\xa9\xe2\x82\xac")},
	        {T("\xf0\x9f\x98\x80"), T("\xf0\x9f\x98\x80")},
	        /* one mark a maximal subpart */
	        {T("\xc0\x80"), T(M M)},
	        {T("\xf0\x9f\x98"), T(M)},
	        {T("\xf0\x9f\x98x"), T(M "x")},
	        {T("\xf0\x9f\x98\xf0\x9f\x98\x80"), T(M "\xf0\x9f\x98\x80")},
	        {T("\xed\xa0\x80"), T(M M M)},
	        {T("\xed\x9f"), T(M)},
	        {T("\xe0\x80\x80"), T(M M M)},
	        {T("\xe0\xa0"), T(M)},
	        {T("\xf0\x80\x80\x80"), T(M M M M)},
	        {T("\xf4\x8f\xbf"), T(M)},
	        {T("\xf4\x90\x80\x80"), T(M M M M)},
	        {T("\xf5\x80"), T(M M)},
	        {T("\xff\xfe"), T(M M)},
	        {T("\xc3"), T(M)},
	        {T("\xc3\xc3\xa9"), T(M "\xc3\xa9")},
	        {T("\x80\xbf"), T(M M)},
	        {T("a\xe2\x82" "b\xe2\x82\xac"), T("a" M "b\xe2\x82\xac")},
	        {T("\xe2\x82\xe2\x82\xac"), T(M "\xe2\x82\xac")},
	        /* the byte order mark: one, at the very start */
	        {T("\xef\xbb\xbf"), T("")},
	        {T("\xef\xbb\xbf{}"), T("{}")},
	        {T("\xef\xbb\xbf\xef\xbb\xbf{}"), T("\xef\xbb\xbf{}")},
	        {T("{\xef\xbb\xbf}"), T("{\xef\xbb\xbf}")},
	        {T("\xef\xbb"), T(M)},
	        {T("\xef\xbb{"), T(M "{")},
	        {T("\xff\xef\xbb\xbf"), T(M "\xef\xbb\xbf")},
	        /* what stands behind the text is not read */
	        {"\xef\xbb\xbf", 2, T(M)},
	        {"a\xc3\xa9", 2, T("a" M)},
	};
	char to[64];

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_int_equal(utf8_repair(rows[i].bytes, rows[i].len, to, sizeof(to)),
		                 rows[i].size);
		assert_memory_equal(to, rows[i].repaired, rows[i].size);
		/* Exactly enough room, and one byte less. */
		assert_int_equal(utf8_repair(rows[i].bytes, rows[i].len, to, rows[i].size),
		                 rows[i].size);
		if (rows[i].size > 0)
			assert_int_equal(utf8_repair(rows[i].bytes, rows[i].len, to,
			                             rows[i].size - 1),
			                 SIZE_MAX);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_all_short_sequences),
	        cmocka_unit_test(test_edge_sequences),
	        cmocka_unit_test(test_every_code_point),
	        cmocka_unit_test(test_encode_limits),
	        cmocka_unit_test(test_decode_untouched),
	        cmocka_unit_test(test_span),
	        cmocka_unit_test(test_repair),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

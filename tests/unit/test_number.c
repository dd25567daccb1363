/* SPDX-License-Identifier: ISC */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "../../policy/number.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define TOP UINT64_MAX

struct row {
	const char *text;
	uint64_t min, max;
	enum number_result result;
	uint64_t value; /* on NUMBER_OK */
};

typedef enum number_result reader(const char *digits, size_t len, uint64_t min, uint64_t max,
                                  uint64_t *out);

static void check(reader *read, const struct row *row)
{
	uint64_t value = 0x5a5a5a5a;
	enum number_result result = read(row->text, strlen(row->text), row->min, row->max, &value);

	if (result != row->result)
		print_error("\"%s\"\n", row->text);
	assert_int_equal(result, row->result);
	assert_true(value == (result == NUMBER_OK ? row->value : 0x5a5a5a5a));
}

static void test_integer(void **state)
{
	static const struct row rows[] = {
	        {"0", 0, TOP, NUMBER_OK, 0},
	        {"1", 0, TOP, NUMBER_OK, 1},
	        {"9", 0, TOP, NUMBER_OK, 9},
	        {"10", 0, TOP, NUMBER_OK, 10},
	        {"1234567890", 0, TOP, NUMBER_OK, 1234567890},
	        /* the edges of 64 bits */
	        {"9223372036854775807", 0, TOP, NUMBER_OK, 9223372036854775807U},
	        {"9223372036854775808", 0, TOP, NUMBER_OK, 9223372036854775808U},
	        {"18446744073709551609", 0, TOP, NUMBER_OK, 18446744073709551609U},
	        {"18446744073709551614", 0, TOP, NUMBER_OK, TOP - 1},
	        {"18446744073709551615", 0, TOP, NUMBER_OK, TOP},
	        {"18446744073709551616", 0, TOP, NUMBER_RANGE, 0},
	        {"18446744073709551620", 0, TOP, NUMBER_RANGE, 0},
	        {"18446744073709551625", 0, TOP, NUMBER_RANGE, 0},
	        {"20000000000000000000", 0, TOP, NUMBER_RANGE, 0},
	        {"184467440737095516150", 0, TOP, NUMBER_RANGE, 0},
	        {"36893488147419103232", 0, TOP, NUMBER_RANGE, 0}, /* 2^65, 0 if it wrapped */
	        {"99999999999999999999999999999999999999999", 0, TOP, NUMBER_RANGE, 0},
	        /* bounds are inclusive */
	        {"7", 8, 10, NUMBER_RANGE, 0},
	        {"8", 8, 10, NUMBER_OK, 8},
	        {"9", 8, 10, NUMBER_OK, 9},
	        {"10", 8, 10, NUMBER_OK, 10},
	        {"11", 8, 10, NUMBER_RANGE, 0},
	        {"5", 5, 5, NUMBER_OK, 5},
	        {"0", 1, TOP, NUMBER_RANGE, 0},
	        {"5", 10, 1, NUMBER_RANGE, 0},
	        /* grammar comes before range */
	        {"", 0, TOP, NUMBER_GRAMMAR, 0},
	        {"00", 0, TOP, NUMBER_GRAMMAR, 0},
	        {"01", 0, TOP, NUMBER_GRAMMAR, 0},
	        {"007", 0, TOP, NUMBER_GRAMMAR, 0},
	        {"-0", 0, TOP, NUMBER_GRAMMAR, 0},
	        {"-1", 0, TOP, NUMBER_GRAMMAR, 0},
	        {"+1", 0, TOP, NUMBER_GRAMMAR, 0},
	        {" 1", 0, TOP, NUMBER_GRAMMAR, 0},
	        {"1 ", 0, TOP, NUMBER_GRAMMAR, 0},
	        {"1\n", 0, TOP, NUMBER_GRAMMAR, 0},
	        {"1.0", 0, TOP, NUMBER_GRAMMAR, 0},
	        {"1.", 0, TOP, NUMBER_GRAMMAR, 0},
	        {"1e2", 0, TOP, NUMBER_GRAMMAR, 0},
	        {"1E2", 0, TOP, NUMBER_GRAMMAR, 0},
	        {"0x10", 0, TOP, NUMBER_GRAMMAR, 0},
	        {"0b1", 0, TOP, NUMBER_GRAMMAR, 0},
	        {"010", 0, TOP, NUMBER_GRAMMAR, 0},
	        {"1_000", 0, TOP, NUMBER_GRAMMAR, 0},
	        {"1,5", 0, TOP, NUMBER_GRAMMAR, 0},
	        {"1/2", 0, TOP, NUMBER_GRAMMAR, 0},
	        {"true", 0, TOP, NUMBER_GRAMMAR, 0},
	        {"\xef\xbc\x91", 0, TOP, NUMBER_GRAMMAR, 0}, /* a full-width digit */
	        {"99999999999999999999x", 0, TOP, NUMBER_GRAMMAR, 0},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		check(number_integer, &rows[i]);
}

static const struct row nano_rows[] = {
        {"0", 0, TOP, NUMBER_OK, 0},
        {"0.0", 0, TOP, NUMBER_OK, 0},
        {"0.000000000", 0, TOP, NUMBER_OK, 0},
        {"1", 0, TOP, NUMBER_OK, 1000000000},
        {"1.0", 0, TOP, NUMBER_OK, 1000000000},
        {"0.5", 0, TOP, NUMBER_OK, 500000000},
        {"0.50", 0, TOP, NUMBER_OK, 500000000},
        {"0.05", 0, TOP, NUMBER_OK, 50000000},
        {"2.25", 0, TOP, NUMBER_OK, 2250000000},
        {"10.000000001", 0, TOP, NUMBER_OK, 10000000001},
        {"0.123456789", 0, TOP, NUMBER_OK, 123456789},
        {"0.000000001", 0, TOP, NUMBER_OK, 1},
        {"0.999999999", 0, TOP, NUMBER_OK, 999999999},
        {"1024", 0, TOP, NUMBER_OK, 1024000000000},
        /* bounds, in billionths */
        {"0.009999999", 10000000, TOP, NUMBER_RANGE, 0},
        {"0.01", 10000000, TOP, NUMBER_OK, 10000000},
        {"1024", 0, 1024000000000, NUMBER_OK, 1024000000000},
        {"1024.000000001", 0, 1024000000000, NUMBER_RANGE, 0},
        /* the edges of 64 bits */
        {"18446744073.709551615", 0, TOP, NUMBER_OK, TOP},
        {"18446744073.709551616", 0, TOP, NUMBER_RANGE, 0},
        {"18446744073.70955162", 0, TOP, NUMBER_RANGE, 0},
        {"18446744073", 0, TOP, NUMBER_OK, 18446744073000000000U},
        {"18446744074", 0, TOP, NUMBER_RANGE, 0},
        {"18446744073709551615", 0, TOP, NUMBER_RANGE, 0},
        {"18446744073709551616.5", 0, TOP, NUMBER_RANGE, 0},
        {"99999999999999999999999999", 0, TOP, NUMBER_RANGE, 0},
        /* grammar */
        {"", 0, TOP, NUMBER_GRAMMAR, 0},
        {".", 0, TOP, NUMBER_GRAMMAR, 0},
        {".5", 0, TOP, NUMBER_GRAMMAR, 0},
        {"1.", 0, TOP, NUMBER_GRAMMAR, 0},
        {"0.", 0, TOP, NUMBER_GRAMMAR, 0},
        {"00.5", 0, TOP, NUMBER_GRAMMAR, 0},
        {"01.5", 0, TOP, NUMBER_GRAMMAR, 0},
        {"01", 0, TOP, NUMBER_GRAMMAR, 0},
        {"1.5.5", 0, TOP, NUMBER_GRAMMAR, 0},
        {"1..5", 0, TOP, NUMBER_GRAMMAR, 0},
        {"0.1234567890", 0, TOP, NUMBER_GRAMMAR, 0}, /* ten digits */
        {"0.0000000000", 0, TOP, NUMBER_GRAMMAR, 0},
        {"1,5", 0, TOP, NUMBER_GRAMMAR, 0},
        {"1/2", 0, TOP, NUMBER_GRAMMAR, 0},
        {"-1", 0, TOP, NUMBER_GRAMMAR, 0},
        {"-0.5", 0, TOP, NUMBER_GRAMMAR, 0},
        {"1.-5", 0, TOP, NUMBER_GRAMMAR, 0},
        {"+1", 0, TOP, NUMBER_GRAMMAR, 0},
        {"1e1", 0, TOP, NUMBER_GRAMMAR, 0},
        {"1.5e1", 0, TOP, NUMBER_GRAMMAR, 0},
        {" 1", 0, TOP, NUMBER_GRAMMAR, 0},
        {"1 ", 0, TOP, NUMBER_GRAMMAR, 0},
        {"1.5 ", 0, TOP, NUMBER_GRAMMAR, 0},
        {"1. 5", 0, TOP, NUMBER_GRAMMAR, 0},
        {"0x1", 0, TOP, NUMBER_GRAMMAR, 0},
        {"99999999999999999999.x", 0, TOP, NUMBER_GRAMMAR, 0},
};

static void test_nano(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(nano_rows); i++)
		check(number_nano, &nano_rows[i]);
}

/* The length rules: nothing behind it is looked at, and a NUL is a byte like
 * any other. */
static void test_length(void **state)
{
	uint64_t value = 7;

	(void)state;
	assert_int_equal(number_integer("123", 2, 0, TOP, &value), NUMBER_OK);
	assert_true(value == 12);
	assert_int_equal(number_integer("1\0", 2, 0, TOP, &value), NUMBER_GRAMMAR);
	assert_int_equal(number_integer("\0", 1, 0, TOP, &value), NUMBER_GRAMMAR);
	assert_int_equal(number_nano("1.25", 3, 0, TOP, &value), NUMBER_OK);
	assert_true(value == 1200000000);
	assert_int_equal(number_nano("1.25", 2, 0, TOP, &value), NUMBER_GRAMMAR);
	assert_int_equal(number_nano("1.2\0", 4, 0, TOP, &value), NUMBER_GRAMMAR);
}

/* Every number of up to five digits, and every byte in every place of one. */
static void test_exhaustive(void **state)
{
	char text[16];
	size_t cases = 0;

	(void)state;
	for (unsigned n = 0; n < 100000; n++, cases += 2) {
		uint64_t value = TOP;
		int len = sprintf(text, "%u", n);

		assert_int_equal(number_integer(text, (size_t)len, 0, TOP, &value), NUMBER_OK);
		assert_true(value == n);
		len = sprintf(text, "%u.%05u", n / 1000, n);
		assert_int_equal(number_nano(text, (size_t)len, 0, TOP, &value), NUMBER_OK);
		assert_true(value == n / 1000 * UINT64_C(1000000000) + n * UINT64_C(10000));
	}
	for (unsigned at = 0; at < 5; at++) {
		for (unsigned byte = 0; byte < 256; byte++, cases += 2) {
			bool digit = byte >= '0' && byte <= '9' && (at > 0 || byte != '0');
			bool nano = digit || (byte == '.' && at > 0 && at < 4);
			uint64_t value;

			memcpy(text, "98765", 5);
			text[at] = (char)byte;
			assert_int_equal(number_integer(text, 5, 0, TOP, &value),
			                 digit ? NUMBER_OK : NUMBER_GRAMMAR);
			assert_int_equal(number_nano(text, 5, 0, TOP, &value),
			                 nano ? NUMBER_OK : NUMBER_GRAMMAR);
		}
	}
	print_message("%zu numbers\n", cases);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_integer),
	        cmocka_unit_test(test_nano),
	        cmocka_unit_test(test_length),
	        cmocka_unit_test(test_exhaustive),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

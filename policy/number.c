/* SPDX-License-Identifier: ISC */
#include "number.h"

#include <stdbool.h>

#define NANO_DIGITS 9

/* A value built one digit at a time.  Once `over` is set it is more than
 * 2^64 - 1 and stays so. */
struct decimal {
	uint64_t value;
	bool over;
};

static const struct decimal zero = {0, false};

static struct decimal decimal_step(struct decimal before, unsigned digit)
{
	if (before.over || before.value > (UINT64_MAX - digit) / 10)
		return (struct decimal){0, true};
	return (struct decimal){before.value * 10 + digit, false};
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* The number of digits from text[at] on. */
static size_t digits_at(const char *text, size_t len, size_t at)
{
	size_t end = at;

	while (end < len && is_digit(text[end]))
		end++;
	return end - at;
}

/* "0", or digits of which the first is not zero: the length, 0 if neither. */
static size_t whole_part(const char *text, size_t len)
{
	size_t digits = digits_at(text, len, 0);

	return digits > 1 && text[0] == '0' ? 0 : digits;
}

static enum number_result bounded(struct decimal number, uint64_t min, uint64_t max, uint64_t *out)
{
	if (number.over || number.value < min || number.value > max)
		return NUMBER_RANGE;
	*out = number.value;
	return NUMBER_OK;
}

static struct decimal decimal_read(struct decimal number, const char *digits, size_t len)
{
	for (size_t i = 0; i < len; i++)
		number = decimal_step(number, (unsigned)(digits[i] - '0'));
	return number;
}

enum number_result number_integer(const char *digits, size_t len, uint64_t min, uint64_t max,
                                  uint64_t *out)
{
	if (len == 0 || whole_part(digits, len) != len)
		return NUMBER_GRAMMAR;
	return bounded(decimal_read(zero, digits, len), min, max, out);
}

enum number_result number_nano(const char *digits, size_t len, uint64_t min, uint64_t max,
                               uint64_t *out)
{
	size_t whole = whole_part(digits, len);
	size_t fraction = 0;
	struct decimal number;

	if (whole == 0)
		return NUMBER_GRAMMAR;
	if (whole < len) {
		fraction = digits_at(digits, len, whole + 1);
		if (digits[whole] != '.' || whole + 1 + fraction != len || fraction == 0 ||
		    fraction > NANO_DIGITS)
			return NUMBER_GRAMMAR;
	}
	number = decimal_read(zero, digits, whole);
	if (fraction > 0)
		number = decimal_read(number, digits + whole + 1, fraction);
	for (size_t i = fraction; i < NANO_DIGITS; i++)
		number = decimal_step(number, 0);
	return bounded(number, min, max, out);
}

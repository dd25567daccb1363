/* SPDX-License-Identifier: ISC */

/* The module itself, so that its one arithmetic step can be proved alone. */
#include "../policy/number.c"

#include "nondet.h"
#include "spec.h"

#define WORD_MAX UINT64_MAX

/* One digit: exactly 128-bit arithmetic, and beyond 64 bits for good. */
PROOF(number_step_exact)
{
	struct decimal before = {any_u64(), any_bool()};
	unsigned digit = (unsigned)any_up_to(9);
	struct decimal after = decimal_step(before, digit);
	spec_wide exact = (spec_wide)before.value * 10 + digit;

	PROVE(after.over == (before.over || exact > WORD_MAX), "over exactly when it does not fit");
	PROVE(after.over || after.value == exact, "exact");
}

/* Any sequence of at most this many digits, whole and small, against the
 * specification's value. */
PROOF(number_integer_exact)
{
	char text[FORMAL_N];
	size_t len = any_text(text, FORMAL_N);
	uint64_t min = any_u64(), max = any_u64(), out = 7;
	enum number_result result = number_integer(text, len, min, max, &out);
	bool form = spec_decimal_form(text, len, 0);

	PROVE((result == NUMBER_GRAMMAR) == !form, "grammar");
	if (form) {
		spec_wide value = spec_decimal_value(text, len, 0);

		PROVE((result == NUMBER_OK) == (value >= min && value <= max), "range");
		PROVE(result != NUMBER_OK || out == value, "value");
	}
	PROVE(result == NUMBER_OK || out == 7, "untouched on failure");
}

PROOF(number_nano_exact)
{
	char text[FORMAL_N];
	size_t len = any_text(text, FORMAL_N);
	uint64_t min = any_u64(), max = any_u64(), out = 7;
	enum number_result result = number_nano(text, len, min, max, &out);
	bool form = spec_decimal_form(text, len, 9);

	PROVE((result == NUMBER_GRAMMAR) == !form, "grammar");
	if (form) {
		spec_wide value = spec_decimal_value(text, len, 9);

		PROVE((result == NUMBER_OK) == (value >= min && value <= max), "range");
		PROVE(result != NUMBER_OK || out == value, "value");
	}
	PROVE(result == NUMBER_OK || out == 7, "untouched on failure");
}

#ifdef CBMC

/*
 * Any number of digits: decimal_step is replaced by a recorder that answers
 * anything at all.  What the parsers then do is feed it the digits, each once
 * and in order, and judge its last answer; with number_step_exact, which says
 * what the real step answers, the result is the exact one.
 */
static unsigned fed[FORMAL_N + 9];
static size_t fed_count;
static struct decimal answer;

struct decimal recorded_step(struct decimal before, unsigned digit);

struct decimal recorded_step(struct decimal before, unsigned digit)
{
	PROVE(fed_count < FORMAL_N + 9 && digit <= 9, "digits only");
	PROVE(fed_count == 0 ? before.value == 0 && !before.over
	                     : before.value == answer.value && before.over == answer.over,
	      "each step begins where the last ended");
	fed[fed_count++] = digit;
	answer = (struct decimal){any_u64(), any_bool()};
	return answer;
}

/* The digits of text, then zeros up to `places` behind the point. */
static void prove_fed(const char *text, size_t len, size_t places)
{
	size_t point = spec_point(text, len);
	size_t whole = point;
	size_t digits = point == len ? len : len - 1;

	PROVE(fed_count == whole + places, "each digit is fed");
	for (size_t i = 0; i < FORMAL_N + 9; i++) {
		size_t at = i < whole ? i : i + 1;

		PROVE(i >= fed_count ||
		              fed[i] == (i < digits ? (unsigned)(text[at] - '0') : 0U),
		      "in order");
	}
}

static void prove_judged(enum number_result result, uint64_t min, uint64_t max, uint64_t out)
{
	bool inside = !answer.over && answer.value >= min && answer.value <= max;

	PROVE(result == (inside ? NUMBER_OK : NUMBER_RANGE), "the bounds decide");
	PROVE(result != NUMBER_OK || out == answer.value, "the last answer is the value");
}

PROOF(number_integer_fold)
{
	char text[FORMAL_N];
	size_t len = any_text(text, FORMAL_N);
	uint64_t min = any_u64(), max = any_u64(), out = 7;
	enum number_result result = number_integer(text, len, min, max, &out);
	bool form = spec_decimal_form(text, len, 0);

	PROVE((result == NUMBER_GRAMMAR) == !form, "grammar");
	PROVE(result == NUMBER_OK || out == 7, "untouched on failure");
	if (form) {
		prove_fed(text, len, 0);
		prove_judged(result, min, max, out);
	}
}

PROOF(number_nano_fold)
{
	char text[FORMAL_N];
	size_t len = any_text(text, FORMAL_N);
	uint64_t min = any_u64(), max = any_u64(), out = 7;
	enum number_result result = number_nano(text, len, min, max, &out);
	bool form = spec_decimal_form(text, len, 9);

	PROVE((result == NUMBER_GRAMMAR) == !form, "grammar");
	PROVE(result == NUMBER_OK || out == 7, "untouched on failure");
	if (form) {
		prove_fed(text, len, 9);
		prove_judged(result, min, max, out);
	}
}

#endif

/* SPDX-License-Identifier: ISC */

/* The module itself: its code_point has no name outside. */
#include "../executor/holes.c"

#include "../policy/path.h"
#include "../policy/reason.h"
#include "nondet.h"
#include "spec.h"

/* A word: any bytes but NUL, then one. */
static size_t any_word(char word[FORMAL_N + 1])
{
	size_t len = any_text(word, FORMAL_N);

	for (size_t i = 0; i < FORMAL_N; i++)
		ASSUME(i >= len || word[i] != '\0');
	word[len] = '\0';
	return len;
}

PROOF(holes_canonical_exact)
{
	char path[FORMAL_N];
	size_t len = any_text(path, FORMAL_N);

	PROVE(holes_canonical((struct span){path, len}) == (len > 1 && spec_canonical(path, len)),
	      "canonical as specified, and not the root");
}

/* The executor's own, and the same relation as policy's. */
PROOF(holes_overlap_exact)
{
	char a[FORMAL_N], b[FORMAL_N];
	size_t a_len = any_text(a, FORMAL_N), b_len;
	struct span one = {a, a_len}, other;

	ASSUME(a_len > 1 && spec_canonical(a, a_len));
	b_len = any_text(b, FORMAL_N);
	ASSUME(b_len > 1 && spec_canonical(b, b_len));
	other = (struct span){b, b_len};
	PROVE(holes_below(one, other) == spec_contains(a, a_len, b, b_len), "below");
	PROVE(holes_overlap(one, other) == holes_overlap(other, one), "symmetric");
	PROVE(holes_overlap(one, other) == (spec_contains(a, a_len, b, b_len) ||
	                                    spec_contains(b, b_len, a, a_len)),
	      "overlap");
}

PROOF(holes_code_point_exact)
{
	char word[FORMAL_N + 1];
	size_t len = any_word(word);
	uint32_t code, expected;
	size_t width;

	ASSUME(len > 0);
	width = code_point(word, &code);
	PROVE(width == spec_utf8(word, len, 0, false, &expected), "width");
	PROVE(width == 0 || code == expected, "code point");
}

/* The bytes it takes are a number in bounds, and no digit is left behind. */
PROOF(holes_number_exact)
{
	char word[FORMAL_N + 1];
	size_t len = any_word(word);
	uint64_t least = any_u64(), most = any_u64();
	struct hole hole = {word, 0, true};
	uint64_t value = holes_number(&hole, least, most);
	size_t digits = 0;

	for (size_t i = 0; i < len; i++)
		digits += digits == i && spec_digit(word, len, i) ? 1 : 0;
	PROVE(hole.at == digits, "the digits and no more");
	if (digits == 0 || (digits > 1 && word[0] == '0')) {
		PROVE(!hole.ok, "no number");
		return;
	}
	PROVE(value == spec_decimal_value(word, digits, 0), "value");
	PROVE(hole.ok == (value >= least && value <= most), "bounds");
}

PROOF(holes_nano_exact)
{
	char word[FORMAL_N + 1];
	size_t len = any_word(word);
	uint64_t least = any_u64(), most = any_u64();
	struct hole hole = {word, 0, true};
	bool form;

	ASSUME(most <= 1024000000000U);
	holes_nano(&hole, least, most);
	form = spec_decimal_form(word, len, 9) &&
	       (spec_point(word, len) == len || word[len - 1] != '0');
	if (form && spec_point(word, len) < 5) {
		spec_wide nano = spec_decimal_value(word, len, 9);

		PROVE(holes_end(&hole) == (nano >= least && nano <= most), "bounds");
	} else if (!form) {
		PROVE(!holes_end(&hole), "no such decimal");
	}
}

/* A path hole: canonical, UTF-8, in bounds, and nothing that docker's CSV reads. */
PROOF(holes_path_exact)
{
	char word[FORMAL_N + 1];
	size_t len = any_word(word);
	size_t max = any_up_to(FORMAL_N);
	struct hole hole = {word, 0, true};
	struct span path = holes_path(&hole, max);
	size_t stop = len;
	bool plain;

	for (size_t i = len; i > 0; i--)
		stop = word[i - 1] == ',' || word[i - 1] == '"' ? i - 1 : stop;
	plain = spec_utf8_valid(word, stop);
	for (size_t i = 0; i < stop; i++)
		plain = plain && spec_at(word, len, i) >= 0x20 && spec_at(word, len, i) != 0x7f;
	PROVE(hole.ok == (plain && stop > 1 && stop <= max && spec_canonical(word, stop)), "taken");
	PROVE(path.len == (hole.ok ? stop : 0), "whole, or empty");
	PROVE(!hole.ok || hole.at == stop, "up to the stop");
}

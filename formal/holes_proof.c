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

/* Bounds at every tenth of a CPU, too: any_u64's are too far apart for a digit. */
PROOF(holes_nano_exact)
{
	char word[FORMAL_N + 1];
	size_t len = any_word(word);
	const uint64_t least = any_bool() ? any_u64() : any_up_to(12) * 100000000U;
	const uint64_t most = any_u64();
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

/* After the first fault nothing is taken, and nothing mends it. */
PROOF(holes_refusal_stays)
{
	char word[FORMAL_N + 1];
	size_t len = any_word(word);
	struct hole hole = {word, any_up_to(len), false};
	const size_t at = hole.at;

	switch (any_up_to(7)) {
	case 0: holes_byte(&hole, any_byte()); break;
	case 1: holes_text(&hole, "ab"); break;
	case 2: holes_of(&hole, DIGITS, "_", 1, SIZE_MAX); break;
	case 3: (void)holes_number(&hole, 0, any_u64()); break;
	case 4: holes_nano(&hole, 0, 1024000000000U); break;
	case 5: (void)holes_plain(&hole, "\n", ","); break;
	case 6: (void)holes_path(&hole, len); break;
	default: holes_json(&hole, (struct span){"a/", 2}); break;
	}
	PROVE(!hole.ok && hole.at == at, "as before");
	PROVE(!holes_end(&hole), "no end is good then");
}

PROOF(holes_text_exact)
{
	char word[FORMAL_N + 1], text[FORMAL_N + 1];
	size_t len = any_word(word);
	size_t text_len = any_word(text);
	struct hole hole = {word, any_up_to(len), true};
	const size_t from = hole.at;
	bool same = true;

	for (size_t i = 0; i < text_len; i++)
		same = same && spec_at(word, len, from + i) == spec_at(text, text_len, i);
	holes_text(&hole, text);
	PROVE(hole.ok == same, "all of the bytes");
	PROVE(!hole.ok || hole.at == from + text_len, "and no more");
	PROVE(hole.at <= len, "inside");
	PROVE(holes_end(&hole) == (same && from + text_len == len), "the end");
}

static bool among(int byte, const char *set)
{
	bool found = false;

	for (size_t i = 0; set[i] != '\0'; i++)
		found = found || byte == (unsigned char)set[i];
	return found;
}

/* Two sets, three bytes each. */
PROOF(holes_of_exact)
{
	static const char first[] = "ab9", other[] = "_-.";
	char word[FORMAL_N + 1];
	size_t len = any_word(word);
	size_t least = any_up_to(2), most = any_up_to(FORMAL_N);
	struct hole hole = {word, any_up_to(len), true};
	const size_t from = hole.at;
	size_t taken = 0;

	for (size_t i = 0; i < len; i++) {
		const int byte = spec_at(word, len, from + i);

		const bool one = among(byte, first) || (i > 0 && among(byte, other));

		taken += taken == i && one ? 1 : 0;
	}
	holes_of(&hole, first, other, least, most);
	PROVE(hole.at == from + taken, "all that belong to it");
	PROVE(hole.ok == (taken >= least && taken <= most), "as many as may be");
}

PROOF(holes_plain_exact)
{
	char word[FORMAL_N + 1];
	size_t len = any_word(word);
	struct hole hole = {word, 0, true};
	struct span span = holes_plain(&hole, "\n", ",");
	size_t stop = len;
	bool plain;

	for (size_t i = len; i > 0; i--)
		stop = word[i - 1] == ',' ? i - 1 : stop;
	plain = spec_utf8_valid(word, stop);
	for (size_t i = 0; i < stop; i++)
		plain = plain && word[i] != 0x7f &&
		        (spec_at(word, len, i) >= 0x20 || word[i] == '\n');
	PROVE(hole.ok == plain, "UTF-8 without controls but those named");
	PROVE(!hole.ok || (span.at == word && span.len == stop && hole.at == stop),
	      "up to the stop");
	PROVE(hole.at <= len, "inside");
}

#define ESCAPED (6 * FORMAL_N)

/* RFC 8259 section 7 in ASCII, into to[0..ESCAPED].  The length. */
static size_t spec_escaped(char *to, const char *text, size_t len)
{
	size_t out = 0;

	for (size_t i = 0; i < len; i++) {
		uint32_t point = 0;
		unsigned units[2], count = 1;

		if (spec_utf8(text, len, i, false, &point) == 0)
			continue; /* inside a sequence */
		units[0] = point;
		if (point > 0xffff) {
			units[0] = 0xd800 + (point - 0x10000) / 0x400;
			units[1] = 0xdc00 + (point - 0x10000) % 0x400;
			count = 2;
		}
		if (point >= 0x20 && point <= 0x7e) {
			if (point == '"' || point == '\\')
				to[out++] = '\\';
			to[out++] = (char)point;
			continue;
		}
		for (unsigned k = 0; k < count; k++) {
			to[out++] = '\\';
			to[out++] = 'u';
			for (unsigned d = 4; d > 0; d--)
				to[out++] = "0123456789abcdef"[units[k] >> 4 * (d - 1) & 15];
		}
	}
	return out;
}

/* It takes what the text is in JSON, whole, and nothing else. */
static void json_exact(void)
{
	char text[FORMAL_N + 1], good[ESCAPED + 1], word[ESCAPED + 1];
	size_t len = any_word(text), good_len, at;
	struct hole hole = {word, 0, true};

	ASSUME(spec_utf8_valid(text, len));
	good_len = spec_escaped(good, text, len);
	good[good_len] = '\0';
	for (size_t i = 0; i <= ESCAPED; i++)
		word[i] = i < good_len ? good[i] : '\0';
	holes_json(&hole, (struct span){text, len});
	PROVE(holes_end(&hole) && hole.at == good_len, "this text");
	if (good_len == 0)
		return;
	at = any_up_to(good_len - 1);
	word[at] = any_byte();
	ASSUME(word[at] != good[at]);
	hole = (struct hole){word, 0, true};
	holes_json(&hole, (struct span){text, len});
	PROVE(!hole.ok, "none that differs");
}

PROOF(holes_json_exact)
{
	json_exact();
}

/* The same of longer texts: those beyond U+FFFF take four bytes. */
PROOF(holes_json_pairs)
{
	json_exact();
}

/* Bytes that are not UTF-8 stand for nothing. */
PROOF(holes_json_utf8)
{
	char text[FORMAL_N + 1], word[ESCAPED + 1];
	size_t len = any_word(text);
	struct hole hole = {word, 0, true};

	ASSUME(!spec_utf8_valid(text, len));
	for (size_t i = 0; i < ESCAPED; i++)
		word[i] = any_byte();
	word[ESCAPED] = '\0';
	holes_json(&hole, (struct span){text, len});
	PROVE(!hole.ok, "refused");
}

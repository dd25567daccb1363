/* SPDX-License-Identifier: ISC */
#ifndef COFFERDAM_FORMAL_SPEC_H
#define COFFERDAM_FORMAL_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../policy/reason.h"

/*
 * What the pure modules must compute, said in another way than they compute it:
 * by position, without state carried from one byte to the next, without leaving
 * a loop early.  (Both also make CBMC's formulas small.)
 *
 * SPEC_TEXT bounds the texts that spec functions with a table of their own take.
 */

#ifndef SPEC_TEXT
#define SPEC_TEXT 64
#endif

#define SPEC_UNUSED __attribute__((unused))

/* The byte at i, -1 behind the end. */
static inline int spec_at(const char *text, size_t len, size_t i)
{
	return i < len ? (unsigned char)text[i] : -1;
}

/* ---- paths ---- */

/* A component ends before i. */
static inline bool spec_stop(const char *path, size_t len, size_t i)
{
	return spec_at(path, len, i) == -1 || spec_at(path, len, i) == '/';
}

/* A slash at i, and behind it a component that is empty, "." or "..". */
static inline bool spec_slash_before_no_name(const char *path, size_t len, size_t i)
{
	int first = spec_at(path, len, i + 1);
	int second = spec_at(path, len, i + 2);

	return spec_at(path, len, i) == '/' &&
	       (spec_stop(path, len, i + 1) || (first == '.' && spec_stop(path, len, i + 2)) ||
	        (first == '.' && second == '.' && spec_stop(path, len, i + 3)));
}

SPEC_UNUSED static bool spec_canonical(const char *path, size_t len)
{
	bool ok = true;

	for (size_t i = 0; i < len; i++)
		ok = ok && !spec_slash_before_no_name(path, len, i);
	return spec_at(path, len, 0) == '/' && (len == 1 || ok);
}

/* Of canonical paths. */
SPEC_UNUSED static bool spec_contains(const char *outer, size_t outer_len, const char *inner,
                                      size_t inner_len)
{
	bool same = true;

	for (size_t i = 0; i < outer_len; i++)
		same = same && spec_at(outer, outer_len, i) == spec_at(inner, inner_len, i);
	return outer_len == 1 || (same && spec_stop(inner, inner_len, outer_len));
}

/* A path as the list of its components: the definition that people have in
 * mind, slow to prove with. */
struct spec_path {
	size_t count;
	size_t start[SPEC_TEXT + 1];
	size_t len[SPEC_TEXT + 1];
};

SPEC_UNUSED static void spec_split(struct spec_path *out, const char *path, size_t len)
{
	size_t start = 0;

	out->count = 0;
	for (size_t i = 0; i <= len; i++) {
		if (!spec_stop(path, len, i))
			continue;
		if (i > start) {
			out->start[out->count] = start;
			out->len[out->count++] = i - start;
		}
		start = i + 1;
	}
}

SPEC_UNUSED static bool spec_contains_by_components(const char *outer, size_t outer_len,
                                                    const char *inner, size_t inner_len)
{
	struct spec_path a, b;
	bool ok;

	spec_split(&a, outer, outer_len);
	spec_split(&b, inner, inner_len);
	ok = a.count <= b.count;
	for (size_t i = 0; ok && i < a.count; i++) {
		ok = a.len[i] == b.len[i];
		for (size_t k = 0; ok && k < a.len[i]; k++)
			ok = outer[a.start[i] + k] == inner[b.start[i] + k];
	}
	return ok;
}

static inline bool spec_component_is(const char *path, const struct spec_path *list, size_t i,
                                     size_t dots)
{
	bool ok = list->len[i] == dots;

	for (size_t k = 0; ok && k < dots; k++)
		ok = path[list->start[i] + k] == '.';
	return ok;
}

/* Without ".", and each ".." with the name that it takes back gone, nothing is
 * left. */
SPEC_UNUSED static bool spec_names_root(const char *path, size_t len)
{
	struct spec_path list;
	size_t left[SPEC_TEXT + 1];
	size_t count = 0;

	spec_split(&list, path, len);
	for (size_t i = 0; i < list.count; i++) {
		if (spec_component_is(path, &list, i, 1))
			continue;
		if (!spec_component_is(path, &list, i, 2))
			left[count++] = i;
		else
			count -= count > 0 ? 1 : 0;
	}
	(void)left;
	return count == 0;
}

SPEC_UNUSED static bool spec_component_over(const char *path, size_t len, size_t max)
{
	struct spec_path list;
	bool over = false;

	spec_split(&list, path, len);
	for (size_t i = 0; i < list.count; i++)
		over = over || list.len[i] > max;
	return over;
}

/* ---- UTF-8, by arithmetic (RFC 3629 section 3) ---- */

static inline bool spec_tail(const char *bytes, size_t len, size_t i)
{
	int byte = spec_at(bytes, len, i);

	return byte >= 0x80 && byte <= 0xbf;
}

/* How long the sequence would be that the byte at i begins; 0 for none. */
static inline unsigned spec_lead(const char *bytes, size_t len, size_t i)
{
	int byte = spec_at(bytes, len, i);

	if (byte < 0)
		return 0;
	if (byte < 0x80)
		return 1;
	if (byte >= 0xc0 && byte <= 0xdf)
		return 2;
	if (byte >= 0xe0 && byte <= 0xef)
		return 3;
	return byte >= 0xf0 && byte <= 0xf7 ? 4 : 0;
}

/* The length of the well-formed sequence at i, 0 when there is none. */
SPEC_UNUSED static unsigned spec_utf8(const char *bytes, size_t len, size_t i, bool surrogates,
                                      uint32_t *point)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	static const uint32_t mask[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
	unsigned width = spec_lead(bytes, len, i);
	uint32_t value = (uint32_t)spec_at(bytes, len, i) & mask[width];
	bool ok = width > 0;

	for (unsigned k = 1; k < 4; k++) {
		if (k >= width)
			continue;
		ok = ok && spec_tail(bytes, len, i + k);
		value = value * 64 + ((uint32_t)spec_at(bytes, len, i + k) & 0x3f);
	}
	ok = ok && value >= least[width] && value <= 0x10ffff &&
	     (surrogates || value < 0xd800 || value > 0xdfff);
	*point = value;
	return ok ? width : 0;
}

/* Every byte below end leads a sequence that ends by then, or lies in one. */
SPEC_UNUSED static bool spec_utf8_valid(const char *bytes, size_t end)
{
	uint32_t point;
	bool ok = true;

	for (size_t i = 0; i < end; i++) {
		bool inside = (i >= 1 && spec_lead(bytes, end, i - 1) >= 2) ||
		              (i >= 2 && spec_lead(bytes, end, i - 2) >= 3 &&
		               spec_tail(bytes, end, i - 1)) ||
		              (i >= 3 && spec_lead(bytes, end, i - 3) >= 4 &&
		               spec_tail(bytes, end, i - 1) && spec_tail(bytes, end, i - 2));

		ok = ok && (spec_tail(bytes, end, i)
		                    ? inside
		                    : spec_utf8(bytes, end, i, false, &point) > 0);
	}
	return ok;
}

/* ---- decimal numbers ---- */

typedef unsigned __int128 spec_wide;

static inline bool spec_digit(const char *text, size_t len, size_t i)
{
	return spec_at(text, len, i) >= '0' && spec_at(text, len, i) <= '9';
}

/* Where the point is; len when there is none. */
SPEC_UNUSED static size_t spec_point(const char *text, size_t len)
{
	size_t point = len;

	for (size_t i = len; i > 0; i--)
		point = text[i - 1] == '.' ? i - 1 : point;
	return point;
}

/* The grammar: digits, no needless zero in front; with a point, one to `places`
 * digits behind it. */
SPEC_UNUSED static bool spec_decimal_form(const char *text, size_t len, size_t places)
{
	size_t point = spec_point(text, len);
	bool ok = point > 0 && !(point > 1 && text[0] == '0') &&
	          (point == len || (len - point - 1 >= 1 && len - point - 1 <= places));

	for (size_t i = 0; i < len; i++)
		ok = ok && (i == point || spec_digit(text, len, i));
	return ok;
}

/* In units of 10^-places.  At most 20 digits in all, or it would not fit. */
SPEC_UNUSED static spec_wide spec_decimal_value(const char *text, size_t len, size_t places)
{
	size_t point = spec_point(text, len);
	spec_wide value = 0;

	for (size_t i = 0; i < len; i++)
		value = i == point ? value : value * 10 + (unsigned)(text[i] - '0');
	for (size_t i = 0; i < places; i++)
		value = point + 1 + i < len ? value : value * 10;
	return value;
}

/* ---- JSON (RFC 8259) ---- */

/* What a scanner says: where, and why not.  `why` is one of enum reason's. */
struct spec_scan {
	size_t at;
	int why;
};

/* A control byte and ill-formed UTF-8 are called so whatever was expected. */
#define SPEC_BLAME(text, len, i, otherwise) \
	((struct spec_scan){(i), spec_at(text, len, i) < 0 ? REASON_JSON_TRUNCATED \
	                         : spec_at(text, len, i) < 0x20 ? REASON_JSON_CONTROL \
	                         : spec_utf8(text, len, i, false, &(uint32_t){0}) == 0 \
	                                 ? REASON_JSON_UTF8 \
	                                 : (otherwise)})

static inline bool spec_blank(int byte)
{
	return byte == 0x20 || byte == 0x09 || byte == 0x0a || byte == 0x0d;
}

/* A byte of numbers and literals. */
static inline bool spec_word(int byte)
{
	return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
	       (byte >= 'A' && byte <= 'Z') || byte == '+' || byte == '-' || byte == '.';
}

/* -1 for no hex digit. */
static inline int spec_hex(int byte)
{
	if (byte >= '0' && byte <= '9')
		return byte - '0';
	if (byte >= 'a' && byte <= 'f')
		return byte - 'a' + 10;
	return byte >= 'A' && byte <= 'F' ? byte - 'A' + 10 : -1;
}

/* text[0, len) as it is, or with a 0 behind it: what each byte's neighbours are. */
static inline int spec_number_at(const char *text, size_t len, bool zero, size_t i)
{
	return i == len && zero ? '0' : spec_at(text, len, i);
}

static inline bool spec_mark(int byte)
{
	return byte == 'e' || byte == 'E';
}

/* Section 6, as rules about neighbours. */
SPEC_UNUSED static bool spec_number(const char *text, size_t len, bool zero)
{
	size_t size = len + (zero ? 1 : 0);
	size_t first = spec_number_at(text, len, zero, 0) == '-' ? 1 : 0;
	bool point = false, mark = false, ok = size > 0;

	for (size_t i = 0; i < size; i++) {
		int c = spec_number_at(text, len, zero, i);
		int before = i > 0 ? spec_number_at(text, len, zero, i - 1) : -1;
		int after = spec_number_at(text, len, zero, i + 1);
		bool digit_before = before >= '0' && before <= '9';
		bool digit_after = after >= '0' && after <= '9';

		if (c >= '0' && c <= '9') {
			ok = ok && !(i == first + 1 && before == '0');
		} else if (c == '-' || c == '+') {
			ok = ok && digit_after && (spec_mark(before) || (i == 0 && c == '-'));
		} else if (c == '.') {
			ok = ok && digit_before && digit_after && !point && !mark;
			point = true;
		} else {
			ok = ok && spec_mark(c) && digit_before && !mark &&
			     (digit_after || after == '+' || after == '-');
			mark = true;
		}
	}
	return ok;
}

/* The longest prefix that can become a number, and whether it is one. */
SPEC_UNUSED static struct spec_scan spec_scan_number(const char *text, size_t len)
{
	size_t longest = 0;
	bool whole = false;

	for (size_t k = 1; k <= len; k++) {
		bool number = spec_number(text, k, false);

		if (number || spec_number(text, k, true)) {
			longest = k;
			whole = number;
		}
	}
	if (!whole)
		return SPEC_BLAME(text, len, longest, REASON_JSON_NUMBER);
	return (struct spec_scan){longest,
	                          spec_word(spec_at(text, len, longest)) ? REASON_JSON_NUMBER
	                                                                         : REASON_NONE};
}

SPEC_UNUSED static struct spec_scan spec_scan_literal(const char *text, size_t len)
{
	static const char words[3][6] = {"null", "true", "false"};
	const char *word = words[spec_at(text, len, 0) == 't'   ? 1
	                         : spec_at(text, len, 0) == 'f' ? 2
	                                                        : 0];
	size_t size = word == words[2] ? 5 : 4;
	size_t same = 0;

	for (size_t i = 0; i < size; i++)
		same += same == i && spec_at(text, len, i) == word[i] ? 1 : 0;
	if (same < size)
		return SPEC_BLAME(text, len, same, REASON_JSON_SYNTAX);
	return (struct spec_scan){same, spec_word(spec_at(text, len, same)) ? REASON_JSON_SYNTAX
	                                                                   : REASON_NONE};
}

/* Section 7, a byte a step from behind the opening quote. */
enum spec_string_state { SPEC_BODY, SPEC_ESCAPE, SPEC_HEX, SPEC_PAIR, SPEC_PAIR_U, SPEC_LOW };

SPEC_UNUSED static struct spec_scan spec_scan_string(const char *text, size_t len, bool lone)
{
	enum spec_string_state state = SPEC_BODY;
	struct spec_scan result = {len, REASON_JSON_TRUNCATED};
	size_t first = 0; /* the backslash of the escape */
	unsigned skip = 0, digits = 0;
	int unit = 0;
	bool over = false;

	for (size_t i = 1; i < len; i++) {
		int c = spec_at(text, len, i);
		uint32_t point;
		bool high, low;

		if (over)
			continue;
		if (skip > 0) {
			skip--;
			continue;
		}
		over = true; /* unless something below goes on */
		switch (state) {
		case SPEC_BODY:
			if (c == '"') {
				result = (struct spec_scan){i + 1, REASON_NONE};
			} else if (c == '\\') {
				first = i;
				state = SPEC_ESCAPE;
				over = false;
			} else if (c < 0x20 || spec_utf8(text, len, i, false, &point) == 0) {
				result = SPEC_BLAME(text, len, i, REASON_JSON_SYNTAX);
			} else {
				skip = spec_utf8(text, len, i, false, &point) - 1;
				over = false;
			}
			continue;
		case SPEC_ESCAPE:
			over = !(c == '"' || c == '\\' || c == '/' || c == 'b' || c == 'f' ||
			         c == 'n' || c == 'r' || c == 't' || c == 'u');
			state = c == 'u' ? SPEC_HEX : SPEC_BODY;
			digits = 0;
			unit = 0;
			if (over)
				result = SPEC_BLAME(text, len, i, REASON_JSON_ESCAPE);
			continue;
		case SPEC_PAIR:
		case SPEC_PAIR_U:
			over = c != (state == SPEC_PAIR ? '\\' : 'u');
			state = state == SPEC_PAIR ? SPEC_PAIR_U : SPEC_LOW;
			digits = 0;
			unit = 0;
			if (over)
				result = (struct spec_scan){first, REASON_JSON_SURROGATE};
			continue;
		case SPEC_HEX:
		case SPEC_LOW:
			break;
		}
		if (spec_hex(c) < 0) {
			result = SPEC_BLAME(text, len, i, REASON_JSON_ESCAPE);
			continue;
		}
		unit = unit * 16 + spec_hex(c);
		over = false;
		if (++digits < 4)
			continue;
		high = unit >= 0xd800 && unit <= 0xdbff;
		low = unit >= 0xdc00 && unit <= 0xdfff;
		over = state == SPEC_LOW ? !low : !lone && low;
		state = state == SPEC_HEX && !lone && high ? SPEC_PAIR : SPEC_BODY;
		if (over)
			result = (struct spec_scan){first, REASON_JSON_SURROGATE};
	}
	return result;
}

#endif

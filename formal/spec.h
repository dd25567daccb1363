/* SPDX-License-Identifier: ISC */
#ifndef COFFERDAM_FORMAL_SPEC_H
#define COFFERDAM_FORMAL_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

#endif

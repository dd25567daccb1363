/* SPDX-License-Identifier: ISC */
#include "holes.h"

#include <string.h>

#define NUMBER_DIGITS 19 /* so many always fit into 64 bits */
#define NANO 1000000000U

bool holes_end(const struct hole *hole)
{
	return hole->ok && hole->word[hole->at] == '\0';
}

void holes_byte(struct hole *hole, char want)
{
	hole->ok = hole->ok && hole->word[hole->at] == want;
	hole->at += hole->ok;
}

void holes_text(struct hole *hole, const char *want)
{
	for (size_t i = 0; want[i] != '\0'; i++)
		holes_byte(hole, want[i]);
}

static bool one_of(char byte, const char *set)
{
	return byte != '\0' && strchr(set, byte) != NULL;
}

void holes_of(struct hole *hole, const char *first, const char *other, size_t least, size_t most)
{
	const char *text = hole->word + hole->at;
	size_t len = 0;

	while (hole->ok && (one_of(text[len], first) || (len > 0 && one_of(text[len], other))))
		len++;
	hole->ok = hole->ok && len >= least && len <= most;
	hole->at += len;
}

uint64_t holes_number(struct hole *hole, uint64_t least, uint64_t most)
{
	const char *text = hole->word + hole->at;
	uint64_t value = 0;
	size_t len = 0;

	for (; hole->ok && len < NUMBER_DIGITS && one_of(text[len], DIGITS); len++)
		value = value * 10 + (uint64_t)(text[len] - '0');
	hole->ok = hole->ok && len > 0 && (len == 1 || text[0] != '0') && value >= least &&
	           value <= most;
	hole->at += len;
	return value;
}

void holes_nano(struct hole *hole, uint64_t least, uint64_t most)
{
	uint64_t nano = holes_number(hole, 0, most / NANO) * NANO;

	if (hole->ok && hole->word[hole->at] == '.') {
		hole->at++;
		for (uint64_t unit = NANO / 10; unit > 0 && one_of(hole->word[hole->at], DIGITS);
		     unit /= 10)
			nano += unit * (uint64_t)(hole->word[hole->at++] - '0');
		hole->ok = one_of(hole->word[hole->at - 1], "123456789");
	}
	hole->ok = hole->ok && nano >= least && nano <= most;
}

/* The code point that text begins with, and its length in bytes; 0 when it is
 * not UTF-8.  What ends a text is no continuation byte, so nothing behind the
 * end is read. */
static size_t code_point(const char *text, uint32_t *code)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	const uint8_t lead = (uint8_t)text[0];
	const size_t len = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
	bool ok = (lead < 0x80 || lead >= 0xc0) && lead < 0xf8;

	*code = len == 1 ? lead : lead & (0x7fU >> len);
	for (size_t i = 1; ok && i < len; i++) {
		ok = ((uint8_t)text[i] & 0xc0) == 0x80;
		*code = *code << 6 | ((uint8_t)text[i] & 0x3f);
	}
	ok = ok && *code >= least[len] && *code <= 0x10ffff && (*code < 0xd800 || *code > 0xdfff);
	return ok ? len : 0;
}

struct span holes_plain(struct hole *hole, const char *controls, const char *stop)
{
	struct span span = {hole->word + hole->at, 0};
	uint32_t code;

	while (hole->ok && span.at[span.len] != '\0' && !one_of(span.at[span.len], stop)) {
		const size_t width = code_point(span.at + span.len, &code);

		hole->ok = width > 0 && code != 0x7f &&
		           (code >= 0x20 || one_of((char)code, controls));
		span.len += width;
	}
	hole->at += span.len;
	return span;
}

struct span holes_path(struct hole *hole, size_t max)
{
	struct span path = holes_plain(hole, "", ",\"");

	hole->ok = hole->ok && path.len <= max && holes_canonical(path);
	path.len = hole->ok ? path.len : 0;
	return path;
}

/* \u and one UTF-16 code unit. */
static void json_unit(struct hole *hole, uint32_t unit)
{
	holes_text(hole, "\\u");
	for (int shift = 12; shift >= 0; shift -= 4)
		holes_byte(hole, HEX[unit >> shift & 0xf]);
}

void holes_json(struct hole *hole, struct span text)
{
	uint32_t code;
	size_t width;

	for (size_t at = 0; hole->ok && at < text.len; at += width) {
		width = code_point(text.at + at, &code);
		hole->ok = width > 0;
		if (code >= 0x10000) {
			json_unit(hole, 0xd7c0 + (code >> 10));
			code = 0xdc00 + (code & 0x3ff);
		}
		if (code == '"' || code == '\\')
			holes_byte(hole, '\\');
		if (code >= 0x20 && code < 0x7f)
			holes_byte(hole, (char)code);
		else
			json_unit(hole, code);
	}
}

bool holes_is(struct span span, const char *text)
{
	return span.len == strlen(text) && memcmp(span.at, text, span.len) == 0;
}

bool holes_canonical(struct span path)
{
	size_t name = 0, dots = 0; /* bytes of the component so far */
	bool ok = path.len > 1 && path.at[0] == '/';

	for (size_t i = 1; ok && i <= path.len; i++) {
		if (i < path.len && path.at[i] != '/') {
			name++;
			dots += path.at[i] == '.';
		} else {
			ok = name > 2 || name > dots;
			name = dots = 0;
		}
	}
	return ok;
}

bool holes_below(struct span outer, struct span inner)
{
	bool ok = outer.len <= inner.len && memcmp(outer.at, inner.at, outer.len) == 0;

	return ok && (outer.len == inner.len || inner.at[outer.len] == '/');
}

bool holes_overlap(struct span a, struct span b)
{
	return holes_below(a, b) || holes_below(b, a);
}

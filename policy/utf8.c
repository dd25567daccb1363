/* SPDX-License-Identifier: ISC */
#include "utf8.h"

#include <string.h>

/*
 * The well-formed sequences of RFC 3629 section 4, by lead byte.  Only the
 * second byte's range depends on the lead; any later byte is 80..BF.
 */
struct lead {
	unsigned char width; /* bytes of the whole sequence */
	unsigned char low, high; /* bounds of the second byte */
};

static const struct lead leads[] = {
	{2, 0x80, 0xbf}, /* C2..DF */
	{3, 0xa0, 0xbf}, /* E0; below A0: overlong */
	{3, 0x80, 0xbf}, /* E1..EC */
	{3, 0x80, 0x9f}, /* ED; above 9F: surrogates */
	{3, 0x80, 0xbf}, /* EE, EF */
	{4, 0x90, 0xbf}, /* F0; below 90: overlong */
	{4, 0x80, 0xbf}, /* F1..F3 */
	{4, 0x80, 0x8f}, /* F4; above 8F: beyond U+10FFFF */
};

#define LEAD_MIN 0xc2 /* the least byte that leads a sequence of two or more */

static const char mark[3] = "\xef\xbf\xbd"; /* U+FFFD */
static const char bom[3] = "\xef\xbb\xbf"; /* U+FEFF */

/* The row of a lead byte; width 1 for ASCII, 0 for a byte that leads nothing. */
static struct lead lead_of(unsigned char byte, bool surrogates)
{
	/* The index in leads of each lead byte, C2 first. */
	static const unsigned char row[] = {
		0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
		0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
		[0xe0 - LEAD_MIN] = 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 4, 4,
		[0xf0 - LEAD_MIN] = 5, 6, 6, 6, 7};
	struct lead lead = {byte < 0x80 ? 1 : 0, 0, 0};

	if (byte >= LEAD_MIN && byte < LEAD_MIN + sizeof(row))
		lead = leads[row[byte - LEAD_MIN]];
	if (surrogates && byte == 0xed)
		lead.high = 0xbf;
	return lead;
}

/* How many of the bytes at hand belong to the sequence that lead begins; at
 * most its width, at least 1 when it begins any. */
static unsigned matched(const char *bytes, size_t len, const struct lead *lead)
{
	unsigned good = lead->width > 0 ? 1 : 0;

	for (unsigned i = 1; i < lead->width; i++) {
		unsigned char low = i == 1 ? lead->low : 0x80;
		unsigned char high = i == 1 ? lead->high : 0xbf;

		if (good == i && i < len && (unsigned char)bytes[i] >= low &&
		    (unsigned char)bytes[i] <= high)
			good++;
	}
	return good;
}

unsigned utf8_decode(const char *bytes, size_t len, bool surrogates, uint32_t *point)
{
	/* The payload bits of a lead byte, by width. */
	static const unsigned char payload[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
	struct lead lead;
	uint32_t value;

	if (len == 0)
		return 0;
	lead = lead_of((unsigned char)bytes[0], surrogates);
	if (lead.width == 0 || matched(bytes, len, &lead) != lead.width)
		return 0;
	value = (unsigned char)bytes[0] & payload[lead.width];
	for (unsigned i = 1; i < lead.width; i++)
		value = value << 6 | ((unsigned char)bytes[i] & 0x3f);
	*point = value;
	return lead.width;
}

/* The length of the sequence at bytes[at], 0 when it is ill-formed. */
static unsigned width_at(const char *bytes, size_t len, size_t at)
{
	uint32_t point;

	if ((unsigned char)bytes[at] < 0x80)
		return 1;
	return utf8_decode(bytes + at, len - at, false, &point);
}

size_t utf8_span(const char *bytes, size_t len)
{
	size_t at = 0;

	while (at < len) {
		unsigned width = width_at(bytes, len, at);

		if (width == 0)
			break;
		at += width;
	}
	return at;
}

unsigned utf8_encode(uint32_t point, char to[4])
{
	/* The marker bits of a lead byte, by width. */
	static const unsigned char marker[] = {0, 0, 0xc0, 0xe0, 0xf0};
	unsigned width = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;

	if (point > 0x10ffff)
		return 0;
	for (unsigned i = width - 1; i > 0; i--) {
		to[i] = (char)(0x80 | (point & 0x3f));
		point >>= 6;
	}
	to[0] = (char)(marker[width] | point);
	return width;
}

size_t utf8_repair(const char *bytes, size_t len, char *to, size_t cap)
{
	size_t at = len >= sizeof(bom) && memcmp(bytes, bom, sizeof(bom)) == 0 ? sizeof(bom) : 0;
	size_t out = 0;

	while (at < len) {
		struct lead lead = lead_of((unsigned char)bytes[at], false);
		unsigned good = matched(bytes + at, len - at, &lead);
		bool whole = good > 0 && good == lead.width;
		size_t size = whole ? good : sizeof(mark);

		if (size > cap - out)
			return SIZE_MAX;
		memcpy(to + out, whole ? bytes + at : mark, size);
		out += size;
		at += good > 0 ? good : 1;
	}
	return out;
}

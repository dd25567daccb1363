/* SPDX-License-Identifier: ISC */
#include "text.h"

#include <string.h>

#include "utf8.h"

static const char hex_digits[] = "0123456789abcdef";

void text_init(struct text *text, char *buffer, size_t cap)
{
	*text = (struct text){.at = buffer, .cap = cap};
}

void text_bytes(struct text *text, const char *bytes, size_t len)
{
	if (text->full || len > text->cap - text->len) {
		text->full = true;
		return;
	}
	if (len > 0)
		memcpy(text->at + text->len, bytes, len);
	text->len += len;
}

void text_string(struct text *text, const char *string)
{
	text_bytes(text, string, strlen(string));
}

void text_u64(struct text *text, uint64_t value)
{
	char digits[20]; /* 2^64 - 1 has twenty */
	size_t at = sizeof(digits);

	do {
		digits[--at] = (char)('0' + value % 10);
		value /= 10;
	} while (value > 0 && at > 0);
	text_bytes(text, digits + at, sizeof(digits) - at);
}

/* Makes a put of many parts all or nothing: takes back what was written since
 * `mark` when the last part did not fit. */
static void settle(struct text *text, size_t mark)
{
	if (text->full)
		text->len = mark;
}

static void put_hex(struct text *text, uint8_t byte)
{
	char pair[2] = {hex_digits[byte >> 4], hex_digits[byte & 0x0f]};

	text_bytes(text, pair, sizeof(pair));
}

void text_hex(struct text *text, const uint8_t *bytes, size_t len)
{
	size_t mark = text->len;

	for (size_t i = 0; i < len && !text->full; i++)
		put_hex(text, bytes[i]);
	settle(text, mark);
}

void text_nano(struct text *text, uint64_t nano)
{
	char fraction[10] = ".";
	uint64_t rest = nano % 1000000000U;
	size_t mark = text->len;
	size_t len = 0;

	for (size_t i = 9; i > 0; i--) {
		fraction[i] = (char)('0' + rest % 10);
		rest /= 10;
		if (len == 0 && fraction[i] != '0')
			len = i + 1;
	}
	text_u64(text, nano / 1000000000U);
	text_bytes(text, fraction, len);
	settle(text, mark);
}

void text_unit(struct text *text, uint16_t unit)
{
	size_t mark = text->len;

	text_string(text, "\\u");
	put_hex(text, (uint8_t)(unit >> 8));
	put_hex(text, (uint8_t)(unit & 0xff));
	settle(text, mark);
}

static bool printable(unsigned char byte)
{
	return byte >= 0x20 && byte <= 0x7e;
}

void text_escaped(struct text *text, const char *bytes, size_t len)
{
	size_t mark = text->len;

	for (size_t i = 0; i < len && !text->full; i++) {
		unsigned char byte = (unsigned char)bytes[i];

		if (byte == '\\') {
			text_string(text, "\\\\");
		} else if (printable(byte)) {
			text_bytes(text, bytes + i, 1);
		} else {
			text_string(text, "\\x");
			put_hex(text, byte);
		}
	}
	settle(text, mark);
}

/* One code point as UTF-16 escapes (RFC 8259 section 7). */
static void put_point(struct text *text, uint32_t point)
{
	if (point > 0xffff) {
		text_unit(text, (uint16_t)(0xd800 + ((point - 0x10000) >> 10)));
		text_unit(text, (uint16_t)(0xdc00 + ((point - 0x10000) & 0x3ff)));
	} else {
		text_unit(text, (uint16_t)point);
	}
}

void text_json(struct text *text, const char *bytes, size_t len)
{
	size_t mark = text->len;
	size_t at = 0;

	text_string(text, "\"");
	while (at < len && !text->full) {
		uint32_t point = 0xfffd;
		unsigned width = utf8_decode(bytes + at, len - at, true, &point);

		if (point == '"' || point == '\\')
			text_string(text, "\\");
		if (point < 0x80 && printable((unsigned char)point))
			text_bytes(text, bytes + at, 1);
		else
			put_point(text, point);
		at += width > 0 ? width : 1;
	}
	text_string(text, "\"");
	settle(text, mark);
}

const char *text_keep(struct text *text, const char *bytes, size_t len)
{
	size_t mark = text->len;

	text_bytes(text, bytes, len);
	text_bytes(text, "", 1);
	settle(text, mark);
	return text->full ? NULL : text->at + mark;
}

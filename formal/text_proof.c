/* SPDX-License-Identifier: ISC */
#include "../policy/text.h"

#include <string.h>

#include "nondet.h"
#include "spec.h"

#ifndef FORMAL_MOST
#define FORMAL_MOST 9999
#endif
#define ROOM (6 * FORMAL_N + 2) /* what one put writes of FORMAL_N bytes, at most */
#define PIECE 4 /* what it copies at once, at most */

/* One put, of any kind. */
struct put {
	size_t kind, len;
	char bytes[FORMAL_N + 1];
	uint64_t value;
};

static void any_put(struct put *put)
{
	*put = (struct put){.kind = any_up_to(6)};
	if (put->kind < 5) {
		put->len = any_text(put->bytes, FORMAL_N);
		put->bytes[put->len] = '\0';
	} else {
		put->value = any_up_to(1200);
	}
	for (size_t i = 0; i < FORMAL_N; i++)
		ASSUME(put->kind != 0 || i >= put->len || put->bytes[i] != '\0');
}

static void do_put(struct text *text, const struct put *put)
{
	switch (put->kind) {
	case 0: text_string(text, put->bytes); break;
	case 1: text_bytes(text, put->bytes, put->len); break;
	case 2: text_hex(text, (const uint8_t *)put->bytes, put->len); break;
	case 3: text_escaped(text, put->bytes, put->len); break;
	case 4: text_json(text, put->bytes, put->len); break;
	case 5: text_unit(text, (uint16_t)put->value); break;
	default: text_u64(text, put->value); break;
	}
}

#ifdef CBMC

/* memcpy, a byte a step. */
void *some_copy(void *to, const void *from, size_t len);

void *some_copy(void *to, const void *from, size_t len)
{
	PROVE(len <= PIECE, "short");
	for (size_t i = 0; i < PIECE; i++)
		if (i < len)
			((char *)to)[i] = ((const char *)from)[i];
	return to;
}

#endif

/* Into any text, whose room ends where its array does: what it would write into an
 * empty and large one, whole and behind what is there, if that fits; else nothing,
 * and full for good. */
PROOF(text_put_whole)
{
	struct put put;
	char all[ROOM], room[ROOM], *buffer;
	struct text large, text = {.cap = any_up_to(ROOM)};
	size_t len, before;
	bool full;

	any_put(&put);
	text_init(&large, all, sizeof all);
	do_put(&large, &put);
	PROVE(!large.full && large.len <= ROOM, "all of it fits into a large one");
	text.at = buffer = room + ROOM - text.cap;
	text.len = len = any_up_to(text.cap);
	text.full = full = any_bool();
	before = text.cap;
	do_put(&text, &put);
	PROVE(text.at == buffer && text.cap == before, "the same buffer");
	PROVE(text.full == (full || large.len > text.cap - len), "full for good, or if it does not fit");
	PROVE(text.len == (text.full ? len : len + large.len), "whole or not at all");
	for (size_t i = 0; i < ROOM; i++)
		PROVE(text.full || i >= large.len || buffer[len + i] == all[i], "the same bytes");
}

PROOF(text_keep_exact)
{
	char bytes[FORMAL_N], buffer[FORMAL_N + 4];
	const size_t len = any_text(bytes, FORMAL_N);
	struct text arena = {buffer, any_up_to(sizeof buffer), 0, any_bool()};
	const bool full = arena.full;
	const char *kept;
	size_t before;

	arena.len = any_up_to(arena.cap);
	before = arena.len;
	kept = arena.len + len < arena.cap ? buffer + arena.len : NULL;
	PROVE(text_keep(&arena, bytes, len) == (full ? NULL : kept), "kept if there is room");
	if (full || kept == NULL) {
		PROVE(arena.full && arena.len == before, "full, and nothing in it");
		return;
	}
	for (size_t i = 0; i < FORMAL_N; i++)
		PROVE(i >= len || kept[i] == bytes[i], "the same bytes");
	PROVE(kept[len] == '\0', "and a NUL");
}

/* Decimal: the one form, and the value. */
PROOF(text_u64_exact)
{
	char digits[20];
	struct text text;
#ifdef CBMC
	const uint64_t value = any_up_to(FORMAL_MOST);
#else
	const uint64_t value = any_bool() ? any_u64() : any_up_to(99999);
#endif

	text_init(&text, digits, sizeof digits);
	text_u64(&text, value);
	PROVE(!text.full && spec_decimal_form(digits, text.len, 0), "decimal");
	PROVE(spec_decimal_value(digits, text.len, 0) == value, "the value");
}

/* In units of 10^-9, with no needless digit. */
PROOF(text_nano_exact)
{
	char digits[30];
	struct text text;
	const uint64_t value = (any_bool() ? any_u64() : any_up_to(9999) * 12345679U) %
	                       2000000000000U;

	text_init(&text, digits, sizeof digits);
	text_nano(&text, value);
	PROVE(!text.full && spec_decimal_form(digits, text.len, 9), "a decimal fraction");
	PROVE(spec_decimal_value(digits, text.len, 9) == value, "the value");
	PROVE(spec_point(digits, text.len) == text.len || digits[text.len - 1] != '0',
	      "no zero at the end");
}

/* Hex digits, two a byte, and \u with four. */
PROOF(text_hex_exact)
{
	char digits[6], escape[6];
	const uint8_t bytes[2] = {(uint8_t)any_byte(), (uint8_t)any_byte()};
	const unsigned unit = (unsigned)bytes[0] << 8 | bytes[1];
	struct text text;

	text_init(&text, digits, sizeof digits);
	text_hex(&text, bytes, 2);
	PROVE(text.len == 4, "four digits");
	text_init(&text, escape, sizeof escape);
	text_unit(&text, (uint16_t)unit);
	PROVE(text.len == 6 && escape[0] == '\\' && escape[1] == 'u', "an escape");
	for (unsigned i = 0; i < 4; i++) {
		const unsigned digit = unit >> (12 - 4 * i) & 15;

		PROVE(digits[i] == (char)(digit < 10 ? '0' + digit : 'a' + digit - 10), "hex");
		PROVE(escape[2 + i] == digits[i], "the same");
	}
}

/* For people: every byte can be read back, and nothing but printable ASCII. */
PROOF(text_escaped_exact)
{
	char bytes[FORMAL_N], to[4 * FORMAL_N];
	const size_t len = any_text(bytes, FORMAL_N);
	struct text text;
	size_t at = 0;

	text_init(&text, to, sizeof to);
	text_escaped(&text, bytes, len);
	PROVE(!text.full, "four bytes a byte are enough");
	for (size_t i = 0; i < len; i++) {
		const unsigned byte = (unsigned char)bytes[i];

		if (byte >= 0x20 && byte < 0x7f && byte != '\\') {
			PROVE(to[at] == bytes[i], "as it is");
			at += 1;
		} else if (byte == '\\') {
			PROVE(to[at] == '\\' && to[at + 1] == '\\', "doubled");
			at += 2;
		} else {
			PROVE(to[at] == '\\' && to[at + 1] == 'x' &&
			              spec_hex(to[at + 2]) == (int)(byte >> 4) &&
			              spec_hex(to[at + 3]) == (int)(byte & 15),
			      "in hex");
			at += 4;
		}
	}
	PROVE(at == text.len, "nothing else");
}

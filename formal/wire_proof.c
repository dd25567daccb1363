/* SPDX-License-Identifier: ISC */
#include "../ipc/wire.h"

#include <stdlib.h>

#include "nondet.h"
#include "spec.h"

/* ---- any length, by loop contract ---- */

#ifndef TEXT_MAX
#define TEXT_MAX 1073741824
#endif

size_t ghost;

#ifdef CBMC

/* Any reader in the midst of any bytes, which lie in an object of just their size. */
static struct wire_in any_in(void)
{
	struct wire_in in = {.len = any_up_to(TEXT_MAX), .bad = any_bool()};
	uint8_t *bytes = malloc(in.len);

	ASSUME(bytes != NULL);
	in.at = bytes;
	in.pos = any_up_to(in.len);
	return in;
}

/* The greatest value that a width holds. */
static uint64_t widest(unsigned width)
{
	return width >= 8 ? UINT64_MAX : ((uint64_t)1 << 8 * width) - 1;
}

static unsigned any_width(void)
{
	static const unsigned widths[] = {1, 2, 4, 8};

	return widths[any_up_to(3)];
}

PROOF(wire_get_safe)
{
	struct wire_in in = any_in();
	const struct wire_in before = in;
	const unsigned width = any_width();
	const uint64_t max = any_u64();
	const bool fits = width <= in.len - in.pos;
	uint64_t value, expected = 0;

	for (unsigned k = 0; k < 8; k++)
		if (fits && k < width)
			expected = expected << 8 | in.at[in.pos + k];
	value = wire_get(&in, width, max);
	PROVE(in.at == before.at && in.len == before.len && in.pos <= in.len, "inside");
	PROVE(!before.bad || (in.bad && in.pos == before.pos), "bad for good");
	PROVE(value <= max && value <= widest(width), "no greater than may be");
	PROVE(in.bad ? value == 0 : in.pos == before.pos + width, "all of its bytes");
	PROVE(before.bad || in.bad == (!fits || expected > max), "bad iff short or too great");
	PROVE(in.bad || value == expected, "big-endian");
}

PROOF(wire_get_string_safe)
{
	struct wire_in in = any_in();
	const struct wire_in before = in;
	const size_t max = any_up_to(TEXT_MAX);
	const char *string;
	size_t len;

	ghost = any_up_to(TEXT_MAX);
	string = wire_get_string(&in, max);
	PROVE(in.at == before.at && in.len == before.len && in.pos <= in.len, "inside");
	PROVE(!before.bad || in.bad, "bad for good");
	PROVE(string != NULL, "never NULL");
	if (in.bad) {
		PROVE(string[0] == '\0', "empty");
		return;
	}
	PROVE(in.pos >= before.pos + 5, "a count and a NUL at the least");
	len = in.pos - before.pos - 5;
	PROVE(len <= max, "no longer than may be");
	PROVE(string == (const char *)in.at + before.pos + 4, "behind its count");
	PROVE(string[len] == '\0', "a NUL behind it");
	PROVE(ghost >= len || string[ghost] != '\0', "and none inside");
}

#endif

/* ---- round trip, and only the one encoding ---- */

#define FRAME_BYTES (FORMAL_N + 6)

/* Any bytes: what was read is written again as the same bytes. */
PROOF(wire_read_write)
{
	uint8_t bytes[FRAME_BYTES], again[FRAME_BYTES];
	struct wire_in in = {.at = bytes, .len = any_text((char *)bytes, FRAME_BYTES)};
	struct wire_out out = {.at = again, .cap = FRAME_BYTES};
	const bool optional = any_bool();
	const char *string = optional ? wire_get_optional(&in, FORMAL_N)
	                              : wire_get_string(&in, FORMAL_N);

	if (!wire_end(&in))
		return;
	if (optional)
		wire_put_optional(&out, string, FORMAL_N);
	else
		wire_put_string(&out, string, FORMAL_N);
	PROVE(wire_length(&out) == in.len, "as long");
	for (size_t i = 0; i < FRAME_BYTES; i++)
		PROVE(i >= in.len || again[i] == bytes[i], "the same bytes");
}

/* Any value, any room: all of it or nothing; and what is written is read back. */
PROOF(wire_write_read)
{
	uint8_t bytes[8 + FORMAL_N + 5];
	struct wire_out out = {.at = bytes, .cap = any_up_to(sizeof bytes)};
	char string[FORMAL_N + 1];
	size_t len = any_text(string, FORMAL_N), longest = any_up_to(FORMAL_N);
	const unsigned width = 1U << any_up_to(3);
	const uint64_t value = any_u64(), max = any_u64();
	const bool fits = width == 8 || value >> 8 * width == 0;
	struct wire_in in;

	for (size_t i = 0; i < FORMAL_N; i++)
		ASSUME(i >= len || string[i] != '\0');
	string[len] = '\0';
	ASSUME(fits || value > max); /* else the caller's max is no max of the width */
	wire_put(&out, width, value, max);
	PROVE(out.bad == (value > max || width > out.cap), "as specified");
	PROVE(out.len == (out.bad ? 0 : width), "whole or not at all");
	wire_put_string(&out, string, longest);
	PROVE((wire_length(&out) > 0) ==
	              (value <= max && len <= longest && width + len + 5 <= out.cap),
	      "exactly if it fits and may be so long");
	if (wire_length(&out) == 0)
		return;
	in = (struct wire_in){.at = bytes, .len = out.len};
	PROVE(wire_get(&in, width, max) == value, "the value");
	PROVE(wire_get_string(&in, longest) == (const char *)bytes + width + 4, "the string");
	for (size_t i = 0; i <= FORMAL_N; i++)
		PROVE(i > len || bytes[width + 4 + i] == (uint8_t)string[i], "its bytes");
	PROVE(wire_end(&in), "nothing left");
	in = (struct wire_in){.at = bytes, .len = out.len + 1};
	(void)wire_get(&in, width, max);
	(void)wire_get_string(&in, longest);
	PROVE(!wire_end(&in), "nothing may follow");
	in = (struct wire_in){.at = bytes, .len = any_up_to(out.len - 1)};
	(void)wire_get(&in, width, max);
	(void)wire_get_string(&in, longest);
	PROVE(!wire_end(&in), "no part of it is one");
}

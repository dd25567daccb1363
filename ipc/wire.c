/* SPDX-License-Identifier: ISC */
#include "wire.h"

#include <string.h>

/* Big-endian, a byte a step; nothing is written unless all of it fits. */
static void put(struct wire_out *out, uint64_t value, unsigned width)
{
	out->bad = out->bad || width > out->cap - out->len;
	while (!out->bad && width > 0)
		out->at[out->len++] = (uint8_t)(value >> (8 * --width));
}

static uint64_t get(struct wire_in *in, unsigned width)
{
	uint64_t value = 0;

	in->bad = in->bad || width > in->len - in->pos;
	while (!in->bad && width-- > 0)
		value = value << 8 | in->at[in->pos++];
	return value;
}

void wire_put_u8(struct wire_out *out, uint8_t value)
{
	put(out, value, 1);
}

void wire_put_u16(struct wire_out *out, uint16_t value)
{
	put(out, value, 2);
}

void wire_put_u32(struct wire_out *out, uint32_t value)
{
	put(out, value, 4);
}

void wire_put_u64(struct wire_out *out, uint64_t value)
{
	put(out, value, 8);
}

void wire_put_bytes(struct wire_out *out, const uint8_t *bytes, size_t len)
{
	out->bad = out->bad || len > out->cap - out->len;
	for (size_t i = 0; !out->bad && i < len; i++)
		out->at[out->len++] = bytes[i];
}

void wire_put_string(struct wire_out *out, const char *string)
{
	const size_t len = strlen(string);

	/* No buffer has room for a string whose count does not fit. */
	wire_put_u32(out, (uint32_t)len);
	wire_put_bytes(out, (const uint8_t *)string, len + 1);
}

void wire_put_optional(struct wire_out *out, const char *string)
{
	wire_put_u8(out, string != NULL);
	if (string != NULL)
		wire_put_string(out, string);
}

uint8_t wire_get_u8(struct wire_in *in)
{
	return (uint8_t)get(in, 1);
}

uint16_t wire_get_u16(struct wire_in *in)
{
	return (uint16_t)get(in, 2);
}

uint32_t wire_get_u32(struct wire_in *in)
{
	return (uint32_t)get(in, 4);
}

uint64_t wire_get_u64(struct wire_in *in)
{
	return get(in, 8);
}

void wire_get_bytes(struct wire_in *in, uint8_t *bytes, size_t len)
{
	in->bad = in->bad || len > in->len - in->pos;
	for (size_t i = 0; i < len; i++)
		bytes[i] = in->bad ? 0 : in->at[in->pos++];
}

const char *wire_get_string(struct wire_in *in, size_t max)
{
	const size_t len = wire_get_u32(in);
	const size_t start = in->pos;

	/* The first NUL must be the one right behind the count. */
	in->bad = in->bad || len > max || len >= in->len - start;
	for (size_t i = 0; !in->bad && i <= len; i++)
		in->bad = (in->at[start + i] == '\0') != (i == len);
	if (in->bad)
		return "";
	in->pos = start + len + 1;
	return (const char *)in->at + start;
}

const char *wire_get_optional(struct wire_in *in, size_t max)
{
	const uint8_t given = wire_get_u8(in);

	in->bad = in->bad || given > 1;
	return given == 1 ? wire_get_string(in, max) : NULL;
}

bool wire_end(const struct wire_in *in)
{
	return !in->bad && in->pos == in->len;
}

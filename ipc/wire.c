/* SPDX-License-Identifier: ISC */
#include "wire.h"

#include <string.h>

/* A byte a step; nothing is written unless all of it fits. */
void wire_put(struct wire_out *out, unsigned width, uint64_t value, uint64_t max)
{
	out->bad = out->bad || value > max || width > out->cap - out->len;
	while (!out->bad && width > 0)
		out->at[out->len++] = (uint8_t)(value >> (8 * --width));
}

void wire_put_string(struct wire_out *out, const char *string, size_t max)
{
	const size_t len = string != NULL ? strlen(string) : SIZE_MAX;

	wire_put(out, 4, len, max);
	for (size_t i = 0; !out->bad && i <= len; i++)
		wire_put(out, 1, (uint8_t)string[i], UINT8_MAX);
}

void wire_put_optional(struct wire_out *out, const char *string, size_t max)
{
	wire_put(out, 1, string != NULL, 1);
	if (string != NULL)
		wire_put_string(out, string, max);
}

size_t wire_length(const struct wire_out *out)
{
	return out->bad ? 0 : out->len;
}

uint64_t wire_get(struct wire_in *in, unsigned width, uint64_t max)
{
	uint64_t value = 0;

	in->bad = in->bad || width > in->len - in->pos;
	while (!in->bad && width-- > 0)
		value = value << 8 | in->at[in->pos++];
	in->bad = in->bad || value > max;
	return in->bad ? 0 : value;
}

const char *wire_get_string(struct wire_in *in, size_t max)
{
	const size_t len = wire_get(in, 4, max);
	const size_t start = in->pos;

	/* The first NUL must be the one right behind the count. */
	in->bad = in->bad || len >= in->len - start;
	for (size_t i = 0; !in->bad && i <= len; i++)
		in->bad = (in->at[start + i] == '\0') != (i == len);
	if (in->bad)
		return "";
	in->pos = start + len + 1;
	return (const char *)in->at + start;
}

const char *wire_get_optional(struct wire_in *in, size_t max)
{
	return wire_get(in, 1, 1) == 1 ? wire_get_string(in, max) : NULL;
}

bool wire_end(const struct wire_in *in)
{
	return !in->bad && in->pos == in->len;
}

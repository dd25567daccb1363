/* SPDX-License-Identifier: ISC */
#ifndef COFFERDAM_IPC_WIRE_H
#define COFFERDAM_IPC_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The bytes of a frame, one field at a time.  Pure: no descriptor, no system
 * call, no heap.  Called by ipc/frame.c only.
 *
 * Integers are unsigned and big-endian.  A string is a u32 count of bytes, the
 * bytes, and one NUL that the count leaves out: so a decoded string is a C
 * string inside the frame's own buffer.  A NUL among the bytes is an error.
 * An optional string is a u8 (0 or 1), then the string if 1.
 *
 * Both structs carry one sticky flag instead of a result per call: once `bad`
 * is set every later call does nothing (a get returns 0 or NULL), and the
 * caller looks once, at the end.
 */

struct wire_out {
	uint8_t *at; /* caller's buffer */
	size_t cap;
	size_t len; /* bytes written, <= cap */
	bool bad; /* something did not fit, or a string held a NUL */
};

struct wire_in {
	const uint8_t *at; /* caller's buffer; decoded strings point into it */
	size_t len;
	size_t pos; /* bytes consumed, <= len */
	bool bad;
};

void wire_put_u8(struct wire_out *out, uint8_t value);
void wire_put_u16(struct wire_out *out, uint16_t value);
void wire_put_u32(struct wire_out *out, uint32_t value);
void wire_put_u64(struct wire_out *out, uint64_t value);
void wire_put_bytes(struct wire_out *out, const uint8_t *bytes, size_t len);
void wire_put_string(struct wire_out *out, const char *string); /* not NULL */
void wire_put_optional(struct wire_out *out, const char *string); /* or NULL */

uint8_t wire_get_u8(struct wire_in *in);
uint16_t wire_get_u16(struct wire_in *in);
uint32_t wire_get_u32(struct wire_in *in);
uint64_t wire_get_u64(struct wire_in *in);
void wire_get_bytes(struct wire_in *in, uint8_t *bytes, size_t len);
/* At most max bytes before the NUL.  Never NULL: "" once bad. */
const char *wire_get_string(struct wire_in *in, size_t max);
const char *wire_get_optional(struct wire_in *in, size_t max); /* or NULL */

/* True iff nothing went wrong and every byte was consumed. */
bool wire_end(const struct wire_in *in);

#endif

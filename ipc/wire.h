/* SPDX-License-Identifier: ISC */
#ifndef COFFERDAM_IPC_WIRE_H
#define COFFERDAM_IPC_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The bytes of a frame, one field at a time.  Pure: no descriptor, no system
 * call, no heap.  Called by ipc/frame.c and ipc/frame_policy.c only.
 *
 * Integers are unsigned and big-endian, 1, 2, 4 or 8 bytes wide; each has a
 * greatest value, the same for both directions.  A string is a count of bytes
 * in 4 bytes, the bytes, and one NUL that the count leaves out: so a decoded
 * string is a C string inside the frame's own buffer.  A NUL among the bytes is
 * an error.  An optional string is 1 byte (0 or 1), then the string if 1.
 *
 * Both structs carry one sticky flag instead of a result per call: once `bad`
 * is set every later call does nothing (a get returns 0, "" or NULL), and the
 * caller looks once, at the end.
 */

struct wire_out {
	uint8_t *at; /* caller's buffer */
	size_t cap;
	size_t len; /* bytes written, <= cap */
	bool bad; /* something did not fit, or was beyond its greatest value */
};

struct wire_in {
	const uint8_t *at; /* caller's buffer; decoded strings point into it */
	size_t len;
	size_t pos; /* bytes consumed, <= len */
	bool bad;
};

void wire_put(struct wire_out *out, unsigned width, uint64_t value, uint64_t max);
/* At most max bytes before the NUL; NULL is bad. */
void wire_put_string(struct wire_out *out, const char *string, size_t max);
void wire_put_optional(struct wire_out *out, const char *string, size_t max); /* or NULL */
size_t wire_length(const struct wire_out *out); /* 0 when bad */

uint64_t wire_get(struct wire_in *in, unsigned width, uint64_t max);
/* At most max bytes before the NUL.  Never NULL: "" once bad. */
const char *wire_get_string(struct wire_in *in, size_t max);
const char *wire_get_optional(struct wire_in *in, size_t max); /* or NULL */

/* True iff nothing went wrong and every byte was consumed. */
bool wire_end(const struct wire_in *in);

#endif

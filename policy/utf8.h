/* SPDX-License-Identifier: ISC */
#ifndef COFFERDAM_POLICY_UTF8_H
#define COFFERDAM_POLICY_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* UTF-8 as RFC 3629 defines it.  Pure. */

/* The first byte at or after which `bytes` is not UTF-8 (the offset of the
 * ill-formed sequence's first byte), or len when all of it is. */
size_t utf8_span(const char *bytes, size_t len);

static inline bool utf8_valid(const char *bytes, size_t len)
{
	return utf8_span(bytes, len) == len;
}

/* Decodes the code point at bytes[0]; its length 1..4, or 0 when it is
 * ill-formed or len is 0.  *point is untouched on 0.  surrogates: also take the
 * three-byte forms of U+D800..U+DFFF (generalised UTF-8). */
unsigned utf8_decode(const char *bytes, size_t len, bool surrogates, uint32_t *point);

/* Encodes a code point (surrogates in the generalised form); 1..4 bytes
 * written, 0 for a value above U+10FFFF. */
unsigned utf8_encode(uint32_t point, char to[4]);

/*
 * What a WHATWG decoder makes of any bytes (Encoding Standard, "UTF-8
 * decoder"): one leading byte order mark dropped, every maximal ill-formed
 * subpart replaced by U+FFFD.  Writes at most cap bytes to `to`; the length
 * written, or SIZE_MAX when it does not fit (3 * len always does).
 */
size_t utf8_repair(const char *bytes, size_t len, char *to, size_t cap);

#endif

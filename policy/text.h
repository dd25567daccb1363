/* SPDX-License-Identifier: ISC */
#ifndef COFFERDAM_POLICY_TEXT_H
#define COFFERDAM_POLICY_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Text built in a caller's fixed buffer.  Pure; called by everything in
 * policy/ that writes.  What does not fit is dropped whole (a put either
 * writes all of its bytes or none) and `full` is set for good; the caller looks
 * once, at the end.  A full text takes nothing more, not even what would fit:
 * what it holds is always a prefix of what was put.
 */

struct text {
	char *at;
	size_t cap;
	size_t len; /* <= cap; no NUL is kept */
	bool full;
};

void text_init(struct text *text, char *buffer, size_t cap);
void text_bytes(struct text *text, const char *bytes, size_t len);
void text_string(struct text *text, const char *string);
void text_u64(struct text *text, uint64_t value); /* decimal */
void text_hex(struct text *text, const uint8_t *bytes, size_t len); /* lower case */
/* 10^9 is "1"; no trailing zero, no trailing point: 500000000 is "0.5". */
void text_nano(struct text *text, uint64_t nano);

/* A JSON escape of one UTF-16 code unit: \uxxxx, lower case. */
void text_unit(struct text *text, uint16_t unit);

/* For people: printable ASCII as it is but for backslash, which becomes \\;
 * every other byte as \xNN. */
void text_escaped(struct text *text, const char *bytes, size_t len);

/* For records: a JSON string with its quotes, ASCII only.  Code points beyond
 * ASCII, DEL and controls become \uXXXX (pairs beyond U+FFFF); a lone
 * surrogate in generalised UTF-8 keeps its \uXXXX; any other byte that is not
 * UTF-8 becomes \ufffd. */
void text_json(struct text *text, const char *bytes, size_t len);

/* A NUL-terminated copy in the buffer; NULL (and full) when it does not fit.
 * Makes a text an arena for decoded strings. */
const char *text_keep(struct text *text, const char *bytes, size_t len);

#endif

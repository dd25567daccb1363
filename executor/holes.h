/* SPDX-License-Identifier: ISC */
#ifndef COFFERDAM_EXECUTOR_HOLES_H
#define COFFERDAM_EXECUTOR_HOLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LOWER "abcdefghijklmnopqrstuvwxyz"
#define DIGITS "0123456789"
#define LETTERS LOWER "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define HEX DIGITS "abcdef"

/*
 * The small rules of which the gate is made, each of them decidable on its own.
 * Pure.  The executor's own: nothing here is shared with policy.
 *
 * First, comparing: one word of argv against what a typed value would be
 * written as.  Nothing is rendered; each call takes the bytes that it calls for,
 * one at a time.  `ok` is sticky: after the first difference nothing more is
 * read, and never anything behind the word's NUL.
 */

struct hole {
	const char *word;
	size_t at; /* bytes that agreed */
	bool ok;
};

void holes_byte(struct hole *hole, char want); /* not NUL */
void holes_text(struct hole *hole, const char *want);
void holes_decimal(struct hole *hole, uint64_t value);
/* As docker takes CPUs: 10^9 is "1", 1500000000 is "1.5", no trailing zero. */
void holes_nano(struct hole *hole, uint64_t nano);
void holes_hex(struct hole *hole, const uint8_t *bytes, size_t len); /* lower case */
/* The inside of a JSON string in ASCII: a backslash before " and \, \u and four
 * lower-case hex digits for controls, DEL and all beyond (RFC 8259 section 7).
 * Text that is not UTF-8 equals nothing. */
void holes_json(struct hole *hole, const char *text);
bool holes_end(const struct hole *hole); /* all agreed, and the word ends here */

/* Then, grammars of whole strings.  None of them takes NULL. */

/* The first byte one of `first`, each later one of `first` or `other`; least to
 * most bytes. */
bool holes_of(const char *text, const char *first, const char *other, size_t least, size_t most);
/* UTF-8 (RFC 3629) without control bytes, other than those listed, and DEL. */
bool holes_plain(const char *text, const char *controls);
/* What may be mounted and named in a --mount word: absolute, canonical, not
 * "/", plain, no comma and no double quote (docker reads the word as CSV), at
 * most PATH_BYTES_MAX bytes, no component over 255. */
bool holes_path(const char *path);
/* Of two canonical paths: one is the other, or lies below it. */
bool holes_overlap(const char *a, const char *b);
bool holes_below(const char *outer, const char *inner); /* inner is outer, or in it */
/* NAME=value; NAME is [A-Za-z_][A-Za-z0-9_]*, the value plain. */
bool holes_env(const char *entry);
bool holes_same_name(const char *a, const char *b); /* of two such entries */
/* What follows prefix in text; "" when text does not begin with it. */
const char *holes_after(const char *prefix, const char *text);

#endif

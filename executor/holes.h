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
 * A word of argv is read from left to right, by calls that each take the bytes
 * of one grammar: as many as belong to it, never the word's NUL.  What follows
 * a hole in the gate's table can never be a byte of the hole, so no call looks
 * back and no other reading of the word exists.  `ok` is sticky: after the
 * first fault nothing more is taken.
 */

struct hole {
	const char *word;
	size_t at; /* bytes taken, 0 at first */
	bool ok; /* true at first */
};

/* Bytes inside a word. */
struct span {
	const char *at;
	size_t len;
};

bool holes_end(const struct hole *hole); /* all was well, and the word ends here */

void holes_byte(struct hole *hole, char want); /* not NUL */
void holes_text(struct hole *hole, const char *want); /* exactly these bytes */
/* Bytes of `first` or, behind the first byte, of `other`: least to most. */
void holes_of(struct hole *hole, const char *first, const char *other, size_t least, size_t most);
/* Decimal, no sign, no leading zero, least to most (< 10^19).  The number. */
uint64_t holes_number(struct hole *hole, uint64_t least, uint64_t most);
/* CPUs as a decimal fraction: 10^9 is "1", 1500000000 is "1.5"; at most nine
 * places, the last not 0; least to most, in 10^-9. */
void holes_nano(struct hole *hole, uint64_t least, uint64_t most);
/* UTF-8 (RFC 3629) up to the word's end or the first byte of `stop`, without DEL
 * and without control bytes but those of `controls`. */
struct span holes_plain(struct hole *hole, const char *controls, const char *stop);
/* The same with no control at all, up to a comma or a double quote (docker reads
 * CSV there): a canonical path of at most max bytes.  Empty once not ok. */
struct span holes_path(struct hole *hole, size_t max);
/* The inside of a JSON string in ASCII that stands for these bytes: a backslash
 * before " and \, \u and four lower-case hex digits for controls, DEL and all
 * beyond (RFC 8259 section 7).  Bytes that are not UTF-8 stand for nothing. */
void holes_json(struct hole *hole, struct span text);

/* Of spans. */
bool holes_is(struct span span, const char *text); /* the same bytes */
/* Absolute; no component is empty, "." or ".."; not "/". */
bool holes_canonical(struct span path);
/* Of two canonical paths: inner is outer, or in it; one is in the other. */
bool holes_below(struct span outer, struct span inner);
bool holes_overlap(struct span a, struct span b);

#endif

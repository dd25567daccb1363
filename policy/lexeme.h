/* SPDX-License-Identifier: ISC */
#ifndef COFFERDAM_POLICY_LEXEME_H
#define COFFERDAM_POLICY_LEXEME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reason.h"

/*
 * The lexemes of RFC 8259, one function each.  Pure; called by policy/grammar.c
 * and policy/json.c.
 *
 * Every scanner takes a text, its length and the index `at` (<= len) where its
 * lexeme begins, and reads no byte outside [at, len).  It goes one way, so its
 * cost is the lexeme's length.
 */

struct scan {
	size_t at; /* behind the lexeme, or the byte to blame */
	enum reason reason; /* REASON_NONE when the lexeme is good */
};

/* Behind the blanks (SP, TAB, LF, CR) at `at`; len when there is nothing else. */
size_t lexeme_blanks(const char *text, size_t len, size_t at);

/* Behind the bytes at `at` that stand for themselves in a string's body: ASCII
 * but controls, the quote and the backslash; `at` when there is none. */
size_t lexeme_plain(const char *text, size_t len, size_t at);

/* A string, from its opening quote.  Blamed: a raw control byte, the first byte
 * of ill-formed UTF-8, the byte that spoils an escape; the backslash of a
 * surrogate that stands alone, unless lone_surrogates. */
struct scan lexeme_string(const char *text, size_t len, size_t at, bool lone_surrogates);

/* A number, from its first byte.  Another letter, digit, sign or point directly
 * behind it spoils it. */
struct scan lexeme_number(const char *text, size_t len, size_t at);

/* true, false or null.  Another letter, digit, sign or point directly behind it
 * spoils it. */
struct scan lexeme_literal(const char *text, size_t len, size_t at);

/* The scan that blames text[at]: truncated at the end of the text, a control
 * byte or ill-formed UTF-8 by that name, else `otherwise`. */
struct scan lexeme_blame(const char *text, size_t len, size_t at, enum reason otherwise);

/*
 * The one unescaper.  Reads the character at `at` (< end) of a string's body
 * that ends before `end`: *point is its code point (an escaped pair is one, a
 * lone surrogate is itself); the index behind it is returned, > at and <= end.
 * On a body that lexeme_string would not take it still keeps to these bounds,
 * and what it cannot read is U+FFFD, a byte each.
 */
size_t lexeme_point(const char *text, size_t end, size_t at, uint32_t *point);

#endif

/* SPDX-License-Identifier: ISC */
#ifndef COFFERDAM_POLICY_GRAMMAR_H
#define COFFERDAM_POLICY_GRAMMAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reason.h"

/*
 * RFC 8259's grammar as an explicit state machine over one text.  Pure, no
 * recursion: nesting is an array of JSON_DEPTH_MAX flags.  Called by
 * policy/json.c, twice a document: before jsmn sees the text, and again in step
 * with the tokens that jsmn made of it.
 *
 * It reads left to right and stops at the first error, which is therefore the
 * earliest: all that stands before the byte it blames can begin a document.
 */

#ifndef JSON_DEPTH_MAX
#define JSON_DEPTH_MAX 256
#endif

enum grammar_event {
	GRAMMAR_OPEN, /* { or [ */
	GRAMMAR_CLOSE, /* } or ] */
	GRAMMAR_KEY, /* a member's name */
	GRAMMAR_STRING, /* a value */
	GRAMMAR_PRIMITIVE, /* a number, true, false or null */
	GRAMMAR_END, /* the document is whole and nothing follows */
	GRAMMAR_ERROR,
};

/* The bytes of an event, a string's with its quotes.  On GRAMMAR_ERROR reason
 * says why and start is the byte to blame (<= len). */
struct lexeme {
	enum grammar_event event;
	enum reason reason;
	size_t start;
	size_t end;
};

/* Opaque to callers. */
struct grammar {
	const char *text;
	size_t len;
	bool lone_surrogates;
	size_t at;
	unsigned state;
	uint32_t depth;
	bool object[JSON_DEPTH_MAX]; /* what each open container is */
};

void grammar_init(struct grammar *grammar, const char *text, size_t len, bool lone_surrogates);

/* The next event.  Each but the last two consumes at least one byte; not to be
 * called again after GRAMMAR_END or GRAMMAR_ERROR. */
struct lexeme grammar_next(struct grammar *grammar);

#endif

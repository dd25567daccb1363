/* SPDX-License-Identifier: ISC */

/* The module itself: its states have no names outside. */
#include "../policy/grammar.c"

#include <stdlib.h>
#include <string.h>

#include "nondet.h"

#ifdef CBMC

/*
 * One step from every state that the invariant allows, in a text of any length:
 * the invariant holds again.  As it holds after grammar_init, it always does,
 * however long and deep the document.  The scanners are replaced by what is
 * proved of them (lexeme_*): they stay inside the text, and go on.
 */
#define TEXT_MAX 1048576

size_t some_blanks(const char *text, size_t len, size_t at);
struct scan some_scan(const char *text, size_t len, size_t at);
struct scan some_string(const char *text, size_t len, size_t at, bool lone_surrogates);
struct scan some_blame(const char *text, size_t len, size_t at, enum reason otherwise);

size_t some_blanks(const char *text, size_t len, size_t at)
{
	size_t behind = any_up_to(len);

	(void)text;
	PROVE(at <= len, "blanks are looked for inside the text");
	ASSUME(behind >= at);
	return behind;
}

struct scan some_scan(const char *text, size_t len, size_t at)
{
	struct scan scan = {any_up_to(len), any_bool() ? REASON_NONE : REASON_JSON_SYNTAX};

	(void)text;
	PROVE(at < len, "a lexeme begins inside the text");
	ASSUME(scan.at >= at && (scan.reason != REASON_NONE || scan.at > at));
	return scan;
}

struct scan some_string(const char *text, size_t len, size_t at, bool lone_surrogates)
{
	(void)lone_surrogates;
	return some_scan(text, len, at);
}

struct scan some_blame(const char *text, size_t len, size_t at, enum reason otherwise)
{
	(void)text;
	PROVE(otherwise != REASON_NONE, "there is a reason");
	return (struct scan){at < len ? at : len, otherwise};
}

static bool in_object(unsigned state)
{
	return state == FIRST_KEY || state == KEY || state == COLON || state == MEMBER ||
	       state == AFTER_MEMBER;
}

static bool in_array(unsigned state)
{
	return state == FIRST_ITEM || state == ITEM || state == AFTER_ITEM;
}

/* The value of a key is due. */
static bool value_due(unsigned state)
{
	return state == COLON || state == MEMBER;
}

static bool is_value(enum grammar_event event)
{
	return event == GRAMMAR_OPEN || event == GRAMMAR_STRING || event == GRAMMAR_PRIMITIVE;
}

static bool invariant(const struct grammar *grammar)
{
	bool inside = grammar->depth > 0 && grammar->depth <= JSON_DEPTH_MAX;
	bool object = inside && grammar->object[grammar->depth - 1];

	return grammar->at <= grammar->len &&
	       ((in_object(grammar->state) && inside && object) ||
	        (in_array(grammar->state) && inside && !object) ||
	        ((grammar->state == ROOT || grammar->state == DONE) && grammar->depth == 0));
}

PROOF(grammar_step)
{
	struct grammar grammar, before;
	struct lexeme lexeme;
	char first;

	grammar.len = any_up_to(TEXT_MAX);
	grammar.text = malloc(grammar.len);
	ASSUME(grammar.text != NULL);
	ASSUME(invariant(&grammar));
	before = grammar;
	lexeme = grammar_next(&grammar);
	PROVE(lexeme.start <= lexeme.end && lexeme.end <= grammar.len, "inside the text");
	PROVE((lexeme.event == GRAMMAR_ERROR) == (lexeme.reason != REASON_NONE), "with a reason");
	if (lexeme.event == GRAMMAR_ERROR)
		return;
	PROVE(invariant(&grammar), "the invariant");
	PROVE(lexeme.start >= before.at && lexeme.end == grammar.at, "one behind the other");
	if (lexeme.event == GRAMMAR_END) {
		PROVE(grammar.depth == 0 && before.state == DONE && grammar.at == grammar.len,
		      "whole, and nothing follows");
		return;
	}
	PROVE(lexeme.end > lexeme.start, "each event takes a byte at least");
	first = grammar.text[lexeme.start];
	PROVE((lexeme.event == GRAMMAR_OPEN) == (grammar.depth == before.depth + 1), "opens");
	PROVE((lexeme.event == GRAMMAR_CLOSE) == (grammar.depth + 1 == before.depth), "closes");
	PROVE((lexeme.event == GRAMMAR_KEY) == value_due(grammar.state), "a key needs a value");
	PROVE(!in_object(before.state) || is_value(lexeme.event) == value_due(before.state),
	      "in an object keys and values take turns");
	if (lexeme.event == GRAMMAR_OPEN)
		PROVE(first == (grammar.object[grammar.depth - 1] ? '{' : '['), "what it opens");
	if (lexeme.event == GRAMMAR_CLOSE)
		PROVE(first == (before.object[before.depth - 1] ? '}' : ']'), "what was opened");
	if (lexeme.event == GRAMMAR_KEY)
		PROVE(in_object(before.state) && grammar.state == COLON && first == '"', "a key");
	if (lexeme.event == GRAMMAR_STRING)
		PROVE(first == '"', "a string");
}

PROOF(grammar_begin)
{
	struct grammar grammar;
	size_t len = any_up_to(TEXT_MAX);
	char *text = malloc(len);

	ASSUME(text != NULL);
	grammar_init(&grammar, text, len, any_bool());
	PROVE(invariant(&grammar), "the invariant holds at first");
}

#else

/* A parser as in RFC 8259's own rules, one function a rule; it recurses, and is
 * for short texts only. */
struct reader {
	const char *text;
	size_t len, at;
	bool bad;
	unsigned depth;
};

static bool next_is(struct reader *reader, char byte)
{
	bool is = reader->at < reader->len && reader->text[reader->at] == byte;

	reader->at += is ? 1 : 0;
	return is;
}

static void skip(struct reader *reader)
{
	while (next_is(reader, ' ') || next_is(reader, '\n'))
		;
}

static void read_string(struct reader *reader)
{
	struct scan scan;

	if (reader->at >= reader->len || reader->text[reader->at] != '"') {
		reader->bad = true;
		return;
	}
	scan = lexeme_string(reader->text, reader->len, reader->at, false);
	reader->bad = reader->bad || scan.reason != REASON_NONE;
	reader->at = scan.at;
}

static void read_value(struct reader *reader);

static void read_members(struct reader *reader, char end)
{
	skip(reader);
	if (next_is(reader, end))
		return;
	do {
		skip(reader);
		if (end == '}') {
			read_string(reader);
			skip(reader);
			reader->bad = reader->bad || !next_is(reader, ':');
		}
		read_value(reader);
	} while (!reader->bad && next_is(reader, ','));
	reader->bad = reader->bad || !next_is(reader, end);
}

static void read_value(struct reader *reader)
{
	struct scan scan;
	char first;

	skip(reader);
	if (reader->bad || reader->at >= reader->len) {
		reader->bad = true;
		return;
	}
	first = reader->text[reader->at];
	if (first == '{' || first == '[') {
		reader->at++;
		reader->bad = ++reader->depth > JSON_DEPTH_MAX;
		if (!reader->bad)
			read_members(reader, first == '{' ? '}' : ']');
		reader->depth--;
	} else if (first == '"') {
		read_string(reader);
	} else {
		scan = first == '-' || (first >= '0' && first <= '9')
		               ? lexeme_number(reader->text, reader->len, reader->at)
		               : lexeme_literal(reader->text, reader->len, reader->at);
		reader->bad = scan.reason != REASON_NONE;
		reader->at = scan.at;
	}
	skip(reader);
}

/* Accepts exactly what the rules derive. */
PROOF(grammar_exact)
{
	char text[FORMAL_N];
	size_t len = any_text(text, FORMAL_N);
	struct reader reader = {text, len, 0, false, 0};
	struct grammar grammar;
	struct lexeme lexeme = {GRAMMAR_OPEN, REASON_NONE, 0, 0};

	grammar_init(&grammar, text, len, false);
	for (size_t i = 0; i <= len && lexeme.event != GRAMMAR_END && lexeme.event != GRAMMAR_ERROR;
	     i++)
		lexeme = grammar_next(&grammar);
	read_value(&reader);
	PROVE(lexeme.event == GRAMMAR_END || lexeme.event == GRAMMAR_ERROR, "it ends");
	PROVE((lexeme.event == GRAMMAR_END) == (!reader.bad && reader.at == len), "accepts");
}

#endif

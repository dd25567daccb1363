/* SPDX-License-Identifier: ISC */
#include "grammar.h"

#include "lexeme.h"

/* What may come next. */
enum state {
	ROOT, /* the document's value */
	FIRST_ITEM, /* a value, or ] */
	ITEM, /* a value */
	FIRST_KEY, /* a key, or } */
	KEY, /* a key */
	COLON, /* : */
	MEMBER, /* the value under a key */
	AFTER_ITEM, /* , or ] */
	AFTER_MEMBER, /* , or } */
	DONE, /* nothing */
	STATES
};

/* What a byte can begin; all that class_of's table leaves out is OTHER. */
enum class {
	OTHER = 0,
	BRACE,
	END_BRACE,
	BRACKET,
	END_BRACKET,
	COLON_SIGN,
	COMMA,
	QUOTE,
	NUMBER,
	LITERAL,
	CLASSES
};

/* What to do with it; BAD is 0, so all that a row leaves out is refused. */
enum action { BAD = 0, OPEN, CLOSE, NAME, TEXT, DIGITS, WORD, STEP };

static const unsigned char actions[STATES][CLASSES] = {
        [ROOT] = {[BRACE] = OPEN,
                  [BRACKET] = OPEN,
                  [QUOTE] = TEXT,
                  [NUMBER] = DIGITS,
                  [LITERAL] = WORD},
        [FIRST_ITEM] = {[BRACE] = OPEN,
                        [BRACKET] = OPEN,
                        [END_BRACKET] = CLOSE,
                        [QUOTE] = TEXT,
                        [NUMBER] = DIGITS,
                        [LITERAL] = WORD},
        [ITEM] = {[BRACE] = OPEN,
                  [BRACKET] = OPEN,
                  [QUOTE] = TEXT,
                  [NUMBER] = DIGITS,
                  [LITERAL] = WORD},
        [FIRST_KEY] = {[END_BRACE] = CLOSE, [QUOTE] = NAME},
        [KEY] = {[QUOTE] = NAME},
        [COLON] = {[COLON_SIGN] = STEP},
        [MEMBER] = {[BRACE] = OPEN,
                    [BRACKET] = OPEN,
                    [QUOTE] = TEXT,
                    [NUMBER] = DIGITS,
                    [LITERAL] = WORD},
        [AFTER_ITEM] = {[END_BRACKET] = CLOSE, [COMMA] = STEP},
        [AFTER_MEMBER] = {[END_BRACE] = CLOSE, [COMMA] = STEP},
};

/* Where a STEP leads. */
static const unsigned char steps[STATES] = {
        [COLON] = MEMBER,
        [AFTER_ITEM] = ITEM,
        [AFTER_MEMBER] = KEY,
};

static enum class class_of(char c)
{
	static const unsigned char classes[256] = {
	        ['{'] = BRACE,
	        ['}'] = END_BRACE,
	        ['['] = BRACKET,
	        [']'] = END_BRACKET,
	        [':'] = COLON_SIGN,
	        [','] = COMMA,
	        ['"'] = QUOTE,
	        ['-'] = NUMBER,
	        ['0'] = NUMBER,
	        ['1'] = NUMBER,
	        ['2'] = NUMBER,
	        ['3'] = NUMBER,
	        ['4'] = NUMBER,
	        ['5'] = NUMBER,
	        ['6'] = NUMBER,
	        ['7'] = NUMBER,
	        ['8'] = NUMBER,
	        ['9'] = NUMBER,
	        ['t'] = LITERAL,
	        ['f'] = LITERAL,
	        ['n'] = LITERAL,
	};

	return (enum class)classes[(unsigned char)c];
}

void grammar_init(struct grammar *grammar, const char *text, size_t len, bool lone_surrogates)
{
	grammar->text = text;
	grammar->len = len;
	grammar->lone_surrogates = lone_surrogates;
	grammar->at = 0;
	grammar->state = ROOT;
	grammar->depth = 0;
}

/* The state behind a value, by what holds it. */
static enum state after_value(const struct grammar *grammar)
{
	if (grammar->depth == 0)
		return DONE;
	return grammar->object[grammar->depth - 1] ? AFTER_MEMBER : AFTER_ITEM;
}

static struct lexeme event(enum grammar_event what, size_t start, size_t end)
{
	return (struct lexeme){what, REASON_NONE, start, end};
}

static struct lexeme error(size_t at, enum reason reason)
{
	return (struct lexeme){GRAMMAR_ERROR, reason, at, at};
}

/* The text cannot go on at `at`. */
static struct lexeme unexpected(const struct grammar *grammar)
{
	size_t at = grammar->at;
	bool value = actions[grammar->state][NUMBER] == DIGITS;
	enum reason reason = REASON_JSON_SYNTAX;
	struct scan scan;

	if (at >= grammar->len && grammar->state == ROOT)
		return error(at, REASON_JSON_EMPTY);
	if (grammar->state == DONE)
		reason = REASON_JSON_TRAILING;
	else if (value && at < grammar->len &&
	         (grammar->text[at] == '+' || grammar->text[at] == '.'))
		reason = REASON_JSON_NUMBER;
	scan = lexeme_blame(grammar->text, grammar->len, at, reason);
	return error(scan.at, scan.reason);
}

static struct lexeme open_container(struct grammar *grammar)
{
	bool object = grammar->text[grammar->at] == '{';

	if (grammar->depth >= JSON_DEPTH_MAX)
		return error(grammar->at, REASON_JSON_TOO_DEEP);
	grammar->object[grammar->depth++] = object;
	grammar->state = object ? FIRST_KEY : FIRST_ITEM;
	grammar->at++;
	return event(GRAMMAR_OPEN, grammar->at - 1, grammar->at);
}

static struct lexeme close_container(struct grammar *grammar)
{
	grammar->depth--; /* only states inside a container have CLOSE */
	grammar->state = after_value(grammar);
	grammar->at++;
	return event(GRAMMAR_CLOSE, grammar->at - 1, grammar->at);
}

/* A scanned lexeme: the event, or the scanner's error. */
static struct lexeme take(struct grammar *grammar, enum grammar_event what, struct scan scan)
{
	size_t start = grammar->at;

	if (scan.reason != REASON_NONE)
		return error(scan.at, scan.reason);
	grammar->at = scan.at;
	grammar->state = what == GRAMMAR_KEY ? COLON : after_value(grammar);
	return event(what, start, scan.at);
}

/* The action for the next byte that is no blank; STEPs are done here. */
static enum action next_action(struct grammar *grammar)
{
	enum action action = STEP;

	while (action == STEP) {
		if (grammar->at < grammar->len && grammar->text[grammar->at] <= ' ')
			grammar->at = lexeme_blanks(grammar->text, grammar->len, grammar->at);
		if (grammar->at >= grammar->len)
			return BAD;
		action = (enum action)actions[grammar->state]
		                             [class_of(grammar->text[grammar->at])];
		if (action == STEP) {
			grammar->state = steps[grammar->state];
			grammar->at++;
		}
	}
	return action;
}

struct lexeme grammar_next(struct grammar *grammar)
{
	enum action action = next_action(grammar);
	const char *text = grammar->text;
	size_t len = grammar->len;
	size_t at = grammar->at;

	switch (action) {
	case OPEN:
		return open_container(grammar);
	case CLOSE:
		return close_container(grammar);
	case NAME:
	case TEXT:
		return take(grammar, action == NAME ? GRAMMAR_KEY : GRAMMAR_STRING,
		            lexeme_string(text, len, at, grammar->lone_surrogates));
	case DIGITS:
		return take(grammar, GRAMMAR_PRIMITIVE, lexeme_number(text, len, at));
	case WORD:
		return take(grammar, GRAMMAR_PRIMITIVE, lexeme_literal(text, len, at));
	case BAD:
	case STEP:
		break;
	}
	if (at >= len && grammar->state == DONE)
		return event(GRAMMAR_END, at, at);
	return unexpected(grammar);
}

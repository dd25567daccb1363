/* SPDX-License-Identifier: ISC */
#include "lexeme.h"

#include "utf8.h"

#define HEX_DIGITS 4 /* of a \u escape */
#define ESCAPE_BYTES 6 /* the whole of it */

static struct scan good(size_t at)
{
	return (struct scan){at, REASON_NONE};
}

static struct scan blame(size_t at, enum reason reason)
{
	return (struct scan){at, reason};
}

static bool control(char c)
{
	return (unsigned char)c < 0x20;
}

static bool digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Bytes that can only belong to a number or literal: no two lexemes made of
 * them may touch. */
static bool glued(const char *text, size_t len, size_t at)
{
	char c;

	if (at >= len)
		return false;
	c = text[at];
	return digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '+' ||
	       c == '-' || c == '.';
}

struct scan lexeme_blame(const char *text, size_t len, size_t at, enum reason otherwise)
{
	uint32_t point;

	if (at >= len)
		return blame(len, REASON_JSON_TRUNCATED);
	if (control(text[at]))
		return blame(at, REASON_JSON_CONTROL);
	if (utf8_decode(text + at, len - at, false, &point) == 0)
		return blame(at, REASON_JSON_UTF8);
	return blame(at, otherwise);
}

size_t lexeme_blanks(const char *text, size_t len, size_t at)
{
	while (at < len &&
	       (text[at] == ' ' || text[at] == '\t' || text[at] == '\n' || text[at] == '\r'))
		at++;
	return at;
}

static bool plain(char c)
{
	return !control(c) && (unsigned char)c < 0x80 && c != '"' && c != '\\';
}

#define WORD_BYTES 8

/* Eight bytes, the first one lowest; compilers make one load of it. */
static uint64_t word_at(const char *text)
{
	const unsigned char *byte = (const unsigned char *)text;

	return (uint64_t)byte[0] | (uint64_t)byte[1] << 8 | (uint64_t)byte[2] << 16 |
	       (uint64_t)byte[3] << 24 | (uint64_t)byte[4] << 32 | (uint64_t)byte[5] << 40 |
	       (uint64_t)byte[6] << 48 | (uint64_t)byte[7] << 56;
}

/*
 * How many plain bytes a word begins with.  Each term sets the top bit of a
 * byte that it is about: one beyond ASCII, a control, a quote, a backslash.  A
 * borrow can set it in another byte too, but only above such a one: the lowest
 * mark is true.
 */
static unsigned plain_bytes(uint64_t word)
{
	const uint64_t each = UINT64_MAX / 0xff;
	uint64_t marks = word;

	marks |= word - each * 0x20;
	marks |= (word ^ each * '"') - each;
	marks |= (word ^ each * '\\') - each;
	marks &= each * 0x80;
	return marks == 0 ? WORD_BYTES : (unsigned)__builtin_ctzll(marks) / 8;
}

size_t lexeme_plain(const char *text, size_t len, size_t at)
{
	unsigned count = WORD_BYTES;

	while (count == WORD_BYTES && at < len && len - at >= WORD_BYTES) {
		count = plain_bytes(word_at(text + at));
		at += count;
	}
	while (count == WORD_BYTES && at < len && plain(text[at]))
		at++;
	return at;
}

/* The value of a hex digit, 16 for any other byte. */
static unsigned hex_value(char c)
{
	if (digit(c))
		return (unsigned)(c - '0');
	if (c >= 'a' && c <= 'f')
		return (unsigned)(c - 'a') + 10;
	if (c >= 'A' && c <= 'F')
		return (unsigned)(c - 'A') + 10;
	return 16;
}

/* How many hex digits (at most four) stand at `at`; *unit is their value. */
static size_t hex_unit(const char *text, size_t len, size_t at, uint32_t *unit)
{
	size_t count = 0;
	uint32_t value = 0;

	while (count < HEX_DIGITS && at + count < len && hex_value(text[at + count]) < 16) {
		value = value << 4 | hex_value(text[at + count]);
		count++;
	}
	*unit = value;
	return count;
}

/* True iff a whole \u escape stands at `at`; *unit is its value. */
static bool unit_escape(const char *text, size_t len, size_t at, uint32_t *unit)
{
	return len - at >= ESCAPE_BYTES && text[at] == '\\' && text[at + 1] == 'u' &&
	       hex_unit(text, len, at + 2, unit) == HEX_DIGITS;
}

static bool high_surrogate(uint32_t unit)
{
	return unit >= 0xd800 && unit <= 0xdbff;
}

static bool low_surrogate(uint32_t unit)
{
	return unit >= 0xdc00 && unit <= 0xdfff;
}

/* What the letter behind a backslash stands for, 0 for one that may not. */
static uint32_t escape_letter(char c)
{
	static const char letters[] = "\"\\/bfnrt";
	static const unsigned char points[] = {'"', '\\', '/', 0x08, 0x0c, 0x0a, 0x0d, 0x09};
	uint32_t point = 0;

	for (size_t i = 0; i < sizeof(points); i++) {
		if (letters[i] == c)
			point = points[i];
	}
	return point;
}

/* The low half that must follow a high surrogate's escape (at `first`).  Where
 * the text ends inside it, the text is what is at fault. */
static struct scan low_half(const char *text, size_t len, size_t first)
{
	size_t at = first + ESCAPE_BYTES;
	uint32_t unit;
	size_t digits;

	if (at < len && text[at] != '\\')
		return blame(first, REASON_JSON_SURROGATE);
	if (at + 1 < len && text[at + 1] != 'u')
		return blame(first, REASON_JSON_SURROGATE);
	digits = hex_unit(text, len, at + 2, &unit);
	if (digits < HEX_DIGITS)
		return lexeme_blame(text, len, at + 2 + digits, REASON_JSON_ESCAPE);
	if (!low_surrogate(unit))
		return blame(first, REASON_JSON_SURROGATE);
	return good(at + ESCAPE_BYTES);
}

static struct scan scan_escape(const char *text, size_t len, size_t at, bool lone_surrogates)
{
	uint32_t unit;
	size_t digits;

	if (at + 1 < len && escape_letter(text[at + 1]) != 0)
		return good(at + 2);
	if (at + 1 >= len || text[at + 1] != 'u')
		return lexeme_blame(text, len, at + 1, REASON_JSON_ESCAPE);
	digits = hex_unit(text, len, at + 2, &unit);
	if (digits < HEX_DIGITS)
		return lexeme_blame(text, len, at + 2 + digits, REASON_JSON_ESCAPE);
	if (lone_surrogates || (!high_surrogate(unit) && !low_surrogate(unit)))
		return good(at + ESCAPE_BYTES);
	if (low_surrogate(unit))
		return blame(at, REASON_JSON_SURROGATE);
	return low_half(text, len, at);
}

static struct scan scan_character(const char *text, size_t len, size_t at, bool lone_surrogates)
{
	uint32_t point;
	unsigned width;

	if (text[at] == '\\')
		return scan_escape(text, len, at, lone_surrogates);
	if (control(text[at]))
		return blame(at, REASON_JSON_CONTROL);
	width = utf8_decode(text + at, len - at, false, &point);
	return width > 0 ? good(at + width) : blame(at, REASON_JSON_UTF8);
}

/* The characters from `at` on, with the closing quote. */
static struct scan scan_body(const char *text, size_t len, size_t at, bool lone_surrogates)
{
	struct scan step = good(at);

	while (step.reason == REASON_NONE && step.at < len && text[step.at] != '"') {
		step = scan_character(text, len, step.at, lone_surrogates);
		if (step.reason == REASON_NONE)
			step.at = lexeme_plain(text, len, step.at);
	}
	if (step.reason != REASON_NONE)
		return step;
	return step.at < len ? good(step.at + 1) : blame(len, REASON_JSON_TRUNCATED);
}

/* Most strings are plain throughout. */
struct scan lexeme_string(const char *text, size_t len, size_t at, bool lone_surrogates)
{
	size_t end = lexeme_plain(text, len, at + 1);

	if (end < len && text[end] == '"')
		return good(end + 1);
	return scan_body(text, len, end, lone_surrogates);
}

/* A number's grammar (RFC 8259 section 6) as an automaton. */
enum number_state {
	BEGIN,
	MINUS,
	ZERO, /* a number may end here */
	WHOLE, /* and here */
	POINT,
	FRACTION, /* and here */
	MARK, /* e or E */
	SIGN,
	EXPONENT, /* and here */
	STOP,
};

enum number_class { C_ZERO, C_DIGIT, C_MINUS, C_PLUS, C_POINT, C_MARK, C_OTHER, C_COUNT };

static enum number_class number_class(char c)
{
	if (c == '0')
		return C_ZERO;
	if (digit(c))
		return C_DIGIT;
	if (c == '-')
		return C_MINUS;
	if (c == '+')
		return C_PLUS;
	if (c == '.')
		return C_POINT;
	return c == 'e' || c == 'E' ? C_MARK : C_OTHER;
}

static enum number_state number_step(enum number_state state, char c)
{
	/*                   0         1-9       -      +     .      e     other */
	static const unsigned char next[STOP][C_COUNT] = {
	        [BEGIN] = {ZERO, WHOLE, MINUS, STOP, STOP, STOP, STOP},
	        [MINUS] = {ZERO, WHOLE, STOP, STOP, STOP, STOP, STOP},
	        [ZERO] = {STOP, STOP, STOP, STOP, POINT, MARK, STOP},
	        [WHOLE] = {WHOLE, WHOLE, STOP, STOP, POINT, MARK, STOP},
	        [POINT] = {FRACTION, FRACTION, STOP, STOP, STOP, STOP, STOP},
	        [FRACTION] = {FRACTION, FRACTION, STOP, STOP, STOP, MARK, STOP},
	        [MARK] = {EXPONENT, EXPONENT, SIGN, SIGN, STOP, STOP, STOP},
	        [SIGN] = {EXPONENT, EXPONENT, STOP, STOP, STOP, STOP, STOP},
	        [EXPONENT] = {EXPONENT, EXPONENT, STOP, STOP, STOP, STOP, STOP},
	};

	return (enum number_state)next[state][number_class(c)];
}

struct scan lexeme_number(const char *text, size_t len, size_t at)
{
	enum number_state state = BEGIN;
	enum number_state next = BEGIN;

	while (at < len && next != STOP) {
		next = number_step(state, text[at]);
		if (next != STOP) {
			state = next;
			at++;
		}
	}
	if (state != ZERO && state != WHOLE && state != FRACTION && state != EXPONENT)
		return lexeme_blame(text, len, at, REASON_JSON_NUMBER);
	return glued(text, len, at) ? blame(at, REASON_JSON_NUMBER) : good(at);
}

struct scan lexeme_literal(const char *text, size_t len, size_t at)
{
	const char *word = "null";

	if (at < len && text[at] == 't')
		word = "true";
	if (at < len && text[at] == 'f')
		word = "false";
	for (; *word != '\0'; word++, at++) {
		if (at >= len || text[at] != *word)
			return lexeme_blame(text, len, at, REASON_JSON_SYNTAX);
	}
	return glued(text, len, at) ? blame(at, REASON_JSON_SYNTAX) : good(at);
}

/* The escape at `at`, as lexeme_point returns it. */
static size_t escaped_point(const char *text, size_t end, size_t at, uint32_t *point)
{
	uint32_t unit;
	uint32_t low;

	if (end - at >= 2 && escape_letter(text[at + 1]) != 0) {
		*point = escape_letter(text[at + 1]);
		return at + 2;
	}
	if (!unit_escape(text, end, at, &unit)) {
		*point = 0xfffd;
		return at + 1;
	}
	*point = unit;
	at += ESCAPE_BYTES;
	if (!high_surrogate(unit) || !unit_escape(text, end, at, &low) || !low_surrogate(low))
		return at;
	*point = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
	return at + ESCAPE_BYTES;
}

size_t lexeme_point(const char *text, size_t end, size_t at, uint32_t *point)
{
	unsigned width;

	if (text[at] == '\\')
		return escaped_point(text, end, at, point);
	if ((unsigned char)text[at] < 0x80) {
		*point = (unsigned char)text[at];
		return at + 1;
	}
	*point = 0xfffd;
	width = utf8_decode(text + at, end - at, false, point);
	return at + (width > 0 ? width : 1);
}

/* SPDX-License-Identifier: ISC */
#ifndef COFFERDAM_POLICY_JSON_H
#define COFFERDAM_POLICY_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "grammar.h" /* JSON_DEPTH_MAX */
#include "reason.h"
#include "text.h"

/*
 * RFC 8259 exactly, over jsmn's tokens.  Pure, no heap, no recursion; the only
 * includer of jsmn.h is json.c.
 *
 * jsmn is a tokenizer, not a validator, so json_parse is three passes: a linear
 * pre-scan by policy/grammar.c (bytes, UTF-8, raw controls, depth, number of
 * values, grammar), so that jsmn is never shown what is not a document; then
 * jsmn in strict mode with parent links; then the whole grammar again over the
 * tokens and the bytes between them.  Last, duplicate keys (compared after
 * unescaping) are refused at every depth.  At worst n log n.
 *
 * The offset of an error is exact.  Size and byte order mark come first; then
 * the earliest byte at which no document can go on, as a left-to-right parser
 * would find it (for UTF-8 the sequence's first byte, for a lone surrogate its
 * backslash, for a limit the value that exceeds it, for a text that ends too
 * early its length); then, in what is a document, the opening quote of the
 * first key that repeats another.
 *
 * A document is valid until json_drop; documents are dropped in the reverse
 * order of their parsing (their tokens are carved from one static pool).  The
 * text is the caller's and must outlive the document.
 *
 * A node is an index into one document's values, in document order: 0 is the
 * root; in an object, keys and values alternate as siblings are walked by
 * json_first/json_next on *members*, see below.  JSON_NONE, or any index beyond
 * the document, may be given to every function: it reads as a null without
 * text, place or children.
 */

#ifndef JSON_POOL
#define JSON_POOL 262144 /* values in all open documents together */
#endif
#define JSON_BYTES 16777216 /* of a text, at most */
#define JSON_NONE UINT32_MAX

enum json_type {
	JSON_OBJECT,
	JSON_ARRAY,
	JSON_STRING,
	JSON_NUMBER,
	JSON_TRUE,
	JSON_FALSE,
	JSON_NULL,
};

struct json {
	const char *text;
	size_t len;
	uint32_t base; /* first token in the pool */
	uint32_t count; /* values, keys included */
};

struct json_limits {
	size_t bytes; /* at most JSON_BYTES */
	uint32_t values; /* at most JSON_POOL */
	bool lone_surrogates; /* accept \ud800 standing alone */
};

/* Where and why a text is not a document. */
struct json_error {
	enum reason reason; /* a JSON_* row */
	size_t offset; /* bytes from the start; may equal len */
	uint32_t line; /* from 1; a line ends after LF */
	uint32_t column; /* from 1, in bytes */
};

/* True and *doc, or false and *error.  Either way the other is untouched. */
__attribute__((warn_unused_result)) bool json_parse(struct json *doc, const char *text, size_t len,
                                                    const struct json_limits *limits,
                                                    struct json_error *error);
/* Empties *doc; nothing when it is empty already. */
void json_drop(struct json *doc);

enum json_type json_type(const struct json *doc, uint32_t node);
/* The bytes of the value in the text; a string's with its quotes. */
const char *json_span(const struct json *doc, uint32_t node, size_t *len);
/* Number of items of an array, of members of an object, else 0. */
uint32_t json_count(const struct json *doc, uint32_t node);

/* Walking.  An array: item = json_first(doc, array), then json_next(doc, item),
 * until JSON_NONE.  An object: the same walk gives its *keys*; json_value(doc,
 * key) is a key's value. */
uint32_t json_first(const struct json *doc, uint32_t container);
uint32_t json_next(const struct json *doc, uint32_t item_or_key);
uint32_t json_value(const struct json *doc, uint32_t key);
/* The value under a key (ASCII text, compared after unescaping), or JSON_NONE;
 * JSON_NONE also when the node is no object.  Linear in the object. */
uint32_t json_get(const struct json *doc, uint32_t object, const char *key);

/* Strings (and keys). */
bool json_equals(const struct json *doc, uint32_t string, const char *ascii);
/* Length in UTF-16 code units, as JavaScript counts. */
size_t json_units(const struct json *doc, uint32_t string);
/* Appends the unescaped text (generalised UTF-8). */
void json_decode(const struct json *doc, uint32_t string, struct text *out);
/* The unescaped text kept in an arena, NUL-terminated.  NULL when it holds a
 * NUL, or when the arena is full (then arena->full). */
const char *json_keep(const struct json *doc, uint32_t string, struct text *arena);

/* The canonical text of a value: no blanks, keys in their order, numbers as
 * written, strings as ECMA-262's QuoteJSONString writes them (shortest
 * escapes, \u00xx and lone surrogates in lower-case hex, all else raw). */
void json_write(const struct json *doc, uint32_t node, struct text *out);

/* The RFC 6901 pointer of a value (of a key: its value's), raw UTF-8 (which may
 * hold NUL).  What does not fit into `out` is cut between two characters. */
void json_pointer(const struct json *doc, uint32_t node, struct text *out);
/* The same place as line and column. */
void json_place(const struct json *doc, uint32_t node, struct json_error *place);

#endif

/* SPDX-License-Identifier: ISC */
#ifndef COFFERDAM_POLICY_SCHEMA_H
#define COFFERDAM_POLICY_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "json.h"
#include "report.h"

/*
 * The shape of a document as one constant table, read three ways: it checks a
 * document, it writes the canonical document, and it prints JSON Schema
 * 2020-12 text, so that the three cannot drift apart.  Pure.  Nested shapes
 * are walked with a stack of SCHEMA_DEPTH levels, without recursion.
 */

#define SCHEMA_DEPTH 8

/* A judged string must fit here once it is unescaped; a longer one is
 * SHAPE_LENGTH.  Every document whose strings may be that long is no larger. */
#ifndef SCHEMA_TEXT_MAX
#define SCHEMA_TEXT_MAX 262144
#endif

enum schema_type {
	SCHEMA_STRING,
	SCHEMA_BOOLEAN,
	SCHEMA_INTEGER, /* plain digits: 1.0, 1e3 and -0 are refused */
	SCHEMA_DECIMAL, /* digits, and at most nine after a point */
	SCHEMA_OBJECT, /* the members in `of` */
	SCHEMA_ARRAY, /* of `item` */
	SCHEMA_MAP, /* any keys, values of `item`; without one any values */
};

/* REASON_NONE when the text is of the grammar. */
typedef enum reason schema_judge(const char *text, size_t len);

/* The reasons of a field that are not the standard ones. */
struct schema_reasons {
	enum reason wrong; /* not of this type; SHAPE_TYPE */
	enum reason unfit; /* no plain number, or none of words; SHAPE_VALUE */
	enum reason low; /* below min; SHAPE_VALUE, SHAPE_LENGTH or SHAPE_COUNT */
	enum reason high; /* above max; the same */
};

/*
 * One member of an object, or the item of an array or map, or a whole
 * document (then without a key).  Zero means: no such rule.
 *
 * min and max, inclusive: a string's UTF-16 units, an integer's value, a
 * decimal's value in units of 10^-9, an array's items, a map's members.  A max
 * of 0 is no bound, but for numbers.
 */
struct schema_field {
	const char *key;
	enum schema_type type;
	bool required;
	bool open; /* OBJECT: unknown members are dropped, not refused */
	bool standard; /* INTEGER, DECIMAL: initial holds when the member is absent */
	uint64_t min;
	uint64_t max;
	uint64_t initial;
	const struct schema_reasons *why;
	const char *const *words; /* STRING: those allowed, NULL at the end */
	schema_judge *judge; /* STRING: of the text; MAP: of each key */
	const char *pattern; /* ECMA-262, what judge says, as far as it can say it */
	const struct schema_field *of; /* OBJECT: its members, in canonical order */
	uint32_t count; /* OBJECT: how many */
	const struct schema_field *item; /* ARRAY, MAP */
	/* OBJECT: more keywords for its JSON Schema, for rules that are not this
	 * table's and that another place checks. */
	const char *keywords;
	const char *note; /* for people who read the JSON Schema */
};

/*
 * Reports every violation, each with its pointer, and goes on.  Pointers of
 * dropped members are appended to dropped (may be NULL), each with a newline
 * after it, in printable ASCII; once dropped is full no more are made.
 */
void schema_check(const struct json *doc, const struct schema_field *root, struct text *dropped,
                  struct report *report);

/* The canonical text of a checked document: known members only, in the
 * table's order.  Only for a document that schema_check found nothing in. */
void schema_write(const struct json *doc, const struct schema_field *root, struct text *out);

/* The value of a number of this object, or the field's initial one when it is
 * absent or not of the table.  object may be JSON_NONE. */
uint64_t schema_number(const struct json *doc, uint32_t object, const struct schema_field *field);

/* The JSON Schema of a table, one line without a newline. */
void schema_emit(const struct schema_field *root, const char *title, struct text *out);

/* The nearest of an object's keys, when it differs by at most two letters put
 * in, left out or changed; else NULL. */
const char *schema_nearest(const struct schema_field *object, const char *key, size_t len);

#endif

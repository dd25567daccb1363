/* SPDX-License-Identifier: ISC */
#ifndef COFFERDAM_POLICY_WANT_H
#define COFFERDAM_POLICY_WANT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../ipc/frame_policy.h"
#include "json.h"
#include "report.h"

/*
 * What policy/verify.c compares with: one member of docker's description and
 * what was asked for.  Pure.  Each want_ function adds a verify.differs for a
 * difference ("asked X, docker says Y", at the member's pointer), and nothing
 * when the two are the same.
 */

struct want {
	const struct json *doc;
	const struct launch *plan;
	struct report *report;
};

#define WANT_PATH 4 /* three keys at most, and the NULL after the last */

/* A member, there or not.  When the object that should hold it is missing too
 * (JSON_NONE), path names it: its keys from the root, NULL after the last. */
struct member {
	uint32_t object;
	const char *key;
	uint32_t value; /* JSON_NONE: missing */
	const char *const *path;
};

/* A member of an object, or of anything else, which then lacks it. */
struct member want_member(const struct want *w, uint32_t object, const char *key);

/* What a value is.  node may be JSON_NONE, which is nothing of the kind. */
bool want_is(const struct want *w, uint32_t node, enum json_type type);
bool want_is_text(const struct want *w, uint32_t node, const char *bytes, size_t len);
bool want_is_string(const struct want *w, uint32_t node, const char *string);
/* Its canonical text (json_write) is `text`; false when text is NULL. */
bool want_is_written(const struct want *w, uint32_t node, const char *text);
/* A label's key and value, written key=value. */
bool want_is_label(const struct want *w, uint32_t key, const char *label);
/* null, false, 0, "", [] or {} */
bool want_is_nothing(const struct want *w, uint32_t node);
/* A key is one of the names, which end with NULL. */
bool want_is_among(const struct want *w, uint32_t key, const char *const *names);
/* The array has this string as an item. */
bool want_holds(const struct want *w, uint32_t array, const char *string);
/* The array's first item whose member `key` is this string, or JSON_NONE. */
uint32_t want_item(const struct want *w, uint32_t array, const char *key, const char *string);

/* How many differences were found so far. */
uint32_t want_findings(const struct want *w);
/* The finding itself: a member; an item or member that is there. */
void want_differs(const struct want *w, const struct member *member, const char *asked);
void want_nothing(const struct want *w, uint32_t node);

void want_string(const struct want *w, uint32_t object, const char *key, const char *string);
void want_written(const struct want *w, uint32_t object, const char *key, const char *text);
void want_number(const struct want *w, uint32_t object, const char *key, uint64_t number);
/* Every member but the named ones says nothing. */
void want_closed(const struct want *w, uint32_t object, const char *const *names);
/* An array of just these strings in this order; null or missing is as good as
 * an array of none. */
void want_words(const struct want *w, const struct member *member, const char *const *words,
                uint32_t count);
/* An array that has at least these strings, which end with NULL. */
void want_subset(const struct want *w, const struct member *member, const char *const *strings);

#endif

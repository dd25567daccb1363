/* SPDX-License-Identifier: ISC */
#include "want.h"

#include <string.h>

/* What is shown of either side of a difference, in bytes of the report. */
#define SHOWN_MAX 300
#define ESCAPE_MAX 4 /* \xNN */

/* Follows what was cut. */
static const char cut[] = "...";

_Static_assert(2 * SHOWN_MAX + 64 < REPORT_DETAIL, "a difference fits into a finding");

/* One value of docker's, unescaped or rewritten.  No text of a plan is longer
 * than its frame, so what does not fit here differs. */
static char scratch[FRAME_MAX];

struct member want_member(const struct want *w, uint32_t object, const char *key)
{
	struct member member = { .object = object, .key = key, .value = JSON_NONE };

	if (object != JSON_NONE)
		member.value = json_get(w->doc, object, key);
	return member;
}

bool want_is(const struct want *w, uint32_t node, enum json_type type)
{
	return node != JSON_NONE && json_type(w->doc, node) == type;
}

static bool scratch_is(const struct text *out, const char *bytes, size_t len)
{
	return !out->full && out->len == len && memcmp(scratch, bytes, len) == 0;
}

bool want_is_text(const struct want *w, uint32_t node, const char *bytes, size_t len)
{
	struct text out;

	if (!want_is(w, node, JSON_STRING))
		return false;
	text_init(&out, scratch, sizeof(scratch));
	json_decode(w->doc, node, &out);
	return scratch_is(&out, bytes, len);
}

bool want_is_string(const struct want *w, uint32_t node, const char *string)
{
	return want_is_text(w, node, string, strlen(string));
}

bool want_is_written(const struct want *w, uint32_t node, const char *text)
{
	struct text out;

	if (text == NULL)
		return false;
	text_init(&out, scratch, sizeof(scratch));
	json_write(w->doc, node, &out);
	return scratch_is(&out, text, strlen(text));
}

bool want_is_label(const struct want *w, uint32_t key, const char *label)
{
	const uint32_t value = json_value(w->doc, key);
	struct text out;

	if (!want_is(w, value, JSON_STRING))
		return false;
	text_init(&out, scratch, sizeof(scratch));
	json_decode(w->doc, key, &out);
	text_string(&out, "=");
	json_decode(w->doc, value, &out);
	return scratch_is(&out, label, strlen(label));
}

bool want_is_nothing(const struct want *w, uint32_t node)
{
	size_t len;
	const char *span = json_span(w->doc, node, &len);

	switch (json_type(w->doc, node)) {
	case JSON_NULL:
	case JSON_FALSE:
		return true;
	case JSON_NUMBER:
		return len == 1 && span[0] == '0';
	case JSON_STRING:
		return len == 2;
	case JSON_ARRAY:
	case JSON_OBJECT:
		return json_count(w->doc, node) == 0;
	case JSON_TRUE:
	default:
		return false;
	}
}

bool want_is_among(const struct want *w, uint32_t key, const char *const *names)
{
	bool among = false;

	for (size_t i = 0; names[i] != NULL && !among; i++)
		among = json_equals(w->doc, key, names[i]);
	return among;
}

bool want_holds(const struct want *w, uint32_t array, const char *string)
{
	uint32_t item = json_first(w->doc, array);

	while (item != JSON_NONE && !want_is_string(w, item, string))
		item = json_next(w->doc, item);
	return item != JSON_NONE;
}

uint32_t want_item(const struct want *w, uint32_t array, const char *key, const char *string)
{
	uint32_t item = json_first(w->doc, array);

	while (item != JSON_NONE && !want_is_string(w, json_get(w->doc, item, key), string))
		item = json_next(w->doc, item);
	return item;
}

uint32_t want_findings(const struct want *w)
{
	return w->report->count + w->report->dropped;
}

/* Escaped, and cut visibly. */
static void show(struct text *to, const char *bytes, size_t len)
{
	const size_t limit = to->len + SHOWN_MAX;
	size_t i = 0;

	while (i < len && to->len + ESCAPE_MAX <= limit) {
		text_escaped(to, bytes + i, 1);
		i++;
	}
	if (i < len)
		text_string(to, cut);
}

static void differs_at(const struct want *w, const char *pointer, uint32_t node, const char *asked)
{
	struct report_detail detail = report_open(w->report, REASON_VERIFY_DIFFERS, pointer);

	text_string(&detail.text, "asked ");
	show(&detail.text, asked, strlen(asked));
	text_string(&detail.text, ", docker says ");
	if (node == JSON_NONE) {
		text_string(&detail.text, "nothing");
	} else {
		size_t len;
		const char *bytes = json_span(w->doc, node, &len);

		show(&detail.text, bytes, len);
	}
	report_close(&detail);
}

/* The pointer of a member that is missing. */
static void put_missing(const struct want *w, const struct member *member, struct text *to)
{
	if (member->object != JSON_NONE) {
		json_pointer(w->doc, member->object, to);
		text_string(to, "/");
		text_string(to, member->key);
		return;
	}
	for (size_t i = 0; member->path != NULL && member->path[i] != NULL; i++) {
		text_string(to, "/");
		text_string(to, member->path[i]);
	}
}

void want_differs(const struct want *w, const struct member *member, const char *asked)
{
	char buffer[REPORT_POINTER] = "";
	struct text pointer;

	text_init(&pointer, buffer, sizeof(buffer) - 1);
	if (member->value != JSON_NONE)
		json_pointer(w->doc, member->value, &pointer);
	else
		put_missing(w, member, &pointer);
	differs_at(w, buffer, member->value, asked);
}

void want_nothing(const struct want *w, uint32_t node)
{
	const struct member member = { .value = node };

	want_differs(w, &member, "nothing");
}

void want_string(const struct want *w, uint32_t object, const char *key, const char *string)
{
	const struct member member = want_member(w, object, key);

	if (!want_is_string(w, member.value, string))
		want_differs(w, &member, string);
}

void want_written(const struct want *w, uint32_t object, const char *key, const char *text)
{
	const struct member member = want_member(w, object, key);

	if (!want_is_written(w, member.value, text))
		want_differs(w, &member, text);
}

/* As written: 1e3 is not 1000 here. */
void want_number(const struct want *w, uint32_t object, const char *key, uint64_t number)
{
	char buffer[21] = ""; /* 2^64 - 1 has twenty digits */
	struct text digits;

	text_init(&digits, buffer, sizeof(buffer) - 1);
	text_u64(&digits, number);
	want_written(w, object, key, buffer);
}

void want_closed(const struct want *w, uint32_t object, const char *const *names)
{
	for (uint32_t key = json_first(w->doc, object); key != JSON_NONE;
	     key = json_next(w->doc, key)) {
		const uint32_t value = json_value(w->doc, key);

		if (!want_is_nothing(w, value) && !want_is_among(w, key, names))
			want_nothing(w, value);
	}
}

static bool same_words(const struct want *w, uint32_t array, const char *const *words,
                       uint32_t count)
{
	bool same = json_count(w->doc, array) == count;
	uint32_t item = json_first(w->doc, array);

	for (uint32_t i = 0; i < count && same; i++) {
		same = want_is_string(w, item, words[i]);
		item = json_next(w->doc, item);
	}
	return same;
}

/* The words as a JSON array, as far as a finding shows it. */
static void words_differ(const struct want *w, const struct member *member,
                         const char *const *words, uint32_t count)
{
	char buffer[2 * SHOWN_MAX] = "";
	struct text asked;

	text_init(&asked, buffer, sizeof(buffer) - sizeof(cut));
	text_string(&asked, "[");
	for (uint32_t i = 0; i < count; i++) {
		text_string(&asked, i == 0 ? "" : ",");
		text_json(&asked, words[i], strlen(words[i]));
	}
	text_string(&asked, "]");
	if (asked.full)
		memcpy(buffer + asked.len, cut, sizeof(cut));
	want_differs(w, member, buffer);
}

void want_words(const struct want *w, const struct member *member, const char *const *words,
                uint32_t count)
{
	const uint32_t array = member->value;
	const bool none = array == JSON_NONE || want_is(w, array, JSON_NULL);

	if (none && count == 0)
		return;
	if (!want_is(w, array, JSON_ARRAY) || !same_words(w, array, words, count))
		words_differ(w, member, words, count);
}

void want_subset(const struct want *w, const struct member *member, const char *const *strings)
{
	const bool array = want_is(w, member->value, JSON_ARRAY);

	for (size_t i = 0; strings[i] != NULL; i++)
		if (!array || !want_holds(w, member->value, strings[i]))
			want_differs(w, member, strings[i]);
}

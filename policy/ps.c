/* SPDX-License-Identifier: ISC */
#include "ps.h"

#include <stdint.h>
#include <string.h>

#include "../ipc/limits.h"
#include "json.h"

#define VALUES 16 /* the array and its items */
#define SHOWN_MAX 192 /* bytes of a value of unknown length */
#define LINE_BYTES_MAX 262144
#define CLAIM_BYTES (ID_HEX + 1) /* with its newline */

/* Follows what was cut. */
static const char cut[] = "...";

enum field {
	FIELD_ID,
	FIELD_STATE_ID,
	FIELD_RUN,
	FIELD_MODE,
	FIELD_SESSION,
	FIELD_REVISION,
	FIELD_STATE,
	FIELD_NAME,
	FIELD_CREATED,
	FIELD_COUNT,
	FIELD_OWNER = FIELD_COUNT, /* ours, not docker's */
	COLUMNS,
};

static const char *const keys[COLUMNS] = {
	[FIELD_ID] = "id",           [FIELD_STATE_ID] = "state_id", [FIELD_RUN] = "run",
	[FIELD_MODE] = "mode",       [FIELD_SESSION] = "session",   [FIELD_REVISION] = "revision",
	[FIELD_STATE] = "state",     [FIELD_NAME] = "name",         [FIELD_CREATED] = "created",
	[FIELD_OWNER] = "owner",
};

/* The table, for people: the columns whose width varies least come first. */
static const struct column {
	const char *head;
	enum field field;
	size_t width; /* 0: the last, nothing stands behind it */
} columns[] = {
	{"RUN", FIELD_RUN, ID_HEX},   {"STATE", FIELD_STATE, 10},     {"OWNER", FIELD_OWNER, 8},
	{"MODE", FIELD_MODE, 7},      {"CREATED", FIELD_CREATED, 29}, {"REVISION", FIELD_REVISION, 8},
	{"NAME", FIELD_NAME, 42},     {"SESSION", FIELD_SESSION, 0},
};

#define SHOWN_COLUMNS (sizeof(columns) / sizeof(columns[0]))

/* A value that docker gave, or ours. */
struct value {
	const char *text;
	size_t len;
};

static bool is_claim(const char *text)
{
	bool ok = text[ID_HEX] == '\n';

	for (size_t i = 0; i < ID_HEX; i++)
		ok = ok && ((text[i] >= '0' && text[i] <= '9') ||
		            (text[i] >= 'a' && text[i] <= 'f'));
	return ok;
}

bool ps_init(struct ps *ps, const char *text, size_t len)
{
	bool ok = text == NULL || (len > 0 && len % CLAIM_BYTES == 0);

	for (size_t at = 0; ok && text != NULL && at < len; at += CLAIM_BYTES)
		ok = is_claim(text + at);
	ps->held = ok ? text : NULL;
	ps->len = ok && text != NULL ? len : 0;
	return ok;
}

static bool is_at(const struct ps *ps, size_t at, const struct value *value)
{
	return value->len == ID_HEX && memcmp(ps->held + at, value->text, ID_HEX) == 0;
}

static const char *owner(const struct ps *ps, const struct value *state_id,
                         const struct value *run)
{
	if (ps->held == NULL)
		return "unknown";
	if (!is_at(ps, 0, state_id))
		return "other";
	for (size_t at = CLAIM_BYTES; at < ps->len; at += CLAIM_BYTES)
		if (is_at(ps, at, run))
			return "alive";
	return "orphaned";
}

/* As many bytes of it as are shown, up to the end of a character (RFC 3629). */
static size_t shown_bytes(const struct value *value)
{
	size_t len = value->len;

	if (len <= SHOWN_MAX)
		return len;
	for (len = SHOWN_MAX; len > SHOWN_MAX - 3; len--)
		if (((unsigned char)value->text[len] & 0xc0) != 0x80)
			break;
	return len;
}

/* The value, whole or cut and marked. */
static void show(const struct value *value, bool json, struct text *out)
{
	char bytes[SHOWN_MAX + sizeof(cut)];
	size_t len = shown_bytes(value);
	struct text shown;

	text_init(&shown, bytes, sizeof(bytes));
	text_bytes(&shown, value->text, len);
	text_string(&shown, len < value->len ? cut : "");
	if (json)
		text_json(out, shown.at, shown.len);
	else if (shown.len == 0)
		text_string(out, "-");
	else
		text_escaped(out, shown.at, shown.len);
}

/* Blanks up to the column's end, at least two; none after the last. */
static void pad(struct text *out, size_t start, size_t column)
{
	if (columns[column].width == 0)
		return;
	text_string(out, "  ");
	while (!out->full && out->len - start < columns[column].width + 2)
		text_string(out, " ");
}

void ps_head(struct text *out)
{
	for (size_t i = 0; i < SHOWN_COLUMNS; i++) {
		size_t start = out->len;

		text_string(out, columns[i].head);
		pad(out, start, i);
	}
	text_string(out, "\n");
}

static void put_row(const struct value *values, struct text *out)
{
	for (size_t i = 0; i < SHOWN_COLUMNS; i++) {
		size_t start = out->len;

		show(&values[columns[i].field], false, out);
		pad(out, start, i);
	}
	text_string(out, "\n");
}

static void put_object(const struct value *values, struct text *out)
{
	for (size_t i = 0; i < COLUMNS; i++) {
		text_string(out, i == 0 ? "{\"" : ",\"");
		text_string(out, keys[i]);
		text_string(out, "\":");
		show(&values[i], true, out);
	}
	text_string(out, "}\n");
}

static bool keep_values(const struct json *doc, struct text *arena, struct value *values)
{
	uint32_t item;

	if (json_type(doc, 0) != JSON_ARRAY || json_count(doc, 0) != FIELD_COUNT)
		return false;
	item = json_first(doc, 0);
	for (size_t i = 0; i < FIELD_COUNT; i++) {
		if (json_type(doc, item) != JSON_STRING)
			return false;
		values[i].text = arena->at + arena->len;
		json_decode(doc, item, arena);
		values[i].len = (size_t)(arena->at + arena->len - values[i].text);
		item = json_next(doc, item);
	}
	return !arena->full;
}

bool ps_line(const struct ps *ps, const char *line, size_t len, bool json, struct text *out)
{
	static char bytes[LINE_BYTES_MAX];
	const struct json_limits limits = {
		.bytes = LINE_BYTES_MAX, .values = VALUES, .lone_surrogates = true};
	struct value values[COLUMNS];
	struct json_error error;
	struct text arena;
	struct json doc;
	bool ok;

	if (!json_parse(&doc, line, len, &limits, &error))
		return false;
	text_init(&arena, bytes, sizeof(bytes));
	ok = keep_values(&doc, &arena, values);
	json_drop(&doc);
	if (!ok)
		return false;
	values[FIELD_OWNER].text = owner(ps, &values[FIELD_STATE_ID], &values[FIELD_RUN]);
	values[FIELD_OWNER].len = strlen(values[FIELD_OWNER].text);
	if (json)
		put_object(values, out);
	else
		put_row(values, out);
	return true;
}

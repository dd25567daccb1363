/* SPDX-License-Identifier: ISC */
#include "turn.h"

#include "schema.h"

#define NAME_MAX_BYTES 48
#define NAME_PATTERN "^[a-z][a-z0-9_]{0,47}$"

static bool lower(char c)
{
	return c >= 'a' && c <= 'z';
}

static bool digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool name_fits(const char *name, size_t len)
{
	if (len == 0 || len > NAME_MAX_BYTES || !lower(name[0]))
		return false;
	for (size_t i = 1; i < len; i++) {
		if (!lower(name[i]) && !digit(name[i]) && name[i] != '_')
			return false;
	}
	return true;
}

static enum reason judge_name(const char *name, size_t len)
{
	return name_fits(name, len) ? REASON_NONE : REASON_SHAPE_NAME;
}

bool turn_name(const struct json *doc, uint32_t string)
{
	char buffer[NAME_MAX_BYTES + 1];
	struct text name;

	text_init(&name, buffer, sizeof(buffer));
	json_decode(doc, string, &name);
	return !name.full && name_fits(name.at, name.len);
}

/* The tables.  A table's order is the order of the canonical turn. */

#define COUNT(fields) ((uint32_t)(sizeof(fields) / sizeof((fields)[0])))

static const struct schema_field TOOL_FIELDS[] = {
	{.key = "name",
	 .type = SCHEMA_STRING,
	 .required = true,
	 .judge = judge_name,
	 .pattern = NAME_PATTERN},
	{.key = "description", .type = SCHEMA_STRING, .required = true},
	{.key = "parameters",
	 .type = SCHEMA_MAP,
	 .required = true,
	 .note = "a JSON Schema, handed on as it is"},
};

static const struct schema_field TOOL = {
	.type = SCHEMA_OBJECT, .open = true, .of = TOOL_FIELDS, .count = COUNT(TOOL_FIELDS)};

static const struct schema_field SPEAKER_FIELDS[] = {
	{.key = "id", .type = SCHEMA_STRING, .required = true, .max = TURN_SPEAKER_UNITS},
	{.key = "name", .type = SCHEMA_STRING, .required = true, .max = TURN_SPEAKER_UNITS},
};

static const struct schema_field SERVER_FIELDS[] = {
	{.key = "server",
	 .type = SCHEMA_STRING,
	 .required = true,
	 .judge = judge_name,
	 .pattern = NAME_PATTERN},
	{.key = "tools", .type = SCHEMA_ARRAY, .required = true, .item = &TOOL},
};

static const struct schema_field SERVER = {
	.type = SCHEMA_OBJECT, .open = true, .of = SERVER_FIELDS, .count = COUNT(SERVER_FIELDS)};

static const struct schema_field TURN_FIELDS[] = {
	{.key = "text",
	 .type = SCHEMA_STRING,
	 .required = true,
	 .max = TURN_TEXT_UNITS,
	 .note = "the message for the agent"},
	{.key = "speaker",
	 .type = SCHEMA_OBJECT,
	 .required = true,
	 .open = true,
	 .of = SPEAKER_FIELDS,
	 .count = COUNT(SPEAKER_FIELDS)},
	{.key = "model", .type = SCHEMA_STRING, .required = true},
	{.key = "prompt", .type = SCHEMA_STRING, .required = true},
	{.key = "timeZone", .type = SCHEMA_STRING, .required = true},
	{.key = "tools", .type = SCHEMA_ARRAY, .required = true, .item = &TOOL},
	{.key = "reset", .type = SCHEMA_BOOLEAN},
	{.key = "mcp", .type = SCHEMA_ARRAY, .required = true, .item = &SERVER},
};

static const struct schema_field TURN = {
	.type = SCHEMA_OBJECT, .open = true, .of = TURN_FIELDS, .count = COUNT(TURN_FIELDS)};

void turn_write(const struct json *doc, struct text *out, struct text *dropped,
                struct report *report)
{
	schema_check(doc, &TURN, dropped, report);
	if (report_empty(report))
		schema_write(doc, &TURN, out);
}

void turn_schema(struct text *out)
{
	schema_emit(&TURN, "cofferdam turn", out);
}

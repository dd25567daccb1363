/* SPDX-License-Identifier: ISC */
#include "model_input.h"

#include <string.h>

#include "schema.h"

#define MESSAGES_MAX 128
#define TOOLS_MAX 128
#define CALLS_MAX 8
#define CALL_ID_UNITS 128
#define FUNCTION_NAME_MAX 64

/* The names of functions: [a-z][a-z0-9_]{0,63}. */
static bool name_fits(const char *name, size_t len)
{
	if (len == 0 || len > FUNCTION_NAME_MAX || name[0] < 'a' || name[0] > 'z')
		return false;
	for (size_t i = 1; i < len; i++) {
		bool lower = name[i] >= 'a' && name[i] <= 'z';
		bool digit = name[i] >= '0' && name[i] <= '9';

		if (!lower && !digit && name[i] != '_')
			return false;
	}
	return true;
}

static enum reason judge_name(const char *name, size_t len)
{
	return name_fits(name, len) ? REASON_NONE : REASON_SHAPE_NAME;
}

/* The tables.  A table's order is the order of the projection. */

#define COUNT(fields) ((uint32_t)(sizeof(fields) / sizeof((fields)[0])))

static const char *const ROLES[] = {"system", "user", "assistant", "tool", NULL};
static const char *const FUNCTION[] = {"function", NULL};

static const struct schema_field CALLED_FIELDS[] = {
	{.key = "name", .type = SCHEMA_STRING, .required = true, .judge = judge_name},
	{.key = "arguments", .type = SCHEMA_STRING, .required = true},
};

static const struct schema_field CALL_FIELDS[] = {
	{.key = "id", .type = SCHEMA_STRING, .required = true, .min = 1, .max = CALL_ID_UNITS},
	{.key = "type", .type = SCHEMA_STRING, .required = true, .words = FUNCTION},
	{.key = "function",
	 .type = SCHEMA_OBJECT,
	 .required = true,
	 .open = true,
	 .of = CALLED_FIELDS,
	 .count = COUNT(CALLED_FIELDS)},
};

static const struct schema_field CALL = {
	.type = SCHEMA_OBJECT, .open = true, .of = CALL_FIELDS, .count = COUNT(CALL_FIELDS)};

static const struct schema_field MESSAGE_FIELDS[] = {
	{.key = "role", .type = SCHEMA_STRING, .required = true, .words = ROLES},
	{.key = "content", .type = SCHEMA_STRING, .required = true},
	{.key = "tool_calls", .type = SCHEMA_ARRAY, .max = CALLS_MAX, .item = &CALL},
	{.key = "tool_call_id", .type = SCHEMA_STRING, .min = 1, .max = CALL_ID_UNITS},
};

/* A message is the one object here whose unknown members are refused: a member
 * that was dropped might be the one that carries a file or an image. */
static const struct schema_field MESSAGE = {
	.type = SCHEMA_OBJECT, .of = MESSAGE_FIELDS, .count = COUNT(MESSAGE_FIELDS)};

static const struct schema_field OFFERED_FIELDS[] = {
	{.key = "name", .type = SCHEMA_STRING, .required = true, .judge = judge_name},
	{.key = "description", .type = SCHEMA_STRING, .required = true},
	{.key = "parameters", .type = SCHEMA_MAP, .required = true},
};

static const struct schema_field TOOL_FIELDS[] = {
	{.key = "type", .type = SCHEMA_STRING, .required = true, .words = FUNCTION},
	{.key = "function",
	 .type = SCHEMA_OBJECT,
	 .required = true,
	 .open = true,
	 .of = OFFERED_FIELDS,
	 .count = COUNT(OFFERED_FIELDS)},
};

static const struct schema_field TOOL = {
	.type = SCHEMA_OBJECT, .open = true, .of = TOOL_FIELDS, .count = COUNT(TOOL_FIELDS)};

static const struct schema_field INPUT_FIELDS[] = {
	{.key = "messages",
	 .type = SCHEMA_ARRAY,
	 .required = true,
	 .max = MESSAGES_MAX,
	 .item = &MESSAGE},
	{.key = "tools", .type = SCHEMA_ARRAY, .max = TOOLS_MAX, .item = &TOOL},
};

static const struct schema_field INPUT = {
	.type = SCHEMA_OBJECT, .open = true, .of = INPUT_FIELDS, .count = COUNT(INPUT_FIELDS)};

/* What a value inside a tool's parameters is there for.  Only schema positions
 * have a role: property names, enum and const are data. */
enum role {
	ROLE_DATA = 0,
	ROLE_SCHEMA, /* true, false or an object of keywords */
	ROLE_SCHEMAS, /* an array of schemas */
	ROLE_EITHER, /* a schema, or an array of them */
	ROLE_MAP, /* an object, each value a schema */
	ROLE_DEPENDENCIES, /* if an object, each value as below; else data */
	ROLE_DEPENDENCY, /* a schema, or an array of data */
	ROLE_REFERENCE, /* a string that begins with # */
	ROLE_VOCABULARY, /* an object whose keys begin with # */
};

struct keyword {
	const char *key;
	enum role role;
};

static const struct keyword KEYWORDS[] = {
	{"$ref", ROLE_REFERENCE},
	{"$dynamicRef", ROLE_REFERENCE},
	{"$recursiveRef", ROLE_REFERENCE},
	{"$schema", ROLE_REFERENCE},
	{"$id", ROLE_REFERENCE},
	{"$vocabulary", ROLE_VOCABULARY},
	{"properties", ROLE_MAP},
	{"patternProperties", ROLE_MAP},
	{"$defs", ROLE_MAP},
	{"definitions", ROLE_MAP},
	{"dependentSchemas", ROLE_MAP},
	{"items", ROLE_EITHER},
	{"contains", ROLE_EITHER},
	{"additionalProperties", ROLE_EITHER},
	{"unevaluatedProperties", ROLE_EITHER},
	{"unevaluatedItems", ROLE_EITHER},
	{"propertyNames", ROLE_EITHER},
	{"not", ROLE_EITHER},
	{"if", ROLE_EITHER},
	{"then", ROLE_EITHER},
	{"else", ROLE_EITHER},
	{"contentSchema", ROLE_EITHER},
	{"additionalItems", ROLE_EITHER},
	{"allOf", ROLE_SCHEMAS},
	{"anyOf", ROLE_SCHEMAS},
	{"oneOf", ROLE_SCHEMAS},
	{"prefixItems", ROLE_SCHEMAS},
	{"dependencies", ROLE_DEPENDENCIES},
};

/* One role a value.  Values come in document order, parents first, so one pass
 * from front to back meets each value after its parent has given it a role. */
static uint8_t role_of[JSON_POOL];

static enum role keyword_role(const struct json *doc, uint32_t key)
{
	for (size_t i = 0; i < sizeof(KEYWORDS) / sizeof(KEYWORDS[0]); i++) {
		if (json_equals(doc, key, KEYWORDS[i].key))
			return KEYWORDS[i].role;
	}
	return ROLE_DATA;
}

/* A string that begins with #, written as such or as its escape.  The span has
 * both quotes. */
static bool is_local(const struct json *doc, uint32_t string)
{
	static const char escaped[] = "\"\\u0023";
	size_t len;
	const char *span = json_span(doc, string, &len);

	return span[1] == '#' ||
	       (len >= sizeof(escaped) && memcmp(span, escaped, sizeof(escaped) - 1) == 0);
}

static void give_keywords(const struct json *doc, uint32_t object)
{
	for (uint32_t key = json_first(doc, object); key != JSON_NONE; key = json_next(doc, key))
		role_of[json_value(doc, key)] = (uint8_t)keyword_role(doc, key);
}

static void give_members(const struct json *doc, uint32_t object, enum role role)
{
	for (uint32_t key = json_first(doc, object); key != JSON_NONE; key = json_next(doc, key))
		role_of[json_value(doc, key)] = (uint8_t)role;
}

static void give_items(const struct json *doc, uint32_t array, enum role role)
{
	for (uint32_t item = json_first(doc, array); item != JSON_NONE; item = json_next(doc, item))
		role_of[item] = (uint8_t)role;
}

static void see_schema(const struct json *doc, uint32_t node, struct report *report)
{
	enum json_type type = json_type(doc, node);

	if (type == JSON_OBJECT)
		give_keywords(doc, node);
	else if (type != JSON_TRUE && type != JSON_FALSE)
		report_at(report, REASON_SHAPE_TYPE, doc, node,
		          "a schema is an object, true or false");
}

static void see_vocabulary(const struct json *doc, uint32_t node, struct report *report)
{
	if (json_type(doc, node) != JSON_OBJECT) {
		report_at(report, REASON_SHAPE_TYPE, doc, node, "expected an object");
		return;
	}
	for (uint32_t key = json_first(doc, node); key != JSON_NONE; key = json_next(doc, key)) {
		if (!is_local(doc, key))
			report_at(report, REASON_SCHEMA_REMOTE, doc, key, "");
	}
}

static void see_reference(const struct json *doc, uint32_t node, struct report *report)
{
	if (json_type(doc, node) != JSON_STRING)
		report_at(report, REASON_SHAPE_TYPE, doc, node, "expected a string");
	else if (!is_local(doc, node))
		report_at(report, REASON_SCHEMA_REMOTE, doc, node, "");
}

/* Checks one value by its role and gives its children theirs. */
static void see(const struct json *doc, uint32_t node, struct report *report)
{
	enum json_type type = json_type(doc, node);

	switch ((enum role)role_of[node]) {
	case ROLE_DATA:
		break;
	case ROLE_SCHEMA:
		see_schema(doc, node, report);
		break;
	case ROLE_SCHEMAS:
		if (type != JSON_ARRAY)
			report_at(report, REASON_SHAPE_TYPE, doc, node, "expected an array");
		else
			give_items(doc, node, ROLE_SCHEMA);
		break;
	case ROLE_EITHER:
		if (type == JSON_ARRAY)
			give_items(doc, node, ROLE_SCHEMA);
		else
			see_schema(doc, node, report);
		break;
	case ROLE_MAP:
		if (type != JSON_OBJECT)
			report_at(report, REASON_SHAPE_TYPE, doc, node, "expected an object");
		else
			give_members(doc, node, ROLE_SCHEMA);
		break;
	case ROLE_DEPENDENCIES:
		if (type == JSON_OBJECT)
			give_members(doc, node, ROLE_DEPENDENCY);
		break;
	case ROLE_DEPENDENCY:
		if (type != JSON_ARRAY)
			see_schema(doc, node, report);
		break;
	case ROLE_REFERENCE:
		see_reference(doc, node, report);
		break;
	case ROLE_VOCABULARY:
		see_vocabulary(doc, node, report);
		break;
	}
}

/* The schema of a tool that has one, else JSON_NONE. */
static uint32_t parameters_of(const struct json *doc, uint32_t tool)
{
	uint32_t parameters = json_get(doc, json_get(doc, tool, "function"), "parameters");

	return json_type(doc, parameters) == JSON_OBJECT ? parameters : JSON_NONE;
}

static void check_schemas(const struct json *doc, uint32_t tools, struct report *report)
{
	for (uint32_t node = 0; node < doc->count; node++)
		role_of[node] = ROLE_DATA;
	for (uint32_t tool = json_first(doc, tools); tool != JSON_NONE;
	     tool = json_next(doc, tool)) {
		uint32_t parameters = parameters_of(doc, tool);

		if (parameters != JSON_NONE)
			role_of[parameters] = ROLE_SCHEMA;
	}
	for (uint32_t node = 0; node < doc->count; node++)
		see(doc, node, report);
}

/* The rules between the members of a message. */
static void check_message(const struct json *doc, uint32_t message, struct report *report)
{
	uint32_t role = json_get(doc, message, "role");
	uint32_t calls = json_get(doc, message, "tool_calls");
	uint32_t id = json_get(doc, message, "tool_call_id");

	if (json_type(doc, role) != JSON_STRING)
		return;
	if (calls != JSON_NONE && !json_equals(doc, role, "assistant"))
		report_at(report, REASON_SHAPE_VALUE, doc, calls,
		          "only an assistant message may have tool_calls");
	if (!json_equals(doc, role, "tool")) {
		if (id != JSON_NONE)
			report_at(report, REASON_SHAPE_VALUE, doc, id,
			          "only a tool message may have tool_call_id");
	} else if (id == JSON_NONE) {
		report_at(report, REASON_SHAPE_MISSING, doc, message,
		          "a tool message needs tool_call_id");
	}
}

struct name {
	size_t len; /* 0: none that fits the grammar */
	char at[FUNCTION_NAME_MAX];
};

static struct name name_of(const struct json *doc, uint32_t tool, uint32_t *node)
{
	struct name name = {0};
	struct text text;

	*node = json_get(doc, json_get(doc, tool, "function"), "name");
	if (json_type(doc, *node) != JSON_STRING)
		return name;
	text_init(&text, name.at, sizeof(name.at));
	json_decode(doc, *node, &text);
	name.len = text.full || !name_fits(text.at, text.len) ? 0 : text.len;
	return name;
}

static bool same_name(const struct name *a, const struct name *b)
{
	return a->len == b->len && a->len != 0 && memcmp(a->at, b->at, a->len) == 0;
}

/* At most TOOLS_MAX names are compared; more are refused by their count. */
static void check_names(const struct json *doc, uint32_t tools, struct report *report)
{
	static struct name name[TOOLS_MAX];
	uint32_t count = 0;

	for (uint32_t tool = json_first(doc, tools); tool != JSON_NONE && count < TOOLS_MAX;
	     tool = json_next(doc, tool)) {
		uint32_t node;
		bool twice = false;

		name[count] = name_of(doc, tool, &node);
		for (uint32_t i = 0; i < count; i++)
			twice = twice || same_name(&name[i], &name[count]);
		if (twice)
			report_at(report, REASON_SHAPE_DUPLICATE, doc, node, "");
		count++;
	}
}

/* An array under a key of the document, else JSON_NONE. */
static uint32_t array_of(const struct json *doc, const char *key)
{
	uint32_t array = json_get(doc, 0, key);

	return json_type(doc, array) == JSON_ARRAY ? array : JSON_NONE;
}

void model_input_write(const struct json *doc, struct text *out, struct report *report)
{
	uint32_t messages = array_of(doc, "messages");
	uint32_t tools = array_of(doc, "tools");

	schema_check(doc, &INPUT, NULL, report);
	for (uint32_t message = json_first(doc, messages); message != JSON_NONE;
	     message = json_next(doc, message))
		check_message(doc, message, report);
	check_names(doc, tools, report);
	check_schemas(doc, tools, report);
	if (report_empty(report))
		schema_write(doc, &INPUT, out);
}

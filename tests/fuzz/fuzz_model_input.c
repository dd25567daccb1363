/* SPDX-License-Identifier: ISC */

/* policy/model_input.c: what the operator's broker hands to a model. */

#include <stdlib.h>

#include "../../policy/model_input.h"
#include "fuzz.h"

#define ITEMS_MAX 128
#define CALLS_MAX 8

static const char *const top[] = {"messages", "tools", NULL};
static const char *const of_message[] = {"role", "content", "tool_calls", "tool_call_id", NULL};
static const char *const of_call[] = {"id", "type", "function", NULL};
static const char *const of_tool[] = {"type", "function", NULL};
static const char *const roles[] = {"system", "user", "assistant", "tool", NULL};

static void write_input(const struct json *doc, struct text *out, struct text *dropped,
                        struct report *report)
{
	(void)dropped;
	model_input_write(doc, out, report);
}

static bool among(const struct json *doc, uint32_t string, const char *const *words)
{
	bool found = false;

	for (size_t i = 0; words[i] != NULL; i++)
		found = found || json_equals(doc, string, words[i]);
	return found;
}

static void check_keys(const struct json *doc, uint32_t object, const char *const *words)
{
	HOLDS(json_type(doc, object) == JSON_OBJECT);
	for (uint32_t key = json_first(doc, object); key != JSON_NONE; key = json_next(doc, key))
		HOLDS(among(doc, key, words));
}

static void check_message(const struct json *doc, uint32_t message)
{
	const uint32_t calls = json_get(doc, message, "tool_calls");
	const uint32_t content = json_get(doc, message, "content");

	check_keys(doc, message, of_message);
	HOLDS(among(doc, json_get(doc, message, "role"), roles));
	HOLDS(content != JSON_NONE && json_type(doc, content) == JSON_STRING);
	HOLDS(json_count(doc, calls) <= CALLS_MAX);
	for (uint32_t call = json_first(doc, calls); call != JSON_NONE;
	     call = json_next(doc, call)) {
		check_keys(doc, call, of_call);
		HOLDS(json_units(doc, json_get(doc, call, "id")) >= 1);
		HOLDS(json_units(doc, json_get(doc, call, "id")) <= ITEMS_MAX);
	}
}

/* The reference of a whole schema, the one place that no rule can call data. */
static void check_tool(const struct json *doc, uint32_t tool)
{
	const uint32_t function = json_get(doc, tool, "function");
	const uint32_t parameters = json_get(doc, function, "parameters");
	const uint32_t reference = json_get(doc, parameters, "$ref");
	size_t len;

	check_keys(doc, tool, of_tool);
	HOLDS(json_type(doc, parameters) == JSON_OBJECT);
	if (reference != JSON_NONE)
		HOLDS(json_span(doc, reference, &len)[1] == '#');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *out;
	const size_t len = fuzz_canonical(write_input, (const char *)data, size, &out);
	uint32_t messages, tools;
	struct json doc;

	if (len == SIZE_MAX)
		return 0;
	HOLDS(fuzz_parse(&doc, out, len, true));
	check_keys(&doc, 0, top);
	messages = json_get(&doc, 0, "messages");
	tools = json_get(&doc, 0, "tools");
	HOLDS(json_count(&doc, messages) <= ITEMS_MAX && json_count(&doc, tools) <= ITEMS_MAX);
	for (uint32_t at = json_first(&doc, messages); at != JSON_NONE; at = json_next(&doc, at))
		check_message(&doc, at);
	for (uint32_t at = json_first(&doc, tools); at != JSON_NONE; at = json_next(&doc, at))
		check_tool(&doc, at);
	json_drop(&doc);
	return 0;
}

/* SPDX-License-Identifier: ISC */
#include <stdio.h>
#include <string.h>

#include "../../policy/model_input.h"
#include "verdicts.h"


static void read_it(const struct json *doc)
{
	report_init(&report, CODE_TURN, 65);
	model_input_write(doc, &out, &report);
}

static void run(const char *text)
{
	read_document(text, 1048576, true, read_it);
}

#define MESSAGES(messages) "{\"messages\":[" messages "]}"
#define USER "{\"role\":\"user\",\"content\":\"c\"}"
#define CALL(id, name)                                                                             \
	"{\"id\":" id ",\"type\":\"function\",\"function\":{\"name\":" name ",\"arguments\":\"\"}" \
	"}"
#define ASSISTANT(calls) "{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[" calls "]}"
#define FUNCTION(name, parameters)                                                                 \
	"{\"type\":\"function\",\"function\":{\"name\":" name                                      \
	",\"description\":\"d\",\"parameters\":" parameters "}}"
#define TOOLS(tools) "{\"messages\":[],\"tools\":[" tools "]}"
#define SCHEMA(parameters) TOOLS(FUNCTION("\"f\"", parameters))
#define AT "/tools/0/function/parameters"
#define NAME64 "\"abcdefghijklmnopqrstuvwxyz0123456789_abcdefghijklmnopqrstuvwxyz0\""
#define NAME65 "\"abcdefghijklmnopqrstuvwxyz0123456789_abcdefghijklmnopqrstuvwxyz01\""
#define NAME64_TOO "\"abcdefghijklmnopqrstuvwxyz0123456789_abcdefghijklmnopqrstuvwxyz1\""
/* An escape, which is put after what stands before it. */
#define NAME64_AND                                                                                 \
	"\"abcdefghijklmnopqrstuvwxyz0123456789_abcdefghijklmnopqrstuvwxyz0\\u0031\""
#define ID16 "0123456789abcdef"
#define ID128 ID16 ID16 ID16 ID16 ID16 ID16 ID16 ID16
#define REMOTE "{\"$ref\":\"http://e\"}"

static const struct verdict VERDICTS[] = {
	{MESSAGES(""), REASON_NONE, ""},
	{"null", REASON_SHAPE_TYPE, ""},
	{"{}", REASON_SHAPE_MISSING, "/messages"},
	{"{\"messages\":{}}", REASON_SHAPE_TYPE, "/messages"},
	{"{\"messages\":[],\"tools\":null}", REASON_SHAPE_TYPE, "/tools"},
	{"{\"messages\":[],\"tools\":[]}", REASON_NONE, ""},
	{MESSAGES(USER), REASON_NONE, ""},
	{MESSAGES("{\"role\":\"system\",\"content\":\"\"}"), REASON_NONE, ""},
	{MESSAGES("{\"role\":\"developer\",\"content\":\"\"}"), REASON_SHAPE_VALUE,
	 "/messages/0/role"},
	{MESSAGES("{\"role\":\"User\",\"content\":\"\"}"), REASON_SHAPE_VALUE, "/messages/0/role"},
	{MESSAGES("{\"role\":1,\"content\":\"\"}"), REASON_SHAPE_TYPE, "/messages/0/role"},
	{MESSAGES("{\"content\":\"\"}"), REASON_SHAPE_MISSING, "/messages/0/role"},
	{MESSAGES("{\"role\":\"user\"}"), REASON_SHAPE_MISSING, "/messages/0/content"},
	{MESSAGES("{\"role\":\"user\",\"content\":[]}"), REASON_SHAPE_TYPE, "/messages/0/content"},
	{MESSAGES("{\"role\":\"user\",\"content\":null}"), REASON_SHAPE_TYPE,
	 "/messages/0/content"},
	{MESSAGES("{\"role\":\"user\",\"content\":\"\",\"name\":\"x\"}"), REASON_SHAPE_UNKNOWN_KEY,
	 "/messages/0/name"},
	{MESSAGES("[]"), REASON_SHAPE_TYPE, "/messages/0"},
	{MESSAGES(ASSISTANT("")), REASON_NONE, ""},
	{MESSAGES(ASSISTANT(CALL("\"i\"", "\"f\""))), REASON_NONE, ""},
	{MESSAGES("{\"role\":\"user\",\"content\":\"\",\"tool_calls\":[]}"), REASON_SHAPE_VALUE,
	 "/messages/0/tool_calls"},
	{MESSAGES("{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":null}"),
	 REASON_SHAPE_TYPE, "/messages/0/tool_calls"},
	{MESSAGES(ASSISTANT(CALL("\"\"", "\"f\""))), REASON_SHAPE_LENGTH,
	 "/messages/0/tool_calls/0/id"},
	{MESSAGES(ASSISTANT(CALL("\"" ID128 "\"", "\"f\""))), REASON_NONE, ""},
	{MESSAGES(ASSISTANT(CALL("\"" ID128 "x\"", "\"f\""))), REASON_SHAPE_LENGTH,
	 "/messages/0/tool_calls/0/id"},
	{MESSAGES(ASSISTANT(CALL("1", "\"f\""))), REASON_SHAPE_TYPE, "/messages/0/tool_calls/0/id"},
	{MESSAGES(ASSISTANT(CALL("\"i\"", "\"F\""))), REASON_SHAPE_NAME,
	 "/messages/0/tool_calls/0/function/name"},
	{MESSAGES(ASSISTANT("{\"id\":\"i\",\"type\":\"retrieval\",\"function\":{\"name\":\"f\","
                            "\"arguments\":\"\"}}")),
	 REASON_SHAPE_VALUE, "/messages/0/tool_calls/0/type"},
	{MESSAGES(ASSISTANT("{\"id\":\"i\",\"type\":\"function\",\"function\":{\"name\":\"f\","
                            "\"arguments\":{}}}")),
	 REASON_SHAPE_TYPE, "/messages/0/tool_calls/0/function/arguments"},
	{MESSAGES(ASSISTANT(
		 "{\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"\"}}")),
	 REASON_SHAPE_MISSING, "/messages/0/tool_calls/0/id"},
	{MESSAGES(ASSISTANT("{\"id\":\"i\",\"function\":{\"name\":\"f\",\"arguments\":\"\"}}")),
	 REASON_SHAPE_MISSING, "/messages/0/tool_calls/0/type"},
	{MESSAGES(ASSISTANT(
		 "{\"id\":\"i\",\"type\":\"function\",\"function\":{\"arguments\":\"\"}}")),
	 REASON_SHAPE_MISSING, "/messages/0/tool_calls/0/function/name"},
	{MESSAGES(ASSISTANT("{\"id\":\"i\",\"type\":\"function\",\"function\":{\"name\":\"f\"}}")),
	 REASON_SHAPE_MISSING, "/messages/0/tool_calls/0/function/arguments"},
	{MESSAGES(ASSISTANT("{\"id\":\"i\",\"type\":\"function\"}")), REASON_SHAPE_MISSING,
	 "/messages/0/tool_calls/0/function"},
	{MESSAGES("{\"role\":\"tool\",\"content\":\"\",\"tool_call_id\":\"i\"}"), REASON_NONE, ""},
	{MESSAGES("{\"role\":\"tool\",\"content\":\"\"}"), REASON_SHAPE_MISSING, "/messages/0"},
	{MESSAGES("{\"role\":\"tool\",\"content\":\"\",\"tool_call_id\":\"\"}"),
	 REASON_SHAPE_LENGTH, "/messages/0/tool_call_id"},
	{MESSAGES("{\"role\":\"user\",\"content\":\"\",\"tool_call_id\":\"i\"}"),
	 REASON_SHAPE_VALUE, "/messages/0/tool_call_id"},
	{TOOLS(FUNCTION(NAME64, "{}")), REASON_NONE, ""},
	{TOOLS(FUNCTION("\"z\"", "{}")), REASON_NONE, ""},
	{TOOLS("{\"type\":\"function\",\"function\":{\"description\":\"\",\"parameters\":{}}}"),
	 REASON_SHAPE_MISSING, "/tools/0/function/name"},
	{TOOLS("{\"function\":{\"name\":\"f\",\"description\":\"\",\"parameters\":{}}}"),
	 REASON_SHAPE_MISSING, "/tools/0/type"},
	{TOOLS("{\"type\":\"function\"}"), REASON_SHAPE_MISSING, "/tools/0/function"},
	{TOOLS(FUNCTION(NAME65, "{}")), REASON_SHAPE_NAME, "/tools/0/function/name"},
	{TOOLS(FUNCTION("\"\"", "{}")), REASON_SHAPE_NAME, "/tools/0/function/name"},
	{TOOLS(FUNCTION("\"a\\n\"", "{}")), REASON_SHAPE_NAME, "/tools/0/function/name"},
	{TOOLS(FUNCTION("\"`\"", "{}")), REASON_SHAPE_NAME, "/tools/0/function/name"},
	{TOOLS(FUNCTION("\"{\"", "{}")), REASON_SHAPE_NAME, "/tools/0/function/name"},
	{TOOLS(FUNCTION("\"a{\"", "{}")), REASON_SHAPE_NAME, "/tools/0/function/name"},
	{TOOLS(FUNCTION("\"a`\"", "{}")), REASON_SHAPE_NAME, "/tools/0/function/name"},
	{TOOLS(FUNCTION("\"a\"", "{}") "," FUNCTION("\"b\"", "{}")), REASON_NONE, ""},
	{TOOLS(FUNCTION("\"a\"", "{}") "," FUNCTION("\"aa\"", "{}")), REASON_NONE, ""},
	{TOOLS(FUNCTION("\"a\"", "{}") "," FUNCTION("\"\\u0061\"", "{}")), REASON_SHAPE_DUPLICATE,
	 "/tools/1/function/name"},
	{TOOLS(FUNCTION("\"a\"", "{}") "," FUNCTION("\"b\"", "{}") "," FUNCTION("\"a\"", "{}")),
	 REASON_SHAPE_DUPLICATE, "/tools/2/function/name"},
	{TOOLS(FUNCTION("\"aa\"", "{}") "," FUNCTION("\"a\"", "{}")), REASON_NONE, ""},
	/* As long as a name may be, and different in the last letter. */
	{TOOLS(FUNCTION(NAME64, "{}") "," FUNCTION(NAME64_TOO, "{}")), REASON_NONE, ""},
	{TOOLS(FUNCTION(NAME64, "{}") "," FUNCTION(NAME64, "{}")), REASON_SHAPE_DUPLICATE,
	 "/tools/1/function/name"},
	/* A name that is too long is not the one that it begins with. */
	{TOOLS(FUNCTION(NAME65, "{}") "," FUNCTION(NAME64, "{}")), REASON_SHAPE_NAME,
	 "/tools/0/function/name"},
	{TOOLS(FUNCTION(NAME64_AND, "{}") "," FUNCTION(NAME64, "{}")), REASON_SHAPE_NAME,
	 "/tools/0/function/name"},
	{TOOLS("{\"type\":\"function\",\"function\":{\"name\":\"f\",\"description\":\"\"}}"),
	 REASON_SHAPE_MISSING, "/tools/0/function/parameters"},
	{TOOLS("{\"type\":\"web\",\"function\":{\"name\":\"f\",\"description\":\"\","
               "\"parameters\":{}}}"),
	 REASON_SHAPE_VALUE, "/tools/0/type"},
	{TOOLS("{\"type\":\"function\",\"function\":{\"name\":\"f\",\"parameters\":{}}}"),
	 REASON_SHAPE_MISSING, "/tools/0/function/description"},
	{SCHEMA("true"), REASON_SHAPE_TYPE, AT},
	{SCHEMA("[]"), REASON_SHAPE_TYPE, AT},
	{SCHEMA("{\"items\":false}"), REASON_NONE, ""},
	{SCHEMA("{\"items\":true}"), REASON_NONE, ""},
	{SCHEMA("{\"$ref\":\"#/a\"}"), REASON_NONE, ""},
	{SCHEMA("{\"$ref\":\"\\u0023\"}"), REASON_NONE, ""},
	{SCHEMA("{\"$ref\":\"\\u00231\"}"), REASON_NONE, ""},
	{SCHEMA("{\"$ref\":\"\"}"), REASON_SCHEMA_REMOTE, AT "/$ref"},
	{SCHEMA("{\"$ref\":\"\\u0024\"}"), REASON_SCHEMA_REMOTE, AT "/$ref"},
	{SCHEMA("{\"$ref\":\"http://e#\"}"), REASON_SCHEMA_REMOTE, AT "/$ref"},
	{SCHEMA("{\"$r\\u0065f\":\"http://e\"}"), REASON_SCHEMA_REMOTE, AT "/$ref"},
	{SCHEMA("{\"$ref\":null}"), REASON_SHAPE_TYPE, AT "/$ref"},
	{SCHEMA("{\"$dynamicRef\":\"x\"}"), REASON_SCHEMA_REMOTE, AT "/$dynamicRef"},
	{SCHEMA("{\"$recursiveRef\":\"x\"}"), REASON_SCHEMA_REMOTE, AT "/$recursiveRef"},
	{SCHEMA("{\"$schema\":\"x\"}"), REASON_SCHEMA_REMOTE, AT "/$schema"},
	{SCHEMA("{\"$id\":\"x\"}"), REASON_SCHEMA_REMOTE, AT "/$id"},
	{SCHEMA("{\"id\":\"x\"}"), REASON_NONE, ""},
	{SCHEMA("{\"$vocabulary\":{\"#a\":true}}"), REASON_NONE, ""},
	{SCHEMA("{\"$vocabulary\":{\"#a\":1,\"http://e\":true}}"), REASON_SCHEMA_REMOTE,
	 AT "/$vocabulary/http:~1~1e"},
	{SCHEMA("{\"$vocabulary\":[]}"), REASON_SHAPE_TYPE, AT "/$vocabulary"},
	{SCHEMA("{\"properties\":{\"$ref\":{\"type\":\"string\"}}}"), REASON_NONE, ""},
	{SCHEMA("{\"properties\":{\"$ref\":\"http://e\"}}"), REASON_SHAPE_TYPE,
	 AT "/properties/$ref"},
	{SCHEMA("{\"properties\":{\"a\":" REMOTE "}}"), REASON_SCHEMA_REMOTE,
	 AT "/properties/a/$ref"},
	{SCHEMA("{\"properties\":[]}"), REASON_SHAPE_TYPE, AT "/properties"},
	{SCHEMA("{\"properties\":{\"a\":null}}"), REASON_SHAPE_TYPE, AT "/properties/a"},
	{SCHEMA("{\"patternProperties\":{\"a\":" REMOTE "}}"), REASON_SCHEMA_REMOTE,
	 AT "/patternProperties/a/$ref"},
	{SCHEMA("{\"$defs\":{\"a\":" REMOTE "}}"), REASON_SCHEMA_REMOTE, AT "/$defs/a/$ref"},
	{SCHEMA("{\"definitions\":{\"a\":" REMOTE "}}"), REASON_SCHEMA_REMOTE,
	 AT "/definitions/a/$ref"},
	{SCHEMA("{\"dependentSchemas\":{\"a\":" REMOTE "}}"), REASON_SCHEMA_REMOTE,
	 AT "/dependentSchemas/a/$ref"},
	{SCHEMA("{\"items\":true}"), REASON_NONE, ""},
	{SCHEMA("{\"items\":1}"), REASON_SHAPE_TYPE, AT "/items"},
	{SCHEMA("{\"items\":[{},true," REMOTE "]}"), REASON_SCHEMA_REMOTE, AT "/items/2/$ref"},
	{SCHEMA("{\"items\":[[]]}"), REASON_SHAPE_TYPE, AT "/items/0"},
	{SCHEMA("{\"enum\":[" REMOTE "],\"const\":" REMOTE ",\"default\":" REMOTE "}"), REASON_NONE,
	 ""},
	{SCHEMA("{\"items\":{\"enum\":[" REMOTE "]}}"), REASON_NONE, ""},
	{SCHEMA("{\"allOf\":[{\"not\":{\"if\":" REMOTE "}}]}"), REASON_SCHEMA_REMOTE,
	 AT "/allOf/0/not/if/$ref"},
	{SCHEMA("{\"allOf\":{}}"), REASON_SHAPE_TYPE, AT "/allOf"},
	{SCHEMA("{\"allOf\":{\"a\":1}}"), REASON_SHAPE_TYPE, AT "/allOf"},
	{SCHEMA("{\"allOf\":1}"), REASON_SHAPE_TYPE, AT "/allOf"},
	{SCHEMA("{\"anyOf\":true}"), REASON_SHAPE_TYPE, AT "/anyOf"},
	{SCHEMA("{\"dependencies\":{\"a\":[\"b\"," REMOTE "],\"c\":{}}}"), REASON_NONE, ""},
	{SCHEMA("{\"dependencies\":{\"a\":" REMOTE "}}"), REASON_SCHEMA_REMOTE,
	 AT "/dependencies/a/$ref"},
	{SCHEMA("{\"dependencies\":{\"a\":1}}"), REASON_SHAPE_TYPE, AT "/dependencies/a"},
	{SCHEMA("{\"dependencies\":[" REMOTE "]}"), REASON_NONE, ""},
	{SCHEMA("{\"dependencies\":null}"), REASON_NONE, ""},
};

static void test_verdicts(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(VERDICTS); i++)
		check_verdict(&VERDICTS[i], run);
}

/* What is said of a value that is no schema, or that stands at a wrong place. */
static void test_details(void **state)
{
	static const struct {
		const char *text;
		const char *detail;
	} CASES[] = {
		{SCHEMA("{\"not\":1}"), "a schema is an object, true or false"},
		{SCHEMA("{\"$vocabulary\":1}"), "expected an object"},
		{SCHEMA("{\"$defs\":1}"), "expected an object"},
		{SCHEMA("{\"$ref\":1}"), "expected a string"},
		{SCHEMA("{\"$ref\":\"a\"}"), ""},
		{SCHEMA("{\"oneOf\":1}"), "expected an array"},
		{MESSAGES("{\"role\":\"user\",\"content\":\"\",\"tool_calls\":[]}"),
		 "only an assistant message may have tool_calls"},
		{MESSAGES("{\"role\":\"user\",\"content\":\"\",\"tool_call_id\":\"i\"}"),
		 "only a tool message may have tool_call_id"},
		{MESSAGES("{\"role\":\"tool\",\"content\":\"\"}"),
		 "a tool message needs tool_call_id"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(CASES); i++) {
		run(CASES[i].text);
		assert_int_equal(report.count, 1);
		assert_string_equal(report.at[0].detail, CASES[i].detail);
	}
}

/* Of every keyword which values it takes: one schema, an array of them, an
 * object of them (and of one that is an array). */
static void test_kinds(void **state)
{
	static const struct {
		const char *key;
		bool one;
		bool array;
		bool map;
		bool map_array;
	} CASES[] = {
		{"items", true, true, true, true},
		{"contains", true, true, true, true},
		{"additionalProperties", true, true, true, true},
		{"unevaluatedProperties", true, true, true, true},
		{"unevaluatedItems", true, true, true, true},
		{"propertyNames", true, true, true, true},
		{"not", true, true, true, true},
		{"if", true, true, true, true},
		{"then", true, true, true, true},
		{"else", true, true, true, true},
		{"contentSchema", true, true, true, true},
		{"additionalItems", true, true, true, true},
		{"allOf", false, true, false, false},
		{"anyOf", false, true, false, false},
		{"oneOf", false, true, false, false},
		{"prefixItems", false, true, false, false},
		{"properties", false, false, true, false},
		{"patternProperties", false, false, true, false},
		{"$defs", false, false, true, false},
		{"definitions", false, false, true, false},
		{"dependentSchemas", false, false, true, false},
		{"dependencies", true, true, true, true},
	};
	char text[512];

	(void)state;
	for (size_t i = 0; i < COUNT(CASES); i++) {
		const struct {
			const char *value;
			bool taken;
		} values[] = {{"true", CASES[i].one},
		              {"[{}]", CASES[i].array},
		              {"{\"a\":{}}", CASES[i].map},
		              {"{\"a\":[]}", CASES[i].map_array}};

		for (size_t k = 0; k < COUNT(values); k++) {
			snprintf(text, sizeof(text), SCHEMA("{\"%s\":%s}"), CASES[i].key,
			         values[k].value);
			run(text);
			if ((report.count == 0) != values[k].taken)
				fail_msg("%s: %s", CASES[i].key, values[k].value);
		}
	}
}

/* Every keyword that holds one schema or an array of them, and every one that
 * holds an array of them. */
static void test_positions(void **state)
{
	static const char *const EITHER[] = {"items",
	                                     "contains",
	                                     "additionalProperties",
	                                     "unevaluatedProperties",
	                                     "unevaluatedItems",
	                                     "propertyNames",
	                                     "not",
	                                     "if",
	                                     "then",
	                                     "else",
	                                     "contentSchema",
	                                     "additionalItems"};
	static const char *const LISTS[] = {"allOf", "anyOf", "oneOf", "prefixItems"};
	static const char *const OTHER[] = {"enum", "const", "examples", "extends", "Items"};
	static const struct {
		const char *const *keys;
		size_t count;
		bool object_refused;
		bool array_refused;
	} CASES[] = {
		{EITHER, COUNT(EITHER), true, true},
		{LISTS, COUNT(LISTS), true, true},
		{OTHER, COUNT(OTHER), false, false},
	};
	char text[512];

	(void)state;
	for (size_t i = 0; i < COUNT(CASES); i++) {
		for (size_t j = 0; j < CASES[i].count; j++) {
			snprintf(text, sizeof(text), SCHEMA("{\"%s\":" REMOTE "}"),
			         CASES[i].keys[j]);
			run(text);
			assert_int_equal(report.count > 0, CASES[i].object_refused);
			snprintf(text, sizeof(text), SCHEMA("{\"%s\":[true," REMOTE "]}"),
			         CASES[i].keys[j]);
			run(text);
			assert_int_equal(report.count > 0, CASES[i].array_refused);
			snprintf(text, sizeof(text), SCHEMA("{\"%s\":[true,{}]}"),
			         CASES[i].keys[j]);
			run(text);
			assert_int_equal(report.count, 0);
		}
	}
}

static void test_projection(void **state)
{
	(void)state;
	run("{\"model\":\"x\",\"tools\":[{\"function\":{\"strict\":true,\"parameters\":{\"9\":1.0,"
	    "\"1\":1e400},\"description\":\"\",\"name\":\"f\"},\"type\":\"function\",\"x\":1}],"
	    "\"messages\":[{\"content\":\"\\u00e9\",\"role\":\"assistant\",\"tool_calls\":[{\"x\":"
	    "1,"
	    "\"function\":{\"arguments\":\"{\",\"y\":2,\"name\":\"g\"},\"type\":\"function\","
	    "\"id\":\"i\"}]},{\"tool_call_id\":\"i\",\"role\":\"tool\",\"content\":\"\"}]}");
	assert_written(
		"{\"messages\":[{\"role\":\"assistant\",\"content\":\"\xc3\xa9\","
		"\"tool_calls\":[{\"id\":\"i\",\"type\":\"function\",\"function\":{"
		"\"name\":\"g\",\"arguments\":\"{\"}}]},{\"role\":\"tool\",\"content\":\"\","
		"\"tool_call_id\":\"i\"}],\"tools\":[{\"type\":\"function\",\"function\":{"
		"\"name\":\"f\",\"description\":\"\",\"parameters\":{\"9\":1.0,\"1\":1e400}}}]}");
	run("{\"messages\":[]}");
	assert_written("{\"messages\":[]}");
}

/* So many repeats of one item, with a running number where it has %zu. */
static void run_many(const char *before, const char *item, size_t count, const char *after)
{
	static char document[65536];
	size_t len = (size_t)snprintf(document, sizeof(document), "%s", before);

	for (size_t i = 0; i < count; i++) {
		len += (size_t)snprintf(document + len, sizeof(document) - len, "%s%s%zu%s",
		                        i == 0 ? "" : ",", item, i, after);
		assert_true(len < sizeof(document));
	}
	snprintf(document + len, sizeof(document) - len, "]}%s",
	         strstr(before, "tool_calls") != NULL ? "]}" : "");
	run(document);
}

static void test_counts(void **state)
{
	static const struct {
		const char *before;
		const char *item;
		const char *after;
		size_t max;
		const char *pointer;
	} CASES[] = {
		{"{\"messages\":[", "{\"role\":\"user\",\"content\":\"", "\"}", 128, "/messages"},
		{"{\"messages\":[],\"tools\":[",
	         "{\"type\":\"function\",\"function\":{\"description\":\"\",\"parameters\":{},"
	         "\"name\":\"f",
	         "\"}}", 128, "/tools"},
		{"{\"messages\":[{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[",
	         "{\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"\"},\"id\":"
	         "\"",
	         "\"}", 8, "/messages/0/tool_calls"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(CASES); i++) {
		run_many(CASES[i].before, CASES[i].item, CASES[i].max, CASES[i].after);
		assert_int_equal(report.count, 0);
		run_many(CASES[i].before, CASES[i].item, CASES[i].max + 1, CASES[i].after);
		assert_int_equal(report.count, 1);
		assert_int_equal(report.at[0].reason, REASON_SHAPE_COUNT);
		assert_string_equal(report.at[0].pointer, CASES[i].pointer);
	}
}

/* The last of as many tools as there may be is compared, one more is not. */
static void test_last_name(void **state)
{
	char before[256];

	(void)state;
	for (unsigned last = 127; last <= 128; last++) {
		/* One with the name of the last, and the rest. */
		(void)snprintf(before, sizeof(before), "{\"messages\":[],\"tools\":["
		               FUNCTION("\"f%u\"", "{}") ",", last - 1);
		run_many(before, "{\"type\":\"function\",\"function\":{\"description\":\"\","
		         "\"parameters\":{},\"name\":\"f", last, "\"}}");
		assert_int_equal(report.count, 1);
		assert_int_equal(report.at[0].reason,
		                 last == 127 ? REASON_SHAPE_DUPLICATE : REASON_SHAPE_COUNT);
		assert_string_equal(report.at[0].pointer,
		                    last == 127 ? "/tools/127/function/name" : "/tools");
	}
}

/* Names that do not fit are refused each by itself, never as each other's. */
static void test_unfit_names(void **state)
{
	static const char *const POINTERS[] = {"/tools/0/function/name", "/tools/1/function/name"};

	(void)state;
	run(TOOLS(FUNCTION("\"a b\"", "{}") "," FUNCTION("\"a b\"", "{}")));
	assert_int_equal(report.count, COUNT(POINTERS));
	for (size_t i = 0; i < COUNT(POINTERS); i++) {
		assert_int_equal(report.at[i].reason, REASON_SHAPE_NAME);
		assert_string_equal(report.at[i].pointer, POINTERS[i]);
	}
	/* Nor are two that are missing. */
	run(TOOLS("{\"type\":\"function\",\"function\":{\"description\":\"\",\"parameters\":{}}},"
	          "{\"type\":\"function\",\"function\":{\"description\":\"\",\"parameters\":{}}}"));
	assert_int_equal(report.count, COUNT(POINTERS));
	for (size_t i = 0; i < COUNT(POINTERS); i++) {
		assert_int_equal(report.at[i].reason, REASON_SHAPE_MISSING);
		assert_string_equal(report.at[i].pointer, POINTERS[i]);
	}
}

/* Nothing of one document's roles is left over for the next. */
static void test_roles_are_cleared(void **state)
{
	(void)state;
	run(SCHEMA("{\"items\":{\"items\":{\"items\":{\"a\":1}}}}"));
	assert_int_equal(report.count, 0);
	run(SCHEMA("{\"enum\":[1,2,3,4,5,6,7,8,9,10,11,12]}"));
	assert_int_equal(report.count, 0);
}

/* The deepest schema that the JSON layer takes: 256 levels in all. */
static void test_deep(void **state)
{
	char text[4096];
	struct text document;

	(void)state;
	text_init(&document, text, sizeof(text) - 1);
	text_string(&document, "{\"messages\":[],\"tools\":[{\"type\":\"function\",\"function\":{"
	                       "\"name\":\"f\",\"description\":\"\",\"parameters\":");
	for (size_t i = 0; i < 251; i++)
		text_string(&document, "{\"not\":");
	text_string(&document, "{\"$id\":\"x\"}");
	for (size_t i = 0; i < 251; i++)
		text_string(&document, "}");
	text_string(&document, "}}]}");
	assert_false(document.full);
	text[document.len] = '\0';
	run(text);
	assert_int_equal(report.count, 1);
	assert_int_equal(report.at[0].reason, REASON_SCHEMA_REMOTE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_verdicts),          cmocka_unit_test(test_positions),
		cmocka_unit_test(test_projection),        cmocka_unit_test(test_counts),
		cmocka_unit_test(test_roles_are_cleared), cmocka_unit_test(test_deep),
		cmocka_unit_test(test_unfit_names),       cmocka_unit_test(test_details),
		cmocka_unit_test(test_kinds),             cmocka_unit_test(test_last_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

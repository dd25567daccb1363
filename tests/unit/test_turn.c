/* SPDX-License-Identifier: ISC */
#include <string.h>

#include "../../policy/turn.h"
#include "verdicts.h"

static char dropped_buffer[4096];
static struct text dropped;

static void read_it(const struct json *doc)
{
	report_init(&report, CODE_TURN, 65);
	text_init(&dropped, dropped_buffer, sizeof(dropped_buffer));
	turn_write(doc, &out, &dropped, &report);
}

static void run(const char *text)
{
	read_document(text, 1048576, true, read_it);
}

#define SPEAKER "\"speaker\":{\"id\":\"u\",\"name\":\"n\"}"
#define STRINGS "\"model\":\"m\",\"prompt\":\"p\",\"timeZone\":\"UTC\""
#define HEAD "{\"text\":\"t\"," SPEAKER "," STRINGS
#define TOOL(name) "{\"name\":" name ",\"description\":\"d\",\"parameters\":{}}"
#define TOOLS(tools) HEAD ",\"tools\":[" tools "],\"mcp\":[]}"
#define MCP(servers) HEAD ",\"tools\":[],\"mcp\":[" servers "]}"
#define MORE(members) HEAD ",\"tools\":[],\"mcp\":[]," members "}"
#define NAME48 "\"abcdefghijklmnopqrstuvwxyz0123456789_abcdefghijk\""
#define NAME49 "\"abcdefghijklmnopqrstuvwxyz0123456789_abcdefghijkl\""
#define NAME50 "\"abcdefghijklmnopqrstuvwxyz0123456789_abcdefghijklm\""

static const struct verdict VERDICTS[] = {
	{TOOLS(""), REASON_NONE, ""},
	{"null", REASON_SHAPE_TYPE, ""},
	{"[" TOOLS("") "]", REASON_SHAPE_TYPE, ""},
	{"{" SPEAKER "," STRINGS ",\"tools\":[],\"mcp\":[]}", REASON_SHAPE_MISSING, "/text"},
	{"{\"text\":\"t\"," STRINGS ",\"tools\":[],\"mcp\":[]}", REASON_SHAPE_MISSING, "/speaker"},
	{HEAD ",\"mcp\":[]}", REASON_SHAPE_MISSING, "/tools"},
	{HEAD ",\"tools\":[]}", REASON_SHAPE_MISSING, "/mcp"},
	{HEAD ",\"tools\":null,\"mcp\":[]}", REASON_SHAPE_TYPE, "/tools"},
	{HEAD ",\"tools\":[],\"mcp\":{}}", REASON_SHAPE_TYPE, "/mcp"},
	{"{\"text\":1," SPEAKER "," STRINGS ",\"tools\":[],\"mcp\":[]}", REASON_SHAPE_TYPE,
	 "/text"},
	{"{\"text\":\"t\",\"speaker\":[]," STRINGS ",\"tools\":[],\"mcp\":[]}", REASON_SHAPE_TYPE,
	 "/speaker"},
	{"{\"text\":\"t\",\"speaker\":{\"id\":1,\"name\":\"\"}," STRINGS
	 ",\"tools\":[],\"mcp\":[]}",
	 REASON_SHAPE_TYPE, "/speaker/id"},
	{"{\"text\":\"t\",\"speaker\":{\"name\":\"\"}," STRINGS ",\"tools\":[],\"mcp\":[]}",
	 REASON_SHAPE_MISSING, "/speaker/id"},
	{"{\"text\":\"t\",\"speaker\":{\"id\":\"\"}," STRINGS ",\"tools\":[],\"mcp\":[]}",
	 REASON_SHAPE_MISSING, "/speaker/name"},
	{"{\"text\":\"t\"," SPEAKER ",\"model\":true,\"prompt\":\"\",\"timeZone\":\"\","
	 "\"tools\":[],\"mcp\":[]}",
	 REASON_SHAPE_TYPE, "/model"},
	{"{\"text\":\"t\"," SPEAKER ",\"model\":\"\",\"prompt\":{},\"timeZone\":\"\","
	 "\"tools\":[],\"mcp\":[]}",
	 REASON_SHAPE_TYPE, "/prompt"},
	{"{\"text\":\"t\"," SPEAKER ",\"model\":\"\",\"prompt\":\"\",\"timeZone\":0,"
	 "\"tools\":[],\"mcp\":[]}",
	 REASON_SHAPE_TYPE, "/timeZone"},
	{MORE("\"reset\":true"), REASON_NONE, ""},
	{MORE("\"reset\":false"), REASON_NONE, ""},
	{MORE("\"reset\":null"), REASON_SHAPE_TYPE, "/reset"},
	{MORE("\"reset\":1"), REASON_SHAPE_TYPE, "/reset"},
	{TOOLS(TOOL("\"a\"")), REASON_NONE, ""},
	{TOOLS(TOOL("\"a\"") "," TOOL("\"a\"")), REASON_NONE, ""},
	{TOOLS(TOOL(NAME48)), REASON_NONE, ""},
	{TOOLS(TOOL(NAME49)), REASON_SHAPE_NAME, "/tools/0/name"},
	{"{\"text\":\"t\"," SPEAKER "," STRINGS ",\"tools\":[],\"mcp\":[{\"server\":" NAME49
	 ",\"tools\":[]}]}", REASON_SHAPE_NAME, "/mcp/0/server"},
	{TOOLS(TOOL("\"a\"") "," TOOL("\"\"")), REASON_SHAPE_NAME, "/tools/1/name"},
	{TOOLS(TOOL("\"a\\n\"")), REASON_SHAPE_NAME, "/tools/0/name"},
	{TOOLS(TOOL("\"a\\u0000\"")), REASON_SHAPE_NAME, "/tools/0/name"},
	{TOOLS(TOOL("\"1a\"")), REASON_SHAPE_NAME, "/tools/0/name"},
	{TOOLS(TOOL("\"_a\"")), REASON_SHAPE_NAME, "/tools/0/name"},
	{TOOLS(TOOL("\"a-b\"")), REASON_SHAPE_NAME, "/tools/0/name"},
	{TOOLS(TOOL("\"aB\"")), REASON_SHAPE_NAME, "/tools/0/name"},
	{TOOLS(TOOL("\"\\u00e9\"")), REASON_SHAPE_NAME, "/tools/0/name"},
	{TOOLS(TOOL("\"\\u0061\"")), REASON_NONE, ""},
	{TOOLS(TOOL("null")), REASON_SHAPE_TYPE, "/tools/0/name"},
	{TOOLS("{\"name\":\"a\",\"description\":\"\"}"), REASON_SHAPE_MISSING,
	 "/tools/0/parameters"},
	{TOOLS("{\"name\":\"a\",\"description\":1,\"parameters\":{}}"), REASON_SHAPE_TYPE,
	 "/tools/0/description"},
	{TOOLS("{\"name\":\"a\",\"description\":\"\",\"parameters\":[]}"), REASON_SHAPE_TYPE,
	 "/tools/0/parameters"},
	{TOOLS("[]"), REASON_SHAPE_TYPE, "/tools/0"},
	{MCP("{\"server\":\"a\",\"tools\":[" TOOL("\"b\"") "]}"), REASON_NONE, ""},
	{MCP("{\"server\":\"A\",\"tools\":[]}"), REASON_SHAPE_NAME, "/mcp/0/server"},
	{MCP("{\"server\":\"a\"}"), REASON_SHAPE_MISSING, "/mcp/0/tools"},
	{MCP("{\"tools\":[]}"), REASON_SHAPE_MISSING, "/mcp/0/server"},
	{MCP("{\"server\":\"a\",\"tools\":{}}"), REASON_SHAPE_TYPE, "/mcp/0/tools"},
	{MCP("{\"server\":\"a\",\"tools\":[" TOOL("\"B\"") "]}"), REASON_SHAPE_NAME,
	 "/mcp/0/tools/0/name"},
	{MCP("null"), REASON_SHAPE_TYPE, "/mcp/0"},
};

static void test_verdicts(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(VERDICTS); i++)
		check_verdict(&VERDICTS[i], run);
}

static void test_canonical(void **state)
{
	(void)state;
	run("{\"mcp\":[{\"x\":1,\"tools\":[{\"parameters\":{\"z\":1.0,\"a\":[ ]},\"y\":2,"
	    "\"description\":\"\\u0041\",\"name\":\"b\"}],\"server\":\"s\"}],\"reset\":false,"
	    "\"__proto__\":{},\"tools\":[],\"timeZone\":\"z\",\"prompt\":\"\\ud800\","
	    "\"model\":\"\\u001F\",\"speaker\":{\"admin\":true,\"name\":\"n\",\"id\":\"i\"},"
	    "\"text\":\"\\/\"}");
	assert_written("{\"text\":\"/\",\"speaker\":{\"id\":\"i\",\"name\":\"n\"},"
	               "\"model\":\"\\u001f\",\"prompt\":\"\\ud800\",\"timeZone\":\"z\","
	               "\"tools\":[],\"reset\":false,\"mcp\":[{\"server\":\"s\",\"tools\":["
	               "{\"name\":\"b\",\"description\":\"A\",\"parameters\":{\"z\":1.0,\"a\":[]}}"
	               "]}]}");
	static const char DROPPED[] = "/mcp/0/x\n/mcp/0/tools/0/y\n/__proto__\n/speaker/admin\n";

	assert_int_equal(dropped.len, strlen(DROPPED));
	assert_memory_equal(dropped.at, DROPPED, strlen(DROPPED));
	run(TOOLS(""));
	assert_written("{\"text\":\"t\"," SPEAKER "," STRINGS ",\"tools\":[],\"mcp\":[]}");
	assert_int_equal(dropped.len, 0);
}

/* A string of exactly `units` letters at one of three places. */
static void run_long(size_t text_units, size_t id_units, size_t name_units, const char *more)
{
	static char document[131072];
	const size_t units[] = {text_units, id_units, name_units};
	static const char *const BEFORE[] = {"{\"text\":\"", "\",\"speaker\":{\"id\":\"",
	                                     "\",\"name\":\""};
	struct text text;

	text_init(&text, document, sizeof(document) - 1);
	for (size_t i = 0; i < 3; i++) {
		text_string(&text, BEFORE[i]);
		for (size_t j = 0; j < units[i]; j++)
			text_string(&text, "\xc3\xa9");
		text_string(&text, more);
	}
	text_string(&text, "\"}," STRINGS ",\"tools\":[],\"mcp\":[]}");
	assert_false(text.full);
	document[text.len] = '\0';
	run(document);
}

static void test_lengths(void **state)
{
	static const struct {
		size_t text;
		size_t id;
		size_t name;
		const char *pointer;
	} CASES[] = {
		{TURN_TEXT_UNITS - 1, 0, 0, NULL},
		{TURN_TEXT_UNITS, TURN_SPEAKER_UNITS, TURN_SPEAKER_UNITS, NULL},
		{TURN_TEXT_UNITS + 1, 0, 0, "/text"},
		{0, TURN_SPEAKER_UNITS + 1, 0, "/speaker/id"},
		{0, 0, TURN_SPEAKER_UNITS + 1, "/speaker/name"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(CASES); i++) {
		run_long(CASES[i].text, CASES[i].id, CASES[i].name, "");
		assert_int_equal(report.count, CASES[i].pointer != NULL);
		if (CASES[i].pointer == NULL)
			continue;
		assert_int_equal(report.at[0].reason, REASON_SHAPE_LENGTH);
		assert_string_equal(report.at[0].pointer, CASES[i].pointer);
	}
	/* A character beyond U+FFFF is two units. */
	run_long(TURN_TEXT_UNITS - 2, 0, 0, "\xf0\x9f\x98\x80");
	assert_int_equal(report.count, 0);
	run_long(TURN_TEXT_UNITS - 1, 0, 0, "\xf0\x9f\x98\x80");
	assert_int_equal(report.count, 1);
}

static void test_every_violation(void **state)
{
	(void)state;
	run("{\"text\":1,\"tools\":[{}],\"mcp\":[]}");
	static const char *const POINTERS[] = {"/speaker",
	                                       "/model",
	                                       "/prompt",
	                                       "/timeZone",
	                                       "/text",
	                                       "/tools/0/name",
	                                       "/tools/0/description",
	                                       "/tools/0/parameters"};

	assert_int_equal(report.count, COUNT(POINTERS));
	for (size_t i = 0; i < COUNT(POINTERS); i++)
		assert_string_equal(report.at[i].pointer, POINTERS[i]);
	assert_int_equal(report_status(&report), 65);
	assert_int_equal(report.at[0].code, CODE_TURN);
}

static void test_name(void **state)
{
	static const struct {
		const char *json;
		bool fits;
	} CASES[] = {
		{"\"a\"", true},    {"\"z9_\"", true},       {NAME48, true},
		{NAME49, false},    {"\"\"", false},         {"\"a\\n\"", false},
		{NAME50, false},
		/* A character that the buffer has no room for, behind a whole name. */
		{"\"abcdefghijklmnopqrstuvwxyz0123456789_abcdefghijk\\u00e9\"", false},
		{"\"a b\"", false}, {"\"a\\u0000\"", false}, {"\"\\u0061\"", true},
		{"\"`\"", false},   {"\"{\"", false},        {"\"a/\"", false},
		{"\"a:\"", false},  {"\"a@\"", false},       {"\"a[\"", false},
	};
	const struct json_limits limits = {1024, 16, true};
	struct json_error error;
	struct json doc;

	(void)state;
	for (size_t i = 0; i < COUNT(CASES); i++) {
		assert_true(
			json_parse(&doc, CASES[i].json, strlen(CASES[i].json), &limits, &error));
		assert_int_equal(turn_name(&doc, 0), CASES[i].fits);
		json_drop(&doc);
	}
}

static const char SCHEMA[] =
	"{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\","
	"\"title\":\"cofferdam turn\",\"type\":\"object\",\"properties\":{\"text\":{"
	"\"type\":\"string\",\"description\":\"the message for the agent\",\"maxLength\":32000},"
	"\"speaker\":{\"type\":\"object\",\"properties\":{\"id\":{\"type\":\"string\","
	"\"maxLength\":256},\"name\":{\"type\":\"string\",\"maxLength\":256}},"
	"\"required\":[\"id\",\"name\"]},\"model\":{\"type\":\"string\"},\"prompt\":{"
	"\"type\":\"string\"},\"timeZone\":{\"type\":\"string\"},\"tools\":{\"type\":\"array\","
	"\"items\":{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\","
	"\"pattern\":\"^[a-z][a-z0-9_]{0,47}$\"},\"description\":{\"type\":\"string\"},"
	"\"parameters\":{\"type\":\"object\","
	"\"description\":\"a JSON Schema, handed on as it is\"}},\"required\":[\"name\","
	"\"description\",\"parameters\"]}},\"reset\":{\"type\":\"boolean\"},\"mcp\":{"
	"\"type\":\"array\",\"items\":{\"type\":\"object\",\"properties\":{\"server\":{"
	"\"type\":\"string\",\"pattern\":\"^[a-z][a-z0-9_]{0,47}$\"},\"tools\":{"
	"\"type\":\"array\",\"items\":{\"type\":\"object\",\"properties\":{\"name\":{"
	"\"type\":\"string\",\"pattern\":\"^[a-z][a-z0-9_]{0,47}$\"},\"description\":{"
	"\"type\":\"string\"},\"parameters\":{\"type\":\"object\","
	"\"description\":\"a JSON Schema, handed on as it is\"}},\"required\":[\"name\","
	"\"description\",\"parameters\"]}}},\"required\":[\"server\",\"tools\"]}}},"
	"\"required\":[\"text\",\"speaker\",\"model\",\"prompt\",\"timeZone\",\"tools\",\"mcp\"]}";

static void test_schema(void **state)
{
	(void)state;
	text_init(&out, out_buffer, sizeof(out_buffer));
	turn_schema(&out);
	assert_int_equal(out.len, sizeof(SCHEMA) - 1);
	assert_memory_equal(out.at, SCHEMA, sizeof(SCHEMA) - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_verdicts), cmocka_unit_test(test_canonical),
		cmocka_unit_test(test_lengths),  cmocka_unit_test(test_every_violation),
		cmocka_unit_test(test_name),     cmocka_unit_test(test_schema),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

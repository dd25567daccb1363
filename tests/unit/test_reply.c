/* SPDX-License-Identifier: ISC */
#include <string.h>

#include "../../policy/reply.h"
#include "verdicts.h"


static void read_it(const struct json *doc)
{
	report_init(&report, CODE_REPLY, 76);
	reply_write(doc, &out, &report);
}

static void run(const char *text)
{
	read_document(text, 1048576, true, read_it);
}

static const struct verdict VERDICTS[] = {
	{"{\"ok\":true,\"text\":\"\"}", REASON_NONE, ""},
	{"{\"ok\":false,\"text\":\"\"}", REASON_NONE, ""},
	{"{\"ok\":true}", REASON_SHAPE_MISSING, "/text"},
	{"{\"text\":\"x\"}", REASON_SHAPE_MISSING, "/ok"},
	{"{\"Ok\":true,\"text\":\"x\"}", REASON_SHAPE_MISSING, "/ok"},
	{"{\"ok\":null,\"text\":\"x\"}", REASON_SHAPE_TYPE, "/ok"},
	{"{\"ok\":1,\"text\":\"x\"}", REASON_SHAPE_TYPE, "/ok"},
	{"{\"ok\":\"true\",\"text\":\"x\"}", REASON_SHAPE_TYPE, "/ok"},
	{"{\"ok\":true,\"text\":null}", REASON_SHAPE_TYPE, "/text"},
	{"{\"ok\":true,\"text\":[\"x\"]}", REASON_SHAPE_TYPE, "/text"},
	{"[true,\"x\"]", REASON_SHAPE_TYPE, ""},
	{"null", REASON_SHAPE_TYPE, ""},
	{"\"ok\"", REASON_SHAPE_TYPE, ""},
};

static void test_verdicts(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(VERDICTS); i++)
		check_verdict(&VERDICTS[i], run);
}

static void test_only_two_leave(void **state)
{
	(void)state;
	run("{\"a\":{\"ok\":1},\"text\":\"x\\u000a\\/\\ud800\\u00e9\",\"ok\":false,\"z\":[1]}");
	assert_written("{\"ok\":false,\"text\":\"x\\n/\\ud800\xc3\xa9\"}");
	run("{ \"ok\" : true , \"t\\u0065xt\" : \"\" }");
	assert_written("{\"ok\":true,\"text\":\"\"}");
}

/* The text's length at the bound: repeats of one unit, then `last`. */
static void test_length(void **state)
{
	static char text[REPLY_TEXT_UNITS * 6 + 64];
	static const struct {
		const char *unit;
		size_t repeats;
		const char *last;
		bool accepted;
	} CASES[] = {
		{"a", REPLY_TEXT_UNITS - 1, "", true},
		{"a", REPLY_TEXT_UNITS, "", true},
		{"a", REPLY_TEXT_UNITS, "a", false},
		{"\xe2\x82\xac", REPLY_TEXT_UNITS, "", true},
		{"\xe2\x82\xac", REPLY_TEXT_UNITS, "\\n", false},
		{"\\u0041", REPLY_TEXT_UNITS, "", true},
		{"\\ud800", REPLY_TEXT_UNITS, "", true},
		{"\\ud800", REPLY_TEXT_UNITS, "\\ud800", false},
		{"\xf0\x9f\x98\x80", REPLY_TEXT_UNITS / 2, "", true},
		{"\xf0\x9f\x98\x80", REPLY_TEXT_UNITS / 2, "a", false},
		{"\xf0\x9f\x98\x80", REPLY_TEXT_UNITS / 2 - 1, "a", true},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(CASES); i++) {
		struct text document;

		text_init(&document, text, sizeof(text) - 1);
		text_string(&document, "{\"ok\":true,\"text\":\"");
		for (size_t j = 0; j < CASES[i].repeats; j++)
			text_string(&document, CASES[i].unit);
		text_string(&document, CASES[i].last);
		text_string(&document, "\"}");
		assert_false(document.full);
		text[document.len] = '\0';
		run(text);
		assert_int_equal(report.count, CASES[i].accepted ? 0 : 1);
		if (!CASES[i].accepted) {
			assert_int_equal(report.at[0].reason, REASON_SHAPE_LENGTH);
			assert_int_equal(report.at[0].status, 76);
			assert_int_equal(report.at[0].code, CODE_REPLY);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_verdicts),
		cmocka_unit_test(test_only_two_leave),
		cmocka_unit_test(test_length),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

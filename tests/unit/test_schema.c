/* SPDX-License-Identifier: ISC */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../../policy/schema.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static enum reason judge_even(const char *text, size_t len)
{
	(void)text;
	return len % 2 == 0 ? REASON_NONE : REASON_SHAPE_NAME;
}

static const char *const COLOURS[] = {"red", "blue", NULL};

static const struct schema_reasons ODD_WHY = {.wrong = REASON_LIMIT_NUMBER,
                                              .unfit = REASON_CONFIG_VERSION,
                                              .low = REASON_USER_ROOT,
                                              .high = REASON_USER_RANGE};

static const struct schema_field ITEM_FIELDS[] = {
	{.key = "id", .type = SCHEMA_STRING, .required = true},
	{.key = "deep", .type = SCHEMA_MAP},
};
static const struct schema_field ITEM = {
	.type = SCHEMA_OBJECT, .open = true, .of = ITEM_FIELDS, .count = COUNT(ITEM_FIELDS)};
static const struct schema_field WORD = {.type = SCHEMA_STRING, .max = 3};

static const struct schema_field FIELDS[] = {
	{.key = "text", .type = SCHEMA_STRING, .min = 2, .max = 4},
	{.key = "even", .type = SCHEMA_STRING, .judge = judge_even, .pattern = "^(..)*$"},
	{.key = "colour", .type = SCHEMA_STRING, .words = COLOURS, .note = "one \"of\" two"},
	{.key = "flag", .type = SCHEMA_BOOLEAN},
	{.key = "count",
         .type = SCHEMA_INTEGER,
         .min = 5,
         .max = 90,
         .standard = true,
         .initial = 7},
	{.key = "share", .type = SCHEMA_DECIMAL, .min = 10000000, .max = 2000000000},
	{.key = "odd", .type = SCHEMA_INTEGER, .min = 3, .max = 8, .why = &ODD_WHY},
	{.key = "words", .type = SCHEMA_ARRAY, .min = 1, .max = 2, .item = &WORD},
	{.key = "items", .type = SCHEMA_ARRAY, .item = &ITEM},
	{.key = "map",
         .type = SCHEMA_MAP,
         .max = 2,
         .judge = judge_even,
         .pattern = "^(..)*$",
         .item = &WORD},
	{.key = "inner", .type = SCHEMA_OBJECT, .of = ITEM_FIELDS, .count = COUNT(ITEM_FIELDS)},
};
static const struct schema_field ROOT = {.type = SCHEMA_OBJECT,
	                                 .of = FIELDS,
	                                 .count = COUNT(FIELDS),
	                                 .keywords = ",\"minProperties\":1"};

#define LONG32 "abcdefghijklmnopqrstuvwxyz012345"
#define LONG33 LONG32 "6"
static const struct schema_field LONG_FIELD = {.key = LONG32};
static const struct schema_field LONG = {.type = SCHEMA_OBJECT, .of = &LONG_FIELD, .count = 1};
static const struct schema_field LONGER_FIELD = {.key = LONG33};
static const struct schema_field LONGER = {.type = SCHEMA_OBJECT, .of = &LONGER_FIELD, .count = 1};

/* Bounds of every kind: one of two, both the same, and 0 of a number. */
static const struct schema_field BOUND_FIELDS[] = {
	{.key = "least", .type = SCHEMA_STRING, .required = true, .min = 2},
	{.key = "one", .type = SCHEMA_STRING, .required = true, .min = 1},
	{.key = "most", .type = SCHEMA_STRING, .max = 1},
	{.key = "same", .type = SCHEMA_STRING, .min = 2, .max = 2},
	{.key = "list", .type = SCHEMA_ARRAY, .min = 1, .item = &WORD},
	{.key = "map", .type = SCHEMA_MAP, .min = 1, .max = 3},
	{.key = "to5", .type = SCHEMA_INTEGER, .max = 5},
	{.key = "to1.5", .type = SCHEMA_DECIMAL, .max = 1500000000},
	{.key = "half", .type = SCHEMA_DECIMAL, .min = 500000000, .max = 500000000},
	{.key = "zero", .type = SCHEMA_INTEGER},
	{.key = "nought", .type = SCHEMA_DECIMAL},
};
static const struct schema_field BOUNDS = {
	.type = SCHEMA_OBJECT, .of = BOUND_FIELDS, .count = COUNT(BOUND_FIELDS)};

static const struct schema_field FREE_MAP = {.type = SCHEMA_MAP, .item = &WORD};
static const struct schema_field ZERO = {.type = SCHEMA_INTEGER};

static struct report report;
static char dropped_buffer[64];
static struct text dropped;
static char out_buffer[8192];
static struct text out;

static void parse(struct json *doc, const char *text)
{
	const struct json_limits limits = {65536, 4096, true};
	struct json_error error;

	assert_true(json_parse(doc, text, strlen(text), &limits, &error));
}

static void check(const struct schema_field *root, const char *text)
{
	struct json doc;

	parse(&doc, text);
	report_init(&report, CODE_CONFIG, 78);
	text_init(&dropped, dropped_buffer, sizeof(dropped_buffer));
	text_init(&out, out_buffer, sizeof(out_buffer));
	schema_check(&doc, root, &dropped, &report);
	if (report_empty(&report))
		schema_write(&doc, root, &out);
	json_drop(&doc);
}

static void assert_text(const struct text *text, const char *expected)
{
	assert_false(text->full);
	assert_int_equal(text->len, strlen(expected));
	assert_memory_equal(text->at, expected, strlen(expected));
}

/* One document, one finding; no reason: accepted. */
struct verdict {
	const char *text;
	enum reason reason;
	const char *pointer;
	const char *detail;
};

static const struct verdict VERDICTS[] = {
	{"{}", REASON_NONE, "", ""},
	{"[]", REASON_SHAPE_TYPE, "", "expected an object, found an array"},
	{"null", REASON_SHAPE_TYPE, "", "expected an object, found null"},
	{"{\"text\":\"a\"}", REASON_SHAPE_LENGTH, "/text", "2 to 4 UTF-16 code units"},
	{"{\"text\":\"ab\"}", REASON_NONE, "", ""},
	{"{\"text\":\"abcd\"}", REASON_NONE, "", ""},
	{"{\"text\":\"\\ud83d\\ude00\"}", REASON_NONE, "", ""},
	{"{\"text\":\"abcde\"}", REASON_SHAPE_LENGTH, "/text", "2 to 4 UTF-16 code units"},
	{"{\"text\":5}", REASON_SHAPE_TYPE, "/text", "expected a string, found a number"},
	{"{\"text\":false}", REASON_SHAPE_TYPE, "/text", "expected a string, found false"},
	{"{\"text\":null}", REASON_SHAPE_TYPE, "/text", "expected a string, found null"},
	{"{\"even\":\"\"}", REASON_NONE, "", ""},
	{"{\"even\":\"\\u0061b\"}", REASON_NONE, "", ""},
	{"{\"even\":\"abc\"}", REASON_SHAPE_NAME, "/even", ""},
	{"{\"even\":true}", REASON_SHAPE_TYPE, "/even", "expected a string, found true"},
	{"{\"colour\":\"red\"}", REASON_NONE, "", ""},
	{"{\"colour\":\"blue\"}", REASON_NONE, "", ""},
	{"{\"colour\":\"Blue\"}", REASON_SHAPE_VALUE, "/colour", "expected \"red\" or \"blue\""},
	{"{\"colour\":\"\"}", REASON_SHAPE_VALUE, "/colour", "expected \"red\" or \"blue\""},
	{"{\"flag\":true}", REASON_NONE, "", ""},
	{"{\"flag\":false}", REASON_NONE, "", ""},
	{"{\"flag\":\"true\"}", REASON_SHAPE_TYPE, "/flag",
	 "expected true or false, found a string"},
	{"{\"flag\":0}", REASON_SHAPE_TYPE, "/flag", "expected true or false, found a number"},
	{"{\"count\":4}", REASON_SHAPE_VALUE, "/count", "5 to 90"},
	{"{\"count\":5}", REASON_NONE, "", ""},
	{"{\"count\":90}", REASON_NONE, "", ""},
	{"{\"count\":91}", REASON_SHAPE_VALUE, "/count", "5 to 90"},
	{"{\"count\":18446744073709551621}", REASON_SHAPE_VALUE, "/count", "5 to 90"},
	{"{\"count\":6.0}", REASON_SHAPE_VALUE, "/count", "expected digits only"},
	{"{\"count\":1e1}", REASON_SHAPE_VALUE, "/count", "expected digits only"},
	{"{\"count\":-6}", REASON_SHAPE_VALUE, "/count", "expected digits only"},
	{"{\"count\":\"6\"}", REASON_SHAPE_TYPE, "/count", "expected a number, found a string"},
	{"{\"share\":0.01}", REASON_NONE, "", ""},
	{"{\"share\":2}", REASON_NONE, "", ""},
	{"{\"share\":1.999999999}", REASON_NONE, "", ""},
	{"{\"share\":0.009999999}", REASON_SHAPE_VALUE, "/share", "0.01 to 2"},
	{"{\"share\":2.000000001}", REASON_SHAPE_VALUE, "/share", "0.01 to 2"},
	{"{\"share\":1.0000000001}", REASON_SHAPE_VALUE, "/share",
	 "expected digits, and at most nine after a point"},
	{"{\"share\":1e0}", REASON_SHAPE_VALUE, "/share",
	 "expected digits, and at most nine after a point"},
	{"{\"share\":\"1\"}", REASON_SHAPE_TYPE, "/share", "expected a number, found a string"},
	{"{\"odd\":2}", REASON_USER_ROOT, "/odd", "3 to 8"},
	{"{\"odd\":3}", REASON_NONE, "", ""},
	{"{\"odd\":8}", REASON_NONE, "", ""},
	{"{\"odd\":9}", REASON_USER_RANGE, "/odd", "3 to 8"},
	{"{\"odd\":-0}", REASON_CONFIG_VERSION, "/odd", "expected digits only"},
	{"{\"odd\":[]}", REASON_LIMIT_NUMBER, "/odd", "expected a number, found an array"},
	{"{\"words\":[]}", REASON_SHAPE_COUNT, "/words", "1 to 2 items"},
	{"{\"words\":[\"a\"]}", REASON_NONE, "", ""},
	{"{\"words\":[\"a\",\"b\"]}", REASON_NONE, "", ""},
	{"{\"words\":[\"a\",\"b\",\"c\"]}", REASON_SHAPE_COUNT, "/words", "1 to 2 items"},
	{"{\"words\":[\"a\",\"abcd\"]}", REASON_SHAPE_LENGTH, "/words/1",
	 "at most 3 UTF-16 code units"},
	{"{\"words\":{}}", REASON_SHAPE_TYPE, "/words", "expected an array, found an object"},
	{"{\"items\":[{\"id\":\"\"},{}]}", REASON_SHAPE_MISSING, "/items/1/id", "key: id"},
	{"{\"items\":[[]]}", REASON_SHAPE_TYPE, "/items/0", "expected an object, found an array"},
	{"{\"map\":{}}", REASON_NONE, "", ""},
	{"{\"map\":{\"ab\":\"x\",\"cd\":\"y\"}}", REASON_NONE, "", ""},
	{"{\"map\":{\"ab\":\"x\",\"cd\":\"y\",\"ef\":\"z\"}}", REASON_SHAPE_COUNT, "/map",
	 "at most 2 members"},
	{"{\"map\":{\"abc\":\"x\"}}", REASON_SHAPE_NAME, "/map/abc", ""},
	{"{\"map\":{\"ab\":1}}", REASON_SHAPE_TYPE, "/map/ab", "expected a string, found a number"},
	{"{\"inner\":{}}", REASON_SHAPE_MISSING, "/inner/id", "key: id"},
	{"{\"inner\":{\"id\":\"\",\"deep\":{\"any\":[{}]}}}", REASON_NONE, "", ""},
	{"{\"inner\":{\"id\":\"\",\"deep\":[]}}", REASON_SHAPE_TYPE, "/inner/deep",
	 "expected an object, found an array"},
	{"{\"inner\":{\"id\":\"\",\"more\":1}}", REASON_SHAPE_UNKNOWN_KEY, "/inner/more", ""},
	{"{\"colur\":\"red\"}", REASON_SHAPE_UNKNOWN_KEY, "/colur", "did you mean \"colour\"?"},
	{"{\"a/b\":1}", REASON_SHAPE_UNKNOWN_KEY, "/a~1b", ""},
	{"{\"" LONG33 "\":1}", REASON_SHAPE_UNKNOWN_KEY, "/" LONG33, ""},
	{"{\"te\\u0078t\":\"ab\"}", REASON_NONE, "", ""},
};

#define BOUND(member) "{\"least\":\"ab\",\"one\":\"a\"," member "}"

static const struct verdict BOUND_VERDICTS[] = {
	{"{\"least\":\"ab\",\"one\":\"a\"}", REASON_NONE, "", ""},
	{"{\"least\":\"a\",\"one\":\"a\"}", REASON_SHAPE_LENGTH, "/least",
	 "at least 2 UTF-16 code units"},
	{"{\"least\":\"ab\",\"one\":\"\"}", REASON_SHAPE_LENGTH, "/one",
	 "at least 1 UTF-16 code units"},
	{BOUND("\"most\":\"\""), REASON_NONE, "", ""},
	{BOUND("\"most\":\"a\""), REASON_NONE, "", ""},
	{BOUND("\"most\":\"ab\""), REASON_SHAPE_LENGTH, "/most", "at most 1 UTF-16 code units"},
	{BOUND("\"same\":\"ab\""), REASON_NONE, "", ""},
	{BOUND("\"same\":\"abc\""), REASON_SHAPE_LENGTH, "/same",
	 "exactly 2 UTF-16 code units"},
	{BOUND("\"list\":[]"), REASON_SHAPE_COUNT, "/list", "at least 1 items"},
	{BOUND("\"list\":[\"\",\"\",\"\"]"), REASON_NONE, "", ""},
	{BOUND("\"map\":{}"), REASON_SHAPE_COUNT, "/map", "1 to 3 members"},
	{BOUND("\"map\":{\"a\":1,\"b\":2,\"c\":3}"), REASON_NONE, "", ""},
	{BOUND("\"to5\":0"), REASON_NONE, "", ""},
	{BOUND("\"to5\":5"), REASON_NONE, "", ""},
	{BOUND("\"to5\":6"), REASON_SHAPE_VALUE, "/to5", "0 to 5"},
	{BOUND("\"to1.5\":0.0"), REASON_NONE, "", ""},
	{BOUND("\"to1.5\":1.5"), REASON_NONE, "", ""},
	{BOUND("\"to1.5\":1.6"), REASON_SHAPE_VALUE, "/to1.5", "0 to 1.5"},
	{BOUND("\"half\":0.5"), REASON_NONE, "", ""},
	{BOUND("\"half\":0.4"), REASON_SHAPE_VALUE, "/half", "exactly 0.5"},
	{BOUND("\"zero\":0"), REASON_NONE, "", ""},
	{BOUND("\"zero\":1"), REASON_SHAPE_VALUE, "/zero", "exactly 0"},
	{BOUND("\"nought\":0"), REASON_NONE, "", ""},
	{BOUND("\"nought\":0.1"), REASON_SHAPE_VALUE, "/nought", "exactly 0"},
};

static void assert_verdicts(const struct schema_field *root, const struct verdict *verdicts,
                            size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct verdict *verdict = &verdicts[i];

		check(root, verdict->text);
		if (report.count != (verdict->reason != REASON_NONE))
			fail_msg("%s: %u findings", verdict->text, report.count);
		if (report.count == 0)
			continue;
		if (report.at[0].reason != verdict->reason)
			fail_msg("%s: %s", verdict->text, reason_name(report.at[0].reason));
		assert_string_equal(report.at[0].pointer, verdict->pointer);
		assert_string_equal(report.at[0].detail, verdict->detail);
	}
}

static void test_verdicts(void **state)
{
	(void)state;
	assert_verdicts(&ROOT, VERDICTS, COUNT(VERDICTS));
	assert_verdicts(&BOUNDS, BOUND_VERDICTS, COUNT(BOUND_VERDICTS));
}

static void test_every_violation(void **state)
{
	(void)state;
	check(&ROOT,
	      "{\"text\":1,\"nope\":2,\"items\":[{\"id\":3},{}],\"flag\":4,\"words\":[5,6]}");
	static const char *const POINTERS[] = {"/text", "/nope",    "/items/0/id", "/items/1/id",
	                                       "/flag", "/words/0", "/words/1"};

	assert_int_equal(report.count, COUNT(POINTERS));
	for (size_t i = 0; i < COUNT(POINTERS); i++)
		assert_string_equal(report.at[i].pointer, POINTERS[i]);
}

static void test_write(void **state)
{
	(void)state;
	check(&ROOT,
	      " { \"items\" : [ { \"x\":1, \"deep\" : {\"b\": 1.0,\"a\":[ ]}, \"id\":\"\\u0041\" },"
	      "{\"id\":\"\"} ], \"flag\":false , \"words\":[\"p\",\"q\"], \"text\":\"ab\" } ");
	assert_text(&out,
	            "{\"text\":\"ab\",\"flag\":false,\"words\":[\"p\",\"q\"],"
	            "\"items\":[{\"id\":\"A\",\"deep\":{\"b\":1.0,\"a\":[]}},{\"id\":\"\"}]}");
	assert_text(&dropped, "/items/0/x\n");
	check(&ROOT, "{}");
	assert_text(&out, "{}");
	assert_text(&dropped, "");
	check(&ROOT, "{\"items\":[]}");
	assert_text(&out, "{\"items\":[]}");
}

static void test_dropped(void **state)
{
	struct json doc;

	(void)state;
	check(&ITEM, "{\"id\":\"\",\"\\n\\u00e9\":{\"in\":1},\"z\":2}");
	assert_text(&dropped, "/\\x0a\\xc3\\xa9\n/z\n");
	check(&ITEM, "{\"id\":\"\",\"1234567890123456789012345678901234567890\":1,"
	             "\"a1234567890123456789012345678901234567890\":1,\"z\":2}");
	assert_true(dropped.full);
	assert_int_equal(dropped.len, 42);
	assert_int_equal(report.count, 0);
	parse(&doc, "{\"id\":\"\",\"z\":2}");
	schema_check(&doc, &ITEM, NULL, &report);
	assert_int_equal(report.count, 0);
	json_drop(&doc);
}

/* So many letters as the one key of an object, or as its member "even". */
static void parse_long(struct json *doc, size_t letters, const char *before, const char *after)
{
	static char text[SCHEMA_TEXT_MAX + 64];
	const struct json_limits limits = {sizeof(text), 16, true};
	struct json_error error;
	struct text to;

	text_init(&to, text, sizeof(text));
	text_string(&to, before);
	for (size_t i = 0; i < letters; i++)
		text_string(&to, "k");
	text_string(&to, after);
	assert_false(to.full);
	assert_true(json_parse(doc, to.at, to.len, &limits, &error));
}

/* The pointer of a dropped member that is too long is cut, and says so. */
static void test_dropped_long(void **state)
{
	char lines[2048];
	struct json doc;

	(void)state;
	for (size_t letters = REPORT_POINTER - 1; letters <= REPORT_POINTER; letters++) {
		bool cut = letters == REPORT_POINTER;

		parse_long(&doc, letters, "{\"id\":\"\",\"", "\":1}");
		report_init(&report, CODE_CONFIG, 78);
		text_init(&dropped, lines, sizeof(lines) - 1);
		schema_check(&doc, &ITEM, &dropped, &report);
		json_drop(&doc);
		assert_int_equal(report.count, 0);
		assert_false(dropped.full);
		lines[dropped.len] = '\0';
		assert_int_equal(strspn(lines + 1, "k"), REPORT_POINTER - 1);
		assert_string_equal(lines + REPORT_POINTER, cut ? "...\n" : "\n");
	}
}

/* A detail as long as is made here, and words that would make it longer. */
static void test_long_note(void **state)
{
	static const char *words[] = {LONG33, LONG33, "", NULL};
	static const struct schema_field FIELD = {.type = SCHEMA_STRING, .words = words};
	static char last[64];
	const char *both = "expected \"" LONG33 "\" or \"" LONG33 "\" or \"";
	size_t room = 128 - strlen(both) - 1;

	(void)state;
	words[2] = last;
	memset(last, 'w', room);
	check(&FIELD, "\"\"");
	assert_int_equal(report.count, 1);
	assert_int_equal(strlen(report.at[0].detail), 128);
	assert_memory_equal(report.at[0].detail, both, strlen(both));
	assert_int_equal(strspn(report.at[0].detail + strlen(both), "w"), room);
	assert_string_equal(report.at[0].detail + 127, "\"");
	last[room] = 'w';
	check(&FIELD, "\"\"");
	assert_int_equal(strlen(report.at[0].detail), 128);
	assert_string_equal(report.at[0].detail + 127, "w");
}

/* A string that is judged must fit whole. */
static void test_judged_long(void **state)
{
	struct json doc;

	(void)state;
	for (size_t extra = 0; extra <= 2; extra += 2) {
		parse_long(&doc, SCHEMA_TEXT_MAX + extra, "{\"even\":\"", "\"}");
		report_init(&report, CODE_CONFIG, 78);
		schema_check(&doc, &ROOT, NULL, &report);
		json_drop(&doc);
		assert_int_equal(report.count, extra / 2);
	}
	assert_int_equal(report.at[0].reason, REASON_SHAPE_LENGTH);
	assert_string_equal(report.at[0].pointer, "/even");
}

/* A map without a judge takes any key. */
static void test_free_map(void **state)
{
	(void)state;
	check(&FREE_MAP, "{\"abc\":\"x\",\"\":\"y\"}");
	assert_int_equal(report.count, 0);
	assert_text(&out, "{\"abc\":\"x\",\"\":\"y\"}");
	check(&FREE_MAP, "{\"abc\":1}");
	assert_int_equal(report.count, 1);
	assert_string_equal(report.at[0].pointer, "/abc");
}

static void test_nearest(void **state)
{
	static const struct {
		const char *key;
		const char *nearest;
	} CASES[] = {
		{"colour", "colour"}, {"color", "colour"},
		{"colr", "colour"},   {"col", NULL},
		{"Colour", "colour"}, {"colouress", NULL},
		{"oclour", "colour"}, {"count", "count"},
		{"conut", "count"},   {"shared", "share"},
		{"xcolour", "colour"}, {"xycolour", "colour"},
		{"colourxy", "colour"}, {"xyzcolour", NULL},
		{"", NULL},           {"xyz", NULL},
		{"maps", "map"},      {"colourabcdefghijklmnopqrstuvwxyz0123", NULL},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(CASES); i++) {
		const char *nearest = schema_nearest(&ROOT, CASES[i].key, strlen(CASES[i].key));

		if (CASES[i].nearest == NULL)
			assert_null(nearest);
		else
			assert_string_equal(nearest, CASES[i].nearest);
	}
	/* 32 bytes are looked at, 33 are not. */
	assert_string_equal(schema_nearest(&LONG, LONG32, 32), LONG32);
	assert_string_equal(schema_nearest(&LONG, LONG33, 32), LONG32);
	assert_null(schema_nearest(&LONG, LONG33, 33));
	assert_null(schema_nearest(&LONGER, LONG33, 32));
	/* A key of two letters would be near to any other. */
	assert_null(schema_nearest(&ITEM, "ad", 2));
	assert_string_equal(schema_nearest(&ITEM, "depe", 4), "deep");
}

/* The least number of letters put in, left out or changed, as it is defined. */
static unsigned edits(const char *a, const char *b)
{
	unsigned change, put_in, left_out;

	if (*a == '\0' || *b == '\0')
		return (unsigned)(strlen(a) + strlen(b));
	change = edits(a + 1, b + 1) + (*a != *b ? 1 : 0);
	put_in = edits(a, b + 1) + 1;
	left_out = edits(a + 1, b) + 1;
	if (put_in < change)
		change = put_in;
	return left_out < change ? left_out : change;
}

/* Every key of at most five of three letters, next to one known key. */
static void test_nearest_one(void **state)
{
	static const char *const KNOWN[] = {"abc", "aab", "abcb", "abcab"};

	(void)state;
	for (size_t i = 0; i < COUNT(KNOWN); i++) {
		const struct schema_field field = {.key = KNOWN[i]};
		const struct schema_field object = {
			.type = SCHEMA_OBJECT, .of = &field, .count = 1};

		/* The digits of base 4 of a number, up to the first 0. */
		for (unsigned number = 0; number < 1024; number++) {
			char key[6] = "";
			unsigned rest = number;

			for (size_t k = 0; rest % 4 != 0; k++, rest /= 4)
				key[k] = (char)('a' + rest % 4 - 1);
			if (rest != 0)
				continue;
			if ((schema_nearest(&object, key, strlen(key)) != NULL) !=
			    (edits(key, KNOWN[i]) <= 2))
				fail_msg("%s: %s", KNOWN[i], key);
		}
	}
}

/* Of two that are near the nearer one, of two alike the first. */
static void test_nearest_of_two(void **state)
{
	static const struct schema_field TWO[] = {{.key = "abcd"}, {.key = "abcdef"}};
	static const struct schema_field OBJECT = {.type = SCHEMA_OBJECT, .of = TWO, .count = 2};

	(void)state;
	assert_string_equal(schema_nearest(&OBJECT, "abcd", 4), "abcd");
	assert_string_equal(schema_nearest(&OBJECT, "abce", 4), "abcd");
	assert_string_equal(schema_nearest(&OBJECT, "abcde", 5), "abcd");
	assert_string_equal(schema_nearest(&OBJECT, "abcdeg", 6), "abcdef");
	assert_string_equal(schema_nearest(&OBJECT, "abcdef", 6), "abcdef");
}

static void test_number(void **state)
{
	struct json doc;

	(void)state;
	parse(&doc, "{\"count\":33,\"share\":0.5,\"odd\":9}");
	assert_int_equal(schema_number(&doc, 0, &FIELDS[4]), 33);
	assert_int_equal(schema_number(&doc, 0, &FIELDS[5]), 500000000);
	assert_int_equal(schema_number(&doc, 0, &FIELDS[6]), 0);
	assert_int_equal(schema_number(&doc, JSON_NONE, &FIELDS[4]), 7);
	json_drop(&doc);
	parse(&doc, "{\"to5\":0,\"count\":5,\"share\":0.01}");
	assert_int_equal(schema_number(&doc, 0, &BOUND_FIELDS[6]), 0);
	assert_int_equal(schema_number(&doc, 0, &FIELDS[4]), 5);
	assert_int_equal(schema_number(&doc, 0, &FIELDS[5]), 10000000);
	json_drop(&doc);
	parse(&doc, "{\"count\":4}");
	assert_int_equal(schema_number(&doc, 0, &FIELDS[4]), 7);
	json_drop(&doc);
	parse(&doc, "{\"count\":\"33\"}");
	assert_int_equal(schema_number(&doc, 0, &FIELDS[4]), 7);
	json_drop(&doc);
}

static const char EMITTED[] =
	"{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\"title\":\"a \\\"b\\\"\","
	"\"type\":\"object\",\"properties\":{"
	"\"text\":{\"type\":\"string\",\"minLength\":2,\"maxLength\":4},"
	"\"even\":{\"type\":\"string\",\"pattern\":\"^(..)*$\"},"
	"\"colour\":{\"type\":\"string\",\"description\":\"one \\\"of\\\" two\","
	"\"enum\":[\"red\",\"blue\"]},"
	"\"flag\":{\"type\":\"boolean\"},"
	"\"count\":{\"type\":\"integer\",\"minimum\":5,\"maximum\":90,\"default\":7},"
	"\"share\":{\"type\":\"number\",\"minimum\":0.01,\"maximum\":2},"
	"\"odd\":{\"type\":\"integer\",\"minimum\":3,\"maximum\":8},"
	"\"words\":{\"type\":\"array\",\"minItems\":1,\"maxItems\":2,"
	"\"items\":{\"type\":\"string\",\"maxLength\":3}},"
	"\"items\":{\"type\":\"array\",\"items\":{\"type\":\"object\",\"properties\":{"
	"\"id\":{\"type\":\"string\"},\"deep\":{\"type\":\"object\"}},\"required\":[\"id\"]}},"
	"\"map\":{\"type\":\"object\",\"maxProperties\":2,"
	"\"propertyNames\":{\"pattern\":\"^(..)*$\"},"
	"\"additionalProperties\":{\"type\":\"string\",\"maxLength\":3}},"
	"\"inner\":{\"type\":\"object\",\"properties\":{"
	"\"id\":{\"type\":\"string\"},\"deep\":{\"type\":\"object\"}},\"required\":[\"id\"],"
	"\"additionalProperties\":false}},\"minProperties\":1,\"additionalProperties\":false}";

static const char BOUNDS_EMITTED[] =
	"{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\"title\":\"b\","
	"\"type\":\"object\",\"properties\":{"
	"\"least\":{\"type\":\"string\",\"minLength\":2},"
	"\"one\":{\"type\":\"string\",\"minLength\":1},"
	"\"most\":{\"type\":\"string\",\"maxLength\":1},"
	"\"same\":{\"type\":\"string\",\"minLength\":2,\"maxLength\":2},"
	"\"list\":{\"type\":\"array\",\"minItems\":1,"
	"\"items\":{\"type\":\"string\",\"maxLength\":3}},"
	"\"map\":{\"type\":\"object\",\"minProperties\":1,\"maxProperties\":3},"
	"\"to5\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":5},"
	"\"to1.5\":{\"type\":\"number\",\"minimum\":0,\"maximum\":1.5},"
	"\"half\":{\"type\":\"number\",\"minimum\":0.5,\"maximum\":0.5},"
	"\"zero\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":0},"
	"\"nought\":{\"type\":\"number\",\"minimum\":0,\"maximum\":0}},"
	"\"required\":[\"least\",\"one\"],\"additionalProperties\":false}";

static void test_emit(void **state)
{
	struct json doc;

	(void)state;
	text_init(&out, out_buffer, sizeof(out_buffer) - 1);
	schema_emit(&ROOT, "a \"b\"", &out);
	assert_text(&out, EMITTED);
	out_buffer[out.len] = '\0';
	parse(&doc, out_buffer);
	json_drop(&doc);
	text_init(&out, out_buffer, 100);
	schema_emit(&ROOT, "a", &out);
	assert_true(out.full);
	/* A number's bounds hold and are said, be they 0. */
	text_init(&out, out_buffer, sizeof(out_buffer));
	schema_emit(&ZERO, "0", &out);
	assert_text(&out, "{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\","
	                  "\"title\":\"0\",\"type\":\"integer\",\"minimum\":0,\"maximum\":0}");
	text_init(&out, out_buffer, sizeof(out_buffer));
	schema_emit(&BOUNDS, "b", &out);
	assert_text(&out, BOUNDS_EMITTED);
}

/* A table as deep as the stack is walked whole, one deeper is refused. */
static void test_depth(void **state)
{
	static struct schema_field level[SCHEMA_DEPTH + 1];
	struct json doc;

	(void)state;
	for (size_t i = 0; i <= SCHEMA_DEPTH; i++)
		level[i] = (struct schema_field){.type = SCHEMA_ARRAY,
		                                 .item = i < SCHEMA_DEPTH ? &level[i + 1] : &WORD};
	check(&level[1], "[[[[[[[[\"abcd\"]]]]]]]]");
	assert_int_equal(report.count, 1);
	assert_int_equal(report.at[0].reason, REASON_SHAPE_LENGTH);
	check(&level[1], "[[[[[[[[\"abc\"]]]]]]]]");
	assert_int_equal(report.count, 0);
	assert_text(&out, "[[[[[[[[\"abc\"]]]]]]]]");
	level[SCHEMA_DEPTH].item = &ZERO; /* a leaf needs no level */
	check(&level[1], "[[[[[[[[0]]]]]]]]");
	assert_int_equal(report.count, 0);
	level[SCHEMA_DEPTH].item = &WORD;
	check(&level[0], "[[[[[[[[[\"abc\"]]]]]]]]]");
	assert_int_equal(report.count, 1);
	assert_int_equal(report.at[0].reason, REASON_JSON_TOO_DEEP);
	/* Written and printed all the same, it ends where the stack does. */
	parse(&doc, "[ [ [ [ [ [ [ [ [ \"abc\" ] ] ] ] ] ] ] ] ]");
	schema_write(&doc, &level[0], &out);
	assert_text(&out, "[[[[[[[[[\"abc\"]]]]]]]]]");
	json_drop(&doc);
	for (size_t i = 0; i < 2; i++) {
		text_init(&out, out_buffer, sizeof(out_buffer) - 1);
		schema_emit(&level[i], "a", &out);
		assert_false(out.full);
		out_buffer[out.len] = '\0';
		parse(&doc, out_buffer);
		json_drop(&doc);
		assert_int_equal(strstr(out_buffer, "\"string\"") != NULL, i);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_verdicts), cmocka_unit_test(test_every_violation),
		cmocka_unit_test(test_write),    cmocka_unit_test(test_dropped),
		cmocka_unit_test(test_nearest),  cmocka_unit_test(test_number),
		cmocka_unit_test(test_emit),     cmocka_unit_test(test_depth),
		cmocka_unit_test(test_dropped_long),
		cmocka_unit_test(test_judged_long),
		cmocka_unit_test(test_free_map),
		cmocka_unit_test(test_nearest_one),
		cmocka_unit_test(test_nearest_of_two),
		cmocka_unit_test(test_long_note),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: ISC */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "../../policy/report.h"

#define T(literal) (literal), sizeof(literal) - 1
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct report report;
static char buffer[8192];

static void fresh(void)
{
	memset(&report, 0xa5, sizeof(report));
	report_init(&report, CODE_TURN, 65);
}

static struct json parse(const char *source, size_t len)
{
	static const struct json_limits limits = {1 << 20, 20000, true};
	struct json doc;
	struct json_error error;

	assert_true(json_parse(&doc, source, len, &limits, &error));
	return doc;
}

static const char *line(const struct finding *finding)
{
	struct text out;

	text_init(&out, buffer, sizeof(buffer));
	finding_line(finding, &out);
	assert_non_null(text_keep(&out, "", 0));
	return buffer;
}

static const char *json(const struct finding *finding)
{
	struct text out;

	text_init(&out, buffer, sizeof(buffer));
	finding_json(finding, &out);
	assert_non_null(text_keep(&out, "", 0));
	return buffer;
}

/* ---- the table of reasons ---- */

static bool plain(const char *at, const char *allowed)
{
	return at[0] != '\0' && at[strspn(at, allowed)] == '\0';
}

static bool printable(const char *at)
{
	for (; *at != '\0'; at++) {
		if (*at < ' ' || *at > '~')
			return false;
	}
	return true;
}

/* Every row: a name of two or more parts, a sentence and a hint of one line
 * without a final stop, an exit status of the design's table. */
static void test_reason_rows(void **state)
{
	(void)state;
	for (int i = REASON_NONE + 1; i < REASON_COUNT; i++) {
		enum reason reason = (enum reason)i;
		const char *name = reason_name(reason);
		const char *sentence = reason_sentence(reason);
		const char *hint = reason_hint(reason);
		int status = reason_status(reason);

		assert_true(plain(name, "abcdefghijklmnopqrstuvwxyz0123456789_."));
		assert_non_null(strchr(name, '.'));
		assert_true(printable(sentence) && printable(hint));
		assert_true(strlen(sentence) > 10 && strlen(hint) > 5);
		assert_int_not_equal(sentence[strlen(sentence) - 1], '.');
		assert_int_not_equal(hint[strlen(hint) - 1], '.');
		assert_int_not_equal(reason_code(reason), CODE_NONE);
		if (reason_code(reason) != CODE_DOCUMENT)
			assert_true(status >= 64 && status <= 80);
		for (int j = REASON_NONE + 1; j < i; j++)
			assert_string_not_equal(name, reason_name((enum reason)j));
	}
	print_message("%d reasons\n", REASON_COUNT - 1);
}

static void test_reason_fixed(void **state)
{
	(void)state;
	assert_string_equal(reason_name(REASON_JSON_DUPLICATE_KEY), "json.duplicate_key");
	assert_string_equal(reason_name(REASON_MOUNT_IN_USE), "mount.in_use");
	assert_int_equal(reason_code(REASON_MOUNT_IN_USE), CODE_BUSY);
	assert_int_equal(reason_status(REASON_MOUNT_IN_USE), 75);
	assert_int_equal(reason_code(REASON_MOUNT_RELATIVE), CODE_POLICY);
	assert_int_equal(reason_status(REASON_MOUNT_RELATIVE), 77);
	assert_int_equal(reason_code(REASON_JSON_EMPTY), CODE_DOCUMENT);
	assert_int_equal(reason_status(REASON_JSON_EMPTY), 0);
	assert_string_equal(reason_sentence(REASON_JSON_EMPTY), "the document is empty");
	assert_string_equal(reason_hint(REASON_JSON_EMPTY), "send one JSON value");
}

static void test_outside_the_enums(void **state)
{
	static const int outside[] = {REASON_NONE, REASON_COUNT, REASON_COUNT + 1, -1, 1 << 30};

	(void)state;
	for (size_t i = 0; i < COUNT(outside); i++) {
		enum reason reason = (enum reason)outside[i];

		assert_string_equal(reason_name(reason), "");
		assert_string_equal(reason_sentence(reason), "");
		assert_string_equal(reason_hint(reason), "");
		assert_int_equal(reason_code(reason), CODE_NONE);
		assert_int_equal(reason_status(reason), 0);
	}
	assert_string_equal(code_name(CODE_COUNT), "");
	assert_string_equal(code_name((enum code)-1), "");
	assert_string_equal(code_name(CODE_NONE), "");
	assert_string_equal(code_name(CODE_DOCUMENT), "");
}

static void test_code_names(void **state)
{
	static const char *const names[CODE_COUNT] = {
	        [CODE_NONE] = "",
	        [CODE_CONFIG] = "SANDBOX_CONFIG",
	        [CODE_TURN] = "SANDBOX_TURN",
	        [CODE_REPLY] = "SANDBOX_REPLY",
	        [CODE_POLICY] = "SANDBOX_POLICY",
	        [CODE_MOUNT_OVERLAP] = "SANDBOX_MOUNT_OVERLAP",
	        [CODE_MOUNT_IDENTITY] = "SANDBOX_MOUNT_IDENTITY",
	        [CODE_ENDPOINT] = "SANDBOX_ENDPOINT",
	        [CODE_LIMIT] = "SANDBOX_LIMIT",
	        [CODE_UNAVAILABLE] = "SANDBOX_UNAVAILABLE",
	        [CODE_BUSY] = "SANDBOX_BUSY",
	        [CODE_WORKER] = "SANDBOX_WORKER",
	        [CODE_TIMEOUT] = "SANDBOX_TIMEOUT",
	        [CODE_ABORTED] = "SANDBOX_ABORTED",
	        [CODE_PROTOCOL] = "SANDBOX_PROTOCOL",
	        [CODE_REVOKE_INCOMPLETE] = "REVOKE_INCOMPLETE",
	        [CODE_DOCUMENT] = "",
	};

	(void)state;
	for (int i = 0; i < CODE_COUNT; i++)
		assert_string_equal(code_name((enum code)i), names[i]);
}

/* ---- findings ---- */

static void test_empty(void **state)
{
	(void)state;
	fresh();
	assert_true(report_empty(&report));
	assert_int_equal(report_status(&report), 0);
	assert_int_equal(report.count, 0);
	assert_int_equal(report.dropped, 0);
}

static void test_document_code(void **state)
{
	(void)state;
	fresh();
	report_add(&report, REASON_SHAPE_TYPE, "/text");
	report_add(&report, REASON_MOUNT_IN_USE, NULL);
	report_add(&report, REASON_INPUT_READ, "");
	assert_false(report_empty(&report));
	assert_int_equal(report.count, 3);
	assert_int_equal(report_status(&report), 65); /* the first one's */
	assert_int_equal(report.at[0].code, CODE_TURN);
	assert_int_equal(report.at[0].status, 65);
	assert_int_equal(report.at[0].reason, REASON_SHAPE_TYPE);
	assert_string_equal(report.at[0].pointer, "/text");
	assert_string_equal(report.at[0].detail, "");
	assert_false(report.at[0].placed);
	assert_int_equal(report.at[0].offset, 0);
	assert_int_equal(report.at[0].line, 0);
	assert_int_equal(report.at[0].column, 0);
	assert_int_equal(report.at[1].code, CODE_BUSY);
	assert_int_equal(report.at[1].status, 75);
	assert_string_equal(report.at[1].pointer, "");
	/* A row with the document's code, but a status of its own. */
	assert_int_equal(report.at[2].code, CODE_TURN);
	assert_int_equal(report.at[2].status, 66);

	/* What is no reason is no success, either. */
	report_add(&report, REASON_NONE, "");
	assert_int_equal(report.at[3].status, 65);

	report_init(&report, CODE_CONFIG, 78);
	report_add(&report, REASON_JSON_EMPTY, NULL);
	assert_int_equal(report.at[0].code, CODE_CONFIG);
	assert_int_equal(report_status(&report), 78);
}

static void test_overflow(void **state)
{
	struct report_detail detail;

	(void)state;
	fresh();
	report_add(&report, REASON_LIMIT_RANGE, "/first");
	for (int i = 1; i < REPORT_MAX; i++)
		report_add(&report, REASON_SHAPE_TYPE, "/more");
	assert_int_equal(report.count, REPORT_MAX);
	assert_int_equal(report.dropped, 0);
	report_add(&report, REASON_SHAPE_TYPE, "/over");
	report_add_text(&report, REASON_SHAPE_TYPE, "/over", "a", T("b"));
	detail = report_open(&report, REASON_SHAPE_TYPE, "/over");
	text_string(&detail.text, "lost");
	report_close(&detail);
	report_json_error(&report, &(struct json_error){REASON_JSON_SYNTAX, 0, 1, 1});
	report_at(&report, REASON_SHAPE_TYPE, NULL, 0, "lost");
	assert_int_equal(report.count, REPORT_MAX);
	assert_int_equal(report.dropped, 5);
	assert_int_equal(report_status(&report), 77);
	assert_string_equal(report.at[REPORT_MAX - 1].pointer, "/more");
	report.dropped = UINT32_MAX - 1;
	report_add(&report, REASON_SHAPE_TYPE, "/over");
	assert_true(report.dropped == UINT32_MAX);
	report_add(&report, REASON_SHAPE_TYPE, "/over");
	assert_true(report.dropped == UINT32_MAX);
}

static void test_detail(void **state)
{
	struct report_detail detail;

	(void)state;
	fresh();
	detail = report_open(&report, REASON_LIMIT_RANGE, "/limits/pids");
	text_string(&detail.text, "min ");
	text_u64(&detail.text, 8);
	report_close(&detail);
	assert_string_equal(report.at[0].detail, "min 8");
	assert_string_equal(report.at[0].pointer, "/limits/pids");

	/* A caller that forgot to escape cannot break the line. */
	detail = report_open(&report, REASON_LIMIT_RANGE, "");
	text_bytes(&detail.text, "\na\nb\0c\x7f\xc3\xa9\x1b~ \t", 13);
	report_close(&detail);
	assert_string_equal(report.at[1].detail, "?a?b?c????~ ?");
}

static void test_add_text(void **state)
{
	static const struct {
		const char *ours;
		const char *theirs;
		size_t len;
		const char *detail;
	} rows[] = {
	        {"scheme", T("tcp"), "scheme: tcp"},
	        {"path", T("/a b"), "path: /a b"},
	        {"path", T("/a\nb\\c\xff"), "path: /a\\x0ab\\\\c\\xff"},
	        {"path", T("a\0b"), "path: a\\x00b"},
	        {"path", T(""), "path: "},
	        {"", T("x"), "x"},
	        {NULL, T("x"), "x"},
	};

	(void)state;
	fresh();
	for (size_t i = 0; i < COUNT(rows); i++) {
		report_add_text(&report, REASON_ENDPOINT_SCHEME, "/docker/host", rows[i].ours,
		                rows[i].theirs, rows[i].len);
		assert_string_equal(report.at[i].detail, rows[i].detail);
		assert_string_equal(report.at[i].pointer, "/docker/host");
		assert_int_equal(report.at[i].code, CODE_ENDPOINT);
	}
}

static char wide[REPORT_POINTER * 8];

/* Details: as long as fits, then the mark. */
static void test_long_detail(void **state)
{
	size_t room = REPORT_DETAIL - 4; /* less the mark and the NUL */

	(void)state;
	memset(wide, 'x', sizeof(wide));
	fresh();
	report_add_text(&report, REASON_ENDPOINT_SCHEME, NULL, NULL, wide, room);
	assert_int_equal(strlen(report.at[0].detail), room);
	report_add_text(&report, REASON_ENDPOINT_SCHEME, NULL, NULL, wide, room + 1);
	assert_int_equal(strlen(report.at[1].detail), room + 3);
	assert_string_equal(report.at[1].detail + room - 1, "x...");
	/* An escape is not cut in the middle. */
	wide[room - 2] = '\n';
	report_add_text(&report, REASON_ENDPOINT_SCHEME, NULL, NULL, wide, sizeof(wide));
	assert_string_equal(report.at[2].detail + room - 3, "x...");
	/* Ours is dropped whole. */
	wide[sizeof(wide) - 1] = '\0';
	report_add_text(&report, REASON_ENDPOINT_SCHEME, NULL, wide, T("a"));
	assert_string_equal(report.at[3].detail, "...");
}

/* Pointers: the same, and never half a character. */
static void test_long_pointer(void **state)
{
	size_t room = REPORT_POINTER - 4;

	(void)state;
	memset(wide, 'x', sizeof(wide));
	wide[0] = '/';
	wide[room] = '\0';
	fresh();
	report_add(&report, REASON_SHAPE_TYPE, wide);
	assert_int_equal(strlen(report.at[0].pointer), room);
	wide[room] = 'x';
	wide[room + 1] = '\0';
	report_add(&report, REASON_SHAPE_TYPE, wide);
	assert_int_equal(strlen(report.at[1].pointer), room + 3);
	assert_string_equal(report.at[1].pointer + room - 1, "x...");
	memcpy(wide + room - 2, "\xe2\x82\xac", 4);
	report_add(&report, REASON_SHAPE_TYPE, wide);
	assert_string_equal(report.at[2].pointer + room - 3, "x...");
}

static void test_json_error(void **state)
{
	static const struct json_error error = {REASON_JSON_SYNTAX, 70000, 300, 12};

	(void)state;
	fresh();
	report_json_error(&report, &error);
	assert_int_equal(report.count, 1);
	assert_true(report.at[0].placed);
	assert_int_equal(report.at[0].offset, 70000);
	assert_int_equal(report.at[0].line, 300);
	assert_int_equal(report.at[0].column, 12);
	assert_string_equal(report.at[0].pointer, "");
	assert_string_equal(report.at[0].detail, "");
	assert_string_equal(
	        line(&report.at[0]),
	        "cofferdam: SANDBOX_TURN json.syntax: the text is not JSON here "
	        "(byte 70000, line 300, column 12); mend it as RFC 8259 says\n");
	assert_string_equal(
	        json(&report.at[0]),
	        "{\"code\":\"SANDBOX_TURN\",\"reason\":\"json.syntax\",\"detail\":\"\","
	        "\"sentence\":\"the text is not JSON here\",\"hint\":\"mend it as RFC "
	        "8259 says\",\"offset\":70000,\"line\":300,\"column\":12}");
}

static void test_at(void **state)
{
	struct json doc = parse(T("{\"a\":[1,\n {\"b/~\":true}]}"));

	(void)state;
	fresh();
	report_at(&report, REASON_SHAPE_TYPE, &doc, 6, "a string is wanted");
	report_at(&report, REASON_SHAPE_TYPE, &doc, 0, NULL);
	json_drop(&doc);
	assert_int_equal(report.count, 2);
	assert_string_equal(report.at[0].pointer, "/a/1/b~1~0");
	assert_string_equal(report.at[0].detail, "a string is wanted");
	assert_true(report.at[0].placed);
	assert_int_equal(report.at[0].offset, 17);
	assert_int_equal(report.at[0].line, 2);
	assert_int_equal(report.at[0].column, 9);
	assert_string_equal(report.at[1].pointer, "");
	assert_string_equal(report.at[1].detail, "");
	assert_string_equal(
	        line(&report.at[0]),
	        "cofferdam: SANDBOX_TURN shape.type: a value has the wrong type: a "
	        "string is wanted at /a/1/b~1~0 (byte 17, line 2, column 9); see "
	        "`cofferdam-policy schema`\n");
	assert_string_equal(
	        json(&report.at[0]),
	        "{\"code\":\"SANDBOX_TURN\",\"reason\":\"shape.type\",\"pointer\":\"/a/1/"
	        "b~1~0\",\"detail\":\"a string is wanted\",\"sentence\":\"a value has "
	        "the wrong type\",\"hint\":\"see `cofferdam-policy schema`\",\"offset\":"
	        "17,\"line\":2,\"column\":9}");
}

/* A hostile key in a pointer: one line, and a string that ends where it should.
 * A NUL in it must not shorten the pointer to another key's. */
static void test_hostile_pointer(void **state)
{
	struct json doc = parse(T("{\"image\\u0000x\\n\\\"\\u202e\\ud800\\\\\xc3\xa9\":1}"));

	(void)state;
	fresh();
	report_at(&report, REASON_SHAPE_UNKNOWN_KEY, &doc, 1, NULL);
	json_drop(&doc);
	assert_string_equal(report.at[0].pointer,
	                    "/image\xef\xbf\xbdx\n\"\xe2\x80\xae\xed\xa0\x80\\\xc3\xa9");
	assert_string_equal(
	        line(&report.at[0]),
	        "cofferdam: SANDBOX_TURN shape.unknown_key: a key is not known here at "
	        "/image\\xef\\xbf\\xbdx\\x0a\"\\xe2\\x80\\xae\\xed\\xa0\\x80\\\\\\xc3\\xa9 "
	        "(byte 1, line 1, column 2); remove it, or mend its spelling\n");
	assert_string_equal(
	        json(&report.at[0]),
	        "{\"code\":\"SANDBOX_TURN\",\"reason\":\"shape.unknown_key\",\"pointer\":"
	        "\"/image\\ufffdx\\u000a\\\"\\u202e\\ud800\\\\\\u00e9\",\"detail\":\"\","
	        "\"sentence\":\"a key is not known here\",\"hint\":\"remove it, or mend "
	        "its spelling\",\"offset\":1,\"line\":1,\"column\":2}");
}

static void test_long_key(void **state)
{
	struct json doc;
	size_t room = REPORT_POINTER - 4;

	(void)state;
	memset(wide, 'k', sizeof(wide));
	memcpy(wide, "{\"", 2);
	memcpy(wide + sizeof(wide) - 4, "\":1}", 4);
	doc = parse(wide, sizeof(wide));
	fresh();
	report_at(&report, REASON_SHAPE_UNKNOWN_KEY, &doc, 1, NULL);
	assert_int_equal(strlen(report.at[0].pointer), room + 3);
	assert_string_equal(report.at[0].pointer + room - 1, "k...");
	json_drop(&doc);
	/* Exactly as long as fits, and one more. */
	for (size_t extra = 0; extra < 2; extra++) {
		size_t len = room - 1 + extra;

		memset(wide + 2, 'k', len);
		memcpy(wide + 2 + len, "\":1}", 4);
		doc = parse(wide, len + 6);
		report_at(&report, REASON_SHAPE_UNKNOWN_KEY, &doc, 1, NULL);
		json_drop(&doc);
		assert_int_equal(strlen(report.at[1 + extra].pointer), room + 3 * extra);
	}
}

/* What fits of a pointer fills a finding to its last byte: it is cut all the
 * same, for the index that no longer fitted. */
static void test_long_index(void **state)
{
	static char source[32768];
	const uint32_t items = 10001; /* the last one's index has five digits */
	const size_t key = REPORT_POINTER - 4 - strlen("//");
	struct text text;
	struct json doc;

	(void)state;
	text_init(&text, source, sizeof(source));
	text_string(&text, "{\"");
	for (size_t i = 0; i < key; i++)
		text_string(&text, "k");
	text_string(&text, "\":[");
	for (uint32_t i = 0; i < items; i++)
		text_string(&text, i == 0 ? "0" : ",0");
	text_string(&text, "]}");
	assert_false(text.full);
	doc = parse(source, text.len);
	fresh();
	report_at(&report, REASON_SHAPE_TYPE, &doc, 2 + items, NULL);
	report_at(&report, REASON_SHAPE_TYPE, &doc, 2, NULL);
	json_drop(&doc);
	assert_int_equal(strlen(report.at[0].pointer), REPORT_POINTER - 1);
	assert_string_equal(report.at[0].pointer + key, "k/...");
	assert_int_equal(strlen(report.at[1].pointer), key + 1);
}

/* The pointer of a member that is not there: whole, or cut and marked so,
 * whether it is the object's or the member's own key that is too long. */
static void test_missing(void **state)
{
	size_t room = REPORT_POINTER - 4;

	(void)state;
	fresh();
	for (size_t len = room - 6; len <= REPORT_POINTER + 1; len++) {
		const struct finding *finding = &report.at[report.count];
		struct json doc;

		memset(wide, 'k', sizeof(wide));
		memcpy(wide, "{\"", 2);
		memcpy(wide + 2 + len, "\":{}}", 6);
		doc = parse(wide, len + 7);
		report_missing(&report, &doc, 2, "id");
		json_drop(&doc);
		assert_int_equal(finding->reason, REASON_SHAPE_MISSING);
		assert_string_equal(finding->detail, "key: id");
		assert_false(finding->placed);
		assert_int_equal(strspn(finding->pointer + 1, "k"),
		                 len < room - 1 ? len : room - 1);
		if (1 + len + 3 <= room)
			assert_string_equal(finding->pointer + 1 + len, "/id");
		else
			assert_string_equal(finding->pointer + strlen(finding->pointer) - 3, "...");
	}
	report.count = REPORT_MAX;
	report_missing(&report, NULL, 0, "id");
	assert_int_equal(report.dropped, 1);
}

static void test_line_without_place(void **state)
{
	(void)state;
	fresh();
	report_add_text(&report, REASON_MOUNT_RELATIVE, "/mounts/0/host", "path", T("a\tb"));
	report_add(&report, REASON_MOUNT_ROOT, NULL);
	assert_string_equal(
	        line(&report.at[0]),
	        "cofferdam: SANDBOX_POLICY mount.relative: a mount's host path is not "
	        "absolute: path: a\\x09b at /mounts/0/host; begin it with /\n");
	assert_string_equal(
	        json(&report.at[0]),
	        "{\"code\":\"SANDBOX_POLICY\",\"reason\":\"mount.relative\",\"pointer\":"
	        "\"/mounts/0/host\",\"detail\":\"path: a\\\\x09b\",\"sentence\":\"a "
	        "mount's host path is not absolute\",\"hint\":\"begin it with /\"}");
	assert_string_equal(
	        line(&report.at[1]),
	        "cofferdam: SANDBOX_POLICY mount.root: the root directory cannot be "
	        "mounted; mount a dedicated directory\n");
	assert_string_equal(
	        json(&report.at[1]),
	        "{\"code\":\"SANDBOX_POLICY\",\"reason\":\"mount.root\",\"detail\":\"\","
	        "\"sentence\":\"the root directory cannot be mounted\",\"hint\":\"mount "
	        "a dedicated directory\"}");
}

/* Every reason with the worst of everything: one line of printable ASCII, and
 * JSON that our own parser takes. */
static void test_every_reason_prints(void **state)
{
	(void)state;
	memset(wide, '\n', sizeof(wide));
	wide[sizeof(wide) - 1] = '\0';
	for (int i = REASON_NONE + 1; i < REASON_COUNT; i++) {
		struct json doc;
		const char *text;

		fresh();
		report_add_text(&report, (enum reason)i, wide, "x", wide, sizeof(wide));
		text = line(&report.at[0]);
		assert_int_equal(text[strlen(text) - 1], '\n');
		assert_int_equal(strcspn(text, "\n"), strlen(text) - 1);
		buffer[strlen(text) - 1] = '\0';
		assert_true(printable(buffer));
		text = json(&report.at[0]);
		assert_true(printable(text));
		doc = parse(text, strlen(text));
		assert_true(json_equals(&doc, json_get(&doc, 0, "reason"),
		                        reason_name((enum reason)i)));
		assert_int_equal(json_count(&doc, 0), 6);
		json_drop(&doc);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_reason_rows),
	        cmocka_unit_test(test_reason_fixed),
	        cmocka_unit_test(test_outside_the_enums),
	        cmocka_unit_test(test_code_names),
	        cmocka_unit_test(test_empty),
	        cmocka_unit_test(test_document_code),
	        cmocka_unit_test(test_overflow),
	        cmocka_unit_test(test_detail),
	        cmocka_unit_test(test_add_text),
	        cmocka_unit_test(test_long_detail),
	        cmocka_unit_test(test_long_pointer),
	        cmocka_unit_test(test_json_error),
	        cmocka_unit_test(test_at),
	        cmocka_unit_test(test_hostile_pointer),
	        cmocka_unit_test(test_long_key),
	        cmocka_unit_test(test_long_index),
	        cmocka_unit_test(test_missing),
	        cmocka_unit_test(test_line_without_place),
	        cmocka_unit_test(test_every_reason_prints),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

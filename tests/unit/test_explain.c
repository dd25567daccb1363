/* SPDX-License-Identifier: ISC */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../executor/reason.h"
#include "../../policy/explain.h"
#include "../../policy/json.h"
#include "../../policy/reason.h"

static char bytes[262144];
static struct text out;

static bool run(const char *what, bool json)
{
	bool found;

	text_init(&out, bytes, sizeof(bytes) - 1);
	found = explain(what, json, &out);
	assert_false(out.full);
	bytes[out.len] = '\0';
	return found;
}

static unsigned lines(void)
{
	unsigned count = 0;

	for (size_t i = 0; i < out.len; i++)
		count += bytes[i] == '\n' ? 1 : 0;
	return count;
}

static void test_reason(void **state)
{
	(void)state;
	assert_true(run("mount.root", false));
	assert_string_equal(bytes, "SANDBOX_POLICY mount.root (exit 77)\n"
	                           "    the root directory cannot be mounted; "
	                           "mount a dedicated directory\n");
	assert_true(run("mount.root", true));
	assert_string_equal(bytes, "{\"code\":\"SANDBOX_POLICY\",\"reason\":\"mount.root\","
	                           "\"exit\":77,"
	                           "\"sentence\":\"the root directory cannot be mounted\","
	                           "\"hint\":\"mount a dedicated directory\"}\n");
}

/* A document's row stands once for each document, with its own status. */
static void test_document(void **state)
{
	(void)state;
	assert_true(run("json.empty", false));
	assert_int_equal(lines(), 6);
	assert_non_null(strstr(bytes, "SANDBOX_CONFIG json.empty (exit 78)\n"));
	assert_non_null(strstr(bytes, "SANDBOX_TURN json.empty (exit 65)\n"));
	assert_non_null(strstr(bytes, "SANDBOX_REPLY json.empty (exit 76)\n"));
	assert_true(run("input.read", true));
	assert_int_equal(lines(), 3);
	assert_null(strstr(bytes, "\"exit\":78"));
	assert_non_null(strstr(bytes, "\"exit\":66"));
}

/* Both programs' reasons, each once. */
static void test_executor(void **state)
{
	(void)state;
	assert_true(run("lock.held", false));
	assert_int_equal(lines(), 2);
	assert_true(run("mount.changed", false)); /* in both tables */
	assert_int_equal(lines(), 2);
	assert_true(run("REVOKE_INCOMPLETE", true));
	assert_int_equal(lines(), 1);
}

static void test_code(void **state)
{
	(void)state;
	assert_true(run("SANDBOX_TURN", true));
	for (const char *at = bytes; *at != '\0'; at = strchr(at, '\n') + 1)
		assert_memory_equal(at, "{\"code\":\"SANDBOX_TURN\",", 23);
	assert_non_null(strstr(bytes, "shape.type"));
	assert_non_null(strstr(bytes, "turn.open"));
}

static void test_unknown(void **state)
{
	(void)state;
	assert_false(run("mount", false));
	assert_false(run("", false));
	assert_false(run("SANDBOX", false));
	assert_false(run("Mount.root", false));
	assert_int_equal(out.len, 0);
}

static const char *const EXECUTOR[] = {
#define X(name, code, text, status, sentence, hint) text,
	EXECUTOR_REASONS(X)
#undef X
};

/* All rows: every reason of both tables can be looked up, and every line of
 * the whole is a JSON document. */
static void test_all(void **state)
{
	const struct json_limits limits = { .bytes = sizeof(bytes), .values = 64 };
	struct json_error error;
	struct json doc;

	(void)state;
	assert_true(run(NULL, true));
	for (const char *at = bytes; *at != '\0';) {
		const char *end = strchr(at, '\n');

		assert_true(json_parse(&doc, at, (size_t)(end - at), &limits, &error));
		assert_int_equal(json_count(&doc, 0), 5);
		json_drop(&doc);
		at = end + 1;
	}
	for (int reason = REASON_NONE + 1; reason < REASON_COUNT; reason++)
		assert_true(run(reason_name((enum reason)reason), false));
	for (size_t i = 0; i < sizeof(EXECUTOR) / sizeof(EXECUTOR[0]); i++)
		assert_true(run(EXECUTOR[i], false));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reason),   cmocka_unit_test(test_document),
		cmocka_unit_test(test_executor), cmocka_unit_test(test_code),
		cmocka_unit_test(test_unknown),  cmocka_unit_test(test_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

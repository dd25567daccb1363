/* SPDX-License-Identifier: ISC */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../policy/json.h"
#include "../../policy/record.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define HEX64 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static char bytes[131072];
static struct text out;
static struct decision decision;
static struct report report;
static struct record_input input;
static uint8_t sha256[SHA256_BYTES];
static uint8_t argv_sha256[SHA256_BYTES];

static void begin(void)
{
	memset(&decision, 0, sizeof(decision));
	memset(&input, 0, sizeof(input));
	report_init(&report, CODE_CONFIG, 78);
	text_init(&out, bytes, sizeof(bytes) - 1);
	input.now.tv_sec = 1767323045;
	input.now.tv_nsec = 6999;
	input.seq = 1;
	input.confinement = "full";
}

static void full(void)
{
	struct launch *launch = &decision.launch;

	begin();
	for (unsigned i = 0; i < sizeof(sha256); i++)
		sha256[i] = (uint8_t)(i * 8);
	input.seq = 42;
	input.config_sha256 = sha256;
	argv_sha256[31] = 0xff;
	input.argv_sha256 = argv_sha256;
	decision.image = "worker:1";
	decision.image_known = true;
	launch->image_id = "sha256:" HEX64;
	launch->nonce[15] = 0xfe;
	launch->mode = MODE_SESSION;
	launch->uid = 1501;
	launch->gid = 1502;
	launch->name = "box";
	launch->session = "key";
	launch->revision = 9;
	launch->runtime = "runsc";
	launch->endpoint = "unix:///run/docker.sock";
	launch->entrypoint = "/agent";
	launch->command.count = 2;
	launch->command.at[0] = "-v";
	launch->command.at[1] = "\xc3\xa9\"\n";
	launch->workdir = "/w";
	launch->limits = (struct limits){ 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13 };
	launch->root_count = 2;
	decision.asked[0] = "/l\xff";
	decision.root[0].state = PLACE_EXISTS;
	launch->root[0] =
		(struct root){ "/srv/w", "/workspace", false, false, 18446744073709551615ULL, 77 };
	decision.asked[1] = "/srv/./b";
	decision.root[1].state = PLACE_TEXT;
	launch->root[1] = (struct root){ "/srv/b", "/grants/x", true, false, 0, 0 };
}

static const char *finished(void)
{
	assert_false(out.full);
	bytes[out.len] = '\0';
	return bytes;
}

static const char FULL[] =
	"{\"schema_version\":1,\"time\":\"2026-01-02T03:04:05.000006Z\",\"seq\":42,"
	"\"event\":\"decision\",\"run\":\"000000000000000000000000000000fe\","
	"\"decision\":\"allow\",\"code\":null,\"reason\":null,\"pointer\":null,\"detail\":null,"
	"\"findings\":[],\"findings_dropped\":0,"
	"\"config_sha256\":\"0008101820283038404850586068707880889098a0a8b0b8c0c8d0d8e0e8f0f8\","
	"\"turn_sha256\":null,"
	"\"argv_sha256\":\"00000000000000000000000000000000000000000000000000000000000000ff\","
	"\"image\":{\"reference\":\"worker:1\",\"id\":\"sha256:" HEX64 "\"},"
	"\"mode\":\"session\",\"name\":\"box\",\"session\":{\"key\":\"key\",\"revision\":9},"
	"\"mounts\":[{\"asked\":\"/l\\ufffd\",\"canonical\":\"/srv/w\",\"guest\":\"/workspace\","
	"\"mode\":\"rw\",\"dev\":18446744073709551615,\"ino\":77},"
	"{\"asked\":\"/srv/./b\",\"canonical\":\"/srv/b\",\"guest\":\"/grants/x\","
	"\"mode\":\"ro\",\"dev\":null,\"ino\":null}],"
	"\"endpoint\":\"unix:///run/docker.sock\",\"user\":{\"uid\":1501,\"gid\":1502},"
	"\"limits\":{\"memory_bytes\":1,\"nano_cpus\":2,\"pids\":7,\"nofile\":8,\"tmpfs_bytes\":3,"
	"\"shm_bytes\":4,\"file_bytes\":5,\"turn_bytes\":6,\"turn_seconds\":9,"
	"\"lock_seconds\":10,\"control_seconds\":11,\"remove_seconds\":12,\"live\":13},"
	"\"runtime\":\"runsc\",\"entrypoint\":\"/agent\","
	"\"command\":[\"-v\",\"\\u00e9\\\"\\u000a\"],\"workdir\":\"/w\","
	"\"confinement\":\"full\"}\n";

/* A config that could not be read: nothing is known but the refusal. */
static const char EMPTY[] =
	"{\"schema_version\":1,\"time\":\"2026-01-02T03:04:05.000006Z\",\"seq\":1,"
	"\"event\":\"decision\",\"run\":\"00000000000000000000000000000000\","
	"\"decision\":\"deny\",\"code\":\"SANDBOX_CONFIG\",\"reason\":\"json.empty\","
	"\"pointer\":null,\"detail\":null,"
	"\"findings\":[{\"code\":\"SANDBOX_CONFIG\",\"reason\":\"json.empty\",\"detail\":\"\","
	"\"sentence\":\"the document is empty\",\"hint\":\"send one JSON value\"}],"
	"\"findings_dropped\":0,\"config_sha256\":null,\"turn_sha256\":null,\"argv_sha256\":null,"
	"\"image\":{\"reference\":null,\"id\":null},\"mode\":null,\"name\":null,\"session\":null,"
	"\"mounts\":[],\"endpoint\":null,\"user\":null,\"limits\":null,\"runtime\":null,"
	"\"entrypoint\":null,\"command\":[],\"workdir\":null,\"confinement\":\"full\"}\n";

static void test_allow(void **state)
{
	(void)state;
	full();
	record_decision(&input, &decision, &report, &out);
	assert_string_equal(finished(), FULL);
}

static void test_deny(void **state)
{
	(void)state;
	begin();
	report_add(&report, REASON_JSON_EMPTY, "");
	record_decision(&input, &decision, &report, &out);
	assert_string_equal(finished(), EMPTY);
}

/* Zero is no limit where the config may leave one out. */
static void test_no_figures(void **state)
{
	(void)state;
	full();
	decision.launch.limits.file_bytes = 0;
	decision.launch.limits.turn_seconds = 0;
	decision.launch.limits.live = 0;
	record_decision(&input, &decision, &report, &out);
	assert_non_null(strstr(finished(), "\"file_bytes\":null,"));
	assert_non_null(strstr(finished(), "\"turn_seconds\":null,"));
	assert_non_null(strstr(finished(), "\"live\":null}"));
}

/* A source that is not there has no canonical path to show; an image that was
 * not asked for has no id. */
static void test_unknown(void **state)
{
	static const enum place_state states[] = {PLACE_MISSING, PLACE_ABSENT, PLACE_UNKNOWN,
		                                  PLACE_DEEP};

	(void)state;
	for (size_t i = 0; i < COUNT(states); i++) {
		full();
		decision.image_known = false;
		decision.root[0].state = states[i];
		record_decision(&input, &decision, &report, &out);
		assert_non_null(strstr(finished(), "\"asked\":\"/l\\ufffd\",\"canonical\":null,"
		                                   "\"guest\":\"/workspace\",\"mode\":\"rw\","
		                                   "\"dev\":null,\"ino\":null}"));
		assert_non_null(strstr(finished(), "\"reference\":\"worker:1\",\"id\":null}"));
	}
}

/* The least that can be said: a byte of each, and of the shorter kinds of launch. */
static void test_short(void **state)
{
	static const struct {
		const char *session;
		const char *shown;
	} sessions[] = {
		{NULL, "\"session\":null,"},
		{"", "\"session\":null,"},
		{"k", "\"session\":{\"key\":\"k\",\"revision\":9},"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(sessions); i++) {
		full();
		decision.launch.mode = MODE_TURN;
		decision.launch.session = sessions[i].session;
		report_add_text(&report, REASON_SHAPE_TYPE, "/", NULL, "d", 1);
		record_decision(&input, &decision, &report, &out);
		assert_non_null(strstr(finished(),
		                       "\"pointer\":\"/\",\"detail\":\"d\",\"findings\":"));
		assert_non_null(strstr(finished(), "\"mode\":\"turn\",\"name\":\"box\","));
		assert_non_null(strstr(finished(), sessions[i].shown));
	}
}

static unsigned occurrences(const char *text, const char *what)
{
	unsigned count = 0;

	for (const char *at = strstr(text, what); at != NULL; at = strstr(at + 1, what))
		count++;
	return count;
}

static void parse(struct json *doc, const char *text, size_t len)
{
	const struct json_limits limits = { .bytes = sizeof(bytes), .values = 4096 };
	struct json_error error;

	assert_true(json_parse(doc, text, len, &limits, &error));
}

/* check lists all findings, decide the first; neither hides how many more. */
static void test_findings(void **state)
{
	static const struct {
		bool all;
		unsigned added, listed;
		const char *dropped;
	} cases[] = {
		{false, 1, 1, "\"findings_dropped\":0,"},
		{false, 3, 1, "\"findings_dropped\":2,"},
		{true, 3, 3, "\"findings_dropped\":0,"},
		{true, REPORT_MAX, REPORT_MAX, "\"findings_dropped\":0,"},
		{true, REPORT_MAX + 2, REPORT_MAX, "\"findings_dropped\":2,"},
		{false, REPORT_MAX + 2, 1, "\"findings_dropped\":65,"},
	};
	struct json doc;

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		full();
		input.all = cases[i].all;
		for (unsigned k = 0; k < cases[i].added; k++)
			report_add_text(&report, REASON_MOUNT_MISSING, "/mounts/0/\xc3\xa9", "seen",
			                "\x1b[0m", 4);
		record_decision(&input, &decision, &report, &out);
		assert_int_equal(occurrences(finished(), "\"sentence\":"), cases[i].listed);
		assert_non_null(strstr(finished(), cases[i].dropped));
		assert_non_null(strstr(finished(),
		                       "\"decision\":\"deny\",\"code\":\"SANDBOX_POLICY\","
		                       "\"reason\":\"mount.missing\","
		                       "\"pointer\":\"/mounts/0/\\u00e9\","
		                       "\"detail\":\"seen: \\\\x1b[0m\","));
		assert_int_equal(occurrences(finished(), "\n"), 1);
		parse(&doc, bytes, out.len);
		assert_int_equal(json_count(&doc, json_get(&doc, 0, "findings")), cases[i].listed);
		json_drop(&doc);
		for (size_t k = 0; k + 1 < out.len; k++)
			assert_in_range((unsigned char)bytes[k], 0x20, 0x7e);
	}
}

static void test_time(void **state)
{
	static const struct {
		struct timespec when;
		const char *text;
	} cases[] = {
		{{0, 0}, "1970-01-01T00:00:00.000000Z"},
		{{0, 999}, "1970-01-01T00:00:00.000000Z"},
		{{0, 999999999}, "1970-01-01T00:00:00.999999Z"},
		{{-1, 0}, "1970-01-01T00:00:00.000000Z"},
		{{86399, 0}, "1970-01-01T23:59:59.000000Z"},
		{{86400, 0}, "1970-01-02T00:00:00.000000Z"},
		{{951782399, 0}, "2000-02-28T23:59:59.000000Z"},
		{{951782400, 0}, "2000-02-29T00:00:00.000000Z"},
		{{951868800, 0}, "2000-03-01T00:00:00.000000Z"},
		{{1709164800, 0}, "2024-02-29T00:00:00.000000Z"},
		{{1735689599, 1000}, "2024-12-31T23:59:59.000001Z"},
		{{1735689600, 0}, "2025-01-01T00:00:00.000000Z"},
		{{4107542399, 0}, "2100-02-28T23:59:59.000000Z"},
		{{4107542400, 0}, "2100-03-01T00:00:00.000000Z"},
		{{253402300799, 0}, "9999-12-31T23:59:59.000000Z"},
		/* Beyond four digits the date is wrong, but still one. */
		{{253402300800, 0}, "9999-12-01T00:00:00.000000Z"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		begin();
		record_time(cases[i].when, &out);
		assert_string_equal(finished(), cases[i].text);
	}
	begin();
	record_time((struct timespec){ INT64_MAX, 0 }, &out);
	assert_int_equal(strlen(finished()), strlen("9999-12-31T23:59:59.000000Z"));
}

/* Every day of years around 2000, 2100, 2400 and the last, at another second each. */
static void test_every_day(void **state)
{
	static const time_t from[] = {0, 3976214400, 13443235200, 253149840000};
	static const long days[] = {36 * 365, 8 * 365, 8 * 365, 8 * 365};

	(void)state;
	for (size_t i = 0; i < COUNT(from); i++) {
		for (long day = 0; day < days[i]; day++) {
			const time_t when = from[i] + day * 86400 + day * 7 % 86400;
			char expected[64];
			struct tm tm;

			assert_non_null(gmtime_r(&when, &tm));
			assert_true(strftime(expected, sizeof(expected),
			                     "%Y-%m-%dT%H:%M:%S.000000Z", &tm) > 0);
			text_init(&out, bytes, sizeof(bytes) - 1);
			record_time((struct timespec){when, 0}, &out);
			if (strcmp(finished(), expected) != 0)
				fail_msg("%s: %s", expected, bytes);
		}
	}
}

/* The members of two objects: the same keys in the same order. */
static void assert_same_keys(const struct json *a, uint32_t object_a, const struct json *b,
                             uint32_t object_b)
{
	uint32_t key_a = json_first(a, object_a);
	uint32_t key_b = json_first(b, object_b);

	assert_int_equal(json_type(a, object_a), JSON_OBJECT);
	assert_int_equal(json_count(a, object_a), json_count(b, object_b));
	for (; key_a != JSON_NONE; key_a = json_next(a, key_a), key_b = json_next(b, key_b)) {
		size_t len_a, len_b;
		const char *text_a = json_span(a, key_a, &len_a);
		const char *text_b = json_span(b, key_b, &len_b);

		assert_int_equal(len_a, len_b);
		assert_memory_equal(text_a, text_b, len_a);
	}
}

static uint32_t get(const struct json *doc, uint32_t object, const char *key)
{
	uint32_t node = json_get(doc, object, key);

	assert_int_not_equal(node, JSON_NONE);
	return node;
}

static const char SCHEMA[] =
	"{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\","
	"\"title\":\"cofferdam decision record\",\"type\":\"object\","
	"\"additionalProperties\":false,\"required\":[\"schema_version\",\"time\",\"seq\","
	"\"event\",\"run\",\"decision\",\"code\",\"reason\",\"pointer\",\"detail\",\"findings\","
	"\"findings_dropped\",\"config_sha256\",\"turn_sha256\",\"argv_sha256\",\"image\","
	"\"mode\",\"name\",\"session\",\"mounts\",\"endpoint\",\"user\",\"limits\",\"runtime\","
	"\"entrypoint\",\"command\",\"workdir\",\"confinement\"],\"properties\":{"
	"\"schema_version\":{\"const\":1},\"time\":{\"type\":\"string\","
	"\"format\":\"date-time\"},\"seq\":{\"type\":\"integer\",\"minimum\":1},\"event\":{"
	"\"const\":\"decision\"},\"run\":{\"type\":\"string\",\"pattern\":\"^[0-9a-f]{32}$\"},"
	"\"decision\":{\"enum\":[\"allow\",\"deny\"]},\"code\":{\"type\":[\"string\",\"null\"]},"
	"\"reason\":{\"type\":[\"string\",\"null\"]},\"pointer\":{\"type\":[\"string\","
	"\"null\"]},\"detail\":{\"type\":[\"string\",\"null\"]},\"findings\":{\"type\":\"array\","
	"\"items\":{\"type\":\"object\",\"required\":[\"code\",\"reason\",\"sentence\",\"hint\"],"
	"\"properties\":{\"code\":{\"type\":\"string\"},\"reason\":{\"type\":\"string\"},"
	"\"sentence\":{\"type\":\"string\"},\"hint\":{\"type\":\"string\"}}}},"
	"\"findings_dropped\":{\"type\":\"integer\",\"minimum\":0},\"config_sha256\":{"
	"\"type\":[\"string\",\"null\"],\"pattern\":\"^[0-9a-f]{64}$\"},\"turn_sha256\":{"
	"\"type\":[\"string\",\"null\"],\"pattern\":\"^[0-9a-f]{64}$\"},\"argv_sha256\":{"
	"\"type\":[\"string\",\"null\"],\"pattern\":\"^[0-9a-f]{64}$\"},\"image\":{"
	"\"type\":\"object\",\"required\":[\"reference\",\"id\"],\"properties\":{\"reference\":{"
	"\"type\":[\"string\",\"null\"]},\"id\":{\"type\":[\"string\",\"null\"]}}},\"mode\":{"
	"\"enum\":[\"turn\",\"session\",null]},\"name\":{\"type\":[\"string\",\"null\"]},"
	"\"session\":{\"type\":[\"object\",\"null\"],\"required\":[\"key\",\"revision\"],"
	"\"properties\":{\"key\":{\"type\":\"string\"},\"revision\":{\"type\":\"integer\","
	"\"minimum\":0}}},\"mounts\":{\"type\":\"array\",\"items\":{\"type\":\"object\","
	"\"required\":[\"asked\",\"canonical\",\"guest\",\"mode\",\"dev\",\"ino\"],"
	"\"properties\":{\"asked\":{\"type\":\"string\"},\"canonical\":{\"type\":[\"string\","
	"\"null\"]},\"guest\":{\"type\":\"string\"},\"mode\":{\"enum\":[\"ro\",\"rw\"]},\"dev\":{"
	"\"type\":[\"integer\",\"null\"],\"minimum\":0},\"ino\":{\"type\":[\"integer\",\"null\"],"
	"\"minimum\":0}}}},\"endpoint\":{\"type\":[\"string\",\"null\"]},\"user\":{"
	"\"type\":[\"object\",\"null\"],\"required\":[\"uid\",\"gid\"],\"properties\":{\"uid\":{"
	"\"type\":\"integer\",\"minimum\":0},\"gid\":{\"type\":\"integer\",\"minimum\":0}}},"
	"\"limits\":{\"type\":[\"object\",\"null\"],\"required\":[\"memory_bytes\",\"nano_cpus\","
	"\"pids\",\"nofile\",\"tmpfs_bytes\",\"shm_bytes\",\"file_bytes\",\"turn_bytes\","
	"\"turn_seconds\",\"lock_seconds\",\"control_seconds\",\"remove_seconds\",\"live\"],"
	"\"properties\":{\"memory_bytes\":{\"type\":\"integer\",\"minimum\":0},\"nano_cpus\":{"
	"\"type\":\"integer\",\"minimum\":0},\"pids\":{\"type\":\"integer\",\"minimum\":0},"
	"\"nofile\":{\"type\":\"integer\",\"minimum\":0},\"tmpfs_bytes\":{\"type\":\"integer\","
	"\"minimum\":0},\"shm_bytes\":{\"type\":\"integer\",\"minimum\":0},\"file_bytes\":{"
	"\"type\":[\"integer\",\"null\"],\"minimum\":0},\"turn_bytes\":{\"type\":\"integer\","
	"\"minimum\":0},\"turn_seconds\":{\"type\":[\"integer\",\"null\"],\"minimum\":0},"
	"\"lock_seconds\":{\"type\":\"integer\",\"minimum\":0},\"control_seconds\":{"
	"\"type\":\"integer\",\"minimum\":0},\"remove_seconds\":{\"type\":\"integer\","
	"\"minimum\":0},\"live\":{\"type\":[\"integer\",\"null\"],\"minimum\":0}}},\"runtime\":{"
	"\"type\":[\"string\",\"null\"]},\"entrypoint\":{\"type\":[\"string\",\"null\"]},"
	"\"command\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},\"workdir\":{"
	"\"type\":[\"string\",\"null\"]},\"confinement\":{\"type\":[\"string\",\"null\"]}}}";

/* These bytes; they name every member of a record, and no other; likewise of
 * the objects in it. */
static void test_schema(void **state)
{
	static const char *const nested[] = {"image", "session", "user", "limits"};
	static char schema_bytes[32768];
	struct json schema, record;
	struct text text;
	uint32_t properties, mounts;

	(void)state;
	text_init(&text, schema_bytes, sizeof(schema_bytes));
	record_schema(&text);
	assert_false(text.full);
	assert_int_equal(text.len, sizeof(SCHEMA) - 1);
	assert_memory_equal(schema_bytes, SCHEMA, sizeof(SCHEMA) - 1);
	parse(&schema, schema_bytes, text.len);
	parse(&record, FULL, sizeof(FULL) - 1);
	properties = get(&schema, 0, "properties");
	assert_same_keys(&record, 0, &schema, properties);
	assert_int_equal(json_count(&schema, get(&schema, 0, "required")),
	                 json_count(&record, 0));
	for (size_t i = 0; i < COUNT(nested); i++)
		assert_same_keys(&record, get(&record, 0, nested[i]), &schema,
		                 get(&schema, get(&schema, properties, nested[i]), "properties"));
	mounts = get(&schema, get(&schema, properties, "mounts"), "items");
	assert_same_keys(&record, json_first(&record, get(&record, 0, "mounts")), &schema,
	                 get(&schema, mounts, "properties"));
	json_drop(&record);
	json_drop(&schema);
}

/* Whatever its buffer, a record is whole or marked as not. */
static void test_full(void **state)
{
	(void)state;
	for (size_t cap = 0; cap < sizeof(FULL) - 1; cap++) {
		full();
		out.cap = cap;
		record_decision(&input, &decision, &report, &out);
		assert_true(out.full);
	}
	full();
	out.cap = sizeof(FULL) - 1;
	record_decision(&input, &decision, &report, &out);
	assert_string_equal(finished(), FULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_allow),    cmocka_unit_test(test_deny),
		cmocka_unit_test(test_no_figures), cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_findings), cmocka_unit_test(test_time),
		cmocka_unit_test(test_schema),   cmocka_unit_test(test_full),
		cmocka_unit_test(test_short),    cmocka_unit_test(test_every_day),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

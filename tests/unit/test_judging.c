/* SPDX-License-Identifier: ISC */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../policy/judging.h"
#include "pool.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define HEX64 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

#define MOUNTS \
	"\"mounts\":[{\"host\":\"/srv/b\",\"guest\":\"/broker\",\"mode\":\"ro\"}," \
	"{\"host\":\"/srv/w\",\"guest\":\"/workspace\",\"mode\":\"rw\"}]"
#define REST \
	"\"image\":\"worker:1\",\"user\":{\"uid\":1501,\"gid\":1502}," \
	"\"docker\":{\"host\":\"unix:///run/docker.sock\"}," \
	"\"limits\":{\"memoryBytes\":67108864,\"cpus\":0.5,\"pids\":64}"

static const char GOOD[] = "{\"version\":1,\"mode\":\"turn\"," REST "," MOUNTS "}";

static struct judging judging;
static struct facts facts;
static struct judging_how how;

static void begin(enum confine_result confined)
{
	memset(&facts, 0, sizeof(facts));
	facts.uid = 1000;
	facts.gid = 1000;
	facts.home = "";
	facts.state_id = "00000000000000000000000000000000";
	how.offline = true;
	how.by_hand = true;
	judging_begin(&judging, confined);
}

static void judge(const char *text)
{
	begin(CONFINE_FULL);
	judging_config(&judging, text, strlen(text), &facts, &how, NULL);
}

static void test_good(void **state)
{
	(void)state;
	judge(GOOD);
	assert_true(report_empty(&judging.report));
	assert_string_equal(judging.decision.launch.root[1].path, "/srv/w");
	assert_string_equal(judging.decision.launch.endpoint, "unix:///run/docker.sock");
	assert_int_equal(judging.decision.launch.uid, 1501);
	assert_int_equal(facts.mode, MODE_TURN);
}

/* Faults of the document and of what it names, each with its pointer, the
 * document's first; and none of them twice. */
static void test_five_faults(void **state)
{
	static const char text[] =
		"{\"version\":1,\"mode\":\"turn\",\"image\":\"-worker\","
		"\"user\":{\"uid\":0,\"gid\":1},\"imagId\":1,"
		"\"docker\":{\"host\":\"tcp://10.0.0.1:2375\"},"
		"\"limits\":{\"memoryBytes\":67108864,\"cpus\":0.5,\"pids\":64},"
		"\"mounts\":[{\"host\":\"b\",\"guest\":\"/broker\",\"mode\":\"ro\"},"
		"{\"host\":\"/etc\",\"guest\":\"/workspace\",\"mode\":\"rw\"}]}";
	static const struct {
		const char *reason, *pointer;
	} expected[] = {
		{"image.grammar", "/image"},          {"user.root", "/user/uid"},
		{"shape.unknown_key", "/imagId"},     {"mount.relative", "/mounts/0/host"},
		{"endpoint.scheme", "/docker/host"},  {"mount.system", "/mounts/1/host"},
	};

	(void)state;
	judge(text);
	assert_int_equal(judging.report.count, COUNT(expected));
	for (size_t i = 0; i < COUNT(expected); i++) {
		bool found = false;

		for (uint32_t k = 0; k < judging.report.count; k++)
			found = found ||
			        (strcmp(judging.report.at[k].pointer, expected[i].pointer) == 0 &&
			         strcmp(reason_name(judging.report.at[k].reason),
			                expected[i].reason) == 0);
		if (!found)
			print_error("not found: %s at %s\n", expected[i].reason,
			            expected[i].pointer);
		assert_true(found);
	}
	assert_int_equal(judging.decision.launch.argv.count, 0);
}

/* For the executor a config that has faults is judged no further. */
static void test_stops(void **state)
{
	static const char text[] = "{\"version\":2,\"mode\":\"turn\"," REST ","
		"\"mounts\":[{\"host\":\"/etc\",\"guest\":\"/broker\",\"mode\":\"ro\"},"
		"{\"host\":\"/etc\",\"guest\":\"/workspace\",\"mode\":\"rw\"}]}";

	(void)state;
	begin(CONFINE_FULL);
	how.by_hand = false;
	judging_config(&judging, text, strlen(text), &facts, &how, NULL);
	assert_int_equal(judging.report.count, 1);
	assert_int_equal(judging.report.at[0].reason, REASON_CONFIG_VERSION);
	assert_null(judging.decision.image);
}

static void test_syntax(void **state)
{
	static const struct {
		const char *text;
		enum reason reason;
	} cases[] = {
		{"", REASON_JSON_EMPTY},
		{"{", REASON_JSON_TRUNCATED},
		{"{\"version\":1,\"version\":1}", REASON_JSON_DUPLICATE_KEY},
		{"{\"image\":\"\\ud800\"}", REASON_JSON_SURROGATE},
		{"{} {}", REASON_JSON_TRAILING},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		begin(CONFINE_FULL);
		facts.mode = MODE_SESSION; /* and stays: nothing is judged */
		memset(facts.nonce, 0xa5, sizeof(facts.nonce)); /* the record's, all the same */
		judging_config(&judging, cases[i].text, strlen(cases[i].text), &facts, &how, NULL);
		assert_int_equal(facts.mode, MODE_SESSION);
		assert_memory_equal(judging.decision.launch.nonce, facts.nonce,
		                    sizeof(facts.nonce));
		assert_int_equal(judging.report.count, 1);
		assert_string_equal(reason_name(judging.report.at[0].reason),
		                    reason_name(cases[i].reason));
		assert_int_equal(judging.report.at[0].code, CODE_CONFIG);
		assert_int_equal(report_status(&judging.report), 78);
	}
}

static char large[(CONFIG_BYTES_MAX > ANSWER_MAX ? CONFIG_BYTES_MAX : ANSWER_MAX) + 1];

/* A document, and blanks up to the length. */
static const char *filled(const char *text, size_t len)
{
	memset(large, ' ', len);
	memcpy(large, text, strlen(text));
	return large;
}

static void test_size(void **state)
{
	(void)state;
	begin(CONFINE_FULL);
	judging_config(&judging, filled(GOOD, CONFIG_BYTES_MAX), CONFIG_BYTES_MAX, &facts, &how,
	               NULL);
	assert_true(report_empty(&judging.report));
	begin(CONFINE_FULL);
	judging_config(&judging, filled(GOOD, CONFIG_BYTES_MAX + 1), CONFIG_BYTES_MAX + 1, &facts,
	               &how, NULL);
	assert_int_equal(judging.report.count, 1);
}

/* The mode is the command's to ask for, by hand the config's. */
static void test_mode(void **state)
{
	(void)state;
	begin(CONFINE_FULL);
	how.by_hand = false;
	facts.mode = MODE_SESSION;
	judging_config(&judging, GOOD, strlen(GOOD), &facts, &how, NULL);
	assert_int_equal(judging.report.count, 1);
	assert_int_equal(judging.report.at[0].reason, REASON_CONFIG_MODE);
}

struct confinement {
	enum confine_result confined;
	const char *config;
	bool offline;
	bool refused;
};

static const char BEST_EFFORT[] =
	"{\"version\":1,\"mode\":\"turn\",\"confinement\":\"best-effort\"," REST "," MOUNTS "}";

static void test_confinement(void **state)
{
	static const struct confinement cases[] = {
		{CONFINE_FULL, GOOD, false, false},
		{CONFINE_NO_LANDLOCK, GOOD, false, true},
		{CONFINE_NO_LANDLOCK, BEST_EFFORT, false, false},
		{CONFINE_NO_LANDLOCK, GOOD, true, false},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		bool found = false;

		begin(cases[i].confined);
		how.offline = cases[i].offline;
		judging_config(&judging, cases[i].config, strlen(cases[i].config), &facts, &how,
		               NULL);
		for (uint32_t k = 0; k < judging.report.count; k++)
			found = found ||
			        (judging.report.at[k].reason == REASON_CONFINE_LANDLOCK &&
			         strcmp(judging.report.at[k].pointer, "/confinement") == 0);
		assert_int_equal(found, cases[i].refused);
	}
}

/* The executor's launch needs the record that the config requires. */
static void test_audit(void **state)
{
	static const char required[] = "{\"version\":1,\"mode\":\"turn\","
		"\"audit\":{\"required\":true}," REST "," MOUNTS "}";

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		bool by_hand = (i & 1) != 0;
		bool file = (i & 2) != 0;

		begin(CONFINE_FULL);
		how.by_hand = by_hand;
		facts.audit = file ? "/var/log/cofferdam.jsonl" : NULL;
		judging_config(&judging, required, strlen(required), &facts, &how, NULL);
		assert_int_equal(judging.report.count, by_hand || file ? 0 : 1);
		if (judging.report.count == 1) {
			assert_int_equal(judging.report.at[0].reason, REASON_AUDIT_ABSENT);
			assert_string_equal(judging.report.at[0].pointer, "/audit/required");
		}
	}
}

static char record[65536];

static const char *recorded(void)
{
	struct text text;

	text_init(&text, record, sizeof(record) - 1);
	judging_record(&judging, (struct timespec){ 0, 0 }, 1, true, &text);
	assert_false(text.full);
	record[text.len] = '\0';
	return record;
}

/* SHA-256 of the empty text is a known answer (FIPS 180-4 examples); of a
 * refused launch there is no argv to hash. */
static void test_hashes(void **state)
{
	(void)state;
	judge("");
	assert_non_null(strstr(recorded(), "\"config_sha256\":\"e3b0c44298fc1c149afbf4c8996fb924"
	                                   "27ae41e4649b934ca495991b7852b855\","));
	assert_non_null(strstr(recorded(), "\"argv_sha256\":null"));
	judge("[]"); /* printf '[]' | sha256sum */
	assert_non_null(strstr(recorded(), "\"config_sha256\":\"4f53cda18c2baa0c0354bb5f9a3ecbe5"
	                                   "ed12ab4d8e11ba873c2f11161202b945\","));
	judging_begin(&judging, CONFINE_NO_LANDLOCK);
	assert_non_null(strstr(recorded(), "\"config_sha256\":null"));
	assert_non_null(strstr(recorded(), "\"confinement\":\"no-landlock\""));

	/* printf 'docker\0\0' | sha256sum */
	judge(GOOD);
	judging.decision.launch.argv.count = 2;
	judging.decision.launch.argv.at[0] = "docker";
	judging.decision.launch.argv.at[1] = "";
	assert_non_null(strstr(recorded(), "\"argv_sha256\":\"5ab061c754255b61aa51bfcfaa762e0b"
	                                   "49a5d69d33e8a76749dc98c6bd06712c\""));
	assert_non_null(strstr(recorded(), "\"confinement\":\"full\""));
	judging.decision.launch.argv.count = 1;
	assert_null(strstr(recorded(), "\"argv_sha256\":null"));
}

/* --- docker's answer about an image --- */

static bool read_image(const char *text, struct image *out)
{
	static char bytes[4096];
	struct text arena;

	text_init(&arena, bytes, sizeof(bytes));
	judging_begin(&judging, CONFINE_FULL);
	return judging_image(text, strlen(text), &arena, out, &judging.report);
}

static void test_image(void **state)
{
	static const char *const bad[] = {
		"",
		"null",
		"[]",
		"{\"Id\":\"sha256:" HEX64 "\"",
		"{\"Id\":\"sha256:0\",\"Os\":\"linux\"}",
		"{\"Id\":\"sha256:" HEX64 "\",\"Os\":\"linux\",\"x\":\"\\ud800\"}",
	};
	static const char good[] = "{\"Id\":\"sha256:" HEX64 "\",\"Os\":\"linux\"}";
	static char bytes[4096];
	struct image image;
	struct text arena;

	(void)state;
	memset(&image, 0, sizeof(image));
	for (size_t i = 0; i < COUNT(bad); i++) {
		assert_false(read_image(bad[i], &image));
		assert_int_equal(judging.report.at[0].reason, REASON_IMAGE_ANSWER);
		assert_int_equal(report_status(&judging.report), 69);
		assert_null(image.id);
	}
	assert_true(read_image("{\"Id\":\"sha256:" HEX64 "\",\"Os\":\"linux\"}\n", &image));
	assert_true(report_empty(&judging.report));
	assert_string_equal(image.id, "sha256:" HEX64);
	assert_pool_free();
	assert_false(read_image("", &image));
	assert_non_null(strstr(judging.report.at[0].detail, "docker image inspect"));

	/* Findings that were there before do not count, not even those that were dropped. */
	judging.report.dropped = 1;
	for (size_t len = ANSWER_MAX; len <= ANSWER_MAX + 1; len++) {
		text_init(&arena, bytes, sizeof(bytes));
		assert_int_equal(judging_image(filled(good, len), len, &arena, &image,
		                               &judging.report),
		                 len == ANSWER_MAX);
	}
}

/* A judgement leaves nothing behind for the next. */
static void test_again(void **state)
{
	(void)state;
	judge(GOOD);
	(void)recorded();
	judge("[]");
	assert_false(report_empty(&judging.report));
	judge(GOOD);
	assert_true(report_empty(&judging.report));
	assert_int_equal(judging.decision.launch.root_count, 2);
	judge(BEST_EFFORT);
	assert_true(judging.config.best_effort);
	begin(CONFINE_FULL);
	assert_false(judging.config.best_effort);
	assert_pool_free();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_five_faults),
		cmocka_unit_test(test_stops),
		cmocka_unit_test(test_syntax),
		cmocka_unit_test(test_size),
		cmocka_unit_test(test_mode),
		cmocka_unit_test(test_confinement),
		cmocka_unit_test(test_audit),
		cmocka_unit_test(test_hashes),
		cmocka_unit_test(test_image),
		cmocka_unit_test(test_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

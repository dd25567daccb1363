/* SPDX-License-Identifier: ISC */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "../../policy/ps.h"
#include "pool.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define ID "83c3ec49a73a24608dbf11713d102a2e4a75bfa72f4f454ddb313f00877ae5a4"
#define STATE "0123456789abcdef0123456789abcdef"
#define STATE2 "fedcba9876543210fedcba9876543210"
#define RUN "00112233445566778899aabbccddeeff"
#define RUN2 "ffeeddccbbaa99887766554433221100"
#define CREATED "2026-11-29 19:20:00 +0000 UTC"
#define LINE(state, run, session, name) \
	"[\"" ID "\",\"" state "\",\"" run "\",\"session\",\"" session \
	"\",\"3\",\"running\",\"" name "\",\"" CREATED "\"]"
#define JSON(state, run, session, name, owner) \
	"{\"id\":\"" ID "\",\"state_id\":\"" state "\",\"run\":\"" run \
	"\",\"mode\":\"session\",\"session\":\"" session \
	"\",\"revision\":\"3\",\"state\":\"running\",\"name\":\"" name \
	"\",\"created\":\"" CREATED "\",\"owner\":\"" owner "\"}\n"

static char buffer[16384];
static struct text out;

static void begin(void)
{
	text_init(&out, buffer, sizeof(buffer) - 1);
}

static const char *written(void)
{
	assert_false(out.full);
	buffer[out.len] = '\0';
	return buffer;
}

/* What is not such lines is not kept at all. */
static void assert_held(const char *text, size_t len, bool good)
{
	struct ps ps;

	assert_int_equal(ps_init(&ps, text, len), good);
	assert_ptr_equal(ps.held, good ? text : NULL);
	assert_int_equal(ps.len, good && text != NULL ? len : 0);
}

static void test_held(void **state)
{
	static const struct {
		const char *text;
		bool good;
	} CASES[] = {
		{STATE "\n", true},
		{STATE "\n" RUN "\n", true},
		{STATE "\n" RUN "\n" RUN2 "\n", true},
		{"", false},
		{"\n", false},
		{STATE, false},
		{STATE "\n" RUN, false},
		{STATE "\n\n" RUN "\n", false},
		{"0123456789abcdef0123456789abcdeF\n", false},
		{"0123456789abcdef0123456789abcdeg\n", false},
		{STATE "0\n", false},
		{STATE "\n0123456789abcde 0123456789abcdef\n", false},
		{"0123456789abcde 0123456789abcdef\n" RUN "\n", false},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(CASES); i++)
		assert_held(CASES[i].text, strlen(CASES[i].text), CASES[i].good);
	for (size_t len = 0; len <= 99; len++) /* and what stands behind is no part of it */
		assert_held(STATE "\n" RUN "\n" RUN2 "\n", len, len > 0 && len % 33 == 0);
	for (size_t len = 0; len <= 33; len += 33)
		assert_held(NULL, len, true);
}

/* Any byte in any place of a line. */
static void test_held_bytes(void **state)
{
	(void)state;
	for (size_t at = 0; at <= 32; at++) {
		for (unsigned byte = 0; byte <= UINT8_MAX; byte++) {
			char text[] = STATE "\n";
			bool digit = (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'f');

			text[at] = (char)byte;
			assert_held(text, strlen(STATE "\n"), at < 32 ? digit : byte == '\n');
		}
	}
}

static void test_owner(void **state)
{
	static const struct {
		const char *held;
		const char *line;
		const char *shown;
	} CASES[] = {
		{NULL, LINE(STATE, RUN, "s", "n"), JSON(STATE, RUN, "s", "n", "unknown")},
		{STATE "\n", LINE(STATE, RUN, "s", "n"), JSON(STATE, RUN, "s", "n", "orphaned")},
		{STATE "\n" RUN "\n", LINE(STATE, RUN, "s", "n"),
	         JSON(STATE, RUN, "s", "n", "alive")},
		{STATE "\n" RUN2 "\n" RUN "\n", LINE(STATE, RUN, "s", "n"),
	         JSON(STATE, RUN, "s", "n", "alive")},
		{STATE "\n" RUN2 "\n", LINE(STATE, RUN, "s", "n"),
	         JSON(STATE, RUN, "s", "n", "orphaned")},
		/* Of another state directory, whatever its nonce. */
		{STATE "\n" RUN "\n", LINE(STATE2, RUN, "s", "n"),
	         JSON(STATE2, RUN, "s", "n", "other")},
		/* The id of a state directory is not a claim. */
		{STATE "\n", LINE(STATE, STATE, "s", "n"),
	         JSON(STATE, STATE, "s", "n", "orphaned")},
		/* Labels of nobody's: shown, and never alive. */
		{STATE "\n" RUN "\n", LINE("", RUN, "s", "n"), JSON("", RUN, "s", "n", "other")},
		{STATE "\n" RUN "\n", LINE(STATE, "", "s", "n"),
	         JSON(STATE, "", "s", "n", "orphaned")},
		{STATE "\n" RUN "\n", LINE(STATE, RUN "0", "s", "n"),
	         JSON(STATE, RUN "0", "s", "n", "orphaned")},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(CASES); i++) {
		const char *held = CASES[i].held;
		struct ps ps;

		assert_true(ps_init(&ps, held, held != NULL ? strlen(held) : 0));
		begin();
		assert_true(ps_line(&ps, CASES[i].line, strlen(CASES[i].line), true, &out));
		assert_string_equal(written(), CASES[i].shown);
	}
}

/* A claim right behind those that are held is not held. */
static void test_owner_behind(void **state)
{
	static const char LINE_OF_RUN[] = LINE(STATE, RUN, "s", "n");
	struct ps ps;

	(void)state;
	for (size_t claims = 1; claims <= 3; claims++) {
		assert_true(ps_init(&ps, STATE "\n" RUN2 "\n" RUN "\n", 33 * claims));
		begin();
		assert_true(ps_line(&ps, LINE_OF_RUN, strlen(LINE_OF_RUN), true, &out));
		assert_string_equal(written(), claims == 3 ? JSON(STATE, RUN, "s", "n", "alive")
		                                           : JSON(STATE, RUN, "s", "n", "orphaned"));
	}
}

static void test_table(void **state)
{
	static const char LINE_ODD[] = LINE(STATE, RUN, "a\\n\\u202e\\\\", "");
	const struct ps ps = {NULL, 0};

	(void)state;
	begin();
	ps_head(&out);
	assert_string_equal(written(),
	                    "RUN                               STATE       OWNER     MODE     "
	                    "CREATED                        REVISION  "
	                    "NAME                                        SESSION\n");
	begin();
	assert_true(ps_line(&ps, LINE_ODD, strlen(LINE_ODD), false, &out));
	assert_string_equal(written(),
	                    RUN "  running     unknown   session  " CREATED "  3         "
	                    "-                                           "
	                    "a\\x0a\\xe2\\x80\\xae\\\\\n");
	begin();
	assert_true(ps_line(&ps, LINE_ODD, strlen(LINE_ODD), true, &out));
	assert_string_equal(written(),
	                    JSON(STATE, RUN, "a\\u000a\\u202e\\\\", "", "unknown"));
}

/* Two blanks stand even behind what is wider than its column. */
static void test_wide(void **state)
{
#define NAME43 "1234567890123456789012345678901234567890123"
	static const char WIDE[] = "[\"\",\"\",\"" RUN "f\",\"sessions\",\"s\",\"123456789\","
	                           "\"running-now\",\"" NAME43 "\",\"" CREATED "+\"]";
	const struct ps ps = {NULL, 0};

	(void)state;
	begin();
	assert_true(ps_line(&ps, WIDE, strlen(WIDE), false, &out));
	assert_string_equal(written(), RUN "f  running-now  unknown   sessions  " CREATED "+"
	                               "  123456789  " NAME43 "  s\n");
}

/* What no launcher of ours writes, and JSON allows: shown, too. */
static void test_surrogate(void **state)
{
	static const char ODD[] = LINE(STATE, RUN, "\\ud800", "n");
	const struct ps ps = {NULL, 0};

	(void)state;
	begin();
	assert_true(ps_line(&ps, ODD, strlen(ODD), true, &out));
	assert_string_equal(written(), JSON(STATE, RUN, "\\ud800", "n", "unknown"));
}

/* A line whose session is so many times "a" and then this character. */
static const char *session_shown(size_t plain, const char *character)
{
	static const char HEAD[] = "[\"\",\"\",\"\",\"\",\"";
	static const char TAIL[] = "\",\"\",\"\",\"\",\"\"]";
	const struct ps ps = {NULL, 0};
	char line[512];
	struct text text;

	text_init(&text, line, sizeof(line));
	text_string(&text, HEAD);
	for (size_t i = 0; i < plain; i++)
		text_string(&text, "a");
	text_string(&text, character);
	text_string(&text, TAIL);
	assert_false(text.full);
	begin();
	assert_true(ps_line(&ps, line, text.len, false, &out));
	return strchr(written(), 'a');
}

/* A value of 192 bytes is whole, one of 193 is cut between two characters. */
static void test_cut(void **state)
{
	static const struct {
		const char *character;
		const char *shown;
	} CASES[] = {
		{"\xc3\xa9", "\\xc3\\xa9\n"},
		{"\xe2\x80\xae", "\\xe2\\x80\\xae\n"},
		{"\xf0\x9f\x98\x80", "\\xf0\\x9f\\x98\\x80\n"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(CASES); i++) {
		size_t whole = 192 - strlen(CASES[i].character);

		for (size_t plain = whole; plain <= 194; plain++) {
			const char *shown = session_shown(plain, CASES[i].character);

			assert_non_null(shown);
			assert_int_equal(strspn(shown, "a"), plain < 192 ? plain : 192);
			assert_string_equal(shown + strspn(shown, "a"),
			                    plain == whole ? CASES[i].shown : "...\n");
		}
	}
}

/* The last value of a line is whole, whatever an earlier line left behind it. */
static void test_cut_last(void **state)
{
	static const char *const AFTER[] = {"\xc3\xa9", ""};
	const struct ps ps = {NULL, 0};

	(void)state;
	for (size_t i = 0; i < COUNT(AFTER); i++) {
		char line[512], expected[512], value[193];

		memset(value, 'c', sizeof(value) - 1);
		value[i == 0 ? 191 : 192] = '\0';
		(void)snprintf(line, sizeof(line),
		               "[\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"%s%s\"]", value, AFTER[i]);
		(void)snprintf(expected, sizeof(expected), "\"created\":\"%s%s\",", value,
		               i == 0 ? "..." : "");
		begin();
		assert_true(ps_line(&ps, line, strlen(line), true, &out));
		assert_non_null(strstr(written(), expected));
	}
}

/* A line may have 262144 bytes, blanks among them. */
static void test_bytes(void **state)
{
	static const char EMPTY[] = "[\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\"]";
	static char line[262144 + 1];
	const struct ps ps = {NULL, 0};

	(void)state;
	memset(line, ' ', sizeof(line));
	memcpy(line, EMPTY, sizeof(EMPTY) - 1);
	for (size_t more = 0; more <= 1; more++) {
		begin();
		assert_int_equal(ps_line(&ps, line, 262144 + more, true, &out), more == 0);
	}
	assert_pool_free();
}

/* A text without room for the head says so, and has what fitted of it. */
static void test_full(void **state)
{
	char whole[512];
	size_t needed;

	(void)state;
	begin();
	ps_head(&out);
	needed = strlen(written());
	assert_true(needed < sizeof(whole));
	memcpy(whole, buffer, needed);
	for (size_t cap = 0; cap <= needed; cap++) {
		text_init(&out, buffer, cap);
		ps_head(&out);
		assert_int_equal(out.full, cap < needed);
		assert_true(out.len <= cap);
		assert_memory_equal(buffer, whole, out.len);
	}
}

static void test_not_a_line(void **state)
{
	static const char *const LINES[] = {
		"",
		"{}",
		"null",
		"[]",
		"[\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\"]",
		"[\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\"]",
		"[\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",null]",
		"[1,\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\"]",
		"[[\"\"],\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\"]",
		"[\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\"] x",
		"[\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\xff\"]",
	};
	const struct ps ps = {NULL, 0};

	(void)state;
	for (size_t i = 0; i < COUNT(LINES); i++) {
		begin();
		assert_false(ps_line(&ps, LINES[i], strlen(LINES[i]), i % 2 == 0, &out));
		assert_int_equal(out.len, 0);
	}
	assert_pool_free();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_held),  cmocka_unit_test(test_owner),
		cmocka_unit_test(test_table), cmocka_unit_test(test_cut),
		cmocka_unit_test(test_not_a_line), cmocka_unit_test(test_full),
		cmocka_unit_test(test_held_bytes), cmocka_unit_test(test_owner_behind),
		cmocka_unit_test(test_wide),  cmocka_unit_test(test_surrogate),
		cmocka_unit_test(test_cut_last), cmocka_unit_test(test_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

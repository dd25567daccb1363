/* SPDX-License-Identifier: ISC */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <signal.h>
#include <unistd.h>

#include "../../executor/removal.h"
#include "fake_docker.h"

#define NONCE "00112233445566778899aabbccddeeff"
#define LS FAKE_LS(NONCE)
#define RM FAKE_RM

/* What the fake is told. */
#define NOTHING ":\n"
#define THERE "echo " FAKE_ID "\n"
#define FAILS "exit 1\n"
#define HANGS "exec sleep 60\n"

static struct docker docker;

static int set_up(void **state)
{
	(void)state;
	fake_make(&docker);
	return child_set_up() ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	return fake_remove();
}

static void starts_without_an_id(void **state)
{
	struct removal removal;

	(void)state;
	memset(&removal, 'x', sizeof(removal));
	removal_init(&removal, &docker, NONCE);
	assert_ptr_equal(removal.docker, &docker);
	assert_string_equal(removal.run, "label=dev.cofferdam.run=" NONCE);
	assert_string_equal(removal.id, "");
}

/* A child's output as it would be, with the offset at its end. */
static bool takes(const char *bytes, size_t len, struct removal *removal)
{
	struct child child = {.out = child_document(bytes, len)};
	bool taken;

	assert_true(child.out >= 0);
	assert_int_equal(child_length(child.out), len);
	removal_init(removal, &docker, NONCE);
	taken = removal_take_id(removal, &child);
	close(child.out);
	return taken;
}

static void takes_exactly_an_id(void **state)
{
	static const struct {
		const char *bytes;
		bool taken;
	} rows[] = {
		{FAKE_ID "\n", true},
		{"ffffffffffffffffffffffffffffffff0000000000000000000000000000000a\n", true},
		{"", false},
		{"\n", false},
		{FAKE_ID, false},
		{FAKE_ID "0", false},
		{FAKE_ID "0\n", false},
		{FAKE_ID "\n\n", false},
		{FAKE_ID "\r\n", false},
		{FAKE_ID "\n" FAKE_ID "\n", false},
		{" " FAKE_16 FAKE_16 FAKE_16 "0123456789abcde\n", false},
		{FAKE_16 FAKE_16 FAKE_16 "0123456789abcde\n", false},
		{FAKE_16 FAKE_16 FAKE_16 "0123456789abcde\n\n", false},
		{FAKE_16 FAKE_16 FAKE_16 "0123456789abcdeF\n", false},
		{FAKE_16 FAKE_16 FAKE_16 "0123456789abcdeg\n", false},
		{FAKE_16 FAKE_16 FAKE_16 "0123456789abcde-\n", false},
	};
	struct removal removal;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(takes(rows[i].bytes, strlen(rows[i].bytes), &removal),
		                 rows[i].taken);
		if (rows[i].taken) {
			assert_memory_equal(removal.id, rows[i].bytes, CONTAINER_ID);
			assert_int_equal(removal.id[CONTAINER_ID], '\0');
		} else {
			assert_string_equal(removal.id, "");
		}
	}
	assert_false(takes(FAKE_16 FAKE_16 "\0" "123456789abcdef" FAKE_16 "\n", 65, &removal));
	assert_string_equal(removal.id, "");
}

static void looks(void **state)
{
	static const struct {
		const char *ls;
		enum removal_look found;
		const char *id;
	} rows[] = {
		{NOTHING, REMOVAL_GONE, ""},
		{THERE, REMOVAL_THERE, FAKE_ID},
		{FAILS, REMOVAL_UNKNOWN, ""},
		{"echo " FAKE_ID "; exit 1\n", REMOVAL_UNKNOWN, ""},
		{"kill -9 $$\n", REMOVAL_UNKNOWN, ""},
		{"echo\n", REMOVAL_UNKNOWN, ""},
		{"echo " FAKE_ID "; echo " FAKE_ID "\n", REMOVAL_UNKNOWN, ""},
		{"echo 0123456789ab\n", REMOVAL_UNKNOWN, ""},
		{"echo nothing here >&2\n", REMOVAL_GONE, ""},
	};
	struct removal removal;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		fake_does(rows[i].ls, NOTHING);
		removal_init(&removal, &docker, NONCE);
		removal.control_seconds = 20;
		assert_int_equal(removal_look(&removal, child_now() + 20000), rows[i].found);
		assert_string_equal(removal.id, rows[i].id);
		assert_string_equal(fake_log(), LS);
	}
}

/* The nearer of the command's own time and the deadline ends a look. */
static void looks_in_time(void **state)
{
	static const struct {
		unsigned control_seconds;
		int64_t deadline;
	} rows[] = {{1, 60000}, {60, 1000}};
	struct removal removal;

	(void)state;
	fake_does(HANGS, NOTHING);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int64_t begun = child_now();

		removal_init(&removal, &docker, NONCE);
		removal.control_seconds = rows[i].control_seconds;
		assert_int_equal(removal_look(&removal, begun + rows[i].deadline),
		                 REMOVAL_UNKNOWN);
		assert_in_range(child_now() - begun, 1000, 20000);
	}
	removal_init(&removal, &docker, NONCE);
	removal.control_seconds = 60;
	assert_int_equal(removal_look(&removal, child_now()), REMOVAL_UNKNOWN);
}

struct row {
	const char *name;
	const char *ls, *rm;
	bool known, settle;
	bool gone; /* at the end */
	unsigned control_seconds, remove_seconds;
	int64_t least_ms;
	const char *log;
};

static const struct row removals[] = {
	{"never there", NOTHING, NOTHING, false, false, true, 20, 20, 0, LS},
	{"found, removed", THERE NOTHING, NOTHING, false, false, true, 20, 20, 0, LS RM LS},
	{"known, removed", NOTHING, NOTHING, true, false, true, 20, 20, 0, RM LS},
	{"known, nothing to settle", NOTHING, NOTHING, true, true, true, 20, 20, 0, RM LS},
	{"rm fails, yet it is gone", NOTHING, FAILS, true, false, true, 20, 20, 0, RM LS},
	{"gone at the third try", THERE THERE NOTHING, FAILS FAILS NOTHING, true, false, true, 20,
	 20, 50 + 100, RM LS RM LS RM LS},
	{"looks fail at first", FAILS FAILS THERE NOTHING, NOTHING, false, false, true, 20, 20,
	 50 + 100, LS LS LS RM LS},
	{"a look that fails is no proof", FAILS NOTHING, NOTHING, true, false, true, 20, 20, 50,
	 RM LS RM LS},
	{"rm hangs and is ended", NOTHING, HANGS, true, false, true, 1, 20, 1000, RM LS},
	{"a late create is waited for", NOTHING NOTHING THERE NOTHING, NOTHING, false, true, true,
	 20, 20, 50 + 100, LS LS LS RM LS},
};

static bool run(const struct row *row)
{
	struct removal removal;
	int64_t begun = child_now();
	bool gone;

	fake_does(row->ls, row->rm);
	removal_init(&removal, &docker, NONCE);
	removal.control_seconds = row->control_seconds;
	removal.remove_seconds = row->remove_seconds;
	if (row->known)
		memcpy(removal.id, FAKE_ID, sizeof(removal.id));
	gone = removal_run(&removal, row->settle);
	assert_true(child_now() - begun >= row->least_ms);
	return gone;
}

static void removes(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(removals) / sizeof(removals[0]); i++) {
		bool gone = run(&removals[i]);

		if (gone != removals[i].gone || strcmp(fake_log(), removals[i].log) != 0)
			fail_msg("%s: %d\n%s", removals[i].name, gone, fake_log());
	}
}

/* However often it is asked: true only when docker lists nothing. */
static void gives_up(void **state)
{
	static const struct row rows[] = {
		{"it stays", THERE, NOTHING, true, false, false, 20, 1, 1000, RM LS},
		{"no look succeeds", FAILS, NOTHING, true, false, false, 20, 1, 1000, RM LS},
		{"odd answers", "echo x\n", NOTHING, false, false, false, 20, 1, 1000, LS},
		{"looks hang", HANGS, NOTHING, false, false, false, 60, 1, 1000, LS},
		{"no time at all", NOTHING, NOTHING, false, false, false, 20, 0, 0, ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		bool gone = run(&rows[i]);

		if (gone || strncmp(fake_log(), rows[i].log, strlen(rows[i].log)) != 0)
			fail_msg("%s: %d\n%s", rows[i].name, gone, fake_log());
	}
	assert_string_equal(fake_log(), "");
}

/* With a create under way nothing is proved before the quiet period is over,
 * and the time for removing begins after it. */
static void settles(void **state)
{
	static const struct row row = {"quiet", NOTHING, NOTHING, false, true, true, 20, 20,
	                               REMOVAL_QUIET_MS, ""};

	(void)state;
	assert_true(run(&row));
	assert_null(strstr(fake_log(), " rm "));
	assert_memory_equal(fake_log(), LS LS LS, strlen(LS LS LS));
}

static void settles_in_vain(void **state)
{
	static const struct row row = {"never quiet", FAILS, NOTHING, false, true, false, 20, 1,
	                               REMOVAL_QUIET_MS + 1000, ""};

	(void)state;
	assert_false(run(&row));
}

/* The last test, for a signal that has come stays. */
static void ends_at_a_signal(void **state)
{
	static const struct row row = {"signal", THERE, NOTHING, true, false, false, 20, 20, 0, ""};
	static const struct row shielded = {"shielded", THERE NOTHING, NOTHING, true, false, true, 20,
	                                    20, 50, RM LS RM LS};
	int64_t begun = child_now();

	(void)state;
	assert_int_equal(raise(SIGTERM), 0);
	assert_false(run(&row));
	assert_true(child_now() - begun < 10000);
	assert_int_equal(child_signal(), SIGTERM);
	child_shield(true);
	assert_true(run(&shielded));
	assert_string_equal(fake_log(), shielded.log);
	child_shield(false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
		TEST(starts_without_an_id), TEST(takes_exactly_an_id), TEST(looks),
		TEST(looks_in_time),        TEST(removes),             TEST(gives_up),
		TEST(settles),              TEST(settles_in_vain),     TEST(ends_at_a_signal),
#undef TEST
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: ISC */
#undef _FORTIFY_SOURCE /* fake_time.h */
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
#include "fake_time.h"

#define NONCE "00112233445566778899aabbccddeeff"
#define LS FAKE_LS(NONCE)
#define RM FAKE_RM

/* What the fake is told. */
#define NOTHING ":\n"
#define THERE "echo " FAKE_ID "\n"
#define FAILS "exit 1\n"
#define HANGS FAKE_HANGS

static struct docker docker;

static int set_up(void **state)
{
	int own[2]; /* standard input: something to read, and its other end is closed */

	(void)state;
	fake_make(&docker);
	assert_int_equal(pipe(own), 0);
	assert_int_equal(write(own[1], "own\n", 4), 4);
	assert_int_equal(dup2(own[0], STDIN_FILENO), STDIN_FILENO);
	close(own[0]);
	close(own[1]);
	return child_set_up() && fake_time_starts() ? 0 : -1;
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
		int64_t deadline, took;
	} rows[] = {{1, 60000, 1000}, {60, 1001, 1001}, {2, 2000, 2000}, {60, 0, 0}};
	struct removal removal;

	(void)state;
	fake_does(HANGS, NOTHING);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int64_t begun = child_now();

		removal_init(&removal, &docker, NONCE);
		removal.control_seconds = rows[i].control_seconds;
		assert_int_equal(removal_look(&removal, begun + rows[i].deadline),
		                 REMOVAL_UNKNOWN);
		assert_int_equal(child_now() - begun, rows[i].took);
	}
}

/* Both commands read nothing, and what they write is not written to ours. */
static void docker_has_no_input(void **state)
{
	struct removal removal;
	char byte;

	(void)state;
	fake_does("cat\n", "cat >>$HOME/log; echo x || echo no output >>$HOME/log\n");
	removal_init(&removal, &docker, NONCE);
	removal.control_seconds = removal.remove_seconds = 20;
	memcpy(removal.id, FAKE_ID, sizeof(removal.id));
	assert_true(removal_run(&removal, false));
	assert_string_equal(fake_log(), RM LS);
	assert_int_equal(read(STDIN_FILENO, &byte, 1), 1);
}

struct row {
	const char *name;
	const char *ls, *rm;
	bool known, settle;
	bool gone; /* at the end */
	unsigned control_seconds, remove_seconds;
	int64_t took; /* milliseconds */
	const char *log;
};

/* When it looks, if nothing takes any time. */
#define LOOK_2 50
#define LOOK_3 150
#define LOOK_4 350
#define LOOK_5 750
#define LOOK_6 1550
#define LOOK_7 2550
#define LOOK_8 3550

#define FAILS_5 FAILS FAILS FAILS FAILS FAILS
#define LS_5 LS LS LS LS LS
#define RM_LS_5 RM LS RM LS RM LS RM LS RM LS

static const struct row removals[] = {
	{"never there", NOTHING, NOTHING, false, false, true, 20, 20, 0, LS},
	{"found, removed", THERE NOTHING, NOTHING, false, false, true, 20, 20, 0, LS RM LS},
	{"known, removed", NOTHING, NOTHING, true, false, true, 20, 20, 0, RM LS},
	{"known, nothing to settle", NOTHING, NOTHING, true, true, true, 20, 20, 0, RM LS},
	{"rm fails, yet it is gone", NOTHING, FAILS, true, false, true, 20, 20, 0, RM LS},
	{"gone at the third try", THERE THERE NOTHING, FAILS FAILS NOTHING, true, false, true, 20,
	 20, LOOK_3, RM LS RM LS RM LS},
	{"looks fail at first", FAILS FAILS THERE NOTHING, NOTHING, false, false, true, 20, 20,
	 LOOK_3, LS LS LS RM LS},
	{"a look that fails is no proof", FAILS NOTHING, NOTHING, true, false, true, 20, 20, LOOK_2,
	 RM LS RM LS},
	{"rm hangs and is ended", NOTHING, HANGS, true, false, true, 1, 20, 1000, RM LS},
	{"a late create is waited for", NOTHING NOTHING THERE NOTHING, NOTHING, false, true, true,
	 20, 20, LOOK_3, LS LS LS RM LS},
	{"quiet begins with the first answer", FAILS_5 NOTHING, NOTHING, false, true, true, 20, 20,
	 LOOK_6 + 3000, LS_5 LS LS LS LS},
	{"and anew after one that fails", NOTHING FAILS NOTHING, NOTHING, false, true, true, 20, 20,
	 LOOK_8, LS_5 LS LS LS},
	{"quiet, its time not yet over", NOTHING, NOTHING, false, true, true, 20, 1, LOOK_8,
	 LS_5 LS LS LS},
	{"the last moment", THERE THERE THERE THERE THERE NOTHING, NOTHING, true, false, true, 20, 2,
	 LOOK_6, RM_LS_5 RM LS},
	/* True only when docker lists nothing, however often it is asked. */
	{"it stays", THERE, NOTHING, true, false, false, 20, 1, LOOK_6, RM_LS_5},
	{"no look succeeds", FAILS, NOTHING, true, false, false, 20, 1, LOOK_6, RM_LS_5},
	{"odd answers", "echo x\n", NOTHING, false, false, false, 20, 1, LOOK_6, LS_5},
	{"looks hang", HANGS, NOTHING, false, false, false, 60, 1, 1000 + 50, LS},
	{"never quiet", FAILS, NOTHING, false, true, false, 20, 1, LOOK_8 + 1000, LS_5 LS LS LS},
	{"looks hang, unsettled", HANGS, NOTHING, false, true, false, 60, 1, 3000 + 1000 + 50, LS},
	{"no time at all", NOTHING, NOTHING, false, false, false, 20, 0, 0, ""},
};

static bool run(const struct row *row)
{
	struct removal removal;

	fake_does(row->ls, row->rm);
	removal_init(&removal, &docker, NONCE);
	removal.control_seconds = row->control_seconds;
	removal.remove_seconds = row->remove_seconds;
	if (row->known)
		memcpy(removal.id, FAKE_ID, sizeof(removal.id));
	return removal_run(&removal, row->settle);
}

static void removes(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(removals) / sizeof(removals[0]); i++) {
		const struct row *row = &removals[i];
		int64_t begun = child_now();
		bool gone = run(row);

		if (gone != row->gone || child_now() - begun != row->took ||
		    strcmp(fake_log(), row->log) != 0)
			fail_msg("%s: %d after %lld\n%s", row->name, gone,
			         (long long)(child_now() - begun), fake_log());
	}
}

/* The last test, for a signal that has come stays. */
static void ends_at_a_signal(void **state)
{
	static const struct row row = {"signal", THERE, NOTHING, true, false, false, 20, 20, 0, ""};
	static const struct row shielded = {"shielded", THERE NOTHING, NOTHING, true, false, true, 20,
	                                    20, LOOK_2, RM LS RM LS};
	int64_t begun = child_now();

	(void)state;
	assert_int_equal(raise(SIGTERM), 0);
	assert_false(run(&row));
	assert_int_equal(child_now(), begun);
	assert_int_equal(child_signal(), SIGTERM);
	child_shield(true);
	assert_true(run(&shielded));
	assert_int_equal(child_now() - begun, shielded.took);
	assert_string_equal(fake_log(), shielded.log);
	child_shield(false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
		TEST(starts_without_an_id), TEST(takes_exactly_an_id), TEST(looks),
		TEST(looks_in_time),        TEST(docker_has_no_input), TEST(removes),
		TEST(ends_at_a_signal),
#undef TEST
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

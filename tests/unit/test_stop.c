/* SPDX-License-Identifier: ISC */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <stdio.h>

#include "../../executor/managed.h"
#include "../../executor/say.h"
#include "../../executor/stop.h"
#include "notes.h"

/*
 * cofferdam stop.  What it shares with ps and reap stands in here, each call with a
 * line in one log, so that a row says which calls there are, in which order and with
 * what.
 */

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define R1 "00112233445566778899aabbccddeeff"
#define R2 "ffeeddccbbaa99887766554433221100"
#define R3 "0123456789abcdef0123456789abcdef"
#define K16 "0123456789 abcd#"
#define K64 K16 K16 K16 K16

static struct options options;

/* What the stand-ins do: one row's. */
static struct outcome {
	const char *session;
	const char *operand[4];
	const char *log;
	bool closed; /* the state directory cannot be opened */
	long found; /* so many containers carry a label, or -1 */
	bool stays; /* none of them can be removed */
	bool owned; /* a launch holds its claim */
	int signal, after; /* one comes once managed_each was called so often */
} now;

static int listed;

/* --- managed.h, state.h and child.h --- */

bool managed_open(struct managed *managed, const struct options *given)
{
	assert_ptr_equal(given, &options);
	note("open\n");
	strcpy(managed->docker.endpoint, "unix:///e");
	return !now.closed;
}

void managed_fail(struct managed *managed, enum executor_reason why, const char *format, ...)
{
	char text[256];
	va_list words;

	assert_ptr_equal(managed->options, &options); /* it asks for --json there */
	va_start(words, format);
	(void)vsnprintf(text, sizeof(text), format, words);
	va_end(words);
	note("fail %s: %s\n", say_row(why)->reason, text);
}

static const char *or_any(const char *run)
{
	return run != NULL ? run : "any";
}

long managed_each(struct managed *managed, enum docker_command command, const char *subject,
                  const char *run,
                  void (*act)(struct managed *managed, const char *id, const char *run))
{
	static const char *const ids[] = {"a", "b"};

	note("each %s [%s] %s\n", command == DOCKER_OURS_WITH ? "with" : "other", subject,
	    or_any(run));
	listed++;
	for (long i = 0; i < now.found; i++)
		act(managed, ids[i], run != NULL ? run : R3);
	return now.found;
}

bool managed_remove(struct managed *managed, const char *id, const char *run, bool settle)
{
	(void)managed;
	note("remove %s of %s%s\n", id, run, settle ? ", and settle" : "");
	return !now.stays;
}

bool state_adopt(struct state *state, const char *nonce, const char *endpoint,
                 unsigned quiet_seconds, bool *created)
{
	(void)state;
	*created = true;
	note("adopt %s at %s, %u\n", nonce, endpoint, quiet_seconds);
	return !now.owned;
}

void managed_drop(struct managed *managed, bool gone)
{
	(void)managed;
	note("drop%s\n", gone ? "" : ", not gone");
}

int managed_end(struct managed *managed)
{
	(void)managed;
	note("end\n");
	return 42;
}

int child_signal(void)
{
	return listed >= now.after ? now.signal : 0;
}

/* --- the rules --- */

static void stops(const struct outcome *row)
{
	char *operand[COUNT(row->operand)]; /* as main's, in an array that ends with NULL */

	now = *row;
	listed = 0;
	notes_begin();
	options = (struct options){.status_fd = -1, .operand = operand};
	options.value[OPTION_SESSION] = row->session;
	for (size_t i = 0; i < COUNT(operand); i++) {
		operand[i] = (char *)(uintptr_t)row->operand[i];
		options.operands += operand[i] != NULL;
	}
	assert_int_equal(stop_run(&options), 42);
	notes_are("stop", row->log);
}

#define EACH(run) "each with [label=dev.cofferdam.run=" run "] " run "\n"
#define EACH_OF(key) "open\neach with [label=dev.cofferdam.session=" key "] any\n"
#define REMOVE(id, run) "remove " id " of " run "\n"
#define ADOPT(run) "adopt " run " at unix:///e, 4\n"
#define STOPPED(id, run) REMOVE(id, run) ADOPT(run) "drop\n"

static void stops_what_is_named(void **state)
{
	static const struct outcome rows[] = {
		{.operand = {R1}, .found = 1, .log = "open\n" EACH(R1) STOPPED("a", R1) "end\n"},
		{.operand = {R1}, .found = 2,
		 .log = "open\n" EACH(R1) STOPPED("a", R1) STOPPED("b", R1) "end\n"},
		{.operand = {R1, R2, R3}, .found = 1,
		 .log = "open\n" EACH(R1) STOPPED("a", R1) EACH(R2) STOPPED("a", R2) EACH(R3)
		        STOPPED("a", R3) "end\n"},
		{.session = "k", .found = 1, .log = EACH_OF("k") STOPPED("a", R3) "end\n"},
		{.session = K64 K64, .found = 2,
		 .log = EACH_OF(K64 K64) STOPPED("a", R3) STOPPED("b", R3) "end\n"},
		/* One that stays keeps its claim; one that a launch owns is the launch's. */
		{.operand = {R1}, .found = 2, .stays = true,
		 .log = "open\n" EACH(R1) REMOVE("a", R1) REMOVE("b", R1) "end\n"},
		{.operand = {R1}, .found = 1, .owned = true,
		 .log = "open\n" EACH(R1) REMOVE("a", R1) ADOPT(R1) "end\n"},
		/* None is a failure; what could not be listed is on record already. */
		{.operand = {R1, R2}, .found = 0,
		 .log = "open\n" EACH(R1) "fail run.unknown: run " R1 "\n" EACH(R2)
		        "fail run.unknown: run " R2 "\nend\n"},
		{.session = "k", .found = 0,
		 .log = EACH_OF("k") "fail run.unknown: session k\nend\n"},
		{.operand = {R1}, .found = -1, .log = "open\n" EACH(R1) "end\n"},
		{.session = "k", .found = -1, .log = EACH_OF("k") "end\n"},
		/* A signal, before the first, and between two. */
		{.operand = {R1}, .found = 1, .signal = 15, .log = "open\nend\n"},
		{.operand = {R1, R2, R3}, .found = 1, .signal = 1, .after = 2,
		 .log = "open\n" EACH(R1) STOPPED("a", R1) EACH(R2) STOPPED("a", R2) "end\n"},
		{.operand = {R1}, .found = 1, .closed = true, .log = "open\nend\n"},
		{.session = "k", .found = 1, .closed = true, .log = "open\nend\n"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		stops(&rows[i]);
}

#define USAGE(text) "fail usage: cofferdam stop: " text "\nend\n"
#define NOT_BOTH USAGE("name runs, or --session KEY, and not both")

static void is_told_runs_or_a_session(void **state)
{
	static const struct outcome rows[] = {
		{.log = NOT_BOTH},
		{.session = "k", .operand = {R1}, .log = NOT_BOTH},
		{.session = "k", .operand = {R1, R2}, .log = NOT_BOTH},
		{.session = " k ", .operand = {"x"}, .log = NOT_BOTH},
		/* Of several that are wrong the first, and then none is stopped. */
		{.operand = {"x"}, .log = USAGE("x")},
		{.operand = {R1, "x"}, .log = USAGE("x")},
		{.operand = {"x", R1}, .log = USAGE("x")},
		{.operand = {R1, "x", "y"}, .log = USAGE("x")},
		{.operand = {R1 "0"}, .log = USAGE(R1 "0")},
		{.operand = {R1 "g"}, .log = USAGE(R1 "g")},
		{.operand = {"0011223344556677889"}, .log = USAGE("0011223344556677889")},
		{.operand = {"0112233445566778899aabbccddeeff"},
		 .log = USAGE("0112233445566778899aabbccddeeff")},
		{.operand = {"00112233445566778899aabbccddeefF"},
		 .log = USAGE("00112233445566778899aabbccddeefF")},
		{.operand = {"g0112233445566778899aabbccddeeff"},
		 .log = USAGE("g0112233445566778899aabbccddeeff")},
		{.operand = {""}, .log = USAGE("")},
		{.session = "", .log = USAGE("")},
		{.session = "-k", .log = USAGE("-k")},
		{.session = "k ", .log = USAGE("k ")},
		{.session = " ", .log = USAGE(" ")},
		{.session = "k,l", .log = USAGE("k,l")},
		{.session = K64 K64 "k", .log = USAGE(K64 K64 "k")},
		/* A blank that is not the last. */
		{.session = " k", .found = 1, .log = EACH_OF(" k") STOPPED("a", R3) "end\n"},
		{.session = "k l", .found = 1, .log = EACH_OF("k l") STOPPED("a", R3) "end\n"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		stops(&rows[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stops_what_is_named), cmocka_unit_test(is_told_runs_or_a_session),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

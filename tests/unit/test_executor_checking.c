/* SPDX-License-Identifier: ISC */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "../../executor/checking.h"
#include "pass_on.h"

/*
 * The check of a container: docker piped into policy, twice and at once.  Here
 * nothing runs: what would is told how to end, and writes down that it was
 * called, in which order and with what.
 */

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))
#define CHILDREN 4
#define SECONDS 30

static struct run run;

/* How a case goes. */
struct end {
	bool ended;
	int status;
};
struct row {
	const char *name;
	const char *pipes; /* by check: 'y' or, it cannot be made, 'n' */
	enum child_wait wait;
	struct end child[CHILDREN]; /* of the first wait: docker, policy, docker, policy */
	const char *closed; /* by check: 'y', docker has closed its end of the pipe */
	struct end late; /* of a docker that is waited for again */
	const char *calls; /* from behind the first wait to the first child_finish */
	enum life_event result;
};
static const struct row *row;

static char calls[4096];

static __attribute__((format(printf, 1, 2))) void note(const char *format, ...)
{
	const size_t len = strlen(calls);
	va_list words;

	va_start(words, format);
	(void)vsnprintf(calls + len, sizeof(calls) - len, format, words);
	va_end(words);
	assert_true(strlen(calls) + 1 < sizeof(calls));
}

/* ---- the library's ---- */

static bool faked; /* these are a test's own calls otherwise */
static size_t pipes; /* asked for */
static size_t first; /* the first check's number */

int pipe2(int fd[2], int flags)
{
	PASS_ON(pipe2);

	if (!faked)
		return passed_on(fd, flags);
	assert_int_equal(flags, O_CLOEXEC);
	if (row->pipes[first + pipes++] == 'n') {
		note("no pipe\n");
		return -1;
	}
	fd[0] = (int)(first + pipes) * 10;
	fd[1] = fd[0] + 1;
	note("pipe %d %d\n", fd[0], fd[1]);
	return 0;
}

int close(int fd)
{
	PASS_ON(close);

	if (!faked)
		return passed_on(fd);
	note("close %d\n", fd);
	return 0;
}

/* ---- docker.h and child.h ---- */

static int number(const struct child *child)
{
	const ptrdiff_t i = child - run.child;

	assert_true(i >= 0 && i < CHILDREN);
	return (int)i;
}

static void begins(struct child *child)
{
	const int i = number(child);

	*child = (struct child){100 + i, false, true, 55, -1, 200 + i};
}

void docker_start(struct child *child, const struct docker *docker, enum docker_command command,
                  const char *subject, int in, int out)
{
	assert_ptr_equal(docker, &run.docker);
	assert_ptr_equal(subject, run.id);
	note("%d docker %s %d %d\n", number(child),
	     command == DOCKER_LIST ? "list" : command == DOCKER_INSPECT ? "inspect" : "other",
	     in, out);
	begins(child);
}

static unsigned waits;

/* What could not be started is there already when the first wait begins. */
static void assert_begun(const struct child *child)
{
	const int i = number(child);

	if (row->pipes[i / 2] == 'n') {
		assert_int_equal(child->pid, 0);
		assert_true(child->ended);
		assert_true(child->vital);
		assert_int_equal(child->status, CHILD_LOST);
		assert_int_equal(child->out, -1);
		assert_int_equal(child->err, -1);
	} else {
		assert_int_equal(child->pid, 100 + i);
	}
}

enum child_wait child_wait(struct child *set, size_t count, int fd, short events,
                           int64_t deadline)
{
	note("wait %d+%zu %d %d %lld\n", number(set), count, fd, events, (long long)deadline);
	for (size_t i = 0; waits == 0 && i < count; i++) {
		const struct end *end = &row->child[number(&set[i])];

		assert_begun(&set[i]);
		if (set[i].pid > 0) {
			set[i].ended = end->ended;
			set[i].status = end->ended ? end->status : 55;
		}
	}
	if (waits++ == 0)
		return row->wait;
	assert_int_equal(count, 1);
	if (!set->ended && row->late.ended) {
		set->ended = true;
		set->status = row->late.status;
	}
	return set->ended ? CHILD_DONE : CHILD_DEADLINE;
}

void child_finish(struct child *child)
{
	note("finish %d\n", number(child));
}

/* ---- run.h ---- */

int64_t run_after(unsigned seconds)
{
	note("after %u\n", seconds);
	return 5000000000 + seconds;
}

void run_policy(struct run *of, struct child *child, const char *command, int count,
                const int *fd)
{
	assert_ptr_equal(of, &run);
	note("%d policy %s", number(child), command);
	for (int i = 0; i < count; i++)
		note(" %d", fd[i]);
	note("\n");
	begins(child);
}

bool run_far_end_closed(int fd)
{
	note("closed %d\n", fd);
	return (fd == 10 && row->closed[0] == 'y') || (fd == 20 && row->closed[1] == 'y');
}

bool run_stopped(struct run *of, enum child_wait wait, enum executor_reason late,
                 const char *what, unsigned seconds)
{
	assert_ptr_equal(of, &run);
	note("stopped %s, %s, %u: %d\n", say_row(late)->reason, what, seconds, wait);
	return wait == CHILD_SIGNAL || wait == CHILD_DEADLINE;
}

enum life_event run_fail_child(struct run *of, enum executor_reason why,
                               const struct child *child, const char *what)
{
	assert_ptr_equal(of, &run);
	note("fail %d %s %s\n", number(child), say_row(why)->reason, what);
	return E_FAIL;
}

enum life_event run_judged(struct run *of, const struct child *child)
{
	assert_ptr_equal(of, &run);
	note("judged %d\n", number(child));
	return child->status == 0 ? E_OK : E_FAIL;
}

void run_close(int *fd, size_t count)
{
	note("run_close");
	for (size_t i = 0; i < count; i++)
		note(" %d", fd[i]);
	note("\n");
}

/* ---- the cases ---- */

/* Ends of children: well, as policy does when it refuses, badly, by a signal, not. */
#define WELL {true, 0}
#define SAYS_NO {true, 77}
#define BROKE {true, 1}
#define LOST {true, CHILD_LOST}
#define RUNS {false, 0}
#define NEVER {true, CHILD_LOST} /* it could not be started */

#define IN_TIME "stopped policy.deadline, docker container ls, inspect, 30: "
#define DOCKER_LATE "stopped docker.deadline, docker container ls, inspect, 30: "
#define DONE IN_TIME "0\n"
#define AGAIN(docker) "wait " docker "+1 -1 0 5000000030\n"
#define LIST_FAILED "fail 0 docker.failed docker container ls\n"
#define INSPECT_FAILED "fail 2 docker.failed docker container inspect\n"

static const struct row both[] = {
	{"both are well", "yy", CHILD_DONE, {WELL, WELL, WELL, WELL}, "yy", RUNS,
	 DONE "closed 10\n" AGAIN("0") "judged 1\nclosed 20\n" AGAIN("2") "judged 3\n", E_OK},
	{"a pipe's other end is held by somebody", "yy", CHILD_DONE, {WELL, WELL, WELL, WELL},
	 "nn", RUNS, DONE "closed 10\njudged 1\nclosed 20\njudged 3\n", E_OK},

	{"admit refuses what it has read", "yy", CHILD_FAILED, {WELL, SAYS_NO, WELL, WELL}, "yy",
	 RUNS, IN_TIME "1\nclosed 10\n" AGAIN("0") "judged 1\n", E_FAIL},
	{"verify does, and admit is not done", "yy", CHILD_FAILED, {WELL, RUNS, WELL, SAYS_NO},
	 "yy", RUNS, IN_TIME "1\nclosed 20\n" AGAIN("2") "judged 3\n", E_FAIL},
	{"both do: the first is heard", "yy", CHILD_FAILED, {WELL, SAYS_NO, WELL, SAYS_NO}, "yy",
	 RUNS, IN_TIME "1\nclosed 10\n" AGAIN("0") "judged 1\n", E_FAIL},
	{"admit refuses before the end", "yy", CHILD_FAILED, {RUNS, SAYS_NO, RUNS, RUNS}, "nn",
	 RUNS, DOCKER_LATE "1\nclosed 10\njudged 1\n", E_FAIL},
	{"and docker does not mind", "yy", CHILD_FAILED, {WELL, SAYS_NO, RUNS, RUNS}, "nn",
	 RUNS, DOCKER_LATE "1\nclosed 10\njudged 1\n", E_FAIL},

	{"docker is about to fail", "yy", CHILD_FAILED, {RUNS, SAYS_NO, WELL, WELL}, "yy", BROKE,
	 DOCKER_LATE "1\nclosed 10\n" AGAIN("0") LIST_FAILED, E_FAIL},
	{"docker is about to be lost", "yy", CHILD_FAILED, {WELL, WELL, RUNS, SAYS_NO}, "yy", LOST,
	 DOCKER_LATE "1\nclosed 10\n" AGAIN("0") "judged 1\nclosed 20\n" AGAIN("2") INSPECT_FAILED,
	 E_FAIL},
	{"docker is about to end well", "yy", CHILD_FAILED, {RUNS, SAYS_NO, WELL, WELL}, "yy", WELL,
	 DOCKER_LATE "1\nclosed 10\n" AGAIN("0") "judged 1\n", E_FAIL},
	{"docker closes its output and goes on", "yy", CHILD_FAILED, {RUNS, SAYS_NO, WELL, WELL},
	 "yy", RUNS, DOCKER_LATE "1\nclosed 10\n" AGAIN("0") "judged 1\n", E_FAIL},

	{"docker failed, and policy saw too little", "yy", CHILD_FAILED,
	 {BROKE, SAYS_NO, WELL, WELL}, "yy", RUNS,
	 IN_TIME "1\nclosed 10\n" AGAIN("0") LIST_FAILED, E_FAIL},
	{"docker failed, and policy was content", "yy", CHILD_FAILED, {BROKE, WELL, WELL, WELL},
	 "yy", RUNS, IN_TIME "1\nclosed 10\n" AGAIN("0") LIST_FAILED, E_FAIL},
	{"docker failed, and policy is not done", "yy", CHILD_FAILED, {BROKE, RUNS, RUNS, RUNS},
	 "yy", RUNS, DOCKER_LATE "1\n" LIST_FAILED, E_FAIL},
	{"inspect failed, the rest is not done", "yy", CHILD_FAILED, {RUNS, RUNS, LOST, RUNS},
	 "yy", RUNS, DOCKER_LATE "1\n" INSPECT_FAILED, E_FAIL},
	{"both dockers failed", "yy", CHILD_FAILED, {BROKE, RUNS, BROKE, RUNS}, "yy", RUNS,
	 IN_TIME "1\n" LIST_FAILED, E_FAIL},

	{"policy broke, and so docker failed", "yy", CHILD_FAILED, {BROKE, BROKE, WELL, WELL},
	 "nn", RUNS, IN_TIME "1\nclosed 10\njudged 1\n", E_FAIL},
	{"policy was lost, and docker failed", "yy", CHILD_FAILED, {WELL, WELL, BROKE, LOST},
	 "yy", RUNS, IN_TIME "1\nclosed 10\n" AGAIN("0") "judged 1\nclosed 20\n" AGAIN("2")
	 "judged 3\n", E_FAIL},
	{"policy broke, and docker is about to fail", "yy", CHILD_FAILED,
	 {RUNS, LOST, WELL, WELL}, "yy", BROKE,
	 DOCKER_LATE "1\nclosed 10\n" AGAIN("0") "judged 1\n", E_FAIL},
	{"policy's last status before those that refuse", "yy", CHILD_FAILED,
	 {BROKE, {true, 64}, WELL, WELL}, "nn", RUNS,
	 IN_TIME "1\nclosed 10\njudged 1\n", E_FAIL},

	{"a signal", "yy", CHILD_SIGNAL, {WELL, WELL, WELL, WELL}, "yy", RUNS, IN_TIME "4\n",
	 E_FAIL},
	{"a signal while docker fails", "yy", CHILD_SIGNAL, {BROKE, RUNS, RUNS, RUNS}, "yy", RUNS,
	 DOCKER_LATE "4\n", E_FAIL},
	{"nothing ends in time", "yy", CHILD_DEADLINE, {RUNS, RUNS, RUNS, RUNS}, "nn", RUNS,
	 DOCKER_LATE "3\n", E_FAIL},
	{"the policies do not", "yy", CHILD_DEADLINE, {WELL, RUNS, WELL, RUNS}, "yy", RUNS,
	 IN_TIME "3\n", E_FAIL},
	{"ls does not", "yy", CHILD_DEADLINE, {RUNS, RUNS, WELL, WELL}, "ny", RUNS,
	 DOCKER_LATE "3\n", E_FAIL},
	{"inspect does not", "yy", CHILD_DEADLINE, {WELL, WELL, RUNS, RUNS}, "yn", RUNS,
	 DOCKER_LATE "3\n", E_FAIL},
};

/* With checks that cannot be begun: that is as if policy had broken. */
static const struct row begun[] = {
	{"no pipe at all", "nn", CHILD_FAILED, {NEVER, NEVER, NEVER, NEVER}, "nn", RUNS,
	 "after 30\nno pipe\nno pipe\n"
	 "wait 0+4 -1 0 5000000030\n" IN_TIME "1\nclosed -1\njudged 1\n"
	 "finish 0\nfinish 1\nfinish 2\nfinish 3\nrun_close -1 -1\n", E_FAIL},
	{"none for ls", "ny", CHILD_FAILED, {NEVER, NEVER, WELL, WELL}, "ny", RUNS,
	 "after 30\nno pipe\n"
	 "pipe 20 21\n2 docker inspect -1 21\n3 policy verify 20 -1 -1 66\nclose 21\n"
	 "wait 0+4 -1 0 5000000030\n" IN_TIME "1\nclosed -1\njudged 1\n"
	 "finish 0\nfinish 1\nfinish 2\nfinish 3\nrun_close -1 20\n", E_FAIL},
	{"none for inspect", "yn", CHILD_FAILED, {WELL, WELL, NEVER, NEVER}, "nn", RUNS,
	 "after 30\npipe 10 11\n0 docker list -1 11\n1 policy admit 10 -1 -1 66\nclose 11\n"
	 "no pipe\n"
	 "wait 0+4 -1 0 5000000030\n" IN_TIME "1\nclosed 10\njudged 1\nclosed -1\njudged 3\n"
	 "finish 0\nfinish 1\nfinish 2\nfinish 3\nrun_close 10 -1\n", E_FAIL},
};

static const struct row again[] = {
	{"it is well", "?y", CHILD_DONE, {RUNS, RUNS, WELL, WELL}, "?y", RUNS,
	 DONE "closed 20\n" AGAIN("2") "judged 3\n", E_OK},
	{"verify refuses", "?y", CHILD_FAILED, {RUNS, RUNS, WELL, SAYS_NO}, "?y", RUNS,
	 IN_TIME "1\nclosed 20\n" AGAIN("2") "judged 3\n", E_FAIL},
	{"docker failed", "?y", CHILD_FAILED, {RUNS, RUNS, BROKE, RUNS}, "?y", RUNS,
	 IN_TIME "1\n" INSPECT_FAILED, E_FAIL},
	{"a signal", "?y", CHILD_SIGNAL, {RUNS, RUNS, RUNS, RUNS}, "?y", RUNS,
	 DOCKER_LATE "4\n", E_FAIL},
	{"policy is late", "?y", CHILD_DEADLINE, {RUNS, RUNS, WELL, RUNS}, "?y", RUNS,
	 IN_TIME "3\n", E_FAIL},
	{"docker is late", "?y", CHILD_DEADLINE, {RUNS, RUNS, RUNS, RUNS}, "?y", RUNS,
	 DOCKER_LATE "3\n", E_FAIL},
};

#define BEGIN_LIST "pipe 10 11\n0 docker list -1 11\n1 policy admit 10 -1 -1 66\nclose 11\n"
#define BEGIN_INSPECT \
	"pipe 20 21\n2 docker inspect -1 21\n3 policy verify 20 -1 -1 66\nclose 21\n"

static enum life_event checked(enum life_event (*check)(struct run *), size_t from)
{
	enum life_event result;

	calls[0] = '\0';
	waits = 0;
	pipes = 0;
	first = from;
	faked = true;
	result = check(&run);
	faked = false;
	return result;
}

/* One case of those; before and after: what every one of them calls around its own. */
static void assert_case(const struct row *of, size_t from, const char *before,
                        const char *after)
{
	char expected[sizeof(calls)];

	for (int verified = 0; verified < 2; verified++) {
		enum life_event (*check)(struct run *) =
			from == 0 ? checking_container : checking_again;

		row = of;
		memset(&run, 0, sizeof(run));
		run.id = run.removal.id;
		run.plan = 66;
		run.order.control_seconds = SECONDS;
		run.verified = verified;
		memset(run.frame, verified, sizeof(run.frame)); /* is no child, whatever it holds */
		snprintf(expected, sizeof(expected), "%s%s%s", before, of->calls, after);
		if (checked(check, from) != of->result || strcmp(calls, expected) != 0)
			fail_msg("%s:\n%s\ninstead of\n%s", of->name, calls, expected);
		/* whose container it is stays known once it is */
		assert_int_equal(run.verified, from == 0 ? of->result == E_OK : verified);
	}
}

static void checks_both(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(both); i++)
		assert_case(&both[i], 0,
		            "after 30\n" BEGIN_LIST BEGIN_INSPECT "wait 0+4 -1 0 5000000030\n",
		            "finish 0\nfinish 1\nfinish 2\nfinish 3\nrun_close 10 20\n");
}

static void needs_pipes(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(begun); i++)
		assert_case(&begun[i], 0, "", "");
}

static void checks_once_more(void **state)
{
	static const struct row none = {
		"no pipe", "?n", CHILD_FAILED, {RUNS, RUNS, NEVER, NEVER}, "?n", RUNS,
		"after 30\nno pipe\nwait 2+2 -1 0 5000000030\n"
		IN_TIME "1\nclosed -1\njudged 3\nfinish 2\nfinish 3\nrun_close -1\n", E_FAIL,
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(again); i++)
		assert_case(&again[i], 1,
		            "after 30\n" BEGIN_INSPECT "wait 2+2 -1 0 5000000030\n",
		            "finish 2\nfinish 3\nrun_close 20\n");
	assert_case(&none, 1, "", "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(checks_both),
		cmocka_unit_test(needs_pipes),
		cmocka_unit_test(checks_once_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

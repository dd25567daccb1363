/* SPDX-License-Identifier: ISC */
#include "worker.h"

#include <bsd/stdlib.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "checking.h"

#define RESULT_WORDS 5 /* of DOCKER_RESULT */
#define LOOK_MS 50 /* between looks at a container that is to start */

/* What DOCKER_RESULT prints: status, running, out of memory, exit code, restarts. */
struct result {
	char line[128];
	char *word[RESULT_WORDS];
};

/* Cuts the line into its words; it must hold nothing else. */
static bool cut(struct result *result)
{
	char *rest = result->line;

	for (int i = 0; i < RESULT_WORDS; i++)
		if ((result->word[i] = strsep(&rest, i < RESULT_WORDS - 1 ? " " : "\n")) == NULL)
			return false;
	return rest != NULL && rest[0] == '\0';
}

static bool is(const struct result *result, const char *status)
{
	return strcmp(result->word[0], status) == 0;
}

/* Asks docker, with child[2]. */
static enum life_event ask(struct run *run, struct result *result)
{
	unsigned seconds = run->order.control_seconds;
	struct child *child = &run->child[2];
	enum life_event event = E_FAIL;
	enum child_wait wait;

	docker_start(child, &run->docker, DOCKER_RESULT, run->id, -1, -1);
	wait = child_wait(child, 1, -1, 0, run_after(seconds));
	child_read(child->out, result->line, sizeof(result->line));
	if (run_stopped(run, wait, WHY_DOCKER_DEADLINE, "docker container inspect", seconds))
		event = E_FAIL;
	else if (child->status == 0 && cut(result))
		event = E_OK;
	else if (removal_look(&run->removal, run_after(seconds)) == REMOVAL_GONE)
		run_fail(run, WHY_WORKER_VANISHED, "%s", "docker does not know it any more");
	else
		run_fail_child(run, WHY_DOCKER_FAILED, child, "docker container inspect");
	child_finish(child);
	return event;
}

/* ---- while it runs ---- */

/* Takes what there is of the worker's standard error.  Bytes that do not fit, and
 * a file that cannot be written, do not stop the worker. */
static void hear(struct run *run)
{
	static char bytes[CHILD_PAGE];
	const int memfd = run->child[0].err;
	const size_t room = WORKER_STDERR_MAX + 1 - child_length(memfd);
	const ssize_t n = read(run->hear, bytes, sizeof(bytes));
	const size_t kept = n <= 0 ? 0 : (size_t)n < room ? (size_t)n : room;

	if (n <= 0)
		run_close(&run->hear, 1);
	(void)!write(memfd, bytes, kept);
	if (run->worker_err >= 0)
		(void)!write(run->worker_err, bytes, kept);
}

/* Waits for the first so many children. */
static enum child_wait attend(struct run *run, size_t count, int64_t deadline)
{
	enum child_wait wait;

	while ((wait = child_wait(run->child, count, run->hear, POLLIN, deadline)) == CHILD_READY)
		hear(run);
	return wait;
}

/* Starts docker, child[0], between these and the worker. */
static bool attach(struct run *run, int in, int out)
{
	int link[2];

	if (pipe2(link, O_CLOEXEC) != 0)
		return false;
	docker_attach(&run->child[0], &run->docker, run->id, in, out, link[1]);
	close(link[1]);
	run->hear = link[0];
	run->child[0].vital = false; /* its status is never the worker's */
	return fcntl(run->hear, F_SETFL, O_NONBLOCK) == 0 &&
	       (run->worker_err < 0 || ftruncate(run->worker_err, 0) == 0);
}

/* child[1] is reply.  Our own copy of the pipe's read end tells a reply that was
 * refused at its end, docker being gone, from one that was refused before it; and
 * docker gets no EPIPE. */
static enum child_wait attend_turn(struct run *run, int64_t deadline)
{
	enum child_wait wait;
	int link[2];

	if (pipe2(link, O_CLOEXEC) != 0 || lseek(run->turn, 0, SEEK_SET) != 0 ||
	    !attach(run, run->turn, link[1])) {
		run_fail_errno(run, WHY_START, "the worker");
		return CHILD_FAILED;
	}
	run_policy(run, &run->child[1], "reply", 3, (const int[]){link[0], -1, -1});
	run_close(&link[1], 1);
	wait = attend(run, 2, deadline);
	run->refused = wait == CHILD_FAILED && !run_far_end_closed(link[0]);
	if (wait == CHILD_FAILED && !run->refused)
		wait = attend(run, 1, deadline);
	run_close(&link[0], 1);
	child_stop(&run->child[1]);
	return wait;
}

/* Waits until docker has started the container, verifies it once more, and tells the
 * caller.  One that has already ended is the result's business: nobody saw it run. */
static enum life_event see_running(struct run *run)
{
	unsigned seconds = run->order.control_seconds;
	int64_t deadline = run_after(seconds);
	struct result result;

	do {
		enum child_wait wait = attend(run, 1, child_now() + LOOK_MS);

		if (wait == CHILD_DONE)
			return E_OK;
		if (wait == CHILD_SIGNAL)
			return run_signalled(run);
		if (ask(run, &result) != E_OK)
			return E_FAIL;
	} while (is(&result, "created") && child_now() < deadline);
	if (is(&result, "created"))
		return run_fail(run, WHY_DOCKER_DEADLINE, "docker container start, %u seconds",
		                seconds);
	if (!is(&result, "running"))
		return E_OK;
	if (checking_again(run) != E_OK)
		return E_FAIL;
	run_tell(run, "running");
	return E_OK;
}

static enum child_wait attend_session(struct run *run, int64_t deadline)
{
	if (!attach(run, STDIN_FILENO, STDOUT_FILENO)) {
		run_fail_errno(run, WHY_START, "the worker");
		return CHILD_FAILED;
	}
	if (see_running(run) != E_OK)
		return CHILD_FAILED;
	return attend(run, 1, deadline);
}

enum life_event worker_start(struct run *run)
{
	unsigned seconds = run->order.turn_seconds;
	int64_t deadline = seconds == 0 ? INT64_MAX : run_after(seconds);
	enum executor_reason late;
	enum child_wait wait;

	if (!run_same_roots(run))
		return run_fail(run, WHY_IDENTITY, "%s", "before the worker was started");
	if (run_log(run, AUDIT_LAUNCH, 0) != E_OK)
		return E_FAIL;
	wait = run->session ? attend_session(run, deadline) : attend_turn(run, deadline);
	late = run->child[0].ended ? WHY_POLICY_DEADLINE : WHY_TURN_DEADLINE;
	child_stop(&run->child[0]);
	if (run->hear >= 0) /* what it said last: a pipe holds no more, see pipe(7) */
		hear(run);
	run_close(&run->hear, 1);
	return run_stopped(run, wait, late, "the worker", seconds) || run->status != 0
	               ? E_FAIL
	               : E_OK;
}

/* ---- its end ---- */

static enum life_event failed(struct run *run)
{
	char said[SAY_CHILD / 2];
	size_t len = child_read(run->child[0].err, said, sizeof(said));

	return run_fail(run, WHY_WORKER_EXIT, "exit status %d%s%s%s", run->exit_code,
	                run->oom ? ", out of memory as docker says" : "",
	                len > 0 ? "; it says: " : "", said);
}

/* Docker is gone and the worker is not.  A session's docker ends when nobody reads what
 * the worker writes; that is not the engine's fault. */
static enum life_event left(struct run *run)
{
	const bool unread = run->session && run_far_end_closed(STDOUT_FILENO);

	return run_fail_child(run, unread ? WHY_OUTPUT : WHY_DOCKER_FAILED, &run->child[0],
	                      "docker left while the worker runs");
}

/* What the end of the worker means.  A reply that was refused while the worker was
 * still writing ended it; else the worker's own failure comes before what is wrong with
 * its reply.  Success needs everybody to agree on it. */
static enum life_event judge(struct run *run, const struct result *result)
{
	const struct child *docker = &run->child[0], *reply = &run->child[1];
	const char *error = NULL;

	if (run->refused)
		return run_judged(run, reply);
	if (is(result, "created"))
		return run_fail_child(run, WHY_WORKER_NEVER_RAN, docker, "docker container start");
	if (!run->session && child_length(docker->err) > WORKER_STDERR_MAX)
		return run_fail(run, WHY_WORKER_STDERR, "more than %d bytes", WORKER_STDERR_MAX);
	if (is(result, "removing") || strcmp(result->word[4], "0") != 0)
		return run_fail(run, WHY_WORKER_VANISHED, "%s, %s restarts", result->word[0],
		                result->word[4]);
	run->exit_code = (int)strtonum(result->word[3], 0, INT_MAX, &error);
	if (!is(result, "exited") || strcmp(result->word[1], "false") != 0 || error != NULL)
		return left(run);
	run->ended = true;
	run->oom = strcmp(result->word[2], "true") == 0;
	run_log(run, AUDIT_EXIT, run->exit_code);
	if (run->exit_code != 0)
		return failed(run);
	if (docker->status != 0) /* who knows what of the reply is lost */
		return run_fail_child(run, WHY_DOCKER_FAILED, docker, "docker container start");
	if (!run->session && (run_judged(run, reply) != E_OK || !run_take_line(run, reply)))
		return E_FAIL;
	return run_same_roots(run)
	               ? E_OK
	               : run_fail(run, WHY_IDENTITY, "%s", "after the worker ended");
}

enum life_event worker_result(struct run *run)
{
	struct result result;

	return ask(run, &result) == E_OK ? judge(run, &result) : E_FAIL;
}

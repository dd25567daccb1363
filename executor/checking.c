/* SPDX-License-Identifier: ISC */
#include "checking.h"

#include <fcntl.h>
#include <unistd.h>

/* Each: docker, piped into policy. */
static const struct {
	enum docker_command command;
	const char *words; /* for people */
	const char *judge;
} checks[] = {
	{DOCKER_LIST, "docker container ls", "admit"},
	{DOCKER_INSPECT, "docker container inspect", "verify"},
};

#define CHECKS (sizeof(checks) / sizeof(checks[0]))

/* Returns our own copy of the pipe's read end.  A check that cannot be started has
 * ended with CHILD_LOST. */
static int begin(struct run *run, size_t i)
{
	struct child *docker = &run->child[2 * i], *policy = docker + 1;
	int link[2];

	if (pipe2(link, O_CLOEXEC) != 0) {
		*docker = (struct child){0, true, true, CHILD_LOST, -1, -1};
		*policy = *docker;
		return -1;
	}
	docker_start(docker, &run->docker, checks[i].command, run->id, -1, link[1]);
	run_policy(run, policy, checks[i].judge, 4, (const int[]){link[0], -1, -1, run->plan});
	close(link[1]);
	return link[0];
}

/* A check that has ended, or was stopped because another failed.  A reader that
 * failed at the end of what docker wrote only saw too little when docker failed: it
 * closed the pipe before it can be waited for.  Our copy of the read end tells that
 * from a reader that failed before; and docker gets no EPIPE.  A reader that broke
 * comes first. */
static enum life_event judge(struct run *run, size_t i, int from, int64_t deadline)
{
	struct child *docker = &run->child[2 * i], *policy = docker + 1;
	const bool broke = policy->ended && policy->status != 0 && !say_refuses(policy->status);

	if (policy->ended && run_far_end_closed(from))
		child_wait(docker, 1, -1, 0, deadline);
	if (docker->ended && docker->status != 0 && !broke)
		return run_fail_child(run, WHY_DOCKER_FAILED, docker, checks[i].words);
	return policy->ended ? run_judged(run, policy) : E_OK;
}

/* The checks from the first given on. */
static enum life_event check(struct run *run, size_t first)
{
	unsigned seconds = run->order.control_seconds;
	int64_t deadline = run_after(seconds);
	enum executor_reason late = WHY_POLICY_DEADLINE;
	enum life_event event = E_OK;
	enum child_wait wait;
	int from[CHECKS];

	for (size_t i = first; i < CHECKS; i++)
		from[i] = begin(run, i);
	wait = child_wait(&run->child[2 * first], 2 * (CHECKS - first), -1, 0, deadline);
	for (size_t i = first; i < CHECKS; i++)
		late = run->child[2 * i].ended ? late : WHY_DOCKER_DEADLINE;
	if (run_stopped(run, wait, late, "docker container ls, inspect", seconds))
		event = E_FAIL;
	for (size_t i = first; event == E_OK && i < CHECKS; i++)
		event = judge(run, i, from[i], deadline);
	for (size_t i = 2 * first; i < 2 * CHECKS; i++)
		child_finish(&run->child[i]);
	run_close(&from[first], CHECKS - first);
	return event;
}

enum life_event checking_container(struct run *run)
{
	enum life_event event = check(run, 0);

	run->verified = event == E_OK;
	return event;
}

enum life_event checking_again(struct run *run)
{
	return check(run, 1);
}

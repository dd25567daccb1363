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

/* A check that cannot be started has ended with CHILD_LOST. */
static void begin(struct run *run, size_t i)
{
	struct child *docker = &run->child[2 * i], *policy = docker + 1;
	int link[2];

	if (pipe2(link, O_CLOEXEC) != 0) {
		*docker = (struct child){0, true, true, CHILD_LOST, -1, -1};
		*policy = *docker;
		return;
	}
	docker_start(docker, &run->docker, checks[i].command, run->id, -1, link[1]);
	run_policy(run, policy, checks[i].judge, 4, (const int[]){link[0], -1, -1, run->plan});
	run_close(link, 2);
}

/* A check that has ended, or was stopped because another failed; docker's failure
 * comes before its reader's, which only saw too little, but not before a reader
 * that broke, which docker only noticed. */
static enum life_event judge(struct run *run, size_t i)
{
	const struct child *docker = &run->child[2 * i], *policy = docker + 1;
	const bool reader_broke = policy->ended && !run_sane(policy);

	if (docker->ended && docker->status != 0 && !reader_broke)
		return run_fail_child(run, WHY_DOCKER_FAILED, docker, checks[i].words);
	return policy->ended ? run_judged(run, policy) : E_OK;
}

/* The checks from the first given on. */
static enum life_event check(struct run *run, size_t first)
{
	unsigned seconds = run->order.control_seconds;
	const struct child *docker = run->child;
	enum life_event event = E_OK;
	enum executor_reason late;
	enum child_wait wait;

	for (size_t i = first; i < CHECKS; i++)
		begin(run, i);
	wait = child_wait(&run->child[2 * first], 2 * (CHECKS - first), -1, 0,
	                  run_after(seconds));
	late = docker[0].ended && docker[2].ended ? WHY_POLICY_DEADLINE : WHY_DOCKER_DEADLINE;
	if (run_stopped(run, wait, late, "docker container ls, inspect", seconds))
		event = E_FAIL;
	for (size_t i = first; event == E_OK && i < CHECKS; i++)
		event = judge(run, i);
	for (size_t i = 2 * first; i < 2 * CHECKS; i++)
		child_finish(&run->child[i]);
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

/* SPDX-License-Identifier: ISC */

/*
 * Nothing is created, and nothing started, but right after every root was still
 * the same directory (roots_exact); what is created is the argv of the order.
 *
 * create() of launch.c and worker_start() of worker.c are the real ones.  What a
 * worker's start does is replaced: here it only matters that it is not reached.
 */
#include "../executor/launch.c"
#include "../executor/worker.c"

#include "nondet.h"
#include "run_stubs.h"

static struct run run;
static bool asked, same; /* run_same_roots: its last answer */
static bool sent, started;

bool run_same_roots(const struct run *of)
{
	PROVE(of == &run, "this run's");
	asked = true;
	same = any_bool();
	return same;
}

void docker_create(struct child *child, const struct docker *docker, const char *const *argv)
{
	PROVE(asked && same, "the roots were looked at, and are the same");
	PROVE(docker == &run.docker && argv == run.order.argv.at, "the argv of the order");
	PROVE(run.sent, "from here on there may be a container");
	sent = true;
	*child = (struct child){1, true, true, any_bool() ? 0 : CHILD_LOST, -1, -1};
}

enum child_wait some_attend(struct run *of, int64_t deadline);

enum child_wait some_attend(struct run *of, int64_t deadline)
{
	(void)of;
	(void)deadline;
	PROVE(asked && same, "the roots were looked at, and are the same");
	started = true;
	return (enum child_wait)any_up_to(CHILD_SIGNAL);
}

enum life_event some_created(struct run *of, struct child *child);

enum life_event some_created(struct run *of, struct child *child)
{
	(void)of;
	(void)child;
	return (enum life_event)any_up_to(E_UNSURE);
}

enum child_wait child_wait(struct child *set, size_t count, int fd, short events, int64_t deadline)
{
	(void)set;
	(void)count;
	(void)fd;
	(void)events;
	(void)deadline;
	return (enum child_wait)any_up_to(CHILD_SIGNAL);
}

void child_stop(struct child *child)
{
	child->ended = true;
}

enum life_event run_log(struct run *of, enum audit_event what, int code)
{
	(void)of;
	(void)code;
	PROVE(what != AUDIT_LAUNCH || (asked && same), "a launch is not on record before that");
	return any_bool() ? E_OK : E_FAIL;
}

static void any_run(void)
{
	run.session = any_bool();
	run.hear = -1;
	run.sent = false;
	run.status = any_bool() ? 0 : 70;
	asked = same = sent = started = false;
}

PROOF(create_if_same)
{
	enum life_event event;

	any_run();
	event = create(&run);
	PROVE(sent == run.sent, "what was sent is known");
	PROVE(sent || event == E_FAIL, "without it there is nothing to be unsure of");
	PROVE(asked && (same || !sent), "no create but of the same roots");
}

PROOF(start_if_same)
{
	enum life_event event;

	any_run();
	event = worker_start(&run);
	PROVE(started || event == E_FAIL, "a run that was not started has failed");
	PROVE(asked && (same || !started), "no start but of the same roots");
}

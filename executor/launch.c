/* SPDX-License-Identifier: ISC */
#include "launch.h"

#include <bsd/string.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "checking.h"
#include "deciding.h"
#include "run.h"
#include "worker.h"

#define LOCK_PAUSE_MS 20

/* Orphans of earlier runs: at most so many, and so long for each, a launch. */
#define REAP_MOST 4
#define REAP_SECONDS 5

/* ---- before the lock ---- */

/* What is written to is neither what is read nor the other one that is written to:
 * the worker's log is emptied, and what a worker says there is its own affair. */
static bool apart(const struct run *run)
{
	const int fd[] = {run->turn_in, run->config, STDOUT_FILENO, run->audit, run->worker_err};
	struct stat written, other;
	bool good = true;

	for (size_t i = 3; i < sizeof(fd) / sizeof(fd[0]); i++)
		for (size_t j = 0; j < i; j++)
			good = good && (fstat(fd[i], &written) != 0 || fstat(fd[j], &other) != 0 ||
			                written.st_dev != other.st_dev ||
			                written.st_ino != other.st_ino);
	return good;
}

/* The terminal is another job's, whose input is not for us: our children, in sessions
 * of their own, could take it away (the kernel stops only those of the terminal's). */
static bool background(int fd)
{
	const pid_t group = tcgetpgrp(fd); /* -1: not a terminal, or not ours to ask */

	return group > 0 && group != getpgrp();
}

static enum life_event open_files(struct run *run)
{
	const char *const *value = run->options->value;
	const char *turn = value[OPTION_TURN], *config = self_config_named(value[OPTION_CONFIG]);
	enum executor_reason why;

	if (turn != NULL && strcmp(turn, "-") != 0)
		run->turn_in = open(turn, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (run->turn_in < 0 ||
	    (run->turn_in > STDERR_FILENO && fcntl(run->turn_in, F_SETFL, O_RDONLY) != 0))
		return run_fail_errno(run, WHY_TURN_OPEN, turn);
	if (background(run->turn_in))
		return run_fail(run, WHY_USAGE, "%s",
		                "the input is a terminal, and this is a background job");
	self_home(run->home, sizeof(run->home));
	why = self_config(config, run->home, &run->config, run->config_path);
	if (why == WHY_CONFIG_OPEN)
		return run_fail_errno(run, why, config != NULL ? config : SELF_PLACES);
	if (why != WHY_NONE)
		return run_fail(run, why, "%s", run->config_path);
	if (value[OPTION_AUDIT] != NULL &&
	    (why = self_audit(value[OPTION_AUDIT], &run->audit, run->audit_path)) != WHY_NONE)
		return run_fail_errno(run, why, value[OPTION_AUDIT]);
	run->events.fd = run->audit;
	if (value[OPTION_WORKER_STDERR] != NULL &&
	    (why = self_log(value[OPTION_WORKER_STDERR], &run->worker_err,
	                    run->worker_err_path)) != WHY_NONE)
		return run_fail_errno(run, why, value[OPTION_WORKER_STDERR]);
	if (!apart(run))
		return run_fail(run, WHY_USAGE, "%s", "one file is named for two purposes");
	if ((why = self_docker(value[OPTION_DOCKER], run->docker.path)) != WHY_NONE)
		return run_fail(run, why, "%s", run->docker.path);
	if ((why = self_policy(&run->policy, run->own_path, run->policy_path)) != WHY_NONE)
		return run_fail(run, why, "%s", run->policy_path);
	if (state_open(&run->state, value[OPTION_STATE_DIR], run->home) != STATE_OK)
		return run_fail(run, WHY_STATE_UNSAFE, "%s: %s", run->state.path, run->state.wrong);
	if (state_holds(&run->state, run->audit_path) ||
	    state_holds(&run->state, run->worker_err_path))
		return run_fail(run, WHY_USAGE, "%s", "a file that the state directory needs is named");
	return E_OK;
}

static enum life_event set_up(struct run *run)
{
	enum executor_reason why = self_start();

	run->turn_in = STDIN_FILENO;
	run->config = run->audit = run->worker_err = run->policy = run->turn = run->plan = -1;
	run->hear = -1;
	run->id = run->removal.id;
	run->events.fd = -1;
	if (why != WHY_NONE)
		return run_fail(run, why, "%s", "");
	if (run->options->status_fd >= 0 && fcntl(run->options->status_fd, F_GETFD) < 0)
		return run_fail_errno(run, WHY_USAGE, "--status-fd");
	if (open_files(run) != E_OK)
		return E_FAIL;
	docker_environment(&run->docker, run->state.path, run->state.id);
	if (!state_random(run->nonce, run->nonce_hex) || !child_set_up() || chdir("/") != 0)
		return run_fail_errno(run, WHY_START, "setting up");
	return E_OK;
}

/* ---- under the lock ---- */

/* One orphan, whose claim state_reap holds for us. */
static bool reap_one(void *context, const char *nonce, bool created)
{
	struct run *run = context;
	struct removal removal;

	removal_init(&removal, &run->docker, nonce);
	removal.control_seconds = removal.remove_seconds = REAP_SECONDS;
	if (child_signal() != 0 || !removal_run(&removal, !created))
		return false;
	if (removal.id[0] != '\0' &&
	    !audit_say(&run->events, AUDIT_REAPED, nonce, removal.id, 0, false) &&
	    !run->order.audit_optional)
		run_fail_errno(run, WHY_AUDIT_EVENT, "writing");
	return true;
}

/* What killed runs have left; what does not go now is left for the next. */
static enum life_event reap(struct run *run)
{
	state_reap(&run->state, REAP_MOST, REMOVAL_QUIET_MS / 1000 + 1, run->docker.endpoint,
	           reap_one, run);
	return run->status != 0 ? E_FAIL : E_OK;
}

static enum life_event take_lock(struct run *run)
{
	unsigned seconds = run->order.lock_seconds;
	int64_t deadline = run_after(seconds);
	enum state_result result;
	char holder[64];

	while ((result = state_lock(&run->state, run->nonce_hex)) == STATE_HELD) {
		if (child_wait(NULL, 0, -1, 0, child_now() + LOCK_PAUSE_MS) == CHILD_SIGNAL)
			return run_signalled(run);
		if (child_now() < deadline)
			continue;
		return run_fail(run, WHY_LOCK_HELD, "waited %u seconds; pid and run: %.*s", seconds,
		            (int)state_holder(&run->state, holder, sizeof(holder)), holder);
	}
	return result == STATE_OK ? E_OK : run_fail_errno(run, WHY_STATE_UNSAFE, "lock");
}

static enum life_event take_claim(struct run *run)
{
	if (state_claim(&run->state, run->nonce_hex, run->docker.endpoint))
		return E_OK;
	return run_fail_errno(run, WHY_CLAIM, run->nonce_hex);
}

static enum life_event guard(struct run *run)
{
	if (guardian_start(&run->guardian, &run->state, &run->removal, &run->events))
		return E_OK;
	return run_fail_errno(run, WHY_START, "the guardian");
}

/* What became of the create command.  A failure that docker reports as the
 * engine's answer, or that is the CLI's own (125), made nothing; after any
 * other the engine may still make the container. */
static enum life_event created(struct run *run, struct child *child)
{
	static const char engine_says[] = "Error response from daemon: ";
	char line[sizeof("created \n") + CONTAINER_ID];

	if (child->status != 0) {
		char text[sizeof(engine_says)];

		child_read(child->err, text, sizeof(text));
		run_fail_child(run, WHY_DOCKER_CREATE, child, "docker container create");
		return child->status == 125 || strcmp(text, engine_says) == 0 ? E_FAIL : E_UNSURE;
	}
	if (!removal_take_id(&run->removal, child)) {
		run_fail(run, WHY_DOCKER_CREATE, "%s", "docker printed something else than an id");
		return E_UNSURE;
	}
	if (child_length(child->err) > 0)
		return run_fail_child(run, WHY_DOCKER_WARNING, child, "docker container create");
	(void)snprintf(line, sizeof(line), "created %s\n", run->id);
	return state_claim_say(&run->state, line) ? E_OK : run_fail_errno(run, WHY_CLAIM, "writing");
}

static enum life_event create(struct run *run)
{
	struct child *child = &run->child[0];
	unsigned seconds = run->order.control_seconds;
	enum life_event event = E_UNSURE;
	enum child_wait wait;

	if (!run_same_roots(run))
		return run_fail(run, WHY_IDENTITY, "%s", "before the container was created");
	run->sent = true;
	docker_create(child, &run->docker, run->order.argv.at);
	wait = child_wait(child, 1, -1, 0, run_after(seconds));
	if (!run_stopped(run, wait, WHY_DOCKER_DEADLINE, "docker container create", seconds))
		event = created(run, child);
	child_finish(child);
	return event;
}

static enum life_event unlock(struct run *run)
{
	return state_unlock(&run->state) ? E_OK : run_fail(run, WHY_LOCK_CHANGED, "%s", "lock");
}

/* ---- the end ---- */

static enum life_event remove_container(struct run *run)
{
	bool settle = run->action == A_SETTLE;

	child_shield(true);
	if (!run->sent)
		return E_OK;
	if (!run->verified) { /* what create printed may be anybody's, and ours yet to come */
		settle = settle || run->id[0] != '\0';
		run->id = memset(run->removal.id, 0, sizeof(run->removal.id));
	}
	if (removal_run(&run->removal, settle)) {
		run_log(run, AUDIT_REMOVED, run->status); /* gone it is, whatever the file says */
		return E_OK;
	}
	run_log(run, AUDIT_RESIDUAL, 80);
	return run_fail(run, WHY_RESIDUAL, "container %s, named %s, of run %s at %s",
	                run->id[0] != '\0' ? run->id : "of unknown id",
	                run->order.argv.at[GATE_AT_NAME], run->nonce_hex, run->docker.endpoint);
}

static enum life_event drop_claim(struct run *run)
{
	return state_drop_claim(&run->state) ? E_OK : run_fail(run, WHY_LOCK_CHANGED, "%s", "claim");
}

/* The reply, now that the container is gone. */
static enum life_event release(struct run *run)
{
	child_shield(false);
	if (run->status != 0) /* of an audit line: there is no success without it */
		return E_FAIL;
	if (run->session)
		return E_OK;
	if (child_put(STDOUT_FILENO, run->line, run->line_bytes, INT64_MAX))
		return E_OK;
	return child_signal() != 0 ? run_signalled(run)
	                           : run_fail_errno(run, WHY_OUTPUT, "standard output");
}

static enum life_event report(struct run *run);

static const struct {
	const char *name;
	enum life_event (*act)(struct run *run);
	bool always; /* even when a signal has come */
} actions[A_COUNT] = {
	[A_SET_UP] = {"set_up", set_up, false},
	[A_READ_TURN] = {"turn", deciding_turn, false},
	[A_DECIDE] = {"decide", deciding_argv, false},
	[A_GATE] = {"gate", deciding_gate, false},
	[A_REAP] = {"reap", reap, false},
	[A_LOCK] = {"lock", take_lock, false},
	[A_CLAIM] = {"claim", take_claim, false},
	[A_GUARD] = {"guard", guard, false},
	[A_CREATE] = {"create", create, false},
	[A_CHECK] = {"check", checking_container, false},
	[A_UNLOCK] = {"unlock", unlock, true},
	[A_START] = {"start", worker_start, false},
	[A_RESULT] = {"result", worker_result, false},
	[A_REMOVE] = {"remove", remove_container, true},
	[A_SETTLE] = {"settle", remove_container, true},
	[A_DROP_CLAIM] = {"drop_claim", drop_claim, true},
	[A_RELEASE] = {"release", release, false},
	[A_REPORT] = {"report", report, true},
};

/* One JSON line of integers and words of ours: how the run went. */
static int status_line(const struct run *run, char *to, size_t cap)
{
	char ms[A_COUNT * 32] = "", worker[64] = "null,\"oom\":null";
	size_t at = 0;

	for (int i = 0; i < A_REPORT; i++)
		at += (size_t)snprintf(ms + at, sizeof(ms) - at, "%s\"%s\":%lld",
		                       i > 0 ? "," : "", actions[i].name, (long long)run->ms[i]);
	if (run->ended)
		(void)snprintf(worker, sizeof(worker), "%d,\"oom\":%s", run->exit_code,
		         run->oom ? "true" : "false");
	return snprintf(to, cap,
	                "{\"run\":\"%s\",\"phase\":\"%s\",\"code\":\"%s\",\"reason\":\"%s\","
	                "\"exit\":%d,\"signal\":%d,\"container_exit\":%s,\"ms\":{%s}}\n",
	                run->nonce_hex, run->status == 0 ? "done" : actions[run->phase].name,
	                run->code, run->reason, run->status, child_signal(), worker, ms);
}

static enum life_event report(struct run *run)
{
	static char line[2048];
	const int fd = run->options->status_fd;
	const char *text;
	size_t len;
	bool told;

	/* One that came while a failed run was cleaned up. */
	if (run->status != 0 && child_signal() != 0 &&
	    say_graver(run->status, 128 + child_signal()) != run->status)
		run_signalled(run);
	text = say_text(&len);
	child_shield(true);
	guardian_end(&run->guardian);
	told = child_put(STDERR_FILENO, text, len, child_now() + RUN_SAY_MS);
	len = fd >= 0 ? (size_t)status_line(run, line, sizeof(line)) : 0;
	return child_put(fd, line, len, child_now() + RUN_SAY_MS) && told ? E_OK : E_FAIL;
}

static int launch(const struct options *options, bool session)
{
	static struct run run;
	struct life_step step = life_next(S_NEW, E_OK);

	run.options = options;
	run.session = session;
	while (step.action != A_END) {
		int64_t begun = child_now();
		enum life_event event;

		run.action = step.action;
		if (child_signal() != 0 && !actions[step.action].always)
			event = run_signalled(&run);
		else
			event = actions[step.action].act(&run);
		run.ms[step.action] = child_now() - begun;
		step = life_next(step.next, event);
	}
	return run.status;
}

int launch_run(const struct options *options)
{
	return launch(options, false);
}

int launch_session(const struct options *options)
{
	return launch(options, true);
}

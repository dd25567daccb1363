/* SPDX-License-Identifier: ISC */
#include "launch.h"

#include <bsd/stdlib.h>
#include <bsd/string.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../ipc/channel.h"
#include "../ipc/frame.h"
#include "audit.h"
#include "child.h"
#include "docker.h"
#include "gate.h"
#include "guardian.h"
#include "life.h"
#include "removal.h"
#include "say.h"
#include "self.h"
#include "state.h"

/* Deadlines before the config's own limits are known, and of the report. */
#define READ_MS 30000 /* the caller's turn */
#define DECIDE_MS 60000 /* decide, with docker's answers */
#define ASK_SECONDS 25 /* one answer of docker's */
#define SAY_MS 5000

#define LOCK_PAUSE_MS 20

/* Orphans of earlier runs: at most so many, and so long for each, a launch. */
#define REAP_MOST 4
#define REAP_SECONDS 5

#define RESULT_WORDS 5 /* of DOCKER_RESULT */

_Static_assert(TURN_BYTES_MAX == 2097152, "policy_start says it in words");

struct run {
	const struct options *options;
	enum life_action action; /* the current one */
	int64_t ms[A_COUNT];

	int turn_in; /* descriptors, -1: none */
	int config;
	int audit;
	int policy;
	int turn; /* sealed memfds */
	int plan;
	size_t turn_bytes;

	char home[SELF_PATH];
	char config_path[SELF_PATH];
	char audit_path[SELF_PATH];
	char own_path[SELF_PATH];
	char policy_path[SELF_PATH];
	uint8_t nonce[NONCE_BYTES];
	char nonce_hex[ID_HEX + 1];
	struct state state;
	struct docker docker;
	struct child child[4];
	uint8_t frame[FRAME_MAX]; /* order points into it */
	size_t frame_bytes; /* of the LAUNCH frame */
	struct order order;
	struct gate gate; /* what it says */

	struct audit events;
	struct guardian guardian;
	struct removal removal;
	const char *id; /* removal's */
	bool sent; /* docker was told to create */
	bool verified; /* the id is that of a container with our labels */

	int status; /* the exit status so far, and why */
	char code[SAY_WORD];
	char reason[SAY_WORD];
	enum life_action phase;
	char docker_says[SAY_CHILD / 4]; /* the last answer's standard error */
	bool refused; /* the reply was, while the worker still wrote it */
	bool ended; /* the worker did, with: */
	bool oom;
	int exit_code;
};

/* ---- what went wrong ---- */

/* The gravest failure gives the exit status; of equals the first. */
static void record(struct run *run, int status, const char *code, const char *reason)
{
	if (say_graver(run->status, status) == run->status)
		return;
	run->status = status;
	run->phase = run->action;
	strlcpy(run->code, code, sizeof(run->code));
	strlcpy(run->reason, reason, sizeof(run->reason));
}

__attribute__((format(printf, 3, 4))) static enum life_event
fail(struct run *run, enum executor_reason why, const char *format, ...)
{
	const struct say_row *row = say_row(why);
	va_list words;

	va_start(words, format);
	say_about(why, run->options->value[OPTION_JSON] != NULL, format, words);
	va_end(words);
	record(run, row->status + (why == WHY_SIGNALLED ? child_signal() : 0), row->code,
	       row->reason);
	return E_FAIL;
}

static enum life_event fail_errno(struct run *run, enum executor_reason why, const char *what)
{
	return fail(run, why, "%s: %s", what, strerrordesc_np(errno));
}

/* With what the child wrote to its standard error. */
static enum life_event fail_child(struct run *run, enum executor_reason why,
                                  const struct child *child, const char *what)
{
	static char text[SAY_CHILD];

	child_read(child->err, text, sizeof(text));
	return fail(run, why, "%s%s%s", what, text[0] != '\0' ? ": " : "", text);
}

/* One line in the audit file, if there is one. */
static enum life_event log_event(struct run *run, enum audit_event what, int code)
{
	bool oom = what == AUDIT_EXIT && run->oom;

	if (audit_say(&run->events, what, run->nonce_hex, run->id, code, oom) ||
	    run->order.audit_optional)
		return E_OK;
	return fail_errno(run, WHY_AUDIT_EVENT, "writing");
}

static enum life_event signalled(struct run *run)
{
	return fail(run, WHY_SIGNALLED, "signal %d", child_signal());
}

/* True when a wait was cut short, which is then on record. */
static bool stopped(struct run *run, enum child_wait wait, enum executor_reason late,
                    const char *what, unsigned seconds)
{
	if (wait == CHILD_SIGNAL)
		signalled(run);
	if (wait == CHILD_DEADLINE)
		fail(run, late, "%s, %u seconds%s%s", what, seconds,
		     late == WHY_DOCKER_DEADLINE ? ", " : "",
		     late == WHY_DOCKER_DEADLINE ? run->docker.endpoint : "");
	return wait == CHILD_SIGNAL || wait == CHILD_DEADLINE;
}

/* A policy process that ended: content, refused, or broken. */
static enum life_event judged(struct run *run, const struct child *child)
{
	static const char refusals[] = {65, 66, 69, 70, 75, 76, 77, 78};
	static char text[SAY_CHILD];
	char code[SAY_WORD], reason[SAY_WORD];
	size_t len;

	if (child->status == 0)
		return E_OK;
	len = child_read(child->err, text, sizeof(text));
	if (child->status == CHILD_LOST || !memchr(refusals, child->status, sizeof(refusals)))
		return fail(run, WHY_POLICY_CRASHED, "exit status %d %s", child->status, text);
	say_refusal(text, len, code, reason);
	record(run, child->status, code, reason);
	return E_FAIL;
}

/* ---- children ---- */

static int64_t after(unsigned seconds)
{
	return child_now() + (int64_t)seconds * 1000;
}

static void policy_start(struct run *run, struct child *child, const char *command, int count,
                         const int *fd)
{
	static const char *const env[] = {"LC_ALL=C", NULL};
	const char *argv[5] = {"cofferdam-policy", command};
	int words = 2;
	struct child_plan plan = {"", run->policy, argv, env, count, {0}};

	if (run->action == A_READ_TURN) /* the gate compares with limits.turnBytes */
		argv[words++] = "--max-bytes=2097152";
	if (run->options->value[OPTION_JSON] != NULL)
		argv[words] = "--json";
	memcpy(plan.fd, fd, (size_t)count * sizeof(fd[0]));
	child_start(child, &plan);
}

static void close_all(int *fd, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (fd[i] >= 0)
			close(fd[i]);
		fd[i] = -1;
	}
}

/* The roots are still the directories that policy examined. */
static bool same_roots(const struct run *run)
{
	static char path[PATH_BYTES_MAX + 1];
	bool same = true;

	for (unsigned i = 0; i < run->order.root_count; i++) {
		const struct identity *root = &run->order.root[i];
		struct stat st;
		int fd;

		gate_root(&run->gate, i, path);
		fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
		same = same && fd >= 0 && fstat(fd, &st) == 0 && st.st_dev == root->dev &&
		       st.st_ino == root->ino;
		if (fd >= 0)
			close(fd);
	}
	return same;
}

/* ---- before the lock ---- */

static enum life_event open_files(struct run *run)
{
	const char *const *value = run->options->value;
	const char *turn = value[OPTION_TURN], *config = value[OPTION_CONFIG];
	enum executor_reason why;

	if (turn != NULL && strcmp(turn, "-") != 0)
		run->turn_in = open(turn, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (run->turn_in < 0 ||
	    (run->turn_in > STDERR_FILENO && fcntl(run->turn_in, F_SETFL, O_RDONLY) != 0))
		return fail_errno(run, WHY_TURN_OPEN, turn);
	self_home(run->home, sizeof(run->home));
	why = self_config(config, run->home, &run->config, run->config_path);
	if (why == WHY_CONFIG_OPEN)
		return fail_errno(run, why, config != NULL ? config : "the usual places");
	if (why != WHY_NONE)
		return fail(run, why, "%s", run->config_path);
	if (value[OPTION_AUDIT] != NULL &&
	    (why = self_audit(value[OPTION_AUDIT], &run->audit, run->audit_path)) != WHY_NONE)
		return fail_errno(run, why, value[OPTION_AUDIT]);
	run->events.fd = run->audit;
	if ((why = self_docker(value[OPTION_DOCKER], run->docker.path)) != WHY_NONE)
		return fail(run, why, "%s", run->docker.path);
	if ((why = self_policy(&run->policy, run->own_path, run->policy_path)) != WHY_NONE)
		return fail(run, why, "%s", run->policy_path);
	if (state_open(&run->state, value[OPTION_STATE_DIR], run->home) != STATE_OK)
		return fail(run, WHY_STATE_UNSAFE, "%s", run->state.path);
	return E_OK;
}

static enum life_event set_up(struct run *run)
{
	enum executor_reason why = self_start();

	run->turn_in = STDIN_FILENO;
	run->config = run->audit = run->policy = run->turn = run->plan = -1;
	run->id = run->removal.id;
	run->events.fd = -1;
	if (why != WHY_NONE)
		return fail(run, why, "%s", "");
	if (run->options->status_fd >= 0 && fcntl(run->options->status_fd, F_GETFD) < 0)
		return fail_errno(run, WHY_USAGE, "--status-fd");
	if (open_files(run) != E_OK)
		return E_FAIL;
	docker_environment(&run->docker, run->state.path, run->state.id);
	if (!state_random(run->nonce, run->nonce_hex) || !child_set_up() || chdir("/") != 0)
		return fail_errno(run, WHY_START, "setting up");
	return E_OK;
}

static enum life_event read_turn(struct run *run)
{
	struct child *child = &run->child[0];
	int64_t deadline = child_now() + READ_MS;
	enum child_wait wait;

	*child = (struct child){.out = -1, .err = -1, .ended = true};
	wait = child_wait(NULL, 0, run->turn_in, POLLIN, deadline); /* a FIFO needs a writer */
	if (wait == CHILD_READY) {
		policy_start(run, child, "turn", 3, (const int[]){run->turn_in, -1, -1});
		wait = child_wait(child, 1, -1, 0, deadline);
	}
	if (stopped(run, wait, WHY_POLICY_DEADLINE, "reading the turn", READ_MS / 1000) ||
	    judged(run, child) != E_OK) {
		child_finish(child);
		return E_FAIL;
	}
	run->turn = child->out;
	run->turn_bytes = child_length(child->out);
	child->out = -1;
	child_finish(child);
	return child_seal(run->turn) ? E_OK : fail_errno(run, WHY_START, "sealing the turn");
}

static const char *variable(const char *name)
{
	const char *value = getenv(name);

	return value != NULL && value[0] != '\0' ? value : NULL;
}

static size_t put_facts(struct run *run)
{
	struct facts facts = {
		.mode = MODE_TURN,
		.uid = getuid(),
		.gid = getgid(),
		.home = run->home,
		.state_dir = run->state.path,
		.state_id = run->state.id,
		.docker_host = variable("DOCKER_HOST"),
		.ssh_auth_sock = variable("SSH_AUTH_SOCK"),
		.executor = run->own_path,
		.policy = run->policy_path,
		.docker = run->docker.path,
		.config = run->config_path,
		.audit = run->audit >= 0 ? run->audit_path : NULL,
		.name = run->options->value[OPTION_NAME],
	};

	memcpy(facts.nonce, run->nonce, sizeof(facts.nonce));
	return frame_put_facts(run->frame, sizeof(run->frame), &facts);
}

/* Runs the docker command that a question asks for, straight into the pipe that
 * decide reads, and tells decide how it ended.  False: on record. */
static bool answer(struct run *run, int fd, enum docker_command command,
                   const struct ask_image *ask, int *pipe)
{
	struct answered answered = {.question = FRAME_ASK_CONTEXT, .status = 255};
	struct child *child = &run->child[1];
	enum child_wait wait;
	uint8_t frame[64];
	size_t len;

	if (command == DOCKER_IMAGE)
		answered.question = FRAME_ASK_IMAGE;
	docker_start(child, &run->docker, command, ask->reference, -1, *pipe);
	close_all(pipe, 1);
	wait = child_wait(child, 1, -1, 0, after(ASK_SECONDS));
	if (child->ended && child->status != 0)
		child_read(child->err, run->docker_says, sizeof(run->docker_says));
	if (child->ended && child->status != CHILD_LOST)
		answered.status = (uint8_t)child->status;
	child_finish(child);
	if (stopped(run, wait, WHY_DOCKER_DEADLINE, "docker inspect", ASK_SECONDS))
		return false;
	len = frame_put_answered(frame, sizeof(frame), &answered);
	return channel_send(fd, frame, len) == 0 || errno == EPIPE;
}

/* ASK_IMAGE: what it names goes onto a command line. */
static bool read_ask(struct run *run, size_t len, struct ask_image *ask)
{
	return frame_get_ask_image(run->frame, len, ask) == FRAME_OK &&
	       gate_endpoint(ask->endpoint) && gate_image_reference(ask->reference) &&
	       strlcpy(run->docker.endpoint, ask->endpoint, sizeof(run->docker.endpoint)) <
	               sizeof(run->docker.endpoint);
}

/* One message of decide's: a question that is answered, or the launch. */
static bool take_message(struct run *run, int fd, unsigned kind, size_t len, int *pipes)
{
	struct ask_image ask = {"", ""};

	if (kind == FRAME_ASK_CONTEXT && frame_get_ask_context(run->frame, len) == FRAME_OK)
		return answer(run, fd, DOCKER_CONTEXT, &ask, &pipes[0]);
	if (kind == FRAME_ASK_IMAGE && read_ask(run, len, &ask))
		return answer(run, fd, DOCKER_IMAGE, &ask, &pipes[1]);
	if (kind == FRAME_LAUNCH && frame_get_order(run->frame, len, &run->order) == FRAME_OK) {
		run->frame_bytes = len;
		return true;
	}
	fail(run, WHY_POLICY_PROTOCOL, "message of kind %u, %zu bytes", kind, len);
	return false;
}

/* The conversation with decide, to its end of file.  The order of the kinds is
 * the order in which they may come: each is above the last, LAUNCH is the last. */
static bool converse(struct run *run, int fd, int *pipes, int64_t deadline)
{
	size_t facts = put_facts(run);
	unsigned last = 0;

	if (facts == 0 || (channel_send(fd, run->frame, facts) != 0 && errno != EPIPE)) {
		fail(run, WHY_START, "%s", "the facts do not fit into a message");
		return false;
	}
	for (;;) {
		enum child_wait wait = child_wait(NULL, 0, fd, POLLIN, deadline);
		unsigned kind;
		ssize_t len;

		if (stopped(run, wait, WHY_POLICY_DEADLINE, "the decision", DECIDE_MS / 1000))
			return false;
		len = channel_receive(fd, run->frame, sizeof(run->frame), 0);
		if (len == 0 || (len < 0 && errno == ECONNRESET))
			return true;
		kind = len < 0 ? 0 : frame_kind(run->frame, (size_t)len);
		if (kind <= last) {
			fail(run, WHY_POLICY_PROTOCOL, "message of kind %u after %u", kind, last);
			return false;
		}
		last = kind;
		if (!take_message(run, fd, kind, (size_t)len, pipes))
			return false;
	}
}

static enum life_event decided(struct run *run, struct child *child, int fd, int *pipes)
{
	int64_t deadline = child_now() + DECIDE_MS;
	bool ended = converse(run, fd, pipes, deadline);
	enum child_wait wait;

	close_all(pipes, 2);
	if (!ended)
		return E_FAIL;
	wait = child_wait(child, 1, -1, 0, deadline);
	if (stopped(run, wait, WHY_POLICY_DEADLINE, "the decision", DECIDE_MS / 1000))
		return E_FAIL;
	if (judged(run, child) == E_OK)
		return run->frame_bytes > 0
		               ? E_OK
		               : fail(run, WHY_POLICY_PROTOCOL, "%s", "it ended without a launch");
	if (run->docker_says[0] != '\0') /* a second line, and not the reason */
		fail(run, WHY_DOCKER_FAILED, "%s", run->docker_says);
	return E_FAIL;
}

static enum life_event decide(struct run *run)
{
	struct child *child = &run->child[0];
	enum life_event event;
	int fd[2], context[2], image[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fd) != 0 ||
	    pipe2(context, O_CLOEXEC) != 0 || pipe2(image, O_CLOEXEC) != 0)
		return fail_errno(run, WHY_START, "socketpair, pipe");
	policy_start(run, child, "decide", 9,
	             (const int[]){-1, -1, -1, fd[1], run->config, context[0], image[0],
	                           run->audit, run->turn});
	close_all(&fd[1], 1);
	close_all(&context[0], 1);
	close_all(&image[0], 1);
	event = decided(run, child, fd[0], (int[]){context[1], image[1]});
	child_finish(child);
	close_all(&fd[0], 1);
	return event;
}

static enum life_event check_launch(struct run *run)
{
	const struct order *order = &run->order;
	const char *const *word = order->argv.at;
	struct docker *docker = &run->docker;
	const struct gate_known known = {
		.nonce_hex = run->nonce_hex,
		.state_id = run->state.id,
		.endpoint = docker->endpoint[0] != '\0' ? docker->endpoint : NULL,
		.mode = "turn",
	};
	enum gate_result result = gate_check(&run->gate, order, &known);

	if (result != GATE_OK)
		return fail(run, WHY_GATE, "check %d at %u", (int)result, run->gate.where);
	if (run->turn_bytes > order->turn_bytes)
		return fail(run, WHY_TURN_SIZE, "%zu bytes", run->turn_bytes);
	strlcpy(docker->endpoint, word[GATE_AT_ENDPOINT], sizeof(docker->endpoint));
	removal_init(&run->removal, docker, run->nonce_hex);
	run->removal.control_seconds = order->control_seconds;
	run->removal.remove_seconds = order->remove_seconds;
	run->plan = child_document(run->frame, run->frame_bytes);
	return run->plan >= 0 ? E_OK : fail_errno(run, WHY_START, "the plan");
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
	    !audit_say(&run->events, AUDIT_REAPED, nonce, removal.id, 0, false))
		fail_errno(run, WHY_AUDIT_EVENT, "writing");
	return true;
}

/* What killed runs have left; what does not go now is left for the next. */
static enum life_event reap(struct run *run)
{
	state_reap(&run->state, REAP_MOST, REMOVAL_QUIET_MS / 1000 + 1, run->docker.endpoint,
	           reap_one, run);
	return E_OK;
}

static enum life_event take_lock(struct run *run)
{
	unsigned seconds = run->order.lock_seconds;
	int64_t deadline = after(seconds);
	enum state_result result;
	char holder[64];

	while ((result = state_lock(&run->state, run->nonce_hex)) == STATE_HELD) {
		if (child_wait(NULL, 0, -1, 0, child_now() + LOCK_PAUSE_MS) == CHILD_SIGNAL)
			return signalled(run);
		if (child_now() < deadline)
			continue;
		return fail(run, WHY_LOCK_HELD, "waited %u seconds; pid and run: %.*s", seconds,
		            (int)state_holder(&run->state, holder, sizeof(holder)), holder);
	}
	return result == STATE_OK ? E_OK : fail_errno(run, WHY_STATE_UNSAFE, "lock");
}

static enum life_event take_claim(struct run *run)
{
	if (state_claim(&run->state, run->nonce_hex, run->docker.endpoint))
		return E_OK;
	return fail_errno(run, WHY_CLAIM, run->nonce_hex);
}

static enum life_event guard(struct run *run)
{
	if (guardian_start(&run->guardian, &run->state, &run->removal, &run->events))
		return E_OK;
	return fail_errno(run, WHY_START, "the guardian");
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
		fail_child(run, WHY_DOCKER_CREATE, child, "docker container create");
		return child->status == 125 || strcmp(text, engine_says) == 0 ? E_FAIL : E_UNSURE;
	}
	if (!removal_take_id(&run->removal, child)) {
		fail(run, WHY_DOCKER_CREATE, "%s", "docker printed something else than an id");
		return E_UNSURE;
	}
	if (child_length(child->err) > 0)
		return fail_child(run, WHY_DOCKER_WARNING, child, "docker container create");
	(void)snprintf(line, sizeof(line), "created %s\n", run->id);
	return state_claim_say(&run->state, line) ? E_OK : fail_errno(run, WHY_CLAIM, "writing");
}

static enum life_event create(struct run *run)
{
	struct child *child = &run->child[0];
	unsigned seconds = run->order.control_seconds;
	enum life_event event = E_UNSURE;
	enum child_wait wait;

	if (!same_roots(run))
		return fail(run, WHY_IDENTITY, "%s", "before the container was created");
	run->sent = true;
	docker_create(child, &run->docker, run->order.argv.at);
	wait = child_wait(child, 1, -1, 0, after(seconds));
	if (!stopped(run, wait, WHY_DOCKER_DEADLINE, "docker container create", seconds))
		event = created(run, child);
	child_finish(child);
	return event;
}

/* Of four processes, two pipes, the first that failed; docker before its reader,
 * which only saw too little. */
static enum life_event checked(struct run *run)
{
	for (size_t i = 0; i < 4; i++) {
		const struct child *child = &run->child[i];

		if (!child->ended || child->status == 0)
			continue;
		if (i % 2 == 0 && child[1].ended && child[1].status == CHILD_LOST)
			continue; /* its reader was killed, which it only noticed */
		return i % 2 == 1 ? judged(run, child)
		                  : fail_child(run, WHY_DOCKER_FAILED, child,
		                               i == 0 ? "docker container ls"
		                                      : "docker container inspect");
	}
	return E_OK;
}

static enum life_event check(struct run *run)
{
	struct child *child = run->child;
	unsigned seconds = run->order.control_seconds;
	enum life_event event = E_FAIL;
	enum child_wait wait;
	int list[2], inspect[2];

	if (pipe2(list, O_CLOEXEC) != 0 || pipe2(inspect, O_CLOEXEC) != 0)
		return fail_errno(run, WHY_START, "pipe");
	docker_start(&child[0], &run->docker, DOCKER_LIST, NULL, -1, list[1]);
	policy_start(run, &child[1], "admit", 4, (const int[]){list[0], -1, -1, run->plan});
	docker_start(&child[2], &run->docker, DOCKER_INSPECT, run->id, -1, inspect[1]);
	policy_start(run, &child[3], "verify", 4, (const int[]){inspect[0], -1, -1, run->plan});
	close_all(list, 2);
	close_all(inspect, 2);
	wait = child_wait(child, 4, -1, 0, after(seconds));
	if (!stopped(run, wait, WHY_DOCKER_DEADLINE, "docker container ls, inspect", seconds))
		event = checked(run);
	for (size_t i = 0; i < 4; i++)
		child_finish(&child[i]);
	run->verified = event == E_OK;
	return event;
}

static enum life_event unlock(struct run *run)
{
	return state_unlock(&run->state) ? E_OK : fail(run, WHY_LOCK_CHANGED, "%s", "lock");
}

/* ---- the worker ---- */

/* child[0] docker, child[1] reply: kept for the judgement.  Our own copy of the
 * pipe's read end tells a reply that was refused at its end, docker being gone,
 * from one that was refused before it; and docker gets no EPIPE. */
static enum life_event start(struct run *run)
{
	struct child *child = run->child;
	unsigned seconds = run->order.turn_seconds;
	int64_t deadline = after(seconds);
	struct pollfd end = {.events = POLLIN};
	enum child_wait wait;
	int link[2];

	if (!same_roots(run))
		return fail(run, WHY_IDENTITY, "%s", "before the worker was started");
	if (log_event(run, AUDIT_LAUNCH, 0) != E_OK)
		return E_FAIL;
	if (pipe2(link, O_CLOEXEC) != 0 || lseek(run->turn, 0, SEEK_SET) != 0)
		return fail_errno(run, WHY_START, "pipe");
	docker_start(&child[0], &run->docker, DOCKER_START, run->id, run->turn, link[1]);
	policy_start(run, &child[1], "reply", 3, (const int[]){link[0], -1, -1});
	close_all(&link[1], 1);
	child[0].vital = false; /* its status is never the worker's */
	wait = child_wait(child, 2, -1, 0, deadline);
	end.fd = link[0];
	run->refused = wait == CHILD_FAILED && poll(&end, 1, 0) >= 0 &&
	               (end.revents & POLLHUP) == 0;
	if (wait == CHILD_FAILED && !run->refused)
		wait = child_wait(child, 1, -1, 0, deadline);
	close_all(&link[0], 1);
	child_stop(&child[0]);
	child_stop(&child[1]);
	return stopped(run, wait, WHY_TURN_DEADLINE, "the worker", seconds) ? E_FAIL : E_OK;
}

/* What the end of the worker means, by the words of DOCKER_RESULT: status,
 * running, out of memory, exit code, restarts.  The worker's own failure comes
 * before what is wrong with its reply; success needs everybody to agree on it. */
static enum life_event judge(struct run *run, char *const word[RESULT_WORDS])
{
	const struct child *docker = &run->child[0], *reply = &run->child[1];
	const char *error = NULL;

	if (strcmp(word[0], "created") == 0)
		return fail_child(run, WHY_WORKER_NEVER_RAN, docker, "docker container start");
	if (child_length(docker->err) > WORKER_STDERR_MAX)
		return fail(run, WHY_WORKER_STDERR, "more than %d bytes", WORKER_STDERR_MAX);
	if (strcmp(word[0], "removing") == 0 || strcmp(word[4], "0") != 0)
		return fail(run, WHY_WORKER_VANISHED, "%s, %s restarts", word[0], word[4]);
	run->exit_code = (int)strtonum(word[3], 0, INT_MAX, &error);
	if (strcmp(word[0], "exited") != 0 || strcmp(word[1], "false") != 0 || error != NULL)
		return run->refused ? judged(run, reply)
		                    : fail_child(run, WHY_DOCKER_FAILED, docker,
		                                 "docker left while the worker runs");
	run->ended = true;
	run->oom = strcmp(word[2], "true") == 0;
	log_event(run, AUDIT_EXIT, run->exit_code);
	if (run->exit_code != 0) {
		char said[SAY_CHILD / 2];
		size_t len = child_read(docker->err, said, sizeof(said));

		return fail(run, WHY_WORKER_EXIT, "exit status %d%s%s%s", run->exit_code,
		            run->oom ? ", out of memory as docker says" : "",
		            len > 0 ? "; it says: " : "", said);
	}
	if (judged(run, reply) != E_OK)
		return E_FAIL;
	if (docker->status != 0) /* the connection was lost, and who knows what with it */
		return fail_child(run, WHY_DOCKER_FAILED, docker, "docker container start");
	return same_roots(run)
	               ? E_OK
	               : fail(run, WHY_IDENTITY, "%s", "after the worker ended");
}

/* Cuts the line of DOCKER_RESULT into its words; it must hold nothing else. */
static bool cut(char *line, char *word[RESULT_WORDS])
{
	for (int i = 0; i < RESULT_WORDS; i++)
		if ((word[i] = strsep(&line, i < RESULT_WORDS - 1 ? " " : "\n")) == NULL)
			return false;
	return line != NULL && line[0] == '\0';
}

static enum life_event find_result(struct run *run)
{
	unsigned seconds = run->order.control_seconds;
	struct child *child = &run->child[2];
	enum life_event event = E_FAIL;
	enum child_wait wait;
	char line[128], *word[RESULT_WORDS];

	docker_start(child, &run->docker, DOCKER_RESULT, run->id, -1, -1);
	wait = child_wait(child, 1, -1, 0, after(seconds));
	child_read(child->out, line, sizeof(line));
	if (stopped(run, wait, WHY_DOCKER_DEADLINE, "docker container inspect", seconds))
		event = E_FAIL;
	else if (child->status == 0 && cut(line, word))
		event = judge(run, word);
	else if (removal_look(&run->removal, after(seconds)) == REMOVAL_GONE)
		fail(run, WHY_WORKER_VANISHED, "%s", "docker does not know it any more");
	else
		fail_child(run, WHY_DOCKER_FAILED, child, "docker container inspect");
	child_finish(child);
	return event;
}

/* ---- the end ---- */

static enum life_event remove_container(struct run *run)
{
	child_shield(true);
	if (!run->sent)
		return E_OK;
	if (!run->verified) /* what create printed may be anybody's */
		run->id = memset(run->removal.id, 0, sizeof(run->removal.id));
	if (removal_run(&run->removal, run->action == A_SETTLE)) {
		log_event(run, AUDIT_REMOVED, run->status); /* gone it is, whatever the file says */
		return E_OK;
	}
	log_event(run, AUDIT_RESIDUAL, 80);
	return fail(run, WHY_RESIDUAL, "container %s, named %s, of run %s at %s",
	            run->id[0] != '\0' ? run->id : "of unknown id",
	            run->order.argv.at[GATE_AT_NAME], run->nonce_hex, run->docker.endpoint);
}

static enum life_event drop_claim(struct run *run)
{
	return state_drop_claim(&run->state) ? E_OK : fail(run, WHY_LOCK_CHANGED, "%s", "claim");
}

/* The reply, now that the container is gone. */
static enum life_event release(struct run *run)
{
	static char reply[CHILD_OUT_MAX];
	size_t len = child_length(run->child[1].out);

	child_shield(false);
	if (run->status != 0) /* of an audit line: there is no success without it */
		return E_FAIL;
	if (pread(run->child[1].out, reply, len, 0) == (ssize_t)len &&
	    child_put(STDOUT_FILENO, reply, len, INT64_MAX))
		return E_OK;
	return child_signal() != 0 ? signalled(run)
	                           : fail_errno(run, WHY_OUTPUT, "standard output");
}

static enum life_event report(struct run *run);

static const struct {
	const char *name;
	enum life_event (*act)(struct run *run);
	bool always; /* even when a signal has come */
} actions[A_COUNT] = {
	[A_SET_UP] = {"set_up", set_up, false},
	[A_READ_TURN] = {"turn", read_turn, false},
	[A_DECIDE] = {"decide", decide, false},
	[A_GATE] = {"gate", check_launch, false},
	[A_REAP] = {"reap", reap, false},
	[A_LOCK] = {"lock", take_lock, false},
	[A_CLAIM] = {"claim", take_claim, false},
	[A_GUARD] = {"guard", guard, false},
	[A_CREATE] = {"create", create, false},
	[A_CHECK] = {"check", check, false},
	[A_UNLOCK] = {"unlock", unlock, true},
	[A_START] = {"start", start, false},
	[A_RESULT] = {"result", find_result, false},
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
	size_t len;
	const char *text = say_text(&len);
	bool told;

	child_shield(true);
	guardian_end(&run->guardian);
	told = child_put(STDERR_FILENO, text, len, child_now() + SAY_MS);
	len = fd >= 0 ? (size_t)status_line(run, line, sizeof(line)) : 0;
	return child_put(fd, line, len, child_now() + SAY_MS) && told ? E_OK : E_FAIL;
}

int launch_run(const struct options *options)
{
	static struct run run;
	struct life_step step = life_next(S_NEW, E_OK);

	run.options = options;
	while (step.action != A_END) {
		int64_t begun = child_now();
		enum life_event event;

		run.action = step.action;
		if (child_signal() != 0 && !actions[step.action].always)
			event = signalled(&run);
		else
			event = actions[step.action].act(&run);
		run.ms[step.action] = child_now() - begun;
		step = life_next(step.next, event);
	}
	return run.status;
}

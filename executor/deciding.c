/* SPDX-License-Identifier: ISC */
#include "deciding.h"

#include <bsd/string.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../ipc/channel.h"

/* Deadlines before the config's own limits are known. */
#define READ_MS 30000 /* the caller's turn */
#define DECIDE_MS 60000 /* decide, with docker's answers */
#define ASK_SECONDS 25 /* one answer of docker's */

enum life_event deciding_turn(struct run *run)
{
	struct child *child = &run->child[0];
	int64_t deadline = child_now() + READ_MS;
	enum child_wait wait;
	bool taken;

	if (run->session)
		return E_OK;
	*child = (struct child){.out = -1, .err = -1, .ended = true};
	wait = child_wait(NULL, 0, run->turn_in, POLLIN, deadline); /* a FIFO needs a writer */
	if (wait == CHILD_READY) {
		run_policy(run, child, "turn", 3, (const int[]){run->turn_in, -1, -1});
		wait = child_wait(child, 1, -1, 0, deadline);
	}
	taken = !run_stopped(run, wait, WHY_POLICY_DEADLINE, "reading the turn",
	                     READ_MS / 1000) &&
	        run_judged(run, child) == E_OK && run_take_line(run, child);
	child_finish(child);
	if (!taken)
		return E_FAIL;
	run->turn_bytes = run->line_bytes;
	run->turn = child_document(run->line, run->line_bytes);
	return run->turn >= 0 ? E_OK : run_fail_errno(run, WHY_START, "the turn");
}

static const char *variable(const char *name)
{
	const char *value = getenv(name);

	return value != NULL && value[0] != '\0' ? value : NULL;
}

static size_t put_facts(struct run *run)
{
	struct facts facts = {
		.mode = run->session ? MODE_SESSION : MODE_TURN,
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
		.worker_err = run->worker_err >= 0 ? run->worker_err_path : NULL,
		.name = run->options->value[OPTION_NAME],
	};

	memcpy(facts.nonce, run->nonce, sizeof(facts.nonce));
	return frame_put_facts(run->frame, sizeof(run->frame), &facts);
}

/* A message before the answer to the last one, or behind an empty one, which
 * reads as the end: nothing that may still come. */
static bool spoke_early(struct run *run, int fd)
{
	ssize_t len = channel_receive(fd, run->frame, sizeof(run->frame), MSG_DONTWAIT);

	if (len == 0 || (len < 0 && (errno == EAGAIN || errno == ECONNRESET)))
		return false;
	run_fail(run, WHY_POLICY_PROTOCOL, "%s", "a message out of turn");
	return true;
}

/* Decide may have ended: how, says why.  False: on record. */
static bool tell_decide(struct run *run, int fd, const uint8_t *frame, size_t len, const char *what)
{
	if (channel_send(fd, frame, len) == 0 || errno == EPIPE || errno == ECONNRESET)
		return true;
	run_fail_errno(run, WHY_START, what);
	return false;
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
	run_close(pipe, 1);
	wait = child_wait(child, 1, -1, 0, run_after(ASK_SECONDS));
	if (child->ended && child->status != 0)
		child_read(child->err, run->docker_says, sizeof(run->docker_says));
	if (child->ended && child->status != CHILD_LOST)
		answered.status = (uint8_t)child->status;
	child_finish(child);
	if (run_stopped(run, wait, WHY_DOCKER_DEADLINE, "docker inspect", ASK_SECONDS))
		return false;
	if (spoke_early(run, fd))
		return false;
	len = frame_put_answered(frame, sizeof(frame), &answered);
	return tell_decide(run, fd, frame, len, "the answer to decide");
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
	run_fail(run, WHY_POLICY_PROTOCOL, "message of kind %u, %zu bytes", kind, len);
	return false;
}

/* The conversation with decide, to its end of file.  The order of the kinds is
 * the order in which they may come: each is above the last, LAUNCH is the last. */
static bool converse(struct run *run, int fd, int *pipes, int64_t deadline)
{
	size_t facts = put_facts(run);
	unsigned last = 0;

	if (facts == 0) {
		run_fail(run, WHY_START, "%s", "the facts do not fit into a message");
		return false;
	}
	if (!tell_decide(run, fd, run->frame, facts, "the facts to decide"))
		return false;
	for (;;) {
		enum child_wait wait = child_wait(NULL, 0, fd, POLLIN, deadline);
		unsigned kind;
		ssize_t len;

		if (run_stopped(run, wait, WHY_POLICY_DEADLINE, "the decision", DECIDE_MS / 1000))
			return false;
		len = channel_receive(fd, run->frame, sizeof(run->frame), 0);
		if (len == 0 || (len < 0 && errno == ECONNRESET))
			return true;
		kind = len < 0 ? 0 : frame_kind(run->frame, (size_t)len);
		if (kind <= last) {
			run_fail(run, WHY_POLICY_PROTOCOL, "message of kind %u after %u", kind, last);
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

	run_close(pipes, 2);
	if (!ended)
		return E_FAIL;
	wait = child_wait(child, 1, -1, 0, deadline);
	if (run_stopped(run, wait, WHY_POLICY_DEADLINE, "the decision", DECIDE_MS / 1000) ||
	    spoke_early(run, fd))
		return E_FAIL;
	if (run_judged(run, child) == E_OK)
		return run->frame_bytes > 0
		               ? E_OK
		               : run_fail(run, WHY_POLICY_PROTOCOL, "%s", "it ended without a launch");
	if (run->docker_says[0] != '\0') /* a second line, and not the reason */
		run_fail(run, WHY_DOCKER_FAILED, "%s", run->docker_says);
	return E_FAIL;
}

enum life_event deciding_argv(struct run *run)
{
	struct child *child = &run->child[0];
	enum life_event event;
	int fd[2], context[2], image[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fd) != 0 ||
	    pipe2(context, O_CLOEXEC) != 0 || pipe2(image, O_CLOEXEC) != 0)
		return run_fail_errno(run, WHY_START, "socketpair, pipe");
	audit_wait(&run->events); /* decide cannot wait; it says when its record was lost */
	run_policy(run, child, "decide", 9,
	             (const int[]){-1, -1, -1, fd[1], run->config, context[0], image[0],
	                           run->audit, run->turn});
	run_close(&fd[1], 1);
	run_close(&context[0], 1);
	run_close(&image[0], 1);
	event = decided(run, child, fd[0], (int[]){context[1], image[1]});
	child_finish(child);
	run_close(&fd[0], 1);
	return event;
}

enum life_event deciding_gate(struct run *run)
{
	const struct order *order = &run->order;
	const char *const *word = order->argv.at;
	struct docker *docker = &run->docker;
	const struct gate_known known = {
		.nonce_hex = run->nonce_hex,
		.state_id = run->state.id,
		.endpoint = docker->endpoint[0] != '\0' ? docker->endpoint : NULL,
		.mode = run->session ? "session" : "turn",
	};
	enum gate_result result = gate_check(&run->gate, order, &known);

	if (result != GATE_OK)
		return run_fail(run, WHY_GATE, "check %d at %u", (int)result, run->gate.where);
	if (run->turn_bytes > order->turn_bytes)
		return run_fail(run, WHY_TURN_SIZE, "%zu bytes", run->turn_bytes);
	strlcpy(docker->endpoint, word[GATE_AT_ENDPOINT], sizeof(docker->endpoint));
	removal_init(&run->removal, docker, run->nonce_hex);
	run->removal.control_seconds = order->control_seconds;
	run->removal.remove_seconds = order->remove_seconds;
	run->plan = child_document(run->frame, run->frame_bytes);
	return run->plan >= 0 ? E_OK : run_fail_errno(run, WHY_START, "the plan");
}

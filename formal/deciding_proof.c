/* SPDX-License-Identifier: ISC */

/*
 * What is created is what was decided and checked by the gate, and the plan that
 * admit and verify get is the same frame: nothing is received into the frame's
 * place after it was decoded (converse, decided), and the gate's E_OK means that
 * it has accepted this order and that the plan is a document of these bytes.
 *
 * deciding.c is the real one.  decide, the channel, the frames and the gate answer
 * as they like.
 */
#include <unistd.h>

#define getuid() ((uid_t)1000)
#define getgid() ((gid_t)1000)
#include "../executor/deciding.c"

#include "nondet.h"
#include "run_stubs.h"

static struct run run;
static unsigned writes; /* messages so far that went to the frame's place */
static unsigned decoded; /* their number when the order was decoded; 0: never */
static size_t decoded_bytes;
static bool accepted, made;
static const char endpoint[] = "", other[] = ""; /* words of the order */
static bool pointed; /* docker at it */

ssize_t channel_receive(int fd, uint8_t *to, size_t cap, int flags)
{
	const size_t len = any_up_to(2);

	(void)fd;
	(void)flags;
	PROVE(to == run.frame && cap == sizeof(run.frame), "into the frame");
	if (any_bool()) {
		errno = any_bool() ? EAGAIN : ECONNRESET;
		return -1;
	}
	writes += len > 0;
	return (ssize_t)len;
}

int channel_send(int fd, const uint8_t *bytes, size_t len)
{
	(void)fd;
	(void)bytes;
	(void)len;
	errno = any_bool() ? EPIPE : ENOBUFS;
	return any_bool() ? 0 : -1;
}

/* The facts go out from the same place; an order comes later. */
size_t frame_put_facts(uint8_t *to, size_t cap, const struct facts *facts)
{
	(void)to;
	(void)cap;
	(void)facts;
	PROVE(decoded == 0, "before any order");
	return any_up_to(1);
}

size_t frame_put_answered(uint8_t *to, size_t cap, const struct answered *answered)
{
	(void)cap;
	(void)answered;
	PROVE(to != run.frame, "not in the frame's place");
	return 1;
}

unsigned frame_kind(const uint8_t *bytes, size_t len)
{
	(void)bytes;
	(void)len;
	return (unsigned)any_up_to(FRAME_LAUNCH + 1);
}

static enum frame_result any_frame(void)
{
	return any_bool() ? FRAME_OK : FRAME_BAD;
}

enum frame_result frame_get_ask_context(const uint8_t *bytes, size_t len)
{
	(void)bytes;
	(void)len;
	return any_frame();
}

enum frame_result frame_get_ask_image(const uint8_t *bytes, size_t len, struct ask_image *out)
{
	(void)bytes;
	(void)len;
	*out = (struct ask_image){"", ""};
	return any_frame();
}

enum frame_result frame_get_order(const uint8_t *bytes, size_t len, struct order *out)
{
	PROVE(bytes == run.frame && out == &run.order, "the run's order, from the run's frame");
	if (any_bool())
		return FRAME_BAD;
	decoded = writes;
	decoded_bytes = len;
	return FRAME_OK;
}

bool gate_endpoint(const char *url)
{
	(void)url;
	return any_bool();
}

bool gate_image_reference(const char *reference)
{
	(void)reference;
	return any_bool();
}

size_t strlcpy(char *to, const char *from, size_t cap)
{
	(void)cap;
	pointed = to == run.docker.endpoint && from == endpoint;
	to[0] = from[0];
	return any_bool();
}

enum child_wait child_wait(struct child *set, size_t count, int fd, short events, int64_t deadline)
{
	(void)fd;
	(void)events;
	(void)deadline;
	for (size_t i = 0; i < count; i++) {
		set[i].ended = any_bool();
		set[i].status = any_bool() ? 0 : CHILD_LOST;
	}
	return (enum child_wait)any_up_to(CHILD_SIGNAL);
}

int64_t child_now(void)
{
	return 0;
}

size_t child_read(int memfd, char *to, size_t cap)
{
	(void)memfd;
	(void)cap;
	to[0] = '\0';
	return 0;
}

void docker_start(struct child *child, const struct docker *docker, enum docker_command command,
                  const char *subject, int in, int out)
{
	(void)subject;
	(void)in;
	(void)out;
	PROVE(docker == &run.docker && (command == DOCKER_CONTEXT || command == DOCKER_IMAGE),
	      "docker is only asked");
	*child = (struct child){1, false, true, CHILD_LOST, -1, -1};
}

enum life_event run_judged(struct run *of, const struct child *child)
{
	(void)of;
	return child->status == 0 ? E_OK : E_FAIL;
}

PROOF(deciding_keeps_frame)
{
	static struct options options;
	struct child child = {.out = -1, .err = -1};
	int pipes[2] = {-1, -1};

	run.options = &options;
	run.frame_bytes = 0;
	writes = decoded = 0;
	if (decided(&run, &child, 3, pipes) != E_OK)
		return;
	PROVE(decoded > 0 && decoded == writes, "the order is of the last message, which is still there");
	PROVE(run.frame_bytes == decoded_bytes, "all of it");
	PROVE(child.status == 0, "decide allowed it");
}

/* ---- the gate ---- */

enum gate_result gate_check(struct gate *gate, const struct order *order,
                            const struct gate_known *known)
{
	PROVE(gate == &run.gate && order == &run.order, "the order that was decoded");
	PROVE(known->nonce_hex == run.nonce_hex && known->state_id == run.state.id,
	      "of this run and this state directory");
	accepted = any_bool();
	return accepted ? GATE_OK : GATE_WORD;
}

int child_document(const void *bytes, size_t len)
{
	PROVE(accepted, "nothing is made of what the gate refuses");
	PROVE(bytes == (const void *)run.frame && len == run.frame_bytes, "the frame, whole");
	made = any_bool();
	return made ? 9 : -1;
}

enum life_event run_fail_errno(struct run *of, enum executor_reason why, const char *what)
{
	(void)of;
	(void)why;
	(void)what;
	return E_FAIL;
}

void removal_init(struct removal *removal, const struct docker *docker, const char *nonce_hex)
{
	PROVE(docker == &run.docker && nonce_hex == run.nonce_hex, "removes this run's");
	PROVE(pointed, "where the order says");
	(void)removal;
}

PROOF(deciding_plan)
{
	static struct options options;
	enum life_event event;

	run.options = &options;
	for (size_t i = 0; i < GATE_AT_ENDPOINT; i++)
		run.order.argv.at[i] = other;
	run.order.argv.at[GATE_AT_ENDPOINT] = endpoint;
	run.order.turn_bytes = any_up_to(2);
	run.turn_bytes = any_up_to(2);
	run.frame_bytes = any_up_to(FRAME_MAX);
	accepted = made = pointed = false;
	event = deciding_gate(&run);
	PROVE((event == E_OK) == (accepted && made && run.turn_bytes <= run.order.turn_bytes),
	      "exactly if the gate accepts, the turn fits, and the plan could be sealed");
	PROVE(event != E_OK || run.plan == 9, "which is the plan");
	PROVE(event != E_OK || pointed, "and docker is the engine of the order");
}

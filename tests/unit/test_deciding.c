/* SPDX-License-Identifier: ISC */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../../executor/deciding.h"
#include "../../ipc/channel.h"
#include "../../ipc/frame_policy.h"
#include "notes.h"

/*
 * What is decided before anything is held.  All that deciding.c calls stands in
 * here but the frames, the reasons and the C library's own: each call writes a line
 * into one log, so that a row of a table says which calls there are, in which
 * order and with what, and what they come to.
 */

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define NONCE "000102030405060708090a0b0c0d0e0f"
#define STATE_ID "fedcba9876543210fedcba9876543210"
#define URL "unix:///run/e.sock"
#define IMAGE "worker:1"

static struct run run;
static struct options options;

/* What the stand-ins do: one row's. */
static struct outcome {
	const char *hears; /* each message, a letter: channel_receive */
	const char *log;
	enum life_event event;
	unsigned stop; /* the wait with this number, from 1, is cut short */
	enum child_wait how; /* like this */
	int docker, decide; /* the exit statuses; turn is as decide */
	const char *says; /* docker's standard error */
	unsigned unsent; /* the message with this number, from 1, cannot be sent */
	int error; /* for this reason */
	int document; /* what child_document gives */
	unsigned unopened; /* the socket pair, 1, or a pipe, 2 or 3, cannot be made */
	bool no_line; /* that turn has written */
	bool bad_endpoint, bad_reference;
} now;

static unsigned waits, sends, heard, opened;
static int64_t clock_ms;

static const char *or_none(const char *text)
{
	return text != NULL ? text : "none";
}

/* A run as it is after A_SET_UP. */
static void begin(const struct outcome *row)
{
	memset(&run, 0, sizeof(run));
	memset(&options, 0, sizeof(options));
	run.options = &options;
	run.turn_in = 5;
	run.config = 7;
	run.audit = 8;
	run.worker_err = 6;
	run.turn = 9;
	run.plan = -1;
	strcpy(run.home, "/home/u");
	strcpy(run.config_path, "/etc/c.json");
	strcpy(run.audit_path, "/var/a.log");
	strcpy(run.worker_err_path, "/var/w.log");
	strcpy(run.own_path, "/bin/own");
	strcpy(run.policy_path, "/bin/policy");
	strcpy(run.docker.path, "/bin/docker");
	strcpy(run.state.path, "/var/state");
	strcpy(run.state.id, STATE_ID);
	strcpy(run.nonce_hex, NONCE);
	for (size_t i = 0; i < NONCE_BYTES; i++)
		run.nonce[i] = (uint8_t)i;
	assert_int_equal(unsetenv("DOCKER_HOST") | unsetenv("SSH_AUTH_SOCK"), 0);
	now = *row;
	waits = sends = heard = opened = 0;
	notes_begin();
	clock_ms = 1000000;
}

/* --- run.h --- */

enum life_event run_fail(struct run *of, enum executor_reason why, const char *format, ...)
{
	char text[256];
	va_list words;

	assert_ptr_equal(of, &run);
	va_start(words, format);
	(void)vsnprintf(text, sizeof(text), format, words);
	va_end(words);
	note("fail %s: %s\n", say_row(why)->reason, text);
	return E_FAIL;
}

enum life_event run_fail_errno(struct run *of, enum executor_reason why, const char *what)
{
	return run_fail(of, why, "%s: %s", what, strerrorname_np(errno));
}

bool run_stopped(struct run *of, enum child_wait wait, enum executor_reason late, const char *what,
                 unsigned seconds)
{
	assert_ptr_equal(of, &run);
	if (wait != CHILD_SIGNAL && wait != CHILD_DEADLINE)
		return false;
	note("%s %s: %s, %u\n", wait == CHILD_SIGNAL ? "signal" : "late", say_row(late)->reason,
	    what, seconds);
	return true;
}

static int of_run(const struct child *child)
{
	for (size_t i = 0; i < COUNT(run.child); i++)
		if (child == &run.child[i])
			return (int)i;
	return -1;
}

enum life_event run_judged(struct run *of, const struct child *child)
{
	assert_ptr_equal(of, &run);
	note("judged %d: %d\n", of_run(child), child->status);
	return child->status == 0 ? E_OK : E_FAIL;
}

bool run_take_line(struct run *of, const struct child *child)
{
	assert_ptr_equal(of, &run);
	note("line %d\n", child->out);
	strcpy(run.line, "{}\n");
	run.line_bytes = now.no_line ? 0 : 3;
	return !now.no_line;
}

int64_t run_after(unsigned seconds)
{
	return seconds;
}

void run_policy(struct run *of, struct child *child, const char *command, int count, const int *fd)
{
	assert_ptr_equal(of, &run);
	note("policy %d: %s", of_run(child), command);
	for (int i = 0; i < count; i++)
		note(" %d", fd[i]);
	note("\n");
	*child = (struct child){100, false, true, CHILD_LOST, 50, 51};
}

void run_close(int *fd, size_t count)
{
	note("close");
	for (size_t i = 0; i < count; i++) {
		note(" %d", fd[i]);
		fd[i] = -1;
	}
	note("\n");
}

/* --- child.h, docker.h, audit.h, removal.h --- */

int64_t child_now(void)
{
	return clock_ms++;
}

enum child_wait child_wait(struct child *set, size_t count, int fd, short events, int64_t deadline)
{
	const int child = set != NULL ? of_run(set) : -1;
	int status = child == 1 ? now.docker : now.decide;

	note("wait");
	if (child >= 0)
		note(" child %d", child);
	note(" of %zu, fd %d for %d, until %lld\n", count, fd, events, (long long)deadline);
	if (++waits == now.stop)
		return now.how;
	if (set == NULL)
		return CHILD_READY;
	set->ended = true;
	set->status = status;
	return status == 0 ? CHILD_DONE : CHILD_FAILED;
}

void child_finish(struct child *child)
{
	note("finish %d: %s, %d %d\n", of_run(child), child->ended ? "ended" : "runs", child->out,
	    child->err);
	child->ended = true;
	child->out = child->err = -1;
}

size_t child_read(int memfd, char *to, size_t cap)
{
	note("read %d\n", memfd);
	assert_ptr_equal(to, run.docker_says);
	assert_int_equal(cap, sizeof(run.docker_says));
	strcpy(to, now.says);
	return strlen(to);
}

int child_document(const void *bytes, size_t len)
{
	note("document %s, %zu\n",
	    bytes == run.line ? "line" : bytes == run.frame ? "frame" : "of something else", len);
	errno = EMFILE;
	return now.document;
}

void docker_start(struct child *child, const struct docker *docker, enum docker_command command,
                  const char *subject, int in, int out)
{
	assert_ptr_equal(docker, &run.docker);
	note("docker %d at \"%s\": %s \"%s\" %d %d\n", of_run(child), docker->endpoint,
	    command == DOCKER_CONTEXT ? "context" : command == DOCKER_IMAGE ? "image" : "other",
	    subject, in, out);
	*child = (struct child){101, false, true, CHILD_LOST, -1, 61};
}

bool audit_wait(const struct audit *audit)
{
	assert_ptr_equal(audit, &run.events);
	note("audit_wait\n");
	return false;
}

void removal_init(struct removal *removal, const struct docker *docker, const char *nonce)
{
	assert_ptr_equal(removal, &run.removal);
	assert_ptr_equal(docker, &run.docker);
	note("removal %s at %s\n", nonce, docker->endpoint);
	*removal = (struct removal){.docker = docker};
}

/* --- gate.h --- */

bool gate_endpoint(const char *url)
{
	note("endpoint %s\n", url);
	return !now.bad_endpoint;
}

bool gate_image_reference(const char *reference)
{
	note("reference %s\n", reference);
	return !now.bad_reference;
}

static enum gate_result gate_says;

enum gate_result gate_check(struct gate *gate, const struct order *order,
                            const struct gate_known *known)
{
	assert_ptr_equal(gate, &run.gate);
	assert_ptr_equal(order, &run.order);
	note("gate %s %s %s %s\n", known->nonce_hex, known->state_id, or_none(known->endpoint),
	    known->mode);
	gate->where = 17;
	return gate_says;
}

/* --- the system's --- */

uid_t getuid(void)
{
	return 1234;
}

gid_t getgid(void)
{
	return 5678;
}

static bool cannot_open(void)
{
	errno = EMFILE;
	return ++opened == now.unopened;
}

int socketpair(int domain, int type, int protocol, int fd[2])
{
	note("socketpair %d\n", protocol);
	assert_int_equal(domain, AF_UNIX);
	assert_int_equal(type, SOCK_SEQPACKET | SOCK_CLOEXEC);
	fd[0] = 10;
	fd[1] = 11;
	return cannot_open() ? -1 : 0;
}

int pipe2(int fd[2], int flags)
{
	assert_int_equal(flags, O_CLOEXEC);
	fd[0] = opened == 1 ? 20 : 30;
	fd[1] = fd[0] + 1;
	note("pipe2\n");
	return cannot_open() ? -1 : 0;
}

/* --- the channel, and decide at its other end --- */

static void say_facts(const uint8_t *bytes, size_t len)
{
	struct facts facts;

	assert_int_equal(frame_get_facts(bytes, len, &facts), FRAME_OK);
	assert_memory_equal(facts.nonce, run.nonce, NONCE_BYTES);
	note("facts %s %u %u %s %s %s %s %s %s %s %s %s %s %s %s\n",
	    facts.mode == MODE_SESSION ? "session" : "turn", facts.uid, facts.gid, facts.home,
	    facts.state_dir, facts.state_id, or_none(facts.docker_host),
	    or_none(facts.ssh_auth_sock), facts.executor, facts.policy, facts.docker, facts.config,
	    or_none(facts.audit), or_none(facts.worker_err), or_none(facts.name));
}

/* errno is left over from anything when it went well. */
int channel_send(int fd, const uint8_t *bytes, size_t len)
{
	struct answered answered;

	note("send %d ", fd);
	if (frame_kind(bytes, len) == FRAME_FACTS) {
		say_facts(bytes, len);
	} else {
		assert_int_equal(frame_get_answered(bytes, len, &answered), FRAME_OK);
		note("answered %s %u\n",
		    answered.question == FRAME_ASK_CONTEXT ? "context" : "image", answered.status);
	}
	errno = EIO;
	if (++sends != now.unsent)
		return 0;
	errno = now.error;
	return -1;
}

static const struct launch launch = {
	.mode = MODE_SESSION,
	.state_id = "",
	.name = "",
	.endpoint = "",
	.session = "",
	.image_id = "",
	.workdir = "",
	.entrypoint = "",
	.roots_label = "",
	.limits = {.control_seconds = 77},
	.argv = {.count = 2, .at = {"docker", "create"}},
};

/* A message of decide's, into frame; its length. */
static size_t message(char letter, uint8_t *frame, size_t cap)
{
	const struct ask_image ask = {URL, IMAGE};
	const struct answered answered = {FRAME_ASK_IMAGE, 0};
	const struct facts facts = {.home = "", .state_dir = "", .state_id = "", .executor = "",
	                            .policy = "", .docker = "", .config = ""};

	switch (letter) {
	case 'c': return frame_put_ask_context(frame, cap);
	case 'i': return frame_put_ask_image(frame, cap, &ask);
	case 'l': return frame_put_launch(frame, cap, &launch);
	case 'a': return frame_put_answered(frame, cap, &answered);
	case 'f': return frame_put_facts(frame, cap, &facts);
	default: return 1;
	}
}

/*
 * By letter: c, i and l ask for the context, for the image, and launch; C, I and L
 * have a byte too many; a and f are the executor's own kinds; 1 is one byte.  A dot is
 * the end, r ECONNRESET, e EAGAIN, x a message that is too long.  errno is left over
 * from something else when there is a message.
 */
ssize_t channel_receive(int fd, uint8_t *bytes, size_t cap, int flags)
{
	static const struct {
		char letter;
		int error;
	} none[] = {{'r', ECONNRESET}, {'e', EAGAIN}, {'x', EMSGSIZE}};
	const char letter = heard < strlen(now.hears) ? now.hears[heard++] : '.';

	note("receive %d%s\n", fd, flags == 0 ? "" : flags == MSG_DONTWAIT ? " now" : " otherwise");
	assert_ptr_equal(bytes, run.frame);
	assert_int_equal(cap, sizeof(run.frame));
	if (letter == '.')
		return 0;
	for (size_t i = 0; i < COUNT(none); i++)
		if (letter == none[i].letter) {
			errno = none[i].error;
			return -1;
		}
	errno = ECONNRESET;
	memset(bytes, 0, cap);
	if (letter == 'C' || letter == 'I' || letter == 'L')
		return (ssize_t)message((char)(letter + 'a' - 'A'), bytes, cap) + 1;
	return (ssize_t)message(letter, bytes, cap);
}

/* --- A_READ_TURN --- */

#define IN_TURN "wait of 0, fd 5 for 1, until 1030000\n"
#define TURN "policy 0: turn 5 -1 -1\nwait child 0 of 1, fd -1 for 0, until 1030000\n"
#define TURN_ENDED "finish 0: ended, 50 51\n"
#define NO_TURN "finish 0: ended, -1 -1\n" /* nothing was started */
#define LATE "late policy.deadline: reading the turn, 30\n"
#define ABORTED "signal policy.deadline: reading the turn, 30\n"

static void reads_the_turn(void **state)
{
	static const struct outcome rows[] = {
		{.document = 4, .log = IN_TURN TURN "judged 0: 0\nline 50\n" TURN_ENDED "document line, 3\n"},
		{.document = 0, .log = IN_TURN TURN "judged 0: 0\nline 50\n" TURN_ENDED "document line, 3\n"},
		{.document = -1, .event = E_FAIL,
		 .log = IN_TURN TURN "judged 0: 0\nline 50\n" TURN_ENDED "document line, 3\n"
		        "fail executor.start: the turn: EMFILE\n"},
		{.no_line = true, .event = E_FAIL,
		 .log = IN_TURN TURN "judged 0: 0\nline 50\n" TURN_ENDED},
		{.decide = 65, .event = E_FAIL, .log = IN_TURN TURN "judged 0: 65\n" TURN_ENDED},
		{.decide = CHILD_LOST, .event = E_FAIL,
		 .log = IN_TURN TURN "judged 0: -1\n" TURN_ENDED},
		{.stop = 1, .how = CHILD_DEADLINE, .event = E_FAIL, .log = IN_TURN LATE NO_TURN},
		{.stop = 1, .how = CHILD_SIGNAL, .event = E_FAIL, .log = IN_TURN ABORTED NO_TURN},
		{.stop = 2, .how = CHILD_DEADLINE, .event = E_FAIL,
		 .log = IN_TURN TURN LATE "finish 0: runs, 50 51\n"},
		{.stop = 2, .how = CHILD_SIGNAL, .event = E_FAIL,
		 .log = IN_TURN TURN ABORTED "finish 0: runs, 50 51\n"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		begin(&rows[i]);
		run.turn = 99;
		run.child[0] = (struct child){12, false, true, 3, 13, 14};
		assert_int_equal(deciding_turn(&run), rows[i].event);
		assert_string_equal(notes->text, rows[i].log);
		if (rows[i].event == E_OK) {
			assert_int_equal(run.turn, rows[i].document);
			assert_int_equal(run.turn_bytes, 3);
		} else {
			assert_int_equal(run.turn, rows[i].document < 0 ? -1 : 99);
		}
	}
}

static void a_session_has_no_turn(void **state)
{
	const struct outcome row = {.document = 4};

	(void)state;
	begin(&row);
	run.session = true;
	run.turn = -1;
	assert_int_equal(deciding_turn(&run), E_OK);
	assert_string_equal(notes->text, "");
	assert_int_equal(run.turn, -1);
	assert_int_equal(run.turn_bytes, 0);
}

/* --- A_DECIDE --- */

#define OPENED "socketpair 0\npipe2\npipe2\n"
#define FACTS_OF(mode, host, sock, audit, err, name) \
	"send 10 facts " mode " 1234 5678 /home/u /var/state " STATE_ID " " host " " sock \
	" /bin/own /bin/policy /bin/docker /etc/c.json " audit " " err " " name "\n"
#define FACTS FACTS_OF("turn", "none", "none", "/var/a.log", "/var/w.log", "none")
#define STARTED \
	OPENED "audit_wait\npolicy 0: decide -1 -1 -1 11 7 20 30 8 9\nclose 11\nclose 20\n" \
	"close 30\n"
#define ENDED "finish 0: ended, 50 51\nclose 10\n"
#define KILLED "finish 0: runs, 50 51\nclose 10\n"

#define WAIT "wait of 0, fd 10 for 1, until 1060000\n"
#define HEAR WAIT "receive 10\n"
#define EARLY "receive 10 now\n"
#define DOCKER_WAIT "wait child 1 of 1, fd -1 for 0, until 25\n"
#define DOCKER_ENDED "finish 1: ended, -1 61\n"
#define DOCKER_KILLED "finish 1: runs, -1 61\n"
#define ASK_CONTEXT "docker 1 at \"\": context \"\" -1 21\nclose 21\n" DOCKER_WAIT
#define ASK_IMAGE \
	"endpoint " URL "\nreference " IMAGE "\n" \
	"docker 1 at \"" URL "\": image \"" IMAGE "\" -1 31\nclose 31\n" DOCKER_WAIT
#define CONTEXT HEAR ASK_CONTEXT DOCKER_ENDED EARLY "send 10 answered context 0\n"
#define IMAGED HEAR ASK_IMAGE DOCKER_ENDED EARLY "send 10 answered image 0\n"
#define WAIT_END "wait child 0 of 1, fd -1 for 0, until 1060000\n"
#define END(left) HEAR "close " left "\n" WAIT_END EARLY
#define TOO_EARLY "fail policy.protocol: a message out of turn\n"
#define NO_LAUNCH "fail policy.protocol: it ended without a launch\n"
#define BOTH "close 21 31\n"
#define BROKE(text) BOTH "fail policy.protocol: " text "\n"

static void decides(const struct outcome *row, const char *rest)
{
	char wanted[sizeof(notes->text)];

	begin(row);
	assert_int_equal(deciding_argv(&run), row->event);
	(void)snprintf(wanted, sizeof(wanted), "%s%s%s%s", STARTED, FACTS, row->log, rest);
	notes_are(row->hears, wanted);
	if (row->event != E_OK)
		return;
	assert_int_equal(run.frame_bytes, message('l', run.frame, sizeof(run.frame)));
	assert_int_equal(run.order.control_seconds, 77);
	assert_int_equal(run.order.argv.count, 2);
	assert_string_equal(run.order.argv.at[1], "create");
	assert_in_range((uintptr_t)run.order.argv.at[1], (uintptr_t)run.frame,
	                (uintptr_t)run.frame + run.frame_bytes);
}

/* Every conversation that the two may have. */
static void converses(void **state)
{
	static const struct outcome rows[] = {
		{.hears = "l..", .log = HEAR END("21 31") "judged 0: 0\n"},
		{.hears = "lre", .log = HEAR END("21 31") "judged 0: 0\n"},
		{.hears = "l.r", .log = HEAR END("21 31") "judged 0: 0\n"},
		{.hears = "cel..", .log = CONTEXT HEAR END("-1 31") "judged 0: 0\n"},
		{.hears = "iel..", .log = IMAGED HEAR END("21 -1") "judged 0: 0\n"},
		{.hears = "ceiel..", .log = CONTEXT IMAGED HEAR END("-1 -1") "judged 0: 0\n"},
		{.hears = "crl..", .log = CONTEXT HEAR END("-1 31") "judged 0: 0\n"},
		{.hears = "c...", .event = E_FAIL, .decide = 77,
		 .log = CONTEXT END("-1 31") "judged 0: 77\n"},
		{.hears = "..", .event = E_FAIL, .log = END("21 31") "judged 0: 0\n" NO_LAUNCH},
		{.hears = "ce..", .event = E_FAIL,
		 .log = CONTEXT END("-1 31") "judged 0: 0\n" NO_LAUNCH},
		{.hears = "..", .event = E_FAIL, .decide = 78, .log = END("21 31") "judged 0: 78\n"},
		{.hears = "l..", .event = E_FAIL, .decide = CHILD_LOST,
		 .log = HEAR END("21 31") "judged 0: -1\n"},
		/* It does not hear the facts: how it ended says why. */
		{.hears = "..", .event = E_FAIL, .decide = 78, .unsent = 1, .error = EPIPE,
		 .log = END("21 31") "judged 0: 78\n"},
		{.hears = "..", .event = E_FAIL, .decide = 78, .unsent = 1, .error = ECONNRESET,
		 .log = END("21 31") "judged 0: 78\n"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		decides(&rows[i], ENDED);
}

/* Docker's own failure is an answer, too: decide says what comes of it. */
static void asks_docker(void **state)
{
#define READ "read 61\n"
#define ASKED(status) \
	HEAR ASK_CONTEXT READ DOCKER_ENDED EARLY "send 10 answered context " status "\n"
	static const struct outcome rows[] = {
		{.hears = "cel..", .docker = 1, .says = "x",
		 .log = ASKED("1") HEAR END("-1 31") "judged 0: 0\n"},
		{.hears = "cel..", .docker = 2, .says = "",
		 .log = ASKED("2") HEAR END("-1 31") "judged 0: 0\n"},
		{.hears = "ce..", .event = E_FAIL, .docker = 1, .decide = 69, .says = "x",
		 .log = ASKED("1") END("-1 31") "judged 0: 69\nfail docker.failed: x\n"},
		{.hears = "ce..", .event = E_FAIL, .docker = 127, .decide = 69, .says = "no such",
		 .log = ASKED("127") END("-1 31") "judged 0: 69\nfail docker.failed: no such\n"},
		{.hears = "ce..", .event = E_FAIL, .docker = 254, .decide = 69, .says = "",
		 .log = ASKED("254") END("-1 31") "judged 0: 69\n"},
		{.hears = "ce..", .event = E_FAIL, .docker = CHILD_LOST, .decide = 69, .says = "",
		 .log = ASKED("255") END("-1 31") "judged 0: 69\n"},
		{.hears = "ce..", .event = E_FAIL, .docker = 1, .says = "x",
		 .log = ASKED("1") END("-1 31") "judged 0: 0\n" NO_LAUNCH},
		{.hears = "ie..", .event = E_FAIL, .docker = 1, .decide = 69, .says = "no such image",
		 .log = HEAR ASK_IMAGE READ DOCKER_ENDED EARLY "send 10 answered image 1\n"
		        END("21 -1") "judged 0: 69\nfail docker.failed: no such image\n"},
		/* It does not wait for the answer, or has ended meanwhile. */
		{.hears = "ce..", .event = E_FAIL, .decide = 77, .unsent = 2, .error = EPIPE,
		 .log = CONTEXT END("-1 31") "judged 0: 77\n"},
		{.hears = "ce..", .event = E_FAIL, .decide = 77, .unsent = 2, .error = ECONNRESET,
		 .log = CONTEXT END("-1 31") "judged 0: 77\n"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		decides(&rows[i], ENDED);
#undef ASKED
#undef READ
}

/* What it sends once it has ended, or while docker is asked. */
static void hears_nothing_out_of_turn(void **state)
{
	static const char early[] = "cla1xL";
	struct outcome row = {.event = E_FAIL};
	char hears[4];

	(void)state;
	for (size_t i = 0; early[i] != '\0'; i++) {
		(void)snprintf(hears, sizeof(hears), "l.%c", early[i]);
		row.hears = hears;
		row.log = HEAR END("21 31") TOO_EARLY;
		decides(&row, ENDED);
		(void)snprintf(hears, sizeof(hears), "c%c", early[i]);
		row.log = HEAR ASK_CONTEXT DOCKER_ENDED EARLY TOO_EARLY "close -1 31\n";
		decides(&row, KILLED);
		(void)snprintf(hears, sizeof(hears), "i%c", early[i]);
		row.log = HEAR ASK_IMAGE DOCKER_ENDED EARLY TOO_EARLY "close 21 -1\n";
		decides(&row, KILLED);
	}
}

/* Each question once, in order, and the launch last; each a frame of its kind. */
static void keeps_the_order(void **state)
{
#define FAILS(text) "fail policy.protocol: message of kind " text "\n"
#define ASKS_URL "endpoint " URL "\n"
	static const struct outcome rows[] = {
		{.hears = "1", .log = HEAR FAILS("0 after 0") BOTH},
		{.hears = "x", .log = HEAR FAILS("0 after 0") BOTH},
		{.hears = "e", .log = HEAR FAILS("0 after 0") BOTH},
		{.hears = "f", .log = HEAR FAILS("1, 73 bytes") BOTH},
		{.hears = "a", .log = HEAR FAILS("4, 10 bytes") BOTH},
		{.hears = "C", .log = HEAR FAILS("2, 9 bytes") BOTH},
		{.hears = "I", .log = HEAR FAILS("3, 45 bytes") BOTH},
		{.hears = "L", .log = HEAR FAILS("5, 192 bytes") BOTH},
		{.hears = "cec", .log = CONTEXT HEAR FAILS("2 after 2") "close -1 31\n"},
		{.hears = "cex", .log = CONTEXT HEAR FAILS("0 after 2") "close -1 31\n"},
		{.hears = "iei", .log = IMAGED HEAR FAILS("3 after 3") "close 21 -1\n"},
		{.hears = "iec", .log = IMAGED HEAR FAILS("2 after 3") "close 21 -1\n"},
		{.hears = "iea", .log = IMAGED HEAR FAILS("4, 10 bytes") "close 21 -1\n"},
		{.hears = "ll", .log = HEAR HEAR FAILS("5 after 5") BOTH},
		{.hears = "lc", .log = HEAR HEAR FAILS("2 after 5") BOTH},
		{.hears = "i", .bad_endpoint = true,
		 .log = HEAR ASKS_URL FAILS("3, 44 bytes") BOTH},
		{.hears = "i", .bad_reference = true,
		 .log = HEAR ASKS_URL "reference " IMAGE "\n" FAILS("3, 44 bytes") BOTH},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct outcome row = rows[i];

		row.event = E_FAIL;
		decides(&row, KILLED);
	}
#undef ASKS_URL
#undef FAILS
}

/* A signal or a deadline at each wait, and a message that cannot be sent. */
static void is_cut_short(void **state)
{
#define DECISION " policy.deadline: the decision, 60\n"
#define INSPECT " docker.deadline: docker inspect, 25\n"
#define TO_SECOND HEAR ASK_CONTEXT DOCKER_KILLED
#define TO_END HEAR HEAR BOTH WAIT_END
	static const struct outcome rows[] = {
		{.stop = 1, .how = CHILD_DEADLINE, .log = WAIT "late" DECISION BOTH},
		{.stop = 1, .how = CHILD_SIGNAL, .log = WAIT "signal" DECISION BOTH},
		{.stop = 2, .how = CHILD_DEADLINE, .hears = "c",
		 .log = TO_SECOND "late" INSPECT "close -1 31\n"},
		{.stop = 2, .how = CHILD_SIGNAL, .hears = "c",
		 .log = TO_SECOND "signal" INSPECT "close -1 31\n"},
		{.stop = 3, .how = CHILD_DEADLINE, .hears = "l..", .log = TO_END "late" DECISION},
		{.stop = 3, .how = CHILD_SIGNAL, .hears = "l..", .log = TO_END "signal" DECISION},
		{.unsent = 1, .error = ENOBUFS,
		 .log = "fail executor.start: the facts to decide: ENOBUFS\n" BOTH},
		{.unsent = 2, .error = ENOBUFS, .hears = "ce",
		 .log = CONTEXT "fail executor.start: the answer to decide: ENOBUFS\nclose -1 31\n"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct outcome row = rows[i];

		row.event = E_FAIL;
		row.hears = row.hears != NULL ? row.hears : "";
		decides(&row, KILLED);
	}
#undef TO_END
#undef TO_SECOND
#undef INSPECT
#undef DECISION
}

static void cannot_always_open(void **state)
{
	static const char *const logs[] = {"socketpair 0\n", "socketpair 0\npipe2\n", OPENED};
	char wanted[256];

	(void)state;
	for (unsigned i = 0; i < COUNT(logs); i++) {
		const struct outcome row = {.unopened = i + 1, .hears = ""};

		begin(&row);
		assert_int_equal(deciding_argv(&run), E_FAIL);
		(void)snprintf(wanted, sizeof(wanted), "%s%s", logs[i],
		               "fail executor.start: socketpair, pipe: EMFILE\n");
		assert_string_equal(notes->text, wanted);
	}
}

/* Which facts there are depends on the command, the environment and the options. */
static void tells_the_facts(void **state)
{
	static const struct {
		bool session;
		const char *host, *sock, *name;
		int audit, worker_err;
		const char *facts;
	} rows[] = {
		{false, NULL, NULL, NULL, -1, -1,
		 FACTS_OF("turn", "none", "none", "none", "none", "none")},
		{true, "", "", "n", 0, -1,
		 FACTS_OF("session", "none", "none", "/var/a.log", "none", "n")},
		{true, "u", "s", "", -1, 0,
		 FACTS_OF("session", "u", "s", "none", "/var/w.log", "")},
		{false, "unix:///h", NULL, NULL, 1, 1,
		 FACTS_OF("turn", "unix:///h", "none", "/var/a.log", "/var/w.log", "none")},
		{false, NULL, "/run/agent", NULL, 2, -1,
		 FACTS_OF("turn", "none", "/run/agent", "/var/a.log", "none", "none")},
	};
	const struct outcome row = {.hears = "l.."};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		begin(&row);
		run.session = rows[i].session;
		run.audit = rows[i].audit;
		run.worker_err = rows[i].worker_err;
		options.value[OPTION_NAME] = rows[i].name;
		if (rows[i].host != NULL)
			assert_int_equal(setenv("DOCKER_HOST", rows[i].host, 1), 0);
		if (rows[i].sock != NULL)
			assert_int_equal(setenv("SSH_AUTH_SOCK", rows[i].sock, 1), 0);
		assert_int_equal(deciding_argv(&run), E_OK);
		if (strstr(notes->text, rows[i].facts) == NULL)
			fail_msg("%s is not in\n%s", rows[i].facts, notes->text);
	}
}

/* Nothing is sent then, not even the end. */
static void facts_may_be_too_long(void **state)
{
	const struct outcome row = {.hears = ""};
	static char half[FRAME_MAX / 2 + 1]; /* of a message */

	(void)state;
	begin(&row);
	memset(half, 'h', sizeof(half) - 1);
	assert_int_equal(setenv("DOCKER_HOST", half, 1), 0);
	options.value[OPTION_NAME] = half;
	assert_int_equal(deciding_argv(&run), E_FAIL);
	assert_string_equal(notes->text,
	                    STARTED "fail executor.start: the facts do not fit into a message\n"
	                            "close 21 31\n" KILLED);
}

/* --- A_GATE --- */

#define GATE(endpoint, mode) "gate " NONCE " " STATE_ID " " endpoint " " mode "\n"
#define PLAN "removal " NONCE " at " URL "\ndocument frame, 123\n"

static void the_gate_decides(void **state)
{
	static const struct {
		const char *asked; /* the endpoint that ASK_IMAGE has named */
		enum gate_result gate;
		size_t turn;
		int document;
		enum life_event event;
		const char *log;
		bool session;
	} rows[] = {
		{"", GATE_OK, 1000, 4, E_OK, GATE("none", "turn") PLAN, false},
		{"", GATE_OK, 0, 0, E_OK, GATE("none", "session") PLAN, true},
		{URL, GATE_OK, 999, 4, E_OK, GATE(URL, "turn") PLAN, false},
		{"x", GATE_OK, 0, 4, E_OK, GATE("x", "session") PLAN, true},
		{"", GATE_OK, 1001, 4, E_FAIL,
		 GATE("none", "turn") "fail turn.size: 1001 bytes\n", false},
		{"", GATE_OK, 1000, -1, E_FAIL,
		 GATE("none", "turn") PLAN "fail executor.start: the plan: EMFILE\n", false},
		{"", GATE_NUMBER, 1, 4, E_FAIL,
		 GATE("none", "turn") "fail gate.refused: check 1 at 17\n", false},
		{"", GATE_WORD, 1, 4, E_FAIL,
		 GATE("none", "turn") "fail gate.refused: check 2 at 17\n", false},
		{"", GATE_ROOT, 1, 4, E_FAIL,
		 GATE("none", "turn") "fail gate.refused: check 3 at 17\n", false},
		{"", GATE_LABEL, 9999, 4, E_FAIL,
		 GATE("none", "turn") "fail gate.refused: check 4 at 17\n", false},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct outcome row = {.document = rows[i].document};
		const bool accepted = strstr(rows[i].log, "removal") != NULL;

		begin(&row);
		gate_says = rows[i].gate;
		run.session = rows[i].session;
		run.turn_bytes = rows[i].turn;
		run.frame_bytes = 123;
		strcpy(run.docker.endpoint, rows[i].asked);
		run.order.turn_bytes = 1000;
		run.order.control_seconds = 11;
		run.order.remove_seconds = 12;
		run.order.argv.at[GATE_AT_ENDPOINT] = URL;
		assert_int_equal(deciding_gate(&run), rows[i].event);
		assert_string_equal(notes->text, rows[i].log);
		assert_string_equal(run.docker.endpoint, accepted ? URL : rows[i].asked);
		assert_int_equal(run.removal.control_seconds, accepted ? 11 : 0);
		assert_int_equal(run.removal.remove_seconds, accepted ? 12 : 0);
		assert_int_equal(run.plan, accepted ? rows[i].document : -1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_the_turn),    cmocka_unit_test(a_session_has_no_turn),
		cmocka_unit_test(converses),         cmocka_unit_test(asks_docker),
		cmocka_unit_test(keeps_the_order),   cmocka_unit_test(hears_nothing_out_of_turn),
		cmocka_unit_test(is_cut_short),      cmocka_unit_test(cannot_always_open),
		cmocka_unit_test(tells_the_facts),   cmocka_unit_test(facts_may_be_too_long),
		cmocka_unit_test(the_gate_decides),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: ISC */
#undef _FORTIFY_SOURCE /* it would define open(2) itself */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../executor/checking.h"
#include "../../executor/deciding.h"
#include "../../executor/launch.h"
#include "../../executor/run.h"
#include "../../executor/worker.h"
#include "pass_on.h"

/*
 * A launch whose every call writes a line, and does as it is told.  life.c, gate.c
 * and say.c are the real ones.  A row tells how a launch differs from the usual one:
 * which calls do something else, and which lines follow then.
 */

#define NONCE "00112233445566778899aabbccddeeff"
#define OTHER "ffeeddccbbaa99887766554433221100"
#define ID16 "0123456789abcdef"
#define ID ID16 ID16 ID16 ID16

/* ---- what is told ---- */

struct told {
	const char *call;
	int gives; /* instead of what is usual */
	int error; /* errno; of an action that fails its reason */
	int signal; /* that comes meanwhile */
	int takes; /* milliseconds */
	const char *text;
};

struct row {
	const char *at; /* as is usual up to and with the line that begins so; "": none */
	struct told told[6];
	const char *then; /* what follows */
	const char *back; /* the line from which all is as usual; NULL: none */
	const char *until; /* up to and with this line; NULL: to the end */
	const char *last; /* and what follows then */
	int status;
	int signal; /* that has come before */
	const char *fds; /* that the first action finds; NULL: as is usual */
	const char *said; /* with --status-fd: the line; NULL: not of interest */
	struct change {
		enum option option;
		const char *value;
	} change[4];
	bool session;
	bool audit_optional;
	int status_fd; /* 0: none; STATUS_ZERO: 0 */
	unsigned lock_seconds;
};

#define TOLD(name, ...) \
	{ \
		.call = (name), __VA_ARGS__ \
	}
#define STATUS_ZERO (-2)

/* What is usual, and how long it takes. */
static const struct told usual[] = {
	{.call = "self_start", .gives = WHY_NONE, .takes = 1},
	{.call = "open", .gives = 7},
	{.call = "tcgetpgrp", .gives = -1},
	{.call = "deciding_turn", .takes = 2},
	{.call = "deciding_argv", .takes = 4},
	{.call = "deciding_gate", .takes = 8},
	{.call = "state_reap", .takes = 16},
	{.call = "state_lock", .gives = STATE_OK, .takes = 32},
	{.call = "state_claim", .gives = true, .takes = 64},
	{.call = "guardian_start", .gives = true, .takes = 128},
	{.call = "child_wait", .gives = CHILD_DONE, .takes = 256},
	{.call = "pause", .gives = CHILD_DEADLINE, .takes = 20},
	{.call = "checking_container", .takes = 512},
	{.call = "state_unlock", .gives = true, .takes = 1024},
	{.call = "worker_start", .takes = 2048},
	{.call = "worker_result", .takes = 4096},
	{.call = "removal_run", .gives = true, .takes = 8192},
	{.call = "state_drop_claim", .gives = true, .takes = 16384},
	{.call = "child_put 1", .gives = true, .takes = 32768},
	{.call = "child_put 2", .gives = true},
	{.call = "child_put 0", .gives = true},
	{.call = "child_put 3", .gives = true},
	{.call = "child_put -1", .gives = true},
	{.call = "child_set_up", .gives = true},
	{.call = "state_random", .gives = true},
	{.call = "state_claim_say", .gives = true},
	{.call = "run_same_roots", .gives = true},
	{.call = "removal_take_id", .gives = true},
	{.call = "audit_say", .gives = true},
};

static const struct row *row;
static bool used[6];
static struct run *of; /* the launch's own, once it has been seen */
static bool running; /* calls of the library are a launch's */
static int64_t now;
static int came; /* a signal */
static char trace[8192];
static char fds[128];
static char said[2048];

__attribute__((format(printf, 1, 2))) static void note(const char *format, ...)
{
	const size_t len = strlen(trace);
	va_list words;
	int more;

	va_start(words, format);
	more = vsnprintf(trace + len, sizeof(trace) - len, format, words);
	va_end(words);
	assert_in_range(more, 0, sizeof(trace) - len - 1); /* or it has no end */
}

/* What a call does this time. */
static const struct told *does(const char *call)
{
	static const struct told nothing;
	const struct told *what = &nothing;

	for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++)
		if (strcmp(usual[i].call, call) == 0)
			what = &usual[i];
	for (size_t i = 0; i < sizeof(used); i++) {
		if (row->told[i].call == NULL || used[i] || strcmp(row->told[i].call, call) != 0)
			continue;
		what = &row->told[i];
		used[i] = true;
		break;
	}
	now += what->takes;
	came = what->signal != 0 ? what->signal : came;
	errno = what->error;
	return what;
}

static int gives(const char *call)
{
	return does(call)->gives;
}

/* ---- run.h ---- */

static void record(struct run *run, enum executor_reason why)
{
	const struct say_row *is = say_row(why);
	const int status = is->status + (why == WHY_SIGNALLED ? came : 0);

	of = run;
	if (say_graver(run->status, status) == run->status)
		return;
	run->status = status;
	run->phase = run->action;
	strcpy(run->code, is->code);
	strcpy(run->reason, is->reason);
}

enum life_event run_fail(struct run *run, enum executor_reason why, const char *format, ...)
{
	char text[512];
	va_list words;

	va_start(words, format);
	vsnprintf(text, sizeof(text), format, words);
	va_end(words);
	note("run_fail %s: %s\n", say_row(why)->reason, text);
	say_reason(why, text, false);
	record(run, why);
	return E_FAIL;
}

enum life_event run_fail_errno(struct run *run, enum executor_reason why, const char *what)
{
	note("run_fail_errno %s: %s: %s\n", say_row(why)->reason, what, strerrorname_np(errno));
	record(run, why);
	return E_FAIL;
}

enum life_event run_fail_child(struct run *run, enum executor_reason why,
                               const struct child *child, const char *what)
{
	note("run_fail_child %s: %s, %td\n", say_row(why)->reason, what, child - run->child);
	record(run, why);
	return E_FAIL;
}

enum life_event run_signalled(struct run *run)
{
	note("run_signalled %d\n", came);
	record(run, WHY_SIGNALLED);
	return E_FAIL;
}

bool run_stopped(struct run *run, enum child_wait wait, enum executor_reason late,
                 const char *what, unsigned seconds)
{
	const bool stopped = wait == CHILD_SIGNAL || wait == CHILD_DEADLINE;

	note("run_stopped %s: %s, %u%s\n", say_row(late)->reason, what, seconds,
	     stopped ? ": yes" : "");
	if (stopped)
		record(run, wait == CHILD_SIGNAL ? WHY_SIGNALLED : late);
	return stopped;
}

static const char *const events[] = {
	[AUDIT_LAUNCH] = "launch",
	[AUDIT_EXIT] = "exit",
	[AUDIT_REMOVED] = "removed",
	[AUDIT_RESIDUAL] = "residual",
	[AUDIT_REAPED] = "reaped",
};

enum life_event run_log(struct run *run, enum audit_event what, int code)
{
	note("run_log %s %d\n", events[what], code);
	if (gives("run_log") == E_OK)
		return E_OK;
	record(run, WHY_AUDIT_EVENT);
	return E_FAIL;
}

int64_t run_after(unsigned seconds)
{
	return now + (int64_t)seconds * 1000;
}

bool run_same_roots(const struct run *run)
{
	assert_ptr_equal(run, of);
	note("run_same_roots\n");
	return gives("run_same_roots") != 0;
}

/* ---- the actions of other modules ---- */

static enum life_event acts(struct run *run, const struct told *what, const char *name)
{
	assert_ptr_equal(run, of);
	note("%s\n", name);
	if (what->gives != E_OK)
		record(run, (enum executor_reason)what->error);
	return (enum life_event)what->gives;
}

static enum life_event act(struct run *run, const char *name)
{
	return acts(run, does(name), name);
}

enum life_event deciding_turn(struct run *run)
{
	of = run;
	snprintf(fds, sizeof(fds), "%d %d %d %d %d, %d %d %d", run->turn_in, run->config,
	         run->audit, run->worker_err, run->policy, run->turn, run->plan, run->hear);
	assert_ptr_equal(run->id, run->removal.id);
	assert_string_equal(run->nonce_hex, NONCE);
	assert_string_equal(run->own_path, "/real/own");
	assert_string_equal(run->policy_path, "/real/policy");
	assert_int_equal(run->session, row->session);
	return act(run, "deciding_turn");
}

enum life_event deciding_argv(struct run *run)
{
	static const char *const argv[] = {"docker", "", "", "", "", "", "", "", "box", NULL};

	run->order.lock_seconds = row->lock_seconds;
	run->order.control_seconds = 6;
	run->order.audit_optional = row->audit_optional;
	memcpy(run->order.argv.at, argv, sizeof(argv));
	strcpy(run->docker.endpoint, "unix:///e");
	run->removal = (struct removal){.docker = &run->docker, .control_seconds = 6,
	                                .remove_seconds = 9, .run = "label=r",
	                                .id = "\0old"}; /* "" it is all the same */
	return act(run, "deciding_argv");
}

enum life_event deciding_gate(struct run *run)
{
	return act(run, "deciding_gate");
}

enum life_event checking_container(struct run *run)
{
	const enum life_event event = act(run, "checking_container");

	run->verified = event == E_OK;
	return event;
}

enum life_event worker_start(struct run *run)
{
	return act(run, "worker_start");
}

/* Told a text: out of memory. */
enum life_event worker_result(struct run *run)
{
	const struct told *what = does("worker_result");

	strcpy(run->line, "{\"a\":1}\nmore");
	run->line_bytes = strlen("{\"a\":1}\n");
	run->ended = true;
	run->oom = what->text != NULL;
	run->exit_code = what->text != NULL ? 137 : 0;
	return acts(run, what, "worker_result");
}

/* ---- self.h ---- */

enum executor_reason self_start(void)
{
	note("self_start\n");
	return (enum executor_reason)gives("self_start");
}

void self_home(char *home, size_t cap)
{
	note("self_home %zu\n", cap);
	strcpy(home, "/home/u");
}

/* Opens one, or has a path to name all the same. */
static enum executor_reason opens(const char *call, int as, int *fd, char *path, const char *real)
{
	const enum executor_reason why = (enum executor_reason)gives(call);

	if (path != NULL)
		strcpy(path, real);
	if (why == WHY_NONE)
		*fd = as;
	return why;
}

const char *self_config_named(const char *given)
{
	return given;
}

enum executor_reason self_config(const char *given, const char *home, int *fd, char *path)
{
	note("self_config %s, %s, %d\n", given != NULL ? given : "none", home, *fd);
	return opens("self_config", 5, fd, path, "/real/config");
}

enum executor_reason self_audit(const char *given, int *fd, char *path)
{
	note("self_audit %s, %d\n", given, *fd);
	return opens("self_audit", 8, fd, path, "/real/audit");
}

enum executor_reason self_log(const char *given, int *fd, char *path)
{
	note("self_log %s, %d\n", given, *fd);
	return opens("self_log", 9, fd, path, "/real/log");
}

enum executor_reason self_docker(const char *given, char *path)
{
	int fd;

	note("self_docker %s\n", given != NULL ? given : "none");
	return opens("self_docker", 0, &fd, path, "/real/docker");
}

enum executor_reason self_policy(int *fd, char *own, char *path)
{
	note("self_policy %d\n", *fd);
	strcpy(own, "/real/own");
	return opens("self_policy", 10, fd, path, "/real/policy");
}

/* ---- state.h and guardian.h ---- */

static const struct state *state_seen;

bool state_random(uint8_t bytes[NONCE_BYTES], char hex[ID_HEX + 1])
{
	note("state_random\n");
	memset(bytes, 0x5a, NONCE_BYTES);
	strcpy(hex, NONCE);
	return gives("state_random") != 0;
}

enum state_result state_open(struct state *state, const char *given, const char *home)
{
	note("state_open %s, %s\n", given != NULL ? given : "none", home);
	state_seen = state;
	strcpy(state->path, "/real/state");
	strcpy(state->id, OTHER);
	state->wrong = "it is not private";
	return (enum state_result)gives("state_open");
}

enum state_result state_lock(struct state *state, const char *nonce)
{
	assert_ptr_equal(state, state_seen);
	note("state_lock %s\n", nonce);
	return (enum state_result)gives("state_lock");
}

size_t state_holder(const struct state *state, char *to, size_t cap)
{
	assert_ptr_equal(state, state_seen);
	note("state_holder %zu\n", cap);
	memcpy(to, "12 abcdef", 9);
	return 6;
}

bool state_unlock(struct state *state)
{
	assert_ptr_equal(state, state_seen);
	note("state_unlock\n");
	return gives("state_unlock") != 0;
}

bool state_claim(struct state *state, const char *nonce, const char *endpoint)
{
	assert_ptr_equal(state, state_seen);
	note("state_claim %s, %s\n", nonce, endpoint);
	return gives("state_claim") != 0;
}

bool state_claim_say(const struct state *state, const char *line)
{
	assert_ptr_equal(state, state_seen);
	note("state_claim_say %s", line);
	return gives("state_claim_say") != 0;
}

/* Told 1 and 2: one orphan, that was created or that may have been. */
void state_reap(const struct state *state, unsigned most, unsigned quiet_seconds,
                const char *endpoint,
                bool (*gone)(void *context, const char *nonce, bool created), void *context)
{
	const int orphan = gives("state_reap");

	assert_ptr_equal(state, state_seen);
	assert_ptr_equal(context, of);
	note("state_reap %u, %u, %s\n", most, quiet_seconds, endpoint);
	if (orphan != 0)
		note("gone: %d\n", gone(context, OTHER, orphan == 1));
}

bool state_holds(const struct state *state, const char *path)
{
	assert_ptr_equal(state, state_seen);
	note("state_holds %s\n", path);
	return gives(path) != 0;
}

bool state_drop_claim(struct state *state)
{
	assert_ptr_equal(state, state_seen);
	note("state_drop_claim\n");
	return gives("state_drop_claim") != 0;
}

bool guardian_start(struct guardian *guardian, struct state *state, const struct removal *removal,
                    const struct audit *audit)
{
	assert_ptr_equal(guardian, &of->guardian);
	assert_ptr_equal(state, state_seen);
	assert_ptr_equal(removal, &of->removal);
	assert_ptr_equal(audit, &of->events);
	note("guardian_start\n");
	return gives("guardian_start") != 0;
}

void guardian_end(struct guardian *guardian)
{
	assert_ptr_equal(guardian, &of->guardian);
	note("guardian_end\n");
}

/* ---- removal.h, docker.h and audit.h ---- */

void removal_init(struct removal *removal, const struct docker *docker, const char *nonce)
{
	assert_ptr_equal(docker, &of->docker);
	assert_ptr_not_equal(removal, &of->removal);
	memset(removal, 'x', sizeof(*removal));
	removal->docker = docker;
	removal->id[0] = '\0';
	does("removal_init");
	note("removal_init %s\n", nonce);
}

bool removal_take_id(struct removal *removal, const struct child *child)
{
	const bool good = gives("removal_take_id") != 0;

	assert_ptr_equal(removal, &of->removal);
	note("removal_take_id %td\n", child - of->child);
	if (good)
		strcpy(removal->id, ID);
	return good;
}

/* Told a text: this id is found, or none. */
bool removal_run(struct removal *removal, bool settle)
{
	static const char none[CONTAINER_ID + 1] = "\0old";
	const struct told *what = does("removal_run");

	note("removal_run %s, id '%s', %u/%u seconds%s\n",
	     removal == &of->removal ? "ours" : "another's", removal->id,
	     removal->control_seconds, removal->remove_seconds, settle ? ", settle" : "");
	assert_ptr_equal(of->id, of->removal.id);
	if (what->text != NULL)
		memcpy(removal->id, what->text[0] != '\0' ? ID : none, sizeof(none));
	return what->gives != 0;
}

void docker_environment(struct docker *docker, const char *state_path, const char *state_id)
{
	assert_string_equal(docker->path, "/real/docker");
	note("docker_environment %s, %s\n", state_path, state_id);
}

/* Told the exit status. */
void docker_create(struct child *child, const struct docker *docker, const char *const *argv)
{
	assert_ptr_equal(docker, &of->docker);
	assert_ptr_equal(argv, of->order.argv.at);
	note("docker_create %td%s\n", child - of->child, of->sent ? "" : ", nobody is told");
	child->status = gives("docker_create");
	child->out = 20;
	child->err = 21;
}

bool audit_say(struct audit *audit, enum audit_event event, const char *run,
               const char *container, int code, bool oom)
{
	assert_ptr_equal(audit, &of->events);
	note("audit_say %s, %s, %s, %d, %d\n", events[event], run, container, code, oom);
	return gives("audit_say") != 0;
}

/* ---- child.h ---- */

bool child_set_up(void)
{
	note("child_set_up\n");
	return gives("child_set_up") != 0;
}

/* Of no child: a pause. */
enum child_wait child_wait(struct child *set, size_t count, int fd, short events_of,
                           int64_t deadline)
{
	note("child_wait %s %zu, %d, %d, %+lld\n", set == of->child ? "0" : set == NULL ? "-" : "?",
	     count, fd, events_of, (long long)(deadline - now));
	return (enum child_wait)gives(set != NULL ? "child_wait" : "pause");
}

void child_finish(struct child *child)
{
	note("child_finish %td\n", child - of->child);
}

int child_signal(void)
{
	return came;
}

void child_shield(bool on)
{
	note("child_shield %d\n", on);
}

int64_t child_now(void)
{
	return now;
}

/* What was said on standard error is told by its name, and so is a status line. */
bool child_put(int fd, const char *bytes, size_t len, int64_t deadline)
{
	char name[32], until[32] = "never";
	size_t all;

	snprintf(name, sizeof(name), "child_put %d", fd);
	if (deadline != INT64_MAX)
		snprintf(until, sizeof(until), "%+lld", (long long)(deadline - now));
	if (bytes == say_text(&all) && len == all)
		note("%s said, %s\n", name, until);
	else if (fd == STDOUT_FILENO)
		note("%s, %s: %.*s", name, until, (int)len, bytes);
	else
		note("%s%s, %s\n", name, len > 0 ? " status" : "", until);
	if (len > 0 && fd != STDOUT_FILENO && fd != STDERR_FILENO)
		snprintf(said, sizeof(said), "%.*s", (int)len, bytes);
	return gives(name) != 0;
}

size_t child_length(int memfd)
{
	note("child_length %d\n", memfd);
	return (size_t)gives("child_length");
}

/* Told the text. */
size_t child_read(int memfd, char *to, size_t cap)
{
	const struct told *what = does("child_read");

	note("child_read %d, %zu\n", memfd, cap);
	snprintf(to, cap, "%s", what->text != NULL ? what->text : "");
	return strlen(to);
}

/* ---- the library's ---- */

int open(const char *path, int flags, ...)
{
	PASS_ON(open);

	if (!running)
		return passed_on(path, flags, 0600);
	note("open %s%s\n", path,
	     flags == (O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK) ? "" : " otherwise");
	return gives("open");
}

int fcntl(int fd, int command, ...)
{
	va_list more;
	long argument;
	PASS_ON(fcntl);

	va_start(more, command);
	argument = command == F_GETFD ? 0 : va_arg(more, long);
	va_end(more);
	if (!running)
		return passed_on(fd, command, argument);
	note("fcntl %d, %s\n", fd,
	     command == F_GETFD                                       ? "is it open" :
	     command == F_SETFL && (int)argument == O_RDONLY ? "it blocks" :
	                                                       "something else");
	return gives(command == F_GETFD ? "fcntl is open" : "fcntl");
}

pid_t tcgetpgrp(int fd)
{
	note("tcgetpgrp %d\n", fd);
	return gives("tcgetpgrp");
}

pid_t getpgrp(void)
{
	return 50;
}

int chdir(const char *path)
{
	note("chdir %s\n", path);
	return gives("chdir");
}

/* Each descriptor has a file of its own, but for what a test says here. */
static struct file {
	int fd;
	int made; /* what fstat returns, its buffer filled whatever that is */
	dev_t device;
	ino_t inode;
} file[4];
static unsigned looked; /* so often a descriptor was looked at */

int fstat(int fd, struct stat *st)
{
	PASS_ON(fstat);

	if (!running)
		return passed_on(fd, st);
	looked++;
	*st = (struct stat){.st_dev = 1, .st_ino = (ino_t)fd + 100};
	for (size_t i = 0; i < sizeof(file) / sizeof(file[0]); i++) {
		if (file[i].device == 0 || file[i].fd != fd)
			continue;
		st->st_dev = file[i].device;
		st->st_ino = file[i].inode;
		return file[i].made;
	}
	return fd < 0 ? -1 : 0;
}

/* ---- the usual launch ---- */

#define REPORTED_TO(fd) \
	"child_shield 1\n" \
	"guardian_end\n" \
	"child_put 2 said, +5000\n" \
	"child_put " fd ", +5000\n"
#define REPORTED REPORTED_TO("-1")
#define REMOVED(status) \
	"run_log removed " status "\n" \
	"state_drop_claim\n" \
	"child_shield 0\n"

static const char all[] =
	"self_start\n"
	"open /turn\n"
	"fcntl 7, it blocks\n"
	"tcgetpgrp 7\n"
	"self_home 4096\n"
	"self_config /config, /home/u, -1\n"
	"self_audit /audit, -1\n"
	"self_log /log, -1\n"
	"self_docker /docker\n"
	"self_policy -1\n"
	"state_open /state, /home/u\n"
	"state_holds /real/audit\n"
	"state_holds /real/log\n"
	"docker_environment /real/state, " OTHER "\n"
	"state_random\n"
	"child_set_up\n"
	"chdir /\n"
	"deciding_turn\n"
	"deciding_argv\n"
	"deciding_gate\n"
	"state_reap 4, 4, unix:///e\n"
	"state_lock " NONCE "\n"
	"state_claim " NONCE ", unix:///e\n"
	"guardian_start\n"
	"run_same_roots\n"
	"docker_create 0\n"
	"child_wait 0 1, -1, 0, +6000\n"
	"run_stopped docker.deadline: docker container create, 6\n"
	"removal_take_id 0\n"
	"child_length 21\n"
	"state_claim_say created " ID "\n"
	"child_finish 0\n"
	"checking_container\n"
	"state_unlock\n"
	"worker_start\n"
	"worker_result\n"
	"child_shield 1\n"
	"removal_run ours, id '" ID "', 6/9 seconds\n"
	"run_log removed 0\n"
	"state_drop_claim\n"
	"child_shield 0\n"
	"child_put 1, never: {\"a\":1}\n"
	REPORTED;

#define FDS "7 5 8 9 10, -1 -1 -1"

/* Behind the line that begins so. */
static const char *behind(const char *from, const char *line)
{
	const char *at = strstr(from, line);

	assert_non_null(at);
	return strchr(at, '\n') + 1;
}

/* The usual lines, and where they differ those of the row. */
static const char *expected(char *to, size_t cap)
{
	const bool begins = row->at == NULL || row->at[0] == '\0';
	const char *at = begins ? all : behind(all, row->at), *back = at, *until;

	if (row->back != NULL)
		back = strstr(at, row->back);
	else if (row->at != NULL)
		back = "";
	assert_non_null(back);
	until = row->until != NULL ? behind(back, row->until) : back + strlen(back);
	snprintf(to, cap, "%.*s%s%.*s%s", (int)(at - all), all,
	         row->then != NULL ? row->then : "", (int)(until - back), back,
	         row->last != NULL ? row->last : "");
	return to;
}

static void launches(const struct row *as)
{
	char lines[sizeof(trace)];
	struct options options = {
		.value = {[OPTION_CONFIG] = "/config", [OPTION_TURN] = "/turn",
		          [OPTION_AUDIT] = "/audit", [OPTION_WORKER_STDERR] = "/log",
		          [OPTION_DOCKER] = "/docker", [OPTION_STATE_DIR] = "/state"},
		.status_fd = as->status_fd == 0 ? -1 : as->status_fd == STATUS_ZERO ? 0 :
		                                                                 as->status_fd,
	};
	int status;

	row = as;
	for (size_t i = 0; i < sizeof(as->change) / sizeof(as->change[0]); i++)
		if (as->change[i].option != OPTION_CONFIG || as->change[i].value != NULL)
			options.value[as->change[i].option] =
				as->change[i].value[0] != '\0' ? as->change[i].value : NULL;
	if (of != NULL) /* a process launches once */
		memset(of, 0, sizeof(*of));
	memset(used, 0, sizeof(used));
	say_clear();
	trace[0] = fds[0] = said[0] = '\0';
	now = 1000000;
	came = as->signal;
	running = true;
	status = as->session ? launch_session(&options) : launch_run(&options);
	running = false;
	assert_string_equal(trace, expected(lines, sizeof(lines)));
	assert_int_equal(status, as->status);
	if (fds[0] != '\0')
		assert_string_equal(fds, as->fds != NULL ? as->fds : FDS);
	assert_int_equal(of->events.fd, of->audit); /* no event goes elsewhere */
	for (size_t i = 0; i < sizeof(used); i++)
		assert_true(as->told[i].call == NULL || used[i]);
	if (as->said != NULL)
		assert_string_equal(said, as->said);
}

static void launch_all(const struct row *rows, size_t count)
{
	static const struct row as_usual = {0};

	launches(&as_usual); /* so that the launch has been seen */
	for (size_t i = 0; i < count; i++)
		launches(&rows[i]);
}
#define LAUNCH(rows) launch_all(rows, sizeof(rows) / sizeof((rows)[0]))

static void a_launch_goes_through(void **state)
{
	static const struct row rows[] = {
		{.status = 0},
		{.session = true, .at = "child_shield 0", .back = "child_shield 1\nguardian"},
		/* A signal that comes when all is done changes nothing. */
		{.told = {TOLD("child_put 1", true, .signal = 15)}},
		{.told = {TOLD("child_put 2", false)}},
		{.told = {TOLD("child_put -1", false)}},
	};

	(void)state;
	LAUNCH(rows);
}

/* ---- before the lock ---- */

static void the_turn_is_opened(void **state)
{
	static const struct row rows[] = {
		{.change = {{OPTION_TURN, ""}}, .at = "self_start", .back = "self_home",
		 .then = "tcgetpgrp 0\n", .fds = "0 5 8 9 10, -1 -1 -1"},
		{.change = {{OPTION_TURN, "-"}}, .at = "self_start", .back = "self_home",
		 .then = "tcgetpgrp 0\n", .fds = "0 5 8 9 10, -1 -1 -1"},
		{.change = {{OPTION_TURN, "-x"}}, .at = "self_start", .back = "fcntl 7",
		 .then = "open -x\n"},
		{.told = {TOLD("open", -1, ENOENT)}, .at = "open", .status = 66,
		 .then = "run_fail_errno turn.open: /turn: ENOENT\n" REPORTED},
		{.told = {TOLD("open", 0)}, .at = "open", .back = "self_home",
		 .then = "tcgetpgrp 0\n", .fds = "0 5 8 9 10, -1 -1 -1"},
		{.told = {TOLD("open", 2)}, .at = "open", .back = "self_home",
		 .then = "tcgetpgrp 2\n", .fds = "2 5 8 9 10, -1 -1 -1"},
		{.told = {TOLD("open", 3)}, .at = "open", .back = "self_home",
		 .then = "fcntl 3, it blocks\ntcgetpgrp 3\n", .fds = "3 5 8 9 10, -1 -1 -1"},
		{.told = {TOLD("fcntl", -1, EPERM)}, .at = "fcntl", .status = 66,
		 .then = "run_fail_errno turn.open: /turn: EPERM\n" REPORTED},
		/* Whose terminal it is: ours is 50. */
		{.told = {TOLD("tcgetpgrp", 50)}},
		{.told = {TOLD("tcgetpgrp", 0)}},
		{.told = {TOLD("tcgetpgrp", -50)}},
		{.told = {TOLD("tcgetpgrp", 51)}, .at = "tcgetpgrp", .status = 64,
		 .then = "run_fail usage: the input is a terminal, and this is a background job\n"
		         REPORTED},
		{.told = {TOLD("tcgetpgrp", 1)}, .at = "tcgetpgrp", .status = 64,
		 .then = "run_fail usage: the input is a terminal, and this is a background job\n"
		         REPORTED},
	};

	(void)state;
	LAUNCH(rows);
}

static void files_are_opened(void **state)
{
	static const struct row rows[] = {
		{.change = {{OPTION_CONFIG, "/c"}}, .at = "self_home", .back = "self_audit",
		 .then = "self_config /c, /home/u, -1\n"},
		{.change = {{OPTION_CONFIG, ""}}, .at = "self_home", .back = "self_audit",
		 .then = "self_config none, /home/u, -1\n"},
		{.change = {{OPTION_CONFIG, ""}}, .at = "self_home", .status = 66,
		 .told = {TOLD("self_config", WHY_CONFIG_OPEN, ENOENT)},
		 .then = "self_config none, /home/u, -1\n"
		         "run_fail_errno config.open: the usual places: ENOENT\n" REPORTED},
		{.told = {TOLD("self_config", WHY_CONFIG_OPEN, EACCES)}, .at = "self_config",
		 .then = "run_fail_errno config.open: /config: EACCES\n" REPORTED, .status = 66},
		{.told = {TOLD("self_config", WHY_CONFIG_UNSAFE, EPERM)}, .at = "self_config",
		 .then = "run_fail config.unsafe: /real/config\n" REPORTED, .status = 78},
		{.change = {{OPTION_AUDIT, ""}}, .at = "self_config", .back = "docker_environment",
		 .then = "self_log /log, -1\nself_docker /docker\nself_policy -1\n"
		         "state_open /state, /home/u\nstate_holds \nstate_holds /real/log\n",
		 .fds = "7 5 -1 9 10, -1 -1 -1"},
		{.told = {TOLD("self_audit", WHY_AUDIT_OPEN, ELOOP)}, .at = "self_audit",
		 .then = "run_fail_errno audit.open: /audit: ELOOP\n" REPORTED, .status = 66},
		{.change = {{OPTION_WORKER_STDERR, ""}}, .at = "self_audit",
		 .then = "self_docker /docker\nself_policy -1\nstate_open /state, /home/u\n"
		         "state_holds /real/audit\nstate_holds \n",
		 .back = "docker_environment", .fds = "7 5 8 -1 10, -1 -1 -1"},
		{.told = {TOLD("self_log", WHY_WORKER_LOG, ENXIO)}, .at = "self_log",
		 .then = "run_fail_errno worker_stderr.open: /log: ENXIO\n" REPORTED,
		 .status = 66},
		{.change = {{OPTION_DOCKER, ""}, {OPTION_STATE_DIR, ""}}, .at = "self_log",
		 .then = "self_docker none\nself_policy -1\nstate_open none, /home/u\n",
		 .back = "state_holds"},
		{.told = {TOLD("self_docker", WHY_DOCKER_UNSAFE)}, .at = "self_docker",
		 .then = "run_fail docker.unsafe: /real/docker\n" REPORTED, .status = 77},
		{.told = {TOLD("self_docker", WHY_DOCKER_MISSING)}, .at = "self_docker",
		 .then = "run_fail docker.missing: /real/docker\n" REPORTED, .status = 69},
		{.told = {TOLD("self_policy", WHY_POLICY_UNSAFE)}, .at = "self_policy",
		 .then = "run_fail policy.unsafe: /real/policy\n" REPORTED, .status = 77},
		{.told = {TOLD("state_open", STATE_BAD)}, .at = "state_open", .status = 77,
		 .then = "run_fail state.unsafe: /real/state: it is not private\n" REPORTED},
		{.told = {TOLD("state_open", STATE_HELD)}, .at = "state_open", .status = 77,
		 .then = "run_fail state.unsafe: /real/state: it is not private\n" REPORTED},
		{.told = {TOLD("/real/audit", true)}, .at = "state_holds /real/audit", .status = 64,
		 .then = "run_fail usage: a file that the state directory needs is named\n"
		         REPORTED},
		{.told = {TOLD("/real/log", true)}, .at = "state_holds /real/log", .status = 64,
		 .then = "run_fail usage: a file that the state directory needs is named\n"
		         REPORTED},
	};

	(void)state;
	LAUNCH(rows);
}

static void one_file_has_one_purpose(void **state)
{
	static const struct row good = {.status = 0};
	static const struct row bad = {
		.at = "self_log", .status = 64,
		.then = "run_fail usage: one file is named for two purposes\n" REPORTED,
	};
	static const struct row no_audit = {
		.change = {{OPTION_AUDIT, ""}, {OPTION_WORKER_STDERR, ""}}, .at = "self_config",
		.then = "self_docker /docker\nself_policy -1\nstate_open /state, /home/u\n"
		        "state_holds \nstate_holds \n",
		.back = "docker_environment", .fds = "7 5 -1 -1 10, -1 -1 -1",
	};
	static const struct {
		const struct row *row;
		struct file file[4];
	} rows[] = {
		/* The audit file is 8, the log 9; what is read: 7 and 5; and 1. */
		{&bad, {{8, 0, 1, 107}}},
		{&bad, {{8, 0, 1, 105}}},
		{&bad, {{8, 0, 1, 101}}},
		{&bad, {{9, 0, 1, 107}}},
		{&bad, {{9, 0, 1, 105}}},
		{&bad, {{9, 0, 1, 101}}},
		{&bad, {{9, 0, 1, 108}}},
		/* Other descriptors are not asked about; one that is read twice is. */
		{&good, {{8, 0, 1, 110}, {9, 0, 1, 102}}},
		{&good, {{7, 0, 1, 3}, {5, 0, 1, 3}, {1, 0, 1, 3}}},
		/* One number of the two is not enough, be it of all. */
		{&good, {{8, 0, 2, 107}, {9, 0, 3, 107}}},
		{&good, {{7, 0, 2, 1}, {8, 0, 2, 2}, {9, 0, 2, 3}}},
		/* What is not open is not the same. */
		{&good, {{8, -1, 1, 107}, {9, -1, 1, 107}}},
		{&good, {{7, -1, 1, 108}, {5, -1, 1, 108}, {1, -1, 1, 109}}},
		{&no_audit, {{7, 0, 1, 99}, {5, 0, 1, 99}, {1, 0, 1, 99}}},
	};

	(void)state;
	looked = 0;
	launches(&good);
	assert_int_equal(looked, 2 * (3 + 4)); /* each pair, once, and no other */
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		memcpy(file, rows[i].file, sizeof(rows[i].file));
		launches(rows[i].row);
		memset(file, 0, sizeof(file));
	}
}

static void sets_itself_up(void **state)
{
	static const struct row rows[] = {
		{.told = {TOLD("self_start", WHY_ROOT)}, .at = "self_start", .status = 77,
		 .then = "run_fail executor.root: \n" REPORTED},
		{.told = {TOLD("self_start", WHY_START)}, .at = "self_start", .status = 70,
		 .then = "run_fail executor.start: \n" REPORTED},
		{.status_fd = 3, .told = {TOLD("fcntl is open", -1, EBADF)}, .at = "self_start",
		 .then = "fcntl 3, is it open\nrun_fail_errno usage: --status-fd: EBADF\n"
		         REPORTED_TO("3 status"), .status = 64},
		{.status_fd = STATUS_ZERO, .told = {TOLD("fcntl is open", -1, EBADF)},
		 .at = "self_start",
		 .then = "fcntl 0, is it open\nrun_fail_errno usage: --status-fd: EBADF\n"
		         REPORTED_TO("0 status"), .status = 64},
		{.told = {TOLD("state_random", false, ENOSYS)}, .at = "state_random",
		 .then = "run_fail_errno executor.start: setting up: ENOSYS\n" REPORTED,
		 .status = 70},
		{.told = {TOLD("child_set_up", false, EMFILE)}, .at = "child_set_up",
		 .then = "run_fail_errno executor.start: setting up: EMFILE\n" REPORTED,
		 .status = 70},
		{.told = {TOLD("chdir", -1, EACCES)}, .at = "chdir",
		 .then = "run_fail_errno executor.start: setting up: EACCES\n" REPORTED,
		 .status = 70},
		{.told = {TOLD("deciding_turn", E_FAIL, WHY_TURN_SIZE)}, .at = "deciding_turn",
		 .then = REPORTED, .status = 65},
		{.told = {TOLD("deciding_argv", E_FAIL, WHY_ENDPOINT)}, .at = "deciding_argv",
		 .then = REPORTED, .status = 77},
		{.told = {TOLD("deciding_gate", E_FAIL, WHY_GATE)}, .at = "deciding_gate",
		 .then = REPORTED, .status = 70},
	};

	(void)state;
	LAUNCH(rows);
}

/* ---- under the lock ---- */

#define ORPHAN "removal_init " OTHER "\n"
#define ORPHAN_GOES "removal_run another's, id '', 5/5 seconds"
#define SAYS_REAPED "audit_say reaped, " OTHER ", " ID ", 0, 0\n"

static void orphans_are_removed(void **state)
{
	static const struct row rows[] = {
		{.told = {TOLD("state_reap", 1), TOLD("removal_run", true, .text = ID)},
		 .at = "state_reap", .then = ORPHAN ORPHAN_GOES "\n" SAYS_REAPED "gone: 1\n",
		 .back = "state_lock"},
		{.told = {TOLD("state_reap", 2), TOLD("removal_run", true, .text = ID)},
		 .at = "state_reap",
		 .then = ORPHAN ORPHAN_GOES ", settle\n" SAYS_REAPED "gone: 1\n",
		 .back = "state_lock"},
		{.told = {TOLD("state_reap", 1), TOLD("removal_run", true, .text = "")},
		 .at = "state_reap", .then = ORPHAN ORPHAN_GOES "\ngone: 1\n",
		 .back = "state_lock"},
		/* It stays for the next launch, and holds up none. */
		{.told = {TOLD("state_reap", 1), TOLD("removal_run", false, .text = ID)},
		 .at = "state_reap", .then = ORPHAN ORPHAN_GOES "\ngone: 0\n",
		 .back = "state_lock"},
		{.told = {TOLD("state_reap", 1), TOLD("removal_init", .signal = 1)},
		 .at = "state_reap",
		 .then = ORPHAN "gone: 0\nrun_signalled 1\n" REPORTED, .status = 129},
		/* A line that cannot be written: it is gone, but nothing is launched. */
		{.told = {TOLD("state_reap", 1), TOLD("removal_run", true, .text = ID),
		          TOLD("audit_say", false, ENOSPC)},
		 .at = "state_reap", .status = 77,
		 .then = ORPHAN ORPHAN_GOES "\n" SAYS_REAPED
		         "run_fail_errno audit.event: writing: ENOSPC\ngone: 1\n" REPORTED},
		{.told = {TOLD("state_reap", 1), TOLD("removal_run", true, .text = ID),
		          TOLD("audit_say", false, ENOSPC)},
		 .audit_optional = true, .at = "state_reap", .back = "state_lock",
		 .then = ORPHAN ORPHAN_GOES "\n" SAYS_REAPED "gone: 1\n"},
	};

	(void)state;
	LAUNCH(rows);
}

static void the_lock_is_waited_for(void **state)
{
	static const struct row rows[] = {
		{.told = {TOLD("state_lock", STATE_HELD)}, .lock_seconds = 1, .at = "state_lock",
		 .then = "child_wait - 0, -1, 0, +20\nstate_lock " NONCE "\n",
		 .back = "state_claim"},
		/* Up to the deadline, and once in any case. */
		{.told = {TOLD("state_lock", STATE_HELD), TOLD("pause", CHILD_DEADLINE, .takes = 999),
		          TOLD("state_lock", STATE_HELD), TOLD("pause", CHILD_DEADLINE, .takes = 1)},
		 .lock_seconds = 1, .at = "state_lock", .status = 75,
		 .then = "child_wait - 0, -1, 0, +20\nstate_lock " NONCE "\n"
		         "child_wait - 0, -1, 0, +20\nstate_holder 64\n"
		         "run_fail lock.held: waited 1 seconds; pid and run: 12 abc\n" REPORTED},
		{.told = {TOLD("state_lock", STATE_HELD), TOLD("pause", CHILD_DEADLINE, .takes = 0)},
		 .at = "state_lock", .status = 75,
		 .then = "child_wait - 0, -1, 0, +20\nstate_holder 64\n"
		         "run_fail lock.held: waited 0 seconds; pid and run: 12 abc\n" REPORTED},
		{.told = {TOLD("state_lock", STATE_HELD), TOLD("pause", CHILD_SIGNAL, .signal = 15)},
		 .lock_seconds = 1, .at = "state_lock", .status = 143,
		 .then = "child_wait - 0, -1, 0, +20\nrun_signalled 15\n" REPORTED},
		{.told = {TOLD("state_lock", STATE_BAD, EIO)}, .at = "state_lock", .status = 77,
		 .then = "run_fail_errno state.unsafe: lock: EIO\n" REPORTED},
	};

	(void)state;
	LAUNCH(rows);
}

/* What is done after a failure under the lock, before docker was told anything. */
#define UNDONE "child_shield 1\nstate_drop_claim\nstate_unlock\n" REPORTED
/* And after it, when there is no id; under the lock, too. */
#define GONE_IS(id, settle, status) \
	"child_shield 1\nremoval_run ours, id '" id "', 6/9 seconds" settle "\n" \
	"run_log removed " status "\nstate_drop_claim\n"
#define GONE(settle, status) GONE_IS("", settle, status) "state_unlock\n" REPORTED

static void what_is_held_is_given_back(void **state)
{
	static const struct row rows[] = {
		{.told = {TOLD("state_claim", false, ENOSPC)}, .at = "state_claim", .status = 70,
		 .then = "run_fail_errno claim.failed: " NONCE ": ENOSPC\n" UNDONE},
		{.told = {TOLD("guardian_start", false, EAGAIN)}, .at = "guardian_start",
		 .then = "run_fail_errno executor.start: the guardian: EAGAIN\n" UNDONE,
		 .status = 70},
		{.told = {TOLD("run_same_roots", false)}, .at = "run_same_roots", .status = 77,
		 .then = "run_fail mount.changed: before the container was created\n" UNDONE},
		{.told = {TOLD("checking_container", E_FAIL, WHY_IMAGE_VOLUME)},
		 .at = "checking_container", .then = GONE(", settle", "77"), .status = 77},
		{.told = {TOLD("state_unlock", false)}, .at = "state_unlock", .status = 70,
		 .then = "run_fail lock.changed: lock\n" GONE_IS(ID, "", "70") REPORTED},
		{.told = {TOLD("worker_start", E_FAIL, WHY_TURN_DEADLINE)}, .at = "worker_start",
		 .then = GONE_IS(ID, "", "124") REPORTED, .status = 124},
		{.told = {TOLD("worker_result", E_FAIL, WHY_WORKER_EXIT)}, .at = "worker_result",
		 .then = GONE_IS(ID, "", "1") REPORTED, .status = 1},
		{.told = {TOLD("state_drop_claim", false)}, .at = "state_drop_claim", .status = 70,
		 .then = "run_fail lock.changed: claim\n" REPORTED},
	};

	(void)state;
	LAUNCH(rows);
}

#define CREATE_FAILED \
	"child_read 21, 29\nrun_fail_child docker.create: docker container create, 0\n" \
	"child_finish 0\n"
#define ENGINE_SAYS "Error response from daemon: "
#define STOPPED "run_stopped docker.deadline: docker container create, 6: yes\nchild_finish 0\n"

static void a_container_is_created(void **state)
{
	static const struct row rows[] = {
		/* The engine's answer, or the client's own failure: there is none. */
		{.told = {TOLD("docker_create", 1), TOLD("child_read", .text = ENGINE_SAYS "no")},
		 .at = "run_stopped", .then = CREATE_FAILED GONE("", "69"), .status = 69},
		{.told = {TOLD("docker_create", 125), TOLD("child_read", .text = "x")},
		 .at = "run_stopped", .then = CREATE_FAILED GONE("", "69"), .status = 69},
		/* After anything else it may still come. */
		{.told = {TOLD("docker_create", 1), TOLD("child_read", .text = "")},
		 .at = "run_stopped", .then = CREATE_FAILED GONE(", settle", "69"), .status = 69},
		{.told = {TOLD("docker_create", 1), TOLD("child_read", .text = " " ENGINE_SAYS)},
		 .at = "run_stopped", .then = CREATE_FAILED GONE(", settle", "69"), .status = 69},
		{.told = {TOLD("docker_create", 124)}, .at = "run_stopped", .status = 69,
		 .then = CREATE_FAILED GONE(", settle", "69")},
		{.told = {TOLD("docker_create", 126)}, .at = "run_stopped", .status = 69,
		 .then = CREATE_FAILED GONE(", settle", "69")},
		{.told = {TOLD("docker_create", CHILD_LOST)}, .at = "run_stopped", .status = 69,
		 .then = CREATE_FAILED GONE(", settle", "69")},
		{.told = {TOLD("child_wait", CHILD_DEADLINE)}, .at = "child_wait", .status = 69,
		 .then = STOPPED GONE(", settle", "69")},
		{.told = {TOLD("child_wait", CHILD_SIGNAL, .signal = 2)}, .at = "child_wait",
		 .then = STOPPED GONE(", settle", "130"), .status = 130},
		{.told = {TOLD("removal_take_id", false)}, .at = "removal_take_id", .status = 69,
		 .then = "run_fail docker.create: docker printed something else than an id\n"
		         "child_finish 0\n" GONE(", settle", "69")},
		{.told = {TOLD("child_length", 1)}, .at = "child_length", .status = 77,
		 .then = "run_fail_child docker.warning: docker container create, 0\n"
		         "child_finish 0\n" GONE(", settle", "77")},
		{.told = {TOLD("state_claim_say", false, EIO)}, .at = "state_claim_say",
		 .then = "run_fail_errno claim.failed: writing: EIO\nchild_finish 0\n"
		         GONE(", settle", "70"), .status = 70},
	};

	(void)state;
	LAUNCH(rows);
}

/* ---- the end ---- */

#define RESIDUAL(id, at_end) \
	"run_log residual 80\nrun_fail remove.unconfirmed: container " id ", named box, of run " \
	NONCE " at unix:///e\n" at_end

static void a_container_may_stay(void **state)
{
	static const struct row rows[] = {
		{.told = {TOLD("removal_run", false)}, .at = "removal_run", .status = 80,
		 .then = RESIDUAL(ID, REPORTED)},
		/* Its claim is kept, the lock is not. */
		{.told = {TOLD("checking_container", E_FAIL, WHY_IMAGE_OS), TOLD("removal_run", false)},
		 .at = "checking_container", .status = 80,
		 .then = "child_shield 1\nremoval_run ours, id '', 6/9 seconds, settle\n"
		         RESIDUAL("of unknown id", "state_unlock\n" REPORTED)},
		{.told = {TOLD("checking_container", E_FAIL, WHY_IMAGE_OS),
		          TOLD("removal_run", false, .text = "")},
		 .at = "checking_container", .status = 80,
		 .then = "child_shield 1\nremoval_run ours, id '', 6/9 seconds, settle\n"
		         RESIDUAL("of unknown id", "state_unlock\n" REPORTED)},
		{.told = {TOLD("docker_create", 1), TOLD("removal_run", false, .text = ID)},
		 .at = "run_stopped", .status = 80,
		 .then = CREATE_FAILED
		         "child_shield 1\nremoval_run ours, id '', 6/9 seconds, settle\n"
		         RESIDUAL(ID, "state_unlock\n" REPORTED)},
		/* No reply without the line that the container is gone. */
		{.told = {TOLD("run_log", E_FAIL)}, .at = "child_shield 0", .status = 77,
		 .then = REPORTED},
		{.session = true, .told = {TOLD("run_log", E_FAIL)}, .at = "child_shield 0",
		 .then = REPORTED, .status = 77},
	};

	(void)state;
	LAUNCH(rows);
}

static void a_reply_is_written(void **state)
{
	static const struct row rows[] = {
		{.told = {TOLD("child_put 1", false, EPIPE)}, .at = "child_put 1", .status = 70,
		 .then = "run_fail_errno output.write: standard output: EPIPE\n" REPORTED},
		{.told = {TOLD("child_put 1", false, EINTR, .signal = 1)}, .at = "child_put 1",
		 .then = "run_signalled 1\n" REPORTED, .status = 129},
	};

	(void)state;
	LAUNCH(rows);
}

static void a_signal_ends_it(void **state)
{
	static const struct row rows[] = {
		{.signal = 1, .at = "", .then = "run_signalled 1\n" REPORTED, .status = 129},
		{.told = {TOLD("chdir", 0, .signal = 15)}, .at = "chdir", .status = 143,
		 .then = "run_signalled 15\n" REPORTED},
		{.told = {TOLD("deciding_turn", E_OK, .signal = 15)}, .at = "deciding_turn",
		 .then = "run_signalled 15\n" REPORTED, .status = 143},
		{.told = {TOLD("deciding_argv", E_OK, .signal = 15)}, .at = "deciding_argv",
		 .then = "run_signalled 15\n" REPORTED, .status = 143},
		{.told = {TOLD("deciding_gate", E_OK, .signal = 15)}, .at = "deciding_gate",
		 .then = "run_signalled 15\n" REPORTED, .status = 143},
		{.told = {TOLD("state_reap", 0, .signal = 15)}, .at = "state_reap",
		 .then = "run_signalled 15\n" REPORTED, .status = 143},
		/* From here on there is something to give back, whatever comes. */
		{.told = {TOLD("state_lock", STATE_OK, .signal = 15)}, .at = "state_lock",
		 .then = "run_signalled 15\n" UNDONE, .status = 143},
		{.told = {TOLD("state_claim", true, .signal = 15)}, .at = "state_claim",
		 .then = "run_signalled 15\n" UNDONE, .status = 143},
		{.told = {TOLD("guardian_start", true, .signal = 15)}, .at = "guardian_start",
		 .then = "run_signalled 15\n" UNDONE, .status = 143},
		{.told = {TOLD("state_claim_say", true, .signal = 15)}, .at = "child_finish",
		 .then = "run_signalled 15\n" GONE(", settle", "143"), .status = 143},
		{.told = {TOLD("checking_container", E_OK, .signal = 15)}, .at = "state_unlock",
		 .then = "run_signalled 15\n" GONE_IS(ID, "", "143") REPORTED, .status = 143},
		{.told = {TOLD("worker_start", E_OK, .signal = 15)}, .at = "worker_start",
		 .then = "run_signalled 15\n" GONE_IS(ID, "", "143") REPORTED, .status = 143},
		{.told = {TOLD("worker_result", E_OK, .signal = 15)}, .at = "state_drop_claim",
		 .then = "run_signalled 15\n" REPORTED, .status = 143},
	};

	(void)state;
	LAUNCH(rows);
}

/* One that comes while a launch that failed is cleaned up counts, unless the failure
 * is as grave. */
static void a_signal_may_be_graver(void **state)
{
	static const struct row rows[] = {
		{.told = {TOLD("deciding_turn", E_FAIL, WHY_TURN_SIZE, .signal = 1)},
		 .at = "deciding_turn", .then = "run_signalled 1\n" REPORTED, .status = 129},
		{.told = {TOLD("worker_result", E_FAIL, WHY_WORKER_EXIT, .signal = 15)},
		 .at = "worker_result", .status = 143,
		 .then = GONE_IS(ID, "", "1") "run_signalled 15\n" REPORTED},
		{.told = {TOLD("worker_start", E_FAIL, WHY_TURN_DEADLINE, .signal = 15)},
		 .at = "worker_start", .then = GONE_IS(ID, "", "124") REPORTED, .status = 124},
		{.told = {TOLD("deciding_gate", E_FAIL, WHY_GATE, .signal = 15)},
		 .at = "deciding_gate", .then = REPORTED, .status = 70},
		{.told = {TOLD("removal_run", false, .signal = 15)}, .at = "removal_run",
		 .then = RESIDUAL(ID, REPORTED), .status = 80},
	};

	(void)state;
	LAUNCH(rows);
}

#define OPEN_3 "fcntl 3, is it open\n"
#define LAST_3 "child_put 2 said, +5000\nchild_put 3 status, +5000\n"
#define LINE(phase, why, end, worker, times) \
	"{\"run\":\"" NONCE "\",\"phase\":\"" phase "\"," why "," end "," \
	"\"container_exit\":" worker ",\"ms\":{" times "}}\n"
#define WHY(code, reason) "\"code\":\"" code "\",\"reason\":\"" reason "\""
#define END(status, signal) "\"exit\":" status ",\"signal\":" signal
#define UP_TO_CREATE \
	"\"set_up\":1,\"turn\":2,\"decide\":4,\"gate\":8,\"reap\":16,\"lock\":32," \
	"\"claim\":64,\"guard\":128,\"create\":256,"
#define UP_TO_SETTLE \
	UP_TO_CREATE "\"check\":512,\"unlock\":1024,\"start\":2048,\"result\":4096," \
	             "\"remove\":8192,\"settle\":0,"

static void the_status_is_told(void **state)
{
	static const struct row rows[] = {
		{.status_fd = 3, .at = "self_start", .then = OPEN_3, .back = "open /turn",
		 .until = "guardian_end", .last = LAST_3,
		 .said = LINE("done", WHY("", ""), END("0", "0"), "0,\"oom\":false",
		              UP_TO_SETTLE "\"drop_claim\":16384,\"release\":32768")},
		{.status_fd = 3, .at = "self_start", .then = OPEN_3, .back = "open /turn",
		 .told = {TOLD("worker_result", E_FAIL, WHY_WORKER_EXIT, .takes = 4096, .text = "")},
		 .until = "removal_run",
		 .last = "run_log removed 1\nstate_drop_claim\nchild_shield 1\nguardian_end\n" LAST_3,
		 .status = 1,
		 .said = LINE("result", WHY("SANDBOX_WORKER", "worker.exit"), END("1", "0"),
		              "137,\"oom\":true",
		              UP_TO_SETTLE "\"drop_claim\":16384,\"release\":0")},
		{.status_fd = 3, .at = "self_start", .then = OPEN_3, .back = "open /turn",
		 .told = {TOLD("child_wait", CHILD_SIGNAL, .signal = 2, .takes = 256)},
		 .until = "child_wait 0", .status = 130,
		 .last = STOPPED GONE_IS("", ", settle", "130")
		         "state_unlock\nchild_shield 1\nguardian_end\n" LAST_3,
		 .said = LINE("create", WHY("SANDBOX_ABORTED", "signal"), END("130", "2"),
		              "null,\"oom\":null",
		              UP_TO_CREATE "\"check\":0,\"unlock\":1024,\"start\":0,"
		                           "\"result\":0,\"remove\":0,\"settle\":8192,"
		                           "\"drop_claim\":16384,\"release\":0")},
		/* The signal came before the report, and is why. */
		{.status_fd = 3, .at = "self_start", .then = OPEN_3, .back = "open /turn",
		 .told = {TOLD("deciding_turn", E_FAIL, WHY_TURN_SIZE, .signal = 15)},
		 .until = "deciding_turn", .status = 143,
		 .last = "run_signalled 15\nchild_shield 1\nguardian_end\n" LAST_3,
		 .said = LINE("report", WHY("SANDBOX_ABORTED", "signal"), END("143", "15"),
		              "null,\"oom\":null",
		              "\"set_up\":1,\"turn\":0,\"decide\":0,\"gate\":0,\"reap\":0,"
		              "\"lock\":0,\"claim\":0,\"guard\":0,\"create\":0,\"check\":0,"
		              "\"unlock\":0,\"start\":0,\"result\":0,\"remove\":0,"
		              "\"settle\":0,\"drop_claim\":0,\"release\":0")},
		/* Nobody hears it: that is no failure of the launch. */
		{.status_fd = 3, .at = "self_start", .then = OPEN_3, .back = "open /turn",
		 .told = {TOLD("child_put 3", false, EPIPE)}, .until = "guardian_end",
		 .last = LAST_3},
	};

	(void)state;
	LAUNCH(rows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_launch_goes_through),
		cmocka_unit_test(the_turn_is_opened),
		cmocka_unit_test(files_are_opened),
		cmocka_unit_test(one_file_has_one_purpose),
		cmocka_unit_test(sets_itself_up),
		cmocka_unit_test(orphans_are_removed),
		cmocka_unit_test(the_lock_is_waited_for),
		cmocka_unit_test(what_is_held_is_given_back),
		cmocka_unit_test(a_container_is_created),
		cmocka_unit_test(a_container_may_stay),
		cmocka_unit_test(a_reply_is_written),
		cmocka_unit_test(a_signal_ends_it),
		cmocka_unit_test(a_signal_may_be_graver),
		cmocka_unit_test(the_status_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: ISC */

/*
 * What stands between a check and its word: the executor's E_OK of a check means
 * that docker and policy were both started as they must be and both ended well
 * (checking.c, run.c), the roots are the same only if each is (run.c), and what is
 * taken as a line is all that was written.
 *
 * run.c and checking.c are the real ones.  Children are what child.h says of them:
 * they end when they like and as they like, or not at all; a call of the kernel
 * answers what it likes.
 */
#include <bsd/string.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "nondet.h"

static int some_open(const char *path, int flags);
static int some_fstat(int fd, struct stat *st);
static int some_pipe2(int fd[2], int flags);
static void some_close(int fd);
static char *first_of(char *text, char byte, size_t len);
static ssize_t some_pread(char *to, size_t cap);

#define open(path, flags) some_open(path, flags)
#define fstat(fd, st) some_fstat(fd, st)
#define pipe2(fd, flags) some_pipe2(fd, flags)
#define close(fd) some_close(fd)
#define pread(fd, to, cap, at) some_pread(to, cap)
#define strlcpy(to, from, size) ((to)[0] = (from)[0]) /* words for people */
#define memchr(text, byte, len) first_of(text, byte, len)
#define poll(set, count, ms) ((int)any_up_to(1))
#include "../executor/run.c"
#include "../executor/checking.c"
#undef open
#undef fstat
#undef pipe2
#undef close
#undef pread
#undef poll
#undef strlcpy
#undef memchr

static struct run run;
static int opened; /* descriptors that nobody has closed yet */

static void some_close(int fd)
{
	PROVE(fd >= 0, "only what was opened is closed");
	opened--;
}

/* ---- what run.c says things with: not of interest here ---- */

const struct say_row *say_row(enum executor_reason why)
{
	static const struct say_row row = {"", "", "", "", 70};

	(void)why;
	return &row;
}

void say_about(enum executor_reason why, bool json, const char *format, va_list words)
{
	(void)why;
	(void)json;
	(void)format;
	(void)words;
}

bool say_refusal(const char *bytes, size_t len, char *code, char *reason)
{
	(void)bytes;
	(void)len;
	code[0] = reason[0] = '\0';
	return any_bool();
}

bool say_refuses(int status)
{
	return status == 77 || any_bool();
}

int say_graver(int status, int later)
{
	return any_bool() ? status : later;
}

bool say_plain(const char *bytes, size_t len)
{
	bool plain = true;

	for (size_t i = 0; i < len; i++)
		plain = plain && ((unsigned char)bytes[i] >= 0x20 || bytes[i] == '\n');
	return plain;
}

bool audit_say(struct audit *audit, enum audit_event event, const char *run_hex, const char *id,
               int code, bool oom)
{
	(void)audit;
	(void)event;
	(void)run_hex;
	(void)id;
	(void)code;
	(void)oom;
	return true;
}

int64_t child_now(void)
{
	return 0;
}

int child_signal(void)
{
	return 15;
}

bool child_put(int fd, const char *bytes, size_t len, int64_t deadline)
{
	(void)fd;
	(void)bytes;
	(void)len;
	(void)deadline;
	return true;
}

size_t child_read(int memfd, char *to, size_t cap)
{
	(void)memfd;
	(void)cap;
	to[0] = '\0';
	return 0;
}

/* ---- children ---- */

static struct started {
	bool docker, policy, killed;
	enum docker_command command;
	const char *subject, *judge;
	int in, out, plan, count;
} started[4];

static struct started *note(struct child *child)
{
	const bool lost = any_bool();

	*child = (struct child){lost ? 0 : 1, lost, true, CHILD_LOST, -1, -1};
	return &started[child - run.child];
}

void docker_start(struct child *child, const struct docker *docker, enum docker_command command,
                  const char *subject, int in, int out)
{
	struct started *s = note(child);

	PROVE(docker == &run.docker, "the run's docker");
	*s = (struct started){.docker = true, .command = command, .subject = subject, .in = in,
	                      .out = out};
}

void child_start(struct child *child, const struct child_plan *plan)
{
	struct started *s = note(child);

	PROVE(plan->program == run.policy && plan->path[0] == '\0', "the policy of the start");
	*s = (struct started){.policy = true, .judge = plan->argv[1], .in = plan->fd[0],
	                      .out = plan->fd[1], .plan = plan->fd[3], .count = plan->count};
}

/* Compiled: one of each sort that is told apart. */
static int any_status(void)
{
#ifdef CBMC
	return any_bool() ? CHILD_LOST : (int)any_up_to(255);
#else
	static const int ends[] = {0, 77, CHILD_LOST};

	return ends[any_up_to(2)];
#endif
}

/* child.h: child_wait, without a descriptor to wait for. */
enum child_wait child_wait(struct child *set, size_t count, int fd, short events, int64_t deadline)
{
	bool failed = false, all = true;

	(void)events;
	(void)deadline;
	PROVE(fd < 0, "no descriptor");
	if (any_bool())
		return CHILD_SIGNAL;
	for (size_t i = 0; i < count; i++) {
		if (!set[i].ended && any_bool()) {
			set[i].ended = true;
			set[i].status = any_status();
		}
		failed = failed || (set[i].ended && set[i].vital && set[i].status != 0);
		all = all && set[i].ended;
	}
	return failed ? CHILD_FAILED : all ? CHILD_DONE : CHILD_DEADLINE;
}

void child_finish(struct child *child)
{
	if (!child->ended) {
		started[child - run.child].killed = true;
		child->ended = true;
		child->status = CHILD_LOST;
	}
}

static int some_pipe2(int fd[2], int flags)
{
	static int next = 10;

	PROVE((flags & O_CLOEXEC) != 0, "no child gets an end that it is not given");
	if (any_bool())
		return -1;
	fd[0] = next++;
	fd[1] = next++;
	opened += 2;
	return 0;
}

/* Check i of the two was made, and well. */
static void prove_made(size_t i, enum docker_command command, const char *judge)
{
	const struct started *docker = &started[2 * i], *policy = docker + 1;
	const struct child *child = &run.child[2 * i];

	PROVE(docker->docker && docker->command == command && docker->subject == run.id,
	      "docker was asked, about this container");
	PROVE(policy->policy && strcmp(policy->judge, judge) == 0, "by the subcommand for it");
	PROVE(policy->count == 4 && policy->plan == run.plan, "with the plan");
	PROVE(policy->in >= 0 && docker->out == policy->in + 1, "docker's answer is what policy reads");
	PROVE(child[0].ended && !docker->killed && child[0].status == 0, "docker ended well");
	PROVE(child[1].ended && !policy->killed && child[1].status == 0, "so did policy");
}

/* Whatever came of it. */
static void prove_over(size_t first)
{
	for (size_t i = 2 * first; i < 4; i++)
		PROVE(run.child[i].ended, "no child is left");
	PROVE(opened == 0, "no descriptor is left");
}

static void set_up(struct options *options)
{
	static const struct run nothing;

	run = nothing;
	run.options = options;
	run.action = A_CHECK;
	run.id = run.removal.id;
	run.policy = 5;
	run.plan = 6;
	run.verified = any_bool();
	memset(started, 0, sizeof(started));
	opened = 0;
}

PROOF(checking_both)
{
	static struct options options;
	enum life_event event;

	set_up(&options);
	event = checking_container(&run);
	PROVE(run.verified == (event == E_OK), "verified means checked");
	if (event == E_OK) {
		prove_made(0, DOCKER_LIST, "admit");
		prove_made(1, DOCKER_INSPECT, "verify");
	}
	prove_over(0);
}

PROOF(checking_once_more)
{
	static struct options options;
	enum life_event event;
	bool before;

	set_up(&options);
	before = run.verified;
	event = checking_again(&run);
	PROVE(run.verified == before, "whose it is is known already");
	if (event == E_OK)
		prove_made(1, DOCKER_INSPECT, "verify");
	prove_over(1);
}

/* ---- the roots ---- */

#ifdef CBMC
#define any_number() any_u64()
#else
#define any_number() any_up_to(1)
#endif

static struct seen {
	bool opens, stats;
	uint64_t dev, ino;
} seen[ROOTS_MAX];

static unsigned asked; /* gate_root: the root whose path is in the buffer, and one more */

void gate_root(const struct gate *gate, unsigned i, char path[PATH_BYTES_MAX + 1])
{
	PROVE(gate == &run.gate && i < run.order.root_count, "a root of the gate's");
	asked = i + 1;
	path[0] = '\0';
}

static int some_open(const char *path, int flags)
{
	(void)path;
	PROVE(flags == (O_PATH | O_NOFOLLOW | O_CLOEXEC), "looked at, and no link followed");
	PROVE(asked > 0, "by the gate's path");
	if (!seen[asked - 1].opens)
		return -1;
	opened++;
	return (int)asked - 1;
}

static int some_fstat(int fd, struct stat *st)
{
	PROVE(fd >= 0 && fd == (int)asked - 1, "what was opened");
	st->st_dev = seen[fd].dev;
	st->st_ino = seen[fd].ino;
	return seen[fd].stats ? 0 : -1;
}

PROOF(roots_exact)
{
	static struct options options;
	bool same = true;

	set_up(&options);
	asked = 0;
	run.order.root_count = (uint16_t)any_up_to(ROOTS_MAX);
	for (unsigned i = 0; i < run.order.root_count; i++) {
		struct identity *root = &run.order.root[i];

		seen[i].opens = any_bool();
		seen[i].stats = any_bool();
		seen[i].dev = any_number();
		seen[i].ino = any_number();
		root->dev = any_number();
		root->ino = any_number();
		same = same && seen[i].opens && seen[i].stats && seen[i].dev == root->dev &&
		       seen[i].ino == root->ino;
	}
	PROVE(run_same_roots(&run) == same, "the same if every one is");
	PROVE(opened == 0, "no descriptor is left");
}

/* ---- the line ---- */

static const char *file;
static size_t file_len, reads; /* what a read of the file gives */

size_t child_length(int memfd)
{
	(void)memfd;
	return file_len;
}

/* memchr(3), of which CBMC knows nothing. */
static char *first_of(char *text, char byte, size_t len)
{
	char *found = NULL;

	for (size_t i = 0; i < len; i++)
		found = found == NULL && text[i] == byte ? text + i : found;
	return found;
}

static ssize_t some_pread(char *to, size_t cap)
{
	for (size_t i = 0; i < FORMAL_N; i++)
		if (i < cap && i < reads)
			to[i] = file[i];
	return any_bool() ? -1 : (ssize_t)(cap < reads ? cap : reads);
}

PROOF(line_whole)
{
	static struct options options;
	const struct child child = {.out = 3, .err = -1};
	char bytes[FORMAL_N];
	bool plain = true;

	set_up(&options);
	file = bytes;
	file_len = any_text(bytes, FORMAL_N);
	reads = any_up_to(file_len);
	if (!run_take_line(&run, &child)) {
		PROVE(run.line_bytes == 0, "nothing is taken of another");
		return;
	}
	PROVE(run.line_bytes == file_len && reads == file_len, "all of it");
	for (size_t i = 0; i < FORMAL_N; i++)
		plain = plain && (i >= file_len || run.line[i] == file[i]) &&
		        (i + 1 >= file_len || (unsigned char)file[i] >= 0x20);
	PROVE(plain, "as it is, and nothing steers a terminal before the end");
	PROVE(file[0] == '{' && file[file_len - 1] == '\n', "one line");
}

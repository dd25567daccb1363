/* SPDX-License-Identifier: ISC */
#undef _FORTIFY_SOURCE /* it would define poll(2) itself */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <bsd/unistd.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../executor/child.h"
#include "usual.h"

/* This program is each child: called as "child" it does what its words say. */

#define SECONDS_20 20000

/* A sanitizer's runtime catches signals and wants descriptors, in each child too. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#endif
#ifdef SANITIZED
#define CAUGHT ""
#else
#define SANITIZED 0
#define CAUGHT "SigCgt:\t0000000000000000\n"
#endif

/* The library's calls are replaced by these.  The clock stands still when it is
 * set; then a wait in vain makes it go on. */
static struct timespec clock_set;
static int waited; /* milliseconds that poll(2) was asked to wait last */
static bool no_fork;
static const char *fails; /* the call of a child that fails: "" for none */
static int no_memfd; /* the one that cannot be made: 1 or 2 */
static int no_wait; /* what waitpid(2) says first: an errno */
static const int *puts_so; /* what each write(2) says: a length, or -errno; then as it is */
static size_t put_most; /* the most that one was asked for */
static int no_seal; /* the one that is refused: 1 or 2 */
static int places; /* that a child has; 0: any */
static bool signals_high; /* they do not get the lowest descriptor */

static bool failing(const char *call)
{
	if (fails == NULL || strcmp(fails, call) != 0)
		return false;
	errno = EIO;
	return true;
}

pid_t setsid(void)
{
	while (failing("setsid waits"))
		pause();
	return failing("setsid") ? -1 : (pid_t)syscall(SYS_setsid);
}

pid_t getppid(void)
{
	return failing("getppid") ? 1 : (pid_t)syscall(SYS_getppid);
}

int prctl(int what, ...)
{
	va_list more;
	unsigned long one;

	va_start(more, what);
	one = va_arg(more, unsigned long);
	va_end(more);
	return failing("prctl") ? -1 : (int)syscall(SYS_prctl, what, one, 0, 0, 0);
}

int setrlimit(__rlimit_resource_t what, const struct rlimit *limit)
{
	return failing("setrlimit") ? -1 : (int)syscall(SYS_setrlimit, what, limit);
}

int dup2(int from, int to)
{
	if (places > 0 && to >= places)
		_exit(99);
	return failing("dup2") ? -1 : (int)syscall(SYS_dup2, from, to);
}

int dup3(int from, int to, int flags)
{
	return failing("dup3") ? -1 : (int)syscall(SYS_dup3, from, to, flags);
}

int memfd_create(const char *name, unsigned flags)
{
	if (no_memfd > 0 && --no_memfd == 0)
		return -1;
	return (int)syscall(SYS_memfd_create, name, flags);
}

int fcntl(int fd, int what, ...)
{
	va_list more;
	unsigned long one;

	va_start(more, what);
	one = va_arg(more, unsigned long);
	va_end(more);
	if (what == F_ADD_SEALS && no_seal > 0 && --no_seal == 0)
		return -1;
	return (int)syscall(SYS_fcntl, fd, what, one);
}

void (*signal(int number, void (*to)(int)))(int)
{
	const struct sigaction new = {.sa_handler = to, .sa_flags = SA_RESTART};
	struct sigaction old;
	char call[16];

	snprintf(call, sizeof(call), "signal %d", number);
	return failing(call) || sigaction(number, &new, &old) != 0 ? SIG_ERR : old.sa_handler;
}

/* Behind the signals that there are, a set knows whether it was emptied: it has no
 * value before. */
#define EMPTIED UINT64_C(0x656d7074)

int sigemptyset(sigset_t *set)
{
	*set = (sigset_t){{0}};
	set->__val[3] = EMPTIED;
	return 0;
}

static unsigned added; /* signals, to any set */

int sigaddset(sigset_t *set, int number)
{
	added++;
	if (number >= 1 && number <= 64)
		set->__val[0] |= 1UL << (number - 1);
	return 0;
}

int sigprocmask(int how, const sigset_t *restrict set, sigset_t *restrict old)
{
	if (failing("sigprocmask") || set->__val[3] != EMPTIED)
		return -1;
	return (int)syscall(SYS_rt_sigprocmask, how, set, old, sizeof(uint64_t));
}

int signalfd(int fd, const sigset_t *set, int flags)
{
	int high;

	if (failing("signalfd") || set->__val[3] != EMPTIED)
		return -1;
	fd = (int)syscall(SYS_signalfd4, fd, set, sizeof(uint64_t), flags);
	if (!signals_high)
		return fd;
	high = fcntl(fd, F_DUPFD_CLOEXEC, 60);
	close(fd);
	return high;
}

pid_t waitpid(pid_t pid, int *status, int how)
{
	if (how != 0) /* it is not there yet when it was killed just now */
		return 0;
	errno = no_wait;
	no_wait = 0;
	if (errno != 0)
		return -1;
	errno = EINTR; /* an old one */
	return (pid_t)syscall(SYS_wait4, pid, status, how, NULL);
}

ssize_t write(int fd, const void *bytes, size_t len)
{
	if (puts_so == NULL)
		return syscall(SYS_write, fd, bytes, len);
	put_most = len > put_most ? len : put_most;
	if (*puts_so < 0) {
		errno = -*puts_so++;
		return -1;
	}
	if (*puts_so < (int)len && *puts_so < 9999)
		len = (size_t)*puts_so++;
	errno = EIO; /* an old one */
	return len == 0 ? 0 : syscall(SYS_write, fd, bytes, len);
}

int clock_gettime(clockid_t id, struct timespec *now)
{
	if (id != CLOCK_MONOTONIC || clock_set.tv_sec == 0)
		return (int)syscall(SYS_clock_gettime, id, now);
	*now = clock_set;
	return 0;
}

int poll(struct pollfd *fds, nfds_t count, int timeout)
{
	const struct timespec limit = {clock_set.tv_sec != 0 ? 0 : timeout / 1000,
	                               clock_set.tv_sec != 0 ? 0 : timeout % 1000 * 1000000L};
	const int ready = (int)syscall(SYS_ppoll, fds, count, &limit, NULL, 0);

	if (count != 2)
		_exit(99);
	waited = timeout;
	if (ready == 0 && clock_set.tv_sec != 0)
		clock_set = (struct timespec){clock_set.tv_sec + timeout / 1000,
		                              clock_set.tv_nsec + timeout % 1000 * 1000000L};
	return ready;
}

pid_t fork(void)
{
	return no_fork ? -1 : (pid_t)syscall(SYS_fork);
}

static char self[4096];
static char output[65536];

/* --- the child ------------------------------------------------------------ */

static void copy_line(const char *key)
{
	char line[256];
	FILE *status = fopen("/proc/self/status", "r");

	while (status != NULL && fgets(line, sizeof(line), status) != NULL)
		if (strncmp(line, key, strlen(key)) == 0)
			fputs(line, stdout);
	if (status != NULL)
		fclose(status);
}

static int show(char **argv)
{
	struct rlimit core;
	int death = 0;

	for (; *argv != NULL; argv++)
		printf("%s,", *argv);
	for (char **at = environ; *at != NULL; at++)
		printf("%s;", *at);
	puts("");
	for (int fd = 0; fd < 256; fd++)
		if (fcntl(fd, F_GETFD) >= 0)
			printf("%d ", fd);
	puts("");
	copy_line("SigBlk");
	copy_line("SigIgn");
	if (!SANITIZED)
		copy_line("SigCgt");
	getrlimit(RLIMIT_CORE, &core);
	prctl(PR_GET_PDEATHSIG, &death);
	printf("core %d %d, session %d, death %d\n", (int)core.rlim_cur, (int)core.rlim_max,
	       getsid(0) == getpid(), death);
	return fflush(stdout) == 0 ? 0 : 1;
}

static int fill(int fd)
{
	static char bytes[CHILD_PAGE];
	ssize_t n = 1;

	memset(bytes, 'x', sizeof(bytes));
	while (n > 0)
		n = write(fd, bytes, sizeof(bytes));
	return errno == EPERM ? 0 : 1;
}

static int act(char **argv)
{
	const char *what = argv[1];

	if (what == NULL || strcmp(what, "show") == 0)
		return show(argv);
	if (strcmp(what, "exit") == 0)
		return atoi(argv[2]);
	if (strcmp(what, "die") == 0)
		raise(atoi(argv[2]));
	if (strcmp(what, "fill") == 0)
		return fill(atoi(argv[2]));
	if (strcmp(what, "say") == 0)
		return write(STDOUT_FILENO, argv[2], strlen(argv[2])) < 0 ||
		       write(STDERR_FILENO, argv[3], strlen(argv[3])) < 0;
	if (strcmp(what, "copy") == 0) {
		char byte;

		for (int fd = 0; fd < atoi(argv[2]); fd++)
			if (fd != STDOUT_FILENO && fd != STDERR_FILENO && read(fd, &byte, 1) == 1)
				printf("%c", byte);
		return fflush(stdout);
	}
	if (strcmp(what, "leave") == 0 && fork() != 0)
		return 0; /* and a process of the same group, which has our output */
	for (;;)
		pause();
}

/* --- the tests ------------------------------------------------------------ */

static void start(struct child *child, const char *const *argv)
{
	static const char *const env[] = {"A=1", "B=", NULL};
	const struct child_plan plan = {self, -1, argv, env, 3, {-1, -1, -1}};

	child_start(child, &plan);
}

#define START(child, ...) start(child, (const char *const[]){"child", __VA_ARGS__, NULL})

static enum child_wait waits(struct child *set, size_t count)
{
	return child_wait(set, count, -1, 0, child_now() + SECONDS_20);
}

/* Whoever started us may ignore signals (nohup; a posix_spawn(3) ignores libc's
 * own two, which sigaction(3) may not touch) and leave descriptors open (make). */
static void begin_afresh(void)
{
	static const uint64_t fresh[4]; /* the kernel's struct sigaction: SIG_DFL */

	for (int number = 1; number <= 64; number++)
		(void)syscall(SYS_rt_sigaction, number, fresh, NULL, sizeof(uint64_t));
	closefrom(STDERR_FILENO + 1);
}

static int set_up(void **state)
{
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);

	(void)state;
	begin_afresh();
	return len > 0 && child_set_up() ? 0 : -1;
}

static void milliseconds(void **state)
{
	static const struct {
		struct timespec at;
		int64_t now;
	} rows[] = {
		{{1, 0}, 1000}, {{1, 999999}, 1000}, {{1, 1000000}, 1001},
		{{12, 345678901}, 12345}, {{5000000000, 999999999}, 5000000000999},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		clock_set = rows[i].at;
		assert_true(child_now() == rows[i].now);
	}
	clock_set.tv_sec = 0;
}

static uint64_t mask_of(const int *signals)
{
	uint64_t mask = 0;

	for (; *signals != 0; signals++)
		mask |= UINT64_C(1) << (*signals - 1);
	return mask;
}

static uint64_t status_mask(const char *key)
{
	unsigned long long mask = 0;
	char line[256];
	FILE *status = fopen("/proc/self/status", "r");

	assert_non_null(status);
	while (fgets(line, sizeof(line), status) != NULL)
		if (strncmp(line, key, strlen(key)) == 0)
			assert_int_equal(sscanf(line + strlen(key), ":\t%llx", &mask), 1);
	fclose(status);
	return mask;
}

/* Those that would end us are waited for, those of a terminal held back. */
static void signals_are_blocked(void **state)
{
	static const int blocked[] = {SIGTERM, SIGINT,    SIGHUP,  SIGQUIT,   SIGCHLD, SIGUSR1,
	                              SIGUSR2, SIGALRM,   SIGVTALRM, SIGPROF, SIGXCPU, SIGSTKFLT,
	                              SIGIO,   SIGPWR,    SIGTSTP, SIGTTIN,   SIGTTOU, 0};
	static const int ignored[] = {SIGPIPE, SIGXFSZ, 0};

	(void)state;
	assert_true(status_mask("SigBlk") == mask_of(blocked));
	assert_true((status_mask("SigIgn") & mask_of(ignored)) == mask_of(ignored));
}

static void a_child_has_what_it_is_given(void **state)
{
	const char *const argv[] = {"child", "show", "", "x y", NULL};
	const char *const env[] = {"A=1", "B=", NULL};
	struct child_plan plan = {self, -1, argv, env, 3, {-1, -1, -1, -1, -1, -1, -1, -1, -1}};
	static const char after[] = "\nSigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n"
	                            CAUGHT
	                            "core 0 0, session 1, death 9\n";
	char expected[512];
	int stray[32]; /* which no child gets */

	(void)state;
	for (size_t i = 0; i < 32; i++)
		stray[i] = dup(STDIN_FILENO);
	for (int count = 3; count <= CHILD_FDS; count++) {
		for (int by = 0; by < 2; by++) {
			struct child child;
			char *at = expected;

			plan.path = by ? "" : self;
			plan.program = by ? open(self, O_PATH | O_CLOEXEC) : -1;
			plan.count = places = count;
			child_start(&child, &plan);
			assert_true(child.pid > 0 && !child.ended && child.vital);
			assert_int_equal(waits(&child, 1), CHILD_DONE);
			assert_int_equal(child.status, 0);
			assert_true(child.ended);
			at += sprintf(at, "child,show,,x y,A=1;B=;\n");
			for (int fd = 0; fd < count; fd++)
				at += sprintf(at, "%d ", fd);
			strcpy(at, after);
			child_read(child.out, output, sizeof(output));
			assert_string_equal(output, expected);
			assert_int_equal(child_length(child.err), 0);
			child_finish(&child);
			if (by)
				close(plan.program);
		}
	}
	places = 0;
	for (size_t i = 0; i < 32; i++)
		close(stray[i]);
}

static int with_byte(char byte)
{
	int ends[2];

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	assert_int_equal(write(ends[1], &byte, 1), 1);
	close(ends[1]);
	return ends[0];
}

/* Each is at its place, and 0 is one like any other. */
static void descriptors_are_at_their_places(void **state)
{
	static const char *const env[] = {NULL};
	static const char *const argv[] = {"child", "copy", "9", NULL};
	struct child_plan plan = {self, -1, argv, env, CHILD_FDS, {-1}};
	const int own = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 60);

	(void)state;
	for (int zero = 0; zero < CHILD_FDS; zero++) {
		struct child child;
		char expected[CHILD_FDS] = "abcdefg", link[64], what[64] = "";

		for (int i = 0, n = 0; i < CHILD_FDS; i++)
			plan.fd[i] = i == 1 || i == 2 ? -1 : with_byte(expected[n++]);
		if (zero != 1 && zero != 2) {
			assert_int_equal(dup2(plan.fd[zero], STDIN_FILENO), STDIN_FILENO);
			close(plan.fd[zero]);
			plan.fd[zero] = STDIN_FILENO;
		} else {
			close(STDIN_FILENO);
		}
		child_start(&child, &plan);
		assert_int_equal(waits(&child, 1), CHILD_DONE);
		child_read(child.out, output, sizeof(output));
		snprintf(link, sizeof(link), "/proc/self/fd/%d", child.out);
		assert_true(readlink(link, what, sizeof(what) - 1) > 0);
		assert_string_equal(what, "/memfd:cofferdam (deleted)");
		child_finish(&child);
		for (int i = 0; i < CHILD_FDS; i++)
			if (i != 1 && i != 2)
				close(plan.fd[i]);
		assert_true(fcntl(STDIN_FILENO, F_GETFD) < 0);
		assert_int_equal(dup2(own, STDIN_FILENO), STDIN_FILENO);
		assert_string_equal(output, expected);
	}
	close(own);
}

/* Of the memfds, of the program, of those that are given for output: each may be 0. */
static void descriptor_0_is_like_any_other(void **state)
{
	static const char *const argv[] = {"child", "say", "out", "err", NULL}, *const env[] = {NULL};
	struct child_plan plan = {self, -1, argv, env, 3, {-1, -1, -1}};
	const int own = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 60);
	struct child child;
	char text[8];
	int ends[2], fd;

	(void)state;
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	for (int which = 0; which < 4; which++) {
		plan.fd[1] = plan.fd[2] = -1;
		close(STDIN_FILENO);
		if (which == 1)
			plan.fd[1] = ends[1]; /* err is 0 */
		if (which == 2 || which == 3)
			plan.fd[which - 1] = dup2(ends[1], STDIN_FILENO);
		child_start(&child, &plan);
		assert_int_equal(waits(&child, 1), CHILD_DONE);
		assert_int_equal(child_read(child.out, text, sizeof(text)),
		                 plan.fd[1] < 0 ? 3 : 0);
		assert_int_equal(child_read(child.err, text, sizeof(text)),
		                 plan.fd[2] < 0 ? 3 : 0);
		if (which > 0)
			assert_int_equal(read(ends[0], text, sizeof(text)), 3);
		child_finish(&child);
		if (which >= 2)
			close(STDIN_FILENO);
		assert_true(fcntl(STDIN_FILENO, F_GETFD) < 0);
	}
	plan.fd[1] = plan.fd[2] = -1;
	plan.path = "";
	plan.program = open(self, O_PATH | O_CLOEXEC);
	assert_int_equal(plan.program, 0);
	child_start(&child, &plan);
	assert_int_equal(waits(&child, 1), CHILD_DONE);
	child_finish(&child);
	close(STDIN_FILENO);
	fd = child_document("abc", 3);
	assert_int_equal(fd, 0);
	assert_int_equal(child_length(fd), 3);
	close(fd);
	for (int which = 1; which <= 2; which++) {
		no_seal = which;
		assert_int_equal(child_document("abc", 3), -1);
		assert_true(fcntl(STDIN_FILENO, F_GETFD) < 0);
	}
	assert_int_equal(dup2(own, STDIN_FILENO), STDIN_FILENO);
	close(own);
	close(ends[0]);
	close(ends[1]);
}

/* Nothing runs without all of it. */
static void a_child_may_fail_before_it_runs(void **state)
{
	static const char *const argv[] = {"child", "say", "out", "err", NULL}, *const env[] = {NULL};
	static const char *const calls[] = {"", "setsid", "getppid", "prctl", "setrlimit",
	                                    "signal 13", "signal 25", "dup2", "dup3",
	                                    "sigprocmask"};
	static const char why[] = "the program cannot be executed"; /* once it can be said */
	struct child_plan plan = {"", open(self, O_PATH | O_CLOEXEC), argv, env, 3, {-1, -1, -1}};
	struct rlimit old, small;
	struct child child;

	(void)state;
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		const bool told = strcmp(calls[i], "sigprocmask") == 0;

		fails = calls[i];
		child_start(&child, &plan);
		fails = NULL;
		assert_int_equal(waits(&child, 1), i > 0 ? CHILD_FAILED : CHILD_DONE);
		assert_int_equal(child.status, i > 0 ? 127 : 0);
		assert_int_equal(child_length(child.out), i > 0 ? 0 : 3);
		assert_int_equal(child_length(child.err), told ? strlen(why) : i > 0 ? 0 : 3);
		child_finish(&child);
	}
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	for (rlim_t room = 0; !SANITIZED && room < 5; room++) { /* for three, and the program */
		small = (struct rlimit){2 * CHILD_FDS + room, old.rlim_max};
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &small), 0);
		child_start(&child, &plan);
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
		assert_int_equal(waits(&child, 1), room < 4 ? CHILD_FAILED : CHILD_DONE);
		assert_int_equal(child.status, room < 4 ? 127 : 0);
		assert_int_equal(child_length(child.err), room < 4 ? 0 : 3);
		child_finish(&child);
	}
	close(plan.program);
	plan.program = -1; /* and so nothing is executed */
	plan.fd[2] = open("/dev/null", O_RDONLY | O_CLOEXEC);
	child_start(&child, &plan);
	assert_int_equal(waits(&child, 1), CHILD_FAILED);
	assert_int_equal(child.status, 126); /* it cannot even say so */
	child_finish(&child);
	close(plan.fd[2]);
	fails = "setsid waits"; /* before it has a group of its own */
	child_start(&child, &plan);
	child_stop(&child);
	fails = NULL;
	assert_int_equal(child.status, CHILD_LOST);
	child_finish(&child);
}

/* Each of its descriptors is the one that was named, whatever the order. */
static void descriptors_are_in_order(void **state)
{
	static const char *const argv[] = {"child", "say", "out", "err", NULL};
	static const char *const env[] = {NULL};
	struct child_plan plan = {self, -1, argv, env, 3, {-1, -1, -1}};
	int out[2], err[2];
	struct child child;
	char text[16] = "";

	(void)state;
	assert_int_equal(pipe2(out, O_CLOEXEC) | pipe2(err, O_CLOEXEC), 0);
	plan.fd[0] = err[1];
	plan.fd[1] = out[1];
	plan.fd[2] = err[1];
	child_start(&child, &plan);
	assert_int_equal(waits(&child, 1), CHILD_DONE);
	assert_int_equal(child.out, -1);
	assert_true(child.err >= 0);
	assert_int_equal(child_length(child.err), 0);
	child_finish(&child);
	assert_int_equal(read(out[0], text, sizeof(text)), 3);
	assert_string_equal(text, "out");
	assert_int_equal(read(err[0], text, sizeof(text)), 3);
	assert_string_equal(text, "err");
	for (int i = 0; i < 2; i++) {
		close(out[i]);
		close(err[i]);
	}
}

static off_t size_of(int fd)
{
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	return st.st_size;
}

/* The two memfds: their size is their bound, and what lies before the offset is said. */
static void what_it_writes_is_bounded(void **state)
{
	static const struct {
		const char *fd;
		size_t most;
	} rows[] = {{"1", CHILD_OUT_MAX}, {"2", CHILD_ERR_MAX}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct child child;

		START(&child, "fill", rows[i].fd);
		assert_int_equal(size_of(child.out), CHILD_OUT_MAX);
		assert_int_equal(size_of(child.err), CHILD_ERR_MAX);
		assert_int_equal(fcntl(child.out, F_GET_SEALS), F_SEAL_GROW);
		assert_int_equal(fcntl(child.err, F_GET_SEALS), F_SEAL_GROW);
		assert_int_equal(fcntl(child.out, F_GETFD), FD_CLOEXEC);
		assert_int_equal(waits(&child, 1), CHILD_DONE);
		assert_int_equal(child.status, 0);
		assert_int_equal(child_length(child.out), i == 0 ? rows[i].most : 0);
		assert_int_equal(child_length(child.err), i == 1 ? rows[i].most : 0);
		child_finish(&child);
		assert_int_equal(child.out, -1);
		assert_int_equal(child.err, -1);
	}
}

static void tells_how_it_ended(void **state)
{
	static const struct {
		const char *what, *number;
		int status;
	} rows[] = {
		{"exit", "0", 0}, {"exit", "1", 1}, {"exit", "127", 127}, {"exit", "255", 255},
		{"die", "9", CHILD_LOST}, {"die", "15", CHILD_LOST}, {"die", "13", CHILD_LOST},
		{"die", "25", CHILD_LOST},
	};
	struct child child;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		START(&child, rows[i].what, rows[i].number);
		assert_int_equal(waits(&child, 1), rows[i].status == 0 ? CHILD_DONE : CHILD_FAILED);
		assert_int_equal(child.status, rows[i].status);
		assert_true(child.ended);
		child_finish(&child);
	}
}

static unsigned descriptors(void)
{
	unsigned count = 0;

	for (int fd = 0; fd < 256; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

static void what_cannot_be_started_is_lost(void **state)
{
	static const char *const argv[] = {"child", NULL}, *const env[] = {NULL};
	const struct child_plan plan = {"/nonexistent/program", -1, argv, env, 3, {-1, -1, -1}};
	const unsigned before = descriptors();
	struct rlimit old, small;
	struct child child;
	int least;

	(void)state;
	child_start(&child, &plan);
	assert_int_equal(waits(&child, 1), CHILD_FAILED);
	assert_int_equal(child.status, 127);
	child_read(child.err, output, sizeof(output));
	assert_string_equal(output, "the program cannot be executed");
	assert_int_equal(child_length(child.err), strlen("the program cannot be executed"));
	child_finish(&child);
	for (int which = 1; which <= 2; which++) {
		no_memfd = which;
		child_start(&child, &plan);
		no_memfd = 0;
		assert_true(child.pid == 0 && child.ended && child.status == CHILD_LOST);
		assert_int_equal(which == 1 ? child.out : child.err, -1);
		child_finish(&child);
	}
	no_fork = true;
	child_start(&child, &plan);
	no_fork = false;
	assert_true(child.pid == 0 && child.ended && child.vital && child.status == CHILD_LOST);
	assert_int_equal(waits(&child, 1), CHILD_FAILED);
	child_finish(&child);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	least = open("/dev/null", O_RDONLY | O_CLOEXEC); /* the lowest that is free */
	close(least);
	for (unsigned room = 0; room < 2; room++) {
		small = (struct rlimit){(unsigned)least + room, old.rlim_max};
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &small), 0);
		child_start(&child, &plan);
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
		assert_true(child.pid == 0 && child.ended && child.status == CHILD_LOST);
		assert_int_equal(waits(&child, 1), CHILD_FAILED);
		child_finish(&child);
	}
	assert_int_equal(descriptors(), before);
}

/* All must end; one that fails ends the wait only when it is vital. */
static void waits_for_all(void **state)
{
	struct child set[2];

	(void)state;
	for (int vital = 0; vital < 2; vital++) {
		START(&set[0], "exit", "3");
		START(&set[1], "exit", "0");
		set[0].vital = vital;
		assert_int_equal(waits(set, 1), vital ? CHILD_FAILED : CHILD_DONE);
		assert_int_equal(waits(set + 1, 1), CHILD_DONE);
		assert_int_equal(waits(set, 2), vital ? CHILD_FAILED : CHILD_DONE);
		child_finish(&set[0]);
		child_finish(&set[1]);
	}
	START(&set[0], "exit", "0");
	START(&set[1], "wait");
	assert_int_equal(waits(set, 1), CHILD_DONE);
	assert_int_equal(child_wait(set, 2, -1, 0, child_now() + 20), CHILD_DEADLINE);
	assert_true(set[0].ended && !set[1].ended);
	child_stop(&set[1]);
	assert_true(set[1].ended);
	assert_int_equal(set[1].status, CHILD_LOST);
	assert_int_equal(waits(set, 2), CHILD_FAILED);
	child_finish(&set[0]);
	child_finish(&set[1]);
}

/* A child that has ended, or never began, is let alone: its number is another's. */
static void ends_what_runs(void **state)
{
	struct child child, ended, none = {.pid = 0, .out = -1, .err = -1};
	siginfo_t info;

	(void)state;
	START(&child, "exit", "3");
	ended = child;
	ended.ended = true;
	ended.status = 0;
	assert_int_equal(waitid(P_PID, (id_t)child.pid, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(waits(&ended, 1), CHILD_DONE);
	child_stop(&ended);
	assert_int_equal(ended.status, 0);
	assert_int_equal(waits(&child, 1), CHILD_FAILED);
	assert_int_equal(child.status, 3);
	child_finish(&child);
	child_stop(&none);
	assert_false(none.ended);
}

static void waiting_may_fail(void **state)
{
	struct child child;

	(void)state;
	START(&child, "exit", "3");
	no_wait = EINTR; /* once more then */
	assert_int_equal(waits(&child, 1), CHILD_FAILED);
	assert_int_equal(child.status, 3);
	child_finish(&child);
	START(&child, "exit", "0");
	no_wait = ECHILD;
	assert_int_equal(waits(&child, 1), CHILD_FAILED);
	assert_int_equal(child.status, CHILD_LOST);
	child_finish(&child);
	assert_int_equal(waitpid(-1, NULL, 0) > 0, 1); /* it is still there */
}

/* What it leaves behind in its group is ended with it. */
static void leaves_nobody_behind(void **state)
{
	static const char *const argv[] = {"child", "leave", NULL}, *const env[] = {NULL};
	struct child_plan plan = {self, -1, argv, env, 3, {-1, -1, -1}};
	struct child child;
	int ends[2];
	char byte;

	(void)state;
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	plan.fd[1] = ends[1];
	child_start(&child, &plan);
	close(ends[1]);
	assert_int_equal(waits(&child, 1), CHILD_DONE);
	assert_int_equal(read(ends[0], &byte, 1), 0);
	child_finish(&child);
	close(ends[0]);
}

static void a_wait_has_a_deadline(void **state)
{
	static const struct {
		int64_t left;
		int waited;
	} rows[] = {{1, 1}, {5, 5}, {0, -1}, {-1, -1}, {INT64_C(1) << 40, INT_MAX},
	            {INT_MAX, INT_MAX}, {INT_MAX - 1, INT_MAX - 1}};
	struct child child;
	int ends[2];

	(void)state;
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		clock_set = (struct timespec){1000, 0};
		waited = -1;
		assert_int_equal(child_wait(NULL, 0, -1, 0, child_now() + rows[i].left),
		                 CHILD_DEADLINE);
		if (rows[i].left <= INT_MAX)
			assert_int_equal(waited, rows[i].waited);
		if (rows[i].left > 0)
			assert_true(child_now() >= 1000000 + rows[i].left);
	}
	clock_set = (struct timespec){1000, 0};
	assert_int_equal(child_wait(NULL, 0, ends[0], POLLIN, child_now() + 7), CHILD_DEADLINE);
	assert_true(child_now() == 1000007);
	assert_int_equal(child_wait(NULL, 0, ends[1], POLLIN, child_now() + 7), CHILD_DEADLINE);
	assert_int_equal(child_wait(NULL, 0, ends[1], POLLOUT, child_now() + 7), CHILD_READY);
	assert_int_equal(write(ends[1], "x", 1), 1);
	assert_int_equal(child_wait(NULL, 0, ends[0], POLLIN, child_now() + 1), CHILD_READY);
	assert_int_equal(child_wait(NULL, 0, ends[0], POLLIN, child_now()), CHILD_DEADLINE);
	clock_set.tv_sec = 0;
	START(&child, "exit", "0");
	assert_int_equal(waits(&child, 1), CHILD_DONE);
	assert_int_equal(child_wait(&child, 1, ends[0], POLLIN, 0), CHILD_DONE);
	child_finish(&child);
	close(ends[0]);
	close(ends[1]);
}

/* More than a pipe holds, to a reader that is slow. */
static void puts_all_of_it(void **state)
{
	static char bytes[300001], got[sizeof(bytes)];
	size_t len = 0;
	int ends[2], status;
	ssize_t n;
	pid_t pid;

	(void)state;
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (char)(i * 7 + i / 251);
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		_exit(child_put(ends[1], bytes, sizeof(bytes), child_now() + SECONDS_20) ? 0 : 1);
	close(ends[1]);
	while ((n = read(ends[0], got + len, sizeof(got) - len)) > 0)
		len += (size_t)n;
	assert_int_equal(len, sizeof(got));
	assert_memory_equal(got, bytes, sizeof(got));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	close(ends[0]);
}

static void puts_what_it_can(void **state)
{
	static const char bytes[PIPE_BUF] = "x";
	int ends[2];

	(void)state;
	assert_true(child_put(-1, bytes, 0, 0));
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	assert_int_equal(fcntl(ends[1], F_SETPIPE_SZ, PIPE_BUF), PIPE_BUF);
	assert_true(child_put(ends[1], bytes, sizeof(bytes), child_now() + SECONDS_20));
	clock_set = (struct timespec){1000, 0};
	assert_false(child_put(ends[1], bytes, 1, child_now() + 9)); /* it is full */
	assert_true(child_now() == 1000009);
	clock_set.tv_sec = 0;
	close(ends[0]);
	assert_false(child_put(ends[1], bytes, 1, child_now() + SECONDS_20));
	assert_int_equal(errno, EPIPE);
	close(ends[1]);
}

/* A write that is cut, or none, is gone on with; one that fails is not. */
static void puts_the_rest(void **state)
{
	static const int so[] = {1, -EINTR, 2, -EAGAIN, 0, 1, 9999}, bad[] = {1, -EIO};
	static char bytes[3 * PIPE_BUF], got[sizeof(bytes)];
	int ends[2];

	(void)state;
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (char)(i * 7 + i / 251);
	assert_int_equal(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
	puts_so = so;
	put_most = 0;
	assert_true(child_put(ends[1], bytes, sizeof(bytes), child_now() + SECONDS_20));
	puts_so = NULL;
	assert_int_equal(put_most, PIPE_BUF);
	assert_int_equal(read(ends[0], got, sizeof(got)), sizeof(got));
	assert_memory_equal(got, bytes, sizeof(got));
	assert_int_equal(read(ends[0], got, 1), -1);
	puts_so = bad;
	assert_false(child_put(ends[1], bytes, 3, child_now() + SECONDS_20));
	puts_so = NULL;
	assert_int_equal(read(ends[0], got, sizeof(got)), 1);
	close(ends[0]);
	close(ends[1]);
}

static void reads_what_was_written(void **state)
{
	char text[8];
	int fd = child_document("abcdef", 6);

	(void)state;
	assert_int_equal(child_length(-1), 0);
	memset(text, '#', sizeof(text));
	assert_int_equal(child_read(-1, text, sizeof(text)), 0);
	assert_int_equal(text[0], '\0');
	assert_int_equal(text[1], '#');
	assert_int_equal(child_length(fd), 6);
	for (size_t cap = 1; cap < sizeof(text); cap++) {
		const size_t len = cap - 1 < 6 ? cap - 1 : 6;

		memset(text, '#', sizeof(text));
		assert_int_equal(child_read(fd, text, cap), len);
		assert_memory_equal(text, "abcdef", len);
		assert_int_equal(text[len], '\0');
		assert_int_equal(text[len + 1 < sizeof(text) ? len + 1 : len], len + 1 < 8 ? '#' : 0);
	}
	assert_int_equal(lseek(fd, 1, SEEK_SET), 1);
	assert_int_equal(child_length(fd), 1);
	assert_int_equal(child_read(fd, text, sizeof(text)), 1);
	assert_string_equal(text, "a");
	close(fd);
}

#define ALL_SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL)

static void documents_are_sealed(void **state)
{
	static const int cut[] = {2, 9999};
	const unsigned before = descriptors();
	struct rlimit old, small;
	struct child child;
	int fd;

	(void)state;
	for (size_t len = 0; len < 4; len++) {
		fd = child_document("abc", len);
		assert_true(fd >= 0);
		assert_int_equal(size_of(fd), len);
		assert_int_equal(fcntl(fd, F_GET_SEALS), ALL_SEALS);
		assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
		assert_int_equal(write(fd, "x", 1), -1);
		close(fd);
	}
	START(&child, "say", "12345", "");
	assert_int_equal(waits(&child, 1), CHILD_DONE);
	assert_true(child_seal(child.out));
	assert_int_equal(size_of(child.out), 5);
	assert_int_equal(fcntl(child.out, F_GET_SEALS), ALL_SEALS);
	assert_false(child_seal(child.out));
	assert_false(child_seal(-1));
	child_finish(&child);
	fd = memfd_create("", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	assert_int_equal(ftruncate(fd, 5), 0);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
	assert_false(child_seal(fd)); /* its end cannot be cut off */
	close(fd);
	for (int which = 1; which <= 2; which++) {
		no_seal = which;
		assert_int_equal(child_document("abc", 3), -1);
	}
	puts_so = cut;
	assert_int_equal(child_document("abc", 3), -1);
	puts_so = NULL;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	small = (struct rlimit){2, old.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	fd = child_document("abc", 3); /* it cannot be made so great */
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_int_equal(fd, -1);
	assert_int_equal(descriptors(), before);
}

/* The two that were opened last are its own; the same two are found from anywhere. */
static void knows_its_descriptors(void **state)
{
	const int one = child_next_fd(0), two = child_next_fd(one + 1);
	char path[64], what[64] = "", also[64] = "";

	(void)state;
	assert_true(one > STDERR_FILENO && two > one && two < INT_MAX);
	for (int from = 0; from < two + 9; from++)
		assert_int_equal(child_next_fd(from),
		                 from <= one ? one : from <= two ? two : INT_MAX);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", one);
	assert_true(readlink(path, what, sizeof(what) - 1) > 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", two);
	assert_true(readlink(path, also, sizeof(also) - 1) > 0);
	assert_string_equal(what, "anon_inode:[signalfd]");
	assert_string_equal(also, "/dev/null");
	assert_int_equal(fcntl(one, F_GETFD), FD_CLOEXEC);
	assert_int_equal(fcntl(one, F_GETFL) & O_NONBLOCK, O_NONBLOCK);
	assert_int_equal(fcntl(two, F_GETFD), FD_CLOEXEC);
	assert_int_equal(fcntl(two, F_GETFL) & O_ACCMODE, O_RDWR);
}

static void needs_two_descriptors(void **state)
{
	const int least = open("/dev/null", O_RDONLY | O_CLOEXEC);
	struct rlimit old, small;
	bool set;

	(void)state;
	close(least);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	for (rlim_t room = 0; room < 2; room++) {
		small = (struct rlimit){(rlim_t)least + room, old.rlim_max};
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &small), 0);
		set = child_set_up();
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
		assert_false(set);
	}
	assert_true(child_set_up());
}

static void needs_its_signals(void **state)
{
	static const char *const calls[] = {"sigprocmask", "signal 13", "signal 25", "signalfd"};

	(void)state;
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		fails = calls[i];
		assert_false(child_set_up());
		fails = NULL;
		added = 0;
		assert_true(child_set_up());
		assert_int_equal(added, 14 + 3); /* each once */
	}
}

/* Each of the two may be descriptor 0. */
static void may_have_descriptor_0(void **state)
{
	const int own = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 60);
	bool set;

	(void)state;
	for (int high = 0; high < 2; high++) {
		close(STDIN_FILENO);
		signals_high = high;
		set = child_set_up();
		signals_high = false;
		assert_true(set);
		assert_int_equal(child_next_fd(0), 0);
		assert_true(child_next_fd(1) < INT_MAX);
	}
	assert_int_equal(dup2(own, STDIN_FILENO), STDIN_FILENO);
	close(own);
	assert_true(child_set_up());
}

/* The last test, for a signal that has come stays, the first one. */
static void hears_signals(void **state)
{
	struct child child;

	(void)state;
	assert_int_equal(raise(SIGCHLD), 0);
	errno = ENOTTY;
	assert_int_equal(child_signal(), 0);
	assert_int_equal(errno, ENOTTY);
	START(&child, "wait");
	child_shield(true);
	assert_int_equal(raise(SIGHUP), 0);
	assert_int_equal(child_wait(NULL, 0, -1, 0, child_now() + 2), CHILD_DEADLINE);
	assert_int_equal(raise(SIGTERM), 0);
	assert_int_equal(child_signal(), SIGHUP);
	child_shield(false);
	assert_int_equal(waits(&child, 1), CHILD_SIGNAL);
	assert_false(child.ended);
	assert_int_equal(child_wait(NULL, 0, -1, 0, 0), CHILD_SIGNAL);
	assert_int_equal(child_signal(), SIGHUP);
	child_finish(&child);
	assert_true(child.ended);
	assert_int_equal(kill(child.pid, 0), -1);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(milliseconds),
		cmocka_unit_test(signals_are_blocked),
		cmocka_unit_test(a_child_has_what_it_is_given),
		cmocka_unit_test(descriptors_are_in_order),
		cmocka_unit_test(descriptors_are_at_their_places),
		cmocka_unit_test(descriptor_0_is_like_any_other),
		cmocka_unit_test(a_child_may_fail_before_it_runs),
		cmocka_unit_test(what_it_writes_is_bounded),
		cmocka_unit_test(tells_how_it_ended),
		cmocka_unit_test(what_cannot_be_started_is_lost),
		cmocka_unit_test(waits_for_all),
		cmocka_unit_test(ends_what_runs),
		cmocka_unit_test(waiting_may_fail),
		cmocka_unit_test(leaves_nobody_behind),
		cmocka_unit_test(a_wait_has_a_deadline),
		cmocka_unit_test(puts_all_of_it),
		cmocka_unit_test(puts_what_it_can),
		cmocka_unit_test(puts_the_rest),
		cmocka_unit_test(reads_what_was_written),
		cmocka_unit_test(documents_are_sealed),
		cmocka_unit_test(knows_its_descriptors),
		cmocka_unit_test(needs_two_descriptors),
		cmocka_unit_test(needs_its_signals),
		cmocka_unit_test(may_have_descriptor_0),
		cmocka_unit_test(hears_signals),
	};

	usual_surroundings();
	if (argc > 0 && strcmp(argv[0], "child") == 0)
		return act(argv);
	return cmocka_run_group_tests(tests, set_up, NULL);
}

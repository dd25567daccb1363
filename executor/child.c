/* SPDX-License-Identifier: ISC */
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int signals = -1; /* signalfd(2) */
static int null = -1; /* /dev/null */
static int first; /* terminating signal */
static bool shielded;

bool child_set_up(void)
{
	/* All that would end us by default and can be caught. */
	static const int caught[] = {SIGTERM, SIGINT,    SIGHUP,  SIGQUIT,   SIGCHLD,
	                             SIGUSR1, SIGUSR2,   SIGALRM, SIGVTALRM, SIGPROF,
	                             SIGXCPU, SIGSTKFLT, SIGIO,   SIGPWR};
	/* A terminal does not suspend us: docker, in a session of its own, would go on
	 * without a deadline, and with the terminal as the worker's input. */
	static const int held[] = {SIGTSTP, SIGTTIN, SIGTTOU};
	sigset_t set, mask;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(caught) / sizeof(caught[0]); i++)
		sigaddset(&set, caught[i]);
	mask = set;
	for (size_t i = 0; i < sizeof(held) / sizeof(held[0]); i++)
		sigaddset(&mask, held[i]);
	if (sigprocmask(SIG_SETMASK, &mask, NULL) != 0 || signal(SIGPIPE, SIG_IGN) == SIG_ERR ||
	    signal(SIGXFSZ, SIG_IGN) == SIG_ERR)
		return false;
	signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	return signals >= 0 && null >= 0;
}

int64_t child_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int child_next_fd(int from)
{
	int least = INT_MAX;

	if (signals >= from)
		least = signals;
	if (null >= from && null < least)
		least = null;
	return least;
}

int child_signal(void)
{
	struct signalfd_siginfo info;
	int saved = errno;

	while (read(signals, &info, sizeof(info)) == (ssize_t)sizeof(info))
		if (first == 0 && info.ssi_signo != SIGCHLD)
			first = (int)info.ssi_signo;
	errno = saved;
	return first;
}

void child_shield(bool on)
{
	shielded = on;
}

static int bounded(off_t size)
{
	int fd = memfd_create("cofferdam", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd >= 0 && ftruncate(fd, size) == 0 && fcntl(fd, F_ADD_SEALS, F_SEAL_GROW) == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* The child, after fork(2): async-signal-safe calls only.  Every descriptor is
 * first copied above all targets, so that no dup2 overwrites a source. */
static _Noreturn void become(const struct child_plan *plan, const int *fd, pid_t parent)
{
	static const char failed[] = "the program cannot be executed";
	const struct rlimit no_core = {0, 0};
	sigset_t none;
	int high[CHILD_FDS], program = plan->program;

	sigemptyset(&none);
	if (setsid() < 0 || prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent ||
	    setrlimit(RLIMIT_CORE, &no_core) != 0 || signal(SIGPIPE, SIG_DFL) == SIG_ERR ||
	    signal(SIGXFSZ, SIG_DFL) == SIG_ERR)
		_exit(127);
	for (int i = 0; i < plan->count; i++)
		if ((high[i] = fcntl(fd[i], F_DUPFD_CLOEXEC, 2 * CHILD_FDS)) < 0)
			_exit(127);
	if (program >= 0 && (program = fcntl(program, F_DUPFD_CLOEXEC, 2 * CHILD_FDS)) < 0)
		_exit(127);
	for (int i = 0; i < plan->count; i++)
		if (dup2(high[i], i) < 0)
			_exit(127);
	if (program >= 0 && dup3(program, plan->count, O_CLOEXEC) < 0)
		_exit(127);
	closefrom(plan->count + (program >= 0 ? 1 : 0));
	if (sigprocmask(SIG_SETMASK, &none, NULL) == 0)
		execveat(plan->count, plan->path, (char *const *)(uintptr_t)plan->argv,
		         (char *const *)(uintptr_t)plan->env, AT_EMPTY_PATH);
	if (write(STDERR_FILENO, failed, sizeof(failed) - 1) < 0)
		_exit(126);
	_exit(127);
}

void child_start(struct child *child, const struct child_plan *plan)
{
	const pid_t parent = getpid();
	int fd[CHILD_FDS];

	*child = (struct child){0, true, true, CHILD_LOST, -1, -1};
	memcpy(fd, plan->fd, sizeof(fd));
	if (fd[1] < 0)
		fd[1] = child->out = bounded(CHILD_OUT_MAX);
	child->err = bounded(CHILD_ERR_MAX);
	if (fd[2] < 0)
		fd[2] = child->err;
	for (int i = 0; i < plan->count; i++)
		if (fd[i] < 0 && i != 1 && i != 2)
			fd[i] = null;
	if (fd[1] < 0 || child->err < 0 || (child->pid = fork()) < 0) {
		child->pid = 0;
		return;
	}
	if (child->pid == 0)
		become(plan, fd, parent);
	child->ended = false;
}

static bool running(const struct child *child)
{
	return child->pid > 0 && !child->ended;
}

/* Reaps a running child, with whatever is left of its process group; the group's id
 * cannot be another's before waitpid(2). */
static void reap(struct child *child)
{
	int status = 0;
	pid_t pid;

	kill(-child->pid, SIGKILL); /* nothing there before the child's setsid(2) */
	kill(child->pid, SIGKILL);
	do
		pid = waitpid(child->pid, &status, 0);
	while (pid < 0 && errno == EINTR);
	child->status = pid == child->pid && WIFEXITED(status) ? WEXITSTATUS(status) : CHILD_LOST;
	child->ended = true;
}

static void look(struct child *child)
{
	siginfo_t info = {0};

	if (running(child) &&
	    waitid(P_PID, (id_t)child->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
	    info.si_pid == child->pid)
		reap(child);
}

enum child_wait child_wait(struct child *set, size_t count, int fd, short events,
                           int64_t deadline)
{
	for (;;) {
		struct pollfd on[2] = {{signals, POLLIN, 0}, {fd, events, 0}};
		int64_t left = deadline - child_now();
		size_t left_over = 0;
		bool failed = false;

		if (child_signal() != 0 && !shielded)
			return CHILD_SIGNAL;
		for (size_t i = 0; i < count; i++) {
			look(&set[i]);
			left_over += running(&set[i]);
			failed |= set[i].ended && set[i].vital && set[i].status != 0;
		}
		if (failed)
			return CHILD_FAILED;
		if (count > 0 && left_over == 0)
			return CHILD_DONE;
		if (left <= 0)
			return CHILD_DEADLINE;
		if (poll(on, 2, left < INT_MAX ? (int)left : INT_MAX) > 0 && on[1].revents != 0)
			return CHILD_READY;
	}
}

void child_stop(struct child *child)
{
	if (running(child))
		reap(child);
}

void child_finish(struct child *child)
{
	child_stop(child);
	if (child->out >= 0)
		close(child->out);
	if (child->err >= 0)
		close(child->err);
	child->out = child->err = -1;
}

/* A pipe that is ready takes PIPE_BUF bytes without blocking. */
bool child_put(int fd, const char *bytes, size_t len, int64_t deadline)
{
	while (len > 0) {
		ssize_t n;

		if (child_wait(NULL, 0, fd, POLLOUT, deadline) != CHILD_READY)
			return false;
		n = write(fd, bytes, len < PIPE_BUF ? len : PIPE_BUF);
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return false;
		bytes += n > 0 ? n : 0;
		len -= n > 0 ? (size_t)n : 0;
	}
	return true;
}

size_t child_length(int memfd)
{
	off_t at = memfd < 0 ? 0 : lseek(memfd, 0, SEEK_CUR);

	return at > 0 ? (size_t)at : 0;
}

size_t child_read(int memfd, char *to, size_t cap)
{
	size_t len = child_length(memfd);
	ssize_t n = pread(memfd, to, len < cap - 1 ? len : cap - 1, 0);

	n = n > 0 ? n : 0;
	to[n] = '\0';
	return (size_t)n;
}

bool child_seal(int memfd)
{
	const int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL;

	return ftruncate(memfd, (off_t)child_length(memfd)) == 0 &&
	       fcntl(memfd, F_ADD_SEALS, seals) == 0;
}

int child_document(const void *bytes, size_t len)
{
	int fd = bounded((off_t)len);

	if (fd >= 0 && write(fd, bytes, len) == (ssize_t)len && child_seal(fd))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* SPDX-License-Identifier: ISC */
#ifndef COFFERDAM_TESTS_UNIT_FAKE_TIME_H
#define COFFERDAM_TESTS_UNIT_FAKE_TIME_H

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fake_docker.h"

/*
 * Monotonic time that only passes when somebody waits in vain, and then at once:
 * a test knows to the millisecond how long something took, and need not wait.
 * The library's poll(2) and clock_gettime(2) are replaced by those below.  While
 * a child runs time stands still, until it says that it will not end (FAKE_HANGS)
 * or fake_time->stuck is set.  Forked processes share the clock.  Include this with
 * _FORTIFY_SOURCE undefined: it would define poll(2) itself.
 */

#define FAKE_HANGS "echo >$HOME/hangs; kill -s CHLD $PPID; exec sleep 60\n"

struct fake_time {
	int64_t now; /* milliseconds */
	bool stuck; /* no child ends */
};
static struct fake_time *fake_time;

static bool fake_time_starts(void)
{
	fake_time = mmap(NULL, sizeof(*fake_time), PROT_READ | PROT_WRITE,
	                 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (fake_time == MAP_FAILED)
		return false;
	*fake_time = (struct fake_time){.now = 1000000};
	return true;
}

int clock_gettime(clockid_t id, struct timespec *now)
{
	if (id != CLOCK_MONOTONIC || fake_time == NULL)
		return (int)syscall(SYS_clock_gettime, id, now);
	*now = (struct timespec){fake_time->now / 1000, fake_time->now % 1000 * 1000000};
	return 0;
}

static bool fake_hangs(void)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/docker/hangs", fake_dir);
	return fake_time->stuck || unlink(path) == 0;
}

/* A child runs, and none waits to be reaped. */
static bool fake_child_runs(void)
{
	siginfo_t info = {.si_pid = 0};

	return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == 0;
}

int poll(struct pollfd *fds, nfds_t count, int timeout)
{
	const struct timespec none = {0, 0};
	const bool waits = fake_child_runs() && !fake_hangs(); /* for SIGCHLD */
	const int ready = (int)syscall(SYS_ppoll, fds, count, waits ? NULL : &none, NULL, 0);

	if (ready == 0)
		fake_time->now += timeout;
	return ready;
}

#endif

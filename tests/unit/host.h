/* SPDX-License-Identifier: ISC */
#ifndef COFFERDAM_TESTS_UNIT_HOST_H
#define COFFERDAM_TESTS_UNIT_HOST_H

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>

#include "pass_on.h"
#include "standard.h"

/*
 * The host that a subcommand sees: the time, and what opening the mount table
 * gives.  These stand before libc's.
 */

static bool clock_fails;
static const char *mount_table; /* NULL: the real one; "": it cannot be opened */
static const char *as_zero; /* this path is opened as descriptor 0 */

int clock_gettime(clockid_t clock, struct timespec *now)
{
	PASS_ON(clock_gettime);

	if (clock != CLOCK_REALTIME)
		return passed_on(clock, now);
	*now = (struct timespec){1000000000, 7000000};
	return clock_fails ? -1 : 0;
}

int open(const char *path, int flags, ...)
{
	bool table = strcmp(path, "/proc/self/mountinfo") == 0;
	int fd;
	PASS_ON(open);

	errno = EACCES;
	if (table && (flags != (O_RDONLY | O_CLOEXEC) || (mount_table != NULL && !mount_table[0])))
		return -1;
	if (table && mount_table != NULL)
		fd = standard_file(mount_table, strlen(mount_table));
	else
		fd = passed_on(path, flags, 0600);
	return as_zero != NULL && strcmp(path, as_zero) == 0 ? dup2(fd, 0) : fd;
}

#endif

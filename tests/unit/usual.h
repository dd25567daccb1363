/* SPDX-License-Identifier: ISC */
#ifndef COFFERDAM_TESTS_UNIT_USUAL_H
#define COFFERDAM_TESTS_UNIT_USUAL_H

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

/* What some tests take for granted: the first three descriptors are open, and children
 * can be waited for.  The caller of the test may have seen to neither. */
static inline void usual_surroundings(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd <= STDERR_FILENO);
	close(fd);
	signal(SIGCHLD, SIG_DFL);
}

#endif

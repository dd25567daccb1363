/* SPDX-License-Identifier: ISC */
#ifndef COFFERDAM_TESTS_UNIT_STANDARD_H
#define COFFERDAM_TESTS_UNIT_STANDARD_H

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "../../policy/confine.h"
#include "../../policy/options.h"

/*
 * A subcommand of cofferdam-policy, run in this process with descriptors of the
 * test's choice, and what it wrote.  A test file is one program, so these are its
 * own.
 */

#define STANDARD_FDS 16 /* the test's own descriptors are put above these */
#define STANDARD_BYTES (8 << 20)

static struct options options;
static int standard_fd[STANDARD_FDS]; /* for the next run; -1: none */
static char standard_out[STANDARD_BYTES];
static char standard_err[STANDARD_BYTES];
static size_t standard_out_len, standard_err_len;

/* A file of these bytes, at its beginning. */
static inline int standard_file(const char *bytes, size_t len)
{
	int low = memfd_create("standard", MFD_CLOEXEC);
	int fd = fcntl(low, F_DUPFD_CLOEXEC, 2 * STANDARD_FDS);

	assert_true(low >= 0 && fd >= 0);
	assert_int_equal(close(low), 0);
	assert_int_equal(write(fd, bytes, len), len);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

/* No option, nothing to read, and room for all that is written. */
static inline void standard_begin(void)
{
	memset(&options, 0, sizeof(options));
	for (int i = 0; i < STANDARD_FDS; i++)
		standard_fd[i] = -1;
	for (int i = 0; i < 3; i++)
		standard_fd[i] = standard_file("", 0);
}

static inline void standard_json(bool json)
{
	options.value[OPTION_JSON] = json ? "" : NULL;
}

static inline void standard_set(int number, int fd)
{
	if (standard_fd[number] >= 0)
		assert_int_equal(close(standard_fd[number]), 0);
	standard_fd[number] = fd;
}

static inline void standard_input(const char *text)
{
	standard_set(0, standard_file(text, strlen(text)));
}

/* What takes nothing that is written to it. */
static inline int standard_full(void)
{
	int low = open("/dev/full", O_RDWR | O_CLOEXEC);
	int fd = fcntl(low, F_DUPFD_CLOEXEC, 2 * STANDARD_FDS);

	assert_true(low >= 0 && fd >= 0);
	assert_int_equal(close(low), 0);
	return fd;
}

static inline size_t standard_taken(int fd, char *to)
{
	struct stat st;
	bool file = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
	ssize_t len = file ? pread(fd, to, STANDARD_BYTES - 1, 0) : 0;

	to[len > 0 ? len : 0] = '\0';
	return len > 0 ? (size_t)len : 0;
}

/* What was written, once a run has ended. */
static inline void standard_end(void)
{
	standard_out_len = standard_taken(standard_fd[1], standard_out);
	standard_err_len = standard_taken(standard_fd[2], standard_err);
	for (int i = 0; i < STANDARD_FDS; i++)
		standard_set(i, -1);
}

typedef int (*standard_command)(const struct options *, enum confine_result);

static inline int standard_run(standard_command command)
{
	int kept[STANDARD_FDS];
	int status;

	(void)fflush(NULL);
	for (int i = 0; i < STANDARD_FDS; i++) {
		kept[i] = fcntl(i, F_DUPFD_CLOEXEC, 2 * STANDARD_FDS);
		if (standard_fd[i] < 0)
			(void)close(i);
		else
			(void)dup2(standard_fd[i], i);
	}
	status = command(&options, CONFINE_FULL);
	for (int i = 0; i < STANDARD_FDS; i++) {
		(void)close(i);
		if (kept[i] >= 0) {
			(void)dup2(kept[i], i);
			(void)close(kept[i]);
		}
	}
	standard_end();
	return status;
}

/* The same in a process of its own, for what keeps descriptors or ends by itself;
 * -1 when it was killed. */
static inline int standard_fork(standard_command command, enum confine_result confined)
{
	int status = 0;
	pid_t pid;

	(void)fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		for (int i = 0; i < STANDARD_FDS; i++) {
			(void)close(i);
			if (standard_fd[i] >= 0)
				(void)dup2(standard_fd[i], i);
		}
		exit(command(&options, confined)); /* not _exit, for tests/coverage */
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	standard_end();
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

#endif

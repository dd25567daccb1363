/* SPDX-License-Identifier: ISC */
#ifndef COFFERDAM_EXECUTOR_CHILD_H
#define COFFERDAM_EXECUTOR_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "../ipc/limits.h"

/*
 * The executor's children, and waiting.  Every wait hears the terminating
 * signals and has a deadline.  A child gets a session and process group of its
 * own, default signal dispositions, an empty mask, exactly the descriptors
 * named, exactly the environment named, no core dump, and SIGKILL when the
 * executor dies.
 *
 * Standard output and standard error are memfds unless a descriptor is given,
 * so nothing has to be pumped and nothing can block.  Each has its full size
 * from the start and is sealed against growth: that is its bound.  What was
 * written is what lies before the offset, which executor and child share.
 */

#define CHILD_FDS 9
#define CHILD_PAGE 65536 /* a write that is refused may leave so much room unused */
#define CHILD_OUT_MAX (REPLY_BYTES_MAX + CHILD_PAGE)
#define CHILD_ERR_MAX (WORKER_STDERR_MAX + CHILD_PAGE)
_Static_assert(CHILD_OUT_MAX > TURN_BYTES_MAX && CHILD_OUT_MAX % CHILD_PAGE == 0, "stdout");
_Static_assert(CHILD_ERR_MAX > WORKER_STDERR_MAX && CHILD_ERR_MAX % CHILD_PAGE == 0, "stderr");

#define CHILD_LOST (-1) /* status: did not start, or did not exit by itself */

struct child {
	pid_t pid; /* 0: never started */
	bool ended;
	bool vital; /* child_wait stops when this one fails */
	int status; /* once ended: exit status or CHILD_LOST */
	int out; /* memfd, -1 when a descriptor was given */
	int err; /* memfd; the child's only when no descriptor was given */
};

struct child_plan {
	const char *path; /* the program, or "" to execute `program` */
	int program; /* descriptor (O_PATH will do), -1 with a path */
	const char *const *argv;
	const char *const *env;
	int count; /* of fd[], at least 3 */
	int fd[CHILD_FDS]; /* becomes 0, 1, ...; -1: a memfd for 1 and 2, else /dev/null */
};

enum child_wait {
	CHILD_DONE, /* all have ended */
	CHILD_FAILED, /* a vital one ended with another status than 0 */
	CHILD_READY, /* fd is ready */
	CHILD_DEADLINE,
	CHILD_SIGNAL, /* a terminating signal came, now or earlier */
};

/* Blocks the signals and opens what the functions below need.  Once. */
__attribute__((warn_unused_result)) bool child_set_up(void);

/* Starts a child.  One that cannot be started has ended with CHILD_LOST. */
void child_start(struct child *child, const struct child_plan *plan);

/* Waits for count children, or for `events` on fd (-1: none), or, with neither,
 * for the deadline (child_now). */
enum child_wait child_wait(struct child *set, size_t count, int fd, short events,
                           int64_t deadline);

/* Kills what still runs of it and reaps it; finish also closes its memfds. */
void child_stop(struct child *child);
void child_finish(struct child *child);

/* The first descriptor from `from` on that this module needs; INT_MAX when none. */
int child_next_fd(int from);

int child_signal(void); /* the first terminating signal that came, or 0 */
void child_shield(bool on); /* while on, child_wait only notes signals */

int64_t child_now(void); /* monotonic milliseconds */

/* Writes while signals and the deadline are watched.  False: not all of it. */
__attribute__((warn_unused_result)) bool child_put(int fd, const char *bytes, size_t len,
                                                   int64_t deadline);

/* What a child wrote to a memfd (-1: nothing): its length, and the first bytes
 * of it as a C string, at most cap - 1.  Returns the bytes copied. */
size_t child_length(int memfd);
size_t child_read(int memfd, char *to, size_t cap);

/* Makes a memfd of exactly the bytes before the offset and seals it for good. */
__attribute__((warn_unused_result)) bool child_seal(int memfd);
/* A sealed memfd of these bytes, or -1. */
__attribute__((warn_unused_result)) int child_document(const void *bytes, size_t len);

#endif

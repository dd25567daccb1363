/* SPDX-License-Identifier: ISC */
#ifndef COFFERDAM_EXECUTOR_AUDIT_H
#define COFFERDAM_EXECUTOR_AUDIT_H

#include <stdbool.h>

/*
 * The executor's events in the audit file, after policy's decision record: one
 * line of JSON and one write(2) an event (design section 6).  They hold
 * integers, hex digits and words of ours, never text of anybody else's, so
 * there is nothing to escape.
 */

enum audit_event {
	AUDIT_LAUNCH, /* the worker is about to be started */
	AUDIT_EXIT, /* it ended: exit status and out-of-memory flag as docker says */
	AUDIT_REMOVED, /* the container is confirmed gone */
	AUDIT_RESIDUAL, /* it is not */
	AUDIT_REAPED, /* an orphan of another run is confirmed gone */
};

struct audit {
	int fd; /* -1: none; O_NONBLOCK, so that no write to it blocks */
	unsigned long seq; /* of the last line of this process */
};

/* Waits for room in a FIFO, but not for ever.  False: there is none, or a signal. */
bool audit_wait(const struct audit *audit);

/* run: nonce in hex.  container: id, "" when unknown.  code: the exit status so
 * far, or the worker's for AUDIT_EXIT.  False when the line was not written
 * whole, in time and before a signal; true when there is no file. */
__attribute__((warn_unused_result)) bool audit_say(struct audit *audit, enum audit_event event,
                                                   const char *run, const char *container,
                                                   int code, bool oom);

#endif

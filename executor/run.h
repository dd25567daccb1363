/* SPDX-License-Identifier: ISC */
#ifndef COFFERDAM_EXECUTOR_RUN_H
#define COFFERDAM_EXECUTOR_RUN_H

#include "../ipc/frame.h"
#include "audit.h"
#include "child.h"
#include "docker.h"
#include "gate.h"
#include "guardian.h"
#include "life.h"
#include "options.h"
#include "removal.h"
#include "say.h"
#include "self.h"
#include "state.h"

/*
 * What the actions of one launch share: the run itself, how it goes on record
 * that something went wrong, and what more than one action does.  launch.c has
 * the actions around the container, deciding.c those before it, checking.c the
 * check of the container, worker.c what happens while it runs.
 */

#define RUN_SAY_MS 5000 /* the deadline of what is said to the caller */

struct run {
	const struct options *options;
	enum life_action action; /* the current one */
	int64_t ms[A_COUNT];

	bool session; /* the command: session, not run */
	int turn_in; /* descriptors, -1: none */
	int config;
	int audit;
	int worker_err;
	int policy;
	int turn; /* sealed memfds */
	int plan;
	int hear; /* the worker's standard error, while docker runs */
	size_t turn_bytes;
	char line[CHILD_OUT_MAX]; /* what run_take_line has taken */
	size_t line_bytes;

	char home[SELF_PATH];
	char config_path[SELF_PATH];
	char audit_path[SELF_PATH];
	char worker_err_path[SELF_PATH];
	char own_path[SELF_PATH];
	char policy_path[SELF_PATH];
	uint8_t nonce[NONCE_BYTES];
	char nonce_hex[ID_HEX + 1];
	struct state state;
	struct docker docker;
	struct child child[4];
	uint8_t frame[FRAME_MAX]; /* order points into it */
	size_t frame_bytes; /* of the LAUNCH frame */
	struct order order;
	struct gate gate; /* what it says */

	struct audit events;
	struct guardian guardian;
	struct removal removal;
	const char *id; /* removal's */
	bool sent; /* docker was told to create */
	bool verified; /* the id is that of a container with our labels */

	int status; /* the exit status so far, and why */
	char code[SAY_WORD];
	char reason[SAY_WORD];
	enum life_action phase;
	char docker_says[SAY_CHILD / 4]; /* the last answer's standard error */
	bool refused; /* the reply was, while the worker still wrote it */
	bool ended; /* the worker did, with: */
	bool oom;
	int exit_code;
};

/* On record: the gravest failure gives the exit status; of equals the first.
 * Those that return an event return E_FAIL. */
void run_record(struct run *run, int status, const char *code, const char *reason);
__attribute__((format(printf, 3, 4))) enum life_event
run_fail(struct run *run, enum executor_reason why, const char *format, ...);
enum life_event run_fail_errno(struct run *run, enum executor_reason why, const char *what);
/* With what the child wrote to its standard error. */
enum life_event run_fail_child(struct run *run, enum executor_reason why,
                               const struct child *child, const char *what);
enum life_event run_signalled(struct run *run);
/* True when a wait was cut short, which is then on record. */
bool run_stopped(struct run *run, enum child_wait wait, enum executor_reason late,
                 const char *what, unsigned seconds);
/* A policy process that ended: E_OK, or on record: refused, or broken. */
enum life_event run_judged(struct run *run, const struct child *child);
/* Copies the line of JSON text, as far as that can be told without reading it, that
 * a filter has written which ended well: a process that it left behind could still
 * change its file.  False: on record. */
__attribute__((warn_unused_result)) bool run_take_line(struct run *run,
                                                       const struct child *child);

/* One line in the audit file, if there is one. */
enum life_event run_log(struct run *run, enum audit_event what, int code);

/* The time so many seconds from now. */
int64_t run_after(unsigned seconds);
/* Starts a policy process with so many descriptors (child.h). */
void run_policy(struct run *run, struct child *child, const char *command, int count,
                const int *fd);
/* One line for --status-fd, if it was given, about a run that goes on. */
void run_tell(const struct run *run, const char *phase);
/* The other end of this end of a pipe is closed, in every process. */
bool run_far_end_closed(int fd);
/* Closes those that are not -1, which they become. */
void run_close(int *fd, size_t count);
/* The roots are still the directories that policy examined. */
bool run_same_roots(const struct run *run);

#endif

/* SPDX-License-Identifier: ISC */
#ifndef COFFERDAM_EXECUTOR_WORKER_H
#define COFFERDAM_EXECUTOR_WORKER_H

#include "run.h"

/*
 * The worker, from its start to what its end means.  A turn's worker reads the
 * sealed turn, and its output goes through `cofferdam-policy reply`; a session's
 * has the caller's own standard input and output.  Its standard error is read
 * here: WORKER_STDERR_MAX bytes are kept, and copied to --worker-stderr FILE;
 * more fails a turn and is dropped in a session.
 */

/* A_START: returns when docker has ended.  A session's container is verified once
 * more when it runs, and --status-fd is then told. */
enum life_event worker_start(struct run *run);
/* A_RESULT: docker's account of the container. */
enum life_event worker_result(struct run *run);

#endif

/* SPDX-License-Identifier: ISC */
#ifndef COFFERDAM_EXECUTOR_GUARDIAN_H
#define COFFERDAM_EXECUTOR_GUARDIAN_H

#include <stdbool.h>
#include <sys/types.h>

#include "audit.h"
#include "removal.h"
#include "state.h"

/*
 * A second process that outlives the executor when that is killed.  It is
 * forked once the claim is held and before docker hears of the run, shares the
 * claim's lock but not the launch lock, and waits on a pipe.  A farewell byte:
 * the executor has done its duty, and it ends.  End of file without one: the
 * executor died, so it removes the run's container, and drops the claim once
 * that is confirmed.
 */

struct guardian {
	pid_t pid; /* 0: none */
	int farewell; /* the pipe's end for writing */
};

__attribute__((warn_unused_result)) bool guardian_start(struct guardian *guardian,
                                                        struct state *state,
                                                        const struct removal *removal,
                                                        const struct audit *events);

/* Says farewell and reaps it. */
void guardian_end(struct guardian *guardian);

#endif

/* SPDX-License-Identifier: ISC */
#ifndef COFFERDAM_EXECUTOR_CHECKING_H
#define COFFERDAM_EXECUTOR_CHECKING_H

#include "run.h"

/* The created container, as docker describes it and its neighbours. */

/* A_CHECK: admit and verify, in parallel.  Uses every child of the run. */
enum life_event checking_container(struct run *run);
/* Verify once more, of a session's container that runs.  Uses child[2] and child[3]. */
enum life_event checking_again(struct run *run);

#endif

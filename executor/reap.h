/* SPDX-License-Identifier: ISC */
#ifndef COFFERDAM_EXECUTOR_REAP_H
#define COFFERDAM_EXECUTOR_REAP_H

#include "options.h"

/*
 * cofferdam reap: removes every orphan of this state directory, running or not,
 * and the claims whose container is gone.  An orphan carries the directory's id
 * and a run whose claim is missing or held by nobody; of another id nothing is
 * touched.  The claim's lock is held meanwhile.  Returns the exit status.
 */
int reap_run(const struct options *options);

#endif

/* SPDX-License-Identifier: ISC */
#ifndef COFFERDAM_EXECUTOR_LAUNCH_H
#define COFFERDAM_EXECUTOR_LAUNCH_H

#include "options.h"

/* One launch, from the caller's options to the exit status: the actions of
 * executor/life.h, and the loop that follows its table. */

/* Both return the exit status (cofferdam(1)).  At most once a process. */
int launch_run(const struct options *options); /* one turn */
int launch_session(const struct options *options); /* a long-lived worker */

#endif

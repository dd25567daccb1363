/* SPDX-License-Identifier: ISC */
#ifndef COFFERDAM_EXECUTOR_STOP_H
#define COFFERDAM_EXECUTOR_STOP_H

#include "options.h"

/*
 * cofferdam stop: removes the containers of the runs named, or of a session,
 * after docker has said that they are of this state directory.  A launch that
 * still owns one then finds that its worker has vanished, and ends by itself.
 * Returns the exit status.
 */
int stop_run(const struct options *options);

#endif

/* SPDX-License-Identifier: ISC */
#ifndef COFFERDAM_EXECUTOR_PS_H
#define COFFERDAM_EXECUTOR_PS_H

#include "options.h"

/*
 * cofferdam ps: docker's list of managed containers, as cofferdam-policy ps
 * shows it, which is told which claims of this state directory are held.
 * Returns the exit status.
 */
int ps_run(const struct options *options);

#endif

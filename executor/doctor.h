/* SPDX-License-Identifier: ISC */
#ifndef COFFERDAM_EXECUTOR_DOCTOR_H
#define COFFERDAM_EXECUTOR_DOCTOR_H

#include "options.h"

/*
 * cofferdam doctor: what a launch would need, one line a check on standard
 * output.  It changes nothing, but that it makes what a state directory that is
 * there lacks.  Returns the exit status: 0 when no check failed, else that with
 * which a launch would end, or would have to.
 */
int doctor_run(const struct options *options);

#endif

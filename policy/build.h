/* SPDX-License-Identifier: ISC */
#ifndef COFFERDAM_POLICY_BUILD_H
#define COFFERDAM_POLICY_BUILD_H

#include <stdbool.h>

#include "../ipc/frame_policy.h"
#include "text.h"

/* The argv of `docker container create`, from a launch's typed fields.  Pure.
 * Words are kept in the arena; false when it or the argv is full.  The order
 * of the words is that of executor/gate.h. */
__attribute__((warn_unused_result)) bool build_argv(struct launch *launch, struct text *arena);

/* The dev.cofferdam.roots label: a JSON array, one object a root, keys path,
 * mode ("ro"/"rw"): [{"path":"/srv/a","mode":"ro"}].  NULL when the arena is
 * full or the label is over ROOTS_LABEL_MAX bytes. */
const char *build_roots_label(const struct launch *launch, struct text *arena);

#endif

/* SPDX-License-Identifier: ISC */
#ifndef COFFERDAM_POLICY_CONFINE_H
#define COFFERDAM_POLICY_CONFINE_H

#include <stdbool.h>

/*
 * Confinement, before the first byte of input.  no_new_privs, not dumpable,
 * resource limits, Landlock with every right handled and none granted, then a
 * seccomp allow-list that was made by libseccomp at build time
 * (policy/filter.c).  A call outside the list traps; the handler names its
 * number on stderr and exits 70.
 */

enum confine_filter {
	CONFINE_PURE, /* read, write, exit: documents in, documents out */
	CONFINE_PATHS, /* also examine paths: openat(O_PATH), statx, readlinkat */
};

enum confine_result {
	CONFINE_FULL = 0, /* Landlock and seccomp hold */
	CONFINE_NO_LANDLOCK, /* the kernel has none; seccomp holds */
	CONFINE_FAILED, /* something else went wrong: do not go on */
};

__attribute__((warn_unused_result)) enum confine_result confine(enum confine_filter filter);

#endif

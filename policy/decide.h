/* SPDX-License-Identifier: ISC */
#ifndef COFFERDAM_POLICY_DECIDE_H
#define COFFERDAM_POLICY_DECIDE_H

#include <stdbool.h>

#include "../ipc/frame_policy.h"
#include "config.h"
#include "image.h"
#include "place.h"
#include "report.h"

/*
 * The one decision function, behind `decide`, `check` and `argv`.  It makes no
 * system call itself; it asks the host through policy/resolve.h and asks docker
 * through the caller.
 */

struct decision {
	struct launch launch; /* complete only when the report is empty */
	const char *asked[ROOTS_MAX]; /* each root's host path as configured */
	struct place root[ROOTS_MAX];
	struct place endpoint;
	bool image_known; /* docker was asked; false in check and argv */
	const char *image; /* the reference */
};

/* Docker's answers, each asked for at most once and in this order.  NULL
 * members, or false returned: not available, with a finding already added. */
struct decide_asker {
	void *context;
	/* The endpoint of docker's current context, kept in the arena. */
	const char *(*endpoint)(void *context, struct text *arena, struct report *report);
	bool (*image)(void *context, const char *endpoint, const char *reference,
	              struct text *arena, struct image *out, struct report *report);
};

struct decide_options {
	bool offline; /* no file system: paths are compared as text */
};

/* Judges config against facts; fills in *out; every violation is reported.
 * Strings of *out live in the arena, the config and the facts. */
void decide(const struct config *config, const struct facts *facts,
            const struct decide_options *options, const struct decide_asker *asker,
            struct text *arena, struct decision *out, struct report *report);

#endif

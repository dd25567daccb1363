/* SPDX-License-Identifier: ISC */
#ifndef COFFERDAM_EXECUTOR_REMOVAL_H
#define COFFERDAM_EXECUTOR_REMOVAL_H

#include <stdbool.h>
#include <stdint.h>

#include "child.h"
#include "docker.h"

/*
 * Finding one run's container and taking it away.  Used by a launch, by its
 * guardian and when an orphan is reaped.
 *
 * A container is a run's when it carries both our state directory's label and
 * the run's nonce: never by its name.  It is gone when docker, asked for those
 * labels, exits 0 and lists nothing; what `rm` says proves nothing.
 */

#define CONTAINER_ID 64 /* lower-case hex digits */

/* After a create with an unknown outcome: for so long the engine may still
 * carry it out. */
#define REMOVAL_QUIET_MS 3000

struct removal {
	const struct docker *docker;
	unsigned control_seconds; /* for one docker command */
	unsigned remove_seconds; /* for all of it */
	char run[sizeof("label=dev.cofferdam.run=") + ID_HEX]; /* filter */
	char id[CONTAINER_ID + 1]; /* "" while unknown */
};

/* Of the run with this nonce; its id is unknown. */
void removal_init(struct removal *removal, const struct docker *docker, const char *nonce);

/* Takes a container's id from a child's output: exactly that and a newline. */
bool removal_take_id(struct removal *removal, const struct child *child);

enum removal_look { REMOVAL_GONE, REMOVAL_THERE, REMOVAL_UNKNOWN };

/* Asks docker; the id is known once it is there. */
enum removal_look removal_look(struct removal *removal, int64_t deadline);

/* Removes it.  settle: a create may still be under way, so that finding nothing
 * means nothing before a quiet period has passed.  Unless shielded (child.h) it
 * ends at a signal.  False: not confirmed gone. */
__attribute__((warn_unused_result)) bool removal_run(struct removal *removal, bool settle);

#endif

/* SPDX-License-Identifier: ISC */
#ifndef COFFERDAM_EXECUTOR_MANAGED_H
#define COFFERDAM_EXECUTOR_MANAGED_H

#include <stdbool.h>
#include <stddef.h>

#include "audit.h"
#include "child.h"
#include "docker.h"
#include "options.h"
#include "reason.h"
#include "removal.h"
#include "state.h"

/*
 * What ps, stop and reap share: the containers of earlier launches; doctor takes
 * the endpoint and the output from here.  None of them reads the config, so the
 * endpoint is --host, else $DOCKER_HOST when that is not empty, else MANAGED_HOST.
 *
 * A failure is told on standard error as it happens, and goes on record: the
 * gravest gives the exit status.  A signal ends every wait; what it left undone
 * is told by managed_end.
 */

#define MANAGED_HOST "unix:///var/run/docker.sock"
#define MANAGED_MS 30000 /* for one docker command, and for one removal */
/* A claim that says "creating" for longer is a dead launch's (executor/state.h). */
#define MANAGED_QUIET_SECONDS (REMOVAL_QUIET_MS / 1000 + 1)

struct managed {
	const struct options *options;
	struct state state;
	struct docker docker;
	struct audit events;
	int status; /* the exit status so far */
};

/* The endpoint that is asked for; its canonical form goes to docker.  False: not one. */
__attribute__((warn_unused_result)) bool managed_endpoint(const struct options *options,
                                                          struct docker *docker,
                                                          const char **asked);

/* Sets the process up and opens the state directory.  False: on record. */
__attribute__((warn_unused_result)) bool managed_open(struct managed *managed,
                                                      const struct options *options);

__attribute__((format(printf, 3, 4))) void managed_fail(struct managed *managed,
                                                        enum executor_reason why,
                                                        const char *format, ...);

/* Of a policy process that ended with another status than 0: what it refuses of
 * docker's answer, or that it broke. */
void managed_judge(struct managed *managed, const struct child *policy);

/* Runs a listing command to its end; list must be finished in any case. */
__attribute__((warn_unused_result)) bool managed_list(struct managed *managed, struct child *list,
                                                      enum docker_command command,
                                                      const char *subject);

/*
 * Calls act() for each container that DOCKER_OURS or DOCKER_OURS_WITH lists.
 * A list that is anything but lines of id and run, and of this run (NULL: any),
 * is a failure, and act() is called for none of it.  The number of containers,
 * or -1: on record.
 */
long managed_each(struct managed *managed, enum docker_command command, const char *subject,
                  const char *run,
                  void (*act)(struct managed *managed, const char *id, const char *run));

/* Removes a container that managed_each has told of, by its id, or one that the
 * engine may still be about to create (settle: removal.h; id ""); writes its id and
 * run to standard output, and what became of it to --audit FILE.  True: confirmed
 * gone, be it by somebody else. */
__attribute__((warn_unused_result)) bool managed_remove(struct managed *managed, const char *id,
                                                        const char *run, bool settle);

/* Asks docker for the container of a run.  REMOVAL_UNKNOWN is on record. */
__attribute__((warn_unused_result)) enum removal_look managed_look(struct managed *managed,
                                                                   struct removal *removal,
                                                                   const char *run);

/* Calls act() for each file that is named as a claim, until that returns false.
 * False: it did, or they cannot be read. */
__attribute__((warn_unused_result)) bool
managed_claims(struct managed *managed, bool (*act)(struct managed *managed, const char *run));

/* Drops the claim that state_claim or state_adopt took, or leaves it to others. */
void managed_drop(struct managed *managed, bool gone);

/* To standard output, however long its reader takes.  False: on record. */
bool managed_put(struct managed *managed, const char *bytes, size_t len);

/* The exit status. */
int managed_end(struct managed *managed);

#endif

/* SPDX-License-Identifier: ISC */
#ifndef COFFERDAM_EXECUTOR_DOCKER_H
#define COFFERDAM_EXECUTOR_DOCKER_H

#include "child.h"
#include "self.h"

/*
 * Every docker command that the executor ever runs, apart from the create
 * command that policy froze and the gate let through.  Fixed words and four
 * holes; an environment of fixed words.
 */

enum docker_command {
	DOCKER_CONTEXT, /* the endpoint of the user's current context */
	DOCKER_IMAGE, /* subject: reference */
	DOCKER_LIST, /* all managed containers, for admit */
	DOCKER_INSPECT, /* subject: id; for verify */
	DOCKER_START, /* subject: id */
	DOCKER_RESULT, /* subject: id; one line of words */
	DOCKER_REMOVE, /* subject: id */
	DOCKER_FIND, /* subject: a run's label; the id of our container that has it */
	DOCKER_PS, /* all managed containers, for ps */
	DOCKER_OURS, /* id and run of each of our containers, a line each */
	DOCKER_OURS_WITH, /* subject: a label; of those that have it */
	DOCKER_CLIENT, /* the program's own version; it asks no engine */
	DOCKER_VERSION, /* lines: executor/engine.h has the order of these three */
	DOCKER_INFO,
	DOCKER_IMAGE_LINES, /* subject: reference */
	DOCKER_COMMANDS
};

/* What DOCKER_LIST and DOCKER_PS print of a container: ADMIT_FORMAT of policy/admit.h
 * and PS_FORMAT of policy/ps.h, which this program does not include; a unit test
 * compares them. */
extern const char docker_list_format[];
extern const char docker_ps_format[];

struct docker {
	char path[SELF_PATH]; /* the program */
	char home[SELF_PATH + 32]; /* HOME=<state directory>/docker */
	char config[SELF_PATH + 32]; /* DOCKER_CONFIG=the same */
	char endpoint[sizeof("unix://") + ENDPOINT_PATH_MAX];
	char state[sizeof("label=dev.cofferdam.state=") + ID_HEX]; /* filter: our containers */
};

/* home, config and state, from the state directory's path and id. */
void docker_environment(struct docker *docker, const char *state_path, const char *state_id);

/* Starts a command of the table, with in and out as standard input and output
 * (-1: as in child.h). */
void docker_start(struct child *child, const struct docker *docker, enum docker_command command,
                  const char *subject, int in, int out);

/* Starts DOCKER_START: the worker between these three. */
void docker_attach(struct child *child, const struct docker *docker, const char *id, int in,
                   int out, int err);

/* Starts the create command. */
void docker_create(struct child *child, const struct docker *docker, const char *const *argv);

#endif

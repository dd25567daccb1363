/* SPDX-License-Identifier: ISC */
#ifndef COFFERDAM_EXECUTOR_ENGINE_H
#define COFFERDAM_EXECUTOR_ENGINE_H

#include <stdbool.h>
#include <stddef.h>

#include "reason.h"

/*
 * What docker says of itself and of its engine: plain lines, made by the
 * templates here, and what doctor thinks of them.  Pure.
 */

enum engine_line {
	/* docker version --format engine_version_format */
	ENGINE_CLIENT, /* the docker program's version */
	ENGINE_CLIENT_API, /* the highest API version that it speaks */
	ENGINE_SERVER, /* the engine's version */
	ENGINE_API, /* the highest API version that it speaks */
	ENGINE_PARTS, /* its components, a blank behind each */
	/* docker info --format engine_info_format */
	ENGINE_SYSTEM, /* the kind of system, and its name */
	ENGINE_ROOT, /* the engine's data directory */
	ENGINE_SECURITY, /* name=seccomp,profile=default and so on, a blank behind each */
	ENGINE_CGROUP, /* version and driver */
	ENGINE_MEMORY, /* this one to ENGINE_PIDS: NAME=true or NAME=false */
	ENGINE_SWAP,
	ENGINE_CPU,
	ENGINE_PIDS,
	ENGINE_WARNINGS, /* a blank behind each, or "none" */
	ENGINE_LINES,
	ENGINE_VERSION_LINES = ENGINE_SYSTEM,
	ENGINE_INFO_LINES = ENGINE_LINES - ENGINE_VERSION_LINES,
};
extern const char engine_version_format[];
extern const char engine_info_format[];

/* docker image inspect --format engine_image_format */
enum engine_image {
	ENGINE_IMAGE_ID,
	ENGINE_IMAGE_OS,
	ENGINE_IMAGE_VOLUMES, /* "" when there are none */
	ENGINE_IMAGE_LINES
};
extern const char engine_image_format[];

/* Cuts text into count lines, in place: the last one has all that is left, less
 * the newline at its end.  False when there are fewer; line[] is then not set. */
__attribute__((warn_unused_result)) bool engine_lines(char *text, const char **line,
                                                      size_t count);

/* Of two API versions, as in "1.41": less than, equal to or greater than 0 when
 * client's is lower, equal or higher.  False when either is not one. */
__attribute__((warn_unused_result)) bool engine_compare(const char *client, const char *engine,
                                                        int *order);

/* One thing that may be the matter. */
struct engine_rule {
	const char *check; /* of doctor's */
	enum engine_line line;
	bool has; /* applies when the line has this part, else when it lacks it */
	const char *part;
	enum executor_reason why; /* a failure; WHY_NONE: a warning, or without a mend fine */
	const char *said; /* what stands before the line */
	const char *mend; /* of a failure NULL: the reason's own */
};

/* The first rule of a check that applies, or NULL: nothing is the matter. */
const struct engine_rule *engine_judge(const char *check, const char *const *line);

#endif

/* SPDX-License-Identifier: ISC */
#ifndef COFFERDAM_POLICY_PLACE_H
#define COFFERDAM_POLICY_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../ipc/limits.h"

/*
 * A path of the host, examined once.  Filled in by policy/resolve.c (the only
 * system calls), judged by policy/mounts.c (pure).
 */

#define PLACE_DEPTH 128 /* components of a canonical path */

enum place_state {
	PLACE_TEXT = 0, /* not examined: lexically canonical text only (--offline) */
	PLACE_EXISTS,
	PLACE_MISSING, /* the last component does not exist; its parent does */
	PLACE_ABSENT, /* some directory on the way does not exist */
	PLACE_UNKNOWN, /* could not be examined (EACCES, ELOOP, EIO …) */
	PLACE_DEEP, /* more than PLACE_DEPTH components, or too long */
};

struct place_id {
	uint64_t dev; /* st_dev */
	uint64_t ino;
};

struct place {
	enum place_state state;
	int error; /* errno of PLACE_UNKNOWN */
	char path[PATH_BYTES_MAX + 1]; /* canonical, NUL-terminated */
	size_t len;
	uint32_t st_mode; /* of the place itself, when it exists */
	uint32_t uid;
	uint64_t nlink;
	struct place_id self; /* when it exists */
	/* Every directory above it, from / to its parent. */
	uint32_t depth;
	struct place_id above[PLACE_DEPTH];
	/* A directory walked through (links included) that somebody other than
	 * root and the caller owns, or that group or others may write and that
	 * is not sticky; its path's length in `path`, or 0 with weak false. */
	bool weak;
	size_t weak_len;
	/* Where it lies inside its file system, from mountinfo (proc(5)):
	 * major:minor and the path from that file system's root. */
	bool located;
	uint32_t major;
	uint32_t minor;
	char inside[PATH_BYTES_MAX + 1];
	size_t inside_len;
};

#endif

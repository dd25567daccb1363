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

#define PLACE_DEPTH 128 /* components of a canonical path, at most */

/* The type bits of st_mode (inode(7)), for modules that include no
 * <sys/stat.h>; resolve.c asserts that they are the same. */
#define PLACE_TYPE 0170000U
#define PLACE_DIRECTORY 0040000U
#define PLACE_FILE 0100000U
#define PLACE_SOCKET 0140000U
#define PLACE_OTHERS_WRITE 0002U

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
	/* Canonical and NUL-terminated.  Of a PLACE_UNKNOWN one as far as it was
	 * walked, of a PLACE_DEEP one "/": neither is to be compared. */
	char path[PATH_BYTES_MAX + 1];
	size_t len;
	uint32_t st_mode; /* of the place itself, when it exists */
	uint32_t uid;
	uint64_t nlink;
	struct place_id self; /* when it exists */
	/* Every directory above it, from / to its parent; of a PLACE_ABSENT one
	 * those that exist. */
	uint32_t depth;
	struct place_id above[PLACE_DEPTH];
	/* Somebody other than root and the caller could change where the path
	 * leads.  A directory walked through (links included) is not theirs, or
	 * group or others may write to it and it is not sticky; or an entry of a
	 * sticky one that others may write to is not theirs.  The first such
	 * directory or entry; "" with weak false. */
	bool weak;
	char weak_path[PATH_BYTES_MAX + 1];
	size_t weak_len;
	/* Where it lies inside its file system, from mountinfo (proc(5)):
	 * major:minor and the path from that file system's root. */
	bool located;
	uint32_t major;
	uint32_t minor;
	char inside[PATH_BYTES_MAX + 1];
	size_t inside_len;
	/* A mount point strictly below it, NULL when there is none; it stays in
	 * resolve.c's mount table. */
	const char *submount;
};

/* type: PLACE_DIRECTORY, PLACE_FILE or PLACE_SOCKET. */
static inline bool place_is(const struct place *place, uint32_t type)
{
	return place->state == PLACE_EXISTS && (place->st_mode & PLACE_TYPE) == type;
}

#endif

/* SPDX-License-Identifier: ISC */
#ifndef COFFERDAM_POLICY_RESOLVE_H
#define COFFERDAM_POLICY_RESOLVE_H

#include <stdbool.h>
#include <stdint.h>

#include "place.h"

/*
 * Examines paths of the host, with openat(O_PATH|O_NOFOLLOW|O_CLOEXEC),
 * newfstatat/statx and readlinkat only, so it works inside policy's filter.
 * Holds at most a few descriptors and closes each.
 */

/* Takes the mount table: a descriptor on /proc/self/mountinfo opened before
 * confinement; reads it to its end.  False when it cannot be read, is too
 * large or does not parse. */
__attribute__((warn_unused_result)) bool resolve_mountinfo(int fd);

/* Resolves an absolute path, links and all (at most 40), once.  Always fills
 * in *out.  located and submount need the mount table: without it, or when the
 * table does not show the place's mount, located stays false. */
void resolve_place(const char *path, uint32_t caller_uid, struct place *out);

/* The same without the file system: lexically canonical text, PLACE_TEXT; or
 * PLACE_DEEP, or PLACE_UNKNOWN when it is not absolute. */
void resolve_text(const char *path, struct place *out);

/* A mount point strictly below the place, or NULL.  From the mount table;
 * resolve_place has put the same into place->submount. */
const char *resolve_submount(const struct place *place);

/* Does the path still lead, without any link, to this object?  For verify. */
bool resolve_holds(const char *canonical, uint64_t dev, uint64_t ino);

#endif

/* SPDX-License-Identifier: ISC */
#ifndef COFFERDAM_POLICY_MOUNTINFO_H
#define COFFERDAM_POLICY_MOUNTINFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The mount table, /proc/self/mountinfo as proc(5) describes it.  Pure; called
 * by policy/resolve.c, which reads the file.
 *
 *   36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue
 *   id parent major:minor root point options [tag]... - type source options
 */

#ifndef MOUNTINFO_MOUNTS
#define MOUNTINFO_MOUNTS 8192
#endif
#ifndef MOUNTINFO_BYTES
#define MOUNTINFO_BYTES 4194304
#endif

struct mountinfo_entry {
	uint64_t id; /* what statx(2) gives as stx_mnt_id */
	uint32_t major;
	uint32_t minor;
	/* Both are NUL-terminated in the table's text. */
	const char *root; /* which part of the file system is mounted */
	size_t root_len; /* 0 when it is no path (nsfs), or deleted */
	const char *point; /* where; begins with / */
	size_t point_len;
};

struct mountinfo {
	uint32_t count;
	struct mountinfo_entry at[MOUNTINFO_MOUNTS];
};

/* Parses the whole file.  The escapes of root and point are undone in place,
 * so text is changed, and must outlive *out.  False when a line has not this
 * form or there are more than MOUNTINFO_MOUNTS; *out is then empty. */
__attribute__((warn_unused_result)) bool mountinfo_parse(struct mountinfo *out, char *text,
                                                         size_t len);

/* The mount with this id, or NULL. */
const struct mountinfo_entry *mountinfo_find(const struct mountinfo *table, uint64_t id);

/* Where a canonical path lies inside the mount's file system: the mount's root,
 * then the rest of the path below the mount point; written to `to`, which holds
 * PATH_BYTES_MAX + 1 bytes, with a NUL.  False, and nothing written, when the
 * mount says not where it lies, the path is not below its mount point, or the
 * result is too long. */
__attribute__((warn_unused_result)) bool mountinfo_inside(const struct mountinfo_entry *entry,
                                                          const char *path, size_t len, char *to,
                                                          size_t *to_len);

/* A mount point strictly below a canonical path, or NULL. */
const char *mountinfo_below(const struct mountinfo *table, const char *path, size_t len);

#endif

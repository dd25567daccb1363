/* SPDX-License-Identifier: ISC */
#ifndef COFFERDAM_POLICY_MOUNTS_H
#define COFFERDAM_POLICY_MOUNTS_H

#include <stdbool.h>
#include <stdint.h>

#include "place.h"
#include "report.h"

/* The rules between examined places (design section 7).  Pure. */

/*
 * Does one place hold the other, or are they the same?  MOUNTS_OVERLAP when
 * their text says so; MOUNTS_ALIAS when only identity (dev and ino of one among
 * the directories above the other, or of both) or the location inside the file
 * system does.  Symmetric.  PLACE_TEXT places are compared as text only; a
 * place that could not be examined overlaps everything.
 *
 * Not to be seen from here: another hard link of a protected *file* (its
 * directory is not known), and what a file system keeps of its own in another
 * one (an overlay's layers, a loop device's image).
 */
enum mounts_relation { MOUNTS_DISJOINT = 0, MOUNTS_OVERLAP, MOUNTS_ALIAS };
enum mounts_relation mounts_relate(const struct place *a, const struct place *b);

/* Exactly the same object: same canonical path and, where examined, same id.
 * False when either could not be examined. */
bool mounts_same(const struct place *a, const struct place *b);

struct mounts_item {
	const struct place *place;
	const char *pointer; /* where it stands in the config, "/mounts/0/host" */
	bool is_file; /* the bundle */
};

/* A path that must stay outside every mount, with the word that says why. */
struct mounts_protected {
	const struct place *place;
	const char *what; /* "the docker socket", "the config file" … */
};

/*
 * Every rule for the sources: exists, right type (a directory; the bundle a
 * regular file with one link), ancestors, system directories, pairwise
 * disjoint, no protected path inside or around, no file system mounted inside,
 * location known.  Every violation is reported, one of a pair at the later
 * item.  A protected path need not exist, but one that could not be examined
 * is refused, whatever the mounts.  PLACE_TEXT places (--offline) meet only the
 * text rules.
 */
void mounts_judge(const struct mounts_item *item, uint32_t count,
                  const struct mounts_protected *protected_path, uint32_t protected_count,
                  struct report *report);

#endif

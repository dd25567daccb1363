/* SPDX-License-Identifier: ISC */
#ifndef COFFERDAM_POLICY_MOUNTS_H
#define COFFERDAM_POLICY_MOUNTS_H

#include <stdbool.h>
#include <stdint.h>

#include "place.h"
#include "report.h"

/* The rules between examined places (design section 7).  Pure. */

/* Component, identity and location overlap of two places, either way round.
 * PLACE_TEXT places are compared as text only. */
enum mounts_relation { MOUNTS_DISJOINT = 0, MOUNTS_OVERLAP, MOUNTS_ALIAS };
enum mounts_relation mounts_relate(const struct place *a, const struct place *b);

/* Exactly the same object: same canonical path and, where examined, same id. */
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
 * disjoint, no protected path inside or around, no file system mounted inside
 * (submounts come from resolve.c's mount table).  Every violation is reported.
 * offline: places are PLACE_TEXT, and only the text rules apply.
 */
void mounts_judge(const struct mounts_item *item, uint32_t count,
                  const struct mounts_protected *protected_path, uint32_t protected_count,
                  struct report *report);

#endif

/* SPDX-License-Identifier: ISC */
#ifndef COFFERDAM_TESTS_UNIT_SCRATCH_H
#define COFFERDAM_TESTS_UNIT_SCRATCH_H

#include <ftw.h>
#include <stdio.h>

static inline int scratch_take_one(const char *name, const struct stat *st, int kind,
                                   struct FTW *at)
{
	(void)st;
	(void)kind;
	(void)at;
	return remove(name);
}

/* Removes a test's directory with all that is in it; 0 if it is gone. */
static inline int scratch_remove(const char *base)
{
	return nftw(base, scratch_take_one, 8, FTW_DEPTH | FTW_PHYS);
}

#endif

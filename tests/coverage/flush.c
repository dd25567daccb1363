/* SPDX-License-Identifier: ISC */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/*
 * Linked to an executor that counts its branches (coverage.py --e2e): each user
 * writes to a directory of its own, and a child that ends by _exit(2) writes too.
 */

void __gcov_dump(void);
_Noreturn void __real__exit(int status);
_Noreturn void __wrap__exit(int status);

static void own_directory(void)
{
	char name[sizeof(COUNTS) + 16];

	snprintf(name, sizeof(name), "%s/%u", COUNTS, (unsigned)geteuid());
	setenv("GCOV_PREFIX", name, 1);
}

/* Handlers of atexit(3) run before gcov's own destructor. */
__attribute__((constructor)) static void at_end(void)
{
	if (atexit(own_directory) != 0)
		abort();
}

void __wrap__exit(int status)
{
	own_directory();
	__gcov_dump();
	__real__exit(status);
}

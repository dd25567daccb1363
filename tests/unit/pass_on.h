/* SPDX-License-Identifier: ISC */
#ifndef COFFERDAM_TESTS_UNIT_PASS_ON_H
#define COFFERDAM_TESTS_UNIT_PASS_ON_H

#include <dlfcn.h>
#include <stddef.h>

/* For a function of libc that a test defines itself, and that then stands before
 * libc's own in the program: passed_on is libc's, the name's next definition. */
#define PASS_ON(name) \
	static __typeof__(name) *passed_on; \
	if (passed_on == NULL) \
		*(void **)(void *)&passed_on = dlsym(RTLD_NEXT, #name)

#endif

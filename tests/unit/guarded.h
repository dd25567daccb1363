/* SPDX-License-Identifier: ISC */
#ifndef COFFERDAM_TESTS_UNIT_GUARDED_H
#define COFFERDAM_TESTS_UNIT_GUARDED_H

#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#define GUARDED_MAX 4096 /* the least page that Linux knows */

/*
 * A copy of len bytes (at most GUARDED_MAX), behind whose last byte nothing can
 * be read: mprotect(2).  It lives until the next call.
 */
static inline char *guarded(const void *bytes, size_t len)
{
	static char *edge;

	if (edge == NULL) {
		edge = mmap(NULL, 32 * GUARDED_MAX, PROT_READ | PROT_WRITE,
		            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		assert_true(edge != MAP_FAILED);
		edge += 16 * GUARDED_MAX; /* 64 KiB: the greatest page */
		assert_int_equal(mprotect(edge, 16 * GUARDED_MAX, PROT_NONE), 0);
	}
	assert_true(len <= GUARDED_MAX);
	if (len > 0)
		memcpy(edge - len, bytes, len);
	return edge - len;
}

#endif

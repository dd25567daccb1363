/* SPDX-License-Identifier: ISC */
#ifndef COFFERDAM_TESTS_UNIT_POOL_H
#define COFFERDAM_TESTS_UNIT_POOL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../../policy/json.h"

/* No document is open: the next may have every value of the pool. */
static inline void assert_pool_free(void)
{
	static char text[2 * JSON_POOL];
	const struct json_limits limits = { .bytes = sizeof(text), .values = JSON_POOL };
	struct json_error error;
	struct json doc;

	for (size_t i = 1; i < sizeof(text) - 1; i++)
		text[i] = i % 2 == 1 ? '0' : ',';
	text[0] = '[';
	text[sizeof(text) - 2] = ' '; /* JSON_POOL - 1 items, and the array */
	text[sizeof(text) - 1] = ']';
	assert_true(json_parse(&doc, text, sizeof(text), &limits, &error));
	assert_int_equal(json_count(&doc, 0), JSON_POOL - 1);
	json_drop(&doc);
}

#endif

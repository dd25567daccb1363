/* SPDX-License-Identifier: ISC */
#ifndef COFFERDAM_POLICY_PATH_H
#define COFFERDAM_POLICY_PATH_H

#include <stdbool.h>
#include <stddef.h>

/* Paths as text.  Pure; lengths exclude any NUL. */

enum path_result {
	PATH_OK = 0,
	PATH_RELATIVE, /* empty, or does not begin with / */
	PATH_CHARACTER, /* control byte, DEL, comma, double quote, or not UTF-8 */
	PATH_TOO_LONG, /* over PATH_BYTES_MAX bytes, or a component over 255 */
	PATH_ROOT, /* names the root directory: "/", "//", "/." … lexically */
};

/* What a path of the config must be before it is resolved.  The tests are made
 * in the enum's order. */
__attribute__((warn_unused_result)) enum path_result path_check(const char *path, size_t len);

/* Begins with /, has no empty, "." or ".." component and no slash at its end;
 * "/" itself is canonical. */
bool path_canonical(const char *path, size_t len);

/* Of two canonical paths: inner is outer, or lies below it, by component:
 * /run/host does not contain /run/hostage; "/" contains everything. */
bool path_contains(const char *outer, size_t outer_len, const char *inner, size_t inner_len);

/* One of the two contains the other.  Symmetric. */
bool path_overlap(const char *a, size_t a_len, const char *b, size_t b_len);

#endif

/* SPDX-License-Identifier: ISC */
#include "path.h"

#include <stdint.h>

#include "../ipc/limits.h"
#include "utf8.h"

#define COMPONENT_BYTES_MAX 255 /* NAME_MAX, limits.h(0P) */

/* A component as far as its bytes were read: enough to tell an empty one, "."
 * and ".." from a name, without looking back. */
struct component {
	size_t len;
	size_t dots;
};

static inline void component_byte(struct component *component, char byte)
{
	component->len++;
	component->dots += byte == '.' ? 1U : 0U;
}

static inline bool component_is_dots(const struct component *component, size_t dots)
{
	return component->len == dots && component->dots == dots;
}

static inline bool component_is_name(const struct component *component)
{
	return component->len > 0 && !component_is_dots(component, 1) &&
	       !component_is_dots(component, 2);
}

/* Docker reads a --mount value as one CSV record: a comma, a quote or a line
 * end in a path would change what the other fields say. */
static bool characters_allowed(const char *path, size_t len)
{
	bool ok = utf8_valid(path, len);

	for (size_t i = 0; i < len; i++) {
		unsigned char byte = (unsigned char)path[i];

		ok = ok && byte >= 0x20 && byte != 0x7f && byte != ',' && byte != '"';
	}
	return ok;
}

static bool lengths_allowed(const char *path, size_t len)
{
	bool ok = len <= PATH_BYTES_MAX;
	size_t component = 0;

	for (size_t i = 0; i < len; i++) {
		component = path[i] == '/' ? 0 : component + 1;
		ok = ok && component <= COMPONENT_BYTES_MAX;
	}
	return ok;
}

/* How many components are left once "." and ".." are taken out as text. */
static size_t lexical_depth(const char *path, size_t len)
{
	struct component component = {0, 0};
	size_t depth = 0;

	for (size_t i = 0; i <= len; i++) {
		if (i < len && path[i] != '/') {
			component_byte(&component, path[i]);
			continue;
		}
		if (component_is_name(&component))
			depth++;
		else if (component_is_dots(&component, 2) && depth > 0)
			depth--;
		component = (struct component){0, 0};
	}
	return depth;
}

enum path_result path_check(const char *path, size_t len)
{
	if (len == 0 || path[0] != '/')
		return PATH_RELATIVE;
	if (!characters_allowed(path, len))
		return PATH_CHARACTER;
	if (!lengths_allowed(path, len))
		return PATH_TOO_LONG;
	if (lexical_depth(path, len) == 0)
		return PATH_ROOT;
	return PATH_OK;
}

bool path_canonical(const char *path, size_t len)
{
	struct component component = {0, 0};
	bool ok = len > 0 && path[0] == '/';

	for (size_t i = 1; i < len; i++) {
		if (path[i] != '/') {
			component_byte(&component, path[i]);
			continue;
		}
		ok = ok && component_is_name(&component);
		component = (struct component){0, 0};
	}
	return ok && (len == 1 || component_is_name(&component));
}

bool path_contains(const char *outer, size_t outer_len, const char *inner, size_t inner_len)
{
	bool ok = outer_len > 0 && outer_len <= inner_len;
	size_t shared = ok ? outer_len : 0;

	for (size_t i = 0; i < shared; i++)
		ok = ok && outer[i] == inner[i];
	/* "/" ends in its slash; after any other outer path the next byte of
	 * inner must begin a new component. */
	return ok && (outer_len == 1 || outer_len == inner_len || inner[outer_len] == '/');
}

bool path_overlap(const char *a, size_t a_len, const char *b, size_t b_len)
{
	return path_contains(a, a_len, b, b_len) || path_contains(b, b_len, a, a_len);
}

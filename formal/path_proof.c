/* SPDX-License-Identifier: ISC */
#include "../policy/path.h"

#include "../ipc/limits.h"
#include "nondet.h"
#include "spec.h"

#ifndef COMPONENT_MAX
#define COMPONENT_MAX 255
#endif

/* Natively, what is not canonical is dropped before the next text begins. */
static size_t any_canonical(char path[FORMAL_N])
{
	size_t len = any_text(path, FORMAL_N);

	ASSUME(spec_canonical(path, len));
	return len;
}

PROOF(path_canonical_exact)
{
	char path[FORMAL_N];
	size_t len = any_text(path, FORMAL_N);

	PROVE(path_canonical(path, len) == spec_canonical(path, len), "canonical as specified");
}

PROOF(path_contains_exact)
{
	char outer[FORMAL_N], inner[FORMAL_N];
	size_t outer_len = any_canonical(outer);
	size_t inner_len = any_canonical(inner);

	PROVE(path_contains(outer, outer_len, inner, inner_len) ==
	              spec_contains(outer, outer_len, inner, inner_len),
	      "contains as specified by position");
	PROVE(path_overlap(outer, outer_len, inner, inner_len) ==
	              (spec_contains(outer, outer_len, inner, inner_len) ||
	               spec_contains(inner, inner_len, outer, outer_len)),
	      "overlap is containment one way or the other");
}

/* The same against lists of components. */
PROOF(path_contains_components)
{
	char outer[FORMAL_N], inner[FORMAL_N];
	size_t outer_len = any_canonical(outer);
	size_t inner_len = any_canonical(inner);

	PROVE(path_contains(outer, outer_len, inner, inner_len) ==
	              spec_contains_by_components(outer, outer_len, inner, inner_len),
	      "contains as specified by components");
}

/* What the rules for mounts use of it. */
PROOF(path_laws)
{
	char a[FORMAL_N], b[FORMAL_N], c[FORMAL_N];
	size_t a_len = any_canonical(a);
	size_t b_len = any_canonical(b);
	size_t c_len = any_canonical(c);
	bool ab, ba, bc, ac, same;

	ab = path_contains(a, a_len, b, b_len);
	ba = path_contains(b, b_len, a, a_len);
	bc = path_contains(b, b_len, c, c_len);
	ac = path_contains(a, a_len, c, c_len);
	same = a_len == b_len;
	for (size_t i = 0; i < a_len; i++)
		same = same && spec_at(a, a_len, i) == spec_at(b, b_len, i);
	PROVE(path_contains(a, a_len, a, a_len), "reflexive");
	PROVE(!(ab && ba) || same, "antisymmetric");
	PROVE(!(ab && bc) || ac, "transitive");
	PROVE(path_overlap(a, a_len, b, b_len) == path_overlap(b, b_len, a, a_len), "symmetric");
	PROVE(path_overlap(a, a_len, b, b_len) == (ab || ba), "overlap");
	PROVE(!(ac && bc) || path_overlap(a, a_len, b, b_len), "what share a path overlap");
	PROVE(a_len != 1 || ab, "the root contains everything");
}

PROOF(path_check_exact)
{
	char path[FORMAL_N];
	size_t len = any_text(path, FORMAL_N);
	enum path_result result = path_check(path, len);
	bool characters = spec_utf8_valid(path, len);

	for (size_t i = 0; i < len; i++)
		characters = characters && spec_at(path, len, i) >= 0x20 &&
		             spec_at(path, len, i) != 0x7f && path[i] != ',' && path[i] != '"';
	PROVE((result == PATH_RELATIVE) == (spec_at(path, len, 0) != '/'), "relative");
	if (result == PATH_RELATIVE)
		return;
	PROVE((result == PATH_CHARACTER) == !characters, "characters");
	if (result == PATH_CHARACTER)
		return;
	PROVE((result == PATH_TOO_LONG) ==
	              (len > PATH_BYTES_MAX || spec_component_over(path, len, COMPONENT_MAX)),
	      "lengths");
	if (result == PATH_TOO_LONG)
		return;
	PROVE(result == (spec_names_root(path, len) ? PATH_ROOT : PATH_OK), "the root");
}

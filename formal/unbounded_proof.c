/* SPDX-License-Identifier: ISC */

/*
 * Texts of any length up to TEXT_MAX: the loops are not unwound but replaced by
 * their contracts (the json files), which CBMC proves first.  A text lies in an
 * object of just its size.  `ghost` is any index at all: what holds there holds
 * everywhere.
 */
#include <stdlib.h>

#include "../policy/lexeme.h"
#include "../policy/path.h"
#include "../policy/utf8.h"
#include "nondet.h"

#ifndef TEXT_MAX
#define TEXT_MAX 1073741824
#endif

size_t ghost;

static char *new_text(size_t *len)
{
	char *text;

	*len = any_up_to(TEXT_MAX);
	text = malloc(*len);
	ASSUME(text != NULL);
	return text;
}

PROOF(path_contains_sound)
{
	size_t outer_len, inner_len;
	const char *outer = new_text(&outer_len), *inner = new_text(&inner_len);

	ghost = any_up_to(TEXT_MAX);
	if (!path_contains(outer, outer_len, inner, inner_len))
		return;
	PROVE(outer_len > 0 && outer_len <= inner_len, "no longer than inner");
	PROVE(ghost >= outer_len || outer[ghost] == inner[ghost], "each byte the same");
	PROVE(outer_len == 1 || outer_len == inner_len || inner[outer_len] == '/',
	      "a component ends there");
}

/* The other way: of paths whose bytes are the same, one being the other's
 * beginning, which the same object twice stands for. */
PROOF(path_contains_complete)
{
	size_t inner_len;
	const char *inner = new_text(&inner_len);
	size_t outer_len = any_up_to(inner_len);

	ASSUME(outer_len > 0 &&
	       (outer_len == 1 || outer_len == inner_len || inner[outer_len] == '/'));
	PROVE(path_contains(inner, outer_len, inner, inner_len), "contains");
}

PROOF(path_canonical_sound)
{
	size_t len;
	const char *path = new_text(&len);
	size_t g;

	ghost = any_up_to(TEXT_MAX);
	g = ghost;
	if (!path_canonical(path, len))
		return;
	PROVE(len > 0 && path[0] == '/', "absolute");
	if (len == 1 || g >= len || path[g] != '/')
		return;
	PROVE(g + 1 < len && path[g + 1] != '/', "no empty component");
	PROVE(path[g + 1] != '.' || (g + 2 < len && path[g + 2] != '/'), "none is .");
	PROVE(path[g + 1] != '.' || path[g + 2] != '.' || (g + 3 < len && path[g + 3] != '/'),
	      "none is ..");
}

PROOF(utf8_span_safe)
{
	size_t len;
	const char *text = new_text(&len);

	PROVE(utf8_span(text, len) <= len, "inside");
}

PROOF(lexeme_number_safe)
{
	size_t len;
	const char *text = new_text(&len);
	size_t at = any_up_to(TEXT_MAX);
	struct scan scan;

	ASSUME(at <= len);
	scan = lexeme_number(text, len, at);
	PROVE(scan.at >= at && scan.at <= len, "inside");
	PROVE(scan.reason != REASON_NONE || scan.at > at, "a digit at the least");
}

/* SPDX-License-Identifier: ISC */

/* jsmn as the policy program compiles it (policy/json.c). */
#define JSMN_STATIC
#define JSMN_STRICT
#define JSMN_PARENT_LINKS
#include <jsmn.h>

#include <stdlib.h>

#include "nondet.h"

#ifndef TOKENS
#define TOKENS 4
#endif

static void prove_tokens(const jsmntok_t *token, int count, size_t len)
{
	for (int i = 0; i < TOKENS; i++) {
		if (i >= count)
			continue;
		PROVE(token[i].start >= 0 && token[i].start <= token[i].end &&
		              (size_t)token[i].end <= len,
		      "a token lies inside the text");
		PROVE(token[i].parent >= -1 && token[i].parent < i, "its parent comes before it");
		PROVE(token[i].size >= 0, "it has no fewer than no children");
	}
}

/* Any text of at most FORMAL_N bytes, which stands in an object of just its size. */
static void parse_any_text(void)
{
	size_t len = any_up_to(FORMAL_N);
	char *text = malloc(len);
	jsmntok_t token[TOKENS];
	unsigned room = (unsigned)any_up_to(TOKENS);
	jsmn_parser parser;
	int count;

	ASSUME(text != NULL);
#ifndef CBMC
	for (size_t i = 0; i < len; i++)
		text[i] = any_byte();
#endif
	jsmn_init(&parser);
	count = jsmn_parse(&parser, text, len, token, room);
	PROVE(count <= (int)room, "no more tokens than there is room for");
	prove_tokens(token, count, len);
#ifndef CBMC
	free(text);
#endif
}

PROOF(jsmn_safe)
{
	parse_any_text();
}

/* With twice the tokens. */
PROOF(jsmn_safe_wide)
{
	parse_any_text();
}

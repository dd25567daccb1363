/* SPDX-License-Identifier: ISC */

#ifndef CBMC

/* Compiled, json.c calls jsmn by way of here, and can be told something else. */

#define JSMN_STATIC
#define JSMN_STRICT
#define JSMN_PARENT_LINKS
#include <jsmn.h>

static struct {
	int token, start; /* a token, and how far beside its place it starts */
	int count; /* how many more tokens it says that there are */
} lie;

static int told(jsmn_parser *parser, const char *text, size_t len, jsmntok_t *tokens, unsigned room)
{
	const int count = jsmn_parse(parser, text, len, tokens, room);

	if (lie.token < count)
		tokens[lie.token].start += lie.start;
	return count + lie.count;
}

#define jsmn_parse told

#endif

/* The module itself, and jsmn in it: tokens have no names outside. */
#include "../policy/json.c"

#include <stdlib.h>

#include "nondet.h"

#ifdef CBMC

/*
 * The third pass and all that reads tokens, over any token array that jsmn could
 * leave (jsmn_safe: tokens inside the text, parents before children) and any
 * events that the grammar could give (grammar_step: inside the text, one behind
 * the other).
 */

#define TOKENS JSON_POOL

static bool value_due; /* the last event was a key */

struct lexeme some_event(struct grammar *grammar);

struct lexeme some_event(struct grammar *grammar)
{
	struct lexeme lexeme = {GRAMMAR_END, REASON_NONE, grammar->at, grammar->at};
	const size_t kind = any_up_to(GRAMMAR_ERROR);
	const bool object = grammar->depth > 0 && grammar->object[grammar->depth - 1];
	const bool value = kind == GRAMMAR_OPEN || kind == GRAMMAR_STRING ||
	                   kind == GRAMMAR_PRIMITIVE;

	if (kind == GRAMMAR_END || kind == GRAMMAR_ERROR || grammar->at == grammar->len) {
		lexeme.event = kind == GRAMMAR_ERROR ? GRAMMAR_ERROR : GRAMMAR_END;
		return lexeme;
	}
	lexeme.event = (enum grammar_event)kind;
	lexeme.start = any_up_to(grammar->len);
	lexeme.end = any_up_to(grammar->len);
	ASSUME(lexeme.start >= grammar->at && lexeme.end > lexeme.start);
	/* A string has both of its quotes. */
	ASSUME((kind != GRAMMAR_KEY && kind != GRAMMAR_STRING) || lexeme.end - lexeme.start >= 2);
	/* Keys stand in objects, and take turns with their values. */
	ASSUME(object ? value == value_due : kind != GRAMMAR_KEY);
	value_due = kind == GRAMMAR_KEY;
	/* What closes was opened: the grammar ends and opens in pairs. */
	ASSUME(kind != GRAMMAR_CLOSE || grammar->depth > 0);
	ASSUME(kind != GRAMMAR_OPEN || grammar->depth < JSON_DEPTH_MAX);
	if (kind == GRAMMAR_OPEN)
		grammar->object[grammar->depth++] = grammar->text[lexeme.start] == '{';
	grammar->depth -= kind == GRAMMAR_CLOSE ? 1 : 0;
	grammar->at = lexeme.end;
	return lexeme;
}

/* Any tokens within what jsmn_safe says of them. */
static void any_tokens(size_t len)
{
	for (int i = 0; i < TOKENS; i++) {
		jsmntok_t *t = &pool[i];

		t->type = (jsmntype_t)(any_up_to(4) == 4 ? 8 : 1U << any_up_to(2));
		t->start = (int)any_up_to(len);
		t->end = (int)any_up_to(len);
		t->size = (int)any_up_to(len);
		t->parent = (int)any_up_to(TOKENS) - 1;
		ASSUME(t->start <= t->end && t->parent < i);
		after[i] = (uint32_t)any_up_to(TOKENS);
	}
}

PROOF(json_agree_safe)
{
	const size_t len = any_up_to(FORMAL_N);
	char *text = malloc(len);
	struct json doc = {text, len, 0, 1 + (uint32_t)any_up_to(TOKENS - 1)};
	size_t offset = 0, size;
	uint32_t node;

	ASSUME(text != NULL);
	any_tokens(len);
	if (!tokens_agree(&doc, any_bool(), &offset)) {
		PROVE(offset <= len, "the place is inside");
		return;
	}
	node = (uint32_t)any_up_to(TOKENS);
	PROVE(subtree_end(&doc, node) > node &&
	              (node >= doc.count || subtree_end(&doc, node) <= doc.count),
	      "a subtree ends behind it, inside the document");
	PROVE(json_first(&doc, node) == JSON_NONE || json_first(&doc, node) < doc.count, "first");
	PROVE(json_next(&doc, node) == JSON_NONE ||
	              (json_next(&doc, node) > node && json_next(&doc, node) < doc.count),
	      "next");
	PROVE(json_value(&doc, node) == JSON_NONE || json_value(&doc, node) < doc.count, "value");
	(void)json_type(&doc, node);
	text = (char *)json_span(&doc, node, &size);
	PROVE(node >= doc.count ? size == 0 : text >= doc.text && text + size <= doc.text + len,
	      "its bytes lie in the text");
}

#else

static const struct json_limits limits = {1000, JSON_POOL, false};

static size_t blamed; /* by the third pass */

static bool same_after_change(struct json *doc, int *field, int by)
{
	bool agree;

	*field += by;
	agree = tokens_agree(doc, false, &blamed);
	*field -= by;
	return agree;
}

/* Where a token's end is looked at. */
static size_t end_is_due(const jsmntok_t *t)
{
	if (is_container(t))
		return (size_t)t->end - 1; /* its bracket */
	return (size_t)t->start - (t->type == JSMN_STRING ? 1 : 0);
}

/* One field of one token is not what jsmn made: the third pass sees it. */
static void no_other_tokens(struct json *doc)
{
	static const int by[] = {-2, -1, 1, 2};
	size_t offset;

	for (uint32_t i = 0; i < doc->count; i++) {
		jsmntok_t *t = &pool[doc->base + i];
		const jsmntype_t type = t->type;

		for (unsigned k = 0; k < 4; k++) {
			PROVE(!same_after_change(doc, &t->start, by[k]), "start");
			PROVE(!same_after_change(doc, &t->end, by[k]), "end");
			PROVE(blamed == end_is_due(t), "its place");
			PROVE(!same_after_change(doc, &t->size, by[k]), "size");
			PROVE(!same_after_change(doc, &t->parent, by[k]), "parent");
			t->type = (jsmntype_t)(1U << k);
			PROVE(type == t->type || !tokens_agree(doc, false, &offset), "type");
			t->type = type;
		}
	}
	PROVE(tokens_agree(doc, false, &offset), "its own tokens");
}

/* Where jsmn's tokens are not the text's, the text is refused: at the first of them. */
static void no_other_jsmn(const struct json *doc)
{
	struct json other;
	struct json_error place, error;

	if (json_type(doc, 0) != JSON_OBJECT && json_type(doc, 0) != JSON_ARRAY)
		return; /* jsmn is not asked for a number or a literal */
	for (uint32_t i = 0; i < doc->count; i++) {
		json_place(doc, i, &place);
		lie.token = (int)i;
		lie.start = 1;
		PROVE(!json_parse(&other, doc->text, doc->len, &limits, &error), "refused");
		PROVE(error.reason == REASON_JSON_SYNTAX && error.offset == place.offset, "there");
	}
	lie.start = 0;
	lie.count = 1;
	PROVE(!json_parse(&other, doc->text, doc->len, &limits, &error), "one token more");
	PROVE(error.reason == REASON_JSON_SYNTAX && error.offset == 0, "of the whole text");
	lie.count = 0;
}

/* Each value is met once, in order, by walking. */
static uint32_t walked(const struct json *doc, uint32_t node, uint32_t expected)
{
	PROVE(node == expected, "in order");
	expected++;
	for (uint32_t at = json_first(doc, node); at != JSON_NONE; at = json_next(doc, at)) {
		expected = walked(doc, at, expected);
		if (json_type(doc, node) == JSON_OBJECT)
			expected = walked(doc, json_value(doc, at), expected);
	}
	return expected;
}

/* What is written is the same document, and is written so again. */
static void writes_again(const struct json *doc)
{
	static char once[256], twice[256];
	struct text first, second;
	struct json copy;
	struct json_error error;

	text_init(&first, once, sizeof once);
	json_write(doc, 0, &first);
	PROVE(!first.full && json_parse(&copy, once, first.len, &limits, &error), "a document");
	PROVE(copy.count == doc->count, "with as many values");
	text_init(&second, twice, sizeof twice);
	json_write(&copy, 0, &second);
	PROVE(first.len == second.len && memcmp(once, twice, first.len) == 0, "canonical");
	json_drop(&copy);
}

/* Accepts what the grammar accepts, if no key occurs twice. */
static void check(const char *text, size_t len, bool unique)
{
	struct grammar grammar;
	struct lexeme lexeme;
	struct json doc;
	struct json_error error;
	bool ok;

	grammar_init(&grammar, text, len, false);
	do
		lexeme = grammar_next(&grammar);
	while (lexeme.event != GRAMMAR_END && lexeme.event != GRAMMAR_ERROR);
	ok = json_parse(&doc, text, len, &limits, &error);
	PROVE(ok == (lexeme.event == GRAMMAR_END && unique), "accepted");
	if (!ok) {
		PROVE(error.offset <= len && error.reason != REASON_NONE, "where and why");
		PROVE(lexeme.event == GRAMMAR_END || error.offset == lexeme.start, "the same place");
		return;
	}
	no_other_tokens(&doc);
	no_other_jsmn(&doc);
	PROVE(walked(&doc, 0, 0) == doc.count, "each value once");
	writes_again(&doc);
	json_drop(&doc);
	PROVE(used == 0, "dropped");
}

PROOF(json_parse_exact)
{
	char text[FORMAL_N];
	const size_t len = any_text(text, FORMAL_N);

	check(text, len, true); /* two members do not fit */
}

/* Two members, their keys of three pieces at most, each written in several ways. */
PROOF(json_keys_exact)
{
	static const struct {
		const char *written, *meant;
	} piece[] = {{"", ""}, {"a", "a"}, {"\\u0061", "a"}, {"\\n", "\n"}, {"\\u000A", "\n"},
	             {"\xc3\xa9", "\xc3\xa9"}, {"\\u00e9", "\xc3\xa9"}, {"\\/", "/"}};
	char text[80] = "{", meant[2][16] = {"", ""};

	for (unsigned k = 0; k < 2; k++) {
		strcat(text, k == 0 ? "\"" : ",\"");
		for (unsigned i = 0; i < 2; i++) {
			const size_t p = any_up_to(sizeof piece / sizeof piece[0] - 1);

			strcat(text, piece[p].written);
			strcat(meant[k], piece[p].meant);
		}
		strcat(text, k == 0 ? "\":[]" : "\": {\"a\":1}");
	}
	strcat(text, "}");
	check(text, strlen(text), strcmp(meant[0], meant[1]) != 0);
}

#endif

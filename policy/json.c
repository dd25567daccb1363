/* SPDX-License-Identifier: ISC */
#include "json.h"

#include <limits.h>
#include <string.h>

#define JSMN_STATIC
#define JSMN_STRICT
#define JSMN_PARENT_LINKS
#include <jsmn.h>

#include "grammar.h"
#include "lexeme.h"
#include "utf8.h"

_Static_assert(JSON_POOL <= INT_MAX, "jsmn counts tokens and parents in an int");
_Static_assert(JSON_BYTES <= INT_MAX, "and its offsets are int");

/*
 * The pool.  Open documents lie in it one after another; tokens number their
 * parents from their own document's first one.  Of `after` only the entries of
 * objects and arrays are used, of `keys` as many as the widest object has: a
 * small document touches little of either.
 */
static jsmntok_t pool[JSON_POOL];
static uint32_t after[JSON_POOL]; /* the first token behind a container's subtree */
static uint32_t keys[JSON_POOL / 2 + 1]; /* scratch: one object's keys */
static uint32_t used;

/* The array item that json_pointer numbered last (pool indices): the next one
 * is found from there, so a walk along an array stays linear. */
static struct {
	uint32_t array;
	uint32_t item;
	uint32_t index;
} numbered = {JSON_NONE, 0, 0};

/* A token that no document has: what every node out of range reads as. */
static const jsmntok_t nothing = {JSMN_UNDEFINED, 0, 0, 0, -1};

static const jsmntok_t *token(const struct json *doc, uint32_t node)
{
	return node < doc->count ? &pool[doc->base + node] : &nothing;
}

static bool is_container(const jsmntok_t *t)
{
	return t->type == JSMN_OBJECT || t->type == JSMN_ARRAY;
}

/* The node behind node's subtree, <= count. */
static uint32_t subtree_end(const struct json *doc, uint32_t node)
{
	return is_container(token(doc, node)) ? after[doc->base + node] : node + 1;
}

/* Offset, line and column; reason is left at none. */
static struct json_error place_of(const char *text, size_t offset)
{
	struct json_error place = {REASON_NONE, offset, 1, 1};

	for (size_t i = 0; i < offset; i++) {
		place.column++;
		if (text[i] == '\n') {
			place.line++;
			place.column = 1;
		}
	}
	return place;
}

static bool refuse(struct json_error *error, const char *text, size_t offset, enum reason reason)
{
	*error = place_of(text, offset);
	error->reason = reason;
	return false;
}

/* What the first pass found out. */
struct survey {
	uint32_t count; /* values, keys included */
	struct lexeme first; /* the root's first event */
	struct lexeme last; /* GRAMMAR_END, or the error */
};

/* The first pass: is this one document, and with how many values?  jsmn gets to
 * see nothing else. */
static struct survey survey_text(const char *text, size_t len, uint32_t values, bool lone)
{
	struct survey survey = {.count = 0};
	struct grammar grammar;
	struct lexeme lexeme;

	grammar_init(&grammar, text, len, lone);
	lexeme = grammar_next(&grammar);
	survey.first = lexeme;
	while (lexeme.event != GRAMMAR_END && lexeme.event != GRAMMAR_ERROR) {
		if (lexeme.event != GRAMMAR_CLOSE && survey.count++ >= values) {
			lexeme.event = GRAMMAR_ERROR;
			lexeme.reason = REASON_JSON_TOO_MANY;
			break;
		}
		lexeme = grammar_next(&grammar);
	}
	survey.last = lexeme;
	return survey;
}

/* The second pass.  A bare number or literal at the top is one token, which
 * jsmn's strict mode makes only where a blank follows it: made here. */
static bool tokenize(const char *text, size_t len, const struct survey *survey)
{
	jsmntok_t *tokens = &pool[used];
	jsmn_parser parser;

	if (survey->first.event == GRAMMAR_PRIMITIVE) {
		tokens[0] = (jsmntok_t){JSMN_PRIMITIVE, (int)survey->first.start,
		                        (int)survey->first.end, 0, -1};
		return true;
	}
	jsmn_init(&parser);
	return jsmn_parse(&parser, text, len, tokens, survey->count) == (int)survey->count;
}

/* The third pass: the same grammar in step with the tokens. */
struct agreement {
	struct json doc;
	uint32_t next; /* the token that is due */
	int holder; /* the parent it must have: container or key; -1 at the top */
};

/* A token must lie exactly where the grammar sees a value.  While a container
 * is open its `after` counts its children. */
static bool agree_value(struct agreement *agreement, jsmntype_t type, size_t start, size_t end)
{
	const jsmntok_t *t = token(&agreement->doc, agreement->next);
	int holder = agreement->holder;

	if (t->type != type || t->parent != holder || t->start < 0 || (size_t)t->start != start)
		return false;
	if (!is_container(t) && (t->end < 0 || (size_t)t->end != end))
		return false;
	if (holder >= 0 && is_container(token(&agreement->doc, (uint32_t)holder)))
		after[agreement->doc.base + (uint32_t)holder]++;
	agreement->next++;
	return true;
}

/* Behind a value: the key that it stands under needs no more. */
static void agree_done(struct agreement *agreement)
{
	const jsmntok_t *holder;

	if (agreement->holder < 0)
		return;
	holder = token(&agreement->doc, (uint32_t)agreement->holder);
	if (holder->type == JSMN_STRING)
		agreement->holder = holder->parent;
}

static bool agree_open(struct agreement *agreement, const struct lexeme *lexeme)
{
	bool object = agreement->doc.text[lexeme->start] == '{';
	uint32_t node = agreement->next;

	if (!agree_value(agreement, object ? JSMN_OBJECT : JSMN_ARRAY, lexeme->start, 0))
		return false;
	after[agreement->doc.base + node] = 0;
	agreement->holder = (int)node;
	return true;
}

static bool agree_close(struct agreement *agreement, const struct lexeme *lexeme)
{
	uint32_t node = (uint32_t)agreement->holder;
	const jsmntok_t *t = token(&agreement->doc, node);

	if (!is_container(t) || t->end < 0 || (size_t)t->end != lexeme->end || t->size < 0 ||
	    (uint32_t)t->size != after[agreement->doc.base + node])
		return false;
	after[agreement->doc.base + node] = agreement->next;
	agreement->holder = t->parent;
	agree_done(agreement);
	return true;
}

static bool agree_string(struct agreement *agreement, const struct lexeme *lexeme, bool key)
{
	uint32_t node = agreement->next;

	if (!agree_value(agreement, JSMN_STRING, lexeme->start + 1, lexeme->end - 1) ||
	    token(&agreement->doc, node)->size != (key ? 1 : 0))
		return false;
	if (key)
		agreement->holder = (int)node;
	else
		agree_done(agreement);
	return true;
}

static bool agree_primitive(struct agreement *agreement, const struct lexeme *lexeme)
{
	uint32_t node = agreement->next;

	if (!agree_value(agreement, JSMN_PRIMITIVE, lexeme->start, lexeme->end) ||
	    token(&agreement->doc, node)->size != 0)
		return false;
	agree_done(agreement);
	return true;
}

static bool agree(struct agreement *agreement, const struct lexeme *lexeme)
{
	switch (lexeme->event) {
	case GRAMMAR_OPEN:
		return agree_open(agreement, lexeme);
	case GRAMMAR_CLOSE:
		return agree_close(agreement, lexeme);
	case GRAMMAR_KEY:
	case GRAMMAR_STRING:
		return agree_string(agreement, lexeme, lexeme->event == GRAMMAR_KEY);
	case GRAMMAR_PRIMITIVE:
		return agree_primitive(agreement, lexeme);
	case GRAMMAR_END:
		return agreement->next == agreement->doc.count && agreement->holder == -1;
	case GRAMMAR_ERROR:
		break;
	}
	return false;
}

/* True, or the place of the first token that is not what the text says. */
static bool tokens_agree(const struct json *doc, bool lone, size_t *offset)
{
	struct agreement agreement = {*doc, 0, -1};
	struct grammar grammar;
	struct lexeme lexeme;

	grammar_init(&grammar, doc->text, doc->len, lone);
	do {
		lexeme = grammar_next(&grammar);
		*offset = lexeme.start;
		if (!agree(&agreement, &lexeme))
			return false;
	} while (lexeme.event != GRAMMAR_END);
	return true;
}

/* The body of a string or key: [*at, *end).  False for any other node. */
static bool string_body(const struct json *doc, uint32_t node, size_t *at, size_t *end)
{
	const jsmntok_t *t = token(doc, node);

	if (t->type != JSMN_STRING)
		return false;
	*at = (size_t)t->start;
	*end = (size_t)t->end;
	return true;
}

/* A byte that is a character by itself, as it stands. */
static bool plain(char c)
{
	return (unsigned char)c < 0x80 && c != '\\';
}

/* The code point at *at, which moves behind it. */
static uint32_t next_point(const struct json *doc, size_t end, size_t *at)
{
	uint32_t point;

	if (plain(doc->text[*at]))
		return (unsigned char)doc->text[(*at)++];
	*at = lexeme_point(doc->text, end, *at, &point);
	return point;
}

/* Less than, equal to or more than 0, by code points after unescaping. */
static int compare_strings(const struct json *doc, uint32_t left, uint32_t right)
{
	size_t a = 0, a_end = 0, b = 0, b_end = 0;

	(void)string_body(doc, left, &a, &a_end);
	(void)string_body(doc, right, &b, &b_end);
	while (a < a_end && b < b_end && doc->text[a] == doc->text[b] && plain(doc->text[a])) {
		a++;
		b++;
	}
	if (a < a_end && b < b_end && plain(doc->text[a]) && plain(doc->text[b]))
		return doc->text[a] < doc->text[b] ? -1 : 1;
	while (a < a_end && b < b_end) {
		uint32_t a_point = next_point(doc, a_end, &a);
		uint32_t b_point = next_point(doc, b_end, &b);

		if (a_point != b_point)
			return a_point < b_point ? -1 : 1;
	}
	return (a < a_end) - (b < b_end);
}

/* The order of `keys` while they are sorted: by text, then by place. */
static bool key_before(const struct json *doc, uint32_t left, uint32_t right)
{
	int order = compare_strings(doc, left, right);

	return order != 0 ? order < 0 : left < right;
}

static void swap_keys(uint32_t i, uint32_t j)
{
	uint32_t key = keys[i];

	keys[i] = keys[j];
	keys[j] = key;
}

/* Lets the key at `root` sink to its place in the heap keys[0..count). */
static void sift_down(const struct json *doc, uint32_t root, uint32_t count)
{
	uint32_t child = 2 * root + 1;

	while (child < count) {
		if (child + 1 < count && key_before(doc, keys[child], keys[child + 1]))
			child++;
		if (!key_before(doc, keys[root], keys[child]))
			return;
		swap_keys(root, child);
		root = child;
		child = 2 * root + 1;
	}
}

/* Heapsort: n log n at worst, in place, no recursion. */
static void sort_keys(const struct json *doc, uint32_t count)
{
	for (uint32_t i = count / 2; i > 0; i--)
		sift_down(doc, i - 1, count);
	for (uint32_t i = count; i > 1; i--) {
		swap_keys(0, i - 1);
		sift_down(doc, 0, i - 1);
	}
}

/* The first key (in document order) that repeats one before it in the same
 * object; JSON_NONE when there is none. */
static uint32_t repeated_key(const struct json *doc, uint32_t object)
{
	uint32_t count = 0;
	uint32_t found = JSON_NONE;

	for (uint32_t key = json_first(doc, object); key != JSON_NONE; key = json_next(doc, key))
		keys[count++] = key;
	sort_keys(doc, count);
	for (uint32_t i = 1; i < count; i++) {
		if (keys[i] < found && compare_strings(doc, keys[i - 1], keys[i]) == 0)
			found = keys[i];
	}
	return found;
}

static bool keys_unique(const struct json *doc, size_t *offset)
{
	uint32_t found = JSON_NONE;

	for (uint32_t node = 0; node < doc->count; node++) {
		const jsmntok_t *t = token(doc, node);
		uint32_t key = JSON_NONE;

		if (t->type == JSMN_OBJECT)
			key = repeated_key(doc, node);
		if (key < found)
			found = key;
	}
	if (found != JSON_NONE)
		*offset = (size_t)token(doc, found)->start - 1;
	return found == JSON_NONE;
}

static bool has_bom(const char *text, size_t len)
{
	return len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0;
}

bool json_parse(struct json *doc, const char *text, size_t len, const struct json_limits *limits,
                struct json_error *error)
{
	size_t bytes = limits->bytes < JSON_BYTES ? limits->bytes : JSON_BYTES;
	uint32_t room = JSON_POOL - used;
	uint32_t values = limits->values < room ? limits->values : room;
	struct json made = {.text = text, .len = len, .base = used};
	struct survey survey;
	size_t offset = 0;

	if (len > bytes)
		return refuse(error, text, bytes, REASON_JSON_TOO_LARGE);
	if (has_bom(text, len))
		return refuse(error, text, 0, REASON_JSON_BOM);
	survey = survey_text(text, len, values, limits->lone_surrogates);
	if (survey.last.event == GRAMMAR_ERROR)
		return refuse(error, text, survey.last.start, survey.last.reason);
	made.count = survey.count;
	if (!tokenize(text, len, &survey) ||
	    !tokens_agree(&made, limits->lone_surrogates, &offset))
		return refuse(error, text, offset, REASON_JSON_SYNTAX);
	if (!keys_unique(&made, &offset))
		return refuse(error, text, offset, REASON_JSON_DUPLICATE_KEY);
	used += made.count;
	*doc = made;
	return true;
}

void json_drop(struct json *doc)
{
	if (doc->count > 0)
		used = doc->base;
	numbered.array = JSON_NONE;
	*doc = (struct json){.text = NULL};
}

enum json_type json_type(const struct json *doc, uint32_t node)
{
	const jsmntok_t *t = token(doc, node);

	switch (t->type) {
	case JSMN_OBJECT:
		return JSON_OBJECT;
	case JSMN_ARRAY:
		return JSON_ARRAY;
	case JSMN_STRING:
		return JSON_STRING;
	case JSMN_PRIMITIVE:
		break;
	case JSMN_UNDEFINED:
		return JSON_NULL;
	}
	switch (doc->text[t->start]) {
	case 't':
		return JSON_TRUE;
	case 'f':
		return JSON_FALSE;
	case 'n':
		return JSON_NULL;
	default:
		return JSON_NUMBER;
	}
}

const char *json_span(const struct json *doc, uint32_t node, size_t *len)
{
	const jsmntok_t *t = token(doc, node);
	size_t quote = t->type == JSMN_STRING ? 1 : 0;

	*len = (size_t)(t->end - t->start) + 2 * quote;
	return t->type == JSMN_UNDEFINED ? "" : doc->text + t->start - quote;
}

uint32_t json_count(const struct json *doc, uint32_t node)
{
	const jsmntok_t *t = token(doc, node);

	return is_container(t) ? (uint32_t)t->size : 0;
}

uint32_t json_first(const struct json *doc, uint32_t container)
{
	return json_count(doc, container) > 0 ? container + 1 : JSON_NONE;
}

/* A key's value stands right behind it. */
static bool is_key(const struct json *doc, uint32_t node)
{
	int parent = token(doc, node)->parent;

	return parent >= 0 && token(doc, (uint32_t)parent)->type == JSMN_OBJECT;
}

uint32_t json_next(const struct json *doc, uint32_t item_or_key)
{
	uint32_t next;

	if (item_or_key >= doc->count)
		return JSON_NONE;
	next = subtree_end(doc, is_key(doc, item_or_key) ? item_or_key + 1 : item_or_key);
	if (next >= doc->count || token(doc, next)->parent != token(doc, item_or_key)->parent)
		return JSON_NONE;
	return next;
}

uint32_t json_value(const struct json *doc, uint32_t key)
{
	return is_key(doc, key) ? key + 1 : JSON_NONE;
}

uint32_t json_get(const struct json *doc, uint32_t object, const char *key)
{
	uint32_t at;

	if (token(doc, object)->type != JSMN_OBJECT)
		return JSON_NONE;
	for (at = json_first(doc, object); at != JSON_NONE; at = json_next(doc, at)) {
		if (json_equals(doc, at, key))
			return json_value(doc, at);
	}
	return JSON_NONE;
}

bool json_equals(const struct json *doc, uint32_t string, const char *ascii)
{
	size_t at, end;

	if (!string_body(doc, string, &at, &end))
		return false;
	while (at < end && *ascii != '\0' && doc->text[at] == *ascii && plain(doc->text[at])) {
		at++;
		ascii++;
	}
	for (; at < end && *ascii != '\0'; ascii++) {
		if (next_point(doc, end, &at) != (unsigned char)*ascii)
			return false;
	}
	return at == end && *ascii == '\0';
}

size_t json_units(const struct json *doc, uint32_t string)
{
	size_t at, end;
	size_t units = 0;

	if (!string_body(doc, string, &at, &end))
		return 0;
	while (at < end) {
		size_t run = lexeme_plain(doc->text, end, at) - at;

		at += run;
		units += run;
		if (at < end)
			units += next_point(doc, end, &at) > 0xffff ? 2 : 1;
	}
	return units;
}

static void put_utf8(struct text *out, uint32_t point)
{
	char bytes[4];

	text_bytes(out, bytes, utf8_encode(point, bytes));
}

/* One character as QuoteJSONString writes it (ECMA-262, 25.5.2.3). */
static void put_quoted(struct text *out, uint32_t point)
{
	static const char letters[0x20] = {
	        ['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f', ['\r'] = 'r'};
	char pair[2] = {'\\', (char)(point & 0x7f)};

	if (point < 0x20 && letters[point] != '\0') {
		pair[1] = letters[point];
		text_bytes(out, pair, 2);
	} else if (point == '"' || point == '\\') {
		text_bytes(out, pair, 2);
	} else if (point < 0x20 || (point >= 0xd800 && point <= 0xdfff)) {
		text_unit(out, (uint16_t)point);
	} else {
		put_utf8(out, point);
	}
}

/* The characters of a body, unescaped or as they are quoted.  What stands there
 * unescaped is the same in both forms (it holds no quote and no control), and
 * is copied a run at a time. */
static void copy_body(const struct json *doc, size_t at, size_t end, bool quoted, struct text *out)
{
	while (!out->full) {
		const char *from = doc->text + at;
		const char *escape = memchr(from, '\\', end - at);
		size_t run = escape != NULL ? (size_t)(escape - from) : end - at;

		text_bytes(out, from, run);
		at += run;
		if (at >= end)
			return;
		if (quoted)
			put_quoted(out, next_point(doc, end, &at));
		else
			put_utf8(out, next_point(doc, end, &at));
	}
}

void json_decode(const struct json *doc, uint32_t string, struct text *out)
{
	size_t at, end;
	size_t mark = out->len;

	if (!string_body(doc, string, &at, &end))
		return;
	copy_body(doc, at, end, false, out);
	if (out->full)
		out->len = mark;
}

const char *json_keep(const struct json *doc, uint32_t string, struct text *arena)
{
	size_t mark = arena->len;
	bool nul;

	if (token(doc, string)->type != JSMN_STRING)
		return NULL;
	json_decode(doc, string, arena);
	nul = memchr(arena->at + mark, '\0', arena->len - mark) != NULL;
	if (!nul)
		text_bytes(arena, "", 1);
	if (nul || arena->full) {
		arena->len = mark;
		return NULL;
	}
	return arena->at + mark;
}

static void write_scalar(const struct json *doc, uint32_t node, struct text *out)
{
	size_t at, end;
	size_t len;
	const char *span = json_span(doc, node, &len);

	if (!string_body(doc, node, &at, &end)) {
		text_bytes(out, span, len);
		return;
	}
	text_bytes(out, "\"", 1);
	copy_body(doc, at, end, true, out);
	text_bytes(out, "\"", 1);
}

/* What stands before a node inside its parent, which it must have: a colon before
 * a key's value, a comma before any but the first child. */
static void write_separator(const struct json *doc, uint32_t node, struct text *out)
{
	uint32_t parent = (uint32_t)token(doc, node)->parent;

	if (token(doc, parent)->type == JSMN_STRING)
		text_bytes(out, ":", 1);
	else if (node != parent + 1)
		text_bytes(out, ",", 1);
}

static void write_close(const struct json *doc, uint32_t node, struct text *out)
{
	text_bytes(out, token(doc, node)->type == JSMN_OBJECT ? "}" : "]", 1);
}

/* A container, from its bracket to its bracket. */
static void write_container(const struct json *doc, uint32_t node, struct text *out)
{
	uint32_t open[JSON_DEPTH_MAX];
	uint32_t depth = 0;
	uint32_t end = subtree_end(doc, node);

	for (uint32_t i = node; i < end && !out->full; i++) {
		while (depth > 0 && subtree_end(doc, open[depth - 1]) == i)
			write_close(doc, open[--depth], out);
		if (i != node)
			write_separator(doc, i, out);
		if (is_container(token(doc, i))) {
			text_bytes(out, token(doc, i)->type == JSMN_OBJECT ? "{" : "[", 1);
			open[depth++] = i;
		} else {
			write_scalar(doc, i, out);
		}
	}
	while (depth > 0)
		write_close(doc, open[--depth], out);
}

void json_write(const struct json *doc, uint32_t node, struct text *out)
{
	if (is_container(token(doc, node)))
		write_container(doc, node, out);
	else
		write_scalar(doc, node, out);
}

/* The place of an item among its array's, from 0. */
static uint32_t index_of(const struct json *doc, uint32_t array, uint32_t item)
{
	uint32_t at = json_first(doc, array);
	uint32_t index = 0;

	if (numbered.array == doc->base + array && numbered.item <= doc->base + item) {
		at = numbered.item - doc->base;
		index = numbered.index;
	}
	for (; at != item && at != JSON_NONE; index++)
		at = json_next(doc, at);
	numbered.array = doc->base + array;
	numbered.item = doc->base + item;
	numbered.index = index;
	return index;
}

/* A key as a reference token (RFC 6901 section 3): ~ is ~0, / is ~1. */
static void pointer_key(const struct json *doc, uint32_t key, struct text *out)
{
	size_t at, end;

	if (!string_body(doc, key, &at, &end))
		return;
	while (at < end && !out->full) {
		uint32_t point = next_point(doc, end, &at);

		if (point == '~')
			text_string(out, "~0");
		else if (point == '/')
			text_string(out, "~1");
		else
			put_utf8(out, point);
	}
}

void json_pointer(const struct json *doc, uint32_t node, struct text *out)
{
	uint32_t path[JSON_DEPTH_MAX]; /* keys and items, innermost first */
	uint32_t depth = 0;
	int parent = token(doc, node)->parent;

	for (uint32_t at = node; parent >= 0 && depth < JSON_DEPTH_MAX;
	     at = (uint32_t)parent, parent = token(doc, at)->parent) {
		if (is_container(token(doc, (uint32_t)parent)))
			path[depth++] = at;
	}
	while (depth > 0) {
		uint32_t at = path[--depth];

		text_string(out, "/");
		if (is_key(doc, at))
			pointer_key(doc, at, out);
		else
			text_u64(out, index_of(doc, (uint32_t)token(doc, at)->parent, at));
	}
}

void json_place(const struct json *doc, uint32_t node, struct json_error *place)
{
	const jsmntok_t *t = token(doc, node);
	size_t quote = t->type == JSMN_STRING ? 1 : 0;

	*place = place_of(doc->text, (size_t)t->start - quote);
}

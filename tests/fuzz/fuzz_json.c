/* SPDX-License-Identifier: ISC */

/* policy/json.c on any text. */

#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

#define VALUES 4096
#define WRITTEN_MAX 1048576

static char written[2][WRITTEN_MAX];
static char scratch[2][WRITTEN_MAX];

static bool parse(struct json *doc, const char *text, size_t len, bool lone,
                  struct json_error *error)
{
	const struct json_limits limits = {WRITTEN_MAX, VALUES, lone};

	return json_parse(doc, text, len, &limits, error);
}

/* The earliest byte at which no document can go on: what stands before it is a
 * document, or ends too early.  (It may repeat a key, which is seen later.) */
static void check_error(const char *text, bool lone, const struct json_error *error)
{
	char *before = fuzz_copy(text, error->offset);
	struct json_error again;
	struct json doc;

	if (parse(&doc, before, error->offset, lone, &again))
		json_drop(&doc);
	else if (error->reason != REASON_JSON_DUPLICATE_KEY)
		HOLDS(again.offset == error->offset || again.reason == REASON_JSON_DUPLICATE_KEY);
	free(before);
}

static void check_place(const char *text, size_t len, const struct json_error *error)
{
	uint32_t line = 1;
	size_t start = 0;

	HOLDS(error->offset <= len && error->reason != REASON_NONE);
	for (size_t i = 0; i < error->offset; i++) {
		if (text[i] == '\n') {
			line++;
			start = i + 1;
		}
	}
	HOLDS(error->line == line && error->column == error->offset - start + 1);
}

static size_t decode(const struct json *doc, uint32_t node, char *to)
{
	struct text text;

	text_init(&text, to, WRITTEN_MAX);
	json_decode(doc, node, &text);
	HOLDS(!text.full);
	return text.len;
}

/* Each member is found by its key, when the key can be asked for. */
static void check_children(const struct json *doc, uint32_t node)
{
	const bool object = json_type(doc, node) == JSON_OBJECT;
	uint32_t count = 0;

	for (uint32_t at = json_first(doc, node); at != JSON_NONE; at = json_next(doc, at)) {
		const size_t len = object ? decode(doc, at, scratch[0]) : 0;
		bool ascii = true;

		scratch[0][len] = '\0';
		for (size_t i = 0; i < len; i++)
			ascii = ascii && scratch[0][i] > 0;
		if (object && ascii && count < 8)
			HOLDS(json_get(doc, node, scratch[0]) == json_value(doc, at));
		count++;
	}
	HOLDS(count == json_count(doc, node));
}

/* Both documents have this value. */
static void check_same(const struct json *a, const struct json *b, uint32_t node)
{
	size_t len, other;
	const char *span = json_span(a, node, &len);

	HOLDS(span >= a->text && span + len <= a->text + a->len && len > 0);
	HOLDS(json_type(a, node) == json_type(b, node));
	HOLDS(json_count(a, node) == json_count(b, node));
	if (json_type(a, node) == JSON_STRING) {
		len = decode(a, node, scratch[0]);
		other = decode(b, node, scratch[1]);
		HOLDS(len == other && memcmp(scratch[0], scratch[1], len) == 0);
		HOLDS(json_units(a, node) == json_units(b, node) && json_units(a, node) <= len);
	} else if (json_type(a, node) == JSON_NUMBER) {
		HOLDS(memcmp(span, json_span(b, node, &other), len) == 0 && len == other);
	}
}

static void check_document(const struct json *doc, bool lone)
{
	struct text first, second, pointer;
	struct json_error place;
	struct json again;

	text_init(&first, written[0], WRITTEN_MAX);
	json_write(doc, 0, &first);
	HOLDS(!first.full && parse(&again, first.at, first.len, lone, &place));
	HOLDS(again.count == doc->count);
	for (uint32_t node = 0; node < doc->count; node++) {
		check_same(doc, &again, node);
		check_children(doc, node);
		json_place(doc, node, &place);
		HOLDS(place.offset < doc->len && place.line >= 1 && place.column >= 1);
		text_init(&pointer, scratch[0], 64);
		json_pointer(doc, node, &pointer);
		HOLDS(pointer.len == 0 || pointer.at[0] == '/');
	}
	text_init(&second, written[1], WRITTEN_MAX);
	json_write(&again, 0, &second);
	HOLDS(first.len == second.len && memcmp(first.at, second.at, first.len) == 0);
	json_drop(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_copy(data, size);
	struct json_error error;
	struct json doc;
	bool taken[2];

	for (int lone = 0; lone < 2; lone++) {
		taken[lone] = parse(&doc, text, size, lone != 0, &error);
		if (taken[lone]) {
			check_document(&doc, lone != 0);
			json_drop(&doc);
		} else {
			check_place(text, size, &error);
			check_error(text, lone != 0, &error);
		}
	}
	HOLDS(!taken[0] || taken[1]);
	free(text);
	return 0;
}

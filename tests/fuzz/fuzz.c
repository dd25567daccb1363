/* SPDX-License-Identifier: ISC */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../policy/utf8.h"

#define OUTPUT_MAX 4194304

static char output[2][OUTPUT_MAX];
static char dropped_text[OUTPUT_MAX];
static struct report report;

void fuzz_refuted(const char *claim, const char *file, int line)
{
	fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, claim);
	abort();
}

char *fuzz_copy(const void *bytes, size_t len)
{
	char *copy = malloc(len);

	if (copy == NULL && len > 0)
		abort();
	if (len > 0)
		memcpy(copy, bytes, len);
	return copy;
}

bool fuzz_parse(struct json *doc, const char *text, size_t len, bool lone_surrogates)
{
	const struct json_limits limits = {OUTPUT_MAX, JSON_POOL / 4, lone_surrogates};
	struct json_error error;

	return json_parse(doc, text, len, &limits, &error);
}

bool fuzz_printable(const char *text, size_t len)
{
	bool ok = true;

	for (size_t i = 0; i < len; i++)
		ok = ok && (text[i] == '\n' || (text[i] >= ' ' && text[i] <= '~'));
	return ok;
}

void fuzz_report(const struct report *found)
{
	static char buffer[65536];
	struct text text;
	struct json doc;

	HOLDS(report_status(found) == 0 || !report_empty(found));
	for (uint32_t i = 0; i < found->count; i++) {
		text_init(&text, buffer, sizeof buffer);
		finding_line(&found->at[i], &text);
		HOLDS(!text.full && fuzz_printable(buffer, text.len));
		HOLDS(memchr(buffer, '\n', text.len) == buffer + text.len - 1);
		text_init(&text, buffer, sizeof buffer);
		finding_json(&found->at[i], &text);
		HOLDS(!text.full && fuzz_printable(buffer, text.len));
		HOLDS(fuzz_parse(&doc, buffer, text.len, true));
		json_drop(&doc);
	}
}

/* True, or refused. */
static bool canonical(fuzz_writer *write, const char *bytes, size_t len, struct text *out,
                      struct text *dropped)
{
	char *copy = fuzz_copy(bytes, len);
	struct json doc;
	bool taken = false;

	report_init(&report, CODE_TURN, 65);
	if (fuzz_parse(&doc, copy, len, true)) {
		write(&doc, out, dropped, &report);
		json_drop(&doc);
		taken = report_empty(&report);
		fuzz_report(&report);
		HOLDS(taken || out->len == 0);
	}
	free(copy);
	return taken;
}

size_t fuzz_canonical(fuzz_writer *write, const char *text, size_t len, const char **out)
{
	struct text first, second, dropped;

	text_init(&first, output[0], OUTPUT_MAX);
	text_init(&dropped, dropped_text, OUTPUT_MAX);
	if (!canonical(write, text, len, &first, &dropped))
		return SIZE_MAX;
	HOLDS(!first.full && first.len > 0 && utf8_valid(first.at, first.len));
	HOLDS(fuzz_printable(dropped.at, dropped.len));
	HOLDS(dropped.len == 0 || dropped.at[dropped.len - 1] == '\n');
	text_init(&second, output[1], OUTPUT_MAX);
	text_init(&dropped, dropped_text, OUTPUT_MAX);
	HOLDS(canonical(write, first.at, first.len, &second, &dropped));
	HOLDS(second.len == first.len && memcmp(first.at, second.at, first.len) == 0);
	HOLDS(dropped.len == 0);
	*out = first.at;
	return first.len;
}

/* SPDX-License-Identifier: ISC */

/* policy/reply.c, and the repair of the worker's bytes before it. */

#include <stdlib.h>

#include "../../policy/reply.h"
#include "../../policy/utf8.h"
#include "fuzz.h"

static void write_reply(const struct json *doc, struct text *out, struct text *dropped,
                        struct report *report)
{
	(void)dropped;
	reply_write(doc, out, report);
}

/* Exactly {"ok":…,"text":…}. */
static void check_reply(const char *text, size_t len)
{
	uint32_t ok, string;
	struct json doc;

	HOLDS(fuzz_parse(&doc, text, len, true));
	ok = json_first(&doc, 0);
	string = json_next(&doc, ok);
	HOLDS(json_type(&doc, 0) == JSON_OBJECT && json_count(&doc, 0) == 2);
	HOLDS(json_equals(&doc, ok, "ok") && json_equals(&doc, string, "text"));
	ok = json_value(&doc, ok);
	string = json_value(&doc, string);
	HOLDS(json_type(&doc, ok) == JSON_TRUE || json_type(&doc, ok) == JSON_FALSE);
	HOLDS(json_type(&doc, string) == JSON_STRING);
	HOLDS(json_units(&doc, string) <= REPLY_TEXT_UNITS);
	json_drop(&doc);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *bytes = fuzz_copy(data, size);
	char *repaired = malloc(3 * size + 1);
	const char *out;
	size_t len;

	HOLDS(repaired != NULL);
	len = utf8_repair(bytes, size, repaired, 3 * size);
	HOLDS(len <= 3 * size && utf8_valid(repaired, len));
	len = fuzz_canonical(write_reply, repaired, len, &out);
	if (len != SIZE_MAX)
		check_reply(out, len);
	free(repaired);
	free(bytes);
	return 0;
}

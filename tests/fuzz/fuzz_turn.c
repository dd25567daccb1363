/* SPDX-License-Identifier: ISC */

/* policy/turn.c: what the worker reads. */

#include <stdlib.h>

#include "../../policy/turn.h"
#include "fuzz.h"

static const char *const keys[] = {"text", "speaker", "model", "prompt", "timeZone",
                                   "tools", "reset", "mcp", NULL};

/* Known members only, in their order. */
static void check_keys(const struct json *doc)
{
	size_t i = 0;

	for (uint32_t key = json_first(doc, 0); key != JSON_NONE; key = json_next(doc, key)) {
		while (keys[i] != NULL && !json_equals(doc, key, keys[i]))
			i++;
		HOLDS(keys[i] != NULL);
	}
}

static void check_tools(const struct json *doc, uint32_t tools)
{
	for (uint32_t tool = json_first(doc, tools); tool != JSON_NONE;
	     tool = json_next(doc, tool)) {
		HOLDS(json_count(doc, tool) == 3);
		HOLDS(turn_name(doc, json_get(doc, tool, "name")));
		HOLDS(json_type(doc, json_get(doc, tool, "parameters")) == JSON_OBJECT);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *out;
	const size_t len = fuzz_canonical(turn_write, (const char *)data, size, &out);
	uint32_t servers, speaker;
	struct json doc;

	if (len == SIZE_MAX)
		return 0;
	HOLDS(fuzz_parse(&doc, out, len, true));
	check_keys(&doc);
	HOLDS(json_units(&doc, json_get(&doc, 0, "text")) <= TURN_TEXT_UNITS);
	speaker = json_get(&doc, 0, "speaker");
	HOLDS(json_units(&doc, json_get(&doc, speaker, "id")) <= TURN_SPEAKER_UNITS);
	HOLDS(json_units(&doc, json_get(&doc, speaker, "name")) <= TURN_SPEAKER_UNITS);
	check_tools(&doc, json_get(&doc, 0, "tools"));
	servers = json_get(&doc, 0, "mcp");
	for (uint32_t at = json_first(&doc, servers); at != JSON_NONE; at = json_next(&doc, at)) {
		HOLDS(turn_name(&doc, json_get(&doc, at, "server")));
		check_tools(&doc, json_get(&doc, at, "tools"));
	}
	json_drop(&doc);
	return 0;
}

/* SPDX-License-Identifier: ISC */
#include "explain.h"

#include <string.h>

#include "../executor/reason.h"
#include "reason.h"

/* The documents whose code and status a CODE_DOCUMENT row takes. */
struct document {
	const char *code;
	int status;
};

static const struct document DOCUMENTS[] = {
	{"SANDBOX_CONFIG", 78},
	{"SANDBOX_TURN", 65},
	{"SANDBOX_REPLY", 76},
};

struct line {
	const char *code;
	const char *reason;
	int status;
	const char *sentence;
	const char *hint;
};

/* The executor's rows; those of policy are in policy/reason.h's own table. */
static const struct line EXECUTOR[] = {
#define X(name, code, text, status, sentence, hint) {code, text, status, sentence, hint},
	EXECUTOR_REASONS(X)
#undef X
};

static void put_string(struct text *out, const char *key, const char *value)
{
	text_string(out, key);
	text_json(out, value, strlen(value));
}

static void put_json(struct text *out, const struct line *line)
{
	put_string(out, "{\"code\":", line->code);
	put_string(out, ",\"reason\":", line->reason);
	text_string(out, ",\"exit\":");
	text_u64(out, (uint64_t)line->status);
	put_string(out, ",\"sentence\":", line->sentence);
	put_string(out, ",\"hint\":", line->hint);
	text_string(out, "}\n");
}

static void put_people(struct text *out, const struct line *line)
{
	text_string(out, line->code);
	text_string(out, " ");
	text_string(out, line->reason);
	text_string(out, " (exit ");
	text_u64(out, (uint64_t)line->status);
	text_string(out, ")\n    ");
	text_string(out, line->sentence);
	text_string(out, "; ");
	text_string(out, line->hint);
	text_string(out, "\n");
}

static bool show(const struct line *line, const char *what, bool json, struct text *out)
{
	if (what != NULL && strcmp(what, line->code) != 0 && strcmp(what, line->reason) != 0)
		return false;
	if (json)
		put_json(out, line);
	else
		put_people(out, line);
	return true;
}

/* A row of the documents stands once for each of them. */
static bool show_policy(enum reason reason, const char *what, bool json, struct text *out)
{
	struct line line = {
		.code = code_name(reason_code(reason)),
		.reason = reason_name(reason),
		.status = reason_status(reason),
		.sentence = reason_sentence(reason),
		.hint = reason_hint(reason),
	};
	bool found = false;

	if (reason_code(reason) != CODE_DOCUMENT)
		return show(&line, what, json, out);
	for (size_t i = 0; i < sizeof(DOCUMENTS) / sizeof(DOCUMENTS[0]); i++) {
		line.code = DOCUMENTS[i].code;
		if (reason_status(reason) == 0)
			line.status = DOCUMENTS[i].status;
		found |= show(&line, what, json, out);
	}
	return found;
}

/* Both programs may give the same reason; it is explained once. */
static bool shared(const struct line *line)
{
	bool found = false;

	for (int reason = REASON_NONE + 1; reason < REASON_COUNT; reason++)
		found |= strcmp(reason_name((enum reason)reason), line->reason) == 0;
	return found;
}

bool explain(const char *what, bool json, struct text *out)
{
	bool found = false;

	for (int reason = REASON_NONE + 1; reason < REASON_COUNT; reason++)
		found |= show_policy((enum reason)reason, what, json, out);
	for (size_t i = 0; i < sizeof(EXECUTOR) / sizeof(EXECUTOR[0]); i++)
		if (!shared(&EXECUTOR[i]))
			found |= show(&EXECUTOR[i], what, json, out);
	return found;
}

/* SPDX-License-Identifier: ISC */
#include "commands.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "../ipc/frame_policy.h"
#include "admit.h"
#include "config.h"
#include "explain.h"
#include "io.h"
#include "json.h"
#include "model_input.h"
#include "number.h"
#include "ps.h"
#include "record.h"
#include "reply.h"
#include "resolve.h"
#include "tell.h"
#include "turn.h"
#include "utf8.h"
#include "verify.h"

#define DOCUMENT_BYTES_MAX 2097152 /* of --max-bytes */
#define TURN_BYTES_DEFAULT 262144
/* Every byte may become U+FFFD, which has three (utf8_repair). */
#define REPAIRED_BYTES_MAX (3 * (size_t)DOCUMENT_BYTES_MAX)
#define ADMIT_LINE_MAX 262144
#define PLAN_FD 3
#define HELD_FD 3

_Static_assert(REPLY_BYTES_MAX <= DOCUMENT_BYTES_MAX, "a whole reply fits");
_Static_assert(TURN_BYTES_MAX <= DOCUMENT_BYTES_MAX, "a whole turn fits");
_Static_assert(ANSWER_MAX <= DOCUMENT_BYTES_MAX, "a whole answer of docker's fits");

static char input[DOCUMENT_BYTES_MAX + 1];
static char repaired[REPAIRED_BYTES_MAX];
static char output[REPAIRED_BYTES_MAX + 64];
static char dropped_text[DOCUMENT_BYTES_MAX];
static struct report report;

/* A filter's document: what it is checked by, and which code refuses it. */
struct filter {
	enum code code;
	int status;
	size_t max_bytes; /* without --max-bytes */
	bool repair; /* make the bytes UTF-8 first */
	void (*write)(const struct json *doc, struct text *out, struct text *dropped,
	              struct report *found);
};

static void write_reply(const struct json *doc, struct text *out, struct text *dropped,
                        struct report *found)
{
	(void)dropped;
	reply_write(doc, out, found);
}

static void write_model_input(const struct json *doc, struct text *out, struct text *dropped,
                              struct report *found)
{
	(void)dropped;
	model_input_write(doc, out, found);
}

static void write_json(const struct json *doc, struct text *out, struct text *dropped,
                       struct report *found)
{
	(void)dropped;
	(void)found;
	json_write(doc, 0, out);
}

static int write_output(struct text *out, bool json)
{
	if (out->full || !io_write_all(STDOUT_FILENO, out->at, out->len))
		return tell_reason(REASON_OUTPUT_WRITE, NULL, json);
	return 0;
}

/* The whole of standard input; false with a finding. */
static bool read_input(size_t max, size_t *len)
{
	enum io_result result = io_read_all(STDIN_FILENO, input, max, len);

	if (result == IO_OK)
		return true;
	report_add(&report, result == IO_TOO_LARGE ? REASON_JSON_TOO_LARGE : REASON_INPUT_READ, "");
	return false;
}

static void convert(const struct filter *filter, size_t max, struct text *out,
                    struct text *dropped)
{
	struct json_limits limits = { .bytes = max, .values = JSON_POOL, .lone_surrogates = true };
	const char *text = input;
	struct json_error error;
	struct json doc;
	size_t len;

	if (!read_input(max, &len))
		return;
	if (filter->repair) {
		len = utf8_repair(input, len, repaired, sizeof(repaired));
		text = repaired;
		limits.bytes = sizeof(repaired);
	}
	if (!json_parse(&doc, text, len, &limits, &error)) {
		report_json_error(&report, &error);
		return;
	}
	filter->write(&doc, out, dropped, &report);
	json_drop(&doc);
}

static int run_filter(const struct filter *filter, const struct options *options)
{
	const char *given = options->value[OPTION_MAX_BYTES];
	bool json = options->value[OPTION_JSON] != NULL;
	uint64_t max = filter->max_bytes;
	struct text dropped;
	struct text out;

	if (given != NULL && number_integer(given, strlen(given), 1, DOCUMENT_BYTES_MAX, &max) !=
	                             NUMBER_OK)
		return tell_usage("--max-bytes takes a number of 1 to 2097152", given);
	report_init(&report, filter->code, filter->status);
	text_init(&out, output, sizeof(output));
	text_init(&dropped, dropped_text, sizeof(dropped_text));
	convert(filter, (size_t)max, &out, &dropped);
	if (!report_empty(&report))
		return tell_refusal(&report, json);
	if (options->value[OPTION_DROPPED] != NULL &&
	    !io_write_all(STDERR_FILENO, dropped.at, dropped.len))
		return tell_reason(REASON_OUTPUT_WRITE, NULL, json);
	text_string(&out, "\n");
	return write_output(&out, json);
}

int commands_turn(const struct options *options, enum confine_result confined)
{
	static const struct filter turn = { CODE_TURN, 65, TURN_BYTES_DEFAULT, false, turn_write };

	(void)confined;
	return run_filter(&turn, options);
}

int commands_reply(const struct options *options, enum confine_result confined)
{
	static const struct filter reply = { CODE_REPLY, 76, REPLY_BYTES_MAX, true, write_reply };

	(void)confined;
	return run_filter(&reply, options);
}

int commands_model_input(const struct options *options, enum confine_result confined)
{
	static const struct filter request = { CODE_TURN, 65, DOCUMENT_BYTES_MAX, false,
		                               write_model_input };

	(void)confined;
	return run_filter(&request, options);
}

int commands_json(const struct options *options, enum confine_result confined)
{
	static const struct filter any = { CODE_TURN, 65, DOCUMENT_BYTES_MAX, false, write_json };

	(void)confined;
	return run_filter(&any, options);
}

/* --- docker's answers --- */

static bool read_plan(struct launch *plan)
{
	static char bytes[FRAME_MAX + 1];
	size_t len;

	return io_pread_all(PLAN_FD, bytes, FRAME_MAX, &len) == IO_OK &&
	       frame_get_launch((const uint8_t *)bytes, len, plan) == FRAME_OK;
}

static void admit_all(struct admit *admit)
{
	struct io_lines lines;
	enum io_result result;
	const char *line;
	size_t len;

	io_lines_init(&lines, STDIN_FILENO, input, ADMIT_LINE_MAX + 1);
	result = io_next_line(&lines, &line, &len);
	while (result == IO_OK || result == IO_TOO_LARGE) {
		if (result == IO_OK)
			admit_line(admit, line, len, &report);
		else
			report_add(&report, REASON_MANAGED_UNKNOWN, "");
		result = io_next_line(&lines, &line, &len);
	}
	if (result == IO_END)
		admit_end(admit, &report);
	else
		report_add(&report, REASON_INPUT_READ, "");
}

int commands_admit(const struct options *options, enum confine_result confined)
{
	static struct launch plan;
	static struct admit admit;
	bool json = options->value[OPTION_JSON] != NULL;

	(void)confined;
	if (!read_plan(&plan))
		return tell_reason(REASON_PROTOCOL_FRAME, "the plan", json);
	report_init(&report, CODE_UNAVAILABLE, 69);
	admit_init(&admit, &plan);
	admit_all(&admit);
	return tell_refusal(&report, json);
}

static void verify_answer(const struct launch *plan)
{
	const struct json_limits limits = { .bytes = ANSWER_MAX, .values = JSON_POOL };
	struct json_error error;
	struct json doc;
	size_t len;

	if (io_read_all(STDIN_FILENO, input, ANSWER_MAX, &len) != IO_OK) {
		report_add(&report, REASON_VERIFY_ANSWER, "");
		return;
	}
	if (!json_parse(&doc, input, len, &limits, &error)) {
		const char *why = reason_name(error.reason);

		report_add_text(&report, REASON_VERIFY_ANSWER, "", "docker container inspect", why,
		                strlen(why));
		return;
	}
	verify_container(&doc, plan, &report);
	json_drop(&doc);
}

/* Is every source still what was checked? */
static void verify_roots(const struct launch *plan)
{
	for (uint16_t i = 0; i < plan->root_count; i++) {
		const struct root *root = &plan->root[i];

		if (!resolve_holds(root->path, root->dev, root->ino))
			report_add_text(&report, REASON_MOUNT_CHANGED, "", "source", root->path,
			                strlen(root->path));
	}
}

int commands_verify(const struct options *options, enum confine_result confined)
{
	static struct launch plan;
	bool json = options->value[OPTION_JSON] != NULL;

	(void)confined;
	if (!read_plan(&plan))
		return tell_reason(REASON_PROTOCOL_FRAME, "the plan", json);
	report_init(&report, CODE_UNAVAILABLE, 69);
	verify_answer(&plan);
	verify_roots(&plan);
	return tell_refusal(&report, json);
}

/* --- the managed containers, shown --- */

/* Run by hand, nobody says which claims are held. */
static bool read_held(struct ps *ps)
{
	static char held[PS_HELD_MAX + 1];
	size_t len;
	enum io_result result = io_read_all(HELD_FD, held, PS_HELD_MAX, &len);

	if (result == IO_FAILED && errno == EBADF)
		return ps_init(ps, NULL, 0);
	return result == IO_OK && ps_init(ps, held, len);
}

/* False: standard output takes no more. */
static bool show_containers(const struct ps *ps, bool json)
{
	struct io_lines lines;
	enum io_result result;
	const char *line;
	struct text out;
	bool written;
	size_t len;

	text_init(&out, output, sizeof(output));
	if (!json)
		ps_head(&out);
	io_lines_init(&lines, STDIN_FILENO, input, ADMIT_LINE_MAX + 1);
	do {
		written = io_write_all(STDOUT_FILENO, out.at, out.len);
		text_init(&out, output, sizeof(output));
		result = io_next_line(&lines, &line, &len);
		if (result == IO_TOO_LARGE ||
		    (result == IO_OK && !ps_line(ps, line, len, json, &out)))
			report_add(&report, REASON_MANAGED_UNKNOWN, "");
	} while (written && (result == IO_OK || result == IO_TOO_LARGE));
	if (result == IO_FAILED)
		report_add(&report, REASON_INPUT_READ, "");
	return written;
}

int commands_ps(const struct options *options, enum confine_result confined)
{
	bool json = options->value[OPTION_JSON] != NULL;
	struct ps ps;

	(void)confined;
	if (!read_held(&ps))
		return tell_reason(REASON_PROTOCOL_FRAME, "the held claims", json);
	report_init(&report, CODE_UNAVAILABLE, 69);
	if (!show_containers(&ps, json))
		return tell_reason(REASON_OUTPUT_WRITE, NULL, json);
	return tell_refusal(&report, json);
}

/* --- what the program knows of itself --- */

int commands_explain(const struct options *options, enum confine_result confined)
{
	const char *what = options->operand_count > 0 ? options->operand[0] : NULL;
	struct text out;

	(void)confined;
	text_init(&out, output, sizeof(output));
	if (!explain(what, options->value[OPTION_JSON] != NULL, &out))
		return tell_usage("no such code or reason", what);
	return write_output(&out, false);
}

struct schema {
	const char *name;
	void (*write)(struct text *out);
};

int commands_schema(const struct options *options, enum confine_result confined)
{
	static const struct schema schemas[] = {
		{"config", config_schema},
		{"turn", turn_schema},
		{"record", record_schema},
	};
	const char *name = options->operand_count > 0 ? options->operand[0] : "";
	struct text out;

	(void)confined;
	text_init(&out, output, sizeof(output));
	for (size_t i = 0; i < sizeof(schemas) / sizeof(schemas[0]); i++)
		if (strcmp(schemas[i].name, name) == 0)
			schemas[i].write(&out);
	if (out.len == 0)
		return tell_usage("schema takes config, turn or record", name);
	text_string(&out, "\n");
	return write_output(&out, false);
}

/* SPDX-License-Identifier: ISC */

/*
 * cofferdam-policy: one input into a verdict or a canonical document.  Each
 * subcommand is a process of its own; it prepares (opens what it was named),
 * confines itself, and only then reads a byte of input.
 */

#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "checking.h"
#include "commands.h"
#include "confine.h"
#include "io.h"
#include "launching.h"
#include "options.h"
#include "tell.h"
#include "text.h"

#define HELP_BYTES 8192

#ifdef SANITIZED
/* The leak check at exit makes calls outside the allow-list, and there is no
 * heap that could leak. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "detect_leaks=0";
}
#endif

struct command {
	const char *name;
	enum confine_filter filter;
	unsigned options; /* OPTION_BITs */
	unsigned operands;
	int (*prepare)(const struct options *options); /* NULL: nothing to open */
	int (*run)(const struct options *options, enum confine_result confined);
	const char *usage; /* what follows the name */
	const char *help;
};

#define FILTER_OPTIONS (OPTION_BIT(OPTION_MAX_BYTES) | OPTION_BIT(OPTION_JSON))
#define JSON_ONLY OPTION_BIT(OPTION_JSON)

static const struct command COMMANDS[] = {
	{"check", CONFINE_PATHS, CHECKING_OPTIONS | OPTION_BIT(OPTION_LINES), 0, checking_prepare,
	 checking_run, "[-q] [-c FILE] [--image FILE] [--nonce HEX] [--offline] [--lines] [--json]",
	 "the decision on a config, as one JSON record a document"},
	{"argv", CONFINE_PATHS, CHECKING_OPTIONS | OPTION_BIT(OPTION_ZERO), 0, checking_prepare,
	 checking_argv, "[-q] [-0] [-c FILE] [--image FILE] [--nonce HEX] [--offline] [--json]",
	 "the docker command that a config would freeze"},
	{"turn", CONFINE_PURE, FILTER_OPTIONS | OPTION_BIT(OPTION_DROPPED), 0, NULL, commands_turn,
	 "[--max-bytes N] [--dropped] [--json]", "a turn in, the canonical turn out"},
	{"reply", CONFINE_PURE, FILTER_OPTIONS, 0, NULL, commands_reply,
	 "[--max-bytes N] [--json]", "a worker's reply in, {\"ok\":...,\"text\":...} out"},
	{"model-input", CONFINE_PURE, FILTER_OPTIONS, 0, NULL, commands_model_input,
	 "[--max-bytes N] [--json]", "a chat request in, its messages and tools out"},
	{"json", CONFINE_PURE, FILTER_OPTIONS, 0, NULL, commands_json, "[--max-bytes N] [--json]",
	 "any JSON document in, its canonical text out"},
	{"explain", CONFINE_PURE, JSON_ONLY, 1, NULL, commands_explain, "[--json] [CODE | REASON]",
	 "what a refusal means, and the way out"},
	{"schema", CONFINE_PURE, 0, 1, NULL, commands_schema, "config | turn | record",
	 "JSON Schema 2020-12"},
	{"ps", CONFINE_PURE, JSON_ONLY, 0, NULL, commands_ps, "[--json]",
	 "for cofferdam: docker's list of managed containers, shown"},
	{"decide", CONFINE_PATHS, JSON_ONLY, 0, launching_prepare, launching_run, "[--json]",
	 "for cofferdam: the decision, over frames"},
	{"admit", CONFINE_PURE, JSON_ONLY, 0, NULL, commands_admit, "[--json]",
	 "for cofferdam: may this container start beside the others"},
	{"verify", CONFINE_PATHS, JSON_ONLY, 0, NULL, commands_verify, "[--json]",
	 "for cofferdam: is the container what was asked for"},
};

#define COMMAND_COUNT (sizeof(COMMANDS) / sizeof(COMMANDS[0]))

static void put_help(struct text *out, const struct command *command)
{
	text_string(out, "  cofferdam-policy ");
	text_string(out, command->name);
	text_string(out, " ");
	text_string(out, command->usage);
	text_string(out, "\n        ");
	text_string(out, command->help);
	text_string(out, "\n");
}

static int print(const struct text *text)
{
	if (text->full || !io_write_all(STDOUT_FILENO, text->at, text->len))
		return tell_reason(REASON_OUTPUT_WRITE, NULL, false);
	return 0;
}

static int help(const struct command *only)
{
	static char bytes[HELP_BYTES];
	struct text out;

	text_init(&out, bytes, sizeof(bytes));
	text_string(&out, "usage:\n");
	for (size_t i = 0; i < COMMAND_COUNT; i++)
		if (only == NULL || only == &COMMANDS[i])
			put_help(&out, &COMMANDS[i]);
	if (only == NULL)
		text_string(&out, "  cofferdam-policy --help | --version\n");
	return print(&out);
}

static int version(void)
{
	static char bytes[64];
	struct text out;

	text_init(&out, bytes, sizeof(bytes));
	text_string(&out, "cofferdam-policy " COFFERDAM_VERSION "\n");
	return print(&out);
}

static int run(const struct command *command, int argc, char **argv)
{
	static struct options options;
	enum confine_result confined;
	int status = 0;

	if (!options_read(argc, argv, command->options | OPTION_BIT(OPTION_HELP),
	                  command->operands, &options))
		return tell_usage(options.complaint, options.word);
	if (options.value[OPTION_HELP] != NULL)
		return help(command);
	if (command->prepare != NULL)
		status = command->prepare(&options);
	if (status != 0)
		return status;
	confined = confine(command->filter);
	if (confined == CONFINE_FAILED)
		return tell_reason(REASON_CONFINE_FAILED, NULL, false);
	return command->run(&options, confined);
}

int main(int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : NULL;

	if (word == NULL)
		return tell_usage("a command is missing", NULL);
	if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
		return help(NULL);
	if (strcmp(word, "--version") == 0)
		return version();
	for (size_t i = 0; i < COMMAND_COUNT; i++)
		if (strcmp(COMMANDS[i].name, word) == 0)
			return run(&COMMANDS[i], argc - 1, argv + 1);
	return tell_usage("no such command", word);
}

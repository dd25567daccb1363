/* SPDX-License-Identifier: ISC */
#include <bsd/stdlib.h>
#include <bsd/string.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "doctor.h"
#include "launch.h"
#include "managed.h"
#include "ps.h"
#include "reap.h"
#include "say.h"
#include "stop.h"

#define BIT(option) (1U << (option))
#define ALL (BIT(OPTION_STATE_DIR) | BIT(OPTION_DOCKER) | BIT(OPTION_JSON) | BIT(OPTION_HELP))
#define LAUNCH \
	(ALL | BIT(OPTION_CONFIG) | BIT(OPTION_NAME) | BIT(OPTION_AUDIT) | \
	 BIT(OPTION_WORKER_STDERR) | BIT(OPTION_STATUS_FD))
#define MANAGED (ALL | BIT(OPTION_HOST))

static const struct command {
	const char *name;
	unsigned options; /* BITs */
	bool operands;
	int (*run)(const struct options *options);
	const char *help;
} commands[] = {
	{"run", LAUNCH | BIT(OPTION_TURN), false, launch_run,
	 "one turn, in a container that is gone afterwards"},
	{"session", LAUNCH, false, launch_session, "a worker between standard input and output"},
	{"ps", MANAGED, false, ps_run, "the containers there are, and whether a launch owns them"},
	{"stop", MANAGED | BIT(OPTION_AUDIT) | BIT(OPTION_SESSION), true, stop_run, "remove those of runs or a session"},
	{"reap", MANAGED | BIT(OPTION_AUDIT), false, reap_run, "remove those that no launch owns any more"},
	{"doctor", MANAGED | BIT(OPTION_CONFIG) | BIT(OPTION_IMAGE), false, doctor_run,
	 "what a launch would need, checked one by one, each with its mend"},
	{"", BIT(OPTION_HELP) | BIT(OPTION_VERSION), false, NULL, ""},
};

static const char head[] =
	"usage: cofferdam run [option...] < turn.json > reply.json\n"
	"       cofferdam session [option...]\n"
	"       cofferdam ps | reap [option...]\n"
	"       cofferdam stop [option...] RUN... | --session KEY\n"
	"       cofferdam doctor [option...]\n"
	"       cofferdam --help | --version\n"
	"\n";
static const char tail[] =
	"\n"
	"  -c, --config FILE     run, session, doctor: the operator's config\n"
	"  -t, --turn FILE       run: the turn (default: standard input)\n"
	"      --name NAME       run, session: the container's name\n"
	"      --audit FILE      append the decision of a run or session, and all that happens\n"
	"                        to containers, to FILE\n"
	"      --worker-stderr FILE  run, session: what the worker says there, 128 KiB at most\n"
	"      --status-fd N     run, session: how it went, a JSON line on descriptor N\n"
	"      --host URL        ps, stop, reap, doctor: docker's endpoint (default: $DOCKER_HOST,\n"
	"                        else " MANAGED_HOST ")\n"
	"      --image REF       doctor: the image to look for\n"
	"      --session KEY     stop: every run of this session\n"
	"      --state-dir DIR   the state directory\n"
	"      --docker PATH     the docker program\n"
	"      --json            errors, and what ps and doctor list, as JSON lines\n"
	"\n"
	"Exit status: 0 done, 1 worker failed or no such run, 64 usage, 65 bad turn, 66 cannot\n"
	"open input, 69 docker unavailable, 70 internal, 75 busy, 76 bad reply, 77 refused,\n"
	"78 bad config, 80 container not confirmed gone, 124 deadline, 128+n signal n.\n";

static const struct {
	const char *name;
	char letter;
	bool takes; /* a value */
} known[OPTION_COUNT] = {
	[OPTION_CONFIG] = {"config", 'c', true},
	[OPTION_TURN] = {"turn", 't', true},
	[OPTION_AUDIT] = {"audit", '\0', true},
	[OPTION_WORKER_STDERR] = {"worker-stderr", '\0', true},
	[OPTION_STATUS_FD] = {"status-fd", '\0', true},
	[OPTION_NAME] = {"name", '\0', true},
	[OPTION_HOST] = {"host", '\0', true},
	[OPTION_SESSION] = {"session", '\0', true},
	[OPTION_IMAGE] = {"image", '\0', true},
	[OPTION_DOCKER] = {"docker", '\0', true},
	[OPTION_STATE_DIR] = {"state-dir", '\0', true},
	[OPTION_JSON] = {"json", '\0', false},
	[OPTION_HELP] = {"help", 'h', false},
	[OPTION_VERSION] = {"version", '\0', false},
};

static int write_all(int fd, const char *text)
{
	size_t len = strlen(text);

	return write(fd, text, len) == (ssize_t)len ? 0 : 70;
}

static int help(void)
{
	static char text[4096];

	strlcat(text, head, sizeof(text));
	for (const struct command *at = commands; at->run != NULL; at++)
		(void)snprintf(text + strlen(text), sizeof(text) - strlen(text), "  %-9s%s\n",
		               at->name, at->help);
	strlcat(text, tail, sizeof(text));
	return write_all(STDOUT_FILENO, text);
}

static int usage(const char *what, const char *word)
{
	static char detail[SAY_CHILD], text[SAY_CHILD];
	size_t len;

	(void)snprintf(detail, sizeof(detail), "%s: %s", what, word);
	say_escape(text, sizeof(text), detail, strlen(detail), ' ');
	say_reason(WHY_USAGE, text, false);
	write_all(STDERR_FILENO, say_text(&len));
	return say_row(WHY_USAGE)->status;
}

/* Which option a word is; *value is what it carries itself, or NULL. */
static int find(const char *word, const char **value)
{
	bool is_long = word[0] == '-' && word[1] == '-';
	size_t len = is_long ? strcspn(word + 2, "=") : 0;

	*value = is_long && word[2 + len] == '=' ? word + 2 + len + 1 : NULL;
	for (int i = 0; i < OPTION_COUNT; i++) {
		if (is_long && strlen(known[i].name) == len &&
		    memcmp(word + 2, known[i].name, len) == 0)
			return i;
		if (word[0] == '-' && word[1] != '\0' && word[1] == known[i].letter) {
			*value = word[2] != '\0' ? word + 2 : NULL;
			return i;
		}
	}
	return OPTION_COUNT;
}

/* The option at argv[*at], and its value behind it.  NULL, or what is wrong. */
static const char *read_option(const struct command *command, char **argv, int *at,
                               struct options *out)
{
	const char *value;
	int option = find(argv[*at], &value);

	if ((command->options & BIT(option)) == 0)
		return command->run == NULL ? "not a command" : "not an option of this command";
	if (out->value[option] != NULL)
		return "given twice";
	if (!known[option].takes && value != NULL)
		return "takes no value";
	if (known[option].takes && value == NULL && argv[*at + 1] == NULL)
		return "needs a value";
	if (known[option].takes && value == NULL)
		value = argv[++*at];
	out->value[option] = value != NULL ? value : "";
	return NULL;
}

/* Reads argv[*at] on; operands are gathered in place.  NULL, or what is wrong with
 * the word at *at. */
static const char *read_words(const struct command *command, char **argv, int *at,
                              struct options *out)
{
	bool only_operands = false; /* behind "--" */
	const char *wrong;

	for (out->operand = argv + *at; argv[*at] != NULL; (*at)++) {
		if (!only_operands && strcmp(argv[*at], "--") == 0)
			only_operands = true;
		else if (command->operands && (only_operands || argv[*at][0] != '-'))
			out->operand[out->operands++] = argv[*at];
		else if (only_operands || (command->run != NULL && argv[*at][0] != '-'))
			return "unexpected word";
		else if ((wrong = read_option(command, argv, at, out)) != NULL)
			return wrong;
	}
	return NULL;
}

/* A descriptor's number: 2 or more, 0 and 1 being the documents'. */
static bool read_status_fd(struct options *out)
{
	const char *value = out->value[OPTION_STATUS_FD], *error = NULL;

	out->status_fd = -1;
	if (value == NULL)
		return true;
	out->status_fd = (int)strtonum(value, STDERR_FILENO, INT_MAX, &error);
	return error == NULL && strspn(value, "0123456789") == strlen(value);
}

int main(int argc, char **argv)
{
	static struct options options;
	const struct command *command = commands;
	const char *wrong;
	int at;

	if (argc < 1) /* execve(2) allows it */
		return usage("no command given", "see cofferdam --help");
	while (command->run != NULL && (argc < 2 || strcmp(argv[1], command->name) != 0))
		command++;
	at = command->run != NULL ? 2 : 1;
	if ((wrong = read_words(command, argv, &at, &options)) != NULL)
		return usage(wrong, argv[at]);
	if (options.value[OPTION_HELP] != NULL)
		return help();
	if (options.value[OPTION_VERSION] != NULL)
		return write_all(STDOUT_FILENO, "cofferdam " COFFERDAM_VERSION "\n");
	if (command->run == NULL)
		return usage("no command given", "see cofferdam --help");
	if (!read_status_fd(&options))
		return usage("not a descriptor of 2 or more", options.value[OPTION_STATUS_FD]);
	return command->run(&options);
}

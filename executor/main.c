/* SPDX-License-Identifier: ISC */
#include <bsd/stdlib.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "launch.h"
#include "say.h"

static const char help[] =
	"usage: cofferdam run [option...] < turn.json > reply.json\n"
	"\n"
	"Runs one turn in a sealed container and removes the container.\n"
	"\n"
	"  -c, --config FILE     the operator's config\n"
	"  -t, --turn FILE       the turn (default: standard input)\n"
	"      --name NAME       the container's name\n"
	"      --audit FILE      append the decision record to FILE\n"
	"      --status-fd N     write how it went to descriptor N, one JSON line\n"
	"      --state-dir DIR   the state directory\n"
	"      --docker PATH     the docker program\n"
	"      --json            errors as JSON lines\n"
	"      --help, --version\n"
	"\n"
	"Exit status: 0 done, 1 worker failed, 64 usage, 65 bad turn, 66 cannot open\n"
	"input, 69 docker unavailable, 70 internal, 75 busy, 76 bad reply, 77 refused,\n"
	"78 bad config, 80 container not confirmed gone, 124 deadline, 128+n signal n.\n";

static const struct {
	const char *name;
	char letter;
	bool takes; /* a value */
} known[OPTION_COUNT] = {
	[OPTION_CONFIG] = {"config", 'c', true},
	[OPTION_TURN] = {"turn", 't', true},
	[OPTION_AUDIT] = {"audit", '\0', true},
	[OPTION_STATUS_FD] = {"status-fd", '\0', true},
	[OPTION_NAME] = {"name", '\0', true},
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

/* Reads argv[*at] on.  NULL, or what is wrong with the word at *at. */
static const char *read_options(int argc, char **argv, int *at, struct launch_options *out)
{
	for (; *at < argc; (*at)++) {
		const char *value;
		int option;

		if (strcmp(argv[*at], "--") == 0 && *at + 1 == argc)
			return NULL;
		if ((option = find(argv[*at], &value)) == OPTION_COUNT)
			return "not an option";
		if (out->value[option] != NULL)
			return "given twice";
		if (!known[option].takes && value != NULL)
			return "takes no value";
		if (known[option].takes && value == NULL && *at + 1 >= argc)
			return "needs a value";
		if (known[option].takes && value == NULL)
			value = argv[++*at];
		out->value[option] = value != NULL ? value : "";
	}
	return NULL;
}

/* A descriptor's number: 2 or more, 0 and 1 being the documents'. */
static bool read_status_fd(struct launch_options *out)
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
	static struct launch_options options;
	bool run = argc > 1 && strcmp(argv[1], "run") == 0;
	int at = run ? 2 : 1;
	const char *wrong = read_options(argc, argv, &at, &options);

	if (wrong != NULL)
		return usage(wrong, argv[at]);
	if (options.value[OPTION_HELP] != NULL)
		return write_all(STDOUT_FILENO, help);
	if (options.value[OPTION_VERSION] != NULL)
		return write_all(STDOUT_FILENO, "cofferdam " COFFERDAM_VERSION "\n");
	if (!run)
		return usage("no command given", "cofferdam run");
	if (!read_status_fd(&options))
		return usage("not a descriptor of 2 or more", options.value[OPTION_STATUS_FD]);
	return launch_run(&options);
}

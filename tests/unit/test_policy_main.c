/* SPDX-License-Identifier: ISC */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "../../policy/checking.h"
#include "../../policy/commands.h"
#include "../../policy/confine.h"
#include "../../policy/launching.h"
#include "notes.h"
#include "pass_on.h"

/*
 * The subcommands of cofferdam-policy: what each takes, and that it is prepared, then
 * confined by its filter, and only then run.  All that does it stands in here and
 * notes what it was given.
 */

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define REFUSES "2: cofferdam: SANDBOX_PROTOCOL "
#define USAGE "2: cofferdam-policy: USAGE usage: "
#define SEE "; see cofferdam-policy --help\n"

/* policy/main.c's, by the name that the makefile gives it in the tests' archive */
int policy_main(int argc, char **argv);

static const struct {
	const char *name;
	bool takes; /* a value */
	const char *as; /* the same by its letter */
} OPTIONS[OPTION_COUNT] = {
	[OPTION_CONFIG] = {"config", true, "-c7"},
	[OPTION_IMAGE] = {"image", true, NULL},
	[OPTION_NONCE] = {"nonce", true, NULL},
	[OPTION_MAX_BYTES] = {"max-bytes", true, NULL},
	[OPTION_JSON] = {"json", false, NULL},
	[OPTION_DROPPED] = {"dropped", false, NULL},
	[OPTION_OFFLINE] = {"offline", false, NULL},
	[OPTION_LINES] = {"lines", false, NULL},
	[OPTION_QUIET] = {"quiet", false, "-q"},
	[OPTION_ZERO] = {"null", false, "-0"},
	[OPTION_HELP] = {"help", false, "-h"},
};

static const struct command {
	const char *name;
	const char *prepare; /* "": nothing is */
	enum confine_filter filter;
	const char *run;
	int status; /* what the stand-in of run returns */
	const char *options; /* each between blanks */
	unsigned operands;
	const char *help;
} COMMANDS[] = {
	{"check", "checking_prepare", CONFINE_PATHS, "checking_run", 41,
	 " config image nonce json offline lines quiet help ", 0,
	 "  cofferdam-policy check [-q] [-c FILE] [--image FILE] [--nonce HEX] [--offline] "
	 "[--lines] [--json]\n"
	 "        the decision on a config, as one JSON record a document\n"},
	{"argv", "checking_prepare", CONFINE_PATHS, "checking_argv", 42,
	 " config image nonce json offline quiet null help ", 0,
	 "  cofferdam-policy argv [-q] [-0] [-c FILE] [--image FILE] [--nonce HEX] [--offline] "
	 "[--json]\n"
	 "        the docker command that a config would freeze\n"},
	{"turn", "", CONFINE_PURE, "commands_turn", 43, " max-bytes json dropped help ", 0,
	 "  cofferdam-policy turn [--max-bytes N] [--dropped] [--json]\n"
	 "        a turn in, the canonical turn out\n"},
	{"reply", "", CONFINE_PURE, "commands_reply", 44, " max-bytes json help ", 0,
	 "  cofferdam-policy reply [--max-bytes N] [--json]\n"
	 "        a worker's reply in, {\"ok\":...,\"text\":...} out\n"},
	{"model-input", "", CONFINE_PURE, "commands_model_input", 45, " max-bytes json help ", 0,
	 "  cofferdam-policy model-input [--max-bytes N] [--json]\n"
	 "        a chat request in, its messages and tools out\n"},
	{"json", "", CONFINE_PURE, "commands_json", 46, " max-bytes json help ", 0,
	 "  cofferdam-policy json [--max-bytes N] [--json]\n"
	 "        any JSON document in, its canonical text out\n"},
	{"explain", "", CONFINE_PURE, "commands_explain", 47, " json help ", 1,
	 "  cofferdam-policy explain [--json] [CODE | REASON]\n"
	 "        what a refusal means, and the way out\n"},
	{"schema", "", CONFINE_PURE, "commands_schema", 48, " help ", 1,
	 "  cofferdam-policy schema config | turn | record\n"
	 "        JSON Schema 2020-12\n"},
	{"ps", "", CONFINE_PURE, "commands_ps", 49, " json help ", 0,
	 "  cofferdam-policy ps [--json]\n"
	 "        for cofferdam: docker's list of managed containers, shown\n"},
	{"decide", "launching_prepare", CONFINE_PATHS, "launching_run", 50, " json help ", 0,
	 "  cofferdam-policy decide [--json]\n"
	 "        for cofferdam: the decision, over frames\n"},
	{"admit", "", CONFINE_PURE, "commands_admit", 51, " json help ", 0,
	 "  cofferdam-policy admit [--json]\n"
	 "        for cofferdam: may this container start beside the others\n"},
	{"verify", "", CONFINE_PATHS, "commands_verify", 52, " json help ", 0,
	 "  cofferdam-policy verify [--json]\n"
	 "        for cofferdam: is the container what was asked for\n"},
};

/* What becomes of a write while main runs, to 1 and to 2. */
enum taking { TAKES_ALL, TAKES_SOME, FAILS };

static bool running;
static enum taking taking;
static int prepared; /* what preparing returns */
static enum confine_result confined;

/* --- what stands in --- */

ssize_t write(int fd, const void *bytes, size_t len)
{
	PASS_ON(write);

	if (!running)
		return passed_on(fd, bytes, len);
	if (fd == 1 && taking == FAILS) {
		errno = EIO;
		return -1;
	}
	if (fd == 1 && taking == TAKES_SOME && len > 100)
		len = 100;
	note(fd == 1 ? "%.*s" : "2: %.*s", (int)len, (const char *)bytes);
	return (ssize_t)len;
}

static int status_of(const char *run)
{
	for (size_t i = 0; i < COUNT(COMMANDS); i++)
		if (strcmp(COMMANDS[i].run, run) == 0)
			return COMMANDS[i].status;
	return -1;
}

/* "FUNCTION --OPTION=VALUE [OPERAND]", of each only what was given. */
static void note_options(const char *function, const struct options *options)
{
	note("%s", function);
	for (size_t i = 0; i < OPTION_COUNT; i++)
		if (options->value[i] != NULL)
			note(" --%s=%s", OPTIONS[i].name, options->value[i]);
	for (unsigned i = 0; i < options->operand_count; i++)
		note(" [%s]", options->operand[i]);
	note("\n");
}

static int prepare(const char *function, const struct options *options)
{
	note_options(function, options);
	return prepared;
}

int checking_prepare(const struct options *options)
{
	return prepare("checking_prepare", options);
}

int launching_prepare(const struct options *options)
{
	return prepare("launching_prepare", options);
}

enum confine_result confine(enum confine_filter filter)
{
	note("confine %s\n", filter == CONFINE_PATHS ? "paths" : "pure");
	return confined;
}

#define RUN(function) \
	int function(const struct options *options, enum confine_result result) \
	{ \
		note("%d: ", (int)result); \
		note_options(#function, options); \
		return status_of(#function); \
	}

RUN(checking_run)
RUN(checking_argv)
RUN(commands_turn)
RUN(commands_reply)
RUN(commands_model_input)
RUN(commands_json)
RUN(commands_admit)
RUN(commands_verify)
RUN(commands_ps)
RUN(commands_explain)
RUN(commands_schema)
RUN(launching_run)

/* --- one command line --- */

static int called(int argc, char **argv)
{
	int status;

	running = true;
	status = policy_main(argc, argv);
	running = false;
	return status;
}

/* The words of a line, each ended by '|', behind the program's name. */
static void assert_called(const char *line, int status, const char *noted)
{
	static char text[1024], own[] = "cofferdam-policy";
	char *argv[16] = {own};
	char *at = text, *end;
	int argc = 1, returned;

	assert_true(strlen(line) < sizeof(text));
	strcpy(text, line);
	for (; (end = strchr(at, '|')) != NULL; at = end + 1) {
		assert_true((size_t)argc + 1 < COUNT(argv));
		argv[argc++] = at;
		*end = '\0';
	}
	assert_int_equal(*at, '\0');
	returned = called(argc, argv);
	if (returned != status)
		fail_msg("%s: %d", line, returned);
	notes_are(line, noted);
}

/* What a command does, given these words of a line that come to `given`. */
static void assert_runs(const struct command *command, const char *words, const char *given)
{
	char line[128], noted[512] = "";
	size_t len = 0;

	snprintf(line, sizeof(line), "%s|%s", command->name, words);
	if (command->prepare[0] != '\0')
		len = (size_t)snprintf(noted, sizeof(noted), "%s%s\n", command->prepare, given);
	snprintf(noted + len, sizeof(noted) - len, "confine %s\n%d: %s%s\n",
	         command->filter == CONFINE_PATHS ? "paths" : "pure", (int)confined, command->run,
	         given);
	assert_called(line, command->status, noted);
}

static void assert_refused(const struct command *command, const char *words, const char *why)
{
	char line[128], noted[256];

	snprintf(line, sizeof(line), "%s|%s", command->name, words);
	snprintf(noted, sizeof(noted), USAGE "%s" SEE, why);
	assert_called(line, 64, noted);
}

static void assert_help(const struct command *command, const char *words)
{
	char line[128], noted[512];

	snprintf(line, sizeof(line), "%s|%s", command->name, words);
	snprintf(noted, sizeof(noted), "usage:\n%s", command->help);
	assert_called(line, 0, noted);
}

static const char *whole_help(void)
{
	static char text[8192];
	size_t len = (size_t)snprintf(text, sizeof(text), "usage:\n");

	for (size_t i = 0; i < COUNT(COMMANDS); i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s", COMMANDS[i].help);
	snprintf(text + len, sizeof(text) - len, "  cofferdam-policy --help | --version\n");
	return text;
}

/* --- every command --- */

static void assert_option(const struct command *command, int option)
{
	const bool takes = OPTIONS[option].takes;
	char name[32], word[32], words[80], text[80];

	snprintf(name, sizeof(name), " %s ", OPTIONS[option].name);
	snprintf(word, sizeof(word), "--%s%s", OPTIONS[option].name, takes ? "=7" : "");
	snprintf(words, sizeof(words), "%s|", word);
	snprintf(text, sizeof(text), "unknown option: %s", word);
	if (strstr(command->options, name) == NULL) {
		assert_refused(command, words, text);
		return;
	}
	if (option == OPTION_HELP) {
		assert_help(command, words);
		assert_help(command, "-h|");
		return;
	}
	snprintf(text, sizeof(text), " --%s=%s", OPTIONS[option].name, takes ? "7" : "");
	assert_runs(command, words, text);
	if (OPTIONS[option].as != NULL) {
		snprintf(words, sizeof(words), "%s|", OPTIONS[option].as);
		assert_runs(command, words, text);
	}
	snprintf(words, sizeof(words), "%s|%s|", word, word);
	snprintf(text, sizeof(text), "given twice: %s", word);
	assert_refused(command, words, text);
}

static void test_options(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(COMMANDS); i++) {
		assert_runs(&COMMANDS[i], "", "");
		assert_refused(&COMMANDS[i], "--x|", "unknown option: --x");
		assert_refused(&COMMANDS[i], "--version|", "unknown option: --version");
		for (int option = 0; option < OPTION_COUNT; option++)
			assert_option(&COMMANDS[i], option);
	}
}

static void test_operands(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(COMMANDS); i++) {
		assert_runs(&COMMANDS[i], "--|", "");
		if (COMMANDS[i].operands == 0) {
			assert_refused(&COMMANDS[i], "a|", "unexpected word: a");
			assert_refused(&COMMANDS[i], "--|-a|", "unexpected word: -a");
		} else {
			assert_runs(&COMMANDS[i], "a|", " [a]");
			assert_runs(&COMMANDS[i], "--|--json|", " [--json]");
			assert_refused(&COMMANDS[i], "a|b|", "unexpected word: b");
		}
	}
}

/* The kernel has no Landlock: the command is told. */
static void test_no_landlock(void **state)
{
	(void)state;
	confined = CONFINE_NO_LANDLOCK;
	for (size_t i = 0; i < COUNT(COMMANDS); i++)
		assert_runs(&COMMANDS[i], "", "");
	confined = CONFINE_FULL;
}

/* What is not confined does not run. */
static void test_confine_failed(void **state)
{
	(void)state;
	confined = CONFINE_FAILED;
	for (size_t i = 0; i < COUNT(COMMANDS); i++) {
		const struct command *command = &COMMANDS[i];
		char line[32], noted[512];

		snprintf(line, sizeof(line), "%s|", command->name);
		snprintf(noted, sizeof(noted), "%s%sconfine %s\n%s", command->prepare,
		         command->prepare[0] != '\0' ? "\n" : "",
		         command->filter == CONFINE_PATHS ? "paths" : "pure",
		         REFUSES "confine.failed: the process could not confine itself; "
		                 "run `cofferdam doctor`\n");
		assert_called(line, 70, noted);
	}
	confined = CONFINE_FULL;
}

/* What is not prepared is neither confined nor run. */
static void test_not_prepared(void **state)
{
	static const int CASES[] = {1, 64, 66, 70};

	(void)state;
	for (size_t k = 0; k < COUNT(CASES); k++) {
		prepared = CASES[k];
		assert_called("check|-cx|", prepared, "checking_prepare --config=x\n");
		assert_called("argv|-0|", prepared, "checking_prepare --null=\n");
		assert_called("decide|", prepared, "launching_prepare\n");
		assert_called("ps|", 49, "confine pure\n0: commands_ps\n");
	}
	prepared = 0;
}

/* --- without a command --- */

static void test_no_command(void **state)
{
	static const struct {
		const char *line;
		const char *why;
	} CASES[] = {
		{"", "a command is missing"},
		{"|", "no such command: "},
		{"x|", "no such command: x"},
		{"chec|", "no such command: chec"},
		{"checks|", "no such command: checks"},
		{"Check|", "no such command: Check"},
		{"--|check|", "no such command: --"},
		{"--json|check|", "no such command: --json"},
		{"-|", "no such command: -"},
		{"--helps|", "no such command: --helps"},
		{"-v|", "no such command: -v"},
		{"a\n\x1b[m\xc3\xa9\\|", "no such command: a\\x0a\\x1b[m\\xc3\\xa9\\\\"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(CASES); i++) {
		char noted[256];

		snprintf(noted, sizeof(noted), USAGE "%s" SEE, CASES[i].why);
		assert_called(CASES[i].line, 64, noted);
	}
}

/* execve(2) allows no argument at all, not even a name: what follows is not main's. */
static void test_no_words(void **state)
{
	static char word[] = "--help";
	char *argv[] = {NULL, word, NULL};

	(void)state;
	for (int argc = 0; argc <= 1; argc++) {
		assert_int_equal(called(argc, argv), 64);
		notes_are("none", USAGE "a command is missing" SEE);
	}
}

static void test_help_version(void **state)
{
	(void)state;
	assert_called("--help|", 0, whole_help());
	assert_called("-h|", 0, whole_help());
	assert_called("--version|", 0, "cofferdam-policy " COFFERDAM_VERSION "\n");
}

/* What is longer than one write takes is written on; what cannot be written is told. */
static void test_write(void **state)
{
	static const char *const LINES[] = {"--help|", "--version|", "check|--help|", "ps|-h|"};

	(void)state;
	taking = TAKES_SOME;
	assert_called("--help|", 0, whole_help());
	assert_help(&COMMANDS[0], "--help|");
	taking = FAILS;
	for (size_t i = 0; i < COUNT(LINES); i++)
		assert_called(LINES[i], 70,
		              REFUSES "output.write: the output cannot be written; check what "
		                      "it is connected to\n");
	taking = TAKES_ALL;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_options), cmocka_unit_test(test_operands),
		cmocka_unit_test(test_no_landlock), cmocka_unit_test(test_confine_failed),
		cmocka_unit_test(test_not_prepared), cmocka_unit_test(test_no_command),
		cmocka_unit_test(test_no_words), cmocka_unit_test(test_help_version),
		cmocka_unit_test(test_write),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

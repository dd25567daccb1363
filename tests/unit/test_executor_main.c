/* SPDX-License-Identifier: ISC */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "../../executor/doctor.h"
#include "../../executor/launch.h"
#include "../../executor/ps.h"
#include "../../executor/reap.h"
#include "../../executor/stop.h"
#include "guarded.h"
#include "notes.h"
#include "pass_on.h"
#include "usual.h"

/*
 * The command line of cofferdam: which command runs, with which options, and what is
 * said of a line that is not understood.  The commands stand in here and note what
 * they were given.  main runs once a process, so each line has a process of its own.
 */

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* executor/main.c's, by the name that the makefile gives it in the tests' archive */
int executor_main(int argc, char **argv);

static const struct {
	const char *name;
	char letter; /* ' ': none */
	bool takes; /* a value */
} OPTIONS[OPTION_COUNT] = {
	[OPTION_CONFIG] = {"config", 'c', true},
	[OPTION_TURN] = {"turn", 't', true},
	[OPTION_AUDIT] = {"audit", ' ', true},
	[OPTION_WORKER_STDERR] = {"worker-stderr", ' ', true},
	[OPTION_STATUS_FD] = {"status-fd", ' ', true},
	[OPTION_NAME] = {"name", ' ', true},
	[OPTION_HOST] = {"host", ' ', true},
	[OPTION_SESSION] = {"session", ' ', true},
	[OPTION_IMAGE] = {"image", ' ', true},
	[OPTION_DOCKER] = {"docker", ' ', true},
	[OPTION_STATE_DIR] = {"state-dir", ' ', true},
	[OPTION_JSON] = {"json", ' ', false},
	[OPTION_HELP] = {"help", 'h', false},
	[OPTION_VERSION] = {"version", ' ', false},
};

static const struct command {
	const char *name;
	const char *function;
	int status; /* what the stand-in returns */
	const char *options; /* each between blanks */
} COMMANDS[] = {
	{"run", "launch_run", 41,
	 " config turn audit worker-stderr status-fd name docker state-dir json help "},
	{"session", "launch_session", 42,
	 " config audit worker-stderr status-fd name docker state-dir json help "},
	{"ps", "ps_run", 43, " host docker state-dir json help "},
	{"stop", "stop_run", 44, " host session audit docker state-dir json help "},
	{"reap", "reap_run", 45, " host audit docker state-dir json help "},
	{"doctor", "doctor_run", 46, " config host image docker state-dir json help "},
};

static const char HELP[] =
	"usage: cofferdam run [option...] < turn.json > reply.json\n"
	"       cofferdam session [option...]\n"
	"       cofferdam ps | reap [option...]\n"
	"       cofferdam stop [option...] RUN... | --session KEY\n"
	"       cofferdam doctor [option...]\n"
	"       cofferdam --help | --version\n"
	"\n"
	"  run      one turn, in a container that is gone afterwards\n"
	"  session  a worker between standard input and output\n"
	"  ps       the containers there are, and whether a launch owns them\n"
	"  stop     remove those of runs or a session\n"
	"  reap     remove those that no launch owns any more\n"
	"  doctor   what a launch would need, checked one by one, each with its mend\n"
	"\n"
	"  -c, --config FILE     run, session, doctor: the operator's config\n"
	"  -t, --turn FILE       run: the turn (default: standard input)\n"
	"      --name NAME       run, session: the container's name\n"
	"      --audit FILE      append the decision of a run or session, and all that happens\n"
	"                        to containers, to FILE\n"
	"      --worker-stderr FILE  run, session: what the worker says there, 128 KiB at most\n"
	"      --status-fd N     run, session: how it went, a JSON line on descriptor N\n"
	"      --host URL        ps, stop, reap, doctor: docker's endpoint (default: $DOCKER_HOST,\n"
	"                        else unix:///var/run/docker.sock)\n"
	"      --image REF       doctor: the image to look for\n"
	"      --session KEY     stop: every run of this session\n"
	"      --state-dir DIR   the state directory\n"
	"      --docker PATH     the docker program\n"
	"      --json            errors, and what ps and doctor list, as JSON lines\n"
	"\n"
	"Exit status: 0 done, 1 worker failed or no such run, 64 usage, 65 bad turn, 66 cannot\n"
	"open input, 69 docker unavailable, 70 internal, 75 busy, 76 bad reply, 77 refused,\n"
	"78 bad config, 80 container not confirmed gone, 124 deadline, 128+n signal n.\n";

/* What becomes of a write; the process that runs main has only those to 1 and 2. */
enum taking { TAKES_ALL, TAKES_LESS, TAKES_NONE, FAILS };

static bool running;
static enum taking taking;
static char **words; /* behind the command's name */

/* Shared with the process that runs main. */
static struct shared {
	struct notes notes;
	int status;
} *shared;

/* --- what stands in --- */

ssize_t write(int fd, const void *bytes, size_t len)
{
	PASS_ON(write);

	if (!running)
		return passed_on(fd, bytes, len);
	note("%d: %.*s", fd, (int)len, (const char *)bytes);
	if (taking == TAKES_ALL)
		return (ssize_t)len;
	if (taking == TAKES_LESS)
		return (ssize_t)len - 1;
	return taking == TAKES_NONE ? 0 : -1;
}

/* "FUNCTION --OPTION=VALUE [OPERAND] >STATUS_FD", of each only what was given.
 * Operands stand where words stood. */
static int ran(const char *function, const struct options *options)
{
	int status = 0;

	note("%s", function);
	for (size_t i = 0; i < OPTION_COUNT; i++)
		if (options->value[i] != NULL)
			note(" --%s=%s", OPTIONS[i].name, options->value[i]);
	if (options->operand != words)
		note(" elsewhere");
	for (int i = 0; i < options->operands; i++)
		note(" [%s]", options->operand[i]);
	if (options->status_fd != -1)
		note(" >%d", options->status_fd);
	note("\n");
	for (size_t i = 0; i < COUNT(COMMANDS); i++)
		if (strcmp(COMMANDS[i].function, function) == 0)
			status = COMMANDS[i].status;
	return status;
}

int launch_run(const struct options *options)
{
	return ran("launch_run", options);
}

int launch_session(const struct options *options)
{
	return ran("launch_session", options);
}

int ps_run(const struct options *options)
{
	return ran("ps_run", options);
}

int stop_run(const struct options *options)
{
	return ran("stop_run", options);
}

int reap_run(const struct options *options)
{
	return ran("reap_run", options);
}

int doctor_run(const struct options *options)
{
	return ran("doctor_run", options);
}

/* --- one command line --- */

/* The exit status of main. */
static int called(int argc, char **argv)
{
	int how = -1;
	pid_t pid;

	words = argv + 2;
	shared->status = -1;
	(void)fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		running = true;
		shared->status = executor_main(argc, argv);
		running = false;
		exit(0); /* not _exit, for tests/coverage */
	}
	assert_int_equal(waitpid(pid, &how, 0), pid);
	assert_int_equal(how, 0);
	return shared->status;
}

/* The words of a line, each ended by '|', behind the program's name.  Behind the last
 * nothing can be read. */
static int called_with(const char *line)
{
	static char own[] = "cofferdam";
	char *argv[32] = {own};
	char *at = guarded(line, strlen(line));
	char *const end = at + strlen(line);
	int argc = 1;

	while (at < end) {
		assert_true((size_t)argc + 1 < COUNT(argv));
		argv[argc++] = at;
		at = memchr(at, '|', (size_t)(end - at));
		assert_non_null(at);
		*at++ = '\0';
	}
	return called(argc, argv);
}

static void assert_called(const char *line, int status, const char *noted)
{
	const int returned = called_with(line);

	if (returned != status)
		fail_msg("%s: %d", line, returned);
	notes_are(line, noted);
}

#define REFUSED_HEAD "2: cofferdam: USAGE usage: the command line is not understood: "
#define REFUSED_TAIL "; see cofferdam --help\n"

static void assert_refused(const char *line, const char *detail)
{
	static char noted[8192];

	snprintf(noted, sizeof(noted), REFUSED_HEAD "%s" REFUSED_TAIL, detail);
	assert_called(line, 64, noted);
}

static void assert_help(const char *line)
{
	static char noted[sizeof(HELP) + 3];

	snprintf(noted, sizeof(noted), "1: %s", HELP);
	assert_called(line, 0, noted);
}

/* --- every option of every command --- */

/* How an option is written: @ is its name, ^ its letter. */
static const struct form {
	bool takes;
	const char *words;
	const char *wrong; /* NULL: nothing */
	const char *word; /* that it is wrong about */
} FORMS[] = {
	{true, "--@=7|", NULL, ""},
	{true, "--@|7|", NULL, ""},
	{true, "-^7|", NULL, ""},
	{true, "-^|7|", NULL, ""},
	{false, "--@|", NULL, ""},
	{false, "-^|", NULL, ""},
	{true, "--@|", "needs a value", "--@"},
	{true, "-^|", "needs a value", "-^"},
	{true, "--@=7|--@=8|", "given twice", "--@=8"},
	{true, "--@|7|--@|8|", "given twice", "--@"},
	{true, "--@=|--@|", "given twice", "--@"},
	{true, "-^7|--@=8|", "given twice", "--@=8"},
	{true, "--@=7|-^|8|", "given twice", "-^"},
	{false, "--@|--@|", "given twice", "--@"},
	{false, "--@|-^|", "given twice", "-^"},
	{false, "--@=|", "takes no value", "--@="},
	{false, "--@=7|", "takes no value", "--@=7"},
	{false, "-^7|", "takes no value", "-^7"},
};

/* What is written with an option's name and letter. */
static const char *filled(const char *form, int option, char *to, size_t cap)
{
	size_t len = strlen(to);

	for (; *form != '\0'; form++)
		if (*form == '@')
			len += (size_t)snprintf(to + len, cap - len, "%s", OPTIONS[option].name);
		else
			len += (size_t)snprintf(to + len, cap - len, "%c",
			                        *form == '^' ? OPTIONS[option].letter : *form);
	assert_true(len < cap);
	return to;
}

static bool allowed(const struct command *command, int option)
{
	char word[32];

	snprintf(word, sizeof(word), " %s ", OPTIONS[option].name);
	return strstr(command->options, word) != NULL;
}

/* "why: " and a word of the form's. */
static void assert_form_refused(const char *line, const char *why, const char *word, int option)
{
	char detail[128];

	snprintf(detail, sizeof(detail), "%s: ", why);
	assert_refused(line, filled(word, option, detail, sizeof(detail)));
}

static void assert_form(const struct command *command, const struct form *form, int option)
{
	char line[128], word[8] = "", noted[128];

	snprintf(line, sizeof(line), "%s|", command->name);
	(void)filled(form->words, option, line, sizeof(line));
	memcpy(word, form->words, strcspn(form->words, "|"));
	snprintf(noted, sizeof(noted), "%s --%s=%s%s\n", command->function, OPTIONS[option].name,
	         form->takes ? "7" : "", option == OPTION_STATUS_FD ? " >7" : "");
	if (!allowed(command, option))
		assert_form_refused(line, "not an option of this command", word, option);
	else if (form->wrong != NULL)
		assert_form_refused(line, form->wrong, form->word, option);
	else if (option == OPTION_HELP)
		assert_help(line);
	else
		assert_called(line, command->status, noted);
}

static void test_options(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(COMMANDS); i++)
		for (int option = 0; option < OPTION_COUNT; option++)
			for (size_t k = 0; k < COUNT(FORMS); k++)
				if (FORMS[k].takes == OPTIONS[option].takes &&
				    (OPTIONS[option].letter != ' ' ||
				     strchr(FORMS[k].words, '^') == NULL))
					assert_form(&COMMANDS[i], &FORMS[k], option);
}

/* --- what else a line may be --- */

static void test_commands(void **state)
{
	static const struct {
		const char *line;
		int status;
		const char *noted;
	} CASES[] = {
		{"run|", 41, "launch_run\n"},
		{"session|", 42, "launch_session\n"},
		{"ps|", 43, "ps_run\n"},
		{"stop|", 44, "stop_run\n"},
		{"reap|", 45, "reap_run\n"},
		{"doctor|", 46, "doctor_run\n"},
		{"run|--config|a|-t|b|--audit=c|--worker-stderr|d|--status-fd=5|--name|f|"
	         "--docker|g|--state-dir=h|--json|", 41,
	         "launch_run --config=a --turn=b --audit=c --worker-stderr=d --status-fd=5 "
	         "--name=f --docker=g --state-dir=h --json= >5\n"},
		{"doctor|--json|--host|a|--image=b|-cc|", 46,
	         "doctor_run --config=c --host=a --image=b --json=\n"},
		{"stop|--session=k|--audit|a|", 44, "stop_run --audit=a --session=k\n"},
		/* Any word is a value. */
		{"run|--config=|", 41, "launch_run --config=\n"},
		{"run|--config||", 41, "launch_run --config=\n"},
		{"run|--config=a=b|", 41, "launch_run --config=a=b\n"},
		{"run|-c=a|", 41, "launch_run --config==a\n"},
		{"run|-c|--json|", 41, "launch_run --config=--json\n"},
		{"run|--turn|-|", 41, "launch_run --turn=-\n"},
		{"run|--turn|--|", 41, "launch_run --turn=--\n"},
		/* "--" ends the options, and not more. */
		{"run|--|", 41, "launch_run\n"},
		{"ps|--json|--|", 43, "ps_run --json=\n"},
		/* Operands, among the options. */
		{"stop|a|", 44, "stop_run [a]\n"},
		{"stop|a|b|c|", 44, "stop_run [a] [b] [c]\n"},
		{"stop||", 44, "stop_run []\n"},
		{"stop|a|--json|b|--host|c|d|", 44, "stop_run --host=c --json= [a] [b] [d]\n"},
		{"stop|--|a|", 44, "stop_run [a]\n"},
		{"stop|a|--|b|", 44, "stop_run [a] [b]\n"},
		{"stop|a|--|--|-|--json|-h|", 44, "stop_run [a] [--] [-] [--json] [-h]\n"},
		{"stop|a|a|", 44, "stop_run [a] [a]\n"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(CASES); i++)
		assert_called(CASES[i].line, CASES[i].status, CASES[i].noted);
}

static void test_refused(void **state)
{
	static const struct {
		const char *line;
		const char *detail;
	} CASES[] = {
		{"", "no command given: see cofferdam --help"},
		{"--|", "no command given: see cofferdam --help"},
		{"|", "not a command: "},
		{"x|", "not a command: x"},
		{"ru|", "not a command: ru"},
		{"runs|", "not a command: runs"},
		{"Run|", "not a command: Run"},
		{"x|--help|", "not a command: x"},
		{"--help|run|", "not a command: run"},
		{"--json|run|", "not a command: --json"},
		{"-c|", "not a command: -c"},
		{"-|", "not a command: -"},
		{"-v|", "not a command: -v"},
		{"-xhelp|", "not a command: -xhelp"},
		{"x-help|", "not a command: x-help"},
		{"--|run|", "unexpected word: run"},
		{"--|--help|", "unexpected word: --help"},
		{"--help=|", "takes no value: --help="},
		{"--version=1|", "takes no value: --version=1"},
		{"-hv|", "takes no value: -hv"},
		{"--help|-h|", "given twice: -h"},
		{"--version|--version|", "given twice: --version"},
		/* Words that no command takes but stop. */
		{"run|x|", "unexpected word: x"},
		{"session|x|", "unexpected word: x"},
		{"ps|x|", "unexpected word: x"},
		{"reap|x|", "unexpected word: x"},
		{"doctor|x|", "unexpected word: x"},
		{"run||", "unexpected word: "},
		{"run|run|", "unexpected word: run"},
		{"ps|--json|x|", "unexpected word: x"},
		{"ps|--|x|", "unexpected word: x"},
		{"ps|--|--json|", "unexpected word: --json"},
		{"ps|--|--|", "unexpected word: --"},
		/* Names are whole. */
		{"run|-|", "not an option of this command: -"},
		{"stop|-|", "not an option of this command: -"},
		{"stop|a|-x|", "not an option of this command: -x"},
		{"run|-xconfig=7|", "not an option of this command: -xconfig=7"},
		{"run|---|", "not an option of this command: ---"},
		{"run|--=7|", "not an option of this command: --=7"},
		{"run|--confi=7|", "not an option of this command: --confi=7"},
		{"run|--configs=7|", "not an option of this command: --configs=7"},
		{"run|--Config=7|", "not an option of this command: --Config=7"},
		{"run|-config|7|", "unexpected word: 7"},
		{"run|-C7|", "not an option of this command: -C7"},
		{"run|--c|7|", "not an option of this command: --c"},
		/* The first that is wrong is told, and the last word may lack its value. */
		{"run|--json|--json|x|", "given twice: --json"},
		{"run|--turn|a|-c|", "needs a value: -c"},
		{"stop|a|b|--host|", "needs a value: --host"},
		/* Bytes that a terminal would follow. */
		{"run|a\nb\x1b[m\xc3\xa9\n|", "unexpected word: a b\\x1b[m\\xc3\\xa9"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(CASES); i++)
		assert_refused(CASES[i].line, CASES[i].detail);
}

/* Of a long word so much is told. */
static void test_long_word(void **state)
{
	static const char *const WHY = "not a command: ";
	static char line[GUARDED_MAX], detail[4092 + 1];

	(void)state;
	memset(line, 'x', sizeof(line) - 2);
	line[sizeof(line) - 2] = '|';
	memset(detail, 'x', sizeof(detail) - 1);
	memcpy(detail, WHY, strlen(WHY));
	assert_refused(line, detail);
}

/* execve(2) allows no argument at all, not even a name: what follows is not main's. */
static void test_no_words(void **state)
{
	static char word[] = "--help";
	char *argv[] = {NULL, word, NULL};

	(void)state;
	assert_int_equal(called(0, argv), 64);
	notes_are("none", REFUSED_HEAD "no command given: see cofferdam --help" REFUSED_TAIL);
	argv[0] = argv[1];
	argv[1] = NULL;
	assert_int_equal(called(1, argv), 64);
	notes_are("a name", REFUSED_HEAD "no command given: see cofferdam --help" REFUSED_TAIL);
}

static void test_help_version(void **state)
{
	(void)state;
	assert_help("--help|");
	assert_help("-h|");
	assert_help("-h|--|");
	assert_help("--help|--version|");
	assert_help("--version|-h|");
	assert_called("--version|", 0, "1: cofferdam " COFFERDAM_VERSION "\n");
	assert_called("--version|--|", 0, "1: cofferdam " COFFERDAM_VERSION "\n");
	/* Help goes before anything that only the command looks at. */
	assert_help("run|--status-fd=x|--help|");
	assert_help("stop|a|-h|b|");
}

static void test_status_fd(void **state)
{
	static const struct {
		const char *value;
		int fd; /* -1: refused */
	} CASES[] = {
		{"2", 2}, {"3", 3}, {"10", 10}, {"007", 7}, {"1024", 1024},
		{"2147483646", 2147483646}, {"2147483647", 2147483647},
		{"2147483648", -1}, {"4294967298", -1}, {"18446744073709551618", -1},
		{"99999999999999999999999999", -1}, {"0", -1}, {"1", -1}, {"-1", -1},
		{"-2", -1}, {"-2147483648", -1}, {"", -1}, {" 3", -1}, {"3 ", -1}, {"\t3", -1},
		{"+3", -1}, {"-3", -1}, {"3a", -1}, {"a3", -1}, {"0x3", -1}, {"3.", -1},
		{"3,4", -1},
	};
	static const char *const LAUNCH[] = {"run", "session"};

	(void)state;
	for (size_t i = 0; i < COUNT(LAUNCH); i++) {
		for (size_t k = 0; k < COUNT(CASES); k++) {
			char line[64], text[128];

			snprintf(line, sizeof(line), "%s|--status-fd=%s|", LAUNCH[i],
			         CASES[k].value);
			snprintf(text, sizeof(text), "not a descriptor of 2 or more: %s",
			         CASES[k].value[0] == '\t' ? "\\x093" : CASES[k].value);
			if (CASES[k].fd < 0) {
				assert_refused(line, text);
				continue;
			}
			snprintf(text, sizeof(text), "launch_%s --status-fd=%s >%d\n", LAUNCH[i],
			         CASES[k].value, CASES[k].fd);
			assert_called(line, COMMANDS[i].status, text);
		}
	}
}

/* What cannot be written whole is not tried again. */
static void test_write(void **state)
{
	static const enum taking CASES[] = {TAKES_LESS, TAKES_NONE, FAILS};
	static char noted[sizeof(HELP) + 3];

	(void)state;
	snprintf(noted, sizeof(noted), "1: %s", HELP);
	for (size_t i = 0; i < COUNT(CASES); i++) {
		taking = CASES[i];
		assert_called("--help|", 70, noted);
		assert_called("run|-h|", 70, noted);
		assert_called("--version|", 70, "1: cofferdam " COFFERDAM_VERSION "\n");
		assert_refused("x|", "not a command: x");
	}
	taking = TAKES_ALL;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_commands), cmocka_unit_test(test_refused),
		cmocka_unit_test(test_long_word), cmocka_unit_test(test_no_words),
		cmocka_unit_test(test_help_version), cmocka_unit_test(test_status_fd),
		cmocka_unit_test(test_write), cmocka_unit_test(test_options),
	};

	usual_surroundings();
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
	              0);
	if (shared == MAP_FAILED)
		return 1;
	notes = &shared->notes;
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: ISC */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "../../executor/docker.h"
#include "../../policy/admit.h"
#include "../../policy/ps.h"

/*
 * This program is the docker that it runs: called so, it prints its words and
 * its environment, one a line, and what its standard input held.  What it says
 * on its standard error is how many other descriptors it has.
 */

#define NO_OTHERS "0 more\n"
#define DESCRIPTORS 64 /* that are looked for */

#define ENDPOINT "unix:///run/e.sock"
#define STATE_ID "00112233445566778899aabbccddeeff"
#define SUBJECT "SUBJECT" /* the bytes of docker.c's own mark for the hole */

#define PATH_AND_LOCALE "PATH=/usr/sbin:/usr/bin:/sbin:/bin\nLC_ALL=C\n"
#define OUR_ENVIRONMENT PATH_AND_LOCALE "HOME=/s/docker\nDOCKER_CONFIG=/s/docker\n"

static struct docker docker = {.endpoint = ENDPOINT};
static char output[8192];

static int show(char **argv)
{
	char input[64];
	ssize_t len = read(STDIN_FILENO, input, sizeof(input));
	int more = 0;

	for (int fd = STDERR_FILENO + 1; fd < DESCRIPTORS; fd++)
		more += fcntl(fd, F_GETFD) >= 0;
	fprintf(stderr, "%d more\n", more);
	for (; *argv != NULL; argv++)
		puts(*argv);
	puts("--");
	for (char **at = environ; *at != NULL; at++)
		puts(*at);
	puts("--");
	fwrite(input, 1, len > 0 ? (size_t)len : 0, stdout);
	return fflush(stdout) == 0 ? 0 : 1;
}

static const char *finished(struct child *child)
{
	char error[16];

	assert_int_equal(child_wait(child, 1, -1, 0, child_now() + 20000), CHILD_DONE);
	assert_int_equal(child->status, 0);
	child_read(child->err, error, sizeof(error));
	assert_string_equal(error, NO_OTHERS);
	assert_in_range(child_read(child->out, output, sizeof(output)), 1, sizeof(output) - 2);
	child_finish(child);
	return output;
}

static const char *said(enum docker_command command, const char *with)
{
	struct child child;

	docker_start(&child, &docker, command, with, -1, -1);
	return finished(&child);
}

static int set_up(void **state)
{
	ssize_t len = readlink("/proc/self/exe", docker.path, sizeof(docker.path) - 1);
	int own = memfd_create("stdin", 0); /* which no docker reads */

	(void)state;
	docker_environment(&docker, "/s", STATE_ID);
	return len > 0 && child_set_up() && pwrite(own, "own\n", 4, 0) == 4 &&
	       dup2(own, STDIN_FILENO) == STDIN_FILENO ? 0 : -1;
}

static void formats_are_those_that_policy_reads(void **state)
{
	(void)state;
	assert_string_equal(docker_list_format, ADMIT_FORMAT);
	assert_string_equal(docker_ps_format, PS_FORMAT);
}

#define H "docker\n--host\n" ENDPOINT "\n"

static const char *const words[DOCKER_COMMANDS] = {
	[DOCKER_CONTEXT] = "docker\ncontext\ninspect\n--format\n{{json .Endpoints.docker.Host}}\n",
	[DOCKER_IMAGE] = H "image\ninspect\n--format\n{{json .}}\n" SUBJECT "\n",
	[DOCKER_LIST] = H "container\nls\n--all\n--no-trunc\n--filter\n"
			  "label=dev.cofferdam.state\n--format\n" ADMIT_FORMAT "\n",
	[DOCKER_INSPECT] = H "container\ninspect\n--format\n{{json .}}\n" SUBJECT "\n",
	[DOCKER_START] = H "container\nstart\n--attach\n--interactive\n" SUBJECT "\n",
	[DOCKER_RESULT] = H "container\ninspect\n--format\n"
			    "{{.State.Status}} {{.State.Running}} {{.State.OOMKilled}} "
			    "{{.State.ExitCode}} {{.RestartCount}}\n" SUBJECT "\n",
	[DOCKER_REMOVE] = H "container\nrm\n--force\n--volumes\n" SUBJECT "\n",
	[DOCKER_FIND] = H "container\nls\n--all\n--quiet\n--no-trunc\n--filter\n"
			  "label=dev.cofferdam.state=" STATE_ID "\n--filter\n" SUBJECT "\n",
	[DOCKER_PS] = H "container\nls\n--all\n--no-trunc\n--filter\n"
			"label=dev.cofferdam.state\n--format\n" PS_FORMAT "\n",
	[DOCKER_OURS] = H "container\nls\n--all\n--no-trunc\n--filter\n"
			  "label=dev.cofferdam.state=" STATE_ID "\n--format\n"
			  "{{.ID}} {{.Label \"dev.cofferdam.run\"}}\n",
	[DOCKER_OURS_WITH] = H "container\nls\n--all\n--no-trunc\n--filter\n"
			       "label=dev.cofferdam.state=" STATE_ID "\n--filter\n" SUBJECT
			       "\n--format\n{{.ID}} {{.Label \"dev.cofferdam.run\"}}\n",
	[DOCKER_CLIENT] = "docker\n--version\n",
	[DOCKER_VERSION] = H "version\n--format\n"
			     "{{.Client.Version}}\n{{.Client.DefaultAPIVersion}}\n"
			     "{{with .Server}}{{.Version}}\n{{.APIVersion}}\n"
			     "{{range .Components}}{{.Name}} {{end}}{{end}}\n",
	[DOCKER_INFO] = H "info\n--format\n"
			  "{{.OSType}}, {{.OperatingSystem}}\n{{.DockerRootDir}}\n"
			  "{{range .SecurityOptions}}{{.}} {{end}}\n"
			  "version {{.CgroupVersion}}, {{.CgroupDriver}}\n"
			  "MemoryLimit={{.MemoryLimit}}\nSwapLimit={{.SwapLimit}}\n"
			  "CpuCfsQuota={{and .CPUCfsQuota .CPUCfsPeriod}}\n"
			  "PidsLimit={{.PidsLimit}}\n"
			  "{{range .Warnings}}{{.}} {{else}}none{{end}}\n",
	[DOCKER_IMAGE_LINES] = H "image\ninspect\n--format\n{{.Id}}\n{{.Os}}\n"
				 "{{with .Config}}{{if .Volumes}}VOLUME{{end}}{{end}}\n" SUBJECT
				 "\n",
};

static void every_command_is_as_designed(void **state)
{
	char expected[1024];

	(void)state;
	for (int i = 0; i < DOCKER_COMMANDS; i++) {
		if (i == DOCKER_CONTEXT)
			continue;
		snprintf(expected, sizeof(expected), "%s--\n" OUR_ENVIRONMENT "--\n", words[i]);
		assert_string_equal(said((enum docker_command)i, SUBJECT), expected);
	}
}

/* What a subject holds is never taken for the mark of a hole. */
static void subjects_are_one_word(void **state)
{
	static const char *const subjects[] = {"", "ENDPOINT", "STATE", "SUBJECT", "a b", "--all"};
	char expected[256];

	(void)state;
	for (size_t i = 0; i < sizeof(subjects) / sizeof(subjects[0]); i++) {
		snprintf(expected, sizeof(expected),
		         H "container\nrm\n--force\n--volumes\n%s\n--\n" OUR_ENVIRONMENT "--\n",
		         subjects[i]);
		assert_string_equal(said(DOCKER_REMOVE, subjects[i]), expected);
	}
}

/* Only the command that asks which context is the user's sees what says so. */
static void context_sees_the_users_choice(void **state)
{
	static const struct {
		const char *const set[6];
		const char *seen;
	} rows[] = {
		{{NULL}, ""},
		{{"HOME=/h", NULL}, "HOME=/h\n"},
		{{"DOCKER_CONTEXT=c", NULL}, "DOCKER_CONTEXT=c\n"},
		{{"DOCKER_CONTEXT=c", "DOCKER_CONFIG=/d", "HOME=", NULL},
		 "HOME=\nDOCKER_CONFIG=/d\nDOCKER_CONTEXT=c\n"},
		{{"DOCKER_HOST=tcp://x", "DOCKER_CONTEXTS=c", "XHOME=/x", "HOM=/x", "LD_PRELOAD=", NULL},
		 ""},
		{{"HOME=/1", "DOCKER_TLS_VERIFY=1", "HOME=/2", "PATH=/x", "LC_ALL=de_DE", NULL},
		 "HOME=/1\n"},
	};
	char expected[512], *set[7], **own = environ;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		memcpy(set, rows[i].set, sizeof(rows[i].set));
		set[6] = NULL;
		environ = set;
		said(DOCKER_CONTEXT, SUBJECT);
		snprintf(expected, sizeof(expected), "%s--\n" PATH_AND_LOCALE "%s--\n",
		         words[DOCKER_CONTEXT], rows[i].seen);
		assert_string_equal(output, expected);
		said(DOCKER_IMAGE, SUBJECT);
		snprintf(expected, sizeof(expected), "%s--\n" OUR_ENVIRONMENT "--\n",
		         words[DOCKER_IMAGE]);
		environ = own;
		assert_string_equal(output, expected);
	}
	environ = NULL;
	said(DOCKER_CONTEXT, SUBJECT);
	environ = own;
	snprintf(expected, sizeof(expected), "%s--\n" PATH_AND_LOCALE "--\n", words[DOCKER_CONTEXT]);
	assert_string_equal(output, expected);
}

static void create_is_as_frozen(void **state)
{
	static const char *const argv[] = {"docker", "--host", "ENDPOINT", "", "x y", NULL};
	struct child child;

	(void)state;
	docker_create(&child, &docker, argv);
	assert_string_equal(finished(&child),
	                    "docker\n--host\nENDPOINT\n\nx y\n--\n" OUR_ENVIRONMENT "--\n");
}

static void descriptors_are_handed_on(void **state)
{
	char expected[512], got[512] = "", error[16];
	struct child child;
	int in[2], out[2];

	(void)state;
	assert_int_equal(pipe(in), 0);
	assert_int_equal(pipe(out), 0);
	assert_int_equal(write(in[1], "hello\n", 6), 6);
	docker_start(&child, &docker, DOCKER_START, SUBJECT, in[0], out[1]);
	assert_int_equal(child_wait(&child, 1, -1, 0, child_now() + 20000), CHILD_DONE);
	assert_int_equal(child.status, 0);
	assert_int_equal(child.out, -1);
	child_read(child.err, error, sizeof(error));
	assert_string_equal(error, NO_OTHERS);
	child_finish(&child);
	assert_true(read(out[0], got, sizeof(got) - 1) > 0);
	snprintf(expected, sizeof(expected), "%s--\n" OUR_ENVIRONMENT "--\nhello\n",
	         words[DOCKER_START]);
	assert_string_equal(got, expected);
	for (int i = 0; i < 2; i++) {
		close(in[i]);
		close(out[i]);
	}
}

static void attached_between_three_descriptors(void **state)
{
	char expected[512], got[512] = "";
	struct child child;
	int in[2], out[2], err[2];

	(void)state;
	assert_int_equal(pipe(in) | pipe(out) | pipe(err), 0);
	close(in[1]);
	docker_attach(&child, &docker, SUBJECT, in[0], out[1], err[1]);
	assert_int_equal(child_wait(&child, 1, -1, 0, child_now() + 20000), CHILD_DONE);
	assert_int_equal(child.status, 0);
	assert_int_equal(child.out, -1);
	assert_true(child.err >= 0); /* the caller's to fill */
	assert_int_equal(child_length(child.err), 0);
	child_finish(&child);
	assert_true(read(out[0], got, sizeof(got) - 1) > 0);
	snprintf(expected, sizeof(expected), "%s--\n" OUR_ENVIRONMENT "--\n", words[DOCKER_START]);
	assert_string_equal(got, expected);
	memset(got, 0, sizeof(got));
	assert_int_equal(read(err[0], got, sizeof(got)), strlen(NO_OTHERS));
	assert_string_equal(got, NO_OTHERS);
	close(err[1]);
	assert_int_equal(read(err[0], got, sizeof(got)), 0); /* it was the only other end */
	for (int i = 0; i < 2; i++)
		close(out[i]);
	close(in[0]);
	close(err[0]);
}

/* Three are copied out of the way (child.c), and no fourth. */
static void needs_few_descriptors(void **state)
{
	static const char *const argv[] = {"docker", NULL};
	struct rlimit old, small;
	struct child child;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	small = (struct rlimit){2 * CHILD_FDS + 3, old.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &small), 0);
	docker_create(&child, &docker, argv);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
	assert_string_equal(finished(&child), "docker\n--\n" OUR_ENVIRONMENT "--\n");
}

static void environment_is_of_the_state_directory(void **state)
{
	struct docker made = {.endpoint = ENDPOINT};

	(void)state;
	docker_environment(&made, "/var/lib/x", STATE_ID);
	assert_string_equal(made.home, "HOME=/var/lib/x/docker");
	assert_string_equal(made.config, "DOCKER_CONFIG=/var/lib/x/docker");
	assert_string_equal(made.state, "label=dev.cofferdam.state=" STATE_ID);
	assert_string_equal(made.endpoint, ENDPOINT);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(formats_are_those_that_policy_reads),
		cmocka_unit_test(every_command_is_as_designed),
		cmocka_unit_test(subjects_are_one_word),
		cmocka_unit_test(context_sees_the_users_choice),
		cmocka_unit_test(create_is_as_frozen),
		cmocka_unit_test(descriptors_are_handed_on),
		cmocka_unit_test(attached_between_three_descriptors),
		cmocka_unit_test(needs_few_descriptors),
		cmocka_unit_test(environment_is_of_the_state_directory),
	};

	if (argc > 0 && strcmp(argv[0], "docker") == 0)
		return show(argv);
	return cmocka_run_group_tests(tests, set_up, NULL);
}

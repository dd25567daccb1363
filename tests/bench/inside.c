/* SPDX-License-Identifier: ISC */

/*
 * What policy.py cannot measure from outside.
 *
 *   inside turn|model-input|json FILE MILLISECONDS
 *       one filter's work on a file's bytes again and again, in this process:
 *       nanoseconds a call, wall and CPU
 *   inside spawn IN OUT PLAN ARGV...
 *       one run of a program with IN, OUT and PLAN as its descriptors 0, 1 and
 *       3 (PLAN may be -): status, wall, user and system nanoseconds, peak
 *       memory in KiB.  From a small process, because wait4(2)'s ru_maxrss of
 *       a child counts what its parent held when the child was spawned.
 *   inside plan
 *       the LAUNCH frame of a launch with two mounts, for admit
 */

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../ipc/frame_policy.h"
#include "../../policy/json.h"
#include "../../policy/model_input.h"
#include "../../policy/report.h"
#include "../../policy/turn.h"

#define DOCUMENT_MAX 2097152
#define OUTPUT_MAX (3 * DOCUMENT_MAX)
#define BATCH_BYTES 65536 /* of documents, between two looks at the clock */
#define PLAN_FD 3

extern char **environ;

static char input[DOCUMENT_MAX + 1];
static char output[OUTPUT_MAX];
static char dropped[DOCUMENT_MAX];
static struct report report;

__attribute__((noreturn)) static void fail(const char *what)
{
	fprintf(stderr, "inside: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void write_turn(const struct json *doc, struct text *out)
{
	struct text unknown;

	text_init(&unknown, dropped, sizeof(dropped));
	turn_write(doc, out, &unknown, &report);
}

static void write_model_input(const struct json *doc, struct text *out)
{
	model_input_write(doc, out, &report);
}

static void write_json(const struct json *doc, struct text *out)
{
	json_write(doc, 0, out);
}

typedef void writer(const struct json *doc, struct text *out);

static const struct {
	const char *name;
	writer *write;
} works[] = {
	{"turn", write_turn},
	{"model-input", write_model_input},
	{"json", write_json},
};

#define WORKS (sizeof(works) / sizeof(works[0]))

/* What `cofferdam-policy` does between its reading and its writing. */
static void call(writer *write, size_t len)
{
	const struct json_limits limits = {DOCUMENT_MAX, JSON_POOL, true};
	struct json_error error;
	struct json doc;
	struct text out;

	report_init(&report, CODE_TURN, 65);
	text_init(&out, output, sizeof(output));
	if (!json_parse(&doc, input, len, &limits, &error))
		fail(reason_name(error.reason));
	write(&doc, &out);
	json_drop(&doc);
	if (!report_empty(&report) || out.full || out.len == 0)
		fail("the document was refused");
}

static double now(clockid_t clock)
{
	struct timespec time;

	if (clock_gettime(clock, &time) != 0)
		fail("clock");
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static unsigned long repeat(writer *write, size_t len, double nanoseconds)
{
	double end = now(CLOCK_MONOTONIC) + nanoseconds;
	unsigned long batch = 1 + BATCH_BYTES / len;
	unsigned long calls = 0;

	do {
		for (unsigned long i = 0; i < batch; i++)
			call(write, len);
		calls += batch;
	} while (now(CLOCK_MONOTONIC) < end);
	return calls;
}

static void measure(writer *write, const char *path, double nanoseconds)
{
	FILE *file = fopen(path, "rb");
	size_t len = file != NULL ? fread(input, 1, sizeof(input), file) : 0;
	double wall, cpu;
	unsigned long calls;

	if (file == NULL || len == 0 || len > DOCUMENT_MAX)
		fail(path);
	(void)fclose(file);
	(void)repeat(write, len, nanoseconds / 2);
	wall = now(CLOCK_MONOTONIC);
	cpu = now(CLOCK_PROCESS_CPUTIME_ID);
	calls = repeat(write, len, nanoseconds);
	cpu = now(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	wall = now(CLOCK_MONOTONIC) - wall;
	printf("%.1f %.1f\n", wall / (double)calls, cpu / (double)calls);
}

static double nanoseconds_of(struct timeval time)
{
	return (double)time.tv_sec * 1e9 + (double)time.tv_usec * 1e3;
}

static void add_file(posix_spawn_file_actions_t *actions, int fd, const char *path, int flags)
{
	if (posix_spawn_file_actions_addopen(actions, fd, path, flags, 0600) != 0)
		fail(path);
}

static void spawn(const char *in, const char *out, const char *plan, char **argv)
{
	posix_spawn_file_actions_t actions;
	struct rusage usage;
	double start, end;
	pid_t pid;
	int status;

	if (posix_spawn_file_actions_init(&actions) != 0)
		fail("spawn");
	add_file(&actions, STDIN_FILENO, in, O_RDONLY);
	add_file(&actions, STDOUT_FILENO, out, O_WRONLY | O_CREAT | O_TRUNC);
	if (strcmp(plan, "-") != 0)
		add_file(&actions, PLAN_FD, plan, O_RDONLY);
	start = now(CLOCK_MONOTONIC);
	errno = posix_spawn(&pid, argv[0], &actions, NULL, argv, environ);
	if (errno != 0 || wait4(pid, &status, 0, &usage) != pid)
		fail(argv[0]);
	end = now(CLOCK_MONOTONIC);
	printf("%d %.0f %.0f %.0f %ld\n", WIFEXITED(status) ? WEXITSTATUS(status) : 255,
	       end - start, nanoseconds_of(usage.ru_utime), nanoseconds_of(usage.ru_stime),
	       usage.ru_maxrss);
}

static void write_plan(void)
{
	static const struct launch launch = {
		.uid = 1000,
		.gid = 1000,
		.state_id = "0123456789abcdef0123456789abcdef",
		.name = "cofferdam-bench",
		.endpoint = "unix:///run/docker.sock",
		.session = "",
		.image_id = "sha256:0123456789abcdef0123456789abcdef"
		            "0123456789abcdef0123456789abcdef",
		.workdir = "/",
		.entrypoint = "/worker",
		.roots_label = "[]",
		.root_count = 2,
		.root = {{"/srv/bench/broker", "/broker", true, false, 1, 1},
		         {"/srv/bench/workspace", "/workspace", false, false, 1, 2}},
	};
	static uint8_t frame[FRAME_MAX];
	size_t len = frame_put_launch(frame, sizeof(frame), &launch);

	if (len == 0 || fwrite(frame, 1, len, stdout) != len)
		fail("plan");
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "plan") == 0) {
		write_plan();
		return 0;
	}
	if (argc > 5 && strcmp(argv[1], "spawn") == 0) {
		spawn(argv[2], argv[3], argv[4], argv + 5);
		return 0;
	}
	for (size_t i = 0; argc == 4 && i < WORKS; i++) {
		if (strcmp(argv[1], works[i].name) == 0) {
			measure(works[i].write, argv[2], strtod(argv[3], NULL) * 1e6);
			return 0;
		}
	}
	fprintf(stderr, "usage: inside turn|model-input|json FILE MILLISECONDS\n"
	                "       inside spawn IN OUT PLAN ARGV...\n"
	                "       inside plan\n");
	return 64;
}

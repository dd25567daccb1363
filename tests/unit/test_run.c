/* SPDX-License-Identifier: ISC */
#undef _FORTIFY_SOURCE /* it would define open(2) and poll(2) itself */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../executor/run.h"
#include "pass_on.h"

/*
 * What goes on record, and the small things that the actions of a launch share.
 * child.h and audit.h are told what to say here, and so are the library's calls
 * on descriptors; what was said, the gate and the order of failures are real.
 */

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))
#define NONCE "00112233445566778899aabbccddeeff"
#define HOST "unix:///run/e.sock"
#define NOW 5000000000 /* milliseconds: more than 32 bits hold */

static struct run run;
static struct options options;

static int set_up(void **state)
{
	(void)state;
	memset(&run, 0, sizeof(run));
	memset(&options, 0, sizeof(options));
	options.status_fd = -1;
	run.options = &options;
	run.action = A_CHECK;
	run.id = "0123";
	strcpy(run.nonce_hex, NONCE);
	strcpy(run.docker.endpoint, HOST);
	say_clear();
	return 0;
}

static const char *said(void)
{
	size_t len;

	return say_text(&len);
}

/* ---- child.h ---- */

static int signal_came;

int child_signal(void)
{
	return signal_came;
}

int64_t child_now(void)
{
	return NOW;
}

/* What the child with this descriptor wrote. */
static struct {
	int fd;
	const char *text;
	size_t len;
	unsigned reads;
} wrote;

size_t child_length(int memfd)
{
	assert_int_equal(memfd, wrote.fd);
	return wrote.len;
}

size_t child_read(int memfd, char *to, size_t cap)
{
	size_t len = wrote.len < cap - 1 ? wrote.len : cap - 1;

	assert_int_equal(memfd, wrote.fd);
	assert_int_equal(cap, SAY_CHILD);
	memcpy(to, wrote.text, len);
	to[len] = '\0';
	wrote.reads++;
	return len;
}

static struct {
	struct child *child;
	struct child_plan plan;
	char words[128]; /* of argv, a blank behind each, and of env */
} started;

void child_start(struct child *child, const struct child_plan *plan)
{
	started.child = child;
	started.plan = *plan;
	started.words[0] = '\0';
	for (size_t i = 0; plan->argv[i] != NULL; i++)
		strcat(strcat(started.words, plan->argv[i]), " ");
	strcat(started.words, "/ ");
	for (size_t i = 0; plan->env[i] != NULL; i++)
		strcat(strcat(started.words, plan->env[i]), " ");
}

static struct {
	unsigned times;
	int fd;
	char bytes[256];
	size_t len;
	int64_t deadline;
	bool good;
} put;

bool child_put(int fd, const char *bytes, size_t len, int64_t deadline)
{
	assert_true(len <= sizeof(put.bytes));
	memcpy(put.bytes, bytes, len);
	put.times++;
	put.fd = fd;
	put.len = len;
	put.deadline = deadline;
	return put.good;
}

/* ---- audit.h ---- */

static struct {
	bool good;
	unsigned times;
	struct audit *audit;
	enum audit_event event;
	const char *run, *container;
	int code;
	bool oom;
} event;

bool audit_say(struct audit *audit, enum audit_event what, const char *nonce,
               const char *container, int code, bool oom)
{
	event.times++;
	event.audit = audit;
	event.event = what;
	event.run = nonce;
	event.container = container;
	event.code = code;
	event.oom = oom;
	errno = ENOSPC;
	return event.good;
}

/* ---- the library's ---- */

/* A directory of the host's, by its path. */
static struct host {
	const char *path;
	int fd; /* that open gives; -1: it fails */
	bool stats;
	uint64_t dev, ino;
} host[ROOTS_MAX];

static bool faked; /* these are a test's own calls otherwise */
static char calls[4096]; /* of open and close, in order */

static void note(const char *word, int fd)
{
	const size_t len = strlen(calls);

	snprintf(calls + len, sizeof(calls) - len, "%s %d ", word, fd);
}

int open(const char *path, int flags, ...)
{
	PASS_ON(open);

	if (!faked)
		return passed_on(path, flags, 0600);
	assert_int_equal(flags, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	for (size_t i = 0; i < ROOTS_MAX; i++) {
		if (host[i].path != NULL && strcmp(host[i].path, path) == 0) {
			note("open", host[i].fd);
			return host[i].fd;
		}
	}
	fail_msg("%s", path);
	return -1;
}

int fstat(int fd, struct stat *st)
{
	PASS_ON(fstat);

	if (!faked)
		return passed_on(fd, st);
	for (size_t i = 0; i < ROOTS_MAX; i++) {
		if (host[i].path != NULL && host[i].fd == fd) {
			st->st_dev = host[i].dev;
			st->st_ino = host[i].ino;
			return host[i].stats ? 0 : -1;
		}
	}
	fail_msg("%d", fd);
	return -1;
}

int close(int fd)
{
	PASS_ON(close);

	if (!faked)
		return passed_on(fd);
	note("close", fd);
	return 0;
}

/* Nobody waits for the other end. */
int poll(struct pollfd *fds, nfds_t count, int timeout)
{
	PASS_ON(poll);

	assert_int_equal(count, 1);
	assert_int_equal(timeout, 0);
	return passed_on(fds, count, 0);
}

/* ---- on record ---- */

static void records_the_gravest(void **state)
{
	static const struct {
		int had, comes, status; /* status: afterwards */
	} rows[] = {
		{0, 77, 77}, {0, 1, 1}, {0, 143, 143}, {0, 80, 80}, {0, 255, 255},
		{77, 69, 77}, {69, 77, 69}, {77, 77, 77}, {77, 143, 143}, {77, 124, 124},
		{77, 70, 70}, {77, 80, 80}, {143, 77, 143}, {143, 130, 143}, {143, 124, 124},
		{124, 143, 124}, {124, 124, 124}, {124, 70, 70}, {70, 124, 70}, {70, 70, 70},
		{70, 80, 80}, {80, 70, 80}, {80, 80, 80},
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		const bool replaced = rows[i].had != rows[i].status;

		set_up(state);
		run.status = rows[i].had;
		run.phase = A_DECIDE;
		strcpy(run.code, "BEFORE");
		strcpy(run.reason, "was.before");
		run_record(&run, rows[i].comes, "AFTER", "came.after");
		assert_int_equal(run.status, rows[i].status);
		assert_int_equal(run.phase, replaced ? A_CHECK : A_DECIDE);
		assert_string_equal(run.code, replaced ? "AFTER" : "BEFORE");
		assert_string_equal(run.reason, replaced ? "came.after" : "was.before");
		assert_string_equal(said(), ""); /* that is for others */
	}
}

#define WORD_31 "ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcd"

static void records_words_in_bounds(void **state)
{
	static const struct {
		const char *given, *kept;
	} rows[] = {
		{"", ""},
		{WORD_31, WORD_31},
		{WORD_31 "e", WORD_31},
		{WORD_31 "efghijklmnopqrstuvwxyz", WORD_31},
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		set_up(state);
		run_record(&run, 77, rows[i].given, "x");
		assert_string_equal(run.code, rows[i].kept);
		assert_string_equal(run.reason, "x");
		set_up(state);
		run_record(&run, 77, "x", rows[i].given);
		assert_string_equal(run.code, "x");
		assert_string_equal(run.reason, rows[i].kept);
		assert_int_equal(run.phase, A_CHECK);
	}
}

/* What is said and recorded of each failure is its row's; only a signal adds to it. */
static void fails_for_every_reason(void **state)
{
	static char plain[1024], json[1024];

	signal_came = 15;
	for (int why = WHY_NONE + 1; why < WHY_COUNT; why++) {
		const struct say_row *row = say_row((enum executor_reason)why);

		snprintf(plain, sizeof(plain), "cofferdam: %s %s: %s: the third of 3; %s\n",
		         row->code, row->reason, row->sentence, row->hint);
		snprintf(json, sizeof(json),
		         "{\"code\":\"%s\",\"reason\":\"%s\",\"detail\":\"the third of 3\","
		         "\"sentence\":\"%s\",\"hint\":\"%s\"}\n",
		         row->code, row->reason, row->sentence, row->hint);
		for (int is_json = 0; is_json < 2; is_json++) {
			set_up(state);
			options.value[OPTION_JSON] = is_json ? "" : NULL;
			assert_int_equal(run_fail(&run, (enum executor_reason)why, "the %s of %d",
			                          "third", 3), E_FAIL);
			assert_string_equal(said(), is_json ? json : plain);
			assert_int_equal(run.status, row->status + (why == WHY_SIGNALLED ? 15 : 0));
			assert_string_equal(run.code, row->code);
			assert_string_equal(run.reason, row->reason);
			assert_int_equal(run.phase, A_CHECK);
		}
	}
	signal_came = 0;
}

/* The line that is said of a reason with a detail, in the row's own words. */
static void assert_said(enum executor_reason why, const char *detail)
{
	static char line[2 * SAY_CHILD];
	const struct say_row *row = say_row(why);

	snprintf(line, sizeof(line), "cofferdam: %s %s: %s: %s; %s\n", row->code, row->reason,
	         row->sentence, detail, row->hint);
	assert_string_equal(said(), line);
	assert_string_equal(run.code, row->code);
	assert_string_equal(run.reason, row->reason);
}

static void fails_with_errno(void **state)
{
	(void)state;
	errno = EACCES;
	assert_int_equal(run_fail_errno(&run, WHY_TURN_OPEN, "the turn"), E_FAIL);
	assert_said(WHY_TURN_OPEN, "the turn: Permission denied");
	assert_int_equal(run.status, 66);
}

static void fails_with_what_a_child_wrote(void **state)
{
	static char much[SAY_CHILD + 1], shown[SAY_CHILD];
	const struct child child = {.out = 7, .err = 8};
	const struct {
		const char *text, *detail;
	} rows[] = {
		{"Error: no\nsuch thing\n", "docker ls: Error: no such thing"},
		{"x", "docker ls: x"},
		{"", "docker ls"},
		{much, shown},
	};

	memset(much, 'a', sizeof(much) - 1);
	memset(shown, 'a', SAY_CHILD - 4); /* less the room for one \xNN (say.h) */
	memcpy(shown, "docker ls: ", 11);
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		set_up(state);
		wrote.fd = 8;
		wrote.text = rows[i].text;
		wrote.len = strlen(rows[i].text);
		assert_int_equal(run_fail_child(&run, WHY_DOCKER_FAILED, &child, "docker ls"),
		                 E_FAIL);
		assert_said(WHY_DOCKER_FAILED, rows[i].detail);
		assert_int_equal(run.status, 69);
	}
}

static void logs_events(void **state)
{
	static const struct {
		enum audit_event what;
		bool oom, good, optional;
		enum life_event result;
		bool says_oom;
	} rows[] = {
		{AUDIT_LAUNCH, false, true, false, E_OK, false},
		{AUDIT_LAUNCH, true, true, false, E_OK, false},
		{AUDIT_EXIT, false, true, false, E_OK, false},
		{AUDIT_EXIT, true, true, false, E_OK, true},
		{AUDIT_REMOVED, true, true, true, E_OK, false},
		{AUDIT_RESIDUAL, true, true, true, E_OK, false},
		{AUDIT_REAPED, true, true, true, E_OK, false},
		{AUDIT_EXIT, true, false, true, E_OK, true},
		{AUDIT_EXIT, false, false, false, E_FAIL, false},
		{AUDIT_LAUNCH, false, false, true, E_OK, false},
		{AUDIT_LAUNCH, false, false, false, E_FAIL, false},
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		set_up(state);
		run.oom = rows[i].oom;
		run.order.audit_optional = rows[i].optional;
		event.times = 0;
		event.good = rows[i].good;
		assert_int_equal(run_log(&run, rows[i].what, 137), rows[i].result);
		assert_int_equal(event.times, 1);
		assert_ptr_equal(event.audit, &run.events);
		assert_int_equal(event.event, rows[i].what);
		assert_ptr_equal(event.run, run.nonce_hex);
		assert_ptr_equal(event.container, run.id);
		assert_int_equal(event.code, 137);
		assert_int_equal(event.oom, rows[i].says_oom);
		if (rows[i].result == E_FAIL)
			assert_said(WHY_AUDIT_EVENT, "writing: No space left on device");
		else
			assert_string_equal(said(), "");
		assert_int_equal(run.status, rows[i].result == E_FAIL ? 77 : 0);
	}
}

static void records_a_signal(void **state)
{
	static const int signals[] = {1, 2, 3, 15};
	char detail[16];

	for (size_t i = 0; i < COUNT_OF(signals); i++) {
		set_up(state);
		signal_came = signals[i];
		assert_int_equal(run_signalled(&run), E_FAIL);
		assert_int_equal(run.status, 128 + signals[i]);
		snprintf(detail, sizeof(detail), "signal %d", signals[i]);
		assert_said(WHY_SIGNALLED, detail);
	}
	signal_came = 0;
}

static void records_why_a_wait_was_cut_short(void **state)
{
	static const struct {
		enum child_wait wait;
		enum executor_reason late, why;
		const char *detail;
		int status;
	} rows[] = {
		{CHILD_DONE, WHY_DOCKER_DEADLINE, WHY_NONE, NULL, 0},
		{CHILD_FAILED, WHY_DOCKER_DEADLINE, WHY_NONE, NULL, 0},
		{CHILD_READY, WHY_DOCKER_DEADLINE, WHY_NONE, NULL, 0},
		{CHILD_SIGNAL, WHY_DOCKER_DEADLINE, WHY_SIGNALLED, "signal 15", 143},
		{CHILD_DEADLINE, WHY_DOCKER_DEADLINE, WHY_DOCKER_DEADLINE,
		 "docker ls, 30 seconds, " HOST, 69},
		{CHILD_DEADLINE, WHY_POLICY_DEADLINE, WHY_POLICY_DEADLINE,
		 "docker ls, 30 seconds", 124},
		{CHILD_DEADLINE, WHY_TURN_DEADLINE, WHY_TURN_DEADLINE, "docker ls, 30 seconds",
		 124},
	};

	signal_came = 15;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		const bool stopped = rows[i].detail != NULL;

		set_up(state);
		assert_int_equal(run_stopped(&run, rows[i].wait, rows[i].late, "docker ls", 30),
		                 stopped);
		assert_int_equal(run.status, rows[i].status);
		if (stopped)
			assert_said(rows[i].why, rows[i].detail);
		else
			assert_string_equal(said(), "");
	}
	signal_came = 0;
}

/* ---- policy's processes ---- */

#define REFUSAL "cofferdam: SANDBOX_TURN turn.size: too large; send less\n"
#define REFUSAL_JSON "{\"code\":\"SANDBOX_TURN\",\"reason\":\"turn.size\",\"detail\":\"\"}\n"
#define ENDED(status, text) (status), (text), sizeof(text) - 1

/* It is believed when the status is one of those that refuse, and the words are there. */
static void judges_a_policy_process(void **state)
{
	static const struct {
		int status;
		const char *text;
		size_t len;
		const char *said, *broke; /* what is said, or the detail of policy.crashed */
	} rows[] = {
		{ENDED(0, ""), "", NULL},
		{ENDED(0, REFUSAL), "", NULL},
		{ENDED(65, REFUSAL), REFUSAL, NULL},
		{ENDED(77, REFUSAL_JSON), REFUSAL_JSON, NULL},
		{ENDED(78, REFUSAL "and more\n"), REFUSAL "and more\n", NULL},
		{ENDED(66, "cofferdam: A b\0\n"), "cofferdam: A b\\x00\n", NULL},
		{ENDED(65, ""), NULL, "exit status 65 "},
		{ENDED(77, "killed\n"), NULL, "exit status 77 killed"},
		{ENDED(64, REFUSAL), NULL,
		 "exit status 64 cofferdam: SANDBOX_TURN turn.size: too large; send less"},
		{ENDED(1, "x"), NULL, "exit status 1 x"},
		{ENDED(80, "x"), NULL, "exit status 80 x"},
		{ENDED(CHILD_LOST, ""), NULL, "exit status -1 "},
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		const struct child child = {.status = rows[i].status, .out = 7, .err = 8};
		const bool good = rows[i].status == 0, broke = rows[i].broke != NULL;

		set_up(state);
		wrote.fd = 8;
		wrote.text = rows[i].text;
		wrote.len = rows[i].len;
		wrote.reads = 0;
		assert_int_equal(run_judged(&run, &child), good ? E_OK : E_FAIL);
		assert_int_equal(wrote.reads, !good);
		assert_int_equal(run.status, broke ? 70 : rows[i].status);
		assert_int_equal(run.phase, good ? A_SET_UP : A_CHECK);
		if (broke)
			assert_said(WHY_POLICY_CRASHED, rows[i].broke);
		else
			assert_string_equal(said(), rows[i].said);
	}
}

static void records_what_policy_says(void **state)
{
	const struct child child = {.status = 65, .out = 7, .err = 8};

	(void)state;
	wrote.fd = 8;
	wrote.text = "cofferdam: THE_CODE the.reason: x\n";
	wrote.len = strlen(wrote.text);
	assert_int_equal(run_judged(&run, &child), E_FAIL);
	assert_int_equal(run.status, 65);
	assert_string_equal(run.code, "THE_CODE");
	assert_string_equal(run.reason, "the.reason");
	wrote.text = "cofferdam: OTHER other: x\n"; /* of equals the first; both are said */
	wrote.len = strlen(wrote.text);
	assert_int_equal(run_judged(&run, &child), E_FAIL);
	assert_string_equal(run.code, "THE_CODE");
	assert_string_equal(said(),
	                    "cofferdam: THE_CODE the.reason: x\ncofferdam: OTHER other: x\n");
}

/* A file of these bytes, which the child has written and stands behind. */
static void takes_line(const char *bytes, size_t len, size_t length, bool good)
{
	const struct child child = {.out = memfd_create("line", MFD_CLOEXEC), .err = -1};
	char detail[64];

	assert_true(child.out >= 0);
	assert_int_equal(write(child.out, bytes, len), (ssize_t)len);
	wrote.fd = child.out;
	wrote.len = length;
	run.line_bytes = 77; /* of an earlier one */
	assert_int_equal(run_take_line(&run, &child), good);
	assert_int_equal(run.line_bytes, good ? len : 0);
	snprintf(detail, sizeof(detail), "%zu bytes that are not a line of text", length);
	if (good) {
		assert_memory_equal(run.line, bytes, len);
		assert_string_equal(said(), "");
		assert_int_equal(run.status, 0);
	} else {
		assert_said(WHY_POLICY_PROTOCOL, detail);
		assert_int_equal(run.status, 70);
	}
	assert_int_equal(lseek(child.out, 0, SEEK_CUR), (off_t)len); /* it is still the child's */
	close(child.out);
}

static void takes_one_line(void **state)
{
	static const struct {
		const char *text;
		bool good;
	} rows[] = {
		{"{}\n", true},
		{"{\n", true}, /* nobody reads it here */
		{"{\"a\":\"\xc3\xa9\x7f \"}\n", true},
		{"", false},
		{"\n", false},
		{"{", false},
		{"{}", false},
		{"[]\n", false},
		{" {}\n", false},
		{"}{\n", false},
		{"{}\n\n", false},
		{"{}\n{}\n", false},
		{"{}\n ", false},
		{"{\n}", false},
		{"{}\r\n", false},
		{"{\t}\n", false},
		{"{\x1b[2J}\n", false},
		{"{\x1f}\n", false},
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		set_up(state);
		takes_line(rows[i].text, strlen(rows[i].text), strlen(rows[i].text), rows[i].good);
	}
	set_up(state);
	takes_line("{\0}\n", 4, 4, false);
	set_up(state);
	takes_line("{}\n", 3, 4, false); /* it became shorter: run.line has a 0 there */
	set_up(state);
	strcpy(run.line, "{}\n"); /* an earlier one is no part of it */
	takes_line("{}", 2, 3, false);
}

static void takes_what_fits(void **state)
{
	static char bytes[CHILD_OUT_MAX + 1];
	const struct child lost = {.out = -1, .err = -1};

	memset(bytes, 'a', sizeof(bytes));
	bytes[0] = '{';
	bytes[sizeof(bytes) - 2] = '\n';
	takes_line(bytes, sizeof(bytes) - 1, sizeof(bytes) - 1, true);
	bytes[sizeof(bytes) - 2] = 'a';
	bytes[sizeof(bytes) - 1] = '\n';
	set_up(state);
	takes_line(bytes, sizeof(bytes), sizeof(bytes), false);
	assert_int_equal(run.line[0], 0); /* it was not even read */
	set_up(state);
	strcpy(run.line, "{}\n"); /* what cannot be read is not an earlier one */
	wrote.fd = -1;
	wrote.len = 3;
	assert_false(run_take_line(&run, &lost));
	assert_said(WHY_POLICY_PROTOCOL, "3 bytes that are not a line of text");
}

static void starts_policy(void **state)
{
	static const int fd[CHILD_FDS] = {20, -1, -1, 23, 24, 25, 26, 27, 28};
	static const struct {
		enum life_action action;
		const char *json;
		int count;
		const char *words;
	} rows[] = {
		{A_CHECK, NULL, 4, "cofferdam-policy verify / LC_ALL=C "},
		{A_CHECK, "", 4, "cofferdam-policy verify --json / LC_ALL=C "},
		{A_DECIDE, NULL, CHILD_FDS, "cofferdam-policy verify / LC_ALL=C "},
		{A_READ_TURN, NULL, 3, "cofferdam-policy verify --max-bytes=2097152 / LC_ALL=C "},
		{A_READ_TURN, "", 3,
		 "cofferdam-policy verify --max-bytes=2097152 --json / LC_ALL=C "},
	};
	struct child child;

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		set_up(state);
		run.action = rows[i].action;
		run.policy = 40;
		options.value[OPTION_JSON] = rows[i].json;
		memset(&started, 0, sizeof(started));
		run_policy(&run, &child, "verify", rows[i].count, fd);
		assert_ptr_equal(started.child, &child);
		assert_string_equal(started.plan.path, "");
		assert_int_equal(started.plan.program, 40);
		assert_string_equal(started.words, rows[i].words);
		assert_int_equal(started.plan.count, rows[i].count);
		for (int k = 0; k < CHILD_FDS; k++)
			assert_int_equal(started.plan.fd[k], k < rows[i].count ? fd[k] : 0);
	}
}

static void knows_the_time_ahead(void **state)
{
	(void)state;
	assert_true(run_after(0) == NOW);
	assert_true(run_after(1) == NOW + 1000);
	assert_true(run_after(600) == NOW + 600000);
	assert_true(run_after(UINT32_MAX) == NOW + 4294967295000);
}

/* ---- descriptors ---- */

enum ends { READS, WRITES };

/* A pipe: what our end of it tells of the other. */
static void sees_the_far_end(void **state)
{
	static const struct {
		enum ends own;
		bool data, closed, is;
	} rows[] = {
		{READS, false, false, false},
		{READS, true, false, false},
		{READS, false, true, true},
		{READS, true, true, true},
		{WRITES, false, false, false},
		{WRITES, true, false, false},
		{WRITES, false, true, true},
		{WRITES, true, true, true},
	};
	int fd[2], own;

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		assert_int_equal(pipe2(fd, O_CLOEXEC), 0);
		own = fd[rows[i].own];
		if (rows[i].data)
			assert_int_equal(write(fd[1], "x", 1), 1);
		if (rows[i].closed)
			close(fd[1 - rows[i].own]);
		assert_int_equal(run_far_end_closed(own), rows[i].is);
		if (!rows[i].closed)
			close(fd[1 - rows[i].own]);
		close(own);
		assert_false(run_far_end_closed(own)); /* none: nothing is known of it */
	}
	assert_false(run_far_end_closed(-1));
}

static void closes_those_that_there_are(void **state)
{
	static const struct {
		int fd[4];
		size_t count;
		const char *calls;
	} rows[] = {
		{{5, 6, 7, 8}, 0, ""},
		{{5, 6, 7, 8}, 1, "close 5 "},
		{{5, 6, 7, 8}, 3, "close 5 close 6 close 7 "},
		{{-1, 6, -1, 8}, 4, "close 6 close 8 "},
		{{0, 1, -1, -1}, 4, "close 0 close 1 "},
		{{-1, -1, -1, 8}, 3, ""},
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		int fd[4];

		memcpy(fd, rows[i].fd, sizeof(fd));
		calls[0] = '\0';
		faked = true;
		run_close(fd, rows[i].count);
		faked = false;
		assert_string_equal(calls, rows[i].calls);
		for (size_t k = 0; k < 4; k++)
			assert_int_equal(fd[k], k < rows[i].count ? -1 : rows[i].fd[k]);
	}
}

/* The host's directories and what policy has seen of them: the same, numbered from
 * here on. */
static void make_roots(uint16_t count)
{
	static char path[ROOTS_MAX][8];

	memset(host, 0, sizeof(host));
	for (unsigned i = 0; i < count; i++) {
		snprintf(path[i], sizeof(path[i]), "/%u", i);
		host[i] = (struct host){path[i], (int)i, true, UINT64_MAX - i, UINT64_MAX - i};
		run.gate.mount[i].source = (struct span){path[i], strlen(path[i])};
		run.order.root[i] = (struct identity){UINT64_MAX - i, UINT64_MAX - i};
	}
	run.order.root_count = count;
}

static bool same_roots(void)
{
	bool same;

	calls[0] = '\0';
	faked = true;
	same = run_same_roots(&run);
	faked = false;
	return same;
}

static void knows_the_roots_again(void **state)
{
	static const struct {
		uint16_t count;
		const char *calls;
	} rows[] = {
		{0, ""},
		{1, "open 0 close 0 "},
		{3, "open 0 close 0 open 1 close 1 open 2 close 2 "},
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		set_up(state);
		make_roots(rows[i].count);
		assert_true(same_roots());
		assert_string_equal(calls, rows[i].calls);
	}
	make_roots(ROOTS_MAX);
	assert_true(same_roots());
	host[ROOTS_MAX - 1].ino--;
	assert_false(same_roots());
}

/* Whichever of them it is, and in whichever way; the others are looked at all the same. */
static void notices_a_root_that_changed(void **state)
{
	static const struct {
		bool opens, stats;
		uint64_t dev, ino; /* bits that differ */
	} rows[] = {
		{false, true, 0, 0},
		{true, false, 0, 0},
		{true, true, 1, 0},
		{true, true, 0, 1},
		{true, true, 1ULL << 63, 0},
		{true, true, 0, 1ULL << 63},
	};
	static const char all[] = "open 0 close 0 open 1 close 1 open 2 close 2 ";
	static const char *const without[] = {
		"open -1 open 1 close 1 open 2 close 2 ",
		"open 0 close 0 open -1 open 2 close 2 ",
		"open 0 close 0 open 1 close 1 open -1 ",
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		for (size_t which = 0; which < COUNT_OF(without); which++) {
			set_up(state);
			make_roots(COUNT_OF(without));
			host[which].fd = rows[i].opens ? host[which].fd : -1;
			host[which].stats = rows[i].stats;
			host[which].dev ^= rows[i].dev;
			host[which].ino ^= rows[i].ino;
			assert_false(same_roots());
			assert_string_equal(calls, rows[i].opens ? all : without[which]);
		}
	}
}

static void reads_the_longest_path(void **state)
{
	static char path[PATH_BYTES_MAX + 1];

	(void)state;
	make_roots(1);
	memset(path, 'a', PATH_BYTES_MAX);
	path[0] = '/';
	host[0].path = path;
	run.gate.mount[0].source = (struct span){path, PATH_BYTES_MAX};
	assert_true(same_roots());
}

/* ---- the caller ---- */

/* With this one the line is as long as there is room for. */
#define PHASE_73 \
	"abcdefghijklmnopqrstuvwxyz0123456789." \
	"abcdefghijklmnopqrstuvwxyz0123456789"

static void tells_a_phase(void **state)
{
	static const struct {
		int fd;
		const char *phase, *line; /* NULL: nothing is written */
		bool good;
	} rows[] = {
		{-1, "running", NULL, true},
		{0, "running", "{\"run\":\"" NONCE "\",\"phase\":\"running\"}\n", true},
		{9, "running", "{\"run\":\"" NONCE "\",\"phase\":\"running\"}\n", false},
		{9, "", "{\"run\":\"" NONCE "\",\"phase\":\"\"}\n", true},
		{9, PHASE_73, "{\"run\":\"" NONCE "\",\"phase\":\"" PHASE_73 "\"}\n", true},
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		set_up(state);
		memset(&put, 0, sizeof(put));
		put.good = rows[i].good;
		options.status_fd = rows[i].fd;
		run_tell(&run, rows[i].phase);
		assert_int_equal(put.times, rows[i].line != NULL);
		assert_string_equal(put.bytes, rows[i].line != NULL ? rows[i].line : "");
		if (rows[i].line != NULL) {
			assert_int_equal(put.fd, rows[i].fd);
			assert_int_equal(put.len, strlen(rows[i].line));
			assert_true(put.deadline == NOW + 5000);
		}
		assert_int_equal(run.status, 0); /* a caller that does not read is no failure */
		assert_string_equal(said(), "");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(records_the_gravest, set_up),
		cmocka_unit_test_setup(records_words_in_bounds, set_up),
		cmocka_unit_test_setup(fails_for_every_reason, set_up),
		cmocka_unit_test_setup(fails_with_errno, set_up),
		cmocka_unit_test_setup(fails_with_what_a_child_wrote, set_up),
		cmocka_unit_test_setup(logs_events, set_up),
		cmocka_unit_test_setup(records_a_signal, set_up),
		cmocka_unit_test_setup(records_why_a_wait_was_cut_short, set_up),
		cmocka_unit_test_setup(judges_a_policy_process, set_up),
		cmocka_unit_test_setup(records_what_policy_says, set_up),
		cmocka_unit_test_setup(takes_one_line, set_up),
		cmocka_unit_test_setup(takes_what_fits, set_up),
		cmocka_unit_test_setup(starts_policy, set_up),
		cmocka_unit_test_setup(knows_the_time_ahead, set_up),
		cmocka_unit_test_setup(sees_the_far_end, set_up),
		cmocka_unit_test_setup(closes_those_that_there_are, set_up),
		cmocka_unit_test_setup(knows_the_roots_again, set_up),
		cmocka_unit_test_setup(notices_a_root_that_changed, set_up),
		cmocka_unit_test_setup(reads_the_longest_path, set_up),
		cmocka_unit_test_setup(tells_a_phase, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

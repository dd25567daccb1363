/* SPDX-License-Identifier: ISC */
#undef _FORTIFY_SOURCE /* it would define some of libc's calls below itself */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../executor/checking.h"
#include "../../executor/worker.h"
#include "pass_on.h"
#include "notes.h"
#include "usual.h"

/*
 * The worker's start and its end, between stand-ins for all that worker.c calls.
 * Each call is noted, with its arguments; a test's row says what the calls answer,
 * and what must have been noted then.
 */

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define STARTED 1000000 /* milliseconds: the time when an action begins */
#define HIGH 32 /* a test's own descriptors are not below this */

static struct run run;
static int64_t now;
static bool watched; /* the calls of libc are the module's */

/* What is answered.  begin() says that all is well. */
static const char *waits; /* the waits for run.child: see attended() */
static const char *const *answers; /* docker's about the container; the last one stays */
static int64_t answer_ms; /* that an answer takes */
static enum child_wait answer_wait; /* what the wait for it gives */
static int answer_status;
static enum removal_look looked;
static const char *fails; /* the call of libc that fails, or "" */
static bool same, logged, well, line_taken, verified; /* what those functions say */
static bool closed; /* the far end is */
static size_t last_words; /* bytes that docker says as it is stopped */

static int link_fd[2][2]; /* of pipe2(2), in its order */
static unsigned links;
static int zero; /* the read end of this pipe becomes descriptor 0; -1: of none */
static int worker_says; /* docker's own descriptor for the worker's standard error */

static const char *name_of(int fd)
{
	static const char *const names[2][2] = {{"r1", "w1"}, {"r2", "w2"}};
	static char number[16];

	for (unsigned i = 0; i < links; i++)
		for (unsigned end = 0; end < 2; end++)
			if (fd == link_fd[i][end])
				return names[i][end];
	if (fd >= HIGH)
		return fd == run.turn ? "turn" : fd == run.worker_err ? "log" : "?";
	snprintf(number, sizeof(number), "%d", fd);
	return number;
}

/* Of a point in time: how long after the start it is. */
static const char *after(int64_t deadline)
{
	static char text[32];

	if (deadline == INT64_MAX)
		return "never";
	snprintf(text, sizeof(text), "%+lld", (long long)(deadline - STARTED));
	return text;
}

static const char *reason(enum executor_reason why)
{
	static const char *const names[] = {
		"NONE",
#define X(name, code, text, status, sentence, hint) #name,
		EXECUTOR_REASONS(X)
#undef X
	};

	return why < COUNT(names) ? names[why] : "?";
}

static int number_of(const struct child *child)
{
	return (int)(child - run.child);
}

/* The stand-ins' own calls of libc are not noted. */
static bool unwatched(void)
{
	const bool was = watched;

	watched = false;
	return was;
}

static int own_memfd(void)
{
	const int low = memfd_create("own", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	const int fd = fcntl(low, F_DUPFD_CLOEXEC, HIGH);

	assert_true(low >= 0 && fd >= HIGH);
	close(low);
	return fd;
}

/* --- calls of libc --- */

static bool failing(const char *call)
{
	if (!watched || strcmp(fails, call) != 0)
		return false;
	errno = EIO;
	return true;
}

int close(int fd)
{
	PASS_ON(close);

	if (watched)
		note("close %s; ", name_of(fd));
	return passed_on(fd);
}

int pipe2(int fd[2], int flags)
{
	static const char *const calls[] = {"pipe2 1", "pipe2 2"};
	PASS_ON(pipe2);

	if (!watched)
		return passed_on(fd, flags);
	assert_true(links < COUNT(calls));
	if (failing(calls[links])) {
		note("no pipe; ");
		return -1;
	}
	note(flags == O_CLOEXEC ? "pipe; " : "pipe of other flags; ");
	assert_int_equal(passed_on(fd, flags), 0);
	if (zero == (int)links) {
		const bool was = unwatched();

		assert_int_equal(dup3(fd[0], STDIN_FILENO, O_CLOEXEC), STDIN_FILENO);
		close(fd[0]);
		fd[0] = STDIN_FILENO;
		watched = was;
	}
	memcpy(link_fd[links++], fd, sizeof(link_fd[0]));
	return 0;
}

off_t lseek(int fd, off_t to, int how)
{
	PASS_ON(lseek);

	if (watched)
		note("seek %s %lld %d; ", name_of(fd), (long long)to, how);
	return failing("lseek") ? -1 : passed_on(fd, to, how);
}

int fcntl(int fd, int what, ...)
{
	va_list more;
	int how;
	PASS_ON(fcntl);

	va_start(more, what);
	how = va_arg(more, int);
	va_end(more);
	if (watched)
		note("%s %s; ", what == F_SETFL && how == O_NONBLOCK ? "nonblock" : "?", name_of(fd));
	return failing("fcntl") ? -1 : passed_on(fd, what, how);
}

int ftruncate(int fd, off_t len)
{
	PASS_ON(ftruncate);

	if (watched)
		note("cut %s %lld; ", name_of(fd), (long long)len);
	return failing("ftruncate") ? -1 : passed_on(fd, len);
}

/* --- child.h --- */

int64_t child_now(void)
{
	return now;
}

static void docker_says(size_t len)
{
	static char bytes[CHILD_PAGE];

	assert_true(len <= sizeof(bytes));
	memset(bytes, 's', sizeof(bytes));
	assert_int_equal(write(worker_says, bytes, len), len);
}

/* 'D': all have ended.  'F': a vital one failed.  'S': a signal.  'T': the deadline has
 * passed; 't': and docker has ended.  'R': docker has said something; 'r': one byte;
 * 'A': as much as the pipe holds; 'E': it will say nothing more. */
static enum child_wait attended(char step, int64_t deadline)
{
	static const struct {
		char step;
		enum child_wait wait;
		size_t bytes;
		bool ends; /* docker does */
	} steps[] = {
		{'D', CHILD_DONE, 0, true},      {'F', CHILD_FAILED, 0, false},
		{'S', CHILD_SIGNAL, 0, false},   {'T', CHILD_DEADLINE, 0, false},
		{'t', CHILD_DEADLINE, 0, true},  {'R', CHILD_READY, 5, false},
		{'r', CHILD_READY, 1, false},    {'A', CHILD_READY, CHILD_PAGE, false},
		{'E', CHILD_READY, 0, false},
	};
	size_t i = 0;

	while (i < COUNT(steps) && steps[i].step != step)
		i++;
	if (i == COUNT(steps))
		fail_msg("one wait too many: %s", notes->text);
	if (steps[i].bytes > 0)
		docker_says(steps[i].bytes);
	if (step == 'E') {
		close(worker_says);
		worker_says = -1;
	}
	if (steps[i].wait == CHILD_DEADLINE)
		now = deadline;
	run.child[0].ended |= steps[i].ends;
	return steps[i].wait;
}

enum child_wait child_wait(struct child *set, size_t count, int fd, short events,
                           int64_t deadline)
{
	const bool was = unwatched();
	enum child_wait wait = answer_wait;

	if (set == run.child) {
		note("wait %zu %s%s until %s; ", count, name_of(fd), events == POLLIN ? "" : " ?",
		     after(deadline));
		wait = attended(*waits, deadline);
		waits++;
	} else {
		note("wait for %zu of %d, %s %d, until %s; ", count, number_of(set), name_of(fd),
		     events, after(deadline));
		now += answer_ms;
	}
	watched = was;
	return wait;
}

size_t child_length(int memfd)
{
	const bool was = unwatched();
	const off_t len = lseek(memfd, 0, SEEK_CUR);

	watched = was;
	return len > 0 ? (size_t)len : 0;
}

size_t child_read(int memfd, char *to, size_t cap)
{
	const size_t len = child_length(memfd);
	ssize_t n = pread(memfd, to, len < cap - 1 ? len : cap - 1, 0);

	n = n > 0 ? n : 0;
	to[n] = '\0';
	return (size_t)n;
}

void child_stop(struct child *child)
{
	const bool was = unwatched();

	note("stop %d; ", number_of(child));
	child->ended = true;
	if (child == run.child && worker_says >= 0) {
		docker_says(last_words);
		close(worker_says);
		worker_says = -1;
	}
	watched = was;
}

void child_finish(struct child *child)
{
	const bool was = unwatched();

	note("finish %d; ", number_of(child));
	close(child->out);
	close(child->err);
	child->out = child->err = -1;
	watched = was;
}

/* --- docker.h, removal.h, checking.h --- */

void docker_start(struct child *child, const struct docker *docker, enum docker_command command,
                  const char *subject, int in, int out)
{
	const bool was = unwatched();

	assert_ptr_equal(docker, &run.docker);
	note("ask %d %s of %s %d %d; ", number_of(child),
	     command == DOCKER_RESULT ? "the result" : "?", subject, in, out);
	*child = (struct child){2, true, true, answer_status, own_memfd(), own_memfd()};
	assert_int_equal(write(child->out, answers[0], strlen(answers[0])), strlen(answers[0]));
	if (answers[1] != NULL)
		answers++;
	watched = was;
}

void docker_attach(struct child *child, const struct docker *docker, const char *id, int in,
                   int out, int err)
{
	const bool was = unwatched();

	assert_ptr_equal(docker, &run.docker);
	note("attach %d %s", number_of(child), id);
	note(" %s", name_of(in));
	note(" %s", name_of(out));
	note(" %s; ", name_of(err));
	*child = (struct child){1, false, true, 0, -1, own_memfd()};
	worker_says = fcntl(err, F_DUPFD_CLOEXEC, HIGH);
	assert_true(worker_says >= 0);
	watched = was;
}

enum removal_look removal_look(struct removal *removal, int64_t deadline)
{
	assert_ptr_equal(removal, &run.removal);
	note("look until %s; ", after(deadline));
	return looked;
}

enum life_event checking_again(struct run *of)
{
	assert_ptr_equal(of, &run);
	note("check again; ");
	run.status = verified ? run.status : 77;
	return verified ? E_OK : E_FAIL;
}

/* --- run.h --- */

enum life_event run_fail(struct run *of, enum executor_reason why, const char *format, ...)
{
	char text[4096];
	va_list words;

	assert_ptr_equal(of, &run);
	va_start(words, format);
	vsnprintf(text, sizeof(text), format, words);
	va_end(words);
	note("%s: %s; ", reason(why), text);
	run.status = 70;
	return E_FAIL;
}

enum life_event run_fail_errno(struct run *of, enum executor_reason why, const char *what)
{
	return run_fail(of, why, "%s: %s", what, errno == EIO ? "EIO" : "another");
}

enum life_event run_fail_child(struct run *of, enum executor_reason why,
                               const struct child *child, const char *what)
{
	assert_true(child->err >= 0); /* it is not finished */
	return run_fail(of, why, "%s, of %d", what, number_of(child));
}

enum life_event run_signalled(struct run *of)
{
	return run_fail(of, WHY_SIGNALLED, "signalled");
}

bool run_stopped(struct run *of, enum child_wait wait, enum executor_reason late,
                 const char *what, unsigned seconds)
{
	if (wait == CHILD_SIGNAL)
		run_fail(of, WHY_SIGNALLED, "%s", what);
	if (wait == CHILD_DEADLINE)
		run_fail(of, late, "%s, %u", what, seconds);
	return wait == CHILD_SIGNAL || wait == CHILD_DEADLINE;
}

enum life_event run_judged(struct run *of, const struct child *child)
{
	assert_ptr_equal(of, &run);
	note("judge %d; ", number_of(child));
	return well ? E_OK : E_FAIL;
}

bool run_take_line(struct run *of, const struct child *child)
{
	assert_ptr_equal(of, &run);
	note("take the line of %d; ", number_of(child));
	return line_taken;
}

enum life_event run_log(struct run *of, enum audit_event what, int code)
{
	assert_ptr_equal(of, &run);
	note("log %s %d; ", what == AUDIT_LAUNCH ? "launch" : what == AUDIT_EXIT ? "exit" : "?",
	     code);
	return logged ? E_OK : E_FAIL;
}

int64_t run_after(unsigned seconds)
{
	return now + (int64_t)seconds * 1000;
}

void run_policy(struct run *of, struct child *child, const char *command, int count,
                const int *fd)
{
	assert_ptr_equal(of, &run);
	note("policy %d %s, %d:", number_of(child), command, count);
	for (int i = 0; i < 3; i++)
		note(" %s", name_of(fd[i]));
	note("; ");
	*child = (struct child){3, false, true, 0, -1, -1};
}

void run_tell(const struct run *of, const char *phase)
{
	assert_ptr_equal(of, &run);
	note("tell %s; ", phase);
}

bool run_far_end_closed(int fd)
{
	note("closed %s?; ", name_of(fd));
	return closed;
}

void run_close(int *fd, size_t count)
{
	if (count != 1)
		note("%zu from ", count);
	if (fd[0] < 0)
		note("close none; ");
	else
		close(fd[0]);
	fd[0] = -1;
}

bool run_same_roots(const struct run *of)
{
	assert_ptr_equal(of, &run);
	note("roots; ");
	return same;
}

/* --- what the tests share --- */

/* All goes well, until a test says otherwise. */
static void begin(bool session)
{
	static const char *const good[] = {"exited false false 0 0\n", NULL};

	memset(&run, 0, sizeof(run));
	run.session = session;
	run.order.control_seconds = 1;
	run.order.turn_seconds = 60;
	run.id = "ID";
	run.hear = run.worker_err = run.turn = -1;
	now = STARTED;
	notes_begin();
	waits = "D";
	answers = good;
	answer_ms = 3;
	answer_wait = CHILD_DONE;
	answer_status = 0;
	looked = REMOVAL_THERE;
	fails = "";
	same = logged = well = line_taken = verified = true;
	closed = false;
	last_words = links = 0;
	worker_says = zero = -1;
}

#define ASK_UNTIL(time) \
	"ask 2 the result of ID -1 -1; wait for 1 of 2, -1 0, until " time "; "

/* --- its end --- */

#define ASK ASK_UNTIL("+1000")
#define ASKED ASK "finish 2; "
#define NEVER_RAN "WORKER_NEVER_RAN: docker container start, of 0; "
#define LEFT(why) why ": docker left while the worker runs, of 0; "
#define LOST "DOCKER_FAILED: docker container start, of 0; "
#define VANISHED(what) ASKED "WORKER_VANISHED: " what " restarts; "
#define TOO_MUCH "WORKER_STDERR: more than 131072 bytes; "
#define EXIT(code) "log exit " code "; "
#define EXITED(code) "WORKER_EXIT: exit status " code
#define OF_REPLY "judge 1; take the line of 1; "
#define GOOD "exited false false 0 0\n"

/* What a row says that is not as begin() has it, or is left behind. */
enum {
	IS_SESSION = 1 << 0,
	REFUSED = 1 << 1,
	CLOSED = 1 << 2, /* nobody reads our standard output */
	UNLIKE = 1 << 3, /* the roots are other directories now */
	UNLOGGED = 1 << 4,
	BAD_REPLY = 1 << 5,
	NO_LINE = 1 << 6,
	DOCKER_LOST = 1 << 7, /* the one that was attached ended with another status than 0 */
	ENDED = 1 << 8, /* expected: the worker did */
	OOM = 1 << 9,
};

struct end {
	const char *name;
	const char *line; /* docker's */
	unsigned how;
	size_t said; /* bytes on the worker's standard error */
	enum life_event event;
	int exit_code; /* that is left behind */
	const char *notes;
};

#define ZEROS_50 "00000000000000000000000000000000000000000000000000"
#define LINE_127 "exited false false " ZEROS_50 ZEROS_50 "00000 0\n"

static const struct end ends[] = {
	{"a turn's good end", GOOD, ENDED, 0, E_OK, 0, ASKED EXIT("0") OF_REPLY "roots; "},
	{"a session's good end", GOOD, IS_SESSION | ENDED, 0, E_OK, 0, ASKED EXIT("0") "roots; "},
	{"as much as may be said", GOOD, ENDED, WORKER_STDERR_MAX, E_OK, 0,
	 ASKED EXIT("0") OF_REPLY "roots; "},
	{"more than that", GOOD, 0, WORKER_STDERR_MAX + 1, E_FAIL, 0, ASKED TOO_MUCH},
	{"more than that, and a failure", "exited false false 3 0\n", 0, WORKER_STDERR_MAX + 1,
	 E_FAIL, 0, ASKED TOO_MUCH},
	{"more than that, and removed", "removing false false 0 1\n", 0, WORKER_STDERR_MAX + 1,
	 E_FAIL, 0, ASKED TOO_MUCH},
	{"more than that in a session", GOOD, IS_SESSION | ENDED, WORKER_STDERR_MAX + 1, E_OK, 0,
	 ASKED EXIT("0") "roots; "},
	{"refused while written", "exited false false 137 0\n", REFUSED | BAD_REPLY,
	 WORKER_STDERR_MAX + 1, E_FAIL, 0, ASKED "judge 1; "},
	{"refused, never ran", "created false false 0 0\n", REFUSED | BAD_REPLY, 0, E_FAIL, 0,
	 ASKED "judge 1; "},
	{"never ran", "created false false 0 0\n", 0, 0, E_FAIL, 0, ASKED NEVER_RAN},
	{"never ran, much said", "created false false 127 1\n", 0, WORKER_STDERR_MAX + 1, E_FAIL,
	 0, ASKED NEVER_RAN},
	{"a session's never ran", "created false false 0 0\n", IS_SESSION, 0, E_FAIL, 0,
	 ASKED NEVER_RAN},
	{"removed", "removing false false 0 0\n", 0, 0, E_FAIL, 0, VANISHED("removing, 0")},
	{"restarted", "exited false false 0 1\n", 0, 0, E_FAIL, 0, VANISHED("exited, 1")},
	{"removed and restarted", "removing true true 7 23\n", IS_SESSION, 0, E_FAIL, 0,
	 VANISHED("removing, 23")},
	{"it runs", "running true false 0 0\n", 0, 0, E_FAIL, 0, ASKED LEFT("DOCKER_FAILED")},
	{"a turn's output is not the caller's", "running true false 0 0\n", CLOSED, 0, E_FAIL, 0,
	 ASKED LEFT("DOCKER_FAILED")},
	{"a session runs", "running true false 0 0\n", IS_SESSION, 0, E_FAIL, 0,
	 ASKED "closed 1?; " LEFT("DOCKER_FAILED")},
	{"a session runs unread", "running true false 0 0\n", IS_SESSION | CLOSED, 0, E_FAIL, 0,
	 ASKED "closed 1?; " LEFT("OUTPUT")},
	{"dead", "dead false false 0 0\n", 0, 0, E_FAIL, 0, ASKED LEFT("DOCKER_FAILED")},
	{"exited, but it runs", "exited true false 0 0\n", 0, 0, E_FAIL, 0,
	 ASKED LEFT("DOCKER_FAILED")},
	{"its running is neither", "exited no false 0 0\n", 0, 0, E_FAIL, 0,
	 ASKED LEFT("DOCKER_FAILED")},
	{"the greatest status", "exited false false 2147483647 0\n", ENDED, 0, E_FAIL, 2147483647,
	 ASKED EXIT("2147483647") EXITED("2147483647; ")},
	{"one beyond", "exited false false 2147483648 0\n", 0, 0, E_FAIL, 0,
	 ASKED LEFT("DOCKER_FAILED")},
	{"below the least", "exited false false -1 0\n", 0, 0, E_FAIL, 0,
	 ASKED LEFT("DOCKER_FAILED")},
	{"no status", "exited false false  0\n", 0, 0, E_FAIL, 0, ASKED LEFT("DOCKER_FAILED")},
	{"not a number", "exited false false 1x 0\n", 0, 0, E_FAIL, 0, ASKED LEFT("DOCKER_FAILED")},
	{"the least failure", "exited false false 1 0\n", ENDED, 0, E_FAIL, 1,
	 ASKED EXIT("1") EXITED("1; ")},
	{"out of memory", "exited false true 137 0\n", ENDED | OOM, 0, E_FAIL, 137,
	 ASKED EXIT("137") EXITED("137, out of memory as docker says; ")},
	{"one byte said", "exited false false 2 0\n", ENDED, 1, E_FAIL, 2,
	 ASKED EXIT("2") EXITED("2; it says: s; ")},
	{"out of memory, and said", "exited false true 2 0\n", ENDED | OOM, 3, E_FAIL, 2,
	 ASKED EXIT("2") EXITED("2, out of memory as docker says; it says: sss; ")},
	{"memory ran out, yet all is well", "exited false true 0 0\n", ENDED | OOM, 3, E_OK, 0,
	 ASKED EXIT("0") OF_REPLY "roots; "},
	{"memory of another word", "exited false maybe 0 0\n", ENDED, 0, E_OK, 0,
	 ASKED EXIT("0") OF_REPLY "roots; "},
	{"a session fails", "exited false false 3 0\n", IS_SESSION | ENDED, 0, E_FAIL, 3,
	 ASKED EXIT("3") EXITED("3; ")},
	{"its failure before docker's", "exited false false 3 0\n", ENDED | DOCKER_LOST | BAD_REPLY,
	 0, E_FAIL, 3, ASKED EXIT("3") EXITED("3; ")},
	{"docker's failure before the reply's", GOOD, ENDED | DOCKER_LOST | BAD_REPLY, 0, E_FAIL, 0,
	 ASKED EXIT("0") LOST},
	{"docker's failure in a session", GOOD, IS_SESSION | ENDED | DOCKER_LOST, 0, E_FAIL, 0,
	 ASKED EXIT("0") LOST},
	{"a bad reply", GOOD, ENDED | BAD_REPLY | UNLIKE, 0, E_FAIL, 0, ASKED EXIT("0") "judge 1; "},
	{"a reply of no line", GOOD, ENDED | NO_LINE | UNLIKE, 0, E_FAIL, 0,
	 ASKED EXIT("0") OF_REPLY},
	{"other roots", GOOD, ENDED | UNLIKE, 0, E_FAIL, 0,
	 ASKED EXIT("0") OF_REPLY "roots; IDENTITY: after the worker ended; "},
	{"a session's other roots", GOOD, IS_SESSION | ENDED | UNLIKE, 0, E_FAIL, 0,
	 ASKED EXIT("0") "roots; IDENTITY: after the worker ended; "},
	/* That is on record already. */
	{"not logged", GOOD, ENDED | UNLOGGED, 0, E_OK, 0, ASKED EXIT("0") OF_REPLY "roots; "},
	{"the longest line", LINE_127, ENDED, 0, E_OK, 0, ASKED EXIT("0") OF_REPLY "roots; "},
};

/* As the launch finds it when docker has ended. */
static void put_end(const struct end *row)
{
	static char said[WORKER_STDERR_MAX + 1];
	static const char *line[2];

	begin((row->how & IS_SESSION) != 0);
	memset(said, 's', sizeof(said));
	line[0] = row->line;
	answers = line;
	run.refused = (row->how & REFUSED) != 0;
	closed = (row->how & CLOSED) != 0;
	same = (row->how & UNLIKE) == 0;
	logged = (row->how & UNLOGGED) == 0;
	well = (row->how & BAD_REPLY) == 0;
	line_taken = (row->how & NO_LINE) == 0;
	run.child[0] = (struct child){1, true, false, 0, -1, own_memfd()};
	if ((row->how & DOCKER_LOST) != 0)
		run.child[0].status = CHILD_LOST;
	run.child[1] = (struct child){3, true, true, 0, own_memfd(), own_memfd()};
	assert_int_equal(write(run.child[0].err, said, row->said), row->said);
}

static enum life_event result_of(void)
{
	enum life_event event;

	watched = true;
	event = worker_result(&run);
	watched = false;
	close(run.child[0].err);
	close(run.child[1].out);
	close(run.child[1].err);
	return event;
}

static void what_an_end_means(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(ends); i++) {
		const struct end *row = &ends[i];
		enum life_event event;

		put_end(row);
		event = result_of();
		notes_are(row->name, row->notes);
		if (event != row->event || run.ended != ((row->how & ENDED) != 0) ||
		    run.oom != ((row->how & OOM) != 0) || run.exit_code != row->exit_code)
			fail_msg("%s: %d, %d %d %d", row->name, (int)event, run.ended, run.oom,
			         run.exit_code);
	}
}

/* So much of it is told, and no more. */
static void what_a_worker_said_is_cut(void **state)
{
	static const struct end row = {"", "exited false false 2 0\n", 0, 5000, E_FAIL, 2, ""};
	const char *said;

	(void)state;
	put_end(&row);
	assert_int_equal(result_of(), E_FAIL);
	said = strstr(notes->text, "it says: ");
	assert_non_null(said);
	assert_int_equal(strspn(said + strlen("it says: "), "s"), SAY_CHILD / 2 - 1);
}

#define GONE ASK "look until +1003; WORKER_VANISHED: docker does not know it any more; finish 2; "
#define NO_ANSWER \
	ASK "look until +1003; DOCKER_FAILED: docker container inspect, of 2; finish 2; "

/* Docker's answers that are none. */
static void answers_that_are_none(void **state)
{
	static const struct {
		const char *line;
		int status;
		enum child_wait wait;
		enum removal_look look;
		const char *notes;
	} rows[] = {
		{GOOD, 1, CHILD_FAILED, REMOVAL_GONE, GONE},
		{GOOD, 1, CHILD_FAILED, REMOVAL_THERE, NO_ANSWER},
		{GOOD, CHILD_LOST, CHILD_FAILED, REMOVAL_UNKNOWN, NO_ANSWER},
		{GOOD, 0, CHILD_DEADLINE, REMOVAL_GONE,
		 ASK "DOCKER_DEADLINE: docker container inspect, 1; finish 2; "},
		{GOOD, 0, CHILD_SIGNAL, REMOVAL_GONE,
		 ASK "SIGNALLED: docker container inspect; finish 2; "},
		{"", 0, CHILD_DONE, REMOVAL_GONE, GONE},
#define BAD(line) {line, 0, CHILD_DONE, REMOVAL_THERE, NO_ANSWER}
		BAD(""), BAD("\n"), BAD("exited\n"), BAD("exited false\n"),
		BAD("exited false false\n"), BAD("exited false false 0\n"),
		BAD("exited false false 0 0"), BAD(GOOD "x"), BAD(GOOD "\n"),
		BAD("exited\nfalse\nfalse\n0\n0\n"), BAD("x" LINE_127),
#undef BAD
	};
	struct end end = ends[0];

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		end.line = rows[i].line;
		put_end(&end);
		answer_status = rows[i].status;
		answer_wait = rows[i].wait;
		looked = rows[i].look;
		assert_int_equal(result_of(), E_FAIL);
		notes_are(rows[i].line, rows[i].notes);
		assert_false(run.ended);
	}
}

/* The seconds are those of the order. */
static void asks_for_so_long(void **state)
{
	(void)state;
	put_end(&ends[0]);
	run.order.control_seconds = 20;
	answer_wait = CHILD_DEADLINE;
	assert_int_equal(result_of(), E_FAIL);
	notes_are("20 seconds", ASK_UNTIL("+20000")
	             "DOCKER_DEADLINE: docker container inspect, 20; finish 2; ");
}

/* --- its start --- */

#define BEGIN "roots; log launch 0; "
#define LINKS BEGIN "pipe; seek turn 0 0; pipe; "
#define TURN LINKS "attach 0 ID turn w1 w2; close w2; nonblock r2; "
#define REPLY "policy 1 reply, 3: r1 -1 -1; close w1; "
#define BOTH(until) "wait 2 r2 until " until "; "
#define ONE(fd, until) "wait 1 " fd " until " until "; "
#define LINK_ENDS "close r1; stop 1; stop 0; "
#define TURN_ENDS LINK_ENDS "close r2; close none; "
#define SESSION BEGIN "pipe; attach 0 ID 0 1 w1; close w1; nonblock r1; "
#define LOOK(until, answered) ONE("r1", until) ASK_UNTIL(answered)
#define SESSION_ENDS "stop 0; close r1; close none; "
#define NO_START "START: the worker: EIO; stop 0; "

/* Further bits of a row. */
enum {
	LOG = 1 << 10, /* --worker-stderr was given */
	NO_CHECK = 1 << 11, /* it does not pass the second one */
};

struct start {
	const char *name;
	unsigned how; /* REFUSED: expected */
	unsigned seconds; /* for the turn or session */
	const char *waits;
	const char *answers[3];
	const char *fails;
	size_t last; /* words, in bytes */
	size_t said; /* bytes that were kept */
	enum life_event event;
	const char *notes;
};

#define NONE {GOOD}
#define RUNNING "running true false 0 0\n"
#define CREATED "created false false 0 0\n"

static const struct start starts[] = {
	{"a turn", 0, 60, "D", NONE, "", 0, 0, E_OK, TURN REPLY BOTH("+60000") TURN_ENDS},
	{"a short one", 0, 1, "D", NONE, "", 0, 0, E_OK, TURN REPLY BOTH("+1000") TURN_ENDS},
	{"one without an end", 0, 0, "D", NONE, "", 0, 0, E_OK, TURN REPLY BOTH("never") TURN_ENDS},
	{"refused while written", REFUSED, 60, "F", NONE, "", 0, 0, E_OK,
	 TURN REPLY BOTH("+60000") "closed r1?; " TURN_ENDS},
	{"refused at its end", CLOSED, 60, "FD", NONE, "", 0, 0, E_OK,
	 TURN REPLY BOTH("+60000") "closed r1?; " ONE("r2", "+60000") TURN_ENDS},
	{"refused at its end, and a signal", CLOSED, 60, "FS", NONE, "", 0, 0, E_FAIL,
	 TURN REPLY BOTH("+60000") "closed r1?; " ONE("r2", "+60000")
	 TURN_ENDS "SIGNALLED: the worker; "},
	{"a signal", 0, 60, "S", NONE, "", 0, 0, E_FAIL,
	 TURN REPLY BOTH("+60000") TURN_ENDS "SIGNALLED: the worker; "},
	{"it is late", 0, 60, "T", NONE, "", 0, 0, E_FAIL,
	 TURN REPLY BOTH("+60000") TURN_ENDS "TURN_DEADLINE: the worker, 60; "},
	{"its reader is", 0, 7, "t", NONE, "", 0, 0, E_FAIL,
	 TURN REPLY BOTH("+7000") TURN_ENDS "POLICY_DEADLINE: the worker, 7; "},
	{"late after a refusal at its end", CLOSED, 60, "FT", NONE, "", 0, 0, E_FAIL,
	 TURN REPLY BOTH("+60000") "closed r1?; " ONE("r2", "+60000")
	 TURN_ENDS "TURN_DEADLINE: the worker, 60; "},
	{"the roots are others", UNLIKE, 60, "", NONE, "", 0, 0, E_FAIL,
	 "roots; IDENTITY: before the worker was started; "},
	{"it is not logged", UNLOGGED, 60, "", NONE, "", 0, 0, E_FAIL, BEGIN},
	{"no pipe", 0, 60, "", NONE, "pipe2 1", 0, 0, E_FAIL, BEGIN "no pipe; " NO_START "close none; "},
	{"no second one", 0, 60, "", NONE, "pipe2 2", 0, 0, E_FAIL,
	 BEGIN "pipe; seek turn 0 0; no pipe; " NO_START "close none; "},
	{"the turn's beginning cannot be had", 0, 60, "", NONE, "lseek", 0, 0, E_FAIL,
	 BEGIN "pipe; seek turn 0 0; " NO_START "close none; "},
	{"no hearing without blocking", LOG, 60, "", NONE, "fcntl", 0, 0, E_FAIL,
	 TURN NO_START "close r2; close none; "},
	{"a log that cannot be cut", LOG, 60, "", NONE, "ftruncate", 0, 0, E_FAIL,
	 TURN "cut log 0; " NO_START "close r2; close none; "},

	{"it says something", 0, 60, "RrRD", NONE, "", 0, 11, E_OK,
	 TURN REPLY BOTH("+60000") BOTH("+60000") BOTH("+60000") BOTH("+60000") TURN_ENDS},
	{"something is logged", LOG, 60, "RD", NONE, "", 2, 7, E_OK,
	 TURN "cut log 0; " REPLY BOTH("+60000") BOTH("+60000") LINK_ENDS "close r2; "},
	{"last words", 0, 60, "D", NONE, "", 1, 1, E_OK,
	 TURN REPLY BOTH("+60000") LINK_ENDS "close r2; "},
	{"last words after a signal", 0, 60, "S", NONE, "", CHILD_PAGE, CHILD_PAGE, E_FAIL,
	 TURN REPLY BOTH("+60000") LINK_ENDS "close r2; SIGNALLED: the worker; "},
	{"nothing more to hear", 0, 60, "rED", NONE, "", 0, 1, E_OK,
	 TURN REPLY BOTH("+60000") BOTH("+60000") "close r2; wait 2 -1 until +60000; "
	 LINK_ENDS "close none; "},
	{"nothing at all to hear", LOG, 60, "ED", NONE, "", 0, 0, E_OK,
	 TURN "cut log 0; " REPLY BOTH("+60000") "close r2; wait 2 -1 until +60000; "
	 LINK_ENDS "close none; "},
	{"it says something after a refusal at its end", CLOSED, 60, "FRD", NONE, "", 0, 5, E_OK,
	 TURN REPLY BOTH("+60000") "closed r1?; " ONE("r2", "+60000") ONE("r2", "+60000") TURN_ENDS},
	{"as much as is kept", LOG, 60, "AArD", NONE, "", 0, WORKER_STDERR_MAX + 1, E_OK,
	 TURN "cut log 0; " REPLY BOTH("+60000") BOTH("+60000") BOTH("+60000") BOTH("+60000")
	 TURN_ENDS},
	{"more", LOG, 60, "rAArD", NONE, "", CHILD_PAGE, WORKER_STDERR_MAX + 1, E_OK,
	 TURN "cut log 0; " REPLY BOTH("+60000") BOTH("+60000") BOTH("+60000") BOTH("+60000")
	 BOTH("+60000") LINK_ENDS "close r2; "},
	{"more, of which a part is kept", LOG, 60, "RAAD", NONE, "", 0, WORKER_STDERR_MAX + 1, E_OK,
	 TURN "cut log 0; " REPLY BOTH("+60000") BOTH("+60000") BOTH("+60000") BOTH("+60000")
	 TURN_ENDS},

	{"a session", IS_SESSION, 60, "TD", {RUNNING}, "", 0, 0, E_OK,
	 SESSION LOOK("+50", "+1050") "finish 2; check again; tell running; " ONE("r1", "+60000")
	 SESSION_ENDS},
	{"one without an end", IS_SESSION, 0, "TD", {RUNNING}, "", 0, 0, E_OK,
	 SESSION LOOK("+50", "+1050") "finish 2; check again; tell running; " ONE("r1", "never")
	 SESSION_ENDS},
	{"one that is about to start", IS_SESSION, 60, "TTTD", {CREATED, CREATED, RUNNING}, "", 0, 0,
	 E_OK,
	 SESSION LOOK("+50", "+1050") "finish 2; " LOOK("+103", "+1103") "finish 2; "
	 LOOK("+156", "+1156") "finish 2; check again; tell running; " ONE("r1", "+60000")
	 SESSION_ENDS},
	{"one that says something at once", IS_SESSION, 60, "RTrD", {RUNNING}, "", 3, 9, E_OK,
	 SESSION ONE("r1", "+50") LOOK("+50", "+1050") "finish 2; check again; tell running; "
	 ONE("r1", "+60000") ONE("r1", "+60000") "stop 0; close r1; "},
	{"docker ended at once", IS_SESSION, 60, "DD", {CREATED}, "", 0, 0, E_OK,
	 SESSION ONE("r1", "+50") ONE("r1", "+60000") SESSION_ENDS},
	{"a signal at once", IS_SESSION, 60, "S", {CREATED}, "", 0, 0, E_FAIL,
	 SESSION ONE("r1", "+50") "SIGNALLED: signalled; " SESSION_ENDS},
	{"no answer", IS_SESSION, 60, "T", {""}, "", 0, 0, E_FAIL,
	 SESSION LOOK("+50", "+1050") "look until +1053; DOCKER_FAILED: docker container inspect, of 2; "
	 "finish 2; " SESSION_ENDS},
	{"it has ended already", IS_SESSION, 60, "TD", {GOOD}, "", 0, 0, E_OK,
	 SESSION LOOK("+50", "+1050") "finish 2; " ONE("r1", "+60000") SESSION_ENDS},
	{"it is another when it runs", IS_SESSION | NO_CHECK, 60, "T", {RUNNING}, "", 0, 0, E_FAIL,
	 SESSION LOOK("+50", "+1050") "finish 2; check again; " SESSION_ENDS},
	{"a session is late", IS_SESSION, 60, "TT", {RUNNING}, "", 0, 0, E_FAIL,
	 SESSION LOOK("+50", "+1050") "finish 2; check again; tell running; " ONE("r1", "+60000")
	 SESSION_ENDS "TURN_DEADLINE: the worker, 60; "},
	{"a session and a signal", IS_SESSION, 60, "TS", {RUNNING}, "", 0, 0, E_FAIL,
	 SESSION LOOK("+50", "+1050") "finish 2; check again; tell running; " ONE("r1", "+60000")
	 SESSION_ENDS "SIGNALLED: the worker; "},
	{"a session without a pipe", IS_SESSION, 60, "", {RUNNING}, "pipe2 1", 0, 0, E_FAIL,
	 BEGIN "no pipe; " NO_START "close none; "},
	{"a session's log", IS_SESSION | LOG, 60, "TRD", {RUNNING}, "", 0, 5, E_OK,
	 SESSION "cut log 0; " LOOK("+50", "+1050") "finish 2; check again; tell running; "
	 ONE("r1", "+60000") ONE("r1", "+60000") SESSION_ENDS},
};

static void put_start(const struct start *row)
{
	begin((row->how & IS_SESSION) != 0);
	run.order.turn_seconds = row->seconds;
	waits = row->waits;
	answers = row->answers;
	fails = row->fails;
	last_words = row->last;
	closed = (row->how & CLOSED) != 0;
	same = (row->how & UNLIKE) == 0;
	logged = (row->how & UNLOGGED) == 0;
	verified = (row->how & NO_CHECK) == 0;
	for (size_t i = 0; i < COUNT(run.child); i++) /* of an earlier action */
		run.child[i] = (struct child){1, true, true, 0, -1, -1};
	run.turn = own_memfd();
	assert_int_equal(write(run.turn, "turn", 4), 4);
	if ((row->how & LOG) != 0) {
		run.worker_err = own_memfd();
		assert_int_equal(write(run.worker_err, "older", 5), 5);
		assert_int_equal(lseek(run.worker_err, 0, SEEK_SET), 0);
	}
}

static enum life_event start_of(void)
{
	enum life_event event;

	watched = true;
	event = worker_start(&run);
	watched = false;
	assert_int_equal(run.hear, -1);
	assert_int_equal(worker_says, -1);
	assert_string_equal(waits, "");
	return event;
}

/* The file holds so many bytes of the worker's, and no others. */
static void assert_said(int fd, size_t bytes)
{
	static char text[WORKER_STDERR_MAX + 2];

	assert_int_equal(pread(fd, text, sizeof(text), 0), bytes);
	for (size_t i = 0; i < bytes; i++)
		if (text[i] != 's')
			fail_msg("byte %zu", i);
}

static void put_away(void)
{
	for (size_t i = 0; i < COUNT(run.child); i++)
		if (run.child[i].err >= 0)
			close(run.child[i].err);
	close(run.turn);
	if (run.worker_err >= 0)
		close(run.worker_err);
	for (unsigned i = 0; i < links; i++) /* those of a start that failed */
		for (unsigned end = 0; end < 2; end++)
			if (fcntl(link_fd[i][end], F_GETFD) >= 0)
				close(link_fd[i][end]);
}

static void what_a_start_does(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(starts); i++) {
		const struct start *row = &starts[i];
		bool attached;

		put_start(row);
		if (start_of() != row->event)
			fail_msg("%s: %s", row->name, notes->text);
		notes_are(row->name, row->notes);
		attached = run.child[0].err >= 0;
		assert_int_equal(run.refused, (row->how & REFUSED) != 0);
		assert_int_equal(run.child[0].vital, !attached);
		assert_true(run.child[1].vital);
		if (attached)
			assert_said(run.child[0].err, row->said);
		if (run.worker_err >= 0 && row->fails[0] == '\0')
			assert_said(run.worker_err, row->said);
		put_away();
	}
}

/* What went wrong before comes before success. */
static void a_failure_on_record_stays(void **state)
{
	(void)state;
	for (int status = 1; status < 256; status++) {
		put_start(&starts[0]);
		run.status = status;
		assert_int_equal(start_of(), E_FAIL);
		notes_are("on record", starts[0].notes);
		put_away();
	}
}

static const struct start *start_named(const char *name)
{
	for (size_t i = 0; i < COUNT(starts); i++)
		if (strcmp(starts[i].name, name) == 0)
			return &starts[i];
	fail_msg("no row: %s", name);
	return NULL;
}

/* A log that takes nothing does not stop the worker. */
static void a_log_that_cannot_be_written(void **state)
{
	const struct start *row = start_named("something is logged");

	(void)state;
	put_start(row);
	assert_int_equal(ftruncate(run.worker_err, 0), 0);
	assert_int_equal(fcntl(run.worker_err, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW), 0);
	assert_int_equal(start_of(), E_OK);
	notes_are(row->name, row->notes);
	assert_said(run.child[0].err, row->said);
	assert_said(run.worker_err, 0);
	put_away();
}

/* Descriptor 0 is one like any other: to hear, and to write to. */
static void descriptor_0(void **state)
{
	const struct start *row = start_named("last words");
	const int own = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, HIGH), log = own_memfd();

	(void)state;
	put_start(row);
	zero = 1;
	assert_int_equal(start_of(), E_OK);
	notes_are(row->name, row->notes);
	assert_said(run.child[0].err, row->said);
	put_away();
	put_start(row);
	assert_int_equal(write(log, "older", 5), 5);
	assert_int_equal(lseek(log, 0, SEEK_SET), 0);
	assert_int_equal(dup2(log, STDIN_FILENO), STDIN_FILENO);
	run.worker_err = STDIN_FILENO;
	assert_int_equal(start_of(), E_OK);
	notes_are(row->name, TURN "cut 0 0; " REPLY BOTH("+60000") LINK_ENDS "close r2; ");
	assert_said(log, row->said);
	put_away();
	close(log);
	assert_int_equal(dup2(own, STDIN_FILENO), STDIN_FILENO);
	close(own);
}

/* A second's looks, 50 ms apart: one that is running at the last of them is in time. */
static void a_container_that_is_never_started(void **state)
{
	static const char *replies[21];
	static char expected[sizeof(notes->text)];
	const struct start *row = start_named("a session");

	(void)state;
	for (int late = 0; late < 2; late++) {
		size_t len = (size_t)snprintf(expected, sizeof(expected), "%s", SESSION);

		for (int i = 1; i <= 20; i++) {
			replies[i - 1] = i < 20 || late ? CREATED : RUNNING;
			len += (size_t)snprintf(expected + len, sizeof(expected) - len,
			                        ONE("r1", "+%d") ASK_UNTIL("+%d") "finish 2; ",
			                        50 * i, 50 * i + 1000);
		}
		snprintf(expected + len, sizeof(expected) - len, "%s%s",
		         late ? "DOCKER_DEADLINE: docker container start, 1 seconds; "
		              : "check again; tell running; " ONE("r1", "+60000"), SESSION_ENDS);
		put_start(row);
		waits = late ? "TTTTTTTTTTTTTTTTTTTT" : "TTTTTTTTTTTTTTTTTTTTD";
		answers = replies;
		answer_ms = 0;
		assert_int_equal(start_of(), late ? E_FAIL : E_OK);
		notes_are(late ? "late" : "in time", expected);
		put_away();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_an_end_means),
		cmocka_unit_test(what_a_worker_said_is_cut),
		cmocka_unit_test(answers_that_are_none),
		cmocka_unit_test(asks_for_so_long),
		cmocka_unit_test(what_a_start_does),
		cmocka_unit_test(a_failure_on_record_stays),
		cmocka_unit_test(a_log_that_cannot_be_written),
		cmocka_unit_test(descriptor_0),
		cmocka_unit_test(a_container_that_is_never_started),
	};


	usual_surroundings();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

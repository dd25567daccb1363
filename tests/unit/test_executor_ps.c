/* SPDX-License-Identifier: ISC */
#undef _FORTIFY_SOURCE /* openat is replaced */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../executor/managed.h"
#include "../../executor/ps.h"
#include "../../executor/self.h"
#include "notes.h"
#include "pass_on.h"
#include "scratch.h"
#include "usual.h"

/*
 * What ps is made of stands in below, notes how it was called and does as `does`
 * says; what is zero there goes well.  The claims are files, with real locks.  Each
 * run is a process of its own, as it is for a user: ps keeps what it has read.
 */

#define NOW 2000000
#define STATE_ID "0123456789abcdef0123456789abcdef"
#define LIST "what docker lists\n"
#define MOST 16384 /* runs that policy is told of */

static const struct does {
	bool closed; /* nothing can be opened */
	const char *before, *after; /* the claims that there are: a letter each (claims[]) */
	unsigned many; /* so many of claim d before, instead */
	bool unread_before, unread_after;
	bool no_list, no_seal, no_offset;
	bool no_stat, no_lock;
	bool low; /* descriptor 0 is free */
	enum executor_reason policy;
	bool no_document;
	enum child_wait wait;
	int status; /* of policy, which writes */
	size_t bytes, gap; /* so many, and is said to have written some more */
	size_t control; /* this one, from 1 on, is a control character */
	unsigned put_fails; /* the call with this number */
	bool json;
} *does;

/* A run's claim is named by 32 times a letter; of 0 there is none. */
static const struct claim {
	char letter;
	const char *text;
	int locked; /* by another process */
} claims[] = {
	{'a', "text", 0}, {'b', "text", LOCK_EX}, {'c', "text", LOCK_SH}, {'d', "", 0},
	{'1', "1", 0},    {'2', "2", LOCK_EX},
};
#define LINK 'e' /* to b */
#define FIFO 'f'

static char base[64];
static int claims_dir = -1;
static struct options options;
static struct managed *managed; /* that was opened */
static const struct child *list, *policy;
static int document = -1;
static unsigned looks, puts_made;
static size_t put_bytes;

/* In a process that has no test to fail: the notes are not as they should be. */
#define must(what) ((what) ? (void)0 : note("not so: %s\n", #what))

bool managed_open(struct managed *of, const struct options *with)
{
	note("open\n");
	must(with == &options);
	managed = of;
	of->options = with;
	of->state.claims = claims_dir;
	strcpy(of->state.id, STATE_ID);
	return !does->closed;
}

void managed_fail(struct managed *of, enum executor_reason why, const char *format, ...)
{
	static const char *const names[WHY_COUNT] = {
		[WHY_CLAIM] = "claim",
		[WHY_POLICY_UNSAFE] = "unsafe",
		[WHY_POLICY_PROTOCOL] = "protocol",
		[WHY_POLICY_DEADLINE] = "deadline",
	};
	char text[256];
	va_list words;

	va_start(words, format);
	vsnprintf(text, sizeof(text), format, words);
	va_end(words);
	must(of == managed);
	note("fail %s: %s\n", names[why] != NULL ? names[why] : "?", text);
}

void managed_judge(struct managed *of, const struct child *child)
{
	must(of == managed && child == policy);
	note("judge %d\n", child->status);
}

bool managed_list(struct managed *of, struct child *child, enum docker_command command,
                  const char *subject)
{
	int ends[2];

	must(of == managed && command == DOCKER_PS && subject == NULL);
	note("list\n");
	list = child;
	*child = (struct child){.out = memfd_create("out", MFD_CLOEXEC), .err = -1};
	must(write(child->out, LIST, strlen(LIST)) == (ssize_t)strlen(LIST));
	if (does->no_offset) { /* as a pipe has none */
		must(pipe(ends) == 0);
		child->out = ends[0];
	}
	return !does->no_list;
}

static unsigned descriptors(void)
{
	unsigned count = 0;

	for (int fd = 0; fd < 256; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

bool managed_claims(struct managed *of, bool (*act)(struct managed *managed, const char *run))
{
	const bool first = looks++ == 0;
	const char *letters = first ? does->before : does->after;
	const unsigned many = first ? does->many : 0, open = descriptors();
	const size_t count = letters != NULL ? strlen(letters) : many;
	char run[ID_HEX + 1] = "";
	bool good = true;

	note("claims\n");
	must(of == managed);
	for (size_t i = 0; good && i < count; i++) {
		memset(run, letters != NULL ? letters[i] : 'd', ID_HEX);
		errno = EWOULDBLOCK; /* of an earlier call */
		good = act(of, run);
	}
	must(descriptors() == open);
	return good && !(first ? does->unread_before : does->unread_after);
}

/* What policy writes. */
static char byte_at(size_t i)
{
	if (i + 1 == does->control)
		return '\033';
	return (char)(i % 11 == 10 ? '\n' : 'a' + i % 23);
}

bool managed_put(struct managed *of, const char *bytes, size_t len)
{
	must(of == managed);
	note("put %zu\n", len);
	for (size_t i = 0; i < len; i++)
		if (bytes[i] != byte_at(put_bytes + i)) {
			note("not byte %zu\n", put_bytes + i);
			break;
		}
	put_bytes += len;
	return ++puts_made != does->put_fails;
}

int managed_end(struct managed *of)
{
	must(of == managed);
	note("end\n");
	return 42;
}

bool child_seal(int memfd)
{
	must(memfd == list->out);
	note("seal\n");
	return !does->no_seal;
}

enum executor_reason self_policy(int *fd, char *own, char *path)
{
	note("self_policy\n");
	*fd = 66;
	strcpy(own, "/p/cofferdam");
	strcpy(path, "/p/cofferdam-policy");
	return does->policy;
}

/* Notes the letters of the runs, those that repeat with their number. */
int child_document(const void *bytes, size_t len)
{
	const char *text = bytes;
	size_t times = 0;

	must(len % (ID_HEX + 1) == 0 && len > ID_HEX && memcmp(text, STATE_ID "\n", ID_HEX + 1) == 0);
	note("told ");
	for (size_t at = ID_HEX + 1; at < len; at += ID_HEX + 1) {
		char line[ID_HEX + 1];

		memset(line, text[at], ID_HEX);
		line[ID_HEX] = '\n';
		must(memcmp(text + at, line, sizeof(line)) == 0);
		times++;
		if (at + ID_HEX + 1 < len && text[at + ID_HEX + 1] == text[at])
			continue;
		note(times > 1 ? "%c*%zu " : "%c ", text[at], times);
		times = 0;
	}
	note("\n");
	if (does->no_document)
		return -1;
	document = memfd_create("document", MFD_CLOEXEC);
	must(write(document, bytes, len) == (ssize_t)len);
	return document;
}

static void note_words(const char *const *words)
{
	for (; *words != NULL; words++)
		note("%s ", *words);
	note("| ");
}

void child_start(struct child *child, const struct child_plan *plan)
{
	char bytes[16384];
	size_t len = 0;

	policy = child;
	note("start '%s' %d: ", plan->path, plan->program);
	note_words(plan->argv);
	note_words(plan->env);
	note("%d: %s %d %d %s\n", plan->count, plan->fd[0] == list->out ? "list" : "?", plan->fd[1],
	     plan->fd[2], plan->fd[3] == document ? "document" : "?");
	must(lseek(list->out, 0, SEEK_CUR) == 0);
	must(document < 0 || lseek(document, 0, SEEK_CUR) == 0);
	for (; len < does->bytes; len++)
		bytes[len] = byte_at(len);
	*child = (struct child){.pid = 9, .status = does->status, .err = -1,
	                        .out = memfd_create("policy", MFD_CLOEXEC)};
	must(write(child->out, bytes, len) == (ssize_t)len);
	must(lseek(child->out, (off_t)does->gap, SEEK_CUR) >= 0);
}

enum child_wait child_wait(struct child *set, size_t count, int fd, short events,
                           int64_t deadline)
{
	must(set == policy);
	note("wait %zu %d %d +%lld\n", count, fd, events, (long long)(deadline - NOW));
	return does->wait;
}

int64_t child_now(void)
{
	return NOW;
}

size_t child_length(int memfd)
{
	must(memfd == policy->out);
	return (size_t)lseek(memfd, 0, SEEK_CUR);
}

void child_finish(struct child *child)
{
	note("finish %s\n", child == list ? "list" : child == policy ? "policy" : "?");
}

int openat(int dir, const char *name, int flags, ...)
{
	PASS_ON(openat);

	must(dir == claims_dir && strlen(name) == ID_HEX);
	must(flags == (O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
	return passed_on(dir, name, flags);
}

int fstat(int fd, struct stat *st)
{
	PASS_ON(fstat);

	errno = does != NULL && does->no_stat ? EIO : errno;
	return does != NULL && does->no_stat ? -1 : passed_on(fd, st);
}

int flock(int fd, int how)
{
	PASS_ON(flock);

	errno = does != NULL && does->no_lock ? ENOLCK : errno;
	return does != NULL && does->no_lock ? -1 : passed_on(fd, how);
}

/* --- the runs ------------------------------------------------------------------------ */

#define LOOKED "open\nclaims\nlist\nclaims\nseal\nself_policy\n"
#define ARGV "start '' 66: cofferdam-policy ps "
#define FDS "| LC_ALL=C | 4: list -1 -1 document\n"
#define STARTED ARGV FDS "wait 1 -1 0 +30000\n"
#define DONE "finish policy\nfinish list\nend\n"
#define SHOWN(what) LOOKED "told \n" STARTED what DONE
#define HELD(runs) LOOKED "told " runs "\n" STARTED DONE
#define NO_TEXT "fail protocol: not a text\n"
#define NO_CLAIMS "fail claim: they cannot be read, or are too many\nfinish list\nend\n"

static const struct row {
	const char *name;
	struct does does;
	const char *expected;
} rows[] = {
	{"nothing", {0}, SHOWN("")},
	{"cannot be opened", {.closed = true}, "open\nend\n"},
	{"as JSON", {.json = true},
	 LOOKED "told \n" ARGV "--json " FDS "wait 1 -1 0 +30000\n" DONE},

	/* Which claims are held. */
	{"held by nobody", {.before = "a"}, HELD("")},
	{"held", {.before = "b"}, HELD("b ")},
	{"being looked at", {.before = "c"}, HELD("")},
	{"not yet locked", {.before = "d"}, HELD("d ")},
	{"a link", {.before = "e"}, HELD("")},
	{"a FIFO", {.before = "f"}, HELD("f ")},
	{"a byte", {.before = "1"}, HELD("")},
	{"a byte, held", {.before = "2"}, HELD("2 ")},
	{"gone", {.before = "0"}, HELD("")},
	{"some", {.before = "0ba1d2"}, HELD("b d 2 ")},
	{"some later", {.after = "0ba1d2"}, HELD("b d 2 ")},
	{"before and after", {.before = "abb2", .after = "2ad"}, HELD("b*2 2*2 d ")},
	{"no status", {.before = "abd", .no_stat = true}, HELD("")},
	{"no locks", {.before = "abd", .no_lock = true}, HELD("d ")},
	{"descriptor 0", {.before = "ab", .low = true}, HELD("b ")},
	{"most", {.many = MOST, .after = "a"}, HELD("d*16384 ")},
	{"most, with the last", {.many = MOST - 1, .after = "b"}, HELD("d*16383 b ")},
	{"too many before", {.many = MOST + 1}, "open\nclaims\nlist\n" NO_CLAIMS},
	{"too many after", {.many = MOST, .after = "b"},
	 "open\nclaims\nlist\nclaims\n" NO_CLAIMS},
	{"unread before", {.unread_before = true}, "open\nclaims\nlist\n" NO_CLAIMS},
	{"unread after", {.unread_after = true}, "open\nclaims\nlist\nclaims\n" NO_CLAIMS},

	/* docker's list, and policy. */
	{"no list", {.no_list = true}, "open\nclaims\nlist\nfinish list\nend\n"},
	{"no list, claims unread", {.no_list = true, .unread_before = true},
	 "open\nclaims\nlist\nfinish list\nend\n"},
	{"no seal", {.no_seal = true}, "open\nclaims\nlist\nclaims\nseal\n" NO_CLAIMS},
	{"no offset", {.no_offset = true}, "open\nclaims\nlist\nclaims\nseal\n" NO_CLAIMS},
	{"no policy", {.policy = WHY_POLICY_UNSAFE},
	 LOOKED "told \nfail unsafe: /p/cofferdam-policy\nfinish list\nend\n"},
	{"no document", {.no_document = true}, SHOWN("")},
	{"hangs", {.wait = CHILD_DEADLINE, .bytes = 9, .status = CHILD_LOST},
	 SHOWN("fail deadline: ps, 30 seconds\n")},
	{"a signal", {.wait = CHILD_SIGNAL, .bytes = 9, .status = CHILD_LOST}, SHOWN("")},

	/* What it writes. */
	{"a byte", {.bytes = 1}, SHOWN("put 1\n")},
	{"less than a piece", {.bytes = 4095}, SHOWN("put 4095\n")},
	{"a piece", {.bytes = 4096}, SHOWN("put 4096\n")},
	{"a byte more", {.bytes = 4097}, SHOWN("put 4096\nput 1\n")},
	{"three pieces", {.bytes = 12288}, SHOWN("put 4096\nput 4096\nput 4096\n")},
	{"nobody reads", {.bytes = 12288, .put_fails = 1}, SHOWN("put 4096\n")},
	{"nobody reads on", {.bytes = 12288, .put_fails = 2}, SHOWN("put 4096\nput 4096\n")},
	{"control first", {.bytes = 8192, .control = 1}, SHOWN(NO_TEXT)},
	{"control last", {.bytes = 8192, .control = 8192}, SHOWN("put 4096\n" NO_TEXT)},
	{"less than it seems", {.bytes = 9, .gap = 1}, SHOWN(NO_TEXT)},
	{"less than two", {.bytes = 8191, .gap = 1}, SHOWN("put 4096\n" NO_TEXT)},
	{"refuses", {.wait = CHILD_FAILED, .status = 69}, SHOWN("judge 69\n")},
	{"refuses some", {.wait = CHILD_FAILED, .status = 69, .bytes = 9},
	 SHOWN("put 9\njudge 69\n")},
	{"breaks", {.wait = CHILD_FAILED, .status = 1, .bytes = 9, .control = 9},
	 SHOWN(NO_TEXT "judge 1\n")},
	{"is killed", {.wait = CHILD_FAILED, .status = CHILD_LOST}, SHOWN("judge -1\n")},
};

static void runs(const struct row *row)
{
	int status;
	pid_t pid;

	notes_begin();
	memset(&options, 0, sizeof(options));
	options.value[OPTION_JSON] = row->does.json ? "" : NULL;
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		does = &row->does;
		if (does->low)
			close(STDIN_FILENO);
		exit(ps_run(&options));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	notes_are(row->name, row->expected);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 42); /* as managed_end says */
}

static void shows_containers(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		runs(&rows[i]);
}

static const char *path_of(char letter)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/", base);
	memset(path + strlen(base) + 1, letter, ID_HEX);
	path[strlen(base) + 1 + ID_HEX] = '\0';
	return path;
}

static int set_up(void **state)
{
	char run[ID_HEX + 1] = "";

	(void)state;
	notes = mmap(NULL, sizeof(*notes), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
	             0);
	assert_true(notes != MAP_FAILED);
	strcpy(base, "/tmp/test_executor_ps.XXXXXX");
	assert_non_null(mkdtemp(base));
	for (size_t i = 0; i < sizeof(claims) / sizeof(claims[0]); i++) {
		const size_t len = strlen(claims[i].text);
		int fd = open(path_of(claims[i].letter), O_RDWR | O_CREAT | O_EXCL, 0600);

		assert_true(fd >= 0); /* and stays open, for the lock */
		assert_int_equal(write(fd, claims[i].text, len), (ssize_t)len);
		if (claims[i].locked != 0)
			assert_int_equal(flock(fd, claims[i].locked), 0);
	}
	memset(run, 'b', ID_HEX);
	assert_int_equal(symlink(run, path_of(LINK)), 0);
	assert_int_equal(mkfifo(path_of(FIFO), 0600), 0);
	claims_dir = open(base, O_RDONLY | O_DIRECTORY);
	return claims_dir < 0;
}

static int tear_down(void **state)
{
	(void)state;
	return scratch_remove(base);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shows_containers),
	};

	usual_surroundings();
	return cmocka_run_group_tests(tests, set_up, tear_down);
}

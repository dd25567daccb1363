/* SPDX-License-Identifier: ISC */
#undef _FORTIFY_SOURCE /* openat is replaced */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../executor/managed.h"
#include "../../executor/say.h"
#include "../../executor/self.h"
#include "notes.h"
#include "pass_on.h"
#include "scratch.h"
#include "usual.h"

/*
 * All that acts on the world stands in below, notes how it was called and does as
 * `does` says; what is zero there goes well.  The rules of texts and of the gate are
 * the real ones.
 */

#define NOW 1000000
#define HEX_16 "0123456789abcdef"
#define ID HEX_16 HEX_16 HEX_16 HEX_16
#define RUN "00112233445566778899aabbccddeeff"
#define OTHER "ffeeddccbbaa99887766554433221100"
#define ENDPOINT "unix:///run/e.sock"

#define PUT_ERR "put 2 shielded +5000 "

static struct does {
	int signal;
	enum executor_reason start, audit, docker;
	enum state_result open;
	const char *wrong;
	bool holds, no_signals, no_root;
	enum child_wait wait;
	const char *out, *err; /* what the listing command has printed */
	off_t length; /* of its output, when not that of out */
	enum removal_look look;
	const char *looked; /* the id that this has found */
	bool stays;
	const char *removed; /* the id that the removal has found */
	bool unwritten; /* the event */
	bool replaced; /* the claim */
	int put; /* errno */
	bool no_claims;
	unsigned unread; /* the entry with this number cannot be read; 0: all can */
	bool ended; /* nor is there such an entry */
} does;

static struct managed managed;
static struct options options;
static struct child list;
static bool shielded;

static const char *or_none(const char *text)
{
	return text != NULL ? text : "-";
}

enum executor_reason self_start(void)
{
	note("self_start\n");
	return does.start;
}

void self_home(char *home, size_t cap)
{
	note("self_home %zu\n", cap);
	strcpy(home, "/home/u");
}

enum executor_reason self_audit(const char *given, int *fd, char *path)
{
	note("self_audit %s\n", given);
	if (does.audit == WHY_NONE) {
		*fd = 77;
		strcpy(path, "/canonical/audit");
	}
	return does.audit;
}

enum executor_reason self_docker(const char *given, char *path)
{
	note("self_docker %s\n", or_none(given));
	strcpy(path, "/bin/docker");
	return does.docker;
}

enum state_result state_open(struct state *state, const char *given, const char *home)
{
	note("state_open %s %s\n", or_none(given), home);
	strcpy(state->path, "/state");
	strcpy(state->id, OTHER);
	state->wrong = does.wrong;
	return does.open;
}

bool state_holds(const struct state *state, const char *path)
{
	note("state_holds %s '%s'\n", state->path, path);
	return does.holds;
}

bool state_drop_claim(struct state *state)
{
	note("drop_claim %d\n", state->claim);
	return !does.replaced;
}

void docker_environment(struct docker *docker, const char *state_path, const char *state_id)
{
	assert_ptr_equal(docker, &managed.docker);
	note("environment %s %s\n", state_path, state_id);
}

bool child_set_up(void)
{
	note("set_up\n");
	return !does.no_signals;
}

int chdir(const char *path)
{
	note("chdir %s\n", path);
	return does.no_root ? -1 : 0;
}

/* A file of so many bytes, its offset at their end: as the output of a child is. */
static int written(const char *text, off_t length)
{
	int fd = memfd_create("written", MFD_CLOEXEC);

	assert_true(fd >= 0);
	if (text != NULL)
		assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	if (length != 0)
		assert_int_equal(lseek(fd, length, SEEK_SET), length);
	return fd;
}

void docker_start(struct child *child, const struct docker *docker, enum docker_command command,
                  const char *subject, int in, int out)
{
	assert_ptr_equal(docker, &managed.docker);
	note("start %s %s %d %d\n",
	     command == DOCKER_OURS ? "ours" : command == DOCKER_PS ? "ps" : "?", or_none(subject),
	     in, out);
	list = *child = (struct child){.pid = 9, .out = written(does.out, does.length),
	                               .err = written(does.err, 0)};
}

enum child_wait child_wait(struct child *set, size_t count, int fd, short events,
                           int64_t deadline)
{
	assert_int_equal(set->out, list.out);
	note("wait %zu %d %d +%lld\n", count, fd, events, (long long)(deadline - NOW));
	return does.wait;
}

void child_finish(struct child *child)
{
	assert_int_equal(child->out, list.out);
	note("finish\n");
	close(child->out);
	close(child->err);
}

int64_t child_now(void)
{
	return NOW;
}

int child_signal(void)
{
	return does.signal;
}

void child_shield(bool on)
{
	shielded = on;
}

size_t child_length(int memfd)
{
	return (size_t)lseek(memfd, 0, SEEK_CUR);
}

size_t child_read(int memfd, char *to, size_t cap)
{
	ssize_t len = pread(memfd, to, cap - 1, 0);

	assert_int_equal(cap, SAY_CHILD);
	assert_true(len >= 0);
	to[len] = '\0';
	return (size_t)len;
}

/* Of a line that is one of the table's reasons only that and its detail. */
static void note_told(const char *text, size_t len)
{
	char head[512], tail[512];

	for (unsigned why = 1; why < WHY_COUNT; why++) {
		const struct say_row *row = say_row(why);
		const size_t before = (size_t)snprintf(head, sizeof(head), "cofferdam: %s %s: %s",
		                                       row->code, row->reason, row->sentence);
		const size_t after = (size_t)snprintf(tail, sizeof(tail), "; %s\n", row->hint);

		if (len >= before + after && memcmp(text, head, before) == 0 &&
		    memcmp(text + len - after, tail, after) == 0) {
			note("%s%.*s\n", row->reason, (int)(len - before - after), text + before);
			return;
		}
	}
	note("%.*s", (int)len, text);
}

bool child_put(int fd, const char *bytes, size_t len, int64_t deadline)
{
	note("put %d %s", fd, shielded ? "shielded " : "");
	if (deadline == INT64_MAX)
		note("ever ");
	else
		note("+%lld ", (long long)(deadline - NOW));
	note_told(bytes, len);
	errno = does.put;
	return does.put == 0;
}

void removal_init(struct removal *removal, const struct docker *docker, const char *nonce)
{
	assert_ptr_equal(docker, &managed.docker);
	note("init %s\n", nonce);
	*removal = (struct removal){.docker = docker};
}

enum removal_look removal_look(struct removal *removal, int64_t deadline)
{
	note("look %u %u %s\n", removal->control_seconds, removal->remove_seconds,
	     deadline == INT64_MAX ? "ever" : "not ever");
	strcpy(removal->id, does.looked != NULL ? does.looked : "");
	return does.look;
}

bool removal_run(struct removal *removal, bool settle)
{
	note("remove %u %u '%s'%s\n", removal->control_seconds, removal->remove_seconds,
	     removal->id, settle ? " settle" : "");
	if (does.removed != NULL)
		strcpy(removal->id, does.removed);
	return !does.stays;
}

bool audit_say(struct audit *audit, enum audit_event event, const char *run, const char *container,
               int code, bool oom)
{
	assert_ptr_equal(audit, &managed.events);
	note("event %s %s '%s' %d %d\n",
	     event == AUDIT_REAPED ? "reaped" : event == AUDIT_RESIDUAL ? "residual" : "?", run,
	     container, code, oom);
	return !does.unwritten;
}

int openat(int dir, const char *name, int flags, ...)
{
	PASS_ON(openat);

	note("openat %s %s\n", name,
	     flags == (O_RDONLY | O_DIRECTORY | O_CLOEXEC) ? "directory" : "?");
	if (does.no_claims)
		return -1;
	return passed_on(dir, name, flags);
}

struct dirent *readdir(DIR *dir)
{
	PASS_ON(readdir);

	if (does.unread == 0 || --does.unread > 0)
		return passed_on(dir);
	if (!does.ended)
		errno = EIO;
	return NULL;
}

static unsigned descriptors(void)
{
	unsigned count = 0;

	for (int fd = 0; fd < 256; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

/* All anew; ENDPOINT is docker's. */
static void begins(struct does how)
{
	does = how;
	memset(&options, 0, sizeof(options));
	memset(&managed, 0, sizeof(managed));
	managed.options = &options;
	strcpy(managed.docker.endpoint, ENDPOINT);
	notes_begin();
}

/* What was noted, the exit status so far, and that signals are heard again. */
static void ends(const char *name, int status, const char *expected)
{
	notes_are(name, expected);
	if (managed.status != status || shielded)
		fail_msg("%s: status %d%s", name, managed.status, shielded ? ", shielded" : "");
}

/* --- failures ------------------------------------------------------------------------ */

static void tells_each_failure_once(void **state)
{
	(void)state;
	begins((struct does){.put = EPIPE});
	managed_fail(&managed, WHY_OUTPUT, "%s %d", "of it", 7);
	ends("first", 70, PUT_ERR "output.write: of it 7\n");
	managed_fail(&managed, WHY_NO_RUN, "%s", "");
	ends("less grave", 70, PUT_ERR "run.unknown\n");
	managed_fail(&managed, WHY_RESIDUAL, "a\nb\033%s", "c");
	ends("graver", 80, PUT_ERR "remove.unconfirmed: a b\\x1bc\n");
	does.signal = SIGTERM;
	managed_fail(&managed, WHY_RESIDUAL, "%s", "then");
	ends("a signal has come", 80, PUT_ERR "remove.unconfirmed: then\n");

	begins((struct does){.signal = SIGTERM});
	managed_fail(&managed, WHY_SIGNALLED, "%s", "x");
	ends("the signal's own", 128 + SIGTERM, PUT_ERR "signal: x\n");

	begins((struct does){0});
	options.value[OPTION_JSON] = "";
	managed_fail(&managed, WHY_NO_RUN, "%s", "\"x\"");
	ends("JSON", 1,
	     PUT_ERR "{\"code\":\"SANDBOX_WORKER\",\"reason\":\"run.unknown\",\"detail\":\"\\\"x\\\"\","
	             "\"sentence\":\"this state directory has no container of that run or session\","
	             "\"hint\":\"see cofferdam ps\"}\n");
}

/* What policy may say of docker's answer goes on as it is, with its status. */
static void judges_policy(void **state)
{
	static const char refusal[] = "cofferdam: SANDBOX_MINE ps.row: odd\nmore \x01\n";
	static const struct {
		const char *name;
		int exit, status;
		const char *err, *expected;
	} rows[] = {
		{"refuses", 69, 69, refusal,
		 PUT_ERR "cofferdam: SANDBOX_MINE ps.row: odd\nmore \\x01\n"},
		{"refuses in JSON", 69, 69, "{\"code\":\"A\",\"reason\":\"b\",\"x\":1}\n",
		 PUT_ERR "{\"code\":\"A\",\"reason\":\"b\",\"x\":1}\n"},
		{"no refusal's text", 69, 70, "oops\n",
		 PUT_ERR "policy.crashed: exit status 69 oops\n"},
		{"says nothing", 69, 70, "", PUT_ERR "policy.crashed: exit status 69 \n"},
		{"no refusal's status", 70, 70, refusal,
		 PUT_ERR "policy.crashed: exit status 70 cofferdam: SANDBOX_MINE ps.row: odd more "
		         "\\x01\n"},
		{"another's", 77, 70, "oops", PUT_ERR "policy.crashed: exit status 77 oops\n"},
		{"killed", CHILD_LOST, 70, "", PUT_ERR "policy.crashed: exit status -1 \n"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct child policy = {.status = rows[i].exit, .err = written(rows[i].err, 0)};

		begins((struct does){0});
		managed_judge(&managed, &policy);
		ends(rows[i].name, rows[i].status, rows[i].expected);
		close(policy.err);
	}
}

static void tells_of_a_signal_at_the_end(void **state)
{
	(void)state;
	begins((struct does){0});
	managed.status = 1;
	assert_int_equal(managed_end(&managed), 1);
	ends("no signal", 1, "");

	begins((struct does){.signal = SIGHUP});
	assert_int_equal(managed_end(&managed), 128 + SIGHUP);
	ends("signal", 128 + SIGHUP, PUT_ERR "signal: signal 1\n");

	begins((struct does){.signal = SIGTERM});
	managed.status = 80;
	assert_int_equal(managed_end(&managed), 80);
	ends("graver before", 80, PUT_ERR "signal: signal 15\n");
}

static void puts_to_standard_output(void **state)
{
	static const struct {
		const char *name;
		struct does does;
		bool good;
		int status;
		const char *expected;
	} rows[] = {
		{"written", {0}, true, 0, "put 1 ever text\n"},
		{"written, and a signal", {.signal = SIGINT}, true, 0, "put 1 ever text\n"},
		{"nobody reads", {.put = EPIPE}, false, 70,
		 "put 1 ever text\n" PUT_ERR "output.write: standard output: Broken pipe\n"},
		{"a signal", {.put = EPIPE, .signal = SIGINT}, false, 0, "put 1 ever text\n"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		begins(rows[i].does);
		assert_int_equal(managed_put(&managed, "text\nmore", 5), rows[i].good);
		ends(rows[i].name, rows[i].status, rows[i].expected);
	}
}

/* --- set up -------------------------------------------------------------------------- */

static char base[64]; /* a directory, new for each test */

static int make_base(void **state)
{
	(void)state;
	strcpy(base, "/tmp/test_managed.XXXXXX");
	return mkdtemp(base) == NULL;
}

static int remove_base(void **state)
{
	(void)state;
	return scratch_remove(base);
}

static const char *in_base(const char *name, char path[128])
{
	snprintf(path, 128, "%s/%s", base, name);
	return path;
}

/* A path of so many bytes, which a link leads to. */
static const char *linked(const char *link, size_t bytes, char to[128])
{
	char path[128];
	const size_t len = strlen(in_base("", to));

	memset(to + len, 'x', bytes - len);
	to[bytes] = '\0';
	assert_int_equal(mkdir(to, 0700), 0);
	assert_int_equal(symlink(to, in_base(link, path)), 0);
	return to;
}

static void endpoint_is(const char *host, const char *variable, bool good, const char *asked,
                        const char *canonical)
{
	struct docker docker = {.endpoint = ""};
	const char *found = NULL;

	memset(&options, 0, sizeof(options));
	options.value[OPTION_HOST] = host;
	if (variable != NULL)
		assert_int_equal(setenv("DOCKER_HOST", variable, 1), 0);
	else
		assert_int_equal(unsetenv("DOCKER_HOST"), 0);
	assert_int_equal(managed_endpoint(&options, &docker, &found), good);
	assert_string_equal(found, asked);
	if (good)
		assert_string_equal(docker.endpoint, canonical);
}

static void endpoint_is_that_of_option_variable_or_default(void **state)
{
	char path[PATH_MAX], canonical[PATH_MAX + 8];

	(void)state;
	endpoint_is("unix:///no/h", "unix:///no/v", true, "unix:///no/h", "unix:///no/h");
	endpoint_is("unix:///no/h", NULL, true, "unix:///no/h", "unix:///no/h");
	endpoint_is(NULL, "unix:///no/v", true, "unix:///no/v", "unix:///no/v");
	endpoint_is("", "unix:///no/v", false, "", "");
	endpoint_is("tcp://h", "unix:///no/v", false, "tcp://h", "");
	endpoint_is(NULL, "tcp://v", false, "tcp://v", "");
	endpoint_is(NULL, "v", false, "v", "");
	snprintf(canonical, sizeof(canonical), "unix://%s",
	         realpath("/var/run/docker.sock", path) != NULL ? path : "/var/run/docker.sock");
	endpoint_is(NULL, "", true, "unix:///var/run/docker.sock", canonical);
	endpoint_is(NULL, NULL, true, "unix:///var/run/docker.sock", canonical);
}

static void endpoint_is_canonical(void **state)
{
	static const struct {
		const char *name;
		size_t bytes; /* of the path that the link leads to; 0: to the root directory */
		bool good;
	} rows[] = {{"short", 40, true}, {"longest", 107, true}, {"longer", 108, false},
	            {"longer_still", 109, false}, {"root", 0, false}};
	char url[160], to[128], canonical[160], path[128];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].bytes == 0)
			assert_int_equal(symlink("/", in_base(rows[i].name, path)), 0);
		else
			linked(rows[i].name, rows[i].bytes, to);
		snprintf(url, sizeof(url), "unix://%s/%s", base, rows[i].name);
		snprintf(canonical, sizeof(canonical), "unix://%s", to);
		endpoint_is(url, NULL, rows[i].good, url, canonical);
	}
	/* It would be one, but does not look so. */
	snprintf(url, sizeof(url), "unix://%s/../%s/short", base, base + strlen("/tmp/"));
	endpoint_is(url, NULL, false, url, "");
}

#define CHOSEN "self_start\nself_home 4096\nself_audit a-audit\n"
#define FOUND CHOSEN "self_docker a-docker\n"
#define OPENED FOUND "state_open a-state-dir /home/u\n"
#define HELD OPENED "state_holds /state '/canonical/audit'\n"
#define READY HELD "environment /state " OTHER "\nset_up\n"

static const struct opening {
	const char *name;
	struct does does;
	const char *host;
	int status, events; /* descriptor of the audit file */
	const char *expected;
} openings[] = {
	{"well", {0}, ENDPOINT, 0, 77, READY "chdir /\n"},
	{"root", {.start = WHY_ROOT}, ENDPOINT, 77, -1, "self_start\n" PUT_ERR "executor.root\n"},
	{"no audit file", {.audit = WHY_AUDIT_OPEN}, ENDPOINT, 66, -1,
	 CHOSEN PUT_ERR "audit.open: a-audit\n"},
	{"no endpoint", {0}, "tcp://x", 77, 77, CHOSEN PUT_ERR "endpoint.grammar: tcp://x\n"},
	{"no docker", {.docker = WHY_DOCKER_MISSING}, ENDPOINT, 69, 77,
	 FOUND PUT_ERR "docker.missing: /bin/docker\n"},
	{"state is bad", {.open = STATE_BAD, .wrong = "is a link"}, ENDPOINT, 77, 77,
	 OPENED PUT_ERR "state.unsafe: /state: is a link\n"},
	{"state is bad, unnamed", {.open = STATE_BAD}, ENDPOINT, 77, 77,
	 OPENED PUT_ERR "state.unsafe: /state\n"},
	{"state is held", {.open = STATE_HELD}, ENDPOINT, 77, 77,
	 OPENED PUT_ERR "state.unsafe: /state\n"},
	{"audit file in it", {.holds = true}, ENDPOINT, 64, 77,
	 HELD PUT_ERR "usage: a file that the state directory needs is named\n"},
	{"no signals", {.no_signals = true}, ENDPOINT, 70, 77,
	 READY PUT_ERR "executor.start: signals\n"},
	{"no root directory", {.no_root = true}, ENDPOINT, 70, 77,
	 READY "chdir /\n" PUT_ERR "executor.start: signals\n"},
};

/* Before it is asked for an audit file: the text of its path stays empty. */
static void opens_without_options(void **state)
{
	(void)state;
	begins((struct does){0});
	memset(&managed, 0, sizeof(managed));
	assert_int_equal(setenv("DOCKER_HOST", ENDPOINT, 1), 0);
	assert_true(managed_open(&managed, &options));
	ends("no options", 0,
	     "self_start\nself_home 4096\nself_docker -\nstate_open - /home/u\n"
	     "state_holds /state ''\nenvironment /state " OTHER "\nset_up\nchdir /\n");
	assert_ptr_equal(managed.options, &options);
	assert_int_equal(managed.events.fd, -1);
	assert_string_equal(managed.docker.path, "/bin/docker");
	assert_string_equal(managed.docker.endpoint, ENDPOINT);
}

static void opens(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(openings) / sizeof(openings[0]); i++) {
		const struct opening *row = &openings[i];

		begins(row->does);
		memset(&managed, 0, sizeof(managed));
		options.value[OPTION_AUDIT] = "a-audit";
		options.value[OPTION_DOCKER] = "a-docker";
		options.value[OPTION_STATE_DIR] = "a-state-dir";
		options.value[OPTION_HOST] = row->host;
		assert_int_equal(managed_open(&managed, &options), row->status == 0);
		ends(row->name, row->status, row->expected);
		assert_ptr_equal(managed.options, &options);
		assert_int_equal(managed.events.fd, row->events);
	}
}

/* --- what docker lists --------------------------------------------------------------- */

#define STARTED(subject) "start ours " subject " -1 -1\nwait 1 -1 0 +30000\n"
#define MOST (CHILD_OUT_MAX - CHILD_PAGE)

static void lists(void **state)
{
	static const struct {
		const char *name;
		struct does does;
		int status;
		const char *expected;
	} rows[] = {
		{"well", {.out = "x", .err = "warned\n"}, 0, ""},
		{"nothing", {0}, 0, ""},
		{"most", {.length = MOST}, 0, ""},
		{"too much", {.length = MOST + 1}, 69,
		 PUT_ERR "docker.failed: docker container ls at " ENDPOINT ", 2097153 bytes: \n"},
		{"too much, and a signal", {.wait = CHILD_SIGNAL, .length = MOST + 1}, 69,
		 PUT_ERR "docker.failed: docker container ls at " ENDPOINT ", 2097153 bytes: \n"},
		{"fails", {.wait = CHILD_FAILED, .out = "abc", .err = "no\nengine\n"}, 69,
		 PUT_ERR "docker.failed: docker container ls at " ENDPOINT
		         ", 3 bytes: no engine\n"},
		{"hangs", {.wait = CHILD_DEADLINE, .out = "abcd", .err = "wait"}, 69,
		 PUT_ERR "docker.deadline: docker container ls at " ENDPOINT ", 4 bytes: wait\n"},
		{"a signal", {.wait = CHILD_SIGNAL, .err = "x"}, 0, ""},
	};
	struct child child;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char expected[512];

		begins(rows[i].does);
		snprintf(expected, sizeof(expected), "start ps a-label -1 -1\nwait 1 -1 0 +30000\n%s",
		         rows[i].expected);
		assert_int_equal(managed_list(&managed, &child, DOCKER_PS, "a-label"),
		                 rows[i].does.wait == CHILD_DONE && rows[i].status == 0);
		ends(rows[i].name, rows[i].status, expected);
		assert_true(fcntl(child.out, F_GETFD) >= 0 && fcntl(child.err, F_GETFD) >= 0);
		child_finish(&child);
	}
}

static unsigned acted;
/* What happens at the first. */
static enum acts { ACT, ACT_SIGNAL, ACT_CHANGE, ACT_CUT, ACT_GROW } acts;

#define LINE_BYTES (CONTAINER_ID + 1 + ID_HEX + 1)
#define LINE ID " " RUN "\n"
#define LINE_OTHER ID " " OTHER "\n"

static void act(struct managed *of, const char *id, const char *run)
{
	assert_ptr_equal(of, &managed);
	note("act '%s' '%s'\n", id, run);
	if (acted++ > 0)
		return;
	if (acts == ACT_SIGNAL)
		does.signal = SIGTERM;
	if (acts == ACT_CHANGE)
		assert_int_equal(pwrite(list.out, "X", 1, LINE_BYTES), 1);
	if (acts == ACT_CUT)
		assert_int_equal(ftruncate(list.out, 2 * LINE_BYTES - 1), 0);
	if (acts == ACT_GROW)
		assert_int_equal(pwrite(list.out, LINE, LINE_BYTES, 2 * LINE_BYTES), LINE_BYTES);
}

#define ACTED "act '" ID "' '" RUN "'\n"
#define ACTED_OTHER "act '" ID "' '" OTHER "'\n"
#define ODD PUT_ERR "docker.failed: docker container ls printed something else than ids and runs\n"

static const struct each {
	const char *name, *out, *run;
	long count;
	const char *expected;
	enum acts acts;
} each[] = {
	{"none", "", NULL, 0, "", ACT},
	{"one", LINE, NULL, 1, ACTED, ACT},
	{"three", LINE LINE_OTHER LINE, NULL, 3, ACTED ACTED_OTHER ACTED, ACT},
	{"of the run", LINE LINE, RUN, 2, ACTED ACTED, ACT},
	{"first of another run", LINE_OTHER LINE, RUN, -1, ODD, ACT},
	{"last of another run", LINE LINE_OTHER, RUN, -1, ODD, ACT},
	{"run's last digit", ID " 00112233445566778899aabbccddeefe\n", RUN, -1, ODD, ACT},
	{"a byte less", LINE ID " 00112233445566778899aabbccddeef\n", NULL, -1, ODD, ACT},
	{"no newline", LINE ID " " RUN, NULL, -1, ODD, ACT},
	{"a byte more", LINE LINE "\n", NULL, -1, ODD, ACT},
	{"a byte only", "x", NULL, -1, ODD, ACT},
	{"upper case id", LINE HEX_16 HEX_16 HEX_16 "0123456789abcdeF " RUN "\n", NULL, -1, ODD,
	 ACT},
	{"id's first digit", "g123456789abcdef" HEX_16 HEX_16 HEX_16 " " RUN "\n", NULL, -1, ODD,
	 ACT},
	{"id's last digit", HEX_16 HEX_16 HEX_16 "0123456789abcdeg " RUN "\n", NULL, -1, ODD, ACT},
	{"short id", HEX_16 HEX_16 HEX_16 "0123456789abcde  " RUN "\n", NULL, -1, ODD, ACT},
	{"long id", ID "0" RUN "\n", NULL, -1, ODD, ACT},
	{"tab", ID "\t" RUN "\n", NULL, -1, ODD, ACT},
	{"run's first digit is none", ID " -0112233445566778899aabbccddeeff\n", NULL, -1, ODD, ACT},
	{"run's last digit is none", ID " 00112233445566778899aabbccddeefF\n", NULL, -1, ODD, ACT},
	{"no run", ID "                                 \n", NULL, -1, ODD, ACT},
	{"run is long", ID " " RUN "0", NULL, -1, ODD, ACT},
	{"line ends otherwise", ID " " RUN "\r", NULL, -1, ODD, ACT},
	{"a signal meanwhile", LINE LINE LINE, NULL, 3, ACTED, ACT_SIGNAL},
	{"the list changes", LINE LINE LINE, NULL, 3, ACTED, ACT_CHANGE},
	{"the list ends", LINE LINE, NULL, 2, ACTED, ACT_CUT},
	{"the list grows", LINE LINE, NULL, 2, ACTED ACTED, ACT_GROW},
};

static void tells_of_each_container(void **state)
{
	unsigned before;

	(void)state;
	before = descriptors();
	for (size_t i = 0; i < sizeof(each) / sizeof(each[0]); i++) {
		char expected[1024];

		begins((struct does){.out = each[i].out});
		acted = 0;
		acts = each[i].acts;
		snprintf(expected, sizeof(expected), STARTED("a-label") "%sfinish\n",
		         each[i].expected);
		assert_int_equal(managed_each(&managed, DOCKER_OURS, "a-label", each[i].run, act),
		                 each[i].count);
		ends(each[i].name, each[i].count < 0 ? 69 : 0, expected);
		assert_int_equal(descriptors(), before);
	}
}

/* A file is less than the offset says: its last line cannot be read. */
static void tells_of_none_that_cannot_be_read(void **state)
{
	(void)state;
	acted = 0;
	begins((struct does){.out = LINE, .length = 2 * LINE_BYTES});
	assert_int_equal(managed_each(&managed, DOCKER_OURS, NULL, NULL, act), -1);
	ends("short", 69, STARTED("-") ODD "finish\n");

	begins((struct does){.out = LINE, .wait = CHILD_FAILED});
	assert_int_equal(managed_each(&managed, DOCKER_OURS, NULL, NULL, act), -1);
	ends("failed", 69,
	     STARTED("-") PUT_ERR "docker.failed: docker container ls at " ENDPOINT
	                          ", 98 bytes: \nfinish\n");

	begins((struct does){.out = LINE, .wait = CHILD_SIGNAL});
	assert_int_equal(managed_each(&managed, DOCKER_OURS, NULL, NULL, act), -1);
	ends("signal at the list", 0, STARTED("-") "finish\n");

	begins((struct does){.out = LINE, .signal = SIGTERM});
	assert_int_equal(managed_each(&managed, DOCKER_OURS, NULL, NULL, act), 1);
	ends("signal after it", 0, STARTED("-") "finish\n");
	assert_int_equal(acted, 0);
}

/* --- one container ------------------------------------------------------------------- */

#define LOOKED "init " RUN "\nlook 30 30 ever\n"
#define UNKNOWN PUT_ERR "docker.failed: docker container ls, of run " RUN " at " ENDPOINT "\n"

static void looks(void **state)
{
	static const struct {
		const char *name;
		struct does does;
		int status;
		const char *expected;
	} rows[] = {
		{"gone", {.look = REMOVAL_GONE}, 0, LOOKED},
		{"there", {.look = REMOVAL_THERE, .looked = ID}, 0, LOOKED},
		{"unknown", {.look = REMOVAL_UNKNOWN}, 69, LOOKED UNKNOWN},
		{"gone, and a signal", {.look = REMOVAL_GONE, .signal = SIGTERM}, 0, LOOKED},
		{"unknown for a signal", {.look = REMOVAL_UNKNOWN, .signal = SIGTERM}, 0, LOOKED},
	};
	struct removal removal;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		begins(rows[i].does);
		assert_int_equal(managed_look(&managed, &removal, RUN), rows[i].does.look);
		ends(rows[i].name, rows[i].status, rows[i].expected);
		assert_string_equal(removal.id, rows[i].does.look == REMOVAL_THERE ? ID : "");
	}
}

#define REMOVE "remove 30 30 '" ID "'\n"
#define REAPED "event reaped " RUN " '" ID "' 0 0\n"
#define RESIDUAL "event residual " RUN " '" ID "' 80 0\n"
#define REMAINS PUT_ERR "remove.unconfirmed: container " ID " of run " RUN " at " ENDPOINT "\n"
#define LISTED "put 1 ever " LINE
#define UNWRITTEN PUT_ERR "audit.event: writing\n"
#define SETTLE "remove 30 30 '' settle\n"
#define REMAINS_UNKNOWN \
	PUT_ERR "remove.unconfirmed: container of unknown id of run " RUN " at " ENDPOINT "\n"

static const struct removes {
	const char *name, *id;
	bool settle;
	struct does does;
	bool gone;
	int status;
	const char *expected;
} removes[] = {
	{"gone before", ID, false, {.look = REMOVAL_GONE}, true, 0, LOOKED},
	{"removed", ID, false, {.look = REMOVAL_THERE, .looked = ID}, true, 0,
	 LOOKED REMOVE REAPED LISTED},
	{"not found again, and removed", ID, false, {.look = REMOVAL_UNKNOWN}, true, 69,
	 LOOKED UNKNOWN REMOVE REAPED LISTED},
	{"by the id that was listed", ID, false, {.look = REMOVAL_THERE, .looked = OTHER OTHER},
	 true, 0, LOOKED REMOVE REAPED LISTED},
	{"removed, no event", ID, false, {.look = REMOVAL_THERE, .unwritten = true}, true, 77,
	 LOOKED REMOVE REAPED UNWRITTEN LISTED},
	{"removed, nobody reads", ID, false, {.look = REMOVAL_THERE, .put = EPIPE}, true, 70,
	 LOOKED REMOVE REAPED LISTED PUT_ERR "output.write: standard output: Broken pipe\n"},
	{"stays", ID, false, {.look = REMOVAL_THERE, .stays = true}, false, 80,
	 LOOKED REMOVE RESIDUAL REMAINS},
	{"stays, no event", ID, false, {.look = REMOVAL_THERE, .stays = true, .unwritten = true},
	 false, 80, LOOKED REMOVE RESIDUAL UNWRITTEN REMAINS},
	{"stays for a signal", ID, false, {.look = REMOVAL_THERE, .stays = true, .signal = SIGTERM},
	 false, 0, LOOKED REMOVE RESIDUAL},
	{"never came", "", true, {.look = REMOVAL_GONE}, true, 0, LOOKED SETTLE},
	{"gone before, to be settled", ID, true, {.look = REMOVAL_GONE}, true, 0,
	 LOOKED "remove 30 30 '" ID "' settle\n" REAPED LISTED},
	{"came", "", true, {.look = REMOVAL_GONE, .removed = ID}, true, 0,
	 LOOKED SETTLE REAPED LISTED},
	{"came and stays", "", true, {.look = REMOVAL_GONE, .removed = ID, .stays = true}, false,
	 80, LOOKED SETTLE RESIDUAL REMAINS},
	{"may still come", "", true, {.look = REMOVAL_GONE, .stays = true}, false, 80,
	 LOOKED SETTLE "event residual " RUN " '' 80 0\n" REMAINS_UNKNOWN},
	{"came, and is gone by itself", "", true, {.look = REMOVAL_THERE, .looked = ID}, true, 0,
	 LOOKED SETTLE},
	{"came, and is not found again", "", true,
	 {.look = REMOVAL_THERE, .looked = ID, .stays = true}, false, 80,
	 LOOKED SETTLE "event residual " RUN " '' 80 0\n" REMAINS_UNKNOWN},
};

static void removes_one(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(removes) / sizeof(removes[0]); i++) {
		const struct removes *row = &removes[i];

		begins(row->does);
		assert_int_equal(managed_remove(&managed, row->id, RUN, row->settle), row->gone);
		ends(row->name, row->status, row->expected);
	}
}

/* --- claims -------------------------------------------------------------------------- */

static const char *const claims[] = {RUN, OTHER, "0123456789abcdef0123456789abcdef"};
static const char *const no_claims[] = {
	"00112233445566778899aabbccddeef", /* a digit less */
	"00112233445566778899aabbccddeeff0", /* one more */
	"00112233445566778899aabbccddeeff.new",
	"00112233445566778899aabbccddeefF",
	"g0112233445566778899aabbccddeeff",
	"lock",
};
static unsigned seen[3], seen_at_most;

static bool see(struct managed *of, const char *run)
{
	assert_ptr_equal(of, &managed);
	for (size_t i = 0; i < 3; i++)
		if (strcmp(run, claims[i]) == 0) {
			seen[i]++;
			errno = EWOULDBLOCK;
			return seen[0] + seen[1] + seen[2] < seen_at_most;
		}
	fail_msg("%s is no claim", run);
	return false;
}

static void make_claim(const char *name)
{
	char path[128];

	assert_int_equal(mkdir(in_base(name, path), 0700), 0);
}

static bool sees(unsigned at_most)
{
	const unsigned before = descriptors();
	bool good;

	memset(seen, 0, sizeof(seen));
	seen_at_most = at_most;
	errno = ENOENT; /* as it may have been before */
	good = managed_claims(&managed, see);
	assert_int_equal(descriptors(), before);
	ends("claims", 0, "openat . directory\n");
	return good;
}

static void finds_claims(void **state)
{
	int own = dup(STDIN_FILENO);

	(void)state;
	begins((struct does){0});
	managed.state.claims = open(base, O_RDONLY | O_DIRECTORY);
	assert_true(managed.state.claims >= 0);
	assert_true(sees(9));
	for (size_t i = 0; i < sizeof(no_claims) / sizeof(no_claims[0]); i++)
		make_claim(no_claims[i]);
	assert_true(sees(9));
	assert_int_equal(seen[0] + seen[1] + seen[2], 0);
	for (size_t i = 0; i < 3; i++)
		make_claim(claims[i]);
	/* However often; and the descriptor that there is keeps its offset. */
	for (unsigned i = 0; i < 2; i++) {
		assert_true(sees(9));
		assert_true(seen[0] == 1 && seen[1] == 1 && seen[2] == 1);
	}
	for (unsigned i = 1; i < 4; i++) {
		assert_false(sees(i));
		assert_int_equal(seen[0] + seen[1] + seen[2], i);
	}
	close(STDIN_FILENO); /* the least descriptor is as good as any */
	assert_true(sees(9));
	assert_true(seen[0] == 1 && seen[1] == 1 && seen[2] == 1);
	assert_int_equal(dup2(own, STDIN_FILENO), STDIN_FILENO);
	close(own);
	close(managed.state.claims);
}

static void tells_claims_that_cannot_be_read(void **state)
{
	(void)state;
	begins((struct does){0});
	managed.state.claims = open(base, O_RDONLY | O_DIRECTORY);
	for (size_t i = 0; i < 3; i++)
		make_claim(claims[i]);
	for (unsigned i = 1; i <= 3 + 2; i++) { /* with the directory and the one above */
		does.unread = i;
		assert_false(sees(9));
		assert_in_range(seen[0] + seen[1] + seen[2], i > 2 ? i - 3 : 0, i - 1);
	}
	does.unread = 3 + 2 + 1; /* the end itself */
	assert_false(sees(9));
	assert_int_equal(seen[0] + seen[1] + seen[2], 3);
	does.unread = 3 + 2 + 2;
	assert_true(sees(9));
	does = (struct does){.unread = 1, .ended = true}; /* not even the directory itself */
	assert_true(sees(9));
	does = (struct does){.no_claims = true};
	assert_false(sees(9));
	assert_int_equal(seen[0] + seen[1] + seen[2], 0);
	close(managed.state.claims);
}

static void drops_or_leaves_a_claim(void **state)
{
	int claim = written("claim", 0);

	(void)state;
	begins((struct does){0});
	managed.state.claim = 55;
	managed_drop(&managed, true);
	ends("gone", 0, "drop_claim 55\n");

	begins((struct does){.replaced = true});
	managed.state.claim = 55;
	managed_drop(&managed, true);
	ends("replaced", 70, "drop_claim 55\n" PUT_ERR "lock.changed: claim\n");

	begins((struct does){0});
	managed.state.claim = claim;
	managed_drop(&managed, false);
	ends("not gone", 0, "");
	assert_int_equal(managed.state.claim, -1);
	assert_int_equal(fcntl(claim, F_GETFD), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(f) cmocka_unit_test(f)
#define TEST_IN_BASE(f) cmocka_unit_test_setup_teardown(f, make_base, remove_base)
		TEST(tells_each_failure_once),
		TEST(judges_policy),
		TEST(tells_of_a_signal_at_the_end),
		TEST(puts_to_standard_output),
		TEST(endpoint_is_that_of_option_variable_or_default),
		TEST_IN_BASE(endpoint_is_canonical),
		TEST(opens_without_options),
		TEST(opens),
		TEST(lists),
		TEST(tells_of_each_container),
		TEST(tells_of_none_that_cannot_be_read),
		TEST(looks),
		TEST(removes_one),
		TEST_IN_BASE(finds_claims),
		TEST_IN_BASE(tells_claims_that_cannot_be_read),
		TEST(drops_or_leaves_a_claim),
#undef TEST
#undef TEST_IN_BASE
	};


	usual_surroundings();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

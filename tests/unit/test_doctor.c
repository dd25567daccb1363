/* SPDX-License-Identifier: ISC */
#undef _FORTIFY_SOURCE /* it would define some of the calls below itself */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <bsd/string.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "../../executor/doctor.h"
#include "../../executor/managed.h"
#include "../../executor/say.h"
#include "../../executor/self.h"
#include "pass_on.h"

/*
 * doctor_run over a world that is made up: below stand stand-ins for the modules
 * and for the calls of the library that touch the real one.  Each notes how it was
 * called and does as the world says.  say, engine and gate are the real ones.
 */

#define EUID 1001
#define ZERO UINT32_MAX /* of a number of the world, where 0 stands for the usual one */
#define ZERO_FD INT32_MAX
#define NOW 5000

/* Descriptors; none of them is open. */
enum { DOCUMENT = 1060, POLICY, CONFIG, STATE, PARENT, OUT = 1070, ERR };

enum asked { JSON, CHECK, CLIENT, VERSION, INFO, IMAGE, ASKED };

struct answer {
	enum child_wait wait;
	int status;
	const char *out, *err; /* NULL: as usual, "" */
};

/* Everything is fine where nothing is said. */
static struct world {
	const char *option[OPTION_COUNT];
	const char *config_env, *host_env, *agent_env, *state_env;
	enum executor_reason start, config, docker;
	enum executor_reason policy[2]; /* this one and the next are of json and of check */
	bool no_document[2], no_seek[2];
	bool no_signals;
	const char *home;
	unsigned uid, gid;
	long abi;
	int config_fd, config_errno;
	bool no_state, foreign_disk, no_endpoint;
	const char *unsafe, *denied; /* these paths are */
	const char *state, *there, *barred; /* there: NULL, or only this; barred: EACCES */
	const char *wrong; /* the state directory */
	int lock_errno, parent_fd;
	const char *docker_path, *socket;
	int socket_errno;
	unsigned owner;
	mode_t mode;
	struct answer answer[ASKED];
	unsigned signal_at, full_at; /* the check, counted from 1 */
} world;

static bool running; /* doctor_run is */
static bool unnamed; /* the image is */
static struct options options;
static enum asked asked; /* the child that was started last */
static unsigned policies, documents, seeks, signals; /* how often they were asked for */

static char calls[16384]; /* since the last check was shown */
static struct {
	char line[4 * SAY_CHILD], calls[2048];
} shown[32];
static unsigned lines;

__attribute__((format(printf, 1, 2))) static void call(const char *format, ...)
{
	const size_t len = strlen(calls);
	va_list words;

	va_start(words, format);
	vsnprintf(calls + len, sizeof(calls) - len, format, words);
	va_end(words);
}

static unsigned number_or(unsigned given, unsigned usual)
{
	return given == ZERO ? 0 : given != 0 ? given : usual;
}

static int fd_or(int given, int usual)
{
	return given == ZERO_FD ? 0 : given != 0 ? given : usual;
}

static const char *text_or(const char *given, const char *usual)
{
	return given != NULL ? given : usual;
}

/* --- the library ----------------------------------------------------------------- */

uid_t getuid(void)
{
	return number_or(world.uid, 1000);
}

gid_t getgid(void)
{
	return number_or(world.gid, 1000);
}

uid_t geteuid(void)
{
	return EUID;
}

/* landlock_create_ruleset(2) is the only one. */
long syscall(long number, ...)
{
	va_list more;
	const void *attributes;
	size_t size;
	unsigned flags;

	va_start(more, number);
	attributes = va_arg(more, const void *);
	size = va_arg(more, size_t);
	flags = va_arg(more, unsigned);
	va_end(more);
	call("syscall %ld %s %zu %u\n", number, attributes == NULL ? "NULL" : "?", size, flags);
	return world.abi == ZERO ? 0 : world.abi != 0 ? world.abi : 2;
}

int uname(struct utsname *kernel)
{
	strcpy(kernel->release, "6.1.0-37-amd64");
	return 0;
}

off_t lseek(int fd, off_t at, int whence)
{
	PASS_ON(lseek);

	if (!running)
		return passed_on(fd, at, whence);
	call("lseek %d %lld %d\n", fd, (long long)at, whence);
	return fd < 0 || world.no_seek[seeks++] ? -1 : at;
}

int open(const char *path, int flags, ...)
{
	va_list more;
	mode_t mode;
	PASS_ON(open);

	va_start(more, flags);
	mode = (flags & O_CREAT) != 0 ? va_arg(more, mode_t) : 0;
	va_end(more);
	if (!running)
		return passed_on(path, flags, mode);
	call("open %s\n", path);
	assert_int_equal(flags, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd_or(world.parent_fd, PARENT);
}

int close(int fd)
{
	PASS_ON(close);

	if (!running)
		return passed_on(fd);
	call("close %d\n", fd);
	return 0;
}

/* One that succeeds leaves an errno of before. */
int lstat(const char *restrict path, struct stat *restrict st)
{
	call("lstat %s\n", path);
	*st = (struct stat){.st_mode = S_IFDIR | 0700};
	errno = world.barred != NULL && strcmp(path, world.barred) == 0 ? EACCES : ENOENT;
	return errno == ENOENT && (world.there == NULL || strcmp(path, world.there) == 0) ? 0 : -1;
}

int stat(const char *restrict path, struct stat *restrict st)
{
	call("stat %s\n", path);
	errno = world.socket_errno;
	if (world.socket_errno != 0)
		return -1;
	*st = (struct stat){.st_uid = number_or(world.owner, 0), .st_gid = 998,
	                    .st_mode = world.mode != 0 ? world.mode : S_IFSOCK | 0660};
	return 0;
}

int access(const char *path, int how)
{
	PASS_ON(access);

	if (!running)
		return passed_on(path, how);
	call("access %s %d\n", path, how);
	return world.denied != NULL && strcmp(path, world.denied) == 0 ? -1 : 0;
}

int flock(int fd, int how)
{
	call("flock %d %d\n", fd, how);
	errno = world.lock_errno != 0 ? world.lock_errno : ENOLCK;
	return world.lock_errno == 0 ? 0 : -1;
}

/* --- self.h ------------------------------------------------------------------------ */

enum executor_reason self_start(void)
{
	call("self_start\n");
	return world.start;
}

void self_home(char *home, size_t cap)
{
	call("self_home\n");
	assert_int_equal(cap, SELF_PATH);
	strcpy(home, text_or(world.home, "/home/w"));
}

bool self_safe(const char *path, uid_t owner, bool sticky)
{
	call("self_safe %s %u %d\n", path, owner, sticky);
	return world.unsafe == NULL || strcmp(path, world.unsafe) != 0;
}

const char *self_config_named(const char *given)
{
	assert_ptr_equal(given, world.option[OPTION_CONFIG]);
	if (given == NULL && world.config_env != NULL && world.config_env[0] != '\0')
		given = world.config_env;
	return given;
}

enum executor_reason self_config(const char *given, const char *home, int *fd, char *path)
{
	call("self_config\n");
	assert_ptr_equal(given, world.option[OPTION_CONFIG]);
	assert_string_equal(home, text_or(world.home, "/home/w"));
	*fd = world.config == WHY_CONFIG_OPEN ? -1 : fd_or(world.config_fd, CONFIG);
	strcpy(path, "/p/config.json");
	errno = world.config_errno;
	return world.config;
}

enum executor_reason self_docker(const char *given, char *path)
{
	call("self_docker\n");
	assert_ptr_equal(given, world.option[OPTION_DOCKER]);
	strcpy(path, text_or(world.docker_path, "/usr/bin/docker"));
	return world.docker;
}

enum executor_reason self_policy(int *fd, char *own, char *path)
{
	const enum executor_reason why = world.policy[policies++];

	call("self_policy\n");
	assert_int_equal(*fd, -1);
	strcpy(own, "/l/cofferdam");
	strcpy(path, "/l/cofferdam-policy");
	if (why == WHY_NONE)
		*fd = POLICY;
	return why;
}

/* --- child.h ----------------------------------------------------------------------- */

bool child_set_up(void)
{
	call("child_set_up\n");
	return !world.no_signals;
}

int child_signal(void)
{
	return ++signals == world.signal_at ? 15 : 0;
}

int64_t child_now(void)
{
	return NOW;
}

int child_document(const void *bytes, size_t len)
{
	call("child_document\n");
	assert_int_equal(len, 3);
	assert_memory_equal(bytes, "{}\n", 3);
	return world.no_document[documents++] ? -1 : DOCUMENT;
}

static void starts(struct child *child, enum asked kind)
{
	asked = kind;
	*child = (struct child){.pid = 9, .status = -77, .out = OUT, .err = ERR};
}

void child_start(struct child *child, const struct child_plan *plan)
{
	call("start \"%s\" %d:", plan->path, plan->program);
	for (const char *const *at = plan->argv; *at != NULL; at++)
		call(" %s", *at);
	for (const char *const *at = plan->env; *at != NULL; at++)
		call(" %s", *at);
	call(", %d: %d %d %d\n", plan->count, plan->fd[0], plan->fd[1], plan->fd[2]);
	starts(child, strcmp(plan->argv[1], "check") == 0 ? CHECK : JSON);
}

enum child_wait child_wait(struct child *set, size_t count, int fd, short events,
                           int64_t deadline)
{
	assert_int_equal(set->status, -77);
	assert_int_equal(count, 1);
	assert_int_equal(fd, -1);
	assert_int_equal(events, 0);
	call("wait %lld\n", (long long)deadline);
	return world.answer[asked].wait;
}

static const char *answer(int fd)
{
	static const char *const usual[ASKED] = {
		[JSON] = "{}\n",
		[CHECK] = "",
		[CLIENT] = "Docker version 28.2.2, build e6534b4\n",
		[VERSION] = "28.2.2\n1.50\n27.5.1\n1.47\nEngine containerd runc \n",
		[INFO] = "linux, Debian\n/var/lib/docker\nname=apparmor name=seccomp,profile=builtin \n"
		         "version 2, systemd\nMemoryLimit=true\nSwapLimit=true\nCpuCfsQuota=true\n"
		         "PidsLimit=true\nnone\n",
		[IMAGE] = "sha256:0a1b\nlinux\n\n",
	};

	assert_true(fd == OUT || fd == ERR);
	return fd == ERR ? text_or(world.answer[asked].err, "") :
	                   text_or(world.answer[asked].out, usual[asked]);
}

size_t child_read(int memfd, char *to, size_t cap)
{
	call("read %d\n", memfd);
	assert_int_equal(cap, SAY_CHILD);
	snprintf(to, cap, "%s", answer(memfd));
	return strlen(to);
}

/* Whatever still ran has a status only now. */
void child_finish(struct child *child)
{
	call("finish\n");
	child->status = world.answer[asked].status;
	child->out = child->err = -1;
}

/* --- docker.h, state.h, managed.h ---------------------------------------------------- */

void docker_environment(struct docker *docker, const char *state_path, const char *state_id)
{
	call("docker_environment \"%s\" \"%s\"\n", state_path, state_id);
	strcpy(docker->home, "HOME=/n");
}

void docker_start(struct child *child, const struct docker *docker, enum docker_command command,
                  const char *subject, int in, int out)
{
	static const enum asked kinds[DOCKER_COMMANDS] = {
		[DOCKER_VERSION] = VERSION,
		[DOCKER_INFO] = INFO,
		[DOCKER_IMAGE_LINES] = IMAGE,
	};

	call("docker_start %d %s %d %d\n", (int)command - DOCKER_CLIENT,
	     subject != NULL ? subject : "NULL", in, out);
	assert_string_equal(docker->home, "HOME=/n");
	assert_string_equal(docker->path, text_or(world.docker_path, "/usr/bin/docker"));
	starts(child, command == DOCKER_CLIENT ? CLIENT : kinds[command]);
}

bool state_choose(char *path, const char *given, const char *home)
{
	call("state_choose\n");
	assert_ptr_equal(given, world.option[OPTION_STATE_DIR]);
	assert_string_equal(home, text_or(world.home, "/home/w"));
	strcpy(path, text_or(world.state, "/s"));
	return !world.no_state;
}

enum state_result state_open(struct state *state, const char *given, const char *home)
{
	call("state_open\n");
	assert_ptr_equal(given, world.option[OPTION_STATE_DIR]);
	assert_string_equal(home, text_or(world.home, "/home/w"));
	strcpy(state->path, "/real/s");
	state->dir = STATE;
	state->wrong = world.wrong;
	return world.wrong != NULL ? STATE_BAD : STATE_OK;
}

bool state_local(int fd)
{
	call("state_local %d\n", fd);
	return !world.foreign_disk;
}

bool managed_endpoint(const struct options *given, struct docker *docker, const char **said)
{
	call("managed_endpoint\n");
	assert_ptr_equal(given, &options);
	*said = "tcp://asked";
	snprintf(docker->endpoint, sizeof(docker->endpoint), "unix://%s",
	         text_or(world.socket, "/run/docker.sock"));
	return !world.no_endpoint;
}

bool managed_put(struct managed *managed, const char *bytes, size_t len)
{
	assert_ptr_equal(managed->options, &options);
	assert_int_equal(len, strlen(bytes));
	assert_true(lines < sizeof(shown) / sizeof(shown[0]));
	strlcpy(shown[lines].line, bytes, sizeof(shown[lines].line));
	strlcpy(shown[lines].calls, calls, sizeof(shown[lines].calls));
	calls[0] = '\0';
	return ++lines != world.full_at;
}

/* The next run begins as the first did. */
int managed_end(struct managed *managed)
{
	const int status = managed->status;

	*managed = (struct managed){0};
	return status;
}

/* --- what is expected ------------------------------------------------------------------ */

enum verdict { USUAL, OK, WARN, FAIL, UNKNOWN };

struct expected {
	const char *check;
	enum verdict verdict;
	enum executor_reason why; /* its sentence stands before detail */
	const char *detail, *mend; /* mend: NULL: the reason's */
	const char *calls;
};

#define ENDS "wait 35000\nread 1070\nread 1071\nfinish\n"
#define NO_ENV "LC_ALL=C DOCKER_HOST= SSH_AUTH_SOCK= STATE_DIRECTORY="
#define POLICY_RUNS(words) \
	"child_document\nself_policy\nlseek 1060 0 0\n" \
	"start \"\" 1061: cofferdam-policy " words ", 3: 1060 -1 -1\n" ENDS \
	"close 1061\nclose 1060\n"
#define CHECK_RUNS(env) POLICY_RUNS("check -c /p/config.json " env)
#define STATE_LOOKS "state_choose\nlstat /s\n"
#define CLIENT_FOUND "self_docker\ndocker_environment \"/nonexistent\" \"\"\n"
#define VERSION_RUNS "docker_start 1 NULL -1 -1\n" ENDS
#define INFO_RUNS "docker_start 2 NULL -1 -1\n" ENDS
#define FILTERS "name=apparmor name=seccomp,profile=builtin"

static const struct expected usual[] = {
	{"user", OK, 0, "uid 1000, gid 1000, /home/w", "", "self_start\nchild_set_up\nself_home\n"},
	{"landlock", OK, 0, "kernel 6.1.0-37-amd64, ABI 2", "", "syscall 444 NULL 0 1\n"},
	{"policy", OK, 0, "/l/cofferdam-policy confines itself", "", POLICY_RUNS("json LC_ALL=C")},
	{"config", OK, 0, "/p/config.json: allowed", "",
	 "self_config\nclose 1062\n" CHECK_RUNS(NO_ENV)},
	{"state", OK, 0, "/real/s: locks work", "", STATE_LOOKS "state_open\nflock 1063 5\n"},
	{"docker", OK, 0, "/usr/bin/docker, Docker version 28.2.2, build e6534b4", "",
	 CLIENT_FOUND "docker_start 0 NULL -1 -1\n" ENDS},
	{"endpoint", OK, 0, "unix:///run/docker.sock: uid 0, gid 998, mode 0660", "",
	 "managed_endpoint\nstat /run/docker.sock\nself_safe /run 1001 1\n"
	 "access /run/docker.sock 6\n"},
	{"engine", OK, 0, "version 27.5.1: Engine containerd runc", "", VERSION_RUNS INFO_RUNS},
	{"versions", OK, 0, "docker 28.2.2 speaks API 1.50, its engine 27.5.1 speaks 1.47", "", ""},
	{"kind", OK, 0, "linux, Debian", "", ""},
	{"seccomp", OK, 0, FILTERS, "", ""},
	{"lsm", OK, 0, FILTERS, "", ""},
	{"cgroup", OK, 0, "version 2, systemd", "", ""},
	{"memory", OK, 0, "MemoryLimit=true", "", ""},
	{"swap", OK, 0, "SwapLimit=true", "", ""},
	{"cpu", OK, 0, "CpuCfsQuota=true", "", ""},
	{"pids", OK, 0, "PidsLimit=true", "", ""},
	{"warnings", OK, 0, "none", "", ""},
	{"image", OK, 0, "worker:1 linux sha256:0a1b", "", "docker_start 3 worker:1 -1 -1\n" ENDS},
};
#define CHECKS (sizeof(usual) / sizeof(usual[0]))

/* Which are not looked at when one failed. */
#define OF_ENGINE " versions kind seccomp lsm cgroup memory swap cpu pids warnings image "
static const struct {
	const char *failed, *others;
} needs[] = {
	{"user", " policy config state docker endpoint engine" OF_ENGINE},
	{"policy", " config "},
	{"docker", " engine" OF_ENGINE},
	{"endpoint", " engine" OF_ENGINE},
	{"engine", OF_ENGINE},
};

static bool needed(const char *failed, const char *check)
{
	char word[16];

	snprintf(word, sizeof(word), " %s ", check);
	for (size_t i = 0; i < sizeof(needs) / sizeof(needs[0]); i++)
		if (strcmp(needs[i].failed, failed) == 0)
			return strstr(needs[i].others, word) != NULL;
	return false;
}

static const char *quoted(const char *text)
{
	static char to[2][2 * SAY_CHILD + 3];
	static unsigned turn;
	char *const quote = to[turn++ % 2], *at = quote;

	for (*at++ = '"'; *text != '\0'; *at++ = *text++)
		if (*text == '"' || *text == '\\')
			*at++ = '\\';
	strcpy(at, "\"");
	return quote;
}

/* reason and status: of the failure, "" and 0 when it is none. */
static void expect_line(const char *line, const struct expected *e, const char *reason, int status)
{
	static const char *const words[] = {"", "ok", "warn", "fail", "unknown"};
	static char found[SAY_CHILD], whole[4 * SAY_CHILD];
	const struct say_row *row = say_row(e->why);
	const char *mend = text_or(e->mend, row->hint);

	snprintf(found, sizeof(found), "%s%s%s", row->sentence, e->why != WHY_NONE ? ": " : "",
	         e->detail);
	if (world.option[OPTION_JSON] != NULL)
		snprintf(whole, sizeof(whole),
		         "{\"check\":\"%s\",\"verdict\":\"%s\",\"found\":%s,\"mend\":%s,"
		         "\"reason\":\"%s\",\"exit\":%d}\n",
		         e->check, words[e->verdict], quoted(found), quoted(mend), reason, status);
	else
		snprintf(whole, sizeof(whole), "%-7s %-8s %s%s%s\n", words[e->verdict], e->check, found,
		         mend[0] != '\0' ? "; mend: " : "", mend);
	assert_string_equal(line, whole);
}

static void set(const char *name, const char *value)
{
	assert_int_equal(value != NULL ? setenv(name, value, 1) : unsetenv(name), 0);
}

static int doctor(const struct world *given, const char *json)
{
	int status;
	size_t said;

	world = *given;
	world.option[OPTION_JSON] = json;
	set("COFFERDAM_CONFIG", world.config_env);
	set("DOCKER_HOST", world.host_env);
	set("SSH_AUTH_SOCK", world.agent_env);
	set("STATE_DIRECTORY", world.state_env);
	memcpy(options.value, world.option, sizeof(options.value));
	if (options.value[OPTION_IMAGE] == NULL && !unnamed)
		options.value[OPTION_IMAGE] = "worker:1";
	policies = documents = seeks = signals = lines = 0;
	calls[0] = '\0';
	memset(shown, 0, sizeof(shown));
	running = true;
	status = doctor_run(&options);
	running = false;
	say_text(&said);
	assert_int_equal(said, 0);
	return status;
}

#define CHANGES 3

/* What the world is like, and which lines are others than usual for it. */
struct row {
	struct world world;
	struct expected changed[CHANGES]; /* without calls: the usual ones */
	const char *reason; /* of a policy process that refuses, and its status */
	int status;
};

static const struct expected *change_of(const struct row *row, const char *check)
{
	for (size_t i = 0; i < CHANGES; i++)
		if (row->changed[i].check != NULL && strcmp(row->changed[i].check, check) == 0)
			return &row->changed[i];
	return NULL;
}

static bool looked_at(const struct row *row, const char *check)
{
	for (size_t i = 0; i < CHANGES; i++)
		if (row->changed[i].verdict == FAIL && needed(row->changed[i].check, check))
			return false;
	return true;
}

/* Both forms of the output, every line of it, the calls that each took, and the status. */
static void expect(const struct row *row)
{
	for (int json = 0; json < 2; json++) {
		const int status = doctor(&row->world, json ? "" : NULL);
		int first = 0;

		assert_int_equal(lines, CHECKS);
		for (size_t i = 0; i < CHECKS; i++) {
			const struct expected *change = change_of(row, usual[i].check);
			struct expected e = change != NULL ? *change : usual[i];
			const bool fails = e.verdict == FAIL;
			const int fatal =
				row->reason != NULL ? row->status : say_row(e.why)->status;

			if (e.calls == NULL)
				e.calls = usual[i].calls;
			if (!looked_at(row, e.check))
				e = (struct expected){e.check, UNKNOWN, 0, "not looked at",
				                      "see the failure above", ""};
			expect_line(shown[i].line, &e,
			            !fails ? "" : text_or(row->reason, say_row(e.why)->reason),
			            fails ? fatal : 0);
			assert_string_equal(shown[i].calls, e.calls);
			first = first == 0 && fails ? fatal : first;
		}
		assert_int_equal(status, first);
	}
}

static void expect_all(const struct row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++)
		expect(&rows[i]);
}
#define EXPECT(rows) expect_all(rows, sizeof(rows) / sizeof((rows)[0]))

/* --- the tests --------------------------------------------------------------------------- */

static void nothing_is_the_matter(void **state)
{
	static const char *const whole[] = {
		"ok      user     uid 1000, gid 1000, /home/w\n",
		"ok      landlock kernel 6.1.0-37-amd64, ABI 2\n",
		"ok      policy   /l/cofferdam-policy confines itself\n",
		"ok      config   /p/config.json: allowed\n",
		"ok      state    /real/s: locks work\n",
		"ok      docker   /usr/bin/docker, Docker version 28.2.2, build e6534b4\n",
		"ok      endpoint unix:///run/docker.sock: uid 0, gid 998, mode 0660\n",
		"ok      engine   version 27.5.1: Engine containerd runc\n",
		"ok      versions docker 28.2.2 speaks API 1.50, its engine 27.5.1 speaks 1.47\n",
		"ok      kind     linux, Debian\n",
		"ok      seccomp  name=apparmor name=seccomp,profile=builtin\n",
		"ok      lsm      name=apparmor name=seccomp,profile=builtin\n",
		"ok      cgroup   version 2, systemd\n",
		"ok      memory   MemoryLimit=true\n",
		"ok      swap     SwapLimit=true\n",
		"ok      cpu      CpuCfsQuota=true\n",
		"ok      pids     PidsLimit=true\n",
		"ok      warnings none\n",
		"ok      image    worker:1 linux sha256:0a1b\n",
	};
	static const struct row fine;

	(void)state;
	expect(&fine);
	assert_int_equal(doctor(&fine.world, NULL), 0);
	for (size_t i = 0; i < CHECKS; i++)
		assert_string_equal(shown[i].line, whole[i]);
	assert_int_equal(doctor(&fine.world, ""), 0);
	assert_string_equal(shown[1].line,
	                    "{\"check\":\"landlock\",\"verdict\":\"ok\","
	                    "\"found\":\"kernel 6.1.0-37-amd64, ABI 2\",\"mend\":\"\","
	                    "\"reason\":\"\",\"exit\":0}\n");
}

#define NO_HOME "give the user a home directory, or name --state-dir in every command"
#define BAD_ID "name user.uid and user.gid in the config, from 1 to 2147483647"

static void the_user(void **state)
{
	static const struct row rows[] = {
		{.world = {.start = WHY_ROOT},
		 .changed = {{"user", FAIL, WHY_ROOT, "uid 1000, gid 1000, /home/w", NULL,
		              "self_start\nself_home\n"}}},
		{.world = {.no_signals = true},
		 .changed = {{"user", FAIL, WHY_START, "uid 1000, gid 1000, /home/w", NULL, NULL}}},
		{.world = {.home = ""},
		 .changed = {{"user", WARN, 0, "uid 1000, gid 1000, no home directory", NO_HOME,
		              NULL}}},
		{.world = {.home = "", .no_signals = true},
		 .changed = {{"user", FAIL, WHY_START, "uid 1000, gid 1000, no home directory", NULL,
		              NULL}}},
		{.world = {.uid = ZERO},
		 .changed = {{"user", OK, 0, "uid 0, gid 1000, /home/w", NULL, NULL}}},
		{.world = {.uid = 2147483647, .gid = 1},
		 .changed = {{"user", OK, 0, "uid 2147483647, gid 1, /home/w", NULL, NULL}}},
		{.world = {.uid = 2147483648},
		 .changed = {{"user", WARN, 0, "uid 2147483648, gid 1000, /home/w", BAD_ID, NULL}}},
		{.world = {.gid = ZERO},
		 .changed = {{"user", WARN, 0, "uid 1000, gid 0, /home/w", BAD_ID, NULL}}},
		{.world = {.gid = 2147483647},
		 .changed = {{"user", OK, 0, "uid 1000, gid 2147483647, /home/w", NULL, NULL}}},
		{.world = {.gid = 2147483648},
		 .changed = {{"user", WARN, 0, "uid 1000, gid 2147483648, /home/w", BAD_ID, NULL}}},
		{.world = {.gid = ZERO, .home = ""},
		 .changed = {{"user", WARN, 0, "uid 1000, gid 0, no home directory", BAD_ID, NULL}}},
		{.world = {.gid = ZERO, .no_signals = true},
		 .changed = {{"user", FAIL, WHY_START, "uid 1000, gid 0, /home/w", NULL, NULL}}},
	};

	(void)state;
	EXPECT(rows);
}

static void landlock(void **state)
{
	static const struct row rows[] = {
		{.world = {.abi = -1},
		 .changed = {{"landlock", FAIL, WHY_LANDLOCK, "kernel 6.1.0-37-amd64, ABI -1", NULL,
		              NULL}}},
		{.world = {.abi = ZERO},
		 .changed = {{"landlock", FAIL, WHY_LANDLOCK, "kernel 6.1.0-37-amd64, ABI 0", NULL,
		              NULL}}},
		{.world = {.abi = 1},
		 .changed = {{"landlock", OK, 0, "kernel 6.1.0-37-amd64, ABI 1", NULL, NULL}}},
	};

	(void)state;
	EXPECT(rows);
}

#define OWN "/l/cofferdam-policy"

static void the_policy_process(void **state)
{
	static const struct row rows[] = {
		{.world = {.policy = {WHY_POLICY_UNSAFE}},
		 .changed = {{"policy", FAIL, WHY_POLICY_UNSAFE, OWN, NULL,
		              "child_document\nself_policy\nclose 1060\n"}}},
		{.world = {.policy = {WHY_POLICY_UNSAFE}, .no_seek = {true}},
		 .changed = {{"policy", FAIL, WHY_POLICY_UNSAFE, OWN, NULL,
		              "child_document\nself_policy\nclose 1060\n"}}},
		{.world = {.no_seek = {true}},
		 .changed = {{"policy", FAIL, WHY_START, OWN, NULL,
		              "child_document\nself_policy\nlseek 1060 0 0\nclose 1060\n"}}},
		{.world = {.no_document = {true}},
		 .changed = {{"policy", FAIL, WHY_START, OWN, NULL,
		              "child_document\nself_policy\nlseek -1 0 0\nclose -1\n"}}},
		{.world = {.answer = {[JSON] = {.wait = CHILD_DEADLINE}}},
		 .changed = {{"policy", FAIL, WHY_POLICY_DEADLINE, OWN, NULL, NULL}}},
		/* what it passed on is what counts */
		{.world = {.answer = {[JSON] = {.wait = CHILD_FAILED, .status = 3, .err = "x"}}}},
		{.world = {.answer = {[JSON] = {.wait = CHILD_SIGNAL}}}},
		{.world = {.answer = {[JSON] = {.out = "{}"}}},
		 .changed = {{"policy", FAIL, WHY_POLICY_CRASHED, "exit status 0", NULL, NULL}}},
		{.world = {.answer = {[JSON] = {.out = "{}\n\n"}}},
		 .changed = {{"policy", FAIL, WHY_POLICY_CRASHED, "exit status 0", NULL, NULL}}},
		{.world = {.answer = {[JSON] = {CHILD_FAILED, 70, "", "policy: no\n seccomp\n\n"}}},
		 .changed = {{"policy", FAIL, WHY_POLICY_CRASHED,
		              "exit status 70 policy: no  seccomp", NULL, NULL}}},
		{.world = {.answer = {[JSON] = {CHILD_FAILED, -1, "", "\x1b[2J\xff\x7f~"}}},
		 .changed = {{"policy", FAIL, WHY_POLICY_CRASHED,
		              "exit status -1 \\x1b[2J\\xff\\x7f~", NULL, NULL}}},
	};

	(void)state;
	EXPECT(rows);
}

#define NO_FILE "No such file or directory"
#define NAME_IT "name it with -c FILE, here and in every launch"

static void the_config_that_is_opened(void **state)
{
	static const struct row rows[] = {
		{.world = {.config = WHY_CONFIG_OPEN, .config_errno = ENOENT},
		 .changed = {{"config", WARN, WHY_CONFIG_OPEN, "the usual places: " NO_FILE, NAME_IT,
		              "self_config\n"}}},
		{.world = {.config = WHY_CONFIG_OPEN, .config_errno = ENOENT, .config_env = ""},
		 .changed = {{"config", WARN, WHY_CONFIG_OPEN, "the usual places: " NO_FILE, NAME_IT,
		              "self_config\n"}}},
		{.world = {.config = WHY_CONFIG_OPEN, .config_errno = EACCES},
		 .changed = {{"config", FAIL, WHY_CONFIG_OPEN, "the usual places: Permission denied",
		              NULL, "self_config\n"}}},
		{.world = {.config = WHY_CONFIG_OPEN, .config_errno = ENOENT, .config_env = "v"},
		 .changed = {{"config", FAIL, WHY_CONFIG_OPEN, "v: " NO_FILE, NULL,
		              "self_config\n"}}},
		{.world = {.config = WHY_CONFIG_OPEN, .config_errno = ENOENT, .config_env = "v",
	                   .option = {[OPTION_CONFIG] = "c"}},
		 .changed = {{"config", FAIL, WHY_CONFIG_OPEN, "c: " NO_FILE, NULL,
		              "self_config\n"}}},
		{.world = {.config = WHY_CONFIG_OPEN, .config_errno = ENOENT,
	                   .option = {[OPTION_CONFIG] = ""}},
		 .changed = {{"config", FAIL, WHY_CONFIG_OPEN, ": " NO_FILE, NULL,
		              "self_config\n"}}},
		{.world = {.config = WHY_CONFIG_UNSAFE, .config_errno = ENOENT},
		 .changed = {{"config", FAIL, WHY_CONFIG_UNSAFE, "the usual places: /p/config.json",
		              NULL, "self_config\nclose 1062\n"}}},
		{.world = {.config = WHY_CONFIG_UNSAFE, .config_fd = ZERO_FD, .config_env = "v"},
		 .changed = {{"config", FAIL, WHY_CONFIG_UNSAFE, "v: /p/config.json", NULL,
		              "self_config\nclose 0\n"}}},
	};

	(void)state;
	EXPECT(rows);
}

static void what_check_is_told(void **state)
{
	static const struct row rows[] = {
		{.world = {.host_env = "unix:///h", .agent_env = "/a", .state_env = "/e"},
		 .changed = {{"config", OK, 0, "/p/config.json: allowed", NULL,
		              "self_config\nclose 1062\n"
		              CHECK_RUNS("LC_ALL=C DOCKER_HOST=unix:///h SSH_AUTH_SOCK=/a "
		                         "STATE_DIRECTORY=/e")}}},
		{.world = {.host_env = "unix:///h", .agent_env = "/a", .state_env = "/e",
	                   .option = {[OPTION_HOST] = "unix:///o", [OPTION_STATE_DIR] = "/d"}},
		 .changed = {{"config", OK, 0, "/p/config.json: allowed", NULL,
		              "self_config\nclose 1062\n"
		              CHECK_RUNS("LC_ALL=C DOCKER_HOST=unix:///o SSH_AUTH_SOCK=/a "
		                         "STATE_DIRECTORY=/d")}}},
		{.world = {.policy = {WHY_NONE, WHY_POLICY_UNSAFE}},
		 .changed = {{"config", FAIL, WHY_POLICY_UNSAFE, OWN, NULL,
		              "self_config\nclose 1062\nchild_document\nself_policy\nclose 1060\n"}}},
		{.world = {.answer = {[CHECK] = {.wait = CHILD_DEADLINE}}},
		 .changed = {{"config", FAIL, WHY_POLICY_DEADLINE, OWN, NULL, NULL}}},
	};

	(void)state;
	EXPECT(rows);
}

#define REFUSES "cofferdam: SANDBOX_CONFIG config.key: no such key; see \"explain\"\n"

/* Every exit status: which a policy process refuses with is say's to know. */
static void check_refuses(void **state)
{
	static const int all[] = {65, 66, 69, 70, 75, 76, 77, 78};
	static const int none[] = {-1, 1, 64, 67, 68, 71, 74, 79, 124, 127};

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		expect(&(struct row){
			.world = {.answer = {[CHECK] = {CHILD_FAILED, all[i], "", REFUSES}}},
			.changed = {{"config", FAIL, 0,
		                     "cofferdam: SANDBOX_CONFIG config.key: no such key; see \"explain\"",
		                     "mend what is named; cofferdam-policy explain tells more", NULL}},
			.reason = "config.key", .status = all[i]});
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		char detail[128];

		snprintf(detail, sizeof(detail), "exit status %d %.*s", none[i],
		         (int)strlen(REFUSES) - 1, REFUSES);
		expect(&(struct row){
			.world = {.answer = {[CHECK] = {CHILD_FAILED, none[i], "", REFUSES}}},
			.changed = {{"config", FAIL, WHY_POLICY_CRASHED, detail, NULL, NULL}}});
	}
	expect(&(struct row){
		.world = {.answer = {[CHECK] = {CHILD_FAILED, 78, "", "cofferdam: what?\n"}}},
		.changed = {{"config", FAIL, WHY_POLICY_CRASHED, "exit status 78 cofferdam: what?", NULL,
	                     NULL}}});
	expect(&(struct row){.world = {.answer = {[CHECK] = {.err = REFUSES}}}});
}

#define MAKES "a launch has to make it, in "
#define PARENT_RIGHT "access /a 3\nopen /a\nstate_local 1064\nclose 1064\n"

static void a_state_directory_that_is_to_be_made(void **state)
{
#define UP "state_choose\nlstat /a/b/c\nlstat /a/b/c\nlstat /a/b\nlstat /a\n"
	static const struct row rows[] = {
		{.world = {.state = "/a/b/c", .there = "/a"},
		 .changed = {{"state", OK, 0, MAKES "/a", NULL, UP "self_safe /a 1001 1\n"
		              PARENT_RIGHT}}},
		{.world = {.state = "/a/b/c", .there = "/a", .parent_fd = ZERO_FD},
		 .changed = {{"state", OK, 0, MAKES "/a", NULL, UP "self_safe /a 1001 1\n"
		              "access /a 3\nopen /a\nstate_local 0\nclose 0\n"}}},
		{.world = {.state = "/a/b/c", .there = "/"},
		 .changed = {{"state", OK, 0, MAKES "/a", NULL, UP "self_safe /a 1001 1\n"
		              PARENT_RIGHT}}},
		{.world = {.state = "/a/b/c", .there = "/a/b"},
		 .changed = {{"state", OK, 0, MAKES "/a/b", NULL,
		              "state_choose\nlstat /a/b/c\nlstat /a/b/c\nlstat /a/b\n"
		              "self_safe /a/b 1001 1\naccess /a/b 3\nopen /a/b\n"
		              "state_local 1064\nclose 1064\n"}}},
		{.world = {.state = "/a/b/c", .there = "/a", .barred = "/a/b", .unsafe = "/a/b"},
		 .changed = {{"state", FAIL, WHY_STATE_UNSAFE, MAKES "/a/b", NULL,
		              "state_choose\nlstat /a/b/c\nlstat /a/b/c\nlstat /a/b\n"
		              "self_safe /a/b 1001 1\nopen /a/b\nclose 1064\n"}}},
		{.world = {.state = "/a/b", .there = "/", .barred = "/a", .parent_fd = -1},
		 .changed = {{"state", FAIL, WHY_STATE_UNSAFE, MAKES "/a", NULL,
		              "state_choose\nlstat /a/b\nlstat /a/b\nlstat /a\n"
		              "self_safe /a 1001 1\naccess /a 3\nopen /a\n"}}},
		{.world = {.state = "/a/b/c", .there = "/a", .foreign_disk = true},
		 .changed = {{"state", FAIL, WHY_STATE_UNSAFE, MAKES "/a", NULL,
		              UP "self_safe /a 1001 1\n" PARENT_RIGHT}}},
		{.world = {.state = "/a/b/c", .there = "/a", .unsafe = "/a"},
		 .changed = {{"state", FAIL, WHY_STATE_UNSAFE, MAKES "/a", NULL,
		              UP "self_safe /a 1001 1\nopen /a\nclose 1064\n"}}},
		{.world = {.state = "/a/b/c", .there = "/a", .denied = "/a"},
		 .changed = {{"state", FAIL, WHY_STATE_UNSAFE, MAKES "/a", NULL,
		              UP "self_safe /a 1001 1\naccess /a 3\nopen /a\nclose 1064\n"}}},
		{.world = {.state = "d/s", .there = "/usr"},
		 .changed = {{"state", OK, 0, MAKES "/usr", NULL,
		              "state_choose\nlstat d/s\nlstat /usr\nself_safe /usr 1001 1\n"
		              "access /usr 3\nopen /usr\nstate_local 1064\nclose 1064\n"}}},
	};

	(void)state;
	assert_int_equal(chdir("/usr"), 0);
	EXPECT(rows);
#undef UP
}

/* Nobody can say where a relative one would be. */
static void a_working_directory_that_is_gone(void **state)
{
	static const struct row row = {
		.world = {.state = "d/s", .there = "/usr"},
		.changed = {{"state", FAIL, WHY_STATE_UNSAFE, "a launch has to make it, in", NULL,
		             "state_choose\nlstat d/s\n"}}};
	char gone[] = "/tmp/test_doctor.XXXXXX";

	(void)state;
	assert_non_null(mkdtemp(gone));
	assert_int_equal(chdir(gone), 0);
	assert_int_equal(rmdir(gone), 0);
	expect(&row);
	assert_int_equal(chdir("/"), 0);
}

static void a_state_directory_that_is_there(void **state)
{
	static const struct row rows[] = {
		{.world = {.no_state = true},
		 .changed = {{"state", FAIL, WHY_STATE_UNSAFE,
		              "none is named, and there is no home directory", NULL,
		              "state_choose\n"}}},
		{.world = {.barred = "/s"}}, /* state_open's to say */
		{.world = {.option = {[OPTION_STATE_DIR] = "/d"}, .wrong = "it is a file"},
		 .changed = {{"state", FAIL, WHY_STATE_UNSAFE, "/s: it is a file", NULL,
		              STATE_LOOKS "state_open\n"},
		             {"config", OK, 0, "/p/config.json: allowed", NULL,
		              "self_config\nclose 1062\n" CHECK_RUNS(NO_ENV "/d")}}},
		{.world = {.lock_errno = EWOULDBLOCK}}, /* somebody holds it: it works */
		{.world = {.lock_errno = ENOLCK},
		 .changed = {{"state", FAIL, WHY_STATE_UNSAFE, "/real/s: locks do not work", NULL,
		              NULL}}},
	};

	(void)state;
	EXPECT(rows);
}

#define OTHERS "use Docker's own program: docker.io, docker-cli or docker-ce-cli"

static void the_docker_program(void **state)
{
	static const struct row rows[] = {
		{.world = {.docker = WHY_DOCKER_MISSING, .docker_path = ""},
		 .changed = {{"docker", FAIL, WHY_DOCKER_MISSING, "the one built in", NULL,
		              CLIENT_FOUND}}},
		{.world = {.docker = WHY_DOCKER_UNSAFE, .docker_path = "/usr/bin/snap",
	                   .option = {[OPTION_DOCKER] = "/o/docker"}},
		 .changed = {{"docker", FAIL, WHY_DOCKER_UNSAFE, "/o/docker", NULL, CLIENT_FOUND}}},
		{.world = {.docker_path = "/usr/bin/snap"},
		 .changed = {{"docker", FAIL, WHY_ENDPOINT_FOREIGN, "the one built in", NULL,
		              CLIENT_FOUND}}},
		{.world = {.docker_path = "/snap/bin/docker"},
		 .changed = {{"docker", OK, 0,
		              "/snap/bin/docker, Docker version 28.2.2, build e6534b4", NULL, NULL}}},
		{.world = {.answer = {[CLIENT] = {CHILD_FAILED, 127, "", "not found\n"}}},
		 .changed = {{"docker", FAIL, WHY_DOCKER_FAILED, "exit status 127, not found", NULL,
		              NULL}}},
		{.world = {.answer = {[CLIENT] = {CHILD_DEADLINE, -1, "", "wait\n"}}},
		 .changed = {{"docker", FAIL, WHY_DOCKER_DEADLINE, "exit status -1, wait", NULL,
		              NULL}}},
		{.world = {.answer = {[CLIENT] = {.wait = CHILD_SIGNAL}}},
		 .changed = {{"docker", FAIL, WHY_DOCKER_FAILED, "exit status 0,", NULL, NULL}}},
		{.world = {.answer = {[CLIENT] = {.out = "podman version 4.3.1\n"}}},
		 .changed = {{"docker", WARN, 0, "/usr/bin/docker, podman version 4.3.1", OTHERS,
		              NULL}}},
		{.world = {.answer = {[CLIENT] = {.out = "Docker version \n"}}},
		 .changed = {{"docker", OK, 0, "/usr/bin/docker, Docker version", NULL, NULL}}},
		{.world = {.answer = {[CLIENT] = {.out = "Docker version\n"}}},
		 .changed = {{"docker", WARN, 0, "/usr/bin/docker, Docker version", OTHERS, NULL}}},
	};

	(void)state;
	EXPECT(rows);
}

#define AT "managed_endpoint\nstat /run/docker.sock\n"
#define SAFE "self_safe /run 1001 1\n"
#define USABLE "access /run/docker.sock 6\n"
#define EP "unix:///run/docker.sock: "

static void the_endpoint(void **state)
{
	static const struct row rows[] = {
		{.world = {.no_endpoint = true},
		 .changed = {{"endpoint", FAIL, WHY_ENDPOINT, "tcp://asked", NULL,
		              "managed_endpoint\n"}}},
		{.world = {.socket_errno = ENOENT},
		 .changed = {{"endpoint", FAIL, WHY_ENDPOINT_SOCKET, EP NO_FILE, NULL, AT}}},
		{.world = {.socket_errno = EACCES},
		 .changed = {{"endpoint", FAIL, WHY_ENDPOINT_SOCKET, EP "Permission denied", NULL,
		              AT}}},
		{.world = {.mode = S_IFREG | 0660},
		 .changed = {{"endpoint", FAIL, WHY_ENDPOINT_SOCKET,
		              EP "uid 0, gid 998, mode 0660", NULL, AT}}},
		{.world = {.owner = EUID, .mode = S_IFSOCK | 01},
		 .changed = {{"endpoint", OK, 0, EP "uid 1001, gid 998, mode 0001", NULL, NULL}}},
		{.world = {.mode = S_IFSOCK | 07775},
		 .changed = {{"endpoint", OK, 0, EP "uid 0, gid 998, mode 7775", NULL, NULL}}},
		{.world = {.owner = 1},
		 .changed = {{"endpoint", FAIL, WHY_ENDPOINT_OWNER, EP "uid 1, gid 998, mode 0660",
		              NULL, AT}}},
		{.world = {.owner = 1000},
		 .changed = {{"endpoint", FAIL, WHY_ENDPOINT_OWNER,
		              EP "uid 1000, gid 998, mode 0660", NULL, AT}}},
		{.world = {.owner = EUID, .mode = S_IFSOCK | 0662},
		 .changed = {{"endpoint", FAIL, WHY_ENDPOINT_OWNER,
		              EP "uid 1001, gid 998, mode 0662", NULL, AT}}},
		{.world = {.mode = S_IFSOCK | 0662},
		 .changed = {{"endpoint", FAIL, WHY_ENDPOINT_OWNER, EP "uid 0, gid 998, mode 0662",
		              NULL, AT}}},
		{.world = {.unsafe = "/run"},
		 .changed = {{"endpoint", FAIL, WHY_ENDPOINT_ANCESTOR,
		              EP "uid 0, gid 998, mode 0660", NULL, AT SAFE}}},
		{.world = {.denied = "/run/docker.sock"},
		 .changed = {{"endpoint", FAIL, WHY_ENDPOINT_DENIED, EP "uid 0, gid 998, mode 0660",
		              NULL, AT SAFE USABLE}}},
		{.world = {.socket = "/d.sock", .unsafe = ""}, /* in the root directory */
		 .changed = {{"endpoint", OK, 0, "unix:///d.sock: uid 0, gid 998, mode 0660", NULL,
		              "managed_endpoint\nstat /d.sock\naccess /d.sock 6\n"}}},
	};

	(void)state;
	EXPECT(rows);
}

/* Whatever is there. */
static void engines_that_see_other_files(void **state)
{
	static const struct {
		const char *path;
		bool foreign;
	} rows[] = {
		{"/h/.docker/desktop/d.sock", true}, {"/h/.docker/run/d.sock", true},
		{"/var/snap/docker/d.sock", true},   {"/run/snap.docker/d.sock", true},
		{"/h/docker/desktop/d.sock", false}, {"/h/.docker/desktop.sock", false},
		{"/h/.docker/runs/d.sock", false},   {"/snap/dockers/d.sock", false},
		{"/run/snap.docker.sock", false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const bool foreign = rows[i].foreign;
		char detail[128], looked[256], parent[64];

		snprintf(parent, sizeof(parent), "%s", rows[i].path);
		*strrchr(parent, '/') = '\0';
		for (int missing = 0; missing < 2; missing++) {
			const enum executor_reason why = foreign ? WHY_ENDPOINT_FOREIGN :
			                                 missing ? WHY_ENDPOINT_SOCKET :
			                                           WHY_NONE;

			snprintf(detail, sizeof(detail), "unix://%s: %s", rows[i].path,
			         missing ? NO_FILE : "uid 0, gid 998, mode 0660");
			snprintf(looked, sizeof(looked), "managed_endpoint\nstat %s\n", rows[i].path);
			if (why == WHY_NONE)
				snprintf(looked + strlen(looked), sizeof(looked) - strlen(looked),
				         "self_safe %s 1001 1\naccess %s 6\n", parent, rows[i].path);
			expect(&(struct row){
				.world = {.socket = rows[i].path,
				          .socket_errno = missing ? ENOENT : 0},
				.changed = {{"endpoint", why != WHY_NONE ? FAIL : OK, why, detail, NULL,
			                     looked}}});
		}
	}
}

#define OTHER "it answers something else than it was asked for"

static void the_engine(void **state)
{
	static const struct row rows[] = {
		{.world = {.answer = {[VERSION] = {CHILD_FAILED, 1, "", "no daemon\n"}}},
		 .changed = {{"engine", FAIL, WHY_DOCKER_FAILED, "exit status 1, no daemon", NULL,
		              VERSION_RUNS}}},
		{.world = {.answer = {[VERSION] = {.wait = CHILD_DEADLINE, .err = "x"}}},
		 .changed = {{"engine", FAIL, WHY_DOCKER_DEADLINE, "exit status 0, x", NULL,
		              VERSION_RUNS}}},
		{.world = {.answer = {[INFO] = {CHILD_FAILED, 2, "", "y"}}},
		 .changed = {{"engine", FAIL, WHY_DOCKER_FAILED, "exit status 2, y", NULL, NULL}}},
		{.world = {.answer = {[INFO] = {.wait = CHILD_DEADLINE}}},
		 .changed = {{"engine", FAIL, WHY_DOCKER_DEADLINE, "exit status 0,", NULL, NULL}}},
		{.world = {.answer = {[VERSION] = {.out = "28.2.2\n1.50\n27.5.1\n1.47"}}},
		 .changed = {{"engine", FAIL, WHY_DOCKER_FAILED, OTHER, NULL, NULL}}},
		{.world = {.answer = {[INFO] = {.out = "1\n2\n3\n4\n5\n6\n7\n8"}}},
		 .changed = {{"engine", FAIL, WHY_DOCKER_FAILED, OTHER, NULL, NULL}}},
	};

	(void)state;
	EXPECT(rows);
}

#define SERVER "\n27.5.1\n1.47\nEngine containerd runc \n"
#define SPEAKS(api) "docker 28.2.2 speaks API " api ", its engine 27.5.1 speaks 1.47"

static void versions(void **state)
{
	static const struct row rows[] = {
		{.world = {.answer = {[VERSION] = {.out = "28.2.2\n1.47" SERVER}}},
		 .changed = {{"versions", OK, 0, SPEAKS("1.47"), NULL, NULL}}},
		{.world = {.answer = {[VERSION] = {.out = "28.2.2\n1.46" SERVER}}},
		 .changed = {{"versions", FAIL, WHY_DOCKER_OLD, SPEAKS("1.46"), NULL, NULL}}},
		{.world = {.answer = {[VERSION] = {.out = "28.2.2\n" SERVER}}},
		 .changed = {{"versions", FAIL, WHY_DOCKER_FAILED, SPEAKS(""), NULL, NULL}}},
	};

	(void)state;
	EXPECT(rows);
}

/* Rules of executor/engine.c, one of each kind; and a text that is nothing, or blank. */
static void lines_that_rules_judge(void **state)
{
#define INFO_OF(root, security, cgroup, memory, warnings) \
	{[INFO] = {.out = "linux, Debian\n" root "\n" security "\n" cgroup "\nMemoryLimit=" memory \
	                  "\nSwapLimit=true\nCpuCfsQuota=true\nPidsLimit=true\n" warnings}}
#define V2 "version 2, systemd"
#define SECCOMP "name=seccomp,profile=builtin"
	static const struct row rows[] = {
		{.world = {.answer = INFO_OF("/var/snap/docker", FILTERS, V2, "true", "none")},
		 .changed = {{"kind", FAIL, WHY_ENDPOINT_FOREIGN, "/var/snap/docker", NULL, NULL}}},
		{.world = {.answer = INFO_OF("/", SECCOMP, V2, "true", "none")},
		 .changed = {{"lsm", WARN, 0,
		              "the engine uses neither AppArmor nor SELinux: " SECCOMP,
		              "install apparmor, and boot with it: lsm=...,apparmor", NULL},
		             {"seccomp", OK, 0, SECCOMP, NULL, NULL}}},
		{.world = {.answer = INFO_OF("/", FILTERS, V2, "false", "none")},
		 .changed = {{"memory", FAIL, WHY_DOCKER_WARNING, "MemoryLimit=false",
		              "boot with cgroup_enable=memory; for a rootless engine, delegate this "
		              "cgroup controller to its user", NULL}}},
		{.world = {.answer = INFO_OF("/", FILTERS, V2, "true", "a: b c: d ")},
		 .changed = {{"warnings", WARN, 0, "the engine warns: a: b c: d",
		              "mend what it names", NULL}}},
		{.world = {.answer = INFO_OF("/", FILTERS, "", "true", "none")},
		 .changed = {{"cgroup", OK, 0, "", NULL, NULL}}},
		{.world = {.answer = INFO_OF("/", FILTERS, "   ", "true", "none")},
		 .changed = {{"cgroup", OK, 0, "", NULL, NULL}}},
	};

	(void)state;
	EXPECT(rows);
}

#define NAMED(image) {[OPTION_IMAGE] = image}

static void the_image(void **state)
{
	static const struct row rows[] = {
		{.world = {.option = NAMED("-x")},
		 .changed = {{"image", FAIL, WHY_IMAGE_GRAMMAR, "-x", NULL, ""}}},
		{.world = {.answer = {[IMAGE] = {CHILD_FAILED, 1, "", "No such image"}}},
		 .changed = {{"image", FAIL, WHY_IMAGE_ABSENT, "exit status 1, No such image", NULL,
		              NULL}}},
		{.world = {.answer = {[IMAGE] = {.wait = CHILD_DEADLINE}}},
		 .changed = {{"image", FAIL, WHY_DOCKER_DEADLINE, "exit status 0,", NULL, NULL}}},
		{.world = {.answer = {[IMAGE] = {.out = "sha256:0a1b\nlinux"}}},
		 .changed = {{"image", FAIL, WHY_DOCKER_FAILED, "worker:1", NULL, NULL}}},
		{.world = {.answer = {[IMAGE] = {.out = "sha256:0a1b\nwindows\n\n"}}},
		 .changed = {{"image", FAIL, WHY_IMAGE_OS, "worker:1 windows sha256:0a1b", NULL,
		              NULL}}},
		{.world = {.answer = {[IMAGE] = {.out = "sha256:0a1b\nwindows\nVOLUME\n"}}},
		 .changed = {{"image", FAIL, WHY_IMAGE_OS, "worker:1 windows sha256:0a1b", NULL,
		              NULL}}},
		{.world = {.answer = {[IMAGE] = {.out = "sha256:0a1b\nlinux\nV\n"}}},
		 .changed = {{"image", FAIL, WHY_IMAGE_VOLUME, "worker:1 linux sha256:0a1b", NULL,
		              NULL}}},
	};

	(void)state;
	EXPECT(rows);
}

static void no_image_is_named(void **state)
{
	static const struct world failing = {.answer = {[IMAGE] = {.wait = CHILD_FAILED}}};

	(void)state;
	unnamed = true;
	assert_int_equal(doctor(&failing, NULL), 0);
	unnamed = false;
	assert_int_equal(lines, CHECKS - 1);
	for (size_t i = 0; i < CHECKS - 1; i++)
		expect_line(shown[i].line, &usual[i], "", 0);
	assert_string_equal(calls, "");
}

/* The first failure gives the exit status; a warning gives none. */
static void several_failures(void **state)
{
	static const struct row rows[] = {
		{.world = {.abi = -1, .lock_errno = ENOLCK, .gid = ZERO},
		 .changed = {{"user", WARN, 0, "uid 1000, gid 0, /home/w", BAD_ID, NULL},
		             {"landlock", FAIL, WHY_LANDLOCK, "kernel 6.1.0-37-amd64, ABI -1", NULL,
		              NULL},
		             {"state", FAIL, WHY_STATE_UNSAFE, "/real/s: locks do not work", NULL,
		              NULL}}},
		{.world = {.lock_errno = ENOLCK, .no_seek = {true}, .no_endpoint = true},
		 .changed = {{"policy", FAIL, WHY_START, OWN, NULL,
		              "child_document\nself_policy\nlseek 1060 0 0\nclose 1060\n"},
		             {"state", FAIL, WHY_STATE_UNSAFE, "/real/s: locks do not work", NULL,
		              NULL},
		             {"endpoint", FAIL, WHY_ENDPOINT, "tcp://asked", NULL,
		              "managed_endpoint\n"}}},
	};

	(void)state;
	EXPECT(rows);
}

/* A check during which a signal comes is not shown; after one that cannot be shown
 * there is none. */
static void what_ends_it(void **state)
{
	(void)state;
	for (unsigned i = 1; i <= CHECKS; i++) {
		const struct world signalled = {.abi = -1, .signal_at = i};
		const struct world full = {.abi = -1, .full_at = i};

		assert_int_equal(doctor(&signalled, NULL), i > 2 ? 69 : 0);
		assert_int_equal(lines, i - 1);
		assert_string_equal(calls, usual[i - 1].calls);
		assert_int_equal(doctor(&full, NULL), i > 2 ? 69 : 0);
		assert_int_equal(lines, i);
		assert_string_equal(calls, "");
	}
}

/* What a detail holds, and what a line does. */
static void long_texts(void **state)
{
	static char bytes[SAY_CHILD + 100], detail[SAY_CHILD];
	const size_t start = strlen("cofferdam: SANDBOX_CONFIG config.key: ");

	(void)state;
	memset(bytes, '"', sizeof(bytes) - 1);
	strcpy(detail, "exit status 1, ");
	strlcat(detail, bytes, SAY_CHILD / 2);
	expect(&(struct row){
		.world = {.answer = {[CLIENT] = {CHILD_FAILED, 1, "", bytes}}},
		.changed = {{"docker", FAIL, WHY_DOCKER_FAILED, detail, NULL, NULL}}});
	memcpy(bytes, "cofferdam: SANDBOX_CONFIG config.key: ", start);
	strlcpy(detail, bytes, SAY_CHILD - 3); /* say_escape leaves room */
	expect(&(struct row){
		.world = {.answer = {[CHECK] = {CHILD_FAILED, 78, "", bytes}}},
		.changed = {{"config", FAIL, 0, detail,
	                     "mend what is named; cofferdam-policy explain tells more", NULL}},
		.reason = "config.key", .status = 78});
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_the_matter),
		cmocka_unit_test(the_user),
		cmocka_unit_test(landlock),
		cmocka_unit_test(the_policy_process),
		cmocka_unit_test(the_config_that_is_opened),
		cmocka_unit_test(what_check_is_told),
		cmocka_unit_test(check_refuses),
		cmocka_unit_test(a_state_directory_that_is_to_be_made),
		cmocka_unit_test(a_working_directory_that_is_gone),
		cmocka_unit_test(a_state_directory_that_is_there),
		cmocka_unit_test(the_docker_program),
		cmocka_unit_test(the_endpoint),
		cmocka_unit_test(engines_that_see_other_files),
		cmocka_unit_test(the_engine),
		cmocka_unit_test(versions),
		cmocka_unit_test(lines_that_rules_judge),
		cmocka_unit_test(the_image),
		cmocka_unit_test(no_image_is_named),
		cmocka_unit_test(several_failures),
		cmocka_unit_test(what_ends_it),
		cmocka_unit_test(long_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: ISC */
#undef _FORTIFY_SOURCE /* it would define readlink(2) itself */
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
#include <pwd.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../executor/self.h"
#include "scratch.h"

#define NOBODY 65534

/* What the library's calls say when it is set. */
static const char *program; /* is the one that runs */
static const char *home; /* of the caller; "": there is no such user; NULL: a failure */
static bool no_program;
static uid_t uid[2]; /* real and effective */
static bool uids;
static const char *etc; /* is /etc/cofferdam/config.json */
static unsigned flawed; /* files that were opened with other flags than they should be */
static const char *fails; /* the call of self_start that fails */
static bool starting; /* self_start runs */
static bool no_stat, no_link, no_real; /* these fail, though they have written what they say */
static bool vanishes; /* a file that was opened is removed */
static struct {
	const char *path; /* "": every one is a directory of root's */
	uid_t owner; /* what lstat says of it, when it is not 0 */
	mode_t mode;
	mode_t open_type; /* what fstat says of any, when it is not 0 */
} seen;

static char base[64]; /* a private directory, new for each test */

static bool failing(const char *call)
{
	if (!starting || fails == NULL || strcmp(fails, call) != 0)
		return false;
	errno = EIO;
	return true;
}

uid_t getuid(void)
{
	return uids ? uid[0] : (uid_t)syscall(SYS_getuid);
}

uid_t geteuid(void)
{
	return uids ? uid[1] : (uid_t)syscall(SYS_geteuid);
}

int open(const char *what, int flags, ...)
{
	va_list more;
	mode_t mode;
	int fd;

	va_start(more, flags);
	mode = (flags & O_CREAT) != 0 ? va_arg(more, mode_t) : 0;
	va_end(more);
	if (failing("open"))
		return -1;
	if ((strstr(what, ".json") != NULL || strncmp(what, base, strlen(base)) == 0) &&
	    (flags & (O_CREAT | O_PATH | O_DIRECTORY)) == 0)
		flawed += flags != (O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (etc != NULL && strcmp(what, "/etc/cofferdam/config.json") == 0)
		what = etc;
	fd = (int)syscall(SYS_openat, AT_FDCWD, what, flags, mode);
	if (vanishes && fd >= 0)
		(void)unlink(what);
	return fd;
}

int close(int fd)
{
	return failing("close") ? -1 : (int)syscall(SYS_close, fd);
}

unsigned long getauxval(unsigned long type)
{
	return type == AT_SECURE && failing("privileged") ? 1 : 0;
}

int prctl(int what, ...)
{
	unsigned long more[4];
	char call[16];
	va_list list;

	va_start(list, what);
	for (size_t i = 0; i < 4; i++)
		more[i] = va_arg(list, unsigned long);
	va_end(list);
	snprintf(call, sizeof(call), "prctl %d", what);
	if (failing(call))
		return -1;
	return (int)syscall(SYS_prctl, what, more[0], more[1], more[2], more[3]);
}

/* Behind the signals that there are, a set knows whether it was emptied: it has no
 * value before. */
#define EMPTIED UINT64_C(0x656d7074)

int sigemptyset(sigset_t *set)
{
	*set = (sigset_t){{0}};
	set->__val[3] = EMPTIED;
	return 0;
}

int sigprocmask(int how, const sigset_t *restrict set, sigset_t *restrict old)
{
	if (failing("sigprocmask") || (starting && set->__val[3] != EMPTIED))
		return -1;
	return (int)syscall(SYS_rt_sigprocmask, how, set, old, sizeof(uint64_t));
}

int fstat(int fd, struct stat *st)
{
	const int made = fstatat(fd, "", st, AT_EMPTY_PATH);

	if (seen.open_type != 0)
		st->st_mode = seen.open_type | 0600;
	return no_stat ? -1 : made;
}

int stat(const char *restrict path, struct stat *restrict st)
{
	const int made = fstatat(AT_FDCWD, path, st, 0);

	return no_stat ? -1 : made;
}

int lstat(const char *restrict path, struct stat *restrict st)
{
	const int made = fstatat(AT_FDCWD, path, st, AT_SYMLINK_NOFOLLOW);

	if (seen.path != NULL && seen.path[0] == '\0') {
		*st = (struct stat){.st_mode = S_IFDIR | 0755};
		return 0;
	}
	if (made == 0 && seen.path != NULL && strcmp(path, seen.path) == 0) {
		st->st_uid = seen.owner != 0 ? seen.owner : st->st_uid;
		st->st_mode = seen.mode != 0 ? seen.mode : st->st_mode;
	}
	return made;
}

char *realpath(const char *restrict path, char *restrict to)
{
	char *real = canonicalize_file_name(no_real ? "/bin/sh" : path);

	if (real != NULL)
		strcpy(to, real);
	free(real);
	return real == NULL || no_real ? NULL : to;
}

ssize_t readlink(const char *restrict name, char *restrict to, size_t len)
{
	size_t n;

	if (no_link && strncmp(name, "/proc/self/fd/", 14) == 0)
		return -1;
	if (no_program && strcmp(name, "/proc/self/exe") == 0)
		return -1;
	if (program == NULL || strcmp(name, "/proc/self/exe") != 0)
		return syscall(SYS_readlink, name, to, len);
	n = strlen(program) < len ? strlen(program) : len;
	memcpy(to, program, n);
	return (ssize_t)n;
}

int getpwuid_r(uid_t id, struct passwd *entry, char *storage, size_t len, struct passwd **found)
{
	static char other[] = "/other";

	(void)id;
	*found = NULL;
	if (home == NULL) {
		*found = entry;
		entry->pw_dir = other;
		return 5;
	}
	*found = home[0] == '\0' ? NULL : entry;
	snprintf(storage, len, "%s", home);
	*entry = (struct passwd){.pw_dir = home[0] == '\0' ? other : storage};
	return 0;
}

static char name[SELF_PATH];

static const char *in_base(const char *what)
{
	snprintf(name, sizeof(name), "%s/%s", base, what);
	return name;
}

static void put(const char *what, mode_t mode)
{
	int fd = open(in_base(what), O_WRONLY | O_CREAT | O_TRUNC, mode);

	assert_true(fd >= 0);
	assert_int_equal(fchmod(fd, mode), 0);
	assert_int_equal(close(fd), 0);
}

static int set_up(void **state)
{
	(void)state;
	umask(077);
	unsetenv("COFFERDAM_CONFIG");
	unsetenv("XDG_CONFIG_HOME");
	strcpy(base, "/var/tmp/test_self.XXXXXX");
	return mkdtemp(base) == NULL;
}

static int tear_down(void **state)
{
	(void)state;
	assert_int_equal(flawed, 0);
	return scratch_remove(base);
}

/* Exactly what is needed, and one less. */
static void a_path_fits_or_is_none(void **state)
{
	const int fd = open(base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const size_t len = strlen(base);
	char path[80];
	int root;

	(void)state;
	for (size_t cap = 1; cap < sizeof(path); cap++) {
		memset(path, '#', sizeof(path));
		assert_int_equal(self_path(fd, path, cap), cap > len);
		assert_int_equal(path[cap], '#');
		if (cap > len)
			assert_string_equal(path, base);
	}
	assert_false(self_path(-1, path, sizeof(path)));
	close(fd);
	root = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(self_path(root, path, 2));
	assert_string_equal(path, "/");
	close(root);
}

static void trusts_root_and_the_caller(void **state)
{
	static const struct {
		uid_t caller, owner;
		bool trusted;
	} rows[] = {
		{0, 0, true}, {0, 1, false}, {1000, 0, true}, {1000, 1000, true},
		{1000, 1, false}, {1000, 1001, false},
	};

	(void)state;
	uids = true;
	for (mode_t mode = 0; mode < 010000; mode++) {
		const bool shared = (mode & S_IWGRP) != 0 || (mode & S_IWOTH) != 0;

		for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
			struct stat st = {.st_uid = rows[i].owner, .st_mode = S_IFREG | mode};

			uid[1] = rows[i].caller;
			assert_int_equal(self_trusts(&st), !shared && rows[i].trusted);
		}
	}
	uids = false;
}

static void a_home_is_absolute_and_fits(void **state)
{
	static const struct {
		const char *home, *is;
	} rows[] = {
		{"/root", "/root"}, {"/", "/"}, {"/1234567", "/1234567"}, {"/12345678", ""},
		{"/123456789", ""}, {"root", ""}, {"", ""}, {NULL, ""},
	};
	char to[10];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		memset(to, '#', sizeof(to));
		home = rows[i].home;
		self_home(to, 9);
		assert_string_equal(to, rows[i].is);
		assert_int_equal(to[9], '#');
	}
}

/* Every directory above it counts, and what it is itself. */
static void safe_is_what_nobody_can_replace(void **state)
{
	static const struct {
		const char *what;
		mode_t mode; /* then 0700 again */
		bool safe, sticky_too;
	} rows[] = {
		{"a", 0700, true, true},  {"a", 0755, true, true},   {"a", 0770, false, false},
		{"a", 0702, false, false}, {"a", 01777, false, true}, {"a/b", 01720, false, true},
		{"a/b", 0720, false, false}, {"a/b/f", 0622, false, false},
		{"a/b/f", 01666, false, false}, {"a/b/f", 0644, true, true},
	};
	static char longest[SELF_PATH + 1];
	char file[128];

	(void)state;
	assert_int_equal(mkdir(in_base("a"), 0700) | mkdir(in_base("a/b"), 0700), 0);
	put("a/b/f", 0600);
	snprintf(file, sizeof(file), "%s/a/b/f", base);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(chmod(in_base(rows[i].what), rows[i].mode), 0);
		/* the directory of them all is in one that is sticky */
		assert_int_equal(self_safe(file, geteuid(), true), rows[i].sticky_too);
		assert_false(self_safe(file, geteuid(), false));
		assert_int_equal(chmod(in_base(rows[i].what), 0700), 0);
	}
	assert_true(self_safe("/", 0, false));
	assert_true(self_safe("/usr/", 0, false));
	assert_true(self_safe("//usr", 0, false));
	assert_false(self_safe("", 0, true));
	assert_false(self_safe("usr", 0, true));
	assert_false(self_safe("/usr/nonexistent", 0, true));
	assert_int_equal(chown(in_base("a/b"), NOBODY, 0), 0);
	assert_false(self_safe(file, 0, true));
	assert_true(self_safe(file, NOBODY, true));
	assert_false(self_safe(file, NOBODY - 1, true));
	assert_int_equal(symlink("b/f", in_base("a/l")), 0);
	assert_true(self_safe(name, 0, true)); /* whatever it leads to */
	memset(longest, '/', sizeof(longest) - 1);
	assert_false(self_safe(longest, 0, true));
	seen.path = "";
	assert_false(self_safe(longest, 0, true)); /* whatever is there */
	assert_true(self_safe("/usr/nonexistent", 0, false));
	seen.path = NULL;
	longest[SELF_PATH - 1] = '\0';
	assert_true(self_safe(longest, 0, true));
	seen.path = "/";
	seen.owner = NOBODY;
	assert_false(self_safe("/usr", 0, false));
	assert_true(self_safe("/usr", NOBODY, false));
	seen.path = NULL;
	seen.owner = 0;
}

static void given(enum executor_reason why, const char *config, const char *at, const char *found)
{
	char path[SELF_PATH], expected[SELF_PATH];
	int fd = -1;

	assert_int_equal(self_config(config, at, &fd, path), why);
	assert_int_equal(fd >= 0, why != WHY_CONFIG_OPEN);
	if (why == WHY_CONFIG_OPEN) {
		const char *named = config != NULL ? config : getenv("COFFERDAM_CONFIG");
		const char *told = self_config_named(config);

		assert_string_equal(told != NULL ? told : SELF_PLACES,
		                    named != NULL ? named : "the usual places");
	}
	if (found != NULL) {
		snprintf(expected, sizeof(expected), "%s/%s", base, found);
		assert_string_equal(path, expected);
	}
	if (fd >= 0) {
		assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
		close(fd);
	}
}

/* -c, $COFFERDAM_CONFIG, $XDG_CONFIG_HOME, then the home. */
static void a_config_is_found(void **state)
{
	static const char *const directories[] = {"h", "h/.config", "h/.config/cofferdam", "x",
	                                          "x/cofferdam"};
	static char far[SELF_PATH];
	char at[128], config[128], everybodys[128], path[SELF_PATH];
	int own, fd;

	(void)state;
	for (size_t i = 0; i < sizeof(directories) / sizeof(directories[0]); i++)
		assert_int_equal(mkdir(in_base(directories[i]), 0700), 0);
	snprintf(at, sizeof(at), "%s/h", base);
	given(WHY_CONFIG_OPEN, NULL, at, NULL);
	put("h/.config/cofferdam/config.json", 0600);
	put("x/cofferdam/config.json", 0600);
	put("v", 0600);
	put("g", 0644);
	given(WHY_NONE, NULL, at, "h/.config/cofferdam/config.json");
	setenv("XDG_CONFIG_HOME", "x", 1); /* relative: ignored */
	given(WHY_NONE, NULL, at, "h/.config/cofferdam/config.json");
	setenv("XDG_CONFIG_HOME", in_base("x"), 1);
	given(WHY_NONE, NULL, at, "x/cofferdam/config.json");
	setenv("COFFERDAM_CONFIG", "", 1);
	given(WHY_NONE, NULL, at, "x/cofferdam/config.json");
	setenv("COFFERDAM_CONFIG", in_base("none"), 1);
	given(WHY_CONFIG_OPEN, NULL, at, NULL);
	setenv("COFFERDAM_CONFIG", in_base("v"), 1);
	given(WHY_NONE, NULL, at, "v");
	strcpy(config, in_base("g"));
	given(WHY_NONE, config, at, "g");
	given(WHY_CONFIG_OPEN, "", at, NULL);
	assert_int_equal(chmod(config, 0664), 0);
	given(WHY_CONFIG_UNSAFE, config, at, "g");
	assert_int_equal(chmod(config, 0644) | chown(config, NOBODY, 0), 0);
	given(WHY_CONFIG_UNSAFE, config, at, "g");
	given(WHY_CONFIG_UNSAFE, at, at, "h"); /* a directory */
	unsetenv("COFFERDAM_CONFIG");
	unsetenv("XDG_CONFIG_HOME");
	assert_int_equal(unlink(in_base("h/.config/cofferdam/config.json")), 0);
	assert_int_equal(symlink("nothing", name), 0);
	given(WHY_CONFIG_OPEN, NULL, at, NULL); /* broken, not missing */
	put("etc.json", 0600);
	strcpy(everybodys, in_base("etc.json"));
	etc = everybodys;
	given(WHY_CONFIG_OPEN, NULL, at, NULL);
	assert_int_equal(unlink(in_base("h/.config/cofferdam/config.json")), 0);
	given(WHY_NONE, NULL, at, "etc.json");
	given(WHY_CONFIG_OPEN, NULL, everybodys, NULL); /* ENOTDIR */
	put("h/.config/cofferdam/config.json", 0600);
	given(WHY_NONE, NULL, at, "h/.config/cofferdam/config.json");
	setenv("COFFERDAM_CONFIG", "x", 1); /* a name of one letter is one */
	given(WHY_CONFIG_OPEN, NULL, at, NULL);
	unsetenv("COFFERDAM_CONFIG");
	memset(far, '/', sizeof(far) - 1); /* the longest that there can be, and one more */
	memcpy(far, at, strlen(at));
	far[SELF_PATH - 1 - strlen("/.config/cofferdam/config.json")] = '\0';
	given(WHY_NONE, NULL, far, "h/.config/cofferdam/config.json");
	strcat(far, "/");
	given(WHY_CONFIG_OPEN, NULL, far, NULL);
	errno = ENOENT; /* an old one */
	vanishes = true;
	given(WHY_NONE, NULL, at, NULL); /* it was there */
	vanishes = false;
	assert_int_equal(access(everybodys, F_OK), 0); /* this one was not opened */
	put("h/.config/cofferdam/config.json", 0600);
	etc = NULL;
	no_stat = true;
	given(WHY_CONFIG_UNSAFE, everybodys, at, NULL);
	no_stat = false;
	no_link = true;
	given(WHY_CONFIG_UNSAFE, everybodys, at, NULL);
	no_link = false;
	own = dup(STDIN_FILENO);
	assert_int_equal(close(STDIN_FILENO), 0);
	assert_int_equal(self_config(everybodys, at, &fd, path), WHY_NONE);
	assert_int_equal(fd, STDIN_FILENO); /* one like any other */
	assert_int_equal(close(fd), 0);
	errno = ENOENT;
	vanishes = true;
	assert_int_equal(self_config(NULL, at, &fd, path), WHY_NONE);
	vanishes = false;
	assert_int_equal(fd, STDIN_FILENO);
	assert_null(strstr(path, "etc.json"));
	assert_int_equal(close(fd), 0);
	assert_int_equal(self_audit(everybodys, &fd, path), WHY_NONE);
	assert_int_equal(fd, STDIN_FILENO);
	assert_int_equal(dup2(own, STDIN_FILENO), STDIN_FILENO);
	close(own);
}

static int no_descriptor;

static enum executor_reason audit(const char *what, char *path)
{
	int fd = -1;
	enum executor_reason why;

	errno = 0;
	why = self_audit(what, &fd, path);
	if (why == WHY_NONE) {
		assert_int_equal(fcntl(fd, F_GETFL) & (O_ACCMODE | O_APPEND | O_NONBLOCK),
		                 O_WRONLY | O_APPEND | O_NONBLOCK);
		assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	}
	no_descriptor = fd < 0;
	if (fd >= 0)
		close(fd);
	return why;
}

static enum executor_reason log_file(const char *what, char *path)
{
	int fd = -1;
	enum executor_reason why;

	errno = 0;
	why = self_log(what, &fd, path);
	if (why == WHY_NONE)
		assert_int_equal(fcntl(fd, F_GETFL) & (O_ACCMODE | O_APPEND | O_NONBLOCK),
		                 O_WRONLY | O_NONBLOCK);
	if (fd >= 0)
		close(fd);
	return why;
}

static void files_are_written_where_they_are_named(void **state)
{
	char path[SELF_PATH], fifo[128], file[128];
	struct stat st;
	int reader;

	(void)state;
	strcpy(file, in_base("f"));
	umask(0);
	assert_int_equal(audit(file, path), WHY_NONE);
	assert_string_equal(path, file);
	assert_int_equal(stat(file, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(log_file(file, path), WHY_NONE);
	assert_string_equal(path, file);
	no_stat = true;
	assert_int_equal(audit(file, path), WHY_AUDIT_OPEN);
	no_stat = false;
	no_link = true;
	assert_int_equal(audit(file, path), WHY_AUDIT_OPEN);
	no_link = false;
	assert_int_equal(chmod(file, 0620), 0);
	assert_int_equal(audit(file, path), WHY_AUDIT_OPEN);
	assert_int_equal(errno, EPERM);
	assert_int_equal(log_file(file, path), WHY_WORKER_LOG);
	assert_int_equal(errno, EPERM);
	assert_int_equal(chmod(file, 0600), 0);
	assert_int_equal(symlink("f", in_base("l")), 0);
	assert_int_equal(audit(name, path), WHY_AUDIT_OPEN);
	assert_int_equal(errno, ELOOP);
	assert_true(no_descriptor);
	assert_int_equal(mkdir(in_base("d"), 0700), 0);
	assert_int_equal(symlink("d", in_base("e")), 0);
	assert_int_equal(log_file(in_base("d/f"), path), WHY_NONE);
	assert_int_equal(log_file(in_base("e/f"), path), WHY_WORKER_LOG);
	assert_int_equal(audit(in_base("d"), path), WHY_AUDIT_OPEN);
	assert_int_equal(audit(in_base("n/f"), path), WHY_AUDIT_OPEN);
	assert_int_equal(audit("/dev/null", path), WHY_AUDIT_OPEN);
	strcpy(fifo, in_base("p"));
	assert_int_equal(mkfifo(fifo, 0600), 0);
	assert_int_equal(audit(fifo, path), WHY_AUDIT_OPEN); /* which nobody reads */
	assert_int_equal(errno, ENXIO);
	reader = open(fifo, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	assert_int_equal(audit(fifo, path), WHY_NONE);
	assert_int_equal(log_file(fifo, path), WHY_WORKER_LOG);
	close(reader);
	seen.open_type = S_IFCHR;
	assert_int_equal(audit(file, path), WHY_AUDIT_OPEN);
	seen.open_type = 0;
}

static void docker_is_one_that_only_root_replaces(void **state)
{
	char path[SELF_PATH], real[SELF_PATH], folder[SELF_PATH];

	(void)state;
	assert_non_null(realpath("/bin/sh", real));
	assert_int_equal(self_docker("/bin/sh", path), WHY_NONE);
	assert_string_equal(path, real);
	assert_int_equal(self_docker("bin/sh", path), WHY_DOCKER_UNSAFE);
	assert_string_equal(path, "bin/sh");
	assert_int_equal(self_docker("", path), WHY_DOCKER_UNSAFE);
	assert_int_equal(self_docker("/usr/bin/nonexistent", path), WHY_DOCKER_MISSING);
	assert_int_equal(self_docker("/usr/bin", path), WHY_DOCKER_UNSAFE);
	put("docker", 0755); /* beside it others may write, though it is sticky */
	assert_int_equal(self_docker(in_base("docker"), path), WHY_DOCKER_UNSAFE);
	assert_int_equal(symlink("/bin/sh", in_base("link")), 0);
	assert_int_equal(self_docker(in_base("link"), path), WHY_DOCKER_UNSAFE);
	no_real = true;
	assert_int_equal(self_docker("/bin/sh", path), WHY_DOCKER_MISSING);
	assert_int_equal(self_docker(NULL, path), WHY_DOCKER_MISSING);
	no_real = false;
	no_stat = true;
	assert_int_equal(self_docker("/bin/sh", path), WHY_DOCKER_MISSING);
	no_stat = false;
	/* The way to it counts, and where it leads, and root alone owns both. */
	strcpy(folder, real);
	*strrchr(folder, '/') = '\0';
	for (size_t i = 0; i < 4; i++) {
		seen.path = (const char *const[]){"/bin/sh", "/bin", real, folder}[i];
		seen.owner = i % 2 == 0 ? 1 : 0;
		seen.mode = i % 2 == 0 ? 0 : S_IFDIR | 01777;
		assert_int_equal(self_docker("/bin/sh", path), WHY_DOCKER_UNSAFE);
		seen.path = NULL;
	}
	seen.owner = seen.mode = 0;
}

#define POLICY_PATH (SELF_PATH + 64) /* its end stays as it is */

static enum executor_reason policy(const char *own_program, char *path)
{
	char own[SELF_PATH + 4];
	enum executor_reason why;
	int fd = -1;

	memset(own, '/', SELF_PATH);
	memset(own + SELF_PATH, '#', sizeof(own) - SELF_PATH);
	own[SELF_PATH - 1] = '\0';
	memset(path, '#', POLICY_PATH);
	program = own_program;
	why = self_policy(&fd, own, path);
	program = NULL;
	for (size_t i = SELF_PATH; i < sizeof(own); i++)
		assert_int_equal(own[i], '#');
	for (size_t i = SELF_PATH; i < POLICY_PATH; i++)
		assert_int_equal(path[i], '#');
	if (why == WHY_NONE) {
		assert_int_equal(strncmp(own, own_program, SELF_PATH - 1), 0);
		assert_int_equal(strlen(own), strnlen(own_program, SELF_PATH - 1));
		assert_int_equal(fcntl(fd, F_GETFL) & O_PATH, O_PATH);
		assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	}
	if (fd >= 0)
		close(fd);
	return why;
}

static void policy_lies_beside(void **state)
{
	static char far[SELF_PATH + 64];
	char path[POLICY_PATH], own[128], beside[128];
	const int standard_in = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 60);
	int fd;

	(void)state;
	strcpy(own, in_base("cofferdam"));
	strcpy(beside, in_base("cofferdam-policy"));
	assert_int_equal(policy(own, path), WHY_POLICY_UNSAFE);
	put("cofferdam-policy", 0755);
	assert_int_equal(policy(own, path), WHY_NONE);
	assert_string_equal(path, beside);
	assert_int_equal(chmod(beside, 0775), 0);
	assert_int_equal(policy(own, path), WHY_POLICY_UNSAFE);
	assert_int_equal(chmod(beside, 0755) | chown(beside, NOBODY, 0), 0);
	assert_int_equal(policy(own, path), WHY_POLICY_UNSAFE);
	assert_int_equal(unlink(beside), 0);
	assert_int_equal(symlink("/bin/sh", beside), 0);
	assert_int_equal(policy(own, path), WHY_POLICY_UNSAFE);
	assert_int_equal(unlink(beside) | mkdir(beside, 0700), 0);
	assert_int_equal(policy(own, path), WHY_POLICY_UNSAFE);
	assert_int_equal(policy("cofferdam", path), WHY_POLICY_UNSAFE);
	assert_int_equal(policy("", path), WHY_POLICY_UNSAFE);
	assert_int_equal(rmdir(beside), 0);
	put("cofferdam-policy", 0700);
	assert_int_equal(policy("/", path), WHY_POLICY_UNSAFE);
	assert_string_equal(path, "/cofferdam-policy");
	no_program = true;
	assert_int_equal(policy(own, path), WHY_POLICY_UNSAFE);
	no_program = false;
	assert_string_equal(path, "");
	/* The longest path of it that fits: slashes more than one are one. */
	memset(far, '/', sizeof(far));
	memcpy(far, base, strlen(base));
	strcpy(far + SELF_PATH - sizeof("cofferdam-policy"), "c");
	assert_int_equal(policy(far, path), WHY_NONE);
	assert_int_equal(strlen(path), SELF_PATH - 1);
	for (size_t more = 0; more < 32; more++) {
		memset(far + strlen(base), '/', sizeof(far) - strlen(base));
		strcpy(far + SELF_PATH - sizeof("cofferdam-policy") + more, "/c");
		assert_int_equal(policy(far, path), WHY_POLICY_UNSAFE);
	}
	/* The longest path of this program, and those that are cut off. */
	memset(far + strlen(base), 'c', sizeof(far) - strlen(base));
	far[strlen(base)] = '/';
	for (size_t len = SELF_PATH - 2; len < SELF_PATH + 3; len++) {
		memset(far + strlen(base) + 1, 'c', sizeof(far) - strlen(base) - 1);
		far[len] = '\0';
		assert_int_equal(policy(far, path), WHY_NONE);
	}
	no_stat = true;
	assert_int_equal(policy(own, path), WHY_POLICY_UNSAFE);
	no_stat = false;
	assert_int_equal(close(STDIN_FILENO), 0);
	program = own;
	assert_int_equal(self_policy(&fd, far, path), WHY_NONE);
	program = NULL;
	assert_int_equal(fd, STDIN_FILENO);
	assert_int_equal(dup2(standard_in, STDIN_FILENO), STDIN_FILENO);
	close(standard_in);
}

/* --- self_start, in a process of its own ---------------------------------- */

static int started(bool as_root, bool closed, uid_t real, uid_t effective)
{
	sigset_t some;
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid != 0) {
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFEXITED(status));
		return WEXITSTATUS(status);
	}
	if (!as_root && setuid(NOBODY) != 0)
		_exit(100);
	uids = true;
	uid[0] = real;
	uid[1] = effective;
	sigfillset(&some);
	umask(0);
	if (sigprocmask(SIG_SETMASK, &some, NULL) != 0 || signal(SIGHUP, SIG_IGN) == SIG_ERR ||
	    signal(SIGRTMAX, SIG_IGN) == SIG_ERR || prctl(PR_SET_DUMPABLE, 1) != 0)
		_exit(101);
	for (int fd = STDIN_FILENO; closed && fd <= STDERR_FILENO; fd++)
		close(fd);
	starting = true;
	status = (int)self_start();
	starting = false;
	if (status != WHY_NONE)
		_exit(status);
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 ||
		    (closed && (fcntl(fd, F_GETFL) & O_ACCMODE) != O_RDONLY))
			_exit(102);
	if (closed && fcntl(STDERR_FILENO + 1, F_GETFD) >= 0)
		_exit(103);
	if (sigprocmask(SIG_SETMASK, NULL, &some) != 0)
		_exit(104);
	for (int number = 1; number <= SIGRTMAX; number++)
		if (sigismember(&some, number) == 1)
			_exit(104);
	if (signal(SIGHUP, SIG_DFL) != SIG_DFL || signal(SIGRTMAX, SIG_DFL) != SIG_DFL)
		_exit(105);
	if (prctl(PR_GET_DUMPABLE) != 0 || prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
		_exit(106);
	_exit(umask(0) == 077 ? 0 : 107);
}

static void starts_from_a_known_state(void **state)
{
	static const struct {
		const char *fails;
		enum executor_reason why;
	} rows[] = {
		{"open", WHY_START}, {"close", WHY_START}, {"sigprocmask", WHY_START},
		{"prctl 4", WHY_START}, {"prctl 38", WHY_START}, {"privileged", WHY_PRIVILEGED},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		fails = rows[i].fails;
		assert_int_equal(started(false, false, 1, 1), rows[i].why);
		fails = NULL;
	}
	assert_int_equal(started(true, false, 0, 0), WHY_ROOT);
	assert_int_equal(started(false, false, 0, 1), WHY_ROOT);
	assert_int_equal(started(false, false, 1, 0), WHY_ROOT);
	assert_int_equal(started(false, false, 1, 1), WHY_NONE);
	for (int fd = STDERR_FILENO + 1; fd < 256; fd++)
		close(fd);
	assert_int_equal(started(false, true, NOBODY, NOBODY), WHY_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
		TEST(a_path_fits_or_is_none),
		TEST(trusts_root_and_the_caller),
		TEST(a_home_is_absolute_and_fits),
		TEST(safe_is_what_nobody_can_replace),
		TEST(a_config_is_found),
		TEST(files_are_written_where_they_are_named),
		TEST(docker_is_one_that_only_root_replaces),
		TEST(policy_lies_beside),
		TEST(starts_from_a_known_state),
#undef TEST
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

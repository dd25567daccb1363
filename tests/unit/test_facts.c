/* SPDX-License-Identifier: ISC */
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "../../policy/facts.h"
#include "pass_on.h"
#include "usual.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/*
 * The host as a test says it is.  These stand before libc's own in this program;
 * while faking, nothing of the real host is seen.
 */

static bool faking;
static uid_t fake_uid;
static gid_t fake_gid;
static const char *fake_home; /* of fake_uid; NULL: no such entry */
static int fake_database; /* what getpwuid_r returns */
static bool fake_no_directory;
static char fake_exe[PATH_BYTES_MAX + 1];
static ssize_t fake_exe_len;
static size_t exe_asked;
static const char *fake_there; /* the one path that can be opened */
static int fake_missing; /* errno of every other one */
static char opened[8192]; /* the paths, each with a newline */
static int opened_flags;
static struct stat fake_stat;
static bool fake_stat_fails;

uid_t getuid(void)
{
	PASS_ON(getuid);

	return faking ? fake_uid : passed_on();
}

gid_t getgid(void)
{
	PASS_ON(getgid);

	return faking ? fake_gid : passed_on();
}

int getpwuid_r(uid_t uid, struct passwd *entry, char *buffer, size_t size, struct passwd **found)
{
	PASS_ON(getpwuid_r);

	if (!faking)
		return passed_on(uid, entry, buffer, size, found);
	assert_int_equal(uid, fake_uid);
	*found = NULL;
	if (fake_home == NULL)
		return fake_database;
	assert_true(strlen(fake_home) < size);
	memcpy(buffer, fake_home, strlen(fake_home) + 1);
	memset(entry, 0, sizeof(*entry));
	entry->pw_dir = fake_no_directory ? NULL : buffer;
	*found = entry;
	return fake_database;
}

ssize_t readlink(const char *path, char *to, size_t size)
{
	PASS_ON(readlink);

	if (!faking)
		return passed_on(path, to, size);
	assert_string_equal(path, "/proc/self/exe");
	exe_asked = size;
	if (fake_exe_len > 0)
		memcpy(to, fake_exe, (size_t)fake_exe_len);
	return fake_exe_len;
}

int open(const char *path, int flags, ...)
{
	PASS_ON(open);
	size_t len = strlen(opened);

	if (!faking)
		return passed_on(path, flags);
	(void)snprintf(opened + len, sizeof(opened) - len, "%s\n", path);
	opened_flags = flags;
	if (fake_there != NULL && strcmp(path, fake_there) == 0)
		return passed_on("/dev/null", O_RDONLY | O_CLOEXEC);
	errno = fake_missing;
	return -1;
}

int fstat(int fd, struct stat *out)
{
	PASS_ON(fstat);

	if (!faking)
		return passed_on(fd, out);
	*out = fake_stat;
	errno = EIO;
	return fake_stat_fails ? -1 : 0;
}

static struct report report;
static struct facts facts;

/* A caller of the id 1234, with a home and no variable set. */
static int begin(void **state)
{
	static const char *const VARIABLES[] = {
		"STATE_DIRECTORY", "DOCKER_HOST",     "SSH_AUTH_SOCK",
		"HOME",            "XDG_CONFIG_HOME", "COFFERDAM_CONFIG",
	};

	(void)state;
	for (size_t i = 0; i < COUNT(VARIABLES); i++)
		assert_int_equal(unsetenv(VARIABLES[i]), 0);
	fake_uid = 1234;
	fake_gid = 5678;
	fake_home = "/home/me";
	fake_database = 0;
	fake_no_directory = false;
	memcpy(fake_exe, "/opt/bin/cofferdam-policy", sizeof("/opt/bin/cofferdam-policy"));
	fake_exe_len = sizeof("/opt/bin/cofferdam-policy") - 1;
	fake_there = NULL;
	fake_missing = ENOENT;
	fake_stat_fails = false;
	memset(&fake_stat, 0, sizeof(fake_stat));
	fake_stat.st_mode = S_IFREG | 0644;
	fake_stat.st_uid = 1234;
	memset(&facts, 0, sizeof(facts));
	facts.home = "/home/me";
	report_init(&report, CODE_CONFIG, 78);
	return 0;
}

/* --- what is looked up --- */

static void gather(void)
{
	memset(&facts, 0xff, sizeof(facts)); /* of what was there, nothing stays */
	faking = true;
	facts_gather(&facts);
	faking = false;
}

static void test_gather(void **state)
{
	static const uint8_t zeros[NONCE_BYTES];

	(void)state;
	gather();
	assert_memory_equal(facts.nonce, zeros, sizeof(zeros));
	assert_int_equal(facts.mode, MODE_TURN);
	assert_int_equal(facts.uid, 1234);
	assert_int_equal(facts.gid, 5678);
	assert_string_equal(facts.home, "/home/me");
	assert_string_equal(facts.state_dir, "/home/me/.local/state/cofferdam");
	assert_string_equal(facts.state_id, "00000000000000000000000000000000");
	assert_null(facts.docker_host);
	assert_null(facts.ssh_auth_sock);
	assert_string_equal(facts.policy, "/opt/bin/cofferdam-policy");
	assert_string_equal(facts.executor, "/opt/bin/cofferdam");
	assert_string_equal(facts.docker, "/usr/bin/docker");
	assert_null(facts.config);
	assert_null(facts.audit);
	assert_null(facts.worker_err);
	assert_null(facts.name);
}

/* A variable that is empty is one that is not set. */
static void test_variables(void **state)
{
	(void)state;
	for (int set = 0; set <= 1; set++) {
		assert_int_equal(setenv("STATE_DIRECTORY", set == 1 ? "/s" : "", 1), 0);
		assert_int_equal(setenv("DOCKER_HOST", set == 1 ? "unix:///d" : "", 1), 0);
		assert_int_equal(setenv("SSH_AUTH_SOCK", set == 1 ? "/a" : "", 1), 0);
		gather();
		assert_string_equal(facts.state_dir,
		                    set == 1 ? "/s" : "/home/me/.local/state/cofferdam");
		if (set == 1) {
			assert_string_equal(facts.docker_host, "unix:///d");
			assert_string_equal(facts.ssh_auth_sock, "/a");
		} else {
			assert_null(facts.docker_host);
			assert_null(facts.ssh_auth_sock);
		}
	}
}

/* Whoever has no home has no state directory either. */
static void test_no_home(void **state)
{
	static const struct {
		const char *home;
		int result;
		bool no_directory;
	} CASES[] = {{NULL, 0, false}, {NULL, EIO, false}, {"/x", ERANGE, false}, {"/x", 0, true},
	             {"", 0, false}};

	(void)state;
	for (size_t i = 0; i < COUNT(CASES); i++) {
		fake_home = CASES[i].home;
		fake_database = CASES[i].result;
		fake_no_directory = CASES[i].no_directory;
		gather();
		assert_string_equal(facts.home, "");
		assert_string_equal(facts.state_dir, "");
	}
}

/* A path that would be too long is none. */
static void test_long_home(void **state)
{
	static char home[PATH_BYTES_MAX + 1];
	size_t most = PATH_BYTES_MAX - strlen("/.local/state/cofferdam");

	(void)state;
	for (size_t len = most; len <= most + 1; len++) {
		memset(home, 'h', len);
		home[0] = '/';
		home[len] = '\0';
		fake_home = home;
		gather();
		assert_string_equal(facts.home, home);
		assert_int_equal(strlen(facts.state_dir), len == most ? PATH_BYTES_MAX : 0);
	}
}

static void test_own_path(void **state)
{
	static const struct {
		const char *own;
		const char *executor;
	} CASES[] = {
		{"/cofferdam-policy", "/cofferdam"}, {"/a/b/x", "/a/b/cofferdam"},
		{"x", ""},                           {"", ""},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(CASES); i++) {
		memset(fake_exe, '/', sizeof(fake_exe)); /* no NUL behind it */
		memcpy(fake_exe, CASES[i].own, strlen(CASES[i].own));
		fake_exe_len = (ssize_t)strlen(CASES[i].own);
		gather();
		assert_string_equal(facts.policy, CASES[i].own);
		assert_string_equal(facts.executor, CASES[i].executor);
		assert_int_equal(exe_asked, PATH_BYTES_MAX);
	}
	fake_exe_len = -1;
	gather();
	assert_string_equal(facts.policy, "");
	assert_string_equal(facts.executor, "");
}

/* The executor's path is one byte longer than fits, or just fits. */
static void test_long_own_path(void **state)
{
	size_t most = PATH_BYTES_MAX - strlen("cofferdam");

	(void)state;
	for (size_t len = most; len <= most + 1; len++) {
		memset(fake_exe, 'd', len);
		fake_exe[0] = fake_exe[len - 1] = '/';
		fake_exe[len] = 'x';
		fake_exe_len = (ssize_t)len + 1;
		gather();
		assert_int_equal(strlen(facts.policy), len + 1);
		assert_int_equal(strlen(facts.executor), len == most ? PATH_BYTES_MAX : 0);
	}
}

/* --- files --- */

#define QUIETLY (O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)

static void test_open(void **state)
{
	static const struct {
		int error;
		const char *detail;
	} ERRORS[] = {
		{ENOENT, "/a\\x0a: ENOENT"}, {EACCES, "/a\\x0a: EACCES"},
		{9999, "/a\\x0a: unknown error"},
	};
	int fd;

	(void)state;
	for (size_t i = 0; i < COUNT(ERRORS); i++) {
		report_init(&report, CODE_CONFIG, 78);
		fake_missing = ERRORS[i].error;
		faking = true;
		fd = facts_open("/a\n", &report);
		faking = false;
		assert_int_equal(fd, -1);
		assert_int_equal(report.count, 1);
		assert_int_equal(report.at[0].reason, REASON_INPUT_READ);
		assert_string_equal(report.at[0].pointer, "");
		assert_string_equal(report.at[0].detail, ERRORS[i].detail);
	}
	report_init(&report, CODE_CONFIG, 78);
	fake_there = "/a";
	faking = true;
	fd = facts_open("/a", &report);
	faking = false;
	assert_int_equal(opened_flags, QUIETLY);
	assert_true(fd >= 0);
	assert_int_equal(close(fd), 0);
	assert_true(report_empty(&report));
}

/* A descriptor may be 0. */
static void test_open_zero(void **state)
{
	int kept = fcntl(0, F_DUPFD_CLOEXEC, 3);
	int fd, config, own;

	(void)state;
	assert_int_equal(setenv("XDG_CONFIG_HOME", "/x", 1), 0);
	fake_there = "/a";
	assert_int_equal(close(0), 0);
	faking = true;
	fd = facts_open("/a", &report);
	faking = false;
	assert_int_equal(close(fd), 0);
	faking = true;
	config = facts_open_config("/a", &facts, &report);
	faking = false;
	assert_int_equal(close(config), 0);
	fake_there = "/x/cofferdam/config.json";
	errno = ENOENT; /* an earlier call's */
	faking = true;
	own = facts_open_config(NULL, &facts, &report);
	faking = false;
	assert_int_equal(close(own), 0);
	assert_int_equal(dup2(kept, 0), 0);
	assert_int_equal(close(kept), 0);
	assert_int_equal(fd, 0);
	assert_int_equal(config, 0);
	assert_int_equal(own, 0);
	assert_true(report_empty(&report));
}

#define ETC "/etc/cofferdam/config.json"

struct looked {
	const char *given, *variable, *xdg, *home; /* NULL: not set */
	const char *there; /* what exists */
	const char *opened; /* what was tried, in order */
	const char *config; /* what was found; NULL: nothing */
};

static const struct looked LOOKED[] = {
	/* Named: that one and no other. */
	{"/g", "/v", "/x", "/h", "/g", "/g\n", "/g"},
	{"/g", "/v", "/x", "/h", "/v", "/g\n", NULL},
	{NULL, "/v", "/x", "/h", "/v", "/v\n", "/v"},
	{NULL, "/v", "/x", "/h", ETC, "/v\n", NULL},
	/* Not named: one's own, then the host's. */
	{NULL, NULL, "/x", "/h", "/x/cofferdam/config.json", "/x/cofferdam/config.json\n",
	 "/x/cofferdam/config.json"},
	{NULL, "", "/x", "/h", "/x/cofferdam/config.json", "/x/cofferdam/config.json\n",
	 "/x/cofferdam/config.json"},
	{NULL, NULL, "/x", "/h", ETC, "/x/cofferdam/config.json\n" ETC "\n", ETC},
	{NULL, NULL, "/x", "/h", NULL, "/x/cofferdam/config.json\n" ETC "\n", NULL},
	{NULL, NULL, "", "/h", ETC, "/h/.config/cofferdam/config.json\n" ETC "\n", ETC},
	{NULL, NULL, NULL, "/h", "/h/.config/cofferdam/config.json",
	 "/h/.config/cofferdam/config.json\n", "/h/.config/cofferdam/config.json"},
	{NULL, NULL, NULL, "", "/home/me/.config/cofferdam/config.json",
	 "/home/me/.config/cofferdam/config.json\n", "/home/me/.config/cofferdam/config.json"},
	{NULL, NULL, NULL, NULL, "/home/me/.config/cofferdam/config.json",
	 "/home/me/.config/cofferdam/config.json\n", "/home/me/.config/cofferdam/config.json"},
	/* A relative one is no place to look (XDG Base Directory Specification). */
	{NULL, NULL, "x", "/h", ETC, ETC "\n", ETC},
	{NULL, NULL, NULL, "h", ETC, ETC "\n", ETC},
};

static void set(const char *name, const char *value)
{
	if (value == NULL)
		assert_int_equal(unsetenv(name), 0);
	else
		assert_int_equal(setenv(name, value, 1), 0);
}

static int open_config(const char *given)
{
	int fd;

	opened[0] = '\0';
	errno = ENOENT; /* an earlier call's */
	faking = true;
	fd = facts_open_config(given, &facts, &report);
	faking = false;
	return fd;
}

static void test_looked(void **state)
{
	for (size_t i = 0; i < COUNT(LOOKED); i++) {
		const struct looked *l = &LOOKED[i];
		int fd;

		assert_int_equal(begin(state), 0);
		set("COFFERDAM_CONFIG", l->variable);
		set("XDG_CONFIG_HOME", l->xdg);
		set("HOME", l->home);
		fake_there = l->there;
		fd = open_config(l->given);
		if (strcmp(opened, l->opened) != 0)
			fail_msg("row %zu: tried %s", i, opened);
		assert_int_equal(opened_flags, QUIETLY);
		assert_int_equal(fd >= 0, l->config != NULL);
		assert_int_equal(report.count, l->config == NULL);
		if (l->config != NULL) {
			assert_string_equal(facts.config, l->config);
			assert_int_equal(close(fd), 0);
		} else {
			char detail[128];

			assert_int_equal(fd, -1);
			assert_null(facts.config);
			assert_int_equal(report.at[0].reason, REASON_INPUT_READ);
			(void)snprintf(detail, sizeof(detail), "%s: ENOENT",
			               l->given != NULL ? l->given
			               : l->variable != NULL ? l->variable : ETC);
			assert_string_equal(report.at[0].detail, detail);
		}
	}
}

/* One's own that is there and cannot be opened is not passed over. */
static void test_own_unreadable(void **state)
{
	static const struct {
		int error;
		bool etc;
		const char *detail;
	} CASES[] = {
		{ENOENT, true, ETC ": ENOENT"},
		{ENOTDIR, true, ETC ": ENOTDIR"},
		{EACCES, false, "/x/cofferdam/config.json: EACCES"},
		{ELOOP, false, "/x/cofferdam/config.json: ELOOP"},
	};

	for (size_t i = 0; i < COUNT(CASES); i++) {
		assert_int_equal(begin(state), 0);
		set("XDG_CONFIG_HOME", "/x");
		fake_missing = CASES[i].error;
		assert_int_equal(open_config(NULL), -1);
		assert_string_equal(opened, CASES[i].etc ? "/x/cofferdam/config.json\n" ETC "\n"
		                                         : "/x/cofferdam/config.json\n");
		assert_int_equal(report.count, 1);
		assert_string_equal(report.at[0].detail, CASES[i].detail);
	}
}

/* So long that it cannot be opened: then it is not there. */
static void test_long_own(void **state)
{
	static char home[PATH_BYTES_MAX + 1];
	size_t most = PATH_BYTES_MAX - strlen("/cofferdam/config.json");

	(void)state;
	for (size_t len = most; len <= most + 1; len++) {
		memset(home, 'x', len);
		home[0] = '/';
		home[len] = '\0';
		set("XDG_CONFIG_HOME", home);
		assert_int_equal(open_config(NULL), -1);
		assert_int_equal(strlen(opened), len == most ? PATH_BYTES_MAX + 1 + strlen(ETC "\n")
		                                             : strlen(ETC "\n"));
	}
}

static void test_standard_input(void **state)
{
	(void)state;
	assert_int_equal(open_config("-"), 0);
	set("COFFERDAM_CONFIG", "-");
	assert_int_equal(open_config(NULL), 0);
	assert_null(facts.config);
	assert_string_equal(opened, "");
	assert_true(report_empty(&report));
	fake_there = "-x"; /* a name like any other */
	assert_int_equal(close(open_config("-x")), 0);
	assert_string_equal(opened, "-x\n");
}

static void test_absolute(void **state)
{
	char here[] = "/tmp/test_facts.XXXXXX";
	char expected[64];
	int back = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);

	(void)state;
	assert_non_null(mkdtemp(here));
	assert_int_equal(chdir(here), 0);
	fake_there = "a/b";
	assert_int_equal(close(open_config("a/b")), 0);
	(void)snprintf(expected, sizeof(expected), "%s/a/b", here);
	assert_string_equal(facts.config, expected);
	/* A directory that is gone has no name. */
	assert_int_equal(rmdir(here), 0);
	assert_int_equal(close(open_config("a/b")), 0);
	assert_null(facts.config);
	assert_int_equal(fchdir(back), 0);
	assert_int_equal(close(back), 0);
	assert_true(report_empty(&report));
}

/* Every owner, type and permission that matters. */
static void test_safe(void **state)
{
	static const struct {
		mode_t mode;
		uid_t uid;
		bool good;
	} CASES[] = {
		{S_IFREG | 0644, 1234, true},  {S_IFREG | 0644, 0, true},
		{S_IFREG | 0644, 1, false},    {S_IFREG | 0644, 1235, false},
		{S_IFREG | 0400, 0, true},     {S_IFREG | 0755, 0, true},
		{S_IFREG | 0664, 1234, false}, {S_IFREG | 0646, 1234, false},
		{S_IFREG | 0666, 0, false},    {S_IFREG | 0620, 0, false},
		{S_IFDIR | 0755, 0, false},    {S_IFIFO | 0600, 1234, false},
		{S_IFCHR | 0600, 0, false},    {S_IFSOCK | 0600, 0, false},
	};

	for (size_t i = 0; i < 2 * COUNT(CASES); i++) {
		bool good = CASES[i / 2].good && i % 2 == 0;
		int next, fd;

		assert_int_equal(begin(state), 0);
		fake_there = "/a\n";
		fake_stat.st_mode = CASES[i / 2].mode;
		fake_stat.st_uid = CASES[i / 2].uid;
		fake_stat_fails = i % 2 == 1;
		next = dup(1);
		assert_int_equal(close(next), 0);
		fd = open_config("/a\n");
		assert_int_equal(fd, good ? next : -1);
		assert_int_equal(report.count, !good);
		assert_string_equal(facts.config, "/a\n");
		if (good) {
			assert_int_equal(close(fd), 0);
			continue;
		}
		assert_int_equal(fcntl(next, F_GETFD), -1); /* closed */
		assert_int_equal(report.at[0].reason, REASON_CONFIG_FILE);
		assert_string_equal(report.at[0].pointer, "");
		assert_string_equal(report.at[0].detail, "file: /a\\x0a");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_gather, begin),
		cmocka_unit_test_setup(test_variables, begin),
		cmocka_unit_test_setup(test_no_home, begin),
		cmocka_unit_test_setup(test_long_home, begin),
		cmocka_unit_test_setup(test_own_path, begin),
		cmocka_unit_test_setup(test_long_own_path, begin),
		cmocka_unit_test_setup(test_open, begin),
		cmocka_unit_test_setup(test_open_zero, begin),
		cmocka_unit_test_setup(test_looked, begin),
		cmocka_unit_test_setup(test_own_unreadable, begin),
		cmocka_unit_test_setup(test_long_own, begin),
		cmocka_unit_test_setup(test_standard_input, begin),
		cmocka_unit_test_setup(test_absolute, begin),
		cmocka_unit_test_setup(test_safe, begin),
	};

	usual_surroundings();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: ISC */
#include "self.h"

#include <bsd/string.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef DOCKER_PATH
#define DOCKER_PATH "/usr/bin/docker"
#endif

enum executor_reason self_start(void)
{
	sigset_t none;
	int fd;

	do /* the lowest free descriptor is taken: open(2); a reply cannot be written to it */
		fd = open("/dev/null", O_RDONLY);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd < 0 || close(fd) != 0)
		return WHY_START;
	if (getuid() == 0 || geteuid() == 0)
		return WHY_ROOT;
	if (getauxval(AT_SECURE) != 0)
		return WHY_PRIVILEGED;
	for (int n = 1; n < NSIG; n++)
		(void)signal(n, SIG_DFL); /* SIGKILL, SIGSTOP and libc's own refuse it */
	sigemptyset(&none);
	if (sigprocmask(SIG_SETMASK, &none, NULL) != 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0 ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return WHY_START;
	umask(077);
	return WHY_NONE;
}

void self_home(char *home, size_t cap)
{
	static char storage[16384];
	struct passwd entry, *found = NULL;

	if (getpwuid_r(getuid(), &entry, storage, sizeof(storage), &found) != 0 || found == NULL ||
	    entry.pw_dir[0] != '/' || strlcpy(home, entry.pw_dir, cap) >= cap)
		home[0] = '\0';
}

bool self_path(int fd, char *path, size_t cap)
{
	char link[32];
	ssize_t len;

	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	len = readlink(link, path, cap);
	if (len <= 0 || (size_t)len >= cap)
		return false;
	path[len] = '\0';
	return true;
}

bool self_trusts(const struct stat *st)
{
	return (st->st_uid == 0 || st->st_uid == geteuid()) && (st->st_mode & 022) == 0;
}

bool self_safe(const char *path, uid_t owner, bool sticky)
{
	char part[SELF_PATH] = "/";
	size_t len = strlen(path);
	struct stat st;
	bool shared;

	if (path[0] != '/' || len >= sizeof(part))
		return false;
	for (size_t i = 0; i <= len; i++) {
		if (i > 0 && path[i] != '/' && path[i] != '\0')
			continue;
		memcpy(part, path, i > 0 ? i : 1);
		if (lstat(part, &st) != 0 || (st.st_uid != 0 && st.st_uid != owner))
			return false;
		shared = (st.st_mode & 022) != 0 && !S_ISLNK(st.st_mode);
		if (shared && (!sticky || !S_ISDIR(st.st_mode) || (st.st_mode & S_ISVTX) == 0))
			return false;
	}
	return true;
}

const char *self_config_named(const char *given)
{
	if (given == NULL && (given = getenv("COFFERDAM_CONFIG")) != NULL && given[0] == '\0')
		given = NULL;
	return given;
}

static int open_config(const char *given, const char *home, char *path)
{
	const char *config = getenv("XDG_CONFIG_HOME");
	bool own = config != NULL && config[0] == '/'; /* others are to be ignored: XDG */
	int fd, len;

	if ((given = self_config_named(given)) != NULL)
		return open(given, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	len = snprintf(path, SELF_PATH, "%s%s/cofferdam/config.json", own ? config : home,
	               own ? "" : "/.config");
	if (len < 0 || len >= SELF_PATH)
		return -1;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	/* A link to nothing is a broken config, not a missing one. */
	if (fd >= 0 || errno != ENOENT || faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return fd;
	return open("/etc/cofferdam/config.json", O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
}

enum executor_reason self_config(const char *given, const char *home, int *fd, char *path)
{
	struct stat st;

	*fd = open_config(given, home, path);
	if (*fd < 0)
		return WHY_CONFIG_OPEN;
	if (!self_path(*fd, path, SELF_PATH) || fstat(*fd, &st) != 0 || !S_ISREG(st.st_mode) ||
	    !self_trusts(&st))
		return WHY_CONFIG_UNSAFE;
	return WHY_NONE;
}

/* Opens a file of ours for writing, and tells its path.  No link is followed: one
 * that an earlier worker has left in a mount would lead out of it again, past the
 * rule that what is written lies outside every mount.  A FIFO that nobody reads is
 * refused, not waited for, and neither is one that is full (audit.h). */
static bool open_to_write(const char *given, int append, bool fifo, int *fd, char *path)
{
	const struct open_how how = {
		.flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | (unsigned)append,
		.mode = 0600,
		.resolve = RESOLVE_NO_SYMLINKS,
	};
	struct stat st;

	*fd = (int)syscall(SYS_openat2, AT_FDCWD, given, &how, sizeof(how));
	if (*fd < 0 || fstat(*fd, &st) != 0)
		return false;
	errno = EPERM; /* for all that follows: not a file that may be written to */
	return self_trusts(&st) && (S_ISREG(st.st_mode) || (fifo && S_ISFIFO(st.st_mode))) &&
	       self_path(*fd, path, SELF_PATH);
}

enum executor_reason self_audit(const char *given, int *fd, char *path)
{
	return open_to_write(given, O_APPEND, true, fd, path) ? WHY_NONE : WHY_AUDIT_OPEN;
}

enum executor_reason self_log(const char *given, int *fd, char *path)
{
	return open_to_write(given, 0, false, fd, path) ? WHY_NONE : WHY_WORKER_LOG;
}

enum executor_reason self_docker(const char *given, char *path)
{
	struct stat st;

	if (given == NULL)
		given = DOCKER_PATH;
	strlcpy(path, given, SELF_PATH); /* what a refusal names */
	if (given[0] != '/')
		return WHY_DOCKER_UNSAFE;
	if (realpath(given, path) == NULL || stat(path, &st) != 0)
		return WHY_DOCKER_MISSING;
	if (!self_safe(given, 0, false) || !self_safe(path, 0, false) || !S_ISREG(st.st_mode))
		return WHY_DOCKER_UNSAFE;
	return WHY_NONE;
}

enum executor_reason self_policy(int *fd, char *own, char *path)
{
	static const char name[] = "cofferdam-policy";
	ssize_t len = readlink("/proc/self/exe", own, SELF_PATH - 1);
	struct stat st;
	char *slash;

	own[len > 0 ? len : 0] = '\0';
	strlcpy(path, own, SELF_PATH);
	slash = strrchr(path, '/');
	if (slash == NULL || (size_t)(slash + 1 - path) + sizeof(name) > SELF_PATH)
		return WHY_POLICY_UNSAFE;
	memcpy(slash + 1, name, sizeof(name));
	*fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (*fd < 0 || fstat(*fd, &st) != 0 || !S_ISREG(st.st_mode) || !self_trusts(&st))
		return WHY_POLICY_UNSAFE;
	return WHY_NONE;
}

/* SPDX-License-Identifier: ISC */
#include "facts.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define USER_DATABASE_BYTES 16384 /* an entry of passwd(5), with all its strings */
#define CONFIG_NAME "/cofferdam/config.json"
#define DOCKER_USUAL "/usr/bin/docker"

struct path {
	char text[PATH_BYTES_MAX + 1];
};

/* The parts one after another; "" when they do not fit. */
static const char *join(struct path *to, const char *a, const char *b, const char *c)
{
	struct text text;

	text_init(&text, to->text, sizeof(to->text));
	text_string(&text, a);
	text_string(&text, b);
	text_string(&text, c);
	text_bytes(&text, "", 1);
	if (text.full)
		to->text[0] = '\0';
	return to->text;
}

/* A variable that is set and not empty, or NULL. */
static const char *variable(const char *name)
{
	const char *value = secure_getenv(name);

	return value != NULL && value[0] != '\0' ? value : NULL;
}

static const char *home_of(uid_t uid)
{
	static char buffer[USER_DATABASE_BYTES];
	struct passwd entry;
	struct passwd *found = NULL;

	if (getpwuid_r(uid, &entry, buffer, sizeof(buffer), &found) != 0 || found == NULL ||
	    found->pw_dir == NULL)
		return "";
	return found->pw_dir;
}

static const char *own_path(void)
{
	static struct path path;
	ssize_t len = readlink("/proc/self/exe", path.text, sizeof(path.text) - 1);

	path.text[len > 0 ? len : 0] = '\0';
	return path.text;
}

/* The executor is installed beside this program. */
static const char *sibling(const char *own)
{
	static struct path path;
	const char *slash = strrchr(own, '/');
	struct text text;

	if (slash == NULL)
		return "";
	text_init(&text, path.text, sizeof(path.text));
	text_bytes(&text, own, (size_t)(slash - own) + 1);
	text_string(&text, "cofferdam");
	text_bytes(&text, "", 1);
	return text.full ? "" : path.text;
}

static const char *state_directory(const char *home)
{
	static struct path path;
	const char *given = variable("STATE_DIRECTORY");

	if (given != NULL)
		return given;
	return home[0] == '\0' ? "" : join(&path, home, "/.local/state/cofferdam", "");
}

void facts_gather(struct facts *out)
{
	memset(out, 0, sizeof(*out));
	out->uid = getuid();
	out->gid = getgid();
	out->home = home_of(getuid());
	out->state_dir = state_directory(out->home);
	out->state_id = "00000000000000000000000000000000";
	out->docker_host = variable("DOCKER_HOST");
	out->ssh_auth_sock = variable("SSH_AUTH_SOCK");
	out->policy = own_path();
	out->executor = sibling(out->policy);
	out->docker = DOCKER_USUAL;
}

static void cannot(const char *path, int error, struct report *report)
{
	struct report_detail detail = report_open(report, REASON_INPUT_READ, "");
	const char *name = strerrorname_np(error);

	text_escaped(&detail.text, path, strlen(path));
	text_string(&detail.text, ": ");
	text_string(&detail.text, name != NULL ? name : "unknown error");
	report_close(&detail);
}

/* O_NONBLOCK, lest opening a FIFO wait for a writer. */
static int open_quietly(const char *path)
{
	return open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
}

int facts_open(const char *path, struct report *report)
{
	int fd = open_quietly(path);

	if (fd < 0)
		cannot(path, errno, report);
	return fd;
}

/* Checked on the descriptor, so that what is checked is what is read. */
static bool safe(int fd, const char *path, struct report *report)
{
	struct stat st;

	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    (st.st_uid == 0 || st.st_uid == getuid()) && (st.st_mode & (S_IWGRP | S_IWOTH)) == 0)
		return true;
	report_add_text(report, REASON_CONFIG_FILE, "", "file", path, strlen(path));
	return false;
}

static const char *absolute(const char *path)
{
	static struct path whole;
	static struct path here;

	if (path[0] == '/')
		return path;
	if (getcwd(here.text, sizeof(here.text)) == NULL)
		return NULL;
	return join(&whole, here.text, "/", path);
}

/* Where the config is looked for when nobody names it.  *fd: already open, or
 * -1. */
static const char *find_config(const struct facts *facts, int *fd)
{
	static struct path path;
	const char *base = variable("XDG_CONFIG_HOME");
	const char *home = variable("HOME");
	const char *own = "";

	if (base != NULL)
		own = join(&path, base, CONFIG_NAME, "");
	else
		own = join(&path, home != NULL ? home : facts->home, "/.config", CONFIG_NAME);
	if (own[0] == '/') {
		*fd = open_quietly(own);
		if (*fd >= 0 || (errno != ENOENT && errno != ENOTDIR))
			return own;
	}
	*fd = open_quietly("/etc" CONFIG_NAME);
	return "/etc" CONFIG_NAME;
}

int facts_open_config(const char *given, struct facts *facts, struct report *report)
{
	const char *path = given != NULL ? given : variable("COFFERDAM_CONFIG");
	int fd;

	if (path != NULL && strcmp(path, "-") == 0)
		return STDIN_FILENO;
	if (path != NULL)
		fd = open_quietly(path);
	else
		path = find_config(facts, &fd);
	if (fd < 0) {
		cannot(path, errno, report);
		return -1;
	}
	facts->config = absolute(path);
	if (safe(fd, path, report))
		return fd;
	(void)close(fd);
	return -1;
}

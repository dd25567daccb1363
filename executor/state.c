/* SPDX-License-Identifier: ISC */
#include "state.h"

#include <bsd/string.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "holes.h"
#include "self.h"

#define CLAIM_BYTES 512
#define CLAIM_FLAGS (O_RDWR | O_APPEND | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
#define READ_FLAGS (O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
#define NEW_FILE (O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC)

/* File systems on which flock(2) is emulated, partial or another machine's too:
 * f_type of statfs(2). */
static const unsigned remote[] = {
	0x00006969, /* NFS */
	0x65735546, /* FUSE */
	0x0000517b, /* SMB */
	0xff534d42, /* CIFS */
	0xfe534d42, /* SMB2 */
	0x01021997, /* 9p */
	0x00c36400, /* Ceph */
	0x5346414f, /* AFS */
	0x6b414653, /* kAFS */
	0x73757245, /* Coda */
	0x0bd00bd0, /* Lustre */
	0x47504653, /* GPFS */
};

bool state_random(uint8_t bytes[NONCE_BYTES], char hex[ID_HEX + 1])
{
	if (getrandom(bytes, NONCE_BYTES, 0) != NONCE_BYTES)
		return false;
	for (size_t i = 0; i < ID_HEX; i++)
		hex[i] = HEX[i % 2 == 0 ? bytes[i / 2] >> 4 : bytes[i / 2] & 15];
	hex[ID_HEX] = '\0';
	return true;
}

/* A regular file of ours, with no other name; -1 is none. */
static bool ours(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
	       st.st_nlink <= 1;
}

/* The same file under its name as under the descriptor. */
static bool same(int dir, const char *name, int fd)
{
	struct stat by_name, by_fd;

	return fstat(fd, &by_fd) == 0 && fstatat(dir, name, &by_name, AT_SYMLINK_NOFOLLOW) == 0 &&
	       by_name.st_dev == by_fd.st_dev && by_name.st_ino == by_fd.st_ino;
}

/* Opens a private directory of ours, making it if need be. */
static int private(int at, const char *name)
{
	struct stat st;
	int fd;

	if (mkdirat(at, name, 0700) != 0 && errno != EEXIST)
		return -1;
	fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fstat(fd, &st) == 0 && st.st_uid == geteuid() && (st.st_mode & 077) == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

bool state_choose(char *path, const char *given, const char *home)
{
	const char *from = given != NULL ? given : getenv("STATE_DIRECTORY");
	int len;

	/* systemd separates several by colons */
	if (given != NULL || (from != NULL && from[0] != '\0'))
		len = snprintf(path, STATE_PATH, "%.*s",
		               (int)(given != NULL ? strlen(from) : strcspn(from, ":")), from);
	else
		len = home[0] == '\0' ? -1
		                      : snprintf(path, STATE_PATH, "%s/.local/state/cofferdam", home);
	return len > 0 && len < STATE_PATH;
}

/* The parents that are missing; what cannot be made cannot be opened either. */
static void make_parents(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0700);
		*slash = '/';
	}
}

bool state_local(int fd)
{
	struct statfs fs;

	if (fstatfs(fd, &fs) != 0)
		return false;
	for (size_t i = 0; i < sizeof(remote) / sizeof(remote[0]); i++)
		if ((unsigned)fs.f_type == remote[i])
			return false;
	return true;
}

/* What a file of ours says of itself: which one it is, so that a copy of it is
 * none, and a word.  Inode and time of birth stay over a reboot, which a device's
 * number may not; a file system without the latter says 0 (statx(2)). */
static bool identity(int fd, const char *word, char *to, size_t cap)
{
	struct statx stx;
	int len;

	if (statx(fd, "", AT_EMPTY_PATH, STATX_INO | STATX_BTIME, &stx) != 0)
		return false;
	len = snprintf(to, cap, " %llu:%lld.%09u %s\n", (unsigned long long)stx.stx_ino,
	               (long long)stx.stx_btime.tv_sec, stx.stx_btime.tv_nsec, word);
	return (size_t)len < cap; /* a negative one is a great one, too */
}

/* Makes the id, complete, by rename(2), with the directory locked: of several
 * starters one makes it, and all read the same.  One that is killed half-way
 * leaves id.new, which the next replaces. */
static bool make_id(const struct state *state)
{
	char line[CLAIM_BYTES], self[CLAIM_BYTES / 2], id[ID_HEX + 1];
	uint8_t bytes[NONCE_BYTES];
	bool good;
	int fd, len;

	if (flock(state->dir, LOCK_EX) != 0)
		return false;
	if (faccessat(state->dir, "id", F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return flock(state->dir, LOCK_UN) == 0;
	(void)unlinkat(state->dir, "id.new", 0);
	if (!state_random(bytes, id) || (fd = openat(state->dir, "id.new", NEW_FILE, 0600)) < 0)
		return false;
	good = identity(fd, "id", self, sizeof(self));
	len = snprintf(line, sizeof(line), "%s%s", id, self);
	good = good && write(fd, line, (size_t)len) == len && fsync(fd) == 0 &&
	       renameat(state->dir, "id.new", state->dir, "id") == 0;
	return close(fd) == 0 && flock(state->dir, LOCK_UN) == 0 && good;
}

static bool read_id(struct state *state)
{
	char line[CLAIM_BYTES] = "", self[CLAIM_BYTES / 2];
	int fd = openat(state->dir, "id", READ_FLAGS);
	bool good;

	if (fd < 0 && errno == ENOENT && make_id(state))
		fd = openat(state->dir, "id", READ_FLAGS);
	if (fd < 0)
		return false;
	good = ours(fd) && read(fd, line, sizeof(line) - 1) > ID_HEX &&
	       strspn(line, HEX) == ID_HEX && identity(fd, "id", self, sizeof(self)) &&
	       strcmp(line + ID_HEX, self) == 0;
	close(fd);
	memcpy(state->id, line, ID_HEX);
	return good;
}

/* docker's configuration directory is there, and empty as far as it matters. */
static bool make_docker(const struct state *state)
{
	int docker = private(state->dir, "docker");
	bool good = faccessat(docker, "config.json", F_OK, AT_SYMLINK_NOFOLLOW) != 0 &&
	            errno == ENOENT; /* -1 is EBADF */

	if (docker >= 0)
		close(docker);
	return good;
}

static const char *open_all(struct state *state, const char *given, const char *home)
{
	if (!state_choose(state->path, given, home))
		return "no home, or too long a path";
	make_parents(state->path);
	if ((state->dir = private(AT_FDCWD, state->path)) < 0)
		return "not a directory of yours alone (mode 0700), or it cannot be made";
	if (!self_path(state->dir, state->path, sizeof(state->path)) ||
	    !self_safe(state->path, geteuid(), true))
		return "others could replace it or a directory above it";
	if (!state_local(state->dir))
		return "its file system is not a local one";
	if (!read_id(state))
		return "its id cannot be made, is damaged, or is a copy of another directory's";
	if ((state->claims = private(state->dir, "claims")) < 0)
		return "claims in it is not a directory of yours alone";
	return make_docker(state) ? NULL : "docker in it is not an empty directory of yours alone";
}

enum state_result state_open(struct state *state, const char *given, const char *home)
{
	*state = (struct state){.dir = -1, .claims = -1, .lock = -1, .claim = -1};
	state->wrong = open_all(state, given, home);
	return state->wrong == NULL ? STATE_OK : STATE_BAD;
}

enum state_result state_lock(struct state *state, const char *nonce)
{
	char line[64];
	int len = snprintf(line, sizeof(line), "%d %s\n", (int)getpid(), nonce);

	if (state->lock < 0)
		state->lock = openat(state->dir, "lock",
		                     O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600);
	if (state->lock < 0 || !ours(state->lock))
		return STATE_BAD;
	if (flock(state->lock, LOCK_EX | LOCK_NB) != 0)
		return errno == EWOULDBLOCK ? STATE_HELD : STATE_BAD;
	if (!same(state->dir, "lock", state->lock)) { /* replaced while we waited: once more */
		close(state->lock);
		state->lock = -1;
		return STATE_HELD;
	}
	if (ftruncate(state->lock, 0) != 0 || pwrite(state->lock, line, (size_t)len, 0) != len)
		return STATE_BAD;
	return STATE_OK;
}

size_t state_holder(const struct state *state, char *to, size_t cap)
{
	ssize_t len = pread(state->lock, to, cap, 0);

	return len > 0 ? (size_t)len : 0;
}

bool state_unlock(struct state *state)
{
	bool good = same(state->dir, "lock", state->lock);

	close(state->lock);
	state->lock = -1;
	return good;
}

bool state_claim(struct state *state, const char *nonce, const char *endpoint)
{
	char line[CLAIM_BYTES], self[CLAIM_BYTES / 2];

	strlcpy(state->claim_name, nonce, sizeof(state->claim_name));
	state->claim = openat(state->claims, nonce, NEW_FILE | O_APPEND, 0600);
	if (state->claim < 0 || !identity(state->claim, endpoint, self, sizeof(self)))
		return false;
	(void)snprintf(line, sizeof(line), "creating %lld%s", (long long)time(NULL), self);
	return flock(state->claim, LOCK_EX | LOCK_NB) == 0 && state_claim_say(state, line) &&
	       same(state->claims, nonce, state->claim);
}

bool state_claim_say(const struct state *state, const char *line)
{
	size_t len = strlen(line);

	return write(state->claim, line, len) == (ssize_t)len;
}

/* Reads a claim: is it one of ours on this engine, and is it time to act on it?
 * Its second line says that its container exists.  Before that its maker may be
 * between creating and locking it, or the engine still busy with the create:
 * then only its age tells.  One without a first line is of a maker that was
 * killed before it wrote any: it says nothing of an engine, and is told by its
 * age too, lest it bar the way to its run for ever. */
static bool mature(int fd, const char *endpoint, unsigned quiet_seconds, bool patient,
                   bool *created)
{
	char text[2 * CLAIM_BYTES], self[CLAIM_BYTES / 2];
	ssize_t len = pread(fd, text, sizeof(text) - 1, 0);
	const char *line;
	struct stat st;

	text[len > 0 ? len : 0] = '\0';
	if (len < 0 || !identity(fd, endpoint, self, sizeof(self)) || fstat(fd, &st) != 0)
		return false;
	line = text + strcspn(text, "\n");
	if (line != text && (line - text < (ptrdiff_t)strlen(self) - 1 ||
	                     strncmp(line - (strlen(self) - 1), self, strlen(self)) != 0))
		return false;
	*created = strstr(line, "\ncreated ") != NULL;
	if (patient && strstr(line, "\nstuck\n") != NULL)
		quiet_seconds = STATE_STUCK_SECONDS;
	else if (*created)
		return true;
	return time(NULL) - st.st_mtime > quiet_seconds;
}

/* Locks such a claim, if nobody holds it; or -1. */
static int adopt(const struct state *state, const char *name, const char *endpoint,
                 unsigned quiet_seconds, bool patient, bool *created)
{
	int fd = openat(state->claims, name, CLAIM_FLAGS);

	if (ours(fd) && mature(fd, endpoint, quiet_seconds, patient, created) &&
	    flock(fd, LOCK_EX | LOCK_NB) == 0 && same(state->claims, name, fd))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

static void reap_one(const struct state *state, int fd, const char *name, bool created,
                     bool (*gone)(void *context, const char *nonce, bool created), void *context)
{
	if (gone(context, name, created))
		(void)unlinkat(state->claims, name, 0);
	else
		(void)!write(fd, "\nstuck\n", sizeof("\nstuck\n") - 1);
}

bool state_adopt(struct state *state, const char *nonce, const char *endpoint,
                 unsigned quiet_seconds, bool *created)
{
	state->claim = adopt(state, nonce, endpoint, quiet_seconds, false, created);
	strlcpy(state->claim_name, nonce, sizeof(state->claim_name));
	return state->claim >= 0;
}

bool state_spoilt(const struct state *state, const char *nonce, unsigned quiet_seconds)
{
	int fd = openat(state->claims, nonce, READ_FLAGS);
	struct stat st;
	bool spoilt;

	if (fd < 0)
		return errno != ENOENT;
	spoilt = flock(fd, LOCK_SH | LOCK_NB) == 0 && fstat(fd, &st) == 0 &&
	         time(NULL) - st.st_mtime > quiet_seconds;
	close(fd);
	return spoilt;
}

bool state_holds(const struct state *state, const char *path)
{
	static const char *const own[] = {"id", "id.new", "lock", "claims", "docker"};
	const size_t len = strlen(state->path);
	const bool within = strncmp(path, state->path, len) == 0 && path[len] == '/';
	bool holds = false;

	for (size_t i = 0; within && i < sizeof(own) / sizeof(own[0]); i++)
		holds = holds || (strncmp(path + len + 1, own[i], strlen(own[i])) == 0 &&
		                  strchr("/", path[len + 1 + strlen(own[i])]) != NULL);
	return holds;
}

void state_reap(const struct state *state, unsigned most, unsigned quiet_seconds,
                const char *endpoint,
                bool (*gone)(void *context, const char *nonce, bool created), void *context)
{
	int copy = openat(state->claims, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *claims = copy < 0 ? NULL : fdopendir(copy);
	const struct dirent *entry;

	while (claims != NULL && most > 0 && (entry = readdir(claims)) != NULL) {
		const char *name = entry->d_name;
		bool named = strspn(name, HEX) == ID_HEX && name[ID_HEX] == '\0';
		bool created = false;
		int fd = named ? adopt(state, name, endpoint, quiet_seconds, true, &created) : -1;

		if (fd < 0)
			continue;
		reap_one(state, fd, name, created, gone, context);
		most--;
		close(fd);
	}
	if (claims != NULL)
		closedir(claims);
}

bool state_drop_claim(struct state *state)
{
	bool good = state->claim < 0 || (same(state->claims, state->claim_name, state->claim) &&
	                                 unlinkat(state->claims, state->claim_name, 0) == 0);

	if (state->claim >= 0)
		close(state->claim);
	state->claim = -1;
	return good;
}

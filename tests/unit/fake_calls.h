/* SPDX-License-Identifier: ISC */
#ifndef COFFERDAM_TESTS_UNIT_FAKE_CALLS_H
#define COFFERDAM_TESTS_UNIT_FAKE_CALLS_H

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "pass_on.h"

/*
 * Calls of the library that do as they are told; they stand before its own.  One
 * of them can be made to fail, to hand out descriptor 0, to see another file, or
 * to be preceded by what another process does.  Include this with
 * _FORTIFY_SOURCE undefined: it would define some of them itself.
 */

static struct fake_calls {
	bool counted; /* these are a test's own calls otherwise */
	unsigned made;
	unsigned fails; /* the one with this number fails, with EIO; 0: none */
	char failed[32]; /* which one it was, and of its kind the how manieth: "fsync 1" */
	const char *zero; /* the file that becomes descriptor 0 */
	void (*file)(struct stat *); /* what fstat says of a regular file is changed by this */
	void (*folder)(struct stat *); /* and of a directory */
	void (*name)(struct stat *); /* what fstatat says */
	void (*before_flock)(void);
	unsigned kind; /* of file system; 0: as it is */
	size_t random; /* bytes that there are; 0: as many as are asked for */
	time_t now; /* 0: as it is */
} fake;

static const char *fake_kinds[64];
static unsigned fake_made[64];

static bool fake_fails(const char *kind)
{
	unsigned i = 0;

	if (!fake.counted)
		return false;
	while (fake_kinds[i] != NULL && strcmp(fake_kinds[i], kind) != 0)
		i++;
	fake_kinds[i] = kind;
	fake_made[i]++;
	if (++fake.made != fake.fails)
		return false;
	snprintf(fake.failed, sizeof(fake.failed), "%s %u", kind, fake_made[i]);
	errno = EIO;
	return true;
}

/* From here on calls are counted. */
static void fake_begins(unsigned fails)
{
	memset(fake_kinds, 0, sizeof(fake_kinds));
	memset(fake_made, 0, sizeof(fake_made));
	fake.made = 0;
	fake.fails = fails;
	fake.failed[0] = '\0';
	fake.counted = true;
}

/* Calls the library's own. */
#define FAKE_REAL(name, ...) \
	({ \
		PASS_ON(name); \
		passed_on(__VA_ARGS__); \
	})

int openat(int dir, const char *name, int flags, ...)
{
	const bool zero = fake.counted && fake.zero != NULL && strcmp(name, fake.zero) == 0;
	va_list more;
	mode_t mode;
	int fd;

	va_start(more, flags);
	mode = (flags & O_CREAT) != 0 ? va_arg(more, mode_t) : 0;
	va_end(more);
	if (fake_fails("openat"))
		return -1;
	fd = FAKE_REAL(openat, dir, name, flags, mode);
	if (fake.counted && fake.zero != NULL && fd >= 0 && zero != (fd == 0)) {
		const int other = zero ? dup3(fd, 0, flags & O_CLOEXEC) :
		                         fcntl(fd, F_DUPFD_CLOEXEC, 3);

		if (other < 0 || FAKE_REAL(close, fd) != 0)
			_exit(99);
		fd = other;
	}
	if (fake.counted && fd >= 0)
		errno = ENOENT; /* as it may have been before: it is not this call's */
	return fd;
}

int mkdirat(int dir, const char *name, mode_t mode)
{
	return fake_fails("mkdirat") ? -1 : FAKE_REAL(mkdirat, dir, name, mode);
}

int fstat(int fd, struct stat *st)
{
	const int made = fake_fails("fstat") ? -1 : FAKE_REAL(fstat, fd, st);

	if (made == 0 && fake.counted && fake.file != NULL && S_ISREG(st->st_mode))
		fake.file(st);
	if (made == 0 && fake.counted && fake.folder != NULL && S_ISDIR(st->st_mode))
		fake.folder(st);
	return made;
}

int fstatat(int dir, const char *restrict name, struct stat *restrict st, int flags)
{
	const int made = fake_fails("fstatat") ? -1 : FAKE_REAL(fstatat, dir, name, st, flags);

	if (made == 0 && fake.counted && fake.name != NULL)
		fake.name(st);
	return made;
}

int statx(int dir, const char *restrict name, int flags, unsigned mask, struct statx *restrict st)
{
	return fake_fails("statx") ? -1 : FAKE_REAL(statx, dir, name, flags, mask, st);
}

int fstatfs(int fd, struct statfs *fs)
{
	const int made = fake_fails("fstatfs") ? -1 : FAKE_REAL(fstatfs, fd, fs);

	if (made == 0 && fake.kind != 0)
		fs->f_type = (__typeof__(fs->f_type))fake.kind;
	return made;
}

int flock(int fd, int how)
{
	void (*const before)(void) = fake.before_flock;

	if (fake.counted && before != NULL) {
		fake.before_flock = NULL;
		before();
	}
	return fake_fails("flock") ? -1 : FAKE_REAL(flock, fd, how);
}

int faccessat(int dir, const char *name, int how, int flags)
{
	return fake_fails("faccessat") ? -1 : FAKE_REAL(faccessat, dir, name, how, flags);
}

int renameat(int from, const char *old, int to, const char *new)
{
	return fake_fails("renameat") ? -1 : FAKE_REAL(renameat, from, old, to, new);
}

int unlinkat(int dir, const char *name, int flags)
{
	return fake_fails("unlinkat") ? -1 : FAKE_REAL(unlinkat, dir, name, flags);
}

/* Nobody looks after a crash, and a disk is slow. */
int fsync(int fd)
{
	(void)fd;
	return fake_fails("fsync") ? -1 : 0;
}

int ftruncate(int fd, off_t len)
{
	return fake_fails("ftruncate") ? -1 : FAKE_REAL(ftruncate, fd, len);
}

ssize_t read(int fd, void *to, size_t len)
{
	return fake_fails("read") ? -1 : FAKE_REAL(read, fd, to, len);
}

ssize_t pread(int fd, void *to, size_t len, off_t at)
{
	return fake_fails("pread") ? -1 : FAKE_REAL(pread, fd, to, len, at);
}

ssize_t write(int fd, const void *from, size_t len)
{
	return fake_fails("write") ? -1 : FAKE_REAL(write, fd, from, len);
}

ssize_t pwrite(int fd, const void *from, size_t len, off_t at)
{
	return fake_fails("pwrite") ? -1 : FAKE_REAL(pwrite, fd, from, len, at);
}

ssize_t readlink(const char *restrict name, char *restrict to, size_t len)
{
	return fake_fails("readlink") ? -1 : FAKE_REAL(readlink, name, to, len);
}

/* One that fails has closed all the same: close(2). */
int close(int fd)
{
	const bool fails = fake_fails("close");
	const int made = FAKE_REAL(close, fd);

	if (fails)
		errno = EIO;
	return fails ? -1 : made;
}

ssize_t getrandom(void *to, size_t len, unsigned flags)
{
	if (flags != 0 || fake_fails("getrandom"))
		return -1;
	if (fake.random != 0 && fake.random < len)
		len = fake.random;
	return FAKE_REAL(getrandom, to, len, 0);
}

time_t time(time_t *to)
{
	return fake.counted && fake.now != 0 ? fake.now : FAKE_REAL(time, to);
}

#endif

/* SPDX-License-Identifier: ISC */

/*
 * A document that the executor hands on (the plan, the turn) is the bytes that it
 * was made of, and nobody can change it any more: child_document() of the real
 * child.c, over a memfd that does what memfd_create(2), ftruncate(2), write(2) and
 * fcntl(2) F_ADD_SEALS say, or fails.
 */
#include <bsd/unistd.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "nondet.h"

#define MEMFD 7

static int some_memfd(unsigned flags);
static int some_ftruncate(int fd, off_t size);
static int some_fcntl(int fd, int command, int argument);
static ssize_t some_write(int fd, const char *bytes, size_t len);
static off_t some_lseek(int fd);
static int some_close(int fd);

#define memfd_create(name, flags) some_memfd(flags)
#define ftruncate(fd, size) some_ftruncate(fd, size)
#define fcntl(fd, command, argument) some_fcntl(fd, command, argument)
#define write(fd, bytes, len) some_write(fd, (const char *)(bytes), len)
#define lseek(fd, at, whence) some_lseek(fd)
#define close(fd) some_close(fd)
#include "../executor/child.c"
#undef memfd_create
#undef ftruncate
#undef fcntl
#undef write
#undef lseek
#undef close

static struct {
	bool open;
	int seals;
	size_t size, at;
	char bytes[FORMAL_N];
} memfd;

static int some_memfd(unsigned flags)
{
	PROVE((flags & MFD_ALLOW_SEALING) != 0 && (flags & MFD_CLOEXEC) != 0,
	      "it can be sealed, and no child gets it by accident");
	memfd.open = any_bool();
	return memfd.open ? MEMFD : -1;
}

static int some_ftruncate(int fd, off_t size)
{
	const int forbids = (size_t)size > memfd.size ? F_SEAL_GROW : F_SEAL_SHRINK;

	PROVE(fd == MEMFD && memfd.open, "the memfd");
	if (any_bool() || ((size_t)size != memfd.size && (memfd.seals & forbids) != 0))
		return -1;
	memfd.size = (size_t)size;
	return 0;
}

static int some_fcntl(int fd, int command, int argument)
{
	PROVE(fd == MEMFD && memfd.open && command == F_ADD_SEALS, "the memfd is sealed");
	if (any_bool() || (memfd.seals & F_SEAL_SEAL) != 0)
		return -1;
	memfd.seals |= argument;
	return 0;
}

static ssize_t some_write(int fd, const char *bytes, size_t len)
{
	size_t n = any_up_to(FORMAL_N);

	PROVE(fd == MEMFD && memfd.open, "the memfd");
	if ((memfd.seals & F_SEAL_WRITE) != 0 || any_bool())
		return -1;
	n = n < len ? n : len;
	if (memfd.at + n > memfd.size && (memfd.seals & F_SEAL_GROW) != 0)
		return -1;
	for (size_t i = 0; i < FORMAL_N; i++)
		if (i < n)
			memfd.bytes[memfd.at + i] = bytes[i];
	memfd.at += n;
	memfd.size = memfd.at > memfd.size ? memfd.at : memfd.size;
	return (ssize_t)n;
}

static off_t some_lseek(int fd)
{
	PROVE(fd == MEMFD && memfd.open, "the memfd");
	return (off_t)memfd.at;
}

static int some_close(int fd)
{
	PROVE(fd == MEMFD && memfd.open, "the memfd, once");
	memfd.open = false;
	return 0;
}

PROOF(document_sealed)
{
	const int all = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
	char text[FORMAL_N];
	size_t len = any_text(text, FORMAL_N);
	bool same = true;
	int fd;

	memset(&memfd, 0, sizeof(memfd));
	fd = child_document(text, len);
	PROVE(memfd.open == (fd >= 0), "open only if it is handed out");
	if (fd < 0)
		return;
	PROVE(memfd.size == len, "as long as it was");
	for (size_t i = 0; i < FORMAL_N; i++)
		same = same && (i >= len || memfd.bytes[i] == text[i]);
	PROVE(same, "the same bytes");
	PROVE((memfd.seals & all) == all, "for good: it cannot be written, grown, shrunk or unsealed");
}

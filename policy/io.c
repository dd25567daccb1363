/* SPDX-License-Identifier: ISC */
#include "io.h"

#include <errno.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

/* read(2) and pread(2) behind one shape; offset is ignored by the first. */
typedef ssize_t reader(int fd, char *to, size_t len, size_t offset);

static ssize_t read_stream(int fd, char *to, size_t len, size_t offset)
{
	(void)offset;
	return read(fd, to, len);
}

static ssize_t read_at(int fd, char *to, size_t len, size_t offset)
{
	return pread(fd, to, len, (off_t)offset);
}

static enum io_result read_whole(reader *from, int fd, char *to, size_t max, size_t *len)
{
	size_t got = 0;

	while (got <= max) {
		ssize_t n = from(fd, to + got, max + 1 - got, got);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return IO_FAILED;
		if (n == 0) {
			*len = got;
			return IO_OK;
		}
		got += (size_t)n;
	}
	return IO_TOO_LARGE;
}

enum io_result io_read_all(int fd, char *to, size_t max, size_t *len)
{
	return read_whole(read_stream, fd, to, max, len);
}

enum io_result io_pread_all(int fd, char *to, size_t max, size_t *len)
{
	return read_whole(read_at, fd, to, max, len);
}

bool io_write_all(int fd, const char *bytes, size_t len)
{
	size_t done = 0;

	while (done < len) {
		ssize_t n = write(fd, bytes + done, len - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		done += (size_t)n;
	}
	return true;
}

bool io_write_once(int fd, const char *bytes, size_t len)
{
	ssize_t n;

	do {
		n = write(fd, bytes, len);
	} while (n < 0 && errno == EINTR);
	return n >= 0 && (size_t)n == len;
}

void io_lines_init(struct io_lines *lines, int fd, char *buffer, size_t cap)
{
	memset(lines, 0, sizeof(*lines));
	lines->fd = fd;
	lines->at = buffer;
	lines->cap = cap;
}

/* Reads more behind the unread bytes, which move to the front first.  At end
 * of file *ended* is set.  The buffer must have room. */
static bool refill(struct io_lines *lines)
{
	ssize_t n;

	if (lines->start > 0) {
		memmove(lines->at, lines->at + lines->start, lines->end - lines->start);
		lines->end -= lines->start;
		lines->start = 0;
	}
	do {
		n = read(lines->fd, lines->at + lines->end, lines->cap - lines->end);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return false;
	lines->ended = n == 0;
	lines->end += (size_t)n;
	return true;
}

/* Drops everything up to and with the next newline. */
static enum io_result skip_line(struct io_lines *lines)
{
	const char *newline = NULL;

	while (newline == NULL && !lines->ended) {
		lines->end = 0; /* start is 0: the line fills the buffer */
		if (!refill(lines))
			return IO_FAILED;
		newline = memchr(lines->at, '\n', lines->end);
	}
	if (newline != NULL)
		lines->start = (size_t)(newline - lines->at) + 1;
	else
		lines->start = lines->end;
	return IO_TOO_LARGE;
}

enum io_result io_next_line(struct io_lines *lines, const char **line, size_t *len)
{
	size_t seen = 0; /* unread bytes known to hold no newline */

	for (;;) {
		const char *from = lines->at + lines->start;
		size_t unread = lines->end - lines->start;
		const char *newline = memchr(from + seen, '\n', unread - seen);

		if (newline != NULL || (lines->ended && unread > 0)) {
			*line = from;
			*len = newline != NULL ? (size_t)(newline - from) : unread;
			lines->start += *len + (newline != NULL ? 1 : 0);
			return IO_OK;
		}
		if (lines->ended)
			return IO_END;
		if (unread == lines->cap)
			return skip_line(lines);
		seen = unread;
		if (!refill(lines))
			return IO_FAILED;
	}
}

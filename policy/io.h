/* SPDX-License-Identifier: ISC */
#ifndef COFFERDAM_POLICY_IO_H
#define COFFERDAM_POLICY_IO_H

#include <stdbool.h>
#include <stddef.h>

/* Whole reads and writes over descriptors, EINTR and short counts handled. */

enum io_result { IO_OK = 0, IO_TOO_LARGE, IO_FAILED, IO_END };

/* Reads to end of file.  IO_TOO_LARGE as soon as more than max bytes came
 * (to must hold max + 1). */
__attribute__((warn_unused_result)) enum io_result io_read_all(int fd, char *to, size_t max,
                                                               size_t *len);
/* The same from offset 0 of a seekable descriptor, its offset untouched. */
__attribute__((warn_unused_result)) enum io_result io_pread_all(int fd, char *to, size_t max,
                                                                size_t *len);
__attribute__((warn_unused_result)) bool io_write_all(int fd, const char *bytes, size_t len);

/* One write(2) of all the bytes, for a line that others' lines must not cut:
 * a short count is a failure. */
__attribute__((warn_unused_result)) bool io_write_once(int fd, const char *bytes, size_t len);

/* The lines of a stream, one at a time, whatever their number. */
struct io_lines {
	int fd;
	char *at; /* caller's buffer */
	size_t cap; /* a line is at most cap - 1 bytes */
	size_t start; /* unread bytes: at[start] to at[end - 1] */
	size_t end;
	bool ended; /* end of file was seen */
};

void io_lines_init(struct io_lines *lines, int fd, char *buffer, size_t cap);
/*
 * IO_OK: *line and *len, without the newline, valid until the next call (the
 * last line may lack its newline).  IO_TOO_LARGE: a line was longer and has
 * been skipped whole.  IO_END: no more.  IO_FAILED: errno.
 */
__attribute__((warn_unused_result)) enum io_result io_next_line(struct io_lines *lines,
                                                                const char **line, size_t *len);

#endif

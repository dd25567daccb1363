/* SPDX-License-Identifier: ISC */
#ifndef COFFERDAM_POLICY_IO_H
#define COFFERDAM_POLICY_IO_H

#include <stdbool.h>
#include <stddef.h>

/* Whole reads and writes over descriptors, EINTR and short counts handled. */

enum io_result { IO_OK = 0, IO_TOO_LARGE, IO_FAILED };

/* Reads to end of file.  IO_TOO_LARGE as soon as more than max bytes came
 * (to must hold max + 1). */
__attribute__((warn_unused_result)) enum io_result io_read_all(int fd, char *to, size_t max,
                                                               size_t *len);
/* The same from offset 0 of a seekable descriptor, its offset untouched. */
__attribute__((warn_unused_result)) enum io_result io_pread_all(int fd, char *to, size_t max,
                                                                size_t *len);
__attribute__((warn_unused_result)) bool io_write_all(int fd, const char *bytes, size_t len);

#endif

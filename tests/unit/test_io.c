/* SPDX-License-Identifier: ISC */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "../../policy/io.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* --- the system calls, which pass through here --- */

/* What they answer, one a call; the last goes on. */
struct step {
	ssize_t most; /* bytes, when it succeeds */
	int error; /* else 0 */
};

#define REAL SSIZE_MAX

static const struct step REALLY = {REAL, 0};
static const struct step *step = &REALLY;
static size_t room; /* for what is read or written in all */
static char written[64]; /* by steps */
static size_t written_len;

/* Whether the call fails; errno is left as it may be after a success. */
static bool fails(ssize_t *most)
{
	const struct step *now = step;

	if (now->most != REAL)
		step++;
	*most = now->most;
	errno = now->error != 0 ? now->error : EINTR;
	return now->error != 0;
}

ssize_t read(int fd, void *to, size_t len)
{
	ssize_t most;

	if (step->most == REAL)
		return syscall(SYS_read, fd, to, len);
	assert_in_range(len, 1, room);
	if (fails(&most))
		return -1;
	memset(to, 'r', (size_t)most);
	room -= (size_t)most;
	return most;
}

ssize_t pread(int fd, void *to, size_t len, off_t offset)
{
	ssize_t most;

	if (step->most == REAL)
		return syscall(SYS_pread64, fd, to, len, offset);
	assert_in_range(len, 1, room);
	if (fails(&most))
		return -1;
	memset(to, 'p', (size_t)most);
	room -= (size_t)most;
	return most;
}

ssize_t write(int fd, const void *bytes, size_t len)
{
	ssize_t most;

	if (step->most == REAL)
		return syscall(SYS_write, fd, bytes, len);
	assert_true(len <= room);
	if (fails(&most))
		return -1;
	room -= (size_t)most;
	assert_true((size_t)most <= len && written_len + (size_t)most <= sizeof(written));
	memcpy(written + written_len, bytes, (size_t)most);
	written_len += (size_t)most;
	return most;
}

static int file_of(const char *bytes, size_t len)
{
	int fd = memfd_create("test_io", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_true(io_write_all(fd, bytes, len));
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

/* max - 1, max and max + 1 bytes. */
static void test_bounds(void **state)
{
	static const struct {
		size_t len;
		enum io_result expected;
	} cases[] = {{0, IO_OK}, {7, IO_OK}, {8, IO_OK}, {9, IO_TOO_LARGE}, {100, IO_TOO_LARGE}};
	static const char bytes[100] = "0123456789";

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		int fd = file_of(bytes, cases[i].len);
		char to[9];
		size_t len = 99;

		assert_int_equal(io_pread_all(fd, to, 8, &len), cases[i].expected);
		assert_int_equal(len, cases[i].expected == IO_OK ? cases[i].len : 99);
		assert_int_equal(lseek(fd, 0, SEEK_CUR), 0);
		len = 99;
		assert_int_equal(io_read_all(fd, to, 8, &len), cases[i].expected);
		assert_int_equal(len, cases[i].expected == IO_OK ? cases[i].len : 99);
		if (cases[i].expected == IO_OK)
			assert_memory_equal(to, bytes, len);
		assert_int_equal(close(fd), 0);
	}
}

static void test_failures(void **state)
{
	char to[4];
	size_t len = 99;
	int ends[2];
	int full = open("/dev/full", O_WRONLY | O_CLOEXEC);

	(void)state;
	assert_int_equal(io_read_all(-1, to, 3, &len), IO_FAILED);
	assert_int_equal(errno, EBADF);
	assert_int_equal(io_pread_all(-1, to, 3, &len), IO_FAILED);
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(io_pread_all(ends[0], to, 3, &len), IO_FAILED); /* cannot seek */
	assert_int_equal(errno, ESPIPE);
	assert_int_equal(len, 99);
	assert_false(io_write_all(-1, "x", 1));
	assert_false(io_write_once(-1, "x", 1));
	assert_true(io_write_all(-1, "x", 0));
	assert_true(full >= 0);
	assert_false(io_write_all(full, "x", 1));
	assert_false(io_write_once(full, "x", 1));
	assert_int_equal(close(full), 0);
	assert_int_equal(close(ends[0]), 0);
	assert_int_equal(close(ends[1]), 0);
}

/* A pipe that takes less than all: io_write_all waits, io_write_once says so. */
static void test_short_write(void **state)
{
	static char bytes[200000];
	int ends[2];

	(void)state;
	assert_int_equal(pipe2(ends, O_NONBLOCK | O_CLOEXEC), 0);
	assert_false(io_write_once(ends[1], bytes, sizeof(bytes)));
	assert_int_equal(close(ends[0]), 0);
	assert_int_equal(close(ends[1]), 0);
}

static void test_pipe(void **state)
{
	static char sent[300000];
	static char got[sizeof(sent) + 1];
	int ends[2];
	int status;
	size_t len;
	pid_t child;

	(void)state;
	for (size_t i = 0; i < sizeof(sent); i++)
		sent[i] = (char)(i * 31 / 7);
	assert_int_equal(pipe(ends), 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0)
		_exit(io_write_all(ends[1], sent, sizeof(sent)) ? 0 : 1);
	assert_int_equal(close(ends[1]), 0);
	assert_int_equal(io_read_all(ends[0], got, sizeof(sent), &len), IO_OK);
	assert_int_equal(len, sizeof(sent));
	assert_memory_equal(got, sent, sizeof(sent));
	assert_int_equal(close(ends[0]), 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

/* Interrupted calls are made again, short ones go on where they ended; errno
 * says nothing of a call that succeeded. */
static void test_interrupted_reads(void **state)
{
	static const struct step steps[] = {{0, EINTR}, {3, 0}, {0, EINTR}, {0, EINTR}, {2, 0},
	                                    {0, 0},     {REAL, 0}};
	static const struct step failing[] = {{0, EINTR}, {3, 0}, {0, EIO}, {REAL, 0}};
	enum io_result (*const from[])(int, char *, size_t, size_t *) = {io_read_all,
	                                                                io_pread_all};

	(void)state;
	for (size_t i = 0; i < COUNT(from); i++) {
		char to[9] = "";
		size_t len = 99;

		step = steps;
		room = sizeof(to);
		assert_int_equal(from[i](-1, to, sizeof(to) - 1, &len), IO_OK);
		assert_ptr_equal(step, &steps[COUNT(steps) - 1]);
		assert_int_equal(len, 5);
		assert_string_equal(to, i == 0 ? "rrrrr" : "ppppp");
		step = failing;
		room = sizeof(to);
		assert_int_equal(from[i](-1, to, sizeof(to) - 1, &len), IO_FAILED);
		assert_int_equal(errno, EIO);
		step = &REALLY;
	}
}

static void test_interrupted_writes(void **state)
{
	static const struct step steps[] = {{0, EINTR}, {3, 0}, {0, EINTR}, {2, 0},
	                                    {1, 0},     {REAL, 0}};
	static const struct step once[] = {{0, EINTR}, {0, EINTR}, {6, 0}, {REAL, 0}};
	static const struct step part[] = {{0, EINTR}, {5, 0}, {REAL, 0}};
	static const struct step none[] = {{0, 0}, {6, 0}, {REAL, 0}};
	static const struct step failing[] = {{0, EIO}, {REAL, 0}};

	(void)state;
	step = steps;
	written_len = 0;
	room = 6;
	assert_true(io_write_all(-1, "abcdef", 6));
	assert_ptr_equal(step, &steps[COUNT(steps) - 1]);
	assert_int_equal(written_len, 6);
	assert_memory_equal(written, "abcdef", 6);
	step = none;
	room = 6;
	assert_false(io_write_all(-1, "abcdef", 6));

	step = once;
	written_len = 0;
	room = 6;
	assert_true(io_write_once(-1, "ghijkl", 6));
	assert_ptr_equal(step, &once[COUNT(once) - 1]);
	assert_memory_equal(written, "ghijkl", 6);
	step = part;
	room = 6;
	assert_false(io_write_once(-1, "ghijkl", 6));
	step = none;
	assert_true(io_write_once(-1, "", 0));
	/* No length is a failure's. */
	step = failing;
	room = SIZE_MAX;
	assert_false(io_write_once(-1, "", SIZE_MAX));
	step = &REALLY;
}

static void test_interrupted_lines(void **state)
{
	static const struct step steps[] = {{0, EINTR}, {3, 0}, {0, EINTR}, {0, 0}, {REAL, 0}};
	char buffer[8];
	struct io_lines lines;
	const char *line;
	size_t len;

	(void)state;
	step = steps;
	room = sizeof(buffer);
	memset(&lines, 0xa5, sizeof(lines));
	io_lines_init(&lines, -1, buffer, sizeof(buffer));
	assert_int_equal(io_next_line(&lines, &line, &len), IO_OK);
	assert_ptr_equal(step, &steps[COUNT(steps) - 1]);
	assert_int_equal(len, 3);
	assert_memory_equal(line, "rrr", 3);
	assert_int_equal(io_next_line(&lines, &line, &len), IO_END);
	step = &REALLY;
}

/* --- lines: a buffer of 8 takes lines of at most 8 with their newline --- */

struct lines_case {
	const char *input;
	const char *expected; /* the lines in <>, "!" for one too long */
};

static const struct lines_case LINES[] = {
	{"", ""},
	{"\n", "<>"},
	{"a", "<a>"},
	{"a\n", "<a>"},
	{"a\nb", "<a><b>"},
	{"a\n\nb\n", "<a><><b>"},
	{"1234567\n", "<1234567>"},
	{"1234567", "<1234567>"},
	{"12345678\n", "!"},
	{"12345678", "!"},
	{"123456789\n", "!"},
	{"1234567890123456789\nab\n", "!<ab>"},
	{"x\n12345678\ny\n", "<x>!<y>"},
	{"12345678\n12345678\n", "!!"},
	{"1234567\n1234567\n1234567\n", "<1234567><1234567><1234567>"},
	{"12345\n123456\n1\n1234\n", "<12345><123456><1><1234>"},
};

static void assert_lines_in(size_t cap, int fd, const char *expected)
{
	char buffer[8];
	char found[128] = "";
	struct io_lines lines;
	enum io_result result;
	const char *line;
	size_t len;

	io_lines_init(&lines, fd, buffer, cap);
	for (result = io_next_line(&lines, &line, &len); result != IO_END;
	     result = io_next_line(&lines, &line, &len)) {
		assert_true(result == IO_OK || result == IO_TOO_LARGE);
		if (result == IO_TOO_LARGE) {
			strcat(found, "!");
			continue;
		}
		strcat(found, "<");
		strncat(found, line, len);
		strcat(found, ">");
	}
	assert_string_equal(found, expected);
	/* The end stays the end. */
	assert_int_equal(io_next_line(&lines, &line, &len), IO_END);
}

static void assert_lines(int fd, const char *expected)
{
	assert_lines_in(8, fd, expected);
}

/* The least buffer takes empty lines only. */
static void test_least_buffer(void **state)
{
	int fd = file_of("\nab\n\n\na", 8);

	(void)state;
	assert_lines_in(1, fd, "<>!<><>!");
	assert_int_equal(close(fd), 0);
}

static void test_lines(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(LINES); i++) {
		int fd = file_of(LINES[i].input, strlen(LINES[i].input));

		assert_lines(fd, LINES[i].expected);
		assert_int_equal(close(fd), 0);
	}
}

/* The same bytes, one a read. */
static void test_slow_lines(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(LINES); i++) {
		int ends[2];
		int status;
		pid_t child;

		/* O_DIRECT: packets, one a read (pipe(2)). */
		assert_int_equal(pipe2(ends, O_DIRECT | O_CLOEXEC), 0);
		child = fork();
		assert_true(child >= 0);
		if (child == 0) {
			for (size_t k = 0; LINES[i].input[k] != '\0'; k++)
				if (write(ends[1], LINES[i].input + k, 1) != 1)
					_exit(1);
			_exit(0);
		}
		assert_int_equal(close(ends[1]), 0);
		assert_lines(ends[0], LINES[i].expected);
		assert_int_equal(close(ends[0]), 0);
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_int_equal(status, 0);
	}
}

static void test_lines_failed(void **state)
{
	char buffer[8];
	struct io_lines lines;
	const char *line;
	size_t len;

	(void)state;
	io_lines_init(&lines, -1, buffer, sizeof(buffer));
	assert_int_equal(io_next_line(&lines, &line, &len), IO_FAILED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bounds),      cmocka_unit_test(test_failures),
		cmocka_unit_test(test_short_write), cmocka_unit_test(test_pipe),
		cmocka_unit_test(test_lines),       cmocka_unit_test(test_slow_lines),
		cmocka_unit_test(test_lines_failed), cmocka_unit_test(test_least_buffer),
		cmocka_unit_test(test_interrupted_reads),
		cmocka_unit_test(test_interrupted_writes),
		cmocka_unit_test(test_interrupted_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

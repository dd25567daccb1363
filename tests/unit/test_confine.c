/* SPDX-License-Identifier: ISC */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "../../policy/confine.h"

/*
 * What each filter lets through, tried from inside: every system call number up
 * to well beyond the highest that the kernel knows, each in a child of its own.
 */

#define NUMBERS 1024
#define X32_BIT 0x40000000L
#define ALLOWED 0 /* the call came back, or was exit_group */
#define TRAPPED 70
#define KILLED 128

/* Newer kernels let these two past every filter: they only work when a probe's
 * trampoline makes them, and fail or kill the caller otherwise. */
#ifdef __x86_64__
#define SYS_URETPROBE 335
#define SYS_UPROBE 336
#else
#define SYS_URETPROBE -1
#define SYS_UPROBE -1
#endif

static const long pure[] = {SYS_read, SYS_pread64, SYS_write, SYS_clock_gettime, SYS_exit_group};
/* openat, sendmsg and recvmsg are allowed by their arguments only: below. */
static const long paths[] = {SYS_close, SYS_statx, SYS_readlinkat};

#ifdef SANITIZED
/* As in policy/filter.c: what the sanitizers' run time needs on top. */
static const long sanitizer[] = {SYS_mmap,         SYS_munmap,        SYS_mprotect, SYS_madvise,
                                 SYS_futex,        SYS_getpid,        SYS_gettid,   SYS_sigaltstack,
                                 SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_sched_yield};
#else
static const long sanitizer[] = {SYS_read}; /* none */
#endif

static int try_call(enum confine_filter filter, long number, long a, long b, long c)
{
	int status = 0;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		int null = open("/dev/null", O_RDWR);

		(void)signal(SIGILL, SIG_DFL); /* cmocka catches it */
		if (dup2(null, 2) < 0 || confine(filter) == CONFINE_FAILED)
			_exit(99);
		(void)syscall(number, number == SYS_exit_group ? 0 : a, b, c, 0L, 0L, 0L);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFSIGNALED(status) ? KILLED + WTERMSIG(status) : WEXITSTATUS(status);
}

static int listed(const long *list, size_t count, long number)
{
	for (size_t i = 0; i < count; i++)
		if (list[i] == number)
			return 1;
	return 0;
}

static void try_all(enum confine_filter filter)
{
	unsigned allowed = 0;

	for (long number = 0; number < NUMBERS; number++) {
		int want = listed(pure, sizeof(pure) / sizeof(pure[0]), number);

		want |= listed(sanitizer, sizeof(sanitizer) / sizeof(sanitizer[0]), number);
		if (filter == CONFINE_PATHS)
			want |= listed(paths, sizeof(paths) / sizeof(paths[0]), number);
		/* -1: no descriptor, no pointer, so nothing happens. */
		int got = try_call(filter, number, -1, -1, 0);

		if (number == SYS_URETPROBE || number == SYS_UPROBE) {
			assert_true(got == TRAPPED || got == ALLOWED || got == KILLED + SIGILL);
			continue;
		}
		if (got != (want ? ALLOWED : TRAPPED))
			fail_msg("system call %ld: listed %d, status %d", number, want, got);
		allowed += (unsigned)want;
	}
	print_message("%d system calls tried, %u allowed\n", NUMBERS, allowed);
}

static void pure_allows_exactly_its_list(void **state)
{
	(void)state;
	try_all(CONFINE_PURE);
}

static void paths_allows_exactly_its_list(void **state)
{
	(void)state;
	try_all(CONFINE_PATHS);
}

static long pointer(const void *p)
{
	return (long)(intptr_t)p;
}

static void openat_only_with_o_path(void **state)
{
	static const struct {
		int flags;
		int want;
	} row[] = {
		{O_PATH | O_CLOEXEC, ALLOWED},
		{O_PATH | O_CLOEXEC | O_NOFOLLOW, ALLOWED},
		{O_PATH | O_CLOEXEC | O_DIRECTORY, ALLOWED},
		{O_PATH, TRAPPED},
		{O_RDONLY, TRAPPED},
		{O_RDONLY | O_CLOEXEC, TRAPPED},
		{O_WRONLY | O_CLOEXEC, TRAPPED},
		{O_PATH | O_CLOEXEC | O_RDWR, TRAPPED},
		{O_PATH | O_CLOEXEC | O_CREAT, TRAPPED},
		{O_PATH | O_CLOEXEC | O_TRUNC, TRAPPED},
		{O_TMPFILE | O_RDWR | O_CLOEXEC, TRAPPED},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		assert_int_equal(try_call(CONFINE_PATHS, SYS_openat, AT_FDCWD, pointer("/"),
		                          row[i].flags),
		                 row[i].want);
		assert_int_equal(
			try_call(CONFINE_PURE, SYS_openat, AT_FDCWD, pointer("/"), row[i].flags),
			TRAPPED);
	}
}

static void messages_only_on_the_socket(void **state)
{
	struct msghdr message;

	(void)state;
	memset(&message, 0, sizeof(message));
	for (int fd = 0; fd < 10; fd++) {
		int want = fd == 3 ? ALLOWED : TRAPPED;

		assert_int_equal(try_call(CONFINE_PATHS, SYS_sendmsg, fd, pointer(&message), 0),
		                 want);
		assert_int_equal(try_call(CONFINE_PATHS, SYS_recvmsg, fd, pointer(&message),
		                          MSG_DONTWAIT),
		                 want);
		assert_int_equal(try_call(CONFINE_PURE, SYS_sendmsg, fd, pointer(&message), 0),
		                 TRAPPED);
	}
}

static void other_architectures_are_killed(void **state)
{
	(void)state;
#ifdef __x86_64__
	for (long number = 0; number < 600; number++)
		assert_int_equal(try_call(CONFINE_PATHS, X32_BIT | number, -1, -1, 0),
		                 KILLED + SIGSYS);
#endif
}

#ifdef __x86_64__
/* The 32-bit entry: getpid is 20 there, and 20 here is writev. */
static void the_32_bit_entry_is_killed(void **state)
{
	int status = 0;
	pid_t pid = fork();

	(void)state;
	assert_true(pid >= 0);
	if (pid == 0) {
		long result = 20;

		if (confine(CONFINE_PATHS) == CONFINE_FAILED)
			_exit(99);
		__asm__ volatile("int $0x80" : "+a"(result) : : "memory");
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
}
#endif

static void the_handler_names_the_number(void **state)
{
	char line[256];
	ssize_t len;
	int fds[2];
	int status = 0;
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(fds), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		if (dup2(fds[1], 2) < 0 || confine(CONFINE_PURE) == CONFINE_FAILED)
			_exit(99);
		(void)syscall(SYS_getppid);
		_exit(0);
	}
	close(fds[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	len = read(fds[0], line, sizeof(line) - 1);
	close(fds[0]);
	assert_true(len > 0);
	line[len] = '\0';
	assert_string_equal(line, "cofferdam-policy: SANDBOX_PROTOCOL confine.syscall: system call "
	                          "110 is not in the allow-list\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pure_allows_exactly_its_list),
		cmocka_unit_test(paths_allows_exactly_its_list),
		cmocka_unit_test(openat_only_with_o_path),
		cmocka_unit_test(messages_only_on_the_socket),
		cmocka_unit_test(other_architectures_are_killed),
#ifdef __x86_64__
		cmocka_unit_test(the_32_bit_entry_is_killed),
#endif
		cmocka_unit_test(the_handler_names_the_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

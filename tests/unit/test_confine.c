/* SPDX-License-Identifier: ISC */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "../../policy/confine.h"
#include "pass_on.h"
#include "usual.h"

/*
 * What is asked of the kernel, and what each filter then lets through, tried from
 * inside: every system call number up to well beyond the highest that the kernel
 * knows, each in a child of its own.
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

/* --- what it asks of the kernel, in which order ---
 *
 * These stand before libc's own in this program.  While faking, each call is
 * written down and answered here; else it is passed on.
 */

static bool faking;
static char calls[1024]; /* a line each */
static unsigned call_count;
static unsigned failing; /* the call that fails, from 1; 0: none */
static int failing_errno;
static long abi; /* Landlock's version */
static int ruleset;

static long fake(long answer, const char *format, ...) __attribute__((format(printf, 2, 3)));

static long fake(long answer, const char *format, ...)
{
	size_t len = strlen(calls);
	va_list list;

	va_start(list, format);
	(void)vsnprintf(calls + len, sizeof(calls) - len, format, list);
	va_end(list);
	call_count++;
	if (call_count != failing)
		return answer;
	errno = failing_errno;
	return -1;
}

static long landlock(long number, const long *a)
{
	/* struct landlock_ruleset_attr, as much of it as the size says. */
	uint64_t attr[3] = {0, 0, 0};

	if (number == 446)
		return fake(0, "restrict %d %ld\n", a[0] == ruleset, a[1]);
	assert_int_equal(number, 444);
	if (a[0] == 0)
		return fake(abi, "version %ld %ld\n", a[1], a[2]);
	assert_in_range(a[1], 0, sizeof(attr));
	memcpy(attr, (const void *)(intptr_t)a[0], (size_t)a[1]);
	return fake(ruleset, "create %ld %llx %llx %llx %ld\n", a[1],
	            (unsigned long long)attr[0], (unsigned long long)attr[1],
	            (unsigned long long)attr[2], a[2]);
}

/* Takes six arguments as syscall(2) does, however many were given: the last one then is
 * whatever the stack holds. */
__attribute__((no_sanitize("address"))) long syscall(long number, ...)
{
	PASS_ON(syscall);
	long a[6];
	va_list list;

	va_start(list, number);
	for (size_t i = 0; i < 6; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	return faking ? landlock(number, a)
	              : passed_on(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

int prctl(int option, ...)
{
	PASS_ON(prctl);
	unsigned long a[4];
	va_list list;

	va_start(list, option);
	for (size_t i = 0; i < 4; i++)
		a[i] = va_arg(list, unsigned long);
	va_end(list);
	if (!faking)
		return passed_on(option, a[0], a[1], a[2], a[3]);
	if (option == PR_SET_SECCOMP)
		return (int)fake(0, "seccomp %u %d %u %u\n", (unsigned)a[0],
		                 ((const struct sock_fprog *)a[1])->len > 1, (unsigned)a[2],
		                 (unsigned)a[3]);
	return (int)fake(0, "prctl %d %u %u %u %u\n", option, (unsigned)a[0], (unsigned)a[1],
	                 (unsigned)a[2], (unsigned)a[3]);
}

int setrlimit(__rlimit_resource_t resource, const struct rlimit *limit)
{
	PASS_ON(setrlimit);

	if (!faking)
		return passed_on(resource, limit);
	return (int)fake(0, "limit %d %lu %lu\n", (int)resource, (unsigned long)limit->rlim_cur,
	                 (unsigned long)limit->rlim_max);
}

int sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
	PASS_ON(sigaction);
	bool masks = false;

	if (!faking)
		return passed_on(number, action, old);
	for (int i = 1; i < NSIG; i++)
		masks = masks || sigismember(&action->sa_mask, i) == 1;
	return (int)fake(0, "signal %d %s %d %d\n", number,
	                 action->sa_handler == SIG_IGN ? "ignored" : "caught", action->sa_flags,
	                 masks);
}

static enum confine_result faked(enum confine_filter filter)
{
	enum confine_result result;

	calls[0] = '\0';
	call_count = 0;
	errno = 0;
	faking = true;
	result = confine(filter);
	faking = false;
	return result;
}

/* prctl(2) numbers, resources and signals as on x86-64 and arm64. */
#define BEFORE \
	"prctl 38 1 0 0 0\n" \
	"prctl 4 0 0 0 0\n" \
	"limit 4 0 0\n" \
	"limit 6 0 0\n" \
	"limit 7 64 64\n" \
	"signal 31 caught 4 0\n" \
	"signal 13 ignored 0 0\n" \
	"version 0 1\n"
#define AFTER "seccomp 2 1 0 0\n"
#define CALLS 11

/* The rights of every version of Landlock, and of one to come. */
static void every_right_is_handled(void **state)
{
	static const struct {
		long abi;
		const char *create;
	} ABIS[] = {
		{1, "create 8 1fff 0 0 0\n"},    {2, "create 8 3fff 0 0 0\n"},
		{3, "create 8 7fff 0 0 0\n"},    {4, "create 16 7fff 3 0 0\n"},
		{5, "create 16 ffff 3 0 0\n"},   {6, "create 24 ffff 3 3 0\n"},
		{7, "create 24 ffff 3 3 0\n"},   {1000, "create 24 ffff 3 3 0\n"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(ABIS) / sizeof(ABIS[0]); i++) {
		for (int filter = 0; filter <= 1; filter++) {
			char expected[1024];

			abi = ABIS[i].abi;
			ruleset = open("/dev/null", O_RDONLY | O_CLOEXEC);
			assert_true(ruleset > 0);
			assert_int_equal(faked(filter == 0 ? CONFINE_PURE : CONFINE_PATHS),
			                 CONFINE_FULL);
			(void)snprintf(expected, sizeof(expected), BEFORE "%srestrict 1 0\n" AFTER,
			               ABIS[i].create);
			assert_string_equal(calls, expected);
			assert_int_equal(call_count, CALLS);
			assert_int_equal(fcntl(ruleset, F_GETFD), -1); /* closed */
		}
	}
}

/* A ruleset is a descriptor like any other: without a standard input, 0. */
static void a_ruleset_may_be_descriptor_0(void **state)
{
	int input = fcntl(0, F_DUPFD_CLOEXEC, 3);

	(void)state;
	abi = 6;
	ruleset = 0;
	assert_int_equal(faked(CONFINE_PURE), CONFINE_FULL);
	assert_int_equal(call_count, CALLS);
	assert_int_equal(dup2(input, 0), 0);
	assert_int_equal(close(input), 0);
}

/* Whichever call fails, nothing is asked any more, and it is said.  Only a kernel
 * without Landlock is another matter. */
static void any_failure_is_one(void **state)
{
	static const int ERRORS[] = {EPERM, EINVAL, E2BIG, ENOSYS, EOPNOTSUPP};

	(void)state;
	abi = 6;
	for (size_t i = 0; i < sizeof(ERRORS) / sizeof(ERRORS[0]); i++) {
		bool none = ERRORS[i] == ENOSYS || ERRORS[i] == EOPNOTSUPP;

		failing_errno = ERRORS[i];
		for (failing = 1; failing <= CALLS; failing++) {
			bool version = failing == 8;

			ruleset = open("/dev/null", O_RDONLY | O_CLOEXEC);
			assert_int_equal(faked(CONFINE_PATHS), version && none
			                                               ? CONFINE_NO_LANDLOCK
			                                               : CONFINE_FAILED);
			assert_int_equal(call_count, version && none ? 9 : failing);
			if (version && none)
				assert_string_equal(calls, BEFORE AFTER);
			if (failing <= 9)
				assert_int_equal(close(ruleset), 0);
			assert_int_equal(fcntl(ruleset, F_GETFD), -1);
		}
	}
	failing = 0;
	/* No version at all is no answer. */
	for (abi = 0; abi >= -1; abi--) {
		assert_int_equal(faked(CONFINE_PATHS), CONFINE_FAILED);
		assert_string_equal(calls, BEFORE);
	}
}

/* --- what each filter lets through --- */

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

/* The exit status, and what was written of it to standard error. */
static int trap(int error, long number)
{
	int status = 0;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		if (error < 0 ? close(2) < 0 : dup2(error, 2) < 0)
			_exit(98);
		if (confine(CONFINE_PURE) == CONFINE_FAILED)
			_exit(99);
		(void)syscall(number);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void the_handler_names_the_number(void **state)
{
	static const long numbers[] = {SYS_getppid, SYS_open_by_handle_at, 1000000000, 999};

	(void)state;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		char line[256], expected[256];
		ssize_t len;
		int fds[2];

		assert_int_equal(pipe(fds), 0);
		assert_int_equal(trap(fds[1], numbers[i]), TRAPPED);
		close(fds[1]);
		len = read(fds[0], line, sizeof(line));
		close(fds[0]);
		(void)snprintf(expected, sizeof(expected),
		               "cofferdam-policy: SANDBOX_PROTOCOL confine.syscall: system call "
		               "%ld is not in the allow-list\n",
		               numbers[i]);
		assert_int_equal(len, strlen(expected));
		assert_memory_equal(line, expected, strlen(expected));
	}
	/* Even where it cannot say so. */
	assert_int_equal(trap(-1, SYS_getppid), TRAPPED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_right_is_handled),
		cmocka_unit_test(a_ruleset_may_be_descriptor_0),
		cmocka_unit_test(any_failure_is_one),
		cmocka_unit_test(the_handler_names_the_number),
		cmocka_unit_test(pure_allows_exactly_its_list),
		cmocka_unit_test(paths_allows_exactly_its_list),
		cmocka_unit_test(openat_only_with_o_path),
		cmocka_unit_test(messages_only_on_the_socket),
		cmocka_unit_test(other_architectures_are_killed),
#ifdef __x86_64__
		cmocka_unit_test(the_32_bit_entry_is_killed),
#endif
	};

	usual_surroundings();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

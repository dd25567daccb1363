/* SPDX-License-Identifier: ISC */
#include "confine.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "filter.h"

/*
 * Landlock (Documentation/userspace-api/landlock.rst).  Numbers that older
 * headers lack, with the kernel that brought them:
 * ABI 1 5.13, ABI 2 5.19, ABI 3 6.2, ABI 4 6.7, ABI 5 6.10, ABI 6 6.12.
 */
#define LL_CREATE 444
#define LL_RESTRICT_SELF 446
#define LL_VERSION 1U /* flag: return the ABI version */

struct ll_attr {
	uint64_t handled_fs;
	uint64_t handled_net; /* from ABI 4 */
	uint64_t scoped; /* from ABI 6 */
};

struct ll_abi {
	size_t size; /* of the struct that this ABI knows */
	struct ll_attr attr; /* every right that it knows */
};

static const struct ll_abi ll_abis[] = {
	{8, {0x1fff, 0, 0}}, /* execute … make_sym */
	{8, {0x3fff, 0, 0}}, /* refer */
	{8, {0x7fff, 0, 0}}, /* truncate */
	{16, {0x7fff, 0x3, 0}}, /* bind and connect TCP */
	{16, {0xffff, 0x3, 0}}, /* ioctl on devices */
	{24, {0xffff, 0x3, 0x3}}, /* abstract sockets, signals */
};
#define LL_ABIS (sizeof(ll_abis) / sizeof(ll_abis[0]))

/* Handles every right and grants none.  No Landlock is told from a failure. */
static enum confine_result deny_all(void)
{
	long version = syscall(LL_CREATE, NULL, (size_t)0, LL_VERSION);
	const struct ll_abi *abi;
	long ruleset;
	long rc;

	if (version < 1)
		return errno == ENOSYS || errno == EOPNOTSUPP ? CONFINE_NO_LANDLOCK
		                                              : CONFINE_FAILED;
	abi = &ll_abis[(size_t)version < LL_ABIS ? (size_t)version - 1 : LL_ABIS - 1];
	ruleset = syscall(LL_CREATE, &abi->attr, abi->size, 0U);
	if (ruleset < 0)
		return CONFINE_FAILED;
	rc = syscall(LL_RESTRICT_SELF, (int)ruleset, 0U);
	(void)close((int)ruleset);
	return rc == 0 ? CONFINE_FULL : CONFINE_FAILED;
}

/* Says which call it was.  Only write and exit_group: both are in the list. */
static void on_trap(int signal, siginfo_t *info, void *context)
{
	static const char head[] = "cofferdam-policy: SANDBOX_PROTOCOL confine.syscall: "
	                           "system call ";
	static const char tail[] = " is not in the allow-list\n";
	char line[128]; /* both have less than 100 */
	char digits[10]; /* 2^32 - 1 has ten */
	size_t count = 0;
	size_t len = sizeof(head) - 1;
	unsigned number = (unsigned)info->si_syscall;
	ssize_t written;

	(void)signal;
	(void)context;
	memcpy(line, head, len);
	do {
		digits[count++] = (char)('0' + number % 10);
		number /= 10;
	} while (number != 0);
	while (count > 0)
		line[len++] = digits[--count];
	memcpy(line + len, tail, sizeof(tail));
	len += sizeof(tail) - 1;
	written = write(STDERR_FILENO, line, len);
	(void)written;
	_exit(70);
}

/* And a reader that has gone is an error to be told: the audit file may be a FIFO. */
static bool catch_traps(void)
{
	static const struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};
	static const struct sigaction ignore = {.sa_handler = SIG_IGN};

	return sigaction(SIGSYS, &action, NULL) == 0 && sigaction(SIGPIPE, &ignore, NULL) == 0;
}

/* No core file, no new process (for root this holds by seccomp alone), no
 * descriptor beyond a handful.  RLIMIT_FSIZE is the executor's to set: by hand
 * the output may be appended to a file of any size. */
static bool limit_resources(void)
{
	static const struct rlimit none = {0, 0};
	static const struct rlimit few = {64, 64};

	return setrlimit(RLIMIT_CORE, &none) == 0 && setrlimit(RLIMIT_NPROC, &none) == 0 &&
	       setrlimit(RLIMIT_NOFILE, &few) == 0;
}

static bool install(const struct sock_filter *code, size_t count)
{
	/* The kernel only reads the program; the ABI's pointer is not const. */
	const struct sock_fprog program = {(unsigned short)count,
	                                   (struct sock_filter *)(uintptr_t)code};

	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}

enum confine_result confine(enum confine_filter filter)
{
	enum confine_result result;
	bool installed;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0)
		return CONFINE_FAILED;
	if (!limit_resources() || !catch_traps())
		return CONFINE_FAILED;
	result = deny_all();
	if (result == CONFINE_FAILED)
		return result;
	installed = filter == CONFINE_PATHS
	                    ? install(filter_paths, sizeof(filter_paths) / sizeof(filter_paths[0]))
	                    : install(filter_pure, sizeof(filter_pure) / sizeof(filter_pure[0]));
	return installed ? result : CONFINE_FAILED;
}

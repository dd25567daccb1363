/* SPDX-License-Identifier: ISC */

/*
 * Build-time only: makes policy's two seccomp allow-lists with libseccomp and
 * prints them as C arrays for policy/confine.c, so that neither libseccomp nor
 * its heap is in the program.  formal/README.md gives the reason for each call.
 *
 * Unknown calls trap (SIGSYS), so that the handler can name them; another
 * architecture's calls, x32's among them, kill the process.
 */

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The socket to the executor (policy/launching.c). */
#define SOCKET_FD 3
#define INSTRUCTIONS_MAX 512

static const int pure[] = {
	SCMP_SYS(read),
	SCMP_SYS(pread64),
	SCMP_SYS(write),
	SCMP_SYS(clock_gettime),
	SCMP_SYS(exit_group),
};

static const int paths[] = {
	SCMP_SYS(close),
	SCMP_SYS(statx),
	SCMP_SYS(readlinkat),
};

#ifdef SANITIZED
/* What the sanitizers' run time needs on top; never in a real build. */
static const int sanitizer[] = {
	SCMP_SYS(mmap),
	SCMP_SYS(munmap),
	SCMP_SYS(mprotect),
	SCMP_SYS(madvise),
	SCMP_SYS(futex),
	SCMP_SYS(getpid),
	SCMP_SYS(gettid),
	SCMP_SYS(sigaltstack),
	SCMP_SYS(rt_sigaction),
	SCMP_SYS(rt_sigprocmask),
	SCMP_SYS(sched_yield),
};
#endif

static int allow_all(scmp_filter_ctx ctx, const int *calls, size_t count)
{
	int rc = 0;

	for (size_t i = 0; i < count && rc == 0; i++)
		rc = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, calls[i], 0);
	return rc;
}

static int allow_paths(scmp_filter_ctx ctx)
{
	/* Only the low 32 bits of an int count.  An O_PATH descriptor can be
	 * neither read nor written (open(2)). */
	const scmp_datum_t low = 0xffffffffU;
	const scmp_datum_t flags = low & ~(scmp_datum_t)(O_DIRECTORY | O_NOFOLLOW);
	const struct scmp_arg_cmp only_path = {2, SCMP_CMP_MASKED_EQ, flags, O_PATH | O_CLOEXEC};
	const struct scmp_arg_cmp socket = {0, SCMP_CMP_MASKED_EQ, low, SOCKET_FD};
	int rc = allow_all(ctx, paths, sizeof(paths) / sizeof(paths[0]));

	if (rc == 0)
		rc = seccomp_rule_add_array(ctx, SCMP_ACT_ALLOW, SCMP_SYS(openat), 1, &only_path);
	if (rc == 0)
		rc = seccomp_rule_add_array(ctx, SCMP_ACT_ALLOW, SCMP_SYS(sendmsg), 1, &socket);
	if (rc == 0)
		rc = seccomp_rule_add_array(ctx, SCMP_ACT_ALLOW, SCMP_SYS(recvmsg), 1, &socket);
	return rc;
}

/* The filter as libseccomp exports it, through a pipe (it fits: at most
 * INSTRUCTIONS_MAX * 8 bytes, a pipe holds 64 KiB). */
static int print_array(scmp_filter_ctx ctx, const char *name)
{
	static struct sock_filter code[INSTRUCTIONS_MAX];
	int fds[2];
	ssize_t len;

	if (pipe(fds) != 0 || seccomp_export_bpf(ctx, fds[1]) != 0)
		return -1;
	close(fds[1]);
	len = read(fds[0], code, sizeof(code));
	close(fds[0]);
	if (len <= 0 || (size_t)len % sizeof(code[0]) != 0 || (size_t)len == sizeof(code))
		return -1;
	printf("static const struct sock_filter %s[] = {\n", name);
	for (size_t i = 0; i < (size_t)len / sizeof(code[0]); i++)
		printf("\t{0x%02xU, %uU, %uU, 0x%08xU},\n", code[i].code, code[i].jt, code[i].jf,
		       code[i].k);
	printf("};\n");
	return 0;
}

static int make(const char *name, int with_paths)
{
	scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_TRAP);
	int rc = -1;

	if (ctx == NULL)
		return -1;
	if (seccomp_attr_set(ctx, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS) == 0 &&
	    allow_all(ctx, pure, sizeof(pure) / sizeof(pure[0])) == 0 &&
#ifdef SANITIZED
	    allow_all(ctx, sanitizer, sizeof(sanitizer) / sizeof(sanitizer[0])) == 0 &&
#endif
	    (!with_paths || allow_paths(ctx) == 0))
		rc = print_array(ctx, name);
	seccomp_release(ctx);
	return rc;
}

int main(void)
{
	printf("/* Made by policy/filter.c. */\n");
	if (make("filter_pure", 0) != 0 || make("filter_paths", 1) != 0 || fflush(stdout) != 0) {
		fprintf(stderr, "filter: %s\n", strerror(errno));
		return 1;
	}
	return 0;
}

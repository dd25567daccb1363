/* SPDX-License-Identifier: ISC */
/*
 * Runs a program from one system call to the next and kills it at one of them.
 *
 *   stepper LOG POINT WAIT GUARDIAN PROGRAM [ARG...]
 *
 *   LOG       what happened, a line a stop: number, "in" (before the call) or
 *             "out" (after it), the call, its first five arguments or its result.
 *             The last line: "killed" or "ended STATUS".
 *   POINT     N: the N-th stop, from 1.  CALL:K:in, CALL:K:out: the K-th call of
 *             that name.  0: nowhere.
 *   WAIT      how long the program stands at its point first: milliseconds, or
 *             "ended": until its youngest child has ended
 *   GUARDIAN  "spare", or "kill": the child that was forked first after a file
 *             had been made with O_APPEND and O_EXCL (the claim) dies with it
 *
 * Only the program itself is traced, not its children: ptrace(2).
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CALLS 512 /* numbers above are counted together */
#define PATIENCE_MS 60000
#define NEW_CLAIM (O_CREAT | O_EXCL | O_APPEND)

/* Calls with a name in the log and in a point; others are call<number>. */
static const struct {
	long number;
	const char *name;
} names[] = {
	{SYS_execve, "execve"},
	{SYS_clone, "clone"},           {SYS_clone3, "clone"},
	{SYS_openat, "openat"},         {SYS_flock, "flock"},
	{SYS_unlinkat, "unlinkat"},     {SYS_linkat, "linkat"},
	{SYS_renameat2, "renameat2"},   {SYS_mkdirat, "mkdirat"},
	{SYS_write, "write"},           {SYS_pwrite64, "pwrite64"},
	{SYS_pread64, "pread64"},       {SYS_read, "read"},
	{SYS_close, "close"},           {SYS_newfstatat, "newfstatat"},
	{SYS_memfd_create, "memfd_create"}, {SYS_pipe2, "pipe2"},
	{SYS_socketpair, "socketpair"}, {SYS_signalfd4, "signalfd4"},
	{SYS_chdir, "chdir"},           {SYS_lseek, "lseek"},
	{SYS_wait4, "wait4"},           {SYS_waitid, "waitid"},
	{SYS_kill, "kill"},             {SYS_fsync, "fsync"},
#ifdef SYS_mkdir
	{SYS_mkdir, "mkdir"},
#endif
#ifdef SYS_poll
	{SYS_poll, "poll"},
#endif
	{SYS_ppoll, "poll"},
};

struct point {
	long stop; /* or */
	char call[32];
	long nth;
	bool out;
};

struct trace {
	FILE *log;
	struct point point;
	const char *wait;
	bool kill_guardian;
	pid_t pid;
	long stop;
	long count[CALLS]; /* of each call, as entered */
	uint64_t call; /* the last one entered */
	bool claimed;
	pid_t guardian, youngest; /* 0: none */
};

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "stepper: %s: %s\n", what, strerror(errno));
	exit(70);
}

static const char *name_of(uint64_t call)
{
	static char other[32];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].number == (long)call)
			return names[i].name;
	snprintf(other, sizeof(other), "call%llu", (unsigned long long)call);
	return other;
}

static bool read_point(const char *text, struct point *point)
{
	char side[4];

	*point = (struct point){0};
	if (sscanf(text, "%31[a-z0-9]:%ld:%3s", point->call, &point->nth, side) == 3) {
		point->out = strcmp(side, "out") == 0;
		return point->out || strcmp(side, "in") == 0;
	}
	point->call[0] = '\0';
	return sscanf(text, "%ld", &point->stop) == 1;
}

static long *count_of(struct trace *trace, uint64_t call)
{
	return &trace->count[call < CALLS ? call : CALLS - 1];
}

/* Takes down one stop; true when it is the point. */
static bool stopped(struct trace *trace)
{
	struct __ptrace_syscall_info info;
	const struct point *point = &trace->point;
	bool out;

	if (ptrace(PTRACE_GET_SYSCALL_INFO, trace->pid, sizeof(info), &info) <= 0)
		die("PTRACE_GET_SYSCALL_INFO");
	out = info.op == PTRACE_SYSCALL_INFO_EXIT;
	trace->stop++;
	if (out) {
		const char *name = name_of(trace->call);

		fprintf(trace->log, "%ld out %s %lld\n", trace->stop, name,
		        (long long)info.exit.rval);
		if (strcmp(name, "clone") == 0 && info.exit.rval > 0) {
			trace->youngest = (pid_t)info.exit.rval;
			if (trace->claimed && trace->guardian == 0)
				trace->guardian = trace->youngest;
		}
	} else {
		const uint64_t *arg = info.entry.args;

		trace->call = info.entry.nr;
		++*count_of(trace, trace->call);
		fprintf(trace->log, "%ld in %s %lld %lld %lld %lld %lld\n", trace->stop,
		        name_of(trace->call), (long long)arg[0], (long long)arg[1],
		        (long long)arg[2], (long long)arg[3], (long long)arg[4]);
		if (trace->call == SYS_openat && (arg[2] & NEW_CLAIM) == NEW_CLAIM)
			trace->claimed = true;
	}
	if (point->call[0] == '\0')
		return point->stop == trace->stop;
	return out == point->out && *count_of(trace, trace->call) == point->nth &&
	       strcmp(name_of(trace->call), point->call) == 0;
}

static void pause_ms(long ms)
{
	const struct timespec time = {ms / 1000, ms % 1000 * 1000000};

	nanosleep(&time, NULL);
}

/* A zombie, which only the traced program itself can reap. */
static bool has_ended(pid_t pid)
{
	char path[64], state = 'Z';
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	file = fopen(path, "r");
	if (file == NULL)
		return true;
	if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
		state = '?';
	fclose(file);
	return state == 'Z';
}

static void strike(struct trace *trace)
{
	if (strcmp(trace->wait, "ended") == 0) {
		int patience = PATIENCE_MS;

		while (trace->youngest > 0 && !has_ended(trace->youngest) && patience-- > 0)
			pause_ms(1);
	} else {
		pause_ms(atol(trace->wait));
	}
	/* The program stands still: for it both end at once.  At its last stops it has
	 * already waited for its guardian. */
	if (trace->kill_guardian && trace->guardian > 0 &&
	    kill(trace->guardian, SIGKILL) != 0 && errno != ESRCH)
		die("kill, the guardian");
	if (kill(trace->pid, SIGKILL) != 0)
		die("kill");
	if (waitpid(trace->pid, NULL, 0) != trace->pid)
		die("waitpid");
	fprintf(trace->log, "killed %d\n", (int)trace->guardian);
}

/* From stop to stop, to the point or the program's end. */
static int follow(struct trace *trace)
{
	int status, signal = 0;

	for (;;) {
		if (ptrace(PTRACE_SYSCALL, trace->pid, NULL, (void *)(intptr_t)signal) != 0 ||
		    waitpid(trace->pid, &status, 0) != trace->pid)
			die("PTRACE_SYSCALL");
		if (!WIFSTOPPED(status)) {
			status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
			fprintf(trace->log, "ended %d\n", status);
			return status;
		}
		signal = WSTOPSIG(status);
		if (signal == (SIGTRAP | 0x80)) {
			signal = 0;
			if (stopped(trace)) {
				strike(trace);
				return 0;
			}
		} else if (status >> 8 == (SIGTRAP | PTRACE_EVENT_EXEC << 8)) {
			signal = 0;
		}
	}
}

static pid_t begin(char **argv)
{
	const long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL | PTRACE_O_TRACEEXEC;
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0 || raise(SIGSTOP) != 0)
			die("PTRACE_TRACEME");
		execv(argv[0], argv);
		die(argv[0]);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status) ||
	    ptrace(PTRACE_SETOPTIONS, pid, NULL, (void *)options) != 0 ||
	    ptrace(PTRACE_CONT, pid, NULL, NULL) != 0 || waitpid(pid, &status, 0) != pid ||
	    status >> 8 != (SIGTRAP | PTRACE_EVENT_EXEC << 8))
		die("starting the program");
	return pid;
}

int main(int argc, char **argv)
{
	static struct trace trace;
	int status;

	if (argc < 6 || !read_point(argv[2], &trace.point)) {
		fprintf(stderr, "usage: stepper LOG POINT WAIT GUARDIAN PROGRAM [ARG...]\n");
		return 64;
	}
	trace.log = fopen(argv[1], "we");
	if (trace.log == NULL)
		die(argv[1]);
	trace.wait = argv[3];
	trace.call = SYS_execve; /* the first stop is on its way out */
	trace.kill_guardian = strcmp(argv[4], "kill") == 0;
	trace.pid = begin(argv + 5);
	status = follow(&trace);
	if (fclose(trace.log) != 0)
		die(argv[1]);
	return status;
}

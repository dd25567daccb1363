/* SPDX-License-Identifier: ISC */

/*
 * An attacker in the place where cofferdam-policy parses documents.  Linked into
 * a cofferdam-policy of its own (build/probe), with --wrap on the functions that
 * parse: the first call makes the attempt that $PROBE names and ends the process,
 * so that no product source knows of it.  build/probe/control also wraps
 * confine(), which then does nothing: there every attempt succeeds.
 *
 * 81: the kernel answered with an error; 82: the attempt succeeded.  PROBE=list
 * prints each attempt and the number of the call that must be stopped.
 */

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/io_uring.h>
#include <linux/keyctl.h>
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include "../../policy/confine.h"
#include "../../policy/config.h"
#include "../../policy/explain.h"
#include "../../policy/json.h"

#define DENIED 81
#define DONE 82
#define PATH 512

#ifndef SYS_openat2
#define SYS_openat2 437
#endif

bool __real_json_parse(struct json *doc, const char *text, size_t len,
                       const struct json_limits *limits, struct json_error *error);
bool __wrap_json_parse(struct json *doc, const char *text, size_t len,
                       const struct json_limits *limits, struct json_error *error);
bool __real_explain(const char *what, bool json, struct text *out);
bool __wrap_explain(const char *what, bool json, struct text *out);
void __real_config_schema(struct text *out);
void __wrap_config_schema(struct text *out);
enum confine_result __wrap_confine(enum confine_filter filter);

static char dir[PATH]; /* of the runner's: config.json, file, docker.sock */
static int victim; /* a process of the runner's */
static int reader; /* the runner itself, and where it has eight bytes */
static uintptr_t address;
static char page[2 * 4096] __attribute__((aligned(4096)));

static const char *in_dir(const char *name)
{
	static char path[2][2 * PATH];
	static int turn;

	turn = !turn;
	(void)snprintf(path[turn], sizeof(path[turn]), "%s/%s", dir, name);
	return path[turn];
}

static const char *of_proc(const char *name)
{
	static char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/%s", victim, name);
	return path;
}

/* ---- attempts: not negative is success ---- */

#define ATTEMPT(name, call) \
	__attribute__((unused)) static long name(void) { return (call); }

static long open_raw(const char *path, int flags)
{
	return syscall(SYS_openat, AT_FDCWD, path, flags, 0600);
}

ATTEMPT(read_passwd, open_raw("/etc/passwd", O_RDONLY | O_CLOEXEC))
ATTEMPT(read_config, open_raw(in_dir("config.json"), O_RDONLY | O_CLOEXEC))
ATTEMPT(list_config_dir, open_raw(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC))
ATTEMPT(read_proc_1, open_raw("/proc/1/status", O_RDONLY))
ATTEMPT(read_environment, open_raw(of_proc("environ"), O_RDONLY))
ATTEMPT(read_proc_mem, open_raw(of_proc("mem"), O_RDWR))
ATTEMPT(make_file, open_raw(in_dir("made"), O_WRONLY | O_CREAT | O_CLOEXEC))
ATTEMPT(make_unnamed_file, open_raw(dir, O_TMPFILE | O_RDWR))
ATTEMPT(empty_file, open_raw(in_dir("file"), O_WRONLY | O_TRUNC))
ATTEMPT(open_old, syscall(SYS_open, "/etc/passwd", O_RDONLY, 0))
ATTEMPT(creat_old, syscall(SYS_creat, in_dir("made"), 0600))
ATTEMPT(see_process, syscall(SYS_statx, AT_FDCWD, of_proc(""), 0, STATX_BASIC_STATS, page))
ATTEMPT(see_file, syscall(SYS_statx, AT_FDCWD, "/etc/passwd", 0, STATX_BASIC_STATS, page))
ATTEMPT(see_file_old, syscall(SYS_newfstatat, AT_FDCWD, "/etc/passwd", page, 0))
ATTEMPT(see_input, syscall(SYS_fstat, 0, page))
ATTEMPT(see_program, syscall(SYS_readlinkat, AT_FDCWD, of_proc("exe"), page, 4096))
ATTEMPT(see_descriptor, syscall(SYS_readlinkat, AT_FDCWD, of_proc("fd/0"), page, 4096))
ATTEMPT(see_group, syscall(SYS_getpgid, victim))
ATTEMPT(see_session, syscall(SYS_getsid, victim))
ATTEMPT(see_priority, syscall(SYS_getpriority, PRIO_PROCESS, victim))
ATTEMPT(access_file, syscall(SYS_faccessat, AT_FDCWD, "/etc/passwd", R_OK))
ATTEMPT(stat_fs, syscall(SYS_statfs, "/", page))
ATTEMPT(working_directory, syscall(SYS_getcwd, page, 4096))
ATTEMPT(make_dir, syscall(SYS_mkdirat, AT_FDCWD, in_dir("made"), 0700))
ATTEMPT(make_node, syscall(SYS_mknodat, AT_FDCWD, in_dir("made"), S_IFIFO | 0600, 0))
ATTEMPT(hard_link, syscall(SYS_linkat, AT_FDCWD, in_dir("file"), AT_FDCWD, in_dir("made"), 0))
ATTEMPT(sym_link, syscall(SYS_symlinkat, "/etc", AT_FDCWD, in_dir("made")))
ATTEMPT(unlink_file, syscall(SYS_unlinkat, AT_FDCWD, in_dir("file"), 0))
ATTEMPT(unlink_old, syscall(SYS_unlink, in_dir("file")))
ATTEMPT(rename_file, syscall(SYS_renameat2, AT_FDCWD, in_dir("file"), AT_FDCWD, in_dir("made"), 0))
ATTEMPT(rename_old, syscall(SYS_rename, in_dir("file"), in_dir("made")))
ATTEMPT(change_mode, syscall(SYS_fchmodat, AT_FDCWD, in_dir("file"), 0777))
ATTEMPT(change_mode_old, syscall(SYS_chmod, in_dir("file"), 0777))
ATTEMPT(change_owner, syscall(SYS_fchownat, AT_FDCWD, in_dir("file"), 1, 1, 0))
ATTEMPT(change_size, syscall(SYS_truncate, in_dir("file"), 0L))
ATTEMPT(change_times, syscall(SYS_utimensat, AT_FDCWD, in_dir("file"), NULL, 0))
ATTEMPT(change_dir, syscall(SYS_chdir, "/"))
ATTEMPT(change_root, syscall(SYS_chroot, dir))
ATTEMPT(watch_files, syscall(SYS_inotify_init1, 0))
ATTEMPT(socket_unix, syscall(SYS_socket, AF_UNIX, SOCK_STREAM, 0))
ATTEMPT(socket_inet, syscall(SYS_socket, AF_INET, SOCK_STREAM, 0))
ATTEMPT(socket_netlink, syscall(SYS_socket, AF_NETLINK, SOCK_RAW, 0))
ATTEMPT(socket_pair, syscall(SYS_socketpair, AF_UNIX, SOCK_STREAM, 0, page))
ATTEMPT(signal_process, syscall(SYS_kill, victim, SIGKILL))
ATTEMPT(signal_all, syscall(SYS_kill, victim, 0))
ATTEMPT(signal_thread, syscall(SYS_tgkill, victim, victim, SIGKILL))
ATTEMPT(signal_thread_old, syscall(SYS_tkill, victim, SIGKILL))
ATTEMPT(process_descriptor, syscall(SYS_pidfd_open, victim, 0))
ATTEMPT(trace_process, syscall(SYS_ptrace, PTRACE_SEIZE, victim, NULL, NULL))
ATTEMPT(trace_me, syscall(SYS_ptrace, PTRACE_TRACEME, 0, NULL, NULL))
ATTEMPT(limit_process, syscall(SYS_prlimit64, victim, RLIMIT_NOFILE, NULL, page))
ATTEMPT(renice_process, syscall(SYS_setpriority, PRIO_PROCESS, victim, 15))
ATTEMPT(place_process, syscall(SYS_sched_getaffinity, victim, sizeof(page), page))
ATTEMPT(fork_old, syscall(SYS_fork))
ATTEMPT(clone_old, syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, 0))
ATTEMPT(own_pid, syscall(SYS_getpid))
ATTEMPT(map_plain, syscall(SYS_mmap, NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0L) ==
                                   -1 ? -1 : 0)
ATTEMPT(map_code, syscall(SYS_mmap, NULL, 4096, PROT_READ | PROT_EXEC,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0L) == -1 ? -1 : 0)
ATTEMPT(make_code, syscall(SYS_mprotect, page, 4096, PROT_READ | PROT_EXEC))
ATTEMPT(make_code_keyed, syscall(SYS_pkey_mprotect, page, 4096, PROT_READ | PROT_EXEC, -1))
ATTEMPT(more_heap, syscall(SYS_brk, NULL))
ATTEMPT(advise, syscall(SYS_madvise, page, 4096, MADV_NORMAL))
ATTEMPT(memory_file, syscall(SYS_memfd_create, "x", 0))
ATTEMPT(shared_memory, syscall(SYS_shmget, IPC_PRIVATE, 4096, IPC_CREAT | IPC_EXCL))
ATTEMPT(fault_descriptor, syscall(SYS_userfaultfd, O_CLOEXEC))
ATTEMPT(new_namespaces, syscall(SYS_unshare, CLONE_NEWUTS))
ATTEMPT(new_mount, syscall(SYS_mount, "none", dir, "tmpfs", 0L, NULL))
ATTEMPT(new_file_system, syscall(SYS_fsopen, "tmpfs", 0))
ATTEMPT(open_mount, syscall(SYS_open_tree, AT_FDCWD, "/", 0))
ATTEMPT(dump_again, syscall(SYS_prctl, PR_SET_DUMPABLE, 1L, 0L, 0L, 0L))
ATTEMPT(death_signal, syscall(SYS_prctl, PR_SET_PDEATHSIG, 0L, 0L, 0L, 0L))
ATTEMPT(traced_by_any, syscall(SYS_prctl, PR_SET_NAME, "x", 0L, 0L, 0L))
ATTEMPT(filter_actions, syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0,
                                &(uint32_t){SECCOMP_RET_KILL_PROCESS}))
ATTEMPT(landlock_rules, syscall(444, NULL, 0L, 1))
ATTEMPT(change_user, syscall(SYS_setuid, 0))
ATTEMPT(change_users, syscall(SYS_setresuid, -1, -1, -1))
ATTEMPT(change_group, syscall(SYS_setgid, 0))
ATTEMPT(change_personality, syscall(SYS_personality, 0xffffffffUL))
ATTEMPT(change_segment, syscall(SYS_arch_prctl, 0x1003, page)) /* ARCH_GET_FS */
ATTEMPT(change_handler, syscall(SYS_rt_sigaction, SIGSYS, NULL, page, 8L))
ATTEMPT(change_mask, syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, page, 8L))
ATTEMPT(change_stack, syscall(SYS_sigaltstack, NULL, page))
ATTEMPT(own_session, syscall(SYS_umask, 022))
ATTEMPT(copy_descriptor, syscall(SYS_dup, 0))
ATTEMPT(copy_descriptor_to, syscall(SYS_dup2, 0, 9))
ATTEMPT(copy_descriptor_3, syscall(SYS_dup3, 0, 9, 0))
ATTEMPT(copy_by_fcntl, syscall(SYS_fcntl, 0, F_DUPFD, 20))
ATTEMPT(change_flags, syscall(SYS_fcntl, 0, F_SETFL, O_NONBLOCK))
ATTEMPT(close_all, syscall(SYS_close_range, 20, 30, 0))
ATTEMPT(terminal_input, syscall(SYS_ioctl, 2, TIOCSTI, "x"))
ATTEMPT(terminal_size, syscall(SYS_ioctl, 2, TIOCGWINSZ, page))
ATTEMPT(write_vector, syscall(SYS_writev, 2, &(struct iovec){page, 0}, 1))
ATTEMPT(new_pipe, syscall(SYS_pipe2, page, 0))
ATTEMPT(new_event, syscall(SYS_eventfd2, 0, 0))
ATTEMPT(new_timer, syscall(SYS_timerfd_create, 0, 0))
ATTEMPT(new_epoll, syscall(SYS_epoll_create1, 0))
ATTEMPT(wait_child, syscall(SYS_alarm, 0))
ATTEMPT(sleep_on, syscall(SYS_nanosleep, &(struct timespec){0, 1}, NULL))
ATTEMPT(random_bytes, syscall(SYS_getrandom, page, 8, 0))
ATTEMPT(kernel_name, syscall(SYS_uname, page))
ATTEMPT(x32_getpid, syscall(0x40000000L | SYS_getpid))

static long reopen_path(void)
{
	char link[64];
	long fd = open_raw("/etc/passwd", O_PATH | O_CLOEXEC);

	(void)snprintf(link, sizeof(link), "/proc/self/fd/%ld", fd);
	return fd < 0 ? fd : open_raw(link, O_RDONLY);
}

static long open_how(void)
{
	struct {
		uint64_t flags, mode, resolve;
	} how = {O_RDONLY, 0, 0};

	return syscall(SYS_openat2, AT_FDCWD, "/etc/passwd", &how, sizeof(how));
}

static long file_handle(void)
{
	struct file_handle *handle = (void *)page;
	int mount;

	handle->handle_bytes = MAX_HANDLE_SZ;
	return syscall(SYS_name_to_handle_at, AT_FDCWD, in_dir("file"), handle, &mount, 0);
}

static long connect_docker(void)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	long fd = syscall(SYS_socket, AF_UNIX, SOCK_STREAM, 0);

	(void)snprintf(to.sun_path, sizeof(to.sun_path), "%.90s/docker.sock", dir);
	return fd < 0 ? fd : syscall(SYS_connect, fd, &to, sizeof(to));
}

/* Over descriptor 3, which is decide's socket to the executor. */
static long send_descriptor(void)
{
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = {.head = {CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS}};
	struct iovec part = {page, 1};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control,
	                         .msg_controllen = sizeof(control)};

	return syscall(SYS_sendmsg, 3, &message, MSG_NOSIGNAL);
}

static long queue_signal(void)
{
	siginfo_t info = {.si_signo = SIGKILL, .si_code = SI_QUEUE};

	return syscall(SYS_rt_sigqueueinfo, victim, SIGKILL, &info);
}

static long read_memory(void)
{
	struct iovec here = {page, 8}, there = {(void *)address, 8};

	return syscall(SYS_process_vm_readv, reader, &here, 1L, &there, 1L, 0L);
}

static long write_memory(void)
{
	struct iovec here = {page, 8}, there = {(void *)address, 8};

	return syscall(SYS_process_vm_writev, reader, &here, 1L, &there, 1L, 0L);
}

static long execute(void)
{
	static const char *const words[] = {"sh", "-c", "exit 82", NULL};

	return syscall(SYS_execve, "/bin/sh", words, NULL);
}

static long execute_at(void)
{
	static const char *const words[] = {"sh", "-c", "exit 82", NULL};

	return syscall(SYS_execveat, AT_FDCWD, "/bin/sh", words, NULL, 0);
}

static long fork_sharing(void)
{
	pid_t pid = vfork();

	if (pid == 0)
		_exit(0);
	return pid;
}

static long clone_new(void)
{
	struct clone_args args;

	memset(&args, 0, sizeof(args));
	args.exit_signal = SIGCHLD;
	return syscall(SYS_clone3, &args, sizeof(args));
}

static long new_ring(void)
{
	struct io_uring_params params;

	memset(&params, 0, sizeof(params));
	return syscall(SYS_io_uring_setup, 1, &params);
}

static long new_bpf_map(void)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_type = BPF_MAP_TYPE_ARRAY;
	attr.key_size = attr.value_size = 4;
	attr.max_entries = 1;
	return syscall(SYS_bpf, BPF_MAP_CREATE, &attr, sizeof(attr));
}

static long performance(void)
{
	struct perf_event_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.type = PERF_TYPE_SOFTWARE;
	attr.size = sizeof(attr);
	attr.config = PERF_COUNT_SW_TASK_CLOCK;
	return syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0UL);
}

static long session_keyring(void)
{
	return syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_PROCESS_KEYRING, 1);
}

static long new_key(void)
{
	return syscall(SYS_add_key, "user", "probe", "x", 1L, KEY_SPEC_PROCESS_KEYRING);
}

static long enter_namespace(void)
{
	long fd = open_raw("/proc/self/ns/uts", O_RDONLY);

	return fd < 0 ? fd : syscall(SYS_setns, fd, 0);
}

static long raise_limits(void)
{
	static const struct rlimit many = {512, 512};

	return syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, &many, NULL);
}

static long raise_limits_old(void)
{
	static const struct rlimit many = {512, 512};

	return syscall(SYS_setrlimit, RLIMIT_NOFILE, &many);
}

/* getpid of the 32-bit table, where 20 is writev of the 64-bit one. */
static long int_80(void)
{
	long result = 20;

	__asm__ volatile("int $0x80" : "+a"(result) : : "memory", "r8", "r9", "r10", "r11");
	return result;
}

/* number: of the call that has to be stopped; -1: by SIGSYS, without a word. */
#define ROW(name, number) {#name, number, name}
static const struct {
	const char *name;
	long number;
	long (*attempt)(void);
} attempts[] = {
	ROW(read_passwd, SYS_openat), ROW(read_config, SYS_openat),
	ROW(list_config_dir, SYS_openat), ROW(read_proc_1, SYS_openat),
	ROW(read_environment, SYS_openat), ROW(read_proc_mem, SYS_openat),
	ROW(make_file, SYS_openat), ROW(make_unnamed_file, SYS_openat), ROW(empty_file, SYS_openat),
	ROW(open_old, SYS_open), ROW(creat_old, SYS_creat), ROW(reopen_path, SYS_openat),
	ROW(open_how, SYS_openat2), ROW(file_handle, SYS_name_to_handle_at),
	ROW(see_process, SYS_statx), ROW(see_file, SYS_statx), ROW(see_file_old, SYS_newfstatat),
	ROW(see_input, SYS_fstat), ROW(see_program, SYS_readlinkat),
	ROW(see_descriptor, SYS_readlinkat), ROW(see_group, SYS_getpgid),
	ROW(see_session, SYS_getsid), ROW(see_priority, SYS_getpriority),
	ROW(access_file, SYS_faccessat), ROW(stat_fs, SYS_statfs),
	ROW(working_directory, SYS_getcwd), ROW(make_dir, SYS_mkdirat), ROW(make_node, SYS_mknodat),
	ROW(hard_link, SYS_linkat), ROW(sym_link, SYS_symlinkat), ROW(unlink_file, SYS_unlinkat),
	ROW(unlink_old, SYS_unlink), ROW(rename_file, SYS_renameat2), ROW(rename_old, SYS_rename),
	ROW(change_mode, SYS_fchmodat), ROW(change_mode_old, SYS_chmod),
	ROW(change_owner, SYS_fchownat), ROW(change_size, SYS_truncate),
	ROW(change_times, SYS_utimensat), ROW(change_dir, SYS_chdir), ROW(change_root, SYS_chroot),
	ROW(watch_files, SYS_inotify_init1), ROW(socket_unix, SYS_socket),
	ROW(socket_inet, SYS_socket), ROW(socket_netlink, SYS_socket),
	ROW(socket_pair, SYS_socketpair), ROW(connect_docker, SYS_socket),
	ROW(send_descriptor, SYS_sendmsg), ROW(signal_process, SYS_kill), ROW(signal_all, SYS_kill),
	ROW(signal_thread, SYS_tgkill), ROW(signal_thread_old, SYS_tkill),
	ROW(queue_signal, SYS_rt_sigqueueinfo), ROW(process_descriptor, SYS_pidfd_open),
	ROW(read_memory, SYS_process_vm_readv), ROW(write_memory, SYS_process_vm_writev),
	ROW(trace_process, SYS_ptrace), ROW(trace_me, SYS_ptrace),
	ROW(limit_process, SYS_prlimit64), ROW(renice_process, SYS_setpriority),
	ROW(place_process, SYS_sched_getaffinity), ROW(fork_old, SYS_fork),
	ROW(fork_sharing, SYS_vfork), ROW(clone_old, SYS_clone), ROW(clone_new, SYS_clone3),
	ROW(execute, SYS_execve), ROW(execute_at, SYS_execveat),
	ROW(make_code_keyed, SYS_pkey_mprotect), ROW(more_heap, SYS_brk),
	ROW(memory_file, SYS_memfd_create), ROW(shared_memory, SYS_shmget),
	ROW(fault_descriptor, SYS_userfaultfd), ROW(new_ring, SYS_io_uring_setup),
	ROW(new_bpf_map, SYS_bpf), ROW(performance, SYS_perf_event_open),
	ROW(session_keyring, SYS_keyctl), ROW(new_key, SYS_add_key),
	ROW(new_namespaces, SYS_unshare), ROW(enter_namespace, SYS_openat),
	ROW(new_mount, SYS_mount), ROW(new_file_system, SYS_fsopen), ROW(open_mount, SYS_open_tree),
	ROW(dump_again, SYS_prctl), ROW(death_signal, SYS_prctl), ROW(traced_by_any, SYS_prctl),
	ROW(filter_actions, SYS_seccomp), ROW(landlock_rules, 444),
	ROW(raise_limits, SYS_prlimit64), ROW(raise_limits_old, SYS_setrlimit),
	ROW(change_user, SYS_setuid), ROW(change_users, SYS_setresuid),
	ROW(change_group, SYS_setgid), ROW(change_personality, SYS_personality),
	ROW(change_segment, SYS_arch_prctl), ROW(own_session, SYS_umask),
	ROW(copy_descriptor, SYS_dup), ROW(copy_descriptor_to, SYS_dup2),
	ROW(copy_descriptor_3, SYS_dup3), ROW(copy_by_fcntl, SYS_fcntl),
	ROW(change_flags, SYS_fcntl), ROW(close_all, SYS_close_range),
	ROW(terminal_input, SYS_ioctl), ROW(terminal_size, SYS_ioctl),
	ROW(write_vector, SYS_writev), ROW(new_pipe, SYS_pipe2), ROW(new_event, SYS_eventfd2),
	ROW(new_timer, SYS_timerfd_create), ROW(new_epoll, SYS_epoll_create1),
	ROW(wait_child, SYS_alarm), ROW(sleep_on, SYS_nanosleep), ROW(random_bytes, SYS_getrandom),
	ROW(kernel_name, SYS_uname), ROW(x32_getpid, -1), ROW(int_80, -1),
#ifndef SANITIZED /* whose run time needs these (policy/filter.c) */
	ROW(own_pid, SYS_getpid), ROW(map_plain, SYS_mmap), ROW(map_code, SYS_mmap),
	ROW(make_code, SYS_mprotect), ROW(advise, SYS_madvise),
	ROW(change_handler, SYS_rt_sigaction), ROW(change_mask, SYS_rt_sigprocmask),
	ROW(change_stack, SYS_sigaltstack),
#endif
};
#define ATTEMPTS (sizeof(attempts) / sizeof(attempts[0]))

static size_t chosen = ATTEMPTS;

static _Noreturn void list(void)
{
	for (size_t i = 0; i < ATTEMPTS; i++)
		dprintf(1, "%s %ld\n", attempts[i].name, attempts[i].number);
	_exit(0);
}

/* Before main, and so before the confinement. */
__attribute__((constructor)) static void choose(void)
{
	const char *name = getenv("PROBE");

	if (name == NULL)
		return;
	if (strcmp(name, "list") == 0)
		list();
	for (size_t i = 0; i < ATTEMPTS; i++)
		if (strcmp(attempts[i].name, name) == 0)
			chosen = i;
	if (chosen == ATTEMPTS || getenv("PROBE_DIR") == NULL || getenv("PROBE_PIDS") == NULL)
		_exit(99);
	(void)snprintf(dir, sizeof(dir), "%s", getenv("PROBE_DIR"));
	if (sscanf(getenv("PROBE_PIDS"), "%d %d %lu", &victim, &reader, &address) != 3)
		_exit(99);
}

static void attempt(void)
{
	static const char says[] = "probe: the attempt came back\n";
	long result;

	if (chosen == ATTEMPTS)
		return;
	result = attempts[chosen].attempt();
	if (write(STDERR_FILENO, says, sizeof(says) - 1) < 0)
		_exit(99);
	_exit(result < 0 ? DENIED : DONE);
}

bool __wrap_json_parse(struct json *doc, const char *text, size_t len,
                       const struct json_limits *limits, struct json_error *error)
{
	attempt();
	return __real_json_parse(doc, text, len, limits, error);
}

bool __wrap_explain(const char *what, bool json, struct text *out)
{
	attempt();
	return __real_explain(what, json, out);
}

void __wrap_config_schema(struct text *out)
{
	attempt();
	__real_config_schema(out);
}

/* In build/probe/control alone. */
enum confine_result __wrap_confine(enum confine_filter filter)
{
	(void)filter;
	return CONFINE_FULL;
}

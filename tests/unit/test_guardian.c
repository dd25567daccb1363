/* SPDX-License-Identifier: ISC */
#undef _FORTIFY_SOURCE /* fake_time.h */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../executor/guardian.h"
#include "fake_docker.h"
#include "fake_time.h"

#define NONCE "00112233445566778899aabbccddeeff"
#define OTHER "ffeeddccbbaa99887766554433221100"
#define LS FAKE_LS(NONCE)
#define RM FAKE_RM

static struct docker docker;

/* So many calls of the library's function fail: as if a signal had come, or so. */
static int interruptions, interruption = EINTR;

ssize_t read(int fd, void *bytes, size_t len)
{
	if (interruptions > 0) {
		interruptions--;
		errno = interruption;
		return -1;
	}
	return syscall(SYS_read, fd, bytes, len);
}

static int farewell = -1; /* the descriptor for it */
static size_t said; /* bytes of it */

ssize_t write(int fd, const void *bytes, size_t len)
{
	said += fd == farewell ? len : 0;
	return syscall(SYS_write, fd, bytes, len);
}

static bool no_ranges; /* a kernel before 5.9 */

int close_range(unsigned first, unsigned last, int flags)
{
	return no_ranges ? -1 : (int)syscall(SYS_close_range, first, last, flags);
}

static int last_wait; /* the options of the last waitpid(2) */

pid_t waitpid(pid_t pid, int *status, int options)
{
	last_wait = options;
	return (pid_t)syscall(SYS_wait4, pid, status, options, NULL);
}

static bool no_fork;

pid_t fork(void)
{
	return no_fork ? -1 : (pid_t)syscall(SYS_fork);
}

static char claim_path[128];

static int set_up(void **state)
{
	(void)state;
	umask(077);
	fake_make(&docker);
	snprintf(claim_path, sizeof(claim_path), "%s/claims/" NONCE, fake_dir);
	/* So that a guardian whose parent was killed becomes ours to wait for. */
	if (!child_set_up() || !fake_time_starts())
		return -1;
	return prctl(PR_SET_CHILD_SUBREAPER, 1);
}

static int tear_down(void **state)
{
	(void)state;
	return fake_remove();
}

static bool claim_exists(void)
{
	return access(claim_path, F_OK) == 0;
}

static bool claim_is_held(void)
{
	int fd = open(claim_path, O_RDWR | O_CLOEXEC);
	bool held;

	assert_true(fd >= 0);
	held = flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
	close(fd);
	return held;
}

static bool lock_is_free(void)
{
	struct state other;
	bool is;

	assert_int_equal(state_open(&other, fake_dir, ""), STATE_OK);
	is = state_lock(&other, OTHER) == STATE_OK;
	close(other.lock);
	close(other.dir);
	close(other.claims);
	return is;
}

static struct audit audit = {-1, 0};
static int interrupted; /* so often the guardian's first read is */
static unsigned remove_seconds = 60; /* far above what a busy machine needs */

/* As the executor does: lock, claim, guardian. */
static bool claims(struct state *own, struct removal *removal)
{
	removal_init(removal, &docker, NONCE);
	removal->control_seconds = 20;
	removal->remove_seconds = remove_seconds;
	return state_open(own, fake_dir, "") == STATE_OK && state_lock(own, NONCE) == STATE_OK &&
	       state_claim(own, NONCE, "unix:///x");
}

static bool launch(struct state *own, struct removal *removal, struct guardian *guardian)
{
	bool good = claims(own, removal);

	interruptions = interrupted;
	return good && guardian_start(guardian, own, removal, &audit);
}

static void put_away(struct state *own)
{
	close(own->dir);
	close(own->claims);
	close(own->lock);
	close(own->claim);
}

/* An executor in a process of its own, which only waits; its guardian's pid. */
static pid_t executor(pid_t *guarding)
{
	struct guardian guardian = {0};
	struct removal removal;
	struct state own;
	int fd[2];
	pid_t pid;

	assert_int_equal(pipe(fd), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		for (int i = STDIN_FILENO; i <= STDERR_FILENO; i++)
			(void)dup2(fd[0], i);
		if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || !launch(&own, &removal, &guardian) ||
		    write(fd[1], &guardian.pid, sizeof(pid_t)) != (ssize_t)sizeof(pid_t))
			_exit(1);
		for (;;)
			pause();
	}
	close(fd[1]);
	assert_int_equal(read(fd[0], guarding, sizeof(pid_t)), (ssize_t)sizeof(pid_t));
	close(fd[0]);
	return pid;
}

static void kill_and_reap(pid_t pid)
{
	int status;

	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
}

static int exit_of(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void removes_for_a_killed_executor(void **state)
{
	pid_t guarding, pid;

	(void)state;
	fake_does("echo " FAKE_ID "\n:\n", ":\n");
	pid = executor(&guarding);
	assert_true(claim_is_held());
	assert_false(lock_is_free());
	assert_string_equal(fake_log(), "");
	kill_and_reap(pid);
	assert_int_equal(exit_of(guarding), 0);
	assert_string_equal(fake_log(), LS RM LS);
	assert_false(claim_exists());
	assert_true(lock_is_free());
}

/* The end of file comes after an interruption, whose errno is an old one then. */
static void goes_on_when_interrupted(void **state)
{
	pid_t guarding, pid;

	(void)state;
	fake_does("echo " FAKE_ID "\n:\n", ":\n");
	interrupted = 2;
	pid = executor(&guarding);
	interrupted = 0;
	assert_string_equal(fake_log(), "");
	kill_and_reap(pid);
	assert_int_equal(exit_of(guarding), 0);
	assert_string_equal(fake_log(), LS RM LS);
	assert_false(claim_exists());
}

/* It does not hold its own pipe open, whatever else stays open. */
static void needs_no_close_range(void **state)
{
	pid_t guarding, pid;

	(void)state;
	fake_does("echo " FAKE_ID "\n:\n", ":\n");
	no_ranges = true;
	pid = executor(&guarding);
	no_ranges = false;
	kill_and_reap(pid);
	assert_int_equal(exit_of(guarding), 0);
	assert_string_equal(fake_log(), LS RM LS);
	assert_false(claim_exists());
}

/* One that cannot hear whether its executor lives removes: that is the safe side. */
static void removes_when_it_cannot_hear(void **state)
{
	struct guardian guardian = {0};
	struct removal removal;
	struct state own;

	(void)state;
	fake_does("echo " FAKE_ID "\n:\n", ":\n");
	assert_true(claims(&own, &removal));
	interruptions = 1;
	interruption = EIO;
	assert_true(guardian_start(&guardian, &own, &removal, &audit));
	interruptions = 0;
	interruption = EINTR;
	assert_int_equal(exit_of(guardian.pid), 0);
	assert_string_equal(fake_log(), LS RM LS);
	assert_false(claim_exists());
	close(guardian.farewell);
	put_away(&own);
}

/* While it works the claim is held, and the next launch need not wait for it. */
static void holds_the_claim_and_not_the_lock(void **state)
{
	pid_t guarding, pid;
	int64_t limit = child_now() + 20000;

	(void)state;
	fake_does("echo " FAKE_ID "\n:\n", "while [ -e $HOME/wait ]; do sleep 0.05; done\n");
	fake_file("wait", "", 0600);
	pid = executor(&guarding);
	kill_and_reap(pid);
	while (strcmp(fake_log(), LS RM) != 0 && child_now() < limit)
		usleep(10000);
	assert_string_equal(fake_log(), LS RM);
	assert_int_equal(getsid(guarding), guarding);
	assert_true(claim_is_held());
	assert_true(lock_is_free());
	snprintf(claim_path + strlen(fake_dir), sizeof(claim_path) - strlen(fake_dir),
	         "/docker/wait");
	assert_int_equal(unlink(claim_path), 0);
	snprintf(claim_path, sizeof(claim_path), "%s/claims/" NONCE, fake_dir);
	assert_int_equal(exit_of(guarding), 0);
	assert_string_equal(fake_log(), LS RM LS);
	assert_false(claim_exists());
}

/* A create may still be carried out: it waits for the container to appear. */
static void settles(void **state)
{
	pid_t guarding, pid;
	int64_t begun;

	(void)state;
	fake_does(":\n", ":\n");
	pid = executor(&guarding);
	begun = child_now();
	kill_and_reap(pid);
	assert_int_equal(exit_of(guarding), 0);
	assert_int_equal(child_now() - begun, 50 + 100 + 200 + 400 + 800 + 1000 + 1000);
	assert_true(child_now() - begun >= REMOVAL_QUIET_MS);
	assert_null(strstr(fake_log(), " rm "));
	assert_false(claim_exists());
}

/* The event behind the time, and the claim, by what becomes of the container. */
static void says_what_it_did(void **state)
{
	static const struct {
		const char *ls, *event;
		int status;
	} rows[] = {
		{"echo " FAKE_ID "\n:\n",
		 "\"seq\":8,\"event\":\"removed\",\"run\":\"" NONCE "\",\"container\":\"" FAKE_ID
		 "\",\"exit\":137,\"oom\":false}\n", 0},
		{"echo " FAKE_ID "\n",
		 "\"seq\":8,\"event\":\"residual\",\"run\":\"" NONCE "\",\"container\":\"" FAKE_ID
		 "\",\"exit\":137,\"oom\":false}\n", 80},
		{":\n",
		 "\"seq\":8,\"event\":\"removed\",\"run\":\"" NONCE "\",\"container\":\"\""
		 ",\"exit\":137,\"oom\":false}\n", 0},
	};
	char text[512];
	pid_t guarding, pid;
	ssize_t len;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		audit = (struct audit){memfd_create("audit", MFD_CLOEXEC), 7};
		fake_does(rows[i].ls, ":\n");
		pid = executor(&guarding);
		kill_and_reap(pid);
		assert_int_equal(exit_of(guarding), rows[i].status);
		assert_int_equal(claim_exists(), rows[i].status != 0);
		(void)unlink(claim_path);
		len = pread(audit.fd, text, sizeof(text) - 1, 0);
		assert_true(len > 0);
		text[len] = '\0';
		assert_non_null(strstr(text, "\"seq\""));
		assert_string_equal(strstr(text, "\"seq\""), rows[i].event);
		close(audit.fd);
		audit = (struct audit){-1, 0};
	}
}

/* One that is not the guardian's to drop: it was replaced. */
static void says_that_the_claim_stays(void **state)
{
	pid_t guarding, pid;

	(void)state;
	fake_does("echo " FAKE_ID "\n:\n", ":\n");
	pid = executor(&guarding);
	assert_int_equal(unlink(claim_path), 0);
	kill_and_reap(pid);
	assert_int_equal(exit_of(guarding), 80);
	assert_string_equal(fake_log(), LS RM LS);
}

/* What a descriptor of a process is, with how it may be used before it: "" for none. */
static const char *descriptor(pid_t pid, int fd)
{
	static char what[160];
	char path[64];
	struct stat st;
	ssize_t len;

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)pid, fd);
	len = readlink(path, what + 3, sizeof(what) - 4);
	if (len < 0 || lstat(path, &st) != 0)
		return "";
	what[0] = (st.st_mode & S_IRUSR) != 0 ? 'r' : '-';
	what[1] = (st.st_mode & S_IWUSR) != 0 ? 'w' : '-';
	what[2] = ' ';
	what[3 + len] = '\0';
	return what;
}

#define NULL_DEVICE "rw /dev/null"

static bool is_kept(const char *what)
{
	char claims[96], claim[160];

	snprintf(claims, sizeof(claims), "r- %s/claims", fake_dir);
	snprintf(claim, sizeof(claim), "rw %s", claim_path);
	return strcmp(what, NULL_DEVICE) == 0 || strncmp(what, "r- pipe:", 8) == 0 ||
	       strcmp(what, "rw anon_inode:[signalfd]") == 0 || strcmp(what, claims) == 0 ||
	       strcmp(what, claim) == 0 || strcmp(what, "rw /memfd:audit (deleted)") == 0;
}

/* The signals and the null device are child.c's (and of each set_up before); nothing
 * else stays open, however many there were. */
static void keeps_what_it_needs(void **state)
{
	const int own = memfd_create("stray", MFD_CLOEXEC);
	static const int strays[] = {200, 201, 203, 255};
	unsigned pipes = 0, memfds = 0, others = 0;
	pid_t guarding, pid;
	int64_t left = 2000;

	(void)state;
	for (size_t i = 0; i < sizeof(strays) / sizeof(strays[0]); i++)
		assert_int_equal(dup2(own, strays[i]), strays[i]);
	audit.fd = memfd_create("audit", MFD_CLOEXEC);
	assert_int_equal(dup2(audit.fd, 202), 202); /* between two, and the last one */
	close(audit.fd);
	audit.fd = 202;
	fake_does(":\n", ":\n");
	pid = executor(&guarding);
	while (left-- > 0 && strcmp(descriptor(guarding, STDERR_FILENO), NULL_DEVICE) != 0)
		usleep(10000);
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		assert_string_equal(descriptor(guarding, fd), NULL_DEVICE);
	for (int fd = STDERR_FILENO + 1; fd < 300; fd++) {
		const char *what = descriptor(guarding, fd);

		if (what[0] != '\0' && !is_kept(what))
			fail_msg("%d: %s", fd, what);
		pipes += strncmp(what, "r- pipe:", 8) == 0;
		memfds += strstr(what, "memfd") != NULL;
		others += what[0] != '\0';
	}
	assert_int_equal(pipes, 1);
	assert_int_equal(memfds, 1);
	assert_int_equal(others, 4 + 2 + 1); /* pipe, claim, claims, audit; child.c's; its own */
	kill_and_reap(pid);
	assert_int_equal(exit_of(guarding), 0);
	for (size_t i = 0; i < sizeof(strays) / sizeof(strays[0]); i++)
		close(strays[i]);
	close(own);
	close(audit.fd);
	audit.fd = -1;
}

static void keeps_the_claim_of_what_stays(void **state)
{
	pid_t guarding, pid;

	(void)state;
	fake_does("echo " FAKE_ID "\n", "exit 1\n");
	remove_seconds = 1;
	pid = executor(&guarding);
	remove_seconds = 60;
	kill_and_reap(pid);
	assert_int_equal(exit_of(guarding), 80);
	assert_true(claim_exists());
	assert_false(claim_is_held());
	assert_true(lock_is_free());
}

/* What stops an executor does not stop its guardian. */
static void goes_on_despite_signals(void **state)
{
	static const int signals[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT};
	pid_t guarding, pid;

	(void)state;
	fake_does("echo " FAKE_ID "\n:\n", ":\n");
	pid = executor(&guarding);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		assert_int_equal(kill(guarding, signals[i]), 0);
	kill_and_reap(pid);
	assert_int_equal(exit_of(guarding), 0);
	assert_string_equal(fake_log(), LS RM LS);
	assert_false(claim_exists());
}

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

static bool is_gone(pid_t pid)
{
	return kill(pid, 0) == -1 && errno == ESRCH;
}

static void ends_at_a_farewell(void **state)
{
	struct guardian guardian = {0};
	struct removal removal;
	struct state own;
	int64_t begun;
	pid_t pid;

	(void)state;
	fake_does("echo " FAKE_ID "\n", ":\n");
	assert_true(claims(&own, &removal));
	interruptions = 2;
	assert_true(guardian_start(&guardian, &own, &removal, &audit));
	interruptions = 0;
	pid = guardian.pid;
	assert_true(pid > 0);
	assert_true(is_open(guardian.farewell));
	farewell = guardian.farewell;
	said = 0;
	begun = child_now();
	guardian_end(&guardian);
	farewell = -1;
	assert_int_equal(said, 1);
	assert_int_equal(child_now() - begun, 1);
	assert_int_equal(guardian.pid, 0);
	assert_true(is_gone(pid)); /* reaped */
	assert_false(is_open(guardian.farewell));
	guardian_end(&guardian); /* none: nothing to do */
	assert_string_equal(fake_log(), "");
	assert_true(claim_exists());
	assert_true(claim_is_held());
	assert_true(state_drop_claim(&own));
	put_away(&own);
}

/* An old errno is not that of its read. */
static void a_farewell_is_no_failure(void **state)
{
	struct guardian guardian = {0};
	struct removal removal;
	struct state own;
	siginfo_t info;
	int end;

	(void)state;
	fake_does("echo " FAKE_ID "\n", ":\n");
	assert_true(claims(&own, &removal));
	end = open("/dev/null", O_RDONLY | O_CLOEXEC); /* the lowest that is free */
	close(end);
	errno = EINTR;
	assert_true(guardian_start(&guardian, &own, &removal, &audit));
	assert_false(is_open(end)); /* the pipe's end for reading is the guardian's alone */
	assert_int_equal(write(guardian.farewell, "12", 2), 2); /* it reads one */
	assert_int_equal(waitid(P_PID, (id_t)guardian.pid, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(info.si_code, CLD_EXITED);
	assert_int_equal(info.si_status, 0);
	guardian_end(&guardian);
	assert_string_equal(fake_log(), "");
	assert_true(state_drop_claim(&own));
	put_away(&own);
}

/* One that does not end is ended, a second later. */
static void may_be_stopped_itself(void **state)
{
	struct guardian guardian = {0};
	struct removal removal;
	struct state own;
	int64_t begun;
	int own_input = dup(STDIN_FILENO), ends[2];
	siginfo_t info;
	pid_t pid;

	(void)state;
	fake_does("echo " FAKE_ID "\n", ":\n");
	assert_true(launch(&own, &removal, &guardian));
	pid = guardian.pid;
	assert_int_equal(pipe(ends), 0); /* our input has come to its end: nobody looks */
	assert_int_equal(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
	close(ends[0]);
	close(ends[1]);
	assert_int_equal(kill(pid, SIGSTOP), 0);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WSTOPPED | WNOWAIT), 0);
	child_signal();
	fake_time->stuck = true;
	begun = child_now();
	guardian_end(&guardian);
	assert_int_equal(child_now() - begun, 1000);
	assert_int_equal(last_wait, 0); /* until it has ended */
	assert_int_equal(dup2(own_input, STDIN_FILENO), STDIN_FILENO);
	close(own_input);
	assert_int_equal(guardian.pid, 0);
	assert_true(is_gone(pid));
	assert_string_equal(fake_log(), "");
	put_away(&own);
}

static void cannot_always_be_started(void **state)
{
	struct guardian guardian = {0};
	struct removal removal;
	struct rlimit old, small;
	struct state own;
	bool started;

	(void)state;
	fake_does(":\n", ":\n");
	assert_true(claims(&own, &removal));
	no_fork = true;
	started = guardian_start(&guardian, &own, &removal, &audit);
	no_fork = false;
	assert_false(started);
	close(guardian.farewell);
	guardian = (struct guardian){0};
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	small = (struct rlimit){3, old.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &small), 0);
	started = guardian_start(&guardian, &own, &removal, &audit);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
	assert_false(started);
	assert_int_equal(guardian.pid, 0);
	assert_true(state_drop_claim(&own));
	put_away(&own);
}

static void may_be_killed_itself(void **state)
{
	struct guardian guardian = {0};
	struct removal removal;
	struct state own;
	siginfo_t info;

	(void)state;
	fake_does("echo " FAKE_ID "\n", ":\n");
	assert_true(launch(&own, &removal, &guardian));
	assert_int_equal(kill(guardian.pid, SIGKILL), 0);
	assert_int_equal(waitid(P_PID, (id_t)guardian.pid, &info, WEXITED | WNOWAIT), 0);
	guardian_end(&guardian);
	assert_int_equal(guardian.pid, 0);
	assert_string_equal(fake_log(), "");
	assert_true(claim_is_held());
	put_away(&own);
}

static void none_is_nothing_to_end(void **state)
{
	struct guardian guardian = {0};

	(void)state;
	guardian_end(&guardian);
	assert_int_equal(guardian.pid, 0);
	assert_int_equal(guardian.farewell, 0);
	assert_true(is_open(STDIN_FILENO)); /* and descriptor 0 is still open */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
		TEST(removes_for_a_killed_executor), TEST(holds_the_claim_and_not_the_lock),
		TEST(goes_on_when_interrupted),
		TEST(needs_no_close_range),
		TEST(removes_when_it_cannot_hear),
		TEST(settles),                       TEST(keeps_the_claim_of_what_stays),
		TEST(says_what_it_did),              TEST(says_that_the_claim_stays),
		TEST(keeps_what_it_needs),           TEST(goes_on_despite_signals),
		TEST(ends_at_a_farewell),            TEST(a_farewell_is_no_failure),
		TEST(may_be_stopped_itself),         TEST(cannot_always_be_started),
		TEST(may_be_killed_itself),          TEST(none_is_nothing_to_end),
#undef TEST
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

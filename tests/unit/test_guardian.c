/* SPDX-License-Identifier: ISC */
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
#include <sys/wait.h>
#include <unistd.h>

#include "../../executor/guardian.h"
#include "fake_docker.h"

#define NONCE "00112233445566778899aabbccddeeff"
#define OTHER "ffeeddccbbaa99887766554433221100"
#define LS FAKE_LS(NONCE)
#define RM FAKE_RM

static struct docker docker;
static char claim_path[128];

static int set_up(void **state)
{
	(void)state;
	umask(077);
	fake_make(&docker);
	snprintf(claim_path, sizeof(claim_path), "%s/claims/" NONCE, fake_dir);
	/* So that a guardian whose parent was killed becomes ours to wait for. */
	return child_set_up() && prctl(PR_SET_CHILD_SUBREAPER, 1) == 0 ? 0 : -1;
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

static const struct audit no_audit = {-1, 0};
static unsigned remove_seconds = 60; /* far above what a busy machine needs */

/* As the executor does: lock, claim, guardian. */
static bool launch(struct state *own, struct removal *removal, struct guardian *guardian)
{
	removal_init(removal, &docker, NONCE);
	removal->control_seconds = 20;
	removal->remove_seconds = remove_seconds;
	return state_open(own, fake_dir, "") == STATE_OK && state_lock(own, NONCE) == STATE_OK &&
	       state_claim(own, NONCE, "unix:///x") &&
	       guardian_start(guardian, own, removal, &no_audit);
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
	assert_true(child_now() - begun >= REMOVAL_QUIET_MS);
	assert_null(strstr(fake_log(), " rm "));
	assert_false(claim_exists());
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

static void ends_at_a_farewell(void **state)
{
	struct guardian guardian = {0};
	struct removal removal;
	struct state own;
	pid_t pid;

	(void)state;
	fake_does("echo " FAKE_ID "\n", ":\n");
	assert_true(launch(&own, &removal, &guardian));
	pid = guardian.pid;
	assert_true(pid > 0);
	guardian_end(&guardian);
	assert_int_equal(guardian.pid, 0);
	assert_int_equal(kill(pid, 0), -1); /* reaped */
	assert_int_equal(errno, ESRCH);
	guardian_end(&guardian); /* none: nothing to do */
	assert_string_equal(fake_log(), "");
	assert_true(claim_exists());
	assert_true(claim_is_held());
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
	assert_int_equal(fcntl(0, F_GETFD) >= 0, 1); /* and descriptor 0 is still open */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
		TEST(removes_for_a_killed_executor), TEST(holds_the_claim_and_not_the_lock),
		TEST(settles),                       TEST(keeps_the_claim_of_what_stays),
		TEST(goes_on_despite_signals),       TEST(ends_at_a_farewell),
		TEST(may_be_killed_itself),          TEST(none_is_nothing_to_end),
#undef TEST
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

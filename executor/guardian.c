/* SPDX-License-Identifier: ISC */
#include "guardian.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATIENCE_MS 1000

/* Closes everything above 2 but these and what child.c needs: not the lock, nor
 * whatever the caller has left open. */
static void keep_only(const int *keep, size_t count)
{
	int from = STDERR_FILENO + 1;

	for (;;) {
		int next = child_next_fd(from);

		for (size_t i = 0; i < count; i++)
			if (keep[i] >= from && keep[i] < next)
				next = keep[i];
		if (next > from)
			(void)close_range((unsigned)from, (unsigned)next - 1, 0);
		if (next == INT_MAX)
			return;
		from = next + 1;
	}
}

/* The guardian.  The executor's children die with it (PR_SET_PDEATHSIG), but a
 * create that one of them sent may still be carried out: hence settle. */
static _Noreturn void watch(int pipe, struct state *state, const struct removal *removal,
                            const struct audit *events)
{
	struct removal own = *removal;
	struct audit audit = *events;
	bool gone;
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	ssize_t n;
	char byte;

	keep_only((const int[]){null, pipe, state->claim, state->claims, events->fd}, 5);
	(void)setsid();
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		(void)dup2(null, fd); /* the caller need not wait for us to see end of file */
	child_shield(true);
	do
		n = read(pipe, &byte, 1);
	while (n < 0 && errno == EINTR);
	if (n == 1)
		_exit(0);
	gone = removal_run(&own, true);
	(void)!audit_say(&audit, gone ? AUDIT_REMOVED : AUDIT_RESIDUAL, state->claim_name, own.id,
	                 128 + SIGKILL, false);
	_exit(gone && state_drop_claim(state) ? 0 : 80);
}

bool guardian_start(struct guardian *guardian, struct state *state, const struct removal *removal,
                    const struct audit *events)
{
	int fd[2];

	if (pipe2(fd, O_CLOEXEC) != 0)
		return false;
	guardian->pid = fork();
	if (guardian->pid == 0) {
		close(fd[1]);
		watch(fd[0], state, removal, events);
	}
	close(fd[0]);
	guardian->farewell = fd[1];
	return guardian->pid > 0;
}

void guardian_end(struct guardian *guardian)
{
	int patience = PATIENCE_MS;
	pid_t ended = 0;

	if (guardian->pid <= 0)
		return;
	(void)!write(guardian->farewell, "", 1); /* one that was killed reads nothing */
	close(guardian->farewell);
	while (ended == 0 && patience-- > 0) {
		child_wait(NULL, 0, -1, 0, child_now() + 1);
		ended = waitpid(guardian->pid, NULL, WNOHANG);
	}
	if (ended == 0) { /* stopped, perhaps */
		kill(guardian->pid, SIGKILL);
		(void)waitpid(guardian->pid, NULL, 0);
	}
	guardian->pid = 0;
}

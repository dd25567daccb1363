/* SPDX-License-Identifier: ISC */
#include "guardian.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

/* The guardian.  The executor's children die with it (PR_SET_PDEATHSIG), but a
 * create that one of them sent may still be carried out: hence settle. */
static _Noreturn void watch(int pipe, struct state *state, const struct removal *removal)
{
	struct removal own = *removal;
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	ssize_t n;
	char byte;

	close(state->lock);
	(void)setsid();
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		(void)dup2(null, fd); /* the caller need not wait for us to see end of file */
	child_shield(true);
	do
		n = read(pipe, &byte, 1);
	while (n < 0 && errno == EINTR);
	_exit(n == 1 || (removal_run(&own, true) && state_drop_claim(state)) ? 0 : 80);
}

bool guardian_start(struct guardian *guardian, struct state *state, const struct removal *removal)
{
	int fd[2];

	if (pipe2(fd, O_CLOEXEC) != 0)
		return false;
	guardian->pid = fork();
	if (guardian->pid == 0) {
		close(fd[1]);
		watch(fd[0], state, removal);
	}
	close(fd[0]);
	guardian->farewell = fd[1];
	return guardian->pid > 0;
}

void guardian_end(struct guardian *guardian)
{
	if (guardian->pid <= 0)
		return;
	(void)!write(guardian->farewell, "", 1); /* one that was killed reads nothing */
	close(guardian->farewell);
	while (waitpid(guardian->pid, NULL, 0) < 0 && errno == EINTR)
		;
	guardian->pid = 0;
}

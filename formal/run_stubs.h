/* SPDX-License-Identifier: ISC */
#ifndef COFFERDAM_FORMAL_RUN_STUBS_H
#define COFFERDAM_FORMAL_RUN_STUBS_H

/*
 * For harnesses of the executor's actions, behind the module under proof: the parts
 * of run.c and child.c that decide nothing there, by what their headers say.
 */

bool run_stopped(struct run *of, enum child_wait wait, enum executor_reason late, const char *what,
                 unsigned seconds)
{
	(void)of;
	(void)late;
	(void)what;
	(void)seconds;
	return wait == CHILD_SIGNAL || wait == CHILD_DEADLINE;
}

enum life_event run_fail(struct run *of, enum executor_reason why, const char *format, ...)
{
	(void)of;
	(void)why;
	(void)format;
	return E_FAIL;
}

int64_t run_after(unsigned seconds)
{
	return seconds;
}

void run_close(int *fd, size_t count)
{
	for (size_t i = 0; i < count; i++)
		fd[i] = -1;
}

void child_finish(struct child *child)
{
	child->ended = true;
}

#endif

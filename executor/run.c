/* SPDX-License-Identifier: ISC */
#include "run.h"

#include <bsd/string.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

_Static_assert(TURN_BYTES_MAX == 2097152, "run_policy says it in words");

/* The gravest failure gives the exit status; of equals the first. */
void run_record(struct run *run, int status, const char *code, const char *reason)
{
	if (say_graver(run->status, status) == run->status)
		return;
	run->status = status;
	run->phase = run->action;
	strlcpy(run->code, code, sizeof(run->code));
	strlcpy(run->reason, reason, sizeof(run->reason));
}

enum life_event run_fail(struct run *run, enum executor_reason why, const char *format, ...)
{
	const struct say_row *row = say_row(why);
	va_list words;

	va_start(words, format);
	say_about(why, run->options->value[OPTION_JSON] != NULL, format, words);
	va_end(words);
	run_record(run, row->status + (why == WHY_SIGNALLED ? child_signal() : 0), row->code,
	       row->reason);
	return E_FAIL;
}

enum life_event run_fail_errno(struct run *run, enum executor_reason why, const char *what)
{
	return run_fail(run, why, "%s: %s", what, strerrordesc_np(errno));
}

/* With what the child wrote to its standard error. */
enum life_event run_fail_child(struct run *run, enum executor_reason why,
                                  const struct child *child, const char *what)
{
	static char text[SAY_CHILD];

	child_read(child->err, text, sizeof(text));
	return run_fail(run, why, "%s%s%s", what, text[0] != '\0' ? ": " : "", text);
}

/* One line in the audit file, if there is one. */
enum life_event run_log(struct run *run, enum audit_event what, int code)
{
	bool oom = what == AUDIT_EXIT && run->oom;

	if (audit_say(&run->events, what, run->nonce_hex, run->id, code, oom) ||
	    run->order.audit_optional)
		return E_OK;
	return run_fail_errno(run, WHY_AUDIT_EVENT, "writing");
}

enum life_event run_signalled(struct run *run)
{
	return run_fail(run, WHY_SIGNALLED, "signal %d", child_signal());
}

bool run_stopped(struct run *run, enum child_wait wait, enum executor_reason late,
                 const char *what, unsigned seconds)
{
	if (wait == CHILD_SIGNAL)
		run_signalled(run);
	if (wait == CHILD_DEADLINE)
		run_fail(run, late, "%s, %u seconds%s%s", what, seconds,
		         late == WHY_DOCKER_DEADLINE ? ", " : "",
		         late == WHY_DOCKER_DEADLINE ? run->docker.endpoint : "");
	return wait == CHILD_SIGNAL || wait == CHILD_DEADLINE;
}

enum life_event run_judged(struct run *run, const struct child *child)
{
	static char text[SAY_CHILD];
	char code[SAY_WORD], reason[SAY_WORD];
	size_t len;

	if (child->status == 0)
		return E_OK;
	len = child_read(child->err, text, sizeof(text));
	if (!say_refuses(child->status) || !say_refusal(text, len, code, reason))
		return run_fail(run, WHY_POLICY_CRASHED, "exit status %d %s", child->status, text);
	run_record(run, child->status, code, reason);
	return E_FAIL;
}

bool run_take_line(struct run *run, const struct child *child)
{
	const size_t len = child_length(child->out);
	const bool good = len > 1 && len <= sizeof(run->line) &&
	                  pread(child->out, run->line, len, 0) == (ssize_t)len &&
	                  run->line[0] == '{' && say_plain(run->line, len) &&
	                  memchr(run->line, '\n', len) == run->line + len - 1;

	run->line_bytes = good ? len : 0;
	if (!good)
		run_fail(run, WHY_POLICY_PROTOCOL, "%zu bytes that are not a line of text", len);
	return good;
}

int64_t run_after(unsigned seconds)
{
	return child_now() + (int64_t)seconds * 1000;
}

void run_policy(struct run *run, struct child *child, const char *command, int count,
                const int *fd)
{
	static const char *const env[] = {"LC_ALL=C", NULL};
	const char *argv[5] = {"cofferdam-policy", command};
	int words = 2;
	struct child_plan plan = {"", run->policy, argv, env, count, {0}};

	if (run->action == A_READ_TURN) /* the gate compares with limits.turnBytes */
		argv[words++] = "--max-bytes=2097152";
	if (run->options->value[OPTION_JSON] != NULL)
		argv[words] = "--json";
	memcpy(plan.fd, fd, (size_t)count * sizeof(fd[0]));
	child_start(child, &plan);
}

bool run_far_end_closed(int fd)
{
	struct pollfd end = {.fd = fd, .events = POLLIN};

	return poll(&end, 1, 0) > 0 && (end.revents & (POLLERR | POLLHUP)) != 0;
}

void run_close(int *fd, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (fd[i] >= 0)
			close(fd[i]);
		fd[i] = -1;
	}
}

bool run_same_roots(const struct run *run)
{
	static char path[PATH_BYTES_MAX + 1];
	bool same = true;

	for (unsigned i = 0; i < run->order.root_count; i++) {
		const struct identity *root = &run->order.root[i];
		struct stat st;
		int fd;

		gate_root(&run->gate, i, path);
		fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
		same = same && fd >= 0 && fstat(fd, &st) == 0 && st.st_dev == root->dev &&
		       st.st_ino == root->ino;
		if (fd >= 0)
			close(fd);
	}
	return same;
}

void run_tell(const struct run *run, const char *phase)
{
	const int fd = run->options->status_fd;
	char line[128];
	int len = snprintf(line, sizeof(line), "{\"run\":\"%s\",\"phase\":\"%s\"}\n",
	                   run->nonce_hex, phase);

	if (fd >= 0)
		(void)!child_put(fd, line, (size_t)len, child_now() + RUN_SAY_MS);
}

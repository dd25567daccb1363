/* SPDX-License-Identifier: ISC */
#include "ps.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "managed.h"
#include "say.h"
#include "self.h"

#define HELD_MAX 16384 /* claims; as PS_CLAIMS_MAX of policy/ps.h */
#define HELD_LINE (ID_HEX + 1)

/* The state directory's id and the runs whose claims are held, a line each. */
static char held[(1 + HELD_MAX) * HELD_LINE];
static size_t held_len;

static bool hold(const char *id)
{
	if (held_len + HELD_LINE > sizeof(held))
		return false;
	memcpy(held + held_len, id, ID_HEX);
	held[held_len + ID_HEX] = '\n';
	held_len += HELD_LINE;
	return true;
}

/* A claim that is still empty is its maker's to lock: a try at it would be in
 * the way (executor/state.c). */
static bool is_held(int claims, const char *name)
{
	int fd = openat(claims, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	bool busy = false;

	if (fd < 0)
		return false;
	if (fstat(fd, &st) == 0)
		busy = st.st_size == 0 ||
		       (flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK);
	close(fd);
	return busy;
}

static bool hold_if_held(struct managed *managed, const char *run)
{
	return !is_held(managed->state.claims, run) || hold(run);
}

/* The claims are read before and after: a run that begins or ends meanwhile is
 * nobody's orphan. */
static bool look(struct managed *managed, struct child *list)
{
	bool known = hold(managed->state.id) && managed_claims(managed, hold_if_held);

	if (!managed_list(managed, list, DOCKER_PS, NULL))
		return false;
	if (known && managed_claims(managed, hold_if_held) && child_seal(list->out) &&
	    lseek(list->out, 0, SEEK_SET) == 0)
		return true;
	managed_fail(managed, WHY_CLAIM, "%s", "they cannot be read, or are too many");
	return false;
}

/* The rows that policy made of it, and its objections to others. */
static void show(struct managed *managed, const struct child *child)
{
	static char bytes[SAY_CHILD];
	size_t len, left = child_length(child->out);
	bool good = true;

	for (off_t at = 0; good && left > 0; left -= len, at += (off_t)len) {
		len = left < sizeof(bytes) ? left : sizeof(bytes);
		good = pread(child->out, bytes, len, at) == (ssize_t)len && say_plain(bytes, len);
		if (!good)
			managed_fail(managed, WHY_POLICY_PROTOCOL, "%s", "not a text");
		good = good && managed_put(managed, bytes, len);
	}
	if (child->status != 0)
		managed_judge(managed, child);
}

static void format(struct managed *managed, int list)
{
	static char own[SELF_PATH], path[SELF_PATH];
	static const char *const env[] = {"LC_ALL=C", NULL};
	bool json = managed->options->value[OPTION_JSON] != NULL;
	const char *const argv[] = {"cofferdam-policy", "ps", json ? "--json" : NULL, NULL};
	struct child_plan plan = {"", -1, argv, env, 4, {list, -1, -1, -1}};
	enum executor_reason why = self_policy(&plan.program, own, path);
	const int claims = plan.fd[3] = child_document(held, held_len);
	struct child child;
	enum child_wait wait;

	if (why != WHY_NONE) {
		managed_fail(managed, why, "%s", path);
		return;
	}
	(void)lseek(claims, 0, SEEK_SET); /* policy finds nothing there when that failed */
	child_start(&child, &plan);
	wait = child_wait(&child, 1, -1, 0, child_now() + MANAGED_MS);
	if (wait == CHILD_DEADLINE)
		managed_fail(managed, WHY_POLICY_DEADLINE, "ps, %d seconds", MANAGED_MS / 1000);
	else if (wait != CHILD_SIGNAL)
		show(managed, &child);
	child_finish(&child);
}

int ps_run(const struct options *options)
{
	static struct managed managed;
	struct child list;

	if (managed_open(&managed, options)) {
		if (look(&managed, &list))
			format(&managed, list.out);
		child_finish(&list);
	}
	return managed_end(&managed);
}

/* SPDX-License-Identifier: ISC */
#include "removal.h"

#include <stdio.h>
#include <string.h>

#include "holes.h"

/* Looks at the engine, and retries, are so far apart at first and at last. */
#define PAUSE_MS 50
#define PAUSE_MAX_MS 1000

void removal_init(struct removal *removal, const struct docker *docker, const char *nonce)
{
	*removal = (struct removal){.docker = docker};
	(void)snprintf(removal->run, sizeof(removal->run), "label=dev.cofferdam.run=%s", nonce);
}

bool removal_take_id(struct removal *removal, const struct child *child)
{
	char line[CONTAINER_ID + 2];

	child_read(child->out, line, sizeof(line));
	if (child_length(child->out) != CONTAINER_ID + 1 ||
	    strspn(line, HEX) != CONTAINER_ID || line[CONTAINER_ID] != '\n')
		return false;
	memcpy(removal->id, line, CONTAINER_ID);
	return true;
}

enum removal_look removal_look(struct removal *removal, int64_t deadline)
{
	int64_t limit = child_now() + (int64_t)removal->control_seconds * 1000;
	enum removal_look found = REMOVAL_UNKNOWN;
	struct child child;

	docker_start(&child, removal->docker, DOCKER_FIND, removal->run, -1, -1);
	child_wait(&child, 1, -1, 0, limit < deadline ? limit : deadline);
	if (child.ended && child.status == 0) {
		if (child_length(child.out) == 0)
			found = REMOVAL_GONE;
		else if (removal_take_id(removal, &child))
			found = REMOVAL_THERE;
	}
	child_finish(&child);
	return found;
}

static void ask_to_remove(const struct removal *removal)
{
	struct child child;

	docker_start(&child, removal->docker, DOCKER_REMOVE, removal->id, -1, -1);
	child_wait(&child, 1, -1, 0, child_now() + (int64_t)removal->control_seconds * 1000);
	child_finish(&child);
}

bool removal_run(struct removal *removal, bool settle)
{
	int64_t deadline = child_now() + (settle ? REMOVAL_QUIET_MS : 0) +
	                   (int64_t)removal->remove_seconds * 1000;
	int64_t pause = PAUSE_MS, quiet = 0, begun;

	while ((begun = child_now()) < deadline) {
		bool known = removal->id[0] != '\0';
		enum removal_look found;

		if (known)
			ask_to_remove(removal);
		found = removal_look(removal, deadline);
		if (found == REMOVAL_GONE && (known || !settle || (quiet != 0 && begun >= quiet)))
			return true;
		if (!known && found == REMOVAL_THERE)
			continue;
		/* From the first answer on: an engine that stood still may have the
		 * create still before it. */
		if (found != REMOVAL_GONE)
			quiet = 0;
		else if (quiet == 0)
			quiet = child_now() + REMOVAL_QUIET_MS;
		if (child_wait(NULL, 0, -1, 0, child_now() + pause) == CHILD_SIGNAL)
			return false;
		pause = 2 * pause < PAUSE_MAX_MS ? 2 * pause : PAUSE_MAX_MS;
	}
	return false;
}

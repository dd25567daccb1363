/* SPDX-License-Identifier: ISC */
#include "reap.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "managed.h"

/* Locks a missing claim by making it: a launch makes its own before it creates a
 * container, so that of a container that docker lists is never about to come. */
static bool take_claim(struct managed *managed, const char *id, const char *run)
{
	struct state *state = &managed->state;
	char line[sizeof("created \n") + CONTAINER_ID];

	(void)snprintf(line, sizeof(line), "created %s\n", id);
	if (state_claim(state, run) && state_claim_say(state, line))
		return true;
	if (state->claim < 0 && errno == EEXIST) /* else somebody's, or a launch's in the making */
		return state_adopt(state, run, MANAGED_QUIET_SECONDS);
	managed_fail(managed, WHY_CLAIM, "%s: %s", run, strerrordesc_np(errno));
	if (state->claim >= 0)
		managed_drop(managed, true);
	return false;
}

static void reap_one(struct managed *managed, const char *id, const char *run)
{
	if (take_claim(managed, id, run))
		managed_drop(managed, managed_remove(managed, id, run));
}

/* A claim without a container; one with a container was seen to above. */
static bool is_stale(void *context, const char *run)
{
	struct removal removal;

	return child_signal() == 0 && managed_look(context, &removal, run) == REMOVAL_GONE;
}

int reap_run(const struct options *options)
{
	static struct managed managed;

	if (managed_open(&managed, options) &&
	    managed_each(&managed, DOCKER_OURS, NULL, NULL, reap_one) >= 0)
		state_reap(&managed.state, UINT_MAX, MANAGED_QUIET_SECONDS, is_stale, &managed);
	return managed_end(&managed);
}

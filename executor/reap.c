/* SPDX-License-Identifier: ISC */
#include "reap.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "managed.h"

/* Locks a missing claim by making it: a launch makes its own before it creates a
 * container, so that of a container that docker lists is never about to come. */
static bool take_claim(struct managed *managed, const char *id, const char *run)
{
	struct state *state = &managed->state;
	const char *endpoint = managed->docker.endpoint;
	char line[sizeof("created \n") + CONTAINER_ID];
	bool created;

	(void)snprintf(line, sizeof(line), "created %s\n", id);
	if (state_claim(state, run, endpoint) && state_claim_say(state, line))
		return true;
	if (state->claim < 0 && errno == EEXIST) /* else somebody's, or a launch's in the making */
		return state_adopt(state, run, endpoint, MANAGED_QUIET_SECONDS, &created);
	managed_fail(managed, WHY_CLAIM, "%s: %s", run, strerrordesc_np(errno));
	if (state->claim >= 0)
		managed_drop(managed, true);
	return false;
}

static void reap_one(struct managed *managed, const char *id, const char *run)
{
	if (take_claim(managed, id, run))
		managed_drop(managed, managed_remove(managed, id, run, false));
	else if (state_spoilt(&managed->state, run, MANAGED_QUIET_SECONDS))
		managed_fail(managed, WHY_RESIDUAL,
		             "container %s of run %s at %s: its claim is spoilt or of another "
		             "endpoint; cofferdam stop %s",
		             id, run, managed->docker.endpoint, run);
}

/* A claim without a container; one with a container was seen to above.  One that
 * does not say that its container was created may still get it. */
static bool drop_stale(struct managed *managed, const char *run)
{
	struct removal removal;
	bool created = false;

	if (!state_adopt(&managed->state, run, managed->docker.endpoint, MANAGED_QUIET_SECONDS,
	                 &created))
		return child_signal() == 0;
	managed_drop(managed, created ? managed_look(managed, &removal, run) == REMOVAL_GONE
	                              : managed_remove(managed, "", run, true));
	return child_signal() == 0;
}

int reap_run(const struct options *options)
{
	static struct managed managed;

	if (managed_open(&managed, options) &&
	    managed_each(&managed, DOCKER_OURS, NULL, NULL, reap_one) >= 0 &&
	    !managed_claims(&managed, drop_stale) && child_signal() == 0)
		managed_fail(&managed, WHY_CLAIM, "%s", "they cannot be read");
	return managed_end(&managed);
}

/* SPDX-License-Identifier: ISC */
#include "stop.h"

#include <stdio.h>
#include <string.h>

#include "gate.h"
#include "holes.h"
#include "managed.h"

/* The claim of a run that nobody owned goes too. */
static void stop_one(struct managed *managed, const char *id, const char *run)
{
	bool created;

	if (managed_remove(managed, id, run, false) &&
	    state_adopt(&managed->state, run, managed->docker.endpoint, MANAGED_QUIET_SECONDS,
	                &created))
		managed_drop(managed, true);
}

/* All containers that carry a label. */
static void stop_all(struct managed *managed, const char *label, const char *value,
                     const char *run)
{
	char filter[sizeof("label=dev.cofferdam.session=") + SESSION_KEY_BYTES_MAX];

	(void)snprintf(filter, sizeof(filter), "label=dev.cofferdam.%s=%s", label, value);
	if (managed_each(managed, DOCKER_OURS_WITH, filter, run, stop_one) == 0)
		managed_fail(managed, WHY_NO_RUN, "%s %s", label, value);
}

static bool is_run(const char *word)
{
	return strspn(word, HEX) == ID_HEX && word[ID_HEX] == '\0';
}

/* docker cuts blanks off a filter's end: it would find another session. */
static bool is_key(const char *word)
{
	return gate_session_key(word) && word[strlen(word) - 1] != ' ';
}

static bool understood(struct managed *managed, const struct options *options)
{
	const char *session = options->value[OPTION_SESSION], *wrong = NULL;

	managed->options = options;
	if ((session != NULL) == (options->operands > 0))
		wrong = "name runs, or --session KEY, and not both";
	else if (session != NULL && !is_key(session))
		wrong = session;
	for (int i = 0; wrong == NULL && i < options->operands; i++)
		wrong = is_run(options->operand[i]) ? NULL : options->operand[i];
	if (wrong != NULL)
		managed_fail(managed, WHY_USAGE, "cofferdam stop: %s", wrong);
	return wrong == NULL;
}

int stop_run(const struct options *options)
{
	static struct managed managed;

	if (!understood(&managed, options) || !managed_open(&managed, options))
		return managed_end(&managed);
	if (options->value[OPTION_SESSION] != NULL)
		stop_all(&managed, "session", options->value[OPTION_SESSION], NULL);
	for (int i = 0; i < options->operands && child_signal() == 0; i++)
		stop_all(&managed, "run", options->operand[i], options->operand[i]);
	return managed_end(&managed);
}

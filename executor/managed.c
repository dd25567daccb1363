/* SPDX-License-Identifier: ISC */
#include "managed.h"

#include <bsd/string.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gate.h"
#include "holes.h"
#include "removal.h"
#include "say.h"
#include "self.h"

#define SAY_MS 5000
#define ENDPOINT_BYTES sizeof(((struct docker *)NULL)->endpoint)
#define ROW (CONTAINER_ID + 1 + ID_HEX + 1) /* id, blank, run, newline */
#define ROW_RUN (CONTAINER_ID + 1)

/* Everything said so far; a signal that has come does not keep it back. */
static void tell(struct managed *managed, int status)
{
	size_t len;
	const char *text = say_text(&len);

	managed->status = say_graver(managed->status, status);
	child_shield(true);
	(void)!child_put(STDERR_FILENO, text, len, child_now() + SAY_MS);
	child_shield(false);
	say_clear();
}

void managed_fail(struct managed *managed, enum executor_reason why, const char *format, ...)
{
	int status = say_row(why)->status + (why == WHY_SIGNALLED ? child_signal() : 0);
	va_list words;

	va_start(words, format);
	say_about(why, managed->options->value[OPTION_JSON] != NULL, format, words);
	va_end(words);
	tell(managed, status);
}

void managed_judge(struct managed *managed, const struct child *policy)
{
	static char text[SAY_CHILD];
	char code[SAY_WORD], reason[SAY_WORD];
	size_t len = child_read(policy->err, text, sizeof(text));

	if (policy->status == say_row(WHY_DOCKER_FAILED)->status &&
	    say_refusal(text, len, code, reason))
		tell(managed, policy->status);
	else
		managed_fail(managed, WHY_POLICY_CRASHED, "exit status %d %s", policy->status, text);
}

static const char *choose_endpoint(const struct options *options)
{
	const char *given = options->value[OPTION_HOST], *variable = getenv("DOCKER_HOST");

	if (given != NULL)
		return given;
	return variable != NULL && variable[0] != '\0' ? variable : MANAGED_HOST;
}

/* As a launch names it, and its claim.  One that does not exist is docker's to say. */
static bool canonical(char to[ENDPOINT_BYTES], const char *url)
{
	static char path[PATH_MAX];
	const char *given = url + strlen("unix://");
	int len = snprintf(to, ENDPOINT_BYTES, "unix://%s", realpath(given, path) ? path : given);

	return len > 0 && (size_t)len < ENDPOINT_BYTES && gate_endpoint(to);
}

bool managed_endpoint(const struct options *options, struct docker *docker, const char **asked)
{
	*asked = choose_endpoint(options);
	return gate_endpoint(*asked) && canonical(docker->endpoint, *asked);
}

static enum executor_reason set_up(struct managed *managed, const char **detail)
{
	static char home[SELF_PATH], audit[SELF_PATH];
	const struct options *options = managed->options;
	struct docker *docker = &managed->docker;
	enum executor_reason why = self_start();

	if (why != WHY_NONE)
		return why;
	self_home(home, sizeof(home));
	*detail = options->value[OPTION_AUDIT];
	if (*detail != NULL &&
	    (why = self_audit(*detail, &managed->events.fd, audit)) != WHY_NONE)
		return why;
	if (!managed_endpoint(options, docker, detail))
		return WHY_ENDPOINT;
	*detail = docker->path;
	if ((why = self_docker(options->value[OPTION_DOCKER], docker->path)) != WHY_NONE)
		return why;
	*detail = managed->state.path;
	if (state_open(&managed->state, options->value[OPTION_STATE_DIR], home) != STATE_OK)
		return WHY_STATE_UNSAFE;
	*detail = "a file that the state directory needs is named";
	if (state_holds(&managed->state, audit))
		return WHY_USAGE;
	docker_environment(docker, managed->state.path, managed->state.id);
	*detail = "signals";
	return child_set_up() && chdir("/") == 0 ? WHY_NONE : WHY_START;
}

bool managed_open(struct managed *managed, const struct options *options)
{
	const char *detail = "";
	enum executor_reason why;

	managed->options = options;
	managed->events.fd = -1;
	if ((why = set_up(managed, &detail)) != WHY_NONE)
		managed_fail(managed, why, "%s%s%s", detail, managed->state.wrong != NULL ? ": " : "",
		             managed->state.wrong != NULL ? managed->state.wrong : "");
	return why == WHY_NONE;
}

bool managed_list(struct managed *managed, struct child *list, enum docker_command command,
                  const char *subject)
{
	static char text[SAY_CHILD];
	enum child_wait wait;

	docker_start(list, &managed->docker, command, subject, -1, -1);
	wait = child_wait(list, 1, -1, 0, child_now() + MANAGED_MS);
	child_read(list->err, text, sizeof(text));
	if (child_length(list->out) > CHILD_OUT_MAX - CHILD_PAGE) /* docker does not mind */
		wait = CHILD_FAILED;
	if (wait == CHILD_FAILED || wait == CHILD_DEADLINE)
		managed_fail(managed,
		             wait == CHILD_FAILED ? WHY_DOCKER_FAILED : WHY_DOCKER_DEADLINE,
		             "docker container ls at %s, %zu bytes: %s", managed->docker.endpoint,
		             child_length(list->out), text);
	return wait == CHILD_DONE;
}

/* Reads line i; every line has the same length.  row holds ROW bytes and a NUL. */
static bool read_row(int list, size_t i, char *row, const char *run)
{
	row[ROW] = '\0';
	return pread(list, row, ROW, (off_t)(i * ROW)) == ROW &&
	       strspn(row, HEX) == CONTAINER_ID && row[CONTAINER_ID] == ' ' &&
	       strspn(row + ROW_RUN, HEX) == ID_HEX && row[ROW - 1] == '\n' &&
	       (run == NULL || memcmp(row + ROW_RUN, run, ID_HEX) == 0);
}

long managed_each(struct managed *managed, enum docker_command command, const char *subject,
                  const char *run,
                  void (*act)(struct managed *managed, const char *id, const char *run))
{
	struct child list;
	bool good = managed_list(managed, &list, command, subject);
	size_t count = child_length(list.out) / ROW;
	char row[ROW + 1];

	if (good) {
		good = child_length(list.out) % ROW == 0;
		for (size_t i = 0; good && i < count; i++)
			good = read_row(list.out, i, row, run);
		if (!good)
			managed_fail(managed, WHY_DOCKER_FAILED, "%s",
			             "docker container ls printed something else than ids and runs");
	}
	for (size_t i = 0; good && i < count && child_signal() == 0; i++) {
		if (!read_row(list.out, i, row, run))
			break;
		row[CONTAINER_ID] = row[ROW - 1] = '\0';
		act(managed, row, row + ROW_RUN);
	}
	child_finish(&list);
	return good ? (long)count : -1;
}

enum removal_look managed_look(struct managed *managed, struct removal *removal,
                               const char *run)
{
	enum removal_look found;

	removal_init(removal, &managed->docker, run);
	removal->control_seconds = removal->remove_seconds = MANAGED_MS / 1000;
	found = removal_look(removal, INT64_MAX);
	if (found == REMOVAL_UNKNOWN && child_signal() == 0)
		managed_fail(managed, WHY_DOCKER_FAILED, "docker container ls, of run %s at %s", run,
		             managed->docker.endpoint);
	return found;
}

/* One line in the audit file, if there is one. */
static void log_event(struct managed *managed, enum audit_event what, const char *run,
                      const char *id, int code)
{
	if (!audit_say(&managed->events, what, run, id, code, false))
		managed_fail(managed, WHY_AUDIT_EVENT, "%s", "writing");
}

bool managed_remove(struct managed *managed, const char *id, const char *run, bool settle)
{
	struct removal removal;
	char line[ROW + 1];

	if (managed_look(managed, &removal, run) == REMOVAL_GONE && !settle)
		return true;
	strlcpy(removal.id, id, sizeof(removal.id));
	if (removal_run(&removal, settle)) {
		(void)snprintf(line, sizeof(line), "%s %s\n", removal.id, run);
		if (removal.id[0] == '\0')
			return true;
		log_event(managed, AUDIT_REAPED, run, removal.id, 0);
		managed_put(managed, line, ROW);
		return true;
	}
	log_event(managed, AUDIT_RESIDUAL, run, removal.id, say_row(WHY_RESIDUAL)->status);
	if (child_signal() == 0)
		managed_fail(managed, WHY_RESIDUAL, "container %s of run %s at %s",
		             removal.id[0] != '\0' ? removal.id : "of unknown id", run,
		             managed->docker.endpoint);
	return false;
}

bool managed_claims(struct managed *managed, bool (*act)(struct managed *managed, const char *run))
{
	int copy = openat(managed->state.claims, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *claims = copy < 0 ? NULL : fdopendir(copy);
	const struct dirent *entry;
	bool good = claims != NULL;

	/* readdir(3) leaves errno alone at the end, and only there. */
	for (errno = 0; good && (entry = readdir(claims)) != NULL; errno = 0)
		if (strspn(entry->d_name, HEX) == ID_HEX && entry->d_name[ID_HEX] == '\0')
			good = act(managed, entry->d_name);
	good = good && errno == 0;
	if (claims != NULL)
		closedir(claims);
	return good;
}

void managed_drop(struct managed *managed, bool gone)
{
	if (!gone) {
		close(managed->state.claim);
		managed->state.claim = -1;
	} else if (!state_drop_claim(&managed->state)) {
		managed_fail(managed, WHY_LOCK_CHANGED, "%s", "claim");
	}
}

bool managed_put(struct managed *managed, const char *bytes, size_t len)
{
	bool good = child_put(STDOUT_FILENO, bytes, len, INT64_MAX);

	if (!good && child_signal() == 0)
		managed_fail(managed, WHY_OUTPUT, "standard output: %s", strerrordesc_np(errno));
	return good;
}

int managed_end(struct managed *managed)
{
	if (child_signal() != 0)
		managed_fail(managed, WHY_SIGNALLED, "signal %d", child_signal());
	return managed->status;
}

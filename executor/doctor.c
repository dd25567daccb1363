/* SPDX-License-Identifier: ISC */
#include "doctor.h"

#include <bsd/string.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "engine.h"
#include "gate.h"
#include "managed.h"
#include "say.h"
#include "self.h"

/* landlock_create_ruleset(2), which headers older than Linux 5.13 lack; the flag
 * asks for the ABI's version. */
#define LL_CREATE 444
#define LL_VERSION 1U

enum verdict { OK, WARN, FAIL, UNKNOWN };

/* What a check found.  found is any bytes; it is escaped when it is shown. */
struct finding {
	enum verdict verdict;
	int status; /* FAIL: the exit status that a launch would end with */
	char reason[SAY_WORD];
	const char *mend;
	char found[SAY_CHILD];
};

static struct managed managed;
static char home[SELF_PATH];
static const char *line[ENGINE_LINES];
static char text[SAY_CHILD], error[SAY_CHILD]; /* of the last child */
static int status;

static const char *given(enum option option)
{
	return managed.options->value[option];
}

/* WHY_NONE: all is well.  Else the words are the reason's, before those given. */
__attribute__((format(printf, 3, 4))) static void note(struct finding *out,
                                                       enum executor_reason why,
                                                       const char *format, ...)
{
	const struct say_row *row = say_row(why);
	char detail[SAY_CHILD / 2];
	va_list words;

	va_start(words, format);
	(void)vsnprintf(detail, sizeof(detail), format, words);
	va_end(words);
	out->verdict = why == WHY_NONE ? OK : FAIL;
	out->status = row->status;
	out->mend = row->hint;
	strlcpy(out->reason, row->reason, sizeof(out->reason));
	(void)snprintf(out->found, sizeof(out->found), "%s%s%s", row->sentence,
	               why == WHY_NONE ? "" : ": ", detail);
}

static void warn(struct finding *out, const char *mend)
{
	out->verdict = WARN;
	out->status = 0;
	out->reason[0] = '\0';
	out->mend = mend;
}

/* --- the user, the machine and our own files --------------------------------- */

static void look_user(struct finding *out)
{
	enum executor_reason why = self_start();
	unsigned uid = getuid(), gid = getgid();

	if (why == WHY_NONE && !child_set_up())
		why = WHY_START;
	self_home(home, sizeof(home));
	note(out, why, "uid %u, gid %u, %s", uid, gid, home[0] != '\0' ? home : "no home directory");
	if (why == WHY_NONE && home[0] == '\0')
		warn(out, "give the user a home directory, or name --state-dir in every command");
	if (why == WHY_NONE && (uid > ID_MAX || gid < ID_MIN || gid > ID_MAX))
		warn(out, "name user.uid and user.gid in the config, from 1 to 2147483647");
}

static void look_landlock(struct finding *out)
{
	long abi = syscall(LL_CREATE, NULL, (size_t)0, LL_VERSION);
	struct utsname kernel = {0};

	(void)uname(&kernel); /* it cannot fail */
	note(out, abi < 1 ? WHY_LANDLOCK : WHY_NONE, "kernel %s, ABI %ld", kernel.release, abi);
}

/* Runs a child to its end: text, error and status are what it left. */
static enum child_wait finish(struct child *child)
{
	enum child_wait wait = child_wait(child, 1, -1, 0, child_now() + MANAGED_MS);

	child_read(child->out, text, sizeof(text));
	child_read(child->err, error, sizeof(error));
	child_finish(child);
	status = child->status;
	return wait;
}

static bool run_policy(struct finding *out, const char *const *argv, const char *const *env)
{
	static char own[SELF_PATH], path[SELF_PATH];
	struct child_plan plan = {"", -1, argv, env, 3, {child_document("{}\n", 3), -1, -1}};
	enum executor_reason why = self_policy(&plan.program, own, path);
	struct child child;

	if (why == WHY_NONE && lseek(plan.fd[0], 0, SEEK_SET) != 0)
		why = WHY_START;
	if (why == WHY_NONE) {
		child_start(&child, &plan);
		why = finish(&child) == CHILD_DEADLINE ? WHY_POLICY_DEADLINE : WHY_NONE;
		close(plan.program);
	}
	close(plan.fd[0]);
	note(out, why, "%s%s", path, why == WHY_NONE ? " confines itself" : "");
	return why == WHY_NONE;
}

/* A policy process that passes a document on has confined itself. */
static void look_policy(struct finding *out)
{
	static const char *const argv[] = {"cofferdam-policy", "json", NULL};
	static const char *const env[] = {"LC_ALL=C", NULL};

	if (run_policy(out, argv, env) && strcmp(text, "{}\n") != 0)
		note(out, WHY_POLICY_CRASHED, "exit status %d %s", status, error);
}

static const char *variable(char *to, const char *name, const char *instead)
{
	const char *value = instead != NULL ? instead : getenv(name);

	(void)snprintf(to, SELF_PATH, "%s=%s", name, value != NULL ? value : "");
	return to;
}

/* cofferdam-policy check, which is told what a launch would be told. */
static void look_config(struct finding *out)
{
	static char path[SELF_PATH], host[SELF_PATH], agent[SELF_PATH], state[SELF_PATH];
	const char *const argv[] = {"cofferdam-policy", "check", "-c", path, NULL};
	const char *const env[] = {"LC_ALL=C", variable(host, "DOCKER_HOST", given(OPTION_HOST)),
	                           variable(agent, "SSH_AUTH_SOCK", NULL),
	                           variable(state, "STATE_DIRECTORY", given(OPTION_STATE_DIR)), NULL};
	char code[SAY_WORD];
	int fd;
	const char *named = self_config_named(given(OPTION_CONFIG));
	enum executor_reason why = self_config(given(OPTION_CONFIG), home, &fd, path);

	note(out, why, "%s: %s", named != NULL ? named : SELF_PLACES,
	     why == WHY_CONFIG_OPEN ? strerrordesc_np(errno) : path);
	if (why == WHY_CONFIG_OPEN && named == NULL && errno == ENOENT)
		warn(out, "name it with -c FILE, here and in every launch");
	if (fd >= 0)
		close(fd);
	if (why != WHY_NONE || !run_policy(out, argv, env))
		return;
	note(out, WHY_NONE, "%s: allowed", path);
	if (status == 0)
		return;
	if (!say_refuses(status) || !say_refusal(error, strlen(error), code, out->reason)) {
		note(out, WHY_POLICY_CRASHED, "exit status %d %s", status, error);
		return;
	}
	say_clear();
	out->verdict = FAIL;
	out->status = status;
	out->mend = "mend what is named; cofferdam-policy explain tells more";
	strlcpy(out->found, error, sizeof(out->found));
}

/* A launch would make it: could it?  path is cut to what is there. */
static bool could_make(char *path)
{
	struct stat st;
	bool good;
	int fd;

	if (path[0] != '/' && realpath(".", path) == NULL)
		return false;
	while (lstat(path, &st) != 0 && errno == ENOENT && strrchr(path, '/') > path)
		*strrchr(path, '/') = '\0';
	good = self_safe(path, geteuid(), true) && access(path, W_OK | X_OK) == 0;
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	good = good && fd >= 0 && state_local(fd);
	if (fd >= 0)
		close(fd);
	return good;
}

static void look_state(struct finding *out)
{
	static char path[STATE_PATH];
	struct state *state = &managed.state;
	struct stat st;
	bool good;

	if (!state_choose(path, given(OPTION_STATE_DIR), home)) {
		note(out, WHY_STATE_UNSAFE, "none is named, and there is no home directory");
	} else if (lstat(path, &st) != 0 && errno == ENOENT) {
		good = could_make(path);
		note(out, good ? WHY_NONE : WHY_STATE_UNSAFE, "a launch has to make it, in %s", path);
	} else if (state_open(state, given(OPTION_STATE_DIR), home) != STATE_OK) {
		note(out, WHY_STATE_UNSAFE, "%s: %s", path, state->wrong);
	} else {
		good = flock(state->dir, LOCK_SH | LOCK_NB) == 0 || errno == EWOULDBLOCK;
		note(out, good ? WHY_NONE : WHY_STATE_UNSAFE, "%s: locks %s", state->path,
		     good ? "work" : "do not work");
	}
}

/* --- docker and its engine ----------------------------------------------------- */

/* Runs a docker command.  False: on record, as `why` when docker says no. */
static bool ask(struct finding *out, enum docker_command command, const char *subject,
                enum executor_reason why)
{
	struct child child;
	enum child_wait wait;

	docker_start(&child, &managed.docker, command, subject, -1, -1);
	wait = finish(&child);
	if (wait != CHILD_DONE)
		note(out, wait == CHILD_DEADLINE ? WHY_DOCKER_DEADLINE : why, "exit status %d, %s",
		     status, error);
	return wait == CHILD_DONE;
}

/* Its configuration directory is one that never exists: nothing of the user's is
 * read, and the state directory need not be there. */
static void look_client(struct finding *out)
{
	char *path = managed.docker.path;
	enum executor_reason why = self_docker(given(OPTION_DOCKER), path);

	docker_environment(&managed.docker, "/nonexistent", "");
	if (why == WHY_NONE && strcmp(strrchr(path, '/'), "/snap") == 0) /* what its links lead to */
		why = WHY_ENDPOINT_FOREIGN;
	note(out, why, "%s", given(OPTION_DOCKER) != NULL ? given(OPTION_DOCKER) : "the one built in");
	if (why != WHY_NONE || !ask(out, DOCKER_CLIENT, NULL, WHY_DOCKER_FAILED))
		return;
	note(out, WHY_NONE, "%s, %s", path, text);
	if (strncmp(text, "Docker version ", 15) != 0)
		warn(out, "use Docker's own program: docker.io, docker-cli or docker-ce-cli");
}

static enum executor_reason judge_socket(const char *path, const struct stat *st)
{
	/* Of engines that do not see this host's files. */
	static const char *const foreign[] = {"/.docker/desktop/", "/.docker/run/", "/snap/docker/",
	                                      "/run/snap.docker/"};
	char parent[SELF_PATH];

	for (size_t i = 0; i < sizeof(foreign) / sizeof(foreign[0]); i++)
		if (strstr(path, foreign[i]) != NULL)
			return WHY_ENDPOINT_FOREIGN;
	if (!S_ISSOCK(st->st_mode))
		return WHY_ENDPOINT_SOCKET;
	if ((st->st_uid != 0 && st->st_uid != geteuid()) || (st->st_mode & S_IWOTH) != 0)
		return WHY_ENDPOINT_OWNER;
	strlcpy(parent, path, sizeof(parent));
	*strrchr(parent, '/') = '\0';
	if (parent[0] != '\0' && !self_safe(parent, geteuid(), true))
		return WHY_ENDPOINT_ANCESTOR;
	return access(path, R_OK | W_OK) == 0 ? WHY_NONE : WHY_ENDPOINT_DENIED;
}

static void look_endpoint(struct finding *out)
{
	const char *asked, *path = managed.docker.endpoint + strlen("unix://");
	struct stat st = {0};
	char detail[128];

	if (!managed_endpoint(managed.options, &managed.docker, &asked)) {
		note(out, WHY_ENDPOINT, "%s", asked);
		return;
	}
	if (stat(path, &st) != 0)
		(void)snprintf(detail, sizeof(detail), "%s", strerrordesc_np(errno));
	else
		(void)snprintf(detail, sizeof(detail), "uid %u, gid %u, mode %04o", st.st_uid,
		               st.st_gid, st.st_mode & 07777U);
	note(out, judge_socket(path, &st), "%s: %s", managed.docker.endpoint, detail);
}

static void look_engine(struct finding *out)
{
	static char version[SAY_CHILD], info[SAY_CHILD];

	if (!ask(out, DOCKER_VERSION, NULL, WHY_DOCKER_FAILED))
		return;
	memcpy(version, text, sizeof(version));
	if (!ask(out, DOCKER_INFO, NULL, WHY_DOCKER_FAILED))
		return;
	memcpy(info, text, sizeof(info));
	if (engine_lines(version, line, ENGINE_VERSION_LINES) &&
	    engine_lines(info, line + ENGINE_VERSION_LINES, ENGINE_INFO_LINES))
		note(out, WHY_NONE, "version %s: %s", line[ENGINE_SERVER], line[ENGINE_PARTS]);
	else
		note(out, WHY_DOCKER_FAILED, "it answers something else than it was asked for");
}

/* Goes by API versions: all releases of one ask for, and are asked for, the same. */
static void look_versions(struct finding *out)
{
	int order;
	bool good = engine_compare(line[ENGINE_CLIENT_API], line[ENGINE_API], &order);

	note(out, !good ? WHY_DOCKER_FAILED : order < 0 ? WHY_DOCKER_OLD : WHY_NONE,
	     "docker %s speaks API %s, its engine %s speaks %s", line[ENGINE_CLIENT],
	     line[ENGINE_CLIENT_API], line[ENGINE_SERVER], line[ENGINE_API]);
}

static void look_line(struct finding *out, const char *check, enum engine_line shown)
{
	static const struct engine_rule fine = {.why = WHY_NONE, .said = ""};
	const struct engine_rule *rule = engine_judge(check, line);

	shown = rule != NULL ? rule->line : shown;
	rule = rule != NULL ? rule : &fine;
	note(out, rule->why, "%s%s", rule->said, line[shown]);
	if (rule->why == WHY_NONE && rule->mend != NULL)
		warn(out, rule->mend);
	if (rule->mend != NULL)
		out->mend = rule->mend;
}

static void look_image(struct finding *out)
{
	const char *image = given(OPTION_IMAGE), *of[ENGINE_IMAGE_LINES] = {"", "", ""};
	enum executor_reason why = WHY_NONE;

	if (!gate_image_reference(image))
		why = WHY_IMAGE_GRAMMAR;
	else if (!ask(out, DOCKER_IMAGE_LINES, image, WHY_IMAGE_ABSENT))
		return;
	else if (!engine_lines(text, of, ENGINE_IMAGE_LINES))
		why = WHY_DOCKER_FAILED;
	else if (strcmp(of[ENGINE_IMAGE_OS], "linux") != 0)
		why = WHY_IMAGE_OS;
	else if (of[ENGINE_IMAGE_VOLUMES][0] != '\0')
		why = WHY_IMAGE_VOLUME;
	note(out, why, "%s %s %s", image, of[ENGINE_IMAGE_OS], of[ENGINE_IMAGE_ID]);
}

/* --- all of them --------------------------------------------------------------- */

/* What other checks need. */
#define USER 1U
#define POLICY 2U
#define CLIENT 4U
#define ENDPOINT 8U
#define ENGINE 16U

static const struct check {
	const char *name;
	unsigned needs; /* not looked at unless these passed */
	unsigned is; /* what it is to others */
	void (*look)(struct finding *out); /* NULL: by the rules of executor/engine.c */
	enum engine_line line; /* with those: shown when nothing is the matter */
} checks[] = {
	{"user", 0, USER, look_user, 0},
	{"landlock", 0, 0, look_landlock, 0},
	{"policy", USER, POLICY, look_policy, 0},
	{"config", USER | POLICY, 0, look_config, 0},
	{"state", USER, 0, look_state, 0},
	{"docker", USER, CLIENT, look_client, 0},
	{"endpoint", USER, ENDPOINT, look_endpoint, 0},
	{"engine", CLIENT | ENDPOINT, ENGINE, look_engine, 0},
	{"versions", ENGINE, 0, look_versions, 0},
	{"kind", ENGINE, 0, NULL, ENGINE_SYSTEM},
	{"seccomp", ENGINE, 0, NULL, ENGINE_SECURITY},
	{"lsm", ENGINE, 0, NULL, ENGINE_SECURITY},
	{"cgroup", ENGINE, 0, NULL, ENGINE_CGROUP},
	{"memory", ENGINE, 0, NULL, ENGINE_MEMORY},
	{"swap", ENGINE, 0, NULL, ENGINE_SWAP},
	{"cpu", ENGINE, 0, NULL, ENGINE_CPU},
	{"pids", ENGINE, 0, NULL, ENGINE_PIDS},
	{"warnings", ENGINE, 0, NULL, ENGINE_WARNINGS},
	{"image", ENGINE, 0, look_image, 0},
};
#define CHECKS (sizeof(checks) / sizeof(checks[0]))

static bool show(const char *check, const struct finding *finding)
{
	static const char *const names[] = {"ok", "warn", "fail", "unknown"};
	static char found[SAY_CHILD], quoted[2 * SAY_CHILD], mend[SAY_CHILD], shown[4 * SAY_CHILD];
	const char *verdict = names[finding->verdict];
	size_t len = say_escape(found, sizeof(found), finding->found, strlen(finding->found), ' ');

	for (; len > 0 && found[len - 1] == ' '; len--)
		found[len - 1] = '\0';
	say_quote(quoted, sizeof(quoted), found);
	say_quote(mend, sizeof(mend), finding->mend);
	if (given(OPTION_JSON) != NULL)
		(void)snprintf(shown, sizeof(shown),
		               "{\"check\":\"%s\",\"verdict\":\"%s\",\"found\":%s,\"mend\":%s,"
		               "\"reason\":\"%s\",\"exit\":%d}\n",
		               check, verdict, quoted, mend, finding->reason, finding->status);
	else
		(void)snprintf(shown, sizeof(shown), "%-7s %-8s %s%s%s\n", verdict, check, found,
		               finding->mend[0] != '\0' ? "; mend: " : "", finding->mend);
	return managed_put(&managed, shown, strlen(shown));
}

int doctor_run(const struct options *options)
{
	static struct finding finding;
	unsigned not_passed = 0;

	managed.options = options;
	for (const struct check *at = checks; at < checks + CHECKS; at++) {
		if (at->look == look_image && given(OPTION_IMAGE) == NULL)
			continue;
		finding = (struct finding){.verdict = UNKNOWN, .mend = "see the failure above"};
		if ((at->needs & not_passed) != 0)
			strlcpy(finding.found, "not looked at", sizeof(finding.found));
		else if (at->look != NULL)
			at->look(&finding);
		else
			look_line(&finding, at->name, at->line);
		if (child_signal() != 0 || !show(at->name, &finding))
			break;
		if (finding.verdict >= FAIL)
			not_passed |= at->is;
		if (managed.status == 0)
			managed.status = finding.status;
	}
	return managed_end(&managed);
}

/* SPDX-License-Identifier: ISC */
#include <string.h>

#include "build.h"
#include "decide.h"
#include "endpoint.h"
#include "mounts.h"
#include "path.h"
#include "resolve.h"
#include "utf8.h"

/* What docker(1) uses when nothing says otherwise. */
#define DOCKER_DEFAULT "unix:///var/run/docker.sock"
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* A container engine, or something else that acts for whoever may write to
 * it. */
static const char *const ENGINES[] = {
	"/run/docker.sock",
	"/var/run/docker.sock",
	"/run/podman/podman.sock",
	"/run/containerd/containerd.sock",
	"/run/k3s/containerd/containerd.sock",
	"/run/crio/crio.sock",
	"/run/buildkit/buildkitd.sock",
	"/run/libvirt/libvirt-sock",
	"/var/run/libvirt/libvirt-sock",
	"/var/lib/lxd/unix.socket",
	"/var/lib/incus/unix.socket",
	"/var/snap/lxd/common/lxd/unix.socket",
	"/run/dbus/system_bus_socket",
	"/run/systemd/private",
};

/* Below /run/user/UID. */
static const char *const USER_ENGINES[] = {
	"docker.sock",
	"podman/podman.sock",
	"bus",
	"gnupg",
	"systemd/private",
};

/* Below the caller's home. */
static const char *const SECRETS[] = {
	".ssh",
	".gnupg",
	".aws",
	".azure",
	".docker",
	".kube",
	".config/gcloud",
	".config/gh",
	".netrc",
	".git-credentials",
	".password-store",
	".local/share/keyrings",
};

/* stateFile, SSH_AUTH_SOCK, config, audit, worker's log, two programs, docker,
 * state directory. */
#define NAMED_MAX 9
#define PROTECTED_MAX \
	(COUNT(ENGINES) + COUNT(USER_ENGINES) + COUNT(SECRETS) + NAMED_MAX + PRIVATE_MAX)

/* One decision at a time: a place is 10 KB, too much for a stack. */
static struct place places[PROTECTED_MAX];
static struct mounts_protected guarded[PROTECTED_MAX];

struct judge {
	const struct config *config;
	const struct facts *facts;
	const struct decide_asker *asker; /* never NULL here */
	bool offline;
	struct text *arena;
	struct decision *out;
	struct report *report;
	struct image image; /* when out->image_known */
	uint32_t guarded_count;
};

static bool given(const char *text)
{
	return text != NULL && text[0] != '\0';
}

/* A C string made of parts, in the arena: from mark = arena->len on. */
static const char *kept(struct judge *j, size_t mark)
{
	text_bytes(j->arena, "", 1);
	if (j->arena->full) {
		report_add(j->report, REASON_PLAN_TOO_LARGE, "");
		return "";
	}
	return j->arena->at + mark;
}

static const char *joined(struct judge *j, const char *head, const char *tail)
{
	size_t mark = j->arena->len;

	text_string(j->arena, head);
	text_string(j->arena, tail);
	return kept(j, mark);
}

/* "/mounts/3/host" and its like. */
static const char *pointer_at(struct judge *j, const char *head, uint32_t index, const char *tail)
{
	size_t mark = j->arena->len;

	text_string(j->arena, head);
	text_u64(j->arena, index);
	text_string(j->arena, tail);
	return kept(j, mark);
}

/* Did the config's own rules refuse what stands there?  Then no rule here adds
 * to it: `check` judges a config that has faults, too. */
static bool blamed(const struct judge *j, const char *pointer)
{
	bool found = false;

	for (uint32_t i = 0; i < j->report->count; i++)
		found = found || strcmp(j->report->at[i].pointer, pointer) == 0;
	return found;
}

static void examine(const struct judge *j, const char *path, struct place *out)
{
	if (j->offline)
		resolve_text(path, out);
	else
		resolve_place(path, j->facts->uid, out);
}

static void judge_mode(struct judge *j)
{
	j->out->launch.mode = j->config->mode;
	if (j->config->mode != j->facts->mode)
		report_add_text(j->report, REASON_CONFIG_MODE, "/mode", "the command is for",
		                j->facts->mode == MODE_TURN ? "turn" : "session",
		                j->facts->mode == MODE_TURN ? 4 : 7);
}

/* Ids that the config gives were judged there; 0 is refused again all the
 * same. */
static void judge_user(struct judge *j)
{
	struct launch *launch = &j->out->launch;
	bool own = j->config->user_given;

	launch->uid = own ? j->config->uid : j->facts->uid;
	launch->gid = own ? j->config->gid : j->facts->gid;
	if (own && (blamed(j, "/user/uid") || blamed(j, "/user/gid")))
		return;
	if (launch->uid < ID_MIN || launch->gid < ID_MIN)
		report_add(j->report, REASON_USER_ROOT, own ? "/user" : "");
	else if (launch->uid > ID_MAX || launch->gid > ID_MAX)
		report_add(j->report, REASON_USER_RANGE, own ? "/user" : "");
}

/* The endpoint that the config (then *pointer is set), the environment or docker's
 * context names; or docker's default when nobody could be asked (then *assumed is). */
static const char *endpoint_source(struct judge *j, const char **pointer, bool *assumed)
{
	if (j->config->docker_host != NULL) {
		*pointer = "/docker/host";
		return j->config->docker_host;
	}
	if (given(j->facts->docker_host))
		return j->facts->docker_host;
	if (j->asker->endpoint != NULL)
		return j->asker->endpoint(j->asker->context, j->arena, j->report);
	*assumed = true;
	return DOCKER_DEFAULT;
}

/* An endpoint that nobody named need not be there: `check` needs no docker. */
static void judge_endpoint(struct judge *j)
{
	struct place *place = &j->out->endpoint;
	uint32_t before = j->report->count + j->report->dropped;
	const char *pointer = "";
	bool assumed = false;
	const char *url = endpoint_source(j, &pointer, &assumed);
	const char *path = NULL;

	if (url != NULL && (pointer[0] == '\0' || !blamed(j, pointer)))
		path = endpoint_path(url, pointer, j->report);
	if (path == NULL)
		return;
	examine(j, path, place);
	if (assumed && (place->state == PLACE_MISSING || place->state == PLACE_ABSENT))
		resolve_text(joined(j, place->path, ""), place);
	endpoint_judge(place, j->facts->uid, pointer, j->report);
	if (j->report->count + j->report->dropped == before)
		j->out->launch.endpoint = joined(j, "unix://", place->path);
}

static void add_root(struct judge *j, struct mounts_item *items, const char *host,
                     const char *guest, const char *pointer, bool read_only, bool is_file)
{
	struct launch *launch = &j->out->launch;
	uint16_t at = launch->root_count;
	struct place *place;
	struct root *root;

	if (host == NULL || guest == NULL || at >= ROOTS_MAX || blamed(j, pointer))
		return;
	place = &j->out->root[at];
	root = &launch->root[at];
	examine(j, host, place);
	j->out->asked[at] = host;
	root->path = place->path;
	root->guest = guest;
	root->read_only = read_only;
	root->is_file = is_file;
	root->dev = place->state == PLACE_EXISTS ? place->self.dev : 0;
	root->ino = place->state == PLACE_EXISTS ? place->self.ino : 0;
	items[at].place = place;
	items[at].pointer = pointer;
	items[at].is_file = is_file;
	launch->root_count++;
}

static void guard_place(struct judge *j, const struct place *place, const char *what)
{
	guarded[j->guarded_count].place = place;
	guarded[j->guarded_count].what = what;
	j->guarded_count++;
}

/* A path that is known by its name only, and often not ours to look at: when
 * it cannot be examined, its text is compared. */
static void guard(struct judge *j, const char *path, const char *what)
{
	struct place *place;

	if (path == NULL || path[0] != '/' || j->guarded_count >= PROTECTED_MAX)
		return;
	place = &places[j->guarded_count];
	examine(j, path, place);
	if (place->state == PLACE_UNKNOWN)
		resolve_text(path, place);
	if (place->state == PLACE_DEEP)
		report_add_text(j->report, REASON_PRIVATE_EXAMINE, "", what, path, strlen(path));
	/* The endpoint has a rule and a reason of its own. */
	else if (j->out->launch.endpoint == NULL || !mounts_same(place, &j->out->endpoint))
		guard_place(j, place, what);
}

/* A path that the operator named as private: nothing may stay unknown of it. */
static void guard_private(struct judge *j, const char *path, const char *what, const char *pointer)
{
	struct place *place;

	if (path == NULL || j->guarded_count >= PROTECTED_MAX || blamed(j, pointer))
		return;
	place = &places[j->guarded_count];
	examine(j, path, place);
	if (place->state == PLACE_UNKNOWN || place->state == PLACE_DEEP)
		report_add_text(j->report, REASON_PRIVATE_EXAMINE, pointer, what, path,
		                strlen(path));
	else
		guard_place(j, place, what);
}

static void guard_all(struct judge *j)
{
	const struct facts *facts = j->facts;
	const char *home = facts->home;

	for (uint32_t i = 0; i < j->config->private_count && i < PRIVATE_MAX; i++)
		guard_private(j, j->config->private_path[i], "a private path",
		              pointer_at(j, "/privatePaths/", i, ""));
	guard_private(j, j->config->state_file, "the state file", "/stateFile");
	for (size_t i = 0; i < COUNT(ENGINES); i++)
		guard(j, ENGINES[i], "an engine's socket");
	for (size_t i = 0; i < COUNT(USER_ENGINES); i++)
		guard(j, joined(j, pointer_at(j, "/run/user/", facts->uid, "/"), USER_ENGINES[i]),
		      "a socket of your own");
	for (size_t i = 0; given(home) && i < COUNT(SECRETS); i++)
		guard(j, joined(j, home, joined(j, "/", SECRETS[i])), "secrets in your home");
	guard(j, facts->ssh_auth_sock, "the SSH agent's socket");
	guard(j, facts->config, "the config file");
	guard(j, facts->audit, "the audit file");
	guard(j, facts->worker_err, "the worker's log");
	guard(j, facts->executor, "the cofferdam program");
	guard(j, facts->policy, "the cofferdam-policy program");
	guard(j, facts->docker, "the docker program");
	guard(j, facts->state_dir, "the state directory");
}

static void judge_inside(struct judge *j, const struct mounts_item *items, uint32_t count)
{
	const struct place *socket = &j->out->endpoint;

	if (j->out->launch.endpoint == NULL)
		return;
	for (uint32_t i = 0; i < count; i++) {
		const struct place *place = items[i].place;

		if (place->state != PLACE_EXISTS && place->state != PLACE_TEXT)
			continue;
		if (mounts_relate(place, socket) != MOUNTS_DISJOINT)
			report_add_text(j->report, REASON_ENDPOINT_INSIDE, items[i].pointer,
			                "the socket", socket->path, socket->len);
	}
}

static void judge_mounts(struct judge *j)
{
	static struct mounts_item items[ROOTS_MAX];
	const struct config *config = j->config;

	for (uint32_t i = 0; i < config->mount_count && i < MOUNTS_MAX; i++)
		add_root(j, items, config->mount[i].host, config->mount[i].guest,
		         pointer_at(j, "/mounts/", i, "/host"), config->mount[i].read_only, false);
	if (config->bundle_given)
		add_root(j, items, config->bundle_host, config->bundle_guest, "/bundle/host", true,
		         true);
	guard_all(j);
	mounts_judge(items, j->out->launch.root_count, guarded, j->guarded_count, j->report);
	judge_inside(j, items, j->out->launch.root_count);
}

static void judge_image(struct judge *j)
{
	const struct config *config = j->config;
	struct launch *launch = &j->out->launch;

	j->out->image = config->image;
	launch->image_id = config->image_id != NULL ? config->image_id : config->image;
	if (j->asker->image == NULL || launch->endpoint == NULL || config->image == NULL ||
	    blamed(j, "/image"))
		return;
	if (!j->asker->image(j->asker->context, launch->endpoint, config->image, j->arena,
	                     &j->image, j->report))
		return;
	j->out->image_known = true;
	launch->image_id = j->image.id;
	if (config->image_id != NULL && strcmp(config->image_id, j->image.id) != 0)
		report_add_text(j->report, REASON_IMAGE_ID, "/imageId", "docker has", j->image.id,
		                strlen(j->image.id));
}

/* No control bytes but those in `save`, and UTF-8. */
static bool plain(const char *word, const char *save)
{
	size_t len = strlen(word);

	for (size_t i = 0; i < len; i++)
		if (((unsigned char)word[i] < 0x20 || word[i] == 0x7f) &&
		    strchr(save, word[i]) == NULL)
			return false;
	return utf8_valid(word, len);
}

static void add_words(struct judge *j, const struct words *from, uint16_t first,
                      const char *pointer)
{
	struct words *to = &j->out->launch.command;

	for (uint16_t i = first; i < from->count && i < WORDS_MAX; i++) {
		if (to->count == WORDS_MAX) {
			report_add(j->report, REASON_PLAN_TOO_LARGE, pointer);
			return;
		}
		if (from->at[i] != NULL)
			to->at[to->count++] = from->at[i];
	}
}

/*
 * What runs, as docker itself would compose it (docker run reference,
 * "Overriding image defaults"): an entrypoint of the config drops the image's
 * CMD too; the rest of the image's ENTRYPOINT stands before the command; and
 * where there is no entrypoint, the command's first word is it.
 */
static void compose_command(struct judge *j)
{
	static const struct words none;
	const struct config *config = j->config;
	struct launch *launch = &j->out->launch;
	const struct words *entry = j->out->image_known ? &j->image.entrypoint : &none;
	const struct words *command = j->out->image_known ? &j->image.command : &none;
	const char *pointer = config->command_given ? "/command" : "";

	if (config->command_given)
		command = &config->command;
	else if (config->entrypoint != NULL)
		command = &none;
	launch->entrypoint = config->entrypoint;
	if (launch->entrypoint != NULL || !j->out->image_known) {
		add_words(j, command, 0, pointer);
	} else if (entry->count > 0) {
		launch->entrypoint = entry->at[0];
		add_words(j, entry, 1, "");
		add_words(j, command, 0, pointer);
	} else if (command->count > 0) {
		launch->entrypoint = command->at[0];
		add_words(j, command, 1, pointer);
	}
}

/* The config's own words were judged there; the image's and their mixture
 * here.  A script is one word: it may hold newlines and tabs. */
static void judge_command(struct judge *j)
{
	const struct launch *launch = &j->out->launch;
	const char *entry;

	compose_command(j);
	entry = launch->entrypoint;
	if (!j->out->image_known)
		return;
	if (entry == NULL)
		report_add(j->report, REASON_IMAGE_COMMAND, "/entrypoint");
	else if (entry[0] == '\0' || entry[0] == '-' || !plain(entry, ""))
		report_add_text(j->report, REASON_COMMAND_WORD,
		                j->config->entrypoint != NULL ? "/entrypoint" : "",
		                "the entrypoint", entry, strlen(entry));
	for (uint16_t i = 0; i < launch->command.count; i++)
		if (!plain(launch->command.at[i], "\n\t"))
			report_add_text(j->report, REASON_COMMAND_WORD,
			                j->config->command_given ? "/command" : "",
			                "a command word", launch->command.at[i],
			                strlen(launch->command.at[i]));
}

/* A working directory under /proc could be a leaked descriptor's directory
 * (CVE-2024-21626). */
static void judge_workdir(struct judge *j)
{
	static const char *const forbidden[] = {"/proc", "/sys", "/dev"};
	const char *workdir = j->config->workdir;
	size_t len;
	bool good;

	if (workdir == NULL)
		workdir = j->out->image_known ? j->image.workdir : "/";
	else if (blamed(j, "/workdir"))
		return;
	len = strlen(workdir);
	good = path_canonical(workdir, len) && len <= PATH_BYTES_MAX && plain(workdir, "");
	for (size_t i = 0; i < COUNT(forbidden) && good; i++)
		good = !path_contains(forbidden[i], strlen(forbidden[i]), workdir, len);
	if (!good)
		report_add_text(j->report, REASON_WORKDIR_PATH, "/workdir",
		                j->config->workdir != NULL ? "the config's" : "the image's",
		                workdir, len);
	j->out->launch.workdir = workdir;
}

/* Do two NAME=value (or key=value) texts have the same name? */
static bool same_name(const char *a, const char *b)
{
	size_t len = strcspn(a, "=");

	return len == strcspn(b, "=") && memcmp(a, b, len) == 0;
}

static bool named_in(const char *entry, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (same_name(entry, list[i]))
			return true;
	return false;
}

/* What the image adds and nothing of ours replaces; *to is empty. */
static void keep_inherited(const struct inherited *from, const char *const *ours, size_t count,
                           struct inherited *to)
{
	for (uint16_t i = 0; i < from->count && i < INHERITED_MAX; i++)
		if (!named_in(from->at[i], ours, count))
			to->at[to->count++] = from->at[i];
}

static void compose_environment(struct judge *j)
{
	static const char *const labels[] = {
		"dev.cofferdam.state",   "dev.cofferdam.run",      "dev.cofferdam.mode",
		"dev.cofferdam.session", "dev.cofferdam.revision", "dev.cofferdam.roots",
	};
	struct launch *launch = &j->out->launch;

	launch->env[0] = "HOME=/tmp/home";
	launch->env_count = 1;
	for (uint32_t i = 0; i < j->config->env_count && i < ENV_MAX; i++)
		if (j->config->env[i] != NULL)
			launch->env[launch->env_count++] = j->config->env[i];
	if (!j->out->image_known)
		return;
	keep_inherited(&j->image.env, launch->env, launch->env_count, &launch->image_env);
	keep_inherited(&j->image.labels, labels, COUNT(labels), &launch->image_labels);
}

static void compose_name(struct judge *j)
{
	struct launch *launch = &j->out->launch;
	const char *name = j->facts->name;
	size_t mark = j->arena->len;

	if (name != NULL) {
		if (!config_name(name, strlen(name)))
			report_add_text(j->report, REASON_NAME_GRAMMAR, "", "--name", name,
			                strlen(name));
		launch->name = name;
		return;
	}
	if (j->config->name != NULL) {
		launch->name = j->config->name;
		return;
	}
	text_string(j->arena, "cofferdam-");
	text_hex(j->arena, launch->nonce, sizeof(launch->nonce));
	launch->name = kept(j, mark);
}

static void compose_rest(struct judge *j)
{
	struct launch *launch = &j->out->launch;

	launch->init = j->config->init;
	launch->state_id = j->facts->state_id;
	launch->session = j->config->session_key != NULL ? j->config->session_key : "";
	launch->revision = j->config->session_revision;
	launch->runtime = j->config->docker_runtime;
	launch->audit_optional = j->config->audit_optional;
	launch->limits = j->config->limits;
	compose_environment(j);
	compose_name(j);
}

static void freeze(struct judge *j)
{
	struct launch *launch = &j->out->launch;

	if (!report_empty(j->report))
		return;
	launch->roots_label = build_roots_label(launch, j->arena);
	if (!build_argv(launch, j->arena)) /* without the label neither */
		report_add(j->report, REASON_PLAN_TOO_LARGE, "");
}

void decide(const struct config *config, const struct facts *facts,
            const struct decide_options *options, const struct decide_asker *asker,
            struct text *arena, struct decision *out, struct report *report)
{
	static const struct decide_asker nobody;
	static struct judge judge;
	struct judge *j = &judge;

	memset(out, 0, sizeof(*out));
	memset(j, 0, sizeof(*j));
	j->config = config;
	j->facts = facts;
	j->asker = asker != NULL ? asker : &nobody;
	j->offline = options->offline;
	j->arena = arena;
	j->out = out;
	j->report = report;
	memcpy(out->launch.nonce, facts->nonce, sizeof(out->launch.nonce));
	judge_mode(j);
	judge_user(j);
	judge_endpoint(j);
	judge_mounts(j);
	judge_image(j);
	judge_command(j);
	judge_workdir(j);
	compose_rest(j);
	freeze(j);
}

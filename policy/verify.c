/* SPDX-License-Identifier: ISC */
#include "verify.h"

#include <string.h>

#include "config.h"
#include "want.h"

/* The values of a plan that stand in docker's description as one text. */
enum asked {
	ASKED_NONE,
	ASKED_IMAGE,
	ASKED_NAME,
	ASKED_USER,
	ASKED_WORKDIR,
	ASKED_ENTRYPOINT,
	ASKED_MEMORY,
	ASKED_NANO_CPUS,
	ASKED_PIDS,
	ASKED_SHM,
	ASKED_INIT,
};

enum kind {
	KIND_WRITTEN, /* this JSON text, or the other */
	KIND_STRING, /* a string of the plan */
	KIND_PLAIN, /* a number or a boolean of the plan */
	KIND_ENTRYPOINT,
	KIND_COMMAND,
	KIND_ENVIRONMENT,
	KIND_LABELS,
	KIND_RUNTIME,
	KIND_ULIMITS,
	KIND_TMPFS,
	KIND_MASKED,
	KIND_READONLY,
	KIND_REQUESTED, /* HostConfig.Mounts: what the engine was asked for */
	KIND_MOUNTS, /* Mounts: what it made of that */
	KIND_NETWORKS,
	KIND_PROFILE,
};

struct row {
	const char *path[WANT_PATH]; /* keys from the root, NULL after the last */
	enum kind kind;
	enum asked asked;
	const char *text;
	const char *other; /* a second form that says the same */
	bool optional; /* to leave it out says the same too */
};

static const struct row rows[] = {
	{ { "Image" }, .kind = KIND_STRING, .asked = ASKED_IMAGE },
	{ { "Name" }, .kind = KIND_STRING, .asked = ASKED_NAME },
	{ { "Platform" }, .kind = KIND_WRITTEN, .text = "\"linux\"" },
	{ { "Path" }, .kind = KIND_STRING, .asked = ASKED_ENTRYPOINT },
	{ { "Args" }, .kind = KIND_COMMAND },
	{ { "AppArmorProfile" }, .kind = KIND_PROFILE, .optional = true },
	{ { "Mounts" }, .kind = KIND_MOUNTS },
	{ { "NetworkSettings", "Networks" }, .kind = KIND_NETWORKS },

	{ { "Config", "User" }, .kind = KIND_STRING, .asked = ASKED_USER },
	{ { "Config", "Tty" }, .kind = KIND_WRITTEN, .text = "false" },
	{ { "Config", "OpenStdin" }, .kind = KIND_WRITTEN, .text = "true" },
	{ { "Config", "Env" }, .kind = KIND_ENVIRONMENT },
	{ { "Config", "Entrypoint" }, .kind = KIND_ENTRYPOINT },
	{ { "Config", "Cmd" }, .kind = KIND_COMMAND },
	{ { "Config", "Image" }, .kind = KIND_STRING, .asked = ASKED_IMAGE },
	{ { "Config", "WorkingDir" }, .kind = KIND_STRING, .asked = ASKED_WORKDIR },
	{ { "Config", "Labels" }, .kind = KIND_LABELS },
	{ { "Config", "Volumes" },
	  .kind = KIND_WRITTEN,
	  .text = "null",
	  .other = "{}",
	  .optional = true },
	/* Beside NONE the rest of Healthcheck is the image's, and unused. */
	{ { "Config", "Healthcheck", "Test" }, .kind = KIND_WRITTEN, .text = "[\"NONE\"]" },

	{ { "HostConfig", "Memory" }, .kind = KIND_PLAIN, .asked = ASKED_MEMORY },
	{ { "HostConfig", "MemorySwap" }, .kind = KIND_PLAIN, .asked = ASKED_MEMORY },
	{ { "HostConfig", "NanoCpus" }, .kind = KIND_PLAIN, .asked = ASKED_NANO_CPUS },
	{ { "HostConfig", "PidsLimit" }, .kind = KIND_PLAIN, .asked = ASKED_PIDS },
	{ { "HostConfig", "ShmSize" }, .kind = KIND_PLAIN, .asked = ASKED_SHM },
	{ { "HostConfig", "Init" }, .kind = KIND_PLAIN, .asked = ASKED_INIT },
	{ { "HostConfig", "Ulimits" }, .kind = KIND_ULIMITS },
	{ { "HostConfig", "Tmpfs" }, .kind = KIND_TMPFS },
	{ { "HostConfig", "Mounts" }, .kind = KIND_REQUESTED },
	{ { "HostConfig", "Runtime" }, .kind = KIND_RUNTIME },
	{ { "HostConfig", "MaskedPaths" }, .kind = KIND_MASKED },
	{ { "HostConfig", "ReadonlyPaths" }, .kind = KIND_READONLY },
	{ { "HostConfig", "NetworkMode" }, .kind = KIND_WRITTEN, .text = "\"none\"" },
	{ { "HostConfig", "ReadonlyRootfs" }, .kind = KIND_WRITTEN, .text = "true" },
	{ { "HostConfig", "Privileged" }, .kind = KIND_WRITTEN, .text = "false" },
	{ { "HostConfig", "CapDrop" }, .kind = KIND_WRITTEN, .text = "[\"ALL\"]" },
	{ { "HostConfig", "CapAdd" }, .kind = KIND_WRITTEN, .text = "null", .other = "[]" },
	{ { "HostConfig", "SecurityOpt" },
	  .kind = KIND_WRITTEN,
	  .text = "[\"no-new-privileges:true\"]",
	  .other = "[\"no-new-privileges\"]" },
	{ { "HostConfig", "IpcMode" }, .kind = KIND_WRITTEN, .text = "\"private\"" },
	{ { "HostConfig", "CgroupnsMode" }, .kind = KIND_WRITTEN, .text = "\"private\"" },
	{ { "HostConfig", "PidMode" }, .kind = KIND_WRITTEN, .text = "\"\"" },
	{ { "HostConfig", "UTSMode" }, .kind = KIND_WRITTEN, .text = "\"\"" },
	{ { "HostConfig", "UsernsMode" }, .kind = KIND_WRITTEN, .text = "\"\"" },
	{ { "HostConfig", "OomKillDisable" },
	  .kind = KIND_WRITTEN,
	  .text = "false",
	  .other = "null" },
	{ { "HostConfig", "ConsoleSize" },
	  .kind = KIND_WRITTEN,
	  .text = "[0,0]",
	  .optional = true },
	{ { "HostConfig", "LogConfig", "Type" }, .kind = KIND_WRITTEN, .text = "\"none\"" },
	{ { "HostConfig", "LogConfig", "Config" },
	  .kind = KIND_WRITTEN,
	  .text = "{}",
	  .other = "null" },
	{ { "HostConfig", "RestartPolicy", "Name" },
	  .kind = KIND_WRITTEN,
	  .text = "\"no\"",
	  .other = "\"\"" },
	{ { "HostConfig", "RestartPolicy", "MaximumRetryCount" },
	  .kind = KIND_WRITTEN,
	  .text = "0" },
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))

/* Members of Config that are the image's or the engine's own choice and
 * isolate nothing. */
static const char *const config_free[] = {
	"Hostname",   "AttachStdin", "AttachStdout", "AttachStderr", "StdinOnce",
	"StopSignal", "StopTimeout", "ExposedPorts", "OnBuild",      "Shell",
	"NetworkDisabled", "ArgsEscaped", NULL,
};
static const char *const free_none[] = { NULL };

/* Objects in which every member is named above, is free, or says nothing. */
static const struct {
	const char *path[WANT_PATH];
	const char *const *unchecked;
} closed[] = {
	{ { "Config" }, config_free },
	{ { "HostConfig" }, free_none },
	{ { "HostConfig", "LogConfig" }, free_none },
	{ { "HostConfig", "RestartPolicy" }, free_none },
};

/* The engine's own lists are longer, and grow; these have been in every one. */
static const char *const masked[] = {
	"/proc/kcore", "/proc/keys", "/proc/timer_list", "/sys/firmware", NULL,
};
static const char *const read_only[] = {
	"/proc/bus", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger", NULL,
};

/* Every list below is compared as a set: nothing is there that was not asked
 * for, and each thing that was asked for is.  What then is left to find, with
 * nothing said so far, is a thing twice. */
static void want_count(const struct want *w, const struct member *member, uint32_t most,
                       uint32_t before)
{
	if (want_findings(w) == before && json_count(w->doc, member->value) > most)
		want_differs(w, member, "each one once");
}

/* --- environment and labels --- */

static bool is_one_of(const struct want *w, uint32_t item, const char *const *strings,
                      uint32_t count)
{
	bool found = false;

	for (uint32_t i = 0; i < count && !found; i++)
		found = want_is_string(w, item, strings[i]);
	return found;
}

static void want_each(const struct want *w, const struct member *member,
                      const char *const *strings, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (!want_holds(w, member->value, strings[i]))
			want_differs(w, member, strings[i]);
}

/* The CLI sends the entries in no certain order. */
static void want_environment(const struct want *w, const struct member *member)
{
	const struct launch *plan = w->plan;
	const uint32_t array = member->value;
	const uint32_t before = want_findings(w);

	if (!want_is(w, array, JSON_ARRAY)) {
		want_differs(w, member, "an array");
		return;
	}
	for (uint32_t item = json_first(w->doc, array); item != JSON_NONE;
	     item = json_next(w->doc, item))
		if (!is_one_of(w, item, plan->env, plan->env_count) &&
		    !is_one_of(w, item, plan->image_env.at, plan->image_env.count))
			want_nothing(w, item);
	want_each(w, member, plan->env, plan->env_count);
	want_each(w, member, plan->image_env.at, plan->image_env.count);
	want_count(w, member, plan->env_count + plan->image_env.count, before);
}

#define LABEL_STATE "dev.cofferdam.state"
#define LABEL_RUN "dev.cofferdam.run"
#define LABEL_MODE "dev.cofferdam.mode"
#define LABEL_SESSION "dev.cofferdam.session"
#define LABEL_REVISION "dev.cofferdam.revision"
#define LABEL_ROOTS "dev.cofferdam.roots"

static const char *const own_labels[] = {
	LABEL_STATE, LABEL_RUN, LABEL_MODE, LABEL_SESSION, LABEL_REVISION, LABEL_ROOTS, NULL,
};

static void want_own_labels(const struct want *w, uint32_t object)
{
	const struct launch *plan = w->plan;
	char run[ID_HEX + 1] = "";
	char revision[21] = ""; /* 2^64 - 1 has twenty digits */
	struct text text;

	text_init(&text, run, sizeof(run) - 1);
	text_hex(&text, plan->nonce, NONCE_BYTES);
	text_init(&text, revision, sizeof(revision) - 1);
	text_u64(&text, plan->revision);
	want_string(w, object, LABEL_STATE, plan->state_id);
	want_string(w, object, LABEL_RUN, run);
	want_string(w, object, LABEL_MODE, plan->mode == MODE_SESSION ? "session" : "turn");
	want_string(w, object, LABEL_SESSION, plan->session);
	want_string(w, object, LABEL_REVISION, revision);
	want_string(w, object, LABEL_ROOTS, plan->roots_label);
}

/* An image that was made from one of our containers has our labels too; the
 * container's own take their place, and want_own_labels sees to those. */
static bool is_replaced(const char *label)
{
	bool ours = false;

	for (size_t i = 0; own_labels[i] != NULL; i++) {
		const size_t len = strlen(own_labels[i]);

		ours = ours || (strncmp(label, own_labels[i], len) == 0 && label[len] == '=');
	}
	return ours;
}

static bool is_image_label(const struct want *w, uint32_t key)
{
	const struct inherited *labels = &w->plan->image_labels;
	bool found = false;

	for (uint16_t i = 0; i < labels->count && !found; i++)
		found = want_is_label(w, key, labels->at[i]);
	return found;
}

static bool holds_label(const struct want *w, uint32_t object, const char *label)
{
	uint32_t key = json_first(w->doc, object);

	while (key != JSON_NONE && !want_is_label(w, key, label))
		key = json_next(w->doc, key);
	return key != JSON_NONE;
}

static void want_labels(const struct want *w, const struct member *member)
{
	const struct inherited *image = &w->plan->image_labels;
	const uint32_t object = member->value;

	if (!want_is(w, object, JSON_OBJECT)) {
		want_differs(w, member, "an object");
		return;
	}
	want_own_labels(w, object);
	for (uint32_t key = json_first(w->doc, object); key != JSON_NONE;
	     key = json_next(w->doc, key))
		if (!want_is_among(w, key, own_labels) && !is_image_label(w, key))
			want_nothing(w, json_value(w->doc, key));
	for (uint16_t i = 0; i < image->count; i++)
		if (!is_replaced(image->at[i]) && !holds_label(w, object, image->at[i]))
			want_differs(w, member, image->at[i]);
}

/* --- limits, scratch space, runtime, network, profile --- */

struct ulimit {
	const char *name;
	uint64_t value;
};

static void want_ulimit(const struct want *w, uint32_t item, const struct ulimit *limits,
                        uint32_t count)
{
	static const char *const names[] = { "Name", "Hard", "Soft", NULL };
	const uint32_t name = json_get(w->doc, item, "Name");

	for (uint32_t i = 0; i < count; i++) {
		if (!want_is_string(w, name, limits[i].name))
			continue;
		want_number(w, item, "Hard", limits[i].value);
		want_number(w, item, "Soft", limits[i].value);
		want_closed(w, item, names);
		return;
	}
	want_nothing(w, item);
}

static void want_ulimits(const struct want *w, const struct member *member)
{
	const struct ulimit limits[] = {
		{ "nofile", w->plan->limits.nofile },
		{ "fsize", w->plan->limits.file_bytes },
	};
	const uint32_t count = w->plan->limits.file_bytes == 0 ? 1 : 2;
	const uint32_t array = member->value;
	const uint32_t before = want_findings(w);

	if (!want_is(w, array, JSON_ARRAY)) {
		want_differs(w, member, "an array");
		return;
	}
	for (uint32_t item = json_first(w->doc, array); item != JSON_NONE;
	     item = json_next(w->doc, item))
		want_ulimit(w, item, limits, count);
	for (uint32_t i = 0; i < count; i++)
		if (want_item(w, array, "Name", limits[i].name) == JSON_NONE)
			want_differs(w, member, limits[i].name);
	want_count(w, member, count, before);
}

static void want_tmpfs(const struct want *w, const struct member *member)
{
	static const char *const names[] = { "/tmp", NULL };
	const uint32_t object = member->value;
	char buffer[128] = "";
	struct text asked;

	text_init(&asked, buffer, sizeof(buffer) - 1);
	text_string(&asked, "rw,noexec,nosuid,nodev,size=");
	text_u64(&asked, w->plan->limits.tmpfs_bytes);
	text_string(&asked, ",mode=1777");
	if (!want_is(w, object, JSON_OBJECT)) {
		want_differs(w, member, "an object");
		return;
	}
	/* An entry without options says "": here that is not nothing. */
	for (uint32_t key = json_first(w->doc, object); key != JSON_NONE;
	     key = json_next(w->doc, key))
		if (!want_is_among(w, key, names))
			want_nothing(w, json_value(w->doc, key));
	if (!want_is_string(w, json_get(w->doc, object, "/tmp"), buffer))
		want_differs(w, member, buffer);
}

static void want_runtime(const struct want *w, const struct member *member)
{
	const char *runtime = w->plan->runtime;
	char buffer[128]; /* no name of a runtime is as long */
	struct text name;

	text_init(&name, buffer, sizeof(buffer));
	if (want_is(w, member->value, JSON_STRING))
		json_decode(w->doc, member->value, &name);
	if (runtime != NULL && !want_is_string(w, member->value, runtime))
		want_differs(w, member, runtime);
	/* The engine's default is the operator's choice, whatever its name. */
	if (runtime == NULL && !config_runtime(buffer, name.len))
		want_differs(w, member, "the name of a runtime");
}

/* None at all, or docker's "none", which has no interface but lo. */
static void want_networks(const struct want *w, const struct member *member)
{
	static const char *const names[] = { "none", NULL };
	const uint32_t object = member->value;

	if (want_is(w, object, JSON_NULL))
		return;
	if (!want_is(w, object, JSON_OBJECT)) {
		want_differs(w, member, "none");
		return;
	}
	for (uint32_t key = json_first(w->doc, object); key != JSON_NONE;
	     key = json_next(w->doc, key))
		if (!want_is_among(w, key, names))
			want_nothing(w, json_value(w->doc, key));
}

/* "" without AppArmor, docker's own profile once started with it, and
 * "unconfined" only when somebody asked for that. */
static void want_profile(const struct want *w, const struct member *member)
{
	if (!want_is(w, member->value, JSON_STRING) ||
	    want_is_string(w, member->value, "unconfined"))
		want_differs(w, member, "a profile that confines");
}

/* --- mounts --- */

static void want_mount(const struct want *w, uint32_t item, const struct root *root)
{
	static const char *const names[] = { "Type", "Source",      "Destination",
		                             "RW",   "Propagation", NULL };

	want_string(w, item, "Type", "bind");
	want_string(w, item, "Source", root->path);
	want_written(w, item, "RW", root->read_only ? "false" : "true");
	want_string(w, item, "Propagation", "rprivate");
	want_closed(w, item, names);
}

static void want_request(const struct want *w, uint32_t item, const struct root *root)
{
	static const char *const names[] = { "Type",     "Source",      "Target",
		                             "ReadOnly", "BindOptions", NULL };
	/* An engine of API 1.44 or later notes ReadOnlyNonRecursive for an
	 * older CLI: read-only does not reach file systems mounted inside the
	 * source.  No root has any. */
	static const char *const options[] = { "Propagation", "ReadOnlyNonRecursive", NULL };
	const struct member bind = want_member(w, item, "BindOptions");

	want_string(w, item, "Type", "bind");
	want_string(w, item, "Source", root->path);
	/* Left out when it is false. */
	if (root->read_only || json_get(w->doc, item, "ReadOnly") != JSON_NONE)
		want_written(w, item, "ReadOnly", root->read_only ? "true" : "false");
	want_closed(w, item, names);
	if (!want_is(w, bind.value, JSON_OBJECT)) {
		want_differs(w, &bind, "rprivate");
		return;
	}
	want_string(w, bind.value, "Propagation", "rprivate");
	want_closed(w, bind.value, options);
}

static void want_one_mount(const struct want *w, uint32_t item, bool requested)
{
	const uint32_t guest = json_get(w->doc, item, requested ? "Target" : "Destination");

	for (uint16_t i = 0; i < w->plan->root_count; i++) {
		const struct root *root = &w->plan->root[i];

		if (!want_is_string(w, guest, root->guest))
			continue;
		if (requested)
			want_request(w, item, root);
		else
			want_mount(w, item, root);
		return;
	}
	want_nothing(w, item);
}

/* The engine keeps its mounts in no certain order. */
static void want_mounts(const struct want *w, const struct member *member, bool requested)
{
	const struct launch *plan = w->plan;
	const char *key = requested ? "Target" : "Destination";
	const uint32_t array = member->value;
	const uint32_t before = want_findings(w);

	if (!want_is(w, array, JSON_ARRAY)) {
		want_differs(w, member, "an array");
		return;
	}
	for (uint32_t item = json_first(w->doc, array); item != JSON_NONE;
	     item = json_next(w->doc, item))
		want_one_mount(w, item, requested);
	for (uint16_t i = 0; i < plan->root_count; i++)
		if (want_item(w, array, key, plan->root[i].guest) == JSON_NONE)
			want_differs(w, member, plan->root[i].guest);
	want_count(w, member, plan->root_count, before);
}

/* --- rows --- */

static void put_asked(const struct launch *plan, enum asked asked, struct text *to)
{
	switch (asked) {
	case ASKED_IMAGE:
		text_string(to, plan->image_id);
		break;
	case ASKED_NAME:
		text_string(to, "/");
		text_string(to, plan->name);
		break;
	case ASKED_USER:
		text_u64(to, plan->uid);
		text_string(to, ":");
		text_u64(to, plan->gid);
		break;
	case ASKED_WORKDIR:
		text_string(to, plan->workdir);
		break;
	case ASKED_ENTRYPOINT:
		text_string(to, plan->entrypoint);
		break;
	case ASKED_MEMORY:
		text_u64(to, plan->limits.memory_bytes);
		break;
	case ASKED_NANO_CPUS:
		text_u64(to, plan->limits.nano_cpus);
		break;
	case ASKED_PIDS:
		text_u64(to, plan->limits.pids);
		break;
	case ASKED_SHM:
		text_u64(to, plan->limits.shm_bytes);
		break;
	case ASKED_INIT:
		text_string(to, plan->init ? "true" : "false");
		break;
	case ASKED_NONE:
	default:
		to->full = true; /* nothing is like it */
	}
}

static void want_asked(const struct want *w, const struct row *row, const struct member *member)
{
	static char buffer[FRAME_MAX]; /* nothing in a plan is longer */
	struct text asked;
	bool same;

	text_init(&asked, buffer, sizeof(buffer) - 1);
	put_asked(w->plan, row->asked, &asked);
	buffer[asked.len] = '\0';
	if (row->kind == KIND_STRING)
		same = want_is_text(w, member->value, buffer, asked.len);
	else
		same = want_is_written(w, member->value, buffer);
	if (asked.full || !same)
		want_differs(w, member, buffer);
}

static void want_text(const struct want *w, const struct row *row, const struct member *member)
{
	if (!want_is_written(w, member->value, row->text) &&
	    !want_is_written(w, member->value, row->other))
		want_differs(w, member, row->text);
}

static void want_row(const struct want *w, const struct row *row, const struct member *member)
{
	const struct launch *plan = w->plan;

	switch (row->kind) {
	case KIND_WRITTEN:
		want_text(w, row, member);
		break;
	case KIND_STRING:
	case KIND_PLAIN:
		want_asked(w, row, member);
		break;
	case KIND_ENTRYPOINT:
		want_words(w, member, &plan->entrypoint, 1);
		break;
	case KIND_COMMAND:
		want_words(w, member, plan->command.at, plan->command.count);
		break;
	case KIND_ENVIRONMENT:
		want_environment(w, member);
		break;
	case KIND_LABELS:
		want_labels(w, member);
		break;
	case KIND_RUNTIME:
		want_runtime(w, member);
		break;
	case KIND_ULIMITS:
		want_ulimits(w, member);
		break;
	case KIND_TMPFS:
		want_tmpfs(w, member);
		break;
	case KIND_MASKED:
		want_subset(w, member, masked);
		break;
	case KIND_READONLY:
		want_subset(w, member, read_only);
		break;
	case KIND_REQUESTED:
	case KIND_MOUNTS:
		want_mounts(w, member, row->kind == KIND_REQUESTED);
		break;
	case KIND_NETWORKS:
		want_networks(w, member);
		break;
	case KIND_PROFILE:
	default:
		want_profile(w, member);
	}
}

/* The member at the end of a path; a value on the way that is no object lacks
 * everything. */
static struct member find(const struct want *w, const char *const *path)
{
	struct member member = want_member(w, 0, path[0]);

	for (size_t i = 1; path[i] != NULL; i++)
		member = want_member(w, member.value, path[i]);
	member.path = path;
	return member;
}

static size_t depth(const char *const *path)
{
	size_t i = 0;

	while (path[i] != NULL)
		i++;
	return i;
}

/* The row's path goes through this key of the object at `path`. */
static bool leads_through(const struct want *w, const struct row *row, const char *const *path,
                          uint32_t key)
{
	const size_t at = depth(path);
	bool same = depth(row->path) > at;

	for (size_t i = 0; i < at && same; i++)
		same = strcmp(row->path[i], path[i]) == 0;
	return same && json_equals(w->doc, key, row->path[at]);
}

static void want_closed_at(const struct want *w, const char *const *path,
                           const char *const *unchecked)
{
	const uint32_t object = find(w, path).value;

	if (!want_is(w, object, JSON_OBJECT))
		return; /* its rows have said so */
	for (uint32_t key = json_first(w->doc, object); key != JSON_NONE;
	     key = json_next(w->doc, key)) {
		const uint32_t value = json_value(w->doc, key);
		bool named = want_is_among(w, key, unchecked);

		for (size_t i = 0; i < ROWS && !named; i++)
			named = leads_through(w, &rows[i], path, key);
		if (!named && !want_is_nothing(w, value))
			want_nothing(w, value);
	}
}

void verify_container(const struct json *doc, const struct launch *plan, struct report *report)
{
	const struct want want = { .doc = doc, .plan = plan, .report = report };

	if (json_type(doc, 0) != JSON_OBJECT) {
		report_add(report, REASON_VERIFY_ANSWER, "");
		return;
	}
	for (size_t i = 0; i < ROWS; i++) {
		const struct member member = find(&want, rows[i].path);

		if (member.value != JSON_NONE || !rows[i].optional)
			want_row(&want, &rows[i], &member);
	}
	for (size_t i = 0; i < sizeof(closed) / sizeof(closed[0]); i++)
		want_closed_at(&want, closed[i].path, closed[i].unchecked);
}

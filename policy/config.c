/* SPDX-License-Identifier: ISC */
#include "config.h"

#include <string.h>

#include "image.h"
#include "path.h"
#include "schema.h"

#define COUNT(fields) ((uint32_t)(sizeof(fields) / sizeof((fields)[0])))

#define RUNTIME_BYTES_MAX 64
#define GRANT_PREFIX "/grants/"
#define GRANT_HEX 64

/* Characters. */

static bool is_lower(char c)
{
	return c >= 'a' && c <= 'z';
}

static bool is_upper(char c)
{
	return c >= 'A' && c <= 'Z';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_control(char c)
{
	return (unsigned char)c < 0x20 || c == 0x7f;
}

static bool is_printable(char c)
{
	return c >= 0x20 && c < 0x7f;
}

static bool has_control(const char *text, size_t len)
{
	bool found = false;

	for (size_t i = 0; i < len; i++)
		found = found || is_control(text[i]);
	return found;
}

/* Grammars. */

/* [a-z0-9][a-z0-9_.-]{0,max-1} */
static bool plain_name(const char *text, size_t len, size_t max)
{
	if (len == 0 || len > max || (!is_lower(text[0]) && !is_digit(text[0])))
		return false;
	for (size_t i = 1; i < len; i++) {
		if (!is_lower(text[i]) && !is_digit(text[i]) && text[i] != '_' && text[i] != '.' &&
		    text[i] != '-')
			return false;
	}
	return true;
}

bool config_name(const char *text, size_t len)
{
	return plain_name(text, len, NAME_BYTES_MAX);
}

bool config_runtime(const char *text, size_t len)
{
	return plain_name(text, len, RUNTIME_BYTES_MAX);
}

/* A key is the value of a label, which docker prints in comma-joined lists. */
bool config_session_key(const char *text, size_t len)
{
	if (len == 0 || len > SESSION_KEY_BYTES_MAX || text[0] == '-')
		return false;
	for (size_t i = 0; i < len; i++) {
		if (!is_printable(text[i]) || text[i] == ',' || text[i] == '"' || text[i] == '\\')
			return false;
	}
	return true;
}

static bool environment_name(const char *text, size_t len)
{
	static const char HOME[] = "HOME";

	if (len == 0 || is_digit(text[0]))
		return false;
	if (len == sizeof(HOME) - 1 && memcmp(text, HOME, len) == 0)
		return false;
	for (size_t i = 0; i < len; i++) {
		if (!is_lower(text[i]) && !is_upper(text[i]) && !is_digit(text[i]) &&
		    text[i] != '_')
			return false;
	}
	return true;
}

/* What may stand in a --mount value and in --workdir: plain and absolute. */
static bool guest_path(const char *text, size_t len)
{
	if (len > GUEST_BYTES_MAX || !path_canonical(text, len))
		return false;
	for (size_t i = 0; i < len; i++) {
		if (!is_printable(text[i]) || text[i] == ',' || text[i] == '"' || text[i] == '\\')
			return false;
	}
	return true;
}

static bool inside(const char *outer, const char *text, size_t len)
{
	return path_contains(outer, strlen(outer), text, len);
}

static bool kernel_path(const char *text, size_t len)
{
	return inside("/proc", text, len) || inside("/sys", text, len) || inside("/dev", text, len);
}

static bool is_grant(const char *text, size_t len)
{
	size_t prefix = sizeof(GRANT_PREFIX) - 1;

	if (len != prefix + GRANT_HEX || memcmp(text, GRANT_PREFIX, prefix) != 0)
		return false;
	for (size_t i = prefix; i < len; i++) {
		if (!is_digit(text[i]) && (text[i] < 'a' || text[i] > 'f'))
			return false;
	}
	return true;
}

/* The same as judges of the table. */

static enum reason judge_image(const char *text, size_t len)
{
	return image_reference(text, len) ? REASON_NONE : REASON_IMAGE_GRAMMAR;
}

static enum reason judge_image_id(const char *text, size_t len)
{
	return image_id(text, len) ? REASON_NONE : REASON_IMAGE_GRAMMAR;
}

static enum reason judge_name(const char *text, size_t len)
{
	return config_name(text, len) ? REASON_NONE : REASON_NAME_GRAMMAR;
}

static enum reason judge_session_key(const char *text, size_t len)
{
	return config_session_key(text, len) ? REASON_NONE : REASON_SESSION_KEY;
}

static enum reason judge_runtime(const char *text, size_t len)
{
	return config_runtime(text, len) ? REASON_NONE : REASON_RUNTIME_NAME;
}

static enum reason judge_host(const char *text, size_t len)
{
	switch (path_check(text, len)) {
	case PATH_OK:
		break;
	case PATH_RELATIVE:
		return REASON_MOUNT_RELATIVE;
	case PATH_CHARACTER:
		return REASON_MOUNT_CHARACTER;
	case PATH_TOO_LONG:
		return REASON_MOUNT_TOO_LONG;
	case PATH_ROOT:
		return REASON_MOUNT_ROOT;
	}
	return REASON_NONE;
}

static enum reason judge_private(const char *text, size_t len)
{
	return path_check(text, len) == PATH_OK ? REASON_NONE : REASON_PRIVATE_PATH;
}

static enum reason judge_bundle_guest(const char *text, size_t len)
{
	if (!guest_path(text, len) || kernel_path(text, len) ||
	    path_overlap("/tmp", sizeof("/tmp") - 1, text, len))
		return REASON_BUNDLE_GUEST;
	return REASON_NONE;
}

static enum reason judge_entrypoint(const char *text, size_t len)
{
	if (len == 0 || text[0] == '-' || has_control(text, len))
		return REASON_COMMAND_WORD;
	return REASON_NONE;
}

/* Scripts are handed to a shell as one word: lines and tabs are theirs. */
static enum reason judge_word(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (is_control(text[i]) && text[i] != '\n' && text[i] != '\t')
			return REASON_COMMAND_WORD;
	}
	return REASON_NONE;
}

static enum reason judge_workdir(const char *text, size_t len)
{
	if (!guest_path(text, len) || kernel_path(text, len))
		return REASON_WORKDIR_PATH;
	return REASON_NONE;
}

static enum reason judge_environment_name(const char *text, size_t len)
{
	return environment_name(text, len) ? REASON_NONE : REASON_ENVIRONMENT_NAME;
}

static enum reason judge_environment_value(const char *text, size_t len)
{
	return has_control(text, len) ? REASON_ENVIRONMENT_VALUE : REASON_NONE;
}

/* What an endpoint may be is policy/endpoint.c's business. */
static enum reason judge_endpoint(const char *text, size_t len)
{
	return memchr(text, '\0', len) != NULL ? REASON_SHAPE_NUL : REASON_NONE;
}

/* The tables.  The patterns say as much of a grammar as a pattern well can. */

#define NO_CONTROL "[^\\u0000-\\u001f\\u007f]"
#define HOST_PATTERN "^/[^\\u0000-\\u001f\\u007f,\"]+$"
#define GUEST_CHARACTER "[ !#-+\\--\\[\\]-~]"

static const char *const MODES[] = {"turn", "session", NULL};
static const char *const ACCESS[] = {"ro", "rw", NULL};
static const char *const CONFINEMENT[] = {"required", "best-effort", NULL};

static const struct schema_field SESSION_FIELDS[] = {
	{.key = "key",
	 .type = SCHEMA_STRING,
	 .required = true,
	 .judge = judge_session_key,
	 .pattern = "^[ !#-+.-\\[\\]-~][ !#-+\\--\\[\\]-~]{0,127}$"},
	{.key = "revision", .type = SCHEMA_INTEGER, .required = true, .max = REVISION_MAX},
};

static const struct schema_reasons USER_WHY = {
	.unfit = REASON_USER_RANGE, .low = REASON_USER_ROOT, .high = REASON_USER_RANGE};

static const struct schema_field USER_FIELDS[] = {
	{.key = "uid",
	 .type = SCHEMA_INTEGER,
	 .required = true,
	 .min = ID_MIN,
	 .max = ID_MAX,
	 .why = &USER_WHY},
	{.key = "gid",
	 .type = SCHEMA_INTEGER,
	 .required = true,
	 .min = ID_MIN,
	 .max = ID_MAX,
	 .why = &USER_WHY},
};

static const struct schema_field MOUNT_FIELDS[] = {
	{.key = "host",
	 .type = SCHEMA_STRING,
	 .required = true,
	 .judge = judge_host,
	 .pattern = HOST_PATTERN,
	 .note = "an absolute path of a directory"},
	{.key = "guest",
	 .type = SCHEMA_STRING,
	 .required = true,
	 .pattern = "^/(broker|workspace|grants/[0-9a-f]{64})$",
	 .note = "turn: /broker and /workspace; session: /workspace and /grants/<64 hex digits>"},
	{.key = "mode", .type = SCHEMA_STRING, .required = true, .words = ACCESS},
};

static const struct schema_field MOUNT = {
	.type = SCHEMA_OBJECT, .of = MOUNT_FIELDS, .count = COUNT(MOUNT_FIELDS)};

static const struct schema_field BUNDLE_FIELDS[] = {
	{.key = "host",
	 .type = SCHEMA_STRING,
	 .required = true,
	 .judge = judge_host,
	 .pattern = HOST_PATTERN,
	 .note = "an absolute path of a regular file with one link"},
	{.key = "guest",
	 .type = SCHEMA_STRING,
	 .required = true,
	 .judge = judge_bundle_guest,
	 .pattern = "^/(?!(proc|sys|dev|tmp)(/|$))" GUEST_CHARACTER "{1,254}$",
	 .note = "an absolute path outside /proc, /sys, /dev, /tmp and every mount"},
};

static const struct schema_field WORD = {.type = SCHEMA_STRING,
	                                 .judge = judge_word,
	                                 .pattern = "^([\\t\\n]|" NO_CONTROL ")*$"};
static const struct schema_field VALUE = {.type = SCHEMA_STRING,
	                                  .judge = judge_environment_value,
	                                  .pattern = "^" NO_CONTROL "*$"};
static const struct schema_field PRIVATE = {
	.type = SCHEMA_STRING, .judge = judge_private, .pattern = HOST_PATTERN};

/* A limit of the wrong type is a number that is not plain, too. */
static const struct schema_reasons LIMIT_WHY = {.wrong = REASON_LIMIT_NUMBER,
	                                        .unfit = REASON_LIMIT_NUMBER,
	                                        .low = REASON_LIMIT_RANGE,
	                                        .high = REASON_LIMIT_RANGE};

enum {
	LIMIT_MEMORY,
	LIMIT_CPUS,
	LIMIT_PIDS,
	LIMIT_NOFILE,
	LIMIT_TMPFS,
	LIMIT_SHM,
	LIMIT_FILE,
	LIMIT_TURN_BYTES,
	LIMIT_TURN_SECONDS,
	LIMIT_LOCK,
	LIMIT_CONTROL,
	LIMIT_REMOVE,
	LIMIT_LIVE,
};

static const struct schema_field LIMIT_FIELDS[] = {
	[LIMIT_MEMORY] = {.key = "memoryBytes",
	                  .type = SCHEMA_INTEGER,
	                  .min = MEMORY_BYTES_MIN,
	                  .max = MEMORY_BYTES_MAX,
	                  .standard = true,
	                  .initial = 536870912,
	                  .why = &LIMIT_WHY,
	                  .note = "memory, and memory and swap together"},
	[LIMIT_CPUS] = {.key = "cpus",
	                .type = SCHEMA_DECIMAL,
	                .min = NANO_CPUS_MIN,
	                .max = NANO_CPUS_MAX,
	                .standard = true,
	                .initial = 1000000000,
	                .why = &LIMIT_WHY},
	[LIMIT_PIDS] = {.key = "pids",
	                .type = SCHEMA_INTEGER,
	                .min = PIDS_MIN,
	                .max = PIDS_MAX,
	                .standard = true,
	                .initial = 64,
	                .why = &LIMIT_WHY},
	[LIMIT_NOFILE] = {.key = "nofile",
	                  .type = SCHEMA_INTEGER,
	                  .min = NOFILE_MIN,
	                  .max = NOFILE_MAX,
	                  .standard = true,
	                  .initial = 256,
	                  .why = &LIMIT_WHY,
	                  .note = "open files of one process"},
	[LIMIT_TMPFS] = {.key = "tmpfsBytes",
	                 .type = SCHEMA_INTEGER,
	                 .min = TMPFS_BYTES_MIN,
	                 .max = TMPFS_BYTES_MAX,
	                 .standard = true,
	                 .initial = 67108864,
	                 .why = &LIMIT_WHY,
	                 .note = "size of /tmp"},
	[LIMIT_SHM] = {.key = "shmBytes",
	               .type = SCHEMA_INTEGER,
	               .min = SHM_BYTES_MIN,
	               .max = SHM_BYTES_MAX,
	               .standard = true,
	               .initial = 67108864,
	               .why = &LIMIT_WHY,
	               .note = "size of /dev/shm"},
	[LIMIT_FILE] = {.key = "fileBytes",
	                .type = SCHEMA_INTEGER,
	                .min = FILE_BYTES_MIN,
	                .max = FILE_BYTES_MAX,
	                .why = &LIMIT_WHY,
	                .note = "size of one file that the worker writes; without it there is "
	                        "no limit"},
	[LIMIT_TURN_BYTES] = {.key = "turnBytes",
	                      .type = SCHEMA_INTEGER,
	                      .min = TURN_BYTES_MIN,
	                      .max = TURN_BYTES_MAX,
	                      .standard = true,
	                      .initial = 262144,
	                      .why = &LIMIT_WHY},
	[LIMIT_TURN_SECONDS] = {.key = "turnSeconds",
	                        .type = SCHEMA_INTEGER,
	                        .min = TURN_SECONDS_MIN,
	                        .max = TURN_SECONDS_MAX,
	                        .standard = true,
	                        .initial = 120,
	                        .why = &LIMIT_WHY,
	                        .note = "without it a session has no deadline"},
	[LIMIT_LOCK] = {.key = "lockSeconds",
	                .type = SCHEMA_INTEGER,
	                .min = LOCK_SECONDS_MIN,
	                .max = LOCK_SECONDS_MAX,
	                .standard = true,
	                .initial = 30,
	                .why = &LIMIT_WHY,
	                .note = "how long a launch waits for another one's lock"},
	[LIMIT_CONTROL] = {.key = "controlSeconds",
	                   .type = SCHEMA_INTEGER,
	                   .min = CONTROL_SECONDS_MIN,
	                   .max = CONTROL_SECONDS_MAX,
	                   .standard = true,
	                   .initial = 30,
	                   .why = &LIMIT_WHY,
	                   .note = "deadline of one docker command"},
	[LIMIT_REMOVE] = {.key = "removeSeconds",
	                  .type = SCHEMA_INTEGER,
	                  .min = REMOVE_SECONDS_MIN,
	                  .max = REMOVE_SECONDS_MAX,
	                  .standard = true,
	                  .initial = 60,
	                  .why = &LIMIT_WHY,
	                  .note = "deadline of the removal"},
	[LIMIT_LIVE] = {.key = "live",
	                .type = SCHEMA_INTEGER,
	                .min = LIVE_MIN,
	                .max = LIVE_MAX,
	                .why = &LIMIT_WHY,
	                .note = "managed containers at once; without it there is no limit"},
};

static const struct schema_field DOCKER_FIELDS[] = {
	{.key = "host",
	 .type = SCHEMA_STRING,
	 .min = 1,
	 .judge = judge_endpoint,
	 .pattern = "^unix:///",
	 .note = "without it: DOCKER_HOST, else docker's current context"},
	{.key = "runtime",
	 .type = SCHEMA_STRING,
	 .judge = judge_runtime,
	 .pattern = "^[a-z0-9][a-z0-9_.-]{0,63}$"},
};

static const struct schema_field AUDIT_FIELDS[] = {
	{.key = "required", .type = SCHEMA_BOOLEAN, .note = "no record, no launch"},
};

static const struct schema_reasons VERSION_WHY = {.wrong = REASON_CONFIG_VERSION,
	                                          .unfit = REASON_CONFIG_VERSION,
	                                          .low = REASON_CONFIG_VERSION,
	                                          .high = REASON_CONFIG_VERSION};

static const struct schema_field CONFIG_FIELDS[] = {
	{.key = "$schema", .type = SCHEMA_STRING, .note = "for editors; not read"},
	{.key = "version",
	 .type = SCHEMA_INTEGER,
	 .required = true,
	 .min = 1,
	 .max = 1,
	 .why = &VERSION_WHY},
	{.key = "mode", .type = SCHEMA_STRING, .required = true, .words = MODES},
	{.key = "image",
	 .type = SCHEMA_STRING,
	 .required = true,
	 .judge = judge_image,
	 .note = "name[:tag][@digest], or sha256: and 64 hex digits"},
	{.key = "imageId",
	 .type = SCHEMA_STRING,
	 .judge = judge_image_id,
	 .pattern = "^sha256:[0-9a-f]{64}$",
	 .note = "the image must have this id"},
	{.key = "name",
	 .type = SCHEMA_STRING,
	 .judge = judge_name,
	 .pattern = "^[a-z0-9][a-z0-9_.-]{0,90}$",
	 .note = "the container's name; without it cofferdam- and a random number"},
	{.key = "session",
	 .type = SCHEMA_OBJECT,
	 .of = SESSION_FIELDS,
	 .count = COUNT(SESSION_FIELDS),
	 .note = "session mode must have it, turn mode may not"},
	{.key = "user",
	 .type = SCHEMA_OBJECT,
	 .of = USER_FIELDS,
	 .count = COUNT(USER_FIELDS),
	 .note = "whom the worker runs as; without it the caller"},
	{.key = "mounts",
	 .type = SCHEMA_ARRAY,
	 .required = true,
	 .min = 1,
	 .max = MOUNTS_MAX,
	 .item = &MOUNT},
	{.key = "bundle",
	 .type = SCHEMA_OBJECT,
	 .of = BUNDLE_FIELDS,
	 .count = COUNT(BUNDLE_FIELDS),
	 .note = "one read-only file"},
	{.key = "entrypoint",
	 .type = SCHEMA_STRING,
	 .judge = judge_entrypoint,
	 .pattern = "^(?!-)" NO_CONTROL "+$",
	 .note = "without it the image's"},
	{.key = "command",
	 .type = SCHEMA_ARRAY,
	 .max = WORDS_MAX,
	 .item = &WORD,
	 .note = "without it the image's"},
	{.key = "workdir",
	 .type = SCHEMA_STRING,
	 .judge = judge_workdir,
	 .pattern = "^/(?!(proc|sys|dev)(/|$))" GUEST_CHARACTER "{0,254}$",
	 .note = "without it the image's"},
	{.key = "environment",
	 .type = SCHEMA_MAP,
	 .max = ENV_MAX,
	 .judge = judge_environment_name,
	 .pattern = "^(?!HOME$)[A-Za-z_][A-Za-z0-9_]*$",
	 .item = &VALUE},
	{.key = "init",
	 .type = SCHEMA_BOOLEAN,
	 .note = "docker's init as process 1; without it only in session mode"},
	{.key = "limits", .type = SCHEMA_OBJECT, .of = LIMIT_FIELDS, .count = COUNT(LIMIT_FIELDS)},
	{.key = "privatePaths",
	 .type = SCHEMA_ARRAY,
	 .max = PRIVATE_MAX,
	 .item = &PRIVATE,
	 .note = "paths that no mount may hold or lie in"},
	{.key = "stateFile",
	 .type = SCHEMA_STRING,
	 .judge = judge_private,
	 .pattern = HOST_PATTERN,
	 .note = "one more private path"},
	{.key = "docker",
	 .type = SCHEMA_OBJECT,
	 .of = DOCKER_FIELDS,
	 .count = COUNT(DOCKER_FIELDS)},
	{.key = "audit", .type = SCHEMA_OBJECT, .of = AUDIT_FIELDS, .count = COUNT(AUDIT_FIELDS)},
	{.key = "confinement",
	 .type = SCHEMA_STRING,
	 .words = CONFINEMENT,
	 .note = "best-effort: also on a kernel without Landlock"},
};

/* What the two modes differ in, for editors: read_session, check_guest and
 * check_mount_mode judge it. */
#define CONTAINS(guest, mode) \
	"{\"contains\":{\"properties\":{\"guest\":{\"const\":\"" guest "\"}," \
	"\"mode\":{\"const\":\"" mode "\"}}}}"
static const char BY_MODE[] =
	",\"if\":{\"properties\":{\"mode\":{\"const\":\"turn\"}}},"
	"\"then\":{\"properties\":{\"session\":false,\"mounts\":{\"minItems\":2,"
	"\"maxItems\":2,\"allOf\":[" CONTAINS("/broker", "ro") "," CONTAINS(
		"/workspace", "rw") "]}}},"
	"\"else\":{\"required\":[\"session\"],\"properties\":{\"mounts\":{\"items\":{"
	"\"properties\":{\"guest\":{\"not\":{\"const\":\"/broker\"}}}}}}}";

static const struct schema_field CONFIG = {.type = SCHEMA_OBJECT,
	                                   .of = CONFIG_FIELDS,
	                                   .count = COUNT(CONFIG_FIELDS),
	                                   .keywords = BY_MODE};

/* Reading what the tables have checked.  Nothing here may rely on that check
 * having succeeded: a wrong value is skipped, for it was reported. */

struct reader {
	const struct json *doc;
	struct text *arena;
	struct report *report;
	struct config *out;
	bool mode_known;
};

static uint32_t member(const struct reader *reader, uint32_t object, const char *key,
                       enum json_type type)
{
	uint32_t node = json_get(reader->doc, object, key);

	return json_type(reader->doc, node) == type ? node : JSON_NONE;
}

static const char *keep_node(struct reader *reader, uint32_t node)
{
	if (json_type(reader->doc, node) != JSON_STRING)
		return NULL;
	return json_keep(reader->doc, node, reader->arena);
}

static const char *keep(struct reader *reader, uint32_t object, const char *key)
{
	return keep_node(reader, member(reader, object, key, JSON_STRING));
}

/* A kept string, which may be missing, and another. */
static bool same(const char *kept, const char *text)
{
	return kept != NULL && strcmp(kept, text) == 0;
}

static bool flag(const struct reader *reader, uint32_t object, const char *key, bool standard)
{
	if (member(reader, object, key, JSON_TRUE) != JSON_NONE)
		return true;
	if (member(reader, object, key, JSON_FALSE) != JSON_NONE)
		return false;
	return standard;
}

static bool is_text(const struct reader *reader, uint32_t object, const char *key, const char *text)
{
	uint32_t node = member(reader, object, key, JSON_STRING);

	return json_equals(reader->doc, node, text);
}

static void read_session(struct reader *reader)
{
	struct config *out = reader->out;
	uint32_t given = json_get(reader->doc, 0, "session");
	uint32_t session = member(reader, 0, "session", JSON_OBJECT);
	const char *key = keep(reader, session, "key");

	if (key != NULL)
		out->session_key = key;
	out->session_revision = schema_number(reader->doc, session, &SESSION_FIELDS[1]);
	if (!reader->mode_known)
		return;
	if (out->mode == MODE_TURN && given != JSON_NONE)
		report_at(reader->report, REASON_SHAPE_UNKNOWN_KEY, reader->doc, given,
		          "only session mode has a session");
	if (out->mode == MODE_SESSION && given == JSON_NONE)
		report_add(reader->report, REASON_SHAPE_MISSING, "/session");
}

static void read_user(struct reader *reader)
{
	uint32_t user = member(reader, 0, "user", JSON_OBJECT);

	if (user == JSON_NONE)
		return;
	reader->out->user_given = true;
	reader->out->uid = (uint32_t)schema_number(reader->doc, user, &USER_FIELDS[0]);
	reader->out->gid = (uint32_t)schema_number(reader->doc, user, &USER_FIELDS[1]);
}

static bool guest_allowed(const struct reader *reader, const char *guest)
{
	if (strcmp(guest, "/workspace") == 0)
		return true;
	if (reader->out->mode == MODE_TURN)
		return strcmp(guest, "/broker") == 0;
	return is_grant(guest, strlen(guest));
}

/* A guest path that is not a C string is never one of those allowed. */
static void check_guest(struct reader *reader, uint32_t node, const char *guest)
{
	const struct config *out = reader->out;

	if (member(reader, node, "guest", JSON_STRING) == JSON_NONE || !reader->mode_known)
		return;
	node = json_get(reader->doc, node, "guest");
	if (guest == NULL || !guest_allowed(reader, guest)) {
		report_at(reader->report, REASON_MOUNT_GUEST, reader->doc, node, "");
		return;
	}
	for (uint32_t i = 0; i < out->mount_count; i++) {
		if (same(out->mount[i].guest, guest)) {
			report_at(reader->report, REASON_MOUNT_GUEST_TWICE, reader->doc, node, "");
			return;
		}
	}
}

static void check_mount_mode(struct reader *reader, uint32_t node, const struct config_mount *mount)
{
	bool read_only = same(mount->guest, "/broker");
	uint32_t access = member(reader, node, "mode", JSON_STRING);

	if (!reader->mode_known || reader->out->mode != MODE_TURN || access == JSON_NONE)
		return;
	if (!read_only && !same(mount->guest, "/workspace"))
		return;
	if (mount->read_only != read_only)
		report_at(reader->report, REASON_MOUNT_MODE, reader->doc, access, "");
}

static void read_mount(struct reader *reader, uint32_t node)
{
	struct config *out = reader->out;
	struct config_mount mount = {
		.host = keep(reader, node, "host"),
		.guest = keep(reader, node, "guest"),
		.read_only = is_text(reader, node, "mode", "ro"),
	};

	check_guest(reader, node, mount.guest);
	check_mount_mode(reader, node, &mount);
	out->mount[out->mount_count] = mount;
	out->mount_count++;
}

static void read_mounts(struct reader *reader)
{
	const struct config *out = reader->out;
	uint32_t mounts = member(reader, 0, "mounts", JSON_ARRAY);

	if (mounts == JSON_NONE)
		return;
	for (uint32_t node = json_first(reader->doc, mounts);
	     node != JSON_NONE && out->mount_count < MOUNTS_MAX;
	     node = json_next(reader->doc, node))
		read_mount(reader, node);
	if (reader->mode_known && out->mode == MODE_TURN && out->mount_count != 2)
		report_at(reader->report, REASON_SHAPE_COUNT, reader->doc, mounts,
		          "turn mode has exactly /broker and /workspace");
}

static void read_bundle(struct reader *reader)
{
	struct config *out = reader->out;
	uint32_t bundle = member(reader, 0, "bundle", JSON_OBJECT);
	uint32_t guest = member(reader, bundle, "guest", JSON_STRING);
	bool overlap = false;

	if (bundle == JSON_NONE)
		return;
	out->bundle_given = true;
	out->bundle_host = keep(reader, bundle, "host");
	out->bundle_guest = keep(reader, bundle, "guest");
	if (out->bundle_guest == NULL ||
	    judge_bundle_guest(out->bundle_guest, strlen(out->bundle_guest)) != REASON_NONE)
		return;
	for (uint32_t i = 0; i < out->mount_count; i++) {
		const char *other = out->mount[i].guest;

		if (other != NULL && path_canonical(other, strlen(other)))
			overlap = overlap || path_overlap(other, strlen(other), out->bundle_guest,
			                                  strlen(out->bundle_guest));
	}
	if (overlap)
		report_at(reader->report, REASON_BUNDLE_GUEST, reader->doc, guest,
		          "it lies in or around a mount");
}

static void read_command(struct reader *reader)
{
	struct config *out = reader->out;
	uint32_t command = member(reader, 0, "command", JSON_ARRAY);

	out->entrypoint = keep(reader, 0, "entrypoint");
	out->workdir = keep(reader, 0, "workdir");
	if (command == JSON_NONE)
		return;
	out->command_given = true;
	for (uint32_t node = json_first(reader->doc, command);
	     node != JSON_NONE && out->command.count < WORDS_MAX;
	     node = json_next(reader->doc, node)) {
		out->command.at[out->command.count] = keep_node(reader, node);
		out->command.count++;
	}
}

/* "NAME=value" in the arena. */
static const char *keep_entry(struct reader *reader, uint32_t key)
{
	struct text *arena = reader->arena;
	size_t start = arena->len;

	json_decode(reader->doc, key, arena);
	text_string(arena, "=");
	json_decode(reader->doc, json_value(reader->doc, key), arena);
	text_bytes(arena, "", 1);
	return arena->full ? NULL : arena->at + start;
}

static void read_environment(struct reader *reader)
{
	struct config *out = reader->out;
	uint32_t environment = member(reader, 0, "environment", JSON_OBJECT);

	if (environment == JSON_NONE)
		return;
	for (uint32_t key = json_first(reader->doc, environment);
	     key != JSON_NONE && out->env_count < ENV_MAX; key = json_next(reader->doc, key)) {
		if (json_type(reader->doc, json_value(reader->doc, key)) != JSON_STRING)
			continue;
		out->env[out->env_count] = keep_entry(reader, key);
		out->env_count++;
	}
}

_Static_assert(PIDS_MAX <= UINT32_MAX && NOFILE_MAX <= UINT32_MAX && LIVE_MAX <= UINT32_MAX &&
                       TURN_SECONDS_MAX <= UINT32_MAX,
               "counts and seconds fit into 32 bits");

static uint32_t small_limit(const struct json *doc, uint32_t limits, unsigned which)
{
	return (uint32_t)schema_number(doc, limits, &LIMIT_FIELDS[which]);
}

static void read_limits(struct reader *reader)
{
	const struct json *doc = reader->doc;
	struct limits *out = &reader->out->limits;
	uint32_t limits = member(reader, 0, "limits", JSON_OBJECT);

	out->memory_bytes = schema_number(doc, limits, &LIMIT_FIELDS[LIMIT_MEMORY]);
	out->nano_cpus = schema_number(doc, limits, &LIMIT_FIELDS[LIMIT_CPUS]);
	out->tmpfs_bytes = schema_number(doc, limits, &LIMIT_FIELDS[LIMIT_TMPFS]);
	out->shm_bytes = schema_number(doc, limits, &LIMIT_FIELDS[LIMIT_SHM]);
	out->file_bytes = schema_number(doc, limits, &LIMIT_FIELDS[LIMIT_FILE]);
	out->turn_bytes = schema_number(doc, limits, &LIMIT_FIELDS[LIMIT_TURN_BYTES]);
	out->pids = small_limit(doc, limits, LIMIT_PIDS);
	out->nofile = small_limit(doc, limits, LIMIT_NOFILE);
	out->turn_seconds = small_limit(doc, limits, LIMIT_TURN_SECONDS);
	out->lock_seconds = small_limit(doc, limits, LIMIT_LOCK);
	out->control_seconds = small_limit(doc, limits, LIMIT_CONTROL);
	out->remove_seconds = small_limit(doc, limits, LIMIT_REMOVE);
	out->live = small_limit(doc, limits, LIMIT_LIVE);
	if (reader->out->mode == MODE_SESSION &&
	    member(reader, limits, "turnSeconds", JSON_NUMBER) == JSON_NONE)
		out->turn_seconds = 0;
}

static void read_private(struct reader *reader)
{
	struct config *out = reader->out;
	uint32_t paths = member(reader, 0, "privatePaths", JSON_ARRAY);

	out->state_file = keep(reader, 0, "stateFile");
	if (paths == JSON_NONE)
		return;
	for (uint32_t node = json_first(reader->doc, paths);
	     node != JSON_NONE && out->private_count < PRIVATE_MAX;
	     node = json_next(reader->doc, node)) {
		out->private_path[out->private_count] = keep_node(reader, node);
		out->private_count++;
	}
}

static void read_mode(struct reader *reader)
{
	bool session = is_text(reader, 0, "mode", "session");

	reader->mode_known = session || is_text(reader, 0, "mode", "turn");
	reader->out->mode = session ? MODE_SESSION : MODE_TURN;
	reader->out->init = flag(reader, 0, "init", session);
}

static void read_docker(struct reader *reader)
{
	uint32_t docker = member(reader, 0, "docker", JSON_OBJECT);
	uint32_t audit = member(reader, 0, "audit", JSON_OBJECT);

	reader->out->docker_host = keep(reader, docker, "host");
	reader->out->docker_runtime = keep(reader, docker, "runtime");
	reader->out->audit_required = flag(reader, audit, "required", false);
	reader->out->audit_optional = !flag(reader, audit, "required", true);
	reader->out->best_effort = is_text(reader, 0, "confinement", "best-effort");
}

void config_read(const struct json *doc, struct text *arena, struct config *out,
                 struct report *report)
{
	struct reader reader = {.doc = doc, .arena = arena, .report = report, .out = out};

	memset(out, 0, sizeof(*out));
	out->session_key = "";
	schema_check(doc, &CONFIG, NULL, report);
	read_mode(&reader);
	out->image = keep(&reader, 0, "image");
	out->image_id = keep(&reader, 0, "imageId");
	out->name = keep(&reader, 0, "name");
	read_session(&reader);
	read_user(&reader);
	read_mounts(&reader);
	read_bundle(&reader);
	read_command(&reader);
	read_environment(&reader);
	read_limits(&reader);
	read_private(&reader);
	read_docker(&reader);
	if (arena->full)
		report_add(report, REASON_JSON_TOO_LARGE, "");
}

void config_schema(struct text *out)
{
	schema_emit(&CONFIG, "cofferdam config, version 1", out);
}

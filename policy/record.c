/* SPDX-License-Identifier: ISC */
#include "record.h"

#include <string.h>

#define SECONDS_A_DAY 86400
#define YEAR_LAST 9999 /* RFC 3339 has four digits */

static bool leap(unsigned year)
{
	return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

static unsigned month_days(unsigned month, unsigned year)
{
	static const unsigned char days[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};

	return days[month - 1] + (month == 2 && leap(year) ? 1U : 0U);
}

/* value in exactly width digits. */
static void digits(struct text *out, unsigned value, unsigned width)
{
	char buffer[8];

	for (unsigned i = width; i > 0; i--) {
		buffer[i - 1] = (char)('0' + value % 10);
		value /= 10;
	}
	text_bytes(out, buffer, width);
}

static void date(struct text *out, uint64_t days)
{
	unsigned year = 1970;
	unsigned month = 1;

	while (year < YEAR_LAST && days >= (leap(year) ? 366U : 365U)) {
		days -= leap(year) ? 366U : 365U;
		year++;
	}
	while (month < 12 && days >= month_days(month, year)) {
		days -= month_days(month, year);
		month++;
	}
	digits(out, year, 4);
	text_string(out, "-");
	digits(out, month, 2);
	text_string(out, "-");
	digits(out, (unsigned)(days % 31) + 1, 2);
}

void record_time(struct timespec when, struct text *out)
{
	uint64_t seconds = when.tv_sec < 0 ? 0 : (uint64_t)when.tv_sec;
	unsigned day = (unsigned)(seconds % SECONDS_A_DAY);

	date(out, seconds / SECONDS_A_DAY);
	text_string(out, "T");
	digits(out, day / 3600, 2);
	text_string(out, ":");
	digits(out, day / 60 % 60, 2);
	text_string(out, ":");
	digits(out, day % 60, 2);
	text_string(out, ".");
	digits(out, (unsigned)(when.tv_nsec / 1000), 6);
	text_string(out, "Z");
}

/* Members after the first: `,"name":` and the value. */
static void key(struct text *out, const char *name)
{
	text_string(out, ",\"");
	text_string(out, name);
	text_string(out, "\":");
}

static void put_string(struct text *out, const char *string)
{
	if (string == NULL)
		text_string(out, "null");
	else
		text_json(out, string, strlen(string));
}

static void member(struct text *out, const char *name, const char *string)
{
	key(out, name);
	put_string(out, string);
}

static void number(struct text *out, const char *name, uint64_t value)
{
	key(out, name);
	text_u64(out, value);
}

/* A figure whose 0 means that there is none. */
static void figure(struct text *out, const char *name, uint64_t value)
{
	key(out, name);
	if (value == 0)
		text_string(out, "null");
	else
		text_u64(out, value);
}

static void hash(struct text *out, const char *name, const uint8_t *sha256)
{
	key(out, name);
	if (sha256 == NULL) {
		text_string(out, "null");
		return;
	}
	text_string(out, "\"");
	text_hex(out, sha256, SHA256_BYTES);
	text_string(out, "\"");
}

static void put_verdict(struct text *out, const struct report *report)
{
	const struct finding *first = &report->at[0];
	bool allowed = report_empty(report);

	member(out, "decision", allowed ? "allow" : "deny");
	member(out, "code", allowed ? NULL : code_name(first->code));
	member(out, "reason", allowed ? NULL : reason_name(first->reason));
	member(out, "pointer", allowed || first->pointer[0] == '\0' ? NULL : first->pointer);
	member(out, "detail", allowed || first->detail[0] == '\0' ? NULL : first->detail);
}

static void put_findings(struct text *out, const struct report *report, bool all)
{
	uint32_t count = all || report->count == 0 ? report->count : 1;

	key(out, "findings");
	text_string(out, "[");
	for (uint32_t i = 0; i < count; i++) {
		if (i > 0)
			text_string(out, ",");
		finding_json(&report->at[i], out);
	}
	text_string(out, "]");
	number(out, "findings_dropped", report->count - count + report->dropped);
}

static void put_identity(struct text *out, const struct decision *decision, bool known)
{
	const struct launch *launch = &decision->launch;

	key(out, "image");
	text_string(out, "{\"reference\":");
	put_string(out, decision->image);
	member(out, "id", decision->image_known ? launch->image_id : NULL);
	text_string(out, "}");
	member(out, "mode", !known ? NULL : launch->mode == MODE_TURN ? "turn" : "session");
	member(out, "name", launch->name);
	key(out, "session");
	if (launch->session == NULL || launch->session[0] == '\0') {
		text_string(out, "null");
		return;
	}
	text_string(out, "{\"key\":");
	put_string(out, launch->session);
	number(out, "revision", launch->revision);
	text_string(out, "}");
}

static void put_mount(struct text *out, const struct decision *decision, unsigned at)
{
	const struct root *root = &decision->launch.root[at];
	enum place_state state = decision->root[at].state;
	bool known = state == PLACE_EXISTS || state == PLACE_TEXT;

	text_string(out, "{\"asked\":");
	put_string(out, decision->asked[at]);
	member(out, "canonical", known ? root->path : NULL);
	member(out, "guest", root->guest);
	member(out, "mode", root->read_only ? "ro" : "rw");
	key(out, "dev");
	if (state == PLACE_EXISTS)
		text_u64(out, root->dev);
	else
		text_string(out, "null");
	key(out, "ino");
	if (state == PLACE_EXISTS)
		text_u64(out, root->ino);
	else
		text_string(out, "null");
	text_string(out, "}");
}

static void put_mounts(struct text *out, const struct decision *decision)
{
	key(out, "mounts");
	text_string(out, "[");
	for (unsigned i = 0; i < decision->launch.root_count; i++) {
		if (i > 0)
			text_string(out, ",");
		put_mount(out, decision, i);
	}
	text_string(out, "]");
}

static void put_user(struct text *out, const struct launch *launch, bool known)
{
	key(out, "user");
	if (!known) {
		text_string(out, "null");
		return;
	}
	text_string(out, "{\"uid\":");
	text_u64(out, launch->uid);
	number(out, "gid", launch->gid);
	text_string(out, "}");
}

static void put_limits(struct text *out, const struct limits *limits, bool known)
{
	key(out, "limits");
	if (!known) {
		text_string(out, "null");
		return;
	}
	text_string(out, "{\"memory_bytes\":");
	text_u64(out, limits->memory_bytes);
	number(out, "nano_cpus", limits->nano_cpus);
	number(out, "pids", limits->pids);
	number(out, "nofile", limits->nofile);
	number(out, "tmpfs_bytes", limits->tmpfs_bytes);
	number(out, "shm_bytes", limits->shm_bytes);
	figure(out, "file_bytes", limits->file_bytes);
	number(out, "turn_bytes", limits->turn_bytes);
	figure(out, "turn_seconds", limits->turn_seconds);
	number(out, "lock_seconds", limits->lock_seconds);
	number(out, "control_seconds", limits->control_seconds);
	number(out, "remove_seconds", limits->remove_seconds);
	figure(out, "live", limits->live);
	text_string(out, "}");
}

static void put_command(struct text *out, const struct launch *launch)
{
	member(out, "runtime", launch->runtime);
	member(out, "entrypoint", launch->entrypoint);
	key(out, "command");
	text_string(out, "[");
	for (uint16_t i = 0; i < launch->command.count; i++) {
		if (i > 0)
			text_string(out, ",");
		put_string(out, launch->command.at[i]);
	}
	text_string(out, "]");
	member(out, "workdir", launch->workdir);
}

void record_decision(const struct record_input *input, const struct decision *decision,
                     const struct report *report, struct text *out)
{
	const struct launch *launch = &decision->launch;
	bool known = decision->image != NULL; /* the config was read */

	text_string(out, "{\"schema_version\":1,\"time\":\"");
	record_time(input->now, out);
	text_string(out, "\"");
	number(out, "seq", input->seq);
	member(out, "event", "decision");
	key(out, "run");
	text_string(out, "\"");
	text_hex(out, launch->nonce, sizeof(launch->nonce));
	text_string(out, "\"");
	put_verdict(out, report);
	put_findings(out, report, input->all);
	hash(out, "config_sha256", input->config_sha256);
	hash(out, "turn_sha256", input->turn_sha256);
	hash(out, "argv_sha256", input->argv_sha256);
	put_identity(out, decision, known);
	put_mounts(out, decision);
	member(out, "endpoint", launch->endpoint);
	put_user(out, launch, known);
	put_limits(out, &launch->limits, known);
	put_command(out, launch);
	member(out, "confinement", input->confinement);
	text_string(out, "}\n");
}

/* The schema: a table of members, in the record's order.  Every member is
 * required. */
struct property {
	const char *name;
	const char *schema;
};

#define NULLABLE_STRING "{\"type\":[\"string\",\"null\"]}"
#define SHA256_SCHEMA "{\"type\":[\"string\",\"null\"],\"pattern\":\"^[0-9a-f]{64}$\"}"
#define COUNT_SCHEMA "{\"type\":\"integer\",\"minimum\":0}"
#define FIGURE_SCHEMA "{\"type\":[\"integer\",\"null\"],\"minimum\":0}"

static const struct property FINDING[] = {
	{"code", "{\"type\":\"string\"}"},
	{"reason", "{\"type\":\"string\"}"},
	{"sentence", "{\"type\":\"string\"}"},
	{"hint", "{\"type\":\"string\"}"},
};

static const struct property IMAGE[] = {
	{"reference", NULLABLE_STRING},
	{"id", NULLABLE_STRING},
};

static const struct property SESSION[] = {
	{"key", "{\"type\":\"string\"}"},
	{"revision", COUNT_SCHEMA},
};

static const struct property MOUNT[] = {
	{"asked", "{\"type\":\"string\"}"},
	{"canonical", NULLABLE_STRING},
	{"guest", "{\"type\":\"string\"}"},
	{"mode", "{\"enum\":[\"ro\",\"rw\"]}"},
	{"dev", FIGURE_SCHEMA},
	{"ino", FIGURE_SCHEMA},
};

static const struct property USER[] = {
	{"uid", COUNT_SCHEMA},
	{"gid", COUNT_SCHEMA},
};

static const struct property LIMITS[] = {
	{"memory_bytes", COUNT_SCHEMA},    {"nano_cpus", COUNT_SCHEMA},
	{"pids", COUNT_SCHEMA},            {"nofile", COUNT_SCHEMA},
	{"tmpfs_bytes", COUNT_SCHEMA},     {"shm_bytes", COUNT_SCHEMA},
	{"file_bytes", FIGURE_SCHEMA},     {"turn_bytes", COUNT_SCHEMA},
	{"turn_seconds", FIGURE_SCHEMA},   {"lock_seconds", COUNT_SCHEMA},
	{"control_seconds", COUNT_SCHEMA}, {"remove_seconds", COUNT_SCHEMA},
	{"live", FIGURE_SCHEMA},
};

/* A member is a plain schema, an object of a table, or an array of one. */
enum kind { PLAIN, OBJECT, NULLABLE, ARRAY };

struct top {
	const char *name;
	enum kind kind;
	const char *schema; /* PLAIN */
	const struct property *members; /* the rest */
	size_t count;
};

#define SCHEMA(text) text, NULL, 0
#define TABLE(array) NULL, array, sizeof(array) / sizeof((array)[0])

static const struct top TOP[] = {
	{"schema_version", PLAIN, SCHEMA("{\"const\":1}")},
	{"time", PLAIN, SCHEMA("{\"type\":\"string\",\"format\":\"date-time\"}")},
	{"seq", PLAIN, SCHEMA("{\"type\":\"integer\",\"minimum\":1}")},
	{"event", PLAIN, SCHEMA("{\"const\":\"decision\"}")},
	{"run", PLAIN, SCHEMA("{\"type\":\"string\",\"pattern\":\"^[0-9a-f]{32}$\"}")},
	{"decision", PLAIN, SCHEMA("{\"enum\":[\"allow\",\"deny\"]}")},
	{"code", PLAIN, SCHEMA(NULLABLE_STRING)},
	{"reason", PLAIN, SCHEMA(NULLABLE_STRING)},
	{"pointer", PLAIN, SCHEMA(NULLABLE_STRING)},
	{"detail", PLAIN, SCHEMA(NULLABLE_STRING)},
	{"findings", ARRAY, TABLE(FINDING)},
	{"findings_dropped", PLAIN, SCHEMA(COUNT_SCHEMA)},
	{"config_sha256", PLAIN, SCHEMA(SHA256_SCHEMA)},
	{"turn_sha256", PLAIN, SCHEMA(SHA256_SCHEMA)},
	{"argv_sha256", PLAIN, SCHEMA(SHA256_SCHEMA)},
	{"image", OBJECT, TABLE(IMAGE)},
	{"mode", PLAIN, SCHEMA("{\"enum\":[\"turn\",\"session\",null]}")},
	{"name", PLAIN, SCHEMA(NULLABLE_STRING)},
	{"session", NULLABLE, TABLE(SESSION)},
	{"mounts", ARRAY, TABLE(MOUNT)},
	{"endpoint", PLAIN, SCHEMA(NULLABLE_STRING)},
	{"user", NULLABLE, TABLE(USER)},
	{"limits", NULLABLE, TABLE(LIMITS)},
	{"runtime", PLAIN, SCHEMA(NULLABLE_STRING)},
	{"entrypoint", PLAIN, SCHEMA(NULLABLE_STRING)},
	{"command", PLAIN, SCHEMA("{\"type\":\"array\",\"items\":{\"type\":\"string\"}}")},
	{"workdir", PLAIN, SCHEMA(NULLABLE_STRING)},
	{"confinement", PLAIN, SCHEMA(NULLABLE_STRING)},
};

static void put_properties(struct text *out, const struct property *members, size_t count)
{
	text_string(out, "\"required\":[");
	for (size_t i = 0; i < count; i++) {
		text_string(out, i > 0 ? ",\"" : "\"");
		text_string(out, members[i].name);
		text_string(out, "\"");
	}
	text_string(out, "],\"properties\":{");
	for (size_t i = 0; i < count; i++) {
		text_string(out, i > 0 ? ",\"" : "\"");
		text_string(out, members[i].name);
		text_string(out, "\":");
		text_string(out, members[i].schema);
	}
	text_string(out, "}}");
}

static void put_top(struct text *out, const struct top *top)
{
	static const char *const heads[] = {
		[PLAIN] = "",
		[OBJECT] = "{\"type\":\"object\",",
		[NULLABLE] = "{\"type\":[\"object\",\"null\"],",
		[ARRAY] = "{\"type\":\"array\",\"items\":{\"type\":\"object\",",
	};

	text_string(out, "\"");
	text_string(out, top->name);
	text_string(out, "\":");
	text_string(out, heads[top->kind]);
	if (top->kind == PLAIN) {
		text_string(out, top->schema);
		return;
	}
	put_properties(out, top->members, top->count);
	if (top->kind == ARRAY)
		text_string(out, "}");
}

void record_schema(struct text *out)
{
	const size_t count = sizeof(TOP) / sizeof(TOP[0]);

	text_string(out, "{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\","
	                 "\"title\":\"cofferdam decision record\",\"type\":\"object\","
	                 "\"additionalProperties\":false,\"required\":[");
	for (size_t i = 0; i < count; i++) {
		text_string(out, i > 0 ? ",\"" : "\"");
		text_string(out, TOP[i].name);
		text_string(out, "\"");
	}
	text_string(out, "],\"properties\":{");
	for (size_t i = 0; i < count; i++) {
		if (i > 0)
			text_string(out, ",");
		put_top(out, &TOP[i]);
	}
	text_string(out, "}}");
}

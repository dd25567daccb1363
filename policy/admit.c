/* SPDX-License-Identifier: ISC */
#include "admit.h"

#include <stdbool.h>
#include <string.h>

#include "json.h"
#include "path.h"
#include "text.h"

#define FIELDS 6
#define CONTAINER_HEX 64
/* A line's values are the array and its fields, a label's an object of two
 * members a root. */
#define LINE_VALUES 16
#define LABEL_VALUES (1 + 5 * ROOTS_MAX)
#define MOUNTS_COLUMN_MAX (ROOTS_MAX * (PATH_BYTES_MAX + 1))
/* What a finding shows of a text of unknown length. */
#define SHOWN_MAX 200

/* The fields of one line and the paths of its label, NUL-terminated. */
static char arena_bytes[4096 + 2 * (ROOTS_LABEL_MAX + ROOTS_MAX) + MOUNTS_COLUMN_MAX];

enum field { FIELD_ID, FIELD_STATE, FIELD_RUN, FIELD_MODE, FIELD_ROOTS, FIELD_MOUNTS };

struct held {
	const char *path;
	size_t len;
	bool read_only;
};

/* Another container, as its line describes it. */
struct other {
	const char *field[FIELDS];
	bool session;
	uint32_t count;
	struct held root[ROOTS_MAX];
};

void admit_init(struct admit *admit, const struct launch *plan)
{
	*admit = (struct admit){ .plan = plan };
}

static void show(struct text *to, const char *string)
{
	const size_t len = strnlen(string, SHOWN_MAX);

	text_escaped(to, string, len);
	if (string[len] != '\0')
		text_string(to, "...");
}

/* id may be NULL: the line does not even show one. */
static void unknown(struct report *report, const char *id, const char *why)
{
	struct report_detail detail = report_open(report, REASON_MANAGED_UNKNOWN, "");

	if (id != NULL) {
		text_string(&detail.text, "container ");
		show(&detail.text, id);
		text_string(&detail.text, ": ");
	}
	text_string(&detail.text, why);
	report_close(&detail);
}

static bool is_hex(const char *string, size_t digits)
{
	bool ok = strlen(string) == digits;

	for (size_t i = 0; ok && i < digits; i++)
		ok = (string[i] >= '0' && string[i] <= '9') ||
		     (string[i] >= 'a' && string[i] <= 'f');
	return ok;
}

/* --- reading a line --- */

static bool keep_fields(const struct json *doc, struct text *arena, struct other *other)
{
	uint32_t item;

	if (json_type(doc, 0) != JSON_ARRAY || json_count(doc, 0) != FIELDS)
		return false;
	item = json_first(doc, 0);
	for (size_t i = 0; i < FIELDS; i++) {
		if (json_type(doc, item) != JSON_STRING)
			return false;
		other->field[i] = json_keep(doc, item, arena);
		if (other->field[i] == NULL)
			return false;
		item = json_next(doc, item);
	}
	return true;
}

static bool read_fields(const char *line, size_t len, struct text *arena, struct other *other)
{
	const struct json_limits limits = { .bytes = ANSWER_MAX, .values = LINE_VALUES };
	struct json_error error;
	struct json doc;
	bool ok;

	if (!json_parse(&doc, line, len, &limits, &error))
		return false;
	ok = keep_fields(&doc, arena, other);
	json_drop(&doc);
	return ok;
}

/* One {"path":…,"mode":…} of the label.  What is missing, or is no string, is
 * neither mode, and no path. */
static bool read_root(const struct json *doc, uint32_t item, struct text *arena, struct held *root)
{
	const uint32_t path = json_get(doc, item, "path");
	const uint32_t mode = json_get(doc, item, "mode");

	if (json_count(doc, item) != 2)
		return false;
	root->read_only = json_equals(doc, mode, "ro");
	if (!root->read_only && !json_equals(doc, mode, "rw"))
		return false;
	root->path = json_keep(doc, path, arena);
	if (root->path == NULL)
		return false;
	root->len = strlen(root->path);
	return path_check(root->path, root->len) == PATH_OK &&
	       path_canonical(root->path, root->len);
}

static bool read_roots(struct other *other, struct text *arena)
{
	const struct json_limits limits = { .bytes = ROOTS_LABEL_MAX, .values = LABEL_VALUES };
	const char *label = other->field[FIELD_ROOTS];
	struct json_error error;
	struct json doc;
	uint32_t item;
	bool ok;

	if (!json_parse(&doc, label, strlen(label), &limits, &error))
		return false;
	ok = json_type(&doc, 0) == JSON_ARRAY && json_count(&doc, 0) <= ROOTS_MAX;
	item = ok ? json_first(&doc, 0) : JSON_NONE;
	for (; ok && item != JSON_NONE; item = json_next(&doc, item)) {
		ok = read_root(&doc, item, arena, &other->root[other->count]);
		other->count++;
	}
	json_drop(&doc);
	return ok;
}

/* --- the label against docker's own list --- */

/* The comma-joined list has this path as one of its items. */
static bool column_has(const char *column, const struct held *root)
{
	const size_t len = strlen(column);
	size_t begin = 0;
	bool has = false;

	for (size_t i = 0; i <= len; i++) {
		if (i < len && column[i] != ',')
			continue;
		has = has || (i - begin == root->len &&
		              memcmp(column + begin, root->path, root->len) == 0);
		begin = i + 1;
	}
	return has;
}

static uint32_t column_count(const char *column)
{
	uint32_t count = column[0] == '\0' ? 0 : 1;

	for (size_t i = 0; column[i] != '\0'; i++)
		count += column[i] == ',';
	return count;
}

static bool twice(const struct other *other, uint32_t root)
{
	bool found = false;

	for (uint32_t i = 0; i < root; i++)
		found = found || (other->root[i].len == other->root[root].len &&
		                  memcmp(other->root[i].path, other->root[root].path,
		                         other->root[root].len) == 0);
	return found;
}

/* As many on either side, no path twice, and each one of the label's in the
 * column: the two are the same set. */
static bool label_is_true(const struct other *other)
{
	const char *column = other->field[FIELD_MOUNTS];
	bool same = column_count(column) == other->count;

	for (uint32_t i = 0; same && i < other->count; i++)
		same = !twice(other, i) && column_has(column, &other->root[i]);
	return same;
}

/* --- judging --- */

static void conflict(struct report *report, enum reason reason, const struct root *ours,
                     const struct held *theirs, const struct other *other)
{
	struct report_detail detail = report_open(report, reason, "");

	show(&detail.text, ours->path);
	text_string(&detail.text, ours->read_only ? " (ro) and " : " (rw) and ");
	show(&detail.text, theirs->path);
	text_string(&detail.text, theirs->read_only ? " (ro) of container " : " (rw) of container ");
	text_string(&detail.text, other->field[FIELD_ID]);
	report_close(&detail);
}

static void judge_pair(const struct launch *plan, const struct root *ours,
                       const struct other *other, const struct held *theirs,
                       struct report *report)
{
	const size_t len = strlen(ours->path);

	if (!path_overlap(ours->path, len, theirs->path, theirs->len))
		return;
	if (len != theirs->len) {
		conflict(report, REASON_MANAGED_OVERLAP, ours, theirs, other);
		return;
	}
	if (ours->read_only && theirs->read_only)
		return;
	if (plan->mode == MODE_SESSION && other->session)
		return;
	conflict(report, REASON_MOUNT_IN_USE, ours, theirs, other);
}

/* NULL when the line's own words are in order. */
static const char *odd_field(const struct other *other)
{
	if (!is_hex(other->field[FIELD_ID], CONTAINER_HEX))
		return "its id is not one";
	if (!is_hex(other->field[FIELD_STATE], ID_HEX))
		return "its state label is not 32 hex digits";
	if (!is_hex(other->field[FIELD_RUN], ID_HEX))
		return "its run label is not 32 hex digits";
	if (!other->session && strcmp(other->field[FIELD_MODE], "turn") != 0)
		return "its mode label is neither turn nor session";
	return NULL;
}

/* odd_field has seen to it that the run label is as long as ours. */
static bool is_ours(const struct launch *plan, const struct other *other)
{
	char run[ID_HEX];
	struct text text;

	text_init(&text, run, sizeof(run));
	text_hex(&text, plan->nonce, NONCE_BYTES);
	return memcmp(other->field[FIELD_RUN], run, sizeof(run)) == 0 &&
	       strcmp(other->field[FIELD_STATE], plan->state_id) == 0;
}

static void judge(const struct launch *plan, const struct other *other, struct report *report)
{
	for (uint16_t i = 0; i < plan->root_count; i++)
		for (uint32_t k = 0; k < other->count; k++)
			judge_pair(plan, &plan->root[i], other, &other->root[k], report);
}

void admit_line(struct admit *admit, const char *line, size_t len, struct report *report)
{
	static struct other other;
	struct text arena;
	const char *odd;

	other = (struct other){ .count = 0 };
	text_init(&arena, arena_bytes, sizeof(arena_bytes));
	admit->containers++;
	if (!read_fields(line, len, &arena, &other)) {
		unknown(report, NULL, "a line of docker's list is not what was asked for");
		return;
	}
	other.session = strcmp(other.field[FIELD_MODE], "session") == 0;
	if (strcmp(other.field[FIELD_STATE], admit->plan->state_id) == 0)
		admit->live++;
	odd = odd_field(&other);
	if (odd != NULL) {
		unknown(report, other.field[FIELD_ID], odd);
		return;
	}
	if (is_ours(admit->plan, &other)) {
		admit->ours++;
		return;
	}
	if (!read_roots(&other, &arena))
		unknown(report, other.field[FIELD_ID], "its roots label cannot be read");
	else if (!label_is_true(&other))
		unknown(report, other.field[FIELD_ID], "its roots label is not docker's own list");
	else
		judge(admit->plan, &other, report);
}

void admit_end(const struct admit *admit, struct report *report)
{
	const uint32_t limit = admit->plan->limits.live;

	if (admit->ours == 0)
		unknown(report, NULL, "docker does not list the container of this run");
	if (admit->ours > 1)
		unknown(report, NULL, "docker lists more than one container of this run");
	if (limit != 0 && admit->live > limit) {
		struct report_detail detail = report_open(report, REASON_LIVE_LIMIT, "/limits/live");

		text_u64(&detail.text, admit->live);
		text_string(&detail.text, " with this one, the limit is ");
		text_u64(&detail.text, limit);
		report_close(&detail);
	}
}

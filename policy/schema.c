/* SPDX-License-Identifier: ISC */
#include "schema.h"

#include <string.h>

#include "number.h"

#define KEY_MAX 32 /* bytes of a key that a suggestion is looked for */
#define NEAR 2 /* letters that a suggestion may differ by */
#define NOTE_MAX 128 /* bytes of a finding's detail that is made here */
#define DROPPED_MAX ((REPORT_POINTER * 4) + 8)

/* One container on the way from the root to where a walk stands. */
struct level {
	const struct schema_field *field;
	uint32_t node; /* the object; in an array or map and in a check, the next item or key */
	uint32_t index; /* members or parts already done */
	bool some; /* something has been written */
};

struct walk {
	const struct json *doc;
	struct text *out; /* check: of dropped members */
	struct report *report;
	uint32_t depth;
	struct level at[SCHEMA_DEPTH];
};

static const char *const TYPE[] = {
	[SCHEMA_STRING] = "a string",  [SCHEMA_BOOLEAN] = "true or false",
	[SCHEMA_INTEGER] = "a number", [SCHEMA_DECIMAL] = "a number",
	[SCHEMA_OBJECT] = "an object", [SCHEMA_ARRAY] = "an array",
	[SCHEMA_MAP] = "an object",
};

static const char *const FOUND[] = {
	[JSON_OBJECT] = "an object", [JSON_ARRAY] = "an array", [JSON_STRING] = "a string",
	[JSON_NUMBER] = "a number",  [JSON_TRUE] = "true",      [JSON_FALSE] = "false",
	[JSON_NULL] = "null",
};

static const char *const TYPE_WORD[] = {
	[SCHEMA_STRING] = "string",  [SCHEMA_BOOLEAN] = "boolean", [SCHEMA_INTEGER] = "integer",
	[SCHEMA_DECIMAL] = "number", [SCHEMA_OBJECT] = "object",   [SCHEMA_ARRAY] = "array",
	[SCHEMA_MAP] = "object",
};

/* The text that a judged string is unescaped into. */
static char scratch[SCHEMA_TEXT_MAX];

static enum reason or_else(enum reason own, enum reason standard)
{
	return own != REASON_NONE ? own : standard;
}

static const struct schema_reasons *why(const struct schema_field *field)
{
	static const struct schema_reasons NONE = {0};

	return field->why != NULL ? field->why : &NONE;
}

/* Suggestions. */

static uint8_t least(uint8_t a, uint8_t b, uint8_t c)
{
	uint8_t ab = a < b ? a : b;

	return ab < c ? ab : c;
}

/* The Levenshtein distance of two keys of at most KEY_MAX bytes, one row of
 * the table at a time. */
static uint8_t distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
	uint8_t row[KEY_MAX + 1];

	for (size_t j = 0; j <= b_len; j++)
		row[j] = (uint8_t)j;
	for (size_t i = 0; i < a_len; i++) {
		uint8_t corner = row[0];

		row[0] = (uint8_t)(i + 1);
		for (size_t j = 0; j < b_len; j++) {
			uint8_t change = (uint8_t)(corner + (a[i] != b[j]));

			corner = row[j + 1];
			row[j + 1] = least(change, (uint8_t)(corner + 1), (uint8_t)(row[j] + 1));
		}
	}
	return row[b_len];
}

const char *schema_nearest(const struct schema_field *object, const char *key, size_t len)
{
	const char *best = NULL;
	uint8_t best_distance = NEAR + 1;

	if (len > KEY_MAX)
		return NULL;
	for (uint32_t i = 0; i < object->count; i++) {
		const char *known = object->of[i].key;
		size_t known_len = strlen(known);
		uint8_t d;

		if (known_len > KEY_MAX || known_len <= NEAR)
			continue;
		d = distance(key, len, known, known_len);
		if (d < best_distance) {
			best_distance = d;
			best = known;
		}
	}
	return best;
}

/* Findings. */

static void note_at(struct walk *walk, enum reason reason, uint32_t node, struct text *note)
{
	char string[NOTE_MAX + 1];

	memcpy(string, note->at, note->len);
	string[note->len] = '\0';
	report_at(walk->report, reason, walk->doc, node, string);
}

static void wrong_type(struct walk *walk, const struct schema_field *field, uint32_t node)
{
	char buffer[NOTE_MAX];
	struct text note;

	text_init(&note, buffer, sizeof(buffer));
	text_string(&note, "expected ");
	text_string(&note, TYPE[field->type]);
	text_string(&note, ", found ");
	text_string(&note, FOUND[json_type(walk->doc, node)]);
	note_at(walk, or_else(why(field)->wrong, REASON_SHAPE_TYPE), node, &note);
}

static bool is_number(const struct schema_field *field)
{
	return field->type == SCHEMA_INTEGER || field->type == SCHEMA_DECIMAL;
}

static void put_bound(struct text *to, const struct schema_field *field, uint64_t bound)
{
	if (field->type == SCHEMA_DECIMAL)
		text_nano(to, bound);
	else
		text_u64(to, bound);
}

static const char *unit(const struct schema_field *field)
{
	switch (field->type) {
	case SCHEMA_STRING:
		return " UTF-16 code units";
	case SCHEMA_ARRAY:
		return " items";
	case SCHEMA_MAP:
		return " members";
	case SCHEMA_BOOLEAN:
	case SCHEMA_INTEGER:
	case SCHEMA_DECIMAL:
	case SCHEMA_OBJECT:
		break;
	}
	return "";
}

static void out_of_bounds(struct walk *walk, enum reason reason, const struct schema_field *field,
                          uint32_t node)
{
	bool number = is_number(field); /* a bound of 0 is one */
	char buffer[NOTE_MAX];
	struct text note;

	text_init(&note, buffer, sizeof(buffer));
	if (field->max == 0 && !number) {
		text_string(&note, "at least ");
		put_bound(&note, field, field->min);
	} else if (field->min == 0 && !number) {
		text_string(&note, "at most ");
		put_bound(&note, field, field->max);
	} else if (field->min == field->max) {
		text_string(&note, "exactly ");
		put_bound(&note, field, field->max);
	} else {
		put_bound(&note, field, field->min);
		text_string(&note, " to ");
		put_bound(&note, field, field->max);
	}
	text_string(&note, unit(field));
	note_at(walk, reason, node, &note);
}

static void not_a_word(struct walk *walk, const struct schema_field *field, uint32_t node)
{
	char buffer[NOTE_MAX];
	struct text note;

	text_init(&note, buffer, sizeof(buffer));
	text_string(&note, "expected");
	for (size_t i = 0; field->words[i] != NULL; i++) {
		text_string(&note, i == 0 ? " \"" : " or \"");
		text_string(&note, field->words[i]);
		text_string(&note, "\"");
	}
	note_at(walk, or_else(why(field)->unfit, REASON_SHAPE_VALUE), node, &note);
}

static void drop(struct walk *walk, uint32_t key)
{
	char pointer_buffer[REPORT_POINTER];
	char line_buffer[DROPPED_MAX];
	struct text pointer;
	struct text line;

	if (walk->out == NULL)
		return;
	text_init(&pointer, pointer_buffer, sizeof(pointer_buffer));
	json_pointer(walk->doc, key, &pointer);
	text_init(&line, line_buffer, sizeof(line_buffer));
	text_escaped(&line, pointer.at, pointer.len);
	text_string(&line, pointer.full ? "...\n" : "\n");
	text_bytes(walk->out, line.at, line.len);
}

static void unknown(struct walk *walk, const struct schema_field *object, uint32_t key)
{
	char buffer[KEY_MAX];
	char note_buffer[NOTE_MAX];
	const char *nearest = NULL;
	struct text name;
	struct text note;

	if (object->open) {
		drop(walk, key);
		return;
	}
	text_init(&name, buffer, sizeof(buffer));
	json_decode(walk->doc, key, &name);
	if (!name.full)
		nearest = schema_nearest(object, name.at, name.len);
	text_init(&note, note_buffer, sizeof(note_buffer));
	if (nearest != NULL) {
		text_string(&note, "did you mean \"");
		text_string(&note, nearest);
		text_string(&note, "\"?");
	}
	note_at(walk, REASON_SHAPE_UNKNOWN_KEY, key, &note);
}

/* Checking. */

static bool type_fits(enum schema_type wanted, enum json_type found)
{
	switch (wanted) {
	case SCHEMA_STRING:
		return found == JSON_STRING;
	case SCHEMA_BOOLEAN:
		return found == JSON_TRUE || found == JSON_FALSE;
	case SCHEMA_INTEGER:
	case SCHEMA_DECIMAL:
		return found == JSON_NUMBER;
	case SCHEMA_ARRAY:
		return found == JSON_ARRAY;
	case SCHEMA_OBJECT:
	case SCHEMA_MAP:
		return found == JSON_OBJECT;
	}
	return false;
}

static enum reason judged(const struct schema_field *field, const struct json *doc, uint32_t string)
{
	struct text text;

	text_init(&text, scratch, sizeof(scratch));
	json_decode(doc, string, &text);
	if (text.full)
		return REASON_SHAPE_LENGTH;
	return field->judge(text.at, text.len);
}

static bool is_word(const struct schema_field *field, const struct json *doc, uint32_t string)
{
	for (size_t i = 0; field->words[i] != NULL; i++) {
		if (json_equals(doc, string, field->words[i]))
			return true;
	}
	return false;
}

/* A string's units, an array's items, a map's members. */
static void check_amount(struct walk *walk, const struct schema_field *field, uint32_t node,
                         size_t amount, enum reason standard)
{
	if (amount < field->min)
		out_of_bounds(walk, or_else(why(field)->low, standard), field, node);
	else if (field->max != 0 && amount > field->max)
		out_of_bounds(walk, or_else(why(field)->high, standard), field, node);
}

static void check_string(struct walk *walk, const struct schema_field *field, uint32_t node)
{
	enum reason reason;

	if (field->min != 0 || field->max != 0)
		check_amount(walk, field, node, json_units(walk->doc, node), REASON_SHAPE_LENGTH);
	if (field->words != NULL && !is_word(field, walk->doc, node))
		not_a_word(walk, field, node);
	if (field->judge == NULL)
		return;
	reason = judged(field, walk->doc, node);
	if (reason != REASON_NONE)
		report_at(walk->report, reason, walk->doc, node, "");
}

static enum number_result read_number(const struct json *doc, const struct schema_field *field,
                                      uint32_t node, uint64_t *value)
{
	size_t len;
	const char *digits = json_span(doc, node, &len);

	if (field->type == SCHEMA_DECIMAL)
		return number_nano(digits, len, 0, field->max, value);
	return number_integer(digits, len, 0, field->max, value);
}

uint64_t schema_number(const struct json *doc, uint32_t object, const struct schema_field *field)
{
	uint32_t node = json_get(doc, object, field->key);
	uint64_t value;

	if (json_type(doc, node) != JSON_NUMBER)
		return field->initial;
	if (read_number(doc, field, node, &value) != NUMBER_OK || value < field->min)
		return field->initial;
	return value;
}

static void check_number(struct walk *walk, const struct schema_field *field, uint32_t node)
{
	uint64_t value;

	switch (read_number(walk->doc, field, node, &value)) {
	case NUMBER_OK:
		if (value < field->min)
			out_of_bounds(walk, or_else(why(field)->low, REASON_SHAPE_VALUE), field,
			              node);
		break;
	case NUMBER_RANGE:
		out_of_bounds(walk, or_else(why(field)->high, REASON_SHAPE_VALUE), field, node);
		break;
	case NUMBER_GRAMMAR:
		report_at(walk->report, or_else(why(field)->unfit, REASON_SHAPE_VALUE), walk->doc,
		          node,
		          field->type == SCHEMA_DECIMAL
		                  ? "expected digits, and at most nine after a point"
		                  : "expected digits only");
		break;
	}
}

static void check_required(struct walk *walk, const struct schema_field *object, uint32_t node)
{
	for (uint32_t i = 0; i < object->count; i++) {
		const struct schema_field *member = &object->of[i];

		if (member->required && json_get(walk->doc, node, member->key) == JSON_NONE)
			report_missing(walk->report, walk->doc, node, member->key);
	}
}

/* No table is nested deeper than the stack; if one ever is, it refuses. */
static void enter(struct walk *walk, const struct schema_field *field, uint32_t node)
{
	if (walk->depth == SCHEMA_DEPTH) {
		report_at(walk->report, REASON_JSON_TOO_DEEP, walk->doc, node, "");
		return;
	}
	walk->at[walk->depth] =
		(struct level){.field = field, .node = json_first(walk->doc, node)};
	walk->depth++;
}

static void check_value(struct walk *walk, const struct schema_field *field, uint32_t node)
{
	if (!type_fits(field->type, json_type(walk->doc, node))) {
		wrong_type(walk, field, node);
		return;
	}
	switch (field->type) {
	case SCHEMA_BOOLEAN:
		break;
	case SCHEMA_STRING:
		check_string(walk, field, node);
		break;
	case SCHEMA_INTEGER:
	case SCHEMA_DECIMAL:
		check_number(walk, field, node);
		break;
	case SCHEMA_OBJECT:
		check_required(walk, field, node);
		enter(walk, field, node);
		break;
	case SCHEMA_ARRAY:
	case SCHEMA_MAP:
		check_amount(walk, field, node, json_count(walk->doc, node), REASON_SHAPE_COUNT);
		if (field->item != NULL)
			enter(walk, field, node);
		break;
	}
}

static void check_member(struct walk *walk, const struct schema_field *object, uint32_t key)
{
	for (uint32_t i = 0; i < object->count; i++) {
		if (json_equals(walk->doc, key, object->of[i].key)) {
			check_value(walk, &object->of[i], json_value(walk->doc, key));
			return;
		}
	}
	unknown(walk, object, key);
}

static void check_entry(struct walk *walk, const struct schema_field *map, uint32_t key)
{
	if (map->judge != NULL) {
		enum reason reason = judged(map, walk->doc, key);

		if (reason != REASON_NONE)
			report_at(walk->report, reason, walk->doc, key, "");
	}
	check_value(walk, map->item, json_value(walk->doc, key));
}

void schema_check(const struct json *doc, const struct schema_field *root, struct text *dropped,
                  struct report *report)
{
	struct walk walk = {.doc = doc, .out = dropped, .report = report};

	check_value(&walk, root, 0);
	while (walk.depth > 0) {
		struct level *level = &walk.at[walk.depth - 1];
		const struct schema_field *field = level->field;
		uint32_t item = level->node;

		if (item == JSON_NONE) {
			walk.depth--;
			continue;
		}
		level->node = json_next(doc, item);
		if (field->type == SCHEMA_OBJECT)
			check_member(&walk, field, item);
		else if (field->type == SCHEMA_MAP)
			check_entry(&walk, field, item);
		else
			check_value(&walk, field->item, item);
	}
}

/* Writing the canonical document. */

static void write_value(struct walk *walk, const struct schema_field *field, uint32_t node)
{
	bool object = field->type == SCHEMA_OBJECT;
	bool array = field->type == SCHEMA_ARRAY;

	if ((!object && !array) || walk->depth == SCHEMA_DEPTH) {
		json_write(walk->doc, node, walk->out);
		return;
	}
	text_string(walk->out, object ? "{" : "[");
	walk->at[walk->depth] = (struct level){
		.field = field, .node = object ? node : json_first(walk->doc, node)};
	walk->depth++;
}

static void comma(struct walk *walk, struct level *level)
{
	if (level->some)
		text_string(walk->out, ",");
	level->some = true;
}

/* The next known member, in the table's order; true when there is none left. */
static bool write_member(struct walk *walk, struct level *level)
{
	const struct schema_field *member;
	uint32_t value;

	if (level->index == level->field->count)
		return true;
	member = &level->field->of[level->index];
	level->index++;
	value = json_get(walk->doc, level->node, member->key);
	if (value == JSON_NONE)
		return false;
	comma(walk, level);
	text_string(walk->out, "\""); /* our keys need no escape */
	text_string(walk->out, member->key);
	text_string(walk->out, "\":");
	write_value(walk, member, value);
	return false;
}

static bool write_item(struct walk *walk, struct level *level)
{
	uint32_t item = level->node;

	if (item == JSON_NONE)
		return true;
	level->node = json_next(walk->doc, item);
	comma(walk, level);
	write_value(walk, level->field->item, item);
	return false;
}

void schema_write(const struct json *doc, const struct schema_field *root, struct text *out)
{
	struct walk walk = {.doc = doc, .out = out};

	write_value(&walk, root, 0);
	while (walk.depth > 0) {
		struct level *level = &walk.at[walk.depth - 1];
		bool object = level->field->type == SCHEMA_OBJECT;
		bool done = object ? write_member(&walk, level) : write_item(&walk, level);

		if (done) {
			text_string(out, object ? "}" : "]");
			walk.depth--;
		}
	}
}

/* Printing JSON Schema. */

static void emit_string(struct text *out, const char *before, const char *string)
{
	text_string(out, before);
	text_json(out, string, strlen(string));
}

static void emit_bound(struct text *out, const char *before, const struct schema_field *field,
                       uint64_t bound)
{
	text_string(out, before);
	put_bound(out, field, bound);
}

static void emit_bounds(struct text *out, const struct schema_field *field)
{
	static const char *const WORD[][2] = {
		[SCHEMA_STRING] = {",\"minLength\":", ",\"maxLength\":"},
		[SCHEMA_BOOLEAN] = {"", ""},
		[SCHEMA_INTEGER] = {",\"minimum\":", ",\"maximum\":"},
		[SCHEMA_DECIMAL] = {",\"minimum\":", ",\"maximum\":"},
		[SCHEMA_OBJECT] = {"", ""},
		[SCHEMA_ARRAY] = {",\"minItems\":", ",\"maxItems\":"},
		[SCHEMA_MAP] = {",\"minProperties\":", ",\"maxProperties\":"},
	};
	bool number = is_number(field);

	if (field->min != 0 || number)
		emit_bound(out, WORD[field->type][0], field, field->min);
	if (field->max != 0 || number)
		emit_bound(out, WORD[field->type][1], field, field->max);
	if (field->standard)
		emit_bound(out, ",\"default\":", field, field->initial);
}

static void emit_words(struct text *out, const struct schema_field *field)
{
	for (size_t i = 0; field->words[i] != NULL; i++)
		emit_string(out, i == 0 ? ",\"enum\":[" : ",", field->words[i]);
	text_string(out, "]");
}

static void emit_value(struct walk *walk, const struct schema_field *field)
{
	struct text *out = walk->out;
	bool nested = field->type == SCHEMA_OBJECT || field->item != NULL;

	emit_string(out, "\"type\":", TYPE_WORD[field->type]);
	if (field->note != NULL)
		emit_string(out, ",\"description\":", field->note);
	emit_bounds(out, field);
	if (field->words != NULL)
		emit_words(out, field);
	if (field->pattern != NULL && field->type == SCHEMA_MAP) {
		emit_string(out, ",\"propertyNames\":{\"pattern\":", field->pattern);
		text_string(out, "}");
	} else if (field->pattern != NULL) {
		emit_string(out, ",\"pattern\":", field->pattern);
	}
	if (!nested || walk->depth == SCHEMA_DEPTH) {
		text_string(out, "}");
		return;
	}
	walk->at[walk->depth] = (struct level){.field = field};
	walk->depth++;
}

static void emit_required(struct text *out, const struct schema_field *object)
{
	bool some = false;

	for (uint32_t i = 0; i < object->count; i++) {
		if (object->of[i].required) {
			emit_string(out, some ? "," : ",\"required\":[", object->of[i].key);
			some = true;
		}
	}
	if (some)
		text_string(out, "]");
}

/* The next member; true, and the object's end, when there is none left. */
static bool emit_member(struct walk *walk, struct level *level)
{
	const struct schema_field *object = level->field;
	const struct schema_field *member = &object->of[level->index];

	if (level->index == object->count) {
		text_string(walk->out, "}");
		emit_required(walk->out, object);
		text_string(walk->out, object->keywords != NULL ? object->keywords : "");
		text_string(walk->out, object->open ? "}" : ",\"additionalProperties\":false}");
		return true;
	}
	emit_string(walk->out, level->index == 0 ? ",\"properties\":{" : ",", member->key);
	text_string(walk->out, ":{");
	level->index++;
	emit_value(walk, member);
	return false;
}

static bool emit_item(struct walk *walk, struct level *level)
{
	if (level->index == 1) {
		text_string(walk->out, "}");
		return true;
	}
	level->index = 1;
	text_string(walk->out, level->field->type == SCHEMA_ARRAY ? ",\"items\":{"
	                                                          : ",\"additionalProperties\":{");
	emit_value(walk, level->field->item);
	return false;
}

void schema_emit(const struct schema_field *root, const char *title, struct text *out)
{
	struct walk walk = {.out = out};

	text_string(out, "{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\"");
	emit_string(out, ",\"title\":", title);
	text_string(out, ",");
	emit_value(&walk, root);
	while (walk.depth > 0) {
		struct level *level = &walk.at[walk.depth - 1];
		bool done = level->field->type == SCHEMA_OBJECT ? emit_member(&walk, level)
		                                                : emit_item(&walk, level);

		if (done)
			walk.depth--;
	}
}

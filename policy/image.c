/* SPDX-License-Identifier: ISC */
#include "image.h"

#include <string.h>

/*
 * The grammar is that of github.com/distribution/reference (regexp.go and
 * reference.go), which both docker's CLI and its engine use:
 *
 *   reference  := name [":" tag] ["@" digest]
 *   name       := [domain "/"] component {"/" component}
 *   domain     := (label {"." label} | "[" hex-or-colon... "]") [":" digits]
 *   label      := alphanumerics, with hyphens inside
 *   component  := lower {separator lower}
 *   separator  := "." | "_" | "__" | "-"...
 *   tag        := [A-Za-z0-9_] then at most 127 of [A-Za-z0-9_.-]
 *   digest     := algorithm ":" hex
 *
 * No "@" stands before the digest, no ":" after the last "/" of the name but
 * the tag's, so one look from the left finds where each part ends; the first
 * part of a longer name may be a domain or a component.
 */

#define REFERENCE_MAX 512
#define REFERENCE_NAME_MAX 255
#define TAG_MAX 128
#define ID_PREFIX "sha256:"
#define ID_PREFIX_LEN (sizeof(ID_PREFIX) - 1)
#define ID_DIGITS 64

/* What an operator sees of a path or name that docker gave. */
#define SHOWN_MAX 160

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_lower(char c)
{
	return (c >= 'a' && c <= 'z') || is_digit(c);
}

static bool is_alphanumeric(char c)
{
	return is_lower(c) || (c >= 'A' && c <= 'Z');
}

static bool is_hex(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static bool is_lower_hex(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'f');
}

/* text[from..to) is exactly `digits` lower-case hex digits. */
static bool hex_run(const char *text, size_t from, size_t to, size_t digits)
{
	bool ok = to - from == digits;

	for (size_t i = from; i < to; i++)
		ok = ok && is_lower_hex(text[i]);
	return ok;
}

enum component_state {
	COMP_BEGIN,
	COMP_WORD, /* may end here */
	COMP_DOT,
	COMP_LINE, /* one underscore */
	COMP_LINES, /* two */
	COMP_DASH,
	COMP_BAD,
};

static enum component_state component_step(enum component_state state, char c)
{
	if (state != COMP_BAD && is_lower(c))
		return COMP_WORD;
	if (state == COMP_WORD && c == '.')
		return COMP_DOT;
	if (state == COMP_WORD && c == '_')
		return COMP_LINE;
	if (state == COMP_LINE && c == '_')
		return COMP_LINES;
	if ((state == COMP_WORD || state == COMP_DASH) && c == '-')
		return COMP_DASH;
	return COMP_BAD;
}

static bool component(const char *text, size_t from, size_t to)
{
	enum component_state state = COMP_BEGIN;

	for (size_t i = from; i < to; i++)
		state = component_step(state, text[i]);
	return state == COMP_WORD;
}

enum domain_state {
	DOM_BEGIN,
	DOM_LABEL, /* a label that may end here */
	DOM_DASH,
	DOM_DOT,
	DOM_OPEN, /* after [ */
	DOM_ADDRESS,
	DOM_CLOSE, /* after ] */
	DOM_COLON,
	DOM_PORT,
	DOM_BAD,
};

static enum domain_state host_step(enum domain_state state, char c)
{
	if (state == DOM_BEGIN && c == '[')
		return DOM_OPEN;
	if ((state == DOM_BEGIN || state == DOM_LABEL || state == DOM_DASH || state == DOM_DOT) &&
	    is_alphanumeric(c))
		return DOM_LABEL;
	if ((state == DOM_LABEL || state == DOM_DASH) && c == '-')
		return DOM_DASH;
	if (state == DOM_LABEL && c == '.')
		return DOM_DOT;
	return DOM_BAD;
}

static enum domain_state domain_step(enum domain_state state, char c)
{
	if ((state == DOM_OPEN || state == DOM_ADDRESS) && (is_hex(c) || c == ':'))
		return DOM_ADDRESS;
	if (state == DOM_ADDRESS && c == ']')
		return DOM_CLOSE;
	if ((state == DOM_LABEL || state == DOM_CLOSE) && c == ':')
		return DOM_COLON;
	if ((state == DOM_COLON || state == DOM_PORT) && is_digit(c))
		return DOM_PORT;
	return host_step(state, c);
}

static bool domain(const char *text, size_t from, size_t to)
{
	enum domain_state state = DOM_BEGIN;

	for (size_t i = from; i < to; i++)
		state = domain_step(state, text[i]);
	return state == DOM_LABEL || state == DOM_CLOSE || state == DOM_PORT;
}

static bool name(const char *text, size_t len)
{
	bool ok = len <= REFERENCE_NAME_MAX;
	size_t begin = 0;

	for (size_t i = 0; i < len; i++) {
		if (text[i] != '/')
			continue;
		ok = ok && (component(text, begin, i) || (begin == 0 && domain(text, begin, i)));
		begin = i + 1;
	}
	return ok && component(text, begin, len);
}

static bool tag(const char *text, size_t from, size_t to)
{
	bool ok = to > from && to - from <= TAG_MAX;

	for (size_t i = from; i < to; i++) {
		const char c = text[i];
		const bool inner = i > from && (c == '.' || c == '-');

		ok = ok && (is_alphanumeric(c) || c == '_' || inner);
	}
	return ok;
}

/* The three algorithms of the digest library; docker refuses all others
 * ("unsupported digest algorithm") and upper-case hex. */
static bool digest(const char *text, size_t from, size_t to)
{
	static const struct {
		const char prefix[8];
		size_t digits;
	} known[] = { { "sha256:", 64 }, { "sha384:", 96 }, { "sha512:", 128 } };
	const size_t prefix = sizeof(known[0].prefix) - 1;
	bool ok = false;

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		ok = ok || (to - from == prefix + known[i].digits &&
		            memcmp(text + from, known[i].prefix, prefix) == 0 &&
		            hex_run(text, from + prefix, to, known[i].digits));
	return ok;
}

bool image_reference(const char *text, size_t len)
{
	size_t at = len; /* of "@" */
	size_t colon; /* of the tag's ":" */

	if (len > REFERENCE_MAX)
		return false;
	/* The library refuses this as a name, the engine takes it for an id. */
	if (hex_run(text, 0, len, ID_DIGITS))
		return false;
	for (size_t i = len; i > 0; i--)
		if (text[i - 1] == '@')
			at = i - 1;
	colon = at;
	for (size_t i = at; i > 0 && text[i - 1] != '/'; i--)
		if (text[i - 1] == ':')
			colon = i - 1;
	return name(text, colon) && (colon == at || tag(text, colon + 1, at)) &&
	       (at == len || digest(text, at + 1, len));
}

bool image_id(const char *text, size_t len)
{
	return len == ID_PREFIX_LEN + ID_DIGITS && memcmp(text, ID_PREFIX, ID_PREFIX_LEN) == 0 &&
	       hex_run(text, ID_PREFIX_LEN, len, ID_DIGITS);
}

/* Docker's answer. */

struct reader {
	const struct json *doc;
	struct text *arena;
	struct report *report;
};

static void refuse(const struct reader *r, uint32_t node, const char *what)
{
	report_at(r->report, REASON_IMAGE_ANSWER, r->doc, node, what);
}

static uint32_t findings(const struct report *report)
{
	return report->count + report->dropped;
}

/* Not there, or null: json.h reads both alike. */
static bool absent(const struct reader *r, uint32_t node)
{
	return json_type(r->doc, node) == JSON_NULL;
}

/* A string kept in the arena, or NULL with a finding. */
static const char *keep(const struct reader *r, uint32_t node)
{
	const char *kept;

	if (json_type(r->doc, node) != JSON_STRING) {
		refuse(r, node, "not a string");
		return NULL;
	}
	kept = json_keep(r->doc, node, r->arena);
	if (kept == NULL)
		refuse(r, node, r->arena->full ? "too long" : "holds a NUL");
	return kept;
}

/* An optional array of at most max strings; how many there are. */
static uint16_t read_list(const struct reader *r, uint32_t object, const char *key,
                          const char **to, uint32_t max)
{
	const uint32_t list = json_get(r->doc, object, key);
	uint16_t count = 0;

	if (absent(r, list))
		return 0;
	if (json_type(r->doc, list) != JSON_ARRAY)
		refuse(r, list, "not an array");
	else if (json_count(r->doc, list) > max)
		refuse(r, list, "has too many items");
	else
		for (uint32_t item = json_first(r->doc, list); item != JSON_NONE;
		     item = json_next(r->doc, item))
			to[count++] = keep(r, item);
	return count;
}

/* The bytes before the first "=", all of them when there is none. */
static size_t variable_len(const char *entry)
{
	const char *equals = strchr(entry, '=');

	return equals == NULL ? strlen(entry) : (size_t)(equals - entry);
}

static bool same_variable(const char *a, const char *b)
{
	const size_t len = variable_len(a);

	return len == variable_len(b) && memcmp(a, b, len) == 0;
}

/*
 * The engine merges an image's Env into a container's entry by entry and skips
 * each whose name is there already: of two entries of one name the first
 * counts, and so it does here.  An entry without "=" is merged as it stands.
 */
static void read_env(const struct reader *r, uint32_t config, struct inherited *env)
{
	struct inherited all;

	all.count = read_list(r, config, "Env", all.at, INHERITED_MAX);
	for (uint16_t i = 0; i < all.count; i++) {
		bool known = all.at[i] == NULL;

		for (uint16_t k = 0; k < env->count && !known; k++)
			known = same_variable(env->at[k], all.at[i]);
		if (!known)
			env->at[env->count++] = all.at[i];
	}
}

/* One label as key=value in the arena, or NULL with a finding. */
static const char *read_label(const struct reader *r, uint32_t key)
{
	const uint32_t value = json_value(r->doc, key);
	const char *label = r->arena->at + r->arena->len;

	if (json_type(r->doc, value) != JSON_STRING) {
		refuse(r, value, "not a string");
		return NULL;
	}
	json_decode(r->doc, key, r->arena);
	text_string(r->arena, "=");
	json_decode(r->doc, value, r->arena);
	text_bytes(r->arena, "", 1);
	if (r->arena->full) {
		refuse(r, value, "too long");
		return NULL;
	}
	if (strlen(label) + 1 != (size_t)(r->arena->at + r->arena->len - label)) {
		refuse(r, value, "holds a NUL");
		return NULL;
	}
	return label;
}

static void read_labels(const struct reader *r, uint32_t config, struct inherited *labels)
{
	const uint32_t object = json_get(r->doc, config, "Labels");

	if (absent(r, object))
		return;
	if (json_type(r->doc, object) != JSON_OBJECT) {
		refuse(r, object, "not an object");
		return;
	}
	if (json_count(r->doc, object) > INHERITED_MAX) {
		refuse(r, object, "has too many members");
		return;
	}
	for (uint32_t key = json_first(r->doc, object); key != JSON_NONE;
	     key = json_next(r->doc, key)) {
		labels->at[labels->count] = read_label(r, key);
		labels->count++;
	}
}

/* A VOLUME becomes an anonymous volume of every container of the image,
 * writable and without a limit; --read-only does not reach it. */
static void read_volumes(const struct reader *r, uint32_t config)
{
	const uint32_t object = json_get(r->doc, config, "Volumes");

	if (absent(r, object))
		return;
	if (json_type(r->doc, object) != JSON_OBJECT) {
		refuse(r, object, "not an object");
		return;
	}
	for (uint32_t key = json_first(r->doc, object); key != JSON_NONE;
	     key = json_next(r->doc, key)) {
		size_t len;
		const char *path = json_span(r->doc, key, &len);

		report_add_text(r->report, REASON_IMAGE_VOLUME, "/Config/Volumes", "it declares",
		                path, len < SHOWN_MAX ? len : SHOWN_MAX);
	}
}

static void read_config(const struct reader *r, uint32_t config, struct image *image)
{
	const uint32_t workdir = json_get(r->doc, config, "WorkingDir");

	image->entrypoint.count =
	        read_list(r, config, "Entrypoint", image->entrypoint.at, WORDS_MAX);
	image->command.count = read_list(r, config, "Cmd", image->command.at, WORDS_MAX);
	if (!absent(r, workdir)) {
		const char *kept = keep(r, workdir);

		if (kept != NULL && kept[0] != '\0')
			image->workdir = kept;
	}
	read_env(r, config, &image->env);
	read_labels(r, config, &image->labels);
	read_volumes(r, config);
}

static void read_identity(const struct reader *r, struct image *image)
{
	const uint32_t id = json_get(r->doc, 0, "Id");
	const uint32_t os = json_get(r->doc, 0, "Os");

	if (id == JSON_NONE)
		report_add(r->report, REASON_IMAGE_ANSWER, "/Id");
	else
		image->id = keep(r, id);
	if (image->id != NULL && !image_id(image->id, strlen(image->id)))
		refuse(r, id, "not sha256: and 64 hex digits");
	if (os == JSON_NONE)
		report_add(r->report, REASON_IMAGE_ANSWER, "/Os");
	else if (!json_equals(r->doc, os, "linux"))
		report_at(r->report, REASON_IMAGE_OS, r->doc, os, "not \"linux\"");
}

void image_read(const struct json *doc, struct text *arena, struct image *out,
                struct report *report)
{
	const struct reader r = { .doc = doc, .arena = arena, .report = report };
	const uint32_t before = findings(report);
	struct image image = { .id = NULL, .workdir = "/" };
	uint32_t config;

	if (json_type(doc, 0) != JSON_OBJECT) {
		refuse(&r, 0, "not an object");
		return;
	}
	read_identity(&r, &image);
	/* Not ContainerConfig, which older engines have too: that is how the
	 * image's last layer was built. */
	config = json_get(doc, 0, "Config");
	if (!absent(&r, config)) {
		if (json_type(doc, config) == JSON_OBJECT)
			read_config(&r, config, &image);
		else
			refuse(&r, config, "not an object");
	}
	if (findings(report) == before)
		*out = image;
}

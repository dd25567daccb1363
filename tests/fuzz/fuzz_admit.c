/* SPDX-License-Identifier: ISC */

/*
 * policy/admit.c: docker's list of the managed containers, beside a turn and
 * beside a session.  What is admitted is read a second time by the few lines
 * below, which know only what two roots may do to each other.
 */

#include <stdlib.h>
#include <string.h>

#include "../../policy/admit.h"
#include "fuzz.h"

#define LIVE 3
#define OWN_RUN "00112233445566778899aabbccddeeff"
#define OWN_STATE "0123456789abcdef0123456789abcdef"
#define FIELD_MAX 262144

static const char *const own_path[] = {"/srv/b", "/srv/w"};
static const bool own_read_only[] = {true, false};

static struct launch plan;
static struct admit admit;
static struct report report;
static char field[6][FIELD_MAX];
static char root_path[FIELD_MAX];

static void begin(enum mode mode)
{
	static const uint8_t nonce[NONCE_BYTES] = {0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77,
	                                           0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff};

	plan = (struct launch){.mode = mode, .state_id = OWN_STATE, .root_count = 2};
	memcpy(plan.nonce, nonce, sizeof nonce);
	for (unsigned i = 0; i < plan.root_count; i++)
		plan.root[i] = (struct root){.path = own_path[i], .read_only = own_read_only[i]};
	plan.limits.live = LIVE;
	report_init(&report, CODE_UNAVAILABLE, 69);
	admit_init(&admit, &plan);
}

/* The next line of text[*at..len), without its newline; NULL at the end. */
static const char *next_line(const char *text, size_t len, size_t *at, size_t *line_len)
{
	const char *line = text + *at;
	const char *end;

	if (*at >= len)
		return NULL;
	end = memchr(line, '\n', len - *at);
	*line_len = end != NULL ? (size_t)(end - line) : len - *at;
	*at += *line_len + 1;
	return line;
}

static void feed(const char *text, size_t len)
{
	const char *line;
	size_t at = 0, line_len;

	while ((line = next_line(text, len, &at, &line_len)) != NULL) {
		char *copy = fuzz_copy(line, line_len);

		admit_line(&admit, copy, line_len, &report);
		free(copy);
	}
}

static bool admitted(enum mode mode, const char *text, size_t len, unsigned times)
{
	begin(mode);
	for (unsigned i = 0; i < times; i++)
		feed(text, len);
	admit_end(&admit, &report);
	fuzz_report(&report);
	return report_empty(&report);
}

static void decode(const struct json *doc, uint32_t node, char *to)
{
	struct text text;

	HOLDS(json_type(doc, node) == JSON_STRING);
	text_init(&text, to, FIELD_MAX - 1);
	json_decode(doc, node, &text);
	HOLDS(!text.full);
	to[text.len] = '\0';
}

/* One is the other, or in it. */
static bool overlap(const char *a, const char *b)
{
	const size_t len = strlen(a) < strlen(b) ? strlen(a) : strlen(b);

	return strncmp(a, b, len) == 0 &&
	       (strlen(a) == strlen(b) || a[len] == '/' || b[len] == '/' || len == 1);
}

static void check_root(enum mode mode, bool other_session, bool read_only)
{
	for (unsigned i = 0; i < 2; i++) {
		if (!overlap(root_path, own_path[i]))
			continue;
		HOLDS(strcmp(root_path, own_path[i]) == 0);
		HOLDS((read_only && own_read_only[i]) || (other_session && mode == MODE_SESSION));
	}
}

/* Ours, or a container that stands in no way; true when it is ours. */
static bool check_line(enum mode mode, const char *line, size_t len)
{
	struct json doc, label;
	uint32_t item;

	HOLDS(fuzz_parse(&doc, line, len, false));
	item = json_first(&doc, 0);
	for (unsigned i = 0; i < 6; i++, item = json_next(&doc, item))
		decode(&doc, item, field[i]);
	HOLDS(item == JSON_NONE);
	json_drop(&doc);
	if (strcmp(field[1], OWN_STATE) == 0 && strcmp(field[2], OWN_RUN) == 0)
		return true;
	HOLDS(strcmp(field[3], "turn") == 0 || strcmp(field[3], "session") == 0);
	HOLDS(fuzz_parse(&label, field[4], strlen(field[4]), false));
	for (item = json_first(&label, 0); item != JSON_NONE; item = json_next(&label, item)) {
		decode(&label, json_get(&label, item, "path"), root_path);
		check_root(mode, strcmp(field[3], "session") == 0,
		           json_equals(&label, json_get(&label, item, "mode"), "ro"));
	}
	json_drop(&label);
	return false;
}

static void check_admitted(enum mode mode, const char *text, size_t len)
{
	unsigned ours = 0, live = 0;
	const char *line;
	size_t at = 0, line_len;

	while ((line = next_line(text, len, &at, &line_len)) != NULL) {
		ours += check_line(mode, line, line_len);
		live += strcmp(field[1], OWN_STATE) == 0;
	}
	HOLDS(ours == 1 && live <= LIVE);
	HOLDS(!admitted(mode, text, len, 2)); /* ours is then there twice */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	const bool turn = admitted(MODE_TURN, text, size, 1);
	const bool session = admitted(MODE_SESSION, text, size, 1);

	HOLDS(!turn || session); /* a session may stand wherever a turn may */
	if (turn)
		check_admitted(MODE_TURN, text, size);
	if (session)
		check_admitted(MODE_SESSION, text, size);
	return 0;
}

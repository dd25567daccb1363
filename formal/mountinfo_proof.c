/* SPDX-License-Identifier: ISC */

/* The module itself: the readers of a line have no names outside. */
#include "../policy/mountinfo.c"

#include <stdlib.h>

#include "nondet.h"
#include "spec.h"

#ifdef CBMC

/* Any line of any text, which lies in an object of just its size: behind the
 * line stands at least the byte that ended it. */
#ifndef TEXT_MAX
#define TEXT_MAX 1073741824
#endif

static struct line any_line(void)
{
	struct line line = {.end = any_up_to(TEXT_MAX), .bad = any_bool()};

	line.text = malloc(line.end + 1);
	line.at = any_up_to(line.end);
	ASSUME(line.text != NULL);
	return line;
}

PROOF(mountinfo_field_safe)
{
	struct line line = any_line();
	const struct line before = line;
	size_t len;
	const char *field = next_field(&line, &len);

	PROVE(line.text == before.text && line.end == before.end, "the same line");
	PROVE(line.at >= before.at && line.at <= line.end, "it goes on, and stays inside");
	PROVE(field == line.text + before.at && len <= line.at - before.at, "the field lies there");
	PROVE(len > 0 ? line.bad == before.bad : line.bad, "none is empty");
	PROVE(len == 0 || line.at > before.at, "a field takes a byte");
}

PROOF(mountinfo_path_safe)
{
	struct line line = any_line();
	const struct line before = line;
	size_t len;
	const char *field = next_path(&line, &len);

	PROVE(line.text == before.text && line.end == before.end, "the same line");
	PROVE(line.at >= before.at && line.at <= line.end, "it goes on, and stays inside");
	PROVE(!before.bad || line.bad, "bad for good");
	PROVE(field == line.text + before.at, "the field lies there");
	if (line.bad)
		return;
	PROVE(len > 0 && before.at + len <= line.end, "a path, inside");
	PROVE(field[len] == '\0', "with a NUL behind it");
}

PROOF(mountinfo_tail_safe)
{
	struct line line = any_line();
	const struct line before = line;

	tail(&line);
	PROVE(line.text == before.text && line.end == before.end && line.at >= before.at &&
	              line.at <= line.end,
	      "it goes on, and stays inside");
	PROVE(!before.bad || line.bad, "bad for good");
}

#endif

/* Three bytes after a backslash and a byte's value; 0 else. */
PROOF(mountinfo_escape_exact)
{
	char text[5];
	const size_t len = any_text(text, 5);
	const bool escape = len >= 4 && text[1] >= '0' && text[1] <= '3' && text[2] >= '0' &&
	                    text[2] <= '7' && text[3] >= '0' && text[3] <= '7';
	const int value = escape ? (text[1] - '0') * 64 + (text[2] - '0') * 8 + text[3] - '0' : 0;

	PROVE(escape_byte(text, len) == value, "as specified");
}

/* Where a path lies: the root, and what is below the point. */
PROOF(mountinfo_inside_exact)
{
	char root[FORMAL_N + 1], point[FORMAL_N + 1], path[FORMAL_N + 1], to[PATH_BYTES_MAX + 1];
	struct mountinfo_entry entry = {.root = root, .point = point};
	size_t len, to_len = 77, root_len, below, rest;
	bool ok;

	entry.point_len = any_text(point, FORMAL_N);
	ASSUME(spec_canonical(point, entry.point_len));
	len = any_text(path, FORMAL_N);
	ASSUME(spec_canonical(path, len));
	entry.root_len = any_text(root, FORMAL_N);
	ASSUME(entry.root_len == 0 || spec_canonical(root, entry.root_len));
	to[0] = '?';
	root_len = entry.root_len == 1 ? 0 : entry.root_len;
	below = entry.point_len == 1 ? 0 : entry.point_len;
	rest = len == 1 ? 0 : len - below;
	ok = entry.root_len > 0 && spec_contains(point, entry.point_len, path, len) &&
	     root_len + rest <= PATH_BYTES_MAX;
	PROVE(mountinfo_inside(&entry, path, len, to, &to_len) == ok, "if it says where");
	if (!ok) {
		PROVE(to[0] == '?' && to_len == 77, "nothing written");
		return;
	}
	PROVE(to_len == (root_len + rest > 0 ? root_len + rest : 1) && to[to_len] == '\0', "length");
	for (size_t i = 0; i < PATH_BYTES_MAX; i++)
		PROVE(i >= root_len + rest ||
		              to[i] == (i < root_len ? root[i] : path[below + i - root_len]),
		      "its bytes");
	PROVE(root_len + rest > 0 || to[0] == '/', "or the root");
	PROVE(spec_canonical(to, to_len), "canonical");
}

#ifndef CBMC

#include <stdio.h>

#define LINE 96

/* A line as a list of fields between single blanks; then each by its place. */
struct fields {
	size_t count;
	size_t start[LINE], len[LINE];
};

static void split(struct fields *fields, const char *line, size_t len)
{
	size_t start = 0;

	fields->count = 0;
	for (size_t i = 0; i <= len; i++) {
		if (i < len && line[i] != ' ')
			continue;
		fields->start[fields->count] = start;
		fields->len[fields->count++] = i - start;
		start = i + 1;
	}
}

static bool number(const char *text, size_t len, uint64_t max, uint64_t *value)
{
	spec_wide wide = 0;

	if (len > 20 || !spec_decimal_form(text, len, 0) || memchr(text, '.', len) != NULL)
		return false;
	wide = spec_decimal_value(text, len, 0);
	*value = (uint64_t)wide;
	return wide <= max;
}

/* With its escapes undone; SIZE_MAX when there is one that is none, or a NUL. */
static size_t unescaped(const char *text, size_t len, char *to)
{
	size_t out = 0;
	unsigned value;

	for (size_t i = 0; i < len; i++) {
		char octal[4] = "";

		if (text[i] == '\0')
			return SIZE_MAX;
		to[out++] = text[i];
		if (text[i] != '\\')
			continue;
		for (size_t k = 0; k < 3 && i + 1 + k < len; k++)
			octal[k] = text[i + 1 + k];
		if (strspn(octal, "01234567") != 3 || sscanf(octal, "%3o", &value) != 1 ||
		    value > 255 || value == 0)
			return SIZE_MAX;
		to[out - 1] = (char)value;
		i += 3;
	}
	return out;
}

struct expected {
	uint64_t id, major, minor;
	char root[LINE], point[LINE];
	size_t root_len, point_len;
};

static bool spec_line(const char *line, size_t len, struct expected *e)
{
	struct fields f;
	const char *colon;
	size_t hyphen = 0;

	split(&f, line, len);
	for (size_t i = f.count; i > 6; i--)
		if (f.len[i - 1] == 1 && line[f.start[i - 1]] == '-')
			hyphen = i - 1;
	if (hyphen == 0 || hyphen + 1 >= f.count)
		return false;
	for (size_t i = 0; i <= hyphen + 1; i++)
		if (f.len[i] == 0)
			return false;
	colon = memchr(line + f.start[2], ':', f.len[2]);
	e->root_len = unescaped(line + f.start[3], f.len[3], e->root);
	e->point_len = unescaped(line + f.start[4], f.len[4], e->point);
	return number(line, f.len[0], UINT64_MAX, &e->id) && colon != NULL &&
	       number(line + f.start[2], (size_t)(colon - line) - f.start[2], UINT32_MAX,
	              &e->major) &&
	       number(colon + 1, f.start[2] + f.len[2] - (size_t)(colon + 1 - line), UINT32_MAX,
	              &e->minor) &&
	       e->root_len != SIZE_MAX && e->point_len != SIZE_MAX && e->point[0] == '/';
}

static const char *const lines[] = {
	"1 2 3:4 / / o - t", "18446744073709551615 0 0:4294967295 /a\\040b /m\\134 rw s:1 - x y",
	"9 9 9:9 net:[4026] /n o shared:1 master:2 - nsfs",
};

static void change_line(char *line, size_t *len)
{
	const size_t at = any_up_to(*len);
	const size_t how = any_up_to(2);

	if (how == 0) { /* one more */
		memmove(line + at + 1, line + at, *len - at);
		line[at] = any_byte();
		++*len;
		return;
	}
	ASSUME(at < *len);
	if (how == 1) {
		line[at] = any_byte();
	} else {
		memmove(line + at, line + at + 1, *len - at - 1);
		--*len;
	}
}

/* Lines as the kernel writes them, with two bytes changed, added or taken away. */
PROOF(mountinfo_line_exact)
{
	static struct mountinfo table;
	struct expected e = {0};
	char text[LINE], line[LINE];
	size_t len;
	bool ok;

	strcpy(line, lines[any_up_to(sizeof lines / sizeof lines[0] - 1)]);
	len = strlen(line);
	change_line(line, &len);
	change_line(line, &len);
	memcpy(text, line, len);
	text[len] = '\n';
	ok = spec_line(line, len, &e);
	PROVE(mountinfo_parse(&table, text, len + 1) == ok, "accepted as specified");
	PROVE(table.count == (ok ? 1 : 0), "one line, or none");
	if (!ok)
		return;
	PROVE(table.at[0].id == e.id && table.at[0].major == e.major &&
	              table.at[0].minor == e.minor,
	      "its numbers");
	PROVE(table.at[0].root_len == (spec_canonical(e.root, e.root_len) ? e.root_len : 0),
	      "a root that is a path");
	PROVE(memcmp(table.at[0].root, e.root, e.root_len) == 0 &&
	              table.at[0].root[e.root_len] == '\0',
	      "the root");
	PROVE(table.at[0].point_len == e.point_len &&
	              memcmp(table.at[0].point, e.point, e.point_len) == 0 &&
	              table.at[0].point[e.point_len] == '\0',
	      "the point");
}

/* So many lines, the last one ended or not. */
PROOF(mountinfo_lines_exact)
{
	static struct mountinfo table;
	const size_t count = any_up_to(MOUNTINFO_MOUNTS + 1);
	const bool ended = any_bool();
	char text[(MOUNTINFO_MOUNTS + 1) * LINE] = "";
	const bool ok = count > 0 && count <= MOUNTINFO_MOUNTS && ended;
	bool below;

	for (size_t i = 0; i < count; i++) {
		strcat(text, lines[any_up_to(sizeof lines / sizeof lines[0] - 1)]);
		strcat(text, i + 1 < count || ended ? "\n" : "");
	}
	below = strstr(text, "/m") != NULL || strstr(text, "/n") != NULL;
	PROVE(mountinfo_parse(&table, text, strlen(text)) == ok, "as many as there is room for");
	PROVE(table.count == (ok ? count : 0), "all of them, or none");
	PROVE(mountinfo_find(&table, 77) == NULL, "only what is there");
	for (uint32_t i = 0; i < table.count; i++) {
		const struct mountinfo_entry *found = mountinfo_find(&table, table.at[i].id);

		PROVE(found != NULL && found <= &table.at[i] && found->id == table.at[i].id, "by its id");
	}
	PROVE((mountinfo_below(&table, "/", 1) != NULL) == (ok && below), "below the root");
}

#endif

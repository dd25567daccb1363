/* SPDX-License-Identifier: ISC */
#include "mountinfo.h"

#include <string.h>

#include "../ipc/limits.h"
#include "number.h"
#include "path.h"

/* A line of the table, read from left to right.  `bad` is sticky: the caller
 * looks once, at the end. */
struct line {
	char *text;
	size_t at;
	size_t end;
	bool bad;
};

/* The next field, up to a single blank or the line's end. */
static char *next_field(struct line *line, size_t *len)
{
	char *field = line->text + line->at;
	size_t start = line->at;

	while (line->at < line->end && line->text[line->at] != ' ')
		line->at++;
	*len = line->at - start;
	if (*len == 0)
		line->bad = true;
	if (line->at < line->end)
		line->at++;
	return field;
}

static uint64_t decimal(struct line *line, const char *digits, size_t len, uint64_t max)
{
	uint64_t value = 0;

	if (number_integer(digits, len, 0, max, &value) != NUMBER_OK)
		line->bad = true;
	return value;
}

/* The byte of an escape \ooo, or 0 when it is none.  The kernel writes a blank,
 * tab, line feed and backslash so; a NUL cannot stand in a path. */
static unsigned char escape_byte(const char *text, size_t len)
{
	unsigned value = 0;
	bool ok = len >= 4;

	for (size_t i = 1; ok && i < 4; i++) {
		ok = text[i] >= '0' && text[i] <= '7';
		value = value * 8 + (unsigned)(unsigned char)text[i] - '0';
	}
	return ok && value <= 255 ? (unsigned char)value : 0;
}

/* The next field with its escapes undone where it stands.  The NUL goes at the
 * latest where the blank, or the line's end, after the field was. */
static char *next_path(struct line *line, size_t *len)
{
	size_t raw_len;
	char *field = next_field(line, &raw_len);
	size_t out = 0;

	*len = 0;
	if (line->bad)
		return field;
	for (size_t i = 0; i < raw_len; i++) {
		unsigned char byte = (unsigned char)field[i];

		if (byte == '\\') {
			byte = escape_byte(field + i, raw_len - i);
			i += 3;
		}
		if (byte == 0)
			line->bad = true;
		field[out++] = (char)byte;
	}
	field[out] = '\0';
	*len = out;
	return field;
}

static void device(struct line *line, struct mountinfo_entry *entry)
{
	size_t len;
	const char *field = next_field(line, &len);
	size_t colon = 0;

	while (colon < len && field[colon] != ':')
		colon++;
	if (colon == len) {
		line->bad = true;
		return;
	}
	entry->major = (uint32_t)decimal(line, field, colon, UINT32_MAX);
	entry->minor = (uint32_t)decimal(line, field + colon + 1, len - colon - 1, UINT32_MAX);
}

/* The optional tags end at a lone hyphen; the type, at the least, follows. */
static void tail(struct line *line)
{
	bool hyphen = false;
	size_t len;

	while (!hyphen && !line->bad && line->at < line->end) {
		const char *field = next_field(line, &len);

		hyphen = len == 1 && field[0] == '-';
	}
	(void)next_field(line, &len);
}

static bool parse_line(char *text, size_t start, size_t end, struct mountinfo_entry *out)
{
	struct line line = {text, start, end, false};
	struct mountinfo_entry entry = {0};
	size_t len;
	const char *field = next_field(&line, &len);

	entry.id = decimal(&line, field, len, UINT64_MAX);
	(void)next_field(&line, &len); /* the parent's id */
	device(&line, &entry);
	entry.root = next_path(&line, &entry.root_len);
	entry.point = next_path(&line, &entry.point_len);
	(void)next_field(&line, &len); /* the options */
	tail(&line);
	if (line.bad || entry.point[0] != '/')
		return false;
	/* nsfs says net:[…], a deleted directory ends in //deleted, a cgroup
	 * namespace may show /..: none says where the mount lies. */
	if (!path_canonical(entry.root, entry.root_len))
		entry.root_len = 0;
	*out = entry;
	return true;
}

bool mountinfo_parse(struct mountinfo *out, char *text, size_t len)
{
	size_t start = 0;
	uint32_t count = 0;
	bool ok = len > 0;

	out->count = 0;
	while (ok && start < len) {
		size_t end = start;

		while (end < len && text[end] != '\n')
			end++;
		ok = end < len && count < MOUNTINFO_MOUNTS &&
		     parse_line(text, start, end, &out->at[count]);
		count++;
		start = end + 1;
	}
	if (ok)
		out->count = count;
	return ok;
}

const struct mountinfo_entry *mountinfo_find(const struct mountinfo *table, uint64_t id)
{
	for (uint32_t i = 0; i < table->count; i++) {
		if (table->at[i].id == id)
			return &table->at[i];
	}
	return NULL;
}

bool mountinfo_inside(const struct mountinfo_entry *entry, const char *path, size_t len, char *to,
                      size_t *to_len)
{
	/* "/" in front of "/x" adds nothing, be it a root, a mount point or the
	 * path itself. */
	size_t root = entry->root_len == 1 ? 0 : entry->root_len;
	size_t point = entry->point_len == 1 ? 0 : entry->point_len;
	size_t rest = len == 1 ? 0 : len - point;

	if (entry->root_len == 0 || !path_contains(entry->point, entry->point_len, path, len) ||
	    root > PATH_BYTES_MAX || rest > PATH_BYTES_MAX - root)
		return false;
	memcpy(to, entry->root, entry->root_len);
	memcpy(to + root, path + point, rest);
	*to_len = root + rest > 0 ? root + rest : 1;
	to[*to_len] = '\0';
	return true;
}

const char *mountinfo_below(const struct mountinfo *table, const char *path, size_t len)
{
	for (uint32_t i = 0; i < table->count; i++) {
		const struct mountinfo_entry *entry = &table->at[i];

		if (entry->point_len > len &&
		    path_contains(path, len, entry->point, entry->point_len))
			return entry->point;
	}
	return NULL;
}

/* SPDX-License-Identifier: ISC */
#include "holes.h"

#include <string.h>

#include "../ipc/limits.h"

#define DECIMAL_MAX 20 /* of 2^64 - 1 */
#define NANO 1000000000U
#define NANO_DIGITS 9
#define COMPONENT_MAX 255 /* NAME_MAX (limits.h) */

void holes_byte(struct hole *hole, char want)
{
	hole->ok = hole->ok && hole->word[hole->at] == want;
	if (hole->ok)
		hole->at++;
}

void holes_text(struct hole *hole, const char *want)
{
	for (size_t i = 0; want[i] != '\0'; i++)
		holes_byte(hole, want[i]);
}

void holes_decimal(struct hole *hole, uint64_t value)
{
	char digit[DECIMAL_MAX]; /* the lowest first */
	size_t count = 0;

	do {
		digit[count++] = (char)('0' + value % 10);
		value /= 10;
	} while (value != 0);
	while (count > 0)
		holes_byte(hole, digit[--count]);
}

void holes_nano(struct hole *hole, uint64_t nano)
{
	uint64_t rest = nano % NANO;

	holes_decimal(hole, nano / NANO);
	if (rest != 0)
		holes_byte(hole, '.');
	for (unsigned place = 0; place < NANO_DIGITS && rest != 0; place++) {
		rest *= 10;
		holes_byte(hole, (char)('0' + rest / NANO));
		rest %= NANO;
	}
}

void holes_hex(struct hole *hole, const uint8_t *bytes, size_t len)
{
	static const char digit[] = "0123456789abcdef";

	for (size_t i = 0; i < len; i++) {
		holes_byte(hole, digit[bytes[i] >> 4]);
		holes_byte(hole, digit[bytes[i] & 0xf]);
	}
}

/* The code point that text begins with, and its length in bytes; 0 when it is
 * not UTF-8.  A NUL is no continuation byte, so nothing behind it is read. */
static size_t code_point(const char *text, uint32_t *code)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	const uint8_t lead = (uint8_t)text[0];
	const size_t len = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
	bool ok = (lead < 0x80 || lead >= 0xc0) && lead < 0xf8;

	*code = len == 1 ? lead : lead & (0x7fU >> len);
	for (size_t i = 1; ok && i < len; i++) {
		ok = ((uint8_t)text[i] & 0xc0) == 0x80;
		*code = *code << 6 | ((uint8_t)text[i] & 0x3f);
	}
	ok = ok && *code >= least[len] && *code <= 0x10ffff && (*code < 0xd800 || *code > 0xdfff);
	return ok ? len : 0;
}

/* \u and one UTF-16 code unit. */
static void json_unit(struct hole *hole, uint32_t unit)
{
	const uint8_t bytes[2] = {(uint8_t)(unit >> 8), (uint8_t)unit};

	holes_text(hole, "\\u");
	holes_hex(hole, bytes, sizeof bytes);
}

static void json_code_point(struct hole *hole, uint32_t code)
{
	if (code >= 0x10000) {
		json_unit(hole, 0xd7c0 + (code >> 10));
		json_unit(hole, 0xdc00 + (code & 0x3ff));
	} else if (code < 0x20 || code >= 0x7f) {
		json_unit(hole, code);
	} else {
		if (code == '"' || code == '\\')
			holes_byte(hole, '\\');
		holes_byte(hole, (char)code);
	}
}

void holes_json(struct hole *hole, const char *text)
{
	uint32_t code;
	size_t len;

	for (size_t at = 0; hole->ok && text[at] != '\0'; at += len) {
		len = code_point(text + at, &code);
		hole->ok = len != 0;
		if (hole->ok)
			json_code_point(hole, code);
	}
}

bool holes_end(const struct hole *hole)
{
	return hole->ok && hole->word[hole->at] == '\0';
}

bool holes_of(const char *text, const char *first, const char *other, size_t least, size_t most)
{
	size_t len = 0;
	bool ok = true;

	for (; ok && text[len] != '\0'; len++)
		ok = len < most && (strchr(first, text[len]) != NULL ||
		                    (len > 0 && strchr(other, text[len]) != NULL));
	return ok && len >= least;
}

bool holes_plain(const char *text, const char *controls)
{
	uint32_t code;
	size_t len;
	bool ok = true;

	for (size_t at = 0; ok && text[at] != '\0'; at += len) {
		len = code_point(text + at, &code);
		ok = len != 0 && code != 0x7f &&
		     (code >= 0x20 || strchr(controls, (int)code) != NULL);
	}
	return ok;
}

/* Not empty, not "." and not "..". */
static bool component(const char *text, size_t len)
{
	const bool dots = text[0] == '.' && (len == 1 || (len == 2 && text[1] == '.'));

	return len > 0 && len <= COMPONENT_MAX && !dots;
}

bool holes_path(const char *path)
{
	bool ok = path[0] == '/' && holes_plain(path, "") && strpbrk(path, ",\"") == NULL;
	size_t at = 0;

	while (ok && path[at] == '/') {
		const size_t len = strcspn(path + at + 1, "/");

		ok = component(path + at + 1, len);
		at += 1 + len;
	}
	return ok && at <= PATH_BYTES_MAX;
}

bool holes_below(const char *outer, const char *inner)
{
	size_t i = 0;

	while (outer[i] != '\0' && outer[i] == inner[i])
		i++;
	return outer[i] == '\0' && (inner[i] == '\0' || inner[i] == '/');
}

bool holes_overlap(const char *a, const char *b)
{
	return holes_below(a, b) || holes_below(b, a);
}

bool holes_env(const char *entry)
{
	const size_t name = strspn(entry, LETTERS DIGITS "_");

	return name > 0 && strchr(DIGITS, entry[0]) == NULL && entry[name] == '=' &&
	       holes_plain(entry + name + 1, "");
}

bool holes_same_name(const char *a, const char *b)
{
	size_t i = 0;

	while (a[i] == b[i] && a[i] != '=' && a[i] != '\0')
		i++;
	return a[i] == b[i];
}

const char *holes_after(const char *prefix, const char *text)
{
	const size_t len = strlen(prefix);

	return strncmp(prefix, text, len) == 0 ? text + len : "";
}

/* SPDX-License-Identifier: ISC */
#include "say.h"

#include <bsd/string.h>
#include <stdio.h>
#include <string.h>

static const struct say_row rows[WHY_COUNT] = {
#define X(name, code, text, status, sentence, hint) {code, text, sentence, hint, status},
	[WHY_NONE] = {"", "", "", "", 0},
	EXECUTOR_REASONS(X)
#undef X
};

static char said[SAY_MAX];

const struct say_row *say_row(enum executor_reason why)
{
	return &rows[(unsigned)why < WHY_COUNT ? why : WHY_NONE];
}

size_t say_escape(char *to, size_t cap, const char *bytes, size_t len, char newline)
{
	static const char hex[] = "0123456789abcdef";
	size_t n = 0;

	for (; len > 0 && bytes[len - 1] == '\n'; len--)
		;
	for (size_t i = 0; i < len && n + 4 < cap; i++) {
		unsigned char c = (unsigned char)bytes[i];

		if (c == '\n') {
			to[n++] = newline;
		} else if (c >= ' ' && c <= '~') {
			to[n++] = (char)c;
		} else {
			to[n++] = '\\';
			to[n++] = 'x';
			to[n++] = hex[c >> 4];
			to[n++] = hex[c & 15];
		}
	}
	to[n] = '\0';
	return n;
}

void say_quote(char *to, size_t cap, const char *text)
{
	size_t n = 0;

	for (to[n++] = '"'; *text != '\0' && n + 4 < cap; text++) {
		if (*text == '"' || *text == '\\')
			to[n++] = '\\';
		to[n++] = *text;
	}
	to[n++] = '"';
	to[n] = '\0';
}

void say_reason(enum executor_reason why, const char *detail, bool json)
{
	static char quoted[2 * SAY_CHILD];
	const struct say_row *row = say_row(why);
	char *to = said + strlen(said);
	size_t cap = sizeof(said) - strlen(said);

	say_quote(quoted, sizeof(quoted), detail);
	if (json)
		(void)snprintf(to, cap,
		         "{\"code\":\"%s\",\"reason\":\"%s\",\"detail\":%s,"
		         "\"sentence\":\"%s\",\"hint\":\"%s\"}\n",
		         row->code, row->reason, quoted, row->sentence, row->hint);
	else
		(void)snprintf(to, cap, "cofferdam: %s %s: %s%s%s; %s\n", row->code, row->reason,
		         row->sentence, detail[0] == '\0' ? "" : ": ", detail, row->hint);
}

void say_about(enum executor_reason why, bool json, const char *format, va_list words)
{
	static char detail[SAY_CHILD], text[SAY_CHILD];

	(void)vsnprintf(detail, sizeof(detail), format, words);
	say_escape(text, sizeof(text), detail, strlen(detail), ' ');
	say_reason(why, text, json);
}

/* Takes what follows `before` in *text: 1 to SAY_WORD - 1 characters of a set. */
static void take_word(const char **text, const char *before, const char *set, char *to)
{
	size_t skip = strlen(before);
	size_t len = strncmp(*text, before, skip) == 0 ? strspn(*text + skip, set) : 0;

	len = len < SAY_WORD ? len : 0;
	memcpy(to, *text + skip, len); /* of no byte: skip is within a buffer of ours */
	to[len] = '\0';
	*text += len > 0 ? skip + len : 0;
}

bool say_refusal(const char *bytes, size_t len, char *code, char *reason)
{
	static const char upper[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ_";
	static const char lower[] = "abcdefghijklmnopqrstuvwxyz0123456789_.";
	static char text[4 * SAY_CHILD];
	const char *at = text;
	bool json;

	say_escape(text, sizeof(text), bytes, len, '\n');
	json = text[0] == '{';
	take_word(&at, json ? "{\"code\":\"" : "cofferdam: ", upper, code);
	take_word(&at, json ? "\",\"reason\":\"" : " ", lower, reason);
	if (code[0] == '\0' || reason[0] == '\0')
		return false;
	strlcat(said, text, sizeof(said));
	strlcat(said, "\n", sizeof(said));
	return true;
}

bool say_refuses(int status)
{
	return status == 65 || status == 66 || status == 69 || status == 70 ||
	       (status >= 75 && status <= 78);
}

bool say_plain(const char *bytes, size_t len)
{
	bool plain = true;

	for (size_t i = 0; i < len; i++)
		plain = plain && ((unsigned char)bytes[i] >= ' ' || bytes[i] == '\n');
	return plain;
}

static int rank(int status)
{
	if (status > 128)
		return 1;
	return status == 80 ? 4 : status == 70 ? 3 : status == 124 ? 2 : 0;
}

int say_graver(int status, int later)
{
	return status != 0 && rank(later) <= rank(status) ? status : later;
}

void say_clear(void)
{
	said[0] = '\0';
}

const char *say_text(size_t *len)
{
	*len = strlen(said);
	return said;
}

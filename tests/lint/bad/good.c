/* SPDX-License-Identifier: ISC */
#include <string.h>

/* A URL, http://x, in a comment; "//" in a string: neither is a line comment. */
int good(const char *text);

int good(const char *text)
{
	return strcmp(text, "http://malloc(3)") == 0;
}

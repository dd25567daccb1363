/* SPDX-License-Identifier: ISC */
#include <string.h>

int swapped(char *to);

int swapped(char *to)
{
	memset(to, 8, 0);
	return strcmp(to, "x") || to == 0 ? sizeof(to) / sizeof(to[0]) : 0;
}

/* SPDX-License-Identifier: ISC */
#include <unistd.h>

long take(char *to);

long take(char *to)
{
	return read(0, to, 1) + write(1, to, 1);
}

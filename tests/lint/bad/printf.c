/* SPDX-License-Identifier: ISC */
#include <stdio.h>

void say(void)
{
	puts("x");
}

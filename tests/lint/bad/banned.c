/* SPDX-License-Identifier: ISC */
#include <stdlib.h>

void *grab(void)
{
	return malloc(1);
}

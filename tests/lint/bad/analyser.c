/* SPDX-License-Identifier: ISC */
#include <stdlib.h>

int twice(void);

int twice(void)
{
	int *at = malloc(sizeof(*at));

	if (at == NULL)
		return 1;
	*at = 1;
	free(at);
	return *at;
}

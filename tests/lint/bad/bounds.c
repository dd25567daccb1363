/* SPDX-License-Identifier: ISC */
int beyond(void);

int beyond(void)
{
	int at[4] = {0};

	return at[4];
}

/* SPDX-License-Identifier: ISC */
void spin(void);

void spin(void)
{
	for (;;)
		;
}

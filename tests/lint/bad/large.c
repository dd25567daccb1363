/* SPDX-License-Identifier: ISC */
int fill(void);
void use(char *at);

int fill(void)
{
	char at[65537];

	use(at);
	return at[0];
}

/* SPDX-License-Identifier: ISC */
int fill(int n);
void use(char *at);

int fill(int n)
{
	char at[n];

	use(at);
	return at[0];
}

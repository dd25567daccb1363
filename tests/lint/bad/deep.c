/* SPDX-License-Identifier: ISC */
void use(char *at);

static int fill(void)
{
	char at[4096];

	use(at);
	return at[0];
}

static int call(int (*through)(void))
{
	return through();
}

int main(void)
{
	return call(fill);
}

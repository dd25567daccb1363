/* SPDX-License-Identifier: ISC */
static int down(unsigned n)
{
	return n == 0 ? 0 : down(n - 1);
}

int top(unsigned n);

int top(unsigned n)
{
	return down(n);
}

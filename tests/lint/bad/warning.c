/* SPDX-License-Identifier: ISC */
unsigned narrow(long x);

unsigned narrow(long x)
{
	return x;
}

/* SPDX-License-Identifier: ISC */

/*
 * The main of a fuzz target where no fuzzer is at hand: each file that is named
 * goes through the target once.  A claim that does not hold, or a sanitizer,
 * ends the program; the last line then names the file.
 */

#include <stdio.h>
#include <stdlib.h>

#include "fuzz.h"

#define INPUT_MAX 1048576

static char input[INPUT_MAX];

static void replay(const char *path)
{
	FILE *file = fopen(path, "rb");
	size_t len;
	char *copy;

	if (file == NULL) {
		perror(path);
		exit(1);
	}
	len = fread(input, 1, INPUT_MAX, file);
	if (ferror(file) != 0 || fgetc(file) != EOF) {
		fprintf(stderr, "%s: cannot be read, or is too large\n", path);
		exit(1);
	}
	(void)fclose(file);
	copy = fuzz_copy(input, len);
	(void)LLVMFuzzerTestOneInput((const uint8_t *)copy, len);
	free(copy);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		fprintf(stderr, "%s\n", argv[i]);
		replay(argv[i]);
	}
	return argc < 2;
}

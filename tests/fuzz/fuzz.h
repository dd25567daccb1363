/* SPDX-License-Identifier: ISC */
#ifndef COFFERDAM_TESTS_FUZZ_FUZZ_H
#define COFFERDAM_TESTS_FUZZ_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../policy/json.h"
#include "../../policy/report.h"

/*
 * What the fuzz targets share.  A target is one file, fuzz_NAME.c, with a
 * LLVMFuzzerTestOneInput that calls a pure module and says what must hold of
 * its answer; libFuzzer, AFL++'s driver or replay.c brings main.
 */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define HOLDS(condition) \
	do { \
		if (!(condition)) \
			fuzz_refuted(#condition, __FILE__, __LINE__); \
	} while (0)

__attribute__((noreturn)) void fuzz_refuted(const char *claim, const char *file, int line);

/* A copy on the heap of exactly so many bytes, so that AddressSanitizer sees a
 * read of one byte too many.  The caller frees it. */
char *fuzz_copy(const void *bytes, size_t len);

/* json_parse with everything that a document may have. */
bool fuzz_parse(struct json *doc, const char *text, size_t len, bool lone_surrogates);

/* Every finding can be told: a line, and JSON, of printable ASCII. */
void fuzz_report(const struct report *report);

/* printable ASCII and newlines only */
bool fuzz_printable(const char *text, size_t len);

/*
 * One filter from a document to its canonical text, twice.  What it writes is
 * UTF-8, is taken again, and comes out the same with nothing dropped; what it
 * refuses leaves no output and a report.  The length written to *out (valid
 * until the next call), or SIZE_MAX.
 */
typedef void fuzz_writer(const struct json *doc, struct text *out, struct text *dropped,
                         struct report *report);
size_t fuzz_canonical(fuzz_writer *write, const char *text, size_t len, const char **out);

#endif

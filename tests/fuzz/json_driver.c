/* SPDX-License-Identifier: ISC */

/*
 * The other end of json_oracle.py: documents in, verdicts out, in one process.
 * In: u32 little-endian length, the document; until end of file.  Out, for
 * each: u32 length, then "+" and the canonical text, or "-" and the reason.
 */

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "../../policy/json.h"

#define DOCUMENT_MAX 1048576

static char document[DOCUMENT_MAX];
static char answer[DOCUMENT_MAX * 2];

static void judge(uint32_t len, struct text *out)
{
	const struct json_limits limits = {DOCUMENT_MAX, JSON_POOL, true};
	struct json_error error;
	struct json doc;

	text_init(out, answer, sizeof(answer));
	if (!json_parse(&doc, document, len, &limits, &error)) {
		text_string(out, "-");
		text_string(out, reason_name(error.reason));
		return;
	}
	text_string(out, "+");
	json_write(&doc, 0, out);
	json_drop(&doc);
}

int main(void)
{
	uint32_t len;
	struct text out;

	while (fread(&len, sizeof(len), 1, stdin) == 1) {
		uint32_t size;

		if (len > DOCUMENT_MAX || fread(document, 1, len, stdin) != len)
			return 1;
		judge(len, &out);
		size = (uint32_t)out.len;
		if (fwrite(&size, sizeof(size), 1, stdout) != 1 ||
		    fwrite(answer, 1, out.len, stdout) != out.len || fflush(stdout) != 0)
			return 1;
	}
	return 0;
}

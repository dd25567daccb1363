/* SPDX-License-Identifier: ISC */
#include "tell.h"

#include <string.h>
#include <unistd.h>

#include "io.h"

/* finding_line at its longest: every byte of a pointer and a detail escaped. */
#define LINE_BYTES (8 * (REPORT_POINTER + REPORT_DETAIL) + 1024)

static char line[LINE_BYTES];

static void put_line(const struct text *text)
{
	if (!io_write_once(STDERR_FILENO, text->at, text->len))
		return;
}

static void tell(const struct finding *finding, bool json)
{
	struct text text;

	text_init(&text, line, sizeof(line));
	if (json) {
		finding_json(finding, &text);
		text_string(&text, "\n");
	} else {
		finding_line(finding, &text);
	}
	put_line(&text);
}

int tell_refusal(const struct report *report, bool json)
{
	if (report->count > 0)
		tell(&report->at[0], json);
	return report_status(report);
}

void tell_all(const struct report *report, bool json)
{
	for (uint32_t i = 0; i < report->count; i++)
		tell(&report->at[i], json);
}

int tell_reason(enum reason reason, const char *what, bool json)
{
	static struct report report;
	struct report_detail detail;

	report_init(&report, CODE_PROTOCOL, 70);
	detail = report_open(&report, reason, "");
	if (what != NULL)
		text_string(&detail.text, what);
	report_close(&detail);
	return tell_refusal(&report, json);
}

int tell_usage(const char *complaint, const char *word)
{
	struct text text;

	text_init(&text, line, sizeof(line));
	text_string(&text, "cofferdam-policy: USAGE usage: ");
	text_string(&text, complaint);
	if (word != NULL) {
		text_string(&text, ": ");
		text_escaped(&text, word, strnlen(word, REPORT_DETAIL));
	}
	text_string(&text, "; see cofferdam-policy --help\n");
	put_line(&text);
	return TELL_USAGE_STATUS;
}

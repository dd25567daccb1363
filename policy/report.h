/* SPDX-License-Identifier: ISC */
#ifndef COFFERDAM_POLICY_REPORT_H
#define COFFERDAM_POLICY_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "json.h"
#include "reason.h"
#include "text.h"

/*
 * What was found wrong, in the order it was found.  Pure; no heap.  Every rule
 * adds to a report and goes on, so that `check` names every violation; a
 * launch stops at a report that is not empty.  The first finding gives the
 * exit status.
 */

#define REPORT_MAX 64
#define REPORT_POINTER 512
#define REPORT_DETAIL 768

struct finding {
	enum reason reason;
	enum code code; /* already the document's where the row says so */
	int status; /* likewise */
	bool placed; /* offset, line and column are known */
	size_t offset;
	uint32_t line;
	uint32_t column;
	char pointer[REPORT_POINTER]; /* JSON pointer, raw UTF-8, "" when none */
	char detail[REPORT_DETAIL]; /* printable ASCII: what was seen */
};

struct report {
	enum code document; /* CODE_CONFIG, CODE_TURN, CODE_REPLY, CODE_UNAVAILABLE … */
	int document_status; /* 78, 65, 76, 69 … */
	uint32_t count; /* findings kept */
	uint32_t dropped; /* findings beyond REPORT_MAX */
	struct finding at[REPORT_MAX];
};

void report_init(struct report *report, enum code document, int document_status);
bool report_empty(const struct report *report);
int report_status(const struct report *report); /* 0 when empty */

/* Adds a finding and returns its detail as an open text (printable ASCII is
 * the caller's duty: use text_escaped for anything not ours; any other byte ends
 * as '?').  Pass it to report_close.  A detail or pointer that is too long is
 * cut and ends in "..."; a NUL in a pointer reads U+FFFD. */
struct report_detail {
	struct finding *finding;
	struct text text;
};
struct report_detail report_open(struct report *report, enum reason reason, const char *pointer);
void report_close(struct report_detail *detail);

/* The short forms.  ours and pointer may be NULL or "": none. */
void report_add(struct report *report, enum reason reason, const char *pointer);
/* ours: printable ASCII; theirs: any bytes, escaped; "ours: theirs". */
void report_add_text(struct report *report, enum reason reason, const char *pointer,
                     const char *ours, const char *theirs, size_t theirs_len);
void report_json_error(struct report *report, const struct json_error *error);
/* A finding about a value: fills pointer, offset, line and column. */
void report_at(struct report *report, enum reason reason, const struct json *doc, uint32_t node,
               const char *ours);
/* SHAPE_MISSING of an object's member, with the pointer that it would have. */
void report_missing(struct report *report, const struct json *doc, uint32_t object,
                    const char *key);

/* "cofferdam: SANDBOX_TURN shape.type: sentence: detail at /pointer (byte N,
 * line L, column C); hint" and a newline: one line, printable ASCII only. */
void finding_line(const struct finding *finding, struct text *out);
/* {"code":…,"reason":…,"pointer":…,"detail":…,"sentence":…,"hint":…,"offset":…,"line":…,"column":…}
 * and no newline, ASCII only; pointer, and the three figures, only where known. */
void finding_json(const struct finding *finding, struct text *out);

#endif

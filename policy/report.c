/* SPDX-License-Identifier: ISC */
#include "report.h"

#include <string.h>

/* Follows what was cut. */
static const char cut[] = "...";

#define CUT (sizeof(cut) - 1)

void report_init(struct report *report, enum code document, int document_status)
{
	report->document = document;
	report->document_status = document_status;
	report->count = 0;
	report->dropped = 0;
}

bool report_empty(const struct report *report)
{
	return report->count == 0;
}

int report_status(const struct report *report)
{
	return report->count > 0 ? report->at[0].status : 0;
}

/* Ends a member of a finding as a C string, with the mark when it was cut; the
 * text was opened with room for both. */
static void finish(struct text *text)
{
	if (text->full) {
		memcpy(text->at + text->len, cut, CUT);
		text->len += CUT;
	}
	text->at[text->len] = '\0';
}

/* Opens a member of `size` bytes for finish. */
static struct text member(char *at, size_t size)
{
	struct text text;

	text_init(&text, at, size - CUT - 1);
	return text;
}

/* The length of the character at bytes[at], a lone byte's 1. */
static size_t character(const char *bytes, size_t len, size_t at)
{
	size_t end = at + 1;

	while (end < len && ((unsigned char)bytes[end] & 0xc0) == 0x80)
		end++;
	return end - at;
}

/* Keeps a pointer, cut between two characters where it is too long.  A NUL,
 * which a key may hold, would end the string: U+FFFD stands for it. */
static void keep_pointer(struct finding *finding, const char *pointer, size_t len, bool more)
{
	struct text text = member(finding->pointer, sizeof(finding->pointer));
	size_t at = 0;

	while (at < len) {
		size_t width = character(pointer, len, at);

		if (pointer[at] == '\0')
			text_string(&text, "\xef\xbf\xbd");
		else
			text_bytes(&text, pointer + at, width);
		at += width;
	}
	text.full = text.full || more;
	finish(&text);
}

/* A new finding without pointer or place; NULL when the report has no room. */
static struct finding *fresh(struct report *report, enum reason reason)
{
	enum code code = reason_code(reason);
	int status = reason_status(reason);
	struct finding *finding;

	if (report->count >= REPORT_MAX) {
		if (report->dropped < UINT32_MAX)
			report->dropped++;
		return NULL;
	}
	finding = &report->at[report->count++];
	finding->reason = reason;
	finding->code = code == CODE_DOCUMENT ? report->document : code;
	finding->status = status == 0 ? report->document_status : status;
	finding->placed = false;
	finding->offset = 0;
	finding->line = 0;
	finding->column = 0;
	finding->pointer[0] = '\0';
	finding->detail[0] = '\0';
	return finding;
}

static struct report_detail detail_of(struct finding *finding)
{
	struct report_detail detail = {.finding = finding};

	if (finding != NULL)
		detail.text = member(finding->detail, sizeof(finding->detail));
	else
		text_init(&detail.text, NULL, 0);
	return detail;
}

struct report_detail report_open(struct report *report, enum reason reason, const char *pointer)
{
	struct finding *finding = fresh(report, reason);

	if (finding != NULL && pointer != NULL)
		keep_pointer(finding, pointer, strlen(pointer), false);
	return detail_of(finding);
}

/* Whatever the caller put, nothing but printable ASCII is kept: a finding can
 * neither break a line nor steer a terminal. */
void report_close(struct report_detail *detail)
{
	struct text *text = &detail->text;

	if (detail->finding == NULL)
		return;
	for (size_t i = 0; i < text->len; i++) {
		if (text->at[i] < 0x20 || text->at[i] > 0x7e)
			text->at[i] = '?';
	}
	finish(text);
}

void report_add(struct report *report, enum reason reason, const char *pointer)
{
	(void)report_open(report, reason, pointer);
}

void report_add_text(struct report *report, enum reason reason, const char *pointer,
                     const char *ours, const char *theirs, size_t theirs_len)
{
	struct report_detail detail = report_open(report, reason, pointer);

	if (ours != NULL && ours[0] != '\0') {
		text_string(&detail.text, ours);
		text_string(&detail.text, ": ");
	}
	for (size_t i = 0; i < theirs_len; i++)
		text_escaped(&detail.text, theirs + i, 1);
	report_close(&detail);
}

static void place(struct finding *finding, const struct json_error *where)
{
	finding->placed = true;
	finding->offset = where->offset;
	finding->line = where->line;
	finding->column = where->column;
}

void report_json_error(struct report *report, const struct json_error *error)
{
	struct finding *finding = fresh(report, error->reason);

	if (finding != NULL)
		place(finding, error);
}

void report_at(struct report *report, enum reason reason, const struct json *doc, uint32_t node,
               const char *ours)
{
	struct finding *finding = fresh(report, reason);
	struct report_detail detail = detail_of(finding);
	struct json_error where;
	char buffer[REPORT_POINTER];
	struct text pointer;

	if (finding == NULL)
		return;
	text_init(&pointer, buffer, sizeof(buffer));
	json_pointer(doc, node, &pointer);
	keep_pointer(finding, buffer, pointer.len, pointer.full);
	json_place(doc, node, &where);
	place(finding, &where);
	text_string(&detail.text, ours != NULL ? ours : "");
	report_close(&detail);
}

void report_missing(struct report *report, const struct json *doc, uint32_t object,
                    const char *key)
{
	struct report_detail detail = report_open(report, REASON_SHAPE_MISSING, NULL);
	char buffer[REPORT_POINTER];
	struct text pointer;

	if (detail.finding == NULL)
		return;
	text_init(&pointer, buffer, sizeof(buffer));
	json_pointer(doc, object, &pointer);
	text_string(&pointer, "/");
	text_string(&pointer, key);
	keep_pointer(detail.finding, buffer, pointer.len, pointer.full);
	text_string(&detail.text, "key: ");
	text_string(&detail.text, key);
	report_close(&detail);
}

static void put_figure(struct text *out, const char *before, uint64_t value)
{
	text_string(out, before);
	text_u64(out, value);
}

void finding_line(const struct finding *finding, struct text *out)
{
	text_string(out, "cofferdam: ");
	text_string(out, code_name(finding->code));
	text_string(out, " ");
	text_string(out, reason_name(finding->reason));
	text_string(out, ": ");
	text_string(out, reason_sentence(finding->reason));
	if (finding->detail[0] != '\0') {
		text_string(out, ": ");
		text_string(out, finding->detail);
	}
	if (finding->pointer[0] != '\0') {
		text_string(out, " at ");
		text_escaped(out, finding->pointer, strlen(finding->pointer));
	}
	if (finding->placed) {
		put_figure(out, " (byte ", finding->offset);
		put_figure(out, ", line ", finding->line);
		put_figure(out, ", column ", finding->column);
		text_string(out, ")");
	}
	text_string(out, "; ");
	text_string(out, reason_hint(finding->reason));
	text_string(out, "\n");
}

static void put_member(struct text *out, const char *before, const char *value)
{
	text_string(out, before);
	text_json(out, value, strlen(value));
}

void finding_json(const struct finding *finding, struct text *out)
{
	put_member(out, "{\"code\":", code_name(finding->code));
	put_member(out, ",\"reason\":", reason_name(finding->reason));
	if (finding->pointer[0] != '\0')
		put_member(out, ",\"pointer\":", finding->pointer);
	put_member(out, ",\"detail\":", finding->detail);
	put_member(out, ",\"sentence\":", reason_sentence(finding->reason));
	put_member(out, ",\"hint\":", reason_hint(finding->reason));
	if (finding->placed) {
		put_figure(out, ",\"offset\":", finding->offset);
		put_figure(out, ",\"line\":", finding->line);
		put_figure(out, ",\"column\":", finding->column);
	}
	text_string(out, "}");
}

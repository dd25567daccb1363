/* SPDX-License-Identifier: ISC */
#include "reply.h"

#include "schema.h"

/* In the order of the canonical reply. */
static const struct schema_field REPLY_FIELDS[] = {
	{.key = "ok", .type = SCHEMA_BOOLEAN, .required = true},
	{.key = "text", .type = SCHEMA_STRING, .required = true, .max = REPLY_TEXT_UNITS},
};

static const struct schema_field REPLY = {
	.type = SCHEMA_OBJECT,
	.open = true,
	.of = REPLY_FIELDS,
	.count = sizeof(REPLY_FIELDS) / sizeof(REPLY_FIELDS[0]),
};

void reply_write(const struct json *doc, struct text *out, struct report *report)
{
	schema_check(doc, &REPLY, NULL, report);
	if (report_empty(report))
		schema_write(doc, &REPLY, out);
}

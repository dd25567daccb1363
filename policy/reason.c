/* SPDX-License-Identifier: ISC */
#include "reason.h"

struct row {
	enum code code;
	int status;
	const char *name;
	const char *sentence;
	const char *hint;
};

static const struct row rows[REASON_COUNT] = {
        [REASON_NONE] = {CODE_NONE, 0, "", "", ""},
#define X(name, code, text, status, sentence, hint) \
	[REASON_##name] = {code, status, text, sentence, hint},
        POLICY_REASONS(X)
#undef X
};

static const char *const codes[CODE_COUNT] = {
        [CODE_NONE] = "",
        [CODE_CONFIG] = "SANDBOX_CONFIG",
        [CODE_TURN] = "SANDBOX_TURN",
        [CODE_REPLY] = "SANDBOX_REPLY",
        [CODE_POLICY] = "SANDBOX_POLICY",
        [CODE_MOUNT_OVERLAP] = "SANDBOX_MOUNT_OVERLAP",
        [CODE_MOUNT_IDENTITY] = "SANDBOX_MOUNT_IDENTITY",
        [CODE_ENDPOINT] = "SANDBOX_ENDPOINT",
        [CODE_LIMIT] = "SANDBOX_LIMIT",
        [CODE_UNAVAILABLE] = "SANDBOX_UNAVAILABLE",
        [CODE_BUSY] = "SANDBOX_BUSY",
        [CODE_WORKER] = "SANDBOX_WORKER",
        [CODE_TIMEOUT] = "SANDBOX_TIMEOUT",
        [CODE_ABORTED] = "SANDBOX_ABORTED",
        [CODE_PROTOCOL] = "SANDBOX_PROTOCOL",
        [CODE_REVOKE_INCOMPLETE] = "REVOKE_INCOMPLETE",
        [CODE_DOCUMENT] = "", /* a report has put the document's own in its place */
};

/* A value outside the enum, which only a fault of ours could make, reads the
 * empty row. */
static const struct row *row_of(enum reason reason)
{
	return (unsigned)reason < REASON_COUNT ? &rows[reason] : &rows[REASON_NONE];
}

const char *code_name(enum code code)
{
	return (unsigned)code < CODE_COUNT ? codes[code] : "";
}

enum code reason_code(enum reason reason)
{
	return row_of(reason)->code;
}

const char *reason_name(enum reason reason)
{
	return row_of(reason)->name;
}

const char *reason_sentence(enum reason reason)
{
	return row_of(reason)->sentence;
}

const char *reason_hint(enum reason reason)
{
	return row_of(reason)->hint;
}

int reason_status(enum reason reason)
{
	return row_of(reason)->status;
}

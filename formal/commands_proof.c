/* SPDX-License-Identifier: ISC */

/*
 * What the exit status 0 of `verify` and `admit` says: every root of the plan is
 * still the directory that was decided on, every line of docker's was judged, and
 * nobody found anything.
 *
 * commands.c is the real one.  What reads, parses and judges answers as it likes,
 * and reports as it likes; tell_refusal() is what tell.h says of it.
 */
#include "../policy/commands.c"

#include "nondet.h"

static struct {
	uint64_t dev, ino;
	bool holds;
} place[ROOTS_MAX]; /* what is at each root's path now */

static char path[ROOTS_MAX + 1];
static unsigned roots; /* of the plan */
static unsigned found; /* what was reported */
static bool planned, answered, verified, ended;
static bool whole; /* docker's list was read to its end */
static unsigned lines, judged; /* of docker's list: there, and handed on */

void report_init(struct report *to, enum code code, int status)
{
	(void)code;
	(void)status;
	to->count = 0;
}

void report_add(struct report *to, enum reason reason, const char *pointer)
{
	(void)to;
	(void)reason;
	(void)pointer;
	found++;
}

void report_add_text(struct report *to, enum reason reason, const char *pointer, const char *what,
                     const char *bytes, size_t len)
{
	(void)what;
	(void)bytes;
	(void)len;
	report_add(to, reason, pointer);
}

int tell_refusal(const struct report *from, bool json)
{
	(void)from;
	(void)json;
	return found == 0 ? 0 : 69;
}

int tell_reason(enum reason reason, const char *detail, bool json)
{
	(void)reason;
	(void)detail;
	(void)json;
	return 70;
}

enum io_result io_pread_all(int fd, char *to, size_t max, size_t *len)
{
	(void)to;
	(void)max;
	PROVE(fd == PLAN_FD, "the plan is where the executor put it");
	*len = 1;
	return any_bool() ? IO_OK : IO_TOO_LARGE;
}

enum frame_result frame_get_launch(const uint8_t *bytes, size_t len, struct launch *out)
{
	(void)bytes;
	(void)len;
	planned = any_bool();
	roots = (unsigned)any_up_to(ROOTS_MAX);
	out->root_count = (uint16_t)roots;
	for (unsigned i = 0; i < roots; i++) {
		out->root[i].path = &path[i];
		out->root[i].dev = any_u64();
		out->root[i].ino = any_u64();
		place[i].dev = any_u64();
		place[i].ino = any_u64();
		place[i].holds = place[i].dev == out->root[i].dev &&
		                 place[i].ino == out->root[i].ino;
	}
	return planned ? FRAME_OK : FRAME_BAD;
}

bool resolve_holds(const char *canonical, uint64_t dev, uint64_t ino)
{
	const size_t i = (size_t)(canonical - path);

	return place[i].dev == dev && place[i].ino == ino;
}

enum io_result io_read_all(int fd, char *to, size_t max, size_t *len)
{
	(void)to;
	(void)max;
	PROVE(fd == STDIN_FILENO, "docker's answer is the standard input");
	*len = 1;
	return any_bool() ? IO_OK : IO_FAILED;
}

bool json_parse(struct json *doc, const char *text, size_t len, const struct json_limits *limits,
                struct json_error *error)
{
	(void)doc;
	(void)text;
	(void)len;
	(void)limits;
	error->reason = REASON_JSON_TRUNCATED;
	answered = any_bool();
	return answered;
}

void json_drop(struct json *doc)
{
	(void)doc;
}

const char *reason_name(enum reason reason)
{
	(void)reason;
	return "";
}

void verify_container(const struct json *doc, const struct launch *plan, struct report *to)
{
	(void)doc;
	(void)plan;
	verified = true;
	if (any_bool())
		report_add(to, REASON_VERIFY_DIFFERS, "");
}

static void set_up(void)
{
	found = lines = judged = roots = 0;
	planned = answered = verified = ended = whole = false;
}

PROOF(verify_status)
{
	static const struct options options;
	bool same = true;

	set_up();
	if (commands_verify(&options, CONFINE_FULL) != 0)
		return;
	PROVE(planned, "there was a plan");
	PROVE(answered && verified, "docker's answer was compared with it");
	PROVE(found == 0, "and nothing was found");
	for (unsigned i = 0; i < roots; i++)
		same = same && place[i].holds;
	PROVE(same, "each root is the directory that was decided on");
}

/* ---- admit ---- */

void io_lines_init(struct io_lines *from, int fd, char *buffer, size_t cap)
{
	(void)from;
	(void)buffer;
	(void)cap;
	PROVE(fd == STDIN_FILENO, "docker's list is the standard input");
	lines = 0;
}

enum io_result io_next_line(struct io_lines *from, const char **line, size_t *len)
{
	(void)from;
	PROVE(judged + found >= lines, "every line so far was handed on, or reported");
	if (lines >= FORMAL_N || any_bool()) {
		whole = any_bool();
		return whole ? IO_END : IO_FAILED;
	}
	lines++;
	*line = path;
	*len = 1;
	return any_bool() ? IO_OK : IO_TOO_LARGE;
}

void admit_init(struct admit *to, const struct launch *plan)
{
	to->plan = plan;
}

void admit_line(struct admit *to, const char *line, size_t len, struct report *report_to)
{
	(void)to;
	PROVE(line == path && len == 1 && !ended, "a line of the list");
	judged++;
	if (any_bool())
		report_add(report_to, REASON_MANAGED_UNKNOWN, "");
}

void admit_end(const struct admit *from, struct report *to)
{
	(void)from;
	ended = true;
	if (any_bool())
		report_add(to, REASON_MANAGED_UNKNOWN, "");
}

PROOF(admit_status)
{
	static const struct options options;

	set_up();
	if (commands_admit(&options, CONFINE_FULL) != 0)
		return;
	PROVE(planned, "there was a plan");
	PROVE(whole && ended && judged == lines, "every line was judged, and then the whole");
	PROVE(found == 0, "and nothing was found");
}

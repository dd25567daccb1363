/* SPDX-License-Identifier: ISC */

/*
 * policy/verify.c: docker's description of a container that was, or was not,
 * made as a turn's or a session's plan says.  What passes must stop passing
 * when one thing of the plan or one member of HostConfig is another.
 */

#include <stdlib.h>
#include <string.h>

#include "../../policy/verify.h"
#include "../data/containers.h"
#include "fuzz.h"

#define WRITTEN_MAX 1048576
#define CHANGES 24

static struct launch plan;
static struct report report;
static char written[WRITTEN_MAX];
static char changed[WRITTEN_MAX];

static bool passes(const char *bytes, size_t len)
{
	char *copy = fuzz_copy(bytes, len);
	struct json doc;
	bool ok = false;

	report_init(&report, CODE_UNAVAILABLE, 69);
	if (fuzz_parse(&doc, copy, len, false)) {
		verify_container(&doc, &plan, &report);
		json_drop(&doc);
		ok = report_empty(&report);
		fuzz_report(&report);
	}
	free(copy);
	return ok;
}

/* The plan with one thing changed that docker's description must show. */
static void change_plan(unsigned what)
{
	struct limits *limits = &plan.limits;

	switch (what) {
	case 0: plan.nonce[15] ^= 1; break;
	case 1: plan.mode = plan.mode == MODE_TURN ? MODE_SESSION : MODE_TURN; break;
	case 2: plan.uid++; break;
	case 3: plan.gid++; break;
	case 4: plan.init = !plan.init; break;
	case 5: plan.state_id = "1123456789abcdef0123456789abcdef"; break;
	case 6: plan.name = "cofferdam-2"; break;
	case 7: plan.session = "other"; break;
	case 8: plan.revision++; break;
	case 9: plan.runtime = "another-runtime"; break;
	case 10: plan.image_id = "sha256:0"; break;
	case 11: plan.workdir = "/workspace/in"; break;
	case 12: plan.entrypoint = "/bin/sh2"; break;
	case 13: plan.roots_label = "[]"; break;
	case 14: limits->memory_bytes++; break;
	case 15: limits->nano_cpus++; break;
	case 16: limits->tmpfs_bytes++; break;
	case 17: limits->shm_bytes++; break;
	case 18: limits->pids++; break;
	case 19: limits->nofile++; break;
	case 20: limits->file_bytes = limits->file_bytes == 0; break;
	case 21: plan.root[1].read_only = !plan.root[1].read_only; break;
	case 22: plan.env[1] = "A=c"; break;
	default: plan.command.count--; break;
	}
}

static const char *const exact[][3] = {
	{"HostConfig", "Privileged", "false"},
	{"HostConfig", "NetworkMode", "\"none\""},
	{"HostConfig", "ReadonlyRootfs", "true"},
	{"HostConfig", "CapDrop", "[\"ALL\"]"},
	{"HostConfig", "IpcMode", "\"private\""},
	{"HostConfig", "CgroupnsMode", "\"private\""},
	{"HostConfig", "PidMode", "\"\""},
	{"HostConfig", "UsernsMode", "\"\""},
	{"HostConfig", "MemorySwap", "536870912"},
	{"Config", "User", "\"1000:1000\""},
	{"Config", "Tty", "false"},
};

/* What isolates is there, whatever else the document says. */
static void check_members(const struct json *doc)
{
	struct text text;

	for (size_t i = 0; i < sizeof exact / sizeof exact[0]; i++) {
		const uint32_t object = json_get(doc, 0, exact[i][0]);

		text_init(&text, changed, WRITTEN_MAX);
		json_write(doc, json_get(doc, object, exact[i][1]), &text);
		HOLDS(text.len == strlen(exact[i][2]));
		HOLDS(memcmp(changed, exact[i][2], text.len) == 0);
	}
}

/* One member of HostConfig says something else. */
static void check_host_config(const struct json *doc, unsigned which)
{
	const uint32_t object = json_get(doc, 0, "HostConfig");
	uint32_t key = json_first(doc, object);
	const char *span;
	struct text text;
	size_t len;

	for (which %= json_count(doc, object); which > 0; which--)
		key = json_next(doc, key);
	span = json_span(doc, json_value(doc, key), &len);
	text_init(&text, changed, WRITTEN_MAX);
	text_bytes(&text, doc->text, (size_t)(span - doc->text));
	text_string(&text, "\"not asked for\"");
	text_bytes(&text, span + len, (size_t)(doc->text + doc->len - span) - len);
	HOLDS(!text.full && !passes(text.at, text.len));
}

static void check_passed(const uint8_t *data, size_t size, bool session)
{
	unsigned hash = 2166136261U; /* FNV-1a: which one to change */
	struct text text;
	struct json doc;

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ data[i]) * 16777619U;
	HOLDS(fuzz_parse(&doc, (const char *)data, size, false));
	check_members(&doc);
	check_host_config(&doc, hash >> 8);
	text_init(&text, written, WRITTEN_MAX);
	json_write(&doc, 0, &text);
	json_drop(&doc);
	HOLDS(!text.full && passes(text.at, text.len));
	HOLDS(!passes(text.at, text.len - 1));
	container_plan(&plan, !session);
	HOLDS(!passes(text.at, text.len));
	container_plan(&plan, session);
	change_plan(hash % CHANGES);
	HOLDS(!passes(text.at, text.len));
}

/* Or nothing below would say anything. */
static void check_good(bool session, const char *good)
{
	container_plan(&plan, session);
	HOLDS(passes(good, strlen(good)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool checked;

	if (!checked) {
		check_good(false, container_old);
		check_good(true, container_new);
		checked = true;
	}
	for (int session = 0; session < 2; session++) {
		container_plan(&plan, session != 0);
		if (passes((const char *)data, size))
			check_passed(data, size, session != 0);
	}
	return 0;
}

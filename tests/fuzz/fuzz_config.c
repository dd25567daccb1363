/* SPDX-License-Identifier: ISC */

/*
 * The operator's config, from bytes to the LAUNCH frame, without a file system:
 * policy/config.c, decide.c, build.c, record.c and what they call.  The same
 * document gives the same record; and what policy decides, the executor's gate
 * must take.
 */

#include <stdlib.h>
#include <string.h>

#include "../../executor/gate.h"
#include "../../policy/judging.h"
#include "fuzz.h"

#define ID "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static struct judging judging;
static char record[2][JUDGING_RECORD];
static uint8_t frame[FRAME_MAX], frame_again[FRAME_MAX];
static struct order order;
static struct launch back;
static struct gate gate;

static bool one_image(void *context, const char *endpoint, const char *reference,
                      struct text *arena, struct image *out, struct report *report)
{
	static const struct image image = {
		.id = ID,
		.entrypoint = {.count = 1, .at = {"/bin/worker"}},
		.command = {.count = 1, .at = {"serve"}},
		.workdir = "/",
		.env = {.count = 1, .at = {"PATH=/bin"}},
	};

	(void)context;
	(void)arena;
	(void)report;
	HOLDS(gate_endpoint(endpoint) && gate_image_reference(reference));
	*out = image;
	return true;
}

static size_t judge(const char *bytes, size_t len, char *to)
{
	static const struct judging_how how = {.offline = true, .by_hand = true};
	static const struct decide_asker asker = {.image = one_image};
	struct facts facts = {
		.uid = 1000,
		.gid = 1000,
		.home = "/home/op",
		.state_dir = "/home/op/.local/state/cofferdam",
		.state_id = "0123456789abcdef0123456789abcdef",
		.docker_host = "unix:///run/docker.sock",
		.executor = "/usr/bin/cofferdam",
		.policy = "/usr/bin/cofferdam-policy",
		.docker = "/usr/bin/docker",
		.config = "/etc/cofferdam/config.json",
	};
	char *copy = fuzz_copy(bytes, len);
	struct text text;

	judging_begin(&judging, CONFINE_FULL);
	judging_config(&judging, copy, len, &facts, &how, &asker);
	free(copy); /* nothing that was decided points into the document */
	text_init(&text, to, JUDGING_RECORD);
	judging_record(&judging, (struct timespec){0}, 1, true, &text);
	HOLDS(!text.full);
	return text.len;
}

static void check_record(const char *text, size_t len)
{
	struct json doc;

	HOLDS(len > 0 && text[len - 1] == '\n' && fuzz_printable(text, len));
	HOLDS(memchr(text, '\n', len) == text + len - 1);
	HOLDS(fuzz_parse(&doc, text, len, true));
	json_drop(&doc);
}

static void check_limits(const struct launch *l)
{
	const bool session = l->mode == MODE_SESSION;
	const struct {
		uint64_t value, least, most;
	} range[] = {
		{l->limits.memory_bytes, MEMORY_BYTES_MIN, MEMORY_BYTES_MAX},
		{l->limits.nano_cpus, NANO_CPUS_MIN, NANO_CPUS_MAX},
		{l->limits.tmpfs_bytes, TMPFS_BYTES_MIN, TMPFS_BYTES_MAX},
		{l->limits.shm_bytes, SHM_BYTES_MIN, SHM_BYTES_MAX},
		{l->limits.file_bytes, 0, FILE_BYTES_MAX},
		{l->limits.turn_bytes, TURN_BYTES_MIN, TURN_BYTES_MAX},
		{l->limits.pids, PIDS_MIN, PIDS_MAX},
		{l->limits.nofile, NOFILE_MIN, NOFILE_MAX},
		{l->limits.turn_seconds, session ? 0 : TURN_SECONDS_MIN, TURN_SECONDS_MAX},
		{l->limits.lock_seconds, LOCK_SECONDS_MIN, LOCK_SECONDS_MAX},
		{l->limits.control_seconds, CONTROL_SECONDS_MIN, CONTROL_SECONDS_MAX},
		{l->limits.remove_seconds, REMOVE_SECONDS_MIN, REMOVE_SECONDS_MAX},
		{l->limits.live, 0, LIVE_MAX},
		{l->uid, ID_MIN, ID_MAX},
		{l->gid, ID_MIN, ID_MAX},
		{l->revision, 0, session ? REVISION_MAX : 0},
		{l->root_count, session ? 0 : 2, ROOTS_MAX},
		{l->env_count, 1, ENV_MAX + 1},
		{l->command.count, 0, WORDS_MAX},
	};

	for (size_t i = 0; i < sizeof range / sizeof range[0]; i++)
		HOLDS(range[i].value >= range[i].least && range[i].value <= range[i].most);
}

/* The launch as the executor would see it; without a file system, identities
 * are made up. */
static void check_launch(struct launch *l)
{
	const struct gate_known known = {
		.nonce_hex = "00000000000000000000000000000000",
		.state_id = l->state_id,
		.endpoint = l->endpoint,
		.mode = l->mode == MODE_TURN ? "turn" : "session",
	};
	size_t len;

	for (unsigned i = 0; i < l->root_count; i++)
		l->root[i].ino = i + 1;
	len = frame_put_launch(frame, FRAME_MAX, l);
	if (len == 0) /* refused with plan.too_large */
		return;
	HOLDS(frame_get_launch(frame, len, &back) == FRAME_OK);
	HOLDS(frame_put_launch(frame_again, FRAME_MAX, &back) == len);
	HOLDS(memcmp(frame, frame_again, len) == 0);
	HOLDS(frame_get_order(frame, len, &order) == FRAME_OK);
	HOLDS(gate_check(&gate, &order, &known) == GATE_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const size_t first = judge((const char *)data, size, record[0]);
	const size_t second = judge((const char *)data, size, record[1]);

	HOLDS(first == second && memcmp(record[0], record[1], first) == 0);
	check_record(record[0], first);
	fuzz_report(&judging.report);
	if (report_empty(&judging.report)) {
		check_limits(&judging.decision.launch);
		check_launch(&judging.decision.launch);
	}
	return 0;
}

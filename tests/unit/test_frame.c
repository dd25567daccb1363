/* SPDX-License-Identifier: ISC */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../../ipc/frame_policy.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))
#define FUZZ_ROUNDS 200000
#define SEED 0x636f6666U

static uint8_t frame[FRAME_MAX];
static uint8_t again[FRAME_MAX];

/* Two of each kind: everything given, and as little as can be. */

static const struct facts full_facts = {
	.nonce = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 255},
	.mode = MODE_SESSION,
	.uid = 0xffffffff,
	.gid = 1000,
	.home = "/home/u",
	.state_dir = "/home/u/.local/state/cofferdam",
	.state_id = "0123456789abcdef0123456789abcdef",
	.docker_host = "unix:///run/docker.sock",
	.ssh_auth_sock = "/tmp/ssh/agent",
	.executor = "/usr/bin/cofferdam",
	.policy = "/usr/bin/cofferdam-policy",
	.docker = "/usr/bin/docker",
	.config = "/etc/cofferdam/config.json",
	.audit = "/var/log/cofferdam.jsonl",
	.worker_err = "/var/log/worker",
	.name = "box",
};

static const struct facts bare_facts = {
	.home = "",
	.state_dir = "",
	.state_id = "",
	.executor = "",
	.policy = "",
	.docker = "",
	.config = "",
};

static const struct ask_image some_ask = {"unix:///run/docker.sock", "debian:12"};
static const struct answered some_answered = {FRAME_ASK_IMAGE, 255};

static const struct launch full_launch = {
	.nonce = {0xff, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 0},
	.mode = MODE_SESSION,
	.uid = 1000,
	.gid = 1001,
	.init = true,
	.state_id = "0123456789abcdef0123456789abcdef",
	.name = "box",
	.endpoint = "unix:///run/docker.sock",
	.session = "key",
	.revision = 0x0102030405060708,
	.runtime = "runsc",
	.audit_optional = true,
	.image_id = "sha256:00",
	.workdir = "/workspace",
	.entrypoint = "node",
	.roots_label = "[]",
	.limits = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13},
	.root_count = 2,
	.root = {{"/srv/a", "/broker", true, false, 14, 15}, {"/srv/b", "/b", false, true, 16, 17}},
	.env_count = 2,
	.env = {"HOME=/tmp/home", "A="},
	.command = {.count = 2, .at = {"-e", "line\nline"}},
	.image_env = {.count = 1, .at = {"PATH=/bin"}},
	.image_labels = {.count = 1, .at = {"a=b"}},
	.argv = {.count = 3, .at = {"docker", "", "create"}},
};

static const struct launch bare_launch = {
	.state_id = "",
	.name = "",
	.endpoint = "",
	.session = "",
	.image_id = "",
	.workdir = "",
	.entrypoint = "",
	.roots_label = "",
};

static union value {
	struct facts facts;
	struct ask_image ask;
	struct answered answered;
	struct launch launch;
} decoded;

/* All kinds behind one pair of functions, for the tests that hold for each. */

static size_t put(enum frame_kind kind, const void *value, uint8_t *to, size_t cap)
{
	switch (kind) {
	case FRAME_FACTS:
		return frame_put_facts(to, cap, value);
	case FRAME_ASK_CONTEXT:
		return frame_put_ask_context(to, cap);
	case FRAME_ASK_IMAGE:
		return frame_put_ask_image(to, cap, value);
	case FRAME_ANSWERED:
		return frame_put_answered(to, cap, value);
	case FRAME_LAUNCH:
		return frame_put_launch(to, cap, value);
	}
	return 0;
}

static enum frame_result get(enum frame_kind kind, const uint8_t *bytes, size_t len)
{
	switch (kind) {
	case FRAME_FACTS:
		return frame_get_facts(bytes, len, &decoded.facts);
	case FRAME_ASK_CONTEXT:
		return frame_get_ask_context(bytes, len);
	case FRAME_ASK_IMAGE:
		return frame_get_ask_image(bytes, len, &decoded.ask);
	case FRAME_ANSWERED:
		return frame_get_answered(bytes, len, &decoded.answered);
	case FRAME_LAUNCH:
		return frame_get_launch(bytes, len, &decoded.launch);
	}
	return FRAME_BAD;
}

static const struct sample {
	const char *name;
	enum frame_kind kind;
	const void *value;
} samples[] = {
	{"full facts", FRAME_FACTS, &full_facts},
	{"bare facts", FRAME_FACTS, &bare_facts},
	{"ask context", FRAME_ASK_CONTEXT, NULL},
	{"ask image", FRAME_ASK_IMAGE, &some_ask},
	{"answered", FRAME_ANSWERED, &some_answered},
	{"full launch", FRAME_LAUNCH, &full_launch},
	{"bare launch", FRAME_LAUNCH, &bare_launch},
};

static size_t put_sample(size_t i)
{
	const size_t len = put(samples[i].kind, samples[i].value, frame, sizeof frame);

	assert_true(len > 0);
	return len;
}

/* Decodes and encodes: the same bytes, or a refusal.  True when it decoded.  What
 * is a launch for policy is an order for the executor. */
static bool decodes_to_itself(enum frame_kind kind, const uint8_t *bytes, size_t len)
{
	static struct order order;

	if (get(kind, bytes, len) != FRAME_OK)
		return false;
	if (kind == FRAME_LAUNCH)
		assert_int_equal(frame_get_order(bytes, len, &order), FRAME_OK);
	assert_int_equal(put(kind, &decoded, again, sizeof again), len);
	assert_memory_equal(again, bytes, len);
	return true;
}

static void same_string(const char *a, const char *b)
{
	assert_int_equal(a == NULL, b == NULL);
	if (a != NULL && b != NULL)
		assert_string_equal(a, b);
}

static void same_strings(const char *const *a, const char *const *b, size_t count)
{
	for (size_t i = 0; i < count; i++)
		same_string(a[i], b[i]);
}

static void facts_round_trip(void **state)
{
	const struct facts *const both[] = {&full_facts, &bare_facts};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(both); i++) {
		const struct facts *want = both[i];
		struct facts have;
		const size_t len = frame_put_facts(frame, sizeof frame, want);

		assert_int_equal(frame_get_facts(frame, len, &have), FRAME_OK);
		assert_memory_equal(have.nonce, want->nonce, NONCE_BYTES);
		assert_int_equal(have.mode, want->mode);
		assert_int_equal(have.uid, want->uid);
		assert_int_equal(have.gid, want->gid);
		same_string(have.home, want->home);
		same_string(have.state_dir, want->state_dir);
		same_string(have.state_id, want->state_id);
		same_string(have.docker_host, want->docker_host);
		same_string(have.ssh_auth_sock, want->ssh_auth_sock);
		same_string(have.executor, want->executor);
		same_string(have.policy, want->policy);
		same_string(have.docker, want->docker);
		same_string(have.config, want->config);
		same_string(have.audit, want->audit);
		same_string(have.worker_err, want->worker_err);
		same_string(have.name, want->name);
	}
}

static void questions_round_trip(void **state)
{
	struct ask_image ask;
	struct answered answered;
	size_t len = frame_put_ask_image(frame, sizeof frame, &some_ask);

	(void)state;
	assert_int_equal(frame_get_ask_image(frame, len, &ask), FRAME_OK);
	assert_string_equal(ask.endpoint, some_ask.endpoint);
	assert_string_equal(ask.reference, some_ask.reference);
	len = frame_put_answered(frame, sizeof frame, &some_answered);
	assert_int_equal(frame_get_answered(frame, len, &answered), FRAME_OK);
	assert_int_equal(answered.question, FRAME_ASK_IMAGE);
	assert_int_equal(answered.status, 255);
	len = frame_put_ask_context(frame, sizeof frame);
	assert_int_equal(frame_get_ask_context(frame, len), FRAME_OK);
}

static void same_scalars(const struct launch *have, const struct launch *want)
{
	assert_memory_equal(have->nonce, want->nonce, NONCE_BYTES);
	assert_int_equal(have->mode, want->mode);
	assert_int_equal(have->uid, want->uid);
	assert_int_equal(have->gid, want->gid);
	assert_int_equal(have->init, want->init);
	same_string(have->state_id, want->state_id);
	same_string(have->name, want->name);
	same_string(have->endpoint, want->endpoint);
	same_string(have->session, want->session);
	assert_int_equal(have->revision, want->revision);
	same_string(have->runtime, want->runtime);
	assert_int_equal(have->audit_optional, want->audit_optional);
	same_string(have->image_id, want->image_id);
	same_string(have->workdir, want->workdir);
	same_string(have->entrypoint, want->entrypoint);
	same_string(have->roots_label, want->roots_label);
}

static void same_limits(const struct limits *have, const struct limits *want)
{
	assert_int_equal(have->memory_bytes, want->memory_bytes);
	assert_int_equal(have->nano_cpus, want->nano_cpus);
	assert_int_equal(have->tmpfs_bytes, want->tmpfs_bytes);
	assert_int_equal(have->shm_bytes, want->shm_bytes);
	assert_int_equal(have->file_bytes, want->file_bytes);
	assert_int_equal(have->turn_bytes, want->turn_bytes);
	assert_int_equal(have->pids, want->pids);
	assert_int_equal(have->nofile, want->nofile);
	assert_int_equal(have->turn_seconds, want->turn_seconds);
	assert_int_equal(have->lock_seconds, want->lock_seconds);
	assert_int_equal(have->control_seconds, want->control_seconds);
	assert_int_equal(have->remove_seconds, want->remove_seconds);
	assert_int_equal(have->live, want->live);
}

static void same_roots(const struct launch *have, const struct launch *want)
{
	assert_int_equal(have->root_count, want->root_count);
	for (size_t i = 0; i < want->root_count; i++) {
		same_string(have->root[i].path, want->root[i].path);
		same_string(have->root[i].guest, want->root[i].guest);
		assert_int_equal(have->root[i].read_only, want->root[i].read_only);
		assert_int_equal(have->root[i].is_file, want->root[i].is_file);
		assert_int_equal(have->root[i].dev, want->root[i].dev);
		assert_int_equal(have->root[i].ino, want->root[i].ino);
	}
}

static void same_launch(const struct launch *have, const struct launch *want)
{
	same_scalars(have, want);
	same_limits(&have->limits, &want->limits);
	same_roots(have, want);
	assert_int_equal(have->env_count, want->env_count);
	same_strings(have->env, want->env, want->env_count);
	assert_int_equal(have->command.count, want->command.count);
	same_strings(have->command.at, want->command.at, want->command.count);
	assert_int_equal(have->image_env.count, want->image_env.count);
	same_strings(have->image_env.at, want->image_env.at, want->image_env.count);
	assert_int_equal(have->image_labels.count, want->image_labels.count);
	same_strings(have->image_labels.at, want->image_labels.at, want->image_labels.count);
	assert_int_equal(have->argv.count, want->argv.count);
	same_strings(have->argv.at, want->argv.at, want->argv.count);
	assert_null(have->argv.at[have->argv.count]);
}

static void launch_round_trips(void **state)
{
	const struct launch *const both[] = {&full_launch, &bare_launch};
	static struct launch have;

	(void)state;
	for (size_t i = 0; i < COUNT_OF(both); i++) {
		const size_t len = frame_put_launch(frame, sizeof frame, both[i]);

		memset(&have, 0xff, sizeof have);
		assert_int_equal(frame_get_launch(frame, len, &have), FRAME_OK);
		same_launch(&have, both[i]);
	}
}

/* Nothing of the frame before shows through: absent strings and the entries
 * behind a count are NULL. */
static void decoding_starts_afresh(void **state)
{
	const size_t full = frame_put_launch(frame, sizeof frame, &full_launch);
	const size_t bare = frame_put_launch(again, sizeof again, &bare_launch);
	static struct launch launch;

	(void)state;
	assert_int_equal(frame_get_launch(frame, full, &launch), FRAME_OK);
	assert_int_equal(frame_get_launch(again, bare, &launch), FRAME_OK);
	assert_null(launch.runtime);
	assert_null(launch.root[0].path);
	assert_null(launch.env[0]);
	for (size_t i = 0; i <= full_launch.argv.count; i++)
		assert_null(launch.argv.at[i]);
}

/* The bytes themselves, so that both ends cannot change together unnoticed. */
/* Of a bare launch: head, turn_bytes, seconds, flags, counts. */
#define PART_ONE (8 + 8 + 16 + 3 + 6)
/* Where part two of the full launch begins: two roots, three words of argv. */
#define FULL_PART_TWO (PART_ONE + 2 * 16 + 11 + 5 + 11 + 4)

static void layout_is_fixed(void **state)
{
	static const uint8_t context[] = {'C', 'F', 'D', 'M', 0, 1, 0, 2};
	static const uint8_t answer[] = {'C', 'F', 'D', 'M', 0, 1, 0, 4, 1, 255};
	static const uint8_t image[] = {'C', 'F', 'D', 'M', 0, 1, 0, 3, 0, 0, 0, 1,
	                                'e', 0,   0,   0,   0, 2, 'r', '2', 0};
	static const struct ask_image ask = {"e", "r2"};

	/* the kind of question counts from ASK_CONTEXT */
	(void)state;
	assert_int_equal(frame_put_ask_context(frame, sizeof frame), sizeof context);
	assert_memory_equal(frame, context, sizeof context);
	assert_int_equal(frame_put_answered(frame, sizeof frame, &some_answered), sizeof answer);
	assert_memory_equal(frame, answer, sizeof answer);
	assert_int_equal(frame_put_ask_image(frame, sizeof frame, &ask), sizeof image);
	assert_memory_equal(frame, image, sizeof image);
	/* facts: head, nonce, mode, uid, gid, seven strings, five absent ones */
	assert_int_equal(frame_put_facts(frame, sizeof frame, &bare_facts),
	                 8 + 16 + 1 + 4 + 4 + 7 * 5 + 5);
	/* launch: head; turn_bytes, four seconds, three flags, three counts, part two's
	 * count; nonce, mode, uid, gid, init, revision, 4 * u64 and 3 * u32 limits,
	 * eight strings, three counts */
	assert_int_equal(frame_put_launch(frame, sizeof frame, &bare_launch),
	                 PART_ONE + 4 + 16 + 1 + 4 + 4 + 1 + 8 + 32 + 12 + 8 * 5 + 6);
}

/* Part one byte by byte, and the count of part two. */
static void part_one_is_fixed(void **state)
{
	static const uint8_t one[] = {
		'C', 'F', 'D', 'M', 0, 1, 0, 5, /* head */
		0, 0, 0, 0, 0, 0, 0, 6, /* turn_bytes */
		0, 0, 0, 9, 0, 0, 0, 10, 0, 0, 0, 11, 0, 0, 0, 12, /* seconds */
		1, 1, 1, /* a runtime, a file_bytes, audit_optional */
		0, 2, /* roots */
		0, 0, 0, 0, 0, 0, 0, 14, 0, 0, 0, 0, 0, 0, 0, 15,
		0, 0, 0, 0, 0, 0, 0, 16, 0, 0, 0, 0, 0, 0, 0, 17,
		0, 2, /* env */
		0, 3, 0, 0, 0, 6, 'd', 'o', 'c', 'k', 'e', 'r', 0, /* argv */
		0, 0, 0, 0, 0, 0, 0, 0, 6, 'c', 'r', 'e', 'a', 't', 'e', 0,
	};
	const size_t len = frame_put_launch(frame, sizeof frame, &full_launch);
	const size_t rest = len - sizeof one - 4;

	(void)state;
	assert_memory_equal(frame, one, sizeof one);
	assert_int_equal(frame[sizeof one], 0);
	assert_int_equal(frame[sizeof one + 1], 0);
	assert_int_equal(frame[sizeof one + 2], rest >> 8);
	assert_int_equal(frame[sizeof one + 3], rest & 0xff);
	assert_memory_equal(frame + sizeof one + 4, full_launch.nonce, NONCE_BYTES);
}

static void same_order(const struct order *have, const struct launch *want)
{
	const struct limits *limits = &want->limits;

	assert_int_equal(have->turn_bytes, limits->turn_bytes);
	assert_int_equal(have->turn_seconds, limits->turn_seconds);
	assert_int_equal(have->lock_seconds, limits->lock_seconds);
	assert_int_equal(have->control_seconds, limits->control_seconds);
	assert_int_equal(have->remove_seconds, limits->remove_seconds);
	assert_int_equal(have->runtime, want->runtime != NULL);
	assert_int_equal(have->file_limit, limits->file_bytes != 0);
	assert_int_equal(have->audit_optional, want->audit_optional);
	assert_int_equal(have->root_count, want->root_count);
	for (size_t i = 0; i < want->root_count; i++) {
		assert_int_equal(have->root[i].dev, want->root[i].dev);
		assert_int_equal(have->root[i].ino, want->root[i].ino);
	}
	assert_int_equal(have->env_count, want->env_count);
	assert_int_equal(have->argv.count, want->argv.count);
	same_strings(have->argv.at, want->argv.at, want->argv.count);
	assert_null(have->argv.at[have->argv.count]);
}

/* The executor's half of what policy wrote. */
static void orders_are_part_one(void **state)
{
	const struct launch *const both[] = {&full_launch, &bare_launch};
	static struct order order;

	(void)state;
	for (size_t i = 0; i < COUNT_OF(both); i++) {
		const size_t len = frame_put_launch(frame, sizeof frame, both[i]);

		memset(&order, 0xff, sizeof order);
		assert_int_equal(frame_get_order(frame, len, &order), FRAME_OK);
		same_order(&order, both[i]);
	}
	assert_null(order.argv.at[1]); /* of the fuller one before */
	assert_int_equal(order.root[0].ino, 0);
}

/* Only the length of part two is looked at, and it must be the rest exactly. */
static void part_two_is_passed_over(void **state)
{
	const size_t len = frame_put_launch(frame, sizeof frame, &full_launch);
	const size_t two = FULL_PART_TWO;
	static struct order order;

	(void)state;
	assert_memory_equal(frame + two, full_launch.nonce, NONCE_BYTES);
	memset(frame + two, 0xff, len - two);
	assert_int_equal(frame_get_order(frame, len, &order), FRAME_OK);
	same_order(&order, &full_launch);
	assert_int_equal(frame_get_launch(frame, len, &decoded.launch), FRAME_BAD);
	for (size_t lie = 0; lie < 32; lie++) { /* each bit of the count flipped */
		(void)frame_put_launch(frame, sizeof frame, &full_launch);
		frame[two - 1 - lie / 8] ^= (uint8_t)(1 << lie % 8);
		assert_int_equal(frame_get_order(frame, len, &order), FRAME_BAD);
		assert_int_equal(frame_get_launch(frame, len, &decoded.launch), FRAME_BAD);
	}
}

/* A count that agrees with a longer or shorter part two: the order is whole,
 * the launch is not. */
static void part_two_has_its_own_end(void **state)
{
	const size_t len = frame_put_launch(frame, sizeof frame, &full_launch);
	const size_t two = FULL_PART_TWO;
	static struct order order;

	(void)state;
	for (size_t end = two; end < len + 8; end++) {
		const size_t count = end - two;

		frame[two - 2] = (uint8_t)(count >> 8);
		frame[two - 1] = (uint8_t)count;
		assert_int_equal(frame_get_order(frame, end, &order), FRAME_OK);
		assert_int_equal(frame_get_launch(frame, end, &decoded.launch),
		                 end == len ? FRAME_OK : FRAME_BAD);
	}
}

/* The optional figures: there, and then not 0; or not there. */
static void absent_figures_take_no_room(void **state)
{
	static struct launch launch;
	size_t with, without;

	(void)state;
	launch = bare_launch;
	without = frame_put_launch(frame, sizeof frame, &launch);
	launch.limits.file_bytes = 1;
	with = frame_put_launch(frame, sizeof frame, &launch);
	assert_int_equal(with, without + 8);
	assert_int_equal(get(FRAME_LAUNCH, frame, with), FRAME_OK);
	assert_int_equal(frame[PART_ONE + 4 + 26 + 8 + 32 + 7], 1);
	frame[PART_ONE + 4 + 26 + 8 + 32 + 7] = 0;
	assert_int_equal(get(FRAME_LAUNCH, frame, with), FRAME_BAD);
	launch.runtime = "";
	assert_int_equal(frame_put_launch(frame, sizeof frame, &launch), with + 5);
}

static void kind_is_read_from_the_head(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(samples); i++) {
		const size_t len = put_sample(i);

		assert_int_equal(frame_kind(frame, len), samples[i].kind);
		assert_int_equal(frame_kind(frame, 8), samples[i].kind);
		for (size_t shorter = 0; shorter < 8; shorter++)
			assert_int_equal(frame_kind(frame, shorter), 0);
		for (size_t at = 0; at < 7; at++) {
			frame[at] ^= 1;
			assert_int_equal(frame_kind(frame, len), 0);
			frame[at] ^= 1;
		}
	}
	for (unsigned kind = 0; kind < 256; kind++) {
		frame[7] = (uint8_t)kind;
		assert_int_equal(frame_kind(frame, 8), kind <= FRAME_LAUNCH ? kind : 0);
	}
}

static void other_kinds_are_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(samples); i++) {
		const size_t len = put_sample(i);

		for (enum frame_kind kind = FRAME_FACTS; kind <= FRAME_LAUNCH; kind++)
			assert_int_equal(get(kind, frame, len),
			                 kind == samples[i].kind ? FRAME_OK : FRAME_BAD);
	}
}

static void encoding_needs_all_its_room(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(samples); i++) {
		const size_t len = put_sample(i);

		assert_int_equal(put(samples[i].kind, samples[i].value, again, len), len);
		assert_memory_equal(again, frame, len);
		for (size_t cap = 0; cap < len; cap++)
			assert_int_equal(put(samples[i].kind, samples[i].value, again, cap), 0);
	}
}

/* Each proper prefix, copied to the very end of a buffer of its own so that a
 * sanitizer sees a byte read behind it, is refused; so is one byte more. */
static void only_the_exact_length_decodes(void **state)
{
	static struct order order;

	(void)state;
	for (size_t i = 0; i < COUNT_OF(samples); i++) {
		const size_t len = put_sample(i);

		for (size_t shorter = 0; shorter < len; shorter++) {
			uint8_t *start = again + sizeof again - shorter;

			memcpy(start, frame, shorter);
			assert_int_equal(get(samples[i].kind, start, shorter), FRAME_BAD);
			assert_int_equal(frame_get_order(start, shorter, &order), FRAME_BAD);
		}
		assert_true(decodes_to_itself(samples[i].kind, frame, len));
		for (unsigned byte = 0; byte < 256; byte++) {
			frame[len] = (uint8_t)byte;
			assert_int_equal(get(samples[i].kind, frame, len + 1), FRAME_BAD);
			assert_int_equal(frame_get_order(frame, len + 1, &order), FRAME_BAD);
		}
	}
}

/* Every value of every byte: refused, or a frame in its own right. */
static void corruption_is_refused_or_consistent(void **state)
{
	size_t refused = 0;
	size_t taken = 0;

	(void)state;
	for (size_t i = 0; i < COUNT_OF(samples); i++) {
		const size_t len = put_sample(i);

		for (size_t at = 0; at < len; at++) {
			const uint8_t before = frame[at];

			for (unsigned byte = 0; byte < 256; byte++) {
				frame[at] = (uint8_t)byte;
				if (decodes_to_itself(samples[i].kind, frame, len))
					taken++;
				else
					refused++;
			}
			frame[at] = before;
		}
	}
	print_message("corrupted bytes: %zu refused, %zu decoded to themselves\n", refused, taken);
	assert_true(refused > 0 && taken > 0);
}

/* A NUL put over any byte of a string. */
static void embedded_nul_is_refused(void **state)
{
	static const char *const strings[] = {"unix:///run/docker.sock", "line\nline", "PATH=/bin",
	                                      "HOME=/tmp/home", "runsc", "create", "/srv/b"};
	const size_t len = put(FRAME_LAUNCH, &full_launch, frame, sizeof frame);
	static struct order order;

	(void)state;
	for (size_t i = 0; i < COUNT_OF(strings); i++) {
		uint8_t *found = memmem(frame, len, strings[i], strlen(strings[i]) + 1);

		assert_non_null(found);
		for (size_t at = 0; at < strlen(strings[i]); at++) {
			const uint8_t before = found[at];

			found[at] = 0;
			assert_int_equal(get(FRAME_LAUNCH, frame, len), FRAME_BAD);
			assert_int_equal(frame_get_order(frame, len, &order),
			                 found < frame + FULL_PART_TWO ? FRAME_BAD : FRAME_OK);
			found[at] = before;
		}
		/* and its own NUL taken away */
		found[strlen(strings[i])] = 'x';
		assert_int_equal(get(FRAME_LAUNCH, frame, len), FRAME_BAD);
		found[strlen(strings[i])] = 0;
	}
	assert_int_equal(get(FRAME_LAUNCH, frame, len), FRAME_OK);
}

static void refusal_leaves_the_output_alone(void **state)
{
	static struct launch launch;
	static struct launch launch_before;
	static struct facts facts;
	static struct facts facts_before;
	static struct order order;
	static struct order order_before;
	struct ask_image ask = some_ask;
	struct answered answered = some_answered;
	size_t len;

	(void)state;
	memset(&launch, 0x5a, sizeof launch);
	memset(&launch_before, 0x5a, sizeof launch_before);
	len = frame_put_launch(frame, sizeof frame, &full_launch);
	assert_int_equal(frame_get_launch(frame, len - 1, &launch), FRAME_BAD);
	assert_memory_equal(&launch, &launch_before, sizeof launch);

	memset(&order, 0x5a, sizeof order);
	memset(&order_before, 0x5a, sizeof order_before);
	assert_int_equal(frame_get_order(frame, len - 1, &order), FRAME_BAD);
	assert_memory_equal(&order, &order_before, sizeof order);

	memset(&facts, 0x5a, sizeof facts);
	memset(&facts_before, 0x5a, sizeof facts_before);
	len = frame_put_facts(frame, sizeof frame, &full_facts);
	assert_int_equal(frame_get_facts(frame, len - 1, &facts), FRAME_BAD);
	assert_memory_equal(&facts, &facts_before, sizeof facts);

	len = frame_put_ask_image(frame, sizeof frame, &(struct ask_image){"a", "b"});
	assert_int_equal(frame_get_ask_image(frame, len - 1, &ask), FRAME_BAD);
	assert_ptr_equal(ask.endpoint, some_ask.endpoint);
	assert_ptr_equal(ask.reference, some_ask.reference);

	len = frame_put_answered(frame, sizeof frame, &(struct answered){FRAME_ASK_CONTEXT, 1});
	assert_int_equal(frame_get_answered(frame, len - 1, &answered), FRAME_BAD);
	assert_int_equal(answered.question, FRAME_ASK_IMAGE);
	assert_int_equal(answered.status, 255);
}

static void answers_are_to_questions(void **state)
{
	struct answered answered = {FRAME_ASK_CONTEXT, 0};
	const size_t len = frame_put_answered(frame, sizeof frame, &answered);

	(void)state;
	for (unsigned kind = 0; kind < 256; kind++) {
		frame[len - 2] = (uint8_t)kind;
		assert_int_equal(frame_get_answered(frame, len, &answered),
		                 kind <= 1 ? FRAME_OK : FRAME_BAD);
		if (kind <= 1)
			assert_int_equal(answered.question,
			                 kind == 0 ? FRAME_ASK_CONTEXT : FRAME_ASK_IMAGE);
	}
	answered.question = FRAME_FACTS;
	assert_int_equal(frame_put_answered(frame, sizeof frame, &answered), 0);
	answered.question = FRAME_ANSWERED;
	assert_int_equal(frame_put_answered(frame, sizeof frame, &answered), 0);
}

/* Each count at its array's size, and one beyond. */
static void counts_are_bounded(void **state)
{
	static struct launch launch;
	const struct {
		uint16_t *count;
		const char **at; /* NULL: the roots */
		uint16_t max;
	} lists[] = {
		{&launch.root_count, NULL, ROOTS_MAX},
		{&launch.env_count, launch.env, ENV_MAX + 1},
		{&launch.command.count, launch.command.at, WORDS_MAX},
		{&launch.image_env.count, launch.image_env.at, INHERITED_MAX},
		{&launch.image_labels.count, launch.image_labels.at, INHERITED_MAX},
		{&launch.argv.count, launch.argv.at, ARGV_MAX},
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(lists); i++) {
		size_t len;

		launch = bare_launch;
		for (size_t k = 0; k < lists[i].max; k++) {
			if (lists[i].at != NULL)
				lists[i].at[k] = "w";
			else
				launch.root[k] = full_launch.root[0];
		}
		*lists[i].count = lists[i].max;
		len = frame_put_launch(frame, sizeof frame, &launch);
		launch.argv.at[ARGV_MAX] = "w"; /* the place of argv's NULL is no word's */
		assert_true(len > 0);
		assert_int_equal(frame_get_launch(frame, len, &decoded.launch), FRAME_OK);
		same_launch(&decoded.launch, &launch);
		*lists[i].count = (uint16_t)(lists[i].max + 1);
		assert_int_equal(frame_put_launch(frame, sizeof frame, &launch), 0);
		*lists[i].count = UINT16_MAX;
		assert_int_equal(frame_put_launch(frame, sizeof frame, &launch), 0);
	}
}

static void put_count(size_t at, size_t count)
{
	frame[at] = (uint8_t)(count >> 8);
	frame[at + 1] = (uint8_t)count;
}

/* The same on the wire: a list with all its items, one more than there is room
 * for.  In a bare frame argv is the last of part one, and part two ends in the
 * three other lists. */
static void decoded_lists_are_bounded(void **state)
{
	static const uint8_t word[] = {0, 0, 0, 1, 'w', 0};
	const size_t bare = frame_put_launch(frame, sizeof frame, &bare_launch);
	const struct {
		size_t at;
		unsigned max;
	} lists[] = {
		{PART_ONE - 2, ARGV_MAX},
		{bare - 6, WORDS_MAX},
		{bare - 4, INHERITED_MAX},
		{bare - 2, INHERITED_MAX},
	};
	static struct order order;

	(void)state;
	for (size_t list = 0; list < COUNT_OF(lists); list++) {
		for (unsigned more = 0; more < 2; more++) {
			const unsigned items = lists[list].max + more;
			const size_t behind = lists[list].at + 2, added = items * sizeof word;

			(void)frame_put_launch(frame, sizeof frame, &bare_launch);
			memmove(frame + behind + added, frame + behind, bare - behind);
			put_count(behind - 2, items);
			for (unsigned k = 0; k < items; k++)
				memcpy(frame + behind + k * sizeof word, word, sizeof word);
			if (list > 0)
				put_count(PART_ONE + 2, bare - PART_ONE - 4 + added);
			assert_int_equal(get(FRAME_LAUNCH, frame, bare + added),
			                 more ? FRAME_BAD : FRAME_OK);
			assert_int_equal(frame_get_order(frame, bare + added, &order),
			                 more && list == 0 ? FRAME_BAD : FRAME_OK);
		}
	}
}

/* Of roots, part one has 16 bytes each; of env, the count only. */
static void decoded_counts_are_bounded(void **state)
{
	const size_t roots_at = PART_ONE - 6, env_at = PART_ONE - 4;
	const size_t bare = frame_put_launch(frame, sizeof frame, &bare_launch);
	static struct order order;

	(void)state;
	for (unsigned more = 0; more < 2; more++) {
		const size_t added = 16 * (ROOTS_MAX + (size_t)more);

		(void)frame_put_launch(frame, sizeof frame, &bare_launch);
		memmove(frame + env_at + added, frame + env_at, bare - env_at);
		put_count(roots_at, ROOTS_MAX + more);
		assert_int_equal(frame_get_order(frame, bare + added, &order),
		                 more ? FRAME_BAD : FRAME_OK);
		(void)frame_put_launch(frame, sizeof frame, &bare_launch);
		put_count(env_at, ENV_MAX + 1 + more);
		assert_int_equal(frame_get_order(frame, bare, &order),
		                 more ? FRAME_BAD : FRAME_OK);
	}
}

static char long_text[WORDS_MAX * 4096];

static const char *text_of(size_t len)
{
	memset(long_text, 'a', sizeof long_text - 1);
	long_text[len] = '\0';
	return long_text;
}

/* One value of each kind, and every string of theirs with its maximum. */
static struct {
	struct launch launch;
	struct facts facts;
	struct ask_image ask;
} changed;

static const struct {
	enum frame_kind kind;
	const char **at;
	size_t max;
} strings[] = {
	{FRAME_FACTS, &changed.facts.home, 4095},
	{FRAME_FACTS, &changed.facts.state_dir, 4095},
	{FRAME_FACTS, &changed.facts.state_id, 32},
	{FRAME_FACTS, &changed.facts.docker_host, 131071},
	{FRAME_FACTS, &changed.facts.ssh_auth_sock, 131071},
	{FRAME_FACTS, &changed.facts.executor, 4095},
	{FRAME_FACTS, &changed.facts.policy, 4095},
	{FRAME_FACTS, &changed.facts.docker, 4095},
	{FRAME_FACTS, &changed.facts.config, 4095},
	{FRAME_FACTS, &changed.facts.audit, 4095},
	{FRAME_FACTS, &changed.facts.worker_err, 4095},
	{FRAME_FACTS, &changed.facts.name, 131071},
	{FRAME_ASK_IMAGE, &changed.ask.endpoint, 114},
	{FRAME_ASK_IMAGE, &changed.ask.reference, 512},
	{FRAME_LAUNCH, &changed.launch.state_id, 32},
	{FRAME_LAUNCH, &changed.launch.name, 91},
	{FRAME_LAUNCH, &changed.launch.endpoint, 114},
	{FRAME_LAUNCH, &changed.launch.session, 128},
	{FRAME_LAUNCH, &changed.launch.runtime, 255},
	{FRAME_LAUNCH, &changed.launch.image_id, 512},
	{FRAME_LAUNCH, &changed.launch.workdir, 4095},
	{FRAME_LAUNCH, &changed.launch.entrypoint, 131071},
	{FRAME_LAUNCH, &changed.launch.roots_label, 65536},
	{FRAME_LAUNCH, &changed.launch.root[0].path, 4095},
	{FRAME_LAUNCH, &changed.launch.root[1].guest, 255},
	{FRAME_LAUNCH, &changed.launch.env[1], 131071},
	{FRAME_LAUNCH, &changed.launch.command.at[0], 131071},
	{FRAME_LAUNCH, &changed.launch.image_env.at[0], 131071},
	{FRAME_LAUNCH, &changed.launch.image_labels.at[0], 131071},
	{FRAME_LAUNCH, &changed.launch.argv.at[2], 131071},
};

static const void *as_given(enum frame_kind kind)
{
	changed.launch = full_launch;
	changed.facts = full_facts;
	changed.ask = some_ask;
	return kind == FRAME_FACTS    ? (const void *)&changed.facts
	       : kind == FRAME_LAUNCH ? (const void *)&changed.launch
	                              : (const void *)&changed.ask;
}

/* Each string at its maximum, and one byte beyond. */
static void strings_are_bounded(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(strings); i++) {
		const enum frame_kind kind = strings[i].kind;
		const void *value = as_given(kind);
		size_t len;

		*strings[i].at = text_of(strings[i].max + 1);
		assert_int_equal(put(kind, value, frame, sizeof frame), 0);
		*strings[i].at = text_of(strings[i].max);
		len = put(kind, value, frame, sizeof frame);
		assert_true(len > 0);
		assert_true(decodes_to_itself(kind, frame, len));
	}
}

/* The count that stands before `behind`, one more. */
static void count_up(uint8_t *behind)
{
	uint32_t count = 1;

	for (int i = 4; i > 0; i--)
		count += (uint32_t)behind[-i] << 8 * (i - 1);
	for (int i = 4; i > 0; i--)
		behind[-i] = (uint8_t)(count >> 8 * (i - 1));
}

/* Puts one more byte into a string on the wire itself. */
static void decoded_strings_are_bounded(void **state)
{
	static struct order order;

	(void)state;
	for (size_t i = 0; i < COUNT_OF(strings); i++) {
		const enum frame_kind kind = strings[i].kind;
		const bool part_two =
			kind == FRAME_LAUNCH && strings[i].at != &changed.launch.argv.at[2];
		const void *value = as_given(kind);
		size_t len;
		uint8_t *found;

		*strings[i].at = text_of(strings[i].max);
		len = put(kind, value, frame, sizeof frame);
		assert_int_equal(get(kind, frame, len), FRAME_OK);
		found = memmem(frame, len, *strings[i].at, strings[i].max + 1);
		assert_non_null(found);
		memmove(found + 1, found, len - (size_t)(found - frame));
		count_up(found);
		if (part_two)
			count_up(frame + FULL_PART_TWO);
		assert_int_equal(get(kind, frame, len + 1), FRAME_BAD);
		assert_int_equal(frame_get_order(frame, len + 1, &order),
		                 part_two ? FRAME_OK : FRAME_BAD);
	}
}

/* Figures that have no maximum but their width's. */
static void figures_keep_their_extremes(void **state)
{
	static struct launch launch;
	static struct order order;
	struct facts facts = full_facts;
	size_t len;

	(void)state;
	launch = full_launch;
	launch.limits.turn_bytes = UINT64_MAX;
	launch.limits.turn_seconds = launch.limits.lock_seconds = UINT32_MAX;
	launch.limits.control_seconds = launch.limits.remove_seconds = UINT32_MAX;
	launch.root[1].dev = launch.root[1].ino = UINT64_MAX;
	launch.uid = launch.gid = UINT32_MAX;
	launch.revision = UINT64_MAX;
	launch.limits.memory_bytes = launch.limits.nano_cpus = UINT64_MAX;
	launch.limits.tmpfs_bytes = launch.limits.shm_bytes = UINT64_MAX;
	launch.limits.file_bytes = UINT64_MAX;
	launch.limits.pids = launch.limits.nofile = launch.limits.live = UINT32_MAX;
	len = frame_put_launch(frame, sizeof frame, &launch);
	assert_true(decodes_to_itself(FRAME_LAUNCH, frame, len));
	assert_int_equal(frame_get_order(frame, len, &order), FRAME_OK);
	same_order(&order, &launch);
	same_launch(&decoded.launch, &launch);
	facts.gid = UINT32_MAX;
	len = frame_put_facts(frame, sizeof frame, &facts);
	assert_true(decodes_to_itself(FRAME_FACTS, frame, len));
	assert_true(decoded.facts.gid == UINT32_MAX);
}

static void missing_strings_are_not_encoded(void **state)
{
	static struct launch launch;
	struct facts facts = full_facts;
	struct ask_image ask = some_ask;

	(void)state;
	facts.home = NULL;
	assert_int_equal(frame_put_facts(frame, sizeof frame, &facts), 0);
	ask.reference = NULL;
	assert_int_equal(frame_put_ask_image(frame, sizeof frame, &ask), 0);
	launch = full_launch;
	launch.argv.at[1] = NULL;
	assert_int_equal(frame_put_launch(frame, sizeof frame, &launch), 0);
}

/* xorshift32 (Marsaglia 2003). */
static uint32_t random_next(uint32_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 17;
	*seed ^= *seed << 5;
	return *seed;
}

/* A few bytes of a good frame overwritten, its length changed now and then. */
static void random_frames_are_refused_or_consistent(void **state)
{
	static uint8_t mutant[FRAME_MAX];
	uint32_t seed = SEED;
	size_t taken = 0;

	(void)state;
	for (unsigned round = 0; round < FUZZ_ROUNDS; round++) {
		const size_t i = random_next(&seed) % COUNT_OF(samples);
		size_t len = put_sample(i);
		const unsigned edits = 1 + random_next(&seed) % 4;

		memcpy(mutant, frame, len);
		for (unsigned k = 0; k < edits; k++)
			mutant[random_next(&seed) % len] = (uint8_t)random_next(&seed);
		if (random_next(&seed) % 4 == 0)
			len = random_next(&seed) % (len + 16);
		taken += decodes_to_itself(samples[i].kind, mutant, len);
	}
	print_message("random frames: %d, seed %#x, %zu decoded to themselves\n", FUZZ_ROUNDS, SEED,
	              taken);
	assert_true(taken > 0 && taken < FUZZ_ROUNDS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(facts_round_trip),
		cmocka_unit_test(questions_round_trip),
		cmocka_unit_test(launch_round_trips),
		cmocka_unit_test(decoding_starts_afresh),
		cmocka_unit_test(layout_is_fixed),
		cmocka_unit_test(part_one_is_fixed),
		cmocka_unit_test(orders_are_part_one),
		cmocka_unit_test(part_two_is_passed_over),
		cmocka_unit_test(part_two_has_its_own_end),
		cmocka_unit_test(absent_figures_take_no_room),
		cmocka_unit_test(kind_is_read_from_the_head),
		cmocka_unit_test(other_kinds_are_refused),
		cmocka_unit_test(encoding_needs_all_its_room),
		cmocka_unit_test(only_the_exact_length_decodes),
		cmocka_unit_test(corruption_is_refused_or_consistent),
		cmocka_unit_test(embedded_nul_is_refused),
		cmocka_unit_test(refusal_leaves_the_output_alone),
		cmocka_unit_test(answers_are_to_questions),
		cmocka_unit_test(counts_are_bounded),
		cmocka_unit_test(decoded_lists_are_bounded),
		cmocka_unit_test(decoded_counts_are_bounded),
		cmocka_unit_test(strings_are_bounded),
		cmocka_unit_test(decoded_strings_are_bounded),
		cmocka_unit_test(figures_keep_their_extremes),
		cmocka_unit_test(missing_strings_are_not_encoded),
		cmocka_unit_test(random_frames_are_refused_or_consistent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

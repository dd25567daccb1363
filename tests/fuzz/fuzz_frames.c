/* SPDX-License-Identifier: ISC */

/*
 * ipc/: every frame, in both directions.  The bytes are taken twice: as a frame
 * that came over the wire, and as the choices from which one is made.
 */

#define FUZZING
#define ENTRY frames

#include "../../formal/nondet.h"

#include <string.h>

#include "../../executor/gate.h"
#include "../../ipc/frame_policy.h"
#include "fuzz.h"

/* Names the choices, too. */
#undef HOLDS
#define HOLDS(condition) PROVE(condition, #condition)

#define TEXT_MAX 12
#define TEXTS 1024

static uint8_t encoded[FRAME_MAX];
static struct launch launch, launch_back;
static struct order order;

/* --- bytes that came --- */

static void same_bytes(const uint8_t *bytes, size_t len, size_t again)
{
	HOLDS(again == len && memcmp(encoded, bytes, len) == 0);
}

static void check_order_of(const struct launch *of)
{
	HOLDS(order.root_count == of->root_count && order.env_count == of->env_count);
	HOLDS(order.turn_bytes == of->limits.turn_bytes);
	HOLDS(order.runtime == (of->runtime != NULL));
	HOLDS(order.file_limit == (of->limits.file_bytes != 0));
	HOLDS(order.argv.count == of->argv.count && order.argv.at[order.argv.count] == NULL);
	for (unsigned i = 0; i < order.argv.count; i++)
		HOLDS(strcmp(order.argv.at[i], of->argv.at[i]) == 0);
}

static void take_launch(const uint8_t *bytes, size_t len)
{
	const bool whole = frame_get_launch(bytes, len, &launch) == FRAME_OK;
	const bool first = frame_get_order(bytes, len, &order) == FRAME_OK;

	HOLDS(!whole || first); /* what policy reads, the executor has read */
	if (!whole)
		return;
	HOLDS(frame_kind(bytes, len) == FRAME_LAUNCH);
	same_bytes(bytes, len, frame_put_launch(encoded, FRAME_MAX, &launch));
	check_order_of(&launch);
}

static void take_frame(const uint8_t *bytes, size_t len)
{
	struct facts facts;
	struct ask_image ask;
	struct answered answered;
	unsigned taken = 0;

	if (frame_get_facts(bytes, len, &facts) == FRAME_OK) {
		taken++;
		same_bytes(bytes, len, frame_put_facts(encoded, FRAME_MAX, &facts));
	}
	if (frame_get_ask_context(bytes, len) == FRAME_OK) {
		taken++;
		same_bytes(bytes, len, frame_put_ask_context(encoded, FRAME_MAX));
	}
	if (frame_get_ask_image(bytes, len, &ask) == FRAME_OK) {
		taken++;
		same_bytes(bytes, len, frame_put_ask_image(encoded, FRAME_MAX, &ask));
	}
	if (frame_get_answered(bytes, len, &answered) == FRAME_OK) {
		taken++;
		same_bytes(bytes, len, frame_put_answered(encoded, FRAME_MAX, &answered));
	}
	take_launch(bytes, len);
	HOLDS(taken <= 1);
}

/* --- frames that are made --- */

static char texts[TEXTS][TEXT_MAX + 1];
static unsigned text_count;

/* Mostly short; any bytes but NUL. */
static const char *any_string(void)
{
	char *text = texts[text_count++ % TEXTS];
	const size_t len = any_up_to(any_bool() ? 2 : TEXT_MAX);

	for (size_t i = 0; i < len; i++)
		text[i] = any_byte();
	text[len] = '\0';
	return text;
}

static const char *any_optional(void)
{
	return any_bool() ? any_string() : NULL;
}

static uint32_t any_u32(void)
{
	return (uint32_t)any_u64();
}

/* Of a list: few, or at its bound, or one beyond. */
static uint16_t any_count(size_t max)
{
	return (uint16_t)(any_bool() ? any_up_to(2) : max - 1 + any_up_to(2));
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static void same_texts(const char *const *a, const char *const *b, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		HOLDS(same_text(a[i], b[i]));
}

/* For the buffer that a frame just fits into, and the one that it does not. */
static uint8_t *exact(size_t len)
{
	return (uint8_t *)fuzz_copy(encoded, len);
}

static bool taken_as(enum frame_kind kind, const uint8_t *bytes, size_t len)
{
	static struct facts facts;
	static struct ask_image ask;
	static struct answered answered;

	switch (kind) {
	case FRAME_FACTS: return frame_get_facts(bytes, len, &facts) == FRAME_OK;
	case FRAME_ASK_CONTEXT: return frame_get_ask_context(bytes, len) == FRAME_OK;
	case FRAME_ASK_IMAGE: return frame_get_ask_image(bytes, len, &ask) == FRAME_OK;
	case FRAME_ANSWERED: return frame_get_answered(bytes, len, &answered) == FRAME_OK;
	case FRAME_LAUNCH:
	default:
		return frame_get_launch(bytes, len, &launch_back) == FRAME_OK ||
		       frame_get_order(bytes, len, &order) == FRAME_OK;
	}
}

/* The frame in `encoded` is taken, as what it is; cut anywhere, or with a byte
 * more, it is not. */
static void check_ends(enum frame_kind kind, size_t len)
{
	const size_t lengths[] = {any_up_to(len - 1), len - 1, len, len + 1};

	HOLDS(len > 0 && len < FRAME_MAX && frame_kind(encoded, len) == kind);
	encoded[len] = 0;
	for (unsigned i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
		uint8_t *bytes = exact(lengths[i]);

		HOLDS(taken_as(kind, bytes, lengths[i]) == (lengths[i] == len));
		free(bytes);
	}
	for (unsigned other = FRAME_FACTS; other <= FRAME_LAUNCH; other++)
		HOLDS(other == kind || !taken_as((enum frame_kind)other, encoded, len));
}

static void make_facts(void)
{
	struct facts facts = {.mode = any_bool() ? MODE_SESSION : MODE_TURN, .uid = any_u32()};
	const char **const texts_of[] = {&facts.home, &facts.state_dir, &facts.state_id,
	                                 &facts.executor, &facts.policy, &facts.docker,
	                                 &facts.config};
	struct facts back;
	uint8_t *bytes;
	size_t len;

	facts.gid = any_u32();
	for (unsigned i = 0; i < NONCE_BYTES; i++)
		facts.nonce[i] = (uint8_t)any_byte();
	for (unsigned i = 0; i < sizeof texts_of / sizeof texts_of[0]; i++)
		*texts_of[i] = any_string();
	facts.docker_host = any_optional();
	facts.ssh_auth_sock = any_optional();
	facts.audit = any_optional();
	facts.name = any_optional();
	len = frame_put_facts(encoded, FRAME_MAX, &facts);
	check_ends(FRAME_FACTS, len);
	bytes = exact(len);
	HOLDS(frame_get_facts(bytes, len, &back) == FRAME_OK);
	HOLDS(memcmp(facts.nonce, back.nonce, NONCE_BYTES) == 0 && facts.mode == back.mode);
	HOLDS(facts.uid == back.uid && facts.gid == back.gid);
	HOLDS(same_text(facts.home, back.home) && same_text(facts.config, back.config));
	HOLDS(same_text(facts.state_id, back.state_id) && same_text(facts.audit, back.audit));
	HOLDS(same_text(facts.docker_host, back.docker_host) && same_text(facts.name, back.name));
	HOLDS(frame_put_facts(bytes, len - 1, &facts) == 0);
	HOLDS(frame_put_facts(bytes, len, &facts) == len);
	free(bytes);
}

static void make_question(void)
{
	const struct ask_image ask = {any_string(), any_string()};
	const struct answered answered = {any_bool() ? FRAME_ASK_IMAGE : FRAME_ASK_CONTEXT,
	                                  (uint8_t)any_byte()};
	struct ask_image ask_back;
	struct answered answered_back;
	size_t len = frame_put_ask_image(encoded, FRAME_MAX, &ask);
	uint8_t *bytes = exact(len);

	check_ends(FRAME_ASK_IMAGE, len);
	HOLDS(frame_get_ask_image(bytes, len, &ask_back) == FRAME_OK);
	HOLDS(same_text(ask.endpoint, ask_back.endpoint));
	HOLDS(same_text(ask.reference, ask_back.reference));
	free(bytes);
	len = frame_put_answered(encoded, FRAME_MAX, &answered);
	check_ends(FRAME_ANSWERED, len);
	bytes = exact(len);
	HOLDS(frame_get_answered(bytes, len, &answered_back) == FRAME_OK);
	HOLDS(answered.question == answered_back.question);
	HOLDS(answered.status == answered_back.status);
	free(bytes);
	check_ends(FRAME_ASK_CONTEXT, frame_put_ask_context(encoded, FRAME_MAX));
}

static void any_list(const char **at, uint16_t *count, size_t max)
{
	*count = any_count(max);
	for (unsigned i = 0; i < *count && i < max; i++)
		at[i] = any_string();
}

static void any_limits(struct limits *limits)
{
	uint64_t *const wide[] = {&limits->memory_bytes, &limits->nano_cpus, &limits->tmpfs_bytes,
	                          &limits->shm_bytes, &limits->file_bytes, &limits->turn_bytes};
	uint32_t *const narrow[] = {&limits->pids, &limits->nofile, &limits->turn_seconds,
	                            &limits->lock_seconds, &limits->control_seconds,
	                            &limits->remove_seconds, &limits->live};

	for (unsigned i = 0; i < sizeof wide / sizeof wide[0]; i++)
		*wide[i] = any_u64();
	for (unsigned i = 0; i < sizeof narrow / sizeof narrow[0]; i++)
		*narrow[i] = any_u32();
}

static void any_launch(struct launch *l)
{
	const char **const texts_of[] = {&l->state_id, &l->name, &l->endpoint, &l->session,
	                                 &l->image_id, &l->workdir, &l->entrypoint,
	                                 &l->roots_label};

	memset(l, 0, sizeof *l);
	l->mode = any_bool() ? MODE_SESSION : MODE_TURN;
	l->uid = any_u32();
	l->gid = any_u32();
	l->init = any_bool();
	l->audit_optional = any_bool();
	l->revision = any_u64();
	l->runtime = any_optional();
	for (unsigned i = 0; i < sizeof texts_of / sizeof texts_of[0]; i++)
		*texts_of[i] = any_string();
	any_limits(&l->limits);
	l->root_count = any_count(ROOTS_MAX);
	for (unsigned i = 0; i < l->root_count && i < ROOTS_MAX; i++)
		l->root[i] = (struct root){any_string(), any_string(), any_bool(),
		                           any_bool(),   any_u64(),    any_u64()};
	any_list(l->env, &l->env_count, ENV_MAX + 1);
	any_list(l->command.at, &l->command.count, WORDS_MAX);
	any_list(l->image_env.at, &l->image_env.count, INHERITED_MAX);
	any_list(l->image_labels.at, &l->image_labels.count, INHERITED_MAX);
	any_list(l->argv.at, &l->argv.count, ARGV_MAX);
}

static bool in_bounds(const struct launch *l)
{
	return l->root_count <= ROOTS_MAX && l->env_count <= ENV_MAX + 1 &&
	       l->command.count <= WORDS_MAX && l->image_env.count <= INHERITED_MAX &&
	       l->image_labels.count <= INHERITED_MAX && l->argv.count <= ARGV_MAX;
}

static void same_launch(const struct launch *a, const struct launch *b)
{
	HOLDS(a->mode == b->mode && a->uid == b->uid && a->gid == b->gid && a->init == b->init);
	HOLDS(a->revision == b->revision && a->audit_optional == b->audit_optional);
	HOLDS(a->limits.file_bytes == b->limits.file_bytes);
	HOLDS(same_text(a->state_id, b->state_id) && same_text(a->name, b->name));
	HOLDS(same_text(a->endpoint, b->endpoint) && same_text(a->session, b->session));
	HOLDS(same_text(a->runtime, b->runtime) && same_text(a->image_id, b->image_id));
	HOLDS(same_text(a->workdir, b->workdir) && same_text(a->entrypoint, b->entrypoint));
	HOLDS(same_text(a->roots_label, b->roots_label) && a->root_count == b->root_count);
	for (unsigned i = 0; i < a->root_count; i++) {
		const struct root *x = &a->root[i], *y = &b->root[i];

		HOLDS(same_text(x->path, y->path) && same_text(x->guest, y->guest));
		HOLDS(x->read_only == y->read_only && x->is_file == y->is_file);
		HOLDS(x->dev == y->dev && x->ino == y->ino);
	}
	HOLDS(a->env_count == b->env_count && a->command.count == b->command.count);
	HOLDS(a->image_env.count == b->image_env.count);
	HOLDS(a->image_labels.count == b->image_labels.count && a->argv.count == b->argv.count);
	same_texts(a->env, b->env, a->env_count);
	same_texts(a->command.at, b->command.at, a->command.count);
	same_texts(a->image_env.at, b->image_env.at, a->image_env.count);
	same_texts(a->image_labels.at, b->image_labels.at, a->image_labels.count);
	same_texts(a->argv.at, b->argv.at, a->argv.count);
}

static void make_launch(void)
{
	uint8_t *bytes;
	size_t len;

	any_launch(&launch);
	len = frame_put_launch(encoded, FRAME_MAX, &launch);
	HOLDS((len > 0) == in_bounds(&launch));
	if (len == 0)
		return;
	check_ends(FRAME_LAUNCH, len);
	bytes = exact(len);
	HOLDS(frame_get_launch(bytes, len, &launch_back) == FRAME_OK);
	same_launch(&launch, &launch_back);
	same_bytes(bytes, len, frame_put_launch(encoded, FRAME_MAX, &launch_back));
	HOLDS(frame_get_order(bytes, len, &order) == FRAME_OK);
	check_order_of(&launch);
	HOLDS(frame_put_launch(bytes, len - 1, &launch) == 0);
	free(bytes);
}

void frames(void)
{
	char *copy = fuzz_copy(fuzz_at, fuzz_left);

	take_frame((const uint8_t *)copy, fuzz_left);
	free(copy);
	text_count = 0;
	make_question();
	make_facts();
	make_launch();
}

/* SPDX-License-Identifier: ISC */
#include "frame.h"

#include <string.h>

#include "wire.h"

#define HEAD_BYTES 8
#define WORD_BYTES_MAX 131071 /* MAX_ARG_STRLEN less its NUL (linux/binfmts.h) */
#define IMAGE_BYTES_MAX 512
#define URL_BYTES_MAX (7 + ENDPOINT_PATH_MAX) /* unix:// */

/*
 * As with xdr(3), one function a type serves both directions: it writes what
 * *value holds, or reads into it.  So a kind's fields are named once, in order,
 * and what was encoded decodes.
 */
struct codec {
	bool encoding;
	struct wire_out out;
	struct wire_in in;
};

/*
 * The fields are coded in here: a decoded frame is copied to the caller only
 * when it is known to be whole, and an encoder's argument is const.  The
 * functions below are therefore not re-entrant; both programs have one thread,
 * and no signal handler codes a frame.
 */
static union {
	struct facts facts;
	struct ask_image ask;
	struct answered answered;
	struct launch launch;
} scratch;

static void require(struct codec *c, bool condition)
{
	c->out.bad = c->out.bad || !condition;
	c->in.bad = c->in.bad || !condition;
}

/* A boolean, an enum or an exit status. */
static unsigned small(struct codec *c, unsigned value, unsigned max)
{
	if (c->encoding)
		wire_put_u8(&c->out, (uint8_t)value);
	else
		value = wire_get_u8(&c->in);
	require(c, value <= max);
	return value;
}

/* 0 when it is beyond max, so that no loop runs over its array. */
static uint16_t count(struct codec *c, uint16_t value, unsigned max)
{
	if (c->encoding)
		wire_put_u16(&c->out, value);
	else
		value = wire_get_u16(&c->in);
	require(c, value <= max);
	return value <= max ? value : 0;
}

static void u32(struct codec *c, uint32_t *value)
{
	if (c->encoding)
		wire_put_u32(&c->out, *value);
	else
		*value = wire_get_u32(&c->in);
}

static void u64(struct codec *c, uint64_t *value)
{
	if (c->encoding)
		wire_put_u64(&c->out, *value);
	else
		*value = wire_get_u64(&c->in);
}

static void nonce(struct codec *c, uint8_t *bytes)
{
	if (c->encoding)
		wire_put_bytes(&c->out, bytes, NONCE_BYTES);
	else
		wire_get_bytes(&c->in, bytes, NONCE_BYTES);
}

static void optional(struct codec *c, const char **value, size_t max)
{
	if (c->encoding)
		wire_put_optional(&c->out, *value);
	else
		*value = wire_get_optional(&c->in, max);
	require(c, *value == NULL || strlen(*value) <= max);
}

static void string(struct codec *c, const char **value, size_t max)
{
	if (!c->encoding)
		*value = wire_get_string(&c->in, max);
	else if (*value != NULL)
		wire_put_string(&c->out, *value);
	require(c, *value != NULL && strlen(*value) <= max);
}

static void strings(struct codec *c, uint16_t *number, const char **at, unsigned max)
{
	*number = count(c, *number, max);
	for (unsigned i = 0; i < *number; i++)
		string(c, &at[i], WORD_BYTES_MAX);
}

static void facts_fields(struct codec *c, struct facts *facts)
{
	nonce(c, facts->nonce);
	facts->mode = small(c, facts->mode, MODE_SESSION);
	u32(c, &facts->uid);
	u32(c, &facts->gid);
	string(c, &facts->home, PATH_BYTES_MAX);
	string(c, &facts->state_dir, PATH_BYTES_MAX);
	string(c, &facts->state_id, ID_HEX);
	/* What the caller typed or exported may be of any length: policy is to
	 * refuse it with a reason. */
	optional(c, &facts->docker_host, WORD_BYTES_MAX);
	optional(c, &facts->ssh_auth_sock, WORD_BYTES_MAX);
	string(c, &facts->executor, PATH_BYTES_MAX);
	string(c, &facts->policy, PATH_BYTES_MAX);
	string(c, &facts->docker, PATH_BYTES_MAX);
	string(c, &facts->config, PATH_BYTES_MAX);
	optional(c, &facts->audit, PATH_BYTES_MAX);
	optional(c, &facts->name, WORD_BYTES_MAX);
}

static void limits_fields(struct codec *c, struct limits *limits)
{
	u64(c, &limits->memory_bytes);
	u64(c, &limits->nano_cpus);
	u64(c, &limits->tmpfs_bytes);
	u64(c, &limits->shm_bytes);
	u64(c, &limits->file_bytes);
	u64(c, &limits->turn_bytes);
	u32(c, &limits->pids);
	u32(c, &limits->nofile);
	u32(c, &limits->turn_seconds);
	u32(c, &limits->lock_seconds);
	u32(c, &limits->control_seconds);
	u32(c, &limits->remove_seconds);
	u32(c, &limits->live);
}

static void root_fields(struct codec *c, struct root *root)
{
	string(c, &root->path, PATH_BYTES_MAX);
	string(c, &root->guest, GUEST_BYTES_MAX);
	root->read_only = small(c, root->read_only, true) != 0;
	root->is_file = small(c, root->is_file, true) != 0;
	u64(c, &root->dev);
	u64(c, &root->ino);
}

static void launch_fields(struct codec *c, struct launch *launch)
{
	nonce(c, launch->nonce);
	launch->mode = small(c, launch->mode, MODE_SESSION);
	u32(c, &launch->uid);
	u32(c, &launch->gid);
	launch->init = small(c, launch->init, true) != 0;
	string(c, &launch->state_id, ID_HEX);
	string(c, &launch->name, NAME_BYTES_MAX);
	string(c, &launch->endpoint, URL_BYTES_MAX);
	string(c, &launch->session, SESSION_KEY_BYTES_MAX);
	u64(c, &launch->revision);
	optional(c, &launch->runtime, GUEST_BYTES_MAX);
	string(c, &launch->image_id, IMAGE_BYTES_MAX);
	string(c, &launch->workdir, PATH_BYTES_MAX);
	string(c, &launch->entrypoint, WORD_BYTES_MAX);
	string(c, &launch->roots_label, ROOTS_LABEL_MAX);
	limits_fields(c, &launch->limits);
	launch->root_count = count(c, launch->root_count, ROOTS_MAX);
	for (unsigned i = 0; i < launch->root_count; i++)
		root_fields(c, &launch->root[i]);
	strings(c, &launch->env_count, launch->env, ENV_MAX + 1);
	strings(c, &launch->command.count, launch->command.at, WORDS_MAX);
	strings(c, &launch->image_env.count, launch->image_env.at, INHERITED_MAX);
	strings(c, &launch->image_labels.count, launch->image_labels.at, INHERITED_MAX);
	strings(c, &launch->argv.count, launch->argv.at, ARGV_MAX);
}

static void fields(struct codec *c, enum frame_kind kind)
{
	switch (kind) {
	case FRAME_FACTS:
		facts_fields(c, &scratch.facts);
		break;
	case FRAME_ASK_CONTEXT: /* has none */
		break;
	case FRAME_ASK_IMAGE:
		string(c, &scratch.ask.endpoint, URL_BYTES_MAX);
		string(c, &scratch.ask.reference, IMAGE_BYTES_MAX);
		break;
	case FRAME_ANSWERED:
		scratch.answered.question = small(c, scratch.answered.question, FRAME_ASK_IMAGE);
		require(c, scratch.answered.question >= FRAME_ASK_CONTEXT);
		scratch.answered.status = (uint8_t)small(c, scratch.answered.status, UINT8_MAX);
		break;
	case FRAME_LAUNCH:
		launch_fields(c, &scratch.launch);
		break;
	}
}

static const uint8_t head[6] = {'C', 'F', 'D', 'M', FRAME_VERSION >> 8, FRAME_VERSION & 0xff};

static size_t encode(uint8_t *to, size_t cap, enum frame_kind kind, const void *from, size_t size)
{
	struct codec c = {.encoding = true, .out = {.at = to, .cap = cap}};

	memcpy(&scratch, from, size);
	wire_put_bytes(&c.out, head, sizeof head);
	wire_put_u16(&c.out, (uint16_t)kind);
	fields(&c, kind);
	return c.out.bad ? 0 : c.out.len;
}

static enum frame_result decode(const uint8_t *bytes, size_t len, enum frame_kind kind, void *to,
                                size_t size)
{
	struct codec c = {.in = {.at = bytes, .len = len, .pos = HEAD_BYTES}};

	if (frame_kind(bytes, len) != kind)
		return FRAME_BAD;
	memset(&scratch, 0, sizeof scratch);
	fields(&c, kind);
	if (!wire_end(&c.in))
		return FRAME_BAD;
	memcpy(to, &scratch, size);
	return FRAME_OK;
}

unsigned frame_kind(const uint8_t *bytes, size_t len)
{
	unsigned kind;

	if (len < HEAD_BYTES || memcmp(bytes, head, sizeof head) != 0)
		return 0;
	kind = (unsigned)bytes[6] << 8 | bytes[7];
	return kind <= FRAME_LAUNCH ? kind : 0;
}

size_t frame_put_facts(uint8_t *to, size_t cap, const struct facts *facts)
{
	return encode(to, cap, FRAME_FACTS, facts, sizeof *facts);
}

size_t frame_put_ask_context(uint8_t *to, size_t cap)
{
	return encode(to, cap, FRAME_ASK_CONTEXT, "", 0);
}

size_t frame_put_ask_image(uint8_t *to, size_t cap, const struct ask_image *ask)
{
	return encode(to, cap, FRAME_ASK_IMAGE, ask, sizeof *ask);
}

size_t frame_put_answered(uint8_t *to, size_t cap, const struct answered *answered)
{
	return encode(to, cap, FRAME_ANSWERED, answered, sizeof *answered);
}

size_t frame_put_launch(uint8_t *to, size_t cap, const struct launch *launch)
{
	return encode(to, cap, FRAME_LAUNCH, launch, sizeof *launch);
}

enum frame_result frame_get_facts(const uint8_t *bytes, size_t len, struct facts *out)
{
	return decode(bytes, len, FRAME_FACTS, out, sizeof *out);
}

enum frame_result frame_get_ask_context(const uint8_t *bytes, size_t len)
{
	const bool is_head = frame_kind(bytes, len) == FRAME_ASK_CONTEXT && len == HEAD_BYTES;

	return is_head ? FRAME_OK : FRAME_BAD;
}

enum frame_result frame_get_ask_image(const uint8_t *bytes, size_t len, struct ask_image *out)
{
	return decode(bytes, len, FRAME_ASK_IMAGE, out, sizeof *out);
}

enum frame_result frame_get_answered(const uint8_t *bytes, size_t len, struct answered *out)
{
	return decode(bytes, len, FRAME_ANSWERED, out, sizeof *out);
}

enum frame_result frame_get_launch(const uint8_t *bytes, size_t len, struct launch *out)
{
	return decode(bytes, len, FRAME_LAUNCH, out, sizeof *out);
}

/* SPDX-License-Identifier: ISC */
#include "frame_policy.h"

#include <string.h>

size_t frame_put_ask_context(uint8_t *to, size_t cap)
{
	const struct wire_out out = frame_begin(to, cap, FRAME_ASK_CONTEXT);

	return wire_length(&out);
}

size_t frame_put_ask_image(uint8_t *to, size_t cap, const struct ask_image *ask)
{
	struct wire_out out = frame_begin(to, cap, FRAME_ASK_IMAGE);

	wire_put_string(&out, ask->endpoint, URL_BYTES_MAX);
	wire_put_string(&out, ask->reference, IMAGE_BYTES_MAX);
	return wire_length(&out);
}

enum frame_result frame_get_facts(const uint8_t *bytes, size_t len, struct facts *out)
{
	struct wire_in in = frame_open(bytes, len, FRAME_FACTS);
	struct facts facts;

	for (unsigned i = 0; i < NONCE_BYTES; i++)
		facts.nonce[i] = (uint8_t)wire_get(&in, 1, UINT8_MAX);
	facts.mode = (enum mode)wire_get(&in, 1, MODE_SESSION);
	facts.uid = (uint32_t)wire_get(&in, 4, UINT32_MAX);
	facts.gid = (uint32_t)wire_get(&in, 4, UINT32_MAX);
	facts.home = wire_get_string(&in, PATH_BYTES_MAX);
	facts.state_dir = wire_get_string(&in, PATH_BYTES_MAX);
	facts.state_id = wire_get_string(&in, ID_HEX);
	facts.docker_host = wire_get_optional(&in, WORD_BYTES_MAX);
	facts.ssh_auth_sock = wire_get_optional(&in, WORD_BYTES_MAX);
	facts.executor = wire_get_string(&in, PATH_BYTES_MAX);
	facts.policy = wire_get_string(&in, PATH_BYTES_MAX);
	facts.docker = wire_get_string(&in, PATH_BYTES_MAX);
	facts.config = wire_get_string(&in, PATH_BYTES_MAX);
	facts.audit = wire_get_optional(&in, PATH_BYTES_MAX);
	facts.worker_err = wire_get_optional(&in, PATH_BYTES_MAX);
	facts.name = wire_get_optional(&in, WORD_BYTES_MAX);
	if (!wire_end(&in))
		return FRAME_BAD;
	*out = facts;
	return FRAME_OK;
}

enum frame_result frame_get_answered(const uint8_t *bytes, size_t len, struct answered *out)
{
	struct wire_in in = frame_open(bytes, len, FRAME_ANSWERED);
	const uint64_t image = wire_get(&in, 1, true);
	const uint64_t status = wire_get(&in, 1, UINT8_MAX);

	if (!wire_end(&in))
		return FRAME_BAD;
	out->question = image != 0 ? FRAME_ASK_IMAGE : FRAME_ASK_CONTEXT;
	out->status = (uint8_t)status;
	return FRAME_OK;
}

static void put_strings(struct wire_out *out, const char *const *at, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		wire_put_string(out, at[i], WORD_BYTES_MAX);
}

static void put_list(struct wire_out *out, const char *const *at, unsigned count, unsigned max)
{
	wire_put(out, 2, count, max);
	put_strings(out, at, count <= max ? count : 0);
}

static void get_strings(struct wire_in *in, const char **at, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		at[i] = wire_get_string(in, WORD_BYTES_MAX);
}

static uint16_t get_list(struct wire_in *in, const char **at, unsigned max)
{
	const uint16_t count = (uint16_t)wire_get(in, 2, max);

	get_strings(in, at, count);
	return count;
}

static void put_part_one(struct wire_out *out, const struct launch *launch)
{
	const struct limits *limits = &launch->limits;

	wire_put(out, 8, limits->turn_bytes, UINT64_MAX);
	wire_put(out, 4, limits->turn_seconds, UINT32_MAX);
	wire_put(out, 4, limits->lock_seconds, UINT32_MAX);
	wire_put(out, 4, limits->control_seconds, UINT32_MAX);
	wire_put(out, 4, limits->remove_seconds, UINT32_MAX);
	wire_put(out, 1, launch->runtime != NULL, true);
	wire_put(out, 1, limits->file_bytes != 0, true);
	wire_put(out, 1, launch->audit_optional, true);
	wire_put(out, 2, launch->root_count, ROOTS_MAX);
	for (unsigned i = 0; !out->bad && i < launch->root_count; i++) {
		wire_put(out, 8, launch->root[i].dev, UINT64_MAX);
		wire_put(out, 8, launch->root[i].ino, UINT64_MAX);
	}
	wire_put(out, 2, launch->env_count, ENV_MAX + 1);
	put_list(out, launch->argv.at, launch->argv.count, ARGV_MAX);
}

static void take_part_one(struct wire_in *in, struct launch *launch)
{
	static struct order order;
	struct limits *limits = &launch->limits;

	memset(&order, 0, sizeof order);
	frame_part_one(in, &order);
	limits->turn_bytes = order.turn_bytes;
	limits->turn_seconds = order.turn_seconds;
	limits->lock_seconds = order.lock_seconds;
	limits->control_seconds = order.control_seconds;
	limits->remove_seconds = order.remove_seconds;
	/* Whatever is not NULL and not 0: part two says what. */
	launch->runtime = order.runtime ? "" : NULL;
	limits->file_bytes = order.file_limit;
	launch->audit_optional = order.audit_optional;
	launch->root_count = order.root_count;
	for (unsigned i = 0; i < order.root_count; i++) {
		launch->root[i].dev = order.root[i].dev;
		launch->root[i].ino = order.root[i].ino;
	}
	launch->env_count = order.env_count;
	launch->argv = order.argv;
}

static void put_numbers(struct wire_out *out, const struct launch *launch)
{
	const struct limits *limits = &launch->limits;

	for (unsigned i = 0; i < NONCE_BYTES; i++)
		wire_put(out, 1, launch->nonce[i], UINT8_MAX);
	wire_put(out, 1, launch->mode, MODE_SESSION);
	wire_put(out, 4, launch->uid, UINT32_MAX);
	wire_put(out, 4, launch->gid, UINT32_MAX);
	wire_put(out, 1, launch->init, true);
	wire_put(out, 8, launch->revision, UINT64_MAX);
	wire_put(out, 8, limits->memory_bytes, UINT64_MAX);
	wire_put(out, 8, limits->nano_cpus, UINT64_MAX);
	wire_put(out, 8, limits->tmpfs_bytes, UINT64_MAX);
	wire_put(out, 8, limits->shm_bytes, UINT64_MAX);
	if (limits->file_bytes != 0)
		wire_put(out, 8, limits->file_bytes, UINT64_MAX);
	wire_put(out, 4, limits->pids, UINT32_MAX);
	wire_put(out, 4, limits->nofile, UINT32_MAX);
	wire_put(out, 4, limits->live, UINT32_MAX);
}

static void get_numbers(struct wire_in *in, struct launch *launch)
{
	struct limits *limits = &launch->limits;

	for (unsigned i = 0; i < NONCE_BYTES; i++)
		launch->nonce[i] = (uint8_t)wire_get(in, 1, UINT8_MAX);
	launch->mode = (enum mode)wire_get(in, 1, MODE_SESSION);
	launch->uid = (uint32_t)wire_get(in, 4, UINT32_MAX);
	launch->gid = (uint32_t)wire_get(in, 4, UINT32_MAX);
	launch->init = wire_get(in, 1, true) != 0;
	launch->revision = wire_get(in, 8, UINT64_MAX);
	limits->memory_bytes = wire_get(in, 8, UINT64_MAX);
	limits->nano_cpus = wire_get(in, 8, UINT64_MAX);
	limits->tmpfs_bytes = wire_get(in, 8, UINT64_MAX);
	limits->shm_bytes = wire_get(in, 8, UINT64_MAX);
	if (limits->file_bytes != 0) {
		limits->file_bytes = wire_get(in, 8, UINT64_MAX);
		in->bad = in->bad || limits->file_bytes == 0;
	}
	limits->pids = (uint32_t)wire_get(in, 4, UINT32_MAX);
	limits->nofile = (uint32_t)wire_get(in, 4, UINT32_MAX);
	limits->live = (uint32_t)wire_get(in, 4, UINT32_MAX);
}

static void put_texts(struct wire_out *out, const struct launch *launch)
{
	wire_put_string(out, launch->state_id, ID_HEX);
	wire_put_string(out, launch->name, NAME_BYTES_MAX);
	wire_put_string(out, launch->endpoint, URL_BYTES_MAX);
	wire_put_string(out, launch->session, SESSION_KEY_BYTES_MAX);
	if (launch->runtime != NULL)
		wire_put_string(out, launch->runtime, GUEST_BYTES_MAX);
	wire_put_string(out, launch->image_id, IMAGE_BYTES_MAX);
	wire_put_string(out, launch->workdir, PATH_BYTES_MAX);
	wire_put_string(out, launch->entrypoint, WORD_BYTES_MAX);
	wire_put_string(out, launch->roots_label, ROOTS_LABEL_MAX);
}

static void get_texts(struct wire_in *in, struct launch *launch)
{
	launch->state_id = wire_get_string(in, ID_HEX);
	launch->name = wire_get_string(in, NAME_BYTES_MAX);
	launch->endpoint = wire_get_string(in, URL_BYTES_MAX);
	launch->session = wire_get_string(in, SESSION_KEY_BYTES_MAX);
	if (launch->runtime != NULL)
		launch->runtime = wire_get_string(in, GUEST_BYTES_MAX);
	launch->image_id = wire_get_string(in, IMAGE_BYTES_MAX);
	launch->workdir = wire_get_string(in, PATH_BYTES_MAX);
	launch->entrypoint = wire_get_string(in, WORD_BYTES_MAX);
	launch->roots_label = wire_get_string(in, ROOTS_LABEL_MAX);
}

/* The counts of roots and env are in part one, and so in bounds here. */
static void put_part_two(struct wire_out *out, const struct launch *launch)
{
	put_numbers(out, launch);
	put_texts(out, launch);
	for (unsigned i = 0; !out->bad && i < launch->root_count; i++) {
		wire_put_string(out, launch->root[i].path, PATH_BYTES_MAX);
		wire_put_string(out, launch->root[i].guest, GUEST_BYTES_MAX);
		wire_put(out, 1, launch->root[i].read_only, true);
		wire_put(out, 1, launch->root[i].is_file, true);
	}
	put_strings(out, launch->env, out->bad ? 0 : launch->env_count);
	put_list(out, launch->command.at, launch->command.count, WORDS_MAX);
	put_list(out, launch->image_env.at, launch->image_env.count, INHERITED_MAX);
	put_list(out, launch->image_labels.at, launch->image_labels.count, INHERITED_MAX);
}

static void get_part_two(struct wire_in *in, struct launch *launch)
{
	get_numbers(in, launch);
	get_texts(in, launch);
	for (unsigned i = 0; i < launch->root_count; i++) {
		launch->root[i].path = wire_get_string(in, PATH_BYTES_MAX);
		launch->root[i].guest = wire_get_string(in, GUEST_BYTES_MAX);
		launch->root[i].read_only = wire_get(in, 1, true) != 0;
		launch->root[i].is_file = wire_get(in, 1, true) != 0;
	}
	get_strings(in, launch->env, launch->env_count);
	launch->command.count = get_list(in, launch->command.at, WORDS_MAX);
	launch->image_env.count = get_list(in, launch->image_env.at, INHERITED_MAX);
	launch->image_labels.count = get_list(in, launch->image_labels.at, INHERITED_MAX);
}

size_t frame_put_launch(uint8_t *to, size_t cap, const struct launch *launch)
{
	struct wire_out out = frame_begin(to, cap, FRAME_LAUNCH);
	struct wire_out count;

	put_part_one(&out, launch);
	count = out; /* to be written again, once it is known */
	wire_put(&out, 4, 0, UINT32_MAX);
	put_part_two(&out, launch);
	wire_put(&count, 4, out.len - count.len - 4, UINT32_MAX);
	return wire_length(&out);
}

enum frame_result frame_get_launch(const uint8_t *bytes, size_t len, struct launch *out)
{
	static struct launch launch;
	struct wire_in in = frame_open(bytes, len, FRAME_LAUNCH);

	memset(&launch, 0, sizeof launch);
	take_part_one(&in, &launch);
	get_part_two(&in, &launch);
	if (!wire_end(&in))
		return FRAME_BAD;
	*out = launch;
	return FRAME_OK;
}

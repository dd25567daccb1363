/* SPDX-License-Identifier: ISC */
#include "frame.h"

#include <string.h>

#define HEAD_BYTES 8
#define HEAD (0x4346444dULL << 32 | (uint64_t)FRAME_VERSION << 16) /* "CFDM"; less the kind */

struct wire_out frame_begin(uint8_t *to, size_t cap, enum frame_kind kind)
{
	struct wire_out out = {.at = to, .cap = cap};

	wire_put(&out, HEAD_BYTES, HEAD | kind, HEAD | FRAME_LAUNCH);
	return out;
}

struct wire_in frame_open(const uint8_t *bytes, size_t len, enum frame_kind kind)
{
	struct wire_in in = {.at = bytes, .len = len};

	in.bad = wire_get(&in, HEAD_BYTES, UINT64_MAX) != (HEAD | kind);
	return in;
}

unsigned frame_kind(const uint8_t *bytes, size_t len)
{
	struct wire_in in = {.at = bytes, .len = len};
	const uint64_t head = wire_get(&in, HEAD_BYTES, HEAD | FRAME_LAUNCH);

	return head >= HEAD ? (unsigned)(head - HEAD) : 0;
}

size_t frame_put_facts(uint8_t *to, size_t cap, const struct facts *facts)
{
	struct wire_out out = frame_begin(to, cap, FRAME_FACTS);

	for (unsigned i = 0; i < NONCE_BYTES; i++)
		wire_put(&out, 1, facts->nonce[i], UINT8_MAX);
	wire_put(&out, 1, facts->mode, MODE_SESSION);
	wire_put(&out, 4, facts->uid, UINT32_MAX);
	wire_put(&out, 4, facts->gid, UINT32_MAX);
	wire_put_string(&out, facts->home, PATH_BYTES_MAX);
	wire_put_string(&out, facts->state_dir, PATH_BYTES_MAX);
	wire_put_string(&out, facts->state_id, ID_HEX);
	/* What the caller typed or exported may be of any length: policy is to
	 * refuse it with a reason. */
	wire_put_optional(&out, facts->docker_host, WORD_BYTES_MAX);
	wire_put_optional(&out, facts->ssh_auth_sock, WORD_BYTES_MAX);
	wire_put_string(&out, facts->executor, PATH_BYTES_MAX);
	wire_put_string(&out, facts->policy, PATH_BYTES_MAX);
	wire_put_string(&out, facts->docker, PATH_BYTES_MAX);
	wire_put_string(&out, facts->config, PATH_BYTES_MAX);
	wire_put_optional(&out, facts->audit, PATH_BYTES_MAX);
	wire_put_optional(&out, facts->worker_err, PATH_BYTES_MAX);
	wire_put_optional(&out, facts->name, WORD_BYTES_MAX);
	return wire_length(&out);
}

size_t frame_put_answered(uint8_t *to, size_t cap, const struct answered *answered)
{
	struct wire_out out = frame_begin(to, cap, FRAME_ANSWERED);

	/* Counted from ASK_CONTEXT, so that whatever lies below is too great. */
	wire_put(&out, 1, (uint64_t)answered->question - FRAME_ASK_CONTEXT, 1);
	wire_put(&out, 1, answered->status, UINT8_MAX);
	return wire_length(&out);
}

enum frame_result frame_get_ask_context(const uint8_t *bytes, size_t len)
{
	const struct wire_in in = frame_open(bytes, len, FRAME_ASK_CONTEXT);

	return wire_end(&in) ? FRAME_OK : FRAME_BAD;
}

enum frame_result frame_get_ask_image(const uint8_t *bytes, size_t len, struct ask_image *out)
{
	struct wire_in in = frame_open(bytes, len, FRAME_ASK_IMAGE);
	struct ask_image ask;

	ask.endpoint = wire_get_string(&in, URL_BYTES_MAX);
	ask.reference = wire_get_string(&in, IMAGE_BYTES_MAX);
	if (!wire_end(&in))
		return FRAME_BAD;
	*out = ask;
	return FRAME_OK;
}

void frame_part_one(struct wire_in *in, struct order *order)
{
	uint64_t part_two;

	order->turn_bytes = wire_get(in, 8, UINT64_MAX);
	order->turn_seconds = (uint32_t)wire_get(in, 4, UINT32_MAX);
	order->lock_seconds = (uint32_t)wire_get(in, 4, UINT32_MAX);
	order->control_seconds = (uint32_t)wire_get(in, 4, UINT32_MAX);
	order->remove_seconds = (uint32_t)wire_get(in, 4, UINT32_MAX);
	order->runtime = wire_get(in, 1, true) != 0;
	order->file_limit = wire_get(in, 1, true) != 0;
	order->audit_optional = wire_get(in, 1, true) != 0;
	order->root_count = (uint16_t)wire_get(in, 2, ROOTS_MAX);
	for (unsigned i = 0; i < order->root_count; i++) {
		order->root[i].dev = wire_get(in, 8, UINT64_MAX);
		order->root[i].ino = wire_get(in, 8, UINT64_MAX);
	}
	order->env_count = (uint16_t)wire_get(in, 2, ENV_MAX + 1);
	order->argv.count = (uint16_t)wire_get(in, 2, ARGV_MAX);
	for (unsigned i = 0; i < order->argv.count; i++)
		order->argv.at[i] = wire_get_string(in, WORD_BYTES_MAX);
	part_two = wire_get(in, 4, UINT32_MAX);
	in->bad = in->bad || part_two != in->len - in->pos;
}

enum frame_result frame_get_order(const uint8_t *bytes, size_t len, struct order *out)
{
	static struct order order;
	struct wire_in in = frame_open(bytes, len, FRAME_LAUNCH);

	memset(&order, 0, sizeof order);
	frame_part_one(&in, &order);
	if (in.bad)
		return FRAME_BAD;
	*out = order;
	return FRAME_OK;
}

/* SPDX-License-Identifier: ISC */
#include <string.h>

#include "../ipc/frame_policy.h"
#include "nondet.h"

#ifdef CBMC

/*
 * The decoders above ipc/wire.c, at their full size: wire_get and
 * wire_get_string answer whatever wire_proof.c proves of them and no more.
 */

static size_t ghost;

uint64_t some_get(struct wire_in *in, unsigned width, uint64_t max);
const char *some_string(struct wire_in *in, size_t max);

uint64_t some_get(struct wire_in *in, unsigned width, uint64_t max)
{
	const uint64_t value = any_u64();

	in->bad = in->bad || any_bool() || width > in->len - in->pos;
	if (in->bad)
		return 0;
	in->pos += width;
	ASSUME(value <= max && (width >= 8 || value >> 8 * width == 0));
	return value;
}

const char *some_string(struct wire_in *in, size_t max)
{
	const size_t bytes = any_up_to(max);

	in->bad = in->bad || any_bool() || in->len - in->pos < 5 || bytes > in->len - in->pos - 5;
	if (in->bad)
		return "";
	in->pos += 5 + bytes;
	return (const char *)in->at + in->pos - 1;
}

/* Any frame, as bytes that nobody but the two above looks at. */
static uint8_t frame[FRAME_MAX];

PROOF(frame_order_safe)
{
	static struct order out;
	const size_t len = any_up_to(FRAME_MAX);

	out.turn_seconds = 7;
	if (frame_get_order(frame, len, &out) != FRAME_OK) {
		PROVE(out.turn_seconds == 7 && out.argv.count == 0, "untouched");
		return;
	}
	PROVE(out.root_count <= ROOTS_MAX && out.env_count <= ENV_MAX + 1, "counts in bounds");
	PROVE(out.argv.count <= ARGV_MAX, "argv in bounds");
	for (unsigned i = 0; i <= ARGV_MAX; i++) {
		PROVE(i != out.argv.count || out.argv.at[i] == NULL, "argv ends");
		PROVE(i >= out.argv.count || __CPROVER_same_object(out.argv.at[i], frame),
		      "its words are the frame's (where in it, wire_get_string_safe says)");
	}
}

PROOF(frame_launch_safe)
{
	static struct launch out;
	const size_t len = any_up_to(FRAME_MAX);

	ghost = any_up_to(ARGV_MAX);
	out.revision = 7;
	if (frame_get_launch(frame, len, &out) != FRAME_OK) {
		PROVE(out.revision == 7, "untouched");
		return;
	}
	PROVE(out.root_count <= ROOTS_MAX && out.env_count <= ENV_MAX + 1 &&
	              out.command.count <= WORDS_MAX && out.image_env.count <= INHERITED_MAX &&
	              out.image_labels.count <= INHERITED_MAX,
	      "counts in bounds");
	PROVE(out.argv.count <= ARGV_MAX && out.argv.at[out.argv.count] == NULL, "argv ends");
	PROVE(ghost >= out.argv.count || out.argv.at[ghost] != NULL, "every word is there");
	PROVE(ghost >= out.env_count || out.env[ghost] != NULL, "every env entry is there");
	PROVE(ghost >= out.root_count ||
	              (out.root[ghost].path != NULL && out.root[ghost].guest != NULL),
	      "every root has its paths");
	PROVE(out.mode == MODE_TURN || out.mode == MODE_SESSION, "a mode");
}

PROOF(frame_small_safe)
{
	struct facts facts = {.uid = 7};
	struct ask_image ask = {NULL, "7"};
	struct answered answered = {FRAME_ASK_IMAGE, 7};
	const size_t len = any_up_to(FRAME_MAX);

	if (frame_get_facts(frame, len, &facts) == FRAME_OK)
		PROVE((facts.mode == MODE_TURN || facts.mode == MODE_SESSION) &&
		              facts.home != NULL && facts.docker != NULL && facts.config != NULL,
		      "facts");
	else
		PROVE(facts.uid == 7, "untouched");
	if (frame_get_ask_image(frame, len, &ask) == FRAME_OK)
		PROVE(ask.endpoint != NULL && ask.reference != NULL, "question");
	else
		PROVE(ask.endpoint == NULL, "untouched");
	if (frame_get_answered(frame, len, &answered) == FRAME_OK)
		PROVE(answered.question == FRAME_ASK_CONTEXT ||
		              answered.question == FRAME_ASK_IMAGE,
		      "answer");
	else
		PROVE(answered.status == 7, "untouched");
}

#else

#define BYTES 2048

static const struct launch launch = {
	.nonce = {0, 1, 2, 0xfe, 0xff},
	.mode = MODE_SESSION,
	.uid = 1501,
	.gid = 2147483647,
	.init = true,
	.state_id = "0123456789abcdef0123456789abcdef",
	.name = "box",
	.endpoint = "unix:///s",
	.session = "k",
	.revision = 9007199254740991,
	.runtime = "runsc",
	.image_id = "sha256:0",
	.workdir = "/",
	.entrypoint = "e",
	.roots_label = "[]",
	.limits = {.memory_bytes = 1, .nano_cpus = 2, .file_bytes = 3, .live = 5},
	.audit_optional = true,
	.root_count = 2,
	.root = {{"/a", "/b", true, false, 8, 21}, {"/c", "/d", false, true, UINT64_MAX, 0}},
	.env_count = 1,
	.env = {"A=1"},
	.command = {.count = 1, .at = {"w"}},
	.image_env = {.count = 1, .at = {"B=2"}},
	.image_labels = {.count = 1, .at = {"c=3"}},
	.argv = {.count = 2, .at = {"docker", ""}},
};

static const struct facts facts = {
	.nonce = {0xff, 1},
	.mode = MODE_TURN,
	.uid = 1000,
	.gid = UINT32_MAX,
	.home = "/h",
	.state_dir = "/s",
	.state_id = "",
	.docker_host = NULL,
	.ssh_auth_sock = "",
	.executor = "/x",
	.policy = "/p",
	.docker = "/d",
	.config = "/c",
	.audit = "/a",
	.name = NULL,
};

/* One frame of each kind, plain and with what is optional the other way. */
static size_t sample(unsigned kind, bool other, uint8_t *to)
{
	static struct launch l;
	struct facts f = facts;

	switch (kind) {
	case FRAME_FACTS:
		f.docker_host = other ? "unix:///s" : NULL;
		f.audit = other ? NULL : "/a";
		f.name = other ? "n" : NULL;
		return frame_put_facts(to, BYTES, &f);
	case FRAME_ASK_CONTEXT:
		return frame_put_ask_context(to, BYTES);
	case FRAME_ASK_IMAGE:
		return frame_put_ask_image(to, BYTES,
		                           &(struct ask_image){"unix:///s", other ? "" : "i"});
	case FRAME_ANSWERED:
		return frame_put_answered(to, BYTES, &(struct answered){
			other ? FRAME_ASK_IMAGE : FRAME_ASK_CONTEXT, 255});
	default:
		l = launch;
		l.runtime = other ? NULL : "runsc";
		l.limits.file_bytes = other ? 0 : 3;
		l.root_count = other ? 0 : 2;
		return frame_put_launch(to, BYTES, &l);
	}
}

/* What was read, written again: *size, 0 when it cannot be.  Is it read at all? */
static bool again(unsigned kind, const uint8_t *from, size_t len, uint8_t *to, size_t *size)
{
	static struct launch l;
	struct facts f;
	struct ask_image ask;
	struct answered answered;
	bool ok;

	switch (kind) {
	case FRAME_FACTS:
		ok = frame_get_facts(from, len, &f) == FRAME_OK;
		*size = ok ? frame_put_facts(to, BYTES, &f) : 0;
		return ok;
	case FRAME_ASK_CONTEXT:
		ok = frame_get_ask_context(from, len) == FRAME_OK;
		*size = ok ? frame_put_ask_context(to, BYTES) : 0;
		return ok;
	case FRAME_ASK_IMAGE:
		ok = frame_get_ask_image(from, len, &ask) == FRAME_OK;
		*size = ok ? frame_put_ask_image(to, BYTES, &ask) : 0;
		return ok;
	case FRAME_ANSWERED:
		ok = frame_get_answered(from, len, &answered) == FRAME_OK;
		*size = ok ? frame_put_answered(to, BYTES, &answered) : 0;
		return ok;
	default:
		ok = frame_get_launch(from, len, &l) == FRAME_OK;
		*size = ok ? frame_put_launch(to, BYTES, &l) : 0;
		return ok;
	}
}

/* The executor's view of a launch is policy's. */
static void same_order(const uint8_t *bytes, size_t len)
{
	static struct launch l;
	static struct order o;

	PROVE(frame_get_launch(bytes, len, &l) == FRAME_OK, "policy reads it");
	PROVE(frame_get_order(bytes, len, &o) == FRAME_OK, "and the executor");
	PROVE(o.turn_bytes == l.limits.turn_bytes && o.turn_seconds == l.limits.turn_seconds &&
	              o.lock_seconds == l.limits.lock_seconds &&
	              o.control_seconds == l.limits.control_seconds &&
	              o.remove_seconds == l.limits.remove_seconds &&
	              o.runtime == (l.runtime != NULL) &&
	              o.file_limit == (l.limits.file_bytes != 0) &&
	              o.audit_optional == l.audit_optional && o.root_count == l.root_count &&
	              o.env_count == l.env_count && o.argv.count == l.argv.count,
	      "the same numbers");
	for (unsigned i = 0; i < o.root_count; i++)
		PROVE(o.root[i].dev == l.root[i].dev && o.root[i].ino == l.root[i].ino,
		      "identities");
	for (unsigned i = 0; i < o.argv.count; i++)
		PROVE(strcmp(o.argv.at[i], l.argv.at[i]) == 0, "the same words");
}

/*
 * Every frame that differs from a sample in one byte, is cut short, or has a
 * byte more: it is refused, or it is the one encoding of what was read.
 */
PROOF(frame_read_write)
{
	static uint8_t bytes[BYTES], written[BYTES];
	const unsigned kind = (unsigned)(FRAME_FACTS + any_up_to(FRAME_LAUNCH - FRAME_FACTS));
	size_t len = sample(kind, any_bool(), bytes), size;
	const size_t change = any_up_to(3);
	unsigned reader = kind;
	bool read;

	PROVE(len > 0, "a sample");
	if (change == 0)
		reader = (unsigned)(FRAME_FACTS + any_up_to(FRAME_LAUNCH - FRAME_FACTS));
	else if (change == 1)
		bytes[any_up_to(len - 1)] = (uint8_t)any_up_to(255);
	else if (change == 2)
		len = any_up_to(len - 1);
	else
		bytes[len++] = (uint8_t)any_up_to(255);
	read = again(reader, bytes, len, written, &size);
	PROVE(change != 0 || read == (reader == kind), "its own kind, and no other");
	PROVE(change < 2 || !read, "not shorter, not longer");
	PROVE(!read || (size == len && memcmp(bytes, written, len) == 0), "the same bytes");
	PROVE(!read || frame_kind(bytes, len) == kind, "the kind");
	if (read && kind == FRAME_LAUNCH)
		same_order(bytes, len);
}

#endif

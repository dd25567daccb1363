/* SPDX-License-Identifier: ISC */
#ifndef COFFERDAM_IPC_FRAME_H
#define COFFERDAM_IPC_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "limits.h"
#include "wire.h"

/*
 * The messages between the executor and `cofferdam-policy decide`.  Pure.
 *
 * One SEQPACKET message is one frame: magic "CFDM", u16 FRAME_VERSION, u16
 * kind, then the fields of that kind in the order of the structs below, and
 * nothing after them.  Executor to policy: FACTS, ANSWERED.  Policy to
 * executor: ASK_CONTEXT, ASK_IMAGE, LAUNCH.
 *
 * A LAUNCH frame has two parts, and no field is in both.  Part one is what the
 * executor acts on: struct order.  Part two is one blob, a u32 count and so
 * many bytes to the frame's very end, which the executor passes over: it is for
 * policy's admit and verify, which get the whole frame as the plan.
 *
 * This header and frame.c hold what the executor calls; frame_policy.h and
 * frame_policy.c the other direction of each message, and part two.
 *
 * Encoders return the frame's length, or 0 when it does not fit into cap or a
 * value, string or count is beyond its bound.  Decoders take exactly one frame
 * of the named kind: a wrong magic, version or kind, an embedded NUL, a count,
 * boolean or enum out of range, a missing or a trailing byte is FRAME_BAD, and
 * *out is then untouched.  Decoded strings point into `bytes`, which must
 * outlive them.  Decoders check shape only; what the values may be is the
 * gate's business in the executor and the rules' in policy.
 */

#define FRAME_VERSION 1

/* The greatest length of strings that have no bound of their own in limits.h. */
#define WORD_BYTES_MAX 131071 /* MAX_ARG_STRLEN less its NUL (linux/binfmts.h) */
#define IMAGE_BYTES_MAX 512
#define URL_BYTES_MAX (7 + ENDPOINT_PATH_MAX) /* unix:// */

enum frame_kind {
	FRAME_FACTS = 1,
	FRAME_ASK_CONTEXT = 2,
	FRAME_ASK_IMAGE = 3,
	FRAME_ANSWERED = 4,
	FRAME_LAUNCH = 5,
};

enum frame_result { FRAME_OK = 0, FRAME_BAD = 1 };

enum mode { MODE_TURN = 0, MODE_SESSION = 1 };

/* What the executor knows and policy cannot look up once confined. */
struct facts {
	uint8_t nonce[NONCE_BYTES];
	enum mode mode; /* which command: run or session */
	uint32_t uid; /* the caller's real ids */
	uint32_t gid;
	const char *home; /* from the user database, "" if none */
	const char *state_dir; /* canonical path */
	const char *state_id; /* 32 lower-case hex digits */
	const char *docker_host; /* $DOCKER_HOST, NULL when unset or empty */
	const char *ssh_auth_sock; /* $SSH_AUTH_SOCK, NULL when unset or empty */
	const char *executor; /* path of the running executor */
	const char *policy; /* path of the policy program */
	const char *docker; /* path of the docker CLI */
	const char *config; /* path of the config file */
	const char *audit; /* path of the audit file, NULL when none */
	const char *worker_err; /* and of the one for the worker's standard error */
	const char *name; /* --name, NULL when not given */
};

struct ask_image {
	const char *endpoint; /* unix:// and the canonical socket path */
	const char *reference;
};

/* How the docker command that a question started ended. */
struct answered {
	enum frame_kind question; /* FRAME_ASK_CONTEXT or FRAME_ASK_IMAGE */
	uint8_t status; /* its exit status; 255 when it did not exit by itself */
};

/* argv never has more words than this: the fixed words, two a mount, two an
 * environment entry, the command. */
#define ARGV_MAX (64 + 2 * ROOTS_MAX + 2 * (ENV_MAX + 1) + WORDS_MAX)

struct argv {
	uint16_t count;
	const char *at[ARGV_MAX + 1]; /* at[count] is NULL after decoding */
};

/* What the executor takes from a LAUNCH frame. */
struct order {
	uint64_t turn_bytes;
	uint32_t turn_seconds; /* 0: none (session mode only) */
	uint32_t lock_seconds;
	uint32_t control_seconds;
	uint32_t remove_seconds;
	bool runtime; /* the create command has --runtime */
	bool file_limit; /* and --ulimit fsize= */
	bool audit_optional; /* an audit line that cannot be written stops nothing */
	uint16_t root_count; /* its --mount words */
	struct identity {
		uint64_t dev; /* stat(2) st_dev of the source */
		uint64_t ino;
	} root[ROOTS_MAX];
	uint16_t env_count; /* its --env words */
	struct argv argv; /* the create command, at[0] is "docker" */
};

size_t frame_put_facts(uint8_t *to, size_t cap, const struct facts *facts);
size_t frame_put_answered(uint8_t *to, size_t cap, const struct answered *answered);

/* The kind in a frame's head, 0 when the head is not one of ours. */
unsigned frame_kind(const uint8_t *bytes, size_t len);

__attribute__((warn_unused_result)) enum frame_result
frame_get_ask_context(const uint8_t *bytes, size_t len);
__attribute__((warn_unused_result)) enum frame_result
frame_get_ask_image(const uint8_t *bytes, size_t len, struct ask_image *out);
/* Not re-entrant: it decodes into static storage first. */
__attribute__((warn_unused_result)) enum frame_result
frame_get_order(const uint8_t *bytes, size_t len, struct order *out);

/* For frame_policy.c: a frame's head, written and read; then part one of a
 * LAUNCH frame, up to part two's first byte, into a struct that is all zero.
 * in->bad is set unless the bytes left are as many as part two counts. */
struct wire_out frame_begin(uint8_t *to, size_t cap, enum frame_kind kind);
struct wire_in frame_open(const uint8_t *bytes, size_t len, enum frame_kind kind);
void frame_part_one(struct wire_in *in, struct order *order);

#endif

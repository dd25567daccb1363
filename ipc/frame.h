/* SPDX-License-Identifier: ISC */
#ifndef COFFERDAM_IPC_FRAME_H
#define COFFERDAM_IPC_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "limits.h"

/*
 * The messages between the executor and `cofferdam-policy decide`.  Pure.
 *
 * One SEQPACKET message is one frame: magic "CFDM", u16 FRAME_VERSION, u16
 * kind, then the fields of that kind in the order of the structs below, and
 * nothing after them.  Executor to policy: FACTS, ANSWERED.  Policy to
 * executor: ASK_CONTEXT, ASK_IMAGE, LAUNCH.  The LAUNCH frame's bytes are also
 * the plan that admit and verify read.
 *
 * Encoders return the frame's length, or 0 when it does not fit into cap or a
 * count is beyond its array.  Decoders take exactly one frame of the named
 * kind: a wrong magic, version or kind, an embedded NUL, a count, boolean or
 * enum out of range, a missing or a trailing byte is FRAME_BAD, and *out is
 * then untouched.  Decoded strings point into `bytes`, which must outlive them.
 * Decoders check shape only; what the values may be is the gate's business in
 * the executor and the rules' in policy.
 */

#define FRAME_VERSION 1

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

struct limits {
	uint64_t memory_bytes; /* also the memory+swap limit */
	uint64_t nano_cpus;
	uint64_t tmpfs_bytes;
	uint64_t shm_bytes;
	uint64_t file_bytes; /* 0: no limit was asked for */
	uint64_t turn_bytes;
	uint32_t pids;
	uint32_t nofile;
	uint32_t turn_seconds; /* 0: none (session mode only) */
	uint32_t lock_seconds;
	uint32_t control_seconds;
	uint32_t remove_seconds;
	uint32_t live; /* 0: none */
};

/* One bind mount: a directory, or (the last one only) the bundle file. */
struct root {
	const char *path; /* canonical host path */
	const char *guest;
	bool read_only;
	bool is_file;
	uint64_t dev; /* stat(2) st_dev */
	uint64_t ino;
};

struct words {
	uint16_t count;
	const char *at[WORDS_MAX];
};

struct inherited {
	uint16_t count;
	const char *at[INHERITED_MAX];
};

/* argv never has more words than this: the fixed words, two a mount, two an
 * environment entry, the command. */
#define ARGV_MAX (64 + 2 * ROOTS_MAX + 2 * (ENV_MAX + 1) + WORDS_MAX)

struct argv {
	uint16_t count;
	const char *at[ARGV_MAX + 1]; /* at[count] is NULL after decoding */
};

struct launch {
	uint8_t nonce[NONCE_BYTES];
	enum mode mode;
	uint32_t uid; /* the worker's */
	uint32_t gid;
	bool init;
	const char *state_id;
	const char *name; /* the container's */
	const char *endpoint; /* unix:// and the canonical socket path */
	const char *session; /* key; "" in turn mode */
	uint64_t revision; /* 0 in turn mode */
	const char *runtime; /* NULL: the engine's default */
	const char *image_id; /* sha256: and 64 lower-case hex digits */
	const char *workdir;
	const char *entrypoint;
	const char *roots_label; /* JSON text of the dev.cofferdam.roots label */
	struct limits limits;
	uint16_t root_count;
	struct root root[ROOTS_MAX];
	uint16_t env_count;
	const char *env[ENV_MAX + 1]; /* NAME=value, HOME first */
	struct words command;
	struct inherited image_env; /* of the image, less the names in env */
	struct inherited image_labels; /* key=value, of the image */
	struct argv argv; /* the create command, at[0] is "docker" */
};

size_t frame_put_facts(uint8_t *to, size_t cap, const struct facts *facts);
size_t frame_put_ask_context(uint8_t *to, size_t cap);
size_t frame_put_ask_image(uint8_t *to, size_t cap, const struct ask_image *ask);
size_t frame_put_answered(uint8_t *to, size_t cap, const struct answered *answered);
size_t frame_put_launch(uint8_t *to, size_t cap, const struct launch *launch);

/* The kind in a frame's head, 0 when the head is not one of ours. */
unsigned frame_kind(const uint8_t *bytes, size_t len);

__attribute__((warn_unused_result)) enum frame_result
frame_get_facts(const uint8_t *bytes, size_t len, struct facts *out);
__attribute__((warn_unused_result)) enum frame_result
frame_get_ask_context(const uint8_t *bytes, size_t len);
__attribute__((warn_unused_result)) enum frame_result
frame_get_ask_image(const uint8_t *bytes, size_t len, struct ask_image *out);
__attribute__((warn_unused_result)) enum frame_result
frame_get_answered(const uint8_t *bytes, size_t len, struct answered *out);
__attribute__((warn_unused_result)) enum frame_result
frame_get_launch(const uint8_t *bytes, size_t len, struct launch *out);

#endif

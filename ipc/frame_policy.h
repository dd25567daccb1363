/* SPDX-License-Identifier: ISC */
#ifndef COFFERDAM_IPC_FRAME_POLICY_H
#define COFFERDAM_IPC_FRAME_POLICY_H

#include "frame.h"

/*
 * Policy's direction of each message, and the whole of a LAUNCH frame.  Pure;
 * linked into cofferdam-policy only.  The contract is that of frame.h.
 */

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

/* Both parts of a LAUNCH frame.  Part one has what struct order names: argv,
 * env_count, root_count, each root's dev and ino, turn_bytes, the seconds, and
 * whether there is a runtime and a file_bytes, audit_optional; all else is in part two. */
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
	bool audit_optional;
	uint16_t root_count;
	struct root root[ROOTS_MAX];
	uint16_t env_count;
	const char *env[ENV_MAX + 1]; /* NAME=value, HOME first */
	struct words command;
	struct inherited image_env; /* of the image, less the names in env */
	struct inherited image_labels; /* key=value, of the image */
	struct argv argv; /* the create command, at[0] is "docker" */
};

size_t frame_put_ask_context(uint8_t *to, size_t cap);
size_t frame_put_ask_image(uint8_t *to, size_t cap, const struct ask_image *ask);
size_t frame_put_launch(uint8_t *to, size_t cap, const struct launch *launch);

__attribute__((warn_unused_result)) enum frame_result
frame_get_facts(const uint8_t *bytes, size_t len, struct facts *out);
__attribute__((warn_unused_result)) enum frame_result
frame_get_answered(const uint8_t *bytes, size_t len, struct answered *out);
/* Not re-entrant: it decodes into static storage first. */
__attribute__((warn_unused_result)) enum frame_result
frame_get_launch(const uint8_t *bytes, size_t len, struct launch *out);

#endif

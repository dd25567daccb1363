/* SPDX-License-Identifier: ISC */
#ifndef COFFERDAM_POLICY_CONFIG_H
#define COFFERDAM_POLICY_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "../ipc/frame_policy.h"
#include "json.h"
#include "report.h"

/*
 * The operator's configuration, version 1 (design section 6): JSON to struct.
 * Pure.  This module judges shape, ranges and grammars, everything that the
 * document alone can show; what the host shows is policy/decide.c's business.
 * Strings are unescaped into the caller's arena and are C strings.
 */

#define CONFIG_BYTES_MAX 262144
#define CONFIG_ARENA (CONFIG_BYTES_MAX * 2)
#define PRIVATE_MAX 64

struct config_mount {
	const char *host;
	const char *guest;
	bool read_only;
};

struct config {
	enum mode mode;
	const char *image; /* reference, grammar checked */
	const char *image_id; /* NULL when not pinned */
	const char *name; /* NULL: cofferdam-<nonce> */
	const char *session_key; /* "" in turn mode */
	uint64_t session_revision;
	bool user_given;
	uint32_t uid;
	uint32_t gid;
	uint32_t mount_count;
	struct config_mount mount[MOUNTS_MAX];
	bool bundle_given;
	const char *bundle_host;
	const char *bundle_guest;
	const char *entrypoint; /* NULL: the image's */
	bool command_given;
	struct words command;
	const char *workdir; /* NULL: the image's */
	uint32_t env_count;
	const char *env[ENV_MAX]; /* NAME=value, in the config's order */
	bool init;
	struct limits limits;
	uint32_t private_count;
	const char *private_path[PRIVATE_MAX];
	const char *state_file; /* NULL: none */
	const char *docker_host; /* NULL: not configured */
	const char *docker_runtime; /* NULL: the engine's default */
	bool audit_required; /* it says "required": true */
	bool audit_optional; /* it says "required": false; by default it says neither */
	bool best_effort; /* confinement "best-effort" */
};

/*
 * Reads a parsed document.  Every violation goes to the report, with its JSON
 * pointer, and reading goes on; *out is filled as far as it could be and is
 * only to be used when the report stayed empty.  arena must hold at least
 * twice the document's bytes.
 */
void config_read(const struct json *doc, struct text *arena, struct config *out,
                 struct report *report);

/* The grammars of section 6 and 7, on their own (ASCII, whole string). */
bool config_name(const char *text, size_t len); /* [a-z0-9][a-z0-9_.-]{0,90} */
bool config_session_key(const char *text, size_t len);
bool config_runtime(const char *text, size_t len);

/* JSON Schema 2020-12 of the config, made from the same tables. */
void config_schema(struct text *out);

#endif

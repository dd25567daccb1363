/* SPDX-License-Identifier: ISC */
#include <stddef.h>
#include <string.h>

#include "build.h"

/* Everything that isolates and takes no value of the launch.  --log-driver none
 * keeps the worker's output off the host's disk, --restart no and
 * --no-healthcheck keep the engine from running anything by itself. */
static const char *const SEALED[] = {
	"--interactive",
	"--network", "none",
	"--read-only",
	"--cap-drop", "ALL",
	"--security-opt", "no-new-privileges:true",
};

static const char *const ALONE[] = {
	"--ipc", "private",
	"--cgroupns", "private",
	"--log-driver", "none",
	"--restart", "no",
	"--no-healthcheck",
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct builder {
	struct argv *argv;
	struct text *arena;
	size_t start; /* of the open word, in the arena */
	bool full;
};

static void put(struct builder *b, const char *word)
{
	if (word == NULL || b->argv->count >= ARGV_MAX) {
		b->full = true;
		return;
	}
	b->argv->at[b->argv->count++] = word;
}

static void put_pair(struct builder *b, const char *flag, const char *value)
{
	put(b, flag);
	put(b, value);
}

static void put_all(struct builder *b, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		put(b, words[i]);
}

/* A word made of parts: word_open, text_* on what it returns, word_close. */
static struct text *word_open(struct builder *b, const char *head)
{
	b->start = b->arena->len;
	text_string(b->arena, head);
	return b->arena;
}

static void word_close(struct builder *b)
{
	text_bytes(b->arena, "", 1);
	put(b, b->arena->full ? NULL : b->arena->at + b->start);
}

static void put_number(struct builder *b, const char *flag, uint64_t value)
{
	put(b, flag);
	text_u64(word_open(b, ""), value);
	word_close(b);
}

static void put_label(struct builder *b, const char *head, const char *value)
{
	put(b, "--label");
	text_string(word_open(b, head), value);
	word_close(b);
}

static void put_labels(struct builder *b, const struct launch *launch)
{
	put_label(b, "dev.cofferdam.state=", launch->state_id);
	put(b, "--label");
	text_hex(word_open(b, "dev.cofferdam.run="), launch->nonce, sizeof(launch->nonce));
	word_close(b);
	put_label(b, "dev.cofferdam.mode=", launch->mode == MODE_TURN ? "turn" : "session");
	put_label(b, "dev.cofferdam.session=", launch->session);
	put(b, "--label");
	text_u64(word_open(b, "dev.cofferdam.revision="), launch->revision);
	word_close(b);
	if (launch->roots_label == NULL)
		b->full = true;
	else
		put_label(b, "dev.cofferdam.roots=", launch->roots_label);
}

/* nofile=N:N and fsize=N:N: soft and hard limit the same. */
static void put_ulimit(struct builder *b, const char *head, uint64_t value)
{
	struct text *word;

	put(b, "--ulimit");
	word = word_open(b, head);
	text_u64(word, value);
	text_string(word, ":");
	text_u64(word, value);
	word_close(b);
}

static void put_limits(struct builder *b, const struct limits *limits)
{
	put_number(b, "--memory", limits->memory_bytes);
	put_number(b, "--memory-swap", limits->memory_bytes);
	put(b, "--cpus");
	text_nano(word_open(b, ""), limits->nano_cpus);
	word_close(b);
	put_number(b, "--pids-limit", limits->pids);
	put_ulimit(b, "nofile=", limits->nofile);
	if (limits->file_bytes != 0)
		put_ulimit(b, "fsize=", limits->file_bytes);
	put_number(b, "--shm-size", limits->shm_bytes);
}

static void put_tmpfs(struct builder *b, uint64_t bytes)
{
	struct text *word;

	put(b, "--tmpfs");
	word = word_open(b, "/tmp:rw,noexec,nosuid,nodev,size=");
	text_u64(word, bytes);
	text_string(word, ",mode=1777");
	word_close(b);
}

/* `readonly` before `source=`: docker reads only the first CSV record of the
 * value, so that whatever a path held could not drop it. */
static void put_mount(struct builder *b, const struct root *root)
{
	struct text *word;

	put(b, "--mount");
	word = word_open(b, root->read_only ? "type=bind,readonly,source=" : "type=bind,source=");
	text_string(word, root->path);
	text_string(word, ",target=");
	text_string(word, root->guest);
	text_string(word, ",bind-propagation=rprivate");
	word_close(b);
}

static void put_user(struct builder *b, const struct launch *launch)
{
	struct text *word;

	put(b, "--user");
	word = word_open(b, "");
	text_u64(word, launch->uid);
	text_string(word, ":");
	text_u64(word, launch->gid);
	word_close(b);
}

static void put_head(struct builder *b, const struct launch *launch)
{
	put(b, "docker");
	put_pair(b, "--host", launch->endpoint);
	put_pair(b, "container", "create");
	put_pair(b, "--pull", "never");
	put_pair(b, "--name", launch->name);
	put_labels(b, launch);
	if (launch->runtime != NULL)
		put_pair(b, "--runtime", launch->runtime);
	put(b, launch->init ? "--init=true" : "--init=false");
}

/* The entrypoint is absent only when docker was not asked for the image's. */
static void put_tail(struct builder *b, const struct launch *launch)
{
	for (unsigned i = 0; i < launch->root_count; i++)
		put_mount(b, &launch->root[i]);
	for (unsigned i = 0; i < launch->env_count; i++)
		put_pair(b, "--env", launch->env[i]);
	put_pair(b, "--workdir", launch->workdir);
	if (launch->entrypoint != NULL)
		put_pair(b, "--entrypoint", launch->entrypoint);
	put(b, launch->image_id);
	put_all(b, launch->command.at, launch->command.count);
}

bool build_argv(struct launch *launch, struct text *arena)
{
	struct builder b = { .argv = &launch->argv, .arena = arena };

	launch->argv.count = 0;
	put_head(&b, launch);
	put_all(&b, SEALED, COUNT(SEALED));
	put_user(&b, launch);
	put_limits(&b, &launch->limits);
	put_all(&b, ALONE, COUNT(ALONE));
	put_tmpfs(&b, launch->limits.tmpfs_bytes);
	put_tail(&b, launch);
	launch->argv.at[launch->argv.count] = NULL;
	return !b.full;
}

/* A canonical path holds no control byte, quote or comma (path_check), and
 * mounts.c judged it; so what text_json escapes is a backslash or beyond
 * ASCII. */
static void put_root_json(struct text *out, const struct root *root)
{
	text_string(out, "{\"path\":");
	text_json(out, root->path, strlen(root->path));
	text_string(out, root->read_only ? ",\"mode\":\"ro\"}" : ",\"mode\":\"rw\"}");
}

const char *build_roots_label(const struct launch *launch, struct text *arena)
{
	size_t start = arena->len;

	text_string(arena, "[");
	for (unsigned i = 0; i < launch->root_count; i++) {
		if (i > 0)
			text_string(arena, ",");
		put_root_json(arena, &launch->root[i]);
	}
	text_string(arena, "]");
	text_bytes(arena, "", 1);
	if (arena->full || arena->len - start - 1 > ROOTS_LABEL_MAX)
		return NULL;
	return arena->at + start;
}

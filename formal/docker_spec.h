/* SPDX-License-Identifier: ISC */
#ifndef COFFERDAM_FORMAL_DOCKER_SPEC_H
#define COFFERDAM_FORMAL_DOCKER_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "spec.h"

/*
 * What the docker client reads from a `docker container create`, and when that
 * isolates.  Written from the client's side and not from the gate's: flags may
 * stand in any order and number before the image, the first word that is no
 * flag is the image, all behind it is the command (the client's create and run
 * set SetInterspersed(false)).  Nothing here comes from the executor.
 */

/* So much of a --mount word is looked at. */
#ifndef DOCKER_WORD
#define DOCKER_WORD 4608
#endif

enum docker_flag {
	D_PULL, D_NAME, D_LABEL, D_RUNTIME, D_INIT, D_INTERACTIVE, D_NETWORK, D_READ_ONLY,
	D_CAP_DROP, D_SECURITY_OPT, D_USER, D_MEMORY, D_MEMORY_SWAP, D_CPUS, D_PIDS_LIMIT,
	D_ULIMIT, D_SHM_SIZE, D_IPC, D_CGROUPNS, D_LOG_DRIVER, D_RESTART, D_NO_HEALTHCHECK,
	D_TMPFS, D_MOUNT, D_ENV, D_WORKDIR, D_ENTRYPOINT, D_FLAGS
};

/* The flags that may occur at all.  A switch takes no word after it. */
static const struct docker_flag_rule {
	const char *name;
	bool has_switch;
	unsigned least, most; /* so many times; most 0: the launch says how many */
	const char *value; /* the one value that isolates; NULL: any, or see docker_values() */
} docker_rule[D_FLAGS] = {
	[D_PULL] = {"--pull", false, 1, 1, "never"},
	[D_NAME] = {"--name", false, 1, 1, NULL},
	[D_LABEL] = {"--label", false, 6, 6, NULL},
	[D_RUNTIME] = {"--runtime", false, 0, 1, NULL},
	[D_INIT] = {"--init=", true, 1, 1, NULL},
	[D_INTERACTIVE] = {"--interactive", true, 1, 1, NULL},
	[D_NETWORK] = {"--network", false, 1, 1, "none"},
	[D_READ_ONLY] = {"--read-only", true, 1, 1, NULL},
	[D_CAP_DROP] = {"--cap-drop", false, 1, 1, "ALL"},
	[D_SECURITY_OPT] = {"--security-opt", false, 1, 1, "no-new-privileges:true"},
	[D_USER] = {"--user", false, 1, 1, NULL},
	[D_MEMORY] = {"--memory", false, 1, 1, NULL},
	[D_MEMORY_SWAP] = {"--memory-swap", false, 1, 1, NULL},
	[D_CPUS] = {"--cpus", false, 1, 1, NULL},
	[D_PIDS_LIMIT] = {"--pids-limit", false, 1, 1, NULL},
	[D_ULIMIT] = {"--ulimit", false, 1, 2, NULL},
	[D_SHM_SIZE] = {"--shm-size", false, 1, 1, NULL},
	[D_IPC] = {"--ipc", false, 1, 1, "private"},
	[D_CGROUPNS] = {"--cgroupns", false, 1, 1, "private"},
	[D_LOG_DRIVER] = {"--log-driver", false, 1, 1, "none"},
	[D_RESTART] = {"--restart", false, 1, 1, "no"},
	[D_NO_HEALTHCHECK] = {"--no-healthcheck", true, 1, 1, NULL},
	[D_TMPFS] = {"--tmpfs", false, 1, 1, NULL},
	[D_MOUNT] = {"--mount", false, 0, 0, NULL},
	[D_ENV] = {"--env", false, 0, 0, NULL},
	[D_WORKDIR] = {"--workdir", false, 1, 1, NULL},
	[D_ENTRYPOINT] = {"--entrypoint", false, 1, 1, NULL},
};

#define DOCKER_MOUNTS 8
#define DOCKER_ULIMITS 2

struct docker_mount {
	const char *word;
	size_t source, source_len;
	size_t target, target_len;
	bool read_only;
};

/* What was read. */
struct docker_reading {
	bool understood; /* to the image */
	unsigned image; /* where the image is */
	const char *host;
	unsigned times[D_FLAGS];
	const char *value[D_FLAGS]; /* the last one's */
	unsigned ulimits;
	const char *ulimit[DOCKER_ULIMITS];
	unsigned mounts;
	const char *mount[DOCKER_MOUNTS];
};

static bool docker_same(const char *a, const char *b)
{
	size_t i = 0;

	while (a[i] == b[i] && b[i] != '\0')
		i++;
	return a[i] == b[i];
}

/* Does the text begin with this?  Its length then, else 0. */
static size_t docker_head(const char *text, const char *head)
{
	size_t i = 0;

	while (head[i] != '\0' && text[i] == head[i])
		i++;
	return head[i] == '\0' ? i : 0;
}

/* Decimal digits up to `stop`.  UINT64_MAX when it is none, or has over 18. */
static uint64_t docker_number(const char *text, size_t *at, char stop)
{
	const char *from = text + *at;
	uint64_t value = 0;
	size_t digits = 0;

	for (size_t i = 0; i < 18 && from[i] >= '0' && from[i] <= '9'; i++) {
		value = value * 10 + (uint64_t)(from[i] - '0');
		digits++;
	}
	*at += digits;
	if (digits == 0 || text[*at] != stop)
		return UINT64_MAX;
	*at += stop != '\0' ? 1 : 0;
	return value;
}

static uint64_t docker_whole(const char *text)
{
	size_t at = 0;

	return docker_number(text, &at, '\0');
}

/* --init=true or --init=false */
static bool docker_bool(const char *word)
{
	return docker_same(word + 6, "=true") || docker_same(word + 6, "=false");
}

/* A number, and not 0, which docker takes for "no limit". */
static bool docker_counted(const char *text)
{
	return docker_whole(text) > 0 && docker_whole(text) != UINT64_MAX;
}

/* NAME=N:N */
static bool docker_ulimit(const char *word)
{
	size_t at = docker_head(word, "nofile=") + docker_head(word, "fsize=");
	const uint64_t soft = at > 0 ? docker_number(word, &at, ':') : UINT64_MAX;

	return soft != UINT64_MAX && soft > 0 && docker_number(word, &at, '\0') == soft;
}

/* USER:GROUP by number, neither of them root and neither beyond what fits. */
static bool docker_user(const char *word)
{
	size_t at = 0;
	const uint64_t uid = docker_number(word, &at, ':');
	const uint64_t gid = docker_number(word, &at, '\0');

	return uid > 0 && uid <= 2147483647 && gid > 0 && gid <= 2147483647;
}

static bool docker_tmpfs(const char *word)
{
	size_t at = docker_head(word, "/tmp:rw,noexec,nosuid,nodev,size=");

	return at > 0 && docker_number(word, &at, ',') != UINT64_MAX &&
	       docker_same(word + at, "mode=1777");
}

/* sha256:<64 lower-case hex digits>: an image id, which no registry can move. */
static bool docker_image(const char *word)
{
	const size_t at = docker_head(word, "sha256:");
	bool ok = at > 0;

	for (size_t i = 0; i < 64; i++)
		ok = ok && ((word[at + i] >= '0' && word[at + i] <= '9') ||
		            (word[at + i] >= 'a' && word[at + i] <= 'f'));
	return ok && word[at + 64] == '\0';
}

/* Is the field that begins here exactly this one? */
static bool docker_field(const char *at, const char *field)
{
	const size_t len = docker_head(at, field);

	return len > 0 && (at[len] == ',' || at[len] == '\0');
}

/*
 * --mount as encoding/csv and then opts/mount.go read it: fields between commas,
 * each a key, or a key and a value.  A quote or the end of a line would begin
 * another reading, so there must be none.  At most `len` bytes of the word.
 */
SPEC_UNUSED static bool docker_mount(struct docker_mount *mount, const char *word, size_t len)
{
	unsigned bind = 0, rprivate = 0, read_only = 0, source = 0, target = 0, fields = 0;
	bool ended = false, plain = true;

	*mount = (struct docker_mount){.word = word};
	for (size_t i = 0; i < len; i++) {
		if (ended)
			continue;
		ended = word[i] == '\0';
		plain = plain && word[i] != '"' && word[i] != '\n' && word[i] != '\r';
		if (ended || word[i] == ',') {
			mount->source_len = source == 1 && mount->source_len == 0
			                            ? i - mount->source : mount->source_len;
			mount->target_len = target == 1 && mount->target_len == 0
			                            ? i - mount->target : mount->target_len;
		}
		if (i > 0 && word[i - 1] != ',')
			continue;
		fields++;
		bind += docker_field(word + i, "type=bind") ? 1 : 0;
		rprivate += docker_field(word + i, "bind-propagation=rprivate") ? 1 : 0;
		read_only += docker_field(word + i, "readonly") ? 1 : 0;
		if (docker_head(word + i, "source=/") > 0) {
			source++;
			mount->source = i + 7;
		}
		if (docker_head(word + i, "target=/") > 0) {
			target++;
			mount->target = i + 7;
		}
	}
	mount->read_only = read_only == 1;
	return ended && plain && bind == 1 && rprivate == 1 && source == 1 && target == 1 &&
	       read_only <= 1 && fields == 4 + read_only;
}

/* Which flag is it; D_FLAGS for none.  --init alone carries its value. */
static enum docker_flag docker_flag(const char *word)
{
	enum docker_flag flag = D_FLAGS;

	for (unsigned k = 0; k < D_FLAGS; k++)
		flag = docker_same(word, docker_rule[k].name) ? (enum docker_flag)k : flag;
	return docker_head(word, "--init=") > 0 ? D_INIT : flag;
}

static void docker_take(struct docker_reading *r, enum docker_flag flag, const char *value)
{
	r->times[flag]++;
	r->value[flag] = value;
	if (flag == D_ULIMIT && r->ulimits < DOCKER_ULIMITS)
		r->ulimit[r->ulimits++] = value;
	if (flag == D_MOUNT && r->mounts < DOCKER_MOUNTS)
		r->mount[r->mounts++] = value;
}

/* argv up to and with the image. */
static void docker_read(struct docker_reading *r, const char *const *argv, unsigned count)
{
	unsigned at = 5;

	*r = (struct docker_reading){.understood = false};
	if (count < 6 || !docker_same(argv[0], "docker") || !docker_same(argv[1], "--host") ||
	    !docker_same(argv[3], "container") || !docker_same(argv[4], "create"))
		return;
	r->host = argv[2];
	r->understood = true;
	while (r->understood && at < count && argv[at][0] == '-') {
		const enum docker_flag flag = docker_flag(argv[at]);
		const bool alone = flag < D_FLAGS && docker_rule[flag].has_switch;

		r->understood = flag < D_FLAGS && (alone || at + 1 < count);
		if (r->understood)
			docker_take(r, flag, argv[alone ? at : at + 1]);
		at += alone ? 1 : 2;
	}
	r->image = at;
	r->understood = r->understood && at < count;
}

/* Beside argv, the counts that the executor was told: how many of each may be. */
struct docker_counts {
	unsigned mounts, env, runtime, fsize;
};

/* Two mounts share no path, neither outside nor inside. */
SPEC_UNUSED static bool docker_apart(const struct docker_mount *a, const struct docker_mount *b)
{
	const char *s = a->word + a->source, *t = b->word + b->source;
	const char *u = a->word + a->target, *v = b->word + b->target;

	return !spec_contains(s, a->source_len, t, b->source_len) &&
	       !spec_contains(t, b->source_len, s, a->source_len) &&
	       !spec_contains(u, a->target_len, v, b->target_len) &&
	       !spec_contains(v, b->target_len, u, a->target_len);
}

SPEC_UNUSED static bool docker_mounts_isolate(const struct docker_reading *r)
{
	struct docker_mount mount[DOCKER_MOUNTS];
	bool ok = true;

	for (unsigned i = 0; ok && i < r->mounts; i++) {
		const struct docker_mount *m = &mount[i];

		ok = docker_mount(&mount[i], r->mount[i], DOCKER_WORD) && m->source_len > 1 &&
		     spec_canonical(m->word + m->source, m->source_len) && m->target_len > 1 &&
		     spec_canonical(m->word + m->target, m->target_len);
		for (unsigned k = 0; ok && k < i; k++)
			ok = docker_apart(m, &mount[k]);
	}
	return ok;
}

static bool docker_times(const struct docker_reading *r, const struct docker_counts *counts)
{
	bool ok = true;

	for (unsigned k = 0; k < D_FLAGS; k++)
		ok = ok && (docker_rule[k].most == 0 || (r->times[k] >= docker_rule[k].least &&
		                                         r->times[k] <= docker_rule[k].most));
	return ok && r->times[D_MOUNT] == counts->mounts && r->mounts == counts->mounts &&
	       r->times[D_ENV] == counts->env && r->times[D_RUNTIME] == counts->runtime &&
	       r->times[D_ULIMIT] == 1 + counts->fsize;
}

/* Every value that is one word, and the image. */
static bool docker_values(const struct docker_reading *r)
{
	bool ok = docker_bool(r->value[D_INIT]) && docker_head(r->host, "unix:///") > 0;

	for (unsigned k = 0; k < D_FLAGS; k++)
		ok = ok && (docker_rule[k].value == NULL ||
		            docker_same(r->value[k], docker_rule[k].value));
	return ok;
}

/* The words that are or hold numbers. */
SPEC_UNUSED static bool docker_numbers(const struct docker_reading *r)
{
	const uint64_t memory = docker_whole(r->value[D_MEMORY]);
	bool ok = docker_user(r->value[D_USER]) && docker_tmpfs(r->value[D_TMPFS]) &&
	          docker_counted(r->value[D_PIDS_LIMIT]) && docker_counted(r->value[D_SHM_SIZE]) &&
	          docker_counted(r->value[D_MEMORY]) &&
	          memory == docker_whole(r->value[D_MEMORY_SWAP]);

	for (unsigned i = 0; i < r->ulimits; i++)
		ok = ok && docker_ulimit(r->ulimit[i]);
	return ok;
}

/* All but what stands in the words with numbers and in the --mount words. */
SPEC_UNUSED static bool docker_isolates(struct docker_reading *r, const char *const *argv,
                                        unsigned count, const struct docker_counts *counts)
{
	docker_read(r, argv, count);
	return r->understood && docker_times(r, counts) && docker_values(r) &&
	       docker_image(argv[r->image]);
}

#endif

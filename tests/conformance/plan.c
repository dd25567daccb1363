/* SPDX-License-Identifier: ISC */

/*
 * The frames of the tests that play the executor, from lines of tab-separated
 * words on standard input to standard output:
 *
 *   plan launch            the plan that `cofferdam-policy admit` and `verify` read
 *   plan facts             what `cofferdam-policy decide` is told first
 *   plan answered-context|answered-image STATUS
 *   plan kind              a frame in; its kind as a word out
 *
 * The first word of a line names the field, of a launch one of these:
 *
 *   nonce HEX, mode turn|session, init true|false
 *   root ro|rw dir|file PATH GUEST DEV INO   (one line a root)
 *   env, command, image_env, image_label     (one line an entry)
 *   any other field of struct launch or struct limits, and its value
 *
 * of facts any field.  What is not given is 0, NULL or none.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../ipc/frame_policy.h"

#define INPUT_MAX 1048576
#define FIELDS_MAX 8

static char input[INPUT_MAX + 1];
static uint8_t frame[FRAME_MAX];
static struct launch launch;
static struct facts facts;

static const struct {
	const char *key;
	const char **to;
} strings[] = {
	{"home", &facts.home},
	{"state_dir", &facts.state_dir},
	{"docker_host", &facts.docker_host},
	{"ssh_auth_sock", &facts.ssh_auth_sock},
	{"executor", &facts.executor},
	{"policy", &facts.policy},
	{"docker", &facts.docker},
	{"config", &facts.config},
	{"audit", &facts.audit},
	{"worker_err", &facts.worker_err},
	{"state_id", &launch.state_id},
	{"name", &launch.name},
	{"endpoint", &launch.endpoint},
	{"session", &launch.session},
	{"runtime", &launch.runtime},
	{"image_id", &launch.image_id},
	{"workdir", &launch.workdir},
	{"entrypoint", &launch.entrypoint},
	{"roots_label", &launch.roots_label},
};

static const struct {
	const char *key;
	uint64_t *to;
} longs[] = {
	{"revision", &launch.revision},
	{"memory_bytes", &launch.limits.memory_bytes},
	{"nano_cpus", &launch.limits.nano_cpus},
	{"tmpfs_bytes", &launch.limits.tmpfs_bytes},
	{"shm_bytes", &launch.limits.shm_bytes},
	{"file_bytes", &launch.limits.file_bytes},
	{"turn_bytes", &launch.limits.turn_bytes},
};

static const struct {
	const char *key;
	uint32_t *to;
} shorts[] = {
	{"uid", &launch.uid},
	{"gid", &launch.gid},
	{"pids", &launch.limits.pids},
	{"nofile", &launch.limits.nofile},
	{"turn_seconds", &launch.limits.turn_seconds},
	{"lock_seconds", &launch.limits.lock_seconds},
	{"control_seconds", &launch.limits.control_seconds},
	{"remove_seconds", &launch.limits.remove_seconds},
	{"live", &launch.limits.live},
};

static const struct {
	const char *key;
	const char **at;
	uint16_t *count;
	uint16_t max;
} lists[] = {
	{"env", launch.env, &launch.env_count, ENV_MAX + 1},
	{"command", launch.command.at, &launch.command.count, WORDS_MAX},
	{"image_env", launch.image_env.at, &launch.image_env.count, INHERITED_MAX},
	{"image_label", launch.image_labels.at, &launch.image_labels.count, INHERITED_MAX},
	{"argv", launch.argv.at, &launch.argv.count, ARGV_MAX},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void fail(const char *what)
{
	fprintf(stderr, "plan: %s\n", what);
	exit(1);
}

static uint64_t number(const char *text, uint64_t max)
{
	char *end;
	uint64_t value = strtoull(text, &end, 10);

	if (text[0] < '0' || text[0] > '9' || *end != '\0' || value > max)
		fail(text);
	return value;
}

static void set_nonce(const char *hex)
{
	if (strlen(hex) != ID_HEX)
		fail("nonce");
	for (size_t i = 0; i < NONCE_BYTES; i++) {
		const char digits[3] = {hex[2 * i], hex[2 * i + 1], '\0'};

		launch.nonce[i] = (uint8_t)strtoul(digits, NULL, 16);
	}
}

static void add_root(char **words, size_t count)
{
	struct root *root = &launch.root[launch.root_count];

	if (count != 7 || launch.root_count == ROOTS_MAX)
		fail("root");
	root->read_only = strcmp(words[1], "ro") == 0;
	root->is_file = strcmp(words[2], "file") == 0;
	root->path = words[3];
	root->guest = words[4];
	root->dev = number(words[5], UINT64_MAX);
	root->ino = number(words[6], UINT64_MAX);
	launch.root_count++;
}

/* The fields that are a table's; false when the key is none of them. */
static bool set_field(const char *key, const char *value)
{
	for (size_t i = 0; i < COUNT(strings); i++)
		if (strcmp(strings[i].key, key) == 0) {
			*strings[i].to = value;
			return true;
		}
	for (size_t i = 0; i < COUNT(longs); i++)
		if (strcmp(longs[i].key, key) == 0) {
			*longs[i].to = number(value, UINT64_MAX);
			return true;
		}
	for (size_t i = 0; i < COUNT(shorts); i++)
		if (strcmp(shorts[i].key, key) == 0) {
			*shorts[i].to = (uint32_t)number(value, UINT32_MAX);
			return true;
		}
	for (size_t i = 0; i < COUNT(lists); i++)
		if (strcmp(lists[i].key, key) == 0 && *lists[i].count < lists[i].max) {
			lists[i].at[(*lists[i].count)++] = value;
			return true;
		}
	return false;
}

static void read_line(char *line)
{
	char *words[FIELDS_MAX];
	size_t count = 0;

	while (line != NULL && count < FIELDS_MAX)
		words[count++] = strsep(&line, "\t");
	if (count < 2)
		fail(words[0]);
	if (strcmp(words[0], "root") == 0)
		add_root(words, count);
	else if (strcmp(words[0], "nonce") == 0)
		set_nonce(words[1]);
	else if (strcmp(words[0], "mode") == 0)
		launch.mode = strcmp(words[1], "session") == 0 ? MODE_SESSION : MODE_TURN;
	else if (strcmp(words[0], "init") == 0)
		launch.init = strcmp(words[1], "true") == 0;
	else if (!set_field(words[0], words[1]))
		fail(words[0]);
}

/* The fields that both have. */
static size_t put_facts(void)
{
	memcpy(facts.nonce, launch.nonce, sizeof(facts.nonce));
	facts.mode = launch.mode;
	facts.uid = launch.uid;
	facts.gid = launch.gid;
	facts.state_id = launch.state_id;
	facts.name = launch.name;
	return frame_put_facts(frame, sizeof(frame), &facts);
}

static size_t put_answered(enum frame_kind question, const char *status)
{
	const struct answered answered = {
		.question = question,
		.status = (uint8_t)number(status, UINT8_MAX),
	};

	return frame_put_answered(frame, sizeof(frame), &answered);
}

static int tell_kind(size_t len)
{
	static const char *const words[] = {
		[FRAME_FACTS] = "facts",         [FRAME_ASK_CONTEXT] = "ask-context",
		[FRAME_ASK_IMAGE] = "ask-image", [FRAME_ANSWERED] = "answered",
		[FRAME_LAUNCH] = "launch",
	};
	unsigned kind = frame_kind((const uint8_t *)input, len);

	return puts(kind < COUNT(words) && words[kind] != NULL ? words[kind] : "none") < 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	size_t len = fread(input, 1, INPUT_MAX, stdin);
	char *rest = input;

	input[len] = '\0';
	if (strcmp(what, "kind") == 0)
		return tell_kind(len);
	while (rest != NULL && *rest != '\0')
		read_line(strsep(&rest, "\n"));
	if (strcmp(what, "launch") == 0)
		len = frame_put_launch(frame, sizeof(frame), &launch);
	else if (strcmp(what, "facts") == 0)
		len = put_facts();
	else if (strcmp(what, "answered-context") == 0 && argc == 3)
		len = put_answered(FRAME_ASK_CONTEXT, argv[2]);
	else if (strcmp(what, "answered-image") == 0 && argc == 3)
		len = put_answered(FRAME_ASK_IMAGE, argv[2]);
	else
		fail("launch, facts, answered-context, answered-image or kind");
	if (len == 0)
		fail("it does not fit into a frame");
	if (fwrite(frame, 1, len, stdout) != len || fflush(stdout) != 0)
		fail("cannot write");
	return 0;
}

/* SPDX-License-Identifier: ISC */

/*
 * executor/gate.c on any LAUNCH frame.  The input is a frame as it comes over
 * the wire (it begins with the magic), or words with a NUL after each: ten
 * figures parted by blanks (turn_bytes, the four seconds, runtime, file_limit,
 * audit_optional, the counts of roots and of env), then argv; these are put
 * into a frame first, so that a changed word stays one.
 *
 * What the gate accepts is read again below as docker reads a command line:
 * options one by one, up to the first word that is none.
 */

#include <stdlib.h>
#include <string.h>

#include "../../executor/gate.h"
#include "../../ipc/frame_policy.h"
#include "fuzz.h"

#define STATE "0123456789abcdef0123456789abcdef"
#define STATE_LABEL "dev.cofferdam.state=" STATE
#define FIGURES 10
#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static uint8_t frame[FRAME_MAX];
static struct order order;
static struct launch launch;
static struct gate gate;

/* --- what docker would make of it --- */

/* Options: a value follows as the next word (a), is in the word (i), or there
 * is none (n); least and most so many times; the one value, when there is but
 * one. */
static const struct option {
	const char *name;
	char form;
	unsigned least, most;
	const char *value;
} options[] = {
	{"--pull", 'a', 1, 1, "never"},
	{"--name", 'a', 1, 1, NULL},
	{"--label", 'a', 6, 6, NULL},
	{"--runtime", 'a', 0, 1, NULL},
	{"--init=true", 'i', 0, 1, NULL},
	{"--init=false", 'i', 0, 1, NULL},
	{"--interactive", 'n', 1, 1, NULL},
	{"--network", 'a', 1, 1, "none"},
	{"--read-only", 'n', 1, 1, NULL},
	{"--cap-drop", 'a', 1, 1, "ALL"},
	{"--security-opt", 'a', 1, 1, "no-new-privileges:true"},
	{"--user", 'a', 1, 1, NULL},
	{"--memory", 'a', 1, 1, NULL},
	{"--memory-swap", 'a', 1, 1, NULL},
	{"--cpus", 'a', 1, 1, NULL},
	{"--pids-limit", 'a', 1, 1, NULL},
	{"--ulimit", 'a', 1, 2, NULL},
	{"--shm-size", 'a', 1, 1, NULL},
	{"--ipc", 'a', 1, 1, "private"},
	{"--cgroupns", 'a', 1, 1, "private"},
	{"--log-driver", 'a', 1, 1, "none"},
	{"--restart", 'a', 1, 1, "no"},
	{"--no-healthcheck", 'n', 1, 1, NULL},
	{"--tmpfs", 'a', 1, 1, NULL},
	{"--mount", 'a', 0, ROOTS_MAX, NULL},
	{"--env", 'a', 1, ENV_MAX + 1, NULL},
	{"--workdir", 'a', 1, 1, NULL},
	{"--entrypoint", 'a', 1, 1, NULL},
};

static unsigned seen[COUNT_OF(options)];
/* The values of one option, in order. */
static const char *value[COUNT_OF(options)][ARGV_MAX];

static unsigned option_index(const char *name)
{
	unsigned i = 0;

	while (i < COUNT_OF(options) && strcmp(options[i].name, name) != 0)
		i++;
	HOLDS(i < COUNT_OF(options));
	return i;
}

/* The argv index of the image. */
static unsigned read_options(const struct argv *argv)
{
	unsigned at = 5;

	memset(seen, 0, sizeof seen);
	while (at < argv->count && argv->at[at][0] == '-') {
		const unsigned which = option_index(argv->at[at]);
		const struct option *option = &options[which];

		at++;
		if (option->form == 'a') {
			HOLDS(at < argv->count);
			value[which][seen[which]] = argv->at[at++];
			HOLDS(option->value == NULL ||
			      strcmp(option->value, value[which][seen[which]]) == 0);
		}
		seen[which]++;
		HOLDS(seen[which] <= option->most);
	}
	for (unsigned i = 0; i < COUNT_OF(options); i++)
		HOLDS(seen[i] >= options[i].least);
	HOLDS(at < argv->count);
	return at;
}

static const char *only(const char *name)
{
	return value[option_index(name)][0];
}

/* Digits, and nothing behind them but `then`; the number. */
static uint64_t figure(const char *text, char then, const char **rest)
{
	char *end;

	HOLDS(text[0] >= '1' && text[0] <= '9');
	*rest = text + strspn(text, "0123456789");
	HOLDS(**rest == then && *rest - text < 19);
	return strtoull(text, &end, 10);
}

static void check_figures(void)
{
	const char *rest;
	const char *memory = only("--memory");

	HOLDS(figure(only("--user"), ':', &rest) <= ID_MAX && figure(rest + 1, '\0', &rest) <= ID_MAX);
	HOLDS(figure(memory, '\0', &rest) <= MEMORY_BYTES_MAX);
	HOLDS(strtoull(memory, NULL, 10) >= MEMORY_BYTES_MIN);
	HOLDS(strcmp(memory, only("--memory-swap")) == 0);
	HOLDS(figure(only("--pids-limit"), '\0', &rest) <= PIDS_MAX);
	HOLDS(figure(only("--shm-size"), '\0', &rest) <= SHM_BYTES_MAX);
	HOLDS(strspn(only("--cpus"), "0123456789.") == strlen(only("--cpus")));
	HOLDS(strtod(only("--cpus"), NULL) >= 0.0099 && strtod(only("--cpus"), NULL) <= 1024.0001);
	HOLDS(strncmp(only("--ulimit"), "nofile=", 7) == 0);
	HOLDS(figure(only("--ulimit") + 7, ':', &rest) <= NOFILE_MAX);
	HOLDS(seen[option_index("--ulimit")] == 1U + order.file_limit);
	HOLDS(seen[option_index("--runtime")] == order.runtime);
	HOLDS(seen[option_index("--init=true")] + seen[option_index("--init=false")] == 1);
}

/* Absolute, as realpath(3) would print it, and without what CSV or a label
 * reads as its own; not "/". */
static void check_path(const char *path, size_t len)
{
	HOLDS(len > 1 && path[0] == '/' && path[len - 1] != '/');
	for (size_t i = 0; i < len; i++) {
		const size_t rest = len - i - 1;

		HOLDS((unsigned char)path[i] >= ' ' && path[i] != 0x7f);
		HOLDS(path[i] != ',' && path[i] != '"');
		if (path[i] != '/' || rest == 0)
			continue;
		HOLDS(path[i + 1] != '/');
		HOLDS(path[i + 1] != '.' || (rest > 1 && path[i + 2] != '/' &&
		                             (path[i + 2] != '.' || (rest > 2 && path[i + 3] != '/'))));
	}
}

/* One is the other, or in it. */
static bool overlap(struct span a, struct span b)
{
	const size_t len = a.len < b.len ? a.len : b.len;

	return memcmp(a.at, b.at, len) == 0 &&
	       (a.len == b.len || (a.len > len ? a.at : b.at)[len] == '/');
}

/* The CSV fields of a --mount value, each known and each once. */
static void read_mount(const char *text, struct span *source, struct span *target, bool *read_only)
{
	unsigned types = 0, propagations = 0, sources = 0, targets = 0, read_onlys = 0;

	HOLDS(strpbrk(text, "\"\n\r") == NULL);
	for (const char *at = text; at != NULL; at = strchr(at, ',')) {
		at += *at == ',';
		if (strncmp(at, "source=", 7) == 0) {
			*source = (struct span){at + 7, strcspn(at + 7, ",")};
			sources++;
		} else if (strncmp(at, "target=", 7) == 0) {
			*target = (struct span){at + 7, strcspn(at + 7, ",")};
			targets++;
		} else if (strncmp(at, "readonly,", 9) == 0) {
			read_onlys++;
		} else if (strncmp(at, "type=bind,", 10) == 0) {
			types++;
		} else {
			HOLDS(strcmp(at, "bind-propagation=rprivate") == 0);
			propagations++;
		}
	}
	HOLDS(types == 1 && propagations == 1 && sources == 1 && targets == 1 && read_onlys <= 1);
	*read_only = read_onlys == 1;
}

static void check_mounts(bool session, struct span socket)
{
	static struct span source[ROOTS_MAX], target[ROOTS_MAX];
	const unsigned mount = option_index("--mount");
	bool read_only;

	HOLDS(seen[mount] == order.root_count);
	for (unsigned i = 0; i < seen[mount]; i++) {
		read_mount(value[mount][i], &source[i], &target[i], &read_only);
		check_path(source[i].at, source[i].len);
		check_path(target[i].at, target[i].len);
		HOLDS(!overlap(source[i], socket));
		HOLDS(read_only || session || strncmp(target[i].at, "/workspace,", 11) == 0);
		for (unsigned j = 0; j < i; j++)
			HOLDS(!overlap(source[i], source[j]) && !overlap(target[i], target[j]));
	}
}

/* Each of our labels once; each NAME once, HOME first. */
static void check_names(const char *mode)
{
	static const char *const labels[] = {STATE_LABEL, "dev.cofferdam.run=",
	                                     "dev.cofferdam.mode=", "dev.cofferdam.session=",
	                                     "dev.cofferdam.revision=", "dev.cofferdam.roots="};
	const char **label = value[option_index("--label")];
	const char **env = value[option_index("--env")];

	for (unsigned i = 0; i < COUNT_OF(labels); i++)
		HOLDS(strncmp(label[i], labels[i], strlen(labels[i])) == 0);
	HOLDS(strcmp(label[2] + strlen(labels[2]), mode) == 0);
	HOLDS(strcmp(env[0], "HOME=/tmp/home") == 0);
	HOLDS(seen[option_index("--env")] == order.env_count);
	for (unsigned i = 0; i < order.env_count; i++) {
		const size_t len = strcspn(env[i], "=");

		HOLDS(env[i][len] == '=' && len > 0);
		for (unsigned j = 0; j < i; j++)
			HOLDS(strncmp(env[i], env[j], len + 1) != 0);
	}
}

static void check_words(const struct argv *argv, const char *mode)
{
	static const char *const head[] = {"docker", "--host", NULL, "container", "create"};
	const char *image, *socket = argv->at[2];
	unsigned at;

	HOLDS(argv->count > COUNT_OF(head));
	for (unsigned i = 0; i < COUNT_OF(head); i++)
		HOLDS(head[i] == NULL || strcmp(head[i], argv->at[i]) == 0);
	HOLDS(strncmp(socket, "unix:///", 8) == 0 && strlen(socket) <= 7 + ENDPOINT_PATH_MAX);
	check_path(socket + 7, strlen(socket + 7));
	at = read_options(argv);
	image = argv->at[at];
	HOLDS(strncmp(image, "sha256:", 7) == 0 && strlen(image) == 7 + 64);
	HOLDS(strspn(image + 7, "0123456789abcdef") == 64);
	HOLDS(argv->count - at - 1 <= WORDS_MAX);
	check_figures();
	check_mounts(mode[0] == 's', (struct span){socket + 7, strlen(socket + 7)});
	check_names(mode);
	HOLDS(only("--entrypoint")[0] != '-' && only("--entrypoint")[0] != '\0');
	HOLDS(only("--workdir")[0] == '/' && strncmp(only("--tmpfs"), "/tmp:rw,noexec,", 15) == 0);
}

/* --- the two forms of input --- */

/* Words to a frame; its length, 0 when it is none. */
static size_t make_frame(const char *text, size_t len)
{
	uint64_t number[FIGURES] = {0};
	char *at = NULL;

	launch = (struct launch){.state_id = "",  .name = "",    .endpoint = "",   .session = "",
	                         .image_id = "",  .workdir = "", .entrypoint = "", .roots_label = "",
	                         .runtime = NULL};
	if (len == 0 || text[len - 1] != '\0')
		return 0;
	at = strchr(text, '\0');
	for (const char *word = text; launch.argv.count < ARGV_MAX && at + 1 < text + len;) {
		char *end = NULL;

		for (unsigned i = 0; word != NULL && i < FIGURES; i++, word = end)
			number[i] = strtoull(word, &end, 10);
		word = NULL;
		launch.argv.at[launch.argv.count++] = at + 1;
		at = strchr(at + 1, '\0');
	}
	launch.limits.turn_bytes = number[0];
	launch.limits.turn_seconds = (uint32_t)number[1];
	launch.limits.lock_seconds = (uint32_t)number[2];
	launch.limits.control_seconds = (uint32_t)number[3];
	launch.limits.remove_seconds = (uint32_t)number[4];
	launch.runtime = number[5] != 0 ? "" : NULL;
	launch.limits.file_bytes = number[6];
	launch.audit_optional = number[7] != 0;
	launch.root_count = (uint16_t)number[8];
	launch.env_count = (uint16_t)number[9];
	for (unsigned i = 0; i < ROOTS_MAX; i++)
		launch.root[i] = (struct root){.path = "", .guest = "", .ino = i + 1};
	for (unsigned i = 0; i < ENV_MAX + 1; i++)
		launch.env[i] = "";
	return frame_put_launch(frame, FRAME_MAX, &launch);
}

static void judge(const uint8_t *bytes, size_t len)
{
	static const char *const modes[] = {"turn", "session"};
	unsigned accepted = 0;

	if (frame_get_order(bytes, len, &order) != FRAME_OK)
		return;
	for (unsigned i = 0; i < COUNT_OF(modes); i++) {
		const struct gate_known known = {
			.nonce_hex = i == 0 ? "00112233445566778899aabbccddeeff"
			                    : "ffeeddccbbaa99887766554433221100",
			.state_id = STATE,
			.mode = modes[i],
		};

		if (gate_check(&gate, &order, &known) != GATE_OK)
			continue;
		check_words(&order.argv, modes[i]);
		accepted++;
	}
	HOLDS(accepted <= 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const bool raw = size >= 4 && memcmp(data, "CFDM", 4) == 0;
	const size_t len = raw ? size : make_frame((const char *)data, size);
	char *copy = fuzz_copy(raw ? data : frame, len);

	judge((const uint8_t *)copy, len);
	free(copy);
	return 0;
}

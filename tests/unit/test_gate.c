/* SPDX-License-Identifier: ISC */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../executor/gate.h"
#include "../../ipc/frame_policy.h"
#include "../../policy/build.h"
#include "../../policy/image.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))
#define STATE "0123456789abcdef0123456789abcdef"
#define HEX64 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define HEX64_B "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"
#define TURN_ROOTS "[{\"path\":\"/srv/broker\",\"mode\":\"ro\"},{\"path\":\"/srv/work\",\"mode\":\"rw\"}]"
#define SESSION_ROOTS \
	"[{\"path\":\"/srv/ws\",\"mode\":\"rw\"},{\"path\":\"/srv/g1\",\"mode\":\"ro\"}," \
	"{\"path\":\"/srv/g2\",\"mode\":\"rw\"},{\"path\":\"/opt/hands.js\",\"mode\":\"ro\"}]"

/*
 * Two launches that the gate must take, each written out by hand: policy's typed
 * fields, and the argv that they call for.  The gate sees the argv, and of the
 * fields only those of struct order.
 */

static const struct launch turn = {
	.nonce = {0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb, 0xcc,
              0xdd, 0xee, 0xff},
	.mode = MODE_TURN,
	.uid = 1501,
	.gid = 1502,
	.state_id = STATE,
	.name = "cofferdam-00112233445566778899aabbccddeeff",
	.endpoint = "unix:///run/docker.sock",
	.session = "",
	.image_id = "sha256:" HEX64,
	.workdir = "/workspace",
	.entrypoint = "node",
	.roots_label = TURN_ROOTS,
	.limits = {.memory_bytes = 536870912,
               .nano_cpus = 1000000000,
               .tmpfs_bytes = 67108864,
               .shm_bytes = 67108863,
               .turn_bytes = 262144,
               .pids = 64,
               .nofile = 256,
               .turn_seconds = 120,
               .lock_seconds = 30,
               .control_seconds = 31,
               .remove_seconds = 32},
	.root_count = 2,
	.root = {{"/srv/broker", "/broker", true, false, 8, 21},
             {"/srv/work", "/workspace", false, false, 8, 22}},
	.env_count = 1,
	.env = {"HOME=/tmp/home"},
	.command = {.count = 2, .at = {"/app/worker.js", "--once"}},
	.argv = {.count = 68,
             .at = {"docker", "--host", "unix:///run/docker.sock", "container", "create", "--pull",
                    "never", "--name", "cofferdam-00112233445566778899aabbccddeeff", "--label",
                    "dev.cofferdam.state=" STATE, "--label",
                    "dev.cofferdam.run=00112233445566778899aabbccddeeff", "--label",
                    "dev.cofferdam.mode=turn", "--label", "dev.cofferdam.session=", "--label",
                    "dev.cofferdam.revision=0", "--label", "dev.cofferdam.roots=" TURN_ROOTS,
                    "--init=false", "--interactive", "--network", "none", "--read-only",
                    "--cap-drop", "ALL", "--security-opt", "no-new-privileges:true", "--user",
                    "1501:1502", "--memory", "536870912", "--memory-swap", "536870912", "--cpus",
                    "1", "--pids-limit", "64", "--ulimit", "nofile=256:256", "--shm-size",
                    "67108863", "--ipc", "private", "--cgroupns", "private", "--log-driver", "none",
                    "--restart", "no", "--no-healthcheck", "--tmpfs",
                    "/tmp:rw,noexec,nosuid,nodev,size=67108864,mode=1777", "--mount",
                    "type=bind,readonly,source=/srv/broker,target=/broker,bind-propagation=rprivate",
                    "--mount",
                    "type=bind,source=/srv/work,target=/workspace,bind-propagation=rprivate",
                    "--env", "HOME=/tmp/home", "--workdir", "/workspace", "--entrypoint", "node",
                    "sha256:" HEX64, "/app/worker.js", "--once"}},
};

static const struct launch session = {
	.nonce = {0xff, 0xee, 0xdd, 0xcc, 0xbb, 0xaa, 0x99, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33,
              0x22, 0x11, 0x00},
	.mode = MODE_SESSION,
	.uid = 2147483647,
	.gid = 1,
	.init = true,
	.state_id = STATE,
	.name = "box",
	.endpoint = "unix:///run/user/1000/docker.sock",
	.session = "s-1",
	.revision = 9007199254740991,
	.runtime = "runsc",
	.image_id = "sha256:" HEX64_B,
	.workdir = "/",
	.entrypoint = "/bin/worker",
	.roots_label = SESSION_ROOTS,
	.limits = {.memory_bytes = 1099511627776,
               .nano_cpus = 1500000001,
               .tmpfs_bytes = 4096,
               .shm_bytes = 4097,
               .file_bytes = 1048576,
               .turn_bytes = 1024,
               .pids = 4194304,
               .nofile = 16,
               .turn_seconds = 0,
               .lock_seconds = 0,
               .control_seconds = 300,
               .remove_seconds = 600,
               .live = 100000},
	.root_count = 4,
	.root = {{"/srv/ws", "/workspace", false, false, 8, 31},
             {"/srv/g1", "/grants/" HEX64, true, false, 8, 32},
             {"/srv/g2", "/grants/" HEX64_B, false, false, 8, 33},
             {"/opt/hands.js", "/opt/hands.js", true, true, 9, 31}},
	.env_count = 3,
	.env = {"HOME=/tmp/home", "TZ=Europe/Vienna", "LAST=b=c"},
	.argv = {.count = 78,
             .at = {"docker", "--host", "unix:///run/user/1000/docker.sock", "container", "create",
                    "--pull", "never", "--name", "box", "--label", "dev.cofferdam.state=" STATE,
                    "--label", "dev.cofferdam.run=ffeeddccbbaa99887766554433221100", "--label",
                    "dev.cofferdam.mode=session", "--label", "dev.cofferdam.session=s-1", "--label",
                    "dev.cofferdam.revision=9007199254740991", "--label",
                    "dev.cofferdam.roots=" SESSION_ROOTS, "--runtime", "runsc", "--init=true",
                    "--interactive", "--network", "none", "--read-only", "--cap-drop", "ALL",
                    "--security-opt", "no-new-privileges:true", "--user", "2147483647:1",
                    "--memory", "1099511627776", "--memory-swap", "1099511627776", "--cpus",
                    "1.500000001", "--pids-limit", "4194304", "--ulimit", "nofile=16:16",
                    "--ulimit", "fsize=1048576:1048576", "--shm-size", "4097", "--ipc", "private",
                    "--cgroupns", "private", "--log-driver", "none", "--restart", "no",
                    "--no-healthcheck", "--tmpfs",
                    "/tmp:rw,noexec,nosuid,nodev,size=4096,mode=1777", "--mount",
                    "type=bind,source=/srv/ws,target=/workspace,bind-propagation=rprivate",
                    "--mount",
                    "type=bind,readonly,source=/srv/g1,target=/grants/" HEX64
                    ",bind-propagation=rprivate",
                    "--mount",
                    "type=bind,source=/srv/g2,target=/grants/" HEX64_B
                    ",bind-propagation=rprivate",
                    "--mount",
                    "type=bind,readonly,source=/opt/hands.js,target=/opt/hands.js,"
                    "bind-propagation=rprivate",
                    "--env", "HOME=/tmp/home", "--env", "TZ=Europe/Vienna", "--env", "LAST=b=c",
                    "--workdir", "/", "--entrypoint", "/bin/worker", "sha256:" HEX64_B}},
};

static const struct launch *const good[] = {&turn, &session};

/* The launch under test, a changed copy of one of the above, and what the
 * executor would know. */
static struct launch l;
static struct gate_known known;
static struct gate gate;

/*
 * A second writer of argv, so that a changed field can come with the argv that
 * would carry it: then only the field's own rule can refuse the launch.  It
 * knows the order from the table in executor/gate.h and writes whatever the
 * fields hold.
 */

static char arena[2 * FRAME_MAX];
static size_t arena_used;

__attribute__((format(printf, 1, 2))) static void add(const char *format, ...)
{
	va_list arguments;
	int len;

	va_start(arguments, format);
	len = vsnprintf(arena + arena_used, sizeof arena - arena_used, format, arguments);
	va_end(arguments);
	assert_true(len >= 0 && (size_t)len < sizeof arena - arena_used);
	assert_true(l.argv.count < ARGV_MAX);
	l.argv.at[l.argv.count++] = arena + arena_used;
	l.argv.at[l.argv.count] = NULL;
	arena_used += (size_t)len + 1;
}

static void add_list(const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		add("%s", words[i]);
}

/* The label of the roots, without any escape: for plain paths. */
static void write_label(void)
{
	size_t used = 1;
	char *label = arena + arena_used;
	const size_t room = sizeof arena - arena_used;

	label[0] = '[';
	for (unsigned i = 0; i < l.root_count && i < ROOTS_MAX; i++)
		used += (size_t)snprintf(label + used, room - used, "%s{\"path\":\"%s\",\"mode\":\"%s\"}",
		                         i == 0 ? "" : ",", l.root[i].path,
		                         l.root[i].read_only ? "ro" : "rw");
	assert_true(used + 2 < room);
	memcpy(label + used, "]", 2);
	l.roots_label = label;
	arena_used += used + 2;
}

static void write_labels(void)
{
	char nonce[2 * NONCE_BYTES + 1];

	for (size_t i = 0; i < NONCE_BYTES; i++)
		(void)snprintf(nonce + 2 * i, 3, "%02x", l.nonce[i]);
	add("--label");
	add("dev.cofferdam.state=%s", l.state_id);
	add("--label");
	add("dev.cofferdam.run=%s", nonce);
	add("--label");
	add("dev.cofferdam.mode=%s", l.mode == MODE_TURN ? "turn" : "session");
	add("--label");
	add("dev.cofferdam.session=%s", l.session);
	add("--label");
	add("dev.cofferdam.revision=%llu", (unsigned long long)l.revision);
	add("--label");
	add("dev.cofferdam.roots=%s", l.roots_label);
}

static void write_cpus(void)
{
	char text[40];
	size_t len = (size_t)snprintf(text, sizeof text, "%llu.%09llu",
	                              (unsigned long long)l.limits.nano_cpus / 1000000000,
	                              (unsigned long long)l.limits.nano_cpus % 1000000000);

	while (text[len - 1] == '0')
		text[--len] = '\0';
	if (text[len - 1] == '.')
		text[--len] = '\0';
	add("--cpus");
	add("%s", text);
}

static void write_limits(void)
{
	static const char *const isolation[] = {
		"--interactive", "--network", "none", "--read-only", "--cap-drop", "ALL",
		"--security-opt", "no-new-privileges:true", "--user"};
	static const char *const fixed[] = {"--ipc", "private", "--cgroupns", "private",
	                                    "--log-driver", "none", "--restart", "no",
	                                    "--no-healthcheck", "--tmpfs"};
	const unsigned long long memory = l.limits.memory_bytes;

	add_list(isolation, COUNT_OF(isolation));
	add("%u:%u", l.uid, l.gid);
	add("--memory");
	add("%llu", memory);
	add("--memory-swap");
	add("%llu", memory);
	write_cpus();
	add("--pids-limit");
	add("%u", l.limits.pids);
	add("--ulimit");
	add("nofile=%u:%u", l.limits.nofile, l.limits.nofile);
	if (l.limits.file_bytes != 0) {
		add("--ulimit");
		add("fsize=%llu:%llu", (unsigned long long)l.limits.file_bytes,
		    (unsigned long long)l.limits.file_bytes);
	}
	add("--shm-size");
	add("%llu", (unsigned long long)l.limits.shm_bytes);
	add_list(fixed, COUNT_OF(fixed));
	add("/tmp:rw,noexec,nosuid,nodev,size=%llu,mode=1777",
	    (unsigned long long)l.limits.tmpfs_bytes);
}

static void write_rest(void)
{
	for (unsigned i = 0; i < l.root_count && i < ROOTS_MAX; i++) {
		add("--mount");
		add("type=bind%s,source=%s,target=%s,bind-propagation=rprivate",
		    l.root[i].read_only ? ",readonly" : "", l.root[i].path, l.root[i].guest);
	}
	for (unsigned i = 0; i < l.env_count && i < ENV_MAX + 1; i++) {
		add("--env");
		add("%s", l.env[i]);
	}
	add("--workdir");
	add("%s", l.workdir);
	add("--entrypoint");
	add("%s", l.entrypoint);
	add("%s", l.image_id);
	for (unsigned i = 0; i < l.command.count && i < WORDS_MAX; i++)
		add("%s", l.command.at[i]);
}

/* argv from the fields and the label as they are. */
static void write_argv(void)
{
	static const char *const never[] = {"container", "create", "--pull", "never", "--name"};

	l.argv.count = 0;
	add("docker");
	add("--host");
	add("%s", l.endpoint);
	add_list(never, COUNT_OF(never));
	add("%s", l.name);
	write_labels();
	if (l.runtime != NULL) {
		add("--runtime");
		add("%s", l.runtime);
	}
	add("--init=%s", l.init ? "true" : "false");
	write_limits();
	write_rest();
}

/* The endpoint is known only to the tests that are about it. */
static void start_from(const struct launch *from)
{
	l = *from;
	arena_used = 0;
	known = (struct gate_known){
		.nonce_hex = from->mode == MODE_TURN ? "00112233445566778899aabbccddeeff"
	                                             : "ffeeddccbbaa99887766554433221100",
		.state_id = STATE,
		.mode = from->mode == MODE_TURN ? "turn" : "session",
	};
}

static struct order order;

static void make_order(void)
{
	order = (struct order){
		.turn_bytes = l.limits.turn_bytes,
		.turn_seconds = l.limits.turn_seconds,
		.lock_seconds = l.limits.lock_seconds,
		.control_seconds = l.limits.control_seconds,
		.remove_seconds = l.limits.remove_seconds,
		.runtime = l.runtime != NULL,
		.file_limit = l.limits.file_bytes != 0,
		.root_count = l.root_count,
		.env_count = l.env_count,
		.argv = l.argv,
	};
	for (unsigned i = 0; i < l.root_count && i < ROOTS_MAX; i++)
		order.root[i] = (struct identity){l.root[i].dev, l.root[i].ino};
}

/* The gate's word on l as it is. */
static enum gate_result check(void)
{
	make_order();
	return gate_check(&gate, &order, &known);
}

/* With the argv that its fields and its label call for; with its label, too. */
static enum gate_result check_written(void)
{
	write_argv();
	return check();
}

static enum gate_result judge(void)
{
	write_label();
	return check_written();
}

static void good_launches_pass(void **state)
{
	(void)state;
	for (size_t g = 0; g < COUNT_OF(good); g++) {
		start_from(good[g]);
		assert_int_equal(check(), GATE_OK);
		known.endpoint = l.endpoint;
		assert_int_equal(check(), GATE_OK);
		assert_string_equal(l.argv.at[GATE_AT_ENDPOINT], l.endpoint);
		assert_string_equal(l.argv.at[GATE_AT_NAME], l.name);
	}
}

/* The sources, as the check of their identity opens them. */
static void roots_are_handed_on(void **state)
{
	static char path[PATH_BYTES_MAX + 1];

	(void)state;
	for (size_t g = 0; g < COUNT_OF(good); g++) {
		start_from(good[g]);
		assert_int_equal(check(), GATE_OK);
		for (unsigned i = 0; i < l.root_count; i++) {
			gate_root(&gate, i, path);
			assert_string_equal(path, l.root[i].path);
		}
	}
}

static void same_words(const struct launch *want)
{
	assert_int_equal(l.argv.count, want->argv.count);
	for (unsigned i = 0; i < l.argv.count; i++)
		assert_string_equal(l.argv.at[i], want->argv.at[i]);
	assert_null(l.argv.at[l.argv.count]);
}

/* The writer above agrees with the tables by hand, so tests may rely on it. */
static void second_writer_agrees(void **state)
{
	(void)state;
	for (size_t g = 0; g < COUNT_OF(good); g++) {
		start_from(good[g]);
		assert_int_equal(judge(), GATE_OK);
		assert_string_equal(l.roots_label, good[g]->roots_label);
		same_words(good[g]);
	}
}

/* Changes of whole words. */

static void remove_word(unsigned at)
{
	memmove(&l.argv.at[at], &l.argv.at[at + 1],
	        (size_t)(l.argv.count - at) * sizeof l.argv.at[0]);
	l.argv.count--;
}

static void insert_word(unsigned at, const char *word)
{
	assert_true(l.argv.count < ARGV_MAX);
	memmove(&l.argv.at[at + 1], &l.argv.at[at],
	        (size_t)(l.argv.count - at + 1) * sizeof l.argv.at[0]);
	l.argv.at[at] = word;
	l.argv.count++;
}

static void refused(enum gate_result result, unsigned at)
{
	assert_int_equal(check(), result);
	if (result == GATE_WORD || result == GATE_ROOT)
		assert_int_equal(gate.where, at);
}

/*
 * What another word in a place may be, said once more in another way: by the
 * word that the good argv has there, and the flag before it, a pattern for the
 * whole and bounds for the figures in parentheses.  A place without a rule
 * takes only its own word.
 */

#define FIGURE "(0|[1-9][0-9]*)"
#define NAME_LIKE "[a-z0-9][a-z0-9_.-]*"
#define RPRIVATE ",bind-propagation=rprivate"
#define KEY_LIKE "[] !#-+./-[^-~][] !#-+./-[^-~-]*"

static const struct rule {
	const char *flag, *begins, *pattern;
	size_t longest;
	uint64_t least, most;
} rules[] = {
	{"--name", "", NAME_LIKE, 91, 0, 0},
	{"--runtime", "", NAME_LIKE, 64, 0, 0},
	{"--label", "dev.cofferdam.session=s", "dev[.]cofferdam[.]session=" KEY_LIKE, 150, 0, 0},
	{"--label", "dev.cofferdam.revision=9", "dev[.]cofferdam[.]revision=" FIGURE, 99, 0,
         9007199254740991},
	{"", "--init=", "--init=true|--init=false", 99, 0, 0},
	{"--user", "", FIGURE ":" FIGURE, 99, 1, 2147483647},
	{"--memory", "", FIGURE, 99, 67108864, 1099511627776},
	{"--memory-swap", "", FIGURE, 99, 67108864, 1099511627776},
	{"--cpus", "", "(0|[1-9][0-9]*)([.][0-9]*[1-9])?", 14, 0, 1024},
	{"--pids-limit", "", FIGURE, 99, 8, 4194304},
	{"--ulimit", "nofile=", "nofile=" FIGURE ":" FIGURE, 99, 16, 1048576},
	{"--ulimit", "fsize=", "fsize=" FIGURE ":" FIGURE, 99, 1, 1099511627776},
	{"--shm-size", "", FIGURE, 99, 4096, 1099511627776},
	{"--tmpfs", "", "/tmp:rw,noexec,nosuid,nodev,size=" FIGURE ",mode=1777", 99, 4096,
         1099511627776},
	{"--mount", "type=bind,readonly,source=/srv/g1",
         "type=bind,readonly,source=/srv/g1,target=/grants/[0-9a-f]{64}" RPRIVATE, 200, 0, 0},
	{"--mount", "type=bind,source=/srv/g2",
         "type=bind,source=/srv/g2,target=/grants/[0-9a-f]{64}" RPRIVATE, 200, 0, 0},
	{"--mount", "type=bind,readonly,source=/opt/hands.js",
         "type=bind,readonly,source=/opt/hands[.]js,target=(/[^/,\"]+)+" RPRIVATE, 200, 0, 0},
	{"--env", "TZ=", "[A-Za-z_][A-Za-z0-9_]*=.*", 4096, 0, 0},
	{"--env", "LAST=", "[A-Za-z_][A-Za-z0-9_]*=.*", 4096, 0, 0},
	{"--workdir", "", "/|(/[^/]+)+", 4095, 0, 0},
	{"--entrypoint", "", "[^-].*", 4096, 0, 0},
	{"", "sha256:", "sha256:[0-9a-f]{64}", 99, 0, 0},
};

static const regex_t *compiled(size_t rule)
{
	static regex_t regex[COUNT_OF(rules)];
	static bool done[COUNT_OF(rules)];
	char pattern[160];

	(void)snprintf(pattern, sizeof pattern, "^(%s)$", rules[rule].pattern);
	if (!done[rule])
		assert_int_equal(regcomp(&regex[rule], pattern, REG_EXTENDED), 0);
	done[rule] = true;
	return &regex[rule];
}

/* Two figures in one word are the same one, but for --user's. */
static bool figures_ok(const struct rule *rule, const char *word, const regmatch_t *match)
{
	uint64_t first = 0;

	for (size_t i = 2; i < 4 && rule->most != 0 && match[i].rm_so >= 0; i++) {
		const uint64_t value = strtoull(word + match[i].rm_so, NULL, 10);

		if (match[i].rm_eo - match[i].rm_so > 19 || value < rule->least ||
		    value > rule->most)
			return false;
		if (i == 3 && value != first && strcmp(rule->flag, "--user") != 0)
			return false;
		first = value;
	}
	return true;
}

static bool follows_rule(size_t rule, const char *word)
{
	regmatch_t match[4];

	if (strlen(word) > rules[rule].longest || regexec(compiled(rule), word, 4, match, 0) != 0)
		return false;
	if (strcmp(rules[rule].flag, "--cpus") == 0) {
		const char *point = strchr(word, '.');
		const double cpus = strtod(word, NULL);

		return cpus >= 0.01 && cpus <= 1024 && (point == NULL || strlen(point) <= 10);
	}
	return figures_ok(&rules[rule], word, match);
}

/* Rules over more than one word; a working directory that is none. */
static bool fits_with_others(const struct launch *from, unsigned at)
{
	static const char *const kernel[] = {"/proc", "/sys", "/dev", "/.", "/.."};
	const char *flag = from->argv.at[at - 1], *word = l.argv.at[at];

	if (strcmp(flag, "--memory-swap") == 0)
		return strcmp(word, l.argv.at[at - 2]) == 0;
	for (unsigned k = at - 2; strcmp(flag, "--env") == 0 && k > 0; k -= 2) {
		if (strcmp(from->argv.at[k - 1], "--env") != 0)
			break;
		if (strncmp(l.argv.at[k], word, strcspn(word, "=") + 1) == 0)
			return false;
	}
	for (size_t i = 0; strcmp(flag, "--workdir") == 0 && i < COUNT_OF(kernel); i++) {
		const size_t len = strlen(kernel[i]);

		if (strncmp(word, kernel[i], len) == 0 && (word[len] == '/' || word[len] == '\0'))
			return false;
	}
	return true;
}

static unsigned image_at(const struct launch *from)
{
	return from->argv.count - from->command.count - 1U;
}

/* May the word of l stand at a place of from's argv? */
static bool allowed(const struct launch *from, unsigned at)
{
	const char *own = from->argv.at[at];
	const char *flag = from->argv.at[at - (at > 0)];
	bool rule = false;

	if (at > 0 && strcmp(flag, "--memory-swap") == 0)
		return fits_with_others(from, at);
	if (strcmp(own, l.argv.at[at]) == 0)
		return at == 0 || fits_with_others(from, at);
	for (size_t i = 0; i < COUNT_OF(rules) && !rule; i++)
		rule = strncmp(own, rules[i].begins, strlen(rules[i].begins)) == 0 &&
		       (rules[i].flag[0] == '\0' || strcmp(rules[i].flag, flag) == 0) &&
		       follows_rule(i, l.argv.at[at]);
	return rule && fits_with_others(from, at);
}

/* The gate's word on l, whose argv has from's shape: the rules' word.  True if it
 * was refused.  A mount word is another only where sources, guests or the label
 * then disagree. */
static bool agrees_with_rules(const struct launch *from)
{
	const unsigned image = image_at(from);
	unsigned at = 0;

	known.endpoint = from->endpoint;
	while (at <= image && allowed(from, at))
		at++;
	if (at > image) {
		if (check() != GATE_OK)
			fail_msg("refused: %u, %s", gate.where, l.argv.at[gate.where]);
		return false;
	}
	if (check() == GATE_OK)
		fail_msg("taken: %u, %s", at, l.argv.at[at]);
	if (strcmp(from->argv.at[at - (at > 0)], "--mount") != 0 &&
	    strncmp(from->argv.at[at], "dev.cofferdam.roots", 19) != 0)
		refused(GATE_WORD, at);
	return true;
}

static void each_word_is_needed_once(void **state)
{
	(void)state;
	for (size_t g = 0; g < COUNT_OF(good); g++) {
		for (unsigned at = 0; at <= image_at(good[g]); at++) {
			start_from(good[g]);
			remove_word(at);
			/* The image could be an entrypoint. */
			refused(GATE_WORD, at + (at + 1 == image_at(good[g])));
			if (at == image_at(good[g])) /* again, it is the worker's */
				continue;
			start_from(good[g]);
			insert_word(at, l.argv.at[at]);
			refused(GATE_WORD, at + 1);
		}
		start_from(good[g]);
		l.argv.count = 0;
		refused(GATE_NUMBER, 0);
		for (l.argv.count = 1; l.argv.count <= image_at(good[g]); l.argv.count++)
			refused(GATE_WORD, l.argv.count);
		assert_int_equal(check(), GATE_OK); /* just the image */
	}
}

/* At each place each other word of the same argv. */
static void each_word_has_its_place(void **state)
{
	size_t cases = 0;
	size_t other_argvs = 0;

	(void)state;
	for (size_t g = 0; g < COUNT_OF(good); g++) {
		for (unsigned at = 0; at < good[g]->argv.count; at++) {
			for (unsigned other = 0; other < good[g]->argv.count; other++) {
				if (strcmp(good[g]->argv.at[at], good[g]->argv.at[other]) == 0)
					continue;
				start_from(good[g]);
				l.argv.at[at] = good[g]->argv.at[other];
				if (agrees_with_rules(good[g]))
					cases++;
				else
					other_argvs++;
				l.argv.at[other] = good[g]->argv.at[at]; /* swapped */
				if (agrees_with_rules(good[g]))
					cases++;
				else
					other_argvs++;
			}
		}
	}
	print_message("words put in another's place, swapped: %zu refused, %zu are argvs too\n",
	              cases, other_argvs);
	assert_true(cases > 15000);
}

/* One word taken out, another one said twice: the count is right. */
static void count_alone_is_not_enough(void **state)
{
	size_t cases = 0;

	(void)state;
	for (size_t g = 0; g < COUNT_OF(good); g++) {
		for (unsigned out = 0; out <= image_at(good[g]); out++) {
			for (unsigned twice = 0; twice + 1U < good[g]->argv.count; twice++) {
				start_from(good[g]);
				remove_word(out);
				insert_word(twice, l.argv.at[twice]);
				cases += agrees_with_rules(good[g]);
			}
		}
	}
	print_message("one word for another: %zu refused\n", cases);
	assert_true(cases > 10000);
}

/* Each byte of each word changed, dropped and followed by one more. */
static void each_byte_counts(void **state)
{
	static const char others[] = "x0-./ ,:=\"\\\n\x7f\xff";
	static char word[1024];
	size_t cases = 0;
	size_t other_argvs = 0;

	(void)state;
	for (size_t g = 0; g < COUNT_OF(good); g++) {
		for (unsigned at = 0; at <= image_at(good[g]); at++) {
			const char *before = good[g]->argv.at[at];
			const size_t len = strlen(before);

			assert_true(len + 2 < sizeof word);
			start_from(good[g]);
			l.argv.at[at] = word;
			for (size_t i = 0; i <= len; i++) {
				for (size_t k = 0; k < sizeof others; k++) {
					memcpy(word, before, len + 1);
					word[i] = others[k]; /* at len: one more; NUL: cut */
					word[len + 1] = '\0';
					if ((uint8_t)others[k] > 0x7e || others[k] == '\n') {
						assert_int_not_equal(check(), GATE_OK);
						cases++;
					} else if (agrees_with_rules(good[g])) {
						cases++;
					} else {
						other_argvs++;
					}
				}
				memcpy(word, before, i);
				memcpy(word + i, before + i + (i < len), len - i + (i == len));
				cases += agrees_with_rules(good[g]);
			}
		}
	}
	print_message("bytes changed and dropped: %zu refused, %zu are argvs too\n", cases,
	              other_argvs);
	assert_true(cases > 20000);
}

/* What `docker create --help` of CLI 28.2 lists (20.10 lists a subset), then
 * hidden spellings and the options of docker itself; a value that would weaken
 * the container, or NULL for a switch. */
static const struct option {
	const char *name;
	const char *value;
} options[] = {
	{"--add-host", "host:10.0.0.1"},
	{"--annotation", "run.oci.keep_original_groups=1"},
	{"-a", "STDOUT"},
	{"--attach", "STDOUT"},
	{"--blkio-weight", "1000"},
	{"--blkio-weight-device", "/dev/sda:1000"},
	{"--cap-add", "ALL"},
	{"--cap-add", "SYS_ADMIN"},
	{"--cap-drop", "NET_RAW"},
	{"--cgroup-parent", "/"},
	{"--cgroupns", "host"},
	{"--cidfile", "/tmp/id"},
	{"--cpu-count", "64"},
	{"--cpu-percent", "100"},
	{"--cpu-period", "1000000"},
	{"--cpu-quota", "-1"},
	{"--cpu-rt-period", "1000000"},
	{"--cpu-rt-runtime", "950000"},
	{"-c", "262144"},
	{"--cpu-shares", "262144"},
	{"--cpus", "64"},
	{"--cpus", "0"},
	{"--cpuset-cpus", "0-3"},
	{"--cpuset-mems", "0"},
	{"--device", "/dev/mem"},
	{"--device-cgroup-rule", "a *:* rwm"},
	{"--device-read-bps", "/dev/sda:1tb"},
	{"--device-read-iops", "/dev/sda:1000000"},
	{"--device-write-bps", "/dev/sda:1tb"},
	{"--device-write-iops", "/dev/sda:1000000"},
	{"--disable-content-trust", NULL},
	{"--dns", "8.8.8.8"},
	{"--dns-option", "ndots:1"},
	{"--dns-search", "example.com"},
	{"--domainname", "example.com"},
	{"--entrypoint", "/bin/sh"},
	{"-e", "LD_PRELOAD=/workspace/x.so"},
	{"--env", "LD_PRELOAD=/workspace/x.so"},
	{"--env", "PATH"},
	{"--env-file", "/etc/environment"},
	{"--expose", "1-65535"},
	{"--gpus", "all"},
	{"--group-add", "docker"},
	{"--health-cmd", "/bin/sh"},
	{"--health-interval", "1s"},
	{"--health-retries", "9"},
	{"--health-start-interval", "1s"},
	{"--health-start-period", "1s"},
	{"--health-timeout", "1s"},
	{"--help", NULL},
	{"-h", "host"},
	{"--hostname", "host"},
	{"--init", NULL},
	{"-i", NULL},
	{"--interactive", NULL},
	{"--io-maxbandwidth", "1tb"},
	{"--io-maxiops", "1000000"},
	{"--ip", "172.30.100.104"},
	{"--ip6", "2001:db8::33"},
	{"--ipc", "host"},
	{"--isolation", "process"},
	{"--kernel-memory", "1g"},
	{"-l", "dev.cofferdam.state=" HEX64},
	{"--label", "dev.cofferdam.roots=[]"},
	{"--label-file", "/tmp/labels"},
	{"--link", "db:db"},
	{"--link-local-ip", "169.254.1.1"},
	{"--log-driver", "syslog"},
	{"--log-opt", "syslog-address=udp://1.2.3.4:1111"},
	{"--mac-address", "92:d0:c6:0a:29:33"},
	{"-m", "0"},
	{"--memory", "0"},
	{"--memory-reservation", "64m"},
	{"--memory-swap", "-1"},
	{"--memory-swappiness", "100"},
	{"--mount", "type=bind,source=/,target=/host"},
	{"--mount", "type=bind,source=/var/run/docker.sock,target=/docker.sock"},
	{"--mount", "type=volume,target=/data"},
	{"--name", "other"},
	{"--network", "host"},
	{"--network", "bridge"},
	{"--network-alias", "alias"},
	{"--no-healthcheck", NULL},
	{"--oom-kill-disable", NULL},
	{"--oom-score-adj", "-1000"},
	{"--pid", "host"},
	{"--pids-limit", "-1"},
	{"--platform", "linux/arm64"},
	{"--privileged", NULL},
	{"-p", "80:80"},
	{"--publish", "80:80"},
	{"-P", NULL},
	{"--publish-all", NULL},
	{"--pull", "always"},
	{"-q", NULL},
	{"--quiet", NULL},
	{"--read-only", NULL},
	{"--restart", "always"},
	{"--rm", NULL},
	{"--runtime", "runc"},
	{"--security-opt", "seccomp=unconfined"},
	{"--security-opt", "apparmor=unconfined"},
	{"--security-opt", "systempaths=unconfined"},
	{"--security-opt", "no-new-privileges:false"},
	{"--shm-size", "1tb"},
	{"--stop-signal", "SIGCONT"},
	{"--stop-timeout", "100000"},
	{"--storage-opt", "size=1tb"},
	{"--sysctl", "net.ipv4.ip_forward=1"},
	{"--tmpfs", "/run:exec"},
	{"-t", NULL},
	{"--tty", NULL},
	{"--ulimit", "nproc=-1:-1"},
	{"--use-api-socket", NULL},
	{"-u", "0:0"},
	{"--user", "0"},
	{"--userns", "host"},
	{"--uts", "host"},
	{"-v", "/:/host"},
	{"--volume", "/:/host"},
	{"--volume-driver", "local"},
	{"--volumes-from", "other"},
	{"-w", "/proc/self/fd/7"},
	{"--workdir", "/proc/self/fd/7"},
	{"--net", "host"},
	{"--net-alias", "alias"},
	{"--dns-opt", "ndots:1"},
	{"-H", "tcp://1.2.3.4:2375"},
	{"--host", "tcp://1.2.3.4:2375"},
	{"--context", "other"},
	{"--config", "/tmp/config"},
	{"-D", NULL},
	{"--debug", NULL},
	{"--log-level", "debug"},
	{"--tls", NULL},
	{"--tlsverify", NULL},
	{"--tlscacert", "/tmp/ca.pem"},
	{"--tlscert", "/tmp/cert.pem"},
	{"--tlskey", "/tmp/key.pem"},
	{"--", NULL},
	{"-", NULL},
	{"", NULL},
};

static char joined[128];

/* The spellings of an option: --x y, --x=y, -xy; a switch: --x, --x=true. */
static unsigned spell(const struct option *option, unsigned way, const char *words[2])
{
	const bool is_long = strncmp(option->name, "--", 2) == 0;
	const char *value = option->value == NULL ? "true" : option->value;

	words[0] = option->name;
	words[1] = option->value;
	if (way == 0)
		return option->value == NULL ? 1 : 2;
	(void)snprintf(joined, sizeof joined, "%s%s%s", option->name, is_long ? "=" : "", value);
	words[0] = joined;
	return 1;
}

/* Puts an option in at every place before the image, with the counts as they are
 * and with each count that lies; behind the image it is the worker's. */
static size_t try_option(const struct launch *from, const char *const *words, unsigned count,
                         size_t *taken)
{
	size_t cases = 0;

	for (unsigned at = 0; at <= from->argv.count; at++) {
		start_from(from);
		for (unsigned k = count; k > 0; k--)
			insert_word(at, words[k - 1]);
		if (at > image_at(from)) {
			assert_int_equal(check(), GATE_OK);
			continue;
		}
		assert_int_equal(check(), GATE_WORD);
		assert_true(gate.where >= at);
		for (unsigned lie = 0; lie < 6; lie++) {
			bool may;

			make_order();
			order.runtime ^= lie == 0;
			order.file_limit ^= lie == 1;
			order.root_count = (uint16_t)(order.root_count + (lie == 2) - (lie == 3));
			order.env_count = (uint16_t)(order.env_count + (lie == 4) - (lie == 5));
			may = count == 2 && ((lie == 0 && strcmp(words[0], "--runtime") == 0) ||
			                     (lie == 4 && strcmp(words[0], "--env") == 0));
			if (gate_check(&gate, &order, &known) == GATE_OK) {
				assert_true(may);
				++*taken;
			}
			cases++;
		}
		cases++;
	}
	return cases;
}

/* Puts an option in the place of as many words. */
static size_t overwrite(const struct launch *from, const char *const *words, unsigned count)
{
	size_t cases = 0;

	for (unsigned at = 0; at + count <= image_at(from) + 1; at++) {
		start_from(from);
		for (unsigned k = 0; k < count; k++)
			l.argv.at[at + k] = words[k];
		cases += agrees_with_rules(from);
	}
	return cases;
}

static void no_other_option_passes(void **state)
{
	size_t cases = 0;
	size_t taken = 0;

	(void)state;
	for (size_t g = 0; g < COUNT_OF(good); g++) {
		for (size_t i = 0; i < COUNT_OF(options); i++) {
			for (unsigned way = 0; way < 2; way++) {
				const char *words[2];
				const unsigned count = spell(&options[i], way, words);

				cases += try_option(good[g], words, count, &taken);
				cases += overwrite(good[g], words, count);
			}
		}
	}
	print_message("options put in: %zu spellings at every place, %zu cases; %zu times a "
	              "--runtime or --env that was counted\n",
	              2 * COUNT_OF(options), cases, taken);
	assert_true(taken > 0);
}

/* Numbers, each at its bounds and one beyond, with the argv that says so. */

enum width { W32, W64 };

static const struct number {
	const char *name;
	enum width width;
	void *at;
	uint64_t least, most;
	enum gate_result refusal; /* GATE_WORD: argv says the number */
} numbers[] = {
	{"uid", W32, &l.uid, 1, 2147483647, GATE_WORD},
	{"gid", W32, &l.gid, 1, 2147483647, GATE_WORD},
	{"revision", W64, &l.revision, 0, 9007199254740991, GATE_WORD},
	{"memory_bytes", W64, &l.limits.memory_bytes, 67108864, 1099511627776, GATE_WORD},
	{"nano_cpus", W64, &l.limits.nano_cpus, 10000000, 1024000000000, GATE_WORD},
	{"tmpfs_bytes", W64, &l.limits.tmpfs_bytes, 4096, 1099511627776, GATE_WORD},
	{"shm_bytes", W64, &l.limits.shm_bytes, 4096, 1099511627776, GATE_WORD},
	{"file_bytes", W64, &l.limits.file_bytes, 0, 1099511627776, GATE_WORD},
	{"turn_bytes", W64, &l.limits.turn_bytes, 1024, 2097152, GATE_NUMBER},
	{"pids", W32, &l.limits.pids, 8, 4194304, GATE_WORD},
	{"nofile", W32, &l.limits.nofile, 16, 1048576, GATE_WORD},
	{"turn_seconds", W32, &l.limits.turn_seconds, 0, 600, GATE_NUMBER},
	{"lock_seconds", W32, &l.limits.lock_seconds, 0, 600, GATE_NUMBER},
	{"control_seconds", W32, &l.limits.control_seconds, 1, 300, GATE_NUMBER},
	{"remove_seconds", W32, &l.limits.remove_seconds, 1, 600, GATE_NUMBER},
};

static enum gate_result judge_number(const struct launch *from, const struct number *number,
                                     uint64_t value)
{
	start_from(from);
	if (number->width == W64)
		*(uint64_t *)number->at = value;
	else
		*(uint32_t *)number->at = (uint32_t)value;
	return judge();
}

static void numbers_are_bounded(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(numbers); i++) {
		const struct number *n = &numbers[i];
		const uint64_t middle = n->least + (n->most - n->least) / 2;

		if (judge_number(&session, n, n->least) != GATE_OK ||
		    judge_number(&session, n, n->least + 1) != GATE_OK ||
		    judge_number(&session, n, middle) != GATE_OK ||
		    judge_number(&session, n, n->most) != GATE_OK)
			fail_msg("%s: a value in range was refused", n->name);
		if (n->least > 0 && (judge_number(&session, n, n->least - 1) != n->refusal ||
		                     judge_number(&session, n, 0) != n->refusal))
			fail_msg("%s: a value too small was taken", n->name);
		if (judge_number(&session, n, n->most + 1) != n->refusal ||
		    judge_number(&session, n, UINT64_MAX) != n->refusal)
			fail_msg("%s: a value too great was taken", n->name);
	}
}

/* --ulimit fsize=0:0 is no limit's way to be said. */
static void file_limits_are_not_zero(void **state)
{
	(void)state;
	start_from(&session);
	for (unsigned at = 0; at < l.argv.count; at++)
		if (strcmp(l.argv.at[at], "fsize=1048576:1048576") == 0)
			l.argv.at[at] = "fsize=0:0";
	assert_int_equal(check(), GATE_WORD);
}

static void turns_have_tighter_numbers(void **state)
{
	(void)state;
	start_from(&turn);
	l.limits.turn_seconds = 1;
	assert_int_equal(judge(), GATE_OK);
	l.limits.turn_seconds = 600;
	assert_int_equal(judge(), GATE_OK);
	l.limits.turn_seconds = 0;
	assert_int_equal(judge(), GATE_NUMBER);
	start_from(&turn);
	l.revision = 1;
	assert_int_equal(judge(), GATE_WORD);
	start_from(&turn);
	l.session = "s";
	assert_int_equal(judge(), GATE_WORD);
	start_from(&session);
	l.session = "";
	assert_int_equal(judge(), GATE_WORD);
}

/* The order of one run is none for another. */
static void known_facts_must_agree(void **state)
{
	static const char *const other[] = {"", "0", "00112233445566778899aabbccddeefe",
	                                    "00112233445566778899AABBCCDDEEFF",
	                                    "00112233445566778899aabbccddeeff0"};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(other); i++) {
		start_from(&turn);
		known.nonce_hex = other[i];
		refused(GATE_WORD, 12);
		start_from(&turn);
		known.state_id = other[i];
		refused(GATE_WORD, 10);
	}
	start_from(&turn);
	known.mode = "session";
	refused(GATE_WORD, 14);
	start_from(&session);
	known.mode = "turn";
	refused(GATE_NUMBER, 0); /* no deadline, four mounts */
	l.limits.turn_seconds = 1;
	l.root_count = 2;
	write_label();
	write_argv();
	refused(GATE_WORD, 14);
	for (size_t g = 0; g < COUNT_OF(good); g++) {
		start_from(good[g]);
		known.endpoint = good[1 - g]->endpoint;
		refused(GATE_WORD, 2);
		known.endpoint = "";
		refused(GATE_WORD, 2);
	}
}

/* A frame with a count beyond its array cannot be decoded; the gate does not
 * rely on it. */
static void counts_are_bounded(void **state)
{
	uint16_t *const counts[] = {&order.root_count, &order.env_count, &order.argv.count};
	static const uint16_t most[] = {ROOTS_MAX, ENV_MAX + 1, ARGV_MAX};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(counts); i++) {
		start_from(&session);
		make_order();
		*counts[i] = (uint16_t)(most[i] + 1);
		assert_int_equal(gate_check(&gate, &order, &known), GATE_NUMBER);
		*counts[i] = UINT16_MAX;
		assert_int_equal(gate_check(&gate, &order, &known), GATE_NUMBER);
		*counts[i] = most[i]; /* in bounds, but not what argv has */
		if (i < 2)
			assert_int_equal(gate_check(&gate, &order, &known), GATE_WORD);
	}
	start_from(&session);
	l.env_count = 0;
	assert_int_equal(judge(), GATE_NUMBER);
}

static char names[ENV_MAX + 2][32];

/* As many environment entries and command words as there may be. */
static void fill_lists(void)
{
	for (unsigned i = 1; i < ENV_MAX + 1; i++) {
		(void)snprintf(names[i], sizeof names[i], "N%u=%u", i, i);
		l.env[i] = names[i];
	}
	l.env_count = ENV_MAX + 1;
	for (unsigned i = 0; i < WORDS_MAX; i++)
		l.command.at[i] = i % 2 == 0 ? "" : "--privileged";
	l.command.count = WORDS_MAX;
}

static void full_lists_pass(void **state)
{
	(void)state;
	start_from(&turn);
	fill_lists();
	assert_int_equal(judge(), GATE_OK);
	add("one more");
	refused(GATE_WORD, l.argv.count - 1U);
	l.command.count = 0;
	assert_int_equal(judge(), GATE_OK);
}

/* Strings: good and bad ones, with the argv and label that carry them. */

static char filler[PATH_BYTES_MAX + 2];

/* text, then as many bytes as make len. */
static const char *filled(const char *text, char with, size_t len)
{
	memset(filler, with, sizeof filler - 1);
	memcpy(filler, text, strlen(text));
	filler[len] = '\0';
	return filler;
}

static enum gate_result judge_string(const struct launch *from, const char **at, const char *value)
{
	start_from(from);
	*at = value;
	return judge();
}

/* A refused word is the one that carries the value: the first that is another
 * than before, but for the label, which the paths are in as well. */
static void named_word(const char *value)
{
	unsigned at = 0;

	while (strcmp(l.argv.at[at], session.argv.at[at]) == 0 || at == 20)
		at++;
	if (gate.where != at)
		fail_msg("\"%s\": word %u instead of %u", value, gate.where, at);
}

static void strings(const char **at, const char *const *values, size_t count,
                    enum gate_result want)
{
	for (size_t i = 0; i < count; i++) {
		const enum gate_result have = judge_string(&session, at, values[i]);

		if (have != want)
			fail_msg("\"%s\": %d instead of %d", values[i], have, want);
		if (have == GATE_WORD)
			named_word(values[i]);
	}
}

#define TAKEN(at, ...)                                                                           \
	strings(at, (const char *const[]){__VA_ARGS__},                                          \
	        sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *), GATE_OK)
#define REFUSED(result, at, ...)                                                                 \
	strings(at, (const char *const[]){__VA_ARGS__},                                          \
	        sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *), result)

static void container_names(void **state)
{
	(void)state;
	TAKEN(&l.name, "a", "0", "a-b_c.d", "cofferdam-00112233445566778899aabbccddeeff");
	REFUSED(GATE_WORD, &l.name, "", "-a", "_a", ".a", "A", "aB", "a b", "a/b", "a,b", "a\n",
	        "a=b", "\xff", "\xc3\xa9", "--privileged", "a:b", "a\"");
	assert_int_equal(judge_string(&session, &l.name, filled("", 'a', 91)), GATE_OK);
	assert_int_equal(judge_string(&session, &l.name, filled("", 'a', 92)), GATE_WORD);
}

static void session_keys(void **state)
{
	(void)state;
	TAKEN(&l.session, "s", "s-1", "a=b", "a b", "../x", "$(x)", "user@host:1/2", "~");
	REFUSED(GATE_WORD, &l.session, "-s", "--rm", "a,b", "a\"b", "a\\b", "a\nb", "a\tb", "\x7f",
	        "\xff", "\xc3\xa9");
	assert_int_equal(judge_string(&session, &l.session, filled("", 'k', 128)), GATE_OK);
	assert_int_equal(judge_string(&session, &l.session, filled("", 'k', 129)), GATE_WORD);
}

static void runtimes(void **state)
{
	(void)state;
	TAKEN(&l.runtime, "runc", "io.containerd.runc.v2", "kata-fc", "0", NULL);
	REFUSED(GATE_WORD, &l.runtime, "", "-r", "/usr/bin/runc", "runc ", "ru nc", "Runc", "a,b",
	        "a\n", "\xff");
	assert_int_equal(judge_string(&session, &l.runtime, filled("", 'r', 64)), GATE_OK);
	assert_int_equal(judge_string(&session, &l.runtime, filled("", 'r', 65)), GATE_WORD);
}

static void image_ids(void **state)
{
	(void)state;
	TAKEN(&l.image_id, "sha256:" HEX64);
	REFUSED(GATE_WORD, &l.image_id, "", "sha256:", HEX64, "debian:12", "sha256:" HEX64 "0",
	        "SHA256:" HEX64, "sha512:" HEX64, "sha256:" HEX64 " ", " sha256:" HEX64, "--privileged",
	        "sha256:0123456789ABCDEF0123456789abcdef0123456789abcdef0123456789abcdef",
	        "sha256:g123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
	        "sha256:123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
	        "debian@sha256:" HEX64);
}

static void entrypoints(void **state)
{
	(void)state;
	TAKEN(&l.entrypoint, "node", "/bin/sh", "a b", "a,b", "\xc3\xa9", "a-b");
	REFUSED(GATE_WORD, &l.entrypoint, "", "-", "-c", "--privileged", "a\n", "a\tb", "\x01",
	        "a\x7f", "\xff", "a\xc3");
}

static void workdirs(void **state)
{
	static char path[PATH_BYTES_MAX + 2];

	(void)state;
	TAKEN(&l.workdir, "/", "/workspace", "/tmp", "/tmp/home", "/process", "/devel/x", "/system",
	      "/a b", "/...", "/a,b", "/a\"b", "/a\\b", "/\xc3\xa9");
	REFUSED(GATE_WORD, &l.workdir, "", ".", "workspace", "./x", "/proc", "/proc/self/fd/7", "/sys",
	        "/sys/fs", "/dev", "/dev/shm", "//", "/a/", "/a//b", "/.", "/a/..", "/../proc",
	        "/a/./b", "/a\nb", "/\xff", "-w", "C:\\");
	for (size_t i = 0; i < sizeof path - 1; i++)
		path[i] = i % 200 == 0 ? '/' : 'w';
	assert_int_equal(judge_string(&session, &l.workdir, path), GATE_WORD);
	path[PATH_BYTES_MAX] = '\0';
	assert_int_equal(judge_string(&session, &l.workdir, path), GATE_OK);
}

static void command_words(void **state)
{
	(void)state;
	start_from(&turn);
	l.command.count = 4;
	l.command.at[0] = "";
	l.command.at[1] = "--privileged";
	l.command.at[2] = "if a\n\tthen \"b\", \\c\nfi";
	l.command.at[3] = "\xf0\x9f\x98\x80";
	assert_int_equal(judge(), GATE_OK);
	for (unsigned c = 1; c < 256; c++) {
		const char word[] = {'a', (char)c, 'b', '\0'};
		const bool ok = (c >= 0x20 && c < 0x7f) || c == '\n' || c == '\t';

		start_from(&turn);
		l.command.at[1] = word;
		assert_int_equal(judge(), ok ? GATE_OK : GATE_WORD);
		if (!ok)
			assert_int_equal(gate.where, l.argv.count - 1U);
	}
}

static void environment(void **state)
{
	(void)state;
	TAKEN(&l.env[1], "A=", "a=b", "_=1", "A1_b=c d,e\"f'\\$(x)", "A==", "HOMER=1", "HOM=2",
	      "U=\xc3\xa9", "home=x");
	REFUSED(GATE_WORD, &l.env[1], "", "A", "=", "=b", "1A=b", "A-B=c", "A B=c", "A.B=c", " A=b",
	        "A=b\n", "A=\tb", "A=\x7f", "A=\xff", "\xc3\xa9=b", "HOME=/tmp/home", "HOME=/x", "HOME=",
	        "-e=x", "--privileged");
	REFUSED(GATE_WORD, &l.env[0], "HOME=/tmp", "HOME=/tmp/home/", "HOME=", "HOME", "B=/tmp/home",
	        "home=/tmp/home", "");
	start_from(&session); /* the second of two is named */
	l.env[1] = "LAST=again";
	assert_int_equal(judge(), GATE_WORD);
	assert_string_equal(l.argv.at[gate.where], "LAST=b=c");
	start_from(&session); /* HOME, but not in front */
	l.env[0] = "B=1";
	l.env[1] = "HOME=/tmp/home";
	assert_int_equal(judge(), GATE_WORD);
	start_from(&session);
	l.env[1] = l.env[2];
	assert_int_equal(judge(), GATE_WORD);
}

static void endpoints(void **state)
{
	static const char *const fine[] = {"unix:///run/docker.sock", "unix:///a", "unix:///s/./x"};

	(void)state;
	TAKEN(&l.endpoint, "unix:///run/docker.sock", "unix:///a", "unix:///srv/docker.sock",
	      "unix:///srv/ws2", "unix:///srv/w");
	REFUSED(GATE_WORD, &l.endpoint, "", "unix://", "unix:///", "unix:/run/docker.sock",
	        "unix://run/docker.sock", "UNIX:///run/docker.sock", "unix:////run/docker.sock",
	        "unix:///run//docker.sock", "unix:///run/../docker.sock", "unix:///run/docker.sock/",
	        "unix:///run/./x", "tcp://127.0.0.1:2375", "ssh://host", "fd://", "npipe:////./pipe/x",
	        "http+unix:///x", "/run/docker.sock", " unix:///x", "unix:///x\n", "unix:///x\x7f",
	        "unix:///a,b", "unix:///a\"b", "unix:///\xff", "-unix:///x");
	/* inside a root, a root itself, around a root */
	REFUSED(GATE_ROOT, &l.endpoint, "unix:///srv/ws/docker.sock", "unix:///srv/g2/a/b",
	        "unix:///srv/ws", "unix:///srv", "unix:///opt/hands.js", "unix:///opt");
	assert_int_equal(judge_string(&session, &l.endpoint, "unix:///srv/g2/a"), GATE_ROOT);
	assert_int_equal(gate.where, 2);
	assert_int_equal(judge_string(&session, &l.endpoint, filled("unix:///", 's', 7 + 107)), GATE_OK);
	assert_int_equal(judge_string(&session, &l.endpoint, filled("unix:///", 's', 7 + 108)),
	                 GATE_WORD);
	assert_true(gate_endpoint(fine[0]));
	assert_true(gate_endpoint(fine[1]));
	assert_false(gate_endpoint(fine[2]));
	assert_false(gate_endpoint("unix:///run/docker.sock "
	                           ",x"));
	assert_false(gate_endpoint(filled("unix:///", 's', 7 + 108)));
	assert_true(gate_endpoint(filled("unix:///", 's', 7 + 107)));
}

/* As they stand alone, of cofferdam stop. */
static void session_keys_alone(void **state)
{
	(void)state;
	assert_true(gate_session_key("s"));
	assert_true(gate_session_key("chat #1 = a-b"));
	assert_true(gate_session_key(" "));
	assert_true(gate_session_key(filled("", 's', 128)));
	assert_false(gate_session_key(filled("", 's', 129)));
	assert_false(gate_session_key(""));
	assert_false(gate_session_key("-s"));
	assert_false(gate_session_key("a,b"));
	assert_false(gate_session_key("a\"b"));
	assert_false(gate_session_key("a\\b"));
	assert_false(gate_session_key("a\n"));
	assert_false(gate_session_key("\xc3\xa4"));
}

static void image_references(void **state)
{
	static const char *const fine[] = {
		"debian", "debian:12", "localhost:5000/a/b_c:T-1.x", "a@sha256:" HEX64, "sha256:" HEX64,
		"0", "Z", "[::1]:5000/x", "[fe80::1]/a/b:1", "[2001:db8::33]:80/x@sha256:" HEX64,
		"a@sha512+b64:" HEX64, "library/a__b-c.d", "Reg.Example:1/x:V1.0_rc-2"};
	static const char *const foul[] = {
		"", "-a", "--privileged", "_a", ".a", "/a", ":a", "@a", "+a", "]a", "a b", " a", "a\n",
		"a,b", "a\"b", "a;b", "a$b", "a=b", "a{b", "a%b", "a~b", "a^b", "a`b", "a'b", "\xc3\xa9",
		"a\xff", "a\x7f", "a\\b", "[::1]:5000/x -v"};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(fine); i++)
		assert_true(gate_image_reference(fine[i]));
	for (size_t i = 0; i < COUNT_OF(foul); i++)
		assert_false(gate_image_reference(foul[i]));
	assert_true(gate_image_reference(filled("", 'a', 512)));
	assert_false(gate_image_reference(filled("", 'a', 513)));
}

/* Whatever policy takes for a reference: each text of up to five bytes, alone and
 * in front of a name, a digest behind. */
static bool next_text(char *text, size_t len, const char *alphabet);

static void policys_references_are_taken(void **state)
{
	char text[6] = "";
	char longer[200];
	size_t taken = 0;

	(void)state;
	do {
		(void)snprintf(longer, sizeof longer, "%s/x@sha256:" HEX64, text);
		if (image_reference(text, strlen(text))) {
			assert_true(gate_image_reference(text));
			taken++;
		}
		if (image_reference(longer, strlen(longer))) {
			assert_true(gate_image_reference(longer));
			taken++;
		}
	} while (next_text(text, 5, "aZ0[:]./_-+@"));
	print_message("references that policy takes, and the gate: %zu\n", taken);
	assert_true(taken > 1000);
	assert_true(image_reference("[::1]:5000/x", 12));
}

/* Roots. */

static void root_paths(void **state)
{
	(void)state;
	TAKEN(&l.root[1].path, "/a", "/srv/g", "/srv/ws2", "/srv/w", "/srv/g1 ", "/a:b", "/a=b", "/-x",
	      "/...", "/.x", "/a'b", "/..a/b", "/source=b");
	REFUSED(GATE_WORD, &l.root[1].path, "", "/", "a", "./a", "//", "//a", "/a/", "/a//b", "/.",
	        "/..", "/a/.", "/a/..", "/a/../b", "/./a", "/a\nb", "/a\n", "/a\r", "/a\tb", "/a\x1f",
	        "/a\x7f", "/a,b", "/a,readonly=false", "/a,target=/x", "/a\"b", "/\xff", "/a\xc0\xafz",
	        "/\xed\xa0\x80", "/a\xe2\x82", "-v/:/host", "unix:///a", "readonly,source=/a");
}

static void long_root_paths(void **state)
{
	static char path[PATH_BYTES_MAX + 2];

	(void)state;
	for (size_t i = 0; i < sizeof path - 1; i++)
		path[i] = i % 200 == 0 ? '/' : 'p';
	assert_int_equal(judge_string(&session, &l.root[1].path, path), GATE_WORD);
	path[PATH_BYTES_MAX] = '\0';
	assert_int_equal(judge_string(&session, &l.root[1].path, path), GATE_OK);
}

static void roots_are_disjoint(void **state)
{
	(void)state;
	REFUSED(GATE_ROOT, &l.root[1].path, "/srv/ws", "/srv/ws/a", "/srv/ws/a/b", "/srv", "/srv/g2",
	        "/opt", "/opt/hands.js", "/opt/hands.js/x");
	/* The later one of the two is named. */
	start_from(&session);
	l.root[2].path = "/srv/ws/x";
	write_label();
	write_argv();
	refused(GATE_ROOT, 2);
	/* Another name for the same object. */
	start_from(&session);
	l.root[2].ino = l.root[0].ino;
	assert_int_equal(judge(), GATE_ROOT);
	l.root[2].dev = 77;
	assert_int_equal(judge(), GATE_OK);
}

static void session_guests(void **state)
{
	(void)state;
	TAKEN(&l.root[1].guest, "/grants/" HEX64);
	REFUSED(GATE_WORD, &l.root[1].guest, "", "/", "/grants/", "/grants//" HEX64, "grants/" HEX64,
	        "/grants/" HEX64 "\n", "/grants/" HEX64 ",readonly", "/grants/" HEX64 "/",
	        "/grants/" HEX64 "\"");
	REFUSED(GATE_ROOT, &l.root[1].guest, "/workspace", "/workspace/a", "/broker", "/grants",
	        "/grants/a", "/grants/" HEX64_B, "/grants/" HEX64 "0", "/grants/" HEX64 "/a",
	        "/Grants/" HEX64, "/etc", "/tmp", "/proc",
	        "/grants/0123456789ABCDEF0123456789abcdef0123456789abcdef0123456789abcdef",
	        "/grants/123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef");
	/* Every mode may be had, and the workspace is not a must. */
	start_from(&session);
	l.root[0].read_only = true;
	l.root[1].read_only = false;
	assert_int_equal(judge(), GATE_OK);
	start_from(&session);
	l.root_count = 1;
	assert_int_equal(judge(), GATE_OK);
	l.root_count = 0;
	assert_int_equal(judge(), GATE_OK);
	assert_string_equal(l.roots_label, "[]");
}

static void turn_guests(void **state)
{
	(void)state;
	start_from(&turn); /* in the other order */
	l.root[0] = turn.root[1];
	l.root[1] = turn.root[0];
	assert_int_equal(judge(), GATE_OK);
	start_from(&turn);
	l.root[0].read_only = false;
	assert_int_equal(judge(), GATE_ROOT);
	start_from(&turn);
	l.root[1].read_only = true;
	assert_int_equal(judge(), GATE_ROOT);
	start_from(&turn);
	l.root[0].read_only = false;
	l.root[0].guest = "/workspace";
	assert_int_equal(judge(), GATE_ROOT);
	start_from(&turn);
	l.root[1].read_only = true;
	l.root[1].guest = "/broker";
	assert_int_equal(judge(), GATE_ROOT);
	start_from(&turn);
	l.root[1].guest = "/grants/" HEX64;
	assert_int_equal(judge(), GATE_ROOT);
}

static void turns_have_two_directories(void **state)
{
	const struct root bundle = {"/opt/b.js", "/opt/b.js", true, true, 8, 40};

	(void)state;
	start_from(&turn);
	l.root[2] = bundle;
	l.root_count = 3;
	assert_int_equal(judge(), GATE_OK);
	l.root[2].read_only = false;
	assert_int_equal(judge(), GATE_ROOT);
	assert_int_equal(gate.where, 2);
	l.root[2] = bundle;
	l.root[2].guest = "/grants/" HEX64; /* a session's may be writable */
	assert_int_equal(judge(), GATE_OK);
	l.root[2].read_only = false;
	assert_int_equal(judge(), GATE_ROOT);
	assert_int_equal(gate.where, 2);
	l.root[2] = bundle;
	l.root[3] = bundle;
	l.root_count = 4;
	assert_int_equal(judge(), GATE_NUMBER);
	l.root_count = 1;
	assert_int_equal(judge(), GATE_NUMBER);
	l.root_count = 0;
	assert_int_equal(judge(), GATE_NUMBER);
	l.root[1] = bundle; /* the file is not one of them */
	l.root_count = 2;
	assert_int_equal(judge(), GATE_ROOT);
	assert_int_equal(gate.where, 1);
}

static void bundles(void **state)
{
	(void)state;
	TAKEN(&l.root[3].guest, "/opt/x", "/x", "/workspace2", "/grant", "/tmpx", "/devel");
	REFUSED(GATE_WORD, &l.root[3].guest, "", "/", "x", "/opt/", "/opt//x", "/opt/../x", "/a,b",
	        "/a\"b", "/a\nb", "/\xff");
	REFUSED(GATE_ROOT, &l.root[3].guest, "/tmp", "/tmp/x", "/tmp/home/x", "/proc", "/proc/x",
	        "/sys", "/sys/x", "/dev", "/dev/x", "/workspace", "/workspace/x", "/grants",
	        "/grants/" HEX64, "/grants/" HEX64 "/x");
	assert_int_equal(judge_string(&session, &l.root[3].guest, filled("/", 'b', 255)), GATE_OK);
	assert_int_equal(judge_string(&session, &l.root[3].guest, filled("/", 'b', 256)), GATE_WORD);
	/* read-only, the last one, the only one */
	start_from(&session);
	l.root[3].read_only = false;
	assert_int_equal(judge(), GATE_ROOT);
	start_from(&session);
	l.root[2] = session.root[3];
	l.root[3] = session.root[2];
	assert_int_equal(judge(), GATE_ROOT);
	assert_int_equal(gate.where, 2);
	start_from(&session);
	l.root[2].guest = "/opt/x";
	l.root[2].read_only = true;
	assert_int_equal(judge(), GATE_ROOT);
	assert_int_equal(gate.where, 2);
}

static char paths[ROOTS_MAX][32];
static char guests[ROOTS_MAX][80];

static void fill_roots(void)
{
	for (unsigned i = 0; i < ROOTS_MAX; i++) {
		(void)snprintf(paths[i], sizeof paths[i], "/data/%u", i);
		(void)snprintf(guests[i], sizeof guests[i], "/grants/%064x", i);
		l.root[i] = (struct root){paths[i], guests[i], i % 2 == 0, false, 8, 100 + i};
	}
}

/* 32 mounts and the bundle pass, 33 mounts do not. */
static void sessions_have_32_mounts(void **state)
{
	(void)state;
	start_from(&session);
	fill_roots();
	l.root_count = MOUNTS_MAX;
	assert_int_equal(judge(), GATE_OK);
	l.root_count = MOUNTS_MAX + 1;
	assert_int_equal(judge(), GATE_ROOT);
	assert_int_equal(gate.where, MOUNTS_MAX);
	l.root[MOUNTS_MAX] = session.root[3];
	assert_int_equal(judge(), GATE_OK);
}

/* With every list full and every word that may be left out, argv has its most words. */
static void the_longest_argv_passes(void **state)
{
	(void)state;
	start_from(&session);
	fill_lists();
	fill_roots();
	l.root[MOUNTS_MAX] = session.root[3];
	l.root_count = ROOTS_MAX;
	assert_int_equal(judge(), GATE_OK);
	assert_int_equal(l.argv.count, ARGV_MAX);
}

/* The label must be the text that the mounts call for. */
static void roots_labels(void **state)
{
	static const char *const foul[] = {
		"",
		"[]",
		"[",
		TURN_ROOTS " ",
		TURN_ROOTS TURN_ROOTS,
		"[{\"path\":\"/srv/broker\",\"mode\":\"ro\"}]",
		"[{\"path\":\"/srv/broker\",\"mode\":\"rw\"},{\"path\":\"/srv/work\",\"mode\":\"rw\"}]",
		"[{\"path\":\"/srv/work\",\"mode\":\"rw\"},{\"path\":\"/srv/broker\",\"mode\":\"ro\"}]",
		"[{\"mode\":\"ro\",\"path\":\"/srv/broker\"},{\"path\":\"/srv/work\",\"mode\":\"rw\"}]",
		"[{\"path\":\"\\/srv/broker\",\"mode\":\"ro\"},{\"path\":\"/srv/work\",\"mode\":\"rw\"}]",
		"[{\"path\":\"/srv/broker\",\"mode\":\"ro\"},{\"path\":\"/srv/work\",\"mode\":\"rw\"}",
		"[{\"path\":\"/srv/broker\",\"mode\":\"ro\"},{\"path\":\"/srv/work\",\"mode\":\"rw\"},]",
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(foul); i++) {
		start_from(&turn);
		l.roots_label = foul[i];
		assert_int_equal(check_written(), GATE_LABEL);
	}
}

static void roots_labels_are_ascii(void **state)
{
	(void)state;
	start_from(&turn);
	l.root[0].path = "/\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\\";
	l.roots_label = "[{\"path\":\"/\\u00e9\\u20ac\\ud83d\\ude00\\\\\",\"mode\":\"ro\"},"
	                "{\"path\":\"/srv/work\",\"mode\":\"rw\"}]";
	assert_int_equal(check_written(), GATE_OK);
	assert_int_equal(judge(), GATE_LABEL); /* raw bytes */
}

/* Sixteen read-only roots stand in 385 bytes of label around their paths. */
static void roots_label_is_bounded(void **state)
{
	static char path[16][PATH_BYTES_MAX + 1];
	const size_t last = ROOTS_LABEL_MAX - 385 - 15 * PATH_BYTES_MAX;

	(void)state;
	start_from(&session);
	for (unsigned i = 0; i < COUNT_OF(path); i++) {
		for (size_t at = 0; at < PATH_BYTES_MAX; at++)
			path[i][at] = at % 200 == 0 ? '/' : (char)('a' + i);
		(void)snprintf(guests[i], sizeof guests[i], "/grants/%064x", i);
		l.root[i] = (struct root){path[i], guests[i], true, false, 8, 100 + i};
	}
	l.root_count = COUNT_OF(path);
	path[15][last] = '\0';
	assert_int_equal(judge(), GATE_OK);
	assert_int_equal(strlen(l.roots_label), ROOTS_LABEL_MAX);
	arena_used = 0;
	path[15][last] = 'p';
	path[15][last + 1] = '\0';
	assert_int_equal(judge(), GATE_LABEL);
}

/* The small rules on their own, over small scopes completely. */

static struct hole hole_of(const char *word)
{
	return (struct hole){.word = word, .at = 0, .ok = true};
}

static struct span span_of(const char *text)
{
	return (struct span){text, strlen(text)};
}

static bool decimal_is(const char *word, uint64_t value)
{
	struct hole hole = hole_of(word);

	return holes_number(&hole, value, value) == value && holes_end(&hole);
}

static bool nano_is(const char *word, uint64_t value)
{
	struct hole hole = hole_of(word);

	holes_nano(&hole, value, value);
	return holes_end(&hole);
}

static bool json_is(const char *word, const char *text)
{
	struct hole hole = hole_of(word);

	holes_json(&hole, span_of(text));
	return holes_end(&hole);
}

static bool is_plain(const char *word)
{
	struct hole hole = hole_of(word);
	const struct span span = holes_plain(&hole, "", "");

	return holes_end(&hole) && span.at == word && span.len == strlen(word);
}

static bool is_path(const char *word)
{
	struct hole hole = hole_of(word);
	const struct span span = holes_path(&hole, PATH_BYTES_MAX);

	assert_int_equal(span.len, hole.ok ? hole.at : 0);
	return holes_end(&hole);
}

static bool below(const char *outer, const char *inner)
{
	return holes_below(span_of(outer), span_of(inner));
}

static bool overlap(const char *a, const char *b)
{
	return holes_overlap(span_of(a), span_of(b));
}

/* The next text of at most len bytes over an alphabet: false after the last.
 * Starts from "". */
static bool next_text(char *text, size_t len, const char *alphabet)
{
	size_t at = 0;

	while (at < len && text[at] == alphabet[strlen(alphabet) - 1])
		text[at++] = alphabet[0];
	if (at == len)
		return false;
	text[at] = text[at] == '\0' ? alphabet[0] : strchr(alphabet, text[at])[1];
	return true;
}

static void decimals_exhaustively(void **state)
{
	char word[5] = "";
	size_t words = 0;
	size_t equal = 0;

	(void)state;
	do {
		const uint64_t lax = strtoull(word, NULL, 10);
		char spec[24];

		for (uint64_t value = 0; value < 32; value++) {
			(void)snprintf(spec, sizeof spec, "%llu", (unsigned long long)value);
			assert_int_equal(decimal_is(word, value), strcmp(word, spec) == 0);
		}
		(void)snprintf(spec, sizeof spec, "%llu", (unsigned long long)lax);
		assert_int_equal(decimal_is(word, lax), strcmp(word, spec) == 0);
		equal += decimal_is(word, lax);
		words++;
	} while (next_text(word, 4, "0123456789+-x"));
	print_message("decimal words: %zu, of which %zu are figures\n", words, equal);
	assert_int_equal(words, 1 + 13 + 169 + 2197 + 28561);
	assert_int_equal(equal, 10000);
	assert_true(decimal_is("9999999999999999999", 9999999999999999999U));
	assert_false(decimal_is("10000000000000000000", 10000000000000000000U));
	assert_false(decimal_is("18446744073709551617", 1));
	assert_false(decimal_is("-1", UINT64_MAX));
}

static void nano_spec(char *spec, size_t room, uint64_t nano)
{
	size_t len = (size_t)snprintf(spec, room, "%llu.%09llu", (unsigned long long)nano / 1000000000,
	                              (unsigned long long)nano % 1000000000);

	while (spec[len - 1] == '0')
		spec[--len] = '\0';
	if (spec[len - 1] == '.')
		spec[len - 1] = '\0';
}

static void nanos_exhaustively(void **state)
{
	static const uint64_t edges[] = {1, 10, 999999999, 1000000000, 1000000001, 1500000000,
	                                 1024000000000, 1023999999999, 10000000, 500000000};
	char word[6] = "";
	char spec[40];
	size_t words = 0;
	size_t equal = 0;

	(void)state;
	do { /* every hundredth up to 2.5 */
		for (uint64_t nano = 0; nano <= 2500000000; nano += 10000000) {
			nano_spec(spec, sizeof spec, nano);
			assert_int_equal(nano_is(word, nano), strcmp(word, spec) == 0);
			equal += nano_is(word, nano);
		}
		words++;
	} while (next_text(word, 4, "0123456789."));
	print_message("words for cpus: %zu, of which %zu stand for one of 251 values\n", words, equal);
	assert_int_equal(equal, 251);
	for (size_t i = 0; i < COUNT_OF(edges); i++) {
		nano_spec(spec, sizeof spec, edges[i]);
		assert_true(nano_is(spec, edges[i]));
		assert_false(nano_is(spec, edges[i] + 1));
		(void)strcat(spec, "0");
		assert_false(nano_is(spec, edges[i]));
	}
}

/* A path cut at its slashes, without a look at the code under test. */
static bool path_spec(const char *path)
{
	char copy[16];
	char *part;
	char *rest = copy;

	if (path[0] != '/' || strpbrk(path, ",\"\n") != NULL)
		return false;
	(void)strcpy(copy, path + 1);
	while ((part = strsep(&rest, "/")) != NULL) {
		if (strcmp(part, "") == 0 || strcmp(part, ".") == 0 || strcmp(part, "..") == 0)
			return false;
	}
	return true;
}

static void paths_exhaustively(void **state)
{
	char path[9] = "";
	size_t words = 0;
	size_t canonical = 0;

	(void)state;
	do {
		assert_int_equal(is_path(path), path_spec(path));
		canonical += is_path(path);
		words++;
	} while (next_text(path, 8, "/.a,\n"));
	print_message("paths: %zu, of which %zu are canonical\n", words, canonical);
	assert_true(canonical > 0);
}

/* By component: with a slash behind each, containment is a common prefix. */
static bool below_spec(const char *outer, const char *inner)
{
	char a[16];
	char b[16];

	(void)snprintf(a, sizeof a, "%s/", outer);
	(void)snprintf(b, sizeof b, "%s/", inner);
	return strncmp(a, b, strlen(a)) == 0;
}

static void containment_exhaustively(void **state)
{
	char a[6] = "";
	size_t pairs = 0;
	size_t inside = 0;

	(void)state;
	do {
		char b[6] = "";

		if (!path_spec(a))
			continue;
		do {
			if (!path_spec(b))
				continue;
			assert_int_equal(below(a, b), below_spec(a, b));
			assert_int_equal(overlap(a, b), below_spec(a, b) || below_spec(b, a));
			assert_int_equal(overlap(a, b), overlap(b, a));
			inside += below(a, b);
			pairs++;
		} while (next_text(b, 5, "/.ab"));
	} while (next_text(a, 5, "/.ab"));
	print_message("pairs of paths: %zu, of which %zu contain\n", pairs, inside);
	assert_true(inside > 0);
}

static size_t put_code_point(char *to, uint32_t code)
{
	if (code < 0x80) {
		to[0] = (char)code;
		return 1;
	}
	if (code < 0x800) {
		to[0] = (char)(0xc0 | code >> 6);
		to[1] = (char)(0x80 | (code & 0x3f));
		return 2;
	}
	if (code < 0x10000) {
		to[0] = (char)(0xe0 | code >> 12);
		to[1] = (char)(0x80 | (code >> 6 & 0x3f));
		to[2] = (char)(0x80 | (code & 0x3f));
		return 3;
	}
	to[0] = (char)(0xf0 | code >> 18);
	to[1] = (char)(0x80 | (code >> 12 & 0x3f));
	to[2] = (char)(0x80 | (code >> 6 & 0x3f));
	to[3] = (char)(0x80 | (code & 0x3f));
	return 4;
}

/* Each code point on its own: taken unless a surrogate, a control or DEL, and
 * written in JSON as one or two units. */
static void code_points_exhaustively(void **state)
{
	size_t taken = 0;

	(void)state;
	for (uint32_t code = 1; code <= 0x1fffff; code++) {
		const bool is_unicode = code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
		const bool plain = is_unicode && code >= 0x20 && code != 0x7f;
		char text[5];
		char json[16];

		text[put_code_point(text, code)] = '\0';
		assert_int_equal(is_plain(text), plain);
		taken += plain;
		if (code >= 0x10000)
			(void)snprintf(json, sizeof json, "\\u%04x\\u%04x", 0xd800 + (code - 0x10000) / 1024,
			               0xdc00 + (code - 0x10000) % 1024);
		else if (code < 0x20 || code >= 0x7f)
			(void)snprintf(json, sizeof json, "\\u%04x", code);
		else
			(void)snprintf(json, sizeof json, "%s%c", code == '"' || code == '\\' ? "\\" : "",
			               (int)code);
		assert_int_equal(json_is(json, text), is_unicode);
		if (code >= 0x80)
			assert_false(json_is(text, text));
	}
	print_message("code points: %zu are plain text\n", taken);
	assert_int_equal(taken, 0x110000 - 0x800 - 0x20 - 1);
}

/* All sequences of up to three bytes: exactly those are UTF-8 that code points
 * make.  Of four, those over the bytes at which a rule begins or ends. */
static void byte_sequences_exhaustively(void **state)
{
	static const uint8_t edge[] = {0x20, 0x7e, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf,
	                               0xc0, 0xc2, 0xdf, 0xe0, 0xed, 0xef, 0xf0, 0xf4, 0xf5, 0xff};
	size_t two = 0;
	size_t three = 0;
	size_t four = 0;

	(void)state;
	for (unsigned a = 0x80; a < 256; a++) {
		for (unsigned b = 0x80; b < 256; b++) {
			char text[5] = {(char)a, (char)b};

			two += is_plain(text);
			for (unsigned c = 0x80; c < 256; c++) {
				text[2] = (char)c;
				three += is_plain(text);
			}
		}
	}
	assert_int_equal(two, 0x800 - 0x80);
	assert_int_equal(three, 0x10000 - 0x800 - 0x800);
	for (unsigned a = 0xf0; a < 256; a++) {
		for (size_t i = 0; i < COUNT_OF(edge) * COUNT_OF(edge) * COUNT_OF(edge); i++) {
			const char text[5] = {(char)a, (char)edge[i % COUNT_OF(edge)],
			                      (char)edge[i / COUNT_OF(edge) % COUNT_OF(edge)],
			                      (char)edge[i / COUNT_OF(edge) / COUNT_OF(edge)]};

			four += is_plain(text);
		}
	}
	/* six of the edges continue; after f0 the first is 90 or more, after f4 8f or less */
	assert_int_equal(four, (4 + 6 * 3 + 2) * 36);
}

/* What is not UTF-8 has no JSON form, and what stands behind it is not reached. */
static void broken_text_has_no_json(void **state)
{
	static const char *const broken[] = {"\xff", "a\xffz", "a\xc0\xaf", "\xc0",
	                                     "a\xed\xa0\x80", "a\xe2\x82", "\x80"};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(broken); i++) {
		assert_false(json_is(broken[i], broken[i]));
		assert_false(json_is("", broken[i]));
		assert_false(json_is("a", broken[i]));
		assert_false(json_is("ab", broken[i]));
	}
	assert_true(json_is("", ""));
	assert_true(json_is("a\\\"\\\\\\u000a", "a\"\\\n"));
}

/* Each call takes what belongs to it and leaves the rest. */
static void holes_leave_the_rest(void **state)
{
	struct hole hole = hole_of("12.50x,/a/b,c");

	(void)state;
	assert_int_equal(holes_number(&hole, 0, 12), 12);
	assert_int_equal(hole.at, 2);
	holes_byte(&hole, '.');
	holes_of(&hole, "5", "0", 1, 2);
	holes_text(&hole, "x,");
	assert_true(hole.ok);
	assert_true(holes_is(holes_path(&hole, 4), "/a/b"));
	assert_int_equal(hole.at, 11);
	assert_false(holes_end(&hole));
	holes_text(&hole, ",c");
	assert_true(holes_end(&hole));
	holes_byte(&hole, 'd'); /* never past the NUL */
	assert_false(hole.ok);
	assert_int_equal(hole.at, 13);
}

/* After the first fault nothing is taken, and none of them is forgiven. */
static void faults_stick(void **state)
{
	struct hole hole = {.word = "1a/\xc3\xa9\"", .at = 0, .ok = false};

	(void)state;
	holes_byte(&hole, '1');
	holes_text(&hole, "1a");
	holes_of(&hole, DIGITS, "", 0, 9);
	(void)holes_number(&hole, 0, 9);
	holes_nano(&hole, 0, NANO_CPUS_MAX);
	assert_int_equal(holes_plain(&hole, "", "").len, 0);
	assert_int_equal(holes_path(&hole, 9).len, 0);
	holes_json(&hole, span_of("1"));
	assert_false(hole.ok);
	assert_int_equal(hole.at, 0);
	assert_false(holes_end(&hole));
}

static void classes_have_lengths(void **state)
{
	(void)state;
	for (size_t least = 0; least < 5; least++) {
		for (size_t most = least; most < 5; most++) {
			struct hole hole = hole_of("abb.");

			holes_of(&hole, "a", "b", least, most);
			assert_int_equal(hole.ok, least <= 3 && most >= 3);
			hole = hole_of("bba");
			holes_of(&hole, "a", "b", least, most);
			assert_int_equal(hole.ok, least == 0);
		}
	}
	assert_true(holes_is(span_of("ab"), "ab"));
	assert_false(holes_is(span_of("ab"), "abc"));
	assert_false(holes_is(span_of("abc"), "ab"));
	assert_false(holes_is(span_of("ab"), "aB"));
}

/* What policy builds, the gate takes. */

#define SEED 0x67617465U
#define GENERATED 4000

static uint32_t seed;

/* xorshift32 (Marsaglia 2003). */
static uint32_t random_below(uint32_t bound)
{
	seed ^= seed << 13;
	seed ^= seed >> 17;
	seed ^= seed << 5;
	return seed % bound;
}

/* The ends of a range often, anything between else. */
static uint64_t random_in(uint64_t least, uint64_t most)
{
	const uint32_t pick = random_below(8);
	const uint64_t wide = (uint64_t)random_below(UINT32_MAX) << 32 | random_below(UINT32_MAX);

	return pick == 0 ? least : pick == 1 ? most : least + wide % (most - least + 1);
}

static char words_arena[1 << 20];
static size_t words_used;

/* least to most pieces; a piece is a byte of bytes, or now and then one of the
 * code points behind it. */
static const char *random_text(const char *first, const char *bytes, bool beyond, size_t least,
                               size_t most)
{
	static const char *const points[] = {"\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80",
	                                     "\xc2\x80", "\xef\xbf\xbf"};
	const size_t len = random_in(least, most);
	char *text = words_arena + words_used;
	size_t at = 0;

	assert_true(words_used + 5 * len + 1 < sizeof words_arena);
	for (size_t i = 0; i < len; i++) {
		const char *set = i == 0 ? first : bytes;
		const char *point = points[random_below(COUNT_OF(points))];

		if (beyond && random_below(8) == 0) {
			memcpy(text + at, point, strlen(point));
			at += strlen(point);
		} else {
			text[at++] = set[random_below((uint32_t)strlen(set))];
		}
	}
	text[at] = '\0';
	words_used += at + 1;
	return text;
}

__attribute__((format(printf, 1, 2))) static const char *keep(const char *format, ...)
{
	char *text = words_arena + words_used;
	va_list arguments;
	int len;

	va_start(arguments, format);
	len = vsnprintf(text, sizeof words_arena - words_used, format, arguments);
	va_end(arguments);
	assert_true(len >= 0 && (size_t)len < sizeof words_arena - words_used);
	words_used += (size_t)len + 1;
	return text;
}

#define SAFE LETTERS DIGITS " !#$%&'()*+-.:;<=>?@[]^_`{|}~" /* less , " \ and / */
#define NAMED LOWER DIGITS "_.-"

static const char *random_hex(void)
{
	return random_text(HEX, HEX, false, 64, 64);
}

static void random_roots(bool bundle)
{
	const unsigned mounts = l.mode == MODE_TURN ? 2 : random_below(MOUNTS_MAX + 1);
	const unsigned first = random_below(2);

	for (unsigned i = 0; i < mounts; i++) {
		const bool turns = l.mode == MODE_TURN;
		const bool read_only = turns ? i == first : random_below(2) == 0;
		const char *guest = read_only ? "/broker" : "/workspace";

		if (!turns)
			guest = i == first ? "/workspace" : keep("/grants/%s", random_hex());
		l.root[i] = (struct root){
			keep("/r%u/%s", i, random_text(SAFE "\\", SAFE "\\", true, 3, 40)), guest,
			read_only, false, random_in(0, UINT64_MAX - 1), i};
	}
	l.root_count = (uint16_t)(mounts + bundle);
	if (bundle)
		l.root[mounts] = (struct root){
			keep("/b/%s", random_text(SAFE "\\", SAFE "\\", true, 3, 40)),
			keep("/opt/%s", random_text(SAFE, SAFE, false, 3, 200)), true, true, 7, 99};
}

static void random_process(void)
{
	static const char *const workdirs[] = {"/", "/workspace", "/tmp/home"};

	l.workdir = random_below(2) == 0 ? workdirs[random_below(3)]
	                                 : keep("/w/%s", random_text(SAFE, SAFE, true, 3, 200));
	l.entrypoint = random_text(LETTERS "/", SAFE ",\"\\/", true, 1, 60);
	l.env[0] = "HOME=/tmp/home";
	l.env_count = (uint16_t)(1 + random_below(ENV_MAX + 1));
	for (unsigned i = 1; i < l.env_count; i++)
		l.env[i] = keep("%s%u=%s", random_text(LETTERS "_", LETTERS "_", false, 1, 9), i,
		                random_text(SAFE ",\"\\/", SAFE ",\"\\/", true, 0, 40));
	l.command.count = (uint16_t)random_in(0, WORDS_MAX);
	for (unsigned i = 0; i < l.command.count; i++)
		l.command.at[i] = random_text(SAFE ",\"\\/\n\t", SAFE ",\"\\/\n\t", true, 0, 40);
}

static void random_limits(void)
{
	struct limits *limits = &l.limits;

	limits->memory_bytes = random_in(MEMORY_BYTES_MIN, MEMORY_BYTES_MAX);
	limits->nano_cpus = random_in(NANO_CPUS_MIN, NANO_CPUS_MAX);
	limits->tmpfs_bytes = random_in(TMPFS_BYTES_MIN, TMPFS_BYTES_MAX);
	limits->shm_bytes = random_in(SHM_BYTES_MIN, SHM_BYTES_MAX);
	limits->turn_bytes = random_in(TURN_BYTES_MIN, TURN_BYTES_MAX);
	limits->pids = (uint32_t)random_in(PIDS_MIN, PIDS_MAX);
	limits->nofile = (uint32_t)random_in(NOFILE_MIN, NOFILE_MAX);
	limits->turn_seconds = (uint32_t)random_in(l.mode == MODE_TURN, TURN_SECONDS_MAX);
	limits->lock_seconds = (uint32_t)random_in(LOCK_SECONDS_MIN, LOCK_SECONDS_MAX);
	limits->control_seconds = (uint32_t)random_in(CONTROL_SECONDS_MIN, CONTROL_SECONDS_MAX);
	limits->remove_seconds = (uint32_t)random_in(REMOVE_SECONDS_MIN, REMOVE_SECONDS_MAX);
}

/* A valid launch; the bits of parts turn its optional parts on. */
static void generate(unsigned parts)
{
	words_used = 0;
	start_from((parts & 1) != 0 ? &session : &turn);
	l.uid = (uint32_t)random_in(ID_MIN, ID_MAX);
	l.gid = (uint32_t)random_in(ID_MIN, ID_MAX);
	l.init = (parts & 2) != 0;
	l.runtime = (parts & 4) != 0 ? random_text(LOWER DIGITS, NAMED, false, 1, 64) : NULL;
	random_limits();
	l.limits.file_bytes = (parts & 8) != 0 ? random_in(FILE_BYTES_MIN, FILE_BYTES_MAX) : 0;
	random_roots((parts & 16) != 0);
	random_process();
	l.name = random_text(LOWER DIGITS, NAMED, false, 1, NAME_BYTES_MAX);
	l.image_id = keep("sha256:%s", random_hex());
	l.endpoint = keep("unix:///s/%s", random_text(SAFE, SAFE, false, 3, 100));
	known.endpoint = (parts & 32) != 0 ? l.endpoint : NULL;
	if (l.mode == MODE_SESSION) {
		l.session = random_text(LETTERS " /", SAFE "/", false, 1, SESSION_KEY_BYTES_MAX);
		l.revision = random_in(0, REVISION_MAX);
	}
}

/* Each of these pairs or words once before the image. */
static void isolates(void)
{
	static const char *const pairs[][2] = {
		{"--network", "none"}, {"--cap-drop", "ALL"}, {"--ipc", "private"},
		{"--cgroupns", "private"}, {"--log-driver", "none"}, {"--restart", "no"},
		{"--pull", "never"}, {"--security-opt", "no-new-privileges:true"},
		{"--read-only", NULL}, {"--no-healthcheck", NULL}, {"--interactive", NULL}};
	static const char *const never[] = {"--privileged", "--cap-add", "--device", "--volume", "-v",
	                                    "--pid", "--uts", "--userns", "--volumes-from", "--tty"};
	const unsigned image = image_at(&l);

	for (size_t i = 0; i < COUNT_OF(pairs); i++) {
		unsigned found = 0;

		for (unsigned at = 0; at < image; at++) {
			if (strcmp(l.argv.at[at], pairs[i][0]) != 0)
				continue;
			found++;
			if (pairs[i][1] != NULL)
				assert_string_equal(l.argv.at[at + 1], pairs[i][1]);
		}
		assert_int_equal(found, 1);
	}
	for (unsigned at = 0; at < image; at++)
		for (size_t i = 0; i < COUNT_OF(never); i++)
			assert_string_not_equal(l.argv.at[at], never[i]);
}

/* Policy's builder and the gate know the one argv, each from its own table; and a
 * launch that has come through a frame is the same. */
static void policys_argv_is_taken(void **state)
{
	static char built[4 << 20];
	static uint8_t frame[FRAME_MAX];
	size_t framed = 0;

	(void)state;
	seed = SEED;
	for (unsigned round = 0; round < GENERATED; round++) {
		struct text text;
		size_t len;

		text_init(&text, built, sizeof built);
		generate(round % 64);
		l.roots_label = build_roots_label(&l, &text);
		assert_non_null(l.roots_label);
		assert_true(build_argv(&l, &text));
		if (check() != GATE_OK)
			fail_msg("round %u: %s", round,
			         gate.where < l.argv.count ? l.argv.at[gate.where] : "");
		isolates();
		len = frame_put_launch(frame, sizeof frame, &l);
		assert_true(len > 0);
		assert_int_equal(frame_get_order(frame, len, &order), FRAME_OK);
		assert_int_equal(gate_check(&gate, &order, &known), GATE_OK);
		framed += len;
		/* and one word less before the command is none */
		remove_word(random_below(image_at(&l) + 1U));
		assert_int_not_equal(check(), GATE_OK);
	}
	print_message("launches built by policy: %d, seed %#x, %zu bytes of frames\n", GENERATED, SEED,
	              framed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good_launches_pass),
		cmocka_unit_test(roots_are_handed_on),
		cmocka_unit_test(second_writer_agrees),
		cmocka_unit_test(each_word_is_needed_once),
		cmocka_unit_test(each_word_has_its_place),
		cmocka_unit_test(count_alone_is_not_enough),
		cmocka_unit_test(each_byte_counts),
		cmocka_unit_test(no_other_option_passes),
		cmocka_unit_test(numbers_are_bounded),
		cmocka_unit_test(file_limits_are_not_zero),
		cmocka_unit_test(turns_have_tighter_numbers),
		cmocka_unit_test(known_facts_must_agree),
		cmocka_unit_test(counts_are_bounded),
		cmocka_unit_test(full_lists_pass),
		cmocka_unit_test(container_names),
		cmocka_unit_test(session_keys),
		cmocka_unit_test(runtimes),
		cmocka_unit_test(image_ids),
		cmocka_unit_test(entrypoints),
		cmocka_unit_test(workdirs),
		cmocka_unit_test(command_words),
		cmocka_unit_test(environment),
		cmocka_unit_test(endpoints),
		cmocka_unit_test(session_keys_alone),
		cmocka_unit_test(image_references),
		cmocka_unit_test(policys_references_are_taken),
		cmocka_unit_test(root_paths),
		cmocka_unit_test(long_root_paths),
		cmocka_unit_test(roots_are_disjoint),
		cmocka_unit_test(session_guests),
		cmocka_unit_test(turn_guests),
		cmocka_unit_test(turns_have_two_directories),
		cmocka_unit_test(bundles),
		cmocka_unit_test(sessions_have_32_mounts),
		cmocka_unit_test(the_longest_argv_passes),
		cmocka_unit_test(roots_labels),
		cmocka_unit_test(roots_labels_are_ascii),
		cmocka_unit_test(roots_label_is_bounded),
		cmocka_unit_test(decimals_exhaustively),
		cmocka_unit_test(nanos_exhaustively),
		cmocka_unit_test(paths_exhaustively),
		cmocka_unit_test(containment_exhaustively),
		cmocka_unit_test(code_points_exhaustively),
		cmocka_unit_test(byte_sequences_exhaustively),
		cmocka_unit_test(broken_text_has_no_json),
		cmocka_unit_test(holes_leave_the_rest),
		cmocka_unit_test(faults_stick),
		cmocka_unit_test(classes_have_lengths),
		cmocka_unit_test(policys_argv_is_taken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

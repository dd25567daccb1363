/* SPDX-License-Identifier: ISC */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../policy/build.h"

#define HEX64 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define STATE "ffeeddccbbaa99887766554433221100"
#define NONCE "000102030405060708090a0b0c0d0e0f"

static char arena_bytes[262144];
static struct launch launch;
static struct text arena;

/* A turn: two mounts, nothing optional. */
static void make_turn(void)
{
	memset(&launch, 0, sizeof(launch));
	text_init(&arena, arena_bytes, sizeof(arena_bytes));
	for (unsigned i = 0; i < NONCE_BYTES; i++)
		launch.nonce[i] = (uint8_t)i;
	launch.mode = MODE_TURN;
	launch.uid = 1501;
	launch.gid = 1502;
	launch.state_id = STATE;
	launch.name = "cofferdam-" NONCE;
	launch.endpoint = "unix:///run/docker.sock";
	launch.session = "";
	launch.image_id = "sha256:" HEX64;
	launch.workdir = "/";
	launch.entrypoint = "/agent";
	launch.limits = (struct limits){
		.memory_bytes = 536870912,
		.nano_cpus = 1000000000,
		.tmpfs_bytes = 67108864,
		.shm_bytes = 16777216,
		.pids = 64,
		.nofile = 256,
	};
	launch.root_count = 2;
	launch.root[0] = (struct root){ .path = "/srv/b", .guest = "/broker", .read_only = true };
	launch.root[1] = (struct root){ .path = "/srv/w", .guest = "/workspace" };
	launch.env_count = 1;
	launch.env[0] = "HOME=/tmp/home";
	launch.roots_label = build_roots_label(&launch, &arena);
	assert_non_null(launch.roots_label);
}

/* The same with every optional part. */
static void make_session(void)
{
	make_turn();
	launch.mode = MODE_SESSION;
	launch.init = true;
	launch.session = "s one";
	launch.revision = 9007199254740991ULL;
	launch.runtime = "runsc";
	launch.workdir = "/work dir";
	launch.limits.nano_cpus = 1250000000;
	launch.limits.file_bytes = 1048576;
	launch.root_count = 3;
	launch.root[0] = (struct root){ .path = "/srv/w", .guest = "/workspace" };
	launch.root[1] = (struct root){ .path = "/srv/g", .guest = "/grants/" HEX64,
		                        .read_only = true };
	launch.root[2] = (struct root){ .path = "/srv/a.js", .guest = "/app/a.js",
		                        .read_only = true, .is_file = true };
	launch.env_count = 2;
	launch.env[1] = "A=b=c";
	launch.command.count = 2;
	launch.command.at[0] = "-x";
	launch.command.at[1] = "";
	launch.roots_label = build_roots_label(&launch, &arena);
	assert_non_null(launch.roots_label);
}

static const char *const TURN[] = {
	"docker",
	"--host",
	"unix:///run/docker.sock",
	"container",
	"create",
	"--pull",
	"never",
	"--name",
	"cofferdam-" NONCE,
	"--label",
	"dev.cofferdam.state=" STATE,
	"--label",
	"dev.cofferdam.run=" NONCE,
	"--label",
	"dev.cofferdam.mode=turn",
	"--label",
	"dev.cofferdam.session=",
	"--label",
	"dev.cofferdam.revision=0",
	"--label",
	"dev.cofferdam.roots="
	"[{\"path\":\"/srv/b\",\"mode\":\"ro\"},{\"path\":\"/srv/w\",\"mode\":\"rw\"}]",
	"--init=false",
	"--interactive",
	"--network",
	"none",
	"--read-only",
	"--cap-drop",
	"ALL",
	"--security-opt",
	"no-new-privileges:true",
	"--user",
	"1501:1502",
	"--memory",
	"536870912",
	"--memory-swap",
	"536870912",
	"--cpus",
	"1",
	"--pids-limit",
	"64",
	"--ulimit",
	"nofile=256:256",
	"--shm-size",
	"16777216",
	"--ipc",
	"private",
	"--cgroupns",
	"private",
	"--log-driver",
	"none",
	"--restart",
	"no",
	"--no-healthcheck",
	"--tmpfs",
	"/tmp:rw,noexec,nosuid,nodev,size=67108864,mode=1777",
	"--mount",
	"type=bind,readonly,source=/srv/b,target=/broker,bind-propagation=rprivate",
	"--mount",
	"type=bind,source=/srv/w,target=/workspace,bind-propagation=rprivate",
	"--env",
	"HOME=/tmp/home",
	"--workdir",
	"/",
	"--entrypoint",
	"/agent",
	"sha256:" HEX64,
};

static const char *const SESSION[] = {
	"docker",
	"--host",
	"unix:///run/docker.sock",
	"container",
	"create",
	"--pull",
	"never",
	"--name",
	"cofferdam-" NONCE,
	"--label",
	"dev.cofferdam.state=" STATE,
	"--label",
	"dev.cofferdam.run=" NONCE,
	"--label",
	"dev.cofferdam.mode=session",
	"--label",
	"dev.cofferdam.session=s one",
	"--label",
	"dev.cofferdam.revision=9007199254740991",
	"--label",
	"dev.cofferdam.roots="
	"[{\"path\":\"/srv/w\",\"mode\":\"rw\"},{\"path\":\"/srv/g\",\"mode\":\"ro\"},"
	"{\"path\":\"/srv/a.js\",\"mode\":\"ro\"}]",
	"--runtime",
	"runsc",
	"--init=true",
	"--interactive",
	"--network",
	"none",
	"--read-only",
	"--cap-drop",
	"ALL",
	"--security-opt",
	"no-new-privileges:true",
	"--user",
	"1501:1502",
	"--memory",
	"536870912",
	"--memory-swap",
	"536870912",
	"--cpus",
	"1.25",
	"--pids-limit",
	"64",
	"--ulimit",
	"nofile=256:256",
	"--ulimit",
	"fsize=1048576:1048576",
	"--shm-size",
	"16777216",
	"--ipc",
	"private",
	"--cgroupns",
	"private",
	"--log-driver",
	"none",
	"--restart",
	"no",
	"--no-healthcheck",
	"--tmpfs",
	"/tmp:rw,noexec,nosuid,nodev,size=67108864,mode=1777",
	"--mount",
	"type=bind,source=/srv/w,target=/workspace,bind-propagation=rprivate",
	"--mount",
	"type=bind,readonly,source=/srv/g,target=/grants/" HEX64 ",bind-propagation=rprivate",
	"--mount",
	"type=bind,readonly,source=/srv/a.js,target=/app/a.js,bind-propagation=rprivate",
	"--env",
	"HOME=/tmp/home",
	"--env",
	"A=b=c",
	"--workdir",
	"/work dir",
	"--entrypoint",
	"/agent",
	"sha256:" HEX64,
	"-x",
	"",
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void assert_words(const char *const *expected, size_t count)
{
	for (size_t i = 0; i < count && i < launch.argv.count; i++)
		assert_string_equal(launch.argv.at[i], expected[i]);
	assert_int_equal(launch.argv.count, count);
	assert_null(launch.argv.at[count]);
}

static void test_turn(void **state)
{
	(void)state;
	make_turn();
	/* Of what was there before, nothing stays. */
	for (size_t i = 0; i < COUNT(launch.argv.at); i++)
		launch.argv.at[i] = "before";
	launch.argv.count = 5;
	assert_true(build_argv(&launch, &arena));
	assert_words(TURN, COUNT(TURN));
	assert_null(launch.argv.at[COUNT(TURN)]);
}

static void test_session(void **state)
{
	(void)state;
	make_session();
	assert_true(build_argv(&launch, &arena));
	assert_words(SESSION, COUNT(SESSION));
}

/* check and argv do not know the image's entrypoint: then no word stands for
 * it, and all others stay. */
static void test_no_entrypoint(void **state)
{
	const char *expected[COUNT(TURN)];
	size_t count = 0;

	(void)state;
	make_turn();
	launch.entrypoint = NULL;
	assert_true(build_argv(&launch, &arena));
	for (size_t i = 0; i < COUNT(TURN); i++)
		if (strcmp(TURN[i], "--entrypoint") != 0 && strcmp(TURN[i], "/agent") != 0)
			expected[count++] = TURN[i];
	assert_int_equal(count, COUNT(TURN) - 2);
	assert_words(expected, count);
}

/* Every optional part alone adds exactly its own words. */
static void test_parts(void **state)
{
	static const struct {
		bool runtime, fsize, env, command;
		size_t words;
	} cases[] = {
		{false, false, false, false, 0}, {true, false, false, false, 2},
		{false, true, false, false, 2},  {false, false, true, false, 2},
		{false, false, false, true, 1},  {true, true, true, true, 7},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		make_turn();
		launch.runtime = cases[i].runtime ? "runc" : NULL;
		launch.limits.file_bytes = cases[i].fsize ? 1 : 0;
		launch.env[1] = "X=";
		launch.env_count = cases[i].env ? 2 : 1;
		launch.command.at[0] = "word";
		launch.command.count = cases[i].command ? 1 : 0;
		assert_true(build_argv(&launch, &arena));
		assert_int_equal(launch.argv.count, COUNT(TURN) + cases[i].words);
	}
}

/* The largest launch that the frame's arrays can hold has a place for every
 * word, and takes them all. */
static void test_largest(void **state)
{
	(void)state;
	make_session();
	launch.root_count = ROOTS_MAX;
	for (unsigned i = 0; i < ROOTS_MAX; i++)
		launch.root[i] = (struct root){ .path = "/srv/w", .guest = "/workspace" };
	launch.env_count = ENV_MAX + 1;
	for (unsigned i = 0; i < ENV_MAX + 1; i++)
		launch.env[i] = "A=b";
	launch.command.count = WORDS_MAX;
	for (unsigned i = 0; i < WORDS_MAX; i++)
		launch.command.at[i] = "w";
	assert_true(build_argv(&launch, &arena));
	/* TURN has two mounts, one environment entry and no command. */
	assert_int_equal(launch.argv.count, COUNT(TURN) - 6 + 4 + 2 * ROOTS_MAX +
	                                            2 * (ENV_MAX + 1) + WORDS_MAX);
	assert_int_equal(launch.argv.count, ARGV_MAX);
}

/* One byte less than it takes, and the argv is refused; so at every size. */
static void test_arena(void **state)
{
	size_t label;
	size_t needed;
	size_t made = 0;

	(void)state;
	make_session();
	label = arena.len;
	assert_true(build_argv(&launch, &arena));
	needed = arena.len - label;
	/* The words that were made, each with its NUL, and nothing else. */
	for (unsigned i = 0; i < launch.argv.count; i++)
		if (launch.argv.at[i] >= arena_bytes + label &&
		    launch.argv.at[i] < arena_bytes + arena.len)
			made += strlen(launch.argv.at[i]) + 1;
	assert_int_equal(made, needed);
	for (size_t cap = 0; cap < needed; cap++) {
		make_session();
		arena.cap = arena.len + cap;
		assert_false(build_argv(&launch, &arena));
	}
	make_session();
	arena.cap = arena.len + needed;
	assert_true(build_argv(&launch, &arena));
	assert_words(SESSION, COUNT(SESSION));
}

static void test_no_label(void **state)
{
	(void)state;
	make_turn();
	launch.roots_label = NULL;
	assert_false(build_argv(&launch, &arena));
}

static void test_label(void **state)
{
	(void)state;
	make_turn();
	launch.root_count = 0;
	assert_string_equal(build_roots_label(&launch, &arena), "[]");
	launch.root_count = 1;
	launch.root[0].path = "/a\\b/\xc3\xa9";
	assert_string_equal(build_roots_label(&launch, &arena),
	                    "[{\"path\":\"/a\\\\b/\\u00e9\",\"mode\":\"ro\"}]");
	arena.cap = arena.len + 2;
	assert_null(build_roots_label(&launch, &arena));
}

/* ROOTS_LABEL_MAX is inclusive: 16 roots whose paths fill the label exactly,
 * then with one byte more. */
static void test_label_bound(void **state)
{
	static char first[PATH_BYTES_MAX + 1];
	static char long_path[PATH_BYTES_MAX + 1];
	const size_t frame = strlen("{\"path\":\"\",\"mode\":\"rw\"}") + 1;
	size_t left;

	(void)state;
	make_turn();
	memset(long_path, 'a', sizeof(long_path) - 1);
	long_path[0] = '/';
	launch.root_count = 16;
	for (unsigned i = 0; i < 16; i++)
		launch.root[i] = (struct root){ .path = long_path, .guest = "/g" };
	/* "[" and "]", less the comma that the last root has not. */
	left = ROOTS_LABEL_MAX - 1 - 15 * (frame + strlen(long_path)) - frame;
	assert_true(left < PATH_BYTES_MAX);
	memset(first, 'b', left);
	first[0] = '/';
	launch.root[0].path = first;
	assert_non_null(build_roots_label(&launch, &arena));
	assert_int_equal(strlen(build_roots_label(&launch, &arena)), ROOTS_LABEL_MAX);
	first[left] = 'b';
	assert_null(build_roots_label(&launch, &arena));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_turn),          cmocka_unit_test(test_session),
		cmocka_unit_test(test_no_entrypoint), cmocka_unit_test(test_parts),
		cmocka_unit_test(test_largest),       cmocka_unit_test(test_arena),
		cmocka_unit_test(test_no_label),      cmocka_unit_test(test_label),
		cmocka_unit_test(test_label_bound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

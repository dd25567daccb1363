/* SPDX-License-Identifier: ISC */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../../executor/engine.h"

static void text_is_cut_into_lines(void **state)
{
	static const struct {
		const char *text;
		size_t count; /* 0: it has fewer than three */
		const char *line[3];
	} rows[] = {
		{"a\nb\nc\n", 3, {"a", "b", "c"}},
		{"a\nb\nc", 3, {"a", "b", "c"}},
		{"\n\n\n", 3, {"", "", ""}},
		{"\n\n", 3, {"", "", ""}},
		{"a\nb\nc\nd\n\n", 3, {"a", "b", "c\nd\n"}},
		{"a\nb", 0, {NULL, NULL, NULL}},
		{"a\n", 0, {NULL, NULL, NULL}},
		{"", 0, {NULL, NULL, NULL}},
	};
	const char *line[3];
	char text[32];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		memcpy(line, ((const char *[]){NULL, NULL, NULL}), sizeof(line));
		strcpy(text, rows[i].text);
		assert_int_equal(engine_lines(text, line, 3), rows[i].count == 3);
		for (size_t j = 0; j < 3; j++) {
			if (rows[i].line[j] == NULL)
				assert_null(line[j]);
			else
				assert_string_equal(line[j], rows[i].line[j]);
		}
	}
	strcpy(text, "one\n");
	assert_true(engine_lines(text, line, 1));
	assert_string_equal(line[0], "one");
	strcpy(text, "\n"); /* what stands before an empty text is left alone */
	assert_true(engine_lines(text + 1, line, 1));
	assert_string_equal(line[0], "");
	assert_string_equal(text, "\n");
}

static void api_versions_are_compared_by_number(void **state)
{
	static const struct {
		const char *client, *engine;
		int order; /* 9: one is not a version */
	} rows[] = {
		{"1.41", "1.41", 0},  {"1.50", "1.41", 1},  {"1.41", "1.50", -1},
		{"1.9", "1.10", -1},  {"1.10", "1.9", 1},   {"2.0", "1.99", 1},
		{"1.9999", "2.0", -1}, {"0.0", "0.1", -1},  {"1.41", "", 9},
		{"", "1.41", 9},      {"1", "1.41", 9},     {"1.41", "1.41.1", 9},
		{"v1.41", "1.41", 9}, {"1.041", "1.41", 9}, {"1.41 ", "1.41", 9},
		{"1.-1", "1.41", 9},  {"1.10000", "1.41", 9}, {"1.18446744073709551657", "1.41", 9},
		{"9999.0", "9998.9999", 1}, {"9999.0", "10000.0", 9},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int order = 5;
		bool good = engine_compare(rows[i].client, rows[i].engine, &order);

		assert_int_equal(good, rows[i].order != 9);
		assert_int_equal(order, good ? rows[i].order : 5);
	}
}

static const char *const healthy[ENGINE_LINES] = {
	[ENGINE_CLIENT] = "28.2.2",
	[ENGINE_CLIENT_API] = "1.50",
	[ENGINE_SERVER] = "20.10.24+dfsg1",
	[ENGINE_API] = "1.41",
	[ENGINE_PARTS] = "Engine containerd runc docker-init ",
	[ENGINE_SYSTEM] = "linux, Debian GNU/Linux 12 (bookworm)",
	[ENGINE_ROOT] = "/var/lib/docker",
	[ENGINE_SECURITY] = "name=apparmor name=seccomp,profile=default name=cgroupns ",
	[ENGINE_CGROUP] = "version 2, systemd",
	[ENGINE_MEMORY] = "MemoryLimit=true",
	[ENGINE_SWAP] = "SwapLimit=true",
	[ENGINE_CPU] = "CpuCfsQuota=true",
	[ENGINE_PIDS] = "PidsLimit=true",
	[ENGINE_WARNINGS] = "none",
};
static const char *const names[] = {"kind",   "seccomp", "lsm", "cgroup",  "memory",
                                    "swap",   "cpu",     "pids", "warnings"};
#define NAMES (sizeof(names) / sizeof(names[0]))

static bool is_fine(const struct engine_rule *rule)
{
	return rule == NULL || (rule->why == WHY_NONE && rule->mend == NULL);
}

static void nothing_is_the_matter(void **state)
{
	const char *line[ENGINE_LINES];

	(void)state;
	for (size_t i = 0; i < NAMES; i++)
		assert_true(is_fine(engine_judge(names[i], healthy)));
	memcpy(line, healthy, sizeof(line));
	line[ENGINE_SECURITY] = "name=seccomp,profile=builtin name=selinux ";
	for (size_t i = 0; i < NAMES; i++)
		assert_true(is_fine(engine_judge(names[i], line)));
}

#define ROOTLESS "; for a rootless engine, delegate this cgroup controller to its user"

/* One line at a time is another: the check named finds it, and no other does. */
static void one_thing_is_the_matter(void **state)
{
	static const struct {
		enum engine_line line;
		const char *text;
		const char *check;
		enum executor_reason why; /* WHY_NONE: a warning */
		const char *said;
		const char *mend;
	} rows[] = {
		{ENGINE_SYSTEM, "windows, Windows Server", "kind", WHY_ENDPOINT_FOREIGN, "", NULL},
		{ENGINE_SYSTEM, "", "kind", WHY_ENDPOINT_FOREIGN, "", NULL},
		{ENGINE_SYSTEM, "linux, Docker Desktop", "kind", WHY_ENDPOINT_FOREIGN, "", NULL},
		{ENGINE_ROOT, "/var/snap/docker/common/var-lib-docker", "kind", WHY_ENDPOINT_FOREIGN,
		 "", NULL},
		{ENGINE_PARTS, "Podman Engine Conmon ", "kind", WHY_NONE, "podman, not tried: ",
		 "use Docker's engine"},
		{ENGINE_PARTS, "", "kind", WHY_NONE, "not Docker's, not tried: ", "use Docker's engine"},
		{ENGINE_SECURITY, "name=apparmor name=seccomp,profile=default name=rootless ", "kind",
		 WHY_NONE,
		 "rootless, not tried: a worker's ids are subordinate ids of the engine's user: ",
		 "mounts must suit the ids that the engine maps a worker's to"},
		{ENGINE_SECURITY, "name=apparmor name=seccomp,profile=default name=userns ", "kind",
		 WHY_NONE, "userns-remap, not tried: a worker's ids are subordinate ids: ",
		 "mounts must suit the ids that the engine maps a worker's to"},
		{ENGINE_SECURITY, "name=apparmor ", "seccomp", WHY_ENGINE_SECCOMP, "", NULL},
		{ENGINE_SECURITY, "name=apparmor name=seccomp,profile=unconfined ", "seccomp",
		 WHY_ENGINE_SECCOMP, "", NULL},
		{ENGINE_SECURITY, "name=seccomp,profile=default ", "lsm", WHY_NONE,
		 "the engine uses neither AppArmor nor SELinux: ",
		 "install apparmor, and boot with it: lsm=...,apparmor"},
		{ENGINE_CGROUP, "version 1, none", "cgroup", WHY_DOCKER_WARNING, "",
		 "use cgroup v2 with systemd, and delegate its controllers to the engine's user"},
		{ENGINE_MEMORY, "MemoryLimit=false", "memory", WHY_DOCKER_WARNING, "",
		 "boot with cgroup_enable=memory" ROOTLESS},
		{ENGINE_MEMORY, "", "memory", WHY_DOCKER_WARNING, "",
		 "boot with cgroup_enable=memory" ROOTLESS},
		{ENGINE_SWAP, "SwapLimit=false", "swap", WHY_DOCKER_WARNING, "",
		 "boot with swapaccount=1" ROOTLESS},
		{ENGINE_CPU, "CpuCfsQuota=false", "cpu", WHY_DOCKER_WARNING, "",
		 "boot a kernel with CONFIG_CFS_BANDWIDTH" ROOTLESS},
		{ENGINE_PIDS, "PidsLimit=<no value>", "pids", WHY_DOCKER_WARNING, "",
		 "boot a kernel with CONFIG_CGROUP_PIDS" ROOTLESS},
		{ENGINE_WARNINGS, "WARNING: No kernel memory support ", "warnings", WHY_NONE,
		 "the engine warns: ", "mend what it names"},
	};
	const char *line[ENGINE_LINES];
	const struct engine_rule *rule;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		memcpy(line, healthy, sizeof(line));
		line[rows[i].line] = rows[i].text;
		for (size_t j = 0; j < NAMES; j++) {
			rule = engine_judge(names[j], line);
			if (strcmp(names[j], rows[i].check) != 0) {
				assert_true(is_fine(rule));
				continue;
			}
			assert_non_null(rule);
			assert_int_equal(rule->why, rows[i].why);
			assert_int_equal(rule->line, rows[i].line);
			assert_string_equal(rule->said, rows[i].said);
			if (rows[i].mend == NULL)
				assert_null(rule->mend);
			else
				assert_string_equal(rule->mend, rows[i].mend);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_is_cut_into_lines),
		cmocka_unit_test(api_versions_are_compared_by_number),
		cmocka_unit_test(nothing_is_the_matter),
		cmocka_unit_test(one_thing_is_the_matter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

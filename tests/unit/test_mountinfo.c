/* SPDX-License-Identifier: ISC */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "../../policy/mountinfo.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct mountinfo table;
static char text[1048576];

static bool parse(const char *source)
{
	size_t len = strlen(source);

	assert_true(len < sizeof(text));
	memcpy(text, source, len + 1);
	return mountinfo_parse(&table, text, len);
}

static void one_line(void **state)
{
	static const struct {
		const char *line;
		uint64_t id;
		uint32_t major;
		uint32_t minor;
		const char *root; /* NULL: none that says where */
		const char *point;
	} row[] = {
		{"36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue\n",
		 36, 98, 0, "/mnt1", "/mnt2"},
		{"27 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n", 27, 254, 0, "/", "/"},
		{"1 0 0:1 / / rw shared:1 master:2 propagate_from:3 unbindable - t s o\n", 1, 0, 1,
		 "/", "/"},
		/* The source may be empty: two blanks. */
		{"41 27 0:40 / /x rw - tmpfs  rw\n", 41, 0, 40, "/", "/x"},
		{"41 27 0:40 / /x rw - tmpfs\n", 41, 0, 40, "/", "/x"},
		{"5 1 8:1 /a\\040b /c\\011d\\012e\\134f rw - ext4 x rw\n", 5, 8, 1, "/a b",
		 "/c\td\ne\\f"},
		{"5 1 8:1 / /\\303\\251 rw - ext4 x rw\n", 5, 8, 1, "/", "/\xc3\xa9"},
		{"5 1 8:1 / /\\377 rw - ext4 x rw\n", 5, 8, 1, "/", "/\xff"},
		{"5 1 0:4 net:[4026532290] /run/docker/netns/1 rw shared:9 - nsfs nsfs rw\n", 5, 0,
		 4, NULL, "/run/docker/netns/1"},
		{"5 1 8:1 /gone//deleted /m rw - ext4 x rw\n", 5, 8, 1, NULL, "/m"},
		{"5 1 0:30 /.. /sys/fs/cgroup rw - cgroup2 cgroup rw\n", 5, 0, 30, NULL,
		 "/sys/fs/cgroup"},
		{"18446744073709551615 1 4294967295:4294967295 / /m rw - t s o\n", UINT64_MAX,
		 UINT32_MAX, UINT32_MAX, "/", "/m"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		if (!parse(row[i].line))
			fail_msg("row %zu", i);
		assert_int_equal(table.count, 1);
		assert_true(table.at[0].id == row[i].id);
		assert_int_equal(table.at[0].major, row[i].major);
		assert_int_equal(table.at[0].minor, row[i].minor);
		assert_string_equal(table.at[0].point, row[i].point);
		assert_int_equal(table.at[0].point_len, strlen(row[i].point));
		if (row[i].root == NULL) {
			assert_int_equal(table.at[0].root_len, 0);
			continue;
		}
		assert_string_equal(table.at[0].root, row[i].root);
		assert_int_equal(table.at[0].root_len, strlen(row[i].root));
	}
}

static void refused(void **state)
{
	static const char *const row[] = {
		"",
		"\n",
		"36",
		"36\n",
		"36 35 98:0 / /m rw - t s o", /* cut off: no line end */
		"36 35 98:0 / /m rw - \n",
		"36 35 98:0 / /m rw -\n",
		"36 35 98:0 / /m rw t s o\n", /* no hyphen */
		"36 35 98:0 / /m rw -x t s o\n",
		"36 35 98:0 / /m - t s o\n", /* no options */
		"36 35 98:0 / /m rw\n",
		"36 35 98:0 / /m \n",
		"36 35 98:0 / /m\n",
		"36 35 98:0 /\n",
		"36 35 98:0 / \n",
		"36 35 98:0\n",
		"36 35 98 / /m rw - t s o\n",
		"36 35 98: / /m rw - t s o\n",
		"36 35 :0 / /m rw - t s o\n",
		"36 35 98:0:0 / /m rw - t s o\n",
		"36 35 4294967296:0 / /m rw - t s o\n",
		"36 35 0:4294967296 / /m rw - t s o\n",
		"18446744073709551616 35 98:0 / /m rw - t s o\n",
		"x 35 98:0 / /m rw - t s o\n",
		"-1 35 98:0 / /m rw - t s o\n",
		" 36 35 98:0 / /m rw - t s o\n",
		"36  35 98:0 / /m rw - t s o\n",
		"36 35 98:0 / m rw - t s o\n", /* not from / */
		"36 35 98:0 / /m\\04 rw - t s o\n",
		"36 35 98:0 / /m\\ rw - t s o\n",
		"36 35 98:0 / /m\\x41 rw - t s o\n",
		"36 35 98:0 / /m\\008 rw - t s o\n",
		"36 35 98:0 / /m\\081 rw - t s o\n",
		"36 35 98:0 / /m\\0/0 rw - t s o\n",
		"36 35 98:0 / /m\\000 rw - t s o\n", /* a NUL */
		"36 35 98:0 / /m\\400 rw - t s o\n", /* 256 */
		"36 35 98:0 / /m\\501 rw - t s o\n",
		"36 35 98:0 / /m\\777 rw - t s o\n",
		"36 35 98:0 /r\\ /m rw - t s o\n",
		"27 1 254:0 / / rw - ext4 x rw\n\n", /* an empty line */
		"27 1 254:0 / / rw - ext4 x rw\nbad\n",
		"bad\n27 1 254:0 / / rw - ext4 x rw\n",
	};

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		table.count = 7;
		if (parse(row[i]))
			fail_msg("row %zu: \"%s\" was taken", i, row[i]);
		assert_int_equal(table.count, 0);
	}
}

static void raw_nul(void **state)
{
	static char line[] = "27 1 254:0 / /a\0b rw - ext4 x rw\n";

	(void)state;
	assert_false(mountinfo_parse(&table, line, sizeof(line) - 1));
	assert_int_equal(table.count, 0);
}

static void queries(void **state)
{
	static const struct {
		const char *path;
		const char *below;
	} row[] = {
		{"/", "/srv/a"}, {"/srv", "/srv/a"}, {"/srv/a", "/srv/a/deep/er"},
		{"/srv/a/deep", "/srv/a/deep/er"},   {"/srv/a/deep/er", NULL},
		{"/srv/ab", NULL},                   {"/sr", NULL},
		{"/other", NULL},                    {"/srv/a/d", NULL},
	};

	(void)state;
	assert_true(parse("20 1 8:0 / / rw - ext4 x rw\n"
	                  "21 20 8:1 / /srv/a rw - ext4 x rw\n"
	                  "22 21 8:2 /sub /srv/a/deep/er rw - ext4 x rw\n"));
	assert_int_equal(table.count, 3);
	for (size_t i = 0; i < COUNT(row); i++) {
		const char *got = mountinfo_below(&table, row[i].path, strlen(row[i].path));

		if (row[i].below == NULL)
			assert_null(got);
		else
			assert_string_equal(got, row[i].below);
	}
	assert_string_equal(mountinfo_find(&table, 22)->point, "/srv/a/deep/er");
	assert_string_equal(mountinfo_find(&table, 20)->root, "/");
	assert_null(mountinfo_find(&table, 23));
	assert_null(mountinfo_find(&table, 0));
	/* The table ends where it says, and begins with its first entry. */
	table.count = 1;
	assert_null(mountinfo_below(&table, "/", 1));
	assert_null(mountinfo_find(&table, 21));
	assert_true(parse("21 20 8:1 / /srv/a rw - ext4 x rw\n"));
	assert_string_equal(mountinfo_below(&table, "/srv", 4), "/srv/a");
}

static void inside(void **state)
{
	static const struct {
		const char *root;
		const char *point;
		const char *path;
		const char *inside; /* NULL: refused */
	} row[] = {
		{"/", "/", "/", "/"},
		{"/", "/", "/a/b", "/a/b"},
		{"/", "/mnt", "/mnt", "/"},
		{"/", "/mnt", "/mnt/a", "/a"},
		{"/sub", "/", "/", "/sub"},
		{"/sub", "/", "/a", "/sub/a"},
		{"/sub", "/mnt", "/mnt", "/sub"},
		{"/sub/x", "/mnt/y", "/mnt/y/a/b", "/sub/x/a/b"},
		{"/sub", "/mnt", "/mnt/abc", "/sub/abc"},
		{"/sub", "/mnt", "/mntx", NULL},
		{"/sub", "/mnt", "/", NULL},
		{"/sub", "/mnt/y", "/mnt", NULL},
		{"/sub", "/mnt", "/other/a", NULL},
		{"", "/mnt", "/mnt/a", NULL},
	};
	static char to[4096];

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		struct mountinfo_entry entry = {.root = row[i].root, .point = row[i].point};
		size_t len = 77;
		bool ok;

		entry.root_len = strlen(row[i].root);
		entry.point_len = strlen(row[i].point);
		ok = mountinfo_inside(&entry, row[i].path, strlen(row[i].path), to, &len);
		if (ok != (row[i].inside != NULL))
			fail_msg("row %zu", i);
		if (ok)
			assert_string_equal(to, row[i].inside);
		assert_int_equal(len, ok ? strlen(row[i].inside) : 77);
	}
}

/* 4095 bytes and the NUL fit, one more does not. */
static void inside_length(void **state)
{
	static char root[8192];
	static char to[4096];
	struct mountinfo_entry entry = {.root = root, .point = "/mnt", .point_len = 4};
	size_t len = 0;

	(void)state;
	memset(root, 'x', sizeof(root) - 1);
	root[0] = '/';
	entry.root_len = 4093;
	assert_true(mountinfo_inside(&entry, "/mnt/a", 6, to, &len));
	assert_int_equal(len, 4095);
	assert_memory_equal(to + 4092, "x/a", 4);
	entry.root_len = 4094;
	assert_false(mountinfo_inside(&entry, "/mnt/a", 6, to, &len));
	entry.root_len = 4095;
	assert_true(mountinfo_inside(&entry, "/mnt", 4, to, &len));
	entry.root_len = 4096;
	assert_false(mountinfo_inside(&entry, "/mnt", 4, to, &len));
	entry.root_len = 8191;
	assert_false(mountinfo_inside(&entry, "/mnt/a", 6, to, &len));
}

/* As many mounts as the table holds, and one more. */
static void full(void **state)
{
	static const char line[] = "7 1 8:1 / /m rw - t s o\n";
	size_t len = 0;

	(void)state;
	assert_true((MOUNTINFO_MOUNTS + 1) * (sizeof(line) - 1) < sizeof(text));
	for (size_t i = 0; i < MOUNTINFO_MOUNTS; i++) {
		memcpy(text + len, line, sizeof(line) - 1);
		len += sizeof(line) - 1;
	}
	assert_true(mountinfo_parse(&table, text, len));
	assert_int_equal(table.count, MOUNTINFO_MOUNTS);
	for (size_t i = 0; i <= MOUNTINFO_MOUNTS; i++)
		memcpy(text + i * (sizeof(line) - 1), line, sizeof(line) - 1);
	assert_false(mountinfo_parse(&table, text, len + sizeof(line) - 1));
	assert_int_equal(table.count, 0);
}

/* Every line cut short at every byte is refused, and nothing is written
 * outside the text. */
static void cut(void **state)
{
	static const char line[] = "5 1 8:1 /a\\040b /c\\134d rw master:1 - ext4 /dev/x rw\n";
	static char buffer[sizeof(line) + 1];

	(void)state;
	for (size_t len = 0; len < sizeof(line) - 1; len++) {
		memset(buffer, '#', sizeof(buffer));
		memcpy(buffer, line, len);
		assert_false(mountinfo_parse(&table, buffer, len));
		for (size_t i = len; i < sizeof(buffer); i++)
			assert_int_equal(buffer[i], '#');
	}
	memcpy(buffer, line, sizeof(line));
	assert_true(mountinfo_parse(&table, buffer, sizeof(line) - 1));
}

/* The same at the end of a page that nothing may be read behind. */
static void cut_at_page(void **state)
{
	static const char line[] = "5 1 8:1 /a\\040b /c\\134d rw master:1 - ext4 /dev/x rw\n";
	const size_t page = 4096;
	char *at = mmap(NULL, 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	assert_true(at != MAP_FAILED);
	assert_int_equal(mprotect(at, page, PROT_READ | PROT_WRITE), 0);
	for (size_t len = 0; len < sizeof(line); len++) {
		char *copy = at + page - len;

		memcpy(copy, line, len);
		assert_int_equal(mountinfo_parse(&table, copy, len), len == sizeof(line) - 1);
	}
	assert_int_equal(munmap(at, 2 * page), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_line), cmocka_unit_test(refused), cmocka_unit_test(raw_nul),
		cmocka_unit_test(queries),  cmocka_unit_test(full),    cmocka_unit_test(cut),
		cmocka_unit_test(inside),   cmocka_unit_test(inside_length),
		cmocka_unit_test(cut_at_page),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

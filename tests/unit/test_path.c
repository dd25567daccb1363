/* SPDX-License-Identifier: ISC */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "../../ipc/limits.h"
#include "../../policy/path.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* --- an oracle that works on lists of components --- */

#define SHORT_MAX 8

struct list {
	size_t len; /* of the text */
	char text[SHORT_MAX + 1];
	size_t count; /* of components, empty ones included */
	char name[SHORT_MAX + 1][SHORT_MAX + 1];
};

static void split(const char *text, struct list *out)
{
	const char *from = text;

	memset(out, 0, sizeof(*out));
	out->len = strlen(text);
	memcpy(out->text, text, out->len);
	for (;;) {
		const char *slash = strchr(from, '/');
		size_t len = slash != NULL ? (size_t)(slash - from) : strlen(from);

		memcpy(out->name[out->count++], from, len);
		if (slash == NULL)
			return;
		from = slash + 1;
	}
}

static bool special(const char *name)
{
	return strcmp(name, "") == 0 || strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* The list of an absolute path begins with the empty name before its slash;
 * that of "/" is two empty names. */
static bool oracle_canonical(const struct list *list)
{
	if (strcmp(list->text, "/") == 0)
		return true;
	if (list->count < 2 || list->name[0][0] != '\0')
		return false;
	for (size_t i = 1; i < list->count; i++) {
		if (special(list->name[i]))
			return false;
	}
	return true;
}

static size_t names(const struct list *list)
{
	return list->len == 1 ? 0 : list->count - 1;
}

static bool oracle_contains(const struct list *outer, const struct list *inner)
{
	if (names(outer) > names(inner))
		return false;
	for (size_t i = 0; i < names(outer); i++) {
		if (strcmp(outer->name[i + 1], inner->name[i + 1]) != 0)
			return false;
	}
	return true;
}

static enum path_result oracle_check(const struct list *list)
{
	size_t depth = 0;

	if (list->count < 2 || list->name[0][0] != '\0')
		return PATH_RELATIVE;
	if (strpbrk(list->text, ",\"\n") != NULL)
		return PATH_CHARACTER;
	for (size_t i = 1; i < list->count; i++) {
		if (strcmp(list->name[i], "..") == 0)
			depth = depth > 0 ? depth - 1 : 0;
		else if (!special(list->name[i]))
			depth++;
	}
	return depth == 0 ? PATH_ROOT : PATH_OK;
}

/* The text of number n (from 0) among all texts over the alphabet, the shorter
 * ones first. */
static void nth_text(const char *alphabet, uint64_t n, char *out)
{
	size_t base = strlen(alphabet);
	size_t len = 0;
	uint64_t of_len = 1;

	while (n >= of_len) {
		n -= of_len;
		of_len *= base;
		len++;
	}
	for (size_t i = 0; i < len; i++) {
		out[i] = alphabet[n % base];
		n /= base;
	}
	out[len] = '\0';
}

static uint64_t texts_up_to(const char *alphabet, size_t len)
{
	uint64_t all = 1;
	uint64_t of_len = 1;

	for (size_t i = 0; i < len; i++) {
		of_len *= strlen(alphabet);
		all += of_len;
	}
	return all;
}

static void every_text(void **state)
{
	uint64_t count = texts_up_to("/.ab", SHORT_MAX);
	uint64_t canonical = 0;

	(void)state;
	for (uint64_t n = 0; n < count; n++) {
		char text[SHORT_MAX + 1];
		struct list list;

		nth_text("/.ab", n, text);
		split(text, &list);
		if (path_canonical(text, list.len) != oracle_canonical(&list))
			fail_msg("path_canonical(\"%s\")", text);
		if (path_check(text, list.len) != oracle_check(&list))
			fail_msg("path_check(\"%s\")", text);
		canonical += oracle_canonical(&list) ? 1 : 0;
	}
	printf("canonical: %llu texts of at most %d bytes over \"/.ab\", %llu of them canonical\n",
	       (unsigned long long)count, SHORT_MAX, (unsigned long long)canonical);
	assert_int_equal(count, 87381);
}

static void every_text_with_bad_bytes(void **state)
{
	uint64_t count = texts_up_to("/.a,\"\n", 6);

	(void)state;
	for (uint64_t n = 0; n < count; n++) {
		char text[SHORT_MAX + 1];
		struct list list;

		nth_text("/.a,\"\n", n, text);
		split(text, &list);
		if (path_check(text, list.len) != oracle_check(&list))
			fail_msg("path_check(\"%s\")", text);
	}
	printf("checked: %llu texts of at most 6 bytes over \"/.a,\\\"\\n\"\n",
	       (unsigned long long)count);
	assert_int_equal(count, 55987);
}

#define CANONICAL_MAX 4096

static void every_pair(void **state)
{
	static struct list path[CANONICAL_MAX];
	uint64_t texts = texts_up_to("/.ab", 7);
	size_t count = 0;
	uint64_t contained = 0;

	(void)state;
	for (uint64_t n = 0; n < texts; n++) {
		char text[SHORT_MAX + 1];

		nth_text("/.ab", n, text);
		assert_true(count < CANONICAL_MAX);
		split(text, &path[count]);
		count += oracle_canonical(&path[count]) ? 1 : 0;
	}
	for (size_t i = 0; i < count; i++) {
		for (size_t k = 0; k < count; k++) {
			const struct list *a = &path[i];
			const struct list *b = &path[k];
			bool down = oracle_contains(a, b);
			bool up = oracle_contains(b, a);

			if (path_contains(a->text, a->len, b->text, b->len) != down)
				fail_msg("path_contains(\"%s\", \"%s\")", a->text, b->text);
			if (path_overlap(a->text, a->len, b->text, b->len) != (down || up))
				fail_msg("path_overlap(\"%s\", \"%s\")", a->text, b->text);
			contained += down ? 1 : 0;
		}
	}
	printf("pairs: %zu canonical paths of at most 7 bytes, %zu pairs, %llu contained\n", count,
	       count * count, (unsigned long long)contained);
	assert_true(contained > count);
}

/* --- tables --- */

static void checks(void **state)
{
	static const struct {
		const char *path;
		size_t len; /* 0: strlen */
		enum path_result result;
	} row[] = {
		{"/a", 0, PATH_OK},
		{"/a/", 0, PATH_OK},
		{"/a//b/./c/../d", 0, PATH_OK},
		{"/a:b", 0, PATH_OK},
		{"/ leading and trailing ", 0, PATH_OK},
		{"/caf\xc3\xa9", 0, PATH_OK},
		{"/cafe\xcc\x81", 0, PATH_OK},
		{"/a\\b'c", 0, PATH_OK},
		{"/~", 0, PATH_OK},
		{"/\x7e", 0, PATH_OK},
		{"/a/b/..", 0, PATH_OK},
		{"/...", 0, PATH_OK},
		{"", 0, PATH_RELATIVE},
		{"a", 0, PATH_RELATIVE},
		{"./a", 0, PATH_RELATIVE},
		{"~/a", 0, PATH_RELATIVE},
		{" /a", 0, PATH_RELATIVE},
		{"a,b", 0, PATH_RELATIVE},
		{"\n/a", 0, PATH_RELATIVE},
		{"/a,b", 0, PATH_CHARACTER},
		{"/a,readonly=false", 0, PATH_CHARACTER},
		{"/a\"b", 0, PATH_CHARACTER},
		{"/a\n", 0, PATH_CHARACTER},
		{"/a\r\nb", 0, PATH_CHARACTER},
		{"/a\tb", 0, PATH_CHARACTER},
		{"/a\x1f", 0, PATH_CHARACTER},
		{"/a\x01", 0, PATH_CHARACTER},
		{"/a\x7f", 0, PATH_CHARACTER},
		{"/a\0b", 4, PATH_CHARACTER},
		{"/a\xff", 0, PATH_CHARACTER},
		{"/a\xc3", 0, PATH_CHARACTER},
		{"/\xc0\xaf", 0, PATH_CHARACTER},
		{"/\xed\xa0\x80", 0, PATH_CHARACTER},
		{"/,/..", 0, PATH_CHARACTER},
		{"/", 0, PATH_ROOT},
		{"//", 0, PATH_ROOT},
		{"/.", 0, PATH_ROOT},
		{"/..", 0, PATH_ROOT},
		{"/./..//", 0, PATH_ROOT},
		{"/a/..", 0, PATH_ROOT},
		{"/a/../..", 0, PATH_ROOT},
		{"/../a/b/../..", 0, PATH_ROOT},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		size_t len = row[i].len != 0 ? row[i].len : strlen(row[i].path);

		if (path_check(row[i].path, len) != row[i].result)
			fail_msg("row %zu: \"%s\" gives %d", i, row[i].path,
			         (int)path_check(row[i].path, len));
	}
}

/* A path of `len` bytes whose components have at most `component` bytes. */
static void fill(char *path, size_t len, size_t component)
{
	for (size_t i = 0; i < len; i++)
		path[i] = i % (component + 1) == 0 ? '/' : 'x';
	path[len] = '\0';
}

static void lengths(void **state)
{
	static const struct {
		size_t len;
		size_t component;
		enum path_result result;
	} row[] = {
		{2, 1, PATH_OK},
		{255, 255, PATH_OK},
		{256, 255, PATH_OK},
		{257, 256, PATH_TOO_LONG},
		{4094, 254, PATH_OK},
		{4095, 254, PATH_OK},
		{4096, 254, PATH_TOO_LONG},
		{4097, 255, PATH_TOO_LONG},
		{5000, 100, PATH_TOO_LONG},
	};
	static char path[8192];

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		fill(path, row[i].len, row[i].component);
		if (path_check(path, row[i].len) != row[i].result)
			fail_msg("row %zu", i);
	}
	/* The enum's order: the character first, then the length, then root. */
	fill(path, 5000, 100);
	path[4999] = ',';
	assert_int_equal(path_check(path, 5000), PATH_CHARACTER);
	memset(path, '/', 5000);
	assert_int_equal(path_check(path, 5000), PATH_TOO_LONG);
	assert_int_equal(path_check(path, 4095), PATH_ROOT);
}

static void canonical(void **state)
{
	static const struct {
		const char *path;
		bool result;
	} row[] = {
		{"/", true},      {"/a", true},     {"/a/b", true},    {"/...", true},
		{"/.a", true},    {"/a.", true},    {"/..a/b", true},  {"/a/.b./c", true},
		{"", false},      {"a", false},     {"a/b", false},    {"//", false},
		{"/a/", false},   {"/a//b", false}, {"//a", false},    {"/.", false},
		{"/..", false},   {"/./a", false},  {"/a/.", false},   {"/a/..", false},
		{"/a/./b", false}, {"/a/../b", false}, {"./a", false}, {"/a/...", true},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		if (path_canonical(row[i].path, strlen(row[i].path)) != row[i].result)
			fail_msg("row %zu: \"%s\"", i, row[i].path);
	}
	/* The length counts, not a NUL. */
	assert_true(path_canonical("/a/..", 2));
	assert_false(path_canonical("/a", 0));
}

static void contains(void **state)
{
	static const struct {
		const char *outer;
		const char *inner;
		bool contains;
		bool overlap;
	} row[] = {
		{"/", "/", true, true},
		{"/", "/x", true, true},
		{"/x", "/", false, true},
		{"/run/host", "/run/host", true, true},
		{"/run/host", "/run/host/a", true, true},
		{"/run/host", "/run/hostage", false, false},
		{"/run/hostage", "/run/host", false, false},
		{"/run/host/a", "/run/host", false, true},
		{"/a/b", "/a/c", false, false},
		{"/a/bb", "/a/b", false, false},
		{"/ab", "/cb", false, false},
		{"/a", "/b", false, false},
		{"/A", "/a", false, false},
		{"/a/b", "/a/b/c/d", true, true},
		{"/a/b", "/a/b.c", false, false},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		const char *a = row[i].outer;
		const char *b = row[i].inner;

		if (path_contains(a, strlen(a), b, strlen(b)) != row[i].contains)
			fail_msg("row %zu: contains", i);
		if (path_overlap(a, strlen(a), b, strlen(b)) != row[i].overlap ||
		    path_overlap(b, strlen(b), a, strlen(a)) != row[i].overlap)
			fail_msg("row %zu: overlap", i);
	}
	assert_false(path_contains("", 0, "/a", 2));
	assert_false(path_contains("/a", 2, "", 0));
}

/* The lengths rule, not what happens to stand behind them. */
static void only_so_many_bytes(void **state)
{
	(void)state;
	assert_int_equal(path_check("/a", 0), PATH_RELATIVE);
	assert_false(path_canonical("/a", 0));
	assert_false(path_contains("/a/b", 4, "/a/b/c", 2));
	assert_false(path_contains("/a", 0, "/a", 2));
	assert_false(path_contains("xa", 2, "/a", 2));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_so_many_bytes),
		cmocka_unit_test(checks),
		cmocka_unit_test(lengths),
		cmocka_unit_test(canonical),
		cmocka_unit_test(contains),
		cmocka_unit_test(every_text),
		cmocka_unit_test(every_text_with_bad_bytes),
		cmocka_unit_test(every_pair),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

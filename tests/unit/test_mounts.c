/* SPDX-License-Identifier: ISC */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <errno.h>
#include <sys/mman.h>

#include "../../policy/mounts.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define ROOT_DEV 100U

/* --- hand-made places --- */

/* A stable made-up inode number of a path on its device. */
static uint64_t inode(const char *path, size_t len)
{
	uint64_t hash = 1469598103934665603U;

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ (unsigned char)path[i]) * 1099511628211U;
	return hash | 1U;
}

static struct place text_place(const char *path)
{
	struct place place = {.state = PLACE_TEXT};

	place.len = strlen(path);
	memcpy(place.path, path, place.len + 1);
	return place;
}

/* On one file system, mounted whole at /. */
static void put_above(struct place *place, uint32_t depth)
{
	uint32_t at = 0;

	place->above[at++] = (struct place_id){ROOT_DEV, inode("/", 1)};
	for (size_t i = 1; i < place->len && at < depth; i++) {
		if (place->path[i] == '/')
			place->above[at++] = (struct place_id){ROOT_DEV, inode(place->path, i)};
	}
	place->depth = at;
}

static void put_location(struct place *place, uint32_t minor, const char *inside)
{
	place->located = true;
	place->major = 8;
	place->minor = minor;
	place->inside_len = strlen(inside);
	memcpy(place->inside, inside, place->inside_len + 1);
}

static uint32_t components(const char *path)
{
	uint32_t count = 0;

	for (const char *p = path; *p != '\0'; p++)
		count += *p == '/' ? 1U : 0U;
	return strcmp(path, "/") == 0 ? 0 : count;
}

static struct place directory(const char *path)
{
	struct place place = text_place(path);

	place.state = PLACE_EXISTS;
	place.st_mode = PLACE_DIRECTORY | 0755U;
	place.nlink = 2;
	if (components(path) > 0)
		put_above(&place, components(path));
	place.self = (struct place_id){ROOT_DEV, inode(path, place.len)};
	put_location(&place, 1, path);
	return place;
}

static struct place plain_file(const char *path)
{
	struct place place = directory(path);

	place.st_mode = PLACE_FILE | 0644U;
	place.nlink = 1;
	return place;
}

static struct place missing(const char *path)
{
	struct place place = directory(path);

	place.state = PLACE_MISSING;
	place.error = ENOENT;
	place.self = (struct place_id){0, 0};
	place.st_mode = 0;
	return place;
}

/* Exists down to `existing` directories, / among them. */
static struct place absent(const char *path, uint32_t existing)
{
	struct place place = missing(path);

	place.state = PLACE_ABSENT;
	place.depth = existing;
	return place;
}

static struct place unknown(const char *path, int error)
{
	struct place place = text_place(path);

	place.state = PLACE_UNKNOWN;
	place.error = error;
	return place;
}

/* --- judging --- */

static struct report report;

struct expected {
	enum reason reason;
	const char *pointer;
};

static void assert_findings(const struct expected *expected, size_t count)
{
	if (report.count != count)
		fail_msg("%u findings, not %zu; the first is %s", report.count, count,
		         report.count > 0 ? reason_name(report.at[0].reason) : "none");
	for (size_t i = 0; i < count; i++) {
		assert_string_equal(reason_name(report.at[i].reason),
		                    reason_name(expected[i].reason));
		assert_string_equal(report.at[i].pointer, expected[i].pointer);
	}
}

static void judge(const struct mounts_item *item, uint32_t count,
                  const struct mounts_protected *guarded, uint32_t guarded_count)
{
	report_init(&report, CODE_CONFIG, 78);
	mounts_judge(item, count, guarded, guarded_count, &report);
}

/* The reasons that one source alone is given. */
static void assert_one(const struct place *place, bool is_file, enum reason reason)
{
	struct mounts_item item = {.place = place, .pointer = "/mounts/0/host", .is_file = is_file};
	struct expected expected = {reason, "/mounts/0/host"};

	judge(&item, 1, NULL, 0);
	assert_findings(&expected, reason == REASON_NONE ? 0 : 1);
}

static void types(void **state)
{
	static const struct {
		uint32_t mode;
		uint64_t nlink;
		enum reason as_directory;
		enum reason as_bundle;
	} row[] = {
		{PLACE_DIRECTORY | 0755U, 2, REASON_NONE, REASON_BUNDLE_FILE},
		{PLACE_DIRECTORY | 0755U, 1, REASON_NONE, REASON_BUNDLE_FILE},
		{PLACE_FILE | 0644U, 1, REASON_MOUNT_TYPE, REASON_NONE},
		{PLACE_FILE | 0644U, 2, REASON_MOUNT_TYPE, REASON_BUNDLE_FILE},
		{PLACE_FILE | 0644U, 0, REASON_MOUNT_TYPE, REASON_BUNDLE_FILE},
		{PLACE_SOCKET | 0600U, 1, REASON_MOUNT_TYPE, REASON_BUNDLE_FILE},
		{0010000U | 0600U, 1, REASON_MOUNT_TYPE, REASON_BUNDLE_FILE}, /* FIFO */
		{0060000U | 0600U, 1, REASON_MOUNT_TYPE, REASON_BUNDLE_FILE}, /* block device */
		{0020000U | 0600U, 1, REASON_MOUNT_TYPE, REASON_BUNDLE_FILE}, /* character one */
	};
	struct place place = directory("/srv/a");

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		place.st_mode = row[i].mode;
		place.nlink = row[i].nlink;
		assert_one(&place, false, row[i].as_directory);
		if (row[i].as_directory != REASON_NONE)
			assert_string_equal(report.at[0].detail, "canonical path: /srv/a");
		assert_one(&place, true, row[i].as_bundle);
		if (row[i].as_bundle != REASON_NONE)
			assert_string_equal(report.at[0].detail, "canonical path: /srv/a");
	}
}

static void not_there(void **state)
{
	struct place place = missing("/srv/a");

	(void)state;
	assert_one(&place, false, REASON_MOUNT_MISSING);
	assert_one(&place, true, REASON_MOUNT_MISSING);
	assert_string_equal(report.at[0].detail, "no such file or directory: /srv/a");
	place = absent("/srv/a/b/c", 2);
	assert_one(&place, false, REASON_MOUNT_MISSING);
	place = unknown("/srv", EACCES);
	assert_one(&place, false, REASON_MOUNT_MISSING);
	assert_string_equal(report.at[0].detail, "permission denied (errno 13): below /srv");
	place = unknown("/srv/a b\n", ELOOP);
	assert_one(&place, false, REASON_MOUNT_MISSING);
	assert_string_equal(report.at[0].detail,
	                    "not to be examined (errno 40): below /srv/a b\\x0a");
	/* Nothing is left of the longer detail before it. */
	place = unknown("/srv", EACCES);
	assert_one(&place, false, REASON_MOUNT_MISSING);
	assert_string_equal(report.at[0].detail, "permission denied (errno 13): below /srv");
	/* Of an unknown place nothing else can be said. */
	place = unknown("/", EACCES);
	assert_one(&place, false, REASON_MOUNT_MISSING);
	place = text_place("/");
	place.state = PLACE_DEEP;
	assert_one(&place, false, REASON_MOUNT_TOO_LONG);
}

static void host_rules(void **state)
{
	struct place place = directory("/srv/a");
	static const struct expected all[] = {
		{REASON_MOUNT_ANCESTOR, "/mounts/0/host"},
		{REASON_MOUNT_TYPE, "/mounts/0/host"},
		{REASON_MOUNT_INFO, "/mounts/0/host"},
		{REASON_MOUNT_SUBMOUNT, "/mounts/0/host"},
	};
	struct mounts_item item = {.place = &place, .pointer = "/mounts/0/host"};

	(void)state;
	assert_one(&place, false, REASON_NONE);
	place.weak = true;
	place.weak_len = 4;
	memcpy(place.weak_path, "/srv", 5);
	assert_one(&place, false, REASON_MOUNT_ANCESTOR);
	assert_string_equal(report.at[0].detail, "replaceable: /srv");
	place.weak = false;
	place.located = false;
	assert_one(&place, false, REASON_MOUNT_INFO);
	assert_string_equal(report.at[0].detail, "its mount is not known: /srv/a");
	place.located = true;
	place.submount = "/srv/a/m";
	assert_one(&place, false, REASON_MOUNT_SUBMOUNT);
	assert_string_equal(report.at[0].detail, "mount point: /srv/a/m");
	/* Every violation, not the first alone. */
	place.weak = true;
	place.located = false;
	place.st_mode = PLACE_SOCKET;
	judge(&item, 1, NULL, 0);
	assert_findings(all, COUNT(all));
	/* Text only: none of them applies. */
	place.state = PLACE_TEXT;
	assert_one(&place, false, REASON_NONE);
	/* Weak counts of a place that is not there, too. */
	place = missing("/srv/a");
	place.weak = true;
	judge(&item, 1, NULL, 0);
	assert_int_equal(report.count, 2);
	assert_int_equal(report.at[0].reason, REASON_MOUNT_ANCESTOR);
	assert_int_equal(report.at[1].reason, REASON_MOUNT_MISSING);
}

/* A link may lead to a name that the config did not show. */
static void canonical_text(void **state)
{
	static const struct {
		const char *path;
		enum reason reason;
	} row[] = {
		{"/", REASON_MOUNT_ROOT},
		{"srv/a", REASON_MOUNT_RELATIVE},
		{"/srv/a,b", REASON_MOUNT_CHARACTER},
		{"/srv/a\"b", REASON_MOUNT_CHARACTER},
		{"/srv/a\nb", REASON_MOUNT_CHARACTER},
		{"/srv/\xff", REASON_MOUNT_CHARACTER},
		{"/srv/caf\xc3\xa9", REASON_NONE},
		{"/srv/a:b", REASON_NONE},
		{"/srv/a b", REASON_NONE},
	};
	static const char shown[] = "canonical path: /srv/aaa";
	char longest[512] = "/srv/"; /* and a component of one byte more than may be */
	struct place place;

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		place = directory(row[i].path);
		assert_one(&place, false, row[i].reason);
		place = text_place(row[i].path);
		assert_one(&place, false, row[i].reason);
	}
	memset(longest + strlen(longest), 'a', 256);
	place = directory(longest);
	assert_one(&place, false, REASON_MOUNT_TOO_LONG);
	assert_memory_equal(report.at[0].detail, shown, strlen(shown));
}

static void system_directories(void **state)
{
	static const char *const nothing_inside[] = {
		"/proc", "/sys", "/dev", "/boot", "/etc", "/bin", "/sbin", "/lib", "/lib32",
		"/lib64", "/libx32", "/run/docker", "/run/containerd", "/var/run/docker",
		"/var/run/containerd", "/var/lib/docker", "/var/lib/containerd",
	};
	static const char *const dedicated_inside[] = {
		"/root", "/home", "/var", "/var/lib", "/var/log", "/var/cache", "/var/spool",
		"/var/tmp", "/run", "/run/user", "/tmp", "/opt", "/srv", "/mnt", "/media",
	};
	char inside[64];

	(void)state;
	for (size_t i = 0; i < COUNT(nothing_inside); i++) {
		struct place place = directory(nothing_inside[i]);

		assert_one(&place, false, REASON_MOUNT_SYSTEM);
		(void)snprintf(inside, sizeof(inside), "%s/x/y", nothing_inside[i]);
		place = directory(inside);
		assert_one(&place, false, REASON_MOUNT_SYSTEM);
		place = text_place(inside);
		assert_one(&place, false, REASON_MOUNT_SYSTEM);
		place = plain_file(inside);
		assert_one(&place, true, REASON_MOUNT_SYSTEM);
		(void)snprintf(inside, sizeof(inside), "%s.d", nothing_inside[i]);
		place = directory(inside);
		assert_one(&place, false, REASON_NONE);
	}
	for (size_t i = 0; i < COUNT(dedicated_inside); i++) {
		struct place place = directory(dedicated_inside[i]);

		assert_one(&place, false, REASON_MOUNT_SYSTEM);
		(void)snprintf(inside, sizeof(inside), "%s: %s", dedicated_inside[i],
		               dedicated_inside[i]);
		assert_string_equal(report.at[0].detail, inside);
		place = text_place(dedicated_inside[i]);
		assert_one(&place, false, REASON_MOUNT_SYSTEM);
		(void)snprintf(inside, sizeof(inside), "%s/x", dedicated_inside[i]);
		place = directory(inside);
		assert_one(&place, false, REASON_NONE);
		place = plain_file(inside);
		assert_one(&place, true, REASON_NONE);
	}
}

static void system_details(void **state)
{
	struct place place = directory("/usr");

	(void)state;
	/* A program's file lies in /usr, but no directory of it is mounted. */
	assert_one(&place, false, REASON_MOUNT_SYSTEM);
	place = directory("/usr/local/share/x");
	assert_one(&place, false, REASON_MOUNT_SYSTEM);
	place = plain_file("/usr/lib/worker/bundle.js");
	assert_one(&place, true, REASON_NONE);
	place = plain_file("/etc/shadow");
	assert_one(&place, true, REASON_MOUNT_SYSTEM);
	assert_string_equal(report.at[0].detail, "/etc: /etc/shadow");
	/* A bind of /etc on the root's own file system… */
	place = directory("/srv/a");
	put_location(&place, 1, "/etc/ssh");
	assert_one(&place, false, REASON_MOUNT_SYSTEM);
	/* …but not a directory of the same name on another. */
	place.self.dev = ROOT_DEV + 1;
	assert_one(&place, false, REASON_NONE);
	place.self.dev = ROOT_DEV;
	place.located = false;
	assert_one(&place, false, REASON_MOUNT_INFO);
	/* The root's own file system, be it mounted over another on the way. */
	place = directory("/srv/a");
	place.above[1].dev = ROOT_DEV + 1;
	put_location(&place, 1, "/etc/ssh");
	assert_one(&place, false, REASON_MOUNT_SYSTEM);
	place = directory("/data");
	put_location(&place, 1, "/etc/ssh");
	assert_one(&place, false, REASON_MOUNT_SYSTEM);
	/* Without a directory above, or a source, there is no such file system. */
	place.depth = 0;
	assert_one(&place, false, REASON_NONE);
	place = missing("/srv/a");
	place.self.dev = ROOT_DEV;
	put_location(&place, 1, "/etc/ssh");
	assert_one(&place, false, REASON_MOUNT_MISSING);
	/* The path counts, too, wherever it really lies. */
	place = directory("/etc/x");
	put_location(&place, 1, "/y");
	assert_one(&place, false, REASON_MOUNT_SYSTEM);
	assert_string_equal(report.at[0].detail, "/etc: /etc/x");
}

/* --- relations --- */

static void relates(const struct place *a, const struct place *b, enum mounts_relation expected)
{
	assert_int_equal(mounts_relate(a, b), expected);
	assert_int_equal(mounts_relate(b, a), expected);
}

static void by_text(void **state)
{
	static const struct {
		const char *a;
		const char *b;
		enum mounts_relation relation;
	} row[] = {
		{"/srv/a", "/srv/a", MOUNTS_OVERLAP},
		{"/srv/a", "/srv/a/b", MOUNTS_OVERLAP},
		{"/srv/a", "/srv/a/b/c/d", MOUNTS_OVERLAP},
		{"/srv/a", "/srv/ab", MOUNTS_DISJOINT},
		{"/srv/a", "/srv/b", MOUNTS_DISJOINT},
		{"/srv/a/b", "/srv/b/a", MOUNTS_DISJOINT},
		{"/run/host", "/run/hostage", MOUNTS_DISJOINT},
		{"/", "/srv", MOUNTS_OVERLAP},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		struct place a = directory(row[i].a);
		struct place b = directory(row[i].b);
		struct place c = text_place(row[i].b);
		struct place d = missing(row[i].b);

		relates(&a, &b, row[i].relation);
		relates(&a, &c, row[i].relation);
		relates(&a, &d, row[i].relation);
		a = text_place(row[i].a);
		relates(&a, &b, row[i].relation);
		relates(&a, &c, row[i].relation);
	}
}

static void by_identity(void **state)
{
	struct place a = directory("/srv/a");
	struct place b = directory("/mnt/b");

	(void)state;
	/* No location, so that identity alone speaks. */
	a.located = false;
	b.located = false;
	relates(&a, &b, MOUNTS_DISJOINT);
	b.self = a.self;
	relates(&a, &b, MOUNTS_ALIAS);
	b.self.dev++;
	relates(&a, &b, MOUNTS_DISJOINT);
	b.self.dev--;
	b.self.ino++;
	relates(&a, &b, MOUNTS_DISJOINT);
	/* a is one of the directories above b, by another path. */
	b = directory("/mnt/x/y/b");
	b.located = false;
	for (uint32_t i = 0; i < b.depth; i++) {
		struct place_id kept = b.above[i];

		b.above[i] = a.self;
		relates(&a, &b, MOUNTS_ALIAS);
		b.above[i].ino++;
		relates(&a, &b, MOUNTS_DISJOINT);
		b.above[i] = kept;
	}
	/* What stands behind the last one is not one of them. */
	b = directory("/mnt/b");
	b.located = false;
	b.above[b.depth] = a.self;
	relates(&a, &b, MOUNTS_DISJOINT);
	/* The same directories above both are no overlap. */
	a = directory("/srv/x/a");
	b = directory("/srv/x/b");
	relates(&a, &b, MOUNTS_DISJOINT);
	/* Of what does not exist, the id is no id. */
	a = missing("/srv/a");
	b = missing("/mnt/b");
	a.located = false;
	b.located = false;
	relates(&a, &b, MOUNTS_DISJOINT);
	a = directory("/srv/a");
	b.self = a.self;
	a.located = false;
	relates(&a, &b, MOUNTS_DISJOINT);
	b = missing("/srv/x");
	a = directory("/mnt/a/b");
	a.located = false;
	b.self = a.above[1];
	relates(&a, &b, MOUNTS_DISJOINT);
	/* Two text places share their zeros, and nothing else. */
	a = text_place("/srv/a");
	b = text_place("/mnt/b");
	relates(&a, &b, MOUNTS_DISJOINT);
}

static void by_location(void **state)
{
	static const struct {
		const char *a;
		const char *b;
		uint32_t minor;
		enum mounts_relation relation;
	} row[] = {
		{"/x", "/x", 1, MOUNTS_ALIAS},      {"/x", "/x/y", 1, MOUNTS_ALIAS},
		{"/", "/x/y", 1, MOUNTS_ALIAS},     {"/x", "/xy", 1, MOUNTS_DISJOINT},
		{"/x", "/y", 1, MOUNTS_DISJOINT},   {"/x", "/x", 2, MOUNTS_DISJOINT},
		{"/x", "/x/y", 2, MOUNTS_DISJOINT},
	};
	struct place a = directory("/srv/a");
	struct place b = directory("/mnt/b");

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		put_location(&a, 1, row[i].a);
		put_location(&b, row[i].minor, row[i].b);
		relates(&a, &b, row[i].relation);
	}
	put_location(&b, 1, "/x");
	relates(&a, &b, MOUNTS_ALIAS);
	b.major++;
	relates(&a, &b, MOUNTS_DISJOINT);
	b.major--;
	b.located = false;
	relates(&a, &b, MOUNTS_DISJOINT);
}

/* A missing place is known by its parent's identity and its name. */
static void by_name(void **state)
{
	struct place secret = missing("/home/op/alias/secret");
	struct place source = directory("/srv/real/secret");

	(void)state;
	secret.located = false;
	relates(&secret, &source, MOUNTS_DISJOINT);
	secret.above[secret.depth - 1] = source.above[source.depth - 1];
	relates(&secret, &source, MOUNTS_ALIAS);
	source = directory("/srv/real/secret/below");
	relates(&secret, &source, MOUNTS_ALIAS);
	source = directory("/srv/real/secrets");
	relates(&secret, &source, MOUNTS_DISJOINT);
	source = directory("/srv/real/secre");
	relates(&secret, &source, MOUNTS_DISJOINT);
	source = directory("/srv/real/other/secret");
	relates(&secret, &source, MOUNTS_DISJOINT);
	/* The parent itself, or what holds it. */
	source = directory("/srv/real");
	relates(&secret, &source, MOUNTS_ALIAS);
	/* Two missing ones. */
	source = missing("/srv/real/secret");
	relates(&secret, &source, MOUNTS_ALIAS);
	/* An absent one only by the directories that exist. */
	secret.state = PLACE_ABSENT;
	source = directory("/srv/real/secret");
	relates(&secret, &source, MOUNTS_DISJOINT);
	source = directory("/srv/real");
	relates(&secret, &source, MOUNTS_ALIAS);
}

static void unknown_overlaps_everything(void **state)
{
	struct place a = directory("/srv/a");
	struct place b = unknown("/mnt", EACCES);
	struct place c = text_place("/");

	(void)state;
	c.state = PLACE_DEEP;
	relates(&a, &b, MOUNTS_OVERLAP);
	relates(&a, &c, MOUNTS_OVERLAP);
	relates(&b, &c, MOUNTS_OVERLAP);
	assert_false(mounts_same(&b, &b));
	assert_false(mounts_same(&c, &c));
	assert_false(mounts_same(&a, &b));
}

static void same(void **state)
{
	struct place a = directory("/srv/a");
	struct place b = directory("/srv/a");

	(void)state;
	assert_true(mounts_same(&a, &b));
	b.self.ino++;
	assert_false(mounts_same(&a, &b));
	b = directory("/srv/a");
	b.self.dev++;
	assert_false(mounts_same(&a, &b));
	b = text_place("/srv/a");
	assert_true(mounts_same(&a, &b));
	assert_true(mounts_same(&b, &a));
	b = missing("/srv/a");
	assert_false(mounts_same(&a, &b));
	assert_false(mounts_same(&b, &a));
	a = missing("/srv/a");
	assert_true(mounts_same(&a, &b));
	a = directory("/srv/a");
	b = directory("/srv/b");
	b.self = a.self;
	assert_false(mounts_same(&a, &b));
	b = directory("/srv/a/b");
	assert_false(mounts_same(&a, &b));
	b = text_place("/srv/a/b");
	assert_false(mounts_same(&a, &b));
	/* What cannot be compared is the same as nothing, not even by its text. */
	b = text_place("/srv/a");
	a.state = PLACE_UNKNOWN;
	assert_false(mounts_same(&a, &b));
	assert_false(mounts_same(&b, &a));
	/* The identity of what is missing says nothing. */
	a = missing("/srv/a");
	b = missing("/srv/a");
	b.self.ino = 1;
	assert_true(mounts_same(&a, &b));
}

/* A name that is missing in a second view of /, where the other goes through it. */
static void missing_below_the_root(void **state)
{
	struct place a = missing("/mnt/x");
	struct place b = directory("/x/in");

	(void)state;
	a.located = false;
	assert_int_equal(mounts_relate(&a, &b), MOUNTS_DISJOINT);
	a.above[1] = b.above[0];
	assert_int_equal(mounts_relate(&a, &b), MOUNTS_ALIAS);
	b = directory("/y/in");
	assert_int_equal(mounts_relate(&a, &b), MOUNTS_DISJOINT);
}

/* A name in / itself, and in a second view of /. */
static void missing_in_the_root(void **state)
{
	struct place a = missing("/x");
	struct place b = directory("/mnt/x/in");

	(void)state;
	a.located = false;
	relates(&a, &b, MOUNTS_DISJOINT);
	b.above[1] = b.above[0];
	relates(&a, &b, MOUNTS_ALIAS);
	/* Only in the directories that exist: the ones behind say nothing. */
	a = missing("/home/b");
	a.located = false;
	b = absent("/srv/a/b/c", 2);
	a.above[1] = b.above[2];
	relates(&a, &b, MOUNTS_DISJOINT);
	b.depth = 3;
	relates(&a, &b, MOUNTS_ALIAS);
	/* Without a directory above there is none that it could be made in. */
	a = missing("/x");
	a.located = false;
	a.depth = 0;
	b = directory("/mnt/x");
	relates(&a, &b, MOUNTS_DISJOINT);
}

/* A place that has more directories above it than its path says: no component
 * is looked for behind the path.  The place ends where nothing may be read. */
static void deeper_than_its_path(void **state)
{
	const size_t size = (sizeof(struct place) / 4096 + 1) * 4096;
	char *room = mmap(NULL, size + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
	                  -1, 0);
	struct place *a = (struct place *)(void *)(room + size - sizeof(struct place));
	struct place b = directory("/mnt/x/y");

	(void)state;
	assert_true(room != MAP_FAILED);
	assert_int_equal(mprotect(room + size, 4096, PROT_NONE), 0);
	*a = text_place("/a");
	a->state = PLACE_MISSING;
	a->depth = PLACE_DEPTH;
	b.located = false;
	relates(a, &b, MOUNTS_DISJOINT);
	a->above[PLACE_DEPTH - 1] = b.above[1];
	relates(a, &b, MOUNTS_DISJOINT);
	assert_int_equal(munmap(room, size + 4096), 0);
}

/* --- pairs and protected paths --- */

static void pairs(void **state)
{
	struct place place[4] = {directory("/srv/a"), directory("/srv/b"), directory("/srv/a/in"),
	                         directory("/mnt/b")};
	struct mounts_item item[4] = {
		{.place = &place[0], .pointer = "/mounts/0/host"},
		{.place = &place[1], .pointer = "/mounts/1/host"},
		{.place = &place[2], .pointer = "/mounts/2/host"},
		{.place = &place[3], .pointer = "/mounts/3/host"},
	};
	static const struct expected expected[] = {
		{REASON_MOUNT_OVERLAP, "/mounts/2/host"},
		{REASON_MOUNT_ALIAS, "/mounts/3/host"},
	};

	(void)state;
	judge(item, 2, NULL, 0);
	assert_findings(NULL, 0);
	place[3].self = place[1].self;
	judge(item, 4, NULL, 0);
	assert_findings(expected, 2);
	assert_string_equal(report.at[0].detail, "/srv/a/in and /srv/a of /mounts/0/host");
	assert_string_equal(report.at[1].detail, "/mnt/b and /srv/b of /mounts/1/host");
	assert_string_equal(code_name(report.at[0].code), "SANDBOX_MOUNT_OVERLAP");
	assert_string_equal(code_name(report.at[1].code), "SANDBOX_MOUNT_OVERLAP");
	/* A place that cannot be compared is refused once, not with each. */
	place[0] = unknown("/srv", EACCES);
	judge(item, 3, NULL, 0);
	assert_int_equal(report.count, 1);
	assert_int_equal(report.at[0].reason, REASON_MOUNT_MISSING);
	/* Text is compared as text. */
	place[0] = text_place("/srv/b/x");
	place[1] = text_place("/srv/b");
	judge(item, 2, NULL, 0);
	assert_findings(&(struct expected){REASON_MOUNT_OVERLAP, "/mounts/1/host"}, 1);
	assert_string_equal(report.at[0].detail, "/srv/b and /srv/b/x of /mounts/0/host");
}

static void bundle_is_outside(void **state)
{
	struct place place[2] = {directory("/srv/a"), plain_file("/srv/a/bundle.js")};
	struct mounts_item item[2] = {
		{.place = &place[0], .pointer = "/mounts/0/host"},
		{.place = &place[1], .pointer = "/bundle/host", .is_file = true},
	};

	(void)state;
	judge(item, 2, NULL, 0);
	assert_findings(&(struct expected){REASON_MOUNT_OVERLAP, "/bundle/host"}, 1);
	place[1] = plain_file("/srv/bundle.js");
	judge(item, 2, NULL, 0);
	assert_findings(NULL, 0);
}

static void protected_paths(void **state)
{
	static const struct {
		const char *source;
		const char *guarded;
		bool refused;
	} row[] = {
		{"/srv/a", "/srv/b", false},
		{"/srv/a", "/srv/ab", false},
		{"/srv/a", "/srv/a", true},
		{"/srv/a", "/srv/a/sock", true}, /* inside the source */
		{"/srv/a/b", "/srv/a", true}, /* around it */
	};

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		struct place source = directory(row[i].source);
		struct place guarded[4] = {plain_file(row[i].guarded), missing(row[i].guarded),
		                           absent(row[i].guarded, 1), text_place(row[i].guarded)};
		struct mounts_item item = {.place = &source, .pointer = "/mounts/0/host"};
		struct expected expected = {REASON_MOUNT_PROTECTED, "/mounts/0/host"};

		for (size_t k = 0; k < COUNT(guarded); k++) {
			struct mounts_protected one = {&guarded[k], "the docker socket"};

			judge(&item, 1, &one, 1);
			assert_findings(&expected, row[i].refused ? 1 : 0);
			if (row[i].refused) {
				char detail[128];

				(void)snprintf(detail, sizeof(detail), "the docker socket: %s",
				               row[i].guarded);
				assert_string_equal(report.at[0].detail, detail);
			}
		}
	}
}

static void protected_unknown(void **state)
{
	struct place source = directory("/srv/a");
	struct place far = unknown("/home/op", EACCES);
	struct place deep = text_place("/");
	struct mounts_item item = {.place = &source, .pointer = "/mounts/0/host"};
	struct mounts_protected guarded[2] = {{&far, "a private path"}, {&deep, "a deep path"}};
	static const struct expected expected[] = {{REASON_PRIVATE_EXAMINE, ""},
	                                           {REASON_PRIVATE_EXAMINE, ""}};

	(void)state;
	deep.state = PLACE_DEEP;
	judge(&item, 1, guarded, 2);
	assert_findings(expected, 2);
	assert_string_equal(report.at[0].detail, "a private path: /home/op");
	/* Even without a single mount. */
	judge(NULL, 0, guarded, 2);
	assert_findings(expected, 2);
	judge(NULL, 0, NULL, 0);
	assert_findings(NULL, 0);
}

static void protected_alias(void **state)
{
	struct place source = directory("/mnt/alias");
	struct place secret = plain_file("/home/op/.ssh/id");
	struct mounts_item item = {.place = &source, .pointer = "/mounts/0/host"};
	struct mounts_protected guarded = {&secret, "secrets in your home"};
	struct expected expected = {REASON_MOUNT_PROTECTED, "/mounts/0/host"};

	(void)state;
	judge(&item, 1, &guarded, 1);
	assert_findings(NULL, 0);
	put_location(&source, 1, "/home/op");
	judge(&item, 1, &guarded, 1);
	assert_findings(&expected, 1);
	put_location(&source, 2, "/home/op");
	judge(&item, 1, &guarded, 1);
	assert_findings(NULL, 0);
	source.self = secret.above[2];
	judge(&item, 1, &guarded, 1);
	assert_findings(&expected, 1);
}

/* --- generated trees --- */

/*
 * A tree of NODES directories, node 0 the root, each other one a child of an
 * earlier one and named n<number>; on top, binds: each shows a node again,
 * under a name of its own in the root.  A place is a bind (or none) and a node
 * below it.  Two places overlap iff one node is above (or is) the other's: that
 * is all that the oracle looks at.
 */
#define NODES 12
#define BINDS 3

static uint64_t seed;

static uint32_t draw(uint32_t below)
{
	seed = seed * 6364136223846793005U + 1442695040888963407U;
	return (uint32_t)(seed >> 33) % below;
}

struct tree {
	uint32_t parent[NODES];
	uint32_t bound[BINDS]; /* the node that each bind shows */
};

static bool above(const struct tree *tree, uint32_t outer, uint32_t inner)
{
	while (inner != outer && inner != 0)
		inner = tree->parent[inner];
	return inner == outer;
}

/* Writes the nodes from below `top` down to node; their count. */
static uint32_t line_of(const struct tree *tree, uint32_t top, uint32_t node, uint32_t *line)
{
	uint32_t count = 0;

	for (uint32_t at = node; at != top; at = tree->parent[at])
		line[count++] = at;
	for (uint32_t i = 0; i < count / 2; i++) {
		uint32_t kept = line[i];

		line[i] = line[count - 1 - i];
		line[count - 1 - i] = kept;
	}
	return count;
}

static void append(char *path, uint32_t node)
{
	size_t len = strlen(path);

	(void)snprintf(path + len, PATH_BYTES_MAX - len, "/n%u", node);
}

/* bind BINDS: none, by the tree's own path. */
static struct place tree_place(const struct tree *tree, uint32_t bind, uint32_t node, bool locate)
{
	struct place place = {.state = PLACE_EXISTS, .st_mode = PLACE_DIRECTORY};
	uint32_t top = bind == BINDS ? 0 : tree->bound[bind];
	uint32_t line[NODES];
	uint32_t count = line_of(tree, top, node, line);
	struct place_id root = {1, 1000};

	place.self = (struct place_id){1, 1000 + node};
	if (bind < BINDS) {
		(void)snprintf(place.path, sizeof(place.path), "/bind%u", bind);
		place.above[place.depth++] = root;
	}
	for (uint32_t i = 0; i < count; i++) {
		append(place.path, line[i]);
		place.above[place.depth++] =
		        (struct place_id){1, 1000 + (i == 0 ? top : line[i - 1])};
	}
	if (place.path[0] == '\0')
		place.path[0] = '/';
	place.len = strlen(place.path);
	place.located = locate;
	count = line_of(tree, 0, node, line);
	for (uint32_t i = 0; i < count; i++)
		append(place.inside, line[i]);
	if (place.inside[0] == '\0')
		place.inside[0] = '/';
	place.inside_len = strlen(place.inside);
	return place;
}

static void grow(struct tree *tree)
{
	tree->parent[0] = 0;
	for (uint32_t i = 1; i < NODES; i++)
		tree->parent[i] = draw(i);
	for (uint32_t i = 0; i < BINDS; i++)
		tree->bound[i] = 1 + draw(NODES - 1);
}

/* Every place of a tree: each node by its own path, and below each bind. */
static uint32_t every_place(const struct tree *tree, struct place *out, uint32_t *node)
{
	uint32_t count = 0;

	for (uint32_t bind = 0; bind <= BINDS; bind++) {
		for (uint32_t n = 1; n < NODES; n++) {
			if (bind < BINDS && !above(tree, tree->bound[bind], n))
				continue;
			node[count] = n;
			out[count++] = tree_place(tree, bind, n, true);
		}
	}
	return count;
}

static void generated(void **state)
{
	static struct place place[NODES * (BINDS + 1)];
	uint32_t node[NODES * (BINDS + 1)];
	uint64_t pairs_seen = 0;
	uint64_t found[3] = {0, 0, 0};

	(void)state;
	seed = 20240229;
	for (unsigned trees = 0; trees < 300; trees++) {
		struct tree tree;
		uint32_t count;

		grow(&tree);
		count = every_place(&tree, place, node);
		for (uint32_t i = 0; i < count; i++) {
			for (uint32_t k = 0; k < count; k++) {
				bool expected = above(&tree, node[i], node[k]) ||
				                above(&tree, node[k], node[i]);
				enum mounts_relation got = mounts_relate(&place[i], &place[k]);

				if ((got != MOUNTS_DISJOINT) != expected)
					fail_msg("tree %u: %s and %s give %d", trees, place[i].path,
					         place[k].path, (int)got);
				found[got]++;
				pairs_seen++;
			}
		}
	}
	printf("generated: %llu pairs; disjoint %llu, overlap %llu, alias %llu\n",
	       (unsigned long long)pairs_seen, (unsigned long long)found[0],
	       (unsigned long long)found[1], (unsigned long long)found[2]);
	assert_true(found[MOUNTS_DISJOINT] > 1000 && found[MOUNTS_OVERLAP] > 1000 &&
	            found[MOUNTS_ALIAS] > 1000);
}

/* Identity alone sees an alias as well, as long as the upper of the two is the
 * mount's root or below it on both paths. */
static void generated_without_location(void **state)
{
	uint64_t aliases = 0;

	(void)state;
	seed = 7;
	for (unsigned trees = 0; trees < 300; trees++) {
		struct tree tree;

		grow(&tree);
		for (uint32_t n = 1; n < NODES; n++) {
			struct place bound = tree_place(&tree, 0, tree.bound[0], false);
			struct place other = tree_place(&tree, BINDS, n, false);
			bool expected = above(&tree, tree.bound[0], n);

			if ((mounts_relate(&bound, &other) != MOUNTS_DISJOINT) != expected)
				fail_msg("tree %u: %s and %s", trees, bound.path, other.path);
			aliases += expected ? 1 : 0;
		}
	}
	assert_true(aliases > 300);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(missing_below_the_root),
		cmocka_unit_test(missing_in_the_root),
		cmocka_unit_test(deeper_than_its_path),
		cmocka_unit_test(types),
		cmocka_unit_test(not_there),
		cmocka_unit_test(host_rules),
		cmocka_unit_test(canonical_text),
		cmocka_unit_test(system_directories),
		cmocka_unit_test(system_details),
		cmocka_unit_test(by_text),
		cmocka_unit_test(by_identity),
		cmocka_unit_test(by_location),
		cmocka_unit_test(by_name),
		cmocka_unit_test(unknown_overlaps_everything),
		cmocka_unit_test(same),
		cmocka_unit_test(pairs),
		cmocka_unit_test(bundle_is_outside),
		cmocka_unit_test(protected_paths),
		cmocka_unit_test(protected_unknown),
		cmocka_unit_test(protected_alias),
		cmocka_unit_test(generated),
		cmocka_unit_test(generated_without_location),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: ISC */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

#include "../../policy/resolve.h"
#include "usual.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define NOBODY 65534U

/*
 * A scratch tree, made anew for the whole run.  What needs root is done as
 * root only, and what is left out is said.
 */
static char base[PATH_MAX / 4];
static bool own_namespace; /* root, in a mount namespace of its own */
static struct place place;

/* base + "/" + rest; four may be in use at a time. */
static const char *at(const char *rest)
{
	static char path[4][2 * PATH_MAX];
	static unsigned turn;
	char *out = path[turn++ % 4];

	assert_true(strlen(base) + 1 + strlen(rest) < sizeof(path[0]));
	(void)snprintf(out, sizeof(path[0]), "%s/%s", base, rest);
	return out;
}

static void directory(const char *rest, mode_t mode)
{
	assert_int_equal(mkdir(at(rest), 0700), 0);
	assert_int_equal(chmod(at(rest), mode), 0);
}

static void file(const char *rest)
{
	int fd = open(at(rest), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(close(fd), 0);
}

static void link_to(const char *target, const char *rest)
{
	assert_int_equal(symlink(target, at(rest)), 0);
}

static void resolve(const char *rest)
{
	resolve_place(at(rest), (uint32_t)geteuid(), &place);
}

static uint32_t slashes(const char *path)
{
	uint32_t count = 0;

	for (; *path != '\0'; path++)
		count += *path == '/' ? 1U : 0U;
	return count;
}

/* --- the system calls, which pass through here --- */

/* What a kernel may answer, or another process do, at one of them. */
static struct {
	unsigned calls; /* of statx so far */
	unsigned at; /* the one that fails, or that something happens before */
	int error; /* it fails so; 0: what "m/sub" is moves to "n/sub" */
	bool no_mount; /* no mount ids: Linux before 5.8, statx(2) */
	bool no_link; /* readlinkat fails, or (no error) finds nothing */
} fault;

int openat(int fd, const char *path, int flags, ...)
{
	bool above = strcmp(path, "/") == 0 || strcmp(path, "..") == 0;

	assert_int_equal(flags, O_PATH | O_NOFOLLOW | O_CLOEXEC | (above ? O_DIRECTORY : 0));
	assert_in_range(strlen(path), 1, NAME_MAX);
	return (int)syscall(SYS_openat, fd, path, flags);
}

int statx(int fd, const char *restrict path, int flags, unsigned mask, struct statx *restrict out)
{
	int result;

	assert_int_equal(mask, STATX_BASIC_STATS | STATX_MNT_ID);
	if (++fault.calls == fault.at && fault.error != 0) {
		errno = fault.error;
		return -1;
	}
	if (fault.calls == fault.at)
		assert_int_equal(rename(at("m/sub"), at("n/sub")), 0);
	result = (int)syscall(SYS_statx, fd, path, flags, mask, out);
	if (fault.no_mount)
		out->stx_mask &= ~(unsigned)STATX_MNT_ID;
	return result;
}

ssize_t readlinkat(int fd, const char *restrict path, char *restrict to, size_t len)
{
	errno = fault.error != 0 ? fault.error : EBUSY;
	if (fault.no_link)
		return fault.error != 0 ? -1 : 0;
	return syscall(SYS_readlinkat, fd, path, to, len);
}

static unsigned open_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned count = 0;

	assert_non_null(dir);
	while (readdir(dir) != NULL)
		count++;
	assert_int_equal(closedir(dir), 0);
	return count;
}

/* The place is what stat(2) shows, and so is every directory above it. */
static void assert_is(const char *canonical)
{
	char prefix[PATH_MAX];
	struct stat seen;

	assert_int_equal(place.state, PLACE_EXISTS);
	assert_string_equal(place.path, canonical);
	assert_int_equal(place.len, strlen(canonical));
	assert_int_equal(lstat(canonical, &seen), 0);
	assert_true(place.self.dev == seen.st_dev && place.self.ino == seen.st_ino);
	assert_int_equal(place.st_mode, seen.st_mode);
	assert_int_equal(place.uid, seen.st_uid);
	assert_int_equal(place.nlink, seen.st_nlink);
	assert_int_equal(place.depth, place.len == 1 ? 0 : slashes(canonical));
	(void)snprintf(prefix, sizeof(prefix), "%s", canonical);
	for (uint32_t i = place.depth; i > 0; i--) {
		char *slash = strrchr(prefix, '/');

		slash[slash == prefix ? 1 : 0] = '\0';
		assert_int_equal(lstat(prefix, &seen), 0);
		assert_true(place.above[i - 1].dev == seen.st_dev &&
		            place.above[i - 1].ino == seen.st_ino);
	}
}

/* --- links, dots, slashes --- */

static void existing(void **state)
{
	static const struct {
		const char *path;
		const char *canonical;
	} row[] = {
		{"a", "a"},
		{"a/", "a"},
		{"a//b///c", "a/b/c"},
		{"./a/./b/.", "a/b"},
		{"a/b/..", "a"},
		{"a/b/../../a/b/c/../c", "a/b/c"},
		{"a/file", "a/file"},
		{"relative", "a/b"},
		{"relative/", "a/b"},
		{"relative/c", "a/b/c"},
		{"absolute", "a/b"},
		{"absolute/c", "a/b/c"},
		{"relative/..", "a"},
		{"absolute/../file", "a/file"},
		{"absolute/../../a/file", "a/file"},
		{"relative/../b/../up/b", "a/b"},
		{"a/up/up/up/b", "a/b"},
		{"dot/a", "a"},
		{"slashes", "a/b"},
		{"slashes/c", "a/b/c"},
		{"filelink", "a/file"},
		{"a/socket", "a/socket"},
		{"a/fifo", "a/fifo"},
		{"a/...", "a/..."},
		{"chain40", "a"},
		{"chain39/../a/b", "a/b"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		char real[PATH_MAX];

		print_message("%s\n", row[i].path);
		resolve(row[i].path);
		assert_is(at(row[i].canonical));
		assert_non_null(realpath(at(row[i].path), real));
		assert_string_equal(place.path, real);
		assert_false(place.weak);
		assert_int_equal(place.weak_len, 0);
		assert_string_equal(place.weak_path, "");
	}
}

static void root_directory(void **state)
{
	static const char *const row[] = {"/", "//", "/.", "/..", "/../../.", "/tmp/.."};

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		resolve_place(row[i], (uint32_t)geteuid(), &place);
		assert_is("/");
	}
	resolve("rootlink");
	assert_is("/");
	resolve("rootlink/../../.");
	assert_is("/");
}

static void not_existing(void **state)
{
	static const struct {
		const char *path;
		enum place_state state;
		const char *canonical; /* NULL: not looked at */
		const char *deepest; /* the deepest directory in `above` */
		int error;
	} row[] = {
		{"none", PLACE_MISSING, "none", ".", ENOENT},
		{"none/", PLACE_MISSING, "none", ".", ENOENT},
		{"none/.", PLACE_MISSING, "none", ".", ENOENT},
		{"a/b/../none", PLACE_MISSING, "a/none", "a", ENOENT},
		{"relative/none", PLACE_MISSING, "a/b/none", "a/b", ENOENT},
		{"dangling", PLACE_MISSING, "a/none", "a", ENOENT},
		{"danglingdeep", PLACE_ABSENT, "a/none/x", "a", ENOENT},
		{"none/x", PLACE_ABSENT, "none/x", ".", ENOENT},
		{"a/none//x/./y/", PLACE_ABSENT, "a/none/x/y", "a", ENOENT},
		{"a/file/x", PLACE_ABSENT, "a/file/x", "a", ENOTDIR},
		{"a/file/x/y", PLACE_ABSENT, "a/file/x/y", "a", ENOTDIR},
		{"filelink/x", PLACE_ABSENT, "a/file/x", "a", ENOTDIR},
		{"a/file/", PLACE_UNKNOWN, NULL, NULL, ENOTDIR},
		{"a/file/.", PLACE_UNKNOWN, NULL, NULL, ENOTDIR},
		{"a/file/..", PLACE_UNKNOWN, NULL, NULL, ENOTDIR},
		{"none/..", PLACE_UNKNOWN, NULL, NULL, ENOENT},
		{"none/x/../../a", PLACE_UNKNOWN, NULL, NULL, ENOENT},
		{"self", PLACE_UNKNOWN, NULL, NULL, ELOOP},
		{"ping", PLACE_UNKNOWN, NULL, NULL, ELOOP},
		{"ping/x", PLACE_UNKNOWN, NULL, NULL, ELOOP},
		{"chain41", PLACE_UNKNOWN, NULL, NULL, ELOOP},
		{"chain40/up", PLACE_UNKNOWN, NULL, NULL, ELOOP},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		struct stat seen;

		print_message("%s\n", row[i].path);
		resolve(row[i].path);
		assert_int_equal(place.state, row[i].state);
		assert_int_equal(place.error, row[i].error);
		if (row[i].canonical == NULL)
			continue;
		assert_string_equal(place.path, at(row[i].canonical));
		assert_int_equal(place.len, strlen(at(row[i].canonical)));
		assert_int_equal(stat(at(row[i].deepest), &seen), 0);
		assert_true(place.depth > 0);
		assert_true(place.above[place.depth - 1].dev == seen.st_dev &&
		            place.above[place.depth - 1].ino == seen.st_ino);
		if (row[i].state == PLACE_MISSING)
			assert_int_equal(place.depth, slashes(place.path));
	}
}

static void not_absolute(void **state)
{
	static const char *const row[] = {"", "a", "./a", "~"};

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		resolve_place(row[i], 0, &place);
		assert_int_equal(place.state, PLACE_UNKNOWN);
		assert_int_equal(place.error, EINVAL);
		resolve_text(row[i], &place);
		assert_int_equal(place.state, PLACE_UNKNOWN);
	}
}

/* Search permission is missing: as root, by becoming nobody for a moment. */
static void forbidden(void **state)
{
	bool root = geteuid() == 0;

	(void)state;
	directory("locked", 0700);
	directory("locked/in", 0700);
	if (root)
		assert_int_equal(seteuid(NOBODY), 0);
	else
		assert_int_equal(chmod(at("locked"), 0), 0);
	resolve_place(at("locked/in"), 0, &place);
	assert_false(resolve_holds(at("locked/in"), 1, 1));
	if (root)
		assert_int_equal(seteuid(0), 0);
	else
		assert_int_equal(chmod(at("locked"), 0700), 0);
	assert_int_equal(place.state, PLACE_UNKNOWN);
	assert_int_equal(place.error, EACCES);
}

/* --- failures --- */

/* Whichever call fails: nothing is known of the place, nothing is left open. */
static void statx_fails(void **state)
{
	static const char path[] = "a/b/../file";
	unsigned before = open_descriptors();
	unsigned calls;

	(void)state;
	fault.calls = 0;
	resolve(path);
	assert_int_equal(place.state, PLACE_EXISTS);
	calls = fault.calls;
	assert_int_equal(calls, 1 + slashes(base) + 4);
	for (unsigned i = 1; i <= calls; i++) {
		bool parent = i == calls - 1;

		fault.calls = 0;
		fault.at = i;
		fault.error = EIO;
		resolve(path);
		fault.at = 0;
		fault.error = 0;
		assert_int_equal(place.state, PLACE_UNKNOWN);
		assert_int_equal(place.error, parent ? ESTALE : EIO);
		assert_int_equal(open_descriptors(), before);
	}
}

/* Another parent than the one walked through. */
static void moved(void **state)
{
	unsigned before = open_descriptors();

	(void)state;
	directory("m", 0755);
	directory("m/sub", 0755);
	directory("n", 0755);
	fault.calls = 0;
	fault.at = 1 + slashes(base) + 2;
	resolve("m/sub/..");
	fault.at = 0;
	assert_int_equal(place.state, PLACE_UNKNOWN);
	assert_int_equal(place.error, ESTALE);
	assert_int_equal(open_descriptors(), before);
	resolve("n/sub/..");
	assert_is(at("n"));
}

static void link_fails(void **state)
{
	static const int row[][2] = {{EIO, EIO}, {0, ENOENT}, {ENAMETOOLONG, ENAMETOOLONG}};
	unsigned before = open_descriptors();

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		fault.no_link = true;
		fault.error = row[i][0];
		resolve("relative");
		fault.no_link = false;
		fault.error = 0;
		assert_int_equal(place.state,
		                 row[i][1] == ENAMETOOLONG ? PLACE_DEEP : PLACE_UNKNOWN);
		assert_int_equal(place.error, row[i][1]);
		assert_int_equal(open_descriptors(), before);
	}
}

/* A program may be started without a standard input; 0 is a descriptor as any
 * other, and it is closed like any other. */
static void descriptor_zero(void **state)
{
	static const struct {
		const char *path;
		enum place_state state;
	} row[] = {
		{"", PLACE_EXISTS},     {"a", PLACE_EXISTS},       {"a/b", PLACE_EXISTS},
		{"a/..", PLACE_EXISTS}, {"a/b/..", PLACE_EXISTS},  {"a/b/../..", PLACE_EXISTS},
		{"none", PLACE_MISSING}, {"a/none", PLACE_MISSING}, {"relative", PLACE_EXISTS},
		{"absolute/c", PLACE_EXISTS}, {"rootlink", PLACE_EXISTS}, {"self", PLACE_UNKNOWN},
	};
	int kept = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 16);
	struct stat root;

	(void)state;
	assert_true(kept >= 0 && close(STDIN_FILENO) == 0);
	for (size_t i = 0; i < COUNT(row); i++) {
		resolve(row[i].path);
		if (place.state != row[i].state)
			fail_msg("%s: state %d", row[i].path, (int)place.state);
		assert_int_equal(fcntl(STDIN_FILENO, F_GETFD), -1);
	}
	assert_int_equal(stat("/", &root), 0);
	assert_true(resolve_holds("/", root.st_dev, root.st_ino));
	assert_int_equal(fcntl(STDIN_FILENO, F_GETFD), -1);
	assert_int_equal(dup2(kept, STDIN_FILENO), STDIN_FILENO);
	assert_int_equal(close(kept), 0);
}

/* --- bounds --- */

static void assert_deep(void)
{
	assert_int_equal(place.state, PLACE_DEEP);
	assert_int_equal(place.error, ENAMETOOLONG);
	assert_string_equal(place.path, "/");
	assert_int_equal(place.len, 1);
	assert_false(place.located);
	assert_null(place.submount);
}

/* "/x" until the path has `components` in all. */
static void deep_path(char *path, size_t size, uint32_t components, bool make)
{
	size_t len = strlen(base);

	memcpy(path, base, len + 1);
	for (uint32_t i = slashes(base); i < components; i++) {
		assert_true(len + 3 < size);
		memcpy(path + len, "/x", 3);
		len += 2;
		if (make)
			assert_true(mkdir(path, 0700) == 0 || errno == EEXIST);
	}
}

static void depth_bound(void **state)
{
	static char path[2 * PATH_MAX];

	(void)state;
	deep_path(path, sizeof(path), PLACE_DEPTH + 1, true);
	resolve_place(path, (uint32_t)geteuid(), &place);
	assert_deep();
	deep_path(path, sizeof(path), PLACE_DEPTH, false);
	resolve_place(path, (uint32_t)geteuid(), &place);
	assert_is(path);
	assert_int_equal(place.depth, PLACE_DEPTH);
	resolve_text(path, &place);
	assert_int_equal(place.state, PLACE_TEXT);
	assert_string_equal(place.path, path);
	deep_path(path, sizeof(path), PLACE_DEPTH + 1, false);
	resolve_text(path, &place);
	assert_deep();
	/* What comes back out again does not count. */
	assert_true(strlen(path) + 7 < sizeof(path));
	(void)snprintf(path, sizeof(path), "%s", base);
	for (unsigned i = 0; i < 3 * PLACE_DEPTH; i++)
		memcpy(path + strlen(path), "/a/..", 6);
	resolve_place(path, (uint32_t)geteuid(), &place);
	assert_is(base);
	resolve_text(path, &place);
	assert_string_equal(place.path, base);
	assert_int_equal(place.state, PLACE_TEXT);
}

/* base, then "/." until the path has `len` bytes (or one more slash). */
static void long_path(char *path, size_t len)
{
	size_t from = strlen(base);

	memcpy(path, base, from);
	for (size_t i = from; i < len; i++)
		path[i] = (i - from) % 2 == 0 ? '/' : '.';
	path[len] = '\0';
}

static void length_bound(void **state)
{
	static char path[2 * PATH_MAX];
	char name[NAME_MAX + 2];

	(void)state;
	long_path(path, PATH_BYTES_MAX);
	resolve_place(path, (uint32_t)geteuid(), &place);
	assert_is(base);
	resolve_text(path, &place);
	assert_string_equal(place.path, base);
	long_path(path, PATH_BYTES_MAX + 1);
	resolve_place(path, (uint32_t)geteuid(), &place);
	assert_deep();
	resolve_text(path, &place);
	assert_deep();

	memset(name, 'n', sizeof(name));
	name[NAME_MAX] = '\0';
	directory(name, 0700);
	resolve(name);
	assert_is(at(name));
	name[NAME_MAX] = 'n';
	name[NAME_MAX + 1] = '\0';
	resolve(name);
	assert_deep();
	resolve_text(at(name), &place);
	assert_deep();
}

/* A link whose text and the rest of the path have one byte too many together. */
static void link_bound(void **state)
{
	static char path[2 * PATH_MAX];
	char target[PATH_MAX];
	size_t len = (size_t)snprintf(path, sizeof(path), "%s", at("wide"));

	(void)state;
	long_path(target, 3000);
	link_to(target, "wide");
	for (size_t i = len; i < len + PATH_BYTES_MAX - 3000 + 1; i++)
		path[i] = (i - len) % 2 == 0 ? '/' : '.';
	path[len + PATH_BYTES_MAX - 3000] = '\0';
	resolve_place(path, (uint32_t)geteuid(), &place);
	assert_is(base);
	path[len + PATH_BYTES_MAX - 3000] = '/';
	path[len + PATH_BYTES_MAX - 3000 + 1] = '\0';
	resolve_place(path, (uint32_t)geteuid(), &place);
	assert_deep();
	/* The longest text that a link can have is read to its last byte. */
	long_path(target, PATH_BYTES_MAX - 2);
	memcpy(target + PATH_BYTES_MAX - 2, "/a", 3);
	link_to(target, "widest");
	resolve("widest");
	assert_is(at("a"));
}

/* A path walked through links is bounded as one that was given. */
static void walked_bound(void **state)
{
	static const struct {
		const char *between;
		enum place_state state;
	} row[] = {{"", PLACE_MISSING}, {"none/", PLACE_ABSENT}};
	static char path[PATH_MAX];
	char name[NAME_MAX + 1];
	char target[sizeof("none/") + sizeof(name)];
	char given[16];
	size_t len = strlen(base);

	(void)state;
	memset(name, 'n', sizeof(name));
	memcpy(path, base, len);
	while (len < 3900) {
		size_t more = 3900 - len <= NAME_MAX ? 3900 - len : NAME_MAX / 2;

		path[len] = '/';
		memcpy(path + len + 1, name, more - 1);
		len += more;
		path[len] = '\0';
		assert_int_equal(mkdir(path, 0755), 0);
	}
	link_to(path, "far");
	for (size_t i = 0; i < 2 * COUNT(row); i++) {
		const char *between = row[i / 2].between;
		size_t most = PATH_BYTES_MAX - len - 1 - strlen(between);
		bool over = i % 2 == 1;

		(void)snprintf(target, sizeof(target), "%s%.*s", between, (int)most + (over ? 1 : 0),
		               name);
		(void)snprintf(given, sizeof(given), "far/down%zu", i);
		link_to(target, given);
		resolve(given);
		if (over) {
			assert_deep();
			continue;
		}
		assert_int_equal(place.state, row[i / 2].state);
		assert_int_equal(place.len, PATH_BYTES_MAX);
		assert_int_equal(strlen(place.path), PATH_BYTES_MAX);
		assert_string_equal(place.path + len + 1, target);
	}
}

/* ".." takes back a component of the count, and none that is not there. */
static void text_depth(void **state)
{
	static const struct {
		const char *start;
		unsigned left;
	} row[] = {{"", 0}, {"/..", 0}, {"/a/..", 0}, {"/a/b/..", 1}, {"/a/../..", 0}};
	char path[PATH_BYTES_MAX];

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		size_t len = (size_t)snprintf(path, sizeof(path), "%s", row[i].start);

		for (unsigned k = row[i].left; k < PLACE_DEPTH; k++)
			len += (size_t)snprintf(path + len, sizeof(path) - len, "/x");
		resolve_text(path, &place);
		assert_int_equal(place.state, PLACE_TEXT);
		assert_int_equal(slashes(place.path), PLACE_DEPTH);
		(void)snprintf(path + len, sizeof(path) - len, "/x");
		resolve_text(path, &place);
		assert_deep();
	}
}

static void text_only(void **state)
{
	static const struct {
		const char *path;
		const char *canonical;
	} row[] = {
		{"/", "/"},
		{"//", "/"},
		{"/..", "/"},
		{"/a/..", "/"},
		{"/a", "/a"},
		{"/a/", "/a"},
		{"//a///b//", "/a/b"},
		{"/a/./b/.", "/a/b"},
		{"/a/b/../c", "/a/c"},
		{"/../a/../../b", "/b"},
		{"/...", "/..."},
		{"/a/.b", "/a/.b"},
		{"/a/b.", "/a/b."},
		{"/a/longer/../b", "/a/b"},
		{"/ab/..", "/"},
		{"/a/..b/c..", "/a/..b/c.."},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		resolve_text(row[i].path, &place);
		assert_int_equal(place.state, PLACE_TEXT);
		assert_string_equal(place.path, row[i].canonical);
		assert_int_equal(place.len, strlen(row[i].canonical));
		assert_int_equal(place.depth, 0);
		assert_false(place.weak || place.located);
	}
}

/* --- ancestors --- */

static void assert_weak(const char *rest, const char *weak)
{
	resolve(rest);
	if (place.weak != (weak != NULL))
		fail_msg("%s: weak is %d", rest, place.weak);
	assert_string_equal(place.weak_path, weak != NULL ? at(weak) : "");
	assert_int_equal(place.weak_len, strlen(place.weak_path));
	for (size_t i = place.weak_len; i < sizeof(place.weak_path); i++)
		assert_int_equal(place.weak_path[i], '\0');
}

static void weak_by_mode(void **state)
{
	static const struct {
		mode_t mode;
		bool weak;
	} row[] = {
		{0700, false},  {0755, false},  {0711, false},  {0720, true},
		{0770, true},   {0775, true},   {0702, true},   {0777, true},
		{01777, false}, {01770, false}, {02775, true},  {04777, true},
		{01755, false}, {03777, false},
	};

	(void)state;
	directory("w", 0700);
	directory("w/in", 0777);
	directory("w/in/deeper", 0700);
	link_to("../a", "w/out");
	for (size_t i = 0; i < COUNT(row); i++) {
		const char *weak = row[i].weak ? "w" : NULL;

		assert_int_equal(chmod(at("w"), row[i].mode), 0);
		/* The place itself is nobody's ancestor. */
		assert_weak("w", NULL);
		assert_weak("w/", NULL);
		assert_weak("w/.", NULL);
		assert_weak("w/in", weak);
		/* Walked through, though not above the place. */
		assert_weak("w/out", weak);
		assert_weak("w/out/b", weak);
		assert_weak("w/../a", weak);
		assert_weak("w/none", weak);
		assert_weak("w/none/none", weak);
		/* The first one is named. */
		assert_weak("w/in/deeper", row[i].weak ? "w" : "w/in");
	}
	assert_int_equal(chmod(at("w"), 0700), 0);
}

/* An ordinary user cannot give a directory away, but can ask in the name of
 * another; root's directories are trusted in any name. */
static void weak_by_owner(void **state)
{
	uint32_t caller = (uint32_t)geteuid();
	uint32_t other = caller == 0 ? 0 : caller + 1;

	(void)state;
	directory("given", 0755);
	directory("given/in", 0755);
	if (caller == 0)
		assert_int_equal(chown(at("given"), NOBODY, NOBODY), 0);
	resolve("given");
	assert_is(at("given"));
	resolve_place(at("given/in"), other, &place);
	assert_true(place.weak);
	assert_string_equal(place.weak_path, caller == 0 ? at("given") : base);
	resolve_place(at("given/in"), caller == 0 ? NOBODY : caller, &place);
	assert_false(place.weak);
}

/* A sticky directory protects entries from everybody but their owner. */
static void weak_entry(void **state)
{
	uint32_t caller = (uint32_t)geteuid();

	(void)state;
	directory("sticky", 01777);
	directory("sticky/d", 0755);
	directory("sticky/longer", 0755);
	link_to("../a", "sticky/l");
	link_to(".", "sticky/dot");
	if (caller != 0) {
		print_message("left out: foreign entries of a sticky directory (needs root)\n");
		assert_weak("sticky/d", NULL);
		assert_weak("sticky/l", NULL);
		return;
	}
	assert_int_equal(chown(at("sticky/d"), NOBODY, NOBODY), 0);
	assert_int_equal(lchown(at("sticky/l"), NOBODY, NOBODY), 0);
	assert_int_equal(lchown(at("sticky/dot"), NOBODY, NOBODY), 0);
	/* That an entry is noted does not lengthen the path walked. */
	assert_weak("sticky/d", "sticky/d");
	assert_is(at("sticky/d"));
	assert_weak("sticky/longer/../d", "sticky/d");
	assert_is(at("sticky/d"));
	assert_weak("sticky/dot", "sticky/dot");
	assert_is(at("sticky"));
	assert_weak("sticky/l", "sticky/l");
	assert_weak("sticky/l/b", "sticky/l");
	resolve_place(at("sticky/d"), NOBODY, &place);
	assert_false(place.weak);
	/* Not so where others may not write. */
	assert_int_equal(chmod(at("sticky"), 01755), 0);
	assert_weak("sticky/d", NULL);
	assert_weak("sticky/l", NULL);
}

/* --- the same object still? --- */

static void holds(void **state)
{
	struct stat seen;
	uint64_t dev;
	uint64_t ino;

	(void)state;
	directory("swap", 0700);
	directory("swap/one", 0700);
	directory("swap/two", 0700);
	link_to("one", "swap/link");
	assert_int_equal(stat(at("swap/one"), &seen), 0);
	dev = seen.st_dev;
	ino = seen.st_ino;
	assert_true(resolve_holds(at("swap/one"), dev, ino));
	assert_false(resolve_holds("/", 0, 0));
	assert_false(resolve_holds(at("swap/none"), 0, 0));
	assert_false(resolve_holds(at("swap/one"), dev, ino + 1));
	assert_false(resolve_holds(at("swap/one"), dev + 1, ino));
	assert_false(resolve_holds(at("swap/two"), dev, ino));
	assert_false(resolve_holds(at("swap/none"), dev, ino));
	/* Only the canonical spelling, and no link anywhere. */
	assert_false(resolve_holds(at("swap/one/"), dev, ino));
	assert_false(resolve_holds(at("swap/./one"), dev, ino));
	assert_false(resolve_holds(at("swap/two/../one"), dev, ino));
	assert_false(resolve_holds("", dev, ino));
	assert_false(resolve_holds(at("swap/link"), dev, ino));
	assert_false(resolve_holds(at("swap/link/one"), dev, ino));

	assert_int_equal(rename(at("swap/one"), at("swap/moved")), 0);
	assert_false(resolve_holds(at("swap/one"), dev, ino));
	assert_int_equal(rename(at("swap/two"), at("swap/one")), 0);
	assert_false(resolve_holds(at("swap/one"), dev, ino));
	assert_int_equal(rename(at("swap/one"), at("swap/two")), 0);
	link_to("moved", "swap/one");
	assert_false(resolve_holds(at("swap/one"), dev, ino));
	assert_true(resolve_holds(at("swap/moved"), dev, ino));
	/* An ancestor is now a link to where it was. */
	assert_int_equal(rename(at("swap"), at("swapped")), 0);
	link_to("swapped", "swap");
	assert_false(resolve_holds(at("swap/moved"), dev, ino));
	assert_true(resolve_holds(at("swapped/moved"), dev, ino));
}

/* --- the mount table --- */

static void take_mountinfo(void)
{
	int fd = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_true(resolve_mountinfo(fd));
	assert_int_equal(close(fd), 0);
}

static void no_table(void **state)
{
	static const char garbage[] = "36 35 98:0 / /m\n";
	int fds[2];

	(void)state;
	resolve("a");
	assert_false(place.located);
	assert_null(place.submount);
	take_mountinfo();
	assert_false(resolve_mountinfo(-1));
	resolve("a");
	assert_false(place.located);
	take_mountinfo();
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	assert_int_equal(write(fds[1], garbage, sizeof(garbage) - 1), sizeof(garbage) - 1);
	assert_int_equal(close(fds[1]), 0);
	assert_false(resolve_mountinfo(fds[0]));
	assert_int_equal(close(fds[0]), 0);
	resolve("a");
	assert_false(place.located);
}

/* Takes a table of these lines. */
static void take_lines(const char *lines)
{
	int fds[2];

	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	assert_int_equal(write(fds[1], lines, strlen(lines)), strlen(lines));
	assert_int_equal(close(fds[1]), 0);
	assert_true(resolve_mountinfo(fds[0]));
	assert_int_equal(close(fds[0]), 0);
}

/* What a table says of the mount, and which places it is asked for. */
static void table(void **state)
{
	struct statx seen;
	char lines[128];
	char inside[PATH_MAX];

	(void)state;
	assert_int_equal(statx(AT_FDCWD, base, 0, STATX_BASIC_STATS | STATX_MNT_ID, &seen), 0);
	(void)snprintf(lines, sizeof(lines),
	               "%llu 1 7:9 /r / rw - t s o\n"
	               "%llu 1 8:8 / /below rw - t s o\n",
	               (unsigned long long)seen.stx_mnt_id,
	               (unsigned long long)seen.stx_mnt_id + 1);
	(void)snprintf(inside, sizeof(inside), "/r%s", at("a"));
	take_lines(lines);
	resolve("a");
	assert_true(place.located);
	assert_int_equal(place.major, 7);
	assert_int_equal(place.minor, 9);
	assert_string_equal(place.inside, inside);
	resolve("rootlink");
	assert_is("/");
	assert_string_equal(place.submount, "/below");
	/* Of what is not known nothing is. */
	resolve("self");
	assert_false(place.located);
	assert_null(place.submount);
	resolve_place("not absolute", 0, &place);
	assert_false(place.located);
	assert_null(place.submount);
	deep_path(inside, sizeof(inside), PLACE_DEPTH + 1, false);
	resolve_place(inside, 0, &place);
	assert_deep();
	fault.no_mount = true;
	resolve("a");
	fault.no_mount = false;
	assert_int_equal(place.state, PLACE_EXISTS);
	assert_false(place.located);
	/* A table that cannot be read takes the place of the last one. */
	assert_false(resolve_mountinfo(-1));
	resolve("a");
	assert_false(place.located);
}

static void located(void **state)
{
	size_t inside_len;

	(void)state;
	take_mountinfo();
	resolve_place("/", 0, &place);
	assert_true(place.located);
	assert_non_null(place.submount); /* /proc at the least */
	resolve_place("/proc", 0, &place);
	assert_true(place.located);
	assert_string_equal(place.inside, "/");
	resolve_place("/proc/sys/kernel", 0, &place);
	assert_true(place.located);
	assert_string_equal(place.inside + place.inside_len - strlen("/kernel"), "/kernel");
	resolve("a");
	assert_true(place.located);
	inside_len = place.inside_len;
	assert_string_equal(place.inside + inside_len - 2, "/a");
	assert_int_equal(place.inside[0], '/');
	resolve("a/none");
	assert_int_equal(place.state, PLACE_MISSING);
	assert_true(place.located);
	assert_string_equal(place.inside + inside_len, "/none");
	resolve("a/none/x");
	assert_int_equal(place.state, PLACE_ABSENT);
	assert_true(place.located);
	assert_string_equal(place.inside + inside_len, "/none/x");
	resolve("self");
	assert_false(place.located);
}

static void bind_mount(const char *from, const char *to)
{
	assert_int_equal(mount(at(from), at(to), NULL, MS_BIND, NULL), 0);
}

static void assert_inside(const char *rest, const char *inside, dev_t dev)
{
	resolve(rest);
	if (!place.located)
		fail_msg("%s is not located: state %d, error %d, path %s", rest, (int)place.state,
		         place.error, place.path);
	assert_string_equal(place.inside, inside);
	assert_int_equal(place.inside_len, strlen(inside));
	assert_int_equal(place.major, major(dev));
	assert_int_equal(place.minor, minor(dev));
}

static void assert_submount(const char *rest, const char *below)
{
	resolve(rest);
	if (below == NULL)
		assert_null(place.submount);
	else
		assert_string_equal(place.submount, at(below));
	assert_true(place.submount == resolve_submount(&place));
}

static void make_mounts(void)
{
	directory("t", 0755);
	assert_int_equal(mount("cofferdam", at("t"), "tmpfs", 0, "size=1m,mode=755"), 0);
	directory("t/src", 0755);
	directory("t/src/sub", 0755);
	file("t/src/file");
	directory("alias", 0755);
	directory("a blank\\", 0755);
	directory("whole", 0755);
	file("filealias");
	bind_mount("t/src", "alias");
	bind_mount("t/src/sub", "a blank\\");
	bind_mount("t", "whole");
	bind_mount("t/src/file", "filealias");
	directory("t/src/nested", 0755);
	assert_int_equal(mount("cofferdam", at("t/src/nested"), "tmpfs", 0, "size=1m"), 0);
	take_mountinfo();
}

/* In the reverse order of making. */
static void unmake_mounts(void)
{
	static const char *const row[] = {"t/src/nested", "filealias", "whole",
	                                  "a blank\\",    "alias",     "t"};

	for (size_t i = 0; i < COUNT(row); i++)
		assert_int_equal(umount2(at(row[i]), 0), 0);
}

static void aliases(void **state)
{
	struct stat seen;
	struct place source;

	(void)state;
	if (!own_namespace) {
		print_message("left out: bind mounts (needs root and a mount namespace)\n");
		return;
	}
	make_mounts();
	assert_int_equal(stat(at("t"), &seen), 0);
	assert_inside("t", "/", seen.st_dev);
	assert_inside("t/src", "/src", seen.st_dev);
	assert_inside("alias", "/src", seen.st_dev);
	assert_inside("alias/sub", "/src/sub", seen.st_dev);
	assert_inside("alias/sub/none", "/src/sub/none", seen.st_dev);
	assert_inside("a blank\\", "/src/sub", seen.st_dev);
	assert_inside("whole", "/", seen.st_dev);
	assert_inside("whole/src/sub", "/src/sub", seen.st_dev);
	assert_inside("filealias", "/src/file", seen.st_dev);
	/* ".." out of a bind mount leads to where it is mounted. */
	resolve("alias/..");
	assert_is(base);
	resolve("alias/sub/../..");
	assert_is(base);
	/* The same directory by two paths. */
	resolve("t/src/sub");
	source = place;
	resolve("alias/sub");
	assert_true(source.self.dev == place.self.dev && source.self.ino == place.self.ino);

	assert_submount("t/src", "t/src/nested");
	assert_submount("t", "t/src/nested");
	assert_submount("t/src/nested", NULL);
	assert_submount("t/src/sub", NULL);
	assert_submount("alias", NULL);
	assert_submount("a", NULL);
	assert_submount("filealias", NULL);

	/* A mount that came after the table was taken is not located. */
	directory("late", 0755);
	bind_mount("t/src", "late");
	resolve("late");
	assert_int_equal(place.state, PLACE_EXISTS);
	assert_false(place.located);
	assert_int_equal(umount2(at("late"), 0), 0);
	unmake_mounts();
}

/* --- descriptors --- */

static void closes_everything(void **state)
{
	static const char *const row[] = {"a/b/c", "none/x",  "self",    "a/file/x", "dangling",
	                                  "ping",  "rootlink", "a/b/../c", "a/file/", "chain41"};
	char deep[PATH_MAX];
	unsigned before = open_descriptors();

	(void)state;
	deep_path(deep, sizeof(deep), PLACE_DEPTH + 1, false);
	resolve_place(deep, 0, &place);
	assert_deep();
	for (size_t i = 0; i < COUNT(row); i++) {
		resolve(row[i]);
		(void)resolve_holds(at(row[i]), 1, 1);
	}
	assert_int_equal(open_descriptors(), before);
}

/* --- set-up --- */

static void make_chain(void)
{
	char name[16];
	char target[16];

	link_to("a", "chain1");
	for (int i = 2; i <= 41; i++) {
		(void)snprintf(target, sizeof(target), "chain%d", i - 1);
		(void)snprintf(name, sizeof(name), "chain%d", i);
		link_to(target, name);
	}
}

static void make_socket(const char *rest)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	size_t len = strlen(at(rest));

	assert_true(fd >= 0 && len < sizeof(address.sun_path));
	memcpy(address.sun_path, at(rest), len + 1);
	assert_int_equal(bind(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(close(fd), 0);
}

static int set_up(void **state)
{
	const char *tmp = getenv("TMPDIR");
	char real[PATH_MAX];
	int len;

	(void)state;
	(void)umask(022);
	if (realpath(tmp != NULL && tmp[0] != '\0' ? tmp : "/tmp", real) == NULL)
		return -1;
	len = snprintf(base, sizeof(base), "%s/resolve.XXXXXX", real);
	if (len < 0 || (size_t)len >= sizeof(base) || mkdtemp(base) == NULL)
		return -1;
	/* Searchable, so that root may look on as nobody does. */
	if (chmod(base, 0755) != 0)
		return -1;
	own_namespace = geteuid() == 0 && unshare(CLONE_NEWNS) == 0 &&
	                mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
	directory("a", 0755);
	directory("a/b", 0755);
	directory("a/b/c", 0755);
	directory("a/...", 0755);
	file("a/file");
	make_socket("a/socket");
	assert_int_equal(mkfifo(at("a/fifo"), 0600), 0);
	link_to("a/b", "relative");
	link_to(at("a/b"), "absolute");
	link_to("../a", "a/up");
	link_to(".", "dot");
	link_to("a//b/", "slashes");
	link_to("a/file", "filelink");
	link_to("a/none", "dangling");
	link_to("a/none/x", "danglingdeep");
	link_to("/", "rootlink");
	link_to("self", "self");
	link_to("pong", "ping");
	link_to("ping", "pong");
	make_chain();
	return 0;
}

static int remove_entry(const char *path, const struct stat *seen, int type, struct FTW *where)
{
	(void)seen;
	(void)type;
	(void)where;
	return remove(path);
}

static int tear_down(void **state)
{
	(void)state;
	return nftw(base, remove_entry, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_table),     cmocka_unit_test(existing),
		cmocka_unit_test(root_directory), cmocka_unit_test(not_existing),
		cmocka_unit_test(not_absolute), cmocka_unit_test(forbidden),
		cmocka_unit_test(statx_fails),  cmocka_unit_test(moved),
		cmocka_unit_test(link_fails),   cmocka_unit_test(descriptor_zero),
		cmocka_unit_test(depth_bound),  cmocka_unit_test(length_bound),
		cmocka_unit_test(link_bound),   cmocka_unit_test(walked_bound),
		cmocka_unit_test(text_depth),   cmocka_unit_test(text_only),
		cmocka_unit_test(weak_by_mode), cmocka_unit_test(weak_by_owner),
		cmocka_unit_test(weak_entry),   cmocka_unit_test(holds),
		cmocka_unit_test(table),        cmocka_unit_test(located),
		cmocka_unit_test(aliases),
		cmocka_unit_test(closes_everything),
	};

	usual_surroundings();
	return cmocka_run_group_tests(tests, set_up, tear_down);
}

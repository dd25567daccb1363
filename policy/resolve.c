/* SPDX-License-Identifier: ISC */
#include "resolve.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "io.h"
#include "mountinfo.h"
#include "path.h"

#define LINKS_MAX 40 /* MAXSYMLINKS, path_resolution(7) */
#define COMPONENT_BYTES_MAX 255 /* NAME_MAX */
#define WRITABLE (S_IWGRP | S_IWOTH)
#define OPEN_ENTRY (O_PATH | O_NOFOLLOW | O_CLOEXEC)

/* Each step takes a component of at least two bytes with its slash, or a link. */
#define STEPS_MAX ((size_t)(LINKS_MAX + 1) * (PATH_BYTES_MAX / 2 + 2))

_Static_assert(PLACE_TYPE == S_IFMT && PLACE_DIRECTORY == S_IFDIR && PLACE_FILE == S_IFREG &&
                       PLACE_SOCKET == S_IFSOCK && PLACE_OTHERS_WRITE == S_IWOTH,
               "place.h agrees with <sys/stat.h>");

static char mount_text[MOUNTINFO_BYTES + 1];
static struct mountinfo mount_table;

/* What one O_PATH descriptor shows. */
struct object {
	struct place_id id;
	uint32_t mode;
	uint32_t uid;
	uint64_t nlink;
	bool mount_known;
	uint64_t mount;
};

/* The path still to go, and how far it was read. */
struct rest {
	size_t at;
	size_t len;
	char text[PATH_BYTES_MAX + 1];
};

struct component {
	const char *text;
	size_t len;
};

struct walk {
	struct place *out; /* path and above: of the object reached */
	uint32_t uid; /* the caller's */
	int fd; /* the object reached, O_PATH */
	struct object here; /* the same */
	unsigned links;
	struct rest rest;
};

bool resolve_mountinfo(int fd)
{
	size_t len;

	mount_table.count = 0;
	if (io_read_all(fd, mount_text, MOUNTINFO_BYTES, &len) != IO_OK)
		return false;
	return mountinfo_parse(&mount_table, mount_text, len);
}

const char *resolve_submount(const struct place *place)
{
	return mountinfo_below(&mount_table, place->path, place->len);
}

/* --- text --- */

/* The next component; an empty one only at the end. */
static struct component next_component(struct rest *rest)
{
	struct component component = {NULL, 0};

	while (rest->at < rest->len && rest->text[rest->at] == '/')
		rest->at++;
	component.text = rest->text + rest->at;
	while (rest->at < rest->len && rest->text[rest->at] != '/') {
		rest->at++;
		component.len++;
	}
	return component;
}

static bool is_dot(const struct component *component)
{
	return component->len == 1 && component->text[0] == '.';
}

static bool is_dotdot(const struct component *component)
{
	return component->len == 2 && component->text[0] == '.' && component->text[1] == '.';
}

static void text_root(struct place *out)
{
	out->path[0] = '/';
	out->path[1] = '\0';
	out->len = 1;
}

static bool text_push(struct place *out, const struct component *component)
{
	size_t at = out->len == 1 ? 0 : out->len;

	if (component->len > COMPONENT_BYTES_MAX || component->len > PATH_BYTES_MAX - 1 - at)
		return false;
	out->path[at] = '/';
	memcpy(out->path + at + 1, component->text, component->len);
	out->len = at + 1 + component->len;
	out->path[out->len] = '\0';
	return true;
}

static void text_pop(struct place *out)
{
	if (out->len == 1)
		return;
	do {
		out->len--;
	} while (out->len > 1 && out->path[out->len] != '/');
	out->path[out->len] = '\0';
}

/* Both end the walk. */
static bool too_deep(struct place *out)
{
	out->state = PLACE_DEEP;
	out->error = ENAMETOOLONG;
	text_root(out);
	return false;
}

static bool failed(struct place *out, int error)
{
	if (error == ENAMETOOLONG)
		return too_deep(out);
	out->state = PLACE_UNKNOWN;
	out->error = error;
	return false;
}

static bool begin(struct place *out, struct rest *rest, const char *path)
{
	size_t len = strlen(path);

	memset(out, 0, sizeof *out);
	text_root(out);
	if (path[0] != '/')
		return failed(out, EINVAL);
	if (len > PATH_BYTES_MAX)
		return too_deep(out);
	memcpy(rest->text, path, len);
	rest->at = 0;
	rest->len = len;
	return true;
}

void resolve_text(const char *path, struct place *out)
{
	struct component component;
	struct rest rest;
	size_t depth = 0;

	if (!begin(out, &rest, path))
		return;
	for (component = next_component(&rest); component.len > 0;
	     component = next_component(&rest)) {
		if (is_dot(&component))
			continue;
		if (is_dotdot(&component)) {
			text_pop(out);
			depth -= depth > 0 ? 1 : 0;
		} else if (depth++ == PLACE_DEPTH || !text_push(out, &component)) {
			(void)too_deep(out);
			return;
		}
	}
	out->state = PLACE_TEXT;
}

/* --- the file system --- */

static bool look(int fd, struct object *out)
{
	struct statx seen;

	if (statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_MNT_ID, &seen) != 0)
		return false;
	out->id.dev = makedev(seen.stx_dev_major, seen.stx_dev_minor);
	out->id.ino = seen.stx_ino;
	out->mode = seen.stx_mode;
	out->uid = seen.stx_uid;
	out->nlink = seen.stx_nlink;
	out->mount_known = (seen.stx_mask & STATX_MNT_ID) != 0;
	out->mount = seen.stx_mnt_id;
	return true;
}

static bool same_id(const struct place_id *a, const struct place_id *b)
{
	return a->dev == b->dev && a->ino == b->ino;
}

static void set_fd(struct walk *walk, int fd, const struct object *object)
{
	if (walk->fd >= 0)
		(void)close(walk->fd);
	walk->fd = fd;
	walk->here = *object;
}

static bool to_root(struct walk *walk)
{
	struct object root;
	int fd = openat(AT_FDCWD, "/", OPEN_ENTRY | O_DIRECTORY);

	if (fd < 0)
		return failed(walk->out, errno);
	if (!look(fd, &root)) {
		int error = errno;

		(void)close(fd);
		return failed(walk->out, error);
	}
	set_fd(walk, fd, &root);
	text_root(walk->out);
	walk->out->depth = 0;
	return true;
}

/* Remembers the first directory, or entry of the directory reached, that
 * somebody else could exchange. */
static void mark_weak(struct walk *walk, const struct component *entry)
{
	struct place *out = walk->out;
	size_t len = out->len;

	if (out->weak)
		return;
	out->weak = true;
	if (entry == NULL || text_push(out, entry)) {
		memcpy(out->weak_path, out->path, out->len + 1);
		out->weak_len = out->len;
	}
	out->len = len;
	out->path[len] = '\0';
}

static bool foreign(const struct walk *walk, const struct object *object)
{
	return object->uid != 0 && object->uid != walk->uid;
}

/* Before a name is looked up in the directory reached: may others change what
 * it holds? */
static void judge_directory(struct walk *walk)
{
	bool shared = (walk->here.mode & WRITABLE) != 0;
	bool sticky = (walk->here.mode & S_ISVTX) != 0;

	if (foreign(walk, &walk->here) || (shared && !sticky))
		mark_weak(walk, NULL);
}

/* In a sticky directory an entry's owner, too, may rename or remove it
 * (unlink(2), EPERM). */
static void judge_entry(struct walk *walk, const struct object *entry,
                        const struct component *name)
{
	bool shared = (walk->here.mode & WRITABLE) != 0;

	if (shared && foreign(walk, entry))
		mark_weak(walk, name);
}

/* Puts the directory reached onto the list of those above, and the name after
 * its path. */
static bool descend(struct walk *walk, const struct component *name)
{
	struct place *out = walk->out;

	if (out->depth == PLACE_DEPTH || !text_push(out, name))
		return too_deep(out);
	out->above[out->depth++] = walk->here.id;
	return true;
}

/* What is left of the path does not exist: it is kept as text.  ENOENT: the
 * last component taken does not, either; ENOTDIR: it is no directory, and with
 * a mere slash after it cannot be named at all (path_resolution(7)).  A ".."
 * would lead somewhere that only the missing directory could say. */
static bool missing(struct walk *walk, int error)
{
	struct place *out = walk->out;
	struct component name;
	bool more = false;

	for (name = next_component(&walk->rest); name.len > 0;
	     name = next_component(&walk->rest)) {
		if (is_dot(&name))
			continue;
		if (is_dotdot(&name))
			return failed(out, error);
		if (!text_push(out, &name))
			return too_deep(out);
		more = true;
	}
	if (!more && error == ENOTDIR)
		return failed(out, error);
	out->state = more ? PLACE_ABSENT : PLACE_MISSING;
	out->error = error;
	return false;
}

/* Puts a link's text in front of what is left of the path. */
static bool follow(struct walk *walk, int link)
{
	char target[PATH_BYTES_MAX + 1];
	ssize_t got = readlinkat(link, "", target, sizeof target);
	size_t left = walk->rest.len - walk->rest.at;

	if (got <= 0)
		return failed(walk->out, got < 0 ? errno : ENOENT);
	if (++walk->links > LINKS_MAX)
		return failed(walk->out, ELOOP);
	if ((size_t)got > PATH_BYTES_MAX - left)
		return too_deep(walk->out);
	memmove(walk->rest.text + got, walk->rest.text + walk->rest.at, left);
	memcpy(walk->rest.text, target, (size_t)got);
	walk->rest.at = 0;
	walk->rest.len = (size_t)got + left;
	return target[0] == '/' ? to_root(walk) : true;
}

/* "..", as the kernel takes it: the parent of the directory reached, / for /.
 * Another parent than the one walked through means that somebody moved it. */
static bool ascend(struct walk *walk)
{
	struct place *out = walk->out;
	struct object parent;
	int fd;

	if (out->depth == 0)
		return true;
	fd = openat(walk->fd, "..", OPEN_ENTRY | O_DIRECTORY);
	if (fd < 0)
		return failed(walk->out, errno);
	if (!look(fd, &parent) || !same_id(&parent.id, &out->above[out->depth - 1])) {
		(void)close(fd);
		return failed(walk->out, ESTALE);
	}
	set_fd(walk, fd, &parent);
	out->depth--;
	text_pop(out);
	return true;
}

static bool enter(struct walk *walk, const struct component *name)
{
	char text[COMPONENT_BYTES_MAX + 1];
	struct object entry;
	bool going;
	int fd;

	if (name->len > COMPONENT_BYTES_MAX)
		return failed(walk->out, ENAMETOOLONG);
	memcpy(text, name->text, name->len);
	text[name->len] = '\0';
	fd = openat(walk->fd, text, OPEN_ENTRY);
	if (fd < 0) {
		int error = errno;

		if (error != ENOENT)
			return failed(walk->out, error);
		return descend(walk, name) && missing(walk, error);
	}
	if (!look(fd, &entry)) {
		int error = errno;

		(void)close(fd);
		return failed(walk->out, error);
	}
	judge_entry(walk, &entry, name);
	if (S_ISLNK(entry.mode)) {
		going = follow(walk, fd);
		(void)close(fd);
		return going;
	}
	if (!descend(walk, name)) {
		(void)close(fd);
		return false;
	}
	set_fd(walk, fd, &entry);
	return true;
}

static bool arrive(struct walk *walk)
{
	struct place *out = walk->out;

	out->st_mode = walk->here.mode;
	out->uid = walk->here.uid;
	out->nlink = walk->here.nlink;
	out->self = walk->here.id;
	out->state = PLACE_EXISTS;
	return false;
}

/* True as long as there is something left to walk. */
static bool step(struct walk *walk)
{
	struct component name;

	if (!S_ISDIR(walk->here.mode) && walk->rest.at < walk->rest.len)
		return missing(walk, ENOTDIR);
	name = next_component(&walk->rest);
	if (name.len == 0)
		return arrive(walk);
	if (is_dot(&name))
		return true;
	judge_directory(walk);
	return is_dotdot(&name) ? ascend(walk) : enter(walk, &name);
}

static void walk_on(struct walk *walk)
{
	bool going = true;

	for (size_t steps = 0; going && steps < STEPS_MAX; steps++)
		going = step(walk);
	if (going)
		(void)failed(walk->out, ELOOP);
}

/* Where the place (of a missing one: the directory reached, and what is missing
 * below it) lies inside its file system. */
static void locate(const struct walk *walk)
{
	struct place *out = walk->out;
	const struct mountinfo_entry *entry = mountinfo_find(&mount_table, walk->here.mount);

	if (!walk->here.mount_known || entry == NULL ||
	    !mountinfo_inside(entry, out->path, out->len, out->inside, &out->inside_len))
		return;
	out->major = entry->major;
	out->minor = entry->minor;
	out->located = true;
}

void resolve_place(const char *path, uint32_t caller_uid, struct place *out)
{
	struct walk walk = {.out = out, .uid = caller_uid, .fd = -1};

	if (begin(out, &walk.rest, path) && to_root(&walk))
		walk_on(&walk);
	if (out->state != PLACE_UNKNOWN && out->state != PLACE_DEEP) {
		locate(&walk);
		out->submount = resolve_submount(out);
	}
	if (walk.fd >= 0)
		(void)close(walk.fd);
}

bool resolve_holds(const char *canonical, uint64_t dev, uint64_t ino)
{
	struct place_id wanted = {dev, ino};
	static struct place place;
	struct walk walk = {.out = &place, .fd = -1};

	if (!path_canonical(canonical, strlen(canonical)))
		return false;
	walk.links = LINKS_MAX; /* not one link is followed */
	if (begin(&place, &walk.rest, canonical) && to_root(&walk))
		walk_on(&walk);
	if (walk.fd >= 0)
		(void)close(walk.fd);
	return place.state == PLACE_EXISTS && same_id(&place.self, &wanted);
}

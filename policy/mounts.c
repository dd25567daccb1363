/* SPDX-License-Identifier: ISC */
#include "mounts.h"

#include <errno.h>
#include <string.h>

#include "path.h"

/* --- relations --- */

/* Has the place a path that can be compared? */
static bool comparable(const struct place *place)
{
	return place->state != PLACE_UNKNOWN && place->state != PLACE_DEEP;
}

static bool same_id(const struct place_id *a, const struct place_id *b)
{
	return a->dev == b->dev && a->ino == b->ino;
}

/* outer itself is inner, or one of the directories above it. */
static bool id_contains(const struct place *outer, const struct place *inner)
{
	bool found = inner->state == PLACE_EXISTS && same_id(&outer->self, &inner->self);

	for (uint32_t i = 0; i < inner->depth; i++)
		found = found || same_id(&outer->self, &inner->above[i]);
	return found && outer->state == PLACE_EXISTS;
}

/* The component that stands in the directory above[index]. */
static const char *component_at(const struct place *place, uint32_t index, size_t *len)
{
	size_t at = 1;
	size_t end;

	for (uint32_t skipped = 0; skipped < index && at < place->len; at++)
		skipped += place->path[at] == '/' ? 1U : 0U;
	end = at;
	while (end < place->len && place->path[end] != '/')
		end++;
	*len = end - at;
	return place->path + at;
}

/* outer does not exist, and inner goes through (or is) an entry of the same
 * directory by the same name. */
static bool name_contains(const struct place *outer, const struct place *inner)
{
	size_t name_len;
	const char *name;

	if (outer->state != PLACE_MISSING || outer->depth == 0)
		return false;
	name = component_at(outer, outer->depth - 1, &name_len);
	for (uint32_t i = 0; i < inner->depth; i++) {
		size_t len;
		const char *other = component_at(inner, i, &len);

		if (same_id(&outer->above[outer->depth - 1], &inner->above[i]) &&
		    len == name_len && memcmp(other, name, len) == 0)
			return true;
	}
	return false;
}

static bool location_overlap(const struct place *a, const struct place *b)
{
	return a->located && b->located && a->major == b->major && a->minor == b->minor &&
	       path_overlap(a->inside, a->inside_len, b->inside, b->inside_len);
}

enum mounts_relation mounts_relate(const struct place *a, const struct place *b)
{
	if (!comparable(a) || !comparable(b))
		return MOUNTS_OVERLAP;
	if (path_overlap(a->path, a->len, b->path, b->len))
		return MOUNTS_OVERLAP;
	if (id_contains(a, b) || id_contains(b, a) || name_contains(a, b) ||
	    name_contains(b, a) || location_overlap(a, b))
		return MOUNTS_ALIAS;
	return MOUNTS_DISJOINT;
}

bool mounts_same(const struct place *a, const struct place *b)
{
	if (!comparable(a) || !comparable(b) || a->len != b->len ||
	    memcmp(a->path, b->path, a->len) != 0)
		return false;
	if (a->state == PLACE_TEXT || b->state == PLACE_TEXT)
		return true;
	return a->state == b->state &&
	       (a->state != PLACE_EXISTS || same_id(&a->self, &b->self));
}

/* --- one source --- */

/* Directories of the system.  A source may neither be one nor hold one; what
 * may lie inside one differs. */
enum inside {
	INSIDE_NOTHING,
	INSIDE_FILE, /* a bundle: programs are installed there */
	INSIDE_ANY, /* a dedicated directory */
};

struct system_directory {
	const char *path;
	enum inside inside;
};

/* A directory stands before those that it holds: the first that fits is named. */
static const struct system_directory SYSTEM[] = {
	{"/root", INSIDE_ANY},
	{"/home", INSIDE_ANY},
	{"/var", INSIDE_ANY},
	{"/var/lib", INSIDE_ANY},
	{"/var/log", INSIDE_ANY},
	{"/var/cache", INSIDE_ANY},
	{"/var/spool", INSIDE_ANY},
	{"/var/tmp", INSIDE_ANY},
	{"/run", INSIDE_ANY},
	{"/run/user", INSIDE_ANY},
	{"/tmp", INSIDE_ANY},
	{"/opt", INSIDE_ANY},
	{"/srv", INSIDE_ANY},
	{"/mnt", INSIDE_ANY},
	{"/media", INSIDE_ANY},
	{"/proc", INSIDE_NOTHING},
	{"/sys", INSIDE_NOTHING},
	{"/dev", INSIDE_NOTHING},
	{"/boot", INSIDE_NOTHING},
	{"/etc", INSIDE_NOTHING},
	{"/usr", INSIDE_FILE},
	{"/bin", INSIDE_NOTHING},
	{"/sbin", INSIDE_NOTHING},
	{"/lib", INSIDE_NOTHING},
	{"/lib32", INSIDE_NOTHING},
	{"/lib64", INSIDE_NOTHING},
	{"/libx32", INSIDE_NOTHING},
	{"/run/docker", INSIDE_NOTHING},
	{"/run/containerd", INSIDE_NOTHING},
	{"/var/run/docker", INSIDE_NOTHING},
	{"/var/run/containerd", INSIDE_NOTHING},
	{"/var/lib/docker", INSIDE_NOTHING},
	{"/var/lib/containerd", INSIDE_NOTHING},
};

static const char *system_directory(const char *path, size_t len, bool is_file)
{
	enum inside least = is_file ? INSIDE_FILE : INSIDE_ANY;

	for (size_t i = 0; i < sizeof SYSTEM / sizeof SYSTEM[0]; i++) {
		const char *directory = SYSTEM[i].path;
		size_t directory_len = strlen(directory);

		if (path_contains(path, len, directory, directory_len))
			return directory;
		if (SYSTEM[i].inside < least &&
		    path_contains(directory, directory_len, path, len))
			return directory;
	}
	return NULL;
}

/* The directory that the source is, holds or lies in; also by its location when
 * that is on the root's own file system, so that a bind of /etc is still /etc. */
static const char *system_of(const struct mounts_item *item)
{
	const struct place *place = item->place;
	const char *directory = system_directory(place->path, place->len, item->is_file);
	bool on_root = place->state == PLACE_EXISTS && place->located && place->depth > 0 &&
	               place->self.dev == place->above[0].dev;

	if (directory == NULL && on_root)
		directory = system_directory(place->inside, place->inside_len, item->is_file);
	return directory;
}

static void add_path(struct report *report, enum reason reason, const struct mounts_item *item,
                     const char *ours)
{
	report_add_text(report, reason, item->pointer, ours, item->place->path, item->place->len);
}

static void judge_unexamined(const struct mounts_item *item, struct report *report)
{
	const struct place *place = item->place;
	struct report_detail detail;

	if (place->state == PLACE_DEEP) {
		report_add(report, REASON_MOUNT_TOO_LONG, item->pointer);
		return;
	}
	detail = report_open(report, REASON_MOUNT_MISSING, item->pointer);
	text_string(&detail.text, place->error == EACCES ? "permission denied (errno "
	                                                 : "not to be examined (errno ");
	text_u64(&detail.text, (uint64_t)place->error);
	text_string(&detail.text, "): below ");
	text_escaped(&detail.text, place->path, place->len);
	report_close(&detail);
}

/* The canonical path is what docker is given: a link may have led to a name
 * that the path in the config did not show. */
static void judge_text(const struct mounts_item *item, struct report *report)
{
	static const enum reason refused[] = {
		[PATH_RELATIVE] = REASON_MOUNT_RELATIVE,
		[PATH_CHARACTER] = REASON_MOUNT_CHARACTER,
		[PATH_TOO_LONG] = REASON_MOUNT_TOO_LONG,
		[PATH_ROOT] = REASON_MOUNT_ROOT,
	};
	const struct place *place = item->place;
	enum path_result result = path_check(place->path, place->len);
	const char *directory;

	if (result != PATH_OK)
		add_path(report, refused[result], item, "canonical path");
	if (result == PATH_ROOT)
		return; /* it holds every system directory, too */
	directory = system_of(item);
	if (directory != NULL)
		add_path(report, REASON_MOUNT_SYSTEM, item, directory);
}

static void judge_type(const struct mounts_item *item, struct report *report)
{
	const struct place *place = item->place;

	if (item->is_file && !(place_is(place, PLACE_FILE) && place->nlink == 1))
		add_path(report, REASON_BUNDLE_FILE, item, "canonical path");
	if (!item->is_file && !place_is(place, PLACE_DIRECTORY))
		add_path(report, REASON_MOUNT_TYPE, item, "canonical path");
}

static void judge_host(const struct mounts_item *item, struct report *report)
{
	const struct place *place = item->place;

	if (place->weak)
		report_add_text(report, REASON_MOUNT_ANCESTOR, item->pointer, "replaceable",
		                place->weak_path, place->weak_len);
	if (place->state != PLACE_EXISTS) {
		add_path(report, REASON_MOUNT_MISSING, item, "no such file or directory");
		return;
	}
	judge_type(item, report);
	if (!place->located)
		add_path(report, REASON_MOUNT_INFO, item, "its mount is not known");
	if (place->submount != NULL)
		report_add_text(report, REASON_MOUNT_SUBMOUNT, item->pointer, "mount point",
		                place->submount, strlen(place->submount));
}

/* --- sources among themselves, and beside protected paths --- */

static void judge_pair(const struct mounts_item *earlier, const struct mounts_item *later,
                       struct report *report)
{
	enum mounts_relation relation = mounts_relate(earlier->place, later->place);
	struct report_detail detail;

	if (relation == MOUNTS_DISJOINT)
		return;
	detail = report_open(report,
	                     relation == MOUNTS_ALIAS ? REASON_MOUNT_ALIAS : REASON_MOUNT_OVERLAP,
	                     later->pointer);
	text_escaped(&detail.text, later->place->path, later->place->len);
	text_string(&detail.text, " and ");
	text_escaped(&detail.text, earlier->place->path, earlier->place->len);
	text_string(&detail.text, " of ");
	text_escaped(&detail.text, earlier->pointer, strlen(earlier->pointer));
	report_close(&detail);
}

/* A place that does not exist is compared all the same, by its text, its
 * location and its parent's identity with its name: whoever makes it later
 * must not make it inside a mount. */
static void judge_protected(const struct mounts_item *item,
                            const struct mounts_protected *protected_path, struct report *report)
{
	const struct place *place = protected_path->place;

	if (comparable(place) && mounts_relate(item->place, place) != MOUNTS_DISJOINT)
		report_add_text(report, REASON_MOUNT_PROTECTED, item->pointer,
		                protected_path->what, place->path, place->len);
}

static void judge_item(const struct mounts_item *item, uint32_t index,
                       const struct mounts_protected *protected_path, uint32_t protected_count,
                       struct report *report)
{
	const struct mounts_item *it = &item[index];

	if (!comparable(it->place)) {
		judge_unexamined(it, report);
		return;
	}
	judge_text(it, report);
	if (it->place->state != PLACE_TEXT)
		judge_host(it, report);
	for (uint32_t i = 0; i < index; i++) {
		if (comparable(item[i].place))
			judge_pair(&item[i], it, report);
	}
	for (uint32_t i = 0; i < protected_count; i++)
		judge_protected(it, &protected_path[i], report);
}

void mounts_judge(const struct mounts_item *item, uint32_t count,
                  const struct mounts_protected *protected_path, uint32_t protected_count,
                  struct report *report)
{
	for (uint32_t i = 0; i < count; i++)
		judge_item(item, i, protected_path, protected_count, report);
	for (uint32_t i = 0; i < protected_count; i++) {
		const struct place *place = protected_path[i].place;

		if (!comparable(place))
			report_add_text(report, REASON_PRIVATE_EXAMINE, "", protected_path[i].what,
			                place->path, place->len);
	}
}

/* SPDX-License-Identifier: ISC */
#include "endpoint.h"

#include <string.h>

#include "../ipc/limits.h"
#include "path.h"

static const char SCHEME[] = "unix://";
#define SCHEME_LEN (sizeof SCHEME - 1)

/* Sockets whose engine does not see this host's files as we do: Docker Desktop
 * runs it in a virtual machine, snap confines it to a view of its own. */
struct foreign_engine {
	const char *path;
	bool directory; /* whatever lies below; else the end of the path */
};

static const struct foreign_engine FOREIGN[] = {
	{"/.docker/desktop/docker.sock", false},
	{"/.docker/run/docker.sock", false},
	{"/var/snap/docker", true},
	{"/run/snap.docker", true},
	{"/var/run/snap.docker", true},
};

static bool ends_with(const char *path, size_t len, const char *end)
{
	size_t end_len = strlen(end);

	return len >= end_len && memcmp(path + len - end_len, end, end_len) == 0;
}

static bool is_foreign(const char *path, size_t len)
{
	bool found = false;

	for (size_t i = 0; i < sizeof FOREIGN / sizeof FOREIGN[0]; i++) {
		const char *known = FOREIGN[i].path;

		found = found || (FOREIGN[i].directory
		                          ? path_contains(known, strlen(known), path, len)
		                          : ends_with(path, len, known));
	}
	return found;
}

/* One spelling only.  Docker keeps the text after unix:// as it is, other
 * clients take it for a URL: what a URL reader would read otherwise (percent,
 * query, fragment), or a person overlook (a blank at the end), is refused. */
static bool plain_path(const char *path, size_t len)
{
	bool ok = len <= ENDPOINT_PATH_MAX && path_check(path, len) == PATH_OK &&
	          path_canonical(path, len) && path[len - 1] != ' ';

	for (size_t i = 0; i < len; i++)
		ok = ok && path[i] != '%' && path[i] != '?' && path[i] != '#';
	return ok;
}

const char *endpoint_path(const char *url, const char *pointer, struct report *report)
{
	size_t len = strlen(url);

	if (strncmp(url, SCHEME, SCHEME_LEN) != 0 || url[SCHEME_LEN] != '/') {
		report_add_text(report, REASON_ENDPOINT_SCHEME, pointer, "it is", url, len);
		return NULL;
	}
	if (!plain_path(url + SCHEME_LEN, len - SCHEME_LEN)) {
		report_add_text(report, REASON_ENDPOINT_PATH, pointer, "it is", url, len);
		return NULL;
	}
	return url + SCHEME_LEN;
}

static void judge_socket(const struct place *socket, uint32_t uid, const char *pointer,
                         struct report *report)
{
	bool owned = socket->uid == 0 || socket->uid == uid;

	if (socket->weak)
		report_add_text(report, REASON_ENDPOINT_ANCESTOR, pointer, "replaceable",
		                socket->weak_path, socket->weak_len);
	if (!place_is(socket, PLACE_SOCKET)) {
		report_add_text(report, REASON_ENDPOINT_SOCKET, pointer, "no socket", socket->path,
		                socket->len);
		return;
	}
	if (!owned || (socket->st_mode & PLACE_OTHERS_WRITE) != 0)
		report_add_text(report, REASON_ENDPOINT_OWNER, pointer, "socket", socket->path,
		                socket->len);
}

void endpoint_judge(const struct place *socket, uint32_t uid, const char *pointer,
                    struct report *report)
{
	bool known = socket->state != PLACE_UNKNOWN && socket->state != PLACE_DEEP;

	if (is_foreign(socket->path, socket->len))
		report_add_text(report, REASON_ENDPOINT_DESKTOP, pointer, "socket", socket->path,
		                socket->len);
	/* A link may have led to a path that the URL did not show, and that is
	 * the one which docker is given. */
	if (known && !plain_path(socket->path, socket->len))
		report_add_text(report, REASON_ENDPOINT_PATH, pointer, "canonical path",
		                socket->path, socket->len);
	if (socket->state != PLACE_TEXT)
		judge_socket(socket, uid, pointer, report);
}

const char *endpoint_context(const struct json *answer, struct text *arena,
                             struct report *report)
{
	const char *host = NULL;

	if (json_type(answer, 0) == JSON_STRING)
		host = json_keep(answer, 0, arena);
	if (host == NULL || host[0] == '\0') {
		report_add(report, REASON_CONTEXT_ANSWER, "");
		return NULL;
	}
	return host;
}

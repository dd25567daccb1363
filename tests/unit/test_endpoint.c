/* SPDX-License-Identifier: ISC */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <errno.h>

#include "../../ipc/limits.h"
#include "../../policy/endpoint.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define CALLER 1000U
#define ABSENT_PLACE "/run/docker.sock"

static struct report report;

static void assert_findings(const enum reason *reason, size_t count)
{
	if (report.count != count)
		fail_msg("%u findings, not %zu; the first is %s", report.count, count,
		         report.count > 0 ? reason_name(report.at[0].reason) : "none");
	for (size_t i = 0; i < count; i++) {
		assert_string_equal(reason_name(report.at[i].reason), reason_name(reason[i]));
		assert_string_equal(report.at[i].pointer, "/docker/host");
	}
}

/* --- the URL --- */

static void urls(void **state)
{
	static const struct {
		const char *url;
		const char *path; /* NULL: refused */
		enum reason reason;
	} row[] = {
		{"unix:///var/run/docker.sock", "/var/run/docker.sock", REASON_NONE},
		{"unix:///run/user/1000/docker.sock", "/run/user/1000/docker.sock", REASON_NONE},
		{"unix:///x", "/x", REASON_NONE},
		{"unix:///run/my engine/docker.sock", "/run/my engine/docker.sock", REASON_NONE},
		{"unix:///run/a:2375", "/run/a:2375", REASON_NONE},
		{"unix:///run/caf\xc3\xa9.sock", "/run/caf\xc3\xa9.sock", REASON_NONE},
		{"", NULL, REASON_ENDPOINT_SCHEME},
		{" ", NULL, REASON_ENDPOINT_SCHEME},
		{"unix", NULL, REASON_ENDPOINT_SCHEME},
		{"unix:", NULL, REASON_ENDPOINT_SCHEME},
		{"unix:/", NULL, REASON_ENDPOINT_SCHEME},
		{"unix:/var/run/docker.sock", NULL, REASON_ENDPOINT_SCHEME},
		{"unix://", NULL, REASON_ENDPOINT_SCHEME},
		{"unix://var/run/docker.sock", NULL, REASON_ENDPOINT_SCHEME},
		{"unix://./docker.sock", NULL, REASON_ENDPOINT_SCHEME},
		{"unix://~/docker.sock", NULL, REASON_ENDPOINT_SCHEME},
		{"UNIX:///var/run/docker.sock", NULL, REASON_ENDPOINT_SCHEME},
		{"Unix:///var/run/docker.sock", NULL, REASON_ENDPOINT_SCHEME},
		{" unix:///var/run/docker.sock", NULL, REASON_ENDPOINT_SCHEME},
		{"'unix:///var/run/docker.sock'", NULL, REASON_ENDPOINT_SCHEME},
		{"\"unix:///var/run/docker.sock\"", NULL, REASON_ENDPOINT_SCHEME},
		{"/var/run/docker.sock", NULL, REASON_ENDPOINT_SCHEME},
		{"var/run/docker.sock", NULL, REASON_ENDPOINT_SCHEME},
		{"tcp://127.0.0.1:2375", NULL, REASON_ENDPOINT_SCHEME},
		{"tcp://", NULL, REASON_ENDPOINT_SCHEME},
		{"127.0.0.1:2375", NULL, REASON_ENDPOINT_SCHEME},
		{"http://localhost", NULL, REASON_ENDPOINT_SCHEME},
		{"https://localhost", NULL, REASON_ENDPOINT_SCHEME},
		{"http+unix:///var/run/docker.sock", NULL, REASON_ENDPOINT_SCHEME},
		{"ssh://op@host", NULL, REASON_ENDPOINT_SCHEME},
		{"fd://", NULL, REASON_ENDPOINT_SCHEME},
		{"npipe:////./pipe/docker_engine", NULL, REASON_ENDPOINT_SCHEME},
		{"unixs:///var/run/docker.sock", NULL, REASON_ENDPOINT_SCHEME},
		{"unix:///", NULL, REASON_ENDPOINT_PATH},
		{"unix:////", NULL, REASON_ENDPOINT_PATH},
		{"unix:////run/docker.sock", NULL, REASON_ENDPOINT_PATH},
		{"unix:///run//docker.sock", NULL, REASON_ENDPOINT_PATH},
		{"unix:///run/docker.sock/", NULL, REASON_ENDPOINT_PATH},
		{"unix:///run/./docker.sock", NULL, REASON_ENDPOINT_PATH},
		{"unix:///run/../docker.sock", NULL, REASON_ENDPOINT_PATH},
		{"unix:///..", NULL, REASON_ENDPOINT_PATH},
		{"unix:///run/docker.sock ", NULL, REASON_ENDPOINT_PATH},
		{"unix:///run/docker.sock\n", NULL, REASON_ENDPOINT_PATH},
		{"unix:///run/docker.sock\t", NULL, REASON_ENDPOINT_PATH},
		{"unix:///run/docker.sock\r\n", NULL, REASON_ENDPOINT_PATH},
		{"unix:///run/%2e%2e/docker.sock", NULL, REASON_ENDPOINT_PATH},
		{"unix:///run/docker.sock?x=1", NULL, REASON_ENDPOINT_PATH},
		{"unix:///run/docker.sock#x", NULL, REASON_ENDPOINT_PATH},
		{"unix:///run/a,b", NULL, REASON_ENDPOINT_PATH},
		{"unix:///run/a\"b", NULL, REASON_ENDPOINT_PATH},
		{"unix:///run/\xff", NULL, REASON_ENDPOINT_PATH},
		{"unix:///run/\x7f", NULL, REASON_ENDPOINT_PATH},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		const char *path;

		print_message("%zu\n", i);
		report_init(&report, CODE_CONFIG, 78);
		path = endpoint_path(row[i].url, "/docker/host", &report);
		assert_findings(&row[i].reason, row[i].path == NULL ? 1 : 0);
		if (row[i].path == NULL) {
			assert_null(path);
			continue;
		}
		assert_string_equal(path, row[i].path);
		assert_ptr_equal(path, row[i].url + 7);
	}
}

static void url_is_shown_escaped(void **state)
{
	(void)state;
	report_init(&report, CODE_CONFIG, 78);
	assert_null(endpoint_path("tcp://h\n\x1b[2J", "/docker/host", &report));
	assert_string_equal(report.at[0].detail, "it is: tcp://h\\x0a\\x1b[2J");
	assert_string_equal(code_name(report.at[0].code), "SANDBOX_ENDPOINT");
	assert_int_equal(report.at[0].status, 77);
	report_init(&report, CODE_CONFIG, 78);
	assert_null(endpoint_path("unix:///a\\b ", "/docker/host", &report));
	assert_string_equal(report.at[0].detail, "it is: unix:///a\\\\b ");
}

/* sun_path holds 107 bytes and a NUL. */
static void url_length(void **state)
{
	char url[7 + ENDPOINT_PATH_MAX + 2] = "unix://";
	enum reason reason = REASON_ENDPOINT_PATH;

	(void)state;
	memset(url + 7, 'x', ENDPOINT_PATH_MAX + 1);
	url[7] = '/';
	url[7 + ENDPOINT_PATH_MAX] = '\0';
	report_init(&report, CODE_CONFIG, 78);
	assert_non_null(endpoint_path(url, "/docker/host", &report));
	assert_findings(NULL, 0);
	url[7 + ENDPOINT_PATH_MAX] = 'x';
	url[7 + ENDPOINT_PATH_MAX + 1] = '\0';
	assert_null(endpoint_path(url, "/docker/host", &report));
	assert_findings(&reason, 1);
}

/* --- the socket --- */

static struct place socket_at(const char *path)
{
	struct place place = {.state = PLACE_EXISTS, .st_mode = PLACE_SOCKET | 0660U};

	place.len = strlen(path);
	memcpy(place.path, path, place.len + 1);
	return place;
}

static void judge(const struct place *place)
{
	report_init(&report, CODE_CONFIG, 78);
	endpoint_judge(place, CALLER, "/docker/host", &report);
}

static void assert_reason(const struct place *place, enum reason reason)
{
	judge(place);
	assert_findings(&reason, reason == REASON_NONE ? 0 : 1);
}

static void owners_and_modes(void **state)
{
	static const struct {
		uint32_t uid;
		uint32_t mode;
		enum reason reason;
	} row[] = {
		{0, 0660, REASON_NONE},
		{0, 0600, REASON_NONE},
		{0, 0664, REASON_NONE},
		{0, 0775, REASON_NONE},
		{CALLER, 0600, REASON_NONE},
		{CALLER, 0660, REASON_NONE},
		{0, 0662, REASON_ENDPOINT_OWNER},
		{0, 0666, REASON_ENDPOINT_OWNER},
		{0, 0777, REASON_ENDPOINT_OWNER},
		{0, 01777, REASON_ENDPOINT_OWNER},
		{CALLER, 0602, REASON_ENDPOINT_OWNER},
		{CALLER + 1, 0660, REASON_ENDPOINT_OWNER},
		{CALLER - 1, 0600, REASON_ENDPOINT_OWNER},
		{CALLER + 1, 0666, REASON_ENDPOINT_OWNER},
	};
	struct place place = socket_at("/run/docker.sock");

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		place.uid = row[i].uid;
		place.st_mode = PLACE_SOCKET | row[i].mode;
		assert_reason(&place, row[i].reason);
	}
	assert_string_equal(report.at[0].detail, "socket: /run/docker.sock");
}

static void kinds(void **state)
{
	static const uint32_t other[] = {PLACE_FILE,  PLACE_DIRECTORY, 0010000U, 0020000U,
	                                 0060000U, 0120000U,        0};
	static const enum place_state absent[] = {PLACE_MISSING, PLACE_ABSENT, PLACE_UNKNOWN,
	                                          PLACE_DEEP};
	struct place place = socket_at(ABSENT_PLACE);

	(void)state;
	for (size_t i = 0; i < COUNT(other); i++) {
		place.st_mode = other[i] | 0660U;
		assert_reason(&place, REASON_ENDPOINT_SOCKET);
		assert_int_equal(report.at[0].status, 69);
	}
	place = socket_at(ABSENT_PLACE);
	for (size_t i = 0; i < COUNT(absent); i++) {
		place.state = absent[i];
		assert_reason(&place, REASON_ENDPOINT_SOCKET);
		assert_string_equal(report.at[0].detail, "no socket: " ABSENT_PLACE);
	}
	/* How far an unknown one was walked is no path to judge. */
	place = socket_at("/");
	place.state = PLACE_UNKNOWN;
	assert_reason(&place, REASON_ENDPOINT_SOCKET);
	place.state = PLACE_DEEP;
	assert_reason(&place, REASON_ENDPOINT_SOCKET);
	place = socket_at(ABSENT_PLACE);
	/* Text only (--offline): there is nothing to look at. */
	place.state = PLACE_TEXT;
	place.st_mode = 0;
	assert_reason(&place, REASON_NONE);
}

static void replaceable(void **state)
{
	struct place place = socket_at("/srv/w/docker.sock");
	enum reason both[] = {REASON_ENDPOINT_ANCESTOR, REASON_ENDPOINT_OWNER};

	(void)state;
	assert_reason(&place, REASON_NONE);
	place.weak = true;
	memcpy(place.weak_path, "/srv/w", 7);
	place.weak_len = 6;
	assert_reason(&place, REASON_ENDPOINT_ANCESTOR);
	assert_string_equal(report.at[0].detail, "replaceable: /srv/w");
	assert_int_equal(report.at[0].status, 77);
	place.uid = CALLER + 1;
	judge(&place);
	assert_findings(both, 2);
}

static void foreign_engines(void **state)
{
	static const struct {
		const char *path;
		enum reason reason;
	} row[] = {
		{"/home/op/.docker/desktop/docker.sock", REASON_ENDPOINT_DESKTOP},
		{"/root/.docker/desktop/docker.sock", REASON_ENDPOINT_DESKTOP},
		{"/home/op/.docker/run/docker.sock", REASON_ENDPOINT_DESKTOP},
		{"/.docker/run/docker.sock", REASON_ENDPOINT_DESKTOP},
		{"/var/snap/docker/common/run/docker.sock", REASON_ENDPOINT_DESKTOP},
		{"/var/snap/docker", REASON_ENDPOINT_DESKTOP},
		{"/run/snap.docker/docker.sock", REASON_ENDPOINT_DESKTOP},
		{"/var/run/snap.docker/docker.sock", REASON_ENDPOINT_DESKTOP},
		{"/run/snap.dockers/docker.sock", REASON_NONE},
		{"/var/snap/dockers/docker.sock", REASON_NONE},
		{"/home/op/.docker/desktop/docker.sock2", REASON_NONE},
		{"/home/op/x.docker/desktop/docker.sock", REASON_NONE},
		{"/home/op/.docker/docker.sock", REASON_NONE},
		{"/desktop/docker.sock", REASON_NONE},
		{"/run/user/1000/docker.sock", REASON_NONE},
		{"/run/docker.sock", REASON_NONE},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		struct place place = socket_at(row[i].path);

		assert_reason(&place, row[i].reason);
		if (row[i].reason != REASON_NONE)
			assert_string_equal(strstr(report.at[0].detail, "socket: /") + 8,
			                    row[i].path);
		place.state = PLACE_TEXT;
		assert_reason(&place, row[i].reason);
	}
}

/* Where links lead must be as plain as the URL itself. */
static void canonical_path(void **state)
{
	char longest[ENDPOINT_PATH_MAX + 2];
	struct place place = socket_at("/run/a,b");

	(void)state;
	assert_reason(&place, REASON_ENDPOINT_PATH);
	assert_string_equal(report.at[0].detail, "canonical path: /run/a,b");
	place = socket_at("/run/a%20b");
	assert_reason(&place, REASON_ENDPOINT_PATH);
	place = socket_at("/run/a ");
	assert_reason(&place, REASON_ENDPOINT_PATH);
	memset(longest, 'x', sizeof(longest));
	longest[0] = '/';
	longest[ENDPOINT_PATH_MAX + 1] = '\0';
	place = socket_at(longest);
	assert_reason(&place, REASON_ENDPOINT_PATH);
	longest[ENDPOINT_PATH_MAX] = '\0';
	place = socket_at(longest);
	assert_reason(&place, REASON_NONE);
}

/* --- docker's answer --- */

static void context_answers(void **state)
{
	static const struct {
		const char *answer;
		const char *host; /* NULL: refused */
	} row[] = {
		{"\"unix:///var/run/docker.sock\"", "unix:///var/run/docker.sock"},
		{"\"unix:///var/run/docker.sock\"\n", "unix:///var/run/docker.sock"},
		{"\"tcp:\\/\\/h\"", "tcp://h"},
		{"\"\"", NULL},
		{"\"a\\u0000b\"", NULL},
		{"null", NULL},
		{"{}", NULL},
		{"[\"unix:///x\"]", NULL},
		{"1", NULL},
		{"true", NULL},
	};
	static const struct json_limits limits = {.bytes = 1024, .values = 16};
	char buffer[64];
	struct text arena;

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		struct json_error error;
		struct json doc;
		const char *host;

		print_message("%s\n", row[i].answer);
		text_init(&arena, buffer, sizeof(buffer));
		report_init(&report, CODE_UNAVAILABLE, 69);
		assert_true(json_parse(&doc, row[i].answer, strlen(row[i].answer), &limits,
		                       &error));
		host = endpoint_context(&doc, &arena, &report);
		json_drop(&doc);
		if (row[i].host != NULL) {
			assert_string_equal(host, row[i].host);
			assert_int_equal(report.count, 0);
			continue;
		}
		assert_null(host);
		assert_int_equal(report.count, 1);
		assert_string_equal(reason_name(report.at[0].reason), "context.answer");
		assert_int_equal(report.at[0].status, 69);
	}
}

static void context_arena(void **state)
{
	static const char answer[] = "\"unix:///run/docker.sock\"";
	static const struct json_limits limits = {.bytes = 1024, .values = 16};
	char buffer[24];
	struct json_error error;
	struct json doc;
	struct text arena;

	(void)state;
	assert_true(json_parse(&doc, answer, sizeof(answer) - 1, &limits, &error));
	report_init(&report, CODE_UNAVAILABLE, 69);
	text_init(&arena, buffer, sizeof(buffer));
	assert_string_equal(endpoint_context(&doc, &arena, &report), "unix:///run/docker.sock");
	text_init(&arena, buffer, sizeof(buffer) - 1);
	assert_null(endpoint_context(&doc, &arena, &report));
	assert_int_equal(report.count, 1);
	json_drop(&doc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(urls),
		cmocka_unit_test(url_is_shown_escaped),
		cmocka_unit_test(url_length),
		cmocka_unit_test(owners_and_modes),
		cmocka_unit_test(kinds),
		cmocka_unit_test(replaceable),
		cmocka_unit_test(foreign_engines),
		cmocka_unit_test(canonical_path),
		cmocka_unit_test(context_answers),
		cmocka_unit_test(context_arena),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

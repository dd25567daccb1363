/* SPDX-License-Identifier: ISC */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "../../executor/audit.h"
#include "../../executor/child.h"
#include "usual.h"

#define RUN "00112233445566778899aabbccddeeff"
#define ID16 "0123456789abcdef"
#define ID ID16 ID16 ID16 ID16

#define BEFORE_TIME "{\"schema_version\":1,\"time\":\""
#define TIME "dddd-dd-ddTdd:dd:dd.ddddddZ" /* RFC 3339, UTC, microseconds */

static char text[4096];

/* The clock of the library, or one that we have set. */
static const struct timespec *set, no_clock = {0, -1};

int clock_gettime(clockid_t id, struct timespec *now)
{
	if (set == NULL || id != CLOCK_REALTIME)
		return (int)syscall(SYS_clock_gettime, id, now);
	*now = *set;
	return set == &no_clock ? -1 : 0;
}

static const char *whole(int fd)
{
	ssize_t len = pread(fd, text, sizeof(text) - 1, 0);

	assert_in_range(len, 0, sizeof(text) - 2);
	text[len] = '\0';
	return text;
}

/* Checks a line up to the time's end, and returns what follows; *when is in
 * seconds. */
static const char *after_time(const char *line, time_t *when)
{
	struct tm utc = {0};
	const char *time = line + strlen(BEFORE_TIME);

	assert_memory_equal(line, BEFORE_TIME, strlen(BEFORE_TIME));
	for (size_t i = 0; i < strlen(TIME); i++)
		if (TIME[i] == 'd')
			assert_in_range(time[i], '0', '9');
		else
			assert_int_equal(time[i], TIME[i]);
	assert_int_equal(sscanf(time, "%4d-%2d-%2dT%2d:%2d:%2d", &utc.tm_year, &utc.tm_mon,
	                        &utc.tm_mday, &utc.tm_hour, &utc.tm_min, &utc.tm_sec), 6);
	utc.tm_year -= 1900;
	utc.tm_mon -= 1;
	*when = timegm(&utc);
	return time + strlen(TIME);
}

static const struct {
	enum audit_event event;
	const char *container;
	int code;
	bool oom;
	const char *line; /* after the time */
} rows[] = {
	{AUDIT_LAUNCH, ID, 0, false,
	 "\",\"seq\":1,\"event\":\"launch\",\"run\":\"" RUN "\",\"container\":\"" ID
	 "\",\"exit\":0,\"oom\":false}\n"},
	{AUDIT_EXIT, ID, 137, true,
	 "\",\"seq\":2,\"event\":\"exit\",\"run\":\"" RUN "\",\"container\":\"" ID
	 "\",\"exit\":137,\"oom\":true}\n"},
	{AUDIT_REMOVED, ID, 255, false,
	 "\",\"seq\":3,\"event\":\"removed\",\"run\":\"" RUN "\",\"container\":\"" ID
	 "\",\"exit\":255,\"oom\":false}\n"},
	{AUDIT_RESIDUAL, "", 80, false,
	 "\",\"seq\":4,\"event\":\"residual\",\"run\":\"" RUN "\",\"container\":\"\""
	 ",\"exit\":80,\"oom\":false}\n"},
	{AUDIT_REAPED, ID, INT_MIN, false,
	 "\",\"seq\":5,\"event\":\"reaped\",\"run\":\"" RUN "\",\"container\":\"" ID
	 "\",\"exit\":-2147483648,\"oom\":false}\n"},
};

static void lines_are_exact(void **state)
{
	struct audit audit = {.fd = memfd_create("audit", MFD_CLOEXEC)};
	time_t before = time(NULL), last = before - 1, when;
	const char *at;

	(void)state;
	assert_true(audit.fd >= 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_true(audit_say(&audit, rows[i].event, RUN, rows[i].container, rows[i].code,
		                      rows[i].oom));
	assert_int_equal(audit.seq, 5);
	at = whole(audit.fd);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		at = after_time(at, &when);
		assert_in_range(when, last, time(NULL) + 1); /* that clock is a tick behind */
		last = when;
		assert_memory_equal(at, rows[i].line, strlen(rows[i].line));
		at += strlen(rows[i].line);
	}
	assert_string_equal(at, "");
	close(audit.fd);
}

#define AFTER_TIME \
	"\",\"seq\":1,\"event\":\"launch\",\"run\":\"" RUN "\",\"container\":\"" ID \
	"\",\"exit\":0,\"oom\":false}\n"

static void times_are_exact(void **state)
{
	static const struct {
		struct timespec now;
		const char *time;
	} times[] = {
		{{0, 0}, "1970-01-01T00:00:00.000000Z"},
		{{1, 999}, "1970-01-01T00:00:01.000000Z"},
		{{2, 1000}, "1970-01-01T00:00:02.000001Z"},
		{{951827696, 123456789}, "2000-02-29T12:34:56.123456Z"},
		{{1798761599, 999999999}, "2026-12-31T23:59:59.999999Z"},
	};
	char expected[512];

	(void)state;
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		struct audit audit = {.fd = memfd_create("audit", MFD_CLOEXEC)};

		set = &times[i].now;
		assert_true(audit_say(&audit, AUDIT_LAUNCH, RUN, ID, 0, false));
		set = NULL;
		snprintf(expected, sizeof(expected), BEFORE_TIME "%s" AFTER_TIME, times[i].time);
		assert_string_equal(whole(audit.fd), expected);
		close(audit.fd);
	}
}

static void needs_a_clock_and_a_date(void **state)
{
	static const struct timespec no_date = {LONG_MAX, 0}; /* gmtime(3): the year is no int */
	const struct timespec *const clocks[] = {&no_clock, &no_date};
	struct audit audit = {.fd = memfd_create("audit", MFD_CLOEXEC)};

	(void)state;
	for (size_t i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++) {
		set = clocks[i];
		assert_false(audit_say(&audit, AUDIT_LAUNCH, RUN, ID, 0, false));
		set = NULL;
		assert_string_equal(whole(audit.fd), "");
	}
	close(audit.fd);
}

/* The longest number there is fits. */
static void seq_goes_on_from_where_it_is(void **state)
{
	struct audit audit = {.fd = memfd_create("audit", MFD_CLOEXEC), .seq = ULONG_MAX - 1};
	time_t when;

	(void)state;
	assert_true(audit.fd >= 0);
	assert_true(audit_say(&audit, AUDIT_RESIDUAL, RUN, ID, INT_MIN, false));
	assert_string_equal(after_time(whole(audit.fd), &when),
	                    "\",\"seq\":18446744073709551615,\"event\":\"residual\",\"run\":\"" RUN
	                    "\",\"container\":\"" ID "\",\"exit\":-2147483648,\"oom\":false}\n");
	close(audit.fd);
}

static void appends(void **state)
{
	char name[] = "/tmp/test_audit.XXXXXX";
	int fd = mkostemp(name, O_APPEND | O_CLOEXEC);
	struct audit audit = {.fd = fd};
	time_t when;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(unlink(name), 0);
	assert_int_equal(write(fd, "earlier\n", 8), 8);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_true(audit_say(&audit, rows[0].event, RUN, ID, 0, false));
	assert_memory_equal(whole(fd), "earlier\n", 8);
	assert_string_equal(after_time(text + 8, &when), rows[0].line);
	close(fd);
}

static void no_file_is_no_event(void **state)
{
	struct audit audit = {.fd = -1, .seq = 7};

	(void)state;
	assert_true(audit_say(&audit, AUDIT_LAUNCH, RUN, ID, 0, false));
	assert_int_equal(audit.seq, 7);
	assert_true(audit_wait(&audit));
}

/* Descriptor 0 is one like any other. */
static void a_file_may_be_descriptor_0(void **state)
{
	struct audit audit = {.fd = STDIN_FILENO};
	int own = dup(STDIN_FILENO), fd = memfd_create("audit", MFD_CLOEXEC);
	time_t when;
	bool said;

	(void)state;
	assert_true(own >= 0 && fd >= 0);
	assert_int_equal(dup2(fd, STDIN_FILENO), STDIN_FILENO);
	said = audit_say(&audit, rows[0].event, RUN, ID, 0, false);
	assert_int_equal(dup2(own, STDIN_FILENO), STDIN_FILENO);
	assert_true(said);
	assert_string_equal(after_time(whole(fd), &when), rows[0].line);
	close(own);
	close(fd);
}

static void tells_what_is_not_written(void **state)
{
	struct audit audit = {.fd = open("/dev/full", O_WRONLY | O_CLOEXEC)};

	(void)state;
	assert_true(audit.fd >= 0);
	assert_false(audit_say(&audit, AUDIT_LAUNCH, RUN, ID, 0, false));
	close(audit.fd);
	audit.fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	assert_true(audit.fd >= 0);
	assert_false(audit_say(&audit, AUDIT_LAUNCH, RUN, ID, 0, false));
	close(audit.fd);
}

static void tells_what_is_written_in_part(void **state)
{
	struct audit audit = {.fd = memfd_create("audit", MFD_CLOEXEC)};
	struct rlimit old, small;
	bool told;

	(void)state;
	assert_true(audit.fd >= 0);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	small = (struct rlimit){100, old.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	told = audit_say(&audit, AUDIT_LAUNCH, RUN, ID, 0, false);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_false(told);
	assert_int_equal(strlen(whole(audit.fd)), 100);
	close(audit.fd);
}

/* 511 bytes are the most. */
static void refuses_a_line_that_is_cut(void **state)
{
	static char run[513];
	struct audit audit = {.fd = memfd_create("audit", MFD_CLOEXEC)};
	const size_t others = strlen(BEFORE_TIME TIME AFTER_TIME) - strlen(RUN);

	(void)state;
	assert_true(audit.fd >= 0);
	for (size_t len = 0; len < sizeof(run); len++) {
		memset(run, 'a', len);
		audit.seq = 0;
		assert_int_equal(ftruncate(audit.fd, 0) | lseek(audit.fd, 0, SEEK_SET), 0);
		assert_int_equal(audit_say(&audit, AUDIT_LAUNCH, run, ID, 0, false),
		                 others + len < 512);
		assert_int_equal(strlen(whole(audit.fd)), others + len < 512 ? others + len : 0);
	}
	close(audit.fd);
}

/* The last test, for a signal that has come stays: a file that there is is not
 * waited for, and nothing is written. */
static void ends_at_a_signal(void **state)
{
	struct audit audit = {.fd = memfd_create("audit", MFD_CLOEXEC)};

	(void)state;
	assert_true(audit_wait(&audit));
	assert_true(child_set_up());
	assert_true(audit_wait(&audit));
	assert_int_equal(raise(SIGTERM), 0);
	assert_false(audit_wait(&audit));
	assert_false(audit_say(&audit, AUDIT_LAUNCH, RUN, ID, 0, false));
	assert_string_equal(whole(audit.fd), "");
	assert_false(audit_wait(&(struct audit){.fd = STDIN_FILENO}));
	assert_true(audit_wait(&(struct audit){.fd = -1}));
	close(audit.fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_are_exact),
		cmocka_unit_test(times_are_exact),
		cmocka_unit_test(needs_a_clock_and_a_date),
		cmocka_unit_test(seq_goes_on_from_where_it_is),
		cmocka_unit_test(appends),
		cmocka_unit_test(no_file_is_no_event),
		cmocka_unit_test(a_file_may_be_descriptor_0),
		cmocka_unit_test(tells_what_is_not_written),
		cmocka_unit_test(tells_what_is_written_in_part),
		cmocka_unit_test(refuses_a_line_that_is_cut),
		cmocka_unit_test(ends_at_a_signal),
	};

	usual_surroundings();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

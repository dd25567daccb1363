/* SPDX-License-Identifier: ISC */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "../../policy/tell.h"

static struct report report;
static int kept;
static int ends[2];

/* From here on standard error is a pipe, whose reads are the packets that were
 * written (pipe(2), O_DIRECT). */
static int listen_in(void **state)
{
	(void)state;
	kept = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	return kept < 0 || pipe2(ends, O_DIRECT | O_NONBLOCK | O_CLOEXEC) != 0 ||
	       dup2(ends[1], STDERR_FILENO) != STDERR_FILENO;
}

static int stop_listening(void **state)
{
	(void)state;
	return dup2(kept, STDERR_FILENO) != STDERR_FILENO || close(kept) != 0 ||
	       close(ends[0]) != 0 || close(ends[1]) != 0;
}

/* The next line came whole, with one write(2). */
static void assert_told(const char *expected)
{
	static char bytes[32768];
	ssize_t len = read(ends[0], bytes, sizeof(bytes) - 1);

	if (len < 0)
		fail_msg("nothing was told, but not: %s", expected);
	bytes[len] = '\0';
	assert_string_equal(bytes, expected);
}

static void assert_silent(void)
{
	char byte;

	assert_int_equal(read(ends[0], &byte, 1), -1);
}

#define ROOT \
	"cofferdam: SANDBOX_POLICY mount.root: the root directory cannot be mounted " \
	"at /mounts/0; mount a dedicated directory\n"
#define EMPTY \
	"cofferdam: SANDBOX_CONFIG json.empty: the document is empty; send one JSON value\n"
#define ROOT_JSON \
	"{\"code\":\"SANDBOX_POLICY\",\"reason\":\"mount.root\",\"pointer\":\"/mounts/0\"," \
	"\"detail\":\"\",\"sentence\":\"the root directory cannot be mounted\"," \
	"\"hint\":\"mount a dedicated directory\"}\n"
#define EMPTY_JSON \
	"{\"code\":\"SANDBOX_CONFIG\",\"reason\":\"json.empty\",\"detail\":\"\"," \
	"\"sentence\":\"the document is empty\",\"hint\":\"send one JSON value\"}\n"

static void two(void)
{
	report_init(&report, CODE_CONFIG, 78);
	report_add(&report, REASON_MOUNT_ROOT, "/mounts/0");
	report_add(&report, REASON_JSON_EMPTY, "");
}

static void test_refusal(void **state)
{
	(void)state;
	two();
	assert_int_equal(tell_refusal(&report, false), 77);
	assert_told(ROOT);
	assert_int_equal(tell_refusal(&report, true), 77);
	assert_told(ROOT_JSON);
	report_init(&report, CODE_CONFIG, 78);
	report_add(&report, REASON_JSON_EMPTY, "");
	assert_int_equal(tell_refusal(&report, false), 78);
	assert_told(EMPTY);
	/* Nothing found, nothing said, whatever an earlier report left. */
	report_init(&report, CODE_CONFIG, 78);
	assert_int_equal(tell_refusal(&report, false), 0);
	assert_silent();
}

static void test_all(void **state)
{
	(void)state;
	two();
	tell_all(&report, false);
	assert_told(ROOT);
	assert_told(EMPTY);
	assert_silent();
	tell_all(&report, true);
	assert_told(ROOT_JSON);
	assert_told(EMPTY_JSON);
	assert_silent();
	report_init(&report, CODE_CONFIG, 78);
	tell_all(&report, false);
	assert_silent();
}

/* Outside any report: a document's reason is a fault of ours. */
static void test_reason(void **state)
{
	(void)state;
	assert_int_equal(tell_reason(REASON_MOUNT_ROOT, "seen", false), 77);
	assert_told("cofferdam: SANDBOX_POLICY mount.root: the root directory cannot be mounted: "
	            "seen; mount a dedicated directory\n");
	assert_int_equal(tell_reason(REASON_MOUNT_ROOT, NULL, false), 77);
	assert_told("cofferdam: SANDBOX_POLICY mount.root: the root directory cannot be mounted; "
	            "mount a dedicated directory\n");
	assert_int_equal(tell_reason(REASON_JSON_EMPTY, "a\nb", true), 70);
	assert_told("{\"code\":\"SANDBOX_PROTOCOL\",\"reason\":\"json.empty\",\"detail\":\"a?b\","
	            "\"sentence\":\"the document is empty\",\"hint\":\"send one JSON value\"}\n");
	assert_silent();
}

static void test_usage(void **state)
{
	char word[REPORT_DETAIL + 2];
	char expected[REPORT_DETAIL + 128];

	(void)state;
	assert_int_equal(tell_usage("no command", NULL), 64);
	assert_told("cofferdam-policy: USAGE usage: no command; see cofferdam-policy --help\n");
	assert_int_equal(tell_usage("unknown option", "-\n"), 64);
	assert_told("cofferdam-policy: USAGE usage: unknown option: -\\x0a; "
	            "see cofferdam-policy --help\n");
	/* A word is shown as far as a detail would be. */
	memset(word, 'w', sizeof(word) - 1);
	word[sizeof(word) - 1] = '\0';
	assert_int_equal(tell_usage("unexpected word", word), 64);
	(void)snprintf(expected, sizeof(expected),
	               "cofferdam-policy: USAGE usage: unexpected word: %.*s; "
	               "see cofferdam-policy --help\n",
	               REPORT_DETAIL, word);
	assert_told(expected);
	assert_silent();
}

/* The longest line that there is, whole: every byte of both is escaped. */
static void test_longest(void **state)
{
	char pointer[REPORT_POINTER];

	(void)state;
	memset(pointer, '\n', sizeof(pointer) - 1);
	pointer[sizeof(pointer) - 1] = '\0';
	for (int i = 0; i < 2; i++) {
		static char bytes[32768];
		ssize_t len = 0;
		ssize_t got;

		report_init(&report, CODE_CONFIG, 78);
		report_add_text(&report, REASON_MOUNT_ROOT, pointer, NULL, pointer,
		                sizeof(pointer) - 1);
		(void)tell_refusal(&report, i == 1);
		/* Beyond PIPE_BUF a packet is cut. */
		while ((got = read(ends[0], bytes + len, sizeof(bytes) - (size_t)len)) > 0)
			len += got;
		assert_true(len > REPORT_POINTER * 4);
		assert_int_equal(bytes[len - 1], '\n');
		assert_int_equal(bytes[len - 2], i == 1 ? '}' : 'y');
	}
	assert_silent();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_refusal, listen_in, stop_listening),
		cmocka_unit_test_setup_teardown(test_all, listen_in, stop_listening),
		cmocka_unit_test_setup_teardown(test_reason, listen_in, stop_listening),
		cmocka_unit_test_setup_teardown(test_usage, listen_in, stop_listening),
		cmocka_unit_test_setup_teardown(test_longest, listen_in, stop_listening),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

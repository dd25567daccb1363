/* SPDX-License-Identifier: ISC */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "../../policy/admit.h"
#include "pool.h"

#define STATE "0123456789abcdef0123456789abcdef"
#define STATE2 "fedcba9876543210fedcba9876543210"
#define RUN "00112233445566778899aabbccddeeff"
#define RUN2 "ffeeddccbbaa99887766554433221100"
#define ID "83c3ec49a73a24608dbf11713d102a2e4a75bfa72f4f454ddb313f00877ae5a4"
#define LINE(id, state, run, mode, roots, mounts) \
	"[\"" id "\",\"" state "\",\"" run "\",\"" mode "\",\"" roots "\",\"" mounts "\"]"
#define OTHER(mode, roots, mounts) LINE(ID, STATE2, RUN2, mode, roots, mounts)
#define RO(path) "{\\\"path\\\":\\\"" path "\\\",\\\"mode\\\":\\\"ro\\\"}"
#define RW(path) "{\\\"path\\\":\\\"" path "\\\",\\\"mode\\\":\\\"rw\\\"}"
/* As docker 20.10.24 and 28.2.2 print it, with the mounts in either order. */
#define OURS LINE(ID, STATE, RUN, "turn", "[" RO("/srv/b") "," RW("/srv/w") "]", "/srv/w,/srv/b")

static struct report report;
static struct launch plan;
static struct admit admit;

static void begin(enum mode mode)
{
	static const uint8_t nonce[NONCE_BYTES] = {0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77,
	                                           0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff};

	memset(&plan, 0, sizeof(plan));
	memcpy(plan.nonce, nonce, sizeof(nonce));
	plan.mode = mode;
	plan.state_id = STATE;
	plan.root_count = 2;
	plan.root[0] = (struct root){ .path = "/srv/b", .guest = "/broker", .read_only = true };
	plan.root[1] = (struct root){ .path = "/srv/w", .guest = "/workspace" };
	report_init(&report, CODE_UNAVAILABLE, 69);
	admit_init(&admit, &plan);
}

static void line(const char *text)
{
	admit_line(&admit, text, strlen(text), &report);
}

struct judgement {
	const char *line;
	enum reason turn; /* REASON_NONE: admitted */
	enum reason session;
};

#define TURN "turn"
#define SESSION "session"

static const struct judgement judgements[] = {
	/* disjoint */
	{ OTHER(TURN, "[]", ""), REASON_NONE, REASON_NONE },
	{ OTHER(TURN, "[" RW("/srv/x") "]", "/srv/x"), REASON_NONE, REASON_NONE },
	{ OTHER(TURN, "[" RW("/srv/w2") "," RO("/srv/b-c") "]", "/srv/b-c,/srv/w2"), REASON_NONE,
	  REASON_NONE },
	{ OTHER(TURN, "[" RW("/srv/ww/w") "," RO("/srv/wx") "]", "/srv/ww/w,/srv/wx"), REASON_NONE,
	  REASON_NONE },
	{ OTHER(TURN, "[" RW("/w") "," RO("/b") "]", "/w,/b"), REASON_NONE, REASON_NONE },
	{ OTHER(TURN, "[" RW("/x2") "," RO("/x") "]", "/x,/x2"), REASON_NONE, REASON_NONE },
	/* the same, both read-only */
	{ OTHER(TURN, "[" RO("/srv/b") "]", "/srv/b"), REASON_NONE, REASON_NONE },
	{ OTHER(SESSION, "[" RO("/srv/b") "]", "/srv/b"), REASON_NONE, REASON_NONE },
	/* the same, one or both writable: only two sessions may */
	{ OTHER(TURN, "[" RW("/srv/b") "]", "/srv/b"), REASON_MOUNT_IN_USE, REASON_MOUNT_IN_USE },
	{ OTHER(TURN, "[" RO("/srv/w") "]", "/srv/w"), REASON_MOUNT_IN_USE, REASON_MOUNT_IN_USE },
	{ OTHER(TURN, "[" RW("/srv/w") "]", "/srv/w"), REASON_MOUNT_IN_USE, REASON_MOUNT_IN_USE },
	{ OTHER(SESSION, "[" RW("/srv/b") "]", "/srv/b"), REASON_MOUNT_IN_USE, REASON_NONE },
	{ OTHER(SESSION, "[" RO("/srv/w") "]", "/srv/w"), REASON_MOUNT_IN_USE, REASON_NONE },
	{ OTHER(SESSION, "[" RW("/srv/w") "]", "/srv/w"), REASON_MOUNT_IN_USE, REASON_NONE },
	/* one inside the other, whatever the modes */
	{ OTHER(TURN, "[" RO("/srv") "]", "/srv"), REASON_MANAGED_OVERLAP, REASON_MANAGED_OVERLAP },
	{ OTHER(TURN, "[" RO("/srv/b/in") "]", "/srv/b/in"), REASON_MANAGED_OVERLAP,
	  REASON_MANAGED_OVERLAP },
	{ OTHER(SESSION, "[" RW("/srv/w/in/deep") "]", "/srv/w/in/deep"), REASON_MANAGED_OVERLAP,
	  REASON_MANAGED_OVERLAP },
	{ OTHER(SESSION, "[" RW("/srv") "]", "/srv"), REASON_MANAGED_OVERLAP,
	  REASON_MANAGED_OVERLAP },
	/* another container of our own state directory is judged the same */
	{ LINE(ID, STATE, RUN2, TURN, "[" RW("/srv/w") "]", "/srv/w"), REASON_MOUNT_IN_USE,
	  REASON_MOUNT_IN_USE },
	/* our nonce under another id is not ours */
	{ LINE(ID, STATE2, RUN, TURN, "[" RW("/srv/w") "]", "/srv/w"), REASON_MOUNT_IN_USE,
	  REASON_MOUNT_IN_USE },
	/* members in the other order, blanks, escapes, UTF-8 */
	{ OTHER(TURN, " [ {\\\"mode\\\":\\\"rw\\\", \\\"path\\\":\\\"/srv/\\\\u0077\\\"} ] ",
	        "/srv/w"),
	  REASON_MOUNT_IN_USE, REASON_MOUNT_IN_USE },
	{ OTHER(TURN, "[" RW("/srv/\xc3\xa9") "]", "/srv/\\u00e9"), REASON_NONE, REASON_NONE },
};

static void test_judgements(void **state)
{
	(void)state;
	for (size_t i = 0; i < 2 * sizeof(judgements) / sizeof(judgements[0]); i++) {
		const struct judgement *j = &judgements[i / 2];
		const enum reason expected = i % 2 == 0 ? j->turn : j->session;

		begin(i % 2 == 0 ? MODE_TURN : MODE_SESSION);
		line(OURS);
		line(j->line);
		if (expected == REASON_NONE && !report_empty(&report))
			fail_msg("%s: %s", j->line, report.at[0].detail);
		if (expected != REASON_NONE &&
		    (report_empty(&report) || report.at[0].reason != expected))
			fail_msg("%s: not %s", j->line, reason_name(expected));
		assert_int_equal(admit.containers, 2);
		assert_int_equal(admit.ours, 1);
	}
}

/* Each is managed.unknown, and this is why. */
#define NO_LINE "a line of docker's list is not what was asked for"
#define NO_ID ": its id is not one"
#define NO_STATE ": its state label is not 32 hex digits"
#define NO_RUN ": its run label is not 32 hex digits"
#define NO_MODE ": its mode label is neither turn nor session"
#define NO_LABEL ": its roots label cannot be read"
#define UNTRUE ": its roots label is not docker's own list"

static const struct {
	const char *why;
	const char *line;
} unknown[] = {
	/* not the line that was asked for */
	{NO_LINE, ""},
	{NO_LINE, " "},
	{NO_LINE, "x"},
	{NO_LINE, "null"},
	{NO_LINE, "{}"},
	{NO_LINE, "[]"},
	{NO_LINE, "[\"" ID "\"]"},
	{NO_LINE, "[\"" ID "\",\"" STATE2 "\",\"" RUN2 "\",\"turn\",\"[]\"]"},
	{NO_LINE, "[\"" ID "\",\"" STATE2 "\",\"" RUN2 "\",\"turn\",\"[]\",\"\",\"\"]"},
	{NO_LINE, "[\"" ID "\",\"" STATE2 "\",\"" RUN2 "\",\"turn\",[],\"\"]"},
	{NO_LINE, "[\"" ID "\",\"" STATE2 "\",\"" RUN2 "\",\"turn\",\"[]\",null]"},
	{NO_LINE, "[7,\"" STATE2 "\",\"" RUN2 "\",\"turn\",\"[]\",\"\"]"},
	{NO_LINE, "{\"" ID "\":0,\"" STATE2 "\":0,\"" RUN2 "\":0,\"turn\":0,\"[]\":0,\"\":0}"},
	{NO_LINE, OTHER(TURN, "[]", "") "x"},
	{NO_LINE, OTHER(TURN, "[]", "") OTHER(TURN, "[]", "")},
	{NO_LINE, OTHER(TURN, "[]\\u0000", "")},
	{NO_LINE, OTHER(TURN, "[]", "\\u0000")},
	/* odd words */
	{NO_ID, LINE("83c3ec49a73a", STATE2, RUN2, TURN, "[]", "")},
	{NO_ID, LINE("", STATE2, RUN2, TURN, "[]", "")},
	{NO_ID,
	 LINE("83C3ec49a73a24608dbf11713d102a2e4a75bfa72f4f454ddb313f00877ae5a4", STATE2, RUN2, TURN,
	      "[]", "")},
	{NO_ID,
	 LINE("/3c3ec49a73a24608dbf11713d102a2e4a75bfa72f4f454ddb313f00877ae5a4", STATE2, RUN2, TURN,
	      "[]", "")},
	{NO_ID,
	 LINE("g3c3ec49a73a24608dbf11713d102a2e4a75bfa72f4f454ddb313f00877ae5a4", STATE2, RUN2, TURN,
	      "[]", "")},
	{NO_ID,
	 LINE("83c3ec49a73a24608dbf11713d102a2e4a75bfa72f4f454ddb313f00877ae5a:", STATE2, RUN2, TURN,
	      "[]", "")},
	{NO_STATE, LINE(ID, "", RUN2, TURN, "[]", "")},
	{NO_STATE, LINE(ID, "zz", RUN2, TURN, "[]", "")},
	{NO_STATE, LINE(ID, STATE2 "0", RUN2, TURN, "[]", "")},
	{NO_RUN, LINE(ID, STATE2, "", TURN, "[]", "")},
	{NO_RUN, LINE(ID, STATE2, "0011", TURN, "[]", "")},
	{NO_MODE, LINE(ID, STATE2, RUN2, "", "[]", "")},
	{NO_MODE, LINE(ID, STATE2, RUN2, "Turn", "[]", "")},
	{NO_MODE, LINE(ID, STATE2, RUN2, "turn ", "[]", "")},
	{NO_MODE, LINE(ID, STATE2, RUN2, "sessions", "[]", "")},
	/* odd labels */
	{NO_LABEL, OTHER(TURN, "", "")},
	{NO_LABEL, OTHER(TURN, "{}", "")},
	{NO_LABEL, OTHER(TURN, "null", "")},
	{NO_LABEL, OTHER(TURN, "[", "")},
	{NO_LABEL, OTHER(TURN, "[]]", "")},
	{NO_LABEL, OTHER(TURN, "[7]", "/x")},
	{NO_LABEL, OTHER(TURN, "[[]]", "/x")},
	{NO_LABEL, OTHER(TURN, "[{}]", "/x")},
	{NO_LABEL, OTHER(TURN, "[{\\\"path\\\":\\\"/x\\\"}]", "/x")},
	{NO_LABEL, OTHER(TURN, "[{\\\"mode\\\":\\\"ro\\\"}]", "/x")},
	{NO_LABEL, OTHER(TURN, "[{\\\"path\\\":\\\"/x\\\",\\\"more\\\":\\\"ro\\\"}]", "/x")},
	{NO_LABEL, OTHER(TURN, "[{\\\"mode\\\":\\\"ro\\\",\\\"more\\\":\\\"/x\\\"}]", "/x")},
	{NO_LABEL,
	 OTHER(TURN, "[{\\\"path\\\":\\\"/x\\\",\\\"mode\\\":\\\"ro\\\",\\\"a\\\":1}]", "/x")},
	{NO_LABEL, OTHER(TURN, "[{\\\"path\\\":\\\"/x\\\",\\\"mode\\\":\\\"r\\\"}]", "/x")},
	{NO_LABEL, OTHER(TURN, "[{\\\"path\\\":\\\"/x\\\",\\\"mode\\\":true}]", "/x")},
	{NO_LABEL, OTHER(TURN, "[{\\\"path\\\":7,\\\"mode\\\":\\\"ro\\\"}]", "/x")},
	{NO_LABEL,
	 OTHER(TURN, "[{\\\"path\\\":\\\"/x\\\",\\\"path\\\":\\\"/y\\\",\\\"mode\\\":\\\"ro\\\"}]",
	       "/x")},
	/* paths that are not canonical, or that no launch of ours has */
	{NO_LABEL, OTHER(TURN, "[" RO("") "]", "")},
	{NO_LABEL, OTHER(TURN, "[" RO("/") "]", "/")},
	{NO_LABEL, OTHER(TURN, "[" RO("x") "]", "x")},
	{NO_LABEL, OTHER(TURN, "[" RO("/x/") "]", "/x/")},
	{NO_LABEL, OTHER(TURN, "[" RO("//x") "]", "//x")},
	{NO_LABEL, OTHER(TURN, "[" RO("/x/../y") "]", "/x/../y")},
	{NO_LABEL, OTHER(TURN, "[" RO("/x/./y") "]", "/x/./y")},
	{NO_LABEL, OTHER(TURN, "[" RO("/x,y") "]", "/x,y")},
	{NO_LABEL, OTHER(TURN, "[" RO("/x\\\\n") "]", "/x\\n")},
	{NO_LABEL, OTHER(TURN, "[" RO("/x\\\\u0000") "]", "/x")},
	/* the label is not what docker says */
	{UNTRUE, OTHER(TURN, "[]", "/x")},
	{UNTRUE, OTHER(TURN, "[" RO("/x") "]", "")},
	{UNTRUE, OTHER(TURN, "[" RO("/x") "]", "/y")},
	{UNTRUE, OTHER(TURN, "[" RO("/x") "]", "/x,")},
	{UNTRUE, OTHER(TURN, "[" RO("/x") "]", ",/x")},
	{UNTRUE, OTHER(TURN, "[" RO("/x") "]", "/x,/x")},
	{UNTRUE, OTHER(TURN, "[" RO("/x") "]", "/x,/y")},
	{UNTRUE, OTHER(TURN, "[" RO("/x") "]", "/xy")},
	{UNTRUE, OTHER(TURN, "[" RO("/x") "]", "/")},
	{UNTRUE, OTHER(TURN, "[" RO("/x") "]", "volume")},
	{UNTRUE, OTHER(TURN, "[" RO("/x") "," RO("/y") "]", "/x")},
	{UNTRUE, OTHER(TURN, "[" RO("/x") "," RO("/y") "]", "/x,/z")},
	{UNTRUE, OTHER(TURN, "[" RO("/x") "," RO("/x") "]", "/x,/y")},
	{UNTRUE, OTHER(TURN, "[" RO("/x") "," RO("/x") "]", "/x,/x")},
	{UNTRUE, OTHER(TURN, "[" RO("/x") "," RO("/y") "," RO("/x") "]", "/x,/y,/z")},
	/* more roots than any launch has */
	{NO_LABEL,
	 OTHER(TURN, "[7,7,7,7,7,7,7,7,7,7,7,7,7,7,7,7,7,7,7,7,7,7,7,7,7,7,7,7,7,7,7,7,7,7]", "")},
	/* a root that cannot be read is no empty path, whatever docker lists */
	{NO_LABEL, OTHER(TURN, "[{}," RO("/y") "]", ",/y")},
	{NO_LABEL, OTHER(TURN, "[" RO("/x\\\\u0000") "," RO("/y") "]", ",/y")},
	{NO_LABEL,
	 OTHER(TURN, "[{\\\"path\\\":\\\"/x\\\",\\\"mode\\\":\\\"x\\\"}," RO("/y") "]", ",/y")},
	{NO_LABEL, OTHER(TURN, "[" RO("") "," RO("/y") "]", ",/y")},
};

static bool ends_with(const char *string, const char *end)
{
	size_t len = strlen(string);

	return len >= strlen(end) && strcmp(string + len - strlen(end), end) == 0;
}

static void test_unknown(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
		begin(MODE_TURN);
		line(unknown[i].line);
		if (report.count != 1 || report.at[0].reason != REASON_MANAGED_UNKNOWN ||
		    !ends_with(report.at[0].detail, unknown[i].why))
			fail_msg("%s: %u findings: %s", unknown[i].line, report.count,
			         report.at[0].detail);
		assert_int_equal(report.at[0].status, 69);
		assert_int_equal(admit.ours, 0);
		/* The pool is free again. */
		line(OURS);
		assert_int_equal(report.count, 1);
		assert_int_equal(admit.ours, 1);
	}
	assert_pool_free();
}

/* Our own line counts only when it is in order as well. */
static void test_ours(void **state)
{
	(void)state;
	begin(MODE_TURN);
	line(OURS);
	admit_end(&admit, &report);
	assert_true(report_empty(&report));

	begin(MODE_TURN);
	admit_end(&admit, &report);
	assert_int_equal(report.count, 1);
	assert_int_equal(report.at[0].reason, REASON_MANAGED_UNKNOWN);
	assert_string_equal(report.at[0].detail,
	                    "docker does not list the container of this run");

	begin(MODE_TURN);
	line(OURS);
	line(OURS);
	admit_end(&admit, &report);
	assert_int_equal(report.count, 1);
	assert_int_equal(report.at[0].reason, REASON_MANAGED_UNKNOWN);
	assert_string_equal(report.at[0].detail,
	                    "docker lists more than one container of this run");

	begin(MODE_TURN);
	line(LINE(ID, STATE, RUN, "", "[]", ""));
	admit_end(&admit, &report);
	assert_int_equal(report.count, 2);

	begin(MODE_TURN);
	line(LINE(ID, STATE2, RUN, "turn", "[]", ""));
	admit_end(&admit, &report);
	assert_int_equal(report.count, 1);
	assert_int_equal(admit.ours, 0);
}

static void test_live(void **state)
{
	(void)state;
	begin(MODE_TURN);
	line(OURS);
	line(LINE(ID, STATE, RUN2, "turn", "[]", ""));
	line(LINE(ID, STATE2, RUN2, "turn", "[]", ""));
	assert_int_equal(admit.containers, 3);
	assert_int_equal(admit.live, 2);
	plan.limits.live = 0;
	admit_end(&admit, &report);
	plan.limits.live = 3;
	admit_end(&admit, &report);
	plan.limits.live = 2;
	admit_end(&admit, &report);
	assert_true(report_empty(&report));
	plan.limits.live = 1;
	admit_end(&admit, &report);
	assert_int_equal(report.count, 1);
	assert_int_equal(report.at[0].reason, REASON_LIVE_LIMIT);
	assert_int_equal(report.at[0].status, 75);
	assert_string_equal(report.at[0].detail, "2 with this one, the limit is 1");
	assert_string_equal(report.at[0].pointer, "/limits/live");
}

static void test_details(void **state)
{
	(void)state;
	begin(MODE_TURN);
	line(OTHER(TURN, "[" RW("/srv/w") "]", "/srv/w"));
	assert_string_equal(report.at[0].detail,
	                    "/srv/w (rw) and /srv/w (rw) of container " ID);
	assert_int_equal(report.at[0].status, 75);
	begin(MODE_TURN);
	line(OTHER(TURN, "[" RO("/srv/b/\xc3\xa9") "]", "/srv/b/\xc3\xa9"));
	assert_string_equal(report.at[0].detail,
	                    "/srv/b (ro) and /srv/b/\\xc3\\xa9 (ro) of container " ID);
	assert_int_equal(report.at[0].status, 77);
	/* An id that is none is shown escaped; a line without any is not shown. */
	begin(MODE_TURN);
	line(LINE("a\\n\\u001b[1m", STATE2, RUN2, "turn", "[]", ""));
	assert_string_equal(report.at[0].detail, "container a\\x0a\\x1b[1m: its id is not one");
	begin(MODE_TURN);
	line(LINE(ID, STATE2, RUN2, "turn", "x", ""));
	assert_string_equal(report.at[0].detail,
	                    "container " ID ": its roots label cannot be read");
}

/* A long text is cut at 200 bytes, and the cut shows. */
static void test_cut(void **state)
{
	char text[1024], id[202], expected[256];

	(void)state;
	memset(id, 'x', sizeof(id) - 1);
	for (size_t len = 201; len >= 199; len--) {
		id[len] = '\0';
		(void)snprintf(text, sizeof(text), LINE("%s", STATE2, RUN2, "turn", "[]", ""), id);
		(void)snprintf(expected, sizeof(expected), "container %.200s%s: its id is not one",
		               id, len > 200 ? "..." : "");
		begin(MODE_TURN);
		line(text);
		assert_int_equal(report.count, 1);
		assert_string_equal(report.at[0].detail, expected);
	}
}

/* Every pair that conflicts is reported. */
static void test_all_pairs(void **state)
{
	(void)state;
	begin(MODE_TURN);
	line(OTHER(TURN, "[" RO("/srv") "]", "/srv"));
	assert_int_equal(report.count, 2);
	begin(MODE_TURN);
	line(OTHER(TURN, "[" RW("/srv/w") "," RO("/srv/b/x") "," RO("/srv/b/y") "]",
	           "/srv/w,/srv/b/x,/srv/b/y"));
	assert_int_equal(report.count, 3);
	assert_int_equal(report.at[0].reason, REASON_MANAGED_OVERLAP);
	assert_int_equal(report.at[2].reason, REASON_MOUNT_IN_USE);
}

/* As many roots as a launch can have, of `path` bytes each; one more; and a
 * label longer than any launch writes. */
static const char *roots_line(unsigned count, size_t path)
{
	static char bytes[2 * 65536 * 2];
	static char long_path[4096];
	struct text out;

	memset(long_path, 'p', sizeof(long_path));
	for (size_t i = 200; i < sizeof(long_path); i += 200)
		long_path[i] = '/';
	text_init(&out, bytes, sizeof(bytes) - 1);
	text_string(&out, "[\"" ID "\",\"" STATE2 "\",\"" RUN2 "\",\"turn\",\"[");
	for (unsigned i = 0; i < count; i++) {
		text_string(&out, i == 0 ? "{\\\"path\\\":\\\"/" : ",{\\\"path\\\":\\\"/");
		text_u64(&out, 100 + i);
		text_bytes(&out, long_path, path - 4);
		text_string(&out, "\\\",\\\"mode\\\":\\\"ro\\\"}");
	}
	text_string(&out, "]\",\"");
	for (unsigned i = 0; i < count; i++) {
		text_string(&out, i == 0 ? "/" : ",/");
		text_u64(&out, 100 + i);
		text_bytes(&out, long_path, path - 4);
	}
	text_string(&out, "\"]");
	assert_false(out.full);
	bytes[out.len] = '\0';
	return bytes;
}

/* A line of so many bytes, whose label has so many: blanks fill both. */
static const char *blanks_line(size_t label, size_t len)
{
	static const char HEAD[] = "[\"" ID "\",\"" STATE2 "\",\"" RUN2 "\",\"turn\",\"[";
	static const char TAIL[] = "]\",\"\"]";
	static char bytes[ANSWER_MAX + 2];

	memset(bytes, ' ', len);
	bytes[len] = '\0';
	memcpy(bytes, HEAD, sizeof(HEAD) - 1);
	memcpy(bytes + sizeof(HEAD) - 1 + label - 2, TAIL, sizeof(TAIL) - 1);
	return bytes;
}

static void test_bytes(void **state)
{
	(void)state;
	for (size_t more = 0; more <= 1; more++) {
		begin(MODE_TURN);
		line(blanks_line(ROOTS_LABEL_MAX + more, 70000));
		assert_int_equal(report.count, more);
		begin(MODE_TURN);
		line(blanks_line(2, ANSWER_MAX + more));
		assert_int_equal(report.count, more);
	}
}

static void test_sizes(void **state)
{
	(void)state;
	begin(MODE_TURN);
	line(roots_line(ROOTS_MAX, 1900));
	assert_pool_free();
	line(roots_line(1, PATH_BYTES_MAX));
	if (!report_empty(&report))
		fail_msg("%s", report.at[0].detail);
	line(roots_line(ROOTS_MAX + 1, 10));
	assert_int_equal(report.count, 1);
	line(roots_line(ROOTS_MAX, 2000));
	assert_int_equal(report.count, 2);
	line(roots_line(1, PATH_BYTES_MAX + 1));
	assert_int_equal(report.count, 3);
	for (uint32_t i = 0; i < report.count; i++)
		assert_int_equal(report.at[i].reason, REASON_MANAGED_UNKNOWN);
}

/* Many containers: linear, and the counters keep up. */
static void test_many(void **state)
{
	(void)state;
	begin(MODE_TURN);
	for (unsigned i = 0; i < 5000; i++)
		line(OTHER(TURN, "[" RO("/srv/b") "," RW("/srv/x") "]", "/srv/x,/srv/b"));
	line(OURS);
	admit_end(&admit, &report);
	assert_true(report_empty(&report));
	assert_int_equal(admit.containers, 5001);
	assert_int_equal(admit.live, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_judgements), cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_ours),       cmocka_unit_test(test_live),
		cmocka_unit_test(test_details),    cmocka_unit_test(test_all_pairs),
		cmocka_unit_test(test_sizes),      cmocka_unit_test(test_many),
		cmocka_unit_test(test_cut),        cmocka_unit_test(test_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

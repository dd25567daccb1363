/* SPDX-License-Identifier: ISC */
#include <errno.h>
#include <sha2.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "../../ipc/channel.h"
#include "../../ipc/frame_policy.h"
#include "../../policy/judging.h"
#include "../../policy/launching.h"
#include "../../policy/resolve.h"
#include "host.h"
#include "pool.h"

/*
 * decide, and this test in the executor's place.  All that it will be told lies in
 * its socket before it starts: what it asked is read afterwards.  What it must
 * send and record is made a second time here, of the same facts and documents.
 */

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define HEX64 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static const char IMAGE[] =
	"{\"Id\":\"sha256:" HEX64 "\",\"Os\":\"linux\",\"Config\":{\"Entrypoint\":[\"/agent\"]}}";

/* --- the socket: what stands before libc's own, beside host.h --- */

static unsigned interrupts; /* so many receptions are interrupted */
static unsigned ends; /* so many told that there is no more */

ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
	PASS_ON(recvmsg);

	if (interrupts == 0) {
		ssize_t len = passed_on(fd, message, flags);

		if (len == 0 && fd == LAUNCHING_SOCKET && ends++ > 0)
			_exit(97); /* what ended is asked again */
		return len;
	}
	interrupts--;
	errno = EINTR;
	return -1;
}

/* --- one tree for all: directories b and w, and a socket --- */

static char scratch[] = "/tmp/test_launching.XXXXXX";
static char endpoint[128];

static const char *in(const char *name)
{
	static char path[4][128];
	static unsigned next;
	char *to = path[next++ % COUNT(path)];

	(void)snprintf(to, sizeof(path[0]), "%s/%s", scratch, name);
	return to;
}

static int make_tree(void **state)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)state;
	assert_non_null(mkdtemp(scratch));
	assert_int_equal(mkdir(in("b"), 0700), 0);
	assert_int_equal(mkdir(in("w"), 0700), 0);
	memcpy(address.sun_path, in("d.sock"), strlen(in("d.sock")) + 1);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(chmod(in("d.sock"), 0600), 0);
	assert_int_equal(close(fd), 0);
	(void)snprintf(endpoint, sizeof(endpoint), "unix://%s", in("d.sock"));
	fd = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
	assert_true(resolve_mountinfo(fd));
	return close(fd);
}

static int remove_tree(void **state)
{
	(void)state;
	assert_int_equal(rmdir(in("b")), 0);
	assert_int_equal(rmdir(in("w")), 0);
	assert_int_equal(unlink(in("d.sock")), 0);
	return rmdir(scratch);
}

/* --- both sides --- */

static int executor; /* our end of the socket */
static uint8_t frame[FRAME_MAX];
static struct judging judging; /* what must come of it */
static struct facts facts;
static char config[CONFIG_BYTES_MAX + 2];
static size_t config_len;
static const char *image_text;
static enum reason refused; /* docker's answer is none: so it is reported */
static const char *refused_text;
static char record[JUDGING_RECORD];
static struct text wanted;
static int audit_file;

static void tell(size_t len)
{
	assert_true(len > 0);
	assert_int_equal(channel_send(executor, frame, len), 0);
}

static void tell_facts(void)
{
	tell(frame_put_facts(frame, sizeof(frame), &facts));
}

static void answer(enum frame_kind question, unsigned status)
{
	const struct answered answered = { question, (uint8_t)status };

	tell(frame_put_answered(frame, sizeof(frame), &answered));
}

static void set_config(const char *head)
{
	config_len = (size_t)snprintf(
		config, sizeof(config),
		"{\"version\":1,\"mode\":\"turn\",%s\"image\":\"worker:1\","
		"\"user\":{\"uid\":1501,\"gid\":1502},"
		"\"limits\":{\"memoryBytes\":67108864,\"cpus\":0.5,\"pids\":64},"
		"\"mounts\":[{\"host\":\"%s\",\"guest\":\"/broker\",\"mode\":\"ro\"},"
		"{\"host\":\"%s\",\"guest\":\"/workspace\",\"mode\":\"rw\"}]}",
		head, in("b"), in("w"));
}

static void set_answer(int number, const char *text)
{
	standard_set(number, standard_file(text, strlen(text)));
}

#define TURN_TEXT "what the worker is asked"

/* A turn that is allowed, its endpoint the context's; nothing is told yet. */
static void begin(void)
{
	char context[160];
	int pair[2];

	standard_begin();
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	executor = fcntl(pair[0], F_DUPFD_CLOEXEC, 64);
	standard_fd[LAUNCHING_SOCKET] = fcntl(pair[1], F_DUPFD_CLOEXEC, 64);
	assert_int_equal(close(pair[0]) | close(pair[1]), 0);
	(void)snprintf(context, sizeof(context), " \"%s\"\n", endpoint);
	set_answer(LAUNCHING_CONTEXT, context);
	set_answer(LAUNCHING_IMAGE, IMAGE);
	set_answer(LAUNCHING_TURN, TURN_TEXT);
	image_text = IMAGE;
	refused = REASON_NONE;
	audit_file = standard_file("", 0);
	standard_fd[LAUNCHING_AUDIT] = fcntl(audit_file, F_DUPFD_CLOEXEC, 64);
	memset(&facts, 0, sizeof(facts));
	for (size_t i = 0; i < NONCE_BYTES; i++)
		facts.nonce[i] = (uint8_t)i;
	facts.uid = getuid() != 0 ? getuid() : 1000;
	facts.gid = 1000;
	facts.home = "";
	facts.state_dir = facts.executor = facts.policy = facts.docker = facts.config = "/none/x";
	facts.state_id = "00000000000000000000000000000000";
	facts.audit = "/none/audit";
	set_config("");
	clock_fails = false;
	mount_table = NULL;
	interrupts = 0;
	text_init(&wanted, record, sizeof(record));
}

static void refuse(enum reason reason, const char *detail)
{
	refused = reason;
	refused_text = detail;
}

static void report_refused(struct report *report)
{
	if (refused_text[0] == '\0')
		report_add(report, refused, "");
	else
		report_add_text(report, refused, "", "", refused_text, strlen(refused_text));
}

static const char *give_endpoint(void *context, struct text *arena, struct report *report)
{
	(void)context;
	if (!report_empty(report))
		return NULL;
	if (refused == REASON_CONTEXT_ANSWER) {
		report_refused(report);
		return NULL;
	}
	return text_keep(arena, endpoint, strlen(endpoint));
}

static bool give_image(void *context, const char *where, const char *reference,
                       struct text *arena, struct image *out, struct report *report)
{
	(void)context;
	if (!report_empty(report))
		return false;
	if (refused != REASON_NONE) {
		report_refused(report);
		return false;
	}
	assert_string_equal(where, endpoint);
	assert_string_equal(reference, "worker:1");
	return judging_image(image_text, strlen(image_text), arena, out, report);
}

static void want_turn(const char *text, size_t len)
{
	SHA2_CTX context;

	SHA256Init(&context);
	SHA256Update(&context, (const uint8_t *)text, len);
	SHA256Final(judging.turn_sha256, &context);
	judging.turn_hashed = true;
}

/* Judges as decide must; then the test may add what else is to be found. */
static void want_judged(void)
{
	static const struct decide_asker asker = { .endpoint = give_endpoint,
		                                   .image = give_image };
	static const struct judging_how how;

	judging_begin(&judging, CONFINE_FULL);
	if (facts.mode == MODE_TURN)
		want_turn(TURN_TEXT, strlen(TURN_TEXT));
	judging_config(&judging, config, config_len, &facts, &how, &asker);
}

static void want_record(void)
{
	struct timespec now = {1000000000, 7000000};

	if (clock_fails)
		memset(&now, 0, sizeof(now));
	judging_record(&judging, now, 1, false, &wanted);
}

static int launch(const struct options *given, enum confine_result confined)
{
	int status = launching_prepare(given);

	if (status != 0)
		return 98;
	for (int fd = LAUNCHING_SOCKET; fd <= LAUNCHING_TURN; fd++)
		if (standard_fd[fd] < 0 && fcntl(fd, F_GETFD) >= 0)
			return 96; /* what is missing must stay so */
	status = launching_run(given, confined);
	assert_pool_free();
	/* Docker's pipes are closed once they were read: it must not wait. */
	if (status == 0 && (fcntl(LAUNCHING_CONTEXT, F_GETFD) >= 0 ||
	                    fcntl(LAUNCHING_IMAGE, F_GETFD) >= 0))
		return 99;
	return status;
}

static int run(void)
{
	if (standard_fd[LAUNCHING_CONFIG] < 0)
		standard_set(LAUNCHING_CONFIG, standard_file(config, config_len));
	(void)shutdown(executor, SHUT_WR);
	return standard_fork(launch, CONFINE_FULL);
}

/* The next frame that it sent; 0: no more. */
static size_t heard(void)
{
	ssize_t len = channel_receive(executor, frame, sizeof(frame), 0);

	return len > 0 ? (size_t)len : 0;
}

static void assert_asked(bool context, bool image)
{
	struct ask_image ask;

	if (context)
		assert_int_equal(frame_get_ask_context(frame, heard()), FRAME_OK);
	if (!image)
		return;
	assert_int_equal(frame_get_ask_image(frame, heard(), &ask), FRAME_OK);
	assert_string_equal(ask.endpoint, endpoint);
	assert_string_equal(ask.reference, "worker:1");
}

static void assert_recorded(void)
{
	static char bytes[JUDGING_RECORD];
	ssize_t len = pread(audit_file, bytes, sizeof(bytes), 0);

	assert_int_equal(len, wanted.len);
	assert_memory_equal(bytes, wanted.at, wanted.len);
	assert_int_equal(close(audit_file), 0);
}

static void end(void)
{
	assert_int_equal(heard(), 0);
	assert_int_equal(close(executor), 0);
	assert_int_equal(standard_out_len, 0);
}

/* One line on standard error, the report's first finding. */
static void assert_told(void)
{
	static char bytes[16384];
	struct text line;

	text_init(&line, bytes, sizeof(bytes) - 1);
	if (options.value[OPTION_JSON] != NULL) {
		finding_json(&judging.report.at[0], &line);
		text_string(&line, "\n");
	} else {
		finding_line(&judging.report.at[0], &line);
	}
	bytes[line.len] = '\0';
	assert_string_equal(standard_err, bytes);
}

/* As judged and recorded, and allowed. */
static void assert_allowed(void)
{
	static uint8_t launched[FRAME_MAX];
	size_t len = frame_put_launch(launched, sizeof(launched), &judging.decision.launch);

	assert_true(report_empty(&judging.report));
	want_record();
	tell_facts();
	answer(FRAME_ASK_CONTEXT, 0);
	answer(FRAME_ASK_IMAGE, 0);
	assert_int_equal(run(), 0);
	assert_asked(true, true);
	assert_int_equal(heard(), len);
	assert_memory_equal(frame, launched, len);
	assert_recorded();
	end();
}

/* As judged and recorded, and refused, after so much was asked. */
static void assert_refused(bool context, bool image)
{
	assert_false(report_empty(&judging.report));
	want_record();
	assert_int_equal(run(), report_status(&judging.report));
	assert_asked(context, image);
	assert_told();
	assert_recorded();
	end();
}

/* Nothing was judged: these are all findings. */
static void want_only(enum reason reason, const char *detail)
{
	judging_begin(&judging, CONFINE_FULL);
	want_turn(TURN_TEXT, strlen(TURN_TEXT));
	if (detail[0] == '\0')
		report_add(&judging.report, reason, "");
	else
		report_add_text(&judging.report, reason, "", "", detail, strlen(detail));
}

/* --- allowed --- */

static void test_allowed(void **state)
{
	(void)state;
	begin();
	want_judged();
	assert_allowed();
	assert_int_equal(standard_err_len, 0);
}

static void test_interrupted(void **state)
{
	(void)state;
	begin();
	interrupts = 3;
	tell_facts();
	answer(FRAME_ASK_CONTEXT, 0);
	answer(FRAME_ASK_IMAGE, 0);
	assert_int_equal(run(), 0);
	interrupts = 0;
	assert_asked(true, true);
	assert_int_equal(frame_kind(frame, heard()), FRAME_LAUNCH);
	assert_int_equal(close(audit_file), 0);
	end();
}

/* Standard input is not there: the mount table is opened as descriptor 0. */
static void test_no_input(void **state)
{
	(void)state;
	begin();
	standard_set(0, -1);
	want_judged();
	assert_allowed();
	assert_int_equal(standard_err_len, 0);
}

static void test_time(void **state)
{
	(void)state;
	begin();
	clock_fails = true;
	want_judged();
	assert_allowed();
}

/* A session has no turn, whatever stands in its place. */
static void test_session(void **state)
{
	(void)state;
	begin();
	config_len = (size_t)snprintf(
		config, sizeof(config),
		"{\"version\":1,\"mode\":\"session\",\"session\":{\"key\":\"k\",\"revision\":7},"
		"\"image\":\"worker:1\",\"user\":{\"uid\":1501,\"gid\":1502},"
		"\"limits\":{\"memoryBytes\":67108864,\"cpus\":0.5,\"pids\":64},"
		"\"mounts\":[{\"host\":\"%s\",\"guest\":\"/workspace\",\"mode\":\"rw\"}]}",
		in("w"));
	facts.mode = MODE_SESSION;
	want_judged();
	assert_allowed();
	assert_non_null(strstr(record, "\"turn_sha256\":null"));
}

/* A turn of one byte more than is read at once, twice, and one that cannot be read. */
static void test_turn(void **state)
{
	static char turn[2 * ANSWER_MAX + 1];

	(void)state;
	memset(turn, 't', sizeof(turn));
	turn[0] = 's';
	turn[sizeof(turn) - 1] = 'u';
	begin();
	standard_set(LAUNCHING_TURN, standard_file(turn, sizeof(turn)));
	want_judged();
	want_turn(turn, sizeof(turn));
	assert_allowed();
	begin();
	standard_set(LAUNCHING_TURN, -1);
	want_judged();
	judging.turn_hashed = false;
	assert_allowed();
}

static void test_no_audit(void **state)
{
	(void)state;
	begin();
	facts.audit = NULL;
	standard_set(LAUNCHING_AUDIT, -1); /* and no turn: two numbers that nothing may take */
	standard_set(LAUNCHING_TURN, -1);
	want_judged();
	tell_facts();
	answer(FRAME_ASK_CONTEXT, 0);
	answer(FRAME_ASK_IMAGE, 0);
	assert_int_equal(run(), 0);
	assert_asked(true, true);
	assert_int_equal(frame_kind(frame, heard()), FRAME_LAUNCH);
	assert_recorded(); /* nothing */
	end();
}

/* --- refused --- */

static void test_mount_table(void **state)
{
	static const char *const TABLES[] = {"", "x"};

	(void)state;
	for (size_t i = 0; i < COUNT(TABLES); i++) {
		begin();
		mount_table = TABLES[i];
		want_only(REASON_MOUNT_INFO, "");
		tell_facts();
		assert_refused(false, false);
	}
}

static void test_config(void **state)
{
	(void)state;
	for (int json = 0; json <= 1; json++) {
		begin();
		standard_json(json == 1);
		set_config("\"imagId\":1,");
		want_judged();
		tell_facts();
		assert_refused(false, false);
	}
	for (size_t more = 0; more <= 1; more++) {
		size_t len;

		begin();
		len = config_len;
		memset(config + len, ' ', sizeof(config) - len);
		config_len = CONFIG_BYTES_MAX + more;
		if (more == 0) {
			want_judged();
			assert_allowed();
			continue;
		}
		want_only(REASON_JSON_TOO_LARGE, "");
		tell_facts();
		assert_refused(false, false);
	}
	begin();
	want_only(REASON_INPUT_READ, "");
	standard_set(LAUNCHING_CONFIG, fcntl(open("/", O_RDONLY | O_CLOEXEC), F_DUPFD_CLOEXEC, 64));
	tell_facts();
	assert_refused(false, false);
}

/* Docker's answer is refused; all else of the record is as far as it came. */
static void assert_reason(enum reason reason, const char *detail, bool image)
{
	refuse(reason, detail);
	want_judged();
	assert_int_equal(judging.report.at[0].reason, reason);
	assert_refused(true, image);
}

static void test_context(void **state)
{
	static char bytes[ANSWER_MAX + 1];
	static const char *const TEXTS[] = {"", "7", "\"\"", "x", "[\"unix:///x\"]",
		                            "\"\\ud800\"", "{\"a\":[1,2,3,4,5,6,7,8,9,0,1,2,3,4,5]}"};

	(void)state;
	for (size_t i = 0; i < COUNT(TEXTS); i++) {
		begin();
		set_answer(LAUNCHING_CONTEXT, TEXTS[i]);
		tell_facts();
		answer(FRAME_ASK_CONTEXT, 0);
		assert_reason(REASON_CONTEXT_ANSWER, "", false);
	}
	for (unsigned status = 1; status <= UINT8_MAX; status += 254) {
		begin();
		tell_facts();
		answer(FRAME_ASK_CONTEXT, status);
		assert_reason(REASON_CONTEXT_ANSWER,
		              status == 1 ? "docker context inspect: exit status 1"
		                          : "docker context inspect: exit status 255",
		              false);
	}
	for (size_t more = 0; more <= 1; more++) {
		size_t len = strlen(endpoint);

		begin();
		memset(bytes, ' ', sizeof(bytes));
		bytes[0] = bytes[len + 1] = '"';
		memcpy(bytes + 1, endpoint, len);
		standard_set(LAUNCHING_CONTEXT, standard_file(bytes, ANSWER_MAX + more));
		if (more == 0) {
			want_judged();
			assert_allowed();
			continue;
		}
		tell_facts();
		answer(FRAME_ASK_CONTEXT, 0);
		assert_reason(REASON_CONTEXT_ANSWER, "", false);
	}
}

static void test_image(void **state)
{
	static char bytes[ANSWER_MAX + 1];

	(void)state;
	for (unsigned status = 1; status <= UINT8_MAX; status += 254) {
		begin();
		tell_facts();
		answer(FRAME_ASK_CONTEXT, 0);
		answer(FRAME_ASK_IMAGE, status);
		assert_reason(REASON_IMAGE_ABSENT,
		              status == 1 ? "docker image inspect: exit status 1"
		                          : "docker image inspect: exit status 255",
		              true);
	}
	begin();
	set_answer(LAUNCHING_IMAGE, "{");
	tell_facts();
	answer(FRAME_ASK_CONTEXT, 0);
	answer(FRAME_ASK_IMAGE, 0);
	assert_reason(REASON_IMAGE_ANSWER, "docker image inspect: json.truncated", true);
	/* Docker fails when its answer was cut off: that is not the reason then. */
	for (size_t more = 0; more <= 1; more++) {
		begin();
		memset(bytes, ' ', sizeof(bytes));
		memcpy(bytes, IMAGE, strlen(IMAGE));
		standard_set(LAUNCHING_IMAGE, standard_file(bytes, ANSWER_MAX + more));
		if (more == 0) {
			want_judged();
			assert_allowed();
			continue;
		}
		tell_facts();
		answer(FRAME_ASK_CONTEXT, 0);
		answer(FRAME_ASK_IMAGE, 1);
		assert_reason(REASON_IMAGE_ANSWER, "", true);
	}
}

/* Docker hears nothing of a launch that is refused already. */
static void test_not_asked(void **state)
{
	(void)state;
	begin();
	facts.mode = MODE_SESSION; /* not what the config is for: found before the endpoint */
	want_judged();
	tell_facts();
	assert_int_equal(judging.report.at[0].reason, REASON_CONFIG_MODE);
	assert_refused(false, false);
	/* By its mounts: the context was asked, the image is not. */
	begin();
	set_config("\"privatePaths\":[\"/tmp\"],");
	want_judged();
	assert_int_equal(judging.report.at[0].reason, REASON_MOUNT_PROTECTED);
	tell_facts();
	answer(FRAME_ASK_CONTEXT, 0);
	assert_refused(true, false);
}

/* More than a frame holds: refused, and recorded as refused. */
static void test_too_large(void **state)
{
	static char head[240000];
	size_t len = 0;

	(void)state;
	begin();
	len += (size_t)snprintf(head, sizeof(head), "\"command\":[");
	for (unsigned i = 0; i < 50; i++) {
		if (i > 0)
			head[len++] = ',';
		head[len++] = '"';
		memset(head + len, 'w', 4090);
		len += 4090;
		head[len++] = '"';
	}
	memcpy(head + len, "],", 3);
	set_config(head);
	want_judged();
	assert_true(report_empty(&judging.report));
	report_add(&judging.report, REASON_PLAN_TOO_LARGE, "");
	tell_facts();
	answer(FRAME_ASK_CONTEXT, 0);
	answer(FRAME_ASK_IMAGE, 0);
	assert_refused(true, true);
}

/* --- the record --- */

static void test_audit(void **state)
{
	static const struct {
		const char *head;
		bool optional;
	} CASES[] = {{"", false}, {"\"audit\":{\"required\":true},", false},
	             {"\"audit\":{\"required\":false},", true}};

	(void)state;
	for (size_t i = 0; i < 2 * COUNT(CASES); i++) {
		bool optional = CASES[i / 2].optional;

		begin();
		options.value[OPTION_JSON] = i % 2 == 1 ? "" : NULL;
		set_config(CASES[i / 2].head);
		standard_set(LAUNCHING_AUDIT, standard_full());
		report_init(&judging.report, optional ? CODE_PROTOCOL : CODE_CONFIG,
		            optional ? 70 : 78);
		report_add(&judging.report, REASON_AUDIT_WRITE, optional ? "" : "/audit/required");
		tell_facts();
		answer(FRAME_ASK_CONTEXT, 0);
		answer(FRAME_ASK_IMAGE, 0);
		assert_int_equal(run(), optional ? 0 : report_status(&judging.report));
		assert_told();
		assert_asked(true, true);
		assert_int_equal(frame_kind(frame, heard()), optional ? FRAME_LAUNCH : 0);
		assert_int_equal(close(audit_file), 0);
		end();
	}
}

/* --- an executor that breaks the protocol --- */

static void assert_broken(const char *what)
{
	int status = run();

	assert_int_equal(status, 70);
	assert_non_null(strstr(standard_err, "protocol.frame"));
	if (strstr(standard_err, what) == NULL)
		fail_msg("not %s: %s", what, standard_err);
	assert_int_equal(standard_err[0], options.value[OPTION_JSON] != NULL ? '{' : 'c');
	assert_int_equal(close(audit_file) | close(executor), 0);
}

static void test_broken(void **state)
{
	(void)state;
	for (int json = 0; json <= 1; json++) {
		begin();
		standard_json(json == 1);
		assert_broken("no frame came");
		begin();
		standard_json(json == 1);
		answer(FRAME_ASK_CONTEXT, 0);
		assert_broken("FACTS");
		begin();
		standard_json(json == 1);
		tell_facts();
		assert_broken("no frame came");
		begin();
		standard_json(json == 1);
		tell_facts();
		answer(FRAME_ASK_IMAGE, 0);
		assert_broken("ANSWERED");
		begin();
		standard_json(json == 1);
		tell_facts();
		answer(FRAME_ASK_CONTEXT, 0);
		answer(FRAME_ASK_CONTEXT, 0);
		assert_broken("ANSWERED");
		begin();
		standard_json(json == 1);
		tell_facts();
		tell_facts();
		assert_broken("ANSWERED");
	}
	/* The shortest frame that there can be, and the end, right after a signal. */
	begin();
	assert_int_equal(send(executor, "C", 1, 0), 1);
	assert_broken("FACTS");
	begin();
	interrupts = 1;
	assert_broken("no frame came");
	begin();
	standard_set(LAUNCHING_SOCKET, -1);
	assert_broken("no frame came");
}

/* Nobody hears what it asks. */
static void test_deaf(void **state)
{
	(void)state;
	for (int json = 0; json <= 1; json++) {
		begin();
		standard_json(json == 1);
		tell_facts();
		assert_int_equal(shutdown(executor, SHUT_RD), 0);
		assert_int_equal(run(), 70);
		assert_non_null(strstr(standard_err, "output.write"));
		assert_non_null(strstr(standard_err, "the executor's socket"));
		assert_int_equal(standard_err[0], json == 1 ? '{' : 'c');
		assert_int_equal(close(audit_file) | close(executor), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_allowed),   cmocka_unit_test(test_interrupted),
		cmocka_unit_test(test_time),      cmocka_unit_test(test_session),
		cmocka_unit_test(test_turn),      cmocka_unit_test(test_no_audit),
		cmocka_unit_test(test_mount_table), cmocka_unit_test(test_config),
		cmocka_unit_test(test_context),   cmocka_unit_test(test_image),
		cmocka_unit_test(test_not_asked), cmocka_unit_test(test_too_large),
		cmocka_unit_test(test_audit),     cmocka_unit_test(test_broken),
		cmocka_unit_test(test_deaf),      cmocka_unit_test(test_no_input),
	};

	return cmocka_run_group_tests(tests, make_tree, remove_tree);
}

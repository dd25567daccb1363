/* SPDX-License-Identifier: ISC */
#include "../../policy/checking.h"
#include "../../policy/facts.h"
#include "../../policy/judging.h"
#include "../../policy/resolve.h"
#include "host.h"

/*
 * check and argv, against the modules that they put together: what they write is
 * made a second time here, of the same facts and documents.
 */

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define HEX64 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define NONCE "00112233445566778899aabbccddeeff"

#define MOUNTS(host) \
	"\"mounts\":[{\"host\":\"/none/b\",\"guest\":\"/broker\",\"mode\":\"ro\"}," \
	"{\"host\":\"" host "\",\"guest\":\"/workspace\",\"mode\":\"rw\"}]"
#define CONFIG(head, host) \
	"{\"version\":1,\"mode\":\"turn\"," head "\"image\":\"worker:1\"," \
	"\"user\":{\"uid\":1501,\"gid\":1502}," \
	"\"docker\":{\"host\":\"unix:///none/docker.sock\"}," \
	"\"limits\":{\"memoryBytes\":67108864,\"cpus\":0.5,\"pids\":64}," MOUNTS(host) "}"

static const char GOOD[] = CONFIG("", "/none/w");
/* Two findings beside each other; the first's status is 78, the second's 77. */
static const char BAD[] = CONFIG("\"imagId\":1,", "/etc/x");
static const char IMAGE[] =
	"{\"Id\":\"sha256:" HEX64 "\",\"Os\":\"linux\",\"Config\":{\"Entrypoint\":[\"/agent\"]}}";

/* --- what must be written --- */

static struct judging judging;
static struct facts facts;
static struct report early; /* of the surroundings */
static char expected_out[JUDGING_RECORD];
static char expected_err[262144];
static struct text wanted_out, wanted_err;
static const char *image_text;
static bool offline;
static enum confine_result confined;

static bool give_image(void *context, const char *endpoint, const char *reference,
                       struct text *arena, struct image *out, struct report *report)
{
	(void)context;
	(void)endpoint;
	(void)reference;
	return judging_image(image_text, strlen(image_text), arena, out, report);
}

/* No document yet, and options as the test says next. */
static void begin(void)
{
	standard_begin();
	report_init(&early, CODE_CONFIG, 78);
	text_init(&wanted_out, expected_out, sizeof(expected_out));
	text_init(&wanted_err, expected_err, sizeof(expected_err));
	facts_gather(&facts);
	image_text = NULL;
	mount_table = NULL;
	as_zero = NULL;
	clock_fails = false;
	confined = CONFINE_FULL;
	offline = true;
	options.value[OPTION_OFFLINE] = "";
	options.value[OPTION_NONCE] = NONCE;
	for (size_t i = 0; i < NONCE_BYTES; i++)
		facts.nonce[i] = (uint8_t)(0x11 * i);
}

/* Judges a document; NULL: there is none to judge. */
static void want_judged(const char *text, size_t len)
{
	const struct judging_how how = { .offline = offline, .by_hand = true };
	const struct decide_asker asker = { .image = image_text != NULL ? give_image : NULL };

	judging_begin(&judging, confined);
	memcpy(judging.decision.launch.nonce, facts.nonce, sizeof(facts.nonce));
	judging.report = early;
	if (text != NULL)
		judging_config(&judging, text, len, &facts, &how, &asker);
}

static void want_record(uint64_t seq)
{
	struct timespec now = {1000000000, 7000000};

	if (clock_fails)
		memset(&now, 0, sizeof(now));
	judging_record(&judging, now, seq, true, &wanted_out);
}

static void want_findings(void)
{
	for (uint32_t i = 0; i < judging.report.count; i++) {
		if (options.value[OPTION_JSON] != NULL) {
			finding_json(&judging.report.at[i], &wanted_err);
			text_string(&wanted_err, "\n");
		} else {
			finding_line(&judging.report.at[i], &wanted_err);
		}
	}
}

static void assert_as_wanted(void)
{
	assert_false(wanted_out.full || wanted_err.full);
	expected_out[wanted_out.len] = expected_err[wanted_err.len] = '\0';
	assert_string_equal(standard_err, expected_err);
	assert_int_equal(standard_out_len, wanted_out.len);
	assert_memory_equal(standard_out, expected_out, wanted_out.len);
}

static int check(const struct options *given, enum confine_result how)
{
	int status = checking_prepare(given);

	return status != 0 ? status : checking_run(given, how);
}

static int argv(const struct options *given, enum confine_result how)
{
	int status = checking_prepare(given);

	return status != 0 ? status : checking_argv(given, how);
}

/* The document comes from standard input. */
static void config_is(const char *text, size_t len)
{
	options.value[OPTION_CONFIG] = "-";
	standard_set(0, standard_file(text, len));
	want_judged(text, len);
}

/* check, once; quiet or not, as lines and as JSON. */
static void assert_checked(int status)
{
	if (options.value[OPTION_QUIET] == NULL)
		want_findings();
	want_record(1);
	assert_int_equal(standard_fork(check, confined), status);
	assert_as_wanted();
}

/* --- check --- */

static void test_check(void **state)
{
	static const struct {
		const char *config;
		int status;
	} CASES[] = {{GOOD, 0}, {BAD, 78}, {"", 78}, {"{", 78}};

	(void)state;
	for (size_t i = 0; i < 4 * COUNT(CASES); i++) {
		begin();
		options.value[OPTION_QUIET] = (i & 1) != 0 ? "" : NULL;
		options.value[OPTION_JSON] = (i & 2) != 0 ? "" : NULL;
		config_is(CASES[i / 4].config, strlen(CASES[i / 4].config));
		assert_int_equal(report_status(&judging.report), CASES[i / 4].status);
		assert_checked(CASES[i / 4].status);
	}
	assert_true(strlen(expected_out) > 0);
}

/* The first finding's status, not the last's. */
static void test_status(void **state)
{
	static const char SYSTEM[] = CONFIG("", "/etc/x");

	(void)state;
	begin();
	config_is(SYSTEM, strlen(SYSTEM));
	assert_checked(77);
	begin();
	config_is(BAD, strlen(BAD));
	assert_true(judging.report.count > 1);
	assert_checked(78);
}

static void test_time(void **state)
{
	(void)state;
	begin();
	clock_fails = true;
	config_is(GOOD, strlen(GOOD));
	assert_checked(0);
	begin();
	options.value[OPTION_LINES] = "";
	clock_fails = true;
	standard_set(0, standard_file(GOOD, strlen(GOOD)));
	want_judged(GOOD, strlen(GOOD));
	want_record(1);
	assert_int_equal(standard_fork(check, confined), 0);
	assert_as_wanted();
}

/* A file that is named, with its own path among the facts. */
static void test_file(void **state)
{
	char path[] = "/tmp/test_checking.XXXXXX";
	int fd = mkstemp(path);

	(void)state;
	assert_int_equal(write(fd, GOOD, strlen(GOOD)), strlen(GOOD));
	assert_int_equal(close(fd), 0);
	begin();
	facts.config = path;
	options.value[OPTION_CONFIG] = path;
	want_judged(GOOD, strlen(GOOD));
	assert_checked(0);
	assert_int_equal(unlink(path), 0);
	/* There is none any more. */
	begin();
	options.value[OPTION_CONFIG] = path;
	report_add_text(&early, REASON_INPUT_READ, "", path, "ENOENT", 6);
	want_judged(NULL, 0);
	assert_int_equal(report_status(&judging.report), 66);
	assert_checked(66);
}

static char large[CONFIG_BYTES_MAX + 2];

static void test_bytes(void **state)
{
	(void)state;
	for (size_t more = 0; more <= 1; more++) {
		begin();
		memset(large, ' ', sizeof(large));
		memcpy(large, GOOD, strlen(GOOD));
		config_is(large, CONFIG_BYTES_MAX + more);
		if (more == 1) {
			want_judged(NULL, 0);
			report_add(&judging.report, REASON_JSON_TOO_LARGE, "");
		}
		assert_checked(more == 0 ? 0 : 78);
	}
	begin();
	options.value[OPTION_CONFIG] = "-";
	standard_set(0, open("/dev/null", O_WRONLY | O_CLOEXEC));
	want_judged(NULL, 0);
	report_add(&judging.report, REASON_INPUT_READ, "");
	assert_checked(66);
}

/* --- the options --- */

static void assert_no_nonce(const char *nonce)
{
	begin();
	options.value[OPTION_NONCE] = nonce;
	text_string(&wanted_err, "cofferdam-policy: USAGE usage: --nonce takes 32 lower-case hex "
	                         "digits: ");
	text_escaped(&wanted_err, nonce, strlen(nonce));
	text_string(&wanted_err, "; see cofferdam-policy --help\n");
	assert_int_equal(standard_fork(check, confined), 64);
	assert_as_wanted();
}

static void test_nonce(void **state)
{
	static const char DIGITS[] = "09af";
	static const unsigned VALUES[] = {0, 9, 10, 15};
	static const char OTHERS[] = "/:`gAFG \x7f\xff";
	static const char *const LENGTHS[] = {"", "0011", NONCE "0"};

	(void)state;
	for (size_t at = 0; at < 32; at++) {
		char nonce[] = NONCE;
		uint8_t *byte = &facts.nonce[at / 2];
		unsigned value = VALUES[at % 4];

		begin();
		nonce[at] = DIGITS[at % 4];
		options.value[OPTION_NONCE] = nonce;
		*byte = (uint8_t)(at % 2 == 0 ? (*byte & 0x0f) | value << 4
		                              : (*byte & 0xf0) | value);
		config_is(GOOD, strlen(GOOD));
		assert_checked(0);
	}
	for (size_t i = 0; i < 32; i++) {
		char nonce[] = NONCE;

		nonce[i] = OTHERS[i % (sizeof(OTHERS) - 1)];
		assert_no_nonce(nonce);
	}
	for (size_t i = 0; i < COUNT(LENGTHS); i++)
		assert_no_nonce(LENGTHS[i]);
	/* Without one it is all zeros. */
	begin();
	options.value[OPTION_NONCE] = NULL;
	memset(facts.nonce, 0, sizeof(facts.nonce));
	config_is(GOOD, strlen(GOOD));
	assert_checked(0);
}

static void test_image(void **state)
{
	static char bytes[ANSWER_MAX + 1];
	char path[] = "/tmp/test_checking.XXXXXX";
	int fd = mkstemp(path);

	(void)state;
	memset(bytes, ' ', sizeof(bytes));
	memcpy(bytes, IMAGE, strlen(IMAGE));
	assert_int_equal(write(fd, bytes, ANSWER_MAX), ANSWER_MAX);
	begin();
	options.value[OPTION_IMAGE] = path;
	image_text = IMAGE;
	config_is(GOOD, strlen(GOOD));
	assert_true(judging.decision.image_known);
	assert_checked(0);
	assert_int_equal(write(fd, " ", 1), 1); /* one byte too much */
	begin();
	options.value[OPTION_IMAGE] = path;
	image_text = "";
	report_add_text(&early, REASON_IMAGE_ANSWER, "", "file", path, strlen(path));
	config_is(GOOD, strlen(GOOD));
	assert_checked(69);
	assert_int_equal(close(fd), 0);
	assert_int_equal(unlink(path), 0);
	begin();
	options.value[OPTION_IMAGE] = path;
	report_add_text(&early, REASON_INPUT_READ, "", path, "ENOENT", 6);
	config_is(GOOD, strlen(GOOD));
	assert_checked(66);
}

static void test_confinement(void **state)
{
	(void)state;
	begin();
	confined = CONFINE_NO_LANDLOCK;
	config_is(GOOD, strlen(GOOD));
	assert_checked(0);
	assert_non_null(strstr(standard_out, "no-landlock"));
}

/* With the host: its files are examined, and its mount table must be there. */
static void test_online(void **state)
{
	static const char *const TABLES[] = {NULL, "", "x"};
	int fd = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);

	(void)state;
	assert_true(resolve_mountinfo(fd));
	assert_int_equal(close(fd), 0);
	for (size_t i = 0; i < COUNT(TABLES); i++) {
		begin();
		offline = false;
		options.value[OPTION_OFFLINE] = NULL;
		mount_table = TABLES[i];
		if (mount_table != NULL)
			report_add(&early, REASON_MOUNT_INFO, "");
		config_is(GOOD, strlen(GOOD));
		assert_checked(report_status(&judging.report));
		assert_non_null(strstr(standard_err, " mount.missing: "));
	}
}

/* Descriptor 0 is one like any other, when a caller has closed it. */
static void test_zero(void **state)
{
	char image[] = "/tmp/test_checking.XXXXXX";
	char config[] = "/tmp/test_checking.XXXXXX";
	int fd = mkstemp(image);

	(void)state;
	assert_int_equal(write(fd, IMAGE, strlen(IMAGE)), strlen(IMAGE));
	assert_int_equal(close(fd), 0);
	fd = mkstemp(config);
	assert_int_equal(write(fd, GOOD, strlen(GOOD)), strlen(GOOD));
	assert_int_equal(close(fd), 0);
	begin();
	options.value[OPTION_IMAGE] = image;
	image_text = IMAGE;
	as_zero = image;
	options.value[OPTION_CONFIG] = config;
	want_judged(GOOD, strlen(GOOD));
	assert_true(judging.decision.image_known);
	assert_checked(0);
	for (int good = 0; good <= 1; good++) {
		begin();
		offline = false;
		options.value[OPTION_OFFLINE] = NULL;
		mount_table = good == 1 ? NULL : "x";
		as_zero = "/proc/self/mountinfo";
		if (good == 0)
			report_add(&early, REASON_MOUNT_INFO, "");
		options.value[OPTION_CONFIG] = config;
		want_judged(GOOD, strlen(GOOD));
		assert_checked(report_status(&judging.report));
	}
	assert_int_equal(unlink(image) | unlink(config), 0);
}

/* --- lines --- */

static void test_lines(void **state)
{
	static char text[3 * CONFIG_BYTES_MAX];
	size_t most = CONFIG_BYTES_MAX;

	(void)state;
	begin();
	options.value[OPTION_LINES] = "";
	assert_int_equal(standard_fork(check, confined), 0); /* none at all */
	assert_as_wanted();
	for (size_t more = 0; more <= 1; more++) {
		size_t len;

		begin();
		options.value[OPTION_LINES] = "";
		memset(text, ' ', sizeof(text));
		memcpy(text, GOOD, strlen(GOOD));
		want_judged(GOOD, strlen(GOOD));
		len = strlen(GOOD);
		text[len++] = '\n';
		want_record(1);
		memcpy(text + len, GOOD, strlen(GOOD));
		if (more == 0) {
			want_judged(text + len, most);
		} else {
			want_judged(NULL, 0);
			report_add(&judging.report, REASON_JSON_TOO_LARGE, "");
		}
		len += most + more;
		text[len++] = '\n';
		want_record(2);
		memcpy(text + len, GOOD, strlen(GOOD)); /* the last needs no newline */
		want_judged(GOOD, strlen(GOOD));
		want_record(3);
		standard_set(0, standard_file(text, len + strlen(GOOD)));
		assert_int_equal(standard_fork(check, confined), more == 0 ? 0 : 77);
		assert_as_wanted();
	}
}

/* A document that is refused stops nothing, and is no line on standard error. */
static void test_lines_refused(void **state)
{
	static const char *const LINES[] = {BAD, GOOD, "", "{"};
	char text[8192] = "";

	(void)state;
	begin();
	options.value[OPTION_LINES] = "";
	for (size_t i = 0; i < COUNT(LINES); i++) {
		(void)strcat(strcat(text, LINES[i]), "\n");
		want_judged(LINES[i], strlen(LINES[i]));
		want_record(i + 1);
	}
	standard_input(text);
	assert_int_equal(standard_fork(check, confined), 77);
	assert_as_wanted();
	/* What is amiss with the surroundings is said of each. */
	begin();
	options.value[OPTION_LINES] = "";
	options.value[OPTION_IMAGE] = "/none/image";
	report_add_text(&early, REASON_INPUT_READ, "", "/none/image", "ENOENT", 6);
	for (size_t i = 0; i < COUNT(LINES); i++) {
		want_judged(LINES[i], strlen(LINES[i]));
		want_record(i + 1);
	}
	standard_input(text);
	assert_int_equal(standard_fork(check, confined), 77);
	assert_as_wanted();
}

/* The surroundings are those of one document: the image, the mount table. */
static void test_lines_surroundings(void **state)
{
	char path[] = "/tmp/test_checking.XXXXXX";
	int fd = mkstemp(path);

	(void)state;
	assert_int_equal(write(fd, IMAGE, strlen(IMAGE)), strlen(IMAGE));
	assert_int_equal(close(fd), 0);
	begin();
	options.value[OPTION_LINES] = "";
	options.value[OPTION_OFFLINE] = NULL;
	offline = false;
	options.value[OPTION_IMAGE] = path;
	image_text = IMAGE;
	mount_table = "x";
	report_add(&early, REASON_MOUNT_INFO, "");
	standard_input(GOOD);
	want_judged(GOOD, strlen(GOOD));
	want_record(1);
	assert_int_equal(standard_fork(check, confined), 77);
	assert_as_wanted();
	begin();
	options.value[OPTION_LINES] = "";
	options.value[OPTION_IMAGE] = path;
	image_text = IMAGE;
	standard_input(GOOD);
	want_judged(GOOD, strlen(GOOD));
	assert_true(judging.decision.image_known);
	want_record(1);
	assert_int_equal(standard_fork(check, confined), 0);
	assert_as_wanted();
	assert_int_equal(unlink(path), 0);
}

static void test_lines_config(void **state)
{
	(void)state;
	begin();
	options.value[OPTION_LINES] = "";
	options.value[OPTION_CONFIG] = "-";
	text_string(&wanted_err, "cofferdam-policy: USAGE usage: --lines reads standard input, not "
	                         "--config; see cofferdam-policy --help\n");
	assert_int_equal(standard_fork(check, confined), 64);
	assert_as_wanted();
}

/* --- argv --- */

static void test_argv(void **state)
{
	(void)state;
	for (int zero = 0; zero <= 1; zero++) {
		const struct argv *words = &judging.decision.launch.argv;

		begin();
		options.value[OPTION_ZERO] = zero == 1 ? "" : NULL;
		config_is(GOOD, strlen(GOOD));
		assert_true(words->count > 10);
		for (unsigned i = 0; i < words->count; i++) {
			size_t len = strlen(words->at[i]);

			if (zero == 1) {
				text_bytes(&wanted_out, words->at[i], len + 1);
				continue;
			}
			text_string(&wanted_out, i == 0 ? "[" : ",");
			text_json(&wanted_out, words->at[i], len);
		}
		text_string(&wanted_out, zero == 0 ? "]\n" : "");
		assert_int_equal(standard_fork(argv, confined), 0);
		assert_as_wanted();
	}
}

static void test_argv_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < 4; i++) {
		begin();
		options.value[OPTION_QUIET] = (i & 1) != 0 ? "" : NULL;
		options.value[OPTION_JSON] = (i & 2) != 0 ? "" : NULL;
		config_is(BAD, strlen(BAD));
		if ((i & 1) == 0)
			want_findings();
		assert_int_equal(standard_fork(argv, confined), 78);
		assert_as_wanted();
	}
}

/* --- what cannot be written, or read --- */

static void test_output(void **state)
{
	static const struct {
		standard_command run;
		bool lines;
	} CASES[] = {{check, false}, {check, true}, {argv, false}};

	(void)state;
	for (size_t i = 0; i < COUNT(CASES); i++) {
		begin();
		options.value[OPTION_LINES] = CASES[i].lines ? "" : NULL;
		options.value[OPTION_JSON] = "";
		options.value[OPTION_CONFIG] = CASES[i].lines ? NULL : "-";
		standard_input(GOOD);
		standard_set(1, standard_full());
		assert_int_equal(standard_fork(CASES[i].run, confined), 70);
		assert_memory_equal(standard_err, "cofferdam: SANDBOX_PROTOCOL output.write: ", 42);
	}
	begin();
	options.value[OPTION_LINES] = "";
	standard_set(0, open("/dev/null", O_WRONLY | O_CLOEXEC));
	assert_int_equal(standard_fork(check, confined), 66);
	assert_memory_equal(standard_err, "cofferdam: SANDBOX_PROTOCOL input.read: ", 40);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_check),       cmocka_unit_test(test_status),
		cmocka_unit_test(test_time),        cmocka_unit_test(test_file),
		cmocka_unit_test(test_bytes),       cmocka_unit_test(test_nonce),
		cmocka_unit_test(test_image),       cmocka_unit_test(test_confinement),
		cmocka_unit_test(test_online),      cmocka_unit_test(test_lines),
		cmocka_unit_test(test_lines_refused), cmocka_unit_test(test_lines_config),
		cmocka_unit_test(test_argv),        cmocka_unit_test(test_argv_refused),
		cmocka_unit_test(test_output),      cmocka_unit_test(test_lines_surroundings),
		cmocka_unit_test(test_zero),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

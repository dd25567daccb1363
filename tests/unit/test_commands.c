/* SPDX-License-Identifier: ISC */
#include <errno.h>

#include "../../policy/commands.h"
#include "../../policy/config.h"
#include "../../policy/explain.h"
#include "../../policy/ps.h"
#include "../../policy/record.h"
#include "../../policy/reply.h"
#include "../../policy/report.h"
#include "../../policy/turn.h"
#include "../data/containers.h"
#include "pass_on.h"
#include "pool.h"
#include "standard.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static bool first_is_lost; /* the next write to standard error fails */

ssize_t write(int fd, const void *bytes, size_t len)
{
	PASS_ON(write);

	if (fd != 2 || !first_is_lost)
		return passed_on(fd, bytes, len);
	first_is_lost = false;
	errno = EIO;
	return -1;
}

/* Standard error has one finding, of this reason. */
static void assert_refused(const char *reason)
{
	const char *at = strstr(standard_err, reason);

	if (at == NULL || strchr(standard_err, '\n') != standard_err + standard_err_len - 1)
		fail_msg("not one line of %s: %s", reason, standard_err);
}

static void assert_nothing(void)
{
	assert_int_equal(standard_out_len, 0);
	assert_int_equal(standard_err_len, 0);
}

/* --- filters --- */

#define TURN(text) \
	"{\"text\":\"" text "\",\"speaker\":{\"id\":\"u\",\"name\":\"n\"},\"model\":\"m\"," \
	"\"prompt\":\"p\",\"timeZone\":\"UTC\",\"tools\":[],\"mcp\":[]}"

struct filtered {
	standard_command run;
	const char *code;
	int status; /* of a document that is none */
	size_t most; /* bytes, without --max-bytes */
	const char *in;
	const char *out;
};

static const struct filtered FILTERS[] = {
	{commands_turn, "SANDBOX_TURN", 65, 262144, TURN("\\ud800"), TURN("\\ud800") "\n"},
	{commands_reply, "SANDBOX_REPLY", 76, 2097152, "{\"text\":\"a\xff\\ud800\",\"ok\":true}",
	 "{\"ok\":true,\"text\":\"a\xef\xbf\xbd\\ud800\"}\n"},
	{commands_model_input, "SANDBOX_TURN", 65, 2097152, "{\"messages\": []}",
	 "{\"messages\":[]}\n"},
	{commands_json, "SANDBOX_TURN", 65, 2097152, " [1.0, \"\\u000a\\ud800\"] ",
	 "[1.0,\"\\n\\ud800\"]\n"},
};

/* A document and blanks up to so many bytes. */
static void input_of(const char *text, size_t len)
{
	static char bytes[2097153 + 1];

	assert_true(len < sizeof(bytes));
	memset(bytes, ' ', len);
	memcpy(bytes, text, strlen(text));
	standard_set(0, standard_file(bytes, len));
}

static void test_filters(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(FILTERS); i++) {
		const struct filtered *f = &FILTERS[i];

		for (size_t more = 0; more <= 1; more++) {
			standard_begin();
			input_of(f->in, f->most + more);
			assert_int_equal(standard_run(f->run), more == 0 ? 0 : f->status);
			assert_string_equal(standard_out, more == 0 ? f->out : "");
			if (more == 0)
				continue;
			assert_refused(f->code);
			assert_refused(" json.too_large: ");
		}
		/* No JSON; as a line for people, and as JSON. */
		for (int json = 0; json <= 1; json++) {
			standard_begin();
			standard_json(json == 1);
			standard_input("{\"a\":");
			assert_int_equal(standard_run(f->run), f->status);
			assert_int_equal(standard_out_len, 0);
			assert_refused(json == 1 ? "\"reason\":\"json.truncated\""
			                         : " json.truncated: ");
			assert_refused(f->code);
			assert_int_equal(standard_err[0], json == 1 ? '{' : 'c');
		}
	}
	assert_pool_free();
}

/* A turn, a reply and a request are refused by what they lack, JSON is not. */
static void test_filters_shape(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(FILTERS); i++) {
		bool any = FILTERS[i].run == commands_json;

		standard_begin();
		standard_input("{}");
		assert_int_equal(standard_run(FILTERS[i].run), any ? 0 : FILTERS[i].status);
		assert_string_equal(standard_out, any ? "{}\n" : "");
		if (!any)
			assert_refused(" shape.missing: ");
	}
}

static void test_max_bytes(void **state)
{
	static const struct {
		const char *given;
		bool good;
		size_t most;
	} CASES[] = {
		{"1", true, 1},   {"2097152", true, 2097152}, {"100", true, 100}, {"0", false, 0},
		{"", false, 0},   {"2097153", false, 0},      {"x", false, 0},    {"01", false, 0},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(CASES); i++) {
		for (size_t more = 0; more <= 1; more++) {
			char usage[128];

			standard_begin();
			options.value[OPTION_MAX_BYTES] = CASES[i].given;
			input_of("7", CASES[i].good ? CASES[i].most + more : 1);
			assert_int_equal(standard_run(commands_json),
			                 !CASES[i].good ? 64 : more == 0 ? 0 : 65);
			assert_string_equal(standard_out,
			                    CASES[i].good && more == 0 ? "7\n" : "");
			if (CASES[i].good)
				continue;
			(void)snprintf(usage, sizeof(usage),
			               "cofferdam-policy: USAGE usage: --max-bytes takes a number of "
			               "1 to 2097152: %s; see cofferdam-policy --help\n",
			               CASES[i].given);
			assert_string_equal(standard_err, usage);
		}
	}
}

/* Bytes that are no text become three each before the document is read. */
static void test_repair(void **state)
{
	static char bytes[2097152];
	static const char HEAD[] = "{\"ok\":true,\"text\":\"\",\"x\":\"";
	static const char TAIL[] = "\"}";

	(void)state;
	memset(bytes, 0xff, sizeof(bytes));
	memcpy(bytes, HEAD, sizeof(HEAD) - 1);
	memcpy(bytes + sizeof(bytes) - 2, TAIL, 2);
	standard_begin();
	standard_set(0, standard_file(bytes, sizeof(bytes)));
	assert_int_equal(standard_run(commands_reply), 0);
	assert_string_equal(standard_out, "{\"ok\":true,\"text\":\"\"}\n");
	/* Others refuse them. */
	for (size_t i = 0; i < COUNT(FILTERS); i++) {
		if (FILTERS[i].run == commands_reply)
			continue;
		standard_begin();
		standard_input("\"\xff\"");
		assert_int_equal(standard_run(FILTERS[i].run), 65);
		assert_refused(" json.utf8: ");
	}
}

/* The longest document that there is leaves as it came. */
static void test_longest(void **state)
{
	static char bytes[2097152];

	(void)state;
	memset(bytes, 'x', sizeof(bytes));
	bytes[0] = bytes[sizeof(bytes) - 1] = '"';
	standard_begin();
	standard_set(0, standard_file(bytes, sizeof(bytes)));
	assert_int_equal(standard_run(commands_json), 0);
	assert_int_equal(standard_out_len, sizeof(bytes) + 1);
	assert_memory_equal(standard_out, bytes, sizeof(bytes));
	assert_int_equal(standard_out[sizeof(bytes)], '\n');
}

#define UNKNOWN "{\"a\":1," "\"b\":2," "\"text\":\"\",\"speaker\":{\"id\":\"u\",\"name\":\"n\"}," \
	"\"model\":\"m\",\"prompt\":\"p\",\"timeZone\":\"UTC\",\"tools\":[],\"mcp\":[]}"

static void test_dropped(void **state)
{
	(void)state;
	for (int asked = 0; asked <= 1; asked++) {
		standard_begin();
		options.value[OPTION_DROPPED] = asked == 1 ? "" : NULL;
		standard_input(UNKNOWN);
		assert_int_equal(standard_run(commands_turn), 0);
		assert_string_equal(standard_out, TURN("") "\n");
		assert_string_equal(standard_err, asked == 1 ? "/a\n/b\n" : "");
	}
	/* Where they cannot be written, nothing is; of a refused turn none are. */
	standard_begin();
	options.value[OPTION_DROPPED] = "";
	standard_input(UNKNOWN);
	standard_set(2, standard_full());
	assert_int_equal(standard_run(commands_turn), 70);
	assert_nothing();
	standard_begin();
	options.value[OPTION_DROPPED] = "";
	standard_input(UNKNOWN);
	first_is_lost = true;
	assert_int_equal(standard_run(commands_turn), 70);
	assert_int_equal(standard_out_len, 0);
	assert_refused(" output.write: ");
	standard_begin();
	options.value[OPTION_DROPPED] = "";
	standard_input("{\"a\":1}");
	assert_int_equal(standard_run(commands_turn), 65);
	assert_refused(" shape.missing: ");
}

/* Every command that writes says so when it could not, as it was asked to. */
static void test_output(void **state)
{
	static const struct {
		standard_command run;
		const char *input;
		const char *operand;
		bool json; /* --json is about findings */
	} CASES[] = {
		{commands_turn, TURN(""), NULL, true},
		{commands_reply, "{\"ok\":true,\"text\":\"\"}", NULL, true},
		{commands_model_input, "{\"messages\":[]}", NULL, true},
		{commands_json, "7", NULL, true},
		{commands_ps, "", NULL, true},
		{commands_explain, "", NULL, false},
		{commands_schema, "", "turn", false},
	};

	(void)state;
	for (size_t i = 0; i < 2 * COUNT(CASES); i++) {
		const char *operand = CASES[i / 2].operand;
		bool json = i % 2 == 1;

		if (CASES[i / 2].run == commands_ps && json)
			continue; /* it writes no head then: see below */
		standard_begin();
		standard_input(CASES[i / 2].input);
		standard_set(1, standard_full());
		standard_json(json);
		options.operand[0] = operand;
		options.operand_count = operand != NULL ? 1 : 0;
		assert_int_equal(standard_run(CASES[i / 2].run), 70);
		assert_refused("output.write");
		assert_int_equal(standard_err[0], json && CASES[i / 2].json ? '{' : 'c');
	}
}

/* What cannot be read at all. */
static void test_input(void **state)
{
	static const struct {
		standard_command run;
		const char *code, *reason;
		int status;
	} CASES[] = {
		{commands_turn, "SANDBOX_TURN", "input.read", 66},
		{commands_reply, "SANDBOX_REPLY", "input.read", 66},
		{commands_json, "SANDBOX_TURN", "input.read", 66},
		{commands_admit, "SANDBOX_UNAVAILABLE", "input.read", 66},
		{commands_verify, "SANDBOX_UNAVAILABLE", "verify.answer", 69},
		{commands_ps, "SANDBOX_UNAVAILABLE", "input.read", 66},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(CASES); i++) {
		static struct launch plan;
		uint8_t frame[FRAME_MAX];
		size_t len;

		container_plan(&plan, false);
		plan.root_count = 0;
		len = frame_put_launch(frame, sizeof(frame), &plan);
		standard_begin();
		standard_set(0, -1);
		if (CASES[i].run != commands_ps)
			standard_set(3, standard_file((const char *)frame, len));
		assert_int_equal(standard_run(CASES[i].run), CASES[i].status);
		assert_refused(CASES[i].reason);
		assert_refused(CASES[i].code);
	}
}

/* --- docker's answers --- */

static struct launch plan;
static uint8_t frame[FRAME_MAX + 1];

/* The text, with each `find` replaced. */
static void replace_all(char *to, size_t size, const char *text, const char *find,
                        const char *with)
{
	struct text out;
	const char *at;

	text_init(&out, to, size - 1);
	while ((at = strstr(text, find)) != NULL) {
		text_bytes(&out, text, (size_t)(at - text));
		text_string(&out, with);
		text = at + strlen(find);
	}
	text_string(&out, text);
	assert_false(out.full);
	to[out.len] = '\0';
}

/* container_old with sources that exist, and its plan. */
static const char *with_sources(void)
{
	static char half[32768], whole[32768];
	struct stat st;

	replace_all(half, sizeof(half), container_old, "/srv/broker", "/etc");
	replace_all(whole, sizeof(whole), half, "/srv/work", "/usr");
	container_plan(&plan, false);
	plan.roots_label = "[{\"path\":\"/etc\",\"mode\":\"ro\"},{\"path\":\"/usr\",\"mode\":\"rw\"}]";
	plan.root[0].path = "/etc";
	plan.root[1].path = "/usr";
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(stat(plan.root[i].path, &st), 0);
		plan.root[i].dev = st.st_dev;
		plan.root[i].ino = st.st_ino;
	}
	return whole;
}

static void begin_planned(const char *input)
{
	size_t len = frame_put_launch(frame, sizeof(frame) - 1, &plan);

	assert_true(len > 0);
	standard_begin();
	standard_input(input);
	standard_set(3, standard_file((const char *)frame, len));
}

static void test_verify(void **state)
{
	const char *text = with_sources();

	(void)state;
	begin_planned(text);
	assert_int_equal(standard_run(commands_verify), 0);
	assert_nothing();
	assert_pool_free();
	/* Every source is looked at. */
	for (size_t i = 0; i < 2; i++) {
		plan.root[i].ino++;
		begin_planned(text);
		assert_int_equal(standard_run(commands_verify), 77);
		assert_refused(" mount.changed: ");
		assert_refused(i == 0 ? ": source: /etc;" : ": source: /usr;");
		plan.root[i].ino--;
	}
	plan.uid++;
	for (int json = 0; json <= 1; json++) {
		begin_planned(text);
		standard_json(json == 1);
		assert_int_equal(standard_run(commands_verify), 77);
		assert_refused(json == 1 ? "\"reason\":\"verify.differs\"" : " verify.differs: ");
	}
	plan.uid--;
	begin_planned("{");
	assert_int_equal(standard_run(commands_verify), 69);
	assert_refused(" verify.answer: ");
	assert_refused(" SANDBOX_UNAVAILABLE ");
	assert_refused(": docker container inspect: json.truncated;");
	begin_planned("{\"\\ud800\":1}"); /* strict, unlike a filter's input */
	assert_int_equal(standard_run(commands_verify), 69);
	assert_refused(": docker container inspect: json.surrogate;");
}

static void test_verify_bytes(void **state)
{
	const char *text = with_sources();

	(void)state;
	for (size_t more = 0; more <= 1; more++) {
		begin_planned("");
		input_of(text, ANSWER_MAX + more);
		assert_int_equal(standard_run(commands_verify), more == 0 ? 0 : 69);
		if (more == 0)
			continue;
		assert_refused(" verify.answer: ");
		assert_null(strstr(standard_err, "json.too_large"));
	}
}

/* A plan is exactly one frame, whether the caller's offset is at its end or not. */
static void test_plan(void **state)
{
	static const standard_command RUN[] = {commands_admit, commands_verify};

	(void)state;
	for (size_t i = 0; i < COUNT(RUN); i++) {
		for (int json = 0; json <= 1; json++) {
			const char *text = with_sources();
			size_t len = frame_put_launch(frame, sizeof(frame) - 1, &plan);

			for (int less = -1; less <= 1; less++) {
				standard_begin();
				standard_input(i == 0 ? "" : text);
				standard_json(json == 1);
				standard_set(3, standard_file((const char *)frame,
				                              (size_t)((int)len + less)));
				(void)lseek(standard_fd[3], 0, SEEK_END);
				if (less == 0) {
					assert_int_equal(standard_run(RUN[i]), i == 0 ? 69 : 0);
					continue;
				}
				assert_int_equal(standard_run(RUN[i]), 70);
				assert_refused("protocol.frame");
				assert_refused("the plan");
				assert_int_equal(standard_err[0], json == 1 ? '{' : 'c');
			}
			standard_begin();
			assert_int_equal(standard_run(RUN[i]), 70); /* no plan at all */
		}
	}
}

/* A plan may fill a frame to its last byte. */
static void test_plan_largest(void **state)
{
	static char word[WORDS_MAX][16384];
	size_t len;

	(void)state;
	container_plan(&plan, false);
	plan.root_count = 0;
	plan.command.count = 16;
	for (unsigned i = 0; i < 16; i++) {
		plan.command.at[i] = word[i];
		memset(word[i], 'w', sizeof(word[i]) - 1);
	}
	for (unsigned i = 12; i < 16; i++) /* too much by less than the twelfth */
		memset(word[i], '\0', sizeof(word[i]));
	while ((len = frame_put_launch(frame, sizeof(frame) - 1, &plan)) == 0)
		word[11][strlen(word[11]) - 1] = '\0';
	assert_int_equal(len, FRAME_MAX);
	begin_planned("");
	assert_int_equal(standard_run(commands_admit), 69);
	assert_refused("docker does not list the container of this run");
}

#define ID "83c3ec49a73a24608dbf11713d102a2e4a75bfa72f4f454ddb313f00877ae5a4"
#define STATE "0123456789abcdef0123456789abcdef"
#define OURS \
	"[\"" ID "\",\"" STATE "\",\"00112233445566778899aabbccddeeff\",\"turn\",\"[]\",\"\"]"
#define OTHER \
	"[\"" ID "\",\"" STATE "\",\"ffeeddccbbaa99887766554433221100\",\"turn\",\"[]\",\"\"]"

static void test_admit(void **state)
{
	static const struct {
		const char *input;
		int status;
		const char *reason;
	} CASES[] = {
		{OURS "\n", 0, NULL},
		{OURS, 0, NULL},
		{OTHER "\n" OURS "\n" OTHER "\n", 0, NULL},
		{"", 69, "docker does not list the container of this run"},
		{OTHER "\n", 69, "docker does not list the container of this run"},
		{OURS "\n" OURS "\n", 69, "docker lists more than one container of this run"},
		{"x\n" OURS "\n", 69, "a line of docker's list is not what was asked for"},
		{OURS "\nx", 69, "a line of docker's list is not what was asked for"},
	};

	(void)state;
	for (size_t i = 0; i < 2 * COUNT(CASES); i++) {
		const char *reason = CASES[i / 2].reason;

		container_plan(&plan, false);
		begin_planned(CASES[i / 2].input);
		options.value[OPTION_JSON] = i % 2 == 1 ? "" : NULL;
		assert_int_equal(standard_run(commands_admit), CASES[i / 2].status);
		assert_int_equal(standard_out_len, 0);
		if (reason != NULL)
			assert_refused(reason);
		else
			assert_nothing();
		if (reason != NULL)
			assert_refused("SANDBOX_UNAVAILABLE");
		assert_int_equal(standard_err[0], reason == NULL ? '\0' : i % 2 == 1 ? '{' : 'c');
	}
	assert_pool_free();
}

/* A line of 262144 bytes is read, a longer one refused, and the next one seen. */
static void test_lines(void **state)
{
	static char bytes[262146 + sizeof(OURS)];

	(void)state;
	for (size_t more = 0; more <= 1; more++) {
		memset(bytes, ' ', sizeof(bytes));
		memcpy(bytes, OTHER, strlen(OTHER));
		bytes[262144 + more] = '\n';
		memcpy(bytes + 262144 + more + 1, OURS, sizeof(OURS));
		container_plan(&plan, false);
		begin_planned(bytes);
		assert_int_equal(standard_run(commands_admit), more == 0 ? 0 : 69);
		if (more > 0)
			assert_refused(" managed.unknown: a managed container's description cannot be "
			               "understood; ");
	}
}

/* --- the managed containers, shown --- */

#define LISTED(run) \
	"[\"" ID "\",\"" STATE "\",\"" run "\",\"turn\",\"\",\"0\",\"running\",\"n\",\"c\"]\n"
#define RUN1 "00112233445566778899aabbccddeeff"
#define RUN2 "ffeeddccbbaa99887766554433221100"

static const char *shown(const char *held, const char *run, bool json)
{
	static char bytes[4096];
	struct text out;
	struct ps ps;
	char line[512];

	(void)snprintf(line, sizeof(line), LISTED("%s"), run);
	assert_true(ps_init(&ps, held, held != NULL ? strlen(held) : 0));
	text_init(&out, bytes, sizeof(bytes) - 1);
	assert_true(ps_line(&ps, line, strlen(line), json, &out));
	bytes[out.len] = '\0';
	return bytes;
}

static void test_ps(void **state)
{
	static const char *const HELD[] = {NULL, STATE "\n", STATE "\n" RUN1 "\n"};

	(void)state;
	for (size_t i = 0; i < 2 * COUNT(HELD); i++) {
		const char *held = HELD[i / 2];
		bool json = i % 2 == 1;
		char expected[8192] = "";
		struct text head;

		text_init(&head, expected, sizeof(expected) - 1);
		if (!json)
			ps_head(&head);
		(void)strcat(expected, shown(held, RUN1, json));
		(void)strcat(expected, shown(held, RUN2, json));
		standard_begin();
		standard_json(json);
		if (held != NULL)
			standard_set(3, standard_file(held, strlen(held)));
		standard_input(LISTED(RUN1) LISTED(RUN2));
		errno = EBADF; /* of before: it says nothing of this run */
		assert_int_equal(standard_run(commands_ps), 0);
		assert_string_equal(standard_out, expected);
		assert_int_equal(standard_err_len, 0);
	}
}

/* No container: the head alone, and nothing at all. */
static void test_ps_none(void **state)
{
	(void)state;
	for (int json = 0; json <= 1; json++) {
		static char expected[4096];
		struct text head;

		text_init(&head, expected, sizeof(expected) - 1);
		if (json == 0)
			ps_head(&head);
		expected[head.len] = '\0';
		standard_begin();
		standard_json(json == 1);
		assert_int_equal(standard_run(commands_ps), 0);
		assert_string_equal(standard_out, expected);
		assert_int_equal(standard_err_len, 0);
	}
}

/* A line that is none does not hide the others. */
static void test_ps_unknown(void **state)
{
	static char bytes[262144 + 1024];

	(void)state;
	for (int i = 0; i <= 1; i++) {
		char expected[8192] = "";

		(void)strcat(expected, shown(NULL, RUN1, true));
		(void)strcat(expected, shown(NULL, RUN2, true));
		(void)snprintf(bytes, sizeof(bytes), "%s%*s\n%s", LISTED(RUN1), i == 0 ? 1 : 262145,
		               "x", LISTED(RUN2));
		standard_begin();
		standard_input(bytes);
		options.value[OPTION_JSON] = "";
		assert_int_equal(standard_run(commands_ps), 69);
		assert_string_equal(standard_out, expected);
		assert_refused("\"reason\":\"managed.unknown\"");
		assert_refused("\"SANDBOX_UNAVAILABLE\"");
	}
	/* The longest line is read. */
	(void)snprintf(bytes, sizeof(bytes), "%-262145s", LISTED(RUN1));
	memmove(bytes + strlen(LISTED(RUN1)) - 1, bytes + strlen(LISTED(RUN1)), 1);
	bytes[262144] = '\n';
	bytes[262145] = '\0';
	standard_begin();
	standard_input(bytes);
	options.value[OPTION_JSON] = "";
	assert_int_equal(standard_run(commands_ps), 0);
	assert_string_equal(standard_out, shown(NULL, RUN1, true));
	assert_pool_free();
}

/* Standard output that takes no more ends it: with --json the first line is the
 * first that is written. */
static void test_ps_output(void **state)
{
	(void)state;
	standard_begin();
	standard_input("x\n"); /* no container: nothing more is to be written */
	standard_set(1, standard_full());
	assert_int_equal(standard_run(commands_ps), 70);
	assert_refused(" output.write: ");
	for (int json = 0; json <= 1; json++) {
		standard_begin();
		standard_input(LISTED(RUN1));
		standard_json(json == 1);
		standard_set(1, standard_full());
		assert_int_equal(standard_run(commands_ps), 70);
		assert_refused("output.write");
		assert_int_equal(standard_err[0], json == 1 ? '{' : 'c');
	}
}

static void test_ps_held(void **state)
{
	static char held[33 * (1 + 16384) + 33];

	(void)state;
	for (size_t i = 0; i < sizeof(held) / 33; i++)
		memcpy(held + 33 * i, i == 0 ? STATE "\n" : RUN2 "\n", 33);
	memcpy(held + 33 * (size_t)16384, RUN1 "\n", 33); /* the last that is taken */
	for (size_t more = 0; more <= 1; more++) {
		standard_begin();
		standard_set(3, standard_file(held, 33 * (1 + 16384 + more)));
		options.value[OPTION_JSON] = "";
		standard_input(LISTED(RUN1));
		assert_int_equal(standard_run(commands_ps), more == 0 ? 0 : 70);
		if (more == 0)
			assert_non_null(strstr(standard_out, "\"owner\":\"alive\""));
		else
			assert_refused("the held claims");
	}
	for (int json = 0; json <= 1; json++) {
		standard_begin();
		standard_set(3, standard_file("x", 1));
		standard_json(json == 1);
		assert_int_equal(standard_run(commands_ps), 70);
		assert_refused("protocol.frame");
		assert_refused("the held claims");
		assert_int_equal(standard_out_len, 0);
		assert_int_equal(standard_err[0], json == 1 ? '{' : 'c');
	}
	/* One that is there and cannot be read is not one that is not there. */
	standard_begin();
	standard_set(3, fcntl(open("/", O_RDONLY | O_CLOEXEC), F_DUPFD_CLOEXEC, 64));
	assert_int_equal(standard_run(commands_ps), 70);
	assert_refused("the held claims");
}

/* --- what the program knows of itself --- */

static char expected_bytes[1048576];

static void assert_written(const struct text *expected)
{
	assert_int_equal(standard_out_len, expected->len);
	assert_memory_equal(standard_out, expected->at, expected->len);
	assert_int_equal(standard_err_len, 0);
}

static void test_explain(void **state)
{
	static const char *const WHAT[] = {NULL, "SANDBOX_TURN", "output.write"};

	(void)state;
	for (size_t i = 0; i < 2 * COUNT(WHAT); i++) {
		const char *what = WHAT[i / 2];
		struct text expected;

		text_init(&expected, expected_bytes, sizeof(expected_bytes));
		assert_true(explain(what, i % 2 == 1, &expected));
		standard_begin();
		options.operand_count = what != NULL ? 1 : 0;
		options.operand[0] = what != NULL ? what : "behind";
		options.value[OPTION_JSON] = i % 2 == 1 ? "" : NULL;
		assert_int_equal(standard_run(commands_explain), 0);
		assert_written(&expected);
	}
	standard_begin();
	options.operand_count = 1;
	options.operand[0] = "nothing.such";
	assert_int_equal(standard_run(commands_explain), 64);
	assert_string_equal(standard_err, "cofferdam-policy: USAGE usage: no such code or reason: "
	                                  "nothing.such; see cofferdam-policy --help\n");
	assert_int_equal(standard_out_len, 0);
}

static void test_schema(void **state)
{
	static const struct {
		const char *name;
		void (*write)(struct text *);
	} SCHEMAS[] = {{"config", config_schema}, {"turn", turn_schema}, {"record", record_schema}};
	static const char *const NONE[] = {"configs", "", NULL};

	(void)state;
	for (size_t i = 0; i < COUNT(SCHEMAS); i++) {
		struct text expected;

		text_init(&expected, expected_bytes, sizeof(expected_bytes));
		SCHEMAS[i].write(&expected);
		text_string(&expected, "\n");
		standard_begin();
		options.operand_count = 1;
		options.operand[0] = SCHEMAS[i].name;
		assert_int_equal(standard_run(commands_schema), 0);
		assert_written(&expected);
	}
	for (size_t i = 0; i < COUNT(NONE); i++) {
		char usage[128];

		standard_begin();
		options.operand_count = NONE[i] != NULL ? 1 : 0;
		options.operand[0] = NONE[i] != NULL ? NONE[i] : "config";
		assert_int_equal(standard_run(commands_schema), 64);
		(void)snprintf(usage, sizeof(usage),
		               "cofferdam-policy: USAGE usage: schema takes config, turn or record: "
		               "%s; see cofferdam-policy --help\n",
		               NONE[i] != NULL ? NONE[i] : "");
		assert_string_equal(standard_err, usage);
		assert_int_equal(standard_out_len, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_filters),     cmocka_unit_test(test_filters_shape),
		cmocka_unit_test(test_max_bytes),   cmocka_unit_test(test_repair),
		cmocka_unit_test(test_longest),     cmocka_unit_test(test_dropped),
		cmocka_unit_test(test_output),      cmocka_unit_test(test_input),
		cmocka_unit_test(test_verify),      cmocka_unit_test(test_verify_bytes),
		cmocka_unit_test(test_plan),        cmocka_unit_test(test_plan_largest),
		cmocka_unit_test(test_admit),       cmocka_unit_test(test_lines),
		cmocka_unit_test(test_ps),          cmocka_unit_test(test_ps_unknown),
		cmocka_unit_test(test_ps_output),   cmocka_unit_test(test_ps_held),
		cmocka_unit_test(test_explain),     cmocka_unit_test(test_schema),
		cmocka_unit_test(test_ps_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: ISC */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "../../policy/image.h"

#define HEX16 "0123456789abcdef"
#define HEX32 HEX16 HEX16
#define HEX64 HEX32 HEX32
#define T128 \
	"tttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttt" \
	"tttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttt"
#define A120 \
	"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" \
	"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define A125 A120 "aaaaa"

struct reference_case {
	const char *text;
	bool good;
};

/* Each was tried against docker's own library too, in the CLIs 20.10.24 and
 * 28.2.2.  Where the two differ the newer grammar holds: it takes IPv6 hosts
 * and upper case in a host without a dot. */
static const struct reference_case references[] = {
	{ "a", true },
	{ "cofdev:1", true },
	{ "busybox:latest", true },
	{ "foo/bar", true },
	{ "foo/bar:tag", true },
	{ "a/b/c/d", true },
	{ "docker.io/library/busybox:1.36", true },
	{ "localhost", true },
	{ "localhost/foo", true },
	{ "localhost:5000/foo:1", true },
	{ "foo:5000", true },
	{ "1/2", true },
	{ "1.2.3.4/foo", true },
	{ "1.2.3.4:80/foo", true },
	{ "example.com/foo", true },
	{ "example.com:5000/foo/bar:tag", true },
	{ "EXAMPLE.COM/foo", true },
	{ "Foo/bar", true },
	{ "Foo:5000/bar", true },
	{ "a.B/c", true },
	{ "xn--n3h.com/foo", true },
	{ "a-b.c/d", true },
	{ "a--b.c/d", true },
	{ "A-b.C/d", true },
	{ "a-b:80/c", true },
	{ "a--b:80/c", true },
	{ "aZ.z9/0", true },
	{ "[::1]/foo", true },
	{ "[09:AF:af]/foo", true },
	{ "[2001:DB8::1]:5000/foo:1", true },
	{ "foo_bar/baz", true },
	{ "foo__bar/baz:1", true },
	{ "a--b", true },
	{ "a---b", true },
	{ "a_b", true },
	{ "a{b", false },
	{ "a{b/c", false },
	{ "a__b", true },
	{ "a__-b", false },
	{ "a.b", true },
	{ "a:_x", true },
	{ "a:X.y-z_0", true },
	{ "a:" T128, true },
	{ "a@sha256:" HEX64, true },
	{ "a:t@sha256:" HEX64, true },
	{ "a:5000/b@sha256:" HEX64, true },
	{ "a@sha384:" HEX64 HEX32, true },
	{ "a@sha512:" HEX64 HEX64, true },
	{ "sha256:" HEX64, true },
	{ "sha256:abc", true }, /* a repository of that name */
	{ HEX32 HEX16, true },
	{ HEX64 "0", true },
	{ HEX64 ":t", true },
	{ "foo/" HEX64, true },
	{ A125 A125 "aaaaa", true },
	{ "a.b/" A125 A125 "a", true },

	{ "", false },
	{ HEX64, false },
	{ "-", false },
	{ "-a", false },
	{ "--privileged", false },
	{ "-v/:/host", false },
	{ "-a.b/c", false },
	{ "FOO", false },
	{ "foo/Bar", false },
	{ "foo/Bar/baz", false },
	{ "a.b/C/d", false },
	{ "foo:tag/bar", false },
	{ "foo:/bar", false },
	{ "foo:5000/", false },
	{ "a:5/b:6/c", false },
	{ "/foo", false },
	{ "foo/", false },
	{ "foo//bar", false },
	{ "/", false },
	{ "a-", false },
	{ "a___b", false },
	{ "a..b", false },
	{ "a._b", false },
	{ "a_-b", false },
	{ "a-_b", false },
	{ "a.-b", false },
	{ "_a", false },
	{ "a_", false },
	{ "a__", false },
	{ ".a", false },
	{ "a.", false },
	{ "a/-b", false },
	{ "a/b-", false },
	{ "a/_b", false },
	{ "a.b./c", false },
	{ "a..b/c", false },
	{ "a-.b/c", false },
	{ "a.-b/C.d/e", false },
	{ "[]/foo", false },
	{ "[::1]", false },
	{ "[::1/foo", false },
	{ "::1]/foo", false },
	{ "[g::1]/foo", false },
	{ "[fe80::1%eth0]/foo", false },
	{ "[::1]:/foo", false },
	{ "[::1]a/foo", false },
	{ "[::1]5/foo", false },
	{ "[::1]-a/foo", false },
	{ "[5/foo", false },
	{ "[@:1]/foo", false },
	{ "[G:1]/foo", false },
	{ "a-:80/c", false },
	{ "A@b/c", false },
	{ "a.[::1]/foo", false },
	{ "a:", false },
	{ "a:-x", false },
	{ "a:.x", false },
	{ "a:" T128 "t", false },
	{ "a:t:u", false },
	{ "a:t/u", false },
	{ "a: t", false },
	{ "a:b+c", false },
	{ "a:\xc3\xa9", false },
	{ "a b", false },
	{ " a", false },
	{ "a\n", false },
	{ "a:t\n", false },
	{ "a;b", false },
	{ "a$b", false },
	{ "a+b", false },
	{ "\xc3\xa9", false },
	{ "http://a/b", false },
	{ "a@", false },
	{ "a:@sha256:" HEX64, false },
	{ "@sha256:" HEX64, false },
	{ "a@sha256", false },
	{ "a@sha256:", false },
	{ "a@sha256:" HEX32 HEX16 "0123456789abcde", false },
	{ "a@sha256:" HEX64 "0", false },
	{ "a@sha256:" HEX64 ":t", false },
	{ "a@sha256:" HEX64 "@sha256:" HEX64, false },
	{ "a@sha256:0123456789ABCDEF" HEX32 HEX16, false },
	{ "a@SHA256:" HEX64, false },
	{ "a@sha384:" HEX64, false },
	{ "a@sha512:" HEX64, false },
	{ "a@md5:" HEX32, false },
	{ "a@blake3:" HEX64, false },
	{ "SHA256:" HEX64, false },
	{ "sha256:" HEX64 "/x", false },
	{ A125 A125 "aaaaaa", false },
	{ "a.b/" A125 A125 "aa", false },
};

#define PAGE 4096

/* A page that nothing may be read before or behind. */
static char *guarded_page(void)
{
	char *at = mmap(NULL, 3 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(at != MAP_FAILED);
	assert_int_equal(mprotect(at + PAGE, PAGE, PROT_READ | PROT_WRITE), 0);
	return at + PAGE;
}

/* Each text at the page's beginning, and at its end. */
static void assert_cases(bool of(const char *text, size_t len), const struct reference_case *cases,
                         size_t count)
{
	char *page = guarded_page();

	for (size_t i = 0; i < count; i++) {
		const struct reference_case *c = &cases[i];
		const size_t len = strlen(c->text);
		char *const at[] = { page, page + PAGE - len };

		for (size_t k = 0; k < 2; k++) {
			memset(page, '/', PAGE);
			memcpy(at[k], c->text, len);
			if (of(at[k], len) != c->good)
				fail_msg("%s: not %s", c->text, c->good ? "accepted" : "refused");
		}
	}
	assert_int_equal(munmap(page - PAGE, 3 * PAGE), 0);
}

static void test_reference(void **state)
{
	(void)state;
	assert_cases(image_reference, references, sizeof(references) / sizeof(references[0]));
}

/* The length counts, not a NUL; nothing is read beyond it. */
static void test_reference_length(void **state)
{
	static const char nul[] = "a\0b";
	/* 248 of the name, 129 of the tag, 136 of the digest: one too many. */
	static const char longest[] = "aaa" A120 A125 ":" T128 "@sha512:" HEX64 HEX64;

	(void)state;
	assert_true(image_reference("a:tX", 3));
	assert_false(image_reference("a:t/", 4));
	assert_true(image_reference("a:t/", 3));
	assert_true(image_reference("a/", 1));
	assert_false(image_reference(nul, 3));
	assert_int_equal(strlen(longest), 513);
	assert_false(image_reference(longest, 513));
	assert_true(image_reference(longest + 1, 512));
}

static void test_id(void **state)
{
	static const struct reference_case ids[] = {
		{ "sha256:" HEX64, true },
		{ "", false },
		{ "sha256:", false },
		{ HEX64, false },
		{ "sha256:" HEX64 "0", false },
		{ "sha256:" HEX32 HEX16 "0123456789abcde", false },
		{ "sha256:" HEX32 HEX16 "0123456789abcdeg", false },
		{ "sha256:" HEX32 HEX16 "0123456789abcdeF", false },
		{ "SHA256:" HEX64, false },
		{ "sha512:" HEX64, false },
		{ "sha256:" HEX64 "\n", false },
	};

	(void)state;
	assert_cases(image_id, ids, sizeof(ids) / sizeof(ids[0]));
}

/* Answers of docker. */

#define ID "\"Id\":\"sha256:" HEX64 "\""
#define OS "\"Os\":\"linux\""
/* CLI 20.10 against engine 20.10. */
#define OLD \
	"{" ID ",\"RepoTags\":[\"ddev:s\"],\"RepoDigests\":[],\"Parent\":\"\"," \
	"\"Comment\":\"Imported from -\",\"Created\":\"2026-11-29T18:53:10.205773896Z\"," \
	"\"Container\":\"\",\"ContainerConfig\":{\"Hostname\":\"\",\"Env\":[\"WRONG=1\"]," \
	"\"Cmd\":[\"wrong\"],\"Volumes\":{\"/wrong\":{}},\"WorkingDir\":\"/wrong\"," \
	"\"Entrypoint\":[\"wrong\"],\"OnBuild\":null,\"Labels\":{\"wrong\":\"1\"}}," \
	"\"DockerVersion\":\"20.10.24+dfsg1\",\"Author\":\"\",\"Config\":{\"Hostname\":\"\"," \
	"\"Domainname\":\"\",\"User\":\"root\",\"AttachStdin\":false," \
	"\"ExposedPorts\":{\"80/tcp\":{}},\"Tty\":false,\"Env\":[\"PATH=/bin:/usr/bin\"," \
	"\"LANG=C\",\"LANG=de\",\"NOEQ\",\"HOME=/root\"],\"Cmd\":[\"sh\",\"-c\",\"id\"]," \
	"\"Healthcheck\":{\"Test\":[\"CMD\",\"true\"],\"Interval\":5000000000,\"Retries\":7}," \
	"\"Image\":\"\",\"Volumes\":null,\"WorkingDir\":\"/srv\"," \
	"\"Entrypoint\":[\"/bin/sh\",\"-x\"],\"OnBuild\":[\"RUN x\"]," \
	"\"Labels\":{\"a=b\":\"c\",\"org.x\":\"y\\n\\\"z\"},\"StopSignal\":\"SIGINT\"," \
	"\"Shell\":[\"/bin/ash\",\"-c\"]},\"Architecture\":\"amd64\"," OS "," \
	"\"Size\":1982305,\"GraphDriver\":{\"Data\":null,\"Name\":\"overlay2\"}," \
	"\"RootFS\":{\"Type\":\"layers\",\"Layers\":[\"sha256:" HEX64 "\"]}," \
	"\"Metadata\":{\"LastTagTime\":\"0001-01-01T00:00:00Z\"}}\n"
/* CLI 28 leaves out what is empty. */
#define NEW \
	"{" ID ",\"RepoTags\":[\"ddev:m\"],\"RepoDigests\":[],\"Parent\":\"\"," \
	"\"Created\":\"2026-11-29T18:53:10.205773896Z\",\"DockerVersion\":\"\",\"Author\":\"\"," \
	"\"Config\":{\"Env\":[\"C=1\",\"C=1\",\"D\",\"D=2\"]},\"Architecture\":\"amd64\"," OS "," \
	"\"Size\":1982305}\n"

static struct report report;
static struct image image;
static char arena_bytes[262144];

static void read_answer(const char *answer, size_t arena_cap)
{
	const struct json_limits limits = { .bytes = ANSWER_MAX, .values = 4096 };
	struct json_error error;
	struct text arena;
	struct json doc;

	report_init(&report, CODE_UNAVAILABLE, 69);
	memset(&image, 0x5a, sizeof(image));
	text_init(&arena, arena_bytes, arena_cap);
	assert_true(json_parse(&doc, answer, strlen(answer), &limits, &error));
	image_read(&doc, &arena, &image, &report);
	json_drop(&doc);
}

static void assert_old(void)
{
	assert_true(report_empty(&report));
	assert_string_equal(image.id, "sha256:" HEX64);
	assert_int_equal(image.entrypoint.count, 2);
	assert_string_equal(image.entrypoint.at[0], "/bin/sh");
	assert_string_equal(image.entrypoint.at[1], "-x");
	assert_int_equal(image.command.count, 3);
	assert_string_equal(image.command.at[0], "sh");
	assert_string_equal(image.command.at[2], "id");
	assert_string_equal(image.workdir, "/srv");
	/* The engine keeps the first of two entries of one name. */
	assert_int_equal(image.env.count, 4);
	assert_string_equal(image.env.at[0], "PATH=/bin:/usr/bin");
	assert_string_equal(image.env.at[1], "LANG=C");
	assert_string_equal(image.env.at[2], "NOEQ");
	assert_string_equal(image.env.at[3], "HOME=/root");
	assert_int_equal(image.labels.count, 2);
	assert_string_equal(image.labels.at[0], "a=b=c");
	assert_string_equal(image.labels.at[1], "org.x=y\n\"z");
}

static void test_read_old(void **state)
{
	(void)state;
	read_answer(OLD, sizeof(arena_bytes));
	assert_old();
}

static void test_read_new(void **state)
{
	(void)state;
	read_answer(NEW, sizeof(arena_bytes));
	assert_true(report_empty(&report));
	assert_int_equal(image.entrypoint.count, 0);
	assert_int_equal(image.command.count, 0);
	assert_string_equal(image.workdir, "/");
	assert_int_equal(image.labels.count, 0);
	assert_int_equal(image.env.count, 2);
	assert_string_equal(image.env.at[0], "C=1");
	assert_string_equal(image.env.at[1], "D");
}

static void test_read_empty(void **state)
{
	static const char *const answers[] = {
		"{" ID "," OS "}",
		"{" ID "," OS ",\"Config\":null}",
		"{" ID "," OS ",\"Config\":{}}",
		"{" ID "," OS ",\"Config\":{\"Env\":null,\"Cmd\":null,\"Entrypoint\":null,"
		"\"Labels\":null,\"Volumes\":null,\"WorkingDir\":null}}",
		"{" ID "," OS ",\"Config\":{\"Env\":[],\"Cmd\":[],\"Entrypoint\":[],"
		"\"Labels\":{},\"Volumes\":{},\"WorkingDir\":\"\"}}",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		read_answer(answers[i], sizeof(arena_bytes));
		assert_true(report_empty(&report));
		assert_string_equal(image.id, "sha256:" HEX64);
		assert_string_equal(image.workdir, "/");
		assert_int_equal(image.entrypoint.count, 0);
		assert_int_equal(image.command.count, 0);
		assert_int_equal(image.env.count, 0);
		assert_int_equal(image.labels.count, 0);
	}
}

struct refusal {
	const char *answer;
	enum reason reason;
	const char *pointer;
	const char *detail;
};

#define CONFIG(members) "{" ID "," OS ",\"Config\":{" members "}}"

static const struct refusal refusals[] = {
	{ "[]", REASON_IMAGE_ANSWER, "",
	  "not an object" },
	{ "null", REASON_IMAGE_ANSWER, "",
	  "not an object" },
	{ "[{" ID "," OS "}]", REASON_IMAGE_ANSWER, "",
	  "not an object" },
	{ "{" OS "}", REASON_IMAGE_ANSWER, "/Id",
	  "" },
	{ "{\"Id\":7," OS "}", REASON_IMAGE_ANSWER, "/Id",
	  "not a string" },
	{ "{\"Id\":null," OS "}", REASON_IMAGE_ANSWER, "/Id",
	  "not a string" },
	{ "{\"Id\":\"\"," OS "}", REASON_IMAGE_ANSWER, "/Id",
	  "not sha256: and 64 hex digits" },
	{ "{\"Id\":\"" HEX64 "\"," OS "}", REASON_IMAGE_ANSWER, "/Id",
	  "not sha256: and 64 hex digits" },
	{ "{\"Id\":\"sha256:" HEX32 "\"," OS "}", REASON_IMAGE_ANSWER, "/Id",
	  "not sha256: and 64 hex digits" },
	{ "{\"Id\":\"sha256:" HEX64 "\\u0000\"," OS "}", REASON_IMAGE_ANSWER, "/Id",
	  "holds a NUL" },
	{ "{" ID "}", REASON_IMAGE_ANSWER, "/Os",
	  "" },
	{ "{" ID ",\"Os\":\"windows\"}", REASON_IMAGE_OS, "/Os",
	  "not \"linux\"" },
	{ "{" ID ",\"Os\":\"Linux\"}", REASON_IMAGE_OS, "/Os",
	  "not \"linux\"" },
	{ "{" ID ",\"Os\":\"\"}", REASON_IMAGE_OS, "/Os",
	  "not \"linux\"" },
	{ "{" ID ",\"Os\":null}", REASON_IMAGE_OS, "/Os",
	  "not \"linux\"" },
	{ "{" ID "," OS ",\"Config\":[]}", REASON_IMAGE_ANSWER, "/Config",
	  "not an object" },
	{ "{" ID "," OS ",\"Config\":\"\"}", REASON_IMAGE_ANSWER, "/Config",
	  "not an object" },
	{ CONFIG("\"Volumes\":{\"/data\":{}}"), REASON_IMAGE_VOLUME, "/Config/Volumes",
	  "it declares: \"/data\"" },
	{ CONFIG("\"Volumes\":[\"/data\"]"), REASON_IMAGE_ANSWER, "/Config/Volumes",
	  "not an object" },
	{ CONFIG("\"WorkingDir\":7"), REASON_IMAGE_ANSWER, "/Config/WorkingDir",
	  "not a string" },
	{ CONFIG("\"WorkingDir\":\"/a\\u0000\""), REASON_IMAGE_ANSWER, "/Config/WorkingDir",
	  "holds a NUL" },
	{ CONFIG("\"Entrypoint\":\"/bin/sh\""), REASON_IMAGE_ANSWER, "/Config/Entrypoint",
	  "not an array" },
	{ CONFIG("\"Entrypoint\":[7]"), REASON_IMAGE_ANSWER, "/Config/Entrypoint/0",
	  "not a string" },
	{ CONFIG("\"Cmd\":{}"), REASON_IMAGE_ANSWER, "/Config/Cmd",
	  "not an array" },
	{ CONFIG("\"Cmd\":[\"a\",\"b\\u0000\"]"), REASON_IMAGE_ANSWER, "/Config/Cmd/1",
	  "holds a NUL" },
	{ CONFIG("\"Env\":{}"), REASON_IMAGE_ANSWER, "/Config/Env",
	  "not an array" },
	{ CONFIG("\"Env\":[null]"), REASON_IMAGE_ANSWER, "/Config/Env/0",
	  "not a string" },
	{ CONFIG("\"Env\":[\"A=\\u0000\"]"), REASON_IMAGE_ANSWER, "/Config/Env/0",
	  "holds a NUL" },
	{ CONFIG("\"Labels\":[]"), REASON_IMAGE_ANSWER, "/Config/Labels",
	  "not an object" },
	{ CONFIG("\"Labels\":{\"a\":1}"), REASON_IMAGE_ANSWER, "/Config/Labels/a",
	  "not a string" },
	{ CONFIG("\"Labels\":{\"a\":\"\\u0000\"}"), REASON_IMAGE_ANSWER, "/Config/Labels/a",
	  "holds a NUL" },
	{ CONFIG("\"Labels\":{\"a\\u0000\":\"\"}"), REASON_IMAGE_ANSWER, NULL,
	  "holds a NUL" },
};

static void test_refused(void **state)
{
	struct image before;

	(void)state;
	memset(&before, 0x5a, sizeof(before));
	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		const struct refusal *c = &refusals[i];

		read_answer(c->answer, sizeof(arena_bytes));
		if (report.count != 1 || report.at[0].reason != c->reason)
			fail_msg("%s: %u findings", c->answer, report.count);
		if (c->pointer != NULL)
			assert_string_equal(report.at[0].pointer, c->pointer);
		assert_string_equal(report.at[0].detail, c->detail);
		assert_memory_equal(&image, &before, sizeof(before));
	}
}

/* As much of a path, quotes and all, as is shown: not one byte of what stands
 * behind it. */
static void test_volume_shown(void **state)
{
	static char answer[1024];

	(void)state;
	for (size_t len = 158; len <= 162; len++) {
		const size_t shown = len < 160 ? len : 160;
		char path[256];
		struct text text;

		memset(path, 'p', sizeof(path));
		path[0] = '"';
		path[len - 1] = '"';
		path[len] = '\0';
		text_init(&text, answer, sizeof(answer) - 1);
		text_string(&text, "{" ID "," OS ",\"Config\":{\"Volumes\":{");
		text_string(&text, path);
		text_string(&text, ":{}}}}");
		assert_false(text.full);
		answer[text.len] = '\0';
		read_answer(answer, sizeof(arena_bytes));
		assert_int_equal(report.count, 1);
		path[shown] = '\0';
		assert_memory_equal(report.at[0].detail, "it declares: ", 13);
		assert_string_equal(report.at[0].detail + 13, path);
	}
}

/* A report that is full already counts what no longer fits. */
static void test_report_full(void **state)
{
	static const char answer[] = "{\"Os\":7}";
	const struct json_limits limits = { .bytes = ANSWER_MAX, .values = 4096 };
	struct json_error error;
	struct image before;
	struct text arena;
	struct json doc;

	(void)state;
	memset(&image, 0x5a, sizeof(image));
	memset(&before, 0x5a, sizeof(before));
	report_init(&report, CODE_UNAVAILABLE, 69);
	for (unsigned i = 1; i < REPORT_MAX; i++)
		report_add(&report, REASON_IMAGE_ANSWER, "");
	text_init(&arena, arena_bytes, sizeof(arena_bytes));
	assert_true(json_parse(&doc, answer, strlen(answer), &limits, &error));
	image_read(&doc, &arena, &image, &report);
	json_drop(&doc);
	assert_int_equal(report.count, REPORT_MAX);
	assert_int_equal(report.dropped, 1);
	assert_memory_equal(&image, &before, sizeof(before));
}

/* A variable's name ends at its first "=", or where the entry does. */
static void test_variables(void **state)
{
	static const char *const kept[] = { "A=1", "AB=2", "", "B", "=x", "BC", "C=" };

	(void)state;
	read_answer(CONFIG("\"Env\":[\"A=1\",\"AB=2\",\"\",\"B\",\"=x\",\"BC\",\"C=\",\"A\","
	                   "\"C\",\"=y\",\"BC=\",\"AB=3=4\"]"),
	            sizeof(arena_bytes));
	assert_true(report_empty(&report));
	assert_int_equal(image.env.count, 6);
	for (size_t i = 0, k = 0; i < image.env.count; i++, k++) {
		k += k == 4 ? 1 : 0; /* "" and "=x" have the same name */
		assert_string_equal(image.env.at[i], kept[k]);
	}
}

static void test_volume_named(void **state)
{
	(void)state;
	read_answer(CONFIG("\"Volumes\":{\"/data\":{},\"/x\\u0007\":{}}"), sizeof(arena_bytes));
	assert_int_equal(report.count, 2);
	assert_non_null(strstr(report.at[0].detail, "/data"));
	assert_int_equal(report.at[0].status, 77);
	assert_null(strchr(report.at[1].detail, '\a'));
}

/* {Id, Os, Config: {key: [count items]}} */
static const char *many(const char *key, unsigned count, bool object)
{
	static char bytes[8192];
	struct text text;

	text_init(&text, bytes, sizeof(bytes) - 1);
	text_string(&text, "{" ID "," OS ",\"Config\":{\"");
	text_string(&text, key);
	text_string(&text, object ? "\":{" : "\":[");
	for (unsigned i = 0; i < count; i++) {
		text_string(&text, i == 0 ? "\"k" : ",\"k");
		text_u64(&text, i);
		text_string(&text, object ? "\":\"v\"" : "\"");
	}
	text_string(&text, object ? "}}}" : "]}}");
	assert_false(text.full);
	bytes[text.len] = '\0';
	return bytes;
}

static void test_counts(void **state)
{
	static const struct {
		const char *key;
		unsigned max;
		bool object;
	} lists[] = {
		{ "Entrypoint", WORDS_MAX, false },
		{ "Cmd", WORDS_MAX, false },
		{ "Env", INHERITED_MAX, false },
		{ "Labels", INHERITED_MAX, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		read_answer(many(lists[i].key, lists[i].max, lists[i].object), sizeof(arena_bytes));
		assert_true(report_empty(&report));
		read_answer(many(lists[i].key, lists[i].max + 1, lists[i].object),
		            sizeof(arena_bytes));
		assert_int_equal(report.count, 1);
		assert_int_equal(report.at[0].reason, REASON_IMAGE_ANSWER);
		assert_string_equal(report.at[0].detail, lists[i].object ? "has too many members"
		                                                         : "has too many items");
	}
}

/* Every size of arena short of enough is refused, none is overrun. */
static void test_arena(void **state)
{
	static const char kept[] = "sha256:" HEX64 "\0/bin/sh\0-x\0sh\0-c\0id\0/srv\0"
		"PATH=/bin:/usr/bin\0LANG=C\0LANG=de\0NOEQ\0HOME=/root\0a=b=c\0org.x=y\n\"z";

	(void)state;
	for (size_t cap = 1; cap < sizeof(kept); cap++) {
		read_answer(OLD, cap);
		assert_false(report_empty(&report));
		assert_int_equal(report.at[0].reason, REASON_IMAGE_ANSWER);
		for (uint32_t i = 0; i < report.count; i++)
			assert_string_equal(report.at[i].detail, "too long");
	}
	read_answer(OLD, sizeof(kept));
	assert_old();
	assert_memory_equal(arena_bytes, kept, sizeof(kept));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reference),  cmocka_unit_test(test_reference_length),
		cmocka_unit_test(test_id),         cmocka_unit_test(test_read_old),
		cmocka_unit_test(test_read_new),   cmocka_unit_test(test_read_empty),
		cmocka_unit_test(test_refused),    cmocka_unit_test(test_volume_named),
		cmocka_unit_test(test_variables),  cmocka_unit_test(test_volume_shown),
		cmocka_unit_test(test_report_full),
		cmocka_unit_test(test_counts),     cmocka_unit_test(test_arena),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

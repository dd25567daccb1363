/* SPDX-License-Identifier: ISC */
#include <regex.h>
#include <stdio.h>
#include <string.h>

#include "../../policy/config.h"
#include "verdicts.h"

static struct config config;
static char arena_buffer[CONFIG_ARENA];
static struct text arena;

static void read_it(const struct json *doc)
{
	report_init(&report, CODE_CONFIG, 78);
	text_init(&arena, arena_buffer, sizeof(arena_buffer));
	config_read(doc, &arena, &config, &report);
}

static void run(const char *text)
{
	read_document(text, CONFIG_BYTES_MAX, false, read_it);
}

#define BROKER "{\"host\":\"/srv/b\",\"guest\":\"/broker\",\"mode\":\"ro\"}"
#define WORKSPACE "{\"host\":\"/srv/w\",\"guest\":\"/workspace\",\"mode\":\"rw\"}"
#define MOUNTS "\"mounts\":[" BROKER "," WORKSPACE "]"
#define START "\"version\":1,\"mode\":\"turn\",\"image\":\"worker:1\""
#define TURN(more) "{" START "," MOUNTS more "}"
#define LIMITS(limits) TURN(",\"limits\":{" limits "}")
#define HEX16 "0123456789abcdef"
#define GRANT "/grants/" HEX16 HEX16 HEX16 HEX16
#define GRANT_MOUNT(guest, mode)                                                                   \
	"{\"host\":\"/srv/g\",\"guest\":\"" guest "\",\"mode\":\"" mode "\"}"
#define SESSION_START "\"version\":1,\"mode\":\"session\",\"image\":\"worker:1\""
#define SESSION_KEY "\"session\":{\"key\":\"k\",\"revision\":0}"
#define SESSION(mounts, more) "{" SESSION_START "," SESSION_KEY ",\"mounts\":[" mounts "]" more "}"
#define KEYED(session) "{" SESSION_START ",\"session\":" session ",\"mounts\":[" WORKSPACE "]}"
#define MOUNTED(mounts) "{" START ",\"mounts\":[" mounts "]}"
#define HOSTED(host)                                                                               \
	MOUNTED("{\"host\":\"" host "\",\"guest\":\"/broker\",\"mode\":\"ro\"}," WORKSPACE)
#define BUNDLE(guest) TURN(",\"bundle\":{\"host\":\"/srv/f\",\"guest\":\"" guest "\"}")
#define TEN "0123456789"
#define KEY128 TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN "01234567"
#define PATH255                                                                                    \
	"/" TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN    \
		TEN TEN TEN TEN "0123"
#define NAME91 TEN TEN TEN TEN TEN TEN TEN TEN TEN "0"
#define RUNTIME64 TEN TEN TEN TEN TEN TEN "0123"
#define ID HEX16 HEX16 HEX16 HEX16

static const struct verdict VERDICTS[] = {
	{TURN(""), REASON_NONE, ""},
	{SESSION(WORKSPACE, ""), REASON_NONE, ""},
	{"[]", REASON_SHAPE_TYPE, ""},
	/* Top level. */
	{TURN(",\"$schema\":\"x\""), REASON_NONE, ""},
	{TURN(",\"$schema\":1"), REASON_SHAPE_TYPE, "/$schema"},
	{TURN(",\"limits\":{\"$schema\":\"x\"}"), REASON_SHAPE_UNKNOWN_KEY, "/limits/$schema"},
	{TURN(",\"Image\":\"x\""), REASON_SHAPE_UNKNOWN_KEY, "/Image"},
	{TURN(",\"privileged\":true"), REASON_SHAPE_UNKNOWN_KEY, "/privileged"},
	{"{\"mode\":\"turn\",\"image\":\"a\"," MOUNTS "}", REASON_SHAPE_MISSING, "/version"},
	{"{\"version\":1,\"image\":\"a\"," MOUNTS "}", REASON_SHAPE_MISSING, "/mode"},
	{"{\"version\":1,\"mode\":\"turn\"," MOUNTS "}", REASON_SHAPE_MISSING, "/image"},
	{"{" START "}", REASON_SHAPE_MISSING, "/mounts"},
	{"{\"version\":0,\"mode\":\"turn\",\"image\":\"a\"," MOUNTS "}", REASON_CONFIG_VERSION,
	 "/version"},
	{"{\"version\":2,\"mode\":\"turn\",\"image\":\"a\"," MOUNTS "}", REASON_CONFIG_VERSION,
	 "/version"},
	{"{\"version\":1.0,\"mode\":\"turn\",\"image\":\"a\"," MOUNTS "}", REASON_CONFIG_VERSION,
	 "/version"},
	{"{\"version\":\"1\",\"mode\":\"turn\",\"image\":\"a\"," MOUNTS "}", REASON_CONFIG_VERSION,
	 "/version"},
	{"{\"version\":1,\"mode\":\"run\",\"image\":\"a\"," MOUNTS "}", REASON_SHAPE_VALUE,
	 "/mode"},
	{"{\"version\":1,\"mode\":1,\"image\":\"a\"," MOUNTS "}", REASON_SHAPE_TYPE, "/mode"},
	/* Image and name. */
	{"{\"version\":1,\"mode\":\"turn\",\"image\":\"-x\"," MOUNTS "}", REASON_IMAGE_GRAMMAR,
	 "/image"},
	{"{\"version\":1,\"mode\":\"turn\",\"image\":\"\"," MOUNTS "}", REASON_IMAGE_GRAMMAR,
	 "/image"},
	{"{\"version\":1,\"mode\":\"turn\",\"image\":\"a b\"," MOUNTS "}", REASON_IMAGE_GRAMMAR,
	 "/image"},
	{"{\"version\":1,\"mode\":\"turn\",\"image\":\"sha256:" ID "\"," MOUNTS "}", REASON_NONE,
	 ""},
	{TURN(",\"imageId\":\"sha256:" ID "\""), REASON_NONE, ""},
	{TURN(",\"imageId\":\"" ID "\""), REASON_IMAGE_GRAMMAR, "/imageId"},
	{TURN(",\"imageId\":\"sha256:" ID "0\""), REASON_IMAGE_GRAMMAR, "/imageId"},
	{TURN(",\"imageId\":null"), REASON_SHAPE_TYPE, "/imageId"},
	{TURN(",\"name\":\"a\""), REASON_NONE, ""},
	{TURN(",\"name\":\"" NAME91 "\""), REASON_NONE, ""},
	{TURN(",\"name\":\"" NAME91 "1\""), REASON_NAME_GRAMMAR, "/name"},
	{TURN(",\"name\":\"\""), REASON_NAME_GRAMMAR, "/name"},
	{TURN(",\"name\":\"-a\""), REASON_NAME_GRAMMAR, "/name"},
	{TURN(",\"name\":\"a\\n\""), REASON_NAME_GRAMMAR, "/name"},
	{TURN(",\"name\":\"a\\u0000\""), REASON_NAME_GRAMMAR, "/name"},
	/* Session. */
	{TURN("," SESSION_KEY), REASON_SHAPE_UNKNOWN_KEY, "/session"},
	{KEYED("null"), REASON_SHAPE_TYPE, "/session"},
	{"{" SESSION_START ",\"mounts\":[" WORKSPACE "]}", REASON_SHAPE_MISSING, "/session"},
	{KEYED("{\"key\":\"a b/c=\",\"revision\":9007199254740991}"), REASON_NONE, ""},
	{KEYED("{\"key\":\"" KEY128 "\",\"revision\":0}"), REASON_NONE, ""},
	{KEYED("{\"key\":\"" KEY128 "x\",\"revision\":0}"), REASON_SESSION_KEY, "/session/key"},
	{KEYED("{\"key\":\"\",\"revision\":0}"), REASON_SESSION_KEY, "/session/key"},
	{KEYED("{\"key\":\"-a\",\"revision\":0}"), REASON_SESSION_KEY, "/session/key"},
	{KEYED("{\"key\":\"a,b\",\"revision\":0}"), REASON_SESSION_KEY, "/session/key"},
	{KEYED("{\"key\":\"a\\\"b\",\"revision\":0}"), REASON_SESSION_KEY, "/session/key"},
	{KEYED("{\"key\":\"a\\\\b\",\"revision\":0}"), REASON_SESSION_KEY, "/session/key"},
	{KEYED("{\"key\":\"a\\n\",\"revision\":0}"), REASON_SESSION_KEY, "/session/key"},
	{KEYED("{\"key\":\"\\u00e9\",\"revision\":0}"), REASON_SESSION_KEY, "/session/key"},
	{KEYED("{\"key\":\"a\\u007f\",\"revision\":0}"), REASON_SESSION_KEY, "/session/key"},
	{KEYED("{\"key\":1,\"revision\":0}"), REASON_SHAPE_TYPE, "/session/key"},
	{KEYED("{\"revision\":0}"), REASON_SHAPE_MISSING, "/session/key"},
	{KEYED("{\"key\":\"a\"}"), REASON_SHAPE_MISSING, "/session/revision"},
	{KEYED("{\"key\":\"a\",\"revision\":9007199254740992}"), REASON_SHAPE_VALUE,
	 "/session/revision"},
	{KEYED("{\"key\":\"a\",\"revision\":-1}"), REASON_SHAPE_VALUE, "/session/revision"},
	{KEYED("{\"key\":\"a\",\"revision\":1.5}"), REASON_SHAPE_VALUE, "/session/revision"},
	{KEYED("{\"key\":\"a\",\"revision\":null}"), REASON_SHAPE_TYPE, "/session/revision"},
	{KEYED("{\"key\":\"a\",\"revision\":0,\"x\":1}"), REASON_SHAPE_UNKNOWN_KEY, "/session/x"},
	/* User. */
	{TURN(",\"user\":{\"uid\":1,\"gid\":1}"), REASON_NONE, ""},
	{TURN(",\"user\":{\"uid\":2147483647,\"gid\":2147483647}"), REASON_NONE, ""},
	{TURN(",\"user\":{\"uid\":0,\"gid\":1}"), REASON_USER_ROOT, "/user/uid"},
	{TURN(",\"user\":{\"uid\":1,\"gid\":0}"), REASON_USER_ROOT, "/user/gid"},
	{TURN(",\"user\":{\"uid\":2147483648,\"gid\":1}"), REASON_USER_RANGE, "/user/uid"},
	{TURN(",\"user\":{\"uid\":1,\"gid\":2147483648}"), REASON_USER_RANGE, "/user/gid"},
	{TURN(",\"user\":{\"uid\":1,\"gid\":4294967296}"), REASON_USER_RANGE, "/user/gid"},
	{TURN(",\"user\":{\"uid\":-1,\"gid\":1}"), REASON_USER_RANGE, "/user/uid"},
	{TURN(",\"user\":{\"uid\":1e3,\"gid\":1}"), REASON_USER_RANGE, "/user/uid"},
	{TURN(",\"user\":{\"uid\":\"1\",\"gid\":1}"), REASON_SHAPE_TYPE, "/user/uid"},
	{TURN(",\"user\":{\"uid\":1}"), REASON_SHAPE_MISSING, "/user/gid"},
	{TURN(",\"user\":{\"gid\":1}"), REASON_SHAPE_MISSING, "/user/uid"},
	{TURN(",\"user\":\"1:1\""), REASON_SHAPE_TYPE, "/user"},
	/* Mounts. */
	{MOUNTED(WORKSPACE "," BROKER), REASON_NONE, ""},
	{MOUNTED(BROKER), REASON_SHAPE_COUNT, "/mounts"},
	{MOUNTED(WORKSPACE), REASON_SHAPE_COUNT, "/mounts"},
	{MOUNTED(BROKER "," BROKER), REASON_MOUNT_GUEST_TWICE, "/mounts/1/guest"},
	{MOUNTED(BROKER ",{\"host\":\"/a\",\"guest\":\"/data\",\"mode\":\"rw\"}"),
	 REASON_MOUNT_GUEST, "/mounts/1/guest"},
	{MOUNTED(BROKER "," GRANT_MOUNT(GRANT, "rw")), REASON_MOUNT_GUEST, "/mounts/1/guest"},
	{MOUNTED(BROKER ",{\"host\":\"/a\",\"guest\":\"/workspace/\",\"mode\":\"rw\"}"),
	 REASON_MOUNT_GUEST, "/mounts/1/guest"},
	{MOUNTED(BROKER ",{\"host\":\"/a\",\"guest\":\"/workspace\\u0000\",\"mode\":\"rw\"}"),
	 REASON_MOUNT_GUEST, "/mounts/1/guest"},
	{MOUNTED(BROKER ",{\"host\":\"/a\",\"guest\":\"/workspace\",\"mode\":\"ro\"}"),
	 REASON_MOUNT_MODE, "/mounts/1/mode"},
	{MOUNTED("{\"host\":\"/a\",\"guest\":\"/broker\",\"mode\":\"rw\"}," WORKSPACE),
	 REASON_MOUNT_MODE, "/mounts/0/mode"},
	{MOUNTED(BROKER ",{\"host\":\"/a\",\"guest\":\"/workspace\",\"mode\":\"RW\"}"),
	 REASON_SHAPE_VALUE, "/mounts/1/mode"},
	{MOUNTED(BROKER ",{\"host\":\"/a\",\"guest\":\"/workspace\"}"), REASON_SHAPE_MISSING,
	 "/mounts/1/mode"},
	{MOUNTED("{\"host\":\"/a\",\"guest\":\"/broker\"}," WORKSPACE), REASON_SHAPE_MISSING,
	 "/mounts/0/mode"},
	{MOUNTED(BROKER ",{\"guest\":\"/workspace\",\"mode\":\"rw\"}"), REASON_SHAPE_MISSING,
	 "/mounts/1/host"},
	{MOUNTED(BROKER ",{\"host\":\"/a\",\"mode\":\"rw\"}"), REASON_SHAPE_MISSING,
	 "/mounts/1/guest"},
	{"{\"version\":1,\"mode\":\"x\",\"image\":\"a\",\"mounts\":["
	 "{\"host\":\"/a\",\"guest\":\"/etc\",\"mode\":\"rw\"},"
	 "{\"host\":\"/a\",\"guest\":\"/broker\",\"mode\":\"rw\"}]}",
	 REASON_SHAPE_VALUE, "/mode"},
	{"{\"version\":1,\"mode\":\"x\",\"image\":\"a\",\"mounts\":[" WORKSPACE "]}",
	 REASON_SHAPE_VALUE, "/mode"},
	{HOSTED("relative"), REASON_MOUNT_RELATIVE, "/mounts/0/host"},
	{HOSTED(""), REASON_MOUNT_RELATIVE, "/mounts/0/host"},
	{HOSTED("/"), REASON_MOUNT_ROOT, "/mounts/0/host"},
	{HOSTED("//."), REASON_MOUNT_ROOT, "/mounts/0/host"},
	{HOSTED("/a,b"), REASON_MOUNT_CHARACTER, "/mounts/0/host"},
	{HOSTED("/a\\\"b"), REASON_MOUNT_CHARACTER, "/mounts/0/host"},
	{HOSTED("/a\\u0000"), REASON_MOUNT_CHARACTER, "/mounts/0/host"},
	{HOSTED("/a\\n"), REASON_MOUNT_CHARACTER, "/mounts/0/host"},
	{HOSTED("/a\\u00e9 b"), REASON_NONE, ""},
	{HOSTED("/" KEY128 KEY128), REASON_MOUNT_TOO_LONG, "/mounts/0/host"},
	{SESSION("", ""), REASON_SHAPE_COUNT, "/mounts"},
	{SESSION(GRANT_MOUNT("/workspace", "ro"), ""), REASON_NONE, ""},
	{SESSION(GRANT_MOUNT(GRANT, "ro"), ""), REASON_NONE, ""},
	{SESSION(GRANT_MOUNT(GRANT, "rw") "," WORKSPACE, ""), REASON_NONE, ""},
	{SESSION(GRANT_MOUNT(GRANT, "rw") "," GRANT_MOUNT(GRANT, "ro"), ""),
	 REASON_MOUNT_GUEST_TWICE, "/mounts/1/guest"},
	{SESSION(BROKER, ""), REASON_MOUNT_GUEST, "/mounts/0/guest"},
	{SESSION(GRANT_MOUNT(GRANT "0", "ro"), ""), REASON_MOUNT_GUEST, "/mounts/0/guest"},
	{SESSION(GRANT_MOUNT("/grants/" HEX16, "ro"), ""), REASON_MOUNT_GUEST, "/mounts/0/guest"},
	{SESSION(GRANT_MOUNT("/grants/" HEX16 HEX16 HEX16 "0123456789ABCDEF", "ro"), ""),
	 REASON_MOUNT_GUEST, "/mounts/0/guest"},
	{SESSION(GRANT_MOUNT("/grants/" HEX16 HEX16 HEX16 "0123456789abcdeg", "ro"), ""),
	 REASON_MOUNT_GUEST, "/mounts/0/guest"},
	{SESSION(GRANT_MOUNT("/grantz/" HEX16 HEX16 HEX16 HEX16, "ro"), ""), REASON_MOUNT_GUEST,
	 "/mounts/0/guest"},
	/* Bundle. */
	{BUNDLE("/opt/bundle.js"), REASON_NONE, ""},
	{BUNDLE("/workspaces"), REASON_NONE, ""},
	{BUNDLE("/process"), REASON_NONE, ""},
	{BUNDLE("/"), REASON_BUNDLE_GUEST, "/bundle/guest"},
	{BUNDLE("a"), REASON_BUNDLE_GUEST, "/bundle/guest"},
	{BUNDLE("/a/"), REASON_BUNDLE_GUEST, "/bundle/guest"},
	{BUNDLE("/a/../b"), REASON_BUNDLE_GUEST, "/bundle/guest"},
	{BUNDLE("/a,b"), REASON_BUNDLE_GUEST, "/bundle/guest"},
	{BUNDLE("/a\\\\b"), REASON_BUNDLE_GUEST, "/bundle/guest"},
	{TURN(",\"entrypoint\":\"/a\\nb\""), REASON_COMMAND_WORD, "/entrypoint"},
	{BUNDLE("/a\\\"b"), REASON_BUNDLE_GUEST, "/bundle/guest"},
	{BUNDLE("/a\\u0000"), REASON_BUNDLE_GUEST, "/bundle/guest"},
	{BUNDLE("/a\\u00e9"), REASON_BUNDLE_GUEST, "/bundle/guest"},
	{BUNDLE("/proc/x"), REASON_BUNDLE_GUEST, "/bundle/guest"},
	{BUNDLE("/sys"), REASON_BUNDLE_GUEST, "/bundle/guest"},
	{BUNDLE("/dev/shm/x"), REASON_BUNDLE_GUEST, "/bundle/guest"},
	{BUNDLE("/tmp/x"), REASON_BUNDLE_GUEST, "/bundle/guest"},
	{BUNDLE("/tmp"), REASON_BUNDLE_GUEST, "/bundle/guest"},
	{BUNDLE("/broker"), REASON_BUNDLE_GUEST, "/bundle/guest"},
	{BUNDLE("/workspace/x"), REASON_BUNDLE_GUEST, "/bundle/guest"},
	{SESSION(GRANT_MOUNT(GRANT, "ro"), ",\"bundle\":{\"host\":\"/f\",\"guest\":\"/grants\"}"),
	 REASON_BUNDLE_GUEST, "/bundle/guest"},
	/* A mount's guest that is missing, or no path, is not compared. */
	{"{" START ",\"mounts\":[" BROKER ",{\"host\":\"/a\",\"mode\":\"rw\"}],"
	 "\"bundle\":{\"host\":\"/f\",\"guest\":\"/workspace/x\"}}",
	 REASON_SHAPE_MISSING, "/mounts/1/guest"},
	{"{" START ",\"mounts\":[" BROKER ",{\"host\":\"/a\",\"guest\":\"/workspace/\","
	 "\"mode\":\"rw\"}],\"bundle\":{\"host\":\"/f\",\"guest\":\"/workspace/x\"}}",
	 REASON_MOUNT_GUEST, "/mounts/1/guest"},
	{"{" START ",\"mounts\":[" BROKER ",{\"host\":\"/a\",\"guest\":\"/workspace/\","
	 "\"mode\":\"rw\"}],\"bundle\":{\"host\":\"/f\",\"guest\":\"/workspace\"}}",
	 REASON_MOUNT_GUEST, "/mounts/1/guest"},
	{TURN(",\"bundle\":{\"host\":\"f\",\"guest\":\"/f\"}"), REASON_MOUNT_RELATIVE,
	 "/bundle/host"},
	{TURN(",\"bundle\":{\"host\":\"/f\"}"), REASON_SHAPE_MISSING, "/bundle/guest"},
	{TURN(",\"bundle\":{\"guest\":\"/f\"}"), REASON_SHAPE_MISSING, "/bundle/host"},
	/* What runs. */
	{TURN(",\"entrypoint\":\"node\""), REASON_NONE, ""},
	{TURN(",\"entrypoint\":\"\""), REASON_COMMAND_WORD, "/entrypoint"},
	{TURN(",\"entrypoint\":\"-x\""), REASON_COMMAND_WORD, "/entrypoint"},
	{TURN(",\"entrypoint\":\"a\\n\""), REASON_COMMAND_WORD, "/entrypoint"},
	{TURN(",\"entrypoint\":[\"a\"]"), REASON_SHAPE_TYPE, "/entrypoint"},
	{TURN(",\"command\":[]"), REASON_NONE, ""},
	{TURN(",\"command\":[\"\",\"-c\",\"a\\n\\tb \\u00e9\"]"), REASON_NONE, ""},
	{TURN(",\"command\":[\"a\",\"b\\u0000\"]"), REASON_COMMAND_WORD, "/command/1"},
	{TURN(",\"command\":[\"a\\r\"]"), REASON_COMMAND_WORD, "/command/0"},
	{TURN(",\"command\":[\"a\\u001b\"]"), REASON_COMMAND_WORD, "/command/0"},
	{TURN(",\"command\":[\"a\\u007f\"]"), REASON_COMMAND_WORD, "/command/0"},
	{TURN(",\"command\":[\"\\u0001a\"]"), REASON_COMMAND_WORD, "/command/0"},
	/* What was unescaped before does not matter. */
	{TURN(",\"command\":[\"a\\n\\n\"],\"environment\":{\"A\":\"b\"}"), REASON_NONE, ""},
	{TURN(",\"docker\":{\"host\":\"a\\u0001\"},\"command\":[\"b\"]"), REASON_NONE, ""},
	{TURN(",\"command\":[1]"), REASON_SHAPE_TYPE, "/command/0"},
	{TURN(",\"command\":\"a\""), REASON_SHAPE_TYPE, "/command"},
	{TURN(",\"workdir\":\"/\""), REASON_NONE, ""},
	{TURN(",\"workdir\":\"/workspace\""), REASON_NONE, ""},
	{TURN(",\"workdir\":\"\""), REASON_WORKDIR_PATH, "/workdir"},
	{TURN(",\"workdir\":\"a\""), REASON_WORKDIR_PATH, "/workdir"},
	{TURN(",\"workdir\":\"/a/.\""), REASON_WORKDIR_PATH, "/workdir"},
	{TURN(",\"workdir\":\"/proc\""), REASON_WORKDIR_PATH, "/workdir"},
	{TURN(",\"workdir\":\"/sys/a\""), REASON_WORKDIR_PATH, "/workdir"},
	{TURN(",\"workdir\":\"/dev\""), REASON_WORKDIR_PATH, "/workdir"},
	{TURN(",\"workdir\":\"/developer\""), REASON_NONE, ""},
	{TURN(",\"workdir\":\"/" KEY128 "/" KEY128 "\""), REASON_WORKDIR_PATH, "/workdir"},
	{TURN(",\"workdir\":\"" PATH255 "\""), REASON_NONE, ""},
	{TURN(",\"workdir\":\"" PATH255 "5\""), REASON_WORKDIR_PATH, "/workdir"},
	{TURN(",\"environment\":{}"), REASON_NONE, ""},
	{TURN(",\"environment\":{\"A_9\":\"\",\"_z\":\"x=\\u00e9 \"}"), REASON_NONE, ""},
	{TURN(",\"environment\":{\"\":\"\"}"), REASON_ENVIRONMENT_NAME, "/environment/"},
	{TURN(",\"environment\":{\"9A\":\"\"}"), REASON_ENVIRONMENT_NAME, "/environment/9A"},
	{TURN(",\"environment\":{\"-A\":\"\"}"), REASON_ENVIRONMENT_NAME, "/environment/-A"},
	{TURN(",\"environment\":{\"AZ[\":\"\"}"), REASON_ENVIRONMENT_NAME, "/environment/AZ["},
	{TURN(",\"environment\":{\"AZaz_09\":\"\",\"ZA\":\"\"}"), REASON_NONE, ""},
	{TURN(",\"environment\":{\"A-B\":\"\"}"), REASON_ENVIRONMENT_NAME, "/environment/A-B"},
	{TURN(",\"environment\":{\"A=B\":\"\"}"), REASON_ENVIRONMENT_NAME, "/environment/A=B"},
	{TURN(",\"environment\":{\"HOME\":\"\"}"), REASON_ENVIRONMENT_NAME, "/environment/HOME"},
	{TURN(",\"environment\":{\"PATH\":\"\",\"HOM\":\"\"}"), REASON_NONE, ""},
	{TURN(",\"environment\":{\"HOMES\":\"\"}"), REASON_NONE, ""},
	{TURN(",\"environment\":{\"A\":\"a\\n\"}"), REASON_ENVIRONMENT_VALUE, "/environment/A"},
	{TURN(",\"environment\":{\"A\":\"\\u0000\"}"), REASON_ENVIRONMENT_VALUE, "/environment/A"},
	{TURN(",\"environment\":{\"A\":\"\\u007f\"}"), REASON_ENVIRONMENT_VALUE, "/environment/A"},
	{TURN(",\"environment\":{\"A\":1}"), REASON_SHAPE_TYPE, "/environment/A"},
	{TURN(",\"environment\":[\"A=1\"]"), REASON_SHAPE_TYPE, "/environment"},
	{TURN(",\"init\":1"), REASON_SHAPE_TYPE, "/init"},
	/* Numbers. */
	{LIMITS(""), REASON_NONE, ""},
	{LIMITS("\"pids\":1e3"), REASON_LIMIT_NUMBER, "/limits/pids"},
	{LIMITS("\"pids\":64.0"), REASON_LIMIT_NUMBER, "/limits/pids"},
	{LIMITS("\"pids\":-0"), REASON_LIMIT_NUMBER, "/limits/pids"},
	{LIMITS("\"pids\":-64"), REASON_LIMIT_NUMBER, "/limits/pids"},
	{LIMITS("\"pids\":\"64\""), REASON_LIMIT_NUMBER, "/limits/pids"},
	{LIMITS("\"pids\":null"), REASON_LIMIT_NUMBER, "/limits/pids"},
	{LIMITS("\"pids\":99999999999999999999999"), REASON_LIMIT_RANGE, "/limits/pids"},
	{LIMITS("\"memoryBytes\":9223372036854775807"), REASON_LIMIT_RANGE, "/limits/memoryBytes"},
	{LIMITS("\"cpus\":1e0"), REASON_LIMIT_NUMBER, "/limits/cpus"},
	{LIMITS("\"cpus\":\"1\""), REASON_LIMIT_NUMBER, "/limits/cpus"},
	{LIMITS("\"cpus\":0.01"), REASON_NONE, ""},
	{LIMITS("\"cpus\":0.009999999"), REASON_LIMIT_RANGE, "/limits/cpus"},
	{LIMITS("\"cpus\":1024"), REASON_NONE, ""},
	{LIMITS("\"cpus\":1024.000000001"), REASON_LIMIT_RANGE, "/limits/cpus"},
	{LIMITS("\"cpus\":0.0100000001"), REASON_LIMIT_NUMBER, "/limits/cpus"},
	{LIMITS("\"memory\":1"), REASON_SHAPE_UNKNOWN_KEY, "/limits/memory"},
	{TURN(",\"limits\":null"), REASON_SHAPE_TYPE, "/limits"},
	/* The rest. */
	{TURN(",\"privatePaths\":[]"), REASON_NONE, ""},
	{TURN(",\"privatePaths\":[\"/a\",\"b\"]"), REASON_PRIVATE_PATH, "/privatePaths/1"},
	{TURN(",\"privatePaths\":[\"/\"]"), REASON_PRIVATE_PATH, "/privatePaths/0"},
	{TURN(",\"privatePaths\":[\"/a\\u0000\"]"), REASON_PRIVATE_PATH, "/privatePaths/0"},
	{TURN(",\"privatePaths\":[1]"), REASON_SHAPE_TYPE, "/privatePaths/0"},
	{TURN(",\"stateFile\":\"x\""), REASON_PRIVATE_PATH, "/stateFile"},
	{TURN(",\"docker\":{}"), REASON_NONE, ""},
	{TURN(",\"docker\":{\"host\":\"tcp://x\"}"), REASON_NONE, ""},
	{TURN(",\"docker\":{\"host\":\"a\"}"), REASON_NONE, ""},
	{TURN(",\"docker\":{\"host\":\"\"}"), REASON_SHAPE_LENGTH, "/docker/host"},
	{TURN(",\"docker\":{\"host\":\"a\\u0000\"}"), REASON_SHAPE_NUL, "/docker/host"},
	{TURN(",\"docker\":{\"host\":null}"), REASON_SHAPE_TYPE, "/docker/host"},
	{TURN(",\"docker\":{\"runtime\":\"" RUNTIME64 "\"}"), REASON_NONE, ""},
	{TURN(",\"docker\":{\"runtime\":\"" RUNTIME64 "4\"}"), REASON_RUNTIME_NAME,
	 "/docker/runtime"},
	{TURN(",\"docker\":{\"runtime\":\"\"}"), REASON_RUNTIME_NAME, "/docker/runtime"},
	{TURN(",\"docker\":{\"runtime\":\"a/b\"}"), REASON_RUNTIME_NAME, "/docker/runtime"},
	{TURN(",\"docker\":{\"context\":\"x\"}"), REASON_SHAPE_UNKNOWN_KEY, "/docker/context"},
	{TURN(",\"audit\":{\"required\":\"yes\"}"), REASON_SHAPE_TYPE, "/audit/required"},
	{TURN(",\"confinement\":\"required\""), REASON_NONE, ""},
	{TURN(",\"confinement\":\"none\""), REASON_SHAPE_VALUE, "/confinement"},
};

static void test_verdicts(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(VERDICTS); i++)
		check_verdict(&VERDICTS[i], run);
}

/* What the rules between members say. */
static void test_details(void **state)
{
	static const struct {
		const char *text;
		const char *detail;
	} CASES[] = {
		{TURN("," SESSION_KEY), "only session mode has a session"},
		{MOUNTED(BROKER), "turn mode has exactly /broker and /workspace"},
		{BUNDLE("/workspace/x"), "it lies in or around a mount"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(CASES); i++) {
		run(CASES[i].text);
		assert_int_equal(report.count, 1);
		assert_string_equal(report.at[0].detail, CASES[i].detail);
	}
}

/* Said to be required, said not to be, not said. */
static void test_audit(void **state)
{
	static const struct {
		const char *text;
		bool required;
		bool optional;
	} CASES[] = {
		{TURN(",\"audit\":{\"required\":true}"), true, false},
		{TURN(",\"audit\":{\"required\":false}"), false, true},
		{TURN(",\"audit\":{}"), false, false},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(CASES); i++) {
		run(CASES[i].text);
		assert_int_equal(report.count, 0);
		assert_int_equal(config.audit_required, CASES[i].required);
		assert_int_equal(config.audit_optional, CASES[i].optional);
	}
}

static void test_turn_defaults(void **state)
{
	(void)state;
	run(TURN(""));
	assert_int_equal(report.count, 0);
	assert_int_equal(config.mode, MODE_TURN);
	assert_string_equal(config.image, "worker:1");
	assert_null(config.image_id);
	assert_null(config.name);
	assert_string_equal(config.session_key, "");
	assert_int_equal(config.session_revision, 0);
	assert_false(config.user_given);
	assert_int_equal(config.mount_count, 2);
	assert_string_equal(config.mount[0].host, "/srv/b");
	assert_string_equal(config.mount[0].guest, "/broker");
	assert_true(config.mount[0].read_only);
	assert_string_equal(config.mount[1].guest, "/workspace");
	assert_false(config.mount[1].read_only);
	assert_false(config.bundle_given);
	assert_null(config.entrypoint);
	assert_false(config.command_given);
	assert_null(config.workdir);
	assert_int_equal(config.env_count, 0);
	assert_false(config.init);
	assert_int_equal(config.limits.memory_bytes, 536870912);
	assert_int_equal(config.limits.nano_cpus, 1000000000);
	assert_int_equal(config.limits.tmpfs_bytes, 67108864);
	assert_int_equal(config.limits.shm_bytes, 67108864);
	assert_int_equal(config.limits.file_bytes, 0);
	assert_int_equal(config.limits.turn_bytes, 262144);
	assert_int_equal(config.limits.pids, 64);
	assert_int_equal(config.limits.nofile, 256);
	assert_int_equal(config.limits.turn_seconds, 120);
	assert_int_equal(config.limits.lock_seconds, 30);
	assert_int_equal(config.limits.control_seconds, 30);
	assert_int_equal(config.limits.remove_seconds, 60);
	assert_int_equal(config.limits.live, 0);
	assert_int_equal(config.private_count, 0);
	assert_null(config.state_file);
	assert_null(config.docker_host);
	assert_null(config.docker_runtime);
	assert_false(config.audit_required);
	assert_false(config.audit_optional);
	assert_false(config.best_effort);
}

static void test_session_defaults(void **state)
{
	(void)state;
	run(SESSION(WORKSPACE, ""));
	assert_int_equal(report.count, 0);
	assert_int_equal(config.mode, MODE_SESSION);
	assert_string_equal(config.session_key, "k");
	assert_true(config.init);
	assert_int_equal(config.limits.turn_seconds, 0);
	assert_int_equal(config.limits.memory_bytes, 536870912);
	run(SESSION(WORKSPACE, ",\"init\":false,\"limits\":{\"turnSeconds\":5}"));
	assert_int_equal(report.count, 0);
	assert_false(config.init);
	assert_int_equal(config.limits.turn_seconds, 5);
}

static void test_everything_given(void **state)
{
	(void)state;
	run("{\"$schema\":\"s\",\"version\":1,\"mode\":\"session\",\"image\":\"a/b:c\","
	    "\"imageId\":\"sha256:" ID "\",\"name\":\"n\","
	    "\"session\":{\"key\":\"K "
	    "\\u0041\",\"revision\":7},\"user\":{\"uid\":1001,\"gid\":1002},"
	    "\"mounts\":[" WORKSPACE "," GRANT_MOUNT(
		    GRANT, "ro") "],"
	                         "\"bundle\":{\"host\":\"/srv/f\",\"guest\":\"/opt/"
	                         "f\"},\"entrypoint\":\"/bin/sh\","
	                         "\"command\":[\"-c\",\"true\"],\"workdir\":\"/w\","
	                         "\"environment\":{\"B\":\"2=\\u00e9\",\"A\":\"\"},\"init\":false,"
	                         "\"limits\":{\"cpus\":0.5},\"privatePaths\":[\"/p\",\"/"
	                         "q\"],\"stateFile\":\"/s\","
	                         "\"docker\":{\"host\":\"unix:///"
	                         "d\",\"runtime\":\"runc\"},\"audit\":{\"required\":true},"
	                         "\"confinement\":\"best-effort\"}");
	assert_int_equal(report.count, 0);
	assert_string_equal(config.image_id, "sha256:" ID);
	assert_string_equal(config.name, "n");
	assert_string_equal(config.session_key, "K A");
	assert_int_equal(config.session_revision, 7);
	assert_true(config.user_given);
	assert_int_equal(config.uid, 1001);
	assert_int_equal(config.gid, 1002);
	assert_int_equal(config.mount_count, 2);
	assert_string_equal(config.mount[1].guest, GRANT);
	assert_true(config.mount[1].read_only);
	assert_true(config.bundle_given);
	assert_string_equal(config.bundle_host, "/srv/f");
	assert_string_equal(config.bundle_guest, "/opt/f");
	assert_string_equal(config.entrypoint, "/bin/sh");
	assert_true(config.command_given);
	assert_int_equal(config.command.count, 2);
	assert_string_equal(config.command.at[0], "-c");
	assert_string_equal(config.command.at[1], "true");
	assert_string_equal(config.workdir, "/w");
	assert_int_equal(config.env_count, 2);
	assert_string_equal(config.env[0], "B=2=\xc3\xa9");
	assert_string_equal(config.env[1], "A=");
	assert_false(config.init);
	assert_int_equal(config.limits.nano_cpus, 500000000);
	assert_int_equal(config.private_count, 2);
	assert_string_equal(config.private_path[1], "/q");
	assert_string_equal(config.state_file, "/s");
	assert_string_equal(config.docker_host, "unix:///d");
	assert_string_equal(config.docker_runtime, "runc");
	assert_true(config.audit_required);
	assert_false(config.audit_optional);
	assert_true(config.best_effort);
}

/* Each limit at its bounds, in the document and in the JSON Schema. */
static const struct {
	const char *key;
	uint64_t min;
	uint64_t max;
	size_t offset;
	size_t size;
} BOUNDS[] = {
#define WIDE(member) offsetof(struct limits, member), sizeof(uint64_t)
#define NARROW(member) offsetof(struct limits, member), sizeof(uint32_t)
	{"memoryBytes", MEMORY_BYTES_MIN, MEMORY_BYTES_MAX, WIDE(memory_bytes)},
	{"tmpfsBytes", TMPFS_BYTES_MIN, TMPFS_BYTES_MAX, WIDE(tmpfs_bytes)},
	{"shmBytes", SHM_BYTES_MIN, SHM_BYTES_MAX, WIDE(shm_bytes)},
	{"fileBytes", FILE_BYTES_MIN, FILE_BYTES_MAX, WIDE(file_bytes)},
	{"turnBytes", TURN_BYTES_MIN, TURN_BYTES_MAX, WIDE(turn_bytes)},
	{"pids", PIDS_MIN, PIDS_MAX, NARROW(pids)},
	{"nofile", NOFILE_MIN, NOFILE_MAX, NARROW(nofile)},
	{"turnSeconds", TURN_SECONDS_MIN, TURN_SECONDS_MAX, NARROW(turn_seconds)},
	{"lockSeconds", LOCK_SECONDS_MIN, LOCK_SECONDS_MAX, NARROW(lock_seconds)},
	{"controlSeconds", CONTROL_SECONDS_MIN, CONTROL_SECONDS_MAX, NARROW(control_seconds)},
	{"removeSeconds", REMOVE_SECONDS_MIN, REMOVE_SECONDS_MAX, NARROW(remove_seconds)},
	{"live", LIVE_MIN, LIVE_MAX, NARROW(live)},
};

static uint64_t limit_at(size_t offset, size_t size)
{
	uint64_t wide;
	uint32_t narrow;

	if (size == sizeof(wide)) {
		memcpy(&wide, (const char *)&config.limits + offset, sizeof(wide));
		return wide;
	}
	memcpy(&narrow, (const char *)&config.limits + offset, sizeof(narrow));
	return narrow;
}

static void run_limit(const char *key, uint64_t value)
{
	char text[1024];

	snprintf(text, sizeof(text), LIMITS("\"%s\":%llu"), key, (unsigned long long)value);
	run(text);
}

static void test_bounds(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(BOUNDS); i++) {
		const uint64_t good[] = {BOUNDS[i].min, BOUNDS[i].min + 1, BOUNDS[i].max};

		for (size_t j = 0; j < COUNT(good); j++) {
			run_limit(BOUNDS[i].key, good[j]);
			assert_int_equal(report.count, 0);
			assert_int_equal(limit_at(BOUNDS[i].offset, BOUNDS[i].size), good[j]);
		}
		run_limit(BOUNDS[i].key, BOUNDS[i].max + 1);
		assert_int_equal(report.count, 1);
		assert_int_equal(report.at[0].reason, REASON_LIMIT_RANGE);
		assert_int_equal(report.at[0].code, CODE_LIMIT);
		assert_int_equal(report.at[0].status, 77);
		if (BOUNDS[i].min == 0)
			continue;
		run_limit(BOUNDS[i].key, BOUNDS[i].min - 1);
		assert_int_equal(report.count, 1);
		assert_int_equal(report.at[0].reason, REASON_LIMIT_RANGE);
	}
}

/* `count` items: each `item`, its number, and `end`. */
static void run_many(const char *before, const char *item, const char *end, size_t count,
                     const char *after)
{
	static char text[65536];
	size_t len = (size_t)snprintf(text, sizeof(text), "%s", before);

	for (size_t i = 0; i < count; i++) {
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s%zu%s",
		                        i == 0 ? "" : ",", item, i, end);
		assert_true(len < sizeof(text) - 16);
	}
	snprintf(text + len, sizeof(text) - len, "%s", after);
	run(text);
}

static void test_counts(void **state)
{
	static const struct {
		const char *before;
		const char *item;
		const char *end;
		const char *after;
		size_t max;
	} CASES[] = {
		{"{" START "," MOUNTS ",\"command\":[", "\"w", "\"", "]}", WORDS_MAX},
		{"{" START "," MOUNTS ",\"privatePaths\":[", "\"/w", "\"", "]}", PRIVATE_MAX},
		{"{" START "," MOUNTS ",\"environment\":{", "\"E", "\":\"\"", "}}", ENV_MAX},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(CASES); i++) {
		run_many(CASES[i].before, CASES[i].item, CASES[i].end, CASES[i].max,
		         CASES[i].after);
		assert_int_equal(report.count, 0);
		run_many(CASES[i].before, CASES[i].item, CASES[i].end, CASES[i].max + 1,
		         CASES[i].after);
		assert_int_equal(report.count, 1);
		assert_int_equal(report.at[0].reason, REASON_SHAPE_COUNT);
	}
	assert_int_equal(config.env_count, ENV_MAX);
	run_many(CASES[0].before, CASES[0].item, CASES[0].end, WORDS_MAX + 1, CASES[0].after);
	assert_int_equal(config.command.count, WORDS_MAX);
	run_many(CASES[1].before, CASES[1].item, CASES[1].end, PRIVATE_MAX + 1, CASES[1].after);
	assert_int_equal(config.private_count, PRIVATE_MAX);
}

static void test_mount_count(void **state)
{
	static char text[65536];

	(void)state;
	for (size_t count = MOUNTS_MAX; count <= MOUNTS_MAX + 1; count++) {
		size_t len = (size_t)snprintf(text, sizeof(text),
		                              "{" SESSION_START "," SESSION_KEY ",\"mounts\":[");

		for (size_t i = 0; i < count; i++)
			len += (size_t)snprintf(
				text + len, sizeof(text) - len,
				"%s{\"host\":\"/g%zu\",\"guest\":\"/grants/%064zx\","
				"\"mode\":\"ro\"}",
				i == 0 ? "" : ",", i, i);
		/* The bundle's host, which is no mount's guest. */
		snprintf(text + len, sizeof(text) - len,
		         "],\"bundle\":{\"host\":\"/f\",\"guest\":\"/f\"}}");
		run(text);
		assert_int_equal(report.count, count > MOUNTS_MAX);
		assert_int_equal(config.mount_count, MOUNTS_MAX);
	}
	assert_int_equal(report.at[0].reason, REASON_SHAPE_COUNT);
}

static void test_every_violation(void **state)
{
	static const struct {
		enum reason reason;
		const char *pointer;
	} EXPECTED[] = {
		{REASON_SHAPE_MISSING, "/version"},        {REASON_IMAGE_GRAMMAR, "/image"},
		{REASON_LIMIT_RANGE, "/limits/pids"},      {REASON_LIMIT_NUMBER, "/limits/cpus"},
		{REASON_MOUNT_RELATIVE, "/mounts/0/host"}, {REASON_SHAPE_UNKNOWN_KEY, "/mount"},
		{REASON_MOUNT_GUEST, "/mounts/0/guest"},   {REASON_SHAPE_COUNT, "/mounts"},
	};

	(void)state;
	run("{\"mode\":\"turn\",\"image\":\"-\",\"limits\":{\"pids\":1,\"cpus\":\"2\"},"
	    "\"mounts\":[{\"host\":\"a\",\"guest\":\"/etc\",\"mode\":\"ro\"}],\"mount\":1}");
	assert_int_equal(report.count, COUNT(EXPECTED));
	for (size_t i = 0; i < COUNT(EXPECTED); i++) {
		assert_int_equal(report.at[i].reason, EXPECTED[i].reason);
		assert_string_equal(report.at[i].pointer, EXPECTED[i].pointer);
	}
	assert_string_equal(report.at[5].detail, "did you mean \"mounts\"?");
}

/* Wrong types everywhere are reported and nothing else happens. */
static void test_wrong_types(void **state)
{
	static const char *const KEYS[] = {
		"image",     "imageId", "name",        "user",        "bundle", "entrypoint",
		"command",   "workdir", "environment", "init",        "limits", "privatePaths",
		"stateFile", "docker",  "audit",       "confinement", "mounts"};
	static const char *const VALUES[] = {"1",           "null", "[[]]", "{\"a\":[{}]}",
	                                     "\"\\u0000\"", "true"};
	char text[1024];

	(void)state;
	for (size_t i = 0; i < COUNT(KEYS); i++) {
		for (size_t j = 0; j < COUNT(VALUES); j++) {
			bool required =
				strcmp(KEYS[i], "image") == 0 || strcmp(KEYS[i], "mounts") == 0;
			bool accepted = strcmp(KEYS[i], "init") == 0 && j == 5;
			unsigned missing = required ? 1 : 2;

			snprintf(text, sizeof(text), "{\"version\":1,\"mode\":\"turn\",\"%s\":%s}",
			         KEYS[i], VALUES[j]);
			run(text);
			if (accepted)
				assert_int_equal(report.count, missing);
			else
				assert_true(report.count > missing);
		}
	}
}

/* An arena that is too small by whatever it is refuses. */
static void test_arena_full(void **state)
{
	static const char TEXT[] = TURN(",\"environment\":{\"A\":\"b\",\"C\":\"\"}");
	static const char KEPT[] = "worker:1\0/srv/b\0/broker\0/srv/w\0/workspace\0A=b\0C=";
	const struct json_limits limits = {CONFIG_BYTES_MAX, 65536, false};
	struct json_error error;
	struct json doc;
	size_t needed;

	(void)state;
	run(TEXT);
	assert_int_equal(report.count, 0);
	needed = arena.len;
	assert_int_equal(needed, sizeof(KEPT));
	assert_memory_equal(arena.at, KEPT, sizeof(KEPT));
	assert_true(json_parse(&doc, TEXT, strlen(TEXT), &limits, &error));
	for (size_t cap = 0; cap < needed; cap++) {
		report_init(&report, CODE_CONFIG, 78);
		text_init(&arena, arena_buffer, cap);
		config_read(&doc, &arena, &config, &report);
		assert_true(report.count > 0);
		assert_int_equal(report.at[report.count - 1].reason, REASON_JSON_TOO_LARGE);
	}
	/* No part of an entry is one. */
	assert_string_equal(config.env[0], "A=b");
	assert_null(config.env[1]);
	json_drop(&doc);
}

static void test_grammars(void **state)
{
	(void)state;
	assert_true(config_name("a", 1));
	assert_true(config_name(NAME91, 91));
	assert_false(config_name(NAME91 "0", 92));
	assert_false(config_name("a", 0));
	assert_false(config_runtime("a", 0));
	assert_false(config_session_key("a", 0));
	assert_false(config_session_key(",a", 2));
	assert_false(config_session_key("\x7f" "a", 2));
	assert_false(config_name(".a", 2));
	assert_false(config_name("aA", 2));
	assert_true(config_name("0_.-", 4));
	assert_false(config_name("a\0", 2));
	assert_true(config_session_key("~ !", 3));
	assert_true(config_session_key("a-", 2));
	assert_false(config_session_key("-a", 2));
	assert_false(config_session_key("", 0));
	assert_true(config_session_key(KEY128, 128));
	assert_false(config_session_key(KEY128 "0", 129));
	assert_true(config_runtime("io.containerd.runc.v2", 21));
	assert_true(config_runtime(RUNTIME64, 64));
	assert_false(config_runtime(RUNTIME64 "0", 65));
	assert_false(config_runtime("_a", 2));
}

static char schema_buffer[65536];

/* The text of a member of the JSON Schema, below "properties" at each step. */
static void schema_text(const char *first, const char *second, const char *key, char *to,
                        size_t size)
{
	const struct json_limits limits = {sizeof(schema_buffer), 65536, false};
	struct json_error error;
	struct json doc;
	struct text made;
	size_t len;
	uint32_t node;

	text_init(&made, schema_buffer, sizeof(schema_buffer));
	config_schema(&made);
	assert_false(made.full);
	assert_true(json_parse(&doc, made.at, made.len, &limits, &error));
	node = json_get(&doc, json_get(&doc, 0, "properties"), first);
	if (second != NULL)
		node = json_get(&doc, json_get(&doc, node, "properties"), second);
	node = json_get(&doc, node, key);
	assert_int_not_equal(node, JSON_NONE);
	text_init(&made, to, size - 1);
	if (json_type(&doc, node) == JSON_STRING) {
		json_decode(&doc, node, &made);
	} else {
		const char *span = json_span(&doc, node, &len);

		text_bytes(&made, span, len);
	}
	assert_false(made.full);
	to[made.len] = '\0';
	json_drop(&doc);
}

static const char SCHEMA[] =
	"{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\","
	"\"title\":\"cofferdam config, version 1\",\"type\":\"object\",\"properties\":{"
	"\"$schema\":{\"type\":\"string\",\"description\":\"for editors; not read\"},"
	"\"version\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":1},\"mode\":{"
	"\"type\":\"string\",\"enum\":[\"turn\",\"session\"]},\"image\":{\"type\":\"string\","
	"\"description\":\"name[:tag][@digest], or sha256: and 64 hex digits\"},\"imageId\":{"
	"\"type\":\"string\",\"description\":\"the image must have this id\","
	"\"pattern\":\"^sha256:[0-9a-f]{64}$\"},\"name\":{\"type\":\"string\","
	"\"description\":\"the container's name; without it cofferdam- and a random number\","
	"\"pattern\":\"^[a-z0-9][a-z0-9_.-]{0,90}$\"},\"session\":{\"type\":\"object\","
	"\"description\":\"session mode must have it, turn mode may not\",\"properties\":{"
	"\"key\":{\"type\":\"string\","
	"\"pattern\":\"^[ !#-+.-\\\\[\\\\]-~][ !#-+\\\\--\\\\[\\\\]-~]{0,127}$\"},\"revision\":{"
	"\"type\":\"integer\",\"minimum\":0,\"maximum\":9007199254740991}},\"required\":[\"key\","
	"\"revision\"],\"additionalProperties\":false},\"user\":{\"type\":\"object\","
	"\"description\":\"whom the worker runs as; without it the caller\",\"properties\":{"
	"\"uid\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":2147483647},\"gid\":{"
	"\"type\":\"integer\",\"minimum\":1,\"maximum\":2147483647}},\"required\":[\"uid\","
	"\"gid\"],\"additionalProperties\":false},\"mounts\":{\"type\":\"array\",\"minItems\":1,"
	"\"maxItems\":32,\"items\":{\"type\":\"object\",\"properties\":{\"host\":{"
	"\"type\":\"string\",\"description\":\"an absolute path of a directory\","
	"\"pattern\":\"^/[^\\\\u0000-\\\\u001f\\\\u007f,\\\"]+$\"},\"guest\":{"
	"\"type\":\"string\","
	"\"description\":\"turn: /broker and /workspace; "
	"session: /workspace and /grants/<64 hex digits>\","
	"\"pattern\":\"^/(broker|workspace|grants/[0-9a-f]{64})$\"},\"mode\":{"
	"\"type\":\"string\",\"enum\":[\"ro\",\"rw\"]}},\"required\":[\"host\",\"guest\","
	"\"mode\"],\"additionalProperties\":false}},\"bundle\":{\"type\":\"object\","
	"\"description\":\"one read-only file\",\"properties\":{\"host\":{\"type\":\"string\","
	"\"description\":\"an absolute path of a regular file with one link\","
	"\"pattern\":\"^/[^\\\\u0000-\\\\u001f\\\\u007f,\\\"]+$\"},\"guest\":{"
	"\"type\":\"string\","
	"\"description\":\"an absolute path outside /proc, /sys, /dev, /tmp and every mount\","
	"\"pattern\":\"^/(?!(proc|sys|dev|tmp)(/|$))[ !#-+\\\\--\\\\[\\\\]-~]{1,254}$\"}},"
	"\"required\":[\"host\",\"guest\"],\"additionalProperties\":false},\"entrypoint\":{"
	"\"type\":\"string\",\"description\":\"without it the image's\","
	"\"pattern\":\"^(?!-)[^\\\\u0000-\\\\u001f\\\\u007f]+$\"},\"command\":{"
	"\"type\":\"array\",\"description\":\"without it the image's\",\"maxItems\":64,"
	"\"items\":{\"type\":\"string\","
	"\"pattern\":\"^([\\\\t\\\\n]|[^\\\\u0000-\\\\u001f\\\\u007f])*$\"}},\"workdir\":{"
	"\"type\":\"string\",\"description\":\"without it the image's\","
	"\"pattern\":\"^/(?!(proc|sys|dev)(/|$))[ !#-+\\\\--\\\\[\\\\]-~]{0,254}$\"},"
	"\"environment\":{\"type\":\"object\",\"maxProperties\":64,\"propertyNames\":{"
	"\"pattern\":\"^(?!HOME$)[A-Za-z_][A-Za-z0-9_]*$\"},\"additionalProperties\":{"
	"\"type\":\"string\",\"pattern\":\"^[^\\\\u0000-\\\\u001f\\\\u007f]*$\"}},\"init\":{"
	"\"type\":\"boolean\","
	"\"description\":\"docker's init as process 1; without it only in session mode\"},"
	"\"limits\":{\"type\":\"object\",\"properties\":{\"memoryBytes\":{\"type\":\"integer\","
	"\"description\":\"memory, and memory and swap together\",\"minimum\":67108864,"
	"\"maximum\":1099511627776,\"default\":536870912},\"cpus\":{\"type\":\"number\","
	"\"minimum\":0.01,\"maximum\":1024,\"default\":1},\"pids\":{\"type\":\"integer\","
	"\"minimum\":8,\"maximum\":4194304,\"default\":64},\"nofile\":{\"type\":\"integer\","
	"\"description\":\"open files of one process\",\"minimum\":16,\"maximum\":1048576,"
	"\"default\":256},\"tmpfsBytes\":{\"type\":\"integer\",\"description\":\"size of /tmp\","
	"\"minimum\":4096,\"maximum\":1099511627776,\"default\":67108864},\"shmBytes\":{"
	"\"type\":\"integer\",\"description\":\"size of /dev/shm\",\"minimum\":4096,"
	"\"maximum\":1099511627776,\"default\":67108864},\"fileBytes\":{\"type\":\"integer\","
	"\"description\":\"size of one file that the worker writes; without it there is no limit\","
	"\"minimum\":1,\"maximum\":1099511627776},\"turnBytes\":{\"type\":\"integer\","
	"\"minimum\":1024,\"maximum\":2097152,\"default\":262144},\"turnSeconds\":{"
	"\"type\":\"integer\",\"description\":\"without it a session has no deadline\","
	"\"minimum\":1,\"maximum\":600,\"default\":120},\"lockSeconds\":{\"type\":\"integer\","
	"\"description\":\"how long a launch waits for another one's lock\",\"minimum\":0,"
	"\"maximum\":600,\"default\":30},\"controlSeconds\":{\"type\":\"integer\","
	"\"description\":\"deadline of one docker command\",\"minimum\":1,\"maximum\":300,"
	"\"default\":30},\"removeSeconds\":{\"type\":\"integer\","
	"\"description\":\"deadline of the removal\",\"minimum\":1,\"maximum\":600,"
	"\"default\":60},\"live\":{\"type\":\"integer\","
	"\"description\":\"managed containers at once; without it there is no limit\","
	"\"minimum\":1,\"maximum\":100000}},\"additionalProperties\":false},\"privatePaths\":{"
	"\"type\":\"array\",\"description\":\"paths that no mount may hold or lie in\","
	"\"maxItems\":64,\"items\":{\"type\":\"string\","
	"\"pattern\":\"^/[^\\\\u0000-\\\\u001f\\\\u007f,\\\"]+$\"}},\"stateFile\":{"
	"\"type\":\"string\",\"description\":\"one more private path\","
	"\"pattern\":\"^/[^\\\\u0000-\\\\u001f\\\\u007f,\\\"]+$\"},\"docker\":{"
	"\"type\":\"object\",\"properties\":{\"host\":{\"type\":\"string\","
	"\"description\":\"without it: DOCKER_HOST, else docker's current context\","
	"\"minLength\":1,\"pattern\":\"^unix:///\"},\"runtime\":{\"type\":\"string\","
	"\"pattern\":\"^[a-z0-9][a-z0-9_.-]{0,63}$\"}},\"additionalProperties\":false},"
	"\"audit\":{\"type\":\"object\",\"properties\":{\"required\":{\"type\":\"boolean\","
	"\"description\":\"no record, no launch\"}},\"additionalProperties\":false},"
	"\"confinement\":{\"type\":\"string\","
	"\"description\":\"best-effort: also on a kernel without Landlock\","
	"\"enum\":[\"required\",\"best-effort\"]}},\"required\":[\"version\",\"mode\",\"image\","
	"\"mounts\"],\"if\":{\"properties\":{\"mode\":{\"const\":\"turn\"}}},\"then\":{"
	"\"properties\":{\"session\":false,\"mounts\":{\"minItems\":2,\"maxItems\":2,\"allOf\":[{"
	"\"contains\":{\"properties\":{\"guest\":{\"const\":\"/broker\"},\"mode\":{"
	"\"const\":\"ro\"}}}},{\"contains\":{\"properties\":{\"guest\":{"
	"\"const\":\"/workspace\"},\"mode\":{\"const\":\"rw\"}}}}]}}},\"else\":{"
	"\"required\":[\"session\"],\"properties\":{\"mounts\":{\"items\":{\"properties\":{"
	"\"guest\":{\"not\":{\"const\":\"/broker\"}}}}}}},\"additionalProperties\":false}";

static void test_schema(void **state)
{
	struct text made;

	(void)state;
	text_init(&made, schema_buffer, sizeof(schema_buffer));
	config_schema(&made);
	assert_int_equal(made.len, sizeof(SCHEMA) - 1);
	assert_memory_equal(made.at, SCHEMA, sizeof(SCHEMA) - 1);
}

static void test_schema_bounds(void **state)
{
	char text[64];
	char expected[64];

	(void)state;
	for (size_t i = 0; i < COUNT(BOUNDS); i++) {
		snprintf(expected, sizeof(expected), "%llu", (unsigned long long)BOUNDS[i].min);
		schema_text("limits", BOUNDS[i].key, "minimum", text, sizeof(text));
		assert_string_equal(text, expected);
		snprintf(expected, sizeof(expected), "%llu", (unsigned long long)BOUNDS[i].max);
		schema_text("limits", BOUNDS[i].key, "maximum", text, sizeof(text));
		assert_string_equal(text, expected);
	}
	schema_text("limits", "cpus", "minimum", text, sizeof(text));
	assert_string_equal(text, "0.01");
	schema_text("limits", "cpus", "maximum", text, sizeof(text));
	assert_string_equal(text, "1024");
	schema_text("limits", "memoryBytes", "default", text, sizeof(text));
	assert_string_equal(text, "536870912");
}

/* The patterns of the JSON Schema say what the judges say.  These patterns
 * mean the same in POSIX and in ECMA-262. */
static void test_schema_patterns(void **state)
{
	static const struct {
		const char *first;
		const char *second;
		bool (*judge)(const char *text, size_t len);
	} CASES[] = {
		{"name", NULL, config_name},
		{"docker", "runtime", config_runtime},
	};
	static const char *const LONG[] = {NAME91, NAME91 "0", RUNTIME64, RUNTIME64 "0", "", "aa"};
	char pattern[128];
	char text[3] = "";
	regex_t regex;

	(void)state;
	for (size_t i = 0; i < COUNT(CASES); i++) {
		schema_text(CASES[i].first, CASES[i].second, "pattern", pattern, sizeof(pattern));
		assert_int_equal(regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB), 0);
		for (size_t j = 0; j < COUNT(LONG); j++)
			assert_int_equal(CASES[i].judge(LONG[j], strlen(LONG[j])),
			                 regexec(&regex, LONG[j], 0, NULL, 0) == 0);
		for (int a = 1; a < 128; a++) {
			for (int b = 0; b < 128; b++) {
				text[0] = (char)a;
				text[1] = (char)b;
				assert_int_equal(CASES[i].judge(text, strlen(text)),
				                 regexec(&regex, text, 0, NULL, 0) == 0);
			}
		}
		regfree(&regex);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_verdicts),         cmocka_unit_test(test_turn_defaults),
		cmocka_unit_test(test_session_defaults), cmocka_unit_test(test_everything_given),
		cmocka_unit_test(test_bounds),           cmocka_unit_test(test_counts),
		cmocka_unit_test(test_mount_count),      cmocka_unit_test(test_every_violation),
		cmocka_unit_test(test_wrong_types),      cmocka_unit_test(test_arena_full),
		cmocka_unit_test(test_grammars),         cmocka_unit_test(test_schema_bounds),
		cmocka_unit_test(test_schema_patterns),  cmocka_unit_test(test_details),
		cmocka_unit_test(test_audit),            cmocka_unit_test(test_schema),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

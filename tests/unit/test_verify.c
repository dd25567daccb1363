/* SPDX-License-Identifier: ISC */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "../../policy/verify.h"
#include "../../policy/want.h"
#include "../data/containers.h"

static struct report report;
static struct launch plan;
static char document[FRAME_MAX + 65536];
static char longer[FRAME_MAX + 64]; /* than any text of a plan */

/* The plan of container_old, or of container_new. */
static void plan_for(bool session)
{
	container_plan(&plan, session);
}

static void verify(const char *text)
{
	const struct json_limits limits = { .bytes = ANSWER_MAX, .values = 65536 };
	struct json_error error;
	struct json doc;

	report_init(&report, CODE_UNAVAILABLE, 69);
	if (!json_parse(&doc, text, strlen(text), &limits, &error))
		fail_msg("not JSON at byte %zu: %s", error.offset, text);
	verify_container(&doc, &plan, &report);
	json_drop(&doc);
}

/* document = text with the one place that reads `find` replaced. */
static void replace(const char *text, const char *find, const char *with)
{
	const char *at = strstr(text, find);
	struct text out;

	if (at == NULL || strstr(at + 1, find) != NULL)
		fail_msg("not there exactly once: %s", find);
	text_init(&out, document, sizeof(document) - 1);
	text_bytes(&out, text, (size_t)(at - text));
	text_string(&out, with);
	text_string(&out, at + strlen(find));
	assert_false(out.full);
	document[out.len] = '\0';
}

static void expect_one(const char *what, const char *pointer)
{
	if (report.count != 1 || report.dropped != 0)
		fail_msg("%s: %u findings, first at %s", what, report.count,
		         report.count > 0 ? report.at[0].pointer : "");
	assert_int_equal(report.at[0].reason, REASON_VERIFY_DIFFERS);
	assert_int_equal(report.at[0].status, 77);
	if (strcmp(report.at[0].pointer, pointer) != 0)
		fail_msg("%s: at %s, not %s", what, report.at[0].pointer, pointer);
}

static void expect_none(const char *what)
{
	if (!report_empty(&report))
		fail_msg("%s: %s %s", what, report.at[0].pointer, report.at[0].detail);
}

static void test_as_asked(void **state)
{
	(void)state;
	plan_for(false);
	verify(container_old);
	expect_none("old");
	plan_for(true);
	verify(container_new);
	expect_none("new");
}

/* --- every member that is named, changed --- */

struct change {
	const char *find;
	const char *with;
	const char *pointer; /* of the one finding; NULL: none */
};

static const struct change changes[] = {
	{ "\"Image\":\"sha256:415cd9a2d3ded6f6aef12263a59b15e18ebff8eda1c417b61b7dbe939b498db3\","
	  "\"Res",
	  "\"Image\":\"sha256:515cd9a2d3ded6f6aef12263a59b15e18ebff8eda1c417b61b7dbe939b498db3\","
	  "\"Res",
	  "/Image" },
	{ "\"Name\":\"/cofferdam-1\"", "\"Name\":\"/cofferdam-10\"", "/Name" },
	{ "\"Name\":\"/cofferdam-1\"", "\"Name\":\"cofferdam-1\"", "/Name" },
	{ "\"Platform\":\"linux\"", "\"Platform\":\"windows\"", "/Platform" },
	{ "\"Path\":\"/bin/sh\"", "\"Path\":\"/bin/ash\"", "/Path" },
	{ "\"Args\":[\"-c\",", "\"Args\":[\"-x\",", "/Args" },
	{ "\"Args\":[\"-c\",", "\"Args\":[\"-c\",\"-c\",", "/Args" },
	{ "\"Args\":[\"-c\",", "\"Args\":[", "/Args" },
	{ "\"Args\":[", "\"Args\":{\"-c\":0,\"id; cat\":0},\"Was\":[", "/Args" },
	{ "\"Args\":[", "\"Args\":{\"-c\":0,\"cat\":0},\"Was\":[", "/Args" },
	{ "\"AppArmorProfile\":\"\"", "\"AppArmorProfile\":\"unconfined\"", "/AppArmorProfile" },
	{ "\"AppArmorProfile\":\"\"", "\"AppArmorProfile\":false", "/AppArmorProfile" },
	{ "\"AppArmorProfile\":\"\"", "\"AppArmorProfile\":\"docker-default\"", NULL },
	{ "\"AppArmorProfile\":\"\",", "", NULL },

	/* Mounts */
	{ "\"Type\":\"bind\",\"Source\":\"/srv/broker\",\"Dest",
	  "\"Type\":\"volume\",\"Source\":\"/srv/broker\",\"Dest", "/Mounts/0/Type" },
	{ "\"Source\":\"/srv/broker\",\"Dest", "\"Source\":\"/srv/brokers\",\"Dest",
	  "/Mounts/0/Source" },
	{ "\"Destination\":\"/broker\",\"Mode\":\"\",\"RW\":false",
	  "\"Destination\":\"/broker\",\"Mode\":\"\",\"RW\":true", "/Mounts/0/RW" },
	{ "\"Destination\":\"/workspace\",\"Mode\":\"\",\"RW\":true",
	  "\"Destination\":\"/workspace\",\"Mode\":\"\",\"RW\":false", "/Mounts/1/RW" },
	{ "\"RW\":true,\"Propagation\":\"rprivate\"", "\"RW\":true,\"Propagation\":\"rshared\"",
	  "/Mounts/1/Propagation" },
	{ "\"RW\":true,\"Propagation\":\"rprivate\"", "\"RW\":true,\"Propagation\":\"\"",
	  "/Mounts/1/Propagation" },
	{ "\"RW\":true,\"Propagation\":\"rprivate\"", "\"RW\":true", "/Mounts/1/Propagation" },
	{ "\"Mode\":\"\",\"RW\":true", "\"Mode\":\"Z\",\"RW\":true", "/Mounts/1/Mode" },
	{ "\"Mode\":\"\",\"RW\":true", "\"Mode\":\"\",\"Name\":\"v\",\"RW\":true",
	  "/Mounts/1/Name" },
	{ "\"Mode\":\"\",\"RW\":true", "\"RW\":true", NULL },
	{ "\"Mode\":\"\",\"RW\":true", "\"Name\":\"\",\"RW\":true", NULL },
	{ "\"Name\":\"overlay2\"},\"Mounts\":[",
	  "\"Name\":\"overlay2\"},\"Mounts\":[{\"Type\":\"volume\",\"Name\":\"v\","
	  "\"Source\":\"/v\",\"Destination\":\"/x\",\"Driver\":\"local\",\"Mode\":\"\","
	  "\"RW\":true,\"Propagation\":\"\"},",
	  "/Mounts/0" },
	{ "\"Name\":\"overlay2\"},\"Mounts\":[", "\"Name\":\"overlay2\"},\"Mounts\":[7,",
	  "/Mounts/0" },
	/* A second mount on the same guest, from elsewhere or from the same. */
	{ "\"Name\":\"overlay2\"},\"Mounts\":[",
	  "\"Name\":\"overlay2\"},\"Mounts\":[{\"Type\":\"bind\",\"Source\":\"/etc\","
	  "\"Destination\":\"/workspace\",\"RW\":true,\"Propagation\":\"rprivate\"},",
	  "/Mounts/0/Source" },
	{ "\"Name\":\"overlay2\"},\"Mounts\":[",
	  "\"Name\":\"overlay2\"},\"Mounts\":[{\"Type\":\"bind\",\"Source\":\"/srv/work\","
	  "\"Destination\":\"/workspace\",\"RW\":true,\"Propagation\":\"rprivate\"},",
	  "/Mounts" },
	{ "\"Mounts\":[{\"Type\":\"bind\",\"Source\":\"/srv/broker\",\"Target\"",
	  "\"Mounts\":[{\"Type\":\"tmpfs\",\"Target\":\"/x\"},"
	  "{\"Type\":\"bind\",\"Source\":\"/srv/broker\",\"Target\"",
	  "/HostConfig/Mounts/0" },

	/* Networks */
	{ "\"Networks\":{\"none\":", "\"Networks\":{\"bridge\":", "/NetworkSettings/Networks/bridge" },
	{ "\"Networks\":{\"none\":", "\"Networks\":{\"host\":null,\"none\":",
	  "/NetworkSettings/Networks/host" },
	{ "\"Networks\":{\"none\":", "\"Networks\":{},\"X\":{\"none\":", NULL },
	{ "\"Networks\":{\"none\":", "\"Networks\":null,\"X\":{\"none\":", NULL },
	{ "\"Networks\":{\"none\":", "\"Networks\":[],\"X\":{\"none\":",
	  "/NetworkSettings/Networks" },

	/* Config */
	{ "\"User\":\"1000:1000\"", "\"User\":\"1000\"", "/Config/User" },
	{ "\"User\":\"1000:1000\"", "\"User\":\"0:1000\"", "/Config/User" },
	{ "\"User\":\"1000:1000\"", "\"User\":\"1000:0\"", "/Config/User" },
	{ "\"User\":\"1000:1000\"", "\"User\":\"\"", "/Config/User" },
	{ "\"User\":\"1000:1000\"", "\"User\":\"1\\u0030\\u00300:1000\"", NULL },
	{ "\"User\":\"1000:1000\"", "\"User\":1000", "/Config/User" },
	{ "\"Tty\":false", "\"Tty\":true", "/Config/Tty" },
	{ "\"Tty\":false", "\"Tty\":null", "/Config/Tty" },
	{ "\"OpenStdin\":true", "\"OpenStdin\":false", "/Config/OpenStdin" },
	{ "\"A=b\",", "", "/Config/Env" },
	{ "\"LANG=C\",", "", "/Config/Env" },
	{ "\"HOME=/tmp/home\",", "", "/Config/Env" },
	{ "\"PATH=/bin:/usr/bin\",", "", "/Config/Env" },
	{ ",\"NOEQ\"", "", "/Config/Env" },
	{ "\"A=b\",", "\"A=b\",\"A=b\",", "/Config/Env" },
	{ "\"A=b\",", "\"A=b\",\"HTTP_PROXY=http://u:p@h\",", "/Config/Env/2" },
	{ "\"A=b\",", "\"A=b\",7,", "/Config/Env/2" },
	{ "\"HOME=/tmp/home\",\"A=b\"", "\"A=b\",\"HOME=/tmp/home\"", NULL },
	{ "\"Entrypoint\":[\"/bin/sh\"]", "\"Entrypoint\":[\"/bin/sh\",\"-x\"]",
	  "/Config/Entrypoint" },
	{ "\"Entrypoint\":[\"/bin/sh\"]", "\"Entrypoint\":[]", "/Config/Entrypoint" },
	{ "\"Entrypoint\":[\"/bin/sh\"]", "\"Entrypoint\":null", "/Config/Entrypoint" },
	{ "\"Entrypoint\":[\"/bin/sh\"]", "\"Entrypoint\":\"/bin/sh\"", "/Config/Entrypoint" },
	{ "\"Cmd\":[\"-c\",", "\"Cmd\":[\"-x\",", "/Config/Cmd" },
	{ "\"Cmd\":[\"-c\",", "\"Cmd\":[\"-c\",\"\",", "/Config/Cmd" },
	{ "db3\",\"Volumes\":null", "db4\",\"Volumes\":null", "/Config/Image" },
	{ "\"WorkingDir\":\"/workspace\"", "\"WorkingDir\":\"/\"", "/Config/WorkingDir" },
	{ "\"WorkingDir\":\"/workspace\"", "\"WorkingDir\":\"/workspace/\"", "/Config/WorkingDir" },
	{ "\"Volumes\":null", "\"Volumes\":{}", NULL },
	{ "\"Volumes\":null,", "", NULL },
	{ "\"Volumes\":null", "\"Volumes\":[]", "/Config/Volumes" },
	{ "\"Volumes\":null", "\"Volumes\":{\"/data\":{}}", "/Config/Volumes" },
	{ "\"Test\":[\"NONE\"]", "\"Test\":[\"CMD\",\"true\"]", "/Config/Healthcheck/Test" },
	{ "\"Test\":[\"NONE\"]", "\"Test\":[]", "/Config/Healthcheck/Test" },
	{ "\"Test\":[\"NONE\"]", "\"Test\":null", "/Config/Healthcheck/Test" },
	{ "\"Domainname\":\"\"", "\"Domainname\":\"example.org\"", "/Config/Domainname" },
	{ "\"Domainname\":\"\"", "\"Domainname\":\"\",\"MacAddress\":\"02:42:ac:11:00:02\"",
	  "/Config/MacAddress" },
	{ "\"Domainname\":\"\"", "\"Domainname\":\"\",\"Later\":[1]", "/Config/Later" },
	/* A name is known in its own object only. */
	{ "\"Domainname\":\"\"", "\"Domainname\":\"\",\"Privileged\":true",
	  "/Config/Privileged" },
	{ "\"HostConfig\":{", "\"HostConfig\":{\"OpenStdin\":true,", "/HostConfig/OpenStdin" },
	{ "\"LogConfig\":{", "\"LogConfig\":{\"MaximumRetryCount\":1,",
	  "/HostConfig/LogConfig/MaximumRetryCount" },
	/* What the image or the engine may choose. */
	{ "\"Hostname\":\"", "\"Hostname\":\"x", NULL },
	{ "\"AttachStdin\":true", "\"AttachStdin\":false", NULL },
	{ "\"AttachStdout\":true", "\"AttachStdout\":false", NULL },
	{ "\"AttachStderr\":true", "\"AttachStderr\":false", NULL },
	{ "\"StdinOnce\":true", "\"StdinOnce\":false", NULL },
	{ "\"OnBuild\":null", "\"OnBuild\":[\"RUN x\"]", NULL },
	{ "\"Domainname\":\"\"", "\"Domainname\":\"\",\"Shell\":[\"/bin/x\"]", NULL },
	{ "\"Domainname\":\"\"", "\"Domainname\":\"\",\"NetworkDisabled\":true", NULL },
	{ "\"Domainname\":\"\"", "\"Domainname\":\"\",\"ArgsEscaped\":true", NULL },
	{ "\"Domainname\":\"\"", "\"Domainname\":\"\",\"Later\":[],\"StopTimeout\":3", NULL },
	{ "\"ExposedPorts\":{\"80/tcp\":{}},", "", NULL },
	{ "\"StopSignal\":\"SIGINT\"", "\"StopSignal\":\"SIGKILL\"", NULL },

	/* Labels */
	{ "\"dev.cofferdam.state\":\"0123", "\"dev.cofferdam.state\":\"1123",
	  "/Config/Labels/dev.cofferdam.state" },
	{ "\"dev.cofferdam.run\":\"0011", "\"dev.cofferdam.run\":\"1011",
	  "/Config/Labels/dev.cofferdam.run" },
	{ "\"dev.cofferdam.mode\":\"", "\"dev.cofferdam.mode\":\"x",
	  "/Config/Labels/dev.cofferdam.mode" },
	{ "\"dev.cofferdam.session\":\"", "\"dev.cofferdam.session\":\"x",
	  "/Config/Labels/dev.cofferdam.session" },
	{ "\"dev.cofferdam.revision\":\"0\"", "\"dev.cofferdam.revision\":\"1\"",
	  "/Config/Labels/dev.cofferdam.revision" },
	{ "\"dev.cofferdam.revision\":\"0\"", "\"dev.cofferdam.revision\":0",
	  "/Config/Labels/dev.cofferdam.revision" },
	{ "\"dev.cofferdam.revision\":\"0\",", "", "/Config/Labels/dev.cofferdam.revision" },
	{ "\\\"mode\\\":\\\"rw\\\"", "\\\"mode\\\":\\\"ro\\\"",
	  "/Config/Labels/dev.cofferdam.roots" },
	{ "\"a=b\":\"c\",", "", "/Config/Labels" },
	{ "\"a=b\":\"c\",", "\"a=b\":\"c\",\"d\":\"\",", "/Config/Labels/d" },
	{ "\"a=b\":\"c\",", "\"a=b\":\"c\",\"d\":null,", "/Config/Labels/d" },
	{ "\"a=b\":\"c\",", "\"a=b\":\"c\",\"dev.cofferdam.more\":\"\",",
	  "/Config/Labels/dev.cofferdam.more" },

	/* HostConfig, limits: as written */
	{ "\"Memory\":536870912", "\"Memory\":0", "/HostConfig/Memory" },
	{ "\"Memory\":536870912", "\"Memory\":536870913", "/HostConfig/Memory" },
	{ "\"Memory\":536870912", "\"Memory\":536870912.0", "/HostConfig/Memory" },
	{ "\"Memory\":536870912", "\"Memory\":5368709120", "/HostConfig/Memory" },
	{ "\"Memory\":536870912", "\"Memory\":\"536870912\"", "/HostConfig/Memory" },
	{ "\"MemorySwap\":536870912", "\"MemorySwap\":-1", "/HostConfig/MemorySwap" },
	{ "\"MemorySwap\":536870912", "\"MemorySwap\":0", "/HostConfig/MemorySwap" },
	{ "\"MemorySwap\":536870912", "\"MemorySwap\":1073741824", "/HostConfig/MemorySwap" },
	{ "\"NanoCpus\":1000000000", "\"NanoCpus\":0", "/HostConfig/NanoCpus" },
	{ "\"NanoCpus\":1000000000", "\"NanoCpus\":1e9", "/HostConfig/NanoCpus" },
	{ "\"PidsLimit\":64", "\"PidsLimit\":0", "/HostConfig/PidsLimit" },
	{ "\"PidsLimit\":64", "\"PidsLimit\":-1", "/HostConfig/PidsLimit" },
	{ "\"PidsLimit\":64", "\"PidsLimit\":null", "/HostConfig/PidsLimit" },
	{ "\"ShmSize\":67108864", "\"ShmSize\":67108865", "/HostConfig/ShmSize" },
	{ "\"Hard\":256", "\"Hard\":257", "/HostConfig/Ulimits/1/Hard" },
	{ "\"Soft\":256", "\"Soft\":255", "/HostConfig/Ulimits/1/Soft" },
	{ "\"Hard\":1048576", "\"Hard\":-1", "/HostConfig/Ulimits/0/Hard" },
	{ "\"Soft\":1048576", "\"Soft\":1", "/HostConfig/Ulimits/0/Soft" },
	{ "\"Soft\":256", "\"Soft\":256,\"More\":1", "/HostConfig/Ulimits/1/More" },
	{ ",{\"Name\":\"nofile\",\"Hard\":256,\"Soft\":256}", "", "/HostConfig/Ulimits" },
	{ ",{\"Name\":\"nofile\",\"Hard\":256,\"Soft\":256}",
	  ",{\"Name\":\"nofile\",\"Hard\":256,\"Soft\":256},"
	  "{\"Name\":\"nofile\",\"Hard\":256,\"Soft\":256}",
	  "/HostConfig/Ulimits" },
	{ "\"Ulimits\":[", "\"Ulimits\":[{\"Name\":\"core\",\"Hard\":0,\"Soft\":0},",
	  "/HostConfig/Ulimits/0" },
	{ "\"Ulimits\":[", "\"Ulimits\":[7,", "/HostConfig/Ulimits/0" },
	{ "\"/tmp\":\"rw,", "\"/tmp\":\"", "/HostConfig/Tmpfs" },
	{ "noexec,", "", "/HostConfig/Tmpfs" },
	{ "size=67108864,", "size=67108865,", "/HostConfig/Tmpfs" },
	{ "\"Tmpfs\":{", "\"Tmpfs\":{\"/x\":\"\",", "/HostConfig/Tmpfs/~1x" },
	{ "\"Runtime\":\"runc\"", "\"Runtime\":\"runsc\"", NULL },
	{ "\"Runtime\":\"runc\"", "\"Runtime\":\"\"", "/HostConfig/Runtime" },
	{ "\"Runtime\":\"runc\"", "\"Runtime\":\"/tmp/x\"", "/HostConfig/Runtime" },
	{ "\"Runtime\":\"runc\"", "\"Runtime\":null", "/HostConfig/Runtime" },

	/* HostConfig.Mounts */
	{ "\"Type\":\"bind\",\"Source\":\"/srv/work\",\"Target\"",
	  "\"Type\":\"volume\",\"Source\":\"/srv/work\",\"Target\"", "/HostConfig/Mounts/1/Type" },
	{ "\"Source\":\"/srv/work\",\"Target\"", "\"Source\":\"/srv\",\"Target\"",
	  "/HostConfig/Mounts/1/Source" },
	{ "\"Target\":\"/broker\",\"ReadOnly\":true,", "\"Target\":\"/broker\",",
	  "/HostConfig/Mounts/0/ReadOnly" },
	{ "\"Target\":\"/broker\",\"ReadOnly\":true,",
	  "\"Target\":\"/broker\",\"ReadOnly\":false,", "/HostConfig/Mounts/0/ReadOnly" },
	{ "\"Target\":\"/workspace\",", "\"Target\":\"/workspace\",\"ReadOnly\":true,",
	  "/HostConfig/Mounts/1/ReadOnly" },
	{ "\"Target\":\"/workspace\",", "\"Target\":\"/workspace\",\"ReadOnly\":false,", NULL },
	{ "\"Target\":\"/workspace\",", "\"Target\":\"/workspace\",\"Consistency\":\"\",", NULL },
	{ "\"Target\":\"/workspace\",", "\"Target\":\"/workspace\",\"Consistency\":\"x\",",
	  "/HostConfig/Mounts/1/Consistency" },
	{ "\"Target\":\"/workspace\",\"BindOptions\":{\"Propagation\":\"rprivate\"}",
	  "\"Target\":\"/workspace\",\"BindOptions\":{\"Propagation\":\"shared\"}",
	  "/HostConfig/Mounts/1/BindOptions/Propagation" },
	{ "\"Target\":\"/workspace\",\"BindOptions\":{\"Propagation\":\"rprivate\"}",
	  "\"Target\":\"/workspace\"", "/HostConfig/Mounts/1/BindOptions" },
	{ "\"Target\":\"/workspace\",\"BindOptions\":{",
	  "\"Target\":\"/workspace\",\"BindOptions\":{\"CreateMountpoint\":true,",
	  "/HostConfig/Mounts/1/BindOptions/CreateMountpoint" },
	{ "\"ReadOnly\":true,\"BindOptions\":{",
	  "\"ReadOnly\":true,\"BindOptions\":{\"ReadOnlyNonRecursive\":true,", NULL },

	/* HostConfig, isolation */
	{ "\"NetworkMode\":\"none\"", "\"NetworkMode\":\"host\"", "/HostConfig/NetworkMode" },
	{ "\"NetworkMode\":\"none\"", "\"NetworkMode\":\"\"", "/HostConfig/NetworkMode" },
	{ "\"ReadonlyRootfs\":true", "\"ReadonlyRootfs\":false", "/HostConfig/ReadonlyRootfs" },
	{ "\"Privileged\":false", "\"Privileged\":true", "/HostConfig/Privileged" },
	{ "\"CapDrop\":[\"ALL\"]", "\"CapDrop\":null", "/HostConfig/CapDrop" },
	{ "\"CapDrop\":[\"ALL\"]", "\"CapDrop\":[\"CAP_CHOWN\"]", "/HostConfig/CapDrop" },
	{ "\"CapAdd\":null", "\"CapAdd\":[\"CAP_SYS_ADMIN\"]", "/HostConfig/CapAdd" },
	{ "\"CapAdd\":null", "\"CapAdd\":[]", NULL },
	{ "\"SecurityOpt\":[\"no-new-privileges:true\"]", "\"SecurityOpt\":null",
	  "/HostConfig/SecurityOpt" },
	{ "\"SecurityOpt\":[\"no-new-privileges:true\"]", "\"SecurityOpt\":[]",
	  "/HostConfig/SecurityOpt" },
	{ "\"SecurityOpt\":[\"no-new-privileges:true\"]",
	  "\"SecurityOpt\":[\"no-new-privileges:false\"]", "/HostConfig/SecurityOpt" },
	{ "\"SecurityOpt\":[\"no-new-privileges:true\"]",
	  "\"SecurityOpt\":[\"no-new-privileges:true\",\"seccomp=unconfined\"]",
	  "/HostConfig/SecurityOpt" },
	{ "\"SecurityOpt\":[\"no-new-privileges:true\"]",
	  "\"SecurityOpt\":[\"no-new-privileges:true\",\"label=disable\"]",
	  "/HostConfig/SecurityOpt" },
	{ "\"SecurityOpt\":[\"no-new-privileges:true\"]", "\"SecurityOpt\":[\"no-new-privileges\"]",
	  NULL },
	{ "\"/proc/kcore\",", "", "/HostConfig/MaskedPaths" },
	{ "\"/proc/keys\",", "", "/HostConfig/MaskedPaths" },
	{ "\"/proc/timer_list\",", "", "/HostConfig/MaskedPaths" },
	{ ",\"/sys/firmware\"", "", "/HostConfig/MaskedPaths" },
	{ "\"/proc/asound\",", "", NULL },
	{ "\"/proc/asound\",", "\"/proc/asound\",\"/proc/interrupts\",", NULL },
	{ "\"/proc/bus\",", "", "/HostConfig/ReadonlyPaths" },
	{ "\"/proc/irq\",", "", "/HostConfig/ReadonlyPaths" },
	{ "\"/proc/sys\",", "", "/HostConfig/ReadonlyPaths" },
	{ ",\"/proc/sysrq-trigger\"", "", "/HostConfig/ReadonlyPaths" },
	{ "\"/proc/fs\",", "", NULL },
	{ "\"IpcMode\":\"private\"", "\"IpcMode\":\"host\"", "/HostConfig/IpcMode" },
	{ "\"IpcMode\":\"private\"", "\"IpcMode\":\"shareable\"", "/HostConfig/IpcMode" },
	{ "\"CgroupnsMode\":\"private\"", "\"CgroupnsMode\":\"host\"", "/HostConfig/CgroupnsMode" },
	{ "\"PidMode\":\"\"", "\"PidMode\":\"host\"", "/HostConfig/PidMode" },
	{ "\"UTSMode\":\"\"", "\"UTSMode\":\"host\"", "/HostConfig/UTSMode" },
	{ "\"UsernsMode\":\"\"", "\"UsernsMode\":\"host\"", "/HostConfig/UsernsMode" },
	{ "\"OomKillDisable\":false", "\"OomKillDisable\":true", "/HostConfig/OomKillDisable" },
	{ "\"OomKillDisable\":false", "\"OomKillDisable\":null", NULL },
	{ "\"ConsoleSize\":[0,0]", "\"ConsoleSize\":[24,80]", "/HostConfig/ConsoleSize" },
	{ "\"ConsoleSize\":[0,0],", "", NULL },
	{ "\"Type\":\"none\",\"Config\":{}", "\"Type\":\"json-file\",\"Config\":{}",
	  "/HostConfig/LogConfig/Type" },
	{ "\"Type\":\"none\",\"Config\":{}", "\"Type\":\"none\",\"Config\":{\"max-size\":\"1m\"}",
	  "/HostConfig/LogConfig/Config" },
	{ "\"Type\":\"none\",\"Config\":{}", "\"Type\":\"none\",\"Config\":null", NULL },
	{ "\"Type\":\"none\",\"Config\":{}", "\"Type\":\"none\",\"Config\":{},\"More\":1",
	  "/HostConfig/LogConfig/More" },
	{ "\"Name\":\"no\",\"Max", "\"Name\":\"always\",\"Max", "/HostConfig/RestartPolicy/Name" },
	{ "\"Name\":\"no\",\"Max", "\"Name\":\"\",\"Max", NULL },
	{ "\"MaximumRetryCount\":0", "\"MaximumRetryCount\":3",
	  "/HostConfig/RestartPolicy/MaximumRetryCount" },

	{ "\"MaximumRetryCount\":0", "\"MaximumRetryCount\":0,\"More\":1",
	  "/HostConfig/RestartPolicy/More" },
	{ "\"MaximumRetryCount\":0", "\"MaximumRetryCount\":0,\"More\":\"\"", NULL },

	/* HostConfig, the rest: what each docker option would leave there */
	{ "\"Binds\":null", "\"Binds\":[]", NULL },
	{ "\"Binds\":null", "\"Binds\":[\"/:/x\"]", "/HostConfig/Binds" },
	{ "\"ContainerIDFile\":\"\"", "\"ContainerIDFile\":\"/x\"", "/HostConfig/ContainerIDFile" },
	{ "\"PortBindings\":{}", "\"PortBindings\":{\"80/tcp\":[]}", "/HostConfig/PortBindings" },
	{ "\"AutoRemove\":false", "\"AutoRemove\":true", "/HostConfig/AutoRemove" },
	{ "\"VolumeDriver\":\"\"", "\"VolumeDriver\":\"x\"", "/HostConfig/VolumeDriver" },
	{ "\"VolumesFrom\":null", "\"VolumesFrom\":[\"c\"]", "/HostConfig/VolumesFrom" },
	{ "\"Dns\":[]", "\"Dns\":[\"1.1.1.1\"]", "/HostConfig/Dns" },
	{ "\"DnsOptions\":[]", "\"DnsOptions\":[\"a\"]", "/HostConfig/DnsOptions" },
	{ "\"DnsSearch\":[]", "\"DnsSearch\":[\"x\"]", "/HostConfig/DnsSearch" },
	{ "\"ExtraHosts\":null", "\"ExtraHosts\":[\"a:1.2.3.4\"]", "/HostConfig/ExtraHosts" },
	{ "\"GroupAdd\":null", "\"GroupAdd\":[\"0\"]", "/HostConfig/GroupAdd" },
	{ "\"Cgroup\":\"\"", "\"Cgroup\":\"x\"", "/HostConfig/Cgroup" },
	{ "\"HostConfig\":{", "\"HostConfig\":{\"Sysctls\":{\"net.x\":\"1\"},",
	  "/HostConfig/Sysctls" },
	{ "\"HostConfig\":{", "\"HostConfig\":{\"StorageOpt\":{\"size\":\"1G\"},",
	  "/HostConfig/StorageOpt" },
	{ "\"HostConfig\":{", "\"HostConfig\":{\"Annotations\":{\"a\":\"b\"},",
	  "/HostConfig/Annotations" },
	{ "\"HostConfig\":{", "\"HostConfig\":{\"Annotations\":{},", NULL },
	{ "\"HostConfig\":{", "\"HostConfig\":{\"Later\":\"x\",", "/HostConfig/Later" },
	{ "\"HostConfig\":{", "\"HostConfig\":{\"Later\":true,", "/HostConfig/Later" },
	{ "\"HostConfig\":{", "\"HostConfig\":{\"Later\":-0,", "/HostConfig/Later" },
	{ "\"HostConfig\":{", "\"HostConfig\":{\"Later\":0.5,", "/HostConfig/Later" },
	{ "\"HostConfig\":{", "\"HostConfig\":{\"Later\":[[]],", "/HostConfig/Later" },
	{ "\"HostConfig\":{", "\"HostConfig\":{\"A\":null,\"B\":false,\"C\":0,\"D\":\"\",\"E\":[],"
	                      "\"F\":{},",
	  NULL },
	{ "\"HostConfig\":{", "\"HostConfig\":{\"a/b~c\":1,", "/HostConfig/a~1b~0c" },
	{ "\"Links\":null,\"Oom", "\"Links\":[\"/c:/d/a\"],\"Oom", "/HostConfig/Links" },
	{ "\"OomScoreAdj\":0", "\"OomScoreAdj\":-1000", "/HostConfig/OomScoreAdj" },
	{ "\"PublishAllPorts\":false", "\"PublishAllPorts\":true", "/HostConfig/PublishAllPorts" },
	{ "\"Isolation\":\"\"", "\"Isolation\":\"process\"", "/HostConfig/Isolation" },
	{ "\"CpuShares\":0", "\"CpuShares\":3", "/HostConfig/CpuShares" },
	{ "\"CgroupParent\":\"\"", "\"CgroupParent\":\"/x\"", "/HostConfig/CgroupParent" },
	{ "\"BlkioWeight\":0", "\"BlkioWeight\":10", "/HostConfig/BlkioWeight" },
	{ "\"BlkioWeightDevice\":[]", "\"BlkioWeightDevice\":[{}]", "/HostConfig/BlkioWeightDevice" },
	{ "\"CpuPeriod\":0", "\"CpuPeriod\":1000", "/HostConfig/CpuPeriod" },
	{ "\"CpuQuota\":0", "\"CpuQuota\":1000", "/HostConfig/CpuQuota" },
	{ "\"CpuRealtimePeriod\":0", "\"CpuRealtimePeriod\":1", "/HostConfig/CpuRealtimePeriod" },
	{ "\"CpuRealtimeRuntime\":0", "\"CpuRealtimeRuntime\":1", "/HostConfig/CpuRealtimeRuntime" },
	{ "\"CpusetCpus\":\"\"", "\"CpusetCpus\":\"0\"", "/HostConfig/CpusetCpus" },
	{ "\"CpusetMems\":\"\"", "\"CpusetMems\":\"0\"", "/HostConfig/CpusetMems" },
	{ "\"Devices\":[]", "\"Devices\":[{\"PathOnHost\":\"/dev/null\"}]", "/HostConfig/Devices" },
	{ "\"DeviceCgroupRules\":null", "\"DeviceCgroupRules\":[\"c 1:1 r\"]",
	  "/HostConfig/DeviceCgroupRules" },
	{ "\"DeviceRequests\":null", "\"DeviceRequests\":[{\"Count\":-1}]",
	  "/HostConfig/DeviceRequests" },
	{ "\"MemoryReservation\":0", "\"MemoryReservation\":6291456",
	  "/HostConfig/MemoryReservation" },
	{ "\"MemorySwappiness\":null", "\"MemorySwappiness\":3", "/HostConfig/MemorySwappiness" },
	{ "\"CpuCount\":0", "\"CpuCount\":1", "/HostConfig/CpuCount" },
	{ "\"IOMaximumIOps\":0", "\"IOMaximumIOps\":1", "/HostConfig/IOMaximumIOps" },
};

static void test_changes(void **state)
{
	(void)state;
	for (size_t i = 0; i < 2 * sizeof(changes) / sizeof(changes[0]); i++) {
		const struct change *c = &changes[i / 2];

		plan_for(i % 2 != 0);
		replace(i % 2 == 0 ? container_old : container_new, c->find, c->with);
		verify(document);
		if (c->pointer == NULL)
			expect_none(c->with);
		else
			expect_one(c->with, c->pointer);
	}
}

/* Changes that are two differences: a thing that was not asked for, in the
 * place of one that was. */
struct pair {
	const char *find;
	const char *with;
	const char *pointer[2];
};

static const struct pair pairs[] = {
	{ "\"A=b\",", "\"A=c\",", { "/Config/Env/1", "/Config/Env" } },
	{ "\"c\",\"dev.cofferdam.mode\"", "\"d\",\"dev.cofferdam.mode\"",
	  { "/Config/Labels/a=b", "/Config/Labels" } },
	{ "\"Name\":\"nofile\"", "\"Name\":\"core\"",
	  { "/HostConfig/Ulimits/1", "/HostConfig/Ulimits" } },
	{ "\"Tmpfs\":{\"/tmp\"", "\"Tmpfs\":{\"/run\"",
	  { "/HostConfig/Tmpfs/~1run", "/HostConfig/Tmpfs" } },
	{ "\"Destination\":\"/broker\"", "\"Destination\":\"/brokers\"",
	  { "/Mounts/0", "/Mounts" } },
	{ "\"Target\":\"/workspace\"", "\"Target\":\"/work\"",
	  { "/HostConfig/Mounts/1", "/HostConfig/Mounts" } },
	/* --privileged of an engine. */
	{ "\"MaskedPaths\":[\"/proc/asound\",\"/proc/acpi\",\"/proc/kcore\",\"/proc/keys\",",
	  "\"MaskedPaths\":[\"/proc/asound\",",
	  { "/HostConfig/MaskedPaths", "/HostConfig/MaskedPaths" } },
};

static void test_pairs(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		plan_for(true);
		replace(container_new, pairs[i].find, pairs[i].with);
		verify(document);
		if (report.count != 2)
			fail_msg("%s: %u findings", pairs[i].with, report.count);
		assert_string_equal(report.at[0].pointer, pairs[i].pointer[0]);
		assert_string_equal(report.at[1].pointer, pairs[i].pointer[1]);
	}
}

/* --- a named member that is missing is a difference --- */

static const struct change missing[] = {
	{ "\"Image\":\"sha256:415cd9a2d3ded6f6aef12263a59b15e18ebff8eda1c417b61b7dbe939b498db3\","
	  "\"Res",
	  "\"Was\":\"\",\"Res", "/Image" },
	{ "\"Name\":\"/cofferdam-1\"", "\"Was\":1", "/Name" },
	{ "\"Platform\":", "\"Was\":", "/Platform" },
	{ "\"Path\":", "\"Was\":", "/Path" },
	{ "\"Args\":", "\"Was\":", "/Args" },
	{ "\"Name\":\"overlay2\"},\"Mounts\":", "\"Name\":\"overlay2\"},\"Was\":", "/Mounts" },
	{ "\"Networks\":", "\"Was\":", "/NetworkSettings/Networks" },
	{ "\"NetworkSettings\":", "\"Was\":", "/NetworkSettings/Networks" },
	{ "\"User\":", "\"Was\":", "/Config/User" },
	{ "\"Tty\":", "\"Was\":", "/Config/Tty" },
	{ "\"OpenStdin\":", "\"Was\":", "/Config/OpenStdin" },
	{ "\"Env\":", "\"Was\":", "/Config/Env" },
	{ "\"Cmd\":", "\"Was\":", "/Config/Cmd" },
	{ "\"Image\":\"sha256:415cd9a2d3ded6f6aef12263a59b15e18ebff8eda1c417b61b7dbe939b498db3\","
	  "\"Vol",
	  "\"Vol", "/Config/Image" },
	{ "\"WorkingDir\":", "\"Was\":", "/Config/WorkingDir" },
	{ "\"Entrypoint\":", "\"Was\":", "/Config/Entrypoint" },
	{ "\"Labels\":", "\"Was\":", "/Config/Labels" },
	{ "\"Healthcheck\":", "\"Was\":", "/Config/Healthcheck/Test" },
	{ "\"Test\":", "\"Was\":", "/Config/Healthcheck/Test" },
	{ "\"Memory\":", "\"Was\":", "/HostConfig/Memory" },
	{ "\"MemorySwap\":", "\"Was\":", "/HostConfig/MemorySwap" },
	{ "\"NanoCpus\":", "\"Was\":", "/HostConfig/NanoCpus" },
	{ "\"PidsLimit\":", "\"Was\":", "/HostConfig/PidsLimit" },
	{ "\"ShmSize\":", "\"Was\":", "/HostConfig/ShmSize" },
	{ "\"Init\":", "\"Was\":", "/HostConfig/Init" },
	{ "\"Ulimits\":", "\"Was\":", "/HostConfig/Ulimits" },
	{ "\"Tmpfs\":", "\"Was\":", "/HostConfig/Tmpfs" },
	{ "\"IOMaximumBandwidth\":0,\"Mounts\":", "\"Was\":", "/HostConfig/Mounts" },
	{ "\"Runtime\":", "\"Was\":", "/HostConfig/Runtime" },
	{ "\"MaskedPaths\":", "\"Was\":", "/HostConfig/MaskedPaths" },
	{ "\"ReadonlyPaths\":", "\"Was\":", "/HostConfig/ReadonlyPaths" },
	{ "\"NetworkMode\":", "\"Was\":", "/HostConfig/NetworkMode" },
	{ "\"ReadonlyRootfs\":", "\"Was\":", "/HostConfig/ReadonlyRootfs" },
	{ "\"Privileged\":", "\"Was\":", "/HostConfig/Privileged" },
	{ "\"CapDrop\":", "\"Was\":", "/HostConfig/CapDrop" },
	{ "\"CapAdd\":", "\"Was\":", "/HostConfig/CapAdd" },
	{ "\"SecurityOpt\":", "\"Was\":", "/HostConfig/SecurityOpt" },
	{ "\"IpcMode\":", "\"Was\":", "/HostConfig/IpcMode" },
	{ "\"CgroupnsMode\":", "\"Was\":", "/HostConfig/CgroupnsMode" },
	{ "\"PidMode\":", "\"Was\":", "/HostConfig/PidMode" },
	{ "\"UTSMode\":", "\"Was\":", "/HostConfig/UTSMode" },
	{ "\"UsernsMode\":", "\"Was\":", "/HostConfig/UsernsMode" },
	{ "\"OomKillDisable\":", "\"Was\":", "/HostConfig/OomKillDisable" },
	{ "\"LogConfig\":", "\"Was\":", "/HostConfig/LogConfig/Type" },
	{ "\"Type\":\"none\"", "\"Was\":0", "/HostConfig/LogConfig/Type" },
	{ "\"RestartPolicy\":", "\"Was\":", "/HostConfig/RestartPolicy/Name" },
	{ "\"MaximumRetryCount\":0", "\"Was\":0", "/HostConfig/RestartPolicy/MaximumRetryCount" },
	{ "\"HostConfig\":", "\"Was\":", "/HostConfig/Memory" },
	{ "\"HostConfig\":{", "\"HostConfig\":[],\"Was\":{", "/HostConfig/Memory" },
	{ "\"Config\":{\"Host", "\"Was\":{\"Host", "/Config/User" },
};

static void test_missing(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(missing) / sizeof(missing[0]); i++) {
		bool found = false;

		plan_for(false);
		replace(container_old, missing[i].find, missing[i].with);
		verify(document);
		for (uint32_t k = 0; k < report.count; k++) {
			assert_int_equal(report.at[k].reason, REASON_VERIFY_DIFFERS);
			found = found ||
			        strcmp(report.at[k].pointer, missing[i].pointer) == 0;
		}
		if (!found)
			fail_msg("%s is not missed", missing[i].pointer);
	}
}

/* --- the plan's side --- */

static void test_plan(void **state)
{
	static const char *const OWN[] = {
		"dev.cofferdam.state=fake",   "dev.cofferdam.run=fake",
		"dev.cofferdam.mode=fake",    "dev.cofferdam.session=fake",
		"dev.cofferdam.revision=7",   "dev.cofferdam.roots=[]",
	};

	(void)state;
	/* Each value of the plan, changed, no longer matches. */
	plan_for(true);
	plan.init = false;
	verify(container_new);
	expect_one("init", "/HostConfig/Init");
	plan_for(true);
	plan.runtime = "runsc";
	verify(container_new);
	expect_one("runtime", "/HostConfig/Runtime");
	plan.runtime = "runc";
	verify(container_new);
	expect_none("runtime");
	plan_for(true);
	plan.limits.file_bytes = 0;
	verify(container_new);
	expect_one("no fsize asked", "/HostConfig/Ulimits/0");
	plan_for(true);
	plan.root_count = 1;
	verify(container_new);
	assert_int_equal(report.count, 2);
	assert_string_equal(report.at[0].pointer, "/Mounts/1");
	assert_string_equal(report.at[1].pointer, "/HostConfig/Mounts/1");
	plan_for(true);
	plan.runtime = "no name"; /* that a config may ask for: it is compared all the same */
	replace(container_new, "\"Runtime\":\"runc\"", "\"Runtime\":\"no name\"");
	verify(document);
	expect_none("odd runtime");
	plan_for(true);
	plan.image_labels.count = 3;
	for (size_t i = 0; i < sizeof(OWN) / sizeof(OWN[0]); i++) {
		plan.image_labels.at[2] = OWN[i];
		verify(container_new);
		expect_none("a label of ours in the image");
	}
	plan.image_labels.at[2] = "dev.cofferdam.runs=fake";
	verify(container_new);
	expect_one("a label that the container lacks", "/Config/Labels");
	plan_for(true);
	plan.revision = 9007199254740991;
	verify(container_new);
	expect_one("revision", "/Config/Labels/dev.cofferdam.revision");
	plan_for(true);
	plan.nonce[15] = 0xee;
	verify(container_new);
	expect_one("nonce", "/Config/Labels/dev.cofferdam.run");
	assert_string_equal(report.at[0].detail, "asked 00112233445566778899aabbccddeeee, docker "
	                                         "says \"00112233445566778899aabbccddeeff\"");
	/* The greatest figures are whole. */
	plan_for(true);
	plan.revision = UINT64_MAX;
	plan.limits.tmpfs_bytes = UINT64_MAX;
	verify(container_new);
	assert_int_equal(report.count, 2);
	assert_string_equal(report.at[0].detail,
	                    "asked 18446744073709551615, docker says \"0\"");
	assert_string_equal(report.at[1].detail,
	                    "asked rw,noexec,nosuid,nodev,size=18446744073709551615,mode=1777, docker "
	                    "says {\"/tmp\":\"rw,noexec,nosuid,nodev,size=67108864,mode=1777\"}");
}

/* An entrypoint alone: docker says Cmd null and Args []. */
static void test_no_command(void **state)
{
	static char step[sizeof(document)];

	(void)state;
	plan_for(false);
	replace(container_old, "\"Args\":[\"-c\",\"id; cat\"]", "\"Args\":[]");
	memcpy(step, document, sizeof(step));
	replace(step, "\"Cmd\":[\"-c\",\"id; cat\"]", "\"Cmd\":null");
	plan.command.count = 0;
	verify(document);
	expect_none("null");
	replace(step, "\"Cmd\":[\"-c\",\"id; cat\"],", "");
	verify(document);
	expect_none("missing");
	plan.command.count = 1;
	verify(document);
	assert_int_equal(report.count, 2);
	assert_string_equal(report.at[0].pointer, "/Args");
	assert_string_equal(report.at[1].pointer, "/Config/Cmd");
	plan.command.count = 0;
	verify(container_old);
	assert_int_equal(report.count, 2);
	assert_string_equal(report.at[0].pointer, "/Args");
	assert_string_equal(report.at[1].pointer, "/Config/Cmd");
}

static void test_not_an_object(void **state)
{
	static const char *const texts[] = { "[]", "null", "7", "\"\"", "[{}]" };

	(void)state;
	plan_for(false);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		verify(texts[i]);
		assert_int_equal(report.count, 1);
		assert_int_equal(report.at[0].reason, REASON_VERIFY_ANSWER);
		assert_int_equal(report.at[0].status, 69);
	}
	verify("{}");
	assert_true(report.count > 40);
}

/* --- what a finding says --- */

static void test_detail(void **state)
{
	static char value[2048];
	struct text text;

	(void)state;
	plan_for(false);
	replace(container_old, "\"User\":\"1000:1000\"", "\"User\":\"r\\u00f6\xc3\xb6t\"");
	verify(document);
	expect_one("user", "/Config/User");
	assert_string_equal(report.at[0].detail,
	                    "asked 1000:1000, docker says \"r\\\\u00f6\\xc3\\xb6t\"");
	replace(container_old, "\"PidsLimit\":64,", "");
	verify(document);
	assert_string_equal(report.at[0].detail, "asked 64, docker says nothing");
	replace(container_old, "\"Args\":[\"-c\"", "\"Args\":[\"-x\"");
	verify(document);
	assert_string_equal(report.at[0].detail,
	                    "asked [\"-c\",\"id; cat\"], docker says [\"-x\",\"id; cat\"]");
	text_init(&text, value, sizeof(value) - 1);
	text_string(&text, "\"User\":\"");
	for (unsigned i = 0; i < 1024; i++)
		text_string(&text, "x");
	text_string(&text, "\"");
	value[text.len] = '\0';
	replace(container_old, "\"User\":\"1000:1000\"", value);
	verify(document);
	expect_one("long", "/Config/User");
	assert_in_range(strlen(report.at[0].detail), 300, 400);
	assert_non_null(strstr(report.at[0].detail, "xxx..."));
}

/* What was asked for where the name of a member does not say it. */
static const struct {
	const char *find;
	const char *with;
	const char *asked;
} says[] = {
	{ "\"PidMode\":\"\"", "\"PidMode\":\"host\"", "asked \"\", docker says \"host\"" },
	{ "\"UTSMode\":\"\"", "\"UTSMode\":\"host\"", "asked \"\", docker says \"host\"" },
	{ "\"UsernsMode\":\"\"", "\"UsernsMode\":\"host\"", "asked \"\", docker says \"host\"" },
	{ "\"HostConfig\":{", "\"HostConfig\":{\"Later\":1,", "asked nothing, docker says 1" },
	{ "\"A=b\",", "\"A=b\",\"A=b\",", "asked each one once, docker says [\"HOME=" },
	{ "\"Env\":[", "\"Env\":7,\"Was\":[", "asked an array, docker says 7" },
	{ "\"Labels\":{", "\"Labels\":7,\"Was\":{", "asked an object, docker says 7" },
	{ "\"Ulimits\":[", "\"Ulimits\":7,\"Was\":[", "asked an array, docker says 7" },
	{ "\"Tmpfs\":{", "\"Tmpfs\":7,\"Was\":{", "asked an object, docker says 7" },
	{ "\"Runtime\":\"runc\"", "\"Runtime\":7",
	  "asked the name of a runtime, docker says 7" },
	{ "\"Networks\":{", "\"Networks\":7,\"Was\":{", "asked none, docker says 7" },
	{ "\"AppArmorProfile\":\"\"", "\"AppArmorProfile\":7",
	  "asked a profile that confines, docker says 7" },
	{ "\"Target\":\"/workspace\",\"BindOptions\":{\"Propagation\":\"rprivate\"}",
	  "\"Target\":\"/workspace\",\"BindOptions\":7", "asked rprivate, docker says 7" },
	{ "\"Name\":\"overlay2\"},\"Mounts\":[", "\"Name\":\"overlay2\"},\"Mounts\":7,\"Was\":[",
	  "asked an array, docker says 7" },
};

static void test_says(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(says) / sizeof(says[0]); i++) {
		plan_for(false);
		replace(container_old, says[i].find, says[i].with);
		verify(document);
		if (report.count == 0 ||
		    strncmp(report.at[0].detail, says[i].asked, strlen(says[i].asked)) != 0)
			fail_msg("%s: %u findings: %s", says[i].with, report.count,
			         report.at[0].detail);
	}
}

/* Names where a list of them must be. */
static void test_not_a_list(void **state)
{
	(void)state;
	plan_for(false);
	replace(container_old, "\"ReadonlyPaths\":[",
	        "\"ReadonlyPaths\":{\"/proc/bus\":1,\"/proc/irq\":1,\"/proc/sys\":1,"
	        "\"/proc/sysrq-trigger\":1},\"Was\":[");
	verify(document);
	assert_int_equal(report.count, 4 + 1); /* "Was" is not known */
	for (uint32_t i = 0; i < 4; i++)
		assert_string_equal(report.at[i].pointer, "/HostConfig/ReadonlyPaths");
}

/* A list that is too long because of what was found in it is not said to be too
 * long as well, whether there was room for the findings or not. */
static void test_full_report(void **state)
{
	const struct json_limits limits = { .bytes = ANSWER_MAX, .values = 65536 };
	struct json_error error;
	struct json doc;

	(void)state;
	plan_for(false);
	replace(container_old, "\"A=b\",", "\"A=b\",\"C=d\",\"E=f\",");
	assert_true(json_parse(&doc, document, strlen(document), &limits, &error));
	for (unsigned before = REPORT_MAX - 3; before <= REPORT_MAX + 1; before++) {
		report_init(&report, CODE_UNAVAILABLE, 69);
		for (unsigned i = 0; i < before; i++)
			report_add(&report, REASON_VERIFY_DIFFERS, "/before");
		verify_container(&doc, &plan, &report);
		assert_int_equal(report.count + report.dropped, before + 2);
	}
	json_drop(&doc);
}

/* Of either side at most 300 bytes, and the mark of a cut. */
static void test_shown(void **state)
{
	static const struct {
		const char *piece;
		const char *shown;
		unsigned most; /* of the pieces, beside a quote */
	} PIECES[] = {
		{"x", "x", 296}, {"\xc3\xa9", "\\xc3\\xa9", 37},
	};
	char value[512], with[1024], expected[1024];

	(void)state;
	for (size_t i = 0; i < sizeof(PIECES) / sizeof(PIECES[0]); i++) {
		for (unsigned count = PIECES[i].most - 1; count <= PIECES[i].most + 1; count++) {
			struct text text;

			text_init(&text, value, sizeof(value) - 1);
			for (unsigned k = 0; k < count; k++)
				text_string(&text, PIECES[i].piece);
			value[text.len] = '\0';
			(void)snprintf(with, sizeof(with), "\"User\":\"%s\"", value);
			text_init(&text, expected, sizeof(expected) - 1);
			text_string(&text, "asked 1000:1000, docker says \"");
			for (unsigned k = 0; k < count && k < PIECES[i].most; k++)
				text_string(&text, PIECES[i].shown);
			text_string(&text, count < PIECES[i].most ? "\"" : "...");
			expected[text.len] = '\0';
			plan_for(false);
			replace(container_old, "\"User\":\"1000:1000\"", with);
			verify(document);
			expect_one("shown", "/Config/User");
			assert_string_equal(report.at[0].detail, expected);
		}
	}
}

/* More than a plan can ask for: an empty text is never what it came to. */
static void test_too_long(void **state)
{
	struct text text;

	(void)state;
	text_init(&text, longer, sizeof(longer) - 1);
	text_string(&text, "\"WorkingDir\":\"");
	for (unsigned i = 0; i <= FRAME_MAX; i++)
		text_string(&text, "x");
	text_string(&text, "\"");
	assert_false(text.full);
	longer[text.len] = '\0';
	plan_for(false);
	plan.workdir = "";
	replace(container_old, "\"WorkingDir\":\"/workspace\"", longer);
	verify(document);
	expect_one("docker's", "/Config/WorkingDir");
	plan_for(false);
	plan.workdir = longer;
	replace(container_old, "\"WorkingDir\":\"/workspace\"", "\"WorkingDir\":\"\"");
	verify(document);
	expect_one("the plan's", "/Config/WorkingDir");
	/* As long as one may be, and one byte more, the same on either side. */
	for (size_t len = FRAME_MAX - 1; len <= FRAME_MAX; len++) {
		text_init(&text, longer, sizeof(longer) - 1);
		text_string(&text, "\"WorkingDir\":\"");
		for (size_t i = 0; i < len; i++)
			text_string(&text, "x");
		text_string(&text, "\"");
		longer[text.len] = '\0';
		replace(container_old, "\"WorkingDir\":\"/workspace\"", longer);
		longer[text.len - 1] = '\0';
		plan.workdir = longer + strlen("\"WorkingDir\":\"");
		verify(document);
		if (len < FRAME_MAX)
			expect_none("the longest");
		else
			expect_one("longer", "/Config/WorkingDir");
	}
}

/* A runtime of a name that no config could give. */
static void test_runtime_long(void **state)
{
	char with[256];
	struct text text;

	(void)state;
	for (unsigned len = 127; len <= 129; len++) {
		text_init(&text, with, sizeof(with) - 1);
		text_string(&text, "\"Runtime\":\"");
		for (unsigned i = 0; i < len; i++)
			text_string(&text, "r");
		text_string(&text, "\"");
		with[text.len] = '\0';
		plan_for(false);
		replace(container_old, "\"Runtime\":\"runc\"", with);
		verify(document);
		expect_one("long", "/HostConfig/Runtime");
	}
}

/* Words are shown as far as they fit, and the cut is seen. */
static void test_words_long(void **state)
{
	char word[1024];

	(void)state;
	memset(word, 'w', sizeof(word) - 1);
	word[sizeof(word) - 1] = '\0';
	plan_for(false);
	plan.command.at[1] = word;
	replace(container_old, "\"Args\":[\"-c\",\"id; cat\"]", "\"Args\":[]");
	verify(document);
	assert_int_equal(report.count, 2);
	assert_string_equal(report.at[0].pointer, "/Args");
	assert_string_equal(report.at[0].detail, "asked [\"-c\",..., docker says []");
	assert_string_equal(report.at[1].pointer, "/Config/Cmd");
	/* A word that ends 596 bytes of JSON is kept to be shown, at 597 no longer. */
	for (size_t len = 596; len <= 597; len++) {
		word[len - strlen("[\"-c\",\"\"")] = '\0';
		verify(document);
		assert_int_equal(strncmp(report.at[0].detail, "asked [\"-c\",...", 15) == 0,
		                 len == 597);
		memset(word, 'w', sizeof(word) - 1);
	}
}

/* The greatest figure of a limit is whole. */
static void test_figures(void **state)
{
	const struct json nothing = { .text = NULL };
	const struct want want = { .doc = &nothing, .plan = &plan, .report = &report };

	(void)state;
	report_init(&report, CODE_UNAVAILABLE, 69);
	want_number(&want, JSON_NONE, "k", UINT64_MAX);
	expect_one("figure", "");
	assert_string_equal(report.at[0].detail,
	                    "asked 18446744073709551615, docker says nothing");
}

/* A member of nothing, without a path, has no pointer. */
static void test_no_path(void **state)
{
	const struct want want = { .plan = &plan, .report = &report };
	const struct member member = { .object = JSON_NONE, .key = "k", .value = JSON_NONE };

	(void)state;
	report_init(&report, CODE_UNAVAILABLE, 69);
	want_differs(&want, &member, "x");
	expect_one("no path", "");
	assert_string_equal(report.at[0].detail, "asked x, docker says nothing");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_as_asked),      cmocka_unit_test(test_changes),
		cmocka_unit_test(test_pairs),         cmocka_unit_test(test_missing),
		cmocka_unit_test(test_plan),          cmocka_unit_test(test_no_command),
		cmocka_unit_test(test_not_an_object), cmocka_unit_test(test_detail),
		cmocka_unit_test(test_too_long),      cmocka_unit_test(test_runtime_long),
		cmocka_unit_test(test_words_long),    cmocka_unit_test(test_no_path),
		cmocka_unit_test(test_says),          cmocka_unit_test(test_not_a_list),
		cmocka_unit_test(test_full_report),   cmocka_unit_test(test_shown),
		cmocka_unit_test(test_figures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

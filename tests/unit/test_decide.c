/* SPDX-License-Identifier: ISC */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "../../policy/decide.h"
#include "../../policy/resolve.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define HEX64 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define ID "sha256:" HEX64
#define OTHER_ID "sha256:1123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define ZEROS "00000000000000000000000000000000"

/* One scratch tree for all tests: directories broker, work, grant, home,
 * secret; a file bundle; sockets s/docker.sock and work/inner.sock; links. */
static char scratch[64];

#define NAMES_MAX 64
static char names[NAMES_MAX][PATH_BYTES_MAX + 1];
static unsigned name_count;

/* A path made of two parts, kept for the length of one test. */
static const char *with(const char *head, const char *tail)
{
	char *to = names[name_count++ % NAMES_MAX];
	size_t len = strlen(head);

	assert_true(len + strlen(tail) < sizeof(names[0]));
	memmove(to, head, len);
	memmove(to + len, tail, strlen(tail) + 1);
	return to;
}

static const char *in(const char *name)
{
	return with(scratch, with("/", name));
}

static void make_socket(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	assert_true(fd >= 0);
	assert_true(strlen(path) < sizeof(address.sun_path));
	memcpy(address.sun_path, path, strlen(path) + 1);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(chmod(path, 0660), 0);
	assert_int_equal(close(fd), 0);
}

static void make_file(const char *path)
{
	int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(close(fd), 0);
}

static int make_tree(void **state)
{
	static const char *const directories[] = {
		"broker",    "work",     "work/deep",    "grant",  "home",
		"home/.ssh", "home/var", "home/var/run", "secret", "s",
	};
	int mountinfo = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);

	(void)state;
	assert_true(mountinfo >= 0 && resolve_mountinfo(mountinfo));
	assert_int_equal(close(mountinfo), 0);
	(void)umask(022);
	memcpy(scratch, "/tmp/test_decide.XXXXXX", sizeof("/tmp/test_decide.XXXXXX"));
	assert_non_null(mkdtemp(scratch));
	for (size_t i = 0; i < COUNT(directories); i++)
		assert_int_equal(mkdir(in(directories[i]), 0755), 0);
	make_file(in("bundle"));
	make_file(in("secret/state"));
	make_socket(in("s/docker.sock"));
	make_socket(in("work/inner.sock"));
	assert_int_equal(symlink(in("s/docker.sock"), in("link.sock")), 0);
	assert_int_equal(symlink(in("work"), in("work-link")), 0);
	assert_int_equal(symlink(in("loop"), in("loop")), 0);
	return 0;
}

static int remove_tree(void **state)
{
	static const char *const files[] = {"bundle",         "secret/state", "s/docker.sock",
		                            "work/inner.sock", "link.sock",    "work-link",
		                            "loop"};
	static const char *const directories[] = {"work/deep", "work", "broker", "grant",
		                                  "home/.ssh", "home/var/run", "home/var",
		                                  "home",      "secret",       "s"};

	(void)state;
	for (size_t i = 0; i < COUNT(files); i++)
		assert_int_equal(unlink(in(files[i])), 0);
	for (size_t i = 0; i < COUNT(directories); i++)
		assert_int_equal(rmdir(in(directories[i])), 0);
	return rmdir(scratch);
}

/* The decision under test, and what it is made from. */
static struct config config;
static struct facts facts;
static struct image image; /* what docker says */
static struct decide_asker asker;
static struct decide_options options;
static struct decision out;
static struct report report;
static char arena_bytes[1048576];
static size_t arena_cap;
static struct text arena;
static const char *context_endpoint; /* docker's context; NULL: refused */
static bool image_refused;
static unsigned context_asked, image_asked;
static char image_endpoint[256];

static const char *give_endpoint(void *context, struct text *keep, struct report *to)
{
	(void)context;
	(void)keep;
	context_asked++;
	if (context_endpoint == NULL)
		report_add(to, REASON_CONTEXT_ANSWER, "");
	return context_endpoint;
}

static bool give_image(void *context, const char *endpoint, const char *reference,
                       struct text *keep, struct image *to, struct report *found)
{
	(void)context;
	(void)keep;
	image_asked++;
	assert_int_equal(context_asked <= 1, true);
	assert_string_equal(reference, "worker:1");
	(void)snprintf(image_endpoint, sizeof(image_endpoint), "%s", endpoint);
	if (image_refused) {
		report_add(found, REASON_IMAGE_ABSENT, "");
		return false;
	}
	*to = image;
	return true;
}

/* A turn that is allowed. */
static void good(void)
{
	memset(&config, 0, sizeof(config));
	memset(&facts, 0, sizeof(facts));
	memset(&image, 0, sizeof(image));
	memset(&asker, 0, sizeof(asker));
	memset(&options, 0, sizeof(options));
	config.mode = MODE_TURN;
	config.image = "worker:1";
	config.session_key = "";
	config.user_given = true;
	config.uid = 1501;
	config.gid = 1502;
	config.mount_count = 2;
	config.mount[0] = (struct config_mount){ in("broker"), "/broker", true };
	config.mount[1] = (struct config_mount){ in("work"), "/workspace", false };
	config.limits = (struct limits){ .memory_bytes = MEMORY_BYTES_MIN,
		                         .nano_cpus = NANO_CPUS_MIN, .pids = 64, .nofile = 256 };
	config.docker_host = with("unix://", in("s/docker.sock"));
	facts.mode = MODE_TURN;
	facts.uid = getuid() != 0 ? getuid() : 1000;
	facts.gid = 1000;
	facts.home = in("home");
	facts.state_dir = in("state");
	facts.state_id = ZEROS;
	facts.executor = in("bin/cofferdam");
	facts.policy = in("bin/cofferdam-policy");
	facts.docker = "/usr/bin/docker";
	facts.config = in("config.json");
	image.id = ID;
	image.workdir = "/";
	image.entrypoint.count = 1;
	image.entrypoint.at[0] = "/agent";
	asker.endpoint = give_endpoint;
	asker.image = give_image;
	context_endpoint = NULL;
	image_refused = false;
	arena_cap = sizeof(arena_bytes);
}

/* Decides with what the report has already. */
static void run_on(void)
{
	context_asked = 0;
	image_asked = 0;
	text_init(&arena, arena_bytes, arena_cap);
	decide(&config, &facts, &options, &asker, &arena, &out, &report);
}

static void run(void)
{
	report_init(&report, CODE_CONFIG, 78);
	run_on();
}

static void assert_allowed(void)
{
	run();
	if (!report_empty(&report))
		print_error("%s at \"%s\": %s\n", reason_name(report.at[0].reason),
		            report.at[0].pointer, report.at[0].detail);
	assert_true(report_empty(&report));
	assert_true(out.launch.argv.count > 0);
}

/* --- one fault, one finding --- */

static void mode_differs(void)
{
	facts.mode = MODE_SESSION;
}
static void mode_of_config_differs(void)
{
	config.mode = MODE_SESSION;
}
static void caller_is_root(void)
{
	config.user_given = false;
	facts.uid = 0;
}
static void caller_in_roots_group(void)
{
	config.user_given = false;
	facts.gid = 0;
}
static void caller_out_of_range(void)
{
	config.user_given = false;
	facts.gid = ID_MAX + 1U;
}
static void given_out_of_range(void)
{
	config.uid = ID_MAX + 1U;
}
static void given_entrypoint_with_control(void)
{
	config.entrypoint = "/a\nb";
}
static void given_word_with_delete(void)
{
	config.command_given = true;
	config.command.count = 1;
	config.command.at[0] = "a\177";
}
static void given_root(void)
{
	config.uid = 0;
}
static void endpoint_is_tcp(void)
{
	config.docker_host = "tcp://127.0.0.1:2375";
}
static void environment_is_tcp(void)
{
	config.docker_host = NULL;
	facts.docker_host = "tcp://127.0.0.1:2375";
}
static void endpoint_with_dots(void)
{
	config.docker_host = with("unix://", in("s/../s/docker.sock"));
}
static void no_socket(void)
{
	config.docker_host = with("unix://", in("s/none.sock"));
}
static void directory_for_socket(void)
{
	config.docker_host = with("unix://", in("s"));
}
static void context_refused(void)
{
	config.docker_host = NULL;
}
static void socket_in_mount(void)
{
	config.docker_host = with("unix://", in("work/inner.sock"));
}
static void mount_missing(void)
{
	config.mount[1].host = in("none");
}
static void mount_is_file(void)
{
	config.mount[1].host = in("bundle");
}
static void mount_twice(void)
{
	config.mount[1].host = in("broker");
}
static void mount_by_link(void)
{
	config.mount[0].host = in("work-link/deep");
}
static void mount_is_system(void)
{
	config.mount[0].host = "/etc/skel";
}
static void bundle_is_directory(void)
{
	config.bundle_given = true;
	config.bundle_host = in("grant");
	config.bundle_guest = "/app/a.js";
}
static void private_inside(void)
{
	config.private_count = 2;
	config.private_path[0] = in("secret");
	config.private_path[1] = in("work/not-there-yet");
}
static void private_around(void)
{
	config.mount[1].host = in("work/deep");
	config.private_count = 1;
	config.private_path[0] = in("work");
}
static void private_unknown(void)
{
	config.private_count = 2;
	config.private_path[0] = in("secret");
	config.private_path[1] = in("loop");
}
static void state_file_inside(void)
{
	config.state_file = in("work/state.json");
}
static void state_file_unknown(void)
{
	config.state_file = in("loop/x");
}
static void agent_inside(void)
{
	facts.ssh_auth_sock = in("work/agent");
}
static void config_inside(void)
{
	facts.config = in("work/config.json");
}
static void audit_inside(void)
{
	facts.audit = in("work/audit");
}
static void worker_log_inside(void)
{
	facts.worker_err = in("work/log");
}
static void executor_inside(void)
{
	facts.executor = in("work/cofferdam");
}
static void policy_inside(void)
{
	facts.policy = in("work/cofferdam-policy");
}
static void docker_inside(void)
{
	facts.docker = in("work/docker");
}
static void state_dir_around(void)
{
	facts.state_dir = in("work");
	config.mount[1].host = in("work/deep");
}
static void secrets_inside(void)
{
	config.mount[1].host = in("home/.ssh");
}
static void image_absent(void)
{
	image_refused = true;
}
static void image_not_pinned_one(void)
{
	config.image_id = OTHER_ID;
}
static void nothing_to_run(void)
{
	image.entrypoint.count = 0;
}
static void entrypoint_is_option(void)
{
	image.entrypoint.at[0] = "--help";
}
static void entrypoint_is_empty(void)
{
	image.entrypoint.at[0] = "";
}
static void entrypoint_with_control(void)
{
	image.entrypoint.at[0] = "/a\n";
}
static void entrypoint_not_utf8(void)
{
	image.entrypoint.at[0] = "/a\xff";
}
static void word_with_control(void)
{
	image.command.count = 1;
	image.command.at[0] = "a\x1b[0m";
}
static void word_with_delete(void)
{
	image.entrypoint.count = 2;
	image.entrypoint.at[1] = "a\x7f";
}
static void workdir_relative(void)
{
	image.workdir = "work";
}
static void workdir_with_dots(void)
{
	image.workdir = "/work/..";
}
static void workdir_in_proc(void)
{
	image.workdir = "/proc/self/fd/7";
}
static void workdir_is_sys(void)
{
	image.workdir = "/sys";
}
static void workdir_in_dev(void)
{
	config.workdir = "/dev/shm";
}
static void workdir_with_control(void)
{
	image.workdir = "/a\tb";
}
static void name_upper_case(void)
{
	facts.name = "Upper";
}
static void name_empty(void)
{
	facts.name = "";
}
/* A path of so many bytes, at most one more than any may have. */
static const char *long_path(size_t len)
{
	static char path[PATH_BYTES_MAX + 2];

	memset(path, 'a', sizeof(path) - 1);
	path[0] = '/';
	path[len] = '\0';
	return path;
}
static const char *too_long(void)
{
	return long_path(PATH_BYTES_MAX + 1);
}
static void private_too_long(void)
{
	config.private_count = 1;
	config.private_path[0] = too_long();
}
static void agent_too_long(void)
{
	facts.ssh_auth_sock = too_long();
}
static void workdir_too_long(void)
{
	image.workdir = too_long();
}
static void too_many_words(void)
{
	image.entrypoint.count = WORDS_MAX;
	for (unsigned i = 0; i < WORDS_MAX; i++)
		image.entrypoint.at[i] = "/w";
	image.command.count = 2;
	image.command.at[0] = "a";
	image.command.at[1] = "b";
}

struct fault {
	const char *name;
	void (*make)(void);
	enum reason reason;
	const char *pointer;
};

static const struct fault FAULTS[] = {
	{"mode", mode_differs, REASON_CONFIG_MODE, "/mode"},
	{"config's mode", mode_of_config_differs, REASON_CONFIG_MODE, "/mode"},
	{"long private path", private_too_long, REASON_PRIVATE_EXAMINE, "/privatePaths/0"},
	{"long agent's path", agent_too_long, REASON_PRIVATE_EXAMINE, ""},
	{"long workdir", workdir_too_long, REASON_WORKDIR_PATH, "/workdir"},
	{"caller is root", caller_is_root, REASON_USER_ROOT, ""},
	{"caller in root's group", caller_in_roots_group, REASON_USER_ROOT, ""},
	{"caller out of range", caller_out_of_range, REASON_USER_RANGE, ""},
	{"given out of range", given_out_of_range, REASON_USER_RANGE, "/user"},
	{"given entrypoint", given_entrypoint_with_control, REASON_COMMAND_WORD, "/entrypoint"},
	{"given word", given_word_with_delete, REASON_COMMAND_WORD, "/command"},
	{"given root", given_root, REASON_USER_ROOT, "/user"},
	{"tcp", endpoint_is_tcp, REASON_ENDPOINT_SCHEME, "/docker/host"},
	{"tcp of the environment", environment_is_tcp, REASON_ENDPOINT_SCHEME, ""},
	{"dots", endpoint_with_dots, REASON_ENDPOINT_PATH, "/docker/host"},
	{"no socket", no_socket, REASON_ENDPOINT_SOCKET, "/docker/host"},
	{"directory for a socket", directory_for_socket, REASON_ENDPOINT_SOCKET, "/docker/host"},
	{"context", context_refused, REASON_CONTEXT_ANSWER, ""},
	{"socket in a mount", socket_in_mount, REASON_ENDPOINT_INSIDE, "/mounts/1/host"},
	{"missing", mount_missing, REASON_MOUNT_MISSING, "/mounts/1/host"},
	{"file", mount_is_file, REASON_MOUNT_TYPE, "/mounts/1/host"},
	{"twice", mount_twice, REASON_MOUNT_OVERLAP, "/mounts/1/host"},
	{"by a link", mount_by_link, REASON_MOUNT_OVERLAP, "/mounts/1/host"},
	{"system", mount_is_system, REASON_MOUNT_SYSTEM, "/mounts/0/host"},
	{"bundle", bundle_is_directory, REASON_BUNDLE_FILE, "/bundle/host"},
	{"private inside", private_inside, REASON_MOUNT_PROTECTED, "/mounts/1/host"},
	{"private around", private_around, REASON_MOUNT_PROTECTED, "/mounts/1/host"},
	{"private unknown", private_unknown, REASON_PRIVATE_EXAMINE, "/privatePaths/1"},
	{"state file inside", state_file_inside, REASON_MOUNT_PROTECTED, "/mounts/1/host"},
	{"state file unknown", state_file_unknown, REASON_PRIVATE_EXAMINE, "/stateFile"},
	{"agent", agent_inside, REASON_MOUNT_PROTECTED, "/mounts/1/host"},
	{"config", config_inside, REASON_MOUNT_PROTECTED, "/mounts/1/host"},
	{"audit", audit_inside, REASON_MOUNT_PROTECTED, "/mounts/1/host"},
	{"worker's log", worker_log_inside, REASON_MOUNT_PROTECTED, "/mounts/1/host"},
	{"executor", executor_inside, REASON_MOUNT_PROTECTED, "/mounts/1/host"},
	{"policy", policy_inside, REASON_MOUNT_PROTECTED, "/mounts/1/host"},
	{"docker", docker_inside, REASON_MOUNT_PROTECTED, "/mounts/1/host"},
	{"state directory", state_dir_around, REASON_MOUNT_PROTECTED, "/mounts/1/host"},
	{"secrets", secrets_inside, REASON_MOUNT_PROTECTED, "/mounts/1/host"},
	{"image absent", image_absent, REASON_IMAGE_ABSENT, ""},
	{"pin", image_not_pinned_one, REASON_IMAGE_ID, "/imageId"},
	{"nothing to run", nothing_to_run, REASON_IMAGE_COMMAND, "/entrypoint"},
	{"entrypoint -", entrypoint_is_option, REASON_COMMAND_WORD, ""},
	{"entrypoint empty", entrypoint_is_empty, REASON_COMMAND_WORD, ""},
	{"entrypoint control", entrypoint_with_control, REASON_COMMAND_WORD, ""},
	{"entrypoint bytes", entrypoint_not_utf8, REASON_COMMAND_WORD, ""},
	{"word control", word_with_control, REASON_COMMAND_WORD, ""},
	{"word delete", word_with_delete, REASON_COMMAND_WORD, ""},
	{"workdir relative", workdir_relative, REASON_WORKDIR_PATH, "/workdir"},
	{"workdir dots", workdir_with_dots, REASON_WORKDIR_PATH, "/workdir"},
	{"workdir proc", workdir_in_proc, REASON_WORKDIR_PATH, "/workdir"},
	{"workdir sys", workdir_is_sys, REASON_WORKDIR_PATH, "/workdir"},
	{"workdir dev", workdir_in_dev, REASON_WORKDIR_PATH, "/workdir"},
	{"workdir control", workdir_with_control, REASON_WORKDIR_PATH, "/workdir"},
	{"name", name_upper_case, REASON_NAME_GRAMMAR, ""},
	{"name empty", name_empty, REASON_NAME_GRAMMAR, ""},
	{"words", too_many_words, REASON_PLAN_TOO_LARGE, ""},
};

static void test_faults(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(FAULTS); i++) {
		good();
		FAULTS[i].make();
		run();
		if (report.count != 1 || report.at[0].reason != FAULTS[i].reason)
			print_error("fault \"%s\": %u findings, first %s\n", FAULTS[i].name,
			            report.count, reason_name(report.at[0].reason));
		assert_int_equal(report.count, 1);
		assert_string_equal(reason_name(report.at[0].reason),
		                    reason_name(FAULTS[i].reason));
		assert_string_equal(report.at[0].pointer, FAULTS[i].pointer);
		assert_int_equal(out.launch.argv.count, 0);
	}
}

static void test_mode(void **state)
{
	(void)state;
	good();
	mode_differs();
	run();
	assert_string_equal(report.at[0].detail, "the command is for: session");
	good();
	mode_of_config_differs();
	run();
	assert_string_equal(report.at[0].detail, "the command is for: turn");
}

/* What a finding says that decide makes itself: whose word it was, and the word. */
static void test_details(void **state)
{
	static const struct {
		void (*make)(void);
		const char *detail; /* what it begins with */
	} DETAILS[] = {
		{image_not_pinned_one, "docker has: " ID},
		{entrypoint_with_control, "the entrypoint: /a\\x0a"},
		{given_entrypoint_with_control, "the entrypoint: /a\\x0ab"},
		{word_with_control, "a command word: a\\x1b[0m"},
		{workdir_in_dev, "the config's: /dev/shm"},
		{workdir_is_sys, "the image's: /sys"},
		{name_upper_case, "--name: Upper"},
		{private_unknown, "a private path: /"},
		{state_file_unknown, "the state file: /"},
		{agent_too_long, "the SSH agent's socket: /aaa"},
		{socket_in_mount, "the socket: /"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(DETAILS); i++) {
		good();
		DETAILS[i].make();
		run();
		assert_int_equal(report.count, 1);
		assert_memory_equal(report.at[0].detail, DETAILS[i].detail,
		                    strlen(DETAILS[i].detail));
	}
}

/* Whatever is guarded, in its order; the endpoint, here the second engine, has a
 * rule of its own. */
static const char *const GUARDED[] = {
	"a private path: /none/private",
	"the state file: /none/state.json",
	"an engine's socket: /run/docker.sock",
	"an engine's socket: /run/podman/podman.sock",
	"an engine's socket: /run/containerd/containerd.sock",
	"an engine's socket: /run/k3s/containerd/containerd.sock",
	"an engine's socket: /run/crio/crio.sock",
	"an engine's socket: /run/buildkit/buildkitd.sock",
	"an engine's socket: /run/libvirt/libvirt-sock",
	"an engine's socket: /var/run/libvirt/libvirt-sock",
	"an engine's socket: /var/lib/lxd/unix.socket",
	"an engine's socket: /var/lib/incus/unix.socket",
	"an engine's socket: /var/snap/lxd/common/lxd/unix.socket",
	"an engine's socket: /run/dbus/system_bus_socket",
	"an engine's socket: /run/systemd/private",
	"a socket of your own: /run/user/1234/docker.sock",
	"a socket of your own: /run/user/1234/podman/podman.sock",
	"a socket of your own: /run/user/1234/bus",
	"a socket of your own: /run/user/1234/gnupg",
	"a socket of your own: /run/user/1234/systemd/private",
	"secrets in your home: /none/home/.ssh",
	"secrets in your home: /none/home/.gnupg",
	"secrets in your home: /none/home/.aws",
	"secrets in your home: /none/home/.azure",
	"secrets in your home: /none/home/.docker",
	"secrets in your home: /none/home/.kube",
	"secrets in your home: /none/home/.config/gcloud",
	"secrets in your home: /none/home/.config/gh",
	"secrets in your home: /none/home/.netrc",
	"secrets in your home: /none/home/.git-credentials",
	"secrets in your home: /none/home/.password-store",
	"secrets in your home: /none/home/.local/share/keyrings",
	"the SSH agent's socket: /none/agent",
	"the config file: /none/config.json",
	"the audit file: /none/audit",
	"the worker's log: /none/log",
	"the cofferdam program: /none/bin/cofferdam",
	"the cofferdam-policy program: /none/bin/cofferdam-policy",
	"the docker program: /none/bin/docker",
	"the state directory: /none/state",
};

/* The one mount is /, which holds them all. */
static void around_everything(void)
{
	good();
	options.offline = true;
	config.docker_host = "unix:///var/run/docker.sock";
	config.mount_count = 1;
	config.mount[0].host = "/";
	config.private_count = 1;
	config.private_path[0] = "/none/private";
	config.private_path[1] = "/none/behind";
	config.state_file = "/none/state.json";
	facts.uid = 1234;
	facts.home = "/none/home";
	facts.ssh_auth_sock = "/none/agent";
	facts.config = "/none/config.json";
	facts.audit = "/none/audit";
	facts.worker_err = "/none/log";
	facts.executor = "/none/bin/cofferdam";
	facts.policy = "/none/bin/cofferdam-policy";
	facts.docker = "/none/bin/docker";
	facts.state_dir = "/none/state";
}

static void test_guarded(void **state)
{
	(void)state;
	around_everything();
	run();
	assert_int_equal(report.count, COUNT(GUARDED) + 2);
	assert_int_equal(report.at[0].reason, REASON_MOUNT_ROOT);
	for (size_t i = 0; i < COUNT(GUARDED); i++) {
		assert_int_equal(report.at[i + 1].reason, REASON_MOUNT_PROTECTED);
		assert_string_equal(report.at[i + 1].pointer, "/mounts/0/host");
		assert_string_equal(report.at[i + 1].detail, GUARDED[i]);
	}
	assert_int_equal(report.at[COUNT(GUARDED) + 1].reason, REASON_ENDPOINT_INSIDE);
	assert_string_equal(report.at[COUNT(GUARDED) + 1].pointer, "/mounts/0/host");
	assert_string_equal(report.at[COUNT(GUARDED) + 1].detail,
	                    "the socket: /var/run/docker.sock");
	/* Without a home there are no secrets in it, above all not below /. */
	around_everything();
	facts.home = "";
	run();
	assert_int_equal(report.count, COUNT(GUARDED) + 2 - 12);
	/* An endpoint that was refused is guarded like any other path. */
	around_everything();
	config.docker_host = "unix:///none/.docker/run/docker.sock";
	facts.ssh_auth_sock = "/none/.docker/run/docker.sock";
	run();
	assert_int_equal(report.at[0].reason, REASON_ENDPOINT_DESKTOP);
	assert_int_equal(report.count, COUNT(GUARDED) + 3); /* and the second engine */
}

/* As many private paths as there may be: the last one of them is guarded, and
 * the last of all. */
static void test_guarded_all(void **state)
{
	static char host[PRIVATE_MAX][32];
	static const char *const INSIDE[] = {"/none/p63/work", "/none/state/work"};
	static const char *const DETAIL[] = {"a private path: /none/p63",
		                             "the state directory: /none/state"};

	(void)state;
	for (size_t i = 0; i < COUNT(INSIDE); i++) {
		around_everything();
		config.docker_host = "unix:///none/docker.sock"; /* so that no engine is left out */
		config.mount[0].host = INSIDE[i];
		config.private_count = PRIVATE_MAX;
		for (unsigned k = 0; k < PRIVATE_MAX; k++) {
			(void)snprintf(host[k], sizeof(host[k]), "/none/p%u", k);
			config.private_path[k] = host[k];
		}
		run();
		assert_int_equal(report.count, 1);
		assert_string_equal(report.at[0].detail, DETAIL[i]);
	}
	/* No more than there may be: what stands behind them is the state file. */
	config.private_count = PRIVATE_MAX + 1;
	config.mount[0].host = "/none/state.json";
	run();
	assert_int_equal(report.count, 1);
	assert_string_equal(report.at[0].detail, "the state file: /none/state.json");
}

static void test_five_faults(void **state)
{
	static const enum reason expected[] = {REASON_CONFIG_MODE, REASON_ENDPOINT_SCHEME,
		                               REASON_MOUNT_MISSING, REASON_WORKDIR_PATH,
		                               REASON_NAME_GRAMMAR};

	(void)state;
	good();
	mode_differs();
	endpoint_is_tcp();
	mount_missing();
	config.workdir = "/proc";
	name_upper_case();
	run();
	assert_int_equal(report.count, COUNT(expected));
	for (size_t i = 0; i < COUNT(expected); i++)
		assert_string_equal(reason_name(report.at[i].reason), reason_name(expected[i]));
	assert_int_equal(report_status(&report), 78);
	/* Docker is not asked over an endpoint that was refused. */
	assert_int_equal(image_asked, 0);
}

/* Where the config's own rules spoke already, decide does not. */
static void blamed(const char *id)
{
	good();
	config.mount[0].host = "relative";
	config.docker_host = "tcp://x";
	config.workdir = "relative";
	config.command_given = true;
	config.command.count = 1;
	config.command.at[0] = NULL;
	config.env_count = 1;
	config.env[0] = NULL;
	config.private_count = 1;
	config.private_path[0] = "relative";
	config.state_file = "relative";
	config.uid = 0;
	report_init(&report, CODE_CONFIG, 78);
	report_add(&report, REASON_MOUNT_RELATIVE, "/mounts/0/host");
	report_add(&report, REASON_ENDPOINT_SCHEME, "/docker/host");
	report_add(&report, REASON_WORKDIR_PATH, "/workdir");
	report_add(&report, REASON_PRIVATE_PATH, "/privatePaths/0");
	report_add(&report, REASON_PRIVATE_PATH, "/stateFile");
	report_add(&report, REASON_USER_ROOT, id);
	run_on();
	assert_int_equal(report.count, 6);
	assert_int_equal(out.launch.argv.count, 0);
}

static void test_blamed(void **state)
{
	(void)state;
	blamed("/user/uid");
	blamed("/user/gid");
}

/* What the config lacks, or names wrongly, is neither looked at nor asked for. */
static void test_lacking(void **state)
{
	static const char *const IMAGES[] = {NULL, "worker:1"};

	(void)state;
	for (size_t i = 0; i < COUNT(IMAGES); i++) {
		good();
		config.image = IMAGES[i];
		config.mount[0].host = NULL;
		config.mount[1].guest = NULL;
		config.session_key = NULL;
		report_init(&report, CODE_CONFIG, 78);
		report_add(&report, REASON_IMAGE_GRAMMAR, "/image");
		run_on();
		assert_int_equal(report.count, 1);
		assert_non_null(out.launch.endpoint);
		assert_int_equal(image_asked, 0);
		assert_int_equal(out.launch.root_count, 0);
		assert_string_equal(out.launch.session, "");
	}
	/* Unless it is another part that was wrong: then it is asked for, if it is there. */
	for (size_t i = 0; i < COUNT(IMAGES); i++) {
		good();
		config.image = IMAGES[i];
		report_init(&report, CODE_CONFIG, 78);
		report_add(&report, REASON_NAME_GRAMMAR, "/name");
		run_on();
		assert_int_equal(image_asked, i);
		assert_int_equal(report.count, 1);
	}
}

/* A finding that has no place, or one in another place, silences no rule. */
static void test_not_blamed(void **state)
{
	(void)state;
	good();
	config.docker_host = NULL;
	facts.docker_host = with("unix://", in("s/docker.sock"));
	config.user_given = false;
	facts.uid = 0;
	report_init(&report, CODE_CONFIG, 78);
	report_add(&report, REASON_NAME_GRAMMAR, "");
	report_add(&report, REASON_USER_ROOT, "/user/uid");
	run_on();
	assert_non_null(out.launch.endpoint);
	assert_int_equal(report.count, 3);
	assert_int_equal(report.at[2].reason, REASON_USER_ROOT);
	assert_string_equal(report.at[2].pointer, "");
}

/* A report that is full hides neither that an endpoint was in order nor that it
 * was not. */
static void test_full_report(void **state)
{
	static const uint32_t FOUND[] = {REPORT_MAX - 1, REPORT_MAX, REPORT_MAX + 1};

	(void)state;
	for (size_t i = 0; i < 2 * COUNT(FOUND); i++) {
		bool in_order = i % 2 == 0;

		good();
		if (!in_order)
			no_socket();
		report_init(&report, CODE_CONFIG, 78);
		for (uint32_t k = 0; k < FOUND[i / 2]; k++)
			report_add(&report, REASON_NAME_GRAMMAR, "/name");
		run_on();
		assert_int_equal(out.launch.endpoint != NULL, in_order);
		assert_int_equal(report.count + report.dropped, FOUND[i / 2] + !in_order);
	}
}

/* Counts beyond what a config or an image holds are not believed. */
static void test_counts(void **state)
{
	static char host[MOUNTS_MAX][32];
	const char *secret;

	(void)state;
	good();
	config.init = true; /* stands right behind the environment */
	secret = in("secret");
	config.entrypoint = "/agent";
	config.command_given = true;
	config.command.count = WORDS_MAX + 1;
	for (unsigned i = 0; i < WORDS_MAX; i++)
		config.command.at[i] = "w";
	config.env_count = ENV_MAX + 1;
	for (unsigned i = 0; i < ENV_MAX; i++)
		config.env[i] = "A=1";
	config.private_count = PRIVATE_MAX + 1;
	for (unsigned i = 0; i < PRIVATE_MAX; i++)
		config.private_path[i] = secret;
	image.env.count = INHERITED_MAX + 1;
	for (unsigned i = 0; i < INHERITED_MAX; i++)
		image.env.at[i] = "B=1";
	assert_allowed();
	assert_int_equal(out.launch.command.count, WORDS_MAX);
	assert_int_equal(out.launch.env_count, ENV_MAX + 1); /* with HOME */
	assert_int_equal(out.launch.image_env.count, INHERITED_MAX);

	good();
	options.offline = true;
	config.mount_count = MOUNTS_MAX + 1;
	for (unsigned i = 0; i < MOUNTS_MAX; i++) {
		(void)snprintf(host[i], sizeof(host[i]), "/none/m%u", i);
		config.mount[i] = (struct config_mount){host[i], "/workspace", false};
	}
	config.bundle_given = true;
	config.bundle_host = "/none/bundle";
	config.bundle_guest = "/app/a.js";
	assert_allowed();
	assert_int_equal(out.launch.root_count, ROOTS_MAX);
	assert_string_equal(out.launch.root[ROOTS_MAX - 1].path, "/none/bundle");
}

/* --- the endpoint --- */

static void test_endpoint_order(void **state)
{
	const char *expected;

	(void)state;
	good();
	expected = with("unix://", in("s/docker.sock"));
	facts.docker_host = "tcp://ignored";
	assert_allowed();
	assert_string_equal(out.launch.endpoint, expected);
	assert_string_equal(image_endpoint, expected);
	assert_int_equal(context_asked, 0);

	good();
	config.docker_host = NULL;
	facts.docker_host = with("unix://", in("link.sock"));
	assert_allowed();
	assert_string_equal(out.launch.endpoint, expected); /* through the link */
	assert_int_equal(context_asked, 0);

	good();
	config.docker_host = NULL;
	facts.docker_host = ""; /* counts as unset */
	context_endpoint = with("unix://", in("s/docker.sock"));
	assert_allowed();
	assert_string_equal(out.launch.endpoint, expected);
	assert_int_equal(context_asked, 1);
}

/* Decides with another directory for /, so that it does not depend on what this
 * machine has in /var/run. */
static void run_below(const char *directory)
{
	int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	int here = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);

	assert_true(root >= 0 && here >= 0);
	assert_int_equal(chroot(directory), 0);
	run();
	assert_int_equal(fchdir(root), 0);
	assert_int_equal(chroot("."), 0);
	assert_int_equal(fchdir(here), 0);
	assert_int_equal(close(root), 0);
	assert_int_equal(close(here), 0);
}

static void nobody_to_ask(void)
{
	good();
	config.docker_host = NULL;
	asker.endpoint = NULL;
	asker.image = NULL;
	config.entrypoint = "/agent";
}

/* By hand nobody can be asked: docker's default is assumed, there or not. */
static void test_endpoint_assumed(void **state)
{
	static const char *const EMPTY[] = {"grant", "home"}; /* without and with a /var/run */

	(void)state;
	nobody_to_ask();
	options.offline = true;
	assert_allowed();
	assert_string_equal(out.launch.endpoint, "unix:///var/run/docker.sock");
	if (geteuid() != 0)
		skip(); /* chroot(2) */
	for (size_t i = 0; i < COUNT(EMPTY); i++) {
		nobody_to_ask();
		config.mount_count = 0; /* the directories are not below there */
		run_below(in(EMPTY[i]));
		assert_true(report_empty(&report));
		assert_string_equal(out.launch.endpoint, "unix:///var/run/docker.sock");
		/* One that somebody named must be there. */
		config.docker_host = "unix:///var/run/docker.sock";
		run_below(in(EMPTY[i]));
		assert_int_equal(report.count, 1);
		assert_int_equal(report.at[0].reason, REASON_ENDPOINT_SOCKET);
		assert_null(out.launch.endpoint);
	}
	/* What is there must be one, whoever named it. */
	make_file(in("home/var/run/docker.sock"));
	nobody_to_ask();
	config.mount_count = 0;
	run_below(in("home"));
	assert_int_equal(unlink(in("home/var/run/docker.sock")), 0);
	assert_int_equal(report.count, 1);
	assert_int_equal(report.at[0].reason, REASON_ENDPOINT_SOCKET);
}

static void test_endpoint_length(void **state)
{
	static const size_t lengths[] = {ENDPOINT_PATH_MAX, ENDPOINT_PATH_MAX + 1};

	(void)state;
	for (size_t i = 0; i < COUNT(lengths); i++) {
		char path[128];

		good();
		options.offline = true;
		memset(path, 'a', sizeof(path));
		path[0] = '/';
		path[lengths[i]] = '\0';
		config.docker_host = with("unix://", path);
		run();
		assert_int_equal(report.count, i);
		if (i == 1)
			assert_int_equal(report.at[0].reason, REASON_ENDPOINT_PATH);
	}
}

/* --- what runs --- */

struct composition {
	const char *config_entry;
	int config_command; /* words c1 c2 …, -1: not given */
	int image_entry; /* words e1 e2 … */
	int image_command; /* words i1 i2 … */
	const char *expected; /* entrypoint, then the command, joined by blanks */
};

static const struct composition COMPOSITIONS[] = {
	{NULL, -1, 1, 0, "e1"},
	{NULL, -1, 2, 2, "e1 e2 i1 i2"},
	{NULL, -1, 0, 2, "i1 i2"},
	{NULL, 2, 2, 2, "e1 e2 c1 c2"},
	{NULL, 0, 2, 2, "e1 e2"},
	{NULL, 2, 0, 2, "c1 c2"},
	{"x", -1, 2, 2, "x"},
	{"x", 2, 2, 2, "x c1 c2"},
	{"x", 0, 0, 2, "x"},
	{NULL, -1, 0, 0, NULL},
	{NULL, 0, 0, 2, NULL},
	{NULL, 1, 0, 0, "c1"},
	{NULL, -1, 0, 1, "i1"},
};

static void put_words(struct words *words, int count, const char *const *from)
{
	words->count = (uint16_t)(count > 0 ? count : 0);
	for (int i = 0; i < count; i++)
		words->at[i] = from[i];
	words->at[words->count] = "behind";
}

static void test_composition(void **state)
{
	static const char *const e[] = {"e1", "e2"};
	static const char *const c[] = {"c1", "c2"};
	static const char *const m[] = {"i1", "i2"};

	(void)state;
	for (size_t i = 0; i < COUNT(COMPOSITIONS); i++) {
		const struct composition *t = &COMPOSITIONS[i];
		char joined[64];

		good();
		config.entrypoint = t->config_entry;
		config.command_given = t->config_command >= 0;
		put_words(&config.command, t->config_command, c);
		put_words(&image.entrypoint, t->image_entry, e);
		put_words(&image.command, t->image_command, m);
		run();
		if (t->expected == NULL) {
			assert_int_equal(report.at[0].reason, REASON_IMAGE_COMMAND);
			continue;
		}
		assert_true(report_empty(&report));
		(void)snprintf(joined, sizeof(joined), "%s", out.launch.entrypoint);
		for (unsigned k = 0; k < out.launch.command.count; k++) {
			strcat(joined, " ");
			strcat(joined, out.launch.command.at[k]);
		}
		assert_string_equal(joined, t->expected);
	}
}

/* A script is one word; newlines and tabs are its own. */
static void test_script(void **state)
{
	(void)state;
	good();
	image.command.count = 1;
	image.command.at[0] = "set -e\n\ttrue";
	assert_allowed();
	assert_string_equal(out.launch.command.at[0], "set -e\n\ttrue");
}

/* One byte, as a word of its own and behind a slash, and as an entrypoint. */
static void test_bytes(void **state)
{
	(void)state;
	for (int byte = 1; byte <= UINT8_MAX; byte++) {
		char text[][4] = {{(char)byte}, {'/', (char)byte}};
		bool blank = byte == '\t' || byte == '\n';
		bool character = byte >= ' ' && byte < 0x7f;

		for (size_t i = 0; i < COUNT(text); i++) {
			good();
			options.offline = true;
			image.command.count = 1;
			image.command.at[0] = text[i];
			run();
			assert_int_equal(report_empty(&report), character || blank);
			good();
			options.offline = true;
			image.entrypoint.at[0] = text[i];
			run();
			assert_int_equal(report_empty(&report),
			                 character && (byte != '-' || i > 0));
		}
	}
}

static void test_words_max(void **state)
{
	(void)state;
	good();
	too_many_words();
	image.command.count = 1; /* the entrypoint is one, the rest exactly fits */
	assert_allowed();
	assert_int_equal(out.launch.command.count, WORDS_MAX);

	config.command_given = true;
	config.command = image.entrypoint; /* one too many, and the config's */
	run();
	assert_int_equal(report.count, 1);
	assert_int_equal(report.at[0].reason, REASON_PLAN_TOO_LARGE);
	assert_string_equal(report.at[0].pointer, "/command");
}

static void test_workdir(void **state)
{
	(void)state;
	good();
	image.workdir = "/processes"; /* not under /proc */
	assert_allowed();
	assert_string_equal(out.launch.workdir, "/processes");
	config.workdir = "/w";
	image.workdir = "/proc";
	assert_allowed();
	assert_string_equal(out.launch.workdir, "/w");
	config.workdir = long_path(PATH_BYTES_MAX);
	assert_allowed();
	assert_int_equal(strlen(out.launch.workdir), PATH_BYTES_MAX);
}

/* --- the rest --- */

static void test_unknown_image(void **state)
{
	(void)state;
	good();
	asker.image = NULL;
	assert_allowed();
	assert_false(out.image_known);
	assert_string_equal(out.launch.image_id, "worker:1");
	assert_string_equal(out.launch.workdir, "/");
	assert_null(out.launch.entrypoint);
	/* Whose entrypoint it will follow is not known: it stays whole. */
	config.command_given = true;
	config.command.count = 2;
	config.command.at[0] = "c1";
	config.command.at[1] = "c2";
	assert_allowed();
	assert_null(out.launch.entrypoint);
	assert_int_equal(out.launch.command.count, 2);
	assert_string_equal(out.launch.command.at[0], "c1");
	config.image_id = ID;
	config.entrypoint = "/agent";
	assert_allowed();
	assert_string_equal(out.launch.image_id, ID);
	assert_string_equal(out.launch.entrypoint, "/agent");
}

static void test_pin(void **state)
{
	(void)state;
	good();
	assert_allowed();
	assert_string_equal(out.launch.image_id, ID); /* never the reference */
	config.image_id = ID;
	assert_allowed();
	assert_true(out.image_known);
	assert_string_equal(out.launch.image_id, ID);
	assert_string_equal(out.image, "worker:1");
}

static void test_environment(void **state)
{
	static const char *const LABELS[] = {
		"maintainer=me",
		"dev.cofferdam.state=forged",
		"dev.cofferdam.run=forged",
		"dev.cofferdam.mode=turn",
		"dev.cofferdam.session=",
		"dev.cofferdam.revision=7",
		"dev.cofferdam.roots=[]",
		"dev.cofferdam.runs=mine",
	};

	(void)state;
	good();
	config.env_count = 2;
	config.env[0] = "A=1";
	config.env[1] = "PATHS=x";
	config.env[2] = "BEHIND=x";
	image.env.count = 5;
	image.env.at[0] = "PATH=/bin";
	image.env.at[1] = "HOME=/root";
	image.env.at[2] = "A=0";
	image.env.at[3] = "AB=0";
	image.env.at[4] = "BARE";
	image.labels.count = COUNT(LABELS);
	memcpy(image.labels.at, LABELS, sizeof(LABELS));
	assert_allowed();
	assert_int_equal(out.launch.env_count, 3);
	assert_string_equal(out.launch.env[0], "HOME=/tmp/home");
	assert_string_equal(out.launch.env[1], "A=1");
	assert_string_equal(out.launch.env[2], "PATHS=x");
	assert_int_equal(out.launch.image_env.count, 3);
	assert_string_equal(out.launch.image_env.at[0], "PATH=/bin");
	assert_string_equal(out.launch.image_env.at[1], "AB=0");
	assert_string_equal(out.launch.image_env.at[2], "BARE");
	assert_int_equal(out.launch.image_labels.count, 2);
	assert_string_equal(out.launch.image_labels.at[0], "maintainer=me");
	assert_string_equal(out.launch.image_labels.at[1], "dev.cofferdam.runs=mine");
}

static void test_name(void **state)
{
	(void)state;
	good();
	memset(facts.nonce, 0xab, sizeof(facts.nonce));
	assert_allowed();
	assert_string_equal(out.launch.name, "cofferdam-abababababababababababababababab");
	config.name = "from-config";
	assert_allowed();
	assert_string_equal(out.launch.name, "from-config");
	facts.name = "from.command_line";
	assert_allowed();
	assert_string_equal(out.launch.name, "from.command_line");
}

static void test_user(void **state)
{
	(void)state;
	good();
	assert_allowed();
	assert_int_equal(out.launch.uid, 1501);
	assert_int_equal(out.launch.gid, 1502);
	config.user_given = false;
	facts.gid = ID_MAX;
	assert_allowed();
	assert_int_equal(out.launch.uid, facts.uid);
	assert_int_equal(out.launch.gid, ID_MAX);
}

static void test_user_range(void **state)
{
	static const struct {
		uint32_t id;
		enum reason reason;
	} IDS[] = {
		{0, REASON_USER_ROOT},
		{ID_MIN, REASON_NONE},
		{ID_MAX, REASON_NONE},
		{ID_MAX + 1U, REASON_USER_RANGE},
		{UINT32_MAX, REASON_USER_RANGE},
	};

	(void)state;
	for (size_t i = 0; i < 2 * COUNT(IDS); i++) {
		uint32_t id = IDS[i / 2].id;
		enum reason reason = IDS[i / 2].reason;

		good();
		config.uid = i % 2 == 0 ? id : 1501;
		config.gid = i % 2 == 0 ? 1502 : id;
		run();
		assert_int_equal(report.count, reason != REASON_NONE);
		if (reason != REASON_NONE)
			assert_int_equal(report.at[0].reason, reason);
	}
}

static void test_roots(void **state)
{
	struct stat st;

	(void)state;
	good();
	config.mount[1].host = in("work-link");
	config.bundle_given = true;
	config.bundle_host = in("bundle");
	config.bundle_guest = "/app/a.js";
	assert_allowed();
	assert_int_equal(out.launch.root_count, 3);
	assert_string_equal(out.asked[1], in("work-link"));
	assert_string_equal(out.launch.root[1].path, in("work"));
	assert_string_equal(out.launch.root[1].guest, "/workspace");
	assert_false(out.launch.root[1].read_only);
	assert_false(out.launch.root[1].is_file);
	assert_int_equal(stat(in("work"), &st), 0);
	assert_true(out.launch.root[1].dev == st.st_dev && out.launch.root[1].ino == st.st_ino);
	assert_true(out.launch.root[2].is_file);
	assert_true(out.launch.root[2].read_only);
	assert_string_equal(out.launch.root[2].path, in("bundle"));
}

static void test_session(void **state)
{
	(void)state;
	good();
	config.mode = MODE_SESSION;
	facts.mode = MODE_SESSION;
	config.session_key = "k";
	config.session_revision = 7;
	config.init = true;
	config.docker_runtime = "runsc";
	config.audit_optional = true;
	config.mount_count = 1;
	config.mount[0] = (struct config_mount){ in("grant"), "/workspace", false };
	assert_allowed();
	assert_int_equal(out.launch.mode, MODE_SESSION);
	assert_string_equal(out.launch.session, "k");
	assert_int_equal(out.launch.revision, 7);
	assert_true(out.launch.init);
	assert_true(out.launch.audit_optional);
	assert_string_equal(out.launch.runtime, "runsc");
	assert_string_equal(out.launch.state_id, ZEROS);
	assert_true(out.launch.limits.memory_bytes == MEMORY_BYTES_MIN);
}

/* No file system: nothing need exist, and the rules for text hold. */
static void test_offline(void **state)
{
	(void)state;
	good();
	options.offline = true;
	asker.image = NULL;
	config.docker_host = "unix:///none/docker.sock";
	config.mount[0].host = "/none/./a";
	config.mount[1].host = "/none/x/../b";
	assert_allowed();
	assert_string_equal(out.launch.root[0].path, "/none/a");
	assert_string_equal(out.launch.root[1].path, "/none/b");
	assert_true(out.launch.root[0].dev == 0 && out.launch.root[0].ino == 0);
	config.mount[1].host = "/none/a/b";
	run();
	assert_int_equal(report.count, 1);
	assert_int_equal(report.at[0].reason, REASON_MOUNT_OVERLAP);
	config.mount[1].host = "/none";
	run();
	assert_int_equal(report.count, 2);
	assert_int_equal(report.at[0].reason, REASON_MOUNT_OVERLAP);
	assert_int_equal(report.at[1].reason, REASON_ENDPOINT_INSIDE);
}

/* What is known by name only, and cannot be looked at, does not refuse. */
static void test_agent_unknown(void **state)
{
	(void)state;
	good();
	facts.ssh_auth_sock = in("loop/agent");
	assert_allowed();
	facts.ssh_auth_sock = "relative";
	assert_allowed();
	facts.home = "";
	assert_allowed();
}

/* A full arena refuses, whatever it was that no longer fitted. */
static void test_arena(void **state)
{
	size_t needed;

	(void)state;
	good();
	assert_allowed();
	needed = arena.len;
	for (size_t cap = needed % 13; cap < needed; cap += 13) {
		good();
		arena_cap = cap;
		run();
		assert_false(report_empty(&report));
	}
	good();
	arena_cap = needed - 1;
	run();
	assert_int_equal(report.at[0].reason, REASON_PLAN_TOO_LARGE);
	good();
	arena_cap = needed;
	assert_allowed();
	/* It holds C strings, one right behind another. */
	assert_ptr_equal(out.launch.endpoint, arena_bytes);
	assert_string_equal(arena_bytes + strlen(arena_bytes) + 1, "/mounts/0/host");
}

/* That there was no room is said as well, whatever else was wrong. */
static void test_arena_too(void **state)
{
	(void)state;
	good();
	arena_cap = 0;
	name_upper_case();
	run();
	assert_int_equal(report.at[0].reason, REASON_PLAN_TOO_LARGE);
	assert_string_equal(report.at[0].pointer, "");
	assert_int_equal(report.at[report.count - 1].reason, REASON_NAME_GRAMMAR);
}

/* A label of the roots that is too long for docker, in an arena that had room. */
static void test_label_too_long(void **state)
{
	static char host[MOUNTS_MAX][PATH_BYTES_MAX + 1];
	size_t len = ROOTS_LABEL_MAX / MOUNTS_MAX;

	(void)state;
	good();
	options.offline = true;
	config.mount_count = MOUNTS_MAX;
	for (unsigned i = 0; i < MOUNTS_MAX; i++) {
		memset(host[i], 'a', len);
		memcpy(host[i], "/none/", 6);
		host[i][6] = (char)('A' + i / 10);
		host[i][7] = (char)('0' + i % 10);
		for (size_t at = 100; at < len; at += 100)
			host[i][at] = '/';
		config.mount[i] = (struct config_mount){host[i], "/workspace", false};
	}
	run();
	assert_false(arena.full);
	assert_int_equal(report.count, 1);
	assert_int_equal(report.at[0].reason, REASON_PLAN_TOO_LARGE);
	assert_string_equal(report.at[0].pointer, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_faults),
		cmocka_unit_test(test_five_faults),
		cmocka_unit_test(test_mode),
		cmocka_unit_test(test_details),
		cmocka_unit_test(test_guarded),
		cmocka_unit_test(test_guarded_all),
		cmocka_unit_test(test_blamed),
		cmocka_unit_test(test_lacking),
		cmocka_unit_test(test_not_blamed),
		cmocka_unit_test(test_full_report),
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_endpoint_order),
		cmocka_unit_test(test_endpoint_assumed),
		cmocka_unit_test(test_endpoint_length),
		cmocka_unit_test(test_composition),
		cmocka_unit_test(test_script),
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_words_max),
		cmocka_unit_test(test_workdir),
		cmocka_unit_test(test_unknown_image),
		cmocka_unit_test(test_pin),
		cmocka_unit_test(test_environment),
		cmocka_unit_test(test_name),
		cmocka_unit_test(test_user),
		cmocka_unit_test(test_user_range),
		cmocka_unit_test(test_roots),
		cmocka_unit_test(test_session),
		cmocka_unit_test(test_offline),
		cmocka_unit_test(test_agent_unknown),
		cmocka_unit_test(test_arena),
		cmocka_unit_test(test_arena_too),
		cmocka_unit_test(test_label_too_long),
	};

	return cmocka_run_group_tests(tests, make_tree, remove_tree);
}

/* SPDX-License-Identifier: ISC */

/*
 * Policy's builder, the gate and docker's reading together: compiled only.  One
 * launch of a few shapes, with one field that takes every value of a small
 * scope; or its argv with one change.
 */
#include <stdio.h>
#include <string.h>

#include "../executor/gate.h"
#include "../policy/build.h"
#include "docker_spec.h"
#include "nondet.h"

#define HEX64 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static const struct launch base = {
	.uid = 1501,
	.gid = 1502,
	.state_id = "0123456789abcdef0123456789abcdef",
	.name = "box",
	.endpoint = "unix:///run/d.sock",
	.session = "",
	.image_id = "sha256:" HEX64,
	.workdir = "/w",
	.entrypoint = "node",
	.limits = {.memory_bytes = MEMORY_BYTES_MIN,
                   .nano_cpus = 1500000000,
                   .tmpfs_bytes = 4096,
                   .shm_bytes = 8192,
                   .turn_bytes = 1024,
                   .pids = 64,
                   .nofile = 256,
                   .turn_seconds = 1,
                   .control_seconds = 1,
                   .remove_seconds = 1},
	.env_count = 1,
	.env = {"HOME=/tmp/home", "A=1", "B2=x y"},
	.command = {.at = {"run", "-x"}},
};

static const struct root turn_roots[] = {{"/s/a", "/broker", true, false, 8, 1},
                                         {"/s/b", "/workspace", false, false, 8, 2},
                                         {"/s/c", "/app", true, true, 8, 3}};
static const struct root session_roots[] = {{"/s/a", "/workspace", false, false, 8, 1},
                                            {"/s/b", "/grants/" HEX64, true, false, 8, 2},
                                            {"/s/c", "/app", true, true, 8, 3}};

static struct launch l;
static struct order order;
static char arena[32768];

/* The shape: mode, what is optional, how many. */
static void start(bool session, bool runtime, bool fsize, unsigned roots, unsigned env,
                  unsigned command)
{
	l = base;
	l.mode = session ? MODE_SESSION : MODE_TURN;
	l.session = session ? "k" : "";
	l.runtime = runtime ? "runsc" : NULL;
	l.init = fsize;
	l.limits.file_bytes = fsize ? 1 : 0;
	l.root_count = (uint16_t)roots;
	for (unsigned i = 0; i < roots; i++)
		l.root[i] = session ? session_roots[i] : turn_roots[i];
	l.env_count = (uint16_t)(1 + env);
	l.command.count = (uint16_t)command;
}

static void start_any(void)
{
	const bool session = any_bool();

	start(session, any_bool(), any_bool(),
	      (unsigned)(session ? any_up_to(3) : 2 + any_up_to(1)), (unsigned)any_up_to(2),
	      (unsigned)any_up_to(2));
}

/* One of three. */
static void start_some(void)
{
	switch (any_up_to(2)) {
	case 0: start(false, false, false, 2, 1, 1); break;
	case 1: start(false, true, true, 3, 2, 2); break;
	default: start(true, false, true, 3, 1, 1); break;
	}
}

static void build(void)
{
	struct text text;

	text_init(&text, arena, sizeof arena);
	l.roots_label = build_roots_label(&l, &text);
	PROVE(l.roots_label != NULL && build_argv(&l, &text), "it is built");
	order = (struct order){
		.turn_bytes = l.limits.turn_bytes,
		.turn_seconds = l.limits.turn_seconds,
		.lock_seconds = l.limits.lock_seconds,
		.control_seconds = l.limits.control_seconds,
		.remove_seconds = l.limits.remove_seconds,
		.runtime = l.runtime != NULL,
		.file_limit = l.limits.file_bytes != 0,
		.root_count = l.root_count,
		.env_count = l.env_count,
		.argv = l.argv,
	};
	for (unsigned i = 0; i < l.root_count; i++)
		order.root[i] = (struct identity){l.root[i].dev, l.root[i].ino};
}

static bool accepted(void)
{
	static struct gate gate;
	const struct gate_known known = {
		.nonce_hex = "00000000000000000000000000000000",
		.state_id = base.state_id,
		.mode = l.mode == MODE_SESSION ? "session" : "turn",
	};

	return gate_check(&gate, &order, &known) == GATE_OK;
}

static bool isolates(void)
{
	const struct docker_counts counts = {order.root_count, order.env_count, order.runtime,
	                                     order.file_limit};
	struct docker_reading r;

	return docker_isolates(&r, order.argv.at, order.argv.count, &counts) &&
	       docker_numbers(&r) && docker_mounts_isolate(&r);
}

/* ---- each number, around its bounds ---- */

static bool any_number(uint64_t least, uint64_t most, uint64_t *value)
{
	const uint64_t values[] = {least,    least + 1, least + (most - least) / 3, most - 1,
	                           most,     most + 1,  least - 1};
	const size_t i = any_up_to(COUNT_OF(values) - 1);

	*value = values[i];
	ASSUME(i < COUNT_OF(values) - 1 || least > 0);
	return *value >= least && *value <= most;
}

/* Sets one number; is it one that may be? */
static bool set_number(void)
{
	const bool session = l.mode == MODE_SESSION;
	uint64_t v = 0;
	bool good = true;

	switch (any_up_to(15)) {
	case 0: good = any_number(67108864, 1099511627776, &v); l.limits.memory_bytes = v; break;
	case 1: good = any_number(10000000, 1024000000000, &v); l.limits.nano_cpus = v; break;
	case 2: good = any_number(4096, 1099511627776, &v); l.limits.tmpfs_bytes = v; break;
	case 3: good = any_number(4096, 1099511627776, &v); l.limits.shm_bytes = v; break;
	case 4: good = any_number(0, 1099511627776, &v); l.limits.file_bytes = v; break;
	case 5: good = any_number(1024, 2097152, &v); l.limits.turn_bytes = v; break;
	case 6: good = any_number(8, 4194304, &v); l.limits.pids = (uint32_t)v; break;
	case 7: good = any_number(16, 1048576, &v); l.limits.nofile = (uint32_t)v; break;
	case 8:
		good = any_number(session ? 0 : 1, 600, &v);
		l.limits.turn_seconds = (uint32_t)v;
		break;
	case 9: good = any_number(0, 600, &v); l.limits.lock_seconds = (uint32_t)v; break;
	case 10: good = any_number(1, 300, &v); l.limits.control_seconds = (uint32_t)v; break;
	case 11: good = any_number(1, 600, &v); l.limits.remove_seconds = (uint32_t)v; break;
	case 12: good = any_number(1, 2147483647, &v); l.uid = (uint32_t)v; break;
	case 13: good = any_number(1, 2147483647, &v); l.gid = (uint32_t)v; break;
	case 14:
		good = any_number(0, 9007199254740991, &v) && (session || v == 0);
		l.revision = v;
		break;
	default: break; /* as it is */
	}
	return good;
}

/* Of every shape: a launch is accepted exactly if its numbers are what they may
 * be; and what is accepted isolates. */
PROOF(launch_numbers)
{
	bool good, ok;

	start_any();
	good = set_number();
	build();
	ok = accepted();
	PROVE(ok == good, "accepted exactly if the number may be");
	PROVE(!ok || isolates(), "what is accepted isolates");
}

/* ---- each text ---- */

static char text[64];

static bool plain(const char *s, size_t len, const char *never, const char *controls)
{
	bool ok = spec_utf8_valid(s, len);

	for (size_t i = 0; i < len; i++)
		ok = ok && s[i] != 0x7f && strchr(never, s[i]) == NULL &&
		     ((unsigned char)s[i] >= 0x20 || strchr(controls, s[i]) != NULL);
	return ok;
}

static bool path(const char *s, size_t len)
{
	return len > 1 && spec_canonical(s, len) && plain(s, len, ",\"", "");
}

static bool each(const char *s, size_t len, const char *first, const char *other)
{
	bool ok = len > 0;

	for (size_t i = 0; i < len; i++)
		ok = ok && (strchr(first, s[i]) != NULL || (i > 0 && strchr(other, s[i]) != NULL));
	return ok;
}

#define LOW "abcdefghijklmnopqrstuvwxyz0123456789"

/* A text behind `head`; the length of both. */
static size_t any_string(const char *head)
{
	const size_t from = strlen(head);
	const size_t len = from + any_text(text + from, FORMAL_N);

	memcpy(text, head, from);
	for (size_t i = from; i < len; i++)
		ASSUME(text[i] != '\0');
	text[len] = '\0';
	return len;
}

/* Sets one text; is it one that may be? */
static bool set_text(void)
{
	size_t len, name;

	switch (any_up_to(8)) {
	case 0:
		len = any_string("");
		l.root[0].path = text;
		return path(text, len);
	case 1:
		len = any_string("");
		l.workdir = text;
		return spec_canonical(text, len) && plain(text, len, "", "");
	case 2:
		len = any_string("unix://");
		l.endpoint = text;
		return path(text + 7, len - 7);
	case 3:
		len = any_string("");
		l.name = text;
		return each(text, len, LOW, "_.-");
	case 4:
		len = any_string("");
		l.entrypoint = text;
		return len > 0 && text[0] != '-' && plain(text, len, "", "");
	case 5:
		len = any_string("");
		l.command.at[0] = text;
		return plain(text, len, "", "\n\t");
	case 6:
		len = any_string("A");
		l.env[1] = text;
		name = strcspn(text, "=");
		l.env[2] = "Aa=";
		return name < len && plain(text, len, "", "") && each(text, name, LOW "A", "") &&
		       !(l.env_count > 2 && name == 2 && text[1] == 'a');
	case 7:
		len = any_string("");
		l.session = text;
		if (l.mode == MODE_TURN)
			return len == 0;
		return len > 0 && text[0] != '-' && plain(text, len, ",\"\\", "") &&
		       text[strspn(text, LOW " -./=:A")] == '\0';
	default:
		len = any_string("");
		l.runtime = text;
		return each(text, len, LOW, "_.-");
	}
}

PROOF(launch_texts)
{
	bool good, ok;

	start_some();
	good = set_text();
	build();
	ok = accepted();
	PROVE(ok == good, "accepted exactly if the text may be");
	PROVE(!ok || isolates(), "what is accepted isolates");
}

/* ---- any two mounts ---- */

static const char *const paths[] = {"/s", "/s/a", "/s/ab", "/s/a/b", "/t", "/run", "/run/d.sock",
                                    "/run/d.sock/x", "/run/d.socket", "/s/\xc3\xa9", "/s\\"};
static const char *const guests[] = {"/workspace", "/broker", "/workspace/x", "/grants/" HEX64,
                                     "/grants/x", "/app", "/app/x", "/proc", "/procs", "/tmp/x",
                                     "/dev", "/sys/fs"};

PROOF(launch_mounts)
{
	const bool session = any_bool();
	struct root *r = l.root;
	bool good;

	start(session, false, false, 2, 0, 0);
	for (unsigned i = 0; i < 2; i++)
		r[i] = (struct root){paths[any_up_to(COUNT_OF(paths) - 1)],
		                     guests[any_up_to(COUNT_OF(guests) - 1)], any_bool(), false, 8,
		                     i == 0 ? 1 : 1 + any_up_to(1)};
	build();
	good = accepted();
	if (!good)
		return;
	PROVE(isolates(), "it isolates");
	PROVE(r[0].ino != r[1].ino, "two directories");
	for (unsigned i = 0; i < 2; i++) {
		const bool grant = strcmp(r[i].guest, guests[3]) == 0;
		const bool workspace = strcmp(r[i].guest, "/workspace") == 0;
		const bool broker = strcmp(r[i].guest, "/broker") == 0;
		const bool own = session         ? workspace || grant
		                 : r[i].read_only ? broker
		                                  : workspace;

		PROVE(!spec_contains(r[i].path, strlen(r[i].path), "/run/d.sock", 11) &&
		              !spec_contains("/run/d.sock", 11, r[i].path, strlen(r[i].path)),
		      "away from the socket");
		PROVE(own || (session && i == 1 && r[i].read_only), "one of the mode's, or the bundle");
	}
}

/* ---- argv with one change ---- */

static const char *const words[] = {
	"--privileged", "--privileged=true", "-v", "-v/:/h", "--volume=/:/h", "--pid=host",
	"--network=host", "host", "--network", "none", "--cap-add=ALL", "--cap-drop", "ALL",
	"--device=/dev/sda", "--security-opt", "seccomp=unconfined", "no-new-privileges:true",
	"--user", "--user=0:0", "0:0", "0:1", "1:0", "1501:1502", "--ipc=host", "--uts=host",
	"--userns=host", "--", "-", "", "alpine", "sha256:" HEX64, "--mount",
	"type=bind,source=/,target=/broker,bind-propagation=rprivate",
	"type=bind,source=/s/z,target=/workspace,bind-propagation=rprivate",
	"type=volume,source=/s/z,target=/workspace,bind-propagation=rprivate",
	"type=bind,source=/s/z,target=/workspace,bind-propagation=rshared", "--init", "--init=true",
	"--rm", "-it", "--read-only", "--read-only=false", "--tmpfs", "/x:rw", "--env", "A=1",
	"HOME=/tmp/home", "--runtime", "runc", "--ulimit", "nofile=256:256", "fsize=1:1", "core=1:1",
	"--restart", "no", "always", "--log-driver", "json-file", "--pull", "never", "--memory",
	"67108864", "--memory-swap", "-1", "--label", "dev.cofferdam.state=x", "--entrypoint", "run",
	"--workdir", "/w", "--host", "tcp://h", "container", "create", "run", "--name", "box",
};

static void delete_at(unsigned i)
{
	order.argv.count--;
	for (unsigned k = i; k <= order.argv.count; k++)
		order.argv.at[k] = order.argv.at[k + 1];
}

static void insert_at(unsigned i, const char *word)
{
	for (unsigned k = ++order.argv.count; k > i; k--)
		order.argv.at[k] = order.argv.at[k - 1];
	order.argv.at[i] = word;
}

/* Another byte, one less, or one more, somewhere in word i. */
static void change_byte(unsigned i)
{
	static char changed[512];
	const char *word = order.argv.at[i];
	const size_t len = strlen(word);
	const size_t how = any_up_to(2);
	const size_t at = any_up_to(len);
	const char byte = how == 2 ? 'x' : any_byte();

	ASSUME(len + 2 < sizeof changed && (how == 1 || at < len));
	memcpy(changed, word, at);
	changed[at] = byte;
	strcpy(changed + at + (how < 2), word + at + (how == 1 ? 0 : 1));
	order.argv.at[i] = changed;
}

static void change_count(void)
{
	switch (any_up_to(5)) {
	case 0: order.root_count--; break;
	case 1: order.root_count++; break;
	case 2: order.env_count--; break;
	case 3: order.env_count++; break;
	case 4: order.runtime = !order.runtime; break;
	default: order.file_limit = !order.file_limit; break;
	}
}

static void change(void)
{
	const unsigned i = (unsigned)any_up_to(order.argv.count - 1U);
	const char *word = order.argv.at[i];
	unsigned j;

	switch (any_up_to(5)) {
	case 0: delete_at(i); break;
	case 1: insert_at(i, word); break;
	case 2:
		j = (unsigned)any_up_to(order.argv.count - 1U);
		order.argv.at[i] = order.argv.at[j];
		order.argv.at[j] = word;
		break;
	case 3: order.argv.at[i] = words[any_up_to(COUNT_OF(words) - 1)]; break;
	case 4: insert_at(i, words[any_up_to(COUNT_OF(words) - 1)]); break;
	default: change_byte(i); break;
	}
}

/* Whatever the change: what the gate accepts isolates. */
PROOF(launch_changed)
{
	bool counts;

	start_some();
	build();
	PROVE(accepted() && isolates(), "accepted as it is");
	counts = any_bool();
	if (counts)
		change_count();
	else
		change();
	PROVE(!accepted() || isolates(), "what is accepted isolates");
	PROVE(!counts || !accepted(), "the counts are those of argv");
}

/* SPDX-License-Identifier: ISC */
#include "gate.h"

#include <string.h>

#define REFERENCE_MAX 512
#define RUNTIME_MAX 64
#define SHA256_HEX 64
#define TURN_MOUNTS 2U
/* Printable ASCII that docker's comma-joined lists of labels, quoted or not,
 * print as it is; no '-' at the front. */
#define KEY_FIRST LETTERS DIGITS " !#$%&'()*+./:;<=>?@[]^_`{|}~"
#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* Guests that a bundle must stay out of; a working directory, of all but the
 * last. */
static const char *const taken[] = {"/proc", "/sys", "/dev", "/tmp"};

/* Of the paths of the kernel's own file systems and /tmp, the first count. */
static bool within_taken(struct span path, size_t count)
{
	bool within = false;

	for (size_t i = 0; i < count; i++)
		within = within || holes_below((struct span){taken[i], strlen(taken[i])}, path);
	return within;
}

static struct span take_endpoint(struct hole *hole)
{
	holes_text(hole, "unix://");
	return holes_path(hole, ENDPOINT_PATH_MAX);
}

/* The endpoint; exactly the one that was asked, if any was. */
static void take_host(struct hole *hole, struct gate *g)
{
	const char *asked = g->known->endpoint;

	g->socket = take_endpoint(hole);
	hole->ok = hole->ok && (asked == NULL || strcmp(asked, hole->word) == 0);
}

/* ",readonly" or nothing; ",source=" comes next. */
static void take_read_only(struct hole *hole, struct gate_mount *mount)
{
	mount->read_only = strncmp(hole->word + hole->at, ",r", 2) == 0;
	holes_text(hole, mount->read_only ? ",readonly" : "");
}

static void take_workdir(struct hole *hole)
{
	const struct span path = holes_plain(hole, "", "");
	const bool plain = path.len <= PATH_BYTES_MAX && holes_canonical(path) &&
	                   !within_taken(path, COUNT_OF(taken) - 1);

	hole->ok = hole->ok && (plain || holes_is(path, "/"));
}

/* NAME=value, with a NAME that no env word before has: HOME's and i more, each
 * two words before the next. */
static void take_env(struct hole *hole, const char *const *word, unsigned i)
{
	holes_of(hole, LETTERS "_", DIGITS, 1, SIZE_MAX);
	holes_text(hole, "=");
	for (unsigned k = 0; hole->ok && k <= i; k++) {
		word -= 2;
		hole->ok = strncmp(hole->word, *word, hole->at) != 0;
	}
	(void)holes_plain(hole, "", "");
}

/* What one letter stands for, in word i of its slot. */
/* clang-format off */
static void take(struct gate *g, struct hole *hole, char letter, unsigned i)
{
	switch (letter) {
	case '=': (void)holes_number(hole, g->figure, g->figure); break; /* once more */
	case 'C': (void)holes_plain(hole, "\n\t", ""); break;
	case 'E': take_env(hole, &g->order->argv.at[g->where], i); break;
	case 'F': g->figure = holes_number(hole, FILE_BYTES_MIN, FILE_BYTES_MAX); break;
	case 'G': g->mount[i].guest = holes_path(hole, GUEST_BYTES_MAX); break;
	case 'I': holes_of(hole, HEX, "", SHA256_HEX, SHA256_HEX); break;
	case 'N': holes_text(hole, g->known->nonce_hex); break;
	case 'P': g->mount[i].source = holes_path(hole, PATH_BYTES_MAX); break;
	case 'R': g->label = hole->word + hole->at; hole->at += strlen(g->label); break; /* label_ok */
	case 'S': (void)holes_number(hole, SHM_BYTES_MIN, SHM_BYTES_MAX); break;
	case 'c': holes_nano(hole, NANO_CPUS_MIN, NANO_CPUS_MAX); break;
	case 'T': (void)holes_number(hole, TMPFS_BYTES_MIN, TMPFS_BYTES_MAX); break;
	case 'e': hole->ok = strchr("-", hole->word[0]) == NULL; (void)holes_plain(hole, "", ""); break;
	case 'f': g->figure = holes_number(hole, NOFILE_MIN, NOFILE_MAX); break;
	case 'h': take_host(hole, g); break;
	case 'i': holes_text(hole, hole->word[hole->at] == 't' ? "true" : "false"); break;
	case 'k': holes_of(hole, KEY_FIRST, "-", g->session, g->session ? SESSION_KEY_BYTES_MAX : 0); break;
	case 'm': g->figure = holes_number(hole, MEMORY_BYTES_MIN, MEMORY_BYTES_MAX); break;
	case 'n': holes_of(hole, LOWER DIGITS, "_.-", 1, NAME_BYTES_MAX); break;
	case 'o': holes_text(hole, g->known->mode); break;
	case 'p': (void)holes_number(hole, PIDS_MIN, PIDS_MAX); break;
	case 'r': take_read_only(hole, &g->mount[i]); break;
	case 's': holes_text(hole, g->known->state_id); break;
	case 't': holes_of(hole, LOWER DIGITS, "_.-", 1, RUNTIME_MAX); break;
	case 'u': (void)holes_number(hole, ID_MIN, ID_MAX); break;
	case 'v': (void)holes_number(hole, 0, g->session ? REVISION_MAX : 0); break;
	case 'w': take_workdir(hole); break;
	default: hole->ok = false; break;
	}
}
/* clang-format on */

/* Is the word at g->where the wanted one?  What is wanted next; NULL if it is not. */
static const char *take_word(struct gate *g, const char *want, unsigned i)
{
	const bool there = g->where < g->order->argv.count;
	struct hole hole = {there ? g->order->argv.at[g->where] : "", 0, there};

	for (; *want != '\0' && *want != ' '; want++) {
		if (*want == '%')
			take(g, &hole, *++want, i);
		else
			holes_byte(&hole, *want);
	}
	return holes_end(&hole) ? want + (*want == ' ') : NULL;
}

/*
 * The one argv, in order: so many times these words, parted by one blank.  A
 * percent sign and a letter is a hole, see take().  g->where is the first word
 * that is not as it should be.
 */
static bool words_ok(struct gate *g)
{
	const struct order *order = g->order;
	const struct {
		unsigned times;
		const char *words;
	} slots[] = {
		{1, "docker --host %h container create --pull never --name %n "
		    "--label dev.cofferdam.state=%s --label dev.cofferdam.run=%N "
		    "--label dev.cofferdam.mode=%o --label dev.cofferdam.session=%k "
		    "--label dev.cofferdam.revision=%v --label dev.cofferdam.roots=%R"},
		{order->runtime, "--runtime %t"},
		{1, "--init=%i --interactive --network none --read-only --cap-drop ALL "
		    "--security-opt no-new-privileges:true --user %u:%u --memory %m "
		    "--memory-swap %= --cpus %c --pids-limit %p --ulimit nofile=%f:%="},
		{order->file_limit, "--ulimit fsize=%F:%="},
		{1, "--shm-size %S --ipc private --cgroupns private --log-driver none --restart no "
		    "--no-healthcheck --tmpfs /tmp:rw,noexec,nosuid,nodev,size=%T,mode=1777"},
		{order->root_count,
		 "--mount type=bind%r,source=%P,target=%G,bind-propagation=rprivate"},
		{1, "--env HOME=/tmp/home"},
		{order->env_count - 1U, "--env %E"},
		{1, "--workdir %w --entrypoint %e sha256:%I"},
	};

	for (size_t s = 0; s < COUNT_OF(slots); s++) {
		for (unsigned i = 0; i < slots[s].times; i++) {
			for (const char *want = slots[s].words; *want != '\0'; g->where++) {
				want = take_word(g, want, i);
				if (want == NULL)
					return false;
			}
		}
	}
	for (unsigned i = 0; i < WORDS_MAX && take_word(g, "%C", i) != NULL; i++)
		g->where++;
	return g->where == order->argv.count;
}

static bool numbers_ok(const struct order *order, bool session)
{
	const struct {
		uint64_t value, least, most;
	} range[] = {
		{order->turn_bytes, TURN_BYTES_MIN, TURN_BYTES_MAX},
		{order->turn_seconds, session ? 0 : TURN_SECONDS_MIN, TURN_SECONDS_MAX},
		{order->lock_seconds, LOCK_SECONDS_MIN, LOCK_SECONDS_MAX},
		{order->control_seconds, CONTROL_SECONDS_MIN, CONTROL_SECONDS_MAX},
		{order->remove_seconds, REMOVE_SECONDS_MIN, REMOVE_SECONDS_MAX},
		{order->root_count, session ? 0 : TURN_MOUNTS,
		 session ? ROOTS_MAX : TURN_MOUNTS + 1},
		{order->env_count, 1, ENV_MAX + 1},
		{order->argv.count, 1, ARGV_MAX},
	};
	bool ok = true;

	for (size_t i = 0; i < COUNT_OF(range); i++)
		ok = ok && range[i].value >= range[i].least && range[i].value <= range[i].most;
	return ok;
}

static bool is_grant(struct span guest)
{
	struct hole hole = {guest.at, 0, true};

	holes_text(&hole, "/grants/");
	holes_of(&hole, HEX, "", SHA256_HEX, SHA256_HEX);
	return hole.ok && hole.at == guest.len;
}

/* A turn's two directories are told by their mode: no guest occurs twice, so
 * both are there.  Only the last mount may be a bundle. */
static bool guest_ok(const struct gate *g, unsigned i)
{
	const struct gate_mount *m = &g->mount[i];

	if (!g->session && i < TURN_MOUNTS)
		return holes_is(m->guest, m->read_only ? "/broker" : "/workspace");
	if (g->session && (holes_is(m->guest, "/workspace") || is_grant(m->guest)))
		return i < MOUNTS_MAX;
	return m->read_only && i + 1 == g->order->root_count &&
	       !within_taken(m->guest, COUNT_OF(taken));
}

static bool root_ok(const struct gate *g, unsigned i)
{
	const struct gate_mount *m = &g->mount[i];
	const struct identity *id = g->order->root;
	bool ok = guest_ok(g, i) && !holes_overlap(m->source, g->socket);

	for (unsigned j = 0; j < i; j++)
		ok = ok && !holes_overlap(m->source, g->mount[j].source) &&
		     !holes_overlap(m->guest, g->mount[j].guest) &&
		     (id[i].dev != id[j].dev || id[i].ino != id[j].ino);
	return ok;
}

/* [{"path":"...","mode":"ro"},...] */
static bool label_ok(const struct gate *g)
{
	struct hole hole = {g->label, 0, true};

	holes_byte(&hole, '[');
	for (unsigned i = 0; i < g->order->root_count; i++) {
		holes_text(&hole, i == 0 ? "{\"path\":\"" : ",{\"path\":\"");
		holes_json(&hole, g->mount[i].source);
		holes_text(&hole, "\",\"mode\":\"");
		holes_text(&hole, g->mount[i].read_only ? "ro\"}" : "rw\"}");
	}
	holes_byte(&hole, ']');
	return holes_end(&hole) && hole.at <= ROOTS_LABEL_MAX;
}

enum gate_result gate_check(struct gate *gate, const struct order *order,
                            const struct gate_known *known)
{
	*gate = (struct gate){.order = order, .known = known};
	gate->session = strcmp(known->mode, "session") == 0;
	if (!numbers_ok(order, gate->session))
		return GATE_NUMBER;
	if (!words_ok(gate))
		return GATE_WORD;
	for (gate->where = 0; gate->where < order->root_count; gate->where++)
		if (!root_ok(gate, gate->where))
			return GATE_ROOT;
	return label_ok(gate) ? GATE_OK : GATE_LABEL;
}

void gate_root(const struct gate *gate, unsigned i, char path[PATH_BYTES_MAX + 1])
{
	const struct span source = gate->mount[i].source;

	memcpy(path, source.at, source.len);
	path[source.len] = '\0';
}

bool gate_endpoint(const char *url)
{
	struct hole hole = {url, 0, true};

	(void)take_endpoint(&hole);
	return holes_end(&hole);
}

bool gate_image_reference(const char *reference)
{
	struct hole hole = {reference, 0, true};

	holes_of(&hole, LETTERS DIGITS "[", "./_:@+]-", 1, REFERENCE_MAX);
	return holes_end(&hole);
}

bool gate_session_key(const char *key)
{
	struct hole hole = {key, 0, true};

	holes_of(&hole, KEY_FIRST, "-", 1, SESSION_KEY_BYTES_MAX);
	return holes_end(&hole);
}

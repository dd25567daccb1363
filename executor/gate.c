/* SPDX-License-Identifier: ISC */
#include "gate.h"

#include <string.h>

#include "holes.h"

#define IMAGE_REFERENCE_MAX 512
#define RUNTIME_BYTES_MAX 64
#define SHA256_HEX 64
/* Printable ASCII that docker's comma-joined lists of labels, quoted or not,
 * print as it is; no '-' at the front. */
#define KEY_FIRST LETTERS DIGITS " !#$%&'()*+./:;<=>?@[]^_`{|}~"
#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* How often a slot occurs: known from the frame's counts alone. */
enum times { ONCE, IF_RUNTIME, IF_FILE_BYTES, EACH_ROOT, EACH_ENV, EACH_COMMAND };

/*
 * The one argv, in order, words parted by one blank.  A percent sign and a
 * letter is a hole: fill() says which typed field it stands for.
 */
static const struct slot {
	enum times times;
	const char *words;
} slots[] = {
	{ONCE, "docker --host %h container create --pull never --name %n "
	       "--label dev.cofferdam.state=%s --label dev.cofferdam.run=%N "
	       "--label dev.cofferdam.mode=%o --label dev.cofferdam.session=%k "
	       "--label dev.cofferdam.revision=%v --label dev.cofferdam.roots=%R"},
	{IF_RUNTIME, "--runtime %t"},
	{ONCE, "--init=%i --interactive --network none --read-only --cap-drop ALL "
	       "--security-opt no-new-privileges:true --user %u:%g "
	       "--memory %m --memory-swap %m --cpus %c --pids-limit %p --ulimit nofile=%f:%f"},
	{IF_FILE_BYTES, "--ulimit fsize=%F:%F"},
	{ONCE, "--shm-size %S --ipc private --cgroupns private --log-driver none --restart no "
	       "--no-healthcheck --tmpfs /tmp:rw,noexec,nosuid,nodev,size=%T,mode=1777"},
	{EACH_ROOT, "--mount type=bind%r,source=%P,target=%G,bind-propagation=rprivate"},
	{EACH_ENV, "--env %E"},
	{ONCE, "--workdir %w --entrypoint %e %I"},
	{EACH_COMMAND, "%C"},
};

/* Guests that a bundle must stay out of; a working directory, of all but the
 * last. */
static const char *const taken[] = {"/proc", "/sys", "/dev", "/tmp"};

static unsigned times(const struct launch *l, enum times how)
{
	switch (how) {
	case IF_RUNTIME: return l->runtime != NULL;
	case IF_FILE_BYTES: return l->limits.file_bytes != 0;
	case EACH_ROOT: return l->root_count;
	case EACH_ENV: return l->env_count;
	case EACH_COMMAND: return l->command.count;
	case ONCE: break;
	}
	return 1;
}

/* [{"path":"…","mode":"ro"},…], the text of the dev.cofferdam.roots label. */
static void roots_text(struct hole *hole, const struct launch *l)
{
	holes_byte(hole, '[');
	for (unsigned i = 0; i < l->root_count; i++) {
		holes_text(hole, i == 0 ? "{\"path\":\"" : ",{\"path\":\"");
		holes_json(hole, l->root[i].path);
		holes_text(hole, "\",\"mode\":\"");
		holes_text(hole, l->root[i].read_only ? "ro\"}" : "rw\"}");
	}
	holes_byte(hole, ']');
}

/* What one letter stands for; i counts within an EACH slot. */
/* clang-format off */
static void fill(struct hole *hole, char letter, const struct launch *l, unsigned i)
{
	switch (letter) {
	case 'C': holes_text(hole, l->command.at[i]); break;
	case 'E': holes_text(hole, l->env[i]); break;
	case 'F': holes_decimal(hole, l->limits.file_bytes); break;
	case 'G': holes_text(hole, l->root[i].guest); break;
	case 'I': holes_text(hole, l->image_id); break;
	case 'N': holes_hex(hole, l->nonce, sizeof l->nonce); break;
	case 'P': holes_text(hole, l->root[i].path); break;
	case 'R': roots_text(hole, l); break;
	case 'S': holes_decimal(hole, l->limits.shm_bytes); break;
	case 'T': holes_decimal(hole, l->limits.tmpfs_bytes); break;
	case 'c': holes_nano(hole, l->limits.nano_cpus); break;
	case 'e': holes_text(hole, l->entrypoint); break;
	case 'f': holes_decimal(hole, l->limits.nofile); break;
	case 'g': holes_decimal(hole, l->gid); break;
	case 'h': holes_text(hole, l->endpoint); break;
	case 'i': holes_text(hole, l->init ? "true" : "false"); break;
	case 'k': holes_text(hole, l->session); break;
	case 'm': holes_decimal(hole, l->limits.memory_bytes); break;
	case 'n': holes_text(hole, l->name); break;
	case 'o': holes_text(hole, l->mode == MODE_SESSION ? "session" : "turn"); break;
	case 'p': holes_decimal(hole, l->limits.pids); break;
	case 'r': holes_text(hole, l->root[i].read_only ? ",readonly" : ""); break;
	case 's': holes_text(hole, l->state_id); break;
	case 't': holes_text(hole, l->runtime); break;
	case 'u': holes_decimal(hole, l->uid); break;
	case 'v': holes_decimal(hole, l->revision); break;
	case 'w': holes_text(hole, l->workdir); break;
	default: hole->ok = false; break;
	}
}
/* clang-format on */

static bool word_matches(const char *word, const char *wanted, const struct launch *l, unsigned i)
{
	struct hole hole = {.word = word, .at = 0, .ok = true};

	for (size_t at = 0; wanted[at] != '\0' && wanted[at] != ' '; at++) {
		if (wanted[at] == '%')
			fill(&hole, wanted[++at], l, i);
		else
			holes_byte(&hole, wanted[at]);
	}
	return holes_end(&hole);
}

static const char *next_word(const char *wanted)
{
	const char *blank = strchr(wanted, ' ');

	return blank == NULL ? NULL : blank + 1;
}

static unsigned words_wanted(const struct launch *l)
{
	unsigned count = 0;

	for (size_t s = 0; s < COUNT_OF(slots); s++) {
		for (const char *w = slots[s].words; w != NULL; w = next_word(w))
			count += times(l, slots[s].times);
	}
	return count;
}

/* The index of the first word that is not the wanted one; argv.count if none
 * is.  argv has as many words as are wanted. */
static unsigned first_difference(const struct launch *l)
{
	unsigned at = 0;

	for (size_t s = 0; s < COUNT_OF(slots); s++) {
		for (unsigned i = 0; i < times(l, slots[s].times); i++) {
			for (const char *w = slots[s].words; w != NULL; w = next_word(w)) {
				if (!word_matches(l->argv.at[at], w, l, i))
					return at;
				at++;
			}
		}
	}
	return at;
}

/* Of the paths of the kernel's own file systems and /tmp, the first count. */
static bool within_taken(const char *path, size_t count)
{
	bool within = false;

	for (size_t i = 0; i < count; i++)
		within = within || holes_below(taken[i], path);
	return within;
}

static bool numbers_ok(const struct launch *l)
{
	const struct limits *limits = &l->limits;
	const bool session = l->mode == MODE_SESSION;
	const unsigned files = l->root_count > 0 && l->root_count <= ROOTS_MAX &&
	                       l->root[l->root_count - 1].is_file;
	const struct {
		uint64_t value, least, most;
	} range[] = {
		{l->mode, MODE_TURN, MODE_SESSION},
		{l->uid, ID_MIN, ID_MAX},
		{l->gid, ID_MIN, ID_MAX},
		{l->revision, 0, session ? REVISION_MAX : 0},
		{limits->memory_bytes, MEMORY_BYTES_MIN, MEMORY_BYTES_MAX},
		{limits->nano_cpus, NANO_CPUS_MIN, NANO_CPUS_MAX},
		{limits->tmpfs_bytes, TMPFS_BYTES_MIN, TMPFS_BYTES_MAX},
		{limits->shm_bytes, SHM_BYTES_MIN, SHM_BYTES_MAX},
		{limits->file_bytes, 0, FILE_BYTES_MAX},
		{limits->turn_bytes, TURN_BYTES_MIN, TURN_BYTES_MAX},
		{limits->pids, PIDS_MIN, PIDS_MAX},
		{limits->nofile, NOFILE_MIN, NOFILE_MAX},
		{limits->turn_seconds, session ? 0 : TURN_SECONDS_MIN, TURN_SECONDS_MAX},
		{limits->lock_seconds, LOCK_SECONDS_MIN, LOCK_SECONDS_MAX},
		{limits->control_seconds, CONTROL_SECONDS_MIN, CONTROL_SECONDS_MAX},
		{limits->remove_seconds, REMOVE_SECONDS_MIN, REMOVE_SECONDS_MAX},
		{limits->live, 0, LIVE_MAX},
		{l->root_count - files, session ? 0 : 2, session ? MOUNTS_MAX : 2},
		{l->env_count, 1, ENV_MAX + 1},
		{l->command.count, 0, WORDS_MAX},
		{l->argv.count, 0, ARGV_MAX},
	};
	bool ok = true;

	for (size_t i = 0; i < COUNT_OF(range); i++)
		ok = ok && range[i].value >= range[i].least && range[i].value <= range[i].most;
	return ok;
}

static bool names_ok(const struct launch *l)
{
	const bool session = l->mode == MODE_SESSION;
	const struct {
		const char *text, *first, *other;
		size_t least, most;
	} grammar[] = {
		{l->state_id, HEX, "", ID_HEX, ID_HEX},
		{l->name, LOWER DIGITS, "_.-", 1, NAME_BYTES_MAX},
		{l->session, KEY_FIRST, "-", session ? 1 : 0, session ? SESSION_KEY_BYTES_MAX : 0},
		{l->runtime == NULL ? "none" : l->runtime, LOWER DIGITS, "_.-", 1, RUNTIME_BYTES_MAX},
		{holes_after("sha256:", l->image_id), HEX, "", SHA256_HEX, SHA256_HEX},
	};
	bool ok = true;

	for (size_t i = 0; i < COUNT_OF(grammar); i++)
		ok = ok && holes_of(grammar[i].text, grammar[i].first, grammar[i].other,
		                    grammar[i].least, grammar[i].most);
	return ok;
}

/* What runs in the container, and where. */
static bool process_ok(const struct launch *l)
{
	bool ok = l->entrypoint[0] != '\0' && l->entrypoint[0] != '-' &&
	          holes_plain(l->entrypoint, "");

	ok = ok && (strcmp(l->workdir, "/") == 0 ||
	            (holes_path(l->workdir) && !within_taken(l->workdir, COUNT_OF(taken) - 1)));
	for (unsigned i = 0; i < l->command.count; i++)
		ok = ok && holes_plain(l->command.at[i], "\n\t");
	return ok;
}

static bool environment_ok(const struct launch *l)
{
	bool ok = strcmp(l->env[0], "HOME=/tmp/home") == 0;

	for (unsigned i = 0; i < l->env_count; i++) {
		ok = ok && holes_env(l->env[i]);
		for (unsigned j = 0; j < i; j++)
			ok = ok && !holes_same_name(l->env[i], l->env[j]);
	}
	return ok;
}

/* A turn's two directories are told by their mode: no guest occurs twice, so
 * both are there. */
static bool guest_ok(const struct launch *l, unsigned i)
{
	const struct root *root = &l->root[i];

	if (root->is_file)
		return root->read_only && i + 1 == l->root_count &&
		       !within_taken(root->guest, COUNT_OF(taken));
	if (l->mode == MODE_TURN)
		return strcmp(root->guest, root->read_only ? "/broker" : "/workspace") == 0;
	return strcmp(root->guest, "/workspace") == 0 ||
	       holes_of(holes_after("/grants/", root->guest), HEX, "", SHA256_HEX, SHA256_HEX);
}

static bool root_ok(const struct launch *l, unsigned i)
{
	const struct root *root = &l->root[i];
	bool ok = holes_path(root->path) && holes_path(root->guest) &&
	          strlen(root->guest) <= GUEST_BYTES_MAX && guest_ok(l, i);

	for (unsigned j = 0; j < i; j++) {
		const struct root *other = &l->root[j];

		ok = ok && !holes_overlap(root->path, other->path) &&
		     !holes_overlap(root->guest, other->guest) &&
		     (root->dev != other->dev || root->ino != other->ino);
	}
	return ok;
}

/* The index of the first root that may not be mounted; root_count if none is. */
static unsigned first_bad_root(const struct launch *l)
{
	unsigned i = 0;

	while (i < l->root_count && root_ok(l, i))
		i++;
	return i;
}

static bool roots_label_ok(const struct launch *l)
{
	struct hole hole = {.word = l->roots_label, .at = 0, .ok = true};

	roots_text(&hole, l);
	return holes_end(&hole) && hole.at <= ROOTS_LABEL_MAX;
}

static bool endpoint_ok(const struct launch *l)
{
	const char *path = holes_after("unix://", l->endpoint);
	bool ok = gate_endpoint(l->endpoint);

	for (unsigned i = 0; i < l->root_count; i++)
		ok = ok && !holes_overlap(path, l->root[i].path);
	return ok;
}

static enum gate_result check(const struct launch *l, unsigned *at)
{
	if (!numbers_ok(l) || !names_ok(l) || !process_ok(l) || !environment_ok(l))
		return GATE_FIELD;
	*at = first_bad_root(l);
	if (*at < l->root_count)
		return GATE_ROOT;
	if (!roots_label_ok(l))
		return GATE_FIELD;
	if (!endpoint_ok(l))
		return GATE_ENDPOINT;
	if (words_wanted(l) != l->argv.count || l->argv.at[l->argv.count] != NULL)
		return GATE_COUNT;
	*at = first_difference(l);
	return *at < l->argv.count ? GATE_WORD : GATE_OK;
}

enum gate_result gate_check(const struct launch *launch, unsigned *where)
{
	unsigned at = 0;
	const enum gate_result result = check(launch, &at);

	if (where != NULL)
		*where = result == GATE_ROOT || result == GATE_WORD ? at : 0;
	return result;
}

bool gate_endpoint(const char *url)
{
	const char *path = holes_after("unix://", url);

	return holes_path(path) && strlen(path) <= ENDPOINT_PATH_MAX;
}

bool gate_image_reference(const char *reference)
{
	return holes_of(reference, LETTERS DIGITS, "./_:@-", 1, IMAGE_REFERENCE_MAX);
}

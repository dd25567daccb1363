/* SPDX-License-Identifier: ISC */

/*
 * Every argv that the gate accepts isolates, as docker reads it (docker_spec.h).
 *
 * gate.c is the real one, whole.  The calls by which it takes a word's bytes go
 * to makers: what a real call would demand of the next bytes, its maker writes
 * or assumes there, and a word that would be refused is not followed further.
 * So the words that gate_check() leaves are those that it can accept, and more.
 * This takes for granted, of each call, what its own proof says (holes_proof.c:
 * what is taken has the grammar, and a refusal stays), and that a refused word
 * is a refused argv (gate_order).
 */
#include "../executor/gate.c"

#include <stdlib.h>

#include "docker_spec.h"
#include "nondet.h"

/* The bytes of a word, and of its variable parts. */
#ifndef WORD
#define WORD 112
#endif
#ifndef PATH_LEN
#define PATH_LEN 3
#endif

/* ---- a word that is refused is an argv that is refused ---- */

static unsigned asked; /* words that were accepted, one after the other */
static unsigned refuse; /* the word to refuse */
static unsigned refusals; /* answers that were no, also for words that were not there */

const char *asked_word(struct gate *g, const char *want, unsigned i);

const char *asked_word(struct gate *g, const char *want, unsigned i)
{
	(void)i;
	PROVE(g->where == asked, "one word after the other, none twice");
	PROVE(refusals == 0, "the first refusal is the last question");
	if (g->where >= g->order->argv.count || g->where == refuse) {
		refusals++;
		return NULL;
	}
	asked++;
	while (*want != '\0' && *want != ' ')
		want++;
	return want + (*want == ' ');
}

static void in_order(bool all, unsigned count, unsigned refused)
{
	struct order order = {.runtime = all, .file_limit = all};
	struct gate gate = {.order = &order};
	const unsigned fixed = all ? 72 : 62;
	bool ok;

	order.root_count = all ? 2 : 0;
	order.env_count = all ? 2 : 1;
	order.argv.count = (uint16_t)count;
	asked = refusals = 0;
	refuse = refused;
	ok = words_ok(&gate);
	PROVE(ok == (refused >= count && count >= fixed && count <= fixed + WORDS_MAX),
	      "all words, each accepted, no fewer than the fixed ones");
}

/* With every slot, and with none that may be left out; each word refused, none,
 * too few, too many. */
PROOF(gate_order)
{
	for (unsigned refused = 0; refused <= 73; refused++)
		in_order(true, 73, refused);
	for (unsigned refused = 0; refused <= 63; refused++)
		in_order(false, 63, refused);
	for (unsigned count = 70; count <= 75; count++)
		in_order(true, count, 99);
	for (unsigned count = 60; count <= 65; count++)
		in_order(false, count, 99);
}

/* After the first fault no letter of the table takes anything, and none mends
 * it.  %e does not ask whether all was well: it stands first in its word, where
 * only a word that is not there has a fault. */
PROOF(gate_refusal_stays)
{
	static const char letters[] = "=CEFGINPRScTefhikmnoprstuvw!";
	static const struct gate_known known = {"0a", "1b", NULL, "turn"};
	static struct order order = {.argv = {.count = 3, .at = {"A=1", "", "B=2"}}};
	char word[FORMAL_N + 1];
	const char letter = letters[any_up_to(sizeof letters - 2)];
	struct gate gate = {.order = &order, .known = &known, .where = 2};
	struct hole hole = {word, any_text(word, FORMAL_N), false};

	word[FORMAL_N] = '\0';
	if (letter == 'e')
		hole = (struct hole){"", 0, false};
	take(&gate, &hole, letter, (unsigned)any_up_to(1));
	PROVE(!hole.ok, "as before");
}

/* ---- words whose parts are proved with the real rules ---- */

/* A word: any bytes but NUL, then one. */
static void any_word(char word[FORMAL_N + 1])
{
	const size_t len = any_text(word, FORMAL_N);

	for (size_t i = 0; i < FORMAL_N; i++)
		ASSUME(i >= len || word[i] != '\0');
	word[len] = '\0';
}

static bool taken_word(struct gate *g, struct order *order, const char *word, const char *want)
{
	order->argv = (struct argv){.count = 1, .at = {word}};
	g->where = 0;
	return take_word(g, want, 0) != NULL;
}

/* Words with numbers that are accepted are so as docker reads them, too. */
PROOF(gate_numbers_user)
{
	static struct order order;
	static struct gate gate = {.order = &order};
	char word[FORMAL_N + 1];

	any_word(word);
	if (taken_word(&gate, &order, word, "%u:%u"))
		PROVE(docker_user(word), "neither user nor group is root");
}

PROOF(gate_numbers_memory)
{
	static struct order order;
	static struct gate gate = {.order = &order};
	char word[FORMAL_N + 1], again[FORMAL_N + 1];

	any_word(word);
	any_word(again);
	if (taken_word(&gate, &order, word, "%m") && taken_word(&gate, &order, again, "%="))
		PROVE(docker_counted(word) && docker_whole(word) == docker_whole(again),
		      "memory is limited, and there is no swap");
}

/* A word of its own each: which table's word it is must be known, or every hole
 * is one that it may be. */
static void ulimit_word(const char *want)
{
	static struct order order;
	static struct gate gate = {.order = &order};
	char word[FORMAL_N + 1];

	any_word(word);
	if (taken_word(&gate, &order, word, want))
		PROVE(docker_ulimit(word), "soft and hard limit are one");
}

PROOF(gate_numbers_ulimit)
{
	ulimit_word("nofile=%f:%=");
	ulimit_word("fsize=%F:%=");
}

static void counted_word(const char *want)
{
	static struct order order;
	static struct gate gate = {.order = &order};
	char word[FORMAL_N + 1];

	any_word(word);
	if (taken_word(&gate, &order, word, want))
		PROVE(docker_counted(word), "limited");
}

PROOF(gate_numbers_counted)
{
	counted_word("%p");
	counted_word("%S");
}

/* Guests by mode are in gate_guests; here any may be. */
bool any_guest(const struct gate *g, unsigned i);

bool any_guest(const struct gate *g, unsigned i)
{
	(void)g;
	(void)i;
	return any_bool();
}

/* Any two mounts and a socket, whose paths are what %P, %G and %h take: if both
 * mounts pass, they are apart from each other and from the socket. */
PROOF(gate_roots)
{
	static struct order order = {.root_count = 2};
	static const struct gate_known known = {.mode = ""};
	char source[2][FORMAL_N], guest[2][FORMAL_N], socket[FORMAL_N];
	struct gate gate = {.order = &order, .known = &known, .session = true};

	gate.socket = (struct span){socket, any_text(socket, FORMAL_N)};
	ASSUME(gate.socket.len > 1 && spec_canonical(socket, gate.socket.len));
	for (unsigned i = 0; i < 2; i++) {
		struct gate_mount *m = &gate.mount[i];

		order.root[i] = (struct identity){any_up_to(1), any_up_to(1)};
		m->read_only = any_bool();
		m->source = (struct span){source[i], any_text(source[i], FORMAL_N)};
		m->guest = (struct span){guest[i], any_text(guest[i], FORMAL_N)};
		ASSUME(m->source.len > 1 && spec_canonical(source[i], m->source.len));
		ASSUME(m->guest.len > 1 && spec_canonical(guest[i], m->guest.len));
	}
	if (!root_ok(&gate, 0) || !root_ok(&gate, 1))
		return;
	PROVE(order.root[0].dev != order.root[1].dev || order.root[0].ino != order.root[1].ino,
	      "two files");
	for (unsigned i = 0; i < 2; i++) {
		const struct span s = gate.mount[i].source, t = gate.mount[1 - i].source;
		const struct span u = gate.mount[i].guest, v = gate.mount[1 - i].guest;

		PROVE(!spec_contains(s.at, s.len, t.at, t.len), "no source in another");
		PROVE(!spec_contains(u.at, u.len, v.at, v.len), "no guest in another");
		PROVE(!spec_contains(s.at, s.len, socket, gate.socket.len) &&
		              !spec_contains(socket, gate.socket.len, s.at, s.len),
		      "the socket is neither in nor around a source");
	}
}

#ifdef CBMC

static bool same(struct span a, const char *text)
{
	const size_t len = strlen(text);
	bool ok = a.len == len;

	for (size_t i = 0; i < len; i++)
		ok = ok && spec_at(a.at, a.len, i) == text[i];
	return ok;
}

/* Where a mount may go in the container: a turn's two directories and a session's
 * by their names, anything else once, at the end, read-only. */
PROOF(gate_guests)
{
	static struct order order;
	static const struct gate_known known = {.mode = ""};
	char guest[FORMAL_N + 2]; /* in a word that goes on with a comma */
	struct gate gate = {.order = &order, .known = &known, .session = any_bool()};
	const unsigned i = (unsigned)any_up_to(ROOTS_MAX - 1);
	struct gate_mount *m = &gate.mount[i];
	bool hex = true, own, grant;

	order.root_count = (uint16_t)(i + 1 + any_up_to(1));
	m->read_only = any_bool();
	m->guest = (struct span){guest, any_text(guest, FORMAL_N)};
	ASSUME(m->guest.len > 1 && spec_canonical(guest, m->guest.len));
	guest[m->guest.len] = ',';
	guest[FORMAL_N + 1] = '\0';
	for (size_t k = 0; k < 64; k++)
		hex = hex && spec_hex(spec_at(guest, m->guest.len, 8 + k)) >= 0 &&
		      !(guest[8 + k] >= 'A' && guest[8 + k] <= 'F');
	grant = m->guest.len == 72 && same((struct span){guest, 8}, "/grants/") && hex;
	own = gate.session ? (grant || same(m->guest, "/workspace")) && i < 32
	                   : same(m->guest, m->read_only ? "/broker" : "/workspace");
	if (!guest_ok(&gate, i))
		return;
	PROVE(own || (m->read_only && i + 1 == order.root_count && (gate.session || i >= 2)),
	      "one of the mode's own, or the bundle");
	PROVE(own || !(spec_contains("/proc", 5, guest, m->guest.len) ||
	               spec_contains("/sys", 4, guest, m->guest.len) ||
	               spec_contains("/dev", 4, guest, m->guest.len) ||
	               spec_contains("/tmp", 4, guest, m->guest.len)),
	      "and that is out of what the engine mounts itself");
}

/* ---- what is left is read as docker reads it ---- */

uint64_t made_number(struct hole *hole, uint64_t least, uint64_t most);
void made_nano(struct hole *hole, uint64_t least, uint64_t most);
void made_byte(struct hole *hole, char want);
void made_of(struct hole *hole, const char *first, const char *other, size_t least, size_t most);
struct span made_plain(struct hole *hole, const char *controls, const char *stop);
struct span made_path(struct hole *hole, size_t max);
void made_json(struct hole *hole, struct span text);
bool made_end(const struct hole *hole);

/* Is there a word?  If so, it is followed only if it is accepted. */
static bool follow(struct hole *hole)
{
	if (__CPROVER_OBJECT_SIZE(hole->word) < WORD)
		return false;
	ASSUME(hole->ok);
	hole->ok = true;
	return true;
}

void made_byte(struct hole *hole, char want)
{
	if (follow(hole))
		((char *)hole->word)[hole->at++] = want;
}

/* At most 16 digits; what number they are, gate_numbers says. */
uint64_t made_number(struct hole *hole, uint64_t least, uint64_t most)
{
	const uint64_t value = any_u64();
	const size_t len = any_up_to(16);

	if (!follow(hole))
		return 0;
	for (size_t i = 0; i < 16; i++) {
		const char byte = hole->word[hole->at + i];

		ASSUME(i >= len || (byte >= '0' && byte <= '9'));
	}
	ASSUME(len > 0 && value >= least && value <= most);
	hole->at += len;
	return value;
}

static size_t some_bytes(struct hole *hole, size_t len, const char *never)
{
	if (!follow(hole))
		return 0;
	for (size_t i = 0; i < len; i++) {
		ASSUME(hole->word[hole->at + i] != '\0');
		for (size_t k = 0; never[k] != '\0'; k++)
			ASSUME(hole->word[hole->at + i] != never[k]);
	}
	hole->at += len;
	return len;
}

void made_nano(struct hole *hole, uint64_t least, uint64_t most)
{
	(void)least;
	(void)most;
	(void)some_bytes(hole, 3, "");
}

/* As many as may be, or three. */
void made_of(struct hole *hole, const char *first, const char *other, size_t least, size_t most)
{
	const size_t len = least > 0 && least == most ? least : most == 0 ? 0 : 3;

	if (!follow(hole))
		return;
	for (size_t i = 0; i < len; i++) {
		const char byte = hole->word[hole->at + i];
		bool one = false;

		for (size_t k = 0; first[k] != '\0'; k++)
			one = one || byte == first[k];
		for (size_t k = 0; i > 0 && other[k] != '\0'; k++)
			one = one || byte == other[k];
		ASSUME(one);
	}
	hole->at += len;
}

struct span made_plain(struct hole *hole, const char *controls, const char *stop)
{
	struct span span = {hole->word + hole->at, 0};

	(void)controls;
	span.len = some_bytes(hole, 2, stop);
	return span;
}

struct span made_path(struct hole *hole, size_t max)
{
	struct span path = {hole->word + hole->at, 0};

	(void)max;
	if (!follow(hole))
		return path;
	made_byte(hole, '/');
	path.len = 1 + some_bytes(hole, PATH_LEN - 1, ",\"\n\r");
	ASSUME(spec_canonical(path.at, path.len));
	return path;
}

/* What docker reads of the label does not depend on it. */
void made_json(struct hole *hole, struct span text)
{
	(void)text;
	(void)some_bytes(hole, 2, "");
}

/* A word that is not there is refused; any other is followed only if accepted. */
bool made_end(const struct hole *hole)
{
	struct hole here = *hole;

	if (!follow(&here))
		return false;
	((char *)here.word)[here.at] = '\0';
	return true;
}

/* One shape of a launch.  The gate looks ahead at two places: does the --init
 * word go on with a t, and a --mount word with ",r"?  Both ways are shapes, so
 * that the rest of such a word has its places. */
struct shape {
	bool session, runtime, fsize, init;
	unsigned roots, env, command;
	unsigned words; /* in all */
	bool read_only[ROOTS_MAX];
};

static unsigned init_at(const struct shape *shape)
{
	return shape->runtime ? 23 : 21;
}

static unsigned mount_at(const struct shape *shape, unsigned i)
{
	return init_at(shape) + (shape->fsize ? 37 : 35) + 2 * i;
}

static void look_ahead(const struct shape *shape, struct order *order)
{
	char *word = (char *)order->argv.at[init_at(shape)];

	word[7] = shape->init ? 't' : 'f';
	for (unsigned i = 0; i < shape->roots; i++) {
		word = (char *)order->argv.at[mount_at(shape, i)];
		word[9] = ',';
		word[10] = shape->read_only[i] ? 'r' : 's';
	}
}

static void isolates(const struct shape *shape)
{
	const struct gate_known known = {"0a", "1b", NULL, shape->session ? "session" : "turn"};
	const struct docker_counts counts = {shape->roots, shape->env, shape->runtime,
	                                     shape->fsize};
	struct docker_reading reading;
	struct order order = {
		.runtime = shape->runtime,
		.file_limit = shape->fsize,
		.root_count = (uint16_t)shape->roots,
		.env_count = (uint16_t)shape->env,
		.argv = {.count = (uint16_t)shape->words},
	};
	struct gate gate = {.order = &order, .known = &known, .session = shape->session};

	for (unsigned i = 0; i < shape->words; i++) {
		char *word = __CPROVER_allocate(WORD, 0);

		word[WORD - 1] = '\0';
		order.argv.at[i] = word;
	}
	look_ahead(shape, &order);
	if (!words_ok(&gate))
		return;
	PROVE(docker_isolates(&reading, order.argv.at, shape->words, &counts), "it isolates");
	PROVE(reading.image + 1 + shape->command == shape->words, "the image, then the command");
}

/* A --mount word that is accepted is read by docker as the gate has read it. */
static void mount_word(bool read_only)
{
	struct order order = {.root_count = 1, .argv = {.count = 1}};
	struct gate gate = {.order = &order};
	const struct gate_mount *m = &gate.mount[0];
	struct docker_mount mount;
	char *word = __CPROVER_allocate(WORD, 0);

	word[9] = ',';
	word[10] = read_only ? 'r' : 's';
	order.argv.at[0] = word;
	if (take_word(&gate, "type=bind%r,source=%P,target=%G,bind-propagation=rprivate", 0) == NULL)
		return;
	PROVE(docker_mount(&mount, word, 76), "as docker reads it");
	PROVE(word + mount.source == m->source.at && mount.source_len == m->source.len, "source");
	PROVE(word + mount.target == m->guest.at && mount.target_len == m->guest.len, "target");
	PROVE(mount.read_only == m->read_only && m->read_only == read_only, "read-only or not");
}

PROOF(gate_mount_word)
{
	mount_word(true);
	mount_word(false);
}

/* WORDS_MAX is at least two more than each shape's command has: a table that lacks
 * a flag and its value would else want more words than there are, and refuse. */
PROOF(gate_isolates_turn)
{
	isolates(&(struct shape){.roots = 2, .env = 1, .words = 66, .read_only = {true, false}});
}

PROOF(gate_isolates_session)
{
	isolates(&(struct shape){.session = true, .runtime = true, .fsize = true, .init = true,
	                         .roots = 3, .env = 2, .words = 76, .command = 2,
	                         .read_only = {false, true, true}});
}

PROOF(gate_isolates_bare)
{
	isolates(&(struct shape){.session = true, .env = 1, .words = 63, .command = 1});
}

#endif

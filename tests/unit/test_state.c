/* SPDX-License-Identifier: ISC */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <ftw.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../../executor/self.h"
#include "../../executor/state.h"

#define NONCE "00112233445566778899aabbccddeeff"
#define OTHER "ffeeddccbbaa99887766554433221100"

#define ENDPOINT "unix:///run/docker.sock"

static char base[64]; /* a private directory, new for each test */
static char path[128];

static const char *in_base(const char *name)
{
	snprintf(path, sizeof(path), "%s/%s", base, name);
	return path;
}

static void put(const char *name, const char *text, mode_t mode)
{
	int fd = open(in_base(name), O_WRONLY | O_CREAT | O_TRUNC, mode);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	assert_int_equal(fchmod(fd, mode), 0);
	assert_int_equal(close(fd), 0);
}

static size_t get(const char *name, char *to, size_t cap)
{
	int fd = open(in_base(name), O_RDONLY);
	ssize_t len;

	assert_true(fd >= 0);
	len = read(fd, to, cap - 1);
	assert_true(len >= 0);
	to[len] = '\0';
	assert_int_equal(close(fd), 0);
	return (size_t)len;
}

static mode_t mode_of(const char *name)
{
	struct stat st;

	assert_int_equal(lstat(in_base(name), &st), 0);
	return st.st_mode & 07777;
}

static bool exists(const char *name)
{
	struct stat st;

	return lstat(in_base(name), &st) == 0;
}

static int set_up(void **state)
{
	(void)state;
	umask(077);
	unsetenv("STATE_DIRECTORY");
	strcpy(base, "/tmp/test_state.XXXXXX");
	return mkdtemp(base) == NULL;
}

static int take_one(const char *name, const struct stat *st, int kind, struct FTW *at)
{
	(void)st;
	(void)kind;
	(void)at;
	return remove(name);
}

static int tear_down(void **state)
{
	(void)state;
	return nftw(base, take_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* Which file it is: its inode, so many on, and its time of birth. */
static const char *identity(const char *name, unsigned on, char to[64])
{
	struct statx stx;

	assert_int_equal(statx(AT_FDCWD, in_base(name), 0, STATX_INO | STATX_BTIME, &stx),
	                 0);
	snprintf(to, 64, "%llu:%lld.%09u", (unsigned long long)stx.stx_ino + on,
	         (long long)stx.stx_btime.tv_sec, stx.stx_btime.tv_nsec);
	return to;
}

static void done(struct state *s)
{
	const int fd[] = {s->dir, s->claims, s->lock, s->claim};

	for (size_t i = 0; i < 4; i++)
		if (fd[i] >= 0)
			close(fd[i]);
}

static enum state_result opens(const char *name)
{
	struct state s;
	enum state_result result = state_open(&s, in_base(name), "");

	done(&s);
	return result;
}

static void makes_what_is_missing(void **state)
{
	char id[256];
	struct state s, again;

	(void)state;
	assert_int_equal(state_open(&s, in_base("a/b/s"), ""), STATE_OK);
	assert_string_equal(s.path, in_base("a/b/s"));
	assert_int_equal(mode_of("a"), 0700);
	assert_int_equal(mode_of("a/b/s"), 0700);
	assert_int_equal(mode_of("a/b/s/claims"), 0700);
	assert_int_equal(mode_of("a/b/s/docker"), 0700);
	assert_true(get("a/b/s/id", id, sizeof(id)) > ID_HEX + 1);
	assert_int_equal(id[ID_HEX], ' ');
	assert_memory_equal(s.id, id, ID_HEX);
	assert_int_equal(strspn(s.id, "0123456789abcdef"), ID_HEX);
	assert_int_equal(s.lock, -1);
	assert_int_equal(s.claim, -1);
	assert_int_equal(state_open(&again, in_base("a/b/s"), ""), STATE_OK);
	assert_string_equal(again.id, s.id);
	done(&s);
	done(&again);
}

/* A starter that was killed while it made the id is in nobody's way. */
static void makes_the_id_again(void **state)
{
	static const char *const left[] = {"", NONCE, NONCE " 1:1 id\n"};
	char id[128];
	struct state s;
	int dir;

	(void)state;
	for (size_t i = 0; i < sizeof(left) / sizeof(left[0]); i++) {
		assert_int_equal(opens("s"), STATE_OK);
		assert_int_equal(unlink(in_base("s/id")), 0);
		put("s/id.new", left[i], 0600);
		assert_int_equal(state_open(&s, in_base("s"), ""), STATE_OK);
		assert_string_not_equal(s.id, NONCE);
		assert_true(get("s/id", id, sizeof(id)) > ID_HEX + 1);
		assert_memory_equal(s.id, id, ID_HEX);
		assert_false(exists("s/id.new"));
		dir = open(in_base("s"), O_RDONLY | O_DIRECTORY);
		assert_int_equal(flock(dir, LOCK_EX | LOCK_NB), 0);
		assert_int_equal(close(dir), 0);
		done(&s);
	}
}

static void chooses(void **state)
{
	char list[160];
	struct state s;

	(void)state;
	assert_int_equal(state_open(&s, NULL, base), STATE_OK);
	assert_string_equal(s.path, in_base(".local/state/cofferdam"));
	done(&s);
	snprintf(list, sizeof(list), "%s/one:%s/two", base, base);
	setenv("STATE_DIRECTORY", list, 1);
	assert_int_equal(state_open(&s, NULL, base), STATE_OK);
	assert_string_equal(s.path, in_base("one"));
	assert_false(exists("two"));
	done(&s);
	assert_int_equal(state_open(&s, in_base("three"), base), STATE_OK);
	assert_string_equal(s.path, in_base("three"));
	done(&s);
	setenv("STATE_DIRECTORY", "", 1);
	assert_int_equal(state_open(&s, NULL, ""), STATE_BAD);
	done(&s);
}

static void refuses_unsafe_directories(void **state)
{
	static const struct {
		mode_t mode;
		enum state_result result;
	} modes[] = {{0700, STATE_OK},  {0701, STATE_BAD}, {0710, STATE_BAD}, {0740, STATE_BAD},
	             {0720, STATE_BAD}, {0704, STATE_BAD}, {0777, STATE_BAD}};
	static const struct {
		mode_t mode;
		enum state_result result;
	} parents[] = {{0755, STATE_OK},  {0775, STATE_BAD},  {0757, STATE_BAD},
	               {01777, STATE_OK}, {01775, STATE_OK}, {0777, STATE_BAD}};

	(void)state;
	assert_int_equal(opens("p/s"), STATE_OK);
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		assert_int_equal(chmod(in_base("p/s"), modes[i].mode), 0);
		assert_int_equal(opens("p/s"), modes[i].result);
	}
	assert_int_equal(chmod(in_base("p/s"), 0700), 0);
	for (size_t i = 0; i < sizeof(parents) / sizeof(parents[0]); i++) {
		assert_int_equal(chmod(in_base("p"), parents[i].mode), 0);
		assert_int_equal(opens("p/s"), parents[i].result);
	}
	assert_int_equal(chmod(in_base("p"), 0700), 0);
	assert_int_equal(symlink("p/s", in_base("link")), 0);
	assert_int_equal(opens("link"), STATE_BAD);
	put("file", "", 0600);
	assert_int_equal(opens("file"), STATE_BAD);
	assert_int_equal(chmod(in_base("p/s/claims"), 0755), 0);
	assert_int_equal(opens("p/s"), STATE_BAD);
	assert_int_equal(chmod(in_base("p/s/claims"), 0700), 0);
	assert_int_equal(chmod(in_base("p/s/docker"), 0770), 0);
	assert_int_equal(opens("p/s"), STATE_BAD);
	assert_int_equal(chmod(in_base("p/s/docker"), 0700), 0);
	assert_int_equal(opens("p/s"), STATE_OK);
}

static void refuses_a_docker_config(void **state)
{
	(void)state;
	assert_int_equal(opens("s"), STATE_OK);
	put("s/docker/config.json", "{}", 0600);
	assert_int_equal(opens("s"), STATE_BAD);
	assert_int_equal(unlink(in_base("s/docker/config.json")), 0);
	assert_int_equal(symlink("nowhere", in_base("s/docker/config.json")), 0);
	assert_int_equal(opens("s"), STATE_BAD);
	assert_int_equal(unlink(in_base("s/docker/config.json")), 0);
	assert_int_equal(opens("s"), STATE_OK);
}

static void refuses_a_bad_id(void **state)
{
	static const char *const ids[] = {
		"",
		"\n",
		"00112233445566778899aabbccddeef\n",
		"00112233445566778899aabbccddeeff",
		"00112233445566778899aabbccddeeff0\n",
		"00112233445566778899aabbccddeeff\n\n",
		"00112233445566778899AABBCCDDEEFF\n",
		"00112233445566778899aabbccddeefg\n",
	};
	char good[128], self[64];
	struct state s;

	(void)state;
	assert_int_equal(opens("s"), STATE_OK);
	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		put("s/id", ids[i], 0600);
		assert_int_equal(opens("s"), STATE_BAD);
	}
	snprintf(good, sizeof(good), NONCE " %s id\n", identity("s/id", 0, self));
	put("s/id", good, 0600);
	assert_int_equal(state_open(&s, in_base("s"), ""), STATE_OK);
	assert_string_equal(s.id, NONCE);
	done(&s);
	good[strlen(good) - 2] = 'x';
	put("s/id", good, 0600);
	assert_int_equal(opens("s"), STATE_BAD);
	/* a copy of another directory's */
	snprintf(good, sizeof(good), NONCE " %s id\n", identity("s/id", 1, self));
	put("s/id", good, 0600);
	assert_int_equal(opens("s"), STATE_BAD);
	assert_int_equal(link(in_base("s/id"), "/tmp/test_state.second"), 0);
	assert_int_equal(opens("s"), STATE_BAD);
	assert_int_equal(unlink("/tmp/test_state.second"), 0);
	assert_int_equal(unlink(in_base("s/id")), 0);
	assert_int_equal(symlink("docker", in_base("s/id")), 0);
	assert_int_equal(opens("s"), STATE_BAD);
}

static void locks_once(void **state)
{
	char text[64], expected[64];
	struct state one, two;
	size_t len;

	(void)state;
	assert_int_equal(state_open(&one, in_base("s"), ""), STATE_OK);
	assert_int_equal(state_open(&two, in_base("s"), ""), STATE_OK);
	assert_int_equal(state_lock(&one, NONCE), STATE_OK);
	assert_int_equal(mode_of("s/lock"), 0600);
	assert_int_equal(state_lock(&two, OTHER), STATE_HELD);
	assert_int_equal(state_lock(&two, OTHER), STATE_HELD);
	len = state_holder(&two, text, sizeof(text));
	snprintf(expected, sizeof(expected), "%d " NONCE "\n", (int)getpid());
	assert_int_equal(len, strlen(expected));
	assert_memory_equal(text, expected, len);
	assert_true(state_unlock(&one));
	assert_int_equal(one.lock, -1);
	assert_int_equal(state_lock(&two, OTHER), STATE_OK);
	assert_int_equal(state_lock(&one, NONCE), STATE_HELD);
	assert_true(state_unlock(&two));
	done(&one);
	done(&two);
}

static void notices_a_replaced_lock(void **state)
{
	char old[128];
	struct state one, two;

	(void)state;
	assert_int_equal(state_open(&one, in_base("s"), ""), STATE_OK);
	assert_int_equal(state_open(&two, in_base("s"), ""), STATE_OK);
	assert_int_equal(state_lock(&one, NONCE), STATE_OK);
	assert_int_equal(state_lock(&two, OTHER), STATE_HELD);
	snprintf(old, sizeof(old), "%s/s/old", base);
	assert_int_equal(rename(in_base("s/lock"), old), 0);
	assert_false(state_unlock(&one));
	/* The waiter got the old file; that is not the lock: it tries again. */
	assert_int_equal(state_lock(&two, OTHER), STATE_HELD);
	assert_int_equal(state_lock(&two, OTHER), STATE_OK);
	put("s/new", "", 0600);
	assert_int_equal(rename(in_base("s/new"), strcat(strcpy(old, base), "/s/lock")), 0);
	assert_false(state_unlock(&two));
	done(&one);
	done(&two);
}

static void refuses_odd_locks(void **state)
{
	char other[128];
	struct state s;

	(void)state;
	snprintf(other, sizeof(other), "%s/s/other", base);
	assert_int_equal(state_open(&s, in_base("s"), ""), STATE_OK);
	put("s/lock", "", 0600);
	assert_int_equal(link(in_base("s/lock"), other), 0);
	assert_int_equal(state_lock(&s, NONCE), STATE_BAD);
	done(&s);
	assert_int_equal(unlink(in_base("s/lock")), 0);
	assert_int_equal(symlink("other", in_base("s/lock")), 0);
	assert_int_equal(state_open(&s, in_base("s"), ""), STATE_OK);
	assert_int_equal(state_lock(&s, NONCE), STATE_BAD);
	done(&s);
	assert_int_equal(unlink(in_base("s/lock")), 0);
	assert_int_equal(mkfifo(in_base("s/lock"), 0600), 0);
	assert_int_equal(state_open(&s, in_base("s"), ""), STATE_OK);
	assert_int_equal(state_lock(&s, NONCE), STATE_BAD);
	done(&s);
	assert_int_equal(unlink(in_base("s/lock")), 0);
	assert_int_equal(mkdir(in_base("s/lock"), 0700), 0);
	assert_int_equal(state_open(&s, in_base("s"), ""), STATE_OK);
	assert_int_equal(state_lock(&s, NONCE), STATE_BAD);
	done(&s);
}

static void claims(void **state)
{
	char text[128], old[128];
	long long when;
	struct state one, two;
	int used = 0;

	(void)state;
	assert_int_equal(state_open(&one, in_base("s"), ""), STATE_OK);
	assert_int_equal(state_open(&two, in_base("s"), ""), STATE_OK);
	assert_true(state_drop_claim(&one)); /* none: nothing to drop */
	assert_true(state_claim(&one, NONCE, ENDPOINT));
	assert_int_equal(mode_of("s/claims/" NONCE), 0600);
	assert_false(state_claim(&two, NONCE, ENDPOINT));
	assert_true(state_claim(&two, OTHER, ENDPOINT));
	assert_true(state_claim_say(&one, "created x\n"));
	get("s/claims/" NONCE, text, sizeof(text));
	assert_int_equal(sscanf(text, "creating %lld %*u:%*u.%*u " ENDPOINT "\ncreated x\n%n", &when, &used), 1);
	assert_int_equal(used, (int)strlen(text));
	assert_true(when > 1600000000);
	assert_true(state_drop_claim(&one));
	assert_false(exists("s/claims/" NONCE));
	assert_true(exists("s/claims/" OTHER));
	assert_true(state_drop_claim(&one));
	snprintf(old, sizeof(old), "%s/old", base);
	assert_int_equal(rename(in_base("s/claims/" OTHER), old), 0);
	put("s/claims/" OTHER, "", 0600);
	assert_false(state_drop_claim(&two));
	assert_true(exists("s/claims/" OTHER)); /* not ours */
	done(&one);
	done(&two);
}

#define QUIET 30 /* seconds */
#define HEX_31 "0011223344556677889900112233445"

/* What state_reap hands over; whether it is gone; what it finds there. */
struct reaped {
	bool gone;
	unsigned count;
	char last[ID_HEX + 1];
	bool held;
	bool created;
};

static bool hand_over(void *context, const char *nonce, bool created)
{
	struct reaped *reaped = context;
	char name[64];
	int fd;

	snprintf(name, sizeof(name), "s/claims/%s", nonce);
	fd = open(in_base(name), O_RDWR);
	assert_true(fd >= 0);
	reaped->held = flock(fd, LOCK_EX | LOCK_NB) != 0;
	close(fd);
	strcpy(reaped->last, nonce);
	reaped->created = created;
	reaped->count++;
	return reaped->gone;
}

static void reap(const struct state *s, unsigned most, struct reaped *reaped)
{
	reaped->count = 0;
	state_reap(s, most, QUIET, ENDPOINT, hand_over, reaped);
}

/* An @ in the text becomes what a claim says of itself. */
static void put_claim(const char *name, const char *with, int age)
{
	struct timespec times[2] = {{time(NULL) - age, 0}, {time(NULL) - age, 0}};
	char contents[512], self[64];
	int fd;

	put(name, "", 0600);
	fd = open(in_base(name), O_RDWR);
	snprintf(contents, sizeof(contents), "%.*s %s %s%s", (int)strcspn(with, "@"), with,
	         identity(name, 0, self), ENDPOINT, strchr(with, '@') != NULL ? strchr(with, '@') + 1 : "");
	if (strchr(with, '@') == NULL)
		snprintf(contents, sizeof(contents), "%s", with);
	assert_int_equal(write(fd, contents, strlen(contents)), (ssize_t)strlen(contents));
	assert_int_equal(futimens(fd, times), 0);
	close(fd);
}

/* One claim at a time: adopted, or left as it is. */
static void reaps_what_is_due(void **state)
{
	static const struct {
		const char *name;
		const char *text;
		int age;
		bool due;
	} rows[] = {
		{NONCE, "creating 1@\n", 0, false},
		{NONCE, "creating 1@\n", QUIET - 20, false},
		{NONCE, "creating 1@\n", QUIET + 1, true},
		{NONCE, "creating 1@\n", -20, false}, /* the clock was set back */
		{NONCE, "", 0, false},
		{NONCE, "", QUIET + 1, true}, /* its maker was killed */
		{NONCE, "\nstuck\n", QUIET + 1, false},
		{NONCE, "\nstuck\n", STATE_STUCK_SECONDS + 1, true},
		{NONCE, "stuck\n", STATE_STUCK_SECONDS + 1, false},
		{NONCE, "creating 1@\ncreated x\n", 0, true},
		{NONCE, "creating 1@\ncreated x\n", QUIET + 1, true},
		{NONCE, "creating 1@\ncreated x\nstuck\n", QUIET + 1, false},
		{NONCE, "creating 1@\ncreated x\nstuck\n", STATE_STUCK_SECONDS + 1, true},
		{NONCE, "creating 1@\nstuck\n", QUIET + 1, false},
		/* a copy of the directory, another engine */
		{NONCE, "creating 1 1:1 " ENDPOINT "\ncreated x\n", QUIET + 1, false},
		{NONCE, "creating 1@x\ncreated x\n", QUIET + 1, false},
		{NONCE, "creating 1@", QUIET + 1, false},
		{NONCE, "creating 1\ncreated x\n", QUIET + 1, false},
		{NONCE, "created x@\n", 0, false}, /* not on a line after the first */
		{NONCE, "creating 1@\nxcreated x\n", 0, false},
		{NONCE, "creating 1@\ncreate", 0, false},
		{OTHER, "creating 1@\ncreated x\n", 0, true},
		{"x", "creating 1@\ncreated x\n", QUIET + 1, false},
		{HEX_31, "creating 1@\ncreated x\n", QUIET + 1, false},
		{NONCE "0", "creating 1@\ncreated x\n", QUIET + 1, false},
		{NONCE ".", "creating 1@\ncreated x\n", QUIET + 1, false},
		{HEX_31 "A", "creating 1@\ncreated x\n", QUIET + 1, false},
		{HEX_31 "g", "creating 1@\ncreated x\n", QUIET + 1, false},
	};
	struct reaped reaped = {.gone = true};
	char name[64];
	struct state s;

	(void)state;
	assert_int_equal(state_open(&s, in_base("s"), ""), STATE_OK);
	reap(&s, 8, &reaped);
	assert_int_equal(reaped.count, 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		snprintf(name, sizeof(name), "s/claims/%s", rows[i].name);
		put_claim(name, rows[i].text, rows[i].age);
		reap(&s, 8, &reaped);
		assert_int_equal(reaped.count, rows[i].due);
		assert_int_equal(exists(name), !rows[i].due);
		if (rows[i].due) {
			assert_string_equal(reaped.last, rows[i].name);
			assert_true(reaped.held);
			assert_int_equal(reaped.created,
			                 strstr(rows[i].text, "created") != NULL);
		} else {
			assert_int_equal(unlink(in_base(name)), 0);
		}
	}
	done(&s);
}

static void leaves_held_claims(void **state)
{
	struct reaped reaped = {.gone = true};
	struct state s, other;

	(void)state;
	assert_int_equal(state_open(&s, in_base("s"), ""), STATE_OK);
	assert_int_equal(state_open(&other, in_base("s"), ""), STATE_OK);
	assert_true(state_claim(&other, NONCE, ENDPOINT));
	assert_true(state_claim_say(&other, "created x\n"));
	reap(&s, 8, &reaped);
	assert_int_equal(reaped.count, 0);
	assert_true(exists("s/claims/" NONCE));
	assert_int_equal(close(other.claim), 0); /* as when its holder was killed */
	other.claim = -1;
	reap(&s, 8, &reaped);
	assert_int_equal(reaped.count, 1);
	assert_string_equal(reaped.last, NONCE);
	assert_false(exists("s/claims/" NONCE));
	done(&s);
	done(&other);
}

static bool adopts_it(struct state *s, bool *created)
{
	*created = false;
	return state_adopt(s, NONCE, ENDPOINT, QUIET, created);
}

/* One claim by its name, under the same rules but for the patience. */
static void adopts(void **state)
{
	struct state s, other;
	bool created;

	(void)state;
	assert_int_equal(state_open(&s, in_base("s"), ""), STATE_OK);
	assert_int_equal(state_open(&other, in_base("s"), ""), STATE_OK);
	assert_false(adopts_it(&s, &created)); /* there is none */
	assert_int_equal(s.claim, -1);
	assert_false(exists("s/claims/" NONCE));
	put_claim("s/claims/" NONCE, "creating 1@\n", 0);
	assert_false(adopts_it(&s, &created)); /* too young */
	put_claim("s/claims/" NONCE, "creating 1\n", QUIET + 1);
	assert_false(adopts_it(&s, &created)); /* another file's */
	put_claim("s/claims/" NONCE, "creating 1@\n", QUIET + 1);
	assert_false(state_adopt(&s, NONCE, "unix:///other.sock", QUIET, &created));
	assert_true(adopts_it(&s, &created));
	assert_false(created);
	assert_false(adopts_it(&other, &created)); /* held */
	assert_int_equal(close(s.claim), 0);
	put_claim("s/claims/" NONCE, "creating 1@\ncreated x\nstuck\n", 0);
	assert_true(adopts_it(&other, &created));
	assert_true(created);
	assert_true(state_drop_claim(&other));
	assert_false(exists("s/claims/" NONCE));
	assert_int_equal(symlink("../id", in_base("s/claims/" NONCE)), 0);
	assert_false(adopts_it(&other, &created));
	done(&other);
	s.claim = -1;
	done(&s);
}

/* What is not a file of ours alone is no claim, whatever its name. */
static void leaves_odd_claims(void **state)
{
	struct reaped reaped = {.gone = true};
	char other[128];
	struct state s;

	(void)state;
	assert_int_equal(state_open(&s, in_base("s"), ""), STATE_OK);
	assert_int_equal(mkdir(in_base("s/claims/" NONCE), 0700), 0);
	reap(&s, 8, &reaped);
	assert_int_equal(rmdir(in_base("s/claims/" NONCE)), 0);
	put_claim("s/target", "creating 1@\ncreated x\n", 0);
	assert_int_equal(symlink("../target", in_base("s/claims/" NONCE)), 0);
	state_reap(&s, 8, QUIET, ENDPOINT, hand_over, &reaped);
	assert_int_equal(unlink(in_base("s/claims/" NONCE)), 0);
	assert_int_equal(mkfifo(in_base("s/claims/" NONCE), 0600), 0);
	state_reap(&s, 8, 0, ENDPOINT, hand_over, &reaped);
	assert_int_equal(unlink(in_base("s/claims/" NONCE)), 0);
	snprintf(other, sizeof(other), "%s/s/target", base);
	assert_int_equal(link(other, in_base("s/claims/" NONCE)), 0);
	state_reap(&s, 8, QUIET, ENDPOINT, hand_over, &reaped);
	assert_int_equal(reaped.count, 0);
	assert_true(exists("s/claims/" NONCE));
	assert_int_equal(unlink(other), 0); /* now it has one name */
	state_reap(&s, 8, QUIET, ENDPOINT, hand_over, &reaped);
	assert_int_equal(reaped.count, 1);
	done(&s);
}

static unsigned claims_left(void)
{
	char name[64];
	unsigned left = 0;

	for (unsigned i = 0; i < 5; i++) {
		snprintf(name, sizeof(name), "s/claims/%032x", i);
		left += exists(name);
	}
	return left;
}

/* Those that stay count too; what did not go is there for the next call. */
static void reaps_so_many(void **state)
{
	static const struct {
		unsigned most;
		bool gone;
		unsigned count, left;
	} rows[] = {
		{0, true, 0, 5}, {2, true, 2, 3}, {1, false, 1, 3},
		{8, true, 2, 1}, {8, true, 0, 1}, /* the stuck one is left alone */
	};
	struct reaped reaped;
	char name[64];
	struct state s;

	(void)state;
	assert_int_equal(state_open(&s, in_base("s"), ""), STATE_OK);
	for (unsigned i = 0; i < 5; i++) {
		snprintf(name, sizeof(name), "s/claims/%032x", i);
		put_claim(name, "creating 1@\ncreated x\n", 0);
	}
	put_claim("s/claims/x", "", QUIET + 1); /* not counted */
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		reaped.gone = rows[i].gone;
		reap(&s, rows[i].most, &reaped);
		assert_int_equal(reaped.count, rows[i].count);
		assert_int_equal(claims_left(), rows[i].left);
	}
	assert_true(exists("s/claims/x"));
	assert_true(s.claims >= 0);
	assert_true(state_claim(&s, NONCE, ENDPOINT)); /* the directory is still open */
	done(&s);
}

static void random_ids(void **state)
{
	uint8_t one[NONCE_BYTES], two[NONCE_BYTES];
	char hex[ID_HEX + 1], other[ID_HEX + 1], expected[ID_HEX + 1];

	(void)state;
	assert_true(state_random(one, hex));
	assert_true(state_random(two, other));
	assert_memory_not_equal(one, two, sizeof(one));
	for (size_t i = 0; i < NONCE_BYTES; i++)
		snprintf(expected + 2 * i, 3, "%02x", one[i]);
	assert_string_equal(hex, expected);
}

/* What the state directory and docker's path rest on. */
static void safe_paths(void **state)
{
	(void)state;
	assert_true(self_safe("/", 0, false));
	assert_true(self_safe("/usr/bin", 0, false));
	assert_false(self_safe("usr/bin", 0, true));
	assert_false(self_safe("", 0, true));
	assert_false(self_safe("/nonexistent/x", 0, true));
	assert_false(self_safe("/tmp", 0, false)); /* others write there */
	assert_true(self_safe("/tmp", 0, true));
	put("f", "", 0644);
	assert_true(self_safe(in_base("f"), geteuid(), true));
	assert_false(self_safe(in_base("f"), geteuid(), false)); /* /tmp */
	assert_int_equal(self_safe(in_base("f"), geteuid() + 1, true), geteuid() == 0);
	assert_int_equal(chmod(in_base("f"), 0664), 0);
	assert_false(self_safe(in_base("f"), geteuid(), true));
	assert_int_equal(chmod(in_base("f"), 01666), 0); /* sticky is for directories */
	assert_false(self_safe(in_base("f"), geteuid(), true));
	assert_int_equal(symlink("f", in_base("l")), 0);
	assert_true(self_safe(in_base("l"), geteuid(), true));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
		TEST(makes_what_is_missing),      TEST(makes_the_id_again),
		TEST(chooses),
		TEST(refuses_unsafe_directories), TEST(refuses_a_docker_config),
		TEST(refuses_a_bad_id),           TEST(locks_once),
		TEST(notices_a_replaced_lock),    TEST(refuses_odd_locks),
		TEST(claims),                     TEST(reaps_what_is_due),
		TEST(adopts),
		TEST(leaves_held_claims),         TEST(leaves_odd_claims),
		TEST(reaps_so_many),              TEST(random_ids),
		TEST(safe_paths),
#undef TEST
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

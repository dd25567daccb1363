/* SPDX-License-Identifier: ISC */
#undef _FORTIFY_SOURCE /* fake_calls.h */
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
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../../executor/self.h"
#include "../../executor/state.h"
#include "fake_calls.h"
#include "scratch.h"
#include "usual.h"

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
	memset(&fake, 0, sizeof(fake));
	unsetenv("STATE_DIRECTORY");
	strcpy(base, "/tmp/test_state.XXXXXX");
	return mkdtemp(base) == NULL;
}

static int tear_down(void **state)
{
	(void)state;
	return scratch_remove(base);
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

/* How many descriptors there are, and how many would be inherited. */
static unsigned descriptors(void)
{
	unsigned count = 0;

	for (int fd = 0; fd < 256; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

static unsigned inherited(void)
{
	unsigned count = 0;

	for (int fd = 0; fd < 256; fd++)
		count += fcntl(fd, F_GETFD) == 0;
	return count;
}

static bool all_close_on_exec(const struct state *s)
{
	const int fd[] = {s->dir, s->claims, s->lock, s->claim};
	bool all = true;

	for (size_t i = 0; i < 4; i++)
		all = all && (fd[i] < 0 || fcntl(fd[i], F_GETFD) == FD_CLOEXEC);
	return all;
}

#define NO_HOME "no home, or too long a path"
#define NOT_YOURS "not a directory of yours alone (mode 0700), or it cannot be made"
#define REPLACED "others could replace it or a directory above it"
#define NOT_LOCAL "its file system is not a local one"
#define BAD_ID "its id cannot be made, is damaged, or is a copy of another directory's"
#define BAD_CLAIMS "claims in it is not a directory of yours alone"
#define BAD_DOCKER "docker in it is not an empty directory of yours alone"

/* What is wrong with it, or NULL; and nothing is left open. */
static const char *wrong_with(const char *name)
{
	const unsigned before = descriptors();
	struct state s;
	enum state_result result = state_open(&s, in_base(name), "");

	assert_int_equal(result, s.wrong == NULL ? STATE_OK : STATE_BAD);
	assert_true(all_close_on_exec(&s));
	assert_true(s.dir >= -1 && s.claims >= -1 && s.lock == -1 && s.claim == -1);
	done(&s);
	assert_int_equal(descriptors(), before);
	return s.wrong;
}

static enum state_result opens(const char *name)
{
	return wrong_with(name) == NULL ? STATE_OK : STATE_BAD;
}

static void is_wrong(const char *name, const char *wrong)
{
	const char *found = wrong_with(name);

	assert_non_null(found);
	assert_string_equal(found, wrong);
}

static void makes_what_is_missing(void **state)
{
	char id[256];
	struct state s, again;

	(void)state;
	umask(0); /* the modes are our own */
	assert_int_equal(state_open(&s, in_base("a/b/s"), ""), STATE_OK);
	assert_string_equal(s.path, in_base("a/b/s"));
	assert_null(s.wrong);
	assert_int_equal(mode_of("a/b"), 0700);
	assert_int_equal(mode_of("a/b/s/id"), 0600);
	assert_int_equal(state_lock(&s, NONCE), STATE_OK);
	assert_int_equal(mode_of("a/b/s/lock"), 0600);
	assert_true(state_claim(&s, NONCE, ENDPOINT));
	assert_int_equal(mode_of("a/b/s/claims/" NONCE), 0600);
	assert_true(all_close_on_exec(&s));
	assert_true(state_drop_claim(&s));
	assert_int_equal(s.claim, -1);
	assert_true(state_unlock(&s));
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
	assert_int_equal(chdir(base), 0);
	assert_int_equal(state_open(&s, "r/q/s", ""), STATE_OK);
	assert_string_equal(s.path, in_base("r/q/s"));
	assert_int_equal(mode_of("r"), 0700);
	assert_int_equal(chdir("/"), 0);
	done(&s);
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

/* Which path is meant. */
static void chooses_a_path(void **state)
{
	static char longest[STATE_PATH + 1];
	static const struct {
		const char *given, *variable, *home;
		const char *path; /* NULL: none */
	} rows[] = {
		{"/g", "/v", "/h", "/g"},     {"g", NULL, "", "g"},
		{"/g:h", NULL, "", "/g:h"},   {"", "/v", "/h", NULL},
		{"", NULL, "/h", NULL},       {NULL, "/v", "/h", "/v"},
		{NULL, "/", "/h", "/"},       {NULL, "/v:/w", "/h", "/v"},
		{NULL, ":/w", "/h", NULL},    {NULL, "", "/h", "/h/.local/state/cofferdam"},
		{NULL, NULL, "/h", "/h/.local/state/cofferdam"},
		{NULL, NULL, "/", "//.local/state/cofferdam"},
		{NULL, NULL, "\0h", NULL},    {NULL, "\0v", "\0h", NULL},
	};
	char chosen[STATE_PATH + 1];
	struct state s;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		unsetenv("STATE_DIRECTORY");
		if (rows[i].variable != NULL)
			setenv("STATE_DIRECTORY", rows[i].variable, 1);
		assert_int_equal(state_choose(chosen, rows[i].given, rows[i].home),
		                 rows[i].path != NULL);
		if (rows[i].path != NULL)
			assert_string_equal(chosen, rows[i].path);
	}
	unsetenv("STATE_DIRECTORY");
	chosen[STATE_PATH] = '#';
	memset(longest, 'x', STATE_PATH);
	assert_false(state_choose(chosen, longest, ""));
	assert_int_equal(state_open(&s, longest, ""), STATE_BAD);
	assert_string_equal(s.wrong, NO_HOME);
	assert_true(s.dir == -1 && s.claims == -1 && s.lock == -1 && s.claim == -1);
	longest[STATE_PATH - 1] = '\0';
	assert_true(state_choose(chosen, longest, ""));
	assert_string_equal(chosen, longest);
	assert_int_equal(chosen[STATE_PATH], '#');
}

static void another_owner(struct stat *st)
{
	st->st_uid++;
}

static void refuses_another_owners_directories(void **state)
{
	(void)state;
	assert_null(wrong_with("s"));
	fake_begins(0);
	fake.folder = another_owner;
	is_wrong("s", NOT_YOURS);
}

/* f_type of statfs(2), as <linux/magic.h> and the file systems have it. */
static void remote_file_systems(void **state)
{
	static const unsigned remote[] = {
		0x6969, 0x65735546, 0x517b, 0xff534d42, 0xfe534d42, 0x01021997,
		0x00c36400, 0x5346414f, 0x6b414653, 0x73757245, 0x0bd00bd0, 0x47504653,
	};
	static const unsigned local[] = {0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630};
	const int fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	(void)state;
	for (size_t i = 0; i < sizeof(remote) / sizeof(remote[0]); i++) {
		fake.kind = remote[i];
		assert_false(state_local(fd));
		is_wrong("s", NOT_LOCAL);
		fake.kind = remote[i] ^ 1;
		assert_true(state_local(fd));
	}
	for (size_t i = 0; i < sizeof(local) / sizeof(local[0]); i++) {
		fake.kind = local[i];
		assert_true(state_local(fd));
	}
	assert_null(wrong_with("s"));
	assert_int_equal(close(fd), 0);
	assert_false(state_local(fd));
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
		if (modes[i].result == STATE_OK)
			assert_null(wrong_with("p/s"));
		else
			is_wrong("p/s", NOT_YOURS);
	}
	assert_int_equal(chmod(in_base("p/s"), 0700), 0);
	for (size_t i = 0; i < sizeof(parents) / sizeof(parents[0]); i++) {
		assert_int_equal(chmod(in_base("p"), parents[i].mode), 0);
		if (parents[i].result == STATE_OK)
			assert_null(wrong_with("p/s"));
		else
			is_wrong("p/s", REPLACED);
	}
	assert_int_equal(chmod(in_base("p"), 0700), 0);
	assert_int_equal(symlink("p/s", in_base("link")), 0);
	is_wrong("link", NOT_YOURS);
	put("file", "", 0600);
	is_wrong("file", NOT_YOURS);
	is_wrong("file/s", NOT_YOURS);
	assert_int_equal(chmod(in_base("p/s/claims"), 0755), 0);
	is_wrong("p/s", BAD_CLAIMS);
	assert_int_equal(chmod(in_base("p/s/claims"), 0700), 0);
	assert_int_equal(chmod(in_base("p/s/docker"), 0770), 0);
	is_wrong("p/s", BAD_DOCKER);
	assert_int_equal(chmod(in_base("p/s/docker"), 0700), 0);
	assert_int_equal(opens("p/s"), STATE_OK);
}

static void refuses_a_docker_config(void **state)
{
	(void)state;
	assert_int_equal(opens("s"), STATE_OK);
	put("s/docker/config.json", "{}", 0600);
	is_wrong("s", BAD_DOCKER);
	fake_begins(0); /* an old errno is not that of the look */
	is_wrong("s", BAD_DOCKER);
	fake.counted = false;
	assert_int_equal(unlink(in_base("s/docker/config.json")), 0);
	assert_int_equal(symlink("nowhere", in_base("s/docker/config.json")), 0);
	is_wrong("s", BAD_DOCKER);
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
	static const char *const almost[] = {
		"00112233445566778899aabbccddeefg", "00112233445566778899AABBCCDDEEFF",
		"00112233445566778899aabbccddeef ", "00112233445566778899aabbccddeef",
		"00112233445566778899aabbccddeeff0", "/0112233445566778899aabbccddeeff",
	};
	char good[128], self[64];
	struct state s;

	(void)state;
	assert_int_equal(opens("s"), STATE_OK);
	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		put("s/id", ids[i], 0600);
		is_wrong("s", BAD_ID);
	}
	for (size_t i = 0; i < sizeof(almost) / sizeof(almost[0]); i++) {
		snprintf(good, sizeof(good), "%s %s id\n", almost[i], identity("s/id", 0, self));
		put("s/id", good, 0600);
		is_wrong("s", BAD_ID);
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

/* Several starters make one id: here another one is faster. */
static char its_id[ID_HEX + 1];

static void another_makes_it(void)
{
	const struct fake_calls ours = fake;
	struct state s;

	fake = (struct fake_calls){.counted = false};
	assert_int_equal(state_open(&s, in_base("s"), ""), STATE_OK);
	strcpy(its_id, s.id);
	done(&s);
	fake = ours;
}

static void makes_one_id(void **state)
{
	struct state s;

	(void)state;
	fake_begins(0);
	fake.before_flock = another_makes_it;
	assert_int_equal(state_open(&s, in_base("s"), ""), STATE_OK);
	assert_string_equal(s.id, its_id);
	assert_int_equal(flock(s.dir, LOCK_EX | LOCK_NB), 0);
	done(&s);
}

/* So many calls, each failing once: what is tolerated is named.  No descriptor is lost,
 * and what is left behind is in nobody's way. */
static bool tolerated(const char *const *which)
{
	bool is = false;

	for (; *which != NULL; which++)
		is = is || strcmp(fake.failed, *which) == 0;
	return is;
}

static bool was_synced; /* before the id has its name */

static void opening_fails(const char *const *harmless, bool anew, const char *zero)
{
	const unsigned before = descriptors();
	const int own = zero != NULL ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) : -1;
	const char *wrong = "";
	char id[ID_HEX + 1] = "";
	struct state s;

	for (unsigned call = 1; wrong != NULL; call++) {
		assert_int_equal(anew ? tear_down(NULL) | set_up(NULL) : 0, 0);
		if (!anew) {
			assert_int_equal(state_open(&s, in_base("s"), ""), STATE_OK);
			strcpy(id, s.id);
			done(&s);
		}
		in_base("s");
		fake.zero = zero != NULL && strcmp(zero, "s") == 0 ? path : zero;
		if (zero != NULL)
			close(STDIN_FILENO);
		fake_begins(call);
		(void)!state_open(&s, in_base("s"), "");
		fake.counted = false;
		wrong = s.wrong;
		was_synced = was_synced || strcmp(fake.failed, "fsync 1") == 0;
		if (wrong == NULL && !anew)
			assert_string_equal(s.id, id);
		assert_true(s.dir >= -1 && s.claims >= -1);
		done(&s);
		if (zero != NULL) {
			assert_false(fcntl(STDIN_FILENO, F_GETFD) >= 0);
			assert_int_equal(dup2(own, STDIN_FILENO), STDIN_FILENO);
		}
		assert_int_equal(descriptors(), before + (zero != NULL));
		if (wrong == NULL && fake.failed[0] != '\0' && tolerated(harmless))
			wrong = "";
		else if ((wrong == NULL) != (fake.failed[0] == '\0'))
			fail_msg("%s fails: %s", fake.failed, wrong);
		assert_null(wrong_with("s"));
	}
	if (own >= 0)
		close(own);
}

static void every_call_of_opening_may_fail(void **state)
{
	static const char *const anew[] = {"unlinkat 1", "faccessat 1", "close 2", "close 3", NULL};
	static const char *const again[] = {"close 1", "close 2", NULL};
	static const char *const zero[] = {NULL, "s", "id", "id.new", "claims", "docker"};

	(void)state;
	for (size_t i = 0; i < sizeof(zero) / sizeof(zero[0]); i++) {
		opening_fails(anew, true, zero[i]);
		opening_fails(again, false, zero[i]);
	}
	assert_true(was_synced);
}

/* What failed first tells what is wrong. */
static void opening_tells_what_failed(void **state)
{
	static const struct {
		const char *failed, *wrong;
	} rows[] = {
		{"mkdirat 1", NOT_YOURS}, {"openat 1", NOT_YOURS}, {"fstat 1", NOT_YOURS},
		{"readlink 1", REPLACED}, {"fstatfs 1", NOT_LOCAL}, {"openat 2", BAD_ID},
		{"read 1", BAD_ID}, {"statx 1", BAD_ID}, {"mkdirat 2", BAD_CLAIMS},
		{"openat 3", BAD_CLAIMS}, {"mkdirat 3", BAD_DOCKER}, {"openat 4", BAD_DOCKER},
		{"faccessat 1", BAD_DOCKER},
	};
	struct state s;
	unsigned found = 0;

	(void)state;
	assert_null(wrong_with("s"));
	for (unsigned call = 1; call < 64; call++) {
		fake_begins(call);
		(void)!state_open(&s, in_base("s"), "");
		fake.counted = false;
		for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
			if (strcmp(fake.failed, rows[i].failed) != 0)
				continue;
			assert_string_equal(s.wrong, rows[i].wrong);
			found++;
		}
		if (s.wrong != NULL && strcmp(s.wrong, NOT_YOURS) == 0)
			assert_int_equal(s.dir, -1);
		if (s.wrong != NULL && strcmp(s.wrong, BAD_DOCKER) != 0)
			assert_int_equal(s.claims, -1);
		done(&s);
	}
	assert_int_equal(found, sizeof(rows) / sizeof(rows[0]));
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

static void descriptor_0_can_be_the_lock(void **state)
{
	const int own = dup(STDIN_FILENO);
	struct state s;

	(void)state;
	assert_int_equal(state_open(&s, in_base("s"), ""), STATE_OK);
	assert_int_equal(close(STDIN_FILENO), 0);
	for (int i = 0; i < 2; i++) { /* the second time it has it */
		assert_int_equal(state_lock(&s, NONCE), STATE_OK);
		assert_int_equal(s.lock, STDIN_FILENO);
	}
	assert_true(state_unlock(&s));
	assert_int_equal(dup2(own, STDIN_FILENO), STDIN_FILENO);
	close(own);
	done(&s);
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
	assert_int_equal(errno, ELOOP);
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
	assert_int_equal(errno, EEXIST); /* reap then adopts it */
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
	memset(hex, '#', sizeof(hex));
	assert_true(state_random(one, hex));
	assert_int_equal(hex[ID_HEX], '\0');
	fake.random = NONCE_BYTES - 1;
	assert_false(state_random(one, hex));
	fake.random = NONCE_BYTES;
	assert_true(state_random(one, hex));
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

/* --- with a state directory that is open: one call fails, or sees another file --- */

static void put_claim(const char *name, const char *with, int age);

static struct state open_state;
static bool claim_created;

static bool does_lock(void)
{
	return state_lock(&open_state, NONCE) == STATE_OK;
}

static bool does_unlock(void)
{
	return state_unlock(&open_state);
}

static bool does_claim(void)
{
	return state_claim(&open_state, NONCE, ENDPOINT);
}

static bool does_adopt(void)
{
	return state_adopt(&open_state, NONCE, ENDPOINT, QUIET, &claim_created);
}

static bool does_drop(void)
{
	return state_drop_claim(&open_state);
}

static bool does_spoilt(void)
{
	return state_spoilt(&open_state, NONCE, QUIET);
}

static bool does_random(void)
{
	uint8_t bytes[NONCE_BYTES];
	char hex[ID_HEX + 1];

	return state_random(bytes, hex);
}

static bool takes_it(void *context, const char *nonce, bool created)
{
	(void)nonce;
	(void)created;
	*(unsigned *)context = inherited();
	return true;
}

static bool does_reap(void)
{
	const unsigned before = inherited();
	unsigned meanwhile = 0;

	state_reap(&open_state, 1, QUIET, ENDPOINT, takes_it, &meanwhile);
	return meanwhile == before && !exists("s/claims/" NONCE);
}

static const struct {
	const char *name;
	bool (*does)(void);
	bool locked; /* before */
	char claim; /* before: there is one, 'h'eld by us or 'o'ld; or '-' */
	const char *zero; /* what it opens */
	const char *const harmless[3];
} steps[] = {
	{"lock", does_lock, false, '-', "lock", {NULL}},
	{"unlock", does_unlock, true, '-', NULL, {"close 1", NULL}},
	{"claim", does_claim, true, '-', NONCE, {NULL}},
	{"adopt", does_adopt, false, 'o', NONCE, {NULL}},
	{"drop", does_drop, false, 'h', NULL, {"close 1", NULL}},
	{"spoilt", does_spoilt, false, 'o', NONCE, {"openat 1", "close 1", NULL}},
	{"random", does_random, false, '-', NULL, {NULL}},
	{"reap", does_reap, false, 'o', NONCE, {"close 1", "close 2", NULL}},
	{"reap", does_reap, false, 'o', ".", {"close 1", "close 2", NULL}},
};

/* Goes one step from a fresh start, and tells whether it was made. */
static bool step(size_t i, unsigned fails, const char *zero, void (*changed)(struct stat *),
                 void (*renamed)(struct stat *))
{
	const int own = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	const unsigned before = descriptors();
	bool made;

	assert_int_equal(tear_down(NULL) | set_up(NULL), 0);
	assert_int_equal(state_open(&open_state, in_base("s"), ""), STATE_OK);
	if (steps[i].locked)
		assert_int_equal(state_lock(&open_state, NONCE), STATE_OK);
	if (steps[i].claim == 'h')
		assert_true(state_claim(&open_state, NONCE, ENDPOINT));
	if (steps[i].claim == 'o')
		put_claim("s/claims/" NONCE, "creating 1@\n", QUIET + 1);
	fake.zero = zero;
	fake.file = changed;
	fake.name = renamed;
	if (zero != NULL)
		close(STDIN_FILENO);
	fake_begins(fails);
	made = steps[i].does();
	fake.counted = false;
	if (strcmp(steps[i].name, "lock") == 0 && renamed != NULL)
		assert_int_equal(open_state.lock, -1);
	if (strcmp(steps[i].name, "unlock") == 0)
		assert_int_equal(open_state.lock, -1);
	if (strcmp(steps[i].name, "drop") == 0)
		assert_int_equal(open_state.claim, -1);
	done(&open_state);
	if (zero != NULL)
		assert_false(fcntl(STDIN_FILENO, F_GETFD) >= 0);
	assert_int_equal(dup2(own, STDIN_FILENO), STDIN_FILENO);
	assert_int_equal(descriptors(), before);
	close(own);
	return made;
}

static void every_call_of_a_step_may_fail(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		for (int zero = 0; zero < 2; zero++)
			for (unsigned call = 1;; call++) {
				bool made = step(i, call, zero ? steps[i].zero : NULL, NULL, NULL);

				if (made != (fake.failed[0] == '\0' || tolerated(steps[i].harmless)))
					fail_msg("%s: %s fails", steps[i].name, fake.failed);
				if (fake.failed[0] == '\0')
					break;
			}
}

/* Descriptor 0 is one like any other: to keep, to close. */
static void a_lock_and_a_claim_of_descriptor_0(void **state)
{
	const int own = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	struct state s, other;
	unsigned before;

	(void)state;
	assert_int_equal(state_open(&s, in_base("s"), ""), STATE_OK);
	assert_int_equal(state_open(&other, in_base("s"), ""), STATE_OK);
	assert_int_equal(state_lock(&other, OTHER), STATE_OK);
	close(STDIN_FILENO);
	before = descriptors();
	fake.zero = "lock";
	fake_begins(0);
	assert_int_equal(state_lock(&s, NONCE), STATE_HELD);
	assert_int_equal(s.lock, 0);
	assert_int_equal(state_lock(&s, NONCE), STATE_HELD);
	assert_int_equal(s.lock, 0);
	assert_int_equal(descriptors(), before + 1);
	assert_int_equal(close(s.lock), 0);
	s.lock = -1;
	fake.zero = NONCE;
	assert_true(state_claim(&s, NONCE, ENDPOINT));
	assert_int_equal(s.claim, 0);
	assert_true(state_drop_claim(&s));
	assert_false(exists("s/claims/" NONCE));
	assert_int_equal(descriptors(), before);
	fake.counted = false;
	assert_int_equal(dup2(own, STDIN_FILENO), STDIN_FILENO);
	close(own);
	done(&s);
	done(&other);
}

static void no_file(struct stat *st)
{
	st->st_mode = S_IFDIR | 0600;
}

static void another_name(struct stat *st)
{
	st->st_nlink = 2;
}

static void no_name(struct stat *st)
{
	st->st_nlink = 0;
}

static void another_device(struct stat *st)
{
	st->st_dev++;
}

static void another_inode(struct stat *st)
{
	st->st_ino++;
}

static void a_file_must_be_ours_and_the_same(void **state)
{
	static void (*const not_ours[])(struct stat *) = {no_file, another_owner, another_name};
	static void (*const not_same[])(struct stat *) = {another_device, another_inode};

	(void)state;
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		const bool looks = strchr("lar", steps[i].name[0]) != NULL &&
		                   strcmp(steps[i].name, "random") != 0;
		const bool compares = strchr("lucadr", steps[i].name[0]) != NULL &&
		                      strcmp(steps[i].name, "random") != 0;

		for (size_t j = 0; j < 3; j++)
			assert_int_equal(step(i, 0, NULL, not_ours[j], NULL), !looks);
		for (size_t j = 0; j < 2; j++)
			assert_int_equal(step(i, 0, NULL, NULL, not_same[j]), !compares);
		assert_true(step(i, 0, NULL, no_name, NULL));
	}
	for (size_t j = 0; j < 3; j++) {
		assert_null(wrong_with("s"));
		fake_begins(0);
		fake.file = not_ours[j];
		is_wrong("s", BAD_ID);
		fake.counted = false;
	}
}

static void a_lock_that_cannot_be_had(void **state)
{
	struct state s;

	(void)state;
	assert_int_equal(state_open(&s, in_base("s"), ""), STATE_OK);
	for (unsigned call = 1; call < 16; call++) {
		enum state_result result;

		fake_begins(call);
		result = state_lock(&s, NONCE);
		fake.counted = false;
		if (fake.failed[0] == '\0') {
			assert_int_equal(result, STATE_OK);
			break;
		}
		assert_int_equal(result, strcmp(fake.failed, "fstat 2") == 0 ||
		                         strcmp(fake.failed, "fstatat 1") == 0 ? STATE_HELD
		                                                               : STATE_BAD);
		if (s.lock >= 0)
			close(s.lock);
		s.lock = -1;
	}
	done(&s);
}

/* What an earlier holder has written is gone, however long. */
static void the_holder_is_the_last_one(void **state)
{
	char text[256], expected[64];
	struct state s;

	(void)state;
	assert_int_equal(state_open(&s, in_base("s"), ""), STATE_OK);
	put("s/lock", "99999999 " NONCE NONCE NONCE "\n", 0600);
	assert_int_equal(state_lock(&s, OTHER), STATE_OK);
	snprintf(expected, sizeof(expected), "%d " OTHER "\n", (int)getpid());
	get("s/lock", text, sizeof(text));
	assert_string_equal(text, expected);
	for (size_t len = 0; len < 4; len++) {
		assert_int_equal(ftruncate(s.lock, (off_t)len), 0);
		memset(text, '#', sizeof(text));
		assert_int_equal(state_holder(&s, text, 3), len < 3 ? len : 3);
		assert_int_equal(text[3], '#');
	}
	done(&s);
}

/* A claim's line says which engine is meant: as long as it has room. */
static void endpoints_have_a_greatest_length(void **state)
{
	char endpoint[300], text[1024], expected[1024], self[64];
	struct state s;
	bool created;

	(void)state;
	assert_int_equal(state_open(&s, in_base("s"), ""), STATE_OK);
	for (size_t len = 190; len < sizeof(endpoint); len++) {
		size_t room, least;
		bool claimed;

		memset(endpoint, 'e', len);
		endpoint[len] = '\0';
		claimed = state_claim(&s, NONCE, endpoint);
		assert_true(s.claim >= 0);
		identity("s/claims/" NONCE, 0, self);
		room = strlen("  \n") + strlen(self) + len;
		assert_int_equal(claimed, room < 256);
		get("s/claims/" NONCE, text, sizeof(text));
		least = strlen("creating ") + strspn(text + strcspn(text, "0123456789"), "0123456789");
		snprintf(expected, sizeof(expected), "%.*s %s %s\n", (int)least, text, self, endpoint);
		assert_string_equal(text, claimed ? expected : "");
		put("s/claims/" NONCE, "", 0600);
		snprintf(expected, sizeof(expected), "creating 1 %s %s\ncreated x\n", self, endpoint);
		put("s/claims/" NONCE, expected, 0600);
		assert_true(state_drop_claim(&s));
		put("s/claims/" OTHER, "", 0600);
		snprintf(expected, sizeof(expected), "creating 1 %s %s\ncreated x\n",
		         identity("s/claims/" OTHER, 0, self), endpoint);
		put("s/claims/" OTHER, expected, 0600);
		room = strlen("  \n") + strlen(self) + len;
		assert_int_equal(state_adopt(&s, OTHER, endpoint, QUIET, &created), room < 256);
		assert_int_equal(room < 256, s.claim >= 0);
		if (s.claim >= 0)
			assert_true(state_drop_claim(&s));
		else
			assert_int_equal(unlink(in_base("s/claims/" OTHER)), 0);
	}
	done(&s);
}

/* 1023 bytes of a claim are looked at. */
static void claims_have_a_greatest_length(void **state)
{
	char text[1100], first[256], self[64];
	struct state s;
	bool created;

	(void)state;
	assert_int_equal(state_open(&s, in_base("s"), ""), STATE_OK);
	for (size_t end = 1020; end < 1028; end++) {
		put("s/claims/" NONCE, "", 0600);
		snprintf(first, sizeof(first), "creating 1 %s " ENDPOINT "\n",
		         identity("s/claims/" NONCE, 0, self));
		memset(text, '\n', sizeof(text));
		memcpy(text, first, strlen(first));
		strcpy(text + end - strlen("\ncreated "), "\ncreated ");
		put("s/claims/" NONCE, text, 0600);
		assert_int_equal(state_adopt(&s, NONCE, ENDPOINT, QUIET, &created), end <= 1023);
		if (s.claim >= 0)
			assert_true(state_drop_claim(&s));
	}
	done(&s);
}

#define CREATED_8 "created x\ncreated x\ncreated x\ncreated x\ncreated x\ncreated x\ncreated x\ncreated x\n"

/* What one claim says is not another's, even if it was longer. */
static void claims_are_read_one_by_one(void **state)
{
	static const struct {
		const char *text;
		int age;
		bool due, created;
	} rows[] = {
		{"creating 1@\n", 0, false, false}, {"creating 1@\n", QUIET, false, false},
		{"creating 1@\n", QUIET + 1, true, false}, {"", QUIET + 1, true, false},
		{"", QUIET, false, false}, {"x", QUIET + 1, false, false},
		{"\n", QUIET + 1, true, false}, {"@\n", QUIET + 1, true, false},
		{"\ncreated ", 0, true, true}, {"\ncreated", 0, false, false},
	};
	struct state s, other;
	bool created;

	(void)state;
	fake.now = time(NULL);
	assert_int_equal(state_open(&s, in_base("s"), ""), STATE_OK);
	other = s;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		bool first, then, then_created;

		fake.counted = true;
		put_claim("s/claims/" OTHER, "creating 1@\n" CREATED_8 CREATED_8 CREATED_8, 0);
		put_claim("s/claims/" NONCE, rows[i].text, rows[i].age);
		first = state_adopt(&other, OTHER, ENDPOINT, QUIET, &created);
		then = state_adopt(&s, NONCE, ENDPOINT, QUIET, &then_created);
		fake.counted = false;
		assert_true(first && created);
		assert_int_equal(then, rows[i].due);
		if (then)
			assert_int_equal(then_created, rows[i].created);
		assert_true(state_drop_claim(&other));
		assert_true(state_drop_claim(&s));
		(void)unlink(in_base("s/claims/" NONCE));
	}
	done(&s);
}

static void the_stuck_are_marked(void **state)
{
	struct reaped reaped = {.gone = false};
	char before[256], after[256];
	struct state s;

	(void)state;
	assert_int_equal(state_open(&s, in_base("s"), ""), STATE_OK);
	put_claim("s/claims/" NONCE, "creating 1@\ncreated x\n", 0);
	get("s/claims/" NONCE, before, sizeof(before));
	reap(&s, 8, &reaped);
	assert_int_equal(reaped.count, 1);
	assert_int_equal(get("s/claims/" NONCE, after, sizeof(after)),
	                 strlen(before) + strlen("\nstuck\n"));
	assert_string_equal(after, strcat(before, "\nstuck\n"));
	done(&s);
}

/* One that nobody holds and that is old, and could not be taken all the same. */
static void spoilt_claims(void **state)
{
	static const struct {
		const char *text;
		int age;
		bool spoilt;
	} rows[] = {
		{"", 0, false}, {"", QUIET, false}, {"", QUIET + 1, true}, {"", -20, false},
		{"creating 1@\ncreated x\n", QUIET, false}, {"other\n", QUIET + 1, true},
	};
	struct state s, holder;

	(void)state;
	fake.now = time(NULL);
	assert_int_equal(state_open(&s, in_base("s"), ""), STATE_OK);
	assert_int_equal(state_open(&holder, in_base("s"), ""), STATE_OK);
	assert_false(state_spoilt(&s, NONCE, QUIET)); /* there is none */
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const unsigned before = descriptors();
		bool spoilt;

		fake.counted = true;
		put_claim("s/claims/" NONCE, rows[i].text, rows[i].age);
		spoilt = state_spoilt(&s, NONCE, QUIET);
		fake.counted = false;
		assert_int_equal(spoilt, rows[i].spoilt);
		assert_int_equal(descriptors(), before);
	}
	holder.claim = open(in_base("s/claims/" NONCE), O_RDWR | O_CLOEXEC);
	assert_int_equal(flock(holder.claim, LOCK_SH | LOCK_NB), 0); /* as another that looks */
	assert_true(state_spoilt(&s, NONCE, QUIET));
	assert_int_equal(flock(holder.claim, LOCK_EX | LOCK_NB), 0);
	assert_false(state_spoilt(&s, NONCE, QUIET));
	assert_int_equal(unlink(in_base("s/claims/" NONCE)), 0);
	assert_int_equal(symlink("nowhere", in_base("s/claims/" NONCE)), 0);
	assert_true(state_spoilt(&s, NONCE, QUIET)); /* ELOOP */
	done(&s);
	done(&holder);
}

static void holds_its_own_files(void **state)
{
	static const struct {
		const char *path;
		bool held;
	} rows[] = {
		{"", false},            {"/", false},          {"/v", false},
		{"/v/s", false},        {"/v/s/", false},      {"/v/s/x", false},
		{"/v/s/id", true},      {"/v/s/id.new", true}, {"/v/s/lock", true},
		{"/v/s/claims", true},  {"/v/s/docker", true}, {"/v/s/claims/x", true},
		{"/v/s/id/x", true},    {"/v/s/idx", false},   {"/v/s/i", false},
		{"/v/s/id.ne", false},  {"/v/s/id.newer", false}, {"/v/s/locks", false},
		{"/v/s/x/id", false},   {"/v/t/id", false},    {"/v/sid", false},
		{"/v/st/id", false},    {"/x/s/id", false},    {"/v/s/dockers", false},
		{"/v/s/docker/config.json", true}, {"/v/s/claimsx", false},
		{"/v/s/\0id", false},   {"/v/s/docker.sock", false}, {"id", false},
	};
	struct state s = {.dir = -1};

	(void)state;
	strcpy(s.path, "/v/s");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (state_holds(&s, rows[i].path) != rows[i].held)
			fail_msg("%s", rows[i].path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
		TEST(makes_what_is_missing),
		TEST(makes_the_id_again),
		TEST(chooses),
		TEST(chooses_a_path),
		TEST(refuses_another_owners_directories),
		TEST(remote_file_systems),
		TEST(makes_one_id),
		TEST(every_call_of_opening_may_fail),
		TEST(opening_tells_what_failed),
		TEST(every_call_of_a_step_may_fail),
		TEST(a_lock_and_a_claim_of_descriptor_0),
		TEST(a_file_must_be_ours_and_the_same),
		TEST(a_lock_that_cannot_be_had),
		TEST(the_holder_is_the_last_one),
		TEST(endpoints_have_a_greatest_length),
		TEST(claims_have_a_greatest_length),
		TEST(claims_are_read_one_by_one),
		TEST(the_stuck_are_marked),
		TEST(spoilt_claims),
		TEST(holds_its_own_files),
		TEST(refuses_unsafe_directories),
		TEST(refuses_a_docker_config),
		TEST(refuses_a_bad_id),
		TEST(locks_once),
		TEST(descriptor_0_can_be_the_lock),
		TEST(notices_a_replaced_lock),
		TEST(refuses_odd_locks),
		TEST(claims),
		TEST(reaps_what_is_due),
		TEST(adopts),
		TEST(leaves_held_claims),
		TEST(leaves_odd_claims),
		TEST(reaps_so_many),
		TEST(random_ids),
		TEST(safe_paths),
#undef TEST
	};

	usual_surroundings();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

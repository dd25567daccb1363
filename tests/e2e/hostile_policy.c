/* SPDX-License-Identifier: ISC */

/*
 * Stands in the place of cofferdam-policy and lies.  A file "lies" beside it has
 * a line for each subcommand that is to: SUBCOMMAND, LIE and its words, parted by
 * tabs, with \n, \t, \e and \0 for bytes that a word cannot hold.  Any other
 * subcommand is the real one, "cofferdam-policy.real" beside it.  It is not
 * confined: it may do more than a policy process that was taken over.
 *
 * A lying decide stands between the executor and a real decide, so that all is
 * good but the lie.
 */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../ipc/channel.h"
#include "../../ipc/frame_policy.h"

#define SOCKET 3
#define LIES_MAX 65536
#define WORDS 64
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define BROKEN 99 /* this program's own failure: no status that the executor takes */

static char dir[PATH_MAX];
static char lies[LIES_MAX];
static char **args; /* of main */
static char *words[WORDS + 1]; /* of the lie, from its name on; NULL behind them */
static char **word = words;

static _Noreturn void broken(const char *what)
{
	dprintf(STDERR_FILENO, "hostile: %s: %s\n", what, strerror(errno));
	_exit(BROKEN);
}

static long number(const char *text)
{
	char *end;
	long value = text == NULL ? -1 : strtol(text, &end, 10);

	if (text == NULL || end == text || *end != '\0')
		broken("a number is missing");
	return value;
}

/* In place: what a line of the file cannot hold. */
static size_t unescape(char *text)
{
	char *to = text;

	for (const char *from = text; *from != '\0'; from++) {
		if (from[0] == '\\' && from[1] != '\0')
			*to++ = *++from == 'n'   ? '\n'
			        : *from == 't' ? '\t'
			        : *from == 'e' ? '\033'
			        : *from == '0' ? '\0'
			                       : *from;
		else
			*to++ = *from;
	}
	*to = '\0';
	return (size_t)(to - text);
}

static void put(int fd, const char *bytes, size_t len)
{
	if (write(fd, bytes, len) < 0)
		return; /* a bound of the executor's: that is tried, too */
}

static _Noreturn void become_real(void)
{
	char path[PATH_MAX + 32];

	(void)snprintf(path, sizeof(path), "%s/cofferdam-policy.real", dir);
	execv(path, args);
	broken(path);
}

static _Noreturn void hang(void)
{
	for (;;)
		pause();
}

/* The real subcommand does its work first. */
static void run_real(void)
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		become_real();
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0)
		broken("the real policy");
}

/* ---- what any subcommand can do ---- */

static void lie_exit(void)
{
	_exit((int)number(word[1]));
}

/* For those that read docker's output: it is not to notice. */
static void drain(void)
{
	static char block[65536];

	while (read(STDIN_FILENO, block, sizeof(block)) > 0)
		;
}

static void lie_signal(void)
{
	(void)signal((int)number(word[1]), SIG_DFL);
	raise((int)number(word[1]));
	hang();
}

/* say FD TEXT STATUS */
static void lie_say(void)
{
	size_t len = unescape(word[2]);

	put((int)number(word[1]), word[2], len);
	_exit((int)number(word[3]));
}

/* flood FD BYTES STATUS: as much as the executor takes. */
static void lie_flood(void)
{
	static char block[65536];
	long left = number(word[2]);
	ssize_t n = 1;

	(void)signal(SIGXFSZ, SIG_IGN);
	memset(block, 'x', sizeof(block));
	for (; n > 0 && left > 0; left -= n)
		n = write((int)number(word[1]), block, sizeof(block));
	_exit((int)number(word[3]));
}

/* For a second or so, over and over: what a process that stays behind can do. */
static _Noreturn void haunt(int fd, const char *text)
{
	const struct timespec pause_ns = {0, 200000};

	for (int i = 0; i < 5000; i++) {
		if (pwrite(fd, text, strlen(text), 0) >= 0)
			(void)lseek(fd, i % 2 == 0 ? 1 : 60000, SEEK_SET);
		nanosleep(&pause_ns, NULL);
	}
	_exit(0);
}

/* haunt group|session TEXT: good output; a child, in the process group or in a
 * session of its own, goes on writing to it. */
static void lie_haunt(void)
{
	pid_t pid;

	run_real();
	pid = fork();
	if (pid == 0) {
		if (word[1][0] == 's')
			(void)setsid();
		haunt(STDOUT_FILENO, word[2]);
	}
	_exit(0);
}

/* after seal|map|seek|shrink: good output, and then something odd with the file. */
static void lie_after(void)
{
	run_real();
	if (strcmp(word[1], "seal") == 0 && fcntl(1, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_SEAL) != 0)
		broken("F_ADD_SEALS");
	if (strcmp(word[1], "map") == 0) {
		char *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, STDOUT_FILENO, 0);

		if (at == MAP_FAILED)
			broken("mmap");
		if (fork() == 0) {
			(void)setsid();
			for (int i = 0; i < 100; i++, usleep(10000))
				memset(at, '\033', 8);
			_exit(0);
		}
	}
	if (strcmp(word[1], "seek") == 0 && lseek(1, 1L << 40, SEEK_SET) < 0)
		broken("lseek");
	if (strcmp(word[1], "shrink") == 0 && ftruncate(1, 0) != 0)
		broken("ftruncate");
	_exit(0);
}

/* poke FD: every way to change a document that should be sealed; says which worked. */
static void lie_poke(void)
{
	int fd = (int)number(word[1]);
	void *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	unsigned worked = 0;

	worked += write(fd, "x", 1) >= 0;
	worked += pwrite(fd, "x", 1, 0) >= 0;
	worked += ftruncate(fd, 0) == 0;
	worked += ftruncate(fd, 1 << 20) == 0;
	worked += fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096) == 0;
	worked += fcntl(fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE) == 0;
	worked += at != MAP_FAILED;
	dprintf(STDERR_FILENO, "cofferdam: SANDBOX_POLICY hostile.poke: %u of 7 worked;\n", worked);
	_exit(77);
}

/* Says what it was given: descriptors up to 1023, environment, session. */
static void lie_report(void)
{
	extern char **environ;

	dprintf(STDERR_FILENO, "cofferdam: SANDBOX_POLICY hostile.report: fds");
	for (int fd = 0; fd < 1024; fd++)
		if (fcntl(fd, F_GETFD) >= 0)
			dprintf(STDERR_FILENO, " %d", fd);
	dprintf(STDERR_FILENO, " env");
	for (char **at = environ; *at != NULL; at++)
		dprintf(STDERR_FILENO, " %s", *at);
	dprintf(STDERR_FILENO, " leader %d;\n", getsid(0) == getpid() && getpgrp() == getpid());
	_exit(77);
}

/* ---- a lying decide ---- */

static uint8_t facts_bytes[FRAME_MAX], frame[FRAME_MAX + 4096], launch_bytes[FRAME_MAX];
static size_t facts_len, frame_len; /* frame: the last message that went to the executor */
static struct facts facts;
static struct launch launch;
static int real = -1;
static pid_t real_pid;

static void say(const void *bytes, size_t len)
{
	if (send(SOCKET, bytes, len, MSG_NOSIGNAL) < 0 && errno != EPIPE && errno != ECONNRESET)
		broken("send");
}

static void say_frame(size_t len)
{
	if (len == 0)
		broken("the frame cannot be made");
	frame_len = len;
	say(frame, len);
}

/* With copies of the socket, of standard error and of a file. */
static void say_with_descriptors(const void *bytes, size_t len)
{
	const int fd[] = {SOCKET, STDERR_FILENO, open("/etc/passwd", O_RDONLY | O_CLOEXEC)};
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(fd))];
	} control;
	struct iovec part = {(void *)(uintptr_t)bytes, len};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control,
	                         .msg_controllen = sizeof(control)};

	control.head = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof(fd)),
	                                .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
	memcpy(CMSG_DATA(&control.head), fd, sizeof(fd));
	if (sendmsg(SOCKET, &message, MSG_NOSIGNAL) < 0)
		broken("sendmsg");
}

/* say NAME...: a message of one's own. */
static void say_named(char **what)
{
	struct answered answered = {.question = FRAME_ASK_IMAGE, .status = 0};
	struct ask_image ask = {what[1], what[1] != NULL ? what[2] : NULL};

	if (strcmp(what[0], "context") == 0)
		say_frame(frame_put_ask_context(frame, sizeof(frame)));
	else if (strcmp(what[0], "image") == 0)
		say_frame(frame_put_ask_image(frame, sizeof(frame), &ask));
	else if (strcmp(what[0], "answered") == 0)
		say_frame(frame_put_answered(frame, sizeof(frame), &answered));
	else if (strcmp(what[0], "facts") == 0)
		say(facts_bytes, facts_len);
	else if (strcmp(what[0], "again") == 0)
		say(frame, frame_len);
	else if (strcmp(what[0], "empty") == 0)
		say("", 0);
	else if (strcmp(what[0], "text") == 0)
		say(what[1], unescape(what[1]));
	else if (strcmp(what[0], "descriptors") == 0)
		say_with_descriptors(frame, frame_put_ask_context(frame, sizeof(frame)));
	else if (strcmp(what[0], "large") == 0)
		say(frame, FRAME_MAX + 1);
	else
		broken(what[0]);
}

/* The real one has nothing to say then. */
static void drop_real(void)
{
	if (real_pid > 0 && (kill(real_pid, SIGKILL) != 0 || waitpid(real_pid, NULL, 0) < 0))
		broken("kill");
	real_pid = 0;
}

/* As the real one. */
static _Noreturn void end_as_real(void)
{
	int status = 0;

	if (waitpid(real_pid, &status, 0) != real_pid || !WIFEXITED(status))
		broken("the real decide");
	_exit(WEXITSTATUS(status));
}

/* What a decide does at one moment. */
static void act(char **what)
{
	if (strcmp(what[0], "say") == 0) {
		say_named(what + 1);
	} else if (strcmp(what[0], "exit") == 0) {
		drop_real();
		_exit((int)number(what[1]));
	} else if (strcmp(what[0], "signal") == 0) {
		drop_real();
		raise((int)number(what[1]));
	} else if (strcmp(what[0], "hang") == 0) {
		hang();
	} else if (strcmp(what[0], "deaf") == 0) {
		close(SOCKET);
		hang();
	} else if (strcmp(what[0], "leave") == 0) {
		if (fork() == 0)
			hang(); /* it has the socket */
		_exit(0);
	} else if (strcmp(what[0], "close") == 0) {
		close((int)number(what[1]));
	} else if (strcmp(what[0], "err") == 0) {
		drop_real();
		put(STDERR_FILENO, what[1], unescape(what[1]));
		_exit((int)number(what[2]));
	} else if (strcmp(what[0], "wait") == 0) {
		usleep((useconds_t)number(what[1]) * 1000);
	} else {
		broken(what[0]);
	}
}

/* at MOMENT ACTION... [then ACTION...] */
static void moment(const char *name)
{
	static char then[] = "then";
	char **what = word + 2;

	if (strcmp(word[0], "at") != 0 || strcmp(word[1], name) != 0)
		return;
	for (char **end = what; what != NULL; what = end) {
		for (end = what; *end != NULL && strcmp(*end, then) != 0; end++)
			;
		end = *end == NULL ? NULL : end + 1;
		if (end != NULL)
			end[-1] = NULL;
		act(what);
	}
}

/* ---- a lying launch ---- */

/* argv PREFIX before|instead WORD...: the first word that begins with PREFIX. */
static void lie_argv(void)
{
	struct argv old = launch.argv;
	unsigned at = 0, n = 0;
	bool done = false;

	for (; at < old.count; at++) {
		bool here = !done && strncmp(old.at[at], word[1], strlen(word[1])) == 0;

		for (char **add = word + 3; here && *add != NULL; add++) {
			(void)unescape(*add);
			launch.argv.at[n++] = *add;
		}
		done |= here;
		if (!here || word[2][0] == 'b')
			launch.argv.at[n++] = old.at[at];
	}
	launch.argv.count = (uint16_t)n;
	if (!done)
		broken("no such word");
}

/* A field of the launch, by its name. */
static void lie_field(void)
{
	const struct {
		const char *name;
		uint64_t *u64;
		uint32_t *u32;
		uint16_t *u16;
		const char **text;
	} fields[] = {
		{"turn_bytes", &launch.limits.turn_bytes, 0, 0, 0},
		{"file_bytes", &launch.limits.file_bytes, 0, 0, 0},
		{"memory_bytes", &launch.limits.memory_bytes, 0, 0, 0},
		{"dev0", &launch.root[0].dev, 0, 0, 0},
		{"ino0", &launch.root[0].ino, 0, 0, 0},
		{"dev1", &launch.root[1].dev, 0, 0, 0},
		{"ino1", &launch.root[1].ino, 0, 0, 0},
		{"turn_seconds", 0, &launch.limits.turn_seconds, 0, 0},
		{"lock_seconds", 0, &launch.limits.lock_seconds, 0, 0},
		{"control_seconds", 0, &launch.limits.control_seconds, 0, 0},
		{"remove_seconds", 0, &launch.limits.remove_seconds, 0, 0},
		{"uid", 0, &launch.uid, 0, 0},
		{"root_count", 0, 0, &launch.root_count, 0},
		{"env_count", 0, 0, &launch.env_count, 0},
		{"runtime", 0, 0, 0, &launch.runtime},
		{"name", 0, 0, 0, &launch.name},
		{"endpoint", 0, 0, 0, &launch.endpoint},
		{"image_id", 0, 0, 0, &launch.image_id},
		{"workdir", 0, 0, 0, &launch.workdir},
		{"entrypoint", 0, 0, 0, &launch.entrypoint},
		{"state_id", 0, 0, 0, &launch.state_id},
		{"roots_label", 0, 0, 0, &launch.roots_label},
		{"path0", 0, 0, 0, &launch.root[0].path},
		{"path1", 0, 0, 0, &launch.root[1].path},
		{"guest1", 0, 0, 0, &launch.root[1].guest},
		{"env1", 0, 0, 0, &launch.env[1]},
	};

	for (size_t i = 0; i < COUNT(fields); i++) {
		if (strcmp(fields[i].name, word[1]) != 0)
			continue;
		if (fields[i].u64 != NULL)
			*fields[i].u64 = strtoull(word[2], NULL, 10);
		if (fields[i].u32 != NULL)
			*fields[i].u32 = (uint32_t)strtoul(word[2], NULL, 10);
		if (fields[i].u16 != NULL)
			*fields[i].u16 = (uint16_t)number(word[2]);
		if (fields[i].text != NULL)
			*fields[i].text = word[2];
		return;
	}
	broken("no such field");
}

/* The finished frame: cut N (its first N bytes; from the end when negative), more
 * N, byte OFFSET VALUE, keep FILE-NAME. */
static size_t lie_bytes(size_t len)
{
	long n = strcmp(word[0], "keep") == 0 ? 0 : number(word[1]);
	char path[PATH_MAX + 32];
	int fd;

	if (strcmp(word[0], "cut") == 0)
		return n < 0 ? len - (size_t)-n : (size_t)n < len ? (size_t)n : len;
	if (strcmp(word[0], "more") == 0)
		return len + (size_t)n;
	if (strcmp(word[0], "byte") == 0)
		frame[n] = (uint8_t)number(word[2]);
	if (strcmp(word[0], "keep") == 0) {
		(void)snprintf(path, sizeof(path), "%s", word[1]);
		fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
		if (fd < 0 || write(fd, frame, len) != (ssize_t)len)
			broken(path);
	}
	return len;
}

static bool named(const char *const *names)
{
	for (; *names != NULL; names++)
		if (strcmp(*names, word[0]) == 0)
			return true;
	return false;
}

/* argv ... and field ..., with "also" between them. */
static void lie_launch(void)
{
	for (char **end = words; *end != NULL; word = end) {
		for (end = word; *end != NULL && strcmp(*end, "also") != 0; end++)
			;
		if (*end != NULL)
			*end++ = NULL;
		if (strcmp(word[0], "argv") == 0)
			lie_argv();
		if (strcmp(word[0], "field") == 0)
			lie_field();
	}
	word = words;
}

static void send_launch(const uint8_t *bytes, size_t len)
{
	static const char *const of_bytes[] = {"cut", "more", "byte", "keep", NULL};

	if (frame_get_launch(bytes, len, &launch) != FRAME_OK)
		broken("the real launch");
	lie_launch();
	moment("launch");
	len = frame_put_launch(frame, FRAME_MAX, &launch);
	if (len != 0 && named(of_bytes))
		len = lie_bytes(len);
	say_frame(len);
	moment("launched");
}

static size_t hear(int fd, uint8_t *to)
{
	ssize_t len = channel_receive(fd, to, FRAME_MAX, 0);

	if (len < 0)
		broken("receive");
	return (size_t)len;
}

static void start_real(void)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0 ||
	    (real_pid = fork()) < 0)
		broken("socketpair, fork");
	if (real_pid == 0) {
		dup2(pair[1], SOCKET);
		become_real();
	}
	close(pair[1]);
	real = pair[0];
}

/* Between the two: questions and answers go through, the launch is ours. */
static void lie_between(void)
{
	size_t len;

	moment("start");
	facts_len = hear(SOCKET, facts_bytes);
	if (frame_get_facts(facts_bytes, facts_len, &facts) != FRAME_OK)
		broken("the facts");
	moment("facts");
	start_real();
	if (channel_send(real, facts_bytes, facts_len) != 0)
		broken("send");
	while ((len = hear(real, launch_bytes)) > 0) {
		if (frame_kind(launch_bytes, len) == FRAME_LAUNCH) {
			send_launch(launch_bytes, len);
			continue;
		}
		memcpy(frame, launch_bytes, len);
		say_frame(len);
		moment("asked");
		len = hear(SOCKET, launch_bytes);
		moment("answered");
		if (channel_send(real, launch_bytes, len) != 0)
			broken("send");
	}
	end_as_real();
}

/* raw FILE N: the first N bytes of a file, as the only message. */
static void lie_raw(void)
{
	int fd = open(word[1], O_RDONLY);
	long n = number(word[2]);

	if (fd < 0 || read(fd, frame, (size_t)n) != n)
		broken(word[1]);
	(void)hear(SOCKET, facts_bytes);
	say(frame, (size_t)n);
	_exit(0);
}

static const struct {
	const char *name;
	void (*tell)(void);
} tales[] = {
	{"exit", lie_exit},   {"unread", lie_exit},   {"signal", lie_signal}, {"hang", hang},         {"say", lie_say},
	{"flood", lie_flood}, {"haunt", lie_haunt},   {"after", lie_after},   {"poke", lie_poke},
	{"report", lie_report}, {"raw", lie_raw},
	{"at", lie_between},  {"argv", lie_between},  {"field", lie_between}, {"cut", lie_between},
	{"more", lie_between}, {"byte", lie_between}, {"keep", lie_between},
};

/* Finds the subcommand's line and cuts it into words. */
static bool find_lie(const char *command)
{
	char *rest = lies, *line;

	while ((line = strsep(&rest, "\n")) != NULL) {
		size_t n = 0;

		if (strcmp(strsep(&line, "\t"), command) != 0)
			continue;
		while (line != NULL && n < WORDS)
			word[n++] = strsep(&line, "\t");
		return n > 0;
	}
	return false;
}

int main(int argc, char **argv)
{
	char path[PATH_MAX + 32];
	ssize_t len = readlink("/proc/self/exe", dir, sizeof(dir) - 1);
	char *slash;
	int fd;

	args = argv;
	dir[len > 0 ? len : 0] = '\0';
	if ((slash = strrchr(dir, '/')) == NULL)
		broken("/proc/self/exe");
	*slash = '\0';
	(void)snprintf(path, sizeof(path), "%s/lies", dir);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || read(fd, lies, sizeof(lies) - 1) < 0)
		broken(path);
	close(fd);
	if (argc < 2 || !find_lie(argv[1]))
		become_real();
	if (strcmp(word[0], "unread") != 0 &&
	    (strcmp(argv[1], "admit") == 0 || strcmp(argv[1], "verify") == 0))
		drain();
	for (size_t i = 0; i < COUNT(tales); i++)
		if (strcmp(tales[i].name, word[0]) == 0)
			tales[i].tell();
	broken(word[0]);
}

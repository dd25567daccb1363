/* SPDX-License-Identifier: ISC */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "../../ipc/channel.h"
#include "../../ipc/limits.h"

/* The library's calls are replaced by these: a message has one part, and nothing
 * behind it is taken for another. */
static size_t parts;

ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
	parts = message->msg_iovlen;
	return syscall(SYS_sendmsg, fd, message, flags);
}

ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
	parts = message->msg_iovlen;
	return syscall(SYS_recvmsg, fd, message, flags);
}

static uint8_t sent[FRAME_MAX];
static uint8_t got[FRAME_MAX + 1]; /* one byte more than is ever sent */

static int connect_pair(void **state)
{
	static int pair[2];

	*state = pair;
	for (size_t i = 0; i < sizeof sent; i++)
		sent[i] = (uint8_t)(i * 7 + i / 251);
	return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair);
}

static int close_pair(void **state)
{
	const int *pair = *state;

	(void)close(pair[0]);
	(void)close(pair[1]);
	return 0;
}

/* One message in, the same message out, up to the largest frame there is: it
 * must fit into a socket's default buffer. */
static void messages_pass_whole(void **state)
{
	static const size_t lengths[] = {1, 2, 8, 4096, 65536, 131072, FRAME_MAX - 1, FRAME_MAX};
	const int *pair = *state;

	for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
		memset(got, 0, sizeof got);
		assert_int_equal(channel_send(pair[0], sent, lengths[i]), 0);
		assert_int_equal(parts, 1);
		parts = 0;
		assert_int_equal(channel_receive(pair[1], got, FRAME_MAX, 0), lengths[i]);
		assert_int_equal(parts, 1);
		assert_memory_equal(got, sent, lengths[i]);
	}
}

static void boundaries_are_kept(void **state)
{
	const int *pair = *state;

	assert_int_equal(channel_send(pair[0], (const uint8_t *)"ab", 2), 0);
	assert_int_equal(channel_send(pair[0], (const uint8_t *)"cde", 3), 0);
	assert_int_equal(channel_receive(pair[1], got, sizeof got, 0), 2);
	assert_int_equal(channel_receive(pair[1], got, sizeof got, 0), 3);
	assert_memory_equal(got, "cde", 3);
}

static void long_message_is_refused(void **state)
{
	const int *pair = *state;

	assert_int_equal(channel_send(pair[0], sent, 101), 0);
	assert_int_equal(channel_receive(pair[1], got, 100, 0), -1);
	assert_int_equal(errno, EMSGSIZE);
	/* Its rest is not taken for a message of its own. */
	assert_int_equal(channel_send(pair[0], sent, 100), 0);
	assert_int_equal(channel_receive(pair[1], got, 100, 0), 100);
}

static void end_of_file_is_zero(void **state)
{
	int *pair = *state;

	assert_int_equal(channel_send(pair[0], sent, 5), 0);
	assert_int_equal(shutdown(pair[0], SHUT_WR), 0);
	assert_int_equal(channel_receive(pair[1], got, sizeof got, 0), 5);
	errno = EINTR; /* an old one, not this call's */
	assert_int_equal(channel_receive(pair[1], got, sizeof got, 0), 0);
	assert_int_equal(channel_receive(pair[1], got, sizeof got, MSG_DONTWAIT), 0);
}

static void empty_message_is_not_sent(void **state)
{
	const int *pair = *state;

	assert_int_equal(channel_send(pair[0], sent, 0), -1);
	assert_int_equal(errno, EINVAL);
	assert_int_equal(channel_receive(pair[1], got, sizeof got, MSG_DONTWAIT), -1);
	assert_int_equal(errno, EAGAIN);
}

static void broken_pipe_is_an_error_and_no_signal(void **state)
{
	int *pair = *state;

	assert_int_equal(close(pair[1]), 0);
	pair[1] = -1;
	assert_int_equal(channel_send(pair[0], sent, 4), -1);
	assert_int_equal(errno, EPIPE);
}

static void bad_descriptor_is_an_error(void **state)
{
	(void)state;
	assert_int_equal(channel_send(-1, sent, 4), -1);
	assert_int_equal(errno, EBADF);
	assert_int_equal(channel_receive(-1, got, 4, 0), -1);
	assert_int_equal(errno, EBADF);
}

/* Really passes a descriptor along with len bytes. */
static void send_descriptor(int socket, int fd, size_t len)
{
	union {
		char room[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control;
	struct iovec part = {.iov_base = sent, .iov_len = len};
	struct msghdr message = {.msg_iov = &part,
	                         .msg_iovlen = 1,
	                         .msg_control = control.room,
	                         .msg_controllen = sizeof control.room};
	struct cmsghdr *head;

	memset(&control, 0, sizeof control);
	head = CMSG_FIRSTHDR(&message);
	head->cmsg_level = SOL_SOCKET;
	head->cmsg_type = SCM_RIGHTS;
	head->cmsg_len = CMSG_LEN(sizeof fd);
	memcpy(CMSG_DATA(head), &fd, sizeof fd);
	assert_int_equal(sendmsg(socket, &message, MSG_NOSIGNAL), len);
}

/* The kernel must also have closed what was passed: the pipe's last writer is
 * gone once ours is. */
static void passed_descriptor_is_refused(void **state)
{
	static const size_t lengths[] = {0, 1, 64, 65};
	const int *pair = *state;

	for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
		int ends[2];
		uint8_t byte;

		assert_int_equal(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
		send_descriptor(pair[0], ends[1], lengths[i]);
		assert_int_equal(close(ends[1]), 0);
		assert_int_equal(read(ends[0], &byte, 1), -1); /* in flight: still open */
		assert_int_equal(errno, EAGAIN);
		assert_int_equal(channel_receive(pair[1], got, 64, 0), -1);
		assert_int_equal(errno, EPROTO);
		assert_int_equal(read(ends[0], &byte, 1), 0);
		assert_int_equal(close(ends[0]), 0);
	}
	assert_int_equal(channel_send(pair[0], sent, 3), 0);
	assert_int_equal(channel_receive(pair[1], got, 64, 0), 3);
}

/* SO_PASSCRED makes the kernel add control data to every message. */
static void credentials_are_refused(void **state)
{
	const int *pair = *state;
	const int on = 1;

	assert_int_equal(setsockopt(pair[1], SOL_SOCKET, SO_PASSCRED, &on, sizeof on), 0);
	assert_int_equal(channel_send(pair[0], sent, 3), 0);
	assert_int_equal(channel_receive(pair[1], got, 64, 0), -1);
	assert_int_equal(errno, EPROTO);
}

static volatile sig_atomic_t alarms;

static void on_alarm(int signal)
{
	(void)signal;
	alarms++;
}

static void tick(suseconds_t every)
{
	const struct itimerval timer = {.it_interval = {.tv_usec = every},
	                                .it_value = {.tv_usec = every}};

	assert_int_equal(setitimer(ITIMER_REAL, &timer, NULL), 0);
}

/* A handler without SA_RESTART: each alarm makes a waiting call end with EINTR. */
static void interruptions_are_retried(void **state)
{
	const struct sigaction act = {.sa_handler = on_alarm};
	const int *pair = *state;
	struct sigaction before;
	pid_t child;
	int status;

	alarms = 0;
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		(void)usleep(60000);
		_exit(channel_send(pair[0], sent, 9) == 0 ? 0 : 1);
	}
	assert_int_equal(sigaction(SIGALRM, &act, &before), 0);
	tick(5000);
	assert_int_equal(channel_receive(pair[1], got, 64, 0), 9);
	tick(0);
	assert_true(alarms > 1);

	/* Sending waits when the buffer is full; the child makes room, late. */
	while (send(pair[0], sent, 65536, MSG_DONTWAIT) > 0)
		;
	assert_int_equal(errno, EAGAIN);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		(void)usleep(60000);
		_exit(channel_receive(pair[1], got, sizeof got, 0) == 65536 ? 0 : 1);
	}
	alarms = 0;
	tick(5000);
	assert_int_equal(channel_send(pair[0], sent, 65536), 0);
	tick(0);
	assert_true(alarms > 1);
	while (waitpid(child, &status, 0) < 0)
		assert_int_equal(errno, EINTR);
	assert_int_equal(status, 0);
	assert_int_equal(sigaction(SIGALRM, &before, NULL), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, connect_pair, close_pair)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(messages_pass_whole),
		TEST(boundaries_are_kept),
		TEST(long_message_is_refused),
		TEST(end_of_file_is_zero),
		TEST(empty_message_is_not_sent),
		TEST(broken_pipe_is_an_error_and_no_signal),
		TEST(bad_descriptor_is_an_error),
		TEST(passed_descriptor_is_refused),
		TEST(credentials_are_refused),
		TEST(interruptions_are_retried),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

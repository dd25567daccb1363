/* SPDX-License-Identifier: ISC */
#include "channel.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/uio.h>

int channel_send(int fd, const uint8_t *bytes, size_t len)
{
	/* iovec has no const: sendmsg only reads through it. */
	struct iovec part = {.iov_base = (void *)(uintptr_t)bytes, .iov_len = len};
	const struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
	ssize_t sent;

	/* The reader could not tell an empty message from the end. */
	if (len == 0) {
		errno = EINVAL;
		return -1;
	}
	do
		sent = sendmsg(fd, &message, MSG_NOSIGNAL);
	while (sent < 0 && errno == EINTR);
	/* Such a message is sent whole or not at all. */
	return sent < 0 ? -1 : 0;
}

ssize_t channel_receive(int fd, uint8_t *bytes, size_t cap, int flags)
{
	struct iovec part = {.iov_base = bytes, .iov_len = cap};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
	ssize_t got;

	do
		got = recvmsg(fd, &message, flags);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return -1;
	/* Without a control buffer the kernel closes any descriptor that came
	 * along and sets MSG_CTRUNC (recvmsg(2)). */
	if ((message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0) {
		errno = (message.msg_flags & MSG_CTRUNC) != 0 ? EPROTO : EMSGSIZE;
		return -1;
	}
	return got;
}

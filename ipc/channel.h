/* SPDX-License-Identifier: ISC */
#ifndef COFFERDAM_IPC_CHANNEL_H
#define COFFERDAM_IPC_CHANNEL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * One frame in, one frame out, over a connected SOCK_SEQPACKET socket
 * (unix(7)).  The only system calls of ipc/: sendmsg and recvmsg.
 */

/* Sends exactly len bytes as one message (MSG_NOSIGNAL).  0, or -1 with errno. */
__attribute__((warn_unused_result)) int channel_send(int fd, const uint8_t *bytes, size_t len);

/*
 * Receives one message of at most cap bytes.  Its length; 0 at end of file;
 * -1 with errno.  A longer message (MSG_TRUNC) is EMSGSIZE, any control data
 * or passed descriptor (MSG_CTRUNC) is EPROTO.  flags: 0 or MSG_DONTWAIT.
 */
__attribute__((warn_unused_result)) ssize_t
channel_receive(int fd, uint8_t *bytes, size_t cap, int flags);

#endif

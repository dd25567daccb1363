/* SPDX-License-Identifier: ISC */
#ifndef COFFERDAM_IPC_LIMITS_H
#define COFFERDAM_IPC_LIMITS_H

/*
 * The bounds that both programs enforce, each on its own.
 *
 * Every figure is inclusive.  Upper bounds stay far below 2^62: the docker CLI
 * turns 9223372036854775807 into a negative number, and a value near the edge
 * would overflow the sums made from it.  Macros, so that a proof can shrink
 * them.
 */

/* Sizes in bytes. */
#define MEMORY_BYTES_MIN 67108864ULL
#define MEMORY_BYTES_MAX 1099511627776ULL
#define TMPFS_BYTES_MIN 4096ULL
#define TMPFS_BYTES_MAX 1099511627776ULL
#define SHM_BYTES_MIN 4096ULL
#define SHM_BYTES_MAX 1099511627776ULL
#define FILE_BYTES_MIN 1ULL
#define FILE_BYTES_MAX 1099511627776ULL
#define TURN_BYTES_MIN 1024ULL
#define TURN_BYTES_MAX 2097152ULL

/* CPU time: 10^9 is one CPU; the config's floor is 0.01 CPU. */
#define NANO_CPUS_MIN 10000000ULL
#define NANO_CPUS_MAX 1024000000000ULL

/* Counts. */
#define PIDS_MIN 8U
#define PIDS_MAX 4194304U
#define NOFILE_MIN 16U
#define NOFILE_MAX 1048576U
#define LIVE_MIN 1U
#define LIVE_MAX 100000U

/* Seconds. */
#define TURN_SECONDS_MIN 1U
#define TURN_SECONDS_MAX 600U
#define LOCK_SECONDS_MIN 0U
#define LOCK_SECONDS_MAX 600U
#define CONTROL_SECONDS_MIN 1U
#define CONTROL_SECONDS_MAX 300U
#define REMOVE_SECONDS_MIN 1U
#define REMOVE_SECONDS_MAX 600U

/* User and group ids: 0 is root, above 2^31-1 some engines wrap
 * (CVE-2024-40635). */
#define ID_MIN 1U
#define ID_MAX 2147483647U

/* Session revisions: 0 to 2^53-1, so that every JSON reader keeps them. */
#define REVISION_MAX 9007199254740991ULL

/* Shapes. */
#ifndef ROOTS_MAX
#define ROOTS_MAX 33 /* 32 mounts and the bundle */
#endif
#define MOUNTS_MAX 32
#ifndef WORDS_MAX
#define WORDS_MAX 64 /* command words */
#endif
#ifndef ENV_MAX
#define ENV_MAX 64 /* environment entries of the config */
#endif
#ifndef INHERITED_MAX
#define INHERITED_MAX 64 /* environment entries or labels of the image itself */
#endif
#define PATH_BYTES_MAX 4095 /* PATH_MAX less its NUL (limits.h) */
#define GUEST_BYTES_MAX 255
#define NAME_BYTES_MAX 91
#define SESSION_KEY_BYTES_MAX 128
#define ENDPOINT_PATH_MAX 107 /* sun_path less its NUL (unix(7)) */
#define ROOTS_LABEL_MAX 65536
#define NONCE_BYTES 16
#define ID_HEX 32 /* a nonce or a state directory's id, as lower-case hex */

/* One decision, one frame.  An unconnected default SO_SNDBUF is 212992 bytes
 * (net.core.wmem_default); a SEQPACKET message must fit into it whole. */
#define FRAME_MAX 196608

/* Docker's answers: at most this many bytes are read of each. */
#define ANSWER_MAX 1000000

/* The worker: bytes of stdout and of stderr that are taken. */
#define REPLY_BYTES_MAX 2097152
#define WORKER_STDERR_MAX 131072

#endif

/* SPDX-License-Identifier: ISC */
#ifndef COFFERDAM_EXECUTOR_GATE_H
#define COFFERDAM_EXECUTOR_GATE_H

#include <stdbool.h>

#include "../ipc/frame.h"
#include "holes.h"

/*
 * The gate: is this create command one that isolates?  Pure, and independent of
 * policy: it judges the words that docker will see, by their grammar and by what
 * the executor knows itself.
 *
 * argv is a sequence of slots in one fixed order (a table in gate.c).  How
 * often a slot occurs is known from the order's counts alone, never from the
 * words, so each word has exactly one slot to answer to:
 *
 *   docker --host ENDPOINT container create
 *   --pull never
 *   --name NAME
 *   --label dev.cofferdam.state=ID      --label dev.cofferdam.run=NONCE
 *   --label dev.cofferdam.mode=MODE     --label dev.cofferdam.session=KEY
 *   --label dev.cofferdam.revision=N    --label dev.cofferdam.roots=JSON
 *   [--runtime RUNTIME]                 iff order.runtime
 *   --init=true | --init=false
 *   --interactive
 *   --network none
 *   --read-only
 *   --cap-drop ALL
 *   --security-opt no-new-privileges:true
 *   --user UID:GID
 *   --memory BYTES  --memory-swap BYTES (the same figure)
 *   --cpus CPUS                         at most nine decimal places
 *   --pids-limit N
 *   --ulimit nofile=N:N
 *   [--ulimit fsize=BYTES:BYTES]        iff order.file_limit
 *   --shm-size BYTES
 *   --ipc private
 *   --cgroupns private
 *   --log-driver none
 *   --restart no
 *   --no-healthcheck
 *   --tmpfs /tmp:rw,noexec,nosuid,nodev,size=BYTES,mode=1777
 *   --mount type=bind[,readonly],source=PATH,target=GUEST,bind-propagation=rprivate
 *                                       order.root_count of them
 *   --env HOME=/tmp/home  --env NAME=VALUE
 *                                       order.env_count of them, HOME first
 *   --workdir PATH
 *   --entrypoint WORD
 *   IMAGE-ID
 *   COMMAND...                          what is left, at most WORDS_MAX
 *
 * Nothing else, nothing twice, nothing left out; figures within ipc/limits.h.
 * A turn has /broker (read-only) and /workspace (writable); a session any of
 * /workspace and /grants/<64 hex digits>, at most MOUNTS_MAX; each may have the
 * bundle behind them, read-only and elsewhere.  Sources are pairwise disjoint by
 * component and by (dev, ino), guests by component; the socket is neither in nor
 * around a source; the roots label is the JSON text of the mounts.  `readonly`
 * stands before `source=`: docker reads only the first CSV record of the value,
 * so a path could otherwise drop it.
 */

enum gate_result {
	GATE_OK = 0,
	GATE_NUMBER, /* a number of the order, beside argv, is out of bounds */
	GATE_WORD, /* a word is not what its slot calls for, or missing, or too many */
	GATE_ROOT, /* a mount's guest is not one of its mode's, or it meets another mount
	              or the socket */
	GATE_LABEL, /* the roots label is not what the mounts call for */
};

/* What the executor knows itself. */
struct gate_known {
	const char *nonce_hex; /* the run's */
	const char *state_id;
	const char *endpoint; /* that ASK_IMAGE named; NULL when there was none */
	const char *mode; /* "turn" or "session" */
};

/* What the gate has read of an order.  Once that was accepted, the sources and
 * the words of argv that others need; spans point into the order's words. */
struct gate {
	const struct order *order;
	const struct gate_known *known;
	bool session;
	unsigned where; /* the argv index of a GATE_WORD, the mount's of a GATE_ROOT */
	uint64_t figure; /* the last one that must come twice */
	const char *label; /* of the roots */
	struct span socket; /* the endpoint's path */
	struct gate_mount {
		bool read_only;
		struct span source, guest;
	} mount[ROOTS_MAX];
};

#define GATE_AT_ENDPOINT 2
#define GATE_AT_NAME 8

/* gate is set whatever the result. */
__attribute__((warn_unused_result)) enum gate_result
gate_check(struct gate *gate, const struct order *order, const struct gate_known *known);

/* The source of mount i (< root_count) of an accepted order, for the check of its
 * identity. */
void gate_root(const struct gate *gate, unsigned i, char path[PATH_BYTES_MAX + 1]);

/* The grammars that the executor checks before any docker command. */
bool gate_endpoint(const char *url); /* unix:// + canonical path, <= 107 bytes */
bool gate_session_key(const char *key);
bool gate_image_reference(const char *reference); /* never a leading '-' */

#endif

/* SPDX-License-Identifier: ISC */
#ifndef COFFERDAM_EXECUTOR_GATE_H
#define COFFERDAM_EXECUTOR_GATE_H

#include <stdbool.h>

#include "../ipc/frame.h"

/*
 * The gate: is this launch one that isolates?  Pure, and independent of
 * policy: it believes no typed field until it has checked its grammar and
 * bounds itself, and no word of argv until it equals what the typed fields
 * call for.
 *
 * argv is a sequence of slots in one fixed order (a table in gate.c).  How
 * often a slot occurs is known from the frame's counts alone, never from the
 * words, so each word has exactly one slot to answer to:
 *
 *   docker --host ENDPOINT container create
 *   --pull never
 *   --name NAME
 *   --label dev.cofferdam.state=ID      --label dev.cofferdam.run=NONCE
 *   --label dev.cofferdam.mode=MODE     --label dev.cofferdam.session=KEY
 *   --label dev.cofferdam.revision=N    --label dev.cofferdam.roots=JSON
 *   [--runtime RUNTIME]                 iff the frame names one
 *   --init=true | --init=false
 *   --interactive
 *   --network none
 *   --read-only
 *   --cap-drop ALL
 *   --security-opt no-new-privileges:true
 *   --user UID:GID
 *   --memory BYTES  --memory-swap BYTES (the same figure)
 *   --cpus CPUS                         decimal of nano_cpus, as text_nano
 *   --pids-limit N
 *   --ulimit nofile=N:N
 *   [--ulimit fsize=BYTES:BYTES]        iff file_bytes is not 0
 *   --shm-size BYTES
 *   --ipc private
 *   --cgroupns private
 *   --log-driver none
 *   --restart no
 *   --no-healthcheck
 *   --tmpfs /tmp:rw,noexec,nosuid,nodev,size=BYTES,mode=1777
 *   --mount type=bind[,readonly],source=PATH,target=GUEST,bind-propagation=rprivate
 *                                       one a root, in the frame's order
 *   --env NAME=VALUE                    one an env entry, HOME=/tmp/home first
 *   --workdir PATH
 *   --entrypoint WORD
 *   IMAGE-ID
 *   COMMAND...                          the frame's command words
 *
 * Nothing else, nothing twice, nothing left out.  `readonly` stands before
 * `source=`: docker reads only the first CSV record of the value, so a path
 * could otherwise drop it.
 */

enum gate_result {
	GATE_OK = 0,
	GATE_FIELD, /* a typed field is outside its grammar or bounds */
	GATE_COUNT, /* argv has more or fewer words than the slots */
	GATE_WORD, /* a word is not what its slot calls for */
	GATE_ROOT, /* a root is not a canonical path, or overlaps another */
	GATE_ENDPOINT, /* the endpoint is not unix:///…, or lies inside a root */
};

/* *where (may be NULL): the argv index of a GATE_WORD, the root's index of a
 * GATE_ROOT, else 0. */
__attribute__((warn_unused_result)) enum gate_result gate_check(const struct launch *launch,
                                                                unsigned *where);

/* The grammars that the executor checks before any docker command. */
bool gate_endpoint(const char *url); /* unix:// + canonical path, <= 107 bytes */
bool gate_image_reference(const char *reference); /* never a leading '-' */

#endif

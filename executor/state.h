/* SPDX-License-Identifier: ISC */
#ifndef COFFERDAM_EXECUTOR_STATE_H
#define COFFERDAM_EXECUTOR_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../ipc/limits.h"

/*
 * The state directory: id, lock, claims/ and docker/ (docker's empty config
 * directory).  Private to the caller, on a local file system, and nobody else
 * can replace it.
 *
 * The lock and the claims are flock(2) locks, held by descriptors that no
 * child gets; the kernel drops them when the executor dies, however it dies.
 * What the files say is for people only.
 */

#define STATE_PATH (PATH_BYTES_MAX + 1)
#define STATE_STUCK_SECONDS 60

struct state {
	int dir; /* descriptors; -1: none */
	int claims;
	int lock;
	int claim;
	char path[STATE_PATH]; /* canonical */
	char id[ID_HEX + 1];
	char claim_name[ID_HEX + 1];
	const char *wrong; /* what state_open did not like, for people; else NULL */
};

enum state_result {
	STATE_OK = 0,
	STATE_HELD, /* somebody else holds the lock: try again */
	STATE_BAD, /* not what it should be, or errno */
};

/* Random bytes, and their ID_HEX digits. */
__attribute__((warn_unused_result)) bool state_random(uint8_t bytes[NONCE_BYTES],
                                                      char hex[ID_HEX + 1]);

/* Which one is meant: `given`, or the first of $STATE_DIRECTORY, or
 * HOME/.local/state/cofferdam.  path holds STATE_PATH bytes.  False: none. */
__attribute__((warn_unused_result)) bool state_choose(char *path, const char *given,
                                                      const char *home);

/* A directory on a file system of this machine, where flock(2) holds. */
__attribute__((warn_unused_result)) bool state_local(int fd);

/* Opens that one; makes what is missing.  state is set even on failure, with
 * the descriptors that are open. */
__attribute__((warn_unused_result)) enum state_result state_open(struct state *state,
                                                                 const char *given,
                                                                 const char *home);

/* One try at the lock, without waiting. */
__attribute__((warn_unused_result)) enum state_result state_lock(struct state *state,
                                                                 const char *nonce);
/* Who holds it, as its file says (any bytes of the caller's own). */
size_t state_holder(const struct state *state, char *to, size_t cap);
/* Gives it up.  False when the file was replaced meanwhile. */
__attribute__((warn_unused_result)) bool state_unlock(struct state *state);

/* Makes and locks claims/<nonce>, and appends lines to it.  Its first line says
 * which engine is meant and which file this is, so that a copy of the directory
 * is nobody's claim.  False: why is in errno, EEXIST when there is one. */
__attribute__((warn_unused_result)) bool state_claim(struct state *state, const char *nonce,
                                                     const char *endpoint);
__attribute__((warn_unused_result)) bool state_claim_say(const struct state *state,
                                                         const char *line);
/*
 * Claims on this engine that nobody holds, and that say that their container was
 * created or are older than quiet_seconds: each is locked, handed to gone(), and
 * removed when that returns true.  One for which it does not is left alone for
 * STATE_STUCK_SECONDS, so that it holds up neither launches nor other orphans.
 * At most `most` a call.
 */
void state_reap(const struct state *state, unsigned most, unsigned quiet_seconds,
                const char *endpoint,
                bool (*gone)(void *context, const char *nonce, bool created), void *context);

/* Takes one such claim as if state_claim had made it, left alone or not. */
__attribute__((warn_unused_result)) bool state_adopt(struct state *state, const char *nonce,
                                                     const char *endpoint,
                                                     unsigned quiet_seconds, bool *created);

/* One that could not be taken although nobody holds it, nor is about to: it is not
 * what a launch has made, or is of another engine. */
__attribute__((warn_unused_result)) bool state_spoilt(const struct state *state,
                                                      const char *nonce,
                                                      unsigned quiet_seconds);

/* The canonical path, or "" for none, is that of a file that is described above, or
 * is in claims/ or docker/. */
__attribute__((warn_unused_result)) bool state_holds(const struct state *state,
                                                     const char *path);

/* Removes it; true when there is none.  False when it was replaced. */
__attribute__((warn_unused_result)) bool state_drop_claim(struct state *state);

#endif

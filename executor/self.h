/* SPDX-License-Identifier: ISC */
#ifndef COFFERDAM_EXECUTOR_SELF_H
#define COFFERDAM_EXECUTOR_SELF_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "../ipc/limits.h"
#include "reason.h"

/* The executor's own process, and the files that it trusts. */

#define SELF_PATH (PATH_BYTES_MAX + 1)

/* Step 1: default signals, an empty mask, 0-2 open, not root and not
 * privileged by its file, not dumpable, no_new_privs, umask 077.  To be called
 * before anything else is opened.  WHY_NONE, or what is wrong. */
__attribute__((warn_unused_result)) enum executor_reason self_start(void);

/* The caller's home, from the user database: "" when there is none. */
void self_home(char *home, size_t cap);

/* The canonical path of an open file, as the kernel knows it. */
__attribute__((warn_unused_result)) bool self_path(int fd, char *path, size_t cap);

/* Root's or the caller's, and nobody else may write to it. */
bool self_trusts(const struct stat *st);

/* True iff nobody but root and `owner` could replace path, or a directory above
 * it.  sticky: directories that others may write to are fine when they are
 * sticky.  A link is judged by its owner and its directory, not by what it
 * points to. */
bool self_safe(const char *path, uid_t owner, bool sticky);

/* The config that the caller or $COFFERDAM_CONFIG names; NULL: neither does, and it is
 * looked for in the places of cofferdam(1). */
const char *self_config_named(const char *given);
#define SELF_PLACES "the usual places" /* what an error calls those */
/* Opens that config and tells its path; errno says why it cannot be opened. */
__attribute__((warn_unused_result)) enum executor_reason self_config(const char *given,
                                                                     const char *home, int *fd,
                                                                     char *path);
/* Opens the audit file for appending.  Neither this nor the next follows a link;
 * errno says why one failed. */
__attribute__((warn_unused_result)) enum executor_reason self_audit(const char *given, int *fd,
                                                                    char *path);
/* Opens the file for the worker's standard error, as it is, for writing. */
__attribute__((warn_unused_result)) enum executor_reason self_log(const char *given, int *fd,
                                                                  char *path);
/* The canonical path of the docker program (NULL: the one built in), or, when it is
 * refused, what the refusal names. */
__attribute__((warn_unused_result)) enum executor_reason self_docker(const char *given,
                                                                     char *path);
/* Opens cofferdam-policy, which lies beside this program, for execution only;
 * both programs' paths.  Each path holds SELF_PATH bytes. */
__attribute__((warn_unused_result)) enum executor_reason self_policy(int *fd, char *own,
                                                                     char *path);

#endif

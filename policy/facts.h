/* SPDX-License-Identifier: ISC */
#ifndef COFFERDAM_POLICY_FACTS_H
#define COFFERDAM_POLICY_FACTS_H

#include <stdbool.h>

#include "../ipc/frame_policy.h"
#include "report.h"

/*
 * What `check` and `argv` look up for themselves when they are run by hand:
 * the same facts that the executor gives to `decide`.  Only before confinement:
 * the user database may use the heap.  Strings are in static storage.
 */

/* Nonce and state_id are zeros, mode is the config's to say, audit and name
 * are not known.  config is not filled in. */
void facts_gather(struct facts *out);

/*
 * Opens the config: `given`, else $COFFERDAM_CONFIG, else
 * ${XDG_CONFIG_HOME:-~/.config}/cofferdam/config.json if that exists, else
 * /etc/cofferdam/config.json; "-" is standard input.  A regular file, owned by
 * root or the caller, that nobody else may write.  Its descriptor, and the
 * absolute path in facts->config (NULL for standard input); or -1 and a
 * finding.
 */
__attribute__((warn_unused_result)) int facts_open_config(const char *given, struct facts *facts,
                                                          struct report *report);

/* Opens a file for reading, O_CLOEXEC.  Its descriptor, or -1 and a finding. */
__attribute__((warn_unused_result)) int facts_open(const char *path, struct report *report);

#endif

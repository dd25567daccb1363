/* SPDX-License-Identifier: ISC */
#ifndef COFFERDAM_POLICY_LAUNCHING_H
#define COFFERDAM_POLICY_LAUNCHING_H

#include "confine.h"
#include "options.h"

/*
 * `cofferdam-policy decide`: frames in, frames out (design section 3, step 3).
 * Only the executor runs it.  It finds its descriptors where these numbers say.
 */

enum launching_fd {
	LAUNCHING_SOCKET = 3, /* SOCK_SEQPACKET, to the executor */
	LAUNCHING_CONFIG = 4, /* the config file */
	LAUNCHING_CONTEXT = 5, /* docker's answer to ASK_CONTEXT */
	LAUNCHING_IMAGE = 6, /* docker's answer to ASK_IMAGE */
	LAUNCHING_AUDIT = 7, /* the audit file, when FACTS name one */
	LAUNCHING_TURN = 8, /* the sealed turn, to be hashed only; none in a session */
};

/* Before confinement: opens the mount table.  0, or an exit status. */
int launching_prepare(const struct options *options);
/* Inside: the whole conversation.  The exit status. */
int launching_run(const struct options *options, enum confine_result confined);

#endif

/* SPDX-License-Identifier: ISC */
#ifndef COFFERDAM_POLICY_CHECKING_H
#define COFFERDAM_POLICY_CHECKING_H

#include "confine.h"
#include "options.h"

/* `cofferdam-policy check` and `argv`: the decision, by hand and without
 * docker. */

#define CHECKING_OPTIONS \
	(OPTION_BIT(OPTION_CONFIG) | OPTION_BIT(OPTION_IMAGE) | OPTION_BIT(OPTION_NONCE) | \
	 OPTION_BIT(OPTION_OFFLINE) | OPTION_BIT(OPTION_JSON) | OPTION_BIT(OPTION_QUIET))

/* Before confinement: gathers the facts, opens the config, the image's
 * description and the mount table.  0, or the status of a usage error; what
 * cannot be opened is a finding, and so part of the decision. */
int checking_prepare(const struct options *options);

/* One record a document on standard output, each finding on standard error.
 * 0 when allowed; else the first finding's status, with --lines 77. */
int checking_run(const struct options *options, enum confine_result confined);

/* The words as a JSON array, or with -0 each followed by a NUL. */
int checking_argv(const struct options *options, enum confine_result confined);

#endif

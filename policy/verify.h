/* SPDX-License-Identifier: ISC */
#ifndef COFFERDAM_POLICY_VERIFY_H
#define COFFERDAM_POLICY_VERIFY_H

#include "../ipc/frame_policy.h"
#include "json.h"
#include "report.h"

/*
 * Does the container read back as it was asked for (design section 7)?  Pure:
 * the identities on the host are the caller's to check.  doc is the answer of
 * `docker container inspect --format '{{json .}}'`.  Every difference is
 * reported, with the member's pointer, what was asked and what docker says.
 *
 * The table is closed: each member of HostConfig and Config, and of the mounts,
 * is one that is named here or says nothing (null, false, 0, "", [] or {}).  A
 * member that an engine adds some day passes while it is unused, and refuses
 * once it is not.  A named member that is missing is a difference.  State is
 * the caller's business: this holds for a container in any state.
 */
void verify_container(const struct json *doc, const struct launch *plan, struct report *report);

#endif

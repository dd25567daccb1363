/* SPDX-License-Identifier: ISC */
#ifndef COFFERDAM_POLICY_ENDPOINT_H
#define COFFERDAM_POLICY_ENDPOINT_H

#include <stdbool.h>
#include <stddef.h>

#include "json.h"
#include "place.h"
#include "report.h"

/* Where the docker engine listens.  Pure. */

/* The path of "unix://" + absolute path (inside url), or NULL with a finding.
 * Only the one spelling: lower case, three slashes, a path that path_check and
 * path_canonical take (links are still allowed), no '%', '?' or '#', no blank
 * at its end, at most ENDPOINT_PATH_MAX bytes.  pointer names the source for
 * the report. */
const char *endpoint_path(const char *url, const char *pointer, struct report *report);

/* A socket, owned by root or by uid, not writable by others, which no other
 * user could replace; not one of Docker Desktop's or snap's (by its canonical
 * path); the canonical path plain, too, since docker is given that one.  Of a
 * PLACE_TEXT place the text only. */
void endpoint_judge(const struct place *socket, uint32_t uid, const char *pointer,
                    struct report *report);

/* The Host of `docker context inspect --format '{{json .Endpoints.docker.Host}}'`
 * (a JSON string), kept in the arena; NULL with a finding. */
const char *endpoint_context(const struct json *answer, struct text *arena,
                             struct report *report);

#endif

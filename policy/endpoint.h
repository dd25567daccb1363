/* SPDX-License-Identifier: ISC */
#ifndef COFFERDAM_POLICY_ENDPOINT_H
#define COFFERDAM_POLICY_ENDPOINT_H

#include <stdbool.h>
#include <stddef.h>

#include "json.h"
#include "place.h"
#include "report.h"

/* Where the docker engine listens.  Pure. */

/* The path of "unix://" + absolute path, or NULL.  Only the one spelling:
 * lower case, three slashes, a path that path_check takes, at most
 * ENDPOINT_PATH_MAX bytes.  pointer names the source for the report. */
const char *endpoint_path(const char *url, const char *pointer, struct report *report);

/* A socket, owned by root or by uid, not writable by others; not one of Docker
 * Desktop's or snap's (by its canonical path). */
void endpoint_judge(const struct place *socket, uint32_t uid, const char *pointer,
                    struct report *report);

/* The Host of `docker context inspect --format '{{json .Endpoints.docker.Host}}'`
 * (a JSON string), kept in the arena; NULL with a finding. */
const char *endpoint_context(const struct json *answer, struct text *arena,
                             struct report *report);

#endif

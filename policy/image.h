/* SPDX-License-Identifier: ISC */
#ifndef COFFERDAM_POLICY_IMAGE_H
#define COFFERDAM_POLICY_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../ipc/frame_policy.h"
#include "json.h"
#include "report.h"

/* Image references, and what docker says of an image.  Pure. */

/* Docker's reference grammar (distribution/reference) or sha256:<64 hex>;
 * never a leading '-'; at most 512 bytes. */
bool image_reference(const char *text, size_t len);
/* sha256: and 64 lower-case hex digits. */
bool image_id(const char *text, size_t len);

struct image {
	const char *id;
	struct words entrypoint; /* count 0: none */
	struct words command; /* the image's CMD */
	const char *workdir; /* "/" when the image has none */
	struct inherited env; /* NAME=value */
	struct inherited labels; /* key=value */
};

/*
 * Reads the answer of `docker image inspect --format '{{json .}}'`: one
 * document, blanks around it.  Refuses (report, pointer into the answer): no
 * immutable Id, Os other than linux, a VOLUME, counts beyond the arrays, NULs.
 * An odd WORKDIR or a missing command is decide's to refuse, for the config may
 * override both.  *out only when nothing was added.
 */
void image_read(const struct json *doc, struct text *arena, struct image *out,
                struct report *report);

#endif

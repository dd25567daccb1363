/* SPDX-License-Identifier: ISC */
#ifndef COFFERDAM_POLICY_JUDGING_H
#define COFFERDAM_POLICY_JUDGING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "../ipc/frame_policy.h"
#include "config.h"
#include "confine.h"
#include "decide.h"
#include "record.h"
#include "report.h"

/*
 * One config document from bytes to a decision and its record: what `decide`,
 * `check` and `argv` share.  It makes no system call itself; libmd hashes.
 */

/* The config's strings; what decide composes (argv, label, pointers); the
 * image's strings. */
#define JUDGING_ARENA (CONFIG_ARENA + 1048576 + 2 * ANSWER_MAX)

/* A record's text at its largest: strings of the config and the image as \uXXXX
 * escapes, and every finding. */
#define JUDGING_RECORD 4194304

struct judging {
	struct config config;
	struct decision decision;
	struct report report;
	bool hashed;
	uint8_t config_sha256[SHA256_BYTES];
	bool turn_hashed;
	uint8_t turn_sha256[SHA256_BYTES]; /* of the canonical turn */
	enum confine_result confined;
	struct text arena;
	char arena_bytes[JUDGING_ARENA];
};

struct judging_how {
	bool offline; /* no file system */
	bool by_hand; /* no executor: the mode is the config's, every finding counts */
};

/* An empty judgement, whose report takes findings about the config. */
void judging_begin(struct judging *j, enum confine_result confined);

/* Judges the document.  facts->mode is set when by_hand.  The decision holds
 * when the report is empty; its strings live in j and in facts. */
void judging_config(struct judging *j, const char *text, size_t len, struct facts *facts,
                    const struct judging_how *how, const struct decide_asker *asker);

/* Docker's answer about an image: false with a finding. */
__attribute__((warn_unused_result)) bool judging_image(const char *text, size_t len,
                                                       struct text *arena, struct image *out,
                                                       struct report *report);

/* Appends the record, one line. */
void judging_record(const struct judging *j, struct timespec now, uint64_t seq, bool all,
                    struct text *out);

#endif

/* SPDX-License-Identifier: ISC */
#ifndef COFFERDAM_POLICY_COMMANDS_H
#define COFFERDAM_POLICY_COMMANDS_H

#include "confine.h"
#include "options.h"

/*
 * The subcommands that are one filter each.  All run confined and return the
 * exit status; a refusal is one line on standard error, with --json one JSON
 * object, and nothing on standard output.
 */

/* Standard input to standard output: the canonical document and one newline. */
int commands_turn(const struct options *options, enum confine_result confined);
int commands_reply(const struct options *options, enum confine_result confined);
int commands_model_input(const struct options *options, enum confine_result confined);
int commands_json(const struct options *options, enum confine_result confined);

/* The plan (a LAUNCH frame) at descriptor 3, docker's answer at 0. */
int commands_admit(const struct options *options, enum confine_result confined);
int commands_verify(const struct options *options, enum confine_result confined);

/* Docker's lines about managed containers at 0; at 3, if it is open, the state
 * directory's id and the nonces of the claims that are held (policy/ps.h). */
int commands_ps(const struct options *options, enum confine_result confined);

/* What this program knows of itself. */
int commands_explain(const struct options *options, enum confine_result confined);
int commands_schema(const struct options *options, enum confine_result confined);

#endif

/* SPDX-License-Identifier: ISC */
#ifndef COFFERDAM_EXECUTOR_DECIDING_H
#define COFFERDAM_EXECUTOR_DECIDING_H

#include "run.h"

/* The actions before anything is held: what is to be launched, and may it be? */

/* A_READ_TURN: the canonical turn, sealed.  A session has none. */
enum life_event deciding_turn(struct run *run);
/* A_DECIDE: the conversation with `cofferdam-policy decide`; its order. */
enum life_event deciding_argv(struct run *run);
/* A_GATE: the order is one that isolates; the plan, sealed. */
enum life_event deciding_gate(struct run *run);

#endif

/* SPDX-License-Identifier: ISC */
#include "../executor/life.h"

#include "nondet.h"

/*
 * The executor's table, walked along every sequence of outcomes.  What is held
 * is kept here, by what each action's outcome means, and compared with what
 * life.h says of each state.
 */

enum fate { NONE, MAYBE, HERE, STOPPED, GONE, LEFT };

struct held {
	bool lock, claim, guarded, checked, started, reply;
	enum fate container; /* LEFT: not confirmed gone, and named */
};

static void settle_removal(struct held *held, enum life_event event)
{
	held->container = event == E_OK ? GONE : LEFT;
}

/* After the action's outcome. */
static void apply(struct held *held, enum life_action action, enum life_event event)
{
	bool ok = event == E_OK;

	if (action == A_LOCK)
		held->lock = ok;
	if (action == A_CLAIM)
		held->claim = ok;
	if (action == A_GUARD)
		held->guarded = ok;
	if (action == A_CREATE)
		held->container = ok ? HERE : event == E_UNSURE ? MAYBE : NONE;
	if (action == A_CHECK)
		held->checked = ok;
	if (action == A_UNLOCK)
		held->lock = false; /* the process gives it up even when it was stolen */
	if (action == A_START)
		held->started = ok;
	if (action == A_RESULT)
		held->container = ok ? STOPPED : HERE;
	if (action == A_REMOVE || action == A_SETTLE)
		settle_removal(held, event);
	if (action == A_DROP_CLAIM)
		held->claim = false;
}

/* Before the action. */
static void prove_allowed(const struct held *held, enum life_action action)
{
	if (action == A_CLAIM)
		PROVE(held->lock && !held->claim, "a claim is made under the lock, once");
	if (action == A_CREATE)
		PROVE(held->lock && held->claim && held->guarded && held->container == NONE,
		      "no create without the lock, a claim and a guardian, and one only");
	if (action == A_CHECK)
		PROVE(held->lock && held->claim && held->container == HERE,
		      "checked while it exists, locked, and has not run");
	if (action == A_START)
		PROVE(held->checked && held->claim && !held->lock && !held->started,
		      "started once, after the check, without the lock");
	if (action == A_RESULT)
		PROVE(held->started, "judged only after it was started");
	if (action == A_SETTLE)
		PROVE(held->container == MAYBE, "settles only what is unsure");
	if (action == A_REMOVE)
		PROVE(held->container != MAYBE, "a create that may come late is settled");
	if (action == A_DROP_CLAIM)
		PROVE(held->container == GONE,
		      "a claim is dropped only after a confirmed removal");
	if (action == A_RELEASE)
		PROVE(held->container == GONE && held->reply && !held->claim && !held->lock,
		      "the reply leaves only after the removal");
	if (action == A_REPORT || action == A_END)
		PROVE(!held->lock, "the lock is given up on every way");
}

/* What life.h's comments say of the states. */
static void prove_documented(const struct held *held, enum life_state state)
{
	bool locked = state == S_CLAIMING || state == S_GUARDING || state == S_CREATING ||
	              state == S_CHECKING ||
	              state == S_UNLOCKING || state == S_DOOMED_LOCKED ||
	              state == S_DROPPING_LOCKED || state == S_UNLOCKING_LAST;

	PROVE(held->lock == locked, "the lock is held where life.h says so");
	if (state == S_GUARDING || state == S_CREATING || state == S_CHECKING ||
	    state == S_UNLOCKING ||
	    state == S_STARTING || state == S_JUDGING || state == S_REMOVING ||
	    state == S_DROPPING || state == S_DOOMED || state == S_DROPPING_LAST)
		PROVE(held->claim, "so is the claim");
	if (state == S_RELEASING)
		PROVE(!held->claim, "and dropped before the reply");
}

/* The longest way has S_COUNT steps: no state comes twice. */
PROOF(life_walk)
{
	struct held held = {.container = NONE};
	struct life_step step = life_next(S_NEW, E_OK);
	bool seen[S_COUNT] = {false};
	bool entered = false, removed = false, told = false;

	for (unsigned i = 0; i < S_COUNT && step.action != A_END; i++) {
		enum life_event event = (enum life_event)any_up_to(E_COUNT - 1);

		PROVE(step.next < S_COUNT && step.action < A_COUNT, "inside the enums");
		PROVE(!seen[step.next], "acyclic");
		seen[step.next] = true;
		prove_allowed(&held, step.action);
		prove_documented(&held, step.next);
		entered = entered || step.action == A_CREATE;
		removed = removed || step.action == A_REMOVE || step.action == A_SETTLE;
		told = told || step.action == A_REPORT;
		apply(&held, step.action, event);
		held.reply = held.reply || (step.action == A_RESULT && event == E_OK);
		step = life_next(step.next, event);
	}
	PROVE(step.action == A_END, "every way ends");
	PROVE(!entered || removed, "every way out from create on passes a removal");
	PROVE(told, "every way reports");
	PROVE(!held.claim || held.container == LEFT, "a claim is left only for a residual");
}

/* Any pair of numbers, in the enums or not. */
PROOF(life_total)
{
	unsigned state = (unsigned)any_up_to(S_COUNT + 3), event = (unsigned)any_up_to(E_COUNT + 3);
	struct life_step step;

#ifdef CBMC
	state = nondet_uint32();
	event = nondet_uint32();
#endif
	step = life_next((enum life_state)state, (enum life_event)event);
	PROVE((unsigned)step.action < A_COUNT && (unsigned)step.next < S_COUNT, "total");
	PROVE((state < S_COUNT && event < E_COUNT) ||
	              (step.action == A_SETTLE && step.next == S_DOOMED_LOCKED),
	      "given up with everything held");
}

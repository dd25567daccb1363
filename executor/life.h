/* SPDX-License-Identifier: ISC */
#ifndef COFFERDAM_EXECUTOR_LIFE_H
#define COFFERDAM_EXECUTOR_LIFE_H

/*
 * The lifecycle of one run, as one table: in this state, after this outcome of
 * the last action, do that and go there.  Pure.  The table has no cycle, so
 * every run ends; the states below say what is held.
 *
 * The lock is held from S_CLAIMING on: until A_UNLOCK succeeds, or, when the
 * run is given up before that, until its container is gone, so that nobody is
 * refused because of a container that is about to go.  Every way out of
 * S_CLAIMING and later passes A_REMOVE (A_SETTLE is the same, after a create
 * whose outcome is unknown).  The claim is dropped only when that succeeded.
 */

enum life_event {
	E_OK,
	E_FAIL, /* the reason is on record; for A_REMOVE: not confirmed gone */
	E_UNSURE, /* of A_CREATE: the engine may still carry it out */
	E_COUNT
};

enum life_action {
	A_SET_UP,
	A_READ_TURN,
	A_DECIDE,
	A_GATE,
	A_REAP, /* what killed runs have left; fails if that must be told and cannot be */
	A_LOCK,
	A_CLAIM,
	A_GUARD, /* start the guardian */
	A_CREATE,
	A_CHECK, /* admit and verify */
	A_UNLOCK,
	A_START,
	A_RESULT,
	A_REMOVE,
	A_SETTLE,
	A_DROP_CLAIM,
	A_RELEASE,
	A_REPORT,
	A_END,
	A_COUNT
};

/* Named for the action whose outcome is awaited. */
enum life_state {
	S_NEW,
	S_SETTING_UP,
	S_READING,
	S_DECIDING,
	S_GATING,
	S_REAPING,
	S_LOCKING,
	S_CLAIMING, /* lock */
	S_GUARDING, /* lock, claim */
	S_CREATING, /* lock, claim */
	S_CHECKING, /* lock, claim, container */
	S_UNLOCKING, /* lock, claim, container */
	S_STARTING, /* claim, container */
	S_JUDGING, /* claim, container that ended */
	S_REMOVING, /* claim, container; there is a reply */
	S_DROPPING, /* claim; there is a reply */
	S_RELEASING,
	S_DOOMED_LOCKED, /* given up; lock, claim, perhaps a container */
	S_DROPPING_LOCKED, /* given up; lock, claim */
	S_UNLOCKING_LAST, /* given up; lock */
	S_DOOMED, /* given up; claim, container */
	S_DROPPING_LAST, /* given up; claim */
	S_REPORTING,
	S_ENDED,
	S_COUNT
};

struct life_step {
	enum life_action action;
	enum life_state next;
};

/* Total: a pair outside the enums is given up with everything held. */
struct life_step life_next(enum life_state state, enum life_event event);

#endif

/* SPDX-License-Identifier: ISC */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../../executor/life.h"

#define STEPS_MAX 32

/* One way through the table: the actions done, and how each ended. */
struct path {
	unsigned count;
	enum life_action action[STEPS_MAX];
	enum life_event event[STEPS_MAX];
};

static unsigned count_of(const struct path *path, enum life_action action)
{
	unsigned n = 0;

	for (unsigned i = 0; i < path->count; i++)
		n += path->action[i] == action;
	return n;
}

/* The first place of an action, path->count when it is not there. */
static unsigned place_of(const struct path *path, enum life_action action)
{
	unsigned i = 0;

	while (i < path->count && path->action[i] != action)
		i++;
	return i;
}

static bool went_well(const struct path *path, enum life_action action)
{
	unsigned at = place_of(path, action);

	return at < path->count && path->event[at] == E_OK;
}

static void follow(struct path *path, const enum life_event *events)
{
	struct life_step step = life_next(S_NEW, E_OK);

	path->count = 0;
	while (step.action != A_END) {
		assert_in_range(path->count, 0, STEPS_MAX - 1);
		path->action[path->count] = step.action;
		path->event[path->count] = events[path->count];
		path->count++;
		step = life_next(step.next, events[path->count - 1]);
	}
	assert_int_equal(step.next, S_ENDED);
}

static unsigned removals(const struct path *path)
{
	return count_of(path, A_REMOVE) + count_of(path, A_SETTLE);
}

static bool removed(const struct path *path)
{
	return went_well(path, A_REMOVE) || went_well(path, A_SETTLE);
}

/* What holds of every path, whatever fails. */
static void judge(const struct path *path)
{
	unsigned end = path->count;

	for (unsigned i = 0; i < A_COUNT; i++)
		assert_in_range(count_of(path, (enum life_action)i), 0, 1);
	assert_int_equal(path->action[end - 1], A_REPORT);

	/* From the claim on, every way out passes the removal, once. */
	assert_int_equal(removals(path), count_of(path, A_CLAIM));
	if (count_of(path, A_CREATE) == 1)
		assert_true(place_of(path, A_CREATE) < place_of(path, A_REMOVE) ||
		            place_of(path, A_CREATE) < place_of(path, A_SETTLE));
	/* Whoever got the lock gives it up; nobody else does. */
	assert_int_equal(count_of(path, A_UNLOCK), went_well(path, A_LOCK));
	/* The claim goes when the container is known to be gone, and only then. */
	assert_int_equal(count_of(path, A_DROP_CLAIM), removed(path));
	/* Guard, create, check, unlock, start: in this order, each after success. */
	assert_int_equal(count_of(path, A_GUARD), went_well(path, A_CLAIM));
	assert_int_equal(count_of(path, A_CREATE), went_well(path, A_GUARD));
	assert_int_equal(count_of(path, A_CHECK), went_well(path, A_CREATE));
	if (count_of(path, A_START) == 1) {
		assert_true(went_well(path, A_CHECK));
		assert_true(went_well(path, A_UNLOCK));
		assert_true(place_of(path, A_UNLOCK) > place_of(path, A_CHECK));
		assert_true(place_of(path, A_UNLOCK) < place_of(path, A_START));
	} else if (went_well(path, A_LOCK) && !went_well(path, A_CHECK)) {
		/* Given up under the lock: it is held until the removal's end. */
		assert_true(place_of(path, A_UNLOCK) >
		            (count_of(path, A_REMOVE) == 1 ? place_of(path, A_REMOVE)
		                                           : place_of(path, A_SETTLE)));
	}
	/* Nothing is released unless everything before went well. */
	if (count_of(path, A_RELEASE) == 1)
		for (unsigned i = 0; i < place_of(path, A_RELEASE); i++)
			assert_int_equal(path->event[i], E_OK);
	/* The long removal is for a create of unknown outcome, and always then. */
	assert_int_equal(count_of(path, A_SETTLE),
	                 count_of(path, A_CREATE) == 1 &&
	                         path->event[place_of(path, A_CREATE)] == E_UNSURE);
}

/* Every sequence of outcomes, by counting them up from the last step that
 * mattered. */
static void every_path(void **state)
{
	enum life_event events[STEPS_MAX] = {E_OK};
	struct path path;
	unsigned paths = 0;
	unsigned at;

	(void)state;
	do {
		follow(&path, events);
		judge(&path);
		paths++;
		at = path.count;
		while (at > 0 && events[at - 1] + 1 == E_COUNT)
			events[--at] = E_OK;
		if (at > 0)
			events[at - 1] = (enum life_event)(events[at - 1] + 1);
	} while (at > 0);
	assert_true(paths > 300);
}

static void the_good_path(void **state)
{
	static const enum life_action good[] = {
		A_SET_UP, A_READ_TURN, A_DECIDE, A_GATE, A_REAP, A_LOCK, A_CLAIM, A_GUARD,
		A_CREATE, A_CHECK, A_UNLOCK, A_START, A_RESULT, A_REMOVE, A_DROP_CLAIM,
		A_RELEASE, A_REPORT,
	};
	enum life_event events[STEPS_MAX] = {E_OK};
	struct path path;

	(void)state;
	follow(&path, events);
	assert_int_equal(path.count, sizeof(good) / sizeof(good[0]));
	assert_memory_equal(path.action, good, sizeof(good));
}

/* A failure at step i of the good path: what still happens. */
static void the_bad_paths(void **state)
{
	static const struct {
		unsigned at;
		enum life_event event;
		enum life_action then[5];
	} rows[] = {
		{0, E_FAIL, {A_REPORT, A_END}},
		{1, E_FAIL, {A_REPORT, A_END}},
		{2, E_FAIL, {A_REPORT, A_END}},
		{3, E_FAIL, {A_REPORT, A_END}},
		{4, E_FAIL, {A_REPORT, A_END}},
		{5, E_FAIL, {A_REPORT, A_END}},
		{6, E_FAIL, {A_REMOVE, A_DROP_CLAIM, A_UNLOCK, A_REPORT, A_END}},
		{7, E_FAIL, {A_REMOVE, A_DROP_CLAIM, A_UNLOCK, A_REPORT, A_END}},
		{8, E_FAIL, {A_REMOVE, A_DROP_CLAIM, A_UNLOCK, A_REPORT, A_END}},
		{8, E_UNSURE, {A_SETTLE, A_DROP_CLAIM, A_UNLOCK, A_REPORT, A_END}},
		{9, E_FAIL, {A_REMOVE, A_DROP_CLAIM, A_UNLOCK, A_REPORT, A_END}},
		{10, E_FAIL, {A_REMOVE, A_DROP_CLAIM, A_REPORT, A_END}},
		{11, E_FAIL, {A_REMOVE, A_DROP_CLAIM, A_REPORT, A_END}},
		{12, E_FAIL, {A_REMOVE, A_DROP_CLAIM, A_REPORT, A_END}},
		{13, E_FAIL, {A_REPORT, A_END}},
		{14, E_FAIL, {A_REPORT, A_END}},
		{15, E_FAIL, {A_REPORT, A_END}},
		{16, E_FAIL, {A_END}},
	};
	struct path path;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		enum life_event events[STEPS_MAX] = {E_OK};
		unsigned n = 0;

		events[rows[i].at] = rows[i].event;
		follow(&path, events);
		for (; rows[i].then[n] != A_END; n++)
			assert_int_equal(path.action[rows[i].at + 1 + n], rows[i].then[n]);
		assert_int_equal(path.count, rows[i].at + 1 + n);
	}
}

/* A removal that fails leaves the claim, and gives up the lock. */
static void the_residual(void **state)
{
	enum life_event events[STEPS_MAX] = {E_OK};
	struct path path;

	(void)state;
	events[9] = E_FAIL;
	events[10] = E_FAIL;
	follow(&path, events);
	assert_int_equal(path.count, 13);
	assert_int_equal(path.action[10], A_REMOVE);
	assert_int_equal(path.action[11], A_UNLOCK);
	assert_int_equal(path.action[12], A_REPORT);
}

static void outside(void **state)
{
	static const struct {
		int state;
		int event;
	} rows[] = {{S_COUNT, E_OK}, {-1, E_OK}, {S_NEW, E_COUNT}, {S_NEW, -1},
	            {INT32_MAX, E_FAIL}};
	struct life_step step;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		step = life_next((enum life_state)rows[i].state, (enum life_event)rows[i].event);
		assert_int_equal(step.action, A_SETTLE);
		assert_int_equal(step.next, S_DOOMED_LOCKED);
	}
	step = life_next(S_ENDED, E_FAIL);
	assert_int_equal(step.action, A_END);
	assert_int_equal(step.next, S_ENDED);
}

/* A state is named for the action whose outcome it awaits: wherever the table
 * goes there, that action has been done, and none goes elsewhere. */
static void states_fit_actions(void **state)
{
	static const enum life_action done[S_COUNT] = {
		[S_SETTING_UP] = A_SET_UP,          [S_READING] = A_READ_TURN,
		[S_DECIDING] = A_DECIDE,            [S_GATING] = A_GATE,
		[S_REAPING] = A_REAP,               [S_LOCKING] = A_LOCK,
		[S_CLAIMING] = A_CLAIM,             [S_GUARDING] = A_GUARD,
		[S_CREATING] = A_CREATE,            [S_CHECKING] = A_CHECK,
		[S_UNLOCKING] = A_UNLOCK,           [S_STARTING] = A_START,
		[S_JUDGING] = A_RESULT,             [S_REMOVING] = A_REMOVE,
		[S_DROPPING] = A_DROP_CLAIM,        [S_RELEASING] = A_RELEASE,
		[S_DOOMED_LOCKED] = A_REMOVE,       [S_DROPPING_LOCKED] = A_DROP_CLAIM,
		[S_UNLOCKING_LAST] = A_UNLOCK,      [S_DOOMED] = A_REMOVE,
		[S_DROPPING_LAST] = A_DROP_CLAIM,   [S_REPORTING] = A_REPORT,
		[S_ENDED] = A_END,
	};

	(void)state;
	for (unsigned s = 0; s < S_COUNT; s++) {
		for (unsigned e = 0; e < E_COUNT; e++) {
			struct life_step step = life_next((enum life_state)s, (enum life_event)e);

			assert_int_not_equal(step.next, S_NEW);
			if (step.action == A_SETTLE)
				assert_int_equal(step.next, S_DOOMED_LOCKED);
			else
				assert_int_equal(step.action, done[step.next]);
		}
	}
	/* Nothing is done yet: what fails there is only told. */
	for (unsigned e = E_FAIL; e < E_COUNT; e++)
		assert_int_equal(life_next(S_NEW, (enum life_event)e).action, A_REPORT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_path),    cmocka_unit_test(the_good_path),
		cmocka_unit_test(the_bad_paths), cmocka_unit_test(the_residual),
		cmocka_unit_test(outside),       cmocka_unit_test(states_fit_actions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

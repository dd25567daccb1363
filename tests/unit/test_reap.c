/* SPDX-License-Identifier: ISC */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <signal.h>

#include "../../executor/managed.h"
#include "../../executor/reap.h"
#include "notes.h"

/*
 * cofferdam reap, between stand-ins for the modules that it calls.  Each call is
 * noted with its arguments; a row says what the calls answer, and what must have
 * been noted then.
 */

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define HEX_16 "0123456789abcdef"
#define ID HEX_16 HEX_16 HEX_16 HEX_16
#define RUN "00112233445566778899aabbccddeeff"
#define OTHER "ffeeddccbbaa99887766554433221100"
#define HOST "unix:///run/e.sock"
#define STATUS 123 /* of managed_end */
#define CLAIM 0 /* a descriptor like any other */

static const struct options options;

/* How it goes to claim a container's run, or to adopt a claim. */
struct claiming {
	int claim; /* state_claim leaves this descriptor */
	int error; /* of state_claim; 0: it has claimed */
	int line_error; /* of state_claim_say; 0: it was said */
	bool adopts, spoilt;
};

static struct row {
	const char *name;
	const char *containers; /* managed_each lists so many, one a letter; NULL: it fails */
	struct claiming claiming;
	bool removes;
	int signal; /* that has come */
	bool unopened;
	bool unread; /* the claims cannot be */
	unsigned claims; /* so many */
	int created; /* state_adopt says: 1 and 0; -1: nothing */
	enum removal_look look;
	const char *notes;
} row;

static struct managed *managed; /* reap's own */

int child_signal(void)
{
	return row.signal;
}

/* --- state.h --- */

bool state_claim(struct state *state, const char *nonce, const char *endpoint)
{
	assert_ptr_equal(state, &managed->state);
	note("claim %s %s; ", nonce, endpoint);
	state->claim = row.claiming.claim;
	errno = row.claiming.error;
	return row.claiming.error == 0;
}

bool state_claim_say(const struct state *state, const char *line)
{
	assert_ptr_equal(state, &managed->state);
	note("say %s", line);
	errno = row.claiming.line_error;
	return row.claiming.line_error == 0;
}

bool state_adopt(struct state *state, const char *nonce, const char *endpoint,
                 unsigned quiet_seconds, bool *created)
{
	assert_ptr_equal(state, &managed->state);
	note("adopt %s %s %u; ", nonce, endpoint, quiet_seconds);
	if (row.created >= 0)
		*created = row.created;
	return row.claiming.adopts;
}

bool state_spoilt(const struct state *state, const char *nonce, unsigned quiet_seconds)
{
	assert_ptr_equal(state, &managed->state);
	note("spoilt %s %u?; ", nonce, quiet_seconds);
	return row.claiming.spoilt;
}

/* --- managed.h --- */

bool managed_open(struct managed *of, const struct options *given)
{
	managed = of;
	assert_ptr_equal(given, &options);
	note("open; ");
	of->state.claim = -1;
	strcpy(of->docker.endpoint, HOST);
	return !row.unopened;
}

void managed_fail(struct managed *of, enum executor_reason why, const char *format, ...)
{
	va_list words;
	char text[512];

	assert_ptr_equal(of, managed);
	va_start(words, format);
	vsnprintf(text, sizeof(text), format, words);
	va_end(words);
	note("%s: %s; ", why == WHY_CLAIM ? "CLAIM" : why == WHY_RESIDUAL ? "RESIDUAL" : "?", text);
}

long managed_each(struct managed *of, enum docker_command command, const char *subject,
                  const char *run,
                  void (*act)(struct managed *managed, const char *id, const char *run))
{
	assert_ptr_equal(of, managed);
	note("each %s%s%s; ", command == DOCKER_OURS ? "of ours" : "?", subject == NULL ? "" : " ?",
	     run == NULL ? "" : " ?");
	if (row.containers == NULL)
		return -1;
	for (const char *at = row.containers; *at != '\0'; at++)
		act(of, ID, *at == 'r' ? RUN : OTHER);
	return (long)strlen(row.containers);
}

enum removal_look managed_look(struct managed *of, struct removal *removal, const char *run)
{
	assert_ptr_equal(of, managed);
	assert_non_null(removal);
	note("look for %s; ", run);
	return row.look;
}

bool managed_remove(struct managed *of, const char *id, const char *run, bool settle)
{
	assert_ptr_equal(of, managed);
	note("remove '%s' %s%s; ", id, run, settle ? ", settle" : "");
	return row.removes;
}

/* Says of each what the caller's function says of it. */
bool managed_claims(struct managed *of, bool (*act)(struct managed *managed, const char *run))
{
	assert_ptr_equal(of, managed);
	note("claims; ");
	for (unsigned i = 0; i < row.claims; i++) {
		const bool goes_on = act(of, i == 0 ? RUN : OTHER);

		note(goes_on ? "on; " : "stop; ");
		if (!goes_on)
			return false;
	}
	return !row.unread;
}

void managed_drop(struct managed *of, bool gone)
{
	assert_ptr_equal(of, managed);
	note(gone ? "drop; " : "leave; ");
	of->state.claim = -1;
}

int managed_end(struct managed *of)
{
	assert_ptr_equal(of, managed);
	note("end");
	return STATUS;
}

/* --- the tests --- */

#define EACH "open; each of ours; "
#define MAKE "claim " RUN " " HOST "; "
#define SAY "say created " ID "\n"
#define ADOPT(run) "adopt " run " " HOST " 4; "
#define REMOVE "remove '" ID "' " RUN "; "
#define SETTLE "remove '' " RUN ", settle; "
#define SPOILT "spoilt " RUN " 4?; "
#define RESIDUAL \
	"RESIDUAL: container " ID " of run " RUN " at " HOST ": its claim is spoilt or of another " \
	"endpoint; cofferdam stop " RUN "; "
#define UNREAD "CLAIM: they cannot be read; "
#define END "claims; end"

#define OURS {CLAIM, 0, 0, false, false}
#define THERE(adopts, spoilt) {-1, EEXIST, 0, adopts, spoilt}

static const struct row rows[] = {
	{"nothing", "", OURS, true, 0, false, false, 0, 1, REMOVAL_GONE, EACH END},
	{"no state directory", "r", OURS, true, 0, true, true, 1, 1, REMOVAL_GONE, "open; end"},
	{"no list", NULL, OURS, true, 0, false, true, 1, 1, REMOVAL_GONE, EACH "end"},

	/* Containers. */
	{"an orphan without a claim", "r", OURS, true, 0, false, false, 0, 1, REMOVAL_THERE,
	 EACH MAKE SAY REMOVE "drop; " END},
	{"one that stays", "r", OURS, false, 0, false, false, 0, 1, REMOVAL_GONE,
	 EACH MAKE SAY REMOVE "leave; " END},
	{"two", "ro", OURS, true, 0, false, false, 0, 1, REMOVAL_GONE,
	 EACH MAKE SAY REMOVE "drop; claim " OTHER " " HOST "; " SAY "remove '" ID "' " OTHER
	 "; drop; " END},
	{"one with a claim", "r", THERE(true, true), true, 0, false, false, 0, 1, REMOVAL_GONE,
	 EACH MAKE ADOPT(RUN) REMOVE "drop; " END},
	{"one with a claim, that stays", "r", THERE(true, true), false, 0, false, false, 0, 0,
	 REMOVAL_GONE, EACH MAKE ADOPT(RUN) REMOVE "leave; " END},
	{"one whose claim is held", "r", THERE(false, false), true, 0, false, false, 0, 1,
	 REMOVAL_GONE, EACH MAKE ADOPT(RUN) SPOILT END},
	{"one whose claim is spoilt", "r", THERE(false, true), true, 0, false, false, 0, 1,
	 REMOVAL_GONE, EACH MAKE ADOPT(RUN) SPOILT RESIDUAL END},
	{"a claim that cannot be made", "r", {-1, EACCES, 0, true, false}, true, 0, false, false, 0,
	 1, REMOVAL_GONE, EACH MAKE "CLAIM: " RUN ": Permission denied; " SPOILT END},
	{"one that is made and cannot be locked", "r", {CLAIM, ENOLCK, 0, true, false}, true, 0,
	 false, false, 0, 1, REMOVAL_GONE,
	 EACH MAKE "CLAIM: " RUN ": No locks available; drop; " SPOILT END},
	/* It exists because it is ours. */
	{"one that is made and exists", "r", {CLAIM, EEXIST, 0, true, false}, true, 0, false, false,
	 0, 1, REMOVAL_GONE, EACH MAKE "CLAIM: " RUN ": File exists; drop; " SPOILT END},
	{"one of a greater descriptor", "r", {1, EEXIST, 0, true, false}, true, 0, false, false, 0,
	 1, REMOVAL_GONE, EACH MAKE "CLAIM: " RUN ": File exists; drop; " SPOILT END},
	{"one that cannot be written", "r", {CLAIM, 0, ENOSPC, true, true}, true, 0, false, false, 0,
	 1, REMOVAL_GONE,
	 EACH MAKE SAY "CLAIM: " RUN ": No space left on device; drop; " SPOILT RESIDUAL END},

	/* Claims. */
	{"a claim that is held", "", THERE(false, true), true, 0, false, false, 2, 1, REMOVAL_GONE,
	 EACH "claims; " ADOPT(RUN) "on; " ADOPT(OTHER) "on; end"},
	{"a claim of a container that is gone", "", THERE(true, false), false, 0, false, false, 1, 1,
	 REMOVAL_GONE, EACH "claims; " ADOPT(RUN) "look for " RUN "; drop; on; end"},
	{"of one that came back", "", THERE(true, false), true, 0, false, false, 1, 1, REMOVAL_THERE,
	 EACH "claims; " ADOPT(RUN) "look for " RUN "; leave; on; end"},
	{"of one nobody knows about", "", THERE(true, false), true, 0, false, false, 1, 1,
	 REMOVAL_UNKNOWN, EACH "claims; " ADOPT(RUN) "look for " RUN "; leave; on; end"},
	{"of one that may yet come", "", THERE(true, false), true, 0, false, false, 1, 0,
	 REMOVAL_THERE, EACH "claims; " ADOPT(RUN) SETTLE "drop; on; end"},
	{"of one that came and stays", "", THERE(true, false), false, 0, false, false, 1, 0,
	 REMOVAL_GONE, EACH "claims; " ADOPT(RUN) SETTLE "leave; on; end"},
	{"of one of which nothing is said", "", THERE(true, false), true, 0, false, false, 1, -1,
	 REMOVAL_GONE, EACH "claims; " ADOPT(RUN) SETTLE "drop; on; end"},
	{"claims that cannot be read", "", OURS, true, 0, false, true, 0, 1, REMOVAL_GONE,
	 EACH "claims; " UNREAD "end"},
	{"nor behind a container", "r", OURS, true, 0, false, true, 0, 1, REMOVAL_GONE,
	 EACH MAKE SAY REMOVE "drop; claims; " UNREAD "end"},

	/* A signal, the least and another: managed_end tells of it. */
	{"a signal at a held claim", "", THERE(false, true), true, SIGHUP, false, false, 2, 1,
	 REMOVAL_GONE, EACH "claims; " ADOPT(RUN) "stop; end"},
	{"another", "", THERE(false, true), true, SIGTERM, false, false, 2, 1, REMOVAL_GONE,
	 EACH "claims; " ADOPT(RUN) "stop; end"},
	{"a signal while it looks", "", THERE(true, true), true, SIGHUP, false, false, 2, 1,
	 REMOVAL_UNKNOWN, EACH "claims; " ADOPT(RUN) "look for " RUN "; leave; stop; end"},
	{"a signal while it removes", "", THERE(true, true), false, SIGTERM, false, false, 2, 0,
	 REMOVAL_GONE, EACH "claims; " ADOPT(RUN) SETTLE "leave; stop; end"},
};

static void reaps(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		row = rows[i];
		notes_begin();
		assert_int_equal(reap_run(&options), STATUS);
		notes_are(row.name, row.notes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reaps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: ISC */

/*
 * Launches, one beside the other, against one Docker engine.
 *
 * A launcher is the executor from its lock on; which action follows which is
 * executor/life.c's own table (life.pml, made from it by life2pml.awk).  Any
 * executor or guardian may be killed at any step.  The engine answers when it
 * likes; a request whose client died is lost, or carried out late; an rm may
 * say that it removed what it did not.
 *
 * What is assumed: a listing is one moment's truth; an engine that still carries
 * out a lost create does so within the quiet period; flock(2) and PR_SET_PDEATHSIG
 * do what their man pages say; after some time no more than KILLS, LOSSES and
 * LIES things go wrong; somebody runs `cofferdam reap` now and then.
 *
 *   -DNL=n         launchers (2)
 *   -DKILLS=n      kills of executors and guardians (2)
 *   -DLOSSES=n     docker clients that die, or time out (1)
 *   -DLIES=n       times that rm's answer is not true (1)
 *   -DTWODIRS      the last launcher has another state directory
 *   -DDISJOINT     the last launcher's mounts overlap nobody's
 *   -DWATCH        the rules also as an assertion: one run says what safe and rules say
 *
 * Broken designs; each must be caught:
 *   -DDIRLOCK      the lock is a directory, which no death releases
 *   -DADMITFIRST   the other containers are looked at before ours is created
 *   -DADMITOWN     only the containers of one's own state directory are
 *   -DADMITRUNNING only the running ones are (ls without --all)
 *   -DREAPBLIND    reap does not ask whether the claim is held
 *   -DTRUSTRM      rm's status is taken for the removal
 *   -DNOQUIET      after an unsure create one look must do
 *   -DNORECHECK    a claim's file is not looked at again once it is locked
 *   -DNOREAP       nobody reaps
 *   -DNOGUARD      no guardian (holds: the next reap mends it)
 */

#include "life.pml"

#ifndef NL
#define NL 2
#endif
#ifndef KILLS
#define KILLS 2
#endif
#ifndef LOSSES
#define LOSSES 1
#endif
#ifndef LIES
#define LIES 1
#endif

#ifdef TWODIRS
#define DIRS 2
#define DIR(i) ((i) == NL - 1)
#else
#define DIRS 1
#define DIR(i) 0
#endif
#ifdef DISJOINT
#define OVERLAP(i, j) ((i) != (j) && (i) != NL - 1 && (j) != NL - 1)
#else
#define OVERLAP(i, j) ((i) != (j))
#endif

mtype = { absent, created, running, gone }; /* a container */
mtype = { nothing, create, start }; /* the engine was asked to */
mtype = { unmade, unheld, held }; /* a claim's file */

mtype box[NL] = absent;
mtype asked[NL] = nothing;
bool removing[NL]; /* the engine was asked to remove it */
mtype claim[NL] = unmade;
bool guarded[NL]; /* a guardian lives */
byte lock[DIRS]; /* launcher + 1 */
bool dead[NL];
bool ended[NL];
byte kills = KILLS, losses = LOSSES, lies = LIES;

#define THERE(i) (box[i] == created || box[i] == running)
#ifdef ADMITRUNNING
#define LISTED(i) (box[i] == running)
#else
#define LISTED(i) THERE(i)
#endif
#ifdef ADMITOWN
#define SEEN(i, j) (LISTED(j) && DIR(i) == DIR(j))
#else
#define SEEN(i, j) LISTED(j)
#endif
/* The claim's descriptor is shared by executor and guardian. */
#define HELD(i) (claim[i] == held && ((!dead[i] && !ended[i]) || guarded[i]))
#ifdef NOQUIET
#define QUIET(i) true
#else
#define QUIET(i) (asked[i] != create)
#endif

#define ALIVE(i) (!dead[i])

/* A request whose client is no more: on its way, or lost. */
inline lose(i)
{
	if
	:: skip
	:: asked[i] = nothing
	fi
}

proctype Engine(byte k)
{
end:
	do
	:: atomic { asked[k] == create -> asked[k] = nothing;
		if
		:: box[k] == absent -> box[k] = created
		:: skip /* refused */
		fi }
	:: atomic { asked[k] == start -> asked[k] = nothing;
		if
		:: box[k] == created -> box[k] = running
		:: else
		fi }
	:: atomic { removing[k] -> removing[k] = false;
		if
		:: THERE(k) -> box[k] = gone
		:: !THERE(k)
		:: THERE(k) && lies > 0 -> lies--
		fi }
	od
}

/* Every container that the listing shows and that ours may not be beside. */
inline look_around(i, j, event)
{
	d_step {
		event = E_OK;
		j = 0;
		do
		:: j == NL -> break
		:: j < NL && OVERLAP(i, j) && SEEN(i, j) -> event = E_FAIL; break
		:: else -> j++
		od;
		j = 0
	}
}

proctype Launcher(byte i)
{
	byte state = S_GATING, event = E_OK, action, j;
	bool sent, admitted, started;

next:
	atomic {
		life_next(state, event, action);
		event = E_OK;
		if
		:: action == A_REAP -> goto release_nothing /* Reaper, as everybody's */
		:: action == A_GUARD -> goto guard
		:: action == A_LOCK -> goto take_lock
		:: action == A_CLAIM -> goto take_claim
		:: action == A_CREATE -> goto make
		:: action == A_CHECK -> goto check
		:: action == A_UNLOCK -> goto unlock
		:: action == A_START -> goto begin
		:: action == A_RESULT -> goto result
		:: action == A_REMOVE -> goto remove
		:: action == A_SETTLE -> goto settle
		:: action == A_DROP_CLAIM -> goto drop
		:: action == A_RELEASE -> goto release
		:: action == A_REPORT -> goto release_nothing
		:: action == A_END -> goto finish
		fi
	}

take_lock:
	if
	:: dead[i] -> goto out
	:: atomic { ALIVE(i) && lock[DIR(i)] == 0 -> lock[DIR(i)] = i + 1; event = E_OK; goto next }
	:: atomic { ALIVE(i) && lock[DIR(i)] != 0 -> event = E_FAIL; goto next } /* lockSeconds */
	fi;

take_claim:
	if
	:: dead[i] -> goto out
	:: atomic { ALIVE(i) -> claim[i] = unheld }
	fi;
	if
	:: dead[i] -> goto out
	:: atomic { ALIVE(i) ->
		if
		:: claim[i] == unheld -> claim[i] = held; event = E_OK
#ifdef NORECHECK
		:: else -> event = E_OK
#else
		:: else -> event = E_FAIL /* another inode, or none */
#endif
		fi;
		goto next }
	fi;

guard:
	if
	:: dead[i] -> goto out
	:: atomic { ALIVE(i) -> event = E_OK;
#ifndef NOGUARD
		guarded[i] = true;
#endif
		goto next }
	:: atomic { ALIVE(i) -> event = E_FAIL; goto next }
	fi;

make:
#ifdef ADMITFIRST
	if
	:: dead[i] -> goto out
	:: atomic { ALIVE(i) -> look_around(i, j, event);
		if
		:: event == E_FAIL -> goto next
		:: else
		fi }
	fi;
#endif
	if
	:: dead[i] -> goto out
	:: atomic { ALIVE(i) ->
		assert(lock[DIR(i)] == i + 1);
#ifndef NORECHECK
		assert(HELD(i));
#endif
		sent = true;
		asked[i] = create }
	fi;
	if
	:: dead[i] -> goto out
	:: atomic { ALIVE(i) && asked[i] == nothing ->
		if
		:: box[i] == created -> event = E_OK
		:: box[i] == absent -> event = E_FAIL
		:: losses > 0 -> losses--; event = E_UNSURE /* done, the answer lost */
		fi;
		goto next }
	:: atomic { ALIVE(i) && asked[i] == create && losses > 0 -> losses--; lose(i);
		event = E_UNSURE; goto next }
	fi;

check:
	if
	:: dead[i] -> goto out
	:: atomic { ALIVE(i) -> assert(box[i] == created);
#ifdef ADMITFIRST
		event = E_OK;
#else
		look_around(i, j, event);
#endif
		admitted = event == E_OK; goto next }
	:: atomic { ALIVE(i) -> event = E_FAIL; goto next } /* a filter died, or refused */
	fi;

unlock:
	if
	:: dead[i] -> goto out
	:: atomic { ALIVE(i) ->
		if
		:: lock[DIR(i)] == i + 1 -> lock[DIR(i)] = 0
		:: else
		fi;
		event = E_OK; goto next }
	fi;

begin:
	if
	:: dead[i] -> goto out
	:: atomic { ALIVE(i) -> assert(admitted && !started && HELD(i) && lock[DIR(i)] != i + 1);
		started = true; asked[i] = start }
	fi;
	if
	:: dead[i] -> goto out
	:: atomic { ALIVE(i) && asked[i] == nothing -> event = E_OK; goto next }
	:: atomic { ALIVE(i) && asked[i] == nothing -> event = E_FAIL; goto next } /* deadline */
	:: atomic { ALIVE(i) && asked[i] == start && losses > 0 -> losses--; lose(i);
		event = E_FAIL; goto next }
	fi;

result:
	if
	:: dead[i] -> goto out
	:: atomic { ALIVE(i) -> event = E_OK; goto next }
	:: atomic { ALIVE(i) -> event = E_FAIL; goto next }
	fi;

settle: /* the quiet period passes, then as any removal */
	if
	:: dead[i] -> goto out
	:: ALIVE(i) && QUIET(i)
	fi;

remove:
	if
	:: dead[i] -> goto out
	:: atomic { ALIVE(i) && (!sent || (action == A_SETTLE && !THERE(i))) -> event = E_OK; goto next }
	:: atomic { ALIVE(i) && sent && THERE(i) -> removing[i] = true }
	:: atomic { ALIVE(i) && sent && !THERE(i) && action == A_REMOVE -> event = E_OK; goto next }
	fi;
	if
	:: dead[i] -> goto out
	:: atomic { ALIVE(i) && !removing[i] }
#ifdef TRUSTRM
		-> event = E_OK; goto next
#endif
	:: atomic { ALIVE(i) && removing[i] && losses > 0 -> losses--;
		if
		:: skip
		:: removing[i] = false
		fi }
	fi;
	if
	:: dead[i] -> goto out
	:: atomic { ALIVE(i) && !THERE(i) -> event = E_OK; goto next }
	:: ALIVE(i) && THERE(i) -> goto remove
	:: atomic { ALIVE(i) && THERE(i) -> event = E_FAIL; goto next } /* removeSeconds */
	fi;

drop:
	if
	:: dead[i] -> goto out
	:: atomic { ALIVE(i) -> claim[i] = unmade; event = E_OK; goto next }
	fi;

release:
	if
	:: dead[i] -> goto out
	:: atomic { ALIVE(i) -> assert(started && !THERE(i)); event = E_OK; goto next }
	fi;

release_nothing:
	if
	:: dead[i] -> goto out
	:: atomic { ALIVE(i) -> event = E_OK; goto next }
	fi;

finish: /* the farewell ends the guardian; the claim's descriptors close */
	if
	:: dead[i] -> goto out
	:: atomic { ALIVE(i) -> ended[i] = true; guarded[i] = false;
		if
		:: claim[i] == held -> claim[i] = unheld
		:: else
		fi }
	fi;
out:
	skip
}

/* SIGKILL.  The kernel releases the flock and ends the docker client. */
proctype Killer(byte i)
{
end:
	atomic { kills > 0 && ALIVE(i) && !ended[i] -> kills--; dead[i] = true;
#ifndef DIRLOCK
		if
		:: lock[DIR(i)] == i + 1 -> lock[DIR(i)] = 0
		:: else
		fi;
#endif
		if
		:: asked[i] != nothing -> lose(i)
		:: else
		fi;
		if
		:: removing[i] -> removing[i] = false
		:: skip
		fi;
		if
		:: claim[i] == held && !guarded[i] -> claim[i] = unheld
		:: else
		fi }
}

/* Step 11 alone, when the executor is dead. */
proctype Guardian(byte i)
{
end:
	if
	:: atomic { guarded[i] && dead[i] }
	:: ended[i] -> goto out
	fi;
	if
	:: atomic { guarded[i] && kills > 0 -> kills--; goto killed }
	:: guarded[i] && QUIET(i)
	fi;
	do
	:: atomic { kills > 0 -> kills--; goto killed }
	:: atomic { !THERE(i) -> claim[i] = unmade; guarded[i] = false; goto out }
	:: atomic { THERE(i) -> removing[i] = true };
#ifdef TRUSTRM
		atomic { !removing[i] -> claim[i] = unmade; guarded[i] = false; goto out }
#else
		!removing[i]
#endif
	:: atomic { THERE(i) -> guarded[i] = false; claim[i] = unheld; goto out } /* too long */
	od;
killed:
	atomic { guarded[i] = false; claim[i] = unheld };
out:
	skip
}

/* `cofferdam reap` of directory d, again and again.  It takes no lock: what it
 * goes by, a claim that nobody holds, is never held again. */
#ifdef REAPBLIND
#define ORPHAN(j) THERE(j)
#else
#define ORPHAN(j) (THERE(j) && !HELD(j) && QUIET(j))
#endif
#define STALE(j) (!THERE(j) && claim[j] == unheld && QUIET(j))

proctype Reaper(byte j)
{
end:
	do
#ifndef NOREAP
	:: atomic { ORPHAN(j) -> assert(dead[j] || ended[j]); removing[j] = true };
		!removing[j]
	:: atomic { STALE(j) -> claim[j] = unmade }
#else
	:: false
#endif
	od
}

init {
	byte k;

	atomic {
		for (k : 0 .. NL - 1) {
			run Engine(k);
			run Launcher(k);
			run Killer(k);
			run Guardian(k);
			run Reaper(k)
		}
	}
}

#define CLASH(a, b) (OVERLAP(a, b) && box[a] == running && box[b] == running)
#define NAMED(i) (!THERE(i) || claim[i] != unmade)
#if NL > 2
#define ANY_CLASH (CLASH(0, 1) || CLASH(0, 2) || CLASH(1, 2))
#define ALL_NAMED (NAMED(0) && NAMED(1) && NAMED(2))
#else
#define ANY_CLASH CLASH(0, 1)
#define ALL_NAMED (NAMED(0) && NAMED(1))
#endif
#define STUCK(d) (lock[d] != 0 && dead[lock[d] - 1])

#if DIRS > 1
#define ANY_STUCK (STUCK(0) || STUCK(1))
#else
#define ANY_STUCK STUCK(0)
#endif

#define RULES (!ANY_CLASH && !ANY_STUCK && ALL_NAMED)

#ifdef WATCH
active proctype Watch()
{
end:
	atomic { !(RULES) -> assert(false) }
}
#endif

/* The next three at once. */
ltl rules { [] RULES }
/* I5: no two workers whose mounts overlap run at once. */
ltl apart { [] !ANY_CLASH }
/* Nobody dead holds a lock. */
ltl freed { [] !ANY_STUCK }
/* I6: no container without a claim that names it ... */
ltl named { [] ALL_NAMED }
/* ... and each is removed at last. */
ltl removed { [] (THERE(0) -> <> (box[0] == gone)) }
/* Every launch ends. */
ltl finish { <> (dead[0] || ended[0]) }

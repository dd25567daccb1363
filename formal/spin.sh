#!/bin/sh
# SPDX-License-Identifier: ISC
#
# usage: spin.sh [quick]   the model of launches: what must hold holds, and each broken
#        design is caught by the property that is there to catch it.
#
# BUILD: where to work (default: build/formal).  Times are processor seconds.  The last
# line counts.
set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
work=${BUILD:-$root/build/formal}/spin
passed=0
failed=0

# check WANT PROPERTY FLAG...: WANT is holds or fails; PROPERTY an ltl name, safe for
# assertions and deadlocks, or watch for these and the rules in one run.
check() {
	want=$1 property=$2
	shift 2
	rm -rf "$work/run" && mkdir -p "$work/run" && cd "$work/run" || exit 1
	cp "$here/launch.pml" ../life.pml .
	limit='-DMEMLIM=4000 -DVECTORSZ=4096 -DCOLLAPSE'
	case $property in
	safe) compile=-DNOCLAIM\ -DSAFETY run= ;;
	watch)
		compile=-DNOCLAIM\ -DSAFETY run=''
		set -- -DWATCH "$@"
		;;
	removed | finish) compile=-DNFAIR=6 run="-a -f -N $property" ;;
	*) compile=-DSAFETY run="-N $property" ;;
	esac
	# shellcheck disable=SC2086
	if spin "$@" -a launch.pml >spin.log 2>&1 &&
		gcc -O2 -w $limit $compile -o pan pan.c 2>>spin.log; then
		# shellcheck disable=SC2086,SC3045
		(ulimit -t 300 && ./pan -m1000000 $run >pan.log 2>&1; times >spent.log)
	else
		cat spin.log >&2
	fi
	got='NO RESULT'
	errors=$(sed -n 's/.*errors: \([0-9]*\).*/\1/p' pan.log | tail -n 1)
	if [ "${errors:-}" = 0 ] && ! grep -Eq 'not completed|too small' pan.log; then
		got=holds
	elif [ "${errors:-0}" != 0 ]; then
		got=fails
	fi
	states=$(sed -n 's/^ *\([0-9.e+]*\) states, stored.*/\1/p' pan.log)
	result=ok
	[ "$got" = "$want" ] || result=FAILED
	spent=$(awk 'NR == 2 { split($1, t, /[ms]/); printf "%.1f", t[1] * 60 + t[2] }' spent.log)
	printf '%-8s %-44s %-6s %10s states %8s s  %s\n' "$property" "$*" "$got" "${states:-?}" "${spent:-?}" "$result"
	if [ "$result" = ok ]; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
}

mkdir -p "$work"
awk -f "$here/life2pml.awk" "$root/executor/life.h" "$root/executor/life.c" >"$work/life.pml" || exit 1

check holds removed -DNL=2 -DKILLS=1 -DNOGUARD
check fails freed -DNL=2 -DDIRLOCK
check fails watch -DNL=2 -DDIRLOCK
check fails apart -DNL=2 -DTWODIRS -DADMITFIRST
check fails apart -DNL=2 -DTWODIRS -DADMITOWN
check fails apart -DNL=2 -DADMITRUNNING
check fails safe -DNL=2 -DREAPBLIND
check fails named -DNL=2 -DTRUSTRM
check fails named -DNL=2 -DNOQUIET
check fails named -DNL=2 -DNORECHECK
check fails removed -DNL=2 -DNOREAP
for property in safe rules; do
	check holds "$property" -DNL=2
	check holds "$property" -DNL=2 -DTWODIRS
done
for property in removed finish; do
	check holds "$property" -DNL=2 -DTWODIRS -DKILLS=1
done
if [ "${1:-}" != quick ]; then
	check holds watch -DNL=3 -DTWODIRS -DKILLS=1 -DLOSSES=0 -DLIES=0
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]

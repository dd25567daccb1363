#!/bin/sh
# SPDX-License-Identifier: ISC
#
# usage: prove.sh quick | full | PROOF...   CBMC; name, properties, seconds and result of each
#        prove.sh cover [PROOF...]          every line of each harness is reached
#        prove.sh mutants [PROOF...]        each broken copy of a source makes its proofs fail
#        prove.sh exhaustive [PROOF...]     the same harnesses, compiled, in a small scope
#
# CBMC_BIN: where cbmc, goto-cc, goto-instrument, cadical and kissat are (default: PATH).
# BUILD: where to work (default: build/formal).  JOBS: how many at a time (default: 2).
# LIMIT: seconds of processor time that a proof may take (default: 120).
#
# proofs.conf and mutants.conf say what there is.  A proof may take 4 GB.  The last line
# counts; the exit status is 0 only if nothing failed.
set -u
LC_ALL=C
export LC_ALL

here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
work=${BUILD:-$root/build/formal}
jobs=${JOBS:-2}
seconds=${LIMIT:-120}
kilobytes=4194304
PATH=${CBMC_BIN:+$CBMC_BIN:}$PATH
export PATH

# field PROOF KEY: the values of a proof's lines with that key.
field() {
	awk -v proof="$1" -v key="$2" '
		$1 == "proof" { on = $2 == proof }
		on && $1 == key { sub(/^[^ \t]+[ \t]*/, ""); print }' "$here/proofs.conf"
}

proofs() {
	awk -v set="$1" '$1 == "proof" { name = $2 }
		$1 == "set" && (set == "all" || $2 == set || (set == "full" && $2 != "native")) { print name }' \
		"$here/proofs.conf"
}

# substitute FILE OLD NEW: OLD stands in FILE exactly once; now it is NEW.
substitute() {
	OLD=$2 NEW=$3 awk 'BEGIN { RS = "\001" } {
		old = ENVIRON["OLD"]
		at = index($0, old)
		if (at == 0 || index(substr($0, at + 1), old) > 0)
			exit 3
		printf "%s%s%s", substr($0, 1, at - 1), ENVIRON["NEW"], substr($0, at + length(old))
	}' "$1" >"$1.new" && mv "$1.new" "$1"
}

copy_tree() {
	rm -rf "$1"
	mkdir -p "$1/formal"
	cp -R "$root/ipc" "$root/policy" "$root/executor" "$1/"
	cp "$here"/*.* "$1/formal/"
}

# tree_of PROOF TREE: limits that no -D reaches are shrunk in a copy.
shrunk() {
	[ -n "$(field "$1" shrink)" ] || return 0
	field "$1" shrink | while IFS='|' read -r file old new; do
		substitute "$2/$file" "$old" "$new" || { echo "shrink: $file: $old" >&2 && exit 1; }
	done
}

# compile PROOF TREE DIR: DIR/proof.gb
compile() {
	name=$1 tree=$2 dir=$3
	sources=
	for source in $(field "$name" sources); do
		sources="$sources $tree/$source"
	done
	defines=$(field "$name" define | awk -v most="${SHORT:-0}" '{
		for (i = 1; i <= NF; i++)
			print "-D" (most && $i ~ /^FORMAL_N=[0-9]?[0-9]$/ &&
				substr($i, 10) + 0 > most ? "FORMAL_N=" most : $i)
	}')
	# shellcheck disable=SC2086
	goto-cc -std=c11 -D_GNU_SOURCE -DCBMC ${COVER:+-DCOVER} $defines -o "$dir/proof.gb" --function "$name" \
		"$tree/formal/$(field "$name" harness)" $sources || return 1
	instrument=$(field "$name" replace)
	if [ -n "$instrument" ]; then
		calls=
		for pair in $instrument; do
			calls="$calls --replace-calls $pair"
		done
		# shellcheck disable=SC2086
		goto-instrument $calls "$dir/proof.gb" "$dir/next.gb" && mv "$dir/next.gb" "$dir/proof.gb" || return 1
	fi
	unwound=$(field "$name" unwound)
	if [ -n "$unwound" ]; then
		goto-instrument --unwindset "$unwound" --unwinding-assertions "$dir/proof.gb" "$dir/next.gb" &&
			mv "$dir/next.gb" "$dir/proof.gb" || return 1
	fi
	loops=$(field "$name" loops)
	[ -n "$loops" ] || return 0
	case $loops in
	*.awk*) awk -v "${loops#* }" -f "$tree/formal/${loops%% *}" >"$dir/loops.json" ;;
	*) cp "$tree/formal/$loops" "$dir/loops.json" ;;
	esac
	goto-instrument --loop-contracts-file "$dir/loops.json" --apply-loop-contracts \
		"$dir/proof.gb" "$dir/next.gb" && mv "$dir/next.gb" "$dir/proof.gb"
}

# verify PROOF TREE DIR: DIR/log and DIR/seconds; 0 proved, 1 refuted, 2 neither.
verify() {
	name=$1 tree=$2 dir=$3
	solver=$(field "$name" solver)
	flags=$(field "$name" cbmc)
	if [ -n "$solver" ]; then # CBMC takes one word
		printf '#!/bin/sh\nexec %s "$@"\n' "$solver" >"$dir/solver" && chmod +x "$dir/solver"
		flags="$flags --external-sat-solver \"$dir/solver\""
	fi
	[ -z "${STOP:-}" ] || flags="$flags --stop-on-fail"
	(
		# shellcheck disable=SC3045
		ulimit -v $kilobytes
		# shellcheck disable=SC3045
		ulimit -t "$seconds"
		compile "$name" "$tree" "$dir" && eval "cbmc $flags \"$dir/proof.gb\""
	) >"$dir/log" 2>&1
	grep -q '^VERIFICATION SUCCESSFUL' "$dir/log" && return 0
	grep -q '^VERIFICATION FAILED' "$dir/log" && return 1
	return 2
}

# In a process of its own: times then tells what this proof took.
one_proof() {
	name=$1 dir=$work/$1
	rm -rf "$dir" && mkdir -p "$dir"
	tree=$root
	if [ -n "$(field "$name" shrink)" ]; then
		tree=$dir/tree
		copy_tree "$tree" && shrunk "$name" "$tree" || exit 1
	fi
	verify "$name" "$tree" "$dir"
	case $? in
	0) result=ok ;;
	1) result=FAILED ;;
	*) result='NO RESULT' ;;
	esac
	times >"$dir/times"
	spent=$(awk 'NR == 2 { split($1, t, /[ms]/); split($2, s, /[ms]/)
		printf "%.1f", (t[1] + s[1]) * 60 + t[2] + s[2] }' "$dir/times")
	count=$(sed -n 's/^\*\* [0-9]* of \([0-9]*\) failed.*/\1/p' "$dir/log")
	printf '%-28s %5s properties %6s s  %s\n' "$name" "${count:-?}" "$spent" "$result"
	rm -rf "$dir/tree" "$dir/proof.gb" "$dir/solver"
	[ "$result" = ok ]
}

# Every place of the harness function is reached.
one_cover() {
	COVER=1
	name=$1 dir=$work/$1.cover
	rm -rf "$dir" && mkdir -p "$dir"
	tree=$root
	if [ -n "$(field "$name" shrink)" ]; then
		tree=$dir/tree
		copy_tree "$tree" && shrunk "$name" "$tree" || exit 1
	fi
	(
		# shellcheck disable=SC3045
		ulimit -v $kilobytes
		# shellcheck disable=SC3045
		ulimit -t "$seconds"
		compile "$name" "$tree" "$dir" &&
			eval "cbmc $(field "$name" cbmc) --no-standard-checks --no-unwinding-assertions --cover location \"$dir/proof.gb\""
	) >"$dir/log" 2>&1
	# A loop contract puts a function's loop into the harness: its places are not the harness's.
	grep -E "^\[$name\.coverage\.[0-9]+\] .*\(lines [^ ]*:$name:" "$dir/log" >"$dir/places"
	reached=$(grep -c ': SATISFIED$' "$dir/places")
	missed=$(grep -c ': FAILED$' "$dir/places")
	printf '%-28s %5s places reached, %s missed\n' "$name" "$reached" "$missed"
	rm -rf "$dir/tree" "$dir/proof.gb"
	[ "$reached" -gt 0 ] && [ "$missed" -eq 0 ]
}

# mutants.conf: blocks of "mutant FILE", "- OLD", "+ NEW", "fails PROOF...".
mutant_field() {
	awk -v mutant="$1" -v key="$2" '
		$1 == "mutant" { n++ }
		n == mutant && $1 == key { sub(/^[^ ]+ ?/, ""); print; exit }' "$here/mutants.conf"
}

one_mutant() {
	number=${1%%:*} name=${1#*:}
	dir=$work/mutant.$number.$name
	rm -rf "$dir" && mkdir -p "$dir"
	file=$(mutant_field "$number" mutant)
	copy_tree "$dir/tree" && shrunk "$name" "$dir/tree" || exit 1
	SHORT=12 # what breaks, breaks in short texts
	STOP=1 # and once is enough
	if ! substitute "$dir/tree/$file" "$(mutant_field "$number" -)" "$(mutant_field "$number" +)"; then
		echo "mutant $number: its text does not stand in $file exactly once"
		exit 1
	fi
	if [ "$(field "$name" set)" = native ]; then
		native "$name" "$dir/tree" "$dir" 2>"$dir/refuted"
	else
		verify "$name" "$dir/tree" "$dir"
	fi
	case $? in
	0) result=LIVES ;;
	1) result=killed ;;
	*) result='NO RESULT' ;;
	esac
	printf '%-28s %-9s %s: %s\n' "$name" "$result" "$file" "$(mutant_field "$number" +)"
	rm -rf "$dir/tree" "$dir/proof.gb"
	[ "$result" = killed ]
}

mutants() {
	awk '$1 == "mutant" { n++ } $1 == "fails" { for (i = 2; i <= NF; i++) print n ":" $i }' "$here/mutants.conf"
}

# native PROOF TREE DIR: compiled and run; DIR/log.  0 holds, 1 refuted, 2 neither.
native() {
	name=$1 tree=$2 dir=$3
	set -- "-DENTRY=$name"
	for define in $(field "$name" define | tr ' ' '\n' | grep -v '^FORMAL_N=') $(field "$name" native | grep -v '^none$'); do
		set -- "$@" "-D$define"
	done
	for source in $(field "$name" sources) "formal/$(field "$name" harness)"; do
		set -- "$@" "$tree/$source"
	done
	"${CC:-gcc}" -std=c11 -D_GNU_SOURCE -O2 -Wall -Wextra -Wno-unused-function \
		${SANITIZE:+-fsanitize=$SANITIZE} -o "$dir/$name" "$@" || return 2
	(cd "$dir" && "./$name") >"$dir/log" || return 1
}

one_exhaustive() {
	name=$1 dir=$work/$1.native
	rm -rf "$dir" && mkdir -p "$dir"
	tree=$root
	if [ -n "$(field "$name" shrink)" ]; then
		tree=$dir/tree
		copy_tree "$tree" && shrunk "$name" "$tree" || exit 1
	fi
	native "$name" "$tree" "$dir"
	case $? in
	0)
		sed 's|^\./||' "$dir/log"
		rm -rf "$dir"
		exit 0
		;;
	1) echo "$name: FAILED" ;;
	*) echo "$name: NO RESULT" ;;
	esac
	exit 1
}

run_all() {
	kind=$1
	mkdir -p "$work"
	rm -f "$work/failed.$$"
	cat >"$work/list.$$"
	total=$(grep -c . "$work/list.$$")
	# shellcheck disable=SC2016
	xargs -n 1 -P "$jobs" sh -c '"$1" --one "$2" "$4" || echo "$4" >>"$3"' sh \
		"$here/prove.sh" "$kind" "$work/failed.$$" <"$work/list.$$"
	failed=0
	[ ! -f "$work/failed.$$" ] || failed=$(grep -c . "$work/failed.$$")
	echo "$((total - failed)) passed, $failed failed"
	[ "$failed" -eq 0 ] && [ "$total" -gt 0 ]
}

case ${1:-} in
--one) "one_$2" "$3" ;;
quick | full) proofs "$1" | run_all proof ;;
cover | exhaustive)
	kind=$1
	shift
	if [ $# -gt 0 ]; then printf '%s\n' "$@"; else proofs all; fi | while read -r name; do
		[ "$kind" = cover ] || [ -n "$(field "$name" native)" ] || continue
		[ "$kind" = exhaustive ] || [ "$(field "$name" set)" != native ] || continue
		echo "$name"
	done | run_all "$kind"
	;;
mutants)
	shift
	mutants | if [ $# -gt 0 ]; then grep -E ":($(echo "$*" | tr ' ' '|'))\$"; else cat; fi | run_all mutant
	;;
'') sed -n 's/^# usage: //p' "$0" >&2 && exit 64 ;;
*) printf '%s\n' "$@" | run_all proof ;;
esac

#!/bin/sh
# SPDX-License-Identifier: ISC
#
# The fuzz targets of tests/fuzz: replayed, run, and their corpora.
#
#   tests/fuzz.sh replay               every input of the corpora through the built targets;
#                                      ends with "N passed, N failed"
#   tests/fuzz.sh fuzz [TARGET...]     FUZZ_SECONDS (60) each under libFuzzer
#   tests/fuzz.sh fuzz-afl [TARGET...] the same under AFL++
#   tests/fuzz.sh merge [TARGET...]    the corpora anew: as few of what is there and of what
#                                      was found as reach the same
#
# A corpus is one archive, tests/fuzz/corpus/TARGET.tar.gz, a file an input; those
# that are called keep-* are there for what they are, and stay.  New finds go to
# $B/fuzz/found/TARGET, what ends a target to $B/fuzz/crash/TARGET; only merge
# writes to the tree.  B: the build directory.

cd "$(dirname "$0")/.." || exit 1
B=${B:-build}
all='json config turn reply model_input image admit verify frames gate'
seconds=${FUZZ_SECONDS:-60}
corpus=tests/fuzz/corpus
# An input of 16 KiB is longer than every good document of the corpora.
longest=16384
# No leak check: it needs ptrace, and nothing here allocates but the targets.
export ASAN_OPTIONS=detect_leaks=0:abort_on_error=1:symbolize=0
export UBSAN_OPTIONS=print_stacktrace=1:symbolize=0

die()
{
	echo "fuzz.sh: $*" >&2
	exit 1
}

# The corpus of a target as files: their directory.
unpack()
{
	rm -rf "$B/fuzz/corpus/$1"
	mkdir -p "$B/fuzz/corpus/$1" "$B/fuzz/found/$1" "$B/fuzz/crash/$1" || return 1
	tar -xzf "$corpus/$1.tar.gz" -C "$B/fuzz/corpus/$1" || return 1
	echo "$B/fuzz/corpus/$1"
}

# One target over its whole corpus; then, when that ended badly, one by one.
replay_target()
{
	target=$1
	inputs=$(unpack "$target") || { echo "not ok - $target: no corpus"; return 1; }
	count=$(find "$inputs" -type f | wc -l)
	if [ "$count" -eq 0 ]; then
		echo "not ok - $target: its corpus is empty"
		return 1
	fi
	if "$B/tests/fuzz/fuzz_$target" "$inputs"/* >"$B/fuzz/replay.log" 2>&1; then
		echo "ok - $target: $count inputs"
		return 0
	fi
	echo "not ok - $target: ended at one of $count inputs"
	sed 's/^/# /' "$B/fuzz/replay.log" | tail -20
	return 1
}

replay()
{
	passed=0 failed=0
	for target in $all; do
		if replay_target "$target"; then
			passed=$((passed + 1))
		else
			failed=$((failed + 1))
		fi
	done
	echo "$passed passed, $failed failed"
	[ "$failed" -eq 0 ]
}

# build DIR TARGET... -- MAKE-ARGUMENT...
build()
{
	dir=$1 binaries=
	shift
	while [ "$1" != -- ]; do
		binaries="$binaries $dir/tests/fuzz/fuzz_$1"
		shift
	done
	shift
	# shellcheck disable=SC2086  # file names, one a word
	make -j2 "B=$dir" FUZZER=yes "$@" $binaries
}

build_libfuzzer()
{
	build "$B/fuzz/libfuzzer" "$@" -- CC=clang SANITIZE=address,undefined,fuzzer-no-link
}

# What libFuzzer said last: runs, edges, features.
summary()
{
	awk -v target="$1" '
		/^#[0-9]/ { for (i = 1; i < NF; i++) { if ($i == "cov:") edges = $(i + 1)
		                                       if ($i == "ft:") features = $(i + 1) } }
		/^stat::number_of_executed_units/ { runs = $2 }
		END { printf "%s: %d runs, %d edges, %d features\n", target, runs, edges, features }
	' "$2"
}

fuzz_target()
{
	target=$1
	inputs=$(unpack "$target") || return 1
	log=$B/fuzz/$target.log
	"$B/fuzz/libfuzzer/tests/fuzz/fuzz_$target" -max_total_time="$seconds" \
		-max_len=$longest -timeout=20 -print_final_stats=1 "-dict=tests/fuzz/$target.dict" \
		-artifact_prefix="$B/fuzz/crash/$target/" \
		"$B/fuzz/found/$target" "$inputs" >"$log" 2>&1
	status=$?
	summary "$target" "$log"
	[ "$status" -eq 0 ] && return 0
	grep -a -e 'does not hold' -e 'refuted' -e 'ERROR' -e 'runtime error' \
		-e 'Test unit written' "$log"
	return 1
}

afl_target()
{
	target=$1
	inputs=$(unpack "$target") || return 1
	out=$B/fuzz/afl-out/$target
	log=$B/fuzz/$target.afl.log
	rm -rf "$out"
	mkdir -p "$out"
	afl-fuzz -i "$inputs" -o "$out" -V "$seconds" -G $longest -t 5000 -m none \
		-x "tests/fuzz/$target.dict" -- "$B/fuzz/afl/tests/fuzz/fuzz_$target" \
		>"$log" 2>&1 || { tail -20 "$log"; return 1; }
	awk -F ' *: *' -v target="$target" '{ value[$1] = $2 }
		END { printf "%s: %d runs, %d edges of %d, %d crashes\n", target, value["execs_done"],
		      value["edges_found"], value["total_edges"], value["saved_crashes"] }' \
		"$out/default/fuzzer_stats"
	find "$out/default/crashes" -name 'id:*' | grep . && return 1
	return 0
}

fuzz_afl()
{
	export AFL_SKIP_CPUFREQ=1 AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES=1
	export AFL_NO_UI=1 AFL_NO_AFFINITY=1
	build "$B/fuzz/afl" "$@" -- CC=afl-clang-fast SANITIZE=address,undefined AFL_QUIET=1 || return 1
	each afl_target "$@"
}

# Every target, whatever becomes of the ones before.
each()
{
	run=$1 bad=0
	shift
	for target; do
		"$run" "$target" || bad=1
	done
	return "$bad"
}

# Reproducible: sorted, without times and owners.
pack()
{
	(cd "$1" && find . -type f -printf '%P\n' | LC_ALL=C sort) |
		tar -C "$1" -T - -cf - --mtime=@0 --owner=0 --group=0 --numeric-owner --mode=644 |
		gzip -9 -n >"$corpus/$2.tar.gz"
}

merge_target()
{
	target=$1
	if [ -f "$corpus/$target.tar.gz" ]; then
		inputs=$(unpack "$target") || return 1
	else
		inputs=$B/fuzz/corpus/$target
		mkdir -p "$inputs" "$B/fuzz/found/$target"
	fi
	rm -rf "$B/fuzz/merged"
	mkdir -p "$B/fuzz/merged" "$corpus"
	"$B/fuzz/libfuzzer/tests/fuzz/fuzz_$target" -set_cover_merge=1 -max_len=$longest "$B/fuzz/merged" \
		"$inputs" "$B/fuzz/found/$target" >"$B/fuzz/$target.merge.log" 2>&1 || return 1
	find "$inputs" -name 'keep-*' -exec cp {} "$B/fuzz/merged" \;
	pack "$B/fuzz/merged" "$target"
	echo "$target: $(find "$B/fuzz/merged" -type f | wc -l) inputs," \
		"$(wc -c <"$corpus/$target.tar.gz") bytes"
}

command=${1:-}
[ $# -eq 0 ] || shift
# shellcheck disable=SC2086  # names, one a word
[ $# -gt 0 ] || set -- $all
case $command in
replay) replay ;;
fuzz) build_libfuzzer "$@" && each fuzz_target "$@" ;;
fuzz-afl) fuzz_afl "$@" ;;
merge) build_libfuzzer "$@" && each merge_target "$@" ;;
*) die 'replay, fuzz, fuzz-afl or merge' ;;
esac

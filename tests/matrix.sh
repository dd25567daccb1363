#!/bin/sh
# SPDX-License-Identifier: ISC
#
# The check by each compiler, plain and with AddressSanitizer and UBSan: unit
# tests, conformance cases, corpora, the scripted docker and, unless ENGINE=no,
# the real engine by each CLI that is installed (tests/e2e/test_engine.py runs
# both).  Each configuration is a copy of the tree, for the programs are
# written to its top.
#
#   tests/matrix.sh [NAME...]    gcc clang gcc-san clang-san; default: all four
#
# Ends with a line for each, then "N passed, N failed".  KEEP=DIR: the copies
# and logs go there and stay.

cd "$(dirname "$0")/.." || exit 1
# Readable to all: the suites run the programs as unprivileged users.
scratch=${KEEP:-$(mktemp -d /var/tmp/cofferdam-matrix.XXXXXX)} || exit 1
mkdir -p "$scratch" && chmod 755 "$scratch" || exit 1
[ -n "${KEEP:-}" ] || trap 'rm -rf "$scratch"' EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
passed=0 failed=0 told=

arguments()
{
	case $1 in
	gcc) echo CC=gcc ;;
	clang) echo CC=clang ;;
	gcc-san) echo CC=gcc SANITIZE=address,undefined ;;
	clang-san) echo CC=clang SANITIZE=address,undefined ;;
	*) return 1 ;;
	esac
}

# The sources as they are here, committed or not.
copy()
{
	mkdir -p "$1" && git ls-files -co --exclude-standard | tar -cf - -T - | tar -xf - -C "$1"
}

run()
{
	words=$(arguments "$1") || { echo "matrix.sh: no such configuration: $1"; return 2; }
	copy "$scratch/$1" || return 1
	# shellcheck disable=SC2086  # make arguments, one a word
	make -C "$scratch/$1" -s check $words >"$scratch/$1.log" 2>&1
}

[ $# -gt 0 ] || set -- gcc clang gcc-san clang-san
for name; do
	echo "== $name"
	if run "$name"; then
		passed=$((passed + 1)) verdict=ok
	else
		failed=$((failed + 1)) verdict='not ok'
		grep -a -e '^not ok' -e '^\[  FAILED' -e 'ERROR: ' -e 'runtime error' "$scratch/$name.log" |
			head -40
	fi
	told="$told$verdict - $name: $(tail -1 "$scratch/$name.log" 2>/dev/null)
"
done
printf '%s' "$told"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]

#!/bin/sh
# SPDX-License-Identifier: ISC
#
# Both compilers, the analysers and the project's own rules over both programs,
# with the makefile's flags.  Each check is first shown a sample that it must
# object to.  Ends with "N passed, N failed".
#
#   tests/lint.sh [NAME...]      only the named checks (see the end of this file)

cd "$(dirname "$0")/.." || exit 1
unset MAKEFLAGS MAKELEVEL
here=tests/lint
scratch=$(mktemp -d "${TMPDIR:-/tmp}/cofferdam-lint.XXXXXX") || exit 1
trap 'rm -rf "$scratch"' EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
trap 'exit 141' PIPE
passed=0 failed=0 only=" $* "
jobs=$(nproc)

# Every source that make would compile into the two programs.
sources=$(find policy executor ipc -name '*.c' ! -path policy/filter.c | sort)

objects()
{
	echo "$sources" | sed "s|^|$1/|; s|\.c\$|.o|"
}

# compile DIR MAKE-ARGUMENT...: every object into DIR, as the makefile would.
compile()
{
	dir=$1
	shift
	# shellcheck disable=SC2046  # object names, one a word
	make -s -k -j "$jobs" "B=$dir" "$@" $(objects "$dir")
}

# Flags of gcc's that this clang does not have.
clang_harden()
{
	harden=$(make -s --no-print-directory --eval "print-it: ; @echo \$(HARDEN)" print-it)
	for flag in $harden; do
		echo 'int x;' | clang -Werror "$flag" -c -x c -o /dev/null - 2>/dev/null &&
			printf '%s ' "$flag"
	done
}

# --- the checks: each prints what it finds, and fails when it finds anything ---

sample_gcc() { gcc -std=c11 -Werror -Wconversion -c -o /dev/null $here/bad/warning.c; }
check_gcc() { compile "$scratch/gcc" CC=gcc; }

sample_clang() { clang -std=c11 -Werror -Wconversion -c -o /dev/null $here/bad/warning.c; }
check_clang() { compile "$scratch/clang" CC=clang "HARDEN=$(clang_harden)"; }

sample_analyzer() { gcc -O2 -fanalyzer -Werror -c -o /dev/null $here/bad/analyser.c; }
check_analyzer() { compile "$scratch/analyzer" CC=gcc 'CFLAGS=-O2 -g -fanalyzer'; }

# The analyser's own bound on the paths of a function is 225000 nodes, at three
# times the cost: NODES=225000 tests/lint.sh scan.  Objects are not wanted.
scan()
{
	scan-build -o "$scratch/scan-report" --status-bugs --use-cc=clang \
		-analyzer-config "max-nodes=${NODES:-75000}" "$@"
}
sample_scan() { scan sh -c "\$CC -fsyntax-only -c -o /dev/null $here/bad/analyser.c"; }
check_scan()
{
	export scratch jobs
	make -s "B=$scratch/scan" "$scratch/scan/policy/filter.h" || return 1
	# scan-build names its own compiler in CC.
	# shellcheck disable=SC2016  # for the inner shell
	HARDEN=$(clang_harden) OBJECTS=$(objects "$scratch/scan") scan sh -c \
		'make -s -k -j "$jobs" "B=$scratch/scan" "CC=$CC" "HARDEN=$HARDEN" \
			"CFLAGS=-O2 -fsyntax-only" $OBJECTS'
}

tidy() { clang-tidy --quiet --warnings-as-errors='*' --config-file=$here/clang-tidy "$@"; }
sample_tidy() { tidy $here/bad/tidy.c -- -std=c11; }
check_tidy()
{
	mkdir -p "$scratch/tidy/policy"
	make -s "B=$scratch/tidy" "$scratch/tidy/policy/filter.h" || return 1
	python3 -B $here/rules.py compdb "$scratch/tidy" CC=clang "HARDEN=$(clang_harden)" || return 1
	export scratch here
	echo "$sources" | xargs -P "$jobs" -n 4 clang-tidy --quiet --warnings-as-errors='*' \
		--config-file=$here/clang-tidy -p "$scratch/tidy"
}

cppcheck_quietly()
{
	cppcheck --quiet --error-exitcode=1 --enable=warning,style,performance,portability \
		--std=c11 --inline-suppr --suppressions-list=$here/cppcheck "$@"
}
sample_cppcheck() { cppcheck_quietly $here/bad/bounds.c; }
check_cppcheck()
{
	# shellcheck disable=SC2086  # file names, one a word
	cppcheck_quietly -j "$jobs" -D_GNU_SOURCE -DCOFFERDAM_VERSION='""' $sources
}

scripts()
{
	find tests formal -name '*.sh' ! -path '*/bad/*' | sort
	find .ci -name run
}
sample_shell() { shellcheck $here/bad/shell.sh; }
check_shell()
{
	# shellcheck disable=SC2046
	shellcheck -x $(scripts)
}

# mandoc -T lint ends with 0 whatever it finds of style; -W sets the level.
sample_manual() { mandoc -T lint -W warning $here/bad/manual.1; }
check_manual()
{
	pages=$(find policy executor -name '*.[1-9]')
	# shellcheck disable=SC2086
	[ -z "$pages" ] || mandoc -T lint -W warning $pages
}

# These carry their samples with them.
check_rules() { python3 -B $here/rules.py self-test && python3 -B $here/rules.py text; }
check_objects()
{
	# Without optimisation every call is still a call.
	compile "$scratch/graph" CC=gcc \
		'CFLAGS=-O0 -U_FORTIFY_SOURCE -fcallgraph-info -fstack-usage' &&
		python3 -B $here/rules.py objects "$scratch/graph"
}

# --- running them ------------------------------------------------------------

verdict()
{
	if [ "$1" -eq 0 ]; then
		passed=$((passed + 1))
		echo "ok - $2"
	else
		failed=$((failed + 1))
		echo "not ok - $2"
		sed 's/^/#   /' "$scratch/log" | tail -n 200
	fi
}

run()
{
	name=$1 what=$2
	case $only in
	'  ' | *" $name "*) ;;
	*) return ;;
	esac
	if command -v "sample_$name" >/dev/null; then
		: >"$scratch/log"
		"sample_$name" >/dev/null 2>&1 && verdict 1 "$what: finds nothing in its bad sample"
	fi
	"check_$name" >"$scratch/log" 2>&1
	verdict $? "$what"
	grep '^rules: ' "$scratch/log"
}

run rules 'rules on the text of the sources'
run shell 'shellcheck'
run manual 'mandoc'
run gcc 'gcc'
run clang 'clang'
run objects 'rules on the objects: symbols, recursion, stack'
run cppcheck 'cppcheck'
run analyzer 'gcc -fanalyzer'
run scan 'scan-build'
run tidy 'clang-tidy'
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]

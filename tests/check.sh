#!/bin/sh
# SPDX-License-Identifier: ISC
#
# Everything that runs the two programs as a user would: the conformance cases,
# cofferdam against a scripted docker client, cofferdam against a real engine;
# and the corpora of the fuzz targets.
# (Unit tests: make unit.)  Ends with one line, "N passed, N failed"; exit
# status 1 when anything failed.
#
#   ENGINE=no tests/check.sh     without a real engine: says what was not run

# shellcheck source=tests/engine.sh
. "$(dirname "$0")/engine.sh"

engine_as_root "$0" "$@"
cd "$(dirname "$0")/.." || exit 1
passed=0 failed=0
log=$(mktemp "${TMPDIR:-/tmp}/cofferdam-check.XXXXXX") || exit 1

finish()
{
	engine_stop
	rm -f "$log"
}
engine_traps
trap 'finish' EXIT

# Adds the "N passed, N failed" lines of a suite that has run; a suite without
# one, or with another exit status than its figures say, has failed.
count()
{
	name=$1 status=$2
	# shellcheck disable=SC2046  # two figures, or nothing
	set -- $(sed -n 's/^\([0-9][0-9]*\) passed, \([0-9][0-9]*\) failed$/\1 \2/p' "$log" |
		awk '{ p += $1; f += $2 } END { if (NR) print p, f }')
	passed=$((passed + ${1:-0}))
	failed=$((failed + ${2:-0}))
	if [ $# -eq 0 ] || { [ "$status" -ne 0 ] && [ "${2:-0}" -eq 0 ]; }; then
		echo "not ok - $name: it ended with $status, and no figures that explain it"
		failed=$((failed + 1))
	fi
}

suite()
{
	name=$1
	shift
	echo "== $name"
	began=$(date +%s)
	{
		"$@" 2>&1
		echo "status $?" >"$log.status"
	} | tee "$log" | grep -v '^ok '
	read -r _ status <"$log.status"
	rm -f "$log.status"
	count "$name" "$status"
	echo "== $(($(date +%s) - began)) s"
}

suite 'the proofs, compiled, over small scopes' env BUILD="$PWD/build/formal" formal/prove.sh exhaustive
for script in tests/conformance/*.py tests/schema/*.py; do
	suite "$script" /usr/bin/python3 -B "$script"
done
suite 'the corpora of the fuzz targets' tests/fuzz.sh replay
suite 'cofferdam and a scripted docker' /usr/bin/python3 -B tests/e2e/test_fake.py
suite 'cofferdam session and a scripted docker' /usr/bin/python3 -B tests/e2e/test_session.py
suite 'doctor and a scripted docker' /usr/bin/python3 -B tests/e2e/test_doctor.py
suite 'cofferdam, killed, and a scripted docker' /usr/bin/python3 -B tests/e2e/test_crash.py
suite 'every fault at every step' /usr/bin/python3 -B tests/e2e/test_faults.py
suite 'a policy that lies' /usr/bin/python3 -B tests/e2e/test_hostile.py
suite 'an attacker inside each policy process' /usr/bin/python3 -B tests/e2e/test_probe.py
if [ "${ENGINE:-}" = no ] && [ "${CI:-}" != true ]; then
	echo '== NOT RUN, because of ENGINE=no: cofferdam and a real Docker engine'
elif engine_start; then
	suite 'cofferdam and a real engine' /usr/bin/python3 -B tests/e2e/test_engine.py
	suite 'cofferdam, killed, and a real engine' /usr/bin/python3 -B tests/e2e/test_crash.py
	suite 'many launches at once' /usr/bin/python3 -B tests/e2e/test_concurrency.py
	engine_stop
	# Its own, which it kills.
	if ENGINE_PRIVATE=yes engine_start; then
		suite 'every fault of an engine' /usr/bin/python3 -B tests/e2e/test_faults.py --engine
	else
		echo 'not ok - no private Docker engine could be started'
		failed=$((failed + 1))
	fi
	engine_stop
else
	echo 'not ok - no Docker engine could be reached or started (ENGINE=no leaves these tests out)'
	failed=$((failed + 1))
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]

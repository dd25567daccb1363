#!/bin/sh
# SPDX-License-Identifier: ISC
#
# cofferdam, killed at every one of its system calls (tests/e2e/test_crash.py):
# first with a scripted docker client, then with a real engine.
#
#   ENGINE=no tests/crash.sh     without a real engine
#   CRASH=N tests/crash.sh       every N-th

# shellcheck source=tests/engine.sh
. "$(dirname "$0")/engine.sh"

engine_as_root "$0" "$@"
cd "$(dirname "$0")/.." || exit 1
CRASH=${CRASH:-1}
export CRASH
/usr/bin/python3 -B tests/e2e/test_crash.py "$@" || exit 1
[ "${ENGINE:-}" != no ] || exit 0
exec tests/engine.sh tests/e2e/test_crash.py "$@"

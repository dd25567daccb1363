#!/bin/sh
# SPDX-License-Identifier: ISC
#
# cofferdam run against a plain `docker run --rm -i` with the same flags, image
# and stdin, side by side: the two alternate, N times each (default 20), once
# for every docker client on PATH.  Prints medians and their ratio; judges
# nothing.
#
#   tests/bench.sh [N]

# shellcheck source=tests/engine.sh
. "$(dirname "$0")/engine.sh"

engine_as_root "$0" "$@"
cd "$(dirname "$0")/.." || exit 1
engine_traps
engine_start || exit 1
python3 -B tests/e2e/bench.py "$@"

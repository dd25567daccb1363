# SPDX-License-Identifier: ISC
"""MC/DC of the pure modules by the unit tests (make mcdc), by clang-19 and llvm-cov-19.

    mcdc.py [FILE...]      these files; default: the makefile's pure modules

Prints a row a file: conditions that have been shown to decide by themselves, of all conditions in
decisions of two or more; then each other condition by its place.  It reports and does not judge:
the branches have a gate of their own (coverage.py).
"""

import json
import os
import shutil
import subprocess
import sys

import coverage
from coverage import TREE, make, percent, variable

BUILD = os.path.join(os.environ.get("B", "build"), "mcdc")
COUNTING = ("-O1 -g -U_FORTIFY_SOURCE -fprofile-instr-generate -fcoverage-mapping -fcoverage-mcdc "
            "-Xclang -fmcdc-max-conditions=64")


def build():
    """The tests of the pure modules; the others look at environments and processes, which the
    counting would change."""
    pure = {os.path.basename(name)[:-2]
            for words in coverage.PURE_LISTS for name in variable(words)}
    binaries = [binary for binary in variable("UNIT_BIN", "B=" + BUILD)
                if os.path.basename(binary)[len("test_"):] in pure]
    make("B=" + BUILD, "CC=clang-19", "HARDEN=", "WARN=-w", "CFLAGS=" + COUNTING, *binaries)
    return binaries


def run(binaries):
    """The merged counts of every test; each must pass."""
    counts = os.path.join(TREE, BUILD, "counts")
    shutil.rmtree(counts, ignore_errors=True)
    os.makedirs(counts)
    for binary in binaries:
        name = os.path.basename(binary)
        env = dict(os.environ, LLVM_PROFILE_FILE="%s/%s.%%p.profraw" % (counts, name))
        ran = subprocess.run([os.path.join(TREE, binary)], cwd=TREE, env=env, capture_output=True)
        if ran.returncode != 0:
            sys.stderr.buffer.write(ran.stdout + ran.stderr)
            sys.exit("mcdc.py: %s failed" % name)
    merged = counts + ".profdata"
    raw = sorted(os.path.join(counts, name) for name in os.listdir(counts))
    # A child that was killed may leave a file cut short.
    subprocess.run(["llvm-profdata-19", "merge", "--failure-mode=all", "-o", merged, *raw],
                   check=True)
    return merged


def export(names, merged):
    """Of the modules' own objects: no test links all of them."""
    objects = ["--object=%s/%s/%s.o" % (TREE, BUILD, name[:-2]) for name in names]
    ran = subprocess.run(["llvm-cov-19", "export", "--instr-profile", merged, *objects],
                         check=True, capture_output=True, text=True)
    return json.loads(ran.stdout)["data"][0]


def records(data):
    """{file: {(line, column): [condition shown, ...]}}."""
    found = {}
    for function in data["functions"]:
        for record in function.get("mcdc_records", []):
            name = os.path.relpath(os.path.join(TREE, function["filenames"][record[4]]), TREE)
            found.setdefault(name, {})[record[0], record[1]] = record[-1]
    return found


def main():
    names = sys.argv[1:] or sorted({name for words in coverage.PURE_LISTS
                                    for name in variable(words)})
    tell(names, records(export(names, run(build()))))


def tell(names, found):
    shown = conditions = 0
    print("%-26s %12s %9s" % ("file", "conditions", "MC/DC"))
    for name in names:
        flags = [flag for row in found.get(name, {}).values() for flag in row]
        shown, conditions = shown + sum(flags), conditions + len(flags)
        print("%-26s %12s %s" % (name, "%d/%d" % (sum(flags), len(flags)),
                                 percent(sum(flags), len(flags))))
    print("%-26s %12s %s" % ("all", "%d/%d" % (shown, conditions), percent(shown, conditions)))
    for name in names:
        with open(os.path.join(TREE, name), encoding="utf-8") as file:
            text = file.read().split("\n")
        for (line, _), row in sorted(found.get(name, {}).items()):
            missing = ", ".join(str(i + 1) for i, flag in enumerate(row) if not flag)
            if missing:
                print("%s:%d: condition %s of %d: %s"
                      % (name, line, missing, len(row), text[line - 1].strip()))
    if not conditions:
        sys.exit("mcdc.py: no decision was counted")


if __name__ == "__main__":
    main()

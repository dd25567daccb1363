# SPDX-License-Identifier: ISC
"""Line and branch coverage of policy/, ipc/ and executor/ (make coverage), by gcc and gcov.

    coverage.py [--e2e] [--all]

The unit tests run in a build of their own without optimisation and without the hardening flags,
whose branches are the compiler's.  Prints a table, a row a file; then each branch that no unit
test took, of the pure modules (--all: of every module).  A branch of a pure module that no unit
test takes needs a row in tests/coverage/branches.tsv, with the reason; a row that matches no such
branch is an error too.

--e2e: the end-to-end suites with the scripted docker also run, as root, with an executor that
counts (its policy does not: confined, it could not write its counts), and the table has their
figures beside.  A process that is killed leaves no counts.

The unit tests' own counts lack what runs in a child that ends by _exit or by a signal.
"""

import argparse
import collections
import json
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TREE = os.path.dirname(os.path.dirname(HERE))
BUILD = os.path.join(os.environ.get("B", "build"), "coverage")
PLAIN = ["HARDEN=", "CC=gcc"]
COUNTING = "-O0 -g -U_FORTIFY_SOURCE --coverage"
PURE_LISTS = ("POLICY_PURE", "IPC_PURE", "EXECUTOR_PURE")
SUITES = ("test_fake.py", "test_session.py", "test_doctor.py", "test_faults.py")
HEADER = ("file", "function", "line", "reason")


def make(*words, **options):
    return subprocess.run(["make", "-s", "--no-print-directory", *words], cwd=TREE, check=True,
                          **options)


def variable(name, *words):
    """A list of the makefile's."""
    rule = "print-it: ; @echo $(%s)" % name
    return make("--eval", rule, *words, "print-it", capture_output=True, text=True).stdout.split()


def sources():
    found = {"ipc/frame_policy.c"}
    for name in ("POLICY", "IPC", "EXECUTOR"):
        found.update(variable(name))
    return sorted(found | {"policy/main.c", "executor/main.c"})


# --- counts --------------------------------------------------------------------

class Counts:
    """Of each file: how often each line ran, each branch was taken, each function was called."""

    def __init__(self):
        self.lines = collections.defaultdict(collections.Counter)
        self.branches = collections.defaultdict(collections.Counter)
        self.functions = collections.defaultdict(collections.Counter)
        self.within = {}

    def add(self, name, report):
        for function in report["functions"]:
            self.functions[name][function["name"]] += function["execution_count"]
        for line in report["lines"]:
            number = line["line_number"]
            self.within[name, number] = line.get("function_name", "")
            self.lines[name][number] += line["count"]
            for i, branch in enumerate(line["branches"]):
                self.branches[name][number, i] += branch["count"]

    def read(self, counts_dir, objects_dir):
        """The counts that lie below counts_dir, of the objects in objects_dir."""
        found = []
        for top, _, names in os.walk(counts_dir):
            for name in (n for n in names if n.endswith(".gcda")):
                notes = os.path.join(objects_dir, os.path.relpath(top, counts_dir), name)
                notes = notes[:-len("gcda")] + "gcno"
                beside = os.path.join(top, os.path.basename(notes))
                if os.path.exists(notes):
                    os.path.exists(beside) or os.symlink(notes, beside)
                    found.append(os.path.join(top, name))
        if found:
            self.gcov(found)

    def gcov(self, found):
        ran = subprocess.run(["gcov", "--branch-probabilities", "--json-format", "--stdout", *found],
                             cwd=TREE, check=True, capture_output=True, text=True)
        for line in ran.stdout.splitlines():
            for report in json.loads(line)["files"]:
                name = os.path.normpath(report["file"])
                if name.endswith(".c") and name.startswith(("policy/", "ipc/", "executor/")):
                    self.add(name, report)

    @staticmethod
    def share(counter):
        return sum(1 for count in counter.values() if count > 0), len(counter)


# --- runs ------------------------------------------------------------------------

def build_unit():
    """The unit tests that count; every test's binary."""
    binaries = variable("UNIT_BIN", "B=" + BUILD)
    make("B=" + BUILD, "CFLAGS=" + COUNTING, *PLAIN, *binaries)
    return binaries


def run_unit(binary):
    """One test binary, its counts in a directory of their own."""
    name = os.path.basename(binary)
    prefix = os.path.join(TREE, BUILD, "counts", name)
    shutil.rmtree(prefix, ignore_errors=True)
    ran = subprocess.run([os.path.join(TREE, binary)], cwd=TREE, capture_output=True,
                         env=dict(os.environ, GCOV_PREFIX=prefix))
    if ran.returncode != 0:
        sys.stderr.buffer.write(ran.stdout + ran.stderr)
        sys.exit("coverage.py: %s failed" % name)
    return os.path.join(prefix, TREE.lstrip("/"), BUILD)


def forget():
    """A program started without our environment counts beside its object, and would complain of
    what an older build has left there."""
    for top, _, names in os.walk(os.path.join(TREE, BUILD)):
        for name in (n for n in names if n.endswith(".gcda")):
            os.remove(os.path.join(top, name))


def read_unit(binaries):
    """The counts of each test by name, of the modules that it links."""
    forget()
    own = {}
    for binary in binaries:
        counts = Counts()
        counts.read(run_unit(binary), os.path.join(TREE, BUILD))
        own[os.path.basename(binary)] = counts
    return own


def total(parts):
    whole = Counts()
    for part in parts:
        whole.within.update(part.within)
        for mine, theirs in ((whole.lines, part.lines), (whole.branches, part.branches),
                             (whole.functions, part.functions)):
            for name, counter in theirs.items():
                for key, count in counter.items():
                    mine[name][key] += count
    return whole


def reach(own):
    """{file: {function: [test, ...]}}: which tests run what (tests/mutants/mutate.py asks)."""
    found = collections.defaultdict(lambda: collections.defaultdict(list))
    for test, counts in own.items():
        for name, functions in counts.functions.items():
            for function, count in functions.items():
                if count > 0:
                    found[name][function].append(test)
    return found


def build_e2e():
    """The two programs: an executor that counts and a policy that does not."""
    build = os.path.join(BUILD, "e2e")
    programs = os.path.join(TREE, build, "programs")
    counts = os.path.join(TREE, build, "counts")
    shutil.rmtree(counts, ignore_errors=True)
    os.makedirs(counts)
    os.chmod(counts, 0o1777)  # the suites run the executor as many users
    os.makedirs(programs, exist_ok=True)
    objects = variable("EXECUTOR_OBJ", "B=" + build) + variable("IPC_OBJ", "B=" + build)
    objects.append(build + "/executor/main.o")
    make("B=" + build, "CFLAGS=" + COUNTING, *PLAIN, *objects)
    subprocess.run(["gcc", "-Wall", "-Wextra", "-Werror", "-D_GNU_SOURCE", '-DCOUNTS="%s"' % counts,
                    "--coverage", "-Wl,--wrap=_exit", "-o", programs + "/cofferdam", *objects,
                    "tests/coverage/flush.c", "-lbsd"], cwd=TREE, check=True)
    make("cofferdam-policy", "CC=gcc")
    shutil.copy(os.path.join(TREE, "cofferdam-policy"), programs)
    return build, programs, counts


def keep_reach(own):
    with open(os.path.join(TREE, BUILD, "reach.json"), "w", encoding="utf-8") as file:
        json.dump(reach(own), file)


def known_reach():
    """The same, from the last run if no test or source is newer."""
    at = os.path.join(TREE, BUILD, "reach.json")
    binaries = build_unit()
    newest = max(os.path.getmtime(os.path.join(TREE, binary)) for binary in binaries)
    if not os.path.exists(at) or os.path.getmtime(at) < newest:
        keep_reach(read_unit(binaries))
    with open(at, encoding="utf-8") as file:
        return json.load(file)


def run_e2e():
    """The counts of the suites, which must pass."""
    build, programs, counts_dir = build_e2e()
    for suite in SUITES:
        print("== " + suite, flush=True)
        ran = subprocess.run([sys.executable, "-B", "tests/e2e/" + suite], cwd=TREE, text=True,
                             stdout=subprocess.PIPE, env=dict(os.environ, PROGRAMS=programs))
        print("".join(line + "\n" for line in ran.stdout.splitlines()
                      if not line.startswith("ok ")), end="", flush=True)
        if ran.returncode != 0:
            sys.exit("coverage.py: %s failed" % suite)
    counts = Counts()
    for user in os.listdir(counts_dir):
        prefix = os.path.join(counts_dir, user, TREE.lstrip("/"), build)
        counts.read(prefix, os.path.join(TREE, build))
    return counts


# --- what is reported --------------------------------------------------------------

def percent(part, whole):
    return "%6.1f %%" % (100.0 * part / whole) if whole else "      -"


def columns(counts, name):
    if counts is None or name not in counts.lines:
        return "%12s %9s %12s %9s" % (("-",) * 4) if counts is not None else ""
    out = ""
    for counter in (counts.lines[name], counts.branches[name]):
        hit, all_of = counts.share(counter)
        out += " %12s%s" % ("%d/%d" % (hit, all_of), " " + percent(hit, all_of))
    return out


def table(names, pure, unit, e2e):
    print("%-26s %-4s %21s %21s%s" % ("file", "pure", "lines by unit", "branches by unit",
                                      "" if e2e is None else
                                      " %21s %21s" % ("lines by e2e", "branches by e2e")))
    for name in names:
        print("%-26s %-4s %s %s" % (name, "yes" if name in pure else "", columns(unit, name),
                                    columns(e2e, name)))
    for what, chosen in (("all pure modules", [n for n in names if n in pure]),
                         ("all modules", names)):
        out = "%-31s" % what
        for counts in (unit, e2e):
            for kind in ("lines", "branches") if counts is not None else ():
                shares = [counts.share(getattr(counts, kind)[name]) for name in chosen]
                hit, all_of = (sum(share[i] for share in shares) for i in (0, 1))
                out += " %12s %s" % ("%d/%d" % (hit, all_of), percent(hit, all_of))
        print(out)


def uncovered(names, unit):
    """(file, function, line's text, line, branches missed, branches) in the order of the text."""
    for name in names:
        with open(os.path.join(TREE, name), encoding="utf-8") as file:
            text = file.read().split("\n")
        lines = collections.defaultdict(list)
        for (number, _), count in unit.branches[name].items():
            lines[number].append(count)
        for number, counts in sorted(lines.items()):
            if 0 in counts:
                yield (name, unit.within[name, number], " ".join(text[number - 1].split()), number,
                       counts.count(0), len(counts))


def accepted():
    with open(os.path.join(HERE, "branches.tsv"), encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file if not line.startswith("#")]
    for row in rows:
        if len(row) != len(HEADER) or not all(row):
            sys.exit("branches.tsv: not %s: %s" % (", ".join(HEADER), row))
    return {tuple(row[:3]): row[3] for row in rows}


def judge(names, pure, unit, all_modules):
    """Prints what is not covered; how many errors that makes."""
    rows, used, errors = accepted(), set(), 0
    for *place, number, missed, branches in uncovered(names, unit):
        name, function, text = place
        reason = rows.get(tuple(place))
        used.add(tuple(place))
        if name in pure and reason is None:
            errors += 1
        if name in pure or all_modules:
            print("%s:%d: %s: %d of %d branches not taken: %s%s"
                  % (name, number, function, missed, branches, text,
                     "" if reason is None else "\n    accepted: " + reason))
    for row in sorted(set(rows) - used):
        errors += 1
        print("branches.tsv: all branches are taken now, or there is no such line: %s"
              % "\t".join(row))
    return errors


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--e2e", action="store_true")
    parser.add_argument("--all", action="store_true")
    options = parser.parse_args()
    names = sources()
    pure = {name for words in PURE_LISTS for name in variable(words)}
    own = read_unit(build_unit())
    unit = total(own.values())
    keep_reach(own)
    e2e = run_e2e() if options.e2e else None
    table(names, pure, unit, e2e)
    errors = judge(names, pure, unit, options.all)
    print("coverage: %d errors" % errors)
    sys.exit(errors != 0)


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: ISC
"""Mutation testing of policy/, ipc/ and executor/ by the unit tests (make mutants).

    mutate.py [--list] [--sample N] [--own] [FILE...]

Makes small faults in the real sources, one at a time: operators, conditions, constants,
enumerators, table entries, words of the gate's template, statements left out (making.py).  All
mutants of a source are compiled into one object, where a number chooses (schemata.py); what
cannot be made so is compiled alone.  The unit tests that run a mutant's function, the module's
own first, run until one fails, then the compiled proofs that read the source (formal/): killed.
Survivors are printed; one that cannot be told from the original stands with a reason in
equivalent.tsv and is tried by the module's own test only; a row there that is killed, or matches
no mutant, is an error, and so is a function that no unit test runs.  --sample: so many, chosen by
hash, the same every time.

Mutants of code that forks, kills and unlinks run as root: each run has namespaces of its own for
processes, mounts and network, a read-only file system but for small ones in memory, and bounds on
processes, memory, file size and processor time.  Processor time, not the clock, ends a mutant that
runs away; one of whose processes none runs any more is ended, too.
"""

import argparse
import atexit
import collections
import fcntl
import functools
import os
import re
import resource
import subprocess
import sys
import time

from exhaustive import Exhaustive
from making import HERE, TREE, Text, enumerators, key, lines, mutants_of, mutated, rank
from schemata import CHOICE, Schemata, possible

sys.path.insert(0, os.path.join(TREE, "tests", "coverage"))
import coverage  # noqa: E402

BUILD = os.path.join(os.environ.get("B", "build"), "mutants")
OPTIONS = "-O1 -w"
PROCESSES = 200
CPU_LEAST = 0.5  # seconds, and ten times what the original needs
CPU_CHILD = 3  # the same for each process that a test starts
CPU_ORIGINAL = 900
PATIENCE, LOOKS, BETWEEN = 2, 20, 0.2  # seconds before the first look whether all sleep, at least
PATIENCE_ORIGINAL = 600
BYTES = 64 << 20
MEMORY = 4 << 30
HEADER = ("file", "function", "line", "mutant", "reason")


# --- building and running --------------------------------------------------------------

def pids_group():
    """A cgroup of this run's own that bounds processes: of version 1 or 2."""
    for top in ("/sys/fs/cgroup/pids", "/sys/fs/cgroup"):
        if os.path.exists(top + "/cgroup.procs"):
            group = "%s/cofferdam-mutants-%d" % (top, os.getpid())
            os.makedirs(group)
            atexit.register(os.rmdir, group)
            with open(group + "/pids.max", "w") as file:
                file.write("%d" % PROCESSES)
            return group
    sys.exit("mutate.py: no cgroup that bounds processes")


def all_asleep(group):
    """None of the processes in the group runs or waits for the disk."""
    with open(group + "/cgroup.procs") as file:
        pids = file.read().split()
    for pid in pids:
        try:
            with open("/proc/%s/stat" % pid) as file:
                if file.read().rpartition(")")[2].split()[0] in "RD":
                    return False
        except (FileNotFoundError, ProcessLookupError):
            return False
    return True


class Bench:
    """Builds and runs the tests."""

    def __init__(self):
        self.group = pids_group()
        self.dir = os.path.join(TREE, BUILD)
        os.makedirs(self.dir, exist_ok=True)
        self.lock = open(os.path.join(self.dir, "lock"), "w")
        fcntl.flock(self.lock, fcntl.LOCK_EX)  # one run at a time in this directory
        self.compiler = {}
        self.base = {}
        self.clock = {}  # how long the original takes: some tests sleep
        self.tests = [os.path.basename(binary) for binary in coverage.variable("UNIT_BIN")]
        self.originals()
        self.write("choice.c", CHOICE)
        self.command("gcc", "-c", "-o", BUILD + "/choice.o", BUILD + "/choice.c")

    def originals(self):
        """Every object as it is, and the tests."""
        words = ["B=" + BUILD, "CFLAGS=" + OPTIONS]
        self.archive = BUILD + "/all.a"
        coverage.make(*words, self.archive,
                      *("%s/tests/unit/%s.o" % (BUILD, test) for test in self.tests))
        for top in ("policy", "ipc", "executor"):
            self.compiler[top] = self.flags(top, words)

    def flags(self, top, words):
        """The makefile's own flags for the objects of a directory."""
        name = next(n for n in coverage.sources() if n.startswith(top + "/"))
        ran = coverage.make("-n", "-W", name, "V=1", *words, "%s/%s.o" % (BUILD, name[:-2]),
                            capture_output=True, text=True).stdout
        line = next(line for line in ran.splitlines() if line.rstrip().endswith(" " + name))
        flags = [w.replace("'", "") for w in line.split()[:-4]]
        flags = [w for w in flags if w not in ("-MMD", "-MP", "-Werror")]
        return flags + ["-I", BUILD + "/policy", "-iquote", top]

    def command(self, *words):
        subprocess.run(words, cwd=TREE, check=True, capture_output=True)

    def write(self, name, text):
        with open(os.path.join(self.dir, name), "w", encoding="utf-8") as file:
            file.write(text)

    def compile(self, name, text, *more):
        """What gcc has to say against text in the place of the source; "" when it is C.

        A program's main has the name that the tests know it by."""
        self.write("mutant.c", text)
        top, base = name.split("/")
        more = [*more, "-Dmain=%s_main" % top] if base == "main.c" else more
        ran = subprocess.run([*self.compiler[top], *more, "-fmax-errors=0",
                              "-c", "-o", BUILD + "/mutant.o", BUILD + "/mutant.c"],
                             cwd=TREE, capture_output=True, text=True)
        return ran.stderr if ran.returncode != 0 else ""

    def compile_all(self, text, mutants):
        """Compiles {number: mutant} into one object; returns the numbers that are not C."""
        left, failed = dict(mutants), set()
        while True:
            whole = Schemata(text, left)
            errors = self.compile(text.name, str(whole), "-fsyntax-only")
            if not errors:
                break
            at = {int(n) for n in re.findall(r"mutant\.c:(\d+):\d+: error", errors)}
            found = {whole.owner[line] for line in at if line in whole.owner}
            # Outside functions gcc tells of a name that it does not know only once.
            unknown = set(re.findall(r"error: .(\w+). undeclared here", errors))
            found |= {number for number, mutant in left.items() if mutant.new in unknown}
            if not found:
                sys.exit("mutate.py: %s: %s" % (text.name, errors[:4000]))
            failed |= found
            left = {number: mutant for number, mutant in left.items() if number not in found}
        errors = self.compile(text.name, str(whole))
        if errors:
            sys.exit("mutate.py: %s: %s" % (text.name, errors[:4000]))
        return failed

    def link(self, test, *instead):
        """Into mutant.test; an object of instead stands before its like in the archive."""
        self.command("gcc", "-pie", "-o", BUILD + "/mutant.test",
                     "%s/tests/unit/%s.o" % (BUILD, test), *instead, BUILD + "/choice.o",
                     self.archive, "-lcmocka", "-lmd", "-lbsd")

    def bound(self, seconds):
        with open(self.group + "/cgroup.procs", "w") as file:
            file.write("%d" % os.getpid())
        child = int(max(CPU_CHILD, seconds + 1))
        resource.setrlimit(resource.RLIMIT_CPU, (child, child))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_FSIZE, (BYTES, BYTES))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    def wait(self, process, patience):
        """The exit status, or "slept"."""
        calm, pause = 0, patience
        while calm < LOOKS:
            try:
                return process.wait(timeout=pause)
            except subprocess.TimeoutExpired:
                calm, pause = calm + 1 if all_asleep(self.group) else 0, BETWEEN
        process.kill()
        process.wait()
        return "slept"

    def run(self, seconds, patience, number=0):
        """(exit status or "slept", processor seconds) of what link() made."""
        command = ["unshare", "--mount", "--pid", "--net", "--ipc", "--fork", "--kill-child",
                   "--mount-proc", "sh", HERE + "/sandbox.sh", self.dir, "./mutant.test"]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL,
                                   preexec_fn=lambda: self.bound(seconds),
                                   start_new_session=True,  # kill(0) crosses a pid namespace
                                   env=dict(os.environ, CMOCKA_TEST_ABORT="1",
                                            MUTANT_NUMBER=str(number),
                                            MUTANT_USECS=str(int(seconds * 1e6))))
        status = self.wait(process, patience)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if status == 240:
            sys.exit("mutate.py: the sandbox could not be made")
        return status, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def original(self, test):
        """Processor seconds of what link() made of the original, which must pass."""
        began = time.monotonic()
        status, seconds = self.run(CPU_ORIGINAL, PATIENCE_ORIGINAL)
        if status != 0:
            sys.exit("mutate.py: the original fails %s (%s)" % (test, status))
        self.clock[test] = time.monotonic() - began
        return seconds

    @functools.cached_property
    def exhaustive(self):
        return Exhaustive(self.dir)

    def needs(self, test):
        if test not in self.base:
            self.link(test)
            self.base[test] = self.original(test)
        return self.base[test]

    def judge(self, test, number=0):
        """What the test that is linked finds."""
        status, _ = self.run(max(CPU_LEAST, 10 * self.base[test]),
                             max(PATIENCE, 2 * self.clock[test]), number)
        if status in ("slept", 128 + 9, 128 + 24, 128 + 27):  # KILL, XCPU, PROF
            return "timed out"
        return "killed" if status != 0 else "survived"


def own_test(source):
    """The test named after a source; policy/ and executor/ have sources of one name."""
    top, base = os.path.split(source[:-2])
    for test in ("test_%s_%s" % (top, base), "test_" + base):
        path = os.path.join(TREE, "tests/unit/%s.c" % test)
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                return test if "../../%s/" % top in file.read() else ""
    return ""


class Trial:
    """The mutants of one file: {number: mutant}, and what becomes of each."""

    def __init__(self, bench, reach, rows, mutants):
        self.bench, self.reach, self.rows = bench, reach, rows
        self.text = Text(mutants[0].file)
        self.mutants = dict(enumerate(mutants, 1))
        self.own = own_test(self.text.name)
        self.tests = {number: self.tests_of(mutant) for number, mutant in self.mutants.items()}
        self.verdicts = {number: "survived" if tests else "not run"
                         for number, tests in self.tests.items()}
        self.together()
        self.alone()
        if reach is not None:
            self.exhaustively()

    def tests_of(self, mutant):
        """The tests that run its function (a table: anything of its file)."""
        own = {self.own} & set(self.bench.tests)
        if self.reach is None or own and key(mutant) in self.rows:
            return own
        by_function = self.reach.get(self.text.name, {})
        if mutant.function:  # gcov does not see what ends by _exit(2) or execve(2)
            return set(by_function.get(mutant.function, own))
        return set().union(own, *by_function.values())

    def left(self, test, numbers):
        return [n for n in numbers if self.verdicts[n] == "survived" and test in self.tests[n]]

    def in_order(self, tests):
        """The module's own first, then, if a mutant has lived through it, the cheap ones."""
        if self.own in tests:
            self.bench.needs(self.own)
            yield self.own
        if "survived" in self.verdicts.values():
            yield from sorted(tests - {self.own}, key=lambda test: (self.bench.needs(test), test))

    def together(self):
        whole = {n: m for n, m in self.mutants.items() if possible(self.text, m)}
        if not whole:
            return
        for number in self.bench.compile_all(self.text, whole):
            self.verdicts[number] = "not C"
        for test in self.in_order(set().union(*self.tests.values())):
            left = self.left(test, whole)
            if not left:
                continue
            self.bench.link(test, BUILD + "/mutant.o")
            self.bench.original(test)
            for number in left:
                self.verdicts[number] = self.bench.judge(test, number)

    def alone(self):
        for number, mutant in self.mutants.items():
            if possible(self.text, mutant):
                continue
            if self.bench.compile(self.text.name, mutated(mutant)):
                self.verdicts[number] = "not C"
            for test in self.in_order(self.tests[number]):
                if self.verdicts[number] == "survived":
                    self.bench.link(test, BUILD + "/mutant.o")
                    self.verdicts[number] = self.bench.judge(test)

    def exhaustively(self):
        """What has lived through the tests stands trial before the compiled proofs."""
        for number, mutant in self.mutants.items():
            if self.verdicts[number] == "survived" and key(mutant) not in self.rows and \
                    self.bench.exhaustive.kills(self.text.name, mutated(mutant)):
                self.verdicts[number] = "killed"


# --- the report ---------------------------------------------------------------------------

def accepted():
    with open(os.path.join(HERE, "equivalent.tsv"), encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file if not line.startswith("#")]
    for row in rows:
        if len(row) != len(HEADER) or not all(row):
            sys.exit("equivalent.tsv: not %s: %s" % (", ".join(HEADER), row))
    return {tuple(row[:4]): row[4] for row in rows}


def stale(rows, every, alive, tried):
    """Rows of the files at hand that match no mutant, or only mutants that were killed."""
    known = {key(mutant) for mutant in every}
    files = {mutant.file for mutant in every}
    return [row for row in sorted(rows) if row[0] in files and
            (row not in known or (row in tried and row not in alive))]


def show(mutant, verdict):
    old, new = lines(mutant)
    print("%s: %s:%d: %s\n    - %s\n    + %s"
          % (verdict, mutant.file, mutant.number, mutant.function or "(table)", old, new),
          flush=True)


def score(counts):
    """A row a file: dead of those that a unit test runs and that are not equivalent."""
    kinds = ("killed", "timed out", "survived", "equivalent", "not run", "not C")
    print("%-26s" % "file" + "".join("%11s" % kind for kind in kinds) + "      score")
    whole = collections.Counter()
    for name in sorted(counts):
        whole.update(counts[name])
    for name, row in [*sorted(counts.items()), ("all", whole)]:
        dead = row["killed"] + row["timed out"]
        of = dead + row["survived"]
        print("%-26s" % name + "".join("%11d" % row[kind] for kind in kinds) +
              ("%9.1f %%" % (100.0 * dead / of) if of else ""))
    return whole


def chosen(options):
    """Every mutant, and those of the sample."""
    neighbour = enumerators()
    every = [mutant for name in options.files or coverage.sources()
             for mutant in mutants_of(name, neighbour)]
    picked = every
    if options.sample:
        best = set(sorted(range(len(every)), key=lambda i: rank(every[i]))[:options.sample])
        picked = [mutant for i, mutant in enumerate(every) if i in best]
    return every, picked


def by_file(mutants):
    found = collections.defaultdict(list)
    for mutant in mutants:
        found[mutant.file].append(mutant)
    return found.values()


def show_not_run(trial):
    """Of each function, how many: nothing is known of them."""
    found = collections.Counter(trial.mutants[number].function or "(table)"
                                for number, verdict in trial.verdicts.items()
                                if verdict == "not run")
    for function, count in found.items():
        print("not run: %s: %s: %d mutants" % (trial.text.name, function, count))


def tally(trial, rows, alive):
    """Counts the verdicts of a file, shows survivors, and adds what lives to alive."""
    counts = collections.Counter()
    for number, mutant in trial.mutants.items():
        verdict = trial.verdicts[number]
        if verdict in ("survived", "not run"):
            alive.add(key(mutant))
        if verdict == "survived" and key(mutant) in rows:
            verdict = "equivalent"
        elif verdict == "survived":
            show(mutant, verdict)
        counts[verdict] += 1
    show_not_run(trial)
    return counts


def run(every, picked, only_own):
    """Tries the mutants file by file and tells all; True when something is left to be done."""
    reach = None if only_own else coverage.known_reach()
    bench, began = Bench(), time.monotonic()
    rows, counts, alive = accepted(), {}, set()
    for mutants in by_file(picked):
        trial = Trial(bench, reach, rows, mutants)
        counts[trial.text.name] = tally(trial, rows, alive)
    whole = score(counts)
    old = stale(rows, every, alive, {key(mutant) for mutant in picked})
    for row in old:
        print("equivalent.tsv: killed now, or there is no such mutant: %s" % "\t".join(row))
    print("mutants: %d tried of %d, %d unexplained survivors, %d that no unit test runs, "
          "%d stale rows, %d s" % (len(picked), len(every), whole["survived"], whole["not run"],
                                   len(old), time.monotonic() - began))
    return not picked or whole["survived"] or whole["not run"] or old


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--sample", type=int, default=0)
    parser.add_argument("--own", action="store_true", help="only by the module's own test")
    parser.add_argument("files", nargs="*", metavar="FILE")
    options = parser.parse_args()
    every, picked = chosen(options)
    if options.list:
        for mutant in picked:
            show(mutant, mutant.kind)
        print("%d of %d" % (len(picked), len(every)))
        return
    sys.exit(1 if run(every, picked, options.own) else 0)


if __name__ == "__main__":
    main()

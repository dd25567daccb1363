# SPDX-License-Identifier: ISC
"""Mutation testing of what only a whole executor shows, by the end-to-end suites (make
mutants-programs, as root).

    programs.py [--sample N] [--cases N] [FILE...]

The mutants are mutate.py's, of the functions of executor/ and ipc/ that no unit test runs.  An
executor with all mutants of a source takes the place of the real one in the cases with the
scripted docker that run the mutant's line (counted once by gcov, a user a case); those that
killed most come first, then the short ones, 40 at most (--cases: so many).  The first that fails
ends it: killed.  What hangs is killed: "timed out".  Survivors are printed; equivalent.tsv holds
for them, too.

A mutated executor runs as the case's own user, with bounds on processes, memory, file size and
processor time; whatever that user still runs after a case is killed.
"""

import argparse
import collections
import importlib
import json
import multiprocessing
import os
import resource
import signal
import sys
import time

import mutate
from making import TREE, Text
from mutate import BUILD, Bench, coverage
from schemata import possible

sys.path.insert(0, os.path.join(TREE, "tests", "e2e"))
import harness  # noqa: E402

SUITES = ("test_fake", "test_session", "test_doctor")
WORKERS = 3 * (os.cpu_count() or 2)
SAFETY, TIMES = 20, 4  # seconds that a case may take, and so many times what the original needs
CPU, PROCESSES, MEMORY, BYTES = 5, 200, 2 << 30, 64 << 20


# --- one case, in a process with a tree of its own -----------------------------------------

def bound():
    for what, most in ((resource.RLIMIT_CPU, CPU), (resource.RLIMIT_NPROC, PROCESSES),
                       (resource.RLIMIT_AS, MEMORY), (resource.RLIMIT_FSIZE, BYTES),
                       (resource.RLIMIT_CORE, 0)):
        resource.setrlimit(what, (most, most))


class Place:
    """Runs cases with one mutant at a time."""

    def __init__(self, programs):
        harness.PROGRAMS = programs
        self.tree = harness.Tree()
        self.number = 0
        spawn = harness.Case.spawn

        def spawned(case, argv, *words, **more):
            case.env = dict(case.env, MUTANT_NUMBER=str(self.number))
            first = more.pop("preexec_fn", bound)
            return spawn(case, argv, *words, preexec_fn=lambda: (bound(), first()), **more)

        harness.Case.spawn = spawned
        signal.signal(signal.SIGALRM, self.late)

    @staticmethod
    def late(*_):
        raise harness.Failure("it never ended")

    def case(self, index):
        """(what did not hold or "", the users of the case, seconds)."""
        first, began, problem = self.tree.uid, time.monotonic(), ""
        signal.alarm(int(harness.SAFETY) + 10)  # some cases wait for the executor's word
        try:
            harness.TESTS[index][1](self.tree)
        except harness.Failure as failure:
            problem = str(failure)
        except Exception as error:  # what a broken executor says can be anything
            problem = repr(error)
        signal.alarm(0)
        users = range(first + 1, self.tree.uid + 1)
        while self.kill(users):
            time.sleep(0.01)
        return problem, list(users), time.monotonic() - began

    @staticmethod
    def kill(users):
        found = False
        for name in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open("/proc/%s/status" % name) as file:
                    status = file.read()
                if int(status.split("\nUid:\t", 1)[1].split("\t", 1)[0]) in users \
                        and "\nState:\tZ" not in status:
                    os.kill(int(name), signal.SIGKILL)
                    found = True
            except (FileNotFoundError, ProcessLookupError):
                pass
        return found

    def mutant(self, number, cases):
        """("killed" or "timed out" or "survived", the case that told) of [(case, seconds)]."""
        self.number = number
        for index, seconds in cases:
            harness.SAFETY = SAFETY + TIMES * seconds
            problem, _, _ = self.case(index)
            if problem:
                late = "it never ended" in problem or "processes left" in problem
                return "timed out" if late else "killed", index
        return "survived", None


def work(programs, tasks, results):
    place = Place(programs)
    try:
        for name, *words in iter(tasks.get, None):
            results.put((words[0], getattr(place, name)(*words)))
    finally:
        place.tree.stop()
        place.tree.remove()


class Workers:
    def __init__(self, programs):
        self.tasks, self.results = multiprocessing.Queue(), multiprocessing.Queue()
        self.all = [multiprocessing.Process(target=work, args=(programs, self.tasks, self.results))
                    for _ in range(WORKERS)]
        for one in self.all:
            one.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for _ in self.all:
            self.tasks.put(None)
        for one in self.all:
            one.join()

    def do(self, todo, told):
        """Each of todo, WORKERS at a time; a task is made when its turn comes."""
        todo, running = iter(todo), 0
        while True:
            while running < WORKERS:
                task = next(todo, None)
                if task is None:
                    break
                self.tasks.put(task())
                running += 1
            if running == 0:
                return
            told(*self.results.get())
            running -= 1


# --- which case runs what -------------------------------------------------------------------

def count_cases():
    """{file: {function or line: [case, ...]}} and each case's seconds; all cases must pass."""
    build, programs, counts_dir = coverage.build_e2e()
    users, seconds = {}, {}

    def counted(index, result):
        problem, own, seconds[index] = result
        if problem:
            sys.exit("programs.py: the original fails %s: %s" % (harness.TESTS[index][0], problem))
        users.update(dict.fromkeys(own, index))

    with Workers(programs) as workers:
        workers.do([lambda i=i: ("case", i) for i in range(len(harness.TESTS))], counted)
    found = collections.defaultdict(lambda: collections.defaultdict(set))
    for user, index in users.items():
        prefix = os.path.join(counts_dir, str(user), TREE.lstrip("/"), build)
        counts = coverage.Counts()
        counts.read(prefix, os.path.join(TREE, build))
        for what in (counts.functions, counts.lines):
            for name, counter in what.items():
                for place, count in counter.items():
                    found[name][str(place)].update([index] if count > 0 else [])
    return found, seconds


def known_cases():
    """The same, from the last run if no source or test is newer."""
    at = os.path.join(TREE, BUILD, "cases.json")
    tops = ("policy", "ipc", "executor", "tests/e2e", "tests/mutants")
    inputs = [os.path.join(TREE, top, name) for top in tops
              for name in os.listdir(os.path.join(TREE, top)) if name.endswith((".c", ".h", ".py"))]
    if not os.path.exists(at) or os.path.getmtime(at) < max(map(os.path.getmtime, inputs)):
        reach, seconds = count_cases()
        with open(at, "w", encoding="utf-8") as file:
            json.dump([{name: {place: sorted(cases) for place, cases in places.items()}
                        for name, places in reach.items()}, seconds], file)
    with open(at, encoding="utf-8") as file:
        reach, seconds = json.load(file)
    return reach, {int(index): cost for index, cost in seconds.items()}


# --- the mutants of a file -----------------------------------------------------------------

class Trial:
    """Like mutate.Trial: mutants and verdicts by number."""

    def __init__(self, bench, reach, seconds, kills, most, mutants):
        self.most = most
        self.text = Text(mutants[0].file)
        self.mutants = dict(enumerate(mutants, 1))
        self.reach, self.seconds, self.kills = reach.get(self.text.name, {}), seconds, kills
        self.verdicts = {}
        for number, mutant in self.mutants.items():
            ran = self.cases(mutant) and possible(self.text, mutant)
            self.verdicts[number] = "survived" if ran else "not run"
        whole = {n: m for n, m in self.mutants.items() if self.verdicts[n] == "survived"}
        if whole:
            for number in bench.compile_all(self.text, whole):
                self.verdicts[number] = "not C"
            self.judge(bench)

    def judge(self, bench):
        with Workers(self.link(bench)) as workers:
            workers.do([lambda n=n: ("mutant", n, self.order(self.mutants[n]))
                        for n, verdict in self.verdicts.items() if verdict == "survived"],
                       self.judged)

    def link(self, bench):
        programs = os.path.join(bench.dir, "programs")
        os.makedirs(programs, exist_ok=True)
        coverage.make("B=" + BUILD, "CFLAGS=" + mutate.OPTIONS, BUILD + "/executor/main.o")
        bench.command("gcc", "-pie", "-o", BUILD + "/programs/cofferdam",
                      BUILD + "/executor/main.o", BUILD + "/mutant.o", BUILD + "/choice.o",
                      bench.archive, "-lmd", "-lbsd")
        coverage.make("cofferdam-policy")
        bench.command("cp", "cofferdam-policy", programs)
        return programs

    def cases(self, mutant):
        """Those that run its line; a line that gcov does not count has its function's."""
        return self.reach.get(str(mutant.number), self.reach.get(mutant.function, ()))

    def order(self, mutant):
        cases = sorted(self.cases(mutant), key=lambda i: (-self.kills[mutant.function, i],
                                                          -self.kills[i], self.seconds[i]))
        return [(i, self.seconds[i]) for i in cases[:self.most]]

    def judged(self, number, result):
        self.verdicts[number], index = result
        if index is not None:
            self.kills.update([index, (self.mutants[number].function, index)])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sample", type=int, default=0)
    parser.add_argument("--cases", type=int, default=40)
    parser.add_argument("files", nargs="*", metavar="FILE")
    options = parser.parse_args()
    if os.getuid() != 0:
        sys.exit("programs.py: run as root: every case runs as a user of its own")
    options.files = options.files or [name for name in mutate.every_source()
                                      if name.startswith(("executor/", "ipc/"))]
    for suite in SUITES:
        importlib.import_module(suite)
    by_unit = coverage.known_reach()
    every, picked = mutate.chosen(options, lambda m: m.function and
                                  m.function not in by_unit.get(m.file, {}))
    bench = Bench()
    reach, seconds = known_cases()
    kills = collections.Counter()
    failed = mutate.judge(every, picked,
                          lambda _, mutants: Trial(bench, reach, seconds, kills, options.cases,
                                                   mutants),
                          "no case", lambda row: row[1] not in by_unit.get(row[0], {}))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()

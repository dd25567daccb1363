#!/usr/bin/python3 -B
# SPDX-License-Identifier: ISC
"""cofferdam, killed with SIGKILL at its system calls.  Run as root.

    tests/e2e/test_crash.py [WORD...]                    the scripted docker client
    tests/engine.sh tests/e2e/test_crash.py [WORD...]    a real engine, every client on PATH

tests/e2e/stepper.c takes the program from one system call to the next and kills it before or
after one of them, alone or with its guardian.  What must hold afterwards:

    alone    its guardian lives: nothing is left, and nobody has reaped; the next launch succeeds.
    beside   the same, and the next launch is not even kept waiting for the guardian: it succeeds,
             or says that the mount is in use, while it may be.
    both     no lock is held; the next launch succeeds at once, or says that the mount is in use
             when a container is really there that is not yet known to be an orphan; after the
             quiet period one reap leaves nothing.

A launch that is killed before it has a guardian is held to what stands under "both": it has
created no container.

CRASH=1 tries every stop, from the first until the program ends unharmed, CRASH=N every N-th;
without it, the stops around the calls that change something, and some of the rest.  Ends with the
number of points tried, by the step of the launch in which they fell.
"""

import os
import py_compile
import shutil
import sys
import threading
import time
from collections import Counter

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import harness  # noqa: E402
from harness import (SAFETY, TESTS, TREE, Case, Failure, Tree, equal, holds, main,  # noqa: E402
                     show)

ENGINE = "ENGINE_SOCKET" in os.environ
if ENGINE:
    import test_engine
    TESTS.clear()

PACE = int(os.environ.get("CRASH") or 0)
STEPPER = os.environ.get("STEPPER", TREE + "/build/tests/e2e/stepper")
JOBS = 8 if ENGINE else 16  # most of the time they wait
STRIDE = 29  # of the stops that change nothing, without CRASH

# executor/launch.c, reap.c: a claim that does not say "created" is an orphan's when it is older
# than this, in whole seconds.
QUIET_SECONDS = 4

# The steps of a launch, each told by the first call that only it makes once the one above has
# begun: (step, call, how often, what its arguments are).  A launch that runs to its end must pass
# all of them, or this table is out of date.
NEW_CLAIM = os.O_CREAT | os.O_EXCL | os.O_APPEND
START = ("start", "openat", 1, lambda a: a[2] & os.O_PATH)
RUN_STEPS = [
    ("set up", "execve", 1, lambda a: True),
    ("turn", "poll", 1, lambda a: True),
    ("decide", "socketpair", 1, lambda a: True),
    ("gate", "memfd_create", 4, lambda a: True),
    ("reap", "openat", 1, lambda a: a[2] & os.O_DIRECTORY),
    ("lock", "openat", 1, lambda a: a[2] & os.O_CREAT),
    ("claim", "openat", 1, lambda a: a[2] & NEW_CLAIM == NEW_CLAIM),
    ("guard", "pipe2", 1, lambda a: True),
    ("create", "openat", 1, lambda a: a[2] & os.O_PATH),
    ("check", "pipe2", 1, lambda a: True),
    ("unlock", "newfstatat", 1, lambda a: True),
    START,
    ("result", "memfd_create", 4, lambda a: True),
    ("remove", "memfd_create", 2, lambda a: True),
    ("drop claim", "newfstatat", 1, lambda a: True),
    ("release", "poll", 1, lambda a: True),
    ("report", "write", 1, lambda a: a[2] == 1),
]
# A session looks at its worker as often as need be: nothing tells its last steps apart.
SESSION_STEPS = [row for row in RUN_STEPS[:RUN_STEPS.index(START)] if row[0] != "turn"] + [
    ("work, result, remove", *START[1:]),
    ("drop claim", "unlinkat", 1, lambda a: True),
    ("report", "write", 1, lambda a: a[2] == 1),
]
# Commands on what is there already: set up, then docker.
MANAGED_STEPS = [
    ("set up", "execve", 1, lambda a: True),
    ("work", "chdir", 1, lambda a: True),
]
# docker's children among those that a step forks, by number; the others are policy's.
RUN_FORKS = [("create", 1), ("check", 1), ("check", 3), ("start", 1), ("result", 1),
                ("remove", 1), ("remove", 2)]
SESSION_FORKS = [("create", 1), ("check", 1), ("check", 3), ("work, result, remove", 1)]

# The steps in which a container may be there.
WITH_CONTAINER = ("create", "check", "unlock", "start", "result", "remove",
                  "work, result, remove")

# Calls that change what others see, or begin something.
TELLING = ("clone", "flock", "unlinkat", "linkat", "renameat2", "mkdirat", "write")


class Stop:
    """One line of the stepper's log."""

    def __init__(self, line):
        number, side, self.call, *rest = line.split()
        self.number = int(number)
        self.out = side == "out"
        self.args = [int(word) for word in rest]
        self.step = ""
        self.nth = 0  # of this call, so far

    def changes(self):
        """The first of these is the first that others can see."""
        return self.call in ("mkdir", "mkdirat", "clone") or \
            self.call == "openat" and not self.out and bool(self.args[2] & os.O_CREAT)

    def point(self):
        return "%s:%d:%s" % (self.call, self.nth, "out" if self.out else "in")


class Log:
    """What the program did, and how it ended: killed, or with an exit status."""

    def __init__(self, path, scenario):
        with open(path) as file:
            *lines, last = file.read().splitlines()
        self.stops = [Stop(line) for line in lines]
        word, self.number = last.split()[0], int(last.split()[1])
        self.killed = word == "killed"
        # A guardian is a launch's; reap makes claims too.
        self.guardian = self.number if self.killed and scenario.forks else 0
        self.steps = scenario.steps
        self.place()

    def place(self):
        seen, counts, reached = Counter(), Counter(), 0
        for stop in self.stops:
            seen[stop.call] += not stop.out
            stop.nth = seen[stop.call]
            if reached < len(self.steps) and self.find_mark(stop, counts, reached):
                reached += 1
                counts.clear()
            stop.step = self.steps[max(reached, 1) - 1][0]
        self.reached = reached

    def find_mark(self, stop, counts, reached):
        _, call, often, good = self.steps[reached]
        if stop.call != call or stop.out != (call == "execve") or not good(stop.args):
            return False
        counts[call] += 1
        return counts[call] == often

    def tail(self):
        return "\n".join("%d %s %s %s" % (stop.number, "out" if stop.out else "in", stop.call,
                                          stop.args) for stop in self.stops[-6:])


class CrashTree(Tree):
    """Hands a user out again when its case is over: there are thousands of points."""

    def __init__(self):
        super().__init__()
        shutil.copy(STEPPER, self.bin + "/stepper")
        os.chmod(self.bin + "/stepper", 0o755)
        # Compiled once, as it is started some ten thousand times.
        shutil.copy(harness.HERE + "/fake_docker.py", self.bin)
        py_compile.compile(self.bin + "/fake_docker.py", doraise=True)
        self.free = []

    def new_uid(self):
        with self.lock:
            if self.free:
                return self.free.pop()
        return super().new_uid()

    def done(self, case):
        shutil.rmtree(case.dir)
        with self.lock:
            self.free.append(case.uid)


class Crash:
    """What the points of this suite add to a case, of the scripted docker or of an engine."""

    def make(self):
        self.logs = 0
        self.env = {"ASAN_OPTIONS": "detect_leaks=0"}  # which does not work under ptrace
        self.command = "run"
        self.shares = False  # its mounts with another like it
        self.input = self.write("turn.json", self.turn_bytes().decode())
        # Not there: the first launch makes it, with its parents and the id.
        self.state = self.home + "/of/its/own"

    def step(self, scenario, point="0", wait="0", guardian="spare"):
        """Runs the scenario's command to a point, or to its end: the log."""
        self.logs += 1
        path = "%s/log%d" % (self.home, self.logs)
        with open(self.input) as stdin:
            process = self.spawn([self.tree.bin + "/stepper", path, point, wait, guardian,
                                  *scenario.argv(self)],
                                 stdin=stdin)
            result = self.end(process, None)
        holds("the stepper has a log", os.path.exists(path), result.err)
        equal("the stepper's own errors", b"",
              b"".join(line for line in result.err.splitlines() if line.startswith(b"stepper: ")))
        log = Log(path, scenario)
        if log.killed:
            equal("exit status of the stepper; stderr was " + show(result.err), 0, result.status)
        return log

    def gone(self):
        """Waits for the case's processes to end; seldom, for many wait at once."""
        end, pause = time.monotonic() + SAFETY, 0.02
        while self.processes() and time.monotonic() < end:
            time.sleep(pause)
            pause = min(2 * pause, 0.3)
        equal("processes left", [], self.processes())

    def claims(self):
        path = self.state + "/claims"
        return sorted(path + "/" + name for name in os.listdir(path)) \
            if os.path.isdir(path) else []

    def created(self):
        """The claims say that they have a container, and so are an orphan's at once."""
        texts = [open(path).read() for path in self.claims()]
        return texts != [] and all("\ncreated " in text for text in texts)

    def wait_quiet(self):
        """Until a claim that does not say "created" is old enough."""
        for path in self.claims():
            while not self.created() and \
                    int(time.time()) - int(os.stat(path).st_mtime) <= QUIET_SECONDS:
                time.sleep(0.2)

    def locks(self):
        for path in self.state_files():
            self.unlocked(path)

    def nothing(self):
        self.gone()
        equal("containers left", [], self.containers())
        equal("claims left", [], self.claims())
        self.locks()

    def another(self):
        return self.run(command=self.command)

    def launch(self):
        self.expect(self.another(), 0, out=self.reply)

    def mend(self):
        """Nobody is left to clean up: the next launch, and a reap."""
        self.gone()
        self.locks()
        there, created = self.containers(), self.created()
        second = self.another()
        if second.status == 75 and not created and (there or self.containers()):
            self.expect(second, 75, "SANDBOX_BUSY mount.in_use")
        else:
            self.expect(second, 0, out=self.reply)
            holds("a launch beside a container that is there is refused",
                  self.shares or created or not there or not self.containers(), there)
        if self.claims() or self.containers():
            self.wait_quiet()
            self.expect(self.manage("reap"), 0, out=None)
        self.nothing()
        if second.status == 75:
            self.launch()
            self.nothing()

    def left_by_a_crash(self):
        """An orphan: its claim says "created", and nobody holds it."""
        log = self.step(RUN, "pipe2:4:in", guardian="kill")
        holds("a launch was killed, with its guardian", log.guardian > 0, log.tail())
        self.gone()
        equal("the orphan's claim says that it was created", (True, 1, 1),
              (self.created(), len(self.claims()), len(self.containers())))


FAKE = """#!/usr/bin/python3 -IS
import os, sys
sys.dont_write_bytecode = True
sys.path.insert(0, "%s")
import fake_docker
fake_docker.HERE = "%s"
os._exit(fake_docker.Fake().run())
"""


class FakeCrash(Crash, Case):
    reply = b'{"ok":true,"text":"hello"}\n'

    def __init__(self, tree, name, number):
        super().__init__(tree, name)
        self.use_fake()
        self.write("bin/docker", FAKE % (tree.bin, os.path.dirname(self.docker)), 0o755)
        self.make()


if ENGINE:
    class EngineCrash(Crash, test_engine.EngineCase):
        reply = b'{"ok":true,"text":"hello"}\n'

        def __init__(self, tree, name, number):
            clients = test_engine.CLIENTS
            super().__init__(tree, name, clients[number % len(clients)])
            self.say("say hello")
            self.make()


# --- what is killed ------------------------------------------------------------

def no_preparation(case):
    pass


def session(case):
    grant = case.own_dir("home/grant")
    case.command = "session"
    case.shares = True
    case.config.update({
        "mode": "session", "session": {"key": "chat 7", "revision": 3},
        "mounts": [{"host": case.workspace, "guest": "/workspace", "mode": "rw"},
                   {"host": grant, "guest": "/grants/" + "c0ffee00" * 8, "mode": "ro"}]})
    del case.config["limits"]["turnSeconds"]


def orphan(case):
    case.left_by_a_crash()


def orphan_without_claim(case):
    case.left_by_a_crash()
    for path in case.claims():
        os.unlink(path)


def managed(case, *words):
    return [case.tree.bin + "/cofferdam", words[0], "--host", case.config["docker"]["host"],
            "--state-dir", case.state, "--docker", case.docker, *words[1:]]


def launch(case):
    return case.argv(case.command, (), case.config)


def reap(case):
    return managed(case, "reap")


def stop(case):
    return managed(case, "stop", os.path.basename(case.claims()[0]))


class Scenario:
    def __init__(self, name, argv, steps, prepare=no_preparation, forks=(), only=None,
                 parts=JOBS):
        self.name = name
        self.argv = argv
        self.steps = steps
        self.prepare = prepare
        self.forks = forks  # docker's, of what has a guardian: all modes
        self.only = only  # the steps of interest; none: all
        self.parts = JOBS if PACE else parts  # tests that share the points


RUN = Scenario("run", launch, RUN_STEPS, forks=RUN_FORKS, parts=7 if ENGINE else 16)
SCENARIOS = [
    RUN,
    Scenario("session", launch, SESSION_STEPS, session, forks=SESSION_FORKS, parts=8),
    Scenario("run that reaps an orphan", launch, RUN_STEPS, orphan, only=("reap",), parts=4),
    Scenario("reap", reap, MANAGED_STEPS, orphan, parts=4),
    Scenario("reap, no claim", reap, MANAGED_STEPS, orphan_without_claim, parts=6),
    Scenario("stop", stop, MANAGED_STEPS, orphan, parts=4),
]
# An engine makes no difference before docker is called.
ENGINE_STEPS = ("create", "check", "unlock", "start", "result", "remove", "drop claim")
if ENGINE:
    RUN.only = ENGINE_STEPS
    SCENARIOS = [RUN]


# --- one point -----------------------------------------------------------------

MODES = ("alone", "beside", "both")


class Tally:
    """Points tried: by scenario, what was killed, step."""

    def __init__(self):
        self.lock = threading.Lock()
        self.count = {}
        self.order = []

    def add(self, scenario, mode, step):
        with self.lock:
            row = self.count.setdefault((scenario.name, mode), Counter())
            row[step] += 1

    def tell(self):
        for scenario in SCENARIOS:
            for mode in ("no guardian yet", *MODES):
                row = self.count.get((scenario.name, mode))
                if row:
                    by_step = ", ".join("%s %d" % (step, row[step]) for step, *_ in scenario.steps
                                        if row[step])
                    print("# killed: %s, %s: %d points: %s"
                          % (scenario.name, mode, sum(row.values()), by_step), flush=True)


TALLY = Tally()
REFERENCE = {}  # a scenario's unharmed run, for the choice of points


def new_case(tree, scenario, number):
    name = "%s %s" % (scenario.name, number)
    return EngineCrash(tree, name, number) if ENGINE else FakeCrash(tree, name, number)


def try_point(tree, scenario, mode, number, point, wait="0"):
    """One kill and what follows.  False when the program ended before the point."""
    case = new_case(tree, scenario, number)
    log = None
    try:
        scenario.prepare(case)
        log = case.step(scenario, point, wait, "kill" if mode == "both" else "spare")
        if not log.killed:
            equal("exit status of what was not killed", 0, log.number)
            case.nothing()
            return False
        step = log.stops[-1].step
        if scenario.only and step not in scenario.only:
            case.gone()
            case.kill_all()
            return True
        check(case, mode, log)
        TALLY.add(scenario, mode if log.guardian else "no guardian yet", step)
    except Failure as failure:
        raise Failure("%s, %s, killed at %s (wait %s), %s\n%s\n%s" % (
            scenario.name, mode, point, wait, case.dir, failure, log.tail() if log else ""))
    finally:
        if sys.exc_info()[0] is None:
            tree.done(case)
    return True


class Quiet:
    """One case for the points before the program changes anything: it must find the world as it
    was, and at last what the other points ask of it must hold of it too."""

    def __init__(self, tree, scenario, log):
        self.tree = tree
        self.scenario = scenario
        changes = [stop.number for stop in log.stops if stop.changes()]
        self.until = changes[0] if changes else 0  # on its way into the call it changed nothing
        self.case = None

    def holds(self, point):
        return point.isdigit() and 0 < int(point) <= self.until

    def world(self):
        case = self.case
        return case.containers(), case.claims(), case.state_files()

    def try_point(self, point):
        if self.case is None:
            self.case = new_case(self.tree, self.scenario, 0)
            self.scenario.prepare(self.case)
        before = self.world()
        log = self.case.step(self.scenario, point)
        self.case.gone()
        equal("containers, claims and files after a kill at " + point, before, self.world())
        self.case.locks()
        TALLY.add(self.scenario, "no guardian yet", log.stops[-1].step)

    def end(self):
        if self.case is not None:
            self.case.mend()
            self.tree.done(self.case)


def check(case, mode, log):
    if mode == "both" or log.guardian == 0:
        case.mend()
        return
    second = case.another() if mode == "beside" else None
    if second and second.status == 75 and log.stops[-1].step in WITH_CONTAINER:
        case.expect(second, 75, "SANDBOX_BUSY mount.in_use")
    elif second:
        case.expect(second, 0, out=case.reply)
    case.nothing()
    case.launch()
    case.nothing()


# --- which points --------------------------------------------------------------

def reference(tree, scenario):
    """An unharmed run of it, which must pass every step."""
    if scenario.name not in REFERENCE:
        case = new_case(tree, scenario, 0)
        scenario.prepare(case)
        log = case.step(scenario)
        equal("exit status of an unharmed run", (False, 0), (log.killed, log.number))
        case.nothing()
        equal("steps that an unharmed run passes", [step for step, *_ in scenario.steps],
              [step for step, *_ in scenario.steps][:log.reached])
        REFERENCE[scenario.name] = log
        tree.done(case)
    return REFERENCE[scenario.name]


def of_interest(scenario, mode, log):
    """The stops of a run in which this scenario, in this mode, is to be killed."""
    forked = [stop.number for stop in log.stops if stop.step == "guard" and stop.out
              and stop.call == "clone"]
    first = 1 if mode == "alone" else forked[0]
    return [stop for stop in log.stops if stop.number >= first
            and (not scenario.only or stop.step in scenario.only)]


def every(scenario, mode, log):
    """(point, wait) of every stop, or every PACE-th; the numbers go on past the reference's last,
    as the program may poll more often in another run."""
    stops = of_interest(scenario, mode, log)
    first = stops[0].number + PACE * MODES.index(mode) // len(MODES)
    last = stops[-1].number + 100 if not scenario.only else stops[-1].number + 10
    return [(str(number), "0") for number in range(first, last, PACE)] + \
        [point for wait in ("ended", "3", "10", "30", "80")
         for point in waiting(scenario, log, wait)]


def waiting(scenario, log, wait):
    """After the fork of each docker child: while it runs, and when it has ended."""
    forks = Counter()
    found = []
    for stop in log.stops:
        if stop.out and stop.call == "clone":
            forks[stop.step] += 1
            if (stop.step, forks[stop.step]) in scenario.forks:
                found.append((stop.point(), wait))
    return found


def some(scenario, mode, log):
    """Around the calls that change something, and every so many of the others."""
    offset = MODES.index(mode) * STRIDE // len(MODES)
    found = []
    for stop in of_interest(scenario, mode, log):
        telling = stop.call in TELLING or stop.call == "openat" and \
            not stop.out and stop.args[2] & os.O_CREAT
        if ENGINE:
            continue
        if mode == "beside" and stop.call != "clone":
            continue
        if telling and stop.out == (mode != "both") and stop.step != "turn":
            found.append((stop.point(), "0"))
        elif stop.number % STRIDE == offset and scenario.prepare is not session:
            found.append((str(stop.number), "0"))
    waits = {"alone": ("10", "ended"), "beside": ("10",), "both": ("0", "ended")}[mode] \
        if ENGINE else ("ended",)
    return found + [point for wait in waits for point in waiting(scenario, log, wait)]


CHOICE_LOCK = threading.Lock()


def shard(tree, scenario, mode, index):
    with CHOICE_LOCK:
        log = reference(tree, scenario)
    points = (every if PACE else some)(scenario, mode, log)
    quiet, problems, ended = Quiet(tree, scenario, log), [], False
    still = [point for point, _ in points if quiet.holds(point)]
    moving = list(enumerate(item for item in points if not quiet.holds(item[0])))
    moving = moving[index::scenario.parts]
    if PACE:
        still = still[index::scenario.parts]
    elif index > 0:
        still = []  # they are few: the first part's
    holds("there are points", moving, points)
    try:
        for point in still:
            quiet.try_point(point)
        quiet.end()
    except Failure as failure:
        problems.append(str(failure))
    for number, (point, wait) in moving:
        if ended and point.isdigit():
            continue
        try:
            ended = not try_point(tree, scenario, mode, number, point, wait) or ended
        except Failure as failure:
            problems.append(str(failure))
    holds("%d points" % len(problems), not problems, "\n".join(problems[:5]))


for SCENARIO in SCENARIOS:
    for MODE in MODES if SCENARIO.forks else ("alone",):
        for INDEX in range(SCENARIO.parts):
            TESTS.append(("%s, %s, part %d of %d" % (SCENARIO.name, MODE, INDEX + 1,
                                                     SCENARIO.parts),
                          lambda tree, s=SCENARIO, m=MODE, i=INDEX: shard(tree, s, m, i)))

if __name__ == "__main__":
    if os.getuid() != 0:
        sys.exit("test_crash.py: run as root: every case runs as a user of its own")
    if not os.path.exists(STEPPER):
        sys.exit("test_crash.py: %s is not built" % STEPPER)
    harness.FIRST_UID += 4100 if ENGINE else 4000
    try:
        main(CrashTree, JOBS)
    finally:
        TALLY.tell()

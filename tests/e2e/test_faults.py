#!/usr/bin/python3 -B
# SPDX-License-Identifier: ISC
"""The fault matrix: what goes wrong, at which step of a launch, and what is left of it.

    test_faults.py [--repeat N] [WORD...]           against a scripted docker client; run as root
    ENGINE_PRIVATE=yes tests/engine.sh test_faults.py --engine [--repeat N] [WORD...]
                                                    against an engine of its own, which it kills

A cell is one launch with one fault at one step.  It is right when the exit status and every
reason on standard error, in their order, are those of its row; when nothing came out but the
reply of a success; when no process, lock, claim or container is left, or the container that is
left is named on standard error with its run and its claim is kept; when `cofferdam reap` then
removes it; and when the next launch of the same user works.  WORDs choose cells by their name.
With --repeat, cells that were not the same each time are listed.
"""

import fcntl
import json
import os
import re
import signal
import subprocess
import sys
import time
import traceback
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import harness  # noqa: E402
from harness import (Case, Failure, Report, Tree, clients, equal, holds,  # noqa: E402
                     orders, version)

# Ignored signals that say nothing of the executor: Python itself ignores SIGPIPE and SIGXFSZ; 32
# and 33 are libc's own.
NOT_OURS = 1 << 12 | 1 << 24 | 1 << 31 | 1 << 32

HELLO = b'{"ok":true,"text":"hello"}\n'

# Steps by the docker command that a launch is at, and what people call them.
STEPS = {"context": "context", "image": "image", "create": "create", "admit": "ls (admit)",
         "verify": "inspect (verify)", "start": "start", "result": "inspect (result)",
         "rm": "rm", "find": "ls (gone)"}
EVERY = tuple(STEPS)
UNDER_WAY = EVERY[1:]  # the endpoint being in the config

CELLS = []


class Cell:
    """One row: fault, step, what is expected; how to bring it about."""

    def __init__(self, fault, step, expected, **how):
        self.fault = fault
        self.step = STEPS.get(step, step)
        self.expected = expected
        self.left = how.pop("left", "0")
        self.rules = how.pop("rules", ())
        self.fake = how.pop("fake", {})  # of use_fake
        self.limits = how.pop("limits", {})
        self.setup = how.pop("setup", None)
        self.options = how.pop("options", None)
        self.launch = how.pop("launch", Case.run)
        self.out = how.pop("out", None)
        self.claims = how.pop("claims", None)
        self.next = how.pop("next", "0")  # what the next launch says
        self.mend = how.pop("mend", None)  # if anything, and then it works
        self.idle = how.pop("idle", False)  # mostly waits: for the wide pool
        self.context = step == "context"
        assert not how, how
        CELLS.append(self)

    def name(self):
        return "%s, %s" % (self.fault, self.step)


class FaultCase(Case):
    """A case whose state directory may be anywhere in its home by the end."""

    def __init__(self, tree, name):
        super().__init__(tree, name)
        self.undo = []
        self.helpers = []

    def state_files(self):
        found = []
        for base, _, names in os.walk(self.home):
            found += [base + "/" + name for name in names if os.path.isfile(base + "/" + name)]
        return sorted(found)

    def settle(self):
        for helper in self.helpers:
            helper.kill()
            helper.communicate()
        super().settle()

    def sealed(self):
        """What every docker child has, whatever else goes wrong."""
        for call in self.calls():
            equal("descriptors of docker " + call["kind"], ["0", "1", "2"], sorted(call["fds"]))
            for number, target in call["fds"].items():
                holds("descriptor %s of docker %s" % (number, call["kind"]),
                      re.match(r"pipe:|/memfd:|/dev/null$", target), target)
            equal("blocked in docker " + call["kind"], 0, int(call["blocked"], 16))
            equal("ignored in docker " + call["kind"], 0, int(call["ignored"], 16) & ~NOT_OURS)


def outcome(result):
    return " ".join([str(result.status)] + [reason for _, reason in result.reasons()])


def what_is_left(case, err):
    """"0", or each container's kind: foreign, or named in full as a residual or not."""
    kinds = []
    for ident, made in case.engine().items():
        labels = made["Config"]["Labels"]
        line = [line for line in err.decode().splitlines() if "REVOKE_INCOMPLETE" in line]
        words = (labels.get("dev.cofferdam.run", "-"), made["Name"][1:], case.socket)
        if "foreign" in labels:
            kinds.append("foreign")
        elif line and all(word in line[0] for word in words):
            known = ident in line[0] or "of unknown id" in line[0]
            kinds.append("named" if known else "named by run and name")
        else:
            kinds.append("NOT NAMED")
    return "%d %s" % (len(kinds), ", ".join(kinds)) if kinds else "0"


def fake_cell(cell, case):
    """Runs one; returns (observed, left) or raises."""
    config = json.loads(json.dumps(case.config))
    case.use_fake(cell.rules, context=case.config["docker"]["host"] if cell.context else "",
                  **cell.fake)
    if cell.context:
        del case.config["docker"]
    case.limit(**cell.limits)
    if cell.setup:
        cell.setup(case)
    in_place(case)
    case.more = cell.options(case) if cell.options else []
    result = cell.launch(case, case.more)
    observed = outcome(result)
    case.printable(result.err)
    out = HELLO if result.status == 0 else b""
    if cell.out is None or cell.out is True:
        equal("standard output", out, result.out)
    case.settle()
    case.sealed()
    left = what_is_left(case, result.err)
    claims = (1 if result.status == 80 else 0) if cell.claims is None else cell.claims
    equal("claims left; it was %s, %s" % (observed, result.err), claims, len(case.claims()))
    for path in case.state_files():
        case.unlocked(path)
    case.config = config
    if cell.rules and "audit" in cell.fault:
        case.more = []
    orders(case)
    if result.status == 80:
        reap(case)
    again(cell, case)
    return observed, left


def reap(case):
    """What was left is gone after one reap; the quiet period of a create is made to be over."""
    for path in case.claims():
        os.utime(path, (time.time() - 600,) * 2)
    case.expect(case.manage("reap"), 0, out=None)
    equal("containers after reap", "0", what_is_left(case, b""))
    equal("claims after reap", 0, len(case.claims()))


def again(cell, case):
    """The next launch, and once more when something had to be mended."""
    case.config.setdefault("limits", {})
    result = case.run(case.more)
    equal("the next launch; stderr was " + harness.show(result.err), cell.next, outcome(result))
    if cell.mend:
        cell.mend(case)
        result = case.run(case.more)
        equal("the launch after it was mended; stderr was " + harness.show(result.err), "0",
              outcome(result))
        for path in case.claims():
            os.utime(path, (time.time() - 600,) * 2)
        case.expect(case.manage("reap"), 0, out=None)
    case.nothing_left()


# --- docker's client misbehaves ----------------------------------------------

LATE, FAILED, NO_ID = "69 docker.deadline", "69 docker.failed", "69 docker.create"
ASK = ("69 context.answer", "69 image.answer")
LOST = ("69 context.answer", "69 image.absent")  # with docker's exit status
SAYS = tuple(text + " docker.failed" for text in LOST)  # and what docker wrote, in a second line
FINE = ("0",) * 9


def says(text):
    return {"worker": {"stdout": text}}


# Fault, rule, the worker's output instead at start (where the client prints nothing else), and
# what is expected at each step.  rm and the ls that confirms are tried again.
CLIENT = [
    ("client hangs at once", {"hang": "before", "stubborn": True}, {},
     (LATE, LATE, LATE, LATE, LATE, "124 turn.deadline", LATE, "0", "0")),
    ("client hangs when done", {"hang": "after"}, {},
     (LATE, LATE, LATE, LATE, LATE, "124 turn.deadline", LATE, "0", "0")),
    ("client is killed at once", {"effect": False, "die": 9}, {},
     (*LOST, NO_ID, FAILED, FAILED, "69 worker.never_ran", FAILED, "0", "0")),
    # At start, the worker has ended well: but who knows what was lost with the connection.
    ("client is killed when done", {"die": 9}, {},
     (*LOST, NO_ID, FAILED, FAILED, FAILED, FAILED, "0", "0")),
    ("client exits 1 at once", {"effect": False, "exit": 1, "say": "no\n"}, {},
     (*SAYS, NO_ID, FAILED, FAILED, "69 worker.never_ran", FAILED, "0", "0")),
    ("client exits 1 when done", {"exit": 1, "say": "no\n"}, {},
     (*SAYS, NO_ID, FAILED, FAILED, FAILED, FAILED, "0", "0")),
    # An ls that says nothing, after rm did its work, is right.
    ("client says 0, did nothing", {"effect": False}, {},
     (*ASK, NO_ID, "69 managed.unknown", "69 verify.answer", "69 worker.never_ran", FAILED,
      "0", "0")),
    ("client prints garbage", {"out": "\x1b[31m?\0\n"}, says("\x1b[31m?\0\n"),
     (*ASK, NO_ID, "69 managed.unknown", "69 verify.answer", "76 json.control", FAILED, "0", "0")),
    ("client's output is cut short", {"cut": True}, says('{"ok":true,"te'),
     (*ASK, NO_ID, "69 managed.unknown", "69 verify.answer", "76 json.truncated", FAILED,
      "0", "0")),
    ("client prints nothing", {"out": ""}, says(""),
     (*ASK, NO_ID, "69 managed.unknown", "69 verify.answer", "76 json.empty", FAILED, "0", "0")),
    ("client prints it twice", {"twice": True}, says(HELLO.decode() * 2),
     (*ASK, NO_ID, "69 managed.unknown", "69 verify.answer", "76 json.trailing", FAILED,
      "0", "0")),
    # A warning about the container may be about a limit; all other text is for people.
    ("client warns", {"say": "WARNING: no swap\x1b[31m\n"}, {},
     ("0", "0", "77 docker.warning", "0", "0", "0", "0", "0", "0")),
    ("client floods stdout", {"flood": 3000000}, {},
     (*ASK, NO_ID, "69 managed.unknown", "69 verify.answer", "76 json.too_large", FAILED,
      "0", "0")),
    # At start it is the worker's standard error.
    ("client floods stderr", {"flood_err": 3000000}, {},
     ("0", "0", "77 docker.warning", "0", "0", "1 worker.stderr", "0", "0", "0")),
]

for fault, rule, worker, expected in CLIENT:
    hangs = "hang" in rule
    for step, text in zip(EVERY, expected):
        Cell(fault, step, text, rules=[dict(rule, on=step, nth=1)],
             fake=worker if step == "start" else {}, idle=hangs,
             limits={"controlSeconds": 6, "turnSeconds": 6} if hangs else {})


# --- the engine does --------------------------------------------------------


def only(step):
    """Of the two checks, which run side by side, the other does not end by itself."""
    other = {"admit": "verify", "verify": "admit"}.get(step)
    return [{"on": other, "nth": 1, "hang": "before"}] if other else []


SHORT = {"removeSeconds": 4, "controlSeconds": 3}
STAYS = "80 remove.unconfirmed"
IN_PROGRESS = "Error response from daemon: removal of container x is already in progress\n"
BUSY = "Error response from daemon: device or resource busy\n"

for fault, rule in (("client is killed", {"die": 9}), ("client exits 1", {"exit": 1}),
                    ("client says 0", {}), ("client prints an id", {"out": "a" * 64 + "\n"})):
    # The id that it prints is nobody's: what is looked for are our own labels.
    Cell("late create, " + fault, "create",
         NO_ID if "out" not in rule else "69 managed.unknown",
         rules=[dict(rule, on="create", late=1)] + only("admit"), idle=True)
Cell("late create, client hangs", "create", LATE, idle=True, limits={"controlSeconds": 6},
     rules=[{"on": "create", "late": 1, "hang": "after"}])
Cell("late create, SIGTERM", "create", "143 signal", idle=True,
     rules=[{"on": "create", "late": 1, "hang": "after", "signal_parent": [15, "after"]}])

for fault, rule, left in (
        ("rm always says 0, does nothing", {"on": "rm", "effect": False}, "1 named"),
        ("rm always fails", {"on": "rm", "effect": False, "exit": 1, "say": BUSY}, "1 named"),
        ("rm always hangs", {"on": "rm", "hang": "before", "stubborn": True}, "1 named"),
        ("ls always hangs", {"on": "find", "hang": "before"}, "0"),
        ("ls always fails", {"on": "find", "effect": False, "exit": 1}, "0"),
        ("ls always says that it is there", {"on": "find", "out": "a" * 64 + "\n"}, "0"),
        ("ls always prints garbage", {"on": "find", "out": "?\n"}, "0")):
    # Not confirmed gone is not gone, whatever is true.
    step = rule["on"]
    Cell(fault, step, STAYS, rules=[rule], limits=SHORT, left=left, claims=1, idle=True)
    Cell(fault + ", worker failed", step, "80 worker.exit remove.unconfirmed", rules=[rule],
         limits=SHORT, left=left, claims=1, idle=True, fake={"worker": {"exit": 3}})
    # The create's outcome being unknown, there is no id: what was not made must be named too.
    Cell(fault + ", after a create that was lost", step, "80 docker.create remove.unconfirmed",
         rules=[{"on": "create", "exit": 1}, rule], limits=SHORT, claims=1, idle=True,
         left="1 named by run and name" if "out" in rule and rule["out"][0] == "a" else "1 named")
Cell("rm fails five times", "rm", "0", idle=True,
     rules=[{"on": "rm", "nth": n, "effect": False, "exit": 1, "say": BUSY} for n in range(1, 6)])
Cell("rm: removal in progress, done later", "rm", "0",
     rules=[{"on": "rm", "nth": 1, "late": 0.5, "exit": 1, "say": IN_PROGRESS},
            {"on": "rm", "effect": False, "exit": 1, "say": IN_PROGRESS}])
for step, expected in zip(UNDER_WAY[2:], ("69 managed.unknown", FAILED, "1 worker.vanished",
                                          "1 worker.vanished", "0", "0")):
    Cell("container vanishes", step, expected,
         rules=[{"on": step, "nth": 1, "vanish": True}] + only(step))
Cell("image goes", "create", NO_ID,
     rules=[{"on": "create", "effect": False, "exit": 1,
             "say": "Error response from daemon: No such image: sha256:5a5a\n"}])


def foreign(case):
    """Somebody else's container has our name."""
    made = {"Id": "f" * 64, "Name": "/taken", "Mounts": [], "Created": "",
            "State": {"Status": "created", "Running": False},
            "Config": {"Labels": {"foreign": "1"}, "Image": "x"}}
    case.set_engine({made["Id"]: made})


def no_foreign(case):
    equal("docker was asked to remove the foreign one", False,
          any("f" * 64 in call["argv"] or "taken" in call["argv"] for call in case.calls("rm")))
    case.set_engine({})


for fault, rules, expected in (
        ("name is taken", [], NO_ID),
        ("name is taken, client killed", [{"on": "create", "nth": 1, "effect": False, "die": 9}],
         NO_ID),
        # Its labels are not ours: verify sees that before anything is done to it.
        *(("name is taken, client prints its id, %s" % step,
           [{"on": "create", "nth": 1, "effect": False, "out": "f" * 64 + "\n"}] + only(step),
           expected) for step, expected in (("admit", "69 managed.unknown"),
                                            ("verify", "77 verify.differs")))):
    Cell(fault, "create", expected, rules=rules, setup=foreign, left="1 foreign", mend=no_foreign,
         options=lambda case: ["--name", "taken"], next=NO_ID)


# --- signals to the executor -------------------------------------------------

for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    for step in EVERY:
        for when in ("before", "after"):
            Cell("%s %s" % (number.name, when), step, "%d signal" % (128 + number),
                 rules=[{"on": step, "nth": 1, "signal_parent": [number, when]}])


def feed(process, data):
    process.stdin.write(data)
    process.stdin.close()
    process.stdin = None


def wait_for(what, condition):
    end = time.monotonic() + harness.SAFETY
    while not condition():
        holds("it comes to the state that the cell needs: " + what, time.monotonic() < end)
        time.sleep(0.01)


def policies(case, command):
    """The policy processes of the case's user that are this command."""
    return [int(line.split()[0]) for line in case.processes()
            if re.match(r"\d+ cofferdam-policy %s( |$)" % command, line)]


def while_running(case, options, act):
    process = case.begin(options)
    feed(process, case.turn_bytes())
    wait_for("the worker runs", lambda: os.path.exists(case.fake + "/stdin"))
    act(process)
    return case.end(process, None)


def while_reading(case, options, act):
    """The turn's filter has its first byte and waits for more."""
    process = case.begin(options)
    process.stdin.write(b"{")
    process.stdin.flush()
    wait_for("turn reads", lambda: policies(case, "turn"))
    act(process)
    result = process.wait(timeout=harness.SAFETY)
    process.stdin.close()
    process.stdin = None
    done = case.end(process, None)
    equal("exit status", result, done.status)
    return done


for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    Cell("%s" % number.name, "turn", "%d signal" % (128 + number), launch=lambda case, more, n=number:
         while_reading(case, more, lambda process: process.send_signal(n)))
    Cell("%s" % number.name, "worker runs", "%d signal" % (128 + number),
         fake={"worker": {"hang": True}}, launch=lambda case, more, n=number:
         while_running(case, more, lambda process: process.send_signal(n)))
    Cell("%s" % number.name, "reply stalls", "%d signal" % (128 + number), out=False,
         launch=lambda case, more, n=number: stalled(case, more, n))


# --- the state directory changes --------------------------------------------

CHANGED = "70 lock.changed"
UNSAFE = "77 state.unsafe"
CLAIMED = 'for f in "$S"/claims/*; do [ -f "$f" ] || continue; %s; done'

# Fault, what happens, what mends it, what the next launch says before that, what is expected at
# image, create, admit, verify, start, result, rm, find, and the claims that stay.
STATE = [
    ("claim removed", CLAIMED % 'rm "$f"', None, "0", ("0", *(CHANGED,) * 7), 0),
    # Somebody's own file is left to them: it is no claim of ours, nor of anybody's.
    ("claim replaced", CLAIMED % 'mv "$f" "$S/../was"; cp "$S/../was" "$f"', 'rm -f "$S"/claims/*',
     "0", ("0", *(CHANGED,) * 7), 1),
    ("claim unreadable", CLAIMED % 'chmod 0 "$f"', None, "0", FINE[:8], 0),
    ("claim emptied", CLAIMED % ': >"$f"', None, "0", FINE[:8], 0),
    # All is done by descriptors: where the directory is by now does not matter.
    ("claims moved away", 'mv "$S/claims" "$S/../was"', None, "0", FINE[:8], 0),
    ("claims replaced", 'mv "$S/claims" "$S/../was"; mkdir -m 700 "$S/claims"', None, "0",
     FINE[:8], 0),
    ("claims unreadable", 'chmod 0 "$S/claims"', 'chmod 700 "$S/claims"', UNSAFE,
     ("70 claim.failed", *(CHANGED,) * 7), 1),
    # The lock counts until the container has been checked.
    ("lock removed", 'rm -f "$S/lock"', None, "0", ("0", *(CHANGED,) * 3, *FINE[:4]), 0),
    ("lock replaced", 'rm -f "$S/lock"; : >"$S/new"; mv "$S/new" "$S/lock"', None, "0",
     ("0", *(CHANGED,) * 3, *FINE[:4]), 0),
    ("lock unreadable", ': >>"$S/lock"; chmod 0 "$S/lock"', 'chmod 600 "$S/lock"', UNSAFE,
     (UNSAFE, *FINE[:7]), 0),
    ("id removed", 'rm "$S/id"', None, "0", FINE[:8], 0),
    ("id replaced by a copy", 'cp "$S/id" "$S/new"; mv "$S/new" "$S/id"', 'rm "$S/id"', UNSAFE,
     FINE[:8], 0),
    ("id unreadable", 'chmod 0 "$S/id"', 'chmod 600 "$S/id"', UNSAFE, FINE[:8], 0),
    ("state removed", 'rm -rf "$S"', None, "0",
     (UNSAFE, *("70 lock.changed lock.changed",) * 3, *(CHANGED,) * 4), 0),
    ("state moved away", 'mv "$S" "$S.was"', None, "0", FINE[:8], 0),
    ("state replaced", 'mv "$S" "$S.was"; mkdir -m 700 "$S"', None, "0", FINE[:8], 0),
    ("state unreadable", 'chmod 0 "$S"', 'chmod 700 "$S"', UNSAFE,
     (UNSAFE, *(CHANGED,) * 3, *FINE[:4]), 0),
    ("docker's config appears", 'echo {} >"$S/docker/config.json"',
     'rm "$S/docker/config.json"', UNSAFE, FINE[:8], 0),
]


def shell(script, **more):
    """A rule's script; what S stands for is known when the case is."""
    return dict(more, shell=script)


def in_place(case):
    places = "S='%s'; A='%s'; " % (case.state, case.dir + "/audit")
    case.orders["rules"] = [dict(rule, shell=places + rule["shell"]) if "shell" in rule else rule
                            for rule in case.orders["rules"]]
    case.tell_docker()


def mended_by(script):
    return lambda case: subprocess.run(["/bin/sh", "-ec", "S='%s'; %s" % (case.state, script)],
                                       check=True)


for fault, script, mend, after, expected, claims in STATE:
    for step, text in zip(UNDER_WAY, expected):
        Cell(fault, step, text, rules=[shell(script, on=step, nth=1)], next=after,
             mend=mend and mended_by(mend), claims=0 if step == "image" else claims)


# --- the disk is full --------------------------------------------------------

def small(path, options):
    """A file system of the case's own, as small as that."""
    def setup(case):
        target = path(case)
        os.makedirs(target, exist_ok=True)
        subprocess.run(["mount", "-t", "tmpfs", "-o", "%s,mode=700,uid=%d,gid=%d" % (
            options, case.uid, case.uid), "none", target], check=True)
        case.undo.append(lambda: subprocess.run(["umount", target], check=True))
    return setup


def both(*steps):
    return lambda case: [step(case) for step in steps] and None


STATE_64K = small(lambda case: case.state, "size=64k")
STATE_16 = small(lambda case: case.state, "nr_inodes=16")
FILL = 'cat /dev/zero >"$S/fill" 2>/dev/null || :'
FILES = 'i=0; while : 2>/dev/null >"$S/n$i"; do i=$((i+1)); done'
for fault, setup, script, mend in (
        ("disk full", STATE_64K, FILL, 'rm "$S/fill"'),
        ("no inode", STATE_16, "( %s ) || :" % FILES, 'rm "$S"/n*')):
    Cell(fault, "id", UNSAFE, setup=both(setup, mended_by(script)), mend=mended_by(mend),
         next=UNSAFE)
    Cell(fault, "lock", UNSAFE, setup=setup, rules=[shell(script, on="image")],
         mend=mended_by(mend), next=UNSAFE)
    # What is left is the lock's.
    one = 'truncate -s -4096 "$S/fill"' if fault == "disk full" else 'rm "$S/n0"'
    Cell(fault, "claim", "70 claim.failed", setup=setup,
         rules=[shell(script + "; " + one, on="image")], mend=mended_by(mend),
         next="70 claim.failed")


# --- the audit file ----------------------------------------------------------

def audit_setup(kind, required):
    def setup(case):
        if required is not None:
            case.config["audit"] = {"required": required}
        case.own_dir("audit", 0o700)
        if kind == "full":
            small(lambda case: case.dir + "/audit", "size=64k")(case)
            return
        os.mkfifo(case.dir + "/audit/log", 0o600)
        os.chown(case.dir + "/audit/log", case.uid, case.uid)
        if kind == "stalls":
            held = os.open(case.dir + "/audit/log", os.O_RDONLY | os.O_NONBLOCK)
            case.undo.append(lambda: os.close(held))
        else:
            # It reads before it says so: cofferdam refuses a FIFO that nobody reads.
            case.helpers.append(case.spawn(
                ["/bin/sh", "-c", 'exec 3<>"$0/log"; echo $$ >"$0/pid"; exec cat <&3',
                 case.dir + "/audit"], stdout=subprocess.DEVNULL))
            wait_for("the reader has its number", lambda: os.path.exists(case.dir + "/audit/pid"))
    return setup


GONE = ('kill -9 "$(cat "$A/pid")"; '
        'while dd if=/dev/null "of=$A/log" oflag=nonblock conv=notrunc count=0 2>/dev/null; '
        'do sleep 0.02; done')
AUDIT = {
    "full": ("audit: disk full", 'cat /dev/zero >>"$A/log" 2>/dev/null || :'),
    "gone": ("audit: reader gone", GONE),
    "stalls": ("audit: nobody reads", 'dd if=/dev/zero "of=$A/log" oflag=nonblock conv=notrunc '
                                      'bs=4096 count=64 2>/dev/null || :'),
}
# The event that cannot be written, and the step before it.
EVENTS = (("decision", "image"), ("launch", "verify"), ("exit", "result"), ("removed", "find"))
for kind, (fault, script) in AUDIT.items():
    for required, said in ((True, "required"), (None, "unset"), (False, "not required")):
        for number, (event, step) in enumerate(EVENTS):
            # The later events are no better; every one is told.
            lost = "77 " + " ".join(["audit.event"] * {1: 2, 2: 2, 3: 1}.get(number, 0))
            Cell("%s, %s" % (fault, said), event,
                 "0" if required is False else "77 audit.write" if number == 0 else lost,
                 setup=audit_setup(kind, required), rules=[shell(script, on=step, nth=1)],
                 options=lambda case: ["--audit", case.dir + "/audit/log"], idle=kind == "stalls")


# --- the policy processes ----------------------------------------------------

CRASHED, SLOW = "70 policy.crashed", "124 policy.deadline"
AT = (("decide", "context"), ("decide", "image"), ("admit", "admit"), ("verify", "verify"),
      ("reply", "start"))
for fault, number, expected in (("killed", signal.SIGKILL, CRASHED),
                                ("stopped", signal.SIGSTOP, SLOW)):
    Cell("policy turn " + fault, "turn", expected, idle=fault == "stopped",
         launch=lambda case, more, n=number: while_reading(
             case, more, lambda process: os.kill(policies(case, "turn")[0], n)))
    for command, step in AT:
        Cell("policy %s %s" % (command, fault), step, expected, idle=fault == "stopped",
             rules=[{"on": step, "nth": 1, "policy": [command, number]}],
             limits={"controlSeconds": 6, "turnSeconds": 6} if fault == "stopped" else {})


# --- the worker --------------------------------------------------------------

for fault, worker, expected in (
        ("worker floods stdout", {"stdout": ["x", 3 << 20]}, "76 json.too_large"),
        ("worker floods stdout, fails", {"stdout": ["x", 3 << 20], "exit": 3},
         "76 json.too_large"),
        ("worker floods stderr", {"stderr": ["e", 200000]}, "1 worker.stderr"),
        ("worker never reads stdin", {"deaf": True}, "0"),
        ("worker closes stdin", {"deaf": "close"}, "0"),
        ("worker never ends", {"hang": True}, "124 turn.deadline"),
        ("worker replies, never ends", {"hang": True, "stdout": HELLO.decode()},
         "124 turn.deadline"),
        ("worker ends at once", {"stdout": "", "deaf": True}, "76 json.empty"),
        ("worker fails at once", {"stdout": "", "deaf": True, "exit": 3}, "1 worker.exit"),
        ("worker replies, fails", {"exit": 3}, "1 worker.exit"),
        ("worker is killed", {"exit": 137}, "1 worker.exit"),
        ("worker is killed for memory", {"exit": 137, "oom": True}, "1 worker.exit"),
        ("worker leaves a process", {"leaves": True}, "0"),
        ("worker cannot start", {"start_fails": "exec: no such file"}, "69 worker.never_ran")):
    Cell(fault, "worker runs", expected, fake={"worker": worker}, idle="hang" in worker,
         limits={"turnSeconds": 3} if "hang" in worker else {},
         setup=lambda case: case.turn.update(text="x" * 30000, prompt="y" * 200000))


# --- the caller --------------------------------------------------------------

def gives(data):
    return lambda case, more: case.end(case.begin(more), data)


def holds_on(data):
    """Writes so much and keeps its end open."""
    def launch(case, more):
        process = case.begin(more)
        process.stdin.write(data)
        process.stdin.flush()
        process.wait(timeout=harness.SAFETY)
        feed(process, b"")
        return case.end(process, None)
    return launch


def reader_gone(case, more):
    reading, writing = os.pipe()
    os.close(reading)
    process = case.begin(more, stdout=writing)
    os.close(writing)
    return case.end(process, case.turn_bytes())


def stalled(case, more, number):
    """The reply is larger than the pipe, and nobody reads: only a signal ends that."""
    orders(case, worker={"stdout": '{"ok":true,"text":"%s"}' % ("x" * 100000)})
    reading, writing = os.pipe()
    try:
        process = case.begin(more, stdout=writing)
        feed(process, case.turn_bytes())
        wait_for("the pipe is full", lambda: fcntl.ioctl(
            reading, 0x541B, b"\0" * 4) >= (61440).to_bytes(4, "little")[:0] and
            int.from_bytes(fcntl.ioctl(reading, 0x541B, b"\0" * 4), "little") > 61440)
        equal("containers while the reply waits", {}, case.engine())
        process.send_signal(number)
        return case.end(process, None)
    finally:
        os.close(reading)
        os.close(writing)


def full_pipe():
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    try:
        while True:
            os.write(writing, b"x" * 4096)
    except BlockingIOError:
        os.set_blocking(writing, True)
    return reading, writing


def nobody_reads_stderr(case, more):
    reading, writing = full_pipe()
    process = subprocess.Popen(
        case.argv("run", more, case.config), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=writing, env=case.env, cwd="/", user=case.uid, group=case.uid, extra_groups=[],
        start_new_session=True)
    out, _ = process.communicate(case.turn_bytes(), timeout=harness.SAFETY)
    os.close(reading)
    os.close(writing)
    return harness.Result(process.returncode, out, b"")


def nobody_reads_status(full):
    def launch(case, more):
        reading, writing = full_pipe()
        if not full:
            os.close(reading)
        process = case.begin([*more, "--status-fd", str(writing)], pass_fds=[writing])
        os.close(writing)
        result = case.end(process, case.turn_bytes())
        if full:
            os.close(reading)
        return result
    return launch


def wrapped(*wrap, file=False):
    def launch(case, more):
        if file:
            more = ["-t", case.write("turn.json", json.dumps(case.turn)), *more]
        return case.run(more, wrap=wrap)
    return launch


def leaking(case, more):
    kept = [os.open("/etc/passwd", os.O_RDONLY) for _ in range(20)]
    try:
        return case.run(more, pass_fds=kept)
    finally:
        for fd in kept:
            os.close(fd)


Cell("caller closes stdin at once", "turn", "65 json.empty", launch=gives(b""))
Cell("caller closes stdin half-way", "turn", "65 json.truncated", launch=gives(b'{"text":"he'))
Cell("caller never writes", "turn", SLOW, launch=holds_on(b""), idle=True)
Cell("caller stops half-way", "turn", SLOW, launch=holds_on(b'{"text":"he'), idle=True)
Cell("caller closes stdout", "reply", "70 output.write", launch=reader_gone)
Cell("caller does not read stderr", "report", "1", launch=nobody_reads_stderr, idle=True,
     fake={"worker": {"exit": 3}})
Cell("caller does not read --status-fd", "report", "0", launch=nobody_reads_status(True),
     idle=True)
Cell("caller closes --status-fd", "report", "0", launch=nobody_reads_status(False))
for mask in range(8):
    closed = [n for n in range(3) if mask >> n & 1]
    closing = " ".join("%d%s&-" % (n, "<" if n == 0 else ">") for n in closed)
    # A reply that has nowhere to go is a failure, told if there is where.
    Cell("caller starts it without %s" % ("+".join(map(str, closed)) or "nothing"), "all",
         "0" if not mask & 2 else "70" if mask & 4 else "70 output.write",
         launch=wrapped("/bin/sh", "-c", 'exec "$@" ' + closing, "sh", file=True))
for fault, words in (
        ("ignores SIGCHLD, SIGPIPE, ...", ["--ignore-signal=CHLD,PIPE,TERM,INT,HUP"]),
        ("blocks every signal", ["--block-signal"]),
        ("ignores and blocks", ["--ignore-signal=CHLD,PIPE", "--block-signal=CHLD,PIPE,TERM"])):
    Cell("caller " + fault, "all", "0", launch=wrapped("/usr/bin/env", *words))
    Cell("caller %s; SIGTERM" % fault, "create", "143 signal",
         rules=[{"on": "create", "nth": 1, "signal_parent": [15, "after"]}],
         launch=wrapped("/usr/bin/env", *words))
Cell("caller leaks 20 descriptors", "all", "0", launch=leaking)


# --- a real engine -----------------------------------------------------------

SOCKET = os.environ.get("ENGINE_SOCKET", "")
AGAIN = os.environ.get("ENGINE_AGAIN", "")
IMAGE = os.environ.get("ENGINE_IMAGE", "")

# Stands before the real client: tells the test which command it is about to run, or has run, and
# waits for leave to go on; once, at the step and moment that the file "stop" names.
WRAPPER = """#!/bin/sh
dir=${0%%/*}
case "$3 $4 $*" in
"image inspect"*) kind=image ;;
"container create"*) kind=create ;;
"container ls"*dev.cofferdam.roots*) kind=admit ;;
"container ls"*) kind=find ;;
"container inspect"*"{{json .}}"*) kind=verify ;;
"container inspect"*) kind=result ;;
"container start"*) kind=start ;;
*) kind=rm ;;
esac
echo $kind >>"$dir/log"
read -r stop <"$dir/stop"
[ "$stop" != "$kind before" ] || { echo >"$dir/at"; read -r _ <"$dir/go"; }
[ "$stop" = "$kind after" ] || exec %s "$@"
%s "$@"
status=$?
echo >"$dir/at"
read -r _ <"$dir/go"
exit $status
"""


class EngineFault(FaultCase):
    """A launch against the engine that can be stopped at a docker command."""

    def __init__(self, tree, name, client):
        super().__init__(tree, name)
        self.client = client
        self.groups = [int(os.environ["ENGINE_GID"])]
        self.config["image"] = IMAGE
        self.config["docker"]["host"] = "unix://" + SOCKET
        self.socket = SOCKET
        os.mkdir(self.dir + "/bin", 0o755)
        self.docker = self.write("bin/docker", WRAPPER % (client, client), 0o755)
        self.write("bin/log", "")
        os.chmod(self.dir + "/bin/log", 0o666)
        self.fifo = {}
        for kind in ("at", "go"):
            os.mkfifo(self.dir + "/bin/" + kind)
            os.chmod(self.dir + "/bin/" + kind, 0o666)
            self.fifo[kind] = os.open(self.dir + "/bin/" + kind, os.O_RDWR | os.O_NONBLOCK)
            self.undo.append(lambda fd=self.fifo[kind]: os.close(fd))
        self.stop_at("")
        self.turn["text"] = "say hello"

    def stop_at(self, text):
        self.write("bin/stop.new", text + "\n")
        os.rename(self.dir + "/bin/stop.new", self.dir + "/bin/stop")

    def log(self):
        with open(self.dir + "/bin/log") as file:
            return file.read().split()

    def engine_rows(self):
        done = subprocess.run(
            [self.client, "--host", "unix://" + SOCKET, "container", "ls", "--all", "--no-trunc",
             "--filter", "label=dev.cofferdam.state", "--format",
             '{{.ID}} {{.Names}} {{.Label "dev.cofferdam.run"}} {{.State}} '
             '{{.Label "dev.cofferdam.roots"}}'], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Failure("docker container ls\nobserved: " + done.stderr)
        return [row.split(" ", 4) for row in done.stdout.splitlines() if self.dir + "/" in row]

    def containers(self):
        return [row[0] for row in self.engine_rows()]

    def reached(self):
        """Waits until the launch is at its step."""
        def there():
            if self.process.poll() is not None:
                raise Failure("it never came to the step\nobserved: %s %s" % (
                    self.process.returncode, self.process.stderr.read()))
            try:
                return os.read(self.fifo["at"], 1)
            except BlockingIOError:
                return False
        wait_for("it is at its step", there)
        self.stop_at("")
        if self.cell.at in ("admit", "verify"):  # the other of the two is on its way
            wait_for("both checks have begun",
                     lambda: {"admit", "verify"} <= set(self.log()))
        self.seen = len(self.log())

    def processes(self):
        """Without the worker's, of the same user: the engine says whether that is there."""
        return [line for line in super().processes()
                if "/worker" not in line and " sleep " not in line]

    def still_there(self):
        holds("it waits at its step for the others", self.process.poll() is None and
              len(self.log()) == self.seen, self.log())

    def is_running(self):
        # Past its turn: one whose input is cut off before that ends by itself.
        wait_for("the worker sleeps", lambda: any(b"sleep" in subprocess.run(
            [self.client, "--host", "unix://" + SOCKET, "container", "top", ident],
            capture_output=True, check=False).stdout for ident in self.containers()))
        self.seen = len(self.log())

    def let_go(self):
        os.write(self.fifo["go"], b"\n")

    def moved_on(self, commands):
        """Waits until the launch is so many commands further, or has ended."""
        wait_for("it goes on", lambda: self.process.poll() is not None or
                 len(self.log()) >= self.seen + commands)


def client_docker(case, *words):
    done = subprocess.run([case.client, "--host", "unix://" + SOCKET, *words],
                          capture_output=True, text=True, check=False)
    holds("docker " + " ".join(words), done.returncode == 0, done.stderr)
    return done.stdout.strip()


def dockerd():
    """Our own engine's process: the one with our socket on its command line."""
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/cmdline" % name, "rb") as file:
                words = file.read().split(b"\0")
        except OSError:
            continue
        if words[0].endswith(b"dockerd") and b"unix://" + SOCKET.encode() in words:
            return int(name)
    return None


def engine_down(number):
    pid = dockerd()
    os.kill(pid, number)
    wait_for("dockerd has ended", lambda: not os.path.exists("/proc/%d" % pid))


def engine_up():
    with open(AGAIN, "w") as file:
        file.write("again\n")
    wait_for("dockerd answers", lambda: subprocess.run(
        [ENGINE_CLIENTS[0], "--host", "unix://" + SOCKET, "version"], capture_output=True,
        check=False, timeout=harness.SAFETY).returncode == 0)


class EngineCell:
    """One launch of a batch: all that share a fault suffer it together."""

    def __init__(self, fault, client, step, when, expected, left, limits):
        self.fault = "%s, docker %s" % (fault, version(client))
        self.kind = fault
        self.client = client
        self.at = step
        self.when = when
        self.step = STEPS.get(step, step)
        self.expected = expected
        self.left = left
        self.limits = limits

    def name(self):
        return "%s, %s" % (self.fault, self.step)

    def begin(self, tree):
        case = EngineFault(tree, self.name(), self.client)
        case.limit(**self.limits)
        if self.at == "worker runs":
            case.turn["text"] = "sleep 600"
        if self.when:
            case.stop_at("%s %s" % (self.at, self.when))
        case.process = case.begin()
        feed(case.process, case.turn_bytes())
        return case

    def ready(self, case):
        if self.when:
            case.reached()
        else:
            case.is_running()

    def finish(self, case):
        """Of a launch that may end: (observed, left)."""
        result = case.end(case.process, None)
        observed = outcome(result)
        case.printable(result.err)
        equal("standard output", HELLO if result.status == 0 else b"", result.out)
        return result, observed

    def judge(self, case, result, observed):
        """When the engine is there again."""
        case.settle()
        wanted = int(self.left[0])
        if wanted:  # an engine that stood still may yet make it
            wait_for("the residual is there", lambda: len(case.engine_rows()) == wanted)
        kinds = []
        for ident, name, run, _, _ in case.engine_rows():
            line = [line for line in result.err.decode().splitlines()
                    if "REVOKE_INCOMPLETE" in line and name in line and run in line and
                    SOCKET in line and (ident in line or "of unknown id" in line)]
            kinds.append("named" if line else "NOT NAMED")
        left = "%d %s" % (len(kinds), ", ".join(kinds)) if kinds else "0"
        equal("claims left", 1 if result.status == 80 else 0, len(case.claims()))
        for path in case.state_files():
            case.unlocked(path)
        if result.status == 80:
            for path in case.claims():
                os.utime(path, (time.time() - 600,) * 2)
            case.expect(case.manage("reap"), 0, out=None)
        equal("containers after reap", [], case.containers())
        case.limit(controlSeconds=120, removeSeconds=120, turnSeconds=120)
        case.turn["text"] = "say hello"
        case.expect(case.run(), 0, out=HELLO)
        case.nothing_left()
        return observed, left


# --- what is done to the engine, once all of a batch are at their steps ------

def up_again(cases):
    engine_down(signal.SIGKILL)
    engine_up()
    for case in cases:
        case.let_go()


def restarted(cases):
    engine_down(signal.SIGTERM)
    engine_up()
    for case in cases:
        case.let_go()


def down_meanwhile(cases):
    """Back when every launch has met the engine's absence, and goes on or is over."""
    engine_down(signal.SIGKILL)
    for case in cases:
        case.let_go()
    for case in cases:
        case.moved_on(3 if case.cell.at == "worker runs" else 1)
    engine_up()


def not_back_in_time(cases):
    engine_down(signal.SIGKILL)
    for case in cases:
        case.let_go()
    for case in cases:
        case.process.wait(timeout=harness.SAFETY)
    engine_up()


def frozen(cases):
    pid = dockerd()
    os.kill(pid, signal.SIGSTOP)
    for case in cases:
        case.let_go()
    for case in cases:
        case.moved_on(1)
    os.kill(pid, signal.SIGCONT)


def frozen_too_long(cases):
    pid = dockerd()
    os.kill(pid, signal.SIGSTOP)
    for case in cases:
        case.let_go()
    for case in cases:
        case.process.wait(timeout=harness.SAFETY)
    os.kill(pid, signal.SIGCONT)


def removed(cases):
    for case in cases:
        client_docker(case, "container", "rm", "--force", case.containers()[0])
        case.let_go()


def killed(cases):
    for case in cases:
        client_docker(case, "container", "kill", case.containers()[0])
        case.let_go()


# Fault, what is done, limits, {step: (expected, left)}.  Where a launch outlives an engine that
# comes back, image is left out: docker's answers to decide have a deadline of their own, shorter
# than an engine may take.
VANISHED, SLOW_TURN = "1 worker.vanished", "124 turn.deadline"
FROZEN = {"controlSeconds": 20, "turnSeconds": 20}  # all must be at their steps before that
KILLED, STAYED = "80 docker.failed remove.unconfirmed", "1 named"
ENGINE = [
    ("engine killed, up again", up_again, {},
     {"create": ("0", "0"), "admit": ("0", "0"), "verify": ("0", "0"),
      "start": ("0", "0"), "result": ("0", "0"), "rm": ("0", "0"), "find": ("0", "0")}),
    ("engine restarted", restarted, {},
     {"create": ("0", "0"), "admit": ("0", "0"), "verify": ("0", "0"),
      "start": ("0", "0"), "result": ("0", "0"), "rm": ("0", "0"), "find": ("0", "0")}),
    ("engine killed, back later", down_meanwhile, {},
     {"image": (SAYS[1], "0"), "create": (NO_ID, "0"), "admit": (FAILED, "0"),
      "verify": (FAILED, "0"), "start": (FAILED, "0"), "worker runs": (FAILED, "0"),
      "result": (FAILED, "0"), "rm": ("0", "0"), "find": ("0", "0")}),
    ("engine killed, back too late", not_back_in_time, {"removeSeconds": 3},
     {"create": ("80 docker.create remove.unconfirmed", "0"), "admit": (KILLED, STAYED),
      "verify": (KILLED, STAYED), "start": (KILLED, STAYED), "worker runs": (KILLED, STAYED),
      "result": (KILLED, STAYED), "rm": (STAYS, STAYED), "find": (STAYS, "0")}),
    ("engine frozen, goes on", frozen, FROZEN,
     {"image": (LATE, "0"), "create": (LATE, "0"), "admit": (LATE, "0"), "verify": (LATE, "0"),
      "start": (SLOW_TURN, "0"), "worker runs": (SLOW_TURN, "0"), "result": (LATE, "0"),
      "rm": ("0", "0"), "find": ("0", "0")}),
    ("engine frozen too long", frozen_too_long,
     dict(FROZEN, removeSeconds=3),
     # An engine that finds its client gone does not begin the create; reap looks for it all the
     # same, for the quiet period.
     {"create": ("80 docker.deadline remove.unconfirmed", "0"),
      "admit": ("80 docker.deadline remove.unconfirmed", STAYED),
      "verify": ("80 docker.deadline remove.unconfirmed", STAYED),
      "start": ("80 turn.deadline remove.unconfirmed", STAYED),
      "worker runs": ("80 turn.deadline remove.unconfirmed", STAYED),
      "result": ("80 docker.deadline remove.unconfirmed", STAYED), "find": (STAYS, "0")}),
    ("container removed by somebody else", removed, {},
     {"admit": ("69 managed.unknown", "0"), "verify": (FAILED, "0"), "start": (VANISHED, "0"),
      "worker runs": (VANISHED, "0"), "result": (VANISHED, "0"), "rm": ("0", "0"),
      }),
    ("container killed by somebody else", killed, {}, {"worker runs": ("1 worker.exit", "0")}),
]


def engine_batch(fault, act, cells, tree):
    """{cell: (observed, left, problem)}: all begin, suffer, and are judged together."""
    seen = {}
    cases = {}

    def guarded(cell, body, *rest):
        try:
            return body(*rest)
        except Failure as failure:
            seen.setdefault(cell, ("-", "-", str(failure)))
        except Exception:
            seen.setdefault(cell, ("-", "-", traceback.format_exc()))
        return None

    def start(cell):
        case = guarded(cell, cell.begin, tree)
        if case is not None:
            case.cell = cell
            cases[cell] = case
            guarded(cell, cell.ready, case)

    def judge(cell):
        case = cases[cell]
        done = guarded(cell, cell.finish, case)
        if done and cell not in seen:
            row = guarded(cell, cell.judge, case, *done)
            if row:
                observed, left = row
                problem = "" if row == (cell.expected, cell.left) else \
                    "expected: %s, left %s\nobserved: %s, left %s\n%s" % (
                        cell.expected, cell.left, observed, left, harness.show(done[0].err))
                seen[cell] = (observed, left, problem)
            else:
                observed = done[1]
                seen[cell] = (observed, "-", seen[cell][2] + "\n" + harness.show(done[0].err))

    with ThreadPoolExecutor(len(cells)) as pool:
        for late in (False, True):  # the same deadline: image waits for nobody
            list(pool.map(start, [cell for cell in cells if (cell.at == "image") == late]))
        ready = [cell for cell in cells if cell in cases and cell not in seen]
        for cell in cells:
            if cell not in ready and cell in cases:
                cases[cell].process.kill()
        for cell in ready:
            guarded(cell, cases[cell].still_there)
        act([cases[cell] for cell in ready])
        list(pool.map(judge, [cell for cell in cells if cell in cases]))
    for case in cases.values():
        for undo in case.undo:
            undo()
    return seen


def run_engine(cells, report):
    tree = Tree()
    seen = {}
    try:
        for fault, act, _, _ in ENGINE:
            batch = [cell for cell in cells if cell.kind == fault]
            if batch:
                begun = time.monotonic()
                seen.update(engine_batch(fault, act, batch, tree))
                if "TIMES" in os.environ:
                    print("%.1f %s" % (time.monotonic() - begun, fault), flush=True)
            for cell in batch:
                report.one(cell.name(), seen[cell][2])
    finally:
        tree.stop()
        tree.remove()
    return seen


def engine_cells():
    return [EngineCell(fault, client, step, None if step == "worker runs" else "before",
                       expected, left, limits)
            for fault, _, limits, steps in ENGINE for client in ENGINE_CLIENTS
            for step, (expected, left) in steps.items()]


ENGINE_CLIENTS = clients()


# --- the runner --------------------------------------------------------------

def run_cell(tree, cell, body):
    problem, observed, left = None, "-", "-"
    begun = time.monotonic()
    case = None
    try:
        case = FaultCase(tree, cell.name())
        observed, left = body(cell, case)
        equal("outcome", cell.expected, observed)
        equal("containers left", cell.left, left)
    except Failure as failure:
        problem = str(failure)
    except Exception:
        problem = traceback.format_exc()
    finally:
        for undo in reversed(getattr(case, "undo", [])):
            undo()
    if "TIMES" in os.environ:
        print("%.1f %s" % (time.monotonic() - begun, cell.name()), flush=True)
    return observed, left, problem


def print_table(cells, seen):
    rows = [("fault", "step", "expected", "observed", "left")]
    for cell in cells:
        observed, left, problem = seen[cell]
        rows.append((cell.fault, cell.step, cell.expected, ("" if not problem else "! ") + observed,
                     left))
    widths = [max(len(row[at]) for row in rows) for at in range(4)]
    for row in rows:
        print(("| %-*s | %-*s | %-*s | %-*s | %s" % (
            widths[0], row[0], widths[1], row[1], widths[2], row[2], widths[3], row[3],
            row[4])).rstrip())


def run_all(cells, report):
    """Every cell once; those that mostly wait run beside the others, the longest first."""
    tree = Tree()
    seen = {}

    def one(cell):
        seen[cell] = run_cell(tree, cell, fake_cell)
        report.one(cell.name(), seen[cell][2])

    wide = ThreadPoolExecutor(24)
    narrow = ThreadPoolExecutor(2 * (os.cpu_count() or 2))
    try:
        waiting = [(wide if cell.idle else narrow).submit(one, cell) for cell in cells]
        for future in waiting:
            future.result()
    except KeyboardInterrupt:
        for pool in (wide, narrow):
            pool.shutdown(wait=False, cancel_futures=True)
        tree.stop()
        raise
    finally:
        wide.shutdown()
        narrow.shutdown()
        tree.remove()
    return seen


def main():
    words = sys.argv[1:]
    repeats, run_cells, all_cells = 1, run_all, CELLS
    if words[:1] == ["--engine"]:
        words, run_cells, all_cells = words[1:], run_engine, engine_cells()
    if words[:1] == ["--repeat"]:
        repeats, words = int(words[1]), words[2:]
    cells = [cell for cell in all_cells if not words or any(word in cell.name() for word in words)]
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    report = Report()
    runs = []
    for number in range(repeats):
        runs.append(run_cells(cells, report))
        if number == 0:
            print_table(cells, runs[0])
        print("# repeat %d of %d: %d passed, %d failed so far" % (
            number + 1, repeats, report.count["passed"], report.count["failed"]), flush=True)
    unlike = [cell for cell in cells if len({run[cell][:2] for run in runs}) > 1]
    for cell in unlike:
        print("# not the same each time: %s: %s" % (
            cell.name(), sorted({"%s, left %s" % run[cell][:2] for run in runs})))
    print("# %d cells, %d repeats, %d not the same each time" % (len(cells), repeats, len(unlike)))
    print("%d passed, %d failed" % (report.count["passed"], report.count["failed"]))
    sys.exit(1 if report.count["failed"] or not cells else 0)


if __name__ == "__main__":
    if os.getuid() != 0:
        sys.exit("test_faults.py: run as root: every cell runs as a user of its own")
    if "--engine" in sys.argv[1:2] and not AGAIN:
        sys.exit("test_faults.py: run it by ENGINE_PRIVATE=yes tests/engine.sh")
    # Other suites may run at the same time.
    harness.FIRST_UID += 30000 if "--engine" in sys.argv[1:2] else 20000
    main()

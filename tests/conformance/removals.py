#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Replays what the two references did about a container's end with the real `cofferdam run`.

A vector says what `docker run`, `rm`, `ls` and `inspect` did, and what the caller got.  It becomes
orders for the scripted docker of tests/e2e, where there is an engine behind the words: a container
is there, or it is gone.  Each vector is played twice:

  told  the engine is as the reference takes it to be from the words: the container is gone when
        rm says so, it stays when rm says anything else; calls past the list succeed.
  kept  the engine keeps the container, whatever is said: then no reply may come out, the status
        is 80, and the container is named.

Told, a run must end as it would have without a fault in the removal, with nothing left; where the
reference gave up, or went by the words, a row of differences.tsv says why.

outcome of a row:  own      the run ends as it would have ended without the faults of the removal
                   signal   it ends by the signal
                   kept     the reference takes rm's word; ours names the container
                   refuse   the launch is refused
"""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

import managed
from documents import differences, recipe, recipe_text, tell_use, vector_lines

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "e2e"))
import harness  # noqa: E402
from harness import Failure, Tree, equal, holds  # noqa: E402

JOBS = 8
STDERR_OF_RM = 16384
# rm is killed after 5 seconds by the reference, after controlSeconds by ours.
PATIENCE_OF_REFERENCE, CONTROL_SECONDS = 5, 8
# What only waits need not wait long.
SHORT = 0.3
REPLY_BYTES, STDERR_BYTES = 2097152, 131072

# What the reference throws, and the exit statuses of ours that say the same.
STATUS = {
    None: {0}, "exit": {1, 69}, "limit": {1, 76}, "json": {76}, "shape": {76},
    "abort": {143}, "abort-reason": {143}, "cleanup": {80}, "launch": {1, 69, 77},
    "stopped": {1},
    "ENOENT": {69, 77},
    **dict.fromkeys(("path", "overlap", "user", "limits", "name-image", "type"), {77, 78}),
}


# What docker says.

def latin(part):
    """A recipe's bytes as the fake docker's rules have them."""
    return recipe(part).decode("latin-1")


def written(part):
    """The same for the worker's output: [text, times] where it is a mere repetition."""
    if isinstance(part, dict) and "repeat" in part:
        return [latin(part["repeat"]), part["count"]]
    return [latin(part), 1]


class Words:
    """One `rm` of a vector: what it says, and what the reference makes of that."""

    def __init__(self, vector):
        self.vector = vector
        self.text = recipe(vector.get("stderr", "")).decode("utf-8", "replace")
        self.noisy = len(recipe(vector.get("stderr", ""))) > STDERR_OF_RM
        self.killed = vector.get("sleep_s", 0) >= PATIENCE_OF_REFERENCE
        absent = re.search("(?ia)no such (container|object)", self.text)
        busy = re.search(r"(?ia)removal[\s\S]*already in progress", self.text)
        well = vector.get("exit") == 0 and not self.killed
        self.gone = not self.noisy and bool(well or absent)
        self.busy = not self.noisy and not self.gone and bool(busy)
        # For the engine itself exit 0 is a removal, however much is said about it.
        self.removed = self.gone or well

    def rule(self, nth, effect):
        vector = self.vector
        rule = {"on": "rm", "effect": effect, "say": latin(vector.get("stderr", "")),
                "out": recipe(vector.get("stdout", "")).decode("utf-8", "surrogateescape"),
                "exit": vector.get("exit", 0)}
        if nth is not None:
            rule["nth"] = nth
        if "signal" in vector:
            rule["die"] = vector["signal"]
        if "hold_stderr_s" in vector:
            rule["hold"] = SHORT
        if self.killed:
            rule["hang"] = "after"
        elif "sleep_s" in vector:
            rule["sleep"] = SHORT
        return rule


class Scenario:
    """A vector as orders for the fake docker, and both outcomes.

    own     what the run comes to when its container can be removed: an error of STATUS, None
    theirs  what the reference's caller got in the end
    faults  why the two may differ, by the words of the predicates below
    """

    def __init__(self, name):
        self.name = name
        self.rules = []
        self.kept_rules = None  # None: there is nothing to keep
        self.worker = {}
        self.own = None
        self.theirs = None
        self.reply = None  # bytes
        self.faults = set()
        self.creates = True
        self.attempts = None  # rm commands until the container is gone, where that is known
        self.foreign = 0  # containers of others that must be left
        self.abort = None  # "run": a signal once the worker runs
        self.mounts = {}
        self.sources = None  # the canonical ones, in the order of the guests
        self.spec = {}
        self.no_docker = False
        self.stops = False  # two `stop` at once while it runs

    def predicts(self):
        """The status of a told run, by the rows that apply."""
        return STATUS["abort" if "signal-late" in self.faults else self.own]


# The first reference: docker run, then rm until it is gone.

def reply_of(stdout):
    """(error, reply): what the reference finds in a worker's whole output."""
    if len(stdout) > REPLY_BYTES:
        return "limit", None
    try:
        reply = json.loads(stdout.decode("utf-8-sig", "replace"))
    except ValueError:
        return "json", None
    if not isinstance(reply, dict) or not isinstance(reply.get("ok"), bool) or not isinstance(
            reply.get("text"), str):
        return "shape", None
    return None, reply


def end_of_run(scenario, run):
    """What `docker run` did: the worker's doing, or the client's own end."""
    worker = scenario.worker
    if "endless_stdout" in run:
        worker["endless"] = True
        return "limit"
    if "hang_s" in run:
        worker["hang"] = True
        return "abort"
    stdout, stderr = run.get("stdout", ""), run.get("stderr", "")
    worker["stdout"] = written(stdout)
    if stderr:
        worker["stderr"] = written(stderr)
    if "hold_pipes_s" in run:
        scenario.rules.append({"on": "start", "hold": SHORT})
    error, reply = reply_of(recipe(stdout))
    if len(recipe(stderr)) > STDERR_BYTES:
        error = "limit"
    if run.get("signal"):
        scenario.rules.append({"on": "start", "die": run["signal"]})
        return error if error == "limit" else "exit"
    worker["exit"] = run.get("exit", 0)
    if worker["exit"] and error != "limit":
        error = "exit"
    if error is None:
        scenario.reply = json.dumps({"ok": reply["ok"], "text": reply["text"]},
                                    separators=(",", ":"), ensure_ascii=False)
    return error


def removal_of(scenario, calls):
    """The rules of rm, in both plays."""
    left = next((n for n, words in enumerate(calls) if words.removed), len(calls))
    scenario.attempts = left + 1
    scenario.rules += [words.rule(n + 1, n >= left) for n, words in enumerate(calls)]
    last = calls[-1] if calls else Words({"exit": 0})
    scenario.kept_rules = [words.rule(n + 1, False) for n, words in enumerate(calls[:-1])]
    scenario.kept_rules.append(last.rule(None, False))


def rounds(calls, twice):
    """How the reference removes: (its error or None, the words that decided it, in which round)."""
    calls = list(calls)
    for number in range(2 if twice else 1):
        for attempt in range(3):
            words = calls.pop(0) if calls else Words({"exit": 0})
            if words.noisy:
                return "limit", words, number
            if words.gone:
                break
            if not words.busy or attempt == 2:
                return "cleanup", words, number
    return None, words, number


def abort_of(scenario, vector):
    when = vector.get("abort")
    if when == "before":
        scenario.rules.append({"on": "image", "signal_parent": [signal.SIGTERM, "before"]})
        scenario.own, scenario.creates = "abort", False
    elif when in ("rm1", "rm2"):
        first = scenario.attempts if when == "rm1" else scenario.attempts + 1
        for rule in scenario.rules:
            if rule["on"] == "rm" and rule.get("nth") == min(first, int(when[2])):
                rule["signal_parent"] = [signal.SIGTERM, "before"]
                if rule["nth"] <= scenario.attempts:
                    scenario.faults.add("signal-late")
    else:
        scenario.abort = when


def spec_of(scenario, vector):
    spec = vector.get("spec", {})
    scenario.mounts = {key: spec[key] for key in ("runDir", "workspaceDir") if key in spec}
    if any(not path.startswith(("<root>", "/")) for path in scenario.mounts.values()):
        scenario.faults.add("relative")
        scenario.kept_rules = None
    scenario.spec = spec
    if "run_mounts" in vector:
        scenario.sources = [re.search("src=([^,]*)", mount)[1] for mount in vector["run_mounts"]]


def cleanup_scenario(vector):
    scenario = Scenario(vector["id"])
    calls = [Words(rm) for rm in vector["rm"]]
    scenario.own = end_of_run(scenario, vector["run"])
    removal_of(scenario, calls)
    scenario.theirs = vector["error"]
    spec_of(scenario, vector)
    scenario.no_docker = "binary" in vector
    abort_of(scenario, vector)
    if not vector["spawned_run"]:
        scenario.own, scenario.creates, scenario.kept_rules = vector["error"], False, None
        return scenario
    twice = scenario.own not in (None, "json", "shape") or vector.get("abort") in ("rm1", "rm2")
    error, words, number = rounds(calls, twice)
    if error is not None:
        scenario.faults.add("second-round" if number else "noisy" if words.noisy else "gave-up")
    return scenario


def reply_scenario(vector):
    """A reply vector, as far as it is about the process that wrote it."""
    scenario = Scenario(vector["id"])
    run = {key: vector[key] for key in ("stdout", "stderr", "exit", "signal") if key in vector}
    scenario.own = end_of_run(scenario, run)
    removal_of(scenario, [])
    scenario.kept_rules = None  # as in the vectors about removal
    scenario.theirs = vector["error"]
    if vector["accept"]:
        scenario.reply = json.dumps({"ok": vector["reply"]["ok"],
                                     "text": recipe_text(vector["reply"]["text"])},
                                    separators=(",", ":"), ensure_ascii=False)
    return scenario


# The second reference: create, start, and a stop that may be asked for again.

REPLAYED = {"create", "start", "inspect", "rm", "ls-name", "ls-labels", "managed-ls",
            "managed-inspect"}
PADDED = {"create": "create", "inspect": "verify", "image": "image"}


def fails(answer):
    return bool(answer.get("throw")) or answer.get("exit", "0") != "0"


def listed(answer):
    """An `ls` that answered, and names something."""
    return not fails(answer) and bool(answer.get("stdout", "").strip())


def rule_of(on, answer, effect, nth=1):
    """The same end, and the same words."""
    rule = {"on": on, "nth": nth, "effect": effect, "say": answer.get("stderr", ""),
            "exit": int(answer.get("exit", "0")), "out": answer.get("stdout", "")}
    if answer.get("throw"):
        rule["die"] = signal.SIGKILL
    return rule


def labels_of(answer):
    """The labels that an inspect shows; None when it shows nothing that can be read."""
    try:
        record = json.loads(answer.get("stdout", ""))
    except ValueError:
        return None
    if not isinstance(record, dict):
        return None
    config = record.get("Config")
    labels = config.get("Labels") if isinstance(config, dict) else None
    return labels if isinstance(labels, dict) else {}


def is_ours(labels):
    return {labels.get(managed.LABEL + name) for name in ("owner", "session", "revision")} == {
        "<owner>", "s-1", "1"}


def is_replayed(case):
    """Whether this vector is about what becomes of a container."""
    if case.vector.get("pad"):
        return dict(case.vector.get("pad"))["cmd"] in PADDED
    then = [str(step) for step in case.launch().get("then") or []]
    if (case.vector.get("stub_dependent") or managed.is_for_another_platform(case)
            or managed.is_about_the_lock(case) or case.moves or len(case.launches) > 1
            or not set(case.script) <= REPLAYED or case.vector.get("timers")
            or any("rename" in step for step in then)):
        return False
    return bool(then and case.script or "stop-twice-at-once" in then
                or {"create", "start", "rm", "ls-name", "ls-labels"} & set(case.script)
                or managed.loses_an_answer(case))


class Answers:
    """A script's answers, class by class, in the order of the calls."""

    def __init__(self, case):
        self.left = {name: list(case.answers(name)) for name in REPLAYED}

    def next(self, name):
        left = self.left[name]
        answer = left.pop(0) if left else {"default": True}
        return {} if "default" in answer else answer


def failing_launch(scenario, answers):
    """The rules up to the moment at which the second reference has a running worker.  Returns
    (whether there is a container, whether its id is known)."""
    for name in ("managed-ls", "managed-inspect"):
        answer = answers.next(name)
        if fails(answer):
            scenario.rules.append(rule_of("admit", answer, True))
            return True, True
    create = answers.next("create")
    if create:
        exists = bool(create.get("exists")) or not fails(create)
        scenario.rules.append(rule_of("create", create, exists))
        if not fails(create):
            scenario.faults.add("create-output")
        return exists, False
    start = answers.next("start")
    if start.get("throw"):
        scenario.rules.append(rule_of("start", start, False))
        return True, True
    if start.get("running") is False:
        scenario.worker["start_fails"] = "it never ran"
        return True, True
    seen = answers.next("inspect")
    while seen and not fails(seen) and '"Running":false' in seen.get("stdout", ""):
        seen = answers.next("inspect")
    if seen and scenario.own is not None:
        scenario.rules.append(rule_of("verify", dict(seen, exit=seen.get("exit", "1")), True))
        scenario.rules[-1]["exit"] = scenario.rules[-1]["exit"] or 1
    return True, True


def bad_looks(inspect, name, labels):
    """Which of the two looks of a stop, before and after the removal, fail, and how."""
    before = after = None
    if inspect and not listed(dict(inspect, exit=inspect.get("exit", "0"))) or (
            inspect and not fails(inspect) and labels_of(inspect) is None):
        before = dict(inspect, stdout=inspect.get("stdout") or "\n")
    for answer in (name, labels):
        if answer and (fails(answer) or not listed(answer) and answer.get("stdout")):
            after = after or answer
    return before, after


def become_foreign(scenario, known):
    """Somebody else's container has the name by the time of the stop: from the last moment on
    at which docker was asked for ours."""
    scenario.foreign = 1
    scenario.faults.add("foreign")
    moments = ("verify", "create") if known else ("create",)
    rule = next((rule for on in moments for rule in scenario.rules if rule["on"] == on), None)
    if rule is None:
        rule = {"on": "result"}
        scenario.rules.append(rule)
    rule["foreign"] = True


def one_stop(scenario, answers, there, known):
    """The rules of one stop of the second reference: a look at the labels, rm, two listings."""
    inspect, rm, name, labels = (answers.next(n) for n in ("inspect", "rm", "ls-name", "ls-labels"))
    seen = labels_of(inspect) if inspect and not fails(inspect) else None
    if seen is not None and not is_ours(seen):
        become_foreign(scenario, known)
        return
    itself = "<name>" in labels.get("stdout", "")
    gone = name and not fails(name) and not listed(name) and not itself
    before, after = bad_looks(inspect, name, labels)
    looks = [] if known else [before]
    if known and before:
        looks.append(before)
    looks.append(after)
    if inspect and fails(inspect) and gone:
        looks, there = [after], False
        for rule in scenario.rules:
            if rule["on"] == "create":
                rule["effect"] = False
    for nth, look in enumerate(looks, 1):
        if look is not None:
            scenario.rules.append(rule_of("find", look, True, nth))
    stays = there and not gone and (fails(rm) or listed(name) or itself)
    if rm or stays:
        scenario.rules.append(rule_of("rm", rm, not stays))
    if listed(labels) and not itself:
        scenario.faults.add("others")
    elif stays or any(looks):
        scenario.faults.add("gave-up")
        for_ever = [dict(rule) for rule in scenario.rules if rule["on"] in ("rm", "find")]
        for rule in for_ever:
            if rule["on"] == "rm" or not rule["effect"] or any(looks):
                rule.pop("nth")
        scenario.kept_rules = [rule for rule in scenario.rules if rule["on"] not in ("rm", "find")]
        scenario.kept_rules += for_ever


def padded_scenario(case):
    scenario = Scenario(case.name)
    pad = {key: value for key, value in case.vector.get("pad")}
    on = PADDED[pad["cmd"]]
    if "stdout" in pad:
        scenario.rules.append({"on": on, "pad": int(pad["stdout"])})
    if "stderr" in pad:
        scenario.rules.append({"on": on, "flood_err": int(pad["stderr"])})
    scenario.own = scenario.theirs = None if case.accept else "launch"
    if on == "create":
        scenario.faults.add("create-output")
    scenario.creates = on != "image" or case.accept
    return scenario


def stop_scenario(case):
    if case.vector.get("pad"):
        return padded_scenario(case)
    scenario = Scenario(case.name)
    scenario.own = None if case.accept else "launch"
    then = [dict(step) for step in dict(case.expect).get("then") or []]
    answers = Answers(case)
    there, known = failing_launch(scenario, answers)
    residual = case.expect.get("residual") or (then and dict(then[0].get("result") or {}).get(
        "residual"))
    scenario.theirs = "cleanup" if residual else scenario.own
    if "stop-twice-at-once" in [step.get("do") for step in then]:
        scenario.stops = scenario.worker["hang"] = True
        scenario.own = "stopped"
        scenario.theirs = scenario.theirs or "stopped"
    if not case.accept or then:
        one_stop(scenario, answers, there, known)
    return scenario


def struck_by(fault):
    return lambda scenario: fault in scenario.faults


# Those of differences.tsv.
PREDICATES = {
    "believes_rm": lambda scenario: scenario.theirs != "cleanup",
    "failed_in_second_round": struck_by("second-round"),
    "gave_up": struck_by("gave-up"),
    "has_relative_path": struck_by("relative"),
    "heard_noise": struck_by("noisy"),
    "met_somebody_elses": struck_by("foreign"),
    "reads_create_output": struck_by("create-output"),
    "saw_others": struck_by("others"),
    "was_signalled_late": struck_by("signal-late"),
}
TOLD = {"own", "signal", "refuse"}


def explain(scenario, table, outcomes):
    """The rows that say why ours differs here; each is counted."""
    rows = [row for row in table if row.outcome in outcomes and row.applies(scenario)]
    for row in rows:
        row.used += 1
    return rows


# Running and judging.

class Run:
    """One play."""

    def __init__(self, tree, scenario, rules, remove_seconds):
        self.case = harness.Case(tree, scenario.name)
        self.scenario = scenario
        case = self.case
        case.limit(controlSeconds=CONTROL_SECONDS if self.hangs(rules) else 120,
                   removeSeconds=remove_seconds)
        case.use_fake(rules, scenario.worker)
        self.places()
        self.configure(scenario.spec)
        if scenario.no_docker:
            case.docker = "/nonexistent/docker"
        self.result = self.run()

    def configure(self, spec):
        config = self.case.config
        config["user"] = {name: spec.get(name, self.case.uid) for name in ("uid", "gid")}
        config.update({name: spec[name] for name in ("image", "name") if name in spec})
        self.case.limit(**{name: spec[name] for name in ("cpus", "pids") if name in spec})
        if "memoryMb" in spec:
            self.case.limit(memoryBytes=spec["memoryMb"] * 1048576)

    @staticmethod
    def hangs(rules):
        return any("hang" in rule for rule in rules)

    def places(self):
        root = self.case.own_dir("home/root")
        for name in ("run", "ws", "ws/in"):
            self.case.own_dir("home/root/" + name)
        self.case.own_dir("home/root/a,b")
        for name, to in (("run-link", "run"), ("ws-link", "ws"), ("in-link", "ws/in"),
                         ("root-link", "/"), ("comma-link", "a,b")):
            os.symlink(to, root + "/" + name)
        self.root = root
        broker, workspace = self.case.config["mounts"]
        broker["host"] = self.path(self.scenario.mounts.get("runDir", "<root>/run"))
        workspace["host"] = self.path(self.scenario.mounts.get("workspaceDir", "<root>/ws"))

    def path(self, text):
        return text.replace("<root>", self.root)

    def run(self):
        turn = self.case.write("turn.json", json.dumps(self.case.turn))
        process = self.case.begin(["-t", turn], stdin=subprocess.DEVNULL)
        if self.scenario.abort == "run":
            self.wait_for_worker(process)
            process.send_signal(signal.SIGTERM)
        if self.scenario.stops:
            self.wait_for_worker(process)
            self.stopped = self.stop_twice()
            if 80 in self.stopped:  # the worker lives on
                process.send_signal(signal.SIGTERM)
        return self.case.end(process)

    def wait_for_worker(self, process):
        end = time.monotonic() + harness.SAFETY
        while not self.case.worker_ran() and process.poll() is None and time.monotonic() < end:
            time.sleep(0.02)

    def stop_twice(self):
        """Two `stop` at once; how they ended."""
        case = self.case
        run = case.rows()[0]["run"]
        both = [case.spawn([case.tree.bin + "/cofferdam", "stop", "--host",
                            case.config["docker"]["host"], "--state-dir", case.state,
                            "--docker", case.docker, run]) for _ in range(2)]
        return [case.end(process).status for process in both]

    # What must hold.

    def mounts_are_canonical(self):
        create = self.case.calls("create")[0]["argv"]
        found = [re.search("source=([^,]*)", word)[1] for word in create if "source=" in word]
        equal("the mounts' sources", [self.path(path) for path in self.scenario.sources], found)

    def told(self, statuses):
        case, scenario = self.case, self.scenario
        holds("exit status is one of %s; stderr: %s" % (
            sorted(statuses), harness.show(self.result.err)), self.result.status in statuses,
              self.result.status)
        reply = b""
        if self.result.status == 0:
            reply = scenario.reply.encode("utf-8") + b"\n" if scenario.reply else \
                b'{"ok":true,"text":"hello"}\n'
        equal("standard output", reply, self.result.out)
        case.printable(self.result.err)
        if not scenario.creates:
            equal("docker made, and removed, nothing", ([], []),
                  (case.calls("create"), case.calls("rm")))
        elif scenario.attempts is not None:
            equal("rm commands", scenario.attempts, len(case.calls("rm")))
        if scenario.stops:
            holds("a stop has it gone, the other may have come too late",
                  sorted(self.stopped) in ([0, 0], [0, 1]), self.stopped)
        if scenario.sources and self.result.status == 0:
            self.mounts_are_canonical()
        case.nothing_left(containers=scenario.foreign)

    def kept(self):
        case, result = self.case, self.result
        equal("exit status; stderr: " + harness.show(result.err), 80, result.status)
        equal("standard output", b"", result.out)
        case.printable(result.err)
        if self.scenario.stops:
            equal("neither stop could", [80, 80], self.stopped)
        lines = [line for line in result.err.decode().splitlines() if "REVOKE_INCOMPLETE" in line]
        claims = case.claims()
        equal("lines that name what is left, claims that stay", (1, 1), (len(lines), len(claims)))
        for ident in case.containers():
            name = case.engine()[ident]["Name"][1:]
            holds("the container's id or its name is told", ident in lines[0] or name in lines[0],
                  lines[0])
        nonce = os.path.basename(claims[0]).split(".")[0]
        holds("the run is told", nonce in lines[0], lines[0])
        holds("rm was tried, or docker never told of a container", case.calls("rm") or any(
            rule["on"] == "find" for rule in self.scenario.kept_rules), case.kinds())
        for path in case.state_files():
            case.unlocked(path)


def played(check):
    """Why it does not hold, or None."""
    try:
        check()
    except Failure as failure:
        return str(failure)
    except (OSError, ValueError, KeyError, IndexError, TypeError) as error:
        return "%s: %s" % (type(error).__name__, error)
    return None


def play_told(tree, scenario, rows):
    statuses = scenario.predicts()
    if any(row.outcome == "refuse" for row in rows):
        statuses = STATUS["launch"] | {78}
        scenario.creates = "create-output" in scenario.faults
        scenario.attempts = None
    return played(lambda: Run(tree, scenario, scenario.rules, 120).told(statuses))


def play_kept(tree, scenario):
    rules = scenario.kept_rules
    if not any(rule["on"] == "create" for rule in rules):
        rules = [rule for rule in scenario.rules if rule["on"] not in ("rm", "find")] + rules
    return played(lambda: Run(tree, scenario, rules, 1).kept())


def scenarios(options, unmapped):
    for kind, line in vector_lines(options.vectors, ["cleanup", "reply"]):
        vector = json.loads(line)
        if kind == "cleanup":
            yield cleanup_scenario(vector)
        elif (vector["exit"] != 0 or vector.get("stderr")):
            yield reply_scenario(vector)
    for kind, line in vector_lines(options.vectors, ["b-create-args", "b-env"]):
        case = managed.Case(kind, line)
        row = next((row[0] for row in unmapped if row[1](case)), None)
        mine = is_replayed(case)
        if row is not None:
            options.covered[row][0] += mine
            options.covered[row][1] += 1
        if mine:
            yield stop_scenario(case)


def plan(options, table, unmapped):
    """Every play, and the faults of the translation itself."""
    todo, problems = [], []
    for scenario in scenarios(options, unmapped):
        if options.only and options.only not in scenario.name:
            continue
        rows = []
        differs = scenario.theirs != scenario.own or scenario.faults & {
            "signal-late", "relative", "create-output"}
        if differs:
            rows = explain(scenario, table, TOLD)
            if not rows:
                problems.append((scenario.name, "the reference: %s; ours: %s; no row says why" % (
                    scenario.theirs, scenario.own)))
        todo.append((scenario.name, lambda tree, s=scenario, r=rows: play_told(tree, s, r)))
        if scenario.kept_rules is not None:
            if scenario.theirs != "cleanup" and not explain(scenario, table, {"kept"}):
                problems.append((scenario.name, "no row says why ours names the container"))
            todo.append((scenario.name + ", kept", lambda tree, s=scenario: play_kept(tree, s)))
    return todo, problems


def read_options():
    options = argparse.ArgumentParser()
    options.add_argument("--vectors", type=pathlib.Path, default=HERE / "vectors")
    options.add_argument("only", nargs="?")
    return options.parse_args()


def main():
    options = read_options()
    options.covered = collections.defaultdict(lambda: [0, 0])
    table = differences(PREDICATES, ["removals"])
    todo, problems = plan(options, table, managed.unmapped_rows())
    complete = options.vectors == HERE / "vectors" and not options.only
    tree = Tree()
    try:
        with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
            results = list(pool.map(lambda item: item[1](tree), todo))
    finally:
        tree.stop()
        tree.remove()
    problems += [(name, result) for (name, _), result in zip(todo, results) if result]
    for problem in problems:
        print("FAILED %s: %s" % problem)
    failed = len(problems) + tell_use(table, complete)
    for topic, (mine, all_) in sorted(options.covered.items()):
        print("not policy's, %s: %d of %d replayed here" % (topic, mine, all_))
    if not todo:
        failed += 1
        print("FAILED no vectors in %s" % options.vectors)
    print("%d passed, %d failed" % (len(todo) - sum(1 for r in results if r), failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

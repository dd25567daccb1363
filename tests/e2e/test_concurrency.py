#!/usr/bin/python3 -B
# SPDX-License-Identifier: ISC
"""Many launches at once on a real Docker engine.  Run as root, by

    tests/engine.sh tests/e2e/test_concurrency.py [WORD...]

TURNS says how many turns, WIDTH how many at a time (48 and 16; make concurrency: 200 and 16).

Two users, and one of them with two state directories, so that three locks take part.  What the
engine tells of its containers is judged here, by rules of this file and nothing of cofferdam's:
every start is held against every container that has started and not died.  No test looks at how
long anything took, but for the safety net that calls a launch stuck.
"""

import concurrent.futures
import http.client
import json
import os
import signal
import socket
import sys
import threading
import time
import urllib.parse

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import harness  # noqa: E402
from harness import SAFETY, Failure, Tree, equal, holds, main, test  # noqa: E402
from test_engine import CLIENTS, SOCKET, EngineCase  # noqa: E402

harness.TESTS.clear()  # those of test_engine

TURNS = int(os.environ.get("TURNS", "48"))
WIDTH = int(os.environ.get("WIDTH", "16"))
HELD = 8
ROUNDS = int(os.environ.get("ROUNDS", "3"))
LABEL = "dev.cofferdam."


# --- the watcher -------------------------------------------------------------

class Engine(http.client.HTTPConnection):
    def __init__(self):
        super().__init__("localhost")

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(SOCKET)

    def ask(self, path, **query):
        self.request("GET", path + "?" + urllib.parse.urlencode(
            {key: json.dumps(value) for key, value in query.items()}))
        answer = self.getresponse()
        if answer.status != 200:
            raise Failure("GET %s\nobserved: %d" % (path, answer.status))
        return answer


class Live:
    """A container as its labels describe it."""

    def __init__(self, ident, labels):
        self.ident = ident
        self.session = labels[LABEL + "mode"] == "session"
        self.state = labels[LABEL + "state"]
        self.roots = [(root["path"], root["mode"])
                      for root in json.loads(labels[LABEL + "roots"])]


def conflict(one, other):
    """Why two containers may not live at once, or None."""
    for path, mode in one.roots:
        for other_path, other_mode in other.roots:
            if path == other_path:
                if (mode, other_mode) != ("ro", "ro") and not (one.session and other.session):
                    return "%s is in both" % path
            elif (path + "/").startswith(other_path + "/") or \
                    (other_path + "/").startswith(path + "/"):
                return "%s and %s" % (path, other_path)
    return None


class Watch:
    """Follows the engine's own events, and looks at its list between them."""

    def __init__(self, base):
        self.base = base
        self.live = {}
        self.broken = []
        self.started = self.most = self.looks = 0
        self.over = threading.Event()
        self.engine = Engine()
        filters = {"type": ["container"], "label": [LABEL + "state"], "event": ["start", "die"]}
        self.events = self.engine.ask("/events", filters=filters)
        self.threads = [threading.Thread(target=self.guard, args=(work,), daemon=True)
                        for work in (self.follow, self.look)]
        for thread in self.threads:
            thread.start()

    def guard(self, work):
        try:
            work()
        except Exception as error:
            if not self.over.is_set():
                self.broken.append("the watcher itself failed: %r" % error)

    def ours(self, labels):
        return self.base + "/" in labels.get(LABEL + "roots", "")

    def follow(self):
        while not self.over.is_set():
            line = self.events.readline()
            if not line:
                raise EOFError("the engine's events ended")
            event = json.loads(line)
            labels = event["Actor"]["Attributes"]
            if self.ours(labels):
                self.take(event["Action"], Live(event["Actor"]["ID"], labels))

    def take(self, action, container):
        if action == "die":
            self.live.pop(container.ident, None)
            return
        self.judge(container, list(self.live.values()))
        self.live[container.ident] = container
        self.started += 1
        self.most = max(self.most, len(self.live))

    def judge(self, container, others):
        for other in others:
            why = conflict(container, other)
            if why is not None:
                self.broken.append("%s and %s live at once: %s" % (
                    container.ident[:12], other.ident[:12], why))

    def look(self):
        """The labels say what is mounted; and the same rule over what runs at one moment."""
        engine = Engine()
        while not self.over.is_set():
            rows = json.loads(engine.ask("/containers/json", filters={
                "status": ["running"], "label": [LABEL + "state"]}).read())
            seen = []
            for row in rows:
                if self.ours(row["Labels"]):
                    container = Live(row["Id"], row["Labels"])
                    real = sorted((mount["Source"], "rw" if mount["RW"] else "ro")
                                  for mount in row["Mounts"] if mount["Type"] == "bind")
                    if real != sorted(container.roots):
                        self.broken.append("%s mounts %s, labelled %s" % (
                            container.ident[:12], real, container.roots))
                    self.judge(container, seen)
                    seen.append(container)
            self.looks += 1
            self.over.wait(0.1)

    def end(self):
        """Every start and every death has been seen: nothing lives, and nothing was broken."""
        end = time.monotonic() + SAFETY
        while self.live and not self.broken and time.monotonic() < end:
            time.sleep(0.05)
        self.over.set()
        self.engine.sock.shutdown(socket.SHUT_RDWR)
        for thread in self.threads:
            thread.join()
        equal("what broke the rule across containers", [], self.broken)
        equal("containers that started and never died", [], list(self.live))
        holds("the watcher has looked", self.looks > 0)


def watched(function):
    """The test with a watcher, and with its figures."""
    @test
    def run(case):
        watch = Watch(case.tree.base)
        try:
            function(case.tree, watch)
        finally:
            watch.over.set()
        watch.end()
    name = function.__name__
    harness.TESTS[-1] = (name, harness.TESTS[-1][1])
    return function


def figure(text, *values):
    print("#   " + text % values, flush=True)


# --- launches ----------------------------------------------------------------

class Member(EngineCase):
    """A user with a state directory, which many launches share."""

    def __init__(self, tree, name, number, uid=None):
        super().__init__(tree, name, CLIENTS[number % len(CLIENTS)], uid)
        self.number = 0
        self.mutex = threading.Lock()

    def launch(self, command, options=(), /, workspace=None, pass_fds=(), **config):
        """Begins a launch with a configuration, and unless given a workspace, of its own."""
        with self.mutex:
            self.number += 1
            number = self.number
        workspace = workspace or self.own_dir("home/workspace%d" % number)
        full = json.loads(json.dumps(dict(self.config, **config)))
        full["mounts"] = [{"host": workspace, "guest": "/workspace", "mode": "rw"}]
        if command == "run":
            full["mounts"].append({"host": self.broker, "guest": "/broker", "mode": "ro"})
        path = self.write("config%d.json" % number, json.dumps(full))
        return self.spawn([self.tree.bin + "/cofferdam", command, "-c", path, "--state-dir",
                           self.state, "--docker", self.docker, *options], pass_fds=pass_fds)

    def run_turn(self, text, workspace=None):
        process = self.launch("run", workspace=workspace)
        return self.end(process, json.dumps(dict(self.turn_document(), text=text)).encode())

    def turn_document(self):
        return {"speaker": {"id": "u", "name": "n"}, "model": "m", "prompt": "p",
                "timeZone": "UTC", "tools": [], "mcp": []}

    def lock_is_free(self):
        self.unlocked(self.state + "/lock")


def members(tree):
    """Two users; the first has two state directories."""
    first = Member(tree, "first", 0)
    return [first, Member(tree, "first again", 1, uid=first.uid), Member(tree, "second", 1)]


def nothing_left(everybody):
    for member in everybody:
        member.settle()
    for member in everybody:
        member.nothing_left()


def free_for_all(tree, name):
    """A directory that every user may mount and write to."""
    path = tree.base + "/" + name
    os.mkdir(path)
    os.chmod(path, 0o777)
    return path


# --- sessions that are held --------------------------------------------------

class Session:
    def __init__(self, member, number, workspace):
        self.member, self.key = member, "held-%d" % number
        limits = {name: value for name, value in member.config["limits"].items()
                  if name != "turnSeconds"}  # it is held for as long as the turns take
        self.process = member.launch("session", workspace=workspace, mode="session", limits=limits,
                                     session={"key": self.key, "revision": number},
                                     entrypoint="/bin/cat")

    def echo(self, word):
        """The worker runs: it says what it hears."""
        self.process.stdin.write(word + b"\n")
        self.process.stdin.flush()
        said = self.process.stdout.readline()
        if said != word + b"\n":
            raise Failure("the session's worker answers\nobserved: %r, %r" % (
                said, self.process.stderr.read() if not said else b""))

    def close(self):
        equal("a session whose input ends", 0, self.member.end(self.process).status)

    def terminate(self):
        self.process.send_signal(signal.SIGTERM)
        equal("a session that is signalled", 143, self.member.end(self.process, None).status)

    def stop(self):
        equal("stop --session", 0, self.member.manage("stop", "--session", self.key).status)
        result = self.member.end(self.process, None)
        self.member.expect(result, 1, "SANDBOX_WORKER worker.vanished")


def hold_sessions(everybody, shared):
    """HELD of them, begun at once; two in three with a source of their own."""
    held = [Session(everybody[number % len(everybody)], number,
                    shared if number % 3 == 0 or number == 1 else None) for number in range(HELD)]
    for session in held:
        session.echo(b"first")
    return held


def end_sessions(held):
    """They have lived all the while; each ends in its own way, all at once."""
    for session in held:
        session.echo(b"last")
    ways = [Session.close, Session.terminate, Session.stop]
    with concurrent.futures.ThreadPoolExecutor(len(held)) as pool:
        for future in [pool.submit(ways[number % 3], session)
                       for number, session in enumerate(held)]:
            future.result()


# --- the tests ---------------------------------------------------------------

@watched
def turns_beside_held_sessions(tree, watch):
    """Every turn has a workspace of its own: every one gets its own reply."""
    everybody = members(tree)
    held = hold_sessions(everybody, free_for_all(tree, "shared"))
    for member in everybody:
        member.lock_is_free()
    with concurrent.futures.ThreadPoolExecutor(WIDTH) as pool:
        waiting = [pool.submit(everybody[number % 3].run_turn, "say %d" % number)
                   for number in range(TURNS)]
        results = [future.result() for future in waiting]
    figure("%d turns, %d at a time, %d sessions held: %d replies; at most %d workers at once",
           TURNS, WIDTH, HELD, sum(result.status == 0 for result in results), watch.most)
    for number, result in enumerate(results):
        everybody[0].expect(result, 0, out=b'{"ok":true,"text":"%d"}\n' % number)
    equal("workers that started", TURNS + HELD, watch.started)
    for member in everybody:
        member.lock_is_free()
    end_sessions(held)
    nothing_left(everybody)


@watched
def the_lock_is_free_while_workers_run(tree, watch):
    """Held from the claim to the unlock only: with every worker of a directory running, others
    can take it, and launch."""
    member = members(tree)[0]
    turns = [member.launch("run") for _ in range(3)]
    for number, turn in enumerate(turns):
        turn.stdin.write(json.dumps(dict(member.turn_document(), text="sleep 600")).encode())
        turn.stdin.close()
        turn.stdin = None
    end = time.monotonic() + SAFETY
    while len(watch.live) < 3 and time.monotonic() < end:
        time.sleep(0.05)
    equal("workers that run", 3, len(watch.live))
    member.lock_is_free()
    member.expect(member.run_turn("say through"), 0, out=b'{"ok":true,"text":"through"}\n')
    for turn in turns:
        turn.send_signal(signal.SIGTERM)
    for turn in turns:
        member.expect(member.end(turn, None), 143)
    nothing_left([member])


def contend(everybody, workspace, count):
    """Turns that all want one workspace.  How many got it; the others were told that it is in
    use, and nothing else."""
    with concurrent.futures.ThreadPoolExecutor(count) as pool:
        waiting = [pool.submit(everybody[number % len(everybody)].run_turn, "say %d" % number,
                               workspace) for number in range(count)]
        results = [future.result() for future in waiting]
    won = 0
    for number, result in enumerate(results):
        if result.status == 0:
            won += 1
            equal("the reply", b'{"ok":true,"text":"%d"}\n' % number, result.out)
        else:
            everybody[0].expect(result, 75, "SANDBOX_BUSY mount.in_use")
    return won


@watched
def one_workspace_one_lock(tree, watch):
    everybody = members(tree)[:1]
    won = contend(everybody, everybody[0].own_dir("home/wanted"), WIDTH)
    figure("%d turns for one workspace, one state directory: %d ran, the others were told 75",
           WIDTH, won)
    holds("at least one runs", won >= 1, won)
    nothing_left(everybody)


@watched
def one_workspace_three_locks(tree, watch):
    """Launches of several state directories see each other's containers before either may start:
    they may all be refused, but never two run."""
    everybody = members(tree)
    won = [contend(everybody, free_for_all(tree, "wanted%d" % number), 6)
           for number in range(ROUNDS)]
    figure("6 turns for one workspace, three state directories: %s ran", won)
    nothing_left(everybody)


@watched
def roots_that_lie_in_each_other(tree, watch):
    """A directory, one in it, and that again in the other's hands: never two at once."""
    everybody = members(tree)
    outer = free_for_all(tree, "outer")
    os.mkdir(outer + "/inner")
    os.chmod(outer, 0o755)
    os.chmod(outer + "/inner", 0o777)
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        waiting = [pool.submit(everybody[number % 3].run_turn, "say %d" % number,
                               outer + ("/inner" if number % 2 else "")) for number in range(6)]
        for number, future in enumerate(waiting):
            result = future.result()
            if result.status != 0:
                holds("refused because of another's root", result.reasons()[:1] in (
                    [("SANDBOX_BUSY", "mount.in_use")],
                    [("SANDBOX_MOUNT_OVERLAP", "managed.overlap")]), result.err)
    nothing_left(everybody)


if __name__ == "__main__":
    if not SOCKET:
        sys.exit("test_concurrency.py: start it with tests/engine.sh")
    harness.FIRST_UID += 2000
    main(Tree, jobs=1)

#!/usr/bin/python3 -B
# SPDX-License-Identifier: ISC
"""cofferdam session beside the second reference driver under Bun, side by side in one run.

usage: session.py [--reference FILE --bun PATH] [--runs N] [--burst N] [--levels N,N] [--client V]

Run as root, by tests/engine.sh.  Before each level so many managed containers are made, with the
labels of both drivers and a source of their own each.  Then the two launch in turn, one launch
each, N times; and in turn a burst of launches at once.  Milliseconds:

  ready     until the worker's first bytes are here
  launched  until the launch counts as done: the running container has been read back
  whole     until it was stopped and its removal confirmed

Ours are counted from before cofferdam is started; the reference's from the call of its launch(),
in a process that is warm: Bun's own start is not counted.  FILE is the package's text, its files
one after the other as in a diff; what its docker.ts imports gets stand-ins that do nothing.
Figures are medians with min..max; the ratio is ours to the reference's, of the medians.  Exit
status 1 when an aim is missed.
"""

import argparse
import io
import json
import math
import os
import pathlib
import shutil
import signal
import statistics
import subprocess
import sys
import tarfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "e2e"))
import policy  # noqa: E402
from harness import Tree  # noqa: E402
from test_concurrency import Engine, Member  # noqa: E402
from test_engine import CLIENTS, SOCKET, docker, version  # noqa: E402

SOURCE = "agent/sandbox/docker.ts"
STAND_INS = ("authority", "policy", "types")
SPANS = ("ready", "launched", "whole")
AIM, AIM_AT = 0.4, 30
IMAGE = "cofferdam-bench:%d" % os.getpid()
WORKER = b"#!/bin/sh\necho ready\nexec cat\n"


# --- the engine's side -------------------------------------------------------

def add(archive, name, data=None, mode=0o755, link=None):
    info = tarfile.TarInfo(name)
    info.mode = mode
    if link is not None:
        info.type, info.linkname = tarfile.SYMTYPE, link
    elif data is None:
        info.type = tarfile.DIRTYPE
    else:
        info.size = len(data)
    archive.addfile(info, io.BytesIO(data or b""))


def import_image():
    """A worker where the reference looks for one; it says that it is there, and then listens."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        for name in ("bin", "dev", "etc", "proc", "sys", "jeo", "workspace", "usr", "usr/local",
                     "usr/local/bin"):
            add(archive, name)
        add(archive, "tmp", mode=0o1777)
        add(archive, "bin/busybox", pathlib.Path(shutil.which("busybox")).read_bytes())
        for name in ("sh", "cat"):
            add(archive, "bin/" + name, link="busybox")
        add(archive, "usr/local/bin/bun", WORKER)
    subprocess.run([CLIENTS[0], "--host", "unix://" + SOCKET, "import", "-", IMAGE],
                   input=made.getvalue(), stdout=subprocess.DEVNULL, check=True)


class Crowd:
    """Managed containers of other launches, which never run."""

    def __init__(self, directory):
        self.directory = directory
        self.made = []
        self.engine = Engine()

    def post(self, method, path, body=None):
        self.engine.request(method, path, json.dumps(body or {}),
                            {"Content-Type": "application/json"})
        answer = self.engine.getresponse()
        text = answer.read()
        if answer.status >= 300:
            raise SystemExit("session.py: %s %s: %r" % (method, path, text))
        return json.loads(text or b"{}")

    def grow(self, count):
        while len(self.made) < count:
            number = len(self.made)
            source = "%s/%d" % (self.directory, number)
            os.mkdir(source)
            roots = json.dumps([{"path": source, "mode": "rw"}], separators=(",", ":"))
            labels = {"dev.jeo.sandbox.owner": "owner", "dev.jeo.sandbox.session": "s%d" % number,
                      "dev.jeo.sandbox.revision": "1", "dev.cofferdam.state": "%032x" % 1,
                      "dev.cofferdam.run": "%032x" % number, "dev.cofferdam.mode": "session",
                      "dev.cofferdam.session": "s%d" % number, "dev.cofferdam.revision": "1",
                      "dev.cofferdam.roots": roots}
            mount = {"Type": "bind", "Source": source, "Target": "/workspace"}
            self.made.append(self.post("POST", "/containers/create", {
                "Image": IMAGE, "Cmd": ["/bin/cat"], "Labels": labels,
                "HostConfig": {"NetworkMode": "none", "Mounts": [mount]}})["Id"])

    def disperse(self):
        for ident in self.made:
            self.post("DELETE", "/containers/%s?force=true" % ident)
        self.made = []


# --- the two sides -----------------------------------------------------------

class Ours:
    name = "cofferdam"

    def __init__(self, tree, client):
        self.member = Member(tree, "ours " + version(client), 0)
        self.member.docker = client
        self.member.config["image"] = IMAGE
        self.bundle = self.member.write("hands.js", "// hands\n")
        self.steps = []
        self.count = 0
        self.failed = []

    def one(self, number, start, into):
        told, tell = os.pipe()
        process = self.member.launch(
            "session", ["--status-fd", str(tell)], mode="session", pass_fds=(tell,),
            session={"key": "bench-%d" % number, "revision": 1}, workdir="/workspace",
            entrypoint="/usr/local/bin/bun", command=["/jeo/hands.js"],
            bundle={"host": self.bundle, "guest": "/jeo/hands.js"})
        os.close(tell)
        with os.fdopen(told) as status:
            first = process.stdout.readline()
            times = {"ready": time.monotonic() - start}
            running = status.readline()
            times["launched"] = time.monotonic() - start
            process.send_signal(signal.SIGTERM)
            last = status.readline()
        result = self.member.end(process, None)
        times["whole"] = time.monotonic() - start
        if first != b"ready\n" or '"running"' not in running or result.status != 143:
            raise SystemExit("session.py: cofferdam failed: %r %r" % (first, result.err))
        into.append({span: took * 1000 for span, took in times.items()})
        self.steps.append(json.loads(last)["ms"])

    def launch(self, count):
        start, times = time.monotonic(), []
        self.count += count
        threads = [threading.Thread(target=self.one, args=(self.count - n, start, times))
                   for n in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if len(times) < count:
            raise SystemExit("session.py: a launch failed")
        return times

    def where(self):
        """The steps of a launch that took a millisecond or more, in their order."""
        medians = {step: statistics.median(ms[step] for ms in self.steps)
                   for step in self.steps[-1]}
        self.steps = []
        return ", ".join("%s %.0f" % item for item in medians.items() if item[1] >= 1)

    def end(self):
        pass


class Theirs:
    name = "reference"

    def __init__(self, tree, client, command):
        self.member = Member(tree, "theirs " + version(client), 0)
        self.client = client
        self.bundle = self.member.write("hands.js", "// hands\n")
        self.member.env = {"PATH": "/usr/bin:/bin", "HOME": self.member.home}
        self.process = self.member.spawn(command)
        self.count = 0
        self.failed = []

    def launch(self, count):
        launches = []
        for _ in range(count):
            self.count += 1
            workspace = self.member.own_dir("home/workspace%d" % self.count)
            launches.append({"workspace": workspace, "key": "bench-%d" % self.count})
        order = {"docker": self.client, "host": "unix://" + SOCKET, "image": IMAGE,
                 "bundle": self.bundle, "launches": launches}
        self.process.stdin.write(json.dumps(order).encode() + b"\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise SystemExit("session.py: the reference failed: %r" % self.process.stderr.read())
        times = json.loads(answer)
        failed = [one["failed"] for one in times if "failed" in one]
        if failed and count == 1:
            raise SystemExit("session.py: the reference failed: %s" % failed[0])
        self.failed += failed  # its lock gives up after 30 seconds
        return [one for one in times if "failed" not in one]

    def end(self):
        self.member.end(self.process)


def reference_command(bun, reference, scratch):
    policy.extract(reference, scratch, [SOURCE])
    for name in STAND_INS:
        shutil.copy(HERE / "stand-ins.ts", scratch / (name + ".ts"))
    shutil.copy(HERE / "session.ts", scratch)
    subprocess.run([bun, "build", "--target=bun", "--outfile=session.js", "session.ts"],
                   cwd=scratch, stdout=subprocess.DEVNULL, check=True)
    shutil.copy(os.path.realpath(bun), scratch / "bun")
    os.chmod(scratch / "bun", 0o755)
    return [str(scratch / "bun"), str(scratch / "session.js")]


# --- measuring ---------------------------------------------------------------

def spread(values):
    return "%.0f (%.0f..%.0f)" % (statistics.median(values), min(values), max(values))


def alternate(sides, runs, count):
    """The samples of each side, taken in turn, and how many launches a second came to an end."""
    samples = [[] for _ in sides]
    rates = [[] for _ in sides]
    for _ in range(runs):
        for number, side in enumerate(sides):
            start = time.monotonic()
            times = side.launch(count)
            rates[number].append(len(times) / (time.monotonic() - start))
            samples[number] += times
    return samples, [statistics.median(found) for found in rates]


def measure(sides, level, arguments, missed):
    samples, _ = alternate(sides, arguments.runs, 1)
    steps = sides[0].where()
    _, rates = alternate(sides, max(1, arguments.runs // 2), arguments.burst)
    print("%d managed containers" % level)
    for side, found, rate in zip(sides, samples, rates):
        print("  %-9s  %s ms; %d at once: %.2f launches a second%s" % (
            side.name, ", ".join("%s %s" % (span, spread([one[span] for one in found]))
                                 for span in SPANS), arguments.burst, rate,
            ", %d failed: %s" % (len(side.failed), side.failed[-1]) if side.failed else ""))
        side.failed = []
    print("  steps of ours, ms: " + steps)
    if len(sides) == 2:
        ratios = {span: statistics.median(one[span] for one in samples[0])
                  / statistics.median(one[span] for one in samples[1]) for span in SPANS}
        print("  ours / reference: " + ", ".join("%s %.2f" % item for item in ratios.items())
              + ", launches a second %.2f" % (rates[0] / rates[1] if rates[1] else math.inf))
        if level == AIM_AT and ratios["launched"] > AIM:
            missed.append("at %d: %.2f of the reference's latency" % (level, ratios["launched"]))
    sys.stdout.flush()


def bench(tree, client, command, arguments, missed):
    print("docker client %s" % version(client))
    crowd = Crowd(tree.base + "/crowd-" + version(client))
    os.mkdir(crowd.directory)
    sides = [Ours(tree, client)]
    known = subprocess.run([client, "context", "show"], capture_output=True, check=False)
    if command is not None and known.returncode != 0:
        print("the reference asks for `docker context show`, which this client does not know")
    elif command is not None:
        sides.append(Theirs(tree, client, command))
    try:
        alternate(sides, 1, 1)
        sides[0].where()
        for level in arguments.levels:
            crowd.grow(level)
            measure(sides if level <= AIM_AT else sides[:1], level, arguments, missed)
    finally:
        crowd.disperse()
        for side in sides:
            side.end()


def options():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: session.py ")[1].split("\n")[0])
    parser.add_argument("--reference", type=pathlib.Path)
    parser.add_argument("--bun", default=shutil.which("bun"))
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--burst", type=int, default=4)
    parser.add_argument("--client", default="", help="only those whose version begins so")
    parser.add_argument("--levels", type=lambda text: [int(word) for word in text.split(",")],
                        default=[0, 10, 30, 100, 300])
    return parser.parse_args()


def main():
    arguments, missed, tree = options(), [], Tree()
    try:
        command = None
        if arguments.bun and arguments.reference:
            scratch = pathlib.Path(tree.base, "reference")
            scratch.mkdir()
            command = reference_command(os.path.abspath(arguments.bun), arguments.reference,
                                        scratch)
        else:
            print("session.py: no --reference FILE and --bun PATH, so nothing is compared")
        import_image()
        print("engine %s, %d cpus, load %.1f; %d runs of each side, alternating" % (
            docker("version", "--format", "{{.Server.Version}}").strip(), os.cpu_count(),
            os.getloadavg()[0], arguments.runs))
        for client in [path for path in CLIENTS if version(path).startswith(arguments.client)]:
            bench(tree, client, command, arguments, missed)
    finally:
        tree.stop()
        docker("image", "rm", "--force", IMAGE, check=False)
        tree.remove()
    for line in missed:
        print("missed: " + line)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Every reason of policy/reason.h: `explain` knows it, and some input produces it.

The table is read from the header.  A reason that no input of these tests can
produce stands in ELSEWHERE, with why; it may not be produced here, either.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile

from common.frames import Answer, decide
from common.plans import CONTAINER, IMAGE, PLAN_TOOL, POLICY, TREE, Plan, Root, with_plan

ELSEWHERE = {
    "mount.alias": "needs a bind mount: tests/unit/test_mounts.c",
    "mount.mountinfo": "needs a broken /proc: tests/unit/test_mounts.c",
    "confine.landlock": "needs a kernel without Landlock: tests/unit/test_judging.c",
    "confine.failed": "needs a kernel without seccomp",
    "confine.syscall": "needs a fault of ours: tests/unit/test_confine.c",
}

TURN = {"text": "", "speaker": {"id": "", "name": ""}, "model": "", "prompt": "", "timeZone": "",
        "tools": [], "mcp": []}
MODEL_TOOL = {"type": "function", "function": {"name": "f", "description": "", "parameters": {}}}
OTHER = [CONTAINER[::-1], "f" * 32, "e" * 32, "turn"]


def table():
    """reason -> (code, exit status, sentence, hint), as the header has them."""
    rows = {}
    text = (TREE / "policy/reason.h").read_text()
    for row in re.findall(r'^X\(\w+, CODE_(\w+), (".*), (\d+), (".*")\)', text, re.MULTILINE):
        sentence, hint = json.loads("[%s]" % row[3])
        code = "REVOKE_INCOMPLETE" if row[0] == "REVOKE_INCOMPLETE" else "SANDBOX_" + row[0]
        rows[json.loads(row[1])] = (code, int(row[2]), sentence, hint)
    return rows


class Corpus:
    """Each input yields (what, the reasons that came of it)."""

    def __init__(self, policy, tool):
        self.policy = policy
        self.tool = tool
        self.top = os.path.realpath(tempfile.mkdtemp(prefix="cofferdam-"))
        self.sockets = []
        self.failed = []
        for name in ("a", "b", "open", "engine"):
            os.mkdir(self.path(name))
        os.mkdir(self.path("open/in"))
        os.chmod(self.path("open"), 0o777)
        pathlib.Path(self.path("file")).write_text("x")
        pathlib.Path(self.path("linked")).write_text("x")
        os.link(self.path("linked"), self.path("linked2"))
        os.symlink("loop", self.path("loop"))
        self.endpoint = self.listen("engine/docker.sock", 0o600)
        self.config = {
            "version": 1, "mode": "session", "image": "worker:1",
            "session": {"key": "s", "revision": 1}, "user": {"uid": 1000, "gid": 1000},
            "mounts": [{"host": self.path("a"), "guest": "/workspace", "mode": "rw"}],
            "entrypoint": "/bin/sh", "docker": {"host": self.endpoint},
        }

    def path(self, name):
        return os.path.join(self.top, name)

    def listen(self, name, mode):
        self.sockets.append(socket.socket(socket.AF_UNIX))
        self.sockets[-1].bind(self.path(name))
        os.chmod(self.path(name), mode)
        return "unix://" + self.path(name)

    def close(self):
        for each in self.sockets:
            each.close()
        shutil.rmtree(self.top)

    @staticmethod
    def reasons(stderr):
        return {json.loads(line)["reason"] for line in stderr.splitlines()}

    def ran(self, words, data, output=subprocess.PIPE):
        return self.reasons(subprocess.run(
            [*self.policy, *words, "--json"], input=data, stdout=output, stderr=subprocess.PIPE,
            check=False, env={}).stderr)

    def filter(self, command, document, *words):
        data = document if isinstance(document, bytes) else json.dumps(document).encode()
        return self.ran([command, *words], data)

    def check(self, change, image=None, offline=False):
        words = ["check", "-c", "-"] + (["--offline"] if offline else [])
        if image is not None:
            pathlib.Path(self.path("image")).write_text(json.dumps(image))
            words += ["--image", self.path("image")]
        data = change if isinstance(change, bytes) else json.dumps(
            {key: value for key, value in dict(self.config, **change).items()
             if value is not None}).encode()
        return self.ran(words, data)

    def mount(self, host, guest="/workspace", **rest):
        return {"mounts": [{"host": host, "guest": guest, "mode": "rw"}], **rest}

    def documents(self):
        text = json.dumps(TURN).encode()
        yield "json.empty", self.filter("json", b" ")
        yield "json.too_large", self.filter("json", b"[]", "--max-bytes", "1")
        yield "json.too_deep", self.filter("json", b"[" * 257 + b"]" * 257)
        yield "json.too_many_values", self.filter("json", b"[" + b"1," * 270000 + b"1]")
        yield "json.bom", self.filter("json", b"\xef\xbb\xbf1")
        yield "json.utf8", self.filter("json", b'"\xff"')
        yield "json.control", self.filter("json", b'"\x01"')
        yield "json.syntax", self.filter("json", b"[1 2]")
        yield "json.number", self.filter("json", b"01")
        yield "json.escape", self.filter("json", b'"\\x"')
        yield "json.surrogate", self.check(b'"\\ud800"')
        yield "json.trailing", self.filter("json", b"1 1")
        yield "json.truncated", self.filter("json", b"[")
        yield "json.duplicate_key", self.filter("json", b'{"a":1,"\\u0061":1}')
        yield "shape.type", self.filter("turn", dict(TURN, text=1))
        yield "shape.missing", self.filter("turn", {})
        yield "shape.unknown_key", self.check({"mode_": 1})
        yield "shape.value", self.check({"confinement": "none"})
        yield "shape.count", self.check({"mounts": []})
        yield "shape.length", self.filter("turn", dict(TURN, text="x" * 32001))
        yield "shape.name", self.filter("turn", text.replace(
            b'"mcp": []', b'"mcp": [{"server": "A", "tools": []}]'))
        yield "shape.nul", self.check({"docker": {"host": "unix:///a\0"}})
        yield "shape.duplicate", self.filter("model-input", {
            "messages": [], "tools": [MODEL_TOOL, MODEL_TOOL]})
        remote = json.loads(json.dumps(MODEL_TOOL))
        remote["function"]["parameters"] = {"$ref": "http://x"}
        yield "schema.remote", self.filter("model-input", {"messages": [], "tools": [remote]})
        yield "output.write", self.ran(["json"], b"1", pathlib.Path("/dev/full").open("wb"))
        yield "input.read", self.ran(["check", "-c", self.path("none")], b"")

    def configs(self):
        yield "config.version", self.check({"version": 2})
        os.chmod(self.path("file"), 0o666)
        yield "config.file", self.ran(["check", "-c", self.path("file")], b"")
        os.chmod(self.path("file"), 0o644)
        yield "limit.range", self.check({"limits": {"pids": 7}})
        yield "limit.number", self.check({"limits": {"pids": "64"}})
        yield "user.root", self.check({"user": {"uid": 0, "gid": 1}})
        yield "user.range", self.check({"user": {"uid": 2147483648, "gid": 1}})
        yield "name.grammar", self.check({"name": "A"})
        yield "session.key", self.check({"session": {"key": "", "revision": 1}})
        yield "environment.name", self.check({"environment": {"HOME": "x"}})
        yield "environment.value", self.check({"environment": {"A": "\n"}})
        yield "command.word", self.check({"entrypoint": "-x"})
        yield "workdir.path", self.check({"workdir": "/proc"})
        yield "runtime.name", self.check({"docker": {"host": self.endpoint, "runtime": "_"}})
        yield "image.grammar", self.check({"image": "A"})
        yield "private.path", self.check({"privatePaths": ["x"]})
        yield "private.examine", self.check({"privatePaths": [self.path("loop")]})
        yield "bundle.guest", self.check({"bundle": {"host": "/x", "guest": "/tmp/x"}})
        yield "bundle.file", self.check({"bundle": {"host": self.path("linked"), "guest": "/x"}})

    def mounts(self):
        yield "mount.relative", self.check(self.mount("a"))
        yield "mount.character", self.check(self.mount("/a,b"))
        yield "mount.too_long", self.check(self.mount("/" + "x" * 256))
        yield "mount.root", self.check(self.mount("/"))
        yield "mount.missing", self.check(self.mount(self.path("none")))
        yield "mount.type", self.check(self.mount(self.path("file")))
        yield "mount.guest", self.check(self.mount(self.path("a"), "/x"))
        yield "mount.guest_twice", self.check({"mounts": self.mount(self.path("a"))["mounts"] * 2})
        turn = [{"host": self.path(name), "guest": guest, "mode": "rw"}
                for name, guest in (("a", "/broker"), ("b", "/workspace"))]
        yield "mount.mode", self.check({"mode": "turn", "session": None, "mounts": turn})
        yield "mount.ancestor", self.check(self.mount(self.path("open/in")))
        yield "mount.system", self.check(self.mount("/etc"))
        yield "mount.overlap", self.check(
            {"mounts": [dict(each, host=self.path("a")) for each in turn]})
        yield "mount.protected", self.check(
            self.mount(self.path("a"), privatePaths=[self.path("a/x")]))
        yield "mount.submount", set.union(*(self.check(self.mount(host))
                                            for host in ("/dev", "/sys", "/proc", "/run")))

    def endpoints(self):
        def check(host):
            return self.check({"docker": {"host": host}})

        os.makedirs(self.path(".docker/run"))
        yield "endpoint.scheme", check("tcp://127.0.0.1:2375")
        yield "endpoint.path", check("unix:///a//b")
        yield "endpoint.socket", check("unix://" + self.path("none"))
        yield "endpoint.owner", check(self.listen("engine/weak.sock", 0o666))
        yield "endpoint.ancestor", check(self.listen("open/docker.sock", 0o600))
        yield "endpoint.inside", check(self.listen("a/docker.sock", 0o600))
        yield "endpoint.desktop", check(self.listen(".docker/run/docker.sock", 0o600))

    def images(self):
        image = {"Id": IMAGE, "Os": "linux", "Config": {"Entrypoint": ["/a", "b"]}}
        bare = {"Id": IMAGE, "Os": "linux"}
        yield "image.answer", self.check({}, dict(image, Id="x"))
        yield "image.id", self.check({"imageId": "sha256:" + "f" * 64}, image)
        yield "image.os", self.check({}, dict(image, Os="windows"))
        yield "image.volume", self.check({}, dict(image, Config={"Volumes": {"/x": {}}}))
        yield "image.command", self.check({"entrypoint": None}, bare)
        yield "plan.too_large", self.check({"entrypoint": None, "command": ["x"] * 64}, image)

    def answers(self):
        stat = os.stat(self.path("a"))
        root = Root(self.path("a"), "/workspace", "rw", False, (stat.st_dev, stat.st_ino))
        plan, path = Plan([root], live=1), self.path("plan")
        plan.write(self.tool, path)
        ours = json.dumps(plan.line())

        def admit(*fields):
            return self.reasons(with_plan(self.policy, "admit", path, "\n".join(
                [ours] + [json.dumps(each) for each in fields]).encode()).stderr)

        def verify(document):
            return self.reasons(with_plan(self.policy, "verify", path,
                                          json.dumps(document).encode()).stderr)

        def other(host):
            return OTHER + [json.dumps([{"path": host, "mode": "rw"}]), host]

        yield None, admit() | verify(plan.inspected())
        yield "mount.in_use", admit(other(self.path("a")))
        yield "managed.overlap", admit(other(self.top))
        yield "managed.unknown", admit([])
        yield "live.limit", admit([OTHER[0], plan.fields["state_id"], "e" * 32, "turn", "[]", ""])
        yield "verify.answer", verify([])
        yield "verify.differs", verify(dict(plan.inspected(), Name="/x"))
        os.rename(self.path("a"), self.path("moved"))
        yield "mount.changed", verify(plan.inspected())
        pathlib.Path(path).write_bytes(b"CFDM")
        yield "protocol.frame", verify({})

    def decide(self, change=None, **rest):
        path = self.path("config.json")
        pathlib.Path(path).write_text(json.dumps(
            {key: value for key, value in dict(self.config, **(change or {})).items()
             if value is not None}))
        return decide(self.policy, self.tool, path, config=path, **rest)

    def frames(self):
        image = Answer(json.dumps({"Id": IMAGE, "Os": "linux"}))
        done = self.decide(image=image)
        yield None, done.reasons
        yield None, set() if done.frames == ["ask-image", "launch"] else set(done.frames)
        done = self.decide({"docker": None}, image=image, context=Answer(
            json.dumps(self.endpoint) + "\n"))
        yield None, done.reasons
        yield None, (set() if done.frames == ["ask-context", "ask-image", "launch"]
                     else set(done.frames))
        # A config that is refused asks docker nothing.
        done = self.decide({"name": "A", "docker": None})
        yield "name.grammar", done.reasons
        yield None, set(done.frames)
        yield "config.mode", self.decide(mode="turn").reasons
        yield "image.absent", self.decide(image=Answer("", 1)).reasons
        yield "image.answer", self.decide(image=Answer("{}")).reasons
        for answer in (Answer("", 1), Answer(""), Answer("[]"), Answer("x"), Answer('""')):
            yield "context.answer", self.decide({"docker": None}, context=answer).reasons
        yield "endpoint.scheme", self.decide({"docker": None}, context=Answer(
            '"tcp://127.0.0.1"')).reasons
        yield "endpoint.scheme", self.decide({"docker": None}, docker_host="fd://").reasons
        yield "audit.absent", self.decide({"audit": {"required": True}}).reasons
        for audit in ({}, {"required": True}, {"required": False}):
            done = self.decide({"audit": audit}, image=image, audit_path="/dev/full")
            yield "audit.write", done.reasons
            allowed = "launch" in done.frames
            yield None, set() if allowed == (audit == {"required": False}) else {"launch"}

    def all(self):
        for part in (self.documents, self.configs, self.mounts, self.endpoints, self.images,
                     self.frames, self.answers):
            yield from part()


class Notes:
    def __init__(self):
        self.passed = self.failed = 0

    def note(self, ok, text):
        self.passed += bool(ok)
        self.failed += not ok
        if not ok:
            print("FAILED " + text)


def explained(policy, *words):
    done = subprocess.run([*policy, "explain", "--json", *words], capture_output=True, check=False,
                          env={})
    return [json.loads(line) for line in done.stdout.splitlines()]


def check_explain(policy, rows, notes):
    everything = {line["reason"] for line in explained(policy)}
    for reason, (code, status, sentence, hint) in rows.items():
        lines = explained(policy, reason)
        notes.note(lines and reason in everything, "explain does not know %s" % reason)
        for line in lines:
            notes.note(line["reason"] == reason and line["sentence"] == sentence
                       and line["hint"] == hint and (code == "SANDBOX_DOCUMENT"
                                                     or (line["code"], line["exit"]) ==
                                                     (code, status)), "explain: %s" % line)


def check_produced(corpus, rows, notes):
    produced = set()
    for reason, found in corpus.all():
        notes.note(found == set() if reason is None else reason in found,
                   "%s was wanted, %s came" % (reason, sorted(found)))
        produced |= found
    notes.note(not produced - set(rows), "not in the table: %s" % (produced - set(rows)))
    for reason in rows:
        notes.note((reason in produced) != (reason in ELSEWHERE),
                   "%s: produced %s, in ELSEWHERE %s" % (reason, reason in produced,
                                                         reason in ELSEWHERE))
    notes.note(not set(ELSEWHERE) - set(rows), "ELSEWHERE has a reason that is none")


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--policy", default=POLICY)
    options.add_argument("--plan", default=PLAN_TOOL)
    options = options.parse_args()
    rows, notes = table(), Notes()
    notes.note(len(rows) > 70, "only %d rows of policy/reason.h were understood" % len(rows))
    check_explain(options.policy.split(), rows, notes)
    corpus = Corpus(options.policy.split(), options.plan)
    try:
        check_produced(corpus, rows, notes)
    finally:
        corpus.close()
    print("%d passed, %d failed" % (notes.passed, notes.failed))
    return 1 if notes.failed else 0


if __name__ == "__main__":
    sys.exit(main())

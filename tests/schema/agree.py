#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Do `cofferdam-policy schema` and cofferdam-policy itself agree?

A corpus of documents, valid ones and for each place in them many with one
fault, is judged by python3-jsonschema with the printed schemas and by
cofferdam-policy.  A schema that refuses what we accept is wrong; one that
accepts what we refuse must have a row in BEYOND, which says what a schema
cannot judge.  And every record that `check` prints of the corpus is valid.
"""

import argparse
import concurrent.futures
import copy
import json
import pathlib
import re
import subprocess
import sys

import jsonschema

HERE = pathlib.Path(__file__).resolve().parent
GRANT = "/grants/" + "0123456789abcdef" * 4

TURN_CONFIG = {
    "$schema": "x", "version": 1, "mode": "turn", "image": "worker:1",
    "imageId": "sha256:" + "0" * 64, "name": "box", "user": {"uid": 1000, "gid": 1000},
    "mounts": [{"host": "/srv/a", "guest": "/broker", "mode": "ro"},
               {"host": "/srv/b", "guest": "/workspace", "mode": "rw"}],
    "bundle": {"host": "/srv/c/hands.js", "guest": "/jeo/hands.js"},
    "entrypoint": "/bin/sh", "command": ["-c", "cat"], "workdir": "/workspace",
    "environment": {"LANG": "C"}, "init": False,
    "limits": {"memoryBytes": 536870912, "cpus": 1.5, "pids": 64, "nofile": 256,
               "tmpfsBytes": 67108864, "shmBytes": 67108864, "fileBytes": 1048576,
               "turnBytes": 262144, "turnSeconds": 120, "lockSeconds": 30, "controlSeconds": 30,
               "removeSeconds": 60, "live": 8},
    "privatePaths": ["/srv/keys"], "stateFile": "/srv/state.json",
    "docker": {"host": "unix:///run/docker.sock", "runtime": "runc"},
    "audit": {"required": False}, "confinement": "best-effort",
}
SESSION_CONFIG = dict(TURN_CONFIG, mode="session", session={"key": "s-1", "revision": 3}, mounts=[
    {"host": "/srv/a", "guest": GRANT, "mode": "ro"},
    {"host": "/srv/b", "guest": "/workspace", "mode": "ro"}])
LEAST_CONFIG = {key: TURN_CONFIG[key] for key in ("version", "mode", "image", "mounts")}
TURN = {
    "text": "hello", "speaker": {"id": "u1", "name": "Ada"}, "model": "m", "prompt": "p",
    "timeZone": "UTC", "reset": True,
    "tools": [{"name": "look", "description": "", "parameters": {"type": "object"}}],
    "mcp": [{"server": "files", "tools": [{"name": "read", "description": "", "parameters": {}}]}],
}

# What a schema cannot judge: (reason, pattern of the pointer, why).
NUMBER = "JSON Schema knows values and not how they are written: 1.0 is an integer there"
TEXT = "a grammar, or a length in bytes, beyond what a pattern can well say"
PLACES = "a rule about two places of the document at once"
HOST = "a rule about the host's own directories"
BEYOND = [
    ("limit.number", "/limits/.*", NUMBER),
    ("user.range", "/user/.*", NUMBER),
    ("shape.value", "/session/revision", NUMBER),
    ("config.version", "/version", NUMBER),
    ("image.grammar", "/image", TEXT),
    ("mount.too_long", "/(mounts/[0-9]+|bundle)/host", TEXT),
    ("mount.root", "/(mounts/[0-9]+|bundle)/host", TEXT),
    ("private.path", "/(privatePaths/[0-9]+|stateFile)", TEXT),
    ("bundle.guest", "/bundle/guest", TEXT),
    ("workdir.path", "/workdir", TEXT),
    ("endpoint.path", "/docker/host", TEXT),
    ("shape.nul", "/docker/host", TEXT),
    ("shape.length", "/text|/speaker/(id|name)", "characters there, UTF-16 code units here"),
    ("mount.guest_twice", "/mounts/[0-9]+/guest", PLACES),
    ("mount.overlap", "/(mounts/[0-9]+|bundle)/host", PLACES),
    ("mount.protected", "/(mounts/[0-9]+|bundle)/host", PLACES),
    ("mount.system", "/(mounts/[0-9]+|bundle)/host", HOST),
]

# Without "user" the worker runs as whoever runs this.
CALLER_IS_ROOT = ("user.root", "")

REPLACEMENTS = [None, True, False, 7, -1, 1.5, 1.0, "x", "", [], {}, ["x"], {"x": "y"}, [[]]]
ADDITIONS = ["\n", "\t", "\0", "\x01", "\x7f", ",", '"', "\\", "\xe9", " ", "-", "/", "/..", "A",
             ":", "@", "=", "0", "a" * 300, "/" + "a" * 256]
TEXTS = ["/", "//", "/a/..", "/proc", "/proc/x", "/procx", "/tmp/x", "/srv/a", "/etc", "/a//b", "/a/./b", "HOME",
         "-x", "unix://x", "tcp://x", "unix:///a%b", "sha256:" + "f" * 64, "f" * 64, "/broker",
         "/workspace", GRANT, "ro", "rw", "turn", "session", "required", "\U0001f600" * 200,
         "\U0001f600" * 20000, "a" * 32001, "/" * 2 + "a", "/" + "b/" * 2200 + "c"]


def places(value, path=()):
    """Every place below the root, as a path of keys."""
    items = value.items() if isinstance(value, dict) else (
        enumerate(value) if isinstance(value, list) else ())
    for key, item in items:
        yield path + (key,)
        yield from places(item, path + (key,))


def at(document, path):
    for key in path:
        document = document[key]
    return document


def changed(document, path, value):
    document = copy.deepcopy(document)
    at(document, path[:-1])[path[-1]] = value
    return document


def bounds(schema, path):
    """The bounds that the schema gives for a place."""
    for key in path:
        schema = schema.get("items" if isinstance(key, int) else "properties", {})
        schema = schema if isinstance(key, int) else schema.get(key, {})
    found = [schema[word] for word in ("minimum", "maximum") if word in schema]
    return [bound + step for bound in found for step in (-1, -0.001, 0, 0.001, 1)
            ] + [10 ** 30, 0.0000000001]


def faults(document, schema):
    yield document
    for path in places(document):
        value = at(document, path)
        parent = copy.deepcopy(document)
        del at(parent, path[:-1])[path[-1]]
        yield parent
        others = list(REPLACEMENTS)
        if isinstance(value, str):
            others += [value + text for text in ADDITIONS] + [text + value for text in ADDITIONS]
            others += TEXTS
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            others += bounds(schema, path)
        elif isinstance(value, list):
            others += [value * times for times in (2, 17, 33, 70)]
        elif isinstance(value, dict):
            others += [dict(value, zzz=1), dict(value, HOME="x"),
                       {**{"K%d" % i: "v" for i in range(64)}},
                       {**{"K%d" % i: "v" for i in range(65)}}]
        for other in others:
            yield changed(document, path, other)
    yield dict(document, zzz=1)


def unique(documents):
    return list({json.dumps(document): document for document in documents})


def anchored(value):
    """Python's $ also holds before a final line end; ECMA-262's does not."""
    if isinstance(value, dict):
        return {key: re.sub(r"(?<!\\)\$(?=$|\))", r"\\Z", item)
                if key == "pattern" and isinstance(item, str) else anchored(item)
                for key, item in value.items()}
    return [anchored(item) for item in value] if isinstance(value, list) else value


class Checker:
    def __init__(self, policy):
        self.policy = policy
        self.passed = self.failed = 0
        self.used = set()

    def ran(self, words, data=b""):
        return subprocess.run([*self.policy, *words], input=data, capture_output=True, timeout=120,
                              check=False, env={})

    def validator(self, name):
        schema = json.loads(self.ran(["schema", name]).stdout)
        jsonschema.Draft202012Validator.check_schema(schema)
        return schema, jsonschema.Draft202012Validator(anchored(schema))

    def note(self, ok, text):
        self.passed += ok
        self.failed += not ok
        if not ok:
            print("FAILED " + text)

    def is_beyond(self, reason, pointer):
        rows = [row for row in BEYOND if row[0] == reason and re.fullmatch(row[1], pointer)]
        self.used.update(row[:2] for row in rows)
        return bool(rows)

    def compare(self, line, valid, findings):
        """findings: (reason, pointer) of what we refused; none when we accepted."""
        if not valid:
            self.note(bool(findings), "the schema refuses what we accept: %.300s" % line)
            return
        rest = [finding for finding in findings
                if finding != CALLER_IS_ROOT and not self.is_beyond(*finding)]
        self.note(not rest, "the schema accepts; we say %s: %.300s" % (rest, line))

    def configs(self):
        schema, validator = self.validator("config")
        lines = unique(fault for base in (TURN_CONFIG, SESSION_CONFIG, LEAST_CONFIG)
                       for fault in faults(base, schema))
        lines += ["[]", "null", "1"]
        done = self.ran(["check", "--lines", "--offline"], "\n".join(lines).encode())
        records = [json.loads(record) for record in done.stdout.splitlines()]
        self.note(len(records) == len(lines), "%d lines, %d records" % (len(lines), len(records)))
        for line, record in zip(lines, records):
            self.compare(line, validator.is_valid(json.loads(line)), [
                (found["reason"], found.get("pointer", "")) for found in record["findings"]])
        self.records(records)

    def records(self, records):
        _, validator = self.validator("record")
        for record in records:
            error = next(validator.iter_errors(record), None)
            self.note(error is None, "record: %s" % (error and error.message))
        for change in ({"seq": 0}, {"code": 5}, {"zzz": 1}, {"run": "x"}):
            self.note(not validator.is_valid(dict(records[0], **change)), "record with %s" % change)

    def turn_findings(self, line):
        done = self.ran(["turn", "--json"], line.encode())
        return [] if done.returncode == 0 else [
            (found["reason"], found.get("pointer", ""))
            for found in map(json.loads, done.stderr.splitlines())]

    def turns(self):
        schema, validator = self.validator("turn")
        lines = unique(faults(TURN, schema)) + ["[]", "null", "1"]
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            found = list(pool.map(self.turn_findings, lines))
        for line, findings in zip(lines, found):
            self.compare(line, validator.is_valid(json.loads(line)), findings)

    def end(self):
        for reason, pointer, _ in BEYOND:
            self.note((reason, pointer) in self.used, "BEYOND: no document needs %s" % reason)
        print("%d passed, %d failed" % (self.passed, self.failed))
        return 1 if self.failed else 0


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--policy", default=str(HERE.parent.parent / "cofferdam-policy"))
    checker = Checker(options.parse_args().policy.split())
    checker.configs()
    checker.turns()
    return checker.end()


if __name__ == "__main__":
    sys.exit(main())

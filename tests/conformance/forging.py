#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Can untrusted text forge a line, or steer a terminal?

Every byte, and the characters that reorder, hide or break text, in every place
that somebody else may fill in and cofferdam-policy may print: keys and values
of documents, paths of the file system, words of the command line and the
environment, docker's answers.  What comes out for people and for logs must be
printable ASCII and newlines, one line a finding or record, and each line ours.
"""

import argparse
import concurrent.futures
import copy
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from common.plans import CONTAINER, IMAGE, PLAN_TOOL, POLICY, Plan, Root, with_plan

# Bidirectional controls, separators, joiners, marks, tags, non-characters.
SPECIAL = ([0x85, 0xa0, 0xad, 0x61c, 0x300, 0x180e, 0x3164, 0xfeff, 0xfffd, 0xffff]
           + list(range(0x200b, 0x2010)) + list(range(0x2028, 0x2030))
           + list(range(0x2060, 0x2070)) + [0xfff9, 0xfffa, 0xfffb, 0x1f600, 0xe0001, 0xe007f,
                                            0x10ffff])
FORGED = "x\ncofferdam: SANDBOX_CONFIG forged.line: nothing is wrong\r\x1b[2J\x1b]0;x\x07"
GROUP = 32
PRINTABLE = set(range(0x20, 0x7f)) | {0x0a}


def groups():
    """Texts that hold every character together, few in number."""
    characters = [chr(code) for code in list(range(256)) + SPECIAL]
    texts = ["".join(characters[at:at + GROUP]) for at in range(0, len(characters), GROUP)]
    return texts + [FORGED, "\u202e" * 400, "\n" * 1200]


def singles():
    """Each character in a text of its own."""
    return ["a" + chr(code) + "b" for code in list(range(256)) + SPECIAL]


CONFIG = {
    "version": 1, "mode": "session", "image": "worker:1", "imageId": IMAGE, "name": "box",
    "session": {"key": "s-1", "revision": 3}, "user": {"uid": 1000, "gid": 1000},
    "mounts": [{"host": "/srv/a", "guest": "/workspace", "mode": "ro"}],
    "bundle": {"host": "/srv/c/hands.js", "guest": "/jeo/hands.js"}, "entrypoint": "/bin/sh",
    "command": ["-c", "cat"], "workdir": "/workspace", "environment": {"LANG": "C"},
    "limits": {"memoryBytes": 536870912}, "privatePaths": ["/srv/keys"],
    "stateFile": "/srv/state.json", "docker": {"host": "unix:///run/docker.sock",
                                               "runtime": "runc"},
    "audit": {"required": False}, "confinement": "best-effort",
}
TURN = {
    "text": "hello", "speaker": {"id": "u1", "name": "Ada"}, "model": "m", "prompt": "p",
    "timeZone": "UTC", "reset": True,
    "tools": [{"name": "look", "description": "", "parameters": {"type": "object"}}],
    "mcp": [{"server": "files", "tools": [{"name": "read", "description": "", "parameters": {}}]}],
}
MODEL_INPUT = {
    "messages": [{"role": "assistant", "content": "x", "tool_calls": [
        {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]}],
    "tools": [{"type": "function", "function": {"name": "f", "description": "",
                                                "parameters": {"$ref": "#"}}}],
}
IMAGE_ANSWER = {
    "Id": IMAGE, "Os": "linux", "Architecture": "amd64",
    "Config": {"Env": ["A=b"], "Labels": {"a": "b"}, "Entrypoint": ["/bin/sh"], "Cmd": ["-c"],
               "WorkingDir": "/w", "Volumes": None, "User": "x"},
}


def filled(document, text):
    """The document with the text in each place in turn: for a string, as a key more, as a value
    of the wrong type."""
    def visit(value, path):
        if isinstance(value, dict):
            yield path, dict(value, **{text: 1})
            for key, item in value.items():
                yield path, {(text if key == other else other): item_too
                             for other, item_too in value.items()}
                yield from visit(item, path + [key])
        elif isinstance(value, list):
            yield path, value + [text]
            for index, item in enumerate(value):
                yield from visit(item, path + [index])
        else:
            yield path, text
            yield path, {text: text}

    for path, value in visit(document, []):
        if not path:
            yield value
            continue
        changed = copy.deepcopy(document)
        inner = changed
        for key in path[:-1]:
            inner = inner[key]
        inner[path[-1]] = value
        yield changed


def ascii_json(document):
    return json.dumps(document).encode()


def raw_json(document):
    """Characters as they are, where JSON allows that."""
    return json.dumps(document, ensure_ascii=False).encode("utf-8", "surrogatepass")


def is_printable(data):
    return set(data) <= PRINTABLE


class Suite:
    def __init__(self, options, top):
        self.policy = options.policy.split()
        self.tool = options.plan
        self.top = top
        self.jobs = []
        self.passed = self.failed = 0

    def note(self, ok, text):
        self.passed += ok
        self.failed += not ok
        if not ok:
            print("FAILED %.400s" % text)

    def run(self, words, data=b"", env=None, cwd=None):
        return subprocess.run([*self.policy, *words], input=data, capture_output=True, timeout=60,
                              check=False, env=env or {}, cwd=cwd)

    def each(self, function, items):
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for ok, text in pool.map(function, items):
                self.note(ok, text)

    @staticmethod
    def lines_fault(data, as_json, count):
        """What is wrong with lines for people or for machines; None: nothing."""
        if not is_printable(data):
            return "a byte that is not printable"
        lines = data.decode().split("\n")
        if lines.pop() != "":
            return "no newline at the end"
        if count is not None and len(lines) != count:
            return "%d lines, not %d" % (len(lines), count)
        for line in lines:
            if as_json and not isinstance(json.loads(line), dict):
                return "not an object"
            if not as_json and not line.startswith(("cofferdam: SANDBOX_",
                                                    "cofferdam-policy: USAGE ")):
                return "not a line of ours: %r" % line[:80]
        return None

    def one(self, what, done, as_json, most=1, output=None):
        """A command that says one line when it refuses, and output() of its answer."""
        if done.returncode not in (0, 64, 65, 66, 69, 75, 76, 77, 78):
            return False, "%s: exit %d: %r" % (what, done.returncode, done.stderr[:200])
        fault = self.lines_fault(done.stderr, as_json,
                                 0 if done.returncode == 0 else most)
        if fault is None and output is not None:
            fault = output(done)
        return fault is None, "%s: %s: %r" % (what, fault, done.stderr[:300])

    @staticmethod
    def is_record(done):
        if not is_printable(done.stdout) or done.stdout.count(b"\n") != 1:
            return "the record is not one line"
        findings = json.loads(done.stdout)["findings"]
        lines = done.stderr.count(b"\n")
        return None if lines == len(findings) else "%d findings, %d lines" % (len(findings), lines)

    def config_records(self):
        """Every place times every character, as records: together, and a third of them alone."""
        lines = [ascii_json(document) for number, text in enumerate(singles())
                 for place, document in enumerate(filled(CONFIG, text))
                 if (place - number) % 3 == 0]
        lines += [raw_json(document) for text in groups() for document in filled(CONFIG, text)]
        lines += [b'{"mode":"a%sb","%s":1}' % (bytes([byte]), bytes([byte]))
                  for byte in range(256) if byte != 0x0a]
        lines += [b'{"a%sb":1,"a%sb":2}' % (bytes([byte]), bytes([byte]))
                  for byte in range(256) if byte not in (0x0a, 0x22, 0x5c)]
        done = self.run(["check", "--lines", "--offline"], b"\n".join(lines))
        self.note(is_printable(done.stdout), "records: a byte that is not printable")
        records = done.stdout.splitlines()
        self.note(len(records) == len(lines), "%d lines, %d records" % (len(lines), len(records)))
        self.note(done.stderr == b"", "--lines wrote to standard error")
        for line, record in zip(lines, records):
            self.note(set(json.loads(record)) > {"decision", "findings"}, "record of %r" % line)

    def config_findings(self):
        def judge(job):
            document, as_json = job
            words = ["check", "--offline", "-c", "-"] + (["--json"] if as_json else [])
            done = self.run(words, raw_json(document))
            return self.one("check", done, as_json, None, self.is_record)

        self.each(judge, [(document, number % 2 == 0) for text in groups()
                          for number, document in enumerate(filled(CONFIG, text))])

    def argv_output(self):
        """What is allowed and not ASCII: the frozen words, and the record of them."""
        def judge(text):
            document = dict(CONFIG, command=[text], environment={"A": text})
            done = self.run(["argv", "--offline", "-c", "-"], raw_json(document))
            fine = is_printable(done.stdout) and done.stdout.count(b"\n") == 1
            return done.returncode == 0 and fine and text in json.loads(done.stdout), \
                "argv of %r: %r" % (text, done.stderr)

        self.each(judge, ["a%sb" % chr(code) for code in SPECIAL])

    def documents(self):
        """The filters: a refusal is one line; dropped keys are one line each."""
        def judge(job):
            command, document, as_json = job
            words = [command] + (["--json"] if as_json else [])
            return self.one(command, self.run(words, raw_json(document)), as_json)

        jobs = [(command, document, number % 2 == 0)
                for command, base in (("turn", TURN), ("model-input", MODEL_INPUT),
                                      ("reply", {"ok": True, "text": "x"}))
                for text in groups() for number, document in enumerate(filled(base, text))]
        jobs += [("json", text, False) for text in groups()]
        self.each(judge, jobs)
        self.each(self.bytes_of, [(command, byte) for command in ("turn", "json", "reply")
                                  for byte in range(256)])
        self.each(self.dropped, singles() + groups())

    def bytes_of(self, job):
        command, byte = job
        done = self.run([command], b'{"a%sb":"%s"%s' % ((bytes([byte]),) * 3))
        return self.one("%s of byte %d" % job, done, False)

    def dropped(self, text):
        done = self.run(["turn", "--dropped"], raw_json(dict(TURN, **{text: 1, text + "2": {}},
                                                             speaker={"id": "", "name": "",
                                                                      text: text})))
        fine = is_printable(done.stderr) and done.stderr.count(b"\n") == 3
        return done.returncode == 0 and fine, "dropped %r: %r" % (text, done.stderr[:200])

    def image_answers(self):
        path = pathlib.Path(self.top, "image")

        def judge(job):
            number, data = job
            mine = path.with_name("image%d" % number)
            mine.write_bytes(data)
            config = {key: value for key, value in CONFIG.items()
                      if key not in ("entrypoint", "command", "workdir", "imageId")}
            done = self.run(["check", "--offline", "-c", "-", "--image", str(mine)],
                            ascii_json(config))
            return self.one("image answer", done, False, None, self.is_record)

        jobs = [raw_json(document) for text in groups() for document in filled(IMAGE_ANSWER, text)]
        jobs += [b'{"Id":"%s"' % bytes([byte]) for byte in range(256)]
        self.each(judge, list(enumerate(jobs)))

    def docker_answers(self):
        root = os.path.join(self.top, "ws")
        os.mkdir(root)
        stat = os.stat(root)
        plan = Plan([Root(root, "/workspace", "rw", False, (stat.st_dev, stat.st_ino))], ["x"],
                    live=1)
        path = os.path.join(self.top, "plan")
        plan.write(self.tool, path)

        def judge(job):
            command, data = job
            done = with_plan(self.policy, command, path, data)
            return self.one(command, done, True)

        other = [CONTAINER, "f" * 32, "e" * 32, "turn", '[{"path":"/srv/x","mode":"ro"}]', "/srv/x"]
        lines = [line for text in groups() for line in filled(other, text)]
        lines += [other[:4] + [json.dumps([{"path": "/" + text, "mode": "rw"}]), "/" + text]
                  for text in groups()]
        lines += [other[:4] + [json.dumps([{"path": root + "/" + text, "mode": "rw"}]),
                               root + "/" + text] for text in singles()]
        ours = ascii_json(plan.line()) + b"\n"
        self.each(judge, [("admit", ours + raw_json(line) + b"\n") for line in lines])
        self.each(judge, [("admit", ours + b'["%s"]' % bytes([byte])) for byte in range(256)])
        self.each(judge, [("verify", raw_json(document)) for text in groups()
                          for number, document in enumerate(filled(plan.inspected(), text))
                          if number % 7 == len(text) % 7 or text is FORGED])
        self.each(judge, [("verify", b'{"Image":"%s"' % bytes([byte])) for byte in range(256)])
        # Without --json, too.
        done = subprocess.run(["sh", "-c", 'exec 3<"$0"; exec "$@"', path, *self.policy, "verify"],
                              input=raw_json(dict(plan.inspected(), Name=FORGED)),
                              capture_output=True, check=False)
        self.note(*self.one("verify", done, False))

    def containers_shown(self):
        usual = [CONTAINER, "f" * 32, "e" * 32, "turn", "", "0", "running", "box", "now"]
        texts = singles() + groups()
        lines = [raw_json(usual[:at] + [text] + usual[at + 1:])
                 for text in texts for at in range(len(usual))]
        for words in (["ps"], ["ps", "--json"]):
            done = self.run(words, b"\n".join(lines) + b"\n")
            head = 0 if "--json" in words else 1
            self.note(is_printable(done.stdout) and done.returncode == 0
                      and done.stdout.count(b"\n") == len(lines) + head, "%s: %d lines, %d shown"
                      % (words, len(lines), done.stdout.count(b"\n")))
            done = self.run(words, b"\n".join(b'["%s' % bytes([byte]) for byte in range(256)))
            self.note(*self.one("ps", done, "--json" in words))

    def paths(self):
        """Names of the file system that are not UTF-8, or worse."""
        names = [bytes([byte]) for byte in range(1, 256) if byte != 0x2f]
        names += [text.encode() for text in (FORGED.replace("/", "")[:200],)]
        names += [chr(code).encode() for code in SPECIAL]
        top = os.path.join(self.top.encode(), b"paths")
        os.mkdir(top)

        def judge(job):
            number, name = job
            own = os.path.join(top, b"%d" % number)
            odd = os.path.join(own, b"a" + name + b"b")
            os.makedirs(os.path.join(odd, b"in"))
            os.chmod(odd, 0o777)
            os.symlink(os.path.join(odd, b"in"), os.path.join(own, b"link"))
            config = dict(CONFIG, mounts=[{"host": own.decode() + "/link", "guest": "/workspace",
                                           "mode": "ro"}])
            for key in ("bundle", "privatePaths", "stateFile"):
                del config[key]
            config["docker"] = {"host": "unix://%s/link/sock" % own.decode()}
            done = self.run(["check", "-c", "-"], ascii_json(config))
            if done.returncode == 0:
                return False, "a mount that others can replace was allowed"
            return self.one("path %r" % name, done, False, None, self.is_record)

        self.each(judge, list(enumerate(names)))
        self.each(self.words, names)

    def words(self, name):
        """The command line and the environment."""
        word = b"/nowhere/a" + name + b"b"
        environment = {key: word for key in (
            b"DOCKER_HOST", b"SSH_AUTH_SOCK", b"STATE_DIRECTORY", b"HOME")}
        config = dict(CONFIG)
        del config["docker"]
        done = self.run(["check", "--offline", "-c", "-"], ascii_json(config), environment)
        results = [self.one("environment %r" % name, done, False, None, self.is_record)]
        for words in (["check", "-c", word], ["argv", "-c", word], ["check", "--nonce", word],
                      ["check", "--image", word, "--offline", "-c", "-"]):
            done = self.run(words, ascii_json(config))
            results.append(self.one("%s" % words, done, False, None))
        for words in ([word], ["explain", word], ["schema", word], ["turn", b"--" + word],
                      ["turn", "--max-bytes", word], ["turn", word]):
            results.append(self.one("%s" % words, self.run(words), False))
        return next((result for result in results if not result[0]), (True, ""))


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--policy", default=POLICY)
    options.add_argument("--plan", default=PLAN_TOOL)
    top = os.path.realpath(tempfile.mkdtemp(prefix="cofferdam-"))
    suite = Suite(options.parse_args(), top)
    try:
        for part in (suite.config_records, suite.config_findings, suite.argv_output,
                     suite.documents, suite.image_answers, suite.docker_answers,
                     suite.containers_shown, suite.paths):
            part()
    finally:
        shutil.rmtree(top)
    print("%d passed, %d failed" % (suite.passed, suite.failed))
    return 1 if suite.failed else 0


if __name__ == "__main__":
    sys.exit(main())

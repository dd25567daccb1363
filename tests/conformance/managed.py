#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Replays launches of the second reference, as far as they are policy's to decide.

Each vector is one launch against a scripted docker: what the environment, the
file system and docker's answers were, and how the launch ended.  The launch
becomes a config, its scratch directory is really made, and the three decisions
are taken in their order: `argv` (endpoint, image, user, mounts; `decide` where
it matters how docker was asked), `admit` (the other managed containers),
`verify` (the container as docker describes it).
Labels and container ids are translated; nothing else is.

A vector that is about something else is a row of unmapped.tsv, and counted.  A
decision that differs on purpose is a row of differences.tsv.

outcome of a row:  refuse REASON...  the reference launches; ours refuses for one of these
                   because REASON... both refuse, ours for one of these
                   accept            the reference refuses; ours launches
"""

import argparse
import concurrent.futures
import decimal
import hashlib
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile

from common import frames
from common.plans import PLAN_TOOL, POLICY, STATE, Plan, Root, with_plan
from documents import Number, differences, parse, tell_use, vector_lines, write
from launches import CPUS_MAX, CPUS_MIN, MEMORY_MIB_MAX, PIDS_MAX, REFERENCE, plain, plain_cpus

HERE = pathlib.Path(__file__).resolve().parent
LABEL = "dev.jeo.sandbox."
BUNDLE_GUEST = "/jeo/hands.js"
DEFAULT_IMAGE = ('{"Id":"sha256:%s","Os":"linux","Architecture":"amd64"}'
                 % ("0123456789abcdef" * 4))
# The commands after which a container exists, or may.
LATER = {"managed-ls", "managed-inspect", "create", "start", "inspect"}
EARLIER = {"context-show", "context-inspect", "info", "image"}

# What the reference says, and the reasons of ours that are as good.
FAMILIES = [
    ("only local Docker endpoints", "endpoint.scheme endpoint.path"),
    ("remote Docker context", "endpoint.scheme endpoint.path shape.length context.answer"),
    ("malformed Docker endpoint", "context.answer"),
    ("Docker context inspection", "context.answer"),
    ("Docker local image inspection", "image.absent"),
    ("Linux Bun image", "image.os image.answer"),
    ("no immutable identity", "image.answer"),
    ("malformed Docker daemon or image", "image.answer"),
    ("bundle is not a regular file", "bundle.file"),
    ("exposes the trusted hands bundle", "mount.overlap"),
    ("unsupported mount path", "mount.character mount.guest"),
    ("unsupported bundle path", "mount.character"),
    ("as a non-root user", "user.root"),
    ("SANDBOX_MOUNT_OVERLAP: mount roots", "mount.overlap mount.alias"),
    ("managed mount roots must be", "managed.overlap"),
    ("SANDBOX_UNAVAILABLE: invalid managed container", "managed.unknown"),
    ("SANDBOX_UNAVAILABLE: managed mount metadata", "managed.unknown"),
    ("SANDBOX_UNAVAILABLE: unknown managed", "managed.unknown"),
    ("mount source changed during launch", "mount.changed"),
    ("started container ownership or mount", "verify.differs verify.answer"),
    ("unexpected container bind mounts", "verify.differs"),
    ("actual container bind configuration", "verify.differs"),
]


class Setup:
    """The scratch directories of one vector."""

    def __init__(self):
        # Not in the system's own directory for them: that may hold mount points of others.
        self.top = os.path.realpath(tempfile.mkdtemp(prefix="cofferdam-"))
        self.root = self.top + "/root"
        os.makedirs(self.root + "/home")
        os.mkdir(self.top + "/engine")
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.bind(self.top + "/engine/docker.sock")
        os.chmod(self.top + "/engine/docker.sock", 0o600)

    def close(self):
        self.socket.close()
        shutil.rmtree(self.top)


class Case:
    def __init__(self, kind, line):
        self.text = line if kind == "b-create-args" else usual_launch(json.loads(line))
        self.rows = []
        self.read(self.text)

    def read(self, line):
        vector = parse(line)
        self.name = vector.get("id")
        self.env = dict(vector.get("env"))
        self.script = dict(vector.get("script") or [])
        self.fs = vector.get("fs")
        self.moves = [pair for key in ("before", "after_call") for pair in vector.get(key) or []]
        self.launches = vector.get("launches")
        self.user = (vector.get("uid"), vector.get("gid"))
        expect = dict(vector.get("expect")[0])
        self.vector = vector
        self.expect = expect
        self.accept = expect["outcome"] == "ok"
        self.error = expect.get("message") or ""
        if expect.get("code") == "REVOKE_INCOMPLETE":
            self.error = expect.get("cause") or ""

    def answer(self, name, nth=0):
        """The script's answer to a command's n-th call, or None for the usual one."""
        answer = self.script.get(name)
        if isinstance(answer, list) and (not answer or not isinstance(answer[0], tuple)):
            answer = answer[nth] if nth < len(answer) else None
        answer = dict(answer or [])
        answer = dict(answer.get("every") or answer)
        return answer if "stdout" in answer else None

    def told(self, name):
        """The first answer as the executor would hand it on; None: the usual one."""
        answer = next(self.answers(name), None)
        if answer is None or "default" in answer:
            return None
        if answer.get("throw"):
            return frames.Answer("", 255)
        return frames.Answer(answer.get("stdout", ""), int(answer.get("exit", "0")))

    def asks_context(self):
        """Nothing but docker's context names the endpoint."""
        return bool(self.env.get("DOCKER_CONTEXT")) or "DOCKER_HOST" not in self.env

    def needs_frames(self):
        context, image = self.told("context-inspect"), self.told("image")
        return bool(self.asks_context() and context is not None
                    and (context.status or not is_json_string(context.text))
                    or image is not None and image.status)

    def stdout(self, name, nth=0):
        answer = self.answer(name, nth)
        return answer and answer["stdout"]

    def answers(self, name):
        value = self.script.get(name) or []
        several = not value or not isinstance(value[0], tuple)
        for answer in value if several else [value]:
            answer = dict(answer)
            yield dict(answer.get("every") or answer)

    def launch(self):
        return dict(self.launches[0])

    def policy(self):
        return dict(self.launch()["policy"])

    def mounts(self):
        return [dict(mount) for mount in self.policy()["mounts"]]

    def endpoint_text(self):
        """What the reference takes for docker's address, and whether a context gave it."""
        if not self.env.get("DOCKER_CONTEXT") and "DOCKER_HOST" in self.env:
            return self.env["DOCKER_HOST"], False
        told = self.stdout("context-inspect")
        return (None, True) if told is None else (told.strip(), True)


def usual_launch(vector):
    """A vector that says only what differs from the usual launch, as one that says all."""
    whole = {
        "uid": 1501, "gid": 1501, "expect": [vector],
        "fs": [{"dir": "ws"}, {"dir": "bundle"}, {"file": "bundle/hands.js", "text": "x"}],
        "launches": [{"bundle": "<root>/bundle/hands.js", "policy": {
            "sessionKey": "s-1", "revision": 1, "privatePaths": [],
            "config": {"image": "worker:1",
                       "limits": {"pids": 64, "memoryBytes": 536870912, "cpus": 1}},
            "mounts": [{"host": "<root>/ws", "guest": "/workspace", "mode": "rw"}]}}]}
    if "endpoint" in vector:
        whole["script"] = {"context-inspect": {"exit": 0, "stdout": vector["endpoint"]}}
    return json.dumps(dict(vector, **whole))


# The predicates of unmapped.tsv: what a vector is about that is not policy's.

def is_for_another_platform(case):
    return case.vector.get("platform") is not None


def is_about_time(case):
    return case.expect.get("elapsed_s") is not None or case.vector.get("timers") is not None


def is_about_the_lock(case):
    return "launch.lock" in case.text or ".jeo" in case.text.replace(LABEL, "").replace(
        "/tmp/jeo", "")


def is_about_output_bounds(case):
    return case.vector.get("pad") is not None


def loses_an_answer(case):
    """Some docker command before the verdict did not end well."""
    told = [answer for name in {"info"} | LATER - {"inspect"} for answer in case.answers(name)]
    for answer in case.answers("inspect"):
        told.append(answer)
        if '"Running":true' in answer.get("stdout", '"Running":true'):
            break
    return any(answer.get("throw") or answer.get("exit", "0") != "0" for answer in told)


def asks_the_engine(case):
    return "info" in case.script


def asks_for_the_name(case):
    return "context-show" in case.script


def reads_create(case):
    return "create" in case.script


def launches_again(case):
    return len(case.launches) > 1


def is_json_string(text):
    try:
        return isinstance(json.loads(text), str)
    except ValueError:
        return False


# The predicates of differences.tsv.

def host_of(case):
    text, of_context = case.endpoint_text()
    if text is None or case.needs_frames():
        return "unix:///var/run/docker.sock"
    return json.loads(text) if of_context else text


def has_windows_pipe(case):
    return host_of(case).lower().startswith("npipe://")


def has_upper_case_scheme(case):
    return not host_of(case).startswith("unix://") and host_of(case).lower().startswith("unix://")


def has_odd_socket_path(case):
    host = host_of(case)
    path = host[7:]
    return host.startswith("unix:///") and bool(
        re.search(r"[\x00-\x1f\x7f,\"%?#]|//|/\.\.?(/|$)|[/ ]$", path) or len(path) > 107)


def has_empty_host(case):
    return case.env.get("DOCKER_HOST") == "" and not case.env.get("DOCKER_CONTEXT")


def has_context_and_remote_host(case):
    return bool(case.env.get("DOCKER_CONTEXT")) and not case.env.get(
        "DOCKER_HOST", "unix:///").startswith("unix:///")


def has_unasked_context(case):
    """DOCKER_HOST decides, and the context that nobody needs cannot be read."""
    told = case.told("context-inspect")
    return not case.asks_context() and told is not None and (
        bool(told.status) or not is_json_string(told.text))


def lacks_architecture(case):
    try:
        image = json.loads(case.stdout("image") or DEFAULT_IMAGE)
    except ValueError:
        return False
    return isinstance(image, dict) and not image.get("Architecture") and bool(re.fullmatch(
        "sha256:[0-9a-f]{64}", str(image.get("Id")))) and image.get("Os") == "linux"


def has_id_in_a_list(case):
    try:
        image = json.loads(case.stdout("image") or DEFAULT_IMAGE)
    except ValueError:
        return False
    return isinstance(image, dict) and isinstance(image.get("Id"), list)


def has_odd_session_key(case):
    key = case.policy()["sessionKey"]
    return not re.fullmatch(r'[ -~]{1,128}', key) or bool(re.search(r'[,"\\]|^-', key))


def has_odd_revision(case):
    revision = case.policy().get("revision")
    return not (isinstance(revision, Number) and re.fullmatch("0|[1-9][0-9]{0,15}", revision)
                and int(revision) < 2 ** 53)


def has_gid_zero(case):
    return case.user[0] != "0" and case.user[1] == "0"


def has_high_user(case):
    return any(int(number or 0) > 2147483647 for number in case.user)


def has_guest_twice(case):
    guests = [mount["guest"] for mount in case.mounts()]
    return len(set(guests)) < len(guests)


def has_host_twice(case):
    hosts = [mount["host"] for mount in case.mounts()]
    return len(set(hosts)) < len(hosts)


def mounts_a_file(case):
    files = {"<root>/" + dict(entry)["file"] for entry in case.fs if dict(entry).get("file")}
    return any(mount["host"] in files for mount in case.mounts())


def has_odd_path_character(case):
    return any(re.search('[\x00-\x1f\x7f"]', path)
               for path in [mount["host"] for mount in case.mounts()] + [case.launch()["bundle"]])


def has_empty_host_path(case):
    return any(mount["host"] == "" for mount in case.mounts())


def inspected(case):
    try:
        return json.loads(case.stdout("inspect") or "null")
    except ValueError:
        return None


def describes_more(case):
    """The container has what nobody asked for, and the reference does not look at."""
    record = inspected(case)
    if not isinstance(record, dict):
        return False
    mounts = record.get("Mounts") if isinstance(record.get("Mounts"), list) else []
    others = [mount for mount in mounts if isinstance(mount, dict) and mount.get("Type") != "bind"]
    config = record.get("Config") if isinstance(record.get("Config"), dict) else {}
    return bool(others or set(record) - {"Config", "State", "Mounts"} or set(config) - {"Labels"})


def has_source_written_otherwise(case):
    record = inspected(case)
    mounts = record.get("Mounts") if isinstance(record, dict) else None
    return any(isinstance(mount, dict) and isinstance(mount.get("Source"), str)
               and os.path.normpath(mount["Source"]) != mount["Source"]
               for mount in mounts or [])


def moves_a_source(case):
    return bool(case.moves)


def uses_devices(case):
    return case.launch()["bundle"].startswith("/dev/")


# Where the vectors' makers put a stand-in in the place of the reference's own validators.

def has_odd_limit(case):
    limits = dict(dict(case.policy()["config"])["limits"])
    pids, memory, cpus = (limits.get(name) for name in ("pids", "memoryBytes", "cpus"))
    return not (all(isinstance(value, Number) for value in (pids, memory, cpus))
                and plain(pids) and 8 <= int(pids) <= PIDS_MAX
                and plain(memory) and 64 <= int(memory) / 1048576 <= MEMORY_MIB_MAX
                and plain_cpus(cpus) and CPUS_MIN <= decimal.Decimal(cpus) <= CPUS_MAX)


def has_odd_image(case):
    return not REFERENCE.fullmatch(str(dict(case.policy()["config"])["image"]))


def has_odd_mode(case):
    return any(mount.get("mode") not in ("ro", "rw") for mount in case.mounts())


def mounts_the_root(case):
    return any(mount["host"] == "/" for mount in case.mounts())


def resolved(case, path):
    """Where a path of the vector's leads."""
    for entry in map(dict, case.fs):
        link = "<root>/" + str(entry.get("link"))
        if path == link or path.startswith(link + "/"):
            path = entry["to"] + path[len(link):]
    return os.path.normpath(path)


def has_host_written_otherwise(case):
    hosts = [mount["host"] for mount in case.mounts()]
    bundle = resolved(case, case.launch()["bundle"])
    return any(host and resolved(case, host) != host for host in hosts) and not any(
        (bundle + "/").startswith(resolved(case, host) + "/") for host in hosts)


def lists_odd_sources(case):
    """Another managed container's source is a link now, or gone."""
    there = {"<root>/" + str(dict(entry).get("dir")) for entry in case.fs}
    for answer in case.answers("managed-inspect"):
        for source in re.findall(r'"Source":"(<root>/[^"]*)"', answer.get("stdout", "")):
            if resolved(case, source) != source or source not in there:
                return True
    return False


def failed_by_itself(case):
    """A TypeError and its like: the reference refuses, and does not know why."""
    return not case.accept and not case.error.startswith("SANDBOX_")


PREDICATES = {name: value for name, value in list(globals().items()) if callable(value)}


# From a vector to our inputs.

def make_files(case, root):
    for entry in case.fs:
        entry = dict(entry)
        kind = next(key for key in ("dir", "file", "link", "fifo") if key in entry)
        path = os.path.join(root, entry[kind])
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if kind == "dir":
            os.makedirs(path, exist_ok=True)
        elif kind == "file":
            pathlib.Path(path).write_text(entry["text"])
        elif kind == "link":
            os.symlink(entry["to"], path)
        else:
            os.mkfifo(path)
        if "mode" in entry:
            os.chmod(path, int(entry["mode"]))


def move(actions):
    for action in actions:
        action = dict(action)
        if action["do"] == "rename":
            os.rename(action["from"], action["to"])
        elif action["do"] == "mkdir":
            os.mkdir(action["path"])
        elif action["do"] == "symlink":
            os.symlink(action["target"], action["path"])
        elif action["do"] == "write":
            pathlib.Path(action["path"]).write_text(action["text"])
        else:
            raise ValueError(action["do"])


def move_all(case, commands):
    for name, actions in case.moves:
        if name.split("#")[0] in commands:
            move(actions)


def config(case, setup):
    """The config, and whether it can be judged with the file system."""
    policy, launch = case.policy(), case.launch()
    inner = dict(policy["config"])
    host = "unix://%s/engine/docker.sock" % setup.top
    text, of_context = case.endpoint_text()
    own_host = text is None and "DOCKER_HOST" not in case.env
    document = {
        "version": Number(1), "mode": "session", "image": inner["image"],
        "session": {"key": policy["sessionKey"], "revision": policy.get("revision")},
        "user": {"uid": Number(case.user[0]), "gid": Number(case.user[1])},
        "mounts": [dict(mount) for mount in policy["mounts"]],
        "bundle": {"host": launch["bundle"], "guest": BUNDLE_GUEST},
        "entrypoint": "/usr/local/bin/bun", "command": [BUNDLE_GUEST], "workdir": "/workspace",
        "limits": dict(inner["limits"]), "privatePaths": list(policy.get("privatePaths") or []),
    }
    if own_host or case.needs_frames():
        document["docker"] = {"host": host}
    elif of_context and not case.env.get("DOCKER_HOST"):
        document["docker"] = {"host": json.loads(text) if text is not None
                              else "unix:///var/run/docker.sock"}
    return document, own_host


def dump(value):
    if isinstance(value, dict):
        return "{%s}" % ",".join("%s:%s" % (write(key), dump(item))
                                 for key, item in value.items())
    if isinstance(value, list):
        return "[%s]" % ",".join(map(dump, value))
    return write(value)


def plan_of(case, document):
    roots = []
    for mount in document["mounts"] + [dict(document["bundle"], mode="ro")]:
        stat = os.stat(mount["host"])
        roots.append(Root(os.path.realpath(mount["host"]), mount["guest"], mount["mode"],
                          mount["guest"] == BUNDLE_GUEST, (stat.st_dev, stat.st_ino)))
    image = json.loads(case.stdout("image") or DEFAULT_IMAGE)["Id"]
    return Plan(roots, document["command"], uid=int(case.user[0]), gid=int(case.user[1]),
                session=document["session"]["key"], revision=int(document["session"]["revision"]),
                image_id=image)


def digest(text, digits):
    return hashlib.sha256(text.encode()).hexdigest()[:digits]


def managed_line(container, text):
    """A line of ADMIT_FORMAT from an inspect record of the reference's."""
    if re.fullmatch("[A-Za-z0-9_-]+", container):
        container = digest(container, 64)
    try:
        record = json.loads(text)
    except ValueError:
        return text
    record = record if isinstance(record, dict) else {}
    labels = record.get("Config", {}).get("Labels") if isinstance(record.get("Config"), dict) else {}
    labels = labels if isinstance(labels, dict) else {}
    owner, session, revision = (str(labels.get(LABEL + name, ""))
                                for name in ("owner", "session", "revision"))
    mounts = record.get("Mounts")
    fields = [container, owner and digest(owner, 32), revision, session and "session", "", ""]
    if re.fullmatch("[0-9]+", revision):
        fields[2] = digest(revision, 32)
    if isinstance(mounts, list):
        mounts = [mount if isinstance(mount, dict) else {} for mount in mounts]
        mounts = [mount for mount in mounts
                  if (mount.get("Type"), mount.get("Destination")) != ("tmpfs", "/tmp")]
        fields[4] = json.dumps([{"path": mount.get("Source"), "mode": "rw" if mount.get("RW", True)
                                 else "ro"} for mount in mounts if mount.get("Type") == "bind"])
        fields[5] = ",".join(str(mount.get("Name") or mount.get("Source", ""))
                             or "?" for mount in mounts)
    return json.dumps(fields)


def managed_lines(case, plan):
    names = re.split(r"\r?\n", (case.stdout("managed-ls") or "").strip())
    lines = [managed_line(name, case.stdout("managed-inspect", nth) or "")
             for nth, name in enumerate(name for name in names if name)]
    return "\n".join([json.dumps(plan.line())] + lines).encode() + b"\n"


def merge(base, over):
    for key, value in over.items():
        if isinstance(value, dict) and isinstance(base.get(key), dict):
            merge(base[key], value)
        else:
            base[key] = value


def container_document(case, plan):
    """Ours, with what the reference's record says put over it."""
    text = case.stdout("inspect")
    if text is None:
        return json.dumps(plan.inspected())
    try:
        record = json.loads(text)
    except ValueError:
        return text
    if not isinstance(record, dict):
        return text
    document = plan.inspected()
    names = {"owner": "state", "session": "session", "revision": "revision"}
    config = record.pop("Config", None)
    labels = config.pop("Labels", None) if isinstance(config, dict) else None
    theirs = labels if isinstance(labels, dict) else {}
    for name, ours in names.items():
        document["Config"]["Labels"].pop("dev.cofferdam." + ours)
        if LABEL + name in theirs:
            document["Config"]["Labels"]["dev.cofferdam." + ours] = theirs[LABEL + name]
    mounts = record.pop("Mounts", None)
    if isinstance(mounts, list):
        mounts = [dict(mount, Mode="", Propagation="rprivate")
                  if isinstance(mount, dict) and mount.get("Type") == "bind" else mount
                  for mount in mounts]
    document["Mounts"] = mounts
    merge(document, record)
    if isinstance(config, dict):
        merge(document["Config"], config)
    return json.dumps(document)


# Running and judging.

def reasons_of(done):
    if done.returncode not in (0, 69, 75, 77, 78):
        raise ValueError("exit %d: %r" % (done.returncode, done.stderr))
    found = {json.loads(line)["reason"] for line in done.stderr.splitlines()}
    if (done.returncode == 0) != (not found):
        raise ValueError("exit %d, but %s" % (done.returncode, found))
    return found


def decide(case, setup, options):
    """The reasons of the first decision that refuses; none when all allow."""
    make_files(case, setup.root)
    move_all(case, EARLIER)
    document, online = config(case, setup)
    image = pathlib.Path(setup.top, "image.json")
    image.write_text(case.stdout("image") if case.answer("image") else DEFAULT_IMAGE)
    words = [*options.policy.split(), "argv", "--json", "-c", "-", "--image", str(image)]
    done = subprocess.run(words + ([] if online else ["--offline"]), input=dump(document).encode(),
                          capture_output=True, timeout=60, check=False,
                          env={key: value for key, value in case.env.items()
                               if key.startswith("DOCKER_")})
    found = reasons_of(done)
    if found:
        return found
    plan, path = plan_of(case, document), setup.top + "/plan"
    plan.write(options.plan, path)
    move_all(case, LATER)
    for command, data in (("admit", managed_lines(case, plan)),
                          ("verify", container_document(case, plan).encode())):
        found = reasons_of(with_plan(options.policy.split(), command, path, data))
        if found:
            return found
    return set()


def decide_by_frames(case, setup, options):
    make_files(case, setup.root)
    document, _ = config(case, setup)
    if case.asks_context() and case.told("context-inspect") is not None:
        document.pop("docker")
    path = setup.top + "/config.json"
    pathlib.Path(path).write_text(dump(document))
    return frames.decide(options.policy.split(), options.plan, path,
                         context=case.told("context-inspect") or frames.Answer("", 1),
                         image=case.told("image") or frames.Answer(DEFAULT_IMAGE)).reasons


def judge(case, options):
    setup = Setup()
    try:
        case.read(case.text.replace("<root>", setup.root).replace("<owner>", STATE))
        way = decide_by_frames if case.needs_frames() else decide
        found = way(case, setup, options)
    except (ValueError, TypeError, OSError, subprocess.SubprocessError) as error:
        return "%s: %s" % (type(error).__name__, error)
    finally:
        setup.close()
    return disagreement(case, found)


def disagreement(case, found):
    kinds = {row.outcome.split()[0] for row in case.rows}
    refuses = (not case.accept or "refuse" in kinds) and "accept" not in kinds
    theirs = case.error or "ok"
    if bool(found) != refuses:
        return "%s; the reference: %s" % (sorted(found) or "allowed", theirs)
    family = {reason for row in case.rows for reason in row.outcome.split()[1:]}
    if not case.accept:
        family |= {reason for text, reasons in FAMILIES if text in case.error
                   for reason in reasons.split()}
    if found and not found & family:
        return "refused for %s; the reference: %s" % (sorted(found), theirs)
    return None


def choose_rows(case, table):
    outcomes = ("refuse",) if case.accept else ("because", "accept")
    case.rows = [row for row in table if row.outcome.split()[0] in outcomes and row.applies(case)]
    for row in case.rows:
        row.used += 1


def unmapped_rows():
    lines = (HERE / "unmapped.tsv").read_text().splitlines()
    rows = [line.split("\t") for line in lines if not line.startswith("#")]
    return [[topic, PREDICATES[predicate], reason, 0] for topic, predicate, reason in rows]


def read_options():
    options = argparse.ArgumentParser()
    options.add_argument("--policy", default=POLICY)
    options.add_argument("--plan", default=PLAN_TOOL)
    options.add_argument("--vectors", type=pathlib.Path, default=HERE / "vectors")
    return options.parse_args()


def sort_out(options, unmapped, table):
    """The cases that are policy's, each with its rows."""
    todo = []
    for kind, line in vector_lines(options.vectors, ["b-create-args", "b-env"]):
        case = Case(kind, line)
        row = next((row for row in unmapped if row[1](case)), None)
        if row is not None:
            row[3] += 1
            continue
        choose_rows(case, table)
        todo.append(case)
    return todo


def main():
    options = read_options()
    unmapped = unmapped_rows()
    table = differences(PREDICATES, ["managed"])
    todo = sort_out(options, unmapped, table)
    # Those that play the executor fork by themselves: not among threads.
    todo.sort(key=Case.needs_frames)
    alone = [case for case in todo if case.needs_frames()]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda case: judge(case, options), todo[:len(todo) - len(alone)]))
    results += [judge(case, options) for case in alone]
    problems = [(case.name, problem) for case, problem in zip(todo, results) if problem]
    for problem in problems:
        print("FAILED %s: %s" % problem)
    complete = options.vectors == HERE / "vectors"
    failed = len(problems) + tell_use(table, complete)
    for topic, _, reason, used in unmapped:
        print("not policy's, %s: %d vectors" % (topic, used))
        if complete and used == 0:
            failed += 1
            print("FAILED unmapped.tsv: no vector needs the row %s" % topic)
    if not todo:
        failed += 1
        print("FAILED no vectors in %s" % options.vectors)
    print("%d passed, %d failed" % (len(todo) - len(problems), failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

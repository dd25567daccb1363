#!/usr/bin/python3 -B
# SPDX-License-Identifier: ISC
"""cofferdam against a real Docker engine, with every docker client on PATH.  Run as root, by

    tests/engine.sh tests/e2e/test_engine.py [WORD...]

which provides the engine and the worker's image.  cofferdam itself runs as users without any
privilege but the socket's group.
"""

import json
import os
import re
import signal
import subprocess
import sys
import textwrap
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import harness  # noqa: E402
from harness import (TESTS, Case, Failure, Tree, clients, equal, holds, main,  # noqa: E402
                     version)

SOCKET = os.environ.get("ENGINE_SOCKET", "")
GROUP = int(os.environ.get("ENGINE_GID", "0"))
IMAGE = os.environ.get("ENGINE_IMAGE", "")


CLIENTS = clients()


def docker(*words, check=True):
    done = subprocess.run([CLIENTS[0], "--host", "unix://" + SOCKET, *words],
                          capture_output=True, text=True, check=False)
    if check and done.returncode != 0:
        raise Failure("docker %s\nobserved: %s" % (" ".join(words), done.stderr))
    return done.stdout


class EngineCase(Case):
    def __init__(self, tree, name, client, uid=None):
        super().__init__(tree, name, uid)
        self.docker = client
        self.groups = [GROUP]
        self.config["image"] = IMAGE
        self.config["docker"]["host"] = "unix://" + SOCKET
        self.say("show")

    def say(self, text):
        self.turn["text"] = text

    def containers(self):
        rows = docker("container", "ls", "--all", "--no-trunc", "--filter",
                      "label=dev.cofferdam.state", "--format",
                      '{{.ID}} {{.Label "dev.cofferdam.roots"}}').splitlines()
        return [row.split()[0] for row in rows if self.dir + "/" in row]

    def running(self, process):
        """Waits until the worker runs; its container's id."""
        end = time.monotonic() + 120
        while time.monotonic() < end and process.poll() is None:
            for ident in self.containers():
                state = docker("container", "inspect", "--format", "{{.State.Running}}", ident,
                               check=False)
                if state.strip() == "true":
                    return ident
            time.sleep(0.05)
        raise Failure("the worker never ran\nobserved: exit status %s, %s"
                      % (process.poll(), process.stderr.read() if process.poll() else ""))

    def kill_programs(self):
        """Executor, guardian, policy and docker; the worker, of the same user, lives on."""
        for line in self.processes():
            pid = int(line.split()[0])
            try:
                if "/worker" not in open("/proc/%d/cmdline" % pid).read() and \
                        "sleep" not in open("/proc/%d/comm" % pid).read():
                    os.kill(pid, signal.SIGKILL)
            except (ProcessLookupError, FileNotFoundError):
                pass

    def begin_turn(self):
        process = self.begin()
        process.stdin.write(self.turn_bytes())
        process.stdin.close()
        process.stdin = None
        return process


def each(function):
    """The test once for every client."""
    for client in CLIENTS:
        name = "%s, docker %s" % (function.__name__, version(client))
        TESTS.append((name, lambda tree, name=name, client=client:
                      function(EngineCase(tree, name, client))))
    return function


def each_row(rows):
    def register(function):
        for client in CLIENTS:
            for row in rows:
                name = "%s: %s, docker %s" % (function.__name__, row[0], version(client))
                TESTS.append((name, lambda tree, name=name, client=client, row=row:
                              function(EngineCase(tree, name, client), *row)))
        return function
    return register


def reply(result):
    document = json.loads(result.out)
    equal("the reply's keys", ["ok", "text"], list(document))
    return document["text"]


# --- what the worker sees ----------------------------------------------------

@each
def inside(case):
    """Everything that isolates, as the worker finds it."""
    result = case.run()
    case.expect(result, 0, out=None)
    text = reply(result)
    seen = dict(line.split(": ", 1) for line in text.split("\n") if ": " in line)
    mounts = sorted(line for line in text.split("\n") if line.startswith("mount "))
    ids = "%d:%d groups %d" % (case.uid, case.uid, case.uid)
    for name, expected in (
            ("id", ids), ("/", "read-only"), ("/broker", "read-only"), ("/workspace", "writable"),
            ("/tmp", "writable"), ("/etc", "read-only"), ("interfaces", "lo"), ("routes", "0"),
            ("memory", "536870912"), ("pids", "64"), ("nofile", "256 256 files"),
            ("CapInh", "0" * 16), ("CapPrm", "0" * 16), ("CapEff", "0" * 16),
            ("CapBnd", "0" * 16), ("CapAmb", "0" * 16), ("NoNewPrivs", "1"), ("Seccomp", "2"),
            ("home", "/tmp/home"), ("workdir", "/"),
            ("environment", "COFFERDAM_TEST_IMAGE HOME HOSTNAME PATH PWD SHLVL")):
        equal("inside: " + name, expected, seen.get(name, "").strip())
    holds("inside: no swap (cgroup v2), or memory and swap together no more (v1)",
          seen["swap"].strip() in ("0", "536870912", "unknown"), seen["swap"])
    holds("inside: one cpu", seen["cpu"].strip() in ("100000", "100000 100000"), seen["cpu"])
    equal("inside: the mounts of ours", ["/broker ro", "/tmp rw", "/workspace rw"],
          [" ".join(line.split()[1:3]) for line in mounts])
    for word in ("noexec", "nosuid", "nodev", "size=65536k"):
        holds("inside: /tmp is " + word, word in seen["tmp"].split(","), seen["tmp"])
    case.nothing_left()


@each
def outside(case):
    """The same by inspect, while the worker runs."""
    case.say("sleep 600")
    process = case.begin_turn()
    try:
        ident = case.running(process)
        made = json.loads(docker("container", "inspect", ident))[0]
        host = made["HostConfig"]
        for name, expected in (
                ("NetworkMode", "none"), ("ReadonlyRootfs", True), ("CapDrop", ["ALL"]),
                ("CapAdd", None), ("Privileged", False), ("Memory", 536870912),
                ("MemorySwap", 536870912), ("NanoCpus", 1000000000), ("PidsLimit", 64),
                ("SecurityOpt", ["no-new-privileges:true"]), ("IpcMode", "private"),
                ("CgroupnsMode", "private"), ("PidMode", ""), ("Binds", None), ("Devices", []),
                ("Ulimits", [{"Name": "nofile", "Hard": 256, "Soft": 256}]), ("Init", False),
                ("Tmpfs", {"/tmp": "rw,noexec,nosuid,nodev,size=67108864,mode=1777"})):
            equal("HostConfig." + name, expected, host[name])
        equal("Config.User", "%d:%d" % (case.uid, case.uid), made["Config"]["User"])
        equal("Mounts", [("bind", case.broker, "/broker", False, "rprivate"),
                         ("bind", case.workspace, "/workspace", True, "rprivate")],
              sorted((m["Type"], m["Source"], m["Destination"], m["RW"], m["Propagation"])
                     for m in made["Mounts"]))
        equal("networks", ["none"], list(made["NetworkSettings"]["Networks"]))
        equal("name", "/cofferdam-" + made["Config"]["Labels"]["dev.cofferdam.run"], made["Name"])
    finally:
        process.send_signal(signal.SIGTERM)
        result = case.end(process, None)
    case.expect(result, 143, "SANDBOX_ABORTED signal")
    case.nothing_left()


@each
def worker_of_another_user(case):
    """The README's advice: the worker has a uid of its own."""
    worker = case.tree.new_uid()
    case.config["user"] = {"uid": worker, "gid": worker}
    os.chown(case.workspace, worker, worker)
    case.say("write hello")
    case.expect(case.run(), 0, out=b'{"ok":true,"text":"written"}\n')
    written = os.stat(case.workspace + "/written")
    equal("owner of what the worker wrote", worker, written.st_uid)
    case.nothing_left()


@each
def broker_can_be_read(case):
    with open(case.broker + "/note", "w") as file:
        file.write("from the broker")
    case.say("read note")
    case.expect(case.run(), 0, out=b'{"ok":true,"text":"from the broker"}\n')
    case.nothing_left()


@each
def limits_of_the_config_hold(case):
    case.limit(memoryBytes=134217728, cpus=0.5, pids=32, nofile=64, fileBytes=1048576,
               tmpfsBytes=1048576)
    result = case.run()
    case.expect(result, 0, out=None)
    seen = dict(line.split(": ", 1) for line in reply(result).split("\n") if ": " in line)
    for name, expected in (("memory", "134217728"), ("pids", "32"), ("nofile", "64 64 files"),
                           ("fsize", "1048576 1048576 bytes")):
        equal("inside: " + name, expected, seen[name].strip())
    holds("inside: half a cpu", seen["cpu"].strip() in ("50000", "50000 100000"), seen["cpu"])
    case.nothing_left()


# --- what the worker does ----------------------------------------------------

@each_row([
    ("exit 3", "exit 3", 1, "SANDBOX_WORKER worker.exit"),
    ("exit 125", "exit 125", 1, "SANDBOX_WORKER worker.exit"),
    ("exit 137", "exit 137", 1, "SANDBOX_WORKER worker.exit"),
    ("garbage", "garbage", 76, "SANDBOX_REPLY json.syntax"),
    ("nothing", "empty", 76, "SANDBOX_REPLY json.empty"),
    ("wrong type", "wrongtype", 76, "SANDBOX_REPLY shape.type"),
    ("3 MiB", "flood 3145728", 76, "SANDBOX_REPLY json.too_large"),
    ("stderr flood", "stderr 400000", 1, "SANDBOX_WORKER worker.stderr"),
    ("escape sequences on stderr", "hostile", 1, "SANDBOX_WORKER worker.exit"),
    ("too much memory", "memory 900000000", 1, "SANDBOX_WORKER worker.exit"),
    ("too many processes", "fork 200", 1, "SANDBOX_WORKER worker.exit"),
    ("an HTTP request for the engine", "http", 76, "SANDBOX_REPLY json.syntax"),
])
def worker_fails(case, name, text, status, reason):
    case.say(text)
    case.expect(case.run(), status, reason)
    case.nothing_left()


@each_row([
    ("false", "refuse no", b'{"ok":false,"text":"no"}\n'),
    ("extra keys", "extra", b'{"ok":true,"text":"only this"}\n'),
    ("invalid UTF-8", "bytes", '{"ok":true,"text":"a\ufffdb"}\n'.encode()),
    ("some stderr", "stderr 1000", b'{"ok":true,"text":"wrote to stderr"}\n'),
    ("100000 characters", "long 100000", b'{"ok":true,"text":"' + b"x" * 100000 + b'"}\n'),
])
def worker_replies(case, name, text, expected):
    case.say(text)
    case.expect(case.run(), 0, out=expected)
    case.nothing_left()


@each
def worker_that_ignores_sigterm(case):
    case.say("sleep 600")
    case.limit(turnSeconds=2)
    case.expect(case.run(), 124, "SANDBOX_TIMEOUT turn.deadline")
    case.nothing_left()


@each
def no_request_of_the_worker_reaches_the_engine(case):
    """A client started without a stdout has sent the worker's output to the engine."""
    path = case.write("turn.json", json.dumps(dict(case.turn, text="http")))
    for closing in ("1>&-", "0<&- 1>&-", "0<&- 1>&- 2>&-"):
        case.run(["-t", path], wrap=["/bin/sh", "-c", 'exec "$@" ' + closing, "sh"])
        equal("containers that the worker asked for", "",
              docker("container", "ls", "--all", "--quiet", "--filter", "name=INJECTED"))
    case.nothing_left()


# --- docker and the world ----------------------------------------------------

@each_row([
    ("image absent", lambda c: c.config.update(image="no-such-image:1"), 69,
     "SANDBOX_UNAVAILABLE image.absent"),
    ("entrypoint is not in the image", lambda c: c.config.update(entrypoint="/no-such-file"), 69,
     "SANDBOX_UNAVAILABLE worker.never_ran"),
    ("entrypoint is a directory", lambda c: c.config.update(entrypoint="/etc"), 69,
     "SANDBOX_UNAVAILABLE worker.never_ran"),
    ("runtime unknown", lambda c: c.config["docker"].update(runtime="no-such-runtime"), 69, None),
])
def cannot_run(case, name, change, status, reason):
    change(case)
    case.expect(case.run(), status, reason)
    case.nothing_left()


@each
def image_with_a_volume(case):
    tag = IMAGE + "-volume-" + str(case.uid)
    made = docker("container", "create", "--network", "none", IMAGE).strip()
    docker("container", "commit", "--change", "VOLUME /data", made, tag)
    docker("container", "rm", made)
    try:
        case.config["image"] = tag
        case.expect(case.run(), 77, "SANDBOX_POLICY image.volume")
    finally:
        docker("image", "rm", "--force", tag)
    case.nothing_left()


@each
def pinned_image(case):
    case.config["imageId"] = docker("image", "inspect", "--format", "{{.Id}}", IMAGE).strip()
    case.say("say pinned")
    case.expect(case.run(), 0, out=b'{"ok":true,"text":"pinned"}\n')
    case.config["imageId"] = "sha256:" + "0" * 64
    case.expect(case.run(), 77, "SANDBOX_POLICY image.id")
    case.nothing_left()


def readme_recipe():
    """The shell commands of README.md that make the least image."""
    with open(os.path.join(harness.TREE, "README.md"), encoding="utf-8") as file:
        block = re.search(r"(?m)^    mkdir -p root/bin(?:.*\n    )*.*\n", file.read()).group()
    return textwrap.dedent(block)


@each
def image_of_the_readme(case):
    """Its commands as they stand, but for the name, which another may have on this engine."""
    tag = "cofferdam-test-readme:%d" % case.uid
    recipe = readme_recipe().replace("agent-worker:1", tag)
    holds("the recipe imports", tag in recipe, recipe)
    place = case.own_dir("recipe")
    done = subprocess.run(["sh", "-euc", recipe], cwd=place, capture_output=True, text=True,
                          check=False, env={"PATH": os.path.dirname(case.docker) + ":/usr/bin:/bin",
                                            "DOCKER_HOST": "unix://" + SOCKET})
    equal("its exit status; it said " + done.stderr, 0, done.returncode)
    try:
        case.config["image"] = tag
        turn = case.policy("turn", data=case.turn_bytes()).out.rstrip(b"\n")
        case.expect(case.run(), 0, out=b'{"ok":true,"text":"a turn of %d bytes"}\n' % len(turn))
    finally:
        docker("image", "rm", "--force", tag)
    case.nothing_left()


@each
def removed_by_somebody_else(case):
    case.say("sleep 600")
    process = case.begin_turn()
    docker("container", "rm", "--force", case.running(process))
    case.expect(case.end(process, None), 1, "SANDBOX_WORKER worker.vanished")
    case.nothing_left()


@each_row([("SIGTERM", signal.SIGTERM), ("SIGINT", signal.SIGINT), ("SIGHUP", signal.SIGHUP)])
def signalled(case, name, number):
    case.say("sleep 600")
    process = case.begin_turn()
    case.running(process)
    process.send_signal(number)
    case.expect(case.end(process, None), 128 + number, "SANDBOX_ABORTED signal")
    case.nothing_left()


@each
def killed(case):
    """SIGKILL of the executor: its guardian removes the container."""
    case.say("sleep 600")
    process = case.begin_turn()
    case.running(process)
    process.kill()
    case.end(process, None)
    case.nothing_left()


@each
def only_the_client_is_killed(case):
    """A client that leaves is not a worker that ended."""
    case.say("sleep 600")
    process = case.begin_turn()
    case.running(process)
    for line in case.processes():
        if " container start " in line:
            os.kill(int(line.split()[0]), signal.SIGTERM)
    result = case.end(process, None)
    holds("it fails", result.status in (1, 69, 124), result.status)
    equal("standard output", b"", result.out)
    case.nothing_left()


@each
def two_with_one_workspace(case):
    case.say("sleep 600")
    process = case.begin_turn()
    case.running(process)
    case.say("say hello")
    second = case.run()
    process.send_signal(signal.SIGTERM)
    case.expect(case.end(process, None), 143)
    case.expect(second, 75, "SANDBOX_BUSY mount.in_use")
    case.nothing_left()


# --- sessions ------------------------------------------------------------------

GRANT = "/grants/" + "c0ffee00" * 8
ECHO = ("echo hello; echo heard >&2; while read line; do [ \"$line\" = end ] && exit 0; "
        "echo \"got $line\"; done; echo bye; exit 4")


def session(case, command=ECHO, key="chat 7"):
    """The case's configuration becomes that of a session of the shell's."""
    case.grant = case.grant if hasattr(case, "grant") else case.own_dir("home/grant")
    case.config.update({
        "mode": "session", "session": {"key": key, "revision": 3}, "entrypoint": "/bin/sh",
        "command": ["-c", command],
        "mounts": [{"host": case.workspace, "guest": "/workspace", "mode": "rw"},
                   {"host": case.grant, "guest": GRANT, "mode": "ro"}]})
    case.config["limits"].pop("turnSeconds", None)


def begin_session(case, options=()):
    """A session whose worker has said hello: the process."""
    read, write = os.pipe()
    process = case.begin([*options, "--status-fd", str(write)], command="session", bufsize=0,
                         pass_fds=(write,))
    os.close(write)
    with os.fdopen(read) as lines:
        first = lines.readline()
    if first == "" or json.loads(first)["phase"] != "running":
        raise Failure("it never ran: %r" % case.end(process).err)
    equal("the first line", b"hello\n", process.stdout.readline())
    return process


@each
def session_is_a_conversation(case):
    session(case)
    log = case.home + "/log"
    process = begin_session(case, ["--worker-stderr", log])
    for number in range(5):
        process.stdin.write(b"line %d\n" % number)
        equal("the answer", b"got line %d\n" % number, process.stdout.readline())
    row = case.rows()[0]
    equal("session, revision and owner", ("chat 7", "3", "alive"),
          (row["session"], row["revision"], row["owner"]))
    case.expect(case.end(process, b"end\n"), 0)
    with open(log, "rb") as file:
        equal("the worker's standard error", b"heard\n", file.read())
    case.nothing_left()


@each
def session_ends_with_its_input(case):
    session(case)
    process = begin_session(case)
    result = case.end(process, b"one\n")
    case.expect(result, 1, "SANDBOX_WORKER worker.exit", out=b"got one\nbye\n")
    case.nothing_left()


@each
def session_mounts(case):
    session(case, "echo hello; echo new >/workspace/file && ls %s && echo x >%s/file; cat" %
            (GRANT, GRANT))
    open(case.grant + "/granted", "w").close()
    os.chmod(case.workspace, 0o777)
    process = begin_session(case)
    result = case.end(process, b"end\n")
    case.expect(result, 0, out=b"granted\nend\n")
    with open(case.workspace + "/file") as file:
        equal("what the worker wrote", "new\n", file.read())
    equal("the grant", ["granted"], os.listdir(case.grant))
    case.nothing_left()


@each_row([("SIGTERM", signal.SIGTERM), ("SIGINT", signal.SIGINT)])
def session_signalled(case, name, number):
    session(case)
    process = begin_session(case)
    process.send_signal(number)
    # Its input ends here: the worker may still say a last word.
    case.expect(case.end(process), 128 + number, "SANDBOX_ABORTED signal", out=None)
    case.nothing_left()


@each
def session_killed(case):
    session(case)
    process = begin_session(case)
    process.kill()
    case.end(process)
    case.nothing_left()


@each
def session_stopped(case):
    session(case)
    process = begin_session(case)
    ident = case.containers()[0]
    run = run_of(ident)
    case.expect(case.manage("stop", "--session", "chat 7"), 0, out=line_of(ident, run))
    case.expect(case.end(process), 1, "SANDBOX_WORKER worker.vanished")
    case.nothing_left()


@each
def sessions_may_share_what_a_turn_may_not(case):
    session(case)
    first = begin_session(case)
    second = begin_session(case)
    equal("containers", 2, len(case.containers()))
    case.expect(case.end(first, b"end\n"), 0)
    equal("containers", 1, len(case.containers()))
    case.config.update({"mode": "turn", "mounts": [
        {"host": case.broker, "guest": "/broker", "mode": "ro"},
        {"host": case.workspace, "guest": "/workspace", "mode": "rw"}]})
    for member in ("session", "entrypoint", "command"):
        del case.config[member]
    case.expect(case.run(), 75, "SANDBOX_BUSY mount.in_use")
    case.expect(case.end(second, b"end\n"), 0)
    case.expect(case.run(), 0, out=None)
    case.nothing_left()


# --- ps, stop, reap ----------------------------------------------------------

def orphan(case):
    """A running container whose executor and guardian were killed: (id, run)."""
    case.say("sleep 600")
    process = case.begin_turn()
    ident = case.running(process)
    # Past its turn: one whose input is cut off before that ends by itself.
    end = time.monotonic() + 120
    while "sleep" not in docker("container", "top", ident, check=False):
        holds("the worker gets to its sleep", time.monotonic() < end, ident)
        time.sleep(0.05)
    case.kill_programs()
    case.end(process, None)
    return ident, run_of(ident)


def run_of(ident):
    return docker("container", "inspect", "--format",
                  '{{index .Config.Labels "dev.cofferdam.run"}}', ident).strip()


def line_of(ident, run):
    return ("%s %s\n" % (ident, run)).encode()


@each
def reap_an_orphan(case):
    ident, run = orphan(case)
    (row,) = case.rows()
    equal("what ps says", ("orphaned", "running", run), (row["owner"], row["state"], row["run"]))
    case.expect(case.manage("reap"), 0, out=line_of(ident, run))
    case.nothing_left()
    case.expect(case.manage("reap"), 0, out=b"")


@each
def reap_an_orphan_without_a_claim(case):
    ident, run = orphan(case)
    os.unlink(case.state + "/claims/" + run)
    case.expect(case.manage("reap"), 0, out=line_of(ident, run))
    case.nothing_left()


@each
def reap_one_that_has_ended(case):
    ident, run = orphan(case)
    docker("container", "kill", ident)
    (row,) = case.rows()
    equal("what ps says", ("orphaned", "exited"), (row["owner"], row["state"]))
    case.expect(case.manage("reap"), 0, out=line_of(ident, run))
    case.nothing_left()


@each
def reap_spares_others(case):
    """A live run; another state directory's orphan."""
    other = EngineCase(case.tree, case.name + " other", case.docker)
    ident, run = orphan(other)
    case.say("sleep 600")
    process = case.begin_turn()
    alive = case.running(process)
    (row,) = case.rows()
    equal("what ps says", ("alive", "running", run_of(alive)),
          (row["owner"], row["state"], row["run"]))
    case.expect(case.manage("reap"), 0, out=b"")
    equal("containers left", ([alive], [ident]), (case.containers(), other.containers()))
    process.send_signal(signal.SIGTERM)
    case.expect(case.end(process, None), 143)
    case.nothing_left()
    other.expect(other.manage("reap"), 0, out=line_of(ident, run))
    other.nothing_left()


@each
def stop_a_running_turn(case):
    case.say("sleep 600")
    process = case.begin_turn()
    ident = case.running(process)
    run = run_of(ident)
    case.expect(case.manage("stop", run), 0, out=line_of(ident, run))
    case.expect(case.end(process, None), 1, "SANDBOX_WORKER worker.vanished")
    case.nothing_left()
    case.expect(case.manage("stop", run), 1, "SANDBOX_WORKER run.unknown")


@each
def stop_a_session_is_exact(case):
    """The filter for a label's value takes no part of it, and no other case of it."""
    state = open(case.state + "/id").read()[:32] if case.rows() == [] else ""
    made = {}
    for key in ("a b", "a", "A b", "a b=c"):
        made[key] = docker("container", "create", "--network", "none",
                           "--label", "dev.cofferdam.state=" + state,
                           "--label", "dev.cofferdam.run=" + os.urandom(16).hex(),
                           "--label", "dev.cofferdam.roots=" + case.dir + "/",
                           "--label", "dev.cofferdam.session=" + key, IMAGE).strip()
    for key in ("a b", "a b=c", "A b", "a"):
        run = run_of(made[key])
        case.expect(case.manage("stop", "--session", key), 0, out=line_of(made.pop(key), run))
        equal("containers left", sorted(made.values()), sorted(case.containers()))
    case.nothing_left()


@each
def turns_one_after_the_other(case):
    for number in range(3):
        case.say("say turn %d" % number)
        case.expect(case.run(), 0, out=b'{"ok":true,"text":"turn %d"}\n' % number)
    case.nothing_left()


# --- doctor ------------------------------------------------------------------

def lsm_of_engine():
    options = docker("info", "--format", "{{range .SecurityOptions}}{{.}} {{end}}")
    return "ok" if "name=apparmor" in options or "name=selinux" in options else "warn"


@each
def doctor_finds_nothing_amiss(case):
    """Both docker programs with this engine: all is well, but for what this machine lacks."""
    config = case.write("config.json", json.dumps(case.config))
    result = case.manage("doctor", "--json", "--image", IMAGE, "-c", config)
    case.expect(result, 0, out=None)
    equal("standard error", b"", result.err)
    rows = {row["check"]: row for row in map(json.loads, result.out.splitlines())}
    expected = {check: "ok" for check in (
        "landlock policy config state docker endpoint engine versions kind seccomp cgroup memory "
        "swap cpu pids warnings image").split()}
    expected.update(user="warn", lsm=lsm_of_engine())  # the user of a test has no home directory
    equal("verdicts", dict(sorted(expected.items())),
          {check: row["verdict"] for check, row in sorted(rows.items())})
    found = {check: row["found"] for check, row in rows.items()}
    api = docker("version", "--format", "{{.Server.APIVersion}}").strip()
    for check, word in (("docker", version(case.docker)), ("endpoint", SOCKET),
                        ("versions", "speaks " + api), ("memory", "MemoryLimit=true"),
                        ("swap", "SwapLimit=true"), ("cpu", "CpuCfsQuota=true"),
                        ("pids", "PidsLimit=true"), ("seccomp", "name=seccomp,profile="),
                        ("image", docker("image", "inspect", "--format", "{{.Id}}", IMAGE).strip())):
        holds("what %s found has %r" % (check, word), word in found[check], found[check])
    case.nothing_left()


@each
def doctor_and_an_image_that_is_not_there(case):
    result = case.manage("doctor", "--image", "no/such:image")
    case.printable(result.out)
    equal("exit status", 69, result.status)
    last = result.out.decode("ascii").splitlines()[-1]
    holds("the last line is about the image", last.startswith("fail    image    docker does not"),
          last)


@each
def doctor_and_an_image_with_a_volume(case):
    name = "cofferdam-test-volume:%d" % case.uid
    made = docker("container", "create", IMAGE).strip()
    docker("container", "commit", "--change", "VOLUME /data", made, name)
    docker("container", "rm", made)
    try:
        result = case.manage("doctor", "--json", "--image", name)
    finally:
        docker("image", "rm", name)
    equal("exit status", 77, result.status)
    equal("reason", "image.volume", json.loads(result.out.splitlines()[-1])["reason"])


if __name__ == "__main__":
    if os.getuid() != 0 or not SOCKET or not CLIENTS:
        sys.exit("test_engine.py: run it as root, by tests/engine.sh")
    for path in CLIENTS:
        print("# %s: docker client %s" % (path, version(path)))
    print("# engine %s at %s" % (docker("version", "--format", "{{.Server.Version}}").strip(),
                                 SOCKET), flush=True)
    harness.FIRST_UID += 1000
    main(Tree, os.cpu_count())

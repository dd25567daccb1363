# SPDX-License-Identifier: ISC
"""What both end-to-end suites share: cases, users, checks, the runner.

Runs as root; every case gets a directory and a numeric user of its own (no account is made), so
that "nothing is left" can be asked of the kernel: no process of that user, no container, no claim,
no lock held.  Standard library only.  No test looks at how long anything took: the one timeout
here is a safety net, far above what a busy machine needs.
"""

import fcntl
import json
import marshal
import os
import py_compile
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from concurrent.futures import ThreadPoolExecutor

from fake_docker import load, save

HERE = os.path.dirname(os.path.abspath(__file__))
TREE = os.path.dirname(os.path.dirname(HERE))
PROGRAMS = os.environ.get("PROGRAMS", TREE)
SAFETY = 180
FIRST_UID = 61300
IMAGE_ID = "sha256:" + "5a" * 32

TESTS = []

# What one thread's process holds open for writing between its fork and its exec cannot be
# executed by another's (ETXTBSY, execve(2)): a program is written while nobody forks.
FORKING = threading.Lock()
popen = subprocess.Popen.__init__


def start_alone(self, *words, **more):
    with FORKING:
        popen(self, *words, **more)


subprocess.Popen.__init__ = start_alone


def copy_program(program, to):
    with FORKING:
        shutil.copy(program, to)


class Failure(Exception):
    """A check that did not hold; its text says what was expected and what was observed."""


def test(function):
    TESTS.append((function.__name__, lambda tree: function(Case(tree, function.__name__))))
    return function


def table(rows):
    """One test a row: row[0] names it, the whole row goes to the function."""
    def register(function):
        for row in rows:
            name = "%s: %s" % (function.__name__, row[0])
            TESTS.append((name, lambda tree, name=name, row=row: function(Case(tree, name), *row)))
        return function
    return register


def show(value):
    text = value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else repr(value)
    return text if len(text) < 3000 else text[:1500] + " [...] " + text[-1200:]


def equal(what, expected, observed):
    if expected != observed:
        raise Failure("%s\nexpected: %s\nobserved: %s" % (what, show(expected), show(observed)))


def holds(what, condition, observed=""):
    if not condition:
        raise Failure("%s\nobserved: %s" % (what, show(observed)))


def clients():
    """Every docker client on PATH, once each, /usr/bin/docker first."""
    found = []
    for directory in ["/usr/bin"] + os.environ["PATH"].split(":"):
        path = os.path.join(directory, "docker")
        if os.access(path, os.X_OK) and os.path.realpath(path) not in map(os.path.realpath, found):
            if os.stat(os.path.realpath(path)).st_uid == 0:
                found.append(path)
    return found


def version(client):
    done = subprocess.run([client, "--version"], capture_output=True, text=True, check=False)
    return re.sub(r"^Docker version ([^,]*),.*", r"\1", done.stdout.strip())


def free_uids():
    """10000 user ids that no other suite on this machine has: what holds them, and the first.

    A case ends by killing what its user runs, so two suites with one user kill each other."""
    for number in range(97):
        held = socket.socket(socket.AF_UNIX)
        try:
            held.bind("\0cofferdam-test-uids-%d" % number)  # until this process ends: unix(7)
        except OSError:
            held.close()
            continue
        return held, FIRST_UID + 10000 * number
    raise SystemExit("97 suites at once: no user ids are left")


class Tree:
    """A scratch directory with the programs in it; every directory above it is root's alone, as
    cofferdam asks of its docker (so not in /tmp)."""

    def __init__(self):
        self.base = tempfile.mkdtemp(prefix="cofferdam-test.", dir="/var/lib")
        os.chmod(self.base, 0o755)
        self.bin = self.base + "/bin"
        os.makedirs(self.bin, 0o755, exist_ok=True)
        for name in ("cofferdam", "cofferdam-policy"):
            shutil.copy(PROGRAMS + "/" + name, self.bin + "/" + name)
            os.chmod(self.bin + "/" + name, 0o755)
        os.mkdir(self.base + "/lib", 0o755)
        shutil.copy(HERE + "/fake_docker.py", self.base + "/lib")
        py_compile.compile(self.base + "/lib/fake_docker.py", quiet=2)
        self.lock = threading.Lock()
        # A case's processes are told by their user: two suites at once must not meet.
        self.held, self.uid = free_uids()
        self.running = set()

    def new_uid(self):
        with self.lock:
            self.uid += 1
            return self.uid

    def stop(self):
        """Ends what runs: cofferdam cleans up after itself."""
        for process in list(self.running):
            if process.poll() is None:
                process.terminate()

    def remove(self):
        shutil.rmtree(self.base)


class Result:
    def __init__(self, status, out, err):
        self.status = status
        self.out = out
        self.err = err

    def reasons(self):
        return re.findall(r"^cofferdam(?:-policy)?: (\S+) (\S+?):", self.err.decode("latin-1"), re.M)


class Case:
    def __init__(self, tree, name, uid=None):
        self.tree = tree
        self.name = name
        number = tree.new_uid()
        self.uid = number if uid is None else uid
        self.groups = []
        slug = re.sub(r"[^a-z0-9]+", "-", name.lower())[:24].strip("-")
        self.dir = "%s/%d-%s" % (tree.base, number, slug)
        os.mkdir(self.dir, 0o755)
        self.home = self.own_dir("home", 0o755)
        self.broker = self.own_dir("home/broker", 0o755)
        self.workspace = self.own_dir("home/workspace", 0o755)
        self.state = self.own_dir("home/state", 0o700)
        self.socket = self.dir + "/engine.sock"
        self.bin = tree.bin
        self.docker = "/usr/bin/docker"
        self.fake = None
        self.config = {
            "version": 1, "mode": "turn", "image": "worker:1",
            "mounts": [{"host": self.broker, "guest": "/broker", "mode": "ro"},
                       {"host": self.workspace, "guest": "/workspace", "mode": "rw"}],
            "limits": {"turnSeconds": 120, "lockSeconds": 120, "controlSeconds": 120,
                       "removeSeconds": 120},
            "docker": {"host": "unix://" + self.socket},
        }
        self.turn = {"text": "hello", "speaker": {"id": "u1", "name": "Ann"}, "model": "m",
                     "prompt": "p", "timeZone": "Europe/London", "tools": [], "mcp": []}
        self.env = {}

    def own_dir(self, name, mode=0o755):
        """A directory of the case's user."""
        path = self.dir + "/" + name
        os.mkdir(path, mode)
        os.chmod(path, mode)
        os.chown(path, self.uid, self.uid)
        return path

    def write(self, name, text, mode=0o644):
        path = self.dir + "/" + name
        with FORKING, open(path, "w") as file:
            file.write(text)
        os.chmod(path, mode)
        return path

    def limit(self, **figures):
        self.config["limits"].update(figures)

    # --- the fake docker -----------------------------------------------------

    def use_fake(self, rules=(), worker=None, image=True, context="", doctor=None):
        """The scripted client, and a socket that nobody listens on."""
        self.make_socket()
        self.fake = self.own_dir("home/engine", 0o700)
        os.mkdir(self.dir + "/bin", 0o755)
        self.docker = self.dir + "/bin/docker"
        self.write("bin/docker", "#!/usr/bin/python3 -IS\nimport sys\n"
                   "sys.path.insert(0, %r)\nimport fake_docker\nfake_docker.main()\n"
                   % (self.tree.base + "/lib"), 0o755)
        self.orders = {
            "home": self.fake, "rules": list(rules), "worker": worker or {}, "context": context,
            "doctor": doctor or {},
            "image": {"Id": IMAGE_ID, "RepoTags": ["worker:1"], "RepoDigests": [],
                      "Os": "linux", "Architecture": "amd64",
                      "Config": {"Env": ["PATH=/bin", "IMAGE=1"], "Cmd": None,
                                 "Entrypoint": ["/worker"], "WorkingDir": "", "Volumes": None,
                                 "Labels": {"image.label": "1"}}} if image is True else image,
        }
        self.tell_docker()
        return self

    def tell_docker(self, orders=None):
        """The orders are the client's from its next call on."""
        plain = json.loads(json.dumps(orders or self.orders))  # a signal's name is a number
        save(self.dir + "/bin/scenario", plain)

    def make_socket(self):
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(self.socket)
        os.chmod(self.socket, 0o660)
        os.chown(self.socket, 0, self.uid)

    def calls(self, kind=None):
        found = []
        try:
            with open(self.fake + "/log", "rb") as file:
                size = os.fstat(file.fileno()).st_size
                while file.tell() < size:
                    found.append(marshal.load(file))
        except FileNotFoundError:
            return []
        return [call for call in found if kind is None or call["kind"] == kind]

    def kinds(self):
        return [call["kind"] for call in self.calls()]

    def containers(self):
        """What the engine still has of this case."""
        return sorted(self.engine()) if self.fake is not None else []

    def engine(self):
        """{id: what the scripted client would say of it}."""
        try:
            return load(self.fake + "/engine")["containers"]
        except FileNotFoundError:
            return {}

    def set_engine(self, containers):
        path = self.fake + "/engine"
        calls = load(path)["calls"] if os.path.exists(path) else {}
        save(path, {"containers": containers, "calls": calls})
        os.chown(path, self.uid, self.uid)

    def worker_ran(self):
        return os.path.exists(self.fake + "/worker-ran")

    # --- running ---------------------------------------------------------------

    def argv(self, command, options, config):
        config_file = self.write("config.json", config if isinstance(config, str)
                                 else json.dumps(config))
        return [self.bin + "/cofferdam", command, "-c", config_file,
                "--state-dir", self.state, "--docker", self.docker, *options]

    def spawn(self, argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, **more):
        process = subprocess.Popen(
            argv, stdin=stdin, stdout=stdout, stderr=subprocess.PIPE, env=self.env, cwd="/",
            user=self.uid, group=self.uid, extra_groups=self.groups, umask=0o022,
            start_new_session=True, **more)
        self.tree.running.add(process)
        return process

    def begin(self, options=(), command="run", config=None, wrap=(), **more):
        config = self.config if config is None else config
        return self.spawn([*wrap, *self.argv(command, options, config)], **more)

    def end(self, process, data=b""):
        try:
            out, err = process.communicate(data, timeout=SAFETY)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, err = process.communicate()
            raise Failure("it never ended\nstdout: %s\nstderr: %s" % (show(out), show(err)))
        self.tree.running.discard(process)
        return Result(process.returncode, out or b"", err)

    def turn_bytes(self):
        turn = self.turn
        if isinstance(turn, bytes):
            return turn
        return json.dumps(turn).encode()

    def run(self, options=(), **more):
        return self.end(self.begin(options, **more), self.turn_bytes())

    def manage(self, command, *words, **more):
        """ps, stop, reap or doctor, which read no config."""
        argv = [self.bin + "/cofferdam", command, "--host", self.config["docker"]["host"],
                "--state-dir", self.state, "--docker", self.docker, *words]
        return self.end(self.spawn(argv, **more))

    def rows(self, *words):
        """What ps shows of this case's containers: a dictionary each."""
        result = self.manage("ps", "--json", *words)
        self.expect(result, 0, out=None)
        ours = self.containers()
        found = [json.loads(line) for line in result.out.splitlines()]
        return [row for row in found if row["id"] in ours]

    def policy(self, *words, data=b""):
        argv = [self.tree.bin + "/cofferdam-policy", *words]
        return self.end(self.spawn(argv), data)

    # --- what must hold afterwards ---------------------------------------------

    def expect(self, result, status, reason=None, out=b""):
        """The exit status, the first reason on stderr ("CODE reason"), the whole of stdout."""
        what = "exit status; stderr was: " + show(result.err)
        equal(what, status, result.status)
        if reason is not None:
            given = [" ".join(pair) for pair in result.reasons()]
            holds("stderr names %r as its first reason" % reason,
                  given and given[0] == reason, result.err)
        if out is not None:
            equal("standard output", out, result.out)
        self.printable(result.err)

    def printable(self, err):
        bad = sorted({byte for byte in err if byte != 10 and not 32 <= byte < 127})
        equal("bytes on stderr that are not printable ASCII", [], bad)

    def processes(self):
        found = []
        for name in os.listdir("/proc"):
            if not name.isdigit():
                continue
            try:
                if os.stat("/proc/" + name).st_uid != self.uid and not self.uid_of(name):
                    continue
                with open("/proc/%s/cmdline" % name, "rb") as file:
                    found.append("%s %s" % (name, file.read().replace(b"\0", b" ").decode("latin-1")))
            except (FileNotFoundError, ProcessLookupError):
                pass
        return found

    def uid_of(self, name):
        # /proc/PID belongs to root while the process is not dumpable.
        with open("/proc/%s/status" % name) as file:
            return "\nUid:\t%d\t" % self.uid in file.read()

    def settle(self):
        """Waits for the case's processes to end, as far as the safety net."""
        end = time.monotonic() + SAFETY
        while self.processes() and time.monotonic() < end:
            time.sleep(0.02)
        equal("processes left", [], self.processes())

    def state_files(self):
        found = []
        for base, _, names in os.walk(self.state):
            found += [os.path.join(base, name) for name in names]
        return sorted(found)

    def claims(self):
        return [path for path in self.state_files()
                if re.fullmatch(r"[0-9a-f]{32}", os.path.basename(path).split(".")[0])]

    def nothing_left(self, containers=0, claims=0):
        if containers == 0:
            self.settle()
        equal("containers left", containers, len(self.containers()))
        equal("claim files left", claims, len(self.claims()))
        for path in self.state_files():
            self.unlocked(path)

    def unlocked(self, path):
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Failure("somebody still holds the lock on " + path)
        finally:
            os.close(fd)

    def kill_all(self):
        for line in self.processes():
            try:
                os.kill(int(line.split(" ", 1)[0]), signal.SIGKILL)
            except ProcessLookupError:
                pass


# --- the runner --------------------------------------------------------------

def orders(case, rules=(), worker=None):
    """What docker does from now on."""
    case.orders.update(rules=list(rules), worker=worker or {})
    case.tell_docker()


class Report:
    def __init__(self):
        self.lock = threading.Lock()
        self.count = {"passed": 0, "failed": 0}
        self.number = 0

    def one(self, name, problem):
        with self.lock:
            self.number += 1
            self.count["failed" if problem else "passed"] += 1
            print("%s %d - %s" % ("not ok" if problem else "ok", self.number, name), flush=True)
            for line in (problem or "").splitlines():
                print("#   " + line, flush=True)


def run_one(report, tree, name, body):
    problem = None
    start = time.monotonic()
    try:
        body(tree)
    except Failure as failure:
        problem = str(failure)
    except Exception:
        problem = traceback.format_exc()
    if "TIMES" in os.environ:
        print("%.1f %s" % (time.monotonic() - start, name))
    report.one(name, problem)


def main(make_tree, jobs=None):
    """Runs every registered test whose name holds one of the words given (all, without any)."""
    words = sys.argv[1:]
    chosen = [item for item in TESTS if not words or any(word in item[0] for word in words)]
    report = Report()
    tree = make_tree()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    pool = ThreadPoolExecutor(jobs or 3 * (os.cpu_count() or 2))
    try:
        waiting = [pool.submit(run_one, report, tree, name, body) for name, body in chosen]
        for future in waiting:
            future.result()
    except KeyboardInterrupt:
        pool.shutdown(wait=False, cancel_futures=True)
        tree.stop()
        raise
    finally:
        pool.shutdown()
        tree.remove()
    print("%d passed, %d failed" % (report.count["passed"], report.count["failed"]))
    sys.exit(1 if report.count["failed"] or not chosen else 0)

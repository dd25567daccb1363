#!/usr/bin/python3 -B
# SPDX-License-Identifier: ISC
"""`cofferdam session` against a scripted docker client (fake_docker.py).  Run as root.

    test_session.py [WORD...]      only the tests whose name holds one of the words
"""

import fcntl
import json
import os
import pty
import signal
import termios
import time

from harness import Failure, Tree, equal, holds, main, table, test

GRANT = "/grants/" + "c0ffee00" * 8


def prepare(case, rules=(), worker=None, **more):
    """A session with a workspace and a grant, in place of a turn."""
    case.use_fake(rules, worker, **more)
    grant = case.own_dir("home/grant")
    case.config.update({
        "mode": "session", "session": {"key": "chat 7", "revision": 3},
        "mounts": [{"host": case.workspace, "guest": "/workspace", "mode": "rw"},
                   {"host": grant, "guest": GRANT, "mode": "ro"}]})
    del case.config["limits"]["turnSeconds"]
    return case


def begin(case, options=(), **more):
    return case.begin(options, command="session", **more)


def run(case, options=(), data=b"", **more):
    return case.end(begin(case, options, **more), data)


def started(case):
    """A session whose worker runs: the process, and its --status-fd's lines so far."""
    read, write = os.pipe()
    process = begin(case, ["--status-fd", str(write)], pass_fds=(write,))
    os.close(write)
    lines = os.fdopen(read)
    first = lines.readline()
    if not first:
        raise Failure("the session never said that it runs: %r" % case.end(process).err)
    equal("phase of the first status line", "running", json.loads(first)["phase"])
    return process, lines


@test
def the_worker_has_the_callers_own_input_and_output(case):
    prepare(case, worker={"stdout": "not JSON at all\0\xff\x10\x11", "exit": 0})
    data = bytes(range(256)) * 8
    case.expect(run(case, data=data), 0, out=b"not JSON at all\0\xff\x10\x11")
    with open(case.fake + "/stdin", "rb") as file:
        equal("what the worker read", data, file.read())
    case.nothing_left()


@test
def labels_of_a_session(case):
    prepare(case)
    case.expect(run(case), 0, out=None)
    argv = case.calls("create")[0]["argv"]
    for label in ("dev.cofferdam.mode=session", "dev.cofferdam.session=chat 7",
                  "dev.cofferdam.revision=3"):
        equal("how often --label %s stands in the argv" % label, 1, argv.count(label))
    equal("how many mounts", 2, argv.count("--mount"))
    equal("init", 1, argv.count("--init=true"))


@test
def a_turn_is_no_session_nor_the_other_way_round(case):
    prepare(case)
    case.expect(case.run(), 78, "SANDBOX_CONFIG config.mode")
    case.config["mode"] = "turn"
    del case.config["session"]
    case.config["mounts"] = [{"host": case.broker, "guest": "/broker", "mode": "ro"},
                             {"host": case.workspace, "guest": "/workspace", "mode": "rw"}]
    case.expect(run(case), 78, "SANDBOX_CONFIG config.mode")
    equal("docker calls", [], case.kinds())
    case.nothing_left()


@test
def status_lines(case):
    prepare(case, worker={"exit": 0})
    process, lines = started(case)
    result = case.end(process)
    case.expect(result, 0, out=None)
    last = json.loads(lines.readline())
    equal("phase of the last status line", "done", last["phase"])
    equal("the worker's exit", 0, last["container_exit"])
    equal("nothing after it", "", lines.read())
    case.nothing_left()


@test
def one_that_never_runs_is_not_said_to_run(case):
    prepare(case, worker={"start_fails": "exec: not found"})
    read, write = os.pipe()
    result = run(case, ["--status-fd", str(write)], pass_fds=(write,))
    os.close(write)
    case.expect(result, 69, "SANDBOX_UNAVAILABLE worker.never_ran", out=None)
    with os.fdopen(read) as lines:
        equal("the phases told", ["result"], [json.loads(line)["phase"] for line in lines])
    case.nothing_left()


@table([
    ("exit status 3", {"exit": 3}, 1, "SANDBOX_WORKER worker.exit"),
    ("out of memory", {"exit": 137, "oom": True}, 1, "SANDBOX_WORKER worker.exit"),
    ("it never runs", {"start_fails": "exec: not found"}, 69, "SANDBOX_UNAVAILABLE worker.never_ran"),
])
def worker_fails(case, name, worker, status, reason):
    prepare(case, worker=worker)
    case.expect(run(case), status, reason, out=None)
    case.nothing_left()


@table([
    ("SIGTERM", signal.SIGTERM), ("SIGINT", signal.SIGINT), ("SIGHUP", signal.SIGHUP),
    ("SIGQUIT", signal.SIGQUIT),
])
def signalled(case, name, number):
    prepare(case, worker={"hang": True, "deaf": True})
    process, _ = started(case)
    process.send_signal(number)
    case.expect(case.end(process), 128 + number, "SANDBOX_ABORTED signal", out=None)
    case.nothing_left()


@table([("SIGTSTP", signal.SIGTSTP), ("SIGTTIN", signal.SIGTTIN), ("SIGTTOU", signal.SIGTTOU)])
def the_terminal_does_not_suspend_it(case, name, number):
    """Its worker would go on, without a deadline and with the terminal as its input."""
    prepare(case, worker={"hang": True, "deaf": True})
    process, _ = started(case)
    with open("/proc/%d/status" % process.pid) as file:
        blocked = [line.split()[1] for line in file if line.startswith("SigBlk:")]
    process.terminate()
    case.expect(case.end(process), 143, "SANDBOX_ABORTED signal", out=None)
    holds("it is blocked", int(blocked[0], 16) >> (number - 1) & 1, blocked)
    case.nothing_left()


def on_a_terminal(slave, background):
    """Makes the terminal the caller's own; another job has it when in the background."""
    def prepare_child():
        fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
        if background and os.fork() == 0:
            os.setpgid(0, 0)
            signal.signal(signal.SIGTTOU, signal.SIG_IGN)
            os.tcsetpgrp(slave, os.getpid())
            os.execv("/bin/sleep", ["sleep", "60"])
        while background and os.tcgetpgrp(slave) == os.getpgrp():
            time.sleep(0.01)
    return prepare_child


@table([("run", "run"), ("session", "session")])
def a_background_job_does_not_read_the_terminal(case, name, command):
    if command == "session":
        prepare(case)
    else:
        case.use_fake()
    master, slave = pty.openpty()
    process = case.begin(command=command, stdin=slave, preexec_fn=on_a_terminal(slave, True))
    os.close(slave)
    err = process.stderr.read()
    status = process.wait()
    case.tree.running.discard(process)
    os.close(master)
    equal("exit status", 64, status)
    holds("it says why", b"background" in err, err)
    equal("docker commands", [], case.kinds())
    case.nothing_left()


@test
def the_terminal_is_the_workers(case):
    prepare(case, worker={"stdout": "bye", "exit": 0})
    master, slave = pty.openpty()
    process = begin(case, stdin=slave, preexec_fn=on_a_terminal(slave, False))
    os.close(slave)
    os.write(master, b"hello\n\x04")
    case.expect(case.end(process, None), 0, out=b"bye")
    os.close(master)
    with open(case.fake + "/stdin", "rb") as file:
        equal("what the worker read", b"hello\n", file.read())
    case.nothing_left()


@test
def it_has_a_deadline_when_the_config_says_so(case):
    prepare(case, worker={"hang": True, "deaf": True})
    case.limit(turnSeconds=2)
    case.expect(run(case), 124, "SANDBOX_TIMEOUT turn.deadline", out=None)
    case.nothing_left()


@test
def stop_ends_it(case):
    prepare(case, worker={"hang": True, "deaf": True})
    process, _ = started(case)
    result = case.manage("stop", "--session", "chat 7")
    case.expect(result, 0, out=None)
    case.expect(case.end(process), 1, "SANDBOX_WORKER worker.vanished", out=None)
    case.nothing_left()


@test
def killed_its_guardian_removes_it(case):
    prepare(case, worker={"hang": True, "deaf": True})
    process, _ = started(case)
    process.kill()
    case.end(process)
    case.nothing_left()


@test
def the_lock_is_free_while_it_runs(case):
    prepare(case, worker={"hang": True, "deaf": True})
    process, _ = started(case)
    case.unlocked(case.state + "/lock")
    process.terminate()
    case.end(process)
    case.nothing_left()


def change_when_running(member, value):
    """In docker's second description, a member of it is another."""
    return [{"on": "verify", "nth": 2, "lie": {member: value}}]


@test
def it_is_verified_again_while_it_runs(case):
    prepare(case, change_when_running("HostConfig.Privileged", True),
            worker={"hang": True, "deaf": True})
    case.expect(run(case), 77, "SANDBOX_POLICY verify.differs", out=None)
    holds("the worker ran", case.worker_ran())
    case.nothing_left()


@test
def a_source_swapped_while_it_starts(case):
    prepare(case, [{"on": "verify", "nth": 2, "swap": [case.workspace, None]}],
            worker={"hang": True, "deaf": True})
    case.expect(run(case), 77, "SANDBOX_MOUNT_IDENTITY mount.changed", out=None)
    case.nothing_left()


# --- the worker's standard error ------------------------------------------------

KEPT = 131073


@table([
    ("nothing", "", 0), ("some", "a line\n\x1b[31m", 1), ("all but", "x" * 13107, 10),
    ("too much", "0123456789abcdef", 100000),
])
def worker_stderr(case, name, text, times):
    prepare(case, worker={"stderr": [text, times], "exit": 0})
    log = case.home + "/log"
    case.expect(run(case, ["--worker-stderr", log]), 0, out=None)
    with open(log, "rb") as file:
        equal("the file", (text * times).encode()[:KEPT], file.read())
    equal("its mode", 0o600, os.stat(log).st_mode & 0o777)
    case.nothing_left()


@test
def worker_stderr_replaces_what_was_there(case):
    prepare(case, worker={"stderr": "new\n", "exit": 0})
    log = case.write("log", "old, and longer\n")
    os.chown(log, case.uid, case.uid)
    case.expect(run(case, ["--worker-stderr", log]), 0, out=None)
    with open(log) as file:
        equal("the file", "new\n", file.read())


@test
def worker_stderr_of_a_turn(case):
    case.use_fake(worker={"stderr": ["0123456789abcdef", 8192]})
    log = case.home + "/log"
    case.expect(case.run(["--worker-stderr", log]), 0, out=None)
    equal("length of the file", 131072, os.stat(log).st_size)
    case.orders["worker"] = {"stderr": ["0123456789abcdef", 8193]}
    case.tell_docker()
    case.expect(case.run(["--worker-stderr", log]), 1, "SANDBOX_WORKER worker.stderr")
    equal("length of the file", KEPT, os.stat(log).st_size)
    case.nothing_left()


def directory(case):
    return case.workspace


def others_may_write(case):
    path = case.write("log", "", 0o666)
    os.chown(path, case.uid, case.uid)
    return path


def somebody_elses(case):
    return case.write("log", "kept", 0o666)


def missing_directory(case):
    return case.home + "/nowhere/log"


def fifo(case):
    path = case.home + "/fifo"
    os.mkfifo(path)
    os.chown(path, case.uid, case.uid)
    return path


def inside_a_mount(case):
    return case.workspace + "/log"


def victim(case):
    path = case.write("victim", "kept")
    os.chown(path, case.uid, case.uid)
    return path


def link_of_an_earlier_worker(case):
    os.symlink(victim(case), case.workspace + "/log")
    return case.workspace + "/log"


def directory_of_an_earlier_worker(case):
    os.symlink(os.path.dirname(victim(case)), case.workspace + "/logs")
    return case.workspace + "/logs/victim"


OPEN = (66, "SANDBOX_POLICY worker_stderr.open")


@table([
    ("a directory", directory, *OPEN), ("others may write to it", others_may_write, *OPEN),
    ("others may write to root's", somebody_elses, *OPEN),
    ("no such directory", missing_directory, *OPEN), ("a FIFO", fifo, *OPEN),
    ("inside a mount", inside_a_mount, 77, "SANDBOX_MOUNT_OVERLAP mount.protected"),
    ("a link in a mount", link_of_an_earlier_worker, *OPEN),
    ("below a link in a mount", directory_of_an_earlier_worker, *OPEN),
])
def bad_worker_stderr(case, name, make, status, reason):
    prepare(case)
    result = run(case, ["--worker-stderr", make(case)])
    case.expect(result, status, reason)
    holds("it does not say Success", b"Success" not in result.err, result.err)
    holds("no container was made", "create" not in case.kinds(), case.kinds())
    if os.path.exists(case.dir + "/victim"):
        equal("what the link leads to", "kept", open(case.dir + "/victim").read())
    case.nothing_left()


@table([("a link in a mount", link_of_an_earlier_worker),
        ("below a link in a mount", directory_of_an_earlier_worker),
        ("others may write to it", others_may_write)])
def bad_audit_file(case, name, make):
    prepare(case)
    result = run(case, ["--audit", make(case)])
    case.expect(result, 66, "SANDBOX_POLICY audit.open")
    holds("it does not say Success", b"Success" not in result.err, result.err)
    case.nothing_left()


@table([("audit", "--audit"), ("the worker's stderr", "--worker-stderr")])
def stdout_is_a_file_that_is_written(case, name, option):
    case.use_fake()
    path = case.home + "/out"
    with open(path, "ab") as out:
        os.chown(path, case.uid, case.uid)
        os.chmod(path, 0o600)
        argv = case.argv("run", [option, path, "-t", case.write("turn.json", json.dumps(case.turn))],
                         case.config)
        done = case.end(case.spawn(argv, stdout=out))
    case.expect(done, 64, "USAGE usage", out=None)
    equal("length of the file", 0, os.stat(path).st_size)
    equal("docker was asked to create", [], case.calls("create"))


@table([(option + " " + name, option, name) for option in ("--audit", "--worker-stderr")
        for name in ("id", "id.new", "lock", "claims/new", "docker/more")])
def state_directory_is_not_written_to(case, name, option, file):
    case.use_fake()
    case.expect(case.run(), 0, out=None)
    with open(case.state + "/id") as file_of_id:
        before = file_of_id.read()
    case.expect(case.run([option, case.state + "/" + file]), 64, "USAGE usage")
    if option == "--audit":
        case.expect(case.manage("reap", option, case.state + "/" + file), 64, "USAGE usage")
    with open(case.state + "/id") as file_of_id:
        equal("the id", before, file_of_id.read())


@test
def a_file_of_the_operators_may_lie_in_the_state_directory(case):
    case.use_fake()
    for name in ("audit", "identity", "lock.log"):
        case.expect(case.run(["--audit", case.state + "/" + name]), 0, out=None)
    case.nothing_left()


@test
def fifo_in_the_place_of_the_id(case):
    case.use_fake()
    os.mkfifo(case.state + "/id", 0o600)
    os.chown(case.state + "/id", case.uid, case.uid)
    case.expect(case.run(), 77, "SANDBOX_POLICY state.unsafe")


@table([("log and audit", ["--worker-stderr", "--audit"]), ("log and config", ["--worker-stderr", "-c"]),
        ("audit and config", ["--audit", "-c"])])
def one_file_for_two_purposes(case, name, options):
    prepare(case)
    path = case.write("both", json.dumps(case.config))
    os.chown(path, case.uid, case.uid)
    argv = [case.bin + "/cofferdam", "session", "--state-dir", case.state, "--docker", case.docker]
    if "-c" not in options:
        argv += ["-c", case.write("config.json", json.dumps(case.config))]
    for option in options:
        argv += [option, path]
    case.expect(case.end(case.spawn(argv)), 64, "USAGE usage")
    equal("the file", json.dumps(case.config), open(path).read())
    case.nothing_left()


# --- the caller ---------------------------------------------------------------------

@test
def input_at_its_end_ends_a_worker_that_reads(case):
    prepare(case, worker={"stdout": "bye", "exit": 0})
    process, _ = started(case)
    case.expect(case.end(process, b"last words"), 0, out=b"bye")
    case.nothing_left()


@test
def output_closed_by_the_caller(case):
    prepare(case, worker={"stdout": ["0123456789abcdef", 65536], "exit": 0})
    process = begin(case)
    process.stdout.close()
    process.stdin.close()
    err = process.stderr.read()
    status = process.wait()
    case.tree.running.discard(process)
    holds("it ends with one of the two: %d" % status, status in (0, 70), err)
    case.nothing_left()


@test
def output_that_nobody_reads_is_named(case):
    prepare(case, worker={"endless": True})
    read, write = os.pipe()
    os.close(read)
    process = begin(case, stdout=write)
    os.close(write)
    case.expect(case.end(process), 70, "SANDBOX_PROTOCOL output.write", out=None)
    case.nothing_left()


@test
def output_stalled_by_the_caller(case):
    prepare(case, worker={"stdout": ["0123456789abcdef", 65536], "exit": 0})
    read, write = os.pipe()
    process = begin(case, stdout=write)
    os.close(write)
    process.stdin.close()
    os.read(read, 1)
    process.terminate()
    err = process.stderr.read()
    equal("exit status", 143, process.wait())
    holds("it says so", b"SANDBOX_ABORTED signal" in err, err)
    case.tree.running.discard(process)
    os.close(read)
    case.nothing_left()


@table([("--turn", ["-t", "/dev/null"]), ("a word", ["now"])])
def usage(case, name, words):
    prepare(case)
    case.expect(run(case, words), 64, "USAGE usage")
    equal("docker calls", [], case.kinds())


if __name__ == "__main__":
    main(Tree)

#!/usr/bin/python3 -B
# SPDX-License-Identifier: ISC
"""An attacker inside every confined subcommand of cofferdam-policy (probe.c).  Run as root.

    test_probe.py [WORD...]      only the subcommands whose name holds one of the words

Each attempt is a process of its own, run as root, so that no file's mode is the reason when it is
stopped.  It must be stopped by the filter, which names the number; nothing may have happened.  The
same attempts, made by the control build that is not confined, must succeed.
"""

import ctypes
import fcntl
import json
import os
import pty
import shutil
import signal
import socket
import subprocess
import sys
import termios

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, HERE + "/../conformance"]
from common.frames import facts  # noqa: E402
from common.plans import PLAN_TOOL, Plan, Root  # noqa: E402
from harness import SAFETY, TREE, Tree, equal, holds, main, table, test  # noqa: E402

PROBE = os.environ.get("PROBE_PROGRAM", TREE + "/build/probe/cofferdam-policy")
CONTROL = os.path.dirname(PROBE) + "/control"
DENIED, DONE = 81, 82
SAYS = ("cofferdam-policy: SANDBOX_PROTOCOL confine.syscall: system call %d is not in the "
        "allow-list\n")
TURN = {"text": "hello", "speaker": {"id": "u1", "name": "Ann"}, "model": "m", "prompt": "p",
        "timeZone": "UTC", "tools": [], "mcp": []}

# What the subcommands that examine paths may do all the same: they look, they open nothing.
# Landlock keeps them from following another process's links in /proc.
PATHS = {"see_file": DONE, "see_process": DONE, "see_program": DENIED, "see_descriptor": DENIED}
# Descriptor 3 is a socket in decide alone; the executor refuses a message with descriptors.
SUBCOMMANDS = {
    "turn": {}, "reply": {}, "model-input": {}, "json": {}, "admit": {}, "ps": {}, "explain": {},
    "schema": {}, "check": {**PATHS, "send_descriptor": DENIED},
    "check --lines": {**PATHS, "send_descriptor": DENIED},
    "argv": {**PATHS, "send_descriptor": DENIED}, "verify": {**PATHS, "send_descriptor": DENIED},
    "decide": {**PATHS, "send_descriptor": DONE},
}
# The kernel may be built without these; the control then gets an error for an answer.
OPTIONAL = {"x32_getpid", "int_80", "fault_descriptor", "new_ring", "new_bpf_map", "performance",
            "session_keyring", "new_key", "new_file_system", "open_mount", "terminal_input",
            "shared_memory"}
# What the control must have done, so that the look at the directory and the victim is one.
LEAVES = {"make_file", "empty_file", "creat_old", "make_dir", "make_node", "hard_link", "sym_link",
          "unlink_file", "unlink_old", "rename_file", "rename_old", "change_mode",
          "change_mode_old", "change_owner", "change_size", "change_times", "connect_docker",
          "signal_process", "signal_thread", "signal_thread_old", "queue_signal", "write_memory",
          "renice_process"}


def attempts():
    out = subprocess.run([PROBE], env={"PROBE": "list"}, stdout=subprocess.PIPE, check=True).stdout
    return [(name, int(number)) for name, number in
            (line.split() for line in out.decode().splitlines())]


class Scene:
    """What is attacked: a directory, a process, a socket, eight bytes of this process."""

    def __init__(self, case, config):
        self.case, self.config = case, config
        self.dir = case.dir + "/scene"
        self.secret = ctypes.create_string_buffer(b"secrets!", 8)
        self.victim = self.listener = None

    def set_up(self):
        self.tear_down()
        os.mkdir(self.dir, 0o755)
        for name, text in (("config.json", self.config), ("file", "secret")):
            with open(self.dir + "/" + name, "w") as file:
                file.write(text)
            os.utime(self.dir + "/" + name, (1, 1))
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.dir + "/docker.sock")
        self.listener.listen()
        self.listener.setblocking(False)
        self.secret.raw = b"secrets!"
        self.victim = subprocess.Popen(["sleep", "3600"], start_new_session=True)

    def tear_down(self):
        if self.victim is not None:
            self.victim.kill()
            self.victim.wait()
            self.listener.close()
        shutil.rmtree(self.dir, ignore_errors=True)

    def connected(self):
        try:
            self.listener.accept()[0].close()
            return True
        except BlockingIOError:
            return False

    def look(self):
        """Everything that an attempt could have changed."""
        files = []
        for name in sorted(os.listdir(self.dir)):
            status = os.lstat(self.dir + "/" + name)
            files.append((name, status.st_mode, status.st_uid, status.st_size, status.st_nlink,
                          status.st_mtime_ns))
        return (files, self.victim.poll(), self.connected(), self.secret.raw,
                os.getpriority(os.PRIO_PROCESS, self.victim.pid) if self.victim.poll() is None
                else None)

    def environment(self, name):
        return {"PROBE": name, "PROBE_DIR": self.dir, "PROBE_PIDS": "%d %d %d" % (
            self.victim.pid, os.getpid(), ctypes.addressof(self.secret))}


class Input:
    """What a subcommand needs to come as far as its document: words, stdin, descriptors."""

    def __init__(self, case):
        self.dir = case.dir
        self.config = json.dumps(case.config)
        case.write("config.json", self.config)
        self.plan = Plan([Root("/srv/a", "/workspace", "rw")])
        self.plan.write(PLAN_TOOL, case.dir + "/plan")
        self.facts = facts(PLAN_TOOL, mode="turn")

    def of(self, command):
        row = json.dumps(self.plan.line()).encode() + b"\n"
        turn = json.dumps(TURN).encode()
        config = ["-c", self.dir + "/config.json"]
        chosen = {
            "turn": ([], turn), "json": ([], turn), "reply": ([], b'{"ok":true,"text":"x"}'),
            "model-input": ([], b'{"messages":[]}'), "admit": ([], row), "ps": ([], row),
            "explain": (["SANDBOX_TURN"], b""), "schema": (["config"], b""),
            "check": (config, b""), "argv": (config, b""), "decide": ([], b""),
            "check --lines": ([], self.config.encode() + b"\n"),
            "verify": ([], json.dumps(self.plan.inspected()).encode()),
        }[command]
        return [*command.split(), *chosen[0]], chosen[1]

    def descriptors(self, command):
        """{number: descriptor}, and our end of decide's socket."""
        if command in ("admit", "verify"):
            return {3: os.open(self.dir + "/plan", os.O_RDONLY)}, None
        if command != "decide":
            return {}, None
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ours.send(self.facts)
        return {3: theirs.detach(), 4: os.open(self.dir + "/config.json", os.O_RDONLY)}, ours


def high(fd):
    """Out of the way of the child's own numbers; closed when another child executes."""
    moved = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 64)
    os.close(fd)
    return moved


def run(program, given, command, scene, name, terminal=None):
    """(status, what it wrote to standard error)."""
    words, data = given.of(command)
    inherited, ours = given.descriptors(command)
    inherited = {number: high(fd) for number, fd in inherited.items()}

    def place():
        for number, fd in inherited.items():
            os.dup2(fd, number)

    child = subprocess.Popen(
        [program, *words], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE if terminal is None else terminal, env=scene.environment(name),
        preexec_fn=place, close_fds=False, start_new_session=True)
    for fd in inherited.values():
        os.close(fd)
    try:
        err = child.communicate(data, timeout=SAFETY)[1]
    finally:
        if ours is not None:
            ours.close()
    return child.returncode, (err or b"").decode()


def stopped(what, number, status, err, expected):
    """As it must be: the filter's word, or one of the exceptions above."""
    if expected is not None:
        equal(what + ": the exit status of the attempt", expected, status)
    elif number < 0:
        equal(what + ": ended by", -signal.SIGSYS, status)
    else:
        equal(what + ": exit status and standard error", (70, SAYS % number), (status, err))


@table([(command, exceptions) for command, exceptions in SUBCOMMANDS.items()])
def confined(case, command, exceptions):
    given = Input(case)
    scene = Scene(case, given.config)
    tried = attempts()
    holds("the exceptions are attempts", set(exceptions) <= {name for name, _ in tried}, exceptions)
    scene.set_up()
    try:
        before = scene.look()
        for name, number in tried:
            status, err = run(PROBE, given, command, scene, name)
            stopped("%s in %s" % (name, command), number, status, err, exceptions.get(name))
            equal("what %s in %s left" % (name, command), before, scene.look())
        print("# %s: %d attempts, %d stopped, %d answered as listed"
              % (command, len(tried), len(tried) - len(exceptions), len(exceptions)))
    finally:
        scene.tear_down()


@test
def control(case):
    """Not confined, the same attempts succeed, and what they leave is seen."""
    given = Input(case)
    scene = Scene(case, given.config)
    missing = []
    master, slave = pty.openpty()
    attributes = termios.tcgetattr(slave)
    attributes[1] &= ~termios.OPOST
    termios.tcsetattr(slave, termios.TCSANOW, attributes)
    try:
        for name, _ in attempts():
            scene.set_up()
            before = scene.look()
            command = "decide" if name == "send_descriptor" else "json"
            wrap = name in ("terminal_input", "terminal_size")
            status, err = control_run(given, command, scene, name, slave if wrap else None)
            if status == DENIED and name in OPTIONAL or status < 0 and name == "int_80":
                missing.append(name)
                continue
            equal("%s, unconfined; standard error %r; the exit status" % (name, err), DONE, status)
            if name in LEAVES:
                holds("%s leaves something to be seen" % name, before != after(scene, name), before)
    finally:
        scene.tear_down()
        os.close(master)
        os.close(slave)
    print("# control: %d attempts succeeded unconfined; this kernel has none of: %s"
          % (len(attempts()) - len(missing), " ".join(missing) or "-"))


def after(scene, name):
    if name.startswith(("signal", "queue")):
        scene.victim.wait(SAFETY)
    return scene.look()


def control_run(given, command, scene, name, terminal):
    """In a mount namespace of its own: one of the attempts mounts."""
    shim = given.dir + "/control"
    if not os.path.exists(shim):
        with open(shim, "w") as file:
            file.write('#!/bin/sh\nexec unshare --mount --propagation private "%s" "$@"\n' % CONTROL)
        os.chmod(shim, 0o755)
    return run(shim, given, command, scene, name, terminal)


if __name__ == "__main__":
    if os.getuid() != 0:
        sys.exit("test_probe.py: run as root, so that only the confinement can be what stops it")
    for needed in (PROBE, CONTROL, PLAN_TOOL):
        if not os.path.exists(needed):
            sys.exit("test_probe.py: %s is not built" % needed)
    print("# %d attempts in each of %d subcommands" % (len(attempts()), len(SUBCOMMANDS)))
    main(Tree)

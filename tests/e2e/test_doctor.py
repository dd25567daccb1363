#!/usr/bin/python3 -B
# SPDX-License-Identifier: ISC
"""cofferdam doctor, with a scripted docker client (fake_docker.py).  Run as root.

    test_doctor.py [WORD...]      only the tests whose name holds one of the words

Every check is made to fail: its verdict, its mend, and the exit status that it leads to.
"""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import harness  # noqa: E402
from harness import PROGRAMS, SAFETY, Tree, equal, holds, main, table, test  # noqa: E402

ALWAYS = ["user", "landlock", "policy", "config", "state", "docker", "endpoint", "engine",
          "versions", "kind", "seccomp", "lsm", "cgroup", "memory", "swap", "cpu", "pids", "warnings"]
OF_ENGINE = ALWAYS[8:]
# The user of a test has no account, so no home directory.
HOMELESS = "give the user a home directory, or name --state-dir in every command"


def listed(out):
    """{check: its JSON line}, in order."""
    rows = [json.loads(line) for line in out.splitlines()]
    for row in rows:
        equal("keys of a line", ["check", "verdict", "found", "mend", "reason", "exit"], list(row))
        equal("%s has a mend unless it is ok" % row["check"], row["verdict"] != "ok",
              row["mend"] != "")
        equal("%s has an exit status if it failed" % row["check"], row["verdict"] == "fail",
              row["exit"] != 0)
    return {row["check"]: row for row in rows}


def doctor(case, *words, **more):
    """The lines as JSON, after a look at what people are shown."""
    shown = case.manage("doctor", *words, **more)
    result = case.manage("doctor", "--json", *words, **more)
    rows = listed(result.out)
    equal("exit status with and without --json", result.status, shown.status)
    equal("standard error", (b"", b""), (shown.err, result.err))
    case.printable(shown.out)
    case.printable(result.out)
    lines = shown.out.decode("ascii").splitlines()
    equal("a line a check", len(rows), len(lines))
    for line, row in zip(lines, rows.values()):
        mend = "; mend: " + row["mend"] if row["mend"] else ""
        equal("the line for people", "%-7s %-8s %s%s" % (row["verdict"], row["check"],
                                                         row["found"], mend), line)
    first = [row["exit"] for row in rows.values() if row["verdict"] == "fail"] + [0]
    equal("exit status: the first failing check's", first[0], result.status)
    return rows


def expect(rows, check, verdict, reason="", status=0, mend=None, found=None):
    """This check is so, all others are ok (or, when it failed, not looked at)."""
    row = rows[check]
    equal("verdict, reason and exit status of " + check, (verdict, reason, status),
          (row["verdict"], row["reason"], row["exit"]))
    if mend is not None:
        holds("the mend of %s has %r" % (check, mend), mend in row["mend"], row["mend"])
    if found is not None:
        holds("what %s found has %r" % (check, found), found in row["found"], row["found"])
    for name, other in rows.items():
        if name not in (check, "user"):
            fine = ("ok", "unknown") if verdict == "fail" else ("ok",)
            fine += ("warn",) if name == "config" else ()  # most tests name none
            holds("%s is not to blame" % name, other["verdict"] in fine, other)


def unknown(rows):
    return [name for name, row in rows.items() if row["verdict"] == "unknown"]


# --- all is well -------------------------------------------------------------

@test
def everything_is_well(case):
    case.use_fake()
    rows = doctor(case)
    equal("the checks", ALWAYS, list(rows))
    expect(rows, "user", "warn", mend=HOMELESS, found="uid %d, gid %d" % (case.uid, case.uid))
    equal("what docker was asked", ["program", "version", "info"] * 2, case.kinds())
    equal("containers", [], case.containers())


@test
def with_an_image_and_a_config(case):
    case.use_fake()
    config = case.write("config.json", json.dumps(case.config))
    rows = doctor(case, "-c", config, "--image", "worker:1")
    equal("the checks", ALWAYS + ["image"], list(rows))
    expect(rows, "config", "ok", found=config + ": allowed")
    expect(rows, "image", "ok", found="worker:1 linux sha256:5a5a")


@test
def docker_sees_nothing_of_the_user(case):
    case.use_fake()
    case.env = {"DOCKER_CONTEXT": "evil", "DOCKER_CONFIG": "/evil", "HTTP_PROXY": "http://evil",
                "HOME": "/evil", "PATH": "/evil"}
    doctor(case, "--image", "worker:1")
    for call in case.calls():
        equal("environment of docker " + call["kind"],
              ["DOCKER_CONFIG=/nonexistent/docker", "HOME=/nonexistent/docker", "LC_ALL=C",
               "PATH=/usr/sbin:/usr/bin:/sbin:/bin"], sorted(call["environ"]))
        equal("descriptors of docker " + call["kind"], ["0", "1", "2"], sorted(call["fds"]))


# --- the user ----------------------------------------------------------------

@test
def root(case):
    case.use_fake()
    done = subprocess.run([case.tree.bin + "/cofferdam", "doctor", "--json", "--docker",
                           case.docker], capture_output=True, check=False, env={})
    rows = listed(done.stdout)
    equal("exit status", 77, done.returncode)
    expect(rows, "user", "fail", "executor.root", 77, "run it as a user who may use docker")
    equal("not looked at", [name for name in ALWAYS if name not in ("user", "landlock")],
          unknown(rows))
    equal("docker was called", [], case.kinds())


@test
def set_user_id(case):
    case.use_fake()
    directory = case.dir + "/privileged"
    os.mkdir(directory, 0o755)
    for name in ("cofferdam", "cofferdam-policy"):
        harness.copy_program(case.tree.bin + "/" + name, directory)
    os.chown(directory + "/cofferdam", 4242, 4242)
    os.chmod(directory + "/cofferdam", 0o4755)
    result = case.end(case.spawn([directory + "/cofferdam", "doctor", "--json"]))
    # A sanitized build's leak check needs ptrace, which set-user-ID forbids: its own status then.
    leaks = b"LeakSanitizer has encountered a fatal error" in result.err
    equal("exit status", 1 if leaks else 77, result.status)
    expect(listed(result.out), "user", "fail", "executor.privileged", 77, "run the plain binary")


@table([("uid", 2147483648, 61300), ("gid", 61300, 2147483648), ("group root", 61300, 0)])
def ids_that_no_worker_may_have(case, name, uid, gid):
    argv = [case.tree.bin + "/cofferdam", "doctor", "--json", "--docker", "/nonexistent"]
    done = subprocess.run(argv, capture_output=True, check=False, env={}, cwd="/", user=uid,
                          group=gid, extra_groups=[])
    row = listed(done.stdout)["user"]
    equal("verdict", "warn", row["verdict"])
    holds("the mend", "user.uid" in row["mend"], row["mend"])


# --- our own files -----------------------------------------------------------

def another_policy(case, program=None, mode=0o755):
    """A cofferdam beside which another program is cofferdam-policy."""
    directory = case.dir + "/ours"
    os.mkdir(directory, 0o755)
    harness.copy_program(case.tree.bin + "/cofferdam", directory)
    if program is not None:
        harness.copy_program(program, directory + "/cofferdam-policy")
        os.chmod(directory + "/cofferdam-policy", mode)
    return directory + "/cofferdam"


@table([
    ("missing", None, 0o755, "policy.unsafe", 77, "reinstall", ""),
    ("others may write it", "/bin/true", 0o757, "policy.unsafe", 77, "reinstall", ""),
    ("it cannot be executed", "/bin/true", 0o644, "policy.crashed", 70, "report it", "executed"),
    ("it says nothing", "/bin/true", 0o755, "policy.crashed", 70, "report it", "exit status 0"),
    ("it fails", "/bin/ls", 0o755, "policy.crashed", 70, "report it", "exit status 2"),
])
def policy_is_not_what_it_should_be(case, name, program, mode, reason, status, mend, found):
    case.use_fake()
    argv = [another_policy(case, program, mode), "doctor", "--json", "--host",
            "unix://" + case.socket, "--state-dir", case.state, "--docker", case.docker]
    result = case.end(case.spawn(argv))
    case.printable(result.out)
    equal("exit status", status, result.status)
    expect(listed(result.out), "policy", "fail", reason, status, mend, found)


def with_fault(case, fault, *flags):
    """doctor with a system call that fails; what it prints, and its exit status."""
    argv = ["/usr/bin/strace", *flags, "-qq", "-o", "/dev/null", "-e", "inject=" + fault, "--",
            "/usr/bin/setpriv", "--reuid", str(case.uid), "--regid", str(case.uid),
            "--clear-groups", case.tree.bin + "/cofferdam", "doctor", "--json", "--host",
            "unix://" + case.socket, "--state-dir", case.state, "--docker", case.docker]
    # A sanitized build's leak check does not work under ptrace.
    done = subprocess.run(argv, capture_output=True, check=False, cwd="/", timeout=SAFETY,
                          env={"ASAN_OPTIONS": "detect_leaks=0"})
    return listed(done.stdout), done.returncode


@table([("an error", "error=EPERM", "policy.crashed", 70, "confine.failed"),
        ("death", "signal=KILL", "policy.crashed", 70, "exit status -1"),
        ("a stop", "signal=STOP", "policy.deadline", 124, "cofferdam-policy")])
def policy_cannot_confine_itself(case, name, fault, reason, status, found):
    case.use_fake()
    rows, ended = with_fault(case, "landlock_restrict_self:" + fault, "-f")
    equal("exit status", status, ended)
    expect(rows, "policy", "fail", reason, status, found=found)


@test
def no_landlock(case):
    case.use_fake()
    rows, status = with_fault(case, "landlock_create_ruleset:error=ENOSYS")
    equal("exit status", 69, status)
    expect(rows, "landlock", "fail", "confine.landlock", 69, "5.13")


@table([
    ("missing", lambda c: c.dir + "/none.json", "config.open", 66, "-c FILE"),
    ("others may write it", lambda c: c.write("c.json", "{}", 0o666), "config.unsafe", 78, "mode"),
    ("a directory", lambda c: c.home, "config.unsafe", 78, "owner"),
    ("not JSON", lambda c: c.write("c.json", "{\x1b[31m"), "json.syntax", 78, "explain"),
    ("a relative mount", lambda c: c.write("c.json", json.dumps(dict(c.config, mounts=[
        {"host": "relative", "guest": "/broker", "mode": "ro"},
        {"host": c.workspace, "guest": "/workspace", "mode": "rw"}]))), "mount.relative", 77,
     "explain"),
])
def config_is_refused(case, name, path, reason, status, mend):
    case.use_fake()
    rows = doctor(case, "-c", path(case))
    row = rows["config"]
    if reason == "json.syntax":  # whichever of json's reasons it is
        holds("a reason of json's", row["reason"].startswith("json."), row["reason"])
        reason = row["reason"]
    expect(rows, "config", "fail", reason, status, mend)
    equal("not looked at", [], unknown(rows))


def default_config(case, put):
    """Where a launch looks by itself; put makes what is there."""
    case.env = {"XDG_CONFIG_HOME": case.home}
    path = case.home + "/cofferdam/config.json"
    os.mkdir(os.path.dirname(path), 0o755)
    put(case, path)
    return path


@table([
    ("there is none", lambda c, path: None, "warn", "", 0, "-c FILE", "No such file"),
    ("it is allowed", lambda c, path: c.write(path[len(c.dir) + 1:], json.dumps(c.config)), "ok",
     "", 0, "", ": allowed"),
    ("it is refused", lambda c, path: c.write(path[len(c.dir) + 1:], "[]"), "fail",
     "shape.type", 78, "explain", ""),
    ("a link to itself", lambda c, path: os.symlink(path, path), "fail", "config.open", 66,
     "-c FILE", "Too many levels"),
])
def config_without_an_option(case, name, put, verdict, reason, status, mend, found):
    case.use_fake()
    default_config(case, put)
    expect(doctor(case), "config", verdict, reason, status, mend, found)


@test
def config_of_the_environment_is_missing(case):
    case.use_fake()
    case.env = {"COFFERDAM_CONFIG": case.dir + "/none.json"}
    expect(doctor(case), "config", "fail", "config.open", 66, "-c FILE", "none.json")


@test
def every_refusal_of_a_config_is_told(case):
    case.use_fake()
    case.config["mounts"][0]["host"] = "relative"
    case.config["limits"]["pids"] = 1
    found = doctor(case, "-c", case.write("c.json", json.dumps(case.config)))["config"]["found"]
    for word in ("mount.relative", "/limits/pids"):
        holds("it names " + word, word in found, found)


def without_state(case):
    shutil.rmtree(case.state)


def parent_of_others(case):
    without_state(case)
    os.chmod(case.home, 0o777)


def parent_of_root(case):
    without_state(case)
    os.chown(case.home, 0, 0)


def file_in_its_place(case):
    without_state(case)
    case.write("home/state", "")


def not_private(case):
    os.chmod(case.state, 0o755)


def of_another(case):
    os.chown(case.state, 0, 0)


def id_of_a_copy(case):
    path = case.write("home/state/id", "0" * 32 + " 0:0 id\n")
    os.chown(path, case.uid, case.uid)


@table([(f.__name__.replace("_", " "), f) for f in (parent_of_others, parent_of_root,
                                                    file_in_its_place, not_private, of_another,
                                                    id_of_a_copy)])
def state_directory_is_unfit(case, name, spoil):
    case.use_fake()
    spoil(case)
    rows = doctor(case)
    expect(rows, "state", "fail", "state.unsafe", 77, "name one with --state-dir")


@test
def state_directory_that_a_launch_will_make(case):
    case.use_fake()
    without_state(case)
    rows = doctor(case)
    expect(rows, "state", "ok", found="a launch has to make it, in " + case.home)
    equal("it was made", False, os.path.exists(case.state))


@test
def state_directory_without_locks(case):
    case.use_fake()
    rows, status = with_fault(case, "flock:error=ENOLCK")
    equal("exit status", 77, status)
    expect(rows, "state", "fail", "state.unsafe", 77)


@test
def state_directory_on_another_machine(case):
    """A server that shares its files by 9p or NFS is not at hand: statfs(2) fails instead."""
    case.use_fake()
    without_state(case)
    rows, status = with_fault(case, "fstatfs:error=EIO")
    equal("exit status", 77, status)
    expect(rows, "state", "fail", "state.unsafe", 77, found="a launch has to make it")


# --- the docker program ------------------------------------------------------

def docker_of_the_user(case):
    os.chown(case.docker, case.uid, case.uid)


def docker_below_the_user(case):
    os.chown(case.dir + "/bin", case.uid, case.uid)


def docker_missing(case):
    os.unlink(case.docker)


@table([
    ("the user's own", docker_of_the_user, "docker.unsafe", 77, "root-owned"),
    ("in the user's directory", docker_below_the_user, "docker.unsafe", 77, "root-owned"),
    ("missing", docker_missing, "docker.missing", 69, "docker.io"),
])
def docker_program_is_unfit(case, name, spoil, reason, status, mend):
    case.use_fake()
    spoil(case)
    rows = doctor(case)
    expect(rows, "docker", "fail", reason, status, mend, case.docker)
    equal("not looked at", ["engine"] + OF_ENGINE, unknown(rows))


@test
def docker_program_of_snap(case):
    case.use_fake()
    os.mkdir(case.dir + "/snap", 0o755)
    os.mkdir(case.dir + "/snap/bin", 0o755)
    harness.copy_program(case.docker, case.dir + "/snap/bin/snap")
    os.chmod(case.dir + "/snap/bin/snap", 0o755)
    case.docker = case.dir + "/snap/bin/docker"
    os.symlink("snap", case.docker)
    expect(doctor(case), "docker", "fail", "endpoint.desktop", 77, "docker.io")


@test
def docker_program_is_another(case):
    case.use_fake(doctor={"program": "podman version 4.3.1"})
    expect(doctor(case), "docker", "warn", mend="Docker's own program", found="podman version")


@test
def docker_program_cannot_run(case):
    case.use_fake([{"on": "program", "exit": 1, "say": "illegal \x1b]0;x\x07 instruction\n"}])
    expect(doctor(case), "docker", "fail", "docker.failed", 69, found="illegal \\x1b]0;x\\x07")


# --- the endpoint ------------------------------------------------------------

def endpoint(case, url, **more):
    case.config["docker"]["host"] = url
    return doctor(case, **more)


@table([(url,) for url in ("tcp://127.0.0.1:2375", "ssh://u@h", "unix://relative", "unix:///a/../b",
                           "UNIX:///a", "unix:///\x1b[31m", "unix:///" + "a" * 107)])
def endpoint_is_no_socket_url(case, url):
    case.use_fake()
    expect(endpoint(case, url), "endpoint", "fail", "endpoint.grammar", 77, "--host")


def no_socket(case):
    os.unlink(case.socket)


def a_file(case):
    os.unlink(case.socket)
    case.write("engine.sock", "")


def of_another_user(case):
    os.chown(case.socket, 4242, case.uid)


def writable_by_all(case):
    os.chmod(case.socket, 0o666)


def in_a_directory_of_all(case):
    os.chmod(case.dir, 0o777)


def not_ours_to_use(case):
    os.chown(case.socket, 0, 0)


@table([(f.__name__.replace("_", " "), f, reason, status, mend) for f, reason, status, mend in (
    (no_socket, "endpoint.socket", 69, "start the docker engine"),
    (a_file, "endpoint.socket", 69, "start the docker engine"),
    (of_another_user, "endpoint.owner", 77, "0660"),
    (writable_by_all, "endpoint.owner", 77, "0660"),
    (not_ours_to_use, "endpoint.denied", 69, "add you to its group"))])
def socket_is_unfit(case, name, spoil, reason, status, mend):
    case.use_fake()
    spoil(case)
    rows = doctor(case)
    expect(rows, "endpoint", "fail", reason, status, mend, "unix://" + case.socket)
    equal("not looked at", ["engine"] + OF_ENGINE, unknown(rows))
    equal("docker was asked for its own version only", {"program"}, set(case.kinds()))


def move_socket(case, *names):
    directory = case.dir
    for name in names[:-1]:
        directory += "/" + name
        os.mkdir(directory, 0o755)
    os.unlink(case.socket)
    case.socket = directory + "/" + names[-1]
    case.make_socket()
    return "unix://" + case.socket


@test
def socket_in_a_directory_of_all(case):
    case.use_fake()
    url = move_socket(case, "open", "e.sock")
    os.chmod(case.dir + "/open", 0o777)
    expect(endpoint(case, url), "endpoint", "fail", "endpoint.ancestor", 77, "above it")


@table([("Docker Desktop", ".docker", "desktop", "docker.sock"),
        ("Docker Desktop of today", ".docker", "run", "docker.sock"),
        ("snap", "snap", "docker", "docker.sock")])
def socket_of_a_foreign_engine(case, name, *parts):
    case.use_fake()
    expect(endpoint(case, move_socket(case, *parts)), "endpoint", "fail", "endpoint.desktop", 77,
           "native docker engine")


@test
def endpoint_from_the_environment(case):
    case.use_fake()
    case.env = {"DOCKER_HOST": "unix://" + case.socket}
    argv = [case.tree.bin + "/cofferdam", "doctor", "--json", "--state-dir", case.state,
            "--docker", case.docker]
    result = case.end(case.spawn(argv))
    equal("exit status", 0, result.status)
    holds("the endpoint is the variable's", case.socket in listed(result.out)["endpoint"]["found"])


# --- the engine --------------------------------------------------------------

@table([
    ("it does not answer", {"on": "version", "exit": 1, "say": "Cannot connect\n"}),
    ("its info fails", {"on": "info", "exit": 1, "say": "\x1b[2JWARNING \x9b\n"}),
    ("its version is cut", {"on": "version", "out": "28.2.2\n1.50\n"}),
    ("its info is cut", {"on": "info", "out": "linux, x\n"}),
    ("it says nothing", {"on": "info", "out": ""}),
    ("the client dies", {"on": "version", "die": signal.SIGSEGV}),
])
def engine_does_not_answer(case, name, rule):
    case.use_fake([rule])
    rows = doctor(case)
    expect(rows, "engine", "fail", "docker.failed", 69, "check the engine")
    equal("not looked at", OF_ENGINE, unknown(rows))


@test
def engine_hangs(case):
    case.use_fake([{"on": "info", "hang": "before"}])
    result = case.manage("doctor", "--json")
    equal("exit status", 69, result.status)
    expect(listed(result.out), "engine", "fail", "docker.deadline", 69, "check the engine")
    case.settle()


@table([("equal", "1.41", "1.41"), ("newer", "1.50", "1.41"), ("two digits", "1.100", "1.99")])
def client_is_new_enough(case, name, client, engine):
    case.use_fake(doctor={"client_api": client, "api": engine})
    expect(doctor(case), "versions", "ok", found="API %s, its engine" % client)


@table([("older", "1.41", "1.50", "docker.old", "--docker"),
        ("not by text", "1.9", "1.10", "docker.old", "--docker"),
        ("no version", "1.41", "\x1b[31m", "docker.failed", "check the engine"),
        ("empty", "", "1.41", "docker.failed", "check the engine")])
def client_is_refused(case, name, client, engine, reason, mend):
    case.use_fake(doctor={"client_api": client, "api": engine})
    expect(doctor(case), "versions", "fail", reason, 69, mend)


SECCOMP = "name=seccomp,profile=default "


@table([
    ("kind", {"system": "linux, Docker Desktop"}, "endpoint.desktop", "native docker engine"),
    ("kind", {"system": "windows, Windows"}, "endpoint.desktop", "native docker engine"),
    ("kind", {"root": "/var/snap/docker/common/var-lib-docker"}, "endpoint.desktop", "docker.io"),
    ("kind", {"parts": "Podman Engine Conmon "}, "", "Docker's engine"),
    ("kind", {"security": "name=apparmor name=rootless " + SECCOMP}, "", "mounts must suit"),
    ("kind", {"security": "name=apparmor name=userns " + SECCOMP}, "", "mounts must suit"),
    ("seccomp", {"security": "name=apparmor "}, "engine.seccomp", "CONFIG_SECCOMP_FILTER"),
    ("seccomp", {"security": "name=apparmor name=seccomp,profile=unconfined "}, "engine.seccomp",
     "daemon.json"),
    ("lsm", {"security": SECCOMP}, "", "lsm=...,apparmor"),
    ("cgroup", {"cgroup": "version 1, none"}, "docker.warning", "systemd"),
    ("memory", {"memory": "MemoryLimit=false"}, "docker.warning", "cgroup_enable=memory"),
    ("swap", {"swap": "SwapLimit=false"}, "docker.warning", "swapaccount=1"),
    ("cpu", {"cpu": "CpuCfsQuota=false"}, "docker.warning", "CONFIG_CFS_BANDWIDTH"),
    ("pids", {"pids": "PidsLimit=false"}, "docker.warning", "CONFIG_CGROUP_PIDS"),
    ("warnings", {"warnings": "WARNING: \x1b[31mno \xff kmem "}, "", "mend what it names"),
])
def engine_lacks_something(case, check, answers, reason, mend):
    case.use_fake(doctor=answers)
    rows = doctor(case)
    expect(rows, check, "fail" if reason else "warn", reason, 77 if reason else 0, mend)
    equal("not looked at", [], unknown(rows))


@test
def first_failure_gives_the_status(case):
    case.use_fake(doctor={"client_api": "1.1", "memory": "MemoryLimit=false"})
    rows = doctor(case)
    equal("two failures", (69, 77), (rows["versions"]["exit"], rows["memory"]["exit"]))


@test
def selinux_is_one_too(case):
    case.use_fake(doctor={"security": SECCOMP + "name=selinux "})
    expect(doctor(case), "lsm", "ok")


# --- the image ---------------------------------------------------------------

def image(**change):
    return {"Id": "sha256:" + "5a" * 32, "RepoTags": ["worker:1"], "Os": "linux", "Config": {},
            **change}


@table([
    ("no such image", "worker:2", True, "image.absent", 69, "pull"),
    ("not a reference", "--all", True, "image.grammar", 77, "name[:tag]"),
    ("escapes", "a\x1b[31m", True, "image.grammar", 77, "name[:tag]"),
    ("of another system", "worker:1", image(Os="windows"), "image.os", 77, "Linux image"),
    ("with a volume", "worker:1", image(Config={"Volumes": {"/data": {}}}), "image.volume", 77,
     "without VOLUME"),
])
def image_is_unfit(case, name, reference, what, reason, status, mend):
    case.use_fake(image=what)
    expect(doctor(case, "--image=" + reference), "image", "fail", reason, status, mend)


@test
def image_answer_is_cut(case):
    case.use_fake([{"on": "image-lines", "out": "sha256:5a\n"}])
    expect(doctor(case, "--image", "worker:1"), "image", "fail", "docker.failed", 69)


# --- the program -------------------------------------------------------------

@table([("hang",), ("hang on info",)])
def signal_ends_it(case, name):
    on = "info" if name.endswith("info") else "version"
    case.use_fake([{"on": on, "signal_parent": [signal.SIGTERM, "before"], "hang": "before"}])
    result = case.manage("doctor")
    equal("exit status", 128 + signal.SIGTERM, result.status)
    equal("reasons", [("SANDBOX_ABORTED", "signal")], result.reasons())
    case.settle()


@test
def output_that_cannot_be_written(case):
    case.use_fake()
    with open("/dev/full", "wb") as full:
        result = case.manage("doctor", stdout=full)
    equal("exit status", 70, result.status)
    equal("reasons", [("SANDBOX_PROTOCOL", "output.write")], result.reasons())


@table([("--turn", ["--turn", "x"]), ("operand", ["x"]), ("--json=1", ["--json=1"])])
def usage(case, name, words):
    case.use_fake()
    case.expect(case.manage("doctor", *words), 64, "USAGE usage")


if __name__ == "__main__":
    if os.getuid() != 0:
        sys.exit("test_doctor.py: run as root: every case runs as a user of its own")
    for needed in ("cofferdam", "cofferdam-policy"):
        if not os.path.exists(PROGRAMS + "/" + needed):
            sys.exit("test_doctor.py: %s is not built" % needed)
    main(Tree)

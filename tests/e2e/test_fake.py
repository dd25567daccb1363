#!/usr/bin/python3 -B
# SPDX-License-Identifier: ISC
"""cofferdam against a scripted docker client (fake_docker.py).  Run as root.

    test_fake.py [WORD...]      only the tests whose name holds one of the words
"""

import fcntl
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import (IMAGE_ID, PROGRAMS, SAFETY, Case, Failure, Tree, equal,  # noqa: E402
                     holds, main, orders, table, test)

HELLO = b'{"ok":true,"text":"hello"}\n'
PASS = b'{"ok":true,"text":"'

# Ignored signals that say nothing of the executor: Python itself ignores SIGPIPE (13) and SIGXFSZ
# (25); 32 and 33 are libc's own, which signal(3) may not touch, and which a posix_spawn(3) in
# some ancestor leaves ignored.
NOT_OURS = 1 << 12 | 1 << 24 | 1 << 31 | 1 << 32



def text_of(turn):
    """A turn as the worker reads it: the keys in the design's order, no blanks."""
    keys = ("text", "speaker", "model", "prompt", "timeZone", "tools", "reset", "mcp")
    kept = {key: turn[key] for key in keys if key in turn}
    return json.dumps(kept, ensure_ascii=False, separators=(",", ":")).encode()


# --- the normal turn ---------------------------------------------------------

@test
def normal_turn(case):
    case.use_fake()
    case.expect(case.run(), 0, out=HELLO)
    case.nothing_left()
    kinds = case.kinds()
    for kind in ("image", "create", "admit", "verify", "start", "result", "rm", "find"):
        holds("docker was asked for " + kind, kind in kinds, kinds)
    equal("one create, one start", (1, 1), (kinds.count("create"), kinds.count("start")))
    order = [kinds.index(kind) for kind in ("image", "create", "start", "result", "rm", "find")]
    equal("the order of the commands", sorted(order), order)
    holds("admit and verify come after create and before start",
          kinds.index("create") < min(kinds.index("admit"), kinds.index("verify")) and
          max(kinds.index("admit"), kinds.index("verify")) < kinds.index("start"), kinds)


@test
def worker_reads_the_canonical_turn(case):
    case.use_fake()
    case.turn.update({"junk": 1, "reset": True, "text": "h\u00e9 \u2028 \U0001f600 \\ \""})
    case.expect(case.run(), 0, out=HELLO)
    with open(case.fake + "/stdin", "rb") as file:
        equal("what the worker read", text_of(case.turn), file.read().rstrip(b"\n"))
    case.nothing_left()


@test
def stderr_of_a_normal_turn_is_empty(case):
    case.use_fake()
    equal("standard error", b"", case.run().err)


@test
def turn_from_a_file(case):
    case.use_fake()
    path = case.write("turn.json", json.dumps(case.turn))
    case.expect(case.run(["-t", path], stdin=subprocess.DEVNULL), 0, out=HELLO)
    case.nothing_left()


@test
def create_argv_isolates(case):
    case.use_fake()
    case.run()
    argv = case.calls("create")[0]["argv"]
    equal("host and command", ["--host", "unix://" + case.socket, "container", "create"], argv[:4])
    pairs = list(zip(argv, argv[1:]))
    for pair in (("--network", "none"), ("--cap-drop", "ALL"), ("--pull", "never"),
                 ("--security-opt", "no-new-privileges:true"), ("--ipc", "private"),
                 ("--user", "%d:%d" % (case.uid, case.uid)), ("--cgroupns", "private"),
                 ("--memory", "536870912"), ("--memory-swap", "536870912"), ("--cpus", "1"),
                 ("--pids-limit", "64"), ("--ulimit", "nofile=256:256"), ("--log-driver", "none"),
                 ("--restart", "no"), ("--env", "HOME=/tmp/home"), ("--workdir", "/"),
                 ("--tmpfs", "/tmp:rw,noexec,nosuid,nodev,size=67108864,mode=1777"),
                 ("--mount", "type=bind,readonly,source=%s,target=/broker,"
                             "bind-propagation=rprivate" % case.broker),
                 ("--mount", "type=bind,source=%s,target=/workspace,bind-propagation=rprivate"
                  % case.workspace), ("--entrypoint", "/worker")):
        equal("how often %s %s stands in the argv" % pair, 1, pairs.count(pair))
    for flag in ("--read-only", "--no-healthcheck", "--interactive", "--init=false"):
        equal("how often %s stands in the argv" % flag, 1, argv.count(flag))
    equal("how many mounts", 2, argv.count("--mount"))
    equal("the last word", IMAGE_ID, argv[-1])
    for flag in ("--privileged", "--rm", "--volume", "-v", "--cap-add", "--device", "--tty"):
        holds("no %s in the argv" % flag, flag not in argv, argv)


@test
def argv_command_prints_what_is_run(case):
    case.use_fake()
    case.expect(case.run(), 0, out=HELLO)
    ran = ["docker"] + case.calls("create")[0]["argv"]
    nonce = [word[18:] for word in ran if word.startswith("dev.cofferdam.run=")][0]
    image = case.write("image.json", json.dumps(case.orders["image"]))
    result = case.policy("argv", "-c", case.dir + "/config.json", "--image", image,
                         "--nonce", nonce)
    equal("exit status of cofferdam-policy argv; stderr was %r" % result.err, 0, result.status)
    # Only the executor knows the state directory that it was given.
    shown = [word for word in json.loads(result.out) if not word.startswith("dev.cofferdam.state=")]
    equal("the argv shown", [word for word in ran if not word.startswith("dev.cofferdam.state=")],
          shown)


@test
def every_docker_child_is_sealed(case):
    case.use_fake()
    case.env = {"DOCKER_CONTEXT": "evil", "DOCKER_CONFIG": "/evil", "LD_PRELOAD": "/evil.so",
                "HTTP_PROXY": "http://evil", "HOME": "/evil", "PATH": "/evil"}
    case.expect(case.run(), 0, out=HELLO)
    for call in case.calls():
        what = "docker %s: " % call["kind"]
        pairs = dict(item.split("=", 1) for item in call["environ"])
        equal(what + "names in its environment", ["DOCKER_CONFIG", "HOME", "LC_ALL", "PATH"],
              sorted(pairs))
        equal(what + "LC_ALL", "C", pairs["LC_ALL"])
        holds(what + "PATH has fixed directories",
              all(part in ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin",
                           "/bin") for part in pairs["PATH"].split(":")), pairs["PATH"])
        for name in ("DOCKER_CONFIG", "HOME"):
            holds(what + name + " is an empty directory inside the state directory",
                  pairs[name].startswith(case.state) and os.listdir(pairs[name]) == [],
                  pairs[name])
        equal(what + "descriptors", ["0", "1", "2"], sorted(call["fds"]))
        for number, target in call["fds"].items():
            holds(what + "descriptor " + number + " is a pipe, a memfd or /dev/null",
                  re.match(r"pipe:|/memfd:|/dev/null$", target), target)
        equal(what + "leads its own process group", call["pid"], call["pgid"])
        equal(what + "blocked signals", 0, int(call["blocked"], 16))
        # Python itself ignores SIGPIPE and SIGXFSZ.
        equal(what + "ignored signals", 0, int(call["ignored"], 16) & ~NOT_OURS)
        equal(what + "NoNewPrivs", "1", call["nnp"])


# --- what the worker does ----------------------------------------------------

def many(count):
    return [['{"ok":true,"text":"', 1], ["x", count], ['"}', 1]]


@table([
    ("exit 3", {"exit": 3}, 1, "SANDBOX_WORKER worker.exit"),
    ("exit 125, as docker itself would", {"exit": 125}, 1, "SANDBOX_WORKER worker.exit"),
    ("exit 3 after a good reply", {"exit": 3, "stdout": '{"ok":true,"text":"x"}'}, 1,
     "SANDBOX_WORKER worker.exit"),
    ("killed for memory", {"exit": 137, "oom": True}, 1, "SANDBOX_WORKER worker.exit"),
    ("garbage", {"stdout": "this is not JSON"}, 76, "SANDBOX_REPLY json.syntax"),
    ("nothing", {"stdout": ""}, 76, "SANDBOX_REPLY json.empty"),
    ("3 MiB", {"stdout": ["x", 3 << 20]}, 76, "SANDBOX_REPLY json.too_large"),
    ("ok is a string", {"stdout": '{"ok":"yes","text":"x"}'}, 76, "SANDBOX_REPLY shape.type"),
    ("text is a number", {"stdout": '{"ok":true,"text":7}'}, 76, "SANDBOX_REPLY shape.type"),
    ("text is missing", {"stdout": '{"ok":true}'}, 76, "SANDBOX_REPLY shape.missing"),
    ("an array", {"stdout": '[]'}, 76, "SANDBOX_REPLY shape.type"),
    ("two documents", {"stdout": '{"ok":true,"text":"a"}{"ok":true,"text":"b"}'}, 76,
     "SANDBOX_REPLY json.trailing"),
    ("duplicate key", {"stdout": '{"ok":false,"ok":true,"text":"a"}'}, 76,
     "SANDBOX_REPLY json.duplicate_key"),
    ("a NUL and more", {"stdout": '{"ok":true,"text":"a"}\0{}'}, 76, None),
    ("stderr flood", {"stderr": ["e", 200000]}, 1, "SANDBOX_WORKER worker.stderr"),
    ("never started", {"start_fails": "exec: no such file"}, 69,
     "SANDBOX_UNAVAILABLE worker.never_ran"),
])
def worker_fails(case, name, worker, status, reason):
    case.use_fake(worker=worker)
    case.expect(case.run(), status, reason)
    case.nothing_left()


@table([("nothing", ""), ("half of it", '{"ok":true,"te'), ("all of it", '{"ok":true,"text":"a"}')])
def client_is_killed_at_the_end(case, name, stdout):
    """What has come of a reply proves nothing then, and is not the worker's to mend."""
    case.use_fake([{"on": "start", "die": signal.SIGKILL}], {"stdout": stdout})
    case.expect(case.run(), 69, "SANDBOX_UNAVAILABLE docker.failed")
    case.nothing_left()


@table([
    ("extra keys stay inside", '{"ok":true,"secret":1,"text":"a"}', b'{"ok":true,"text":"a"}\n'),
    ("false", '{"text":"no","ok":false}', b'{"ok":false,"text":"no"}\n'),
    ("blanks", ' \n{ "ok" : true , "text" : "a" }\n\n', b'{"ok":true,"text":"a"}\n'),
    ("invalid UTF-8", '{"ok":true,"text":"a\xffb"}',
     '{"ok":true,"text":"a\ufffdb"}\n'.encode()),
    ("byte order mark", '\xef\xbb\xbf{"ok":true,"text":"a"}', b'{"ok":true,"text":"a"}\n'),
    ("escapes", '{"ok":true,"text":"\\u001b[31m\\ud800"}',
     b'{"ok":true,"text":"\\u001b[31m\\ud800"}\n'),
])
def reply(case, name, stdout, expected):
    case.use_fake(worker={"stdout": stdout})
    case.expect(case.run(), 0, out=expected)
    case.nothing_left()


@test
def the_longest_reply_passes(case):
    case.use_fake(worker={"stdout": '{"ok":true,"text":"%s"}' % ("x" * 100000)})
    case.expect(case.run(), 0, out=PASS + b"x" * 100000 + b'"}\n')
    case.nothing_left()


@test
def one_code_unit_more_is_refused(case):
    case.use_fake(worker={"stdout": '{"ok":true,"text":"%s"}' % ("x" * 100001)})
    case.expect(case.run(), 76, "SANDBOX_REPLY shape.length")
    case.nothing_left()


# --- documents ---------------------------------------------------------------

@table([
    ("not JSON", b"{", "SANDBOX_TURN json.truncated", b""),
    ("empty", b"", "SANDBOX_TURN json.empty", b""),
    ("missing keys", b'{"text":"t"}', "SANDBOX_TURN shape.missing", b"/speaker"),
    ("wrong type", json.dumps({
        "text": "t", "speaker": {"id": 1, "name": "n"}, "model": "m", "prompt": "p",
        "timeZone": "z", "tools": [], "mcp": []}).encode(),
     "SANDBOX_TURN shape.type", b"/speaker/id"),
    ("bad tool name", json.dumps({
        "text": "t", "speaker": {"id": "1", "name": "n"}, "model": "m", "prompt": "p",
        "timeZone": "z", "tools": [{"name": "Bad", "description": "", "parameters": {}}],
        "mcp": []}).encode(), "SANDBOX_TURN shape.name", b"/tools/0/name"),
    ("duplicate key", b'{"text":"a","text":"b"}', "SANDBOX_TURN json.duplicate_key", b""),
    ("NUL and more", b'{}\0{}', "SANDBOX_TURN", b""),
    ("escape sequences in a key", b'{"\x1b[31m":1}', "SANDBOX_TURN", b""),
])
def bad_turn(case, name, turn, reason, pointer):
    case.use_fake()
    case.turn = turn
    result = case.run()
    case.expect(result, 65)
    first = " ".join(result.reasons()[0])
    holds("the first reason is %s" % reason, first.startswith(reason), result.err)
    holds("stderr has the JSON pointer %r" % pointer, pointer in result.err, result.err)
    equal("docker was called", [], case.kinds())
    case.nothing_left()


@table([
    ("not JSON", "{", 78, "SANDBOX_CONFIG json.truncated"),
    ("empty", "", 78, "SANDBOX_CONFIG json.empty"),
    ("version 2", '{"version":2}', 78, None),
    ("unknown key", None, 78, "SANDBOX_CONFIG shape.unknown_key"),
])
def bad_config(case, name, text, status, reason):
    case.use_fake()
    case.config["imagee"] = "x"
    case.expect(case.run(config=text), status, reason)
    equal("docker was called", [], case.kinds())
    case.nothing_left()


@test
def config_that_others_may_write(case):
    case.use_fake()
    argv = case.argv("run", [], case.config)
    os.chmod(case.dir + "/config.json", 0o666)
    case.expect(case.end(case.spawn(argv), case.turn_bytes()), 78, "SANDBOX_CONFIG config.unsafe")
    equal("docker was called", [], case.kinds())


@table([
    ("missing", "unlink", 66, "SANDBOX_CONFIG config.open"),
    ("fifo", "mkfifo", 78, "SANDBOX_CONFIG config.unsafe"),
    ("directory", "mkdir", 78, "SANDBOX_CONFIG config.unsafe"),
])
def config_that_is_no_file(case, name, how, status, reason):
    case.use_fake()
    argv = case.argv("run", [], case.config)
    os.unlink(case.dir + "/config.json")
    if how != "unlink":
        getattr(os, how)(case.dir + "/config.json")
    case.expect(case.end(case.spawn(argv), case.turn_bytes()), status, reason)
    equal("docker was called", [], case.kinds())


# --- mounts ------------------------------------------------------------------

def mounts(case, broker, workspace):
    case.config["mounts"][0]["host"] = broker
    case.config["mounts"][1]["host"] = workspace


@table([
    ("equal", lambda c: mounts(c, c.workspace, c.workspace),
     "SANDBOX_MOUNT_OVERLAP mount.overlap"),
    ("workspace inside broker", lambda c: mounts(c, c.broker, c.own_dir("home/broker/in")),
     "SANDBOX_MOUNT_OVERLAP mount.overlap"),
    ("broker inside workspace", lambda c: mounts(c, c.own_dir("home/workspace/in"), c.workspace),
     "SANDBOX_MOUNT_OVERLAP mount.overlap"),
    ("relative", lambda c: mounts(c, "broker", c.workspace), "SANDBOX_POLICY mount.relative"),
    ("missing", lambda c: mounts(c, c.broker + "-none", c.workspace),
     "SANDBOX_POLICY mount.missing"),
    ("a file", lambda c: mounts(c, c.write("file", ""), c.workspace),
     "SANDBOX_POLICY mount.type"),
    ("root", lambda c: mounts(c, "/", c.workspace), "SANDBOX_POLICY mount.root"),
    ("a comma", lambda c: mounts(c, c.own_dir("home/a,readonly=false"), c.workspace),
     "SANDBOX_POLICY mount.character"),
    ("a newline", lambda c: mounts(c, c.own_dir("home/a\n"), c.workspace),
     "SANDBOX_POLICY mount.character"),
    ("/etc", lambda c: mounts(c, "/etc", c.workspace), "SANDBOX_POLICY mount.system"),
    ("around the socket", lambda c: mounts(c, c.dir, c.workspace), None),
    ("around the state directory",
     lambda c: mounts(c, c.broker, c.home), None),
    ("a writable ancestor", lambda c: mounts(c, writable_ancestor(c), c.workspace),
     "SANDBOX_POLICY mount.ancestor"),
])
def bad_mounts(case, name, change, reason):
    case.use_fake()
    change(case)
    case.expect(case.run(), 77, reason)
    equal("docker was asked to create", [], case.calls("create"))
    case.nothing_left()


def writable_ancestor(case):
    case.own_dir("home/open", 0o777)
    return case.own_dir("home/open/broker")


@test
def a_link_is_resolved_once(case):
    case.use_fake()
    os.symlink(case.broker, case.dir + "/link")
    mounts(case, case.dir + "/link", case.workspace)
    case.expect(case.run(), 0, out=HELLO)
    word = "type=bind,readonly,source=%s,target=/broker,bind-propagation=rprivate" % case.broker
    holds("the canonical path is in the argv", word in case.calls("create")[0]["argv"],
          case.calls("create")[0]["argv"])


@test
def two_paths_to_one_directory(case):
    case.use_fake()
    os.symlink(case.workspace, case.dir + "/link")
    mounts(case, case.dir + "/link", case.workspace)
    case.expect(case.run(), 77, "SANDBOX_MOUNT_OVERLAP mount.overlap")
    equal("docker was asked to create", [], case.calls("create"))


@test
def a_bind_alias(case):
    """The same directory at two places of the tree: only the mount table shows it."""
    case.use_fake()
    alias = case.own_dir("alias")
    subprocess.run(["mount", "--bind", case.workspace, alias], check=True)
    try:
        mounts(case, alias, case.workspace)
        case.expect(case.run(), 77)
        equal("docker was asked to create", [], case.calls("create"))
    finally:
        subprocess.run(["umount", alias], check=True)


@test
def a_bind_alias_of_a_part(case):
    case.use_fake()
    case.own_dir("home/workspace/deep")
    alias = case.own_dir("alias")
    subprocess.run(["mount", "--bind", case.workspace + "/deep", alias], check=True)
    try:
        mounts(case, alias, case.workspace)
        case.expect(case.run(), 77, "SANDBOX_MOUNT_OVERLAP mount.alias")
        equal("docker was asked to create", [], case.calls("create"))
    finally:
        subprocess.run(["umount", alias], check=True)


@test
def a_file_system_inside_a_source(case):
    case.use_fake()
    inside = case.own_dir("home/workspace/in")
    subprocess.run(["mount", "-t", "tmpfs", "none", inside], check=True)
    try:
        case.expect(case.run(), 77, "SANDBOX_POLICY mount.submount")
        equal("docker was asked to create", [], case.calls("create"))
    finally:
        subprocess.run(["umount", inside], check=True)


@table([
    ("during image inspect", {"on": "image"}, None),
    ("during create", {"on": "create"}, None),
    ("during create, by a link", {"on": "create"}, "link"),
    ("during verify", {"on": "verify"}, "link"),
])
def source_is_swapped(case, name, rule, how):
    other = case.own_dir("home/other")
    rule = dict(rule, swap=[case.workspace, other if how else None])
    case.use_fake([rule])
    result = case.run()
    case.expect(result, 77, "SANDBOX_MOUNT_IDENTITY mount.changed")
    equal("the worker ran", False, case.worker_ran())
    case.nothing_left()


@test
def source_is_swapped_while_the_worker_runs(case):
    case.use_fake([{"on": "start", "swap": [case.workspace, None]}])
    case.expect(case.run(), 77, "SANDBOX_MOUNT_IDENTITY mount.changed")
    case.nothing_left()


# --- the endpoint ------------------------------------------------------------

@table([
    ("tcp", "tcp://127.0.0.1:2375", "SANDBOX_ENDPOINT endpoint.scheme"),
    ("ssh", "ssh://user@host", "SANDBOX_ENDPOINT endpoint.scheme"),
    ("relative", "unix://run/docker.sock", "SANDBOX_ENDPOINT"),
    ("bare path", "/var/run/docker.sock", "SANDBOX_ENDPOINT endpoint.scheme"),
    ("fd", "fd://", "SANDBOX_ENDPOINT endpoint.scheme"),
    ("npipe", "npipe:////./pipe/docker_engine", "SANDBOX_ENDPOINT endpoint.scheme"),
    ("http", "http+unix:///run/docker.sock", "SANDBOX_ENDPOINT endpoint.scheme"),
    ("upper case", "UNIX:///run/docker.sock", "SANDBOX_ENDPOINT endpoint.scheme"),
    ("escape sequence", "tcp://\x1b[31m", "SANDBOX_ENDPOINT endpoint.scheme"),
])
def bad_endpoint(case, name, url, reason):
    case.use_fake()
    del case.config["docker"]
    case.env = {"DOCKER_HOST": url}
    result = case.run()
    case.expect(result, 77)
    first = " ".join((result.reasons() or [("", "")])[0])
    holds("the first reason is " + reason, first.startswith(reason), result.err)
    equal("docker was called", [], case.kinds())
    case.nothing_left()


@table([
    ("no socket there", lambda c: os.unlink(c.socket), 69, "SANDBOX_UNAVAILABLE endpoint.socket"),
    ("everybody may write", lambda c: os.chmod(c.socket, 0o666), 77,
     "SANDBOX_ENDPOINT endpoint.owner"),
    ("somebody else's", lambda c: os.chown(c.socket, 1, c.uid), 77,
     "SANDBOX_ENDPOINT endpoint.owner"),
])
def bad_socket(case, name, change, status, reason):
    case.use_fake()
    change(case)
    case.expect(case.run(), status, reason)
    equal("docker was called", [], case.kinds())


@test
def docker_host_settles_the_endpoint(case):
    case.use_fake()
    case.env = {"DOCKER_HOST": case.config.pop("docker")["host"]}
    case.expect(case.run(), 0, out=HELLO)
    holds("docker was not asked for its context", "context" not in case.kinds(), case.kinds())


@table([("unset", {}), ("empty", {"DOCKER_HOST": ""})])
def the_context_is_asked_for(case, name, env):
    url = case.config.pop("docker")["host"]
    case.use_fake(context=url)
    case.env = env
    case.expect(case.run(), 0, out=HELLO)
    equal("the first docker command", "context", case.kinds()[0])
    equal("the host of the create", url, case.calls("create")[0]["argv"][1])
    case.nothing_left()


@test
def a_context_elsewhere_is_refused(case):
    del case.config["docker"]
    case.use_fake(context="tcp://127.0.0.1:2375")
    case.expect(case.run(), 77, "SANDBOX_ENDPOINT endpoint.scheme")
    equal("docker commands", ["context"], case.kinds())


# --- signals -----------------------------------------------------------------

def wait_for(condition):
    end = time.monotonic() + 120
    while not condition():
        if time.monotonic() > end:
            raise Failure("it never came to the state that the test waits for")
        time.sleep(0.01)


@table([(("SIGKILL %s %s" % (when, kind)), kind, when)
        for kind in ("create", "admit", "verify", "start", "result", "rm")
        for when in ("before", "after")])
def killed(case, name, kind, when):
    """The executor's guardian removes what a killed executor leaves."""
    case.use_fake([{"on": kind, "nth": 1, "signal_parent": [signal.SIGKILL, when]}])
    result = case.run()
    equal("exit status", -signal.SIGKILL, result.status)
    equal("standard output", b"", result.out)
    case.nothing_left()


@test
def killed_while_the_worker_runs(case):
    case.use_fake(worker={"hang": True})
    process = case.begin()
    process.stdin.write(case.turn_bytes())
    process.stdin.close()
    process.stdin = None
    wait_for(lambda: os.path.exists(case.fake + "/stdin"))
    process.kill()
    case.end(process, None)
    case.nothing_left()


# --- docker misbehaves -------------------------------------------------------

@table([
    ("image: absent", [], {"image": None}, 69, "SANDBOX_UNAVAILABLE image.absent"),
    ("create: short id", [{"on": "create", "out": "a" * 63 + "\n"}], {}, 69,
     "SANDBOX_UNAVAILABLE docker.create"),
    ("create: upper-case id", [{"on": "create", "out": "A" * 64 + "\n"}], {}, 69,
     "SANDBOX_UNAVAILABLE docker.create"),
    ("create: no newline", [{"on": "create", "out": "a" * 64}], {}, 69,
     "SANDBOX_UNAVAILABLE docker.create"),
    ("create: hostile text", [{"on": "create", "effect": False, "exit": 1,
                               "say": "\x1b]0;owned\x07\x1b[31mred\x9b\n\r"}], {}, 69,
     "SANDBOX_UNAVAILABLE docker.create"),
    ("verify: network", [{"on": "verify", "lie": {"HostConfig.NetworkMode": "bridge"}}], {}, 77,
     "SANDBOX_POLICY verify.differs"),
    ("verify: privileged", [{"on": "verify", "lie": {"HostConfig.Privileged": True}}], {}, 77,
     "SANDBOX_POLICY verify.differs"),
    ("verify: memory", [{"on": "verify", "lie": {"HostConfig.MemorySwap": -1}}], {}, 77,
     "SANDBOX_POLICY verify.differs"),
    ("verify: capability", [{"on": "verify", "lie": {"HostConfig.CapAdd": ["NET_ADMIN"]}}], {},
     77, "SANDBOX_POLICY verify.differs"),
    ("verify: writable root", [{"on": "verify", "lie": {"HostConfig.ReadonlyRootfs": False}}], {},
     77, "SANDBOX_POLICY verify.differs"),
    ("verify: root user", [{"on": "verify", "lie": {"Config.User": ""}}], {}, 77,
     "SANDBOX_POLICY verify.differs"),
    ("verify: proxy in the environment",
     [{"on": "verify", "lie": {"Config.Env": ["HOME=/tmp/home", "PATH=/bin", "IMAGE=1",
                                              "HTTP_PROXY=http://u:p@h"]}}], {}, 77,
     "SANDBOX_POLICY verify.differs"),
    ("verify: mount is writable", [{"on": "verify", "lie": {"Mounts.0.RW": True}}], {}, 77,
     "SANDBOX_POLICY verify.differs"),
    ("verify: a device", [{"on": "verify", "lie": {"HostConfig.Devices": [{"P": "/dev/sda"}]}}],
     {}, 77, "SANDBOX_POLICY verify.differs"),
    ("verify: a new member", [{"on": "verify", "lie": {"HostConfig.Novelty": "on"}}], {}, 77,
     "SANDBOX_POLICY verify.differs"),
])
def docker_misbehaves(case, name, rules, image, status, reason):
    """What docker says; that it says nothing, or too much, is in test_faults.py."""
    case.use_fake(rules, **image)
    case.expect(case.run(), status, reason)
    equal("the worker ran", False, case.worker_ran())
    case.nothing_left()


# --- removal -----------------------------------------------------------------

@table([
    ("of a good run", {}, "SANDBOX_ABORTED signal"),
    ("of a failed run", {"exit": 3}, "SANDBOX_WORKER worker.exit"),
])
def signalled_while_the_container_is_removed(case, name, worker, first):
    case.use_fake([{"on": "rm", "nth": 1, "signal_parent": [signal.SIGTERM, "before"]}],
                  worker=worker)
    result = case.run()
    case.expect(result, 143, first)
    equal("its last reason", ("SANDBOX_ABORTED", "signal"), result.reasons()[-1])
    case.nothing_left()


@test
def an_orphan_is_removed_by_the_next_launch(case):
    """A container whose claim nobody holds: rm failed, then the engine recovered."""
    case.use_fake([{"on": "rm", "effect": False}])
    case.limit(removeSeconds=2)
    case.expect(case.run(), 80)
    equal("containers left by the first run", 1, len(case.containers()))
    case.orders["rules"] = []
    case.tell_docker()
    case.limit(removeSeconds=120)
    case.expect(case.run(), 0, out=HELLO)
    case.nothing_left()


# --- who may run it, and with what -------------------------------------------

@test
def root_is_refused(case):
    case.use_fake()
    argv = case.argv("run", [], case.config)
    done = subprocess.run(argv, input=case.turn_bytes(), capture_output=True, cwd="/", check=False)
    equal("exit status; stderr was %r" % done.stderr, 77, done.returncode)
    holds("the reason", b"SANDBOX_POLICY executor.root" in done.stderr, done.stderr)
    equal("docker was called", [], case.kinds())


@table([
    ("docker is the user's own", lambda c: os.chown(c.docker, c.uid, c.uid), 77,
     "SANDBOX_POLICY docker.unsafe"),
    ("docker may be written by others", lambda c: os.chmod(c.docker, 0o777), 77,
     "SANDBOX_POLICY docker.unsafe"),
    ("docker's directory is the user's", lambda c: os.chown(c.dir + "/bin", c.uid, c.uid), 77,
     "SANDBOX_POLICY docker.unsafe"),
    ("docker is missing", lambda c: os.unlink(c.docker), 69, "SANDBOX_UNAVAILABLE docker.missing"),
])
def docker_program(case, name, change, status, reason):
    case.use_fake()
    change(case)
    case.expect(case.run(), status, reason)
    equal("docker was called", [], case.kinds())


def copied(case):
    """The directory is a copy of one that was used."""
    case.expect(case.run(), 0, out=HELLO)
    shutil.copytree(case.state, case.state + ".copy")
    os.rename(case.state, case.state + ".real")
    os.rename(case.state + ".copy", case.state)
    for base, names, files in os.walk(case.state):
        for name in [base] + [base + "/" + name for name in names + files]:
            os.chown(name, case.uid, case.uid)
    os.unlink(case.fake + "/log")


def owned(case, name, make):
    make(case.state + "/" + name)
    os.chown(case.state + "/" + name, case.uid, case.uid)


def with_docker_config(case):
    owned(case, "docker", lambda path: os.mkdir(path, 0o700))
    owned(case, "docker/config.json", lambda path: open(path, "w").close())


ALONE = b"not a directory of yours alone"


@table([
    ("others may enter it", lambda c: os.chmod(c.state, 0o755), ALONE),
    ("it is somebody else's", lambda c: os.chown(c.state, 0, 0), ALONE),
    ("it is a link", lambda c: (os.rename(c.state, c.state + ".real"),
                                os.symlink(c.state + ".real", c.state)), ALONE),
    ("others could replace it", lambda c: os.chmod(c.home, 0o777), b"others could replace it"),
    ("it is a copy", copied, b"a copy of another directory's"),
    ("its id is damaged", lambda c: owned(c, "id", lambda path: open(path, "w").close()),
     b"damaged"),
    ("claims is a file", lambda c: owned(c, "claims", lambda path: open(path, "w").close()),
     b"claims in it"),
    ("docker's configuration", with_docker_config, b"docker in it is not an empty directory"),
])
def state_directory(case, name, change, says):
    case.use_fake()
    change(case)
    result = case.run()
    case.expect(result, 77, "SANDBOX_POLICY state.unsafe")
    holds("it says why: %r" % says, says in result.err, result.err)
    equal("docker was called", [], case.kinds())


@test
def no_policy_beside_the_executor(case):
    case.use_fake()
    os.mkdir(case.dir + "/alone", 0o755)
    alone = case.dir + "/alone/cofferdam"
    subprocess.run(["cp", case.tree.bin + "/cofferdam", alone], check=True)
    argv = case.argv("run", [], case.config)
    result = case.end(case.spawn([alone, *argv[1:]]), case.turn_bytes())
    case.expect(result, 77, "SANDBOX_POLICY policy.unsafe")


@table([
    ("nothing", []), ("no such command", ["frobnicate"]), ("no such option", ["run", "--frob"]),
    ("an operand", ["run", "x"]), ("an option without its value", ["run", "-c"]),
])
def usage(case, name, words):
    result = case.end(case.spawn([case.tree.bin + "/cofferdam", *words]), b"")
    case.expect(result, 64, None)


# --- two at a time -----------------------------------------------------------

def second(case, name="second"):
    """Another launcher of the same user and engine, with its own config and state directory."""
    other = Case.__new__(Case)
    other.__dict__.update(case.__dict__)
    other.config = json.loads(json.dumps(case.config))
    other.dir = case.own_dir(name)
    other.state = case.own_dir(name + "/state", 0o700)
    return other


def with_one_running(case, change, status, reason, same_state=False):
    case.use_fake(worker={"hang": True})
    process = case.begin()
    process.stdin.write(case.turn_bytes())
    process.stdin.close()
    process.stdin = None
    wait_for(lambda: os.path.exists(case.fake + "/stdin"))
    other = second(case)
    if same_state:
        other.state = case.state
    other.orders = dict(case.orders, worker={})
    case.tell_docker(other.orders)
    change(other)
    result = other.run()
    process.send_signal(signal.SIGTERM)
    case.expect(case.end(process, None), 143, None)
    case.expect(result, status, reason, out=HELLO if status == 0 else b"")
    case.nothing_left()
    equal("claims of the second", 0, len(other.claims()))


@table([
    ("same workspace", lambda c: None, 75, "SANDBOX_BUSY mount.in_use", False),
    ("same workspace, same state directory", lambda c: None, 75, "SANDBOX_BUSY mount.in_use",
     True),
    ("other workspace, same broker",
     lambda c: mounts(c, c.broker, c.own_dir("workspace")), 0, None, False),
    ("workspace inside the other's",
     lambda c: mounts(c, c.broker, inside(c)), 77, "SANDBOX_MOUNT_OVERLAP managed.overlap",
     False),
    ("broker of one is the workspace of the other",
     lambda c: mounts(c, c.workspace, c.own_dir("workspace")), 75, "SANDBOX_BUSY mount.in_use",
     False),
    ("one live container allowed",
     lambda c: (mounts(c, c.broker, c.own_dir("workspace")), c.limit(live=1)), 75,
     "SANDBOX_BUSY live.limit", True),
    ("two live containers allowed",
     lambda c: (mounts(c, c.broker, c.own_dir("workspace")), c.limit(live=2)), 0, None, True),
])
def two_launches(case, name, change, status, reason, same_state):
    with_one_running(case, change, status, reason, same_state)


def inside(case):
    path = case.workspace + "/in"
    os.mkdir(path)
    os.chown(path, case.uid, case.uid)
    return path


@test
def the_lock_is_waited_for_and_never_stolen(case):
    case.use_fake()
    case.expect(case.run(), 0, out=HELLO)
    locks = [path for path in case.state_files() if os.path.basename(path).startswith("lock")]
    equal("lock files in the state directory", 1, len(locks))
    os.utime(locks[0], (1, 1))
    with open(locks[0]) as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        case.limit(lockSeconds=1)
        case.expect(case.run(), 75, "SANDBOX_BUSY lock.held")
    equal("creates", 1, len(case.calls("create")))
    case.nothing_left()


# --- ps, stop, reap ----------------------------------------------------------

def start_hanging(case):
    """A launch whose worker runs on."""
    process = case.begin()
    process.stdin.write(case.turn_bytes())
    process.stdin.close()
    process.stdin = None
    wait_for(lambda: os.path.exists(case.fake + "/stdin"))
    return process


def orphans(case, *claims):
    """Runs whose executor and guardian were killed, with a claim or without: [(id, run), ...]."""
    if case.fake is None:
        case.use_fake()
    workspace, found, kept = case.workspace, [], {}
    for number, claim in enumerate(claims):
        mounts(case, case.broker, case.own_dir("home/workspace%d" % number))
        orders(case, worker={"hang": True})
        process = start_hanging(case)
        case.kill_all()
        case.end(process, None)
        case.settle()
        os.unlink(case.fake + "/stdin")
        (ident,) = set(case.containers()) - {one for one, _ in found}
        found.append((ident, label(case, ident, "run")))
        # Without its claim the next launch does not look for it.
        path = case.state + "/claims/" + found[-1][1]
        os.rename(path, case.dir + "/" + found[-1][1])
        if claim:
            kept[case.dir + "/" + found[-1][1]] = path
    for path, name in kept.items():
        os.rename(path, name)
    orders(case)
    mounts(case, case.broker, workspace)
    return sorted(found, key=lambda one: order_of(case).index(one[0]))


def order_of(case):
    return list(case.engine())


def orphan(case, claim=True):
    return orphans(case, claim)[0]


def label(case, ident, name):
    return case.engine()[ident]["Config"]["Labels"]["dev.cofferdam." + name]


def change(case, ident, **labels):
    """Rewrites a container's labels, as nobody could."""
    containers = case.engine()
    for name, value in labels.items():
        containers[ident]["Config"]["Labels"]["dev.cofferdam." + name] = value
    case.set_engine(containers)


def line_of(ident, run):
    return ("%s %s\n" % (ident, run)).encode()


@table([("with its claim", True), ("without a claim", False)])
def reap_orphan(case, name, claim):
    ident, run = orphan(case, claim)
    case.expect(case.manage("reap"), 0, out=line_of(ident, run))
    case.nothing_left()
    case.expect(case.manage("reap"), 0, out=b"")
    equal("containers removed", [["container", "rm", "--force", "--volumes", ident]],
          [call["argv"][2:] for call in case.calls("rm")])


@test
def reap_many(case):
    lines = b"".join(line_of(*one) for one in orphans(case, True, False, True))
    case.expect(case.manage("reap"), 0, out=lines)
    case.nothing_left()


@test
def reap_nothing(case):
    case.use_fake()
    case.expect(case.manage("reap"), 0, out=b"")
    equal("docker commands", ["ours"], case.kinds())


@test
def reap_spares_a_live_run(case):
    ident, run = orphan(case, claim=False)
    orders(case, worker={"hang": True})
    process = start_hanging(case)
    orders(case)
    case.expect(case.manage("reap"), 0, out=line_of(ident, run))
    equal("containers left", 1, len(case.containers()))
    equal("claims left", 1, len(case.claims()))
    process.send_signal(signal.SIGTERM)
    case.expect(case.end(process, None), 143, None)
    case.nothing_left()


@test
def reap_spares_another_state_directory(case):
    ident, run = orphan(case)
    other = second(case)
    case.expect(other.manage("reap"), 0, out=b"")
    equal("containers left", [ident], case.containers())
    equal("docker was asked to remove", [], case.calls("rm"))
    case.expect(case.manage("reap"), 0, out=line_of(ident, run))
    case.nothing_left()


@table([("young", -60, True), ("old", 600, False)])
def reap_claim_without_container(case, name, age, stays):
    """"creating", and no more: the engine may still be busy with it, for a while."""
    case.use_fake()
    case.expect(case.manage("reap"), 0, out=b"")
    path = case.state + "/claims/" + "ab" * 16
    with open(path, "w") as file:
        which = subprocess.run(["stat", "--printf=%i:%.9W", path], capture_output=True, check=True)
        file.write("creating 1 %s unix://%s\n" % (which.stdout.decode(), case.socket))
    os.chown(path, case.uid, case.uid)
    os.utime(path, (time.time() - age,) * 2)
    case.expect(case.manage("reap"), 0, out=b"")
    equal("the claim stays", stays, os.path.exists(path))


@table([
    ("rm does nothing", {"on": "rm", "effect": False}, 80, "REVOKE_INCOMPLETE remove.unconfirmed"),
    ("find fails", {"on": "find", "exit": 1}, 80, None),
    ("the list fails", {"on": "ours", "exit": 1}, 69, "SANDBOX_UNAVAILABLE docker.failed"),
    ("the list is garbage", {"on": "ours", "out": "x" * 98}, 69,
     "SANDBOX_UNAVAILABLE docker.failed"),
    ("the list is cut short", {"on": "ours", "out": "a" * 64 + " " + "b" * 32}, 69,
     "SANDBOX_UNAVAILABLE docker.failed"),
    ("the list is a flood", {"on": "ours", "flood": 3000000}, 69,
     "SANDBOX_UNAVAILABLE docker.failed"),
    ("no run in the list", {"on": "ours", "out": "a" * 64 + " \n"}, 69,
     "SANDBOX_UNAVAILABLE docker.failed"),
    ("docker dies", {"on": "ours", "die": 9, "effect": False}, 69,
     "SANDBOX_UNAVAILABLE docker.failed"),
])
def reap_fails(case, name, rule, status, reason):
    ident, run = orphan(case)
    orders(case, [rule])
    result = case.manage("reap")
    case.expect(result, status, reason)
    if status == 80:
        holds("the residual is named", ("container %s of run %s" % (ident, run)).encode()
              in result.err, result.err)
    else:
        equal("docker was asked to remove", [], case.calls("rm"))
    equal("claims left", 1, len(case.claims()))
    orders(case)
    case.manage("reap")
    case.nothing_left()


def has_another_name(path):
    os.link(path, path + ".link")


def is_a_copy(path):
    shutil.copy2(path, path + ".copy")
    shutil.chown(path + ".copy", os.stat(path).st_uid, os.stat(path).st_gid)
    os.rename(path + ".copy", path)


def is_a_fifo(path):
    os.unlink(path)
    os.mkfifo(path, 0o600)


def is_a_directory(path):
    os.unlink(path)
    os.mkdir(path, 0o700)


def is_a_link(path):
    os.unlink(path)
    os.symlink("/dev/null", path)


@table([(spoil.__name__, spoil)
        for spoil in (has_another_name, is_a_copy, is_a_fifo, is_a_directory, is_a_link)])
def reap_names_one_whose_claim_is_spoilt(case, name, spoil):
    ident, run = orphan(case)
    path = case.state + "/claims/" + run
    spoil(path)
    os.utime(path, (0, 0), follow_symlinks=False)
    result = case.manage("reap")
    case.expect(result, 80, "REVOKE_INCOMPLETE remove.unconfirmed")
    holds("the way out is told", b"cofferdam stop " + run.encode() in result.err, result.err)
    equal("docker was asked to remove", [], case.calls("rm"))
    case.expect(case.manage("stop", run), 0, out=line_of(ident, run))
    equal("containers", [], case.containers())


@test
def reap_names_each_that_stays(case):
    stuck = orphans(case, True, False)
    orders(case, [{"on": "rm", "effect": False}])
    result = case.manage("reap")
    case.expect(result, 80, "REVOKE_INCOMPLETE remove.unconfirmed")
    equal("reasons", 2, len(result.reasons()))
    for ident, _ in stuck:
        holds("stderr names " + ident, ident.encode() in result.err, result.err)
    orders(case)
    # The claim that reap made says that the container exists: no quiet period.
    case.expect(case.manage("reap"), 0, out=b"".join(line_of(*one) for one in stuck))
    case.nothing_left()


@test
def reap_is_signalled(case):
    ident, run = orphan(case)
    orders(case, [{"on": "rm", "effect": False, "signal_parent": [signal.SIGTERM, "before"]}])
    case.expect(case.manage("reap"), 143, "SANDBOX_ABORTED signal")
    equal("rm commands", 1, len(case.calls("rm")))
    orders(case)
    case.expect(case.manage("reap"), 0, out=line_of(ident, run))
    case.nothing_left()


@test
def two_reapers(case):
    """The second leaves alone what the first holds."""
    ident, run = orphan(case, claim=False)
    orders(case, [{"on": "rm", "nth": 1, "hang": "before"}])
    first = case.spawn([case.tree.bin + "/cofferdam", "reap", "--host",
                        case.config["docker"]["host"], "--state-dir", case.state, "--docker",
                        case.docker])
    wait_for(lambda: case.calls("rm"))
    case.expect(case.manage("reap"), 0, out=b"")
    equal("containers left", [ident], case.containers())
    first.send_signal(signal.SIGTERM)
    case.expect(case.end(first), 143, "SANDBOX_ABORTED signal")
    case.expect(case.manage("reap"), 0, out=line_of(ident, run))
    case.nothing_left()


@test
def ps_shows_owners(case):
    first, run = orphan(case)
    orders(case, worker={"hang": True})
    other = second(case)
    mounts(other, case.broker, other.own_dir("workspace"))
    process = start_hanging(other)
    shown = {row["id"]: row for row in case.rows()}
    seen = {row["id"]: row for row in other.rows()}
    alive = (set(case.containers()) - {first}).pop()
    equal("the orphan, by its own", ("orphaned", "running", run, "turn"),
          tuple(shown[first][key] for key in ("owner", "state", "run", "mode")))
    equal("the other's, by the first", "other", shown[alive]["owner"])
    equal("its own, by the other", ("alive", "running"),
          (seen[alive]["owner"], seen[alive]["state"]))
    result = other.manage("ps")
    case.expect(result, 0, out=None)
    equal("the table's lines", 3, len(result.out.splitlines()))
    holds("it says alive", re.search(rb"^[0-9a-f]{32} +running +alive +turn", result.out, re.M),
          result.out)
    process.send_signal(signal.SIGTERM)
    case.expect(case.end(process, None), 143, None)
    case.expect(case.manage("reap"), 0, out=line_of(first, run))
    case.nothing_left()


@table([
    ("none", {"on": "ps", "out": ""}, 0, None),
    ("fails", {"on": "ps", "exit": 1}, 69, "SANDBOX_UNAVAILABLE docker.failed"),
    ("garbage", {"on": "ps", "out": "?\n"}, 69, "SANDBOX_UNAVAILABLE managed.unknown"),
    ("a flood", {"on": "ps", "flood": 3000000}, 69, "SANDBOX_UNAVAILABLE docker.failed"),
])
def ps_list(case, name, rule, status, reason):
    case.use_fake([rule])
    result = case.manage("ps")
    case.expect(result, status, reason, out=None)
    equal("lines shown", 0 if reason and reason.endswith("docker.failed") else 1,
          len(result.out.splitlines()))


@test
def ps_nobody_reads(case):
    case.use_fake()
    reading, writing = os.pipe()
    os.close(reading)
    result = case.manage("ps", stdout=writing)
    os.close(writing)
    case.expect(result, 70, "SANDBOX_PROTOCOL output.write")


@test
def stop_ends_a_running_turn(case):
    case.use_fake(worker={"hang": True})
    process = start_hanging(case)
    ident = case.containers()[0]
    run = label(case, ident, "run")
    case.expect(case.manage("stop", run), 0, out=line_of(ident, run))
    case.expect(case.end(process, None), 1, "SANDBOX_WORKER worker.vanished")
    case.nothing_left()


@test
def stop_an_orphan(case):
    ident, run = orphan(case)
    before = len(case.calls("find"))
    case.expect(case.manage("stop", run), 0, out=line_of(ident, run))
    equal("looks: before, and whether it is gone", 2, len(case.calls("find")) - before)
    case.nothing_left()
    result = case.manage("stop", run)
    case.expect(result, 1, "SANDBOX_WORKER run.unknown")
    holds("which run", b": run %s; " % run.encode() in result.err, result.err)


@test
def stop_is_signalled(case):
    made = orphans(case, True, True)
    orders(case, [{"on": "rm", "signal_parent": [signal.SIGTERM, "before"]}])
    result = case.manage("stop", *(run for _, run in made))
    case.expect(result, 143, "SANDBOX_ABORTED signal", out=None)
    holds("no more runs are begun", made[1][0] in case.containers(), case.containers())
    orders(case)
    case.manage("reap")
    case.nothing_left()


@test
def stop_what_is_not_ours(case):
    ident, run = orphan(case)
    other = second(case)
    case.expect(other.manage("stop", run), 1, "SANDBOX_WORKER run.unknown")
    change(case, ident, session="s")
    case.expect(other.manage("stop", "--session", "s"), 1, "SANDBOX_WORKER run.unknown")
    equal("containers left", [ident], case.containers())
    equal("docker was asked to remove", [], case.calls("rm"))
    case.expect(case.manage("stop", "00" * 16, run), 1, "SANDBOX_WORKER run.unknown",
                out=line_of(ident, run))
    case.nothing_left()


@test
def stop_a_session(case):
    key = "chat #1 = a"
    made = orphans(case, True, True, True)
    for (ident, _), session in zip(made, (key, key + "b", key)):
        change(case, ident, session=session)
    case.expect(case.manage("stop", "--session", key), 0,
                out=line_of(*made[0]) + line_of(*made[2]))
    equal("containers left", [made[1][0]], case.containers())
    case.expect(case.manage("reap"), 0, out=line_of(*made[1]))
    case.nothing_left()


@table([
    ("rm does nothing", {"on": "rm", "effect": False}, 80, "REVOKE_INCOMPLETE remove.unconfirmed"),
    ("the list fails", {"on": "ours", "exit": 1}, 69, "SANDBOX_UNAVAILABLE docker.failed"),
    ("another run is listed", {"on": "ours", "out": "a" * 64 + " " + "b" * 32 + "\n"}, 69,
     "SANDBOX_UNAVAILABLE docker.failed"),
])
def stop_fails(case, name, rule, status, reason):
    ident, run = orphan(case)
    orders(case, [rule])
    case.expect(case.manage("stop", run), status, reason)
    equal("containers left", [ident], case.containers())
    equal("claims left", 1, len(case.claims()))
    orders(case)
    case.expect(case.manage("stop", run), 0, out=line_of(ident, run))


WHICH = "cofferdam stop: name runs, or --session KEY, and not both"


@table([
    ("stop nothing", ["stop"], WHICH),
    ("stop a name", ["stop", "cofferdam-1"], "cofferdam stop: cofferdam-1"),
    ("stop 31 digits", ["stop", "a" * 31], "cofferdam stop: " + "a" * 31),
    ("stop 33 digits", ["stop", "a" * 33], "cofferdam stop: " + "a" * 33),
    ("stop upper case", ["stop", "A" * 32], "cofferdam stop: " + "A" * 32),
    ("stop both", ["stop", "--session", "s", "a" * 32], WHICH),
    ("stop one good, one bad", ["stop", "a" * 32, "x"], "cofferdam stop: x"),
    ("session: empty", ["stop", "--session", ""], "cofferdam stop: "),
    ("session: a blank at its end", ["stop", "--session", "s "], "cofferdam stop: s "),
    ("session: a comma", ["stop", "--session", "a,b"], "cofferdam stop: a,b"),
    ("session: too long", ["stop", "--session", "s" * 129], "cofferdam stop: " + "s" * 129),
    ("reap an operand", ["reap", "a" * 32], "unexpected word: a"),
    ("ps an operand", ["ps", "x"], "unexpected word: x"),
    ("reap with a config", ["reap", "-c", "x"], "not an option of this command: -c"),
    ("reap a session", ["reap", "--session", "s"], "not an option of this command: --session"),
    ("run with a host", ["run", "--host", "unix:///x"], "not an option of this command: --host"),
])
def managed_usage(case, name, words, said):
    case.use_fake()
    result = case.end(case.spawn([case.tree.bin + "/cofferdam", *words]))
    case.expect(result, 64, "USAGE usage")
    holds("what is wrong with it", b": " + said.encode() in result.err, result.err)
    equal("docker was called", [], case.kinds())


@table([(command, *row) for command in ("ps", "reap") for row in (
    ("unix://relative", {}), ("tcp://127.0.0.1:2375", {}), ("", {}), ("unix:///a/../b", {}),
    (None, {"DOCKER_HOST": "ssh://host"}), (None, {"DOCKER_HOST": "unix:///\x1b[31m"}))])
def managed_endpoint(case, command, host, env):
    case.use_fake()
    case.env = env
    words = [] if host is None else ["--host", host]
    argv = [case.tree.bin + "/cofferdam", command, *words, "--state-dir", case.state, "--docker",
            case.docker]
    case.expect(case.end(case.spawn(argv)), 77, "SANDBOX_ENDPOINT endpoint.grammar")
    equal("docker was called", [], case.kinds())


USUAL = "/var/run/docker.sock"
if os.path.exists(USUAL):
    USUAL = os.path.realpath(USUAL)


@table([
    ("the option first", ["--host", "unix:///a.sock"], {"DOCKER_HOST": "unix:///b.sock"},
     "unix:///a.sock"),
    ("else the variable", [], {"DOCKER_HOST": "unix:///b.sock"}, "unix:///b.sock"),
    ("else the usual one", [], {"DOCKER_HOST": ""}, "unix://" + USUAL),
])
def managed_endpoint_is(case, name, words, env, url):
    case.use_fake()
    case.env = dict(env, DOCKER_CONFIG="/evil", HOME="/evil", DOCKER_CONTEXT="evil")
    argv = [case.tree.bin + "/cofferdam", "reap", *words, "--state-dir", case.state, "--docker",
            case.docker]
    case.expect(case.end(case.spawn(argv)), 0)
    (call,) = case.calls()
    equal("the host", ["--host", url], call["argv"][:2])
    equal("names in its environment", ["DOCKER_CONFIG", "HOME", "LC_ALL", "PATH"],
          sorted(item.partition("=")[0] for item in call["environ"]))
    holds("nothing of the caller's", not any("evil" in item for item in call["environ"]),
          call["environ"])


@test
def managed_endpoint_is_canonical(case):
    """A claim names its engine as the launch froze it."""
    ident, run = orphan(case)
    os.symlink(case.dir, case.dir + ".link")
    case.config["docker"]["host"] = "unix://" + case.dir + ".link/engine.sock"
    case.expect(case.manage("reap"), 0, out=line_of(ident, run))
    equal("the host", "unix://" + case.socket, case.calls("rm")[-1]["argv"][1])
    case.nothing_left()


@test
def reap_leaves_a_copied_claim(case):
    """The claim of a copied state directory is nobody's: the original may hold its own."""
    ident, run = orphan(case)
    path = case.state + "/claims/" + run
    os.rename(path, path + ".was")
    subprocess.run(["cp", "-a", path + ".was", path], check=True)
    case.expect(case.manage("reap"), 0, out=b"")
    equal("containers left", [ident], case.containers())
    os.rename(path + ".was", path)
    case.expect(case.manage("reap"), 0, out=line_of(ident, run))
    case.nothing_left()


@table([(command,) for command in ("ps", "stop", "reap")])
def managed_as_root(case, command):
    case.use_fake()
    words = ["a" * 32] if command == "stop" else []
    done = subprocess.run([case.tree.bin + "/cofferdam", command, "--docker", case.docker,
                           "--state-dir", case.state, *words], capture_output=True, check=False)
    equal("exit status; stderr was %r" % done.stderr, 77, done.returncode)
    equal("docker was called", [], case.kinds())


# --- records -----------------------------------------------------------------

@test
def audit_of_a_launch(case):
    case.use_fake()
    path = case.own_dir("home/audit") + "/log"
    result = case.run(["--audit", path])
    case.expect(result, 0, out=HELLO)
    with open(path, "rb") as file:
        data = file.read()
    case.printable(data)
    records = [json.loads(line) for line in data.splitlines()]
    events = [record["event"] for record in records]
    equal("the first record", "decision", events[0])
    first = records[0]
    equal("decision", "allow", first["decision"])
    equal("schema_version", {1}, {record["schema_version"] for record in records})
    equal("one run, one nonce", 1, len({record["run"] for record in records}))
    holds("time is RFC 3339, UTC, with microseconds",
          all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", record["time"])
              for record in records), [record["time"] for record in records])
    labels = [word for word in case.calls("create")[0]["argv"]
              if word == "dev.cofferdam.run=" + first["run"]]
    equal("the nonce is the container's label", 1, len(labels))
    holds("launch, exit and removed are recorded",
          {"launch", "exit", "removed"} <= set(events), events)


@table([("reap", ["reap"]), ("stop", ["stop"])])
def audit_of_a_removal(case, name, words):
    ident, run = orphan(case)
    audit = case.home + "/audit"
    words = words + ([run] if name == "stop" else [])
    case.expect(case.manage(*words, "--audit", audit), 0, out=line_of(ident, run))
    with open(audit) as file:
        events = [json.loads(line) for line in file]
    equal("the events", [("reaped", run, ident, 0)],
          [(event["event"], event["run"], event["container"], event["exit"]) for event in events])
    case.expect(case.manage("reap", "--audit", case.home + "/no/audit"), 66,
                "SANDBOX_POLICY audit.open")
    case.nothing_left()


@test
def audit_of_a_removal_that_fails(case):
    ident, run = orphan(case)
    audit = case.home + "/audit"
    orders(case, [{"on": "rm", "effect": False}])
    case.expect(case.manage("reap", "--audit", audit), 80, "REVOKE_INCOMPLETE remove.unconfirmed")
    with open(audit) as file:
        events = [json.loads(line) for line in file]
    equal("the events", [("residual", run, ident, 80)],
          [(event["event"], event["run"], event["container"], event["exit"]) for event in events])
    case.nothing_left(containers=1, claims=1)


@test
def audit_of_a_refusal(case):
    case.use_fake()
    mounts(case, "relative", case.workspace)
    path = case.own_dir("home/audit") + "/log"
    case.expect(case.run(["--audit", path]), 77, "SANDBOX_POLICY mount.relative")
    with open(path) as file:
        record = json.loads(file.readline())
    equal("the record", ("decision", "deny", "SANDBOX_POLICY", "mount.relative", "/mounts/0/host"),
          tuple(record.get(key) for key in ("event", "decision", "code", "reason", "pointer")))


@table([
    ("no audit file given", lambda c: [], "SANDBOX_POLICY audit.absent"),
    ("the audit file is full", lambda c: ["--audit", "/dev/full"], None),
])
def audit_is_required(case, name, options, reason):
    case.use_fake()
    case.config["audit"] = {"required": True}
    result = case.run(options(case))
    holds("it is refused", result.status in (66, 77), result.status)
    case.expect(result, result.status, reason)
    equal("docker was asked to create", [], case.calls("create"))
    case.nothing_left()


@test
def status_descriptor(case):
    case.use_fake(worker={"exit": 3})
    reading, writing = os.pipe()
    process = case.begin(["--status-fd", str(writing)], pass_fds=[writing])
    os.close(writing)
    case.expect(case.end(process, case.turn_bytes()), 1, "SANDBOX_WORKER worker.exit")
    with os.fdopen(reading) as file:
        lines = file.read().splitlines()
    equal("lines of status", 1, len(lines))
    status = json.loads(lines[0])
    equal("what it says", ("SANDBOX_WORKER", "worker.exit", 1, 3, False),
          tuple(status.get(key) for key in ("code", "reason", "exit", "container_exit", "oom")))
    for call in case.calls():
        equal("descriptors of docker " + call["kind"], ["0", "1", "2"], sorted(call["fds"]))


# --- confinement, seen by strace ---------------------------------------------

MAY = {"read", "write", "pread64", "readv", "writev", "close", "exit", "exit_group", "fstat",
       "newfstatat", "statx", "stat", "lstat", "readlinkat", "readlink", "openat", "recvmsg",
       "sendmsg", "clock_gettime", "rt_sigreturn", "lseek", "restart_syscall", "fcntl"}
# What policy/filter.c allows a sanitizer's run time on top, in a build that has one.
SANITIZER = {"mmap", "munmap", "mprotect", "madvise", "futex", "getpid", "gettid", "sigaltstack",
             "rt_sigaction", "rt_sigprocmask", "sched_yield"}


def may():
    with open(PROGRAMS + "/cofferdam-policy", "rb") as file:
        return MAY | SANITIZER if b"__asan_init" in file.read() else MAY


def traced(case):
    """{policy command: [its system calls after its filter was installed]}, from a whole run."""
    path = case.dir + "/trace"
    argv = ["/usr/bin/strace", "-ff", "-qq", "-o", path, "-s", "64", "--",
            "/usr/bin/setpriv", "--reuid", str(case.uid), "--regid", str(case.uid),
            "--clear-groups", *case.argv("run", [], case.config)]
    # A sanitized executor's leak check does not work under ptrace.
    env = dict(case.env, ASAN_OPTIONS="detect_leaks=0")
    done = subprocess.run(argv, input=case.turn_bytes(), capture_output=True, cwd="/", env=env,
                          timeout=SAFETY, check=False)
    equal("exit status under strace; stderr was %r" % done.stderr, 0, done.returncode)
    calls = {}
    for name in os.listdir(case.dir):
        if name.startswith("trace."):
            with open(case.dir + "/" + name, errors="replace") as file:
                command, list_ = sealed_calls(file.read().splitlines())
            if command:
                calls[command] = list_
    return calls


def sealed_calls(lines):
    """(command, calls after the filter) of one traced process; (None, []) if it is no policy."""
    command, sealed, list_ = None, False, []
    for line in lines:
        name = line.partition("(")[0]
        found = re.match(r'execve(?:at)?\(.*"[^"]*cofferdam-policy", "(\w[\w-]*)"', line)
        if found:
            command = found.group(1)
        elif sealed and re.fullmatch(r"\w+", name):
            list_.append((name, line))
        elif command and line.endswith("= 0") and re.match(
                r"seccomp\(SECCOMP_SET_MODE_FILTER|prctl\(PR_SET_SECCOMP", line):
            sealed = True
    return (command, list_) if sealed else (None, [])


@test
def policy_is_confined(case):
    case.use_fake()
    calls = traced(case)
    equal("policy processes with a filter", ["admit", "decide", "reply", "turn", "verify"],
          sorted(calls))
    for command, list_ in sorted(calls.items()):
        names = {name for name, _ in list_}
        holds("%s reads its input after the filter stands" % command,
              names & {"read", "pread64", "recvmsg"}, sorted(names))
        equal("calls of %s that it has no use for" % command, [], sorted(names - may()))
        opened = [call for name, call in list_ if name == "openat" and "O_PATH" not in call]
        equal("files that %s opened other than by O_PATH" % command, [], opened)
        if command in ("turn", "reply"):
            paths = [call for name, call in list_ if name in ("openat", "statx", "newfstatat")]
            equal("paths that %s looked at" % command, [], paths)


if __name__ == "__main__":
    if os.getuid() != 0:
        sys.exit("test_fake.py: run as root: every case runs as a user of its own")
    for needed in ("cofferdam", "cofferdam-policy"):
        if not os.path.exists(PROGRAMS + "/" + needed):
            sys.exit("test_fake.py: %s is not built" % needed)
    main(Tree)

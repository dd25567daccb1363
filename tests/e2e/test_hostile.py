#!/usr/bin/python3 -B
# SPDX-License-Identifier: ISC
"""cofferdam with a policy that lies (hostile_policy.c), and a scripted docker.  Run as root.

    test_hostile.py [WORD...]      only the tests whose name holds one of the words

Each row is a lie of one subcommand: what is told, the exit status and first reason that must come
of it, and whether docker may have been asked to create.  A lie that nobody can see has the status
0: README's threat model says what it gains.
"""

import json
import os
import shutil
import signal
import struct
import sys
import threading

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import (PROGRAMS, TREE, Failure, Tree, equal, holds, main, table, test)  # noqa: E402

HOSTILE = os.environ.get("HOSTILE", TREE + "/build/tests/e2e/hostile_policy")
HELLO = b'{"ok":true,"text":"hello"}\n'
PROTOCOL = (70, "SANDBOX_PROTOCOL policy.protocol")
CRASHED = (70, "SANDBOX_PROTOCOL policy.crashed")
GATE = (70, "SANDBOX_PROTOCOL gate.refused")
CHANGED = (77, "SANDBOX_MOUNT_IDENTITY mount.changed")
LATE = (124, "SANDBOX_TIMEOUT policy.deadline")
BELIEVED = (0, None)

# Refusals are 65, 66, 69, 70, 75 to 78, with a code and a reason on standard error.
STATUSES = (1, 2, 64, 65, 66, 69, 70, 75, 76, 77, 78, 80, 99, 124, 126, 127, 128, 137, 255)
ESCAPES = r"\e]0;owned\e[2J\e[31mcofferdam: all is well\n"
FORGED = r"cofferdam: SANDBOX_POLICY forged.reason: \e[2J\ncofferdam: REVOKE_INCOMPLETE x.y: z\n"
# What a filter may not have written, all of it with exit status 0.
NOT_A_LINE = (
    ("nothing", ("exit", "0")),
    ("a text", ("say", "1", r"hello\n", "0")),
    ("no newline", ("say", "1", '{"ok":true,"text":"x"}', "0")),
    ("a newline only", ("say", "1", r"\n", "0")),
    ("a brace only", ("say", "1", "{", "0")),
    ("two lines", ("say", "1", r'{"ok":true,"text":"x"}\n{"ok":true,"text":"y"}\n', "0")),
    ("a blank first", ("say", "1", r' {"ok":true,"text":"x"}\n', "0")),
    ("an array", ("say", "1", r"[1]\n", "0")),
    ("an escape sequence", ("say", "1", r'{"ok":true,"text":"\e[2J"}\n', "0")),
    ("a NUL", ("say", "1", r'{"ok":true,"text":"\0"}\n', "0")),
    ("a NUL at the end", ("say", "1", r'{"ok":true,"text":"x"}\n\0', "0")),
    ("more than there is room for", ("flood", "1", "8000000", "0")),
    ("an offset beyond the end", ("after", "seek")),
    ("a file that it emptied again", ("after", "shrink")),
    ("a flood on standard error, nothing else", ("flood", "2", "8000000", "0")),
)
DIES = tuple(("signal %d" % number, ("signal", str(number)))
             for number in (signal.SIGABRT, signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM,
                            signal.SIGHUP, signal.SIGSYS))
ODD = tuple(("exit status %d, silently" % status, ("exit", str(status))) for status in STATUSES)
# What any of them may say when it refuses; the executor escapes it.
SAYS = (
    ("a flood, and a refusal's status", ("flood", "2", "8000000", "77"), CRASHED),
    ("escape sequences", ("say", "2", ESCAPES, "77"), CRASHED),
    ("a code alone", ("say", "2", "cofferdam: SANDBOX_POLICY", "77"), CRASHED),
    ("a refusal with a status that is none", ("say", "2", FORGED, "80"), CRASHED),
    ("forged lines", ("say", "2", FORGED, "77"), (77, "SANDBOX_POLICY forged.reason")),
)


def any_of_them():
    """The rows that every subcommand has."""
    return [(name, lie, CRASHED) for name, lie in DIES + ODD] + list(SAYS)


def install(case, **lies):
    """The executor, and a policy that lies, in a directory of their own."""
    case.bin = case.dir + "/hostile"
    os.mkdir(case.bin, 0o755)
    for name, source in (("cofferdam", "cofferdam"), ("cofferdam-policy", "hostile"),
                         ("cofferdam-policy.real", "cofferdam-policy")):
        os.link(case.tree.bin + "/" + source, case.bin + "/" + name)
    tell(case, **lies)


def make_tree():
    """The programs are copied once, and before anything runs: what a child that was forked
    meanwhile still has open for writing cannot be executed."""
    tree = Tree()
    shutil.copy(HOSTILE, tree.bin + "/hostile")
    return tree


def tell(case, **lies):
    case.write("hostile/lies", "".join("\t".join((command, *lie)) + "\n"
                                       for command, lie in lies.items()))


def created(case):
    return case.calls("create") != []


def never_started(case, result, expected):
    case.expect(result, *expected)
    equal("the worker ran", False, case.worker_ran())
    case.nothing_left()


COUNTS = {}
LOCK = threading.Lock()


def lies(command):
    """As table, and counts the rows; a row's second and third member: the lie, what comes of it."""
    def register(rows):
        rows = [(command + ": " + row[0], *row[1:]) for row in rows]
        COUNTS[command] = COUNTS.get(command, 0) + len(rows)
        return table(rows)
    return register


# --- turn ----------------------------------------------------------------------

TURN = [(name, lie, PROTOCOL) for name, lie in NOT_A_LINE] + any_of_them()


@lies("turn")([("hangs", ("hang",), LATE), ("stops itself", ("signal", "19"), LATE), *TURN])
def turn_lies(case, name, lie, expected):
    case.use_fake()
    install(case, turn=lie)
    never_started(case, case.run(), expected)
    equal("docker was called", [], case.kinds())


@lies("turn")([("is larger than limits.turnBytes", ("say", "1", '{"text":"%s"}\\n' % ("x" * 1100),
                                                    "0"))])
def turn_too_large(case, name, lie):
    case.use_fake()
    case.limit(turnBytes=1024)
    install(case, turn=lie)
    never_started(case, case.run(), (65, "SANDBOX_TURN turn.size"))
    equal("docker was asked to create", False, created(case))


def what_the_worker_read(case):
    with open(case.fake + "/stdin", "rb") as file:
        return file.read()


def a_line(what, text):
    holds(what + " is one line without control bytes",
          text[:1] == b"{" and text.find(b"\n") == len(text) - 1 and min(text[:-1]) >= 32, text)


@lies("turn")([("is another object", ("say", "1", r'{"text":"another"}\n', "0"))])
def turn_believed(case, name, lie):
    """The turn is nobody's but its own."""
    case.use_fake()
    install(case, turn=lie)
    case.expect(case.run(), 0, out=HELLO)
    equal("what the worker read", b'{"text":"another"}\n', what_the_worker_read(case))
    case.nothing_left()


STAYS = [("a child writes on, %s" % how, ("haunt", how, '{"haunted":"\x7f' + "y" * 60000))
         for how in ("group", "session")] + [
    ("it sealed its output", ("after", "seal")), ("a child has it mapped", ("after", "map"))]


@lies("turn")(STAYS)
def turn_stays(case, name, lie):
    """Whatever the process left behind does to its file: once it has ended well, the executor
    takes one line, or refuses, and the worker reads the whole of that."""
    case.use_fake(worker={"echo": True})
    install(case, turn=lie)
    result = case.run()
    if result.status != 0:
        never_started(case, result, PROTOCOL)
        return
    text = what_the_worker_read(case)
    a_line("the turn", text)
    holds("the worker read all of it", b'"timeZone"' in text or b"haunted" in text, text)
    case.nothing_left()


# --- decide: the conversation ----------------------------------------------------

def at(moment, *actions):
    return ("at", moment, *actions)


MOMENTS = ("start", "facts", "asked", "answered", "launch", "launched")
BAD_URLS = ("tcp://127.0.0.1:2375", "ssh://root@localhost", "http://localhost", "fd://", "npipe://",
            "unix://relative", "unix:///", "unix:///run/../run/docker.sock", "unix:///run//d.sock",
            "UNIX:///run/docker.sock", "/run/docker.sock", "", "--help", "unix:///run/d.sock\n",
            "unix:///run/" + "x" * 110, "unix:///run/d.sock,x")
BAD_REFERENCES = ("-v", "--help", "--format={{.Id}}", "", " worker:1", "worker 1", "worker:1\n",
                  "$(id)", "w;id", "w*", "w\033[2J", "x" * 513, '"worker:1"')
URL = "unix:///run/none.sock"


def head(kind):
    return b"CFDM" + struct.pack(">HH", 1, kind)


def string(text):
    return struct.pack(">I", len(text)) + text + b"\0"


def ask(url, reference):
    """An ASK_IMAGE frame of any two words, as lies are written."""
    text = (head(3) + string(url.encode()) + string(reference.encode())).decode("ascii")
    for byte, letter in (("\\", "\\"), ("\n", "n"), ("\t", "t"), ("\033", "e"), ("\0", "0")):
        text = text.replace(byte, "\\" + letter)
    return text


def conversation():
    for moment in MOMENTS:
        for number in (0, 3, 77):
            if (moment, number) != ("launched", 0):
                yield ("exit %d at %s" % (number, moment), at(moment, "exit", str(number)),
                       PROTOCOL if number == 0 else CRASHED)
        for number in (signal.SIGKILL, signal.SIGSEGV):
            yield "signal %d at %s" % (number, moment), at(moment, "signal", str(number)), CRASHED
    for moment in ("start", "facts", "asked", "answered", "launched"):
        for what in (("text", "hello"), ("text", "CFDM"), ("answered",), ("descriptors",),
                     ("large",), ("context",) if moment not in ("start", "facts") else ("text", "x"),
                     ("facts",) if moment != "start" else ("text", r"\0")):
            yield ("says %s at %s" % (" ".join(what), moment), at(moment, "say", *what), PROTOCOL)
    for moment in ("asked", "answered", "launched"):
        yield "says it again at " + moment, at(moment, "say", "again"), PROTOCOL
    yield ("asks about an image behind the launch",
           at("launched", "say", "image", URL, "worker:1"), PROTOCOL)
    yield "asks about a context behind the launch", at("launched", "say", "context"), PROTOCOL
    yield "an empty message, then the launch", at("launch", "say", "empty"), PROTOCOL
    yield ("an empty message behind the launch, then another",
           at("launched", "say", "empty", "then", "say", "again"), PROTOCOL)
    yield "an empty message and no launch", at("facts", "say", "empty", "then", "exit", "0"), PROTOCOL
    for url in BAD_URLS:
        yield "asks at %.24r" % url, at("facts", "say", "text", ask(url, "worker:1")), PROTOCOL
    for reference in BAD_REFERENCES:
        yield ("asks about %.24r" % reference, at("facts", "say", "text", ask(URL, reference)),
               PROTOCOL)
    yield ("closes the pipe for the image", at("facts", "close", "6"),
           (69, "SANDBOX_UNAVAILABLE image.answer"))
    for name, text, status, expected in (
            ("escape sequences", ESCAPES, "77", CRASHED),
            ("forged lines", FORGED, "77", (77, "SANDBOX_POLICY forged.reason"))):
        yield name + " behind the launch", at("launched", "err", text, status), expected


LATE_ROWS = [("hangs at " + moment, at(moment, "hang"), LATE) for moment in MOMENTS] + [
    ("closes the socket and hangs at " + moment, at(moment, "deaf"), LATE)
    for moment in ("start", "launched")] + [
    ("leaves a child with the socket at " + moment, at(moment, "leave"), LATE)
    for moment in ("facts", "launched")]


@lies("decide")(LATE_ROWS)
def decide_is_late(case, name, lie, expected):
    refused_before_create(case, lie, expected)


def refused_before_create(case, lie, expected):
    case.use_fake()
    install(case, decide=lie)
    never_started(case, case.run(), expected)
    equal("docker was asked to create", False, created(case))


@lies("decide")([*conversation(), *any_of_them()])
def decide_talks(case, name, lie, expected):
    refused_before_create(case, lie, expected)


@lies("decide")([("never reads a long answer", at("facts", "say", "image", "SOCKET", "worker:1",
                                                  "then", "hang"))])
def decide_never_reads(case, name, lie):
    case.use_fake()
    case.orders["image"]["Config"]["Labels"]["long"] = "x" * 200000
    case.tell_docker()
    install(case, decide=[word.replace("SOCKET", "unix://" + case.socket) for word in lie])
    never_started(case, case.run(), (69, "SANDBOX_UNAVAILABLE docker.deadline"))
    equal("docker was asked to create", False, created(case))


@lies("decide")([("says nothing while docker works", at("asked", "say", "empty"))])
def decide_empty(case, name, lie):
    """An empty message is nobody's order."""
    case.use_fake()
    install(case, decide=lie)
    case.expect(case.run(), 0, out=HELLO)
    case.nothing_left()


# --- decide: the launch ------------------------------------------------------------

ADDED = """--privileged | --privileged=true | -v /:/host | --volume /:/host | --volume=/:/host:rw
    --mount type=bind,source=/,target=/host | --mount type=volume,source=x,target=/x
    --mount type=tmpfs,target=/x | --mount=type=bind,source=/etc,target=/etc | --volumes-from other
    --device /dev/kmsg | --device-cgroup-rule a | --gpus all | --pid host | --pid=host | --ipc host
    --uts host | --userns host | --cgroupns host | --network host | --net host | --network=bridge
    --cap-add ALL | --cap-add=SYS_ADMIN | --security-opt seccomp=unconfined
    --security-opt apparmor=unconfined | --security-opt label=disable
    --security-opt systempaths=unconfined | --security-opt no-new-privileges:false
    --env-file /etc/shadow | --env LD_PRELOAD=/x.so | -e A=b | --label-file /etc/shadow
    --label dev.cofferdam.state=00 | --add-host a:1.2.3.4 | --publish 80:80 | -P | --link x
    --dns x | --expose 80 | --ip 1.2.3.4 | --network-alias x | --restart always | --health-cmd id
    --user 0 | --user 0:0 | -u root | --group-add 0 | --sysctl kernel.shmmax=1 | --ulimit nofile=9:9
    --oom-kill-disable | --oom-score-adj -1000 | --memory 0 | --memory-swap -1 | --pids-limit -1
    --cpus 0 | --cpu-shares 2 | --tty | -it | --rm | --cidfile /x | --cgroup-parent / | --runtime x
    --storage-opt size=1 | --platform linux | --pull always | --entrypoint /bin/sh | --workdir /
    --hostname x | --annotation x=y | --init | --no-healthcheck=false | --stop-signal 9
    --log-driver json-file | --log-opt x=y | --tmpfs /x | --shm-size 1 | --read-only=false
    --host tcp://1.2.3.4:2375 | -H tcp://1.2.3.4:2375 | --config /x | --tlsverify | -- | --help
    --use-api-socket | --mac-address x | --attach stdin | --name other | x"""


def added():
    for words in ADDED.replace("\n", "|").split("|"):
        words = words.split()
        for place, prefix in (("in front", "--pull"), ("before the image", "sha256:"),
                              ("in the middle", "--tmpfs")):
            yield "%s %s" % (" ".join(words), place), ("argv", prefix, "before", *words), GATE


# (the word that begins with this, what stands there instead)
INSTEAD = [
    ("docker", "podman"), ("docker",), ("container", "image"), ("create", "run"), ("create",),
    ("--host",), ("unix://", "tcp://1.2.3.4:2375"), ("unix://", "unix:///run/other.sock"),
    ("--pull",), ("never", "always"), ("--name",), ("cofferdam-", "-x"), ("cofferdam-", "../x"),
    ("dev.cofferdam.state=", "dev.cofferdam.state=" + "0" * 32), ("dev.cofferdam.state=", "a=b"),
    ("dev.cofferdam.run=", "dev.cofferdam.run=" + "0" * 32), ("dev.cofferdam.run=",),
    ("dev.cofferdam.mode=", "dev.cofferdam.mode=session"),
    ("dev.cofferdam.session=", "dev.cofferdam.session=x"),
    ("dev.cofferdam.revision=", "dev.cofferdam.revision=7"),
    ("dev.cofferdam.roots=", "dev.cofferdam.roots=[]"), ("dev.cofferdam.roots=",),
    ("--interactive",), ("--interactive", "--tty"), ("--network",), ("none", "host"),
    ("none", "container:x"), ("--read-only",), ("--read-only", "--read-only=false"),
    ("--cap-drop",), ("ALL", "NET_RAW"), ("--security-opt",),
    ("no-new-privileges:true", "no-new-privileges:false"), ("no-new-privileges:true",
                                                           "seccomp=unconfined"),
    ("UID:", "0:0"), ("UID:", "root"), ("UID:", "1:0"), ("UID:", "-1:1"), ("UID:", "4294967296:1"),
    ("--memory",), ("536870912", "0"), ("536870912", "-1"), ("536870912", "67108863"),
    ("536870912", "9223372036854775807"), ("536870912", "536870913"), ("536870912", "512m"),
    ("--memory-swap", "--memory-reservation"), ("--cpus", "--cpu-shares"), ("--pids-limit",),
    ("64", "-1"), ("64", "0"), ("64", "7"), ("nofile=", "nofile=256:1048577"),
    ("nofile=", "core=1:1"), ("--shm-size",), ("private", "host"), ("private", "shareable"),
    ("--cgroupns", "--cgroupns=host"), ("--log-driver",), ("--restart",), ("no", "always"),
    ("--no-healthcheck",), ("/tmp:", "/tmp:rw,exec"), ("/tmp:", "/:rw"),
    ("/tmp:", "/tmp:rw,noexec,nosuid,nodev,size=1,mode=1777"), ("--env", "--env-file"),
    ("HOME=", "HOME=/root"), ("HOME=", "LD_PRELOAD=/x"), ("--workdir", "--hostname"),
    ("/worker", ""), ("/worker", "-c"), ("--entrypoint",),
    ("sha256:", "worker:1"), ("sha256:", "worker:latest"), ("sha256:", "sha256:5a5a"),
    ("sha256:", "sha256:" + "5A" * 32), ("sha256:", "--privileged"), ("sha256:", ""), ("sha256:",),
]
RO = "type=bind,readonly,source="
RW = "type=bind,source="
END = ",bind-propagation=rprivate"
MOUNTS = [
    RW + "BROKER,target=/broker" + END, RO + "/,target=/broker" + END,
    RO + "BROKER,target=/broker", RO + "BROKER,target=/broker,bind-propagation=rshared",
    RO + "BROKER,target=/etc" + END, RO + "BROKER,target=/" + END, RO + "BROKER,target=/proc" + END,
    RO + "BROKER,target=/broker/../etc" + END, RO + "BROKER/../workspace,target=/broker" + END,
    RO + "BROKER,source=/,target=/broker" + END, RO + "BROKER,readonly=false,target=/broker" + END,
    RO + "BROKER,target=/broker,target=/x" + END, RO + "BROKER,target=/broker" + END + ",readonly",
    '"type=bind","readonly","source=BROKER","target=/broker"', RO + '"BROKER",target=/broker' + END,
    RO + r"BROKER\n,target=/broker" + END, RO + r"BROKER,target=/broker\n" + END,
    r"type=bind,readonly\n,source=BROKER,target=/broker" + END,
    "type=volume,readonly,source=BROKER,target=/broker" + END, "type=tmpfs,target=/broker",
    "type=npipe,readonly,source=BROKER,target=/broker" + END, "type=bind,src=BROKER,dst=/broker",
    "type=bind,readonly,bind-nonrecursive=true,source=BROKER,target=/broker" + END,
    "type=bind,readonly,volume-driver=local,source=BROKER,target=/broker" + END,
    RO + "SOCKET,target=/broker" + END, RO + "SOCKETS,target=/broker" + END,
    RO + "WORKSPACE,target=/broker" + END, RO + "WORKSPACE/x,target=/broker" + END,
    RO + "relative,target=/broker" + END, RO + ",target=/broker" + END, "",
]


@lies("decide")(added())
def decide_adds(case, name, lie, expected):
    refused_before_create(case, lie, expected)


@lies("decide")([("%s for %s" % (" ".join(words) or "nothing", prefix),
                  ("argv", prefix, "instead", *words)) for prefix, *words in INSTEAD])
def decide_replaces(case, name, lie):
    lie = [word.replace("UID:", "%d:" % case.uid) if word == "UID:" else word for word in lie]
    refused_before_create(case, lie, GATE)


@lies("decide")([("mount %d: %.60s" % (number, mount), mount)
                 for number, mount in enumerate(MOUNTS)])
def decide_mounts(case, name, mount):
    for word, path in (("BROKER", case.broker), ("WORKSPACE", case.workspace),
                       ("SOCKETS", case.dir), ("SOCKET", case.socket)):
        mount = mount.replace(word, path)
    refused_before_create(case, ("argv", RO, "instead", mount), GATE)


FIELDS = [("turn_bytes", value, GATE) for value in ("0", "1023", "2097153", str(2**64 - 1))] + [
    (name, value, GATE) for name, values in (
        ("turn_seconds", ("0", "601", "4294967295")), ("lock_seconds", ("601", "4294967295")),
        ("control_seconds", ("0", "301", "4294967295")),
        ("remove_seconds", ("0", "601", "4294967295")), ("root_count", ("0", "1")),
        ("env_count", ("0",)), ("file_bytes", ("1", "4096")), ("runtime", ("runc", "evil")))
    for value in values] + [
    ("turn_bytes", "1024", (65, "SANDBOX_TURN turn.size")), ("ino0", "SAME", GATE)] + [
    (name, "12345678", CHANGED) for name in ("dev0", "ino0", "dev1", "ino1")]


@lies("decide")([("%s %s" % (name, value), name, value, expected)
                 for name, value, expected in FIELDS])
def decide_counts(case, name, field, value, expected):
    case.turn["text"] = "x" * 2000
    value = value.replace("SAME", str(os.stat(case.workspace).st_ino))
    refused_before_create(case, ("field", field, value), expected)


PART_TWO = [("uid", "7"), ("memory_bytes", "67108864"), ("image_id", "sha256:" + "00" * 32),
            ("workdir", "/etc"), ("entrypoint", "/bin/sh"), ("name", "other"),
            ("endpoint", "unix:///run/other.sock"), ("state_id", "0" * 32), ("roots_label", "[]"),
            ("path1", "/etc"), ("guest1", "/etc")]


@lies("decide")([("part two says %s %s" % row, *row) for row in PART_TWO])
def decide_plans(case, name, field, value):
    """The argv is good, and the plan that admit and verify get is of another container."""
    case.use_fake()
    install(case, decide=("field", field, value))
    result = case.run()
    if field == "endpoint":  # nobody looks: the argv's is the one that is used
        case.expect(result, 0, out=HELLO)
    else:
        holds("a refusal", result.status in (69, 75, 77), (result.status, result.err))
        equal("the worker ran", False, case.worker_ran())
    case.printable(result.err)
    case.nothing_left()


@lies("decide")([("cut by one byte", ("cut", "-1")), *[("%d bytes more" % n, ("more", str(n)))
                                                       for n in (1, 4, 4000)],
                 *[("byte %d of the head" % n, ("byte", str(n), "255")) for n in range(8)],
                 ("the kind of a question", ("byte", "7", "3")),
                 ("another version", ("byte", "5", "2")),
                 ("a flag of 2", ("byte", "32", "2"))])
def decide_mangles(case, name, lie):
    refused_before_create(case, lie, PROTOCOL)


def every_cut(case, frame, lengths):
    path = case.dir + "/frame"
    with open(path, "wb") as file:
        file.write(frame)
    for length in lengths:
        tell(case, decide=("raw", path, str(length)))
        result = case.run()
        if (result.status, result.reasons()[:1]) != (70, [("SANDBOX_PROTOCOL", "policy.protocol")]):
            raise Failure("the first %d of %d bytes\nobserved: %r %r"
                          % (length, len(frame), result.status, result.err))
    equal("docker was called", [], case.kinds())
    case.nothing_left()
    with LOCK:
        COUNTS["decide"] += len(lengths)


@test
def decide_cuts_a_question(case):
    case.use_fake()
    install(case)
    frame = head(3) + string(b"unix://" + case.socket.encode()) + string(b"worker:1")
    every_cut(case, frame, range(1, len(frame)))


SLICES = 8


@table([("slice %d of %d" % (number + 1, SLICES), number) for number in range(SLICES)])
def decide_cuts_the_launch(case, name, number):
    """Every length of a launch that is good when it is whole."""
    case.use_fake()
    install(case, decide=("keep", case.home + "/frame"))
    case.expect(case.run(), 0, out=HELLO)
    os.remove(case.fake + "/log")
    with open(case.home + "/frame", "rb") as file:
        frame = file.read()
    every_cut(case, frame, range(1 + number, len(frame), SLICES))


# --- what each is given ------------------------------------------------------------

REPORTS = [("turn", "0 1 2"), ("decide", "0 1 2 3 4 5 6 7 8"), ("admit", "0 1 2 3"),
           ("verify", "0 1 2 3"), ("reply", "0 1 2")]


@table(REPORTS)
def nothing_else_is_given(case, command, fds):
    """The descriptors, the environment, a session of its own."""
    case.use_fake()
    case.env = {"SECRET": "1", "LD_LIBRARY_PATH": "/x"}
    install(case, **{command: ("report",)})
    result = case.run(wrap=["/bin/sh", "-c", 'exec 8</etc/passwd 9</etc/passwd; exec "$@"', "-"])
    case.expect(result, 77, "SANDBOX_POLICY hostile.report")
    holds("it has exactly this", ("fds %s env LC_ALL=C leader 1;" % fds).encode() in result.err,
          result.err)
    case.nothing_left()


@table([("decide", "8"), ("decide", "4"), ("admit", "3"), ("verify", "3")])
def documents_are_sealed(case, command, fd):
    case.use_fake()
    install(case, **{command: ("poke", fd)})
    result = case.run()
    never_started(case, result, (77, "SANDBOX_POLICY hostile.poke"))
    holds("no way to change it works", b": 0 of 7 worked" in result.err, result.err)
    COUNTS[command] = COUNTS.get(command, 0) + 7


# --- admit and verify ----------------------------------------------------------------

def checkers(command):
    return [(name, command, lie, expected) for name, lie, expected in any_of_them()
            if lie[0] != "flood"] + [("a flood, and a refusal's status", command,
                                      ("flood", "2", "8000000", "77"), CRASHED)]


def checked(case, command, lie, expected):
    case.use_fake()
    install(case, **{command: lie})
    never_started(case, case.run(), expected)


@lies("admit")(checkers("admit"))
def admit_lies(case, name, *row):
    checked(case, *row)


@lies("verify")(checkers("verify"))
def verify_lies(case, name, *row):
    checked(case, *row)


@table([(command + ": hangs", command) for command in ("admit", "verify")])
def checker_hangs(case, name, command):
    case.use_fake()
    case.limit(controlSeconds=45)
    install(case, **{command: ("hang",)})
    COUNTS[command] += 1
    never_started(case, case.run(), LATE)


@table([("%s: unread, exit status %d" % (command, status), command, status)
        for command in ("admit", "verify") for status in (0, 3)])
def checker_reads_nothing(case, name, command, status):
    """docker may notice that nobody reads."""
    case.use_fake()
    install(case, **{command: ("unread", str(status))})
    COUNTS[command] += 1
    result = case.run()
    equal("the worker ran", result.status == 0, case.worker_ran())
    holds("it is believed, or docker failed" if status == 0 else "it is not believed",
          result.status in ((0, 69) if status == 0 else (70,)), (result.status, result.err))
    case.nothing_left()


@table([("%s: %s" % (command, " ".join(lie)), command, lie) for command in ("admit", "verify")
        for lie in (("exit", "0"), ("flood", "1", "8000000", "0"), ("flood", "2", "8000000", "0"))])
def checker_believed(case, name, command, lie):
    """Nobody sees this: the run goes on."""
    case.use_fake()
    install(case, **{command: lie})
    COUNTS[command] += 1
    case.expect(case.run(), 0, out=HELLO)
    case.nothing_left()


@test
def both_checkers_lie_and_a_root_changes(case):
    """Whatever they say, the executor looks at the sources itself."""
    case.use_fake([{"on": "verify", "swap": [case.workspace, None]}])
    install(case, admit=("exit", "0"), verify=("exit", "0"))
    never_started(case, case.run(), CHANGED)


@test
def an_audit_file_is_decides_alone(case):
    """admit and verify write nothing to it: it is not among their descriptors."""
    case.use_fake()
    audit = case.home + "/audit"
    install(case, admit=("say", "7", "forged", "0"), verify=("say", "3", "forged", "0"),
            reply=("say", "7", "forged", "77"))
    case.expect(case.run(["--audit", audit]), 70, "SANDBOX_PROTOCOL policy.crashed")
    with open(audit) as file:
        holds("nothing of theirs stands in the audit file", "forged" not in file.read())
    case.nothing_left()


# --- reply -----------------------------------------------------------------------------

REPLY = [(name, lie, PROTOCOL) for name, lie in NOT_A_LINE] + any_of_them()


@lies("reply")(REPLY)
def reply_lies(case, name, lie, expected):
    case.use_fake()
    install(case, reply=lie)
    case.expect(case.run(), *expected)
    case.nothing_left()


@lies("reply")([("hangs", ("hang",)), ("stops itself", ("signal", "19"))])
def reply_hangs(case, name, lie):
    case.use_fake()
    case.limit(turnSeconds=20)
    install(case, reply=lie)
    case.expect(case.run(), 124, "SANDBOX_TIMEOUT policy.deadline")
    case.nothing_left()


@lies("reply")([("never reads a long reply", ("say", "1", r'{"ok":true,"text":"x"}\n', "0"))])
def reply_unread(case, name, lie):
    """The worker cannot end: its output goes nowhere."""
    case.use_fake(worker={"stdout": ["x", 1000000]})
    case.limit(turnSeconds=20)
    install(case, reply=lie)
    case.expect(case.run(), 124, "SANDBOX_TIMEOUT turn.deadline")
    case.nothing_left()


@lies("reply")([("is another line", ("say", "1", r'{"forged":1}\n', "0"))])
def reply_believed(case, name, lie):
    """What leaves is its word, and no more than a line of text."""
    case.use_fake()
    install(case, reply=lie)
    case.expect(case.run(), 0, out=b'{"forged":1}\n')
    case.nothing_left()


@lies("reply")(STAYS)
def reply_stays(case, name, lie):
    case.use_fake()
    install(case, reply=lie)
    result = case.run()
    if result.status == 0:
        a_line("the reply", result.out)
    else:
        case.expect(result, *PROTOCOL)
    case.nothing_left()


@lies("reply")([("a failing worker, and a good reply", ("say", "1", r'{"ok":true}\n', "0"))])
def reply_hides_nothing(case, name, lie):
    """That the worker failed is the engine's word."""
    case.use_fake(worker={"exit": 3})
    install(case, reply=lie)
    case.expect(case.run(), 1, "SANDBOX_WORKER worker.exit")
    case.nothing_left()


# --- ps --------------------------------------------------------------------------------

@lies("ps")([(name, lie, CRASHED) for name, lie in DIES + ODD] + [
    ("escape sequences", ("say", "1", r"RUN\n\e[2J", "0"), PROTOCOL),
    ("escape sequences on standard error", ("say", "2", ESCAPES, "69"), CRASHED)])
def ps_lies(case, name, lie, expected):
    case.use_fake()
    install(case, ps=lie)
    result = case.manage("ps")
    case.expect(result, *expected, out=None)
    case.printable(result.out)


# --- doctor's questions ------------------------------------------------------------------

@lies("check")([(name, lie, CRASHED) for name, lie in DIES + ODD] + [
    ("escape sequences", ("say", "2", ESCAPES, "77"), CRASHED),
    ("a refusal with a status that is none", ("say", "2", FORGED, "80"), CRASHED),
    ("forged lines", ("say", "2", FORGED, "77"), (77, "SANDBOX_POLICY forged.reason"))])
def check_lies(case, name, lie, expected):
    case.use_fake()
    install(case, check=lie)
    config = case.write("config.json", json.dumps(case.config))
    result = case.manage("doctor", "--json", "-c", config)
    row = [json.loads(line) for line in result.out.splitlines() if b'"check":"config"' in line][0]
    equal("the config's line", ("fail", expected[1].split()[1], expected[0]),
          (row["verdict"], row["reason"], row["exit"]))
    case.printable(result.out)


# --- several at once ----------------------------------------------------------------------

@test
def what_decide_gains_with_a_lying_verify(case):
    """Another program of the image's: the gate lets it through, and nothing that isolates changes."""
    case.use_fake()
    install(case, decide=("argv", "/worker", "instead", "/bin/sh"), verify=("exit", "0"))
    case.expect(case.run(), 0, out=HELLO)
    argv = case.calls("create")[0]["argv"]
    equal("the entrypoint", "/bin/sh", argv[argv.index("--entrypoint") + 1])
    case.nothing_left()


@test
def what_decide_gains_alone(case):
    """Another directory and another program, in both parts of the plan: all is as it says."""
    case.use_fake()
    there = os.stat("/etc")
    label = json.dumps([{"path": "/etc", "mode": "ro"}, {"path": case.workspace, "mode": "rw"}],
                       separators=(",", ":"))
    install(case, decide=(
        "argv", RO, "instead", RO + "/etc,target=/broker" + END, "also", "field", "path0", "/etc",
        "also", "field", "dev0", str(there.st_dev), "also", "field", "ino0", str(there.st_ino),
        "also", "argv", "dev.cofferdam.roots=", "instead", "dev.cofferdam.roots=" + label, "also",
        "field", "roots_label", label, "also", "argv", "/worker", "instead", "/bin/sh", "also",
        "field", "entrypoint", "/bin/sh"))
    case.expect(case.run(), 0, out=HELLO)
    argv = case.calls("create")[0]["argv"]
    holds("it mounts what the config does not", RO + "/etc,target=/broker" + END in argv, argv)
    for pair in (("--network", "none"), ("--cap-drop", "ALL"), ("--log-driver", "none"),
                 ("--security-opt", "no-new-privileges:true"), ("--ipc", "private")):
        equal("%s %s stands all the same" % pair, 1, list(zip(argv, argv[1:])).count(pair))
    case.nothing_left()


@test
def decide_alone_does_not_gain_that(case):
    case.use_fake()
    install(case, decide=("argv", "/worker", "instead", "/bin/sh"))
    result = case.run()
    holds("verify refuses", result.status in (69, 77), (result.status, result.err))
    equal("the worker ran", False, case.worker_ran())
    case.nothing_left()


@test
def the_truth_works(case):
    """The same installation, and nobody lies."""
    case.use_fake()
    install(case, decide=("at", "never", "exit", "1"))
    case.expect(case.run(), 0, out=HELLO)
    case.nothing_left()


if __name__ == "__main__":
    if os.getuid() != 0:
        sys.exit("test_hostile.py: run as root: every case runs as a user of its own")
    for needed in (PROGRAMS + "/cofferdam", PROGRAMS + "/cofferdam-policy", HOSTILE):
        if not os.path.exists(needed):
            sys.exit("test_hostile.py: %s is not built" % needed)
    try:
        main(make_tree, jobs=16)
    finally:
        print("# lies: " + ", ".join("%s %d" % item for item in COUNTS.items()), flush=True)

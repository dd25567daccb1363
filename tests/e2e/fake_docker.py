# SPDX-License-Identifier: ISC
"""A docker command line client that talks to no engine.

A few lines that call main() are installed as "docker" in a directory of root's.  Its environment
is empty when cofferdam starts it, so it finds its orders in the file "scenario" beside itself, as
marshal writes them:

  home    a directory that it may write: containers, log, lock, the worker's stdin
  image   what `image inspect` answers; null: there is no such image
  doctor  what --version, version and info answer: DOCTOR below, with these changes
  worker  how `container start` behaves: stdout (or [text, times]), stderr, exit, oom,
          seconds, hang, endless (writes for ever), deaf (does not read stdin;
          "close": closes it), leaves (a process that keeps its descriptors),
          echo (replies with its stdin's digest)
  rules   [{on: CLASS, nth: N (absent: every), ...}], the first that matches:
            signal_parent [number, "before" | "after"]   effect false: the engine does nothing
            say TEXT on stderr     out TEXT as stdout     exit N       die SIGNAL
            hang "before" | "after" (stubborn: SIGTERM does nothing)
            flood N, flood_err N bytes      late SECONDS: the engine acts after we are gone
            swap [PATH, LINK-TARGET | null]: PATH becomes another directory, or a link
            lie {"A.B": value}: members of `container inspect`        vanish: it is gone
            cut: half of stdout     twice: stdout twice     shell TEXT: for /bin/sh, at first
            policy [COMMAND, SIGNAL]: to that policy process, once it is there
            pad N: stdout is filled up with blanks to so many bytes    sleep SECONDS, at last
            hold SECONDS: a child of ours keeps our descriptors for so long
            foreign: afterwards each container is somebody else's, with its name

Containers live in home/engine; create, ls, inspect, start and rm behave as the real
client's do, warts included.  Every call is logged: argv, environment, descriptors, ids, signals.
Of some ten thousand calls half of what they cost is what they import: hence the C halves of json
and signal, which need neither re nor enum.
"""

import _signal as signal
import fcntl
import marshal
import os
import sys
import time
from _json import encode_basestring as quoted

HERE = os.path.dirname(os.path.abspath(sys.argv[0]))

# Flags of `container create` that take a value, and where it goes.
VALUE = ("--pull --name --label --runtime --network --cap-drop --security-opt --user --memory "
         "--memory-swap --cpus --pids-limit --ulimit --shm-size --ipc --cgroupns --log-driver "
         "--restart --tmpfs --mount --env --workdir --entrypoint").split()
SWITCH = "--init=true --init=false --interactive --read-only --no-healthcheck".split()

# An engine that has all that a launch needs: the lines that doctor asks `version` and `info` for.
DOCTOR = {
    "program": "Docker version 28.2.2, build e6534b4",
    "client": "28.2.2", "client_api": "1.50", "server": "20.10.24+dfsg1", "api": "1.41",
    "parts": "Engine containerd runc docker-init ",
    "system": "linux, Debian GNU/Linux 12 (bookworm)", "root": "/var/lib/docker",
    "security": "name=apparmor name=seccomp,profile=default ", "cgroup": "version 2, systemd",
    "memory": "MemoryLimit=true", "swap": "SwapLimit=true", "cpu": "CpuCfsQuota=true",
    "pids": "PidsLimit=true", "warnings": "none",
}

MASKED = ["/proc/asound", "/proc/acpi", "/proc/kcore", "/proc/keys", "/proc/latency_stats",
          "/proc/timer_list", "/proc/timer_stats", "/proc/sched_debug", "/proc/scsi",
          "/sys/firmware"]
READONLY = ["/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"]


class Refusal(Exception):
    def __init__(self, status, text):
        super().__init__(text)
        self.status = status


def load(path):
    with open(path, "rb") as file:
        return marshal.load(file)


def save(path, value):
    """The whole file at once: somebody may be reading it."""
    with open(path + ".new", "wb") as file:
        marshal.dump(value, file)
    os.rename(path + ".new", path)


class Store:
    """The engine's memory, one file; every change under a lock."""

    def __init__(self, home):
        self.home = home
        self.lock = os.open(home + "/lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def __enter__(self):
        fcntl.flock(self.lock, fcntl.LOCK_EX)
        try:
            self.all = load(self.home + "/engine")
        except FileNotFoundError:
            self.all = {"containers": {}, "calls": {}}
        return self.all

    def __exit__(self, kind, value, trace):
        if kind is None:
            save(self.home + "/engine", self.all)
        fcntl.flock(self.lock, fcntl.LOCK_UN)


def process_facts():
    fds = {}
    for name in sorted(os.listdir("/proc/self/fd"), key=int):
        try:
            fds[name] = os.readlink("/proc/self/fd/" + name)
        except OSError:
            pass  # the descriptor of the listing itself
    with open("/proc/self/environ", "rb") as file:
        environ = file.read().decode("latin-1").split("\0")[:-1]
    with open("/proc/self/status") as file:
        status = dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
    return {"environ": environ, "fds": fds, "pid": os.getpid(), "ppid": os.getppid(),
            "pgid": os.getpgid(0), "sid": os.getsid(0), "cwd": os.getcwd(),
            "blocked": status["SigBlk"], "ignored": status["SigIgn"],
            "nnp": status["NoNewPrivs"], "umask": status.get("Umask", "").strip()}


def write_all(fd, data):
    while data:
        data = data[os.write(fd, data):]


def flood(fd, count):
    block = b"x" * 65536
    try:
        while count > 0:
            count -= os.write(fd, block[:count])
    except OSError:
        pass


# --- classes -----------------------------------------------------------------

def classify(words):
    """(class, arguments after the command words); the host option is dropped."""
    if words == ["--version"]:
        return "program", []
    while words and words[0].startswith("-"):
        words = words[2:] if words[0] in ("--host", "-H", "--config") else words[1:]
    head = tuple(words[:2])
    rest = words[2:]
    text = " ".join(rest)
    if head == ("container", "ls"):
        if "dev.cofferdam.roots" in text:
            return "admit", rest
        if "dev.cofferdam.revision" in text:
            return "ps", rest
        if "--format" in rest:
            return "ours", rest
        return ("find" if "label=dev.cofferdam.run=" in text else "ls"), rest
    if head == ("container", "inspect"):
        return ("verify" if "{{json .}}" in rest else "result"), rest
    if head and head[0] in ("version", "info"):
        return head[0], words[1:]
    if head == ("image", "inspect") and "{{json .}}" not in rest:
        return "image-lines", rest
    names = {("container", "create"): "create", ("container", "start"): "start",
             ("container", "rm"): "rm", ("image", "inspect"): "image",
             ("context", "inspect"): "context"}
    return names.get(head, "other"), rest


def options(words, value, switch):
    """[(flag, value)], operands.  As the client's flag parser: --a=b or --a b."""
    found = []
    index = 0
    while index < len(words) and words[index].startswith("-"):
        word = words[index]
        flag, equals, inline = word.partition("=")
        if word in switch or flag in switch and not equals:
            found.append((word, None))
        elif flag in value and equals:
            found.append((flag, inline))
        elif flag in value and index + 1 < len(words):
            index += 1
            found.append((flag, words[index]))
        else:
            raise Refusal(125, "unknown flag: " + word)
        index += 1
    return found, words[index:]


# --- create ------------------------------------------------------------------

def csv(text):
    """One CSV record without quotes; a newline ends it, as in the client."""
    return dict((part.partition("=")[0], part.partition("=")[2])
                for part in text.split("\n")[0].split(","))


def host_config(one, many):
    mounts, limits, tmpfs = [], [], {}
    for text in many("--mount"):
        mount = csv(text)
        item = {"Type": mount["type"], "Source": mount["source"], "Target": mount["target"]}
        if "readonly" in mount:
            item["ReadOnly"] = True
        if "bind-propagation" in mount:
            item["BindOptions"] = {"Propagation": mount["bind-propagation"]}
        mounts.append(item)
    for text in many("--ulimit"):
        name, _, figures = text.partition("=")
        soft, _, hard = figures.partition(":")
        limits.append({"Name": name, "Hard": int(hard or soft), "Soft": int(soft)})
    for text in many("--tmpfs"):
        path, _, rest = text.partition(":")
        tmpfs[path] = rest
    config = {
        "Binds": None, "ContainerIDFile": "", "LogConfig": {"Type": one("--log-driver", "json-file"),
                                                            "Config": {}},
        "NetworkMode": one("--network", "default"), "PortBindings": {},
        "RestartPolicy": {"Name": one("--restart", "no"), "MaximumRetryCount": 0},
        "AutoRemove": False, "VolumeDriver": "", "VolumesFrom": None, "CapAdd": None,
        "CapDrop": many("--cap-drop") or None, "CgroupnsMode": one("--cgroupns", "host"),
        "Dns": [], "DnsOptions": [], "DnsSearch": [], "ExtraHosts": None, "GroupAdd": None,
        "IpcMode": one("--ipc", "private"), "Cgroup": "", "Links": None, "OomScoreAdj": 0,
        "PidMode": "", "Privileged": False, "PublishAllPorts": False,
        "ReadonlyRootfs": one("--read-only", None) is not None,
        "SecurityOpt": many("--security-opt") or None, "UTSMode": "", "UsernsMode": "",
        "ShmSize": int(one("--shm-size", "67108864")), "Runtime": one("--runtime", "runc"),
        "ConsoleSize": [0, 0], "Isolation": "", "CpuShares": 0,
        "Memory": int(one("--memory", "0")),
        "NanoCpus": round(float(one("--cpus", "0")) * 1e9), "CgroupParent": "", "BlkioWeight": 0,
        "BlkioWeightDevice": [], "BlkioDeviceReadBps": None, "BlkioDeviceWriteBps": None,
        "BlkioDeviceReadIOps": None, "BlkioDeviceWriteIOps": None, "CpuPeriod": 0, "CpuQuota": 0,
        "CpuRealtimePeriod": 0, "CpuRealtimeRuntime": 0, "CpusetCpus": "", "CpusetMems": "",
        "Devices": [], "DeviceCgroupRules": None, "DeviceRequests": None, "KernelMemory": 0,
        "KernelMemoryTCP": 0, "MemoryReservation": 0,
        "MemorySwap": int(one("--memory-swap", "0")), "MemorySwappiness": None,
        "OomKillDisable": False, "PidsLimit": int(one("--pids-limit", "0")) or None,
        "Ulimits": limits or None, "CpuCount": 0, "CpuPercent": 0, "IOMaximumIOps": 0,
        "IOMaximumBandwidth": 0, "MaskedPaths": MASKED, "ReadonlyPaths": READONLY,
    }
    if tmpfs:
        config["Tmpfs"] = tmpfs
    if mounts:
        config["Mounts"] = mounts
    for flag in ("--init=true", "--init=false"):
        if one(flag, None) is not None:
            config["Init"] = flag.endswith("true")
    return config


def document(ident, found, image, command):
    def many(flag):
        return [value if value is not None else flag for name, value in found if name == flag]

    def one(flag, default):
        return (many(flag) or [default])[-1]

    host = host_config(one, many)
    of_image = image.get("Config") or {}
    env = many("--env")
    have = {item.partition("=")[0] for item in env}
    env += [item for item in of_image.get("Env") or [] if item.partition("=")[0] not in have]
    labels = dict(of_image.get("Labels") or {})
    labels.update(item.partition("=")[::2] for item in many("--label"))
    entrypoint = many("--entrypoint") or of_image.get("Entrypoint")
    if not command and not many("--entrypoint"):
        command = of_image.get("Cmd") or []
    words = list(entrypoint or []) + list(command)
    return {
        "Id": ident, "Created": stamp(), "Path": (words or [""])[0], "Args": words[1:],
        "State": {"Status": "created", "Running": False, "Paused": False, "Restarting": False,
                  "OOMKilled": False, "Dead": False, "Pid": 0, "ExitCode": 0, "Error": "",
                  "StartedAt": "0001-01-01T00:00:00Z", "FinishedAt": "0001-01-01T00:00:00Z"},
        "Image": image["Id"], "ResolvConfPath": "", "HostnamePath": "", "HostsPath": "",
        "LogPath": "", "Name": "/" + one("--name", "nameless_" + ident[:8]), "RestartCount": 0,
        "Driver": "overlay2", "Platform": "linux", "MountLabel": "", "ProcessLabel": "",
        "AppArmorProfile": "", "ExecIDs": None, "HostConfig": host,
        "GraphDriver": {"Data": {"MergedDir": "/var/lib/docker/overlay2/x/merged"},
                        "Name": "overlay2"},
        "Mounts": [{"Type": "bind", "Source": item["Source"], "Destination": item["Target"],
                    "Mode": "", "RW": not item.get("ReadOnly", False),
                    "Propagation": item.get("BindOptions", {}).get("Propagation", "rprivate")}
                   for item in host.get("Mounts", [])],
        "Config": {"Hostname": ident[:12], "Domainname": "", "User": one("--user", ""),
                   "AttachStdin": True, "AttachStdout": True, "AttachStderr": True, "Tty": False,
                   "OpenStdin": one("--interactive", None) is not None, "StdinOnce": True,
                   "Env": env, "Cmd": list(command) or None,
                   "Image": image["Id"], "Volumes": None, "WorkingDir": one("--workdir", ""),
                   "Entrypoint": entrypoint, "OnBuild": None, "Labels": labels,
                   **({"Healthcheck": {"Test": ["NONE"]}}
                      if one("--no-healthcheck", None) is not None else {})},
        "NetworkSettings": {"Bridge": "", "SandboxID": "", "Ports": {}, "SandboxKey": "",
                            "Networks": {"none": {"IPAMConfig": None, "Links": None,
                                                  "Aliases": None, "NetworkID": "",
                                                  "EndpointID": "", "Gateway": "",
                                                  "IPAddress": "", "DriverOpts": None}}},
    }


def stamp():
    return time.strftime("%Y-%m-%dT%H:%M:%S.000000001Z", time.gmtime())


def create(fake, words):
    found, operands = options(words, VALUE, SWITCH)
    if not operands:
        raise Refusal(125, '"docker create" requires at least 1 argument.')
    image = fake.orders.get("image")
    if not image or operands[0] not in [image["Id"]] + image.get("RepoTags", []):
        raise Refusal(1, "Error: No such image: " + operands[0])
    made = document(os.urandom(32).hex(), found, image, operands[1:])
    with fake.store as state:
        for other in state["containers"].values():
            if other["Name"] == made["Name"]:
                raise Refusal(1, 'Error response from daemon: Conflict. The container name "%s" '
                                 'is already in use by container "%s".'
                              % (made["Name"], other["Id"]))
        state["containers"][made["Id"]] = made
    return made["Id"] + "\n"


# --- the other commands ------------------------------------------------------

def find(state, name):
    for ident, item in state["containers"].items():
        if ident == name or item["Name"] == "/" + name or len(name) >= 12 and ident.startswith(name):
            return item
    return None


def row(item):
    """What `container ls` knows of a container."""
    labels = item["Config"]["Labels"]
    return {"ID": item["Id"], "Names": item["Name"][1:], "State": item["State"]["Status"],
            "Status": item["State"]["Status"].capitalize(), "Image": item["Config"]["Image"],
            "Labels": ",".join(key + "=" + value for key, value in labels.items()),
            "Mounts": ",".join(mount["Source"] for mount in item["Mounts"]),
            "CreatedAt": item["Created"], "Networks": "none", "Label": labels}


def passes(item, text):
    key, _, value = text.partition("=")
    if key == "id":
        return item["Id"].startswith(value)
    if key == "name":
        return value.strip("^$").lstrip("/") in item["Name"]
    if key == "label":
        label, equals, wanted = value.partition("=")
        labels = item["Config"]["Labels"]
        return label in labels and (not equals or labels[label] == wanted)
    raise Refusal(1, "Error response from daemon: invalid filter '%s'" % key)


def ls(fake, words):
    found, _ = options(words, ["--filter", "--format"], ["--all", "--no-trunc", "--quiet", "-a"])
    flags = [name for name, _ in found]
    format_ = ([value for name, value in found if name == "--format"] or ["{{.ID}}"])[-1]
    with fake.store as state:
        rows = [item for item in state["containers"].values()
                if all(passes(item, value) for name, value in found if name == "--filter")
                and ("--all" in flags or "-a" in flags or item["State"]["Running"])]
    return "".join(expand(format_, row(item)) + "\n" for item in rows)


def inspect(fake, words):
    found, operands = options(words, ["--format", "--type"], [])
    format_ = dict(found)["--format"]
    with fake.store as state:
        item = find(state, operands[0])
    if item is None:
        write_all(1, b"\n")
        raise Refusal(1, "Error: No such container: " + operands[0])
    for path, value in (fake.rule.get("lie") or {}).items():
        *parents, last = path.split(".")
        inner = item
        for name in parents:
            inner = inner[int(name) if isinstance(inner, list) else name]
        inner[int(last) if isinstance(inner, list) else last] = value
    return expand(format_, item) + "\n"


def image_inspect(fake, words):
    found, operands = options(words, ["--format"], [])
    image = fake.orders.get("image")
    if not image or operands[0] not in [image["Id"]] + image.get("RepoTags", []):
        write_all(1, b"\n")
        raise Refusal(1, "Error: No such image: " + operands[0])
    return expand(dict(found)["--format"], image) + "\n"


def image_lines(fake, words):
    _, operands = options(words, ["--format"], [])
    image_inspect(fake, ["--format", "", *operands])
    image = fake.orders["image"]
    volumes = "VOLUME" if (image.get("Config") or {}).get("Volumes") else ""
    return "\n".join([image["Id"], image["Os"], volumes]) + "\n"


def lines(*names):
    """What doctor's templates make of an engine; test_engine.py tries the templates themselves."""
    def answer(fake, _):
        said = dict(DOCTOR, **fake.orders.get("doctor", {}))
        return "\n".join(said[name] for name in names) + "\n"
    return answer


def context(fake, words):
    found, _ = options(words, ["--format"], [])
    return expand(dict(found)["--format"],
                  {"Endpoints": {"docker": {"Host": fake.orders.get("context", "")}}}) + "\n"


def remove(fake, words):
    _, operands = options(words, [], ["--force", "--volumes"])
    with fake.store as state:
        item = find(state, operands[0])
        if item is None:
            # Exit status 0 all the same: measured on both clients.
            write_all(2, ("Error: No such container: %s\n" % operands[0]).encode())
            return ""
        del state["containers"][item["Id"]]
    return operands[0] + "\n"


def read_stdin(fake):
    data = b""
    while True:
        block = os.read(0, 65536)
        if not block:
            break
        data += block
    with open(fake.home + "/stdin", "wb") as file:
        file.write(data)
    return data


def set_state(fake, ident, **change):
    with fake.store as state:
        item = find(state, ident)
        if item is not None:
            item["State"].update(change)


def start(fake, words):
    _, operands = options(words, [], ["--attach", "--interactive"])
    with fake.store as state:
        item = find(state, operands[0])
    if item is None:
        raise Refusal(1, "Error: No such container: " + operands[0])
    worker = fake.orders.get("worker", {})
    if worker.get("start_fails"):
        set_state(fake, item["Id"], ExitCode=127, Error=worker["start_fails"])
        raise Refusal(1, "Error response from daemon: " + worker["start_fails"])
    set_state(fake, item["Id"], Status="running", Running=True, Pid=os.getpid(), StartedAt=stamp())
    open(fake.home + "/worker-ran", "w").close()
    if worker.get("deaf") == "close":
        os.close(0)
    data = b"" if worker.get("deaf") else read_stdin(fake)
    if worker.get("leaves") and os.fork() == 0:
        time.sleep(3600)
    if worker.get("stderr"):
        text, times = pair(worker["stderr"])
        write_all(2, text.encode("latin-1") * times)
    text, times = pair(worker.get("stdout", '{"ok":true,"text":"hello"}\n'))
    if worker.get("echo"):
        import hashlib
        text = '{"ok":true,"text":"%d %s"}' % (len(data), hashlib.sha256(data).hexdigest())
    try:
        write_all(1, text.encode("latin-1") * times)
    except BrokenPipeError:
        pass
    while worker.get("endless"):
        write_all(1, b"x" * 65536)
    time.sleep(worker.get("seconds", 0))
    while worker.get("hang"):
        time.sleep(0.1)
        with fake.store as state:
            if find(state, item["Id"]) is None:
                raise Refusal(137, "")
    status = worker.get("exit", 0)
    set_state(fake, item["Id"], Status="exited", Running=False, Pid=0, ExitCode=status,
              OOMKilled=bool(worker.get("oom")), FinishedAt=stamp())
    if status:
        raise Refusal(status, "")
    return ""


def pair(recipe):
    return (recipe, 1) if isinstance(recipe, str) else (recipe[0], recipe[1])


# --- Go templates, as far as they are used -----------------------------------

def lookup(expression, data):
    expression = expression.strip()
    if expression.startswith("(") and expression.endswith(")"):
        expression = expression[1:-1].strip()
    if expression.startswith(".Label "):
        return data["Label"].get(expression[7:].strip('"'), "")
    if expression.startswith("index "):
        _, path, key = expression.split(" ", 2)
        return (lookup(path, data) or {}).get(key.strip('"'))
    for name in expression.split("."):
        if name:
            data = data.get(name) if isinstance(data, dict) else None
    return data


def as_json(value):
    """As Go's encoding/json: no blanks, and < > & escaped."""
    if isinstance(value, dict):
        return "{" + ",".join(as_json(k) + ":" + as_json(value[k]) for k in value) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(map(as_json, value)) + "]"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if not isinstance(value, str):
        return str(value)
    text = quoted(value)
    for char in "<>&\u2028\u2029":
        text = text.replace(char, "\\u%04x" % ord(char))
    return text


def expand(template, data):
    out, rest = "", template
    while "{{" in rest:
        literal, _, rest = rest.partition("{{")
        action, _, rest = rest.partition("}}")
        action = action.strip()
        if action.startswith("json "):
            out += literal + as_json(lookup(action[5:], data))
            continue
        value = lookup(action, data)
        if isinstance(value, bool):
            value = "true" if value else "false"
        out += literal + ("<no value>" if value is None else str(value))
    return out + rest


# --- one call ----------------------------------------------------------------

COMMANDS = {"create": create, "admit": ls, "ls": ls, "find": ls, "ours": ls, "ps": ls,
            "verify": inspect, "result": inspect, "start": start, "rm": remove,
            "image": image_inspect, "image-lines": image_lines, "context": context,
            "program": lines("program"),
            "version": lines("client", "client_api", "server", "api", "parts"),
            "info": lines("system", "root", "security", "cgroup", "memory", "swap", "cpu", "pids",
                          "warnings")}


def policies(command):
    """The processes of this user that are this policy command."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/status" % name) as file:
                ours = "\nUid:\t%d\t" % os.getuid() in file.read()
            with open("/proc/%s/cmdline" % name, "rb") as file:
                words = file.read().split(b"\0")
        except OSError:
            continue  # it has ended
        if ours and words[:2] == [b"cofferdam-policy", command.encode()]:
            found.append(int(name))
    return found


class Fake:
    def __init__(self):
        self.orders = load(HERE + "/scenario")
        self.home = self.orders["home"]
        self.facts = process_facts()
        self.store = Store(self.home)
        self.rule = {}

    def log(self, kind, nth):
        entry = dict(self.facts, kind=kind, nth=nth, argv=sys.argv[1:])
        fd = os.open(self.home + "/log", os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC,
                     0o600)
        os.write(fd, marshal.dumps(entry))
        os.close(fd)

    def choose(self, kind):
        with self.store as state:
            nth = state["calls"][kind] = state["calls"].get(kind, 0) + 1
        self.log(kind, nth)
        for rule in self.orders.get("rules", []):
            if rule["on"] in (kind, "*") and rule.get("nth", nth) == nth:
                self.rule = rule
                return

    def tell_parent(self, when):
        number, moment = self.rule.get("signal_parent", (0, ""))
        if moment == when:
            os.kill(os.getppid(), number)

    def hang(self, when):
        if self.rule.get("hang") != when:
            return
        if self.rule.get("stubborn"):
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        while True:
            time.sleep(3600)

    def swap(self):
        if "swap" in self.rule:
            path, target = self.rule["swap"]
            os.rename(path, path + ".was")
            if target is None:
                os.mkdir(path)
            else:
                os.symlink(target, path)

    def vanish(self):
        if self.rule.get("vanish"):
            with self.store as state:
                state["containers"].clear()

    def foreign(self):
        if self.rule.get("foreign"):
            with self.store as state:
                for item in list(state["containers"].values()):
                    del state["containers"][item["Id"]]
                    item["Id"] = os.urandom(32).hex()
                    item["Config"]["Labels"] = {}
                    state["containers"][item["Id"]] = item

    def hold(self):
        if "hold" in self.rule and os.fork() == 0:
            time.sleep(self.rule["hold"])
            os._exit(0)

    def shell(self):
        script = "set -e; exec </dev/null >/dev/null; " + self.rule.get("shell", "")
        if "shell" in self.rule and os.system(script) != 0:
            raise SystemExit("the rule's script failed: " + script)

    def signal_policy(self):
        if "policy" not in self.rule:
            return
        command, number = self.rule["policy"]
        while not (found := policies(command)):
            time.sleep(0.01)  # the executor starts it beside us
        for pid in found:
            os.kill(pid, number)

    def act(self, kind, words):
        if self.rule.get("effect") is False:
            return ""
        if "late" in self.rule:
            self.act_later(kind, words)
            return ""
        return COMMANDS[kind](self, words)

    def act_later(self, kind, words):
        """An engine that carries a request out after its client has gone."""
        ready, tell = os.pipe()
        if os.fork() == 0:
            os.setsid()  # before we end: our process group is killed then
            os.close(ready)
            os.close(tell)
            null = os.open("/dev/null", os.O_RDWR)
            for fd in (0, 1, 2):
                os.dup2(null, fd)
            time.sleep(self.rule["late"])
            COMMANDS[kind](self, words)
            os._exit(0)
        os.close(tell)
        os.read(ready, 1)

    def output(self, out):
        out = self.rule.get("out", out)
        if self.rule.get("cut"):
            out = out[:len(out) // 2]
        return out * 2 if self.rule.get("twice") else out

    def run(self):
        kind, words = classify(sys.argv[1:])
        self.choose(kind)
        self.tell_parent("before")
        self.hang("before")
        self.swap()
        self.vanish()
        self.shell()
        self.signal_policy()
        status, out, say = 0, "", ""
        try:
            if kind not in COMMANDS:
                raise Refusal(125, "docker: no such command here: " + " ".join(sys.argv[1:]))
            out = self.act(kind, words)
        except Refusal as refusal:
            status = refusal.status
            say = str(refusal) and str(refusal) + "\n"
        self.tell_parent("after")
        self.foreign()
        self.hold()
        flood(1, self.rule.get("flood", 0))
        flood(2, self.rule.get("flood_err", 0))
        write_all(2, self.rule.get("say", say).encode("latin-1"))
        try:
            out = self.output(out).ljust(self.rule.get("pad", 0))
            write_all(1, out.encode("utf-8", "surrogateescape"))
        except BrokenPipeError:
            status = 1
        self.hang("after")
        time.sleep(self.rule.get("sleep", 0))
        if "die" in self.rule:
            if self.rule["die"] not in (signal.SIGKILL, signal.SIGSTOP):
                signal.signal(self.rule["die"], signal.SIG_DFL)  # Python ignores SIGPIPE
            os.kill(os.getpid(), self.rule["die"])
            time.sleep(3600)
        return self.rule.get("exit", status)


def main():
    os._exit(Fake().run())

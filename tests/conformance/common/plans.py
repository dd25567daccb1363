# SPDX-License-Identifier: ISC
"""A launch as the tests describe it: its plan (a LAUNCH frame), and what docker would say of the
container: its line of the list (ADMIT_FORMAT) and its inspect document."""

import json
import pathlib
import subprocess

TREE = pathlib.Path(__file__).resolve().parent.parent.parent.parent
POLICY = str(TREE / "cofferdam-policy")
PLAN_TOOL = str(TREE / "build/tests/conformance/plan")

STATE = "0123456789abcdef0123456789abcdef"
NONCE = "00112233445566778899aabbccddeeff"
CONTAINER = "83c3ec49a73a24608dbf11713d102a2e4a75bfa72f4f454ddb313f00877ae5a4"
IMAGE = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
MASKED = """/proc/asound /proc/acpi /proc/kcore /proc/keys /proc/latency_stats /proc/timer_list
    /proc/timer_stats /proc/sched_debug /proc/scsi /sys/firmware""".split()
READ_ONLY = "/proc/bus /proc/fs /proc/irq /proc/sys /proc/sysrq-trigger".split()

FIELDS = {
    "mode": "session", "uid": 1501, "gid": 1501, "init": "true", "state_id": STATE,
    "nonce": NONCE, "name": "cofferdam-test", "endpoint": "unix:///run/docker.sock",
    "session": "s-1", "revision": 1, "image_id": IMAGE, "workdir": "/workspace",
    "entrypoint": "/usr/local/bin/bun", "memory_bytes": 536870912, "nano_cpus": 1000000000,
    "pids": 64, "nofile": 256, "tmpfs_bytes": 67108864, "shm_bytes": 67108864,
    "turn_bytes": 262144, "lock_seconds": 30, "control_seconds": 30, "remove_seconds": 60,
}


class Root:
    def __init__(self, path, guest, mode, is_file=False, identity=(0, 0)):
        self.path, self.guest, self.mode, self.is_file = path, guest, mode, is_file
        self.dev, self.ino = identity


class Plan:
    def __init__(self, roots, command=(), **fields):
        self.roots = roots
        self.command = list(command)
        self.fields = dict(FIELDS, **fields)

    def label(self):
        return json.dumps([{"path": root.path, "mode": root.mode} for root in self.roots],
                          separators=(",", ":"))

    def text(self):
        lines = ["%s\t%s" % field for field in self.fields.items()]
        lines += ["roots_label\t" + self.label(), "env\tHOME=/tmp/home"]
        lines += ["command\t" + word for word in self.command]
        lines += ["\t".join(("root", root.mode, "file" if root.is_file else "dir", root.path,
                             root.guest, str(root.dev), str(root.ino))) for root in self.roots]
        return "\n".join(lines) + "\n"

    def write(self, tool, path):
        frame = subprocess.run([tool, "launch"], input=self.text().encode(), stdout=subprocess.PIPE,
                               check=True).stdout
        pathlib.Path(path).write_bytes(frame)

    def line(self):
        """What ADMIT_FORMAT prints of our own container."""
        return [CONTAINER, self.fields["state_id"], self.fields["nonce"], self.fields["mode"],
                self.label(), ",".join(root.path for root in self.roots)]

    def labels(self):
        names = {"state": "state_id", "run": "nonce", "mode": "mode", "session": "session",
                 "revision": "revision"}
        labels = {"dev.cofferdam." + label: str(self.fields[field])
                  for label, field in names.items()}
        labels["dev.cofferdam.roots"] = self.label()
        return labels

    def host_config(self):
        fields = self.fields
        return {
            "Memory": fields["memory_bytes"], "MemorySwap": fields["memory_bytes"],
            "NanoCpus": fields["nano_cpus"], "PidsLimit": fields["pids"],
            "ShmSize": fields["shm_bytes"], "Init": fields["init"] == "true",
            "Ulimits": [{"Name": "nofile", "Hard": fields["nofile"], "Soft": fields["nofile"]}],
            "Tmpfs": {"/tmp": "rw,noexec,nosuid,nodev,size=%d,mode=1777" % fields["tmpfs_bytes"]},
            "Mounts": [{"Type": "bind", "Source": root.path, "Target": root.guest,
                        "ReadOnly": root.mode == "ro",
                        "BindOptions": {"Propagation": "rprivate"}} for root in self.roots],
            "Runtime": "runc", "MaskedPaths": MASKED, "ReadonlyPaths": READ_ONLY,
            "NetworkMode": "none", "ReadonlyRootfs": True, "Privileged": False,
            "CapDrop": ["ALL"], "CapAdd": None, "SecurityOpt": ["no-new-privileges:true"],
            "IpcMode": "private", "CgroupnsMode": "private", "PidMode": "", "UTSMode": "",
            "UsernsMode": "", "OomKillDisable": False, "LogConfig": {"Type": "none", "Config": {}},
            "RestartPolicy": {"Name": "no", "MaximumRetryCount": 0},
        }

    def inspected(self):
        """What `docker container inspect` says of our own container."""
        fields = self.fields
        user = "%d:%d" % (fields["uid"], fields["gid"])
        return {
            "Id": CONTAINER, "Image": fields["image_id"], "Name": "/" + fields["name"],
            "Platform": "linux", "Path": fields["entrypoint"], "Args": self.command,
            "AppArmorProfile": "", "State": {"Status": "created", "Running": False},
            "Mounts": [{"Type": "bind", "Source": root.path, "Destination": root.guest,
                        "Mode": "", "RW": root.mode == "rw", "Propagation": "rprivate"}
                       for root in self.roots],
            "NetworkSettings": {"Networks": {"none": {}}},
            "Config": {"User": user, "Tty": False, "OpenStdin": True, "Env": ["HOME=/tmp/home"],
                       "Entrypoint": [fields["entrypoint"]], "Cmd": self.command or None,
                       "Image": fields["image_id"], "WorkingDir": fields["workdir"],
                       "Labels": self.labels(), "Volumes": None,
                       "Healthcheck": {"Test": ["NONE"]}},
            "HostConfig": self.host_config(),
        }


def with_plan(policy, command, plan_path, data):
    """Runs a filter that finds its plan at descriptor 3."""
    return subprocess.run(["sh", "-c", 'exec 3<"$0"; exec "$@"', str(plan_path), *policy, command,
                           "--json"], input=data, capture_output=True, timeout=60, check=False)

#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Compares the argv that cofferdam-policy freezes with the reference's.

Each vector is the spec of one launch, and the `docker run` words that the
TypeScript reference made of it, or the class of its refusal.  The spec becomes
a config for `cofferdam-policy argv --offline`, its numbers as they are written
in the vector.  Both must accept or both refuse, ours for a reason of the same
family; and every flag and value of the reference must stand in ours.  What
differs on purpose is a row of differences.tsv.

outcome of a row:  refuse REASON...  refused, for these reasons only
                   canonical         the same path, written canonically
                   absent FLAG       the flag has no counterpart in ours
"""

import argparse
import concurrent.futures
import decimal
import json
import pathlib
import posixpath
import re
import subprocess
import sys

from documents import Number, Object, differences, parse, tell_use, vector_lines, write

HERE = pathlib.Path(__file__).resolve().parent
MIB = 1048576
MEMORY_MIB_MAX = 1048576
CPUS_MIN, CPUS_MAX = decimal.Decimal("0.01"), decimal.Decimal(1024)
PIDS_MAX = 4194304
ID_MAX = 2147483647
PATH_BYTES, COMPONENT_BYTES, COMPONENTS = 4095, 255, 128

# Directories that are the system's: not to be mounted, nor to be held by a mount; the second
# list, nor to be mounted a part of.
SYSTEM = """/root /home /var /var/lib /var/log /var/cache /var/spool /var/tmp /run /run/user /tmp
    /opt /srv /mnt /media""".split()
SYSTEM_WHOLLY = """/proc /sys /dev /boot /etc /usr /bin /sbin /lib /lib32 /lib64 /libx32 /run/docker
    /run/containerd /var/run/docker /var/run/containerd /var/lib/docker /var/lib/containerd
    /run/docker.sock /var/run/docker.sock /run/podman/podman.sock""".split()

FAMILIES = {
    "name-image": {"name.grammar", "image.grammar", "shape.type", "shape.missing",
                   "json.surrogate"},
    "user": {"user.root", "user.range", "shape.type", "shape.missing"},
    "path": {"mount.relative", "mount.root", "mount.character"},
    "overlap": {"mount.overlap", "mount.root"},  # // and /a/.. are the root, which comes first
    "limits": {"limit.range", "limit.number"},
    "type": {"shape.type", "shape.missing"},
}


class Case:
    def __init__(self, line):
        vector = parse(line)
        self.name = vector.get("id")
        self.spec = dict(vector.get("spec"))
        self.accept = vector.get("accept")
        self.args = vector.get("args")
        self.error = vector.get("error")
        self.rows = []

    def number(self, key):
        """As written, or None where the reference takes its default."""
        value = self.spec.get(key)
        return str(value) if isinstance(value, Number) else None

    def paths(self):
        return [self.spec["runDir"], self.spec["workspaceDir"]]

    def texts(self):
        return [value for value in self.spec.values() if isinstance(value, str)]


def pairs(spec, **names):
    return Object((ours, spec[theirs]) for ours, theirs in names.items() if theirs in spec)


def memory_bytes(value):
    if isinstance(value, Number) and re.fullmatch("-?[0-9]+", value):
        return Number(int(value) * MIB)
    return value


def config(case):
    spec = {key: value for key, value in case.spec.items() if value is not None}
    limits = pairs(spec, memoryBytes="memoryMb", cpus="cpus", pids="pids")
    limits = Object((key, memory_bytes(value) if key == "memoryBytes" else value)
                    for key, value in limits)
    mounts = [Object(pairs(spec, host=key) + Object([("guest", guest), ("mode", mode)]))
              for key, guest, mode in (("runDir", "/broker", "ro"),
                                       ("workspaceDir", "/workspace", "rw"))]
    return write(Object([("version", Number(1)), ("mode", "turn")]
                        + pairs(spec, image="image", name="name")
                        + [("user", pairs(spec, uid="uid", gid="gid")), ("mounts", mounts),
                           ("limits", limits)])).encode()


# The predicates of differences.tsv.  They see specs that the reference accepted.

def plain(text):
    return text is None or re.fullmatch("0|[1-9][0-9]*", text) is not None


def plain_cpus(text):
    return text is None or re.fullmatch(r"(0|[1-9][0-9]*)(\.[0-9]{1,9})?", text) is not None


def above(text, most):
    return text is not None and plain(text) and int(text) > most


def holds(outer, inner):
    return inner == outer or inner.startswith(outer.rstrip("/") + "/")


def canonical(path):
    return posixpath.normpath("/" + path.lstrip("/"))


def encodable(case):
    return not has_lone_surrogate(case)


def has_lone_surrogate(case):
    return any(re.search("[\ud800-\udfff]", text) for text in case.texts())


def has_odd_user_number(case):
    return encodable(case) and not (plain(case.number("uid")) and plain(case.number("gid")))


def has_high_user(case):
    return encodable(case) and (above(case.number("uid"), ID_MAX)
                                or above(case.number("gid"), ID_MAX))


def has_odd_limit_number(case):
    return encodable(case) and not (
        plain(case.number("memoryMb")) and plain(case.number("pids"))
        and plain_cpus(case.number("cpus")))


def has_limit_out_of_bounds(case):
    cpus = case.number("cpus")
    return encodable(case) and (
        above(case.number("memoryMb"), MEMORY_MIB_MAX) or above(case.number("pids"), PIDS_MAX)
        or cpus is not None and plain_cpus(cpus)
        and not CPUS_MIN <= decimal.Decimal(cpus) <= CPUS_MAX)


LABEL = "[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?"
DOMAIN = r"(?:%s(?:\.%s)*|\[[0-9A-Fa-f:]+\])(?::[0-9]+)?" % (LABEL, LABEL)
COMPONENT = "[a-z0-9]+(?:(?:[.]|__?|-+)[a-z0-9]+)*"
IMAGE_NAME = "(?:%s/)?%s(?:/%s)*" % (DOMAIN, COMPONENT, COMPONENT)
REFERENCE = re.compile(r"(%s)(?::[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(?:@%s)?" % (
    IMAGE_NAME, "[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9A-Fa-f]{32,}"))


def has_odd_image(case):
    image = case.spec["image"]
    found = REFERENCE.fullmatch(image)
    return encodable(case) and not (
        re.fullmatch("sha256:[0-9a-f]{64}", image)
        or found and len(found[1]) <= 255 and len(image) <= 512
        and not re.fullmatch("[0-9a-f]{64}", image))


def has_odd_path_character(case):
    return encodable(case) and any(re.search('[\x00-\x1f\x7f"]', path) for path in case.paths())


def sound_paths(case):
    """Those that no rule about their own text refuses."""
    if not encodable(case):
        return []
    return [canonical(path) for path in case.paths()
            if not re.search('[\x00-\x1f\x7f"]', path) and canonical(path) != "/"
            and not too_long(path)]


def too_long(path):
    names = path.encode().split(b"/")
    return (len(path.encode()) > PATH_BYTES or max(map(len, names)) > COMPONENT_BYTES
            or canonical(path).count("/") > COMPONENTS)


def has_long_path(case):
    return encodable(case) and any(map(too_long, case.paths()))


def is_root_in_other_words(case):
    return encodable(case) and any(canonical(path) == "/" for path in case.paths())


def overlaps_once_canonical(case):
    sound = sound_paths(case)
    return len(sound) == 2 and (holds(*sound) or holds(*reversed(sound)))


def is_of_the_system(case):
    return any(holds(path, system) for path in sound_paths(case)
               for system in SYSTEM + SYSTEM_WHOLLY) or any(
                   holds(system, path) for path in sound_paths(case) for system in SYSTEM_WHOLLY)


def is_written_otherwise(case):
    return any(canonical(path) != path for path in case.paths())


def always(_):
    return True


PREDICATES = {function.__name__: function for function in (
    has_lone_surrogate, has_odd_user_number, has_high_user, has_odd_limit_number,
    has_limit_out_of_bounds, has_odd_image, has_odd_path_character, has_long_path,
    is_root_in_other_words, overlaps_once_canonical, is_of_the_system, is_written_otherwise,
    always)}


# The words of both programs, as flags and what they say.

SWITCHES = {"--rm", "--interactive", "--read-only", "--no-healthcheck"}
MEMORY_UNITS = {"": 1, "b": 1, "k": 1024, "m": MIB, "g": 1024 * MIB}


def size(text):
    found = re.fullmatch("([0-9]+)([bkmg]?)", text)
    return int(found[1]) * MEMORY_UNITS[found[2]]


def tmpfs(text):
    target, options = text.split(":", 1)
    options = {tuple(option.split("=", 1)) for option in options.split(",")}
    return target, frozenset(
        (option[0], size(option[1])) if option[0] == "size" else option for option in options)


def mount(text):
    names = {"src": "source", "dst": "target"}
    fields = [field.split("=", 1) for field in text.split(",")]
    return frozenset((names.get(field[0], field[0]), *field[1:]) for field in fields)


def no_new_privileges(text):
    return "no-new-privileges" if text == "no-new-privileges:true" else text


READ = {"--memory": size, "--memory-swap": size, "--shm-size": size, "--cpus": decimal.Decimal,
        "--pids-limit": int, "--tmpfs": tmpfs, "--mount": mount,
        "--security-opt": no_new_privileges}


def flags(words):
    """([(flag, value)], what follows the flags)"""
    found = []
    at = 0
    while at < len(words) and words[at].startswith("-"):
        flag, is_joined, value = words[at].partition("=")
        at += 1
        if flag in SWITCHES:
            value = True
        elif not is_joined:
            value = words[at]
            at += 1
        found.append((flag, READ[flag](value) if flag in READ else value))
    return found, words[at:]


def made_canonical(pair):
    flag, value = pair
    if flag != "--mount":
        return pair
    return flag, frozenset((field[0], canonical(field[1])) if field[0] == "source" else field
                           for field in value)


def compare(case, words):
    theirs, their_rest = flags(case.args[1:])
    ours, our_rest = flags(words[5:])
    if words[0] != "docker" or words[1] != "--host" or words[3:5] != ["container", "create"]:
        return "not docker --host … container create: %r" % words[:5]
    absent = {row.outcome.split()[1] for row in case.rows if row.outcome.startswith("absent")}
    if any(row.outcome == "canonical" for row in case.rows):
        theirs = [made_canonical(pair) for pair in theirs]
    for flag, value in theirs:
        if flag not in absent and ours.count((flag, value)) != 1:
            return "%s %r is not in ours once: %r" % (
                flag, value, [other for name, other in ours if name == flag])
        if flag in absent and any(name == flag for name, _ in ours):
            return "%s is in ours" % flag
    if our_rest != their_rest:
        return "the image: %r and not %r" % (our_rest, their_rest)
    return None


# Running and judging.

def choose_rows(case, table):
    if case.accept:
        case.rows = [row for row in table if row.applies(case)]
    refused = any(row.outcome.startswith("refuse") for row in case.rows)
    for row in case.rows:
        row.used += not refused or row.outcome.startswith("refuse")
    return case


def judge_refusal(case, done):
    if done.stdout:
        return "refused, but wrote %d bytes" % len(done.stdout)
    reasons = {json.loads(line)["reason"] for line in done.stderr.splitlines()}
    if not case.accept:
        family = FAMILIES[case.error]
        return None if reasons & family else "refused for %s, not one of %s" % (
            sorted(reasons), sorted(family))
    wanted = [set(row.outcome.split()[1:]) for row in case.rows if row.outcome.startswith("refuse")]
    if not wanted:
        return "refused: %s" % sorted(reasons)
    for row in wanted:
        if not row & reasons:
            return "refused for %s, and not for %s" % (sorted(reasons), sorted(row))
    if reasons - set.union(*wanted):
        return "refused for %s, too" % sorted(reasons - set.union(*wanted))
    return None


def judge(policy, case):
    done = subprocess.run([*policy, "argv", "--offline", "--json", "--config", "-"],
                          input=config(case), capture_output=True, timeout=60, check=False, env={})
    if done.returncode not in (0, 77, 78):
        return "exit %d: %r" % (done.returncode, done.stderr)
    if done.returncode != 0:
        return judge_refusal(case, done)
    if not case.accept:
        return "accepted; the reference refuses (%s)" % case.error
    if any(row.outcome.startswith("refuse") for row in case.rows):
        return "accepted, in spite of %s" % [row.topic for row in case.rows]
    return compare(case, json.loads(done.stdout))


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--policy", default=str(HERE.parent.parent / "cofferdam-policy"))
    options.add_argument("--vectors", type=pathlib.Path, default=HERE / "vectors")
    options = options.parse_args()
    table = differences(PREDICATES, ["argv"])
    todo = [choose_rows(Case(line), table)
            for _, line in vector_lines(options.vectors, ["run-args"])]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda case: judge(options.policy.split(), case), todo))
    problems = [(case.name, problem) for case, problem in zip(todo, results) if problem]
    for problem in problems:
        print("FAILED %s: %s" % problem)
    failed = len(problems) + tell_use(table, options.vectors == HERE / "vectors")
    if not todo:
        failed += 1
        print("FAILED no vectors in %s" % options.vectors)
    print("%d passed, %d failed" % (len(todo) - len(problems), failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

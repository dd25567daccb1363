# SPDX-License-Identifier: ISC
"""Mutation testing of policy/, ipc/ and executor/ by the unit tests (make mutants).

    mutate.py [--list] [--sample N] [FILE...]

Makes small faults in the real sources, one at a time: operators, conditions, constants,
enumerators, table entries, words of the gate's template, statements left out.  Each mutant is
compiled (one object), linked into the unit tests that run its function, the module's own test
first, and these run until one fails: killed.  Survivors are printed; one that cannot be told from
the original stands with a reason in equivalent.tsv, and a row there that is killed, or matches no
mutant, is an error.  --sample: so many, chosen by hash, the same every time.

Mutants of code that forks, kills and unlinks run as root: each run has namespaces of its own for
processes, mounts and network, a read-only file system but for small ones in memory, and bounds on
processes, memory, file size and processor time.  Processor time, not the clock, ends a mutant that
runs away; the clock only one that sleeps.
"""

import argparse
import collections
import fcntl
import functools
import hashlib
import json
import os
import re
import resource
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TREE = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(TREE, "tests", "coverage"))
sys.path.insert(0, os.path.join(TREE, "tests", "lint"))
import coverage  # noqa: E402
from rules import TOKENS, Source, functions  # noqa: E402

BUILD = os.path.join(os.environ.get("B", "build"), "mutants")
OPTIONS = "-O1 -w"
PROCESSES = 200
CPU_LEAST = 3  # seconds, and ten times what the original needs
CLOCK = 900
BYTES = 64 << 20
MEMORY = 4 << 30
HEADER = ("file", "function", "line", "mutant", "reason")

Mutant = collections.namedtuple("Mutant", "file function number start end new kind")


# --- making mutants ----------------------------------------------------------------

RELATIONS = {"==": ("!=",), "!=": ("==",), "<": ("<=", ">="), "<=": ("<", ">"),
             ">": (">=", "<="), ">=": (">", "<")}
OPERATORS = {"&&": ("||",), "||": ("&&",), "+": ("-",), "-": ("+",), "*": ("+",), "/": ("*",),
             "|": ("&",), "&": ("|",), "<<": (">>",), ">>": ("<<",), "+=": ("-=",), "-=": ("+=",),
             "|=": ("&=",), "&=": ("|=",), "^": ("|",), "%": ("/",), **RELATIONS}
BINARY = re.compile(r"(?<=[ \t])(%s)(?=\s)" % "|".join(
    sorted(map(re.escape, OPERATORS), key=len, reverse=True)))
NUMBER = re.compile(r"(?<![\w.])(\d+)([uUlL]*)(?![\w.])")
BOUND = re.compile(r"\b[A-Z][A-Z0-9_]*_(?:MAX|MIN)\b")
WORD = re.compile(r"\b[A-Za-z_]\w*\b")
CONDITION = re.compile(r"\b(?:if|while) \(")
STATEMENT = re.compile(r"(?<=[;{})e:\n])\s*\n\t+([^\s#;{}][^;{}]*;)(?=\s*\n)")
DECLARATION = re.compile(r"(?:static|const|struct|enum|unsigned|char|int|long|size_t|ssize_t|bool|"
                         r"u?int\d+_t|pid_t|uid_t|mode_t|_Static_assert|case|default|for|if|while|"
                         r"switch|do|else)\b")
# What an operand of && or || cannot hold outside parentheses.
ENDS = {name: re.compile(r"\|\||[,;?:]|(?<![=!<>])=(?!=)|\breturn\b" + more)
        for name, more in (("&&", "|&&"), ("||", ""))}
TABLE = re.compile(r"^static const (?:struct(?: \w+)? \{.*?^\})?[^;(]*?= \{[^;]*\};", re.M | re.S)
SIZED = re.compile(r"^\t*(?:static |const |struct |enum |unsigned |char |bool |size_t |u?int\d+_t |"
                   r"int |_Static_assert|\}).*?(?:=|$)", re.M)


def without_preprocessor(code):
    return re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", lambda m: re.sub(r"[^\n]", " ", m.group()),
                  code, flags=re.M)


def enumerators():
    """{name: its neighbour in the enum}, of every header and source; the last goes to the first."""
    found = {}
    for top in ("policy", "ipc", "executor"):
        for name in sorted(os.listdir(os.path.join(TREE, top))):
            if name.endswith((".c", ".h")):
                code = without_preprocessor(Source(os.path.join(TREE, top, name)).code)
                for match in re.finditer(r"\benum(?: \w+)? \{(.*?)\}", code, re.S):
                    names = re.findall(r"^\s*([A-Z]\w*)", match.group(1), re.M)
                    names = [n for n in names if not n.endswith("_COUNT")]
                    found.update(zip(names, names[1:] + names[:1]))
    with open(os.path.join(TREE, "policy/reason.h"), encoding="utf-8") as file:
        rows = ["REASON_" + row for row in re.findall(r"^X\((\w+),", file.read(), re.M)]
    found.update(zip(rows, rows[1:] + rows[:1]))
    found["REASON_NONE"] = rows[0]
    return found


class Text:
    """One source and where in it mutants may be made."""

    def __init__(self, name):
        self.name = name
        source = Source(os.path.join(TREE, name))
        self.text = source.text
        self.code = without_preprocessor(source.code)
        self.spans = []
        for function, start, _ in functions(source):
            body = self.code.index("\n{\n", start) + 2
            self.spans.append((body, self.code.index("\n}", body), function))
        for match in TABLE.finditer(self.code):
            self.spans.append((self.code.index("= {", match.start()) + 2, match.end(), ""))
        self.fixed = [match.span() for match in SIZED.finditer(self.code)]
        self.fixed = [(a, b) for a, b in self.fixed if "[" in self.code[a:b]]

    def within(self, offset):
        for start, end, function in self.spans:
            if start <= offset < end:
                return function
        return None

    def closing(self, opening):
        depth = 0
        for i in range(opening, len(self.code)):
            depth += (self.code[i] in "([{") - (self.code[i] in ")]}")
            if depth == 0:
                return i
        raise ValueError("no end: %s:%d" % (self.name, opening))

    def operand(self, offset, step, operator):
        """The far end of the operand that touches the && or || at offset."""
        ends = ENDS["&&"] if operator == "&&" else ENDS["||"]
        depth, i = 0, offset
        while 0 < i < len(self.code):
            byte = self.code[i if step > 0 else i - 1]
            depth += step * ((byte in "([{") - (byte in ")]}"))
            if depth < 0 or depth == 0 and self.ends(ends, i, step):
                break
            i += step
        return i

    def ends(self, pattern, i, step):
        if step > 0:
            return pattern.match(self.code, i)
        found = (pattern.match(self.code, i - length) for length in (1, 2, 6))
        return any(match and match.end() == i for match in found)


def operators(text, add):
    for match in BINARY.finditer(text.code):
        for new in OPERATORS[match.group()]:
            add(match.start(), match.end(), new, "operator")
    for match in re.finditer(r"(?<!; \w)(?<!; \w\w)(?:\+\+|--)", text.code):  # not a for's last
        add(match.start(), match.end(), "--" if match.group() == "++" else "++", "operator")
    for match in re.finditer(r"!(?=[\w(])", text.code):
        add(match.start(), match.end(), "", "operator")


def conditions(text, add):
    for match in CONDITION.finditer(text.code):
        end = text.closing(match.end() - 1)
        add(match.end(), end, "!(%s)" % text.text[match.end():end], "condition")
    for match in re.finditer(r"(?<=[ \t])(&&|\|\|)(?=\s)", text.code):
        new = "true" if match.group() == "&&" else "false"
        left = text.operand(match.start(), -1, match.group())
        right = text.operand(match.end(), 1, match.group())
        for start, end in ((left, match.start()), (match.end(), right)):
            operand = text.code[start:end]
            start += len(operand) - len(operand.lstrip())
            add(start, start + len(operand.strip()), new, "condition")


def constants(text, add, neighbour):
    for match in NUMBER.finditer(text.code):
        if re.search(r"sizeof\W*[\w.>-]*\[$", text.code[:match.start()][-60:]):
            continue  # every element has the same size
        value = int(match.group(1), 8 if match.group(1).startswith("0") else 10)
        for new in (value + 1, value - 1):
            if new >= 0:
                add(match.start(), match.end(), "%d%s" % (new, match.group(2)), "constant")
    for match in BOUND.finditer(text.code):
        for new in ("(%s + 1)", "(%s - 1)"):
            add(match.start(), match.end(), new % match.group(), "constant")
    swaps = {"true": "false", "false": "true", **neighbour}
    for match in WORD.finditer(text.code):
        new = swaps.get(match.group())
        line = text.code.rfind("\n", 0, match.start()) + 1
        if new is None or text.code[line:match.start()].strip() == "case":
            continue
        if text.code[match.start() - 1] == "[" and re.match(r"\]\s*=", text.code[match.end():]):
            continue  # a designator
        add(match.start(), match.end(), new, "constant")
        if match.group().startswith("REASON_") and match.group() != "REASON_NONE":
            add(match.start(), match.end(), "REASON_NONE", "constant")


def statements(text, add):
    for match in STATEMENT.finditer(text.code):
        start, end = match.span(1)
        before = text.code[:start].rstrip()[-1:]
        is_return = match.group(1).startswith("return")
        if not DECLARATION.match(match.group(1)) and (not is_return or before == ")"):
            add(start, end, ";", "statement")


def strings(text, add):
    """A literal's first byte; in the gate's template, each word and each hole's letter."""
    for match in TOKENS.finditer(text.text):
        start, body = match.start() + 1, match.group()[1:-1]
        if match.group()[0] != '"' or not body:
            continue
        if text.within(start) == "words_ok":
            for word in re.finditer(r"[^ ]+ ?", body):
                add(start + word.start(), start + word.end(), "", "word")
            for hole in re.finditer(r"%(\w)", body):
                new = "N" if hole.group(1) != "N" else "s"
                add(start + hole.start(1), start + hole.end(1), new, "word")
        elif body[0] != "\\":
            add(start, start + 1, "Z" if body[0] != "Z" else "Y", "string")


def mutants_of(name, neighbour):
    text, found, seen = Text(name), [], set()

    def add(start, end, new, kind):
        function = text.within(start)
        if function is None or text.text[start:end] == new or (start, end, new) in seen:
            return
        in_size = any(a <= start < b for a, b in text.fixed)
        if kind == "constant" and in_size:
            return
        seen.add((start, end, new))
        number = text.text.count("\n", 0, start) + 1
        found.append(Mutant(name, function, number, start, end, new, kind))

    operators(text, add)
    conditions(text, add)
    constants(text, add, neighbour)
    statements(text, add)
    strings(text, add)
    return sorted(found, key=lambda m: (m.start, m.end, m.new))


@functools.lru_cache(maxsize=None)
def content(name):
    with open(os.path.join(TREE, name), encoding="utf-8") as file:
        return file.read()


def mutated(mutant):
    text = content(mutant.file)
    return text[:mutant.start] + mutant.new + text[mutant.end:]


def lines(mutant):
    """The mutant's line or lines, as they are and as they are made; blanks squeezed."""
    text = content(mutant.file)
    start = text.rfind("\n", 0, mutant.start) + 1
    end = text.index("\n", mutant.end)
    new = text[start:mutant.start] + mutant.new + text[mutant.end:end]
    return " ".join(text[start:end].split()), " ".join(new.split())


def key(mutant):
    return (mutant.file, mutant.function or "-", *lines(mutant))


def rank(mutant):
    return hashlib.sha256(repr((key(mutant), mutant.start)).encode()).hexdigest()


# --- running them -------------------------------------------------------------------

def pids_group():
    """A cgroup of ours that bounds processes: of version 1 or 2."""
    for top in ("/sys/fs/cgroup/pids", "/sys/fs/cgroup"):
        if os.path.exists(top + "/cgroup.procs"):
            group = top + "/cofferdam-mutants"
            os.makedirs(group, exist_ok=True)
            with open(group + "/pids.max", "w") as file:
                file.write("%d" % PROCESSES)
            return group
    sys.exit("mutate.py: no cgroup that bounds processes")


class Bench:
    """Builds and runs the tests."""

    def __init__(self):
        self.group = pids_group()
        os.makedirs(os.path.join(TREE, BUILD), exist_ok=True)
        self.lock = open(os.path.join(TREE, BUILD, "lock"), "w")
        fcntl.flock(self.lock, fcntl.LOCK_EX)  # one run at a time in this directory
        self.dir = os.path.join(TREE, BUILD)
        self.compile = {}
        self.base = {}
        self.tests = [os.path.basename(binary) for binary in coverage.variable("UNIT_BIN")]
        words = ["B=" + BUILD, "CFLAGS=" + OPTIONS]
        names = [n for n in coverage.sources() if not n.endswith("/main.c")]
        self.objects = {name: "%s/%s.o" % (BUILD, name[:-2]) for name in names}
        coverage.make(*words, *self.objects.values(),
                      *("%s/tests/unit/%s.o" % (BUILD, test) for test in self.tests))
        self.archive = BUILD + "/all.a"
        if os.path.exists(os.path.join(TREE, self.archive)):
            os.remove(os.path.join(TREE, self.archive))
        subprocess.run(["ar", "rc", self.archive, *self.objects.values()], cwd=TREE, check=True)
        for top in ("policy", "ipc", "executor"):
            self.compile[top] = self.flags(top, words)

    def flags(self, top, words):
        """The makefile's own flags for the objects of a directory."""
        name = next(n for n in self.objects if n.startswith(top + "/"))
        ran = coverage.make("-n", "-W", name, "V=1", *words, self.objects[name],
                            capture_output=True, text=True).stdout
        line = next(line for line in ran.splitlines() if line.rstrip().endswith(" " + name))
        flags = [w.replace("'", "") for w in line.split()[:-4]]
        return flags + ["-I", BUILD + "/policy", "-iquote", top]

    def build(self, mutant):
        """Its object; None when it is not C."""
        at = os.path.join(self.dir, "mutant")
        with open(at + ".c", "w", encoding="utf-8") as file:
            file.write(mutated(mutant))
        command = [*self.compile[mutant.file.split("/")[0]], "-c", "-o", at + ".o", at + ".c"]
        command = [w for w in command if w not in ("-MMD", "-MP", "-Werror")]
        ran = subprocess.run(command, cwd=TREE, capture_output=True)
        return at + ".o" if ran.returncode == 0 else None

    def link(self, test, *instead):
        """Into mutant.test; an object of instead stands before its like in the archive."""
        subprocess.run(["gcc", "-pie", "-o", BUILD + "/mutant.test",
                        "%s/tests/unit/%s.o" % (BUILD, test), *instead, self.archive,
                        "-lcmocka", "-lmd", "-lbsd"], cwd=TREE, check=True, capture_output=True)

    def run(self, seconds):
        """(exit status or "slept", processor seconds) of what link() made."""
        def bound():
            with open(self.group + "/cgroup.procs", "w") as file:
                file.write("%d" % os.getpid())
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            resource.setrlimit(resource.RLIMIT_FSIZE, (BYTES, BYTES))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        command = ["unshare", "--mount", "--pid", "--net", "--ipc", "--fork", "--kill-child",
                   "--mount-proc", "sh", HERE + "/sandbox.sh", self.dir, "./mutant.test"]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, preexec_fn=bound,
                                   start_new_session=True,  # kill(0) crosses a pid namespace
                                   env=dict(os.environ, CMOCKA_TEST_ABORT="1"))
        try:
            status = process.wait(timeout=CLOCK)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            status = "slept"
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return status, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def needs(self, test):
        """Processor seconds of a test of the original, which must pass."""
        if test not in self.base:
            self.link(test)
            status, self.base[test] = self.run(CLOCK)
            if status != 0:
                sys.exit("mutate.py: the original fails %s (%s)" % (test, status))
        return self.base[test]

    def judge(self, mutant, tests):
        """What became of it, and by which test."""
        built = self.build(mutant)
        if built is None:
            return "not C", ""
        for test in tests:
            seconds = int(max(CPU_LEAST, 10 * self.needs(test)))
            self.link(test, built)
            status, _ = self.run(seconds)
            if status == 99:
                sys.exit("mutate.py: the sandbox could not be made")
            if status in ("slept", 137, 152):
                return "timed out", test
            if status != 0:
                return "killed", test
        return ("survived", "") if tests else ("not run", "")


def tests_of(mutant, reach, bench):
    """The tests that run its function (a table: anything of its file), its own first."""
    own = "test_" + os.path.basename(mutant.file)[:-2]
    if reach is None:
        return [own] if own in bench.tests else []
    by_function = reach.get(mutant.file, {})
    if mutant.function:
        found = set(by_function.get(mutant.function, []))
    else:
        found = set().union(*by_function.values()) if by_function else set()
    return sorted(found, key=lambda test: (test != own, bench.needs(test), test))


# --- the report ---------------------------------------------------------------------------

def accepted():
    with open(os.path.join(HERE, "equivalent.tsv"), encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file if not line.startswith("#")]
    for row in rows:
        if len(row) != len(HEADER) or not all(row):
            sys.exit("equivalent.tsv: not %s: %s" % (", ".join(HEADER), row))
    return {tuple(row[:4]): row[4] for row in rows}


def stale(rows, every, alive, tried):
    """Rows of the files at hand that match no mutant, or only mutants that were killed."""
    known = {key(mutant) for mutant in every}
    files = {mutant.file for mutant in every}
    return [row for row in sorted(rows) if row[0] in files and
            (row not in known or (row in tried and row not in alive))]


def show(mutant, verdict):
    old, new = lines(mutant)
    print("%s: %s:%d: %s\n    - %s\n    + %s"
          % (verdict, mutant.file, mutant.number, mutant.function or "(table)", old, new),
          flush=True)


def score(counts):
    kinds = ("killed", "timed out", "survived", "not run", "accepted", "not C")
    print("%-26s" % "file" + "".join("%11s" % kind for kind in kinds) + "      score")
    whole = collections.Counter()
    for name in sorted(counts):
        whole.update(counts[name])
    for name, row in [*sorted(counts.items()), ("all", whole)]:
        dead = row["killed"] + row["timed out"]
        of = dead + row["survived"] + row["not run"]
        print("%-26s" % name + "".join("%11d" % row[kind] for kind in kinds) +
              ("%9.1f %%" % (100.0 * dead / of) if of else ""))


def chosen(options):
    names = options.files or [n for n in coverage.sources() if not n.endswith("/main.c")]
    neighbour = enumerators()
    every = [mutant for name in names for mutant in mutants_of(name, neighbour)]
    picked = every
    if options.sample:
        best = set(sorted(range(len(every)), key=lambda i: rank(every[i]))[:options.sample])
        picked = [mutant for i, mutant in enumerate(every) if i in best]
    return every, picked


def run(every, picked, own):
    reach = None if own else coverage.known_reach()
    bench = Bench()
    rows, counts = accepted(), collections.defaultdict(collections.Counter)
    alive, tried, began = set(), set(), time.monotonic()
    for mutant in picked:
        verdict, _ = bench.judge(mutant, tests_of(mutant, reach, bench))
        tried.add(key(mutant))
        if verdict in ("survived", "not run"):
            alive.add(key(mutant))
            if key(mutant) in rows:
                verdict = "accepted"
            else:
                show(mutant, verdict)
        counts[mutant.file][verdict] += 1
    score(counts)
    old = stale(rows, every, alive, tried)
    for row in old:
        print("equivalent.tsv: killed now, or there is no such mutant: %s" % "\t".join(row))
    survivors = sum(row["survived"] + row["not run"] for row in counts.values())
    print("mutants: %d tried of %d, %d unexplained survivors, %d stale rows, %d s"
          % (len(picked), len(every), survivors, len(old), time.monotonic() - began))
    return not picked or survivors or old


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--sample", type=int, default=0)
    parser.add_argument("--own", action="store_true", help="only by the module's own test")
    parser.add_argument("files", nargs="*", metavar="FILE")
    options = parser.parse_args()
    every, picked = chosen(options)
    if options.list:
        for mutant in picked:
            show(mutant, mutant.kind)
        print("%d of %d" % (len(picked), len(every)))
        return
    sys.exit(1 if run(every, picked, options.own) else 0)


if __name__ == "__main__":
    main()

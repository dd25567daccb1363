#!/usr/bin/python3 -B
# SPDX-License-Identifier: ISC
"""cofferdam-policy beside the TypeScript reference under Bun, the same work in one run.

usage: policy.py [--reference FILE --bun PATH] [--runs N] [--milliseconds N]

Two ways to measure.  "process": a whole process from fork to exit, document in, canonical
document out.  "inside": the same work repeated in one warm process, time a call; the reference
both from bytes to bytes, which is the work that cofferdam-policy does, and from string to string,
which spares it the UTF-8.  The two sides alternate; each figure is a median with min..max, the
ratio is of the medians (of Bun's time to ours: above 1 we are faster) with the least and the
greatest ratio of a pair; "best" is the ratio of the two least times.  CPU time is user and system
of all threads, and what the aims and the growth are judged by: wall time on a machine that others
use too measures them.

FILE is the package's text, its files one after the other as in a diff.  Without a reference and
Bun only our own figures are measured.  Says at the end which aims hold; exit status 1 when one
does not.
"""

import argparse
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

import documents

HERE = pathlib.Path(__file__).resolve().parent
TREE = HERE.parent.parent
SOURCES = ("protocol.ts", "model-input.ts", "container-driver.ts")
PROCESS_AIM = 5.0
INSIDE_AIM = 1.0
MEMORY_AIM_KIB = 4096
MIB = 1048576
GET_BUN = """policy.py: Bun is not at hand, so nothing is compared.  To get it, in a scratch
directory:
    npm install bun && policy.py --bun $PWD/node_modules/.bin/bun --reference FILE"""


class Sample:
    def __init__(self, wall, cpu, peak=0):
        self.wall, self.cpu, self.peak = wall, cpu, peak


def spread(values, unit, scale):
    return "%.4g (%.4g..%.4g) %s" % (statistics.median(values) / scale, min(values) / scale,
                                     max(values) / scale, unit)


def figures(samples, unit, scale):
    return "wall %s, cpu %s" % (spread([s.wall for s in samples], unit, scale),
                                spread([s.cpu for s in samples], unit, scale))


class Ratio:
    def __init__(self, ours, theirs, field):
        ours, theirs = ([getattr(s, field) for s in side] for side in (ours, theirs))
        pairs = [b / a for a, b in zip(ours, theirs)]
        self.median = statistics.median(theirs) / statistics.median(ours)
        self.low, self.high = min(pairs), max(pairs)
        self.best = min(theirs) / min(ours)

    def __str__(self):
        return "%.2f (%.2f..%.2f, best %.2f)" % (self.median, self.low, self.high, self.best)


class Bench:
    def __init__(self, arguments, scratch):
        self.inside = os.path.abspath(arguments.inside)
        self.policy = os.path.abspath(arguments.policy)
        self.runs = arguments.runs
        self.milliseconds = arguments.milliseconds
        self.scratch = scratch
        self.bun = None
        self.missed = []
        self.out = str(scratch / "out")

    def file(self, name, data):
        path = self.scratch / name
        path.write_bytes(data)
        return str(path)

    # One sample each.

    def process(self, words, source, plan="-"):
        done = subprocess.run([self.inside, "spawn", source, self.out, plan, *words],
                              stdout=subprocess.PIPE, check=True, text=True).stdout.split()
        if done[0] != "0":
            raise SystemExit("policy.py: %s ended with %s" % (" ".join(words), done[0]))
        wall, user, system, peak = map(float, done[1:])
        return Sample(wall, user + system, peak)

    def repeated(self, words, path):
        done = subprocess.run([*words, path, str(self.milliseconds)], stdout=subprocess.PIPE,
                              check=True, text=True).stdout.split()
        return Sample(*map(float, done))

    # Rows.

    def alternate(self, sides):
        """Samples of each side, taken in turn; one of each before that is not counted."""
        for side in sides:
            side()
        rounds = [[side() for side in sides] for _ in range(self.runs)]
        return [list(column) for column in zip(*rounds)]

    def aim(self, what, held, text):
        if not held:
            self.missed.append("%s: %s" % (what, text))

    def memory(self, what, samples):
        peak = max(s.peak for s in samples)
        self.aim(what, peak <= MEMORY_AIM_KIB, "%d KiB of memory" % peak)
        return "%d KiB" % peak

    def same_output(self, ours, theirs):
        outputs = []
        for words, source in (ours, theirs):
            self.process(words, source)
            outputs.append(pathlib.Path(self.out).read_bytes())
        if outputs[0] != outputs[1]:
            raise SystemExit("policy.py: the two did not do the same work: %s" % ours[0])

    def compare_processes(self, what, ours, theirs, same=True):
        """ours and theirs: (words, input file)."""
        if self.bun and same:
            self.same_output(ours, theirs)
        sides = [lambda: self.process(*ours)]
        if self.bun:
            sides.append(lambda: self.process(*theirs))
        mine, *others = self.alternate(sides)
        print("%s, process" % what)
        print("  cofferdam  %s, peak %s" % (figures(mine, "ms", 1e6), self.memory(what, mine)))
        for other in others:
            ratio = Ratio(mine, other, "cpu")
            print("  bun        %s, peak %d KiB" % (figures(other, "ms", 1e6),
                                                    max(s.peak for s in other)))
            print("  bun / cofferdam: wall %s, cpu %s" % (Ratio(mine, other, "wall"), ratio),
                  flush=True)
            self.aim(what + ", process", ratio.median >= PROCESS_AIM, "%.2f" % ratio.median)

    def compare_inside(self, what, work, path):
        sides = [lambda: self.repeated([self.inside, work], path)]
        forms = ("bytes", "text") if self.bun else ()
        for form in forms:
            sides.append(lambda form=form: self.repeated([*self.bun, form, work], path))
        mine, *others = self.alternate(sides)
        print("%s, inside" % what)
        print("  cofferdam  %s" % figures(mine, "us", 1e3))
        for form, other in zip(forms, others):
            ratio = Ratio(mine, other, "cpu")
            print("  bun %-6s %s" % (form, figures(other, "us", 1e3)))
            print("  bun / cofferdam, %s: wall %s, cpu %s" % (
                form, Ratio(mine, other, "wall"), ratio), flush=True)
            if form == "bytes":
                self.aim(what + ", inside", ratio.median >= INSIDE_AIM, "%.2f" % ratio.median)

    def filters(self):
        cases = [("turn 256 KiB, mostly prompt", "turn", documents.turn(262144, 16384, 24000)),
                 ("turn 256 KiB, mostly tools", "turn", documents.turn(262144, 240000, 4000)),
                 ("turn 2 KiB", "turn", documents.turn(2048, 600, 200)),
                 ("model-input 200 KiB", "model-input", documents.request(204800))]
        for number, (what, command, data) in enumerate(cases):
            path = self.file("document%d" % number, data)
            self.compare_processes(what, ([self.policy, command], path),
                                   ([*(self.bun or ()), command], path))
            self.compare_inside(what, command, path)

    def argv(self):
        config, spec = documents.launch(str(self.scratch / "roots"))
        config, spec = self.file("config", config), self.file("spec", spec)
        os.chmod(config, 0o600)
        ours = [self.policy, "argv", "--offline", "--config", config]
        self.compare_processes("argv --offline", (ours, os.devnull),
                               ([*(self.bun or ()), "argv"], spec), same=False)

    def growth_of_admit(self):
        plan = self.file("plan", subprocess.run([self.inside, "plan"], stdout=subprocess.PIPE,
                                                check=True).stdout)
        print("admit, process: by the number of containers")
        counts = (10, 100, 1000, 5000)
        paths = [self.file("list%d" % count, documents.containers(count)) for count in counts]
        sides = [lambda path=path: self.process([self.policy, "admit"], path, plan)
                 for path in paths]
        for count, samples in zip(counts, self.alternate(sides)):
            print("  %5d  %s, %.3g us of cpu a container, peak %s" % (
                count, figures(samples, "ms", 1e6),
                statistics.median(s.cpu for s in samples) / count / 1e3,
                self.memory("admit", samples)), flush=True)

    def growth_of_json(self, kind, make):
        sizes = (1024, 16384, 262144, MIB, 2 * MIB)
        data = [make(size) for size in sizes]
        paths = [self.file("json%d" % len(item), item) for item in data]
        print("json, inside: by size, %s" % kind)
        sides = [lambda path=path: self.repeated([self.inside, "json"], path) for path in paths]
        for item, samples in zip(data, self.alternate(sides)):
            print("  %7d bytes  %s, %.3g ns of cpu a byte" % (
                len(item), figures(samples, "us", 1e3),
                statistics.median(s.cpu for s in samples) / len(item)), flush=True)
        sides = [lambda path=path: self.process([self.policy, "json"], path) for path in paths]
        print("json, process: by size, %s" % kind)
        for item, samples in zip(data, self.alternate(sides)):
            print("  %7d bytes  %s, %.3g ns of cpu a byte, peak %d KiB" % (
                len(item), figures(samples, "ms", 1e6),
                statistics.median(s.cpu for s in samples) / len(item),
                max(s.peak for s in samples)), flush=True)


def extract(reference, scratch, names=SOURCES):
    """The files of the package's text that are needed, each without its marks."""
    lines = reference.read_text(encoding="utf-8").split("\n")
    for name in names:
        try:
            start = lines.index("package/src/" + name)
        except ValueError:
            raise SystemExit("%s holds no package/src/%s" % (reference, name)) from None
        hunk = next(i for i in range(start, len(lines)) if lines[i].startswith("@@"))
        count = int(re.search(r"\+\d+,(\d+) @@", lines[hunk])[1])
        body = lines[hunk + 1:hunk + 1 + count]
        if len(body) != count or any(line[:1] != "+" for line in body):
            raise SystemExit("package/src/%s is not whole in %s" % (name, reference))
        text = "\n".join(line[1:] for line in body) + "\n"
        (scratch / os.path.basename(name)).write_text(text, encoding="utf-8")


def driver(bun, reference, scratch):
    """The command that runs the reference, bundled into one file so that nothing is compiled
    when it starts."""
    extract(reference, scratch)
    shutil.copy(HERE / "driver.ts", scratch)
    subprocess.run([bun, "build", "--target=bun", "--minify", "--outfile=driver.js", "driver.ts"],
                   cwd=scratch, stdout=subprocess.DEVNULL, check=True)
    return [os.path.realpath(bun), str(scratch / "driver.js")]


def options():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: policy.py ")[1].split("\n")[0])
    parser.add_argument("--reference", type=pathlib.Path)
    parser.add_argument("--bun", default=shutil.which("bun"))
    parser.add_argument("--policy", default=str(TREE / "cofferdam-policy"))
    parser.add_argument("--inside", default=str(TREE / "build/tests/bench/inside"))
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--milliseconds", type=int, default=100)
    return parser.parse_args()


def measure(arguments, scratch):
    bench = Bench(arguments, scratch)
    print("%d runs of each side, alternating; %d cpus, load %.1f" % (
        arguments.runs, os.cpu_count(), os.getloadavg()[0]))
    if arguments.bun and arguments.reference:
        bench.bun = driver(arguments.bun, arguments.reference, scratch)
        print("bun", subprocess.run([arguments.bun, "--version"], capture_output=True, text=True,
                                    check=True).stdout.strip())
    elif not arguments.bun:
        print(GET_BUN)
    else:
        print("policy.py: no --reference FILE, so nothing is compared")
    bench.filters()
    bench.argv()
    bench.growth_of_admit()
    bench.growth_of_json("records", documents.records)
    bench.growth_of_json("one object", documents.members)
    for missed in bench.missed:
        print("missed: " + missed)
    if not bench.missed:
        print("every aim that was measured holds")
    return 1 if bench.missed else 0


def main():
    arguments = options()
    with tempfile.TemporaryDirectory(prefix="cofferdam-bench.") as scratch:
        return measure(arguments, pathlib.Path(scratch))


if __name__ == "__main__":
    sys.exit(main())

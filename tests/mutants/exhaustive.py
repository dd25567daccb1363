# SPDX-License-Identifier: ISC
"""The compiled, exhaustive form of the proofs (formal/, make exhaustive) as one more test."""

import os
import re
import resource
import shutil
import subprocess

from making import TREE

CPU_LEAST = 3  # seconds, and ten times what the original needs


def blocks():
    """{proof: {field: its lines}} of formal/proofs.conf."""
    found = {}
    with open(os.path.join(TREE, "formal/proofs.conf"), encoding="utf-8") as file:
        for line in file:
            name, _, rest = line.strip().partition(" ")
            if name == "proof":
                block = found[rest.strip()] = {}
            elif name and name != "#":
                block.setdefault(name, []).append(rest.strip())
    return found


def includes(harness):
    with open(os.path.join(TREE, "formal", harness), encoding="utf-8") as file:
        return set(re.findall(r'^#include "\.\./([^"]+\.c)"', file.read(), re.M))


class Exhaustive:
    """A copy of the sources in a directory, where one mutant at a time stands."""

    def __init__(self, directory):
        self.tree = os.path.join(directory, "exhaustive")
        self.needs = {}
        shutil.rmtree(self.tree, ignore_errors=True)
        for top in ("policy", "ipc", "executor", "formal"):
            shutil.copytree(os.path.join(TREE, top), os.path.join(self.tree, top))
        self.proofs = {}
        for proof, block in blocks().items():
            if "native" in block:
                for name in includes(block["harness"][0]).union(*map(str.split, block["sources"])):
                    self.proofs.setdefault(name, []).append(proof)

    def run(self, proof, seconds):
        """(does it hold, processor seconds)."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(
            ["sh", "formal/prove.sh", "exhaustive", proof], cwd=self.tree, check=False,
            env=dict(os.environ, BUILD=os.path.join(self.tree, "build")), capture_output=True,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds)))
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if b"NO RESULT" in done.stdout or b"passed" not in done.stdout:
            raise SystemExit("exhaustive.py: %s: %r" % (proof, done.stdout + done.stderr))
        return done.returncode == 0, after.ru_utime - before.ru_utime

    def needs_of(self, proof):
        """Processor seconds that a mutant may take; the original must hold."""
        if proof not in self.needs:
            holds, seconds = self.run(proof, 900)
            if not holds:
                raise SystemExit("exhaustive.py: the original fails %s" % proof)
            self.needs[proof] = int(max(CPU_LEAST, 10 * seconds))
        return self.needs[proof]

    def kills(self, name, text):
        """Does a proof fail with the text in the place of the source?"""
        proofs = self.proofs.get(name, [])
        most = {proof: self.needs_of(proof) for proof in proofs}
        with open(os.path.join(self.tree, name), "w", encoding="utf-8") as file:
            file.write(text)
        killed = not all(self.run(proof, most[proof])[0] for proof in sorted(proofs, key=most.get))
        shutil.copy(os.path.join(TREE, name), os.path.join(self.tree, name))
        return killed

#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""README.md's examples are what cofferdam-policy accepts."""

import argparse
import json
import re
import subprocess
import sys

from common.plans import POLICY, TREE


def sections():
    """The README's sections by their titles."""
    text = (TREE / "README.md").read_text()
    parts = re.split(r"^## (.*)\n", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2]))


def examples(section):
    """The indented blocks that are JSON."""
    for block in re.findall(r"(?:^    .*\n)+", section, re.MULTILINE):
        if block.lstrip().startswith("{"):
            yield block


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--policy", default=POLICY)
    policy = options.parse_args().policy.split()
    results = []

    def note(ok, text):
        results.append(ok)
        if not ok:
            print("FAILED " + text)

    def run(words, data):
        return subprocess.run([*policy, *words], input=data.encode(), capture_output=True,
                              check=False, env={})

    blocks = list(examples(sections().get("A first configuration", "")))
    note(len(blocks) == 2, "README.md: a config and a turn, not %d examples" % len(blocks))
    if len(blocks) == 2:
        done = run(["check", "--offline", "-c", "-"], blocks[0])
        note(done.returncode == 0 and json.loads(done.stdout)["decision"] == "allow",
             "the config: %r" % done.stderr)
        # It says so much and not less: without a member it needs, it is refused.
        done = run(["check", "--offline", "-c", "-"], blocks[0].replace('"mode": "turn",', ""))
        note(done.returncode == 78, "the config without its mode: exit %d" % done.returncode)
        done = run(["turn"], blocks[1])
        note(done.returncode == 0 and json.loads(done.stdout) == json.loads(blocks[1]),
             "the turn: %r" % done.stderr)
    print("%d passed, %d failed" % (results.count(True), results.count(False)))
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/python3 -B
# SPDX-License-Identifier: ISC
"""The measurements of tests/bench.sh, which starts this."""

import json
import os
import statistics
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import Tree  # noqa: E402
from test_engine import CLIENTS, IMAGE, SOCKET, EngineCase, version  # noqa: E402


def plain_words(case):
    """docker run with the words of the frozen create command, but for what names the run."""
    words = [case.docker, "--host", "unix://" + SOCKET, "run", "--rm", "--interactive",
             "--network", "none", "--read-only", "--cap-drop", "ALL",
             "--security-opt", "no-new-privileges:true", "--user", "%d:%d" % (case.uid, case.uid),
             "--memory", "536870912", "--memory-swap", "536870912", "--cpus", "1",
             "--pids-limit", "64", "--ulimit", "nofile=256:256", "--shm-size", "67108864",
             "--ipc", "private", "--cgroupns", "private", "--log-driver", "none",
             "--no-healthcheck", "--tmpfs",
             "/tmp:rw,noexec,nosuid,nodev,size=67108864,mode=1777",
             "--mount", "type=bind,readonly,source=%s,target=/broker,bind-propagation=rprivate"
             % case.broker,
             "--mount", "type=bind,source=%s,target=/workspace,bind-propagation=rprivate"
             % case.workspace, "--env", "HOME=/tmp/home", "--workdir", "/",
             "--entrypoint", "/worker", IMAGE]
    return words


def once(case, words):
    start = time.monotonic()
    result = case.end(case.spawn(words), case.turn_bytes())
    took = time.monotonic() - start
    if result.status != 0 or b'"text":"bench"' not in result.out:
        raise SystemExit("bench: %s failed: %r %r" % (words[0], result.out, result.err))
    return took * 1000


def measure(tree, client, count):
    case = EngineCase(tree, "bench " + version(client), client)
    case.say("say bench")
    # docker run hands the bytes on as they are: the worker wants them canonical.
    case.turn = json.dumps(case.turn, separators=(",", ":")).encode()
    case.env = {"HOME": case.home, "PATH": "/usr/bin:/bin"}
    pairs = {"docker run": plain_words(case), "cofferdam run": case.argv("run", [], case.config)}
    for words in pairs.values():
        once(case, words)
    times = {name: [] for name in pairs}
    for _ in range(count):
        for name, words in pairs.items():
            times[name].append(once(case, words))
    medians = {name: statistics.median(values) for name, values in times.items()}
    print("docker client %s, %d runs each, alternating" % (version(client), count))
    for name, values in times.items():
        low, _, high = statistics.quantiles(values, n=4)
        print("  %-14s median %7.1f ms   (quartiles %.1f, %.1f)"
              % (name, medians[name], low, high))
    print("  cofferdam run takes %.2f times as long as docker run"
          % (medians["cofferdam run"] / medians["docker run"]), flush=True)


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    tree = Tree()
    try:
        engine = subprocess.run([CLIENTS[0], "--host", "unix://" + SOCKET, "version", "--format",
                                 "{{.Server.Version}}"], capture_output=True, text=True, check=True)
        print("engine %s, %d cpus" % (engine.stdout.strip(), os.cpu_count()))
        for client in CLIENTS:
            measure(tree, client, count)
    finally:
        tree.remove()


if __name__ == "__main__":
    main()

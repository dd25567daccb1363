# SPDX-License-Identifier: ISC
"""Plays the executor to `cofferdam-policy decide`."""

import fcntl
import json
import os
import socket
import subprocess

from common.plans import NONCE, STATE

FRAME_MAX = 196608
SECONDS = 30
# The numbers of policy/launching.h.
CONTEXT, IMAGE = 5, 6


class Answer:
    """What a docker command prints, and how it ends."""

    def __init__(self, text="", status=0):
        self.text, self.status = text, status


class Decision:
    def __init__(self):
        self.frames = []  # the kinds of those that policy sent
        self.reasons = set()
        self.status = None


def frame(tool, *words, data=b""):
    return subprocess.run([tool, *words], input=data, stdout=subprocess.PIPE, check=True).stdout


def facts(tool, **given):
    fields = {"nonce": NONCE, "mode": "session", "uid": os.getuid(), "gid": os.getgid(),
              "home": "", "state_dir": "/nowhere/state", "state_id": STATE,
              "executor": "/nowhere/cofferdam", "policy": "/nowhere/cofferdam-policy",
              "docker": "/nowhere/docker", "config": "/nowhere/config.json"}
    fields.update(given)
    return frame(tool, "facts", data="".join("%s\t%s\n" % field for field in fields.items()
                                             ).encode())


def high(fd):
    """Out of the way of the child's own numbers."""
    moved = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 64)
    os.close(fd)
    return moved


class Conversation:
    def __init__(self, policy, tool, config_path, audit_path=None):
        self.tool = tool
        self.ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.ours.settimeout(SECONDS)
        self.ends = {}
        inherited = {3: high(theirs.detach()), 4: high(os.open(config_path, os.O_RDONLY))}
        for number in (CONTEXT, IMAGE):
            end, self.ends[number] = os.pipe()
            inherited[number] = high(end)
        if audit_path is not None:
            inherited[7] = high(os.open(audit_path, os.O_WRONLY | os.O_APPEND))

        def place():
            for number, fd in inherited.items():
                os.dup2(fd, number)

        self.child = subprocess.Popen(
            [*policy, "decide", "--json"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, env={}, preexec_fn=place, pass_fds=tuple(inherited))
        for fd in inherited.values():
            os.close(fd)

    def answer(self, number, word, answer):
        fd = self.ends.pop(number)
        if answer.text:
            os.write(fd, answer.text.encode())
        os.close(fd)
        self.ours.send(frame(self.tool, word, str(answer.status)))

    def hold(self, facts_frame, context, image):
        decision = Decision()
        try:
            self.ours.send(facts_frame)
            while True:
                received = self.ours.recv(FRAME_MAX)
                if not received:
                    break
                kind = frame(self.tool, "kind", data=received).decode().strip()
                decision.frames.append(kind)
                if kind == "ask-context":
                    self.answer(CONTEXT, "answered-context", context)
                elif kind == "ask-image":
                    self.answer(IMAGE, "answered-image", image)
        except ConnectionError:
            pass  # it left: its exit status says why
        finally:
            self.ours.close()
            for fd in self.ends.values():
                os.close(fd)
            errors = self.child.communicate(timeout=SECONDS)[1]
        decision.status = self.child.returncode
        decision.reasons = {json.loads(line)["reason"] for line in errors.splitlines()}
        return decision


def decide(policy, tool, config_path, context=Answer(), image=Answer(), audit_path=None, **given):
    """A whole conversation, with these answers of docker's."""
    if audit_path is not None:
        given["audit"] = audit_path
    conversation = Conversation(policy, tool, config_path, audit_path)
    return conversation.hold(facts(tool, **given), context, image)

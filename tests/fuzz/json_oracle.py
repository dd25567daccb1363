#!/usr/bin/python3
# SPDX-License-Identifier: ISC
"""Differential fuzzing of policy/json.c against Python's json module.

usage: json_oracle.py DRIVER SECONDS [SEED]

Documents are generated from a grammar and then damaged, so that most are nearly
JSON.  Both sides must agree on accept or refuse, but for our documented caps
(depth, number of values), duplicate keys and invalid UTF-8; and what ours
writes must mean, to Python, what it was given.  Ends with `N passed, N failed`.
"""

import json
import random
import struct
import subprocess
import sys
import time

BATCH = 256
ATOMS = [
    b"{", b"}", b"[", b"]", b":", b",", b'"', b"\\", b"\\u", b"\\ud800", b"\\udc00",
    b"\\u0000", b"\\n", b"/", b"0", b"1", b"-", b"+", b".", b"e", b"E", b"9", b"00", b"-0",
    b"1e5", b"0.5", b"1.", b".5", b"1e", b"0x1F", b"true", b"false", b"null", b"tru", b"nul",
    b"NaN", b"Infinity", b"-Infinity", b" ", b"\t", b"\n", b"\r", b"\x00", b"\x01", b"\x1f",
    b"\x7f", b"\x0b", b"\x0c", b"\xc2\x80", b"\xef\xbb\xbf", b"\xff", b"\xc0\x80",
    b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xf0\x9f\x98\x80", b"\xe2\x80\xa8", b"\xc2\xa0",
    b'"a"', b'"a":', b"//", b"/**/", b"'",
]
EXCUSED = {b"json.too_deep", b"json.too_many_values", b"json.too_large"}


class Refused(Exception):
    pass


def pairs(items):
    seen = {}
    for key, value in items:
        if key in seen:
            raise Refused("duplicate")
        seen[key] = value
    return seen


def constant(_name):
    raise Refused("constant")


def parse(text):
    return json.loads(text, object_pairs_hook=pairs, parse_constant=constant,
                      parse_int=str, parse_float=str)


def expected(document):
    """(accepted, value)."""
    try:
        text = document.decode("utf-8")
        if text[:1] == "\ufeff":
            return False, None
        return True, parse(text)
    except (UnicodeDecodeError, Refused, ValueError):
        return False, None
    except RecursionError:
        return None, None


def string(rng):
    pieces = [b"a", b"b", b"", b"\\n", b"\\u0061", b"\\ud83d\\ude00", b"\\ud800", b"\xc3\xa9",
              b"\xf0\x9f\x98\x80", b"\x7f", b"\\/", b'\\"', b"\\\\"]
    return b'"' + b"".join(rng.choice(pieces) for _ in range(rng.randrange(4))) + b'"'


def blank(rng):
    return rng.choice([b"", b"", b"", b" ", b"\n", b"\t\r\n "])


def value(rng, depth):
    kind = rng.randrange(8 if depth > 0 else 5)
    if kind == 0:
        return string(rng)
    if kind == 1:
        return rng.choice([b"0", b"-0", b"12", b"-1.5", b"1e9", b"1E-2", b"0.0e+1",
                           b"123456789012345678901234567890"])
    if kind in (2, 3, 4):
        return rng.choice([b"true", b"false", b"null"])
    items = []
    for _ in range(rng.randrange(4)):
        item = blank(rng) + value(rng, depth - 1) + blank(rng)
        if kind == 7:
            items.append(item)
        else:
            items.append(blank(rng) + string(rng) + blank(rng) + b":" + item)
    body = b",".join(items)
    return b"[" + body + b"]" if kind == 7 else b"{" + body + b"}"


def damage(rng, document):
    data = bytearray(document)
    for _ in range(rng.randrange(3)):
        at = rng.randrange(len(data) + 1)
        kind = rng.randrange(4)
        if kind == 0:
            data[at:at] = rng.choice(ATOMS)
        elif kind == 1 and data:
            del data[at:at + rng.randrange(1, 4)]
        elif kind == 2 and at < len(data):
            data[at] = rng.randrange(256)
        else:
            end = min(len(data), at + rng.randrange(8))
            where = rng.randrange(len(data) + 1)
            data[where:where] = data[at:end]
    return bytes(data)


def document(rng):
    if rng.randrange(4) == 0:
        return b"".join(rng.choice(ATOMS) for _ in range(rng.randrange(10)))
    if rng.randrange(200) == 0:
        depth = rng.randrange(250, 262)
        return b"[" * depth + b"]" * (depth + rng.randrange(-1, 2))
    return damage(rng, blank(rng) + value(rng, rng.randrange(5)) + blank(rng))


def ask(process, documents):
    process.stdin.write(b"".join(struct.pack("<I", len(d)) + d for d in documents))
    process.stdin.flush()
    answers = []
    for _ in documents:
        (size,) = struct.unpack("<I", process.stdout.read(4))
        answers.append(process.stdout.read(size))
    return answers


def agrees(doc, answer):
    accepted, wanted = expected(doc)
    if answer[:1] == b"-":
        return accepted is not True or answer[1:] in EXCUSED
    return accepted is True and parse(answer[1:].decode("utf-8")) == wanted


def main():
    driver, seconds = sys.argv[1], float(sys.argv[2])
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else random.SystemRandom().randrange(1 << 32)
    rng = random.Random(seed)
    process = subprocess.Popen([driver], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    passed = failed = accepted = 0
    end = time.monotonic() + seconds
    while time.monotonic() < end and failed < 20:
        documents = [document(rng) for _ in range(BATCH)]
        for doc, answer in zip(documents, ask(process, documents)):
            accepted += answer[:1] == b"+"
            if agrees(doc, answer):
                passed += 1
            else:
                failed += 1
                print("disagree: %r: ours %r, oracle %r" % (doc, answer, expected(doc)))
    process.stdin.close()
    process.wait()
    print("seed %d, %d documents accepted" % (seed, accepted))
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: ISC
"""The documents that policy.py measures with: the same ones each time."""

import json
import random

KIB = 1024
WORDS = """the of and a to in he have it that for they with as not on she at by this we you do but
    from or which one would all will there say who make when can more if no man out other so what
    time up go about than into could state only new year some take come these know see use get
    like then first any work now may such give over think most even find day also after way many
    must look before great back through long where much should well people down own just because
    good each those feel seem how high too place little world very still nation hand old
    life""".split()
SPICE = ["“quoted”", "naïve", "café —", "\"said\"", "日本語", "😀", "C:\\temp", "1/2"]


def prose(rng, size):
    """About size characters of text, in lines, with quotes, escapes and some beyond ASCII."""
    out, length = [], 0
    while length < size:
        word = rng.choice(SPICE) if rng.random() < 0.02 else rng.choice(WORDS)
        word += "\n" if rng.random() < 0.08 else " "
        out.append(word)
        length += len(word)
    return "".join(out)


def schema(rng):
    properties = {}
    for _ in range(rng.randrange(3, 9)):
        kind = rng.choice(["string", "number", "boolean", "array"])
        value = {"type": kind, "description": prose(rng, rng.randrange(20, 90))}
        if kind == "string" and rng.random() < 0.3:
            value["enum"] = rng.sample(WORDS, 4)
        if kind == "number":
            value.update(minimum=rng.randrange(10), maximum=rng.randrange(100, 10000))
        if kind == "array":
            value.update(items={"type": "string"}, minItems=1)
        properties["_".join(rng.sample(WORDS, 2))] = value
    return {"type": "object", "properties": properties,
            "required": sorted(properties)[:2], "additionalProperties": False}


def tool(rng, number):
    return {"name": "tool_%d" % number, "description": prose(rng, 120), "parameters": schema(rng)}


def write(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def turn(size, tools, text):
    """A turn of exactly size bytes: `tools` bytes or so of tools, `text` of text, the rest
    prompt."""
    rng = random.Random(size + tools)
    value = {"text": prose(rng, text)[:32000], "speaker": {"id": "u-17", "name": "Zoë"},
             "model": "provider/model-1", "prompt": "", "timeZone": "Europe/Vienna", "tools": [],
             "reset": False, "mcp": [{"server": "files", "tools": []}]}
    lists = [value["tools"], value["mcp"][0]["tools"]]
    spent, number = 0, 0
    while spent < tools:
        lists[number % 2].append(tool(rng, number))
        spent += len(write(lists[number % 2][-1]))
        number += 1
    fill(value, rng, size)
    return write(value)


def fill(value, rng, size):
    lack = size - len(write(value))
    prompt = prose(rng, lack * 9 // 10 - 100) if lack > 200 else ""
    value["prompt"] = prompt
    value["prompt"] += "x" * (size - len(write(value)))
    assert len(write(value)) == size


def request(size):
    """A chat request of about size bytes: messages, calls and answers, and tools."""
    rng = random.Random(size)
    tools = [{"type": "function", "function": tool(rng, i)} for i in range(32)]
    messages = [{"role": "system", "content": prose(rng, 8000)}]
    each = max(0, size - len(write([tools, messages]))) // 120
    for i in range(30):
        call = {"id": "call_%d" % i, "type": "function",
                "function": {"name": "tool_%d" % (i % 32), "arguments": write({"a": i}).decode()}}
        messages += [
            {"role": "user", "content": prose(rng, each)},
            {"role": "assistant", "content": prose(rng, each), "tool_calls": [call]},
            {"role": "tool", "content": prose(rng, each), "tool_call_id": call["id"]},
            {"role": "assistant", "content": prose(rng, each)}]
    return write({"model": "m", "stream": True, "messages": messages, "tools": tools})


def records(size):
    """An array of small objects, about size bytes."""
    rng = random.Random(size)
    items, spent = [], 2
    while spent < size - 100:
        items.append({"id": rng.randrange(10 ** 9), "name": rng.choice(WORDS), "ok": True,
                      "note": prose(rng, 40), "ratio": rng.randrange(1000) / 8, "none": None})
        spent += len(write(items[-1])) + 1
    return write(items)


def members(size):
    """One object of many members whose keys share a long beginning: the worst for the search
    for duplicate keys."""
    return write({"a_key_like_many_others_%08d" % (i * 7919 % 10 ** 8): i
                  for i in range(size // 42)})


def containers(count):
    """What docker lists of `count` containers, ours first."""
    def line(number):
        at = "/srv/bench" if number == 0 else "/srv/run/%06d" % number
        roots = [{"path": at + "/broker", "mode": "ro"}, {"path": at + "/workspace", "mode": "rw"}]
        return [("%08x" % number) * 8, "0123456789abcdef" * 2, "%032x" % number, "turn",
                json.dumps(roots, separators=(",", ":")),
                ",".join(root["path"] for root in roots)]
    return b"".join(write(line(i)) + b"\n" for i in range(count))


def launch(at):
    """(config, spec): one launch, as cofferdam's config and as the reference's spec.  at is a
    directory that need not exist."""
    spec = {"name": "bench-1", "image": "bench/worker:1", "runDir": at + "/broker",
            "workspaceDir": at + "/workspace", "uid": 1501, "gid": 1501, "memoryMb": 512,
            "cpus": 1.5, "pids": 64}
    config = {"version": 1, "mode": "turn", "image": spec["image"], "name": spec["name"],
              "user": {"uid": spec["uid"], "gid": spec["gid"]},
              "mounts": [{"host": spec["runDir"], "guest": "/broker", "mode": "ro"},
                         {"host": spec["workspaceDir"], "guest": "/workspace", "mode": "rw"}],
              "limits": {"memoryBytes": spec["memoryMb"] * KIB * KIB, "cpus": spec["cpus"],
                         "pids": spec["pids"]}}
    return write(config), write(spec)

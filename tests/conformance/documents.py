#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Runs the document filters of cofferdam-policy over recorded vectors.

Each vector is an input and what the TypeScript reference made of it (accepted
or refused, and for the projection the exact bytes).  Where cofferdam differs
on purpose, a row of differences.tsv says so: a predicate on the input, and
what is expected instead.  Nothing else may differ, and each row must apply to
at least one vector.

outcome of a row:  refuse  the filter must refuse
                   keep    the filter must write numbers and keys as they came
                   skip    the vector is not about a document
"""

import argparse
import base64
import concurrent.futures
import gzip
import json
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
DEPTH_MAX = 256
TEXT_UNITS = 32000
SPEAKER_UNITS = 256
REPLY_BYTES = 2097152
STDERR_BYTES = 131072
REFUSED = {"turn": 65, "model-input": 65, "reply": 76}


# Documents, read so that nothing is lost: objects as lists of pairs, numbers as
# their text.

class Object(list):
    def get(self, key):
        """As in JavaScript, the last of equal keys."""
        for name, value in reversed(self):
            if name == key:
                return value
        return None


class Number(str):
    pass


def parse(text):
    return json.loads(text, object_pairs_hook=Object, parse_int=Number, parse_float=Number)


def depth(text):
    level = deepest = 0
    for token in re.finditer(r'"(?:[^"\\]|\\.)*"|[\[\]{}]', text, re.DOTALL):
        if token[0] in "[{":
            level += 1
            deepest = max(deepest, level)
        elif token[0] in "]}":
            level -= 1
    return deepest


def units(text):
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def quote(text):
    text = json.dumps(text, ensure_ascii=False)
    return re.sub("[\ud800-\udfff]", lambda lone: "\\u%04x" % ord(lone[0]), text)


def write(value):
    if isinstance(value, Number):
        return str(value)
    if isinstance(value, str):
        return quote(value)
    if isinstance(value, Object):
        return "{" + ",".join(quote(key) + ":" + write(item) for key, item in value) + "}"
    if isinstance(value, list):
        return "[" + ",".join(write(item) for item in value) + "]"
    return {True: "true", False: "false", None: "null"}[value]


def values(value):
    todo = [value]
    while todo:
        value = todo.pop()
        yield value
        if isinstance(value, Object):
            todo.extend(item for _, item in value)
        elif isinstance(value, list):
            todo.extend(value)


# The canonical documents, from accepted inputs.

def pick(value, *keys):
    names = [name for name, _ in value]
    return Object((key, value.get(key)) for key in keys if key in names)


def put(value, key, function):
    return Object((name, function(item) if name == key else item) for name, item in value)


def turn_tools(tools):
    return [pick(tool, "name", "description", "parameters") for tool in tools]


def canonical_turn(turn):
    turn = pick(turn, "text", "speaker", "model", "prompt", "timeZone", "tools", "reset", "mcp")
    turn = put(turn, "speaker", lambda speaker: pick(speaker, "id", "name"))
    turn = put(turn, "tools", turn_tools)
    return put(turn, "mcp", lambda servers: [
        put(pick(server, "server", "tools"), "tools", turn_tools) for server in servers])


def model_call(call):
    return put(pick(call, "id", "type", "function"), "function",
               lambda called: pick(called, "name", "arguments"))


def model_message(message):
    message = pick(message, "role", "content", "tool_calls", "tool_call_id")
    return put(message, "tool_calls", lambda calls: [model_call(call) for call in calls])


def model_tool(tool):
    return put(pick(tool, "type", "function"), "function",
               lambda offered: pick(offered, "name", "description", "parameters"))


def canonical_model_input(body):
    body = pick(body, "messages", "tools")
    body = put(body, "messages", lambda messages: [model_message(m) for m in messages])
    return put(body, "tools", lambda tools: [model_tool(tool) for tool in tools])


def canonical_reply(reply):
    return pick(reply, "ok", "text")


CANONICAL = {"turn": canonical_turn, "model-input": canonical_model_input,
             "reply": canonical_reply}


# The predicates of differences.tsv.  They see vectors that the reference
# accepted.

def has_duplicate_keys(case):
    if is_too_deep(case):
        return False
    return any(len({name for name, _ in value}) < len(value)
               for value in values(parse(case.text)) if isinstance(value, Object))


def is_too_deep(case):
    return depth(case.text) > DEPTH_MAX


def has_long_texts(case):
    if is_too_deep(case):
        return False
    turn = parse(case.text)
    speaker = turn.get("speaker")
    return (units(turn.get("text")) > TEXT_UNITS
            or units(speaker.get("id")) > SPEAKER_UNITS
            or units(speaker.get("name")) > SPEAKER_UNITS)


def schemas(case):
    if is_too_deep(case):
        return []
    tools = parse(case.text).get("tools") or []
    return [tool.get("function").get("parameters") for tool in tools]


def is_reprinted(number):
    if re.fullmatch("0|-?[1-9][0-9]{0,14}", number):
        return False
    return number.endswith(".0") or "e" in number.lower() or repr(float(number)) != number


def has_reprinted_numbers(case):
    return any(is_reprinted(str(value)) for schema in schemas(case)
               for value in values(schema) if isinstance(value, Number))


def has_integer_keys(case):
    return any(re.fullmatch("0|[1-9][0-9]*", name) for schema in schemas(case)
               for value in values(schema) if isinstance(value, Object) for name, _ in value)


def is_about_the_process(case):
    return case.process


PREDICATES = {function.__name__: function for function in (
    has_duplicate_keys, is_too_deep, has_long_texts, has_reprinted_numbers, has_integer_keys,
    is_about_the_process)}


class Difference:
    def __init__(self, topic, commands, applies, outcome, reason):
        self.topic = topic
        self.commands = commands
        self.applies = applies
        self.outcome = outcome
        self.reason = reason
        self.used = 0


def differences(predicates, commands):
    """The rows of the table that are about these commands."""
    table = []
    for line in (HERE / "differences.tsv").read_text().splitlines():
        topic, about, predicate, outcome, reason = line.split("\t")
        about = about.split()
        if not topic.startswith("#") and set(about) & set(commands):
            table.append(Difference(topic, about, predicates[predicate], outcome, reason))
    return table


def tell_use(table, complete):
    """How often each row was needed; a row that never was is a failure."""
    failed = 0
    for row in table:
        print("difference %s: %d vectors" % (row.topic, row.used))
        if complete and row.used == 0:
            failed += 1
            print("FAILED differences.tsv: no vector needs the row %s" % row.topic)
    return failed


# Vectors.

def recipe(part):
    if isinstance(part, str):
        return part.encode()
    if "base64" in part:
        return base64.b64decode(part["base64"])
    if "repeat" in part:
        return recipe(part["repeat"]) * part["count"]
    return b"".join(recipe(item) for item in part["concat"])


def recipe_text(part):
    if isinstance(part, str):
        return part
    if "repeat" in part:
        return recipe_text(part["repeat"]) * part["count"]
    return "".join(recipe_text(item) for item in part["concat"])


class Case:
    """One run of a filter: `expect` is the output, or None for a refusal."""

    def __init__(self, name, command, data, accept, expect=None, process=False):
        self.name = name
        self.command = command
        self.data = data
        self.text = data.decode("utf-8-sig", "replace")
        self.accept = accept
        self.expect = expect
        self.process = process


def turn_case(vector):
    return Case(vector["id"], "turn", vector["input"].encode(), vector["accept"])


def model_case(vector):
    output = vector["output"]
    return Case(vector["id"], "model-input", vector["input"].encode(), vector["accept"],
                output and output)


def reply_case(vector):
    process = (vector["exit"] != 0 or len(recipe(vector.get("stderr", ""))) > STDERR_BYTES)
    expect = None
    if vector["accept"]:
        reply = vector["reply"]
        expect = '{"ok":%s,"text":%s}' % (write(reply["ok"]), quote(recipe_text(reply["text"])))
    return Case(vector["id"], "reply", recipe(vector["stdout"]), vector["accept"], expect, process)


NAMES = {
    "validName": ("turn", '{"text":"","speaker":{"id":"","name":""},"model":"","prompt":"",'
                  '"timeZone":"","tools":[{"name":%s,"description":"","parameters":{}}],"mcp":[]}'),
    "validFunctionName": ("model-input", '{"messages":[],"tools":[{"type":"function","function":'
                          '{"name":%s,"description":"","parameters":{}}}]}'),
    "validCallId": ("model-input",
                    '{"messages":[{"role":"tool","content":"","tool_call_id":%s}]}'),
}


def name_case(vector):
    command, around = NAMES[vector["fn"]]
    document = around % json.dumps(vector["input"])
    return Case(vector["id"], command, document.encode(), vector["accept"])


MAKERS = {"turn": turn_case, "names": name_case, "model-input": model_case, "reply": reply_case}


def vector_lines(directory, names):
    """(kind, line) of each vector of these kinds."""
    for path in sorted(directory.glob("*.jsonl*")):
        kind = path.name.split(".")[0]
        if kind not in names:
            continue
        opener = gzip.open if path.suffix == ".gz" else open
        with opener(path, "rt", encoding="ascii") as lines:
            for line in lines:
                yield kind, line


def cases(directory):
    for kind, line in vector_lines(directory, MAKERS):
        yield MAKERS[kind](json.loads(line))


# Running and judging.

def expected(case, table):
    """None: skip; False: refuse; text: accept with this output."""
    rows = [row for row in table if case.command in row.commands
            and (case.accept or row.outcome == "skip") and row.applies(case)]
    for row in rows:
        row.used += 1
    outcomes = {row.outcome for row in rows}
    if "skip" in outcomes:
        return None
    if not case.accept or "refuse" in outcomes:
        return False
    canonical = write(CANONICAL[case.command](parse(case.text)))
    if case.expect is None or "keep" in outcomes:
        return canonical
    return case.expect


def judge(policy, case, wanted):
    try:
        done = subprocess.run([*policy, case.command], input=case.data, capture_output=True,
                              timeout=60, check=False)
    except subprocess.TimeoutExpired:
        return "no answer in 60 s"
    if wanted is False:
        if done.returncode != REFUSED[case.command]:
            return "expected exit %d, got %d" % (REFUSED[case.command], done.returncode)
        if done.stdout:
            return "refused, but wrote %d bytes" % len(done.stdout)
        if not done.stderr:
            return "refused without a word"
        return None
    if done.returncode != 0:
        return "expected exit 0, got %d: %s" % (done.returncode,
                                                done.stderr.decode("utf-8", "replace").strip())
    if done.stdout != wanted.encode() + b"\n":
        return "output differs: expected %.200r, got %.200r" % (wanted.encode(), done.stdout)
    return None


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--policy", default=str(HERE.parent.parent / "cofferdam-policy"))
    options.add_argument("--vectors", type=pathlib.Path, default=HERE / "vectors")
    options = options.parse_args()
    table = differences(PREDICATES, CANONICAL)
    todo = [(case, expected(case, table)) for case in cases(options.vectors)]
    skipped = sum(1 for _, wanted in todo if wanted is None)
    todo = [(case, wanted) for case, wanted in todo if wanted is not None]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda each: judge(options.policy.split(), *each), todo))
    failed = 0
    for (case, _), problem in zip(todo, results):
        if problem:
            failed += 1
            print("FAILED %s: %s" % (case.name, problem))
    failed += tell_use(table, options.vectors == HERE / "vectors")
    if not todo:
        failed += 1
        print("FAILED no vectors in %s" % options.vectors)
    print("%d vectors skipped" % skipped)
    print("%d passed, %d failed" % (len(todo) - sum(1 for r in results if r), failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

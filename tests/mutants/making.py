# SPDX-License-Identifier: ISC
"""Which faults are made where: reads a source and lists its mutants."""

import collections
import functools
import hashlib
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TREE = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(TREE, "tests", "lint"))
from rules import TOKENS, Source, functions  # noqa: E402

Mutant = collections.namedtuple("Mutant", "file function number start end new kind")
# Where mutants may be made: the inside of a function, or a table's value.  head: where it begins.
Span = collections.namedtuple("Span", "head start end function")

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
            self.spans.append(Span(start, body, self.code.index("\n}", body), function))
        for match in TABLE.finditer(self.code):
            value = self.code.index("= {", match.start()) + 2
            self.spans.append(Span(match.start(), value, match.end(), ""))
        self.fixed = [match.span() for match in SIZED.finditer(self.code)]
        self.fixed = [(a, b) for a, b in self.fixed if "[" in self.code[a:b]]

    def within(self, offset):
        for span in self.spans:
            if span.start <= offset < span.end:
                return span.function
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

# SPDX-License-Identifier: ISC
"""All mutants of a source in one, of which an int chooses one at run time ("mutant schemata").

A function becomes copies, the original's and one for each of its mutants, and a switch in its
place.  A table becomes writable, and a constructor overwrites it with the mutant's.  0 chooses the
original.  So a source is compiled, and each test linked, once for all its mutants.
"""

import re

HEAD = "extern int mutant_number;\n"
# Before the tables' constructors: which mutant, and how much processor time it has.
CHOICE = r"""
#include <stdlib.h>
#include <sys/time.h>

int mutant_number;

__attribute__((constructor(101))) static void choose(void)
{
	const char *number = getenv("MUTANT_NUMBER"), *given = getenv("MUTANT_USECS");
	const long usecs = given != NULL ? atol(given) : 0;
	const struct itimerval once = {{0, 0}, {usecs / 1000000, usecs % 1000000}};

	mutant_number = number != NULL ? atoi(number) : 0;
	setitimer(ITIMER_PROF, &once, NULL);
}
"""


def possible(text, mutant):
    """Not in a function with "...": its arguments cannot be passed on."""
    span = next(s for s in text.spans if s.start <= mutant.start < s.end)
    return "..." not in text.code[span.head:span.start]


def parameters(signature, function):
    """The names of the parameters, as arguments."""
    inside = signature[re.search(r"\b%s\s*\(" % function, signature).end():signature.rindex(")")]
    while re.search(r"\([^()]*\)\s*\(", inside):  # a pointer to a function: only its name
        inside = re.sub(r"\(\*(\w+)\)\s*\([^()]*\)", r"\1", inside)
    if inside.strip() == "void":
        return ""
    names = (re.search(r"(\w+)\s*(?:\[[^\]]*\]\s*)*$", one.strip()) for one in inside.split(","))
    return ", ".join(name.group(1) for name in names)


def writable(declaration):
    """Without the const of the object itself: the one behind the last *, or the first."""
    changed, count = re.subn(r"\*const (?=\w+\s*(?:\[|=))", "*", declaration)
    return changed if count else declaration.replace("const ", "", 1)


class Schemata:
    """The C text for mutants: {number: mutant}; and whose a line is: owner."""

    def __init__(self, text, mutants):
        self.text = text.text
        self.mutants = mutants
        self.parts = []
        self.line = 1
        self.owner = {}
        self.tables = []
        self.put(HEAD)
        at = 0
        for span in sorted(text.spans):
            own = {n: m for n, m in mutants.items() if span.start <= m.start < span.end}
            if own:
                self.put(self.text[at:span.head])
                at = self.function(span, own) if span.function else self.table(span, own)
        self.put(self.text[at:] + "\n")
        self.constructor()

    def __str__(self):
        return "".join(self.parts)

    def put(self, part, number=None):
        last = self.line + part.count("\n")
        if number is not None:
            self.owner.update(dict.fromkeys(range(self.line, last + 1), number))
        self.line = last
        self.parts.append(part)

    def mutated(self, start, end, mutant):
        return self.text[start:mutant.start] + mutant.new + self.text[mutant.end:end]

    def function(self, span, own):
        """Its copies and the switch; returns where the text goes on."""
        opening, end = span.start - len("\n{"), span.end + len("\n}")
        signature = self.text[span.head:opening]
        copy = signature if signature.startswith("static ") else "static " + signature

        def named(number):
            return re.sub(r"\b%s(?=\s*\()" % span.function, "%s__%d" % (span.function, number),
                          copy, count=1)

        self.put(named(0) + self.text[opening:end] + "\n")
        for number, mutant in own.items():
            self.put(named(number) + self.mutated(opening, end, mutant), number)
            self.put("\n")
        call = "%s__%%d(%s);\n" % (span.function, parameters(signature, span.function))
        self.put(signature + "\n{\n\tswitch (mutant_number) {\n" +
                 "".join("\tcase %d: return " % n + call % n for n in own) +
                 "\tdefault: return " + call % 0 + "\t}\n}\n")
        return end

    def table(self, span, own):
        declaration = self.text[span.head:span.start]
        name = re.search(r"(\w+)\s*(?:\[[^\]]*\]\s*)*=\s*$", declaration).group(1)
        self.put(writable(declaration) + self.text[span.start:span.end] + "\n")
        for number, mutant in own.items():
            self.put("static const __typeof__(%s) %s__%d = " % (name, name, number) +
                     self.mutated(span.start, span.end, mutant), number)
            self.put("\n")
            self.tables.append((number, name))
        return span.end

    def constructor(self):
        if self.tables:
            self.put("__attribute__((constructor(102))) static void choose_table(void)\n"
                     "{\n\tswitch (mutant_number) {\n")
            for number, name in self.tables:
                self.put("\tcase %d: __builtin_memcpy(&%s, &%s__%d, sizeof(%s)); break;\n"
                         % (number, name, name, number, name))
            self.put("\t}\n}\n")

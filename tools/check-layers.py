#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check-layers.py [ROOT]: the order of the files of src/. Fails on
- an #include or a call from one folder to another that the table of docs/design.md does not have, and on an entry of the table that is not used;
- a circle of folders, and a circle of calls between the files of a folder: the files of a folder stand in a list, and calls go down;
- a file that is longer than MOST_LINES;
- an include guard that is not of the file's own path: GR_LOW_A_H for low/a.h;
- a call or file in tools/layers-exceptions.txt for which no exception is needed.
Prints the edges between folders with their numbers of #include lines and calls.

A folder is one that has a row in the table: the deepest above the file. Headers of the system and files that the build makes are no edges. What
is a call: tools/call_graph.py. From outside of a parent folder its functions go by the parent's own headers, too: vm/vm.h declares what vm/sched has."""
import collections
import functools
import pathlib
import re
import sys

import c_calls
import call_graph

BEGIN, END = "<!-- layers: begin -->", "<!-- layers: end -->"
EXCEPTIONS = "tools/layers-exceptions.txt"
MOST_LINES = 800


def allowed_edges(root):
    page = (root / "docs/design.md").read_text(encoding="utf-8")
    if BEGIN not in page or END not in page:
        sys.exit(f"check-layers: docs/design.md has no {BEGIN} and {END}")
    rows = re.findall(r"^\| ([\w/]+) \| ([^|]*)\|", page[page.index(BEGIN):page.index(END)], re.M)
    return {folder: set(names.replace(",", " ").split()) for folder, names in rows if folder != "folder"}


def read_exceptions(root):
    """({(caller, callee, function)}, {long file})"""
    calls, files = set(), set()
    path = root / EXCEPTIONS
    for line in path.read_text(encoding="utf-8").splitlines() if path.is_file() else ():
        words = line.split()
        if line.startswith("#") or not words:
            continue
        if len(words) not in (1, 3):
            sys.exit(f"check-layers: {EXCEPTIONS}: neither a call nor a file: {line}")
        (calls.add(tuple(words)) if len(words) == 3 else files.add(words[0]))
    return calls, files


class Layers:
    def __init__(self, root):
        self.root, self.src = root, root / "src"
        self.allowed = allowed_edges(root)
        self.excepted, self.long = read_exceptions(root)
        self.problems, self.used = [], set()
        self.edges = collections.defaultdict(collections.Counter)
        self.reader = c_calls.Reader(self.src)
        self.calls = call_graph.Calls(self.reader, self.folder_of)

    @functools.lru_cache(None)
    def folder_of(self, file):
        for parent in pathlib.PurePath(file).parents:
            if str(parent) in self.allowed:
                return str(parent)
        return str(pathlib.PurePath(file).parent)

    def check_includes(self):
        for file in sorted(self.reader.texts):
            for number, line in enumerate(self.reader.texts[file].splitlines(), 1):
                found = re.match(r'\s*#\s*include\s+(".*)', line)
                there = self.reader.included(file, found[1]) if found else None
                if there is None:
                    continue
                a, b = self.folder_of(file), self.folder_of(there)
                if a != b:
                    self.edges[a, b]["includes"] += 1
                    if b not in self.allowed.get(a, ()):
                        self.problems.append(f"src/{file}:{number}: {line.strip()}: {a} may not include {b} (docs/design.md)")

    def parent_of_call(self, a, b, name):
        """The folder above b that a may use and whose headers declare the function, None if there is none."""
        above = [p for p in self.allowed.get(a, ()) if b.startswith(p + "/") and not a.startswith(p + "/")]
        headers = {self.folder_of(h) for h in self.calls.headers[name]} if above else ()
        return next((p for p in above if p in headers), None)

    def check_calls_between(self):
        for call in sorted(self.calls.in_place()):
            a, b = self.folder_of(call.caller), self.folder_of(call.callee)
            if a == b:
                continue
            if b not in self.allowed.get(a, ()):
                parent = self.parent_of_call(a, b, call.name)
                if parent is None and call[:3] in self.excepted:
                    self.used.add(call[:3])
                    continue
                if parent is None:
                    self.problems.append(f"src/{call.caller}:{call.line}: {call.name} is in src/{call.callee}: {a} may not call {b} (docs/design.md)")
                    continue
                b = parent
            self.edges[a, b]["calls"] += 1

    def check_calls_within(self):
        functions = collections.defaultdict(set)
        lines = {}
        for call in self.calls.between_files():
            if self.folder_of(call.caller) == self.folder_of(call.callee):
                functions[call.caller, call.callee].add(call.name)
                lines[call[:3]] = call.line
        weights = {edge: len(names - {n for n in names if (*edge, n) in self.excepted}) for edge, names in functions.items()}
        weights = {edge: weight for edge, weight in weights.items() if weight}
        reach = call_graph.Reach(weights)
        self.used |= {(a, b, n) for (a, b), names in functions.items() for n in names if (a, b, n) in self.excepted and a in reach.of(b)}
        for circle in call_graph.circles(weights):
            self.problems.append(f"{self.folder_of(circle[0])}: these files call each other in a circle: {' '.join('src/' + f for f in circle)}; "
                                 "it opens when these functions move, the called one down or the calling one up:")
            for a, b in call_graph.upward(circle, weights):
                self.problems += [f"    src/{a}:{lines[a, b, n]}: {n} is in src/{b}" for n in sorted(functions[a, b])]

    def check_lengths(self):
        for file, text in sorted(self.reader.texts.items()):
            if text.count("\n") <= MOST_LINES:
                continue
            if file in self.long:
                self.used.add(file)
            else:
                self.problems.append(f"src/{file}: {text.count(chr(10))} lines, more than {MOST_LINES}")

    def check_guards(self):
        for file, text in sorted(self.reader.texts.items()):
            found = re.search(r"^#ifndef (\w+)\n#define \1$", text, re.M) if file.endswith(".h") else None
            guard = "GR_" + re.sub(r"\W", "_", file).upper()
            if found and found[1] != guard:
                self.problems.append(f"src/{file}: the include guard is {found[1]}, not {guard}")

    def check_table(self):
        self.problems += [f"docs/design.md: {a} may use {b}, but nothing does: take it out of the table"
                          for a in sorted(self.allowed) for b in sorted(self.allowed[a]) if (a, b) not in self.edges]
        self.problems += [f"docs/design.md: there is no src/{a}" for a in sorted(self.allowed) if not (self.src / a).is_dir()]
        self.problems += ["a circle of folders: " + " ".join(circle) for circle in call_graph.circles(self.edges)]

    def check_exceptions(self):
        for what in sorted(map(str, self.long - self.used)) + [" ".join(e) for e in sorted(self.excepted - self.used)]:
            self.problems.append(f"{EXCEPTIONS}: no exception is needed any more: take it out: {what}")


def main():
    layers = Layers(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent.parent)
    layers.check_includes()
    layers.check_calls_between()
    layers.check_calls_within()
    layers.check_lengths()
    layers.check_guards()
    layers.check_table()
    layers.check_exceptions()
    for (a, b), counts in sorted(layers.edges.items()):
        print(f"{a} -> {b}: {counts['includes']} includes, {counts['calls']} calls")
    for problem in layers.problems:
        print(problem, file=sys.stderr)
    return 1 if layers.problems else 0


if __name__ == "__main__":
    sys.exit(main())

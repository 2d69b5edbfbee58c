#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check-layers.py [ROOT]: which folder of src/ includes which, against the table of docs/design.md. Prints the edges with the number of
#include lines of each. Fails on an edge that is not in the table, on one of the table that nothing uses any more, and on a cycle.

A folder is one that has a row in the table: the deepest above the file. Headers of the system and files that the build makes are no edges."""
import collections
import os
import pathlib
import re
import sys

BEGIN, END = "<!-- layers: begin -->", "<!-- layers: end -->"


def allowed_edges(root):
    page = (root / "docs/design.md").read_text(encoding="utf-8")
    if BEGIN not in page or END not in page:
        sys.exit(f"check-layers: docs/design.md has no {BEGIN} and {END}")
    rows = re.findall(r"^\| ([\w/]+) \| ([^|]*)\|", page[page.index(BEGIN):page.index(END)], re.M)
    return {folder: set(names.replace(",", " ").split()) for folder, names in rows if folder != "folder"}


def folder_of(file, folders):
    for parent in file.parents:
        if str(parent) in folders:
            return str(parent)
    return str(file.parent)


def real_edges(src, folders):
    """{(from, to): ["file:line: the line", ...]}"""
    edges = collections.defaultdict(list)
    for file in sorted(p for p in src.rglob("*") if p.suffix in (".c", ".h", ".def")):
        here = file.relative_to(src)
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            included = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
            if not included:
                continue
            places = [pathlib.Path(os.path.normpath(p)) for p in (here.parent / included[1], pathlib.Path(included[1]))]
            there = next((p for p in places if (src / p).is_file()), None)
            if there is None:
                continue
            edge = folder_of(here, folders), folder_of(there, folders)
            if edge[0] != edge[1]:
                edges[edge].append(f"src/{here}:{number}: {line.strip()}")
    return edges


def cycle(edges):
    """The folders of one cycle, [] if there is none."""
    after = collections.defaultdict(list)
    for a, b in sorted(edges):
        after[a].append(b)
    done = set()

    def walk(folder, path):
        if folder in path:
            return path[path.index(folder):] + [folder]
        if folder in done:
            return []
        for b in after[folder]:
            found = walk(b, path + [folder])
            if found:
                return found
        done.add(folder)
        return []

    for folder in sorted(after):
        found = walk(folder, [])
        if found:
            return found
    return []


def main():
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent.parent
    allowed = allowed_edges(root)
    edges = real_edges(root / "src", allowed)
    problems = []
    for (a, b), lines in sorted(edges.items()):
        print(f"{a} -> {b}: {len(lines)}")
        if b not in allowed.get(a, ()):
            problems += [f"{line}: {a} may not include {b} (docs/design.md)" for line in lines]
    problems += [f"docs/design.md: {a} may include {b}, but nothing does: take it out of the table"
                 for a in sorted(allowed) for b in sorted(allowed[a]) if (a, b) not in edges]
    problems += [f"docs/design.md: there is no src/{a}" for a in sorted(allowed) if not (root / "src" / a).is_dir()]
    around = cycle(edges)
    if around:
        problems.append("a cycle: " + " -> ".join(around))
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

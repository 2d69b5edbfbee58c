# SPDX-License-Identifier: Apache-2.0
"""docs/corpus.md: what the corpus holds, counted from its labels, and what the engines make of it, measured."""
import os

from corpus import FAMILIES
from truth import read

PAGE = "corpus.md"
MEASURED = "## What does exact find?"
TITLES = {
    "table3": "the 27 cases of table 3 in the SuperCollider paper",
    "scopes": "scopes and locks, as in ScoRD and iGUARD",
    "graph": "graph patterns, as in Indigo",
    "hgrd": "the 22 programs of HGRD's table 3, and others whose races hang on what the host passes",
    "ldetector": "the 11 programs of LDetector's table V",
    "subtle": "where detectors raise false alarms",
    "async": "asynchronous and bulk copies, clusters",
    "host": "streams, events, copies, host access, several devices",
}
INTRODUCTION = """# The corpus

<!-- Written by `tests/race/gpurace-corpus --update-docs`; a test compares the counted part. -->

tests/race holds small programs with the truth in their comments: which pairs of lines race, of which class, in which space, and
whether the two accesses can be under way at the same time (*can-overlap*) or are racy only because nothing orders them
(*missing-order*: every schedule there is keeps them apart). Each racy program has its repaired twin in the same file; programs that are clean
although other detectors may think otherwise have none. tests/race/README.md explains the labels and how to add a program.

## What does it hold?
"""
METHOD = """
`tests/race/gpurace-corpus --update-docs` ran every racy program until all its races were found, with at most 20 seeds (or as many as
the program asks for), and every twin and clean program with {twins}. A race is *found* when a report names its class, its space and both its lines.
*False* counts different reports that no label allows, those of twins and clean programs among them. What the collider finds, how likely, and what it
cannot find and why: docs/detection.md.
"""


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]) + "\n"


def families_of(programs):
    names = {p.family for p in programs}
    return [f for f in FAMILIES if f in names] + sorted(names - set(FAMILIES))


def with_total(rows):
    return rows + [["**all**"] + [sum(row[i] for row in rows) if isinstance(rows[0][i], int) else "" for i in range(1, len(rows[0]))]]


def counted(programs):
    rows, classes = [], {}
    for family in families_of(programs):
        here = [p for p in programs if p.family == family]
        races = [r for p in here for r in p.races.values()]
        rows.append([f"`{family}`", TITLES.get(family, ""), len(here), sum(p.racy for p in here), len(races),
                     *(sum(r.space == s for r in races) for s in ("global", "shared")),
                     *(sum(r.order == o for r in races) for o in ("can-overlap", "missing-order"))])
        for race in races:
            row = classes.setdefault(race.classes[0], {"can-overlap": 0, "missing-order": 0})
            row[race.order] += 1
    head = ["family", "what it is", "programs", "racy", "races", "global", "shared", "can-overlap", "missing-order"]
    text = INTRODUCTION + "\n" + table(head, with_total(rows)) + "\nThe races by class:\n\n"
    rows = [[name, sum(row.values()), row["can-overlap"], row["missing-order"]] for name, row in sorted(classes.items())]
    text += table(["class", "races", "can-overlap", "missing-order"], rows)
    misuses = sum(len(p.misuses) for p in programs)
    return text + (f"\nThe synchronization of {misuses} programs is wrong in itself, which `exact` has to name.\n" if misuses else "")


def page(programs, results, twins):
    """results: what exact made of the programs; twins: with how many seeds the twins ran."""
    rows = []
    for family in families_of(programs):
        here = [r for r in results if r.program.family == family]
        races = sum(len(p.races) for p in programs if p.family == family)
        found = sum(i in r.program.races for r in here for i in r.found)
        rows.append([f"`{family}`", races, found, races - found, sum(len(r.false) for r in here)])
    head = ["family", "races", "found", "missed", "false"]
    return counted(programs) + "\n" + MEASURED + "\n" + METHOD.format(twins=twins) + "\n" + table(head, with_total(rows))


def outdated(docs, programs):
    """What is wrong with the counted part of the page, or nothing."""
    path = os.path.join(docs, PAGE)
    again = "run tests/race/gpurace-corpus --update-docs"
    try:
        text = read(path)
    except OSError as error:
        return f"{error}; {again}"
    if text.partition("\n" + MEASURED)[0] != counted(programs):
        return f"{path} does not count what is there; {again}"
    return ""

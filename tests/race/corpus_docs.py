# SPDX-License-Identifier: Apache-2.0
"""docs/corpus.md: what the corpus holds, counted from its labels, what each engine can find, derived, and what one does, measured."""
import os

import findable
from corpus import FAMILIES
from truth import read

PAGE = "corpus.md"
ENGINE = "exact"  # what is measured
MEASURED = f"## What does {ENGINE} find?"
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
DERIVED = """
## What can each engine find?

So many races, and so many programs with at least one of them. Derived from what an engine can do (docs/engines.md), from the labels, and from what accesses are on
the two sides (tests/race/sides.tsv). tests/race/findable.py has the rules.

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


def able(programs, pairs, engines):
    """What each engine that finds races can find of them, a column for each of its devices."""
    columns = [(e, device) for e in engines.values() for device in ("cpu", "gpu") if "checks" in e.can and findable.rule_of(e, device)]
    found = lambda e, device, here: [(p.key, r.id) for p in here for r in p.races.values()
                                     if not findable.why_not(e, device, r, pairs.get((p.key, r.id), ()))]
    cell = lambda keys: f"{len(keys)} in {len({program for program, _ in keys})}"
    rows = []
    for family in [*families_of(programs), None]:
        here = [p for p in programs if family in (None, p.family)]
        every = [(p.key, race) for p in here for race in p.races]
        rows.append([f"`{family}`" if family else "**all**", cell(every), *(cell(found(e, device, here)) for e, device in columns)])
    names = {"cpu": "CPU device", "gpu": "GPU"}
    text = DERIVED + "".join(f"- `{e.name}`, {names[device]}: {findable.rule_of(e, device).finds}\n" for e, device in columns)
    return text + "\n" + table(["family", "labelled", *(f"`{e.name}`, {names[device]}" for e, device in columns)], rows)


def counted(programs, pairs, engines):
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
    text += f"\nThe synchronization of {misuses} programs is wrong in itself, which `exact` has to name.\n" if misuses else ""
    return text + able(programs, pairs, engines)


def measured(programs, results, twins):
    """results: what the engine made of the programs; twins: with how many seeds the twins ran."""
    rows = []
    for family in families_of(programs):
        here = [r for r in results if r.program.family == family]
        races = sum(len(p.races) for p in programs if p.family == family)
        found = sum(i in r.program.races for r in here for i in r.found)
        rows.append([f"`{family}`", races, found, races - found, sum(len(r.false) for r in here)])
    head = ["family", "races", "found", "missed", "false"]
    return METHOD.format(twins=twins) + "\n" + table(head, with_total(rows))


def write(docs, counts, results=None):
    """The page. Without results, those that it has are kept."""
    path = os.path.join(docs, PAGE)
    head = "\n" + MEASURED + "\n"
    results = read(path).partition(head)[2] if results is None else results
    with open(path, "w", encoding="utf-8") as file:
        file.write(counts + head + results)


def outdated(docs, counts):
    """What is wrong with the counted part of the page, or nothing."""
    path = os.path.join(docs, PAGE)
    again = "run tests/race/gpurace-corpus --redraw, or --update-docs, which measures too"
    try:
        text = read(path)
    except OSError as error:
        return f"{error}; {again}"
    if text.partition("\n" + MEASURED)[0] != counts:
        return f"{path} does not count what is there; {again}"
    return ""

# SPDX-License-Identifier: Apache-2.0
"""docs/corpus.md: what the corpus holds, counted from its labels, and what the engines make of it, measured."""
from corpus import FAMILIES
from truth import read

MEASURED = "## What do the engines find?"
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
the program asks for), and every twin and clean program with {twins}. A race is *found* when a report names its class, its space and both its lines; the
collider sees one side, so for it the access that noticed has to be on one of the race's lines. *False* counts different reports
that no label allows, those of twins and clean programs among them. What is labelled missing-order the collider can hardly see: nothing
collides. So its share of the can-overlap ones stands beside.
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


def page(programs, measured, twins):
    """measured: per engine the results of the programs; twins: with how many seeds the twins ran."""
    rows = []
    for family in families_of(programs):
        row = [f"`{family}`", sum(len(p.races) for p in programs if p.family == family)]
        for results in measured.values():
            here = [r for r in results if r.program.family == family]
            found = [r.program.races[i] for r in here for i in r.found if i in r.program.races]
            row += [len(found), row[1] - len(found), sum(len(r.false) for r in here)]
        row += [sum(r.order == "can-overlap" for p in programs if p.family == family for r in p.races.values()),
                sum(r.order == "can-overlap" for r in found)]
        rows.append(row)
    head = ["family", "races"] + [f"{engine}: {name}" for engine in measured for name in ("found", "missed", "false")]
    head += ["can-overlap", f"{list(measured)[-1]}: of these"]
    return counted(programs) + "\n" + MEASURED + "\n" + METHOD.format(twins=twins) + "\n" + table(head, with_total(rows))


def outdated(path, programs):
    """What is wrong with the counted part of the page, or nothing."""
    again = "run tests/race/gpurace-corpus --update-docs"
    try:
        text = read(path)
    except OSError as error:
        return f"{error}; {again}"
    if text.partition("\n" + MEASURED)[0] != counted(programs):
        return f"{path} does not count what is there; {again}"
    return ""

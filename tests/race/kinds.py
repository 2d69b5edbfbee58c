#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What both rule sets of the tracker find of the corpus, by the kinds of races in table 4 of the iGUARD paper (SOSP 2021).

Each program runs racy under tracker+exact with either rule set. A labelled race is found if the tracker reports a pair in some seed whose
witness, exact's report in the same execution, is that race. Its kind, the first that fits:

    AS   insufficient scope: the label's class says so, or that a scope is too narrow
    IL   improper locking: the label speaks of a lock
    ITS, BR, DR   by the farthest threads between which exact saw it in these runs: of one warp, of one block, of two blocks

Left out are races with a side that is no access of a kernel, of two launches, of asynchronous operations (the paper has none of these), and those that exact
saw in none of the runs. Exit status: 0, or 1 if a run did not go well.
"""
import argparse
import concurrent.futures
import os
import re
import sys
from dataclasses import dataclass, field

import corpus
import engines
from judge import UNCHECKED
from truth import ROOT, Run, of_host

RULES = ("ptx", "paper")
KINDS = {"AS": "insufficient scope", "IL": "improper locking", "ITS": "within a warp", "BR": "within a block", "DR": "between blocks"}
# Table 4 of the paper: programs in which iGUARD found races, and of which kinds. It found 57 races there (section 7.1); the table does not
# say how many of each kind.
PAPER = {"matrix-mult": "IL AS BR", "1dconv": "AS", "graph-con": "AS BR DR", "reduction": "ITS BR DR", "rule-110": "AS DR", "uts": "IL AS",
         "conjugGMB": "DR", "reduceMB": "DR", "grid_sync": "DR", "louvain": "ITS", "pr_nibble": "BR", "sm": "BR", "color": "BR", "mis": "BR DR",
         "cc": "BR DR", "slabhash_test": "DR", "cuML_gsync": "DR", "interac": "BR DR", "hashtable": "DR", "shocbfs": "BR", "cub_gridbar": "DR"}
NEAR = ("ITS", "BR", "DR")


@dataclass
class Found:
    """What the runs showed of one labelled race."""

    near: str = ""  # one of NEAR; "": exact did not see it
    by: set = field(default_factory=set)  # rule sets


def near(record):
    """Of NEAR, for the two sides of a report."""
    a, b = record["accesses"]
    if a["block"] != b["block"]:
        return "DR"
    return "ITS" if "lanes of one warp" in record["missing_order"] else "BR"


def comparable(record):
    """Whether both sides are accesses of one launch that are over when they are made."""
    sides = record["accesses"]
    launches = {a["launch"] for a in sides if a.get("launch")}
    return len(sides) == 2 and len(launches) < 2 and not any(of_host(a) or a["kind"] == "free" or a.get("asynchronous") for a in sides)


def kind_of(label, found):
    if "insufficient scope" in label.classes or label.scope:
        return "AS"
    if re.search(r"\b(un)?lock|\bmutex", label.why):
        return "IL"
    return found.near


class Survey:
    def __init__(self, args):
        self.args, self.errors = args, []

    def program(self, program):
        """{label's number: Found}"""
        found = {number: Found() for number in program.races}
        for rules in RULES:
            for seed in self.args.seeds:
                self.one(program, rules, seed, found)
        return found

    def one(self, program, rules, seed, found):
        command = [os.path.join(self.args.programs, program.family, program.name), *program.args]
        devices = ["--cpu-devices", str(program.devices)] if program.devices > 1 else []
        run = Run(self.args.gpurace, "tracker+exact", command, seed, "json", ["--rules", rules, *devices], timeout=self.args.timeout)
        try:
            report = run.report(None)
        except Exception as error:  # whatever a broken report raises is a finding about that run
            self.errors.append(f"{run.command}: {error}")
            return
        for problem in run.check(report, False, UNCHECKED if rules == "ptx" else (*UNCHECKED, "not confirmed")):
            if not any("timeout:" in reason for reason in report.get("reasons", ())):
                self.errors.append(f"{run.command}: {problem}")
        for record in report["races"]:
            own = record["engine"] == "tracker"
            witness = record.get("witness") if own else record
            if not witness or not comparable(witness):
                continue
            for number, label in program.races.items():
                if not label.matches(witness, program):
                    continue
                f = found[number]
                f.near = max(f.near or "ITS", near(witness), key=NEAR.index)
                if own:
                    f.by.add(rules)


def row(races):
    return [len({key for key, _ in races}), len(races), *(sum(rules in f.by for _, f in races) for rules in RULES)]


def show(results):
    """results: {(program's key): {number: (label, Found)}}"""
    races = {}
    for key, found in results.items():
        for label, f in found.values():
            if f.near:
                races.setdefault(kind_of(label, f), []).append((key, f))
    lines = ["| kind | paper: programs | corpus: programs | races | found, `--rules ptx` | found, `--rules paper` |", "|---|---|---|---|---|---|"]
    for kind, words in KINDS.items():
        programs = sum(kind in kinds.split() for kinds in PAPER.values())
        lines.append(f"| {kind}, {words} | {programs} | " + " | ".join(map(str, row(races.get(kind, [])))) + " |")
    every = [race for some in races.values() for race in some]
    lines.append(f"| all | {len(PAPER)} | " + " | ".join(map(str, row(every))) + " |")
    print("\n".join(lines))
    left = sum(not f.near for found in results.values() for _, f in found.values())
    print(f"{left} labelled races are left out")


def parse_args(argv):
    summary, _, rest = __doc__.partition("\n\n")
    p = argparse.ArgumentParser(description=summary, epilog=rest, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("patterns", nargs="*", metavar="PROGRAM", help="a family, NAME or FAMILY/NAME, with * and ?; default: all")
    p.add_argument("--seeds", type=int, default=5, metavar="N", help="seeds 1 to N (default: %(default)s)")
    p.add_argument("-j", "--jobs", type=int, default=2, help="runs at the same time (default: 2)")
    p.add_argument("--missed", action="store_true", help="a line for each race that a rule set did not find")
    p.add_argument("--gpurace", default=os.path.join(ROOT, "build/gpurace"))
    p.add_argument("--programs", default=os.path.join(ROOT, "build/corpus"), help="folder of the built programs")
    p.add_argument("--sources", default=os.path.join(ROOT, "tests/race"), help="folder of the families")
    p.add_argument("--timeout", type=float, default=120, metavar="SECONDS", help="of one run")
    args = p.parse_args(argv)
    args.seeds = range(1, args.seeds + 1)
    return args


def main(argv=None):
    args = parse_args(argv)
    try:
        engines.choose(args.gpurace, "tracker+exact", "cpu")
        programs = [p for p in corpus.load(args.sources, args.patterns) if p.races and not p.only_fixed]
    except ValueError as error:
        print(f"kinds: {error}", file=sys.stderr)
        return 2
    survey = Survey(args)
    with concurrent.futures.ThreadPoolExecutor(max_workers=max(1, args.jobs)) as pool:
        found = list(pool.map(survey.program, programs))
    results = {p.key: {n: (p.races[n], f) for n, f in of.items()} for p, of in zip(programs, found)}
    show(results)
    for key, of in results.items():
        for number, (label, f) in of.items():
            missing = [rules for rules in RULES if rules not in f.by]
            if args.missed and f.near and missing:
                print(f"{kind_of(label, f)}: {key} {number}: not by {' and '.join(missing)}: {label.why}")
    print("\n".join(survey.errors))
    return int(bool(survey.errors))


if __name__ == "__main__":
    sys.exit(main())

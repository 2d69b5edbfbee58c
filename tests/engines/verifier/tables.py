#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tables.py GPURACE [-j N] [--update-docs]: tables 3 and 4 of the HGRD paper, beside what `gpurace check` says of the same programs, which the corpus
family hgrd has written anew. Fails if a race of table 3 is missed, if a race is shown that the labels do not have, or if a program does without a class of
facts that the paper's table 4 says it needs. --update-docs writes docs/verifier-tables.md."""
import argparse
import concurrent.futures
import importlib.util
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
DOCS = HERE.parents[2] / "docs/verifier-tables.md"
# By its path: tests/race has a corpus.py, too.
_spec = importlib.util.spec_from_file_location("verifier_corpus", HERE / "corpus.py")
checks = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(checks)

# Table 3 as printed: the paper's name, races, then iGUARD, GKLEE, GPUVerify, FaialAA, HGRD as "reported [false negatives:false positives]".
TABLE_3 = """
pathCompression | 2 | 0 [2:0] | 2 [0:0] | 2 [0:0] | 1 [0:0] | 2 [0:0]
condNeighbor | 2 | 0 [2:0] | 0 [2:0] | 1 [0:0] | 1 [0:0] | 2 [0:0]
pushNode | 2 | 0 [2:0] | 0 [2:0] | 1 [0:0] | 1 [0:0] | 2 [0:0]
conel | 2 | 2 [0:0] | 2 [0:0] | 1 [0:0] | 1 [0:0] | 2 [0:0]
warpCommunicate | 2 | 2 [0:0] | NS | NS | 0 [2:0] | 2 [0:0]
tissue | 4 | 1 [3:0] | NS | 3 [0:0] | 0 [4:0] | 4 [0:0]
1dconv | 1 | 1 [0:0] | 2 [0:1] | 1 [0:0] | 1 [0:0] | 1 [0:0]
bilateralFilter | 0 | 0 [0:0] | NS | 1 [0:1] | 0 [0:0] | 0 [0:0]
copyUppToLow | 0 | 0 [0:0] | 0 [0:0] | 2 [0:2] | 1 [0:1] | 0 [0:0]
copyLowToUpp | 0 | 0 [0:0] | 0 [0:0] | 2 [0:2] | 1 [0:1] | 0 [0:0]
copyFromTp | 0 | 0 [0:0] | 1 [0:1] | 2 [0:2] | 1 [0:1] | 0 [0:0]
reduction | 0 | 0 [0:0] | 1 [0:1] | 1 [0:1] | 1 [0:1] | 0 [0:0]
randomAccess | 0 | 0 [0:0] | NS | 4 [0:4] | 1 [0:1] | 0 [0:0]
expDistance | 0 | 0 [0:0] | 1 [0:1] | 1 [0:1] | 1 [0:1] | 0 [0:0]
toneMapping | 0 | 0 [0:0] | 0 [0:0] | 4 [0:4] | 1 [0:1] | 0 [0:0]
convSeparable | 0 | 0 [0:0] | 0 [0:0] | 1 [0:1] | 1 [0:1] | 0 [0:0]
luDecomposition | 0 | 0 [0:0] | NS | 2 [0:2] | 1 [0:1] | 0 [0:0]
needlemanWunsch | 0 | 0 [0:0] | NS | 2 [0:2] | 2 [0:2] | 0 [0:0]
pitchLinear | 0 | 0 [0:0] | 0 [0:0] | 2 [0:2] | 2 [0:2] | 0 [0:0]
copyFromVec | 0 | 0 [0:0] | 0 [0:0] | 1 [0:1] | 1 [0:1] | 0 [0:0]
matMul | 0 | 0 [0:0] | NS | 5 [0:5] | 1 [0:1] | 0 [0:0]
rule110 | 0 | 0 [0:0] | NS | 5 [0:5] | 1 [0:1] | 0 [0:0]
"""
SUMMARY = ["6 [9:0]", "9 [4:4]", "44 [0:35]", "21 [6:16]", "15 [0:0]"]  # as printed

# Table 4: which programs need a class of facts, by the numbers of --facts.
TABLE_4 = {
    1: ("asserts in host code", ["copyUppToLow", "copyLowToUpp", "copyFromTp"]),
    2: ("thread grid dimensions", ["reduction", "randomAccess", "expDistance"]),
    3: ("relation among kernel parameters", ["toneMapping", "convSeparable"]),
    4: ("bounds on kernel parameters", ["luDecomposition", "needlemanWunsch"]),
    5: ("relation between allocation size and parameters", ["pitchLinear", "copyFromVec"]),
}
OTHER_NAMES = {"1dconv": "conv1d"}
POSSIBLE = re.compile(r"possible: .*?: (the \w+ at \S+:\d+) and (the \w+ at \S+:\d+) may touch")


def our_name(paper):
    return OTHER_NAMES.get(paper) or re.sub(r"(?<=[a-z])(?=[A-Z])", "_", paper).lower()


def all_but(number):
    return ",".join(str(n) for n in range(1, 6) if n != number)


def pairs_of(result, name):
    """The pairs of accesses that were shown to race, and those that may: each access is what it does and its line."""
    shown = {frozenset(f"the {a['kind']} at {name}.cu:{a['line']}" for a in r["accesses"]) for r in result["report"]["races"]}
    possible = {frozenset(m) for m in re.findall(POSSIBLE, "\n".join(result["reasons"]))}
    return shown, possible - shown


class Table3:
    """Our columns: races shown, possible ones, and both as the paper counts."""

    def __init__(self, programs, all_facts):
        self.lines, self.failures = [], []
        sums = [0] * 5  # races, shown, possible, missed, false
        for row in TABLE_3.strip().splitlines():
            paper, races, *published = [cell.strip() for cell in row.split("|")]
            name, races = our_name(paper), int(races)
            shown, possible = pairs_of(all_facts[name], name)
            count = len(shown) + len(possible)
            missed, false = max(races - count, 0), max(count - races, 0)
            if missed or len(shown) > races:
                self.failures.append(f"{paper}: {len(shown)} shown and {len(possible)} possible, of {races}")
            if races != len(programs[name].races):
                self.failures.append(f"{paper}: the labels of {name}.cu have {len(programs[name].races)} races, the paper {races}")
            ours = f"{count} [{missed}:{false}]"
            self.lines.append("| " + " | ".join([paper, *published, str(len(shown)), str(len(possible)), ours]) + " |")
            sums = [a + b for a, b in zip(sums, (races, len(shown), len(possible), missed, false))]
        _, shown, possible, missed, false = sums
        self.lines.append("| " + " | ".join(["**all**", *SUMMARY, str(shown), str(possible), f"{shown + possible} [{missed}:{false}]"]) + " |")

    def text(self):
        head = "| program | iGUARD | GKLEE | GPUVerify | FaialAA | HGRD | here: shown | possible | both |\n" + "|---" * 9 + "|\n"
        return head + "\n".join(self.lines) + "\n"


def lost(runs, number, names):
    """What is clean with all facts, and is not without a class."""
    return [n for n in names if runs[None][n]["verdict"] == "clean" and runs[number][n]["verdict"] != "clean"]


def table_4(runs, names):
    lines, failures = [], []
    ours = {our_name(row.split("|")[0].strip()) for row in TABLE_3.strip().splitlines()}
    for number, (text, published) in TABLE_4.items():
        gone = lost(runs, number, names)
        wanted = [our_name(p) for p in published]
        failures += [f"{n} does without the facts of class {number}" for n in wanted if n not in gone]
        cells = ([f"{number} {text}", ", ".join(wanted)] + [", ".join(n for n in gone if n in wanted)]
                 + [", ".join(n for n in gone if n in ours and n not in wanted) or "-"])
        lines.append("| " + " | ".join(cells) + " |")
    head = "| class | the paper's programs | lost here | lost here, too, of the 22 |\n|---|---|---|---|\n"
    return head + "\n".join(lines) + "\n", failures


def sums(runs, names):
    lines = []
    for number, results in runs.items():
        counts = [sum(results[n]["counts"][k] for n in names) for k in range(4)]
        clean = sum(results[n]["verdict"] == "clean" for n in names)
        lines.append("| " + " | ".join(map(str, ["all" if number is None else f"without {number}", clean, *counts])) + " |")
    return "| facts | programs clean | pairs proved | shown | possible | unknown |\n|---|---|---|---|---|---|\n" + "\n".join(lines) + "\n"


def run_all(gpurace, programs, jobs):
    """By the class that is left out (None: none is), then by program: what was said."""
    runs, failures = {None: {}, **{n: {} for n in TABLE_4}}, []
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        asked = {(number, p.name): pool.submit(checks.check, gpurace, p, "--facts", all_but(number) if number else "1,2,3,4,5")
                 for number in runs for p in programs}
        for (number, name), answer in asked.items():
            result = answer.result()
            runs[number][name] = result
            if "verdict" not in result:
                sys.exit(f"{name}, facts without {number}: {result['failed']}")
            # Facts left out allow launches that the program does not make, and so races that it does not have.
            if result["failed"] and number is None:
                failures.append(f"{name}: {result['failed']}")
    return runs, failures


PAGE = """# The verifier and the HGRD paper's tables

<!-- Written by `tests/engines/verifier/tables.py GPURACE --update-docs`. -->

The corpus family `hgrd` holds the 22 programs of the paper's table 3, written anew at small size, with the sizes as inputs where the paper
has them so. `tests/engines/verifier/tables.py` runs `gpurace check` on the family, with all facts of the host code and with each class left
out, and writes this page. docs/verifier.md says what the words mean.

## Table 3: which races are found

The columns of the five tools are the paper's, with *[missed:false]* in brackets. A race is a pair of accesses: two lines, each with what it
does there. *Shown* were replayed under `exact`; *possible* ones hang on data in memory, which the report names.

{table_3}
{shortfall}
## Table 4: which programs need which facts

*Lost* is a program that is clean with all facts, and not without this class. The classes are those of `--facts`.

{table_4}
The paper's table 4 names one class for a program. Some need more: asserts and sizes of allocations matter only beside the grid and the
parameters that they speak of, so without those these are lost as well.

## All programs of the family

{sums}
Without a class the host code allows launches that the program never makes: a race *shown* then is one of such a launch.
"""


def shortfall(results, names):
    open_now = [n for n in names if results[n]["verdict"] == "inconclusive" and results[n]["label"] == "clean"]
    return f"Race-free programs that are not proved: {', '.join(f'`{n}`' for n in open_now)}.\n" if open_now else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("gpurace")
    parser.add_argument("-j", type=int, default=1)
    parser.add_argument("--update-docs", action="store_true")
    args = parser.parse_args()
    programs = {p.name: p for p in checks.corpus.load(checks.RACE, ["hgrd"])}
    runs, failures = run_all(args.gpurace, programs.values(), args.j)
    names = list(programs)
    for n in names:
        runs[None][n]["label"] = "racy" if programs[n].races else "clean"
    table_3 = Table3(programs, runs[None])
    text_4, not_lost = table_4(runs, names)
    page = PAGE.format(table_3=table_3.text(), shortfall=shortfall(runs[None], names), table_4=text_4, sums=sums(runs, names))
    if args.update_docs:
        DOCS.write_text(page, encoding="utf-8")
    else:
        print(page)
    failures += table_3.failures + not_lost
    for failure in failures:
        print("FAILED: " + failure)
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the privatizer makes of the corpus: of each labelled race, in how many runs it was found, or why it need not be.

    corpus.py GPURACE CORPUS [--seeds N] [--schedules WORDS] [--device D] [--list] [FAMILY...]

CORPUS is the folder with the built programs. A race may be left out for three reasons: a kernel of it is refused by name in the verdict; the labels and the
accesses of its sides (tests/race/sides.tsv) say that it is none of two accesses within one launch; or cannot.tsv beside this file names it and says which of the
things that private copies cannot see it is. All others have to be found in every run, and nothing else may be reported. Of repaired twins nothing may be.
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import sys

RACE = pathlib.Path(__file__).resolve().parents[2] / "race"
sys.path.insert(0, str(RACE))
import corpus  # noqa: E402
import engines  # noqa: E402
import findable  # noqa: E402
import judge  # noqa: E402
from truth import Run  # noqa: E402

REFUSED = re.compile(r"engine privatizer: (?:launch \d+ of )?kernel (.*?) was not checked(?: between (\w+))?(?: to its end, but until|:) (.*)")


def cannot():
    """{(program, race): reason}"""
    rows = {}
    for line in (pathlib.Path(__file__).parent / "cannot.tsv").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            program, race, reason = line.split("\t")
            rows[program, int(race)] = reason
    return rows


def runs_of(options, binary, program, seed, twin, words):
    command = [str(binary)] + (["fixed"] if twin else []) + program.args
    devices = ["--cpu-devices", str(program.devices)] if program.devices > 1 and options.device == "cpu" else []
    run = Run(options.gpurace, "privatizer", command, seed, "json", [*devices, *words], device=options.device, timeout=120)
    return run.report(None)


def one(options, referee, program):
    """(program, runs, {race: runs that found it}, [refused], [false], [errors])"""
    binary = pathlib.Path(options.corpus, program.family, program.name)
    hits, refused, false, errors, runs = {r: 0 for r in program.races}, set(), [], [], 0
    reasons = set()
    for schedule in options.schedules.split(","):
        for seed in range(1, options.seeds + 1):
            for twin in (False, True):
                words = ["--schedule", schedule] if options.device == "cpu" else []
                try:
                    report = runs_of(options, binary, program, seed, twin, words)
                except Exception as error:  # whatever a broken report raises
                    errors.append(f"seed {seed}: {error}"[:300])
                    continue
                said = report.get("reasons", []) + report["coverage"].get("besides", [])
                words_of = {m[3] for m in map(REFUSED.match, said) if m}
                failures = {w for w in words_of if "CUDA error" in w}  # ours, which excuses nothing
                errors += [f"{'twin, ' if twin else ''}seed {seed}, {schedule}: {w}" for w in sorted(failures)]
                refused |= words_of - failures
                reasons |= {r for r in said if not REFUSED.match(r)}
                if not twin:
                    runs += 1
                found = set()
                for record in report["races"]:
                    ids = set() if twin else referee.match(program, record, ())
                    if not ids:
                        false.append(f"{'twin, ' if twin else ''}seed {seed}, {schedule}: {judge.describe(record, program)}")
                    found |= ids
                for race in found:
                    hits[race] += 1
    return program, runs, hits, refused, reasons, false, errors


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gpurace")
    parser.add_argument("corpus")
    parser.add_argument("families", nargs="*")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--schedules", default="default")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--list", action="store_true", help="each race that is left out, and why")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    pairs, excused = findable.load(RACE), cannot()
    chosen = engines.choose(options.gpurace, "privatizer", options.device)
    referee = judge.Judge(options.gpurace, options.corpus, chosen)
    programs = [p for p in corpus.load(str(RACE)) if not options.families or p.family in options.families or p.key in options.families]
    if not programs:
        sys.exit("no such program")
    failed, tally = 0, {}
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for program, runs, hits, refused, reasons, false, errors in pool.map(lambda p: one(options, referee, p), programs):
            t = tally.setdefault(program.family, dict(programs=0, refused=0, races=0, can=0, every=0, other=0, beyond=0, spared=0))
            t["programs"] += 1
            t["refused"] += bool(refused)
            for text in [f"false: {x}" for x in false] + [f"error: {x}" for x in errors]:
                print(f"{program.key}: {text}")
                failed += 1
            for race_id, race in program.races.items():
                t["races"] += 1
                beyond = findable.within_a_launch(race, pairs.get((program.key, race_id), ()))
                why = excused.get((program.key, race_id))
                if beyond or why or refused:
                    kind = "beyond" if beyond else "other" if why else "spared"
                    t[kind] += 1
                    if options.list or (why and hits[race_id] == runs):
                        print(f"{program.key} {race_id}: found {hits[race_id]} of {runs}, left out: {beyond or why or 'refused: ' + '; '.join(sorted(refused))}")
                    continue
                t["can"] += 1
                t["every"] += hits[race_id] == runs
                if hits[race_id] < runs:
                    print(f"{program.key} {race_id}: found in {hits[race_id]} of {runs} runs: {sorted(race.classes)} {race.space}; {'; '.join(sorted(reasons))[:300]}")
                    failed += 1
    heads = ["family", "programs", "with a kernel refused", "races", "can be found", "found in every run", "in kernels refused", "cannot", "not within a launch"]
    print("| " + " | ".join(heads) + " |\n|" + "---|" * len(heads))
    total = {k: sum(t[k] for t in tally.values()) for k in next(iter(tally.values()))}
    for family, t in [*tally.items(), ("all", total)]:
        print(f"| {family} | " + " | ".join(str(t[k]) for k in ("programs", "refused", "races", "can", "every", "spared", "other", "beyond")) + " |")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())

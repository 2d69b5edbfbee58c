#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How many labelled races of the corpus the collider finds on a GPU, by values alone, with several sets of options side by side.

    gpu_rates.py GPURACE CORPUS [FAMILY...] [--sets NAME=OPTIONS]... [--runs N] [--device gpu|cpu] [--missed]

CORPUS is the folder with the built programs. Each racy program and each repaired twin runs N times, with the seeds 1 to N, under each set of options. Which races can show
by value is derived from the labels and from the accesses of their sides (tests/race/sides.tsv): two accesses that can overlap, one of them weak, and the other one writes. Where both
store the same value, only poisoned stores show it. The table has, of these, the races found by one run (mean), by any of the N, and the reports that no label allows.
"""
import argparse
import concurrent.futures
import os
import pathlib
import sys

RACE = pathlib.Path(__file__).resolve().parents[2] / "race"
sys.path.insert(0, str(RACE))
import corpus  # noqa: E402
import engines  # noqa: E402
import findable  # noqa: E402
import judge  # noqa: E402
from truth import Run  # noqa: E402


def reports(options, words, program, seed, twin):
    binary = pathlib.Path(options.corpus, program.family, program.name)
    command = [str(binary)] + (["fixed"] if twin else []) + program.args
    extra = ["--watchpoints", "no", "--schedule", "default"] if options.device == "cpu" else []
    return Run(options.gpurace, "collider", command, seed, "json", [*words, *extra], device=options.device, timeout=60).report(None)["races"]


def one(options, referee, words, program):
    """({race: runs that found it}, [false], [errors])"""
    hits, false, errors = {r: 0 for r in program.races}, [], []
    for seed in range(1, options.runs + 1):
        for twin in (False, True):
            try:
                races = reports(options, words, program, seed, twin)
            except Exception as error:  # whatever a broken report raises
                errors.append(f"{program.key}: {'twin, ' if twin else ''}seed {seed}: {error}"[:200])
                continue
            found = set()
            for record in races:
                ids = set() if twin else referee.match(program, record, ())
                found |= ids
                if not ids:
                    false.append(f"{program.key}: {'twin, ' if twin else ''}seed {seed}: {judge.describe(record, program)}")
            for race in found:
                hits[race] += 1
    return hits, false, errors


def why_not(race, pairs, poisons):
    """Why the race cannot show; empty: it can."""
    reason = findable.of_race(race, pairs).by_value
    return "" if poisons and reason == findable.SAME else reason


def measure(options, referee, programs, pairs, name, words):
    poisons, rows, false, errors, missed = "--poison-writes" in words, {}, [], [], []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for program, (hits, wrong, broken) in zip(programs, pool.map(lambda p: one(options, referee, words, p), programs)):
            false += wrong
            errors += broken
            row = rows.setdefault(program.family, [0, 0, 0])
            for number, race in program.races.items():
                if why_not(race, pairs.get((program.key, number), ()), poisons):
                    continue
                row[0] += 1
                row[1] += hits[number]
                row[2] += hits[number] > 0
                if not hits[number]:
                    missed.append(f"{program.key} {number}")
    for family, (can, runs, any_run) in [*rows.items(), ("all", [sum(r[k] for r in rows.values()) for k in range(3)])]:
        share = lambda n: f"{100 * n / can:.0f} %" if can else ""
        print(f"| {name} | {family} | {can} | {share(runs / options.runs)} | {any_run} ({share(any_run)}) | {len(false) if family == 'all' else ''} |", flush=True)
    for text in [*false[:20], *errors[:20], *(missed if options.missed else [])]:
        print(f"{name}: {text}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gpurace")
    parser.add_argument("corpus")
    parser.add_argument("families", nargs="*")
    parser.add_argument("--sets", action="append", metavar="NAME=OPTIONS")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--device", default="gpu")
    parser.add_argument("--missed", action="store_true", help="name the races that no run found")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    pairs = findable.load(RACE)
    referee = judge.Judge(options.gpurace, options.corpus, engines.choose(options.gpurace, "collider", options.device))
    programs = [p for p in corpus.load(str(RACE)) if p.devices == 1 and p.races and (not options.families or p.family in options.families)]
    if not programs:
        sys.exit("no such program")
    print(f"| options | family | can show | in one run | in {options.runs} runs | false |\n|---|---|---|---|---|---|")
    for text in options.sets or ["default=", "poisoned=--poison-writes"]:
        name, _, words = text.partition("=")
        measure(options, referee, programs, pairs, name, words.split())


if __name__ == "__main__":
    main()

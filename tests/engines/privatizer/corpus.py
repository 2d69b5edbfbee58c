#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the privatizer makes of the corpus: of each labelled race, in how many runs it was found, or why it need not be.

    corpus.py GPURACE CORPUS [FAMILY...] [--seeds N] [--schedules WORDS] [--confirm N] [--one-report] [--device D] [--list] [--state FILE] [--seconds N]

CORPUS is the folder with the built programs. A race may be left out for three reasons: a kernel of it is refused by name in the verdict; the labels and the
accesses of its sides (tests/race/sides.tsv) say that it is none of two accesses within one launch; or cannot.tsv beside this file names it and says which of the
things that private copies cannot see it is. All others have to be found in every run, and nothing else may be reported. Of repaired twins nothing may be.

Seed by seed all programs are run under the first of the schedules, and under the others those with a race that can be found. --state FILE keeps what each run gave, so that a soak that
was stopped, by --seconds or otherwise, goes on where it was. What is counted is what was run.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import sys
import threading
import time

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


class Found:
    """What came of one program's runs."""

    def __init__(self, program):
        self.program = program
        self.runs, self.hits = 0, {r: 0 for r in program.races}  # of the racy program: how many, and by race those that found it
        self.reasons, self.false, self.errors = set(), [], []
        self.refused = set()  # of runs of the racy program: what some of them say
        self.always = None  # and what all say
        self.reports = set()  # of each run the races, in words
        self.pairs = {}  # {(space, lines): in words}


def run_of(options, engine, program, seed, schedule, twin, *more):
    binary = pathlib.Path(options.corpus, program.family, program.name)
    command = [str(binary)] + (["fixed"] if twin else []) + program.args
    words = ["--cpu-devices", str(program.devices)] if program.devices > 1 and options.device == "cpu" else []
    words += ["--schedule", schedule] if options.device == "cpu" or engine == "exact" else []
    run = Run(options.gpurace, engine, command, seed, "json", [*words, *more], device="cpu" if engine == "exact" else options.device, timeout=120)
    return run.report(None)


def outcome(referee, program, report, twin):
    """What a run gave, as it is kept in --state."""
    said = report.get("reasons", []) + report["coverage"].get("besides", [])
    races = report["races"]
    of = [set() if twin else referee.match(program, record, ()) for record in races]
    return {"words": sorted({m[3] for m in map(REFUSED.match, said) if m}), "reasons": [r for r in said if not REFUSED.match(r)], "false": [judge.describe(r, program) for r, ids in zip(races, of) if not ids],
            "ids": sorted(set().union(*of)), "races": [[*lines_of(r, program), judge.describe(r, program)] for r in races]}


def add(found, got, twin, where):
    failures = {w for w in got["words"] if "CUDA error" in w}  # ours, which excuses nothing
    found.errors += [f"{where}: {w}" for w in sorted(failures)]
    found.reasons |= set(got["reasons"])
    found.false += [f"{where}: {words}" for words in got["false"]]
    if twin:
        return
    found.runs += 1
    found.refused |= set(got["words"]) - failures
    found.always = set(got["words"]) - failures if found.always is None else found.always & set(got["words"])
    for race in got["ids"]:
        found.hits[race] += 1
    found.reports.add(frozenset(words for _, _, words in got["races"]))
    found.pairs.update({(space, tuple(lines)): words for space, lines, words in got["races"]})


def lines_of(record, program):
    return record["space"], tuple(sorted(str(program.line_of(a)) for a in record["accesses"]))


def confirm(options, found):
    """Runs exact until it has reported the same pairs of lines; false alarms are those that it has not in so many runs."""
    left = dict(found.pairs)
    for seed in range(1, options.confirm + 1):
        for schedule in ("default", "directed", "pct"):
            if left:
                for record in run_of(options, "exact", found.program, seed, schedule, False, "--max-reports", "0")["races"]:
                    left.pop(lines_of(record, found.program), None)
    found.false += [f"not confirmed by exact: {words}" for words in left.values()]


def can_find(pairs, excused, program):
    """Whether a race of the program has to be found."""
    return any(not findable.within_a_launch(race, pairs.get((program.key, r), ())) and (program.key, r) not in excused for r, race in program.races.items())


class State:
    """What the runs so far gave, in a file too if there is one."""

    def __init__(self, path):
        self.rows, self.lock, self.file = {}, threading.Lock(), None
        if path:
            for line in pathlib.Path(path).read_text(encoding="utf-8").splitlines() if os.path.exists(path) else ():
                try:
                    key, got = json.loads(line)
                except ValueError:  # the last line of a run that was killed
                    continue
                self.rows[tuple(key)] = got
            self.file = open(path, "a", encoding="utf-8")

    def put(self, key, got):
        with self.lock:
            self.rows[key] = got
            if self.file:
                self.file.write(json.dumps([key, got]) + "\n")
                self.file.flush()


def run_all(options, referee, programs, pairs, excused, state):
    """Each run that is not in the state. One whose report is broken is an error, and is run again the next time."""
    until = time.monotonic() + options.seconds if options.seconds else None
    first = options.schedules.split(",")[0]
    work = [(p, schedule, seed, twin) for seed in range(options.first, options.first + options.seeds) for schedule in options.schedules.split(",") for p in programs
            if schedule == first or can_find(pairs, excused, p) for twin in (False, True)]
    broken = {}

    def one(item):
        program, schedule, seed, twin = item
        key = (program.key, schedule, seed, twin)
        if key in state.rows or (until and time.monotonic() > until):
            return
        try:
            state.put(key, outcome(referee, program, run_of(options, "privatizer", program, seed, schedule, twin), twin))
        except Exception as error:  # whatever a broken report raises
            broken[key] = str(error)[:300]

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(one, work))
    done = [w for w in work if (w[0].key, *w[1:]) in state.rows]
    if len(done) < len(work):
        print(f"{len(done)} of {len(work)} runs were made")
    return work, done, broken


def gather(options, program, done, broken, state):
    found = Found(program)
    for p, schedule, seed, twin in done:
        if p is program:
            add(found, state.rows[p.key, schedule, seed, twin], twin, f"{'twin, ' if twin else ''}seed {seed}, {schedule}")
    found.errors += [f"{schedule}, seed {seed}{', twin' if twin else ''}: {words}" for (key, schedule, seed, twin), words in sorted(broken.items()) if key == program.key]
    if options.confirm:
        confirm(options, found)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gpurace")
    parser.add_argument("corpus")
    parser.add_argument("families", nargs="*")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--first", type=int, default=1, help="the first of the seeds")
    parser.add_argument("--confirm", type=int, default=0, metavar="N", help="each pair of lines that is reported has to be reported by exact, in one of N seeds under each of three schedules")
    parser.add_argument("--schedules", default="default")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--one-report", action="store_true", help="a program with different reports in different runs has failed")
    parser.add_argument("--list", action="store_true", help="each race that is left out, and why")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--state", metavar="FILE", help="of the runs that were made, and are not made again; of one gpurace and corpus")
    parser.add_argument("--seconds", type=float, help="begin no run behind that time")
    options = parser.parse_args()
    pairs, excused = findable.load(RACE), cannot()
    chosen = engines.choose(options.gpurace, "privatizer", options.device)
    referee = judge.Judge(options.gpurace, options.corpus, chosen)
    programs = [p for p in corpus.load(str(RACE)) if not options.families or p.family in options.families or p.key in options.families]
    if not programs:
        sys.exit("no such program")
    failed, tally, same, confirmed = 0, {}, 0, 0
    state = State(options.state)
    work, done, broken = run_all(options, referee, programs, pairs, excused, state)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for found in pool.map(lambda p: gather(options, p, done, broken, state), programs):
            program, runs, refused = found.program, found.runs, found.refused
            t = tally.setdefault(program.family, dict(programs=0, refused=0, races=0, can=0, every=0, other=0, beyond=0, spared=0))
            t["programs"] += 1
            t["refused"] += bool(refused)
            same += len(found.reports) < 2
            failed += options.one_report and len(found.reports) > 1
            confirmed += len(found.pairs)
            if (options.list or options.one_report) and len(found.reports) > 1:
                of = [f"{len(r)}: {', '.join(sorted(r - frozenset.intersection(*found.reports)))}" for r in found.reports]
                print(f"{program.key}: {len(of)} different reports, of so many races, with, beside those of all: {' | '.join(sorted(of))}")
            for text in [f"false: {x}" for x in found.false] + [f"error: {x}" for x in found.errors]:
                print(f"{program.key}: {text}")
                failed += 1
            if found.refused - (found.always or set()):
                print(f"{program.key}: refused in some runs only: {'; '.join(sorted(found.refused - found.always))}")
            for race_id, race in program.races.items():
                t["races"] += 1
                beyond = findable.within_a_launch(race, pairs.get((program.key, race_id), ()))
                why, hits = excused.get((program.key, race_id)), found.hits[race_id]
                if beyond or why or refused:
                    kind = "beyond" if beyond else "other" if why else "spared"
                    t[kind] += 1
                    if options.list or (why and hits == runs):
                        print(f"{program.key} {race_id}: found {hits} of {runs}, left out: {beyond or why or 'refused: ' + '; '.join(sorted(refused))}")
                    continue
                if not runs and len(done) < len(work):
                    continue
                t["can"] += 1
                t["every"] += 0 < runs == hits
                if not 0 < runs == hits:
                    print(f"{program.key} {race_id}: found in {hits} of {runs} runs: {sorted(race.classes)} {race.space}; {'; '.join(sorted(found.reasons))[:300]}")
                    failed += 1
    heads = ["family", "programs", "with a kernel refused", "races", "can be found", "found in every run", "in kernels refused", "cannot", "not within a launch"]
    print("| " + " | ".join(heads) + " |\n|" + "---|" * len(heads))
    total = {k: sum(t[k] for t in tally.values()) for k in next(iter(tally.values()))}
    for family, t in [*tally.items(), ("all", total)]:
        print(f"| {family} | " + " | ".join(str(t[k]) for k in ("programs", "refused", "races", "can", "every", "spared", "other", "beyond")) + " |")
    print(f"{same} of {len(programs)} programs have one report in all runs (the same pairs of lines)" + (f"; exact reports all {confirmed} pairs of lines, too" if options.confirm and not failed else ""))
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the example pairs under gpurace and compares what it reports with what their sources say.

The truth stands in comments of examples/*.cu (examples/README.md explains them):

    // EXPECT: races | clean       what the program is, once near its top
    // SEEDS: 20 -- why            a racy program that needs more than the default five seeds
    // RACE: class, class          an access on this line races; each class must be reported in one of the seeds
    // RACE-MAYBE: class           may be reported too (after "; " on a RACE line, or alone)
    // OTHER                       the other side of a race: may only be named as the conflicting access
    // NEVER                       must not be reported, like every line without a label; said where it is surprising

A racy program passes when every RACE was reported over its seeds and nothing else ever was. A repaired one passes
when every run is clean, exits with 0 and printed its own PASS.

The classes are those of changed values. Watchpoints (--watchpoints yes) and engines that follow causality name both sides of a race and
have classes of their own, so they are judged by lines: every line with RACE must be a side of some race, and no line without
a label may be one. So are engines with other classes.
"""
import argparse
import concurrent.futures
import json
import os
import re
import sys

import engines
from truth import ROOT, Run, frames, load_schema, of_host, read, words

DEFAULT_SEEDS = 5
EITHER = "either side"


def race_classes():
    return words("src/engines/collider/classes.def", "CLASS")


class Truth:
    """The labels of one source file."""

    def __init__(self, path, classes):
        self.file = os.path.basename(path)
        self.name = self.file[: -len(".cu")]
        self.expect, self.seeds = None, DEFAULT_SEEDS
        self.must, self.may, self.other, self.never = set(), set(), set(), set()
        for number, line in enumerate(read(path).splitlines(), 1):
            found = re.search(r"// EXPECT: (races|clean)$", line.rstrip())
            self.expect = found.group(1) if found else self.expect
            found = re.search(r"// SEEDS: (\d+)", line)
            self.seeds = int(found.group(1)) if found else self.seeds
            for label, names in re.findall(r"\b(RACE|RACE-MAYBE): ([^;/\n]+)", line):
                for name in names.split(","):
                    name = name.strip()
                    if name not in classes:
                        raise ValueError(f"{self.file}:{number}: no such class: {name!r}")
                    (self.must if label == "RACE" else self.may).add((number, name))
            if re.search(r"// OTHER\b", line):
                self.other.add(number)
            if re.search(r"// NEVER\b", line):
                self.never.add(number)
        labelled = {n for n, _ in self.must | self.may}
        if self.expect is None:
            raise ValueError(f"{self.file}: no EXPECT comment")
        if (self.expect == "races") != bool(self.must):
            raise ValueError(f"{self.file}: EXPECT: {self.expect}, but {len(self.must)} RACE labels")
        if labelled & self.never or (self.expect == "clean" and (labelled or self.other)):
            raise ValueError(f"{self.file}: labels contradict each other")
        self.sides = labelled | self.other


def judge_races(truth, report):
    """The (line, class) pairs that one report names, and what is wrong with it."""
    found, problems = set(), []
    for race in report["races"]:
        accesses = race["accesses"]
        first = accesses[0]
        where = (first["line"], race["class"])
        text = f"{race['class']} at {os.path.basename(first['file'])}:{first['line']}"
        if os.path.basename(first["file"]) != truth.file or where not in truth.must | truth.may:
            problems.append(f"reported, but not labelled: {text}")
        else:
            found.add(where)
        for access in accesses[1:]:
            if os.path.basename(access["file"]) != truth.file or access["line"] not in truth.sides:
                problems.append(f"{text}: conflicting access named at {access['file']}:{access['line']}, not labelled")
        if race["count"] < 1:
            problems.append(f"{text}: count {race['count']}")
    return found, problems


def judge_lines(truth, report):
    """The same for an engine that knows both sides: pairs (line, "either side")."""
    found, problems = set(), []
    for race in report["races"]:
        sides = [frames(a)[-1] for a in race["accesses"] if not of_host(a)]  # the last: not in CUDA's headers
        text = f"{race['class']} between " + " and ".join(f"{file}:{line}" for file, line in sides)
        if len(race["accesses"]) != 2 or not sides or not race.get("missing_order"):
            problems.append(f"without both sides and the missing order: {text}")
        if any(file != truth.file or line not in truth.sides for file, line in sides):
            problems.append(f"reported, but not labelled: {text}")
        found |= {(line, EITHER) for _, line in sides}
        if race["count"] < 1:
            problems.append(f"{text}: count {race['count']}")
    return found, problems


def judge_watchpoints(truth, report):
    """The same for what watchpoints met, and what changed values show besides."""
    met = [race for race in report["races"] if race.get("missing_order")]
    found, problems = judge_lines(truth, {"races": met})
    for race in report["races"]:
        if race not in met:
            file, line = frames(race["accesses"][0])[-1]
            if file != truth.file or line not in truth.sides:
                problems.append(f"reported, but not labelled: {race['class']} at {file}:{line}")
            found.add((line, EITHER))
    return found, problems


def judge_of(engine, watchpoints, classes):
    """Which of these judges fits an engine."""
    if "causality" in engine.can:
        return judge_lines
    return judge_races if watchpoints == "no" and engine.classes & classes else judge_watchpoints


def check_run(truth, run, schema, judge):
    """Judges one run: pairs found and problems."""
    try:
        report = run.report(schema)
        found, problems = judge(truth, report)
        problems += run.check(report, truth.expect == "clean")
    except Exception as error:  # whatever a broken report raises is a finding about that run
        return set(), [f"{type(error).__name__}: {str(error)[:800]}"]
    return found, problems


def start(args, program, seed, fmt="json"):
    return Run(args.gpurace, args.engine, program, seed, fmt, device=args.device, timeout=args.timeout)


def check_repeat(args, truth, program):
    """A fixed seed's report must be the same, to the byte, each time."""
    problems = []
    for fmt in ("json", "text"):
        runs = [start(args, program, args.repeat_seed, fmt) for _ in range(args.repeat)]
        texts = {run.text for run in runs}
        if len(texts) != 1 or "" in texts:
            problems.append(f"{len(texts)} different {fmt} reports in {args.repeat} runs with seed {args.repeat_seed}")
        if len({run.stdout for run in runs}) != 1:
            problems.append(f"the program's output differed in {args.repeat} runs with seed {args.repeat_seed}")
    return problems


def check_example(args, truth, schema, judge, pool):
    """Runs one program as often as asked: problems, the seeds that reported each label, and the time it took."""
    program = os.path.join(args.programs, truth.name)
    if not os.access(program, os.X_OK):
        return [f"{program} is not built (target examples)"], {}, 0.0
    racy = truth.expect == "races"
    count = args.racy_seeds if racy else args.clean_seeds
    if racy and count and not args.missed_ok:
        count = max(count, truth.seeds)
    seeds = range(args.first_seed, args.first_seed + count)
    problems, hits, seconds = [], {}, 0.0
    runs = list(pool.map(lambda seed: (seed, start(args, program, seed)), seeds))
    for seed, run in runs:
        found, wrong = check_run(truth, run, schema, judge)
        seconds += run.seconds
        for where in found:
            hits.setdefault(where, []).append(seed)
        problems += [f"seed {seed}: {w}\n      again: {run.command}" for w in wrong]
    missed = truth.must - set(hits) if count else set()
    if not args.missed_ok:
        problems += [f"never reported in {count} seeds: {c} at {truth.file}:{n}" for n, c in sorted(missed)]
    if args.repeat:
        problems += check_repeat(args, truth, program)
    return problems, hits, seconds


def parse_args(argv):
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--gpurace", default=os.path.join(ROOT, "build/gpurace"))
    p.add_argument("--programs", default=os.path.join(ROOT, "build/examples"), help="folder of the built examples")
    p.add_argument("--sources", default=os.path.join(ROOT, "examples"), help="folder of their sources")
    p.add_argument("--schema", default=os.path.join(ROOT, "docs/report.schema.json"))
    p.add_argument("--engine", default="collider", help="any that `gpurace engines` lists (default: %(default)s)")
    p.add_argument("--watchpoints", choices=("yes", "no"), default="no", help="engines that have them, on the CPU device")
    p.add_argument("--skip", action="append", default=[], help="leave this program out")
    p.add_argument("--device", default="cpu", choices=("cpu", "gpu"))
    p.add_argument("--racy-seeds", type=int, default=DEFAULT_SEEDS, help="seeds for each racy program; 0: none")
    p.add_argument("--clean-seeds", type=int, default=DEFAULT_SEEDS, help="seeds for each repaired program; 0: none")
    p.add_argument("--first-seed", type=int, default=1)
    p.add_argument("--repeat", type=int, default=0, help="also: runs with one seed that must report the same")
    p.add_argument("--repeat-seed", type=int, default=1)
    p.add_argument("--jobs", type=int, default=os.cpu_count())
    p.add_argument("--timeout", type=float, default=120)
    p.add_argument("--missed-ok", action="store_true", help="a race that is not reported is no failure")
    p.add_argument("--json", metavar="FILE", help="also write there what each program showed")
    p.add_argument("--verbose", action="store_true", help="for each label, how many of the seeds reported it")
    p.add_argument("names", nargs="*", help="examples to run, such as histogram or scan_race; default: all")
    return p.parse_args(argv)


def main(argv=None):
    args = parse_args(argv)
    classes = race_classes()
    truths = [Truth(os.path.join(args.sources, f), classes) for f in sorted(os.listdir(args.sources)) if f.endswith(".cu")]
    truths = [t for t in truths if t.name not in args.skip]
    if args.names:
        known = {t.name for t in truths} | {re.sub("_(race|fixed)$", "", t.name) for t in truths}
        unknown = set(args.names) - known
        if unknown:
            sys.exit(f"no such example: {', '.join(sorted(unknown))}")
        truths = [t for t in truths if t.name in args.names or re.sub("_(race|fixed)$", "", t.name) in args.names]
    try:
        engine = engines.choose(args.gpurace, args.engine, args.device).finder
    except engines.EngineError as error:
        sys.exit(str(error))
    judge = judge_of(engine, args.watchpoints, classes)
    if engine.heeds(["--watchpoints"]) and args.device == "cpu":
        os.environ["GPURACE_OPTIONS"] = f"watchpoints={args.watchpoints}"
    if judge != judge_races:
        for truth in truths:
            truth.must, truth.may = {(n, EITHER) for n, _ in truth.must}, {(n, EITHER) for n, _ in truth.may}
    schema = load_schema(args.schema)
    if not truths:
        sys.exit(f"no examples in {args.sources}")
    bad, results = 0, []
    jobs = max(1, args.jobs)
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool, concurrent.futures.ThreadPoolExecutor(1 if args.repeat else jobs) as outer:
        checked = outer.map(lambda truth: check_example(args, truth, schema, judge, pool), truths)
        for truth, (problems, hits, seconds) in zip(truths, checked):
            bad += bool(problems)
            results.append({"program": truth.name, "labels": len(truth.must), "found": len(truth.must & set(hits)), "problems": problems})
            summary = f"{len(truth.must & set(hits))}/{len(truth.must)} races" if truth.must else "clean"
            if not (args.racy_seeds if truth.must else args.clean_seeds):
                summary = "repeats only" if args.repeat else "not run"
            print(f"{'FAIL' if problems else 'ok  '} {truth.name:24} {summary:12} {seconds:7.2f} s", flush=True)
            if args.verbose:
                for where in sorted(truth.must | truth.may):
                    label = "RACE" if where in truth.must else "maybe"
                    print(f"      {label:5} line {where[0]:3} {where[1]:28} in {len(hits.get(where, []))} seeds")
            for problem in problems[:12]:
                print(f"    {problem}")
            if len(problems) > 12:
                print(f"    and {len(problems) - 12} more")
    print(f"{len(truths) - bad} of {len(truths)} programs as their sources say")
    if args.json:
        with open(args.json, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=1)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

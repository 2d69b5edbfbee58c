#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How often the collider finds the labelled races of corpus and examples by values alone, with several sets of options side by side.

    gpu_rates.py run GPURACE CORPUS EXAMPLES RAW [--sets NAME=OPTIONS]... [--racy N] [--twins N] [--device gpu|cpu] [--only PATTERN]... [--seconds S]
    gpu_rates.py table RAW...          what was found, as tables
    gpu_rates.py derive                which races can be found, and why not the others: from labels and tables alone

`run` runs each racy program with the seeds 1 to N under each set of options, and its repaired twin. One line of JSON in RAW says what became of a run.
A word @PATH at the beginning of OPTIONS is another gpurace. Programs of one binary run one after the other with one seed, because the
driver then compiles once. After S seconds no more runs start: the seeds that are there for all programs count.

A race can be found by value when its accesses can overlap, one of them is weak and the other one writes another value (tests/race/findable.py), and when a
GPU does not close its window before the other access comes (tests/race/gpu.tsv). Where both store one value, only poisoned stores show it.
Programs are parted by a hash of their names: options are chosen by the one half (tuning) and judged by the other (held out).
"""
import argparse
import collections
import concurrent.futures
import json
import math
import os
import pathlib
import sys
import tempfile
import threading
import time
import zlib
from dataclasses import dataclass

RACE = pathlib.Path(__file__).resolve().parents[2] / "race"
sys.path.insert(0, str(RACE))
import corpus  # noqa: E402
import engines  # noqa: E402
import findable  # noqa: E402
import judge  # noqa: E402
import run_examples  # noqa: E402
from truth import Run, frames, read  # noqa: E402

EXAMPLES = RACE.parents[1] / "examples"
GRACE_S = 20  # after so long without an end that gpurace was to make, the run counts as lost
KINDS = {"clobbered read": "CR", "lost update": "LU", "intra-warp lost update": "ILU", "intra-warp same-value write": "ILU"}


def held_out(key):
    """Whether a program served for no choice."""
    return zlib.crc32(key.encode()) % 2 == 1


class Corpus:
    """A program of the corpus."""

    def __init__(self, program, pairs, closed):
        self.key, self.family, self.labels = program.key, program.family, program
        self.file, self.twin_file, self.twin_args = program.name, program.name, ["fixed"]
        self.args, self.graphs = program.args, "GraphLaunch" in read(program.path)
        self.races = {n: (findable.on_gpu((self.key, n), race, pairs.get((self.key, n), ()), closed),
                          findable.on_gpu((self.key, n), race, pairs.get((self.key, n), ()), closed, poisons=True))
                      for n, race in program.races.items()}

    def match(self, referee, record):
        return referee.match(self.labels, record, ())

    def allowed(self, record):
        return False


class Example:
    """One of the example pairs: a race is a line whose label says that it must be reported."""

    def __init__(self, truth, closed):
        self.key, self.family, self.labels = f"examples/{truth.name}", "examples", truth
        self.file, self.twin_file, self.twin_args, self.args, self.graphs = truth.name, truth.name.replace("_race", "_fixed"), [], [], False
        self.races = {line: (closed.get((self.key, line), closed.get((self.key, 0), "")),) * 2 for line in sorted({n for n, _ in truth.must})}

    def match(self, referee, record):
        file, line = frames(record["accesses"][0])[0]
        return {line} & set(self.races) if line in self.labels.sides and file == self.labels.file else set()

    def allowed(self, record):
        file, line = frames(record["accesses"][0])[0]
        return file == self.labels.file and line in self.labels.sides


def programs(only=()):
    pairs, closed = findable.load(RACE), findable.load_closed(RACE)
    found = [Corpus(p, pairs, closed) for p in corpus.load(str(RACE)) if p.devices == 1 and p.races]
    for path in sorted(EXAMPLES.glob("*_race.cu")):
        found.append(Example(run_examples.Truth(str(path), run_examples.race_classes()), closed))
    return [p for p in found if not only or corpus.chosen(argparse.Namespace(family=p.family, key=p.key, name=p.file), only)]


# ---- Runs ----------------------------------------------------------------------------------------------------------------------


@dataclass
class Command:
    """So many runs of a program or its twin in a process."""

    program: object
    twin: bool
    times: int

    def text(self):
        p = self.program
        return " ".join([str(self.times), p.twin_file if self.twin else p.file, *(p.twin_args if self.twin else []), *p.args])


def repeating(library, where, commands, log):
    """What comes before gpurace, and the program: repeat.c runs commands of one binary in one process."""
    told = {"REPEAT_OF": os.path.basename(where), "REPEAT_LOG": log, "REPEAT": commands, "REPEAT_LIBRARY": library}
    # The library comes before those that gpurace loads, which have a runtime of CUDA among them.
    return ["env", *(f"{k}={v}" for k, v in told.items())], ["sh", "-c", 'LD_PRELOAD=$REPEAT_LIBRARY:$LD_PRELOAD exec "$0"', where]


def run_of(launch, ends, owns):
    """Which run a launch is in, and whose run that is. A GPU's driver launches something of its own to clear a module's large variables, and so numbers later launches
    one too high: what comes first in a run of a program that cannot have made the record, and behind one of a program that can, is of the latter."""
    k = next((k for k, (end, _) in enumerate(ends) if 0 < launch <= end), None)
    if k is None:
        return None, None
    if k and ends[k - 1][1] != ends[k][1] and owns(ends[k - 1][1]) and not owns(ends[k][1]):
        k -= 1
    return k, ends[k][1]


def process(options, where, commands, words, seed, referee):
    """Runs commands of one binary, one after the other in one process. A row for each command that began."""
    words = words.split()
    gpurace = words.pop(0)[1:] if words and words[0].startswith("@") else options.gpurace
    # gpurace ends a program that hangs, and reports what it had found; when gpurace hangs itself, nothing is left.
    extra = ["--timeout", str(math.ceil(options.timeout)), *(["--watchpoints", "no", "--schedule", "default"] if options.device == "cpu" else [])]
    with tempfile.TemporaryDirectory(prefix="gpurace-rates-") as folder:
        log = os.path.join(folder, "log")
        before, program = repeating(options.repeat, where, ";".join(c.text() for c in commands), log)
        run = Run(gpurace, "collider", program, seed, "json", [*words, *extra], device=options.device, timeout=math.ceil(options.timeout) + GRACE_S, before=before)
        try:
            done = [tuple(map(int, line.split("\t"))) for line in open(log, encoding="utf-8")]
        except OSError:
            done = []
    rows = [{"program": c.program.key, "twin": c.twin, "seed": seed, "runs": 0, "first": {}, "kinds": {}, "false": []} for c in commands]
    ends = []  # launches when a run ended, and whose run that was
    for number, status, launches in done:
        rows[number]["runs"] += 1
        rows[number].setdefault("statuses", []).append(status)
        ends.append((launches, number))
    last = max((number for number, *_ in done), default=-1)
    if len(done) < sum(c.times for c in commands):  # whose run ended the process, or hangs
        last = last if last >= 0 and rows[last]["runs"] < commands[last].times else last + 1
        rows[last]["ended"] = f"status {run.status}: {run.stderr.strip()[-200:]}"
    try:
        records = run.report(None)
        launched = sum(k["launches"] for k in records["coverage"]["kernels"])
        if len(commands) == 1 and done and ends[-1][0] != launched:  # graphs launch kernels that nobody counts: each run as many
            ends = [(launched * (k + 1) / len(done), 0) for k in range(len(done))]
        for record in records["races"]:
            launch = record.get("launch") or 0  # a GPU may count launches otherwise: then it is known by the file only whose it is
            owns = lambda n: not commands[n].twin and bool(commands[n].program.match(referee, record))
            k, number = run_of(launch, ends, owns)
            if k is None:
                number = next((n for n in range(len(commands)) if owns(n)), last)
            row, c = rows[number], commands[number]
            ids = set() if c.twin else c.program.match(referee, record)
            run_number = row["runs"] or 1 if k is None else 1 + k - sum(r["runs"] for r in rows[:number])
            for race in map(str, ids):
                row["first"][race] = min(row["first"].get(race, run_number), run_number)
                row["kinds"].setdefault(race, []).append(KINDS.get(record["class"], record["class"]))
            if not ids and (c.twin or not c.program.allowed(record)):
                row["false"].append(f"{record['class']} at {frames(record['accesses'][0])[0]}")
    except Exception as error:  # whatever a broken report raises
        rows[max(last, 0)]["error"] = str(error)[:300]
    return rows[:last + 1]


def batch(options, referee, job, start):
    seed, (name, words), where, commands = job
    rows = []
    while commands and (not options.seconds or time.monotonic() - start < options.seconds):
        begun = process(options, where, commands, words, seed, referee)
        n = len(begun)
        if n > 1 and "error" in begun[-1]:  # a program that hangs takes the report of those before it along: they run again
            begun[:-1] = process(options, where, commands[:n - 1], words, seed, referee)
        rows += [{"set": name, "options": words, **row} for row in begun]
        if not begun:
            break
        commands = commands[n:]  # those behind one that ended the process
    return rows


def jobs_of(options):
    """(seed, set, binary, commands): twins come first, so that what a twin shares with the racy program has no report yet. Each family has a process of its
    own: memory that the host sees, streams and a driver's launches change what the collider does for the rest of a process, and no user's program begins with them."""
    binaries = collections.defaultdict(list)
    for p in programs(options.only):
        for twin, times in ((True, options.twins), (False, options.racy)):
            file = p.twin_file if twin else p.file
            where = os.path.realpath(os.path.join(options.examples if p.family == "examples" else os.path.join(options.corpus, p.family), file))
            alone = (p.key, twin) if p.graphs else p.family
            if times:
                binaries[where, alone].append(Command(p, twin, times))
    sets = [s.partition("=")[::2] for s in options.sets or ["default=", "poisoned=--poison-writes"]]
    for seed in range(options.first_seed, options.first_seed + options.seeds):
        # In no order of families: what is there after S seconds is of all of them.
        for (where, _), commands in sorted(binaries.items(), key=lambda item: zlib.crc32(item[0][0].encode()[-40:])):
            for s in sets:
                yield seed, s, where, sorted(commands, key=lambda c: not c.twin)


def run(options):
    referee = judge.Judge(options.gpurace, options.corpus, engines.choose(options.gpurace, "collider", options.device))
    start, writing, runs = time.monotonic(), threading.Lock(), []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool, open(options.raw, "w", encoding="utf-8") as file:

        def one(job):
            rows = batch(options, referee, job, start)
            with writing:  # at once: whatever ends this command, what was measured is there
                file.writelines(json.dumps(row) + "\n" for row in rows)
                file.flush()
                runs.extend(row["runs"] for row in rows)

        list(pool.map(one, jobs_of(options)))
    print(f"{sum(runs)} runs in {time.monotonic() - start:.0f} s", flush=True)


# ---- Tables --------------------------------------------------------------------------------------------------------------------


def share(part, whole):
    return f"{100 * part / whole:.1f} %" if whole else ""


def can_show(p, race, poisons):
    return not p.races[race][poisons]


def load(paths):
    """set -> program -> twin -> rows"""
    rows = collections.defaultdict(lambda: collections.defaultdict(lambda: ([], [])))
    for path in paths:
        with open(path, encoding="utf-8") as file:
            for row in map(json.loads, file):
                rows[row["set"]][row["program"]][row["twin"]].append(row)
    return rows


def found_within(rows, race, k):
    """The share of the processes that saw the race in their first k runs."""
    return sum(row["first"].get(str(race), k + 1) <= k for row in rows) / len(rows)


def table(options):
    if options.by == "processes":
        return processes(options)
    todo = programs()
    data = load(options.raw_files)
    group_of = {"half": lambda p: "held out" if held_out(p.key) else "tuning", "family": lambda p: p.family}[options.by]
    runs = (1, 2, 5, 10, 20)
    print(f"| options | {options.by} | can show | " + " | ".join(f"in {k} run{'s' * (k > 1)}" for k in runs) + " | CR | LU | ILU |\n|---" + "|---" * (len(runs) + 5) + "|")
    for name, of in data.items():
        groups, kinds = collections.defaultdict(list), collections.defaultdict(collections.Counter)
        for p in todo:
            racy = of[p.key][0]
            for race in p.races:
                if racy and can_show(p, race, options.poisons):
                    for group in (group_of(p), "all"):
                        groups[group].append((racy, race))
                        kinds[group].update(kind for row in racy for kind in set(row["kinds"].get(str(race), ())))
        for group in [*sorted(g for g in groups if g != "all"), "all"]:
            races, total = groups[group], sum(kinds[group].values())
            print(f"| {name} | {group} | {len(races)} | " + " | ".join(share(sum(found_within(*r, k) for r in races), len(races)) for k in runs) +
                  " | " + " | ".join(share(kinds[group][k], total) for k in ("CR", "LU", "ILU")) + " |")
    for name, of in data.items() if options.ends else ():
        rows = [row for pair in of.values() for some in pair for row in some]
        twins = [row for row in rows if row["twin"]]
        total = lambda some: sum(row["runs"] for row in some)
        print(f"{name}: {total(rows) - total(twins)} racy runs, {total(twins)} of twins; false reports: {sum(len(r['false']) for r in rows)}; "
              f"processes that ended early: {sum('ended' in r for r in rows)}; twins that do not pass: {sum(map(bool, [s for r in twins for s in r.get('statuses', ())]))}")
        for row in rows:
            if row["false"] or "error" in row or "ended" in row or any(row.get("statuses", ())):
                print(f"  {row['program']}{' twin' if row['twin'] else ''} seed {row['seed']}: {row['runs']} runs; {collections.Counter(row.get('statuses', ()))}; {row.get('ended', '')}; {row['false'][:2]} {row.get('error', '')[:160]}")
    for name, of in data.items() if options.missed else ():
        missed = [f"{p.key} {race}" for p in todo for race in p.races
                  if of[p.key][0] and can_show(p, race, options.poisons) and found_within(of[p.key][0], race, options.missed) < 0.5]
        print(f"{name}: not in {options.missed} runs: {', '.join(missed)}")


def processes(options):
    """As tables 1 and 2 of the SuperCollider paper: how many of N processes, each with a seed of its own, saw a race."""
    data = load(options.raw_files)
    most = max(len(pair[0]) for of in data.values() for pair in of.values())
    print("| options | races | " + " | ".join(f"{n}/{most}" for n in range(1, most + 1)) + f" | missed | mean | CR | LU | ILU |\n|---" + "|---" * (most + 6) + "|")
    for name, of in data.items():
        hits, kinds = collections.Counter(), collections.Counter()
        for p in programs():
            for race in p.races:
                if of[p.key][0] and can_show(p, race, options.poisons):
                    hits[sum(str(race) in row["first"] for row in of[p.key][0])] += 1
                    kinds.update(kind for row in of[p.key][0] for kind in set(row["kinds"].get(str(race), ())))
        races = sum(hits.values())
        print(f"| {name} | {races} | " + " | ".join(str(hits[n]) for n in range(1, most + 1)) + f" | {hits[0]} | {share(sum(n * k for n, k in hits.items()), races * most)} | " +
              " | ".join(share(kinds[k], sum(kinds.values())) for k in ("CR", "LU", "ILU")) + " |")


def derive(options):
    todo = programs()
    families = list(dict.fromkeys(p.family for p in todo))
    print("| family | programs | races | can show by value | and with poisoned writes | of these held out |\n|---|---|---|---|---|---|")
    why = collections.defaultdict(list)
    for family in [*families, "all"]:
        races = [(p, r) for p in todo for r in p.races if family in (p.family, "all")]
        poisoned = [p for p, r in races if can_show(p, r, True)]
        print(f"| {family} | {len({p.key for p, _ in races})} | {len(races)} | {sum(can_show(p, r, False) for p, r in races)} | {len(poisoned)} | {sum(held_out(p.key) for p in poisoned)} |")
    for p in todo:
        for r in p.races:
            if p.races[r][1]:
                why[p.races[r][1]].append(f"{p.key} {r}")
    print("\n| why not | races | which |\n|---|---|---|")
    for reason, which in sorted(why.items(), key=lambda item: -len(item[1])):
        print(f"| {reason} | {len(which)} | {', '.join(which)} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    runs = commands.add_parser("run")
    for word in ("gpurace", "corpus", "examples", "raw"):
        runs.add_argument(word)
    runs.add_argument("--sets", action="append", metavar="NAME=OPTIONS")
    runs.add_argument("--racy", type=int, default=5, help="runs of each racy program in a process")
    runs.add_argument("--twins", type=int, default=0, help="runs of each repaired twin in a process")
    runs.add_argument("--seeds", type=int, default=1, help="processes, each with another seed")
    runs.add_argument("--first-seed", type=int, default=1)
    runs.add_argument("--device", default="gpu", choices=("gpu", "cpu"))
    runs.add_argument("--only", action="append", default=[], help="a family or a program, with * and ?")
    runs.add_argument("--repeat", required=True, help="repeat.c, compiled: gcc -O2 -shared -fPIC -o librepeat.so repeat.c -ldl")
    runs.add_argument("--seconds", type=float)
    runs.add_argument("--timeout", type=float, default=60, help="seconds of one process; what it had found counts")
    runs.add_argument("--jobs", type=int, default=os.cpu_count())
    runs.set_defaults(do=run)
    tables = commands.add_parser("table")
    tables.add_argument("raw_files", nargs="+")
    tables.add_argument("--by", default="half", choices=("half", "family", "processes"))
    tables.add_argument("--poisons", action="store_true", help="of what shows with poisoned writes")
    tables.add_argument("--ends", action="store_true", help="how the runs ended, and false reports")
    tables.add_argument("--missed", type=int, metavar="RUNS", help="name the races that so many runs did not find")
    tables.set_defaults(do=table)
    commands.add_parser("derive").set_defaults(do=derive)
    options = parser.parse_args()
    options.do(options)


if __name__ == "__main__":
    main()

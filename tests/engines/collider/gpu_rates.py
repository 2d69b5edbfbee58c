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
import os
import pathlib
import sys
import time
import zlib

RACE = pathlib.Path(__file__).resolve().parents[2] / "race"
sys.path.insert(0, str(RACE))
import corpus  # noqa: E402
import engines  # noqa: E402
import findable  # noqa: E402
import judge  # noqa: E402
import run_examples  # noqa: E402
from truth import Run, frames  # noqa: E402

EXAMPLES = RACE.parents[1] / "examples"
KINDS = {"clobbered read": "CR", "lost update": "LU", "intra-warp lost update": "ILU", "intra-warp same-value write": "ILU"}


def held_out(key):
    """Whether a program served for no choice."""
    return zlib.crc32(key.encode()) % 2 == 1


class Corpus:
    """A program of the corpus."""

    def __init__(self, program, pairs, closed):
        self.key, self.family, self.labels = program.key, program.family, program
        self.file, self.twin_file, self.twin_args = program.name, program.name, ["fixed"]
        self.args = program.args
        self.races = {n: (findable.on_gpu((self.key, n), race, pairs.get((self.key, n), ()), closed),
                          findable.on_gpu((self.key, n), race, pairs.get((self.key, n), ()), closed, poisons=True))
                      for n, race in program.races.items()}

    def match(self, referee, record):
        return referee.match(self.labels, record, ())


class Example:
    """One of the example pairs: a race is a line whose label says that it must be reported."""

    def __init__(self, truth, closed):
        self.key, self.family, self.labels = f"examples/{truth.name}", "examples", truth
        self.file, self.twin_file, self.twin_args, self.args = truth.name, truth.name.replace("_race", "_fixed"), [], []
        self.races = {line: (closed.get((self.key, 0), ""),) * 2 for line in sorted({n for n, _ in truth.must})}

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


def one(options, referee, program, name, words, seed, twin):
    words = words.split()
    gpurace = words.pop(0)[1:] if words and words[0].startswith("@") else options.gpurace
    folder = options.examples if program.family == "examples" else os.path.join(options.corpus, program.family)
    command = [os.path.join(folder, program.twin_file if twin else program.file)] + (program.twin_args if twin else []) + program.args
    extra = ["--watchpoints", "no", "--schedule", "default"] if options.device == "cpu" else []
    row = {"set": name, "options": " ".join(words), "program": program.key, "twin": twin, "seed": seed, "found": {}, "false": []}
    run = Run(gpurace, "collider", command, seed, "json", [*words, *extra], device=options.device, timeout=40)
    row["seconds"], row["status"] = round(run.seconds, 2), run.status
    row["said"] = next((word for word in ("PASS", "FAIL") if word in run.stdout), run.stderr.strip()[-200:])
    try:
        records = run.report(None)["races"]
    except Exception as error:  # whatever a broken report raises
        row["error"] = str(error)[:300]
        return row
    for record in records:
        ids = set() if twin else program.match(referee, record)
        for race in ids:
            row["found"].setdefault(str(race), []).append(KINDS.get(record["class"], record["class"]))
        if not ids and (twin or program.family != "examples" or not program.allowed(record)):
            row["false"].append(f"{record['class']} at {frames(record['accesses'][0])[0]}")
    return row


def run(options):
    referee = judge.Judge(options.gpurace, options.corpus, engines.choose(options.gpurace, "collider", options.device))
    todo, binaries = programs(options.only), collections.defaultdict(list)
    for p in todo:
        where = os.path.join(options.examples if p.family == "examples" else os.path.join(options.corpus, p.family), p.file)
        binaries[os.path.realpath(where)].append(p)
    start, sets = time.monotonic(), [s.partition("=")[::2] for s in options.sets or ["default=", "poisoned=--poison-writes"]]

    def batch(job):
        seed, (name, words), together = job
        rows = []
        for p in together:
            for twin, runs in ((False, options.racy), (True, options.twins)):
                if seed <= runs and (not options.seconds or time.monotonic() - start < options.seconds):
                    rows.append(one(options, referee, p, name, words, seed, twin))
        return rows

    jobs = [(seed, s, together) for seed in range(1, max(options.racy, options.twins) + 1) for s in sets for together in binaries.values()]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool, open(options.raw, "w", encoding="utf-8") as file:
        count = 0
        for rows in pool.map(batch, jobs):
            for row in rows:
                file.write(json.dumps(row) + "\n")
                count += 1
        print(f"{count} runs in {time.monotonic() - start:.0f} s", flush=True)


# ---- Tables --------------------------------------------------------------------------------------------------------------------


def share(part, whole):
    return f"{100 * part / whole:.1f} %" if whole else ""


def can_show(p, race, poisons):
    return not p.races[race][poisons]


def load(paths):
    """set -> program -> twin -> {seed: row}"""
    rows = collections.defaultdict(lambda: collections.defaultdict(lambda: ({}, {})))
    for path in paths:
        with open(path, encoding="utf-8") as file:
            for row in map(json.loads, file):
                rows[row["set"]][row["program"]][row["twin"]][row["seed"]] = row
    return rows


def any_of(hits, runs, k):
    """The share of all choices of k of the runs that have a hit among them."""
    miss = 1.0
    for i in range(k):
        miss *= max(0, runs - hits - i) / (runs - i)
    return 1 - miss


def table(options):
    todo = programs()
    data = load(options.raw_files)
    half = lambda p: "held out" if held_out(p.key) else "tuning"
    for per, title in (("half", "By half"), ("family", "By family")):
        print(f"## {title}\n\n| options | {per} | can show | in 1 run | in 2 | in 5 | 1/N … N/N | CR | LU | ILU |\n|---|---|---|---|---|---|---|---|---|---|")
        for name, of in data.items():
            # Where writes are poisoned in one set, all sets are asked for what poisoned writes can show.
            groups, kinds = collections.defaultdict(list), collections.defaultdict(collections.Counter)
            for p in todo:
                racy = of[p.key][0]
                for race in p.races:
                    if not can_show(p, race, options.poisons) or not racy:
                        continue
                    hits = [row["found"].get(str(race), ()) for row in racy.values()]
                    for group in (half(p) if per == "half" else p.family, "all"):
                        groups[group].append((sum(map(bool, hits)), len(hits)))
                        kinds[group].update(k for h in hits for k in set(h))
            for group in [*sorted(g for g in groups if g != "all"), "all"]:
                races = groups[group]
                mean = lambda k: share(sum(any_of(h, n, min(k, n)) for h, n in races), len(races))
                bars = collections.Counter(h for h, n in races if n == max(n for _, n in races))
                most = max(n for _, n in races)
                total = sum(kinds[group].values())
                print(f"| {name} | {group} | {len(races)} | {mean(1)} | {mean(2)} | {mean(5)} | {bars[0]}: " + " ".join(str(bars[k]) for k in range(1, most + 1)) +
                      " | " + " | ".join(share(kinds[group][k], total) for k in ("CR", "LU", "ILU")) + " |")
        print()
    for name, of in data.items():
        rows = [row for pair in of.values() for runs in pair for row in runs.values()]
        twins = [row for row in rows if row["twin"]]
        print(f"{name}: {len(rows) - len(twins)} racy runs, {len(twins)} of twins; false reports: {sum(len(r['false']) for r in rows)}; no report: {sum('error' in r for r in rows)}; "
              f"twins that do not pass: {sum(r['said'] != 'PASS' for r in twins)}; mean seconds {sum(r['seconds'] for r in rows) / len(rows):.2f}")
        for row in rows:
            if row["false"] or "error" in row or row["status"] not in (0, 66) or (row["twin"] and row["said"] != "PASS"):
                print(f"  {row['program']}{' twin' if row['twin'] else ''} seed {row['seed']}: status {row['status']}; {row['said'][:120]!r}; {row['false'][:2]} {row.get('error', '')[:160]}")
        if options.missed:
            for p in todo:
                racy = of[p.key][0]
                for race in p.races:
                    hits = sum(str(race) in row["found"] for row in racy.values())
                    if racy and can_show(p, race, options.poisons) and hits <= options.missed * len(racy) / 100:
                        print(f"  {hits}/{len(racy)} {p.key} {race}")


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
    runs.add_argument("--racy", type=int, default=5, help="runs of each racy program")
    runs.add_argument("--twins", type=int, default=0, help="runs of each repaired twin")
    runs.add_argument("--device", default="gpu", choices=("gpu", "cpu"))
    runs.add_argument("--only", action="append", default=[], help="a family or a program, with * and ?")
    runs.add_argument("--seconds", type=float)
    runs.add_argument("--jobs", type=int, default=os.cpu_count())
    runs.set_defaults(do=run)
    tables = commands.add_parser("table")
    tables.add_argument("raw_files", nargs="+")
    tables.add_argument("--poisons", action="store_true", help="of what shows with poisoned writes")
    tables.add_argument("--missed", type=float, default=0, metavar="PERCENT", help="name the races that so many runs found, or fewer")
    tables.set_defaults(do=table)
    commands.add_parser("derive").set_defaults(do=derive)
    options = parser.parse_args()
    options.do(options)


if __name__ == "__main__":
    main()

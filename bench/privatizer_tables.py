#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The privatizer beside the LDetector paper: its tables I and V to VII and figures 7 to 9, on a GPU or on the CPU device.

    bench/privatizer_tables.py GPURACE FOLDER [--device gpu] [--parts programs,slowdowns,amounts,rounds,pairs] [--divide N] [--rounds N] [--json FILE]

FOLDER has the programs of bench/ldetector, built. Each table is Markdown, with the paper's numbers beside ours where it has some; each run is a line in --json FILE.

programs  the paper's 11 programs under engine none, the privatizer, and with --units warps: sizes (table V), what is found (VI), memory (VII), and where the time goes (figure 8)
slowdowns how long they take (figure 7), 33 launches of each
amounts   what it costs to check a block over the memory that it writes and the threads that it has (figure 9)
rounds    960 units with 2 to 31 private copies: rounds, memory, time (table I)
pairs     in which round a race of two of them is found, of pairs that are drawn, beside equation 1

On the CPU device times are the host's, and --divide 32 makes programs smaller, unless it is named. It fails when a program does, or when one has races that the paper's has not, or
the other way round.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import random
import re
import statistics
import subprocess
import sys
import tempfile

COLUMNS = {"none": ["none"], "threads": ["privatizer"], "warps": ["privatizer", "--units", "warps"]}

# Tables V to VII: blocks, threads; KB of shared memory of a block, MB of global memory; kinds, scope, warps, regions analyzed and with races, addresses; bytes that LDetector takes of shared and
# global memory. Figure 7: the slowdowns that the text of section 6.3 names.
PAPER = {
    "scan": (256, 512, 4.22, 0.002, "rw, injected", "shared", 13, "1, 1", 2880, "1.1M", "17.4M", 29),
    "histogram64": (2067, 192, 11, 4.11, "", "", 0, "1, 0", 0, "25.3M", "145.5M", 27),
    "bisect_small": (1, 512, 10, 0.008, "", "", 0, "2, 0", 0, "2K", "34K", None),
    "nbody": (60, 256, 4, 0.96, "ww", "global", 8, "1, 1", 128, "240K", "1.9M", None),
    "radix_sort": (1, 32, 0.26, 0.13, "", "", 0, "1, 0", 0, "0.6K", "0K", None),
    "bfs": (16, 256, 0, 0.14, "rw, ww", "global", 128, "1, 1", 4012, "0", "4.4M", 14),
    "backprop": (8, 256, 0, 2.19, "ww", "global", 5, "4, 2", 2446, "0", "10.4M", None),
    "b_plus_tree": (8, 1024, 0, 15.58, "ww", "global", 6, "2, 1", 14, "0", "19.8M", None),
    "kmeans": (139, 128, 4.63, 0.70, "rw, injected", "shared", 2, "2, 1", 32, "653K", "2.6M", None),
    "cocluster": (8, 256, 15.57, 32.02, "rw", "shared", 8, "1, 1", 896, "16K", "1M", None),
    "em": (8, 320, 15.10, 63.35, "ww", "shared", 10, "1, 1", 1536, "16K", "1.3M", None),
}
KINDS = {"read-write race": "rw", "write-write race": "ww", "same-value write": "same value"}
UNITS = 960  # of table I


class Runs:
    """Runs programs, and keeps what came of each."""

    def __init__(self, args):
        self.args = args
        self.failed = []

    def run(self, words, engine, more=()):
        """{"values": {name: number}, "report": …, "kib": …, "rounds": …}; None: it failed, which was said."""
        program = [str(pathlib.Path(self.args.folder, words[0])), *map(str, words[1:])]
        env = dict(os.environ, LDETECTOR_CLOCK="host") if self.args.device == "cpu" else None
        with tempfile.TemporaryDirectory(prefix="gpurace-bench-") as folder:
            out = pathlib.Path(folder, "report")
            command = [self.args.gpurace, "run", "--device", self.args.device, "--engine", *COLUMNS[engine], *more, "--error-exitcode", "0", "--format", "json", "--output", str(out),
                       "--", *program]
            try:
                done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", env=env,
                                      timeout=self.args.timeout)
                printed, status = done.stdout, done.returncode
                report = json.loads(out.read_text(encoding="utf-8"))
            except (subprocess.TimeoutExpired, OSError, ValueError) as error:
                printed, status, report = str(error), 1, {}
        if status or "failed:" in printed or "FAIL" in printed.split():
            self.failed.append(f"{' '.join(map(str, words))} under {' '.join([*COLUMNS[engine], *more])}: {printed.strip()[-300:]}")
            print(f"failed: {self.failed[-1]}", file=sys.stderr, flush=True)
            return None
        found = re.search(r"at most (\d+) KiB, and (\d+) rounds", " ".join(report["coverage"].get("remarks", [])))
        row = {"values": {n: float(v) for n, v in re.findall(r"^(\w+) ([\d.]+) \w+$", printed, re.M)}, "kib": int(found[1]) if found else 0,
               "rounds": int(found[2]) if found else 0, "spent": [float(x) for x in re.findall(r"([\d.]+) %", next((r for r in report["coverage"].get("remarks", []) if "private runs spent" in r), ""))], "races": report["races"], "reasons": report["reasons"] if engine != "none" else [], "printed": printed}
        if self.args.json:
            with open(self.args.json, "a", encoding="utf-8") as file:
                short = {**row, "printed": None, "races": [{k: r.get(k) for k in ("class", "space", "kernel", "differs")} for r in row["races"]]}
                file.write(json.dumps({"words": list(map(str, words)), "engine": engine, "more": list(more), "device": self.args.device, **short}) + "\n")
        return row


def table(title, head, rows):
    print(f"\n**{title}**\n\n| " + " | ".join(head) + " |\n" + "|---" * len(head) + "|")
    for row in rows:
        print("| " + " | ".join(map(str, row)) + " |")
    sys.stdout.flush()


def size(n):
    for unit, of in (("M", 1 << 20), ("K", 1 << 10)):
        if n >= of:
            return f"{n / of:.3g}{unit}"
    return f"{n:.0f}"


def ms(row):
    return f"{row['values']['time']:.3f}" if row else "failed"


def times(row, base):
    return f"{row['values']['time'] / base['values']['time']:.1f}" if row and base and base["values"]["time"] else ""


# ---- The paper's programs ------------------------------------------------------------------------------------------------


def found(row):
    """(kinds, scope, copies, regions, bytes) of the races of a run."""
    if not row:
        return ["failed"] + [""] * 4
    races = row["races"]
    if not races:
        return ["no", "", "", "", ""] if not row["reasons"] else ["not known", "", "", "", ""]
    of = [r["differs"] for r in races]
    return [", ".join(sorted({KINDS[r["class"]] for r in races})), ", ".join(sorted({r["space"] for r in races})), max(d["copies"] for d in of),
            len({(r["kernel"], k) for r in races for k in r["differs"]["regions"]}), max(d["bytes"] for d in of) or "none"]


def programs(runs):
    """What is found and what memory it takes does not depend on other runs beside it; times do."""
    names = [n for n in PAPER if n in runs.args.only]
    with concurrent.futures.ThreadPoolExecutor(runs.args.jobs) as pool:
        work = [(n, c) for n in names for c in COLUMNS]
        rows = dict(zip(work, pool.map(lambda w: runs.run([w[0], runs.args.divide, 1], w[1], () if w[1] == "none" else ("--verbose",)), work)))
    v, vi, vii, eight = [], [], [], []
    for name in names:
        none, warps, threads = (rows[name, c] for c in ("none", "warps", "threads"))
        grid, block, shared, total, kinds, scope, n_warps, regions, addresses, of_shared, of_global, _ = PAPER[name]
        if none:
            n = none["values"]
            v.append([name, f"{grid}, {block}", f"{n['grid']:.0f}, {n['block']:.0f}", shared, f"{n['shared'] / 1024:.2f}", total, f"{n['global'] / 1e6:.3f}"])
        vi.append([name, f"{kinds} {scope}".strip() or "no", n_warps or "", regions, addresses or "", *found(warps), *found(threads)])
        vii.append([name, of_shared, of_global, *(size(r["kib"] * 1024) if r else "failed" for r in (warps, threads)), *(r["rounds"] if r else "" for r in (warps, threads))])
        for column, row in (("warps", warps), ("threads", threads)):
            if row and bool(row["races"]) != bool(kinds):
                runs.failed.append(f"{name} under {column}: {len(row['races'])} races, and the paper has {kinds or 'none'}")
                print(f"failed: {runs.failed[-1]}", file=sys.stderr, flush=True)
        eight.append([name, *(f"{x:.0f}" for r in (warps, threads) for x in (r["spent"] if r and r["spent"] else [0] * 5))])
    table("Table V: sizes", ["program", "paper: grid, block", "ours", "paper: shared, KB", "ours", "paper: global, MB", "ours"], v)
    table("Table VI: what is found", ["program", "paper", "warps", "regions, with races", "addresses", "ours, warps", "scope", "copies", "regions", "bytes", "ours, threads", "scope", "copies", "regions", "bytes"], vi)
    table("Table VII: memory for private copies", ["program", "paper: shared", "paper: global", "ours, warps", "ours, threads", "rounds, warps", "rounds, threads"], vii)
    steps = ["pass 1", "compare writes, union, start of pass 2", "pass 2", "compare, copy back", "clear"]
    table("Figure 8: what private runs within blocks spend their time with, %", ["program", *(f"{c}: {s}" for c in ("warps", "threads") for s in steps)], eight)


def slowdowns(runs):
    """Each program by itself: one that takes long costs no other its time. Races are looked for in the launches 1, 2, 4, 8, … that find the same, and what is found may differ
    between launches, so of 33 launches the median is of one in which they are not. The first one has its own column, and in it what only a first launch does: more room, looking for what races."""
    rounds, shown = max(33, runs.args.rounds), [("warps", ()), ("threads", ()), ("threads", ("--prove", "no"))]
    rows, ratios = [], [[] for _ in shown]
    for name in (n for n in PAPER if n in runs.args.only):
        base = runs.run([name, runs.args.divide, rounds], "none")
        cells = []
        for k, (column, more) in enumerate(shown):
            row = runs.run([name, runs.args.divide, rounds], column, more) if base else None
            cells += [ms(row), times(row, base)] + ([f"{row['values']['first']:.1f}" if row else ""] if not more else [])
            ratios[k] += [row["values"]["time"] / base["values"]["time"]] if row and base["values"]["time"] else []
        rows.append([name, PAPER[name][-1] or "", f"{base['values']['time']:.4f}" if base else "failed", *cells])
    for word, f in (("geometric mean", statistics.geometric_mean), ("median", statistics.median)):
        means = [f"{f(r):.1f}" if r else "" for r in ratios]
        rows.append([word, "below 5" if word == "median" else "10", "", "", means[0], "", "", means[1], "", "", means[2]])
    table("Figure 7: time", ["program", "paper, times", "none, ms", "warps, ms", "times", "first, ms", "threads, ms", "times", "first, ms", "threads, --prove no, ms", "times"], rows)


# ---- Figure 9 ------------------------------------------------------------------------------------------------------------


def amounts(runs):
    large = runs.args.device == "gpu"
    steps = [("shared", k, 256) for k in (1, 2, 4, 8, 16, 32, 48)] + [("global", k, 256) for k in ((64, 256, 1024, 4096, 16384, 32768) if large else (16, 64, 256, 1024))]
    steps += [("shared", 48, t) for t in (32, 64, 128, 512, 1024)] + [("global", 1024 if large else 64, t) for t in (32, 64, 128, 512, 1024)]
    words = ["amounts", runs.args.rounds, *(":".join(map(str, s)) for s in steps)]
    of = {c: runs.run(words, c, () if c == "none" else ("--prove", "no")) for c in COLUMNS}
    rows = []
    for step in steps:
        name = "_".join(map(str, step))
        rows.append([*step, *(f"{of[c]['values'][name]:.3f}" if of[c] and name in of[c]["values"] else "failed" for c in COLUMNS)])
    table("Figure 9: a block that writes", ["memory", "KiB", "threads", "none, ms", "threads as units, ms", "warps as units, ms"], rows)
    for c in COLUMNS:
        for reason in of[c]["reasons"] if of[c] else ():
            print(f"{c}: {reason}")


# ---- Table I -------------------------------------------------------------------------------------------------------------

OF_PAPER = {960: 2, 31: 4, 10: 6, 6: 8, 4: 10, 2: 20}  # copies: passes


def least_rounds(copies):
    return next(k for k in range(1, 99) if copies ** k >= UNITS)


def equation(copies, rounds):
    """Equation 1 for 960 units: the chance that a race of two is found in so many rounds."""
    return min(1, UNITS * (1 - copies ** -rounds) / (UNITS - 1))


def rounds(runs):
    rows = []
    base = runs.run(["pairs", runs.args.divide, runs.args.rounds], "none")
    for copies in [*map(int, runs.args.copies.split(",")), UNITS]:
        row = runs.run(["pairs", runs.args.divide, 1], "warps", ["--copies", str(copies), "--prove", "no"])
        rows.append([copies, OF_PAPER.get(copies, ""), 2 * least_rounds(copies), 2 * row["rounds"] if row else "failed", size(row["kib"] * 1024) if row else "",
                     ms(row), times(row, base), " ".join(f"{100 * equation(copies, k):.0f}" for k in range(1, least_rounds(copies) + 1))])
    table(f"Table I: 960 units, M private copies (none: {ms(base)} ms)",
          ["M", "paper: passes", "2 ceil(log_M 960)", "ours: passes", "copies take", "ms", "times none", "equation 1: % found in 1, 2, … rounds"], rows)


def pairs(runs):
    choose = random.Random(1)
    drawn = [sorted(choose.sample(range(UNITS), 2)) for _ in range(runs.args.pairs)]
    rows = []
    for copies in (2, 4, 6, 10, 31):
        with concurrent.futures.ThreadPoolExecutor(runs.args.jobs) as pool:
            of = list(pool.map(lambda p: runs.run(["pairs", 32, 1, *p], "warps", ["--copies", str(copies), "--prove", "no"]), drawn))
        in_round = [min(r["differs"]["round"] for r in row["races"]) for row in of if row and row["races"]]
        steps = range(1, least_rounds(copies) + 1)
        rows.append([copies, f"{len(in_round)} of {len(drawn)}", " ".join(f"{100 * sum(r <= k for r in in_round) / len(drawn):.0f}" for k in steps),
                     " ".join(f"{100 * equation(copies, k):.0f}" for k in steps)])
    table(f"Table I: {len(drawn)} pairs of 960 units that race", ["M", "found", "% in 1, 2, … rounds", "equation 1"], rows)


PARTS = {"programs": programs, "slowdowns": slowdowns, "amounts": amounts, "rounds": rounds, "pairs": pairs}


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("gpurace")
    p.add_argument("folder")
    p.add_argument("--device", choices=("cpu", "gpu"), default="gpu")
    p.add_argument("--parts", default=",".join(PARTS), help="default: %(default)s")
    p.add_argument("--only", default=",".join(PAPER), help="programs (default: all)")
    p.add_argument("--divide", type=int, metavar="N", help="an N-th of the paper's sizes (default: 1, on the CPU device 32)")
    p.add_argument("--rounds", type=int, metavar="N", help="launches of which the median counts (default: 5, on the CPU device 1)")
    p.add_argument("--copies", default=",".join(map(str, range(2, 32))), metavar="M,...", help="for `rounds` (default: 2 to 31)")
    p.add_argument("--pairs", type=int, default=100, metavar="N", help="pairs that are drawn (default: %(default)s)")
    p.add_argument("--jobs", type=int, default=os.cpu_count(), help="runs at a time, of those that are not timed")
    p.add_argument("--timeout", type=float, default=120, metavar="SECONDS", help="of one run")
    p.add_argument("--json", metavar="FILE", help="append each run as a line of JSON")
    args = p.parse_args()
    gpu = args.device == "gpu"
    args.divide, args.rounds, args.only = args.divide or (1 if gpu else 32), args.rounds or (5 if gpu else 1), args.only.split(",")
    runs = Runs(args)
    for part in args.parts.split(","):
        PARTS[part](runs)
    return len(runs.failed) > 0


if __name__ == "__main__":
    sys.exit(main())

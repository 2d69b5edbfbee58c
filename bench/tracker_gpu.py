#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the engines cost kernels, for one run on a machine with a GPU; it works on the CPU device too, with small sizes.

    bench/tracker_gpu.py build/gpurace build/bench/tracker_gpu [--device gpu] [--log2 22] [--rounds 5] [--output rows.jsonl]

Runs each part of tracker_gpu.cu under each column, and prints each row as soon as it is known; --output gets each as a line of JSON. A part that
fails, or takes longer than --timeout, is named, and the next one begins. What is not there (compute-sanitizer) is skipped with a word. At the
end come tables: how many times as long kernels take (geometric mean, median, worst), contention (figure 12 of the iGUARD paper), where the time
goes (figure 13), and memory. On the CPU device, times are the host's.

columns   plain      the program alone, if --device is gpu
          none       gpurace with engine none
          collider   --engine collider
          tracker    --engine tracker
          paper      --engine tracker --rules paper
          privatizer --engine privatizer
          pr_all     --engine privatizer --prove no: every launch is run on private copies
          pr_warps   --engine privatizer --prove no --units warps
          calls      --engine tracker --measure calls: inserted code returns at once
          lookups    --engine tracker --measure lookups: inserted code finds the metadata, and does nothing with it
          racecheck  compute-sanitizer --tool racecheck, if that is on PATH and --device is gpu
"""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time

ENGINES = {"none": ["none"], "collider": ["collider"], "tracker": ["tracker"], "paper": ["tracker", "--rules", "paper"],
           "privatizer": ["privatizer"], "pr_all": ["privatizer", "--prove", "no"], "pr_warps": ["privatizer", "--prove", "no", "--units", "warps"],
           "calls": ["tracker", "--measure", "calls"], "lookups": ["tracker", "--measure", "lookups"]}
MAIN = ("plain", "none", "collider", "tracker", "paper", "racecheck")
PARTS = {"kernels": ("plain", *ENGINES, "racecheck"), "contention": MAIN, "wide": MAIN, "memory": MAIN, "launches": MAIN, "big": MAIN, "reset": MAIN}


class Bench:
    def __init__(self, args):
        self.args, self.values = args, {}
        self.file = open(args.output, "a", encoding="utf-8") if args.output else None

    def command(self, column, part, report):
        args = self.args
        program = [args.program, str(args.rounds), str(args.log2), part]
        if column == "plain":
            return program
        if column == "racecheck":
            return [args.sanitizer, "--tool", "racecheck", *program]
        return [args.gpurace, "run", "--device", args.device, "--output", report, "--engine", *ENGINES[column], "--", *program]

    def say(self, column, part, name, value, unit):
        self.values.setdefault(name, {})[column] = value
        print(f"{part:11} {column:10} {name:24} {value} {unit}", flush=True)
        if self.file:
            row = {"part": part, "column": column, "name": name, "value": value, "unit": unit, "log2": self.args.log2, "device": self.args.device}
            self.file.write(json.dumps(row) + "\n")
            self.file.flush()

    def run(self, column, part):
        begin = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="gpurace-bench-") as folder:
            report = os.path.join(folder, "report")
            child = subprocess.Popen(self.command(column, part, report), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                     env=dict(os.environ, TRACKER_GPU_CLOCK="host") if self.args.device == "cpu" else None)
            timer = threading.Timer(self.args.timeout, child.kill)
            timer.start()
            try:
                for line in child.stdout:  # as they come: a part that dies leaves what it measured
                    words = line.split()
                    if len(words) == 3 and words[1].replace(".", "", 1).replace("-", "", 1).isdigit():
                        self.say(column, part, words[0] if words[0] != "start" else f"start_{part}", float(words[1]), words[2])
                    elif line.startswith("failed:"):
                        self.say(column, part, "failed", line.strip(), "")
                status = child.wait()
            finally:
                timer.cancel()
            if os.path.exists(report):
                with open(report, encoding="utf-8") as file:
                    lines = [line.strip() for line in file]
                for line in lines:
                    if line.startswith(("gpurace: verdict", "because", "besides")):
                        self.say(column, part, "verdict" if line.startswith("gpurace") else "reason", line, "")
        self.say(column, part, f"wall_{part}", round(time.monotonic() - begin, 3), "s")
        if status:
            self.say(column, part, "status", status, "")

    def times(self, column, names):
        """How many times as long as with engine none."""
        found = []
        for name in names:
            row = self.values.get(name, {})
            if row.get("none") and column in row:
                found.append((row[column] / row["none"], name))
        return sorted(found)


KERNELS = ("saxpy", "matmul", "reduce", "hist", "ghist", "nbody", "touch4")


def table(head, rows):
    print("\n| " + " | ".join(head) + " |\n" + "|---" * len(head) + "|")
    for row in rows:
        print("| " + " | ".join(str(cell) for cell in row) + " |")
    sys.stdout.flush()


def show(bench):
    columns = [c for c in ("plain", *ENGINES, "racecheck") if c != "none" and bench.times(c, KERNELS)]
    rows = []
    for name in KERNELS:
        if name in bench.values:
            rows.append([name, bench.values[name].get("none", ""), *(f"{dict((n, t) for t, n in bench.times(c, KERNELS)).get(name, float('nan')):.2f}" for c in columns)])
    for words, of in (("geometric mean", lambda t: statistics.geometric_mean(x for x, _ in t)), ("median", lambda t: statistics.median(x for x, _ in t)),
                      ("worst", lambda t: t[-1][0])):
        rows.append([words, "", *(f"{of(bench.times(c, KERNELS)):.2f}" for c in columns)])
    table(["kernel", "none, ms", *(f"{c}, times" for c in columns)], rows)
    rows = []
    for name in ("atomics", "polls", "reads"):
        for column in MAIN:
            one, spread = (bench.values.get(f"{name}_{how}", {}) for how in ("one", "spread"))
            if one.get("none") and spread.get("none") and column in one and column in spread:
                rows.append([name, column, one[column], spread[column], f"{one[column] / one['none']:.2f}", f"{spread[column] / spread['none']:.2f}"])
    if rows:
        table(["contention", "column", "one word, ms", "own words, ms", "times none", "times none"], rows)
    rows = []
    for name in KERNELS:
        row = bench.values.get(name, {})
        if all(row.get(c) for c in ("none", "calls", "lookups", "tracker")):
            whole = row["tracker"]
            parts = (row["none"], row["calls"] - row["none"], row["lookups"] - row["calls"], whole - row["lookups"])
            rows.append([name, *(f"{100 * p / whole:.0f} %" for p in parts)])
    if rows:
        table(["where the time goes", "program", "calls", "lookups", "judging"], rows)
    rows = [[name, *(bench.values[name].get(c, "") for c in MAIN)] for name in
            ("start_kernels", "saxpy_1024", "launch", "launches_memory", "memory_program", "memory_beside", "memory_of_process", "big_front", "big_end",
             "big_memory_used", "resets") if name in bench.values]
    if rows:
        table(["amount", *MAIN], rows)


def parse_args(argv):
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("gpurace")
    p.add_argument("program")
    p.add_argument("--device", choices=("cpu", "gpu"), default="gpu")
    p.add_argument("--log2", type=int, metavar="N", help="size of the largest arrays (default: 22, on the CPU device 14)")
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--parts", default=",".join(PARTS), help="default: %(default)s")
    p.add_argument("--columns", default="", help="default: all")
    p.add_argument("--timeout", type=float, default=120, metavar="SECONDS", help="of one part under one column")
    p.add_argument("--output", metavar="FILE", help="append each row as a line of JSON")
    args = p.parse_args(argv)
    args.log2 = args.log2 or (14 if args.device == "cpu" else 22)
    args.sanitizer = shutil.which("compute-sanitizer") if args.device == "gpu" else None
    return args


def main(argv=None):
    args = parse_args(argv)
    bench = Bench(args)
    wanted = args.columns.split(",") if args.columns else ["plain", *ENGINES, "racecheck"]
    if "racecheck" in wanted and not args.sanitizer:
        print("racecheck: skipped, there is no compute-sanitizer on PATH" if args.device == "gpu" else "racecheck: skipped, it needs a GPU", flush=True)
        wanted.remove("racecheck")
    if "plain" in wanted and args.device == "cpu":
        print("plain: skipped, the program runs on the CPU device under gpurace only", flush=True)
        wanted.remove("plain")
    for part in args.parts.split(","):
        for column in PARTS[part]:
            if column in wanted:
                bench.run(column, part)
    show(bench)
    failed = [row for name, row in bench.values.items() if name in ("failed", "status")]
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())

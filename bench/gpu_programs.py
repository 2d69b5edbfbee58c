#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the engines cost whole programs on a GPU: for one run on a machine with a GPU.

    bench/gpu_programs.py GPURACE KERNEL_TIMES.so PROGRAM... [--columns none,collider,tracker] [--rounds 3] [--jobs 4] [--output rows.jsonl] [--repeat librepeat.so]

Each program runs under each column. The first run does not count: it fills the driver's cache of compiled code. (Those are made --jobs at a time;
the others one at a time.) Kernels: nanoseconds that kernels took on the device, by CUPTI (kernel_times.c); wall: milliseconds from start to end. A program
that fails, or takes longer than --timeout under a column, is named, and left out of that column's mean. The table has how many times as long as under engine
none: medians of the rounds; geometric mean, median and worst of the programs. "sampled" checks one access, chosen by a seed, another one in each round: geometric means.
"racecheck" is compute-sanitizer's, where that is on PATH; only wall. bench/gpu.py uses this too.

With --repeat (tests/engines/collider/repeat.c, compiled) the rounds of a column are runs in one process, each with the next seed and as in a process of its own; the
first one does not count. Then only the kernels' times mean something: the median of none, and the geometric mean of the others, because waits are longer with some seeds.
"sampled" has a process for each seed. A program that ends its process by itself is left out.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

FAST, BALANCED = ["--read-delay", "1", "--write-delay", "1"], ["--read-delay", "5000", "--write-delay", "1"]  # section 5.1.3 of the SuperCollider paper
ENGINES = {"none": ["none"], "collider": ["collider"], "default": ["collider"], "fast": ["collider", *FAST], "balanced": ["collider", *BALANCED],
           "sampled": ["collider", *BALANCED, "--sample", "1"], "budget": ["collider", "--budget", "2x"], "on-time": ["collider", "--late-work", "no"],
           "every": ["collider", "--windows", "all"], "every-fast": ["collider", "--windows", "all", *FAST],
           "tracker": ["tracker"], "paper": ["tracker", "--rules", "paper"],
           "calls": ["tracker", "--measure", "calls"], "lookups": ["tracker", "--measure", "lookups"]}


class Bench:
    def __init__(self, args):
        self.args = args
        self.sanitizer = shutil.which("compute-sanitizer")

    def run(self, program, column, limit, seed=1, runs=0):
        """(kernels, their ns, wall ms, KiB resident at most, MiB of the device in use at the end), or why not. With `runs`: [(kernels, their ns)] of as many runs in one process."""
        with tempfile.TemporaryDirectory(prefix="gpurace-bench-") as folder:
            times = pathlib.Path(folder, "times")
            if column == "racecheck":
                command, env = [self.sanitizer, "--tool", "racecheck", program], {}
            else:
                command = [self.args.gpurace, "run", "--device", "gpu", "--error-exitcode", "0", "--output", os.path.join(folder, "report"), "--seed", str(seed),
                           "--engine", *ENGINES[column], "--", program]
                env = {"CUDA_INJECTION64_PATH": os.path.abspath(self.args.kernel_times), "KERNEL_TIMES": str(times)}
            if runs:
                command = [*command[:-1], "sh", "-c", 'LD_PRELOAD=$REPEAT_LIBRARY:$LD_PRELOAD exec "$0"', os.path.abspath(program)]
                name = os.path.basename(program)
                env |= {"REPEAT_OF": name, "REPEAT": f"{runs} {name}", "REPEAT_LOG": os.path.join(folder, "log"), "REPEAT_LIBRARY": os.path.abspath(self.args.repeat)}
            begun, late = time.perf_counter(), []
            with open(os.path.join(folder, "printed"), "w") as out:
                child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, env=dict(os.environ, **env), start_new_session=True)
            # The program, too: a kernel that goes on takes the GPU's time from all that follow.
            timer = threading.Timer(limit, lambda: (late.append(True), os.killpg(child.pid, signal.SIGKILL)))
            timer.start()
            _, status, usage = os.wait4(child.pid, 0)
            timer.cancel()
            child.returncode = os.waitstatus_to_exitcode(status)
            if late:
                return f"not over after {limit:.0f} s"
            printed = pathlib.Path(folder, "printed").read_text(errors="replace")
            wall = (time.perf_counter() - begun) * 1e3
            if child.returncode:
                return f"status {child.returncode}: {printed.strip()[-200:]}"
            if column != "racecheck" and not times.exists():
                return f"{self.args.kernel_times} wrote no times: did the driver load it?"
            lines = [line.split() for line in times.read_text().splitlines()] if times.exists() else []
            if runs:
                sums = [(0, 0)] + [(int(line[1]), int(line[2])) for line in lines if line[0] == "run"]
                if len(sums) <= runs:
                    return f"{len(sums) - 1} of {runs} runs in a process: does it end by itself?"
                return [(b[0] - a[0], b[1] - a[1]) for a, b in zip(sums, sums[1:])]
            rows = [list(map(int, line)) for line in lines if line[0] != "run"]
            return sum(r[0] for r in rows), sum(r[1] for r in rows), wall, usage.ru_maxrss, max((r[5] for r in rows), default=0) / 2**20

    def measure_repeated(self, program, columns):
        """{column: [kernels, their ns, ns of the slowest run]}"""
        found, rounds = {}, self.args.rounds
        for column in columns:
            if isinstance(found.get("none"), str):
                break
            seeds = range(1, getattr(self.args, "seeds", rounds) + 1) if column == "sampled" else [1]
            parts = [self.run(program, column, self.args.timeout, seed, rounds + 1) for seed in seeds]
            broken = [part for part in parts if isinstance(part, str)]
            ns = [] if broken else [one[1] for part in parts for one in part[1:]]
            if broken:
                found[column] = broken[0]
            elif column == "none":
                found[column] = [parts[0][1][0], statistics.median(ns), statistics.median(ns)]
            else:
                found[column] = [parts[0][1][0], mean(ns), max(ns)]
        return found

    def measure(self, program, columns):
        if getattr(self.args, "repeat", ""):
            return self.measure_repeated(program, columns)
        found = {}
        for seed in range(1, self.args.rounds + 1):
            for column in columns:
                if not isinstance(found.get(column), str) and not isinstance(found.get("none"), str):
                    one = self.run(program, column, self.args.timeout, seed)
                    if isinstance(one, str):
                        found[column] = one
                    else:
                        found.setdefault(column, []).append(one)
        return {c: v if isinstance(v, str) else [(mean if c == "sampled" else statistics.median)(x) for x in zip(*v)] for c, v in found.items()}


def mean(values):
    return statistics.geometric_mean(max(v, 1e-9) for v in values)


def ratios(rows, column, place):
    """By program, how many times as much as under none."""
    found = {}
    for name, row in rows.items():
        base, one = row.get("none"), row.get(column)
        if base and one and not isinstance(base, str) and not isinstance(one, str) and base[place] and one[place]:
            found[name] = one[place] / base[place]
    return found


def show(rows, columns, second="wall"):
    """`second`: what the third number of a row is."""
    print("\n| program | kernels | ms | " + " | ".join(f"{c}, kernels | {c}, {second}" for c in columns if c != "none") + " |")
    print("|---" * (3 + 2 * (len(columns) - 1)) + "|")
    for name, row in sorted(rows.items()):
        base = row["none"]
        if isinstance(base, str):
            print(f"| {name} | {base} |")
            continue
        cells = []
        for c in columns:
            if c != "none":
                cells += [f"{ratios({name: row}, c, 1).get(name, 0):.2f}" if c != "racecheck" and not isinstance(row[c], str) else "",
                          row[c] if isinstance(row[c], str) else f"{ratios({name: row}, c, 2).get(name, 0):.2f}"]
        print(f"| {name} | {base[0]:.0f} | {base[1] / 1e6:.3f} | " + " | ".join(cells) + " |")
    for column in columns:
        for place, what in ((1, "kernels"), (2, second)):
            found = ratios(rows, column, place)
            if column != "none" and found:
                worst = max(found, key=found.get)
                print(f"{column}, {what}: of {len(found)} programs geometric mean {statistics.geometric_mean(found.values()):.2f}, "
                      f"median {statistics.median(found.values()):.2f}, worst {found[worst]:.1f} ({worst})")


def measure_all(bench, programs, columns):
    """The rows, by name of the program. args.parallel programs at a time; then only the kernels' times mean something, and no run is made to warm up. Past args.until
    (time.time) no program is begun."""
    args, rows = bench.args, {}
    parallel, until = getattr(args, "parallel", 1), getattr(args, "until", None)
    if parallel == 1 and not getattr(args, "repeat", ""):
        seeds = {c: range(1, args.rounds + 1) if c == "sampled" else [1] for c in columns}
        with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
            list(pool.map(lambda work: bench.run(work[0], work[1], args.timeout, work[2]),
                          [(q, c, s) for q in programs for c in columns if c != "racecheck" for s in seeds[c]]))

    def measure(program):
        return program, None if until and time.time() > until else bench.measure(program, columns)

    with concurrent.futures.ThreadPoolExecutor(parallel) as pool:
        for done in concurrent.futures.as_completed([pool.submit(measure, q) for q in programs]):
            program, row = done.result()
            name = os.path.basename(program)
            if row is None:
                continue
            rows[name] = row
            print(name, row, flush=True)
            if args.output:
                with open(args.output, "a", encoding="utf-8") as out:
                    out.write(json.dumps({"program": name, **row}) + "\n")
    return rows


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("gpurace")
    p.add_argument("kernel_times")
    p.add_argument("programs", nargs="+")
    p.add_argument("--columns", default="none,collider,tracker")
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--jobs", type=int, default=4)
    p.add_argument("--repeat", default="", metavar="librepeat.so")
    p.add_argument("--timeout", type=float, default=60, metavar="SECONDS")
    p.add_argument("--output", metavar="FILE", help="append each program's row as a line of JSON")
    args = p.parse_args()
    bench, columns = Bench(args), args.columns.split(",")
    if "racecheck" in columns and not bench.sanitizer:
        print("racecheck: skipped, there is no compute-sanitizer on PATH")
        columns.remove("racecheck")
    show(measure_all(bench, args.programs, columns), columns, "slowest run" if args.repeat else "wall")
    return 0


if __name__ == "__main__":
    sys.exit(main())

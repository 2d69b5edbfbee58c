#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the CPU device, side by side with other engines: run.py BUILD OUT.json [options]

Columns: the kernels of kernels.cu on the CPU device, plain (one thread; two with --jobs 2), under the engine exact, and rewritten by the collider: as the CPU
device runs them (the device leaves windows out by itself), and as a GPU does, whose code chooses. Then the same kernels in a CUDA program under `gpurace run`, as users
run them, with the schedule and the watchpoints that come with it. Last the kernels of kernels.cl under PoCL (all cores; the native ceiling) and Oclgrind (its default, two
threads; with --data-races too, beside exact).

In every round all columns run once, in turn, so that a machine that slows down slows all of them; medians over the rounds, ratios within the run. Oclgrind, hundreds
of times slower, takes part in the first rounds only. Wall time of the kernels, without builds and copies. Every run checks its results and compares its output with the
plain device's: a difference fails the benchmark. An engine that is not installed is skipped, and named. --beside measures another build in turn with this one.

The figures are held against those that figures.json has for this processor, and what got slower than the rounds differ is named. --store puts them there, and
--update-docs FILE puts the tables between the two marks in FILE.
"""
import argparse
import array
import datetime
import json
import os
import pathlib
import re
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile

import alternate

FOLDER = pathlib.Path(__file__).resolve().parent
KERNELS = "saxpy,matmul,reduce,hist,ghist,bfs,nbody,collatz"
MARKS = "<!-- kernels: begin -->", "<!-- kernels: end -->"
APPROXIMATE = {"nbody"}  # floating-point sums of reciprocal square roots
FLAT = ["--read-delay", "1", "--write-delay", "1"]
# By what time differs without a cause: at least, and so many times what the rounds do.
LEAST, TIMES = 0.03, 2
LINE = re.compile(r"(\w+)\s+([\d.]+) ms(?:\s+([\d.]+) M thread-instructions .*)?\s+(\w+)$", re.M)
# Rows of ratios: title, above, below.
RATIOS = [("Oclgrind / plain", "oclgrind", "plain"), ("`--jobs 2` / PoCL", "jobs 2", "pocl"), ("plain / PoCL", "plain", "pocl"),
          ("collider / plain", "collider", "plain"), ("collider, delays 1 ns / plain", "collider, 1 ns", "plain"),
          ("collider, a GPU's code / plain", "collider, GPU code", "plain"), ("exact / plain", "exact", "plain"),
          ("Oclgrind `--data-races` / exact", "oclgrind, races", "exact"), ("`gpurace run`: exact / none", "run exact", "run none"),
          ("`gpurace run`: collider / none", "run collider", "run none"),
          ("`gpurace run`: collider `--schedule default` / none", "run collider, default schedule", "run none")]


# Columns of `gpurace run`.
RUNS = {"run none": ["--engine", "none"], "run exact": ["--engine", "exact"], "run collider": ["--engine", "collider"],
        "run collider, default schedule": ["--engine", "collider", "--schedule", "default"]}


class Failed(Exception):
    pass


class Build:
    """One build folder, and what it runs."""

    def __init__(self, folder, suffix, tmp, ptx):
        self.folder, self.suffix, self.tmp, self.ptx = folder, suffix, tmp, ptx
        self.gpurace, self.vm_bench, self.run_bench = (os.path.join(folder, f) for f in ("gpurace", "bench/vm_bench", "bench/run_bench"))
        self.counts = {}

    def vm(self, ptx, *options):
        def one(name, output):
            found = LINE.search(out := call(self.vm_bench, ptx, name, "--repeat", "1", "--output", output, *options))
            if not found or found.group(4) != "right":
                raise Failed(out)
            if found.group(3):
                self.counts.setdefault(name, float(found.group(3)))
            return float(found.group(2))
        return one

    def run(self, program, *options):
        def one(name, output):
            found = LINE.search(out := call(self.gpurace, "run", "--device", "cpu", *options, "--output", os.path.join(self.tmp, "report"), "--",
                                            program, self.ptx, name, "--output", output))
            if not found or found.group(4) != "right":
                raise Failed(out)
            return float(found.group(2))
        return one

    def rewritten(self, *options):
        """kernels.ptx as the collider of this build rewrites it. None: it has no such option."""
        path = os.path.join(self.tmp, f"{len(os.listdir(self.tmp))}.ptx")
        command = [self.gpurace, "ptx", "--engine", "collider", *options, self.ptx, "-o", path]
        return path if subprocess.run(command, capture_output=True).returncode == 0 else None

    def columns(self, program, wanted):
        """{title: function that measures a kernel}, of those that are wanted and that this build has."""
        made = {"plain": lambda: self.vm(self.ptx), "jobs 2": lambda: self.vm(self.ptx, "--jobs", "2"), "exact": lambda: self.vm(self.ptx, "--exact")}
        # The device leaves windows out by itself. (Before there was code that chooses them, no option was needed.)
        for title, options in (("collider", []), ("collider, 1 ns", FLAT)):
            made[title] = lambda options=options: self.vm(self.rewritten("--windows", "all", *options) or self.rewritten(*options))
        made["collider, GPU code"] = lambda: (ptx := self.rewritten("--windows", "inserted")) and self.vm(ptx)
        if os.path.exists(program):
            for title, options in RUNS.items():
                made[title] = lambda options=options: self.run(program, *options)
        found = {title + self.suffix: make() for title, make in made.items() if wanted(title)}
        return {title: one for title, one in found.items() if one}


def command_of(args):
    """What was called, with the words that change what is measured."""
    words, rest = [], iter(sys.argv[3:])
    for word in rest:
        if word == "--update-docs":
            next(rest, None)
        elif word != "--store" and not word.startswith("--update-docs="):
            words.append(shlex.quote(word))
    if not args.store and words:
        return "bench/run.py " + " ".join(words)
    return "make bench" + (" STORE=yes" if args.store else "") + (f" BENCH=\"{' '.join(words)}\"" if words else "")


def call(*command, env=None):
    run = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **(env or {})})
    if run.returncode:
        raise Failed(f"{' '.join(map(str, command))}: status {run.returncode}\n{run.stdout}{run.stderr}")
    return run.stdout


# ---- Engines for OpenCL --------------------------------------------------------------------------------------------------


def opencl(build, tmp, skipped, wanted):
    """{title: function that measures a kernel}. PoCL compiles for the block's size in a first run, which does not count."""
    found, cl_bench, kernels = {}, os.path.join(build, "bench/cl_bench"), FOLDER / "kernels.cl"
    os.mkdir(f"{tmp}/pocl")
    for engine, title, prefix, repeat, warm, package in [("Portable Computing Language", "pocl", [], 4, 1, "pocl-opencl-icd"),
                                                         ("Oclgrind", "oclgrind", ["oclgrind"], 1, 0, "oclgrind"),
                                                         ("Oclgrind", "oclgrind, races", ["oclgrind", "--data-races"], 1, 0, "oclgrind")]:
        def one(name, output, engine=engine, prefix=prefix, repeat=repeat, warm=warm):
            out = call(*prefix, cl_bench, kernels, name, "--platform", engine, "--repeat", str(repeat), "--output", output, env={"POCL_CACHE_DIR": f"{tmp}/pocl"})
            return statistics.median([float(t) for t in re.findall(r"^([\d.]+) ms$", out, re.M)][warm:])

        if not wanted(title):
            continue
        if not os.path.exists(cl_bench):
            skipped[title] = "no OpenCL headers or loader when gpurace was built (ocl-icd-opencl-dev, opencl-headers)"
        elif prefix and not shutil.which(prefix[0]):
            skipped[title] = f"{prefix[0]} is not installed"
        elif f"platform: {engine}" not in subprocess.run([*prefix, cl_bench, kernels, "saxpy", "--platform", engine, "--repeat", "0"], capture_output=True, text=True).stdout:
            skipped[title] = f"OpenCL does not know it ({package})"
        else:
            found[title] = one
    return found


# ---- Measuring -----------------------------------------------------------------------------------------------------------


def same(name, a, b):
    if name not in APPROXIMATE:
        return a == b
    x, y = array.array("f", a), array.array("f", b)
    most = max(map(abs, x))
    return len(x) == len(y) and all(abs(p - q) <= 1e-3 * most for p, q in zip(x, y))


def measure(args, columns, tmp):
    """{(column, kernel): milliseconds of each round}"""
    names, output = args.kernels.split(","), os.path.join(tmp, "output")
    times = {(c, n): [] for c in columns for n in names}
    for r in range(args.rounds):
        for n in names:
            first = None
            for c, one in columns.items():
                if c.startswith("oclgrind") and (r >= args.slow_rounds or n == "collatz"):
                    continue
                times[c, n].append(one(n, output))
                data = pathlib.Path(output).read_bytes()
                first = first or data
                if not same(n, first, data):
                    raise Failed(f"{c} computes something else in {n} than {next(iter(columns))}")
    return {key: ms for key, ms in times.items() if ms}


def measure_scale(build, threads):
    for n in [int(float(t)) for t in threads.split(",") if t]:
        row = {"threads": n}
        for jobs in (1, 2):
            out = call(build.vm_bench, build.ptx, "--threads", str(n), "--jobs", str(jobs), "--repeat", str(max(2, 10**7 // n)))
            found = re.search(r"threads ([\d.]+) ms, ([\d.]+) of processor time, begun after ([\d.]+)", out)
            ms, cpu, begun = (float(x) for x in found.groups())
            row |= {"ms": ms, "cpu_ms": cpu, "begun_ms": begun, "cpu_ns_per_thread": cpu * 1e6 / n} if jobs == 1 else {"jobs_2_ms": ms}
        yield row


def measure_shadow(build, memory):
    for name, mib in zip(("touch4", "touch1"), [int(m) for m in memory.split(",") if m]):
        out = call(build.vm_bench, build.ptx, "--exact", "--memory", str(mib), name)
        shadow, resident = re.search(r": ([\d.]+) bytes of shadow per byte touched, ([\d.]+) of resident memory", out).groups()
        yield {"what": name, "mib": mib, "shadow": float(shadow), "resident": float(resident)}


def spread(ms):
    """By how much the rounds differ: half of what lies between their quarters, in parts of the median."""
    if len(ms) < 4:
        return (max(ms) - min(ms)) / 2 / statistics.median(ms)
    low, _, high = statistics.quantiles(ms, n=4)
    return (high - low) / 2 / statistics.median(ms)


def ratios_of(median, names, suffix=""):
    """{title: {kernel: ratio, "geometric mean": of all but collatz, which accesses no memory}}"""
    found = {}
    for title, above, below in RATIOS:
        row = {n: median[above + suffix, n] / median[below + suffix, n] for n in names if (above + suffix, n) in median and (below + suffix, n) in median}
        over = [row[n] for n in row if n != "collatz" or len(row) == 1]
        if over:
            found[title + suffix] = row | {"geometric mean": statistics.geometric_mean(over)}
    return found


# ---- What got slower -----------------------------------------------------------------------------------------------------


def slower(now, stored):
    """Lines that name what got slower, or larger, than noise."""
    for key, then in stored["ms"].items():
        ms = now["ms"].get(key)
        if ms and ms[0] > then[0] * (1 + max(LEAST, TIMES * (ms[1] + then[1]))):
            yield f"{key}: {ms[0]:.3f} ms, {ms[0] / then[0]:.2f} times the {then[0]:.3f} ms of {stored['day']}"
    for key, then in stored["shadow"].items():
        bytes_now = now["shadow"].get(key)
        if bytes_now and bytes_now > then * (1 + LEAST):
            yield f"shadow of {key}: {bytes_now:.2f} bytes for each, {then:.2f} on {stored['day']}"


def compare(path, now, processor):
    stored = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    if processor not in stored:
        print(f"\nbench: {path.name} has no figures of {processor} (make bench STORE=yes puts them there)")
        return
    then = stored[processor]
    found = list(slower(now, then))
    print(f"\nbench: {'slower than' if found else 'nothing is slower than'} on {then['day']} ({then['commit']}), beyond what the rounds differ" + (":" if found else "."))
    for line in found:
        print(f"bench:   {line}")


def store(path, now, processor):
    stored = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    stored[processor] = now
    path.write_text(json.dumps(dict(sorted(stored.items())), indent=1) + "\n", encoding="utf-8")


# ---- Tables --------------------------------------------------------------------------------------------------------------


def tables(args, result):
    columns, names, counts = result["columns"], args.kernels.split(","), result["thread_instructions_millions"]
    ms = {tuple(key.split(" | ")): v[0] for key, v in result["ms"].items()}
    yield (f"{result['processor']}, {os.cpu_count()} cores, {result['day']}, commit {result['commit']}, `{result['command']}`: medians of {args.rounds} rounds "
           f"(Oclgrind: {min(args.slow_rounds, args.rounds)}), milliseconds; load before: {result['load_before']:.1f}.")
    yield ""
    yield "| kernel | M thread-instr. | " + " | ".join(columns) + " |"
    yield "|---" * (2 + len(columns)) + "|"
    for n in names:
        yield f"| {n} | {counts.get(n, 0):.1f} | " + " | ".join(f"{ms[c, n]:.3f}" if (c, n) in ms else "" for c in columns) + " |"
    yield ""
    yield "| ratio | " + " | ".join(names) + " | geometric mean |"
    yield "|---" * (2 + len(names)) + "|"
    for title, row in result["ratios"].items():
        yield f"| {title} | " + " | ".join(f"{row[n]:.2f}" if n in row else "" for n in names) + f" | {row['geometric mean']:.2f} |"
    if result["scale"]:
        yield ""
        yield "| threads of `many` | ms | processor time, ms | ns of it per thread | first instruction after, ms | `--jobs 2`, ms |"
        yield "|---|---|---|---|---|---|"
        for s in result["scale"]:
            yield f"| {s['threads']:.0e} | {s['ms']:.3f} | {s['cpu_ms']:.3f} | {s['cpu_ns_per_thread']:.2f} | {s['begun_ms']:.3f} | {s['jobs_2_ms']:.3f} |"
    if result["exact_shadow"]:
        yield ""
        yield "| working set | MiB | bytes of exact's shadow for each | of resident memory |"
        yield "|---|---|---|---|"
        for s in result["exact_shadow"]:
            yield f"| {s['what'] + s.get('of', '')} | {s['mib']} | {s['shadow']:.2f} | {s['resident']:.2f} |"
    for title, why in result["skipped"].items():
        yield f"\n{title} was skipped: {why}"


def commit_of(folder):
    run = subprocess.run(["git", "-C", folder, "rev-parse", "--short=8", "HEAD"], capture_output=True, text=True)
    return run.stdout.strip() or "unknown"


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("build")
    p.add_argument("out")
    p.add_argument("--rounds", type=int, default=9)
    p.add_argument("--slow-rounds", type=int, default=3, help="in which Oclgrind takes part")
    p.add_argument("--kernels", default=KERNELS)
    p.add_argument("--columns", default="", help="these alone, with a semicolon between them")
    p.add_argument("--threads", default="1e5,1e6,1e7,1e8", help="of the kernel `many`; empty: not measured")
    p.add_argument("--memory", default="1024,256", help="MiB of 4-byte elements and of single bytes under exact; empty: not measured")
    p.add_argument("--beside", default="", metavar="BUILD", help="another build folder")
    p.add_argument("--figures", type=pathlib.Path, default=FOLDER / "figures.json")
    p.add_argument("--store", action="store_true")
    p.add_argument("--update-docs", default="", metavar="FILE")
    args = p.parse_args()
    names, skipped, processor = args.kernels.split(","), {}, alternate.processor()
    with tempfile.TemporaryDirectory() as tmp:
        ptx, program = os.path.join(args.build, "bench/kernels.ptx"), os.path.join(args.build, "bench/run_bench")
        os.mkdir(f"{tmp}/beside")
        builds = [Build(args.build, "", tmp, ptx)] + ([Build(args.beside, " (beside)", f"{tmp}/beside", ptx)] if args.beside else [])
        some = [c.strip() for c in args.columns.split(";") if c.strip()]
        wanted = lambda c: not some or c in some
        columns = {}
        for b in builds:
            columns |= b.columns(program, wanted)
        columns |= opencl(args.build, tmp, skipped, wanted)
        for title, why in skipped.items():
            print(f"bench: {title} is skipped: {why}", file=sys.stderr)
        load = os.getloadavg()[0]
        times = measure(args, columns, tmp)
        scale = list(measure_scale(builds[0], args.threads))
        shadow = [s | ({"of": b.suffix} if b.suffix else {}) for b in builds for s in measure_shadow(b, args.memory)]
    median = {key: statistics.median(ms) for key, ms in times.items()}
    ratios = {}
    for b in builds:
        ratios |= ratios_of(median, names, b.suffix)
    if args.beside:
        for c in [c for c in columns if f"{c} (beside)" in columns]:
            row = {n: median[c, n] / median[f"{c} (beside)", n] for n in names}
            ratios[f"{c} / {c} (beside)"] = row | {"geometric mean": statistics.geometric_mean(row.values())}
    made = {"processor": processor, "cores": os.cpu_count(), "day": datetime.date.today().isoformat(), "commit": commit_of(FOLDER), "rounds": args.rounds,
            "command": command_of(args), "load_before": load,
            "ms": {f"{c} | {n}": [round(median[c, n], 4), round(spread(ms), 4)] for (c, n), ms in times.items()}}
    result = made | {"columns": list(columns), "thread_instructions_millions": builds[0].counts, "ratios": ratios, "scale": scale, "exact_shadow": shadow, "skipped": skipped}
    lines = list(tables(args, result))
    print("\n".join(lines))
    pathlib.Path(args.out).write_text(json.dumps(result, indent=1), encoding="utf-8")
    figures = made | {"shadow": {s["what"]: s["resident"] for s in shadow if "of" not in s}}
    compare(args.figures, figures, processor)
    if args.store:
        store(args.figures, figures, processor)
    if args.update_docs:
        alternate.put_between(args.update_docs, MARKS, lines)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as why:
        sys.exit(f"bench: {why}")

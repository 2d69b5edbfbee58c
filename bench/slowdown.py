#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the collider costs on the CPU device: slowdown.py BUILD [--rounds N] [--schedule NAME] [--json FILE] [--update-docs FILE]

Each program of tests/complete (build them first: --target complete-programs) runs without an engine and under the collider in the SuperCollider
paper's three configurations (section 5.3.1), which look at values only, and with the default delays, without and with watchpoints. In every round all of them run once for each program, in turn,
so that a machine that slows down slows all of them; a slowdown is the median of the rounds' ratios. "Sampled" checks
one access, chosen by the seed: the geometric mean of 13 seeds, as in the paper, dealt over the rounds. Kernels: the processor time that the device
took. Program: that of the whole process tree, with loading, rewriting and what the host computes. Every run must end and print what
the program prints without an engine; the verdict must not be `races`. Memory: the largest resident set of the process, and the record area.
--update-docs puts the tables between the two marks in FILE.
"""
import argparse
import json
import os
import pathlib
import re
import statistics
import sys
import time

import alternate
from alternate import geomean, median

SEEDS = 13
PAPER = {"fast": "4.86", "balanced": "11.21", "sampled": "1.98"}
WORST_OF_PAPER = {"fast": "229", "balanced": "1066", "sampled": "41.3"}
MARKS = "<!-- slowdown: begin -->", "<!-- slowdown: end -->"

arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
arguments.add_argument("build")
arguments.add_argument("--rounds", type=int, default=5)
arguments.add_argument("--only", default="", help="programs whose name this regular expression matches")
arguments.add_argument("--schedule", default="auto", help="of the collider's runs, as in `gpurace run`")
arguments.add_argument("--json", default="")
arguments.add_argument("--update-docs", default="")
args = arguments.parse_args()
root = pathlib.Path(__file__).resolve().parent.parent
gpurace, folder = os.path.join(args.build, "gpurace"), pathlib.Path(args.build, "complete-programs")


def delays(read, write, watchpoints="no"):
    return ["--engine", "collider", "--schedule", args.schedule, "--read-delay", str(read), "--write-delay", str(write), "--watchpoints", watchpoints]


variants = {"none": ["--engine", "none"], "fast": delays(1, 1), "balanced": delays(5000, 1), "default": delays(5000, 5000),
            "watchpoints": delays(5000, 5000, "yes")}


def run(name, text, options):
    try:
        one = alternate.run(gpurace, folder / name, text, options)
    except alternate.Failed as why:
        sys.exit(f"slowdown: {why}")
    if one["status"] != 0:
        sys.exit(f"slowdown: {one['said']}")
    coverage = one.pop("report")["coverage"]  # not needed any more, and there are many runs
    one["sites"] = sum(n for n in coverage["accesses"].values() if isinstance(n, int)) + coverage["modules"]["checked"]
    return one


def slot_bytes():
    """Of one access: sizeof(GrSlot) times the race classes, from the headers."""
    text = (root / "src/engines/collider/device/record.h").read_text()
    body = text[text.index("typedef struct GrSlot {") : text.index("} GrSlot;")]
    sizes = {"uint64_t": 8, "uint32_t": 4, "uint8_t": 1}
    total = 0
    for kind, names in re.findall(r"^\s+(uint\d+_t) ([^;]+);", body, re.M):
        for one in names.split(","):
            count = re.search(r"\[(\w+)\]", one)
            total += sizes[kind] * (16 if count and count.group(1) == "GR_VALUE_BYTES" else int(count.group(1)) if count else 1)
    return (total + 7) // 8 * 8 * len(re.findall(r"^CLASS\(", (root / "src/engines/collider/classes.def").read_text(), re.M))


names = [s.stem for s in sorted((root / "tests/complete").glob("*.cu")) if os.access(folder / s.stem, os.X_OK) and re.search(args.only, s.stem)]
if not names:
    sys.exit("slowdown: no programs; cmake --build BUILD --target complete-programs")
results = {(v, n): [] for v in [*variants, "sampled"] for n in names}
begun, load = time.time(), os.getloadavg()[0]
for r in range(args.rounds):
    for n in names:
        text = (root / "tests/complete" / f"{n}.cu").read_text(encoding="utf-8")
        todo = [(v, o) for v, o in variants.items()]
        todo += [("sampled", delays(5000, 1) + ["--sample", "1", "--seed", str(s)]) for s in range(1, SEEDS + 1) if s % args.rounds == r]
        plain = None
        for v, options in todo:
            one = run(n, text, options)
            plain = plain or one
            if one["printed"] != plain["printed"]:
                sys.exit(f"slowdown: {n} prints something else under {v}")
            one["of"] = plain
            results[v, n].append(one)


def slowdown(v, n, what):
    ratios = alternate.ratios([(o["of"], o) for o in results[v, n]], what)
    return geomean(ratios) if v == "sampled" else median(ratios)


def table():
    compared = ["fast", "balanced", "sampled", "default", "watchpoints"]
    cpu = alternate.processor()
    yield f"{cpu}, {os.cpu_count()} cores; {len(names)} programs, {args.rounds} rounds, {time.time() - begun:.0f} s; load before: {load:.1f}."
    yield ""
    yield "| configuration | delays (read, write) | kernels: geometric mean | median | worst | whole program: geometric mean | worst | the paper's geometric mean, worst |"
    yield "|---|---|---|---|---|---|---|---|"
    title = {"fast": "fast | 1 ns, 1 ns", "balanced": "balanced | 5000 ns, 1 ns", "default": "values only | 5000 ns, 5000 ns",
             "watchpoints": "default | 5000 ns, 5000 ns", "sampled": f"sampled, one access, {SEEDS} seeds | 5000 ns, 1 ns"}
    for v in compared:
        kernels = {n: slowdown(v, n, "kernels") for n in names}
        whole = {n: slowdown(v, n, "all") for n in names}
        k, w = max(kernels, key=kernels.get), max(whole, key=whole.get)
        paper = f"{PAPER[v]}, {WORST_OF_PAPER[v]}" if v in PAPER else ""
        yield (f"| {title[v]} | {geomean(kernels.values()):.2f} | {median(kernels.values()):.2f} | {kernels[k]:.2f} ({k}) | {geomean(whole.values()):.2f} | "
               f"{whole[w]:.2f} ({w}) | {paper} |")
    yield ""
    before = {n: median(o["resident"] for o in results["none", n]) for n in names}
    after = {n: median(o["resident"] for o in results["watchpoints", n]) for n in names}
    area = {n: results["watchpoints", n][0]["sites"] * slot_bytes() / 1024 for n in names}
    more = {n: (after[n] - before[n]) / 1024 for n in names}
    most, largest = max(more, key=more.get), max(area, key=area.get)
    yield (f"Memory, largest resident set: geometric mean {geomean(after[n] / before[n] for n in names):.2f} times that without an engine; on average "
           f"{statistics.mean(more.values()):.1f} MiB more, at most {more[most]:.1f} MiB ({most}). Of that the record area, {slot_bytes()} bytes for each access in the "
           f"code, touched only where there are races: {median(area.values()):.0f} KiB in the median, at most {area[largest]:.0f} KiB ({largest}).")
    yield ""
    yield "| program | kernels alone, ms | " + " | ".join(title[v].split(",")[0].split(" |")[0] for v in compared) + " |"
    yield "|---" * (2 + len(compared)) + "|"
    for n in names:
        yield f"| {n} | {median(o['kernels'] for o in results['none', n]):.2f} | " + " | ".join(f"{slowdown(v, n, 'kernels'):.2f}" for v in compared) + " |"


lines = list(table())
print("\n".join(lines))
if args.json:
    keep = ("kernels", "all", "wall", "resident", "sites")
    pathlib.Path(args.json).write_text(json.dumps({"load_before": load, "rows": [
        {"program": n, "configuration": v, "runs": [{k: o[k] for k in keep} for o in runs]} for (v, n), runs in results.items()]}, indent=1))
if args.update_docs:
    alternate.put_between(args.update_docs, MARKS, lines)

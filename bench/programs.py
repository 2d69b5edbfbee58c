#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the engine exact costs whole programs: programs.py BUILD [--rounds N] [--only REGEX] [--json FILE] [--update-docs FILE]

Each program of bench/programs and of tests/complete runs on the CPU device without an engine (plain) and under exact, in turn, so that a
machine that slows down slows both. Time is the processor time that the device took for all its work: kernels, copies, memsets, and what the engine
makes of them (GPURACE_CPU_DEVICE=times=1 prints it). A ratio is the median of the rounds' ratios. Beside it stand the ratio of kernels alone,
that of the whole process tree, and the largest resident set under exact over that without an engine. Programs that take long run fewer rounds.
Every run must end and print what the program prints without an engine, and exact must find what the program's `// VERDICT:` says, else `clean`.
The first table sums up each folder and both, the second has every program. To add a program, write bench/programs/NAME.cu with `// ARGS:` for its arguments.
--update-docs puts the tables between the two marks in FILE.
"""
import argparse
import json
import os
import pathlib
import re
import sys
import time

import alternate
from alternate import Failed, geomean, median

MARKS = "<!-- programs: begin -->", "<!-- programs: end -->"
ENOUGH = 2.5  # seconds after which a program gets no further round
LONGEST = 120  # seconds that a run may take
FOLDERS = {"bench/programs": "bench-programs", "tests/complete": "complete-programs"}

arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
arguments.add_argument("build")
arguments.add_argument("--rounds", type=int, default=3)
arguments.add_argument("--only", default="", help="programs whose name this regular expression matches")
arguments.add_argument("--json", default="")
arguments.add_argument("--update-docs", default="")
args = arguments.parse_args()
root = pathlib.Path(__file__).resolve().parent.parent
gpurace = os.path.join(args.build, "gpurace")


def run(program, text, engine):
    one = alternate.run(gpurace, program, text, ["--engine", engine], LONGEST)
    wanted = (alternate.words_of(text, "VERDICT") or ["clean"])[0]
    if (engine == "exact" and one["verdict"] != wanted) or (one["status"] != 0 and one["verdict"] != "races"):
        raise Failed(one["said"])
    return one


def measure(source, program):
    text = source.read_text(encoding="utf-8")
    rounds, begun = [], time.monotonic()
    while len(rounds) < args.rounds and (not rounds or time.monotonic() - begun < ENOUGH):
        plain, exact = run(program, text, "none"), run(program, text, "exact")
        if plain["printed"] != exact["printed"]:
            raise Failed("prints something else under exact")
        rounds.append((plain, exact))
    row = {"program": source.stem, "folder": str(source.parent.relative_to(root)), "rounds": len(rounds)}
    for what in ("work", "kernels", "all", "resident"):
        row[what] = median(alternate.ratios(rounds, what))
    row["plain_ms"], row["exact_ms"] = (median(r[k]["work"] for r in rounds) for k in (0, 1))
    return row


def summary(title, rows):
    worst = max(rows, key=lambda r: r["work"])
    return (f"| {title} | {len(rows)} | {geomean(r['work'] for r in rows):.2f} | {median(r['work'] for r in rows):.2f} | {worst['work']:.2f} ({worst['program']}) | "
            f"{geomean(r['kernels'] for r in rows):.2f} | {geomean(r['all'] for r in rows):.2f} | {geomean(r['resident'] for r in rows):.2f} |")


def table(rows, failed, seconds):
    yield f"{alternate.processor()}, {os.cpu_count()} cores; {len(rows)} programs, up to {args.rounds} rounds, {seconds:.0f} s; load before: {load:.1f}."
    yield ""
    yield "| programs | | exact / plain: geometric mean | median | worst | kernels alone: geometric mean | whole process: geometric mean | resident memory: geometric mean |"
    yield "|---|---|---|---|---|---|---|---|"
    for folder in FOLDERS:
        if of := [r for r in rows if r["folder"] == folder]:
            yield summary(folder, of)
    yield summary("all", rows)
    yield ""
    yield "| program | plain, ms | exact, ms | exact / plain | kernels alone | whole process | resident memory |"
    yield "|---|---|---|---|---|---|---|"
    for folder in FOLDERS:
        for r in sorted((r for r in rows if r["folder"] == folder), key=lambda r: -r["work"]):
            yield (f"| {r['program']} | {r['plain_ms']:.2f} | {r['exact_ms']:.2f} | {r['work']:.2f} | {r['kernels']:.2f} | {r['all']:.2f} | {r['resident']:.2f} |")
    for name, why in failed:
        yield f"\nNot measured: {name}: {why.splitlines()[0]}"


begun, load = time.monotonic(), os.getloadavg()[0]
rows, failed = [], []
for folder, built in FOLDERS.items():
    for source in sorted((root / folder).glob("*.cu")):
        program = pathlib.Path(args.build, built, source.stem)
        text = source.read_text(encoding="utf-8")
        if not re.search(args.only, source.stem) or "exact" in " ".join(alternate.words_of(text, "WITHOUT")).split():
            continue
        try:
            if not os.access(program, os.X_OK):
                raise Failed("not built")
            rows.append(measure(source, program))
        except Failed as why:
            failed.append((source.stem, str(why)))
            print(f"programs: {source.stem}: {why}", file=sys.stderr)
if not rows:
    sys.exit("programs: none; cmake --build BUILD --target complete-programs bench-programs")
lines = list(table(rows, failed, time.monotonic() - begun))
print("\n".join(lines))
if args.json:
    pathlib.Path(args.json).write_text(json.dumps({"load_before": load, "rows": rows, "failed": failed}, indent=1))
if args.update_docs:
    alternate.put_between(args.update_docs, MARKS, lines)
sys.exit(1 if failed else 0)

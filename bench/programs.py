#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the engine exact costs whole programs: programs.py BUILD [--rounds N] [--only REGEX] [--json FILE] [--update-docs FILE]

Each program of bench/programs and of tests/programs runs on the CPU device without an engine (plain) and under exact, in turn, so that a
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
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import time

BEGIN, END = "<!-- programs: begin -->", "<!-- programs: end -->"
ENOUGH = 2.5  # seconds after which a program gets no further round
LONGEST = 120  # seconds that a run may take
FOLDERS = {"bench/programs": "bench-programs", "tests/programs": "complete-programs"}

arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
arguments.add_argument("build")
arguments.add_argument("--rounds", type=int, default=3)
arguments.add_argument("--only", default="", help="programs whose name this regular expression matches")
arguments.add_argument("--json", default="")
arguments.add_argument("--update-docs", default="")
args = arguments.parse_args()
root = pathlib.Path(__file__).resolve().parent.parent
gpurace = os.path.join(args.build, "gpurace")
median, geomean = statistics.median, statistics.geometric_mean


class Failed(Exception):
    pass


def run(program, text, engine):
    """What one run took: milliseconds of all the device's work, of kernels, of the process tree; KiB resident; and what it printed."""
    said = {word: re.findall(rf"^// {word}: (.*)", text, re.M) for word in ("DEVICE", "ARGS", "VERDICT")}
    with tempfile.TemporaryDirectory(prefix="gpurace-bench-") as tmp:
        report, out, err = (os.path.join(tmp, n) for n in ("report", "out", "err"))
        command = ["timeout", str(LONGEST), gpurace, "run", "--device", "cpu", "--engine", engine, "--format", "json", "--output", report, "--", str(program)]
        command += " ".join(said["ARGS"]).split()
        with open(out, "w") as o, open(err, "w") as e:
            child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=o, stderr=e,
                                     env=dict(os.environ, GPURACE_CPU_DEVICE=",".join(said["DEVICE"] + ["times=1"])))
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
        printed, errors = pathlib.Path(out).read_text(errors="replace"), pathlib.Path(err).read_text(errors="replace")
        found = re.findall(r"CPU device computed for ([\d.]+) ms of processor time, and worked for ([\d.]+) ms", errors)
        wanted = (said["VERDICT"] or ["clean"])[0]
        if child.returncode == 124:
            raise Failed(f"not over after {LONGEST} s under {engine}")
        try:
            verdict = json.loads(pathlib.Path(report).read_text())["verdict"]
        except (OSError, ValueError):
            verdict = "none"
        if not found or (engine == "exact" and verdict != wanted) or (child.returncode != 0 and verdict != "races"):
            raise Failed(f"status {child.returncode} and verdict {verdict} under {engine}: {' '.join(command)}\n{printed}{errors}")
    return {"kernels": sum(float(k) for k, _ in found), "work": sum(float(w) for _, w in found), "all": (usage.ru_utime + usage.ru_stime) * 1e3,
            "resident": usage.ru_maxrss, "printed": [l for l in printed.splitlines() if "PASS" in l]}


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
        row[what] = median(max(e[what], 1e-3) / max(p[what], 1e-3) for p, e in rounds)
    row["plain_ms"], row["exact_ms"] = (median(r[k]["work"] for r in rounds) for k in (0, 1))
    return row


def summary(title, rows):
    worst = max(rows, key=lambda r: r["work"])
    return (f"| {title} | {len(rows)} | {geomean(r['work'] for r in rows):.2f} | {median(r['work'] for r in rows):.2f} | {worst['work']:.2f} ({worst['program']}) | "
            f"{geomean(r['kernels'] for r in rows):.2f} | {geomean(r['all'] for r in rows):.2f} | {geomean(r['resident'] for r in rows):.2f} |")


def table(rows, failed, seconds):
    cpu = next((l.split(":", 1)[1].strip() for l in open("/proc/cpuinfo") if l.startswith("model name")), platform.machine())
    yield f"{cpu}, {os.cpu_count()} cores; {len(rows)} programs, up to {args.rounds} rounds, {seconds:.0f} s; load before: {load:.1f}."
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
        if not re.search(args.only, source.stem) or "exact" in " ".join(re.findall(r"^// WITHOUT: (.*)", text, re.M)).split():
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
    path = pathlib.Path(args.update_docs)
    text = path.read_text(encoding="utf-8")
    if BEGIN not in text or END not in text:
        sys.exit(f"programs: {path} has no {BEGIN} and {END}")
    head, rest = text.split(BEGIN, 1)
    path.write_text(head + BEGIN + "\n" + "\n".join(lines) + "\n" + END + rest.split(END, 1)[1], encoding="utf-8")
sys.exit(1 if failed else 0)

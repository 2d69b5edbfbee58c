#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The complete programs of tests/complete under the privatizer: each ends as without it, nothing is reported, and what it refuses is named and counted.

    programs.py GPURACE FOLDER [--device D] [--seeds N] [--options WORDS] [--list] [PROGRAM...]

FOLDER has the built programs. Prints a table: launches, those that were checked at each level, the reasons for the others, and the time beside `--engine none`.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

SOURCES = pathlib.Path(__file__).resolve().parents[2] / "complete"
REFUSED = re.compile(r"engine privatizer: (launch \d+ of )?kernel (.*?) was not (?:checked|made [\w-]+)(?: between (\w+))?(: | to its end, but until )(?:it )?(.*?)(?: \([^()]*:\d+\))?$")


def is_whole(levels):
    """Whether nothing of the kernel was checked: {(level, its end)}."""
    whole = {level for level, end in levels if not end}
    return None in whole or ("blocks" in whole and whole & {"threads", "warps"})


def run(options, program, engine, seed):
    text = (SOURCES / f"{program.name}.cu").read_text(encoding="utf-8")
    said = lambda word: re.findall(rf"^// {word}: (.*)", text, re.M)
    environment = dict(os.environ, GPURACE_CPU_DEVICE=",".join(said("DEVICE")))
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "report")
        words = options.options.split() if engine == "privatizer" else []
        command = [options.gpurace, "run", "--engine", engine, "--device", options.device, "--seed", str(seed), *words, "--format", "json", "--output", out,
                   "--", str(program), *" ".join(said("ARGS")).split()]
        begin = time.monotonic()
        try:
            done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", env=environment, timeout=options.limit)
        except subprocess.TimeoutExpired:
            return None, f"no end after {options.limit} s", options.limit
        seconds = time.monotonic() - begin
        lines = done.stdout.splitlines()
        missing = [w for w in ["PASS"] + said("OUTPUT") if w not in lines]
        report = json.loads(pathlib.Path(out).read_text()) if os.path.exists(out) else None
    wrong = f"exit status {done.returncode}, without the lines {missing}" if done.returncode or missing else ""
    return report, wrong, seconds


def run_all(options, programs):
    """Yields (program, its run without an engine, its runs with seeds 1, 2, ...), in the order of the programs; a slow one does not hold up the runs of others."""
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        started = [(p, pool.submit(run, options, p, "none", 1), [pool.submit(run, options, p, "privatizer", seed) for seed in range(1, options.seeds + 1)]) for p in programs]
        for program, plain, rows in started:
            yield program, plain.result(), [row.result() for row in rows]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gpurace")
    parser.add_argument("folder")
    parser.add_argument("programs", nargs="*")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--options", default="")
    parser.add_argument("--limit", type=int, default=300, help="seconds for a run")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    programs = [p for p in sorted(pathlib.Path(options.folder).iterdir()) if (SOURCES / f"{p.name}.cu").exists() and (not options.programs or p.name in options.programs)
                and not re.search(r"^// WITHOUT:.* privatizer", (SOURCES / f"{p.name}.cu").read_text(encoding="utf-8"), re.M)]
    if not programs:
        sys.exit(f"no program of tests/complete is in {options.folder}")
    failed = kernels = refused_kernels = nothing = whole = 0
    ratios, why = [], {}
    for program, (_, plain_wrong, plain_seconds), rows in run_all(options, programs):
        for seed, (report, wrong, seconds) in enumerate(rows, 1):
            if report is None or (wrong and not plain_wrong):
                print(f"{program.name}, seed {seed}: {wrong}")
                failed += 1
            for race in (report or {}).get("races", []):
                a = race["accesses"]
                print(f"{program.name}, seed {seed}: {race['class']} at {a[0]['file']}:{a[0]['line']} and {a[-1]['file']}:{a[-1]['line']}")
                failed += 1
        report, _, seconds = rows[0]
        if not report:
            continue
        ratios.append((seconds / plain_seconds, program.name, plain_seconds, seconds))
        of = {}
        for reason in report.get("reasons", []) + report["coverage"].get("besides", []):
            match = REFUSED.match(reason)
            if match:
                of.setdefault(match[2], []).append((match[3], match[5], "end" in match[4]))
            elif reason.startswith("engine privatizer"):
                key = reason.split(": ", 1)[1][:150]
                why[key] = why.get(key, 0) + 1
        for k in report["coverage"]["kernels"]:
            n = k.get("launches", 0)
            if isinstance(n, list):
                n = sum(x.get("count", 1) for x in n)
            if n:
                kernels += 1
        refused_kernels += len(of)
        whole += bool(of)
        nothing += sum(bool(is_whole({(level, end) for level, _, end in rows_of})) for rows_of in of.values())
        for rows_of in of.values():
            for level, reason, end in rows_of:
                key = f"{reason} [{level or 'all levels'}{', behind' if end else ''}]"
                why[key] = why.get(key, 0) + 1
        if options.list:
            print(f"{program.name}: {seconds:.2f} s, {plain_seconds:.2f} s without; {len(of)} kernels refused: {sorted({r for v in of.values() for _, r, _ in v})}")
    ratios.sort()
    print(f"{len(programs)} programs, {kernels} kernels launched, {refused_kernels} refused in part or whole, in {whole} programs; {nothing} of them whole")
    for key, n in sorted(why.items(), key=lambda x: -x[1]):
        print(f"{n:5} {key}")
    mean = 1.0
    for r, *_ in ratios:
        mean *= r ** (1 / max(1, len(ratios)))
    if ratios:
        print(f"time of whole programs beside --engine none: geometric mean {mean:.2f}, median {ratios[len(ratios) // 2][0]:.2f}, worst " +
              ", ".join(f"{n} {r:.1f} ({p:.2f} to {s:.2f} s)" for r, n, p, s in ratios[:-6:-1]))
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random kernels under the privatizer, held against exact in runs of its own: random_kernels.py GPURACE ORACLE_KERNELS [--first N] [--count N] [--seeds N] [--jobs N]

A pair of instructions that the privatizer reports and that no run of exact reports, of so many seeds and schedules, is a false alarm. The
other way round, exact's pairs of weak accesses in kernels that were not refused are counted.

With --proofs it is held against itself with --prove no: a pair that only one of the two reports is wrong, since launches are left out of which a proof says that no two
accesses meet. That wants --chunk 1: behind a launch that is left out, the schedule of all others is another one, and how far kernels with fences are checked hangs on it.
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

REFUSED = re.compile(r"engine privatizer: (?:launch \d+ of )?kernel (.*?)(?:\(| was not checked)")


def run(options, engine, seed, schedule, first, count, more=()):
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder, "report")
        done = subprocess.run([options.gpurace, "run", "--engine", engine, "--device", "cpu", "--seed", str(seed), "--schedule", schedule, "--max-reports", "0", "--format", "json",
                               "--output", out, *more, "--", "env", options.kernels, "--driver", "libcuda.so.1", "--first", str(first), "--count", str(count)],
                              capture_output=True, text=True, timeout=options.limit)
        report = json.loads(out.read_text())
    pairs = {}
    for race in report["races"]:
        a = race["accesses"]
        if len(a) == 2:
            pairs.setdefault((race["module"], race["kernel"]), {})[tuple(sorted((a[0]["ptx_line"], a[1]["ptx_line"])))] = race
    reasons = report["reasons"] + report["coverage"].get("besides", [])
    return pairs, reasons, done.returncode


def chunk(options, first):
    count = min(options.chunk, options.first + options.count - first)
    mine, reasons, _ = run(options, "privatizer", 1, "default", first, count)
    theirs = {}
    for seed in range(1, options.seeds + 1):
        for schedule in ("default", "pct"):
            for kernel, pairs in run(options, "exact", seed, schedule, first, count)[0].items():
                theirs.setdefault(kernel, {}).update(pairs)
    return first, mine, theirs, reasons


def proofs(options):
    """The pairs of one of the two and not of the other, and how many both have."""
    def both(first):
        count = min(options.chunk, options.first + options.count - first)
        runs = [run(options, "privatizer", 1, "default", first, count, ["--prove", word])[0] for word in ("yes", "no")]
        return first, *({(kernel, pair) for kernel, pairs in r.items() for pair in pairs} for r in runs)

    alike = wrong = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for first, proved, all_run in pool.map(both, range(options.first, options.first + options.count, options.chunk)):
            alike += len(proved & all_run)
            wrong += len(proved ^ all_run)
            for kernel, pair in sorted(proved ^ all_run):
                print(f"kernels from {first}: {kernel}: PTX lines {pair}: reported only {'with' if (kernel, pair) in proved else 'without'} proofs")
    print(f"{options.count} kernels: {alike} pairs of instructions reported with and without proofs, {wrong} with one of them only")
    return wrong > 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gpurace")
    parser.add_argument("kernels")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--chunk", type=int, default=20)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--limit", type=int, default=600)
    parser.add_argument("--proofs", action="store_true")
    options = parser.parse_args()
    if options.proofs:
        return proofs(options)
    wrong = found = seen = 0
    odd = {}
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for first, mine, theirs, reasons in pool.map(lambda f: chunk(options, f), range(options.first, options.first + options.count, options.chunk)):
            for kernel, pairs in mine.items():
                for pair, race in pairs.items():
                    found += 1
                    if pair not in theirs.get(kernel, {}):
                        wrong += 1
                        print(f"kernels from {first}: {kernel}: {race['class']} of PTX lines {pair}, {race['space']}, not seen by exact: {race.get('sentence')}")
            for kernel, pairs in theirs.items():
                seen += sum(p in mine.get(kernel, {}) for p in pairs)
            for reason in reasons:
                text = re.sub(r"kernel \S+|launch \d+|\([^()]*:\d+\)|\d+ regions", "", reason)[:140]
                odd[text] = odd.get(text, 0) + 1
    for text, n in sorted(odd.items(), key=lambda x: -x[1])[:12]:
        print(f"{n:5} {text}")
    print(f"{options.count} kernels: {found} pairs of instructions reported, {found - wrong} of them by exact, too; {wrong} not")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())

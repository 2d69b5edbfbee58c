#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs random kernels under --engine collider+exact: causality must confirm every race that the collider reports.

usage: confirm.py GPURACE ORACLE_KERNELS [--first N] [--count N] [--seeds N] [--chunk N]
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile


def run(options, first, count, seed, report):
    """The races of one process, and the numbers of the kernels that it ran; None: it could not go on after the last of them."""
    command = [options.gpurace, "run", "--engine", "collider+exact", "--device", "cpu", "--seed", str(seed), "--format", "json",
               "--output", report, "--", "env", options.kernels, "--driver", "libcuda.so.1", "--first", str(first), "--count",
               str(count)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    lines = done.stdout.split("\n")[:-1]
    ran = [int(line) for line in lines if line.isdigit()]
    if done.returncode not in (0, 66, 3) or not os.path.exists(report):
        sys.exit(f"{' '.join(command)}: status {done.returncode}\n{done.stdout}{done.stderr}")
    with open(report, encoding="utf-8") as f:
        races = json.load(f)["races"]
    os.remove(report)
    return races, ran, len(lines) == len(ran)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("gpurace")
    parser.add_argument("kernels")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--chunk", type=int, default=50)
    options = parser.parse_args()
    launches = confirmed = wrong = stopped = 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(1, options.seeds + 1):
            first, end = options.first, options.first + options.count
            while first < end:
                count = min(options.chunk, end - first)
                races, ran, whole = run(options, first, count, seed, os.path.join(folder, "report.json"))
                launches += len(ran)
                for race in races:
                    if "witness" not in race:  # causality's own
                        continue
                    confirmed += race["witness"] is not None
                    if race["witness"] is None:
                        wrong += 1
                        print(f"kernels {first} to {first + count - 1}, seed {seed}: not confirmed: {json.dumps(race)}")
                stopped += not whole
                first = first + count if whole else ran[-1] + 1
    print(f"{launches} launches: {confirmed} races of the collider confirmed, {wrong} not; {stopped} kernels failed")
    return wrong != 0 or launches == 0 or (options.count >= 200 and confirmed == 0)


if __name__ == "__main__":
    sys.exit(main())

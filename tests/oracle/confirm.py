#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs random kernels under --engine NAME+exact: causality must confirm every race that the engine NAME reports. What causality alone saw is
counted by class, so that it is known how much of it that engine sees.

usage: confirm.py GPURACE ORACLE_KERNELS [--engine NAME] [--options WORDS] [--first N] [--count N] [--seeds N] [--chunk N] [--jobs N]
                  [--at-least PERCENT]
"""
import argparse
import collections
import concurrent.futures
import json
import os
import subprocess
import sys
import tempfile

REPORTS = 10  # so many races that were not confirmed are printed


class Failed(Exception):
    pass


class Tally:
    def __init__(self):
        self.launches = self.stopped = 0
        self.confirmed, self.alone, self.asynchronous = (collections.Counter() for _ in range(3))
        self.wrong = []

    def add(self, other):
        for name in ("launches", "stopped", "confirmed", "alone", "asynchronous", "wrong"):
            setattr(self, name, getattr(self, name) + getattr(other, name))

    def count(self, race, where):
        if "witness" not in race:  # causality's own
            which = self.asynchronous if any(a["asynchronous"] for a in race["accesses"]) else self.alone
            which[race["class"]] += 1
        elif race["witness"] is None:
            self.wrong.append(f"{where}: not confirmed: {json.dumps(race)}")
        else:
            self.confirmed[race["witness"]["class"]] += 1


def run(options, first, count, seed, report):
    """The races of one process, and the numbers of the kernels that it ran; not whole: it could not go on after the last of them."""
    command = [options.gpurace, "run", "--engine", f"{options.engine}+exact", "--device", "cpu", "--seed", str(seed), *options.options.split(),
               "--max-reports", "0", "--format", "json", "--output", report, "--", "env", options.kernels, "--driver", "libcuda.so.1", "--first",
               str(first), "--count", str(count)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    lines = done.stdout.split("\n")[:-1]
    ran = [int(line) for line in lines if line.isdigit()]
    whole = len(lines) == len(ran)
    if done.returncode not in (0, 66, 3) or not os.path.exists(report) or not (whole or ran):
        raise Failed(f"{' '.join(command)}: status {done.returncode}\n{done.stdout}{done.stderr}")
    with open(report, encoding="utf-8") as f:
        races = json.load(f)["races"]
    os.remove(report)
    return races, ran, whole


def run_chunk(options, chunk):
    seed, first, end = chunk
    tally = Tally()
    with tempfile.TemporaryDirectory() as folder:
        while first < end:
            races, ran, whole = run(options, first, end - first, seed, os.path.join(folder, "report.json"))
            tally.launches += len(ran)
            tally.stopped += not whole
            for race in races:
                # A kernel is a module, and is launched once.
                launch = race["launch"] or 0
                where = f"kernel {ran[launch - 1]}" if 0 < launch <= len(ran) else f"kernels {first} to {end - 1}"
                tally.count(race, f"{where}, seed {seed}")
            first = end if whole else ran[-1] + 1
    return tally


def show(options, total):
    for text in total.wrong[:REPORTS]:
        print(text)
    print(f"{total.launches} launches: {sum(total.confirmed.values())} races of the {options.engine} confirmed, {len(total.wrong)} not; "
          f"{total.stopped} kernels failed")
    print("class                 confirmed  by causality alone  of asynchronous operations")
    for name in sorted({*total.confirmed, *total.alone, *total.asynchronous}):
        print(f"{name:20} {total.confirmed[name]:10} {total.alone[name]:19} {total.asynchronous[name]:27}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("gpurace")
    parser.add_argument("kernels")
    parser.add_argument("--engine", default="collider", metavar="NAME", help="whose races causality confirms (default: %(default)s)")
    parser.add_argument("--options", default="", metavar="WORDS", help="further options of gpurace run, as one argument")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--chunk", type=int, default=100, help="kernels of one process")
    parser.add_argument("--jobs", type=int, default=1, help="processes at the same time")
    parser.add_argument("--at-least", type=float, metavar="PERCENT", help="fail if less is confirmed of what causality saw; asynchronous operations aside")
    options = parser.parse_args()
    total, end = Tally(), options.first + options.count
    chunks = [(seed, first, min(first + options.chunk, end))
              for seed in range(1, options.seeds + 1) for first in range(options.first, end, options.chunk)]
    with concurrent.futures.ThreadPoolExecutor(max_workers=max(1, options.jobs)) as pool:
        try:
            for tally in pool.map(lambda chunk: run_chunk(options, chunk), chunks):
                total.add(tally)
        except Failed as error:
            pool.shutdown(cancel_futures=True)
            sys.exit(str(error))
    show(options, total)
    confirmed, alone = sum(total.confirmed.values()), sum(total.alone.values())
    share = 100 * confirmed / max(1, confirmed + alone)
    print(f"{share:.1f} % of what causality saw, asynchronous operations aside")
    return bool(total.wrong or not total.launches or (options.count >= 200 and not confirmed) or share < (options.at_least or 0))


if __name__ == "__main__":
    sys.exit(main())

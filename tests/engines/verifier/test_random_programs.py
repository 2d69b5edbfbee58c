#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random CUDA programs with host code (random_programs.py): where `gpurace check` has proved that two lines cannot race, `gpurace run --engine exact`
must see no race between them, with whatever numbers and in whatever schedule.

usage: test_random_programs.py GPURACE NVCC [--first N] [--count N] [--units N] [--inputs N] [--seeds N]
                               [--damage] [--keep FOLDER]
"""
import argparse
import collections
import re
import statistics
import subprocess
import sys

import checked
import random_programs

SHOWN = 10
KERNEL = re.compile(r"\w+: kernel (k\d+)\b")
SIDES = re.compile(r"the [\w ]+ at program\.cu:(\d+) and the [\w ]+ at program\.cu:(\d+) may touch")
SECONDS = re.compile(r"^checked (k\d+).* in (\d+\.\d+) s$", re.M)
DECISIONS = ("proved", "shown", "possible", "unknown")


class Failed(Exception):
    pass


class Tally:
    def __init__(self):
        self.pairs = [0, 0, 0, 0]
        self.units = self.racy = self.clean = self.partly = self.runs = self.stopped = self.raced = self.excused = self.half_lines = 0
        self.wrong, self.seconds, self.whys = [], [], collections.Counter()


def lines_of(race):
    """The lines of the two accesses, as their headlines have them. The toolkit's functions for atomics of a block are called where nothing is inlined, and
    have no line: None."""
    return frozenset(next((f["line"] for f in a["frames"] if f["file"] and f["file"].endswith("program.cu")), None) for a in race["accesses"])


def is_named(race, named):
    """Without a line of one side, any pair of the other side's line will do."""
    return race in named if None not in race else any(race - {None} <= pair for pair in named)


def damaged(text):
    """A fact that does not hold, for --damage: each kernel has one block of one thread, as far as the verifier is told."""
    return re.sub(r"dim3 (block|grid)\(.*\);", r"dim3 \1(1);", text)


def check(options, path, text):
    if options.damage:
        path.write_text(damaged(text))
    report, said, _ = checked.ask(options.gpurace, [path], [], ["--verbose", "--no-cache", "--max-reports", "0"])
    path.write_text(text)
    if not report:
        raise Failed(said)
    return report, said


def run(options, program, values, seed):
    """Pairs of lines that raced, and whether the program came to its end."""
    report, status = checked.exact(options.gpurace, program, values, seed, 60)
    return {lines_of(r) for r in report["races"]}, not report["coverage"].get("faults") and status in (0, 66)


def one_program(options, seed, tally, folder):
    text, owners = random_programs.make(seed, options.units)
    path, program = folder / "program.cu", folder / "program"
    path.write_text(text)
    subprocess.run([options.nvcc, "-Xcicc", "-O0", "-lineinfo", "-w", "-cudart", "shared", "-gencode", "arch=compute_90,code=compute_90", "-o", program, path], check=True)
    report, said = check(options, path, text)
    named = {lines_of(r) for r in report["races"]}
    partly = set()
    for reason in report["reasons"]:
        sides, kernel = SIDES.search(reason), KERNEL.match(reason)
        if sides:
            named.add(frozenset(map(int, sides.groups())))
        elif kernel:
            partly.add(int(kernel[1][1:]))
            tally.whys[re.sub(r"\d+", "N", reason.split(": ", 2)[-1])] += 1
        else:
            raise Failed(f"not a reason of one kernel: {reason}")
    pairs = [n for n in map(checked.pairs_of, report["coverage"]["remarks"]) if n]
    tally.pairs = [a + b for a, b in zip(tally.pairs, checked.sum_of(pairs))]
    tally.units += options.units
    tally.partly += len(partly)
    tally.clean += len(report["coverage"]["kernels"])
    tally.seconds += [(float(s), f"{kernel} of program {seed}") for kernel, s in SECONDS.findall(said)]
    raced = {}
    for values in random_programs.inputs(seed, options.inputs):
        for s in range(1, options.seeds + 1):
            races, ended = run(options, program, values, s)
            tally.runs += 1
            tally.stopped += not ended
            for race in races:
                raced.setdefault(race, (values, s))
    tally.half_lines += sum(None in race for race in raced)
    raced = {race: how for race, how in raced.items() if race != {None}}
    tally.raced += len(raced)
    unit_of = {race: owners[max(race - {None})] for race in raced}
    tally.racy += len(set(unit_of.values()))
    for race, (values, s) in raced.items():
        if is_named(race, named):
            continue
        if unit_of[race] in partly:
            tally.excused += 1
            continue
        source = text.split("\n")
        tally.wrong.append(f"program {seed}, unit {unit_of[race]}, numbers {values}, seed {s}: proved, but exact saw a race between\n"
                           + "\n".join(f"    {n}: {source[n - 1]}" for n in sorted(race - {None})))


def main():
    parser = argparse.ArgumentParser()
    checked.random_options(parser, seeds=3)
    parser.add_argument("--units", type=int, default=10, help="kernels of a program")
    parser.add_argument("--inputs", type=int, default=3, help="rows of numbers that a program is run with")
    options = parser.parse_args()
    tally = Tally()
    try:
        checked.each(options, lambda seed, folder: one_program(options, seed, tally, folder))
    except (Failed, RuntimeError) as error:
        sys.exit(str(error))
    for text in tally.wrong[:SHOWN]:
        print(text)
    share = 100 / max(1, sum(tally.pairs))
    print(f"{options.count} programs, {tally.units} kernels: {tally.clean} decided in whole, {tally.racy} raced, {tally.partly} not understood in part; "
          f"{tally.runs} runs, {tally.stopped} of them stopped")
    print("pairs: " + ", ".join(f"{n} {word} ({n * share:.1f} %)" for n, word in zip(tally.pairs, DECISIONS)))
    print(f"{tally.raced} pairs of lines raced, {tally.excused} of them in kernels not understood in part; {len(tally.wrong)} were proved; "
          f"{tally.half_lines} had a side without a line")
    for why, n in tally.whys.most_common(8):
        print(f"{n:6}: {why}")
    if tally.seconds:
        most, where = max(tally.seconds)
        print(f"seconds for a kernel and launch: median {statistics.median(s for s, _ in tally.seconds):.3f}, most {most:.2f} ({where})")
    return bool(tally.wrong) != options.damage


if __name__ == "__main__":
    sys.exit(main())

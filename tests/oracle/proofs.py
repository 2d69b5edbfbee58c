#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random kernels with their launches under `gpurace check`: exact must see no race between two lines that the verifier has proved to be free of
one. What it says of the kernels is counted by the way they were made.

usage: proofs.py GPURACE PROOF_KERNELS [--first N] [--count N] [--seeds N] [--chunk N] [--jobs N] [--solver-time N] [--addresses] [--replay] [--damage] [--keep FOLDER]
"""
import argparse
import collections
import concurrent.futures
import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

REPORTS = 10  # so many disagreements are printed
PAIRS = re.compile(r"kernel (\w+) of .*: of its pairs of accesses (\d+) proved, (\d+) shown, (\d+) possible, (\d+) unknown(?:, (\d+) assumed)?")
OPEN = re.compile(r"(?:possible|unknown|assumed): kernel (\w+) of ")
SIDES = re.compile(r"at line (\d+) of the PTX and the [\w ]+ at line (\d+) of the PTX may touch")
SECONDS = re.compile(r"checked (\w+), .* in ([\d.]+) s")
DECISIONS = ("proved", "shown", "possible", "unknown", "assumed")


class Failed(Exception):
    pass


class Kernel:
    """What the verifier says of one."""
    def __init__(self):
        self.pairs = [0] * 5
        self.named = set()  # pairs of lines that it does not call free of races
        self.why = []       # what is open of the kernel as a whole


class Tally:
    def __init__(self):
        self.kernels, self.clean, self.open, self.racy, self.faulted = (collections.Counter() for _ in range(5))
        self.pairs = collections.defaultdict(lambda: [0] * 5)
        self.whys = collections.Counter()
        self.races = self.excused = self.left_out = 0
        self.wraps = self.wraps_racy = 0  # kernels of which an address wraps; those of them that raced
        self.free = [[0, 0], [0, 0]]      # [pairs of lines that did not race, those of them that are proved], without and with such an address
        self.seconds, self.wrong = [], []

    def add(self, other):
        for name in ("kernels", "clean", "open", "racy", "faulted", "whys", "seconds", "wrong", "races", "excused", "left_out", "wraps", "wraps_racy"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.free = [[a + b for a, b in zip(mine, theirs)] for mine, theirs in zip(self.free, other.free)]
        for kind, counts in other.pairs.items():
            self.pairs[kind] = [a + b for a, b in zip(self.pairs[kind], counts)]


def read_report(report):
    kernels = collections.defaultdict(Kernel)
    for remark in report["coverage"]["remarks"]:
        found = PAIRS.search(remark)
        if found:
            kernels[found[1]].pairs = [int(n or 0) for n in found.groups()[1:]]
    for reason in report["reasons"]:
        found, sides = OPEN.match(reason), SIDES.search(reason)
        if not found:
            raise Failed(f"not a reason of one kernel: {reason}")
        if sides:
            kernels[found[1]].named.add(frozenset(map(int, sides.groups())))
        else:
            kernels[found[1]].why.append(reason.rsplit(": ", 2 if reason.endswith("not understood") else 1)[1])
    for race in report["races"]:
        kernels[race["kernel"]].named.add(frozenset(a["ptx_line"] for a in race["accesses"]))
    return kernels


def judge(tally, seen, said, clean):
    """`seen`: a line of races.jsonl; `clean`: the report calls the kernel free of races."""
    name, kind = seen["kernel"], seen["kind"]
    races = {frozenset(pair) for pair in seen["races"]}
    tally.kernels[kind] += 1
    tally.clean[kind] += clean
    tally.open[kind] += bool(said.why)
    tally.racy[kind] += bool(races)
    tally.faulted[kind] += bool(seen["faulted"])
    tally.races += len(races)
    tally.pairs[kind] = [a + b for a, b in zip(tally.pairs[kind], said.pairs)]
    tally.whys.update(set(said.why))
    if "wraps" in seen:
        tally.wraps += seen["wraps"]
        tally.wraps_racy += seen["wraps"] and bool(races)
        free = {frozenset(pair) for pair in seen["pairs"]} - races
        tally.free[seen["wraps"]][0] += len(free)
        tally.free[seen["wraps"]][1] += 0 if said.why else len(free - said.named)
    for race in races - said.named:
        if said.why:  # it may be among what is not understood, or not listed
            tally.excused += 1
        else:
            tally.wrong.append(f"kernel {name} ({kind}): proved, but exact saw a race between lines {sorted(race)}")


def damage(launches):
    """The verifier is told of one thread in each block: much that it then proves is not so."""
    launches.write_text(re.sub(r'"block": \[\d+,', '"block": [1,', launches.read_text()))


def run_chunk(options, first, count, keep=None):
    tally = Tally()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(keep or temporary)
        made = subprocess.run([options.kernels, folder, "--first", str(first), "--count", str(count), "--seeds", str(options.seeds),
                               "--addresses", str(int(options.addresses))],
                              stdout=subprocess.PIPE, text=True, check=True)
        tally.left_out = int(made.stdout)
        if options.damage:
            damage(folder / "launches.jsonl")
        command = [options.gpurace, "check", folder / "kernels.ptx", "--launches", folder / "launches.jsonl", "--replay", "yes" if options.replay else "no",
                   "--no-cache", "--solver-time", str(options.solver_time), "--verbose", "--format", "json", "--output", folder / "report.json", "--max-reports", "0"]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode not in (0, 66):
            raise Failed(f"kernels {first} to {first + count - 1}: status {done.returncode}\n{done.stderr[-2000:]}")
        with open(folder / "report.json", encoding="utf-8") as f:
            report = json.load(f)
        kernels = read_report(report)
        clean = {k["name"] for k in report["coverage"]["kernels"]}
        tally.seconds = [float(s) for _, s in SECONDS.findall(done.stderr)]
        with open(folder / "races.jsonl", encoding="utf-8") as f:
            for line in f:
                seen = json.loads(line)
                judge(tally, seen, kernels[seen["kernel"]], seen["kernel"] in clean)
    return tally


def show(total):
    for text in total.wrong[:REPORTS]:
        print(text)
    print("made as                            kernels  racy  clean  with parts not understood   proved  shown  possible  unknown  assumed")
    for kind in sorted(total.kernels):
        print(f"{kind:34} {total.kernels[kind]:7} {total.racy[kind]:5} {total.clean[kind]:6} {total.open[kind]:26} "
              + " ".join(f"{n:{w}}" for n, w in zip(total.pairs[kind], (8, 6, 9, 8, 8))))
    all_pairs = [sum(p[k] for p in total.pairs.values()) for k in range(5)]
    share = 100 / max(1, sum(all_pairs))
    print(f"{sum(total.kernels.values())} kernels ({total.left_out} more left out), {sum(total.faulted.values())} faulted; pairs: "
          + ", ".join(f"{n} {word} ({n * share:.1f} %)" for n, word in zip(all_pairs, DECISIONS)))
    print(f"{total.races} pairs of lines raced, {total.excused} of them in kernels with parts not understood; {len(total.wrong)} were proved")
    for wraps, (free, proved) in enumerate(total.free):
        if free:
            print(f"{'an address wraps' if wraps else 'no address wraps'}: of {free} pairs of lines that did not race {proved} were proved "
                  f"({100 * proved / free:.1f} %)")
    if any(n for n, _ in total.free):
        print(f"an address wrapped in {total.wraps} kernels, of which {total.wraps_racy} raced")
    for why, n in total.whys.most_common(12):
        print(f"{n:7} kernels: {why}")
    if total.seconds:
        print(f"seconds for a kernel: median {statistics.median(total.seconds):.3f}, most {max(total.seconds):.2f}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("gpurace")
    parser.add_argument("kernels")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--chunk", type=int, default=50, help="numbers of one process")
    parser.add_argument("--jobs", type=int, default=1, help="processes at the same time")
    parser.add_argument("--addresses", action="store_true", help="kernels whose addresses are hashes")
    parser.add_argument("--solver-time", type=int, default=5, help="seconds for one question")
    parser.add_argument("--damage", action="store_true", help="tell the verifier of other launches; fail if nothing is noticed")
    parser.add_argument("--replay", action="store_true", help="run each witness")
    parser.add_argument("--keep", metavar="FOLDER", help="leave the files of the only chunk there")
    options = parser.parse_args()
    total, end = Tally(), options.first + options.count
    chunks = [(first, min(options.chunk, end - first)) for first in range(options.first, end, options.chunk)]
    with concurrent.futures.ThreadPoolExecutor(max_workers=max(1, options.jobs)) as pool:
        try:
            for tally in pool.map(lambda c: run_chunk(options, *c, keep=options.keep), chunks):
                total.add(tally)
        except Failed as error:
            pool.shutdown(cancel_futures=True)
            sys.exit(str(error))
    show(total)
    return bool(total.wrong) != options.damage


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""programs.py GPURACE [-j N] [NAME...]: what `gpurace check` says of the complete programs (tests/complete), a line each, then why pairs are not
decided, and how long kernels take. All these programs are free of data races: fails if a race is shown.

The pairs are those of every launch that the host code makes. A kernel of which something is not understood has other accesses too, which no pair
counts: such kernels are counted by themselves."""
import argparse
import collections
import concurrent.futures
import pathlib
import re
import statistics
import sys

import checked

PROGRAMS = pathlib.Path(__file__).resolve().parents[2] / "complete"
KERNEL = re.compile(r"^\w+: kernel (.*?) of \S+?(, launched at \S+)?: (.*)$")
TIMES = re.compile(r" \((\d+) times\)$")
SECONDS = re.compile(r"^checked (.*) in (\d+\.\d+) s$", re.M)


def kind_of(why):
    """A reason without names and numbers of one program."""
    why = TIMES.sub("", why)
    why = re.sub(r"\S+\.(cu|cuh|h|hpp):\d+:? ?", "", why)
    why = re.sub(r"parameter \d+( \+ \d+)?", "parameter", why)
    why = re.sub(r"; the witness .* was not confirmed: ", "; the witness was not confirmed: ", why)
    return re.sub(r"\b\d+\b", "N", why)


def options_of(path):
    words = checked.words_of(path, "NVCC") + [f"-I{PROGRAMS}"]
    for arch in checked.words_of(path, "ARCH"):
        if arch != "default":
            words += ["-gencode", f"arch=compute_{arch},code=compute_{arch}"]
    return words


def check(gpurace, path):
    files = [path] + [PROGRAMS / "parts" / w for w in checked.words_of(path, "WITH")]
    report, text, seconds = checked.ask(gpurace, files, options_of(path), ["--verbose", "--no-cache"])
    if not report:
        return {"failed": text}
    reasons = collections.Counter()
    half_seen = set()
    for reason in report["reasons"]:
        found, times = KERNEL.match(reason), TIMES.search(reason)
        why = found[3] if found else reason
        if "not understood" in why:
            half_seen.add((found[1], found[2]))
        reasons[reason.split(":")[0] + ": " + kind_of(why)] += int(times[1]) if times else 1
    return {"failed": f"{len(report['races'])} races were shown" if report["races"] else "", "half_seen": len(half_seen), "reasons": reasons,
            "kernels": [n for n in map(checked.pairs_of, report["coverage"]["remarks"]) if n], "raw": report["reasons"], "seconds": seconds,
            "times": [(float(s), f"{path.stem}: {name}") for name, s in SECONDS.findall(text)]}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("gpurace")
    parser.add_argument("names", nargs="*")
    parser.add_argument("-j", type=int, default=1)
    parser.add_argument("--reasons", action="store_true", help="print why a program is not decided")
    args = parser.parse_intermixed_args()
    paths = [p for p in sorted(PROGRAMS.glob("*.cu")) if not args.names or p.stem in args.names]
    print("| program | launches | with parts not understood | proved | shown | possible | unknown | seconds |\n|---|---|---|---|---|---|---|---|")
    bad, all_counts, all_times, half_seen, reasons = 0, [], [], 0, collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(args.j) as pool:
        for path, r in zip(paths, pool.map(lambda p: check(args.gpurace, p), paths)):
            if r["failed"]:
                bad += 1
                print(f"{path.stem}: FAILED: {r['failed']}", flush=True)
            if "kernels" not in r:
                continue
            counts = checked.sum_of(r["kernels"])
            print(f"| {path.stem} | {len(r['times'])} | {r['half_seen']} | " + " | ".join(map(str, counts)) + f" | {r['seconds']:.1f} |", flush=True)
            if args.reasons:
                print("\n".join("    " + t for t in r["raw"]))
            all_counts.append(counts)
            all_times += r["times"]
            half_seen += r["half_seen"]
            reasons.update(r["reasons"])
    print("\n| times | reason |\n|---|---|")
    for why, n in reasons.most_common(60):
        print(f"| {n} | {why} |")
    counts = checked.sum_of(all_counts)
    if sum(counts) and all_times:
        print(f"\n{len(paths)} programs, {len(all_times)} launches, {half_seen} with parts that are not understood")
        print(f"of {sum(counts)} pairs {counts[0]} proved, {counts[1]} shown, {counts[2]} possible, {counts[3]} unknown: "
              f"{100 * (counts[0] + counts[1]) / sum(counts):.1f} % decided")
        print(f"seconds for a kernel and launch: median {statistics.median(s for s, _ in all_times):.3f}, the longest:")
        for s, name in sorted(all_times, reverse=True)[:8]:
            print(f"    {s:.1f} {name}")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())

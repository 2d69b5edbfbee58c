#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the CPU device: run.py VM_BENCH GPURACE KERNELS.ptx OUT.json [ROUNDS]

Rows: each kernel of kernels.cu, plain and rewritten by the collider. In every round all variants run once, in turn, so that a
machine that slows down slows all of them; medians over the rounds, ratios within the run. Every run checks its results; a wrong one
fails the benchmark.
"""
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import tempfile

vm_bench, gpurace, kernels, out = sys.argv[1:5]
rounds = int(sys.argv[5]) if len(sys.argv) > 5 else 9
names = ["saxpy", "matmul", "reduce", "hist", "collatz"]
variants = {"plain": [], "collider": [], "collider, delays 1 ns": ["--read-delay", "1", "--write-delay", "1"]}
line = re.compile(r"(\w+)\s+([\d.]+) ms\s+([\d.]+) M thread-instructions .* (\w+)$", re.M)


def one(ptx, name):
    run = subprocess.run([vm_bench, ptx, name, "--repeat", "1"], capture_output=True, text=True)
    found = line.search(run.stdout)
    if run.returncode != 0 or not found or found.group(4) != "right":
        sys.exit(f"bench: {name} of {ptx} failed:\n{run.stdout}{run.stderr}")
    return float(found.group(2)), float(found.group(3))


with tempfile.TemporaryDirectory() as tmp:
    ptx = {"plain": kernels}
    for k, (variant, options) in enumerate(variants.items()):
        if variant != "plain":
            ptx[variant] = f"{tmp}/{k}.ptx"
            subprocess.run([gpurace, "ptx", *options, kernels, "-o", ptx[variant]], check=True, stderr=subprocess.DEVNULL)
    times = {(v, n): [] for v in variants for n in names}
    count = {}
    for _ in range(rounds):
        for n in names:
            for v in variants:
                ms, count[n] = one(ptx[v], n)
                times[v, n].append(ms)

cpu = next((l.split(":", 1)[1].strip() for l in open("/proc/cpuinfo") if l.startswith("model name")), platform.machine())
median = {key: statistics.median(ms) for key, ms in times.items()}
rows = []
print(f"{cpu}, {os.cpu_count()} cores; one thread; medians of {rounds} rounds")
print(f"{'kernel':8} {'M thread-instr':>14} {'plain ms':>10} {'G instr/s':>10} {'collider ms':>12} {'slowdown':>9} {'1 ns':>7}")
for n in names:
    plain = median["plain", n]
    slow, fast = median["collider", n] / plain, median["collider, delays 1 ns", n] / plain
    for v in variants:
        ms = times[v, n]
        rows.append({"kernel": n, "variant": v, "median_ms": median[v, n], "min_ms": min(ms), "max_ms": max(ms), "rounds": rounds,
                     "thread_instructions_millions": count[n]})
    print(f"{n:8} {count[n]:14.1f} {plain:10.3f} {count[n] / plain:10.2f} {median['collider', n]:12.3f} {slow:9.2f} {fast:7.2f}")
ratios = {
    f"{v}_over_plain_geomean": statistics.geometric_mean(median[v, n] / median["plain", n] for n in names)
    for v in variants if v != "plain"
}
print("geometric means: " + ", ".join(f"{k} {r:.2f}" for k, r in ratios.items()))
with open(out, "w") as f:
    json.dump({"cpu": cpu, "cores": os.cpu_count(), "rows": rows, "ratios": ratios}, f, indent=1)

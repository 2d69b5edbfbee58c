#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the CPU device, side by side with other engines: run.py BUILD_DIR OUT.json [--rounds N] [--slow-rounds N]

Rows: each kernel of kernels.cu on the CPU device, plain (one thread; two with --jobs 2) and rewritten by the collider, and the same kernel
of kernels.cl under PoCL (all cores; the native ceiling) and Oclgrind (its default, two threads; with --data-races too, beside the CPU device
under the engine exact). In every round all variants run once,
in turn, so that a machine that slows down slows all of them; medians over the rounds, ratios within the run. Oclgrind, hundreds
of times slower, takes part in the first SLOW rounds only. Wall time of the kernels, without builds and copies. Every run checks its
results and compares its output with the plain device's: a difference fails the benchmark. An engine that is not installed is
skipped, and named.
"""
import argparse
import array
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

import alternate

arguments = argparse.ArgumentParser()
arguments.add_argument("build")
arguments.add_argument("out")
arguments.add_argument("--rounds", type=int, default=9)
arguments.add_argument("--slow-rounds", type=int, default=3)
arguments.add_argument("--kernels", default="saxpy,matmul,reduce,hist,ghist,bfs,nbody,collatz")
args = arguments.parse_args()
bench = os.path.join(args.build, "bench")
vm_bench, cl_bench = os.path.join(bench, "vm_bench"), os.path.join(bench, "cl_bench")
gpurace = os.path.join(args.build, "gpurace")
plain_ptx = os.path.join(bench, "kernels.ptx")
kernels_cl = os.path.join(os.path.dirname(os.path.abspath(__file__)), "kernels.cl")
names = args.kernels.split(",")
compared = [n for n in names if n != "collatz"]  # what the ratios are over; collatz, no memory at all, is a row only
approximate = {"nbody"}  # floating-point sums of reciprocal square roots
FLAT_DELAYS = ["--read-delay", "1", "--write-delay", "1"]
line = re.compile(r"(\w+)\s+([\d.]+) ms\s+([\d.]+) M thread-instructions .* (\w+)$", re.M)
skipped, count, engines = {}, {}, {}


def fail(what, run):
    sys.exit(f"bench: {what} failed:\n{run.stdout}{run.stderr}")


def vm(ptx, *options):
    def one(name, output):
        run = subprocess.run([vm_bench, ptx, name, "--repeat", "1", "--output", output, *options], capture_output=True, text=True)
        found = line.search(run.stdout)
        if run.returncode != 0 or not found or found.group(4) != "right":
            fail(f"{name} of {ptx} {' '.join(options)}", run)
        if not options and ptx == plain_ptx:
            count[name] = float(found.group(3))
        return float(found.group(2))
    return one


def cl(engine, prefix, repeat, warm, env):
    """The first `warm` repetitions do not count: PoCL compiles for the block's size in the first."""
    def one(name, output):
        command = [*prefix, cl_bench, kernels_cl, name, "--platform", engine, "--repeat", str(repeat), "--output", output]
        run = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **env})
        times = [float(t) for t in re.findall(r"^([\d.]+) ms$", run.stdout, re.M)][warm:]
        if run.returncode != 0 or not times:
            fail(f"{name} under {engine}", run)
        return statistics.median(times)
    return one


def has_platform(engine, prefix):
    run = subprocess.run([*prefix, cl_bench, kernels_cl, "saxpy", "--platform", engine, "--repeat", "0"], capture_output=True, text=True)
    return f"platform: {engine}" in run.stdout


def same(name, a, b):
    if name not in approximate:
        return a == b
    x, y = array.array("f", a), array.array("f", b)
    most = max(map(abs, x))
    return len(x) == len(y) and all(abs(p - q) <= 1e-3 * most for p, q in zip(x, y))


def add_opencl(tmp):
    for engine, title, prefix, repeat, warm, package in [("Portable Computing Language", "pocl", [], 4, 1, "pocl-opencl-icd"),
                                                         ("Oclgrind", "oclgrind", ["oclgrind"], 1, 0, "oclgrind"),
                                                         ("Oclgrind", "oclgrind, races", ["oclgrind", "--data-races"], 1, 0, "oclgrind")]:
        if not os.path.exists(cl_bench):
            skipped[title] = "no OpenCL headers or loader when gpurace was built (ocl-icd-opencl-dev, opencl-headers)"
        elif prefix and not shutil.which(prefix[0]):
            skipped[title] = f"{prefix[0]} is not installed"
        elif not has_platform(engine, prefix):
            skipped[title] = f"OpenCL does not know it ({package})"
        else:
            engines[title] = cl(engine, prefix, repeat, warm, {"POCL_CACHE_DIR": f"{tmp}/pocl"})


with tempfile.TemporaryDirectory() as tmp:
    os.mkdir(f"{tmp}/pocl")
    engines["plain"] = vm(plain_ptx)
    engines["jobs 2"] = vm(plain_ptx, "--jobs", "2")
    for title, options in [("collider", []), ("collider, delays 1 ns", FLAT_DELAYS)]:
        ptx = f"{tmp}/{len(engines)}.ptx"
        subprocess.run([gpurace, "ptx", *options, plain_ptx, "-o", ptx], check=True, stderr=subprocess.DEVNULL)
        engines[title] = vm(ptx)
    engines["exact"] = vm(plain_ptx, "--exact")
    add_opencl(tmp)
    for title, why in skipped.items():
        print(f"bench: {title} is skipped: {why}", file=sys.stderr)
    times = {(e, n): [] for e in engines for n in names}
    load = os.getloadavg()[0]
    for r in range(args.rounds):
        for n in names:
            first = None
            for e, one in engines.items():
                if e.startswith("oclgrind") and (r >= args.slow_rounds or n not in compared):
                    continue
                output = f"{tmp}/output"
                times[e, n].append(one(n, output))
                with open(output, "rb") as f:
                    data = f.read()
                first = first or data
                if not same(n, first, data):
                    sys.exit(f"bench: {e} computes something else in {n} than the plain CPU device")

scale = []
for threads in [10**5, 10**6, 10**7, 10**8]:
    samples = {}
    for jobs in [1, 2]:
        repeat = max(2, 10**7 // threads)
        run = subprocess.run([vm_bench, plain_ptx, "--threads", str(threads), "--jobs", str(jobs), "--repeat", str(repeat)], capture_output=True, text=True)
        found = re.search(r"threads ([\d.]+) ms, ([\d.]+) of processor time, begun after ([\d.]+)", run.stdout)
        if run.returncode != 0 or not found:
            fail(f"{threads} threads", run)
        samples[jobs] = [float(found.group(k)) for k in (1, 2, 3)]
    scale.append({"threads": threads, "ms": samples[1][0], "cpu_ms": samples[1][1], "begun_ms": samples[1][2], "jobs_2_ms": samples[2][0],
                  "cpu_ns_per_thread": samples[1][1] * 1e6 / threads})

shadow = {}
for name, mib in [("touch4", 1024), ("touch1", 256)]:
    run = subprocess.run([vm_bench, plain_ptx, "--exact", "--memory", str(mib), name], capture_output=True, text=True)
    found = re.search(r": ([\d.]+) bytes of shadow per byte touched, ([\d.]+) of resident memory", run.stdout)
    if run.returncode != 0 or not found:
        fail(f"{name} under the engine exact", run)
    shadow[name] = {"mib": mib, "shadow": float(found.group(1)), "resident": float(found.group(2))}

median = {key: statistics.median(ms) for key, ms in times.items() if ms}
rows = [{"kernel": n, "engine": e, "median_ms": median[e, n], "min_ms": min(times[e, n]), "max_ms": max(times[e, n]), "runs": len(times[e, n]),
         "thread_instructions_millions": count[n]} for n in names for e in engines if (e, n) in median]
ratios, per_kernel = {}, {}


def ratio(title, above, below):
    if above in engines and below in engines:
        per_kernel[title] = {n: median[above, n] / median[below, n] for n in compared}
        ratios[f"{title}_geomean"] = statistics.geometric_mean(per_kernel[title].values())


ratio("oclgrind_over_gpurace", "oclgrind", "plain")
ratio("gpurace_over_pocl", "jobs 2", "pocl")
ratio("one_thread_over_pocl", "plain", "pocl")
ratio("collider_slowdown", "collider", "plain")
ratio("collider_flat_slowdown", "collider, delays 1 ns", "plain")
ratio("exact_slowdown", "exact", "plain")
ratio("oclgrind_races_over_exact", "oclgrind, races", "exact")

print(f"{alternate.processor()}, {os.cpu_count()} cores; medians of {args.rounds} rounds (Oclgrind: {min(args.slow_rounds, args.rounds)}); load before: {load:.1f}")
print("\n| kernel | M thread-instr. | G/s | " + " | ".join(f"{e}, ms" for e in engines) + " |")
print("|---" * (3 + len(engines)) + "|")
for n in names:
    cells = [f"{median[e, n]:.3f}" if (e, n) in median else "" for e in engines]
    print(f"| {n} | {count[n]:.1f} | {count[n] / median['plain', n]:.2f} | " + " | ".join(cells) + " |")
print("\n| ratio | " + " | ".join(compared) + " | geometric mean |")
print("|---" * (2 + len(compared)) + "|")
for title, row in per_kernel.items():
    print(f"| {title} | " + " | ".join(f"{row[n]:.2f}" for n in compared) + f" | {ratios[title + '_geomean']:.2f} |")
print("\n| threads | ms | processor time, ms | ns of it per thread | first instruction after, ms | --jobs 2, ms |\n|---|---|---|---|---|---|")
for s in scale:
    print(f"| {s['threads']:.0e} | {s['ms']:.3f} | {s['cpu_ms']:.3f} | {s['cpu_ns_per_thread']:.2f} | {s['begun_ms']:.3f} | {s['jobs_2_ms']:.3f} |")
print("\n| working set | MiB | bytes of shadow for each | of resident memory |\n|---|---|---|---|")
for name, s in shadow.items():
    print(f"| {name} | {s['mib']} | {s['shadow']:.2f} | {s['resident']:.2f} |")
with open(args.out, "w") as f:
    json.dump({"cpu": alternate.processor(), "cores": os.cpu_count(), "load_before": load, "skipped": skipped, "rows": rows, "ratios": ratios,
               "ratios_per_kernel": per_kernel, "scale": scale, "exact_shadow_bytes_per_byte": shadow["touch4"]["resident"],
               "exact_shadow_bytes_per_byte_of_bytes": shadow["touch1"]["resident"], "exact_shadow": shadow}, f, indent=1)

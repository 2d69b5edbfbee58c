#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run.py GPURACE PROGRAM SOURCE: every case of misuse.cu under the engine exact."""
import json
import re
import subprocess
import sys

CASES = {
    "mask": "mask without the caller",
    "half_mask": "mask without the caller",
    "inlined": "mask without the caller",
    "divergence": "barrier divergence",
    "uneven_loop": "barrier divergence",
    "warps_apart": None,
    "twice": "mbarrier initialized twice",
    "no_mbarrier": "mbarrier not initialized",
    "invalidated": "mbarrier not initialized",
    "miscounted": "mbarrier miscounted",
    "barrier_count": "barrier miscounted",
    "deadlock": "deadlock",
    "cluster_barrier": "cluster barrier out of turn",
    "finished_block": "shared memory of a finished block",
    "exited": "matrix instruction by part of a warp",
    "branches": "matrix instruction by part of a warp",
    "short_block": "matrix instruction by part of a warp",
    "rows": "matrix instruction by part of a warp",
    "together": None,
    "unlike": "matrix instruction with unlike operands",
}
GOES_ON = {"mask", "inlined", "half_mask", "divergence", "uneven_loop", "warps_apart", "twice", "exited", "branches", "short_block", "rows", "together", "unlike"}
THREADS = {"mask": 4, "inlined": 48, "half_mask": 32, "exited": 16, "branches": 32, "short_block": 16, "rows": 16 + 16, "unlike": 24}  # that do it wrong
DETAILS = {
    "exited": r"executed the instruction with 16 of the 32 threads of its warp \(lanes 0x0000ffff\); the others: 16 exited$",
    "branches": r"the others: \d+ at another instruction$",
    "short_block": r"\(lanes 0x0000ffff\); the others: 16 not in the block$",
    "unlike": r"^thread \(8,0,0\) of block \(0,0,0\) gave address 0x[0-9a-f]+40 and stride 16, lane 0 of its warp 0x[0-9a-f]+00 and 16$",
    "deadlock": r"^block \(0,0,0\) can make no progress: thread \(0,0,0\) and 31 more wait at a barrier \(misuse\.cu:\d+\)$",
}
gpurace, program, source = sys.argv[1:4]
failures = 0


def fail(what, why):
    global failures
    failures += 1
    print(f"FAILED {what}: {why}")


def run(name, how, seed, engine="exact"):
    p = subprocess.run([gpurace, "run", "--engine", engine, "--format", "json", "--seed", str(seed), "--", program, name, how],
                       capture_output=True, text=True, timeout=120, check=False)
    at = p.stderr.find("{\n")
    return p, json.loads(p.stderr[at:]) if at >= 0 else {"misuses": [], "races": [], "verdict": p.stderr}


with open(source, encoding="utf-8") as f:
    lines = f.read().splitlines()
# The collider on the CPU device hears of those that let the kernel go on, too.
for name in sorted(name for name in GOES_ON if CASES[name]):
    p, report = run(name, "wrong", 1, "collider")
    if {m["class"] for m in report["misuses"]} != {CASES[name]}:
        fail(name + " under the collider", report["misuses"])
for seed in (1, 2, 3):
    for name, text in CASES.items():
        where = {n for n, line in enumerate(lines, 1) if f"WHERE {name}" in line}
        p, report = run(name, "wrong", seed)
        misuses = report["misuses"]
        if text is None:
            if misuses or report["verdict"] != "clean":
                fail(name, report)
        elif not misuses or {m["class"] for m in misuses} != {text} or p.returncode != 66 or report["verdict"] != "races":
            fail(name, f"{report['verdict']}, status {p.returncode}, {misuses}")
        if name in THREADS and sum(m["count"] for m in misuses) != THREADS[name]:
            fail(name, f"counted {[m['count'] for m in misuses]}, not {THREADS[name]}")
        for m in misuses:
            at = {f["line"] for f in m["frames"]}
            if not re.search(DETAILS.get(name, ""), m["detail"]):
                fail(name, f"the text is not what it was to be: {m['detail']}")
            if not at & where or (name == "inlined" and not where <= at) or not m["detail"] or m["count"] < 1 or not m["kernel"].startswith(name):
                fail(name, f"it is said to be at {m}, not at {where}")
        if (name in GOES_ON) != ("cudaSuccess" in p.stdout):
            fail(name, p.stdout)
        p, report = run(name, "right", seed)
        if report["misuses"] or report["verdict"] != "clean":
            fail(name + " right", report)
sys.exit(failures != 0)

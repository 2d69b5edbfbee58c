#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""costs.py GPURACE PROGRAM: no case of costs.cu may take the engine exact many times the processor time that the device takes by itself.

The limit is far above what is measured (bench/programs.py does that) and far below what the cases once took: it holds on a busy machine.
"""
import os
import re
import subprocess
import sys

LIMIT = 30
CASES = {"launches": "8000", "in_place": "0", "windows": "0", "bytes": "0", "contended": str(1024 * 256 - 1)}  # and what they print
gpurace, program = sys.argv[1:3]


def milliseconds(name, engine):
    """Processor time of all the device's work."""
    done = subprocess.run([gpurace, "run", "--device", "cpu", "--engine", engine, "--", program, name], capture_output=True, text=True,
                          timeout=100, check=False, env=dict(os.environ, GPURACE_CPU_DEVICE="times=1"))
    worked = re.findall(r"worked for ([\d.]+) ms", done.stderr)
    verdict = "clean" if engine == "exact" else "inconclusive"
    if done.returncode or not worked or done.stdout.strip() != CASES[name] or f"verdict: {verdict}" not in done.stderr:
        sys.exit(f"{name} under {engine}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return sum(map(float, worked))


failures = 0
for name in CASES:
    plain, exact = milliseconds(name, "none"), milliseconds(name, "exact")
    print(f"{name}: {plain:.1f} ms, under exact {exact:.1f} ms")
    failures += exact > LIMIT * plain
sys.exit(failures != 0)

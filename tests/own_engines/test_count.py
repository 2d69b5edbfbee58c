#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs every example under the counting engine: test_count.py GPURACE LIBRARY EXAMPLES

The engine counts accesses per site with instructions it inserts, and compares them after each launch with what the device's
observers report. Every launch of every example must agree, and no example may launch nothing.
"""
import os
import pathlib
import subprocess
import sys

gpurace, library, folder = sys.argv[1:4]
env = dict(os.environ, GPURACE_INJECTION=library)
bad = launches = accesses = 0
programs = sorted(p for p in pathlib.Path(folder).iterdir() if p.is_file() and os.access(p, os.X_OK))
for program in programs:
    run = subprocess.run([gpurace, "run", "--engine", "count", "--device", "cpu", "--timeout", "60", "--", program],
                         capture_output=True, text=True, env=env)
    lines = [line.split() for line in run.stdout.splitlines() if line.startswith("count: ")]
    equal = [words for words in lines if words[-1] == "equal"]
    if not equal or len(equal) != len(lines):
        bad += 1
        print(f"FAIL {program.name}: exit status {run.returncode}\n{run.stdout[-1500:]}{run.stderr[-1500:]}")
    launches += len(equal)
    accesses += sum(int(words[words.index("accesses") + 1]) for words in equal)
print(f"{len(programs)} programs, {launches} launches, {accesses} accesses: device and observers agree; {bad} programs failed")
sys.exit(bad != 0 or not programs)

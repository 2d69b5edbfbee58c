#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A library's module that the program tries to unload stays, and is checked (subjects/library_module.c): test_library_module.py GPURACE PROGRAM"""
import json
import os
import subprocess
import sys
import tempfile

GPURACE, PROGRAM = sys.argv[1:3]
for engine in "none", "exact", "collider", "tracker", "privatizer":
    with tempfile.TemporaryDirectory(prefix="gpurace-test-") as folder:
        output = os.path.join(folder, "report")
        done = subprocess.run([GPURACE, "run", "--device", "cpu", "--engine", engine, "--format", "json", "--output", output, "--", PROGRAM],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=100, check=False)
        with open(output, encoding="utf-8") as file:
            report = json.load(file)
        assert done.stdout == "PASS\n", (engine, done.stdout, done.stderr)
        found = {race["kernel"] for race in report["races"]}
        expected = set() if engine == "none" else {f"racy_{k}" for k in range(40)}
        assert found == expected, (engine, sorted(expected - found), report["verdict"], report.get("reasons"))

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ranges of NVTX: reports name them, and --only-ranges chooses by them. Usage: test_ranges.py GPURACE PROGRAM"""
import json
import os
import subprocess
import sys
import unittest

GPURACE, PROGRAM = sys.argv[1:3]


def run(*options, text=False, env=None):
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("GPURACE_", "NVTX_"))}
    done = subprocess.run([GPURACE, "run", "--device", "cpu", *([] if text else ["--format", "json"]), *options, "--", PROGRAM],
                          env={**environment, **(env or {})}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=100, check=False)
    return done.stderr if text or done.returncode == 2 else json.loads(done.stderr)


def sides(report):
    return {(a["launch"], a.get("range")) for r in report["races"] for a in r["accesses"]}


class Ranges(unittest.TestCase):
    def test_named(self):
        for number, name in ((1, None), (2, "epoch/step"), (3, "step"), (4, "tail")):
            self.assertEqual(sides(run("--only-launches", str(number))), {(number, name)})
        self.assertIn("launch 2 in epoch/step", run("--only-launches", "2", text=True))

    def test_chosen(self):
        for names, launches in (("epoch", {2}), ("tail", {4}), ("nothing,tail", {4})):
            report = run("--only-ranges", names)
            self.assertEqual({launch for launch, _ in sides(report)}, launches, names)
            self.assertEqual(report["coverage"]["launches"], {"checked": 1, "unchecked": 3, "left_out": 3})
            self.assertIn(f"--only-ranges {names}", report["reproduce"])
        self.assertEqual(run("--only-ranges", "step")["coverage"]["launches"], {"checked": 2, "unchecked": 2, "left_out": 2})
        self.assertEqual(run("--only-ranges", "step", "--only-launches", "3")["coverage"]["launches"], {"checked": 1, "unchecked": 3, "left_out": 3})
        self.assertEqual(run("--only-ranges", "ste")["reasons"], ["every launch was left out: nothing was checked"])

    def test_refused(self):
        self.assertIn("--only-ranges is for the engines exact, privatizer", run("--engine", "tracker", "--only-ranges", "step"))

    def test_tool_of_the_users_stays(self):
        self.assertEqual(sides(run("--only-launches", "2", env={"NVTX_INJECTION64_PATH": "/nonexistent"})), {(2, None)})


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])

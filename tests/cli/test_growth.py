#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a process keeps of modules that it unloads and of launches that are over. Usage: test_growth.py GPURACE PROGRAM"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

GPURACE, PROGRAM = sys.argv[1:3]
ENGINES = ("none", "exact", "collider")


def run(engine, what, n):
    """By how many KiB the program grew, and the report."""
    with tempfile.TemporaryDirectory(prefix="gpurace-test-") as folder:
        output = os.path.join(folder, "report.json")
        command = [GPURACE, "run", "--device", "cpu", "--engine", engine, "--format", "json", "--output", output, "--", PROGRAM, what, str(n)]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=200, check=False)
        with open(output, encoding="utf-8") as file:
            report = json.load(file)
        assert done.returncode == 0, done.stdout + done.stderr
        return int(done.stdout), report


class Growth(unittest.TestCase):
    def test_one_module_again_and_again(self):
        for engine in ENGINES:
            with self.subTest(engine=engine):
                grown, report = run(engine, "same", 4000)
                self.assertLess(grown, 1300)  # freed device memory goes back to the system a MiB at a time
                self.assertEqual(sum(k["launches"] for k in report["coverage"]["kernels"]), 4000)
                self.assertEqual(report["verdict"], "inconclusive" if engine == "none" else "clean")

    def test_module_that_comes_again(self):
        for engine in ("tracker", "privatizer"):
            for what, kernels in (("same", 1), ("other", 21)):
                with self.subTest(engine=engine, what=what):
                    _, report = run(engine, what, 20)
                    self.assertEqual(len(report["coverage"]["kernels"]), kernels)
                    self.assertEqual(report["verdict"], "clean")

    def test_other_modules(self):
        for engine in ENGINES:
            with self.subTest(engine=engine):
                grown, report = run(engine, "other", 600)
                self.assertLess(grown, 3 * 540)
                self.assertEqual(len(report["coverage"]["kernels"]), 601)
                self.assertEqual(report["verdict"], "inconclusive" if engine == "none" else "clean")

    def test_launches(self):
        for engine in ENGINES:
            with self.subTest(engine=engine):
                grown, _ = run(engine, "launches", 60000)
                self.assertLess(grown, 10000)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

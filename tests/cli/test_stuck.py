#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kernels that can never go on are stopped, and those that something else may still help are not: EM-159 of docs/execution-model.md.
Usage: test_stuck.py GPURACE PROGRAM"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

GPURACE, PROGRAM = sys.argv[1:3]
STUCK = r"block \(0,0,0\) can make no progress: thread \(0,0,0\) and 31 more wait at a barrier \(stuck\.cu:\d+\); " \
        r"thread \(32,0,0\) and 31 more repeat a loop that changes nothing \(stuck\.cu:\d+\)"


def run(case, engine="none", watchdog=0):
    """How the program's synchronization ended, and why the device stopped a kernel: one text."""
    with tempfile.TemporaryDirectory(prefix="gpurace-test-") as folder:
        output = os.path.join(folder, "report.json")
        device = f"watchdog={watchdog}"  # nanoseconds of virtual time, 0: never
        done = subprocess.run([GPURACE, "run", "--device", "cpu", "--engine", engine, "--format", "json", "--output", output, "--", PROGRAM, case],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=100, check=False,
                              env=dict(os.environ, GPURACE_CPU_DEVICE=device))
        with open(output, encoding="utf-8") as file:
            report = json.load(file)
    return done.stdout.strip(), "\n".join(report["reasons"])


class Stuck(unittest.TestCase):
    def stopped(self, case, engine="none"):
        ended, why = run(case, engine)
        self.assertEqual(ended, "cudaErrorLaunchTimeout")
        self.assertRegex(why, STUCK)

    def goes_on(self, case):
        ended, why = run(case)
        self.assertEqual(ended, "cudaSuccess", why)
        self.assertNotIn("no progress", why)

    def test_nothing_else(self):
        for engine in ("none", "exact", "collider"):
            with self.subTest(engine=engine):
                self.stopped("alone", engine)

    def test_what_waits_for_the_kernel_itself(self):
        for case in ("copy-behind-kernel", "copy-waits-for-kernel", "function-behind-kernel"):
            with self.subTest(case=case):
                self.stopped(case)

    def test_other_thread(self):
        self.goes_on("thread-sets")

    def test_other_thread_that_does_nothing(self):
        """It may do something as far as anybody knows: only the watchdog ends that."""
        ended, why = run("thread-waits", watchdog=30_000_000)
        self.assertEqual(ended, "cudaErrorLaunchTimeout")
        self.assertIn("exceeded its time limit of 30 ms of device time", why)

    def test_host_function(self):
        self.goes_on("function-sets")

    def test_copy_behind_a_host_function(self):
        self.goes_on("copy-behind-function")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kernels of NVIDIA's own libraries are left alone on a GPU, and named, unless --libraries yes. Without a GPU: the injection is told that the
device is one, by the environment of the program. Usage: test_libraries.py GPURACE PROGRAM; PROGRAM uses a library named as cuRAND is."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

GPURACE, PROGRAM = sys.argv[1:3]


def run(libraries, device="gpu"):
    with tempfile.TemporaryDirectory(prefix="gpurace-test-") as folder:
        output = os.path.join(folder, "report.json")
        subprocess.run([GPURACE, "run", "--device", "cpu", "--engine", "collider", "--format", "json", "--output", output, "--", "/usr/bin/env",
                        f"GPURACE_MERGED_OPTIONS=device={device} engine=collider libraries={libraries}", PROGRAM], check=True,
                       stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=100)
        with open(output, encoding="utf-8") as file:
            return json.load(file)


class Libraries(unittest.TestCase):
    def checked(self, report):
        return {k["name"]: k["checked"] for k in report["coverage"]["kernels"] if k["launches"]}

    def test_left_alone(self):
        report = run("no")
        self.assertEqual(self.checked(report), {"own(int*)": True, "inside(int*)": False})
        self.assertEqual(report["reasons"], ["kernel inside(int*) was not checked: it is a library of NVIDIA's, and --libraries yes was not given"])

    def test_checked_when_asked_for(self):
        report = run("yes")
        self.assertEqual((self.checked(report), report["reasons"]), ({"own(int*)": True, "inside(int*)": True}, []))

    def test_on_the_cpu_device(self):
        self.assertEqual(self.checked(run("no", "cpu")), {"own(int*)": True, "inside(int*)": True})


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])

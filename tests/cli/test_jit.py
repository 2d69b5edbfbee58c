#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs that compile at run time and hand the driver machine code, on the CPU device: each way has a race, found at its line, and a
repaired twin, clean with its kernel checked. Usage: test_jit.py GPURACE DLSYM_PROGRAM LINKED_PROGRAM NVRTC NVJITLINK. With DEVICE=gpu in the
environment on a GPU, by the tracker, which finds the races whatever the timing is."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

GPURACE, BY_NAME, LINKED, NVRTC, NVJITLINK = sys.argv[1:6]
WAYS = ("nvrtc", "ptx", "lto", "parts", "driver", "relink", "fatbin", "twice")
STORE, LOAD = 103, 105  # lines of the kernel's source
DEVICE = os.environ.get("DEVICE", "cpu")
ENGINES = {"cpu": ("auto", "collider"), "gpu": ("tracker", "tracker")}[DEVICE]  # one that may listen, and one that rewrites


def run(*command, options=()):
    with tempfile.TemporaryDirectory(prefix="gpurace-test-") as folder:
        output = os.path.join(folder, "report.json")
        environment = {k: v for k, v in os.environ.items() if not k.startswith("GPURACE_")}
        environment.update(NVRTC=NVRTC, NVJITLINK=NVJITLINK, LD_LIBRARY_PATH=os.path.dirname(NVRTC) + ":" + os.environ.get("LD_LIBRARY_PATH", ""))
        done = subprocess.run([GPURACE, "run", "--device", DEVICE, "--format", "json", "--output", output, *options, "--", *command],
                              env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=100, check=False)
        with open(output, encoding="utf-8") as file:
            return done.returncode, json.load(file), done.stdout


class JustInTime(unittest.TestCase):
    def judge(self, program, way, engine=ENGINES[0]):
        options = ["--engine", engine]
        status, report, text = run(program, way, options=options)
        self.assertEqual((status, report["verdict"]), (66, "races"), (text, report["reasons"]))
        sides = {("kernel.cu", STORE), ("kernel.cu", LOAD)}
        for race in report["races"]:
            found = {(os.path.basename(a["file"]), a["line"]) for a in race["accesses"]}
            self.assertEqual(found, sides)
        status, report, text = run(program, way, "repaired", options=options)
        self.assertEqual((status, report["verdict"], report["reasons"]), (0, "clean", []), text)
        coverage = report["coverage"]
        self.assertEqual([(k["name"], k["checked"], k["launches"]) for k in coverage["kernels"]], [("turn", True, 2 if way == "twice" else 1)])
        self.assertEqual(coverage["modules"]["unchecked"], 0)

    def test_by_name(self):
        for way in WAYS:
            with self.subTest(way=way):
                self.judge(BY_NAME, way)

    def test_linked(self):
        for way in "nvrtc", "lto":
            with self.subTest(way=way):
                self.judge(LINKED, way)

    def test_rewritten(self):
        for way in "nvrtc", "parts", "driver", "relink":
            with self.subTest(way=way):
                self.judge(BY_NAME, way, ENGINES[1])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[6:]])

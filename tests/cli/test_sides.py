#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What makes the collider see more, on the CPU device: poisoned writes. Usage: test_sides.py GPURACE PROGRAM SOURCE SCHEMA"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

GPURACE, PROGRAM, SOURCE, SCHEMA = sys.argv[1:5]


def line_of(label):
    with open(SOURCE, encoding="utf-8") as file:
        return next(n for n, line in enumerate(file, 1) if line.rstrip().endswith(f"// {label}"))


class Run:
    def __init__(self, *args, options=(), text=False, **more):
        with tempfile.TemporaryDirectory(prefix="gpurace-test-") as folder:
            output = os.path.join(folder, "report")
            environment = {k: v for k, v in os.environ.items() if not k.startswith("GPURACE_")}
            command = [GPURACE, "run", "--device", "cpu", "--engine", "collider", "--format", "text" if text else "json",
                       "--output", output, *options, "--", PROGRAM, *args]
            more.setdefault("stdin", subprocess.DEVNULL)
            done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                  timeout=120, check=False, **more)
            self.status, self.stdout, self.stderr = done.returncode, done.stdout, done.stderr
            with open(output, encoding="utf-8") as file:
                self.report = file.read() if text else json.load(file)
        if not text:
            self.validate()

    def validate(self):
        try:
            import jsonschema
        except ImportError:
            return
        with open(SCHEMA, encoding="utf-8") as file:
            jsonschema.validate(self.report, json.load(file))


class Poison(unittest.TestCase):
    """Threads of different warps that store one value."""

    def check(self, kernel, value, width):
        found = 0
        for seed in range(1, 41):  # somewhat less than every second one finds it
            if found >= 2:
                return
            run = Run(kernel, options=["--poison-writes", "--seed", str(seed)])
            for race in run.report["races"]:
                self.assertEqual((race["class"], race["accesses"][0]["line"]), ("lost update", line_of(kernel)))
                if race["expected"]:  # else the watchpoint saw it, whatever the value
                    self.assertEqual((race["expected"], race["seen"]),
                                     (f"0x{value:0{width}x}", f"0x{value ^ (16 ** width - 1):0{width}x}"))
                    found += 1
        self.fail(f"found {found} times in 40 runs")

    def test_global(self):
        self.check("same", 7, 8)

    def test_shared_and_narrow(self):
        self.check("same_shared", 1, 4)

    def test_text_explains_the_value(self):
        for seed in range(1, 41):
            run = Run("same_shared", options=["--poison-writes", "--seed", str(seed)], text=True)
            if "which is the complement: another thread was about to store the same value" in run.report:
                return
        self.fail("no report explains the complement")

    def test_a_program_without_races_is_the_same(self):
        plain = Run("neighbours")
        for seed in ("1", "2", "3"):
            run = Run("neighbours", options=["--poison-writes", "--seed", seed])
            self.assertEqual((run.status, run.report["verdict"], run.stdout), (0, "clean", plain.stdout), run.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

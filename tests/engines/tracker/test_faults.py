#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the tracker reports when something goes wrong besides a race, and when there is a lot of something: meetings/faults.cu.
Usage: test_faults.py GPURACE PROGRAM SOURCE SCHEMA"""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

GPURACE, PROGRAM, SOURCE, SCHEMA = sys.argv[1:5]
MIB = 1 << 20
TABLES = 128 * MIB  # of a context, before there is any memory of the program's
RULES = ("ptx", "paper")


def line_of(label):
    with open(SOURCE, encoding="utf-8") as file:
        return next(n for n, line in enumerate(file, 1) if line.rstrip().endswith("// " + label))


class Run:
    def __init__(self, *words, options=(), device=""):
        with tempfile.TemporaryDirectory(prefix="gpurace-test-") as folder:
            output = os.path.join(folder, "report.json")
            environment = {k: v for k, v in os.environ.items() if not k.startswith("GPURACE_")}
            environment["GPURACE_CPU_DEVICE"] = device
            command = [GPURACE, "run", "--device", "cpu", "--engine", "tracker", "--format", "json", "--output", output, *options, "--", PROGRAM, *words]
            done = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                  timeout=100, check=False)
            self.status, self.stdout = done.returncode, done.stdout
            with open(output, encoding="utf-8") as file:
                self.report = json.load(file)
        try:
            import jsonschema

            with open(SCHEMA, encoding="utf-8") as file:
                jsonschema.validate(self.report, json.load(file))
        except ImportError:
            pass
        # Of the tracker's own code, too: such an instruction ends the program where it is executed.
        assert not [r for r in self.report["coverage"].get("remarks", []) if "does not know the instruction" in r], self.report["coverage"]
        self.verdict, self.reasons = self.report["verdict"], "\n".join(self.report["reasons"])
        self.lines = {a["line"]: race["count"] for race in self.report["races"] for a in race["accesses"]}


class Faults(unittest.TestCase):
    def test_kernel_that_fails_keeps_its_races(self):
        for rules in RULES:
            for word, label, said, why in (("traps", "BEFORE TRAP", "cudaErrorLaunchFailure", "executed trap"),
                                           ("illegal", "BEFORE ILLEGAL", "cudaErrorIllegalAddress", "illegal address")):
                r = Run(word, options=["--rules", rules])
                self.assertEqual((r.verdict, r.status, set(r.lines)), ("races", 66, {line_of(label)}))
                self.assertIn(f"{word}: {said}", r.stdout)
                self.assertIn(why, r.reasons)

    def test_module_without_ptx(self):
        r = Run("no_ptx", "quiet")
        self.assertEqual((r.verdict, r.lines), ("inconclusive", {}))
        self.assertIn("it holds no PTX for this device, only machine code for sm_90", r.reasons)
        r = Run("no_ptx", "racy")
        self.assertEqual((r.verdict, set(r.lines)), ("races", {line_of("RACY")}))

    def test_no_room_for_tables(self):
        for rules in RULES:
            r = Run("quiet", device=f"tool={50 * MIB}", options=["--rules", rules])
            self.assertEqual((r.verdict, r.lines), ("inconclusive", {}))
            self.assertIn("quiet: cudaSuccess", r.stdout)
            self.assertIn("the device has no room for the tracker's tables", r.reasons)

    def test_no_room_for_cells(self):
        for rules in RULES:
            # The cells of 4 KiB fit, those of 8 MiB do not. What has cells is checked as ever.
            r = Run("wide", device=f"tool={TABLES + 8 * MIB}", options=["--rules", rules])
            self.assertEqual((r.verdict, set(r.lines)), ("races", {line_of("RACY")}))
            self.assertIn("no room for the metadata of all of 8388608 bytes", r.reasons)
            self.assertIn("accesses to memory without metadata were not checked", r.reasons)
        r = Run("wide", device=f"tool={TABLES + 100 * MIB}")
        self.assertEqual((r.verdict, r.reasons, r.lines), ("races", "", {line_of("RACY"): 63}))

    def test_contexts(self):
        r = Run("contexts")
        self.assertEqual((r.verdict, r.reasons, r.lines), ("races", "", {line_of("RACY"): 3 * 63}), r.stdout)
        self.assertEqual(r.stdout.count("cudaSuccess"), 4)

    def test_devices(self):
        r = Run("devices", options=["--cpu-devices", "2"])
        self.assertEqual((r.verdict, r.reasons, r.lines), ("races", "", {line_of("RACY"): 2 * 63}), r.stdout)

    def test_memory_of_another_device(self):
        r = Run("peers", options=["--cpu-devices", "2"])
        self.assertEqual((r.verdict, r.reasons, r.lines), ("races", "", {line_of("RACY"): 5 * 63}), r.stdout)
        self.assertEqual(r.stdout.count("cudaSuccess"), 5)
        r = Run("peers", options=["--cpu-devices", "2", "--rules", "paper"]) # each context has metadata of its own
        self.assertIn("memory without metadata", r.reasons)
        self.assertEqual(r.stdout.count("cudaSuccess"), 5)

    def test_reset(self):
        r = Run("racy", "reset", "racy", "quiet", "reset", "quiet", "racy")
        self.assertEqual((r.verdict, r.reasons, r.lines), ("races", "", {line_of("RACY"): 3 * 63}), r.stdout)
        self.assertEqual(Run("quiet", "reset", "quiet", "reset", "quiet").verdict, "clean")


class Amounts(unittest.TestCase):
    def test_many_launches_take_no_more_memory(self):
        few, many = Run("many=1000"), Run("many=100000")
        self.assertEqual((few.verdict, many.verdict), ("clean", "clean"))
        self.assertEqual(many.report["coverage"]["launches"], {"checked": 100000, "unchecked": 0})
        few, many = (int(re.search(r"resident (\d+) KiB", r.stdout)[1]) for r in (few, many))
        self.assertLess(many - few, 1024, (few, many))

    def test_most_of_the_memory(self):
        r = Run("big=60")
        self.assertEqual((r.verdict, r.reasons, r.lines), ("races", "", {line_of("FAR"): 63}), r.stdout)


class Measure(unittest.TestCase):
    def test_nothing_is_checked_and_that_is_said(self):
        for how in ("calls", "lookups"):
            for rules in RULES:
                r = Run("racy", options=["--measure", how, "--rules", rules])
                self.assertEqual((r.verdict, r.lines), ("inconclusive", {}))
                self.assertIn("nothing was checked, because of --measure", r.reasons)


class Suppressions(unittest.TestCase):
    def test_of_each_kind(self):
        whole = Run("racy", "traps")
        self.assertEqual(set(whole.lines), {line_of("RACY"), line_of("BEFORE TRAP")})
        name, line = os.path.basename(SOURCE), line_of("RACY")
        with tempfile.TemporaryDirectory(prefix="gpurace-test-") as folder:
            path = os.path.join(folder, "known")
            for rule in ("race:racy", "kernel:^racy(int*", f"pair:{name}:{line} {name}:{line}"):
                with open(path, "w", encoding="utf-8") as file:
                    file.write(rule + "\n")
                r = Run("racy", "traps", options=["--suppressions", path])
                self.assertEqual(set(r.lines), {line_of("BEFORE TRAP")}, rule)
                r = Run("racy", "quiet", options=["--suppressions", path])
                self.assertEqual((r.verdict, r.status, r.lines), ("clean", 0, {}), rule)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""--on-fault continue: a stray access reads zero or writes nothing, is a misuse with its line, and the program goes on, under every engine of the CPU
device (subjects/strays.cu). By default the kernel ends there.
Usage: test_strays.py GPURACE PROGRAM SOURCE SCHEMA_CHECK SCHEMA"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

GPURACE, PROGRAM, SOURCE, CHECK, SCHEMA = sys.argv[1:6]
CASES = ["loads", "stores", "vectors", "atomics", "shared", "local", "null", "misaligned", "copies", "bulk"]
# case: what its line is marked with
MARKS = dict(zip(CASES + ["many"], ["load", "store", "vector", "atomic", "shared", "local", "null", "misaligned", "copy", "bulk", "many"]))
ENGINES = ["exact", "none", "collider", "tracker", "privatizer", "collider+exact"]
with open(SOURCE, encoding="utf-8") as file:
    LINES = {line.split("STRAY:")[1].strip(): number for number, line in enumerate(file, 1) if "STRAY:" in line}


def run(cases, *options, form="json"):
    """The exit status, what the program printed, and the report."""
    with tempfile.TemporaryDirectory(prefix="gpurace-test-") as folder:
        output = os.path.join(folder, "report")
        done = subprocess.run([GPURACE, "run", "--device", "cpu", *options, "--format", form, "--output", output, "--", PROGRAM, *cases],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=100, check=False)
        with open(output, encoding="utf-8") as file:
            text = file.read()
    return done.returncode, done.stdout.strip(), json.loads(text) if form in ("json", "sarif") else text


class Strays(unittest.TestCase):
    def goes_on(self, cases, *options, count=1):
        status, printed, report = run(cases, "--on-fault", "continue", *options)
        self.assertEqual(printed.splitlines(), ["cudaSuccess" + 32 * " 1" for _ in cases])
        self.assertEqual(status, 66)
        self.assertEqual(report["verdict"], "races")
        self.assertEqual(report["races"], [])
        self.assertEqual(sorted((m["class"], os.path.basename(m["file"]), m["line"], m["count"]) for m in report["misuses"]),
                         sorted(("stray access", "strays.cu", LINES[MARKS[case]], count) for case in cases))
        self.assertIn("--on-fault continue", report["reproduce"])
        return report

    def test_every_engine(self):
        for engine in ENGINES:
            with self.subTest(engine=engine):
                self.goes_on(CASES, "--engine", engine)

    def test_every_window_and_schedule(self):
        for options in (["--engine", "collider", "--windows", "all"], ["--engine", "collider", "--watchpoints", "no"], ["--schedule", "pct"], ["--weak"]):
            with self.subTest(options=options):
                self.goes_on(CASES, *options)

    def test_a_million_are_one(self):
        self.goes_on(["many"], count=1024000)

    def test_it_says_who_and_where(self):
        misuse = self.goes_on(["vectors"])["misuses"][0]
        self.assertEqual((misuse["thread"], misuse["block"], misuse["launch"]), ([3, 0, 0], [0, 0, 0], 1))
        self.assertRegex(misuse["detail"], r"^thread \(3,0,0\) of block \(0,0,0\) read 16 bytes at 0x[0-9a-f]+, ")
        _, _, text = run(["vectors"], "--on-fault", "continue", form="text")
        self.assertIn(f"strays.cu:{LINES['vector']}:", text)
        self.assertIn(": memory misuse: stray access in kernel vectors", text)
        self.assertIn("gpurace: verdict: races: memory misused in 1 place\n", text)
        _, _, sarif = run(["vectors"], "--on-fault", "continue", form="sarif")
        self.assertIn("Memory misuse: stray access", sarif["runs"][0]["results"][0]["message"]["text"])

    def test_the_default_stops(self):
        for case, *options in [[case] for case in CASES] + [["loads", "--on-fault", "stop"]]:
            with self.subTest(options=options, case=case):
                status, printed, report = run([case], *options)
                self.assertRegex(printed, r"^cudaError(IllegalAddress|MisalignedAddress|InvalidAddressSpace)$")
                self.assertEqual((status, report["verdict"], report["misuses"]), (67, "inconclusive", []))

    def test_where_it_has_no_effect(self):
        _, printed, report = run(["loads"], "--on-fault", "continue", "--engine", "collider", "--windows", "inserted")
        self.assertEqual(printed, "cudaErrorIllegalAddress")
        self.assertTrue("--on-fault continue had no effect: with --windows inserted" in json.dumps(report))

    def test_the_schema_knows_it(self):
        with tempfile.TemporaryDirectory(prefix="gpurace-test-") as folder:
            path = os.path.join(folder, "report.json")
            with open(path, "w", encoding="utf-8") as file:
                json.dump(run(["loads"], "--on-fault", "continue")[2], file)
            done = subprocess.run([sys.executable, CHECK, SCHEMA, path], check=False)
            self.assertIn(done.returncode, (0, 77))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

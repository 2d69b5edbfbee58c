#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the report of a run says, of small programs: run.py GPURACE FOLDER SCHEMA [TEST ...]"""
import json
import os
import re
import subprocess
import sys
import unittest

GPURACE, FOLDER, SCHEMA = sys.argv[1:4]
SOURCES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs")


def check_schema(report):
    try:
        import jsonschema
    except ImportError:
        return
    with open(SCHEMA, encoding="utf-8") as file:
        jsonschema.validate(report, json.load(file))


def run(program, *args, options=(), text=False):
    """The report of a run, parsed, or its text."""
    form = [] if text else ["--format", "json"]
    done = subprocess.run([GPURACE, "run", "--device", "cpu", *form, *options, "--", os.path.join(FOLDER, program), *args],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False, timeout=120)
    if text:
        return done.stderr
    try:
        report = json.loads(done.stderr)
    except ValueError as error:
        raise AssertionError(done.stderr) from error
    check_schema(report)
    return report


def line_of(program, mark):
    """The line of the program's source that ends with the comment `mark`."""
    with open(os.path.join(SOURCES, program + ".cu"), encoding="utf-8") as file:
        lines = [n for n, line in enumerate(file, 1) if line.rstrip().endswith("// " + mark)]
    assert len(lines) == 1, (program, mark, lines)
    return lines[0]


class Sides(unittest.TestCase):
    """The two sides of a race are of one occurrence, and overlap."""

    def check(self, report, count=None):
        self.assertEqual(report["verdict"], "races")
        for race in report["races"]:
            a, b = race["accesses"]
            if a["address"] is None or b["address"] is None:
                continue
            at = [int(s["address"], 16) for s in (a, b)]
            self.assertTrue(at[0] < at[1] + b["size"] and at[1] < at[0] + a["size"], race)
            overlap, end = int(race["overlap"]["address"], 16), min(at[0] + a["size"], at[1] + b["size"])
            self.assertEqual((overlap, race["overlap"]["bytes"]), (max(at), end - max(at)), race)
        if count:
            self.assertEqual(len(report["races"]), count)

    def test_parts_of_a_word(self):
        for kind, size in (("0", 2), ("1", 1), ("2", 2), ("3", 1)):
            for at in (1, 3):
                report = run("short_addresses", kind, str(at), options=["--engine", "exact"])
                self.check(report, 1)
                for side in report["races"][0]["accesses"]:
                    self.assertEqual((int(side["address"], 16) % 256, side["size"]), (at * size, size))

    def test_collider(self):
        """The pair that met is shown as such, and the thread that lost its value apart from it."""
        report = run("two_occurrences", options=["--engine", "collider"])
        apart = [r for r in report["races"] if "noticed" in r]
        self.assertTrue(apart, "this seed mixes no two occurrences: take another one")
        for race in apart:
            self.assertNotEqual(race["noticed"]["thread"], race["accesses"][0]["thread"])
            a, b = race["accesses"]
            self.assertEqual((a["address"], a["thread"][0] // 32), (b["address"], b["thread"][0] // 32))
            for side in (a, b):
                self.assertIn(f"thread ({side['thread'][0]},0,0)", race["sentence"])
        text = run("two_occurrences", options=["--engine", "collider"], text=True)
        match = re.search(r"store of 4 bytes, (thread \(\d+,0,0\)), block \(0,0,0\), shared address, offset (0x[0-9a-f]+).*?"
                          r"store of 4 bytes, (thread \(\d+,0,0\)), block \(0,0,0\), shared address, offset (0x[0-9a-f]+).*?"
                          r"both touched 4 bytes at offset (0x[0-9a-f]+)\n    missing: ([^\n]*)\n"
                          r"    a value changed in another occurrence: store of 4 bytes", text, re.DOTALL)
        self.assertTrue(match, text)
        self.assertEqual(len({match[2], match[4], match[5]}), 1, text)
        self.assertIn(match[1], match[6])
        self.assertIn(match[3], match[6])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])

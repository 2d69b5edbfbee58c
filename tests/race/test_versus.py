#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests versus.py: what it calls found, false and missed, and for which cause."""
import contextlib
import io
import json
import os
import re
import sys
import tempfile
import unittest
import unittest.mock

sys.dont_write_bytecode = True  # beside the sources
import fake_gpurace
import versus
from truth import read

HERE = os.path.dirname(os.path.abspath(__file__))
RACY = """// RACE 1: read-write race, global, can-overlap -- because
s[t] = 1; // SIDE 1
if (fixed) __syncthreads(); // FIX
x = s[t + 1]; // SIDE 1
"""
CLEAN = "// CLEAN -- because\nx = 1;\n"


def access(line, kind="load", **more):
    return {"kind": kind, "file": "dir/x.cu", "line": line, "ptx_line": 100 + line, "launch": 1, "block": [0, 0, 0], "asynchronous": False, "discarded": False,
            **more}


def race(one, other, engine="exact", space="global", **more):
    first, second = one if isinstance(one, dict) else access(one, "store"), other if isinstance(other, dict) else access(other)
    return {"class": "read-write race", "space": space, "engine": engine, "evidence": "", "count": 1, "missing_order": "no barrier between",
            "accesses": [first, second], **more}


def own(one, other, **more):
    """A race of the engine that is compared, confirmed by one of exact's."""
    return race(one, other, engine="keeper", **{"witness": race(one, other), **more})


class Versus(unittest.TestCase):
    def run_tool(self, source, answer, *options):
        """Exit status, what was printed, and the rows of the table."""
        printed = io.StringIO()
        with tempfile.TemporaryDirectory() as folder:
            os.mkdir(os.path.join(folder, "subtle"))
            path, table = os.path.join(folder, "subtle", "x"), os.path.join(folder, "table")
            for file, text in ((path + ".cu", source), (path, "#!/bin/true\n"), (path + ".answer", json.dumps(answer))):
                with open(file, "w", encoding="utf-8") as out:
                    out.write(text)
            os.chmod(path, 0o644 if "--unbuilt" in options else 0o755)
            arguments = ["--gpurace", os.path.join(HERE, "fake_gpurace.py"), "--programs", folder, "--sources", folder, "--schema", "", "--seeds", "1",
                         "--engine", "keeper", "--table", table, *(o for o in options if o != "--unbuilt")]
            with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed), unittest.mock.patch("truth.subprocess.run", fake_gpurace.run):
                status = versus.main(arguments)
            rows = [line.split("\t") for line in read(table).splitlines()[1:]] if os.path.exists(table) else []
        return status, printed.getvalue(), rows

    def expect(self, status, phrase, source, answer, *options):
        got, printed, rows = self.run_tool(source, answer, *options)
        self.assertEqual(got, status, printed)
        self.assertIn(phrase, re.sub(" +", " ", printed))
        return rows

    def cause(self, missed, *others):
        """What is said of a pair that exact alone saw."""
        _, printed, rows = self.run_tool(RACY, {"races": [missed, *others]})
        return rows[-1][3:5], printed

    def test_found(self):
        rows = self.expect(0, "subtle 1/1 0 1 0 0 0 0", RACY, {"races": [own(2, 4)]})
        self.assertEqual(rows, [["subtle/x", "racy", "1", "found", "", "read-write race", "read-write race", "global", "x.cu:2", "x.cu:4"]])
        rows = self.expect(0, "write-write race 1 ", RACY, {"races": [own(2, 4, witness={**race(4, 2), "class": "write-write race"})]})
        self.assertEqual(rows[0][5:7], ["write-write race", "read-write race"])

    def test_false(self):
        alone = {"races": [own(2, 4), own(2, 3, witness=None)]}
        self.expect(1, "false: subtle/x: read-write race, global: x.cu:2 and x.cu:3", RACY, alone)
        self.expect(0, "false: subtle/x", RACY, alone, "--false-ok")
        self.expect(1, "subtle 1/1 1 ", RACY, alone)

    def test_false_in_the_twin(self):
        for wrong in (own(2, 4), own(2, 4, witness=None), race(2, 4)):
            self.expect(1, "false: subtle/x: twin: read-write race", RACY, {"races": [own(2, 4)], "twin": {"races": [wrong]}})
            self.expect(0, "1/1", RACY, {"races": [own(2, 4)], "twin": {"races": [wrong]}}, "--twin-seeds", "0")
            self.expect(1, "false: subtle/x: twin: ", CLEAN, {"races": [wrong]})
        self.expect(0, "0/0", CLEAN, {"races": []})

    def test_causes(self):
        copy = {"kind": "copy", "file": None, "line": None}
        for missed, words in ((race(copy, copy), ["host", ""]), (race(2, access(4, "host read")), ["host", ""]),
                              (race(2, copy), ["unexplained", ""]), (race(2, access(4, "free")), ["unexplained", ""]),
                              (race(2, access(4, asynchronous=True)), ["design", "an asynchronous operation is on one side"]),
                              (race(2, access(4, launch=2)), ["unexplained", ""]),
                              (race(2, 4), ["unexplained", ""]),
                              (race(2, access(4, discarded=True)), ["design", "the thread does not use what it loads"])):
            said, printed = self.cause(missed)
            self.assertEqual(said, words, missed)
            self.assertRegex(printed, "subtle +0/" + ("1" if words[0] == "unexplained" else "0"))

    def test_history(self):
        self.assertEqual(self.cause(race(2, 4), own(2, 2))[1].count("history: subtle/x"), 0)  # told only with --verbose
        self.expect(0, "history: subtle/x: read-write race, global: x.cu:2 and x.cu:4", RACY, {"races": [own(2, 2), race(2, 4)]}, "--verbose")
        self.expect(0, "unexplained: subtle/x: read-write race, global: x.cu:2 and x.cu:4", RACY, {"races": [own(3, 3), race(2, 4)]})
        self.expect(0, "unexplained: subtle/x: read-write race, shared: x.cu:2 and x.cu:4", RACY, {"races": [own(2, 2), race(2, 4, space="shared")]})
        self.expect(0, "unexplained: subtle/x", RACY, {"races": [race(1, 2), race(2, 4)]})  # exact's own explains nothing

    def test_several_seeds(self):
        seeds = lambda one, other: {"1": {"races": one}, "default": {"races": other}, "twin": {"races": []}}
        two = ("--seeds", "1..2", "--twin-seeds", "0")
        self.expect(0, "1 of the 2 pairs of all runs were found", RACY, seeds([own(2, 4)], [race(2, 4)]), *two)
        self.expect(0, "subtle 1/1 0 1 0 0 0 0", RACY, seeds([own(2, 4)], [race(2, 4)]), *two)
        for order in (1, -1):
            runs = ([own(2, 2), race(2, 4)], [race(2, 4)])[::order]
            self.expect(0, "subtle 1/1 0 1 0 0 0 1", RACY, seeds(*runs), *two)
        printed = self.run_tool(RACY, seeds([], [race(2, 4)]), *two)[1]
        self.assertIn("not found: subtle/x", printed)

    def test_share(self):
        half = {"races": [own(2, 2), race(2, 4), race(2, access(4, discarded=True), space="shared")]}
        self.expect(0, "50.0 % of the pairs", RACY, half, "--at-least", "50")
        self.expect(1, "50.0 % of the pairs", RACY, half, "--at-least", "51")
        self.expect(1, "0.0 % of the pairs", RACY, {"races": []}, "--at-least", "1")

    def test_bad_runs(self):
        self.expect(1, "did not print PASS", RACY, {"races": [own(2, 4)], "twin": {"races": [], "prints": "x: FAIL"}})
        self.expect(1, "exit status 1", RACY, {"races": [], "status": 1})
        self.expect(1, "is not built", RACY, {"races": []}, "--unbuilt")
        self.expect(1, "KeyError", RACY, {"races": [{"class": "read-write race", "engine": "exact"}]})
        self.expect(0, "0/0", RACY, {"races": [], "verdict": "inconclusive", "reasons": ["1 access was not understood and not checked"]})
        self.expect(1, "verdict 'inconclusive'", RACY, {"races": [], "verdict": "inconclusive", "reasons": ["something else"]})

    def test_arguments(self):
        self.expect(2, "has no engine 'nothing+exact'", RACY, {}, "--engine", "nothing")
        self.expect(2, "no program matches 'host'", RACY, {}, "--family", "host")
        self.assertEqual(self.run_tool(RACY, {}, "--reasons")[1].splitlines()[0], versus.REASONS[0][0])


if __name__ == "__main__":
    unittest.main()

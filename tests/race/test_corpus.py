#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests gpurace-corpus: it must accept what the labels say, object to everything else, and refuse labels that are wrong."""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
RACY = """// A racy program.
// RACE 1: read-write race, shared, can-overlap -- because
// RACE 2: write-write race|same-value write, global, missing-order, launches 1 and 2 -- because
s[t] = 1; // SIDE 1
if (fixed) __syncthreads(); // FIX
x = s[t + 1]; // SIDE 1
*p = x; // SIDE 2
y = *q; // NEVER
"""
CLEAN = "// CLEAN -- because\nx = 1;\n"


def access(line, file="x.cu", **more):
    return {"kind": "load", "file": file, "line": line, "inlined_at": [], "launch": 1, "scope": None, **more}


def race(kind, space, *accesses):
    return {"class": kind, "space": space, "accesses": [a if isinstance(a, dict) else access(a) for a in accesses], "count": 1}


FIRST = race("read-write race", "shared", 6, 4)
SECOND = race("same-value write", "global", access(7, launch=2), 7)


class Tool(unittest.TestCase):
    def run_tool(self, source, answer, *options):
        with tempfile.TemporaryDirectory() as folder:
            os.mkdir(os.path.join(folder, "subtle"))
            path = os.path.join(folder, "subtle", "x")
            for file, text in ((path + ".cu", source), (path, "#!/bin/true\n"), (path + ".answer", json.dumps(answer))):
                with open(file, "w", encoding="utf-8") as out:
                    out.write(text)
            os.chmod(path, 0o755)
            done = subprocess.run([sys.executable, os.path.join(HERE, "gpurace-corpus"), "--gpurace",
                                   os.path.join(HERE, "fake_gpurace.py"), "--programs", folder, "--sources", folder, "--schema",
                                   "", "--docs", os.path.join(folder, "corpus.md"), "--seeds", "1..3", "--twin-seeds", "1..2",
                                   *options], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        return done.returncode, done.stdout

    def expect(self, status, phrase, source, answer, *options):
        got, printed = self.run_tool(source, answer, *options)
        self.assertEqual(got, status, printed)
        self.assertIn(phrase, printed)
        return printed

    def reports(self, *races, **more):
        return {"races": list(races), **more}

    def test_as_labelled(self):
        self.expect(0, "2/2 races", RACY, self.reports(FIRST, SECOND), "--verbose")
        self.expect(0, "1+2 runs", RACY, self.reports(FIRST, SECOND), "--verbose")
        self.expect(0, "2+2 runs", RACY, {"1": self.reports(FIRST), "default": self.reports(SECOND)}, "--verbose")
        self.expect(0, "clean", CLEAN, self.reports(), "--verbose")

    def test_missed(self):
        printed = self.expect(1, "missed: RACE 2", RACY, self.reports(FIRST))
        self.assertNotIn("missed: RACE 1", printed)
        self.expect(0, "1/2 races", RACY, self.reports(FIRST), "--missed-ok", "--verbose")

    def test_false(self):
        for wrong in (race("read-write race", "shared", 6, 8), race("read-write race", "global", 6, 4),
                      race("write-write race", "shared", 6, 4), race("read-write race", "shared", 6, 6),
                      race("read-write race", "shared", 6, access(4, "y.cu")), race("same-value write", "global", 7, 7),
                      race("read-write race", "shared", 6, {"kind": "copy", "file": None, "line": None}),
                      race("read-write race", "shared", 6)):
            self.expect(1, "false: ", RACY, self.reports(FIRST, SECOND, wrong))

    def test_false_in_the_twin(self):
        self.expect(1, "false: twin: ", RACY, self.reports(FIRST, SECOND, twin=self.reports(FIRST)))
        self.expect(1, "false: ", CLEAN, self.reports(FIRST))

    def test_bad_runs(self):
        self.expect(1, "did not print PASS", RACY, self.reports(FIRST, SECOND, twin=self.reports(prints="x: FAIL")))
        self.expect(1, "exit status 1", RACY, self.reports(FIRST, SECOND, twin=self.reports(status=1)))
        self.expect(1, "verdict 'inconclusive'", CLEAN, self.reports(verdict="inconclusive"))

    def test_one_side(self):
        one = [race("clobbered read", "shared", 6), race("lost update", "global", access(7))]
        self.expect(0, "2/2 races", RACY, self.reports(*one), "--engine", "collider", "--verbose")
        self.expect(1, "false: ", RACY, self.reports(race("clobbered read", "global", 8)), "--engine", "collider")

    def test_inlined_and_host(self):
        deep = access(9, "atomic.h", inlined_at=[{"file": "/a/x.cu", "line": 4}, {"file": "x.cu", "line": 99}])
        self.expect(0, "2/2 races", RACY, self.reports(race("read-write race", "shared", 6, deep), SECOND), "--verbose")
        copy = {"kind": "copy", "file": None, "line": None, "inlined_at": [], "launch": None}
        source = "// RACE 1: read-write race, global, can-overlap, with copy -- because\nx; // SIDE 1\ny; // FIX\n"
        self.expect(0, "1/1 races", source, self.reports(race("read-write race", "global", copy, 2)), "--verbose")
        self.expect(1, "false: ", source, self.reports(race("read-write race", "global", 2, 2)))

    def test_scope_and_options(self):
        source = "// RACE 1: insufficient scope, global, can-overlap, scope cta -- because\nx; // SIDE 1\ny; // FIX\n"
        self.expect(0, "1/1", source, self.reports(race("insufficient scope", "global", access(2, scope="cta"), 2)), "--verbose")
        self.expect(1, "false", source, self.reports(race("insufficient scope", "global", access(2, scope="gpu"), 2)))
        source = source.replace("scope cta", "options --volatile yes")
        self.expect(1, "false", source, self.reports(race("insufficient scope", "global", 2, 2)))

    def test_misuse(self):
        source = "// MISUSE 1: mixed-size race -- any word of the tables\nx; // SIDE 1\ny; // FIX\n"
        wrong = {"class": "mixed-size race", "file": "intrinsics.h", "line": 7, "inlined_at": {"file": "a/x.cu", "line": 2}}
        self.expect(0, "1/1 races", source, self.reports(misuses=[wrong]), "--verbose")
        self.expect(1, "missed: MISUSE 1", source, self.reports())
        self.expect(1, "false: ", source, self.reports(misuses=[wrong, {**wrong, "class": "proxy race"}]))
        self.expect(1, "false: twin: ", source, self.reports(misuses=[wrong], twin=self.reports(misuses=[wrong])))
        self.expect(1, "false: ", CLEAN, self.reports(misuses=[wrong]))

    def test_rates_and_json(self):
        answer = {"1": self.reports(FIRST), "default": self.reports(SECOND)}
        self.expect(0, "50.0%", RACY, answer, "--rates")
        status, printed = self.run_tool(RACY, answer, "--rates", "--json")
        result = json.loads(printed)
        self.assertEqual((status, result["programs"][0]["hits"]), (0, {"1": 1, "2": 2}))
        self.assertEqual(result["families"]["subtle"]["found"], 2)

    def test_bad_labels(self):
        for change, phrase in ((("read-write race,", "read-wrote race,"), "x.cu:2: no such class: 'read-wrote race'"),
                               (("shared,", "local,"), "x.cu:2: the space is one of"),
                               (("can-overlap", "overlaps"), "x.cu:2: the order is one of"),
                               ((" -- because", ""), "x.cu:2: RACE without"),
                               (("launches 1 and 2", "launches 1, 2"), "x.cu:3: not understood: 'launches 1'"),
                               (("SIDE 2", "SIDE 3"), "x.cu:7: SIDE 3, but no RACE 3 above"),
                               ((" // SIDE 2", ""), "x.cu:3: RACE 2 has no line"),
                               (("RACE 2", "RACE 1"), "x.cu:3: RACE 1 is there twice"),
                               (("// RACE 2", "// RECE 2"), "x.cu:3: no such header: RECE"),
                               (("SIDE 2", "SIDE 2, NEVER"), "x.cu:7: SIDE and NEVER"),
                               (("// A racy program.", "// CLEAN -- no"), "x.cu:1: a program has RACE"),
                               (("// FIX", ""), "x.cu:1: a racy program has a repaired twin"),
                               (("// A racy program.", "// SEEDS: 50"), "x.cu:1: SEEDS: n -- why")):
            source = RACY.replace(*change, 1)
            if "twin" in phrase:
                source = source.replace("if (fixed) ", "")
            self.expect(2, phrase, source, self.reports())

    def test_docs(self):
        with tempfile.TemporaryDirectory() as folder:
            page = os.path.join(folder, "page.md")
            self.expect(0, "wrote", RACY, self.reports(FIRST, SECOND), "--update-docs", "--docs", page)
            with open(page, encoding="utf-8") as file:
                text = file.read()
            self.assertIn("clean program with 2.", text)
            self.assertRegex(text, re.escape("| `subtle` | 2 | 2 | 0 | 0 | 2 | 0 | 0 | 1 | 1 |"))
            self.expect(0, "counts what is there", RACY, {}, "--check-docs", "--docs", page)
            self.expect(1, "does not count", CLEAN, {}, "--check-docs", "--docs", page)


if __name__ == "__main__":
    unittest.main()

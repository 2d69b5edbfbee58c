#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests gpurace-corpus: it must accept what the labels say, object to everything else, and refuse labels that are wrong."""
import contextlib
import importlib.machinery
import importlib.util
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
import xml.etree.ElementTree

import corpus
import detection
import detection_plot
import fake_gpurace
import findable
from judge import Result
from truth import read

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
    return {"kind": "load", "file": file, "line": line, "launch": 1, "scope": None, **more}


def race(kind, space, *accesses, engine="exact", evidence="unordered by causality"):
    kinds = ("load", "store")
    return {"class": kind, "space": space, "count": 1,
            "accesses": [a if isinstance(a, dict) else access(a, kind=k) for a, k in zip(accesses, kinds)],
            "engine": engine, "evidence": evidence}


def seen(kind, space, *accesses, evidence="value changed"):
    return race(kind, space, *accesses, engine="collider", evidence=evidence)


FIRST = race("read-write race", "shared", 6, 4)
SECOND = race("same-value write", "global", access(7, kind="store", launch=2), 7)
SIDES = "# comment\nsubtle/x\t1\tread-write race\tweak load\tweak store\nsubtle/x\t2\tsame-value write\tweak store\tweak store\n"


def load_tool():
    loader = importlib.machinery.SourceFileLoader("gpurace_corpus", os.path.join(HERE, "gpurace-corpus"))
    tool = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(tool)
    return tool


sys.dont_write_bytecode = True  # beside the sources
TOOL = load_tool()


class Tool(unittest.TestCase):
    def run_tool(self, source, answer, *options):
        with tempfile.TemporaryDirectory() as folder:
            os.mkdir(os.path.join(folder, "subtle"))
            path = os.path.join(folder, "subtle", "x")
            for file, text in ((os.path.join(folder, "sides.tsv"), SIDES), (path + ".cu", source), (path, "#!/bin/true\n"), (path + ".answer", json.dumps(answer))):
                with open(file, "w", encoding="utf-8") as out:
                    out.write(text)
            os.chmod(path, 0o755)
            return self.call(["--gpurace", os.path.join(HERE, "fake_gpurace.py"), "--programs", folder, "--sources", folder,
                              "--schema", "", "--docs", folder, "--seeds", "1..3", "--twin-seeds", "1..2", *options])

    def call(self, arguments):
        """Exit status and output, of the same process; test_as_a_command has others."""
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed), \
             unittest.mock.patch("truth.subprocess.run", fake_gpurace.run):
            try:
                status = TOOL.main(arguments)
            except SystemExit as end:
                status = end.code
                if isinstance(status, str):
                    print(status)
                    status = 1
        return status, printed.getvalue()

    def expect(self, status, phrase, source, answer, *options):
        got, printed = self.run_tool(source, answer, *options)
        self.assertEqual(got, status, printed)
        self.assertIn(phrase, printed)
        return printed

    def reports(self, *races, **more):
        return {"races": list(races), **more}

class AsACommand(Tool):
    def call(self, arguments):
        done = subprocess.run([sys.executable, os.path.join(HERE, "gpurace-corpus"), *arguments], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        return done.returncode, done.stdout

    def test_as_a_command(self):
        self.expect(0, "2/2 races", RACY, self.reports(FIRST, SECOND), "--verbose")
        self.expect(1, "missed", RACY, self.reports(FIRST), "--verbose")
        self.expect(2, "error", RACY, self.reports(FIRST), "--no-such-option")


class Labels(Tool):
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
        stopped = self.reports(FIRST, SECOND, verdict="inconclusive", reasons=["kernel k was stopped: timeout: x"], status=2)
        self.expect(0, "1+2 runs, 1 hung", RACY, {**stopped, "twin": self.reports()}, "--verbose")
        self.expect(1, "exit status 2", RACY, {**stopped, "twin": {**stopped, "races": []}})

    def test_one_side(self):
        one = [seen("clobbered read", "shared", 6), seen("lost update", "global", access(7))]
        self.expect(0, "2/2 races", RACY, self.reports(*one), "--engine", "collider", "--verbose")
        for wrong in (seen("clobbered read", "global", 8), seen("clobbered read", "global", 6), seen("read-write race", "shared", 6)):
            self.expect(1, "false: ", RACY, self.reports(wrong), "--engine", "collider")

    def test_both_sides_of_the_collider(self):
        changed, watched = seen("clobbered read", "shared", 6, 4), seen("read-write race", "shared", 6, 4, evidence="both")
        self.expect(0, "1/2 races", RACY, self.reports(changed), "--engine", "collider", "--verbose", "--missed-ok")
        printed = self.expect(0, "1/2 races", RACY, self.reports(changed, watched), "--engine", "collider", "--verbose", "--missed-ok")
        self.assertIn("evidence: both: 3, value changed: 3", printed)
        for wrong in (seen("clobbered read", "shared", 6, 7), seen("clobbered read", "shared", 6, 6),
                      seen("write-write race", "shared", 6, 4)):
            self.expect(1, "false: ", RACY, self.reports(wrong), "--engine", "collider")

    def test_sides(self):
        self.expect(0, "", RACY, self.reports(FIRST, SECOND), "--check-sides")
        strong = race("read-write race", "shared", access(6, scope="cta"), 4)
        self.expect(1, "x RACE 1: read-write race, cta load and weak store", RACY, self.reports(strong, SECOND), "--check-sides")
        with tempfile.TemporaryDirectory() as folder:
            self.expect(0, "wrote sides.tsv", RACY, self.reports(FIRST, SECOND), "--update-sides", "--docs", folder)

    def test_a_seed_counts_once(self):
        result = Result(None, {1}, {1})
        for seed in (1, 2, 1):  # the second time with other options
            result.add({}, 1, seed)
        self.assertEqual(result.hits, {1: [1, 2]})

    def test_confirmed(self):
        confirmed = {**seen("clobbered read", "shared", 6), "witness": FIRST}
        both = ("--engine", "collider+exact", "--missed-ok", "--verbose")
        self.expect(0, "1/2 races", RACY, self.reports(confirmed, SECOND), *both)
        self.expect(0, "1/2 races", RACY, self.reports(confirmed, SECOND), "--engine", "exact+collider", *both[2:])
        self.expect(1, "0/2 races", RACY, self.reports(FIRST), *both)
        self.expect(1, "false: NOT CONFIRMED", RACY, self.reports(confirmed, {**confirmed, "witness": None}), *both)

    def test_share_of_what_can_be_found(self):
        enough = ("--engine", "collider", "--at-least", "99")
        one = self.reports(seen("clobbered read", "shared", 6))
        self.expect(0, "1 of the 1 races that can be found", RACY, one, *enough)
        self.expect(1, "found, though it cannot be: subtle/x RACE 2", RACY, self.reports(seen("lost update", "global", access(7, launch=2), 7)), *enough)
        self.expect(1, "not found: subtle/x RACE 1, line 4 and 6", RACY, self.reports(), *enough)

    def test_what_an_engine_cannot_find_is_not_missed(self):
        one = self.reports(seen("clobbered read", "shared", 6))
        for device in "cpu", "gpu":
            self.expect(0, "1/2 races", RACY, one, "--engine", "collider", "--device", device, "--verbose")
            printed = self.expect(1, "missed: RACE 1", RACY, self.reports(), "--engine", "collider", "--device", device)
            self.assertNotIn("missed: RACE 2", printed)
        two = "// DEVICES: 2\n" + CLEAN
        self.expect(0, "left out, for want of GPUs: subtle/x", two, one, "--engine", "collider", "--device", "gpu")
        self.expect(1, "false: ", two, one, "--engine", "collider", "--device", "gpu", "--gpus", "2")
        self.expect(1, "--device gpu --seed 1 ", CLEAN, one, "--engine", "collider", "--device", "gpu")
        host = "// RACE 1: read-write race, global, can-overlap, with host -- because\nx; // SIDE 1\ny; // FIX\n"
        self.expect(1, "missed: RACE 1", host, self.reports())
        self.expect(0, "0/1 races", host, self.reports(), "--engine", "blind to the host", "--verbose")
        self.expect(1, "missed: RACE 1", host.replace(", with host", ""), self.reports(), "--engine", "blind to the host")
        self.expect(0, "0/0 races", host.replace("with host", "options --volatile yes"), self.reports(), "--engine", "blind to the host", "--verbose")

    def test_an_engine_without_a_rule(self):
        other = race("another outcome", "shared", 6, engine="unheard of")
        printed = self.expect(0, "1/2 races", RACY, self.reports(other), "--engine", "unheard of", "--device", "gpu", "--verbose")
        self.assertNotIn("missed:", printed)
        self.expect(1, "false: ", RACY, self.reports(race("another outcome", "shared", 8, engine="unheard of")), "--engine", "unheard of")
        self.expect(2, "findable.py has no rule for what unheard of can do", RACY, {}, "--engine", "unheard of", "--at-least", "1")

    def test_engines_that_cannot_be(self):
        self.expect(2, "has no engine 'exacter'; it has collider, exact", RACY, {}, "--engine", "exacter")
        self.expect(2, "has no engine 'collider+'", RACY, {}, "--engine", "collider+")
        self.expect(2, "none finds no races", RACY, {}, "--engine", "none")
        self.expect(2, "reader needs no run", RACY, {}, "--engine", "reader")
        for name in "exact", "collider+exact":
            self.expect(2, "exact does not run on this device: gpu", RACY, {}, "--engine", name, "--device", "gpu")

    def test_runs_that_share_a_file(self):
        remembered = ("--engine", "collider", "--schedule", "remembered", "--missed-ok", "--seeds", "1..10")
        one = self.reports(seen("clobbered read", "shared", 6))
        late = {"3 with file": one, "default": self.reports()}  # any file that is used for the third time
        printed = self.expect(0, "within 2 runs:    0.0 of the 1 races that can be found (0.0 %)", RACY, {**late, "twin": self.reports()}, *remembered, "--rates")
        self.assertIn("within 3 runs:    1.0 of the 1 races that can be found (100.0 %)", printed)
        once = {**late, "3 with file": {"8": one, "default": self.reports()}, "twin": self.reports()}
        printed = self.expect(0, "within 5 runs:    0.5 of the 1 races that can be found (50.0 %)", RACY, once, *remembered, "--rates", "--verbose")
        self.assertIn("x RACE 1: found by 1 of 2 groups, 03", printed)
        self.expect(0, "10+2 runs", RACY, once, *remembered, "--rates", "--verbose")
        self.expect(0, "8+2 runs", RACY, once, *remembered, "--verbose")  # each group ends when all was found that can be
        self.expect(0, "0.5 of the 1 races that can be found (50.00 %, at least 50 %)", RACY, once, *remembered, "--at-least", "50")
        self.expect(1, "0.5 of the 1 races that can be found (50.00 %, at least 51 %)", RACY, once, *remembered, "--at-least", "51")
        self.assertEqual(json.loads(self.run_tool(RACY, once, *remembered, "--json")[1])["programs"][0]["first"], {"1": [0, 3], "2": [0, 0]})
        self.expect(0, "10+2 runs", RACY, {**once, "8 with file": {"races": 3}}, *remembered, "--rates", "--verbose")  # none is used that often

    def test_twins_that_share_a_file(self):
        remembered = ("--engine", "collider", "--schedule", "remembered", "--missed-ok", "--seeds", "1..5")
        silent = {"default": self.reports(), "twin": {"3 with file": self.reports(FIRST), "default": self.reports()}}
        self.expect(0, "5+2 runs", RACY, silent, *remembered, "--verbose")
        self.expect(1, "false: twin: ", RACY, silent, *remembered, "--twin-seeds", "1..3")
        printed = self.expect(1, "(after the seeds 1, 2, with the same file)", RACY, silent, *remembered, "--twin-seeds", "1..4")
        self.assertIn("in 1 runs", printed)
        self.expect(1, "false: ", CLEAN, silent["twin"], *remembered, "--twin-seeds", "1..3")

    def test_what_sharing_needs(self):
        self.expect(2, "groups of 5 seeds", RACY, {}, "--engine", "collider", "--schedule", "remembered")
        self.expect(2, "is for engines that heed --coverage and --aim", RACY, {}, "--schedule", "remembered", "--seeds", "1..5")
        self.expect(2, "groups of 5 seeds", RACY, {}, "--update-detection")

    def test_inlined_and_host(self):
        deep = access(9, "atomic.h", frames=[{"file": "atomic.h", "line": 9}, {"file": "/a/x.cu", "line": 4}, {"file": "x.cu", "line": 99}])
        self.expect(0, "2/2 races", RACY, self.reports(race("read-write race", "shared", 6, deep), SECOND), "--verbose")
        copy = {"kind": "copy", "file": None, "line": None, "launch": None}
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
        wrong = {"class": "mixed-size race", "engine": "exact", "file": "a/x.cu", "line": 2,
                 "frames": [{"file": "intrinsics.h", "line": 7}, {"file": "a/x.cu", "line": 2}]}
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
            at = lambda name: os.path.join(folder, name)
            self.expect(0, "wrote corpus.md", RACY, self.reports(FIRST, SECOND), "--update-docs", "--docs", folder)
            self.assertIn("clean program with 2.", read(at("corpus.md")))
            self.assertRegex(read(at("corpus.md")), re.escape("| `subtle` | 2 | 2 | 0 | 0 |"))
            columns = [f"`{name}`, {device}" for name, device in (("collider", "CPU device"), ("collider", "GPU"), ("exact", "CPU device"),
                       ("blind to the host", "CPU device"), ("blind to the host", "GPU"), ("keeper", "CPU device"), ("keeper", "GPU"))]
            self.assertIn(" | ".join(["| family | labelled", *columns]) + " |\n|---|---|---|---|---|---|---|---|---|\n"
                          "| `subtle` | 2 in 1 | 1 in 1 | 1 in 1 | 2 in 1 | 2 in 1 | 2 in 1 | 2 in 1 | 1 in 1 |\n", read(at("corpus.md")))
            found = self.reports(seen("clobbered read", "shared", 6))
            answer = {"1": found, "default": self.reports(), "twin": self.reports()}
            self.expect(0, "wrote detection.md", RACY, answer, "--update-detection", "--docs", folder, "--seeds", "1..10")
            self.assertIn("default\tsubtle/x\t1\t1\tvalue changed: 1\n", read(at("detection.tsv")))
            self.assertIn("#! remembered groups=2 runs=5 twin_runs=2 reports=1 two_sided=0 false=0\n", read(at("detection.tsv")))
            self.assertIn("remembered\tsubtle/x\t1\t10\tvalue changed: 1\n", read(at("detection.tsv")))
            self.assertIn("| 10 % | 20 % | 50 % | 100 % | 1 of 1 | 2 | 0 |", read(at("detection.md")))
            self.assertIn("| `directed`, each run alone | 10 % | 20 % | 30 % | 40 % | 50 % |\n"
                          "| `directed`, runs with one file | 50 % | 50 % | 50 % | 50 % | 50 % |\n", read(at("detection.md")))
            self.assertIn("| subtle/x | 1 | read-write race, line 4 and 6 | 50 % | 50 % | 10 |\n", read(at("detection.md")))
            self.assertIn("| no schedule makes the accesses overlap (*missing-order*) | 1 | subtle/x (2) |", read(at("detection.md")))
            xml.etree.ElementTree.parse(at("detection.svg"))
            self.expect(0, "fits what is there", RACY, {}, "--check-docs", "--docs", folder)
            self.expect(1, "does not count", CLEAN, {}, "--check-docs", "--docs", folder)
            with open(at("detection.svg"), "a", encoding="utf-8") as file:
                file.write("<!-- -->")
            self.expect(1, "detection.svg is not made of", RACY, {}, "--check-docs", "--docs", folder)
            measured = read(at("corpus.md")).partition("## What does exact find?")[2]
            with open(at("corpus.md"), "w", encoding="utf-8") as file:
                file.write(f"\n## What does exact find?{measured}")
            self.expect(1, "does not count", RACY, {}, "--check-docs", "--docs", folder)
            self.expect(0, "wrote detection.md", RACY, {}, "--redraw", "--docs", folder)
            self.assertTrue(read(at("corpus.md")).endswith(f"\n\n## What does exact find?{measured}"))
            self.expect(0, "fits what is there", RACY, {}, "--check-docs", "--docs", folder)
            again = RACY.replace("// RACE 2", "// RACE 3: read-write race, shared, can-overlap -- too\n// RACE 2").replace("SIDE 2", "SIDE 2 3")
            self.expect(1, "does not have the races that are labelled (default, random, pct, directed, remembered)", again, {}, "--redraw", "--docs", folder)
            answer = {"5 with file": found, "default": self.reports(), "twin": self.reports()}
            before = read(at("detection.tsv")).replace("remembered\tsubtle/x\t1\t10\t", "remembered\tsubtle/x\t1\t55\t")
            alone = ("--update-detection", "--schedule", "remembered", "--docs", folder, "--seeds", "1..10")
            self.expect(0, "remembered: 0 false reports", RACY, answer, *alone)
            self.assertEqual(re.sub("(reports=|changed: )2", r"\g<1>1", read(at("detection.tsv"))), before)  # of the others, everything is kept
            self.assertIn("1 of the 1 races were found within 5 runs by every group.\n", read(at("detection.md")))
            self.expect(0, "fits what is there", RACY, {}, "--check-docs", "--docs", folder)


class Derived(unittest.TestCase):
    def test_what_can_be_found(self):
        for race_class, sides, watch, value in (
                ("read-write race", ("weak load", "weak store"), True, True),
                ("write-write race", ("gpu atomic", "weak store"), True, True),
                ("same-value write", ("weak store", "weak store"), True, False),
                ("read-write race", ("volatile load", "weak store"), True, False),
                ("read-write race", ("copy", "weak store"), True, False),
                ("write-write race", ("copy", "weak store"), True, True),
                ("read-write race", ("copy", "weak load"), True, True),
                ("read-write race", ("host read", "weak store"), True, False),
                ("insufficient scope", ("cta atomic", "gpu atomic"), False, False),
                ("speculated load", ("weak load discarded", "weak store"), False, False),
                ("read-write race", ("copy", "host write"), False, False)):
            for order in (sides, sides[::-1]):
                reasons = findable.of_pair(race_class, order)
                self.assertEqual(tuple(not r for r in reasons), (watch, value), (race_class, order, reasons))

    def test_a_race_of_several_pairs(self):
        race_of = lambda order: corpus.Race(1, 1, order=order)
        pairs = {("same-value write", "weak store", "weak store"), ("write-write race", "weak store", "weak store")}
        self.assertEqual(findable.of_race(race_of("can-overlap"), pairs), findable.Findable("", ""))
        self.assertTrue(findable.of_race(race_of("missing-order"), pairs).by_watch)
        self.assertEqual(findable.of_race(race_of("can-overlap"), ()).by_watch, findable.UNKNOWN)

    def test_beside_memory(self):
        weak, launches = ("read-write race", "weak load", "weak store"), lambda *n: corpus.Race(1, 1, launches=n)
        self.assertEqual(findable.beside_memory(launches(), [weak]), "")
        self.assertEqual(findable.beside_memory(launches(2), [weak]), "")
        self.assertEqual(findable.beside_memory(launches(1, 2), [weak]), "")
        self.assertEqual(findable.of_one_launch(launches(1, 2), [weak]), findable.TWO_LAUNCHES)
        self.assertEqual(findable.beside_memory(launches(), []), findable.UNKNOWN)
        self.assertEqual(findable.beside_memory(launches(), [("read-write race", "asynchronous load", "cta atomic")]), "")
        for side in ("copy", "memset", "free"):
            pairs = [("read-write race", side, "weak load")]
            self.assertEqual(findable.beside_memory(launches(), pairs), "")
            self.assertIn(f"{side} and weak load", findable.of_one_launch(launches(), pairs))
        for sides, why in ((("copy", "copy"), "copy and copy"), (("free", "memset"), "free and memset"),
                           (("host read", "weak store"), "host read"),
                           (("weak load discarded", "weak store"), "does not use")):
            other = ("read-write race", *sides)
            self.assertIn(why, findable.beside_memory(launches(), [other]))
            self.assertEqual(findable.beside_memory(launches(), [other, weak]), "")  # one of the ways in which it shows

    def test_chance(self):
        self.assertEqual([detection.chance(h, 4, k) for h, k in ((0, 4), (4, 1), (1, 4), (1, 1), (2, 2))], [0, 1, 1, 0.25, 5 / 6])
        for seeds in ([], [3], [1, 2, 3], [1, 3, 4, 9]):
            self.assertEqual(detection.numbers_of(detection.ranges(seeds)), seeds)
        self.assertEqual(detection.ranges([1, 2, 3, 5]), "1-3,5")

    def test_labels_of_the_plot_stand_apart(self):
        places = sorted(detection_plot.label_places({"a": 100, "b": 101, "c": 400, "d": 100}).values())
        self.assertTrue(all(b - a >= 30 for a, b in zip(places, places[1:])))


if __name__ == "__main__":
    unittest.main()

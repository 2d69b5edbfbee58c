#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`gpurace report`: reports that are read and merged, of small programs: convert.py GPURACE FOLDER SCHEMA [TEST ...]"""
import json
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from gpurace_reports import Reports, check_schema, gpurace  # noqa: E402


class RoundTrip(Reports):
    """A report that is read is the one that was written."""

    def check(self, program, *args, options):
        text = self.run_program("a.json", program, *args, options=options)
        self.load("a.json")
        self.assertEqual(gpurace("report", "--format", "json", self.path("a.json")).stdout, self.read("a.json"))
        self.assertTrue(text.endswith(gpurace("report", self.path("a.json")).stdout))
        return self.load("a.json")

    def test_exact(self):
        report = self.check("one_cause", "instances", options=["--engine", "exact"])
        self.assertTrue(report["races"])

    def test_watched(self):
        report = self.check("two_occurrences", options=["--engine", "collider"])
        self.assertTrue([r for r in report["races"] if "noticed" in r])

    def test_witness(self):
        report = self.check("two_occurrences", options=["--engine", "collider+exact"])
        self.assertTrue([r for r in report["races"] if r.get("witness")])

    def test_replay(self):
        report = self.check("two_occurrences", options=["--engine", "collider", "--watchpoints", "no", "--attribute"])
        self.assertTrue([r for r in report["races"] if "replay" in r])

    def test_other_engines(self):
        for engine in ("tracker", "privatizer"):
            self.assertTrue(self.check("two_occurrences", options=["--engine", engine])["races"])

    def test_without_the_source(self):
        """The lines of source come with the report."""
        self.run_program("a.json", "two_occurrences")
        report = self.read("a.json").replace(os.path.dirname(os.path.abspath(__file__)), "/nowhere")
        with open(self.path("b.json"), "w", encoding="utf-8") as file:
            file.write(report)
        text = gpurace("report", self.path("b.json")).stdout
        self.assertRegex(text, r"\n  > +\d+ \| .*\n")


class Merge(Reports):
    def test_seeds(self):
        """The races of all runs, whatever the order; each with the runs that saw it."""
        seeds = ["1", "2", "3", "4"]
        for seed in seeds:
            self.run_program(f"{seed}.json", "two_occurrences", options=["--engine", "collider", "--seed", seed])
        files = [self.path(f"{seed}.json") for seed in seeds]
        merged = gpurace("report", "--format", "json", *files).stdout
        self.assertEqual(gpurace("report", "--format", "json", *reversed(files), *files).stdout, merged)
        report = json.loads(merged)
        check_schema(report)
        runs = {run["id"]: run["seed"] for run in report["runs"]}
        self.assertEqual(sorted(runs.values()), [1, 2, 3, 4])
        expected = {}
        for seed in seeds:
            for race in self.load(f"{seed}.json")["races"]:
                expected.setdefault(race["id"], {})[int(seed)] = race["count"]
        self.assertEqual({r["id"]: {runs[s["run"]]: s["count"] for s in r["seen_in"]} for r in report["races"]}, expected)
        for race in report["races"]:
            self.assertEqual(race["count"], sum(s["count"] for s in race["seen_in"]))
        text = gpurace("report", *files).stdout
        self.assertIn("verdict: races", text)
        self.assertRegex(text, r"\n    seen in \d of 4 runs, the first with seed 1\n")
        self.assertIn("\n  runs      4, seeds 1 to 4", text)

    def test_runs_of_a_cause(self):
        """Two runs that saw one race each of a cause both saw the cause."""
        self.run_program("a.json", "mistakes", "count", options=["--engine", "exact"])
        report = self.load("a.json")
        self.assertEqual(len(report["causes"]), 1)
        self.assertGreater(len(report["races"]), 1)
        shown = next(race for race in report["races"] if race["id"] == report["causes"][0]["shown"])
        for seed, races in ((3, [race for race in report["races"] if race is not shown]), (7, [shown])):
            self.save(dict(report, races=races, seed=seed, reproduce=f"again with {seed}"), f"{seed}.json")
        files = [self.path("3.json"), self.path("7.json")]
        merged = json.loads(gpurace("report", "--format", "json", *files).stdout)
        check_schema(merged)
        cause, = merged["causes"]
        seeds = {run["id"]: run["seed"] for run in merged["runs"]}
        self.assertEqual([seeds[seen["run"]] for seen in cause["seen_in"]], [3, 7])
        self.assertEqual(sum(seen["count"] for seen in cause["seen_in"]), cause["count"])
        self.assertEqual(cause["shown"], shown["id"])
        self.assertIn("\n    seen in 2 of 2 runs, the first with seed 3\n    again: again with 7\n", gpurace("report", *files).stdout)

    def test_causes_are_no_part_of_a_run(self):
        """A report that names its causes otherwise, or none, is of the same run."""
        self.run_program("a.json", "mistakes", "count", options=["--engine", "exact"])
        report = self.load("a.json")
        self.save(dict(report, causes=[dict(cause, id="0" * 16) for cause in report["causes"]]), "b.json")
        self.save({key: value for key, value in report.items() if key not in ("causes", "format")}, "c.json")
        for other in "bc":
            self.assertEqual(gpurace("report", "--format", "json", self.path("a.json"), self.path(other + ".json")).stdout, self.read("a.json"))

    def test_ids_over_seeds(self):
        """exact tells the same races by the same ids, whichever thread noticed first."""
        ids = set()
        for seed in range(1, 6):
            self.run_program("a.json", "one_cause", "instances", options=["--engine", "exact", "--seed", str(seed)])
            ids.add(tuple(sorted((r["id"], r["line_id"]) for r in self.load("a.json")["races"])))
        self.assertEqual(len(ids), 1, ids)


class OtherBuilds(Reports):
    """Ids over builds: what a module is made of may move, in the source and in the PTX."""

    def ids(self, folder, before, key="id"):
        """Of a kernel whose source stands in `folder`, with `before` lines above it in the source and as many instructions in the PTX."""
        source = self.path(os.path.join(folder, "x.cu"))
        os.makedirs(os.path.dirname(source), exist_ok=True)
        with open(source, "w", encoding="utf-8") as file:
            file.write("// a line\n" * before + "__global__ void k(int *p) {\n    p[0] = threadIdx.x;\n    p[1] = p[0] + 1;\n}\n")
        with open(self.path("k.ptx"), "w", encoding="utf-8") as file:
            file.write(f'.version 8.0\n.target sm_90\n.address_size 64\n.file 1 "{source}"\n.visible .entry k(.param .u64 p) {{\n'
                       ".reg .b64 %a; .reg .b32 %r<4>;\n" + "mov.u32 %r3, 1;\n" * before + "ld.param.u64 %a, [p]; mov.u32 %r0, %tid.x;\n"
                       f".loc 1 {before + 2} 5\nst.global.u32 [%a], %r0;\n.loc 1 {before + 3} 5\nld.global.u32 %r1, [%a];\n"
                       "st.global.u32 [%a+4], %r1;\nret;\n}\n")
        self.run_program("a.json", "launch_ptx", self.path("k.ptx"), options=["--engine", "exact"])
        return {(r["class"], r[key]) for r in self.load("a.json")["races"]}

    def test_ids(self):
        ids = self.ids("here", 0)
        self.assertGreaterEqual(len(ids), 2)
        self.assertEqual(self.ids("there", 0), ids)
        self.assertEqual(self.ids("here", 7), ids)
        self.assertFalse(self.ids("here", 0, "line_id") & self.ids("here", 7, "line_id"))


class BadInput(Reports):
    def test_none(self):
        self.assertIn("no report was given", gpurace("report", status=2).stderr)

    def test_no_json(self):
        with open(self.path("a"), "w", encoding="utf-8") as file:
            file.write('{"tool": ')
        self.assertRegex(gpurace("report", self.path("a"), status=1).stderr, r"/a:1:\d+: .*a report is JSON, as `gpurace run --format json`")

    def test_no_report(self):
        with open(self.path("a"), "w", encoding="utf-8") as file:
            file.write("[]")
        self.assertIn("it is no object: this is no report of gpurace's", gpurace("report", self.path("a"), status=1).stderr)

    def test_no_file(self):
        self.assertIn("/nonexistent", gpurace("report", "/nonexistent", status=1).stderr)

    def test_help(self):
        text = gpurace("report", "--help").stdout
        for word in ("--format", "--output", "--max-reports", "REPORT.json"):
            self.assertIn(word, text)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])

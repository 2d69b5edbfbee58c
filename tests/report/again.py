#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The line `again` of a report shows the same races: of single runs, campaigns and merged reports. again.py GPURACE FOLDER [TEST...]

Takes the line out of each form that has one, runs it by a shell, and looks for the races' ids."""
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

GPURACE, FOLDER = sys.argv[1:3]
PROGRAMS = ["reduction_race", "histogram_race", "bfs_race", "worklist_race", "struct_field_race", "transfer_race", "matmul_tile_race", "dot_race",
            "warp_reduce_race", "list_rank_race"]


class Case(unittest.TestCase):
    def setUp(self):
        top = tempfile.TemporaryDirectory(prefix="gpurace-test-")
        self.addCleanup(top.cleanup)
        self.top, self.env = top.name, {k: v for k, v in os.environ.items() if not k.startswith("GPURACE_")}

    def call(self, words, env=None):
        return subprocess.run(words, env={**self.env, **(env or {})}, cwd=self.top, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              check=False, timeout=300, shell=isinstance(words, str))

    def load(self, name):
        with open(os.path.join(self.top, name), encoding="utf-8") as file:
            return json.load(file)

    def run_as_json(self, *words, env=None):
        """The report of `gpurace words`, and the same as text."""
        done = self.call([GPURACE, words[0], "--format", "json", "--output", "r.json", *words[1:]], env)
        self.assertTrue(os.path.exists(os.path.join(self.top, "r.json")), done.stderr)
        report = self.load("r.json")
        return report, self.call([GPURACE, "report", "r.json"]).stdout

    def ids_of(self, line, env=None):
        """What the command finds."""
        self.assertTrue(line.startswith("gpurace "), line)
        command, rest = re.fullmatch(r"gpurace (\w+) (.*)", line, re.DOTALL).groups()
        done = self.call(f"{shlex.quote(GPURACE)} {command} --format json --output again.json {rest}", env)
        self.assertTrue(os.path.exists(os.path.join(self.top, "again.json")), (line, done.stderr))
        report = self.load("again.json")
        os.remove(os.path.join(self.top, "again.json"))
        return ids(report)

    def page(self, name):
        self.call([GPURACE, "report", "--format", "html", "--output", "page.html", name])
        with open(os.path.join(self.top, "page.html"), encoding="utf-8") as file:
            return json.loads(re.search(r'<script type="application/json" id="report">(.*?)</script>', file.read(), re.DOTALL)[1])

    def check_single(self, *words, env=None, races=True):
        report, text = self.run_as_json(*words, env=env)
        line = re.search(r"^  again     (.*)$", text, re.MULTILINE)[1]
        self.assertEqual(line, report["reproduce"])
        self.assertTrue(not races or ids(report), words)
        self.assertEqual(self.ids_of(line), ids(report), line)
        return line

    def check_each(self, report, text, name):
        """Of a merged report: each race is shown by the line that stands beside it."""
        seen, lines = {}, set()
        page = {r["id"]: r["again"] for r in self.page(name)["races"]}
        runs = {run["id"]: run for run in report["runs"]}
        for race in report["races"]:
            for line in (page[race["id"]], runs[race["seen_in"][0]["run"]]["reproduce"]):
                lines.add(line)
                if line not in seen:
                    seen[line] = self.ids_of(line)
                self.assertIn(race["id"], seen[line], line)
        for line in re.findall(r"^    again: (.*)$", text, re.MULTILINE):
            self.assertIn(line, lines)
        self.assertGreater(len(seen), 0)
        whole = self.ids_of(report["reproduce"])
        self.assertTrue(whole and whole <= {r["id"] for r in report["races"] + report["misuses"]}, report["reproduce"])


def ids(report):
    return {r["id"] for r in report["races"] + report["misuses"]}


def program(name):
    return os.path.join(FOLDER, name)


class Single(Case):
    def test_engines(self):
        for k, name in enumerate(PROGRAMS):
            for engine in ("exact", "collider", "tracker", "privatizer", "collider+exact"):
                self.check_single("run", "--device", "cpu", "--engine", engine, "--seed", str(k + 2), "--", program(name), races=False)

    def test_options(self):
        for words in (["--schedule", "random"], ["--schedule", "pct", "--pct-depth", "2"], ["--shuffle-blocks"], ["--weak"], ["--same-value", "no"],
                      ["--engine", "collider", "--sample", "8"], ["--engine", "tracker", "--sample", "8"], ["--engine", "collider", "--watchpoints", "no"],
                      ["--engine", "collider", "--compile", "launched"], ["--kernel", "."], ["--timeout", "50"], ["--cpu-devices", "2"],
                      ["--engine", "collider", "--windows", "all", "--read-delay", "77"], ["--on-fault", "continue"]):
            for name in ("histogram_race", "bfs_race"):
                self.check_single("run", "--device", "cpu", *words, "--", program(name), races=False)

    def test_options_of_the_environment(self):
        line = self.check_single("run", "--device", "cpu", "--", program("bfs_race"), env={"GPURACE_OPTIONS": "seed=9 schedule=random"})
        self.assertIn("--seed 9 --schedule random", line)
        # In a shell where the variable is still set, which the command line overrode.
        env = {"GPURACE_OPTIONS": "schedule=random engine=collider same-value=no seed=4"}
        for name in PROGRAMS:
            report, _ = self.run_as_json("run", "--device", "cpu", "--engine", "exact", "--schedule", "auto", "--same-value", "yes", "--seed", "1", "--",
                                         program(name), env=env)
            self.assertEqual(self.ids_of(report["reproduce"], env), ids(report), report["reproduce"])

    def test_coverage(self):
        """What a run watched depended on a file that has changed since."""
        for engine, words in (("collider", ["--sample", "6"]), ("tracker", ["--sample", "6"]), ("collider", [])):
            for seed in range(1, 6):
                self.check_single("run", "--device", "cpu", "--engine", engine, "--seed", str(seed), "--coverage", f"{engine}{len(words)}.gpurace", *words,
                                  "--", program("worklist_race"), races=False)

    def test_words_of_the_program(self):
        odd = ["a b", "it's", "$HOME", "", "é", "*", "a\nb"]
        script = os.path.join(self.top, "a program.sh")
        with open(script, "w", encoding="utf-8") as file:
            file.write(f'#!/bin/sh\n[ "$#" = {len(odd)} ] && [ "$2" = "it\'s" ] && [ "$4" = "" ] && exec {program("histogram_race")}\n')
        os.chmod(script, 0o755)
        self.check_single("run", "--device", "cpu", "--", script, *odd)


class Merged(Case):
    def test_campaign(self):
        for name in ("bfs_race", "worklist_race", "transfer_race"):
            words = ["campaign", "--device", "cpu", "--seeds", "1..4", "--engines", "exact,collider", "--schedules", "auto,random", "--state", name]
            report, text = self.run_as_json(*words, "--", program(name))
            self.check_each(report, text, "r.json")

    def test_campaign_with_inputs_and_options(self):
        with open(os.path.join(self.top, "inputs"), "w", encoding="utf-8") as file:
            file.write("# none\nbfs_race\n'dot_race' \"x y\"\n")
        script = os.path.join(self.top, "pick.sh")
        with open(script, "w", encoding="utf-8") as file:
            file.write(f'#!/bin/sh\nexec {FOLDER}/"$1"\n')
        os.chmod(script, 0o755)
        report, text = self.run_as_json("campaign", "--device", "cpu", "--seeds", "3,5", "--inputs", "inputs", "--engines", "exact,tracker", "--shuffle-blocks",
                                        "--same-value", "no", "--", script)
        self.check_each(report, text, "r.json")

    def test_campaign_with_coverage(self):
        report, text = self.run_as_json("campaign", "--device", "cpu", "--seeds", "1..6", "--engine", "collider", "--coverage", "c.gpurace", "--sample", "6", "--jobs",
                                        "2", "--", program("worklist_race"))
        self.check_each(report, text, "r.json")

    def test_options_of_the_environment(self):
        report, text = self.run_as_json("campaign", "--seeds", "1..2", "--", program("bfs_race"), env={"GPURACE_OPTIONS": "device=cpu schedule=random weak=yes"})
        self.check_each(report, text, "r.json")

    def test_reports(self):
        names = []
        for k, (name, engine) in enumerate((("bfs_race", "exact"), ("bfs_race", "collider"), ("dot_race", "tracker"), ("transfer_race", "exact"))):
            self.run_as_json("run", "--device", "cpu", "--engine", engine, "--seed", str(k + 1), "--", program(name))
            names.append(f"{k}.json")
            os.rename(os.path.join(self.top, "r.json"), os.path.join(self.top, names[-1]))
        self.call([GPURACE, "report", "--format", "json", "--output", "all.json", *names])
        self.check_each(self.load("all.json"), self.call([GPURACE, "report", "all.json"]).stdout, "all.json")

    def test_first_run_without_races(self):
        """The privatizer does not see that race, and its run comes first: the line of the whole report is one that shows something."""
        for seed, engine in ((1, "privatizer"), (2, "exact")):
            self.run_as_json("run", "--device", "cpu", "--engine", engine, "--seed", str(seed), "--", program("streams_race"))
            os.rename(os.path.join(self.top, "r.json"), os.path.join(self.top, f"{seed}.json"))
        self.call([GPURACE, "report", "--format", "json", "--output", "all.json", "1.json", "2.json"])
        report = self.load("all.json")
        self.assertEqual([run["verdict"] for run in report["runs"]], ["clean", "races"])
        self.check_each(report, self.call([GPURACE, "report", "all.json"]).stdout, "all.json")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])

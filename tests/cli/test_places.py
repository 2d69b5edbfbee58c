#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Where a report says that things are, and where it goes: --path-map and --output. Usage: test_places.py GPURACE PROGRAM SOURCES"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

GPURACE, PROGRAM, SOURCES = sys.argv[1:4]


def call(*words, cwd=None):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("GPURACE_")}
    return subprocess.run([GPURACE, *words], env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=100, check=False, cwd=cwd)


def run(*options, kernels=("adds",), cwd=None):
    return call("run", "--device", "cpu", "--engine", "exact", *options, "--", PROGRAM, *kernels, cwd=cwd)


def files(report):
    return {f["file"] for r in report["races"] for a in r["accesses"] for f in a["frames"]}


class PathMap(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="gpurace-test-")
        self.there = os.path.join(self.folder, "moved")
        shutil.copytree(SOURCES, self.there)
        with open(os.path.join(self.there, "main.cu"), encoding="utf-8") as file:
            text = file.read()
        with open(os.path.join(self.there, "main.cu"), "w", encoding="utf-8") as file:
            file.write(re.sub("// RACE$", "// RACE moved", text, flags=re.M))

    def tearDown(self):
        shutil.rmtree(self.folder)

    def report(self, *options):
        return json.loads(run("--format", "json", *options, cwd=self.folder).stderr)

    def test_report_and_excerpt(self):
        self.assertEqual(files(self.report()), {os.path.join(SOURCES, "main.cu")})
        mapped = ["--path-map", f"{SOURCES}={self.there}"]
        self.assertEqual(files(self.report(*mapped)), {os.path.join(self.there, "main.cu")})
        text = run(*mapped, cwd=self.folder).stderr
        self.assertIn("// RACE moved", text)
        self.assertIn(f"{self.folder}/moved/main.cu:".replace(self.folder + "/", ""), text)
        self.assertNotIn(SOURCES + "/main.cu", re.sub(r"(?m)^  again.*", "", text))

    def test_whole_names_of_folders(self):
        half = SOURCES[:-2]
        self.assertEqual(files(self.report("--path-map", f"{half}=/x")), {os.path.join(SOURCES, "main.cu")})
        self.assertEqual(files(self.report("--path-map", f"{half}=/x,{SOURCES}/=/y/,{SOURCES}=/z")), {"/y/main.cu"})

    def test_selection_and_suppressions(self):
        mapped = ["--path-map", f"{SOURCES}=/there"]
        self.assertEqual(self.report(*mapped, "--file", "^/there/main")["verdict"], "races")
        self.assertEqual(self.report(*mapped, "--not-file", "^/there/")["races"], [])
        rules = os.path.join(self.folder, "rules")
        with open(rules, "w", encoding="utf-8") as file:
            file.write("file:^/there/main.cu$\n")
        self.assertEqual(self.report(*mapped, "--suppressions", rules)["races"], [])

    def test_repeated(self):
        report = self.report("--path-map", f"{SOURCES}=/there")
        self.assertIn(f"--path-map {SOURCES}=/there", report["reproduce"])

    def test_of_a_report(self):
        path = os.path.join(self.folder, "r.json")
        run("--format", "json", "--output", path)
        done = call("report", "--path-map", f"{SOURCES}=/there", "--format", "json", path)
        report = json.loads(done.stdout)
        self.assertEqual(files(report), {"/there/main.cu"})
        self.assertIn("/there/main.cu", report["sources"])
        again = call("report", "--path-map", f"{SOURCES}=/there", path, path).stdout
        self.assertIn("// RACE", again)

    def test_wrong(self):
        for word in ("nothing", "=there", "a=b,c"):
            done = run("--path-map", word)
            self.assertEqual(done.returncode, 2)
            self.assertIn("--path-map takes FROM=TO", done.stderr)


class Output(unittest.TestCase):
    def test_dash_is_standard_output(self):
        done = run("--format", "json", "--output", "-")
        report = json.loads(done.stdout[done.stdout.index("{"):])
        self.assertEqual(report["verdict"], "races")
        self.assertIn("gpurace: verdict: races (2)", done.stderr)
        self.assertNotIn("/dev/fd", done.stderr)
        self.assertEqual(done.returncode, 66)

    def test_dash_of_other_commands(self):
        with tempfile.TemporaryDirectory(prefix="gpurace-test-") as folder:
            path = os.path.join(folder, "r.json")
            run("--format", "json", "--output", path)
            for words in (["report", "--output", "-", path], ["diff", "--output", "-", path, path]):
                done = call(*words, cwd=folder)
                self.assertNotEqual(done.stdout, "")
                self.assertEqual(os.listdir(folder), ["r.json"])

    def test_dash_needs_one_format(self):
        done = run("--format", "json,text", "--output", "-")
        self.assertEqual(done.returncode, 2)
        self.assertIn("several formats need --output FOLDER", done.stderr)

    def test_number_of_the_process(self):
        with tempfile.TemporaryDirectory(prefix="gpurace-test-") as folder:
            for _ in range(2):
                done = run("--format", "json", "--output", os.path.join(folder, "r%p-100%%.json"))
                self.assertIn("the report is in", done.stderr)
            names = os.listdir(folder)
            self.assertEqual(len(names), 2)
            for name in names:
                self.assertRegex(name, r"^r\d+-100%\.json$")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])

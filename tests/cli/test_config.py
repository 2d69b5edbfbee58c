#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""gpurace.toml: where it is found, what it may say, what wins, and what is said about mistakes. Usage: test_config.py GPURACE PROGRAM SOURCES"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

GPURACE, PROGRAM, SOURCES = sys.argv[1:4]


class Config(unittest.TestCase):
    def setUp(self):
        self.folder = os.path.realpath(tempfile.mkdtemp(prefix="gpurace-test-"))
        self.below = os.path.join(self.folder, "a", "b")
        os.makedirs(self.below)
        os.mkdir(os.path.join(self.folder, ".git"))

    def tearDown(self):
        shutil.rmtree(self.folder)

    def write(self, text, *where):
        with open(os.path.join(self.folder, *where, "gpurace.toml"), "w", encoding="utf-8") as file:
            file.write(text)

    def call(self, *words, cwd=None, options=""):
        environment = {k: v for k, v in os.environ.items() if not k.startswith("GPURACE_")}
        return subprocess.run([GPURACE, *words], env={**environment, "GPURACE_OPTIONS": options}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=100, check=False, cwd=cwd or self.folder)

    def run_it(self, *options, kernels=("adds", "in_header"), **more):
        done = self.call("run", "--device", "cpu", "--format", "json", "--output", "-", *options, "--", PROGRAM, *kernels, **more)
        if "{" not in done.stdout:
            raise AssertionError(done)
        return json.loads(done.stdout[done.stdout.index("{"):])

    def refused(self, text, message, *words):
        self.write(text)
        done = self.call(*(words or ("run", "--device", "cpu", "--", PROGRAM, "adds")))
        self.assertEqual(done.returncode, 2, done)
        self.assertIn(message, done.stderr)

    def test_options_and_who_wins(self):
        self.write('seed = 7\nengine = "exact"\n[run]\nkernel = "adds"\n')
        report = self.run_it()
        self.assertEqual(report["seed"], 7)
        self.assertEqual(report["coverage"]["launches"]["unchecked"], 1)
        self.assertEqual(self.run_it(options="seed=8")["seed"], 8)
        self.assertEqual(self.run_it("--seed", "9", options="seed=8")["seed"], 9)
        self.assertEqual(self.run_it("--no-config")["seed"], 1)
        self.assertEqual(self.run_it(options="no-config")["seed"], 1)

    def test_reproduce(self):
        self.write('seed = 7\nkernel = "adds"\nonly-launches = ["1", "2..3"]\n')
        again = self.run_it()["reproduce"]
        for words in ("--seed 7", "--kernel adds", "--only-launches 1,2..3", "--no-config"):
            self.assertIn(words, again)
        self.assertNotIn("--no-config", self.run_it(cwd="/")["reproduce"])

    def test_where(self):
        self.write("seed = 7\n")
        self.assertEqual(self.run_it(cwd=self.below)["seed"], 7)
        self.write("seed = 8\n", "a")
        self.assertEqual(self.run_it(cwd=self.below)["seed"], 8)
        os.mkdir(os.path.join(self.below, ".git"))
        self.assertEqual(self.run_it(cwd=self.below)["seed"], 1)
        os.rmdir(os.path.join(self.below, ".git"))
        os.rmdir(os.path.join(self.folder, ".git"))
        self.assertEqual(self.run_it(cwd=self.below)["seed"], 1)
        self.assertEqual(self.run_it()["seed"], 7)

    def test_files_are_of_its_folder(self):
        with open(os.path.join(self.folder, "rules"), "w", encoding="utf-8") as file:
            file.write("race:adds\n")
        self.write('suppressions = "rules"\n')
        for cwd in (self.folder, self.below):
            report = self.run_it(kernels=("adds",), cwd=cwd)
            self.assertEqual(report["races"], [], cwd)
        self.assertIn(f"--suppressions {self.folder}/rules", report["reproduce"])

    def test_types(self):
        self.write('strict = true\nbundled-suppressions = false\nstop = false\nsample = 250\nformat = ["text"]\npath-map = ["/x=/y", "/z=/w"]\nvolatile = true\n')
        done = self.call("run", "--device", "cpu", "--engine", "collider", "--verbose", "--", PROGRAM, "adds")
        self.assertIn("gpurace: verdict: races", done.stderr)
        for word in ("--sample 250", "--path-map /x=/y,/z=/w", "--bundled-suppressions no", "--volatile yes"):
            self.assertIn(word, done.stderr)

    def test_other_commands(self):
        self.write('error-exitcode = 5\n[report]\nformat = "json"\n[check]\nexplain = true\n[coverage]\nformat = "json"\n')
        done = self.call("run", "--device", "cpu", "--output", "r.json", "--format", "json", "--", PROGRAM, "adds")
        self.assertEqual(done.returncode, 5)
        json.loads(self.call("report", "r.json").stdout)
        self.assertIn("no races", self.call("report", "--no-config", "r.json").stdout.replace("2 races", "no races"))

    def test_campaign(self):
        self.write('seed = 4\nkernel = "adds"\n[campaign]\nseeds = "3..4"\nstate = "here"\n')
        done = self.call("campaign", "--device", "cpu", "--format", "json", "--output", "-", "--kernel", "in_header", "--", PROGRAM, "adds", "in_header",
                         cwd=self.below)
        self.assertIn("{", done.stdout, done)
        report = json.loads(done.stdout[done.stdout.index("{"):])
        self.assertTrue(os.path.isdir(os.path.join(self.folder, "here")))
        self.assertEqual({r["seed"] for r in report["runs"]}, {3, 4})
        self.assertEqual({r["kernel"] for r in report["races"]}, {"in_header(int*)"})

    def test_mistakes(self):
        path = f"{self.folder}/gpurace.toml"
        self.refused("\nsede = 7\n", f"{path}:2:1: unknown option 'sede'; did you mean seed?")
        self.refused("seed = 7\n[rnu]\nseed = 3\n", f"{path}:2:2: [rnu]: there is no command 'rnu' with options; did you mean run?")
        self.refused("seed = \n", f"{path}:1:")
        self.refused("seed = \n", "this is no TOML: ")
        self.refused('seed = "7"\n', f"{path}:1:1: seed takes a whole number")
        self.refused("seed = -7\n", f"{path}:1:1: seed takes a number from 0 to")
        self.refused("stop = 3\n", f"{path}:1:1: stop takes true or false")
        self.refused("kernel = 3\n", f"{path}:1:1: kernel takes a text")
        self.refused('kernel = "a("\n', f"{path}:1:1: kernel: 'a(' is no regular expression")
        self.refused('device = "gup"\n', f"{path}:1:1: device takes one of auto|cpu|gpu, not 'gup'")
        self.refused("[run]\n[run.deep]\nseed = 1\n", "unknown option 'deep'")
        self.refused("[run]\nseeds = \"1..3\"\n", "unknown option 'seeds'")
        self.refused("[report]\nquiet = 3\n", "quiet takes true or false")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])

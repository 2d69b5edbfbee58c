#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The verdict and the races come out whatever happens to the report: test_survival.py GPURACE STUB_PROGRAM STUB_DIR SHIM

Memory that runs out and crashes while the report is written (fail_shim.c), files and streams that cannot be written.
"""
import os
import re
import subprocess
import sys
import tempfile
import unittest

GPURACE, PROGRAM, STUB_DIR, SHIM = sys.argv[1:5]
RACE = re.compile(r"data race: lost update in kernel race_it")


class Survival(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="gpurace-test-")
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def run_it(self, *options, fail=None, kernel="race_it", stderr=subprocess.PIPE, work=("sync",)):
        environment = {k: v for k, v in os.environ.items() if not k.startswith("GPURACE_")}
        environment.update(LD_LIBRARY_PATH=STUB_DIR, STUB_LOG=self.path("log"), TMPDIR=self.folder.name)
        if fail:
            environment.update(LD_PRELOAD=SHIM, GPURACE_TEST_FAIL=fail)
        return subprocess.run([GPURACE, "run", *options, "--", PROGRAM, "link", kernel, *work], env=environment,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=stderr, text=True, timeout=60, check=False)

    def expect_races(self, done, what):
        self.assertEqual(done.returncode, 66, f"{what}: {done.stderr}")
        self.assertRegex(done.stderr, r"gpurace: verdict: races \(1\)", what)
        self.assertRegex(done.stderr, RACE, what)

    def count(self, *options):
        """How often the full report allocates."""
        for n in (1 << k for k in range(5, 20)):
            if "short one" not in self.run_it(*options, fail=f"crash 3 {n}").stderr:
                return n // 2
        self.fail("the report never ends")

    def test_crash_in_the_full_report(self):
        most = self.count()
        for n in sorted({1, 2, 7, most // 4, most // 2, most}):
            done = self.run_it(fail=f"crash 3 {n}")
            self.expect_races(done, f"allocation {n}")
            self.assertIn("the full report could not be written (killed by signal 11 (Segmentation fault)); this is a short one",
                          done.stderr)

    def test_no_memory_in_the_full_report(self):
        for fail in ("null 3 1", "null 3 20", "nulls 3 1", "nulls 3 30", "nulls 3 60"):
            self.expect_races(self.run_it(fail=fail), fail)

    def test_json_falls_back_to_a_short_text(self):
        report = self.path("report.json")
        done = self.run_it("--format", "json", "--output", report, fail="crash 3 20")
        self.expect_races(done, "json")
        self.assertFalse(os.path.exists(report), "half a report looks like a whole one")

    def test_a_program_without_races_is_not_clean(self):
        done = self.run_it(fail="crash 3 9", kernel="quiet")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(done.stderr, r"gpurace: verdict: inconclusive\n(.*\n)*.*because   the full report could not be written")

    def test_both_reports_crash(self):
        done = self.run_it(fail="crash 0 1")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, "verdict: inconclusive\n  because   no report could be written: the full one was killed by "
                                      "signal 11 .*, a short one killed by signal 11")

    # ---- files and streams ----

    def test_output_is_tried_before_the_program_runs(self):
        for path in ("/nowhere/report", "/", self.path("absent/report")):
            done = self.run_it("--output", path)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(f"--output: cannot write {path}", done.stderr)
            self.assertFalse(os.path.exists(self.path("log")), "the program has run")

    def test_full_disk(self):
        for form in ("text", "json"):
            done = self.run_it("--format", form, "--output", "/dev/full")
            self.assertEqual(done.returncode, 66)
            self.assertIn("lost update", done.stderr)
            self.assertIn("race_it", done.stderr)
            self.assertIn("cannot write /dev/full: No space left on device; the report is above", done.stderr)
        self.assertEqual(self.run_it("--output", "/dev/full", kernel="quiet").returncode, 1)

    def test_folder_that_goes_away(self):
        os.mkdir(self.path("a"))
        report = self.path("a/report")
        script = self.path("program.sh")
        with open(script, "w", encoding="utf-8") as file:
            file.write(f"#!/bin/sh\nrm -rf {self.path('a')}\nexec {PROGRAM} link race_it sync\n")
        os.chmod(script, 0o755)
        environment = dict(os.environ, LD_LIBRARY_PATH=STUB_DIR, STUB_LOG=self.path("log"))
        done = subprocess.run([GPURACE, "run", "--output", report, "--", script], env=environment, capture_output=True, text=True,
                              check=False, timeout=60, stdin=subprocess.DEVNULL)
        self.expect_races(done, "the folder is gone")

    def test_file_in_a_folder_that_takes_no_names(self):
        report = self.path("fixed")
        os.symlink("/dev/stdout", report)
        done = self.run_it("--output", report)
        self.assertRegex(done.stdout, RACE)

    def test_no_empty_file_is_left(self):
        report = self.path("report")
        done = subprocess.run([GPURACE, "run", "--output", report, "--", "/bin/true"], capture_output=True, text=True, check=False,
                              env=dict(os.environ, LD_LIBRARY_PATH=STUB_DIR), timeout=60)
        self.assertEqual((done.returncode, os.path.exists(report)), (126, False), done.stderr)
        with open(report, "w", encoding="utf-8") as file:
            file.write("earlier")
        subprocess.run([GPURACE, "run", "--output", report, "--", "/bin/true"], capture_output=True, check=False, timeout=60)
        with open(report, encoding="utf-8") as file:
            self.assertEqual(file.read(), "earlier")

    def test_closed_and_full_streams(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            self.assertEqual(self.run_it(stderr=full).returncode, 66)
            self.assertEqual(self.run_it(stderr=full, kernel="quiet").returncode, 1)
        reader, writer = os.pipe()
        os.close(reader)
        self.assertEqual(self.run_it(stderr=writer).returncode, 66)
        self.assertEqual(self.run_it(stderr=writer, kernel="quiet").returncode, 1)
        os.close(writer)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[5:]])

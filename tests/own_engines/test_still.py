#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`gpurace check` with an engine of the tests' own that needs no run: test_still.py GPURACE PRODUCT DOCS"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import docs_of

GPURACE, PRODUCT, DOCS = sys.argv[1:4]
HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n.global .u32 flag;\n"
KERNEL = """.visible .entry {name}(.param .u64 p)
{{
.reg .u32 %r<3>; .reg .pred %p1; .reg .u64 %rd1;
mov.u32 %r1, %tid.x;
setp.eq.u32 %p1, %r1, 0;
{store}
ret;
}}
"""


def call(*words, gpurace=GPURACE):
    return subprocess.run([gpurace, *map(str, words)], capture_output=True, text=True, timeout=60)


class Check(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.racy = self.file("racy.ptx", KERNEL.format(name="racy", store="st.global.u32 [flag], %r1;"))
        self.clean = self.file("clean.ptx", KERNEL.format(name="clean", store="@%p1 st.global.u32 [flag], %r1;"))

    def tearDown(self):
        self.folder.cleanup()

    def file(self, name, text):
        path = pathlib.Path(self.folder.name, name)
        path.write_text(HEAD + text)
        return path

    def report(self, *words, status=0):
        done = call("check", "--format", "json", *words)
        self.assertEqual(done.returncode, status, done.stderr)
        return json.loads(done.stderr)

    def test_races(self):
        report = self.report(self.clean, self.racy, status=66)
        self.assertEqual((report["verdict"], report["engine"], report["device"]), ("races", "still", "none"))
        race, = report["races"]
        self.assertEqual((race["class"], race["kernel"], len(race["accesses"])), ("store by all threads", "racy", 2))
        self.assertEqual((race["accesses"][0]["file"], race["accesses"][0]["line"]), (str(self.racy), 10))
        docs_of.check(DOCS, report, "store by all threads")
        text = call("check", self.racy)
        self.assertEqual(text.returncode, 66)
        for part in ("store by all threads", "racy.ptx:10", "engine    still (read in the text), no run", "verdict: races (1)"):
            self.assertIn(part, text.stderr)

    def test_clean_and_open(self):
        self.assertEqual(self.report(self.clean)["verdict"], "clean")
        report = self.report(self.racy, "--", "racy")
        self.assertEqual((report["verdict"], report["reasons"]), ("inconclusive", ["kernel racy was left open"]))
        self.report(self.racy, "--strict", "--", "racy", status=67)
        self.assertEqual(self.report(self.file("empty.ptx", ""))["verdict"], "inconclusive")

    def test_command_line(self):
        for words in ((self.racy, "--error-exitcode", "9"), ("--error-exitcode=9", self.racy), ("--error-exitcode", "9", "--engine", "still", self.racy)):
            self.report(*words, status=9)
        out = pathlib.Path(self.folder.name, "report.json")
        done = call("check", self.racy, "--format", "json", "-o", out)
        self.assertEqual((done.returncode, json.loads(out.read_text())["verdict"]), (66, "races"))
        for words, part in (((), "no file was given"), ((self.racy, "--engine", "collider"), "no engine 'collider' checks files"),
                            ((self.racy, "--jobs", "2"), "unknown option '--jobs'"), (("--seed",), "needs a value")):
            done = call("check", *words)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(part, done.stderr)
        self.assertIn("still", call("check", "--help").stdout)

    def test_bad_files(self):
        """The others are looked at, and what they have comes first."""
        for path in (self.folder.name + "/nothing.ptx", self.file("broken.ptx", "entry oops("), self.folder.name):
            for words, status in (((self.clean,), 2), ((self.clean, "--strict"), 2), ((self.clean, "--strict", "no"), 2), ((self.racy,), 66), ((), 2)):
                done = call("check", path, *words)
                self.assertEqual(done.returncode, status, done.stderr)
                self.assertIn(str(path), done.stderr)
        report = self.report(self.clean, self.folder.name + "/nothing.ptx", status=2)
        self.assertEqual((report["verdict"], len(report["reasons"]), [k["name"] for k in report["coverage"]["kernels"]]), ("inconclusive", 1, ["clean"]))
        done = call("check", self.clean, self.folder.name, "--output", self.folder.name + "/report.txt")
        self.assertIn(self.folder.name + ": ", done.stderr)

    def test_it_is_no_engine_of_a_run(self):
        done = call("run", "--engine", "still", "--", "/bin/true")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("checks files", done.stderr)

    def test_the_product_has_the_command_and_not_this_engine(self):
        for gpurace, has in ((GPURACE, True), (PRODUCT, False)):
            self.assertIn("check ", call("help", gpurace=gpurace).stdout)
            self.assertEqual("still" in call("check", "--help", gpurace=gpurace).stdout, has)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

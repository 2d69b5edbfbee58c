#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`gpurace selftest`: each engine finds the race that is planted, beside a program and without one; the program's own report is that of
`gpurace run`; where no race could be found, the exit status is 68 and the report says why.
test_selftest.py GPURACE PLANTED PLANTED_WITHOUT_PTX SCHEMA [DEVICE]"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

GPURACE, PLANTED, NO_PTX, SCHEMA = sys.argv[1:5]
DEVICE = sys.argv[5] if len(sys.argv) > 5 else "cpu"
PLACE = "GPU" if DEVICE == "gpu" else "CPU device"
ENGINES = ["collider", "tracker", "privatizer"] + ([] if DEVICE == "gpu" else ["exact", "collider+exact"])
MISSED, RACES, USAGE, NOT_RUN = 68, 66, 2, 126


def gpurace(command, *words):
    env = {k: v for k, v in os.environ.items() if not k.startswith("GPURACE_")}
    return subprocess.run([GPURACE, command, *words], env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=300)


class Report:
    """A run of PLANTED under the command, and its report."""

    def __init__(self, test, command, way, *options, program=(PLANTED,)):
        with tempfile.TemporaryDirectory(prefix="gpurace-test-") as folder:
            path = os.path.join(folder, "report.json")
            self.done = gpurace(command, "--device", DEVICE, "--format", "json", "--output", path, *options, "--", *program, way)
            self.status = self.done.returncode
            test.assertTrue(os.path.exists(path), self.done.stderr)
            with open(path, encoding="utf-8") as file:
                self.json = json.load(file)
        try:
            import jsonschema
        except ImportError:
            return
        with open(SCHEMA, encoding="utf-8") as file:
            jsonschema.validate(self.json, json.load(file))

    def says(self):
        return [t for t in self.json["coverage"].get("remarks", []) + self.json.get("reasons", []) if t.startswith("selftest: ")]


class WithoutProgram(unittest.TestCase):
    def test_every_engine_finds_it(self):
        done = gpurace("selftest", "--device", DEVICE)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        for engine in ENGINES:
            if "+" not in engine:
                self.assertRegex(done.stdout, f"(?m)^{engine} +found$")

    def test_seeds(self):
        for seed in range(1, 6):
            done = gpurace("selftest", "--device", DEVICE, "--seed", str(seed))
            self.assertEqual(done.returncode, 0, f"seed {seed}: {done.stdout}{done.stderr}")

    def test_what_checks_nothing_misses_it(self):
        done = gpurace("selftest", "--device", DEVICE, "--engine", "none")
        self.assertEqual(done.returncode, MISSED)
        self.assertRegex(done.stdout, "(?m)^none +missed$")

    def test_words(self):
        self.assertEqual(gpurace("selftest", "--nonsense").returncode, USAGE)
        self.assertEqual(gpurace("selftest", "--help").returncode, 0)


class BesideAProgram(unittest.TestCase):
    def check_found(self, engine, way, status):
        mine = Report(self, "selftest", way, "--engine", engine)
        plain = Report(self, "run", way, "--engine", engine)
        self.assertEqual(mine.says(), [f"selftest: the planted race was found by {engine} on the {PLACE}"], f"{engine}, {way}")
        self.assertEqual(mine.status, status, f"{engine}, {way}: {mine.done.stdout}{mine.done.stderr}")
        self.assertEqual(mine.done.stdout, plain.done.stdout)
        self.assertIn(f"gpurace: selftest: the planted race was found by {engine}", mine.done.stderr)
        for r in mine, plain:
            r.json["coverage"].pop("remarks", None)  # of all that the engine did
        for key in ("verdict", "coverage", "reasons", "notes", "not_looked_for"):
            self.assertEqual(mine.json.get(key), plain.json.get(key), f"{engine}, {way}: {key}")
        if engine == "exact":  # with others which accesses meet depends on the schedule, and that on the number of launches
            self.assertEqual({r["id"] for r in mine.json["races"]}, {r["id"] for r in plain.json["races"]})

    def test_plain(self):
        for engine in ENGINES:
            self.check_found(engine, "plain", 0)

    def test_captured(self):
        for engine in ENGINES:
            self.check_found(engine, "captured", 0)

    def test_its_own_race(self):
        for engine in ENGINES:
            self.check_found(engine, "racy", RACES)

    def test_several_processes(self):
        r = Report(self, "selftest", "plain", program=("sh", "-c", f"{PLANTED} plain && {PLANTED} captured"))
        self.assertEqual(r.status, 0, r.done.stdout + r.done.stderr)

    def test_options_that_leave_out(self):
        r = Report(self, "selftest", "plain", "--engine", "tracker", "--sample", "1", "--strict", "no")
        self.assertEqual(r.status, 0, r.done.stderr)
        r = Report(self, "selftest", "plain", "--kernel", "nobody")
        self.assertEqual(r.status, MISSED)
        self.assertIn("but no launch of the program's own was checked", r.says()[0])

    def test_the_report_repeats_it(self):
        r = Report(self, "selftest", "plain", "--seed", "3")
        self.assertTrue(r.json["reproduce"].startswith("gpurace selftest "), r.json["reproduce"])


class Missed(unittest.TestCase):
    def missed(self, words, way, *options, program=(PLANTED,)):
        r = Report(self, "selftest", way, *options, program=program)
        self.assertEqual(r.status, MISSED, r.done.stderr)
        self.assertEqual(r.json["verdict"], "inconclusive")
        self.assertEqual(len(r.says()), 1, r.json["reasons"])
        self.assertIn(words, r.says()[0])
        return r

    def test_engine_without_checks(self):
        r = self.missed("MISSED by none", "plain", "--engine", "none")
        self.assertIn("the engine checks nothing", r.says()[0])

    def test_no_launch(self):
        self.missed("no race was planted: gpurace saw no launch", "nothing")

    def test_no_cuda(self):
        r = self.missed("no race was planted: gpurace saw no launch", "plain", program=("env", "true"))
        self.assertIn("LD_PRELOAD", "\n".join(r.json["reasons"]))

    @unittest.skipIf(DEVICE == "gpu", "machine code runs there")
    def test_no_ptx(self):
        # The CPU device refuses the module, so nothing is launched.
        r = self.missed("no race was planted: gpurace saw no launch", "plain", program=(NO_PTX,))
        self.assertIn("no PTX", "\n".join(r.json["reasons"]) + r.done.stderr)

    @unittest.skipUnless(DEVICE == "gpu", "the CPU device runs no machine code")
    def test_no_ptx_on_a_gpu(self):
        self.missed("but no launch of the program's own was checked", "plain", program=(NO_PTX,))

    def test_options_that_would_act_on_it(self):
        for word in (["--stop"], ["--coverage", "x"], ["--aim", "x"]):
            done = gpurace("selftest", "--device", DEVICE, *word, "--", PLANTED, "plain")
            self.assertEqual(done.returncode, USAGE, done.stderr)

    def test_no_such_program(self):
        self.assertEqual(gpurace("selftest", "--device", DEVICE, "--", "./nobody").returncode, 127)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=0)

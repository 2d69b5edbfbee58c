#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the judge: run_examples.py must accept what the labels say and must object to everything else."""
import contextlib
import io
import json
import os
import tempfile
import unittest
import unittest.mock

import fake_gpurace
import run_examples

HERE = os.path.dirname(os.path.abspath(__file__))
RACE = """// EXPECT: races
a[0] = t; // RACE: lost update, intra-warp lost update
v = a[1]; // RACE-MAYBE: clobbered read
w = a[2]; // NEVER
"""
BOTH = [["x_race.cu", 2, "lost update"], ["x_race.cu", 2, "intra-warp lost update"]]


class Judge(unittest.TestCase):
    def run_case(self, source, answer, *options):
        name = "x_race" if "races" in source else "x_fixed"
        with tempfile.TemporaryDirectory() as folder:
            for file, text in ((name + ".cu", source), (name, "#!/bin/true\n"), (name + ".answer", json.dumps(answer))):
                with open(os.path.join(folder, file), "w", encoding="utf-8") as out:
                    out.write(text)
            os.chmod(os.path.join(folder, name), 0o755)
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed), unittest.mock.patch("truth.subprocess.run", fake_gpurace.run):
                status = run_examples.main(["--gpurace", os.path.join(HERE, "fake_gpurace.py"), "--programs", folder,
                                            "--sources", folder, "--schema", "", "--racy-seeds", "2", "--clean-seeds",
                                            "2", *options])
        return status, printed.getvalue()

    def expect(self, wanted, phrase, source, answer, *options):
        status, printed = self.run_case(source, answer, *options)
        self.assertEqual(status, wanted, printed)
        self.assertIn(phrase, printed)

    def test_all_races_found(self):
        self.expect(0, "2/2 races", RACE, {"races": BOTH})

    def test_found_in_different_seeds(self):
        self.expect(0, "2/2 races", RACE, {"1": {"races": BOTH[:1]}, "default": {"races": BOTH[1:]}})

    def test_maybe_is_allowed(self):
        self.expect(0, "2/2 races", RACE, {"races": BOTH + [["dir/x_race.cu", 3, "clobbered read"]]})

    def test_missed(self):
        self.expect(1, "never reported in 5 seeds: lost update at x_race.cu:2", RACE, {"races": BOTH[1:]})

    def test_more_seeds_are_granted(self):
        rare = {str(s): {"races": BOTH[:1]} for s in range(1, 7)}
        rare["default"] = {"races": BOTH}
        self.expect(1, "never reported in 5 seeds", RACE, rare)
        self.expect(0, "2/2 races", RACE + "// SEEDS: 7 -- rare\n", rare)

    def test_lines_of_both_sides(self):
        exact = ("--engine", "exact")
        other = RACE + "a[3] = 0; // OTHER\n"
        self.expect(0, "1/1 races", other, {"races": [["x_race.cu", 2, 5], ["x_race.cu", 5, 3]]}, *exact)
        self.expect(1, "not labelled", other, {"races": [["x_race.cu", 2, 4]]}, *exact)
        self.expect(1, "not labelled", other, {"races": [["y.cu", 2, 5]]}, *exact)
        self.expect(1, "never reported", other, {"races": [["x_race.cu", 3, 5]]}, *exact)

    def test_wrong_line_and_class(self):
        self.expect(1, "not labelled: lost update at x_race.cu:4", RACE, {"races": BOTH + [["x_race.cu", 4, "lost update"]]})
        self.expect(1, "not labelled: clobbered read at", RACE, {"races": BOTH + [["x_race.cu", 2, "clobbered read"]]})
        self.expect(1, "not labelled: lost update at example.h:2", RACE, {"races": BOTH + [["example.h", 2, "lost update"]]})

    def test_clean(self):
        self.expect(0, "1 of 1 programs", "// EXPECT: clean\n", {"races": []})

    def test_false_alarm(self):
        self.expect(1, "not labelled", "// EXPECT: clean\nx\n", {"races": [["x_fixed.cu", 2, "lost update"]]})

    def test_wrong_result_of_the_repaired(self):
        self.expect(1, "did not print PASS", "// EXPECT: clean\n", {"races": [], "prints": "fake: FAIL (3 wrong)"})
        self.expect(1, "exit status 1", "// EXPECT: clean\n", {"races": [], "status": 1})

    def test_inconclusive_is_not_clean(self):
        self.expect(1, "verdict 'inconclusive'", "// EXPECT: clean\n", {"races": [], "verdict": "inconclusive"})

    def test_repeat(self):
        self.expect(0, "1 of 1", RACE, {"races": BOTH}, "--repeat", "3")
        self.expect(1, "3 different json reports", RACE, {"races": BOTH, "random": True}, "--repeat", "3")

    def test_bad_labels(self):
        for source in ("// EXPECT: races\n", "// EXPECT: clean\na; // RACE: lost update\n", "a; // RACE: lost update\n",
                       "// EXPECT: races\na; // RACE: lost updates\n",
                       "// EXPECT: races\nb; // RACE: lost update // NEVER\n"):
            with self.assertRaises(ValueError):
                self.run_case(source, {"races": []})


if __name__ == "__main__":
    unittest.main()

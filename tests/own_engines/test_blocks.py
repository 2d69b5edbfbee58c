#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An engine with an area, classes, options and a decoder of its own: test_blocks.py GPURACE PRODUCT EXAMPLES DOCS"""
import json
import subprocess
import sys
import tempfile
import unittest

import docs_of

GPURACE, PRODUCT, EXAMPLES, DOCS = sys.argv[1:5]


def run(*words, gpurace=GPURACE, program="racy_add_race", engine="blocks"):
    with tempfile.NamedTemporaryFile() as out:
        done = subprocess.run([gpurace, "run", "--engine", engine, "--format", "json", "--output", out.name, *words, "--", f"{EXAMPLES}/{program}"],
                              capture_output=True, text=True, timeout=60)
        return done, json.load(open(out.name)) if done.returncode != 2 else None


class Blocks(unittest.TestCase):
    def test_findings(self):
        done, report = run()
        self.assertEqual((done.returncode, report["verdict"], report["evidence"]), (66, "races", "blocks counted"), done.stderr)
        race = report["races"][0]
        self.assertEqual((race["class"], race["meaning"]), ("store by several blocks", "threads of several blocks execute the store"))
        docs_of.check(DOCS, report, race["class"])
        self.assertTrue(race["accesses"][0]["file"].endswith("racy_add_race.cu"))

    def test_option(self):
        self.assertEqual(run("--blocks-least", "1000000")[1]["races"], [])
        done, _ = run("--blocks-least", "1")
        self.assertEqual(done.returncode, 2)
        remarks = run("--blocks-least", "3", engine="exact")[1]["coverage"]["remarks"]
        self.assertIn("--blocks-least 3 had no effect: it is for the engine blocks", remarks)

    def test_beside_another(self):
        done, report = run(engine="blocks+exact")
        self.assertEqual(done.returncode, 66, done.stderr)
        self.assertIn("store by several blocks", [race["class"] for race in report["races"]])
        for engine, why in (("blocks+collider", "both rewrite"), ("blocks+still", "needs no run"), ("blocks+rerun", "several times")):
            done, _ = run(engine=engine)
            self.assertEqual(done.returncode, 2)
            self.assertIn(why, done.stderr)

    def test_an_area_that_the_command_does_not_know(self):
        """The injection has the engine, and the command has not: the verdict says so, and nothing is taken for damage."""
        import os
        os.environ["GPURACE_INJECTION"] = f"{GPURACE.rsplit('/', 1)[0]}/lib/libgpurace.so"
        try:
            done, report = run(gpurace=PRODUCT)
        finally:
            del os.environ["GPURACE_INJECTION"]
        self.assertEqual((done.returncode, report["verdict"]), (0, "inconclusive"), done.stderr)
        self.assertIn("blocks", json.dumps(report["reasons"]))
        self.assertNotIn("damaged", json.dumps(report["reasons"]))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

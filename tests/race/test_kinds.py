#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How kinds.py sorts races."""
import contextlib
import io
import unittest

import corpus
import kinds


def access(**more):
    return {"file": "a.cu", "line": 1, "kind": "store", "launch": 1, "block": [0, 0, 0], "asynchronous": False, **more}


def report(a, b, order="no __syncthreads() or other barrier of both warps between"):
    return {"accesses": [a, b], "missing_order": order}


def label(why, classes=("write-write race",), scope=""):
    return corpus.Race(1, 1, classes, "global", "missing-order", why=why, scope=scope)


class Kinds(unittest.TestCase):
    def test_near(self):
        self.assertEqual(kinds.near(report(access(), access())), "BR")
        self.assertEqual(kinds.near(report(access(), access(), "both are lanes of one warp, and no __syncwarp()")), "ITS")
        self.assertEqual(kinds.near(report(access(), access(block=[1, 0, 0]), "both are lanes of one warp")), "DR")

    def test_comparable(self):
        self.assertTrue(kinds.comparable(report(access(), access())))
        for other in (access(launch=2), access(asynchronous=True), access(kind="copy"), access(kind="free")):
            self.assertFalse(kinds.comparable(report(access(), other)), other)

    def test_kind(self):
        found = kinds.Found("BR")
        for kind, of in (("BR", label("no barrier")), ("AS", label("a lock of its block", ("insufficient scope",))), ("AS", label("a flag", scope="cta")),
                         ("IL", label("the lock has no fence")), ("IL", label("unlocks too early")), ("BR", label("a block of threads"))):
            self.assertEqual(kinds.kind_of(of, found), kind, of.why)

    def test_table(self):
        results = {"x/a": {"1": (label("a"), kinds.Found("DR", {"ptx"})), "2": (label("b"), kinds.Found("DR", {"ptx", "paper"}))},
                   "x/b": {"1": (label("c"), kinds.Found("ITS")), "2": (label("d"), kinds.Found())}}
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            kinds.show(results)
        self.assertIn("| DR, between blocks | 13 | 1 | 2 | 2 | 1 |\n", out.getvalue())
        self.assertIn("| ITS, within a warp | 2 | 1 | 1 | 0 | 0 |\n", out.getvalue())
        self.assertIn("| all | 21 | 2 | 3 | 2 | 1 |\n1 labelled races are left out", out.getvalue())


if __name__ == "__main__":
    unittest.main()

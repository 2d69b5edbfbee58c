#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`gpurace check --explain`: test_explain.py GPURACE PROGRAMS. A proof names the fact that the program was written around, and is gone where the
program lacks that fact; an open pair names the fact that the program lacks."""
import json
import pathlib
import re
import subprocess
import sys
import unittest

GPURACE, PROGRAMS = sys.argv[1], pathlib.Path(sys.argv[2])
REMARK = re.compile(r"kernel (\w+)\(.*?: the (\w+) at \w+\.cu:(\d+) and the (\w+) at \w+\.cu:(\d+) "
                    r"(cannot race, by|would be proved not to race if) (.*)")


def explain(name, *words, options=()):
    """{(kernel, {"store 9", "load 10"}): [(how it begins, facts)]} of all remarks that explain."""
    done = subprocess.run([GPURACE, "check", "--format", "json", "--explain", *options, PROGRAMS / name, "--", *words], capture_output=True, text=True, timeout=300)
    report, out = json.loads(done.stderr[re.search(r"^\{", done.stderr, re.M).start():]), {}
    for text in report["coverage"]["remarks"]:
        found = REMARK.search(text)
        if found:
            key = found[1], frozenset({f"{found[2]} {found[3]}", f"{found[4]} {found[5]}"})
            out.setdefault(key, []).append((found[6].split()[0], found[7]))
    return out


def line_of(name, text):
    lines = [n for n, line in enumerate((PROGRAMS / name).read_text().splitlines(), 1) if text in line]
    assert lines, text
    return lines[0]


# Kernel, its accesses, the line of the accesses, the fact that figures.cu has and -DNO_FACTS takes, and what would prove it then.
FIGURES = [
    ("copy_upper", ("load", "store"), "a[j * cols + i] = a[i * cols + j];", "assert(rows == cols) at figures.cu:{}", "assert(rows == cols)", "cols == rows"),
    ("reduce_final", ("store",), "result[0] = sum;", "the grid (1, 1, 1) at figures.cu:{}", "reduce_final<<<1, 64>>>", "the grid has one block"),
    ("tone_mapping", ("store",), "output[width * channels * y + x * channels] = 1;", "the grid (wide / 16, high / 16, 1) at figures.cu:{}", "tone_mapping<<<", "other == wide"),
]


class Explain(unittest.TestCase):
    def test_figures(self):
        has, lacks = explain("figures.cu"), explain("figures.cu", "-DNO_FACTS", options=("--replay", "no"))
        for kernel, kinds, access, fact, where, candidate in FIGURES:
            key = kernel, frozenset(f"{kind} {line_of('figures.cu', access)}" for kind in kinds)
            fact = fact.format(line_of("figures.cu", where))
            self.assertIn(key, has)
            self.assertTrue(any(how == "cannot" and fact in facts.split("; ") for how, facts in has[key]), (key, has[key]))
            self.assertFalse([how for how, _ in has[key] if how != "cannot"], key)
            self.assertIn(("would", candidate), lacks[key])
            self.assertFalse(any(how == "cannot" and fact in facts for how, facts in lacks[key]), (key, lacks[key]))
        pitch = has["shift", frozenset({f"store {line_of('figures.cu', 'matrix[y * (row_size')}"})][0][1]
        self.assertIn("a pitch is not less than the width at figures.cu:", pitch)

    def test_locks(self):
        said = explain("locks.cu")
        proved = {kernel for (kernel, lines), all_of in said.items() for how, facts in all_of if "the lock or flag around the accesses" in facts}
        self.assertEqual(proved, {"lock", "flag"})

    def test_kinds(self):
        said = explain("kinds.cu")
        barrier = line_of("kinds.cu", "__syncthreads")
        self.assertIn(("cannot", f"barriers at kinds.cu:{barrier}"), said["proved", frozenset({f"store {barrier - 1}", f"load {barrier + 1}"})])
        # The same without a barrier is a race: nothing explains why it were none.
        lines = [n for n, line in enumerate((PROGRAMS / "kinds.cu").read_text().splitlines(), 1) if line.endswith("// SHOWN")]
        self.assertNotIn(("shown", frozenset({f"store {lines[0]}", f"load {lines[1]}"})), said)
        (how, fact), = [f for key, all_of in said.items() if key[0] == "possible" for f in all_of if f[0] == "would"]
        self.assertEqual(fact, "parameter 2[%tid.x << 2] differs from thread to thread")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Small programs in PTX under the collider on the CPU device. test_programs.py GPURACE LOAD_PTX

Each has a race that one setting, or one piece of knowledge about the code, decides on, or is free of races for a reason that the collider has to see.
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

GPURACE, LOAD_PTX = sys.argv[1:3]
HEAD = ".version 9.0\n.target sm_90\n.address_size 64\n"


def races(text, seed, *options, grid=1, block=64):
    """The races of a run, as its JSON report has them."""
    with tempfile.TemporaryDirectory() as folder:
        path, report = pathlib.Path(folder, "k.ptx"), pathlib.Path(folder, "r.json")
        path.write_text(HEAD + text)
        done = subprocess.run([GPURACE, "run", "--engine", "collider", "--device", "cpu", "--seed", str(seed), "--format", "json", "--output", report,
                               *options, "--", LOAD_PTX, path, str(grid), str(block)], capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode in (0, 66), done.stdout + done.stderr
        return json.loads(report.read_text())["races"]


# One store that runs 2048 times. Only the last time do the two warps store to the same places.
LATE = """.visible .entry k(.param .u64 p) {
.reg .b64 %a, %b, %c; .reg .b32 %r<8>; .reg .pred %p<3>;
ld.param.u64 %a, [p]; cvta.to.global.u64 %a, %a; mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 31; mov.u32 %r3, 0;
mul.wide.u32 %b, %r1, 4; add.s64 %b, %a, %b; mul.wide.u32 %c, %r2, 4; add.s64 %c, %a, %c;
L: add.u32 %r3, %r3, 1; setp.eq.u32 %p1, %r3, 2048; selp.b64 %b, %c, %b, %p1;
bar.sync 0;
st.global.u32 [%b], %r1;
@!%p1 bra L;
ret; }
"""


class Windows(unittest.TestCase):
    def test_all_of_them(self):
        """By then one window in 32 opens; with --windows all each does."""
        seeds = range(1, 6)
        found = {which: sum(bool(races(LATE, seed, "--windows", which)) for seed in seeds) for which in ("sampled", "all")}
        self.assertEqual(found["all"], len(seeds))
        self.assertLessEqual(found["sampled"], 2)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])

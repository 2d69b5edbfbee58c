#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""--compile launched: kernels are modules of their own when they are launched. test_by_kernel.py GPURACE BY_KERNEL

On the CPU device, where it serves tests only: by default a GPU alone has modules large enough for it.
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

GPURACE, PROGRAM = sys.argv[1:3]
HEAD = ".version 9.0\n.target sm_90\n.address_size 64\n"
# Each kernel adds 1. Those that race have all threads store their number to one word of shared memory, and one loads it.
KERNEL = """.visible .entry %s(.param .u64 p) { .reg .b64 %%a, %%b; .reg .b32 %%r<4>, %%s; %s
ld.param.u64 %%a, [p]; cvta.to.global.u64 %%a, %%a; mov.u32 %%r1, %%tid.x; mul.wide.u32 %%b, %%r1, 4; add.s64 %%b, %%a, %%b;
ld.global.u32 %%r2, [%%b]; add.u32 %%r2, %%r2, 1; st.global.u32 [%%b], %%r2; %s ret; }
"""
RACE = "mov.u32 %s, word; st.shared.u32 [%s], %r1; ld.shared.u32 %r3, [%s];"
KERNELS = {"plain": ("", ""), "large": ("", "mov.u32 %s, dynamic; st.shared.u32 [%s+65532], 1;"), "node": (".shared .b32 word;", RACE),
           "captured": (".shared .b32 word;", RACE), "swapped": (".shared .b32 word;", RACE), "never": (".shared .b32 word;", RACE)}
# All threads of `large` store one value to one place, which is no race of warps that this test looks for.
MODULE = HEAD + ".extern .shared .align 16 .b8 dynamic[];\n" + "".join(KERNEL % (name, *parts) for name, parts in KERNELS.items())
VARIABLE = ".visible .global .u32 counter;\n"
USES_VARIABLE = KERNEL % ("counts", "", "ld.global.u32 %r3, [counter];")


class ByKernel(unittest.TestCase):
    def run_it(self, text, *options, status):
        with tempfile.TemporaryDirectory() as folder:
            path, report = pathlib.Path(folder, "k.ptx"), pathlib.Path(folder, "r.json")
            path.write_text(text)
            done = subprocess.run([GPURACE, "run", "--device", "cpu", "--engine", "collider", "--watchpoints", "no", "--same-value", "no", "--verbose",
                                   *options, "--format", "json", "--output", report, "--", PROGRAM, path],
                                  capture_output=True, text=True, timeout=120, check=False)
            self.assertEqual(done.returncode, status, done.stdout + done.stderr)
            self.assertIn("PASS", done.stdout)
            return json.loads(report.read_text()), done.stderr

    def raced(self, report):
        return {race["kernel"] for race in report["races"]}

    def test_each_when_it_is_launched(self):
        report, said = self.run_it(MODULE, "--compile", "launched", status=66)
        self.assertEqual(self.raced(report), {"node", "captured", "swapped"})
        self.assertEqual(said.count("bytes of rewritten PTX"), 2 * 5)  # twice, as the module comes twice; not `never`
        kernels = {k["name"]: k["launches"] for k in report["coverage"]["kernels"] if k["launches"]}
        self.assertEqual(kernels, {name: 2 for name in KERNELS if name != "never"})
        whole, said = self.run_it(MODULE, "--compile", "whole", status=66)
        self.assertEqual(self.raced(whole), self.raced(report))
        self.assertNotIn("bytes of rewritten PTX", said)

    def test_variables_are_shared(self):
        """A module with a variable stays whole: its kernels could not share it."""
        report, said = self.run_it(HEAD + ".extern .shared .align 16 .b8 dynamic[];\n" + VARIABLE + USES_VARIABLE +
                                   "".join(KERNEL % (name, *parts) for name, parts in KERNELS.items()), "--compile", "launched", status=66)
        self.assertEqual(self.raced(report), {"node", "captured", "swapped"})
        self.assertIn("compiled as a whole: kernels refer to variables of the module", said)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lanes that go on together do so in machine code: test_together.py GPURACE PTXAS DIR

What makes lanes one again is a branch that is never taken (collider_together.h): where it ends, ptxas has them wait for each other (BSYNC). So the rewritten together.ptx is assembled, and it must have more of these
than without the branches, for most of them one (ptxas makes one of two that end at one place). An assembler that found out that they are never taken would leave the warp in parts, on a GPU only.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
import machine_code  # noqa: E402

gpurace, ptxas, here = sys.argv[1:]
SKIPPED = 77


def waits(text, target):
    """How often lanes wait for each other in the kernel; None: this ptxas does not know the target."""
    with tempfile.NamedTemporaryFile("w", suffix=".ptx") as ptx, tempfile.NamedTemporaryFile(suffix=".cubin") as cubin:
        ptx.write(text)
        ptx.flush()
        run = subprocess.run([ptxas, "-c", f"-arch={target}", ptx.name, "-o", cubin.name], capture_output=True, text=True, check=False)
        if run.returncode:
            print(f"{target}: {run.stdout[:300]}{run.stderr[:300]}")
            return None
        return dict(machine_code.functions(cubin.name))["k"][machine_code.BSYNC]


def main():
    text = subprocess.run([gpurace, "ptx", pathlib.Path(here, "together.ptx")], capture_output=True, text=True, check=True).stdout
    lanes = re.findall(r"mov\.u32 (%gr\d+), %lanemask_eq;", text)
    joins = text.count("vote.sync.ballot.b32 %gr")
    without = text
    for own in lanes:
        without = re.sub(rf"(?m)^.*setp\.eq\.u32 (%gr\d+), {own}, 0;\n.*@\1 bra .*\n", "", without)
    checked = 0
    for target in "sm_90", "sm_100", "sm_120":
        with_branches, without_branches = waits(text, target), waits(without, target)
        if with_branches is None or without_branches is None:
            continue
        checked += 1
        print(f"{target}: {joins} joins, lanes wait {with_branches} times, without the branches {without_branches} times")
        if joins < 10 or with_branches - without_branches < joins * 2 // 3:
            return 1
    return 0 if checked else SKIPPED


sys.exit(main())

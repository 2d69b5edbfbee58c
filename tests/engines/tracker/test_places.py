#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Where the tracker's calls stand around an instruction that orders: a release is counted before it, an acquire behind it.

On a GPU the load that a fence makes acquire may still be on its way before the fence, so what the load saw is known behind the fence only.

usage: test_places.py GPURACE
"""
import re
import subprocess
import sys
import tempfile

# Options, the instruction between a store and a load and those around it, and the order of the calls: R(elease), A(cquire), B(oth), and I, the instruction.
BEFORE, BEHIND = "st.global.u32 [%rd1], %r1;", "ld.global.u32 %r1, [%rd1+16];\nst.global.u32 [%rd1+20], %r1;"
SIGNAL, LOOK = "st.relaxed.gpu.global.u32 [%rd1+4], 1;", "ld.relaxed.gpu.global.u32 %r2, [%rd1+8];"
CASES = [
    ([], "fence.acq_rel.gpu;", BEFORE, SIGNAL, "RI"),
    ([], "fence.acq_rel.gpu;", LOOK, BEHIND, "IA"),
    ([], "fence.acq_rel.gpu;", BEFORE + LOOK, SIGNAL + BEHIND, "RIA"),
    ([], "fence.sc.sys;", BEFORE + LOOK, SIGNAL + BEHIND, "RIA"),
    ([], "membar.gl;", BEFORE + LOOK, SIGNAL + BEHIND, "RIA"),
    ([], "@%p1 membar.gl;", BEFORE + LOOK, SIGNAL + BEHIND, "RIA"),
    ([], "fence.acq_rel.cta;", BEFORE + LOOK, SIGNAL + BEHIND, "BI"),
    (["--rules", "paper"], "fence.acq_rel.gpu;", BEFORE + LOOK, SIGNAL + BEHIND, "BI"),
    ([], "st.release.gpu.global.u32 [%rd1+4], 1;", BEFORE, BEHIND, "RI"),
    ([], "ld.acquire.gpu.global.u32 %r2, [%rd1+8];", BEFORE, BEHIND, "IA"),
    ([], "atom.acq_rel.gpu.global.add.u32 %r2, [%rd1+8], 1;", BEFORE, BEHIND, "RIA"),
    ([], "@%p1 atom.acq_rel.gpu.global.add.u32 %r2, [%rd1+8], 1;", BEFORE, BEHIND, "RIA"),
    ([], "bar.sync 0;", BEFORE, BEHIND, "BI"),
]
KERNEL = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p, .param .u32 n)
{
.reg .pred %p<2>; .reg .b32 %r<4>; .reg .b64 %rd<2>;
ld.param.u64 %rd1, [p];
ld.param.u32 %r1, [n];
setp.eq.u32 %p1, %r1, 0;
"""
RELEASES, ACQUIRES = 1 << 7, 1 << 8  # device/record.h


def places(text, instruction):
    """The calls of __gr_order and the instruction, in the order in which they stand in the kernel."""
    found = ""
    for line in text[text.index(".entry k("):].splitlines():
        call = re.search(r"__gr_order, \((\d+),", line)
        if call:
            found += {RELEASES: "R", ACQUIRES: "A", RELEASES | ACQUIRES: "B"}.get(int(call[1]) & (RELEASES | ACQUIRES), "?")
        elif instruction.split("]")[0] in line:
            found += "I"
    return found


def main():
    gpurace = sys.argv[1]
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for options, instruction, before, behind, expected in CASES:
            with open(f"{folder}/k.ptx", "w", encoding="utf-8") as f:
                f.write(KERNEL + "\n".join([before, instruction, behind, "ret;\n}\n"]))
            subprocess.run([gpurace, "ptx", "--engine", "tracker", *options, f"{folder}/k.ptx", "-o", f"{folder}/o.ptx"], check=True, stderr=subprocess.DEVNULL)
            with open(f"{folder}/o.ptx", encoding="utf-8") as f:
                found = places(f.read(), instruction)
            if found != expected:
                print(f"{' '.join(options)} {instruction}: {found}, not {expected}")
                wrong += 1
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main())

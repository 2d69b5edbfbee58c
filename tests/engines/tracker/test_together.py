#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No function of the tracker's runtime parts a warp: test_together.py GPURACE PTXAS

ptxas begins a function with YIELD if it has strong accesses and does not look like a loop (device_api/device.h). Lanes that wait where a branch of the caller's ends then go on
alone, on a GPU only: sorts of CUB and counters that one lane raises for others came out wrong. So the rewritten module is assembled, and no function of
the runtime may have that instruction. A function of this script, which has it, shows that it is recognized.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import machine_code  # noqa: E402

gpurace, ptxas = sys.argv[1:]
SKIPPED = 77
TARGETS = {"sm_90": "8.0", "sm_100": "8.6", "sm_120": "8.7"}  # with the PTX that has them; before, ptxas puts it into loops, too, and nothing was found that keeps it out

HEAD = ".version {version}\n.target {target}\n.address_size 64\n"
CONTROL = """.func (.param .b32 out) yields(.param .b64 at)
{
    .reg .b64 %a;
    .reg .b32 %v;
    ld.param.u64 %a, [at];
    atom.global.exch.b32 %v, [%a], 1;
    st.param.b32 [out], %v;
    ret;
}
.visible .entry control(.param .u64 p)
{
    .reg .b64 %a;
    .reg .b32 %v;
    ld.param.u64 %a, [p];
    {
    .param .b64 in;
    .param .b32 out;
    st.param.b64 [in], %a;
    call (out), yields, (in);
    ld.param.b32 %v, [out];
    }
    st.global.u32 [%a], %v;
    ret;
}
"""
# Each kind of access that has functions of its own, in 4 and 16 bytes; what acquires; and what synchronizes.
PROGRAM = """.visible .entry each(.param .u64 p)
{
    .reg .u64 %a;
    .reg .u32 %v, %w, %x, %y;
    .shared .align 16 .b8 s[64];
    ld.param.u64 %a, [p];
    ld.global.u32 %v, [%a];
    ld.shared.u32 %w, [s];
    ld.relaxed.gpu.global.u32 %x, [%a+4];
    ld.volatile.shared.u32 %y, [s+4];
    st.shared.u32 [s], %v;
    st.global.u32 [%a], %w;
    st.relaxed.gpu.global.u32 [%a+4], %x;
    st.volatile.shared.u32 [s+4], %y;
    bar.warp.sync -1;
    ld.global.v4.u32 {%v, %w, %x, %y}, [%a+16];
    st.shared.v4.u32 [s+16], {%v, %w, %x, %y};
    bar.sync 0;
    ld.shared.v4.u32 {%v, %w, %x, %y}, [s+32];
    st.global.v4.u32 [%a+32], {%v, %w, %x, %y};
    ld.acquire.gpu.u32 %v, [%a+48];
    st.release.gpu.u32 [%a+48], %v;
    atom.global.add.u32 %v, [%a+52], %v;
    atom.shared.add.u32 %v, [s], %v;
    fence.acq_rel.gpu;
    st.global.u32 [%a+56], %v;
    ret;
}
"""


def yielding(path):
    return {name for name, counts in machine_code.functions(path) if counts[machine_code.YIELD]}


def assemble(text, target, registers=255):
    with tempfile.NamedTemporaryFile("w", suffix=".ptx") as ptx, tempfile.NamedTemporaryFile(suffix=".cubin") as cubin:
        ptx.write(text)
        ptx.flush()
        subprocess.run([ptxas, "-c", f"-arch={target}", f"-maxrregcount={registers}", ptx.name, "-o", cubin.name], check=True)
        return {name for name, _ in machine_code.functions(cubin.name)}, yielding(cubin.name)


def rewrite(text, *words):
    with tempfile.NamedTemporaryFile("w", suffix=".ptx") as ptx:
        ptx.write(text)
        ptx.flush()
        run = subprocess.run([gpurace, "ptx", "--engine", "tracker", *words, ptx.name], capture_output=True, text=True, check=True)
    return run.stdout, int(re.search(r"-maxrregcount=(\d+)", run.stderr).group(1))


def main():
    checked = 0
    for target, version in TARGETS.items():
        head = HEAD.format(target=target, version=version)
        try:
            _, found = assemble(head + CONTROL, target)
        except subprocess.CalledProcessError:
            print(f"{target}: this ptxas does not know it")
            continue
        if "yields" not in found:
            print(f"{target}: this ptxas puts no YIELD into a function with an atomic operation, or it is not recognized")
            continue
        checked += 1
        for rules in ("ptx", "paper"):
            text, registers = rewrite(head + PROGRAM, "--rules", rules)
            names, found = assemble(text, target, registers)
            print(f"{target}, rules {rules}: {len(names)} functions, with YIELD: {', '.join(sorted(found)) or 'none'}")
            if found or not {"__gr_access", "__gr_order", "each"} <= names:  # what has to be looked at
                return 1
    return 0 if checked else SKIPPED


sys.exit(main())

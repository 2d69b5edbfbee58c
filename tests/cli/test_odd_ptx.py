#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PTX that no compiler writes: its run must end in a report. test_odd_ptx.py GPURACE LOAD_PTX

Each program is run under both engines: what races is reported whatever the line information says, what is not understood is named.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

gpurace, load_ptx = sys.argv[1:3]
failures = 0
HEAD = ".version 9.0\n.target sm_90\n.address_size 64\n"
DEBUG_STR = '.section .debug_str\n{\n$L__info_string0:\n.b8 102\n.b8 0\n}\n'


def racy(loc, tail):
    """All threads store their number to one place, under the position `loc`."""
    return (HEAD + ".visible .entry k(.param .u64 p) { .reg .b64 %a; .reg .b32 %r;\n.loc 1 1 1\n"
            "ld.param.u64 %a,[p]; cvta.to.global.u64 %a,%a; mov.u32 %r,%tid.x;\n" + loc + "\nst.global.u32 [%a],%r; ret; }\n" + tail)


NAMED = '.file 1 "x.cu"\n' + DEBUG_STR
# Line information, what the text must say.
LOCS = {
    "inlined at a file without a name": (racy(".loc 1 2 1, function_name $L__info_string0, inlined_at 9 5 3", NAMED),
                                         ["x.cu:2:1: data race", "inlined at unnamed file:5:3"]),
    "inlined at itself": (racy(".loc 1 2 1, function_name $L__info_string0, inlined_at 1 2 1", NAMED), ["x.cu:2:1: data race"]),
    "inlined at itself, often": (racy("\n".join([".loc 1 2 1, function_name $L__info_string0, inlined_at 1 2 1"] * 1000), NAMED),
                                 ["x.cu:2:1: data race"]),
    "inlined at a later position": (racy(".loc 1 2 1, function_name $L__info_string0, inlined_at 1 7 1\n.loc 1 7 1", NAMED),
                                    ["x.cu:7:1: data race"]),
    "inlined at line 0": (racy(".loc 1 2 1, function_name $L__info_string0, inlined_at 0 0 0", NAMED), ["x.cu:2:1: data race"]),
    "an unknown name of a function": (racy(".loc 1 2 1, function_name nobody+99, inlined_at 1 5 3", NAMED),
                                      ["x.cu:2:1: data race", "inlined at x.cu:5:3"]),
    "a name behind the section's end": (racy(".loc 1 2 1, function_name $L__info_string0+77, inlined_at 1 5 3", NAMED),
                                        ["x.cu:2:1: data race"]),
    "no .debug_str": (racy(".loc 1 2 1, function_name $L__info_string0, inlined_at 1 5 3", '.file 1 "x.cu"\n'), ["x.cu:2:1: data race"]),
    "no .file": (racy(".loc 1 2 1", ""), ["PTX line"]),
    "no .file, and inlined": (racy(".loc 3 2 1, function_name $L__info_string0, inlined_at 4 5 3", DEBUG_STR), ["PTX line"]),
    "a file of no name": (racy(".loc 1 2 1", '.file 1 ""\n'), ["data race"]),
    "the largest numbers": (racy(".loc 1 4294967295 4294967295", '.file 1 "x.cu"\n'), ["x.cu:4294967295:4294967295"]),
}


def store(text):
    return (HEAD + ".visible .entry k() { .reg .b64 %a; .reg .b32 %r<4>; .shared .align 16 .b8 s[64];\n"
            "mov.u32 %r1,1; mov.u32 %r2,s; mov.u64 %a,0;\n" + text + "\nret; }\n")


# Operands that make no sense. A GPU's compiler refuses most; the rewriting leaves them alone and names them.
ASYNC = "st.async.shared::cluster.mbarrier::complete_tx::bytes"
STORES = ["st.global.u32 [%a], _;", "st.global.v2.u32 [%a], {%r1, _};", "st.global.v4.u32 [%a], {_, _, _, _};",
          "st.shared.v2.u32 [%r2], {_, %r1};", "st.global.v8.b32 [%a], {_, _, _, _, _, _, _, _};",
          ASYNC + ".b32 [%r2], _, [%r2];", ASYNC + ".v2.b32 [%r2], {%r1, _}, [%r2];",
          "stmatrix.sync.aligned.m8n8.x2.shared.b16 [%r2], {%r1, _};", "stmatrix.sync.aligned.m8n8.shared.b16 [%r2], {};",
          "cp.async.ca.shared.global [%r2], [%a], 4, _;", "st.global.v2.u32 [%a], {%r1, %r1, %r1};"]


def check(ok, what):
    global failures
    print(("ok   " if ok else "FAIL ") + what)
    failures += not ok


def run(path, *options):
    return subprocess.run([gpurace, "run", *options, "--", load_ptx, path], capture_output=True, text=True, timeout=60)


with tempfile.TemporaryDirectory() as tmp:
    path = pathlib.Path(tmp) / "odd.ptx"
    for name, (text, says) in LOCS.items():
        path.write_text(text)
        for engine in ("exact", "collider"):
            done = run(path, "--engine", engine)
            check(done.returncode == 66 and all(s in done.stderr for s in says), f"{name}, {engine}: {done.returncode} {says}")
        report = pathlib.Path(tmp) / "report.json"
        done = run(path, "--format", "json", "--output", report)
        check(done.returncode == 66 and json.loads(report.read_text())["races"], f"{name}: JSON {done.returncode}")
    for text in STORES:
        path.write_text(store(text))
        for engine in ("exact", "collider"):
            done = run(path, "--engine", engine, "--strict")
            says = "not understood and not checked, at PTX line 6" if engine == "collider" else r"because .*line 6\b"
            check(done.returncode == 67 and re.search(says, done.stderr), f"{text} {engine}: {done.returncode} {done.stderr}")
    # PTX for a later GPU.
    path.write_text(racy(".loc 1 2 1", NAMED).replace("sm_90", "sm_120a"))
    for options, says in ((), "it is PTX for sm_120a, which this device does not take; --cpu-arch 120 makes"), (("--cpu-arch", "121"), "does not take; --cpu-arch 120 makes"):
        for engine in ("exact", "collider"):
            done = run(path, "--engine", engine, "--strict", *options)
            check(done.returncode == 67 and says in done.stderr, f"a later GPU, {options}, {engine}: {done.returncode} {done.stderr}")
    done = run(path, "--cpu-arch", "120")
    check(done.returncode == 66 and "x.cu:2:1: data race" in done.stderr, f"a later GPU, --cpu-arch 120: {done.returncode}")

sys.exit(failures != 0)

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An engine that crashes while it rewrites a module: the module runs as it is and is named, the program and the next module are as ever.

Usage: test_crash.py GPURACE LIBRARY LOAD_PTX; LIBRARY has the counting engine, which crashes on kernels named crash_while_rewriting and abort_while_rewriting.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

gpurace, library, load_ptx = sys.argv[1:4]
failures = 0


def check(ok, what):
    global failures
    print(("ok   " if ok else "FAIL ") + what)
    failures += not ok


with tempfile.TemporaryDirectory() as tmp:
    for kernel, signal in (("crash_while_rewriting", 11), ("abort_while_rewriting", 6), ("quiet", None)):
        path = pathlib.Path(tmp, kernel + ".ptx")
        path.write_text(".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry " + kernel + "(.param .u64 p) { .reg .b64 %a;\n"
                        "ld.param.u64 %a, [p]; st.global.u32 [%a], 1; ret; }\n")
        run = subprocess.run([gpurace, "run", "--engine", "count", "--device", "cpu", "--strict", "--", load_ptx, path, "1", "1"],
                             capture_output=True, text=True, env=dict(os.environ, GPURACE_INJECTION=library), timeout=60)
        check(f"{kernel}: launch 0, synchronize 0" in run.stdout, f"{kernel}: the program goes on: {run.stdout}")
        crashed = "was not checked: " in run.stderr and f"gpurace crashed on it (signal {signal}," in run.stderr
        check(crashed == (kernel != "quiet"), f"{kernel}: what was not checked is named: {run.stderr}")
        check((run.returncode == 67) == (kernel != "quiet"), f"{kernel}: exit status {run.returncode}")

sys.exit(failures != 0)

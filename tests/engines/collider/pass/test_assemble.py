#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Rewrites PTX files, or all of a folder, with the collider and assembles the result: test_assemble.py GPURACE PTXAS FILE|FOLDER...

ptxas must take each of them for the target that the file names, and every site must be checked, strong or private: whatever the
pass does not understand in the examples is a failure here.
"""
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

gpurace, ptxas = sys.argv[1:3]


def rewrite_and_assemble(path):
    with tempfile.TemporaryDirectory() as tmp:
        out = f"{tmp}/out.ptx"
        run = subprocess.run([gpurace, "ptx", path, "-o", out], capture_output=True, text=True)
        if run.returncode != 0 or "not understood" in run.stderr or "not seen" in run.stderr:
            return f"{path.name}: {run.stderr}"
        target = re.search(r"^\.target (sm_\w+)", pathlib.Path(out).read_text(), re.M).group(1)
        run = subprocess.run([ptxas, f"-arch={target}", out, "-o", f"{tmp}/out"], capture_output=True, text=True)
        return f"{path.name}: {run.stderr[:600]}" if run.returncode != 0 else None


files = [f for path in map(pathlib.Path, sys.argv[3:]) for f in (sorted(path.glob("*.ptx")) if path.is_dir() else [path])]
with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    failed = [f for f in pool.map(rewrite_and_assemble, files) if f]
print("\n".join(failed))
print(f"{len(files)} modules rewritten and assembled, {len(failed)} failed")
sys.exit(bool(failed) or not files)

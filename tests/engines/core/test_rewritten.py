#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What engines make of the PTX of built programs is PTX again: test_rewritten.py GPURACE [--assemble PTXAS] FOLDER...

The CPU device takes what an engine inserts as it is, and only a driver's compiler would say that it is wrong. So each engine's result is read by our front end
here, and with --assemble by ptxas, too: the seconds that takes are many.
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ENGINES = ("collider", "tracker", "privatizer")


def said(run):
    lines = [line for line in (run.stderr + run.stdout).splitlines() if "error" in line or "fatal" in line or "gpurace:" in line]
    return (lines or ["status %d" % run.returncode])[0][:300]


def check(options, engine, module, folder):
    out = os.path.join(folder, f"{engine}.{module.name}")
    run = subprocess.run([options.gpurace, "ptx", "--engine", engine, module, "-o", out], capture_output=True, text=True)
    if run.returncode:
        return f"{engine}, {module.name}: {said(run)}"
    run = subprocess.run([options.gpurace, "ptx", "--engine", "none", out, "-o", "/dev/null"], capture_output=True, text=True)
    if not run.returncode and options.assemble:
        target = re.search(r"^\.target (sm_\w+)", module.read_text(), re.M).group(1)
        run = subprocess.run([options.assemble, "-c", "-O0", f"-arch={target}", out, "-o", "/dev/null"], capture_output=True, text=True)
    os.unlink(out)
    return f"{engine}, {module.name}, rewritten: {said(run)}" if run.returncode else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gpurace")
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--assemble", metavar="PTXAS")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        programs = [p for f in options.folders for p in sorted(pathlib.Path(f).rglob("*")) if p.is_file() and not p.is_symlink()]
        for number, program in enumerate(programs):
            where = os.path.join(folder, "in", str(number))
            os.makedirs(where)
            subprocess.run([options.gpurace, "fatbin", "--extract-ptx", where, program], capture_output=True)
        modules = sorted(pathlib.Path(folder, "in").rglob("*.ptx"))
        for module in modules:  # two programs may have modules of one name
            module.rename(module.with_name(f"{module.parent.name}.{module.name}"))
        modules = sorted(pathlib.Path(folder, "in").rglob("*.ptx"))
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            failed = [f for f in pool.map(lambda job: check(options, *job, folder), [(e, m) for e in ENGINES for m in modules]) if f]
    print("\n".join(failed))
    print(f"{len(modules)} modules of {len(programs)} files rewritten by {len(ENGINES)} engines, {len(failed)} results are wrong")
    return bool(failed) or not modules


if __name__ == "__main__":
    sys.exit(main())

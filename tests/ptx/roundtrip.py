#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Round trip: ptxas makes the same code from PTX and from what the IR prints of it.

For every file (a .cu is compiled first, in several ways) the module is parsed and printed with all registers
renumbered and all labels renamed (a debug module as it is: its DWARF data names both), both texts go through ptxas,
and the sections that matter are compared. ptxas' results are kept in --work under the hash of their input.
"""
import argparse
import concurrent.futures
import glob
import hashlib
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
VARIANTS = {
    "sm90": ["-O3", "-lineinfo", "-arch=compute_90"],
    "sm75": ["-O3", "-lineinfo", "-arch=compute_75"],
    "sm100": ["-O3", "-lineinfo", "-arch=compute_100"],
    "O0": ["-Xcicc", "-O0", "-lineinfo", "-arch=compute_90"],
    "G": ["-G", "-arch=compute_90"],
}


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}\n{done.stdout}{done.stderr}")


def kept(args, key, suffix, make):
    """The file made from `key` (bytes), made now unless it was before."""
    path = os.path.join(args.work, hashlib.sha256(key).hexdigest()[:24] + suffix)
    if not os.path.exists(path):
        part = f"{path}.{os.getpid()}.{id(make)}.part"
        make(part)
        os.replace(part, path)
    return path


def read(path):
    with open(path, "rb") as f:
        return f.read()


def compile_cu(args, source, variant):
    key = read(source) + repr((VARIANTS[variant], args.nvcc)).encode()
    return kept(args, key, ".ptx", lambda out: run([args.nvcc, *VARIANTS[variant], "-ptx", "-o", out, source]))


def assemble(args, text_path, debug):
    text = read(text_path)
    target = re.search(rb"^\s*\.target\s+(sm_\w+)", text, re.M).group(1).decode()
    options = [args.ptxas, f"-arch={target}", *(["-g"] if debug else [])]
    return kept(args, text + repr(options).encode(), ".cubin", lambda out: run([*options, text_path, "-o", out]))


def check(args, source, variant):
    name = os.path.basename(source) + (f" {variant}" if variant else "")
    try:
        ptx = compile_cu(args, source, variant) if variant else source
        header = read(ptx)[:4096]
        debug = re.search(rb"^\s*\.target\s.*\bdebug\b", header, re.M) is not None
        printed = os.path.join(args.work, hashlib.sha256(name.encode()).hexdigest()[:24] + ".printed.ptx")
        run([args.tool, ptx, printed, *([] if debug else ["--renumber", "--relabel"])])
        run([sys.executable, os.path.join(HERE, "compare_elf.py"), assemble(args, ptx, debug),
             assemble(args, printed, debug)])
        return name, None
    except RuntimeError as e:
        return name, str(e)


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--tool", required=True, help="ptx_roundtrip")
    p.add_argument("--nvcc", default="nvcc")
    p.add_argument("--ptxas", default="ptxas")
    p.add_argument("--work", required=True)
    p.add_argument("--variants", default=",".join(VARIANTS))
    p.add_argument("--jobs", type=int, default=os.cpu_count())
    p.add_argument("files", nargs="+", help=".cu and .ptx files, and folders of .ptx files")
    args = p.parse_args()
    os.makedirs(args.work, exist_ok=True)
    files = [f for a in args.files for f in (sorted(glob.glob(a + "/*.ptx")) if os.path.isdir(a) else [a])]
    if not files:
        sys.exit("no modules")
    work = [(f, v) for f in files for v in (args.variants.split(",") if f.endswith(".cu") else [None])]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for name, error in pool.map(lambda w: check(args, *w), work):
            if error:
                failed += 1
                print(f"FAILED {name}\n{error}")
    print(f"{len(work)} modules, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()

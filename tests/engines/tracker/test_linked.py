#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the tracker rewrites can be compiled function by function and linked: test_linked.py GPURACE PTXAS [FOLDER...]

`gpurace ptx` says with how many registers. Without a FOLDER: kernels with each kind of directive, for which the number is known, and two
units that call each other's functions. With one: the PTX in each program there, for its own target.
"""
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

gpurace, ptxas, *folders = sys.argv[1:]

HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"
KERNEL = """.visible .entry {name}(.param .u64 p) {directives}
{{
    .reg .u64 %a;
    .reg .u32 %v, %w;
    ld.param.u64 %a, [p];
    ld.global.u32 %v, [%a];
    {call}
    st.global.u32 [%a+4], %v;
    bar.sync 0;
    ret;
}}
"""
# The directives of a module's kernels, and how many registers its functions may take; 0: it is not linked.
DIRECTIVES = [
    ([""], 64),
    ([".maxntid 256, 1, 1"], 255),
    ([".reqntid 768"], 80),
    ([".maxntid 32, 8, 2 .minnctapersm 2"], 64),
    ([".maxntid 1024 .minnctapersm 2"], 32),
    ([".maxntid 1024 .minnctapersm 3"], 0),
    ([".minnctapersm 2"], 64),
    ([".maxnreg 40"], 40),
    ([".maxnreg 16"], 0),
    ([".maxntid 128", "", ".maxnreg 48"], 48),
    ([], 255),
]


def kernel(name, directives, call=""):
    return KERNEL.format(name=name, directives=directives, call=call)


def compile_object(text, target, registers, out):
    run = subprocess.run([ptxas, "-c", f"-arch={target}", f"-maxrregcount={registers}", text, "-o", out],
                         capture_output=True, text=True)
    return run.stderr if run.returncode else None


def rewrite(path, out):
    """The registers that the pass allows, 0 where it says none; and what went wrong."""
    run = subprocess.run([gpurace, "ptx", "--engine", "tracker", path, "-o", out], capture_output=True, text=True)
    if run.returncode:
        return 0, run.stderr
    said = re.search(r"-maxrregcount=(\d+)", run.stderr)
    return int(said.group(1)) if said else 0, None


def check_directives(case):
    directives, expected = case
    first = next(d for d, n in DIRECTIVES if n == expected)  # ptxas takes its time: once for each number
    with tempfile.TemporaryDirectory() as tmp:
        text = HEAD + "".join(kernel(f"k{n}", d) for n, d in enumerate(directives))
        pathlib.Path(f"{tmp}/in.ptx").write_text(text)
        registers, error = rewrite(f"{tmp}/in.ptx", f"{tmp}/out.ptx")
        if error or registers != expected:
            return f"{directives}: {error or f'{registers} registers, not {expected}'}"
        error = compile_object(f"{tmp}/out.ptx", "sm_90", registers, f"{tmp}/out.o") if registers and directives == first else None
        return f"{directives}: {error}" if error else None


def check_units():
    """Each has a runtime of its own, and the control word of each is there under its own name."""
    declared = ".func (.param .u32 r) twice(.param .u32 x)"
    twice = f".visible {declared} {{ .reg .u32 %v; ld.param.u32 %v, [x]; add.u32 %v, %v, %v; st.param.u32 [r], %v; ret; }}\n"
    call = "{ .param .u32 x; .param .u32 r; st.param.u32 [x], %v; call (r), twice, (x); ld.param.u32 %v, [r]; }"
    units = [f".extern {declared};\n" + kernel("k1", "", call), twice + kernel("k2", ".maxntid 1024")]
    with tempfile.TemporaryDirectory() as tmp:
        for n, unit in enumerate(units, 1):
            pathlib.Path(f"{tmp}/in.ptx").write_text(HEAD + unit)
            registers, error = rewrite(f"{tmp}/in.ptx", f"{tmp}/out.ptx")
            text = pathlib.Path(f"{tmp}/out.ptx")
            text.write_text(text.read_text().replace("__gr_", f"__gr{n}_"))  # as in a program, where modules have numbers
            error = error or compile_object(text, "sm_90", registers, f"{tmp}/{n}.o")
            if error:
                return f"unit {n}: {error}"
        nvlink = pathlib.Path(ptxas).with_name("nvlink")
        run = subprocess.run([nvlink, "-arch=sm_90", f"{tmp}/1.o", f"{tmp}/2.o", "-o", f"{tmp}/linked"],
                             capture_output=True, text=True)
        if run.returncode:
            return f"nvlink: {run.stderr}"
        linked = pathlib.Path(f"{tmp}/linked").read_bytes()
        lost = [name for name in ("__gr1_control", "__gr2_control", "k1", "k2") if f"\0{name}\0".encode() not in linked]
        return f"nvlink left out {lost}" if lost else None


def check_program(path):
    """(how many were compiled, what went wrong)"""
    with tempfile.TemporaryDirectory() as tmp:
        subprocess.run([gpurace, "fatbin", "--extract-ptx", tmp, path], capture_output=True, check=True)
        compiled = 0
        for n, ptx in enumerate(sorted(pathlib.Path(tmp).glob("*.ptx"))):
            target = re.search(r"^\.target (sm_\w+)", ptx.read_text(), re.M).group(1)
            registers, error = rewrite(ptx, f"{tmp}/out.{n}")
            error = error or registers and compile_object(f"{tmp}/out.{n}", target, registers, f"{tmp}/{n}.o")
            if error:
                return compiled, f"{ptx.name}: {error[:600]}"
            compiled += registers > 0
        return compiled, None


with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    if folders:
        programs = [p for f in folders for p in sorted(pathlib.Path(f).rglob("*")) if p.is_file() and os.access(p, os.X_OK)]
        results = list(pool.map(check_program, programs))
        failed = [error for _, error in results if error]
        print(f"{sum(n for n, _ in results)} modules of {len(programs)} programs compiled, {len(failed)} failed")
        empty = not sum(n for n, _ in results)
    else:
        failed = [error for error in [*pool.map(check_directives, DIRECTIVES), check_units()] if error]
        empty = False
print("\n".join(failed))
sys.exit(bool(failed) or empty)

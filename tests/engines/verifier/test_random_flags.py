#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random kernels whose blocks wait for each other by flags that count the rounds of a loop, most of them with some fault: where `gpurace check` has proved a
kernel free of races, `gpurace run --engine exact` must see none in it.

usage: test_random_flags.py GPURACE NVCC [--first N] [--count N] [--kernels N] [--seeds N] [--damage] [--keep FOLDER]
"""
import argparse
import random
import re
import subprocess
import sys

import checked

BLOCKS = 4
HEAD = """#include <cstdlib>
#include <cuda_runtime.h>
#define F __threadfence()
"""
MAIN = """int main(int argc, char **argv) {
    int *flag, *cells;
    cudaMalloc(&flag, 4 * sizeof(int));
    cudaMalloc(&cells, 1024 * sizeof(int));
    cudaMemset(flag, 0, 4 * sizeof(int));
    cudaMemset(cells, 0, 1024 * sizeof(int));
    switch (argc > 1 ? atoi(argv[1]) : 0) {
%s    }
    return cudaDeviceSynchronize();
}
"""


def mostly(r, right, *wrong):
    """The first one nine times of ten."""
    return right if r.random() < 0.9 or not wrong else r.choice(wrong)


def wait(r, other, thread, step):
    least = mostly(r, f"{step} * g", f"{step} * g - 1", f"{step} * (g - 1)", "g / 2", f"{step} * g - {step} + 1")
    who = mostly(r, f"t == {thread}", f"t == {thread} && g", f"t == {thread} && g != 3", f"t == {thread} && b != 2", f"t <= {thread}")
    load = r.choice([f"atomicAdd(flag + (b + {other}) % {BLOCKS}, 0)", f"*(volatile int *)(flag + (b + {other}) % {BLOCKS})"])
    return f"if ({who}) {{ while ({load} < {least}) {{}} {mostly(r, 'F;', '')} }}"


def kernel(r, number):
    """(threads of a block, source)"""
    threads = r.choice([4, 8, 32])
    cells = BLOCKS * threads
    told, step = r.choice([("g + 1", 1)] * 6 + [("2 * g + 2", 2), ("(g + 1) * 3", 3), ("g + 2", 1), ("g", 1), ("3", 1), ("6 - g", 1), ("g * g + 1", 1)])
    waits = [wait(r, BLOCKS - 1, 0, step), wait(r, 1, r.choice([0, 1, 1, 2]), step)]
    left, right = mostly(r, (cells - 1, 1), (0, 1), (cells - 1, 0), (0, 0), (cells - 2, 2), (cells - threads, threads), (cells - threads - 1, 1))
    source, target = mostly(r, ("cells + g % 2 * 256", "cells + (g + 1) % 2 * 256"), ("cells", "cells + 256"), ("cells", "cells"),
                            ("cells + g % 3 * 256", "cells + (g + 1) % 3 * 256"))
    access = f"{{ int *in = {source}, *out = {target}; out[i] = in[(i + {left}) % {cells}] + in[(i + {right}) % {cells}]; }}"
    who = mostly(r, "t == 0", f"t == {threads - 1}", "t == 0 && g != 4", "t == 0 && g % 2")
    put = r.choice(["atomicExch(flag + b, {});", "*(volatile int *)(flag + b) = {};"]).format(told)
    parts = [" ".join(mostly(r, waits, waits[:1], waits[1:])), mostly(r, "__syncthreads();", ""), access, mostly(r, "__syncthreads();", ""),
             f"if ({who}) {{ {mostly(r, 'F;', '')} {put} }}"]
    if r.random() < 0.06:
        one, other = r.sample(range(len(parts)), 2)
        parts[one], parts[other] = parts[other], parts[one]
    return threads, (f"__global__ void k{number}(int *flag, int *cells) {{ int b = blockIdx.x, t = threadIdx.x, i = b * {threads} + t; "
                     f"for (int g = 0; g < 5; g++) {{ {' '.join(parts)} }} }}\n")


def make(seed, n):
    r = random.Random(seed)
    kernels = [kernel(r, number) for number in range(n)]
    cases = (f"    case {number}: k{number}<<<{BLOCKS}, {threads}>>>(flag, cells); break;\n" for number, (threads, _) in enumerate(kernels))
    return HEAD + "".join(text for _, text in kernels) + MAIN % "".join(cases)


def damaged(text):
    """Of each kernel another one, for --damage: each thread that waits does so in all rounds, and for the last one."""
    return re.sub(r"< [^)]*\) \{\}", "< 100) {}", re.sub(r"(if \(t [<=]= \d+)[^)]*\)", r"\1)", text))


def proved(options, path, text):
    path.write_text(damaged(text) if options.damage else text)
    report, said, _ = checked.ask(options.gpurace, [path], [], ["--no-cache", "--replay", "no", "--max-reports", "0"])
    path.write_text(text)
    if not report:
        sys.exit(said)
    return {k["name"].split("(")[0] for k in report["coverage"]["kernels"]}


def races(options, program, number, seed):
    """Whether exact saw a race in the kernel. Blocks that wait for each other for ever are stopped."""
    report, _ = checked.exact(options.gpurace, program, [number], seed, 10)
    return bool(report["races"])


def one_program(options, seed, folder):
    """(kernels that are proved, racy ones, the source of those that are both)"""
    text = make(seed, options.kernels)
    path, program = folder / "program.cu", folder / "program"
    path.write_text(text)
    subprocess.run([options.nvcc, "-lineinfo", "-w", "-cudart", "shared", "-gencode", "arch=compute_90,code=compute_90", "-o", program, path], check=True)
    clean = proved(options, path, text)
    racy = {f"k{number}" for number in range(options.kernels) if any(races(options, program, number, s) for s in range(1, options.seeds + 1))}
    return clean, racy, [line for line in text.splitlines() if re.match(r"__global__ void (k\d+)", line) and line.split()[2].split("(")[0] in clean & racy]


def main():
    parser = argparse.ArgumentParser()
    checked.random_options(parser, seeds=2)
    parser.add_argument("--kernels", type=int, default=40, help="kernels of a program")
    options = parser.parse_args()
    clean, racy, wrong = [], [], []

    def one(seed, folder):
        for to, what in zip((clean, racy, wrong), one_program(options, seed, folder)):
            to.extend(what)

    try:
        checked.each(options, one)
    except RuntimeError as error:
        sys.exit(str(error))
    print(*(f"proved, but exact saw a race: {line}" for line in wrong[:10]), sep="\n")
    print(f"{options.count * options.kernels} kernels: {len(clean)} proved, {len(racy)} raced, {len(wrong)} both")
    return bool(wrong) != options.damage or not clean or not racy


if __name__ == "__main__":
    sys.exit(main())

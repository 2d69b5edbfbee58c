#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The same seed gives the same report, byte for byte, where addresses are drawn and cannot be kept from it: EM-33 of docs/execution-model.md.
Usage: test_randomized.py GPURACE REFUSE RUNS PROGRAM..."""
import os
import re
import subprocess
import sys
import tempfile

GPURACE, REFUSE, RUNS, *PROGRAMS = sys.argv[1:]
ENGINES = ("exact", "collider", "tracker", "privatizer")
# What a race on the host's own memory names: the addresses of programs, heaps, libraries, stacks.
HOST = re.compile(rb'("address": )"0x(?:2[ab]|5[56]|7[c-f])[0-9a-f]{10}"')


def report(engine, program, folder):
    output = os.path.join(folder, "report.json")
    done = subprocess.run([REFUSE, GPURACE, "run", "--device", "cpu", "--engine", engine, "--format", "json", "--output", output, "--", program],
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=100, check=False)
    if done.returncode == 77:
        print("skipped:", done.stderr.decode())
        sys.exit(77)
    with open(output, "rb") as file:
        text = file.read()
    return HOST.sub(rb'\1"the host"', text), len(HOST.findall(text))


def main():
    failed = 0
    with tempfile.TemporaryDirectory(prefix="gpurace-test-") as folder:
        for program in PROGRAMS:
            for engine in ENGINES:
                first, _ = report(engine, program, folder)
                for run in range(1, int(RUNS)):
                    again, _ = report(engine, program, folder)
                    if again != first:
                        failed += 1
                        print(f"{engine}, {program}: run {run} has another report:")
                        lines = first.decode().splitlines()
                        print("\n".join(f"  {a}\n  {b}" for a, b in zip(lines, again.decode().splitlines()) if a != b)[:1000])
                        break
        if b'"0x220000' not in first and b'"0x220000' not in report("exact", PROGRAMS[0], folder)[0]:
            failed += 1
            print("device memory is not where Linux maps nothing")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()

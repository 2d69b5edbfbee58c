#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An engine that wants the program's device memory in one range: test_arena.py GPURACE LIBRARY (MEMORY | --others SOURCES PROGRAMS)

MEMORY is arena/memory.cu. It prints PASS when the driver answers as for its own allocations. The engine complains of memory that lies
elsewhere or overlaps. The others are complete programs, which must not notice anything.
"""
import os
import pathlib
import re
import subprocess
import sys

gpurace, library = sys.argv[1:3]
failures = 0


def check(ok, what):
    global failures
    print(("ok   " if ok else "FAIL ") + what)
    failures += not ok


def run(program, device="", args=(), engine="arena"):
    env = dict(os.environ, GPURACE_INJECTION=library, GPURACE_CPU_DEVICE=device)
    return subprocess.run([gpurace, "run", "--engine", engine, "--device", "cpu", "--", program, *args],
                          capture_output=True, text=True, errors="replace", env=env, timeout=600)


def complaints(done):
    return [line.strip() for line in done.stderr.splitlines() if " arena: " in line or "outside of the range" in line]


def allocations(done):
    found = re.findall(r"^arena: (\d+) allocations, (\d+) bytes at most, (\d+) left, (\d+) other ranges, (\d+) bytes mapped$", done.stdout, re.M)
    return [int(n) for n in found[0]] if found else None


def check_memory(program):
    plain = run(program, "devices=2", engine="none")
    check("PASS" in plain.stdout.splitlines(), f"the driver alone:\n{plain.stdout}")
    for device in ("devices=2", "devices=2,seed=7", "devices=2,jobs=3"):
        done = run(program, device)
        check("PASS" in done.stdout.splitlines(), f"{device}: the program gets the same answers:\n{done.stdout}{done.stderr}")
        check(complaints(done) == [], f"{device}: all memory lies in the arena: {complaints(done)}")
        n = allocations(done)
        check(n and n[0] > 4000 and n[1] > 15 << 30 and n[2] == 0 and n[3] == 8 and n[4] == 4 << 20, f"{device}: what was told: {n}")
    done = run(program, args=["share"])
    check("PASS" in done.stdout.splitlines(), f"what cannot be shared:\n{done.stdout}{done.stderr}")
    for name in ("cuIpcGetMemHandle", "cuPointerSetAttribute"):
        check(f"because   {name}: this engine places the program's memory" in done.stderr, f"{name} is named")
    done = run(program, args=["full"])
    check("PASS" in done.stdout.splitlines(), f"all memory:\n{done.stdout}{done.stderr}")
    check("remark    some device memory of the program lies outside of the range" in done.stderr, "the last bytes are a remark")
    check(any("are not in the arena" in line for line in complaints(done)), f"the engine is told of them: {complaints(done)}")
    done = run(program, "devices=2,virtual=0")
    check("PASS" in done.stdout.splitlines(), f"without virtual memory management:\n{done.stdout}{done.stderr}")
    n = allocations(done)
    check(n and n[4] == 0, f"nor has the program mappings: {n}")
    check("device memory lies where the driver puts it" in done.stderr, "that is a remark")
    check(any("there is no arena" in line for line in complaints(done)), "the engine is told that there is no arena")


def check_others(sources, programs):
    seen = 0
    for source in sorted(pathlib.Path(sources).glob("*.cu")):
        text = source.read_text(encoding="utf-8")
        program = pathlib.Path(programs, "tested", source.stem)
        program = program if program.exists() else pathlib.Path(programs, source.stem)
        if re.search(r"^// LABELS: .*\bsoak\b", text, re.M) or not program.exists():
            continue
        words = {word: re.findall(rf"^// {word}: (.*)", text, re.M) for word in ("DEVICE", "ARGS")}
        done = run(str(program), ",".join(words["DEVICE"]), " ".join(words["ARGS"]).split())
        wrong = complaints(done)
        check("PASS" in done.stdout.splitlines() and not wrong and done.returncode == 0,
              f"{source.stem} {allocations(done)}" + ("" if not wrong else f": {wrong}\n{done.stderr}"))
        seen += 1
    check(seen > 30, f"{seen} programs")


if sys.argv[3] == "--others":
    check_others(*sys.argv[4:6])
else:
    check_memory(sys.argv[3])
sys.exit(failures != 0)

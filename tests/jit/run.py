#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Python programs whose kernels are compiled while they run. Each has a race, found at the lines marked SIDE and at no others, and a repaired
twin, clean with all kernels checked. The racy one runs twice, since a cache that hides kernels would do so the second time. On a GPU the
tracker looks for races, which finds them whatever the timing is; kernels of libraries, which are machine code, are not looked at.
Usage: run.py [--device cpu|gpu] GPURACE PYTHON PROGRAM.py…; PYTHON has the packages. Skips (77) where a package or the device is missing."""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from packages import FIND, PACKAGES

NO_LINES = {"jax_kernels"}
# Programs without a planted race, of whose kernels those with such a name must be checked; others may be machine code. What torch.compile makes of a
# softmax works in place: threads that hold a copy of an element load what another one stores (docs/just-in-time.md).
NO_RACE = {"torch_compiled": "triton_"}
GPU_ONLY = {"triton_launched", "torch_compiled", "jax_kernels"}
LINES_UNKNOWN = {"shift"}  # kernels that a library wraps into a source of its own


def call(*command, env=None):
    return subprocess.run(command, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=200, check=False)


def sides(program):
    """Lines of the program, and of a source in a string of it: from the string's first line on."""
    lines = program.read_text(encoding="utf-8").splitlines()
    start = next((n for n, line in enumerate(lines) if 'extern "C"' in line), None)
    marked = [n for n, line in enumerate(lines) if "SIDE" in line]
    return {n - start + 1 for n in marked} if start is not None else {n + 1 for n in marked}


def is_of_library(kernel):
    return ".so" in kernel.get("module", "")


def run(arguments, program, twin, folder):
    """Exit status, output and report; None for a report that is not there."""
    report = folder / "report.json"
    report.unlink(missing_ok=True)
    environment = {k: v for k, v in os.environ.items() if not k.startswith("GPURACE_")}
    environment.update(XDG_CACHE_HOME=str(folder / "cache"), HOME=str(folder), TMPDIR=str(folder / "tmp"))
    if program.stem == "jax_kernels":
        environment.update(XLA_PYTHON_CLIENT_PREALLOCATE="false")
    options = ["--engine", "tracker"] if arguments.device == "gpu" else []
    done = call(arguments.gpurace, "run", "--device", arguments.device, "--format", "json", "--output", str(report), *options,
                *arguments.option, "--", arguments.python, str(program), *twin, env=environment)
    return done.returncode, done.stdout, json.loads(report.read_text(encoding="utf-8")) if report.exists() else None


def judge(arguments, program, twin, folder):
    """What is wrong, as texts."""
    status, text, data = run(arguments, program, twin, folder)
    if not data:
        return [f"exit status {status} and no report: {text}"]
    kernels = [k for k in data["coverage"]["kernels"] if arguments.device == "cpu" or not is_of_library(k)]
    others = len(data["coverage"]["kernels"]) - len(kernels)
    if program.stem in NO_RACE:
        ours = [k for k in kernels if k["name"].startswith(NO_RACE[program.stem])]
        wrong = [k for k in ours if not k["checked"]] or not ours or "done" not in text
        wrong = wrong or not all(r["kernel"].startswith(NO_RACE[program.stem]) for r in data["races"])
        return [f"{data['verdict']}, {data['races']}, {kernels}: {text}"] if wrong else []
    wanted = ("inconclusive" if others else "clean", 0) if twin else ("races", 66)
    problems = []
    if (data["verdict"], status) != wanted or (data["reasons"] and not others):
        problems.append(f"{data['verdict']}, exit status {status}, {data['reasons']}: {text}")
    if not kernels or not all(k["checked"] for k in kernels):
        problems.append(f"kernels: {kernels}")
    known = [r for r in data["races"] if r["kernel"] not in LINES_UNKNOWN]
    lines = {a["line"] for r in known for a in r["accesses"]}
    if not twin and lines != sides(program) and program.stem not in NO_LINES:
        problems.append(f"races at the lines {sorted(lines)}, not {sorted(sides(program))}")
    stacks = [a.get("stack") or [] for r in data["races"] for a in r["accesses"] if a["thread"]]
    if not all(any(frame["file"] == str(program) for frame in stack) for stack in stacks):
        problems.append(f"not launched from the program's lines: {stacks}")
    if not twin and 'extern "C"' in program.read_text(encoding="utf-8"):  # a source that no file holds
        shown = [line for file in data["sources"].values() for line in file.values() if "SIDE" in line]
        if len(shown) != len(sides(program)):
            problems.append(f"sources: {data['sources']}")
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cpu", choices=("cpu", "gpu"))
    parser.add_argument("--option", action="append", default=[], help="of gpurace run; may be given several times")
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("gpurace")
    parser.add_argument("python")
    parser.add_argument("programs", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()
    failed = False
    for program in arguments.programs:
        if not os.path.exists(arguments.python) or call(arguments.python, "-c", FIND, *PACKAGES[program.stem]).returncode:
            print(f"skipped: {arguments.python} lacks one of {PACKAGES[program.stem]}; tools/setup.sh test or soak installs it")
            return 77
        if (arguments.device == "gpu" or program.stem in GPU_ONLY) and not os.path.exists("/dev/nvidiactl"):
            print("skipped: no GPU")
            return 77
        with tempfile.TemporaryDirectory(prefix="gpurace-test-") as name:
            folder = pathlib.Path(name)
            (folder / "tmp").mkdir()
            for number in range(1, arguments.runs + 1):
                for twin in ([], ["repaired"]) if number == 1 and program.stem not in NO_RACE else ([],):
                    problems = judge(arguments, program, twin, folder)
                    print("FAIL" if problems else "ok  ", program.stem, *twin, f"run {number}", *problems)
                    failed |= bool(problems)
            left = os.listdir(folder / "tmp")
            if left:
                print("FAIL", program.stem, "left behind:", left)
                failed = True
    return failed


if __name__ == "__main__":
    sys.exit(main())

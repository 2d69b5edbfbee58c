#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run.py [--device cpu|gpu] GPURACE ENGINE SOURCE PROGRAM: runs one complete program. It must exit with 0 and print PASS
(and what its // OUTPUT: lines say), and under an engine that checks, the verdict must be `clean`.
CMakeLists.txt explains the comments in the sources. ENGINE may also be one of WAYS: none, with other options; or PLAIN: without gpurace."""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field


WAYS = {"jobs": ["--jobs", "3"], "weak": ["--weak"]}
PLAIN = "plain"


@dataclass
class Done:
    """One run: what it printed, its report, and what is wrong."""

    text: str = ""
    report: dict = field(default_factory=dict)
    problems: list = field(default_factory=list)


def comments(source, word):
    with open(source, encoding="utf-8") as file:
        return re.findall(rf"^// {word}: (.*)", file.read(), re.M)


def race_of(record):
    access = record["accesses"][0]
    return f"{record['class']} at {access['file']}:{access['line']}"


def run(gpurace, engine, source, program, device="cpu", timeout=None):
    """Runs the program once. Whether a verdict other than `clean` is a problem is up to the caller."""
    options = WAYS.get(engine, [])
    environment = dict(os.environ, GPURACE_CPU_DEVICE=",".join(comments(source, "DEVICE")))
    with tempfile.TemporaryDirectory(prefix="gpurace-program-") as folder:
        output = os.path.join(folder, "report")
        command = [gpurace, "run", *options, "--engine", "none" if engine in WAYS else engine, "--device", device]
        command += ["--format", "json", "--output", output, "--"]
        command = (command if engine != PLAIN else []) + [program, *" ".join(comments(source, "ARGS")).split()]
        try:
            done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                  errors="replace", env=environment, timeout=timeout, check=False)
        except subprocess.TimeoutExpired:
            return Done(problems=[f"no end after {timeout} s"])
        result = Done(done.stdout)
        try:
            with open(output, encoding="utf-8") as file:
                result.report = json.load(file)
        except (OSError, ValueError) as error:
            result.report = {"verdict": "none", "reasons": [str(error)]} if engine != PLAIN else {}
    if done.returncode != 0:
        result.problems.append(f"exit status {done.returncode}")
    lines = done.stdout.splitlines()
    result.problems += [f"no line: {wanted}" for wanted in ["PASS"] + comments(source, "OUTPUT") if wanted not in lines]
    result.problems += [race_of(race) for race in result.report.get("races", [])]
    if result.problems:
        result.text += f"--- {' '.join(command)}\n{done.stdout}--- stderr\n{done.stderr}"
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cpu", choices=("cpu", "gpu"))
    parser.add_argument("gpurace")
    parser.add_argument("engine")
    parser.add_argument("source")
    parser.add_argument("program")
    args = parser.parse_args()
    done = run(args.gpurace, args.engine, args.source, args.program, args.device)
    problems = done.problems
    if args.engine not in ("none", PLAIN, *WAYS) and done.report["verdict"] != "clean":
        problems += [f"verdict: {done.report['verdict']}"] + [f"because: {reason}" for reason in done.report.get("reasons", [])]
    if problems:
        print("\n".join(problems) + "\n" + done.text)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

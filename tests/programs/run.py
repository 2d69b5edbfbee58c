#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run.py GPURACE ENGINE SOURCE PROGRAM: runs one complete program on the CPU device. It must exit with 0 and print PASS
(and what its // OUTPUT: lines say), and under an engine that checks, the verdict must be `clean`.
CMakeLists.txt explains the comments in the sources. ENGINE may also be one of WAYS: none, with other options."""
import json
import os
import re
import subprocess
import sys
import tempfile


WAYS = {"jobs": ["--jobs", "3"], "weak": ["--weak"]}


def main():
    gpurace, engine, source, program = sys.argv[1:5]
    options = WAYS.get(engine, [])
    engine = "none" if engine in WAYS else engine
    with open(source, encoding="utf-8") as file:
        text = file.read()

    def said(word):
        return re.findall(rf"^// {word}: (.*)", text, re.M)

    environment = dict(os.environ, GPURACE_CPU_DEVICE=",".join(said("DEVICE")))
    with tempfile.TemporaryDirectory(prefix="gpurace-program-") as folder:
        output = os.path.join(folder, "report")
        command = [gpurace, "run", *options, "--engine", engine, "--device", "cpu", "--format", "json", "--output", output]
        command += ["--", program, *" ".join(said("ARGS")).split()]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              errors="replace", env=environment, check=False)
        try:
            with open(output, encoding="utf-8") as file:
                report = json.load(file)
        except (OSError, ValueError) as error:
            report = {"verdict": f"none: {error}"}

    problems = []
    if done.returncode != 0:
        problems.append(f"exit status {done.returncode}")
    lines = done.stdout.splitlines()
    problems += [f"no line: {wanted}" for wanted in ["PASS"] + said("OUTPUT") if wanted not in lines]
    reasons = report.get("reasons", [])
    if engine != "none" and report["verdict"] != "clean":
        problems.append(f"verdict: {report['verdict']}")
        problems += [f"because: {reason}" for reason in reasons]
        for race in report.get("races", []):
            access = race["accesses"][0]
            problems.append(f"{race['class']} at {access['file']}:{access['line']}")
    if problems:
        print("\n".join(problems), "\n--- " + " ".join(command) + "\n" + done.stdout + "--- stderr\n" + done.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs one test program on the CPU device and checks what it says: exit status 0, a line PASS, and the comments

    // OUTPUT: text      a line of the standard output is exactly this
    // ANYWHERE: text    occurs in the standard output or error
    // ARGS: file...     arguments: files in the folder of the programs

A fourth argument names the program, if it is not as the source.
"""
import os
import re
import subprocess
import sys


def main():
    gpurace, source, programs = sys.argv[1:4]
    with open(source, encoding="utf-8") as file:
        text = file.read()
    name = sys.argv[4] if len(sys.argv) > 4 else os.path.basename(source)[: -len(".cu")]
    arguments = [os.path.join(programs, a) for line in re.findall(r"^// ARGS: (.*)", text, re.M) for a in line.split()]
    command = [gpurace, "run", "--engine", "none", "--strict", "no", "--device", "cpu", "--", os.path.join(programs, name), *arguments]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          errors="replace", check=False)
    problems = []
    if done.returncode != 0:
        problems.append(f"exit status {done.returncode}")
    lines = done.stdout.splitlines()
    for wanted in ["PASS"] + re.findall(r"^// OUTPUT: (.*)", text, re.M):
        if wanted not in lines:
            problems.append(f"no line: {wanted}")
    for wanted in re.findall(r"^// ANYWHERE: (.*)", text, re.M):
        if wanted not in done.stdout + done.stderr:
            problems.append(f"nowhere: {wanted}")
    if problems:
        print("\n".join(problems), "\n--- " + " ".join(command) + "\n" + done.stdout + "--- stderr\n" + done.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs meetings/alias.cu: the tracker leaves out reads of memory that no thread of the launch writes, and no other reads.

usage: test_alias.py GPURACE PROGRAM
"""
import json
import subprocess
import sys
import tempfile

# The argument, and the verdict. "far" writes an allocation through a pointer to another one: the tracker says that it may have missed something.
CASES = {"two": "clean", "same": "races", "inner": "races", "from-inner": "races", "restricted": "races", "larger": "races", "pool": "races",
         "pinned": "races", "table": "races", "far": "inconclusive"}
LEFT = "a store left the allocation"


def main():
    gpurace, program = sys.argv[1:]
    wrong = 0
    with tempfile.NamedTemporaryFile(suffix=".json") as report:
        for case, verdict in CASES.items():
            done = subprocess.run([gpurace, "run", "--engine", "tracker", "--device", "cpu", "--format", "json", "--output", report.name, "--", program, case],
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
            with open(report.name, encoding="utf-8") as f:
                text = f.read()
            said = json.loads(text)["verdict"]
            if done.returncode != (66 if verdict == "races" else 0) or said != verdict or (LEFT in text) != (case == "far"):
                print(f"{case}: status {done.returncode}, {said}, expected {verdict}\n{done.stdout}")
                wrong += 1
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main())

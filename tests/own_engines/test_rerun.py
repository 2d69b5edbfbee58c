#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An engine that runs each launch twice: test_rerun.py GPURACE LIBRARY (LAUNCHES | --other PROGRAM)

LAUNCHES is rerun/launches.cu: each launch is shown with all that it needs, all memory is told, and only kernels that depend on order or
time leave other memory. Another program prints PASS when it gets what it asked for, which running twice must not change.
"""
import os
import subprocess
import sys

gpurace, library = sys.argv[1:3]
env = dict(os.environ, GPURACE_INJECTION=library)
failures = 0


def check(ok, what):
    global failures
    print(("ok   " if ok else "FAIL ") + what)
    failures += not ok


def run(program, engine="rerun"):
    return subprocess.run([gpurace, "run", "--engine", engine, "--device", "cpu", "--", program],
                          capture_output=True, text=True, env=env, timeout=300)


def check_launches(program):
    done = run(program)
    lines = done.stdout.splitlines()
    shown = [line.split()[3:] for line in lines if line.startswith("rerun: launch ")]
    check("PASS" in lines, f"the program gets what it asked for:\n{done.stdout}{done.stderr}")
    for kernel, same in (("plain", True), ("clustered", True), ("cooperative", True), ("twice", True), ("ordered", False),
                         ("timed", False)):
        of_it = [words for words in shown if words[0] == kernel]
        expected = ["SAME" if same else "DIFFERENT", "error", "0"]
        check(of_it and all(words[1:4] == expected for words in of_it), f"{kernel}: {expected[0]}: {of_it}")
    numbers = [int(line.split()[2]) for line in lines if line.startswith("rerun: launch ")]
    check(numbers == list(range(1, len(numbers) + 1)), f"launches are numbered: {numbers}")
    check(not any("unknown" in words for words in shown), "modules are known")
    check(all(words[5] != "0" for words in shown), "parameters are known")
    check(["plain", "SAME", "error", "0", "params", "16", "cluster", "0"] in shown, "the layout of parameters with holes")
    check(["clustered", "SAME", "error", "0", "params", "8", "cluster", "2"] in shown, "cluster dimensions")
    check(any(words[0] == "cooperative" and "cooperative" in words[1:] for words in shown), "a cooperative launch")
    order = [words[0] for words in shown if "graph" in words]
    check(order == ["plain", "twice"] * 3 + ["plain"] + ["plain", "twice"], f"nodes of graphs, in their order: {order}")
    before = lines[:lines.index("captured")] if "captured" in lines else []
    check(before and "rerun: copied 1024 x 1 x 1 async" not in before, "what is captured is not shown")
    for text in ("allocated device 1024", "allocated device 8", "allocated managed 1024", "allocated pinned 1024", "allocated pool 1024",
                 "allocated registered 4096", "allocated global 4", "freed device 1024", "freed managed 1024", "freed pinned 1024",
                 "freed pool 1024", "freed registered 4096", "copied 1024 x 1 x 1 sync", "copied 1024 x 1 x 1 async", "copied 8 x 3 x 1 sync",
                 "filled 100 x 3 with 3 of 1 sync", "filled 1024 x 1 with 0 of 1 async", "filled 32 x 32 with 0 of 1 async"):
        check("rerun: " + text in lines, text)
    check("result depends on the run" in done.stderr and done.returncode == 66, f"a difference is a race of the verdict: {done.stderr}")
    counted = run(program, "exact")
    check(f"launches  {len(numbers)} checked, 0 not" in counted.stderr,
          f"another engine's verdict counts the nodes of graphs, and not what is captured: {counted.stderr}")


def check_other(program):
    done = run(program)
    wrong = [line for line in done.stdout.splitlines() if line.startswith("rerun: launch ") and "error 0" not in line]
    check("PASS" in done.stdout.splitlines(), f"the program gets what it asked for:\n{done.stdout}{done.stderr}")
    check("rerun: launch " in done.stdout and not wrong, f"launches that failed: {wrong}")
    check(" graph" in done.stdout, "nodes of graphs are shown")
    wholes = [line for line in done.stderr.splitlines() if "launched as a whole" in line]
    check(all("it allocates or frees memory" in line for line in wholes), f"graphs that were launched as a whole: {wholes}")


if sys.argv[3] == "--other":
    check_other(sys.argv[4])
else:
    check_launches(sys.argv[3])
sys.exit(failures != 0)

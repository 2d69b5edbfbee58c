#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What an engine is told before the driver is: test_coming.py GPURACE LIBRARY WORK

WORK is coming/work.cu. The engine prints each thing that comes, and the first byte of where it goes: the program has put the number of the piece there.
"""
import os
import subprocess
import sys

gpurace, library, program = sys.argv[1:4]
expected = """stream 0
stream 1
copy 4096 at once legacy 1
copy 100 at once legacy 2
copy 200 in stream 3
copy 300 in stream 4
copy 256 at once legacy 5
copy 128 in stream 6
fill 500 at once legacy 7
fill 600 in stream 8
fill 700 in own 9
launch of nested with 192 bytes of pinned memory
launch of given with 512 bytes of managed memory
launch of given with 32 bytes of managed memory
chain 2 in stream 0
branches 3 in stream 0
no stream 1
no stream 0""".splitlines()

done = subprocess.run([gpurace, "run", "--engine", "coming", "--device", "cpu", "--", program], capture_output=True, text=True, timeout=60,
                      env=dict(os.environ, GPURACE_INJECTION=library))
told = [line.removeprefix("coming: ") for line in done.stdout.splitlines() if line.startswith("coming: ")]
passed = any("PASS" in line for line in done.stdout.splitlines())
for want, got in zip(expected + [""] * len(told), told + [""] * len(expected)):
    if want or got:
        print(f"{'ok  ' if want == got else 'FAIL'} {got or 'nothing'}" + ("" if want == got else f", not {want or 'nothing'}"))
if not passed:
    print(f"FAIL the program does not pass:\n{done.stdout}{done.stderr}")
sys.exit(told != expected or not passed)

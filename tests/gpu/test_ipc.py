#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_ipc.py GPURACE PROGRAM: the CPU device shares no memory between processes. The program gets CUDA's error for that, and the verdict names the call."""
import json
import os
import subprocess
import sys
import tempfile

gpurace, program = sys.argv[1:3]
with tempfile.TemporaryDirectory(prefix="gpurace-test-") as folder:
    pipes = [os.path.join(folder, name) for name in ("down", "up")]
    for pipe in pipes:
        os.mkfifo(pipe)
    ends = [os.open(pipe, os.O_RDWR) for pipe in pipes]  # nothing waits for another process
    report = os.path.join(folder, "report.json")
    done = subprocess.run([gpurace, "run", "--device", "cpu", "--format", "json", "--output", report, "--", program, "own", *pipes, "racy"], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60, check=False)
    with open(report, encoding="utf-8") as file:
        data = json.load(file)
wanted = "cudaIpcGetMemHandle is not supported on this device, and the program called it"
right = done.returncode == 2 and "cudaErrorNotSupported" in done.stdout and data["verdict"] == "inconclusive" and wanted in data["reasons"]
print("ok" if right else f"exit status {done.returncode}, {data['verdict']}, {data['reasons']}: {done.stdout}")
sys.exit(not right)

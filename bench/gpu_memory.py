#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How much of a GPU's memory programs take at most, without gpurace and under its engines: for a machine with a GPU that nothing else uses.

    bench/gpu_memory.py GPURACE PROGRAM... [--engines collider,tracker]

NVML is asked again and again what the whole device has in use while a program runs, so short peaks may be missed; of that goes what was in use
before. Each program runs twice, and the second run counts: in the first one the driver compiles. The context of a process (half a GiB on an H100)
and machine code are in all numbers; the difference to the run without gpurace is what checking takes."""
import argparse
import ctypes
import pathlib
import statistics
import subprocess
import sys
import time

MIB = 1 << 20
PLAIN = "alone"


class Memory(ctypes.Structure):
    """nvmlMemory_t."""

    _fields_ = [("total", ctypes.c_ulonglong), ("free", ctypes.c_ulonglong), ("used", ctypes.c_ulonglong)]


class Device:
    def __init__(self):
        try:
            self.nvml, self.handle = ctypes.CDLL("libnvidia-ml.so.1"), ctypes.c_void_p()
        except OSError as error:
            sys.exit(f"no NVIDIA GPU can be asked: {error}")
        if self.nvml.nvmlInit_v2() or self.nvml.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(self.handle)):
            sys.exit("NVML finds no GPU")

    def used(self):
        memory = Memory()
        if self.nvml.nvmlDeviceGetMemoryInfo(self.handle, ctypes.byref(memory)):
            sys.exit("NVML does not say how much memory is in use")
        return memory.used


def most(device, command, patience):
    """MiB; None where the program fails or takes too long."""
    before, top, end = device.used(), 0, time.monotonic() + patience
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while child.poll() is None and time.monotonic() < end:
        top = max(top, device.used())
        time.sleep(0.0005)
    if child.poll() is None:
        child.terminate()
        child.wait()
        return None
    return None if child.returncode else max(0, top - before) / MIB


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    p.add_argument("gpurace")
    p.add_argument("programs", nargs="+", metavar="PROGRAM")
    p.add_argument("--engines", default="collider,tracker", help="default: %(default)s")
    p.add_argument("--timeout", type=float, default=30, metavar="SECONDS", help="of one run (default: %(default)s)")
    args = p.parse_args()
    device, engines, more = Device(), args.engines.split(","), {}
    print("| program | " + " | ".join([f"{PLAIN}, MiB", *engines]) + " |\n" + "|---" * (2 + len(engines)) + "|")
    for program in args.programs:
        taken = {}
        for engine in [PLAIN, *engines]:
            command = [] if engine == PLAIN else [args.gpurace, "run", "--device", "gpu", "--error-exitcode", "0", "--engine", engine, "--"]
            taken[engine] = [most(device, [*command, program], args.timeout) for _ in range(2)][-1]
        cells = [f"{taken[PLAIN]:.0f}" if taken[PLAIN] is not None else "failed"]
        for engine in engines:
            known = None not in (taken[engine], taken[PLAIN])
            cells.append(f"{taken[engine] - taken[PLAIN]:+.0f}" if known else "failed")
            if known:
                more.setdefault(engine, []).append(taken[engine] - taken[PLAIN])
        print(f"| {pathlib.Path(program).name} | " + " | ".join(cells) + " |", flush=True)
    for engine, values in more.items():
        print(f"{engine}: {statistics.mean(values):.1f} MiB more on average of {len(values)} programs, at most {max(values):.0f}")


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""stacks_python.py MODULE.ptx: the driver API from Python, by ctypes; the kernel has a race."""
import ctypes
import sys

cuda = ctypes.CDLL("libcuda.so.1")  # such calls let go of the interpreter's lock
locked = ctypes.PyDLL("libcuda.so.1")  # and such calls do not
Pointer = ctypes.c_void_p


def check(rc):
    if rc:
        sys.exit(f"CUDA error {rc}")


def launch(api, f, at):
    p, n = ctypes.c_uint64(at), ctypes.c_int(64)
    args = (Pointer * 3)(*(ctypes.cast(ctypes.byref(v), Pointer) for v in (p, n, ctypes.c_int(0))))
    check(api.cuLaunchKernel(f, 1, 1, 1, 64, 1, 1, 0, None, args, None))  # launch


class Trainer:
    def step(self, api, f, at):
        launch(api, f, at)  # step


def main():
    context, module, f, at = Pointer(), Pointer(), Pointer(), ctypes.c_uint64()
    check(cuda.cuInit(0))
    check(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
    check(cuda.cuCtxSetCurrent(context))
    check(cuda.cuModuleLoad(ctypes.byref(module), sys.argv[1].encode()))
    check(cuda.cuModuleGetFunction(ctypes.byref(f), module, sys.argv[2].encode()))
    check(cuda.cuMemAlloc_v2(ctypes.byref(at), ctypes.c_size_t(256)))  # memory
    Trainer().step(locked if "locked" in sys.argv else cuda, f, at.value)  # main
    check(cuda.cuCtxSynchronize())


main()

# SPDX-License-Identifier: Apache-2.0
"""Numba: Python to LTO-IR or PTX, nvJitLink makes machine code of it. Twice: the second time a cache on disk may have the kernel."""
import sys
import warnings

import numpy as np
from numba import cuda, int32

warnings.simplefilter("ignore")
if not hasattr(np, "row_stack"):  # numba-cuda 0.30 asks for it, and NumPy 2.5 has it no more
    np.row_stack = np.vstack
REPAIRED = "repaired" in sys.argv


@cuda.jit(lineinfo=True, cache=True)
def turn(a):
    s = cuda.shared.array(64, dtype=int32)
    t = cuda.threadIdx.x
    s[t] = t  # SIDE
    if REPAIRED:
        cuda.syncthreads()
    a[t] = s[63 - t]  # SIDE


a = cuda.to_device(np.zeros(64, np.int32))
turn[1, 64](a)
out = a.copy_to_host()
assert not REPAIRED or list(out) == list(range(63, -1, -1)), out
print("done")

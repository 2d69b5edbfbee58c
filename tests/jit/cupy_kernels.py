# SPDX-License-Identifier: Apache-2.0
"""CuPy: a RawKernel that races, unless it is repaired, and an ElementwiseKernel, by NVRTC. The second time CuPy's cache may have them."""
import sys

import cupy as cp

repaired = "repaired" in sys.argv
turn = cp.RawKernel('#line 1 "kernel.cu"' + r"""
extern "C" __global__ void turn(int *a) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = t; // SIDE
    BARRIER;
    a[t] = s[63 - t]; // SIDE
}
""", "turn", options=("-lineinfo", "-DBARRIER=" + ("__syncthreads()" if repaired else "")))
# Each thread reads its neighbour's element, which the neighbour changes; the twin writes elsewhere.
shift = cp.ElementwiseKernel("raw T x", "raw T y", "y[i] = x[(i + 1) % _ind.size()]", "shift")

a = cp.zeros(64, dtype=cp.int32)
turn((1,), (64,), (a,))
shift(a, a if not repaired else cp.zeros_like(a), size=64)
assert float(cp.ones(100).sum()) == 100  # which CUB would compute, with NVIDIA's static runtime
out = cp.asnumpy(a)
assert not repaired or list(out) == list(range(63, -1, -1)), out
print("done")

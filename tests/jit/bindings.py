# SPDX-License-Identifier: Apache-2.0
"""cuda-bindings: NVRTC compiles to machine code, the driver's API loads it."""
import sys

import numpy as np
from cuda.bindings import driver, nvrtc

SOURCE = b"""extern "C" __global__ void turn(int *a) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = t; // SIDE
    BARRIER;
    a[t] = s[63 - t]; // SIDE
}
"""


def check(result):
    assert result[0].value == 0, result
    return result[1] if len(result) == 2 else result[1:]


barrier = b"__syncthreads()" if "repaired" in sys.argv else b""
check(driver.cuInit(0))
device = check(driver.cuDeviceGet(0))
check(driver.cuCtxSetCurrent(check(driver.cuDevicePrimaryCtxRetain(device))))
major, minor = (check(driver.cuDeviceGetAttribute(a, device)) for a in (
    driver.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, driver.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR))
program = check(nvrtc.nvrtcCreateProgram(SOURCE, b"kernel.cu", 0, [], []))
check(nvrtc.nvrtcCompileProgram(program, 3, [b"-arch=sm_%d%d" % (major, minor), b"-lineinfo", b"-DBARRIER=" + barrier]))
cubin = b" " * check(nvrtc.nvrtcGetCUBINSize(program))
check(nvrtc.nvrtcGetCUBIN(program, cubin))
kernel = check(driver.cuModuleGetFunction(check(driver.cuModuleLoadData(cubin)), b"turn"))
a = check(driver.cuMemAlloc(256))
check(driver.cuLaunchKernel(kernel, 1, 1, 1, 64, 1, 1, 0, 0, ((a,), (None,)), 0))
out = np.zeros(64, np.int32)
check(driver.cuMemcpyDtoH(out.ctypes.data, a, 256))
assert not barrier or list(out) == list(range(63, -1, -1)), out
print("done")

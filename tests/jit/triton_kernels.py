# SPDX-License-Identifier: Apache-2.0
"""Triton: its compiler calls ptxas, for the GPU of the CPU device. The driver's API loads what comes out, as Triton's launcher does, which wants
PyTorch. The second time Triton's cache has the kernel."""
import sys

import numpy as np
import triton
import triton.language as tl
from cuda.bindings import driver
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

REPAIRED = "repaired" in sys.argv


@triton.jit
def turn(p, q, REPAIRED: tl.constexpr):
    i = tl.arange(0, 128)
    to = q if REPAIRED else p
    x = tl.load(p + i)  # SIDE
    tl.store(to + 127 - i, x)  # SIDE


def check(result):
    assert result[0].value == 0, result
    return result[1] if len(result) == 2 else result[1:]


check(driver.cuInit(0))
device = check(driver.cuDeviceGet(0))
check(driver.cuCtxSetCurrent(check(driver.cuDevicePrimaryCtxRetain(device))))
major, minor = (check(driver.cuDeviceGetAttribute(a, device)) for a in (
    driver.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, driver.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR))
source = ASTSource(fn=turn, signature={"p": "*i32", "q": "*i32", "REPAIRED": "constexpr"}, constexprs={"REPAIRED": REPAIRED})
compiled = triton.compile(source, target=GPUTarget("cuda", major * 10 + minor, 32), options={"num_warps": 4})
kernel = check(driver.cuModuleGetFunction(check(driver.cuModuleLoadData(compiled.asm["cubin"])), compiled.metadata.name.encode()))
p, q = check(driver.cuMemAlloc(512)), check(driver.cuMemAlloc(512))
out = np.arange(128, dtype=np.int32)
check(driver.cuMemcpyHtoD(p, out.ctypes.data, 512))
none = driver.CUdeviceptr(0)  # scratch memory, which this kernel does not use
check(driver.cuLaunchKernel(kernel, 1, 1, 1, 128, 1, 1, compiled.metadata.shared, 0, ((p, q, none, none), (None,) * 4), 0))
check(driver.cuMemcpyDtoH(out.ctypes.data, q if REPAIRED else p, 512))
assert not REPAIRED or list(out) == list(range(127, -1, -1)), out
print("done")

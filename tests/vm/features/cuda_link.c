// SPDX-License-Identifier: Apache-2.0
// What programs of the driver API are linked against, as with the toolkit's stub: names only. The libcuda.so.1 that
// they run with is the machine's driver or gpurace's.
#define FUNCTION(name)                                                                                       \
    int name(void);                                                                                          \
    int name(void) { return 34; /* CUDA_ERROR_STUB_LIBRARY */ }
FUNCTION(cuInit)
FUNCTION(cuDriverGetVersion)
FUNCTION(cuGetErrorName)
FUNCTION(cuDeviceGetCount)
FUNCTION(cuDeviceGet)
FUNCTION(cuDeviceGetName)
FUNCTION(cuDeviceTotalMem_v2)
FUNCTION(cuDeviceGetAttribute)
FUNCTION(cuCtxCreate_v4)
FUNCTION(cuCtxDestroy_v2)
FUNCTION(cuCtxGetCurrent)
FUNCTION(cuCtxSynchronize)
FUNCTION(cuModuleLoad)
FUNCTION(cuModuleLoadData)
FUNCTION(cuModuleLoadDataEx)
FUNCTION(cuModuleUnload)
FUNCTION(cuModuleGetFunction)
FUNCTION(cuModuleGetGlobal_v2)
FUNCTION(cuMemAlloc_v2)
FUNCTION(cuMemFree_v2)
FUNCTION(cuMemcpyHtoD_v2)
FUNCTION(cuMemcpyDtoH_v2)
FUNCTION(cuMemsetD32_v2)
FUNCTION(cuLaunchKernel)

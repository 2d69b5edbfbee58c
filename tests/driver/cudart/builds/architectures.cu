// SPDX-License-Identifier: Apache-2.0
// CUB, and Thrust with it, choose a kernel's tuning by the architecture that the program's PTX was written for, and refuse to run
// when the runtime names another one. So the attributes of a function name the target, whatever the version of the PTX ISA is.
#include "../../../check.h"

__global__ void architecture(int *out)
{
#ifdef __CUDA_ARCH__
    *out = __CUDA_ARCH__;
#endif
}

int main()
{
    int *out, made_for = 0;
    cudaFuncAttributes a;
    cudaDeviceProp p;
    CHECK(cudaMalloc(&out, sizeof *out));
    architecture<<<1, 1>>>(out);
    CHECK(cudaMemcpy(&made_for, out, sizeof made_for, cudaMemcpyDeviceToHost));
    CHECK(cudaFuncGetAttributes(&a, architecture));
    CHECK(cudaGetDeviceProperties(&p, 0));
    EXPECT_EQ(made_for, EXPECTED * 10);
    EXPECT_EQ(a.ptxVersion, EXPECTED);
    EXPECT_EQ(a.binaryVersion, p.major * 10 + p.minor); // as of code that a JIT compiler made
    EXPECT_EQ(a.maxDynamicSharedSizeBytes, (int)p.sharedMemPerBlock);
    return finish();
}

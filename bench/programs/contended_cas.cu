// SPDX-License-Identifier: Apache-2.0
// All threads of many blocks look at one place and swap it, until it holds the largest number.
// ARGS: 8 1024
// GROWS: 8 512 | 8 1024 | 8 2048
// GROWS privatizer: 8 64 | 8 128 | 8 256
#include <cstdio>
#include <cstdlib>

__global__ void largest(unsigned long long *p) {
    unsigned long long v = blockIdx.x * blockDim.x + threadIdx.x, seen = __nv_atomic_load_n(p, __NV_ATOMIC_RELAXED);
    while (v > seen) {
        auto old = seen;
        if ((seen = atomicCAS(p, old, v)) == old)
            break;
    }
}

int main(int argc, char **argv) {
    int launches = argc > 1 ? atoi(argv[1]) : 8, blocks = argc > 2 ? atoi(argv[2]) : 1024;
    unsigned long long *p, got;
    cudaMalloc(&p, 8);
    cudaMemset(p, 0, 8);
    for (int k = 0; k < launches; k++)
        largest<<<blocks, 256>>>(p);
    cudaMemcpy(&got, p, 8, cudaMemcpyDeviceToHost);
    puts(got == blocks * 256ull - 1 ? "PASS" : "FAIL");
}

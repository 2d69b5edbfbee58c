// SPDX-License-Identifier: Apache-2.0
// expect: exact,tracker -- 64 => races only "write-write race"
// expect: exact -- 4096 => races only "write-write race" soak
// expect: exact -DFIXED -- 64 => clean
// A memset of so many MiB and 64 bytes, and a kernel in another stream that stores to a byte in its middle. Of 4 GiB and more exact looked at what is
// left of 2^32 bytes, here the first 64.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

__global__ void touch(char *p) { *p = 1; }

int main(int argc, char **argv) {
    size_t size = (size_t(argc > 1 ? atoi(argv[1]) : 64) << 20) + 64;
    char *p;
    cudaStream_t a, b;
    cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
    if (cudaMalloc(&p, size) != cudaSuccess)
        return 1;
    cudaMemsetAsync(p, 0, size, a);
#ifdef FIXED
    cudaStreamSynchronize(a);
#endif
    touch<<<1, 1, 0, b>>>(p + size / 2);
    return cudaDeviceSynchronize() != cudaSuccess;
}

// SPDX-License-Identifier: Apache-2.0
// alias — kernels whose parameters may point to the same allocation: each block of threads reads what others write, or does not, as the
// argument says. For test_alias.py.
#include <cstdio>
#include <cstdlib>
#include <cstring>

__global__ void shift(const int *in, int *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i + 1];
}

__global__ void restricted(const int *__restrict__ in, int *__restrict__ out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i + 1];
}

__global__ void far(const int *in, int *out, long offset) {
    int i = threadIdx.x;
    out[offset + i] = in[i + 1];
}

__device__ int table[1024];
__global__ void to_table(const int *in) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    table[i] = in[i + 1];
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    int *a, *b, *c;
    cudaMalloc(&a, 4096);
    cudaMalloc(&b, 4096);
    cudaMemset(a, 0, 4096);
    cudaMemset(b, 0, 4096);
    if (!strcmp(what, "two")) {
        shift<<<4, 64>>>(a, b);
    } else if (!strcmp(what, "same")) {
        shift<<<4, 64>>>(a, a);
    } else if (!strcmp(what, "inner")) {
        shift<<<4, 64>>>(a, a + 8);
    } else if (!strcmp(what, "from-inner")) {
        shift<<<4, 64>>>(a + 8, a);
    } else if (!strcmp(what, "restricted")) {
        restricted<<<4, 64>>>(a, a);
    } else if (!strcmp(what, "larger")) { // what two allocations were is one
        cudaFree(a);
        cudaFree(b);
        cudaMalloc(&c, 16384);
        shift<<<4, 64>>>(a > c && a < c + 256 ? a : c + 8, c);
    } else if (!strcmp(what, "pool")) {
        cudaMallocAsync(&c, 4096, 0);
        shift<<<4, 64>>>(c, c);
    } else if (!strcmp(what, "pinned")) {
        cudaMallocHost(&c, 4096);
        shift<<<4, 64>>>(c, c);
    } else if (!strcmp(what, "table")) {
        cudaGetSymbolAddress((void **)&c, table);
        to_table<<<4, 64>>>(c);
    } else if (!strcmp(what, "far")) {
        far<<<1, 64>>>(a, b, a - b);
    } else {
        return 2;
    }
    return cudaDeviceSynchronize() != cudaSuccess;
}

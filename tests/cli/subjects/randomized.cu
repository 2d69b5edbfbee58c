// SPDX-License-Identifier: Apache-2.0
// Races in every kind of memory that a kernel can reach, in streams that nothing orders, and a kernel that the device stops at an address of the host:
// all that a report may say of addresses (test_randomized.py).
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>

__global__ void racy(int *p) { p[threadIdx.x & 15] += 1; }
__global__ void touch(int *p) { p[threadIdx.x] = 1; }

__device__ int variable[64];
__managed__ int managed_variable[64];
static int of_the_host[64];

int main() {
    // Far from each other: the tracker's metadata comes in pieces, and that of registered memory covers what is beside it.
    int *registered = (int *)aligned_alloc(4096, 4096), *pageable = (int *)malloc(1 << 26), *pinned, *device, *managed, *pooled;
    void *symbol;
    cudaStream_t streams[3];
    if (!registered || !pageable || cudaMallocHost(&pinned, 4096) || cudaMalloc(&device, 4096) || cudaMallocManaged(&managed, 4096) ||
        cudaGetSymbolAddress(&symbol, variable) || cudaMallocAsync(&pooled, 4096, 0) || cudaHostRegister(registered, 4096, 0))
        return 2;
    memset(registered, 0, 4096);
    memset(pageable, 0, 256);
    for (cudaStream_t &s : streams)
        cudaStreamCreate(&s);
    int *all[] = {registered, pageable, pinned, device, managed, pooled, (int *)symbol, managed_variable, of_the_host};
    for (int *p : all) {
        racy<<<2, 64>>>(p);
        cudaDeviceSynchronize();
    }
    for (int k = 0; k < 6; k++)
        racy<<<1, 32, 0, streams[k % 3]>>>(all[3 + (k & 1)]);
    cudaMemcpyAsync(pinned, device, 4096, cudaMemcpyDeviceToHost, streams[0]);
    cudaDeviceSynchronize();
    int *read_only = (int *)mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    touch<<<1, 32>>>(read_only);
    return cudaDeviceSynchronize() == cudaSuccess;
}

// SPDX-License-Identifier: Apache-2.0
// The host writes in a member that is defined in its class, for which the host compiler makes a section of its own, while a copy may still read. And
// memory that such a member asked for, in which a kernel races.
#include <cuda_runtime.h>

struct Planner {
    int *pinned, *device;
    Planner() {
        cudaMallocHost(&pinned, 4096);
        cudaMalloc(&device, 4096); // allocated
    }
    void plan(cudaStream_t stream, int batch) {
        pinned[7] = batch; // written
        cudaMemcpyAsync(device, pinned, 4096, cudaMemcpyHostToDevice, stream);
    }
};

__global__ void racy(int *p) { p[0] += 1; }

int main() {
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    Planner p;
    cudaDeviceSynchronize();
    p.plan(stream, 1);
    p.plan(stream, 2);
    cudaDeviceSynchronize();
    racy<<<1, 64>>>(p.device);
    return cudaDeviceSynchronize();
}

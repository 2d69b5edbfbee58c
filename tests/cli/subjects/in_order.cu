// SPDX-License-Identifier: Apache-2.0
// Six launches. The first three follow each other through three streams, by events: what orders 1 before 3 is the
// stream of 2. Launches 4, 5 and 6 write the same place, with nothing that orders them but 4 and 5, of one stream.
#include <cstdio>
#include <cuda_runtime.h>

__global__ void sets(int *p, int v) { *p = v; }
__global__ void nothing(int *p) { p[8 + threadIdx.x] = 1; }
__global__ void adds(int *p) { p[1] = p[0] + 1; }
__global__ void again(int *p, int v) { p[2] = v; }

int main()
{
    int *p;
    cudaStream_t s[5];
    cudaEvent_t e[2];
    cudaMalloc(&p, 4096);
    for (auto &stream : s)
        cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    for (auto &event : e)
        cudaEventCreate(&event);
    sets<<<1, 1, 0, s[0]>>>(p, 3);
    cudaEventRecord(e[0], s[0]);
    cudaStreamWaitEvent(s[1], e[0], 0);
    nothing<<<1, 32, 0, s[1]>>>(p);
    cudaEventRecord(e[1], s[1]);
    cudaStreamWaitEvent(s[2], e[1], 0);
    adds<<<1, 1, 0, s[2]>>>(p);
    again<<<1, 1, 0, s[3]>>>(p, 1);
    again<<<1, 1, 0, s[3]>>>(p, 2);
    again<<<1, 1, 0, s[4]>>>(p, 3);
    int error = (int)cudaDeviceSynchronize();
    printf("%d\n", error);
    return error;
}

// SPDX-License-Identifier: Apache-2.0
// One thread frees memory of the device's heap that another has read from, and nothing orders the two. The reader chooses what to do with the value
// when the memory is gone. -DFIXED: a barrier is between.
// expect: exact => races only "freed while in use"
// expect: exact -DFIXED => clean soak
#include <cstdio>
__global__ void k(int *out, int c) {
    __shared__ int *p;
    int v = 0;
    if (threadIdx.x == 0) {
        p = (int *)malloc(64);
        p[0] = 3;
    }
    __syncthreads();
    if (threadIdx.x == 32) {
        v = p[0];
#ifndef FIXED
        __nanosleep(20000);
        out[0] = c > 3 ? v : 7;
#endif
    }
#ifdef FIXED
    __syncthreads();
    if (threadIdx.x == 32) out[0] = c > 3 ? v : 7;
#endif
    if (threadIdx.x == 0) {
        __nanosleep(2000);
        free(p);
    }
}
int main(int argc, char **) {
    int *o;
    cudaMalloc(&o, 4);
    k<<<1, 64>>>(o, argc * 5);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}

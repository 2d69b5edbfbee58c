// SPDX-License-Identifier: Apache-2.0
// A thread reads a word, releases a flag, and only then chooses whether it uses what it has read. The other thread acquires the flag and writes the
// word: no race. -DRACY: the flag is released before the word is read.
// expect: exact,tracker => clean
// expect: collider => clean soak
// expect: exact,tracker -DRACY => races only "read-write race" says "fences(int*, int*, int)" says "releases(int*, int*, int)" soak
#include <cstdio>
__device__ unsigned flag;
#ifdef RACY
#define BEFORE(x) x
#define BEHIND(x)
#else
#define BEFORE(x)
#define BEHIND(x) x
#endif
__device__ void by_fence() {
    __threadfence();
    atomicExch(&flag, 1u);
}
__global__ void fences(int *data, int *out, int c) {
    if (threadIdx.x == 0) {
        BEFORE(by_fence());
        int v = data[0];
        BEHIND(by_fence());
        out[0] = c > 3 ? v : 7;
    } else if (threadIdx.x == 32) {
        while (atomicAdd(&flag, 0u) == 0);
        __threadfence();
        data[0] = 5;
    }
}
__device__ void by_release() { asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(&flag) : "memory"); }
__global__ void releases(int *data, int *out, int c) {
    if (threadIdx.x == 0) {
        BEFORE(by_release());
        int v = data[0];
        BEHIND(by_release());
        out[0] = c > 3 ? v : 7;
    } else if (threadIdx.x == 32) {
        unsigned x;
        do asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(x) : "l"(&flag) : "memory");
        while (x < 2);
        data[0] = 6;
    }
}
int main(int argc, char **) {
    int *d, *o;
    cudaMalloc(&d, 4); cudaMalloc(&o, 4); cudaMemset(d, 0, 4);
    fences<<<1, 64>>>(d, o, argc * 5);
    releases<<<1, 64>>>(d, o, argc * 5);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}

// SPDX-License-Identifier: Apache-2.0
// A thread reads a word before it acquires the flag that says that the word is written, and then chooses to use what it has read: a race.
// -DFIXED: it reads behind the flag.
// expect: exact,tracker => races only "read-write race"
// expect: exact,tracker -DFIXED => clean soak
#include <cstdio>
__device__ unsigned flag;
__global__ void k(int *data, int *out, int c) {
    if (threadIdx.x == 0) {
        data[0] = 5;
        asm volatile("st.release.gpu.global.u32 [%0], 1;" ::"l"(&flag) : "memory");
    } else if (threadIdx.x == 32) {
#ifndef FIXED
        int v = data[0];
#endif
        unsigned x;
        do asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(x) : "l"(&flag) : "memory");
        while (x == 0);
#ifdef FIXED
        int v = data[0];
#endif
        out[0] = c > 3 ? v : 7;
    }
}
int main(int argc, char **) {
    int *d, *o;
    cudaMalloc(&d, 4); cudaMalloc(&o, 4); cudaMemset(d, 0, 4);
    k<<<1, 64>>>(d, o, argc * 5);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}

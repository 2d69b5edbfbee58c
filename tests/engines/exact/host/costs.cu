// SPDX-License-Identifier: Apache-2.0
// What once cost the engine exact a hundred times the program itself, or the square of the launches: ./costs CASE. costs.py compares.
#include "../../../check.h"

enum { SIDE = 160, N = 256 };

// Small launches for whose end the host never waits.
__global__ void count(int *a) { a[threadIdx.x]++; }

// The same, and each launch moves all words through shared memory.
__global__ void turn_around(int *a) {
    __shared__ int s[N];
    s[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    a[threadIdx.x] = s[N - 1 - threadIdx.x];
}

// Many threads read each element of an array that no launch writes.
template <class T> __global__ void neighbours(const T *in, int *out) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, sum = 0;
    for (int dy = -2; dy <= 2; dy++)
        for (int dx = -2; dx <= 2; dx++)
            sum += in[(y + dy + SIDE) % SIDE * SIDE + (x + dx + SIDE) % SIDE];
    out[y * SIDE + x] = sum;
}

// All threads swap one word until it holds the largest number.
__global__ void maximum(unsigned *best) {
    unsigned mine = blockIdx.x * blockDim.x + threadIdx.x, seen = __nv_atomic_load_n(best, __NV_ATOMIC_RELAXED);
    while (seen < mine) {
        unsigned before = atomicCAS(best, seen, mine);
        if (before == seen)
            break;
        seen = before;
    }
}

int main(int argc, char **argv) {
    const char *name = argc > 1 ? argv[1] : "";
    int *p, *q, word = 0;
    CHECK(cudaMalloc(&p, SIDE * SIDE * 4));
    CHECK(cudaMalloc(&q, SIDE * SIDE * 4));
    CHECK(cudaMemset(p, 0, SIDE * SIDE * 4));
    if (!strcmp(name, "launches"))
        for (int k = 0; k < 8000; k++)
            count<<<1, N>>>(p);
    else if (!strcmp(name, "in_place"))
        for (int k = 0; k < 4000; k++)
            turn_around<<<1, N>>>(p);
    else if (!strcmp(name, "windows"))
        for (int k = 0; k < 10; k++)
            neighbours<<<dim3(SIDE / 16, SIDE / 16), dim3(16, 16)>>>(p, q);
    else if (!strcmp(name, "bytes"))
        for (int k = 0; k < 10; k++)
            neighbours<<<dim3(SIDE / 16, SIDE / 16), dim3(16, 16)>>>((char *)p, q);
    else if (!strcmp(name, "contended"))
        for (int k = 0; k < 4; k++)
            maximum<<<1024, 256>>>((unsigned *)p);
    else
        return 2;
    CHECK(cudaMemcpy(&word, p, sizeof word, cudaMemcpyDeviceToHost));
    printf("%d\n", word);
}

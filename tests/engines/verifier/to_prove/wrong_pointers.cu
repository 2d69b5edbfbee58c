// SPDX-License-Identifier: Apache-2.0
// Loops that allocate, behind which two pointers can be of one and the same memory: none of these kernels is free of races.
#include <cuda_runtime.h>

__device__ void shift(const int *in, int *out) { out[threadIdx.x] = in[threadIdx.x + 1]; }

__global__ void allocated_once(const int *in, int *out) { shift(in, out); }
__global__ void kept(const int *in, int *out) { shift(in, out); }
__global__ void overwritten(const int *in, int *out) { shift(in, out); }
__global__ void left_early(const int *in, int *out) { shift(in, out); }
__global__ void unknown_rounds(const int *in, int *out) { shift(in, out); }
__global__ void first_round(const int *in, int *out) { shift(in, out); }
__global__ void same_index(const int *in, int *out) { shift(in, out); }

int main(int argc, char **) {
    const int bytes = 65 * sizeof(int);
    int *a, *b, *of[4] = {};

    int *once = nullptr;
    for (int **p : {&a, &b}) {
        if (!once)
            cudaMalloc(&once, bytes);
        *p = once;
    }
    allocated_once<<<1, 64>>>(a, b);

    int *last = nullptr;
    for (int **p : {&a, &b}) {
        cudaMalloc(p, bytes);
        last = *p;
    }
    kept<<<1, 64>>>(last, b);

    for (int k = 0; k < 3; k++) {
        cudaMalloc(&of[k], bytes);
        if (k == argc)
            of[0] = of[k];
    }
    overwritten<<<1, 64>>>(of[0], of[2]);

    for (int **p : {&a, &b}) {
        cudaMalloc(p, bytes);
        if (argc > 2) {
            b = a;
            break;
        }
    }
    left_early<<<1, 64>>>(a, b);

    for (int k = 0; k < argc && k < 4; k++)
        cudaMalloc(&of[k], bytes);
    unknown_rounds<<<1, 64>>>(of[(argc - 1) & 3], of[0]);

    int *first = nullptr;
    for (int k = 0; k < 2; k++) {
        cudaMalloc(&a, bytes);
        if (!k)
            first = a;
        first_round<<<1, 64>>>(first, a);
    }

    for (int **p : {&of[0], &of[1], &of[2], &of[3]})
        cudaMalloc(p, bytes);
    same_index<<<1, 64>>>(of[argc & 3], of[(argc + 4) & 3]);
    return cudaDeviceSynchronize() != cudaSuccess;
}

// SPDX-License-Identifier: Apache-2.0
// Pointers that are one of several. Those of `apart` are never of the same memory; in each launch of `together` they are at some time. A loop's
// variables that hang together are no values of their own: the witness for `scaled` is none.
#include <cuda_runtime.h>
#include <utility>

__global__ void apart(const int *in, int *out) { out[threadIdx.x] = in[threadIdx.x + 1]; }

__global__ void together(const int *in, int *out) {
    out[threadIdx.x] = in[threadIdx.x + 1]; // SHOWN
}

__global__ void scaled(int *a, int many, int stride) {
    int at = threadIdx.x / stride * stride + threadIdx.x % stride * 3;
    if (threadIdx.x < many)
        a[at] = many;
}

static int *ints(int n) {
    int *p;
    cudaMalloc(&p, n * sizeof(int));
    return p;
}

int main(int argc, char **argv) {
    int *a, *b, *d[3] = {ints(65), ints(65), ints(65)};
    cudaMalloc(&a, 65 * sizeof(int));
    cudaMalloc(&b, 65 * sizeof(int));
    for (int k = 0; k < argc; k++) {
        apart<<<1, 64>>>(a, b);
        std::swap(a, b);
        if (argv[k][0] == 's')
            std::swap(a, b);
    }
    bool turned = argc > 2;
    apart<<<1, 64>>>(turned ? a : b, turned ? b : a);
    for (int k = 0; k < argc; k++) {
        apart<<<1, 64>>>(d[k % 3], d[(k + 1) % 3]);
        together<<<1, 64>>>(d[k % 3], d[(k * k) % 3]);
    }
    for (int **p : {&a, &b})
        cudaMalloc(p, 65 * sizeof(int));
    apart<<<1, 64>>>(a, b);
    struct Pair {
        int *in, *out;
    } pairs[2];
    for (Pair *p : {&pairs[0], &pairs[1]})
        *p = {ints(65), ints(65)};
    apart<<<1, 64>>>(pairs[argc & 1].in, pairs[argc & 1].out);
    int *now = ints(65);
    for (int k = 0; k < argc; k++) {
        int *then = ints(65);
        apart<<<1, 64>>>(now, then);
        cudaFree(now);
        now = then;
    }
    int *in = d[0], *out = d[1];
    for (int k = 0; k < argc; k++) {
        together<<<1, 64>>>(in, out);
        in = out;
    }
    for (int many = 64, stride = 1; many; many /= 64, stride *= 2)
        scaled<<<1, 64>>>(in, many, stride);
    return cudaDeviceSynchronize() != cudaSuccess;
}

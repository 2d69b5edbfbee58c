// SPDX-License-Identifier: Apache-2.0
// One mistake each, which races at several lines, in several ways and between threads near and far; the last has two.
#include <cstdio>
#include <cstring>

#define BINS 16
#define SIDE 8

// The barrier is missing before the sum.
__global__ void smooth(const float *in, float *out) {
    __shared__ float row[130];
    int t = threadIdx.x;
    row[t + 1] = in[t]; // smooth: stores
    if (t == 0)
        row[0] = 0;
    if (t == 127)
        row[129] = 0;
    out[t] = row[t] + row[t + 1] + row[t + 2]; // smooth: sum
}

// The barrier is missing at the end of the loop.
__global__ void product(const float *a, const float *b, float *c, int n) {
    __shared__ float left[SIDE][SIDE], right[SIDE][SIDE];
    int x = threadIdx.x, y = threadIdx.y;
    float sum = 0;
    for (int k = 0; k < n; k += SIDE) {
        left[y][x] = a[y * n + k + x];
        right[y][x] = b[(k + y) * SIDE + x];
        __syncthreads();
        for (int i = 0; i < SIDE; i++)
            sum += left[y][i] * right[i][x];
    }
    c[y * SIDE + x] = sum;
}

// The update is no atomic.
__global__ void count(const unsigned char *of, int n, unsigned *total) {
    __shared__ unsigned bins[BINS];
    if (threadIdx.x < BINS)
        bins[threadIdx.x] = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        bins[of[i] % BINS]++; // count: update
    __syncthreads();
    if (threadIdx.x < BINS)
        atomicAdd(&total[threadIdx.x], bins[threadIdx.x]);
}

// Two mistakes that share a variable: a barrier is missing before the first sum, and one before the second stores.
__global__ void twice(const float *in, float *out) {
    __shared__ float row[128];
    int t = threadIdx.x;
    row[t] = in[t];
    out[t] = row[127 - t]; // twice: first
    row[t] = in[t] * 2;
    __syncthreads();
    out[t] += row[127 - t];
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    float *a, *b, *c;
    unsigned *total;
    cudaMalloc(&a, 4096);
    cudaMalloc(&b, 4096);
    cudaMalloc(&c, 4096);
    cudaMalloc(&total, BINS * sizeof *total);
    cudaMemset(a, 1, 4096);
    cudaMemset(b, 1, 4096);
    cudaMemset(total, 0, BINS * sizeof *total);
    if (!strcmp(what, "smooth"))
        smooth<<<1, 128>>>(a, c);
    else if (!strcmp(what, "product"))
        product<<<1, dim3(SIDE, SIDE)>>>(a, b, c, 32);
    else if (!strcmp(what, "count"))
        count<<<2, 128>>>((unsigned char *)a, 1024, total);
    else if (!strcmp(what, "twice"))
        twice<<<1, 128>>>(a, c);
    return cudaDeviceSynchronize() != cudaSuccess;
}

// SPDX-License-Identifier: Apache-2.0
// places clean|racy: kernels of which the text tells that no two threads come to one place, and kernels like them that race.
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>

constexpr int SIDE = 8, N = 256; // of a tile; elements

struct Pair {
    int one, other;
};

// ---- No two come to one place --------------------------------------------------------------------------------------------

__global__ void axpy(int n, const int *x, int *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = 2 * x[i] + y[i]; // RACE
}

__global__ void tiles(int *c, int n) { // a row of tiles after the other
    int across = n / SIDE, col = (blockIdx.x % across) * SIDE + threadIdx.x % SIDE, row = (blockIdx.x / across) * SIDE + threadIdx.x / SIDE;
    c[row * n + col] = row - col;
}

__global__ void grid2(int *c) {
    c[(blockIdx.y * blockDim.y + threadIdx.y) * (gridDim.x * blockDim.x) + blockIdx.x * blockDim.x + threadIdx.x] = 7;
}

__global__ void fields(Pair *p) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    p[i].one += i;
    p[i].other -= i;
}

__global__ void halves(int *p, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    p[i] = p[i + n] + 1;
}

__global__ void phases(const int *in, int *out, int rounds) {
    __shared__ int s[64];
    int sum = 0;
    for (int k = 0; k < rounds; k++) {
        s[threadIdx.x] = in[threadIdx.x + k];
        __syncthreads();
        for (int j = 0; j < 64; j++)
            sum += s[(threadIdx.x + j) % 64] * j;
        __syncthreads();
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

__global__ void counts(const int *in, int *out) {
    __shared__ int s[64];
    s[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&s[in[threadIdx.x] & 63], 1);
    __syncthreads();
    atomicAdd(&out[threadIdx.x], s[threadIdx.x]);
}

__global__ void tree(const int *in, int *out) { // the compiler unrolls the loop, so it compares with constants
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * 64 + t];
    __syncthreads();
#pragma unroll
    for (int k = 32; k > 0; k /= 2) {
        if (t < k)
            s[t] += s[t + k];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = s[0];
}

__global__ void few(int *p, int n) { // the first of a block's threads
    if (threadIdx.x < n)
        p[blockIdx.x * 12 + threadIdx.x] = 1 + blockIdx.x;
}

// ---- Some do -------------------------------------------------------------------------------------------------------------

__global__ void shifts(int *p) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    p[i + 1] = p[i] + 1; // RACE
}

__global__ void shares(int *p) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    p[i / 2] = i; // RACE
}

__global__ void edges(int *p) { // the last of a block, and the first of the next one
    int i = blockIdx.x * (blockDim.x - 1) + threadIdx.x;
    p[i] = i + blockIdx.x * 1000; // RACE
}

__global__ void flat(int *p) { p[threadIdx.x] = 1 + threadIdx.y; } // RACE

__global__ void wraps(int *p) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    p[(i * 0x40000000u) >> 30] = 1 + i; // RACE
}

__global__ void wide(int *p) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    *(long long *)(p + i / 2 * 2) = i; // RACE
}

__global__ void indexed(int *p, const int *at) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    p[at[i] % 5] = 1 + i; // RACE
}

__global__ void loops(const int *in, int *out, int rounds) { // the next round writes what this one reads
    __shared__ int s[64];
    int sum = 0;
    for (int k = 0; k < rounds; k++) {
        s[threadIdx.x] = in[threadIdx.x + k] + k; // RACE
        __syncthreads();
        sum += s[63 - threadIdx.x];
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

__global__ void parts(int *out) { // all threads come to a barrier, but not to the same
    __shared__ int s[64];
    int v = 0;
    if (threadIdx.x < 32) {
        s[threadIdx.x] = 1;
        __syncthreads();
        s[threadIdx.x] = 2; // RACE
        out[threadIdx.x + 64] = 3;
    } else {
        __syncthreads();
        v = s[threadIdx.x - 32];
    }
    out[threadIdx.x] = v;
}

__global__ void touches(const int *in, int *out) { // the last of those that write is the first that is read
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = in[t] + 1;
    __syncthreads();
    if (t <= 32)
        s[t] += s[(t + 32) & 63]; // RACE
    __syncthreads();
    out[t] = s[t];
}

__global__ void others(int *out) {
    if (threadIdx.x != 0)
        out[0] = threadIdx.x; // RACE
}

__global__ void leaders(int *out) { // one thread of each block
    if (threadIdx.x == 0)
        out[blockIdx.x / 2] = 1 + blockIdx.x; // RACE
}

__global__ void one_more(int *p, int n) { // as few, but one thread is the next block's first
    if (threadIdx.x <= n)
        p[blockIdx.x * 12 + threadIdx.x] = 1 + blockIdx.x; // RACE
}

int main(int, char **words) {
    int *p, *q, *at, start[N];
    for (int k = 0; k < N; k++)
        start[k] = k * 7;
    cudaMalloc(&p, 2 * N * sizeof *p);
    cudaMalloc(&q, 2 * N * sizeof *q);
    cudaMalloc(&at, 2 * N * sizeof *at);
    cudaMemset(p, 1, 2 * N * sizeof *p);
    cudaMemset(q, 0, 2 * N * sizeof *q);
    cudaMemcpy(at, start, sizeof start, cudaMemcpyHostToDevice);
    if (!strcmp(words[1], "clean")) {
        axpy<<<5, 64>>>(N, at, q);
        tiles<<<4, SIDE * SIDE>>>(p, 2 * SIDE);
        grid2<<<dim3(2, 2), dim3(8, 8)>>>(p);
        fields<<<2, 64>>>((Pair *)p);
        halves<<<2, 64>>>(p, 128);
        phases<<<2, 64>>>(at, q, 3);
        counts<<<2, 64>>>(at, q);
        tree<<<2, 64>>>(at, q);
        few<<<3, 64>>>(p, 12);
    } else {
        axpy<<<2, 64>>>(N, p, p + 1); // races like shifts
        shifts<<<2, 64>>>(p);
        shares<<<2, 64>>>(p);
        edges<<<2, 64>>>(p);
        flat<<<1, dim3(32, 2)>>>(p);
        wraps<<<2, 64>>>(p);
        wide<<<2, 64>>>(p);
        indexed<<<2, 64>>>(p, at);
        loops<<<2, 64>>>(at, q, 3);
        parts<<<1, 64>>>(q);
        touches<<<1, 64>>>(at, q);
        others<<<1, 64>>>(q);
        leaders<<<2, 64>>>(p);
        one_more<<<3, 64>>>(p, 12);
    }
    std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
}

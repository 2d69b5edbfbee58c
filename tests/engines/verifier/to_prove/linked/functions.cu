// SPDX-License-Identifier: Apache-2.0
#include "functions.h"

__device__ int table[65];
__constant__ int offset = 3;
static __device__ int own[64];
extern __shared__ int dynamic[];

static __device__ int place(int i) { return i / 2; }

__device__ void put(int *p, int i) {
    p[i] = threadIdx.x; // put
}

__device__ void put_by_own(int *p, int i) {
    p[place(i)] = threadIdx.x; // place
}

__device__ void fill_own(int i) { own[63 - i] = i; }
__device__ int next_of_table() {
    return table[threadIdx.x + 1]; // table
}
__device__ int moved(const int *p) { return p[threadIdx.x + offset]; }
__device__ void meet() { __syncthreads(); }

__device__ int exchange(int value) {
    __shared__ int values[64];
    values[threadIdx.x] = value; // exchange
    __syncthreads();
    return values[63 - threadIdx.x]; // exchange
}

__device__ int other_of_buffer() {
    return buffer<int>()[63 - threadIdx.x]; // buffer
}
__device__ int other_of_dynamic() {
    return dynamic[63 - threadIdx.x]; // dynamic
}
__device__ int pong(int n) { return n ? ping(n - 1) : 0; }

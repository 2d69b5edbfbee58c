// SPDX-License-Identifier: Apache-2.0
// Kernels that call functions of functions.cu. c_: free of races; r_: racy, with the lines that carry the second part of the name; u_: not understood.
#include "functions.h"

static __device__ int own[64];
extern __shared__ int dynamic[];

static __device__ int place(int i) { return i; }
__device__ int ping(int n) { return n ? pong(n - 1) : 1; }

__global__ void c_put(int *p) { put(p, threadIdx.x); }
__global__ void r_put(int *p) { put(p, threadIdx.x / 2); }

// What is static in a file is its own.
__global__ void c_place(int *p) { p[place(threadIdx.x)] = 1; }
__global__ void r_place(int *p) { put_by_own(p, place(threadIdx.x)); }
__global__ void c_own() {
    own[threadIdx.x] = 1;
    fill_own(threadIdx.x);
}

// What is extern is the same in both.
__global__ void c_table(int *p) {
    table[threadIdx.x] = 1;
    __syncthreads();
    p[threadIdx.x] = next_of_table();
}
__global__ void r_table(int *p) {
    table[threadIdx.x] = 1; // table
    p[threadIdx.x] = next_of_table();
}
__global__ void c_offset(int *p) {
    p[threadIdx.x + offset] = 1;
    p[threadIdx.x + offset] += moved(p);
}

// Barriers and shared memory of the other file.
__global__ void c_meet(int *p) {
    p[threadIdx.x] = 1;
    meet();
    p[63 - threadIdx.x] += 1;
}
__global__ void c_exchange(int *p) { p[threadIdx.x] = exchange(p[threadIdx.x]); }
__global__ void r_exchange(int *p) { p[threadIdx.x] = exchange(exchange(p[threadIdx.x])); }
__global__ void c_buffer(int *p) {
    buffer<int>()[threadIdx.x] = p[threadIdx.x];
    meet();
    p[threadIdx.x] = other_of_buffer();
}
__global__ void r_buffer(int *p) {
    buffer<int>()[threadIdx.x] = p[threadIdx.x]; // buffer
    p[threadIdx.x] = other_of_buffer();
}
__global__ void r_dynamic(int *p) {
    dynamic[threadIdx.x] = p[threadIdx.x]; // dynamic
    p[threadIdx.x] = other_of_dynamic();
}

__global__ void u_recursion(int *p) { p[threadIdx.x] = ping(threadIdx.x); }

int main() {
    int *p;
    cudaMalloc(&p, 128 * sizeof *p);
    c_put<<<1, 64>>>(p);
    r_put<<<1, 64>>>(p);
    c_place<<<1, 64>>>(p);
    r_place<<<1, 64>>>(p);
    c_own<<<1, 64>>>();
    c_table<<<1, 64>>>(p);
    r_table<<<1, 64>>>(p);
    c_offset<<<1, 64>>>(p);
    c_meet<<<1, 64>>>(p);
    c_exchange<<<1, 64>>>(p);
    r_exchange<<<1, 64>>>(p);
    c_buffer<<<1, 64>>>(p);
    r_buffer<<<1, 64>>>(p);
    r_dynamic<<<1, 64, 256>>>(p);
    u_recursion<<<1, 64>>>(p);
}

// SPDX-License-Identifier: Apache-2.0
// Block 2 finds in `where` what blocks 0 and 1 wrote, a byte each, which no memory ever held: 0x380. The index that it makes of that leads out of the array, which has no private copies.
#include <cstdio>

enum { LOW = 0x80, HIGH = 0x300, SIZE = HIGH + 1, THREADS = 32 };

__device__ unsigned index(unsigned v) { return v == (LOW | HIGH) ? 0x10000000 : v; }

// Of a block.
__device__ void fill(int *array) {
    for (int k = threadIdx.x; k < SIZE; k += THREADS)
        array[k] = k;
    __syncthreads();
}

__global__ void of_block(unsigned *where, int *out) {
    __shared__ int array[SIZE];
    fill(array);
    if (blockIdx.x < 2 && threadIdx.x == 0)
        where[0] = blockIdx.x ? HIGH : LOW; // RACE
    if (blockIdx.x == 2) {
        unsigned at = index(where[0]); // RACE
        array[at] = 5;
        out[threadIdx.x] = array[at];
    }
}

__global__ void of_thread(unsigned *where, int *out) {
    int array[SIZE];
    for (int k = 0; k < SIZE; k++)
        array[k] = k + threadIdx.x;
    if (blockIdx.x < 2 && threadIdx.x == 0)
        where[0] = blockIdx.x ? HIGH : LOW; // RACE
    if (blockIdx.x == 2) {
        unsigned at = index(where[0]); // RACE
        array[at] = 5;
        out[threadIdx.x] = array[at] + array[at / 2];
    }
}

__global__ void of_two(unsigned *where, int *out) {
    int array[SIZE];
    short other[SIZE];
    for (int k = 0; k < SIZE; k++) {
        array[k] = k + threadIdx.x;
        other[k] = k;
    }
    if (blockIdx.x < 2 && threadIdx.x == 0)
        where[0] = blockIdx.x ? HIGH : LOW; // RACE
    if (blockIdx.x == 2) {
        unsigned at = index(where[0]); // RACE
        array[at] = 5;
        other[at] = 7;
        out[threadIdx.x] = array[at / 2] + other[at / 3];
    }
}

__constant__ int table[SIZE];
__constant__ short small[SIZE];

__global__ void of_constants(unsigned *where, int *out) {
    if (blockIdx.x < 2 && threadIdx.x == 0)
        where[0] = blockIdx.x ? HIGH : LOW; // RACE
    if (blockIdx.x == 2) {
        unsigned at = index(where[0]); // RACE
        out[threadIdx.x] = table[at] + small[at];
    }
}

__device__ unsigned place(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }

__global__ void of_copy(unsigned *where, int *out) {
    __shared__ int array[SIZE];
    fill(array);
    if (blockIdx.x < 2 && threadIdx.x == 0)
        where[0] = blockIdx.x ? HIGH : LOW; // RACE
    if (blockIdx.x == 2) {
        unsigned at = index(where[0]); // RACE
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(place(array + at)), "l"(where + 1)
                     : "memory");
        asm volatile("cp.async.wait_all;" ::: "memory");
        out[threadIdx.x] = array[threadIdx.x];
    }
}

__global__ void of_matrix(unsigned *where, int *out) {
    __shared__ __align__(16) int array[SIZE + 3];
    fill(array);
    if (blockIdx.x < 2 && threadIdx.x == 0)
        where[0] = blockIdx.x ? HIGH : LOW; // RACE
    if (blockIdx.x == 2) {
        unsigned at = index(where[0]); // RACE
        int v;
        asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
                     : "=r"(v)
                     : "r"(place(array + at))
                     : "memory");
        out[threadIdx.x] = v;
    }
}

int main() {
    unsigned *where;
    int *out;
    cudaMalloc(&where, 2 * sizeof *where);
    cudaMalloc(&out, THREADS * sizeof *out);
    for (auto kernel : {of_block, of_thread, of_two, of_constants, of_copy, of_matrix}) {
        cudaMemset(where, 0, 2 * sizeof *where);
        kernel<<<3, THREADS>>>(where, out);
    }
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}

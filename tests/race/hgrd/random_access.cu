// SPDX-License-Identifier: Apache-2.0
// randomAccess (HGRD, table 3; HPCC's GUPS): a table gets updates at random places, then the differences from what it
// should hold are counted. The kernel that checks writes one word without atomics, and is launched with one block.
// CLEAN -- updates are atomic, and the check has one block with a barrier (GPUVerify reports four races)
#include "../corpus.h"

constexpr unsigned SIZE = 256, UPDATES = 4 * SIZE;

__global__ void initialize(unsigned *table) {
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < SIZE; i += gridDim.x * blockDim.x) {
        table[i] = i; // NEVER
    }
}

__global__ void update(unsigned *table) {
    unsigned threads = gridDim.x * blockDim.x, me = blockIdx.x * blockDim.x + threadIdx.x;
    for (unsigned i = me; i < UPDATES; i += threads) {
        unsigned random = i * 2654435761u;
        atomicXor(table + (random >> 16) % SIZE, random); // NEVER
    }
}

__global__ void check(const unsigned *table, unsigned *wrong) {
    __shared__ unsigned found[64];
    unsigned t = threadIdx.x;
    found[t] = 0;
    for (unsigned i = t; i < SIZE; i += blockDim.x) {
        found[t] += table[i] != i; // NEVER
    }
    __syncthreads();
    if (t == 0) {
        for (unsigned k = 1; k < blockDim.x; k++) {
            found[0] += found[k]; // NEVER
        }
        *wrong = found[0]; // NEVER
    }
}

static int test(bool) {
    Buffer<unsigned> table(SIZE), wrong(1, 0xff);
    initialize<<<2, 64>>>(table);
    update<<<4, 64>>>(table);
    update<<<4, 64>>>(table); // takes the updates back
    check<<<1, 64>>>(table, wrong);
    CHECK(cudaGetLastError());
    return wrong.host()[0] != 0;
}

CORPUS_MAIN(test)

// SPDX-License-Identifier: Apache-2.0
// EXPECT: races
// Even warps count particles per cell, odd warps record the heaviest one. Counting copies the whole cell out and back,
// and so undoes what happened to the other field, and to its own, in between.
#include "example.h"

#define CELLS 32

struct __align__(8) Cell {
    int count;
    int heaviest;
};

__global__ void deposit(const int *weight, int n, Cell *cells)
{
    int half = blockDim.x / 2;
    int i = blockIdx.x * half + threadIdx.x / 64 * 32 + threadIdx.x % 32;
    Cell *cell = &cells[(i + i / 32) % CELLS];
    if (threadIdx.x / 32 % 2 == 0) {
        Cell c = *cell; // RACE: clobbered read
        c.count++;
        *cell = c; // RACE: lost update
    } else {
        atomicMax(&cell->heaviest, weight[i]); // OTHER
    }
}

int main()
{
    const int n = 2048;
    static int weight[n];
    Cell expected[CELLS] = {}, got[CELLS];
    for (int i = 0; i < n; i++) {
        weight[i] = 1 + i;
        Cell *c = &expected[(i + i / 32) % CELLS];
        c->count++;
        c->heaviest = weight[i] > c->heaviest ? weight[i] : c->heaviest;
    }
    int *d_weight, wrong = 0;
    Cell *d_cells;
    CUDA_CHECK(cudaMalloc(&d_weight, sizeof weight));
    CUDA_CHECK(cudaMalloc(&d_cells, sizeof got));
    CUDA_CHECK(cudaMemcpy(d_weight, weight, sizeof weight, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemset(d_cells, 0, sizeof got));
    deposit<<<n / 128, 256>>>(d_weight, n, d_cells);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(got, d_cells, sizeof got, cudaMemcpyDeviceToHost));
    for (int c = 0; c < CELLS; c++)
        wrong += got[c].count != expected[c].count || got[c].heaviest != expected[c].heaviest;
    printf("cell 0: %d particles, heaviest %d\n", got[0].count, got[0].heaviest);
    CUDA_CHECK(cudaFree(d_weight));
    CUDA_CHECK(cudaFree(d_cells));
    return finish_undefined("struct_field", wrong);
}

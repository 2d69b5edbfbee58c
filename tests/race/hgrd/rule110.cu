// SPDX-License-Identifier: Apache-2.0
// rule110 (HGRD, table 3; ScoR): a cellular automaton on a ring. A block owns a tile of cells and waits, generation by
// generation, only for the two blocks beside it, by their flags.
// CLEAN -- a flag is set after a fence and waited for before one, both of device scope; of the two rows of cells one is
// overwritten only when both neighbours are known to have read it
#include "../corpus.h"

constexpr int TILE = 32, BLOCKS = 4, N = TILE * BLOCKS, GENERATIONS = 6;

__device__ void wait_for(int *flag, int generation) {
    while (atomicAdd(flag, 0) < generation) { // NEVER
    }
    __threadfence();
}

__global__ void evolve(int *cells, int *flag) {
    int b = blockIdx.x, i = b * TILE + threadIdx.x, left = (i + N - 1) % N, right = (i + 1) % N;
    for (int g = 0; g < GENERATIONS; g++) {
        const int *from = cells + g % 2 * N;
        if (threadIdx.x < 2) {
            wait_for(flag + (b + (threadIdx.x ? 1 : BLOCKS - 1)) % BLOCKS, g);
        }
        __syncthreads();
        int pattern = from[left] * 4 + from[i] * 2 + from[right]; // NEVER
        cells[(g + 1) % 2 * N + i] = 110 >> pattern & 1;          // NEVER
        __syncthreads();
        if (threadIdx.x == 0) {
            __threadfence();
            atomicExch(flag + b, g + 1); // NEVER
        }
    }
}

static int test(bool) {
    std::vector<int> now(N), next(N);
    for (int i = 0; i < N; i++) {
        now[i] = i * i % 5 == 1;
    }
    std::vector<int> both(now);
    both.resize(2 * N);
    for (int g = 0; g < GENERATIONS; g++, now = next) {
        for (int i = 0; i < N; i++) {
            next[i] = 110 >> (now[(i + N - 1) % N] * 4 + now[i] * 2 + now[(i + 1) % N]) & 1;
        }
    }
    Buffer<int> cells(both), flag(BLOCKS);
    evolve<<<BLOCKS, TILE>>>(cells, flag);
    CHECK(cudaGetLastError());
    std::vector<int> out = cells.host();
    out.resize(N);
    return count_wrong(out, [&](int i) { return now[i]; });
}

CORPUS_MAIN(test)

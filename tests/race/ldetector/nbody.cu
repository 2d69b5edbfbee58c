// SPDX-License-Identifier: Apache-2.0
// nbody (LDetector, tables V and VI; CUDA SDK): several rows of a block share the work for a body, and row 0 adds up
// what they found, but then all rows store the body's new position: write-write, between warps.
// RACE 1: write-write race|same-value write, global, can-overlap -- rows of one block store to one body
// FIXED: row 0 stores
#include "../corpus.h"

constexpr int P = 32, Q = 2, BODIES = 64;

template <bool FIXED> __global__ void integrate(const int *position, int *moved) {
    __shared__ int part[Q][P];
    int t = threadIdx.x, row = threadIdx.y, body = blockIdx.x * P + t, me = position[body], force = 0;
    for (int other = row; other < BODIES; other += Q) {
        int d = position[other] - me; // NEVER
        force += d * (64 - abs(d));
    }
    part[row][t] = force; // NEVER
    __syncthreads();
    if (row == 0) {
        for (int r = 1; r < Q; r++) {
            force += part[r][t]; // NEVER
        }
    }
    bool store = true;
    if constexpr (FIXED) store = row == 0; // FIX
    if (store) {
        moved[body] = me + force / 16; // SIDE 1
    }
}

static int test(bool fixed) {
    std::vector<int> start(BODIES);
    for (int i = 0; i < BODIES; i++) {
        start[i] = i * i % 61;
    }
    Buffer<int> position(start), moved(BODIES);
    LAUNCH(integrate, BODIES / P, dim3(P, Q), position, moved);
    return count_wrong(moved.host(), [&](int i) {
        int force = 0;
        for (int other : start) {
            force += (other - start[i]) * (64 - abs(other - start[i]));
        }
        return start[i] + force / 16;
    });
}

CORPUS_MAIN(test)

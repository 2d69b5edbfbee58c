// SPDX-License-Identifier: Apache-2.0
// Decoupled look-back with flag and value in one 64-bit word: one relaxed store publishes both, and no fence is needed.
// CLEAN -- the word is strong on both sides, and nothing else is passed on
#include "../corpus.h"

__global__ void scan(const int *in, int *out, unsigned long long *state) {
    int b = blockIdx.x, t = threadIdx.x, prefix = 0;
    int sum = in[32 * b + t];
    for (int step = 1; step < 32; step *= 2) {
        int left = __shfl_up_sync(~0u, sum, step);
        sum += t >= step ? left : 0;
    }
    if (t == 31) {
        atomicExch(&state[b], 1ull << 32 | sum); // NEVER
    }
    if (t == 0) {
        for (int before = b - 1; before >= 0; before--) {
            unsigned long long seen;
            do {
                seen = atomicAdd(&state[before], 0ull); // NEVER
            } while (seen >> 32 == 0);
            prefix += int(seen);
        }
    }
    out[32 * b + t] = sum + __shfl_sync(~0u, prefix, 0);
}

static int test(bool) {
    Buffer<int> in(std::vector<int>(128, 2)), out(128);
    Buffer<unsigned long long> state(4);
    scan<<<4, 32>>>(in, out, state);
    CHECK(cudaGetLastError());
    return count_wrong(out.host(), [](int i) { return 2 * i + 2; });
}

CORPUS_MAIN(test)

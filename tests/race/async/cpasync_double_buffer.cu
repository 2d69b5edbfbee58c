// SPDX-License-Identifier: Apache-2.0
// Two shared buffers in turn, as in a tiled loop (CUDA programming guide, "Asynchronous data copies"): the copy for the step after next
// goes into the buffer that other threads still read.
// RACE 1: read-write race, shared, can-overlap -- no barrier between the reads of a step and the next copy into the same buffer
// FIXED: a barrier at the end of each step
#include "async.h"

template <bool FIXED> __global__ void sum_tiles(const int *in, int *out) {
    __shared__ int tile[2][64];
    int t = threadIdx.x, sum = 0;
    for (int step = 0; step < 5; step++) {
        if (step < 4) {
            CP_ASYNC(&tile[step % 2][t], &in[64 * step + t]); // SIDE 1
        }
        CP_COMMIT();
        if (step > 0) {
            CP_WAIT(1);
            __syncthreads();
            sum += tile[(step - 1) % 2][63 - t]; // SIDE 1
            if constexpr (FIXED) __syncthreads(); // FIX
        }
    }
    out[t] = sum;
}

static int test(bool fixed) {
    Buffer<int> in(numbers(256)), out(64);
    LAUNCH(sum_tiles, 1, 64, in, out);
    return count_wrong(out.host(), [](int i) { return 4 * (64 - i) + 6 * 64; });
}

CORPUS_MAIN(test)

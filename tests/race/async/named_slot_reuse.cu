// SPDX-License-Identifier: Apache-2.0
// A producer warp and a consumer warp with named barriers (CudaDMA): the producer tells that the slot is full, and nobody that it is empty.
// RACE 1: read-write race, shared, can-overlap -- the producer fills the slot again while the consumer reads
// FIXED: a second named barrier for `empty`
#include "async.h"

template <bool FIXED> __global__ void pipe(const int *in, int *out) {
    __shared__ int slot[32];
    int t = threadIdx.x, sum = 0;
    if (t < 32) {
        for (int k = 0; k < 4; k++) {
            if (FIXED && k) { // FIX
                BAR_SYNC(2, 64);
            }
            slot[t] = in[32 * k + t]; // SIDE 1
            BAR_ARRIVE(1, 64);
            if (!FIXED) { // does not run ahead by more than a filling: that would confuse the barrier
                BAR_SYNC(3, 64);
            }
        }
    } else {
        for (int k = 0; k < 4; k++) {
            BAR_SYNC(1, 64);
            if constexpr (!FIXED) BAR_ARRIVE(3, 64);
            sum += slot[63 - t]; // SIDE 1
            if (FIXED && k < 3) {
                BAR_ARRIVE(2, 64);
            }
        }
        out[t - 32] = sum;
    }
}

static int test(bool fixed) {
    Buffer<int> in(numbers(128)), out(32);
    LAUNCH(pipe, 1, 64, in, out);
    return count_wrong(out.host(), [](int i) { return 4 * (32 - i) + 6 * 32; });
}

CORPUS_MAIN(test)

// SPDX-License-Identifier: Apache-2.0
// warpCommunicate (HGRD, table 3): the lanes of one warp hand values to each other through global memory. Since lanes
// are scheduled independently, that takes a __syncwarp; analyses that believe in lockstep see nothing here.
// RACE 1: read-write race, global, can-overlap -- a lane reads what its neighbour wrote, with no order between them
// RACE 2: read-write race, global, can-overlap -- and overwrites what another neighbour may still have to read
// FIXED: __syncwarp after the values were written, and after they were read
#include "../corpus.h"

template <bool FIXED> __global__ void exchange(int *box, int *out) {
    int lane = threadIdx.x, w = blockIdx.x * 32;
    box[w + lane] = 10 * lane; // SIDE 1
    if constexpr (FIXED) __syncwarp(); // FIX
    int left = box[w + (lane + 31) % 32]; // SIDE 1 2
    if constexpr (FIXED) __syncwarp(); // FIX
    box[w + lane] = left + 1; // SIDE 2
    out[w + lane] = left;     // NEVER
}

static int test(bool fixed) {
    Buffer<int> box(64), out(64);
    LAUNCH(exchange, 2, 32, box, out);
    return count_wrong(box.host(), [](int i) { return (i + 31) % 32 * 10 + 1; }) +
           count_wrong(out.host(), [](int i) { return (i + 31) % 32 * 10; });
}

CORPUS_MAIN(test)

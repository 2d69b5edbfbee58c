// SPDX-License-Identifier: Apache-2.0
// cub::BlockScan in a loop with one TempStorage: a barrier belongs at the end of each round.
// RACE 1: read-write race, shared, can-overlap -- a warp of the next round stores while another reads of this one
// FIXED: __syncthreads after the scan
#include "../corpus.h"

#include <cub/block/block_scan.cuh>

template <bool FIXED> __global__ void scans(const int *in, int *out) {
    using Scan = cub::BlockScan<int, 64, cub::BLOCK_SCAN_WARP_SCANS>;
    __shared__ typename Scan::TempStorage storage;
    int t = threadIdx.x, carry = 0;
#pragma unroll 1
    for (int k = 0; k < 3; k++) {
        int sum, total;
        Scan(storage).InclusiveSum(in[64 * k + t], sum, total); // SIDE 1
        out[64 * k + t] = carry + sum;
        carry += total;
        if constexpr (FIXED) __syncthreads(); // FIX
    }
}

static int test(bool fixed) {
    Buffer<int> in(std::vector<int>(192, 2)), out(192);
    LAUNCH(scans, 1, 64, in, out);
    return count_wrong(out.host(), [](int i) { return 2 * i + 2; });
}

CORPUS_MAIN(test)

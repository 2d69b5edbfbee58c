// SPDX-License-Identifier: Apache-2.0
// Two streams work on the halves of a buffer, each in place; at the border one reads what the other writes.
// RACE 1: read-write race, global, can-overlap, launches 1 and 2 -- the right neighbour of the last element of the first half is in the second
// FIXED: the first half stops before its last element
#include "host.h"

__global__ void smooth(int *a, int count) {
    int i = threadIdx.x, right = i < count ? a[i + 1] : 0; // SIDE 1
    __syncthreads();
    if (i < count) {
        a[i] += right; // SIDE 1
    }
}

static int test(bool fixed) {
    Buffer<int> a(65);
    Stream one, other;
    CHECK(cudaMemset(a, 1, a.bytes()));
    CHECK(cudaDeviceSynchronize());
    smooth<<<1, 32, 0, one>>>(a, fixed ? 31 : 32); // FIX
    smooth<<<1, 32, 0, other>>>(a + 32, 32);
    return count_wrong(a.host(), [](int i) { return i == 31 || i == 64 ? 0x01010101 : 0x02020202; });
}

CORPUS_MAIN(test)

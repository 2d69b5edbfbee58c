// SPDX-License-Identifier: Apache-2.0
// The array's length chosen by the host: threads beyond the end are sent to the last element, which is harmless for
// multiples of the block. For other lengths they all write that element, the same value.
// RACE 1: same-value write, global, can-overlap -- all threads from n - 1 on write the last element
// FIXED: a length that is a multiple of the block
#include "../corpus.h"

constexpr int THREADS = 64;

__global__ void twice(const int *in, int *out, int n) {
    int i = min(blockIdx.x * blockDim.x + threadIdx.x, n - 1);
    out[i] = 2 * in[i]; // SIDE 1
}

static int test(bool fixed) {
    int n = 100;
    if (fixed) n = 128; // FIX
    std::vector<int> values(n);
    for (int i = 0; i < n; i++) {
        values[i] = 3 * i + 1;
    }
    Buffer<int> in(values), out(n);
    twice<<<(n + THREADS - 1) / THREADS, THREADS>>>(in, out, n);
    CHECK(cudaGetLastError());
    return count_wrong(out.host(), [](int i) { return 6 * i + 2; });
}

CORPUS_MAIN(test)

// SPDX-License-Identifier: Apache-2.0
// CLEAN -- bytes are locations of their own, however many of them share a word
// Marks of a byte for each vertex, set by one thread each. Detectors that keep a record for every four bytes report them.
#include "../corpus.h"

__global__ void mark(int n, const int *row, char *large)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < n)
        large[v] = row[v + 1] - row[v] > 3; // NEVER
}

static int test(bool)
{
    const int n = 90;
    std::vector<int> rows{0};
    for (int v = 0; v < n; v++)
        rows.push_back(rows.back() + v % 7);
    Buffer<int> row(rows);
    Buffer<char> large(n);
    mark<<<3, 30>>>(n, row, large);
    CHECK(cudaGetLastError());
    return count_wrong(large.host(), [](size_t v) { return v % 7 > 3; });
}

CORPUS_MAIN(test)

// SPDX-License-Identifier: Apache-2.0
// CLEAN -- each block has counters of its own, and tells the others by the kernel's end
// Atomics of block scope used as they are meant. Detectors that do not follow scopes see strong operations, those that
// follow them by address only see blocks share a cache line.
#include "../corpus.h"

__global__ void histogram(const int *in, int *bins)
{
    atomicAdd_block(&bins[blockIdx.x * 8 + in[blockIdx.x * blockDim.x + threadIdx.x]], 1); // NEVER
}

static int test(bool)
{
    std::vector<int> values(4 * 64);
    for (size_t i = 0; i < values.size(); i++)
        values[i] = i % 8;
    Buffer<int> in(values), bins(4 * 8);
    histogram<<<4, 64>>>(in, bins);
    CHECK(cudaGetLastError());
    return count_wrong(bins.host(), [](size_t) { return 8; });
}

CORPUS_MAIN(test)

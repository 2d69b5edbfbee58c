// SPDX-License-Identifier: Apache-2.0
// NVCC: -rdc=true
// WITH: linked_functions.cu linked_data.cu
// A program in three translation units: device functions, a table of function pointers, a constant table and a counter are
// defined in others; one of them has a kernel of its own.
#include "complete.h"
#include "parts/linked.h"

__global__ void apply(const int *in, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    out[i] = operations[i % OPERATIONS](in[i]) + collatz_length(in[i]) + primes[i % PRIMES];
    atomicAdd(&applied, 1);
}

int main()
{
    CHECK(cudaDeviceSetLimit(cudaLimitStackSize, 16384)); // the recursion is as deep as the longest sequence
    const int n = 1001;
    Random random(50);
    std::vector<int> in(n), want(n);
    const int table[PRIMES] = {2, 3, 5, 7, 11, 13, 17};
    for (int i = 0; i < n; i++) {
        int x = in[i] = 1 + (int)random.below(5000), steps = 0;
        for (long long c = x; c != 1; c = c % 2 ? 3 * c + 1 : c / 2)
            steps++;
        const int results[OPERATIONS] = {x * 2, x - 7, x ^ 0x55, (int)sqrtf((float)x)};
        want[i] = results[i % OPERATIONS] + steps + table[i % PRIMES];
    }
    int *d = to_device(in), *out = device_new<int>(n), count;
    apply<<<blocks_for(n, 64), 64>>>(d, out, n);
    negate_there(out, n);
    finish_launches();
    for (auto &e : want)
        e = -e;
    expect_same("results", from_device(out, n), want);
    CHECK(cudaMemcpyFromSymbol(&count, applied, sizeof count));
    expect_same("applied", count, n);
    return finish();
}

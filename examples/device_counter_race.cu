// SPDX-License-Identifier: Apache-2.0
// EXPECT: races
// Sums the divisors of many numbers into a 64-bit __device__ variable; the table of weights is __constant__.
// The threads add with +=.
#include "example.h"

__device__ unsigned long long total;
__constant__ unsigned weights[8];

__global__ void divisors(unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x + 1;
    unsigned long long sum = 0;
    for (unsigned d = 1; d <= 32; d++)
        if (i % d == 0)
            sum += (unsigned long long)d * weights[d % 8]; // NEVER
    if (i <= n)
        total += sum << 32; // RACE: clobbered read, lost update, intra-warp lost update; RACE-MAYBE: intra-warp same-value write
}

int main()
{
    const unsigned n = 1000;
    unsigned w[8];
    unsigned long long got = 0, expected = 0;
    for (unsigned k = 0; k < 8; k++)
        w[k] = 1 + scramble(k) % 7;
    for (unsigned i = 1; i <= n; i++)
        for (unsigned d = 1; d <= 32; d++)
            if (i % d == 0)
                expected += (unsigned long long)d * w[d % 8] << 32;
    CUDA_CHECK(cudaMemcpyToSymbol(weights, w, sizeof w));
    CUDA_CHECK(cudaMemcpyToSymbol(total, &got, sizeof got));
    divisors<<<(n + 127) / 128, 128>>>(n);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpyFromSymbol(&got, total, sizeof got));
    printf("total %llu, expected %llu\n", got >> 32, expected >> 32);
    return finish_undefined("device_counter", got != expected);
}

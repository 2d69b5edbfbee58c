// SPDX-License-Identifier: Apache-2.0
#include "linked.h"

__constant__ int primes[PRIMES] = {2, 3, 5, 7, 11, 13, 17};
__device__ int applied;

static __global__ void negate(int *data, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i] = -data[i];
}

void negate_there(int *data, int n)
{
    negate<<<(n + 95) / 96, 96>>>(data, n);
}

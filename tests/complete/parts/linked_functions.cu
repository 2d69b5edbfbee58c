// SPDX-License-Identifier: Apache-2.0
#include "linked.h"

static __device__ int twice(int x)
{
    return 2 * x;
}
static __device__ int less(int x)
{
    return x - 7;
}
static __device__ int flip(int x)
{
    return x ^ 0x55;
}
static __device__ int root(int x)
{
    return (int)sqrtf((float)x);
}
__device__ Operation operations[OPERATIONS] = {twice, less, flip, root};

__device__ int collatz_length(int n) // recursive, so that it needs a stack
{
    return n == 1 ? 0 : 1 + collatz_length(n % 2 ? 3 * n + 1 : n / 2);
}

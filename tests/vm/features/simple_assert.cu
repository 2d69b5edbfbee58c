// SPDX-License-Identifier: Apache-2.0
// simpleAssert: a failing assertion says where, and every later call returns cudaErrorAssert.
// ANYWHERE: Assertion `i < n` failed
// ANYWHERE: simple_assert.cu:
// ANYWHERE: thread: [28,0,0]
#undef NDEBUG
#include <cassert>

#include "../../check.h"

__global__ void check(int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    assert(i < n);
}

int main()
{
    check<<<2, 32>>>(64);
    CHECK(cudaDeviceSynchronize());
    check<<<2, 32>>>(60);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorAssert);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorAssert);
    void *p;
    EXPECT_EQ(cudaMalloc(&p, 4), cudaErrorAssert);
    return finish();
}

// SPDX-License-Identifier: Apache-2.0
// __constant__ and __device__ variables: initial values, copies in and out with offsets, address and size.
#include "../../check.h"

struct Params {
    int n;
    float f[3];
    double d;
};

__constant__ Params params = {3, {1.5f, 2.5f, 3.5f}, 0.125};
__device__ int counters[4] = {10, 20, 30, 40};
__device__ unsigned char bytes[3] = {1, 2, 3};
__device__ int *indirect = &counters[2];
static __device__ long long hidden = -1;
namespace deep {
__device__ short inside = 7;
}

__global__ void use(double *out)
{
    if (threadIdx.x == 0) {
        out[0] = params.n + params.f[0] + params.f[1] + params.f[2] + params.d;
        out[1] = bytes[0] + bytes[1] + bytes[2];
        out[2] = *indirect;
        out[3] = (double)hidden + deep::inside;
    }
    __syncthreads();
    counters[threadIdx.x] += params.n;
}

int main()
{
    double *d, out[4];
    CHECK(cudaMalloc(&d, sizeof out));
    use<<<1, 1>>>(d);
    CHECK(cudaMemcpy(out, d, sizeof out, cudaMemcpyDeviceToHost));
    EXPECT(out[0] == 3 + 7.5 + 0.125);
    EXPECT(out[1] == 6);
    EXPECT(out[2] == 30);
    EXPECT(out[3] == 6);
    int host[4];
    CHECK(cudaMemcpyFromSymbol(host, counters, sizeof host));
    EXPECT_EQ(host[0], 13);
    EXPECT_EQ(host[3], 40);

    Params p = {100, {1, 1, 1}, 2};
    CHECK(cudaMemcpyToSymbol(params, &p, sizeof p));
    int one = 1000;
    CHECK(cudaMemcpyToSymbol(counters, &one, sizeof one, 2 * sizeof one));
    long long h = 5;
    CHECK(cudaMemcpyToSymbolAsync(hidden, &h, sizeof h, 0, cudaMemcpyHostToDevice, 0));
    use<<<1, 4>>>(d);
    CHECK(cudaMemcpy(out, d, sizeof out, cudaMemcpyDeviceToHost));
    EXPECT(out[0] == 105);
    EXPECT(out[2] == 1000);
    EXPECT(out[3] == 12);
    CHECK(cudaMemcpyFromSymbol(&one, counters, sizeof one, 2 * sizeof one));
    EXPECT_EQ(one, 1100);

    void *address;
    size_t size = 0;
    CHECK(cudaGetSymbolAddress(&address, counters));
    CHECK(cudaGetSymbolSize(&size, counters));
    EXPECT_EQ(size, sizeof host);
    CHECK(cudaMemcpy(host, address, sizeof host, cudaMemcpyDeviceToHost));
    EXPECT_EQ(host[3], 140);
    EXPECT_EQ(cudaMemcpyToSymbol(bytes, &h, 4), cudaErrorInvalidValue);
    cudaGetLastError();
    CHECK(cudaFree(d));
    return finish();
}

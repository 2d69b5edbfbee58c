// SPDX-License-Identifier: Apache-2.0
// More accesses by warps than an engine that remembers them has numbers for between two rounds of tidying up: it gives those that it has
// forgotten to others (docs/exact.md, "How much memory does it take?"). Kernels in which that once made races of what are none.
// WITHOUT: jobs weak collider
#include "complete.h"

// Nobody reads the counters, and only atomics touch them.
__global__ void count(const int *data, int *counter, int counters) {
    int v = data[(blockIdx.x * 37 + threadIdx.x) & 1023];
    atomicAdd(&counter[blockIdx.x % counters], v);
}

// One thread writes each result.
__global__ void sums(const float *in, float *result) {
    __shared__ float s[16 * 8];
    int tx = threadIdx.x, ty = threadIdx.y;
    s[tx * 8 + ty] = in[ty * 16 + tx];
    __syncthreads();
    if (ty == 0) {
        float r = 0;
        for (int i = 0; i < 8; i++)
            r += s[tx * 8 + i];
        result[blockIdx.x * 16 + tx] = r;
    }
}

int main() {
    const int blocks = 20000, counters = 1024;
    std::vector<int> data(1024), totals(counters);
    std::vector<float> in(128), want(blocks * 16);
    for (int k = 0; k < 1024; k++)
        data[k] = k % 5;
    for (int k = 0; k < 128; k++)
        in[k] = k;
    for (int b = 0; b < blocks; b++)
        for (int t = 0; t < 128; t++)
            totals[b % counters] += data[(b * 37 + t) & 1023];
    for (int k = 0; k < blocks * 16; k++)
        want[k] = 8 * (k % 16) + 16 * 28;
    const int *numbers = to_device(data);
    int *counter = device_zeros<int>(counters); // the launch comes after it; the host waits for neither
    count<<<blocks, 128>>>(numbers, counter, counters);
    expect_same("counter", from_device(counter, counters), totals);
    float *result = device_new<float>(want.size());
    sums<<<blocks, dim3(16, 8)>>>(to_device(in), result);
    expect_same("result", from_device(result, want.size()), want);
    return finish();
}

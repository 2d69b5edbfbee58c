// SPDX-License-Identifier: Apache-2.0
// clock: the device's clocks advance, also over work and sleep, and agree on which way.
#include "../../check.h"

__global__ void timed_reduction(const float *in, float *out, long long *timer)
{
    extern __shared__ float shared[];
    int t = threadIdx.x, b = blockIdx.x;
    if (t == 0)
        timer[b] = clock64();
    shared[t] = in[t];
    shared[t + blockDim.x] = in[t + blockDim.x];
    for (int d = blockDim.x; d > 0; d /= 2) {
        __syncthreads();
        if (t < d && shared[t + d] < shared[t])
            shared[t] = shared[t + d];
    }
    if (t == 0)
        out[b] = shared[0];
    __syncthreads();
    if (t == 0)
        timer[b + gridDim.x] = clock64();
}

__global__ void sleepers(unsigned long long *ns, unsigned *ticks)
{
    unsigned long long start, end;
    clock_t c = clock();
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
    for (int i = 0; i < 100; i++)
        __nanosleep(10000);
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(end));
    *ns = end - start;
    *ticks = (unsigned)(clock() - c);
}

int main()
{
    const int blocks = 8, threads = 64;
    float in[2 * threads], out[blocks], *d_in, *d_out;
    long long timer[2 * blocks], *d_timer;
    for (int i = 0; i < 2 * threads; i++)
        in[i] = (float)((i * 37) % 101) - 3;
    CHECK(cudaMalloc(&d_in, sizeof in));
    CHECK(cudaMalloc(&d_out, sizeof out));
    CHECK(cudaMalloc(&d_timer, sizeof timer));
    CHECK(cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice));
    timed_reduction<<<blocks, threads, 2 * threads * sizeof(float)>>>(d_in, d_out, d_timer);
    CHECK(cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(timer, d_timer, sizeof timer, cudaMemcpyDeviceToHost));
    for (int b = 0; b < blocks; b++) {
        EXPECT(out[b] == -3);
        EXPECT(timer[b + blocks] > timer[b]);
    }
    unsigned long long ns = 0;
    unsigned ticks = 0;
    sleepers<<<1, 1>>>((unsigned long long *)d_timer, (unsigned *)d_out);
    CHECK(cudaMemcpy(&ns, d_timer, sizeof ns, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(&ticks, d_out, sizeof ticks, cudaMemcpyDeviceToHost));
    EXPECT(ns > 0 && ns <= 100 * 2 * 10000 + 1000000); // nanosleep(t) sleeps for 0 to 2t
    EXPECT(ticks > 0);
    CHECK(cudaFree(d_in));
    CHECK(cudaFree(d_out));
    CHECK(cudaFree(d_timer));
    return finish();
}

// SPDX-License-Identifier: Apache-2.0
// Histograms of bytes: global atomics, shared atomics, a copy per warp, lanes with the same value counted together by
// match_any, packed byte counters per thread without atomics, and the equalization of an image with one.
#include "complete.h"
#include <string>

const int BINS = 256, BLOCK = 192;

__global__ void global_atomics(const unsigned char *x, int n, unsigned *bins)
{
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += gridDim.x * BLOCK)
        atomicAdd(&bins[x[i]], 1);
}

__global__ void shared_atomics(const unsigned char *x, int n, unsigned *bins)
{
    __shared__ unsigned mine[BINS];
    for (int b = threadIdx.x; b < BINS; b += BLOCK)
        mine[b] = 0;
    __syncthreads();
    const uchar4 *words = (const uchar4 *)x;
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n / 4; i += gridDim.x * BLOCK) {
        uchar4 w = words[i];
        atomicAdd(&mine[w.x], 1);
        atomicAdd(&mine[w.y], 1);
        atomicAdd(&mine[w.z], 1);
        atomicAdd(&mine[w.w], 1);
    }
    if (blockIdx.x == 0 && threadIdx.x < n % 4)
        atomicAdd(&mine[x[n / 4 * 4 + threadIdx.x]], 1);
    __syncthreads();
    for (int b = threadIdx.x; b < BINS; b += BLOCK)
        if (mine[b])
            atomicAdd(&bins[b], mine[b]);
}

__global__ void warp_copies(const unsigned char *x, int n, unsigned *bins)
{
    __shared__ unsigned mine[BLOCK / 32][BINS];
    for (int b = threadIdx.x; b < BLOCK / 32 * BINS; b += BLOCK)
        mine[0][b] = 0;
    __syncthreads();
    unsigned *own = mine[threadIdx.x / 32];
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += gridDim.x * BLOCK) {
        unsigned peers = __match_any_sync(__activemask(), x[i]);
        if (threadIdx.x % 32 == __ffs(peers) - 1) // one lane for each value: lanes of other values go elsewhere
            atomicAdd(&own[x[i]], __popc(peers));
    }
    __syncthreads();
    for (int b = threadIdx.x; b < BINS; b += BLOCK) {
        unsigned sum = 0;
        for (auto &copy : mine)
            sum += copy[b];
        atomicAdd(&bins[b], sum);
    }
}

// 32 bins per launch, as bytes in shared memory, a column per thread: never more than 255 values each.
__global__ void packed(const unsigned char *x, int n, int first, unsigned *bins)
{
    __shared__ unsigned char counts[32][BLOCK];
    for (int b = 0; b < 32; b++)
        counts[b][threadIdx.x] = 0;
    int begin = blockIdx.x * BLOCK * 200;
    for (int i = begin + threadIdx.x; i < min(n, begin + BLOCK * 200); i += BLOCK)
        if (x[i] / 32 == first)
            counts[x[i] % 32][threadIdx.x]++;
    __syncthreads();
    for (int b = threadIdx.x / 32; b < 32; b += BLOCK / 32) {
        unsigned sum = 0;
        for (int t = threadIdx.x % 32; t < BLOCK; t += 32)
            sum += counts[b][t];
        sum = __reduce_add_sync(~0u, sum);
        if (threadIdx.x % 32 == 0)
            atomicAdd(&bins[first * 32 + b], sum);
    }
}

__global__ void equalize(unsigned char *x, int n, const unsigned *bins)
{
    __shared__ unsigned sum[BINS];
    int t = threadIdx.x;
    sum[t] = bins[t];
    __syncthreads();
    for (int d = 1; d < BINS; d *= 2) {
        unsigned below = t >= d ? sum[t - d] : 0;
        __syncthreads();
        sum[t] += below;
        __syncthreads();
    }
    for (int i = blockIdx.x * BINS + t; i < n; i += gridDim.x * BINS)
        x[i] = (unsigned char)((unsigned long long)sum[x[i]] * 255 / n);
}

int main()
{
    const int n = 60013;
    Random random(32);
    std::vector<unsigned char> x(n), want_x(n);
    std::vector<unsigned> want(BINS, 0);
    for (auto &e : x)
        want[e = (unsigned char)(random.below(16) * random.below(17))]++;
    unsigned char *d = to_device(x);
    unsigned *bins = device_new<unsigned>(BINS);
    for (int way = 0; way < 4; way++) {
        CHECK(cudaMemset(bins, 0, BINS * sizeof(unsigned)));
        if (way == 0)
            global_atomics<<<7, BLOCK>>>(d, n, bins);
        else if (way == 1)
            shared_atomics<<<7, BLOCK>>>(d, n, bins);
        else if (way == 2)
            warp_copies<<<7, BLOCK>>>(d, n, bins);
        else
            for (int first = 0; first < BINS / 32; first++)
                packed<<<blocks_for(n, BLOCK * 200), BLOCK>>>(d, n, first, bins);
        finish_launches();
        expect_same(("way " + std::to_string(way)).c_str(), from_device(bins, BINS), want);
    }
    equalize<<<5, BINS>>>(d, n, bins);
    finish_launches();
    for (int i = 0; i < n; i++) {
        unsigned long long sum = 0;
        for (int b = 0; b <= x[i]; b++)
            sum += want[b];
        want_x[i] = (unsigned char)(sum * 255 / n);
    }
    expect_same("equalized", from_device(d, n), want_x);
    return finish();
}

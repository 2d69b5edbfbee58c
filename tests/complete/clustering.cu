// SPDX-License-Identifier: Apache-2.0
// k-means with integer coordinates (so that sums do not depend on the order): assignment with centres in constant memory,
// sums per block in shared memory; and k nearest neighbours by insertion into a small list in local memory.
#include "complete.h"
#include <algorithm>

const int K = 7, DIMS = 3, NEAREST = 5;

__constant__ int centers[K * DIMS];

__global__ void assign(const int *points, int n, int *label, int *sums, int *counts, int *moved)
{
    __shared__ int block_sums[K * DIMS], block_counts[K];
    for (int i = threadIdx.x; i < K * DIMS; i += blockDim.x)
        block_sums[i] = 0;
    if (threadIdx.x < K)
        block_counts[threadIdx.x] = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    bool changed = false;
    if (i < n) {
        int best = 0;
        long long least = -1;
        for (int k = 0; k < K; k++) {
            long long d = 0;
            for (int c = 0; c < DIMS; c++) {
                long long e = points[c * n + i] - centers[k * DIMS + c];
                d += e * e;
            }
            if (least < 0 || d < least) {
                least = d;
                best = k;
            }
        }
        changed = label[i] != best;
        label[i] = best;
        atomicAdd(&block_counts[best], 1);
        for (int c = 0; c < DIMS; c++)
            atomicAdd(&block_sums[best * DIMS + c], points[c * n + i]);
    }
    if (__syncthreads_or(changed) && threadIdx.x == 0)
        *(volatile int *)moved = 1;
    for (int k = threadIdx.x; k < K * DIMS; k += blockDim.x)
        atomicAdd(&sums[k], block_sums[k]);
    if (threadIdx.x < K)
        atomicAdd(&counts[threadIdx.x], block_counts[threadIdx.x]);
}

__global__ void nearest(const float2 *points, int n, const float2 *queries, int count, int *out)
{
    __shared__ float2 tile[64];
    int q = blockIdx.x * blockDim.x + threadIdx.x;
    float2 me = queries[min(q, count - 1)];
    float distance[NEAREST];
    int which[NEAREST];
    for (int k = 0; k < NEAREST; k++) {
        distance[k] = INFINITY;
        which[k] = -1;
    }
    for (int base = 0; base < n; base += 64) {
        if (threadIdx.x < 64 && base + threadIdx.x < n)
            tile[threadIdx.x] = points[base + threadIdx.x];
        __syncthreads();
        for (int j = 0; j < min(64, n - base); j++) {
            float dx = tile[j].x - me.x, dy = tile[j].y - me.y, d = __fadd_rn(__fmul_rn(dx, dx), __fmul_rn(dy, dy));
            int k = NEAREST;
            while (k > 0 && d < distance[k - 1])
                k--;
            for (int m = NEAREST - 1; m > k; m--) {
                distance[m] = distance[m - 1];
                which[m] = which[m - 1];
            }
            if (k < NEAREST) {
                distance[k] = d;
                which[k] = base + j;
            }
        }
        __syncthreads();
    }
    if (q < count)
        for (int k = 0; k < NEAREST; k++)
            out[q * NEAREST + k] = which[k];
}

int main()
{
    const int n = 4001;
    Random random(31);
    std::vector<int> points(n * DIMS), center(K * DIMS), want_label(n, -1);
    for (int i = 0; i < n; i++) {
        int near = (int)random.below(K);
        for (int c = 0; c < DIMS; c++)
            points[c * n + i] = (near * (37 + c * 11) % 50) * 1000 + (int)random.below(12000);
    }
    for (int k = 0; k < K; k++)
        for (int c = 0; c < DIMS; c++)
            center[k * DIMS + c] = points[c * n + k * 101];
    std::vector<int> want_center = center;
    int *d_points = to_device(points), *label = to_device(want_label), *sums = device_new<int>(K * DIMS), *counts = device_new<int>(K);
    int *moved = device_new<int>(1), rounds = 0;
    do {
        CHECK(cudaMemcpyToSymbol(centers, center.data(), sizeof centers));
        CHECK(cudaMemset(sums, 0, K * DIMS * sizeof(int)));
        CHECK(cudaMemset(counts, 0, K * sizeof(int)));
        CHECK(cudaMemset(moved, 0, sizeof(int)));
        assign<<<blocks_for(n, 128), 128>>>(d_points, n, label, sums, counts, moved);
        std::vector<int> s = from_device(sums, K * DIMS), c = from_device(counts, K);
        for (int k = 0; k < K * DIMS; k++)
            center[k] = c[k / DIMS] ? s[k] / c[k / DIMS] : center[k];
    } while (from_device(moved) && ++rounds < 30);
    finish_launches();
    bool changed = true;
    for (int round = 0; changed && round <= 30; round++) {
        changed = false;
        std::vector<int> s(K * DIMS, 0), c(K, 0);
        for (int i = 0; i < n; i++) {
            int best = 0;
            long long least = -1;
            for (int k = 0; k < K; k++) {
                long long d = 0;
                for (int x = 0; x < DIMS; x++) {
                    long long e = points[x * n + i] - want_center[k * DIMS + x];
                    d += e * e;
                }
                if (least < 0 || d < least) {
                    least = d;
                    best = k;
                }
            }
            changed |= want_label[i] != best;
            want_label[i] = best;
            c[best]++;
            for (int x = 0; x < DIMS; x++)
                s[best * DIMS + x] += points[x * n + i];
        }
        for (int k = 0; k < K * DIMS; k++)
            want_center[k] = c[k / DIMS] ? s[k] / c[k / DIMS] : want_center[k];
    }
    expect_same("labels", from_device(label, n), want_label);
    expect_same("centres", center, want_center);

    const int cloud = 700, queries = 211;
    std::vector<float2> p(cloud), q(queries);
    for (auto *v : {&p, &q})
        for (auto &e : *v)
            e = {random.uniform(), random.uniform()};
    int *out = device_new<int>(queries * NEAREST);
    nearest<<<blocks_for(queries, 96), 96>>>(to_device(p), cloud, to_device(q), queries, out);
    finish_launches();
    std::vector<int> want;
    for (auto &me : q) {
        std::vector<std::pair<float, int>> all;
        for (int i = 0; i < cloud; i++) {
            volatile float dx = p[i].x - me.x, dy = p[i].y - me.y, xx = dx * dx, yy = dy * dy;
            all.push_back({xx + yy, i});
        }
        std::partial_sort(all.begin(), all.begin() + NEAREST, all.end());
        for (int k = 0; k < NEAREST; k++)
            want.push_back(all[k].second);
    }
    expect_same("nearest", from_device(out, queries * NEAREST), want);
    return finish();
}

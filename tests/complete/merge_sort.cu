// SPDX-License-Identifier: Apache-2.0
// Merge sort: blocks sort tiles by odd-even merging in registers and shared memory, then pairs of runs are merged, each
// thread finding its part of both runs by a binary search along a diagonal (merge path). Doubles, so 64-bit comparison.
#include "complete.h"
#include <algorithm>

const int BLOCK = 128, PART = 5; // elements that a thread merges

__global__ void sort_tiles(double *x, int n)
{
    __shared__ double tile[2][BLOCK];
    int base = blockIdx.x * BLOCK, count = min(BLOCK, n - base), t = threadIdx.x, from = 0;
    if (t < count)
        tile[0][t] = x[base + t];
    __syncthreads();
    for (int run = 1; run < count; run *= 2, from ^= 1) { // by ranks: own place plus that in the other run
        if (t < count) {
            int pair = t / (2 * run) * (2 * run), mine = t / run % 2;
            int low = mine ? pair : pair + run, high = min(low + run, count), first = min(low, count);
            double v = tile[from][t];
            int lo = first, hi = max(first, high);
            while (lo < hi) {
                int mid = (lo + hi) / 2;
                if (mine ? tile[from][mid] <= v : tile[from][mid] < v)
                    lo = mid + 1;
                else
                    hi = mid;
            }
            int own = t - (mine ? pair + run : pair);
            tile[!from][pair + own + (lo - first)] = v;
        }
        __syncthreads();
    }
    if (t < count)
        x[base + t] = tile[from][t];
}

__global__ void merge_runs(const double *in, double *out, int n, int run)
{
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * PART;
    if (first >= n)
        return;
    int pair = first / (2 * run) * (2 * run);
    // A thread whose part crosses into the next pair of runs starts again there.
    for (int at = first, end = min(first + PART, n); at < end;) {
        const double *a = in + pair, *b = in + min(pair + run, n);
        int na = min(run, n - pair), nb = max(0, min(run, n - pair - run)), diagonal = at - pair;
        int lo = max(0, diagonal - nb), hi = min(diagonal, na);
        while (lo < hi) {
            int mid = (lo + hi) / 2;
            if (a[mid] <= b[diagonal - 1 - mid])
                lo = mid + 1;
            else
                hi = mid;
        }
        int i = lo, j = diagonal - lo, stop = min(end, pair + na + nb);
        for (; at < stop; at++)
            out[at] = j >= nb || (i < na && a[i] <= b[j]) ? a[i++] : b[j++];
        pair += 2 * run;
    }
}

int main()
{
    const int n = 10007;
    Random random(6);
    std::vector<double> x(n);
    for (auto &e : x)
        e = (double)(int)random.next() / (1 + random.below(1000));
    double *d[2] = {to_device(x), device_new<double>(n)};
    sort_tiles<<<blocks_for(n, BLOCK), BLOCK>>>(d[0], n);
    int from = 0;
    for (int run = BLOCK; run < n; run *= 2, from ^= 1)
        merge_runs<<<blocks_for(blocks_for(n, PART), BLOCK), BLOCK>>>(d[from], d[!from], n, run);
    finish_launches();
    std::sort(x.begin(), x.end());
    expect_same("sorted", from_device(d[from], n), x);
    return finish();
}

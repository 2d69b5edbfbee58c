// SPDX-License-Identifier: Apache-2.0
// ARCH: 80
// CUB over whole arrays: radix sort of pairs, scan (decoupled look-back), reduction, selection, run lengths and histogram.
#include "complete.h"
#include <algorithm>
#include <cub/device/device_histogram.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_run_length_encode.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>

template <class Call> static void with_storage(Call call)
{
    size_t bytes = 0;
    void *storage = nullptr;
    CHECK(call(storage, bytes));
    CHECK(cudaMalloc(&storage, bytes));
    CHECK(call(storage, bytes));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(storage));
}

struct Small {
    __host__ __device__ bool operator()(unsigned x) const
    {
        return x < 1u << 30;
    }
};

int main()
{
    const int n = 30011;
    Random random(43);
    std::vector<unsigned> keys(n), order(n), runs(n), want;
    for (int i = 0; i < n; i++) {
        keys[i] = random.next();
        order[i] = i;
        runs[i] = i && random.below(5) ? runs[i - 1] : random.below(9);
    }
    unsigned *k = to_device(keys), *k2 = device_new<unsigned>(n), *v = to_device(order), *v2 = device_new<unsigned>(n);
    unsigned *r = to_device(runs), *count = device_new<unsigned>(1);
    with_storage([&](void *s, size_t &b) { return cub::DeviceScan::InclusiveSum(s, b, k, k2, n); });
    want = keys;
    for (int i = 1; i < n; i++)
        want[i] += want[i - 1];
    expect_same("scan", from_device(k2, n), want);
    with_storage([&](void *s, size_t &b) { return cub::DeviceReduce::Max(s, b, k, count, n); });
    expect_same("max", from_device(count), *std::max_element(keys.begin(), keys.end()));
    with_storage([&](void *s, size_t &b) { return cub::DeviceSelect::If(s, b, k, k2, count, n, Small()); });
    want.clear();
    std::copy_if(keys.begin(), keys.end(), std::back_inserter(want), Small());
    expect_same("selected", from_device(k2, from_device(count)), want);
    with_storage([&](void *s, size_t &b) { return cub::DeviceRadixSort::SortPairs(s, b, k, k2, v, v2, n); });
    std::stable_sort(order.begin(), order.end(), [&](unsigned a, unsigned b) { return keys[a] < keys[b]; });
    expect_same("order", from_device(v2, n), order);
    std::sort(keys.begin(), keys.end());
    expect_same("sorted", from_device(k2, n), keys);
    with_storage([&](void *s, size_t &b) { return cub::DeviceRunLengthEncode::Encode(s, b, r, k2, v2, count, n); });
    std::vector<unsigned> value, length;
    for (int i = 0; i < n; i++) {
        if (i == 0 || runs[i] != runs[i - 1]) {
            value.push_back(runs[i]);
            length.push_back(0);
        }
        length.back()++;
    }
    expect_same("runs", from_device(k2, from_device(count)), value);
    expect_same("lengths", from_device(v2, from_device(count)), length);
    int *bins = device_new<int>(9);
    with_storage([&](void *s, size_t &b) { return cub::DeviceHistogram::HistogramEven(s, b, r, bins, 10, 0u, 9u, n); });
    std::vector<int> want_bins(9, 0);
    for (unsigned e : runs)
        want_bins[e]++;
    expect_same("histogram", from_device(bins, 9), want_bins);
    return finish();
}

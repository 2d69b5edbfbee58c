// SPDX-License-Identifier: Apache-2.0
// ARCH: default
// Thrust: sort, stable sort by key, reduce, transform and reduce, scans, unique, copy_if, partition, reduce_by_key, set
// operations, searches and gather, over device vectors and counting iterators.
#include "complete.h"
#include <algorithm>
#include <map>
#include <numeric>
#include <thrust/binary_search.h>
#include <thrust/copy.h>
#include <thrust/device_vector.h>
#include <thrust/gather.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/partition.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sort.h>
#include <thrust/transform_reduce.h>
#include <thrust/unique.h>

struct Square {
    __host__ __device__ long long operator()(int x) const
    {
        return (long long)x * x;
    }
};

struct IsOdd {
    __host__ __device__ bool operator()(int x) const
    {
        return x & 1;
    }
};

template <class T> static std::vector<T> back(const thrust::device_vector<T> &v, size_t n)
{
    std::vector<T> out(n);
    thrust::copy(v.begin(), v.begin() + n, out.begin());
    return out;
}

int main()
{
    const int n = 10007;
    Random random(40);
    std::vector<int> x(n), values(n);
    for (auto &e : x)
        e = (int)random.below(3000) - 1000;
    std::iota(values.begin(), values.end(), 0);
    thrust::device_vector<int> d(x.begin(), x.end()), v(values.begin(), values.end()), out(n), out2(n);

    expect_same("reduce", thrust::reduce(d.begin(), d.end()), std::accumulate(x.begin(), x.end(), 0));
    long long squares = 0;
    for (int e : x)
        squares += (long long)e * e;
    expect_same("sum of squares", thrust::transform_reduce(d.begin(), d.end(), Square(), 0ll, thrust::plus<long long>()), squares);

    thrust::exclusive_scan(d.begin(), d.end(), out.begin(), 5);
    std::vector<int> want(n);
    for (int i = 0, sum = 5; i < n; sum += x[i++])
        want[i] = sum;
    expect_same("exclusive scan", back(out, n), want);

    auto end = thrust::copy_if(d.begin(), d.end(), out.begin(), IsOdd());
    want.clear();
    std::copy_if(x.begin(), x.end(), std::back_inserter(want), IsOdd());
    expect_same("copy_if", back(out, end - out.begin()), want);

    thrust::copy(d.begin(), d.end(), out.begin());
    size_t odd = thrust::stable_partition(out.begin(), out.end(), IsOdd()) - out.begin();
    want = x;
    std::stable_partition(want.begin(), want.end(), IsOdd());
    expect_same("odd ones", odd, (size_t)std::count_if(x.begin(), x.end(), IsOdd()));
    expect_same("partition", back(out, n), want);

    thrust::stable_sort_by_key(d.begin(), d.end(), v.begin());
    std::stable_sort(values.begin(), values.end(), [&](int a, int b) { return x[a] < x[b]; });
    expect_same("order", back(v, n), values);
    std::vector<int> sorted = x;
    std::sort(sorted.begin(), sorted.end());
    expect_same("sorted", back(d, n), sorted);

    thrust::device_vector<int> original(x.begin(), x.end());
    thrust::gather(v.begin(), v.end(), original.begin(), out.begin());
    expect_same("gather", back(out, n), sorted);

    auto ends = thrust::reduce_by_key(d.begin(), d.end(), thrust::make_constant_iterator(1), out.begin(), out2.begin());
    std::map<int, int> counts;
    for (int e : x)
        counts[e]++;
    std::vector<int> keys, many;
    for (auto &c : counts) {
        keys.push_back(c.first);
        many.push_back(c.second);
    }
    expect_same("keys", back(out, ends.first - out.begin()), keys);
    expect_same("counts", back(out2, ends.second - out2.begin()), many);

    // Not unique() in place: its blocks overwrite what others have read through the non-coherent cache (ld.global.nc), with
    // only relaxed atomics between them, which is a race by PTX's memory model (CCCL 3.0).
    size_t different = thrust::unique_copy(d.begin(), d.end(), out2.begin()) - out2.begin();
    expect_same("unique", back(out2, different), keys);
    thrust::lower_bound(out2.begin(), out2.begin() + different, thrust::counting_iterator<int>(-1100),
                        thrust::counting_iterator<int>(2100), out.begin());
    want.clear();
    for (int i = -1100; i < 2100; i++)
        want.push_back((int)(std::lower_bound(keys.begin(), keys.end(), i) - keys.begin()));
    expect_same("lower_bound", back(out, want.size()), want);
    return finish();
}

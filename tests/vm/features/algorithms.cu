// SPDX-License-Identifier: Apache-2.0
// Thrust and CUB, as most programs use them: sort, reduce, scan, transform, unique, sort by key.
#include "../../check.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include <thrust/device_vector.h>
#include <thrust/host_vector.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <thrust/unique.h>

int main()
{
    const int n = 10000;
    thrust::host_vector<int> host(n);
    unsigned state = 1;
    for (int &x : host) {
        state = state * 1664525 + 1013904223;
        x = (int)(state >> 8) % 5000;
    }
    thrust::device_vector<int> device = host;
    thrust::device_vector<long> sums(n);
    thrust::inclusive_scan(device.begin(), device.end(), sums.begin(), thrust::plus<long>());
    std::vector<long> expected(n);
    std::partial_sum(host.begin(), host.end(), expected.begin(), std::plus<long>());
    EXPECT(std::equal(expected.begin(), expected.end(), thrust::host_vector<long>(sums).begin()));
    EXPECT_EQ(thrust::reduce(device.begin(), device.end(), 0L), expected[n - 1]);

    thrust::device_vector<float> keys(n);
    thrust::transform(device.begin(), device.end(), keys.begin(), [] __device__(int x) { return 0.5f * (float)x; });
    thrust::sort_by_key(keys.begin(), keys.end(), device.begin(), thrust::greater<float>());
    std::sort(host.begin(), host.end(), std::greater<int>());
    EXPECT(thrust::host_vector<int>(device) == host);
    EXPECT(keys[0] == 0.5f * (float)host[0]);

    thrust::sort(device.begin(), device.end());
    device.erase(thrust::unique(device.begin(), device.end()), device.end());
    std::sort(host.begin(), host.end());
    EXPECT_EQ(device.size(), std::unique(host.begin(), host.end()) - host.begin());
    CHECK(cudaGetLastError());
    return finish();
}

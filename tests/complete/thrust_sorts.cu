// SPDX-License-Identifier: Apache-2.0
// ARCH: 86
// Thrust's other sort: merge sort, which it takes for comparisons of one's own, of pairs and of doubles in descending order.
#include "complete.h"
#include <algorithm>
#include <thrust/device_vector.h>
#include <thrust/extrema.h>
#include <thrust/sort.h>

struct ByLastDigits {
    __host__ __device__ bool operator()(unsigned a, unsigned b) const
    {
        return a % 1000 != b % 1000 ? a % 1000 < b % 1000 : a < b;
    }
};

int main()
{
    const int n = 7001;
    Random random(41);
    std::vector<unsigned> x(n);
    std::vector<double> y(n);
    for (int i = 0; i < n; i++) {
        x[i] = random.next();
        y[i] = (double)(int)random.next() / 65536;
    }
    thrust::device_vector<unsigned> d(x.begin(), x.end());
    thrust::device_vector<double> e(y.begin(), y.end());
    expect_same("largest", (int)(thrust::max_element(e.begin(), e.end()) - e.begin()),
                (int)(std::max_element(y.begin(), y.end()) - y.begin()));
    thrust::sort(d.begin(), d.end(), ByLastDigits());
    thrust::sort(e.begin(), e.end(), thrust::greater<double>());
    std::sort(x.begin(), x.end(), ByLastDigits());
    std::sort(y.rbegin(), y.rend());
    std::vector<unsigned> got(n);
    std::vector<double> got_e(n);
    thrust::copy(d.begin(), d.end(), got.begin());
    thrust::copy(e.begin(), e.end(), got_e.begin());
    expect_same("merge sort", got, x);
    expect_same("descending", got_e, y);
    return finish();
}

// SPDX-License-Identifier: Apache-2.0
// Sums of all elements up to each one, of a block.
#pragma once

namespace scan {

template <typename T, int N> __global__ void inclusive(T *data) {
    __shared__ T sums[N];
    int t = threadIdx.x;
    sums[t] = data[t];
    __syncthreads();
    for (int step = 1; step < N; step *= 2) {
        T other = t >= step ? sums[t - step] : T(0); // read
#ifdef REPAIRED
        __syncthreads();
#endif
        sums[t] += other; // write
        __syncthreads();
    }
    data[t] = sums[t];
}

template <typename T, int N> void run(T *data) { inclusive<T, N><<<1, N>>>(data); }

} // namespace scan

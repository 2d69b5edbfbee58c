// SPDX-License-Identifier: Apache-2.0
// The block's shape chosen by the host: every row of the block adds up its values with __syncwarp between the steps,
// for a row is a warp. The host starts rows of 64, which are two.
// RACE 1: read-write race, shared, can-overlap -- threads 0 to 31 read what the row's other warp begins with
// FIXED: rows of 32
#include "../corpus.h"

constexpr int N = 256;

__global__ void row_sums(const int *in, int *out) {
    __shared__ int sum[128];
    int row = threadIdx.y * blockDim.x, x = threadIdx.x;
    int first = (blockIdx.x * blockDim.y + threadIdx.y) * blockDim.x;
    sum[row + x] = in[first + x]; // SIDE 1
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        __syncwarp();
        int other = 0;
        if (x < half) {
            other = sum[row + x + half]; // SIDE 1
        }
        __syncwarp();
        if (x < half) {
            sum[row + x] += other; // NEVER
        }
    }
    if (x == 0) {
        out[first / blockDim.x] = sum[row]; // NEVER
    }
}

static int test(bool fixed) {
    std::vector<int> values(N);
    for (int i = 0; i < N; i++) {
        values[i] = i * 11 % 29;
    }
    Buffer<int> in(values), out(N / 32);
    dim3 block(64, 2);
    if (fixed) block.x = 32; // FIX
    row_sums<<<N / (block.x * block.y), block>>>(in, out);
    CHECK(cudaGetLastError());
    std::vector<int> sums = out.host();
    sums.resize(N / block.x);
    return count_wrong(sums, [&](int row) {
        int sum = 0;
        for (unsigned x = 0; x < block.x; x++) {
            sum += values[row * block.x + x];
        }
        return sum;
    });
}

CORPUS_MAIN(test)

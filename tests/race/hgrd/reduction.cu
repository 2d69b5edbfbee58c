// SPDX-License-Identifier: Apache-2.0
// reduction (HGRD, table 3 and figure 2; CUDA samples): blocks reduce parts, then a second kernel reduces the parts'
// sums. Its thread 0 writes result[0], which is a race unless the host starts one block of it, as it does.
// CLEAN -- the second kernel has one block; between the two kernels is the order of the stream
#include "../corpus.h"

constexpr int BLOCKS = 8, THREADS = 64, N = BLOCKS * THREADS * 2;

__device__ int block_sum(int mine) {
    __shared__ int sum[THREADS];
    int t = threadIdx.x;
    sum[t] = mine; // NEVER
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (t < half) {
            sum[t] += sum[t + half]; // NEVER
        }
        __syncthreads();
    }
    return sum[0]; // NEVER
}

__global__ void reduce_parts(const int *in, int *part, int n) {
    int mine = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        mine += in[i]; // NEVER
    }
    int sum = block_sum(mine);
    if (threadIdx.x == 0) {
        part[blockIdx.x] = sum; // NEVER
    }
}

__global__ void reduce_final(const int *part, int *result, int parts) {
    int mine = 0;
    if (threadIdx.x < parts) {
        mine = part[threadIdx.x]; // NEVER
    }
    int sum = block_sum(mine);
    if (threadIdx.x == 0) {
        result[0] = sum; // NEVER
    }
}

static int test(bool) {
    std::vector<int> in(N);
    int expected = 0;
    for (int i = 0; i < N; i++) {
        expected += in[i] = i * 7 % 19;
    }
    Buffer<int> data(in), part(BLOCKS);
    reduce_parts<<<BLOCKS, THREADS>>>(data, part, N);
    reduce_final<<<1, THREADS>>>(part, data, BLOCKS);
    CHECK(cudaGetLastError());
    return data.host()[0] != expected;
}

CORPUS_MAIN(test)

// SPDX-License-Identifier: Apache-2.0
// cuda::pipeline of one thread each: rows come in 16-byte copies, two stages ahead.
// ARGS: 64 64
#include <cstdio>
#include <cstdlib>
#include <cuda/pipeline>
#include <vector>

enum { THREADS = 128, STAGES = 3 };

__global__ void sum(const int4 *in, int *out, int rows) {
    __shared__ alignas(16) int4 tile[STAGES][THREADS];
    auto pipe = cuda::make_pipeline();
    const int4 *mine = in + (size_t)blockIdx.x * rows * THREADS;
    int total = 0, fetched = 0;
    for (int r = 0; r < rows; r++) {
        for (; fetched < rows && fetched < r + STAGES; fetched++) {
            pipe.producer_acquire();
            cuda::memcpy_async(&tile[fetched % STAGES][threadIdx.x], &mine[fetched * THREADS + threadIdx.x], cuda::aligned_size_t<16>(16), pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        __syncthreads();
        int4 v = tile[r % STAGES][THREADS - 1 - threadIdx.x];
        total += v.x + v.y + v.z + v.w;
        __syncthreads();
        pipe.consumer_release();
    }
    atomicAdd(out, total);
}

int main(int argc, char **argv) {
    int blocks = argc > 1 ? atoi(argv[1]) : 16, rows = argc > 2 ? atoi(argv[2]) : 16, got;
    size_t n = (size_t)blocks * rows * THREADS;
    std::vector<int> ones(n * 4, 1);
    int4 *in;
    int *out;
    cudaMalloc(&in, n * 16);
    cudaMalloc(&out, 4);
    cudaMemset(out, 0, 4);
    cudaMemcpy(in, ones.data(), n * 16, cudaMemcpyHostToDevice);
    sum<<<blocks, THREADS>>>(in, out, rows);
    cudaMemcpy(&got, out, 4, cudaMemcpyDeviceToHost);
    puts(got == (int)(n * 4) ? "PASS" : "FAIL");
}

// SPDX-License-Identifier: Apache-2.0
// A TempStorage of CUB's that is used again without a barrier: both sides of the race are in CUB's headers.
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>

using Scan = cub::BlockScan<int, 128, cub::BLOCK_SCAN_WARP_SCANS>;
using Reduce = cub::BlockReduce<int, 128>;

__global__ void scans(const int *in, int *out, bool waits) {
    __shared__ Scan::TempStorage temp;
    int x = in[threadIdx.x], y, z;
    Scan(temp).InclusiveSum(x, y); // first scan
    if (waits)
        __syncthreads();
    Scan(temp).InclusiveSum(y, z); // second scan
    out[threadIdx.x] = z;
}

__global__ void reductions(const int *in, int *out, bool waits) {
    __shared__ Reduce::TempStorage temp;
    int a = Reduce(temp).Sum(in[threadIdx.x]); // first reduction
    if (waits)
        __syncthreads();
    int b = Reduce(temp).Sum(in[threadIdx.x] + 1); // second reduction
    if (threadIdx.x == 0)
        *out = a + b;
}

int main(int argc, char **argv) {
    int *p;
    bool waits = argc > 2;
    cudaMalloc(&p, 8192);
    cudaMemset(p, 1, 8192);
    if (argv[1][0] == 's')
        scans<<<1, 128>>>(p, p + 512, waits);
    else
        reductions<<<1, 128>>>(p, p + 512, waits);
    return cudaDeviceSynchronize() != cudaSuccess;
}

// SPDX-License-Identifier: Apache-2.0
// A thread reads the shared memory of another block of its cluster, which writes there, too, and ends. The reader chooses the value when the
// block is gone. -DFIXED: barriers of the cluster are between.
// expect: exact => races class "read-write race"
// expect: exact -DFIXED => clean soak
#include <cooperative_groups.h>
#include <cstdio>
namespace cg = cooperative_groups;
__global__ void __cluster_dims__(2, 1, 1) k(int *out, int c) {
    __shared__ int s[4];
    auto cluster = cg::this_cluster();
    if (threadIdx.x == 0) s[0] = 1;
    cluster.sync();
    int v = 0;
    if (cluster.block_rank() == 1 && threadIdx.x == 0) {
        v = *cluster.map_shared_rank(s, 0);
#ifdef FIXED
    }
    cluster.sync();
    if (cluster.block_rank() == 1 && threadIdx.x == 0) {
#else
        __nanosleep(100000);
#endif
        out[0] = c > 3 ? v : 7;
    }
    if (cluster.block_rank() == 0 && threadIdx.x == 0) {
#ifndef FIXED
        __nanosleep(5000);
#endif
        s[0] = 2;
        out[1] = s[0];
    }
}
int main(int argc, char **) {
    int *o;
    cudaMalloc(&o, 8);
    k<<<2, 32>>>(o, argc * 5);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}

// SPDX-License-Identifier: Apache-2.0
// EXPECT: races
// Diffusion along a ring of blocks, one cluster: every block reads the ends of its neighbours' parts in their shared memory.
// A block-wide barrier does not wait for the neighbours, who may be a step ahead or behind. Needs compute capability 9.0.
#include "example.h"

#include <cooperative_groups.h>

#define BLOCK 64
#define BLOCKS 4
#define STEPS 12

__global__ void diffuse(const int *in, int *out)
{
#if __CUDA_ARCH__ >= 900
    __shared__ int part[2][BLOCK];
    cooperative_groups::cluster_group cluster = cooperative_groups::this_cluster();
    int t = threadIdx.x, rank = cluster.block_rank();
    int *west = cluster.map_shared_rank(part[0], (rank + BLOCKS - 1) % BLOCKS);
    int *east = cluster.map_shared_rank(part[0], (rank + 1) % BLOCKS);
    part[0][t] = in[blockIdx.x * BLOCK + t];
    cluster.sync();
    for (int step = 0; step < STEPS; step++) {
        int now = step % 2 * BLOCK, next = BLOCK - now;
        int w = t > 0 ? part[0][now + t - 1] : west[now + BLOCK - 1]; // RACE: clobbered read
        int e = t + 1 < BLOCK ? part[0][now + t + 1] : east[now]; // RACE: clobbered read
        part[0][next + t] = (w + e) / 2 + step; // OTHER
        __syncthreads();
    }
    out[blockIdx.x * BLOCK + t] = part[STEPS % 2][t]; // NEVER
    cluster.sync();
#endif
}

int main()
{
    const int rings = 6, ring = BLOCKS * BLOCK, n = rings * ring;
    static int in[n], out[n], ref[2][n];
    for (int i = 0; i < n; i++)
        ref[0][i] = in[i] = (int)(scramble(i) % 10000);
    for (int step = 0; step < STEPS; step++)
        for (int i = 0; i < n; i++) {
            int *from = ref[step % 2] + i / ring * ring;
            ref[(step + 1) % 2][i] = (from[(i + ring - 1) % ring] + from[(i + 1) % ring]) / 2 + step;
        }
    int *d_in, *d_out, wrong = 0;
    CUDA_CHECK(cudaMalloc(&d_in, sizeof in));
    CUDA_CHECK(cudaMalloc(&d_out, sizeof out));
    CUDA_CHECK(cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice));
    cudaLaunchAttribute cluster = {};
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim.x = BLOCKS, cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = rings * BLOCKS, config.blockDim = BLOCK;
    config.attrs = &cluster, config.numAttrs = 1;
    CUDA_CHECK(cudaLaunchKernelEx(&config, diffuse, (const int *)d_in, d_out));
    CUDA_CHECK(cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++)
        wrong += out[i] != ref[STEPS % 2][i];
    CUDA_CHECK(cudaFree(d_in));
    CUDA_CHECK(cudaFree(d_out));
    return finish_undefined("cluster_ring", wrong);
}

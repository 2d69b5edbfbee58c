// SPDX-License-Identifier: Apache-2.0
// A histogram whose bins are spread over the shared memory of a cluster: each block keeps a part of them, and atomics go
// to whichever block has the bin. With clusters of 1, 2, 4 and 8 blocks the bins per block get fewer, the result stays.
#include "complete.h"

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void histogram(const unsigned *values, size_t n, unsigned *bins, unsigned n_bins, unsigned per_block)
{
    extern __shared__ unsigned mine[];
    cg::cluster_group cluster = cg::this_cluster();
    unsigned first = cluster.block_rank() * per_block;
    for (unsigned i = threadIdx.x; i < per_block; i += blockDim.x)
        mine[i] = 0;
    cluster.sync(); // all bins are zero before anybody counts
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        unsigned bin = values[i] % n_bins;
        unsigned *theirs = cluster.map_shared_rank(mine, bin / per_block);
        atomicAdd(theirs + bin % per_block, 1);
    }
    cluster.sync(); // and nobody leaves while others still count here
    for (unsigned i = threadIdx.x; i < per_block && first + i < n_bins; i += blockDim.x)
        atomicAdd(&bins[first + i], mine[i]);
}

int main()
{
    const size_t n = 20000;
    const unsigned n_bins = 1500;
    Random random(11);
    std::vector<unsigned> values(n), want(n_bins);
    for (unsigned &v : values) {
        v = random.below(1u << 20) & random.below(1u << 20); // small bits are rarer: some bins are crowded
        want[v % n_bins]++;
    }
    unsigned *d = to_device(values);
    for (unsigned size = 1; size <= 8; size *= 2) {
        unsigned per_block = (n_bins + size - 1) / size, *bins = device_zeros<unsigned>(n_bins);
        cudaLaunchAttribute attribute = {};
        attribute.id = cudaLaunchAttributeClusterDimension;
        attribute.val.clusterDim.x = size;
        attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
        cudaLaunchConfig_t config = {};
        config.gridDim = 16;
        config.blockDim = 128;
        config.dynamicSmemBytes = per_block * sizeof(unsigned);
        config.attrs = &attribute;
        config.numAttrs = 1;
        int clusters = 0;
        CHECK(cudaOccupancyMaxActiveClusters(&clusters, histogram, &config));
        EXPECT(clusters >= 1);
        CHECK(cudaLaunchKernelEx(&config, histogram, (const unsigned *)d, n, bins, n_bins, per_block));
        finish_launches();
        expect_same("bins", from_device(bins, n_bins), want);
        CHECK(cudaFree(bins));
    }
    return finish();
}

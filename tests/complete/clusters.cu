// SPDX-License-Identifier: Apache-2.0
// Thread block clusters: a histogram whose bins are spread over the shared memory of a cluster's blocks, a sum that goes round
// the blocks, and a stencil whose halos come from the neighbours' shared memory; cluster sizes at compile time and at launch.
#include "complete.h"
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

const int BLOCK = 64;

__global__ void histogram(const int *x, int n, int bins_per_block, int *bins)
{
    extern __shared__ int mine[];
    auto cluster = cg::this_cluster();
    for (int b = threadIdx.x; b < bins_per_block; b += BLOCK)
        mine[b] = 0;
    cluster.sync(); // nobody adds before all are zero
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += gridDim.x * BLOCK) {
        int *there = cluster.map_shared_rank(mine, x[i] / bins_per_block);
        atomicAdd(&there[x[i] % bins_per_block], 1);
    }
    cluster.sync(); // nor leaves before all have added
    for (int b = threadIdx.x; b < bins_per_block; b += BLOCK)
        if (mine[b])
            atomicAdd(&bins[cluster.block_rank() * bins_per_block + b], mine[b]);
}

__global__ void __cluster_dims__(4, 1, 1) sums(const int *x, int n, int *out)
{
    __shared__ int part;
    auto cluster = cg::this_cluster();
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (threadIdx.x == 0)
        part = 0;
    __syncthreads();
    atomicAdd(&part, i < n ? x[i] : 0);
    cluster.sync();
    int sum = 0;
    for (unsigned r = 0; r < cluster.num_blocks(); r++)
        sum += *cluster.map_shared_rank(&part, (cluster.block_rank() + r) % cluster.num_blocks());
    if (threadIdx.x == 0)
        out[blockIdx.x] = sum;
    cluster.sync();
}

// Several steps per launch; a cluster owns a ring of points.
__global__ void ring(const float *in, float *out, int steps)
{
    __shared__ float row[2][BLOCK];
    auto cluster = cg::this_cluster();
    unsigned rank = cluster.block_rank(), size = cluster.num_blocks();
    int t = threadIdx.x, at = blockIdx.x * BLOCK + t;
    row[0][t] = in[at];
    cluster.sync();
    for (int s = 0; s < steps; s++) {
        float *now = row[s & 1];
        float left = t ? now[t - 1] : cluster.map_shared_rank(now, (rank + size - 1) % size)[BLOCK - 1];
        float right = t < BLOCK - 1 ? now[t + 1] : cluster.map_shared_rank(now, (rank + 1) % size)[0];
        row[!(s & 1)][t] = 0.5f * now[t] + 0.25f * (left + right);
        cluster.sync();
    }
    out[at] = row[steps & 1][t];
}

template <class... Parameters, class... Arguments>
static void launch(int cluster, int blocks, size_t shared, void (*kernel)(Parameters...), Arguments... arguments)
{
    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute attribute;
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = cluster;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    config.gridDim = blocks;
    config.blockDim = BLOCK;
    config.dynamicSmemBytes = shared;
    config.attrs = &attribute;
    config.numAttrs = 1;
    CHECK(cudaLaunchKernelEx(&config, kernel, arguments...));
}

int main()
{
    const int n = 5003, bins = 601;
    Random random(57);
    std::vector<int> x(n), want(bins, 0);
    for (auto &e : x)
        want[e = (int)random.below(bins)]++;
    int *d = to_device(x);
    for (int cluster : {1, 2, 4, 8}) {
        int each = (bins + cluster - 1) / cluster, *out = device_zeros<int>(each * cluster);
        launch(cluster, cluster * 3, each * sizeof(int), histogram, (const int *)d, n, each, out);
        finish_launches();
        expect_same("histogram", from_device(out, bins), want);
    }
    int blocks = ((int)blocks_for(n, BLOCK) + 3) / 4 * 4, *out = device_new<int>(blocks);
    sums<<<blocks, BLOCK>>>(d, n, out);
    finish_launches();
    std::vector<int> want_sums(blocks, 0);
    for (int b = 0; b < blocks; b++)
        for (int i = b / 4 * 4 * BLOCK; i < std::min(n, (b / 4 + 1) * 4 * BLOCK); i++)
            want_sums[b] += x[i];
    expect_same("sums", from_device(out, blocks), want_sums);

    const int cluster = 5, rings = 3, points = cluster * BLOCK, steps = 9;
    std::vector<float> f(points * rings), next(f.size());
    for (auto &e : f)
        e = random.uniform();
    float *from = to_device(f), *to = device_new<float>(f.size());
    launch(cluster, cluster * rings, 0, ring, (const float *)from, to, steps);
    finish_launches();
    for (int s = 0; s < steps; s++) {
        for (int i = 0; i < points * rings; i++) {
            int r = i / points * points, k = i % points;
            next[i] = 0.5f * f[i] + 0.25f * (f[r + (k + points - 1) % points] + f[r + (k + 1) % points]);
        }
        f.swap(next);
    }
    expect_near("rings", from_device(to, f.size()), f, 1e-6);
    return finish();
}

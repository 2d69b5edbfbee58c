// SPDX-License-Identifier: Apache-2.0
// Heat in rods that are closed to rings, one per cluster of 8 blocks: the whole ring stays in the cluster's shared memory
// for all steps. Blocks write the ends of their part into the halos of their neighbours, and compute the inner part
// between arriving at the cluster's barrier and waiting at it.
#include "complete.h"

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

const int PART = 64, BLOCKS = 8, RING = PART * BLOCKS;

struct alignas(16) Ends {
    float value[4]; // two points are needed, four are moved at once
};

static __host__ __device__ float next(float a, float b, float c, float d, float e)
{
    return 0.0625f * a + 0.25f * b + 0.375f * c + 0.25f * d + 0.0625f * e;
}

__global__ void __cluster_dims__(BLOCKS, 1, 1) run(const float *from, float *to, int steps)
{
    __shared__ float part[2][PART];
    __shared__ Ends halo[2][2]; // of odd and even steps: left, right
    cg::cluster_group cluster = cg::this_cluster();
    int rank = (int)cluster.block_rank(), t = threadIdx.x;
    int left = (rank + BLOCKS - 1) % BLOCKS, right = (rank + 1) % BLOCKS;
    part[0][t] = from[blockIdx.x * PART + t];
    cluster.sync();
    for (int s = 0; s < steps; s++) {
        float *now = part[s % 2], *then = part[(s + 1) % 2];
        if (t == 0) // my first points are the right halo of the left neighbour
            *cluster.map_shared_rank(&halo[s % 2][1], left) = *(Ends *)now;
        if (t == 32)
            *cluster.map_shared_rank(&halo[s % 2][0], right) = *(Ends *)(now + PART - 4);
        cg::cluster_group::arrival_token token = cluster.barrier_arrive();
        if (t >= 2 && t < PART - 2)
            then[t] = next(now[t - 2], now[t - 1], now[t], now[t + 1], now[t + 2]);
        cluster.barrier_wait(std::move(token));
        if (t < 2 || t >= PART - 2) {
            float v[5];
            for (int k = -2; k <= 2; k++) {
                int at = t + k;
                v[k + 2] = at < 0 ? halo[s % 2][0].value[4 + at] : at >= PART ? halo[s % 2][1].value[at - PART] : now[at];
            }
            then[t] = next(v[0], v[1], v[2], v[3], v[4]);
        }
        __syncthreads();
    }
    to[blockIdx.x * PART + t] = part[steps % 2][t];
    cluster.sync(); // the last halos have been written: no block leaves before
}

int main()
{
    const int rings = 3, n = rings * RING, steps = 25;
    Random random(3);
    std::vector<float> a(n), b(n);
    for (float &x : a)
        x = 100 * random.uniform();
    float *from = to_device(a), *to = device_zeros<float>(n);
    run<<<rings * BLOCKS, PART>>>(from, to, steps);
    finish_launches();
    for (int s = 0; s < steps; s++) {
        for (int i = 0; i < n; i++) {
            const float *ring = &a[i / RING * RING];
            auto at = [&](int k) { return ring[(i + k + RING) % RING]; };
            b[i] = next(at(-2), at(-1), at(0), at(1), at(2));
        }
        a.swap(b);
    }
    expect_near("temperatures", from_device(to, n), a, 1e-5);
    return finish();
}

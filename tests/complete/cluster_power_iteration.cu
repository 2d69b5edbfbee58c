// SPDX-License-Identifier: Apache-2.0
// The largest eigenvalue of a symmetric matrix by power iteration, in one cooperative launch with clusters: rows are shared
// out among clusters, their blocks sum parts of each row and combine them in distributed shared memory, and the grid
// synchronizes twice in every iteration.
#include "complete.h"

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

const int N = 64, BLOCK = 32;

__global__ void power(const float *matrix, float *x, float *y, float *norms, int iterations)
{
    __shared__ float sum;
    cg::grid_group grid = cg::this_grid();
    cg::cluster_group cluster = cg::this_cluster();
    unsigned rank = cluster.block_rank(), blocks = cluster.num_blocks();
    unsigned first = grid.cluster_rank(), clusters = grid.num_clusters();
    for (int k = 0; k < iterations; k++) {
        for (unsigned row = first; row < N; row += clusters) {
            float part = 0;
            for (unsigned i = rank * BLOCK + threadIdx.x; i < N; i += blocks * BLOCK)
                part += matrix[row * N + i] * x[i];
            for (int d = 16; d; d /= 2)
                part += __shfl_xor_sync(~0u, part, d);
            if (threadIdx.x == 0)
                sum = part;
            cluster.sync();
            if (rank == 0 && threadIdx.x == 0) {
                float all = 0;
                for (unsigned b = 0; b < blocks; b++)
                    all += *cluster.map_shared_rank(&sum, b);
                y[row] = all;
            }
            cluster.sync();
        }
        grid.sync();
        if (grid.thread_rank() == 0) {
            float norm = 0;
            for (int i = 0; i < N; i++)
                norm = fmaxf(norm, fabsf(y[i]));
            norms[k] = norm;
            for (int i = 0; i < N; i++)
                x[i] = y[i] / norm;
        }
        grid.sync();
    }
}

int main()
{
    const int iterations = 12;
    Random random(8);
    std::vector<float> matrix(N * N), x(N, 1.0f);
    for (int i = 0; i < N; i++)
        for (int j = 0; j <= i; j++)
            matrix[i * N + j] = matrix[j * N + i] = random.uniform();
    float *d_matrix = to_device(matrix), *d_x = to_device(x), *d_y = device_zeros<float>(N), *norms = device_zeros<float>(iterations);
    cudaLaunchAttribute attributes[2] = {};
    attributes[0].id = cudaLaunchAttributeClusterDimension;
    attributes[0].val.clusterDim.x = 2;
    attributes[0].val.clusterDim.y = attributes[0].val.clusterDim.z = 1;
    attributes[1].id = cudaLaunchAttributeCooperative;
    attributes[1].val.cooperative = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = 8;
    config.blockDim = BLOCK;
    config.attrs = attributes;
    config.numAttrs = 2;
    CHECK(cudaLaunchKernelEx(&config, power, (const float *)d_matrix, d_x, d_y, norms, iterations));
    finish_launches();
    std::vector<double> want(iterations), v(N, 1.0), w(N);
    for (int k = 0; k < iterations; k++) {
        for (int i = 0; i < N; i++) {
            w[i] = 0;
            for (int j = 0; j < N; j++)
                w[i] += (double)matrix[i * N + j] * v[j];
            want[k] = std::fmax(want[k], std::fabs(w[i]));
        }
        for (int i = 0; i < N; i++)
            v[i] = w[i] / want[k];
    }
    expect_near("norms", from_device(norms, iterations), want, 1e-4);
    return finish();
}

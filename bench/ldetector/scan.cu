// SPDX-License-Identifier: Apache-2.0
// scan (LDetector, table V; CUDA SDK): each block scans 512 numbers of its own, in two rows of shared memory. The race is injected: a step lacks its barrier.
#include "program.h"

enum { N = 512 };

__global__ void scan(const float *in, float *out) {
    __shared__ float row[2][N + 16];
    int t = threadIdx.x, now = 0;
    row[0][t] = t > 0 ? in[blockIdx.x * N + t - 1] : 0;
    __syncthreads();
    for (int d = 1; d < N; d *= 2) {
        row[now ^ 1][t] = row[now][t] + (t >= d ? row[now][t - d] : 0);
        now ^= 1;
        if (d != 8) // the injected race
            __syncthreads();
    }
    out[blockIdx.x * N + t] = row[now][t];
}

int main(int argc, char **argv) {
    Program p(argc, argv);
    unsigned grid = p.part(256);
    std::vector<float> values(grid * N);
    for (unsigned k = 0; k < grid * N; k++)
        values[k] = (float)(1 + k % 7);
    float *in = p.memory(values), *out = p.memory<float>(grid * N);
    p.time(scan, grid, N, [] {}, [&] { scan<<<grid, N>>>(in, out); });
    return 0;
}

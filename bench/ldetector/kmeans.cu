// SPDX-License-Identifier: Apache-2.0
// kmeans (LDetector, table V): a block keeps the clusters' centres in shared memory and finds the nearest one for each of its points. The race is injected: a barrier is missing behind
// the loading.
#include "program.h"

enum { THREADS = 128, FEATURES = 8, CLUSTERS = 148 };

__global__ void assign(const float *point, const float *centre, int *nearest, unsigned n) {
    __shared__ float near[CLUSTERS * FEATURES];
    unsigned i = blockIdx.x * THREADS + threadIdx.x;
    for (unsigned k = threadIdx.x; k < CLUSTERS * FEATURES; k += THREADS)
        near[k] = centre[k];
    // the injected race
    float best = 1e30f;
    int which = -1;
    for (int c = 0; c < CLUSTERS; c++) {
        float far = 0;
        for (int f = 0; f < FEATURES; f++) {
            float d = point[f * n + i] - near[c * FEATURES + f];
            far += d * d;
        }
        if (far < best) {
            best = far;
            which = c;
        }
    }
    nearest[i] = which;
}

int main(int argc, char **argv) {
    Program p(argc, argv);
    unsigned grid = p.part(139), n = grid * THREADS;
    std::vector<float> points(n * FEATURES), centres(CLUSTERS * FEATURES);
    for (unsigned k = 0; k < n * FEATURES; k++)
        points[k] = (float)(scrambled(k) % 1000);
    for (unsigned k = 0; k < CLUSTERS * FEATURES; k++)
        centres[k] = (float)(scrambled(k + 77) % 1000);
    float *point = p.memory(points), *centre = p.memory(centres);
    int *nearest = p.memory<int>(n);
    p.time(assign, grid, THREADS, [] {}, [&] { assign<<<grid, THREADS>>>(point, centre, nearest, n); });
    return 0;
}

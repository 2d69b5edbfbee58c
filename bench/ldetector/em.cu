// SPDX-License-Identifier: Apache-2.0
// em (LDetector, table V, figure 2): the threads of a block leave their share of each mixture's mean in shared memory, to be added up. The race: the shares' places are counted by lane,
// but there are several warps.
#include "program.h"

enum { THREADS = 320, MIXTURES = 12, SAMPLES = 6486 };

__global__ void means(const float *sample, float *mean, unsigned each) {
    __shared__ float share[MIXTURES][THREADS];
    unsigned t = threadIdx.x, place = t % 32;
    float sum[MIXTURES] = {};
    for (unsigned k = 0; k < each; k++) {
        float value = sample[((size_t)blockIdx.x * each + k) * THREADS + t];
        for (int m = 0; m < MIXTURES; m++)
            sum[m] += value * (value > m * 8 ? 1 : 0.125f);
    }
    for (int m = 0; m < MIXTURES; m++)
        share[m][place] = sum[m]; // the race
    __syncthreads();
    if (t < MIXTURES) {
        float all = 0;
        for (int k = 0; k < 32; k++)
            all += share[t][k];
        mean[blockIdx.x * MIXTURES + t] = all;
    }
}

int main(int argc, char **argv) {
    Program p(argc, argv);
    unsigned grid = 8, each = p.part(SAMPLES);
    std::vector<float> samples((size_t)grid * THREADS * each);
    for (size_t k = 0; k < samples.size(); k++)
        samples[k] = (float)(scrambled((unsigned)k) % 100);
    float *sample = p.memory(samples), *mean = p.memory<float>(grid * MIXTURES);
    p.time(means, grid, THREADS, [] {}, [&] { means<<<grid, THREADS>>>(sample, mean, each); });
    return 0;
}

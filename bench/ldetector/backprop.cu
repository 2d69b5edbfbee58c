// SPDX-License-Identifier: Apache-2.0
// backprop (LDetector, table V; Rodinia): a thread adjusts weights between inputs and a hidden unit. The race: with fewer hidden units than a row of the block has threads, the last
// threads of a row get into the weights of the next one.
#include "program.h"

enum { SIDE = 16, HIDDEN = 14 };

__global__ void adjust(const float *delta, const float *unit, float *weight, float *last, int inputs) {
    for (int first = blockIdx.x * SIDE; first < inputs; first += gridDim.x * SIDE) {
        int row = first + threadIdx.y + 1, col = threadIdx.x + 1, at = (HIDDEN + 1) * row + col;
        float step = 0.3f * delta[col] * unit[row] + 0.3f * last[at];
        weight[at] += step; // the races
        last[at] = step;
    }
}

int main(int argc, char **argv) {
    Program p(argc, argv);
    unsigned grid = 8, inputs = p.part(16384, grid * SIDE), size = (HIDDEN + 1) * (inputs + 1) + SIDE + 1;
    std::vector<float> d(SIDE + 1), u(inputs + 1), w(size), l(size);
    for (unsigned k = 0; k < size; k++) {
        w[k] = (float)(k % 10) / 10, l[k] = (float)(k % 14) / 100;
        d[k % (SIDE + 1)] = (float)(k % 5) / 10 + 0.1f, u[k % (inputs + 1)] = (float)(k % 7) / 10 + 0.1f;
    }
    float *delta = p.memory(d), *unit = p.memory(u), *weight = p.memory(w), *last = p.memory(l);
    auto prepare = [&] {
        MUST(cudaMemcpy(weight, w.data(), size * 4, cudaMemcpyHostToDevice));
        MUST(cudaMemcpy(last, l.data(), size * 4, cudaMemcpyHostToDevice));
    };
    dim3 block(SIDE, SIDE);
    p.time(adjust, grid, block, prepare, [&] { adjust<<<grid, block>>>(delta, unit, weight, last, (int)inputs); });
    return 0;
}

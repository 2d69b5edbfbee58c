// SPDX-License-Identifier: Apache-2.0
// backprop (LDetector, tables V and VI; Rodinia): a thread adjusts the weight between an input and a hidden unit. With
// fewer hidden units than a row of the block has threads, the last threads of a row get into the weights of the next.
// RACE 1: read-write race, global, can-overlap -- a weight is read by its thread and written by one of the row before
// RACE 2: write-write race|same-value write, global, can-overlap -- both write it
// RACE 3: read-write race, global, can-overlap -- the same, of what was added last time
// RACE 4: write-write race|same-value write, global, can-overlap -- both write that
// FIXED: threads without a hidden unit do nothing
#include "../corpus.h"

constexpr int H = 16, INPUTS = 32, HIDDEN = 12;

template <bool FIXED> __global__ void adjust(const int *delta, const int *unit, int *weight, int *last, int hidden) {
    int row = blockIdx.x * H + threadIdx.y + 1, col = threadIdx.x + 1, at = (hidden + 1) * row + col;
    if constexpr (FIXED) { // FIX
        if (col > hidden) {
            return;
        }
    }
    int step = delta[col] * unit[row] + last[at] / 2; // SIDE 3
    weight[at] += step;                               // SIDE 1 2
    last[at] = step;                                  // SIDE 3 4
}

static int test(bool fixed) {
    const int size = (HIDDEN + 1) * (INPUTS + 1) + H;
    std::vector<int> delta(H + 1), unit(INPUTS + 1), weight(size), last(size);
    for (int i = 0; i < size; i++) {
        weight[i] = i % 10, last[i] = i % 14;
        delta[i % (H + 1)] = i % 5 - 2, unit[i % (INPUTS + 1)] = i % 7;
    }
    Buffer<int> d(delta), u(unit), w(weight), l(last);
    LAUNCH(adjust, INPUTS / H, dim3(H, H), d, u, w, l, HIDDEN);
    return count_wrong(w.host(), [&](int i) {
        int row = i / (HIDDEN + 1), col = i % (HIDDEN + 1);
        bool adjusted = row > 0 && row <= INPUTS && col > 0;
        return weight[i] + (adjusted ? delta[col] * unit[row] + last[i] / 2 : 0);
    });
}

CORPUS_MAIN(test)

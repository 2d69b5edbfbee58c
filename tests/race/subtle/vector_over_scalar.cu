// SPDX-License-Identifier: Apache-2.0
// One thread loads 16 bytes, another stores one word of them. The twin's reader loads two words beside that word. (Of three
// nvcc makes a load of four.)
// RACE 1: read-write race, shared, can-overlap -- the vector covers the counter, although nobody uses that lane of it
// FIXED: loads only the words that it needs
#include "../corpus.h"

struct alignas(16) Node {
    int key, left, right, visits;
};

template <bool FIXED> __global__ void walk(int *out) {
    __shared__ Node node;
    if (threadIdx.x == 0) {
        node = Node{7, 8, 9, 0};
    }
    __syncthreads();
    if (threadIdx.x == 32) {
        node.visits = 1; // SIDE 1
    }
    if (threadIdx.x == 0) {
        if constexpr (FIXED) {
            out[0] = node.key + node.left; // FIX
        } else {
            int4 all = *reinterpret_cast<const int4 *>(&node); // SIDE 1
            out[0] = all.x + all.y;
            out[1] = all.w;
        }
    }
}

static int test(bool fixed) {
    Buffer<int> out(2);
    LAUNCH(walk, 1, 64, out);
    return out.host()[0] != 15;
}

CORPUS_MAIN(test)

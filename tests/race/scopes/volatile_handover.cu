// A mailbox with a volatile flag and fences, as it was written before cuda::atomic. For PTX volatile is relaxed with system scope, the
// fences order the data, and nothing races. CUDA C++ calls volatile accesses that race a race; --volatile yes shows them.
// RACE 1: volatile race, global, can-overlap, options --volatile yes -- block 1 polls the flag while block 0 sets it
// FIXED: the flag is set and polled by atomics
#include "../corpus.h"

template <bool FIXED> __global__ void hand_over(int *data, int *flag, int *out) {
    if (blockIdx.x == 0) {
        data[threadIdx.x] = threadIdx.x + 1; // NEVER
        __syncthreads();
        __threadfence();
        if (threadIdx.x == 0) {
            if constexpr (FIXED) atomicExch(flag, 1); // FIX
            else *(volatile int *)flag = 1; // SIDE 1
        }
        return;
    }
    if (threadIdx.x == 0) {
        if constexpr (FIXED) while (!atomicAdd(flag, 0)) {}
        else while (!*(volatile int *)flag) {} // SIDE 1
        __threadfence();
    }
    __syncthreads();
    out[threadIdx.x] = data[threadIdx.x]; // NEVER
}

static int test(bool fixed) {
    Buffer<int> data(64), flag(1), out(64);
    LAUNCH(hand_over, 2, 64, data, flag, out);
    return count_wrong(out.host(), [](int i) { return i + 1; });
}

CORPUS_MAIN(test)

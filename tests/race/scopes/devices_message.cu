// SPDX-License-Identifier: Apache-2.0
// A kernel on one device waits for a message of a kernel on the other: flags are volatile, which reaches the system; the fences
// reach the device only.
// DEVICES: 2
// RACE 1: read-write race, global, missing-order, launches 1 and 2 -- __threadfence() is about one's own device
// FIXED: __threadfence_system()
#include "../corpus.h"

template <bool FIXED> __device__ void fence()
{
    if constexpr (FIXED)
        __threadfence_system(); // FIX
    else
        __threadfence();
}

template <bool FIXED> __global__ void pass(int *letter, volatile int *flag, int *out, bool writer)
{
    if (writer) {
        *letter = 42; // SIDE 1
        fence<FIXED>();
        *flag = 1; // NEVER
    } else {
        while (!*flag) { // NEVER
        }
        fence<FIXED>();
        *out = *letter; // SIDE 1
    }
}

static int test(bool fixed)
{
    int *m;
    CHECK(cudaMallocManaged(&m, 3 * sizeof *m));
    CHECK(cudaMemset(m, 0, 3 * sizeof *m));
    CHECK(cudaDeviceSynchronize());
    for (int d = 0; d < 2; d++) {
        CHECK(cudaSetDevice(d));
        LAUNCH_ASYNC(pass, 1, 1, 0, 0, m, m + 1, m + 2, d == 0);
    }
    for (int d = 0; d < 2; d++) {
        CHECK(cudaSetDevice(d));
        CHECK(cudaDeviceSynchronize());
    }
    int wrong = m[2] != 42;
    CHECK(cudaFree(m));
    return wrong;
}

CORPUS_MAIN(test)

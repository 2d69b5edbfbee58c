// SPDX-License-Identifier: Apache-2.0
// Small kernels as in pairs.cu, with accesses that the iGUARD paper does not know. ../others.tsv says what PTX calls them.
#include "meet.h"

// ---- volatile ----------------------------------------------------------------------------------------------

__global__ void volatile_lanes(Memory *m)
{
    __shared__ volatile int word[2];
    if (THREAD == 0) {
        word[0] = 1; // A
    } else {
        LATER;
        KEEP(word[0]); // B
    }
}
__global__ void volatile_lanes_hidden(Memory *m) // as volatile_lanes, run with --volatile no
{
    __shared__ volatile int word[2];
    if (THREAD == 0) {
        word[0] = 1; // A
    } else {
        LATER;
        KEEP(word[0]); // B
    }
}
__global__ void volatile_lanes_war(Memory *m)
{
    __shared__ volatile int word[2];
    if (THREAD == 0) {
        KEEP(word[0]); // A
    } else {
        LATER;
        word[0] = 1; // B
    }
}
__global__ void volatile_lanes_syncwarp(Memory *m)
{
    __shared__ volatile int word[2];
    if (THREAD == 0)
        word[0] = 1; // A
    __syncwarp(3);
    if (THREAD == 1)
        KEEP(word[0]); // B
}
__global__ void volatile_lanes_poll(Memory *m)
{
    __shared__ volatile int word[2];
    if (THREAD == 0)
        word[0] = 0;
    __syncthreads();
    if (THREAD == 0) {
        word[0] = 1; // A
    } else {
        while (!word[0]) {} // B
    }
}
__global__ void volatile_lanes_poll_told(Memory *m) // as volatile_lanes_poll, run with --volatile yes
{
    __shared__ volatile int word[2];
    if (THREAD == 0)
        word[0] = 0;
    __syncthreads();
    if (THREAD == 0) {
        word[0] = 1; // A
    } else {
        while (!word[0]) {} // B
    }
}
__global__ void volatile_lanes_global(Memory *m)
{
    if (THREAD == 0) {
        VOLATILE(m->x) = 1; // A
    } else {
        LATER;
        KEEP(VOLATILE(m->x)); // B
    }
}
__global__ void volatile_warps(Memory *m)
{
    __shared__ volatile int word[2];
    if (THREAD == 0)
        word[0] = 1; // A
    if (THREAD == 32) {
        LATER;
        KEEP(word[0]); // B
    }
}
__global__ void volatile_warps_told(Memory *m) // as volatile_warps, run with --volatile yes
{
    __shared__ volatile int word[2];
    if (THREAD == 0)
        word[0] = 1; // A
    if (THREAD == 32) {
        LATER;
        KEEP(word[0]); // B
    }
}
__global__ void volatile_and_atomic_told(Memory *m) // run with --volatile yes
{
    if (BLOCK == 0) {
        VOLATILE(m->x) = 1; // A
    } else {
        LATER;
        atomicAdd(&m->x, 1); // B
    }
}
// ---- main --------------------------------------------------------------------------------------------------

// clang-format off
static const Case cases[] = {
    CASE(volatile_lanes, 1, 2), CASE(volatile_lanes_hidden, 1, 2), CASE(volatile_lanes_war, 1, 2), CASE(volatile_lanes_syncwarp, 1, 2),
    CASE(volatile_lanes_poll, 1, 2), CASE(volatile_lanes_poll_told, 1, 2), CASE(volatile_lanes_global, 1, 2), CASE(volatile_warps, 1, 64),
    CASE(volatile_warps_told, 1, 64), CASE(volatile_and_atomic_told, 2, 1),
};
// clang-format on

int main(int argc, char **argv) { return run_kernels(cases, sizeof cases / sizeof *cases, argc, argv); }

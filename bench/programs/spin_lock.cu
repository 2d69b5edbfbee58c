// SPDX-License-Identifier: Apache-2.0
// One lock, taken by a thread of each block in turn, around a counter; and a ticket lock.
// ARGS: 64 8
// GROWS: 64 16 | 64 32
#include <cstdio>
#include <cstdlib>

__global__ void locked(int *lock, int *counter, int n) {
    if (threadIdx.x)
        return;
    for (int k = 0; k < n; k++) {
        while (atomicCAS(lock, 0, 1))
            ;
        __threadfence();
        ++*counter;
        __threadfence();
        atomicExch(lock, 0);
    }
}

__global__ void tickets(unsigned *ticket, volatile unsigned *turn, int *counter, int n) {
    if (threadIdx.x)
        return;
    for (int k = 0; k < n; k++) {
        unsigned mine = atomicAdd(ticket, 1);
        while (*turn != mine)
            ;
        __threadfence();
        ++*counter;
        __threadfence();
        *turn = mine + 1;
    }
}

int main(int argc, char **argv) {
    int blocks = argc > 1 ? atoi(argv[1]) : 64, n = argc > 2 ? atoi(argv[2]) : 8, *p, got[4];
    cudaMalloc(&p, 16);
    cudaMemset(p, 0, 16);
    locked<<<blocks, 32>>>(p, p + 3, n);
    tickets<<<blocks, 32>>>((unsigned *)p + 1, (unsigned *)p + 2, p + 3, n);
    cudaMemcpy(got, p, 16, cudaMemcpyDeviceToHost);
    puts(got[3] == 2 * blocks * n ? "PASS" : "FAIL");
}

// SPDX-License-Identifier: Apache-2.0
// meet — what the kernels of this folder share, and the main program:
//
//     PROGRAM NAME...     runs these kernels, each in memory of its own; `PROGRAM all` runs all of them
//
// The later thread sleeps (LATER, LAST), so the order in time is the same with every seed. Sleeping orders nothing in a
// memory model. The fences are acq_rel: __threadfence() is fence.sc, and two of them order accesses in PTX's model
// without any flag.
#ifndef MEET_H
#define MEET_H

#include "../../../check.h"

struct Memory {
    alignas(256) int x;         // what the threads meet at
    alignas(256) char bytes[8]; // the same, by bytes
    alignas(256) int flag, pad[8], flag2;
    alignas(256) int lock
        [64]; // lock[0], lock[9], lock[18]: no two share bits 2 to 4 or bits 5 to 7 of their addresses
    alignas(256) int own[512]; // each thread keeps here what it loaded
};

#define BLOCK          blockIdx.x
#define THREAD         threadIdx.x
#define LATER          asm volatile("nanosleep.u32 50000;" ::: "memory")
#define LAST           asm volatile("nanosleep.u32 800000;" ::: "memory")
#define DEVICE_FENCE   asm volatile("fence.acq_rel.gpu;" ::: "memory")
#define BLOCK_FENCE    asm volatile("fence.acq_rel.cta;" ::: "memory")
#define KEEP(value)    m->own[BLOCK * 128 + THREAD] = (value)
#define VOLATILE(word) (*(volatile int *)&(word))
#define RAISE(word)    atomicExch(&(word), 1)
#define AWAIT(word)                                                                                          \
    while (!atomicAdd(&(word), 0)) {                                                                         \
    }
#define TAKE(word)                                                                                           \
    while (atomicCAS(&(word), 0, 1)) {                                                                       \
    }
#define GIVE(word) atomicExch(&(word), 0)

struct Case {
    const char *name;
    void (*run)(Memory *m);
};
static void run(const Case *c) {
    Memory *m; // never given back: no other kernel gets these addresses
    CHECK(cudaMalloc(&m, sizeof *m));
    CHECK(cudaMemset(m, 0, sizeof *m));
    CHECK(cudaDeviceSynchronize());
    c->run(m);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
}

static int run_kernels(const Case *cases, size_t n, int argc, char **argv) {
    int runs = 0;
    for (int i = 1; i < argc; i++)
        for (size_t k = 0; k < n; k++)
            if (!strcmp(argv[i], cases[k].name) || !strcmp(argv[i], "all"))
                run(&cases[k]), runs++;
    printf("ran %d kernels\n", runs);
    return runs < argc - 1 || argc < 2;
}

#endif

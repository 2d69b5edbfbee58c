// SPDX-License-Identifier: Apache-2.0
// workload — what the benchmarks run: each kernel of kernels.cu and kernels.cl, its buffers, its arguments, its
// inputs, and a check of what it computed. The host programs (vm_bench.c, cl_bench.c) differ in nothing else but
// how they launch, so that engines can be compared.
#ifndef GR_BENCH_WORKLOAD_H
#define GR_BENCH_WORKLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WORK_BUFFERS = 5, WORK_ARGS = 8 };

typedef enum WorkArg {
    WORK_END,
    WORK_BUFFER, // value: its number
    WORK_WORD,   // value: 32 bits
    WORK_LEVEL,  // 32 bits: how often the kernel was launched before
} WorkArg;

typedef struct Work {
    const char *name; // the kernel's too
    uint32_t grid, block;
    uint32_t bytes[WORK_BUFFERS]; // 0: the buffer is not used
    struct {
        WorkArg kind;
        uint32_t value;
    } arg[WORK_ARGS];
    int again; // buffer whose first word tells that another launch is needed; it is cleared before each; -1: none
    int output;         // the buffer that engines must agree on
    uint32_t out_words; // that many words of it
    bool approximate;   // they are floats, equal to within 1e-3 of the largest only
    void (*fill)(const struct Work *w, unsigned buffer, void *bytes);
    bool (*check)(const struct Work *w, void *const *buffers);
} Work;

extern const Work gr_work[];
extern const size_t gr_n_work;

#endif

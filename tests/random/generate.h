// SPDX-License-Identifier: Apache-2.0
// generate — random PTX kernels that are valid, end, and compute the same whatever the order of warps and blocks.
#ifndef GR_TEST_RANDOM_GENERATE_H
#define GR_TEST_RANDOM_GENERATE_H

#include "base/str.h"

#include <stdint.h>

enum {
    RANDOM_OWN = 128,     // bytes of global memory that belong to each thread
    RANDOM_TABLE = 1024,  // bytes of input, read by all
    RANDOM_COUNTS = 512,  // bytes of counters, updated by all in ways whose order does not matter
    RANDOM_THREADS = 128, // per block, at most
    RANDOM_BLOCKS = 12,
};

typedef struct RandomKernel {
    uint32_t grid, block;
    StrBuf text; // the module; its kernel is k(own, table, counts)
} RandomKernel;

// The kernel of this number, the same on every machine. False: out of memory.
bool random_kernel(uint64_t seed, RandomKernel *out);

#endif

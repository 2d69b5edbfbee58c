// SPDX-License-Identifier: Apache-2.0
// What every example needs besides its kernel: checked CUDA calls, input data that is the same on every machine, and
// the last line it prints. A racy program's result is undefined, so finish_undefined() says what came out and exits
// with 0; its repaired twin ends in finish(), which exits with 1 when the result differs from the CPU's.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CUDA_CHECK(call)                                                                                     \
    do {                                                                                                     \
        cudaError_t check_error_ = (call);                                                                   \
        if (check_error_ != cudaSuccess) {                                                                   \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(check_error_)); \
            exit(2);                                                                                         \
        }                                                                                                    \
    } while (0)

// A number without pattern for each index.
static inline unsigned scramble(unsigned x) {
    x = (x ^ (x >> 16)) * 0x45d9f3bu;
    x = (x ^ (x >> 16)) * 0x45d9f3bu;
    return x ^ (x >> 16);
}

static inline int finish(const char *name, int wrong) {
    printf("%s: %s (%d wrong)\n", name, wrong ? "FAIL" : "PASS", wrong);
    return wrong ? 1 : 0;
}

static inline int finish_undefined(const char *name, int wrong) {
    printf("%s: %s (%d wrong; the race leaves the result undefined)\n", name, wrong ? "FAIL" : "PASS", wrong);
    return 0;
}

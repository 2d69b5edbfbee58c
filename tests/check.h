// SPDX-License-Identifier: Apache-2.0
// check — what the tests' own CUDA programs share: CHECK and CHECK_DRIVER end the program with status 2 when a call
// fails, EXPECT and EXPECT_EQ say what is not so (the first ten times) and count it, and finish() prints the last line,
// PASS or FAIL, and is the exit status that goes with it. A program of the driver's API includes cuda.h itself. C
// programs have CHECK_DRIVER alone.
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK_DRIVER(call)                                                                                   \
    do {                                                                                                     \
        CUresult check_result_ = (call);                                                                     \
        if (check_result_ != CUDA_SUCCESS) {                                                                 \
            printf("%s:%d: %s: error %d\n", __FILE__, __LINE__, #call, (int)check_result_);                  \
            exit(2);                                                                                         \
        }                                                                                                    \
    } while (0)

#ifdef __cplusplus
#include <cuda_runtime.h>

#define CHECK(call)                                                                                          \
    do {                                                                                                     \
        cudaError_t check_error_ = (call);                                                                   \
        if (check_error_ != cudaSuccess) {                                                                   \
            printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorName(check_error_));            \
            exit(2);                                                                                         \
        }                                                                                                    \
    } while (0)

static int failures; // counted by threads of the program at once

#define EXPECT(condition)                                                                                    \
    do {                                                                                                     \
        if (!(condition) && __atomic_add_fetch(&failures, 1, __ATOMIC_RELAXED) <= 10)                        \
            printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                                   \
    } while (0)

// For integers: says both values.
#define EXPECT_EQ(got, expected)                                                                             \
    do {                                                                                                     \
        long long got_ = (long long)(got), expected_ = (long long)(expected);                                \
        if (got_ != expected_ && ++failures <= 10)                                                           \
            printf("%s:%d: %s is %lld, expected %lld\n", __FILE__, __LINE__, #got, got_, expected_);         \
    } while (0)

static inline int finish() {
    printf("%s\n", failures ? "FAIL" : "PASS");
    return failures ? 1 : 0;
}
#endif

// SPDX-License-Identifier: Apache-2.0
// For the test programs: checked calls, expectations that count, and the last line.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>

static int failures;

#define CHECK(call)                                                                                          \
    do {                                                                                                     \
        cudaError_t check_error_ = (call);                                                                   \
        if (check_error_ != cudaSuccess) {                                                                   \
            printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorName(check_error_));            \
            exit(2);                                                                                         \
        }                                                                                                    \
    } while (0)

#define EXPECT(condition)                                                                                    \
    do {                                                                                                     \
        if (!(condition) && ++failures <= 10)                                                                \
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

// SPDX-License-Identifier: Apache-2.0
// h.h — what every program of this folder includes: CK ends the program when a call of CUDA fails.
#pragma once
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#define CK(x)                                                                                                \
    do {                                                                                                     \
        cudaError_t e_ = (x);                                                                                \
        if (e_ != cudaSuccess) {                                                                             \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(e_));                      \
            exit(3);                                                                                         \
        }                                                                                                    \
    } while (0)

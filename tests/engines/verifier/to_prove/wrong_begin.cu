// SPDX-License-Identifier: Apache-2.0
// What runs before main may set a variable of the module, which then is no flag that main finds as it is initialized. As in wrong_flags.cu.
#include "hand_over.h"

#include <cuda_runtime.h>
#include <iostream>

__device__ int own;

__global__ void r_before_main(int *data) { hand_over(&own, data); }
__global__ void r_in_main(int *data) { hand_over(&own, data); }

static int *start() {
    int *data;
    cudaMalloc(&data, 64);
    r_before_main<<<8, 1>>>(data);
    return data;
}

struct Early {
    int *data;
    Early() { data = start(); }
} early;

int main() {
    int *d;
    cudaMalloc(&d, 64);
    r_in_main<<<8, 1>>>(d);
    std::cout << cudaDeviceSynchronize() << "\n";
}

// SPDX-License-Identifier: Apache-2.0
// A lock and a flag, and what can be wrong with them (the HGRD paper, section 6.5 and appendix A): the scope, the address, a fence. test_facts.py has what
// is to be said of each kernel.
#include <cuda_runtime.h>

__device__ void take(int *lock) {
    while (atomicCAS(lock, 0, 1) != 0) {
    }
}

__device__ void give(int *lock) { atomicExch(lock, 0); }

__device__ void wait_for(volatile int *flag) {
    while (*flag == 0) {
    }
}

__global__ void lock(int *locks, int *data) {
    take(locks);
    __threadfence();
    *data += 1;
    __threadfence();
    give(locks);
}

__global__ void lock_of_block_scope(int *locks, int *data) {
    while (atomicCAS_block(locks, 0, 1) != 0) {
    }
    __threadfence();
    *data += 1;
    __threadfence();
    atomicExch_block(locks, 0);
}

__global__ void lock_with_fences_of_block_scope(int *locks, int *data) {
    take(locks);
    __threadfence_block();
    *data += 1;
    __threadfence_block();
    give(locks);
}

__global__ void lock_at_two_addresses(int *locks, int *data) {
    take(locks + blockIdx.x % 2);
    __threadfence();
    *data += 1;
    __threadfence();
    give(locks + blockIdx.x % 2);
}

__global__ void lock_without_first_fence(int *locks, int *data) {
    take(locks);
    *data += 1;
    __threadfence();
    give(locks);
}

__global__ void lock_without_last_fence(int *locks, int *data) {
    take(locks);
    __threadfence();
    *data += 1;
    give(locks);
}

__device__ void hand_over(int *flags, int *data) {
    if (blockIdx.x == 0) {
        *data = 1;
        __threadfence();
        *(volatile int *)flags = 1;
    } else {
        wait_for(flags);
        __threadfence();
        data[blockIdx.x] = *data;
    }
}

__global__ void flag(int *flags, int *data) { hand_over(flags, data); }
__global__ void flag_that_is_set(int *flags, int *data) { hand_over(flags, data); }

__global__ void flag_with_fence_of_block_scope(int *flags, int *data) {
    if (blockIdx.x == 0) {
        *data = 1;
        __threadfence_block();
        *(volatile int *)flags = 1;
    } else {
        wait_for(flags);
        __threadfence();
        data[blockIdx.x] = *data;
    }
}

__global__ void flag_at_two_addresses(int *flags, int *data) {
    if (blockIdx.x == 7) {
        *data = 1;
        __threadfence();
        *(volatile int *)flags = 1;
    } else if (blockIdx.x == 1) {
        *(volatile int *)(flags + 1) = 1;
    } else {
        wait_for(flags + blockIdx.x % 2);
        __threadfence();
        data[blockIdx.x] = *data;
    }
}

__global__ void flag_without_fence(int *flags, int *data) {
    if (blockIdx.x == 0) {
        *data = 1;
        __threadfence();
        *(volatile int *)flags = 1;
    } else {
        wait_for(flags);
        data[blockIdx.x] = *data;
    }
}

int main() {
    int *words, *data;
    cudaMalloc(&words, 8 * sizeof(int));
    cudaMalloc(&data, 8 * sizeof(int));
    lock<<<8, 1>>>(words, data);
    lock_of_block_scope<<<8, 1>>>(words, data);
    lock_with_fences_of_block_scope<<<8, 1>>>(words, data);
    lock_at_two_addresses<<<8, 1>>>(words, data);
    lock_without_first_fence<<<8, 1>>>(words, data);
    lock_without_last_fence<<<8, 1>>>(words, data);
    cudaMemset(words, 0, 8 * sizeof(int));
    flag<<<8, 1>>>(words, data);
    cudaMemset(words, 0, 8 * sizeof(int));
    flag_with_fence_of_block_scope<<<8, 1>>>(words, data);
    cudaMemset(words, 0, 8 * sizeof(int));
    flag_at_two_addresses<<<8, 1>>>(words, data);
    cudaMemset(words, 0, 8 * sizeof(int));
    flag_without_fence<<<8, 1>>>(words, data);
    flag_that_is_set<<<8, 1>>>(words, data);
    return cudaDeviceSynchronize() != cudaSuccess;
}

// SPDX-License-Identifier: Apache-2.0
// Volatile accesses that nothing orders: ./volatiles CASE race|fixed. cases.py says what the labels mean.
//
// RACE scan: volatile race; both are lanes of one warp
// RACE reduction: volatile race; both are lanes of one warp
// RACE in_a_loop: volatile race; both are lanes of one warp
// REMARK flag: with volatile
// REMARK polled: with volatile
// REMARK polled_shared: with volatile
// REMARK changed: with volatile
// REMARK looked_at: with volatile
// REMARK quiet: with volatile
// OPTIONS quiet: --volatile no
// REMARK left_alone: volatile accesses to shared memory were left alone
// REMARK left_alone: volatiles.cu:line left_alone
// OPTIONS left_alone: --engine collider
// CLEAN left_alone_none
// OPTIONS left_alone_none: --engine collider
// ONLY loud: volatile race
// OPTIONS loud: --volatile yes
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>

#define MEET()                                                                                               \
    do {                                                                                                     \
        if (fixed)                                                                                           \
            __syncwarp();                                                                                    \
    } while (0)

__global__ void scan(int *out, bool fixed) {
    __shared__ volatile int s[64];
    int t = threadIdx.x, i = t + 32;
    s[t] = 0;
    s[i] = 1;
    for (int d = 1; d < 32; d *= 2) {
        MEET();
        int v = s[i - d];
        MEET();
        s[i] += v;
    }
    out[t] = s[i];
}

__global__ void reduction(int *out, bool fixed) {
    __shared__ volatile int s[64];
    int t = threadIdx.x, v;
    s[t] = t;
    s[t + 32] = 0;
    MEET();
    v = s[t + 16] + s[t];
    MEET();
    s[t] = v;
    MEET();
    v = s[t + 8] + s[t];
    MEET();
    s[t] = v;
    MEET();
    if (t == 0)
        *out = s[0] + s[1] + s[2] + s[3] + s[4] + s[5] + s[6] + s[7];
}

__global__ void in_a_loop(int *out, bool fixed) {
    __shared__ volatile int s[32];
    int t = threadIdx.x;
    s[t] = t; // WHERE left_alone
    for (int d = 16; d > 0; d /= 2) {
        MEET();
        int v = t < d ? s[t + d] : 0;
        MEET();
        if (t < d)
            s[t] = s[t] + v;
    }
    out[t] = s[t];
}

// Between blocks, with what orders the data.
__global__ void flag(int *data, volatile int *f) {
    if (threadIdx.x)
        return;
    if (blockIdx.x == 0) {
        data[0] = 7;
        __threadfence();
        *f = 1;
    } else {
        while (!*f)
            ;
        __threadfence();
        data[1] = data[0];
    }
}

// Between lanes of one warp.
__global__ void polled(int *data, volatile int *f) {
    if (threadIdx.x == 0) {
        *f = 5;
    } else {
        int v;
        do
            v = *f;
        while (v == 0);
        data[threadIdx.x] = v;
    }
}

__global__ void polled_shared(int *data) {
    __shared__ volatile int f;
    if (threadIdx.x == 0)
        f = 0;
    __syncthreads();
    if (threadIdx.x == 0)
        f = 1;
    while (!f)
        ;
    data[threadIdx.x] = 1;
}

__global__ void changed(volatile int *f) { *f = 1; }

__global__ void looked_at(int *data, volatile int *f) {
    if (!*f) {
        data[threadIdx.x] = 1;
        *f = 1;
    }
}

int main(int argc, char **argv) {
    int *p;
    if (argc < 3 || cudaMalloc(&p, 4096) || cudaMemset(p, 0, 4096))
        return 2;
    const char *name = argv[1];
    bool fixed = !strcmp(argv[2], "fixed");
    if (!strcmp(name, "scan"))
        scan<<<1, 32>>>(p, fixed);
    else if (!strcmp(name, "reduction"))
        reduction<<<1, 32>>>(p, fixed);
    else if (!strcmp(name, "in_a_loop") || !strcmp(name, "quiet") || !strcmp(name, "left_alone"))
        in_a_loop<<<1, 32>>>(p, fixed);
    else if (!strcmp(name, "flag") || !strcmp(name, "loud"))
        flag<<<2, 32>>>(p, p + 64);
    else if (!strcmp(name, "polled"))
        polled<<<1, 32>>>(p, p + 64);
    else if (!strcmp(name, "polled_shared"))
        polled_shared<<<1, 64>>>(p);
    else if (!strcmp(name, "changed") || !strcmp(name, "left_alone_none"))
        changed<<<2, 64>>>(p);
    else if (!strcmp(name, "looked_at"))
        looked_at<<<1, 64>>>(p, p + 64);
    else
        return 2;
    return cudaDeviceSynchronize() != cudaSuccess;
}

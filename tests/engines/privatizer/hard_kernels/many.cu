// SPDX-License-Identifier: Apache-2.0
// Kernels of very many accesses, each of which is a call (pass/brief.h), and one of few.
#include <cstdio>
#include <cstring>

enum { STEPS = 48, THREADS = 64, BLOCKS = 2, N = THREADS * BLOCKS };
enum Race { CLEAN, SHARED, BLOCKS_MEET, LANES, COUNTED };

template <Race RACE> __global__ void many(const int *in, int *out, int *one) {
    __shared__ int tile[THREADS];
    unsigned t = threadIdx.x, at = blockIdx.x * THREADS + t;
    tile[t] = in[at]; // RACE of "shared"
    if (RACE != SHARED)
        __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < STEPS; k++)
        out[k * N + at] = in[k * N + at] + tile[(t + k * 5) % THREADS]; // RACE of "shared"
    __syncthreads();
    if (RACE == BLOCKS_MEET && t == 0)
        one[0] = blockIdx.x; // RACE of "blocks"
    if (RACE == LANES)
        tile[t / 2] = t; // RACE of "lanes"
    if (RACE == COUNTED)
        atomicAdd(one, 1); // RACE of "counted"
    if (RACE == COUNTED && t == 1)
        one[0] = 5; // RACE of "counted"
    __syncthreads();
    out[at] += tile[t] - in[at];
}

__global__ void few(const int *in, int *out) { out[blockIdx.x * THREADS + threadIdx.x] = in[threadIdx.x]; }

int main(int argc, char **argv) {
    int *in, *out, *one, host[STEPS * N], sum = 0;
    const char *word = argc > 1 ? argv[1] : "clean";
    for (int k = 0; k < STEPS * N; k++)
        host[k] = k;
    cudaMalloc(&in, sizeof host);
    cudaMalloc(&out, sizeof host);
    cudaMalloc(&one, sizeof *one);
    cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
    cudaMemset(one, 0, sizeof *one);
    const struct {
        const char *word;
        void (*kernel)(const int *, int *, int *);
    } kernels[] = {{"clean", many<CLEAN>},
                   {"shared", many<SHARED>},
                   {"blocks", many<BLOCKS_MEET>},
                   {"lanes", many<LANES>},
                   {"counted", many<COUNTED>}};
    for (auto &k : kernels)
        if (!strcmp(k.word, word))
            k.kernel<<<BLOCKS, THREADS>>>(in, out, one);
    few<<<BLOCKS, THREADS>>>(in, out);
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    for (int k = 0; k < STEPS; k++)
        for (int i = 0; i < N; i++) { // the first step's is few's
            int block = i / THREADS * THREADS, t = i % THREADS;
            sum += host[k * N + i] - (k ? k * N + i + block + (t + k * 5) % THREADS : t);
        }
    printf("%s %s\n", cudaGetErrorName(cudaDeviceSynchronize()),
           !sum || strcmp(word, "clean") ? "PASS" : "FAIL");
}

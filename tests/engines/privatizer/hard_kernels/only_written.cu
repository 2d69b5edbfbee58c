// SPDX-License-Identifier: Apache-2.0
// only_written read|twice|alias|clean: kernels that store to memory which they do not load from. What they store tells of a race in shared memory; two threads store to one place; the memory
// is loaded by another pointer; nothing races, but for the last kernel's private runs.
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>

constexpr int N = 64, BLOCKS = 4;

__global__ void turns(int *out, int lacks) {
    __shared__ int s[N];
    int t = threadIdx.x;
    s[t] = t + 1;
    if (!lacks)
        __syncthreads();
    out[blockIdx.x * N + t] = s[N - 1 - t]; // RACE of "read"
}

__global__ void halves(int *out) {
    int i = blockIdx.x * N + threadIdx.x;
    out[i / 2] = i; // RACE of "twice"
}

__global__ void shifts(int *out, const int *in) {
    int i = blockIdx.x * N + threadIdx.x;
    out[i] = in[(i + 1) % (BLOCKS * N)] + 1; // RACE of "alias"
}

int main(int, char **words) {
    int *out, *in, numbers[BLOCKS * N], wrong = 0;
    for (int **p : {&out, &in}) {
        cudaMalloc(p, sizeof numbers);
        cudaMemset(*p, 0, sizeof numbers);
    }
    if (!strcmp(words[1], "twice"))
        halves<<<BLOCKS, N>>>(out);
    else if (!strcmp(words[1], "alias"))
        shifts<<<BLOCKS, N>>>(out, out);
    else
        turns<<<BLOCKS, N>>>(out, !strcmp(words[1], "read"));
    if (!strcmp(words[1], "clean")) {
        cudaMemcpy(numbers, out, sizeof numbers, cudaMemcpyDeviceToHost);
        for (int k = 0; k < BLOCKS * N; k++)
            wrong += numbers[k] != N - k % N;
        shifts<<<BLOCKS, N>>>(in, out);
        cudaMemcpy(numbers, in, sizeof numbers, cudaMemcpyDeviceToHost);
        for (int k = 0; k < BLOCKS * N; k++)
            wrong += numbers[k] != N - (k + 1) % N + 1;
    }
    printf("%s %s\n", cudaGetErrorName(cudaDeviceSynchronize()), wrong ? "FAIL" : "PASS");
}

// SPDX-License-Identifier: Apache-2.0
// windows clean|blocks|warps|lanes|alone|reads|elsewhere|far: kernels whose warps, or blocks, have a private copy of all global memory that may be written. Two blocks, two warps of one, or two lanes
// store to one place, the last ones of a launch of one warp ("alone"), too; a barrier lacks; a pointer that was loaded leads out of that memory, with a race there ("far") or without.
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>

constexpr int N = 64, BLOCKS = 4;

__global__ void scatter(int *to, const int *at) {
    int i = blockIdx.x * N + threadIdx.x;
    to[at[i]] += i + 1; // RACE of "blocks", "warps", "lanes", "alone"
}

__global__ void turns(int *to, const int *at, bool lacks) {
    int t = threadIdx.x, *own = to + blockIdx.x * N;
    own[at[t]] = t; // RACE of "reads"
    if (!lacks)
        __syncthreads();
    int v = own[at[N - 1 - t]]; // RACE of "reads"
    __syncthreads();
    own[at[t]] = v + 1;
}

// What is only read lies between what is written.
__global__ void apart(int *to, const int *at, int *more) {
    int i = blockIdx.x * N + threadIdx.x;
    to[at[i]] += more[at[i]] += i;
}

__global__ void away(int *const *rows, int *count, int apart) {
    int i = blockIdx.x * N + threadIdx.x;
    rows[i % 4][i / apart] = i + 1; // RACE of "far"
    count[i] += 1;
}

int main(int, char **words) {
    int *to, *at, **rows, *row[4], indices[BLOCKS * N], got[BLOCKS * N], wrong = 0;
    auto says = [&](const char *word) { return !strcmp(words[1], word); };
    for (int **p : {&to, &at, &row[0], &row[1], &row[2], &row[3]}) {
        cudaMalloc(p, sizeof indices);
        cudaMemset(*p, 0, sizeof indices);
    }
    cudaMalloc(&rows, sizeof row);
    cudaMemcpy(rows, row, sizeof row, cudaMemcpyHostToDevice);
    for (int k = 0; k < BLOCKS * N; k++)
        indices[k] = k * 5 % (BLOCKS * N);
    if (says("blocks"))
        indices[3 * N] = indices[7];
    if (says("warps"))
        indices[40] = indices[7];
    if (says("lanes") || says("alone"))
        indices[9] = indices[7];
    cudaMemcpy(at, indices, sizeof indices, cudaMemcpyHostToDevice);
    bool alone = says("alone");
    scatter<<<alone ? 1 : BLOCKS, alone ? 32 : N>>>(to, at);
    cudaMemcpy(got, to, sizeof got, cudaMemcpyDeviceToHost);
    for (int k = 0; k < BLOCKS * N && says("clean"); k++)
        wrong += got[indices[k]] != k + 1;
    for (int k = 0; k < BLOCKS * N; k++)
        indices[k] = k * 5 % N;
    cudaMemcpy(at, indices, sizeof indices, cudaMemcpyHostToDevice);
    turns<<<BLOCKS, N>>>(to, at, says("reads"));
    cudaMemcpy(got, to, sizeof got, cudaMemcpyDeviceToHost);
    for (int k = 0; k < N && says("clean"); k++)
        wrong += got[indices[k]] != N - k;
    if (says("elsewhere") || says("far"))
        away<<<BLOCKS, N>>>(rows, to, says("far") ? 128 : 1);
    for (int k = 0; k < BLOCKS * N; k++)
        indices[k] = k * 5 % (BLOCKS * N);
    cudaMemcpy(at, indices, sizeof indices, cudaMemcpyHostToDevice);
    if (says("clean"))
        apart<<<BLOCKS, N>>>(to, at, row[0]);
    printf("%s %s\n", cudaGetErrorName(cudaDeviceSynchronize()), wrong ? "FAIL" : "PASS");
}

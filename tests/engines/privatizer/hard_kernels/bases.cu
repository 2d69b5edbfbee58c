// SPDX-License-Identifier: Apache-2.0
// bases clean|racy|elsewhere: a kernel that loads numbers side by side, by what one register has (pass/bases.c), the last ones of shared memory and of an array among them; with a barrier that
// lacks; and with an index that leads to another array than the one its pointer points into.
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>

constexpr int N = 64, SIDE = 5;

__global__ void side(const int *in, const int *, const int *at, int *out, bool racy) {
    __shared__ int s[SIDE * N];
    int t = threadIdx.x, sum = 0;
    for (int k = t; k < SIDE * N; k += N)
        s[k] = k;
    if (!racy)
        __syncthreads(); // RACE: it lacks
    for (int k = 0; k < N; k++) {
        const int *own = s + SIDE * ((t + k) % N), *their = in + at[(t + k) % N];
        sum += own[0] + 2 * own[1] + 3 * own[2] + 4 * own[3] + 5 * own[4];
        sum += their[0] + 2 * their[1] + 3 * their[2] + 4 * their[3] + 5 * their[4];
    }
    __syncthreads();
    for (int k = t; k < SIDE * N; k += N) // what a thread has stored it finds, also by another one's register
        s[k] = sum;
    out[t] = s[t] + s[t + N];
}

int main(int, char **words) {
    int *in, *other, *at, *out, numbers[SIDE * N], indices[N], got[N], sum = 0, wrong = 0;
    bool racy = !strcmp(words[1], "racy");
    for (int **p : {&in, &other, &at, &out}) {
        cudaMalloc(p, sizeof numbers);
        cudaMemset(*p, 0, sizeof numbers);
    }
    for (int k = 0; k < SIDE * N; k++)
        numbers[k] = 7 * k;
    for (int k = 0; k < N; k++)
        indices[k] = SIDE * k;
    cudaMemcpy(in, numbers, sizeof numbers, cudaMemcpyHostToDevice);
    if (!strcmp(words[1], "elsewhere")) {
        cudaMemcpy(other, numbers, sizeof numbers, cudaMemcpyHostToDevice);
        indices[3] += (int)(other - in);
    }
    cudaMemcpy(at, indices, sizeof indices, cudaMemcpyHostToDevice);
    side<<<1, N>>>(in, other, at, out, racy);
    cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost);
    for (int k = 0; k < SIDE * N; k++)
        sum += (k % SIDE + 1) * 8 * k;
    for (int k = 0; k < N; k++)
        wrong += got[k] != 2 * sum;
    printf("%s %s\n", cudaGetErrorName(cudaDeviceSynchronize()), wrong && !racy ? "FAIL" : "PASS");
}

// SPDX-License-Identifier: Apache-2.0
// near clean|racy: kernels whose shared memory a private run keeps together with what it needs for it (device/near.h), and those for which that does not do: bytes of several owners in a word that
// one of them loads, units that share a line, dynamic shared memory, as much as there is; and a kernel that asks how much it has.
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>

constexpr int N = 64;

// Each thread has a byte of each word. Nobody reads another one's.
__global__ void bytes(int *out, bool racy) {
    __shared__ unsigned char count[4 * N];
    int t = threadIdx.x;
    count[t] = 0;
    count[t + N] = 1;
    for (int k = 0; k < 3; k++)
        count[t]++;
    __syncthreads();
    out[t] = count[t] + count[racy && t == 5 ? 6 : t + N];
    if (racy && t == 6)
        count[t] = 7; // the race
}

// A thread loads the word in which it has stored a byte: of its other bytes the thread owns none.
__global__ void parts(int *out) {
    __shared__ unsigned word[N];
    int t = threadIdx.x;
    word[t] = 0;
    __syncthreads();
    reinterpret_cast<unsigned char *>(word)[4 * t] = (unsigned char)t;
    out[t] += word[t];
}

// All threads store the same words, one after the other. What each of them loads then is what it has stored.
__global__ void turns(int *out, bool racy) {
    extern __shared__ int shared[];
    int t = threadIdx.x, sum = 0;
    for (int k = 0; k < N; k++) {
        if (t == k) {
            for (int i = 0; i < 8; i++)
                shared[i] = t + i;
            for (int i = 0; i < 8; i++)
                sum += shared[i];
        }
        if (!racy || k != 20)
            __syncthreads(); // the race: it lacks once
    }
    out[t] += sum;
}

// As wide as the largest accesses are.
__global__ void wide(int4 *out, bool racy) {
    __shared__ int4 four[N];
    __shared__ int one[N];
    int t = threadIdx.x;
    four[t] = make_int4(t, 0, 0, 0);
    one[t] = t;
    if (!racy)
        __syncthreads(); // the race: it lacks
    int4 v = four[t ^ 1];
    v.y = one[t ^ 1];
    out[t] = v;
}

__global__ void asks(unsigned *out) {
    __shared__ int s[N];
    unsigned dynamic;
    asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(dynamic));
    s[threadIdx.x] = dynamic;
    __syncthreads();
    out[threadIdx.x] = s[N - 1 - threadIdx.x];
}

int main(int, char **words) {
    bool racy = !strcmp(words[1], "racy");
    int *out;
    unsigned size;
    cudaFuncAttributes before, behind;
    cudaMalloc(&out, 16 * N);
    cudaMemset(out, 0, 16 * N);
    cudaFuncGetAttributes(&before, turns);
    bytes<<<1, N>>>(out, racy);
    parts<<<1, N>>>(out);
    turns<<<1, N, 48 * 1000>>>(out, racy);
    wide<<<1, N>>>((int4 *)out, racy);
    cudaFuncGetAttributes(&behind, turns);
    asks<<<1, N, 400>>>((unsigned *)out);
    cudaMemcpy(&size, out, sizeof size, cudaMemcpyDeviceToHost);
    bool right = size == 400 && before.maxDynamicSharedSizeBytes == behind.maxDynamicSharedSizeBytes;
    printf("%s %s\n", cudaGetErrorName(cudaDeviceSynchronize()), right ? "PASS" : "FAIL");
}

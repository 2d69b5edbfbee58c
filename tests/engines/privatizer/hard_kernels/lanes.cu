// SPDX-License-Identifier: Apache-2.0
// Lanes that meet at barriers of their warp. `lanes`: kernels without races, whose results are looked at; `lanes racy`: each has the races that are named.
#include <cstdio>
#include <cstring>

enum { BLOCKS = 3, THREADS = 96, N = BLOCKS * THREADS };

// As a program without shuffles adds up in a warp. Warps go round differently often, and meet at barriers of the block in between.
__global__ void adds(const int *in, int *out, int rounds) {
    __shared__ int s[THREADS];
    int t = threadIdx.x, lane = t % 32, first = t - lane, all = 0, local[4] = {t, 0, 0, 0};
    for (int r = 0; r < rounds; r++) {
        for (int k = 0; k <= t / 32; k++) {
            s[t] = in[blockIdx.x * THREADS + t] + k;
            __syncwarp();
            for (int d = 16; d; d /= 2) {
                int other = lane < d ? s[t + d] : 0;
                __syncwarp();
                s[t] += other;
                __syncwarp();
            }
            local[(r + k) % 4] += s[first];
            __syncwarp();
        }
        if (__syncthreads_or(lane == 3 && r == 1))
            all += 1000;
        all += s[(t + 32) % THREADS];
        __syncthreads();
    }
    out[blockIdx.x * THREADS + t] = all + local[0] + local[1] + local[2] + local[3];
}

__global__ void lacks_one(const int *in, int *out, int rounds) { // the first of two in a loop
    __shared__ int s[THREADS];
    int t = threadIdx.x, first = t / 32 * 32;
    s[t] = in[blockIdx.x * THREADS + t] + t;
    __syncwarp();
    for (int r = 0; r < rounds; r++) {
        int other = s[first + (t + 1) % 32]; // RACE
        s[t] = other + t;
        __syncwarp();
    }
    out[blockIdx.x * THREADS + t] = s[t];
}

__global__ void of_warps(const int *in, int *out, int rounds) { // between two warps, with barriers of both warps in between
    __shared__ int s[THREADS];
    int t = threadIdx.x;
    s[t] = in[t];
    __syncwarp();
    int v = s[t ^ 1] + rounds;
    __syncwarp();
    if (t / 32 == 1)
        v += s[5]; // RACE
    __syncwarp();
    out[blockIdx.x * THREADS + t] = v;
}

__global__ void behind_block(const int *in, int *out, int rounds) { // some warps wait at the barrier of the block while lanes of another one race
    __shared__ int s[THREADS];
    int t = threadIdx.x, v = in[t];
    s[t] = v;
    if (t / 32 == 2) {
        for (int r = 0; r < rounds; r++) {
            __syncwarp();
            v += r;
        }
        s[t / 2 + 32] = rounds + t; // RACE
    }
    int n = __syncthreads_count(t / 32 == 2 || t < 5), own = s[t];
    __syncthreads();
    if (n == 37)
        s[t / 2] = t; // RACE
    out[blockIdx.x * THREADS + t] = own + v;
}

int main(int argc, char **argv) {
    int *in, *out, got[N], was[N], s[N], rounds = 3;
    cudaMalloc(&in, sizeof got);
    cudaMalloc(&out, sizeof got);
    for (int i = 0; i < N; i++)
        was[i] = i * 7 % 40;
    cudaMemcpy(in, was, sizeof was, cudaMemcpyHostToDevice);
    if (argc > 1 && !strcmp(argv[1], "racy")) {
        lacks_one<<<BLOCKS, THREADS>>>(in, out, rounds);
        of_warps<<<BLOCKS, THREADS>>>(in, out, rounds);
        behind_block<<<BLOCKS, THREADS>>>(in, out, rounds);
        return cudaDeviceSynchronize() != cudaSuccess;
    }
    adds<<<BLOCKS, THREADS>>>(in, out, rounds);
    cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost);
    bool right = cudaDeviceSynchronize() == cudaSuccess;
    int want[N] = {0};
    for (int r = 0; r < rounds; r++)
        for (int b = 0; b < BLOCKS; b++) {
            for (int w = 0; w < THREADS / 32; w++)
                for (int k = 0; k <= w; k++) {
                    int *cell = s + b * THREADS + w * 32;
                    for (int l = 0; l < 32; l++)
                        cell[l] = was[b * THREADS + w * 32 + l] + k;
                    for (int d = 16; d; d /= 2)
                        for (int l = 0; l < d; l++)
                            cell[l] += cell[l + d];
                    for (int l = 0; l < 32; l++)
                        want[b * THREADS + w * 32 + l] += cell[0];
                }
            for (int t = 0; t < THREADS; t++)
                want[b * THREADS + t] += s[b * THREADS + (t + 32) % THREADS] + (r == 1 ? 1000 : 0);
        }
    for (int i = 0; i < N; i++)
        right = right && got[i] == want[i] + i % THREADS;
    puts(right ? "PASS" : "FAIL");
    return !right;
}

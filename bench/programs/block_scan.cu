// SPDX-License-Identifier: Apache-2.0
// Scans of blocks in shared memory (Hillis and Steele's, and Blelloch's tree), and the carry in a second kernel.
// ARGS: 65536
#include <cstdio>
#include <cstdlib>
#include <vector>

enum { N = 256 };

__global__ void steps(const int *in, int *out, int *sums) {
    __shared__ int s[2][N];
    int t = threadIdx.x, from = 0;
    s[0][t] = in[blockIdx.x * N + t];
    __syncthreads();
    for (int d = 1; d < N; d *= 2, from ^= 1) {
        s[!from][t] = t >= d ? s[from][t] + s[from][t - d] : s[from][t];
        __syncthreads();
    }
    out[blockIdx.x * N + t] = s[from][t];
    if (t == N - 1)
        sums[blockIdx.x] = s[from][t];
}

__global__ void tree(int *sums, int n) { // exclusive, in place
    __shared__ int s[N];
    int t = threadIdx.x;
    s[t] = t < n ? sums[t] : 0;
    for (int d = 1; d < N; d *= 2) {
        __syncthreads();
        int k = (t + 1) * 2 * d - 1;
        if (k < N)
            s[k] += s[k - d];
    }
    if (t == 0)
        s[N - 1] = 0;
    for (int d = N / 2; d; d /= 2) {
        __syncthreads();
        int k = (t + 1) * 2 * d - 1;
        if (k < N) {
            int left = s[k - d];
            s[k - d] = s[k];
            s[k] += left;
        }
    }
    __syncthreads();
    if (t < n)
        sums[t] = s[t];
}

__global__ void carry(int *out, const int *sums) { out[blockIdx.x * N + threadIdx.x] += sums[blockIdx.x]; }

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 65536, blocks = n / N, wrong = 0;
    std::vector<int> in(n), got(n);
    int *a, *b, *sums;
    for (int k = 0; k < n; k++)
        in[k] = k % 7;
    cudaMalloc(&a, n * 4);
    cudaMalloc(&b, n * 4);
    cudaMalloc(&sums, blocks * 4);
    cudaMemcpy(a, in.data(), n * 4, cudaMemcpyHostToDevice);
    steps<<<blocks, N>>>(a, b, sums);
    tree<<<1, N>>>(sums, blocks);
    carry<<<blocks, N>>>(b, sums);
    cudaMemcpy(got.data(), b, n * 4, cudaMemcpyDeviceToHost);
    for (int k = 0, sum = 0; k < n; k++)
        wrong += got[k] != (sum += in[k]);
    puts(blocks <= N && !wrong ? "PASS" : "FAIL");
}

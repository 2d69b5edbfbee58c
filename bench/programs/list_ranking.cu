// SPDX-License-Identifier: Apache-2.0
// Pointer jumping: how far each element of a list is from its end; a launch for each doubling, two copies in turn.
// ARGS: 32768
#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void jump(const int *next, const int *rank, int *next_out, int *rank_out, int n) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= n)
        return;
    int to = next[k];
    rank_out[k] = rank[k] + rank[to];
    next_out[k] = next[to];
}

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 32768, wrong = 0;
    std::vector<int> order(n), next(n), rank(n, 1), got(n);
    for (int k = 0; k < n; k++)
        order[k] = k;
    unsigned seed = 1;
    for (int k = n - 1; k > 0; k--) {
        seed = seed * 1664525 + 1013904223;
        std::swap(order[k], order[(seed >> 8) % (k + 1)]);
    }
    for (int k = 0; k < n; k++)
        next[order[k]] = order[k + 1 < n ? k + 1 : k];
    rank[order[n - 1]] = 0;
    int *d[4];
    for (int k = 0; k < 4; k++)
        cudaMalloc(&d[k], n * 4);
    cudaMemcpy(d[0], next.data(), n * 4, cudaMemcpyHostToDevice);
    cudaMemcpy(d[1], rank.data(), n * 4, cudaMemcpyHostToDevice);
    int from = 0;
    for (int far = 1; far < n; far *= 2, from ^= 2)
        jump<<<(n + 255) / 256, 256>>>(d[from], d[from + 1], d[from ^ 2], d[(from ^ 2) + 1], n);
    cudaMemcpy(got.data(), d[from + 1], n * 4, cudaMemcpyDeviceToHost);
    for (int k = 0; k < n; k++)
        wrong += got[order[k]] != n - 1 - k;
    puts(wrong ? "FAIL" : "PASS");
}

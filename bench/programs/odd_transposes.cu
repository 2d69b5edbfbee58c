// SPDX-License-Identifier: Apache-2.0
// Transposes through shared memory with rows of 32, 33 and 37 words.
// ARGS: 256
#include <cstdio>
#include <cstdlib>
#include <vector>

template <int STRIDE> __global__ void transpose(const int *in, int *out, int n) {
    __shared__ int s[32 * STRIDE];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        s[(threadIdx.y + k) * STRIDE + threadIdx.x] = in[(y + k) * n + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        out[(y + k) * n + x] = s[threadIdx.x * STRIDE + threadIdx.y + k];
}

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 256, wrong = 0;
    std::vector<int> in(n * n), got(n * n);
    int *a, *b;
    for (int k = 0; k < n * n; k++)
        in[k] = k;
    cudaMalloc(&a, n * n * 4);
    cudaMalloc(&b, n * n * 4);
    cudaMemcpy(a, in.data(), n * n * 4, cudaMemcpyHostToDevice);
    dim3 grid(n / 32, n / 32), block(32, 8);
    transpose<32><<<grid, block>>>(a, b, n);
    transpose<33><<<grid, block>>>(b, a, n);
    transpose<37><<<grid, block>>>(a, b, n);
    cudaMemcpy(got.data(), b, n * n * 4, cudaMemcpyDeviceToHost);
    for (int k = 0; k < n * n; k++)
        wrong += got[k] != in[k % n * n + k / n];
    puts(wrong ? "FAIL" : "PASS");
}

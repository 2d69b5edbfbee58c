// SPDX-License-Identifier: Apache-2.0
// A table that every thread looks into at places without pattern, by several launches (as in sparse matrices, graphs and hashes).
// ARGS: 16384 4
#include <cstdio>
#include <cstdlib>

__global__ void look(const int *table, int *out, int n, int salt) {
    int k = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
    for (unsigned j = 0, at = k * 2654435761u + salt; j < 16; j++, at = at * 1664525 + 1013904223)
        sum += table[(at >> 8) % n];
    out[k] = sum;
}

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 16384, launches = argc > 2 ? atoi(argv[2]) : 4, got = 1, *table, *out;
    cudaMalloc(&table, n * 4);
    cudaMalloc(&out, n * 4);
    cudaMemset(table, 0, n * 4);
    for (int k = 0; k < launches; k++)
        look<<<n / 256, 256>>>(table, out, n, k);
    cudaMemcpy(&got, out, 4, cudaMemcpyDeviceToHost);
    puts(got ? "FAIL" : "PASS");
}

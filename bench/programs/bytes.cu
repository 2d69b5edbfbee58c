// SPDX-License-Identifier: Apache-2.0
// Bytes: a blur along rows in place by two arrays, and a table that every thread looks into.
// ARGS: 65536 8
#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void blur(const unsigned char *in, unsigned char *out, const unsigned char *table, int n) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= n)
        return;
    int left = k ? in[k - 1] : 0, right = k + 1 < n ? in[k + 1] : 0;
    out[k] = table[(left + in[k] + right) & 255];
}

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 65536, launches = argc > 2 ? atoi(argv[2]) : 8;
    std::vector<unsigned char> a(n), b(n), table(256);
    for (int k = 0; k < n; k++)
        a[k] = (unsigned char)(k * 2654435761u >> 11);
    for (int k = 0; k < 256; k++)
        table[k] = (unsigned char)(k * 7 + 3);
    unsigned char *d[2], *t;
    cudaMalloc(&d[0], n);
    cudaMalloc(&d[1], n);
    cudaMalloc(&t, 256);
    cudaMemcpy(d[0], a.data(), n, cudaMemcpyHostToDevice);
    cudaMemcpy(t, table.data(), 256, cudaMemcpyHostToDevice);
    for (int l = 0; l < launches; l++) {
        blur<<<(n + 255) / 256, 256>>>(d[l % 2], d[!(l % 2)], t, n);
        for (int k = 0; k < n; k++)
            b[k] = table[((k ? a[k - 1] : 0) + a[k] + (k + 1 < n ? a[k + 1] : 0)) & 255];
        std::swap(a, b);
    }
    cudaMemcpy(b.data(), d[launches % 2], n, cudaMemcpyDeviceToHost);
    puts(a == b ? "PASS" : "FAIL");
}

// SPDX-License-Identifier: Apache-2.0
// vectorAdd: the first program of everyone.
#include "../../check.h"

__global__ void add(const float *a, const float *b, float *c, int n)
{
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
}

int main()
{
    const int n = 50000;
    float *a = (float *)malloc(n * sizeof *a), *b = (float *)malloc(n * sizeof *b), *c = (float *)malloc(n * sizeof *c);
    for (int i = 0; i < n; i++) {
        a[i] = (float)i / 7;
        b[i] = (float)(n - i) / 3;
    }
    float *A, *B, *C;
    CHECK(cudaMalloc((void **)&A, n * sizeof *a));
    CHECK(cudaMalloc((void **)&B, n * sizeof *b));
    CHECK(cudaMalloc((void **)&C, n * sizeof *c));
    CHECK(cudaMemcpy(A, a, n * sizeof *a, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(B, b, n * sizeof *b, cudaMemcpyDefault));
    int threads = 256, blocks = (n + threads - 1) / threads;
    add<<<blocks, threads>>>(A, B, C, n);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(c, C, n * sizeof *c, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++)
        EXPECT(c[i] == a[i] + b[i]);
    CHECK(cudaFree(A));
    CHECK(cudaFree(B));
    CHECK(cudaFree(C));
    CHECK(cudaFree(nullptr));
    free(a), free(b), free(c);
    return finish();
}

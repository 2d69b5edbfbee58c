// SPDX-License-Identifier: Apache-2.0
// EXPECT: clean
// Vector addition. The paper's pedagogical example: the last thread of the grid also writes the first element, so the
// first and the last block raced for C[0]. Here every thread keeps to its own element.
#include "example.h"

__global__ void vec_add(const float *A, const float *B, float *C, int N)
{
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i < N) {
        C[i] = A[i] + B[i] + 0.0f; // NEVER
    }
}

int main()
{
    const int N = 1000; // four blocks of 256, the last one not full
    float a[N], b[N], c[N];
    for (int i = 0; i < N; i++) {
        a[i] = (float)i;
        b[i] = 2.0f * (float)i + 1.0f;
        c[i] = -1.0f;
    }
    float *A, *B, *C;
    CUDA_CHECK(cudaMalloc(&A, sizeof a));
    CUDA_CHECK(cudaMalloc(&B, sizeof b));
    CUDA_CHECK(cudaMalloc(&C, sizeof c));
    CUDA_CHECK(cudaMemcpy(A, a, sizeof a, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(B, b, sizeof b, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(C, c, sizeof c, cudaMemcpyHostToDevice));
    for (int run = 0; run < 10; run++) // two threads of a thousand race: in one run they seldom meet
        vec_add<<<(N + 255) / 256, 256>>>(A, B, C, N);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(c, C, sizeof c, cudaMemcpyDeviceToHost));
    int wrong = 0;
    for (int i = 0; i < N; i++)
        wrong += c[i] != a[i] + b[i];
    printf("C[0] = %g, C[N-1] = %g\n", c[0], c[N - 1]);
    CUDA_CHECK(cudaFree(A));
    CUDA_CHECK(cudaFree(B));
    CUDA_CHECK(cudaFree(C));
    return finish("racy_add", wrong);
}

// SPDX-License-Identifier: Apache-2.0
// EXPECT: races
// Transposes a square matrix in place, one thread per element: each thread overwrites an element that another thread has
// perhaps not read yet.
#include "example.h"

#define N 64

__global__ void transpose(float *m)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    float v = m[y * N + x]; // RACE: clobbered read
    m[x * N + y] = v; // OTHER
}

int main()
{
    static float m[N * N], got[N * N];
    for (int i = 0; i < N * N; i++)
        m[i] = (float)i;
    float *d;
    CUDA_CHECK(cudaMalloc(&d, sizeof m));
    CUDA_CHECK(cudaMemcpy(d, m, sizeof m, cudaMemcpyHostToDevice));
    transpose<<<dim3(N / 16, N / 16), dim3(16, 16)>>>(d);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(got, d, sizeof got, cudaMemcpyDeviceToHost));
    int wrong = 0;
    for (int y = 0; y < N; y++)
        for (int x = 0; x < N; x++)
            wrong += got[y * N + x] != m[x * N + y];
    CUDA_CHECK(cudaFree(d));
    return finish_undefined("transpose", wrong);
}

// SPDX-License-Identifier: Apache-2.0
// EXPECT: races
// Half of each block stores plane normals as float4 with w = 0, the other half stores the planes' distances into w: the
// vector store overlaps the scalar one.
#include "example.h"

__global__ void make_planes(float *planes)
{
    int half = blockDim.x / 2;
    int i = blockIdx.x * half + threadIdx.x % half;
    float f = (float)i;
    if (threadIdx.x < half) {
        *(float4 *)(planes + 4 * i) = make_float4(f, f + 1, f + 2, 0); // RACE: lost update
    } else {
        planes[4 * i + 3] = -f - 1; // RACE: lost update
    }
}

int main()
{
    const int n = 1024;
    static float planes[4 * n];
    float *d;
    CUDA_CHECK(cudaMalloc(&d, sizeof planes));
    CUDA_CHECK(cudaMemset(d, 0, sizeof planes));
    make_planes<<<n / 64, 128>>>(d);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(planes, d, sizeof planes, cudaMemcpyDeviceToHost));
    int wrong = 0;
    for (int i = 0; i < n; i++) {
        float *p = planes + 4 * i, f = (float)i;
        wrong += p[0] != f || p[1] != f + 1 || p[2] != f + 2 || p[3] != -f - 1;
    }
    CUDA_CHECK(cudaFree(d));
    return finish_undefined("float4_store", wrong);
}

// SPDX-License-Identifier: Apache-2.0
// EXPECT: clean
// Searches for the first occurrence of a key; threads of all blocks share the best place found so far, read with
// volatile (a strong access) and lowered with atomicMin.
#include "example.h"

#include <climits>

__global__ void search(const int *data, int n, int key, int *first)
{
    int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        int best = *(volatile int *)first; // NEVER
        if (best < i)
            return;
        if (data[i] == key)
            atomicMin(first, i); // NEVER
    }
}

int main()
{
    const int n = 8192, key = 5;
    static int data[n];
    int expected = INT_MAX, got = INT_MAX;
    for (int i = n - 1; i >= 0; i--) {
        data[i] = (int)(scramble(i) % 8);
        if (data[i] == key)
            expected = i;
    }
    int *d_data, *d_first;
    CUDA_CHECK(cudaMalloc(&d_data, sizeof data));
    CUDA_CHECK(cudaMalloc(&d_first, sizeof(int)));
    CUDA_CHECK(cudaMemcpy(d_data, data, sizeof data, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(d_first, &got, sizeof got, cudaMemcpyHostToDevice));
    search<<<8, 128>>>(d_data, n, key, d_first);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(&got, d_first, sizeof got, cudaMemcpyDeviceToHost));
    printf("first %d at %d, expected %d\n", key, got, expected);
    CUDA_CHECK(cudaFree(d_data));
    CUDA_CHECK(cudaFree(d_first));
    return finish("search", got != expected);
}

// SPDX-License-Identifier: Apache-2.0
// EXPECT: races
// Collects the multiples of three in a worklist. The tail is advanced with ++, so that two threads may get the same slot.
#include "example.h"

__global__ void collect(const int *values, int n, int *list, int *tail)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && values[i] % 3 == 0) {
        int slot = (*tail)++; // RACE: clobbered read, lost update, intra-warp same-value write; RACE-MAYBE: intra-warp lost update
        list[slot] = values[i]; // RACE: lost update, intra-warp lost update
    }
}

int main()
{
    const int n = 2048;
    static int values[n], list[n], left[n];
    int expected = 0, count;
    for (int i = 0; i < n; i++) {
        values[i] = i;
        left[i] = i % 3 == 0;
        expected += left[i];
    }
    int *d_values, *d_list, *d_tail;
    CUDA_CHECK(cudaMalloc(&d_values, sizeof values));
    CUDA_CHECK(cudaMalloc(&d_list, sizeof list));
    CUDA_CHECK(cudaMalloc(&d_tail, sizeof(int)));
    CUDA_CHECK(cudaMemcpy(d_values, values, sizeof values, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemset(d_list, 0xff, sizeof list));
    CUDA_CHECK(cudaMemset(d_tail, 0, sizeof(int)));
    collect<<<n / 128, 128>>>(d_values, n, d_list, d_tail);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(&count, d_tail, sizeof count, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpy(list, d_list, sizeof list, cudaMemcpyDeviceToHost));
    for (int s = 0; s < count; s++) // every multiple of three once, in any order
        if (list[s] >= 0 && list[s] < n)
            left[list[s]]--;
    int wrong = count != expected;
    for (int i = 0; i < n; i++)
        wrong += left[i] != 0;
    printf("collected %d of %d\n", count, expected);
    CUDA_CHECK(cudaFree(d_values));
    CUDA_CHECK(cudaFree(d_list));
    CUDA_CHECK(cudaFree(d_tail));
    return finish_undefined("worklist", wrong);
}

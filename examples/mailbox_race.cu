// SPDX-License-Identifier: Apache-2.0
// EXPECT: races
// One block fills a mailbox and raises a flag; the others read the mailbox without looking at the flag.
#include "example.h"

#define LETTERS 128

__global__ void mail(int *box, int *flag, int *out)
{
    int t = threadIdx.x;
    if (blockIdx.x == 0) {
        box[t] = 100 + t * t; // OTHER
        __threadfence();
        __syncthreads();
        if (t == 0)
            *(volatile int *)flag = 1; // NEVER
    } else {
        out[(blockIdx.x - 1) * LETTERS + t] = box[t]; // RACE: clobbered read
    }
}

int main()
{
    const int readers = 7, n = readers * LETTERS;
    static int got[n];
    int *box, *flag, *out, wrong = 0;
    CUDA_CHECK(cudaMalloc(&box, LETTERS * sizeof(int)));
    CUDA_CHECK(cudaMalloc(&flag, sizeof(int)));
    CUDA_CHECK(cudaMalloc(&out, sizeof got));
    CUDA_CHECK(cudaMemset(box, 0, LETTERS * sizeof(int)));
    CUDA_CHECK(cudaMemset(flag, 0, sizeof(int)));
    mail<<<1 + readers, LETTERS>>>(box, flag, out);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++)
        wrong += got[i] != 100 + (i % LETTERS) * (i % LETTERS);
    CUDA_CHECK(cudaFree(box));
    CUDA_CHECK(cudaFree(flag));
    CUDA_CHECK(cudaFree(out));
    return finish_undefined("mailbox", wrong);
}

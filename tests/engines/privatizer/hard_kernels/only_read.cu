// SPDX-License-Identifier: Apache-2.0
// only_read other|same|fresh|wild|wide [LAUNCHES]: kernels that load by indices which they have loaded: from memory that nothing writes to, from what others write, from a place that an index in
// a private copy does not have; and threads with high numbers that read what other such write. "fresh" is "same" with new memory for
// each launch.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>

constexpr int N = 256, FAR = 1 << 30;

__global__ void gathers(const int *in, const int *at, int *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[at[i]] + 1; // RACE of "same"
}

// The second block comes long behind the first one, which nothing orders.
__global__ void far_away(const int *in, int *at, int *out) {
    if (blockIdx.x == 0)
        at[threadIdx.x] = threadIdx.x;
    else
        __nanosleep(1000000);
    out[blockIdx.x * blockDim.x + threadIdx.x] = in[at[threadIdx.x]];
}

__global__ void neighbours(int *p, const int *at) {
    __shared__ int s[1024];
    int t = threadIdx.x;
    s[t] = t;
    __syncthreads();
    if (t == 1000)
        s[at[t]] = 7; // RACE of "wide"
    p[t] = s[t];
}

int main(int argc, char **words) {
    int *in, *at, *out, numbers[1024];
    bool wild = !strcmp(words[1], "wild"), wide = !strcmp(words[1], "wide");
    for (int k = 0; k < 1024; k++)
        numbers[k] = wild ? FAR : wide ? 900 : (k + 1) % N;
    for (int **p : {&in, &at, &out}) {
        cudaMalloc(p, sizeof numbers);
        cudaMemset(*p, 0, sizeof numbers);
    }
    cudaMemcpy(at, numbers, sizeof numbers, cudaMemcpyHostToDevice);
    for (int k = 0; k < (argc > 2 ? atoi(words[2]) : 1); k++) {
        if (wide)
            neighbours<<<1, 1024>>>(out, at);
        else if (wild)
            far_away<<<2, 32>>>(in, at, out);
        else {
            if (!strcmp(words[1], "fresh"))
                cudaMalloc(&out, sizeof numbers);
            gathers<<<4, 64>>>(strcmp(words[1], "other") ? out : in, at, out);
        }
    }
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}

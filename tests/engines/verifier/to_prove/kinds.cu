// SPDX-License-Identifier: Apache-2.0
// One kernel for each thing that the verifier can say.
#include <cuda_runtime.h>

// Shown: the neighbour's value is read while it may not be there yet.
__global__ void shown(int *out) {
    __shared__ int value[64];
    int t = threadIdx.x;
    value[t] = t; // SHOWN
    out[t] = value[(t + 1) % 64]; // SHOWN
}

// Proved: the same with a barrier.
__global__ void proved(int *out) {
    __shared__ int value[64];
    int t = threadIdx.x;
    value[t] = t;
    __syncthreads();
    out[t] = value[(t + 1) % 64];
}

// Possible: it hangs on what `place` holds.
__global__ void possible(int *out, const int *place) {
    out[place[threadIdx.x]] = threadIdx.x; // POSSIBLE
}

// Unknown: what is called is not known.
typedef int (*Function)(int);
__global__ void unknown(int *out, Function f) { out[0] = f(threadIdx.x); }

int main() {
    int *a, *b;
    cudaMalloc(&a, 64 * sizeof(int));
    cudaMalloc(&b, 64 * sizeof(int));
    shown<<<1, 64>>>(a);
    proved<<<1, 64>>>(a);
    possible<<<1, 64>>>(a, b);
    unknown<<<1, 64>>>(a, nullptr);
    return cudaDeviceSynchronize() != cudaSuccess;
}

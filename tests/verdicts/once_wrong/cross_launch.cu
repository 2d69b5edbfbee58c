// SPDX-License-Identifier: Apache-2.0
// Two affine kernels in two streams without an order between them: each is right by itself, together they race.
// expect: exact,tracker => races
// expect: collider => races soak
#include <cstdio>
__global__ void produce(int *x) { x[blockIdx.x * blockDim.x + threadIdx.x] = 1; }
__global__ void consume(const int *x, int *y) { int i = blockIdx.x * blockDim.x + threadIdx.x; y[i] = x[i]; }
int main() {
    int *x, *y; cudaStream_t a, b;
    cudaMalloc(&x, 4096); cudaMalloc(&y, 4096);
    cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking); cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
    produce<<<8, 128, 0, a>>>(x); consume<<<8, 128, 0, b>>>(x, y);
    printf("%d\n", (int)cudaDeviceSynchronize());
}

// SPDX-License-Identifier: Apache-2.0
// A kernel that spins for ever, in a program that does not look at the error. A run in which a kernel was stopped does not pass.
// expect: exact --watchdog 1 => inconclusive exit 67 says "was stopped by the device"
// expect: exact --watchdog 1 --strict no => inconclusive exit 0
// expect: tracker,collider,privatizer --watchdog 1 => inconclusive exit 67 soak
#include <cstdio>
__global__ void spin(volatile int *f) { while (*f == 0) ; }
int main() { int *f; cudaMalloc(&f, 4); cudaMemset(f, 0, 4); spin<<<1, 1>>>(f); printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize())); }

// SPDX-License-Identifier: Apache-2.0
// The same kernel before and after the device is reset: only the last launch races.
#include <cstdio>

__global__ void turn(int *a, int by) {
    a[threadIdx.x] = a[(threadIdx.x + by) % 64] + 1;
}

int main() {
    for (int k = 0; k < 3; k++) {
        int *a;
        if (cudaMalloc(&a, 64 * sizeof *a) || cudaMemset(a, k + 1, 64 * sizeof *a)) return 1;
        turn<<<1, 64>>>(a, k == 2 ? 33 : 0);
        if (cudaDeviceSynchronize() || cudaDeviceReset()) return 1;
    }
    puts("PASS");
}

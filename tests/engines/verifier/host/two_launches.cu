// SPDX-License-Identifier: Apache-2.0
// A program of two files: this one launches what the other one calls.
__global__ void set(int *a, int n) { a[threadIdx.x] = n; }

void go(int *a, int n) {
    if (n > 3) set<<<n, 64>>>(a, n); // LAUNCH two
}

// SPDX-License-Identifier: Apache-2.0
// 10^4 small launches in one stream, and the host waits only at the end.
// ARGS: 10000
// GROWS: 10000 | 20000 | 40000 | 80000
// GROWS privatizer: 1000 | 2000 | 4000
#include <cstdio>
#include <cstdlib>

__global__ void increment(int *a) { a[threadIdx.x]++; }

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 10000, *a, out[64];
    cudaMalloc(&a, sizeof out);
    cudaMemset(a, 0, sizeof out);
    for (int k = 0; k < n; k++)
        increment<<<1, 64>>>(a);
    cudaMemcpy(out, a, sizeof out, cudaMemcpyDeviceToHost);
    for (int k = 0; k < 64; k++)
        if (out[k] != n)
            return printf("a[%d] is %d, not %d\n", k, out[k], n), 1;
    printf("PASS\n");
}

// SPDX-License-Identifier: Apache-2.0
// One block turns an array around through shared memory, in 10^4 launches (as "reverse" of HeCBench does).
// ARGS: 10000
// GROWS: 5000 | 10000 | 20000 | 40000
// GROWS privatizer: 50 | 100 | 200
#include <cstdio>
#include <cstdlib>

enum { N = 256 };

__global__ void reverse(int *d) {
    __shared__ int s[N];
    int t = threadIdx.x;
    s[t] = d[t];
    __syncthreads();
    d[t] = s[N - t - 1];
}

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 10000, *d, host[N];
    for (int k = 0; k < N; k++)
        host[k] = k;
    cudaMalloc(&d, sizeof host);
    cudaMemcpy(d, host, sizeof host, cudaMemcpyHostToDevice);
    for (int k = 0; k < n; k++)
        reverse<<<1, N>>>(d);
    cudaMemcpy(host, d, sizeof host, cudaMemcpyDeviceToHost);
    for (int k = 0; k < N; k++)
        if (host[k] != (n % 2 ? N - 1 - k : k))
            return printf("d[%d] is %d\n", k, host[k]), 1;
    printf("PASS\n");
}

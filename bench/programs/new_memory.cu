// SPDX-License-Identifier: Apache-2.0
// Launches without waiting that race, each in memory of its own: nothing that is known of one has to be so for the next. Arguments: launches.
// ARGS: 500
// GROWS: 500 | 1000 | 2000 | 4000
// GROWS privatizer: 500 | 1000 | 2000 | 4000
#include <cstdio>
#include <cstdlib>

enum { THREADS = 64 };

__global__ void neighbours(int *p, const int *at) { p[threadIdx.x] = p[at[threadIdx.x]] + 1; }

int main(int argc, char **argv) {
    int launches = argc > 1 ? atoi(argv[1]) : 500, numbers[THREADS], *at;
    for (int k = 0; k < THREADS; k++)
        numbers[k] = (k + 33) % THREADS;
    cudaMalloc(&at, sizeof numbers);
    cudaMemcpy(at, numbers, sizeof numbers, cudaMemcpyHostToDevice);
    for (int k = 0; k < launches; k++) {
        int *p;
        if (cudaMalloc(&p, sizeof numbers) || cudaMemset(p, 0, sizeof numbers))
            return 1;
        neighbours<<<1, THREADS>>>(p, at);
    }
    bool failed = cudaDeviceSynchronize() != cudaSuccess;
    printf("%s\n", failed ? "FAIL" : "PASS");
    return failed;
}

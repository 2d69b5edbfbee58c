// SPDX-License-Identifier: Apache-2.0
// Sums of floats by compare-and-swap loops, in 64 places that all blocks share; the first look is a plain load's or a volatile one's.
// ARGS: 64 4
// GROWS: 64 4 | 64 8 | 64 16
// GROWS privatizer: 64 4 | 64 8 | 64 16
#include <cstdio>
#include <cstdlib>

enum { PLACES = 64 };

__global__ void add(unsigned *sums, int n) {
    for (int k = 0; k < n; k++) {
        unsigned *p = &sums[(threadIdx.x + blockIdx.x + k) % PLACES], seen = *(volatile unsigned *)p, old;
        do {
            old = seen;
            seen = atomicCAS(p, old, __float_as_uint(__uint_as_float(old) + 1));
        } while (seen != old);
    }
}

int main(int argc, char **argv) {
    int blocks = argc > 1 ? atoi(argv[1]) : 64, n = argc > 2 ? atoi(argv[2]) : 4;
    unsigned *sums;
    float got[PLACES], all = 0;
    cudaMalloc(&sums, sizeof got);
    cudaMemset(sums, 0, sizeof got);
    add<<<blocks, 256>>>(sums, n);
    cudaMemcpy(got, sums, sizeof got, cudaMemcpyDeviceToHost);
    for (float g : got)
        all += g;
    puts(all == (float)blocks * 256 * n ? "PASS" : "FAIL");
}

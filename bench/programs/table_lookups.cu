// SPDX-License-Identifier: Apache-2.0
// A table in shared memory that all threads read here and there, many times without a barrier, as in table-driven codes and interpolation.
// ARGS: 1000
// GROWS: 500 | 1000 | 2000 | 4000 | 8000
#include <cstdio>
#include <cstdlib>

enum { WORDS = 1024, THREADS = 256, BLOCKS = 2 };

__global__ void look_up(const unsigned *table, unsigned *out, int times) {
    __shared__ unsigned words[WORDS];
    for (int k = threadIdx.x; k < WORDS; k += THREADS)
        words[k] = table[k];
    __syncthreads();
    unsigned at = blockIdx.x * THREADS + threadIdx.x;
    for (int k = 0; k < times; k++)
        at = words[at % WORDS] + 1;
    out[blockIdx.x * THREADS + threadIdx.x] = at;
}

int main(int argc, char **argv) {
    int times = argc > 1 ? atoi(argv[1]) : 1000;
    unsigned host[WORDS], got[BLOCKS * THREADS], *table, *out, wrong = 0;
    for (unsigned k = 0; k < WORDS; k++)
        host[k] = k * 2654435761u >> 7;
    cudaMalloc(&table, sizeof host);
    cudaMalloc(&out, sizeof got);
    cudaMemcpy(table, host, sizeof host, cudaMemcpyHostToDevice);
    look_up<<<BLOCKS, THREADS>>>(table, out, times);
    cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost);
    for (unsigned t = 0; t < BLOCKS * THREADS; t++) {
        unsigned at = t;
        for (int k = 0; k < times; k++)
            at = host[at % WORDS] + 1;
        wrong += at != got[t];
    }
    puts(wrong ? "FAIL" : "PASS");
}

// SPDX-License-Identifier: Apache-2.0
// amounts SPACE KIB THREADS [ROUNDS] (LDetector, figure 9): one block of THREADS threads writes KIB of memory, "shared" or "global", each thread words of its own.
#include "program.h"

#include <cstring>

enum { MOST = 48 << 8 }; // words of shared memory

__global__ void write_global(unsigned *data, unsigned n) {
    for (unsigned k = threadIdx.x; k < n; k += blockDim.x)
        data[k] = k + 1;
    __syncthreads();
    if (threadIdx.x == 0)
        data[0] = n;
}

__global__ void write_shared(unsigned *data, unsigned n) {
    __shared__ unsigned words[MOST];
    for (unsigned k = threadIdx.x; k < n; k += blockDim.x)
        words[k] = k + 1;
    __syncthreads();
    if (threadIdx.x == 0)
        data[0] = words[n - 1];
}

int main(int argc, char **argv) {
    if (argc < 4)
        return std::printf("amounts shared|global KIB THREADS [ROUNDS]\n"), 2;
    Program p(1, argv);
    bool shared = !std::strcmp(argv[1], "shared");
    unsigned n = (unsigned)std::atoi(argv[2]) << 8, threads = (unsigned)std::atoi(argv[3]);
    p.rounds = argc > 4 ? std::atoi(argv[4]) : 1;
    if (shared && n > MOST)
        return std::printf("shared memory has 48 KiB\n"), 2;
    unsigned *data = p.memory<unsigned>(shared ? 1 : n);
    auto kernel = shared ? write_shared : write_global;
    p.time(kernel, 1, threads, [] {}, [&] { kernel<<<1, threads>>>(data, n); });
    return p.verdict(p.host(data, 1)[0] == n);
}

// SPDX-License-Identifier: Apache-2.0
// amounts ROUNDS SPACE:KIB:THREADS... (LDetector, figure 9): one block of THREADS threads writes KIB of memory, "shared" or "global", each thread words of its own. For each of
// them a line "SPACE_KIB_THREADS MILLISECONDS ms".
#include "program.h"

#include <cstring>
#include <string>

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
    Program p(1, argv);
    p.rounds = argc > 1 ? std::atoi(argv[1]) : 1;
    for (int k = 2; k < argc; k++) {
        unsigned kib = 0, threads = 0;
        char space[8] = "";
        if (std::sscanf(argv[k], "%6[a-z]:%u:%u", space, &kib, &threads) != 3 || !kib || !threads || threads > 1024)
            return std::printf("failed: '%s' is not SPACE:KIB:THREADS\n", argv[k]), 2;
        bool shared = !std::strcmp(space, "shared");
        unsigned n = kib << 8;
        if (shared && n > MOST)
            return std::printf("failed: shared memory has 48 KiB\n"), 2;
        unsigned *data = p.memory<unsigned>(shared ? 1 : n);
        auto kernel = shared ? write_shared : write_global;
        float ms = p.median([] {}, [&] { kernel<<<1, threads>>>(data, n); });
        p.tell((std::string(space) + "_" + std::to_string(kib) + "_" + std::to_string(threads)).c_str(), ms, "ms");
        if (p.host(data, 1)[0] != n)
            return p.verdict(false);
        MUST(cudaFree(data));
    }
    return p.verdict(true);
}

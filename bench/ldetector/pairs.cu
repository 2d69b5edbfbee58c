// SPDX-License-Identifier: Apache-2.0
// pairs (LDetector, table I): 960 blocks of one thread all update the same words, which is no race, so that each has a private copy of all of them. With two numbers behind DIVIDE and ROUNDS, the blocks
// of these numbers also store to one place, which is one.
#include "program.h"

enum { UNITS = 960 };

__global__ void update(unsigned *words, unsigned n, unsigned *place, unsigned a, unsigned b) {
    for (unsigned k = 0; k < n; k++)
        atomicAdd(words + k, 1);
    if (blockIdx.x == a || blockIdx.x == b)
        *place = 1 + blockIdx.x; // the race
}

int main(int argc, char **argv) {
    Program p(argc, argv);
    unsigned n = p.part(1024, 32), none = UNITS;
    unsigned a = argc > 4 ? (unsigned)std::atoi(argv[3]) : none, b = argc > 4 ? (unsigned)std::atoi(argv[4]) : none;
    unsigned *words = p.memory<unsigned>(n), *place = p.memory<unsigned>(1);
    p.time(update, UNITS, 1, [&] { MUST(cudaMemset(words, 0, n * 4)); }, [&] { update<<<UNITS, 1>>>(words, n, place, a, b); });
    return p.verdict(p.host(words, n) == std::vector<unsigned>(n, UNITS));
}

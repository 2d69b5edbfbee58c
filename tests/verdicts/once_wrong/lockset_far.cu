// Locks that lie apart by the distance of the argument: their filters under the rules of the paper may share a bit, and are told apart all the same.
// expect: tracker --rules paper -- 64 => races class "missing lock race (R5)"
// expect: tracker --rules paper -- 1 => races class "missing lock race (R5)" soak
// expect: tracker --rules paper -- 8 => races class "missing lock race (R5)" soak
// expect: tracker --rules paper -- 63 => races class "missing lock race (R5)" soak
// expect: tracker --rules paper -- 128 => races class "missing lock race (R5)" soak
// expect: tracker --rules paper -- 255 => races class "missing lock race (R5)" soak
// expect: tracker --rules paper -- 0 => races not "missing lock race (R5)" soak
// expect: exact,tracker -- 64 => races class "ordered by chance" soak
// expect: exact,tracker -- 0 => clean soak
#include "../../check.h"

__device__ int lock[256], x;

__global__ void k(int stride, int apart) {
    int w = threadIdx.x / 32;
    if (threadIdx.x % 32)
        return;
    if (w)
        for (int i = 0; i < apart; i++)
            __nanosleep(10000);
    while (atomicCAS(&lock[w * stride], 0, 1)) {
    }
    __threadfence();
    x += w + 1;
    __threadfence();
    atomicExch(&lock[w * stride], 0);
}

int main(int, char **argv) {
    k<<<1, 64>>>(atoi(argv[1]), 20);
    CHECK(cudaDeviceSynchronize());
}

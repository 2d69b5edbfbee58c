// Two warps update one word, each under a lock of its own. The second comes long after the first, and nothing but the order of the two
// __threadfence() is between: by lockset (iGUARD's rule R5) a race, whatever the timing. -DFIXED: one lock for both.
// expect: exact,tracker,collider+exact => races class "ordered by chance" only "ordered by chance" soak
// expect: exact,tracker -DFIXED => clean soak
// expect: tracker --rules paper => races class "missing lock race (R5)" soak
// expect: exact => races class "ordered by chance" says "decides the order of the two fences"
// expect: tracker => races class "ordered by chance"
// expect: exact -DFIXED => clean
#include "../../check.h"

__device__ int lock[2], x;

__global__ void k(int apart) {
    int w = threadIdx.x / 32;
    if (threadIdx.x % 32)
        return;
    if (w)
        for (int i = 0; i < apart; i++)
            __nanosleep(10000);
#ifdef FIXED
    w = 0;
#endif
    while (atomicCAS(&lock[w], 0, 1)) {
    }
    __threadfence();
    x += w + 1;
    __threadfence();
    atomicExch(&lock[w], 0);
}

int main() {
    k<<<1, 64>>>(20);
    CHECK(cudaDeviceSynchronize());
}

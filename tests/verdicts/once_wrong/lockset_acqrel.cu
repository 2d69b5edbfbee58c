// The same as lockset_now.cu with fence.acq_rel, which have no order among themselves.
// expect: exact => races class "write-write race" not "ordered by chance" soak
// expect: tracker => races not "ordered by chance" soak
// expect: exact,tracker -DFIXED => clean soak
// expect: tracker --rules paper => races class "missing lock race (R5)" soak
// expect: exact => races class "write-write race" not "ordered by chance"
#include "../../check.h"
#define FENCE asm volatile("fence.acq_rel.gpu;" ::: "memory")

__device__ int lock[2], x;

__global__ void k() {
    int w = threadIdx.x / 32;
    if (threadIdx.x % 32)
        return;
#ifdef FIXED
    w = 0;
#endif
    while (atomicCAS(&lock[w], 0, 1)) {
    }
    FENCE;
    x += w + 1;
    FENCE;
    atomicExch(&lock[w], 0);
}

int main() {
    k<<<1, 64>>>();
    CHECK(cudaDeviceSynchronize());
}

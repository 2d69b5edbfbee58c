// After figure 9 of the iGUARD paper: each lane takes a lock of its own from a table, and all lanes change one word. Where the lanes take their
// locks one after the other, the paper's rules hold the warp to have all of them, and say nothing.
// expect: exact,tracker => races soak
#include "../../check.h"

__device__ int locks[32], data;

__global__ void k() {
    int l = threadIdx.x;
    while (atomicCAS(&locks[l], 0, 1)) {
    }
    __threadfence();
    data += l;
    __threadfence();
    atomicExch(&locks[l], 0);
}

int main() {
    k<<<1, 32>>>();
    CHECK(cudaDeviceSynchronize());
}

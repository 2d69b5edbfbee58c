// The same as lockset.cu, but both warps come at once: in some executions not even the fences are in an order.
// expect: exact,tracker,collider+exact => races soak
// expect: exact,tracker => races
// expect: exact,tracker -DFIXED => clean soak
#include "../../check.h"

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
    __threadfence();
    x += w + 1;
    __threadfence();
    atomicExch(&lock[w], 0);
}

int main() {
    k<<<1, 64>>>();
    CHECK(cudaDeviceSynchronize());
}

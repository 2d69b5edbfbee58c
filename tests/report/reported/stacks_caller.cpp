// SPDX-License-Identifier: Apache-2.0
// A program without kernels of its own: it has a library launch them, from another thread as well.
#include <cuda_runtime.h>
#include <thread>

extern "C" void library_step(int *to);

static __attribute__((noinline)) void work(int *to) {
    library_step(to); // work
    asm volatile("");
}

int main(int argc, char **) {
    int *to;
    cudaMalloc(&to, 256);
    if (argc > 1)
        std::thread(work, to).join();
    else
        work(to); // main
    return cudaDeviceSynchronize() != cudaSuccess;
}

// SPDX-License-Identifier: Apache-2.0
// flags KIND N: N threads and one word, as in searches of graphs (`changed = true`): all store one value, all store their own, one in 64 stores what all
// read, each stores if the word is still 0, each adds to what it has looked at (polls), or stores both plainly and by a relaxed atomic store (mixed).
// The first two threads race; the others add nothing.
// ARGS: same 8192
// GROWS: same 8192 | same 16384 | same 32768 | same 65536
// GROWS: values 8192 | values 16384 | values 32768 | values 65536
// GROWS: readers 8192 | readers 16384 | readers 32768 | readers 65536
// GROWS: guarded 8192 | guarded 16384 | guarded 32768 | guarded 65536
// GROWS: polls 8192 | polls 16384 | polls 32768 | polls 65536
// GROWS: mixed 8192 | mixed 16384 | mixed 32768 | mixed 65536
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda/atomic>

enum { BLOCK = 256 };

__global__ void same(int *flag, int *go) {
    if (go[blockIdx.x * blockDim.x + threadIdx.x])
        *flag = 1;
}
__global__ void values(int *flag, int *) { *flag = blockIdx.x * blockDim.x + threadIdx.x; }
__global__ void readers(int *flag, int *out) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    out[t] = *flag;
    if (t % 64 == 0)
        *flag = 1;
}
__global__ void guarded(int *flag, int *) {
    if (*flag == 0)
        *flag = 1;
}

__global__ void polls(int *flag, int *out) {
    out[blockIdx.x * blockDim.x + threadIdx.x] = *flag;
    atomicAdd(flag, 1);
}
__global__ void mixed(int *flag, int *) {
    asm volatile("st.u32 [%0], %1;" ::"l"(flag), "r"(threadIdx.x) : "memory"); // nvcc would store it byte by byte
    cuda::atomic_ref<int, cuda::thread_scope_device>(*flag).store(1, cuda::memory_order_relaxed);
}

int main(int argc, char **argv) {
    const char *kind = argc > 1 ? argv[1] : "same";
    int n = argc > 2 ? atoi(argv[2]) : 8192, *flag, *all;
    cudaMalloc(&flag, sizeof *flag);
    cudaMalloc(&all, n * sizeof *all);
    cudaMemset(flag, 0, sizeof *flag);
    cudaMemset(all, 1, n * sizeof *all);
    (!strcmp(kind, "same") ? same : !strcmp(kind, "values") ? values : !strcmp(kind, "readers") ? readers : !strcmp(kind, "polls") ? polls : !strcmp(kind, "mixed") ? mixed : guarded)<<<n / BLOCK, BLOCK>>>(flag, all);
    if (cudaDeviceSynchronize() != cudaSuccess)
        return printf("%s\n", cudaGetErrorString(cudaGetLastError())), 1;
    printf("PASS\n");
}

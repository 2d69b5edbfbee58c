// SPDX-License-Identifier: Apache-2.0
// Every store stores the same value (true) to bytes; lanes of a warp, and warps, hit the same bytes and neighbouring ones.
// expect: exact -- 64 8 30 1 => races only "same-value write"
// expect: exact -- 500 4 64 3 => races only "same-value write" soak
// expect: tracker,collider -- 500 4 64 3 => races not "write-write race" soak
#include <cstdio>
#include <cstdlib>
__global__ void mark(const int *to, bool *mask, int n, int rounds) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    for (int r = 0; r < rounds; r++)
        if (to[r * n + t] >= 0) mask[to[r * n + t]] = true;
}
int main(int argc, char **argv) {
    int n = atoi(argv[1]), rounds = atoi(argv[2]), bytes = atoi(argv[3]), *to; bool *mask;
    cudaMallocManaged(&to, n * rounds * 4); cudaMalloc(&mask, bytes); cudaMemset(mask, 0, bytes);
    srand(atoi(argv[4]));
    for (int i = 0; i < n * rounds; i++) to[i] = rand() % 4 ? rand() % bytes : -1;
    mark<<<(n + 127) / 128, n < 128 ? n : 128>>>(to, mask, n, rounds);
    cudaError_t e = cudaDeviceSynchronize();
    printf("%s\n", cudaGetErrorString(e));
}
